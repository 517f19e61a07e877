/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of service/: sessions, pings, discovery, pushes, gateways. */
#ifndef LNET_SERVICE_SERVICE_H
#define LNET_SERVICE_SERVICE_H

#include "model/model.h"

/* ---- session.c ------------------------------------------------------------------------------- */
/*
 * [sh] Sends a ping for discovery. False: another ping is in flight, a pool is empty, or there is
 * no path.
 */
bool lnet_disc_ping_send(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] Ends a round of discovery, and releases the requests that waited for it. */
void lnet_disc_round_end(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh] Sends the low-water mark of this node's session with @peer to the peer. If aborted requests
 * have used up the window (lnet_window_stuck()), requests another session instead.
 */
void lnet_peer_timer(struct lnet_pass *p, struct lnet_peer *peer);
/* ln->hooks->negotiate() */
void lnet_session_negotiate(struct lnet_pass *p, struct lnet_peer *peer);

/* ---- ping.c ---------------------------------------------------------------------------------- */
/*
 * cfg_mutex held. Interfaces have changed: composes the ping infos again. Returns true if their
 * contents are new. False: the contents are the same, or there is no memory.
 */
bool lnet_ping_rebuild(struct lnet *ln);
/* Returns the sequence number of a ping info. */
u32 lnet_ping_info_seq(const struct lnet_sbuf *info);
/*
 * [sh] Returns the info to advertise to @peer, with a reference; or NULL. In the info for peers
 * with the exactly-once extension, drained interfaces have status down. Other peers ignore the
 * status. So their info omits drained interfaces, unless all are drained.
 */
struct lnet_sbuf *lnet_ping_info_for(struct lnet *ln, const struct lnet_peer *peer);
/* 0, -ENOMEM */
int lnet_ping_init(struct lnet *ln);
/* Frees the ping infos. */
void lnet_ping_fini(struct lnet *ln);
/*
 * [sh] Creates a GET by which the node itself pings, on @path only. The caller completes and starts
 * the operation. NULL: no operation or slot is free.
 */
struct lnet_op *lnet_ping_by(struct lnet_pass *p, struct lnet_path *path);
/* [sh] Sends a recovery ping. It is the function @ping of struct lnet_probes. */
void lnet_ping_path(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns);
/* ln->hooks->ping_reply() */
enum lnet_verdict lnet_ping_reply(struct lnet_pass *p, struct lnet_rx *rx,
				  const struct lnet_hdr *hdr);

/* ---- discover.c ------------------------------------------------------------------------------ */
/*
 * The reason why NIDs of an info were ignored: the peer has too many NIDs, the node has too many
 * NIDs, or the node has too many aliases.
 */
enum lnet_full { LNET_FULL_NIDS = 1, LNET_FULL_ALIASES = 2 };

/* [sh] Starts the next step of discovery of @peer if one is due. */
void lnet_disc_step(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] @peer may have restarted: clears the sequences of our info that @peer had received. */
void lnet_disc_anew(struct lnet_peer *peer);
/*
 * Returns a random time from 0 to @range_ns. @range_ns is at most 2^44 (4.8 hours), so that the
 * multiplication of 64 bits does not overflow.
 */
u64 lnet_disc_random(struct lnet *ln, u64 range_ns);
/* [sh] A discovery round has failed with @err. The next round begins after a pause. */
void lnet_disc_failed(struct lnet_pass *p, struct lnet_peer *peer, int err);
/* [sh] Called when a ping is sent. Returns the number of bytes that its reply may have. */
u32 lnet_disc_ping_sent(struct lnet_peer *peer);
/*
 * [sh] The ping @op has ended. Returns true if its reply has an info, so that peer->features is
 * valid.
 */
bool lnet_disc_ping_done(struct lnet_pass *p, struct lnet_peer *peer, struct lnet_op *op);
/* True if this node learns the NIDs of a peer with these @features. */
bool lnet_disc_learns(const struct lnet *ln, u32 features);
/*
 * [sh] A push was old or unreadable: schedules a ping of the peer of @d, at most one per DOUBT_NS.
 */
void lnet_disc_doubt(struct lnet_pass *p, struct lnet_disc *d);
/*
 * Any lock may be held. Replaces the waiting list *@at by @data, which may be NULL. Takes a
 * reference to @data, and drops the reference to the old list.
 */
void lnet_disc_list_set(struct lnet *ln, struct lnet_sbuf **at, struct lnet_sbuf *data);
/*
 * [sh] An info of @len bytes in @data was received. 0; -EPROTO: invalid; -EMSGSIZE: truncated;
 * -EOPNOTSUPP: pushed by a peer that is not multi-rail; -ENOBUFS: lists_budget is used up.
 */
int lnet_disc_take(struct lnet_pass *p, struct lnet_peer *peer, struct lnet_sbuf *data, u32 len,
		   bool pushed);
/* [sh] Returns the state of @peer as bits LNET_PEER_STATE_... */
u32 lnet_disc_bits(const struct lnet_peer *peer);
/* [sh] A user requests discovery of @peer: pings it again, and with @force pushes to it again. */
void lnet_disc_want(struct lnet_pass *p, struct lnet_peer *peer, bool force);
/* cfg_mutex held. The tunable `discovery' was set. */
void lnet_disc_switched(struct lnet *ln);
/* [sh] @peer is removed: ends its discovery, and the requests that wait for it. */
void lnet_disc_peer_end(struct lnet_peer *peer);
/* [sh or no lock] Frees the list and the proofs of @peer. It is ln->hooks->peer_free(). */
void lnet_disc_peer_free(struct lnet_peer *peer);
/* 0 or -errno */
int lnet_disc_init(struct lnet *ln);
/* Workers and operations have ended. */
void lnet_disc_fini(struct lnet *ln);

/* ---- discover_wait.c ------------------------------------------------------------------------- */
/* [sh of ask->peer] The round for which @ask waits has ended with @status. */
void lnet_disc_ask_over(struct lnet_disc_ask *ask, int status);
/*
 * Discovers @ask->nid. 0: done() is called, perhaps before this function returns, unless @ask is
 * cancelled; -EINVAL. The status in done() is 0, -EHOSTUNREACH (no path), -ETIMEDOUT, -ESHUTDOWN,
 * or the error of the round.
 */
int lnet_disc_ask(struct lnet *ln, struct lnet_disc_ask *ask);
/* Cancels @ask. True: done() is not called. False: done() was called, or is about to be called. */
bool lnet_disc_ask_cancel(struct lnet_disc_ask *ask);
/* Worker of shard 0, no lock held. Calls done() for requests that have ended or waited too long. */
void lnet_disc_ask_work(struct lnet_pass *p);
/* All peers have been removed: ends all requests for discovery. */
void lnet_disc_asks_end(struct lnet *ln);

/* ---- push.c ---------------------------------------------------------------------------------- */
/*
 * [sh] True if a push to @peer is due: the peer is multi-rail, accepts pushes, and has not received
 * the current ping info of this node.
 */
bool lnet_push_needed(const struct lnet_peer *peer);
/* [sh] Sends a push. False: a pool is empty. */
bool lnet_push_send(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * Any lock may be held. Counts one ping or push against the node's rate limit, push_rate. Returns
 * the time at which this ping or push may be sent.
 */
u64 lnet_disc_rate_limit(struct lnet *ln, u64 now_ns);
/* Worker of shard 0, no lock held: schedules pushes that are due soon. */
void lnet_push_work(struct lnet_pass *p);
/*
 * cfg_mutex held. The info of this node has changed. Pushes it to the peers for which
 * lnet_push_needed() is true; with @force, to all known multi-rail peers.
 */
void lnet_push_all(struct lnet *ln, bool force);
/*
 * cfg_mutex held. Interfaces have changed: calls lnet_ping_rebuild(), and pushes the info if it is
 * new.
 */
void lnet_ping_advertise(struct lnet *ln);
/*
 * cfg_mutex held. After a change by an operator: pushes at once to peers from which a message was
 * received recently.
 */
void lnet_push_now(struct lnet *ln);
/*
 * cfg_mutex held. True if some stock peer sent a message recently, may send to @ni, and accepts a
 * push over another NI. The list for stock peers omits a drained @ni.
 */
bool lnet_push_reaches_stock(struct lnet *ln, const struct lnet_ni *ni);
/*
 * cfg_mutex held. Finds out which peers must still acknowledge the current info before @ni is
 * removed. Such a peer sent a message recently, may send to @ni, accepts pushes, and is also
 * reached without @ni. True: no such peer is left. False: *@at is the first such peer, with a
 * reference.
 *
 * The caller sets *@at to NULL before the first call. Each further call continues at *@at, so
 * repeated calls visit each peer once.
 */
bool lnet_push_is_known(struct lnet *ln, const struct lnet_ni *ni, struct lnet_peer **at);
void lnet_push_taken(struct lnet_pass *p, struct lnet_rx *rx);	/* ln->hooks->push_taken() */

/* ---- prove.c --------------------------------------------------------------------------------- */
/* Returns the length in bytes of an info with that many NIDs; a large NID takes 28 bytes. */
#define LNET_INFO_BYTES	(32U + LNET_LISTED_MAX * 28U)

/* Returns the maximum number of NIDs that a node uses from one ping info. */
unsigned int lnet_nids_max(const struct lnet *ln);
/* cfg_mutex held. True if it is proven that @peer has @nid. */
bool lnet_nid_is_proven(const struct lnet_peer *peer, const struct lnet_nid *nid);
/*
 * cfg_mutex held, no shard locked. Called when a merge begins. For each listed NID that is not
 * proven, the merge then calls lnet_proof_want(). At its end it calls lnet_proofs_end().
 */
void lnet_proofs_begin(struct lnet_peer *peer);
/*
 * Called during a merge: @peer must prove @nid. With @discard, an earlier proof does not count. 0,
 * -ENOMEM, or -ENOSPC if max_interfaces NIDs already wait for a proof.
 */
int lnet_proof_want(struct lnet_peer *peer, const struct lnet_nid *nid, bool discard);
/* Called when the merge ends. @info: the list, which is merged again after a NID was proven. */
void lnet_proofs_end(struct lnet_peer *peer, struct lnet_sbuf *info, u32 len);
/* cfg_mutex held. True if some NID that @peer lists is neither merged nor rejected yet. */
bool lnet_proofs_open(const struct lnet_peer *peer);
/* cfg_mutex held, no shard locked. Sends the pings that are due, at most 8 at a time. */
void lnet_proofs_run(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] A ping is due: makes the worker visit the peer. */
void lnet_proofs_timer(struct lnet_pass *p, struct lnet_timer *t);
/* cfg_mutex held, no shard locked. Evaluates the replies to the pings. */
void lnet_proofs_take(struct lnet_pass *p);
/* Called after operations have ended: frees the proofs whose pings have ended. */
void lnet_proofs_fini(struct lnet *ln);
/* [sh] @peer was removed from the list of peers: stops its proofs. */
void lnet_proofs_stop(struct lnet_peer *peer);
/* All shards locked. Moves the proofs of @peer, which moves to the shard @to. */
void lnet_proofs_move(struct lnet_peer *peer, struct lnet_shard *to);
/* Frees the proofs of @peer, to which no reference is left. */
void lnet_proofs_free(struct lnet_peer *peer);

/* ---- merge.c --------------------------------------------------------------------------------- */
/*
 * cfg_mutex held. Reports all messages to @pni without a reply as lost. Requests may be retried on
 * other interfaces of the peer. After the return, no shard is locked.
 */
void lnet_peer_ni_lost(struct lnet_pass *p, struct lnet_peer_ni *pni);
/*
 * cfg_mutex held, no shard locked. Frees removed interfaces of @peer on which nothing is in flight.
 * Returns true if some of them remain. With @late, first reports messages without a reply as lost.
 */
bool lnet_merge_reap(struct lnet_pass *p, struct lnet_peer *peer, bool late);
/*
 * [sh] NIDs of the last info of @peer were ignored. Returns true if the limits permit some of them
 * now.
 */
bool lnet_merge_has_room(const struct lnet_peer *peer);
/*
 * cfg_mutex held, no shard locked. Changes the peer entries as the list of *@peer requires: @len
 * bytes in @data. Then sets *@peer to the entry that has the listed primary NID; the caller's
 * reference moves to that entry. @late: this is the last attempt. 0; -EBUSY: something is in use,
 * retry; -ENOMEM
 */
int lnet_merge_info(struct lnet_pass *p, struct lnet_peer **peer, struct lnet_sbuf *data, u32 len,
		    bool late);

/* ---- merge_work.c ---------------------------------------------------------------------------- */
/* [sh] Makes the worker visit @peer and merge peer->disc.data. */
void lnet_merge_due(struct lnet_pass *p, struct lnet_peer *peer);
/* Worker of shard 0, no lock held: merges lists that are due. */
void lnet_merge_work(struct lnet_pass *p);

/* ---- peer_move.c ----------------------------------------------------------------------------- */
/* For lnet_cfg_wait(): lnet_peer_is_idle() of @peer. */
bool lnet_peer_is_free(struct lnet *ln, void *peer);
/*
 * cfg_mutex held. If nothing is in flight to @peer, moves it to shard 0, which has routers and the
 * peers behind them. With @wait, first waits until nothing is in flight, at most drain_time. 0,
 * -EBUSY
 */
int lnet_peer_pin_shard(struct lnet_peer *peer, bool wait);
/*
 * cfg_mutex held. Moves the interfaces of @from, or only @nid, to @to. With @wait, first waits
 * until nothing is in flight to @from, at most drain_time. 0; -EBUSY: something is in flight.
 *
 * If all interfaces move, this also affects the peers whose merge target (peer->merged_into) was
 * @from. @to becomes their merge target, if it is multi-rail and not configured. Otherwise they
 * have no merge target any more.
 */
int lnet_peer_absorb(struct lnet_peer *from, struct lnet_peer *to, const struct lnet_nid *nid,
		     bool wait);
/*
 * cfg_mutex held, no shard locked. @to ceases to be the merge target of each peer for which
 * @still() is false; if @still is NULL, of all peers. New requests to such a peer use its own entry
 * again.
 */
void lnet_peer_merges_review(struct lnet_peer *to,
			     bool (*still)(const struct lnet_peer *from, void *arg), void *arg);
/*
 * cfg_mutex held. Moves the interfaces of @from, or only @nid, to @to. -EBUSY: messages to @from
 * are in flight. In that case, with @follow and without @nid, a multi-rail @to becomes the merge
 * target of @from.
 */
int lnet_peer_take_over(struct lnet_peer *from, struct lnet_peer *to, const struct lnet_nid *nid,
			bool follow);

/* ---- gateway.c ------------------------------------------------------------------------------- */
/*
 * Takes cfg_mutex. A program reports that the gateway @gateway was up or down at @when_s (Unix
 * time). The report is valid until the next check of the gateway. Older reports and reports about
 * unknown gateways are ignored. 0, -EINVAL: no local net
 */
int lnet_route_notify(struct lnet *ln, const struct lnet_nid *gateway, bool up, s64 when_s);
/* [sh 0] Called when the next check of a gateway is due. */
void lnet_gateway_timer(struct lnet_pass *p, struct lnet_timer *t);
/* cfg_mutex held, no shard locked. @gw is new, or has the new @route: checks @gw at once. */
void lnet_gateway_start(struct lnet_gateway *gw, struct lnet_route *route);
/* cfg_mutex held, no shard locked. Stops the checks of @gw. False: a check is in flight. */
bool lnet_gateway_stop(struct lnet_gateway *gw);
/*
 * cfg_mutex held, no shard locked; may wait. Returns the gateway that has @pni. If there is none,
 * creates it in shard 0. NULL: *@err is -EBUSY or -ENOMEM.
 */
struct lnet_gateway *lnet_gateway_get(struct lnet *ln, struct lnet_peer_ni *pni, int *err);
/* cfg_mutex held, no shard locked. Frees @gw if no route names it. False: a check is in flight. */
bool lnet_gateway_put(struct lnet_gateway *gw);

/* ---- route_sync.c ---------------------------------------------------------------------------- */
/* Frees @route, which is in no list, and drops its reference to the interface of the router. */
void lnet_route_free(struct lnet_route *route);
/*
 * cfg_mutex held, no shard locked. Removes @route: from now on, no path through it is created or
 * selected. After its last path is removed, lnet_routes_sync() or lnet_routes_drain() frees it.
 */
void lnet_route_retire(struct lnet_route *route);
/* cfg_mutex held. Waits until all removed routes are freed. */
void lnet_routes_drain(struct lnet *ln);
/* cfg_mutex held. Removes all paths through @hop. */
void lnet_routes_leave_hop(struct lnet_peer_ni *hop);
/*
 * cfg_mutex held, no shard locked. Creates the missing paths of @pni. An alias (model/peer.h) has
 * no paths. If paths to the alias are possible now, the node pings the peer for its list, and can
 * then prove @pni. 0, -ENOMEM
 */
int lnet_paths_add(struct lnet_peer_ni *pni);
/*
 * cfg_mutex held. Routes, interfaces or peers have changed: creates or removes paths through
 * routers. If a path cannot be changed until an operation or a gateway check has ended, the worker
 * changes it later.
 */
void lnet_routes_sync(struct lnet *ln);
/*
 * cfg_mutex held, no shard locked. The ping info of @peer was merged. If @peer is a router,
 * computes its state again, and updates the paths through it and to its interfaces.
 */
void lnet_routes_learned(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len);
/* Returns the time at which lnet_routes_work() is due next. */
u64 lnet_routes_next_ns(const struct lnet *ln);
/* Worker of shard 0, no lock held: continues an unfinished lnet_routes_sync(). */
void lnet_routes_work(struct lnet_pass *p);

#endif
