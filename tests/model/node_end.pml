/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The end of a node. lnet_destroy() runs while requests wait for the reply to a ping or for
 * credits, are with their driver or unanswered, or wait between two tries. Meanwhile a request is
 * received and answered, a path is pinged, events are delivered, and handlers send further
 * requests.
 *
 * The tables are lnet/model/states/op.def, att.def and ni.def: a step that is not an edge fails,
 * and credits and holds change by the columns. One atomic step = one hold of a shard, or a driver
 * call without any lock. A state of the interface is published under the locks of all shards.
 * Inlines have the names of the functions that they model in lnet/instance.c, send.c, op.c,
 * ni_config.c and recover.c. Operations 0 and 1 are requests: the handler of the first one's final
 * event makes the second. 2 is the reply to a received message, 3 is a ping.
 *
 * Bounds (-D): TRIES of a request, PINGS.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties:
 *	Only edges of the tables are taken. No attempt is given to a driver after lnet_destroy() has
 *	ended all operations. Every request has one final event. When the node is freed, credits and
 *	holds are all returned, nothing is referenced, and no thread works. lnet_destroy() ends,
 *	even if the network gives no response.
 */
#ifndef TRIES
#define TRIES	2
#endif
#ifndef PINGS
#define PINGS	2
#endif

#define STATE(n)	mtype = { n };
#define EDGE(a, b)
#include "../../lnet/model/states/ni.def"
#include "../../lnet/model/states/op.def"
#undef STATE
#undef EDGE
#define ASTATE(n, peer, ni, driver, memory)	mtype = { n };
#define AEDGE(a, b)
#include "../../lnet/model/states/att.def"
#undef ASTATE
#undef AEDGE

c_decl {
	static unsigned char legal[64][64];
	static int peer_column[64], ni_column[64], driver_column[64];
}

#define NR	4
#define ANSWER	2
#define PING	3

mtype ni = NI_ACTIVE;
mtype op[NR] = OP_NEW, att[NR] = ATT_FREE;
mtype was, next;		/* states of one step */
bool asked_for[NR];		/* the call was made, and found the node not stopping */
bool live[NR];			/* in a shard's list */
bool owed[NR];			/* a pass is about to call ops->send() */
bool has[NR];			/* the driver has it */
byte tries[NR];
byte ni_free = 1, peer_free = 1;
byte holds;
bool event[2];			/* a final event waits to be delivered */
byte nr_final[2];
byte pings = PINGS;
bool in_line, pinging;		/* the path: queued for a ping, the ping is in flight */
bool stopping, walked;		/* lnet_destroy() has begun, has ended all operations */
bool driver_stops, driver_stopped;
bool last_wait;			/* it waits for the last time; no thread works after that */
bool freed;
bool came;			/* a message was received */
bool ready;			/* the tables are filled */
byte at;			/* position of the current walk */

inline tables_fill() {
#define STATE(n)
#define ASTATE(n, peer, ni, driver, memory) was = n; \
	c_code { \
		peer_column[now.was] = peer; \
		ni_column[now.was] = ni; \
		driver_column[now.was] = driver; \
	};
#define EDGE(a, b)	was = a; next = b; c_code { legal[now.was][now.next] = 1; };
#define AEDGE(a, b)	EDGE(a, b)
#include "../../lnet/model/states/ni.def"
#include "../../lnet/model/states/op.def"
#include "../../lnet/model/states/att.def"
	was = 0; next = 0
}

inline ni_set_state(to) {
	was = ni; next = to;
	assert(c_expr { legal[now.was][now.next] });
	ni = to; was = 0; next = 0
}

inline op_enter(i, to) {
	if
	:: op[i] != to ->
		was = op[i]; next = to;
		assert(!freed && c_expr { legal[now.was][now.next] });
		op[i] = to; was = 0; next = 0
	:: else
	fi
}

inline att_enter(i, to) {
	was = att[i]; next = to;
	assert(!freed && c_expr { legal[now.was][now.next] });
	c_code {
		now.peer_free += peer_column[now.was] - peer_column[now.next];
		now.ni_free += ni_column[now.was] - ni_column[now.next];
		now.holds += driver_column[now.next] - driver_column[now.was];
	};
	att[i] = to; was = 0; next = 0
}

#define is_over(i)	(op[i] == OP_CANCEL || op[i] == OP_DONE)
#define waits(i)	(att[i] == ATT_WAIT_PEER || att[i] == ATT_WAIT_NI)
#define with_driver(i)	(att[i] == ATT_WIRE || att[i] == ATT_POSTED)

/* worth_it() */
#ifdef M_REQUEUE		/* the path is pinged again in any case */
#define worth_it	(pings > 0)
#else
#define worth_it	(pings > 0 && ni == NI_ACTIVE && !stopping)
#endif

inline try_done(i) {
	if
	:: op[i] == OP_CANCEL && !with_driver(i) ->
		assert(att[i] == ATT_FREE && !owed[i] && !has[i]);
		op_enter(i, OP_DONE);
		live[i] = false;
		if
		:: i < 2 -> event[i] = true
		:: i == PING -> pinging = false; in_line = worth_it	/* lnet_path_ping_done() */
		:: else
		fi
	:: else
	fi
}

/* Drops an attempt that waits or is unanswered. One with the driver is completed later. */
inline op_finish(i) {
	if
	:: is_over(i) -> skip
	:: !is_over(i) ->
		op_enter(i, OP_CANCEL);
		if
		:: waits(i) || att[i] == ATT_AWAIT_REPLY -> att_enter(i, ATT_FREE)
		:: else
		fi;
		try_done(i)
	fi
}

inline op_try(i) {
	op_enter(i, OP_TRY);
	if
	:: ni == NI_ACTIVE -> att_enter(i, ATT_WAIT_PEER)
	:: ni != NI_ACTIVE -> op_finish(i)	/* no path */
	fi
}

inline op_start(i) {
	assert(!freed);
	live[i] = true; asked_for[i] = false;
	if
#ifndef M_NOLOOK		/* a new operation does not check whether the node stops */
	:: stopping -> op_finish(i)
	:: !stopping && i < 2 -> op_enter(i, OP_RESOLVE)
	:: !stopping -> op_try(i)
#else
	:: i < 2 -> op_enter(i, OP_RESOLVE)
	:: op_try(i)
#endif
	fi
}

#define may_again(i)	(!stopping && tries[i] < TRIES && i < ANSWER)
/* attempt_failed(): its attempt is free */
inline attempt_failed(i) {
	if
#ifdef M_AGAIN			/* an aborted operation is retried when its driver completes it */
	:: op[i] == OP_DONE -> skip
	:: op[i] != OP_DONE && may_again(i) -> op_try(i)
	:: op[i] == OP_CANCEL && !may_again(i) -> try_done(i)
#else
	:: is_over(i) -> try_done(i)
	:: !is_over(i) && may_again(i) -> op_try(i)
#endif
	:: !is_over(i) && may_again(i) -> op_enter(i, OP_BACKOFF)
	:: !is_over(i) && !may_again(i) -> op_finish(i)
	fi
}

/* att_process_reports(): the driver completes the attempt */
inline given_back(i, good) {
	has[i] = false;
	if
	:: good && !is_over(i) && i != ANSWER ->
		op_enter(i, OP_AWAIT_REPLY); att_enter(i, ATT_AWAIT_REPLY)
	:: good && !is_over(i) && i == ANSWER -> att_enter(i, ATT_FREE); op_finish(i)
	:: !good || is_over(i) -> att_enter(i, ATT_FREE); attempt_failed(i)
	fi
}

#define OP_STEPS(i) \
	/* the call was made; the operation begins under the lock */ \
	:: asked_for[i] -> op_start(i) \
	/* the peer is known; or the deadline passes: timers and completions by the driver */ \
	:: op[i] == OP_RESOLVE && works -> op_try(i) \
	:: op[i] == OP_BACKOFF && works -> op_try(i) \
	:: works && live[i] && !is_over(i) && op[i] != OP_NEW -> op_finish(i) \
	:: att[i] == ATT_WAIT_PEER && peer_free -> att_enter(i, ATT_WAIT_NI) \
	:: att[i] == ATT_WAIT_NI && ni_free -> \
		att_enter(i, ATT_WIRE); tries[i]++; owed[i] = true; assert(!walked) \
	/* pass_end(): no lock is held */ \
	:: owed[i] && !driver_stops -> owed[i] = false; has[i] = true \
	:: owed[i] && driver_stops -> owed[i] = false; given_back(i, false) \
	/* the driver */ \
	:: has[i] && !driver_stopped && att[i] == ATT_WIRE && !is_over(i) -> \
		att_enter(i, ATT_POSTED); op_enter(i, OP_AWAIT_REPLY) \
	:: has[i] && !driver_stopped -> given_back(i, true) \
	:: has[i] && !driver_stopped -> given_back(i, false) \
	/* a reply */ \
	:: att[i] == ATT_AWAIT_REPLY && !driver_stopped -> op_finish(i)

#define works	(!last_wait || live[0] || live[1] || live[2] || live[3] || event[0] || event[1])

inline visit_all_finish() {
	at = 0;
	do
	:: atomic { at < NR ->
		if
		:: live[at] -> op_finish(at)
		:: else
		fi;
		at++ }
	:: atomic { at == NR -> at = 0; break }
	od
}

inline walk_ni() {
	at = 0;
	do
	:: atomic { at < NR ->
		if
		:: waits(at) -> att_enter(at, ATT_FREE); op_try(at)
		:: att[at] == ATT_AWAIT_REPLY -> att_enter(at, ATT_FREE); attempt_failed(at)
		:: else
		fi;
		at++ }
	:: atomic { at == NR -> at = 0; break }
	od
}

#define no_drivers	(!has[0] && !has[1] && !has[2] && !has[3])
#define no_paths	(att[0] == ATT_FREE && att[1] == ATT_FREE && att[2] == ATT_FREE && \
			 att[3] == ATT_FREE && !pinging)
#ifdef M_NOEVENTS		/* destroy() does not wait for events */
#define events_told	true
#else
#define events_told	(!event[0] && !event[1])
#endif
#define none_asked_for	(!asked_for[0] && !asked_for[1] && !asked_for[2] && !asked_for[3])
#define none_live	(!live[0] && !live[1] && !live[2] && !live[3])

active proctype destroy() {
	atomic { tables_fill(); ready = true };
	/* at any time */
	atomic { stopping = true };
	visit_all_finish();
	atomic { walked = true };
	/* lnet_net_stop() */
	atomic { ni_set_state(NI_DRAINING) };
	atomic { ni_set_state(NI_STOPPING) };
	atomic { driver_stops = true };
	atomic { no_drivers -> driver_stopped = true };
	walk_ni();
	atomic { !holds -> skip };
	atomic { no_paths -> in_line = false; ni_set_state(NI_GONE) };
	visit_all_finish();
	atomic { last_wait = true };
	/* earlier calls have ended: no operation is about to begin */
	atomic { none_asked_for && none_live && events_told ->
		freed = true;
		assert(no_drivers && no_paths && !holds && ni_free == 1 && peer_free == 1);
		assert(!in_line && !owed[0] && !owed[1] && !owed[2] && !owed[3]);
		assert(!event[0] && !event[1]);
		assert(nr_final[0] == (op[0] == OP_DONE) && nr_final[1] == (op[1] == OP_DONE))
	}
}

active proctype world() {
	atomic { ready -> skip };
end:
	do
	:: atomic {
		if
		OP_STEPS(0)
		OP_STEPS(1)
		OP_STEPS(2)
		OP_STEPS(3)
		/* lnet_put(): checks the node without a lock; then the call is in progress */
		:: op[0] == OP_NEW && !asked_for[0] && !live[0] && !stopping -> asked_for[0] = true
		/* the final event: its handler sends another request */
		:: event[0] && works ->
			event[0] = false; nr_final[0]++; assert(!freed && nr_final[0] == 1);
			if
			:: !stopping -> asked_for[1] = true
			:: else
			fi
		:: event[1] && works ->
			event[1] = false; nr_final[1]++; assert(!freed && nr_final[1] == 1)
		/* a message is received and answered */
		:: !came && !driver_stopped -> came = true; asked_for[ANSWER] = true
		/* the path fails; it is queued for a ping */
		:: !in_line && !pinging && worth_it && op[PING] == OP_NEW -> in_line = true
		:: in_line && works && !freed ->
			in_line = false;
			if
			:: worth_it ->
				pings--; pinging = true; op[PING] = OP_NEW; tries[PING] = 0;
				asked_for[PING] = true
			:: else
			fi
		fi
	   }
	od
}

active proctype monitor() {
end:
#if defined(W_BETWEEN)		/* the handler's call checks before lnet_destroy(), begins after */
	atomic { asked_for[1] && walked -> assert(false) }
#elif defined(W_OWED)		/* a pass is about to call the driver that has stopped */
	atomic { owed[0] && driver_stopped -> assert(false) }
#elif defined(W_ALL)		/* a reply and a ping with the driver, a request waits */
	atomic { waits(1) && stopping && !walked && has[ANSWER] && pinging -> assert(false) }
#else
	false
#endif
}
