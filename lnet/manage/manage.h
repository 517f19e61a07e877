/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of manage/: changes of interfaces, peers and routes. */
#ifndef LNET_MANAGE_MANAGE_H
#define LNET_MANAGE_MANAGE_H

#include "model/model.h"

/* ---- ni_config.c ----------------------------------------------------------------------------- */
/*
 * cfg_mutex held. Sets the fields of @cfg that are -1: copies them from the first interface of
 * @net, or from @ops if @net has none.
 */
void lnet_ni_cfg_complete(const struct lnet *ln, u32 net, const struct lnet_lnd_ops *ops,
			  struct lnet_ni_cfg *cfg);
/*
 * Takes cfg_mutex. Moves the interfaces with these NIDs behind all other interfaces, in this order.
 */
void lnet_nis_order(struct lnet *ln, const struct lnet_ni_cfg *cfgs, unsigned int nr);
/* Adds the loopback interface. Its driver is already registered. 0 or -errno */
int lnet_net_init(struct lnet *ln);
/* cfg_mutex held. Drains and stops all interfaces; the loopback interface is the last. */
void lnet_net_stop(struct lnet *ln);
/* Called after all interfaces have stopped: checks that none is left. */
void lnet_net_fini(struct lnet *ln);
/* Returns a text that states why @ni has no link. */
const char *lnet_ni_link_why(const struct lnet_ni *ni);
void lnet_ni_link_work(struct lnet_pass *p);	/* ln->hooks->link_work() */

/* ---- ni_drain.c ------------------------------------------------------------------------------ */
/*
 * cfg_mutex held. With @drained, the node uses @nid only for messages that have no other path, and
 * advertises it as down. Without @drained, the node uses @nid again. Returns 0 (also if nothing
 * changes), -ENOENT, or -EINVAL (loopback).
 */
int lnet_ni_drain(struct lnet *ln, const struct lnet_nid *nid, bool drained);
/*
 * cfg_mutex held. A condition for lnet_cfg_wait(): true if the driver of the interface @ni has no
 * attempt and receives no message, in any shard.
 */
bool lnet_ni_is_unheld(struct lnet *ln, void *ni);
/* cfg_mutex held. A condition for lnet_cfg_wait(): true if nothing is in flight on @ni. */
bool lnet_ni_is_empty(struct lnet *ln, void *ni);
/*
 * cfg_mutex held. Prepares the removal of the active @ni. First pushes a list without @ni to peers
 * that may send to @ni and accept pushes. Waits until they have acknowledged the list, at most 1 s.
 * Then waits until @ni receives nothing and no message is in flight, at most @limit_ns.
 */
void lnet_ni_leave(struct lnet_ni *ni, u64 limit_ns);
/* cfg_mutex held. Closes the connections of @ni gracefully, within 1 s. */
void lnet_ni_close(struct lnet_ni *ni);

/* ---- peer_config.c --------------------------------------------------------------------------- */
/* Like lnet_peer_del(), but does not delete the primary NID of a peer that a program has locked. */
int lnet_peer_del_unlocked(struct lnet *ln, const struct lnet_nid *primary,
			   const struct lnet_nid *nids, unsigned int nr);
/*
 * Takes cfg_mutex. Copies the bits of @mask from @state to the state of the peer that has @nid, as
 * an operator requests. Bits that describe the progress of discovery stay set. Returns 0 or
 * -ENOENT.
 */
int lnet_peer_set_state(struct lnet *ln, const struct lnet_nid *nid, u32 mask, u32 state);

/* ---- stats_reset.c --------------------------------------------------------------------------- */
/* Takes cfg_mutex. Sets counters, histograms and link counts of the instance to zero. */
void lnet_stats_reset(struct lnet *ln);

/* ---- route_config.c -------------------------------------------------------------------------- */
/*
 * Like lnet_route_add(), but also succeeds if this node has no interface on the gateway's net. The
 * interface may have been deleted after the route was added, or the node may still await it. Until
 * there is an interface, the route is down. Context and errors are those of lnet_route_add(),
 * without -EHOSTUNREACH.
 */
int lnet_route_restore(struct lnet *ln, const struct lnet_route_cfg *cfg);
/* 0, -ENOMEM */
int lnet_routes_init(struct lnet *ln);
/* Takes cfg_mutex. Frees all routes. The interfaces have stopped, so no path is left. */
void lnet_routes_fini(struct lnet *ln);

/* ---- peer_expiry.c --------------------------------------------------------------------------- */
/* Worker of shard 0, no lock held. If a walk is due, expires dynamically created peers. */
void lnet_expiry_work(struct lnet_pass *p);
/*
 * No lock held. Schedules the walk that expires dynamically created peers. Called when a peer was
 * created dynamically, or when peers_max or claims_max prevented its creation.
 */
void lnet_expiry_peer_made(struct lnet *ln);
/*
 * Takes cfg_mutex, no shard locked. Called when a ping of @nid failed. Returns true if the caller
 * has to delete the peer of @nid, which has the primary NID *@primary. Such a peer was created
 * dynamically, never sent a message, and no request waits for it.
 */
bool lnet_expiry_unanswered(struct lnet *ln, const struct lnet_nid *nid, struct lnet_nid *primary);

#endif
