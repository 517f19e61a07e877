/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* udsp add, del and show. */
#include <errno.h>
#include <inttypes.h>
#include "tool.h"

#define END { .name = NULL }

/* Stock's errors of these commands are of its other kind. */
static int done(struct tool *t, const char *verb, int rc)
{
	return rc ? tool_refuse(verb, "udsp", rc, "\"%s\"", lnetctl_error(t->c)->text) : 0;
}

/* An option that is a number from @least on; not given: *@val stays. */
static int number(struct tool *t, const char *verb, const char *name, int64_t least, int64_t *val)
{
	const char *text = tool_opt(t, name);

	if (!text)
		return 0;
	*val = tool_num(t, name);
	if (*val != LNETCTL_UNSET && *val >= least && *val <= INT32_MAX)
		return 0;
	return tool_refuse(verb, "udsp", -EINVAL,
			   "\"invalid value '%s' for '%s': it must be %d to %d\"", text, name,
			   (int)least, INT32_MAX);
}

static int run_add(struct tool *t)
{
	struct lnetctl_udsp u = { .src = tool_opt(t, "src"), .dst = tool_opt(t, "dst"),
				  .rte = tool_opt(t, "rte"), .idx = LNETCTL_UNSET,
				  .priority = LNETCTL_UNSET };
	int rc = number(t, "add", "priority", 0, &u.priority);

	rc = rc ? rc : number(t, "add", "idx", 0, &u.idx);
	if (rc)
		return rc;
	if (!u.src && !u.dst && !u.rte) {
		tool_help(t->path, t->cmd, stdout);
		return 0;
	}
	/* one pattern alone can only have a priority */
	if (u.priority == LNETCTL_UNSET && !u.rte && !u.src != !u.dst)
		u.priority = 0;
	return done(t, "add", lnetctl_udsp_add(t->c, &u));
}

static int run_del(struct tool *t)
{
	int64_t idx = -1;
	int rc = number(t, "del", "idx", -1, &idx);

	if (rc)
		return rc;
	if (!tool_opt(t, "all") == !tool_opt(t, "idx"))
		return tool_missing("exactly one of --all and --idx is needed");
	return done(t, "del", lnetctl_udsp_del(t->c, idx));
}

static int run_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int64_t idx = -1;
	int rc = number(t, "show", "idx", -1, &idx);

	if (rc)
		return rc;
	rc = done(t, "show", lnetctl_udsp_show(t->c, idx, &doc));
	return rc ? rc : tool_show(t, rc, doc, LNETCTL_HAND);
}

static const struct opt add_opts[] = {
	{ "src", 's', ARG_NEEDED, "NIDs of this node, or nets: 10.0.[1-4].*@tcp, tcp[1-2]" },
	{ "dst", 'd', ARG_NEEDED, "NIDs of peers, or nets" },
	{ "rte", 'r', ARG_NEEDED, "NIDs of routers that are preferred for --dst" },
	{ "priority", 'p', ARG_NEEDED, "of --src or --dst alone: 0 (best, default) and more" },
	{ "idx", 'i', ARG_NEEDED, "which rule it is to be, from 0; default: the last" },
	END
};
static const struct opt del_opts[] = {
	{ "all", 'a', ARG_NONE, "all rules" },
	{ "idx", 'i', ARG_NEEDED, "the rule with this index; -1: all" },
	END
};
static const struct opt show_opts[] = {
	{ "idx", 'i', ARG_NEEDED, "only the rule with this index; -1: all" },
	END
};

const struct command udsp_commands[] = {
	{ "add", "add a selection policy", run_add, add_opts },
	{ "del", "delete selection policies", run_del, del_opts },
	{ "show", "show selection policies", run_show, show_opts },
	END
};
