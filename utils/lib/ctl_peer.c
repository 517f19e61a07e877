/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands about other nodes: peers, pings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"

static const struct ctl_op add_op = { LNET_NL_PEERS, LNET_NL_VERSION, LNET_NL_F_CREATE, 0,
				      "add",	     "peer" };
static const struct ctl_op del_op = { LNET_NL_PEERS, LNET_NL_VERSION, 0, 0, "del", "peer" };
static const struct ctl_op set_op = { LNET_NL_PEERS, LNET_NL_VERSION, LNET_NL_F_REPLACE, 0,
				      "set",	     "peer" };

/* Adds the NIDs of @list to @item, as the sequence "peer ni" of mappings { "nid": X }. */
static int peer_nids_add(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *item,
			 const char *list)
{
	struct lnetctl_node *nids, *nid, *seq;
	char why[240];
	int rc = lnetctl_nids_expand(list, &nids, why, sizeof(why));

	if (rc)
		return ctl_fail(c, rc, op->verb, op->object, "%s", why);
	seq = lnetctl_add_seq(item, "peer ni");
	for (nid = nids->first; seq && nid; nid = nid->next) {
		struct lnetctl_node *map = lnetctl_add_map(seq, NULL);

		if (!map || !lnetctl_add_text(map, "nid", nid->text))
			rc = -ENOMEM;
	}
	lnetctl_doc_free(nids);
	return seq && !rc ? 0 : ctl_fail(c, -ENOMEM, op->verb, op->object, NULL);
}

static int peer_do(struct lnetctl *c, const struct ctl_op *op, const char *primary,
		   const char *nids, bool non_mr)
{
	struct lnetctl_node *item, *body = ctl_body(&item);
	int rc;

	if (!body || !lnetctl_add_text(item, "primary nid", primary) ||
	    (non_mr && !lnetctl_add(item, "Multi-Rail", LNETCTL_BOOL, "false"))) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, op->verb, op->object, NULL);
	}
	rc = nids ? peer_nids_add(c, op, item, nids) : 0;
	if (!rc)
		return ctl_do(c, op, body);
	lnetctl_doc_free(body);
	return rc;
}

int lnetctl_peer_add(struct lnetctl *c, const char *primary, const char *nids, unsigned int flags)
{
	struct ctl_op op = add_op;

	if (flags & LNETCTL_PEER_LOCK)
		op.flags |= LNET_NL_F_EXCL;
	return peer_do(c, &op, primary, nids, flags & LNETCTL_PEER_NON_MR);
}

int lnetctl_peer_del(struct lnetctl *c, const char *primary, const char *nids, unsigned int flags)
{
	struct ctl_op op = del_op;

	if (flags & LNETCTL_PEER_FORCE)
		op.flags |= LNET_NL_F_EXCL;
	return peer_do(c, &op, primary, nids, false);
}

int lnetctl_peer_set(struct lnetctl *c, const char *nid, int64_t health, int64_t state)
{
	struct lnetctl_node *item, *body = ctl_body(&item), *seq, *map, *group;

	if (!body)
		return ctl_fail(c, -ENOMEM, "set", "peer", NULL);
	lnetctl_add_text(item, "primary nid", nid ? nid : "<?>");
	if (state != LNETCTL_UNSET)
		lnetctl_add_num(item, "peer state", state);
	if (health != LNETCTL_UNSET) {
		seq = lnetctl_add_seq(item, "peer ni");
		map = seq && !nid ? lnetctl_add_map(seq, NULL) : NULL;
		if (map)
			lnetctl_add_text(map, "nid", "<?>");
		map = seq ? lnetctl_add_map(seq, NULL) : NULL;
		group = map ? lnetctl_add_map(map, "health stats") : NULL;
		if (group)
			lnetctl_add_num(group, "health value", health);
	}
	return ctl_do(c, &set_op, body);
}

int lnetctl_peer_log(struct lnetctl *c, const char *nid)
{
	struct lnetctl_node *item, *body;
	int rc;

	/*
	 * A stock module accepts the netlink request, does nothing, and reports success. So use its
	 * ioctl.
	 */
	if (ctl_is_stock(c)) {
		rc = stock_peer_log(c->stock, nid);
		return rc ? ctl_fail(c, rc, "set", "peer", NULL) : 0;
	}
	body = ctl_body(&item);
	if (!body || !lnetctl_add_text(item, "primary nid", nid) ||
	    !lnetctl_add_num(item, "log", 1)) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, "set", "peer", NULL);
	}
	return ctl_do(c, &set_op, body);
}

/* Converts credits to signed numbers. Nodes send them as unsigned numbers. */
static void credits_sign(struct lnetctl_node *pni)
{
	static const char *const keys[] = { "available_tx_credits", "min_tx_credits",
					    "available_rtr_credits", "min_rtr_credits" };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct lnetctl_node *n = lnetctl_find(pni, keys[i]);
		int64_t num;

		/*
		 * The signed number replaces the unsigned number in @n->text, such as -1 for
		 * 4294967295. Its text fits, because negative credits are near 0.
		 */
		if (!n || lnetctl_num(n, &num) || num <= INT32_MAX || num > UINT32_MAX)
			continue;
		sprintf(n->text, "%d", (int)(int32_t)num);
	}
}

static void peers_sign(struct lnetctl_node *doc)
{
	struct lnetctl_node *peers = lnetctl_find(doc, "peer"), *peer, *pnis, *pni;

	for (peer = peers ? peers->first : NULL; peer; peer = peer->next) {
		pnis = lnetctl_find(peer, "peer ni");
		for (pni = pnis ? pnis->first : NULL; pni; pni = pni->next)
			credits_sign(pni);
	}
}

int lnetctl_peer_show(struct lnetctl *c, const char *nid, unsigned int level, bool backup,
		      struct lnetctl_node **doc)
{
	struct ctl_op op = { LNET_NL_PEERS,
			     (uint8_t)level,
			     LNET_NL_F_DUMP | (backup ? LNET_NL_F_FILTERED : 0),
			     0,
			     "show",
			     "peer" };
	struct lnetctl_node *item, *body = NULL;
	int rc;

	*doc = NULL;
	if (nid) {
		body = ctl_body(&item);
		if (!body || !lnetctl_add_text(item, "primary nid", nid))
			return ctl_fail(c, -ENOMEM, op.verb, op.object, NULL);
	}
	rc = ctl_dump(c, &op, body, doc);
	if (!rc && level)
		peers_sign(*doc);
	if (rc != -ENOENT || nid)
		return rc;
	*doc = lnetctl_add_map(NULL, NULL);	/* an empty reply shows "No peers found" */
	return *doc ? 0 : ctl_fail(c, -ENOMEM, op.verb, op.object, NULL);
}

int lnetctl_peer_list(struct lnetctl *c, struct lnetctl_node **doc)
{
	struct lnetctl_node *shown, *peer, *peers, *list;
	int rc = lnetctl_peer_show(c, NULL, 0, false, &shown);

	*doc = NULL;
	if (rc)
		return rc;
	*doc = lnetctl_add_map(NULL, NULL);
	peers = lnetctl_find(shown, "peer");
	list = *doc && peers ? lnetctl_add_seq(*doc, "peer list") : NULL;
	rc = *doc && (!peers || list) ? 0 : -ENOMEM;
	for (peer = peers ? peers->first : NULL; !rc && peer; peer = peer->next) {
		struct lnetctl_node *item = lnetctl_add_map(list, NULL);

		if (!item || !lnetctl_add_text(item, "nid", lnetctl_text(peer, "primary nid")))
			rc = -ENOMEM;
	}
	lnetctl_doc_free(shown);
	if (!rc)
		return 0;
	lnetctl_doc_free(*doc);
	*doc = NULL;
	return ctl_fail(c, rc, "show", "peer", NULL);
}

static int body_with_nids(struct lnetctl *c, const struct ctl_op *op, const char *list,
			  struct lnetctl_node **body)
{
	struct lnetctl_node *nids;
	char why[240];
	int rc = lnetctl_nids_expand(list, &nids, why, sizeof(why));

	*body = NULL;
	if (rc)
		return ctl_fail(c, rc, op->verb, op->object, "%s", why);
	*body = lnetctl_add_map(NULL, NULL);
	if (!*body || lnetctl_set_key(nids, "nids")) {
		lnetctl_doc_free(*body);
		lnetctl_doc_free(nids);
		return ctl_fail(c, -ENOMEM, op->verb, op->object, NULL);
	}
	lnetctl_adopt(*body, nids);
	return 0;
}

/*
 * Converts the error text @descr of a node to "WHAT: REASON". @descr is "WHAT (REASON)" or "WHAT".
 * If @descr has no REASON, the text of errno @err is the reason.
 */
static void failure_text(const char *descr, int err, char *text, size_t size)
{
	const char *why = strstr(descr, " ("), *end = descr + strlen(descr) - 1;

	if (why && *end == ')')
		snprintf(text, size, "%.*s: %.*s", (int)(why - descr), descr,
			 (int)(end - why - 2), why + 2);
	else
		snprintf(text, size, "%s: %s", descr, strerror(-err));
}

static void finish_failures(struct lnetctl_node *doc)
{
	struct lnetctl_node *manage = lnetctl_find(doc, "manage"), *item;

	for (item = manage ? manage->first : NULL; item; item = item->next) {
		struct lnetctl_node *descr = lnetctl_find(item, "descr");
		int64_t err = 0;
		char text[256];

		if (!descr || !descr->text)
			continue;
		descr->quote = LNETCTL_TAG_SINGLE;
		if (strncmp(descr->text, "failed to ", 10) || strstr(descr->text, ": ") ||
		    lnetctl_num(lnetctl_find(item, "errno"), &err))
			continue;
		failure_text(descr->text, (int)err, text, sizeof(text));
		lnetctl_set_text(descr, text);
	}
}

int lnetctl_ping(struct lnetctl *c, const char *nids, const char *source, unsigned int timeout_ms,
		 struct lnetctl_node **doc)
{
	struct ctl_op op = { LNET_NL_PING,   LNET_NL_VERSION,
			     LNET_NL_F_DUMP, (timeout_ms ? timeout_ms : 180000) + 30000,
			     "manage",	     "ping" };
	struct lnetctl_node *body, *list;
	int rc = body_with_nids(c, &op, nids, &body);

	*doc = NULL;
	if (rc)
		return rc;
	/* the options precede the NIDs, because old nodes require this */
	list = body->first;
	lnetctl_take(body, list);
	if (source)
		lnetctl_add_text(body, "source", source);
	if (timeout_ms)
		lnetctl_add_num(body, "timeout", timeout_ms);
	lnetctl_adopt(body, list);
	rc = ctl_dump(c, &op, body, doc);
	if (!rc)
		finish_failures(*doc);
	return rc;
}

int lnetctl_discover(struct lnetctl *c, const char *nids, bool force, struct lnetctl_node **doc)
{
	struct ctl_op op = { LNET_NL_PING, LNET_NL_VERSION,
			     LNET_NL_F_CREATE | (force ? LNET_NL_F_EXCL : 0), 180000 + 30000,
			     "manage", "discover" };
	struct lnetctl_node *body;
	int rc = body_with_nids(c, &op, nids, &body);

	*doc = NULL;
	if (rc)
		return rc;
	rc = ctl_dump(c, &op, body, doc);
	if (!rc)
		finish_failures(*doc);
	return rc;
}

int lnetctl_cpt_of_nid(struct lnetctl *c, const char *nids, struct lnetctl_node **doc)
{
	struct ctl_op op = { LNET_NL_CPT_OF_NID, LNET_NL_VERSION, LNET_NL_F_DUMP, 0, "show",
			     "cpt-of-nid" };
	struct lnetctl_node *body;
	int rc = body_with_nids(c, &op, nids, &body);

	*doc = NULL;
	return rc ? rc : ctl_dump(c, &op, body, doc);
}
