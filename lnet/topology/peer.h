/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that peer.c, path.c, peer_move.c and listing.c offer to each other and to merge.c. */
#ifndef LNET_PEER_H
#define LNET_PEER_H

#include "model/core.h"

/* ---- path.c ---------------------------------------------------------------------------------- */
/*
 * Locks @pni's shard, in any case; may sleep before. 0: @spare has a path for each NI that it lacks
 * one for. -ENOMEM
 */
int lnet_paths_lock(struct lnet_peer_ni *pni, struct list_head *spare)
	__acquires(&pni->sh->lock);
/* [sh] after that */
void lnet_paths_attach(struct lnet_peer_ni *pni, struct list_head *spare);
/* [sh] idle; to be freed without lock */
void lnet_path_detach(struct lnet_path *path, struct list_head *gone);
void lnet_paths_free(struct list_head *paths);	/* no lock held; @paths is empty afterwards */
/* [sh] no attempt, no unanswered request, no ping */
bool lnet_path_is_idle(const struct lnet_path *path);
/*
 * cfg_mutex held. True if @pni gets no paths, because it is an alias (core.h). If paths are now
 * possible, the node pings the peer for its list again, and can then prove @pni.
 */
bool lnet_paths_withheld(struct lnet_peer_ni *pni);
bool lnet_paths_live(const struct lnet_peer_ni *pni);	/* [sh] one that is not about to end */
/* no lock held: @pni has a path, or there is an interface or a route for one */
bool lnet_paths_possible(struct lnet_peer_ni *pni);
u32 lnet_path_ix_take(struct lnet_peer *peer);	/* [sh] */
void lnet_path_ix_recount(struct lnet_peer *peer);	/* [sh] after paths were detached */

/* ---- peer.c ---------------------------------------------------------------------------------- */
/* cfg_mutex held: the peer that has @nid, counted, or NULL */
struct lnet_peer *lnet_peer_owner(struct lnet *ln, const struct lnet_nid *nid);
/* unknown yet; one count */
struct lnet_peer *lnet_peer_new(struct lnet *ln, const struct lnet_nid *primary);
/*
 * A new interface of @peer; the first one makes @peer known, which keeps its first count then. May
 * sleep. 0, -EEXIST (the NID is known meanwhile), -ENOMEM.
 */
int lnet_peer_ni_make(struct lnet_peer *peer, const struct lnet_nid *nid);
bool lnet_peer_ni_is_idle(const struct lnet_peer_ni *pni);	/* [sh] */
/* [sh] no operation is unfinished, nothing is under way */
bool lnet_peer_is_idle(const struct lnet_peer *peer);
/*
 * Taking away, in this order; config. Hidden is: not found by NID; told are the drivers, which
 * close what they have.
 */
void lnet_peer_ni_hide(struct lnet_peer_ni *pni);	/* [sh] */
void lnet_peer_hide(struct lnet_peer *peer);		/* with all its interfaces; no lock held */
/*
 * [sh] The same if nobody refers to it but the caller, with @mine counts; config. False: somebody
 * does, or something is under way.
 */
bool lnet_peer_hide_unused(struct lnet_peer *peer, unsigned int mine);
void lnet_peer_ni_tell(struct lnet_peer_ni *pni);	/* no lock held */
/* idle: its paths end, the count of the hash is put */
void lnet_peer_ni_drop(struct lnet_peer_ni *pni);
/* ---- peer_move.c: cfg_mutex held ------------------------------------------------------------- */
/*
 * The interfaces of @from, or only that of @nid, become @to's. -EBUSY: something is under way to
 * @from. With @heirs its new requests go to @to from then on, until it is tried again.
 */
int lnet_peer_take_over(struct lnet_peer *from, struct lnet_peer *to, const struct lnet_nid *nid,
			bool heirs);
void lnet_peer_heirs_end(struct lnet_peer *peer);	/* no shard locked */
void lnet_peer_heir_end(struct lnet_peer_ni *pni);	/* the same; @pni may be hidden */
/* cfg_mutex held, no shard locked: ends this for all whose requests go to @to, unless @still */
void lnet_peer_heirs_review(struct lnet_peer *to,
			    bool (*still)(const struct lnet_peer *from, void *arg), void *arg);
/*
 * As lnet_peer_take_over(), but for new heirs; what moves has none any more. @wait: waits for that
 * as long as a removed interface may take.
 */
int lnet_peer_absorb(struct lnet_peer *from, struct lnet_peer *to, const struct lnet_nid *nid,
		     bool wait);
/* for lnet_cfg_wait(): lnet_peer_is_idle() of @peer */
bool lnet_peer_is_free(struct lnet *ln, void *peer);

/* ---- peer.c, continued */
void lnet_peer_drop(struct lnet_peer *peer);		/* idle: tells, drops all and itself */
/* ---- peer_move.c ----------------------------------------------------------------------------- */
/*
 * Config: to shard 0, as routers and those behind them are; only while nothing is under way to it,
 * @wait: waits for that as long as a removed interface may take. 0, -EBUSY.
 */
int lnet_peer_anchor(struct lnet_peer *peer, bool wait);

/* ---- listing.c ------------------------------------------------------------------------------- */
#define LNET_LISTING_SLOTS	512U	/* a power of two */
/* The NIDs of a ping info. A slot has the index of a NID + 1; 0: free. */
struct lnet_listing {
	struct lnet_pinginfo_ni nis[LNET_LISTED_MAX];
	u16 slot[LNET_LISTING_SLOTS];
};
/* Hashes the first @nr of @l->nis; a NID that is listed twice counts the first time. */
void lnet_listing_fill(const struct lnet *ln, struct lnet_listing *l, unsigned int nr);
/* NULL: not listed */
const struct lnet_pinginfo_ni *lnet_listing_find(const struct lnet *ln, struct lnet_listing *l,
						 const struct lnet_nid *nid);

#endif
