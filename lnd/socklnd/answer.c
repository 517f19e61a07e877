/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Zero-copy answers: ours to the peer, the peer's to us, and keepalives, which look like them. */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

static struct sock_conn *noop_conn(struct sock_peer *peer, struct sock_conn *via)
{
	struct sock_conn *c, *other = via && via->state == CONN_OPEN ? via : NULL;

	if (via && via->state == CONN_OPEN && via->type == LNET_CTYPE_BULK_IN)
		return via;
	list_for_each_entry(c, &peer->conns, set) {
		if (c->type == LNET_CTYPE_BULK_IN)
			return c;
		if (!other)
			other = c;
	}
	return other;
}

void sock_noop(struct sock_peer *peer, struct sock_conn *via, u64 cookie)
{
	struct sock_conn *c = noop_conn(peer, via);
	struct sock_noop *n;

	if (!c)
		return;
	sock_ring(c);
	n = list_empty(&c->noops) ? NULL : list_last_entry(&c->noops, struct sock_noop, link);
	if (cookie == LNET_ZC_COOKIE_KEEPALIVE && (n || c->nr_segs))
		return;
	if (n && lnet_zcack_merge(n->pair, cookie))
		return;
	n = c->nr_noops < SOCK_NOOPS_MAX ? kzalloc(sizeof(*n), GFP_NOFS) : NULL;
	if (!n)
		return;		/* the peer's patience ends the set */
	n->pair[1] = cookie;
	list_add_tail(&n->link, &c->noops);
	c->nr_noops++;
}

static bool ack_one(struct lnet_pass *p, struct sock_peer *peer, u64 cookie)
{
	struct sock_zc *zc;

	list_for_each_entry(zc, &peer->zc, link) {
		if (zc->cookie != cookie)
			continue;
		list_del(&zc->link);
		if (zc->att && list_empty(&zc->att->link))
			sock_att_done(p, peer->sn, zc->att, LNET_CONFIRMED, peer->epoch);
		kfree(zc);
		return true;
	}
	return false;
}

bool sock_zc_ack(struct lnet_pass *p, struct sock_peer *peer, const struct lnet_zcack *ack)
{
	u64 cookie;

	if (ack->kind == LNET_ZCACK_TWO)
		return ack_one(p, peer, ack->first) && ack_one(p, peer, ack->last);
	if (ack->nr > peer->cookie)
		return false;
	for (cookie = ack->first; cookie <= ack->last; cookie++)
		if (!ack_one(p, peer, cookie))
			return false;
	return true;
}
