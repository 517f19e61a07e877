/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A router's buffers and the router credits of two senders. Messages for two destinations arrive,
 * are received, fail, are forwarded, and are aborted while they wait, in every order.
 *
 * The table is lnet/model/states/rx.def itself: a step that is not an edge fails, and credits and
 * buffers change by its columns. One atomic step = one hold of the shard's lock. Inlines have the
 * names of the functions that they model in lnet/router/buffers.c. Destination 0 is slow: its
 * forwarded messages complete only when all messages for the other destination have ended. Waiting
 * messages are woken in any order.
 *
 * Bounds (-D): CREDITS of a sender, POOL buffers, BREAKS receives that fail, GONES messages aborted
 * while they wait. One sender has at most two buffers.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties:
 *	Only edges of the table are taken. Credits and buffers correspond to the states, and are
 *	never below 0. No message waits that may proceed. Every message ends, and those for the
 *	other destination end while the slow one keeps its buffers: no deadlock.
 */
#ifndef CREDITS
#define CREDITS	2
#endif
#ifndef POOL
#define POOL	2
#endif
#ifndef BREAKS
#define BREAKS	1
#endif
#ifndef GONES
#define GONES	1
#endif
#ifdef MORE
#define NR	7
#else
#define NR	5
#endif
/* messages 0, 1, 3 and 5 are for the slow destination; 3, 4 and 6 are from the second sender */
#define sender(m)	(m == 3 || m == 4 || m == 6)
#define to(m)		(m == 2 || m == 4 || m == 6)
#define flow(m)		(2 * sender(m) + to(m))
#define SENDER_MOST	2

#define STATE(n, credit, buffer)	mtype = { n };
#define EDGE(a, b)
#include "../../lnet/model/states/rx.def"
#undef STATE
#undef EDGE

c_decl {
	static unsigned char legal[64][64];
	static int credit_column[64], buffer_column[64];
}

mtype st[NR] = RX_NEW;
mtype was, next;		/* states of one step */
byte mover;			/* the message that find_waiter() found */
byte free_credits[2] = CREDITS;	/* of the senders */
byte used;			/* buffers */
byte used_by[2];		/* ... with messages to a destination */
byte used_from[2];		/* buffers with messages from a sender */
byte used_flow[4];		/* buffers with messages from a sender to a destination */
byte breaks, gones;
byte i, mine, cur;
byte k, held[2], bufs;		/* of check() */

inline tables_fill() {
#define STATE(n, credit, buffer) was = n; \
	c_code { credit_column[now.was] = credit; buffer_column[now.was] = buffer; };
#define EDGE(a, b)	was = a; next = b; c_code { legal[now.was][now.next] = 1; };
#include "../../lnet/model/states/rx.def"
#undef STATE
#undef EDGE
	was = 0; next = 0
}

/* Takes and returns credits and buffers by the difference of the two states. */
inline move(m, s) {
	was = st[m]; next = s;
	assert(c_expr { legal[now.was][now.next] });
#ifdef M_KEEPCREDIT		/* a failed receive keeps its credit */
	if
	:: was == RX_RECEIVE_ROUTED && next == RX_DONE -> free_credits[sender(m)]--
	:: else
	fi;
#endif
/* a message that is aborted while it waits for a buffer keeps its credit */
#ifdef M_GONEKEEPS
	if
	:: was == RX_WAIT_BUFFER && next == RX_DONE -> free_credits[sender(m)]--
	:: else
	fi;
#endif
	if
	:: c_expr { credit_column[now.was] < credit_column[now.next] } ->
		assert(free_credits[sender(m)]);
		free_credits[sender(m)]--
	:: c_expr { credit_column[now.was] > credit_column[now.next] } -> free_credits[sender(m)]++
	:: else
	fi;
	if
	:: c_expr { buffer_column[now.was] < buffer_column[now.next] } ->
		used++; used_by[to(m)]++; used_from[sender(m)]++; used_flow[flow(m)]++
	:: c_expr { buffer_column[now.was] > buffer_column[now.next] } ->
		used--; used_by[to(m)]--; used_from[sender(m)]--; used_flow[flow(m)]--
	:: else
	fi;
#ifdef M_TWICE			/* the end of a message and the driver both release its buffer */
	if
	:: was == RX_FORWARD && used > 0 -> used--
	:: else
	fi;
#endif
	st[m] = s; was = 0; next = 0
}

#define has_credit(m)	(st[m] == RX_WAIT_BUFFER || st[m] == RX_RECEIVE_ROUTED || \
			 st[m] == RX_FORWARD)
#define has_buffer(m)	(st[m] == RX_RECEIVE_ROUTED || st[m] == RX_FORWARD)

/* result in @mine: credits of the sender that messages for the same destination use */
inline count_mine(m) {
	mine = 0; i = 0;
	do
	:: i < NR ->
		if
		:: has_credit(i) && sender(i) == sender(m) && to(i) == to(m) -> mine++
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0
}
#ifdef M_NOSHARE		/* any message may take all credits of its sender */
#define may_have_credit(m)	(free_credits[sender(m)] > 0)
#else
#define may_have_credit(m)	(free_credits[sender(m)] > mine)
#endif
#ifdef M_NOQUOTA		/* any message may take any buffer */
#define may_have_buffer(m)	(used < POOL)
#else
#ifdef M_NOFLOW			/* mutant: a sender's share is not divided among destinations */
#define in_share(m)		(used_from[sender(m)] < SENDER_MOST)
#else
#define in_share(m)		(used_flow[flow(m)] < SENDER_MOST - used_from[sender(m)])
#endif
#define may_have_buffer(m)	(used < POOL && POOL - used > used_by[to(m)] && in_share(m) && \
				 used_flow[flow(m)] < 2 * (POOL - used - used_by[to(m)]))
#endif

inline ask_buffer(m) {
	move(m, RX_WAIT_BUFFER);
	if
	:: may_have_buffer(m) -> move(m, RX_RECEIVE_ROUTED)
	:: else
	fi
}

inline ask(m) {
	move(m, RX_WAIT_PEER_RTR);
	count_mine(m);
	if
	:: may_have_credit(m) -> ask_buffer(m)
	:: else
	fi;
	mine = 0
}

/* result in @mover: a waiting message that may proceed; NR: none */
inline find_waiter() {
	mover = 0;
	do
	:: mover < NR ->
		count_mine(mover);
		if
#ifndef M_NOWAKECREDIT
		:: st[mover] == RX_WAIT_PEER_RTR && may_have_credit(mover) -> break
#endif
#ifndef M_NOWAKEBUFFER
		:: st[mover] == RX_WAIT_BUFFER && may_have_buffer(mover) -> break
#endif
		:: else -> mover++
		fi
	:: else -> break
	od;
	mine = 0
}

/* Gives the released credit and buffer to waiting messages that may take them. */
inline give_back(m) {
	move(m, RX_DONE);
	find_waiter();
	do
	:: mover < NR && st[mover] == RX_WAIT_BUFFER ->
		move(mover, RX_RECEIVE_ROUTED); find_waiter()
	:: mover < NR && st[mover] == RX_WAIT_PEER_RTR -> ask_buffer(mover); find_waiter()
	:: else -> break
	od;
	mover = 0
}

#define others_ended	(st[2] == RX_DONE && st[4] == RX_DONE && (NR < 7 || st[NR - 1] == RX_DONE))
#define waits(m)	(st[m] == RX_WAIT_PEER_RTR || st[m] == RX_WAIT_BUFFER)

/* Credits and buffers correspond to the states, and no message waits that may proceed. */
inline check() {
	do
	:: k < NR ->
		if
		:: has_credit(k) -> held[sender(k)]++
		:: else
		fi;
		if
		:: has_buffer(k) -> bufs++
		:: else
		fi;
		count_mine(k);
		assert(!(st[k] == RX_WAIT_PEER_RTR && may_have_credit(k)));
		assert(!(st[k] == RX_WAIT_BUFFER && may_have_buffer(k)));
		k++
	:: else -> break
	od;
	assert(held[0] + free_credits[0] == CREDITS && held[1] + free_credits[1] == CREDITS);
	assert(bufs == used && used <= POOL && used_by[0] + used_by[1] == used);
	assert(used_from[0] <= SENDER_MOST && used_from[1] <= SENDER_MOST);
	assert(used_from[0] + used_from[1] == used);
	k = 0; held[0] = 0; held[1] = 0; bufs = 0; mine = 0
}

inline any_step(m) {
	if
	:: st[m] == RX_NEW -> ask(m)
	:: st[m] == RX_RECEIVE_ROUTED -> move(m, RX_FORWARD)
	:: st[m] == RX_RECEIVE_ROUTED && breaks < BREAKS -> breaks++; give_back(m)
	:: st[m] == RX_FORWARD && (to(m) || others_ended) -> give_back(m)
	:: waits(m) && gones < GONES -> gones++; give_back(m)
	fi;
	check()
}

#define may_step(m)	(st[m] == RX_NEW || st[m] == RX_RECEIVE_ROUTED || \
			 (st[m] == RX_FORWARD && (to(m) || others_ended)) || \
			 (waits(m) && gones < GONES))
#define ended(m)	(st[m] == RX_DONE)
#ifdef MORE
#define all_ended	(ended(0) && ended(1) && ended(2) && ended(3) && ended(4) && ended(5) && \
			 ended(6))
#else
#define all_ended	(ended(0) && ended(1) && ended(2) && ended(3) && ended(4))
#endif

init {
	atomic { tables_fill() };
	do
	:: atomic {
		if
		:: may_step(0) -> cur = 0
		:: may_step(1) -> cur = 1
		:: may_step(2) -> cur = 2
		:: may_step(3) -> cur = 3
		:: may_step(4) -> cur = 4
#ifdef MORE
		:: may_step(5) -> cur = 5
		:: may_step(6) -> cur = 6
#endif
		fi;
		any_step(cur);
		cur = 0
	   }
	:: atomic { all_ended -> break }
	od;
	assert(used == 0 && free_credits[0] == CREDITS && free_credits[1] == CREDITS)
}

active proctype monitor() {
end:
/* witnesses: a message waits for a buffer that the slow destination uses; both kinds of waiting */
#if defined(W_QUOTA)
	atomic { st[3] == RX_WAIT_BUFFER && st[4] == RX_FORWARD -> assert(false) }
#elif defined(W_BOTH)
	atomic { st[1] == RX_WAIT_PEER_RTR && st[3] == RX_WAIT_BUFFER -> assert(false) }
#else
	false
#endif
}
