/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of the HELLO: an accepted one encodes to a HELLO with the same values. */
#include "fuzz.h"
#include "lnd/socklnd/wire.h"

static void check_same(const struct lnet_hello *hello)
{
	u8 buf[LNET_HELLO_SIZE_MAX];
	struct lnet_hello again;
	unsigned int need, len = lnet_hello_encode(buf, hello);

	BUG_ON(lnet_hello_decode(&again, buf, len, &need) != LNET_HELLO_OK || need != len);
	BUG_ON(again.version != hello->version || again.swapped != hello->swapped);
	BUG_ON(again.src_pid != hello->src_pid || again.dst_pid != hello->dst_pid);
	BUG_ON(again.src_incarnation != hello->src_incarnation || again.ctype != hello->ctype);
	BUG_ON(again.dst_incarnation != hello->dst_incarnation);
	BUG_ON(!lnet_nid_same(&again.src_nid, &hello->src_nid));
	BUG_ON(hello->version != 4 && !lnet_nid_same(&again.dst_nid, &hello->dst_nid));
	BUG_ON(lnet_ctype_is_valid(hello->ctype) != (lnet_ctype_name(hello->ctype)[0] != '?') &&
	       hello->ctype != LNET_CTYPE_NONE);
	BUG_ON(lnet_ctype_invert(hello->ctype) != LNET_CTYPE_NONE &&
	       lnet_ctype_invert(lnet_ctype_invert(hello->ctype)) != hello->ctype);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct lnet_hello hello;
	unsigned int need = 0;
	enum lnet_hello_what what = lnet_hello_decode(&hello, data, size, &need);

	/* At most the size that a connection collects, or the HELLO could never be decided. */
	BUG_ON(need > LNET_HELLO_SIZE_MAX || (what == LNET_HELLO_MORE) != (size < need));
	if (what == LNET_HELLO_OK)
		check_same(&hello);
	return 0;
}
