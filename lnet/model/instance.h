/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An instance: all data of one node. */
#ifndef LNET_MODEL_INSTANCE_H
#define LNET_MODEL_INSTANCE_H

#include "plat.h"
#include "model/discovery.h"
#include "model/limits.h"
#include "model/log.h"
#include "model/shard.h"
#include "model/tunables.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>

struct lnet_sbuf;
struct lnet_fault;
struct lnet_hooks;
struct lnet_md_tables;
struct lnet_ni;
struct lnet_op;
struct lnet_peer;
struct lnet_recorder;
struct lnet_router;
struct lnet_routes;
struct lnet_udsp;

/* largest number of threads whose handlers the node watches at a time */
#define LNET_WATCHES	16

/* memory/: a thread that runs handlers; the fields are atomic and need no lock */
struct lnet_watch {
	/*
	 * time at which the thread began a batch of events; 0: the struct is unused. Bit 0: the
	 * counter slow_handlers already includes the batch.
	 */
	u64 begin_ns;
	u32 what;			/* event whose handler runs: portal << 8 | kind */
};

struct lnet_slot {			/* [slot_lock] xfer/: slot of an untracked request */
	struct lnet_op *op;
	u64 gen;			/* number of uses */
	u64 tag;		/* unique number in the wire handle; no other node can compute it */
	u32 next;		/* in a free slot: index of the next free slot + 1; 0: none */
};

#define LNET_NID_HASH_BITS 6		/* first size; grows */

struct lnet {
	/* lnet_create() and lnet_destroy() (instance.c): */
	struct lnet_env *env;
	const struct lnet_hooks *hooks;	/* [const] shard/hooks.h */
	u64 instance;			/* interface cookie */
	u32 pid;
	unsigned int nr_shards;
	struct mutex cfg_mutex;
	u8 stopping;			/* READ_ONCE; set first in lnet_destroy() */
	/* path/ and manage/: */
	u8 ping_stale;			/* a link changed, so the node must rebuild its ping info */
	/* topology/, service/ and manage/: */
	u32 cfg_gen;			/* [cfg] */
	/* shard/: */
	struct lnet_tunables tun;
	/* instance.c: */
	const struct lnet_lnd_ops *lnds[LNET_MAX_LNDS];	/* [cfg] */
	/* topology/ and manage/: */
	struct list_head nis;	/* [cfg] local NIs in the order of configuration, loopback first */
	u32 nr_nis, next_ni_ix;
	struct lnet_ni *lo;
	/* topology/; service/ when peers merge: */
	struct list_head peers;		/* [cfg] + nid_lock for adding */
	u32 nr_peers;
	u64 peer_seq;			/* [nid_lock] @seq of the peer that was added last */
	/* manage/: */
	/*
	 * peer_expiry.c: time of the next slice of the walk that finds peers to expire; WRITE_ONCE
	 */
	u64 expiry_ns;
	/*
	 * topology/: link_quality.c: when the worker next checks weights and damped NIs; WRITE_ONCE
	 */
	u64 weigh_ns, flap_ns;
	/* fault/: */
	/* rule_table.c: when the worker next checks whether fault rules have ended; WRITE_ONCE */
	u64 rules_ns;
	/* manage/: */
	/* [cfg] next peer that the expiry walk visits; reference held */
	struct lnet_peer *expiry_at;
	u8 expiry_left;		/* [cfg] the expiry walk visited a dynamically created peer */
	/* topology/: */
	spinlock_t nid_lock;		/* leaf */
	struct hlist_head *nids;	/* [nid_lock] 1 << nid_bits */
	u64 nid_key;			/* [const] secret key of the hash table of NIDs */
	u32 nid_bits, nr_nids, pni_ix;	/* @pni_ix: the last @ix given to a peer NI */
	/* memory/: */
	struct lnet_md_tables *md_tables;	/* handle.c, match.c */
	/* xfer/: */
	spinlock_t slot_lock;		/* leaf */
	struct lnet_slot *slots;	/* [slot_lock] */
	u32 nr_slots, slot_free, nr_slot_free;
	u64 slot_key[2];	/* [const] secret key from which the tags of slots are computed */
	/* fault/: */
	/*
	 * @fault: NULL while no fault rule exists; @fault_table: NULL before the first fault rule
	 */
	struct lnet_fault *fault, *fault_table;
	/* topology/: */
	struct lnet_udsp *udsp;		/* [cfg] udsp.c; NULL: no rule */
	/* service/: */
	spinlock_t ping_lock;		/* leaf */
	/* [ping_lock] the REPLY to pings */
	struct lnet_sbuf *ping_info;
	/* ping info that lists no drained NI; NULL: the same list as @ping_info */
	struct lnet_sbuf *ping_less;
	u32 ping_seq;			/* WRITE_ONCE */
	struct lnet_discovery disc;
	lnet_md_t ping_md, push_md;
	/* shard/ writes these fields; topology/ and manage/ also change @nr_counted: */
	struct lnet_shard *shard;	/* nr_shards */
	/*
	 * @doorbells: shards with @more_left set. @ni_work: NIs with @work set. @nr_counted: NIs,
	 * peers and peer NIs that are not freed yet.
	 */
	atomic_t doorbells, ni_work, nr_counted;
	struct lnet_log log;		/* model/log.h */
	/* memory/: */
	struct lnet_watch watch[LNET_WATCHES];	/* event.c */
	u32 watch_idle;		/* atomic; 1: no call of lnet_handlers_watch() is scheduled */
	/* control/: */
	void *control;			/* dispatch.c */
	/* router/: */
	struct lnet_router *router;	/* NULL: routing was never enabled */
	/* manage/: */
	struct lnet_routes *routes;	/* route_config.c */
	/* recorder/: */
	struct lnet_recorder *recorder;	/* [cfg] ring.c; NULL: never enabled */
};

#endif
