/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bounds the open connections that peers dialled. Closes idle sets to admit further connections. */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

/* 1/8 of the connections is reserved for peers that are configured or that this node dialled */
#define RESERVE		8U
#define SHARE		4U	/* an address has at most 1/4 of the connections */
#define ADDRESSES_MAX	16U	/* number of addresses that are searched for an idle set */
#define CONNS_MAX	64U	/* connections searched per address */

static struct sock_conn *guest_conn(struct sock_half *h)
{
	return container_of(h, struct sock_conn, guest);
}

static void addr_of(const struct sock_conn *c, u8 addr[16])
{
	memset(addr, 0, 16);
	memcpy(addr, c->from.addr, c->from.size ? 16 : sizeof(c->from.addr[0]));
}

u64 sock_guests_max(const struct sock_ni *sn)
{
	u64 most = READ_ONCE(sock_tun(sn)->conns_max);

	return sn->opens_cap ? min_t(u64, most, sn->opens_cap) : most;
}

/*
 * Returns the number of open connections that one address may have. This number suffices for two
 * connection sets, even if the tunable conns_per_address is lower. So a peer can open a new set
 * before its old set ends.
 */
u64 sock_guests_per_address(const struct sock_ni *sn)
{
	u64 share = min(READ_ONCE(sock_tun(sn)->conns_per_address), sock_guests_max(sn) / SHARE);

	return max_t(u64, share, 2 * (1 + 2 * lnet_ni_conns_per_peer(sn->ni)));
}

static bool conn_is_idle(const struct sock_conn *c)
{
	return !c->reading && !c->writing && !c->nr_segs && !c->stuck_ns && !READ_ONCE(c->rx) &&
	       !c->hold && !c->stash && !READ_ONCE(c->nr_hdr) && list_empty(&c->txs);
}

/* Returns true if closing the set loses no message. */
static bool set_is_idle(const struct sock_peer *peer)
{
	const struct sock_conn *c;

	list_for_each_entry(c, &peer->conns, set)
		if (!conn_is_idle(c))
			return false;
	return !peer->nr_queue[SOCK_SMALL] && !peer->nr_queue[SOCK_BULK] && !peer->dial &&
	       list_empty(&peer->zc);
}

static bool is_chosen(const struct sock_conn *c, const struct sock_peer *peer)
{
	return c->known || peer->dial_ns;
}

static struct sock_conn *idle_of(const struct sock_source *s, const struct sock_peer *not)
{
	unsigned int nr = 0;
	struct sock_half *h;
	struct sock_conn *c;

	list_for_each_entry(h, &s->halfs, same) {
		if (nr++ == CONNS_MAX)
			break;
		c = guest_conn(h);
		if (c->peer != not && !is_chosen(c, c->peer) && set_is_idle(c->peer))
			return c;
	}
	return NULL;
}

/*
 * Returns the oldest idle connection of an address with the most connections; NULL: none was found.
 */
static struct sock_conn *idle_of_greediest(struct sock_ni *sn, const struct sock_peer *not)
{
	unsigned int i, nr = 0;
	struct sock_source *s;
	struct sock_conn *c;

	for (i = SOCK_HALF_CLASSES; i-- > 0;)
		list_for_each_entry(s, &sn->opens.classes[i], link) {
			if (nr++ == ADDRESSES_MAX)
				return NULL;
			c = idle_of(s, not);
			if (c)
				return c;
		}
	return NULL;
}

/* False: no set is idle. */
static bool evict_one(struct lnet_pass *p, struct sock_ni *sn, const struct sock_peer *not)
{
	struct sock_conn *c = idle_of_greediest(sn, not);
	u32 before = sn->opens.nr;

	if (!c)
		return false;
	sock_rejected(sn, (const u8 *)c->from.addr,
		      "the peer is idle, and other peers need its connections (see conns_max)");
	sock_set_close(p, c->peer, LNET_PATH_LOST, true);
	sn->c[SOCK_C_evicted_idle] += before - sn->opens.nr;
	return true;
}

bool sock_guests_evict(struct lnet_pass *p, struct sock_ni *sn)
{
	unsigned int i;

	for (i = 0; i < SOCK_ROOM_FOR; i++)
		if (!evict_one(p, sn, NULL))
			break;
	return i;
}

bool sock_guest_fits(struct lnet_pass *p, struct sock_conn *c, const struct sock_peer *peer)
{
	struct sock_ni *sn = c->sn;
	u64 most = sock_guests_max(sn);
	u8 addr[16];

	addr_of(c, addr);
	if (sock_half_nr(&sn->opens, addr) >= sock_guests_per_address(sn))
		return false;
	if (!is_chosen(c, peer))
		most -= most / RESERVE;
	return sn->opens.nr < most || evict_one(p, sn, peer);
}

void sock_guest_add(struct sock_conn *c)
{
	u8 addr[16];

	addr_of(c, addr);
	if (sock_half_add(&c->sn->opens, &c->guest, addr))
		pr_debug("socklnd: out of memory: a connection is not counted against "
			 "conns_per_address\n");
}
