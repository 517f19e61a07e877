/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Zero-copy acknowledgements that this node sends and receives, and keepalives, which have the same
 * format.
 */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

/*
 * NOOPS_MAX: most acknowledgements that may be queued on a connection. The first NOOPS_OWN of them
 * do not count against unsent_budget.
 */
#define NOOPS_MAX	1024U
#define NOOPS_OWN	16U

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

/*
 * Lock held. The first NOOPS_OWN acknowledgements of @c do not count against unsent_budget. NULL:
 * too many, or no memory.
 */
static struct sock_noop *noop_new(struct sock_conn *c)
{
	bool own = c->nr_noops < NOOPS_OWN;
	struct sock_noop *n;

	if (c->nr_noops == NOOPS_MAX || (!own && !sock_unsent_take(c, sizeof(*n))))
		return NULL;
	n = kzalloc(sizeof(*n), GFP_NOFS);
	if (n) {
		list_add_tail(&n->link, &c->noops);
		c->nr_noops++;
	} else if (!own) {
		sock_unsent_return(c, sizeof(*n));
	}
	return n;
}

void sock_noop_free(struct sock_conn *c, struct sock_noop *n)
{
	list_del(&n->link);
	if (--c->nr_noops >= NOOPS_OWN)
		sock_unsent_return(c, sizeof(*n));
	kfree(n);
}

/*
 * Lock held. Queues an acknowledgement of @cookie, or a keepalive. False: too many, or no memory.
 */
static bool noop_add(struct sock_peer *peer, struct sock_conn *via, u64 cookie)
{
	struct sock_conn *c = noop_conn(peer, via);
	struct sock_noop *n;

	if (!c)
		return true;
	sock_doorbell(c);
	n = list_empty(&c->noops) ? NULL : list_last_entry(&c->noops, struct sock_noop, link);
	if (cookie == LNET_ZC_COOKIE_KEEPALIVE && (n || c->nr_segs))
		return true;
	if (n && lnet_zcack_merge(n->pair, cookie))
		return true;
	n = noop_new(c);
	if (n)
		n->pair[1] = cookie;
	return n;
}

void sock_zc_ack_send(struct lnet_pass *p, struct sock_peer *peer, struct sock_conn *via,
		      u64 cookie)
{
	struct sock_ni *sn = peer->sn;

	sock_count(sn, zc_acked);
	if (noop_add(peer, via, cookie))
		return;
	sock_count(sn, unread);
	sock_rejected(sn, (const u8 *)peer->from.addr,
		      "the peer does not read its zero-copy acknowledgements");
	sock_set_close(p, peer, LNET_NETWORK_TIMEOUT, false);
}

void sock_keepalive(struct sock_peer *peer, u64 now_ns)
{
	noop_add(peer, NULL, LNET_ZC_COOKIE_KEEPALIVE);
	sock_count(peer->sn, keepalives);
	peer->keepalive_ns = now_ns;
}

static bool ack_one(struct lnet_pass *p, struct sock_peer *peer, u64 cookie)
{
	struct sock_zc *zc;

	list_for_each_entry(zc, &peer->zc, link) {
		if (zc->cookie != cookie)
			continue;
		list_del(&zc->link);
		if (zc->att && list_empty(&zc->att->link))
			sock_att_done(p, peer->sn, zc->att, LNET_ACKNOWLEDGED, peer->epoch);
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
