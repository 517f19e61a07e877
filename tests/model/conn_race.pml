/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two nodes dial each other while HELLOs cross, a node restarts and connections break. See the wire
 * manual: decision by the passive side, rows 4 to 8; checks by the initiator; closing. Node 1 has
 * the higher NID.
 *
 * A set has TYPES connections. Every HELLO, answer and end of stream arrives at any later time. A
 * rejected node dials again when its timer fires. EARLY timers of each node fire at any moment, all
 * others only after everything in flight has arrived. The timers of both nodes fire in the same
 * round, so attempts may cross in each round. With UNEVEN one timer may fire many times before the
 * other, as with back-off times that double.
 *
 * A node that loses its set takes another incarnation for the next set, and ends a dial for the
 * lost set. It does the same if a dial fails while it has no set.
 *
 * CRASH: the peer of a node that restarts does not notice that the old connections ended. QUIET:
 * the same for connections that a fault broke. QUEUE: each node has a message for the other, which
 * waits for a connection (lnd/socklnd/send.c, conn.c).
 *
 * Bounds (-D): TYPES, FAULTS (broken sets), RESTARTS (with a new incarnation), EARLY, ROUNDS.
 * Mutants: see tests/model/rows; each must fail.
 *
 * Properties: every run ends with one complete set, which is the same at both ends. There is no
 * livelock: at most ROUNDS rounds of timers follow the last fault. Each message arrives, or the
 * driver reports to the core that its delivery is unknown.
 */
#ifndef TYPES
#define TYPES	2
#endif
#ifndef FAULTS
#define FAULTS	1
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef EARLY
#define EARLY	1
#endif
#ifndef ROUNDS
#define ROUNDS	2
#endif
/* the maximum number of connections, including closed ones; a dial waits until one is free */
#define SLOTS	5

mtype = { FREE, WAITS, LIVE, CLOSED };		/* of one end of a connection */
mtype = { NOTHING, YES, NO };			/* answer HELLO in flight */
mtype end_of[2 * SLOTS] = FREE;			/* per connection: end at node 0, end at node 1 */
byte dialer[SLOTS], type[SLOTS];
byte said[SLOTS];				/* incarnation in the HELLO, then in the answer */
mtype answer[SLOTS] = NOTHING;
bool mute[SLOTS];				/* the closed end sends no end of stream */

byte incarnation[2] = 1;
/* the peer's incarnation, set with its connections; 0: none */
byte known[2];
bool connecting[2];				/* the connect job runs */
byte dialing[2];				/* connection in progress + 1; 0: none */
bool backoff[2];
byte rounds, early[2] = EARLY;
byte faults, restarts;
#ifdef W_LOST
byte restarted;				/* the node that restarted last + 1 */
#endif

#ifdef QUEUE
mtype = { QUEUED, WRITTEN, ARRIVED, TOLD };
mtype msg[2] = QUEUED;
byte over[2];				/* connection on which it was written + 1 */
#endif

byte i, t, n_live;				/* scratch variables of one step */

#define end(c, n)	end_of[(c) * 2 + (n)]
#define hello(c)	(end(c, dialer[c]) == WAITS && answer[c] == NOTHING && \
			 end(c, 1 - dialer[c]) == WAITS)
#define answered(c)	(end(c, dialer[c]) == WAITS && answer[c] != NOTHING)
#define eof(c, n)	(!mute[c] && end(c, n) == LIVE && end(c, 1 - n) == CLOSED || \
			 n == dialer[c] && end(c, n) == WAITS && answer[c] == NOTHING && \
			 end(c, 1 - n) == CLOSED)
#define one_live(c, n, ty) (end(c, n) == LIVE && type[c] == ty)
#define has(n, ty)	(one_live(0, n, ty) || one_live(1, n, ty) || one_live(2, n, ty) || \
			 one_live(3, n, ty) || one_live(4, n, ty))
#define complete(n)	(has(n, 0) && (TYPES < 2 || has(n, 1)))
#define under_way(c)	(hello(c) || answered(c) || eof(c, 0) || eof(c, 1))
#define quiet		(!under_way(0) && !under_way(1) && !under_way(2) && !under_way(3) && \
			 !under_way(4))
#define is_free(c)	(end(c, 0) == FREE)
#define room		(is_free(0) || is_free(1) || is_free(2) || is_free(3) || is_free(4))
#define waits(n)	(connecting[n] && !dialing[n] && !complete(n) && backoff[n])
#define settled(n)	(waits(n) || complete(n) && !connecting[n])

#ifdef QUEUE
#ifdef M_FORGETS		/* the driver reports no message that was written on a lost set */
#define tell(n)
#else
#define tell(n) \
	if \
	:: msg[n] == WRITTEN -> msg[n] = TOLD; over[n] = 0 \
	:: else \
	fi;
#endif
/* the message uses a connection of the right type; a node also reads connections that it opened */
#define QUEUE_STEPS(n, c) \
	:: msg[n] == QUEUED && one_live(c, n, TYPES - 1) -> msg[n] = WRITTEN; over[n] = c + 1 \
	:: msg[n] == WRITTEN && over[n] == c + 1 && end(c, 1 - n) == LIVE -> \
		msg[n] = ARRIVED; over[n] = 0
#define has_ended(n)	(msg[n] == ARRIVED || msg[n] == TOLD)
#define kept(c)		assert(over[0] != c + 1 && over[1] != c + 1)
#else
#define tell(n)
#define QUEUE_STEPS(n, c)
#define has_ended(n)	true
#define kept(c)
#endif

inline slots_free() {
	for (i : 0 .. SLOTS - 1) {
		if
		:: end(i, 0) != FREE &&
		   (end(i, 0) == CLOSED || end(i, 0) == WAITS && dialer[i] == 1) &&
		   (end(i, 1) == CLOSED || end(i, 1) == WAITS && dialer[i] == 0) ->
			kept(i);
			end(i, 0) = FREE; end(i, 1) = FREE;
			dialer[i] = 0; type[i] = 0;
			said[i] = 0; answer[i] = NOTHING; mute[i] = false
		:: else
		fi
	}
	i = 0
}

#ifdef SAMEINC		/* as stock: one incarnation for all sets */
#define reincarnate(n)
#else
#define reincarnate(n)	incarnation[n]++;
#endif

/* node n closes all its connections with the peer and clears the recorded incarnation */
inline siblings_close(n) {
	if
	:: known[n] ->
		if
		:: dialing[n] ->
			end(dialing[n] - 1, n) = CLOSED; dialing[n] = 0; backoff[n] = true
		:: else
		fi;
		reincarnate(n)
	:: else
	fi;
	for (i : 0 .. SLOTS - 1) {
		if
		:: end(i, n) == LIVE -> end(i, n) = CLOSED
		:: else
		fi
	}
	i = 0;
	tell(n)
	known[n] = 0
}

/* a fault ends the set of node n */
inline set_lose(n) {
#ifdef QUIET
	for (i : 0 .. SLOTS - 1) {
		if
		:: end(i, n) == LIVE -> mute[i] = true
		:: else
		fi
	}
	i = 0;
#endif
	faults++;
	siblings_close(n);
	fault()
}

inline fault() {
	rounds = 0
}

inline dial(n) {
	t = (has(n, 0) -> 1 : 0);
	i = 0;
	do
	:: end(i, 0) != FREE -> i++
	:: else -> break
	od;
	dialer[i] = n; type[i] = t; said[i] = incarnation[n]; answer[i] = NOTHING;
	end(i, 0) = WAITS; end(i, 1) = WAITS;
	dialing[n] = i + 1;
	i = 0; t = 0
}

#ifdef NOTIE		/* no tie-break */
#define ROW4(n)		false
#elif defined(BOTHREFUSE)	/* a node that is connecting rejects */
#define ROW4(n)		connecting[n]
#elif defined(WIDE)	/* the node also rejects while it waits to dial again */
#define ROW4(n)		(connecting[n] && n == 1)
#else			/* hello_judge(): the node rejects only while its own HELLO is in flight */
#define ROW4(n)		(dialing[n] && n == 1)
#endif
#ifdef NOLIMIT		/* the node accepts a second connection of the same type */
#define ROW7(c, n)	false
#else
#define ROW7(c, n)	has(n, type[c])
#endif

/* passive side n: rows 4 to 8 */
inline hello_take(c, n) {
	if
	:: ROW4(n) -> answer[c] = NO; end(c, n) = CLOSED
	:: !ROW4(n) && known[n] && known[n] != said[c] ->
		answer[c] = NO; end(c, n) = CLOSED;
#ifndef NOCLEAR		/* the old connections stay */
		siblings_close(n)
#endif
	:: !ROW4(n) && !(known[n] && known[n] != said[c]) && ROW7(c, n) ->
		answer[c] = NO; end(c, n) = CLOSED
	:: else -> known[n] = said[c]; answer[c] = YES; end(c, n) = LIVE
	fi;
	said[c] = incarnation[n]
}

inline dial_failed(n) {
	if
	:: !known[n] -> reincarnate(n)
	:: else
	fi
}

/* initiator n */
inline answer_take(c, n) {
	dialing[n] = 0;
	if
	:: answer[c] == NO ->
		end(c, n) = CLOSED; backoff[n] = true;
		dial_failed(n)
	:: answer[c] == YES && known[n] && known[n] != said[c] ->
		end(c, n) = CLOSED; siblings_close(n); backoff[n] = true
	:: else -> known[n] = said[c]; end(c, n) = LIVE
	fi;
	answer[c] = NOTHING
}

inline eof_take(c, n) {
	if
	:: dialing[n] == c + 1 ->
		dialing[n] = 0; backoff[n] = true;
		dial_failed(n)
	:: else
	fi;
	end(c, n) = CLOSED;
	siblings_close(n)
}

inline restart(n) {
#ifdef W_LOST
	restarted = n + 1;
#endif
	incarnation[n]++;
	for (i : 0 .. SLOTS - 1) {
		if
		:: end(i, n) != FREE && !(end(i, n) == WAITS && dialer[i] != n) ->
			end(i, n) = CLOSED;
#ifdef CRASH
			mute[i] = true
#endif
		:: else
		fi
	}
	i = 0;
	tell(n)
	known[n] = 0; connecting[n] = false; dialing[n] = 0; backoff[n] = false;
	fault()
}

#define CONNECTION_STEPS(c) \
	:: hello(c) && dialer[c] == 0 -> hello_take(c, 1) \
	:: hello(c) && dialer[c] == 1 -> hello_take(c, 0) \
	:: answered(c) && dialer[c] == 0 -> answer_take(c, 0) \
	:: answered(c) && dialer[c] == 1 -> answer_take(c, 1) \
	:: eof(c, 0) -> eof_take(c, 0) \
	:: eof(c, 1) -> eof_take(c, 1) \
	:: faults < FAULTS && end(c, 0) == LIVE -> set_lose(0) \
	:: faults < FAULTS && end(c, 1) == LIVE -> set_lose(1)

#define NODE_STEPS(n) \
	:: !connecting[n] && !complete(n) -> connecting[n] = true \
	:: connecting[n] && !dialing[n] && complete(n) -> \
		connecting[n] = false; backoff[n] = false \
	:: connecting[n] && !dialing[n] && !complete(n) && !backoff[n] && room -> dial(n) \
	:: waits(n) && early[n] -> early[n]--; backoff[n] = false \
	:: restarts < RESTARTS -> restarts++; restart(n)

active proctype world() {
	do
	:: atomic {
		if
		NODE_STEPS(0)
		NODE_STEPS(1)
		CONNECTION_STEPS(0)
		CONNECTION_STEPS(1)
		CONNECTION_STEPS(2)
		CONNECTION_STEPS(3)
		CONNECTION_STEPS(4)
		QUEUE_STEPS(0, 0)
		QUEUE_STEPS(0, 1)
		QUEUE_STEPS(0, 2)
		QUEUE_STEPS(0, 3)
		QUEUE_STEPS(0, 4)
		QUEUE_STEPS(1, 0)
		QUEUE_STEPS(1, 1)
		QUEUE_STEPS(1, 2)
		QUEUE_STEPS(1, 3)
		QUEUE_STEPS(1, 4)
		/* a second has passed: nothing is in flight, timers fire */
		:: quiet && settled(0) && settled(1) && (waits(0) || waits(1)) ->
			rounds++; assert(rounds <= ROUNDS);
			if
/* back-off times differ: either timer may fire first, any number of times */
#ifdef UNEVEN
			:: waits(0) -> backoff[0] = false
			:: waits(1) -> backoff[1] = false
#endif
			:: backoff[0] = false; backoff[1] = false
			fi
		fi;
		slots_free()
	   }
	:: atomic { complete(0) && complete(1) && quiet && !connecting[0] && !connecting[1] &&
		    has_ended(0) && has_ended(1) -> break }
	od;
	atomic {
		n_live = 0;
		for (i : 0 .. SLOTS - 1) {
			assert((end(i, 0) == LIVE) == (end(i, 1) == LIVE));
			n_live = n_live + (end(i, 0) == LIVE)
		}
		assert(n_live == TYPES);		/* one set */
		assert(known[0] == incarnation[1] && known[1] == incarnation[0])
	}
}

/* witness: node 1 rejected the HELLO of node 0 while its own HELLO is in flight */
#if defined(W_CROSS)
active proctype monitor() {
end:
	atomic { answer[0] == NO && dialer[0] == 0 && end(1, 1) == WAITS && dialer[1] == 1 ->
		 assert(false) }
}
/* witness: the HELLO arrives after a restart, and a connection from before the restart is alive */
#elif defined(W_HALF)
active proctype monitor() {
end:
	atomic { known[0] == 1 && end(0, 0) == LIVE && end(1, 1) == WAITS && dialer[1] == 1 &&
		 said[1] >= 2 -> assert(false) }
}
/* witness: a message was written to a node that has restarted */
#elif defined(W_LOST)
active proctype monitor() {
end:
	atomic { msg[0] == TOLD && restarted == 2 && !faults -> assert(false) }
}
#endif
