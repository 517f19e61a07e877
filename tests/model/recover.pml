/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Health and recovery of a path: failures and successes of its messages and of others', silence and
 * signs of life, pings, their line and timers, the link, values set by hand, and its end.
 *
 * One atomic step = one hold of the shard. Inlines are named as what they stand for in
 * lnet/path/health.c, recover.c and suspect.c. When the budget allows a ping, and how long a pause
 * is, is left open.
 *
 * Bounds (-D): MAX, STEP and COST of health; FAILS of its messages and pings, OTHERS: failures of
 *	other paths of its ends, OKS: successes of messages, SILENCES, LINKS: changes of the link,
 *	HANDS: values set manually, WAITS: how often the budget of the node or of
 *	the peer is used up.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * What must hold:
 *	health within 0..MAX; at most once in the line; a path that failed is in recovery as long as
 *	that is worth it, and then in the line, or a timer runs, or a ping is under way; the line's
 *	timer runs while somebody is in it; in the end a path that is whole is in no recovery; when
 *	it goes no ping is under way, no timer runs, and it is not in the line; it does go.
 */
#ifndef MAX
#define MAX	2
#endif
#ifndef STEP
#define STEP	1
#endif
#ifndef COST
#define COST	2
#endif
#ifndef FAILS
#define FAILS	2
#endif
#ifndef OTHERS
#define OTHERS	1
#endif
#ifndef OKS
#define OKS	1
#endif
#ifndef SILENCES
#define SILENCES 1
#endif
#ifndef LINKS
#define LINKS	1
#endif
#ifndef HANDS
#define HANDS	0
#endif
#ifndef WAITS
#define WAITS	2
#endif
#define PINGS_AT_ONCE 2

mtype = { RECOVER_NOT, RECOVER_SLOW, RECOVER_QUICK };

short path_health = MAX, ni_health = MAX, pni_health = MAX;
bool suspect, down;
mtype recovering = RECOVER_NOT;
byte pinging;
byte in_line;
bool timer, line_timer;
bool up = true;			/* the interface is not on its way out */
bool link = true, rising;	/* rising: the worker has not been to the path yet */
bool gone;			/* taken away */
byte fails = FAILS, others = OTHERS, oks = OKS;
byte silences = SILENCES, links = LINKS, hands = HANDS, waits = WAITS;
short least;			/* of the step going on */
byte wanted;
bool bad;

#define min2(a, b)	((a) < (b) -> (a) : (b))
#define path_min	min2(path_health, min2(ni_health, pni_health))
#define whole		(path_min == MAX && !suspect && !down)
#define worth_it	(!whole && up && link && !gone)

inline change(value, by) {
	value = value + (by);
#ifndef M_NOCLAMP
	value = (value < 0 -> 0 : (value > MAX -> MAX : value))
#endif
}

/* ---- probe.c ---- */

inline lnet_probe_join() {
	if
#ifndef M_TWICE			/* does not look whether it is there */
	:: in_line -> skip
	:: !in_line -> in_line++; line_timer = true
#else
	:: in_line < 2 -> in_line++; line_timer = true
	:: in_line == 2 -> skip
#endif
	fi
}

/* ---- recover.c ---- */

inline stop() {
#ifdef M_STAYS
	skip
#else
	recovering = RECOVER_NOT; timer = false; in_line = 0
#endif
}

inline ping_soon() {
	timer = false; lnet_probe_join()
}

inline lnet_path_recover_at() {
	if
	:: worth_it ->
		if
		:: recovering == RECOVER_NOT -> recovering = RECOVER_SLOW
		:: else
		fi;
		if
		:: !pinging -> ping_soon()
		:: else
		fi
	:: !worth_it -> skip
	fi
}

inline pings_wanted() {
	least = path_min;
	wanted = (MAX - least + STEP - 1) / STEP;
	wanted = (wanted < 1 -> 1 : wanted);
	wanted = (recovering == RECOVER_QUICK -> min2(wanted, PINGS_AT_ONCE) : 1);
	least = 0
}

/* @first: out of its turn */
inline probe() {
	in_line--;
	if
	:: !worth_it -> stop()
	:: worth_it ->
		pings_wanted();
		if
		:: pinging >= wanted -> skip	/* lnet_path_ping_done() goes on */
		/* probe() is false */
		:: pinging < wanted && waits -> waits--; timer = true
		:: pinging < wanted ->
			pinging++;
			if
			:: recovering == RECOVER_QUICK && pinging < wanted -> ping_soon()
			:: else
			fi
		fi;
		wanted = 0
	fi
}

/* lnet_probes_run(): its turn, or the budget is used up, or others are before it */
inline lnet_probes_run() {
	line_timer = false;
	if
	:: in_line -> probe()
	:: in_line && waits -> waits--
	:: !in_line -> skip
	fi;
	line_timer = in_line > 0
}

inline ping_ok() {
	lnet_path_alive();
	lnet_health_ok(true);
	if
	:: !worth_it -> stop()
	:: worth_it -> recovering = RECOVER_QUICK; ping_soon()
	fi
}

/* @bad: it says something of the path */
inline ping_failed() {
	if
	:: recovering == RECOVER_SLOW && (timer || in_line) ->
#ifdef W_LATE			/* one of several of the quick time; the first has said it */
		assert(false)
#else
		skip
#endif
	:: else ->
		if
		:: link ->
			change(path_health, -COST);
			if
			:: !down -> change(ni_health, -COST)
			:: true
			fi;
			if
			:: change(pni_health, -COST)
			:: skip
			fi;
			down = true
		:: skip			/* it may be slow; no memory; cancelled */
		fi;
		recovering = RECOVER_SLOW;
		in_line = 0;
#ifndef M_NOTIMER
		timer = true
#endif
	fi
}

/* ---- health.c, suspect.c ---- */

inline lnet_health_ok(from_peer) {
	if
	:: ni_health < MAX -> change(ni_health, STEP)
	:: else
	fi;
	if
	:: from_peer && path_health < MAX -> change(path_health, STEP)
	:: else
	fi;
	if
	:: from_peer && pni_health < MAX -> change(pni_health, STEP)
	:: else
	fi
}

inline lnet_path_alive() {
	bad = down;
	suspect = false; down = false;
	if
	:: bad -> lnet_path_recover_at()
	:: else
	fi;
	bad = false
}

inline lnet_health_fail() {
	change(path_health, -COST);
	if
	:: change(ni_health, -COST)
	:: skip
	fi;
	if
	:: change(pni_health, -COST)
	:: skip
	fi;
#ifndef M_NOJOIN
	if
	:: recovering == RECOVER_NOT -> lnet_path_recover_at()
	:: else
	fi
#endif
}

/* Nothing is owed by anybody. */
inline check() {
	assert(path_health >= 0 && path_health <= MAX && ni_health >= 0 && ni_health <= MAX &&
	       pni_health >= 0 && pni_health <= MAX);
	assert(in_line <= 1);
	assert(!(in_line && !line_timer));
	assert(!((path_health < MAX || suspect || down) && worth_it && !rising &&
		 recovering == RECOVER_NOT));
	assert(!(recovering != RECOVER_NOT && worth_it && !in_line && !timer && !pinging));
	assert(!(gone && (in_line || timer || pinging)))
}

#ifdef M_NOIDLE			/* taken away while a ping is under way */
#define idle	true
#else
#define idle	!pinging
#endif

active proctype world() {
	do
	:: atomic {
		if
		/* messages of its own, and of other paths of its ends */
		:: !gone && fails -> fails--; lnet_health_fail()
		:: !gone && oks -> oks--; lnet_path_alive(); lnet_health_ok(true)
		:: !gone && oks -> oks--; lnet_health_ok(false)
		:: others -> others--; change(ni_health, -COST)
		:: others -> others--; change(pni_health, -COST)
		/* lnet_select() meets it */
		:: !gone && recovering == RECOVER_NOT && worth_it -> lnet_path_recover_at()
		/* lnet_path_suspect(): first in the queue */
		:: !gone && silences && !suspect && link ->
			silences--; suspect = true;
			lnet_path_recover_at();
			if
			:: recovering != RECOVER_NOT && !pinging ->
				lnet_probe_join(); lnet_probes_run()
			:: else
			fi
		/* the worker: its turn, its timer */
		:: line_timer -> assert(!gone || !in_line); lnet_probes_run()
		:: timer -> assert(!gone); timer = false; ping_soon(); lnet_probes_run()
		/* a ping ends */
		:: pinging && link -> assert(!gone); pinging--; ping_ok()
		:: pinging && (fails || !link || !up) ->
			assert(!gone); pinging--;
			fails = (fails -> fails - 1 : 0);
			ping_failed()
		/* the link; the worker walks over the paths when it is back */
		:: links && link -> link = false
		:: links && !link -> links--; link = true; rising = true
		:: rising -> rising = false;
			if
			:: !gone -> lnet_path_recover_at()
			:: else
			fi
		/* set by hand: all whole, or one end not */
		:: hands && !gone ->
			hands--; ni_health = MAX; path_health = MAX; lnet_path_recover_at()
		:: hands && !gone -> hands--; pni_health = 0; lnet_path_recover_at()
		/* the interface goes, the path when it is idle: is_busy() */
		:: up -> up = false
		:: !up && !gone && idle ->
#ifndef M_NOLEAVE
			in_line = 0;
#endif
			timer = false; gone = true
		fi;
		check()
	   }
	/* nothing more happens by itself */
	:: atomic { !line_timer && !timer && !pinging && !rising ->
		assert(gone || recovering == RECOVER_NOT);
		break }
	od
}

active proctype monitor() {
end:
#if defined(W_QUICK)		/* two pings under way at once */
	atomic { pinging == 2 -> assert(false) }
#elif defined(W_GOES)		/* its interface goes, it is pinged and in the line */
	atomic { !up && pinging && in_line -> assert(false) }
#else
	false
#endif
}
