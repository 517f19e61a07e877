/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of fault rules, of NIDs whose messages fail on purpose, and of interfaces that are held
 * down (dbg-*).
 */
#include "plat.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "fault/fault.h"

/* ---- the table ------------------------------------------------------------------------------- */

/*
 * The table is freed only with the instance, because readers of ln->fault may use it at any time.
 */
struct lnet_fault *lnet_fault_want(struct lnet *ln)
{
	struct lnet_fault *f = ln->fault_table;

	lockdep_assert_held(&ln->cfg_mutex);
	if (f)
		return f;
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return NULL;
	spin_lock_init(&f->lock);
	INIT_LIST_HEAD(&f->rules);
	smp_store_release(&ln->fault_table, f);
	return f;
}

void lnet_fault_gate(struct lnet *ln)
{
	struct lnet_fault *f = ln->fault_table;

	lockdep_assert_held(&f->lock);
	if (f->nr || f->nr_fails)
		smp_store_release(&ln->fault, f);
	else
		WRITE_ONCE(ln->fault, NULL);
}

void lnet_fault_fini(struct lnet *ln)
{
	lnet_rule_del(ln, &(struct lnet_rule_which){ .kind = LNET_RULE_K_ANY });
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

static void fail_add(struct lnet_fault *f, const struct lnet_nid *nid, s32 count)
{
	f->fails[f->nr_fails] = (struct lnet_fault_fail){ .nid = *nid, .left = count };
	WRITE_ONCE(f->nr_fails, f->nr_fails + 1);
}

int lnet_fault_peer(struct lnet *ln, const struct lnet_nid *nid, s32 count)
{
	struct lnet_fault_fail *fail;
	struct lnet_fault *f;
	int rc = 0;

	mutex_lock(&ln->cfg_mutex);
	f = count ? lnet_fault_want(ln) : ln->fault_table;
	if (!f) {
		mutex_unlock(&ln->cfg_mutex);
		return count ? -ENOMEM : 0;
	}
	spin_lock(&f->lock);
	fail = fail_find(f, nid);
	if (!count && lnet_nid_is_any(nid))
		WRITE_ONCE(f->nr_fails, 0);
	else if (!count && fail)
		fail_remove(ln, f, fail);
	else if (fail)
		fail->left = count;
	else if (count && f->nr_fails == LNET_FAULT_FAILS)
		rc = -ENOSPC;
	else if (count)
		fail_add(f, nid, count);
	lnet_fault_gate(ln);
	spin_unlock(&f->lock);
	mutex_unlock(&ln->cfg_mutex);
	return rc;
}

/* ---- interfaces held down -------------------------------------------------------------------- */

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
