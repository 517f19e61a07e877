/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery of one peer: when to ping it, when to push to it, how to store its info, and the pause
 * after a failure. A round of discovery ends when no ping, push or merge is due. Requests wait only
 * for the end of the first round with a peer, and only if discovery_wait is set.
 */
#include <lnet/hash.h>
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "service/service.h"

/* pause after a failure; doubles up to RETRY_MAX_NS */
#define RETRY_NS	((u64)NSEC_PER_SEC)
#define RETRY_MAX_NS	(60 * (u64)NSEC_PER_SEC)
#define AGAIN_NS	((u64)NSEC_PER_MSEC)	/* pause if a pool is empty */
/*
 * minimum time between two pings of a peer if old or unreadable pushes of the peer cause the pings
 */
#define DOUBT_NS	(100 * (u64)NSEC_PER_MSEC)
#define LIST_SHORT	512U	/* longest list that is accepted if lists_budget is used up */

static const u8 edges[LNET_NR_DISC_STATES][LNET_NR_DISC_STATES] = {
#define STATE(s)
#define EDGE(a, b) [a][b] = 1,
#include "model/states/discover.def"
#undef STATE
#undef EDGE
};

static void disc_set_state(struct lnet_peer *peer, enum lnet_disc_state state)
{
	struct lnet_disc *d = &peer->disc;

	if (d->state == state)
		return;
	WARN_ON_ONCE(!edges[d->state][state]);
	lnet_edge(discover, peer, d->state, state);
	d->state = state;
}

/* ---- waiters for the end of a round ---------------------------------------------------------- */

static void tell_waiters(struct lnet_peer *peer, int status)
{
	struct lnet_disc_ask *ask, *next;

	if (peer->deleted)
		status = -ECANCELED;	/* another peer entry may have the NID now */
	list_for_each_entry_safe(ask, next, &peer->disc.waiters, wait)
		lnet_disc_ask_over(ask, status);
}

static void round_over(struct lnet_pass *p, struct lnet_peer *peer, int status)
{
	tell_waiters(peer, status);
	lnet_disc_round_end(p, peer);
}

/* ---- next step ------------------------------------------------------------------------------- */

static bool disc_is_wanted(const struct lnet_peer *peer)
{
	return peer->disc.want_ping || lnet_push_needed(peer);
}

/*
 * Returns the earliest time of the next ping or push. With d->rail, the peer entry may be an
 * unproven rail of another peer. Discovery then waits for the pings that may prove the rail, at
 * most until prove_by_ns.
 */
static u64 not_before_ns(const struct lnet_disc *d)
{
	return d->rail ? max(d->next_ns, d->prove_by_ns) : d->next_ns;
}

/*
 * Ends the round. If first pings of listed NIDs are in flight, waits for them, at most until
 * prove_by_ns.
 */
static void disc_end_round(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_disc *d = &peer->disc;

	lnet_timer_cancel(&p->sh->wheel, &d->timer);
	if (!d->known && !d->status)
		return;
	if (p->now_ns < d->prove_by_ns)
		lnet_timer_set(&p->sh->wheel, &d->timer, d->prove_by_ns);
	else
		round_over(p, peer, d->status);
}

/*
 * Nothing is in flight. If a ping or push is wanted, sets the timer for it; otherwise ends the
 * round.
 */
static void disc_idle(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_disc *d = &peer->disc;

	if (d->status)
		disc_set_state(peer, DISC_FAILED);
	else if (d->known)
		disc_set_state(peer, DISC_DONE);
	if (disc_is_wanted(peer))
		lnet_timer_set(&p->sh->wheel, &d->timer, max(not_before_ns(d), p->now_ns + 1));
	else
		disc_end_round(p, peer);
}

/*
 * Returns false if @peer must wait for the rate limit of the node. The rate limit does not apply if
 * a user or requests wait for @peer.
 */
static bool has_turn(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_disc *d = &peer->disc;

	if (!d->paid && list_empty(&d->waiters) && !peer->held) {
		d->paid = 1;
		d->next_ns = max(d->next_ns, lnet_disc_rate_limit(p->ln, p->now_ns));
	}
	return p->now_ns >= d->next_ns;
}

/*
 * Returns a random pause between half of the nominal pause and all of it. So peers that fail
 * together are not retried together.
 */
static u64 disc_pause_ns(struct lnet_pass *p, const struct lnet_disc *d)
{
	u64 ns = lnet_doubled(RETRY_NS, d->fails, RETRY_MAX_NS);

	return ns - lnet_disc_random(p->ln, ns / 2);
}

static void go(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_disc *d = &peer->disc;
	bool ping = d->want_ping;

	if (!lnet_peer_ni_any(peer)) {	/* no path: retries after a pause */
		d->next_ns = p->now_ns + disc_pause_ns(p, d);
		d->fails = min(d->fails + 1, U8_MAX);
		round_over(p, peer, -EHOSTUNREACH);
		disc_idle(p, peer);
		return;
	}
	if (ping ? lnet_disc_ping_send(p, peer) : lnet_push_send(p, peer)) {
		d->paid = 0;
		if (!ping)
			disc_set_state(peer, DISC_PUSH);
		return;
	}
	d->next_ns = p->now_ns + AGAIN_NS;
	disc_idle(p, peer);
}

void lnet_disc_step(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_disc *d = &peer->disc;

	if (peer->deleted || READ_ONCE(p->ln->stopping) || lnet_nid_is_lo(&peer->primary))
		return;
	if (d->data && !d->pushing) {
		disc_set_state(peer, DISC_MERGE);
		lnet_merge_due(p, peer);
	} else if (d->pushing || peer->session_busy || peer->session_state == SESSION_PINGING ||
		   peer->session_state == SESSION_OPENING) {
		/* the end of the operation in flight calls this function again */
		return;
	} else if (disc_is_wanted(peer) && p->now_ns >= not_before_ns(d) && has_turn(p, peer)) {
		go(p, peer);
	} else {
		disc_idle(p, peer);
	}
}

void lnet_disc_anew(struct lnet_peer *peer)
{
	peer->disc.acked = 0;
	peer->disc.advertised_seq = 0;
}

u64 lnet_disc_random(struct lnet *ln, u64 range_ns)
{
	return range_ns * (ln->env->ops->random(ln->env) >> 44) >> 20;
}

/* ---- failure --------------------------------------------------------------------------------- */

void lnet_disc_failed(struct lnet_pass *p, struct lnet_peer *peer, int err)
{
	struct lnet_disc *d = &peer->disc;

	d->next_ns = p->now_ns + disc_pause_ns(p, d);
	d->fails = min(d->fails + 1, U8_MAX);
	d->status = err;
	d->paid = 0;
	if (!d->data)
		disc_set_state(peer, DISC_FAILED);
	round_over(p, peer, err);
}

/* ---- pings ----------------------------------------------------------------------------------- */

u32 lnet_disc_ping_sent(struct lnet_peer *peer)
{
	struct lnet_disc *d = &peer->disc;
	u32 size = clamp(d->size, LNET_PINGINFO_MIN, LNET_INFO_BYTES);

	d->want_ping = 0;
	d->overtaken = 0;
	if (!d->data && !d->pushing)
		disc_set_state(peer, DISC_PING);
	return DIV_ROUND_UP(size, LNET_PINGINFO_MIN) * LNET_PINGINFO_MIN;
}

bool lnet_disc_ping_done(struct lnet_pass *p, struct lnet_peer *peer, struct lnet_op *op)
{
	struct lnet_disc *d = &peer->disc;
	int err = lnet_op_err(op);

	if (!err)
		err = op->sbuf ? lnet_disc_take(p, peer, op->sbuf, op->mlength, false) : -ENOMEM;
	/* the reply was truncated: requests more bytes, the first time without a pause */
	if (err == -EMSGSIZE) {
		if (d->fails)
			lnet_disc_failed(p, peer, err);
		else
			d->fails = 1;
		d->want_ping = 1;
	} else if (err) {
		/*
		 * The peer may have sent a REPLY that was lost. It then counts its info as known to
		 * this node, and does not push it. So this node must ping the peer again.
		 */
		d->want_ping |= d->known;
		lnet_disc_failed(p, peer, err);
	} else {
		d->fails = 0;
		d->status = 0;
		d->next_ns = d->want_ping ? d->doubt_ns : 0;
	}
	return !err || err == -EMSGSIZE || err == -ENOBUFS;
}

/* ---- receiving an info ----------------------------------------------------------------------- */

bool lnet_disc_learns(const struct lnet *ln, u32 features)
{
	u32 both = LNET_FEAT_MULTI_RAIL | LNET_FEAT_DISCOVERY;

	return READ_ONCE(ln->tun.discovery) && (features & both) == both;
}

/*
 * Returns true if the info is to be merged. An info equal to the stored one is merged again if NIDs
 * were ignored, or if discovery was switched on or off here since.
 */
static bool is_news(const struct lnet_peer *peer, u32 features, u64 hash)
{
	const struct lnet_disc *d = &peer->disc;

	return d->force_merge || d->full || d->data || hash != d->hash ||
	       d->off == lnet_disc_learns(peer->ln, features);
}

void lnet_disc_doubt(struct lnet_pass *p, struct lnet_disc *d)
{
	if (d->want_ping)
		return;
	d->want_ping = 1;
	d->doubt_ns = max(p->now_ns, d->doubt_ns + DOUBT_NS);
	d->next_ns = max(d->next_ns, d->doubt_ns);
}

static u64 list_size(const struct lnet_sbuf *data)
{
	return data ? sizeof(*data) + data->len : 0;
}

void lnet_disc_list_set(struct lnet *ln, struct lnet_sbuf **at, struct lnet_sbuf *data)
{
	struct lnet_sbuf *old = *at;

	if (data)
		lnet_sbuf_get(data);
	spin_lock(&ln->disc.lock);
	ln->disc.list_bytes += list_size(data) - list_size(old);
	spin_unlock(&ln->disc.lock);
	*at = data;
	lnet_sbuf_put(old);
}

int lnet_disc_take(struct lnet_pass *p, struct lnet_peer *peer, struct lnet_sbuf *data, u32 len,
		   bool pushed)
{
	struct lnet_disc *d = &peer->disc;
	struct lnet_pinginfo pi;
	int rc = lnet_pinginfo_decode(&pi, data->data, len, NULL, 0);

	if (rc == -EPROTO)
		return rc;
	if (rc == -EMSGSIZE && len >= LNET_INFO_BYTES)
		rc = 0;			/* not an error: the node does not use the missing bytes */
	if (pushed && !(pi.features & LNET_FEAT_MULTI_RAIL))
		return -EOPNOTSUPP;
	d->size = pi.size;
	/*
	 * The list has a lower sequence than the stored list. If a reply contains it, a push was
	 * received after the ping was sent, and the push is newer. If a push contains it, the push
	 * is late, or the peer has restarted. A ping finds out which.
	 */
	if ((pushed ? d->known : d->overtaken) && (s32)(pi.seq - d->seq) < 0) {
		if (pushed)
			lnet_disc_doubt(p, d);
		else
			d->want_ping = 1;
		return 0;
	}
	peer->features = pi.features;
	d->known = 1;
	if (rc == -EMSGSIZE)
		return rc;
	d->seq = pi.seq;
	d->overtaken |= pushed;
	if (!is_news(peer, pi.features, lnet_hash_bytes(data->data, len, 1)))
		return 0;
	/*
	 * A short list is always accepted, so the node can learn peers with few NIDs at any time.
	 */
	if (list_size(data) > LIST_SHORT && READ_ONCE(p->ln->disc.list_bytes) + list_size(data) >
						    READ_ONCE(p->ln->tun.lists_budget)) {
		lnet_count(p->sh, lists_denied);
		return -ENOBUFS;
	}
	WRITE_ONCE(d->complete, 0);
	lnet_disc_list_set(p->ln, &d->data, data);
	d->data_len = len;
	d->merge_free = 0;
	return 0;
}

/* ---- state in the bits of stock LNet --------------------------------------------------------- */

static const u32 state_bits[LNET_NR_DISC_STATES] = {
	[DISC_PING] = LNET_PEER_STATE_DISCOVERING | LNET_PEER_STATE_PING_SENT,
	[DISC_MERGE] = LNET_PEER_STATE_DISCOVERING | LNET_PEER_STATE_DATA,
	[DISC_PUSH] = LNET_PEER_STATE_DISCOVERING | LNET_PEER_STATE_PUSH_SENT |
		      LNET_PEER_STATE_UPTODATE,
	[DISC_DONE] = LNET_PEER_STATE_UPTODATE,
	[DISC_FAILED] = LNET_PEER_STATE_REDISCOVER,
};

u32 lnet_disc_bits(const struct lnet_peer *peer)
{
	const struct lnet_disc *d = &peer->disc;
	u32 bits = state_bits[d->state];

	lockdep_assert_held(&peer->sh->lock);
	if (!d->known)
		return bits;
	bits |= LNET_PEER_STATE_DISCOVERED;
	if (d->off)
		bits |= LNET_PEER_STATE_NO_DISCOVERY;
	return peer->features & LNET_FEAT_RTE_DISABLED ? bits : bits | LNET_PEER_STATE_ROUTER;
}

/* ---- requests of the user -------------------------------------------------------------------- */

void lnet_disc_want(struct lnet_pass *p, struct lnet_peer *peer, bool force)
{
	struct lnet_disc *d = &peer->disc;

	d->want_ping = 1;
	d->force_merge |= force || d->state == DISC_UNKNOWN || d->state == DISC_FAILED || d->off;
	if (force && peer->mr)
		d->force_push = 1;
	d->fails = 0;
	d->next_ns = 0;
	d->paid = 1;
	lnet_disc_step(p, peer);
}

void lnet_disc_switched(struct lnet *ln)
{
	bool on = READ_ONCE(ln->tun.discovery);

	if (!ln->ping_info || READ_ONCE(ln->stopping))
		return;
	WRITE_ONCE(ln->disc.on_nr, ln->disc.on_nr + on);
	lnet_ping_advertise(ln);
	lnet_push_all(ln, !on);
}

/* ---- begin and end --------------------------------------------------------------------------- */

void lnet_disc_peer_end(struct lnet_peer *peer)
{
	lockdep_assert_held(&peer->sh->lock);
	lnet_timer_cancel(&peer->sh->wheel, &peer->disc.timer);
	lnet_proofs_stop(peer);
	tell_waiters(peer, -ECANCELED);
}

void lnet_disc_peer_free(struct lnet_peer *peer)
{
	WARN_ON_ONCE(!list_empty(&peer->disc.timer.link) || !list_empty(&peer->disc.waiters));
	lnet_disc_list_set(peer->ln, &peer->disc.data, NULL);
	lnet_proofs_free(peer);
}

int lnet_disc_init(struct lnet *ln)
{
	struct lnet_discovery *d = &ln->disc;

	spin_lock_init(&d->lock);
	INIT_LIST_HEAD(&d->todo);
	INIT_LIST_HEAD(&d->proved);
	INIT_LIST_HEAD(&d->waiting);
	INIT_LIST_HEAD(&d->over);
	d->todo_ns = d->walk_ns = d->ask_ns = U64_MAX;
	d->push_len = LNET_PINGINFO_MANUAL;
	return 0;
}

void lnet_disc_fini(struct lnet *ln)
{
	struct lnet_discovery *d = &ln->disc;
	struct lnet_peer *peer;

	lnet_peer_put(d->walk_at);
	d->walk_at = NULL;
	while (!list_empty(&d->todo)) {
		peer = list_first_entry(&d->todo, struct lnet_peer, disc.todo);
		list_del_init(&peer->disc.todo);
		lnet_peer_put(peer);
	}
	lnet_proofs_fini(ln);
	lnet_disc_asks_end(ln);
}
