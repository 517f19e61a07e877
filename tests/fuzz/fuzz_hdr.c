/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of the LNet header: an accepted one keeps the limits, and is unchanged when it is encoded
 * and decoded again.
 */
#include "fuzz.h"
#include "lnet/wire.h"

static void check_form(const u8 *data, size_t size, bool nid16)
{
	u8 *exact, once[LNET_HDR_SIZE_MAX], twice[LNET_HDR_SIZE_MAX];
	unsigned int len = lnet_hdr_size(nid16);
	struct lnet_hdr hdr;

	if (size < len)
		return;
	exact = kmemdup(data, len, GFP_KERNEL);
	if (!lnet_hdr_decode(&hdr, exact, nid16)) {
		BUG_ON(hdr.payload_len > LNET_MTU || hdr.type > LNET_MSG_REPLY);
		BUG_ON(lnet_hdr_encode(once, &hdr, nid16) != len);
		BUG_ON(lnet_hdr_decode(&hdr, once, nid16));
		lnet_hdr_encode(twice, &hdr, nid16);
		BUG_ON(memcmp(once, twice, len));
		memset(twice, 0, sizeof(twice));
		if (hdr.type == LNET_MSG_PUT) {
			BUG_ON(lnet_hdr_encode_like(twice, once, &hdr, nid16) != len);
			BUG_ON(memcmp(once, twice, len));
		}
	}
	kfree(exact);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	check_form(data, size, false);
	check_form(data, size, true);
	return 0;
}
