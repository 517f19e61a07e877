/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace calls of the core. Each call is a branch that is patched out until an operator enables
 * the event. If the event is enabled, the branch calls trace.c, or the TCP driver for the event of
 * connections. plat.h includes this file, so the core names neither tracepoints nor namespaces.
 * events.h defines the fields of the events.
 */
#ifndef LNET_KERNEL_TRACE_H
#define LNET_KERNEL_TRACE_H

#include <linux/tracepoint-defs.h>
#include <linux/types.h>

struct lnet;
struct lnet_att;
struct lnet_ni;
struct lnet_nid;
struct lnet_op;
struct lnet_path;
struct lnet_peer;
struct lnet_rx;
struct lnet_select;
struct sock_conn;

/*
 * The arguments of each event. Process context; locks of the core may be held. The functions only
 * read, and neither sleep nor allocate. @from and @to are the old and the new state of the state
 * machine.
 */
#define LNET_TRACES(TRACE)								\
	TRACE(op, const struct lnet_op *op, u8 from, u8 to)				\
	TRACE(att, const struct lnet_att *att, u8 from, u8 to)				\
	TRACE(rx, const struct lnet_rx *rx, u8 from, u8 to)				\
	TRACE(ni, const struct lnet_ni *ni, u8 from, u8 to)				\
	TRACE(session, const struct lnet_peer *peer, u8 from, u8 to)			\
	TRACE(router, const struct lnet *ln, u8 from, u8 to)				\
	TRACE(discover, const struct lnet_peer *peer, u8 from, u8 to)			\
	TRACE(select, const struct lnet_select *s, const struct lnet_path *path)	\
	TRACE(health, const struct lnet *ln, const struct lnet_nid *nid, int from, int to) \
	TRACE(path, const struct lnet_path *path)					\
	TRACE(fail, const struct lnet_path *path, unsigned int how, u8 attrib)		\
	TRACE(conn, const struct sock_conn *c, u8 from, u8 to)

#define TRACE(event, ...)				\
	DECLARE_TRACEPOINT(lnet_##event);		\
	void lnet_trace_##event(__VA_ARGS__);
LNET_TRACES(TRACE)
#undef TRACE

#define lnet_trace(event, ...) do {			\
	if (tracepoint_enabled(lnet_##event))		\
		lnet_trace_##event(__VA_ARGS__);	\
} while (0)

/* A state machine changes its state. */
#define lnet_edge(machine, who, from, to)	lnet_trace(machine, who, from, to)
#define lnet_edge_untraced(machine, from, to)	((void)0)

#endif
