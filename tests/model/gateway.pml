/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages through two routers that stop and start without notice. When its router stops, a message
 * waits for a credit, is with the driver, or is unanswered. The model also covers the choice of a
 * router.
 *
 * The table is lnet/model/states/att.def itself: a step that is not an edge fails, and the router's
 * credit changes by its column. One atomic step = one hold of the shard. Inlines have the names of
 * the functions that they model in lnet/xfer/send.c, op.c, select.c, gateway.c and recover.c.
 * Attempt timeouts, suspicion, pings and checks occur at any time. The transaction timeout occurs
 * last: when nothing else can happen.
 *
 * Bounds (-D): NR messages, CREDITS of each router, LIMIT failures of a message, DEATHS, REVIVALS,
 *	CHECKS of routers.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties:
 *	Only edges of the table are taken, and credits correspond to the states. No message waits
 *	for a free credit. If a router became suspect while the other one was well, no message waits
 *	for it, unless its attempt at the other one failed. If one router is alive all the time,
 *	every message is delivered before its transaction timeout; else every message ends.
 */
#ifndef NR
#define NR	3
#endif
#ifndef CREDITS
#define CREDITS	1
#endif
#ifndef LIMIT
#define LIMIT	3
#endif
#ifndef DEATHS
#define DEATHS	1
#endif
#ifndef REVIVALS
#define REVIVALS 0
#endif
#ifndef CHECKS
#define CHECKS	2
#endif

#define ASTATE(n, peer, ni, driver, memory)	mtype = { n };
#define AEDGE(a, b)
#include "../../lnet/model/states/att.def"
#undef ASTATE
#undef AEDGE

c_decl {
	static unsigned char legal[64][64];
	static int peer_column[64];
}

mtype att[NR] = ATT_FREE;
mtype was, next;		/* states of one step */
byte via[NR];			/* the router */
bool begun[NR], over[NR], good[NR];
bool backoff[NR];
bool lost[NR];			/* the attempt in flight was lost with its router */
bool tried0[NR], tried1[NR];
byte tries[NR];
short credits[2] = CREDITS;
bool dead[2], silent[2];	/* silent: the result of a check, hop->gw */
bool suspect[2], down[2];	/* the path to it */
bool check[2];			/* a check is in flight */
bool settled[2];		/* the other one was well when it became suspect, and still is */
byte deaths = DEATHS, revivals = REVIVALS, checks = CHECKS;
bool both;			/* both were dead at the same time, or one after the other */
byte c, g, m, k, cur;		/* scratch variables of one step */
short held;
bool stop, again, told;

#define usable(r)	(!silent[r] && !down[r])	/* lnet_route_usable() */
#define well(r)		(usable(r) && !suspect[r])
#define waits(i)	(att[i] == ATT_WAIT_PEER)
#define out(i)		(att[i] == ATT_WIRE || att[i] == ATT_POSTED || att[i] == ATT_AWAIT_REPLY)

inline tables_fill() {
#define ASTATE(n, peer, ni, driver, memory) was = n; c_code { peer_column[now.was] = peer; };
#define AEDGE(x, y)	was = x; next = y; c_code { legal[now.was][now.next] = 1; };
#include "../../lnet/model/states/att.def"
	was = 0; next = 0
}

inline account(i, s) {
	was = att[i]; next = s; g = via[i];
	assert(c_expr { legal[now.was][now.next] });
	c_code { now.credits[now.g] += peer_column[now.was] - peer_column[now.next]; };
	assert(credits[g] >= 0);
	att[i] = s; was = 0; next = 0; g = 0
}

inline to_wire(i) {
	account(i, ATT_WAIT_NI); account(i, ATT_WIRE); lost[i] = dead[via[i]]
}

/* Sends the messages that wait for a router with a credit: wake_peer() */
inline wake() {
	for (k : 0 .. NR - 1) {
		if
		:: waits(k) && credits[via[k]] > 0 -> to_wire(k)
		:: else
		fi
	}
	k = 0
}

/*
 * lnet_op_choose() into @c. A tried router is excluded while the other is untried and usable. Then
 * a usable router is preferred, then one that is not suspect, else either is chosen.
 */
#ifdef M_KEEPSTRIED		/* tried routers are not excluded */
#define avoid0(i)	false
#define avoid1(i)	false
#else
#define avoid0(i)	(tried0[i] && !tried1[i] && usable(1))
#define avoid1(i)	(tried1[i] && !tried0[i] && usable(0))
#endif
#define rank(r)		((usable(r) -> 2 : 0) + (suspect[r] -> 0 : 1))
inline choose(i) {
	if
	:: !avoid0(i) && (avoid1(i) || rank(0) >= rank(1)) -> c = 0
	:: !avoid1(i) && (avoid0(i) || rank(1) >= rank(0)) -> c = 1
	fi
}

inline enter(i) {
	backoff[i] = false;
	choose(i);
	via[i] = c; c = 0;
	account(i, ATT_WAIT_PEER);
	if
	:: credits[via[i]] > 0 -> to_wire(i)
	:: else
	fi
}

/* Its attempt has ended and is free. */
inline failed(i) {
	tries[i]++;
	if
	:: via[i] == 0 -> tried0[i] = true
	:: else -> tried1[i] = true
	fi;
	if
	:: tries[i] == LIMIT -> over[i] = true
	:: tries[i] < LIMIT && !(tried0[i] && tried1[i]) -> again = true
	:: tries[i] < LIMIT && tried0[i] && tried1[i] ->
		backoff[i] = true; tried0[i] = false; tried1[i] = false
	fi
}


/* lnet_ops_reselect_path() */
inline reselect(r) {
	for (k : 0 .. NR - 1) {
		if
		:: waits(k) && via[k] == r && !stop ->
			choose(k);
			if
			/* there is no better one for other messages either */
			:: c == r -> stop = true
			:: c != r ->
				account(k, ATT_FREE); via[k] = c; account(k, ATT_WAIT_PEER);
				if
				:: credits[c] > 0 -> to_wire(k)
				:: else
				fi
			fi;
			c = 0
		:: else
		fi
	}
	k = 0; stop = false
}

inline heard(r) {
	suspect[r] = false; down[r] = false; silent[r] = false; told = true
}


inline any_step(i) {
	if
	:: !begun[i] -> begun[i] = true; again = true
	/* the driver; the connection accepts bytes that no router will read */
	:: att[i] == ATT_WIRE -> account(i, ATT_AWAIT_REPLY)
	:: att[i] == ATT_AWAIT_REPLY && !lost[i] ->
		account(i, ATT_FREE); over[i] = true; good[i] = true; heard(via[i])
#ifndef M_NOSLICE		/* an attempt in flight is never ended */
	/* its attempt timeout expires, or its connection resets */
	:: out(i) && lost[i] -> account(i, ATT_FREE); lost[i] = false; failed(i)
#endif
	/* look_at_silence() */
	:: out(i) && lost[i] && !suspect[via[i]] ->
		suspect[via[i]] = true; settled[via[i]] = well(1 - via[i]);
#ifndef M_NORESELECT
		reselect(via[i])
#endif
	:: backoff[i] -> again = true
	fi;
	if
	:: again -> again = false; enter(i)
	:: else
	fi
}
#ifdef M_NOSLICE
#define stuck(i)	(att[i] == ATT_AWAIT_REPLY && lost[i] && suspect[via[i]])
#else
#define stuck(i)	false
#endif
#define may_step(i)	(!begun[i] || (out(i) && !stuck(i)) || backoff[i])

inline router_step(r) {
	if
	/* a check of the router, with or without a reply */
	:: checks && !check[r] -> checks--; check[r] = true
	:: check[r] && !dead[r] -> check[r] = false; heard(r)
	:: check[r] && dead[r] -> check[r] = false; silent[r] = true
	/* recovery pings */
	:: suspect[r] && dead[r] && !down[r] -> down[r] = true
	:: (suspect[r] || down[r]) && !dead[r] -> heard(r)
	:: deaths && !dead[r] ->
		deaths--; dead[r] = true; both = both || dead[1 - r] || deaths < DEATHS - 1;
		for (k : 0 .. NR - 1) {
			lost[k] = lost[k] || (out(k) && via[k] == r)
		}
		k = 0
	:: revivals && dead[r] -> revivals--; dead[r] = false
	fi;
	/* lnet_ops_path_back() */
	for (m : 0 .. NR - 1) {
		if
		:: told && backoff[m] -> enter(m)
		:: else
		fi
	}
	m = 0; told = false
}
#define router_may(r)	((checks && !check[r]) || check[r] || \
			 (suspect[r] && dead[r] && !down[r]) || \
			 ((suspect[r] || down[r]) && !dead[r]) || (deaths && !dead[r]) || \
			 (revivals && dead[r]))

#define other_tried(i, r) (r == 0 -> tried1[i] : tried0[i])
inline check_router(r) {
	held = 0;
	settled[r] = settled[r] && suspect[r] && well(1 - r);
	for (k : 0 .. NR - 1) {
		held = held + (att[k] == ATT_WIRE && via[k] == r);
		assert(!(waits(k) && via[k] == r && credits[r] > 0));
		assert(!(waits(k) && via[k] == r && settled[r] && !other_tried(k, r)))
	}
	assert(credits[r] + held == CREDITS);
	k = 0; held = 0
}

active proctype world() {
	atomic { tables_fill() };
	do
	:: atomic {
		if
		:: may_step(0) -> cur = 0
		:: may_step(1) -> cur = 1
#if NR > 2
		:: may_step(2) -> cur = 2
#endif
#if NR > 3
		:: may_step(3) -> cur = 3
#endif
		:: router_may(0) -> cur = NR
		:: router_may(1) -> cur = NR + 1
		fi;
		if
		:: cur < NR -> any_step(cur); told = false
		:: cur >= NR -> cur = cur - NR; router_step(cur)
		fi;
		cur = 0;
		d_step { wake(); check_router(0); check_router(1) }
	   }
	/* the transaction timeout */
	:: atomic { timeout ->
		for (k : 0 .. NR - 1) {
			assert(over[k]);
			assert(good[k] || both)
		}
		k = 0;
		break }
	od
}

active proctype monitor() {
end:
#if defined(W_WAITS)		/* one waits for a dead router, another is in flight through it */
	atomic { waits(1) && dead[via[1]] && out(0) && lost[0] && via[0] == via[1] ->
		 assert(false) }
#elif defined(W_CHOSEN)		/* one waits for the other router; the dead one was first */
	atomic { suspect[0] && dead[0] && out(0) && via[0] == 0 && out(1) && via[1] == 1 &&
		 waits(2) && via[2] == 1 -> assert(false) }
#elif defined(W_BACK)		/* delivered by a router that had died */
	atomic { REVIVALS > 0 && !revivals && dead[1] && good[0] && good[1] -> assert(false) }
#else
	false
#endif
}
