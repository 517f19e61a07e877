/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands net add, del, set and show. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tool.h"

#define END { .name = NULL }

/* Reads the options that name interfaces. With @add, these interfaces do not exist yet. */
static int net_target(struct tool *t, struct lnetctl_net *n, bool add)
{
	n->net = tool_opt(t, "net");
	n->interfaces = tool_opt(t, "if");
	n->nids = tool_opt(t, "nid");
	n->ip2net = add ? tool_opt(t, "ip2net") : NULL;
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

/* Returns the value of an option that is a number. As in stock, 0 counts as not given. */
static int64_t net_number(struct tool *t, const char *name)
{
	int64_t val = tool_num(t, name);

	return val == 0 ? LNETCTL_UNSET : val;
}

static void option_tunables_read(struct tool *t, struct lnetctl_net *n)
{
	n->cpts = tool_opt(t, "cpt");
	n->peer_timeout = tool_num(t, "peer-timeout");
	n->peer_credits = tool_num(t, "peer-credits");
	n->peer_buffer_credits = net_number(t, "peer-buffer-credits");
	n->credits = tool_num(t, "credits");
	n->conns_per_peer = tool_num(t, "conns-per-peer");
	n->tos = tool_num(t, "tos");
}

/* Sets up routes with a helper. If the helper is missing, the system's own routes stay. */
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
	if (rc)
		return rc;
	option_tunables_read(t, &n);
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

static unsigned int length(struct lnetctl_node *doc, const char *key)
{
	const struct lnetctl_node *list = lnetctl_find(doc, key), *item;
	unsigned int nr = 0;

	for (item = list ? list->first : NULL; item; item = item->next)
		nr++;
	lnetctl_doc_free(doc);
	return nr;
}

/* Prints a note on standard error. So standard output is equal to that of stock. */
static void faults_note(struct tool *t)
{
	struct lnetctl_node *doc;
	unsigned int nr = 0;

	if (!lnetctl_rule_show(t->c, NULL, false, &doc))
		nr += length(doc, "faults");
	if (!lnetctl_fault_show(t->c, false, &doc))
		nr += length(doc, "fault");
	if (!lnetctl_fault_show(t->c, true, &doc))
		nr += length(doc, "fault");
	if (nr)
		fprintf(stderr, "note: %u fault rule%s on this node ('lnetctl fault show')\n", nr,
			nr > 1 ? "s are" : " is");
}

static int run_net_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_net_show(t->c, tool_opt(t, "net"), tool_level(t), false, &doc);

	rc = tool_show(t, rc, doc, LNETCTL_WIDE);
	if (!rc)
		faults_note(t);
	return rc;
}

/*
 * Prints the result of net set and peer set. Stock's tool prints the error of the node, and then a
 * second error.
 */
int tool_set_done(struct tool *t, int rc)
{
	if (!rc)
		return 0;
	tool_error_print(t);
	rc = tool_status(t, -EINVAL);
	if (!t->json && rc == -EINVAL)
		tool_refuse("net", "set", -EINVAL, "%s", "");
	return rc;
}

/* Prints a note that connections are set on all nets. A stock module has no request for one net. */
static void conns_note(struct tool *t)
{
	struct lnetctl_node *doc;

	if (lnetctl_node_show(t->c, &doc) == -EOPNOTSUPP)
		fputs("note: stock LNet has set conns-per-peer of all nets, not only of this one\n",
		      stderr);
	lnetctl_doc_free(doc);
}

static int run_net_set(struct tool *t)
{
	const char *nid = tool_opt(t, "nid"), *link = tool_opt(t, "link");
	const char *net = tool_opt(t, "net");
	int64_t health = tool_num(t, "health"), conns = tool_num(t, "conns-per-peer");
	bool one = nid || tool_opt(t, "all");
	int rc = 0;

	if (!one && (link || (!net && (health >= 0 || conns >= 0))))
		return tool_missing("missing mandatory parameters: 'nid' or 'all'");
	if (one && net && !tool_opt(t, "lnd-timeout"))
		return tool_usage("--net is invalid with --%s option, unless it is for "
				  "--lnd-timeout", nid ? "nid" : "all");
	if (!net && tool_opt(t, "lnd-timeout"))
		return tool_missing("missing mandatory parameters: 'net'");
	if (tool_opt(t, "lnd-timeout"))
		rc = lnetctl_lnd_timeout(t->c, net, tool_num(t, "lnd-timeout"));
	if (!rc && link)
		rc = lnetctl_net_link(t->c, nid, !strcmp(link, "up"));
	if (!rc && (health >= 0 || conns >= 0))
		rc = net && !one ? lnetctl_net_set_on(t->c, net, health, conns) :
				   lnetctl_net_set(t->c, nid, health, conns);
	if (!rc && net && !one && conns >= 0)
		conns_note(t);
	return tool_set_done(t, rc);
}

/* ---- drain ----------------------------------------------------------------------------------- */

/* Checks that all NIDs are interfaces of the node. The check precedes the first drain. */
static int drain_check(struct tool *t)
{
	struct lnetctl_node *doc;
	int i, rc = lnetctl_net_show(t->c, NULL, 0, false, &doc);

	if (rc)
		return tool_done(t, rc);
	for (i = 0; i < t->nr_rest && tool_is_ni(doc, t->rest[i]); i++)
		;
	lnetctl_doc_free(doc);
	if (i < t->nr_rest)
		return tool_usage("'%s' is not an interface of this node ('lnetctl net show' lists "
				  "them); nothing was changed", t->rest[i]);
	for (i = 0; i < t->nr_rest && strcmp(t->rest[i], "0@lo"); i++)
		;
	return i == t->nr_rest ? 0 : tool_usage("the loopback interface 0@lo cannot be drained; "
						"nothing was changed");
}

/* If the node has no other interface, prints a note: the drained interface then stays in use. */
static void drain_note(struct tool *t)
{
	struct lnetctl_node *doc;
	unsigned int up;

	if (lnetctl_net_show(t->c, NULL, 0, false, &doc))
		return;
	up = tool_nis_up(doc);
	lnetctl_doc_free(doc);
	if (!up)
		fprintf(stderr,
			"note: the drained interface %s stays in use, because no other interface "
			"of this node is up\n",
			t->rest[0]);
}

/*
 * Returns the number of messages that the drained interfaces have sent and received. -1: the node
 * does not reply.
 */
static int64_t drain_count(struct tool *t)
{
	const struct lnetctl_node *net = NULL, *ni = NULL;
	struct lnetctl_node *doc;
	int64_t sum = 0, nr;
	int i;

	if (lnetctl_net_show(t->c, NULL, 1, false, &doc))
		return -1;
	while ((ni = tool_ni_next(doc, &net, ni))) {
		const struct lnetctl_node *stat = lnetctl_find(ni, "statistics");

		for (i = 0; i < t->nr_rest && strcmp(t->rest[i], lnetctl_text(ni, "nid")); i++)
			;
		if (i == t->nr_rest)
			continue;
		if (!lnetctl_num(lnetctl_find(stat, "send_count"), &nr))
			sum += nr;
		if (!lnetctl_num(lnetctl_find(stat, "recv_count"), &nr))
			sum += nr;
	}
	lnetctl_doc_free(doc);
	return sum;
}

#define QUIET_TRIES 5
#define TRY_MS 100

/* Waits until the interfaces have sent and received no message for half a second. */
static int drain_wait(struct tool *t)
{
	unsigned int ms = 0, quiet = 0, waited;
	int64_t last = drain_count(t), now;

	lnetctl_ms_parse(tool_opt(t, "wait"), &ms);
	for (waited = 0; quiet < QUIET_TRIES && waited < ms; waited += TRY_MS) {
		struct timespec pause = { 0, TRY_MS * 1000000L };

		nanosleep(&pause, NULL);
		now = drain_count(t);
		quiet = now == last ? quiet + 1 : 0;
		last = now;
	}
	if (quiet == QUIET_TRIES)
		return 0;
	return tool_refuse("drain", "net", -ETIMEDOUT, "\"%s still carries messages after %u ms\"",
			   t->rest[0], ms);
}

static int nis_drain(struct tool *t, bool drained)
{
	int i, rc = drain_check(t);

	if (rc)
		return rc;
	for (i = 0; i < t->nr_rest && !rc; i++)
		rc = lnetctl_net_drain(t->c, t->rest[i], drained);
	return tool_done(t, rc);
}

int run_drain(struct tool *t)
{
	int rc = nis_drain(t, true);

	if (!rc)
		drain_note(t);
	return rc || !tool_opt(t, "wait") ? rc : drain_wait(t);
}

int run_undrain(struct tool *t)
{
	return nis_drain(t, false);
}

const struct opt drain_opts[] = {
	{ "wait", 'w', ARG_WAIT,
	  "wait at most this time (default 10s) until the interfaces send and receive no messages",
	  TIME_MS, TIME_DAY },
	END
};

#define INTERFACES_FORM "interfaces such as eth0,eth1[0,1]"

static const char *const link_words[] = { "up", "down", NULL };

static const struct opt net_add_opts[] = {
	{ "net", 'n', ARG_NET, "net of the interfaces, as tcp or tcp1" },
	{ "if", 'i', ARG_TEXT, "interfaces of the system, as eth0,eth1[0,1]; brackets contain CPTs",
	  .form = INTERFACES_FORM },
	{ "nid", 0, ARG_NIDS, "NIDs to add, instead of --net and --if" },
	{ "ip2net", 'p', ARG_TEXT,
	  "rules that select net and interfaces by IP address, as 'tcp(eth0) 10.0.*.*; tcp1 "
	  "10.1.*.*'",
	  .form = "rules such as tcp(eth0) 10.0.*.*; tcp1 10.1.*.*" },
	{ "peer-timeout", 't', ARG_NUM,
	  "peer timeout in seconds; accepted for scripts of stock LNet, without effect",
	  NI_MIN_peer_timeout, NI_MAX_peer_timeout },
	{ "peer-credits", 'c', ARG_NUM, "messages that may be in flight to one peer interface",
	  NI_MIN_peer_credits, NI_MAX_peer_credits },
	{ "peer-buffer-credits", 'b', ARG_NUM,
	  "router buffers that messages of one peer interface may use", NI_MIN_peer_buffer_credits,
	  NI_MAX_peer_buffer_credits },
	{ "credits", 'r', ARG_NUM, "messages that may be in flight over the interface",
	  NI_MIN_credits, NI_MAX_credits },
	{ "cpt", 's', ARG_TEXT, "CPTs that the interface uses, as [0,1]",
	  .form = "a list such as [0,1] or 0-3" },
	{ "conns-per-peer", 'm', ARG_NUM,
	  "TCP connections of each type (bulk data, control) to a peer interface; 0: by link speed",
	  NI_MIN_conns_per_peer, NI_MAX_conns_per_peer },
	{ "skip-mr-route-setup", 'k', ARG_NONE,
	  "do not run the script ksocklnd-config after the interface was added" },
	{ "auth-key", 'a', ARG_NUM,
	  "authentication key of a kfi net; accepted for scripts of stock LNet", 0, UINT32_MAX },
	{ "traffic-class", 'T', ARG_TEXT,
	  "traffic class of a kfi net, up to 127 characters; accepted for scripts of stock LNet",
	  .max = 127 },
	{ "tos", 0, ARG_NUM,
	  "IP type of service of the interface's connections; -1: the driver's default", NI_MIN_tos,
	  NI_MAX_tos },
	END
};
static const struct opt net_del_opts[] = {
	{ "net", 'n', ARG_NET, "net of the interfaces, as tcp or tcp1" },
	{ "if", 'i', ARG_TEXT, "only these interfaces of the net", .form = INTERFACES_FORM },
	{ "nid", 0, ARG_NIDS, "NIDs to delete, instead of --net and --if" },
	END
};
static const struct opt net_show_opts[] = {
	{ "net", 'n', ARG_NET, "only interfaces on this net" },
	{ "verbose", 'v', ARG_LEVEL, "level of detail, 0 to 5" },
	END
};
static const struct opt net_set_opts[] = {
	{ "nid", 'n', ARG_NID, "NID of the interface" },
	{ "all", 'a', ARG_NONE, "all interfaces of this node" },
	{ "health", 't', ARG_NUM, "health, 0 to 1000", 0, HEALTH_MAX },
	{ "conns-per-peer", 'm', ARG_NUM,
	  "TCP connections of each type (bulk data, control) to a peer interface",
	  NI_MIN_conns_per_peer, NI_MAX_conns_per_peer },
	{ "net", 'i', ARG_NET,
	  "all interfaces on this net; or the net to which --lnd-timeout applies" },
	{ "lnd-timeout", 'l', ARG_NUM, "seconds until a connection without progress is closed", 0,
	  3600 },
	{ "link", 0, ARG_WORD,
	  "down: treat the link of the interface as down; up: use its real state again",
	  .words = link_words },
	END
};
const struct command net_commands[] = {
	{ "add", "add interfaces to this node", run_net_add, net_add_opts,
	  .clash = "net nid ip2net;if nid;if ip2net" },
	{ "del", "delete interfaces of this node", run_net_del, net_del_opts,
	  .clash = "net nid;if nid" },
	{ "set", "set health, connections, timeout or link of interfaces", run_net_set,
	  net_set_opts, .clash = "all nid", .need = "health conns-per-peer lnd-timeout link" },
	{ "show", "show interfaces of this node", run_net_show, net_show_opts },
	END
};
