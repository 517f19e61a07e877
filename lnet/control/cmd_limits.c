/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command limits: shows how much of each bound on peers is in use, which peer uses most, and
 * how often the bound denied something.
 */
#include "control/command.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "receive/receive.h"
#include "router/router.h"

#define LIMITS_MAX 64		/* maximum number of bounds of the core and all drivers */

enum { K_LIMIT = 2, K_PER, K_BOUND, K_MOST, K_BY, K_AT_BOUND, K_COUNTER, K_HITS };
static const struct lnet_key keys[] = {
	{ .name = "limits", .type = LNET_NLT_NUL_STRING,
	  .format = LNET_NL_SEQUENCE | LNET_NL_MAPPING },
	{ .name = "limit", .type = LNET_NLT_STRING },
	{ .name = "per", .type = LNET_NLT_STRING },
	{ .name = "bound", .type = LNET_NLT_U64 },
	{ .name = "most", .type = LNET_NLT_U64 },
	{ .name = "by", .type = LNET_NLT_STRING },
	{ .name = "at bound", .type = LNET_NLT_FLAG },
	{ .name = "counter", .type = LNET_NLT_STRING },
	{ .name = "hits", .type = LNET_NLT_U64 },
};
static const struct lnet_table table = { keys, ARRAY_SIZE(keys) };

struct limit_row {
	const char *tunable, *per, *counter;
	u64 value;			/* of the tunable */
	struct lnet_use use;
	u64 hits;
};

struct limits_view {
	/* skip bounds that are not reached and never denied anything */
	bool at_bound;
	unsigned int nr;
	struct limit_row row[LIMITS_MAX];
};

/* ---- use of the bounds of the core ----------------------------------------------------------- */

static void use_max(struct lnet_use *use, u64 nr, const struct lnet_nid *by)
{
	if (nr <= use->most)
		return;
	use->most = nr;
	use->by = by ? *by : LNET_NID_ANY;
}

static void limit_windows_per_peer(struct lnet *ln, struct lnet_use *use)
{
	const struct lnet_window *w;
	struct lnet_shard *sh;
	unsigned int i, rank;

	for (i = 0; i < ln->nr_shards; i++) {
		sh = &ln->shard[i];
		spin_lock(&sh->lock);
		for (rank = LNET_WINDOWS_PER_PEER; rank > use->most; rank--) {
			w = list_first_entry_or_null(&sh->ranked[rank], struct lnet_window, ranked);
			if (w)
				use_max(use, rank, &w->opener);
		}
		spin_unlock(&sh->lock);
	}
}

/*
 * Each peer with duplicate windows has exactly one window in sh->ranked[1]. So the loop visits each
 * of these peers once.
 */
static void reply_use(struct lnet *ln, struct lnet_use *use, bool held)
{
	const struct lnet_window *w;
	struct lnet_shard *sh;
	u64 bytes, nr;
	unsigned int i;

	for (i = 0; i < ln->nr_shards; i++) {
		sh = &ln->shard[i];
		spin_lock(&sh->lock);
		list_for_each_entry(w, &sh->ranked[1], ranked) {
			lnet_windows_share(sh, &w->opener, &bytes, &nr);
			use_max(use, held ? nr : bytes, &w->opener);
		}
		spin_unlock(&sh->lock);
	}
}

static void limit_reply_cache_per_peer(struct lnet *ln, struct lnet_use *use)
{
	reply_use(ln, use, false);
}

static void limit_held_per_peer(struct lnet *ln, struct lnet_use *use)
{
	use->bound = max(use->bound, READ_ONCE(ln->tun.window));
	reply_use(ln, use, true);
}

/* A bound per shard; the field @member of the shard counts the use. */
#define SHARD_LIMIT(name, member)						\
static void limit_##name(struct lnet *ln, struct lnet_use *use)			\
{										\
	unsigned int i;								\
										\
	for (i = 0; i < ln->nr_shards; i++)					\
		use_max(use, READ_ONCE(ln->shard[i].member), NULL);		\
}
SHARD_LIMIT(windows_max, nr_windows)
SHARD_LIMIT(window_memory, window_bytes)
SHARD_LIMIT(reply_cache_budget, cache_bytes)
SHARD_LIMIT(replies_budget, nr_reply_ops)
SHARD_LIMIT(requests_max, nr_live)
#undef SHARD_LIMIT

static void limit_replies_max(struct lnet *ln, struct lnet_use *use)
{
	const struct lnet_peer_ni *pni;
	struct lnet_peer *peer;

	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer)) {
		spin_lock(&peer->sh->lock);
		list_for_each_entry(pni, &peer->pnis, link)
			use_max(use, (u64)atomic_read(&pni->nr_reply_ops), &pni->nid);
		spin_unlock(&peer->sh->lock);
	}
}

static void limit_claims_max(struct lnet *ln, struct lnet_use *use)
{
	struct lnet_peer *peer;

	mutex_lock(&ln->cfg_mutex);
	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer))
		use_max(use, (u64)atomic_read(&peer->nr_claimed), &peer->primary);
	mutex_unlock(&ln->cfg_mutex);
}

static void limit_peers_max(struct lnet *ln, struct lnet_use *use)
{
	use->most = READ_ONCE(ln->nr_peers);
}

static void limit_lists_budget(struct lnet *ln, struct lnet_use *use)
{
	use->most = READ_ONCE(ln->disc.list_bytes);
}

#define ROUTER_LIMIT(cls)							\
static void limit_##cls##_router_buffers(struct lnet *ln, struct lnet_use *use)	\
{										\
	const struct lnet_router *r = READ_ONCE(ln->router);			\
	unsigned int i;								\
										\
	use->bound = lnet_rtr_share(ln, LNET_RTR_##cls);			\
	for (i = 0; r && i < ln->nr_shards; i++)				\
		use_max(use, READ_ONCE(r->sh[i].pool[LNET_RTR_##cls].used), NULL); \
}
ROUTER_LIMIT(tiny)
ROUTER_LIMIT(small)
ROUTER_LIMIT(large)
#undef ROUTER_LIMIT

/*
 * Shows the share of the large buffers, because a router has fewer of these than of the other
 * sizes.
 */
static void limit_router_share(struct lnet *ln, struct lnet_use *use)
{
	const struct lnet_router *r = READ_ONCE(ln->router);
	const struct lnet_rtr_node *sender;
	struct lnet_rtr_shard *rs;
	unsigned int i, bucket;

	use->bound = lnet_rtr_sender_most(ln, lnet_rtr_share(ln, LNET_RTR_large));
	for (i = 0; r && i < ln->nr_shards; i++) {
		rs = &ln->router->sh[i];
		spin_lock(&rs->sh->lock);
		for (bucket = 0; bucket < LNET_RTR_HASH; bucket++)
			list_for_each_entry(sender, &rs->senders[bucket], link)
				use_max(use, sender->used[LNET_RTR_large], &sender->nid);
		spin_unlock(&rs->sh->lock);
	}
}

static const struct {
	const char *tunable, *per;
	enum lnet_counter counter;
	void (*use)(struct lnet *ln, struct lnet_use *use);
} limits[] = {
#define LIMIT(name, whose, count) { #name, #whose, LNET_C_##count, limit_##name },
#include "model/limits.def"
#undef LIMIT
};

/* ---- gathering ------------------------------------------------------------------------------- */

static struct limit_row *row_get(struct limits_view *v, const struct lnet *ln, const char *tunable)
{
	const struct lnet_tunable_info *info = lnet_tunable_find(tunable);
	struct limit_row *row = v->row;
	unsigned int i;

	for (i = 0; i < v->nr; i++, row++)
		if (!strcmp(row->tunable, tunable))
			return row;
	if (WARN_ON_ONCE(!info || v->nr == LIMITS_MAX))
		return NULL;
	v->nr++;
	row->tunable = tunable;
	row->value = lnet_tunable_get(ln, info);
	row->use = (struct lnet_use){ .bound = row->value, .by = LNET_NID_ANY };
	return row;
}

static void core_fill(struct limits_view *v, struct lnet *ln)
{
	struct limit_row *row;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		row = row_get(v, ln, limits[i].tunable);
		if (!row)
			continue;
		row->per = limits[i].per;
		row->counter = lnet_counter_names[limits[i].counter];
		row->hits = lnet_stat_sum(ln, limits[i].counter);
		limits[i].use(ln, &row->use);
	}
}

/*
 * The row shows the use of the interface that uses most, and the sum of the counters of all
 * interfaces.
 */
static void ni_fill(struct limits_view *v, struct lnet_ni *ni)
{
	u64 values[LNET_LND_COUNTERS_MAX];
	const struct lnet_lnd_limit *limit;
	struct limit_row *row;
	struct lnet_use use;
	unsigned int i;

	ni->ops->counters(ni, values, false);
	for (limit = ni->ops->limits; limit < ni->ops->limits + ni->ops->nr_limits; limit++) {
		row = row_get(v, ni->ln, limit->tunable);
		if (!row)
			continue;
		use = (struct lnet_use){ .bound = row->value, .by = LNET_NID_ANY };
		limit->use(ni, &use);
		row->per = limit->per;
		row->counter = limit->counter;
		for (i = 0; i < ni->ops->nr_counters; i++)
			if (!strcmp(ni->ops->counter_names[i], limit->counter))
				row->hits += values[i];
		if (use.most >= row->use.most)
			row->use = use;
	}
}

static int limits_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			struct lnet_ctl_err *e)
{
	static const struct lnet_field fields[] = {
		LNET_FIELD_RANGE("at bound", struct limits_view, at_bound, 0, 1, .text = "0 or 1"),
		{ NULL }
	};
	struct lnet *ln = d->ctl->ln;
	struct lnet_ni *ni;
	struct limits_view *v = d->priv = kvzalloc(sizeof(*v), GFP_KERNEL);
	int rc = v ? lnet_ctl_read(lnet_ctl_attrs(req), fields, v, e) : -ENOMEM;

	if (rc)
		return rc;
	core_fill(v, ln);
	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(ni, &ln->nis, link)
		if (ni->ops->nr_limits)
			ni_fill(v, ni);
	mutex_unlock(&ln->cfg_mutex);
	return 0;
}

/* ---- showing --------------------------------------------------------------------------------- */

/* A bound of 0 means that there is no bound. */
static bool is_at_bound(const struct limit_row *row)
{
	return row->use.bound && row->use.most >= row->use.bound;
}

static bool row_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct limit_row *row)
{
	char text[LNET_NIDSTR_SIZE];

	lnet_ctl_item(d, s);
	s->ops->str(s, K_LIMIT, row->tunable);
	s->ops->str(s, K_PER, row->per);
	s->ops->num(s, K_BOUND, LNET_NLT_U64, row->use.bound);
	s->ops->num(s, K_MOST, LNET_NLT_U64, row->use.most);
	if (!lnet_nid_same(&row->use.by, &LNET_NID_ANY))
		s->ops->str(s, K_BY, lnet_nid_str(&row->use.by, text));
	if (is_at_bound(row))
		s->ops->num(s, K_AT_BOUND, LNET_NLT_FLAG, 1);
	s->ops->str(s, K_COUNTER, row->counter);
	s->ops->num(s, K_HITS, LNET_NLT_U64, row->hits);
	return lnet_ctl_item_end(d, s);
}

static int limits_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	const struct limits_view *v = d->priv;
	const struct limit_row *row;

	for (; d->pos < v->nr; d->pos++) {
		row = &v->row[d->pos];
		if (v->at_bound && !is_at_bound(row) && !row->hits)
			continue;
		if (!lnet_ctl_table(d, s, &table) || !row_emit(d, s, row))
			return 1;
	}
	return 0;
}

const struct lnet_ctl_cmd lnet_cmd_limits = {
	.cmd = LNET_NL_LIMITS, .start = limits_start, .next = limits_next,
};
