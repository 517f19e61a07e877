/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command tree, and those commands that consist of one call of liblnetctl. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

#define END { .name = NULL }

/* ---- lnet ------------------------------------------------------------------------------------ */

/* Prints the result of lnet configure and unconfigure, which exit with the errno of the node. */
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
	{ "all", 'a', ARG_NONE,
	  "also add the interfaces that the module parameters networks or ip2nets name" },
	{ "large", 'l', ARG_NONE,
	  "accepted for scripts of stock LNet: IPv6 addresses are always permitted" },
	END
};
static const struct command lnet_commands[] = {
	{ "configure", "bring LNet up with its loopback interface", run_configure, configure_opts },
	{ "unconfigure", "remove all interfaces, peers, routes and rules of the node",
	  run_unconfigure },
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

	/*
	 * The node limits the timeout, as a stock node does. So this tool does not reject a timeout
	 * of 0, or of more than 180 s.
	 */
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
	  "time to wait for a reply, in seconds (5, 0.3) or with a unit (300ms); default: the "
	  "tunable transaction_timeout", 0, TIME_DAY },
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
	{ "force", 'f', ARG_NONE,
	  "push this node's interfaces to the peer even if the peer has the current list" },
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
	{ "show", "show all tunables with their values", run_global_show },
	END
};
static int run_limits_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_limits_show(t->c, tool_opt(t, "at-bound"), &doc);

	return tool_show(t, rc, doc, LNETCTL_HAND);
}

static const struct opt limits_opts[] = {
	{ "at-bound", 0, ARG_NONE,
	  "only bounds that are reached now or have been reached since the last reset" },
	END
};
static const struct command limits_commands[] = {
	{ "show",
	  "show each bound on resources with its largest use and the peer, address or interface "
	  "that has this use",
	  run_limits_show, limits_opts },
	END
};
static const struct command stats_commands[] = {
	{ "show", "show the counters of the node", run_stats_show },
	{ "reset", "set all counters of the node, its interfaces and peers to 0", run_stats_reset },
	END
};
static const struct command node_commands[] = {
	{ "list", "list the nodes of this network namespace", run_node_list, .offline = true },
	{ "show", "show name, version and process of the node that receives the commands",
	  run_node_show },
	END
};

/* ---- the tree -------------------------------------------------------------------------------- */

static const struct command routing_commands[] = {
	{ "show",
	  "show the sizes of the router buffer pools, and whether the node forwards messages",
	  run_routing_show },
	END
};

const struct command lnetctl_commands[] = {
	{ "lnet", "lnet {configure | unconfigure}", .sub = lnet_commands },
	{ "route", "route {add | del | show}", .sub = route_commands },
	{ "net", "net {add | del | show | set}", .sub = net_commands },
	{ "routing", "routing {show}", .sub = routing_commands },
	{ "set",
	  "set NAME VALUE: set a tunable; `global show' lists the tunables, and the VALUE "
	  "'default' restores the default",
	  run_set_other, .sub = set_commands, .raw = true, .words_min = 1, .words_max = 2,
	  .word = "NAME VALUE" },
	{ "import",
	  "import [--add | --del | --show | --exec] [FILE]: add, delete or show the objects that a "
	  "YAML file describes",
	  run_import, import_opts, .words_max = 1, .word = "FILE", .word_arg = ARG_FILE,
	  .clash = "add del show exec" },
	{ "export",
	  "export [--backup] [FILE]: write the configuration and state of the node as YAML",
	  run_export, export_opts, .words_max = 1, .word = "FILE", .word_arg = ARG_FILE },
	{ "plan", "plan FILE: show the changes that `apply' would make to the node", run_plan,
	  plan_opts, .words_min = 1, .words_max = 1, .word = "FILE", .word_arg = ARG_FILE },
	{ "apply",
	  "apply FILE: change the configuration of the node to that of the file, completely or not "
	  "at all",
	  run_apply, apply_opts, .words_min = 1, .words_max = 1, .word = "FILE",
	  .word_arg = ARG_FILE },
	{ "stats", "stats {show | reset}", .sub = stats_commands },
	{ "limits", "limits {show}", .sub = limits_commands },
	{ "debug", "debug {recovery | peer | record | nidlist}", .sub = debug_commands },
	{ "global", "global {show}", .sub = global_commands },
	{ "peer", "peer {add | del | show | list | set}", .sub = peer_commands },
	{ "ping",
	  "ping [--source NID] [--timeout SECONDS] NID[,NID...]: ping peers, and show the NIDs of "
	  "each",
	  run_ping, ping_opts, .words_min = 1, .words_max = WORDS_ANY, .word = "NID",
	  .word_arg = ARG_NIDS },
	{ "discover", "discover [--force] NID[,NID...]: learn the NIDs of peers, and show them",
	  run_discover, discover_opts, .words_min = 1, .words_max = WORDS_ANY, .word = "NID",
	  .word_arg = ARG_NIDS },
	{ "service-id", "print the service ID of InfiniBand nets (o2ib)", run_service_id,
	  .offline = true },
	{ "udsp", "udsp {add | del | show}", .sub = udsp_commands },
	{ "fault", "fault KIND {add | del | show}, fault {show | import | export}",
	  .sub = fault_commands },
	{ "setup-mrrouting",
	  "set up the system's IP routes for several interfaces on one IP subnet",
	  run_setup_mrrouting, .offline = true },
	{ "setup-sysctl", "set the sizes of the system's neighbour tables for many peers",
	  run_setup_sysctl, .offline = true },
	{ "cpt-of-nid", "cpt-of-nid NID...: show the CPT that handles messages of each NID",
	  run_cpt_of_nid, .words_min = 1, .words_max = WORDS_ANY, .word = "NID",
	  .word_arg = ARG_NIDS },
	{ "node", "node {list | show}", .sub = node_commands },
	{ "explain", "explain NID: show which path a request to a peer would use now, and why",
	  run_explain, .words_min = 1, .words_max = 1, .word = "NID", .word_arg = ARG_NID },
	{ "drill",
	  "drill --peer NID: cut one rail to a peer for some time, and report the effect on "
	  "requests",
	  run_drill, drill_opts, .need = "peer" },
	{ "drain",
	  "drain [--wait [TIME]] NID...: end the use of interfaces of this node without loss of "
	  "messages",
	  run_drain, drain_opts, .words_min = 1, .words_max = WORDS_ANY, .word = "NID",
	  .word_arg = ARG_NIDS },
	{ "undrain", "undrain NID...: use drained interfaces of this node again", run_undrain,
	  .words_min = 1, .words_max = WORDS_ANY, .word = "NID", .word_arg = ARG_NIDS },
	END
};
