/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which console leads a node of a self-test. Two consoles request that the node join their
 * sessions, with or without force, work in them, release the node, and die. The node may restart.
 * Requests and replies are lost, or arrive at any later time, in any order, also after their sender
 * abandoned them or died.
 *
 * The table is lnet/selftest/lease.def: a step that is not an edge fails. One atomic step = one
 * hold of the lock of the service at the node or at a console. Inlines have the names of the
 * functions that they model in lnet/selftest/session.c, con_group.c and con_session.c. Sessions at
 * the node are numbered by their epoch.
 *
 * Bounds (-D): ASKS, requests of a console in addition to those of its pinger; LOSSES. DEATHS of
 * console 0, RESTARTS of the node: 0 or 1. SILENCES: leases that expire while their console lives.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties: only edges of the table are taken. At most one session is held, and each has its own
 * epoch. The node accepts work only from the console that leads it. A join that takes effect
 * against another console was sent after the last change of the leader. In the end a node with a
 * dead console is free, and nothing of its sessions is left. A console that lives knows whether it
 * lost the node.
 */
#ifndef ASKS
#define ASKS	2
#endif
#ifndef LOSSES
#define LOSSES	0
#endif
#ifndef DEATHS
#define DEATHS	0
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#ifndef SILENCES
#define SILENCES 0
#endif

#define STATE(n)	mtype = { n };
#define EDGE(a, b)
#include "../../lnet/selftest/lease.def"
#undef STATE
#undef EDGE

c_decl {
	static unsigned char legal[64][64];
}

#define SLOTS	3		/* messages in flight */
#define EPOCHS	7
#define NONE	2		/* no console */

mtype = { MAKE, WORK, REMOVE, MADE, BUSY, STALE, NO_SUCH, GOOD, GIVEN };

typedef message {
	bool used;
	mtype kind;
	byte who;			/* the console that sent the request */
	bool force;
	/* in a request: the epoch that its sender knows; in a reply: the node's */
	byte epoch;
	byte sent_at;			/* ghost: the node's epoch at the time of sending */
};
message net[SLOTS];

/* the node */
mtype sess[EPOCHS];
bool units[EPOCHS];			/* work of the session is in flight */
byte owner[EPOCHS] = NONE;
byte epoch = 0, held = 0;		/* held: the epoch of its session; 0: none */
bool fenced[2];

/* consoles */
bool alive[2] = true;
bool leads[2];				/* it believes that it leads the node */
byte knows[2];				/* the last epoch that the node reported to it */
byte asks[2] = ASKS;

byte losses = LOSSES, deaths = DEATHS, restarts = RESTARTS, silences = SILENCES;
byte free_slot, at;
mtype was, next;		/* states of one step */

inline table_fill() {
#define STATE(n)
#define EDGE(a, b)	was = a; next = b; c_code { legal[now.was][now.next] = 1; };
#include "../../lnet/selftest/lease.def"
#undef STATE
#undef EDGE
	was = 0; next = 0
}

inline set_state(e, to) {
	was = sess[e]; next = to;
	assert(c_expr { legal[now.was][now.next] });
	sess[e] = to; was = 0; next = 0
}

#define holds(w)	(held != 0 && owner[held] == (w))

/* ---- the node ---- */

inline session_end(how) {
	set_state(held, how);
	if
	:: how == LEASE_FENCED -> fenced[owner[held]] = true
	:: else
	fi;
	held = 0
}

/* make_locked() */
inline make(i) {
	/* no console loses the node to one that does not know of it, or regains it unknowingly */
	assert(net[i].sent_at == epoch || (held == 0 && !fenced[net[i].who]));
	if
	:: held != 0 -> session_end(LEASE_FENCED)
	:: else
	fi;
#ifndef M_SAMEEPOCH
	epoch++;
#endif
	assert(epoch < EPOCHS);
	owner[epoch] = net[i].who;
	set_state(epoch, LEASE_HELD);
	held = epoch
}

#ifdef M_NOCAS			/* force is accepted regardless of when it was sent */
#define seen(i)		true
#else
#define seen(i)		(net[i].epoch == epoch)
#endif
/* a console that lost the node may join it if free, by an old request */
#ifdef M_NOFENCE
#define is_fenced(w)	false
#else
#define is_fenced(w)	fenced[w]
#endif

inline make_session(i) {
	if
	:: holds(net[i].who) -> net[i].kind = MADE
	:: !holds(net[i].who) && is_fenced(net[i].who) && !seen(i) -> net[i].kind = STALE
	:: !holds(net[i].who) && !(is_fenced(net[i].who) && !seen(i)) ->
		if
		:: held != 0 && !(net[i].force && seen(i)) -> net[i].kind = BUSY
		:: else -> make(i); net[i].kind = MADE
		fi
	fi;
	net[i].epoch = epoch
}

#ifdef M_NOSID			/* work is accepted from any sender */
#define may_work(w)	(held != 0)
#else
#define may_work(w)	holds(w)
#endif

/* lst_session_check_locked(): only replies to MAKE report the epoch */
inline refuse(i) {
	net[i].kind = (fenced[net[i].who] -> STALE : NO_SUCH)
}

inline work(i) {
	if
	:: may_work(net[i].who) ->
		assert(holds(net[i].who));
		units[held] = true; net[i].kind = GOOD
	:: else -> refuse(i)
	fi;
	net[i].epoch = 0
}

inline remove_session(i) {
	if
	:: holds(net[i].who) -> session_end(LEASE_REMOVED); net[i].kind = GIVEN
	:: else -> refuse(i)
	fi;
	net[i].epoch = 0
}

/* ---- consoles ---- */

/* con_node_heard() */
inline heard(i) {
	if
	:: alive[net[i].who] ->
		leads[net[i].who] = (net[i].kind == MADE ||
				     (net[i].kind == GOOD && leads[net[i].who]));
		if
		:: net[i].epoch != 0 -> knows[net[i].who] = net[i].epoch
		:: else
		fi
	:: else
	fi;
	clear(i)
}

inline clear(i) {
	net[i].used = false; net[i].kind = 0; net[i].who = 0; net[i].force = false;
	net[i].epoch = 0; net[i].sent_at = 0
}

#define room		(!net[0].used || !net[1].used || !net[2].used)
#define under_way(w, i)	(net[i].used && net[i].who == (w))
#define any_of(w)	(under_way(w, 0) || under_way(w, 1) || under_way(w, 2))

inline send(w, what, by_force) {
	free_slot = (!net[0].used -> 0 : (!net[1].used -> 1 : 2));
	net[free_slot].used = true; net[free_slot].kind = what; net[free_slot].who = w;
	net[free_slot].force = by_force; net[free_slot].sent_at = epoch;
	net[free_slot].epoch = (what == MAKE -> knows[w] : 0);
	free_slot = 0
}

/* a console does not check whether its nodes are still in its session */
#ifdef M_NOPINGER
#define pings(w)	false
#else
#define pings(w)	(leads[w] && !holds(w) && !any_of(w))
#endif
#define CONSOLE_STEPS(w) \
	:: alive[w] && asks[w] && room && !leads[w] -> asks[w]--; send(w, MAKE, false) \
	:: alive[w] && asks[w] && room && !leads[w] -> asks[w]--; send(w, MAKE, true) \
	:: alive[w] && asks[w] && room && leads[w] -> asks[w]--; send(w, WORK, false) \
	:: alive[w] && asks[w] && room && leads[w] -> asks[w]--; send(w, REMOVE, false) \
	:: alive[w] && room && pings(w) -> send(w, WORK, false)

#define MESSAGE_STEPS(i) \
	:: net[i].used && net[i].kind == MAKE -> make_session(i) \
	:: net[i].used && net[i].kind == WORK -> work(i) \
	:: net[i].used && net[i].kind == REMOVE -> remove_session(i) \
	:: net[i].used && net[i].kind != MAKE && net[i].kind != WORK && net[i].kind != REMOVE -> \
		heard(i) \
	:: net[i].used && losses -> losses--; clear(i)

#ifdef M_NOLEASE		/* a session lasts until a console ends it */
#define expires		false
#else
#define expires		(held != 0 && !alive[owner[held]])
#endif

/* Work in flight ends when its session is over. */
#define over(e)	(sess[e] == LEASE_REMOVED || sess[e] == LEASE_EXPIRED || sess[e] == LEASE_FENCED)
inline gone(e) {
	units[e] = false; set_state(e, LEASE_GONE)
}

/* The node loses all state; it draws an epoch that was never used before. */
inline restart() {
	at = 1;
	do
	:: at <= epoch -> sess[at] = LEASE_GONE; units[at] = false; at++
	:: else -> break
	od;
	at = 0; held = 0; fenced[0] = false; fenced[1] = false; epoch++;
	assert(epoch < EPOCHS);
	sess[epoch] = LEASE_GONE
}

active proctype world() {
	atomic {
		table_fill();
		at = 0;
		do
		:: at < EPOCHS -> sess[at] = LEASE_NEW; owner[at] = NONE; at++
		:: else -> break
		od;
		at = 0
	};
end:
	do
	:: atomic {
		if
		CONSOLE_STEPS(0)
		CONSOLE_STEPS(1)
		MESSAGE_STEPS(0)
		MESSAGE_STEPS(1)
		MESSAGE_STEPS(2)
		:: deaths && alive[0] -> deaths--; alive[0] = false; leads[0] = false;
			knows[0] = 0; asks[0] = 0
		:: restarts -> restarts--; restart()
		:: expires -> session_end(LEASE_EXPIRED)
		:: held != 0 && silences -> silences--; session_end(LEASE_EXPIRED)
		:: over(1) -> gone(1)
		:: over(2) -> gone(2)
		:: over(3) -> gone(3)
		:: over(4) -> gone(4)
		:: over(5) -> gone(5)
		:: over(6) -> gone(6)
		fi
	   }
	od
}

#define left(e)	(sess[e] != LEASE_NEW && sess[e] != LEASE_GONE && held != (e))

active proctype monitor() {
end:
#if defined(W_TAKEN)		/* taken over while work of the other console is in flight */
	atomic { units[1] && sess[1] == LEASE_FENCED -> assert(false) }
#elif defined(W_BACK)		/* the console that lost the node leads it again */
	atomic { held == 3 && owner[1] == owner[3] && sess[1] == LEASE_FENCED -> assert(false) }
#elif defined(W_BOTH)		/* two consoles believe that they lead it */
	atomic { leads[0] && leads[1] -> assert(false) }
#elif defined(W_LATE)		/* a dead console's forced join arrives while another leads */
	atomic { !alive[0] && holds(1) && net[0].used && net[0].kind == MAKE && net[0].force &&
		 net[0].who == 0 && net[0].epoch != 0 -> assert(false) }
#else
	atomic { timeout ->
		assert(held == 0 || alive[owner[held]]);
		assert((leads[0] -> holds(0) : true) && (leads[1] -> holds(1) : true));
		assert(!left(1) && !left(2) && !left(3) && !left(4) && !left(5) && !left(6)) }
#endif
}
