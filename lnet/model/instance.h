/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An instance: the node in one struct. */
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

#define LNET_WATCHES	16		/* further threads in handlers are not watched */

/* memory/: a thread that runs handlers; atomic, without a lock */
struct lnet_watch {
	u64 begin_ns;			/* start of the batch; 0: free; bit 0: batch is counted */
	u32 what;			/* portal << 8 | kind of the event being handled */
};

struct lnet_slot {			/* [slot_lock] xfer/: of an untracked request */
	struct lnet_op *op;
	u64 gen;			/* number of uses */
	u64 tag;			/* unique, in the handle; no other node can compute it */
	u32 next;			/* when free: next free slot + 1, 0: none */
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
	u8 ping_stale;			/* a link changed: the ping info is to be rebuilt */
	/* topology/, service/ and manage/: */
	u32 cfg_gen;			/* [cfg] */
	/* shard/: */
	struct lnet_tunables tun;
	/* instance.c: */
	const struct lnet_lnd_ops *lnds[LNET_MAX_LNDS];	/* [cfg] */
	/* topology/ and manage/: */
	struct list_head nis;		/* [cfg] in configuration order, loopback first */
	u32 nr_nis, next_ni_ix;
	struct lnet_ni *lo;
	/* topology/; service/ when peers merge: */
	struct list_head peers;		/* [cfg] + nid_lock for adding */
	u32 nr_peers;
	u64 peer_seq;			/* [nid_lock] of the last peer */
	/* manage/: */
	/* peer_expiry.c: next slice of the walk for peers to expire; WRITE_ONCE */
	u64 expiry_ns;
	/* topology/: link_quality.c: when to check interfaces; WRITE_ONCE */
	u64 weigh_ns, flap_ns;
	/* fault/: */
	u64 rules_ns;			/* rule_table.c: when rules may have ended; WRITE_ONCE */
	/* manage/: */
	struct lnet_peer *expiry_at;	/* [cfg] next to visit in this walk; reference held */
	u8 expiry_left;			/* [cfg] the walk visited a dynamically created peer */
	/* topology/: */
	spinlock_t nid_lock;		/* leaf */
	struct hlist_head *nids;	/* [nid_lock] 1 << nid_bits */
	u64 nid_key;			/* [const] secret key of the hash */
	u32 nid_bits, nr_nids, pni_ix;	/* @pni_ix: the last one given */
	/* memory/: */
	struct lnet_md_tables *md_tables;	/* handle.c, match.c */
	/* xfer/: */
	spinlock_t slot_lock;		/* leaf */
	struct lnet_slot *slots;	/* [slot_lock] */
	u32 nr_slots, slot_free, nr_slot_free;
	u64 slot_key[2];		/* [const] secret key of the tags */
	/* fault/: */
	/* of fault.c; @fault is NULL without a rule; @fault_table is NULL before the first rule */
	struct lnet_fault *fault, *fault_table;
	/* topology/: */
	struct lnet_udsp *udsp;		/* [cfg] udsp.c; NULL: no rule */
	/* service/: */
	spinlock_t ping_lock;		/* leaf */
	/* [ping_lock] the REPLY to pings */
	struct lnet_sbuf *ping_info;
	struct lnet_sbuf *ping_less;	/* ping info without drained NIs; NULL: same list */
	u32 ping_seq;			/* WRITE_ONCE */
	struct lnet_discovery disc;
	lnet_md_t ping_md, push_md;
	/* shard/; topology/ and manage/ count @nr_counted: */
	struct lnet_shard *shard;	/* nr_shards */
	/* a shard's more_left is set; an NI's work is set; NIs, peers and peer NIs not freed yet */
	atomic_t doorbells, ni_work, nr_counted;
	struct lnet_log log;		/* model/log.h */
	/* memory/: */
	struct lnet_watch watch[LNET_WATCHES];	/* event.c */
	u32 watch_idle;			/* atomic: no call of lnet_handlers_watch() is due */
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
