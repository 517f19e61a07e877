/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the trace events. NIDs and states are recorded as texts, so that filters name them as
 * lnetctl does: echo 'peer == "10.0.0.2@tcp"' > events/lnet/lnet_op/filter
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lnet

#if !defined(LNET_KERNEL_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define LNET_KERNEL_EVENTS_H

#include <linux/tracepoint.h>
#include <lnet/nid.h>

#ifndef LNET_EVENT_NID
#define LNET_EVENT_WORD 24	/* size of the longest name of a state, with the final 0 */
#define LNET_EVENT_NID(to, nid) \
	((nid) ? (void)lnet_nid_str(nid, to) : (void)strscpy(to, "-", LNET_NIDSTR_SIZE))
#endif

TRACE_EVENT(lnet_op,
	TP_PROTO(unsigned int netns, const void *op, const char *type, const struct lnet_nid *peer,
		 u32 len, unsigned int tries, const char *from, const char *to,
		 const char *outcome),
	TP_ARGS(netns, op, type, peer, len, tries, from, to, outcome),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(const void *, op)
		__field(u32, len)
		__field(unsigned int, tries)
		__array(char, type, 8)
		__array(char, peer, LNET_NIDSTR_SIZE)
		__array(char, from, LNET_EVENT_WORD)
		__array(char, to, LNET_EVENT_WORD)
		__array(char, outcome, LNET_EVENT_WORD)
	),
	TP_fast_assign(
		__entry->netns = netns;
		__entry->op = op;
		__entry->len = len;
		__entry->tries = tries;
		strscpy(__entry->type, type, sizeof(__entry->type));
		LNET_EVENT_NID(__entry->peer, peer);
		strscpy(__entry->from, from, sizeof(__entry->from));
		strscpy(__entry->to, to, sizeof(__entry->to));
		strscpy(__entry->outcome, outcome, sizeof(__entry->outcome));
	),
	TP_printk("netns=%u op=%p type=%s peer=%s len=%u tries=%u %s -> %s outcome=%s",
		  __entry->netns, __entry->op, __entry->type, __entry->peer, __entry->len,
		  __entry->tries, __entry->from, __entry->to, __entry->outcome)
);

TRACE_EVENT(lnet_att,
	TP_PROTO(unsigned int netns, const void *op, const struct lnet_nid *ni,
		 const struct lnet_nid *peer, const char *from, const char *to),
	TP_ARGS(netns, op, ni, peer, from, to),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(const void *, op)
		__array(char, ni, LNET_NIDSTR_SIZE)
		__array(char, peer, LNET_NIDSTR_SIZE)
		__array(char, from, LNET_EVENT_WORD)
		__array(char, to, LNET_EVENT_WORD)
	),
	TP_fast_assign(
		__entry->netns = netns;
		__entry->op = op;
		LNET_EVENT_NID(__entry->ni, ni);
		LNET_EVENT_NID(__entry->peer, peer);
		strscpy(__entry->from, from, sizeof(__entry->from));
		strscpy(__entry->to, to, sizeof(__entry->to));
	),
	TP_printk("netns=%u op=%p ni=%s peer=%s %s -> %s", __entry->netns, __entry->op,
		  __entry->ni, __entry->peer, __entry->from, __entry->to)
);

TRACE_EVENT(lnet_rx,
	TP_PROTO(unsigned int netns, const void *rx, const char *type, const struct lnet_nid *peer,
		 u32 len, const char *from, const char *to),
	TP_ARGS(netns, rx, type, peer, len, from, to),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(const void *, rx)
		__field(u32, len)
		__array(char, type, 8)
		__array(char, peer, LNET_NIDSTR_SIZE)
		__array(char, from, LNET_EVENT_WORD)
		__array(char, to, LNET_EVENT_WORD)
	),
	TP_fast_assign(
		__entry->netns = netns;
		__entry->rx = rx;
		__entry->len = len;
		strscpy(__entry->type, type, sizeof(__entry->type));
		LNET_EVENT_NID(__entry->peer, peer);
		strscpy(__entry->from, from, sizeof(__entry->from));
		strscpy(__entry->to, to, sizeof(__entry->to));
	),
	TP_printk("netns=%u rx=%p type=%s peer=%s len=%u %s -> %s", __entry->netns, __entry->rx,
		  __entry->type, __entry->peer, __entry->len, __entry->from, __entry->to)
);

/*
 * A change of the state of an NI, of a peer's session or discovery, or (without a NID) of the
 * router.
 */
DECLARE_EVENT_CLASS(lnet_state,
	TP_PROTO(unsigned int netns, const struct lnet_nid *nid, const char *from, const char *to),
	TP_ARGS(netns, nid, from, to),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__array(char, nid, LNET_NIDSTR_SIZE)
		__array(char, from, LNET_EVENT_WORD)
		__array(char, to, LNET_EVENT_WORD)
	),
	TP_fast_assign(
		__entry->netns = netns;
		LNET_EVENT_NID(__entry->nid, nid);
		strscpy(__entry->from, from, sizeof(__entry->from));
		strscpy(__entry->to, to, sizeof(__entry->to));
	),
	TP_printk("netns=%u nid=%s %s -> %s", __entry->netns, __entry->nid, __entry->from,
		  __entry->to)
);

DEFINE_EVENT(lnet_state, lnet_ni,
	TP_PROTO(unsigned int netns, const struct lnet_nid *nid, const char *from, const char *to),
	TP_ARGS(netns, nid, from, to)
);

DEFINE_EVENT(lnet_state, lnet_session,
	TP_PROTO(unsigned int netns, const struct lnet_nid *nid, const char *from, const char *to),
	TP_ARGS(netns, nid, from, to)
);

DEFINE_EVENT(lnet_state, lnet_router,
	TP_PROTO(unsigned int netns, const struct lnet_nid *nid, const char *from, const char *to),
	TP_ARGS(netns, nid, from, to)
);

DEFINE_EVENT(lnet_state, lnet_discover,
	TP_PROTO(unsigned int netns, const struct lnet_nid *nid, const char *from, const char *to),
	TP_ARGS(netns, nid, from, to)
);

TRACE_EVENT(lnet_select,
	TP_PROTO(unsigned int netns, const struct lnet_nid *primary, const struct lnet_nid *ni,
		 const struct lnet_nid *peer, unsigned int candidates, const char *rule),
	TP_ARGS(netns, primary, ni, peer, candidates, rule),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(unsigned int, candidates)
		__array(char, primary, LNET_NIDSTR_SIZE)
		__array(char, ni, LNET_NIDSTR_SIZE)
		__array(char, peer, LNET_NIDSTR_SIZE)
		__array(char, rule, LNET_EVENT_WORD)
	),
	TP_fast_assign(
		__entry->netns = netns;
		__entry->candidates = candidates;
		LNET_EVENT_NID(__entry->primary, primary);
		LNET_EVENT_NID(__entry->ni, ni);
		LNET_EVENT_NID(__entry->peer, peer);
		strscpy(__entry->rule, rule, sizeof(__entry->rule));
	),
	TP_printk("netns=%u primary=%s ni=%s peer=%s candidates=%u rule=%s", __entry->netns,
		  __entry->primary, __entry->ni, __entry->peer, __entry->candidates,
		  __entry->rule)
);

TRACE_EVENT(lnet_health,
	TP_PROTO(unsigned int netns, const struct lnet_nid *nid, int from, int to),
	TP_ARGS(netns, nid, from, to),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(int, from)
		__field(int, to)
		__array(char, nid, LNET_NIDSTR_SIZE)
	),
	TP_fast_assign(
		__entry->netns = netns;
		__entry->from = from;
		__entry->to = to;
		LNET_EVENT_NID(__entry->nid, nid);
	),
	TP_printk("netns=%u nid=%s %d -> %d", __entry->netns, __entry->nid, __entry->from,
		  __entry->to)
);

TRACE_EVENT(lnet_path,
	TP_PROTO(unsigned int netns, const struct lnet_nid *ni, const struct lnet_nid *peer,
		 const char *state, u64 rtt_ns),
	TP_ARGS(netns, ni, peer, state, rtt_ns),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(u64, rtt_ns)
		__array(char, ni, LNET_NIDSTR_SIZE)
		__array(char, peer, LNET_NIDSTR_SIZE)
		__array(char, state, LNET_EVENT_WORD)
	),
	TP_fast_assign(
		__entry->netns = netns;
		__entry->rtt_ns = rtt_ns;
		LNET_EVENT_NID(__entry->ni, ni);
		LNET_EVENT_NID(__entry->peer, peer);
		strscpy(__entry->state, state, sizeof(__entry->state));
	),
	TP_printk("netns=%u ni=%s peer=%s state=%s rtt_ns=%llu", __entry->netns, __entry->ni,
		  __entry->peer, __entry->state, __entry->rtt_ns)
);

TRACE_EVENT(lnet_fail,
	TP_PROTO(unsigned int netns, const struct lnet_nid *ni, const struct lnet_nid *peer,
		 const char *outcome, const char *attrib),
	TP_ARGS(netns, ni, peer, outcome, attrib),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__array(char, ni, LNET_NIDSTR_SIZE)
		__array(char, peer, LNET_NIDSTR_SIZE)
		__array(char, outcome, LNET_EVENT_WORD)
		__array(char, attrib, 8)
	),
	TP_fast_assign(
		__entry->netns = netns;
		LNET_EVENT_NID(__entry->ni, ni);
		LNET_EVENT_NID(__entry->peer, peer);
		strscpy(__entry->outcome, outcome, sizeof(__entry->outcome));
		strscpy(__entry->attrib, attrib, sizeof(__entry->attrib));
	),
	TP_printk("netns=%u ni=%s peer=%s outcome=%s attributed=%s", __entry->netns, __entry->ni,
		  __entry->peer, __entry->outcome, __entry->attrib)
);

TRACE_EVENT(lnet_conn,
	TP_PROTO(unsigned int netns, const void *conn, const struct lnet_nid *ni,
		 const struct lnet_nid *peer, const char *type, bool ours, const char *from,
		 const char *to),
	TP_ARGS(netns, conn, ni, peer, type, ours, from, to),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(const void *, conn)
		__field(bool, ours)
		__array(char, ni, LNET_NIDSTR_SIZE)
		__array(char, peer, LNET_NIDSTR_SIZE)
		__array(char, type, 12)
		__array(char, from, LNET_EVENT_WORD)
		__array(char, to, LNET_EVENT_WORD)
	),
	TP_fast_assign(
		__entry->netns = netns;
		__entry->conn = conn;
		__entry->ours = ours;
		LNET_EVENT_NID(__entry->ni, ni);
		LNET_EVENT_NID(__entry->peer, peer);
		strscpy(__entry->type, type, sizeof(__entry->type));
		strscpy(__entry->from, from, sizeof(__entry->from));
		strscpy(__entry->to, to, sizeof(__entry->to));
	),
	TP_printk("netns=%u conn=%p ni=%s peer=%s type=%s %s %s -> %s", __entry->netns,
		  __entry->conn, __entry->ni, __entry->peer, __entry->type,
		  __entry->ours ? "dialled" : "accepted", __entry->from, __entry->to)
);

#endif

/*
 * Not inside the include guard, because the kernel includes this file once for each item that it
 * generates.
 */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH lnet/kernel
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events
#include <trace/define_trace.h>
