/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands peer add, del, set, show and list. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

#define END { .name = NULL }

static int run_peer_add(struct tool *t)
{
	unsigned int flags = (tool_opt(t, "non_mr") ? LNETCTL_PEER_NON_MR : 0) |
			     (tool_opt(t, "lock_prim") ? LNETCTL_PEER_LOCK : 0);
	int rc = tool_peer_check(tool_opt(t, "prim_nid"));

	rc = rc ? rc : tool_peer_check(tool_opt(t, "nid"));
	if (rc)
		return rc;
	return tool_done(
		t, lnetctl_peer_add(t->c, tool_opt(t, "prim_nid"), tool_opt(t, "nid"), flags));
}

static int run_peer_del(struct tool *t)
{
	unsigned int flags = tool_opt(t, "force") ? LNETCTL_PEER_FORCE : 0;

	return tool_done(
		t, lnetctl_peer_del(t->c, tool_opt(t, "prim_nid"), tool_opt(t, "nid"), flags));
}

static int run_peer_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_peer_show(t->c, tool_opt(t, "nid"), tool_level(t), false, &doc);

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

	if (state != LNETCTL_UNSET && !nid)
		return tool_usage("--state requires --nid");
	return tool_set_done(t, lnetctl_peer_set(t->c, nid, health, state));
}

static const struct opt peer_add_opts[] = {
	{ "prim_nid", 'k', ARG_NID, "primary NID of the peer" },
	{ "nid", 'n', ARG_NIDS, "further NIDs of the peer, as 10.0.0.[2-3]@tcp" },
	{ "non_mr", 0, ARG_NONE, "the peer is not multi-rail: use only the NIDs given here" },
	{ "lock_prim", 'l', ARG_NONE,
	  "keep the primary NID, even if the peer advertises another one" },
	END
};
static const struct opt peer_del_opts[] = {
	{ "prim_nid", 'k', ARG_NID, "primary NID of the peer" },
	{ "nid", 'n', ARG_NIDS, "only these NIDs of the peer; default: the whole peer" },
	{ "force", 'f', ARG_NONE, "delete the peer even if its primary NID is locked" },
	END
};
static const struct opt peer_show_opts[] = {
	{ "nid", 'n', ARG_NID, "only the peer with this NID" },
	{ "verbose", 'v', ARG_LEVEL, "level of detail, 0 to 5" },
	END
};
static const struct opt peer_set_opts[] = {
	{ "nid", 'n', ARG_NID, "NID of the peer interface" },
	{ "all", 'a', ARG_NONE, "all interfaces of all peers" },
	{ "health", 't', ARG_NUM, "health, 0 to 1000", 0, HEALTH_MAX },
	{ "state", 's', ARG_NUM, "state of the peer as a number whose bits are flags", 0,
	  UINT32_MAX },
	END
};
const struct command peer_commands[] = {
	{ "add", "add a peer, or NIDs to a peer", run_peer_add, peer_add_opts, .need = "prim_nid" },
	{ "del", "delete a peer, or NIDs of a peer", run_peer_del, peer_del_opts,
	  .need = "prim_nid" },
	{ "show", "show peers", run_peer_show, peer_show_opts },
	{ "list", "list the primary NIDs of all peers", run_peer_list },
	{ "set", "set the health of peer interfaces, or the state of a peer", run_peer_set,
	  peer_set_opts, .clash = "all nid", .need = "nid all;health state" },
	END
};
