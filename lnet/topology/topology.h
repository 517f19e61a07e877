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
 * [cfg, none]	cfg_mutex, but no shard lock and no nid_lock
 */
#ifndef LNET_TOPOLOGY_TOPOLOGY_H
#define LNET_TOPOLOGY_TOPOLOGY_H

#include "model/model.h"
#include "shard/trace.h"

/* ---- ni.c ------------------------------------------------------------------------------------ */
/*
 * Sets the state of @ni. No other function writes the state. If @ni is in the list of NIs, the
 * caller has all shard locks.
 */
void lnet_ni_set_state(struct lnet_ni *ni, enum lnet_ni_state to);
/*
 * Sets or clears the marks @mark, one or more LNET_MARK(), and computes the service state. True if
 * a mark changed. Any context, no lock needed.
 */
bool lnet_ni_mark(struct lnet_ni *ni, u32 mark, bool set);
/* [any] Returns the interface with @nid, in any state; NULL: none. */
struct lnet_ni *lnet_ni_listed(struct lnet *ln, const struct lnet_nid *nid);
/* [any] Returns the ACTIVE or DRAINING interface with @nid, without a reference; NULL: none. */
struct lnet_ni *lnet_ni_by_nid(struct lnet *ln, const struct lnet_nid *nid);
/* [any] True if @nid is the NID of an interface of this node. */
bool lnet_nid_is_local(struct lnet *ln, const struct lnet_nid *nid);
/*
 * [cfg] Begins a change of the list of NIs. Takes all shard locks and nid_lock, because a reader
 * has one of them.
 */
void lnet_nis_publish_begin(struct lnet *ln) __acquires(&ln->nid_lock);
/* Ends lnet_nis_publish_begin(). */
void lnet_nis_publish_end(struct lnet *ln) __releases(&ln->nid_lock);
/* [cfg] Sets the state of an interface that is in the list of NIs. */
void lnet_ni_publish_state(struct lnet_ni *ni, enum lnet_ni_state state);
/*
 * [cfg] Adds @ni, which is STARTING, to the list of NIs. Selection does not use @ni yet, but new
 * peers get a path over it.
 */
void lnet_ni_publish(struct lnet *ln, struct lnet_ni *ni);
/* Makes a worker rebuild the ping infos, because the status of @ni has changed. Any context. */
void lnet_ni_advertise(struct lnet_ni *ni);
/* Returns the number of credits of @ni in each shard, at least 1. */
s32 lnet_credits_ni_quota(const struct lnet_ni *ni);
/* Sets the initial credits of the new interface @ni in each shard. */
void lnet_credits_ni_init(struct lnet_ni *ni);
/* [sh] Returns the number of router credits of @pni; 0: @pni has no path. */
s32 lnet_credits_rtr(const struct lnet_peer_ni *pni);

/* True if @ni is ACTIVE. */
static inline bool lnet_ni_usable(const struct lnet_ni *ni)
{
	return READ_ONCE(ni->state) == NI_ACTIVE;
}

/*
 * Returns the service state of @ni. It defines whether selection uses @ni, and which status peers
 * see. Any context.
 */
static inline enum lnet_ni_service lnet_ni_service(const struct lnet_ni *ni)
{
	return (u32)atomic_read(&ni->service) & ((1U << LNET_SERVICE_BITS) - 1);
}

/* True if @ni has one of @marks, even if another mark defines its service state. Any context. */
static inline bool lnet_ni_marked(const struct lnet_ni *ni, u32 marks)
{
	return (u32)atomic_read(&ni->service) & marks;
}

static inline bool lnet_ni_has_link(const struct lnet_ni *ni)
{
	return lnet_ni_service(ni) != LNET_NI_NO_LINK;
}

/* ---- link_quality.c -------------------------------------------------------------------------- */
/* Halves the loss of each link that had no sample for a while. Worker of shard 0, no lock held. */
void lnet_weights_work(struct lnet_pass *p);
/* Computes the weights after link speeds have changed. Worker of shard 0, no lock held. */
void lnet_weights_follow(struct lnet *ln);
/* Fills @v for management. */
void lnet_weight_get(struct lnet_ni *ni, struct lnet_weight_view *v);
/* [nid_lock] Link down (@down): counts it. Link up: damps @ni if the link flaps. */
void lnet_flap_seen(struct lnet_ni *ni, bool down, u64 now_ns);
/* Ends each damping whose time has passed. Worker of shard 0, no lock held. */
void lnet_flaps_work(struct lnet_pass *p);

/* ---- peer.c ---------------------------------------------------------------------------------- */
/*
 * Returns the hash of @nid with the secret key of @ln, so that hosts cannot choose many NIDs of one
 * chain.
 */
u64 lnet_nid_keyed(const struct lnet *ln, const struct lnet_nid *nid);
/* Takes a reference. */
void lnet_peer_get(struct lnet_peer *peer);
/* Drops a reference to @peer; the last one frees it. @peer may be NULL. */
void lnet_peer_put(struct lnet_peer *peer);
/*
 * Allocates a peer with one reference. The peer is not in the list of peers yet. NULL: no memory.
 */
struct lnet_peer *lnet_peer_new(struct lnet *ln, const struct lnet_nid *primary);
/* Returns the peer interface with @nid, with a reference; NULL: unknown. Any context. */
struct lnet_peer_ni *lnet_peer_ni_lookup(struct lnet *ln, const struct lnet_nid *nid);
/*
 * Returns the primary interface of the merge target of @pni's peer, with a reference; NULL: no
 * merge target. Any context.
 */
struct lnet_peer_ni *lnet_peer_ni_target(struct lnet_peer_ni *pni);
/* [cfg, none] Makes @to the merge target of @from; NULL: ends the use of a merge target. */
void lnet_peer_merge_into(struct lnet_peer *from, struct lnet_peer *to);
/*
 * [none] Returns the peer of @pni, with a reference. The peer may change unless an operation
 * references @pni, or the caller has cfg_mutex.
 */
struct lnet_peer *lnet_peer_of(struct lnet_peer_ni *pni);
/* [cfg, none] Returns the peer that has @nid, with a reference; NULL: none. */
struct lnet_peer *lnet_peer_owner(struct lnet *ln, const struct lnet_nid *nid);
/* [sh] Returns the first interface of @peer that is not deleted and has a path; NULL: none. */
struct lnet_peer_ni *lnet_peer_ni_any(struct lnet_peer *peer);
/*
 * Adds the interface @nid to @peer. May sleep. With the first interface, adds @peer to the list of
 * peers, which then owns the reference of lnet_peer_new(). Returns 0, -EEXIST (the NID is known) or
 * -ENOMEM.
 */
int lnet_peer_ni_make(struct lnet_peer *peer, const struct lnet_nid *nid);
/*
 * Like lnet_peer_ni_claimed(), but without the bounds on the number of peers. @claimer is NULL for
 * requests of this node.
 */
struct lnet_peer_ni *lnet_peer_ni_want(struct lnet *ln, const struct lnet_nid *nid,
				       struct lnet_peer *claimer);
/*
 * Like lnet_peer_ni_get(), for a NID that a message of the peer @claimer names: its source, or on a
 * router its destination. If it creates a peer, @claimer becomes the claimer of the new peer. Also
 * returns NULL if claims_max peers have @claimer as their claimer. @claimer may be NULL.
 */
struct lnet_peer_ni *lnet_peer_ni_claimed(struct lnet *ln, const struct lnet_nid *nid,
					  struct lnet_peer *claimer);
/* [sh] True if nothing is in flight to or from @pni. */
bool lnet_peer_ni_is_idle(const struct lnet_peer_ni *pni);
/* [sh] True if @peer has no unfinished operation, and nothing is in flight to or from it. */
bool lnet_peer_is_idle(const struct lnet_peer *peer);
/* [cfg, sh] First step of the removal of @pni: unlists @pni, so that look-ups do not find it. */
void lnet_peer_ni_unlist(struct lnet_peer_ni *pni);
/*
 * [cfg, none] Second step of the removal of @pni, if it is idle. The drivers close their
 * connections to @pni. The function removes its paths, and drops the hash table's reference.
 */
void lnet_peer_ni_drop(struct lnet_peer_ni *pni);
/*
 * [cfg, none] Unlists @peer and its interfaces. The list's reference to @peer then belongs to the
 * caller.
 */
void lnet_peer_unlist(struct lnet_peer *peer);
/*
 * [cfg, sh] Does lnet_peer_unlist() if nobody but the caller uses @peer. The caller has @mine
 * references. False: @peer has other references, or something is in flight.
 */
bool lnet_peer_unlist_unused(struct lnet_peer *peer, unsigned int mine);
/*
 * [cfg, none] Does the second step of the removal for each interface of the unlisted, idle @peer.
 * Then drops the reference to @peer.
 */
void lnet_peer_drop(struct lnet_peer *peer);
/* 0, -ENOMEM */
int lnet_peers_init(struct lnet *ln);
/* Frees all peers. All operations have ended and all drivers have stopped. */
void lnet_peers_fini(struct lnet *ln);

/* ---- peer_list.c ----------------------------------------------------------------------------- */
/*
 * [none] Returns the peer after @prev, with a reference; @prev NULL: the first peer. NULL: end of
 * the list. Drops the reference to @prev, which may be unlisted. A walk visits each peer once.
 */
struct lnet_peer *lnet_peer_next(struct lnet *ln, struct lnet_peer *prev);
/*
 * [none] Like lnet_peer_next(), but returns the next peer for which @is returns true. @is is called
 * with the peer's shard locked. The function visits several peers each time it locks a shard.
 */
struct lnet_peer *lnet_peer_find(struct lnet *ln, struct lnet_peer *prev,
				 bool (*is)(struct lnet_peer *peer, void *arg), void *arg);
/* [cfg, none] Calls @fn for each peer, with the peer's shard locked. Releases all shards. */
void lnet_peers_walk(struct lnet_pass *p,
		     void (*fn)(struct lnet_pass *p, struct lnet_peer *peer, void *arg), void *arg);
/*
 * Moves a peer that was removed and created again to its former position in the list. @nids: its
 * NIDs, of which the first identifies it; @seq: its former number. Orders its interfaces as in
 * @nids. Takes cfg_mutex.
 */
void lnet_peer_place(struct lnet *ln, u64 seq, const struct lnet_nid *nids, unsigned int nr);

/*
 * maximum number of NIDs that a node decodes from a ping info; the node uses at most 2 x
 * max_interfaces of these
 */
#define LNET_LISTED_MAX		256U
#define LNET_LISTING_SLOTS	512U	/* a power of two */

/*
 * The NIDs of a ping info in a hash table. A slot has the index of a NID, plus 1; 0: the slot is
 * free.
 */
struct lnet_listing {
	struct lnet_pinginfo_ni nis[LNET_LISTED_MAX];
	u16 slot[LNET_LISTING_SLOTS];
};

/* Returns the entry of @nid in the ping info; NULL: not listed. */
const struct lnet_pinginfo_ni *lnet_listing_find(const struct lnet *ln, struct lnet_listing *l,
						 const struct lnet_nid *nid);
/*
 * Adds the first @nr NIDs of @l->nis to the hash table. If a NID is listed twice, only its first
 * entry is added.
 */
void lnet_listing_fill(const struct lnet *ln, struct lnet_listing *l, unsigned int nr);

/* ---- path.c ---------------------------------------------------------------------------------- */
/* Frees the paths of the list, which is empty afterwards. No lock held. */
void lnet_paths_free(struct list_head *paths);
/*
 * [sh] Returns the path of @ni and @pni through the router interface @hop (@hop is @pni: the direct
 * path); NULL: none.
 */
struct lnet_path *lnet_path_via(const struct lnet_peer_ni *pni, const struct lnet_ni *ni,
				const struct lnet_peer_ni *hop);
/* [sh] Returns the direct path of @ni and @pni; NULL: none. */
struct lnet_path *lnet_path_find(const struct lnet_peer_ni *pni, const struct lnet_ni *ni);
/*
 * [sh] Returns an index for a new path of @peer: an unused bit of op->tried. If all bits are used,
 * two paths have the same bit.
 */
u32 lnet_path_ix_take(struct lnet_peer *peer);
/* [sh] Computes the bits that the paths of @peer use, after paths were detached. */
void lnet_path_ix_recount(struct lnet_peer *peer);
/* [sh] Returns the number of paths that @pni lacks, including paths through routers. */
unsigned int lnet_paths_missing(struct lnet_peer_ni *pni);
/* [sh] Attaches the paths of @spare, which lnet_paths_lock() has allocated, to @pni. */
void lnet_paths_attach(struct lnet_peer_ni *pni, struct list_head *spare);
/*
 * Allocates the paths that @pni lacks, adds them to @spare, and locks the shard of @pni. May sleep.
 * Returns 0, or -ENOMEM with the shard also locked.
 */
int lnet_paths_lock(struct lnet_peer_ni *pni, struct list_head *spare)
	__acquires(&pni->sh->lock);
/* [sh] True if @pni has a path that is not being removed. */
bool lnet_paths_live(const struct lnet_peer_ni *pni);
/* True if @pni has a path, or could get one over an existing interface or route. No lock held. */
bool lnet_paths_possible(struct lnet_peer_ni *pni);
/*
 * [sh] True if no driver has an attempt on @path, and no reply, ping or reset is outstanding.
 * Attempts that wait for credits do not count.
 */
bool lnet_path_is_idle(const struct lnet_path *path);

/*
 * [sh] Removes @path from the queue of paths that wait for the ping rate limit, if it is in the
 * queue.
 */
static inline void lnet_probe_leave(struct lnet_path *path)
{
	if (list_empty(&path->probe_link))
		return;
	lnet_rec_path(path->pni->sh, 0, LEAVE, path, 0, 0);
	list_del_init(&path->probe_link);
}

/*
 * [sh] Detaches the idle @path and adds it to @gone; lnet_paths_free() later frees it without a
 * lock.
 */
void lnet_path_detach(struct lnet_path *path, struct list_head *gone);
/* [cfg] True if nothing is in flight on any path of @ni. */
bool lnet_paths_idle(struct lnet *ln, struct lnet_ni *ni);
/* [cfg] Removes the paths of @ni on which nothing is in flight. True: @ni has no path any more. */
bool lnet_paths_drop_ni(struct lnet *ln, struct lnet_ni *ni);

/* ---- route.c --------------------------------------------------------------------------------- */
/* [any] True if this node has an interface on @net. */
bool lnet_net_is_local(const struct lnet *ln, u32 net);
/* [sh|cfg] True if a route names @nid as its gateway. */
bool lnet_nid_is_gateway(const struct lnet *ln, const struct lnet_nid *nid);
/*
 * [sh|cfg] Returns the lowest number of hops among the routes to @net, 1 if hops are not set; 0: no
 * route.
 */
unsigned int lnet_routes_hops(const struct lnet *ln, u32 net);
/*
 * [sh|cfg] Returns the route to @net through the router @peer; NULL: none. Merged gateways are one
 * peer.
 */
struct lnet_route *lnet_route_find(const struct lnet *ln, u32 net, const struct lnet_peer *peer);
/* [sh|cfg] Returns the gateway that belongs to @peer; NULL: no route names @peer. */
struct lnet_gateway *lnet_gateway_of(const struct lnet *ln, const struct lnet_peer *peer);
/*
 * [cfg] True if a gateway, a route, or a removed route that paths still use has a reference to
 * @pni.
 */
bool lnet_routes_need(const struct lnet_peer_ni *pni);
/*
 * [sh] Counts the routed paths that @pni lacks. If @spare is not NULL, attaches paths from @spare
 * to @pni.
 */
unsigned int lnet_routes_attach(struct lnet_peer_ni *pni, struct list_head *spare);
/*
 * [cfg, sh 0] Marks routed paths that no route permits any more, so that selection ignores them.
 * True: some paths are marked; *@marked: some of these were not marked before the call.
 */
bool lnet_routes_mark_unwanted(struct lnet *ln, bool *marked);
/*
 * [cfg, sh of hop] Marks all paths through the unlisted router interface @hop. True: such paths
 * exist.
 */
bool lnet_routes_mark_hop(struct lnet_peer_ni *hop);
/*
 * [cfg, sh 0] Moves idle paths that are marked to @gone, for lnet_paths_free(). True: some marked
 * paths are busy.
 */
bool lnet_routes_detach_gone(struct lnet *ln, struct list_head *gone);
/* [cfg, sh 0] Returns a removed route that no path uses; NULL: none. */
struct lnet_route *lnet_routes_finished(struct lnet *ln);

/* ---- gateway.c ------------------------------------------------------------------------------- */
/* [sh 0] Returns the entry of @nid in the last ping info of the router @gw; NULL: not listed. */
const struct lnet_pinginfo_ni *lnet_gateway_entry(const struct lnet_gateway *gw,
						  const struct lnet_nid *nid);
/* [sh 0] True if the last ping info of the router @gw lists an interface on @net. */
bool lnet_gateway_is_on(const struct lnet_gateway *gw, u32 net);
/* [sh 0] True if the last ping info of the router shows that it forwards to the net of @route. */
bool lnet_gateway_reaches(const struct lnet_gateway *gw, const struct lnet_route *route);
/*
 * [sh 0] True if the router does not list its interface @hop, but lists others to which this node
 * has a path.
 */
bool lnet_gateway_replaced(const struct lnet_gateway *gw, const struct lnet_peer_ni *hop);
/* [sh 0] Computes gw->lists_hop again. */
void lnet_gateway_hops_review(struct lnet_gateway *gw);
/* [sh 0] Processes the ping info of @peer from a REPLY or a push. @peer need not be a gateway. */
void lnet_gateway_update(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len);
/*
 * [sh 0] A check of @gw over @net received no reply: marks the gateway's interfaces on @net as
 * unresponsive.
 */
void lnet_gateway_unresponsive(struct lnet_gateway *gw, u32 net);
/* [sh 0] Schedules the next check of @gw at @when_ns, unless an earlier check is scheduled. */
void lnet_gateway_check_by(struct lnet_pass *p, struct lnet_gateway *gw, u64 when_ns);
/*
 * [sh of rx->from] True if a gateway sent @rx, from any of its NIDs. May release and retake the
 * lock. A gateway may use a NID before the NID is proven, so it suffices that its last ping info
 * has the NID.
 */
bool lnet_gateway_sent(struct lnet_pass *p, const struct lnet_rx *rx);
/*
 * [sh 0] Marks the gateway that sent or forwarded @rx as up. @by_router: @rx is a router-generated
 * reply.
 */
void lnet_gateway_alive(struct lnet_pass *p, struct lnet_rx *rx, bool by_router);
/*
 * [sh 0] A connection to the gateway @peer was lost: schedules a check soon, and discovers the
 * gateway again.
 */
void lnet_gateway_lost(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh 0] The gateway of @via rejected a message: selection prefers other gateways until the next
 * check of it.
 */
void lnet_gateway_rejected(struct lnet_pass *p, struct lnet_path *via);

/* ---- udsp.c ---------------------------------------------------------------------------------- */
/*
 * Checks that @rule has one of four forms: a priority for `src'; a priority for `dst'; `src' and
 * `dst' without a priority; `rte' and `dst' without a priority. NULL: valid; else a text that
 * states the error.
 */
const char *lnet_udsp_wrong(const struct lnet_udsp_rule *rule);
/* [sh|cfg] Writes the policy priorities of @nid to @info. */
void lnet_udsp_info(const struct lnet *ln, enum lnet_udsp_end end, const struct lnet_nid *nid,
		    struct lnet_udsp_info *info);
/* [sh] Computes path->policy from the rules for the ends and the router of @path. */
void lnet_udsp_path(const struct lnet *ln, struct lnet_path *path);
/*
 * Inserts @rule at @idx; a negative or too large @idx: at the end. If a rule with the same patterns
 * exists, @rule replaces that rule at its position. Afterwards selection uses the new rules for all
 * paths. Takes cfg_mutex. Returns 0, -EINVAL, -EALREADY (nothing differs), -ENOSPC or -ENOMEM.
 */
int lnet_udsp_add(struct lnet *ln, int idx, const struct lnet_udsp_rule *rule);
/* Deletes the rule at @idx; -1: all rules. Takes cfg_mutex. Returns 0, -ENOENT or -ENOMEM. */
int lnet_udsp_del(struct lnet *ln, int idx);
/* Replaces all rules by @rules. Takes cfg_mutex. Returns 0, or -errno without a change. */
int lnet_udsp_set(struct lnet *ln, const struct lnet_udsp_rule *rules, unsigned int nr);
/* Copies the rule at @idx. Takes cfg_mutex. Returns 0, or -ENOENT past the end. */
int lnet_udsp_get(struct lnet *ln, unsigned int idx, struct lnet_udsp_rule *rule);
/* Frees the rules. */
void lnet_udsp_fini(struct lnet *ln);

#endif
