/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* udsp add, del and show. */
#include <errno.h>
#include <inttypes.h>
#include "tool.h"

#define END { .name = NULL }

/* Prints the result of a udsp command. Stock prints these errors in its second layout. */
static int udsp_done(struct tool *t, const char *verb, int rc)
{
	if (!rc)
		return 0;
	tool_refuse(verb, "udsp", rc, "\"%s\"", lnetctl_error(t->c)->text);
	return tool_status(t, rc);
}

/* Rejects an index that is too high. A node would append such a rule without a report. */
static int index_check(struct tool *t, int64_t idx)
{
	const struct lnetctl_node *list, *rule;
	struct lnetctl_node *doc;
	int64_t nr = 0;

	if (idx == LNETCTL_UNSET || lnetctl_udsp_show(t->c, -1, &doc))
		return 0;
	list = lnetctl_find(doc, "udsp");
	for (rule = list ? list->first : NULL; rule; rule = rule->next)
		nr++;
	lnetctl_doc_free(doc);
	return idx <= nr ? 0 : tool_usage("--idx must be 0 to %" PRId64 ", not %" PRId64
					  ": there are %" PRId64 " policies", nr, idx, nr);
}

static int udsp_command_add(struct tool *t)
{
	struct lnetctl_udsp u = { .src = tool_opt(t, "src"), .dst = tool_opt(t, "dst"),
				  .rte = tool_opt(t, "rte"), .idx = tool_num(t, "idx"),
				  .priority = tool_num(t, "priority") };
	int rc = index_check(t, u.idx);

	if (rc)
		return rc;
	/*
	 * A policy with only --src or only --dst can do no more than set a priority. So the default
	 * priority of such a policy is 0.
	 */
	if (u.priority == LNETCTL_UNSET && !u.rte && !u.src != !u.dst)
		u.priority = 0;
	return udsp_done(t, "add", lnetctl_udsp_add(t->c, &u));
}

/* -1: all policies */
static int64_t udsp_index(const struct tool *t)
{
	return tool_opt(t, "idx") ? tool_num(t, "idx") : -1;
}

static int udsp_command_del(struct tool *t)
{
	return udsp_done(t, "del", lnetctl_udsp_del(t->c, udsp_index(t)));
}

static int udsp_command_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = udsp_done(t, "show", lnetctl_udsp_show(t->c, udsp_index(t), &doc));

	return rc ? rc : tool_show(t, rc, doc, LNETCTL_HAND);
}

#define RANGE_FORM "a range of NIDs or nets such as 10.0.[1-4].*@tcp or tcp[1-2]"

static const struct opt add_opts[] = {
	{ "src", 's', ARG_TEXT, "range of NIDs or nets of this node: 10.0.[1-4].*@tcp, tcp[1-2]",
	  .form = RANGE_FORM },
	{ "dst", 'd', ARG_TEXT, "range of NIDs or nets of peers", .form = RANGE_FORM },
	{ "rte", 'r', ARG_TEXT, "range of NIDs of routers that are preferred for --dst",
	  .form = RANGE_FORM },
	{ "priority", 'p', ARG_NUM,
	  "priority of paths with --src or --dst alone, from 0 (best, default)", 0, INT32_MAX },
	{ "idx", 'i', ARG_NUM, "index of the new policy, from 0; default: after the last one", 0,
	  INT32_MAX },
	END
};
static const struct opt del_opts[] = {
	{ "all", 'a', ARG_NONE, "all policies" },
	{ "idx", 'i', ARG_NUM, "the policy with this index; -1: all", -1, INT32_MAX },
	END
};
static const struct opt show_opts[] = {
	{ "idx", 'i', ARG_NUM, "only the policy with this index; -1: all", -1, INT32_MAX },
	END
};

const struct command udsp_commands[] = {
	{ "add", "add a selection policy", udsp_command_add, add_opts, .need = "src dst rte" },
	{ "del", "delete selection policies", udsp_command_del, del_opts,
	  .clash = "all idx", .need = "all idx" },
	{ "show", "show selection policies", udsp_command_show, show_opts },
	END
};
