/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-defined selection policies: the rules, and the number path->policy that they give to each
 * path.
 *
 * A change replaces the whole table of rules: the pointer to the table changes under all shard
 * locks. Then the core computes path->policy, one peer after the other, each under the lock of its
 * shard. Selection only compares path->policy.
 *
 * If several rules give a priority to one net or NID, the rule with the lowest index applies. A
 * path has four priorities, which count in this order: peer's net, local net, local NID, peer's
 * NID. Stock LNet also selects the net before the interfaces. A net or NID without a rule ranks
 * last.
 */
#include "names/names.h"
#include "shard/shard.h"
#include "topology/topology.h"

struct rule {
	struct lnet_udsp_rule say;
	struct lnet_nidlist end[LNET_NR_UDSP_ENDS];
	bool is_net[LNET_NR_UDSP_ENDS];
};

struct lnet_udsp {
	unsigned int nr;
	struct rule *rule[LNET_UDSP_MAX];
};

/* ---- one rule -------------------------------------------------------------------------------- */

const char *lnet_udsp_wrong(const struct lnet_udsp_rule *rule)
{
	bool src = rule->text[LNET_UDSP_SRC][0], dst = rule->text[LNET_UDSP_DST][0];
	bool rte = rule->text[LNET_UDSP_RTE][0];

	if (!src && !dst && !rte)
		return "a UDSP rule needs 'src', 'dst' or both";
	if (rte && (src || !dst))
		return "'rte' needs 'dst', and cannot be combined with 'src'";
	if (rule->has_priority && (rte || (src && dst)))
		return "a priority needs either 'src' or 'dst', not both";
	if (!rule->has_priority && src != dst && !rte)
		return "a UDSP rule with only 'src' or only 'dst' needs a priority";
	return NULL;
}

static void rule_free(struct rule *r)
{
	unsigned int i;

	for (i = 0; r && i < LNET_NR_UDSP_ENDS; i++)
		lnet_nidlist_free(&r->end[i]);
	kvfree(r);
}

static int rule_new(const struct lnet_udsp_rule *say, struct rule **res)
{
	struct rule *r = kvzalloc(sizeof(*r), GFP_KERNEL);
	int rc = lnet_udsp_wrong(say) ? -EINVAL : 0;
	unsigned int i;

	if (!r)
		return -ENOMEM;
	r->say = *say;
	for (i = 0; i < LNET_NR_UDSP_ENDS && !rc; i++)
		if (say->text[i][0])
			rc = lnet_udsp_pattern_parse(&r->end[i], &r->is_net[i], say->text[i]);
	if (rc)
		rule_free(r);
	else
		*res = r;
	return rc;
}

static bool same_patterns(const struct rule *a, const struct rule *b)
{
	unsigned int i;

	for (i = 0; i < LNET_NR_UDSP_ENDS; i++)
		if (a->is_net[i] != b->is_net[i] || !lnet_nidlist_same(&a->end[i], &b->end[i]))
			return false;
	return true;
}

/* ---- priorities and preferences -------------------------------------------------------------- */

/* Returns the first rule with a priority for @nid, or with @is_net for its net; NULL: none. */
static const struct rule *priority_rule(const struct lnet_udsp *u, enum lnet_udsp_end end,
					bool is_net, const struct lnet_nid *nid)
{
	unsigned int i;

	for (i = 0; u && i < u->nr; i++)
		if (u->rule[i]->say.has_priority && u->rule[i]->is_net[end] == is_net &&
		    lnet_nidlist_match(&u->rule[i]->end[end], nid))
			return u->rule[i];
	return NULL;
}

void lnet_udsp_info(const struct lnet *ln, enum lnet_udsp_end end, const struct lnet_nid *nid,
		    struct lnet_udsp_info *info)
{
	const struct rule *net = priority_rule(ln->udsp, end, true, nid);
	const struct rule *own = priority_rule(ln->udsp, end, false, nid);

	info->net_priority = net ? (s64)net->say.priority : LNET_UDSP_NONE;
	info->nid_priority = own ? (s64)own->say.priority : LNET_UDSP_NONE;
}

/*
 * True if a rule prefers the local NI of @path (direct path), or any NID of its router (routed
 * path).
 */
static bool path_preferred(const struct lnet_udsp *u, const struct lnet_path *path)
{
	bool routed = path->hop != path->pni;
	const struct lnet_peer_ni *hop;
	const struct rule *r;
	unsigned int i;

	for (i = 0; i < u->nr; i++) {
		r = u->rule[i];
		if (r->say.has_priority ||
		    !lnet_nidlist_match(&r->end[LNET_UDSP_DST], &path->pni->nid))
			continue;
		if (!routed && lnet_nidlist_match(&r->end[LNET_UDSP_SRC], &path->ni->nid))
			return true;
		list_for_each_entry(hop, &path->hop->peer->pnis, link)
			if (routed && lnet_nidlist_match(&r->end[LNET_UDSP_RTE], &hop->nid))
				return true;
	}
	return false;
}

#define PLACES (LNET_UDSP_MAX + 1ULL)
static_assert(2 * PLACES * PLACES * PLACES * PLACES <= S32_MAX, "four digits in path->policy");

/*
 * Appends a digit in base PLACES to @behind. The digit is the number of rules with a better
 * priority than the priority of @nid, or of its net.
 */
static s32 add_place(s32 behind, const struct lnet_udsp *u, enum lnet_udsp_end end, bool is_net,
		     const struct lnet_nid *nid)
{
	const struct rule *r = priority_rule(u, end, is_net, nid);
	s32 better = r ? 0 : LNET_UDSP_MAX;
	unsigned int i;

	for (i = 0; r && i < u->nr; i++)
		better += u->rule[i]->say.has_priority &&
			  u->rule[i]->say.priority < r->say.priority;
	return behind * (s32)PLACES + better;
}

void lnet_udsp_path(const struct lnet *ln, struct lnet_path *path)
{
	const struct lnet_nid *src = &path->ni->nid, *dst = &path->pni->nid;
	const struct lnet_udsp *u = ln->udsp;
	s32 behind = 0;

	path->policy = 0;
	if (!u)
		return;
	behind = add_place(behind, u, LNET_UDSP_DST, true, dst);
	behind = add_place(behind, u, LNET_UDSP_SRC, true, src);
	behind = add_place(behind, u, LNET_UDSP_SRC, false, src);
	behind = add_place(behind, u, LNET_UDSP_DST, false, dst);
	path->policy = -behind * 2 + path_preferred(u, path);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static struct lnet_udsp *table_copy(const struct lnet_udsp *from)
{
	struct lnet_udsp *u = kvzalloc(sizeof(*u), GFP_KERNEL);

	if (u && from)
		*u = *from;
	return u;
}

static void peer_settle(struct lnet_pass *p, struct lnet_peer *peer, void *arg)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			lnet_udsp_path(p->ln, path);
}

/*
 * [cfg] Publishes the table @u; if @u has no rule, frees @u and publishes no table. Returns the old
 * table, which the caller frees.
 */
static struct lnet_udsp *udsp_publish(struct lnet *ln, struct lnet_udsp *u)
{
	struct lnet_udsp *old = ln->udsp;
	struct lnet_pass p;

	lnet_shards_lock_all(ln);
	ln->udsp = u && u->nr ? u : NULL;
	lnet_shards_unlock_all(ln);
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_peers_walk(&p, peer_settle, NULL);
	lnet_pass_end(&p);
	if (u && !u->nr)
		kvfree(u);
	return old;
}

static void udsp_table_free(struct lnet_udsp *u)
{
	unsigned int i;

	for (i = 0; u && i < u->nr; i++)
		rule_free(u->rule[i]);
	kvfree(u);
}

/* ---- changes --------------------------------------------------------------------------------- */

/*
 * Inserts @r; on success the table owns @r. *@out: a rule with the same patterns, which @r
 * replaced; or NULL.
 */
static int table_insert(struct lnet_udsp *u, int idx, struct rule *r, struct rule **out)
{
	unsigned int same = 0, at = u->nr;

	while (same < u->nr && !same_patterns(u->rule[same], r))
		same++;
	if (same < u->nr) {
		*out = u->rule[same];
		if ((*out)->say.has_priority == r->say.has_priority &&
		    (!r->say.has_priority || (*out)->say.priority == r->say.priority))
			return -EALREADY;
		u->rule[same] = r;
		return 0;
	}
	if (u->nr == LNET_UDSP_MAX)
		return -ENOSPC;
	if (idx >= 0 && (unsigned int)idx < u->nr)
		at = (unsigned int)idx;
	memmove(&u->rule[at + 1], &u->rule[at], (u->nr - at) * sizeof(u->rule[0]));
	u->rule[at] = r;
	u->nr++;
	return 0;
}

int lnet_udsp_add(struct lnet *ln, int idx, const struct lnet_udsp_rule *rule)
{
	struct rule *r, *gone = NULL;
	int rc = rule_new(rule, &r);
	struct lnet_udsp *u;

	if (rc)
		return rc;
	mutex_lock(&ln->cfg_mutex);
	u = table_copy(ln->udsp);
	rc = u ? table_insert(u, idx, r, &gone) : -ENOMEM;
	kvfree(rc ? u : udsp_publish(ln, u));
	mutex_unlock(&ln->cfg_mutex);
	rule_free(rc ? r : gone);
	return rc;
}

int lnet_udsp_del(struct lnet *ln, int idx)
{
	struct lnet_udsp *u;
	struct rule *gone;
	int rc = -ENOENT;

	mutex_lock(&ln->cfg_mutex);
	if (idx == -1) {
		udsp_table_free(udsp_publish(ln, NULL));
		rc = 0;
	}
	if (idx < 0 || !ln->udsp || (unsigned int)idx >= ln->udsp->nr)
		goto unlock;
	u = table_copy(ln->udsp);
	rc = u ? 0 : -ENOMEM;
	if (rc)
		goto unlock;
	gone = u->rule[idx];
	u->nr--;
	memmove(&u->rule[idx], &u->rule[idx + 1], (u->nr - (u32)idx) * sizeof(u->rule[0]));
	kvfree(udsp_publish(ln, u));
	rule_free(gone);
unlock:
	mutex_unlock(&ln->cfg_mutex);
	return rc;
}

int lnet_udsp_set(struct lnet *ln, const struct lnet_udsp_rule *rules, unsigned int nr)
{
	struct lnet_udsp *u = table_copy(NULL);
	int rc = !u ? -ENOMEM : nr > LNET_UDSP_MAX ? -ENOSPC : 0;

	while (!rc && u->nr < nr) {
		rc = rule_new(&rules[u->nr], &u->rule[u->nr]);
		u->nr += !rc;
	}
	mutex_lock(&ln->cfg_mutex);
	udsp_table_free(rc ? u : udsp_publish(ln, u));
	mutex_unlock(&ln->cfg_mutex);
	return rc;
}

int lnet_udsp_get(struct lnet *ln, unsigned int idx, struct lnet_udsp_rule *rule)
{
	int rc = 0;

	mutex_lock(&ln->cfg_mutex);
	if (ln->udsp && idx < ln->udsp->nr)
		*rule = ln->udsp->rule[idx]->say;
	else
		rc = -ENOENT;
	mutex_unlock(&ln->cfg_mutex);
	return rc;
}

void lnet_udsp_fini(struct lnet *ln)
{
	udsp_table_free(ln->udsp);
	ln->udsp = NULL;
}
