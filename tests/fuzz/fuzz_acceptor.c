/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of the acceptor request: an accepted one encodes to the bytes that were received. */
#include "fuzz.h"
#include "lnd/socklnd/wire.h"

static void check_same(const struct lnet_acr *acr, const u8 *data, unsigned int need)
{
	u8 buf[LNET_ACR_SIZE_MAX];
	struct lnet_acr again;
	unsigned int same;

	BUG_ON(lnet_acr_encode(buf, acr) != need);
	BUG_ON(lnet_acr_decode(&again, buf, need, &same) != LNET_ACR_OK || same != need);
	BUG_ON(!lnet_nid_same(&acr->nid, &again.nid) || acr->version != again.version);
	/* A NID of 8 bytes has one form, but ANY has several, so version 1 is not compared. */
	BUG_ON(acr->version == 2 && memcmp(buf, data, need));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 buf[LNET_ACR_REPLY_SIZE];
	struct lnet_acr acr, again;
	unsigned int need = 0, wants;
	enum lnet_acr_what what = lnet_acr_decode(&acr, data, size, &need);

	BUG_ON(need > LNET_ACR_SIZE_MAX || (what == LNET_ACR_MORE) != (size < need));
	if (what == LNET_ACR_OK)
		check_same(&acr, data, need);
	/* We accept our own reply, and it is not a query. */
	if (what == LNET_ACR_REPLY)
		BUG_ON(lnet_acr_reply(buf) != sizeof(buf) ||
		       lnet_acr_decode(&again, buf, sizeof(buf), &wants) != LNET_ACR_OK);
	return 0;
}
