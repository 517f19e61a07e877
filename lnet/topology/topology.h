/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of topology/: interfaces, peers, paths, routes, selection policies.
 *
 * A contract begins with the locks that the caller holds: [sh] the shard lock of the object, [cfg]
 * cfg_mutex, [sh|cfg] any shard lock or cfg_mutex, [any] one of these or nid_lock, [none] no shard
 * lock and no nid_lock, [cfg, none] likewise with cfg_mutex.
 */
#ifndef LNET_TOPOLOGY_TOPOLOGY_H
#define LNET_TOPOLOGY_TOPOLOGY_H

#include "model/model.h"
#include "shard/trace.h"

/* ---- ni.c ------------------------------------------------------------------------------------ */
/* The only writer of the state. All shard locks held if @ni is in the list. */
void lnet_ni_set_state(struct lnet_ni *ni, enum lnet_ni_state to);
/*
 * Sets or clears @mark, one LNET_MARK() or several, and computes the service state. True if a mark
 * changed. Any context, no lock needed.
 */
bool lnet_ni_mark(struct lnet_ni *ni, u32 mark, bool set);
/* [any] The interface with @nid in any state; NULL: none. */
struct lnet_ni *lnet_ni_listed(struct lnet *ln, const struct lnet_nid *nid);
/* [any] The ACTIVE or DRAINING interface with @nid, without a reference; NULL: none. */
struct lnet_ni *lnet_ni_by_nid(struct lnet *ln, const struct lnet_nid *nid);
/* [any] True if @nid is the NID of an interface of this node. */
bool lnet_nid_is_local(struct lnet *ln, const struct lnet_nid *nid);
/* [cfg] Before a change of the list of NIs: takes all locks one of which readers hold ([any]). */
void lnet_nis_publish_begin(struct lnet *ln) __acquires(&ln->nid_lock);
/* Ends lnet_nis_publish_begin(). */
void lnet_nis_publish_end(struct lnet *ln) __releases(&ln->nid_lock);
/* [cfg] Sets the state of a listed interface. */
void lnet_ni_publish_state(struct lnet_ni *ni, enum lnet_ni_state state);
/* [cfg] Lists @ni, in STARTING: no caller selects or finds it, but new peers get a path to it. */
void lnet_ni_publish(struct lnet *ln, struct lnet_ni *ni);
/* Any context. The advertised status of @ni has changed: a worker rebuilds the ping infos. */
void lnet_ni_announced(struct lnet_ni *ni);
/* The credits of @ni that each shard has, at least 1. */
s32 lnet_credits_ni_quota(const struct lnet_ni *ni);
/* Sets the credits of each shard for the new interface @ni. */
void lnet_credits_ni_init(struct lnet_ni *ni);
/* [sh] How many messages of the peer @pni this router buffers at a time; 0: @pni has no path. */
s32 lnet_credits_rtr(const struct lnet_peer_ni *pni);
/* [sh] Sets the credits of @pni by its first path. Without a path it has none. */
void lnet_credits_pni_init(struct lnet_peer_ni *pni);

/* True if @ni is ACTIVE. */
static inline bool lnet_ni_usable(const struct lnet_ni *ni)
{
	return READ_ONCE(ni->state) == NI_ACTIVE;
}

/* Whether paths use @ni and which status peers learn. Any context. */
static inline enum lnet_ni_service lnet_ni_service(const struct lnet_ni *ni)
{
	return (u32)atomic_read(&ni->service) & ((1U << LNET_SERVICE_BITS) - 1);
}

/* True if @ni has one of @marks (LNET_MARK()), which @service may hide. Any context. */
static inline bool lnet_ni_marked(const struct lnet_ni *ni, u32 marks)
{
	return (u32)atomic_read(&ni->service) & marks;
}

static inline bool lnet_ni_has_link(const struct lnet_ni *ni)
{
	return lnet_ni_service(ni) != LNET_NI_NO_LINK;
}

/* ---- link_quality.c -------------------------------------------------------------------------- */
/* Worker of shard 0, no lock held: old losses count less. */
void lnet_weights_work(struct lnet_pass *p);
/* Worker of shard 0, no lock held: link speeds have changed, computes the weights again. */
void lnet_weights_follow(struct lnet *ln);
/* Fills @v for management. */
void lnet_weight_look(struct lnet_ni *ni, struct lnet_weight_view *v);
/* [nid_lock] The worker acts on a link that went down (@down) or up. */
void lnet_flap_seen(struct lnet_ni *ni, bool down, u64 now_ns);
/* Worker of shard 0, no lock held: ends the damping of links if it is time. */
void lnet_flaps_work(struct lnet_pass *p);

/* ---- peer.c ---------------------------------------------------------------------------------- */
/* Hash with the secret key of @ln, so that hosts cannot choose many NIDs of the same chain. */
u64 lnet_nid_keyed(const struct lnet *ln, const struct lnet_nid *nid);
/* Takes a reference. */
void lnet_peer_get(struct lnet_peer *peer);
/* Drops a reference; the last one frees @peer. NULL is fine. */
void lnet_peer_put(struct lnet_peer *peer);
/* A peer that is not known yet, with one reference. NULL: no memory. */
struct lnet_peer *lnet_peer_new(struct lnet *ln, const struct lnet_nid *primary);
/* Any context. The peer interface with @nid, with a reference; NULL: unknown. */
struct lnet_peer_ni *lnet_peer_ni_lookup(struct lnet *ln, const struct lnet_nid *nid);
/*
 * Any context. If new requests to the peer of @pni go to another peer (peer->merged_into), the
 * interface there, with a reference; else NULL.
 */
struct lnet_peer_ni *lnet_peer_ni_target(struct lnet_peer_ni *pni);
/* [cfg, none] Sends new requests for @from to @to; NULL: to @from again. */
void lnet_peer_merge_into(struct lnet_peer *from, struct lnet_peer *to);
/*
 * [none] Returns the peer of @pni with a reference. Without an operation on @pni, only cfg_mutex
 * keeps @pni with its peer.
 */
struct lnet_peer *lnet_peer_of(struct lnet_peer_ni *pni);
/* [cfg] The peer that has @nid, with a reference; NULL: none. */
struct lnet_peer *lnet_peer_owner(struct lnet *ln, const struct lnet_nid *nid);
/* [sh] The first interface of @peer that is not deleted and has a path; NULL: none. */
struct lnet_peer_ni *lnet_peer_ni_any(struct lnet_peer *peer);
/*
 * May sleep. Adds the interface @nid to @peer. With the first one, @peer is listed, and the list
 * keeps its first reference. 0, -EEXIST (NID is known), -ENOMEM
 */
int lnet_peer_ni_make(struct lnet_peer *peer, const struct lnet_nid *nid);
/* As lnet_peer_ni_get(), for requests of this node: never rejected by claims_max. */
struct lnet_peer_ni *lnet_peer_ni_want(struct lnet *ln, const struct lnet_nid *nid);
/*
 * As lnet_peer_ni_get(), for a NID that a message of @claimer names: its source, or on a router its
 * destination. NULL also if @claimer, if any, has named claims_max unknown peers.
 */
struct lnet_peer_ni *lnet_peer_ni_claimed(struct lnet *ln, const struct lnet_nid *nid,
					  struct lnet_peer *claimer);
/* [sh] True if nothing is in flight to or from @pni. */
bool lnet_peer_ni_is_idle(const struct lnet_peer_ni *pni);
/* [sh] True if no operation is unfinished and nothing is in flight. */
bool lnet_peer_is_idle(const struct lnet_peer *peer);
/* [sh] Config, first step of a removal: @pni is no longer found by its NID. */
void lnet_peer_ni_hide(struct lnet_peer_ni *pni);
/* [cfg, none] Second step: drivers close the connections to @pni. */
void lnet_peer_ni_tell(struct lnet_peer_ni *pni);
/* Third step, if @pni is idle: removes its paths, and drops the reference of the hash. */
void lnet_peer_ni_drop(struct lnet_peer_ni *pni);
/* [cfg, none] Hides @peer and its interfaces. The caller gets the reference of the peer list. */
void lnet_peer_hide(struct lnet_peer *peer);
/*
 * [cfg, sh] As lnet_peer_hide(), if only the caller has references to @peer: @mine of them. False:
 * there are others, or something is in flight.
 */
bool lnet_peer_hide_unused(struct lnet_peer *peer, unsigned int mine);
/* [cfg, none] Takes the second and third step for each NI of the hidden, idle @peer; puts @peer. */
void lnet_peer_drop(struct lnet_peer *peer);
/* 0, -ENOMEM */
int lnet_peers_init(struct lnet *ln);
/* All operations have ended, all drivers have stopped: frees all peers. */
void lnet_peers_fini(struct lnet *ln);

/* ---- peer_list.c ----------------------------------------------------------------------------- */
/*
 * [none] The peer behind @prev (NULL: the first), with a reference; drops that to @prev, which may
 * be deleted. Visits each peer once; NULL: end.
 */
struct lnet_peer *lnet_peer_next(struct lnet *ln, struct lnet_peer *prev);
/*
 * [none] The first peer behind @prev (NULL: of all) for which @is is true, with a reference; drops
 * that to @prev. NULL: none. @is runs with the peer's shard locked. One lock hold visits several
 * peers, so that a walk over thousands contends less with traffic.
 */
struct lnet_peer *lnet_peer_find(struct lnet *ln, struct lnet_peer *prev,
				 bool (*is)(struct lnet_peer *peer, void *arg), void *arg);
/* [cfg, none] Calls @fn for each peer, with its shard locked. No shard is locked afterwards. */
void lnet_peers_walk(struct lnet_pass *p,
		     void (*fn)(struct lnet_pass *p, struct lnet_peer *peer, void *arg), void *arg);
/*
 * Takes cfg_mutex. The peer with the first of @nids, which was made again, gets the place of the
 * one with the number @seq in the list, and its interfaces get the order of @nids.
 */
void lnet_peer_place(struct lnet *ln, u64 seq, const struct lnet_nid *nids, unsigned int nr);

/* ---- path.c ---------------------------------------------------------------------------------- */
/* No lock held. Frees the paths of the list, which is empty afterwards. */
void lnet_paths_free(struct list_head *paths);
/* [sh] The path of this pair through the router interface @hop (@pni: direct); NULL: none. */
struct lnet_path *lnet_path_via(const struct lnet_peer_ni *pni, const struct lnet_ni *ni,
				const struct lnet_peer_ni *hop);
/* [sh] The direct path of this pair; NULL: none. */
struct lnet_path *lnet_path_find(const struct lnet_peer_ni *pni, const struct lnet_ni *ni);
/* [sh] An index for a new path: an unused bit, or a shared one if all are used. */
u32 lnet_path_ix_take(struct lnet_peer *peer);
/* [sh] Finds the indexes in use after paths were detached. */
void lnet_path_ix_recount(struct lnet_peer *peer);
/* [sh] The number of paths that @pni lacks, those through routers included. */
unsigned int lnet_paths_missing(struct lnet_peer_ni *pni);
/* [sh] After lnet_paths_lock(): gives the paths of @spare to @pni. */
void lnet_paths_attach(struct lnet_peer_ni *pni, struct list_head *spare);
/*
 * Locks the shard of @pni in any case; may sleep before. 0: @spare has a path for each NI with
 * which @pni lacks one. -ENOMEM
 */
int lnet_paths_lock(struct lnet_peer_ni *pni, struct list_head *spare)
	__acquires(&pni->sh->lock);
/* [sh] True if @pni has a path that is not about to be removed. */
bool lnet_paths_live(const struct lnet_peer_ni *pni);
/* No lock held. True if @pni has a path, or there is an interface or a route for one. */
bool lnet_paths_possible(struct lnet_peer_ni *pni);
/*
 * [sh] True if no driver holds an attempt on @path, and no reply, ping or reset is outstanding.
 * Attempts that wait for credits do not count.
 */
bool lnet_path_is_idle(const struct lnet_path *path);

/* [sh] Removes @path from the queue for recovery pings (rate limit), if it is there. */
static inline void lnet_probe_leave(struct lnet_path *path)
{
	if (list_empty(&path->line))
		return;
	lnet_rec_path(path->pni->sh, 0, LEAVE, path, 0, 0);
	list_del_init(&path->line);
}

/* [sh] Moves the idle @path to @gone; lnet_paths_free() frees it without lock. */
void lnet_path_detach(struct lnet_path *path, struct list_head *gone);
/* [cfg] True if nothing is in flight on any path of @ni. */
bool lnet_paths_idle(struct lnet *ln, struct lnet_ni *ni);
/* [cfg] Removes the paths of @ni on which nothing is in flight. True: none is left. */
bool lnet_paths_drop_ni(struct lnet *ln, struct lnet_ni *ni);

/* ---- route.c --------------------------------------------------------------------------------- */
/* [any] True if this node has an interface on @net. */
bool lnet_net_is_local(const struct lnet *ln, u32 net);
/* [sh|cfg] True if a route names @nid as its gateway. */
bool lnet_routes_lead_by(const struct lnet *ln, const struct lnet_nid *nid);
/* [sh|cfg] Hops to @net by the best route, 1 if not set; 0: there is none. */
unsigned int lnet_routes_hops(const struct lnet *ln, u32 net);
/* [sh|cfg] The route to @net through @peer; NULL: none. Merged gateways have one peer. */
struct lnet_route *lnet_route_find(const struct lnet *ln, u32 net, const struct lnet_peer *peer);
/* [sh|cfg] The gateway that is @peer; NULL: no route names it. */
struct lnet_gateway *lnet_gateway_of(const struct lnet *ln, const struct lnet_peer *peer);
/* [cfg] True if a route or a gateway check refers to @pni. */
bool lnet_routes_need(const struct lnet_peer_ni *pni);
/* [sh] Attaches the routed paths that @pni lacks, from @spare; NULL: only counts them. */
unsigned int lnet_routes_attach(struct lnet_peer_ni *pni, struct list_head *spare);
/*
 * [cfg, sh 0] Marks routed paths without a route: none of them is selected any more. True: some
 * paths are marked; *@marked: some were not marked before.
 */
bool lnet_routes_mark_unwanted(struct lnet *ln, bool *marked);
/* [cfg, sh of hop] Marks all paths through @hop. True: there are some. */
bool lnet_routes_mark_hop(struct lnet_peer_ni *hop);
/* [cfg, sh 0] Moves marked idle paths to @gone, for lnet_paths_free(). True: others are busy. */
bool lnet_routes_detach_gone(struct lnet *ln, struct list_head *gone);
/* [cfg, sh 0] A removed route that no path has; NULL: none. */
struct lnet_route *lnet_routes_finished(struct lnet *ln);

/* ---- gateway.c ------------------------------------------------------------------------------- */
/* [sh 0] The entry of @nid in the last ping info of the router; NULL: not listed. */
const struct lnet_pinginfo_ni *lnet_gateway_entry(const struct lnet_gateway *gw,
						  const struct lnet_nid *nid);
/* [sh 0] True if the router is known to have an interface on @net. */
bool lnet_gateway_is_on(const struct lnet_gateway *gw, u32 net);
/* [sh 0] True if the router forwards to the net of @route, by its last ping info. */
bool lnet_gateway_leads(const struct lnet_gateway *gw, const struct lnet_route *route);
/* [sh 0] True if the router has other interfaces instead of @hop. */
bool lnet_gateway_replaced(const struct lnet_gateway *gw, const struct lnet_peer_ni *hop);
/* [sh 0] Computes gw->lists_hop again. */
void lnet_gateway_hops_review(struct lnet_gateway *gw);
/* [sh 0] A ping reply or a push brought the ping info of @peer, which may be no gateway. */
void lnet_gateway_said(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len);
/* [sh 0] A check of @gw on @net got no reply. */
void lnet_gateway_silent(struct lnet_gateway *gw, u32 net);
/* [sh 0] The next check of @gw is at @when_ns or earlier. */
void lnet_gateway_check_by(struct lnet_pass *p, struct lnet_gateway *gw, u64 when_ns);
/*
 * [sh of rx->from] True if a gateway sent @rx, by any of its NIDs. May release and take the lock. A
 * gateway may use a new NID before it is proven, so a NID in the last ping info suffices.
 */
bool lnet_gateway_sent(struct lnet_pass *p, const struct lnet_rx *rx);
/* [sh 0] A gateway sent or forwarded @rx. @own_word: it is a router-generated reply. */
void lnet_gateway_heard(struct lnet_pass *p, struct lnet_rx *rx, bool own_word);
/* [sh 0] A connection to a gateway broke: it is checked soon, and discovered again. */
void lnet_gateway_lost(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh 0] The gateway of @via rejected a message: others are preferred until its next check. */
void lnet_gateway_refused(struct lnet_pass *p, struct lnet_path *via);

/* ---- udsp.c ---------------------------------------------------------------------------------- */
/* NULL: valid. Else a text: why patterns and action are none of the four kinds. */
const char *lnet_udsp_wrong(const struct lnet_udsp_rule *rule);
/* [cfg] or all shards locked: the priorities of @nid. */
void lnet_udsp_info(const struct lnet *ln, enum lnet_udsp_end end, const struct lnet_nid *nid,
		    struct lnet_udsp_info *info);
/* [cfg] or all shards locked. True if a rule prefers @gw, by any of its NIDs, to reach @dst. */
bool lnet_udsp_prefers_router(const struct lnet *ln, const struct lnet_peer *gw,
			      const struct lnet_nid *dst);
/* [cfg] or all shards locked: sets path->policy. */
void lnet_udsp_path(const struct lnet *ln, struct lnet_path *path);
/*
 * Config; when it returns all paths are chosen by the new rules. @idx: what the rule is to be,
 * later ones move; negative or past the end: the last. A rule with the same patterns but another
 * priority takes that in its place. 0, -EINVAL, -EALREADY, -ENOSPC, -ENOMEM.
 */
int lnet_udsp_add(struct lnet *ln, int idx, const struct lnet_udsp_rule *rule);
/* Takes cfg_mutex. Deletes the rule at @idx, -1: all. 0, -ENOENT, -ENOMEM */
int lnet_udsp_del(struct lnet *ln, int idx);
/* Takes cfg_mutex. Replaces all rules by @rules. 0 or -errno: nothing was changed. */
int lnet_udsp_set(struct lnet *ln, const struct lnet_udsp_rule *rules, unsigned int nr);
/* Takes cfg_mutex. Copies the rule at @idx. 0, -ENOENT past the end */
int lnet_udsp_get(struct lnet *ln, unsigned int idx, struct lnet_udsp_rule *rule);
/* Frees the rules. */
void lnet_udsp_fini(struct lnet *ln);

/* ---- listing.c ------------------------------------------------------------------------------- */
/* Most NIDs of a ping info that a node decodes. It uses at most 2 x max_interfaces of them. */
#define LNET_LISTED_MAX		256U
#define LNET_LISTING_SLOTS	512U	/* a power of two */

/* The NIDs of a ping info. A slot has the index of a NID + 1; 0: free. */
struct lnet_listing {
	struct lnet_pinginfo_ni nis[LNET_LISTED_MAX];
	u16 slot[LNET_LISTING_SLOTS];
};

/* The entry of @nid; NULL: it is not listed. */
const struct lnet_pinginfo_ni *lnet_listing_find(const struct lnet *ln, struct lnet_listing *l,
						 const struct lnet_nid *nid);
/* Hashes the first @nr of @l->nis; a NID that is listed twice counts the first time. */
void lnet_listing_fill(const struct lnet *ln, struct lnet_listing *l, unsigned int nr);

#endif
