/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Credits: attempts to two peers over one interface. Each takes a credit of the peer, then one of
 * the interface. Attempts wait by class, are sent, are cancelled, select again or exceed their
 * deadline.
 *
 * The table is lnet/model/states/att.def itself: a step that is not an edge fails, and credits
 * change by its columns. One atomic step = one hold of the shard's lock. Inlines have the names of
 * the functions that they model in lnet/xfer/attempt.c, request_id.c and send.c. Attempts 0 and 1
 * are control messages, the others are data.
 *
 * Bounds (-D): NR attempts, CREDITS of each peer, NI_CREDITS, WINDOW requests in flight that a peer
 *	permits, LATES attempts that exceed their deadline, MOVES repeated selections. REFER: the
 *	driver references the payload after it has handed the attempt to the fabric.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties:
 *	Only edges of the table are taken. Credits and request IDs correspond to the states. Credits
 *	are never below 0 for data, and never below -EXTRA for control messages. After each step no
 *	attempt waits that may proceed. No attempt is sent after its deadline. If drivers complete
 *	all attempts, every attempt ends: no deadlock.
 */
#ifndef NR
#define NR	4
#endif
#ifndef CREDITS
#define CREDITS	1
#endif
#ifndef NI_CREDITS
#define NI_CREDITS 1
#endif
#ifndef WINDOW
#define WINDOW	1
#endif
#ifndef LATES
#define LATES	1
#endif
#ifndef MOVES
#define MOVES	1
#endif
#ifndef EXTRA
#define EXTRA	1		/* CONTROL_EXTRA */
#endif

#define ASTATE(n, peer, ni, driver, memory)	mtype = { n };
#define AEDGE(a, b)
#include "../../lnet/model/states/att.def"
#undef ASTATE
#undef AEDGE

c_decl {
	static unsigned char legal[64][64];
	static int peer_column[64], ni_column[64], driver_column[64];
}

#ifdef REFER
#define REFERS	true
#else
#define REFERS	false
#endif

#define CONTROL	0
#define DATA	1
#define cls(m)	(m < 2 -> CONTROL : DATA)

mtype att[NR] = ATT_FREE;
mtype was, next;		/* states of one step */
byte to[NR];			/* its peer */
bool begun[NR], over[NR];
bool late[NR];			/* its deadline has passed */
bool named[NR];			/* it has a request ID in its peer's window */
bool aside[NR];			/* it waits for a request ID */
short peer_credits[2] = CREDITS, ni_credits = NI_CREDITS;
byte names[2];			/* request IDs in use */
byte lates = LATES, moves = MOVES;
chan pw[4] = [NR] of { byte };	/* by peer and class: waiting for a credit of the peer */
chan nw[2] = [NR] of { byte };	/* by class: waiting for a credit of the NI */
byte a, b, c, d, p, k;		/* scratch variables of one step */
short held;
bool gives_peer, gives_ni;
mtype step;
bool ends, enters;
byte cur;

#define peer_wait(m)	pw[to[m] * 2 + cls(m)]
#define waits(m)	(att[m] == ATT_WAIT_PEER || att[m] == ATT_WAIT_NI)
/* the correct rule, which the checks use */
#define may(credits, cl)	(credits > (cl == CONTROL -> -EXTRA : 0))
#ifdef M_DATAEXTRA		/* data may use the credits of control messages */
#define may_take(credits, cl)	(credits > -EXTRA)
#else
#define may_take(credits, cl)	may(credits, cl)
#endif

inline tables_fill() {
#define ASTATE(n, peer, ni, driver, memory) was = n; \
	c_code { \
		peer_column[now.was] = peer; \
		ni_column[now.was] = ni; \
		driver_column[now.was] = driver; \
	};
#define AEDGE(x, y)	was = x; next = y; c_code { legal[now.was][now.next] = 1; };
#include "../../lnet/model/states/att.def"
	was = 0; next = 0
}

/* Changes the credits by the difference of the two states. It wakes no attempt. */
inline account(m, s) {
	was = att[m]; next = s; p = to[m];
	assert(c_expr { legal[now.was][now.next] });
	c_code {
		int peer = peer_column[now.was] - peer_column[now.next];
		int ni = ni_column[now.was] - ni_column[now.next];

		now.peer_credits[now.p] += peer;
		now.ni_credits += ni;
		now.gives_peer = peer > 0;
		now.gives_ni = ni > 0;
	};
#ifdef M_DOUBLEGIVE		/* the credit is returned at ATT_POSTED and again at the end */
	if
	:: was == ATT_POSTED -> ni_credits++
	:: else
	fi;
#endif
	assert(cls(m) == CONTROL || s == ATT_FREE || s == ATT_POSTED || s == ATT_AWAIT_REPLY ||
	       s == ATT_WAIT_PEER || (s == ATT_WAIT_NI && peer_credits[p] >= 0) ||
	       (s == ATT_WIRE && ni_credits >= 0));
	att[m] = s; was = 0; next = 0; p = 0
}

/* to_wire() and lnet_op_draw_id() */
inline to_wire(m) {
	if
#ifndef M_SENDSLATE
	:: late[m] -> account(m, ATT_FREE)	/* its timer ends it */
	:: !late[m] && cls(m) == DATA && !named[m] && names[to[m]] == WINDOW ->
#else
	:: cls(m) == DATA && !named[m] && names[to[m]] == WINDOW ->
#endif
		account(m, ATT_FREE); aside[m] = true
	:: else ->
		if
		:: cls(m) == DATA && !named[m] -> named[m] = true; names[to[m]]++
		:: else
		fi;
		account(m, ATT_WIRE);
		assert(!late[m])
	fi
}

/* If the attempt cannot be sent, the caller gives the peer's credit to another attempt. */
inline wait_ni(m) {
	account(m, ATT_WAIT_NI);
	if
	:: !may_take(ni_credits, cls(m)) || len(nw[cls(m)]) > 0 -> nw[cls(m)]!m
	:: may_take(ni_credits, cls(m)) && len(nw[cls(m)]) == 0 -> to_wire(m)
	fi
}

#define peer_wakes(q, cl) (len(pw[(q) * 2 + cl]) > 0 && may_take(peer_credits[q], cl))
#define ni_wakes(cl)	(len(nw[cl]) > 0 && may_take(ni_credits, cl))

/* Wakes control messages first. */
inline wake_peer(q) {
	do
	:: peer_wakes(q, CONTROL) || peer_wakes(q, DATA) ->
		d = !peer_wakes(q, CONTROL);
		pw[(q) * 2 + d]?a;
		d = 0;
		wait_ni(a)
	:: !peer_wakes(q, CONTROL) && !peer_wakes(q, DATA) -> break
	od;
	a = 0
}

inline wake_ni() {
	do
	:: ni_wakes(CONTROL) || ni_wakes(DATA) ->
		d = !ni_wakes(CONTROL);
		nw[d]?b;
		d = 0;
		to_wire(b);
#ifdef W_LEAVES			/* an attempt cannot be sent, and another one waits for its peer */
		assert(att[b] == ATT_WIRE || len(pw[to[b] * 2 + DATA]) == 0);
#endif
		if
#ifndef M_KEEPPEER		/* an attempt that cannot be sent passes its credit to no other */
		:: att[b] != ATT_WIRE -> wake_peer(to[b])
		:: att[b] == ATT_WIRE
#else
		:: true
#endif
		fi
	:: !ni_wakes(CONTROL) && !ni_wakes(DATA) -> break
	od;
	b = 0
}

/* lnet_att_move() */
inline move(m, s) {
	account(m, s);
	c = gives_peer;
#ifndef M_NOWAKENI		/* a credit of the interface is returned and wakes no attempt */
	if
	:: gives_ni -> wake_ni()
	:: !gives_ni
	fi;
#endif
#ifndef M_NOWAKEPEER		/* the same for a credit of the peer */
	if
	:: c -> wake_peer(to[m])
	:: !c
	fi;
#endif
	c = 0
}

inline lnet_att_enter(m) {
	account(m, ATT_WAIT_PEER);
	if
	:: may_take(peer_credits[to[m]], cls(m)) && len(peer_wait(m)) == 0 -> wait_ni(m)
	:: !may_take(peer_credits[to[m]], cls(m)) || len(peer_wait(m)) > 0 -> peer_wait(m)!m
	fi
}

/* lnet_att_drop() and lnet_att_move() */
inline lnet_att_drop(m, s) {
	if
	:: att[m] == ATT_WAIT_PEER -> peer_wait(m)??eval(m)
	:: att[m] == ATT_WAIT_NI -> nw[cls(m)]??eval(m)
	:: !waits(m)
	fi;
	move(m, s)
}

/* window_finish(): an attempt that waits for a request ID may use the released one */
inline op_done(m) {
	over[m] = true;
	if
	:: named[m] ->
		named[m] = false; names[to[m]]--;
		k = 2;
		do
		:: k < NR && aside[k] && to[k] == to[m] && names[to[m]] < WINDOW ->
#ifndef M_NONAME		/* a released request ID wakes no attempt */
			aside[k] = false; lnet_att_enter(k);
#endif
			k++
		:: k < NR && !(aside[k] && to[k] == to[m] && names[to[m]] < WINDOW) -> k++
		:: else -> break
		od;
		k = 0
	:: else
	fi
}

/* One step: the attempt changes its state or not, ends, or is queued again. */
#define out(m)		(att[m] == ATT_WIRE || att[m] == ATT_POSTED || att[m] == ATT_AWAIT_REPLY)
#define may_step(m)	(!over[m] && (!begun[m] || out(m) || (lates && !late[m]) || \
			 (late[m] && att[m] == ATT_FREE) || (waits(m) && (late[m] || moves))))

inline any_step(m) {
	step = 0; ends = false; enters = false;
	if
	:: !begun[m] -> begun[m] = true; enters = true
	/* the deadline passes; the timer of the attempt acts on it in a later step */
	:: lates && begun[m] && !late[m] -> lates--; late[m] = true
	:: late[m] && att[m] == ATT_FREE && begun[m] -> aside[m] = false; ends = true
	:: late[m] && waits(m) -> step = ATT_FREE; ends = true
	/* another selection: the other peer */
	:: moves && waits(m) -> moves--; step = ATT_FREE; enters = true
	/* the driver */
	:: att[m] == ATT_WIRE && REFERS -> step = ATT_POSTED
	:: att[m] == ATT_WIRE && !REFERS -> step = ATT_AWAIT_REPLY
	:: att[m] == ATT_POSTED -> step = ATT_AWAIT_REPLY
	:: out(m) ->
		step = ATT_FREE; ends = true
	fi;
	if
	:: step -> lnet_att_drop(m, step)
	:: else
	fi;
	if
	:: ends -> op_done(m)
	:: else
	fi;
	if
	:: enters && begun[m] && step -> to[m] = 1 - to[m]
	:: else
	fi;
	step = 0; ends = false;
	if
	:: enters -> lnet_att_enter(m)
	:: else
	fi;
	enters = false
}

inline check_peer(q) {
	held = 0; c = 0;
	for (k : 0 .. NR - 1) {
		held = held + (to[k] == q && (att[k] == ATT_WAIT_NI || att[k] == ATT_WIRE));
		c = c + (to[k] == q && named[k]);
		assert(!(to[k] == q && aside[k] && !late[k] && names[q] < WINDOW))
	}
	assert(peer_credits[q] + held == CREDITS && peer_credits[q] >= -EXTRA);
	assert(c == names[q] && c <= WINDOW);
	assert(len(pw[q * 2 + CONTROL]) == 0 || !may(peer_credits[q], CONTROL));
	assert(len(pw[q * 2 + DATA]) == 0 || !may(peer_credits[q], DATA))
}

/* Credits and request IDs correspond to the states, and no attempt waits that may proceed. */
inline check() {
	check_peer(0); check_peer(1);
	held = 0;
	for (k : 0 .. NR - 1) {
		held = held + (att[k] == ATT_WIRE)
	}
	assert(ni_credits + held == NI_CREDITS && ni_credits >= -EXTRA);
	assert(len(nw[CONTROL]) == 0 || !may(ni_credits, CONTROL));
	assert(len(nw[DATA]) == 0 || !may(ni_credits, DATA));
	k = 0; held = 0; c = 0; gives_peer = 0; gives_ni = 0
}

#if NR > 4
#define fifth_over	over[4]
#else
#define fifth_over	true
#endif

active proctype world() {
	atomic { tables_fill(); to[1] = 1; to[NR - 1] = 1 };
	do
	:: atomic {
		if
		:: may_step(0) -> cur = 0
		:: may_step(1) -> cur = 1
		:: may_step(2) -> cur = 2
		:: may_step(3) -> cur = 3
#if NR > 4
		:: may_step(4) -> cur = 4
#endif
		fi;
		any_step(cur);
		cur = 0;
		d_step { check() }
	   }
	:: atomic { over[0] && over[1] && over[2] && over[3] && fifth_over -> break }
	od;
	assert(peer_credits[0] == CREDITS && peer_credits[1] == CREDITS && ni_credits == NI_CREDITS)
}

active proctype monitor() {
end:
#if defined(W_EXTRA)	/* control messages are sent while data uses all credits */
	atomic { att[0] == ATT_WIRE && att[2] == ATT_WIRE && peer_credits[0] < 0 && ni_credits < 0
		 -> assert(false) }
#elif defined(W_BOTH)	/* both classes wait for the interface */
	atomic { att[NR - 1] == ATT_WAIT_NI && att[0] == ATT_WAIT_NI -> assert(false) }
#else
	false
#endif
}
