/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * This node's part in a wave. The node builds the requests that a console without a tree sends to a
 * node, and serves them itself.
 */
#include "tree.h"

struct lst_call *lst_tree_call(struct lst_tree *tree, u32 type, gfp_t gfp)
{
	struct lst_call *call = kzalloc(sizeof(*call), gfp);

	if (!call)
		return NULL;
	call->st = tree->st;
	call->req.type = type;
	call->req.feats = tree->feats;
	return call;
}

/* ---- joining and leaving --------------------------------------------------------------------- */

struct joining {
	const char *name;
	u64 wave;
	s64 lease;
	bool force;
	const struct lst_call *asked;
};

/*
 * Makes the session of the tree. If another console took over the node by force, a late request
 * does not return the node to the old session.
 */
static u32 tree_session_make_locked(struct lst_tree *tree, const struct joining *j)
{
	struct lst_call *call = lst_tree_call(tree, LST_MAKE_SESSION_REQ, GFP_NOWAIT);
	struct lst_make_session_req *req = call ? &call->req.make_session_req : NULL;
	struct lst *st = tree->st;
	u32 status = ENOMEM;

	if (!call)
		return status;
	req->sid = tree->sid;
	req->force = j->force;
	req->lease = (u32)j->lease;
	req->epoch = lst_session_fenced_locked(st, &tree->sid) ? 0 : st->epoch;
	strscpy(req->name, j->name, LST_NAME);
	call->from = j->asked->from;
	call->primary = j->asked->primary;
	lst_session_serve_locked(call);
	status = call->rpy.make_session_rpy.status;
	if (!status)
		st->session->console = st->session->primary = LNET_NID_ANY;
	kfree(call);
	return status;
}

/* Joins the session. If the node is still in an earlier tree of the session, ends that tree. */
static u32 tree_join_locked(struct lst_tree *tree, const struct joining *j)
{
	struct lst *st = tree->st;
	u32 status;

	if (st->tree && lst_sid_same(&st->tree->sid, &tree->sid)) {
		if (j->wave <= st->tree->wave.id)
			return 0;
		lst_session_end_locked(st, LEASE_REMOVED);
	}
	status = tree_session_make_locked(tree, j);
	if (status)
		return status;
	lst_tree_end_locked(st->tree);
	st->tree = tree;
	st->nr_trees++;
	if (!lst_tree_edges_locked(tree, &tree->place))
		return 0;
	lst_session_end_locked(st, LEASE_REMOVED);
	return ENOMEM;
}

/* Index of this node. */
static u32 own_index(const struct lst_tree *tree)
{
	struct lnet_process id;
	u32 i, index = U32_MAX;

	for (i = 1; index == U32_MAX && !lnet_get_id(tree->st->ln, i, &id); i++)
		index = lst_ranges_index(&tree->ranges, &id.nid);
	return index;
}

u32 lst_tree_join(struct lst_call *call)
{
	const struct lst_tree_ask_req *req = &call->req.tree_ask_req;
	const char *text = call->bulk;
	struct joining j = { .name = lst_body_word(text, call->bulk_len, "name"),
			     .wave = req->wave, .lease = LST_LEASE, .force = req->force,
			     .asked = call };
	const char *ranges = lst_body_word(text, call->bulk_len, "ranges");
	struct lst_tree *tree = NULL;
	struct lst *st = call->st;
	s64 k = LST_TREE_K;
	u32 status;
	int rc = -EINVAL;

	if (j.name && ranges &&
	    !lst_body_number(text, call->bulk_len, "k", 2, LST_TREE_K_MAX, &k) &&
	    !lst_body_number(text, call->bulk_len, "lease", LST_LEASE_MIN, LST_LEASE_MAX, &j.lease))
		rc = lst_tree_make(&tree, st, ranges, (u32)k);
	if (!rc && own_index(tree) != req->head)
		rc = -EINVAL;
	if (rc) {
		lst_tree_drop(tree);
		return (u32)-rc;
	}
	tree->sid = req->sid;
	tree->feats = call->req.feats;
	lst_place_find(&tree->place, tree->ranges.nr, tree->k, req->head);
	spin_lock(&st->lock);
	status = tree_join_locked(tree, &j);
	if (st->tree == tree || tree->ending)
		tree = NULL;
	spin_unlock(&st->lock);
	lst_tree_drop(tree);
	return status;
}

void lst_tree_leave_locked(struct lst_tree *tree)
{
	struct lst_call *call = lst_tree_call(tree, LST_REMOVE_SESSION_REQ, GFP_NOWAIT);

	if (call) {
		call->req.remove_session_req.sid = tree->sid;
		lst_session_serve_locked(call);
	}
	kfree(call);
	lst_tree_end_locked(tree);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static int spec_brw(struct lst_tree_spec *spec, const char *text, u32 len, u32 feats)
{
	s64 opc = LST_BRW_READ, check = LST_CHECK_NONE, size = LST_PAGE, off = 0;

	if (lst_body_number(text, len, "opc", LST_BRW_READ, LST_BRW_WRITE, &opc) ||
	    lst_body_number(text, len, "check", LST_CHECK_NONE, LST_CHECK_DISCARD, &check) ||
	    lst_body_number(text, len, "size", 1, LNET_MTU, &size) ||
	    lst_body_number(text, len, "off", 0, LST_PAGE - 1, &off))
		return -EINVAL;
	if (feats & LST_FEAT_BYTES)
		spec->req.bytes_param = (struct lst_bytes_param){ (u16)opc, (u16)check, (u32)size,
								  (u32)off };
	else
		spec->req.pages_param = (struct lst_pages_param){
			(u32)opc, DIV_ROUND_UP((u32)size, LST_PAGE), (u32)check };
	return 0;
}

static bool is_word(const char *word, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(word, name, len) && word[len] == '=';
}

/* Is the argument known? The node rejects unknown arguments, and does not ignore them. */
static bool spec_word_is_known(const char *word, const char *type, bool ours)
{
	static const char *const names[] = { "type", "id", "bid", "from", "to", "loop", "concur",
					     "dist", "span", "seed", "stop_onerr", "opc", "check",
					     "size", "off" };
	u32 i, nr = ARRAY_SIZE(names) - (strcmp(type, "brw") ? 4 : 0);

	for (i = 0; i < nr; i++)
		if (is_word(word, names[i]))
			return true;
	for (i = 0; ours && i < lst_nr_plan_words; i++)
		if (is_word(word, lst_plan_words[i].name))
			return true;
	return false;
}

static bool all_known(const char *text, u32 len, const char *type, bool ours)
{
	const char *at = text, *end = text + len;

	for (; at < end; at += strlen(at) + 1)
		if (!spec_word_is_known(at, type, ours))
			return false;
	return true;
}

/*
 * Reads a drill. A drill may have a seed only for permutations. In stock's tests a seed rotates the
 * servers; the maps of drills do not rotate them.
 */
static int spec_ours(struct lst_tree_spec *spec, const char *type, const char *text, u32 len)
{
	struct lst_plan *p = &spec->plan;
	int rc = lst_plan_read(p, type, text, len);

	if (!rc && (p->map == LST_MAP_LISTED || spec->id + p->ways - 1 > LST_TREE_TESTS_MAX ||
		    (p->map != LST_MAP_PERMUTATION && lst_body_word(text, len, "seed"))))
		rc = -EINVAL;
	return rc;
}

static int spec_stock(struct lst_tree_spec *spec, const char *type, const char *text, u32 len,
		      u32 feats)
{
	s64 loop = -1, concur = 1, dist = 1, span = 1, seed = 0, stop = 1;

	if (lst_body_number(text, len, "loop", -1, S32_MAX, &loop) || !loop ||
	    lst_body_number(text, len, "concur", 1, LST_CONCUR_MAX, &concur) ||
	    lst_body_number(text, len, "dist", 1, S32_MAX, &dist) ||
	    lst_body_number(text, len, "span", 1, LST_DESTS_PER_PAGE, &span) ||
	    lst_body_number(text, len, "seed", 0, S32_MAX, &seed) ||
	    lst_body_number(text, len, "stop_onerr", 0, 1, &stop))
		return -EINVAL;
	spec->dist = (u32)dist;
	spec->span = (u32)span;
	spec->seed = (u32)seed;
	spec->req = (struct lst_test_req){ .bid = spec->bid, .loop = (u32)loop,
					   .concur = (u32)concur, .nr_dests = spec->span,
					   .is_client = 1, .stop_onerr = stop,
					   .service = LST_SERVICE_PING };
	if (!strcmp(type, "ping"))
		return 0;
	spec->req.service = LST_SERVICE_BRW;
	return strcmp(type, "brw") ? -EINVAL : spec_brw(spec, text, len, feats);
}

int lst_tree_spec_read(struct lst_tree_spec *spec, const char *text, u32 len, u32 feats)
{
	const char *type = lst_body_word(text, len, "type");
	s64 id = 0, bid = 0;

	memset(spec, 0, sizeof(*spec));
	spec->from = lst_body_word(text, len, "from");
	spec->to = lst_body_word(text, len, "to");
	if (!type || !spec->from || !spec->to ||
	    lst_body_number(text, len, "id", 1, LST_TREE_TESTS_MAX, &id) ||
	    lst_body_number(text, len, "bid", 1, S64_MAX, &bid))
		return -EINVAL;
	spec->id = (u32)id;
	spec->bid = (u64)bid;
	spec->ours = lst_plan_is_ours(type, text, len);
	if (!all_known(text, len, type, spec->ours))
		return -EINVAL;
	return spec->ours ? spec_ours(spec, type, text, len) :
			    spec_stock(spec, type, text, len, feats);
}

/*
 * Builds the list of the servers to which client number @client sends. The list has spec->span
 * servers. It is the same for spec->dist successive clients; the next clients have the next
 * servers. The seed shifts the lists of all clients by the same number of servers.
 */
static void *tree_dests_make(const struct lst_tree_spec *spec, const struct lst_ranges *to,
			     u32 client)
{
	u64 first = (u64)(client / spec->dist) * spec->span + spec->seed;
	u8 *list = kvzalloc(lst_dests_size(spec->span), GFP_NOFS);
	struct lnet_nid nid;
	u32 i, server;

	for (i = 0; list && i < spec->span; i++) {
		struct lst_dest dest = { .pid = LNET_PID };

		div_u64_rem(first + i, to->nr, &server);
		lst_ranges_nid(to, server, &nid);
		dest.nid = lnet_nid_to_nid4(&nid);
		lst_dest_encode(list, i, &dest);
	}
	return list;
}

static const struct lst_test *last_test(const struct lst *st, u64 bid)
{
	const struct lst_batch *batch;

	list_for_each_entry(batch, &st->session->batches, link)
		if (batch->bid == bid && !list_empty(&batch->tests))
			return list_last_entry(&batch->tests, struct lst_test, link);
	return NULL;
}

static void tree_test_note_locked(struct lst_tree *tree, const struct lst_tree_spec *spec)
{
	const struct lst_test *test = last_test(tree->st, spec->bid);

	if (test && test->tally)
		tree->test[tree->nr_tests++] = (struct lst_tree_test){ spec->id, spec->bid, test };
}

static u32 tree_test_add(struct lst_tree *tree, const struct lst_tree_spec *spec, void *list)
{
	struct lst_call *call = lst_tree_call(tree, LST_TEST_REQ, GFP_NOFS);
	struct lst *st = tree->st;
	u32 status = ENOMEM;

	if (!call)
		return status;
	call->req.test_req = spec->req;
	call->req.test_req.sid = tree->sid;
	call->bulk = list;
	lst_test_add(call);
	status = call->rpy.test_rpy.status;
	kfree(call);
	spin_lock(&st->lock);
	if (!status && !tree->ending && st->session)
		tree_test_note_locked(tree, spec);
	spin_unlock(&st->lock);
	return status;
}

/* Adds a stock test at a client. Servers need no request for a stock test. */
static u32 add_stock(struct lst_tree *tree, const struct lst_tree_spec *spec,
		     const struct lst_ranges *from, const struct lst_ranges *to)
{
	struct lnet_nid nid;
	u32 client, status;
	void *list;

	lst_ranges_nid(&tree->ranges, tree->place.head, &nid);
	client = lst_ranges_index(from, &nid);
	if (client == U32_MAX)
		return 0;
	if (spec->span > to->nr)
		return EINVAL;
	list = tree_dests_make(spec, to, client);
	status = list ? tree_test_add(tree, spec, list) : ENOMEM;
	kvfree(list);
	return status;
}

static u32 tree_spec_add(struct lst_tree *tree, const struct lst_body *body, u64 wave)
{
	struct lst_ranges from = { 0 }, to = { 0 };
	struct lst_tree_spec spec;
	u32 status = 0;
	int rc = body ? lst_tree_spec_read(&spec, body->text, body->len, tree->feats) : -EINVAL;

	if (!rc && tree->nr_tests + (spec.ours ? spec.plan.ways : 1) > LST_TREE_TESTS_MAX)
		rc = -ENOSPC;
	if (!rc)
		rc = lst_ranges_parse(&from, spec.from);
	if (!rc)
		rc = lst_ranges_parse(&to, spec.to);
	if (!rc)
		status = spec.ours ? lst_tree_drill_add(tree, &spec, &from, &to, wave) :
				     add_stock(tree, &spec, &from, &to);
	lst_ranges_free(&from);
	lst_ranges_free(&to);
	return rc ? (u32)-rc : status;
}

/* ---- batches --------------------------------------------------------------------------------- */

static u32 batch_locked(struct lst_tree *tree, u32 opc, u64 bid, bool force)
{
	struct lst_call *call = lst_tree_call(tree, LST_BATCH_REQ, GFP_NOWAIT);
	u32 status = ENOMEM;

	if (!call)
		return status;
	call->req.batch_req = (struct lst_batch_req){ .sid = tree->sid, .bid = bid, .opc = opc,
						      .arg = force };
	lst_batch_serve_locked(call);
	status = call->rpy.batch_rpy.status;
	kfree(call);
	return status;
}

void lst_tree_start_locked(struct lst_tree *tree, u64 now)
{
	u64 at_ns = tree->start_ns;

	tree->start_ns = U64_MAX;
	if (batch_locked(tree, LST_BATCH_RUN, tree->start_bid, false))
		return;
	tree->started_ns = now;
	tree->late_ns = now - at_ns;
}

/* Schedules the start. A node without a test in the batch has nothing to start. */
static u32 start_at_locked(struct lst_tree *tree)
{
	u64 now = lst_now(tree->st);

	tree->start_ns = max(tree->wave.at_ns, 1ULL);
	tree->start_bid = tree->wave.arg;
	tree->started_ns = tree->late_ns = 0;
	if (!tree->wave.at_ns)
		tree->start_ns = now;
	tree->next_ns = min(tree->next_ns, tree->start_ns);
	return 0;
}

static u32 stop_locked(struct lst_tree *tree)
{
	u32 status = batch_locked(tree, LST_BATCH_STOP, tree->wave.arg, tree->wave.force);

	tree->start_ns = U64_MAX;
	return status == ENOENT ? 0 : status;
}

/*
 * Adds the tally of a test to the record. Converts first and last time to the console's clock, and
 * lists errors under this node's NID.
 */
static int tree_tally_locked(struct lst_tree *tree, const struct lst_tree_test *test)
{
	struct lst_tally *tally;
	int rc;

	if (!test->test || !test->test->tally)
		return 0;
	tally = kmemdup(test->test->tally, sizeof(*tally), GFP_NOWAIT);
	if (!tally)
		return -ENOMEM;
	if (tally->first_ns) {
		tally->first_ns -= tree->wave.clock_ns;
		tally->last_ns -= tree->wave.clock_ns;
	}
	lst_tally_bad(tally, tally->c[LST_T_lost] + tally->c[LST_T_corrupt] +
		      tally->c[LST_T_refused], &test->test->self);
	rc = lst_tree_record_tally(&tree->wave.rec, test->id, tally);
	kfree(tally);
	return rc;
}

static u32 sample_locked(struct lst_tree *tree)
{
	const struct lst_session *s = tree->st->session;
	struct lst_tree_record *rec = &tree->wave.rec;
	const struct lst_batch *batch;
	bool active = false;
	u32 i;

	list_for_each_entry(batch, &s->batches, link)
		active = active || batch->nr_active;
	rec->nr_active += active;
	rec->nr_started += tree->started_ns != 0;
	rec->late_ns = max(rec->late_ns, tree->late_ns);
	for (i = 0; i < tree->nr_tests; i++)
		if (tree_tally_locked(tree, &tree->test[i]))
			return ENOMEM;
	return 0;
}

static u32 act_locked(struct lst_tree *tree)
{
	if (!tree->st->session)
		return ESRCH;
	switch (tree->wave.op) {
	case LST_TREE_START:
		return start_at_locked(tree);
	case LST_TREE_SAMPLE:
		return sample_locked(tree);
	case LST_TREE_STOP:
		return stop_locked(tree);
	}
	return 0;
}

static void tree_status_count(struct lst_tree *tree, u32 status)
{
	struct lst_tree_record *rec = &tree->wave.rec;

	if (tree->place.head == LST_TREE_ROOT)
		return;
	if (status && !lst_set_add(&rec->refused, tree->place.head, 1)) {
		rec->nr_refused++;
		rec->status = max(rec->status, status);
	} else {
		rec->nr_done++;
	}
}

/* ---- this node's part ------------------------------------------------------------------------ */

/*
 * Does this node's part in the wave. If another wave was received meanwhile, does its part in that
 * wave.
 */
void lst_tree_own_run(struct lst_job *job)
{
	struct lst_tree *tree = container_of(job, struct lst_tree, own);
	bool is_root = tree->place.head == LST_TREE_ROOT;
	struct lst *st = tree->st;
	struct lst_body *body;
	u32 status = 0;
	u64 id;
	u8 op;

	spin_lock(&st->lock);
	id = tree->wave.id;
	op = tree->wave.op;
	body = tree->wave.body;
	if (body)
		body->refs++;
	spin_unlock(&st->lock);
	if (op == LST_TREE_TEST && !is_root)
		status = tree_spec_add(tree, body, id);
	spin_lock(&st->lock);
	lst_body_put(body);
	if (!tree->ending && tree->wave.id != id) {
		lst_queue_locked(st, &tree->own, lst_tree_own_run);
	} else {
		tree->owning = false;
		if (!tree->ending) {
			if (!status && !is_root)
				status = act_locked(tree);
			tree_status_count(tree, status);
			lst_wave_part_locked(tree);
		}
		lst_tree_close_locked(tree);
	}
	spin_unlock(&st->lock);
}
