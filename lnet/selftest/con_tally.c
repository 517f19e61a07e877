/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts of tests: the console queries them from nodes, adds them up, and prints them. */
#include "con.h"

/* Indices of the numbers that follow the tally record; see drill.h. */
enum { ASKED, MAX_ASKED, SERVED, TO, TO_FIRST, TO_LAST, FROM, FROM_FIRST, FROM_LAST, FOUND, BAD_OFF,
       BAD_LEN, BAD_SEQ, NR_NUMBERS };

static u64 rpc_number_at(const struct con_rpc *r, u32 ix)
{
	return get_unaligned_le64((const u8 *)r->bulk + LST_TALLY_WIRE + 8 * ix);
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Selects the counts to query: of clients or of servers, of all destinations (0) or of one. */
struct which {
	const struct con_batch *batch;
	const struct con_test *test;
	bool server;
	u32 dest;
};

static int ask_node(struct con_cmd *cmd, struct con_node *node, const struct which *w)
{
	const struct con_session *s = con_session(cmd);
	struct lst_msg req = { .type = LST_TALLY_REQ, .feats = s->feats,
			       .tally_req = { .sid = s->sid, .bid = w->batch->bid,
					      .test = w->test->index, .server = w->server,
					      .dest = w->dest } };
	struct con_rpc *r = con_ask_put(cmd, node, &req, LST_TALLY_BYTES);

	if (!r)
		return -ENOMEM;
	r->key = w->test->key;
	return 0;
}

static bool test_is_wanted(const struct con_cmd *cmd, const struct con_batch *batch,
			   const struct con_test *test)
{
	const char *name = con_text(cmd, "batch");
	s64 index = 0;

	con_number(cmd, "test", 1, S32_MAX, &index);
	return (!name || !strcmp(name, batch->name)) && (!index || index == test->index);
}

static int ask_test(struct con_cmd *cmd, const struct con_batch *batch,
		    const struct con_test *test, bool server)
{
	const struct con_group *group = server ? test->to : test->from;
	const struct which which = { batch, test, server, 0 };
	u32 i;
	int rc = 0;

	if (!test_is_wanted(cmd, batch, test) || (server && !test->plan))
		return 0;
	for (i = 0; i < group->nr && !rc; i++)
		rc = ask_node(cmd, group->node[i], &which);
	return rc;
}

static int ask_clients(struct con_cmd *cmd, const struct con_batch *batch,
		       const struct con_test *test)
{
	return ask_test(cmd, batch, test, false);
}

static int ask_servers(struct con_cmd *cmd, const struct con_batch *batch,
		       const struct con_test *test)
{
	return ask_test(cmd, batch, test, true);
}

static int ask_all(struct con_cmd *cmd, int (*ask)(struct con_cmd *, const struct con_batch *,
						   const struct con_test *))
{
	const struct con_batch *batch;
	const struct con_test *test;
	int rc = 0;

	list_for_each_entry(batch, &con_session(cmd)->batches, link)
		list_for_each_entry(test, &batch->tests, link)
			if (!rc)
				rc = ask(cmd, batch, test);
	return rc;
}

/* ---- output ---------------------------------------------------------------------------------- */

static const char *process_nid_text(const struct lnet_process *id, bool any, char *buf)
{
	if (!any)
		return "";
	return lnet_nid_str(&id->nid, buf);
}

static void say_times(struct con_cmd *cmd, const struct lst_tally *t)
{
	char a[LNET_NIDSTR_SIZE], b[LNET_NIDSTR_SIZE];

	con_say(cmd, "  times: %llu\n  sum_ns: \"0x%llx%016llx\"\n  sum_ns2: \"0x%llx%016llx\"\n",
		(unsigned long long)t->nr_times, (unsigned long long)t->sum_ns.hi,
		(unsigned long long)t->sum_ns.lo, (unsigned long long)t->sum_ns2.hi,
		(unsigned long long)t->sum_ns2.lo);
	con_say(cmd, "  min_ns: %llu\n  max_ns: %llu\n  min_at: \"%s\"\n  max_at: \"%s\"\n",
		(unsigned long long)t->min_ns, (unsigned long long)t->max_ns,
		process_nid_text(&t->min_at, t->nr_times, a),
		process_nid_text(&t->max_at, t->nr_times, b));
	con_say(cmd, "  first_ns: %llu\n  last_ns: %llu\n", (unsigned long long)t->first_ns,
		(unsigned long long)t->last_ns);
}

static void say_buckets(struct con_cmd *cmd, const struct lst_tally *t)
{
	const char *before = "  buckets: [";
	u32 i;

	for (i = 0; i < LST_TALLY_BUCKETS; i++) {
		if (!t->bucket[i])
			continue;
		con_say(cmd, "%s[%u, %llu]", before, i, (unsigned long long)t->bucket[i]);
		before = ", ";
	}
	con_say(cmd, t->nr_times ? "]\n" : "  buckets: []\n");
}

static void say_top(struct con_cmd *cmd, const char *name, const struct lst_top *list, u32 nr)
{
	char nid[LNET_NIDSTR_SIZE];
	u32 i;

	con_say(cmd, "  %s:%s\n", name, nr ? "" : " []");
	for (i = 0; i < nr; i++)
		con_say(cmd, "  - {nid: \"%s\", value: %llu}\n", lnet_nid_str(&list[i].id.nid, nid),
			(unsigned long long)list[i].value);
}

static void say_finding(struct con_cmd *cmd, const struct con_rpc *r, bool first)
{
	const u8 *nids = (const u8 *)r->bulk + LST_TALLY_WIRE + 8 * NR_NUMBERS;
	char at[LNET_NIDSTR_SIZE], from_text[LNET_NIDSTR_SIZE], to_text[LNET_NIDSTR_SIZE];
	struct lnet_nid from, to;

	memcpy(&from, nids, sizeof(from));
	memcpy(&to, nids + sizeof(from), sizeof(to));
	con_say(cmd, "%s  - {nid: \"%s\", nr: %llu, offset: %llu, length: %llu, seq: %llu, "
		"from: \"%s\", to: \"%s\"}\n", first ? "  found:\n" : "",
		lnet_nid_str(&r->node->id.nid, at), (unsigned long long)rpc_number_at(r, FOUND),
		(unsigned long long)rpc_number_at(r, BAD_OFF),
		(unsigned long long)rpc_number_at(r, BAD_LEN),
		(unsigned long long)rpc_number_at(r, BAD_SEQ),
		lnet_nid_is_any(&from) || !lnet_nid_is_sane(&from) ? "" :
		lnet_nid_str(&from, from_text),
		lnet_nid_is_any(&to) || !lnet_nid_is_sane(&to) ? "" : lnet_nid_str(&to, to_text));
}

#define FOUND_MAX	16U

/* Prints the first wrong data that each node of a test found, clients or servers. */
static void say_findings(struct con_cmd *cmd, const struct con_test *test)
{
	struct list_head *lists[] = { &cmd->kept, &cmd->answered };
	const struct con_rpc *r;
	u32 i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		list_for_each_entry(r, lists[i], link)
			if (r->key == test->key && !con_rpc_error(r) && rpc_number_at(r, FOUND) &&
			    nr++ < FOUND_MAX)
				say_finding(cmd, r, nr == 1);
}

static void tally_flow_print(struct con_cmd *cmd, const struct con_rpc *r, const char *name, u32 ix)
{
	con_say(cmd, ", %s_bytes: %llu, %s_first_ns: %llu, %s_last_ns: %llu", name,
		(unsigned long long)rpc_number_at(r, ix), name,
		(unsigned long long)rpc_number_at(r, ix + 1), name,
		(unsigned long long)rpc_number_at(r, ix + 2));
}

static void say_servers(struct con_cmd *cmd, const struct con_test *test)
{
	char nid[LNET_NIDSTR_SIZE];
	const struct con_rpc *r;

	if (!test->plan || !con_text(cmd, "servers"))
		return;
	con_say(cmd, "  servers:\n");
	list_for_each_entry(r, &cmd->answered, link) {
		if (r->key != test->key || con_rpc_error(r))
			continue;
		con_say(cmd, "  - {nid: \"%s\", served: %llu", lnet_nid_str(&r->node->id.nid, nid),
			(unsigned long long)rpc_number_at(r, SERVED));
		tally_flow_print(cmd, r, "to", TO);
		tally_flow_print(cmd, r, "from", FROM);
		con_say(cmd, "}\n");
	}
}

#define FAILED_MAX	64U

/* Sums of counts, with records of some KiB each. The stack is too small for this struct. */
struct sum {
	struct lst_tally all, one;
	u64 max_asked;
	struct lst_rail rail[LST_RAILS_MAX];
	/*
	 * Rails that failed. The list prevents double counts: a node that is client and server may
	 * report one rail twice.
	 */
	struct lst_rail failed[FAILED_MAX];
	u32 nr_failed;
	u64 resends;
};

/* Decodes the record of a reply. A record with impossible values counts as a failed reply. */
static bool is_record(struct con_rpc *r, struct sum *sum)
{
	u32 used;

	if (con_rpc_error(r))
		return false;
	if (!lst_tally_decode(&sum->one, r->bulk, LST_TALLY_WIRE, &used))
		return true;
	r->rc = -EBADMSG;
	return false;
}

static void tally_sum_add(struct sum *sum, const struct con_rpc *r)
{
	u64 bad = sum->one.c[LST_T_lost] + sum->one.c[LST_T_corrupt] + sum->one.c[LST_T_refused];

	/* Converts times on the node's clock to the console's clock. */
	if (sum->one.first_ns) {
		sum->one.first_ns = con_clock_here(&r->node->clock, sum->one.first_ns);
		sum->one.last_ns = con_clock_here(&r->node->clock, sum->one.last_ns);
	}
	lst_tally_bad(&sum->one, bad, &r->node->id);
	lst_tally_merge(&sum->all, &sum->one);
	sum->max_asked = max(sum->max_asked, rpc_number_at(r, MAX_ASKED));
}

/*
 * Returns @rail if a node reported it before. Otherwise returns NULL, and adds the rail to the list
 * if the list is not full.
 */
static struct lst_rail *rail_was_reported(struct sum *sum, const struct lst_rail *rail)
{
	struct lst_rail *r = sum->failed, *end = r + sum->nr_failed;

	for (; r < end; r++)
		if (lnet_nid_same(&r->here, &rail->here) && lnet_nid_same(&r->there, &rail->there))
			return r;
	if (sum->nr_failed == FAILED_MAX)
		return NULL;
	*r = *rail;
	sum->nr_failed++;
	return NULL;
}

static void add_resends(struct sum *sum, const struct lst_rail *rail)
{
	struct lst_rail *before = rail_was_reported(sum, rail);

	if (!before) {
		sum->resends += rail->resends;
	} else if (rail->resends > before->resends) {
		sum->resends += rail->resends - before->resends;
		before->resends = rail->resends;
	}
}

/* Counts the retransmits of the clients and servers of a test. */
static void count_resends(const struct con_cmd *cmd, const struct con_test *test, struct sum *sum)
{
	const struct list_head *lists[] = { &cmd->kept, &cmd->answered };
	const struct con_rpc *r;
	u32 i, j, nr;

	sum->nr_failed = 0;
	sum->resends = 0;
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		list_for_each_entry(r, lists[i], link) {
			if (r->key != test->key || con_rpc_error(r))
				continue;
			nr = lst_rails_decode((const u8 *)r->bulk + LST_TALLY_RAILS, sum->rail);
			for (j = 0; j < nr; j++)
				if (sum->rail[j].resends)
					add_resends(sum, &sum->rail[j]);
		}
}

static void say_head(struct con_cmd *cmd, const char *batch, u32 test, const char *what)
{
	con_say(cmd, "- batch: \"%s\"\n  test: %u\n  what: %s\n", batch, test, what);
}

static void say_record(struct con_cmd *cmd, const struct lst_tally *t)
{
	u32 i;

	con_say(cmd, "  nodes: %llu\n", (unsigned long long)t->nr_nodes);
	for (i = 0; i < LST_NR_TALLIES; i++)
		con_say(cmd, "  %s: %llu\n", lst_tally_names[i], (unsigned long long)t->c[i]);
	say_times(cmd, t);
	say_buckets(cmd, t);
	say_top(cmd, "slow", t->slow, t->nr_slow);
	say_top(cmd, "bad", t->bad, t->nr_bad);
}

void con_tally_say(struct con_cmd *cmd, const char *batch, u32 test, const char *what,
		   const struct lst_tally *t)
{
	say_head(cmd, batch, test, what);
	say_record(cmd, t);
}

static void say_test(struct con_cmd *cmd, const struct con_batch *batch,
		     const struct con_test *test, struct sum *sum)
{
	struct con_rpc *r;

	lst_tally_init(&sum->all);
	sum->max_asked = 0;
	list_for_each_entry(r, &cmd->kept, link)
		if (r->key == test->key && is_record(r, sum))
			tally_sum_add(sum, r);
	con_tally_say(cmd, batch->name, test->index, con_drill_type(test), &sum->all);
	if (test->plan) {
		count_resends(cmd, test, sum);
		con_say(cmd, "  most_at_once: %llu\n  resends: %llu\n",
			(unsigned long long)sum->max_asked, (unsigned long long)sum->resends);
	}
	say_findings(cmd, test);
	say_servers(cmd, test);
}

/* Writes one item for each pair of client and server. */
static void say_pairs(struct con_cmd *cmd, const struct con_batch *batch,
		      const struct con_test *test, struct sum *sum)
{
	char from[LNET_NIDSTR_SIZE], to[LNET_NIDSTR_SIZE];
	struct lnet_nid dest;
	struct con_rpc *r;

	list_for_each_entry(r, &cmd->answered, link) {
		if (r->key != test->key || !is_record(r, sum))
			continue;
		memcpy(&dest, (u8 *)r->bulk + LST_TALLY_WIRE + LST_TALLY_NUMBERS +
		       2 * sizeof(dest), sizeof(dest));
		if (!lnet_nid_is_sane(&dest))
			continue;
		lst_tally_init(&sum->all);
		tally_sum_add(sum, r);
		say_head(cmd, batch->name, test->index, con_drill_type(test));
		con_say(cmd, "  from: \"%s\"\n  to: \"%s\"\n", lnet_nid_str(&r->node->id.nid, from),
			lnet_nid_str(&dest, to));
		say_record(cmd, &sum->all);
	}
}

static void say_health(struct con_cmd *cmd, const char *name, u64 health)
{
	if (health == LST_UNKNOWN)
		con_say(cmd, ", %s: null", name);
	else
		con_say(cmd, ", %s: %llu", name, (unsigned long long)health);
}

static void say_rail(struct con_cmd *cmd, const struct con_batch *batch,
		     const struct con_test *test, const struct lst_rail *rail)
{
	char here[LNET_NIDSTR_SIZE], there[LNET_NIDSTR_SIZE];
	bool any = lnet_nid_is_any(&rail->here);

	con_say(cmd, "- {batch: \"%s\", test: %u, ni: \"%s\", peer: \"%s\", answers: %llu, "
		"bytes_out: %llu, bytes_in: %llu, ", batch->name, test->index,
		any ? "others" : lnet_nid_str(&rail->here, here),
		any ? "others" : lnet_nid_str(&rail->there, there),
		(unsigned long long)rail->nr_times, (unsigned long long)rail->bytes_out,
		(unsigned long long)rail->bytes_in);
	con_say(cmd, "min_ns: %llu, mean_ns: %llu, max_ns: %llu, resends: %llu",
		(unsigned long long)rail->min_ns,
		(unsigned long long)(rail->nr_times ? div64_u64(rail->sum_ns, rail->nr_times) : 0),
		(unsigned long long)rail->max_ns, (unsigned long long)rail->resends);
	say_health(cmd, "health_before", rail->health_before);
	say_health(cmd, "health", rail->health);
	con_say(cmd, "}\n");
}

/* Is @rail to be printed? Servers count no replies, so only their failed rails are printed. */
static bool rail_is_reported(struct sum *sum, const struct lst_rail *rail, bool server)
{
	bool failed = rail->resends || rail->health != rail->health_before;

	return failed ? !rail_was_reported(sum, rail) : !server;
}

static u32 say_rails(struct con_cmd *cmd, const struct con_batch *batch,
		     const struct con_test *test, struct sum *sum, u32 said)
{
	const struct list_head *lists[] = { &cmd->kept, &cmd->answered };
	const struct con_rpc *r;
	u32 i, j, nr;

	sum->nr_failed = 0;
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		list_for_each_entry(r, lists[i], link) {
			if (r->key != test->key || con_rpc_error(r))
				continue;
			nr = lst_rails_decode((const u8 *)r->bulk + LST_TALLY_RAILS, sum->rail);
			for (j = 0; j < nr; j++) {
				if (!rail_is_reported(sum, &sum->rail[j], i))
					continue;
				con_say(cmd, said++ ? "" : "rails:\n");
				say_rail(cmd, batch, test, &sum->rail[j]);
			}
		}
	return said;
}

static bool is_named(const struct con_cmd *cmd, const struct con_rpc *until)
{
	const struct con_rpc *r;

	list_for_each_entry(r, &cmd->kept, link) {
		if (r == until)
			return false;
		if (r->node == until->node && con_rpc_error(r))
			return true;
	}
	return false;
}

static void say_missing(struct con_cmd *cmd)
{
	char nid[LNET_NIDSTR_SIZE];
	const char *before = "";
	const struct con_rpc *r;

	con_say(cmd, "missing: [");
	list_for_each_entry(r, &cmd->kept, link) {
		if (!con_rpc_error(r) || is_named(cmd, r))
			continue;
		con_say(cmd, "%s\"%s\"", before, lnet_nid_str(&r->node->id.nid, nid));
		before = ", ";
	}
	con_say(cmd, "]\n");
}

static int tallies_print(struct con_cmd *cmd)
{
	struct sum *sum = kmalloc(sizeof(*sum), GFP_NOWAIT);
	const struct con_batch *batch;
	const struct con_test *test;
	bool pairs = con_text(cmd, "pairs");
	u32 said = 0;

	if (!sum)
		return -ENOMEM;
	con_say(cmd, "tally:%s\n", list_empty(pairs ? &cmd->answered : &cmd->kept) ? " []" : "");
	list_for_each_entry(batch, &con_session(cmd)->batches, link)
		list_for_each_entry(test, &batch->tests, link)
			if (test_is_wanted(cmd, batch, test))
				(pairs ? say_pairs : say_test)(cmd, batch, test, sum);
	list_for_each_entry(batch, &con_session(cmd)->batches, link)
		list_for_each_entry(test, &batch->tests, link)
			if (con_text(cmd, "rails") && !pairs)
				said = say_rails(cmd, batch, test, sum, said);
	kfree(sum);
	say_missing(cmd);
	return 0;
}

#define PAIRS_MAX	4096U

/* Queries each client for its counts of each of its servers. */
static int ask_pairs(struct con_cmd *cmd, const struct con_batch *batch,
		     const struct con_test *test)
{
	struct which which = { batch, test, false, 0 };
	const struct con_rpc *r;
	int rc = 0;

	list_for_each_entry(r, &cmd->kept, link) {
		if (r->key != test->key || con_rpc_error(r))
			continue;
		for (which.dest = 1; which.dest <= r->rpy.tally_rpy.nr_dests && !rc; which.dest++)
			rc = cmd->nr_left < PAIRS_MAX ? ask_node(cmd, r->node, &which) : -E2BIG;
	}
	return rc;
}

static void tally_clocks_update(struct con_cmd *cmd)
{
	struct con_rpc *r;

	list_for_each_entry(r, &cmd->answered, link)
		if (!con_rpc_error(r))
			con_clock_heard(&r->node->clock, r->rpc.start_ns, r->rpy.tally_rpy.got_ns,
					r->rpc.end_ns);
}

static int client_tallies_received(struct con_cmd *cmd)
{
	int rc;

	tally_clocks_update(cmd);
	list_splice_tail_init(&cmd->answered, &cmd->kept);
	rc = ask_all(cmd, con_text(cmd, "pairs") ? ask_pairs : ask_servers);
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, tallies_print);
}

/*
 * Arguments: batch, test (missing: all tests), servers, rails, pairs. servers=1 adds the data moved
 * by each server, rails=1 the traffic of each pair of interfaces, pairs=1 each client and server
 * separately.
 */
int con_tally(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	const char *name = con_text(cmd, "batch");
	s64 index = 0;
	int rc;

	if (name && !con_batch_find(s, name))
		return -ENOENT;
	if (con_number(cmd, "test", 1, S32_MAX, &index))
		return -EINVAL;
	rc = ask_all(cmd, ask_clients);
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, client_tallies_received);
}
