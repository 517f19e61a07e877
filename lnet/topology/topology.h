/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of topology/: interfaces, peers, paths, routes, selection policies.
 *
 * A contract begins with the locks that the caller holds:
 *	[sh]		the shard lock of the object
 *	[cfg]		cfg_mutex
 *	[sh|cfg]	any shard lock or cfg_mutex
 *	[any]		one of these or nid_lock
 *	[none]		no shard lock and no nid_lock
 *	[cfg, none]	likewise with cfg_mutex
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
/* [cfg] Begins a change of the list of NIs: takes all locks, one of which each reader holds. */
void lnet_nis_publish_begin(struct lnet *ln) __acquires(&ln->nid_lock);
/* Ends lnet_nis_publish_begin(). */
void lnet_nis_publish_end(struct lnet *ln) __releases(&ln->nid_lock);
/* [cfg] Sets the state of a listed interface. */
void lnet_ni_publish_state(struct lnet_ni *ni, enum lnet_ni_state state);
/* [cfg] Lists the STARTING @ni. It is not selected yet, but new peers have a path over it. */
void lnet_ni_publish(struct lnet *ln, struct lnet_ni *ni);
/* Any context. Makes a worker rebuild the ping infos, as the status of @ni has changed. */
void lnet_ni_advertise(struct lnet_ni *ni);
/* The credits of @ni that each shard has, at least 1. */
s32 lnet_credits_ni_quota(const struct lnet_ni *ni);
/* Sets the credits of each shard for the new interface @ni. */
void lnet_credits_ni_init(struct lnet_ni *ni);
/* [sh] The number of router credits of @pni; 0: @pni has no path. */
s32 lnet_credits_rtr(const struct lnet_peer_ni *pni);

/* True if @ni is ACTIVE. */
static inline bool lnet_ni_usable(const struct lnet_ni *ni)
{
	return READ_ONCE(ni->state) == NI_ACTIVE;
}

/* The service state: whether selection uses @ni, and which status peers see. Any context. */
static inline enum lnet_ni_service lnet_ni_service(const struct lnet_ni *ni)
{
	return (u32)atomic_read(&ni->service) & ((1U << LNET_SERVICE_BITS) - 1);
}

/* True if @ni has one of @marks, also if another mark decides its state. Any context. */
static inline bool lnet_ni_marked(const struct lnet_ni *ni, u32 marks)
{
	return (u32)atomic_read(&ni->service) & marks;
}

static inline bool lnet_ni_has_link(const struct lnet_ni *ni)
{
	return lnet_ni_service(ni) != LNET_NI_NO_LINK;
}

/* ---- link_quality.c -------------------------------------------------------------------------- */
/* Worker of shard 0, no lock held: halves each loss that had no sample for a while. */
void lnet_weights_work(struct lnet_pass *p);
/* Worker of shard 0, no lock held: computes the weights after link speeds have changed. */
void lnet_weights_follow(struct lnet *ln);
/* Fills @v for management. */
void lnet_weight_get(struct lnet_ni *ni, struct lnet_weight_view *v);
/* [nid_lock] Counts a link down (@down), or at a link up damps @ni if the link flaps. */
void lnet_flap_seen(struct lnet_ni *ni, bool down, u64 now_ns);
/* Worker of shard 0, no lock held: ends each damping whose time has passed. */
void lnet_flaps_work(struct lnet_pass *p);

/* ---- peer.c ---------------------------------------------------------------------------------- */
/* Hash with the secret key of @ln, so that hosts cannot choose many NIDs of one chain. */
u64 lnet_nid_keyed(const struct lnet *ln, const struct lnet_nid *nid);
/* Takes a reference. */
void lnet_peer_get(struct lnet_peer *peer);
/* Drops a reference; the last one frees @peer. NULL is fine. */
void lnet_peer_put(struct lnet_peer *peer);
/* Allocates a peer, which is not listed yet, with one reference. NULL: no memory. */
struct lnet_peer *lnet_peer_new(struct lnet *ln, const struct lnet_nid *primary);
/* Any context. The peer interface with @nid, with a reference; NULL: unknown. */
struct lnet_peer_ni *lnet_peer_ni_lookup(struct lnet *ln, const struct lnet_nid *nid);
/* Any context. The primary interface of the merge target of @pni's peer, referenced; or NULL. */
struct lnet_peer_ni *lnet_peer_ni_target(struct lnet_peer_ni *pni);
/* [cfg, none] Makes @to the merge target of @from; NULL: @from has none any more. */
void lnet_peer_merge_into(struct lnet_peer *from, struct lnet_peer *to);
/* [none] The peer of @pni, with a reference. Only an operation or cfg_mutex keeps @pni in it. */
struct lnet_peer *lnet_peer_of(struct lnet_peer_ni *pni);
/* [cfg, none] The peer that has @nid, with a reference; NULL: none. */
struct lnet_peer *lnet_peer_owner(struct lnet *ln, const struct lnet_nid *nid);
/* [sh] The first interface of @peer that is not deleted and has a path; NULL: none. */
struct lnet_peer_ni *lnet_peer_ni_any(struct lnet_peer *peer);
/*
 * May sleep. Adds the interface @nid to @peer. Lists @peer with its first interface; the list then
 * owns the reference of lnet_peer_new(). 0, -EEXIST (NID is known), -ENOMEM
 */
int lnet_peer_ni_make(struct lnet_peer *peer, const struct lnet_nid *nid);
/* As lnet_peer_ni_claimed(), but without bounds. For requests of this node, @claimer is NULL. */
struct lnet_peer_ni *lnet_peer_ni_want(struct lnet *ln, const struct lnet_nid *nid,
				       struct lnet_peer *claimer);
/*
 * As lnet_peer_ni_get(), for a NID that a message of @claimer names: its source, or on a router its
 * destination. NULL also if @claimer (may be NULL) is the claimer of claims_max peers.
 */
struct lnet_peer_ni *lnet_peer_ni_claimed(struct lnet *ln, const struct lnet_nid *nid,
					  struct lnet_peer *claimer);
/* [sh] True if nothing is in flight to or from @pni. */
bool lnet_peer_ni_is_idle(const struct lnet_peer_ni *pni);
/* [sh] True if no operation is unfinished and nothing is in flight. */
bool lnet_peer_is_idle(const struct lnet_peer *peer);
/* [cfg, sh] First step of a removal: unlists @pni, so that look-ups no longer find it. */
void lnet_peer_ni_unlist(struct lnet_peer_ni *pni);
/*
 * [cfg, none] Second step, if @pni is idle: makes the drivers close their connections to @pni,
 * removes its paths, drops the hash's reference.
 */
void lnet_peer_ni_drop(struct lnet_peer_ni *pni);
/* [cfg, none] Unlists @peer and its interfaces. The caller then owns the list's reference. */
void lnet_peer_unlist(struct lnet_peer *peer);
/*
 * [cfg, sh] As lnet_peer_unlist(), if @peer has no users but the caller, which has @mine
 * references. False: @peer has other references, or something is in flight.
 */
bool lnet_peer_unlist_unused(struct lnet_peer *peer, unsigned int mine);
/* [cfg, none] Second step for each NI of the unlisted, idle @peer; then puts @peer. */
void lnet_peer_drop(struct lnet_peer *peer);
/* 0, -ENOMEM */
int lnet_peers_init(struct lnet *ln);
/* Frees all peers, after all operations have ended and all drivers have stopped. */
void lnet_peers_fini(struct lnet *ln);

/* ---- peer_list.c ----------------------------------------------------------------------------- */
/*
 * [none] The peer after @prev (NULL: the first), with a reference; NULL: end. Drops the reference
 * to @prev, which may be unlisted. A walk visits each peer once.
 */
struct lnet_peer *lnet_peer_next(struct lnet *ln, struct lnet_peer *prev);
/*
 * [none] As lnet_peer_next(), but the next peer for which @is is true. @is is called with the
 * peer's shard locked. One lock hold serves several peers.
 */
struct lnet_peer *lnet_peer_find(struct lnet *ln, struct lnet_peer *prev,
				 bool (*is)(struct lnet_peer *peer, void *arg), void *arg);
/* [cfg, none] Calls @fn for each peer, with its shard locked. No shard is locked afterwards. */
void lnet_peers_walk(struct lnet_pass *p,
		     void (*fn)(struct lnet_pass *p, struct lnet_peer *peer, void *arg), void *arg);
/*
 * Takes cfg_mutex. Moves the peer with the first of @nids, which was created again, to the place
 * of the former peer with the number @seq in the list. Orders its interfaces as @nids.
 */
void lnet_peer_place(struct lnet *ln, u64 seq, const struct lnet_nid *nids, unsigned int nr);

/* Bound on the NIDs of a ping info that a node decodes; it uses 2 x max_interfaces at most. */
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
/* Hashes the first @nr of @l->nis; if a NID is listed twice, its first entry counts. */
void lnet_listing_fill(const struct lnet *ln, struct lnet_listing *l, unsigned int nr);

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
/* [sh] Computes the indexes in use, after paths were detached. */
void lnet_path_ix_recount(struct lnet_peer *peer);
/* [sh] The number of paths that @pni lacks, those through routers included. */
unsigned int lnet_paths_missing(struct lnet_peer_ni *pni);
/* [sh] After lnet_paths_lock(): attaches the paths of @spare to @pni. */
void lnet_paths_attach(struct lnet_peer_ni *pni, struct list_head *spare);
/*
 * May sleep, then locks the shard of @pni, also on an error. 0: @spare has as many paths as @pni
 * lacks. -ENOMEM
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
	if (list_empty(&path->probe_link))
		return;
	lnet_rec_path(path->pni->sh, 0, LEAVE, path, 0, 0);
	list_del_init(&path->probe_link);
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
bool lnet_nid_is_gateway(const struct lnet *ln, const struct lnet_nid *nid);
/* [sh|cfg] The fewest hops of a route to @net, 1 if not set; 0: there is no route. */
unsigned int lnet_routes_hops(const struct lnet *ln, u32 net);
/* [sh|cfg] The route to @net through @peer; NULL: none. Merged gateways have one peer. */
struct lnet_route *lnet_route_find(const struct lnet *ln, u32 net, const struct lnet_peer *peer);
/* [sh|cfg] The gateway that is @peer; NULL: no route names it. */
struct lnet_gateway *lnet_gateway_of(const struct lnet *ln, const struct lnet_peer *peer);
/* [cfg] True if a gateway, a route, or a removed route that paths use references @pni. */
bool lnet_routes_need(const struct lnet_peer_ni *pni);
/* [sh] Counts the routed paths that @pni lacks, and attaches them from @spare, if not NULL. */
unsigned int lnet_routes_attach(struct lnet_peer_ni *pni, struct list_head *spare);
/*
 * [cfg, sh 0] Marks routed paths that no route permits any more: they are not selected. True: some
 * paths are marked; *@marked: some were not marked before.
 */
bool lnet_routes_mark_unwanted(struct lnet *ln, bool *marked);
/* [cfg, sh of hop] Marks all paths through the unlisted @hop. True: there are some. */
bool lnet_routes_mark_hop(struct lnet_peer_ni *hop);
/* [cfg, sh 0] Moves marked idle paths to @gone, for lnet_paths_free(). True: some are busy. */
bool lnet_routes_detach_gone(struct lnet *ln, struct list_head *gone);
/* [cfg, sh 0] A removed route that no path uses; NULL: none. */
struct lnet_route *lnet_routes_finished(struct lnet *ln);

/* ---- gateway.c ------------------------------------------------------------------------------- */
/* [sh 0] The entry of @nid in the last ping info of the router; NULL: not listed. */
const struct lnet_pinginfo_ni *lnet_gateway_entry(const struct lnet_gateway *gw,
						  const struct lnet_nid *nid);
/* [sh 0] True if the router is known to have an interface on @net. */
bool lnet_gateway_is_on(const struct lnet_gateway *gw, u32 net);
/* [sh 0] True if the router forwards to the net of @route, by its last ping info. */
bool lnet_gateway_reaches(const struct lnet_gateway *gw, const struct lnet_route *route);
/* [sh 0] True if the router lists other interfaces with a path here, but not @hop. */
bool lnet_gateway_replaced(const struct lnet_gateway *gw, const struct lnet_peer_ni *hop);
/* [sh 0] Computes gw->lists_hop again. */
void lnet_gateway_hops_review(struct lnet_gateway *gw);
/* [sh 0] Uses the ping info of @peer (may be no gateway) from a REPLY or a push. */
void lnet_gateway_update(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len);
/* [sh 0] A check of @gw on @net received no reply: its interfaces there are unresponsive. */
void lnet_gateway_unresponsive(struct lnet_gateway *gw, u32 net);
/* [sh 0] Schedules the next check of @gw at @when_ns, unless it is due earlier. */
void lnet_gateway_check_by(struct lnet_pass *p, struct lnet_gateway *gw, u64 when_ns);
/*
 * [sh of rx->from] True if a gateway sent @rx, from any of its NIDs. May release and retake the
 * lock. A gateway may use a NID before it is proven, so a NID in the last ping info suffices.
 */
bool lnet_gateway_sent(struct lnet_pass *p, const struct lnet_rx *rx);
/* [sh 0] A gateway sent or forwarded @rx, so it is up. @by_router: a router-generated reply. */
void lnet_gateway_alive(struct lnet_pass *p, struct lnet_rx *rx, bool by_router);
/* [sh 0] A connection to a gateway was lost: checks it soon, and discovers it again. */
void lnet_gateway_lost(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh 0] The gateway of @via rejected a message: prefers others until its next check. */
void lnet_gateway_rejected(struct lnet_pass *p, struct lnet_path *via);

/* ---- udsp.c ---------------------------------------------------------------------------------- */
/* NULL: @rule is valid. Else a text: why it is none of the four kinds. */
const char *lnet_udsp_wrong(const struct lnet_udsp_rule *rule);
/* [sh|cfg] Fills @info with the priorities of @nid. */
void lnet_udsp_info(const struct lnet *ln, enum lnet_udsp_end end, const struct lnet_nid *nid,
		    struct lnet_udsp_info *info);
/* [sh] Sets path->policy by the rules for its ends and its router. */
void lnet_udsp_path(const struct lnet *ln, struct lnet_path *path);
/*
 * Takes cfg_mutex. Inserts @rule at @idx; negative or past the end: as the last. If a rule has the
 * same patterns, @rule replaces it in its place. Afterwards selection uses the new rules for all
 * paths. 0, -EINVAL, -EALREADY (nothing differs), -ENOSPC, -ENOMEM
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

#endif
