/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the path of a message: filters the pairs (local NI, peer NI), ranks what is left.
 *
 * The policy is the list PATH_RANKS. A candidate that has less than another at one rank has lost to
 * it, whatever the ranks behind say. Health is the exception: candidates within the health range of
 * the best, among those which are equal in the ranks before, count as equal to it.
 *
 * "responsive" stands before health because suspicion is news of milliseconds and changes no
 * health; "link_up" before that, so that an interface without link is used only when no other is
 * left, in the hope that the link comes back. Routers are the last resort: ways through them count
 * only when all pairs on a common net are silent or without link; a route that is down counts when
 * there is nothing else.
 */
#include "plat.h"
#include "topology/topology.h"
#include "path/path.h"
#include "shard/hooks.h"
#include "shard/trace.h"

#define NUMA_LOCAL	10	/* distances as firmware tables have them */
#define NUMA_REMOTE	20

const char *const lnet_path_rank_names[LNET_NR_PATH_RANKS] = {
#define RANK(name) [LNET_RANK_##name] = #name,
	PATH_RANKS(RANK)
#undef RANK
};

/* The best candidate so far, seen one after the other, so that no array of them is needed. */
struct fold {
	s64 top[LNET_RANK_health + 1];	/* best prefix of all: link_up, responsive, health */
	s64 best[LNET_NR_PATH_RANKS];
	unsigned int winner, nr;
	unsigned int decider;		/* the rank at which the last loser lost */
};

static bool prefix_better(const s64 *a, const s64 *b)
{
	unsigned int r;

	for (r = 0; r <= LNET_RANK_health; r++)
		if (a[r] != b[r])
			return a[r] > b[r];
	return false;
}

static void fold_top(struct fold *f, const s64 *rank, bool first)
{
	if (first || prefix_better(rank, f->top))
		memcpy(f->top, rank, sizeof(f->top));
}

/*
 * Health as it is compared: raised to the best of the equals if within the range of it; the same
 * for all if off.
 */
static s64 health_seen(const struct fold *f, const s64 *rank, u64 range)
{
	s64 health = rank[LNET_RANK_health];

	if (range > LNET_HEALTH_MAX)
		return 0;
	if (!memcmp(f->top, rank, LNET_RANK_health * sizeof(*rank)) &&
	    health + (s64)range >= f->top[LNET_RANK_health])
		return f->top[LNET_RANK_health];
	return health;
}

/*
 * Who decided: a loser lost at the first rank where it differs from the winner, and the last such
 * rank is what left one. A new winner at rank r makes it r: those who lost to the old one before r
 * still do there, those who lost at r or later now lose at r. A full tie is the first one's, by
 * "turn".
 */
static void fold_add(struct fold *f, const s64 *rank, u64 range, unsigned int ix)
{
	s64 mine[LNET_NR_PATH_RANKS];
	unsigned int r;

	memcpy(mine, rank, sizeof(mine));
	mine[LNET_RANK_health] = health_seen(f, rank, range);
	if (f->nr++ == 0) {
		f->winner = ix;
		memcpy(f->best, mine, sizeof(mine));
		return;
	}
	for (r = 0; r < LNET_NR_PATH_RANKS - 1 && mine[r] == f->best[r]; r++)
		;
	if (mine[r] > f->best[r]) {
		f->winner = ix;
		f->decider = r;
		memcpy(f->best, mine, sizeof(mine));
	} else {
		f->decider = max(f->decider, r);
	}
}

unsigned int lnet_rank_best(const struct lnet_cand *c, unsigned int nr, u64 range,
			    unsigned int *decider)
{
	struct fold f = { .nr = 0 };
	unsigned int i;

	for (i = 0; i < nr; i++)
		fold_top(&f, c[i].rank, i == 0);
	for (i = 0; i < nr; i++)
		fold_add(&f, c[i].rank, range, i);
	*decider = nr > 1 ? f.decider : LNET_NR_PATH_RANKS;
	return f.winner;
}

/*
 * What is not known counts as near: it is no reason to prefer another. Nearer than the range is
 * equal.
 */
static s64 numa_distance(const struct lnet *ln, s32 a, s32 b)
{
	s64 range = (s64)READ_ONCE(ln->tun.numa_range), far;

	if (a < 0 || b < 0 || a == b)
		far = NUMA_LOCAL;
	else if (ln->env->ops->distance && max(a, b) < (s32)ln->nr_shards)
		far = ln->env->ops->distance(ln->env, a, b);
	else
		far = NUMA_REMOTE;
	return max(far, range);
}

static bool link_up(const struct lnet_path *path)
{
	return lnet_ni_has_link(path->ni) && path->pni->said != LNET_SAID_DOWN;
}

/* A router's silence is that of all behind it. */
static bool responsive(const struct lnet_path *path)
{
	return !path->suspect_ns && !path->trunk->suspect_ns;
}

static bool usable(const struct lnet_path *path)
{
	return lnet_rec_asked(path->pni->sh, lnet_route_usable(path));
}

static void rank_route(const struct lnet_path *path, s64 *rank)
{
	const struct lnet_route *route = path->route;

	rank[LNET_RANK_route_up] = usable(path);
	rank[LNET_RANK_gw_priority] = -(s64)route->priority;
	rank[LNET_RANK_hops] = route->hops > 0 ? -route->hops : -1;
	rank[LNET_RANK_gw_health] = lnet_path_health(path->trunk);
	rank[LNET_RANK_turn] -= (s64)path->pni->turn;
}

/* A drained or damped interface ranks above one without link, and below all others. */
static s64 rank_link(const struct lnet_path *path)
{
	enum lnet_ni_service service = lnet_ni_service(path->ni);

	if (!link_up(path))
		return -1;
	return service == LNET_NI_OK || service == LNET_NI_DEGRADED;
}

/*
 * A degraded interface has its turn as often as its weight says. Expected time knows better: it
 * sees how fast things get done.
 */
static s64 share(const struct lnet_shard *sh, const struct lnet_path *path)
{
	return likely(!READ_ONCE(path->ni->wear)) || READ_ONCE(sh->ln->tun.selection) ||
	       sh->turn >= path->ni->sh[sh->ix].share_turn;
}

/* @path was chosen: for so many turns it is the others'. */
static void share_take(const struct lnet_shard *sh, const struct lnet_path *path)
{
	u32 weight = LNET_WEIGHT_MAX - READ_ONCE(path->ni->wear), mine = 0, others = 0;
	const struct lnet_peer_ni *pni;
	const struct lnet_path *other;

	list_for_each_entry(pni, &path->pni->peer->pnis, link)
		list_for_each_entry(other, &pni->paths, link)
			*(other->ni == path->ni ? &mine : &others) += 1;
	path->ni->sh[sh->ix].share_turn =
		sh->turn + div_u64((u64)others * LNET_WEIGHT_MAX, max(mine, 1U) * weight);
}

/* Expected time stands still where it is not asked for. */
static s64 due(const struct lnet_shard *sh, const struct lnet_select *s,
	       const struct lnet_path *path)
{
	if (likely(!READ_ONCE(sh->ln->tun.selection)))
		return 0;
	return -(s64)lnet_load_due_ns(path, s->bytes,
				     lnet_rec_value(path->pni->sh, sh->now_ns));
}

static void rank_path(const struct lnet_shard *sh, const struct lnet_select *s,
		      const struct lnet_path *path, s64 *rank)
{
	const struct lnet_ni_shard *nis = &path->ni->sh[sh->ix];
	const struct lnet_peer_ni *hop = path->hop;

	rank[LNET_RANK_link_up] = rank_link(path);
	rank[LNET_RANK_route_up] = 1;
	rank[LNET_RANK_responsive] = responsive(path);
	rank[LNET_RANK_direct] = !lnet_path_routed(path);
	rank[LNET_RANK_health] = lnet_path_health(path);
	rank[LNET_RANK_priority] = path->policy >> 1;
	rank[LNET_RANK_preferred] = path->policy & 1;
	rank[LNET_RANK_gw_priority] = 0;
	rank[LNET_RANK_hops] = 0;
	rank[LNET_RANK_gw_health] = 0;
	rank[LNET_RANK_share] = share(sh, path);
	rank[LNET_RANK_due] = due(sh, s, path);
	rank[LNET_RANK_numa] = -numa_distance(sh->ln, path->ni->dev_cpt, s->cpt);
	rank[LNET_RANK_credits] = min(nis->credits, hop->credits);
	/*
	 * All turns come from the shard's one counter, so the sum says which pair was left alone
	 * longer.
	 */
	rank[LNET_RANK_turn] = -(s64)(nis->turn + hop->turn);
	if (unlikely(lnet_path_routed(path)))
		rank_route(path, rank);
}

/* The filters that one walk applies. */
struct filter {
	const struct lnet_select *s;
	const struct lnet_ni *ni;	/* asked for, or sticky; only compared, never looked into */
	const struct lnet_peer_ni *hop;
	u64 avoid;			/* paths that are out */
};

static u64 path_bit(const struct lnet_path *path)
{
	return BIT_ULL(path->ix % LNET_MAX_PATHS);
}

static bool passes(const struct filter *f, const struct lnet_path *path)
{
	if ((f->ni && path->ni != f->ni) || unlikely(f->hop && path->hop != f->hop))
		return false;
	return path->ni->state == NI_ACTIVE && path->ni->net == path->hop->net &&
	       !(path_bit(path) & f->avoid) && !path->gone;
}

/* Next path that passes, behind @path, or the first. */
static struct lnet_path *next_path(const struct filter *f, struct lnet_path *path)
{
	struct lnet_peer *peer = f->s->peer;
	struct lnet_peer_ni *pni;

	if (path) {
		pni = path->pni;
	} else {
		if (list_empty(&peer->pnis))
			return NULL;
		pni = list_first_entry(&peer->pnis, struct lnet_peer_ni, link);
		path = list_entry(&pni->paths, struct lnet_path, link);
	}
	for (;;) {
		list_for_each_entry_continue(path, &pni->paths, link)
			if (!pni->deleted && (!f->s->pni || pni == f->s->pni) && passes(f, path))
				return path;
		if (list_is_last(&pni->link, &peer->pnis))
			return NULL;
		pni = list_next_entry(pni, link);
		path = list_entry(&pni->paths, struct lnet_path, link);
	}
}

static bool is_open(const struct lnet_path *path)
{
	return rank_link(path) > 0 && (!lnet_path_routed(path) || usable(path));
}

/* Tried pairs are out while one that is not tried and is open is left. */
static void avoid_tried(struct filter *f)
{
	struct lnet_path *path;

	for (path = next_path(f, NULL); path; path = next_path(f, path))
		if (!(path_bit(path) & f->s->tried) && is_open(path)) {
			f->avoid |= f->s->tried;
			return;
		}
}

/* The ranks that tell whole paths apart; all others are equal there. */
struct whole_rank {
	s64 policy, share, due, numa, credits, turn;
};

static struct whole_rank whole_rank(const struct lnet_shard *sh, const struct lnet_select *s,
				    const struct lnet_path *path)
{
	const struct lnet_ni_shard *nis = &path->ni->sh[sh->ix];
	const struct lnet_peer_ni *hop = path->hop;

	return (struct whole_rank) {
		.policy = path->policy,
		.share = share(sh, path),
		.due = due(sh, s, path),
		.numa = -numa_distance(sh->ln, path->ni->dev_cpt, s->cpt),
		.credits = min(nis->credits, hop->credits),
		.turn = -(s64)(nis->turn + hop->turn),
	};
}

/* The rank at which two differ; "turn" also if they do not. */
static enum lnet_path_rank differ_at(const struct whole_rank *a, const struct whole_rank *b)
{
	if (unlikely(a->policy != b->policy))
		return a->policy >> 1 != b->policy >> 1 ? LNET_RANK_priority : LNET_RANK_preferred;
	if (unlikely(a->share != b->share))
		return LNET_RANK_share;
	if (a->due != b->due)
		return LNET_RANK_due;
	if (a->numa != b->numa)
		return LNET_RANK_numa;
	return a->credits != b->credits ? LNET_RANK_credits : LNET_RANK_turn;
}

static bool whole_better(const struct whole_rank *a, const struct whole_rank *b)
{
	if (unlikely(a->policy != b->policy))
		return a->policy > b->policy;
	if (unlikely(a->share != b->share))
		return a->share > b->share;
	if (a->due != b->due)
		return a->due > b->due;
	if (a->numa != b->numa)
		return a->numa > b->numa;
	return a->credits != b->credits ? a->credits > b->credits : a->turn > b->turn;
}

/* Whole, and its link is up. */
static bool at_top(const struct lnet_path *path)
{
	return rank_link(path) > 0 && !path->suspect_ns && !path->down_ns &&
	       path->health == LNET_HEALTH_MAX &&
	       atomic_read(&path->ni->health) == LNET_HEALTH_MAX &&
	       path->pni->health == LNET_HEALTH_MAX;
}

/* Where a path through a router loses to one that is whole and direct. */
static enum lnet_path_rank routed_loses_at(const struct lnet_path *path)
{
	if (rank_link(path) < 1)
		return LNET_RANK_link_up;
	if (!usable(path))
		return LNET_RANK_route_up;
	return responsive(path) ? LNET_RANK_direct : LNET_RANK_responsive;
}

/*
 * Usually all candidates are whole: the choice that the ranks make, by one walk and the few that
 * can differ. NULL: one is not whole, or there is none. One that is whole beats all through
 * routers.
 */
static struct lnet_path *best_of_whole(struct lnet_shard *sh, struct lnet_select *s,
				       const struct filter *f)
{
	struct whole_rank mine, top = { 0 };
	struct lnet_path *path, *best = NULL;
	enum lnet_path_rank at, decider = 0, routed_at = 0;
	unsigned int nr = 0, nr_routed = 0;

	for (path = next_path(f, NULL); path; path = next_path(f, path)) {
		if (unlikely(lnet_path_routed(path))) {
			nr_routed++;
			routed_at = max(routed_at, routed_loses_at(path));
			continue;
		}
		if (unlikely(!at_top(path)))
			return NULL;
		mine = whole_rank(sh, s, path);
		at = nr++ ? differ_at(&mine, &top) : 0;
		if (nr == 1 || whole_better(&mine, &top)) {
			best = path;
			top = mine;
			decider = at;
		} else {
			decider = max(decider, at);
		}
	}
	if (unlikely(nr_routed && nr == 1))
		decider = routed_at;
	nr += nr ? nr_routed : 0;
	s->nr_cand = min_t(unsigned int, nr, U8_MAX);
	s->decided_by = nr > 1 ? decider : LNET_NR_PATH_RANKS;
	return best;
}

static struct lnet_path *best_path(struct lnet_shard *sh, struct lnet_select *s,
				   const struct filter *f)
{
	u64 range = READ_ONCE(sh->ln->tun.health_range);
	struct lnet_path *path, *best = best_of_whole(sh, s, f);
	struct fold fold = { .nr = 0 };
	s64 rank[LNET_NR_PATH_RANKS];
	unsigned int nr = 0;

	if (likely(best))
		return best;
	for (path = next_path(f, NULL); path; path = next_path(f, path)) {
		/*
		 * An NI that suffered from one peer heals by its paths to those who are talked to.
		 */
		if (unlikely(!path->recovering && !lnet_path_whole(path)))
			lnet_path_recover(sh, path);
		rank_path(sh, s, path, rank);
		fold_top(&fold, rank, nr++ == 0);
	}
	for (path = next_path(f, NULL); path; path = next_path(f, path)) {
		rank_path(sh, s, path, rank);
		fold_add(&fold, rank, range, fold.nr);
		if (fold.winner == fold.nr - 1)
			best = path;
	}
	s->nr_cand = min_t(unsigned int, nr, U8_MAX);
	s->decided_by = nr > 1 ? fold.decider : LNET_NR_PATH_RANKS;
	return best;
}

/* The pair that must be the one if any is; NULL: there may be several. */
static struct lnet_path *sole_path(const struct lnet_select *s, const struct lnet_ni *ni)
{
	const struct lnet_peer_ni *pni = s->pni;

	if (pni && ni)
		return lnet_path_find(pni, ni);
	if (list_empty(&s->peer->pnis) || s->peer->pnis.next->next != &s->peer->pnis)
		return NULL;
	pni = list_first_entry(&s->peer->pnis, struct lnet_peer_ni, link);
	if (list_empty(&pni->paths) || pni->paths.next->next != &pni->paths)
		return NULL;
	return list_first_entry(&pni->paths, struct lnet_path, link);
}

/* [sh] One more candidate, as far as there is room. */
static void look_add(struct lnet_shard *sh, const struct lnet_select *s, struct lnet_path *path)
{
	struct lnet_look *look = s->look;

	if (look->nr == LNET_LOOK_MAX)
		return;
	look->cand[look->nr].path = path;
	rank_path(sh, s, path, look->cand[look->nr++].rank);
}

/* The choice by all ranks of all candidates, which are kept; changes nothing. */
static struct lnet_path *look_at_all(struct lnet_shard *sh, struct lnet_select *s,
				     const struct filter *f)
{
	u64 range = READ_ONCE(sh->ln->tun.health_range);
	struct lnet_look *look = s->look;
	struct lnet_path *path;
	unsigned int decider;

	look->nr = 0;
	for (path = next_path(f, NULL); path; path = next_path(f, path))
		look_add(sh, s, path);
	s->nr_cand = min_t(unsigned int, look->nr, U8_MAX);
	if (!look->nr)
		return NULL;
	path = look->cand[lnet_rank_best(look->cand, look->nr, range, &decider)].path;
	s->decided_by = (u8)decider;
	return path;
}

/* Tried or not, as there is no other. */
static struct lnet_path *take_sole(struct lnet_shard *sh, struct lnet_select *s,
				   const struct lnet_ni *ni, const struct lnet_peer_ni *hop,
				   struct lnet_path *path)
{
	const struct filter f = { .s = s, .ni = ni, .hop = hop, .avoid = s->exclude };

	s->decided_by = LNET_NR_PATH_RANKS;
	s->nr_cand = 0;
	if (path->pni->deleted || (s->pni && path->pni != s->pni) || !passes(&f, path))
		return NULL;
	s->nr_cand = 1;
	if (unlikely(s->look)) {
		s->look->nr = 0;
		look_add(sh, s, path);
		return path;
	}
	if (unlikely(!path->recovering && !lnet_path_whole(path)))
		lnet_path_recover(sh, path);
	return path;
}

static struct lnet_path *choose(struct lnet_shard *sh, struct lnet_select *s,
				const struct lnet_ni *ni, const struct lnet_peer_ni *hop)
{
	struct filter f = { .s = s, .ni = ni, .hop = hop, .avoid = s->exclude };
	struct lnet_path *sole = sole_path(s, ni);

	if (sole)
		return take_sole(sh, s, ni, hop, sole);
	if (s->tried)
		avoid_tried(&f);
	return unlikely(s->look) ? look_at_all(sh, s, &f) : best_path(sh, s, &f);
}

/*
 * A peer that is not multi-rail sees one NI of ours per net: the first that a request used
 * (behaviour.md 3.4).
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

static void stick(const struct lnet_select *s, struct lnet_path *path)
{
	if (s->peer->mr || !s->request)
		return;
	path->pni->sticky = path->ni;
	path->pni->sticky_set = 1;
}

static struct lnet_path *other_than_sticky(struct lnet_shard *sh, struct lnet_select *s,
					   struct lnet_path *path)
{
	struct lnet_path *other;

	if (path && !lnet_path_routed(path))
		return path;
	other = choose(sh, s, NULL, NULL);
	return path && other && !is_open(other) ? path : other;
}

static struct lnet_path *find(struct lnet_shard *sh, struct lnet_select *s)
{
	struct lnet_ni *sticky = s->ni ? NULL : sticky_ni(s);
	struct lnet_path *path;

	path = choose(sh, s, s->ni ? s->ni : sticky, s->hop);
	if (!path && s->hop)
		path = choose(sh, s, s->ni, NULL);	/* it leads there no more */
	if (sticky && (!path || !is_open(path)))	/* the NI is gone, or its routers are */
		path = other_than_sticky(sh, s, path);
	return path;
}

static struct lnet_path *pick(struct lnet_shard *sh, struct lnet_select *s)
{
	struct lnet_path *path = find(sh, s);

	if (!path)
		return NULL;
	if (!s->ni || !path->pni->sticky)
		stick(s, path);
	if (s->ni && s->pni)
		return path;			/* nothing was chosen, nobody's turn is over */
	sh->turn++;
	path->ni->sh[sh->ix].turn = sh->turn;
	path->hop->turn = sh->turn;
	path->pni->turn = sh->turn;
	if (unlikely(READ_ONCE(path->ni->wear)))
		share_take(sh, path);
	return path;
}

static void record(struct lnet_shard *sh, const struct lnet_select *s,
		   const struct lnet_path *path)
{
	s64 rank[LNET_NR_PATH_RANKS];

	if (path)
		rank_path(sh, s, path, rank);
	sh->rec->ops->note_select(sh, path, s->decided_by | s->nr_cand << 8, s->tried, s->exclude,
			     path ? rank : NULL);
}

struct lnet_path *lnet_select(struct lnet_shard *sh, struct lnet_select *s)
{
	struct lnet_path *path;

	lockdep_assert_held(&sh->lock);
	path = pick(sh, s);
	if (lnet_recs(sh))
		record(sh, s, path);
	lnet_trace(select, s, path);
	return path;
}

struct lnet_path *lnet_select_look(struct lnet_shard *sh, struct lnet_select *s,
				   struct lnet_look *look)
{
	lockdep_assert_held(&sh->lock);
	s->look = look;
	look->nr = 0;
	return find(sh, s);
}

/* @peer's one path, if it has no more. */
static struct lnet_path *only_path(const struct lnet_peer *peer)
{
	const struct lnet_peer_ni *pni;

	if (peer->pnis.next != peer->pnis.prev || list_empty(&peer->pnis))
		return NULL;
	pni = list_first_entry(&peer->pnis, struct lnet_peer_ni, link);
	if (pni->paths.next != pni->paths.prev || list_empty(&pni->paths))
		return NULL;
	return list_first_entry(&pni->paths, struct lnet_path, link);
}

/*
 * The same for a request to @to, one of @peer's, that asks for no interface, where there is nothing
 * to choose and nothing ails: most requests. NULL: lnet_select() must look.
 */
static struct lnet_path *select_only(struct lnet_shard *sh, const struct lnet_peer *peer,
				     const struct lnet_peer_ni *to)
{
	struct lnet_path *path = only_path(peer);

	if (!path || (!peer->mr && (path->pni != to || to->sticky != path->ni)))
		return NULL;
	if (path->pni->deleted || path->gone || path->ni->state != NI_ACTIVE ||
	    path->ni->net != path->hop->net || !lnet_path_whole(path))
		return NULL;
	path->ni->sh[sh->ix].turn = path->hop->turn = ++sh->turn;
	lnet_rec_path(sh, 0, ONLY, path, sh->turn, 0);
	return path;
}

static struct lnet_path *select_for(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_select s = {
		.peer = op->peer, .ni = op->src_ni, .tried = op->tried,
		.cpt = op->md ? op->md->cpt : -1, .bytes = op->len,
		.request = lnet_op_request(op), .hop = op->via,
		.pni = lnet_op_is_bound_to_dst(op) || !op->peer->mr ? op->dst_pni : NULL,
	};

	if (unlikely(op->kind == LNET_KIND_FORWARD))
		s.exclude = lnet_rec_value(p->sh, p->ln->hooks->forward_op.avoid(op));
	return lnet_select(p->sh, &s);
}

struct lnet_path *lnet_op_choose(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_path *path = NULL;

	if (op->binding == LNET_BIND_NONE && op->dst_pni && op->kind != LNET_KIND_FORWARD)
		path = select_only(p->sh, op->peer, op->dst_pni);
	return path ? path : select_for(p, op);
}
