/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command tree, and the commands that are one call of liblnetctl each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

#define END { .name = NULL }

/* ---- lnet ------------------------------------------------------------------------------------ */

/* These two commands exit with the errno of the node. */
static int configure_done(struct tool *t, int rc)
{
	if (!rc)
		return 0;
	tool_error_print(t);
	return tool_status(t, rc);
}

static int run_configure(struct tool *t)
{
	unsigned int flags = (tool_opt(t, "all") ? LNETCTL_CONF_ALL : 0) |
			     (tool_opt(t, "large") ? LNETCTL_CONF_LARGE : 0);

	return configure_done(t, lnetctl_configure(t->c, flags));
}

static int run_unconfigure(struct tool *t)
{
	return configure_done(t, lnetctl_unconfigure(t->c));
}

static const struct opt configure_opts[] = {
	{ "all", 'a', ARG_NONE, "load the nets that module parameters name" },
	{ "large", 'l', ARG_NONE, "interfaces may have IPv6 addresses" },
	END
};
static const struct command lnet_commands[] = {
	{ "configure", "bring LNet up with its loopback interface", run_configure, configure_opts },
	{ "unconfigure", "remove all interfaces, peers and rules", run_unconfigure },
	END
};

/* ---- ping ------------------------------------------------------------------------------------ */

static int run_ping(struct tool *t)
{
	const char *timeout = tool_opt(t, "timeout");
	struct lnetctl_node *doc;
	unsigned int ms = 0;
	char *nids;
	bool failed;
	int rc;

	/* 0 and more than 180 s are the node's limits, as in stock */
	if (timeout)
		lnetctl_ms_parse(timeout, &ms);
	nids = tool_words(t);
	if (!nids)
		return tool_refuse("manage", "ping", -ENOMEM, "out of memory");
	rc = lnetctl_ping(t->c, nids, tool_opt(t, "source"), ms, &doc);
	free(nids);
	failed = !rc && lnetctl_find(doc, "manage");
	rc = tool_show(t, rc, doc, LNETCTL_NARROW);
	return failed ? -1 : rc;
}

static const struct opt ping_opts[] = {
	{ "source", 's', ARG_NID, "NID of this node to ping from" },
	{ "timeout", 't', ARG_TIME,
	  "seconds to wait (5, 0.3) or 300ms; default: transaction_timeout", 0, TIME_DAY },
	END
};

static int run_discover(struct tool *t)
{
	char *nids = tool_words(t);
	struct lnetctl_node *doc;
	bool failed;
	int rc;

	if (!nids)
		return tool_refuse("manage", "discover", -ENOMEM, "out of memory");
	rc = lnetctl_discover(t->c, nids, tool_opt(t, "force"), &doc);
	free(nids);
	failed = !rc && lnetctl_find(doc, "manage");
	rc = tool_show(t, rc, doc, LNETCTL_NARROW);
	return failed ? -1 : rc;
}

static const struct opt discover_opts[] = {
	{ "force", 'f', ARG_NONE, "tell it our interfaces, too, though it knows them" },
	END
};

static int run_cpt_of_nid(struct tool *t)
{
	struct lnetctl_node *doc;
	char *nids = tool_words(t);
	int rc;

	if (!nids)
		return tool_refuse("show", "cpt-of-nid", -ENOMEM, "out of memory");
	rc = lnetctl_cpt_of_nid(t->c, nids, &doc);
	free(nids);
	return tool_show(t, rc, doc, LNETCTL_NARROW);
}

static int run_explain(struct tool *t)
{
	struct lnetctl_node *doc, *nets, *all, *part;
	int rc = lnetctl_explain(t->c, t->rest[0], &doc);

	if (rc || lnetctl_net_show(t->c, NULL, 0, false, &nets))
		return tool_show(t, rc, doc, LNETCTL_WIDE);
	all = tool_nis_up(nets) ? NULL : lnetctl_add_map(NULL, NULL);
	lnetctl_doc_free(nets);
	if (!all || !lnetctl_add_text(all, "usable", "no, all interfaces of this node are down"))
		return tool_show(t, rc, doc, LNETCTL_WIDE);
	while ((part = doc->first)) {
		lnetctl_take(doc, part);
		lnetctl_adopt(all, part);
	}
	lnetctl_doc_free(doc);
	return tool_show(t, rc, all, LNETCTL_WIDE);
}

/* ---- global, stats, node --------------------------------------------------------------------- */

static int run_global_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_global_show(t->c, &doc);

	return tool_show(t, rc, doc, LNETCTL_HAND);
}

static int run_stats_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_stats_show(t->c, &doc);

	return tool_show(t, rc, doc, LNETCTL_HAND);
}

static int run_stats_reset(struct tool *t)
{
	return tool_done(t, lnetctl_stats_reset(t->c));
}

static int run_node_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_node_show(t->c, &doc);

	return tool_show(t, rc, doc, LNETCTL_HAND);
}

static int run_node_list(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_nodes_list(&doc);

	if (rc)
		return tool_refuse("show", "node", rc, "%s", strerror(-rc));
	return tool_show(t, 0, doc, LNETCTL_HAND);
}

static int run_routing_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_routing_show(t->c, &doc);

	return tool_show(t, rc, doc, LNETCTL_HAND);
}

static const struct command global_commands[] = {
	{ "show", "show the tunables", run_global_show },
	END
};
static int run_limits_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_limits_show(t->c, tool_opt(t, "at-bound"), &doc);

	return tool_show(t, rc, doc, LNETCTL_HAND);
}

static const struct opt limits_opts[] = {
	{ "at-bound", 0, ARG_NONE, "only bounds that are reached now or have acted" },
	END
};
static const struct command limits_commands[] = {
	{ "show", "show how much of each bound is in use, and its largest user", run_limits_show,
	  limits_opts },
	END
};
static const struct command stats_commands[] = {
	{ "show", "show the statistics", run_stats_show },
	{ "reset", "start all statistics again", run_stats_reset },
	END
};
static const struct command node_commands[] = {
	{ "list", "list the nodes of this network namespace", run_node_list, .offline = true },
	{ "show", "show which node answers", run_node_show },
	END
};

/* ---- the tree -------------------------------------------------------------------------------- */

static const struct command routing_commands[] = {
	{ "show", "show what a router's buffers are, and whether it routes", run_routing_show },
	END
};

const struct command lnetctl_commands[] = {
	{ "lnet", "lnet {configure | unconfigure}", .sub = lnet_commands },
	{ "route", "route {add | del | show}", .sub = route_commands },
	{ "net", "net {add | del | show | set}", .sub = net_commands },
	{ "routing", "routing {show}", .sub = routing_commands },
	{ "set", "set NAME VALUE: set a tunable; `global show' lists them, 'default' is a value",
	  run_set_other, .sub = set_commands, .raw = true, .words_min = 1, .words_max = 2,
	  .word = "NAME VALUE" },
	{ "import", "import [--add | --del | --show | --exec] [FILE]", run_import, import_opts,
	  .words_max = 1, .word = "FILE", .word_arg = ARG_FILE, .clash = "add del show exec" },
	{ "export", "export [--backup] [FILE]", run_export, export_opts,
	  .words_max = 1, .word = "FILE", .word_arg = ARG_FILE },
	{ "plan", "plan FILE: show the changes that apply would make", run_plan, plan_opts,
	  .words_min = 1, .words_max = 1, .word = "FILE", .word_arg = ARG_FILE },
	{ "apply", "apply FILE: make the node equal to the file", run_apply, apply_opts,
	  .words_min = 1, .words_max = 1, .word = "FILE", .word_arg = ARG_FILE },
	{ "stats", "stats {show | reset}", .sub = stats_commands },
	{ "limits", "limits {show}", .sub = limits_commands },
	{ "debug", "debug {recovery | peer | record | nidlist}", .sub = debug_commands },
	{ "global", "global {show}", .sub = global_commands },
	{ "peer", "peer {add | del | show | list | set}", .sub = peer_commands },
	{ "ping", "ping [--source NID] [--timeout SECONDS] NID[,NID...]", run_ping, ping_opts,
	  .words_min = 1, .words_max = WORDS_ANY, .word = "NID", .word_arg = ARG_NIDS },
	{ "discover", "discover [--force] NID[,NID...]", run_discover, discover_opts,
	  .words_min = 1, .words_max = WORDS_ANY, .word = "NID", .word_arg = ARG_NIDS },
	{ "service-id", "print the service ID of o2ib", run_service_id, .offline = true },
	{ "udsp", "udsp {add | del | show}", .sub = udsp_commands },
	{ "fault", "fault KIND {add | del | show}, fault {show | import | export}",
	  .sub = fault_commands },
	{ "setup-mrrouting", "set up the system's routes for interfaces on one net",
	  run_setup_mrrouting, .offline = true },
	{ "setup-sysctl", "set up the system's neighbour tables for many peers", run_setup_sysctl,
	  .offline = true },
	{ "cpt-of-nid", "cpt-of-nid NID...: which CPT handles it", run_cpt_of_nid,
	  .words_min = 1, .words_max = WORDS_ANY, .word = "NID", .word_arg = ARG_NIDS },
	{ "node", "node {list | show}", .sub = node_commands },
	{ "explain", "explain NID: which path a request to a peer would take now, and why",
	  run_explain, .words_min = 1, .words_max = 1, .word = "NID", .word_arg = ARG_NID },
	{ "drill", "drill --peer NID: cut a rail for a while, and tell what requests noticed",
	  run_drill, drill_opts, .need = "peer" },
	{ "drain",
	  "drain [--wait [TIME]] NID...: take interfaces of this node out of service without loss",
	  run_drain, drain_opts,
	  .words_min = 1, .words_max = WORDS_ANY, .word = "NID", .word_arg = ARG_NIDS },
	{ "undrain", "undrain NID...: put drained interfaces back into service", run_undrain,
	  .words_min = 1, .words_max = WORDS_ANY, .word = "NID", .word_arg = ARG_NIDS },
	END
};
