/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of programs to discover a NID. Each request has one callback, and waits until the peer
 * with the NID ends a round. If that peer is removed, the request waits for the peer that has the
 * NID then.
 */
#include "shard/shard.h"
#include "topology/topology.h"
#include "service/service.h"

/* longest wait, as a multiple of the transaction timeout: for ping, merge and push */
#define ROUNDS	3U
#define MAX_NS	(180 * (u64)NSEC_PER_SEC)
#define SLICE	32U	/* number of peers, and of callbacks, in one visit of the worker */

/* ---- lists ----------------------------------------------------------------------------------- */

/*
 * Any lock may be held. @ask no longer waits for a peer: the worker calls ask->done() with @status.
 */
static void end_with(struct lnet_disc_ask *ask, int status)
{
	struct lnet *ln = ask->ln;

	spin_lock(&ln->disc.lock);
	ask->status = status;
	list_move_tail(&ask->link, &ln->disc.over);
	spin_unlock(&ln->disc.lock);
	lnet_job_schedule(ln, &ln->disc.ask_ns, ln->env->ops->now_ns(ln->env));
}

void lnet_disc_ask_over(struct lnet_disc_ask *ask, int status)
{
	struct lnet_peer *peer = ask->peer;

	lockdep_assert_held(&peer->sh->lock);
	list_del_init(&ask->wait);
	spin_lock(&ask->ln->disc.lock);
	ask->peer = NULL;
	spin_unlock(&ask->ln->disc.lock);
	end_with(ask, status);
	lnet_peer_put(peer);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* [sh] Makes @ask wait for @peer. False: @ask was cancelled. */
static bool waiter_enqueue(struct lnet_disc_ask *ask, struct lnet_peer *peer)
{
	struct lnet_discovery *d = &ask->ln->disc;
	struct list_head *before;

	spin_lock(&d->lock);
	if (ask->left) {
		spin_unlock(&d->lock);
		return false;
	}
	ask->peer = peer;
	/* d->waiting is sorted by by_ns. */
	for (before = d->waiting.prev; before != &d->waiting; before = before->prev)
		if (list_entry(before, struct lnet_disc_ask, link)->by_ns <= ask->by_ns)
			break;
	list_add(&ask->link, before);
	spin_unlock(&d->lock);
	lnet_peer_get(peer);
	list_add_tail(&ask->wait, &peer->disc.waiters);
	return true;
}

/* [sh] Returns 0 if @ask waits, 1 if @ask need not wait, or -errno if @ask cannot wait. */
static int waiter_join(struct lnet_pass *p, struct lnet_disc_ask *ask, struct lnet_peer *peer)
{
	if (READ_ONCE(p->ln->stopping))
		return -ESHUTDOWN;
	if (lnet_nid_is_lo(&peer->primary))
		return 1;
	if (peer->deleted)
		return -ECANCELED;
	if (!lnet_peer_ni_any(peer))
		return -EHOSTUNREACH;
	if (!waiter_enqueue(ask, peer))
		return -ECANCELED;
	lnet_disc_want(p, peer, ask->force);
	return 0;
}

/* No lock held. Finds or creates the peer with the NID. Then @ask waits for this peer, or ends. */
static void seek(struct lnet_pass *p, struct lnet_disc_ask *ask)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_want(p->ln, &ask->nid, NULL);
	int rc = READ_ONCE(p->ln->stopping) ? -ESHUTDOWN : -ENOMEM;

	if (pni) {
		lnet_enter_pni(p, pni);
		rc = waiter_join(p, ask, pni->peer);
		lnet_leave(p);
		lnet_peer_ni_put(pni);
	}
	if (rc)
		end_with(ask, rc > 0 ? 0 : rc);
}

int lnet_disc_ask(struct lnet *ln, struct lnet_disc_ask *ask)
{
	u64 limit_ns = min(ROUNDS * READ_ONCE(ln->tun.transaction_timeout), MAX_NS);
	struct lnet_pass p;

	if (lnet_nid_is_any(&ask->nid) || !lnet_nid_is_sane(&ask->nid))
		return -EINVAL;
	INIT_LIST_HEAD(&ask->wait);
	INIT_LIST_HEAD(&ask->link);
	ask->ln = ln;
	ask->peer = NULL;
	ask->left = false;
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	ask->by_ns = p.now_ns + limit_ns;
	lnet_job_schedule(ln, &ln->disc.ask_ns, ask->by_ns);
	seek(&p, ask);
	lnet_pass_end(&p);
	return 0;
}

/* ---- cancelling ------------------------------------------------------------------------------ */

/*
 * Makes @ask stop waiting for @peer, to which the caller has a reference. False: @ask did not wait
 * for @peer.
 */
static bool leave_peer(struct lnet_disc_ask *ask, struct lnet_peer *peer)
{
	struct lnet *ln = ask->ln;
	struct lnet_pass p;
	bool waits;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter_peer(&p, peer);
	spin_lock(&ln->disc.lock);
	waits = ask->peer == peer;
	if (waits) {
		ask->peer = NULL;
		list_del_init(&ask->link);
		list_del_init(&ask->wait);
	}
	spin_unlock(&ln->disc.lock);
	lnet_leave(&p);
	lnet_pass_end(&p);
	if (waits)
		lnet_peer_put(peer);
	return waits;
}

bool lnet_disc_ask_cancel(struct lnet_disc_ask *ask)
{
	struct lnet_discovery *d = &ask->ln->disc;
	struct lnet_peer *peer;
	bool ended, waits;

	for (;;) {
		spin_lock(&d->lock);
		ended = list_empty(&ask->link);
		peer = ask->peer;
		if (peer)
			lnet_peer_get(peer);
		else
			list_del_init(&ask->link);
		ask->left = true;
		spin_unlock(&d->lock);
		if (!peer)
			return !ended;
		waits = leave_peer(ask, peer);
		lnet_peer_put(peer);
		if (waits)
			return true;
	}
}

/* ---- the worker ------------------------------------------------------------------------------ */

/* Returns a peer with a request that has waited too long, with a reference; NULL: none. */
static struct lnet_peer *next_late(struct lnet_discovery *d, u64 now_ns)
{
	struct lnet_disc_ask *ask;
	struct lnet_peer *peer = NULL;

	spin_lock(&d->lock);
	ask = list_first_entry_or_null(&d->waiting, struct lnet_disc_ask, link);
	if (ask && ask->by_ns <= now_ns)
		peer = ask->peer;
	if (peer)
		lnet_peer_get(peer);
	spin_unlock(&d->lock);
	return peer;
}

static struct lnet_disc_ask *waiter_take_ended(struct lnet_discovery *d)
{
	struct lnet_disc_ask *ask;

	spin_lock(&d->lock);
	ask = list_first_entry_or_null(&d->over, struct lnet_disc_ask, link);
	if (ask)
		list_del_init(&ask->link);
	spin_unlock(&d->lock);
	return ask;
}

static u64 next_ns(struct lnet_discovery *d, u64 now_ns)
{
	struct lnet_disc_ask *ask;
	u64 ns = U64_MAX;

	spin_lock(&d->lock);
	ask = list_first_entry_or_null(&d->waiting, struct lnet_disc_ask, link);
	if (!list_empty(&d->over))
		ns = now_ns;
	else if (ask)
		ns = ask->by_ns;
	spin_unlock(&d->lock);
	return ns;
}

void lnet_disc_ask_work(struct lnet_pass *p)
{
	struct lnet_discovery *d = &p->ln->disc;
	struct lnet_disc_ask *ask, *next;
	struct lnet_peer *peer;
	unsigned int nr;

	if (p->now_ns < READ_ONCE(d->ask_ns))
		return;
	WRITE_ONCE(d->ask_ns, U64_MAX);
	for (nr = 0; nr < SLICE && (peer = next_late(d, p->now_ns)); nr++) {
		lnet_enter_peer(p, peer);
		list_for_each_entry_safe(ask, next, &peer->disc.waiters, wait)
			if (ask->by_ns <= p->now_ns)
				lnet_disc_ask_over(ask, -ETIMEDOUT);
		lnet_leave(p);
		lnet_peer_put(peer);
	}
	for (nr = 0; nr < SLICE && (ask = waiter_take_ended(d)); nr++) {
		/* The peer of the request was removed: waits for the peer that has the NID now. */
		if (ask->status == -ECANCELED && !READ_ONCE(ask->left) && p->now_ns < ask->by_ns &&
		    !READ_ONCE(p->ln->stopping))
			seek(p, ask);
		else
			ask->done(ask, ask->status);
	}
	lnet_job_schedule(p->ln, &d->ask_ns, next_ns(d, p->now_ns));
}

void lnet_disc_asks_end(struct lnet *ln)
{
	struct lnet_disc_ask *ask;

	WARN_ON_ONCE(!list_empty(&ln->disc.waiting));
	while ((ask = waiter_take_ended(&ln->disc)))
		ask->done(ask, -ESHUTDOWN);
}
