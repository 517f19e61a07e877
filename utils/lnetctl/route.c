/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* route add, del and show. */
#include <errno.h>
#include "tool.h"

#define END { .name = NULL }
#define HOPS_MAX 255

/* An option that is a number; not given: *@val stays. */
static int number(struct tool *t, const char *verb, const char *name, int64_t least, int64_t most,
		  int64_t *val)
{
	const char *text = tool_opt(t, name);

	if (!text)
		return 0;
	*val = tool_num(t, name);
	if (*val != LNETCTL_UNSET && *val >= least && *val <= most)
		return 0;
	return tool_refuse(verb, "route", -EINVAL, "\"invalid value '%s' for '%s'\"", text, name);
}

static int read(struct tool *t, const char *verb, struct lnetctl_route *r)
{
	int rc;

	*r = (struct lnetctl_route){ .net = tool_opt(t, "net"), .gateway = tool_opt(t, "gateway"),
				     .hops = LNETCTL_UNSET, .priority = LNETCTL_UNSET };
	rc = number(t, verb, "hop", 1, HOPS_MAX, &r->hops);
	rc = rc ? rc : number(t, verb, "hop-count", 1, HOPS_MAX, &r->hops);
	return rc ? rc : number(t, verb, "priority", 0, UINT32_MAX, &r->priority);
}

/* Stock's words. */
static int missing(const struct lnetctl_route *r)
{
	if (!r->net && !r->gateway)
		return tool_missing("missing mandatory parameters:'net , gateway'");
	return tool_missing(r->net ? "missing mandatory parameters:'gateway'"
				   : "missing mandatory parameters:'net'");
}

static int run_add(struct tool *t)
{
	struct lnetctl_route r;
	int rc = read(t, "add", &r);

	if (rc)
		return rc;
	return r.net && r.gateway ? tool_done(t, lnetctl_route_add(t->c, &r)) : missing(&r);
}

static int run_del(struct tool *t)
{
	struct lnetctl_route r;
	int rc = read(t, "del", &r);

	if (rc)
		return rc;
	return r.net && r.gateway ? tool_done(t, lnetctl_route_del(t->c, &r)) : missing(&r);
}

static int run_show(struct tool *t)
{
	struct lnetctl_node *doc;
	struct lnetctl_route r;
	int rc = read(t, "show", &r);

	if (rc)
		return rc;
	rc = lnetctl_route_show(t->c, &r, tool_opt(t, "verbose") ? 1 : 0, false, &doc);
	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static const struct opt add_opts[] = {
	{ "net", 'n', ARG_NEEDED, "the net that the route leads to" },
	{ "gateway", 'g', ARG_NEEDED, "NIDs of routers: a route by each" },
	{ "hop", 'c', ARG_NEEDED, "routers on the way, 1 to 255" },
	{ "hop-count", 'c', ARG_NEEDED, "the same" },
	{ "priority", 'p', ARG_NEEDED, "0 (best, default) and more" },
	END
};
static const struct opt del_opts[] = {
	{ "net", 'n', ARG_NEEDED, "the net that the route leads to" },
	{ "gateway", 'g', ARG_NEEDED, "NIDs of routers" },
	END
};
static const struct opt show_opts[] = {
	{ "net", 'n', ARG_NEEDED, "only routes to this net" },
	{ "gateway", 'g', ARG_NEEDED, "only routes by this NID" },
	{ "hop", 'c', ARG_NEEDED, "only routes with so many routers on the way" },
	{ "hop-count", 'c', ARG_NEEDED, "the same" },
	{ "priority", 'p', ARG_NEEDED, "only routes of this priority" },
	{ "verbose", 'v', ARG_NONE, "all that is known" },
	END
};

const struct command route_commands[] = {
	{ "add", "add routes", run_add, add_opts },
	{ "del", "delete routes", run_del, del_opts },
	{ "show", "show routes", run_show, show_opts },
	END
};
