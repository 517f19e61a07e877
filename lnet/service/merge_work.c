/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Merges lists of NIDs in the worker, one list after another. Each peer has at most one merge per
 * merge_pause. If something is in use, the worker retries later.
 */
#include <lnet/hash.h>
#include "shard/shard.h"
#include "topology/topology.h"
#include "service/service.h"

#define VISITS		32U	/* number of peers that one visit of the worker merges at most */
#define AGAIN_NS	((u64)NSEC_PER_MSEC)	/* pause before a retry */
#define BURST		8U	/* lists of one peer that are merged without a pause */

/*
 * [sh] Returns the time at which the list in @d may be merged; 0: now. The lists of a peer that
 * sends many wait.
 */
static u64 turn_ns(const struct lnet *ln, const struct lnet_disc *d)
{
	u64 burst_ns = BURST * READ_ONCE(ln->tun.merge_pause);

	if (!d->data || d->merge_free || d->merge_next_ns < burst_ns)
		return 0;
	return d->merge_next_ns - burst_ns;
}

/*
 * [sh] Returns true if the merge of @data may be retried. Retries are permitted until merge_by_ns.
 * If no newer list waits in d->data, @data waits there for the retry. @full: the merge ignored NIDs
 * because of a limit. With @full, merge_pause delays the retry, because the retry reads all ignored
 * NIDs again.
 */
static bool try_again(struct lnet_pass *p, struct lnet_disc *d, struct lnet_sbuf *data, u32 len,
		      bool full)
{
	if (!d->merge_by_ns)
		d->merge_by_ns = p->now_ns + READ_ONCE(p->ln->tun.transaction_timeout);
	if (p->now_ns >= d->merge_by_ns)
		return false;
	if (!d->data && data) {
		lnet_disc_list_set(p->ln, &d->data, data);
		d->data_len = len;
		d->merge_free = !full;
	}
	return true;
}

/*
 * [sh] Ends a merge. @err: its result; @left: some interfaces still have to be removed; @to: the
 * peer entry into which the info was merged. Returns true if the worker must visit @peer again.
 */
static bool merged(struct lnet_pass *p, struct lnet_peer *peer, struct lnet_sbuf *data, u32 len,
		   int err, bool left, const struct lnet_peer *to)
{
	struct lnet_disc *d = &peer->disc;

	if (peer->deleted)
		return false;
	if (data)
		WRITE_ONCE(d->complete, to == peer && !err && !d->data && !d->off &&
				     !peer->configured && !d->partial &&
				     !lnet_proofs_open(peer));
	if (err == -EBUSY && try_again(p, d, data, len, READ_ONCE(to->disc.full)))
		return true;
	if (!left)
		d->merge_by_ns = 0;
	else if (!d->merge_by_ns)
		d->merge_by_ns = p->now_ns + READ_ONCE(p->ln->tun.transaction_timeout);
	if (data)
		d->hash = err ? 0 : lnet_hash_bytes(data->data, len, 1);
	d->force_merge = 0;
	if (err == -ENOMEM) {
		d->want_ping = 1;
		lnet_disc_failed(p, peer, err);
	}
	lnet_disc_step(p, peer);
	return left || (d->data && turn_ns(p->ln, d) <= p->now_ns);
}

/*
 * No lock held. The info of @from was merged into @to. If the merge also removed the peer entry
 * @from, @to inherits the discovery state of @from. The worker then retries an unfinished merge for
 * @to.
 */
static void handed_over(struct lnet_pass *p, struct lnet_peer *from, struct lnet_peer *to,
			struct lnet_sbuf *data, u32 len, int err)
{
	struct lnet_disc *d = &to->disc;

	lnet_enter(p, to->sh);
	if (from->deleted && !to->deleted) {
		d->seq = from->disc.seq;
		d->size = from->disc.size;
		d->hash = err ? 0 : lnet_hash_bytes(data->data, len, 1);
		if (err == -EBUSY || lnet_proofs_open(from))
			try_again(p, d, data, len, d->full);
	}
	lnet_disc_step(p, to);
	lnet_leave(p);
}

/*
 * Merges the list of @peer. The caller holds a reference to @peer. Returns true if the worker must
 * visit @peer again.
 */
static bool merge_visit_peer(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_disc *d = &peer->disc;
	struct lnet_peer *to = peer;
	struct lnet_sbuf *data;
	bool again, late, left;
	int err = 0;
	u32 len;

	lnet_enter(p, peer->sh);
	data = turn_ns(p->ln, d) > p->now_ns ? NULL : d->data;
	len = d->data_len;
	if (data) {
		lnet_sbuf_get(data);
		lnet_disc_list_set(p->ln, &d->data, NULL);
	}
	if (data && !d->merge_free)
		d->merge_next_ns = max(d->merge_next_ns, p->now_ns) +
				   READ_ONCE(p->ln->tun.merge_pause);
	late = d->merge_by_ns && p->now_ns >= d->merge_by_ns;
	again = peer->deleted;
	lnet_leave(p);
	if (again) {
		lnet_sbuf_put(data);
		return false;
	}
	lnet_peer_get(peer);
	if (data) {
		err = lnet_merge_info(p, &to, data, len, late);
		lnet_routes_learned(p, to, data->data, len);
	}
	left = lnet_merge_reap(p, peer, late);
	lnet_proofs_run(p, peer);
	lnet_enter(p, peer->sh);
	again = merged(p, peer, data, len, err, left, to);
	lnet_leave(p);
	if (to != peer)
		handed_over(p, peer, to, data, len, err);
	lnet_peer_put(to);
	lnet_sbuf_put(data);
	return again;
}

/*
 * Removes the first peer that is due from the queue. The caller receives the queue's reference.
 * NULL: none is due.
 */
static struct lnet_peer *next_due(struct lnet_discovery *d, u64 now_ns)
{
	struct lnet_peer *peer = NULL, *at;

	spin_lock(&d->lock);
	list_for_each_entry(at, &d->todo, disc.todo)
		if (at->disc.todo_ns <= now_ns) {
			list_del_init(&at->disc.todo);
			peer = at;
			break;
		}
	spin_unlock(&d->lock);
	return peer;
}

/*
 * Queues @peer with the caller's reference. False: @peer was already queued, and that reference is
 * dropped.
 */
static bool todo_add(struct lnet *ln, struct lnet_peer *peer, u64 when_ns)
{
	struct lnet_discovery *d = &ln->disc;
	bool there;

	spin_lock(&d->lock);
	there = !list_empty(&peer->disc.todo);
	if (!there || when_ns < peer->disc.todo_ns)
		peer->disc.todo_ns = when_ns;
	if (!there)
		list_add_tail(&peer->disc.todo, &d->todo);
	spin_unlock(&d->lock);
	if (there)
		lnet_peer_put(peer);
	lnet_job_schedule(ln, &d->todo_ns, when_ns);
	return !there;
}

void lnet_merge_due(struct lnet_pass *p, struct lnet_peer *peer)
{
	bool again = peer->disc.merge_by_ns;	/* something was busy just now */
	u64 at_ns = turn_ns(p->ln, &peer->disc);

	lnet_peer_get(peer);
	if (todo_add(p->ln, peer, max(at_ns, p->now_ns + (again ? AGAIN_NS : 0))) &&
	    at_ns > p->now_ns)
		lnet_count(p->sh, merges_delayed);
}

/* Returns when the worker must run next; U64_MAX: the queues are empty. */
static u64 next_todo_ns(struct lnet_discovery *d)
{
	struct lnet_peer *peer;
	u64 ns = U64_MAX;

	spin_lock(&d->lock);
	list_for_each_entry(peer, &d->todo, disc.todo)
		ns = min(ns, peer->disc.todo_ns);
	if (!list_empty(&d->proved))
		ns = 0;
	spin_unlock(&d->lock);
	return ns;
}

/*
 * Does not wait for cfg_mutex. In lnet_cfg_wait(), a thread that already has cfg_mutex calls this
 * function. In the worker, another thread that has cfg_mutex may be waiting for the worker.
 */
void lnet_merge_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	struct lnet_peer *peer;
	unsigned int nr;
	u64 next_ns;

	if (p->now_ns < READ_ONCE(ln->disc.todo_ns))
		return;
	WRITE_ONCE(ln->disc.todo_ns, U64_MAX);
	if (READ_ONCE(ln->stopping))
		return;
	if (mutex_trylock(&ln->cfg_mutex)) {
		lnet_proofs_take(p);
		for (nr = 0; nr < VISITS && (peer = next_due(&ln->disc, p->now_ns)); nr++)
			if (merge_visit_peer(p, peer))
				todo_add(ln, peer, p->now_ns + AGAIN_NS);
			else
				lnet_peer_put(peer);
		mutex_unlock(&ln->cfg_mutex);
	}
	next_ns = next_todo_ns(&ln->disc);
	if (next_ns != U64_MAX)
		lnet_job_schedule(ln, &ln->disc.todo_ns, max(next_ns, p->now_ns + AGAIN_NS));
}
