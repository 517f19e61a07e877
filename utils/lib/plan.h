/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Declarations for the files that compare a configuration with a node. */
#ifndef LNETCTL_PLAN_H
#define LNETCTL_PLAN_H

#include "import.h"

struct plan {
	struct import im;
	struct lnetctl_node *doc;	/* the plan: changes by the keys "del", "set", "add" */
	struct lnetctl_node *was;	/* the node's values that "set" of @doc replaces */
	struct lnetctl_node *moved;		/* interfaces that are replaced */
	/*
	 * Sections of the node's configuration. The field `line' of an object has the result of the
	 * comparison with the file: PLAN_KEPT or PLAN_REPLACED. 0: no object of the file matches.
	 */
	struct lnetctl_node *nets, *peers, *rules[2], *global, *policies, *routes, *routing;
	struct lnetctl_node *addresses;		/* the interfaces with their NIDs */
	/* NULL on a stock module, which has no such section */
	struct lnetctl_node *faults;
	bool unconfigured;			/* the node has only tunables */
};
#define PLAN_KEPT	1		/* the file has the same object */
#define PLAN_REPLACED	2		/* the file has the object with other values */

/* ctl_plan.c: compares all sections of @doc with the node, also sections that @doc lacks. */
int plan_all(struct plan *p, const struct lnetctl_node *doc);

/*
 * plan_probe.c: checks addresses and ports. Returns 0, or the error that the node would return.
 * Changes nothing.
 */
int plan_probe(struct plan *p);

/* ---- plan_view.c ---- */

int plan_begin(struct plan *p);
int plan_end(struct plan *p);		/* converts the requests to the printed plan */
/*
 * Returns section @name under @verb of the plan. The first call creates the section. NULL: no
 * memory.
 */
struct lnetctl_node *plan_section(struct plan *p, const char *verb, const char *name,
				  enum lnetctl_kind kind);
/* Adds to the plan that the value of the file, @want, replaces the node's value, @was. */
int plan_set(struct plan *p, const char *section, const struct lnetctl_node *want,
	     const char *was);
/* Notes that @ni of @net is removed and added again, because of the difference @what. */
int plan_moved(struct plan *p, const struct lnetctl_node *ni, const char *net, const char *what);
int plan_nomem(struct plan *p);

/* plan_net.c, plan_peer.c: compare one section. NULL: the file lacks the section. */
int plan_net_item(struct import *im, const struct ni_item *item, void *plan);
int plan_nets_del(struct plan *p);
int plan_peer(struct plan *p, const struct lnetctl_node *peer);
int plan_peers_del(struct plan *p);
int plan_faults(struct plan *p, const struct lnetctl_node *section);
/* plan_rule.c */
int plan_rules(struct plan *p, const struct lnetctl_node *section);
/* ctl_udsp.c */
int plan_udsp(struct plan *p, const struct lnetctl_node *section);
/* plan_router.c */
int plan_routing(struct plan *p, const struct lnetctl_node *section);
int plan_buffers(struct plan *p, const struct lnetctl_node *section);
/* ctl_route.c */
int plan_routes(struct plan *p, const struct lnetctl_node *section);

#endif
