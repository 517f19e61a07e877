/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The receiver's sessions: finds the window of a session ID, creates windows for session open
 * requests, and chooses windows to drop. The bounds of a peer apply to all its windows together.
 */
#include <lnet/hash.h>
#include <lnet/wire.h>
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "receive/receive.h"

#define WINDOW_FIRST 8U	/* number of elements of w->entry in a new window; it grows when needed */
#define GRANT_SHARD_MASK 63ULL		/* bits of a session ID that select its shard */
#define DRAWS_MAX 8U		/* most random values that the node tries for one session ID */
#define OPEN_BURST 16U			/* most session open requests of a peer without a pause */
#define HOLD_MIN_NS (100ULL * NSEC_PER_MSEC)	/* shortest hold time on request */
#define GREEDY_MAX 16U			/* most peers that are checked for a window to drop */
/* the node does not drop a window that was used within this time */
#define REST_NS ((u64)NSEC_PER_SEC)
#define OLD_MAX 256U			/* most windows that are checked for one to drop */
#define LOST_MAX 256U		/* most windows that are checked for one whose peer is lost */
#define LARGE_MAX 16U			/* most windows that are checked for one that is not busy */

u64 lnet_session_shard(const struct lnet *ln, u64 session_id)
{
	return ln->nr_shards > 1 ? (session_id & GRANT_SHARD_MASK) % ln->nr_shards : 0;
}

static struct lnet_window **window_bucket(struct lnet_shard *sh, u64 session_id)
{
	return &sh->index->session_id[lnet_hash64(session_id) % LNET_WINDOW_HASH];
}

struct lnet_window *lnet_window_find(struct lnet_shard *sh, u64 session_id)
{
	struct lnet_window *w;

	if (!sh->index)
		return NULL;
	for (w = *window_bucket(sh, session_id); w && w->session_id != session_id; w = w->hash_next)
		;
	return w;
}

/* ---- owner of a session: exactly-once rule 2 ------------------------------------------------- */

bool lnet_window_is_openers(const struct lnet_window *w, const struct lnet_rx *rx)
{
	const struct lnet_peer_ni *pni;

	if (likely(w->from == rx->src) || w->from->peer == rx->src->peer)
		return true;
	if (!READ_ONCE(w->from->peer->deleted))
		return false;
	/*
	 * The opener's peer entry was deleted. If a peer has the opener's NID, assume that it is
	 * the same node.
	 */
	list_for_each_entry(pni, &rx->src->peer->pnis, link)
		if (lnet_nid_same(&pni->nid, &w->opener))
			return true;
	return false;
}

bool lnet_window_is_foreign(const struct lnet_window *w, const struct lnet_rx *rx)
{
	const struct lnet_peer *peer = rx->src->peer;

	if (lnet_window_is_openers(w, rx))
		return false;
	/*
	 * The source may be a NID of the opener that this node does not know yet. This is
	 * impossible if all interfaces of the source's peer are known, because the opener's NID is
	 * not among them.
	 */
	return READ_ONCE(peer->disc.complete) || (peer->configured && peer->nr_pnis > 1);
}

/* ---- windows of one peer --------------------------------------------------------------------- */

/*
 * Each peer may have a limited number of windows. Returns the peer for which a window that @rx
 * opens is counted. If the sender only claims to forward @rx for its source, this is the sender.
 * Otherwise it is the source.
 */
static struct lnet_peer *payer_of(const struct lnet_rx *rx)
{
	return unlikely(rx->claimed) ? rx->from->peer : rx->src->peer;
}

static struct hlist_head *openers(struct lnet_shard *sh, const struct lnet_nid *opener)
{
	return &sh->index->opener[lnet_nid_keyed(sh->ln, opener) % LNET_WINDOW_HASH];
}

static void set_rank(struct lnet_shard *sh, struct lnet_window *w, unsigned int rank)
{
	w->rank = (u8)rank;
	list_move(&w->ranked, &sh->ranked[rank]);
}

/*
 * Returns the window of @opener with the highest rank; NULL: @opener has no window. The windows of
 * an opener have the ranks 1, 2 and so on. So the highest rank is also the number of windows.
 */
static struct lnet_window *opener_last_window(struct lnet_shard *sh, const struct lnet_nid *opener)
{
	struct lnet_window *w, *last = NULL;

	hlist_for_each_entry(w, openers(sh, opener), own)
		if (lnet_nid_same(&w->opener, opener) && (!last || w->rank > last->rank))
			last = w;
	return last;
}

/*
 * True if the sender may still retransmit a request. Without @w, the delivery of that request would
 * be unknown.
 */
static bool is_fresh(const struct lnet_window *w, u64 now_ns)
{
	return w->high && now_ns - w->last_ns < REST_NS;
}

/*
 * Returns a window of @opener that is not busy: a window that was never used, else the oldest;
 * NULL: there is none. If @rx is not NULL, windows that other sources than the source of @rx used
 * within REST_NS are excluded.
 */
static struct lnet_window *opener_oldest_window(struct lnet_pass *p, const struct lnet_nid *opener,
						const struct lnet_rx *rx)
{
	struct lnet_shard *sh = p->sh;
	struct lnet_window *w, *found = NULL;

	hlist_for_each_entry(w, openers(sh, opener), own) {
		if (!lnet_nid_same(&w->opener, opener) || lnet_window_is_busy(w))
			continue;
		if (rx && w->from->peer != rx->src->peer && is_fresh(w, p->now_ns))
			continue;
		if (!found || !w->high > !found->high ||
		    (!w->high == !found->high && w->last_ns <= found->last_ns))
			found = w;
	}
	return found;
}

/*
 * Returns the oldest window of a peer that has the most windows; NULL: no peer has more than one.
 */
static struct lnet_window *window_of_greediest(struct lnet_pass *p)
{
	struct lnet_shard *sh = p->sh;
	unsigned int rank, tries = 0;
	struct lnet_window *w, *found;

	for (rank = LNET_WINDOWS_PER_PEER; rank > 1; rank--)
		list_for_each_entry(w, &sh->ranked[rank], ranked) {
			found = opener_oldest_window(p, &w->opener, NULL);
			if (found)
				return found;
			if (++tries == GREEDY_MAX)
				return NULL;
		}
	return NULL;
}

/* ---- shares of replies -------------------------------------------------------------------- */

void lnet_windows_share(struct lnet_shard *sh, const struct lnet_nid *opener, u64 *cache_bytes,
			u64 *nr_held)
{
	const struct lnet_window *w;

	*cache_bytes = 0;
	*nr_held = 0;
	hlist_for_each_entry(w, openers(sh, opener), own) {
		if (!lnet_nid_same(&w->opener, opener))
			continue;
		*cache_bytes += w->cache_bytes;
		*nr_held += w->nr_held;
	}
}

bool lnet_window_may_cache(struct lnet_pass *p, const struct lnet_window *w, u32 len)
{
	u64 share = READ_ONCE(p->ln->tun.reply_cache_per_peer), bytes, nr;
	struct lnet_shard *sh = p->sh;

	if (sh->cache_bytes + len <= READ_ONCE(p->ln->tun.reply_cache_budget)) {
		if (likely(sh->cache_bytes + len <= share))
			return true;
		lnet_windows_share(sh, &w->opener, &bytes, &nr);
		if (bytes + len <= share)
			return true;
		lnet_count(sh, reply_cache_of_peer);
	}
	lnet_count(sh, reply_cache_denied);
	return false;
}

bool lnet_window_may_hold(struct lnet_pass *p, const struct lnet_window *w)
{
	u64 share = max(READ_ONCE(p->ln->tun.held_per_peer), (u64)w->W), bytes, nr;
	struct lnet_shard *sh = p->sh;

	if (likely(sh->nr_held < share))
		return true;
	lnet_windows_share(sh, &w->opener, &bytes, &nr);
	if (nr < share)
		return true;
	lnet_count(sh, held_denied);
	return false;
}

/* ---- dropping sessions ----------------------------------------------------------------------- */

bool lnet_window_is_busy(const struct lnet_window *w)
{
	u64 seq;

	for (seq = w->low; seq <= w->high && w->nr_entries; seq++) {
		const struct lnet_entry *e = lnet_window_entry(w, seq);

		if (e && (e->state != ENTRY_FINAL || e->md || e->refs > 1))
			return true;
	}
	return false;
}

void lnet_window_drop(struct lnet_pass *p, struct lnet_window *w)
{
	struct lnet_window **at = window_bucket(p->sh, w->session_id), *last;
	struct lnet_window_walk *walk;
	u32 ix;

	lnet_timer_cancel(&p->sh->wheel, &w->timer);
	while (*at != w)
		at = &(*at)->hash_next;
	*at = w->hash_next;
	list_del(&w->link);
	list_for_each_entry(walk, &p->sh->window_walks, link)
		/*
		 * if @w is the next window of a walk, the walk continues with the window after it
		 */
		if (walk->at == &w->made)
			walk->at = w->made.next;
	list_del(&w->made);
	hlist_del(&w->own);
	list_del(&w->ranked);
	/*
	 * The opener's window with the highest rank gets the rank of @w, so that the ranks have no
	 * gap.
	 */
	last = opener_last_window(p->sh, &w->opener);
	if (last && last->rank > w->rank)
		set_rank(p->sh, last, w->rank);
	p->sh->nr_windows--;
	lnet_count(p->sh, windows_dropped);
	for (ix = 0; ix < w->cap; ix++)
		lnet_entry_detach(p, w, ix);
	list_del(&w->heavy);
	list_del(&w->ack_due);
	p->sh->window_bytes -= lnet_window_bytes(w);
	lnet_window_from(w, NULL);
	lnet_peer_ni_put(w->via);
	lnet_ni_put(w->ack_ni);
	kfree(w->entry);
	kfree(w);
}

/*
 * Returns a window that is neither busy nor recently used: a window that was never used, else the
 * least recently used.
 */
static struct lnet_window *to_drop(struct lnet_shard *sh, u64 now_ns)
{
	struct lnet_window *w, *found = NULL;
	unsigned int nr = 0;

	list_for_each_entry_reverse(w, &sh->windows, link) {
		if (nr++ == OLD_MAX)
			break;
		if (lnet_window_is_busy(w))
			continue;
		if (!w->high)
			return w;
		if (!is_fresh(w, now_ns))
			found = found ? found : w;
	}
	return found;
}

static bool displace(struct lnet_pass *p, struct lnet_window *w)
{
	if (!w) {
		lnet_count(p->sh, session_opens_rejected);
		return false;
	}
	lnet_count(p->sh, windows_displaced);
	lnet_window_drop(p, w);
	return true;
}

/*
 * Drops a window if a bound is reached. At windows_per_peer, the peer whose share @rx uses loses a
 * window; at windows_max, a peer with the most windows loses one.
 */
static bool windows_make_room(struct lnet_pass *p, const struct lnet_rx *rx)
{
	const struct lnet_nid *opener = &payer_of(rx)->primary;
	u64 share = READ_ONCE(p->ln->tun.windows_per_peer);
	struct lnet_shard *sh = p->sh;
	struct lnet_window *last;

	while ((last = opener_last_window(sh, opener)) && last->rank >= share) {
		if (!displace(p, opener_oldest_window(p, opener, rx)))
			return false;
		lnet_count(sh, windows_of_peer);
	}
	while (sh->nr_windows >= READ_ONCE(p->ln->tun.windows_max)) {
		struct lnet_window *w = window_of_greediest(p);

		if (!displace(p, w ? w : to_drop(sh, p->now_ns)))
			return false;
	}
	return true;
}

u64 lnet_window_bytes(const struct lnet_window *w)
{
	return sizeof(*w) + (u64)w->cap * sizeof(*w->entry);
}

/*
 * True if the opener lost its connections after its last request, according to the paths of this
 * shard.
 */
static bool opener_is_lost(const struct lnet_window *w)
{
	const struct lnet_path *path;
	bool lost = false;

	if (READ_ONCE(w->from->sh) != w->sh)
		return false;
	list_for_each_entry(path, &w->from->paths, link) {
		if (path->liveness_ns > path->lost_ns)
			return false;
		lost |= path->lost_ns >= w->last_ns;
	}
	return lost;
}

/*
 * Returns the largest window to drop, or NULL. @lost: a window of a lost peer; otherwise a window
 * not smaller than @keep.
 */
static struct lnet_window *heavy_one(struct lnet_shard *sh, const struct lnet_window *keep,
				     bool lost)
{
	unsigned int weight = LNET_WINDOW_WEIGHTS, least = lost ? 0 : keep->weight, nr = 0;
	struct lnet_window *w;

	while (weight-- > least)
		list_for_each_entry(w, &sh->heavy[weight], heavy) {
			if ((!lost || opener_is_lost(w)) && w != keep && !lnet_window_is_busy(w))
				return w;
			if (++nr == (lost ? LOST_MAX : LARGE_MAX))
				return NULL;
		}
	return NULL;
}

bool lnet_window_room(struct lnet_pass *p, struct lnet_window *w)
{
	u64 max = READ_ONCE(p->ln->tun.window_memory);

	while (unlikely(p->sh->window_bytes + sizeof(struct lnet_entry) > max)) {
		struct lnet_window *out = heavy_one(p->sh, w, true);

		if (!out)
			out = heavy_one(p->sh, w, false);
		if (!out)
			return false;
		lnet_count(p->sh, windows_displaced);
		lnet_count(p->sh, windows_for_memory);
		lnet_window_drop(p, out);
	}
	return true;
}

void lnet_windows_init(struct lnet_shard *sh)
{
	unsigned int i;

	INIT_LIST_HEAD(&sh->windows);
	INIT_LIST_HEAD(&sh->made);
	INIT_LIST_HEAD(&sh->window_walks);
	INIT_LIST_HEAD(&sh->ack_due);
	for (i = 0; i < ARRAY_SIZE(sh->ranked); i++)
		INIT_LIST_HEAD(&sh->ranked[i]);
	for (i = 0; i < ARRAY_SIZE(sh->heavy); i++)
		INIT_LIST_HEAD(&sh->heavy[i]);
}

void lnet_windows_fini(struct lnet *ln)
{
	struct lnet_shard *sh;
	struct lnet_entry *e;
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	for (sh = ln->shard; sh < ln->shard + ln->nr_shards; sh++) {
		lnet_enter(&p, sh);
		while (!list_empty(&sh->windows))
			lnet_window_drop(&p, list_first_entry(&sh->windows, struct lnet_window,
							      link));
		WARN_ON_ONCE(sh->window_bytes);
		while ((e = lnet_entry_take(sh)))
			kfree(e);
		kfree(sh->index);
		sh->index = NULL;
	}
	lnet_pass_end(&p);
}

/* ---- creating windows ------------------------------------------------------------------------ */

/*
 * Returns the session that @rx has already opened. The nonce alone does not prove the sender,
 * because other nodes know the instance number and can guess nonces.
 */
static struct lnet_window *window_of(struct lnet_shard *sh, const struct lnet_rx *rx)
{
	struct lnet_window *w;

	if (!sh->index)
		return NULL;
	hlist_for_each_entry(w, openers(sh, &payer_of(rx)->primary), own)
		if (w->instance == rx->handle.cookie[0] && w->nonce == rx->handle.cookie[1] &&
		    lnet_window_is_openers(w, rx))
			return w;
	return NULL;
}

/*
 * Draws a session ID. It must be unpredictable, because an unknown NID may use a session if it has
 * the session ID. 0: no unused ID was found.
 */
static u64 draw_grant(struct lnet *ln, struct lnet_shard *sh)
{
	unsigned int i;

	for (i = 0; i < DRAWS_MAX; i++) {
		u64 secret = ln->env->ops->secret(ln->env) & ~GRANT_SHARD_MASK;
		u64 session_id = secret | sh->ix;

		if (secret && session_id != ~0ULL && session_id != ln->instance &&
		    !lnet_window_find(sh, session_id))
			return session_id;
	}
	return 0;
}

static bool window_add(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx, u32 hold_ms)
{
	/*
	 * The timer checks all elements of w->entry four times per hold time, so HOLD_MIN_NS limits
	 * its cost.
	 */
	u64 hold_ns = hold_ms ? max((u64)hold_ms * NSEC_PER_MSEC, HOLD_MIN_NS) :
				READ_ONCE(p->ln->tun.hold_time);
	const struct lnet_window *last;
	struct lnet_shard *sh = p->sh;
	struct lnet_window **at;

	w->cap = WINDOW_FIRST;
	w->low = 1;
	INIT_LIST_HEAD(&w->ranked);
	INIT_LIST_HEAD(&w->ack_due);
	lnet_timer_init(&w->timer, LNET_TIMER_WINDOW);
	w->sh = sh;
	w->instance = rx->handle.cookie[0];
	w->nonce = rx->handle.cookie[1];
	w->session_id = draw_grant(p->ln, sh);
	if (!w->session_id)
		return false;
	w->opener = payer_of(rx)->primary;
	lnet_window_from(w, rx->src);
	w->W = READ_ONCE(p->ln->tun.window);
	w->hold_ns = min(hold_ns, READ_ONCE(p->ln->tun.hold_time_max));
	w->last_ns = p->now_ns;
	at = window_bucket(sh, w->session_id);
	w->hash_next = *at;
	*at = w;
	list_add(&w->link, &sh->windows);
	list_add(&w->made, &sh->made);
	sh->nr_windows++;
	list_add(&w->heavy, &sh->heavy[0]);
	sh->window_bytes += lnet_window_bytes(w);
	last = opener_last_window(sh, &w->opener);
	set_rank(sh, w, last ? last->rank + 1 : 1);
	hlist_add_head(&w->own, openers(sh, &w->opener));
	lnet_timer_set(&sh->wheel, &w->timer, p->now_ns + 2 * w->hold_ns);
	return true;
}

struct lnet_window *lnet_window_open(struct lnet_pass *p, struct lnet_rx *rx, u32 hold_ms)
{
	struct lnet_window *w = window_of(p->sh, rx), *fresh;
	struct lnet_window_index *index;

	if (w)
		return w;
	lnet_leave(p);
	fresh = kzalloc(sizeof(*fresh), GFP_NOFS);
	if (fresh)
		fresh->entry = kcalloc(WINDOW_FIRST, sizeof(*fresh->entry), GFP_NOFS);
	index = kzalloc(sizeof(*index), GFP_NOFS);
	lnet_enter_pni(p, rx->from);
	if (!p->sh->index)
		swap(p->sh->index, index);
	kfree(index);
	w = window_of(p->sh, rx);
	if (!w && fresh && fresh->entry && p->sh->index && windows_make_room(p, rx) &&
	    window_add(p, fresh, rx, hold_ms))
		return fresh;
	if (fresh)
		kfree(fresh->entry);
	kfree(fresh);
	return w;
}

/* ---- session open requests ------------------------------------------------------------------- */

enum lnet_verdict lnet_session_open(struct lnet_pass *p, struct lnet_rx *rx,
				    const struct lnet_hdr *hdr)
{
	/* shortest mean time between session open requests of @payer */
	u64 gap_ns = div_u64(NSEC_PER_SEC, (u32)READ_ONCE(p->ln->tun.session_opens_rate));
	struct lnet_peer *payer = payer_of(rx);
	struct lnet_window *w;
	struct lnet_sbuf *c;
	struct lnet_op *op;

	if (lnet_bucket_take(&payer->open_due_ns, p->now_ns, gap_ns, OPEN_BURST * gap_ns)) {
		lnet_count(p->sh, session_opens_limited);
		return LNET_SKIP;
	}
	rx->reply_op = lnet_op_take(p->sh);
	lnet_leave(p);
	c = lnet_sbuf_new(LNET_SESSION_REPLY_SIZE);
	if (!rx->reply_op)
		rx->reply_op = lnet_op_new();
	lnet_enter_pni(p, rx->from);
	if (!c || !rx->reply_op) {
		lnet_count(p->sh, rx_no_memory);
		lnet_sbuf_put(c);
		return LNET_SKIP;
	}
	w = lnet_window_open(p, rx, hdr->msg.get.src_offset);
	if (!w || hdr->msg.get.sink_length < LNET_SESSION_REPLY_SIZE) {
		lnet_sbuf_put(c);
		if (w)
			return LNET_SKIP;
		/*
		 * No window: an empty REPLY reports the failure. Without a REPLY, the sender would
		 * wait until its timeout.
		 */
		c = NULL;
	} else {
		lnet_count(p->sh, session_opens);
		lnet_window_heard(p, w, rx);
		lnet_session_reply_encode(c->data, w->W, p->ln->instance, w->session_id);
	}
	op = lnet_reply_new(p, rx, LNET_OP_REPLY);
	op->sbuf = c;
	op->cls = LNET_CLS_CONTROL;
	op->len = c ? LNET_SESSION_REPLY_SIZE : 0;
	op->kind = LNET_KIND_REPLY;
	op->binding = LNET_BIND_FIRST;
	lnet_op_defer(p, op);
	return LNET_SKIP;
}
