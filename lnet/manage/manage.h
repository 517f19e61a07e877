/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of manage/: changes of interfaces, peers and routes. */
#ifndef LNET_MANAGE_MANAGE_H
#define LNET_MANAGE_MANAGE_H

#include "model/model.h"

/* ---- ni_config.c ----------------------------------------------------------------------------- */
/*
 * cfg_mutex held. Sets the fields of @cfg that are -1: from the first interface of @net, else from
 * @ops.
 */
void lnet_ni_cfg_complete(const struct lnet *ln, u32 net, const struct lnet_lnd_ops *ops,
			  struct lnet_ni_cfg *cfg);
/* Takes cfg_mutex. Moves the interfaces with these NIDs behind all others, in this order. */
void lnet_nis_order(struct lnet *ln, const struct lnet_ni_cfg *cfgs, unsigned int nr);
/* Adds the loopback interface, after its driver was registered. 0 or -errno */
int lnet_net_init(struct lnet *ln);
/* cfg_mutex held. Drains and stops all interfaces, loopback last. */
void lnet_net_stop(struct lnet *ln);
/* All interfaces have stopped: checks that none is left. */
void lnet_net_fini(struct lnet *ln);
/* Returns a text that states why @ni has no link. */
const char *lnet_ni_link_why(const struct lnet_ni *ni);
void lnet_ni_link_work(struct lnet_pass *p);	/* ln->hooks->link_work() */

/* ---- ni_drain.c ------------------------------------------------------------------------------ */
/*
 * cfg_mutex held. With @drained, the node uses @nid only for messages that have no other path, and
 * advertises it as down. Without, the node uses @nid again. Returns 0 (also if nothing changes),
 * -ENOENT, or -EINVAL (loopback).
 */
int lnet_ni_drain(struct lnet *ln, const struct lnet_nid *nid, bool drained);
/* Config; for lnet_cfg_wait(). True if no shard holds the interface @ni. */
bool lnet_ni_is_unheld(struct lnet *ln, void *ni);
/* Config; for lnet_cfg_wait(). True if nothing is in flight on the interface @ni. */
bool lnet_ni_is_empty(struct lnet *ln, void *ni);
/*
 * cfg_mutex held. Prepares the removal of the active @ni: pushes a list without it to peers that
 * may send to it and accept pushes. Waits until they have acknowledged the list, 1 s at most. Then
 * waits until @ni receives nothing and no message is in flight, @limit_ns at most.
 */
void lnet_ni_leave(struct lnet_ni *ni, u64 limit_ns);
/* cfg_mutex held. Closes the connections of @ni gracefully, within 1 s. */
void lnet_ni_close(struct lnet_ni *ni);

/* ---- peer_config.c --------------------------------------------------------------------------- */
/* As lnet_peer_del(), but does not delete the primary NID of a peer that a program has locked. */
int lnet_peer_del_unlocked(struct lnet *ln, const struct lnet_nid *primary,
			   const struct lnet_nid *nids, unsigned int nr);
/*
 * Config. The bits of @mask in the state of the peer that has @nid become those of @state, as an
 * operator sets them. Bits that describe the progress of discovery stay true. 0, -ENOENT
 */
int lnet_peer_set_state(struct lnet *ln, const struct lnet_nid *nid, u32 mask, u32 state);

/* ---- stats_reset.c --------------------------------------------------------------------------- */
/* Takes cfg_mutex. Sets counters, histograms and link counts of the instance to zero. */
void lnet_stats_reset(struct lnet *ln);

/* ---- route_config.c -------------------------------------------------------------------------- */
/*
 * As lnet_route_add(), but also succeeds if this node has no interface on the gateway's net. The
 * interface may have been deleted after the route was added, or may be awaited. The route is down
 * until there is one. Context and errors as lnet_route_add(), without -EHOSTUNREACH.
 */
int lnet_route_restore(struct lnet *ln, const struct lnet_route_cfg *cfg);
/* 0, -ENOMEM */
int lnet_routes_init(struct lnet *ln);
/* Takes cfg_mutex. Interfaces have stopped, so no path is left: frees all routes. */
void lnet_routes_fini(struct lnet *ln);

/* ---- peer_expiry.c --------------------------------------------------------------------------- */
/* Worker of shard 0, no lock held: expires dynamically created peers if it is time. */
void lnet_expiry_work(struct lnet_pass *p);
/* No lock held. A peer was created dynamically, or could not be because of a bound. */
void lnet_expiry_peer_made(struct lnet *ln);
/*
 * Takes cfg_mutex, no shard locked. A ping of @nid failed. True: its peer, which has the primary
 * NID *@primary, was created dynamically, never sent a message, and no request waits for it. The
 * caller deletes the peer.
 */
bool lnet_expiry_unanswered(struct lnet *ln, const struct lnet_nid *nid, struct lnet_nid *primary);

#endif
