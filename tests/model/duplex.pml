/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two nodes that send to each other as much as they may: requests, ACKs and the answers of the
 * drivers, over streams that are full. A request waits for a buffer, which its receiver posts when
 * the other node's ACK arrives.
 *
 * The table is lnet/model/states/att.def itself: a step that is not an edge fails, and credits
 * change by its columns. One atomic step = one hold of a node's shard, or one message written or
 * read. Each node has one stream for small messages and one for bulk; ONECONN: one for both. The
 * driver's answers need no credit. Node 0 sends messages 0 to 2, node 1 sends 3 to 5; 6 to 11 are
 * their ACKs.
 *
 * Bounds (-D): CREDITS of the peer and of the interface, EXTRA of them for control messages, ROOM
 *	in a stream, BUFFERS posted at the start (node 0: at least 1), HOLD messages that a driver
 *	may read aside. REFER: the driver references a payload until the other driver has answered.
 *	TIMERS: the deadlines of waiting messages pass when nothing else can happen.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties:
 *	Only edges of the table are taken, and credits correspond to the states. Everything is sent
 *	and acknowledged without the help of a timer: no deadlock. With ONECONN a request that waits
 *	blocks the ACK behind it, so progress needs timers, or memory to hold the request.
 */
#ifndef CREDITS
#define CREDITS	1
#endif
#ifndef EXTRA
#define EXTRA	1
#endif
#ifndef ROOM
#define ROOM	1
#endif
#ifndef HOLD
#define HOLD	0
#endif

#ifndef BUFFERS
#define BUFFERS	0
#endif

#define ASTATE(n, peer, ni, driver, memory)	mtype = { n };
#define AEDGE(a, b)
#include "../../lnet/model/states/att.def"
#undef ASTATE
#undef AEDGE

c_decl {
	static unsigned char legal[64][64];
	static int peer_column[64], ni_column[64];
}

#define NR	6
#define is_ack(i)	((i) >= NR)
#define owner(i)	(is_ack(i) -> 1 - ((i) - NR) / 3 : (i) / 3)
#define NOOP	(2 * NR)	/* + message */
#define NONE	255

mtype att[2 * NR] = ATT_FREE;
mtype was, next;		/* states of one step */
bool begun[2 * NR], acked[NR], over[NR];
bool noop[NR];			/* the driver has to send its answer */
short peer_credits[2] = CREDITS, ni_credits[2] = CREDITS;
chan small[2] = [ROOM] of { byte };	/* from node 0, from node 1 */
chan bulk[2] = [ROOM] of { byte };
byte buffers[2];		/* posted and not used */
byte waiting[2] = NONE;		/* a waiting request, which blocks its stream */
byte held[2];			/* waiting requests that were read aside, as bits */
byte nr_held[2];
byte e, k, n, x, cur;		/* scratch variables of one step */
short sum;

inline tables_fill() {
#define ASTATE(s, peer, ni, driver, memory) was = s; \
	c_code { peer_column[now.was] = peer; ni_column[now.was] = ni; };
#define AEDGE(a, b)	was = a; next = b; c_code { legal[now.was][now.next] = 1; };
#include "../../lnet/model/states/att.def"
	was = 0; next = 0
}

inline account(i, s) {
	was = att[i]; next = s; n = owner(i);
	assert(c_expr { legal[now.was][now.next] });
	c_code {
		now.peer_credits[now.n] += peer_column[now.was] - peer_column[now.next];
		now.ni_credits[now.n] += ni_column[now.was] - ni_column[now.next];
	};
	att[i] = s; was = 0; next = 0; n = 0
}

#define may_take(credits, i)	(credits > (is_ack(i) -> -EXTRA : 0))

/* credit.c: wakes all attempts that may proceed, control messages first */
inline wake() {
	k = 2 * NR;
	do
	:: k > 0 ->
		k--;
		if
		:: att[k] == ATT_WAIT_PEER && may_take(peer_credits[owner(k)], k) ->
			account(k, ATT_WAIT_NI)
		:: else
		fi;
		if
		:: att[k] == ATT_WAIT_NI && may_take(ni_credits[owner(k)], k) ->
			account(k, ATT_WIRE)
		:: else
		fi
	:: else -> break
	od
}

/* ---- writing ---- */

#ifdef ONECONN
#define has_room(i)	(len(bulk[owner(i)]) < ROOM)
#define noop_room(m)	(len(bulk[1 - owner(m)]) < ROOM)
#else
#define has_room(i)	(is_ack(i) -> len(small[owner(i)]) < ROOM : len(bulk[owner(i)]) < ROOM)
#define noop_room(m)	(len(small[1 - owner(m)]) < ROOM)
#endif

inline put(i) {
	n = owner(i);
#ifdef ONECONN
	bulk[n]!i;
#else
	if
	:: is_ack(i) -> small[n]!i
	:: else -> bulk[n]!i
	fi;
#endif
	n = 0
}

inline written(i) {
	if
	:: is_ack(i) -> account(i, ATT_FREE)
#ifdef REFER
	:: !is_ack(i) -> account(i, ATT_POSTED)
#else
	:: !is_ack(i) -> account(i, ATT_AWAIT_REPLY)
#endif
	fi
}

inline noop_put(m) {
	noop[m] = false; n = 1 - owner(m);
#ifdef ONECONN
	bulk[n]!NOOP + m;
#else
	small[n]!NOOP + m;
#endif
	n = 0
}

/* ---- reading ---- */

inline finish(m) {
	over[m] = true;
	if
	:: att[m] == ATT_AWAIT_REPLY -> account(m, ATT_FREE)
	:: else		/* the driver has it, until the other driver answers */
	fi
}

/* The message has a buffer: its payload is received, and it is acknowledged. */
inline land(m) {
	begun[NR + m] = true; account(NR + m, ATT_WAIT_PEER);
#ifdef REFER
	noop[m] = true
#endif
}

inline take(at, m) {
	if
	:: m >= NOOP ->
		if
		:: over[m - NOOP] -> account(m - NOOP, ATT_FREE)
		:: !over[m - NOOP] -> account(m - NOOP, ATT_AWAIT_REPLY)
		fi
	:: m < NOOP && is_ack(m) ->
		acked[m - NR] = true; finish(m - NR);
		post(at)		/* the application posts a buffer */
	:: m < NR ->
		if
		:: buffers[at] -> buffers[at]--; land(m)
		:: !buffers[at] && nr_held[at] < HOLD ->
			nr_held[at]++; held[at] = held[at] | (1 << m)
		:: !buffers[at] && nr_held[at] >= HOLD -> waiting[at] = m
		fi
	fi
}

/* Posts a buffer. A waiting message takes it, those read aside first. */
inline post(at) {
	x = 0;
	do
	:: x < NR && !(held[at] & (1 << x)) -> x++
	:: else -> break
	od;
	if
	:: x < NR -> held[at] = held[at] & (255 - (1 << x)); nr_held[at]--; land(x)
	:: x == NR && waiting[at] != NONE -> x = waiting[at]; waiting[at] = NONE; land(x)
	:: x == NR && waiting[at] == NONE -> buffers[at]++
	fi;
	x = 0
}

/*
 * Drops the message that waits at a node. Its sender's deadline passes too, and the sender posts a
 * buffer.
 */
inline give_up(at) {
	k = waiting[at]; waiting[at] = NONE;
	if
	:: k != NONE -> over[k] = true; account(k, ATT_FREE); post(1 - at)
	:: k == NONE -> skip
	fi;
	k = 0
}

#ifdef M_READERWAITS		/* a reader waits until the ACKs that it has to send are written */
#define reads(at)	(at == 0 -> !owes(9) && !owes(10) && !owes(11) : \
				    !owes(6) && !owes(7) && !owes(8))
#define owes(i)		(att[i] != ATT_FREE)
#else
#define reads(at)	true
#endif
#define bulk_ready(at)	(len(bulk[1 - at]) > 0 && waiting[at] == NONE && reads(at))
#define small_ready(at)	(len(small[1 - at]) > 0 && reads(at))

inline check(at) {
	sum = 0;
	for (k : 0 .. 2 * NR - 1) {
		sum = sum + (owner(k) == at && att[k] == ATT_WIRE)
	}
	assert(ni_credits[at] + sum == CREDITS && ni_credits[at] >= -EXTRA);
	for (k : 0 .. 2 * NR - 1) {
		sum = sum + (owner(k) == at && att[k] == ATT_WAIT_NI)
	}
	assert(peer_credits[at] + sum == CREDITS && peer_credits[at] >= -EXTRA);
	k = 0; sum = 0
}

#define MESSAGE(m) \
	:: !begun[m] -> begun[m] = true; account(m, ATT_WAIT_PEER) \
	:: noop[m] && noop_room(m) -> noop_put(m)
#define WRITE(i) \
	:: att[i] == ATT_WIRE && has_room(i) -> e = i
#define idle(m)		(over[m] && att[m] == ATT_FREE && att[NR + m] == ATT_FREE && !noop[m])
#define all_over	(idle(0) && idle(1) && idle(2) && idle(3) && idle(4) && idle(5))

active proctype world() {
	atomic {
		tables_fill();
		buffers[0] = (BUFFERS > 1 -> BUFFERS : 1); buffers[1] = BUFFERS
	};
	do
	:: atomic { !all_over ->
		e = NONE; cur = NONE;
		if
		MESSAGE(0)
		MESSAGE(1)
		MESSAGE(2)
		MESSAGE(3)
		MESSAGE(4)
		MESSAGE(5)
		WRITE(0)
		WRITE(1)
		WRITE(2)
		WRITE(3)
		WRITE(4)
		WRITE(5)
		WRITE(6)
		WRITE(7)
		WRITE(8)
		WRITE(9)
		WRITE(10)
		WRITE(11)
		:: bulk_ready(0) -> bulk[1]?cur; cur = cur + 32
		:: bulk_ready(1) -> bulk[0]?cur; cur = cur + 64
		:: small_ready(0) -> small[1]?cur; cur = cur + 32
		:: small_ready(1) -> small[0]?cur; cur = cur + 64
#ifdef TIMERS			/* the deadlines of waiting and of unacknowledged messages pass */
		:: timeout ->
			give_up(0); give_up(1)
#endif
		fi;
		if
		:: e != NONE -> put(e); written(e)
		:: else
		fi;
		if
		:: cur != NONE && cur < 64 -> cur = cur - 32; take(0, cur)
		:: cur != NONE && cur >= 64 -> cur = cur - 64; take(1, cur)
		:: else
		fi;
		e = 0; cur = 0;
		d_step { wake(); check(0); check(1) }
	   }
	:: atomic { all_over -> break }
	od
}

active proctype monitor() {
end:
#ifdef W_FULL		/* bulk is full both ways, one message waits, an ACK is sent */
	atomic { len(bulk[0]) == ROOM && len(bulk[1]) == ROOM && att[2] == ATT_WAIT_PEER &&
		 att[5] == ATT_WIRE && peer_credits[0] < 0 -> assert(false) }
#else
	false
#endif
}
