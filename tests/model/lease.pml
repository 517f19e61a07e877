/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who leads a node of a self-test: two consoles ask it to join their sessions, each with force or
 * without, work in them, give it back, and die; the node may start anew. Requests and answers are
 * lost, or come at any later time, in any order, also after their sender gave them up or died.
 *
 * The table is lnet/selftest/lease.def: a step that is no edge fails. One atomic step = one lock
 * hold of the service at the node or at a console. Inlines are named as what they stand for in
 * lnet/selftest/session.c, con_group.c and con_session.c. Sessions at the node are numbered by
 * their epoch.
 *
 * Bounds (-D): ASKS, requests of a console besides those of its pinger; LOSSES; DEATHS of console
 * 0, RESTARTS of the node, 0 or 1; SILENCES, leases that end though their console lives.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * What must hold: only edges of the table; at most one session is held; each has an epoch of its
 * own; work is taken from who holds the node only; a join that takes effect against another console
 * was sent after the last change of hands; in the end a node whose console is dead is free, nothing
 * of its sessions is left, and a console that lives knows if it lost the node.
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

#define SLOTS	3		/* messages under way */
#define EPOCHS	7
#define NONE	2		/* no console */

mtype = { MAKE, WORK, REMOVE, MADE, BUSY, STALE, NO_SUCH, GOOD, GIVEN };

typedef message {
	bool used;
	mtype kind;
	byte who;			/* the console: of a request its sender */
	bool force;
	byte epoch;			/* a request: as its sender knows; an answer: of the node */
	byte sent_at;			/* ghost: the epoch at the node when it was sent */
};
message net[SLOTS];

/* the node */
mtype sess[EPOCHS];
bool units[EPOCHS];			/* something of it is under way */
byte owner[EPOCHS] = NONE;
byte epoch = 0, held = 0;		/* held: the epoch of the session it is in; 0: none */
bool fenced[2];

/* consoles */
bool alive[2] = true;
bool leads[2];				/* it believes so */
byte knows[2];				/* the epoch it was told last */
byte asks[2] = ASKS;

byte losses = LOSSES, deaths = DEATHS, restarts = RESTARTS, silences = SILENCES;
byte free_slot, at;
mtype was, next;		/* of the step going on */

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
	/* nobody loses it to one who does not know of him, nor gets it back unawares */
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

#ifdef M_NOCAS			/* force is believed whenever it was sent */
#define seen(i)		true
#else
#define seen(i)		(net[i].epoch == epoch)
#endif
#ifdef M_NOFENCE		/* who lost it may join a free node whenever he asked */
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

#ifdef M_NOSID			/* work is taken whoever sends it */
#define may_work(w)	(held != 0)
#else
#define may_work(w)	holds(w)
#endif

/* lst_session_check_locked(): only answers to MAKE tell the epoch */
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

#ifdef M_NOPINGER		/* a console does not look whether its nodes are still there */
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

#ifdef M_NOLEASE		/* a session lasts until somebody ends it */
#define expires		false
#else
#define expires		(held != 0 && !alive[owner[held]])
#endif

/* What was under way of a session that is over ends. */
#define over(e)	(sess[e] == LEASE_REMOVED || sess[e] == LEASE_EXPIRED || sess[e] == LEASE_FENCED)
inline gone(e) {
	units[e] = false; set_state(e, LEASE_GONE)
}

/* Of what it was nothing is left, but for numbers that nobody had before. */
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
#if defined(W_TAKEN)		/* taken over while work of the other is under way */
	atomic { units[1] && sess[1] == LEASE_FENCED -> assert(false) }
#elif defined(W_BACK)		/* who lost it leads it again */
	atomic { held == 3 && owner[1] == owner[3] && sess[1] == LEASE_FENCED -> assert(false) }
#elif defined(W_BOTH)		/* two believe that they lead it */
	atomic { leads[0] && leads[1] -> assert(false) }
#elif defined(W_LATE)		/* a dead console's forced join comes when another leads */
	atomic { !alive[0] && holds(1) && net[0].used && net[0].kind == MAKE && net[0].force &&
		 net[0].who == 0 && net[0].epoch != 0 -> assert(false) }
#else
	atomic { timeout ->
		assert(held == 0 || alive[owner[held]]);
		assert((leads[0] -> holds(0) : true) && (leads[1] -> holds(1) : true));
		assert(!left(1) && !left(2) && !left(3) && !left(4) && !left(5) && !left(6)) }
#endif
}
