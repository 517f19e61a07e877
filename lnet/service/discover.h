/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery: what a node knows of a peer from its ping info, and what the peer knows of it. A
 * machine per peer in the peer's shard; only what changes records (merge.c) waits for the
 * configuration.
 */
#ifndef LNET_DISCOVER_H
#define LNET_DISCOVER_H

#include "model/discovery.h"

struct lnet;
struct lnet_copy;
struct lnet_op;
struct lnet_pass;
struct lnet_peer;
struct lnet_peer_ni;
struct lnet_rx;
struct lnet_proofs;
struct lnet_shard;
struct lnet_timer;

/* Why NIDs of an info were ignored: the peer or the node has too many NIDs, or the node aliases. */
enum lnet_full { LNET_FULL_NIDS = 1, LNET_FULL_ALIASES = 2 };

/* ---- discover.c ------------------------------------------------------------------------------ */
int lnet_disc_init(struct lnet *ln);
void lnet_disc_fini(struct lnet *ln);			/* workers and operations have ended */
void lnet_disc_peer_init(struct lnet_peer *peer);
void lnet_disc_peer_end(struct lnet_peer *peer);	/* [sh] it is no peer any more */
void lnet_disc_peer_free(struct lnet_peer *peer);	/* nobody has it any more */
/* [sh] what is due next for @peer, if anything is */
void lnet_disc_step(struct lnet_pass *p, struct lnet_peer *peer);
void lnet_disc_anew(struct lnet_peer *peer);	/* [sh] it has forgotten what it knew of us */
void lnet_disc_timer(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] */
/* [sh] a ping leaves; bytes its answer may have */
u32 lnet_disc_asked(struct lnet_peer *peer);
/* Of one with these @features NIDs are learned. */
bool lnet_disc_learns(const struct lnet *ln, u32 features);
/* [sh] it ended. True: with an info, so that the peer's features are true */
bool lnet_disc_answered(struct lnet_pass *p, struct lnet_peer *peer, struct lnet_op *op);
/* [sh] a push was old or unreadable: schedules a ping of @d, at most one per DOUBT_NS */
void lnet_disc_doubt(struct lnet_pass *p, struct lnet_disc *d);
/*
 * [sh] @len bytes in @data came. 0; -EPROTO: no info; -EMSGSIZE: not all of it; -EOPNOTSUPP: a push
 * of one that is not multi-rail; -ENOBUFS: lists_budget is used up
 */
int lnet_disc_take(struct lnet_pass *p, struct lnet_peer *peer, struct lnet_copy *data, u32 len,
		   bool pushed);
/*
 * Any lock may be held. Replaces the waiting list *@at by @data or NULL: takes a reference to
 * @data, and drops the reference to the old list.
 */
void lnet_disc_list_set(struct lnet *ln, struct lnet_copy **at, struct lnet_copy *data);
/* [sh] @err: 0, or why the round failed; the next one is not at once */
void lnet_disc_failed(struct lnet_pass *p, struct lnet_peer *peer, int err);
/* [sh] A user asks for it: the peer is asked anew, and told anew if @force. */
void lnet_disc_want(struct lnet_pass *p, struct lnet_peer *peer, bool force);
u32 lnet_disc_bits(const struct lnet_peer *peer);	/* [sh] LNET_PEER_STATE_... of it */
/* 0 to @range_ns, which is at most hours */
u64 lnet_disc_random(struct lnet *ln, u64 range_ns);
/* cfg_mutex held: the tunable was set */
void lnet_disc_switched(struct lnet *ln);

/* ---- discover_wait.c ------------------------------------------------------------------------- */
/*
 * Discover @ask->nid. 0: done() is called, perhaps before this returns, unless it is cancelled;
 * -EINVAL. Its status: 0, -EHOSTUNREACH (no way there), -ETIMEDOUT, -ESHUTDOWN or what failed.
 */
int lnet_disc_ask(struct lnet *ln, struct lnet_disc_ask *ask);
/* True: done() is not called any more. False: it was, or is about to be. */
bool lnet_disc_ask_cancel(struct lnet_disc_ask *ask);
void lnet_disc_ask_over(struct lnet_disc_ask *ask, int status);	/* [sh] of its peer */
void lnet_disc_ask_work(struct lnet_pass *p);	/* worker of shard 0, no lock held */
void lnet_disc_asks_end(struct lnet *ln);	/* all peers have gone */

/* ---- merge.c --------------------------------------------------------------------------------- */
/*
 * cfg_mutex held, no shard locked. Changes the peer entries as the list of *@peer requires: @len
 * bytes in @data. Then *@peer is the entry that has the listed primary NID, and the caller's
 * reference moves there. @late: last attempt. 0; -EBUSY: something is busy, retry; -ENOMEM
 */
int lnet_merge_info(struct lnet_pass *p, struct lnet_peer **peer, struct lnet_copy *data, u32 len,
		    bool late);
/* Same locks. Frees removed interfaces if nothing is in flight there. True: some remain. */
bool lnet_merge_reap(struct lnet_pass *p, struct lnet_peer *peer, bool late);
/* [sh] NIDs of the last info of @peer were ignored. True: there is room for some now. */
bool lnet_merge_has_room(const struct lnet_peer *peer);

/* ---- merge_work.c ---------------------------------------------------------------------------- */
/* [sh] makes the worker visit @peer and merge peer->disc.data */
void lnet_merge_due(struct lnet_pass *p, struct lnet_peer *peer);
/* worker of shard 0, no lock held */
void lnet_merge_work(struct lnet_pass *p);

/* ---- prove.c --------------------------------------------------------------------------------- */
/* Most NIDs of an info that a node decodes. It uses at most 2 x max_interfaces of them. */
#define LNET_LISTED_MAX	256U
/* Bytes of an info with that many NIDs: a large NID takes 28. */
#define LNET_INFO_BYTES	(32U + LNET_LISTED_MAX * 28U)
unsigned int lnet_nids_max(const struct lnet *ln);
/*
 * cfg_mutex held, no shard locked. A merge calls begin, then want for each listed NID that is not
 * proven, then end. @info: the list, which is merged again after a NID was proven.
 */
void lnet_proofs_begin(struct lnet_peer *peer);
/* @discard: an earlier proof does not count. 0, -ENOMEM, or -ENOSPC if max_interfaces wait. */
int lnet_proof_want(struct lnet_peer *peer, const struct lnet_nid *nid, bool discard);
void lnet_proofs_end(struct lnet_peer *peer, struct lnet_copy *info, u32 len);
/* cfg_mutex held: it is proven that @peer has @nid */
bool lnet_proof_given(const struct lnet_peer *peer, const struct lnet_nid *nid);
/* cfg_mutex held: true if a NID that @peer lists is neither merged nor rejected yet */
bool lnet_proofs_open(const struct lnet_peer *peer);
/* cfg_mutex held, no shard locked: sends the pings that are due, at most 8 at a time */
void lnet_proofs_run(struct lnet_pass *p, struct lnet_peer *peer);
/* cfg_mutex held, no shard locked: evaluates the replies */
void lnet_proofs_take(struct lnet_pass *p);
void lnet_proofs_timer(struct lnet_pass *p, struct lnet_timer *t);	/* [sh] */
void lnet_proofs_stop(struct lnet_peer *peer);	/* [sh] it is no peer any more */
/* all shards locked */
void lnet_proofs_move(struct lnet_peer *peer, struct lnet_shard *to);
void lnet_proofs_free(struct lnet_peer *peer);	/* nobody has it any more */
void lnet_proofs_fini(struct lnet *ln);		/* operations have ended */

/* ---- push.c ---------------------------------------------------------------------------------- */
bool lnet_push_needed(const struct lnet_peer *peer);	/* [sh] wire.md 7.3 */
bool lnet_push_send(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] false: no reserve */
/* cfg_mutex held: our info changed. @force: also those who need not know by wire.md 7.3 */
void lnet_push_all(struct lnet *ln, bool force);
/* cfg_mutex held. After a change by an operator: push at once to peers heard from recently. */
void lnet_push_now(struct lnet *ln);
/*
 * cfg_mutex held. Whether no acknowledgement is awaited: each peer that was heard from recently,
 * may send to @ni and accepts pushes has acknowledged the current info, or is reached only by @ni.
 */
bool lnet_push_is_known(struct lnet *ln, const struct lnet_ni *ni);
/*
 * cfg_mutex held. True if a stock peer that was heard from recently may send to @ni, and accepts a
 * push over another NI. The list that it gets omits a drained @ni.
 */
bool lnet_push_reaches_stock(struct lnet *ln, const struct lnet_ni *ni);
/* worker of shard 0, no lock held: peers whose push is due soon get their time */
void lnet_push_work(struct lnet_pass *p);
/* any lock; when the next ping or push may go */
u64 lnet_disc_turn(struct lnet *ln, u64 now_ns);
/*
 * ping.c. [sh] The info to advertise to @peer, with a reference; or NULL. Peers with the
 * exactly-once extension get drained interfaces with status down. Other peers ignore the status:
 * their info omits drained interfaces, unless all are drained.
 */
struct lnet_copy *lnet_ping_info_for(struct lnet *ln, const struct lnet_peer *peer);
u32 lnet_ping_info_seq(const struct lnet_copy *info);

#endif
