/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The console of a tree: sends requests to all nodes of the tree at once, and receives merged
 * results.
 */
#include "con.h"
#include "tree.h"

#define NIDS_MAX 1024U			/* maximum NIDs of a list in a reply */

/* ---- waves ----------------------------------------------------------------------------------- */

static void root_wave_end(struct lst_tree *root)
{
	struct con_cmd *cmd = root->over_arg;

	root->took_ns = lst_now(root->st) - root->wave.began_ns;
	root->over_arg = NULL;
	if (cmd)
		con_answered(cmd);
}

void lst_tree_wave_locked(struct lst_tree *root, const struct lst_wave_cfg *cfg)
{
	struct lst_wave *wave = &root->wave;

	lst_tree_record_free(&wave->rec);
	lst_tree_record_init(&wave->rec, 0, root->ranges.nr);
	lst_body_put(wave->body);
	wave->body = cfg->body;
	wave->id++;
	wave->op = (u8)cfg->op;
	wave->arg = cfg->arg;
	wave->force = cfg->force;
	wave->at_ns = cfg->at_ns;
	wave->began_ns = lst_now(root->st);
	wave->deadline_ns = wave->began_ns + cfg->budget_ns;
	lst_wave_begin_locked(root);
}

/*
 * Ends a command's wave early, because another wave begins. A wave is a request that passes down
 * the tree, and whose results are added up on the way back.
 */
static void root_wave_abort(struct lst_tree *root)
{
	struct con_cmd *cmd = root->over_arg;

	if (cmd)
		cmd->user->status = -ECANCELED;
	root_wave_end(root);
}

/*
 * Begins a wave, which takes over @body. When the wave has ended, the command continues with @next.
 */
static int wave(struct con_cmd *cmd, const struct lst_wave_cfg *cfg,
		int (*next)(struct con_cmd *cmd))
{
	struct lst_tree *root = cmd->st->root;

	cmd->nr_left++;
	root->over_arg = cmd;
	lst_tree_wave_locked(root, cfg);
	return con_then(cmd, next);
}

static u64 budget_of(const struct con_cmd *cmd)
{
	return max(cmd->timeout_ns, 3 * LST_TREE_TIMEOUT_NS);
}

/*
 * May a wave begin? Returns 0, -ENOENT if there is no tree, or -EBUSY if another command has a wave
 * in progress.
 */
static int may_begin(const struct con_cmd *cmd)
{
	const struct lst_tree *root = cmd->st->root;

	if (!root)
		return -ENOENT;
	return root->over_arg ? -EBUSY : 0;
}

/* ---- replies --------------------------------------------------------------------------------- */

static void say_nids(struct con_cmd *cmd, const char *name, const struct lst_set *set)
{
	const struct lst_tree *root = cmd->st->root;
	char text[LNET_NIDSTR_SIZE];
	u32 at, nr, said = 0;
	struct lnet_nid nid;

	con_say(cmd, "%s: [", name);
	for (at = set->first; said < NIDS_MAX && lst_set_run(set, &at, &nr); at += nr) {
		u32 i;

		for (i = 0; i < nr && said < NIDS_MAX; i++) {
			lst_ranges_nid(&root->ranges, at + i, &nid);
			con_say(cmd, "%s\"%s\"", said++ ? ", " : "", lnet_nid_str(&nid, text));
		}
	}
	con_say(cmd, "]\n");
}

static void wave_print(struct con_cmd *cmd)
{
	const struct lst_tree *root = cmd->st->root;
	const struct lst_tree_record *rec = &root->wave.rec;

	con_say(cmd, "tree: {nodes: %u, k: %u, levels: %u, done: %u, refused: %u, missing: %u, "
		"errno: %u, asked: %u, told: %u, bytes: %llu, took_us: %llu}\n", root->ranges.nr,
		root->k, lst_place_levels(root->ranges.nr, root->k), rec->nr_done, rec->nr_refused,
		root->ranges.nr - rec->nr_done - rec->nr_refused, rec->status, root->counts.asked,
		root->counts.told, (unsigned long long)root->counts.bytes,
		(unsigned long long)div_u64(root->took_ns, NSEC_PER_USEC));
	say_nids(cmd, "missing", &rec->missing);
	say_nids(cmd, "refused", &rec->refused);
}

static int wave_done(struct con_cmd *cmd)
{
	if (!cmd->st->root)
		return -ESRCH;
	wave_print(cmd);
	return 0;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* A job that parses ranges of NIDs without the lock. */
struct joining {
	struct lst_job job;
	struct con_cmd *cmd;
	char *ranges;
	u32 k;
};

static struct lst_body *join_body(const struct con_session *s, const struct joining *j)
{
	u32 size = (u32)strlen(j->ranges) + LST_NAME + 64, len;
	char *text = kmalloc(size, GFP_NOWAIT);
	struct lst_body *body;

	if (!text)
		return NULL;
	len = (u32)scnprintf(text, size, "name=%s", s->name) + 1;
	len += (u32)scnprintf(text + len, size - len, "ranges=%s", j->ranges) + 1;
	len += (u32)scnprintf(text + len, size - len, "k=%u", j->k) + 1;
	len += (u32)scnprintf(text + len, size - len, "lease=%u",
			      max(s->lease, LST_TREE_LEASE_MIN)) + 1;
	body = len > LST_TREE_BODY_MAX ? NULL : lst_body_new(text, len, GFP_NOWAIT);
	kfree(text);
	return body;
}

static int root_join_locked(struct joining *j, struct lst_tree *root)
{
	struct con_cmd *cmd = j->cmd;
	struct con_session *s = con_session(cmd);
	struct lst_wave_cfg cfg = { .op = LST_TREE_JOIN, .budget_ns = budget_of(cmd) };

	if (!s)
		return -ESRCH;
	if (cmd->st->root)
		return -EEXIST;
	root->name = kcalloc(LST_TREE_TESTS_MAX, sizeof(*root->name), GFP_NOWAIT);
	cfg.body = root->name ? join_body(s, j) : NULL;
	if (!cfg.body)
		return -ENOMEM;
	cfg.force = s->force;
	root->sid = s->sid;
	root->feats = s->feats;
	root->beat_ns = min(LST_TREE_BEAT_NS,
			    max(s->lease, LST_TREE_LEASE_MIN) * NSEC_PER_SEC / 4);
	/*
	 * Some nodes may still be in an earlier tree of this session. The wave numbers of the new
	 * tree are higher than those of the earlier tree, so that these nodes detect the new waves.
	 */
	root->wave.id = lst_now(cmd->st);
	root->over = root_wave_end;
	cmd->st->root = root;
	cmd->st->nr_trees++;
	if (lst_tree_edges_locked(root, &root->place)) {
		lst_body_put(cfg.body);
		lst_tree_end_locked(root);
		return -ENOMEM;
	}
	wave(cmd, &cfg, wave_done);
	return 0;
}

static void join_run(struct lst_job *job)
{
	struct joining *j = container_of(job, struct joining, job);
	struct con_cmd *cmd = j->cmd;
	struct lst_tree *root;
	int rc = lst_tree_make(&root, cmd->st, j->ranges, j->k);

	spin_lock(&cmd->st->lock);
	if (!rc)
		rc = root_join_locked(j, root);
	if (rc && root && !root->ending)
		kfree(root->name);
	else
		root = NULL;
	if (rc)
		cmd->user->status = rc;
	con_answered(cmd);
	spin_unlock(&cmd->st->lock);
	lst_tree_drop(root);
	kfree(j->ranges);
	kfree(j);
}

/* Does nothing, because join_run() has set the status. */
static int join_rejected(struct con_cmd *cmd)
{
	return 0;
}

/* ranges, k */
int con_tree_join(struct con_cmd *cmd)
{
	const char *ranges = con_text(cmd, "ranges");
	struct joining *j;
	s64 k = LST_TREE_K;

	if (!ranges || con_number(cmd, "k", 2, LST_TREE_K_MAX, &k))
		return -EINVAL;
	if (cmd->st->root)
		return -EEXIST;
	j = kzalloc(sizeof(*j), GFP_NOWAIT);
	if (j)
		j->ranges = kstrdup(ranges, GFP_NOWAIT);
	if (!j || !j->ranges) {
		kfree(j);
		return -ENOMEM;
	}
	j->cmd = cmd;
	j->k = (u32)k;
	cmd->nr_left++;
	lst_queue_locked(cmd->st, &j->job, join_run);
	return con_then(cmd, join_rejected);
}

int con_tree_show(struct con_cmd *cmd)
{
	int rc = may_begin(cmd);

	if (!rc)
		wave_print(cmd);
	return rc;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static bool travels(const char *word)
{
	static const char *const not[] = { "key=", "wait=", "batch=", "id=", "bid=" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(not); i++)
		if (!strncmp(word, not[i], strlen(not[i])))
			return false;
	return true;
}

/* Copies the arguments of the request, except those for the console, into the body of a wave. */
static struct lst_body *test_body(const struct con_cmd *cmd, u32 id, u64 bid)
{
	const char *end = cmd->user->request + cmd->user->len;
	const char *at = cmd->user->request + strlen(cmd->user->request) + 1;
	u32 size = cmd->user->len + 64, len;
	char *text = kmalloc(size, GFP_NOWAIT);
	struct lst_body *body;

	if (!text)
		return NULL;
	len = (u32)scnprintf(text, size, "id=%u", id) + 1;
	len += (u32)scnprintf(text + len, size - len, "bid=%llu", (unsigned long long)bid) + 1;
	for (; at < end; at += strlen(at) + 1)
		if (travels(at))
			len += (u32)scnprintf(text + len, size - len, "%s", at) + 1;
	body = len > LST_TREE_BODY_MAX ? NULL : lst_body_new(text, len, GFP_NOWAIT);
	kfree(text);
	return body;
}

bool con_tree_has(const struct con_cmd *cmd, const struct con_batch *batch)
{
	const struct lst_tree *root = cmd->st->root;
	u32 i;

	for (i = 0; root && i < root->nr_tests; i++)
		if (root->test[i].bid == batch->bid)
			return true;
	return false;
}

/*
 * Stores the type of a new test and the name of its batch, for each number of the test. A drill in
 * both directions counts as two tests with successive numbers.
 */
static void note(struct lst_tree *root, const struct lst_tree_spec *spec, const char *what,
		 const char *batch)
{
	u32 i, nr = spec->ours ? (u32)spec->plan.ways : 1;

	for (i = 0; i < nr; i++, root->nr_tests++) {
		struct lst_tree_name *name = &root->name[root->nr_tests];

		root->test[root->nr_tests] = (struct lst_tree_test){ spec->id + i, spec->bid };
		strscpy(name->what, what, sizeof(name->what));
		strscpy(name->batch, batch, sizeof(name->batch));
	}
}

/*
 * Arguments: batch, from, to (ranges), type (ping, brw, bulk), loop, concur, dist, span, seed,
 * stop_onerr. Further arguments of brw: opc, check, size, off. Drills have the arguments of
 * plan.def.
 */
int con_tree_test(struct con_cmd *cmd)
{
	struct lst_wave_cfg cfg = { .op = LST_TREE_TEST, .budget_ns = budget_of(cmd) };
	const struct con_batch *batch = con_batch_find(con_session(cmd), con_text(cmd, "batch"));
	struct lst_tree *root = cmd->st->root;
	struct lst_tree_spec spec;
	int rc = may_begin(cmd);

	if (rc)
		return rc;
	if (!batch)
		return -ENOENT;
	if (!list_empty(&batch->tests))
		/*
		 * the batch has tests of groups, which nodes find by the index of the test in the
		 * batch
		 */
		return -EBUSY;
	if (root->nr_tests == LST_TREE_TESTS_MAX)
		return -ENOSPC;
	cfg.body = test_body(cmd, root->nr_tests + 1, batch->bid);
	if (!cfg.body)
		return -ENOMEM;
	rc = lst_tree_spec_read(&spec, cfg.body->text, cfg.body->len, root->feats);
	if (rc) {
		lst_body_put(cfg.body);
		return rc;
	}
	note(root, &spec, con_text(cmd, "type"), batch->name);
	return wave(cmd, &cfg, wave_done);
}

/* ---- running --------------------------------------------------------------------------------- */

static struct con_batch *tree_batch_find(const struct con_cmd *cmd)
{
	return con_batch_find(con_session(cmd), con_text(cmd, "batch"));
}

static int tree_started(struct con_cmd *cmd)
{
	const struct lst_tree *root = cmd->st->root;
	u64 now = lst_now(cmd->st);

	if (!root)
		return -ESRCH;
	wave_print(cmd);
	con_say(cmd, "start: {in_us: %lld, bound_ns: %llu}\n",
		(long long)div_s64((s64)(root->wave.at_ns - now), NSEC_PER_USEC),
		(unsigned long long)root->wave.rec.bound_ns);
	return 0;
}

/*
 * Starts the batch after all nodes are ready. The duration of a wave and the error bound of the
 * clocks are now known.
 */
static int prepared(struct con_cmd *cmd)
{
	struct lst_wave_cfg cfg = { .op = LST_TREE_START, .budget_ns = budget_of(cmd) };
	const struct con_batch *batch = tree_batch_find(cmd);
	struct lst_tree *root = cmd->st->root;
	u64 now = lst_now(cmd->st);

	if (!root || !batch)
		return root ? -ENOENT : -ESRCH;
	if (root->over_arg)
		return -EBUSY;
	cfg.arg = batch->bid;
	cfg.at_ns = now + 4 * (now - root->wave.began_ns) + root->wave.rec.bound_ns;
	return wave(cmd, &cfg, tree_started);
}

/* batch */
int con_tree_run(struct con_cmd *cmd)
{
	struct lst_wave_cfg cfg = { .op = LST_TREE_PREPARE, .budget_ns = budget_of(cmd) };
	int rc = may_begin(cmd);

	if (!rc && !tree_batch_find(cmd))
		rc = -ENOENT;
	return rc ? rc : wave(cmd, &cfg, prepared);
}

/* batch, force */
int con_tree_stop(struct con_cmd *cmd)
{
	struct lst_wave_cfg cfg = { .op = LST_TREE_STOP, .budget_ns = budget_of(cmd) };
	const struct con_batch *batch = tree_batch_find(cmd);
	s64 force = 0;
	int rc = may_begin(cmd);

	if (!rc && !batch)
		rc = -ENOENT;
	if (!rc)
		rc = con_number(cmd, "force", 0, 1, &force);
	if (rc)
		return rc;
	cfg.arg = batch->bid;
	cfg.force = force;
	return wave(cmd, &cfg, wave_done);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void say_tally(struct con_cmd *cmd, const struct lst_tree_tally *tally)
{
	const struct lst_tree *root = cmd->st->root;
	const struct lst_tree_name *name;

	if (!tally->id || tally->id > root->nr_tests)
		return;
	name = &root->name[tally->id - 1];
	con_tally_say(cmd, name->batch, tally->id, name->what, &tally->tally);
}

static int sampled(struct con_cmd *cmd)
{
	const struct lst_tree_record *rec;
	u32 i;

	if (!cmd->st->root)
		return -ESRCH;
	rec = &cmd->st->root->wave.rec;
	con_say(cmd, "tally:%s\n", rec->nr_tallies ? "" : " []");
	for (i = 0; i < rec->nr_tallies; i++)
		say_tally(cmd, rec->tally[i]);
	con_say(cmd, "running: {active: %u, started: %u, late_ns: %llu}\n", rec->nr_active,
		rec->nr_started, (unsigned long long)rec->late_ns);
	wave_print(cmd);
	return 0;
}

int con_tree_sample(struct con_cmd *cmd)
{
	struct lst_wave_cfg cfg = { .op = LST_TREE_SAMPLE, .budget_ns = budget_of(cmd) };
	int rc = may_begin(cmd);

	return rc ? rc : wave(cmd, &cfg, sampled);
}

/* ---- the end --------------------------------------------------------------------------------- */

static int left(struct con_cmd *cmd)
{
	int rc = wave_done(cmd);

	lst_tree_end_locked(cmd->st->root);
	return rc;
}

int con_tree_leave(struct con_cmd *cmd)
{
	struct lst_wave_cfg cfg = { .op = LST_TREE_LEAVE, .budget_ns = budget_of(cmd) };
	int rc = may_begin(cmd);

	return rc ? rc : wave(cmd, &cfg, left);
}

/*
 * Begins the wave that ends the tree. If another command waits for a wave, aborts that wave first.
 */
void con_tree_end(struct con_cmd *cmd)
{
	struct lst_wave_cfg cfg = { .op = LST_TREE_LEAVE, .budget_ns = budget_of(cmd) };
	struct lst_tree *root = cmd->st->root;

	if (!root)
		return;
	root_wave_abort(root);
	cmd->nr_left++;
	root->over_arg = cmd;
	lst_tree_wave_locked(root, &cfg);
}
