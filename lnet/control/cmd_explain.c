/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command explain: shows the path that a request to a peer would take now, the reason, and the
 * timeouts of the request.
 */
#include "control/command.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"

#define NS_PER_US 1000

/* ---- tables ---------------------------------------------------------------------------------- */

#define TEXT(text) { .name = text, .type = LNET_NLT_STRING }
#define NUM(text) { .name = text, .type = LNET_NLT_S64 }
#define NEST(text, fmt, table)	\
	{ .name = text, .type = LNET_NLT_NESTED, .format = fmt, .child = &(table) }

static const struct lnet_key rank_keys[] = {
#define RANK(name) NUM(#name),
	PATH_RANKS(RANK)
#undef RANK
};
static const struct lnet_table ranks_table = { rank_keys, ARRAY_SIZE(rank_keys) };

enum {
	C_SOURCE = 1,
	C_NID,
	C_ROUTER,
	C_CHOSEN,
	C_PAIR,
	C_SOURCE_H,
	C_NID_H,
	C_ATTRIBUTED,
	C_RANKS
};
static const struct lnet_key cand_keys[] = {
	TEXT("source"), TEXT("nid"), TEXT("router"), { .name = "chosen", .type = LNET_NLT_FLAG },
	NUM("path health"), NUM("source health"), NUM("nid health"), TEXT("attributed to"),
	NEST("ranks", LNET_NL_MAPPING, ranks_table),
};
static const struct lnet_table cand_table = { cand_keys, ARRAY_SIZE(cand_keys) };

enum { T_RTT = 1, T_SUSPECT, T_ATTEMPT, T_TRIES, T_END };
static const struct lnet_key time_keys[] = {
	NUM("round_trip_us"), NUM("suspect_after_us"), NUM("attempt_timeout_us"), NUM("attempts"),
	NUM("transaction_timeout_us"),
};
static const struct lnet_table time_table = { time_keys, ARRAY_SIZE(time_keys) };

enum { E_PRIMARY = 2, E_SOURCE, E_NID, E_ROUTER, E_DECIDED, E_CANDS, E_TIMES };
static const struct lnet_key explain_keys[] = {
	{ .name = "explain", .type = LNET_NLT_NUL_STRING,
	  .format = LNET_NL_SEQUENCE | LNET_NL_MAPPING },
	TEXT("primary nid"), TEXT("source"), TEXT("nid"), TEXT("router"), TEXT("decided by"),
	NEST("candidates", LNET_NL_SEQUENCE | LNET_NL_MAPPING, cand_table),
	NEST("timeline", LNET_NL_MAPPING, time_table),
};
static const struct lnet_table explain_table = { explain_keys, ARRAY_SIZE(explain_keys) };

/* ---- reading --------------------------------------------------------------------------------- */

struct cand_view {
	struct lnet_nid source, nid, router;	/* router: any NID if none */
	bool chosen;
	/* health of the path alone, of its NI, and of its peer NI */
	int pair, near, far;
	s64 rank[LNET_NR_PATH_RANKS];
};

struct explain_view {
	struct lnet_nid primary;
	const char *decided_by;
	u64 rtt_ns, suspect_ns, attempt_ns, tries, total_ns;
	unsigned int nr, chosen;		/* chosen: @nr if none is */
	struct cand_view cand[LNET_CANDS_MAX];
	struct lnet_cands cands;
};

/* [sh] */
static void cand_see(struct cand_view *v, const struct lnet_cand *c)
{
	const struct lnet_path *path = c->path;

	v->source = path->ni->nid;
	v->nid = path->pni->nid;
	v->router = path->hop == path->pni ? LNET_NID_ANY : path->hop->nid;
	v->pair = path->health;
	v->near = atomic_read(&path->ni->health);
	v->far = path->pni->health;
	memcpy(v->rank, c->rank, sizeof(v->rank));
}

/* [sh] */
static void times_see(struct explain_view *v, const struct lnet *ln, const struct lnet_path *path)
{
	const struct lnet_tunables *tun = &ln->tun;

	v->total_ns = READ_ONCE(tun->transaction_timeout);
	v->attempt_ns = lnet_lnd_timeout_ns(tun);
	v->tries = READ_ONCE(tun->retry_count) + 1;
	if (!path)
		return;
	v->rtt_ns = path->srtt_ns;
	v->suspect_ns = lnet_path_response_timeout(ln, path);
}

/* [sh] Selects a path as for a request of 0 bytes to @pni that is not bound to an NI. */
static void see(struct explain_view *v, struct lnet_peer_ni *pni)
{
	struct lnet_peer *peer = pni->peer;
	struct lnet_select s = { .peer = peer, .cpt = -1, .request = 1,
				 .pni = peer->mr ? NULL : pni };
	struct lnet_path *path = lnet_select_explain(pni->sh, &s, &v->cands);
	unsigned int i;

	v->primary = peer->primary;
	v->nr = v->chosen = v->cands.nr;
	for (i = 0; i < v->nr; i++) {
		cand_see(&v->cand[i], &v->cands.cand[i]);
		if (v->cands.cand[i].path != path)
			continue;
		v->cand[i].chosen = true;
		v->chosen = i;
	}
	times_see(v, pni->ln, path);
	v->decided_by = !path ? "no path" : s.decided_by < LNET_NR_PATH_RANKS ?
			lnet_path_rank_names[s.decided_by] : "only one";
}

static int explain_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			 struct lnet_ctl_err *e)
{
	static const struct lnet_field fields[] = {
		LNET_FIELD(NID, "nid", struct lnet_ctl_dump, nid, .need = true), { NULL }
	};
	char text[LNET_NIDSTR_SIZE];
	struct lnet_peer_ni *pni;
	struct lnet_pass p;
	int rc = lnet_ctl_read(lnet_ctl_attrs(req), fields, d, e);

	if (rc)
		return rc;
	pni = lnet_peer_ni_lookup(d->ctl->ln, &d->nid);
	if (!pni)
		return lnet_ctl_fail(
			e, -ENOENT,
			"peer with the NID %s not found ('lnetctl peer show' lists them)",
			lnet_nid_str(&d->nid, text));
	d->priv = kvzalloc(sizeof(struct explain_view), GFP_KERNEL);
	if (d->priv) {
		lnet_pass_begin(&p, d->ctl->ln, LNET_PASS_CALL);
		lnet_enter_pni(&p, pni);
		see(d->priv, pni);
		lnet_pass_end(&p);
	}
	lnet_peer_ni_put(pni);
	return d->priv ? 0 : -ENOMEM;
}

/* ---- showing --------------------------------------------------------------------------------- */

static void nid_emit(struct lnet_sink *s, unsigned int key, const struct lnet_nid *nid)
{
	char text[LNET_NIDSTR_SIZE];

	if (!lnet_nid_is_any(nid))
		s->ops->str(s, key, lnet_nid_str(nid, text));
}

static void num_emit(struct lnet_sink *s, unsigned int key, s64 num)
{
	s->ops->num(s, key, LNET_NLT_S64, (u64)num);
}

static void path_emit(struct lnet_sink *s, unsigned int first_key, const struct cand_view *c)
{
	nid_emit(s, first_key, &c->source);
	nid_emit(s, first_key + 1, &c->nid);
	nid_emit(s, first_key + 2, &c->router);
}

/* Returns to which parts of the path the failures so far were attributed. */
static const char *attributed_to(const struct cand_view *c)
{
	if (c->near < LNET_HEALTH_MAX)
		return c->far < LNET_HEALTH_MAX ? "both" : "source";
	if (c->far < LNET_HEALTH_MAX)
		return "nid";
	return c->pair < LNET_HEALTH_MAX ? "path" : "nobody";
}

/* Writes the candidate number d->sub. False: there is no such candidate. */
static bool cand_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, void *arg)
{
	const struct explain_view *v = arg;
	const struct cand_view *c = &v->cand[d->sub];
	unsigned int r;

	if (d->sub == v->nr)
		return false;
	s->ops->open(s, LNET_OPEN_ELEM, d->sub);
	path_emit(s, C_SOURCE, c);
	if (c->chosen)
		s->ops->num(s, C_CHOSEN, LNET_NLT_FLAG, 1);
	num_emit(s, C_PAIR, c->pair);
	num_emit(s, C_SOURCE_H, c->near);
	num_emit(s, C_NID_H, c->far);
	s->ops->str(s, C_ATTRIBUTED, attributed_to(c));
	s->ops->open(s, LNET_OPEN_NEST, C_RANKS);
	s->ops->open(s, LNET_OPEN_ELEM, 0);
	for (r = 0; r < LNET_NR_PATH_RANKS; r++)
		num_emit(s, r + 1, c->rank[r]);
	s->ops->close(s);
	s->ops->close(s);
	return true;
}

static void times_emit(struct lnet_sink *s, const struct explain_view *v)
{
	s->ops->open(s, LNET_OPEN_NEST, E_TIMES);
	s->ops->open(s, LNET_OPEN_ELEM, 0);
	num_emit(s, T_RTT, (s64)div_u64(v->rtt_ns, NS_PER_US));
	num_emit(s, T_SUSPECT, (s64)div_u64(v->suspect_ns, NS_PER_US));
	num_emit(s, T_ATTEMPT, (s64)div_u64(v->attempt_ns, NS_PER_US));
	num_emit(s, T_TRIES, (s64)v->tries);
	num_emit(s, T_END, (s64)div_u64(v->total_ns, NS_PER_US));
	s->ops->close(s);
	s->ops->close(s);
}

static int explain_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct explain_view *v = d->priv;

	if (!lnet_ctl_table(d, s, &explain_table))
		return 1;
	lnet_ctl_item(d, s);
	nid_emit(s, E_PRIMARY, &v->primary);
	if (v->chosen < v->nr)
		path_emit(s, E_SOURCE, &v->cand[v->chosen]);
	s->ops->str(s, E_DECIDED, v->decided_by);
	if (!d->sub)
		times_emit(s, v);
	return !lnet_ctl_list(d, s, E_CANDS, cand_emit, v);
}

const struct lnet_ctl_cmd lnet_cmd_explain = {
	.cmd = LNET_NL_EXPLAIN, .start = explain_start, .next = explain_next,
};
