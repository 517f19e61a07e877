/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exactly-once, the request IDs: sessions, sequences, windows, restarts, late messages (manual:
 * exactly-once, rules 1 to 7, 11, 13, 14).
 *
 * The network is a set: each sent message may arrive any number of times, in any order, at any
 * later time, or never. So two rails, loss, duplication, hedges and late originals need no separate
 * steps. With REBIND (and not ROUTED) each attempt arrives at most once. The sender may abort at
 * any moment. An effect belongs to the request whose bytes arrived, under any request ID.
 *
 * Bounds (-D): NREQ requests, NONCES session open requests, GRANTS session IDs that the receivers
 * draw, SLIVES and RLIVES lives of sender and receiver. STOCK 1: between two lives the receiver may
 * be a stock node. DROPS: windows dropped while the receiver lives. W: window. JUMP: the bound of
 * rule 4 for how much a message moves the highest sequence. FAULTY: one message of the opener
 * exceeds this bound by far. FOREIGN: a third node knows the session ID (rule 2); the receiver
 * learns only from discovery which NIDs a node has. REJECT: a request may match nothing (rule 7).
 * LAZY: a receive may be aborted without effect, and the receiver then removes the entry (rule 7).
 * Mutants: see tests/model/rows; each must fail.
 *
 * Properties: at most one effect per request. Success at the sender implies exactly one effect. No
 * unfinished request is below the window. With JUMP, none is rejected because its sequence is too
 * high. With REJECT, a rejected request has no effect, and only a request that matched nothing is
 * rejected. With FOREIGN, no request of the opener is rejected as one of another node.
 */
#ifndef NREQ
#define NREQ	3
#endif
#ifndef NONCES
#define NONCES	2
#endif
#ifndef GRANTS
#define GRANTS	NONCES
#endif
#ifndef SLIVES
#define SLIVES	2
#endif
#ifndef RLIVES
#define RLIVES	2
#endif
#ifndef STOCK
#define STOCK	1
#endif
#ifndef DROPS
#define DROPS	1
#endif
#ifndef W
#define W	2	/* at most 2 */
#endif
#ifndef WR
#define WR	W	/* the receiver's window */
#endif
#ifndef WS
#define WS	W	/* the window that the sender uses */
#endif
#ifdef REBIND
#ifndef REBINDMAX
#define REBINDMAX 1	/* maximum number of attempts given to a driver, for a new request ID */
#endif
#ifndef ROUTED
#define ONCE		/* each attempt arrives at most once */
#endif
#endif
#define NAMES	(NREQ + 1)
#define bit(i)	(1 << (i))

/* NO: rejected permanently; END: aborted, delivery unknown, or the sender has restarted */
mtype = { NEW, OPEN, OK, NO, END };

/* ---- sender ---- */
mtype req[NREQ] = NEW;
byte g_of[NREQ], s_of[NREQ];		/* its request ID: session ID (0 none), sequence */
byte started;				/* requests begun, in order */
byte slife = 1;
byte grant;				/* the current session ID, 0 none */
byte newest;				/* the last sequence drawn in the session */
byte asked;				/* nonce of the outstanding session open request, 0 none */
byte nonces;				/* drawn so far */
#ifdef REBIND
byte tries[NREQ];			/* attempts with the current request ID */
#endif
#ifdef SEQREUSE
byte free_seq;				/* of an aborted request */
#endif

/* ---- network: sets of sent messages ---- */
byte sent[NREQ];			/* session IDs with which the request was sent (bits) */
byte seq_sent[NREQ * 4];		/* ... and the sequence, per session ID (at most 3) */
#ifdef ONCE
byte under_way[NREQ];			/* attempts in the network, with the current request ID */
#endif
byte acks[4];				/* per session ID: sequences acknowledged (bits) */
byte refused[4];			/* per session ID: sequences rejected, no window (bits) */
byte replies[NONCES + 1];		/* per nonce: session IDs in replies (bits) */
#ifdef REJECT
byte rejected[4];			/* per session ID: rejected sequences (bits) */
#endif

#ifdef JUMP
byte confirmed;				/* highest acknowledged sequence of the current session */
#endif
#ifdef FAULTY
bool faulty;				/* the message was sent */
#endif

/* ---- receiver ---- */
byte rlife = 1;
bool stock;
byte drops;
byte grants;				/* session IDs drawn so far, by all lives: never reused */
byte grant_of[NONCES + 1];		/* per nonce, in this life of the window */
byte windows;				/* session IDs that have a window (bits) */
byte high[4];				/* highest sequence seen */
byte entry_seq[4 * 2];			/* per session ID and slot; 0 free */
bool entry_final[4 * 2];
#ifdef REJECT
bool mark[4 * 2];			/* per session ID and slot: rejection without sequence */
#endif
#ifdef INSTONLY
byte grant_life[4];
#endif
#ifdef FOREIGN
/* The opener has NIDs 0 and 1, the third node has NID 2. A peer has the number of its first NID. */
#ifndef FOREIGN_KNOWN
#define FOREIGN_KNOWN true
#endif
byte peer_of[3] = { 0, 1, 2 };
bool whole[3] = { false, false, FOREIGN_KNOWN };	/* per peer: all of its NIDs are known */
byte from[4];				/* per session ID: the opener's NID that sent last */
bool moved;				/* NID 1 belongs to the third node */
byte nid;				/* scratch variable of one step */
#endif
/* requests in progress in two threads */
mtype = { IDLE, DECIDED, TAKEN, EFFECT };
mtype work[2] = IDLE;
byte work_r[2], work_g[2], work_s[2];

byte effects[NREQ];
byte i, g, s, r, slot, oldest;		/* scratch variables of one step */

#define e(gr, sq)	((gr) * 2 + (sq) % W)
/* (g, s) is in the window and has no entry */
#define no_entry	((windows & bit(g)) && s + WR > high[g] && entry_seq[e(g, s)] != s)
#define clear_step()	i = 0; g = 0; s = 0; r = 0; oldest = 0

inline window_clear(gr) {
	high[gr] = 0;
	entry_seq[(gr) * 2] = 0; entry_seq[(gr) * 2 + 1] = 0;
	entry_final[(gr) * 2] = false; entry_final[(gr) * 2 + 1] = false;
#ifdef REJECT
	mark[(gr) * 2] = false; mark[(gr) * 2 + 1] = false;
#endif
#ifdef FOREIGN
	from[gr] = 0
#endif
}

inline window_make(gr) {
#ifdef FOREIGN
	select(nid : 0 .. 1); from[gr] = (moved -> 0 : nid); nid = 0;
#endif
	window_clear(gr);
	windows = windows | bit(gr)
}

inline request_send(q) {
	sent[q] = sent[q] | bit(g_of[q]);
	seq_sent[q * 4 + g_of[q]] = s_of[q];
#ifdef REBIND
	tries[q]++;
#endif
#ifdef ONCE
	under_way[q]++;
#endif
}

/* The first attempt draws the request ID; newest - oldest unfinished < W. */
inline request_start(q) {
	s = newest + 1;
#ifdef SEQREUSE
	if
	:: free_seq -> s = free_seq; free_seq = 0
	:: else -> newest++
	fi;
#else
	newest++;
#endif
	req[q] = OPEN; g_of[q] = grant; s_of[q] = s;
#ifdef REBIND
	tries[q] = 0;
#endif
	request_send(q)
}

/* newest - highest confirmed < 2 W */
#if defined(JUMP) && !defined(NOCONF)
#define may_start	(newest + 1 - oldest < WS && newest + 1 - confirmed < 2 * W)
#else
#define may_start	(newest + 1 - oldest < WS)
#endif

inline oldest_find() {
	oldest = newest + 1;
	for (i : 0 .. NREQ - 1) {
		if
		:: req[i] == OPEN && g_of[i] == grant && s_of[i] < oldest -> oldest = s_of[i]
		:: else
		fi
	}
}

#ifdef REJECT
#define is_marked	(mark[e(g, s)] && s <= high[g])
/* the window moves up to s: it empties the places of the new sequences */
inline marks_clear() {
	if
	:: s > high[g] -> mark[e(g, s)] = false;
#ifndef REJ_STALE
		if
		:: s > high[g] + 1 -> mark[e(g, s + 1)] = false
		:: else
		fi
#endif
	:: else
	fi
}

/* the place records the rejection, and the receiver sends the reason */
inline request_reject() {
	marks_clear();
	high[g] = (s > high[g] -> s : high[g]);
	entry_seq[e(g, s)] = 0; entry_final[e(g, s)] = false;
#ifndef REJ_FORGOT
	mark[e(g, s)] = true;
#endif
	rejected[g] = rejected[g] | bit(s)
}
#else
#define is_marked	false
#define marks_clear()	skip
#endif

inline request_take() {
	marks_clear();
	high[g] = (s > high[g] -> s : high[g]);
	entry_seq[e(g, s)] = s;
	entry_final[e(g, s)] = false
}

#ifdef FOREIGN
/* rule 2: the receiver knows that NID n belongs to another peer than from[g] */
#ifdef NOOWNER
#define is_foreign(n)	false
#else
#define is_foreign(n)	(peer_of[n] != peer_of[from[g]] && whole[peer_of[n]])
#endif
inline owner_heard(n) {
	from[g] = (peer_of[n] == peer_of[from[g]] -> n : from[g])
}
#endif

/* A free thread t receives the request with request ID (g, s). */
inline request_come(t) {
	if
	:: stock ->
#ifdef NOMARK	/* a stock node accepts untracked requests, each time */
		effects[r]++; acks[g] = acks[g] | bit(s)
#else
		skip
#endif
	:: !stock ->
#ifdef NOINST	/* the request ID has only the sequence: used for any existing window */
		if
		:: windows & 8 -> g = 3
		:: else ->
			if
			:: windows & 4 -> g = 2
			:: else -> if :: windows & 2 -> g = 1 :: else fi
			fi
		fi;
#endif
#ifdef AUTOOPEN
		if :: !(windows & bit(g)) -> window_make(g) :: else fi;
#endif
#ifdef SEQ1
		if :: !(windows & bit(g)) && s == 1 -> window_make(g) :: else fi;
#endif
#ifdef INSTONLY
		if :: !(windows & bit(g)) && grant_life[g] == rlife -> window_make(g) :: else fi;
#endif
#ifdef FOREIGN
		/* the request was sent by any NID that the opener has */
		select(nid : 0 .. 1);
		nid = (moved -> 0 : nid);
		assert(!((windows & bit(g)) && is_foreign(nid)));
		owner_heard(nid);
		nid = 0;
#endif
#ifdef JUMP
		assert(!((windows & bit(g)) && s >= high[g] + 2 * W &&
			 req[r] == OPEN && g_of[r] == g && s_of[r] == s));
#endif
		if
		:: !(windows & bit(g)) -> refused[g] = refused[g] | bit(s)
		:: (windows & bit(g)) && s + WR <= high[g] ->
			/* unfinished, below the window */
			assert(!(req[r] == OPEN && g_of[r] == g && s_of[r] == s))
		:: (windows & bit(g)) && s + WR > high[g] && entry_seq[e(g, s)] == s ->
			if
			:: entry_final[e(g, s)] -> acks[g] = acks[g] | bit(s)
			:: else	/* joins */
			fi
#ifdef REJECT
		:: no_entry && is_marked ->
			/* a duplicate of a rejected request is rejected again */
			assert(rejected[g] & bit(s))
		:: no_entry && !is_marked ->
			request_reject()
#endif
		:: no_entry && !is_marked ->
			work_r[t] = r; work_g[t] = g; work_s[t] = s;
#if defined(RACE) || defined(EFFECTFIRST)
			work[t] = DECIDED
#else
			request_take(); work[t] = TAKEN
#endif
		fi
	fi
}

inline work_end(t) {
	work[t] = IDLE; work_r[t] = 0; work_g[t] = 0; work_s[t] = 0
}

inline work_step(t) {
	g = work_g[t]; s = work_s[t];
	if
#ifdef EFFECTFIRST
	:: work[t] == DECIDED -> effects[work_r[t]]++; work[t] = TAKEN
	:: work[t] == TAKEN -> request_take(); work[t] = EFFECT
#else
	:: work[t] == DECIDED -> request_take(); work[t] = TAKEN
	:: work[t] == TAKEN -> effects[work_r[t]]++; work[t] = EFFECT
#endif
#ifdef LAZY	/* its last receive was aborted, or it was dropped from the queue */
#ifdef LAZY_LATE
	:: work[t] == EFFECT ->
#else
	:: work[t] == TAKEN ->
#endif
		if
#ifdef LAZY_ANY
		:: windows & bit(g) -> entry_seq[e(g, s)] = 0
#else
		:: (windows & bit(g)) && entry_seq[e(g, s)] == s -> entry_seq[e(g, s)] = 0
#endif
		:: else
		fi;
		work_end(t)
#endif
	:: work[t] == EFFECT ->
		if
#ifdef NOGEN
		:: windows & bit(g) ->
			entry_final[e(g, s)] = true; acks[g] = acks[g] | bit(s)
#else
		:: (windows & bit(g)) && entry_seq[e(g, s)] == s ->
			entry_final[e(g, s)] = true; acks[g] = acks[g] | bit(s)
#endif
		:: else
		fi;
		work_end(t)
	fi
}

/*
 * The same (instance, nonce) yields the same session ID while its window exists. Another nonce
 * yields a new one.
 */
inline opening_come(n) {
	if
	:: stock
	:: !stock && grant_of[n] && (windows & bit(grant_of[n])) ->
		replies[n] = replies[n] | bit(grant_of[n])
#ifdef SENDERDRAWS	/* the sender's nonce is the session ID */
	:: !stock && !(grant_of[n] && (windows & bit(grant_of[n]))) ->
		grant_of[n] = n; window_make(n); replies[n] = replies[n] | bit(n)
#else
#ifdef SAMEGRANT	/* the peer has a window: the receiver sends its session ID again */
	:: !stock && !grant_of[n] && windows ->
		if
		:: windows & 2 -> grant_of[n] = 1
		:: windows & 4 -> grant_of[n] = 2
		:: windows & 8 -> grant_of[n] = 3
		fi;
		replies[n] = replies[n] | bit(grant_of[n])
#endif
	:: !stock && !(grant_of[n] && (windows & bit(grant_of[n]))) && grants < GRANTS ->
		grants++; grant_of[n] = grants; window_make(grants);
		replies[n] = replies[n] | bit(grants);
#ifdef INSTONLY
		grant_life[grants] = rlife
#endif
#endif
	:: else		/* no space: no reply */
	fi
}

inline grant_void() {
	grant = 0; newest = 0;
#ifdef JUMP
	confirmed = 0;
#endif
#ifdef SEQREUSE
	free_seq = 0;
#endif
}

inline receiver_restart() {
	windows = 0;
	for (i : 1 .. GRANTS) { window_clear(i) }
	for (i : 1 .. NONCES) { grant_of[i] = 0 }
	work_end(0); work_end(1)
}

#define window_idle(gr)	((entry_seq[(gr) * 2] == 0 || entry_final[(gr) * 2]) && \
			 (entry_seq[(gr) * 2 + 1] == 0 || entry_final[(gr) * 2 + 1]))
#ifdef SLOTMATCH	/* the slot alone matches an ACK */
#define answers(q)	(req[q] == OPEN && \
			 (acks[g_of[q]] & (bit(s_of[q]) | (s_of[q] > W -> bit(s_of[q] - W) : 0))))
#else
#define answers(q)	(req[q] == OPEN && (acks[g_of[q]] & bit(s_of[q])))
#endif
#ifdef ONCE
#define may_come(q)	(under_way[q] > 0)
#define consumed(q)	under_way[q]--
#else
#define may_come(q)	(sent[q] != 0)
#define consumed(q)	skip
#endif

active proctype world() {
end:
	do
	/* sender */
	:: atomic { grant == 0 && nonces < NONCES -> nonces++; asked = nonces }
	:: atomic { asked && replies[asked] ->
		if
		:: replies[asked] & 2 -> grant = 1
		:: replies[asked] & 4 -> grant = 2
		:: replies[asked] & 8 -> grant = 3
		fi;
		asked = 0; newest = 0 }
	:: atomic { grant && started < NREQ -> oldest_find();
		if
		:: may_start -> r = started; started++; request_start(r)
#ifdef JUMP	/* the sender opens another session; unfinished requests keep their request IDs */
		:: !may_start && newest + 1 - oldest < WS -> grant_void()
#endif
		:: else
		fi;
		clear_step() }
#ifdef FAULTY
	/* a message of the opener, with a sequence that the opener never drew */
	:: atomic { !faulty && grant && !stock && (windows & bit(grant)) ->
		faulty = true;
#ifdef NOBOUND
		high[grant] = high[grant] + 2 * W + 1
#endif
		}
#endif
#ifdef FOREIGN
	/* the third node sends a request with a request ID of the session */
	:: atomic { select(g : 1 .. GRANTS); select(s : 1 .. NREQ);
		if
		:: !stock && no_entry && !is_foreign(2) ->
			owner_heard(2); request_take(); entry_final[e(g, s)] = true
		:: else
		fi;
		clear_step() }
	/* discovery has proven that the opener has both NIDs */
	:: atomic { peer_of[0] == 0 && peer_of[1] == 1 -> peer_of[1] = 0; whole[0] = true }
	/* NID 1 moves to the third node, and discovery has proven this */
	:: atomic { !moved -> moved = true; peer_of[1] = 2;
#ifndef MOVEDFROM
		for (g : 1 .. GRANTS) { from[g] = (from[g] == 1 -> 0 : from[g]) };
#endif
		clear_step() }
#ifdef KEPTNID
	/* the configured entry of NID 0 stays apart, and the entry of NID 1 counts as whole */
	:: atomic { peer_of[1] == 1 -> whole[1] = true }
#endif
#ifdef NOPROOF
	:: atomic { peer_of[1] != 2 -> peer_of[1] = 2 }
#endif
#endif
	:: atomic { slife < SLIVES -> slife++; grant_void(); asked = 0;
		for (i : 0 .. NREQ - 1) {
			if
			:: req[i] == OPEN -> req[i] = END; g_of[i] = 0; s_of[i] = 0
			:: else
			fi
		}
		clear_step() }
	:: atomic { select(r : 0 .. NREQ - 1);
		if
		:: answers(r) ->
#ifdef JUMP
			if
			:: g_of[r] == grant && s_of[r] > confirmed -> confirmed = s_of[r]
			:: else
			fi;
#endif
			req[r] = OK; g_of[r] = 0; s_of[r] = 0; assert(effects[r] == 1)
#ifdef REJECT
		:: req[r] == OPEN && (rejected[g_of[r]] & bit(s_of[r])) ->
			req[r] = NO; g_of[r] = 0; s_of[r] = 0; assert(effects[r] == 0)
#endif
		/* the sender aborts the request */
		:: req[r] == OPEN ->
#ifdef SEQREUSE
			free_seq = s_of[r];
#endif
			req[r] = END; g_of[r] = 0; s_of[r] = 0
		/* rejected: the session has expired; its requests end with delivery unknown */
		:: req[r] == OPEN && g_of[r] == grant && (refused[grant] & bit(s_of[r])) ->
			for (i : 0 .. NREQ - 1) {
				if
				:: req[i] == OPEN && g_of[i] == grant ->
#ifdef REBIND			/* except this one, if drivers had at most REBINDMAX of it */
					if
					:: i == r && tries[i] <= REBINDMAX ->
						g_of[i] = 0; s_of[i] = 0
					:: else -> req[i] = END; g_of[i] = 0; s_of[i] = 0
					fi
#else
					req[i] = END; g_of[i] = 0; s_of[i] = 0
#endif
				:: else
				fi
			}
			grant_void()
#ifdef REBIND
		:: req[r] == OPEN && g_of[r] == 0 && grant -> oldest_find();
			if
			:: newest + 1 - oldest < WS -> request_start(r)
			:: else
			fi
		:: req[r] == OPEN && g_of[r] == grant && grant && tries[r] < 2 -> request_send(r)
#endif
		:: else
		fi;
		clear_step() }
	/* network and receiver */
	:: atomic { select(r : 0 .. NREQ - 1); select(g : 1 .. GRANTS);
		if
		:: may_come(r) && (sent[r] & bit(g)) && work[0] == IDLE ->
			s = seq_sent[r * 4 + g]; consumed(r); request_come(0)
		:: may_come(r) && (sent[r] & bit(g)) && work[0] != IDLE && work[1] == IDLE ->
			s = seq_sent[r * 4 + g]; consumed(r); request_come(1)
		:: else
		fi;
		clear_step() }
	:: atomic { work[0] != IDLE -> work_step(0); clear_step() }
	:: atomic { work[1] != IDLE -> work_step(1); clear_step() }
	:: atomic { select(i : 1 .. NONCES);
		if
		:: i <= nonces -> opening_come(i)
		:: else
		fi;
		clear_step() }
	:: atomic { !stock && rlife < RLIVES -> rlife++; receiver_restart(); clear_step() }
#if STOCK
	:: atomic { !stock && rlife < RLIVES ->
		rlife++; receiver_restart(); stock = true; clear_step() }
	:: atomic { stock -> stock = false }
#endif
	:: atomic { drops < DROPS -> select(g : 1 .. GRANTS);
		if
		:: (windows & bit(g)) && window_idle(g) ->
			drops++; windows = windows & ~bit(g); window_clear(g)
		:: else
		fi;
		clear_step() }
	od
}

#define is_done_after_no(q)	(req[q] == NO && effects[q])

active proctype monitor() {
end:
#if defined(W_SUCCESS)		/* witness: all requests succeed, in two sessions */
	atomic { req[0] == OK && req[NREQ - 1] == OK && nonces == 2 -> assert(false) }
#elif defined(W_WRAP)		/* witness: the window has wrapped, an old duplicate is below it */
	atomic { high[1] > W && req[0] == OK && started == NREQ -> assert(false) }
#elif defined(W_DUP)	/* witness: joined during its execution, after a receiver restart */
	atomic { rlife == RLIVES && effects[0] == 1 && req[0] == END && req[1] == OK ->
		 assert(false) }
#elif defined(W_REJECTED)	/* witness: one rejected, another one done */
	atomic { req[0] == NO && req[1] == OK && nonces == 1 -> assert(false) }
#elif defined(W_REBOUND)	/* witness: rejected, retried with a new request ID, done */
	atomic { req[0] == OK && (sent[0] & 4) -> assert(false) }
#else
	atomic { effects[0] > 1 || effects[1] > 1 || effects[NREQ - 1] > 1 ||
		 effects[NREQ - 2] > 1 || is_done_after_no(0) || is_done_after_no(1) ||
		 is_done_after_no(NREQ - 1) -> assert(false) }
#endif
}
