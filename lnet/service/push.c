/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pushes: selects the peers to which this node pushes its ping info, schedules the pushes, and
 * processes received pushes. A change is pushed to one peer after another. Peers from which a
 * message was received recently are the first.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "xfer/xfer.h"
#include "service/service.h"

#define SLICE		128U	/* peers that the worker visits in one slice */
#define PAUSE_NS	((u64)NSEC_PER_MSEC)	/* pause between two slices of a walk */
#define BURST		32U	/* pings and pushes that the rate limit permits without a pause */
/* factor of push_delay for peers from which nothing was received recently */
#define LATER		10U

/* ---- which peers ----------------------------------------------------------------------------- */

/*
 * Returns the sequence of the last info of this node that @peer has. If the peer has the
 * exactly-once extension, an info in a REPLY to its ping counts. For a stock peer, only an
 * acknowledged push counts. So a stock peer that received an info by REPLY also needs a push of it.
 */
static u32 seq_known(const struct lnet_peer *peer)
{
	const struct lnet_disc *d = &peer->disc;

	if ((peer->features & LNET_FEAT_OPEN) && (s32)(d->advertised_seq - d->acked) > 0)
		return d->advertised_seq;
	return d->acked;
}

static bool is_behind(const struct lnet_peer *peer)
{
	return (s32)(READ_ONCE(peer->ln->ping_seq) - seq_known(peer)) > 0;
}

bool lnet_push_needed(const struct lnet_peer *peer)
{
	const struct lnet_disc *d = &peer->disc;
	const struct lnet *ln = peer->ln;

	if (!peer->mr || !d->known || d->pushing)
		return false;
	if (d->force_push)
		return true;
	return (peer->features & LNET_FEAT_DISCOVERY) && READ_ONCE(ln->tun.discovery) &&
	       is_behind(peer);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void pushed(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer = op->peer;
	struct lnet_disc *d = &peer->disc;
	int err = lnet_outcomes[op->outcome].err;

	d->pushing = 0;
	if (err) {
		d->force_push |= d->had_force;
		lnet_disc_failed(p, peer, err);
	} else {
		d->acked = lnet_ping_info_seq(op->sbuf);
		d->fails = 0;
		d->status = 0;
		d->next_ns = d->want_ping ? d->doubt_ns : 0;
	}
	lnet_disc_step(p, peer);
}

/* [sh] Returns the interface that the ping used; NULL: its local NI has failed, or is drained. */
static struct lnet_peer_ni *pinged_at(const struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link)
		if (!pni->deleted && pni->sticky && pni->sticky->state == NI_ACTIVE &&
		    lnet_ni_has_link(pni->sticky) &&
		    lnet_ni_service(pni->sticky) != LNET_NI_DRAINED)
			return pni;
	return NULL;
}

/* [sh] True if @path may carry a push. A stock peer drops messages from a drained NI. */
static bool may_carry(const struct lnet_path *path, const struct lnet_peer *peer)
{
	return !path->gone && lnet_ni_usable(path->ni) && lnet_ni_has_link(path->ni) &&
	       (lnet_ni_service(path->ni) != LNET_NI_DRAINED ||
		(peer->features & LNET_FEAT_OPEN));
}

/*
 * [sh] If this node has an NI that the peer does not know, returns the best path over an NI that
 * the peer knows. Otherwise returns NULL: any path may be used. The peer attributes a push from an
 * unknown NI to an unknown node. To prove that the NI is one of this node, the peer pings an NI
 * that it knows. That known NI may be removed directly after the push.
 */
static struct lnet_path *known_path(const struct lnet_peer *peer)
{
	u32 seq = seq_known(peer), since;
	struct lnet_path *path, *best = NULL;
	const struct lnet_peer_ni *pni;
	bool unknown = false;

	list_for_each_entry(pni, &peer->pnis, link) {
		list_for_each_entry(path, &pni->paths, link) {
			if (pni->deleted || !may_carry(path, peer))
				continue;
			since = READ_ONCE(path->ni->since_seq);	/* 0: in no list yet */
			if (!since || (s32)(since - seq) > 0)
				unknown = true;
			else if (lnet_path_is_better(path, best))
				best = path;
		}
	}
	return unknown ? best : NULL;
}

bool lnet_push_send(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_peer_ni *first = peer->disc.acked ? NULL : pinged_at(peer);
	struct lnet_path *known = first ? NULL : known_path(peer);
	struct lnet_peer_ni *pni = first ? first : known ? known->pni : lnet_peer_ni_any(peer);
	struct lnet_sbuf *info = pni ? lnet_ping_info_for(p->ln, peer) : NULL;
	struct lnet_op *op = info ? lnet_op_control(p, pni, LNET_OP_PUT, LNET_OPF_ACK) : NULL;

	if (!op) {
		lnet_sbuf_put(info);
		return false;
	}
	op->sbuf = info;
	op->len = info->len;
	op->done = pushed;
	/*
	 * The first push uses the peer NI and the NI of the earlier ping. By the ping, the peer has
	 * an entry with the NID of that NI. After a failed attempt, the push uses any path.
	 */
	if (first || known) {
		op->binding = first ? LNET_BIND_FIRST : LNET_BIND_SOURCE;
		op->src_ni = first ? first->sticky : known->ni;
		lnet_ni_get(op->src_ni);
	}
	peer->disc.had_force = peer->disc.force_push;
	peer->disc.force_push = 0;
	peer->disc.pushing = 1;
	lnet_count(p->sh, pushes_sent);
	lnet_op_defer(p, op);
	return true;
}

/* ---- when ------------------------------------------------------------------------------------ */

u64 lnet_disc_rate_limit(struct lnet *ln, u64 now_ns)
{
	u64 gap_ns = div64_u64(NSEC_PER_SEC, READ_ONCE(ln->tun.push_rate));
	u64 slack_ns = gap_ns * BURST, at_ns;

	spin_lock(&ln->disc.lock);
	at_ns = max(ln->disc.budget_ns, now_ns > slack_ns ? now_ns - slack_ns : 0);
	ln->disc.budget_ns = at_ns + gap_ns;
	spin_unlock(&ln->disc.lock);
	return max(at_ns, now_ns);
}

/*
 * True if @peer must be pinged, because discovery was off and the NIDs of @peer were not learned.
 * This also applies to peers that advertised discovery as off before it was switched on here: they
 * may have changed. It also applies to peers that pinged this node and were not pinged.
 */
static bool is_learned_late(const struct lnet_peer *peer)
{
	const struct lnet_disc *d = &peer->disc;

	if (!READ_ONCE(peer->ln->tun.discovery))
		return false;
	if (d->on_nr != READ_ONCE(peer->ln->disc.on_nr))
		return d->known ? d->off : d->advertised_seq;
	return d->known && d->off && (peer->features & LNET_FEAT_DISCOVERY);
}

/*
 * [sh] Schedules the ping or push of @peer, unless its timer is set, for example for a pause after
 * a failure. @rest: this is the second visit of push_walk() to @peer. The first visit does so only
 * if a message of @peer was received recently. The second visit does so for each peer, also if its
 * first recent message was received after the first visit.
 */
static void time_set(struct lnet_pass *p, struct lnet_peer *peer, bool rest)
{
	u64 delay_ns = READ_ONCE(p->ln->tun.push_delay);
	struct lnet_disc *d = &peer->disc;
	u64 at_ns;

	if (peer->deleted || (!rest && !lnet_peer_is_responsive(peer, NULL, p->now_ns)))
		return;
	if (peer->made_ns < p->ln->disc.force_ns && peer->mr && d->known)
		d->force_push = 1;
	if (is_learned_late(peer))
		d->want_ping = d->force_merge = 1;
	d->on_nr = READ_ONCE(p->ln->disc.on_nr);
	if ((!d->want_ping && !lnet_push_needed(peer)) || !list_empty(&d->timer.link))
		return;
	at_ns = p->now_ns + (rest ? delay_ns : 0);
	if (rest || !p->ln->disc.expedite)
		at_ns += lnet_disc_random(p->ln, rest ? (LATER - 1) * delay_ns : delay_ns);
	d->next_ns = max(d->next_ns, at_ns);
	lnet_disc_step(p, peer);
}

/*
 * Visits all peers twice: first those from which a message was received recently. Returns when to
 * continue; U64_MAX: the walk is complete.
 */
static u64 push_walk(struct lnet_pass *p)
{
	struct lnet_discovery *d = &p->ln->disc;
	struct lnet_peer *peer = d->walk_at;
	unsigned int nr;

	if (!d->walking) {
		d->walking = 1;
		d->walk_rest = 0;
		spin_lock(&d->lock);
		d->walk_done = d->walk_wanted;
		d->force_ns = d->next_force_ns;
		d->next_force_ns = 0;
		d->expedite = d->next_expedite;
		d->next_expedite = 0;
		spin_unlock(&d->lock);
	}
	d->walk_at = NULL;
	for (nr = 0; nr < SLICE; nr++) {
		peer = lnet_peer_next(p->ln, peer);
		if (!peer)
			break;
		lnet_enter(p, peer->sh);
		time_set(p, peer, d->walk_rest);
		lnet_leave(p);
	}
	d->walk_at = peer;
	if (!peer && !d->walk_rest)
		d->walk_rest = 1;
	else if (!peer)
		d->walking = 0;
	if (!d->walking && d->walk_done == READ_ONCE(d->walk_wanted))
		return U64_MAX;
	return p->now_ns + PAUSE_NS;
}

/*
 * The worker calls this function. A thread that waits until a configuration change is complete also
 * calls it. @walk_taken ensures that only one of them visits the peers.
 */
void lnet_push_work(struct lnet_pass *p)
{
	struct lnet_discovery *d = &p->ln->disc;
	u64 next_ns = U64_MAX;
	bool mine;

	if (p->now_ns < READ_ONCE(d->walk_ns))
		return;
	spin_lock(&d->lock);
	mine = !d->walk_taken;
	d->walk_taken = 1;
	spin_unlock(&d->lock);
	if (!mine)
		return;
	WRITE_ONCE(d->walk_ns, U64_MAX);
	if (!READ_ONCE(p->ln->stopping))
		next_ns = push_walk(p);
	spin_lock(&d->lock);
	d->walk_taken = 0;
	spin_unlock(&d->lock);
	if (next_ns != U64_MAX)
		lnet_job_schedule(p->ln, &d->walk_ns, next_ns);
}

void lnet_push_all(struct lnet *ln, bool force)
{
	u64 now_ns = ln->env->ops->now_ns(ln->env);
	struct lnet_discovery *d = &ln->disc;

	if (!READ_ONCE(ln->nr_peers) || READ_ONCE(ln->stopping))
		return;
	spin_lock(&d->lock);
	WRITE_ONCE(d->walk_wanted, d->walk_wanted + 1);
	if (force)
		d->next_force_ns = now_ns;
	spin_unlock(&d->lock);
	lnet_job_schedule(ln, &d->walk_ns, now_ns + READ_ONCE(ln->tun.push_delay));
}

void lnet_ping_advertise(struct lnet *ln)
{
	if (lnet_ping_rebuild(ln))
		lnet_push_all(ln, false);
}

void lnet_push_now(struct lnet *ln)
{
	struct lnet_discovery *d = &ln->disc;

	if (!READ_ONCE(ln->nr_peers) || READ_ONCE(ln->stopping))
		return;
	spin_lock(&d->lock);
	WRITE_ONCE(d->walk_wanted, d->walk_wanted + 1);
	d->next_expedite = 1;
	spin_unlock(&d->lock);
	lnet_job_schedule(ln, &d->walk_ns, ln->env->ops->now_ns(ln->env));
}

/* [sh] True if @peer may send to @ni, and a path over another NI can carry the push. */
static bool has_way_beside(const struct lnet_peer *peer, const struct lnet_ni *ni)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;
	bool by = false, other = false;

	list_for_each_entry(pni, &peer->pnis, link) {
		list_for_each_entry(path, &pni->paths, link) {
			by |= path->ni == ni;
			other |= path->ni != ni && lnet_ni_usable(path->ni) &&
				 lnet_ni_has_link(path->ni);
		}
	}
	return by && other;
}

static bool peer_is_stock(const struct lnet_peer *peer)
{
	return !(peer->features & LNET_FEAT_OPEN);
}

struct reached {
	const struct lnet_ni *ni;
	u64 now_ns;
	bool (*is)(const struct lnet_peer *peer);
};

/*
 * [sh] True if @peer may send to the NI, accepts a push over another NI, and r->is() returns true
 * for it.
 */
static bool is_reached(struct lnet_peer *peer, void *arg)
{
	const struct reached *r = arg;

	return !peer->deleted && peer->mr && peer->disc.known &&
	       lnet_peer_is_responsive(peer, NULL, r->now_ns) &&
	       (peer->features & LNET_FEAT_DISCOVERY) && READ_ONCE(peer->ln->tun.discovery) &&
	       has_way_beside(peer, r->ni) && r->is(peer);
}

bool lnet_push_reaches_stock(struct lnet *ln, const struct lnet_ni *ni)
{
	struct reached r = { ni, ln->env->ops->now_ns(ln->env), peer_is_stock };
	struct lnet_peer *stock = lnet_peer_find(ln, NULL, is_reached, &r);

	lnet_peer_put(stock);
	return stock;
}

bool lnet_push_is_known(struct lnet *ln, const struct lnet_ni *ni, struct lnet_peer **at)
{
	struct reached r = { ni, ln->env->ops->now_ns(ln->env), is_behind };
	bool waits;

	if (*at) {
		spin_lock(&(*at)->sh->lock);
		waits = is_reached(*at, &r);
		spin_unlock(&(*at)->sh->lock);
		if (waits)
			return false;
	}
	*at = lnet_peer_find(ln, *at, is_reached, &r);
	return !*at;
}

/* ---- receiving ------------------------------------------------------------------------------- */

void lnet_push_taken(struct lnet_pass *p, struct lnet_rx *rx)
{
	struct lnet_peer *peer = rx->src->peer;
	struct lnet_disc *d = &peer->disc;
	int rc;

	if (rx->src->deleted || lnet_nid_is_lo(&peer->primary))
		return;
	lnet_count(p->sh, pushes_received);
	if (unlikely(rx->claimed)) {
		/*
		 * The push was not received from a gateway, so it may be forged. If the peer is
		 * known, pings it.
		 */
		if (d->known)
			lnet_disc_doubt(p, d);
		lnet_disc_step(p, peer);
		return;
	}
	rc = lnet_disc_take(p, peer, rx->sbuf, rx->mlength, true);
	if (rc == -EOPNOTSUPP)
		return;
	if (rc) {		/* not usable: pings the peer */
		lnet_disc_doubt(p, d);
		if (rc == -EMSGSIZE)
			WRITE_ONCE(p->ln->disc.push_len,
				   clamp(d->size, p->ln->disc.push_len, LNET_INFO_BYTES));
	} else {
		d->fails = 0;
		d->status = 0;
	}
	lnet_disc_step(p, peer);
}
