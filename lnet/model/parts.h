/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each file of the core offers the others; included by core.h, which has the structs. */
#ifndef LNET_PARTS_H
#define LNET_PARTS_H

#include "base/base.h"
#include "names/names.h"
#include "wire/wire.h"
#include "shard/shard.h"

/* ---- shard.c --------------------------------------------------------------------------------- */
void lnet_rx_pool_fini(struct lnet_shard *sh);	/* rx.c */

/* ---- ni_config.c ----------------------------------------------------------------------------- */
/* shard or cfg_mutex held; not counted */
struct lnet_ni *lnet_ni_by_nid(struct lnet *ln, const struct lnet_nid *nid);
/* Interfaces with these NIDs stand in this order, behind all others. */
struct lnet_ni_cfg;
void lnet_nis_order(struct lnet *ln, const struct lnet_ni_cfg *cfgs, unsigned int nr);
void lnet_ni_get(struct lnet_ni *ni);
bool lnet_ni_usable(const struct lnet_ni *ni);		/* ACTIVE */
const char *lnet_ni_link_why(const struct lnet_ni *ni);	/* it has no link: words */
/* [cfg_mutex] sets fields that are -1: from the first interface of @net, else from @ops */
void lnet_ni_cfg_complete(const struct lnet *ln, u32 net, const struct lnet_lnd_ops *ops,
			  struct lnet_ni_cfg *cfg);
void lnet_ni_link_work(struct lnet_pass *p);		/* worker: acts on lnet_ni_link() records */
/* the only writer; all shard locks held once listed */
void lnet_ni_set_state(struct lnet_ni *ni, enum lnet_ni_state to);
int lnet_net_init(struct lnet *ln);			/* loopback */
/* drains and stops all NIs, loopback last */
void lnet_net_stop(struct lnet *ln);
void lnet_net_fini(struct lnet *ln);

/* ---- peer.c ---------------------------------------------------------------------------------- */
/* Hash with the secret key of @ln, so that hosts cannot choose many NIDs of the same chain. */
u64 lnet_nid_keyed(const struct lnet *ln, const struct lnet_nid *nid);
/* counted or NULL; any context */
struct lnet_peer_ni *lnet_peer_ni_lookup(struct lnet *ln, const struct lnet_nid *nid);
/* [sh] the first of those that can be reached, or NULL */
struct lnet_peer_ni *lnet_peer_ni_any(struct lnet_peer *peer);
/*
 * no shard locked; the peer of @pni, counted: without an operation on it nothing but the
 * configuration keeps @pni from becoming another one's, and the first one from going
 */
struct lnet_peer *lnet_peer_of(struct lnet_peer_ni *pni);
/* [sh] of the direct pair; NULL if none */
struct lnet_path *lnet_path_find(const struct lnet_peer_ni *pni, const struct lnet_ni *ni);
/* [sh] of the pair with the router @hop between; @hop == @pni: the direct one */
struct lnet_path *lnet_path_via(const struct lnet_peer_ni *pni, const struct lnet_ni *ni,
				const struct lnet_peer_ni *hop);
/* config: makes the paths of a new NI. 0, -ENOMEM */
int lnet_paths_for_ni(struct lnet *ln, struct lnet_ni *ni);
/* config: removes those that nothing is under way on; true: none is left */
bool lnet_paths_drop_ni(struct lnet *ln, struct lnet_ni *ni);
/* config: nothing is under way on any of them */
bool lnet_paths_idle(struct lnet *ln, struct lnet_ni *ni);
/*
 * No lock held: the link came up, recovery may hurry. Of some peers behind @at, counted, which it
 * puts; NULL: from the first. Where to go on, counted; NULL: all have been told.
 */
struct lnet_peer *lnet_paths_ni_up(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer *at);
/*
 * All peers in turn, from @prev NULL: counted, puts @prev, which may have been deleted meanwhile.
 * Of those that stay none is skipped, none comes twice. No shard lock or nid_lock held.
 */
struct lnet_peer *lnet_peer_next(struct lnet *ln, struct lnet_peer *prev);

/*
 * The peer with the first of @nids, which was made anew, stands where the one with the number @seq
 * stood, and its interfaces in the order of @nids. config
 */
void lnet_peer_place(struct lnet *ln, u64 seq, const struct lnet_nid *nids, unsigned int nr);

/*
 * Of the peer that has @nid, by hand: the bits of @mask become those of @state; what says how far
 * discovery is stays true. Config. 0, -ENOENT.
 */
int lnet_peer_set_state(struct lnet *ln, const struct lnet_nid *nid, u32 mask, u32 state);
/* As lnet_peer_del(), but of a peer whose primary NID is locked that one stays. */
int lnet_peer_del_unlocked(struct lnet *ln, const struct lnet_nid *primary,
			   const struct lnet_nid *nids, unsigned int nr);
/*
 * As lnet_peer_ni_get(), for a NID that a message of @claimer names: its source, or on a router its
 * destination. NULL also if @claimer has named claims_max unknown peers.
 */
struct lnet_peer_ni *lnet_peer_ni_claimed(struct lnet *ln, const struct lnet_nid *nid,
					  struct lnet_peer *claimer);
/* as lnet_peer_ni_get(), for requests of our own: never turned away */
struct lnet_peer_ni *lnet_peer_ni_want(struct lnet *ln, const struct lnet_nid *nid);
/* as lnet_peer_ni_lookup(), for new requests: its peer may be about to become another's part */
struct lnet_peer_ni *lnet_peer_ni_target(struct lnet *ln, const struct lnet_nid *nid);
void lnet_peer_get(struct lnet_peer *peer);
void lnet_peer_put(struct lnet_peer *peer);
int lnet_peers_init(struct lnet *ln);
void lnet_peers_fini(struct lnet *ln);			/* all ops ended, all drivers stopped */
bool lnet_nid_is_local(struct lnet *ln, const struct lnet_nid *nid);	/* shard or cfg held */

/* ---- peer_expiry.c --------------------------------------------------------------------------- */
/* worker of shard 0, no lock held: forgets peers that traffic made, if the time has come */
void lnet_age_work(struct lnet_pass *p);
void lnet_age_made(struct lnet *ln);	/* no lock held: traffic made a peer, or could not */
bool lnet_age_full(const struct lnet *ln);	/* no unknown peer is taken in */
/* no lock held; after a failed ping of @nid: delete a dynamic peer that was never heard from */
void lnet_age_unanswered(struct lnet *ln, const struct lnet_nid *nid);

/* ---- wanted.c -------------------------------------------------------------------------------- */
/* True if the portal of @md is lazy: all peers share its buffers. */
bool lnet_md_is_pooled(const struct lnet_md *md);

/* ---- select.c -------------------------------------------------------------------------------- */
/* route_up, gw_priority, hops and gw_health are equal for pairs on one net. */
#define PATH_RANKS(RANK)						\
	RANK(link_up) RANK(route_up) RANK(responsive) RANK(direct)	\
	RANK(health) RANK(priority) RANK(preferred) RANK(gw_priority)	\
	RANK(hops) RANK(gw_health) RANK(share) RANK(due) RANK(numa)	\
	RANK(credits) RANK(turn)
enum lnet_path_rank {
#define RANK(name) LNET_RANK_##name,
	PATH_RANKS(RANK)
#undef RANK
	LNET_NR_PATH_RANKS
};
extern const char *const lnet_path_rank_names[LNET_NR_PATH_RANKS];
struct lnet_cand {
	struct lnet_path *path;
	s64 rank[LNET_NR_PATH_RANKS];	/* more is better */
};
struct lnet_select {			/* question and answer */
	struct lnet_peer *peer;
	struct lnet_ni *ni;		/* only this NI, or NULL */
	struct lnet_peer_ni *pni;	/* only this peer NI, or NULL */
	struct lnet_peer_ni *hop;	/* by this router if there is such a path, or NULL */
	u64 tried;			/* paths to avoid while another is left */
	u64 exclude;			/* paths never to take (a hedge: the one that is suspect) */
	s32 cpt;			/* of the memory; -1 unknown */
	u32 bytes;			/* of the request, both ways */
	/* PUT or GET: sets the sticky NI of a peer that is not multi-rail */
	u8 request;
	/* answer */
	/* enum lnet_path_rank; LNET_NR_PATH_RANKS: only one candidate */
	u8 decided_by;
	u8 nr_cand;
	struct lnet_look *look;		/* lnet_select_look()'s */
};
#define LNET_LOOK_MAX 256
struct lnet_look {			/* all that was to be chosen from, in its order */
	unsigned int nr;
	struct lnet_cand cand[LNET_LOOK_MAX];
};
/* [sh] NULL: no path (no common net, all NIs gone). Bumps the turn counters of what it picks. */
struct lnet_path *lnet_select(struct lnet_shard *sh, struct lnet_select *s);
struct lnet_path *lnet_op_choose(struct lnet_pass *p, struct lnet_op *op);	/* [sh] of one */
/*
 * [sh] What lnet_select() would choose now, and from what; changes nothing. With more candidates
 * than there is room for: of the first ones.
 */
struct lnet_path *lnet_select_look(struct lnet_shard *sh, struct lnet_select *s,
				   struct lnet_look *look);
/*
 * The rule alone, for tests and explain: index of the best, *decider the rank that decided. @range:
 * health range (> 1000: health is off).
 */
unsigned int lnet_rank_best(const struct lnet_cand *c, unsigned int nr, u64 range,
			    unsigned int *decider);

/* ---- health.c, suspect.c, recover.c ---------------------------------------------------------- */
/* [sh] counters, blame, recovery; @since_ns: from when on nothing was heard of what failed */
void lnet_health_fail(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how,
		      u64 since_ns);
/* [sh] nothing came of @att */
void lnet_health_silence(struct lnet_shard *sh, const struct lnet_att *att);
/* [sh] success; from_peer: the far side answered */
void lnet_health_ok(struct lnet_shard *sh, struct lnet_path *path, bool from_peer);
/* [sh] marks, starts a pinned probe at once */
void lnet_path_suspect(struct lnet_pass *p, struct lnet_path *path);
/* [sh] evidence: clears suspicion, RTT estimate */
void lnet_path_alive(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns, u64 rtt_ns);
/* ns of silence: max(floor, srtt + 4 var ...) */
u64 lnet_path_suspect_after(const struct lnet *ln, const struct lnet_path *path);
/* [sh] what the next one takes at most, by those that were measured; 0: none was */
u64 lnet_path_round_trip(const struct lnet_path *path);
/* [sh] by any path, within a second */
bool lnet_peer_is_heard(const struct lnet_peer *peer, u64 now_ns);
/* [sh] recovery ping due; sends by lnet_ping_path() */
void lnet_path_timer(struct lnet_pass *p, struct lnet_path *path);
/* [sh] True: the first that is answered since the path failed; what pauses may go */
bool lnet_path_ping_done(struct lnet_pass *p, struct lnet_path *path, int status, u64 rtt_ns);
/*
 * [sh] Start recovery, or hasten it (the link came up): a ping goes as soon as the budget allows.
 * Nothing if the path is whole.
 */
void lnet_path_recover(struct lnet_shard *sh, struct lnet_path *path);
/* [sh] it and both ends at 1000, neither suspect nor down */
bool lnet_path_whole(const struct lnet_path *path);
bool lnet_ni_up(const struct lnet_ni *ni);	/* the status that ping infos announce */
void lnet_ni_announced(struct lnet_ni *ni);	/* any lock: a worker makes them anew */
/*
 * Calls @fn for each peer with its shard locked, one after the other. cfg_mutex held, @p holds no
 * lock before and none after.
 */
void lnet_peers_walk(struct lnet_pass *p,
		     void (*fn)(struct lnet_pass *p, struct lnet_peer *peer, void *arg), void *arg);
/* 0, -ENOENT. @value is brought into 0..1000. */
/* config; any NID: all */
int lnet_health_set_ni(struct lnet *ln, const struct lnet_nid *nid, int value);
int lnet_health_set_peer(struct lnet *ln, const struct lnet_nid *nid, int value);
/*
 * op.c [sh] ns without answer to @op or life of @path until one is missed: a merged acknowledgement
 * is late on purpose.
 */
u64 lnet_op_patience(const struct lnet_pass *p, const struct lnet_op *op,
		     const struct lnet_path *path);
/* [sh] a driver gave it back late, while its way took bytes: it is full, not broken */
bool lnet_att_slow(const struct lnet_pass *p, const struct lnet_att *att);
/* [sh] takes from the retry budget */
bool lnet_hedge_allowed(struct lnet_shard *sh, struct lnet_peer *peer);
/* [sh] a request of a program succeeded: adds to the budgets of hedges and of recovery pings */
void lnet_peer_earn(struct lnet_pass *p, struct lnet_peer *peer);

/* ---- tunables.c: names are ours or stock's --------------------------------------------------- */
struct lnet_tunable_info;
/* ---- stock_rules.c: rules of behaviour.md section 7 and the dbg-* hooks ---------------------- */
struct lnet_fault_rule {
	u8 delay;			/* else drop */
	struct lnet_nid src, dst, local;	/* any; or 255.255.255.255@net: any on the net */
	u64 portal_mask;
	u32 msg_mask;			/* bit 1 << type; 0: all */
	u32 rate, interval_s;		/* exactly one non-zero */
	u64 latency_ns;			/* delay */
	/* drop: outcomes to inject at the sender's driver seam, bit 1 << number */
	u32 health_mask;
	u8 random, drop_all;
	/*
	 * dbg hooks: 0 before posting, 1 after posting (bytes are lost), 2 after completion (answer
	 * is lost)
	 */
	u8 when;
	u32 id;				/* unique, with rules of rule.h; 0 in an add: the next */
	u64 nr_match, nr_hit, nr_by_type[4];
};
/* config, may sleep. 0; -EINVAL; -ENOMEM; -ENOSPC */
int lnet_fault_add(struct lnet *ln, const struct lnet_fault_rule *rule);
/* number removed */
int lnet_fault_del(struct lnet *ln, bool delay, const struct lnet_nid *src,
		   const struct lnet_nid *dst);
int lnet_fault_del_id(struct lnet *ln, bool delay, u32 id);
/* -ENOENT past the end */
int lnet_fault_get(struct lnet *ln, bool delay, unsigned int pos, struct lnet_fault_rule *rule);
void lnet_fault_reset(struct lnet *ln, bool delay);
void lnet_fault_fini(struct lnet *ln);
/*
 * The next @count transfers that are asked for to @nid (any: to all) fail with -EIO, and messages
 * from it are dropped, each counted; -1: always; 0: no more. config. 0, -ENOMEM, -ENOSPC
 */
int lnet_fault_peer(struct lnet *ln, const struct lnet_nid *nid, s32 count);
/* One of them? It is counted. */
bool lnet_fault_peer_fails(struct lnet *ln, const struct lnet_nid *nid);
/* true: drop silently on receive */
bool lnet_fault_rx(struct lnet_pass *p, const struct lnet_ni *ni, const struct lnet_hdr *hdr);
/* ns to hold back a message to be sent, 0: none */
u64 lnet_fault_delay(struct lnet_pass *p, const struct lnet_hdr *hdr);
/* messages failed, or delayed, while being sent; since the last lnet_fault_count_reset() */
u64 lnet_fault_count(const struct lnet *ln, bool delay);
void lnet_fault_count_reset(struct lnet *ln);
/* dbg-025/030: hold an interface down (as if its link were); 0, -ENOENT */
int lnet_fault_ni_down(struct lnet *ln, const struct lnet_nid *nid, bool down);

/* ---- match.c -------------------------------------------------------------------------------- */
/*
 * match.c. Decide where a PUT or GET goes: uses
 * rx->{type,portal,match_bits,rlength,offset,src_pid}, @initiator (primary NID of the peer).
 * LAND: rx->md (ref taken, threshold used), rx->offset, rx->mlength set. SKIP: *why = LNET_NO_MATCH
 * or LNET_TOO_LONG. LATER: parked on the portal (rx->link).
 */
enum lnet_verdict lnet_match(struct lnet_pass *p, struct lnet_rx *rx,
			     const struct lnet_nid *initiator, enum lnet_outcome *why);
/* Take a parked rx off its portal; false if it is no longer parked (it was matched meanwhile). */
bool lnet_match_unpark(struct lnet *ln, struct lnet_rx *rx);
/*
 * Drop what is parked since before @now_ns - T (calls lnet_rx_matched with LNET_SKIP). Returns when
 * to come again (U64_MAX: nothing parked). No lock held.
 */
u64 lnet_match_expire(struct lnet_pass *p);
/* drops what is parked from an NI (NULL: all) */
void lnet_match_drop_ni(struct lnet_pass *p, struct lnet_ni *ni);
/*
 * rx.c: a parked rx got its verdict (LAND with md, offset, mlength set; SKIP with @why). No lock
 * held.
 */
void lnet_rx_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
		     enum lnet_outcome why);

/* ---- receiving: rx.c ---------------------------------------------------------------- */
void lnet_rx_set_state(struct lnet_rx *rx, enum lnet_rx_state state);	/* the only writer */
void lnet_rx_free(struct lnet_pass *p, struct lnet_rx *rx);
/* [sh] its event; false: no memory */
bool lnet_rx_reserve(struct lnet_pass *p, struct lnet_rx *rx);
/* counts a request that is not taken */
void lnet_rx_drop(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome why);
/* [sh] sets into, want, state */
void lnet_rx_land_md(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_md *md, u32 offset,
		     u32 len);
/* filled from @rx; taken from it */
struct lnet_evt *lnet_rx_event(struct lnet_rx *rx, enum lnet_event_kind kind);
/*
 * An ACK or REPLY to @rx over the path it came by; NULL: no memory. [sh] The caller fills the rest
 * and calls lnet_op_defer().
 */
struct lnet_op *lnet_answer(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_op_type type);
void lnet_initiator(const struct lnet_rx *rx, struct lnet_nid *initiator);
/* [sh of rx->src] the path that it came by; NULL: there is none */
struct lnet_path *lnet_rx_path(const struct lnet_rx *rx);
/* [any shard] The source of @rx is alive: only it and routers know the session ID or handle. */
void lnet_rx_proven(const struct lnet_pass *p, const struct lnet_rx *rx);
/* ---- dedup.c: the receiver's windows are in window.h ----------------------------------------- */
/* [sh] may change shard */
enum lnet_verdict lnet_once_begin(struct lnet_pass *p, struct lnet_rx *rx,
				  const struct lnet_hdr *hdr);
/* no lock held */
void lnet_once_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
		       enum lnet_outcome why);
void lnet_once_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
bool lnet_once_gone(struct lnet_pass *p, struct lnet_rx *rx);
enum lnet_verdict lnet_session_open(struct lnet_pass *p, struct lnet_rx *rx,
				    const struct lnet_hdr *hdr);	/* window_table.c */
enum lnet_verdict lnet_once_confirm(struct lnet_pass *p, struct lnet_rx *rx,
				    const struct lnet_hdr *hdr);
/* [sh] sender: a refusal came */
void lnet_once_refused(struct lnet_pass *p, struct lnet_op *op, u32 reason, struct lnet_path *via);

/* ---- send.c: operations ---------------------------------------------------------------------- */
/* [sh of op->peer] OP_NEW -> ... */
void lnet_op_start(struct lnet_pass *p, struct lnet_op *op);
void lnet_op_set_state(struct lnet_op *op, enum lnet_op_state state);	/* the only writer */
/* contact made: OP_RESOLVE -> OP_TRY */
void lnet_op_release(struct lnet_pass *p, struct lnet_op *op, bool met);
/* outcome known -> OP_RECALL, OP_DONE */
void lnet_op_finish(struct lnet_pass *p, struct lnet_op *op, enum lnet_outcome how);
void lnet_op_timer(struct lnet_pass *p, struct lnet_op *op);
/* the answer came */
void lnet_op_answered(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *via);
/* pass end: what drivers posted or gave back */
void lnet_att_given(struct lnet_pass *p, struct list_head *given);
/* peer deleted; NULL: all, shutdown. No lock held */
void lnet_op_fail_all(struct lnet_pass *p, struct lnet_peer *peer, enum lnet_outcome how);
/* no lock held: what is in flight there is ambiguous at once, what waits is re-selected */
void lnet_ops_ni_down(struct lnet_pass *p, struct lnet_ni *ni);
void lnet_op_ni_down(struct lnet_pass *p, struct lnet_op *op, struct lnet_ni *ni);	/* [sh] */
/* no lock held: the same of paths that are gone; @force false: of what waits for credits only */
void lnet_ops_leave_gone(struct lnet_pass *p, bool force);
/* reselect.c; [sh] @att of @op waits for credits: another choice, which may be the same */
void lnet_op_reselect(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att);
/* no lock held: all that wait for credits of @ni */
void lnet_ops_reselect_ni(struct lnet_pass *p, struct lnet_ni *ni);
/*
 * [sh] @op waits for a suspect path, or with @by_ni for the interface of a suspect path: chooses
 * its path again. False: no path is better, so @op keeps its place in the queue.
 */
bool lnet_op_avoid(struct lnet_pass *p, struct lnet_op *op, bool by_ni);
/*
 * [sh] The way that it was bound to failed or is silent: an answer to a named request, and a named
 * request whose source was given, may leave over any. False: it stays bound.
 */
bool lnet_op_unbind(struct lnet_op *op);
/* the source NI of @op is being removed, and @op may use another one */
bool lnet_op_source_leaves(const struct lnet_op *op);
bool lnet_ops_idle(struct lnet *ln);			/* no operation is unfinished */
int lnet_ops_init(struct lnet *ln);
void lnet_ops_fini(struct lnet *ln);
/* [sh] takes the reference of @pni; 0, -ENOMEM, -ENOSPC: nothing done */
int lnet_op_submit(struct lnet_pass *p, struct lnet_op *op, struct lnet_peer_ni *pni);
/*
 * [sh] Makes @op, taken from the pool, a request of the core to @pni: idempotent, on the reserved
 * portal with the match bits of a ping, for one message timeout.
 */
void lnet_op_control(struct lnet_pass *p, struct lnet_op *op, struct lnet_peer_ni *pni,
		     enum lnet_op_type type);
/* [sh] the attempt over @path is FREE */
void lnet_op_attempt_failed(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *path,
			    enum lnet_outcome how);
/*
 * True if the request @op may be delivered twice: the receiver discards the duplicate, the request
 * is idempotent, or the operator allows duplicates (resend_ambiguous).
 */
static inline bool lnet_op_is_repeatable(const struct lnet_op *op)
{
	return (op->flags & (LNET_OPF_MARKED | LNET_OPF_IDEMPOTENT | LNET_OPF_ANY_PATH)) ||
	       READ_ONCE(op->sh->ln->tun.resend_ambiguous);
}
/* [sh] if an attempt of it failed now */
bool lnet_op_may_resend(const struct lnet_pass *p, const struct lnet_op *op, bool perhaps);
/* [sh] paths that did not answer in time */
void lnet_op_blame_silence(struct lnet_pass *p, struct lnet_op *op);
void lnet_op_sent(struct lnet_pass *p, struct lnet_op *op);	/* [sh] SEND event, once */
/* [sh] asks the drivers for its attempts at pass end */
enum lnet_outcome lnet_att_silence(const struct lnet_att *att);	/* [sh] asked and not answered */
void lnet_op_recall(struct lnet_pass *p, struct lnet_op *op);
/*
 * [sh] A router on @via says that a copy of it went no further: it goes by another way at once.
 * Which copy is not known, so that it proves no more than the loss of a connection does.
 */
void lnet_op_stopped(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *via);
void lnet_op_unpin(struct lnet_pass *p, struct lnet_op *op);	/* [sh] may free it */
/* [sh] a landing ended; may free it */
void lnet_op_back(struct lnet_pass *p, struct lnet_op *op);
/*
 * [sh] A path to the peer of @op works again. If @op pauses between two tries, it tries now; else
 * it checks its unresponsive attempts. False: there was nothing to do.
 */
bool lnet_op_path_back(struct lnet_pass *p, struct lnet_op *op);
#define LNET_ATTF_DELAYED 1	/* a fault rule holds it: it is in sh->delayed */
/* [sh] chooses a path and enters an attempt */
void lnet_op_try(struct lnet_pass *p, struct lnet_op *op);
/* ---- request_id.c ---------------------------------------------------------------------------- */
/*
 * In the second half of an answer's handle: for this one request alone; for all PUTs up to it. With
 * neither: for those of them that want no ACK.
 */
#define LNET_NAME_ALONE (1ULL << 62)
#define LNET_NAME_ALL (1ULL << 63)
u64 lnet_name_seq(const struct lnet_handle *h, bool *alone);
/* all sequences below are finished at the sender */
u64 lnet_name_floor(const struct lnet_handle *h);
/* enters its shard, with room for @nr more requests if there is memory */
void lnet_window_grow(struct lnet_pass *p, struct lnet_peer_ni *pni, unsigned int nr);
void lnet_window_grant(struct lnet_peer *peer, u64 grant, u32 W, u64 instance);	/* [sh] */
void lnet_window_void(struct lnet_peer *peer);		/* [sh] */
/* [sh] all of its sequences were drawn and are finished: it takes another grant to go on */
bool lnet_window_spent(const struct lnet_txwin *tx);
/*
 * [sh] So many requests were aborted since the last reply that the receiver may reject the next one
 * as too far ahead. The sender needs another session.
 */
bool lnet_window_stuck(const struct lnet_txwin *tx);
/* [sh] True if requests await replies, and none was received for transaction_timeout. */
bool lnet_window_silent(const struct lnet_pass *p, const struct lnet_txwin *tx);
void lnet_window_free(struct lnet_peer *peer);
int lnet_slots_reserve(struct lnet *ln);	/* outside locks; 0, -ENOMEM, -ENOSPC */
/* any lock; -ENOMEM: none is free */
int lnet_slot_take(struct lnet *ln, struct lnet_op *op);
struct lnet_op *lnet_slot_find(struct lnet *ln, const struct lnet_shard *sh,
			       const struct lnet_handle *h);
/* [sh] finished: gives name and slot back */
void lnet_op_unname(struct lnet_pass *p, struct lnet_op *op);
/* [sh] its grant is void: unmarked, without a name */
void lnet_op_rename(struct lnet_pass *p, struct lnet_op *op);
/* [sh] marked requests got no answer: is it still one of ours? */
/* [sh] a path lost its connections; if it was the last, the grant is in doubt */
void lnet_contact_lost(struct lnet_pass *p, struct lnet_peer *peer);
void lnet_contact_doubt(struct lnet_pass *p, struct lnet_peer *peer);
/* ping.c */
enum lnet_verdict lnet_ping_answer(struct lnet_pass *p, struct lnet_rx *rx,
				   const struct lnet_hdr *hdr);
/* push.c [sh of rx->src] a push landed in rx->copy */
void lnet_push_taken(struct lnet_pass *p, struct lnet_rx *rx);
/* [sh] dedup.c: tell the receiver the new floor soon */
void lnet_confirm_due(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] an answer came once more: perhaps the receiver does not know that it came before */
void lnet_confirm_again(struct lnet_pass *p, struct lnet_peer *peer);
/* lnet_get() for the core: may use portal 0; no session negotiation first. @flags: LNET_OPF_x */
int lnet_get_core(struct lnet *ln, const struct lnet_xfer *x, u32 flags);
/* reply.c [sh] an ACK came: nothing of @rx is kept */
enum lnet_verdict lnet_ack_take(struct lnet_pass *p, struct lnet_rx *rx,
				const struct lnet_hdr *hdr);
enum lnet_verdict lnet_reply_take(struct lnet_pass *p, struct lnet_rx *rx,
				  const struct lnet_hdr *hdr);
/* reply.c: its landing ended; enters the shard of its GET */
void lnet_reply_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);

/* draws its sequence if it needs one; false: the window is full */
bool lnet_op_name(struct lnet_pass *p, struct lnet_op *op);
/* waits for room in the window, or for another session */
void lnet_op_park_window(struct lnet_pass *p, struct lnet_op *op);
void lnet_op_wire(struct lnet_op *op);	/* api.c [sh] about to be given to a driver */
void lnet_op_arm(struct lnet_pass *p, struct lnet_op *op);	/* [sh] */
/* [sh] The same where nothing is to be done before @next_ns, which most do not live to see. */
void lnet_op_arm_later(struct lnet_pass *p, struct lnet_op *op, u64 next_ns);
/* [sh] about to be finished: was any of it perhaps delivered? */
void lnet_op_given_up(struct lnet_op *op);
/* [sh] An attempt was perhaps delivered, unless the request was refused. */
void lnet_op_doubt(struct lnet_op *op);
/* [sh] marked request by (grant, sequence) */
struct lnet_op *lnet_op_by_name(struct lnet_peer *peer, const struct lnet_handle *h);
/* ---- attempt.c ------------------------------------------------------------------------------- */

/* [sh] FREE (-> WAIT_TURN) -> WAIT_PEER -> WAIT_NI -> WIRE */
void lnet_att_enter(struct lnet_pass *p, struct lnet_att *att, struct lnet_path *path);
/* the only writer of the state; takes, gives back, wakes */
void lnet_att_move(struct lnet_pass *p, struct lnet_att *att, enum lnet_att_state to);
/* waiting or asked -> FREE, off its queue */
void lnet_att_drop(struct lnet_pass *p, struct lnet_att *att);
/* what a shard has of the credits of @ni, at least 1 */
s32 lnet_credits_ni_quota(const struct lnet_ni *ni);
void lnet_credits_ni_init(struct lnet_ni *ni);
void lnet_credits_pni_init(struct lnet_peer_ni *pni);
/* [sh] messages that a router may have of it at a time; 0: no path leads there */
s32 lnet_credits_rtr(const struct lnet_peer_ni *pni);
/* ---- dedup.c, session.c, ping.c -------------------------------------------------------------- */
/* [sh] start ping and opening if due */
void lnet_contact_need(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] a round of discovery is over: what waited for it goes */
void lnet_contact_met(struct lnet_pass *p, struct lnet_peer *peer);
bool lnet_contact_ready(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] requests may go */
bool lnet_contact_granted(const struct lnet_peer *peer);	/* [sh] requests are marked */
/* [sh] a ping of discovery; false: another question is under way, or no reserve, or no path */
bool lnet_contact_ask(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] "no window" */
void lnet_contact_grant_void(struct lnet_pass *p, struct lnet_peer *peer, u64 grant);
int lnet_ping_init(struct lnet *ln);
void lnet_ping_fini(struct lnet *ln);
void lnet_ping_rebuild(struct lnet *ln);	/* cfg_mutex held: NIs changed */
/* [sh] a ping over @path alone, which its caller completes and starts; NULL: no reserve */
struct lnet_op *lnet_ping_by(struct lnet_pass *p, struct lnet_path *path);
/* As lnet_ping(), for an operator: ends as soon as the peer has rejected it on every path. */
int lnet_ping_urgent(struct lnet *ln, const struct lnet_nid *nid, const struct lnet_nid *source,
		     u64 timeout_ns, lnet_ping_done_t done, void *arg);
/* [sh] recovery ping; answers lnet_path_ping_done() */
void lnet_ping_path(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns);
void lnet_peer_timer(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] */
/* [sh] hold.c: attempts held by a delay rule */
void lnet_delay_timer(struct lnet_pass *p, struct lnet_timer *t);
void lnet_pass_cancels(struct lnet_pass *p);	/* send.c: calls ops->cancel for p->cancel */
void lnet_pass_stops(struct lnet_pass *p);	/* rx.c: calls ops->rx_stop for p->stop */
void lnet_pass_backs(struct lnet_pass *p);	/* dedup.c: answers that ended in another shard */
/* recover.c: calls ops->path_reset for p->resets; no lock held */
void lnet_path_resets(struct lnet_pass *p);

#endif
