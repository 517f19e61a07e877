/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Health and recovery of a path. The model covers successes and failures on the path and on others,
 * missing responses and liveness, pings, their queue and timers. It also covers the link, manually
 * set values, and the removal of the path.
 *
 * One atomic step = one hold of the shard. Inlines have the names of the functions that they model
 * in lnet/path/health.c, recover.c and suspect.c. The model leaves open when the ping rate limit
 * permits a ping, and how long a pause is.
 *
 * Bounds (-D): MAX, STEP and COST of health; FAILS of its messages and pings, OTHERS: failures of
 *	other paths of its ends, OKS: successes of messages, SILENCES, LINKS: changes of the link,
 *	HANDS: values set manually, WAITS: how often the rate limit of the node or of the peer
 *	delays a ping.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties:
 *	Health is within 0..MAX, and the path is at most once in the queue. A path that failed is in
 *	recovery as long as recovery makes sense; then it is queued, or a timer runs, or a ping is
 *	in flight. The queue's timer runs while a path is queued. In the end a healthy path is in no
 *	recovery. When the path is removed no ping is in flight, no timer runs, and it is not in the
 *	queue. It is removed in the end.
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
bool up = true;			/* the interface is not being stopped */
bool link = true, up_pending;	/* rising: the worker has not visited the path yet */
bool gone;			/* removed */
byte fails = FAILS, others = OTHERS, oks = OKS;
byte silences = SILENCES, links = LINKS, hands = HANDS, waits = WAITS;
short least;			/* scratch variable of one step */
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
#ifndef M_TWICE			/* does not check whether it is queued */
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

inline probe() {
	in_line--;
	if
	:: !worth_it -> stop()
	:: worth_it ->
		pings_wanted();
		if
		:: pinging >= wanted -> skip	/* lnet_path_ping_done() continues */
		/* the rate limit is reached: probe() is false */
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

/* lnet_probes_run(): the path's position is due, the rate limit is reached, or others are first */
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

/* Not every failed ping is attributed to the path. */
inline ping_failed() {
	if
	:: recovering == RECOVER_SLOW && (timer || in_line) ->
#ifdef W_LATE			/* one of several quick pings, after the first has failed */
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
		:: skip			/* not attributed: slow, no memory, or cancelled */
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

/* No step is missing. */
inline check() {
	assert(path_health >= 0 && path_health <= MAX && ni_health >= 0 && ni_health <= MAX &&
	       pni_health >= 0 && pni_health <= MAX);
	assert(in_line <= 1);
	assert(!(in_line && !line_timer));
	assert(!((path_health < MAX || suspect || down) && worth_it && !up_pending &&
		 recovering == RECOVER_NOT));
	assert(!(recovering != RECOVER_NOT && worth_it && !in_line && !timer && !pinging));
	assert(!(gone && (in_line || timer || pinging)))
}

#ifdef M_NOIDLE			/* removed while a ping is in flight */
#define idle	true
#else
#define idle	!pinging
#endif

active proctype world() {
	do
	:: atomic {
		if
		/* messages on the path, and on other paths of its ends */
		:: !gone && fails -> fails--; lnet_health_fail()
		:: !gone && oks -> oks--; lnet_path_alive(); lnet_health_ok(true)
		:: !gone && oks -> oks--; lnet_health_ok(false)
		:: others -> others--; change(ni_health, -COST)
		:: others -> others--; change(pni_health, -COST)
		/* lnet_select() finds it */
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
		/* the worker: the queue and the path's timer */
		:: line_timer -> assert(!gone || !in_line); lnet_probes_run()
		:: timer -> assert(!gone); timer = false; ping_soon(); lnet_probes_run()
		/* a ping ends */
		:: pinging && link -> assert(!gone); pinging--; ping_ok()
		:: pinging && (fails || !link || !up) ->
			assert(!gone); pinging--;
			fails = (fails -> fails - 1 : 0);
			ping_failed()
		/* the link; the worker visits the paths when it is up again */
		:: links && link -> link = false
		:: links && !link -> links--; link = true; up_pending = true
		:: up_pending -> up_pending = false;
			if
			:: !gone -> lnet_path_recover_at()
			:: else
			fi
		/* set manually: path and NI at MAX, or the peer NI at 0 */
		:: hands && !gone ->
			hands--; ni_health = MAX; path_health = MAX; lnet_path_recover_at()
		:: hands && !gone -> hands--; pni_health = 0; lnet_path_recover_at()
		/* the interface is removed, the path when it is idle: is_busy() */
		:: up -> up = false
		:: !up && !gone && idle ->
#ifndef M_NOLEAVE
			in_line = 0;
#endif
			timer = false; gone = true
		fi;
		check()
	   }
	/* nothing is due */
	:: atomic { !line_timer && !timer && !pinging && !up_pending ->
		assert(gone || recovering == RECOVER_NOT);
		break }
	od
}

active proctype monitor() {
end:
#if defined(W_QUICK)		/* two pings in flight */
	atomic { pinging == 2 -> assert(false) }
#elif defined(W_GOES)		/* its interface is being removed; it is pinged and queued */
	atomic { !up && pinging && in_line -> assert(false) }
#else
	false
#endif
}
