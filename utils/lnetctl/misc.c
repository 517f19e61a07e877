/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands debug and service-id, and the helpers that set up the system. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <lnet/lnet.h>
#include "tool.h"

/* ---- debug ----------------------------------------------------------------------------------- */

static int run_recovery(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc;

	rc = lnetctl_recovery_show(t->c, tool_opt(t, "peer"), &doc);
	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static int run_peer(struct tool *t)
{
	const char *nid = tool_opt(t, "prim_nid") ? tool_opt(t, "prim_nid") : tool_opt(t, "nid");

	return tool_done(t, lnetctl_peer_log(t->c, nid));
}

static int run_nidlist(struct tool *t)
{
	const char *list = t->rest[0], *nid = t->nr_rest > 1 ? t->rest[1] : NULL;
	int matches = lnetctl_nidlist_match(list, nid);
	bool is_bad = lnetctl_nidlist_match(list, NULL) < 0;

	if (matches < 0)
		return tool_refuse("debug", "nidlist", matches,
				   "cannot parse %s '%s' (expected one such as %s)",
				   is_bad ? "nidlist" : "NID", is_bad ? list : nid,
				   is_bad ? "10.0.[1-4].*@tcp" : "10.0.0.1@tcp");
	printf("nidlist parsed to: %s\n", list);
	if (nid)
		printf("%s %s nidlist %s\n", nid, matches ? "matches" : "does not match", list);
	return 0;
}

static int run_record_start(struct tool *t)
{
	const char *text = tool_opt(t, "size");
	uint64_t bytes = 0;

	if (text && (lnet_tunable_parse("record_size", text, &bytes) || !bytes))
		return tool_usage("--size must be a number of bytes, as 16M or 64k, not '%s'",
				  text);
	return tool_done(t, lnetctl_record_start(t->c, bytes));
}

static int run_record_stop(struct tool *t)
{
	return tool_done(t, lnetctl_record_stop(t->c));
}

static int run_record_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_record_show(t->c, &doc);

	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static int run_record_dump(struct tool *t)
{
	return tool_done(t, lnetctl_record_dump(t->c, t->rest[0]));
}

static const struct opt record_start_opts[] = {
	{ "size", 's', ARG_TEXT, "memory for trace records, in bytes (16M, 64k); default 16M",
	  .form = "a number of bytes, as 16M or 64k" },
	{ .name = NULL }
};
static const struct command record_commands[] = {
	{ "start", "start the flight recorder, which stores inputs and decisions of the node",
	  run_record_start, record_start_opts },
	{ "stop", "stop the flight recorder; its trace records remain", run_record_stop },
	{ "show", "show size and use of the flight recorder", run_record_show },
	{ "dump", "dump FILE: write the trace records to FILE, which `lnetsim --replay' reads",
	  run_record_dump, .words_min = 1, .words_max = 1, .word = "FILE" },
	{ .name = NULL }
};

static const struct opt recovery_opts[] = {
	{ "local", 'l', ARG_NONE, "show interfaces of this node" },
	{ "peer", 'p', ARG_NONE, "show interfaces of peers" },
	{ .name = NULL }
};
static const struct opt peer_opts[] = {
	{ "nid", 'k', ARG_NID, "any NID of the peer" },
	{ "prim_nid", 'p', ARG_NID, "the same as --nid" },
	{ .name = NULL }
};
const struct command debug_commands[] = {
	{ "recovery", "show interfaces with less than full health", run_recovery, recovery_opts,
	  .clash = "local peer", .need = "local peer" },
	{ "peer", "write the state of a peer to the log of the node", run_peer, peer_opts,
	  .clash = "nid prim_nid", .need = "nid prim_nid" },
	{ "record", "record {start | stop | show | dump}", .sub = record_commands },
	{ "nidlist",
	  "nidlist PATTERN [NID]: show how PATTERN is parsed, and whether NID matches it",
	  run_nidlist, .offline = true, .raw = true, .words_min = 1, .words_max = 2,
	  .word = "PATTERN [NID]" },
	{ .name = NULL }
};

/* ---- service-id, setup ----------------------------------------------------------------------- */

/* Prints the ID as plain text, because documents have no hexadecimal numbers. */
int run_service_id(struct tool *t)
{
	uint64_t id = lnetctl_service_id();

	if (t->json)
		printf("{\n  \"service_id\": {\n    \"value\": %" PRIu64 "\n  }\n}\n", id);
	else
		printf("service_id:\n    value: 0x%" PRIx64 "\n", id);
	return 0;
}

static int setup(const char *object, int rc, const char *why)
{
	return rc ? tool_refuse("manage", object, rc, "\"%s\"", why) : 0;
}

int run_setup_mrrouting(struct tool *t)
{
	char why[200];

	(void)t;
	return setup("setup-mrrouting", lnetctl_setup_mrrouting(why, sizeof(why)), why);
}

int run_setup_sysctl(struct tool *t)
{
	char why[200];

	(void)t;
	return setup("setup-sysctl", lnetctl_setup_sysctl(why, sizeof(why)), why);
}
