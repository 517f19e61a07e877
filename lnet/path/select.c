/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the path of a message: filters the paths to the peer, and ranks the candidates.
 *
 * The policy is the list PATH_RANKS. The first rank in which two candidates differ decides between
 * them, whatever the later ranks are. One walk over the candidates compares each with the best one
 * before it. Selection, hedging and explain use the same walk. If a peer has only one path, the
 * path is not ranked.
 *
 * Health is the exception. Among candidates that are equal in the earlier ranks, those within
 * health_range of the best health count as equal to the best. If health_range is not 0, an
 * additional first walk finds the best health.
 *
 * "responsive" is before health because a path becomes suspect within milliseconds, and suspicion
 * changes no health. "link_up" is the first rank, so selection uses an NI without link only if
 * there is no other NI. Such an NI remains a candidate, because its link may be up again soon.
 * Routed paths are used only if all direct paths are suspect or without link. A route that is down
 * is used only if there is no other path.
 */
#include "topology/topology.h"
#include "path/path.h"
#include "shard/hooks.h"
#include "shard/trace.h"

#define NUMA_LOCAL	10	/* distances as in firmware tables */
#define NUMA_REMOTE	20

const char *const lnet_path_rank_names[LNET_NR_PATH_RANKS] = {
#define RANK(name) [LNET_RANK_##name] = #name,
	PATH_RANKS(RANK)
#undef RANK
};

/* One selection: its parameters, its filters, and the values for comparing health. */
struct walk {
	struct lnet_shard *sh;
	struct lnet_select *s;
	/* requested or sticky NI; only compared, never dereferenced */
	const struct lnet_ni *ni;
	const struct lnet_peer_ni *hop;
	u64 avoid;			/* excluded paths */
	bool by_time;			/* tunable selection */
	s64 numa_near;		/* tunable numa_range: distances up to this value count as equal */
	/* @health_more is added to a health value; @health_most limits the sum */
	s64 health_more, health_most;
};

/* Prepares a walk. It reads the tunables once, so that the same order applies to all candidates. */
static struct walk walk_of(struct lnet_shard *sh, struct lnet_select *s, const struct lnet_ni *ni,
			   const struct lnet_peer_ni *hop)
{
	return (struct walk) {
		.sh = sh, .s = s, .ni = ni, .hop = hop, .avoid = s->exclude,
		.by_time = READ_ONCE(sh->ln->tun.selection),
		.numa_near = (s64)READ_ONCE(sh->ln->tun.numa_range),
	};
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/*
 * Returns the NUMA distance between memory and NI. An unknown CPT counts as near, so that it is no
 * disadvantage.
 */
static __always_inline s64 numa_distance(const struct walk *w, const struct lnet_ni *ni)
{
	const struct lnet *ln = w->sh->ln;
	s32 a = ni->dev_cpt, b = w->s->cpt;
	s64 far;

	if (likely(a < 0 || b < 0 || a == b))
		far = NUMA_LOCAL;
	else if (ln->env->ops->distance && max(a, b) < (s32)ln->nr_shards)
		far = ln->env->ops->distance(ln->env, a, b);
	else
		far = NUMA_REMOTE;
	return max(far, w->numa_near);
}

/*
 * Rank "link_up": a drained or damped interface ranks above an interface without link, and below
 * all others.
 */
static s64 rank_link(const struct lnet_path *path)
{
	enum lnet_ni_service service = lnet_ni_service(path->ni);

	if (service == LNET_NI_NO_LINK || path->pni->status == LNET_PNI_STATUS_DOWN)
		return -1;
	return service == LNET_NI_OK || service == LNET_NI_ADVERTISED_DOWN;
}

/*
 * Returns the value of @path in @rank; a larger value is better. The function is always inlined.
 * Its calls in is_better() pass a constant @rank, so the compiler removes the switch there.
 */
static __always_inline s64 rank_of(const struct walk *w, const struct lnet_path *path,
				   enum lnet_path_rank rank)
{
	const struct lnet_ni_shard *nis = &path->ni->sh[w->sh->ix];
	bool routed = unlikely(lnet_path_is_routed(path));

	switch (rank) {
	case LNET_RANK_link_up:
		return rank_link(path);
	case LNET_RANK_route_up:
		return !routed || lnet_rec_value(w->sh, lnet_route_usable(path));
	/* if a router is suspect, all paths through it count as suspect */
	case LNET_RANK_responsive:
		return !path->suspect_ns && !path->first_hop->suspect_ns;
	case LNET_RANK_direct:
		return !routed;
	case LNET_RANK_health:
		return lnet_path_health(path);
	case LNET_RANK_priority:
		return path->policy >> 1;
	case LNET_RANK_preferred:
		return path->policy & 1;
	case LNET_RANK_gw_priority:
		return routed ? -(s64)path->route->priority : 0;
	case LNET_RANK_hops:
		return routed ? -max(path->route->hops, 1) : 0;
	case LNET_RANK_gw_health:
		return routed ? lnet_path_health(path->first_hop) : 0;
	/*
	 * Selection uses a degraded NI in proportion to its weight. Selection by expected time
	 * ignores the weight, because the measured rate of the path includes the degradation.
	 */
	case LNET_RANK_share:
		return likely(!READ_ONCE(path->ni->degradation)) || w->by_time ||
		       w->sh->rr_pos >= nis->share_until;
	case LNET_RANK_due:
		return likely(!w->by_time) ? 0 :
			-(s64)lnet_load_due_ns(path, w->s->bytes,
					       lnet_rec_value(w->sh, w->sh->now_ns));
	case LNET_RANK_numa:
		return -numa_distance(w, path->ni);
	case LNET_RANK_credits:
		return min(nis->credits, path->hop->credits);
	/*
	 * A position is the value that sh->rr_pos had at the last selection. So a smaller sum of
	 * the positions means a less recent selection.
	 */
	case LNET_RANK_round_robin:
		return -(s64)(nis->rr_pos + path->hop->rr_pos + (routed ? path->pni->rr_pos : 0));
	default:
		return 0;
	}
}

static void ranks_fill(const struct walk *w, const struct lnet_path *path, s64 *rank)
{
	unsigned int r;

	for (r = 0; r < LNET_NR_PATH_RANKS; r++)
		rank[r] = rank_of(w, path, r);
}

/*
 * Returns the rank value for comparisons: a health within health_range of the best health counts as
 * equal to it.
 */
static __always_inline s64 rank_seen(const struct walk *w, const struct lnet_path *path,
				     enum lnet_path_rank rank)
{
	s64 value = rank_of(w, path, rank);

	return rank == LNET_RANK_health ? min(value + w->health_more, w->health_most) : value;
}

/*
 * Ranks in which two paths cannot differ if both are direct and healthy, and have a link. Such
 * paths are called "at the top". is_better() skips these ranks for them.
 */
#define TOP_RANKS (BIT(LNET_RANK_link_up) | BIT(LNET_RANK_route_up) | BIT(LNET_RANK_responsive) | \
		   BIT(LNET_RANK_direct) | BIT(LNET_RANK_health) | BIT(LNET_RANK_gw_priority) | \
		   BIT(LNET_RANK_hops) | BIT(LNET_RANK_gw_health))

/*
 * True if @a is better than @b. *@at: the first rank in which @a and @b differ; "round_robin" if
 * there is none. @top: both paths are at the top (TOP_RANKS).
 */
static bool is_better(const struct walk *w, const struct lnet_path *a, const struct lnet_path *b,
		      bool top, enum lnet_path_rank *at)
{
	s64 x, y;

#define RANK(name)								\
	if (!top || !(TOP_RANKS & BIT(LNET_RANK_##name))) {			\
		x = rank_seen(w, a, LNET_RANK_##name);				\
		y = rank_seen(w, b, LNET_RANK_##name);				\
		if (x != y) {							\
			*at = LNET_RANK_##name;					\
			return x > y;						\
		}								\
	}
	PATH_RANKS(RANK)
#undef RANK
	*at = LNET_RANK_round_robin;
	return false;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static u64 path_bit(const struct lnet_path *path)
{
	return BIT_ULL(path->ix % LNET_MAX_PATHS);
}

static __always_inline bool passes(const struct walk *w, const struct lnet_path *path)
{
	if ((w->ni && path->ni != w->ni) || unlikely(w->hop && path->hop != w->hop) ||
	    path->pni->deleted || (w->s->pni && path->pni != w->s->pni))
		return false;
	return path->ni->state == NI_ACTIVE && path->ni->net == path->hop->net &&
	       !(path_bit(path) & w->avoid) && !path->gone;
}

/* Returns the next path after @path that passes the filters; if @path is NULL, the first one. */
static struct lnet_path *next_path(const struct walk *w, struct lnet_path *path)
{
	struct list_head *pnis = &w->s->peer->pnis;
	struct lnet_peer_ni *pni;

	pni = path ? path->pni : list_first_entry(pnis, struct lnet_peer_ni, link);
	list_for_each_entry_from(pni, pnis, link) {
		if (!path)
			path = list_entry(&pni->paths, struct lnet_path, link);
		list_for_each_entry_continue(path, &pni->paths, link)
			if (passes(w, path))
				return path;
		path = NULL;
	}
	return NULL;
}

static bool path_is_open(const struct lnet_path *path)
{
	return rank_link(path) > 0 &&
	       (!lnet_path_is_routed(path) ||
		lnet_rec_value(path->pni->sh, lnet_route_usable(path)));
}

/*
 * [sh] Adds a candidate to w->s->cands. If there is no room, only @best is added: it replaces the
 * last element.
 */
static void look_add(const struct walk *w, struct lnet_path *path, const struct lnet_path *best)
{
	struct lnet_cands *cands = w->s->cands;
	unsigned int at = min(cands->nr, LNET_CANDS_MAX - 1U);

	if (cands->nr == LNET_CANDS_MAX && path != best)
		return;
	cands->cand[at].path = path;
	ranks_fill(w, path, cands->cand[at].rank);
	cands->nr = at + 1;
}

/*
 * Starts the recovery of an unhealthy path. So an NI that was penalized because of one peer
 * recovers by its paths to other peers with traffic.
 */
static void recover(const struct walk *w, struct lnet_path *path)
{
	if (unlikely(!path->recovering && !lnet_path_is_healthy(path)))
		lnet_path_recover(w->sh, path);
}

/*
 * Finds the best candidate and the deciding rank. A candidate loses at the first rank in which it
 * differs from the winner. The deciding rank is the last of these ranks over all losers.
 *
 * If a candidate beats the best one so far at rank r, the former best candidate loses at r. All
 * candidates that lost before lose to the new winner at r or at an earlier rank, so r decides.
 *
 * If two candidates are equal in all ranks, the candidate that was compared first wins. The last
 * rank, "round_robin", then counts as deciding.
 */
static struct lnet_path *best_by_ranks(const struct walk *w, bool *all_top)
{
	enum lnet_path_rank at = 0, decider = 0;
	struct lnet_path *path, *best = NULL;
	bool best_top = false, top;
	unsigned int nr = 0;

	for (path = next_path(w, NULL); path; path = next_path(w, path)) {
		top = rank_link(path) > 0 && !lnet_path_is_routed(path) &&
		      lnet_path_is_healthy(path);
		*all_top &= top || lnet_path_is_routed(path);
		if (!nr++ || is_better(w, path, best, top && best_top, &at)) {
			best = path;
			best_top = top;
			decider = at;
		} else {
			decider = max(decider, at);
		}
	}
	w->s->nr_cand = min_t(unsigned int, nr, U8_MAX);
	w->s->decided_by = nr > 1 ? decider : LNET_NR_PATH_RANKS;
	*all_top &= best_top;
	return best;
}

/*
 * Returns the best candidate; NULL: there is none. Also starts the recovery of unhealthy
 * candidates, or, if s->cands is set, lists all candidates.
 */
static struct lnet_path *best_path(struct walk *w)
{
	u64 range = READ_ONCE(w->sh->ln->tun.health_range);
	struct lnet_path *path, *best;
	bool all_top = true;

	w->health_most = LNET_HEALTH_MAX;
	best = best_by_ranks(w, &all_top);
	if (likely(all_top && !w->s->cands))
		return best;
	if (range && w->s->nr_cand > 1) {
		w->health_more = (s64)range;
		w->health_most = range > LNET_HEALTH_MAX ? 0 : lnet_path_health(best);
		best = best_by_ranks(w, &all_top);
	}
	for (path = next_path(w, NULL); path; path = next_path(w, path))
		if (w->s->cands)
			look_add(w, path, best);
		else
			recover(w, path);
	return best;
}

/* Returns the path of @peer if it has exactly one, otherwise NULL. */
static struct lnet_path *only_path(const struct lnet_peer *peer)
{
	const struct lnet_peer_ni *pni;

	if (!list_is_singular(&peer->pnis))
		return NULL;
	pni = list_first_entry(&peer->pnis, struct lnet_peer_ni, link);
	return list_is_singular(&pni->paths) ?
	       list_first_entry(&pni->paths, struct lnet_path, link) : NULL;
}

static struct lnet_path *choose(struct lnet_shard *sh, struct lnet_select *s,
				const struct lnet_ni *ni, const struct lnet_peer_ni *hop)
{
	struct walk w = walk_of(sh, s, ni, hop);
	struct lnet_path *sole = s->pni && ni ? lnet_path_find(s->pni, ni) : only_path(s->peer);
	struct lnet_path *path;

	if (unlikely(s->cands))
		s->cands->nr = 0;
	if (!sole) {
		/* Tried paths are excluded while an untried path with a usable route exists. */
		for (path = s->tried ? next_path(&w, NULL) : NULL; path; path = next_path(&w, path))
			if (!(path_bit(path) & s->tried) && path_is_open(path)) {
				w.avoid |= s->tried;
				break;
			}
		return best_path(&w);
	}
	/* There is no other path, so selection uses this path even if it was tried. */
	s->decided_by = LNET_NR_PATH_RANKS;
	s->nr_cand = passes(&w, sole);
	if (!s->nr_cand)
		return NULL;
	if (unlikely(s->cands))
		look_add(&w, sole, sole);
	else
		recover(&w, sole);
	return sole;
}

/*
 * Returns the sticky NI. As in stock LNet, a peer that is not multi-rail sees one local NI per net:
 * the first NI that a request used.
 */
static struct lnet_ni *sticky_ni(const struct lnet_select *s)
{
	struct lnet_peer_ni *pni;

	if (s->peer->mr || !s->request || !s->pni)
		return NULL;
	if (s->pni->sticky)
		return lnet_ni_marked(s->pni->sticky, LNET_MARK(DRAINED)) ? NULL : s->pni->sticky;
	list_for_each_entry(pni, &s->peer->pnis, link)
		if (pni->net == s->pni->net && pni->sticky)
			return pni->sticky;
	return NULL;
}

static struct lnet_path *path_find(struct lnet_shard *sh, struct lnet_select *s)
{
	struct lnet_ni *sticky = s->ni ? NULL : sticky_ni(s);
	struct lnet_path *path, *other;

	path = choose(sh, s, s->ni ? s->ni : sticky, s->hop);
	if (!path && s->hop)
		/* the next hop s->hop does not reach the peer any more */
		path = choose(sh, s, s->ni, NULL);
	if (!sticky || (path && (!lnet_path_is_routed(path) || path_is_open(path))))
		return path;
	other = choose(sh, s, NULL, NULL);	/* sticky NI without usable path */
	return path && other && !path_is_open(other) ? path : other;
}

static void selection_record(struct lnet_shard *sh, const struct lnet_select *s,
			     struct lnet_path *path)
{
	u32 wear, mine = 0, others = 0;
	const struct lnet_peer_ni *pni;
	const struct lnet_path *other;

	if (!s->peer->mr && s->request && (!s->ni || !path->pni->sticky))
		path->pni->sticky = path->ni;
	if (s->ni && s->pni)
		return;		/* the caller named both ends, so no round-robin position changes */
	sh->rr_pos++;
	path->ni->sh[sh->ix].rr_pos = sh->rr_pos;
	path->hop->rr_pos = sh->rr_pos;
	path->pni->rr_pos = sh->rr_pos;
	wear = READ_ONCE(path->ni->degradation);
	if (likely(!wear))
		return;
	/*
	 * Other NIs then have precedence for a number of selections, which depends on the weight of
	 * the chosen NI.
	 */
	list_for_each_entry(pni, &path->pni->peer->pnis, link)
		list_for_each_entry(other, &pni->paths, link)
			*(other->ni == path->ni ? &mine : &others) += 1;
	path->ni->sh[sh->ix].share_until =
		sh->rr_pos + div_u64((u64)others * LNET_WEIGHT_MAX,
				   max(mine, 1U) * (LNET_WEIGHT_MAX - wear));
}

struct lnet_path *lnet_select(struct lnet_shard *sh, struct lnet_select *s)
{
	struct lnet_path *path;

	lockdep_assert_held(&sh->lock);
	path = path_find(sh, s);
	if (path)
		selection_record(sh, s, path);
	if (lnet_recs(sh)) {
		const struct walk w = walk_of(sh, s, NULL, NULL);
		s64 rank[LNET_NR_PATH_RANKS];

		if (path)
			ranks_fill(&w, path, rank);
		sh->rec->ops->note_select(sh, path, s->decided_by | s->nr_cand << 8, s->tried,
					  s->exclude, path ? rank : NULL);
	}
	lnet_trace(select, s, path);
	return path;
}

struct lnet_path *lnet_select_explain(struct lnet_shard *sh, struct lnet_select *s,
				      struct lnet_cands *cands)
{
	lockdep_assert_held(&sh->lock);
	s->cands = cands;
	return path_find(sh, s);
}

/*
 * A fast path for most requests, which require no interface. Returns the only path of @peer for a
 * request to @to, if the path is healthy. NULL: the caller must use lnet_select().
 */
static struct lnet_path *select_only(struct lnet_shard *sh, const struct lnet_peer *peer,
				     const struct lnet_peer_ni *to)
{
	struct lnet_path *path = only_path(peer);

	if (!path || (!peer->mr && (path->pni != to || to->sticky != path->ni)) ||
	    path->pni->deleted || path->gone || path->ni->state != NI_ACTIVE ||
	    path->ni->net != path->hop->net || !lnet_path_is_healthy(path))
		return NULL;
	path->ni->sh[sh->ix].rr_pos = path->hop->rr_pos = ++sh->rr_pos;
	lnet_rec_path(sh, 0, ONLY, path, sh->rr_pos, 0);
	return path;
}

struct lnet_path *lnet_op_choose(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_path *path = NULL;
	struct lnet_select s;

	if (op->binding == LNET_BIND_NONE && op->dst_pni && op->kind != LNET_KIND_FORWARD)
		path = select_only(p->sh, op->peer, op->dst_pni);
	if (path)
		return path;
	s = (struct lnet_select) {
		.peer = op->peer, .ni = op->src_ni, .tried = op->tried,
		.cpt = op->md ? op->md->cpt : -1, .bytes = op->len,
		.request = lnet_op_is_request(op), .hop = op->via,
		.pni = lnet_op_is_bound_to_dst(op) || !op->peer->mr ? op->dst_pni : NULL,
	};
	if (unlikely(op->kind == LNET_KIND_FORWARD))
		s.exclude = lnet_rec_value(p->sh, p->ln->hooks->forward_op.avoid(op));
	return lnet_select(p->sh, &s);
}
