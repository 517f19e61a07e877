/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of NID, net and list texts. An accepted text is printed as one that is parsed as the same
 * value. A list of one NID matches this NID.
 *
 * Input: a text; behind a NUL, if there is one, the text of a NID to look up in a list; behind the
 * next NUL the bytes of a NID.
 */
#include <stdlib.h>
#include "fuzz.h"
#include "lnet/nid.h"

static void check_nid(const char *text)
{
	char buf[LNET_NIDSTR_SIZE];
	struct lnet_nid nid, again;

	if (lnet_nid_parse(&nid, text)) {
		lnet_nid_parse_any(&nid, text);
		return;
	}
	BUG_ON(!lnet_nid_is_sane(&nid));
	BUG_ON(lnet_nid_parse(&again, lnet_nid_str(&nid, buf)));
	BUG_ON(!lnet_nid_same(&nid, &again));
	BUG_ON(lnet_nid_parse_any(&again, text) || !lnet_nid_same(&nid, &again));
	BUG_ON(lnet_nid_hash(&nid) != lnet_nid_hash(&again));
}

static void check_net(const char *text)
{
	char buf[LNET_NIDSTR_SIZE];
	u32 net, again;

	if (lnet_net_parse(&net, text))
		return;
	lnet_net_str(net, buf);
	/* A net without a name is printed as a text that is not accepted as a net. */
	if (lnet_net_addr_form(net) == LNET_ADDR_UNKNOWN)
		BUG_ON(!lnet_net_parse(&again, buf) && net != LNET_NET_ANY);
	else
		BUG_ON(lnet_net_parse(&again, buf) || net != again);
}

static void check_list(const char *text, const char *other, const struct lnet_nid *raw)
{
	struct lnet_nidlist list;
	struct lnet_nid nid;

	if (!lnet_nidlist_parse(&list, text)) {
		/* Loopback has one address; lists do not match its other names. */
		if (!lnet_nid_parse(&nid, text) && !lnet_nid_is_lo(&nid))
			BUG_ON(!lnet_nidlist_match(&list, &nid));
		if (!lnet_nid_parse(&nid, other))
			lnet_nidlist_match(&list, &nid);
		lnet_nidlist_match(&list, raw);
	}
	lnet_nidlist_free(&list);
}

/* Any bytes that pass the check as a NID have a text. */
static void check_raw(const struct lnet_nid *raw)
{
	char buf[LNET_NIDSTR_SIZE];

	if (lnet_nid_is_sane(raw))
		BUG_ON(strlen(lnet_nid_str(raw, buf)) >= sizeof(buf));
	lnet_nid_hash(raw);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *text = calloc(1, size + 2), *other;
	struct lnet_nid raw;
	size_t left;

	if (!text)
		abort();
	memcpy(text, data, size);
	other = text + min(strlen(text) + 1, size);
	left = size - min(size, (size_t)(other - text) + strlen(other) + 1);
	memset(&raw, 0, sizeof(raw));
	memcpy(&raw, data + size - left, min(left, sizeof(raw)));
	check_nid(text);
	check_nid(other);
	check_net(text);
	check_list(text, other, &raw);
	check_raw(&raw);
	free(text);
	return 0;
}
