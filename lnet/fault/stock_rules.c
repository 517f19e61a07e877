/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fault rules: which messages are dropped, failed or delayed on purpose (behaviour.md section 7),
 * and the hooks of the tests (dbg-*).
 *
 * A drop rule without outcomes loses messages silently on receive. One with outcomes, or with a
 * moment (@when), ends attempts of the sender where it would have given them to the driver: before
 * posting (certainly not delivered unless the outcome says else), after posting (bytes are lost: a
 * network timeout unless outcomes are named), after completion (all looks well and no answer will
 * come). drop_all does both, on each side silently.
 *
 * Rules stand most recent first; the first that hits decides, and those behind it do not count the
 * message. On sending, a rule's local NID is the sender's; stock LNet never matches there. Rule 2
 * of behaviour.md 7.1 is kept: of a rate of 2 the very first match is dropped.
 */
#include "plat.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "fault/fault.h"

#define MAX_RULES	256
#define MAX_FAILS	LNET_FAULT_FAILS
#define MAX_INTERVAL_S	4000000u	/* in ms it fits 32 bits */
#define MSG_TYPES	4		/* ACK, PUT, GET, REPLY */
#define MSG_MASK_ALL	((1u << MSG_TYPES) - 1)
#define MSG_MASK_PORTAL	(1u << LNET_MSG_PUT | 1u << LNET_MSG_GET)
/* stock's failures, 1..10 */
#define OUTCOME_MASK	((1u << (LNET_NETWORK_TIMEOUT + 1)) - 2)

enum { WHEN_BEFORE, WHEN_POSTED, WHEN_COMPLETED };

struct rule {
	struct list_head link;
	struct lnet_fault_rule r;
	u32 types;			/* of messages, after the portal mask */
	u32 window_pos, window_hit;	/* rate: matches seen in this window, which of them hits */
	/* interval: begin of this window (U64_MAX: none yet), from when on a match hits */
	u64 window_ns, hit_ns;
};

/* ---- when a match hits ----------------------------------------------------------------------- */

/* Uniform over 0..@bound - 1. */
static u32 draw(struct lnet *ln, u32 bound)
{
	return (u32)(((ln->env->ops->random(ln->env) >> 32) * bound) >> 32);
}

static void redraw(struct lnet *ln, struct rule *rule)
{
	rule->window_pos = 0;
	rule->window_hit = rule->r.rate == 2 ? 0 : rule->r.rate ? draw(ln, rule->r.rate) : 0;
	rule->window_ns = U64_MAX;
	rule->hit_ns = 0;
}

static bool rate_hits(struct lnet *ln, struct rule *rule)
{
	bool hit = rule->window_pos == rule->window_hit;

	if (++rule->window_pos == rule->r.rate) {
		rule->window_pos = 0;
		rule->window_hit = draw(ln, rule->r.rate);
	}
	return hit;
}

static void interval_open(struct lnet *ln, struct rule *rule, u64 at_ns)
{
	rule->window_ns = at_ns;
	rule->hit_ns = at_ns + (u64)draw(ln, rule->r.interval_s * MSEC_PER_SEC) * NSEC_PER_MSEC;
}

/*
 * One hit per window at most, at the first match from a random instant on; windows follow each
 * other without gaps.
 */
static bool interval_hits(struct lnet *ln, struct rule *rule, u64 now_ns)
{
	u64 span_ns = (u64)rule->r.interval_s * NSEC_PER_SEC;

	if (rule->window_ns == U64_MAX)
		interval_open(ln, rule, now_ns);
	else if (now_ns - rule->window_ns >= span_ns)
		interval_open(ln, rule,
			      rule->window_ns +
				      div64_u64(now_ns - rule->window_ns, span_ns) * span_ns);
	if (now_ns < rule->hit_ns)
		return false;
	rule->hit_ns = U64_MAX;
	return true;
}

static bool hits(struct lnet *ln, struct rule *rule, u64 now_ns)
{
	if (rule->r.drop_all)
		return true;
	if (rule->r.random)
		return draw(ln, 2);
	return rule->r.rate ? rate_hits(ln, rule) : interval_hits(ln, rule, now_ns);
}

/* ---- matching -------------------------------------------------------------------------------- */

bool lnet_fault_nid_matches(const struct lnet_nid *pattern, const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(pattern) || lnet_nid_same(pattern, nid))
		return true;
	return pattern->size == 0 && be32_to_cpu(pattern->addr[0]) == U32_MAX &&
	       lnet_nid_net(pattern) == lnet_nid_net(nid);
}

static bool matches(const struct rule *rule, const struct lnet_nid *local,
		    const struct lnet_hdr *hdr)
{
	const struct lnet_fault_rule *r = &rule->r;
	u32 portal;

	if (hdr->type >= MSG_TYPES || !(rule->types & 1u << hdr->type))
		return false;
	if (!lnet_fault_nid_matches(&r->src, &hdr->src_nid) ||
	    !lnet_fault_nid_matches(&r->dst, &hdr->dest_nid) ||
	    (local && !lnet_fault_nid_matches(&r->local, local)))
		return false;
	if (!r->portal_mask)
		return true;
	/* Requests to our own nodes carry a mark in the portal (portal + 64). */
	portal = hdr->type == LNET_MSG_PUT ? hdr->msg.put.ptl_index : hdr->msg.get.ptl_index;
	return r->portal_mask & BIT_ULL(portal % 64);
}

/* Rules of one side, first hit. [lock] */
static struct rule *first_hit(struct lnet *ln, struct lnet_fault *f, bool delay,
			      bool (*side)(const struct rule *rule), const struct lnet_nid *local,
			      const struct lnet_hdr *hdr, u64 now_ns)
{
	struct rule *rule;

	list_for_each_entry(rule, &f->rules[delay], link) {
		if (!side(rule) || !matches(rule, local, hdr))
			continue;
		rule->r.nr_match++;
		if (!hits(ln, rule, now_ns))
			continue;
		rule->r.nr_hit++;
		rule->r.nr_by_type[hdr->type]++;
		return rule;
	}
	return NULL;
}

static bool at_sender(const struct rule *rule)
{
	return rule->r.health_mask || rule->r.when || rule->r.drop_all;
}

static bool at_receiver(const struct rule *rule)
{
	return rule->r.drop_all || !at_sender(rule);
}

static bool everywhere(const struct rule *rule)
{
	return true;
}

static struct lnet_fault *armed(struct lnet *ln, bool delay)
{
	struct lnet_fault *f = READ_ONCE(ln->fault);

	return likely(!f) || !READ_ONCE(f->nr[delay]) ? NULL : f;
}

/* ---- NIDs that fail -------------------------------------------------------------------------- */

static struct lnet_fault_fail *fail_find(struct lnet_fault *f, const struct lnet_nid *nid)
{
	unsigned int i;

	lockdep_assert_held(&f->lock);
	for (i = 0; i < f->nr_fails; i++)
		if (lnet_nid_same(&f->fails[i].nid, nid))
			return &f->fails[i];
	return NULL;
}

static void fail_remove(struct lnet *ln, struct lnet_fault *f, struct lnet_fault_fail *fail)
{
	*fail = f->fails[f->nr_fails - 1];
	WRITE_ONCE(f->nr_fails, f->nr_fails - 1);
	lnet_fault_gate(ln);
}

bool lnet_fault_peer_fails(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_fault *f = READ_ONCE(ln->fault);
	struct lnet_fault_fail *fail;

	if (likely(!f) || !READ_ONCE(f->nr_fails))
		return false;
	spin_lock(&f->lock);
	fail = fail_find(f, nid);
	if (!fail)
		fail = fail_find(f, &LNET_NID_ANY);
	if (fail && fail->left > 0 && !--fail->left)
		fail_remove(ln, f, fail);
	spin_unlock(&f->lock);
	return fail;
}

bool lnet_fault_rx(struct lnet_pass *p, const struct lnet_ni *ni, const struct lnet_hdr *hdr)
{
	struct lnet_fault *f = armed(p->ln, false);
	bool hit;

	if (lnet_fault_peer_fails(p->ln, &hdr->src_nid))
		return true;
	if (!f)
		return false;
	spin_lock(&f->lock);
	hit = first_hit(p->ln, f, false, at_receiver, &ni->nid, hdr, p->now_ns);
	spin_unlock(&f->lock);
	return hit;
}

/* One of the outcomes of the mask, each as likely. */
static enum lnet_outcome draw_outcome(struct lnet *ln, u32 mask)
{
	u32 nth = draw(ln, hweight32(mask));
	unsigned int how = LNET_LOCAL_INTERRUPT;

	for (; how < LNET_NETWORK_TIMEOUT; how++)
		if ((mask & 1u << how) && nth-- == 0)
			break;
	return how;
}

static enum lnet_outcome outcome_of(struct lnet *ln, const struct lnet_fault_rule *r)
{
	if (r->when == WHEN_COMPLETED)
		return LNET_CONFIRMED;
	if (r->health_mask & OUTCOME_MASK)
		return draw_outcome(ln, r->health_mask & OUTCOME_MASK);
	return r->when == WHEN_POSTED ? LNET_NETWORK_TIMEOUT : LNET_OK;
}

bool lnet_fault_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		     enum lnet_outcome *how)
{
	struct lnet_fault *f = armed(p->ln, false);
	struct lnet_hdr hdr;
	struct rule *rule;

	if (!f)
		return false;
	lnet_att_hdr(att, &hdr);
	spin_lock(&f->lock);
	rule = first_hit(p->ln, f, false, at_sender, &ni->nid, &hdr, p->now_ns);
	if (rule) {
		*how = outcome_of(p->ln, &rule->r);
		atomic64_inc(&f->hits[false]);
	}
	spin_unlock(&f->lock);
	return rule;
}

u64 lnet_fault_delay(struct lnet_pass *p, const struct lnet_hdr *hdr)
{
	struct lnet_fault *f = armed(p->ln, true);
	struct rule *rule;
	u64 ns;

	if (!f)
		return 0;
	spin_lock(&f->lock);
	rule = first_hit(p->ln, f, true, everywhere, NULL, hdr, p->now_ns);
	ns = rule ? rule->r.latency_ns : 0;
	if (rule)
		atomic64_inc(&f->hits[true]);
	spin_unlock(&f->lock);
	return ns;
}

/* ---- configuration --------------------------------------------------------------------------- */

static int check_drop(const struct lnet_fault_rule *r)
{
	if (r->latency_ns || (r->random && !r->interval_s) || r->when > WHEN_COMPLETED)
		return -EINVAL;
	return r->health_mask && !(r->health_mask & OUTCOME_MASK) ? -EINVAL : 0;
}

static int check_delay(const struct lnet_fault_rule *r)
{
	if (!r->latency_ns || r->health_mask || r->random || r->drop_all || r->when ||
	    !lnet_nid_is_any(&r->local))
		return -EINVAL;
	return 0;
}

static int check(const struct lnet_fault_rule *r)
{
	if (!r->rate == !r->interval_s || r->interval_s > MAX_INTERVAL_S)
		return -EINVAL;
	if (r->msg_mask & ~MSG_MASK_ALL)
		return -EINVAL;
	if (r->portal_mask && r->msg_mask && !(r->msg_mask & MSG_MASK_PORTAL))
		return -EINVAL;
	return r->delay ? check_delay(r) : check_drop(r);
}

static struct rule *rule_create(struct lnet *ln, const struct lnet_fault_rule *r)
{
	struct rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);

	if (!rule)
		return NULL;
	rule->r = *r;
	rule->r.nr_match = 0;
	rule->r.nr_hit = 0;
	memset(rule->r.nr_by_type, 0, sizeof(rule->r.nr_by_type));
	rule->types = r->msg_mask ? r->msg_mask : MSG_MASK_ALL;
	if (r->portal_mask)
		rule->types &= MSG_MASK_PORTAL;
	redraw(ln, rule);
	return rule;
}

static struct lnet_fault *fault_create(void)
{
	struct lnet_fault *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return NULL;
	spin_lock_init(&f->lock);
	INIT_LIST_HEAD(&f->rules[0]);
	INIT_LIST_HEAD(&f->rules[1]);
	INIT_LIST_HEAD(&f->more.list);
	return f;
}

/* The table stays until the instance goes: who read ln->fault may go on with it. */
struct lnet_fault *lnet_fault_want(struct lnet *ln)
{
	struct lnet_fault *f = ln->fault_table;

	lockdep_assert_held(&ln->cfg_mutex);
	if (f)
		return f;
	f = fault_create();
	if (f)
		smp_store_release(&ln->fault_table, f);
	return f;
}

void lnet_fault_gate(struct lnet *ln)
{
	struct lnet_fault *f = ln->fault_table;

	lockdep_assert_held(&f->lock);
	if (f->nr[0] || f->nr[1] || f->nr_fails || f->more.nr)
		smp_store_release(&ln->fault, f);
	else
		WRITE_ONCE(ln->fault, NULL);
}

static int rule_add(struct lnet *ln, struct rule *rule)
{
	struct lnet_fault *f = lnet_fault_want(ln);
	bool delay = rule->r.delay;

	if (!f)
		return -ENOMEM;
	if (f->nr[delay] == MAX_RULES)
		return -ENOSPC;
	spin_lock(&f->lock);
	if (!rule->r.id)
		rule->r.id = ++f->more.last_id;
	list_add(&rule->link, &f->rules[delay]);
	WRITE_ONCE(f->nr[delay], f->nr[delay] + 1);
	lnet_fault_gate(ln);
	spin_unlock(&f->lock);
	return 0;
}

static const char *kind_name(bool delay)
{
	return delay ? "delay" : "drop";
}

int lnet_fault_add(struct lnet *ln, const struct lnet_fault_rule *r)
{
	struct rule *rule;
	int rc = check(r);
	u32 id;

	if (rc)
		return rc;
	rule = rule_create(ln, r);
	if (!rule)
		return -ENOMEM;
	rule->r.delay = !!r->delay;
	mutex_lock(&ln->cfg_mutex);
	rc = rule_add(ln, rule);
	id = rule->r.id;
	mutex_unlock(&ln->cfg_mutex);
	if (rc)
		kfree(rule);
	else
		lnet_log_stock_rule_added(ln, id, kind_name(r->delay), &r->src, &r->dst);
	return rc;
}

static bool selects(const struct lnet_nid *asked, const struct lnet_nid *of_rule)
{
	return lnet_nid_is_any(asked) || lnet_nid_same(asked, of_rule);
}

static bool fault_meant(const struct lnet_fault_rule *r, const struct lnet_fault_rule *like)
{
	return (!like->id || like->id == r->id) && selects(&like->src, &r->src) &&
	       selects(&like->dst, &r->dst);
}

/* Deletes the rules with the kind, the ID (0: any), the source and the destination of @like. */
static int rules_del(struct lnet *ln, const struct lnet_fault_rule *like)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	bool delay = like->delay;
	struct rule *rule, *next;
	LIST_HEAD(gone);
	int nr = 0;

	if (!f)
		return 0;
	spin_lock(&f->lock);
	list_for_each_entry_safe(rule, next, &f->rules[delay], link)
		if (fault_meant(&rule->r, like)) {
			list_move(&rule->link, &gone);
			nr++;
		}
	WRITE_ONCE(f->nr[delay], f->nr[delay] - nr);
	lnet_fault_gate(ln);
	spin_unlock(&f->lock);
	list_for_each_entry_safe(rule, next, &gone, link)
		kfree(rule);
	if (nr)
		lnet_log_stock_rules_removed(ln, kind_name(delay), nr);
	return nr;
}

int lnet_fault_del(struct lnet *ln, bool delay, const struct lnet_nid *src,
		   const struct lnet_nid *dst)
{
	const struct lnet_fault_rule like = { .delay = delay,
					      .src = src ? *src : LNET_NID_ANY,
					      .dst = dst ? *dst : LNET_NID_ANY };

	return rules_del(ln, &like);
}

int lnet_fault_del_id(struct lnet *ln, bool delay, u32 id)
{
	const struct lnet_fault_rule like = { .delay = delay, .src = LNET_NID_ANY,
					      .dst = LNET_NID_ANY, .id = id };

	return rules_del(ln, &like);
}

int lnet_fault_get(struct lnet *ln, bool delay, unsigned int pos, struct lnet_fault_rule *r)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	struct rule *rule;
	int rc = -ENOENT;

	if (!f)
		return rc;
	spin_lock(&f->lock);
	list_for_each_entry(rule, &f->rules[delay], link)
		if (pos-- == 0) {
			*r = rule->r;
			rc = 0;
			break;
		}
	spin_unlock(&f->lock);
	return rc;
}

void lnet_fault_reset(struct lnet *ln, bool delay)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	struct rule *rule;

	if (!f)
		return;
	spin_lock(&f->lock);
	list_for_each_entry(rule, &f->rules[delay], link) {
		rule->r.nr_match = 0;
		rule->r.nr_hit = 0;
		memset(rule->r.nr_by_type, 0, sizeof(rule->r.nr_by_type));
		redraw(ln, rule);
	}
	spin_unlock(&f->lock);
}

static int fail_set(struct lnet *ln, struct lnet_fault *f, const struct lnet_nid *nid, s32 count)
{
	struct lnet_fault_fail *fail = fail_find(f, nid);

	if (!fail && f->nr_fails == MAX_FAILS)
		return -ENOSPC;
	if (!fail)
		fail = &f->fails[f->nr_fails];
	*fail = (struct lnet_fault_fail){ .nid = *nid, .left = count };
	if (fail == &f->fails[f->nr_fails])
		WRITE_ONCE(f->nr_fails, f->nr_fails + 1);
	lnet_fault_gate(ln);
	return 0;
}

static void fail_unset(struct lnet *ln, struct lnet_fault *f, const struct lnet_nid *nid)
{
	struct lnet_fault_fail *fail = fail_find(f, nid);

	if (lnet_nid_is_any(nid))
		WRITE_ONCE(f->nr_fails, 0);
	else if (fail)
		fail_remove(ln, f, fail);
	lnet_fault_gate(ln);
}

int lnet_fault_peer(struct lnet *ln, const struct lnet_nid *nid, s32 count)
{
	struct lnet_fault *f;
	int rc = 0;

	mutex_lock(&ln->cfg_mutex);
	f = count ? lnet_fault_want(ln) : ln->fault_table;
	if (f) {
		spin_lock(&f->lock);
		if (count)
			rc = fail_set(ln, f, nid, count);
		else
			fail_unset(ln, f, nid);
		spin_unlock(&f->lock);
	} else if (count) {
		rc = -ENOMEM;
	}
	mutex_unlock(&ln->cfg_mutex);
	return rc;
}

void lnet_fault_fini(struct lnet *ln)
{
	lnet_fault_del(ln, false, NULL, NULL);
	lnet_fault_del(ln, true, NULL, NULL);
	lnet_rule_del(ln, &(struct lnet_rule_which){ .kind = LNET_NR_RULE_KINDS });
	kfree(ln->fault_table);
	ln->fault = ln->fault_table = NULL;
}

u64 lnet_fault_count(const struct lnet *ln, bool delay)
{
	const struct lnet_fault *f = READ_ONCE(ln->fault_table);

	return f ? atomic64_read(&f->hits[delay]) : 0;
}

void lnet_fault_count_reset(struct lnet *ln)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);

	if (!f)
		return;
	atomic64_set(&f->hits[false], 0);
	atomic64_set(&f->hits[true], 0);
}

int lnet_fault_ni_down(struct lnet *ln, const struct lnet_nid *nid, bool down)
{
	struct lnet_ni *ni;

	mutex_lock(&ln->cfg_mutex);
	ni = lnet_ni_by_nid(ln, nid);
	if (ni)
		lnet_ni_mark(ni, LNET_MARK(RULE_DOWN), down);
	mutex_unlock(&ln->cfg_mutex);
	if (!ni)
		return -ENOENT;
	lnet_log_ni_link_set(ln, nid, down);
	WRITE_ONCE(ln->shard[0].link_work, 1);
	ln->env->ops->kick(ln->env, 0);
	return 0;
}
