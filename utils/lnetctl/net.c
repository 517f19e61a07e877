/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* net add, del, set and show. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

#define END { .name = NULL }

/* Which interfaces are meant; @add: those that are to be. */
static int net_target(struct tool *t, struct lnetctl_net *n, bool add)
{
	n->net = tool_opt(t, "net");
	n->interfaces = tool_opt(t, "if");
	n->nids = tool_opt(t, "nid");
	n->ip2net = add ? tool_opt(t, "ip2net") : NULL;
	if (n->net && n->nids)
		return tool_missing("--net is invalid with --nid option");
	if (n->ip2net || n->nids)
		return 0;
	if (!n->net)
		return tool_missing(
			n->interfaces || !add
				? "missing mandatory parameters in NI config: 'net'"
				: "missing mandatory parameters in NI config: 'net , if'");
	if (add && !n->interfaces)
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

static int read_conns(struct tool *t, const char *verb, int64_t *conns)
{
	*conns = tool_num(t, "conns-per-peer");
	if (tool_opt(t, "conns-per-peer") && (*conns < -1 || *conns > 127))
		return tool_refuse("ni", verb, -1, "cannot parse conns_per_peer value");
	if (*conns == -1)
		*conns = LNETCTL_UNSET;
	return 0;
}

/* Of nets whose drivers this node does not have: checked as they are there, and left out. */
static int check_others(struct tool *t)
{
	const char *class = tool_opt(t, "traffic-class");

	if (tool_opt(t, "auth-key") && tool_num(t, "auth-key") == LNETCTL_UNSET)
		return tool_refuse("ni", "add", -1, "cannot parse auth_key value");
	if (class && (!*class || strlen(class) > 127))
		return tool_refuse("ni", "add", -1, "traffic-class must be 1 to 127 characters");
	return 0;
}

static int read_tunables(struct tool *t, struct lnetctl_net *n)
{
	int rc = read_conns(t, "add", &n->conns_per_peer);

	n->cpts = tool_opt(t, "cpt");
	n->peer_timeout = net_number(t, "peer-timeout", 0);
	n->peer_credits = net_number(t, "peer-credits", 1);
	n->peer_buffer_credits = net_number(t, "peer-buffer-credits", 1);
	n->credits = net_number(t, "credits", 1);
	n->tos = tool_num(t, "tos");
	if (!rc && tool_opt(t, "tos") && (n->tos < -1 || n->tos > 255))
		return tool_refuse("ni", "add", -EINVAL, "tos must be -1 to 255");
	return rc ? rc : check_others(t);
}

/* A system without the helper has its routes as it likes them. */
static int routes_setup(void)
{
	char why[200];
	int rc = lnetctl_setup_mrrouting(why, sizeof(why));

	if (!rc || rc == -ENOENT)
		return 0;
	return tool_refuse("manage", "setup-mrrouting", rc, "\"%s\"", why);
}

static int run_net_add(struct tool *t)
{
	struct lnetctl_net n;
	int rc;

	lnetctl_net_init(&n);
	rc = net_target(t, &n, true);
	if (!rc)
		rc = read_tunables(t, &n);
	if (rc)
		return rc;
	rc = tool_done(t, lnetctl_net_add(t->c, &n));
	return rc || tool_opt(t, "skip-mr-route-setup") ? rc : routes_setup();
}

static int run_net_del(struct tool *t)
{
	struct lnetctl_net n;
	int rc;

	lnetctl_net_init(&n);
	rc = net_target(t, &n, false);
	return rc ? rc : tool_done(t, lnetctl_net_del(t->c, &n));
}

static int run_net_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_net_show(t->c, tool_opt(t, "net"), tool_level(t), false, &doc);

	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

/* What stock says twice: as the node's answer, and as its own. */
int tool_set_done(struct tool *t, int rc)
{
	if (!rc)
		return 0;
	lnetctl_error_print(t->c, stderr);
	return tool_refuse("net", "set", -EINVAL, "%s", "");
}

static int set_lnd_timeout(struct tool *t)
{
	int64_t seconds = tool_num(t, "lnd-timeout");

	if (!tool_opt(t, "net"))
		return tool_missing("missing mandatory parameters: 'net'");
	if (seconds < 0)
		return tool_refuse("net", "set", -EINVAL, "cannot parse lnd_timeout value");
	return tool_set_done(t, lnetctl_lnd_timeout(t->c, tool_opt(t, "net"), seconds));
}

static int run_net_set(struct tool *t)
{
	const char *nid = tool_opt(t, "nid"), *link = tool_opt(t, "link");
	int64_t health = net_number(t, "health", 0), conns;
	int rc = read_conns(t, "set", &conns);

	if (tool_opt(t, "all") && nid)
		return tool_missing("--all is invalid with --nid option");
	if (!rc && tool_opt(t, "lnd-timeout"))
		rc = set_lnd_timeout(t);
	if (!rc && link && nid)
		rc = tool_set_done(t, lnetctl_net_link(t->c, nid, strcmp(link, "down")));
	if (rc || (health == LNETCTL_UNSET && conns == LNETCTL_UNSET))
		return rc;
	if (!tool_opt(t, "all") && !nid)
		return tool_missing("missing mandatory parameters: 'nid' or 'all'");
	return tool_set_done(t, lnetctl_net_set(t->c, nid, health, conns));
}

static int drain(struct tool *t, bool drained)
{
	int i, rc = 0;

	for (i = 0; i < t->nr_rest && !rc; i++)
		rc = lnetctl_net_drain(t->c, t->rest[i], drained);
	return tool_done(t, rc);
}

int run_drain(struct tool *t)
{
	return drain(t, true);
}

int run_undrain(struct tool *t)
{
	return drain(t, false);
}

static const struct opt net_add_opts[] = {
	{ "net", 'n', ARG_NEEDED, "net name, as tcp or tcp1" },
	{ "if", 'i', ARG_NEEDED, "interfaces, as eth0,eth1[0,1]" },
	{ "nid", 0, ARG_NEEDED, "NIDs to have, instead of net and interfaces" },
	{ "ip2net", 'p', ARG_NEEDED, "rules instead, as 'tcp(eth0) 10.0.*.*; tcp1 10.1.*.*'" },
	{ "peer-timeout", 't', ARG_NEEDED, "seconds until a silent peer counts as dead; 0: never" },
	{ "peer-credits", 'c', ARG_NEEDED, "messages under way to one peer interface" },
	{ "peer-buffer-credits", 'b', ARG_NEEDED, "router buffers one peer may hold" },
	{ "credits", 'r', ARG_NEEDED, "messages under way over the interface" },
	{ "cpt", 's', ARG_NEEDED, "CPTs to use, as [0,1]" },
	{ "conns-per-peer", 'm', ARG_NEEDED, "connections of a kind per peer; 0: by link speed" },
	{ "skip-mr-route-setup", 'k', ARG_NONE, "do not run ksocklnd-config afterwards" },
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
const struct command net_commands[] = {
	{ "add", "add an interface", run_net_add, net_add_opts },
	{ "del", "delete interfaces", run_net_del, net_del_opts },
	{ "set", "set health or connections of interfaces", run_net_set, net_set_opts },
	{ "show", "show interfaces", run_net_show, net_show_opts },
	END
};
