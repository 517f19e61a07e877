/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passes traces of the core to tracepoints, with names of states and the network namespace. */
#include "env.h"
#include <lnet/nid.h>
#include <net/net_namespace.h>
#include "base/base.h"
#include "path/path.h"

/*
 * Static checkers define __CHECKER__. They are not to check the code that the kernel's macros
 * generate for CREATE_TRACE_POINTS.
 */
#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#endif
#include "events.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(lnet_conn);

/* ---- names ----------------------------------------------------------------------------------- */

#define EDGE(a, b)
#define AEDGE(a, b)
#define STATE(s) [s] = #s,
static const char *const op_names[] = {
#include "model/states/op.def"
};
static const char *const ni_names[] = {
#include "model/states/ni.def"
};
static const char *const session_names[] = {
#include "model/states/session.def"
};
static const char *const router_names[] = {
#include "model/states/router.def"
};
static const char *const discover_names[] = {
#include "model/states/discover.def"
};
#undef STATE
#define STATE(s, pc, buf) [s] = #s,
static const char *const rx_names[] = {
#include "model/states/rx.def"
};
#undef STATE
#define ASTATE(s, pc, nc, drv, mem) [s] = #s,
static const char *const att_names[] = {
#include "model/states/att.def"
};
#undef ASTATE
#undef EDGE
#undef AEDGE

static const char *const type_names[] = { "ACK", "PUT", "GET", "REPLY" };

static unsigned int space_of(const struct lnet *ln)
{
	return lnet_env_net(ln->env)->ns.inum;
}

/*
 * Returns the number of the network namespace of @sh, as ss and `readlink /proc/self/ns/net' print
 * it. If @sh is NULL, returns 0.
 */
static unsigned int space_of_shard(const struct lnet_shard *sh)
{
	return sh ? space_of(sh->ln) : 0;
}

static const char *path_word(const struct lnet_path *path)
{
	if (path->down_ns)
		return "down";
	if (path->suspect_ns)
		return "suspect";
	return path->recovering ? "recovering" : "up";
}

/* ---- events ---------------------------------------------------------------------------------- */

void lnet_trace_op(const struct lnet_op *op, u8 from, u8 to)
{
	trace_lnet_op(space_of_shard(op->sh), op, type_names[op->type & 3],
		      op->peer ? &op->peer->primary : NULL, op->len, op->tries, op_names[from],
		      op_names[to], lnet_outcomes[op->outcome].name);
}

void lnet_trace_att(const struct lnet_att *att, u8 from, u8 to)
{
	trace_lnet_att(space_of_shard(att->op->sh), att->op, att->ni ? &att->ni->nid : NULL,
		       att->pni ? &att->pni->nid : NULL, att_names[from], att_names[to]);
}

void lnet_trace_rx(const struct lnet_rx *rx, u8 from, u8 to)
{
	trace_lnet_rx(rx->from ? space_of(rx->from->ln) : 0, rx, type_names[rx->type & 3],
		      rx->from ? &rx->from->nid : NULL, rx->payload_len, rx_names[from],
		      rx_names[to]);
}

void lnet_trace_ni(const struct lnet_ni *ni, u8 from, u8 to)
{
	trace_lnet_ni(space_of(ni->ln), &ni->nid, ni_names[from], ni_names[to]);
}

void lnet_trace_session(const struct lnet_peer *peer, u8 from, u8 to)
{
	trace_lnet_session(space_of(peer->ln), &peer->primary, session_names[from],
			   session_names[to]);
}

void lnet_trace_router(const struct lnet *ln, u8 from, u8 to)
{
	trace_lnet_router(space_of(ln), NULL, router_names[from], router_names[to]);
}

void lnet_trace_discover(const struct lnet_peer *peer, u8 from, u8 to)
{
	trace_lnet_discover(space_of(peer->ln), &peer->primary, discover_names[from],
			    discover_names[to]);
}

void lnet_trace_select(const struct lnet_select *s, const struct lnet_path *path)
{
	const char *why = path ? "only one" : "no path";

	if (path && s->decided_by < LNET_NR_PATH_RANKS)
		why = lnet_path_rank_names[s->decided_by];
	trace_lnet_select(space_of(s->peer->ln), &s->peer->primary, path ? &path->ni->nid : NULL,
			  path ? &path->pni->nid : NULL, s->nr_cand, why);
}

void lnet_trace_health(const struct lnet *ln, const struct lnet_nid *nid, int from, int to)
{
	if (from != to)
		trace_lnet_health(space_of(ln), nid, from, to);
}

void lnet_trace_path(const struct lnet_path *path)
{
	trace_lnet_path(space_of(path->ni->ln), &path->ni->nid, &path->pni->nid, path_word(path),
			path->srtt_ns);
}

void lnet_trace_fail(const struct lnet_path *path, unsigned int how, u8 attrib)
{
	static const char *const names[] = { "none", "local", "remote", "both" };

	trace_lnet_fail(space_of(path->ni->ln), &path->ni->nid, &path->pni->nid,
			lnet_outcomes[how].name, names[attrib & LNET_ATTRIB_BOTH]);
}
