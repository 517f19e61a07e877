/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of the HELLO: what is accepted encodes to a HELLO that says the same. */
#include "plat.h"
#include "lnd/socklnd/wire.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 buf[LNET_HELLO_SIZE_MAX];
	struct lnet_hello hello, again;
	unsigned int need = 0, len;
	enum lnet_hello_what what = lnet_hello_decode(&hello, data, size, &need);

	BUG_ON(need > sizeof(buf) || (what == LNET_HELLO_MORE) != (size < need));
	if (what != LNET_HELLO_OK)
		return 0;
	len = lnet_hello_encode(buf, &hello);
	BUG_ON(lnet_hello_decode(&again, buf, len, &need) != LNET_HELLO_OK || need != len);
	BUG_ON(again.version != hello.version || again.swapped != hello.swapped);
	BUG_ON(again.src_pid != hello.src_pid || again.dst_pid != hello.dst_pid);
	BUG_ON(again.src_incarnation != hello.src_incarnation || again.ctype != hello.ctype);
	BUG_ON(!lnet_nid_same(&again.src_nid, &hello.src_nid));
	BUG_ON(lnet_ctype_invert(hello.ctype) != LNET_CTYPE_NONE &&
	       lnet_ctype_invert(lnet_ctype_invert(hello.ctype)) != hello.ctype);
	return 0;
}
