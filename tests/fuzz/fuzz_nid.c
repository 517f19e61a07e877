/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of NID, net and list texts: what is read prints and reads again as the same. */
#include "plat.h"
#include "lnet/nid.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void check_nid(const char *text)
{
	char buf[LNET_NIDSTR_SIZE];
	struct lnet_nid nid, again;

	if (lnet_nid_parse(&nid, text))
		return;
	BUG_ON(lnet_nid_parse(&again, lnet_nid_str(&nid, buf)));
	BUG_ON(!lnet_nid_same(&nid, &again));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *text = kmalloc(size + 1, GFP_KERNEL), buf[LNET_NIDSTR_SIZE];
	struct lnet_nidlist list;
	struct lnet_nid nid;
	u32 net;

	memcpy(text, data, size);
	text[size] = '\0';
	check_nid(text);
	if (!lnet_net_parse(&net, text))
		lnet_net_str(net, buf);
	if (!lnet_nidlist_parse(&list, text) && size >= sizeof(nid)) {
		memcpy(&nid, data, sizeof(nid));
		lnet_nidlist_match(&list, &nid);
	}
	lnet_nidlist_free(&list);
	if (size >= sizeof(nid))
		lnet_nid_str((const struct lnet_nid *)data, buf);
	kfree(text);
	return 0;
}
