/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fault rules of an instance: adds, deletes, lists, saves and restores them. */
#include "plat.h"
#include "shard/shard.h"
#include "fault/fault.h"

static struct lnet_rule_live *live_create(struct lnet *ln, const struct lnet_rule *r)
{
	struct lnet_rule_live *live = kzalloc(sizeof(*live), GFP_KERNEL);

	if (!live)
		return NULL;
	live->r = *r;
	if (!(r->set & 1u << LNET_RULE_SEED) && lnet_rule_may(r->kind, LNET_RULE_SEED)) {
		/*
		 * the seed counts as set, so that lists show it and an operator can repeat the
		 * values
		 */
		live->r.seed = ln->env->ops->random(ln->env) >> 32;
		live->r.set |= 1u << LNET_RULE_SEED;
	}
	lnet_rule_start(live, ln->env->ops->now_ns(ln->env));
	return live;
}

/*
 * Returns when to log the end of the rule. If @count ends the rule, the last hit schedules the log
 * line.
 */
static u64 end_ns(const struct lnet_rule_live *live)
{
	return live->r.to_ns && !live->over_told ? live->added_ns + live->r.to_ns : U64_MAX;
}

/* [lock] Adds @change to the numbers of rules: 1 when @live is added, -1 when it is removed. */
static void rule_count(struct lnet *ln, struct lnet_fault *f, const struct lnet_rule_live *live,
		       int change)
{
	WRITE_ONCE(f->nr, f->nr + change);
	if (live->r.kind == LNET_RULE_K_REORDER)
		WRITE_ONCE(f->nr_reorder, f->nr_reorder + change);
	lnet_fault_gate(ln);
}

/* [lock] */
static int table_add(struct lnet *ln, struct lnet_fault *f, struct lnet_rule_live *live)
{
	const struct lnet_rule_live *other;

	list_for_each_entry(other, &f->rules, link)
		if (*live->r.name && !strcmp(other->r.name, live->r.name))
			return -EEXIST;
	if (f->nr == LNET_RULES_MAX)
		return -ENOSPC;
	live->info.id = ++f->last_id;
	if (lnet_log_is_on(ln))
		lnet_job_schedule(ln, &ln->rules_ns, end_ns(live));
	list_add(&live->link, &f->rules);
	rule_count(ln, f, live, 1);
	return 0;
}

int lnet_rule_add(struct lnet *ln, const struct lnet_rule *r)
{
	struct lnet_rule_live *live = live_create(ln, r);
	char src[LNET_NIDSTR_SIZE], dst[LNET_NIDSTR_SIZE];
	struct lnet_fault *f;
	int rc = -ENOMEM;
	u32 id = 0;

	if (!live)
		return -ENOMEM;
	mutex_lock(&ln->cfg_mutex);
	f = lnet_fault_want(ln);
	if (f) {
		spin_lock(&f->lock);
		rc = table_add(ln, f, live);
		id = live->info.id;
		spin_unlock(&f->lock);
	}
	mutex_unlock(&ln->cfg_mutex);
	if (rc)
		kfree(live);
	else if (lnet_rule_is_stock(r))
		lnet_log_stock_rule_added(ln, id, lnet_rule_kind_name(r->kind),
					  lnet_rule_nid_text(&r->src, src),
					  lnet_rule_nid_text(&r->dst, dst));
	else
		lnet_log_rule_added(ln, id, lnet_rule_kind_name(r->kind), r->name);
	return rc;
}

static bool nid_is_meant(const struct lnet_nid *which, const struct lnet_nid *nid)
{
	return lnet_nid_is_any(which) || lnet_nid_same(which, nid);
}

static bool rule_is_meant(const struct lnet_rule_live *live, const struct lnet_rule_which *which)
{
	const struct lnet_rule *r = &live->r;

	if (which->id && which->id != live->info.id)
		return false;
	if (which->kind == LNET_RULE_K_ANY)
		return true;
	if (which->kind == LNET_NR_RULE_KINDS ? lnet_rule_is_stock(r) : which->kind != r->kind)
		return false;
	if (lnet_rule_is_stock(r))
		return nid_is_meant(&which->src, &r->src) && nid_is_meant(&which->dst, &r->dst);
	return !which->name[0] || !strcmp(which->name, r->name);
}

unsigned int lnet_rule_del(struct lnet *ln, const struct lnet_rule_which *which)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	struct lnet_rule_live *live, *next;
	LIST_HEAD(gone);
	unsigned int nr = 0;

	if (!f)
		return 0;
	spin_lock(&f->lock);
	list_for_each_entry_safe(live, next, &f->rules, link)
		if (rule_is_meant(live, which)) {
			list_move(&live->link, &gone);
			rule_count(ln, f, live, -1);
			nr++;
		}
	spin_unlock(&f->lock);
	list_for_each_entry_safe(live, next, &gone, link) {
		lnet_att_release(ln, live->info.id);
		lnet_log_rule_removed(ln, live->info.id, lnet_rule_kind_name(live->r.kind),
				      live->info.nr_hit);
		kfree(live);
	}
	return nr;
}

/*
 * Copies a rule that has ended and whose end is not logged yet. Returns the ID of the rule; 0:
 * none. *@next_ns: when the next rule ends.
 */
static u32 ended_take(struct lnet_fault *f, u64 now_ns, struct lnet_rule_live *ended, u64 *next_ns)
{
	struct lnet_rule_live *live;
	u32 id = 0;

	*next_ns = U64_MAX;
	spin_lock(&f->lock);
	list_for_each_entry(live, &f->rules, link) {
		if (id || live->over_told || lnet_rule_state(live, now_ns) != LNET_RULE_IS_OVER) {
			*next_ns = min(*next_ns, end_ns(live));
			continue;
		}
		live->over_told = true;
		*ended = *live;
		id = live->info.id;
	}
	spin_unlock(&f->lock);
	return id;
}

void lnet_rules_work(struct lnet *ln, u64 now_ns)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	struct lnet_rule_live ended;
	u64 next_ns;
	u32 id;

	if (now_ns < READ_ONCE(ln->rules_ns) || !f)
		return;
	WRITE_ONCE(ln->rules_ns, U64_MAX);
	/*
	 * Clears ln->rules_ns before it reads the rules, because a writer first writes a rule, then
	 * ln->rules_ns.
	 */
	smp_mb();
	while ((id = ended_take(f, now_ns, &ended, &next_ns)))
		lnet_log_rule_over(ln, id, lnet_rule_kind_name(ended.r.kind), ended.info.nr_hit);
	lnet_job_schedule(ln, &ln->rules_ns, next_ns);
}

int lnet_rule_get(struct lnet *ln, u32 id, struct lnet_rule *r, struct lnet_rule_info *info)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	struct lnet_rule_live *live, *best = NULL;

	if (!f)
		return -ENOENT;
	spin_lock(&f->lock);
	list_for_each_entry(live, &f->rules, link)
		if (!lnet_rule_is_stock(&live->r) && live->info.id >= id)
			best = live;
	if (best) {
		*r = best->r;
		*info = best->info;
		info->state = lnet_rule_state(best, ln->env->ops->now_ns(ln->env));
	}
	spin_unlock(&f->lock);
	return best ? 0 : -ENOENT;
}

int lnet_rule_at(struct lnet *ln, enum lnet_rule_kind kind, unsigned int pos,
		 struct lnet_rule_live *copy)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	struct lnet_rule_live *live;
	int rc = -ENOENT;

	if (!f)
		return rc;
	spin_lock(&f->lock);
	list_for_each_entry(live, &f->rules, link)
		if (live->r.kind == kind && pos-- == 0) {
			if (copy)
				*copy = *live;
			rc = 0;
			break;
		}
	spin_unlock(&f->lock);
	return rc;
}

void lnet_rules_reset(struct lnet *ln, enum lnet_rule_kind kind)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	struct lnet_rule_live *live;

	if (!f)
		return;
	spin_lock(&f->lock);
	list_for_each_entry(live, &f->rules, link) {
		if (live->r.kind != kind)
			continue;
		live->info = (struct lnet_rule_info){ .id = live->info.id };
		live->r.seed = ln->env->ops->random(ln->env) >> 32;
		lnet_rule_start(live, live->added_ns);
	}
	spin_unlock(&f->lock);
}

bool lnet_rule_exists(struct lnet_fault *f, u32 id)
{
	const struct lnet_rule_live *live;
	bool exists = false;

	spin_lock(&f->lock);
	list_for_each_entry(live, &f->rules, link)
		if (live->info.id == id) {
			exists = true;
			break;
		}
	spin_unlock(&f->lock);
	return exists;
}

u32 lnet_rule_last(struct lnet *ln)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	u32 id = 0;

	if (!f)
		return 0;
	spin_lock(&f->lock);
	if (!list_empty(&f->rules))
		id = list_first_entry(&f->rules, struct lnet_rule_live, link)->info.id;
	spin_unlock(&f->lock);
	return id;
}

/* ---- saving and restoring -------------------------------------------------------------------- */

struct lnet_rules_kept {
	u32 nr, last;
	struct lnet_rule_live live[];
};

int lnet_rules_keep(struct lnet *ln, struct lnet_rules_kept **res)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	u32 room = f ? READ_ONCE(f->nr) : 0;
	struct lnet_rules_kept *kept = kvzalloc(struct_size(kept, live, room), GFP_KERNEL);
	struct lnet_rule_live *live;

	*res = kept;
	if (!kept)
		return -ENOMEM;
	kept->last = lnet_rule_last(ln);
	if (!f)
		return 0;
	spin_lock(&f->lock);
	list_for_each_entry(live, &f->rules, link)
		if (kept->nr < room)
			kept->live[kept->nr++] = *live;
	spin_unlock(&f->lock);
	return 0;
}

/* Inserts a copy of @kept in the order of IDs. Its random generator continues from its state. */
static int put_back(struct lnet *ln, struct lnet_fault *f, const struct lnet_rule_live *kept)
{
	struct lnet_rule_live *live = kmalloc(sizeof(*live), GFP_KERNEL), *at;

	if (!live)
		return -ENOMEM;
	*live = *kept;
	spin_lock(&f->lock);
	list_for_each_entry(at, &f->rules, link)
		if (at->info.id <= live->info.id)
			break;
	if (list_entry_is_head(at, &f->rules, link) || at->info.id != live->info.id) {
		list_add_tail(&live->link, &at->link);
		rule_count(ln, f, live, 1);
		live = NULL;
	}
	spin_unlock(&f->lock);
	kfree(live);
	return 0;
}

int lnet_rules_put_back(struct lnet *ln, const struct lnet_rules_kept *kept)
{
	struct lnet_fault *f = READ_ONCE(ln->fault_table);
	int rc = 0;
	u32 i;

	while (lnet_rule_last(ln) > kept->last)
		lnet_rule_del(ln, &(struct lnet_rule_which){ .id = lnet_rule_last(ln),
							     .kind = LNET_RULE_K_ANY });
	for (i = 0; i < kept->nr && !rc; i++)
		rc = put_back(ln, f, &kept->live[i]);
	return rc;
}
