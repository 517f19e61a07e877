/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transactions of management: all requests take effect or none does, whatever fails in between.
 * Also interfaces that are configured before they exist.
 */
#include "control/command.h"
#include "ctl_world.h"

static struct lnetctl_node *parse(const char *text)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	struct lnetctl_node *doc;
	char why[200];

	UNIT_EQUAL(lnetctl_yaml_read(in, &doc, why, sizeof(why)), 0, "YAML");
	fclose(in);
	return doc;
}

static int import(struct world *w, const char *text, enum lnetctl_import how)
{
	struct lnetctl_node *doc = parse(text);
	int rc = lnetctl_import(w->c, FILE_OF(doc, "file"), how, NULL);

	lnetctl_doc_free(doc);
	return rc;
}

static int apply(struct world *w, const char *text)
{
	struct lnetctl_node *doc = parse(text);
	int rc = lnetctl_apply(w->c, FILE_OF(doc, "file"), NULL);

	lnetctl_doc_free(doc);
	return rc;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the configuration as a text; the caller frees it with free(). */
static char *export_of(struct world *w)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	UNIT_EQUAL(lnetctl_export(w->c, LNETCTL_EXPORT_BACKUP, out), 0, "export");
	fclose(out);
	return text;
}

/* The same with its lines sorted, because an apply adds its parts at the end. */
static char *state_of(struct world *w)
{
	char *text = export_of(w), *sorted = NULL, *lines[2000], *line, *rest;
	size_t len, nr = 0, i;
	FILE *out;

	for (line = strtok_r(text, "\n", &rest); line && nr < ARRAY_SIZE(lines);
	     line = strtok_r(NULL, "\n", &rest))
		lines[nr++] = line;
	qsort(lines, nr, sizeof(*lines), by_text);
	out = open_memstream(&sorted, &len);
	for (i = 0; i < nr; i++)
		fprintf(out, "%s\n", lines[i]);
	fclose(out);
	free(text);
	return sorted;
}

#define NI(name, credits)				\
	"    - interfaces: { 0: " name " }\n"		\
	"      tunables: { credits: " credits " }\n"
#define NIDS(a, b) "  peer ni: [ { nid: " a " }, { nid: " b " } ]\n"

static const char old_text[] =
	"net:\n- net type: tcp\n  local NI(s):\n" NI("eth1", "64") NI("eth2", "64")
	"- net type: tcp1\n  local NI(s):\n" NI("eth3", "64") NI("late", "17")
	"peer:\n"
	"- primary nid: 10.1.0.1@tcp\n" NIDS("10.1.0.2@tcp", "10.1.0.3@tcp1")
	"- primary nid: 10.1.1.1@tcp\n  Multi-Rail: false\n"
	"fault:\n- { rule_type: drop, fa_src: '*', fa_dst: 10.1.0.1@tcp, da_rate: 7 }\n"
	"- { rule_type: drop, fa_src: '*', fa_dst: 10.1.0.1@tcp, da_rate: 8 }\n"
	"faults:\n- { kind: cut, seed: 1, dest: 10.1.0.1@tcp, to: 60m, name: a }\n"
	"- { kind: reorder, source: '*', seed: 2, delay: 20ms }\n"
	"- { kind: flap, dest: '*', seed: 3, period: 1s }\n"
	"udsp:\n- { idx: 0, src: tcp, action: { priority: 4 } }\n- { dst: tcp1, priority: 0 }\n"
	"global:\n  retry_count: 5\n";

/* Every value that can differ does. */
static const char new_text[] =
	"net:\n- net type: tcp\n  local NI(s):\n" NI("eth1", "32") NI("eth4", "64")
	"- net type: tcp2\n  local NI(s):\n" NI("eth3", "64")
	"peer:\n"
	"- primary nid: 10.1.0.1@tcp\n" NIDS("10.1.0.4@tcp", "10.1.0.3@tcp1")
	"- primary nid: 10.1.0.2@tcp\n"
	"- primary nid: 10.1.1.1@tcp\n  peer ni: [ { nid: 10.1.1.2@tcp } ]\n"
	"fault:\n- { rule_type: delay, fa_src: '*', fa_dst: '*', la_rate: 2, la_latency: 1 }\n"
	"faults:\n- { kind: reorder, source: '*', seed: 2, delay: 20ms }\n"
	"- { kind: drop, source: '*', seed: 4, name: a }\n"
	"- { kind: partition, seed: 5, left: [ 10.1.0.1@tcp, '*@tcp1' ], right: '*' }\n"
	"udsp:\n- { src: tcp, dst: '10.1.*.*@tcp' }\n- { idx: 1, src: tcp, priority: 0 }\n"
	"global:\n  retry_count: 1\n  health_step: 9\n";

static void expect_state(struct world *w, const char *want, const char *what)
{
	char *now = state_of(w);

	if (strcmp(now, want))
		UNIT_TEXT(now, want, what);
	else
		CU_PASS("as it should be");
	free(now);
}

struct states {
	char *before, *after;
};

static void states_begin(struct world *w, struct states *s)
{
	UNIT_EQUAL(import(w, old_text, LNETCTL_IMPORT_ADD), 0, "the old configuration");
	s->before = state_of(w);
	UNIT_EQUAL(apply(w, new_text), 0, "the new one");
	s->after = state_of(w);
	CU_ASSERT(strcmp(s->before, s->after));
	UNIT_EQUAL(apply(w, old_text), 0, "and back");
}

static void states_end(struct states *s)
{
	free(s->before);
	free(s->after);
}

static void test_no_memory(void)
{
	unsigned int nth, nr_failed = 0, nr_done = 0;
	struct states s;
	struct world w;
	char what[32];

	ctl_world_begin(&w);
	states_begin(&w, &s);
	/* Tunables that only the new configuration names are not reset. */
	UNIT_EQUAL(lnetctl_set(w.c, "health_step", "1"), 0, "health_step");
	for (nth = 1; nr_done < 3; nth++) {
		int rc;

		unit_fail_alloc(nth);
		rc = apply(&w, new_text);
		unit_fail_alloc(0);
		snprintf(what, sizeof(what), "allocation %u", nth);
		expect_state(&w, rc ? s.before : s.after, what);
		if (rc)
			UNIT_EQUAL(rc, -ENOMEM, what);
		nr_failed += !!rc;
		nr_done += !rc;
		UNIT_EQUAL(apply(&w, old_text), 0, what);
		UNIT_EQUAL(lnetctl_set(w.c, "health_step", "1"), 0, "health_step");
	}
	CU_ASSERT(nr_failed > 40);
	states_end(&s);
	ctl_world_end(&w);
}

/* The node rejects the last request of all, after it has carried out all others. */
static void test_undone(void)
{
	static const char bad[] = "- primary nid: 10.0.4.1@tcp\n";
	char *text, *peers, *order, *now;
	struct states s;
	struct world w;

	ctl_world_begin(&w);
	states_begin(&w, &s);
	UNIT_EQUAL(lnetctl_set(w.c, "health_step", "1"), 0, "health_step");
	peers = strstr(new_text, "fault:");
	CU_ASSERT(asprintf(&text, "%.*s%s%s", (int)(peers - new_text), new_text, bad, peers) > 0);
	UNIT_EQUAL(lnetctl_peer_add(w.c, "10.1.2.1@tcp", NULL, 0), 0, "one that stays");
	free(s.before);
	s.before = state_of(&w);
	order = export_of(&w);
	UNIT_EQUAL(apply(&w, text), -EINVAL, "its own NID as a peer");
	UNIT_TEXT(lnetctl_error(w.c)->text,
		  "file line 18 column 3: 10.0.4.1@tcp cannot be a peer: it is an interface of "
		  "this node",
		  "which");
	expect_state(&w, s.before, "undone");
	now = export_of(&w);
	UNIT_TEXT(now, order, "and all stands where it stood");
	free(now);
	free(order);
	free(text);
	states_end(&s);
	ctl_world_end(&w);
}

/* Errors are found before anything changes, and their messages name the line. */
static void test_checked(void)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "peer:\n- primary nid: 1.1.1.1@tcp\nnet:\n- net type: tcp\n  tunables:\n"
		  "    credits: 0\n  interfaces: { 0: eth5 }\n",
		  "file line 6 column 5: "
		  "invalid value '0' for key 'credits': it must be 1 to 1048576" },
		{ "peer:\n- primary nid: 1.1.1.1@tcp\n- primary nid: bogus\n",
		  "file line 3 column 3: 'bogus' is not a valid NID such as 10.0.0.1@tcp" },
		{ "peer:\n- primary nid: 1.1.1.1@tcp\nglobal:\n  retry_count: 256\n",
		  "file line 4 column 3: "
		  "invalid value '256' for key 'retry_count': "
		  "retry_count must be 0 to 255, not 256" },
		{ "retry_count: 256\n", "file line 1 column 1: "
					"invalid value '256' for key 'retry_count': "
					"retry_count must be 0 to 255, not 256" },
		{ "peer:\n- primary nid: 1.1.1.1@tcp\nfault:\n"
		  "- { rule_type: delay, fa_src: '*', la_rate: 1 }\n",
		  "file line 4 column 3: a delay rule needs a latency above 0" },
		{ "net:\n- net type: tcp\n  CPT: '[2]'\n  interfaces: { 0: eth5 }\n",
		  "file line 3 column 3: "
		  "invalid value '2' for key 'CPT': CPTs of this node are 0 to 1" },
		{ "net:\n- net type: gni\n  interfaces: { 0: eth5 }\n",
		  "file line 2 column 3: LND type not supported: no driver for net 'gni'" },
	};
	unsigned int i;
	struct world w;
	char *before;

	ctl_world_begin(&w);
	before = state_of(&w);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT(import(&w, rows[i].text, LNETCTL_IMPORT_ADD) < 0);
		UNIT_TEXT(lnetctl_error(w.c)->text, rows[i].words, "import");
		expect_state(&w, before, rows[i].words);
	}
	free(before);
	ctl_world_end(&w);
}

static int send(struct world *w, u8 cmd, u16 flags, u32 from)
{
	struct lnet_ctl_req req = { .cmd = cmd, .version = 5, .flags = flags, .from = from };
	struct lnet_ctl_err e;

	return lnet_control_do(&w->ctl, &req, &e);
}

static void test_senders(void)
{
	const u16 begin = LNET_NL_F_CREATE, commit = LNET_NL_F_REPLACE;
	const u16 staged = LNET_NL_F_STAGED | LNET_NL_F_REPLACE;
	struct world w;
	unsigned int i;

	ctl_world_begin(&w);
	UNIT_EQUAL(send(&w, LNET_NL_TUNABLES, staged, 1), -ESTALE, "nothing was begun");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, commit, 1), -ESTALE, "nor is there a commit");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, begin, 1), 0, "begin");
	UNIT_EQUAL(send(&w, LNET_NL_TUNABLES, staged, 1), 0, "part of it");
	UNIT_EQUAL(send(&w, LNET_NL_TUNABLES, staged, 2), -ESTALE, "not this one's");
	UNIT_EQUAL(send(&w, LNET_NL_CONFIGURE, LNET_NL_F_STAGED, 1), -EOPNOTSUPP, "unconfigure");
	UNIT_EQUAL(send(&w, LNET_NL_PEERS, staged, 1), -EOPNOTSUPP, "peer set");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, begin, 2), 0, "another one");
	UNIT_EQUAL(send(&w, LNET_NL_TUNABLES, staged, 1), -ESTALE, "the first is over");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, commit, 1), -ESTALE, "and has no commit");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, commit, 2), 0, "the second");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, commit, 2), -ESTALE, "once");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, begin, 2), 0, "begin");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, 0, 2), 0, "forget it");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, commit, 2), -ESTALE, "forgotten");
	for (i = 0; i < 2; i++) {
		UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, begin | (i ? LNET_NL_F_EXCL : 0), 1), 0,
			   "begin");
		UNIT_EQUAL(send(&w, LNET_NL_TUNABLES, LNET_NL_F_REPLACE, 2), 0, "a change");
		UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, commit, 1), i ? -ESTALE : 0,
			   "of what was read before it");
	}
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, begin | LNET_NL_F_EXCL, 1), 0, "begin");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, commit, 1), 0, "nobody changed anything");
	ctl_world_end(&w);
}

/*
 * A client without requests for a minute is removed with its requests, and gets an error if it
 * sends another one.
 */
static void test_silence(void)
{
	const u16 begin = LNET_NL_F_CREATE, commit = LNET_NL_F_REPLACE;
	const u16 staged = LNET_NL_F_STAGED | LNET_NL_F_REPLACE;
	struct world w;

	ctl_world_begin(&w);
	lnet_control_expire(&w.ctl);
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, begin, 1), 0, "begin");
	node_env.now_ns += 59 * (u64)NSEC_PER_SEC;
	lnet_control_expire(&w.ctl);
	UNIT_EQUAL(send(&w, LNET_NL_TUNABLES, staged, 1), 0, "in time");
	CU_ASSERT(lnet_ctl_trans_size(&w.ctl) > 0);
	node_env.now_ns += 59 * (u64)NSEC_PER_SEC;
	lnet_control_expire(&w.ctl);
	UNIT_EQUAL(send(&w, LNET_NL_TUNABLES, staged, 1), 0, "it counts from the last one");
	node_env.now_ns += 60 * (u64)NSEC_PER_SEC;
	lnet_control_expire(&w.ctl);
	UNIT_EQUAL(lnet_ctl_trans_size(&w.ctl), 0, "nothing is kept");
	CU_ASSERT_PTR_NULL(w.ctl.trans);
	UNIT_EQUAL(send(&w, LNET_NL_TUNABLES, staged, 1), -ESTALE, "it is over");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, commit, 1), -ESTALE, "it is over");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, begin, 1), 0, "begin again");
	UNIT_EQUAL(send(&w, LNET_NL_TRANSACTION, commit, 1), 0, "and end");
	ctl_world_end(&w);
}

static void test_waiting(void)
{
	static const char file[] = "net:\n- net type: tcp\n  local NI(s):\n" NI("late", "17");
	struct world w;
	char *before;

	ctl_world_begin(&w);
	UNIT_EQUAL(import(&w, file, LNETCTL_IMPORT_ADD), 0, "it may come");
	before = state_of(&w);
	CU_ASSERT(strstr(before, "0: late") && strstr(before, "credits: 17"));
	UNIT_EQUAL(apply(&w, file), 0, "as it is");
	expect_state(&w, before, "nothing to do");
	UNIT_EQUAL(import(&w, file, LNETCTL_IMPORT_ADD), -EEXIST, "twice");
	UNIT_EQUAL(lnet_control_join(&w.ctl), 0, "not yet");
	UNIT_EQUAL(w.ln->nr_nis, 1, "interfaces");
	UNIT_EQUAL(import(&w, file, LNETCTL_IMPORT_DEL), 0, "not any more");
	CU_ASSERT(!w.ctl.waiting);
	UNIT_EQUAL(import(&w, file, LNETCTL_IMPORT_ADD), 0, "again");
	w.late = true;
	UNIT_EQUAL(lnet_control_join(&w.ctl), 1, "there it is");
	UNIT_EQUAL(w.ln->nr_nis, 2, "interfaces");
	CU_ASSERT(!w.ctl.waiting);
	UNIT_EQUAL(apply(&w, file), 0, "the file is as before");
	UNIT_EQUAL(w.ln->nr_nis, 2, "interfaces");
	free(before);
	ctl_world_end(&w);
}

/* An export may hold a route whose interface was deleted: an import, and an undo, restore it. */
static void test_route_without_interface(void)
{
	static const char file[] = "net:\n- net type: tcp\n  local NI(s):\n" NI("eth4", "64")
		"route:\n- net: tcp9\n  gateway: 10.9.0.2@tcp8\n";
	static const char bad[] = "net:\n- net type: tcp\n  local NI(s):\n" NI("eth4", "64")
		"peer:\n- primary nid: 10.0.4.1@tcp\n";
	struct lnetctl_route route = { .net = "tcp9", .gateway = "10.9.0.2@tcp8",
				       .hops = LNETCTL_UNSET, .priority = LNETCTL_UNSET };
	struct world w;
	char *before;

	ctl_world_begin(&w);
	UNIT_EQUAL(lnetctl_route_add(w.c, &route), -EHOSTUNREACH, "alone");
	UNIT_EQUAL(import(&w, file, LNETCTL_IMPORT_ADD), 0, "in a transaction");
	before = state_of(&w);
	CU_ASSERT_PTR_NOT_NULL(strstr(before, "10.9.0.2@tcp8"));
	UNIT_EQUAL(apply(&w, bad), -EINVAL, "a configuration without it, with an error");
	expect_state(&w, before, "undone");
	free(before);
	ctl_world_end(&w);
}

UNIT_SUITE(transaction,
	{ "a route whose interface was deleted is restored", test_route_without_interface },
	{ "any allocation of an apply fails: the old or the new state", test_no_memory },
	{ "what a commit has done is undone", test_undone },
	{ "files are checked before anything changes", test_checked },
	{ "transactions belong to who begins them", test_senders },
	{ "transactions end with their senders", test_silence },
	{ "interfaces that are not there yet", test_waiting })
