/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The end of an interface. It is deleted while requests wait for its credits, are with its driver
 * or wait for replies. Meanwhile a path is probed, a connection is opened, a message is received or
 * queued, and a command holds a reference. Then an NI with the same NID is added.
 *
 * The tables are lnet/model/states/ni.def and att.def: a step that is not an edge fails, and
 * credits and holds change by the columns. One atomic step = one hold of the lock of a shard, or a
 * driver call without any lock. A state of the interface is published under the locks of all
 * shards. Inlines have the names of the functions that they model in lnet/manage/ni_config.c,
 * send.c, attempt.c, match.c and path.c. Requests are 0 and 1, the probe is 2.
 *
 * -DOTHER: there is another interface; else the whole net is removed. -DAGAIN: the same NID is
 * added.
 * Bounds (-D): REQUESTS, PROBES, DIALS, `LANDS`, PARKS, LOOKS, 0 or 1 (REQUESTS: 2), and TRIES.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties: only edges of the tables are taken. No attempt selects the interface once it drains.
 * When it is gone, nothing references it; it is freed with its last reference, once. The deletion
 * and every request end, even if the network gives no response.
 */
#ifndef REQUESTS
#define REQUESTS 2
#endif
#ifndef PROBES
#define PROBES	1
#endif
#ifndef DIALS
#define DIALS	0
#endif
#ifndef LANDS
#define LANDS	0
#endif
#ifndef PARKS
#define PARKS	0
#endif
#ifndef LOOKS
#define LOOKS	0
#endif
#ifndef TRIES
#define TRIES	2
#endif

#define STATE(n)	mtype = { n };
#define EDGE(a, b)
#include "../../lnet/model/states/ni.def"
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

#define NR	3
#define PROBE	2
/* interfaces: the deleted one, the other one, the new one with the same NID */
#define GOES	0
#define STAYS	1
#define COMES	2

mtype ni = NI_NEW;
mtype att[NR] = ATT_FREE;
mtype was, next;		/* states of one step */
byte via[NR];			/* the interface of its attempt */
bool open[NR];			/* the request was made and has not ended */
bool made[NR];
bool over[NR];			/* it has ended; its attempt is with a driver or a pass */
bool owed[NR];			/* a pass is about to call ops->send() with it */
byte tries[NR];
byte ni_free = 1, peer_free = 1;	/* credits of the deleted NI, and of the peer over it */
byte holds;			/* ni->sh[].holds */
byte refs;
bool freed;
bool pinging;			/* path->pinging: the probe is in flight */
bool comes;			/* the new one is active */

/* the driver of the deleted interface */
bool stopping, stopped;		/* ni_stop() was called, has returned */
bool has[NR];			/* it has the attempt */
bool dials;			/* it opens a connection */
bool lands, parked;		/* a received message */
byte dial_left = DIALS, come_left = LANDS, park_left = PARKS, look_left = LOOKS;
bool ready;			/* the tables are filled, the interface is active */
bool looks;			/* a command has found it, and holds a reference */
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
#include "../../lnet/model/states/att.def"
	was = 0; next = 0
}

inline ni_set_state(to) {
	was = ni; next = to;
	assert(!freed && c_expr { legal[now.was][now.next] });
	ni = to; was = 0; next = 0
}

/* Accounts only attempts over the deleted interface; the others have enough credits. */
inline att_enter(i, to) {
	was = att[i]; next = to;
	assert(c_expr { legal[now.was][now.next] });
	if
	:: via[i] == GOES ->
		assert(!freed);
		c_code {
			now.peer_free += peer_column[now.was] - peer_column[now.next];
			now.ni_free += ni_column[now.was] - ni_column[now.next];
			now.holds += driver_column[now.next] - driver_column[now.was];
		}
	:: else
	fi;
	att[i] = to; was = 0; next = 0
}

#define waits(i)	(att[i] == ATT_WAIT_PEER || att[i] == ATT_WAIT_NI)
#define over_it(i)	(att[i] != ATT_FREE && via[i] == GOES)

inline op_done(i) {
	open[i] = false; over[i] = false; via[i] = 0;
	if
	:: i == PROBE ->
#ifndef M_PINGLEFT
		pinging = false
#else
		skip
#endif
	:: else
	fi
}

/* lnet_op_try(): the selection, under the lock under which states are published */
#ifdef M_DRAINING
#define usable()	(ni == NI_ACTIVE || ni == NI_DRAINING)
#else
#define usable()	(ni == NI_ACTIVE)
#endif
inline op_try(i) {
	if
	:: tries[i] < TRIES && usable() ->
		assert(ni == NI_ACTIVE);
		tries[i]++; via[i] = GOES; att_enter(i, ATT_WAIT_PEER)
#ifdef OTHER
	:: tries[i] < TRIES && i != PROBE -> tries[i]++; via[i] = STAYS; att_enter(i, ATT_WAIT_PEER)
#endif
	:: tries[i] < TRIES && i != PROBE && comes ->
		tries[i]++; via[i] = COMES; att_enter(i, ATT_WAIT_PEER)
	:: else -> op_done(i)		/* no path, or no more tries: an error */
	fi
}

inline again_or_over(i) {
	if
	:: over[i] -> op_done(i)
	:: else -> op_try(i)
	fi
}

/* waiting does not count as a try */
inline reselect(i) {
	att_enter(i, ATT_FREE); tries[i]--; op_try(i)
}

/* lnet_att_done() */
inline given_back(i, good) {
	has[i] = false;
	if
	:: good && !over[i] -> att_enter(i, ATT_AWAIT_REPLY)
	:: else -> att_enter(i, ATT_FREE); again_or_over(i)
	fi
}

#ifdef M_ACCEPTS		/* the stopped driver accepts attempts */
#define takes(i)	true
#else
#define takes(i)	(via[i] != GOES || !stopping)
#endif
#define may_make(i)	(i == PROBE -> PROBES : i < REQUESTS)
#define REQUEST_STEPS(i) \
	:: ready && !made[i] && may_make(i) -> made[i] = true; open[i] = true; \
		pinging = pinging || i == PROBE; op_try(i) \
	/* credit.c */ \
	:: att[i] == ATT_WAIT_PEER && (via[i] != GOES || peer_free) -> att_enter(i, ATT_WAIT_NI) \
	:: att[i] == ATT_WAIT_NI && (via[i] != GOES || ni_free) -> \
		att_enter(i, ATT_WIRE); owed[i] = true \
	/* pass_end(): no lock is held */ \
	:: owed[i] && takes(i) -> assert(!freed || via[i] != GOES); owed[i] = false; has[i] = true \
	:: owed[i] && !takes(i) -> assert(!freed); owed[i] = false; given_back(i, false) \
	/* the driver, and its abort or stop */ \
	:: has[i] && !stopped && att[i] == ATT_WIRE && !over[i] -> att_enter(i, ATT_POSTED) \
	:: has[i] && (via[i] != GOES || !stopped) -> given_back(i, true) \
	:: has[i] && (via[i] != GOES || !stopped) -> given_back(i, false) \
	/* its reply; or never */ \
	:: att[i] == ATT_AWAIT_REPLY -> att_enter(i, ATT_FREE); op_done(i) \
	/* the deadline */ \
	:: open[i] && waits(i) -> att_enter(i, ATT_FREE); op_done(i) \
	:: open[i] && !over[i] && (att[i] == ATT_WIRE || att[i] == ATT_POSTED) -> over[i] = true

#define drivers_empty	(!(has[0] && via[0] == GOES) && !(has[1] && via[1] == GOES) && \
			 !(has[2] && via[2] == GOES) && !dials && !lands && !parked)
#define busy_path(i)	(over_it(i) && (att[i] == ATT_WIRE || att[i] == ATT_POSTED || \
			 att[i] == ATT_AWAIT_REPLY))
#define paths_idle	(!busy_path(0) && !busy_path(1) && !busy_path(2) && !pinging)
#define nothing_left	(!over_it(0) && !over_it(1) && !over_it(2) && drivers_empty && !holds)

inline ni_put() {
	refs--;
	if
	:: refs == 0 -> assert(!freed && (ni == NI_GONE)); freed = true
	:: else
	fi
}

/* the walks over all operations, which hold the lock separately for each one */
inline walk_reselect() {
	at = 0;
	do
	:: atomic { at < NR ->
		if
		:: waits(at) && via[at] == GOES -> reselect(at)
		:: else
		fi;
		at++ }
	:: atomic { at == NR -> at = 0; break }
	od
}

inline walk_down() {
	at = 0;
	do
	:: atomic { at < NR ->
		if
		:: waits(at) && via[at] == GOES -> reselect(at)
		:: att[at] == ATT_AWAIT_REPLY && via[at] == GOES ->
			att_enter(at, ATT_FREE); op_try(at)	/* lost: retry */
		:: else
		fi;
		at++ }
	:: atomic { at == NR -> at = 0; break }
	od
}

/* lnet_ni_add(), lnet_ni_del() */
active proctype config() {
	atomic {
		tables_fill();
		ni_set_state(NI_STARTING); refs = 1;
		ni_set_state(NI_ACTIVE);
		ready = true
	};
	/* ni_drain_atts() */
	atomic { ni_set_state(NI_DRAINING) };
	walk_reselect();
	if			/* it is idle, or drain_time is over */
	:: atomic { !holds && paths_idle -> skip }
	:: skip
	fi;
	/* ni_stop_driver() */
	atomic { ni_set_state(NI_STOPPING) };
#ifndef M_NOMATCHDROP
	atomic { parked = false };
#endif
	atomic { stopping = true };
	atomic { drivers_empty -> stopped = true };
#ifndef M_NOWALK
	walk_reselect();
	walk_down();
#endif
#ifndef M_NOHOLDS
	atomic { !holds -> skip };
#endif
#ifndef M_NOPATHS
	atomic { paths_idle -> skip };
#endif
	atomic {
		ni_set_state(NI_GONE);
		assert(nothing_left && !pinging);
		ni_put()
	};
#ifdef AGAIN
	atomic { comes = true };
#endif
	atomic { !open[0] && !open[1] && !open[2] && !looks ->
		 assert(freed && refs == 0 && peer_free == 1 && ni_free == 1 && !holds) }
}

#ifdef M_NOTELL			/* the driver does not return the queued message */
#define unparks()	false
#else
#define unparks()	parked
#endif
active proctype world() {
end:
	do
	:: atomic {
		if
		REQUEST_STEPS(0)
		REQUEST_STEPS(1)
		REQUEST_STEPS(2)
		/* a connection is being opened, until that ends or the driver stops */
		:: ready && dial_left && !stopping -> dial_left--; dials = true
		:: dials -> dials = false
		/* a message is received, or waits for a buffer, until the driver stops */
		:: ready && come_left && !stopping ->
			come_left--; lands = true; holds++
		:: lands -> assert(!freed); lands = false; holds--
		:: ready && park_left && !stopping -> park_left--; parked = true
		:: unparks() -> assert(!freed); parked = false
		/* a command takes a reference: lnet_ni_find() */
		:: look_left && (ni == NI_ACTIVE || ni == NI_DRAINING) ->
			look_left--; looks = true; refs++
		:: looks -> assert(!freed); looks = false; ni_put()
		fi
	   }
	od
}

active proctype monitor() {
end:
#if defined(W_OWED)		/* a pass is about to call a driver that has stopped */
	atomic { owed[0] && via[0] == GOES && stopped -> assert(false) }
#elif defined(W_ASKED)		/* a reply is missing when the driver has stopped */
	atomic { att[0] == ATT_AWAIT_REPLY && via[0] == GOES && stopped -> assert(false) }
#elif defined(W_LOOKS)		/* a command has the last reference */
	atomic { looks && ni == NI_GONE -> assert(false) }
#elif defined(W_WAITS)		/* one waits for a credit that another has, when draining begins */
	atomic { att[0] == ATT_WAIT_PEER && via[0] == GOES && !peer_free && ni == NI_DRAINING ->
		 assert(false) }
#elif defined(W_COMES)		/* tried over the deleted interface, ended over the new one */
	atomic { tries[0] == 2 && via[0] == COMES && att[0] == ATT_AWAIT_REPLY -> assert(false) }
#else
	false
#endif
}
