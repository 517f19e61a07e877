/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tree of a session at a node: start, end, timers, and the arguments of waves. */
#include "tree.h"

/* ---- bodies ---------------------------------------------------------------------------------- */

struct lst_body *lst_body_new(const char *text, u32 len, gfp_t gfp)
{
	struct lst_body *body = kmalloc(sizeof(*body) + len, gfp);

	if (!body)
		return NULL;
	body->refs = 1;
	body->len = len;
	memcpy(body->text, text, len);
	return body;
}

void lst_body_put(struct lst_body *body)
{
	if (body && !--body->refs)
		kfree(body);
}

const char *lst_body_word(const char *text, u32 len, const char *name)
{
	const char *at = text, *end = text + len;
	size_t nr = strlen(name);

	if (!len || text[len - 1])
		return NULL;
	for (; at < end; at += strlen(at) + 1)
		if (!strncmp(at, name, nr) && at[nr] == '=')
			return at + nr + 1;
	return NULL;
}

int lst_body_number(const char *text, u32 len, const char *name, s64 lo, s64 hi, s64 *value)
{
	const char *word = lst_body_word(text, len, name);
	long long num;

	if (!word)
		return 0;
	if (kstrtoll(word, 10, &num) || num < lo || num > hi)
		return -EINVAL;
	*value = num;
	return 0;
}

/* ---- start ----------------------------------------------------------------------------------- */

int lst_tree_make(struct lst_tree **treep, struct lst *st, const char *ranges, u32 k)
{
	struct lst_tree *tree = kzalloc(sizeof(*tree), GFP_KERNEL);
	int rc = k < 2 || k > LST_TREE_K_MAX ? -EINVAL : 0;

	*treep = NULL;
	if (!tree)
		return -ENOMEM;
	if (!rc)
		rc = lst_ranges_parse(&tree->ranges, ranges);
	if (rc) {
		lst_tree_drop(tree);
		return rc;
	}
	tree->st = st;
	tree->k = k;
	tree->next_ns = tree->start_ns = tree->tell_ns = U64_MAX;
	INIT_LIST_HEAD(&tree->edges);
	lst_place_root(&tree->place, tree->ranges.nr);
	lst_tree_record_init(&tree->wave.rec, 0, tree->ranges.nr);
	*treep = tree;
	return 0;
}

void lst_tree_drop(struct lst_tree *tree)
{
	if (tree)
		lst_ranges_free(&tree->ranges);
	kfree(tree);
}

u32 lst_tree_edges_locked(struct lst_tree *tree, const struct lst_place *place)
{
	u32 i, nr = lst_place_children(place, tree->k), failed = 0;
	struct lst_edge *edge;

	lockdep_assert_held(&tree->st->lock);
	for (i = 0; i < nr; i++) {
		edge = kzalloc(sizeof(*edge), GFP_NOWAIT);
		if (!edge) {
			failed++;
			continue;
		}
		edge->tree = tree;
		edge->rpc.st = tree->st;
		lst_place_child(place, tree->k, i, &edge->place);
		list_add_tail(&edge->link, &tree->edges);
	}
	return failed;
}

/* ---- end ------------------------------------------------------------------------------------- */

static void tree_free_run(struct lst_job *job)
{
	struct lst_tree *tree = container_of(job, struct lst_tree, free);
	struct lst *st = tree->st;
	struct lst_edge *edge, *next;

	list_for_each_entry_safe(edge, next, &tree->edges, link)
		kfree(edge);
	lst_body_put(tree->wave.body);
	lst_tree_record_free(&tree->wave.rec);
	lst_ranges_free(&tree->ranges);
	kvfree(tree->said);
	kfree(tree->name);
	kfree(tree);
	spin_lock(&st->lock);
	st->nr_trees--;
	spin_unlock(&st->lock);
}

void lst_tree_close_locked(struct lst_tree *tree)
{
	if (!--tree->nr_open && tree->ending)
		lst_queue_locked(tree->st, &tree->free, tree_free_run);
}

void lst_tree_end_locked(struct lst_tree *tree)
{
	struct lst_edge *edge;

	if (!tree || tree->ending)
		return;
	lockdep_assert_held(&tree->st->lock);
	if (tree->st->tree == tree)
		tree->st->tree = NULL;
	if (tree->st->root == tree)
		tree->st->root = NULL;
	tree->ending = true;
	tree->nr_open++;
	list_for_each_entry(edge, &tree->edges, link)
		if (edge->busy)
			lst_rpc_fail_locked(&edge->rpc, -ECANCELED);
	if (tree->telling)
		lst_rpc_fail_locked(&tree->tell, -ECANCELED);
	if (tree->over)
		tree->over(tree);
	lst_tree_close_locked(tree);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void beat_locked(struct lst_tree *root, u64 now)
{
	struct lst_wave_cfg cfg = { .op = LST_TREE_BEAT, .budget_ns = 3 * LST_TREE_TIMEOUT_NS };

	if (root->wave.state != LST_WAVE_RELAY && !root->over_arg &&
	    now >= root->wave.began_ns + root->beat_ns)
		lst_tree_wave_locked(root, &cfg);
	root->next_ns = min(root->next_ns, root->wave.began_ns + root->beat_ns);
	if (root->next_ns <= now)
		root->next_ns = now + LST_TREE_TRY_NS;
}

static void tree_work_locked(struct lst_tree *tree, u64 now)
{
	if (now < tree->next_ns)
		return;
	if (now >= tree->start_ns)
		lst_tree_start_locked(tree, now);
	tree->next_ns = min(lst_wave_work_locked(tree, now), tree->start_ns);
	if (tree->st->root == tree)
		beat_locked(tree, now);
}

void lst_tree_work_locked(struct lst *st, u64 now)
{
	if (st->tree)
		tree_work_locked(st->tree, now);
	if (st->root)
		tree_work_locked(st->root, now);
}

u64 lst_tree_next_locked(const struct lst *st)
{
	u64 next = st->tree ? st->tree->next_ns : U64_MAX;

	return st->root ? min(next, st->root->next_ns) : next;
}
