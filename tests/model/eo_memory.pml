/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exactly-once, the memory: matching, receiving payloads, replies, confirm messages and resets on
 * two rails (rules 6 to 12).
 *
 * Two rails, FIFO both ways per connection set. A payload has two pieces; each one reads or writes
 * memory. A reset loses everything in flight on its rail, both ways, and aborts half-received
 * payloads. When nothing is in flight and all attempts are used, one more attempt, without a fault
 * after it, must finish the request. Then all memory must be released. A run that cannot end in
 * this way is an invalid end state.
 *
 * Kinds (-D): PUT (acknowledged later, cumulatively), PUTACK, GET. Bounds: NREQ requests, ATT
 * attempts each, RESETS in all. ROUTED: a confirm message is separate and uses either rail; else it
 * is the zero-copy acknowledgement, on the rail of the reply that it confirms. GIVEUP: the sender
 * may abort at any moment. GONE: the receiver restarts or becomes a stock node. LAZY: the portal is
 * lazy, so a matched PUT may lose its buffer when its last receive is aborted (rule 7).
 * Mutants: see tests/model/rows; each must fail.
 *
 * Properties: one match, one effect, success implies the effect. No driver reads or writes memory
 * that was released. No "cached reply discarded" for an unfinished request. Every run ends with all
 * memory released.
 */
#ifndef NREQ
#define NREQ	1
#endif
#ifndef ATT
#define ATT	3
#endif
#ifndef RESETS
#define RESETS	2
#endif
#define DEPTH	4
#define at(q, c)	((q) * 2 + (c))
#ifdef GET
#define IS_GET	true
#else
#define IS_GET	false
#endif

mtype = { REQ, REQ1, REQ2, ACK, RPL1, RPL2, CONF, REPLY_DISCARDED, REFUSED, ZC };
chan fwd[2] = [DEPTH] of { mtype, byte };
chan rev[2] = [DEPTH] of { mtype, byte };
byte fwd_busy[2], rev_busy[2];	/* q + 1: the second piece of q must follow */
byte resets;

/* ---- sender ---- */
/* OVER: the final event was delivered, buffer ownership has returned to the program */
mtype = { OPEN, FINISHING, OVER };
mtype req[NREQ] = OPEN;
bool good[NREQ], gave_up[NREQ];
byte tries[NREQ];
bool last[NREQ];			/* the attempt without a fault has been made */
/* request attempt on a rail: 0 none, 1 unsent, 2 half written */
byte with_driver[2 * NREQ];
bool landing_s[2 * NREQ];		/* a reply is being received into the sender's memory */
bool confirm[2 * NREQ];			/* a confirm message is due on this rail */

/* ---- receiver ---- */
mtype = { NONE, TAKEN, MATCHED, FINAL, LOST };	/* LOST: only in the mutant LAZY_LOST */
mtype entry[NREQ] = NONE;
byte matches[NREQ], effects[NREQ];
byte hold[2 * NREQ];			/* waits for a buffer: 1 one piece received, 2 both */
bool landing_r[2 * NREQ];
bool ack_due[NREQ];			/* cumulative ACK */
bool event[NREQ];			/* PUT or GET event delivered: buffer ownership returned */
byte answering[2 * NREQ];	/* REPLY attempt on a rail: 0 none, 1 unsent, 2 half written */
bool answered[2 * NREQ];		/* was given to this connection set */
bool lost[NREQ];			/* the connection of a reply was lost, unconfirmed */
bool confirmed[NREQ];
bool no_window, stock;

byte i, k;				/* scratch variables of one step */

#define c_idle(c)	(empty(fwd[c]) && empty(rev[c]))
#define drivers(q)	(with_driver[at(q, 0)] || with_driver[at(q, 1)])
#define landings_s(q)	(landing_s[at(q, 0)] || landing_s[at(q, 1)])
#define landings_r(q)	(landing_r[at(q, 0)] || landing_r[at(q, 1)])
#define holds(q)	(hold[at(q, 0)] || hold[at(q, 1)])
#define answers(q)	(answering[at(q, 0)] || answering[at(q, 1)])
#define confirms(q)	(confirm[at(q, 0)] || confirm[at(q, 1)])
#define still(q)	(!drivers(q) && !landings_s(q) && !landings_r(q) && !holds(q) && \
			 !answers(q) && !confirms(q) && !ack_due[q] && !(lost[q] && !confirmed[q]))
#define quiet(q)	(c_idle(0) && c_idle(1) && still(q))
#define memory_back(q)	(entry[q] == NONE || event[q])

#ifdef W_LAZY
bool again[NREQ];
#define UNMATCHED(q)	again[q] = true
#else
#define UNMATCHED(q)	skip
#endif

/* An entry without effect loses its buffer, and the next attempt is matched like a new request. */
inline unmatch(q) {
	event[q] = true;		/* with -EIO: buffer ownership returns to the program */
#if defined(LAZY_KEPT)			/* the entry stays in its place */
	entry[q] = FINAL
#elif defined(LAZY_LOST)		/* the entry is neither removed nor matched again */
	entry[q] = LOST
#else
	entry[q] = NONE; matches[q]--; UNMATCHED(q)
#endif
}

#if defined(LAZY_DONE)			/* mutant: also after the effect */
#define may_unmatch(q)	((entry[q] == MATCHED || entry[q] == FINAL) && !landings_r(q) && !holds(q))
#elif defined(LAZY_JOINED)		/* mutant: also while another receive is in progress */
#define may_unmatch(q)	(entry[q] == MATCHED && !holds(q))
#else
#define may_unmatch(q)	(entry[q] == MATCHED && !landings_r(q) && !holds(q))
#endif

/* With LAZY either case is possible, because other peers may wait for the buffer or not. */
inline receive_abort(q, c) {
	if
#ifdef LAZY
	:: landing_r[at(q, c)] -> landing_r[at(q, c)] = false;
		if
		:: may_unmatch(q) -> unmatch(q)
		:: else
		fi
#endif
	:: true -> landing_r[at(q, c)] = false
	fi
}

inline rail_reset(c) {
	do
	:: nempty(fwd[c]) -> fwd[c]?_, _
	:: empty(fwd[c]) -> break
	od;
	do
	:: nempty(rev[c]) -> rev[c]?_, _
	:: empty(rev[c]) -> break
	od;
	fwd_busy[c] = 0; rev_busy[c] = 0;
	for (i : 0 .. NREQ - 1) {
		with_driver[at(i, c)] = 0; landing_s[at(i, c)] = false;
#ifndef ROUTED
		/* a zero-copy acknowledgement is lost with its connection set */
		confirm[at(i, c)] = false;
#endif
		receive_abort(i, c);
		hold[at(i, c)] = (hold[at(i, c)] == 2 -> 2 : 0);
#ifdef REMATCH
		entry[i] = (entry[i] == MATCHED && !landings_r(i) -> NONE : entry[i]);
#endif
		answering[at(i, c)] = 0;
		if
		:: answered[at(i, c)] && !confirmed[i] && !event[i] -> lost[i] = true
		:: else
		fi;
		answered[at(i, c)] = false
	}
	i = 0
}

/* ---- sender ---- */
inline request_finish(q, well) {
	req[q] = FINISHING; good[q] = well;
	assert(!(well) || effects[q] == 1)
}

inline confirm_owe(q, c) {
#ifdef ROUTED
	if
	:: confirm[at(q, 0)] = true
	:: confirm[at(q, 1)] = true
	fi
#else
	confirm[at(q, c)] = true
#endif
}

inline sender_take(c) {
	if
	:: rev[c]?ACK, k ->
		if
		:: req[k] == OPEN -> request_finish(k, true)
		:: else
		fi
	:: rev[c]?REFUSED, k ->
		if
		:: req[k] == OPEN -> request_finish(k, false)
		:: else
		fi
	:: rev[c]?REPLY_DISCARDED, k -> assert(req[k] != OPEN)
	:: rev[c]?ZC, k ->
#if defined(ZCFIN) || defined(HOPPUT)	/* the driver's answer finishes the request */
		if
		:: req[k] == OPEN -> request_finish(k, true)
		:: else
		fi
#else
		skip
#endif
	:: rev[c]?RPL1, k ->
		if
#ifdef DROPSECOND	/* another reply is being received: this one is dropped and confirmed */
		:: req[k] == OPEN && landings_s(k) -> confirm_owe(k, c)
		:: req[k] == OPEN && !landings_s(k) -> landing_s[at(k, c)] = true
#else
		:: req[k] == OPEN -> landing_s[at(k, c)] = true
#endif
		:: else		/* no operation, or a finished one: the payload is skipped */
		fi
	:: rev[c]?RPL2, k ->
		if
		:: landing_s[at(k, c)] ->
			assert(req[k] != OVER);		/* no write to released memory */
			landing_s[at(k, c)] = false;
			if
			:: req[k] == OPEN -> request_finish(k, true)
			:: else
			fi
		:: else
		fi;
		if
		:: req[k] != OPEN -> confirm_owe(k, c)
		:: else
		fi
	fi;
	k = 0
}

#ifdef SRCEARLY
#define sender_free(q)	true
#elif defined(EVEARLY)
#define sender_free(q)	(!drivers(q))
#else
#define sender_free(q)	(!drivers(q) && !landings_s(q))
#endif

#define SENDER_STEPS(q, c) \
	:: req[q] == OPEN && tries[q] < ATT && !with_driver[at(q, c)] -> \
		tries[q]++; with_driver[at(q, c)] = 1 \
	:: with_driver[at(q, c)] == 1 && !fwd_busy[c] && nfull(fwd[c]) -> \
		assert(req[q] != OVER);		/* no read of released memory */ \
		if \
		:: IS_GET -> fwd[c]!REQ, q; with_driver[at(q, c)] = 0 \
		:: else -> fwd[c]!REQ1, q; with_driver[at(q, c)] = 2; fwd_busy[c] = q + 1 \
		fi \
	:: with_driver[at(q, c)] == 2 && nfull(fwd[c]) HOP_ROOM(c) -> \
		assert(req[q] != OVER); \
		fwd[c]!REQ2, q; with_driver[at(q, c)] = 0; fwd_busy[c] = 0; HOP_ANSWER(q, c) \
	:: req[q] == FINISHING && with_driver[at(q, c)] == 1 -> with_driver[at(q, c)] = 0 \
	:: req[q] == FINISHING && gave_up[q] && with_driver[at(q, c)] == 2 -> rail_reset(c) \
	:: req[q] == FINISHING && landing_s[at(q, c)] -> landing_s[at(q, c)] = false \
	:: confirm[at(q, c)] && !fwd_busy[c] && nfull(fwd[c]) -> \
		confirm[at(q, c)] = false; fwd[c]!CONF, q

#define REQUEST_STEPS(q) \
	:: req[q] == OPEN && tries[q] == ATT && !last[q] && quiet(q) -> \
		last[q] = true; with_driver[at(q, 0)] = 1; resets = RESETS \
	:: req[q] == FINISHING && sender_free(q) -> req[q] = OVER \
	GIVE_UP(q) \
	/* receiver */ \
	:: entry[q] == TAKEN -> entry[q] = MATCHED; matches[q]++; assert(matches[q] == 1); \
		event[q] = false \
	FORGET(q) \
	:: ack_due[q] && nfull(rev[0]) && !rev_busy[0] -> ack_due[q] = false; rev[0]!ACK, q \
	:: ack_due[q] && nfull(rev[1]) && !rev_busy[1] -> ack_due[q] = false; rev[1]!ACK, q \
	:: !IS_GET && entry[q] == FINAL && !event[q] && EVENT_FREE(q) -> event[q] = true \
	:: IS_GET && !event[q] && RELEASE(q) -> event[q] = true \
	HOLD_OVER(q)

#ifdef LAZY		/* the connection of a request that waited for a buffer was lost */
#define FORGET(q)	:: entry[q] == TAKEN && !holds(q) -> entry[q] = NONE
#else
#define FORGET(q)
#endif
#ifdef GIVEUP
#define GIVE_UP(q)	:: req[q] == OPEN -> gave_up[q] = true; request_finish(q, false)
#elif defined(GONE)	/* the deadline, if also the last attempt brought no reply */
#define GIVE_UP(q)	:: req[q] == OPEN && last[q] && quiet(q) && (no_window || stock) -> \
				gave_up[q] = true; request_finish(q, false)
#else
#define GIVE_UP(q)
#endif
/*
 * The hold time, which is longer than any transaction of the sender, expires: for a held reply, and
 * for an entry that never became final.
 */
#ifdef NOHOLD		/* the receiver releases only held replies */
#define HOLD_OVER(q)	:: IS_GET && entry[q] == FINAL && !event[q] && req[q] == OVER && \
			   quiet(q) -> \
				event[q] = true
#else
#define HOLD_OVER(q)	:: (entry[q] == FINAL && IS_GET || entry[q] == MATCHED) && !event[q] && \
			   req[q] == OVER && quiet(q) -> \
				entry[q] = FINAL; event[q] = true
#endif
#ifdef HOPPUT		/* the router's driver acknowledges, even if the router loses the PUT */
#define HOP_ROOM(c)	&& nfull(rev[c]) && !rev_busy[c]
#define HOP_ANSWER(q, c) rev[c]!ZC, q
#else
#define HOP_ROOM(c)
#define HOP_ANSWER(q, c) skip
#endif
#ifdef EVEARLY
#define EVENT_FREE(q)	true
#else
#define EVENT_FREE(q)	!landings_r(q)
#endif
#ifdef RELFIRST
#define RELEASE(q)	confirmed[q]
#else
#define RELEASE(q)	(confirmed[q] && !answers(q))
#endif

/* ---- receiver ---- */
/* The payload is complete: the first one makes the entry final, and each one is acknowledged. */
inline land_done(q, c) {
	landing_r[at(q, c)] = false; hold[at(q, c)] = 0;
	if
	:: entry[q] == MATCHED ->
		entry[q] = FINAL; effects[q]++; assert(effects[q] == 1);
#ifdef PUT
		ack_due[q] = true
#else
		rev[c]!ACK, q
#endif
	:: entry[q] == FINAL -> rev[c]!ACK, q
	:: else
	fi
}

inline receiver_take(c) {
	if
	:: fwd[c]?REQ1, k ->
		if
		:: no_window || stock
		:: else ->
			if
			:: entry[k] == NONE -> entry[k] = TAKEN; hold[at(k, c)] = 1
			:: entry[k] == NONE ->
				matches[k]++; assert(matches[k] == 1);
				entry[k] = MATCHED; event[k] = false; landing_r[at(k, c)] = true
#ifndef TAKENDROP
			:: entry[k] == TAKEN -> hold[at(k, c)] = 1
#endif
			:: entry[k] == MATCHED -> landing_r[at(k, c)] = true
			:: else		/* final: the payload is skipped */
			fi
		fi
	:: fwd[c]?REQ2, k ->
#ifdef ZCFIN
		rev[c]!ZC, k;
#endif
		if
		:: stock
		:: no_window -> rev[c]!REFUSED, k
		:: !stock && !no_window && landing_r[at(k, c)] ->
			assert(!event[k]); land_done(k, c)
		:: !stock && !no_window && hold[at(k, c)] -> hold[at(k, c)] = 2
		:: !stock && !no_window && !landing_r[at(k, c)] && !hold[at(k, c)] &&
		   entry[k] == FINAL ->
			rev[c]!ACK, k
		:: else
		fi
	:: fwd[c]?REQ, k ->
		if
		:: entry[k] == NONE -> matches[k]++; effects[k]++; assert(matches[k] == 1);
			entry[k] = FINAL; answering[at(k, c)] = 1
		:: entry[k] == FINAL && event[k] -> rev[c]!REPLY_DISCARDED, k
		:: entry[k] == FINAL && !event[k] ->
			if
			:: !answered[at(k, c)] && !answering[at(k, c)] && !confirmed[k] ->
				answering[at(k, c)] = 1
			:: else		/* in flight on this rail */
			fi
		fi
	:: fwd[c]?CONF, k -> confirmed[k] = true; lost[k] = false
	fi;
	k = 0
}

#define RECEIVER_STEPS(q, c) \
	/* a buffer was posted: the waiting payload is received */ \
	:: hold[at(q, c)] == 1 && entry[q] == MATCHED -> \
		hold[at(q, c)] = 0; landing_r[at(q, c)] = true \
	:: hold[at(q, c)] == 1 && entry[q] == FINAL -> hold[at(q, c)] = 0 \
	:: hold[at(q, c)] == 2 && (entry[q] == MATCHED || entry[q] == FINAL) && nfull(rev[c]) && \
	   !rev_busy[c] -> \
		assert(entry[q] == FINAL || !event[q]); land_done(q, c) \
	/* rx_stop: another receive has completed, and the driver aborts this one */ \
	:: landing_r[at(q, c)] && entry[q] == FINAL -> landing_r[at(q, c)] = false \
	/* REPLY, sent from the source memory itself */ \
	:: answering[at(q, c)] == 1 && confirmed[q] -> answering[at(q, c)] = 0 \
	:: answering[at(q, c)] == 1 && !rev_busy[c] && nfull(rev[c]) -> \
		assert(!event[q]); \
		rev[c]!RPL1, q; answering[at(q, c)] = 2; \
		answered[at(q, c)] = true; rev_busy[c] = q + 1 \
	:: answering[at(q, c)] == 2 && nfull(rev[c]) -> \
		assert(!event[q]); \
		rev[c]!RPL2, q; answering[at(q, c)] = 0; rev_busy[c] = 0; COPIED(q) \
	:: lost[q] && !confirmed[q] && !event[q] && !answering[at(q, c)] -> \
		lost[q] = false; answering[at(q, c)] = 1
#ifdef RELCOPIED
#define COPIED(q)	event[q] = true
#elif defined(HOPCONF)	/* the router's driver has acknowledged */
#define COPIED(q)	confirmed[q] = true
#else
#define COPIED(q)	skip
#endif

inline receiver_restart() {
	rail_reset(0); rail_reset(1);
	for (i : 0 .. NREQ - 1) {
		entry[i] = NONE; hold[at(i, 0)] = 0; hold[at(i, 1)] = 0;
		ack_due[i] = false; event[i] = false
	}
	i = 0
}

/* room for the messages that the receiver may send when it takes one message */
#define room(c)		(len(rev[c]) + 2 <= DEPTH && !rev_busy[c])

active proctype world() {
	do
	:: atomic {
		if
		SENDER_STEPS(0, 0)
		SENDER_STEPS(0, 1)
		REQUEST_STEPS(0)
		RECEIVER_STEPS(0, 0)
		RECEIVER_STEPS(0, 1)
#if NREQ > 1
		SENDER_STEPS(1, 0)
		SENDER_STEPS(1, 1)
		REQUEST_STEPS(1)
		RECEIVER_STEPS(1, 0)
		RECEIVER_STEPS(1, 1)
#endif
		:: nempty(fwd[0]) && room(0) -> receiver_take(0)
		:: nempty(fwd[1]) && room(1) -> receiver_take(1)
		:: nempty(rev[0]) -> sender_take(0)
		:: nempty(rev[1]) -> sender_take(1)
		:: resets < RESETS -> resets++; rail_reset(0)
		:: resets < RESETS -> resets++; rail_reset(1)
#ifdef GONE
		:: !no_window && !stock && !last[0] -> no_window = true; receiver_restart()
		:: !no_window && !stock && !last[0] -> stock = true; receiver_restart()
#endif
		fi }
	:: atomic { req[0] == OVER && quiet(0) && memory_back(0) &&
		    (good[0] || gave_up[0] || no_window) &&
		    req[NREQ - 1] == OVER && still(NREQ - 1) && memory_back(NREQ - 1) &&
		    (good[NREQ - 1] || gave_up[NREQ - 1] || no_window) -> break }
	od
}

active proctype monitor() {
end:
/* witness: two receives of one request are in progress after a reset */
#if defined(W_JOIN)
	atomic { landing_r[0] && landing_r[1] && resets -> assert(false) }
#elif defined(W_ANSWERS)	/* witness: two replies are being received at the sender */
	atomic { landing_s[0] && landing_s[1] -> assert(false) }
#elif defined(W_LAST)		/* witness: the request needed the last attempt, and finished */
	atomic { last[0] && good[0] && req[0] == OVER && event[0] -> assert(false) }
#elif defined(W_AGAIN)		/* witness: reply lost, retransmitted, confirmed */
	atomic { resets == RESETS && confirmed[0] && tries[0] == 1 && req[0] == OVER ->
		 assert(false) }
#elif defined(W_LAZY)		/* witness: lost its buffer, was matched again, and succeeded */
	atomic { again[0] && good[0] && req[0] == OVER && event[0] -> assert(false) }
#else
	false
#endif
}
