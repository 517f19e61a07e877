/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of the acceptor request: what is accepted encodes to the bytes that came. */
#include "plat.h"
#include "lnd/socklnd/wire.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 buf[LNET_ACR_SIZE_MAX];
	struct lnet_acr acr, again;
	unsigned int need = 0, same;
	enum lnet_acr_what what = lnet_acr_decode(&acr, data, size, &need);

	BUG_ON(need > sizeof(buf) || (what == LNET_ACR_MORE) != (size < need));
	if (what != LNET_ACR_OK)
		return 0;
	BUG_ON(lnet_acr_encode(buf, &acr) != need);
	BUG_ON(lnet_acr_decode(&again, buf, need, &same) != LNET_ACR_OK || same != need);
	BUG_ON(!lnet_nid_same(&acr.nid, &again.nid));
	return 0;
}
