/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The end of a memory descriptor. Requests by it (with TARGET: messages into it) begin, are with
 * their drivers, are answered, are received, or exceed their deadline. Meanwhile the descriptor is
 * unlinked or used up, and its events are delivered.
 *
 * The table is lnet/model/states/op.def itself: a step that is not an edge fails. One atomic step =
 * one hold of the MD's lock, or of a request's shard; each request has its own shard. Inlines have
 * the names of the functions that they model in lnet/memory/md.c, event.c, op.c and reply.c.
 * Request 0 waits for an ACK, request 1 for a REPLY.
 *
 * Bounds (-D): THRESHOLD (0: unlimited), AUTO: the MD is unlinked when it is used up, UNLINKS,
 *	DELIVERERS, ANSWERS of each request. SLOT: both requests have the same slot, one after the
 *	other.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties:
 *	Only edges of the table are taken. Each request has one final event, which reports success
 *	only if its own reply was received in full. No event follows the one that reports
 *	"unlinked". When that event is delivered, no driver has the memory and no payload is being
 *	received into it, then or later. Once the MD is unlinked, no request waits for its deadline.
 *	No thread uses a freed descriptor. A descriptor that was unlinked or used up is freed.
 */
#ifndef THRESHOLD
#define THRESHOLD 0
#endif
#ifndef UNLINKS
#define UNLINKS	1
#endif
#ifndef DELIVERERS
#define DELIVERERS 2
#endif
#ifndef ANSWERS
#define ANSWERS	1
#endif
#define NR	2


#define STATE(n)	mtype = { n };
#define EDGE(a, b)
#include "../../lnet/model/states/op.def"
#undef STATE
#undef EDGE

c_decl {
	static unsigned char legal[64][64];
}

/* the descriptor */
byte refs;
short threshold = (THRESHOLD > 0 -> THRESHOLD : -1);
bool dead, aborted, gone_sent, delivering, freed;
byte pins;
mtype = { SEND, GOOD, BAD, UNLINK };
chan done = [6] of { mtype, byte, bool };	/* kind, request, unlinked */
byte ready;			/* it is on a list of MDs with events to deliver */

/* the requests */
mtype op[NR] = OP_NEW;
mtype was, next;
bool made[NR], begun[NR], refused[NR];
bool held[NR];			/* a driver has the memory */
bool landing[NR], whole[NR];
bool out[NR];			/* it was sent: replies may arrive, now or later */
bool used[NR];			/* the reply has been counted against the threshold */
bool good[NR];			/* the outcome */
bool owes[NR];			/* a pass is about to post the final event */
bool sent[NR];
byte answers[NR];

/* as the program sees it */
bool unlinked;
byte nr_final[NR];
byte walked;			/* unlinkings that have visited all requests */
byte ended;			/* unlinkings that have ended */
bool close;			/* result of md_close() in one step */
byte x;

inline tables_fill() {
#define STATE(n)
#define EDGE(a, b)	was = a; next = b; c_code { legal[now.was][now.next] = 1; };
#include "../../lnet/model/states/op.def"
	was = 0; next = 0
}

inline op_enter(i, to) {
	was = op[i]; next = to;
	assert(c_expr { legal[now.was][now.next] });
	op[i] = to; was = 0; next = 0
}

#ifdef M_TWICE			/* the outcome is set a second time */
#define is_over(i)	(op[i] == OP_DONE)
#else
#define is_over(i)	(op[i] == OP_CANCEL || op[i] == OP_DONE)
#endif
#define spent		(threshold == 0)
#ifdef AUTO
#define used_up		spent
#else
#define used_up		false
#endif

/* ---- the MD's lock held ---- */

inline md_queue(kind, i, last) {
	done!kind, i, last;
	if
#ifdef M_TWOATONCE		/* each thread that queues an event delivers */
	:: ready < 2 -> delivering = true; ready++
	:: else
#else
	:: !delivering -> delivering = true; ready++
	:: else
#endif
	fi
}

/* result in @close: this event is the last */
inline md_close() {
	if
#ifdef M_NOREFS			/* unlinked while it is in use */
	:: gone_sent -> close = false
#else
	:: refs || gone_sent -> close = false
#endif
	:: else ->
		close = dead || used_up;
		dead = dead || close;
		gone_sent = close
	fi
}

inline lnet_md_unlock_free() {
	if
#ifdef M_EARLYGONE		/* freed while its events are delivered */
	:: gone_sent && !pins -> assert(!freed); freed = true
#else
	:: gone_sent && !pins && !delivering -> assert(!freed); freed = true
#endif
	:: else
	fi
}

inline lnet_md_take(i) {
	assert(!freed);
	if
	:: threshold > 0 -> threshold--
	:: else
	fi;
	refs++; made[i] = true;
#ifdef TARGET
	dead = dead || used_up		/* try_me() */
#endif
}

inline post(i) {
	owes[i] = false;
	assert(!freed && refs && !gone_sent);
	refs--;
	md_close();
	if
	:: good[i] -> md_queue(GOOD, i, close)
	:: else -> md_queue(BAD, i, close)
	fi;
	close = false
}

/* ---- a request's shard locked ---- */

inline try_done(i) {
	if
#ifdef M_LANDFREE		/* done while a reply is being received */
	:: op[i] == OP_CANCEL && !held[i] -> op_enter(i, OP_DONE); owes[i] = true
#else
	:: op[i] == OP_CANCEL && !held[i] && !landing[i] -> op_enter(i, OP_DONE); owes[i] = true
#endif
	:: else
	fi
}

inline op_finish(i, how) {
	if
	:: !is_over(i) -> good[i] = how; op_enter(i, OP_CANCEL); try_done(i)
	:: else
	fi
}

inline op_start(i) {
	begun[i] = true;
	assert(!freed);
	if
#ifndef M_NOLOOK		/* a request begins although its descriptor was unlinked */
	:: aborted -> op_finish(i, false)
#endif
	:: else -> op_enter(i, OP_TRY); held[i] = true
	fi
}

#ifdef M_NOGEN			/* the slot alone identifies the request of a reply */
#define found(i, j)	(begun[j] && !is_over(j))
#else
#define found(i, j)	(i == j && !is_over(j))
#endif

/* a reply to request @i, matched with request @j; use_md() */
inline answer_take(i, j) {
	if
	:: !used[j] && aborted -> skip		/* rejected */
	:: else ->
		assert(!freed && i == j);
		if
		:: !used[j] && threshold > 0 -> threshold--
		:: else
		fi;
		used[j] = true;
		if
		:: j == 0 -> whole[j] = true; op_finish(j, true)
		:: else -> landing[j] = true
		fi
	fi
}

#ifdef SLOT
#define IN_TURN	true
#else
#define IN_TURN	false
#endif
#define may_make(i)	(i == 0 || !IN_TURN || op[0] == OP_DONE)
/* md_end() and the later steps of a message into it */
#ifdef TARGET
#define STEPS(i) \
	/* matched; or the reply to a GET is given to the driver */ \
	:: !made[i] && !refused[i] && !dead && !spent -> \
		lnet_md_take(i); begun[i] = true; op_enter(i, OP_TRY); held[i] = true \
	:: !made[i] && !refused[i] && (dead || spent) -> refused[i] = true \
	:: held[i] -> held[i] = false; op_finish(i, true) \
	:: owes[i] -> post(i)
#else
#define STEPS(i) \
	/* lnet_md_use_bound() */ \
	:: !made[i] && !refused[i] && may_make(i) && !dead && !spent -> lnet_md_take(i) \
	:: !made[i] && !refused[i] && (dead || spent) -> refused[i] = true \
	:: made[i] && !begun[i] -> op_start(i) \
	/* it was sent; its SEND event */ \
	:: op[i] == OP_TRY && held[i] -> \
		op_enter(i, OP_AWAIT_REPLY); out[i] = true; \
		assert(!freed && refs && !gone_sent); sent[i] = true; md_queue(SEND, i, false) \
	/* the driver completes it */ \
	:: held[i] && (out[i] || is_over(i)) -> held[i] = false; try_done(i) \
	/* a reply arrives, perhaps late */ \
	:: out[i] && answers[i] < ANSWERS && !(landing[0] || landing[1]) -> \
		answers[i]++; \
		if \
		:: found(i, 0) -> answer_take(i, 0) \
		:: found(i, 1) -> answer_take(i, 1) \
		:: else \
		fi \
	/* its payload is complete, or the receive fails */ \
	:: landing[i] -> \
		assert(!freed); landing[i] = false; whole[i] = true; \
		if \
		:: is_over(i) -> try_done(i) \
		:: else -> op_finish(i, true) \
		fi \
	:: landing[i] -> assert(!freed); landing[i] = false; try_done(i) \
	/* the deadline */ \
	:: begun[i] && !is_over(i) -> assert(!walked); op_finish(i, false) \
	:: owes[i] -> post(i)
#endif

#define settled(i)	(refused[i] || (made[i] && op[i] == OP_DONE && !owes[i] && !landing[i]))

active proctype world() {
	atomic { tables_fill() };
	do
	:: atomic {
		if
		STEPS(0)
		STEPS(1)
		fi
	   }
	:: atomic { settled(0) && settled(1) && ended == UNLINKS && !ready && !delivering -> break }
	od;
	atomic {
		assert(len(done) == 0 && nr_final[0] == made[0] && nr_final[1] == made[1]);
		assert(refs == 0 && pins == 0 && unlinked == freed && freed == gone_sent);
		assert(freed == (dead || used_up))
	}
}

#define under_way(i)	(begun[i] && !is_over(i))
inline visit(i) {
	assert(!freed);
	if
	:: under_way(i) -> op_finish(i, false)
	:: else
	fi
}

#if UNLINKS > 0
/* lnet_md_unlink() */
active [UNLINKS] proctype unlinker() {
	bool busy;

	if
	:: atomic { dead -> ended++; goto gone }
	:: atomic { !dead ->
		assert(!freed); aborted = true; dead = true;
#ifndef M_NOPIN			/* freed while the requests that use it are visited */
		pins++
#endif
	   }
	fi;
	atomic {
		assert(!freed);
		busy = refs != 0; md_close();
		if
		:: close -> md_queue(UNLINK, NR, true)
		:: else
		fi;
		close = false
	};
#ifndef TARGET
	if
	:: atomic { busy -> visit(0) };
		atomic { visit(1) };
		atomic { assert(!under_way(0) && !under_way(1)); walked++ }
	:: atomic { !busy -> skip }
	fi;
#endif
	atomic {
		assert(!freed);
#ifndef M_NOPIN
		pins--;
#endif
		lnet_md_unlock_free();
		ended++
	}
gone:
	skip
}
#endif

inline handle(kind, i, last) {
	assert(!freed && !unlinked);
	if
	:: kind == SEND -> assert(!nr_final[i])
	:: kind == GOOD -> nr_final[i]++
	:: kind == BAD -> nr_final[i]++
	:: kind == UNLINK
	fi;
#ifndef TARGET
	assert(kind != GOOD || whole[i]);
#endif
	assert(i == NR || nr_final[i] <= 1);
	unlinked = last
}

/* event.c: any thread that finds it ready */
active [DELIVERERS] proctype deliverer() {
	mtype kind, kind2;
	byte i, i2;
	bool last, last2, more;
end:
	do
	:: atomic { ready -> ready--; more = true };
		do
		:: atomic { more && len(done) -> assert(!freed);
			done?kind, i, last;
			if
			:: len(done) -> done?kind2, i2, last2
			:: else
			fi };
			atomic { handle(kind, i, last); kind = 0; i = 0; last = false };
			if
			:: atomic { kind2 ->
				handle(kind2, i2, last2); kind2 = 0; i2 = 0; last2 = false }
			:: atomic { !kind2 -> skip }
			fi
		:: atomic { more && !len(done) ->
			assert(!freed); delivering = false; lnet_md_unlock_free(); more = false;
			break }
		od
	od
}

active proctype monitor() {
end:
/* a reply arrives for an unlinked MD, before its request is aborted */
#if defined(W_REFUSED)
	atomic { aborted && out[1] && !is_over(1) && !used[1] && !walked -> assert(false) }
#elif defined(W_LANDS)		/* unlinked while a reply is being received, nothing else is left */
	atomic { walked && landing[1] && op[1] == OP_CANCEL && !held[1] && nr_final[0] ->
		 assert(false) }
#elif defined(W_OWN)		/* a separate last event */
	atomic { unlinked && nr_final[0] && nr_final[1] && walked -> assert(false) }
#elif defined(W_BETWEEN)	/* made before the unlinking, begun after all were aborted */
	atomic { walked && made[1] && !begun[1] -> assert(false) }
#elif defined(W_LATE)		/* a reply to the earlier request of the slot */
	atomic { IN_TURN && out[0] && !answers[0] && out[1] && !is_over(1) -> assert(false) }
#else
	/* buffer ownership has returned to the program */
	atomic { unlinked && (held[0] || held[1] || landing[0] || landing[1]) -> assert(false) }
#endif
}
