/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command tree, and the commands that are one call of liblnetctl each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

#define END { .name = NULL }

/* ---- lnet ------------------------------------------------------------------------------------ */

/* These two give the node's own errno. */
static int configure_done(struct tool *t, int rc)
{
	if (rc)
		lnetctl_error_print(t->c, stderr);
	return rc;
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

/* ---- net ------------------------------------------------------------------------------------- */

static int net_target(struct tool *t, struct lnetctl_net *n, bool add)
{
	n->net = tool_opt(t, "net");
	n->interfaces = tool_opt(t, "if");
	n->nids = tool_opt(t, "nid");
	if (n->net && n->nids)
		return tool_missing("--net and --nid exclude each other");
	if (add && tool_opt(t, "ip2net"))
		return tool_missing("--ip2net is not supported yet");
	if (!n->net && !n->nids)
		return tool_missing(
			n->interfaces || !add
				? "missing mandatory parameters in NI config: 'net'"
				: "missing mandatory parameters in NI config: 'net , if'");
	if (add && n->net && !n->interfaces)
		return tool_missing("missing mandatory parameters in NI config: 'if': at least one "
				    "interface is needed");
	return 0;
}

/* Those that do not parse are ignored, as stock does; and so are values that mean nothing. */
static int64_t net_number(struct tool *t, const char *name, int64_t min)
{
	int64_t val = tool_num(t, name);

	return val < min ? LNETCTL_UNSET : val;
}

static int run_net_add(struct tool *t)
{
	struct lnetctl_net n;
	int rc;

	lnetctl_net_init(&n);
	rc = net_target(t, &n, true);
	if (rc)
		return rc;
	n.cpts = tool_opt(t, "cpt");
	n.peer_timeout = net_number(t, "peer-timeout", 0);
	n.peer_credits = net_number(t, "peer-credits", 1);
	n.peer_buffer_credits = net_number(t, "peer-buffer-credits", 1);
	n.credits = net_number(t, "credits", 1);
	n.conns_per_peer = tool_num(t, "conns-per-peer");
	n.tos = tool_num(t, "tos");
	if (tool_opt(t, "conns-per-peer") && (n.conns_per_peer < -1 || n.conns_per_peer > 127))
		return tool_refuse("ni", "add", -1, "cannot parse conns_per_peer value");
	if (tool_opt(t, "tos") && (n.tos < -1 || n.tos > 255))
		return tool_refuse("ni", "add", -EINVAL, "tos must be -1 to 255");
	return tool_done(t, lnetctl_net_add(t->c, &n));
}

static int run_net_del(struct tool *t)
{
	struct lnetctl_net n;
	int rc;

	lnetctl_net_init(&n);
	rc = net_target(t, &n, false);
	return rc ? rc : tool_done(t, lnetctl_net_del(t->c, &n));
}

static unsigned int level(struct tool *t)
{
	int64_t val = tool_num(t, "verbose");

	return val == LNETCTL_UNSET ? 0 : (unsigned int)val & 0xff;
}

static int run_net_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_net_show(t->c, tool_opt(t, "net"), level(t), false, &doc);

	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static int run_net_set(struct tool *t)
{
	const char *nid = tool_opt(t, "nid"), *link = tool_opt(t, "link");
	int64_t health = tool_num(t, "health"), conns = tool_num(t, "conns-per-peer");

	if (tool_opt(t, "all") && nid)
		return tool_missing("--all and --nid exclude each other");
	if (tool_opt(t, "lnd-timeout"))
		return lnetctl_set(t->c, "sock_timeout", tool_opt(t, "lnd-timeout"))
			       ? tool_done(t, -EINVAL)
			       : 0;
	if (tool_opt(t, "conns-per-peer") && (conns < -1 || conns > 127))
		return tool_refuse("ni", "set", -1, "cannot parse conns_per_peer value");
	if (!tool_opt(t, "all") && !nid)
		return tool_missing("missing mandatory parameters: 'nid' or 'all'");
	if (link && nid)
		return tool_done(t, lnetctl_net_link(t->c, nid, strcmp(link, "down")));
	if (conns == -1)
		conns = LNETCTL_UNSET;
	if (health == LNETCTL_UNSET && conns == LNETCTL_UNSET)
		return 0;
	return tool_done(t, lnetctl_net_set(t->c, nid, health, conns));
}

static const struct opt net_add_opts[] = {
	{ "net", 'n', ARG_NEEDED, "net name, as tcp or tcp1" },
	{ "if", 'i', ARG_NEEDED, "interfaces, as eth0,eth1[0,1]" },
	{ "nid", 0, ARG_NEEDED, "NIDs to have, instead of net and interfaces" },
	{ "ip2net", 'p', ARG_NEEDED, "not supported yet" },
	{ "peer-timeout", 't', ARG_NEEDED, "seconds until a silent peer counts as dead; 0: never" },
	{ "peer-credits", 'c', ARG_NEEDED, "messages under way to one peer interface" },
	{ "peer-buffer-credits", 'b', ARG_NEEDED, "router buffers one peer may hold" },
	{ "credits", 'r', ARG_NEEDED, "messages under way over the interface" },
	{ "cpt", 's', ARG_NEEDED, "CPTs to use, as [0,1]" },
	{ "conns-per-peer", 'm', ARG_NEEDED, "connections of a kind per peer; 0: by link speed" },
	{ "skip-mr-route-setup", 'k', ARG_NONE, "accepted; routes are not touched" },
	{ "auth-key", 'a', ARG_NEEDED, "accepted, for kfi nets" },
	{ "traffic-class", 'T', ARG_NEEDED, "accepted, for kfi nets" },
	{ "tos", 0, ARG_NEEDED, "IP type of service, -1: default" },
	END
};
static const struct opt net_del_opts[] = {
	{ "net", 'n', ARG_NEEDED, "net name" },
	{ "if", 'i', ARG_NEEDED, "only these interfaces of it" },
	{ "nid", 0, ARG_NEEDED, "NIDs, instead of net and interfaces" },
	END
};
static const struct opt net_show_opts[] = {
	{ "net", 'n', ARG_NEEDED, "only this net" },
	{ "verbose", 'v', ARG_LEVEL, "how much: 0 to 5" },
	END
};
static const struct opt net_set_opts[] = {
	{ "nid", 'n', ARG_NEEDED, "NID of the interface" },
	{ "all", 'a', ARG_NONE, "all interfaces" },
	{ "health", 't', ARG_NEEDED, "health, 0 to 1000" },
	{ "conns-per-peer", 'm', ARG_NEEDED, "connections of a kind per peer" },
	{ "net", 'i', ARG_NEEDED, "net name, for --lnd-timeout" },
	{ "lnd-timeout", 'l', ARG_NEEDED, "seconds until a connection without progress is closed" },
	{ "link", 0, ARG_NEEDED, "down: as if the link went down; up: undo it" },
	END
};
static const struct command net_commands[] = {
	{ "add", "add an interface", run_net_add, net_add_opts },
	{ "del", "delete interfaces", run_net_del, net_del_opts },
	{ "set", "set health or connections of interfaces", run_net_set, net_set_opts },
	{ "show", "show interfaces", run_net_show, net_show_opts },
	END
};

/* ---- peer ------------------------------------------------------------------------------------ */

static int run_peer_add(struct tool *t)
{
	unsigned int flags = (tool_opt(t, "non_mr") ? LNETCTL_PEER_NON_MR : 0) |
			     (tool_opt(t, "lock_prim") ? LNETCTL_PEER_LOCK : 0);

	if (!tool_opt(t, "prim_nid"))
		return tool_missing("missing mandatory parameters: 'prim_nid'");
	return tool_done(
		t, lnetctl_peer_add(t->c, tool_opt(t, "prim_nid"), tool_opt(t, "nid"), flags));
}

static int run_peer_del(struct tool *t)
{
	unsigned int flags = tool_opt(t, "force") ? LNETCTL_PEER_FORCE : 0;

	if (!tool_opt(t, "prim_nid"))
		return tool_missing("missing mandatory parameters: 'prim_nid'");
	return tool_done(
		t, lnetctl_peer_del(t->c, tool_opt(t, "prim_nid"), tool_opt(t, "nid"), flags));
}

static int run_peer_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_peer_show(t->c, tool_opt(t, "nid"), level(t), false, &doc);

	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static int run_peer_list(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_peer_list(t->c, &doc);

	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static int run_peer_set(struct tool *t)
{
	const char *nid = tool_opt(t, "nid");
	int64_t health = tool_num(t, "health"), state = tool_num(t, "state");

	if (tool_opt(t, "all") && nid)
		return tool_missing("--all and --nid exclude each other");
	if (!tool_opt(t, "all") && !nid)
		return tool_missing("missing mandatory parameters: 'nid' or 'all'");
	if (health == LNETCTL_UNSET && state == LNETCTL_UNSET)
		return 0;
	return tool_done(t, lnetctl_peer_set(t->c, nid, health, state));
}

static const struct opt peer_add_opts[] = {
	{ "prim_nid", 'k', ARG_NEEDED, "primary NID of the peer" },
	{ "nid", 'n', ARG_NEEDED, "further NIDs, as 10.0.0.[2-3]@tcp" },
	{ "non_mr", 0, ARG_NONE, "the peer is not multi-rail" },
	{ "lock_prim", 'l', ARG_NONE, "keep the primary NID whatever the peer says" },
	END
};
static const struct opt peer_del_opts[] = {
	{ "prim_nid", 'k', ARG_NEEDED, "primary NID of the peer" },
	{ "nid", 'n', ARG_NEEDED, "only these NIDs of it" },
	{ "force", 'f', ARG_NONE, "even if its primary NID is locked" },
	END
};
static const struct opt peer_show_opts[] = {
	{ "nid", 'n', ARG_NEEDED, "only the peer with this NID" },
	{ "verbose", 'v', ARG_LEVEL, "how much: 0 to 5" },
	END
};
static const struct opt peer_set_opts[] = {
	{ "nid", 'n', ARG_NEEDED, "NID of the peer's interface" },
	{ "all", 'a', ARG_NONE, "all interfaces of all peers" },
	{ "health", 't', ARG_NEEDED, "health, 0 to 1000" },
	{ "state", 's', ARG_NEEDED, "state bits" },
	END
};
static const struct command peer_commands[] = {
	{ "add", "add a peer, or NIDs to one", run_peer_add, peer_add_opts },
	{ "del", "delete a peer, or NIDs of one", run_peer_del, peer_del_opts },
	{ "show", "show peers", run_peer_show, peer_show_opts },
	{ "list", "list the primary NIDs of all peers", run_peer_list },
	{ "set", "set health of interfaces of peers", run_peer_set, peer_set_opts },
	END
};

/* ---- ping ------------------------------------------------------------------------------------ */

/* Words become one list; NULL: there are none, or no memory. */
static char *rest_join(struct tool *t)
{
	char *list = NULL, *longer;
	int i;

	for (i = 0; i < t->nr_rest; i++) {
		int len = asprintf(&longer, "%s%s%s", list ? list : "", list ? "," : "",
				   t->rest[i]);

		free(list);
		if (len < 0)
			return NULL;
		list = longer;
	}
	return list;
}

static int run_ping(struct tool *t)
{
	const char *timeout = tool_opt(t, "timeout");
	struct lnetctl_node *doc;
	unsigned int ms = 0;
	char *nids;
	bool failed;
	int rc;

	if (timeout && lnetctl_ms_parse(timeout, &ms))
		return tool_refuse("parser", "ping", -1, "cannot parse timeout value '%s'",
				   timeout);
	nids = rest_join(t);
	if (!nids) {
		puts(t->nr_rest ? "failed to ping: Cannot allocate memory" :
				  "Missing nid argument");
		return -1;
	}
	rc = lnetctl_ping(t->c, nids, tool_opt(t, "source"), ms, &doc);
	free(nids);
	failed = !rc && lnetctl_find(doc, "manage");
	rc = tool_show(t, rc, doc, LNETCTL_NARROW);
	return failed ? -1 : rc;
}

static const struct opt ping_opts[] = {
	{ "source", 's', ARG_NEEDED, "NID of this node to ping from" },
	{ "timeout", 't', ARG_NEEDED,
	  "seconds to wait (5, 0.3) or 300ms; default: transaction_timeout" },
	END
};

static int run_cpt_of_nid(struct tool *t)
{
	struct lnetctl_node *doc;
	char *nids = rest_join(t);
	int rc;

	if (!nids)
		return tool_missing("Missing nid argument");
	rc = lnetctl_cpt_of_nid(t->c, nids, &doc);
	free(nids);
	return tool_show(t, rc, doc, LNETCTL_NARROW);
}

/* ---- set, global, stats, debug, node --------------------------------------------------------- */

static int run_set(struct tool *t)
{
	char words[64], *at;
	int rc;

	if (t->nr_rest != 2) {
		tool_help(t->cmd, stdout);
		return -EINVAL;
	}
	rc = lnetctl_set(t->c, t->rest[0], t->rest[1]);
	if (!rc)
		return 0;
	snprintf(words, sizeof(words), "%s", t->rest[0]);
	for (at = words; *at; at++)
		if (*at == '_')
			*at = ' ';
	/* The errno is stock's for "the node refused"; its own is in the words. */
	return tool_refuse("add", t->rest[0], rc == -EPERM ? rc : -ENODATA,
			   "\"cannot configure %s: %s\"", words, lnetctl_error(t->c)->text);
}

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

static int run_recovery(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc;

	if (!tool_opt(t, "local") == !tool_opt(t, "peer"))
		return tool_missing("missing mandatory parameters: 'local' or 'peer'");
	rc = lnetctl_recovery_show(t->c, tool_opt(t, "peer"), &doc);
	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static int run_node_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_node_show(t->c, &doc);

	return tool_show(t, rc, doc, LNETCTL_HAND);
}

static const struct opt recovery_opts[] = {
	{ "local", 'l', ARG_NONE, "interfaces of this node" },
	{ "peer", 'p', ARG_NONE, "interfaces of peers" },
	END
};
static const struct command global_commands[] = {
	{ "show", "show the tunables", run_global_show },
	END
};
static const struct command stats_commands[] = {
	{ "show", "show the statistics", run_stats_show },
	{ "reset", "start all statistics again", run_stats_reset },
	END
};
static const struct command node_commands[] = {
	{ "show", "show which node answers", run_node_show },
	END
};

/* ---- the tree -------------------------------------------------------------------------------- */

static int run_later(struct tool *t)
{
	fprintf(stderr, "lnetctl: '%s' is not supported yet\n", t->cmd->name);
	return -EOPNOTSUPP;
}

#define LATER(cmd) { cmd, "not supported yet", run_later, NULL, NULL, true }

static const struct command debug_commands[] = {
	{ "recovery", "show interfaces that are below full health", run_recovery, recovery_opts },
	LATER("peer"), LATER("nidlist"),
	END
};
static const struct command route_commands[] = { LATER("add"), LATER("del"), LATER("show"), END };
static const struct command routing_commands[] = { LATER("show"), END };
static const struct command udsp_commands[] = { LATER("add"), LATER("del"), LATER("show"), END };

const struct command lnetctl_commands[] = {
	{ "lnet", "lnet {configure | unconfigure}", .sub = lnet_commands },
	{ "route", "route {add | del | show}", .sub = route_commands },
	{ "net", "net {add | del | show | set}", .sub = net_commands },
	{ "routing", "routing {show}", .sub = routing_commands },
	{ "set", "set NAME VALUE: set a tunable; `global show' lists them, 'default' is a value",
	  run_set },
	{ "import", "import [--add | --del | --show | --exec] [FILE]", run_import, import_opts },
	{ "export", "export [--backup] [FILE]", run_export, export_opts },
	{ "stats", "stats {show | reset}", .sub = stats_commands },
	{ "debug", "debug {recovery | peer | nidlist}", .sub = debug_commands },
	{ "global", "global {show}", .sub = global_commands },
	{ "peer", "peer {add | del | show | list | set}", .sub = peer_commands },
	{ "ping", "ping [--source NID] [--timeout SECONDS] NID[,NID...]", run_ping, ping_opts },
	LATER("discover"),
	LATER("service-id"),
	{ "udsp", "udsp {add | del | show}", .sub = udsp_commands },
	{ "fault", "fault {drop | delay} {add | del | show | reset}", .sub = fault_commands },
	LATER("setup-mrrouting"),
	LATER("setup-sysctl"),
	{ "cpt-of-nid", "cpt-of-nid NID...: which CPT handles it", run_cpt_of_nid },
	{ "node", "node {show}", .sub = node_commands },
	END
};
