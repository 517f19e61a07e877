/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* route add, del and show. */
#include <errno.h>
#include "tool.h"

#define END { .name = NULL }
#define HOPS_MAX 255

static struct lnetctl_route route_of(const struct tool *t)
{
	const char *hops = tool_opt(t, "hop") ? "hop" : "hop-count";

	return (struct lnetctl_route){ .net = tool_opt(t, "net"),
				       .gateway = tool_opt(t, "gateway"),
				       .hops = tool_num(t, hops),
				       .priority = tool_num(t, "priority") };
}

/* The texts are stock's. */
static int route_args_missing(const struct lnetctl_route *r)
{
	if (!r->net && !r->gateway)
		return tool_missing("missing mandatory parameters:'net , gateway'");
	return tool_missing(r->net ? "missing mandatory parameters:'gateway'"
				   : "missing mandatory parameters:'net'");
}

static int route_command_add(struct tool *t)
{
	struct lnetctl_route r = route_of(t);

	return r.net && r.gateway ? tool_done(t, lnetctl_route_add(t->c, &r))
				  : route_args_missing(&r);
}

static int route_command_del(struct tool *t)
{
	struct lnetctl_route r = route_of(t);

	return r.net && r.gateway ? tool_done(t, lnetctl_route_del(t->c, &r))
				  : route_args_missing(&r);
}

static int route_command_show(struct tool *t)
{
	struct lnetctl_node *doc;
	struct lnetctl_route r = route_of(t);
	int rc;

	rc = lnetctl_route_show(t->c, &r, tool_opt(t, "verbose") ? 1 : 0, false, &doc);
	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static const struct opt add_opts[] = {
	{ "net", 'n', ARG_NET, "remote net that the route reaches, as tcp1" },
	{ "gateway", 'g', ARG_NIDS, "NIDs of gateways; one route is added for each" },
	{ "hop", 'c', ARG_NUM, "number of routers on the path, 1 to 255", 1, HOPS_MAX },
	{ "hop-count", 'c', ARG_NUM, "the same as --hop", 1, HOPS_MAX },
	{ "priority", 'p', ARG_NUM, "priority of the route, from 0 (best, default)", 0,
	  UINT32_MAX },
	END
};
static const struct opt del_opts[] = {
	{ "net", 'n', ARG_NET, "remote net that the route reaches, as tcp1" },
	{ "gateway", 'g', ARG_NIDS, "NIDs of the gateways of the routes" },
	END
};
static const struct opt show_opts[] = {
	{ "net", 'n', ARG_NET, "only routes to this net" },
	{ "gateway", 'g', ARG_NIDS, "only routes through the gateway with this NID" },
	{ "hop", 'c', ARG_NUM, "only routes with this many routers on the path", 1, HOPS_MAX },
	{ "hop-count", 'c', ARG_NUM, "the same as --hop", 1, HOPS_MAX },
	{ "priority", 'p', ARG_NUM, "only routes of this priority", 0, UINT32_MAX },
	{ "verbose", 'v', ARG_NONE, "show all details of the routes" },
	END
};

const struct command route_commands[] = {
	{ "add", "add routes", route_command_add, add_opts, .clash = "hop hop-count" },
	{ "del", "delete routes", route_command_del, del_opts },
	{ "show", "show routes", route_command_show, show_opts, .clash = "hop hop-count" },
	END
};
