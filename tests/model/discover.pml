/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery between two nodes. Both change their interfaces, restart, and are switched off and on,
 * while pings, pushes, replies and ACKs are lost, delayed, duplicated or truncated, and cross.
 *
 * The table is lnet/model/states/discover.def itself: a step that is not an edge fails. One atomic
 * step = one hold of the lock of the peer's shard. Inlines have the names of the functions that
 * they model in lnet/service/discover.c, push.c, merge.c and session.c. An info is one byte:
 * sequence, life of its node, whether discovery is on, whether the info is long. A node's knowledge
 * of the other node is the info that it merged last.
 *
 * Bounds (-D), each for both nodes together: CHANGES, LIVES (restarts), SWITCHES (off or on), GROWS
 * (the info becomes long), LOSSES. DUPS: pushes that arrive twice, perhaps much later. AGAIN: pings
 * sent twice. DOUBTS: additional pings after a request without a reply. ONE: only node 0 sends
 * requests.
 * Mutants (-DM_...): see tests/model/rows; each must fail.
 *
 * Properties: only edges of the table are taken. Whenever nothing is in flight and nothing is due,
 * each node that sends requests and its peer know the current info of each other.
 * A node that is switched off is known by one NID. No discovery stops in an intermediate state.
 */
#ifndef CHANGES
#define CHANGES	0
#endif
#ifndef LIVES
#define LIVES	0
#endif
#ifndef SWITCHES
#define SWITCHES 0
#endif
#ifndef GROWS
#define GROWS	0
#endif
#ifndef LOSSES
#define LOSSES	0
#endif
#ifndef DUPS
#define DUPS	0
#endif
#ifndef AGAIN
#define AGAIN	0
#endif
#ifndef DOUBTS
#define DOUBTS	0
#endif

#define STATE(n)	mtype = { n };
#define EDGE(a, b)
#include "../../lnet/model/states/discover.def"
#include "../../lnet/model/states/session.def"
#undef STATE
#undef EDGE

c_decl {
	static unsigned char legal[64][64];
}

#define SEQ	7
#define LIFE	8
#define ON	16
#define LONG	32
#define seq(i)	((i) & SEQ)

/* ---- node n: itself ---- */
byte own[2] = 1 + ON;		/* ln->ping_info */
bool room[2];			/* ln->disc.push_len is sufficient for a long info */
bool walk[2], walk_force[2];	/* the walk over the peers is due */

/* ---- node n: its peer entry of the other ---- */
mtype st[2] = DISC_UNKNOWN;
mtype contact[2] = SESSION_UNKNOWN;
mtype was, next;		/* states of one step */
byte grant_life[2];		/* the life that opened the session: info & LIFE, + 1 */
byte has[2];			/* the info merged last; 0: only the primary NID */
byte hash[2];			/* d->hash */
byte data[2];			/* d->data */
byte merging[2];		/* the info that the worker is merging */
byte dseq[2], acked[2], told[2];
bool known[2], off[2], mr[2], peer_on[2];
bool want_ping[2], force_push[2], force_merge[2];
bool fails[2], status[2], paused[2], timer[2], todo[2];
bool size_long[2], sink_long[2];
bool opening[2];

/* ---- ping and push that node n sends to the other ---- */
bool ping[2], pushing[2];
byte preq[2];			/* pings in the network */
byte pans[2], pans2[2];		/* replies in the network */
byte pcopy[2];			/* op->sbuf of the push */
bool pnet[2];			/* the push is in the network */
bool pack[2];			/* its ACK is in the network */
byte late[2];			/* a duplicate of this push or of an earlier one */
bool fresh[2];			/* d->overtaken: a push was taken since the ping was sent */
bool had_force[2];		/* the push in flight was forced */

bool secret[2];			/* it was switched off before it knew that the peer is multi-rail */
byte changes, lives, switches, grows, losses, dups, again, doubts;
mtype = { R_OK, R_CUT, R_NONE };
mtype rc;
bool good;
byte it;			/* the received info */
bool got_push_in_ping, got_cut, got_older;	/* for the witnesses */

inline tables_fill() {
#define STATE(n)
#define EDGE(a, b)	was = a; next = b; c_code { legal[now.was][now.next] = 1; };
#include "../../lnet/model/states/discover.def"
#include "../../lnet/model/states/session.def"
#undef STATE
#undef EDGE
	was = 0; next = 0
}

inline set_state(n, s) {
	was = st[n]; next = s;
	assert(was == next || c_expr { legal[now.was][now.next] });
	st[n] = next; was = 0; next = 0
}

inline set_contact(n, s) {
	was = contact[n]; next = s;
	assert(c_expr { legal[now.was][now.next] });
	contact[n] = next; was = 0; next = 0
}

#define on(n)		((own[n] & ON) != 0)
#define session_busy(n)	(ping[n] || opening[n])
#define is_busy(n)	(pushing[n] || session_busy(n) || contact[n] == SESSION_PINGING || \
			 contact[n] == SESSION_OPENING)
/* Both nodes have the extension: the other node knows the info that it has requested. */
#define seq_known(n)	(told[n] > acked[n] -> told[n] : acked[n])
#define push_needed(n)	(mr[n] && known[n] && !pushing[n] && (force_push[n] || \
			 (peer_on[n] && on(n) && seq(own[n]) > seq_known(n))))
#define is_wanted(n)	(want_ping[n] || push_needed(n))
#define learned_late(n)	(known[n] && off[n] && peer_on[n] && on(n))

/* ---- contact.c, push.c: sending a ping or a push ---- */
inline ask_ping(n) {
	want_ping[n] = false;
	if
	:: !data[n] && !pushing[n] -> set_state(n, DISC_PING)
	:: else
	fi;
	sink_long[n] = size_long[n];
	ping[n] = true; fresh[n] = false; preq[n]++
}

inline push_send(n) {
	had_force[n] = force_push[n];
	force_push[n] = false; pushing[n] = true;
	pcopy[n] = own[n]; pnet[n] = true;
	set_state(n, DISC_PUSH)
}

/* ---- discover.c ---- */
inline rest(n) {
	if
	:: status[n] -> set_state(n, DISC_FAILED)
	:: !status[n] && known[n] -> set_state(n, DISC_DONE)
	:: else
	fi;
	if
	:: is_wanted(n) -> timer[n] = true
	:: else
	fi
}

inline disc_step(n) {
	if
	:: data[n] && !pushing[n] -> set_state(n, DISC_MERGE); todo[n] = true
	:: !(data[n] && !pushing[n]) && is_busy(n)
	:: !(data[n] && !pushing[n]) && !is_busy(n) && !paused[n] && want_ping[n] -> ask_ping(n)
	:: !(data[n] && !pushing[n]) && !is_busy(n) && !paused[n] && !want_ping[n] &&
	   push_needed(n) -> push_send(n)
	:: else -> rest(n)
	fi
}

inline disc_failed(n) {
	paused[n] = true; fails[n] = true; status[n] = true;
	if
	:: !data[n] -> set_state(n, DISC_FAILED)
	:: else
	fi
}

inline went_well(n) {
	fails[n] = false; status[n] = false; paused[n] = false
}

/* A push taken since the ping is newer. A push that is older may be late, or from a new life. */
#ifdef M_ANSWERWINS
#define answer_old(n, info)	false
#else
#define answer_old(n, info)	(fresh[n] && seq(info) < dseq[n])
#endif
#ifdef M_PUSHWINS
#define push_old(n, info)	(data[n] && seq(info) < dseq[n])
#else
#define push_old(n, info)	(known[n] && seq(info) < dseq[n])
#endif

/* result in @rc */
inline disc_take(n, info, by_push, cut) {
	size_long[n] = (info & LONG) != 0;
	rc = R_OK;
	if
	:: (by_push && push_old(n, info)) || (!by_push && answer_old(n, info)) ->
#ifndef M_OLDISNOTHING
		want_ping[n] = true;
#endif
		got_older = true
	:: else ->
		peer_on[n] = (info & ON) != 0;
		known[n] = true;
		if
		:: cut -> rc = R_CUT
		:: else ->
			dseq[n] = seq(info);
			fresh[n] = fresh[n] || by_push;
			if
			:: force_merge[n] || data[n] || info != hash[n] ->
				data[n] = info
			:: else
			fi
		fi
	fi
}

/* result in @good */
inline disc_answered(n, info, failed) {
	if
	:: failed ->
		disc_failed(n); good = false;
#ifndef M_ASKEDONCE		/* the other node may assume that this one has its reply */
		want_ping[n] = want_ping[n] || known[n]
#endif
	:: else ->
		disc_take(n, info, false, (info & LONG) && !sink_long[n]);
		good = true;
		if
		:: rc == R_CUT ->
			if
			:: fails[n] -> disc_failed(n)
			:: else -> fails[n] = true
			fi;
			want_ping[n] = true
		:: else -> went_well(n)
		fi;
		rc = 0
	fi
}

/* ---- contact.c: the end of a ping, and of a session open request ---- */
inline pinged(n, info, failed) {
	ping[n] = false; pans[n] = 0; pans2[n] = 0; sink_long[n] = false;
	disc_answered(n, info, failed);
	if
	:: contact[n] == SESSION_DOUBT && good -> opening[n] = true
	:: contact[n] == SESSION_PINGING && good ->
		set_contact(n, SESSION_OPENING); opening[n] = true
	:: contact[n] == SESSION_PINGING && !good -> set_contact(n, SESSION_PLAIN)
	:: else
	fi;
	good = false;
	disc_step(n)
}

/* The reply is from the current life of the other node. */
inline granted(n) {
	if
	:: grant_life[n] && grant_life[n] != (own[1 - n] & LIFE) + 1 ->
#ifndef M_NOTANEW
		acked[n] = 0; told[n] = 0
#else
		skip
#endif
	:: else
	fi;
	grant_life[n] = (own[1 - n] & LIFE) + 1;
	set_contact(n, SESSION_OPEN)
}

inline opened(n, failed) {
	opening[n] = false;
	if
	:: contact[n] == SESSION_OPENING && !failed -> granted(n)
	:: contact[n] == SESSION_OPENING && failed -> set_contact(n, SESSION_PLAIN)
	:: contact[n] == SESSION_DOUBT -> granted(n)
	:: contact[n] == SESSION_PINGING -> ask_ping(n)
	:: else
	fi;
	disc_step(n)
}

/* A request is due: lnet_contact_need(). The other node rejects the session of an earlier life. */
inline request(n) {
	if
	:: contact[n] == SESSION_DOUBT -> ask_ping(n)
	:: else ->
		if
		:: contact[n] == SESSION_OPEN -> set_contact(n, SESSION_PLAIN)
		:: else
		fi;
		if
		:: contact[n] == SESSION_UNKNOWN && known[n] && !session_busy(n) ->
			set_contact(n, SESSION_OPENING); opening[n] = true
		:: else ->
			set_contact(n, SESSION_PINGING);
			if
			:: !session_busy(n) -> ask_ping(n)
			:: else
			fi
		fi
	fi
}

/* ---- push.c ---- */
inline pushed(n, failed) {
	pushing[n] = false;
	if
	:: failed ->
		disc_failed(n);
#ifndef M_FORCEDONCE
		force_push[n] = force_push[n] || had_force[n]
#endif
	:: else -> acked[n] = seq(pcopy[n]); went_well(n)
	fi;
	pcopy[n] = 0; had_force[n] = false; pack[n] = false;
	disc_step(n)
}

/* a push is received */
inline push_taken(n, info) {
	if
	:: ping[n] -> got_push_in_ping = true
	:: else
	fi;
	disc_take(n, info, true, (info & LONG) && !room[n]);
	if
	:: rc == R_CUT -> want_ping[n] = true; room[n] = true; got_cut = true
	:: else -> fails[n] = false; status[n] = false
	fi;
	rc = 0;
	disc_step(n)
}

/* One visit of the walk to the peer entry: time_set() */
inline walked(n) {
	walk[n] = false;
	if
	:: known[n] ->
		if
		:: walk_force[n] && mr[n] -> force_push[n] = true
		:: else
		fi;
		if
		:: learned_late(n) -> want_ping[n] = true; force_merge[n] = true
		:: else
		fi;
		if
		:: is_wanted(n) && !timer[n] -> disc_step(n)
		:: else
		fi
	:: else
	fi;
	walk_force[n] = false
}

/* ---- merge.c: the worker; other steps may run between its two holds of the shard ---- */
inline merge_begin(n) {
	todo[n] = false;
	merging[n] = data[n]; data[n] = 0
}

#define learns(n)	(on(n) && (merging[n] & ON))
inline merge_end(n) {
	peer_on[n] = (merging[n] & ON) != 0;
	known[n] = true;
	if
	:: learns(n) -> has[n] = merging[n]; off[n] = false; mr[n] = true
	:: else ->
		off[n] = true;
		if
		:: on(n) ->
			if
			:: mr[n] -> has[n] = 0
			:: else
			fi;
			mr[n] = false
		:: else
		fi
	fi;
	hash[n] = merging[n]; merging[n] = 0; force_merge[n] = false;
	disc_step(n)
}

/* ---- the world ---- */
/* The node stops and starts. Messages in its connections are lost; the peer requests them again. */
inline restart(n) {
	own[n] = 1 + ON + ((own[n] & LIFE) ^ LIFE) + (own[n] & LONG);
	room[n] = false; walk[n] = false; walk_force[n] = false;
	st[n] = DISC_UNKNOWN; contact[n] = SESSION_UNKNOWN; grant_life[n] = 0;
	has[n] = 0; hash[n] = 0; data[n] = 0; merging[n] = 0;
	dseq[n] = 0; acked[n] = 0; told[n] = 0;
	known[n] = false; off[n] = false; mr[n] = false; peer_on[n] = false;
	want_ping[n] = false; force_push[n] = false; force_merge[n] = false;
	fails[n] = false; status[n] = false; paused[n] = false; timer[n] = false; todo[n] = false;
	size_long[n] = false; sink_long[n] = false; opening[n] = false;
	ping[n] = false; pushing[n] = false; preq[n] = 0; pans[n] = 0; pans2[n] = 0;
	pcopy[n] = 0; pnet[n] = false; pack[n] = false; late[n] = 0;
	fresh[n] = false; had_force[n] = false; secret[n] = false;
	pans[1 - n] = 0; pans2[1 - n] = 0; preq[1 - n] = ping[1 - n];
	pack[1 - n] = false; pnet[1 - n] = pushing[1 - n]
}

/* A later ping may be a duplicate, and no operation waits for its reply. */
#ifdef M_TOLDLATE
#define first_ask(n)	true
#else
#define first_ask(n)	(!known[n] && !told[n])
#endif

inline pings_come(n) {
	preq[n]--;
	if
	:: (!(own[1 - n] & LONG) || sink_long[n]) && first_ask(1 - n) ->
		told[1 - n] = seq(own[1 - n])
	:: else
	fi;
	if
	:: ping[n] && !pans[n] -> pans[n] = own[1 - n]
	:: ping[n] && pans[n] -> pans2[n] = own[1 - n]
	:: else
	fi
}

#ifdef ONE
#define sends(n)	(n == 0)
#else
#define sends(n)	true
#endif
#define current(n)	(contact[n] == SESSION_OPEN && grant_life[n] == (own[1 - n] & LIFE) + 1)
#define may_change(n)	(!merging[n] && seq(own[n]) < SEQ)

#define STEPS(n) \
	/* requests, if a request would detect a change */ \
	:: sends(n) && !current(n) && contact[n] != SESSION_PINGING && \
	   contact[n] != SESSION_OPENING && !(contact[n] == SESSION_DOUBT && session_busy(n)) -> \
		request(n) \
	:: contact[n] == SESSION_OPEN && !current(n) -> set_contact(n, SESSION_DOUBT) \
	:: contact[n] == SESSION_OPEN && doubts < DOUBTS && !session_busy(n) -> \
		doubts++; ask_ping(n) \
	/* pings */ \
	:: preq[n] -> pings_come(n) \
	:: ping[n] && again < AGAIN -> again++; preq[n]++ \
	:: pans[n] -> it = pans[n]; pinged(n, it, false); it = 0 \
	:: pans2[n] -> it = pans2[n]; pinged(n, it, false); it = 0 \
	:: preq[n] && !ping[n] -> preq[n]-- \
	:: preq[n] > 1 -> preq[n]-- \
	:: ping[n] && losses < LOSSES -> losses++; pinged(n, 0, true) \
	/* session open requests */ \
	:: opening[n] -> opened(n, false) \
	:: opening[n] && losses < LOSSES -> losses++; opened(n, true) \
	/* pushes */ \
	:: pnet[n] -> pnet[n] = false; pack[n] = pushing[n]; push_taken(1 - n, pcopy[n]) \
	:: pack[n] -> pushed(n, false) \
	:: pushing[n] && losses < LOSSES -> losses++; pnet[n] = false; pushed(n, true) \
	:: pushing[n] && dups < DUPS && !late[n] -> dups++; late[n] = pcopy[n] \
	:: late[n] -> it = late[n]; late[n] = 0; push_taken(1 - n, it); it = 0 \
	:: late[n] -> late[n] = 0 \
	/* timers and the worker */ \
	:: timer[n] -> timer[n] = false; paused[n] = false; disc_step(n) \
	:: todo[n] && !merging[n] -> merge_begin(n) \
	:: merging[n] -> merge_end(n) \
	:: walk[n] && !merging[n] -> walked(n) \
	/* changes of the node */ \
	:: changes < CHANGES && may_change(n) -> changes++; own[n]++; walk[n] = true \
	:: grows < GROWS && may_change(n) && !(own[n] & LONG) -> \
		grows++; own[n] = (own[n] | LONG) + 1; walk[n] = true \
	:: switches < SWITCHES && may_change(n) -> \
		switches++; own[n] = (own[n] ^ ON) + 1; walk[n] = true; \
		walk_force[n] = walk_force[n] || !on(n); secret[n] = !on(n) && !mr[n] \
	:: lives < LIVES -> lives++; restart(n)

/* Nothing is in flight, and nothing is due. */
#define quiet(n)	(!ping[n] && !opening[n] && !pushing[n] && !preq[n] && !late[n] && \
			 !pnet[n] && !timer[n] && !todo[n] && !merging[n] && !walk[n] && \
			 (!sends(n) || current(n)))
#define knows(n)	(!on(n) || (on(1 - n) -> has[n] == own[1 - n] && st[n] == DISC_DONE : \
				    has[n] == 0 || secret[1 - n]))

init {
	atomic { tables_fill() };
	do
	:: atomic {
		if
		STEPS(0)
		STEPS(1)
		fi
	   }
	:: atomic { quiet(0) && quiet(1) -> break }
	od;
	assert(knows(0) && knows(1));
	assert(!is_wanted(0) && !is_wanted(1) && !data[0] && !data[1])
}

active proctype monitor() {
end:
#if defined(W_CROSS)		/* a push is taken while a ping is in flight */
	atomic { got_push_in_ping -> assert(false) }
#elif defined(W_BOTH)		/* both nodes push a change at the same time */
	atomic { pushing[0] && pushing[1] && seq(pcopy[0]) > 1 && seq(pcopy[1]) > 1 ->
		 assert(false) }
#elif defined(W_CUT)		/* a push is longer than the buffer for it */
	atomic { got_cut -> assert(false) }
#elif defined(W_OLDER)		/* an older info arrives after a newer one */
	atomic { got_older -> assert(false) }
#elif defined(W_ANEW)		/* a node pushes its info to a node that has restarted */
	atomic { pushing[0] && (own[1] & LIFE) && seq(own[0]) == 1 && grant_life[0] == LIFE + 1 ->
		 assert(false) }
#elif defined(W_OFF)		/* the NIDs that node 0 learned are removed */
	atomic { known[0] && off[0] && !has[0] && mr[1] && !on(1) -> assert(false) }
#else
	false
#endif
}
