/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One operation with its embedded attempt and at most one hedge: every order of driver calls,
 * upcalls, replies and timers.
 *
 * The tables are lnet/model/states/op.def and att.def themselves: a step that is not an edge fails,
 * and credits change by the columns. One atomic step = one hold of the shard's lock, or one driver
 * call made without it. Inlines have the names of the functions that they model in lnet/xfer/send.c
 * and lnet/xfer/attempt.c.
 *
 * Kinds of operation (-D): WANT_NONE (done when handed to the fabric or confirmed), WANT_REPLY (the
 *	reply's payload is received into memory), WANT_ACK. REFER: the driver references the payload
 *	after it has handed it to the fabric; else the driver copies it (inline). TIMED: also models
 *	the deadline, the limit of retries, and the attribution of failures.
 * Bounds (-D): CREDITS of each kind (1: both attempts compete; 2: both may be with drivers), TRIES
 *	attempts started, LOSSES path losses, ANSWERS replies; with TIMED: LIMIT retries, HEDGES.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties:
 *	Only edges of the tables are taken. Credits and preallocated hedges are conserved. There is
 *	exactly one final event, and one SEND event before it. At the final event no driver has an
 *	attempt, no pass is about to call a driver with one, and no reply is being received. A
 *	driver is never called with an attempt that no longer belongs to its operation. No attempt
 *	in pni->asked belongs to a lost path. Every run ends in OP_DONE, even if the network stops
 *	responding forever at some moment. With TIMED: no attempt is given to a driver after the
 *	deadline, or more often than the limit and the hedges permit. Each attempt costs health at
 *	most once, regardless of when its driver completes it.
 */
#ifndef TRIES
#define TRIES	3
#endif
#ifndef LOSSES
#define LOSSES	1
#endif
#ifndef ANSWERS
#define ANSWERS	2
#endif
#ifndef LIMIT
#define LIMIT	1
#endif
#ifndef HEDGES
#define HEDGES	1
#endif
#if !defined(WANT_NONE) && !defined(WANT_REPLY)
#define WANT_ACK
#endif
#ifdef REFER
#define INLINE	false
#else
#define INLINE	true
#endif
/* of the peer NI and of the NI, each; shared with other traffic: see other_peer, other_ni */
#ifndef CREDITS
#define CREDITS	1
#endif

#define STATE(n)	mtype = { n };
#define EDGE(a, b)
#include "../../lnet/model/states/op.def"
#undef STATE
#undef EDGE
#define ASTATE(n, peer, ni, driver, memory)	mtype = { n };
#define AEDGE(a, b)
#include "../../lnet/model/states/att.def"
#undef ASTATE
#undef AEDGE

/*
 * The tables as data, which the first step fills, and the edges that a search took. They are not
 * part of the state.
 */
c_decl {
	static unsigned char legal[64][64], taken[64][64];
	static int peer_column[64], ni_column[64], driver_column[64];
	static const char *name[64];
	static void edges_print(void) {
		for (int a = 0; a < 64; a++)
			for (int b = 0; b < 64; b++)
				if (taken[a][b]) printf("edge %s %s\n", name[a], name[b]);
	}
}
#define ROW(n)		was = n; c_code { name[now.was] = #n; };
#define TRANSITION(a, b) was = a; next = b; c_code { legal[now.was][now.next] = 1; };

inline tables_fill() {
	c_code { atexit(edges_print); };
#define STATE(n)				ROW(n)
#define ASTATE(n, peer, ni, driver, memory)	ROW(n) \
	c_code { \
		peer_column[now.was] = peer; \
		ni_column[now.was] = ni; \
		driver_column[now.was] = driver; \
	};
#define EDGE(a, b)				TRANSITION(a, b)
#define AEDGE(a, b)				TRANSITION(a, b)
#include "../../lnet/model/states/op.def"
#include "../../lnet/model/states/att.def"
	was = 0; next = 0
}

/* ---- the state of the core, all under the shard lock ---- */
mtype op = OP_NEW;
mtype att[2] = ATT_FREE;	/* 0: embedded, 1: hedge */
mtype was, next;		/* states of one step */
bool finish;			/* the outcome became known in this step */
byte peer_free = CREDITS, ni_free = CREDITS;
byte reserve = 1;		/* hedges in the preallocated pool */
byte tries;
/* attempts with a driver or a pass, and replies being received; the final event waits for 0 */
byte nr_held;
bool landing;			/* a REPLY is being copied into the memory, no lock held */
byte att_epoch[2];		/* path epoch under which it was handed to the fabric */
byte lost[2];			/* path i (of attempt i): epochs below this are lost */
bool owed_send[2];		/* the attempt is on p->send of a pass, or in ops->send() */
bool owed_cancel[2];		/* a pass is about to call ops->cancel(), or is in it */
/* the driver completed it while a pass was about to call the driver: the pass finishes it */
bool back[2];
bool ok[2];			/* ... with this outcome */
byte nr_send_event, nr_final;
#ifdef TIMED
bool late;			/* the deadline is over */
byte nr_sent, hedges;		/* attempts given to drivers; hedges */
bool charged[2];		/* the attempt has cost health */
#endif

/* ---- the environment: other traffic, driver, network ---- */
byte other_peer, other_ni;	/* credits of other operations, which may keep them forever */
byte others = 2;		/* number of further credits that they may take */
mtype = { D_NONE, D_HAS, D_SENT, D_POSTED };
/* D_HAS: queued or half written; D_SENT: written, no upcall yet; D_POSTED: holds the payload */
mtype drv[2] = D_NONE;
bool called[2];			/* ops->send() has been called for this attempt */
bool aborted[2];		/* ops->cancel(ABORT) has been called */
byte drv_epoch[2];		/* epoch under which it was written */
byte epoch[2];			/* of the connection set of path i */
bool req_out;			/* some attempt reached the peer: replies may arrive */
byte answers;
bool silent;			/* the network no longer responds */

#define with_driver(i)	(att[i] == ATT_WIRE || att[i] == ATT_POSTED)
#define alive(i)	(att[i] != ATT_FREE)
#define waiting(i)	(att[i] == ATT_WAIT_PEER || att[i] == ATT_WAIT_NI)
#define asked(i)	(att[i] == ATT_POSTED || att[i] == ATT_AWAIT_REPLY)
#define owed(i)		(owed_send[i] || owed_cancel[i])
#define suspected()	((with_driver(0) || att[0] == ATT_AWAIT_REPLY) && !alive(1))
#define running()	(op != OP_NEW && op != OP_CANCEL && op != OP_DONE)

/* ---- state changes: the only places that assign op and att ---- */
inline op_enter(to) {
	was = op; next = to;
	assert(c_expr { legal[now.was][now.next] });
	c_code { taken[now.was][now.next] = 1; };
	op = to; was = 0; next = 0
}

/*
 * Leaving a state returns the credits that the next state does not hold. Entering a state takes
 * those that the last state did not hold. The columns of att.def define them.
 */
inline att_enter(i, to) {
	was = att[i]; next = to;
	assert(c_expr { legal[now.was][now.next] });
	c_code {
		taken[now.was][now.next] = 1;
		now.peer_free += peer_column[now.was] - peer_column[now.next];
		now.ni_free += ni_column[now.was] - ni_column[now.next];
		now.nr_held += driver_column[now.next] - driver_column[now.was];
	};
/* credits returned when handed to the fabric, and again when the driver completes the attempt */
#ifdef M_DOUBLEGIVE
	if
	:: was == ATT_POSTED -> peer_free++; ni_free++
	:: else
	fi;
#endif
	att[i] = to; was = 0; next = 0;
	if
	:: att[i] == ATT_FREE ->
		called[i] = false; aborted[i] = false; back[i] = false; ok[i] = false;
		att_epoch[i] = 0; drv_epoch[i] = 0;
		if
#ifdef M_HEDGELEAK	/* a failed hedge is not returned to the pool */
		:: i == 1 && op == OP_CANCEL -> reserve++
#else
		:: i == 1 -> reserve++
#endif
		:: else
		fi
	:: else
	fi
}

#ifdef TIMED
inline charge(i) {
	assert(!charged[i]); charged[i] = true
}
#define RESENDS	(nr_sent > hedges + 1 -> nr_sent - hedges - 1 : 0)
#ifdef M_ONEMORE		/* the limit is exceeded by one */
#define may_again	(!late && RESENDS <= LIMIT)
#else
#define may_again	(!late && RESENDS < LIMIT)
#endif
#define may_hedge	(hedges < HEDGES)
#define more_hedges()	hedges++
#define first_try	(nr_sent <= 1 && !hedges)
#else
#define charge(i)
#define may_again	(tries < TRIES)
#define may_hedge	(tries < TRIES)
#define more_hedges()	skip
#define first_try	(tries == 1)
#endif

/* ---- credit.c ---- */
inline to_wire(i) {
#ifdef TIMED
	if
#ifndef M_SENDSLATE		/* an attempt that waited past its deadline is sent */
	:: late -> att_enter(i, ATT_FREE)
	:: !late ->
#else
	:: true ->
#endif
		att_enter(i, ATT_WIRE); owed_send[i] = true; nr_sent++;
		assert(!late && nr_sent <= LIMIT + 1 + hedges)
	fi
#else
	att_enter(i, ATT_WIRE); owed_send[i] = true
#endif
}

/* ---- tx.c ---- */
inline att_start(i) {
	tries++;
#ifdef TIMED
	charged[i] = false; tries = 1;
#endif
	assert(drv[i] == D_NONE && !owed(i));	/* never reused while a driver has it */
	att_enter(i, ATT_WAIT_PEER)
}

inline send_event() {
	if
	:: nr_send_event == 0 -> nr_send_event++; assert(nr_final == 0)
	:: else
	fi
}

/* the driver has released it; good: success (confirmed, or handed to the fabric and copied) */
inline att_finish(i, good) {
	if
	:: !(good) -> charge(i); att_enter(i, ATT_FREE)
	:: (good) && op == OP_CANCEL -> att_enter(i, ATT_FREE)
	:: else ->
		send_event();
#ifdef WANT_NONE
		att_enter(i, ATT_FREE);
		finish = true
#else
		if
/* handed to the fabric under an epoch that is already lost: no later report would end it */
#ifndef M_NOEPOCH
		:: att_epoch[i] < lost[i] -> att_enter(i, ATT_FREE)
#endif
		:: else -> att_enter(i, ATT_AWAIT_REPLY)
		fi
#endif
	fi
}

inline lnet_att_done(i, good) {
	if
#ifndef M_NOPIN	/* mutant: finished while a pass is about to call the driver with it */
	:: owed(i) -> back[i] = true; ok[i] = good
#endif
	:: else -> att_finish(i, good)
	fi
}

/* copied payload: the driver keeps nothing, so this also completes the attempt */
inline lnet_att_posted(i) {
	att_epoch[i] = drv_epoch[i];
	if
	:: INLINE -> drv[i] = D_NONE; lnet_att_done(i, true)
	:: else -> drv[i] = D_POSTED; att_enter(i, ATT_POSTED)
	fi
}

/* the pass is back in the shard after ops->send() or ops->cancel() */
inline pass_return(i) {
	owed_send[i] = false; owed_cancel[i] = false;
	if
	:: back[i] -> back[i] = false; att_finish(i, ok[i])
/* mutant: the pass does not check whether the outcome became known before it called send() */
#ifndef M_NORECHECK
	:: !back[i] && op == OP_CANCEL && with_driver(i) && !aborted[i] -> owed_cancel[i] = true
#endif
	:: else
	fi
}

inline lnet_path_lost(i) {
	lost[i]++;
	if
	:: att[i] == ATT_AWAIT_REPLY && att_epoch[i] < lost[i] -> att_enter(i, ATT_FREE)
	:: else
	fi
}

inline att_recall(i) {
	if
	:: waiting(i) || att[i] == ATT_AWAIT_REPLY -> att_enter(i, ATT_FREE)
	:: with_driver(i) && !owed(i) -> owed_cancel[i] = true
	:: else		/* free; or a pass has a driver call to make, and checks again afterwards */
	fi
}

/* at the end of every lock hold that changed an attempt, or made the outcome known (finish) */
inline op_next() {
	if
	:: op == OP_TRY && (asked(0) || asked(1) || landing) -> op_enter(OP_AWAIT_REPLY)
	:: op == OP_AWAIT_REPLY && !asked(0) && !asked(1) && !landing && (alive(0) || alive(1)) ->
		op_enter(OP_TRY)
	:: (op == OP_TRY || op == OP_AWAIT_REPLY) && !alive(0) && !alive(1) &&
	   !landing && !finish ->
		if
		:: !may_again -> finish = true
		:: may_again ->				/* retry at once */
			if
			:: op == OP_AWAIT_REPLY -> op_enter(OP_TRY)
			:: else
			fi;
			att_start(0)
		:: may_again -> op_enter(OP_BACKOFF)	/* retry later */
		fi
	:: else
	fi;
	if	/* the outcome is known: other attempts are cancelled */
	:: finish && op != OP_CANCEL && op != OP_DONE ->
		op_enter(OP_CANCEL); att_recall(0); att_recall(1)
	:: else
	fi;
	finish = false;
	if	/* and no driver or pass holds an attempt: the one final event */
#ifdef M_EARLYFINAL	/* final event when the outcome is known, before the abort completes */
	:: op == OP_CANCEL ->
#else
	:: op == OP_CANCEL && nr_held == 0 ->
#endif
		send_event();		/* if it is still missing, it is first */
		op_enter(OP_DONE);
		nr_final++;
		/* memory is not released early */
		assert(drv[0] == D_NONE && drv[1] == D_NONE && !landing);
		assert(!owed(0) && !owed(1) && !alive(0) && !alive(1) && reserve == 1)
	:: else
	fi
}

#define conserved (peer_free + other_peer + (att[0] == ATT_WAIT_NI || att[0] == ATT_WIRE) \
		   + (att[1] == ATT_WAIT_NI || att[1] == ATT_WIRE) == CREDITS \
		   && ni_free + other_ni + (att[0] == ATT_WIRE) + (att[1] == ATT_WIRE) == CREDITS \
		   && reserve + alive(1) == 1)
#define held_right (nr_held == with_driver(0) + with_driver(1) + COUNT_LANDING)
#ifdef M_LANDFREE	/* a reply being received does not hold the operation */
#define COUNT_LANDING	0
#else
#define COUNT_LANDING	landing
#endif
#define drivers_right ((drv[0] == D_NONE || with_driver(0)) && \
		       (drv[1] == D_NONE || with_driver(1)))
#define none_lost ((att[0] != ATT_AWAIT_REPLY || att_epoch[0] >= lost[0]) && \
		   (att[1] != ATT_AWAIT_REPLY || att_epoch[1] >= lost[1]))

/* the possible steps of attempt i, its driver, its path and its timer */
#ifdef M_REUSE	/* the attempt timeout restarts the attempt while the driver has it */
#define has_slice(i)	(alive(i) && tries < TRIES)
#elif defined(M_NOWAITDEADLINE)
#define has_slice(i)	(att[i] == ATT_AWAIT_REPLY)
#else
/* with a driver: the driver reports the timeout */
#define has_slice(i)	(waiting(i) || att[i] == ATT_AWAIT_REPLY)
#endif
#define ATTEMPT_STEPS(i) \
	/* credit.c: a credit is free */ \
	:: att[i] == ATT_WAIT_PEER && peer_free > 0 -> att_enter(i, ATT_WAIT_NI) \
	:: att[i] == ATT_WAIT_NI && ni_free > 0 -> to_wire(i) \
	/* pass_end(), no lock: ops->send() accepts or rejects it; then the pass takes the lock */ \
	:: owed_send[i] && !called[i] -> \
		assert(att[i] == ATT_WIRE && op != OP_DONE); called[i] = true; drv[i] = D_HAS \
	:: owed_send[i] && !called[i] -> called[i] = true; back[i] = true; ok[i] = false \
	:: owed_send[i] && called[i] -> pass_return(i) \
	/* pass_end(), no lock: ops->cancel(ABORT); then the pass takes the lock */ \
	:: owed_cancel[i] && !aborted[i] -> \
		assert(with_driver(i) && op != OP_DONE); aborted[i] = true \
	:: owed_cancel[i] && aborted[i] -> pass_return(i) \
	/* the driver writes it, reports this, is confirmed, fails, or completes the abort */ \
	:: drv[i] == D_HAS && !silent -> drv[i] = D_SENT; drv_epoch[i] = epoch[i]; req_out = true \
	:: drv[i] == D_SENT && !silent -> lnet_att_posted(i) \
	:: drv[i] == D_POSTED && !silent -> drv[i] = D_NONE; lnet_att_done(i, true) \
	:: drv[i] != D_NONE && (!silent || aborted[i]) -> \
		drv[i] = D_NONE; lnet_att_done(i, false) \
	/* its connection set is lost; the upcall follows later */ \
	:: epoch[i] < LOSSES && !silent -> epoch[i]++ \
	:: lost[i] < epoch[i] -> lnet_path_lost(i) \
	:: running() && has_slice(i) -> \
		if \
		:: att[i] == ATT_AWAIT_REPLY -> charge(i) \
		:: else \
		fi; \
		att_enter(i, ATT_FREE)

#ifdef M_NOWAITDEADLINE	/* no deadline while it waits for credits */
#define deadline_counts()	(running() && !waiting(0) && !waiting(1))
#else
#define deadline_counts()	running()
#endif

/* op_deadline(): the paths of unanswered attempts lose health */
#ifdef M_TWICEBLAMED		/* also penalizes attempts that are with a driver */
#define silent_att(i)	(with_driver(i) || att[i] == ATT_AWAIT_REPLY)
#else
#define silent_att(i)	(att[i] == ATT_AWAIT_REPLY)
#endif
inline blame_silence(i) {
	if
	:: silent_att(i) -> charge(i)
	:: else
	fi
}

active proctype world() {
	atomic { tables_fill() };
	do
	:: atomic {
		if
		/* the caller: start, or end at once */
		:: op == OP_NEW -> op_enter(OP_RESOLVE)
		:: op == OP_NEW -> op_enter(OP_TRY); att_start(0)
		:: op == OP_NEW -> finish = true
		:: op == OP_RESOLVE && !silent -> op_enter(OP_TRY); att_start(0)
		/* timers: deadline (also the caller's unlink), end of back-off, suspicion */
		:: deadline_counts() -> finish = true
#ifdef TIMED
		:: !late && op != OP_NEW && op != OP_DONE -> late = true
		:: late && deadline_counts() ->
			blame_silence(0); blame_silence(1); finish = true
#endif
		:: op == OP_BACKOFF -> op_enter(OP_TRY); att_start(0)
		:: (op == OP_TRY || op == OP_AWAIT_REPLY) && suspected() && may_hedge &&
		   reserve > 0 ->
			more_hedges(); reserve--; att_start(1)
		ATTEMPT_STEPS(0)
		ATTEMPT_STEPS(1)
		/*
		 * replies, at any time after a request was sent; those for a finished operation
		 * find no slot
		 */
#ifdef WANT_REPLY
		:: req_out && !silent && answers < ANSWERS && running() && !landing ->
			answers++; landing = true; nr_held = nr_held + COUNT_LANDING
		:: landing && !silent ->
			nr_held = nr_held - COUNT_LANDING; landing = false; finish = true
		/*
		 * the connection was lost, or the receive was aborted (promptly) because the
		 * operation has finished
		 */
		:: landing && (!silent || !running()) ->
			nr_held = nr_held - COUNT_LANDING; landing = false
#endif
#ifndef WANT_NONE
		/*
		 * the session has expired: a new request ID, if no attempt can have had an effect,
		 * and none is with a driver
		 */
		:: req_out && !silent && first_try && att[0] == ATT_AWAIT_REPLY &&
		   op == OP_AWAIT_REPLY && !landing ->
			att_enter(0, ATT_FREE); op_enter(OP_RESOLVE)
		:: !silent && first_try && waiting(0) && op == OP_TRY ->
			att_enter(0, ATT_FREE); op_enter(OP_RESOLVE)
#endif
#ifdef WANT_ACK
		:: req_out && !silent && running() -> finish = true
#endif
		/* other traffic, at any time; it may never return a credit */
		:: others > 0 && peer_free > 0 && !other_peer ->
			others--; peer_free--; other_peer++
		:: others > 0 && ni_free > 0 && !other_ni -> others--; ni_free--; other_ni++
		:: other_peer && !silent -> other_peer--; peer_free++
		:: other_ni && !silent -> other_ni--; ni_free++
		:: !silent -> silent = true
		fi;
		op_next()
	   }
	:: atomic { silent && op == OP_DONE && !landing && lost[0] == epoch[0] &&
		    lost[1] == epoch[1] -> break }
	od;
	assert(nr_final == 1 && nr_send_event == 1 && nr_held == 0)
}

/* between any two steps */
active proctype monitor() {
end:
/* witness: a hedge awaits its reply, the embedded attempt is still with its driver */
#if defined(W_HEDGE)
	atomic { att[1] == ATT_AWAIT_REPLY && drv[0] != D_NONE -> assert(false) }
#elif defined(W_PINNED)		/* witness: completed while a pass is about to cancel it */
	atomic { owed_cancel[0] && back[0] && !aborted[0] -> assert(false) }
/* witness: in back-off with one try left, the reply to an earlier attempt is being received */
#elif defined(W_LATE)
	atomic { op == OP_BACKOFF && landing && tries == TRIES - 1 -> assert(false) }
#elif defined(W_LOST)		/* witness: handed to the fabric on a path that is already lost */
	atomic { drv[0] == D_SENT && drv_epoch[0] < lost[0] -> assert(false) }
#elif defined(W_TWO)	/* the first attempt failed, the hedge is unanswered at the deadline */
	atomic { charged[0] && att[1] == ATT_AWAIT_REPLY && late -> assert(false) }
#else
	atomic { !(conserved && held_right && drivers_right && none_lost &&
		   nr_final == (op == OP_DONE)) -> assert(false) }
#endif
}
