/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A local interface (NI): its state, its link, and the part of it that each shard has. */
#ifndef LNET_MODEL_NI_H
#define LNET_MODEL_NI_H

#include "plat.h"
#include "model/ni_service.h"
#include "model/relapses.h"
#include "model/tunables.h"
#include <lnet/lnd.h>
#include <lnet/nid.h>

struct lnet;
struct lnet_peer;

enum lnet_ni_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/ni.def"
#undef STATE
#undef EDGE
	LNET_NR_NI_STATES
};

/* ---- its part in each shard ------------------------------------------------------------------ */

struct lnet_seen {			/* WRITE_ONCE [sh]; other shards read it */
	u64 ns;
	u32 who;			/* ix of a peer interface; 0: nobody */
};
struct lnet_ni_shard {			/* [sh] */
	/* xfer/: */
	s32 credits, min_credits;	/* <= 0: only control messages take one */
	struct list_head wait[LNET_NR_CLASSES];	/* attempts in ATT_WAIT_NI */
	u32 nr_wait;			/* of them */
	u32 avoid_walk, down_walk;	/* walks in which these, or all, choose again; 0: none */
	u32 holds;			/* attempts in WIRE/POSTED; receive/ adds rx in RECEIVE */
	/* path/: */
	u64 rr_pos;			/* round-robin position: the lowest is next */
	/* degraded: share used up until this value of rr_pos */
	u64 share_until;
	/* partners that responded, failed: attribution.c */
	struct lnet_seen responded[2], failed[2];
	/* any folder adds [sh]; shard/ resets: */
	u64 c[LNET_NR_NI_COUNTERS];
};

/* ---- its link -------------------------------------------------------------------------------- */

#define LNET_WEIGHT_MAX		1000U
/* Loss up to this, in millionths of the packets, is normal: TCP causes it on a full link. */
#define LNET_LOSS_FREE_PPM	5000U
#define LNET_LOSS_SAMPLES	3U

/* [nid_lock] topology/: the loss on the link of an NI, as its driver reports it */
struct lnet_loss {
	u64 sent, lost;			/* packets, in all */
	u32 now_sent, now_lost;		/* in the current sample */
	u64 since_ns;			/* its begin; 0: the driver has reported nothing */
	u64 set_ns;			/* when @ppm was last set: by a sample, or halved */
	struct lnet_relapses relapses;	/* of the loss after it had ended */
	u32 last[LNET_LOSS_SAMPLES - 1];	/* ppm of the samples before */
	u32 ppm;			/* the effective loss */
};

struct lnet_flap {			/* [nid_lock] topology/: of an NI */
	struct lnet_relapses relapses;	/* link down soon after link up */
	u64 until_ns;			/* damped until then */
};

/* The figures of a link that management shows. */
struct lnet_weight_view {
	u32 weight, full_mbit, loss_ppm, flaps, damped_ms;
	u64 sent, lost;
};

/* ---- the interface --------------------------------------------------------------------------- */

struct lnet_ni {
	struct list_head link;		/* [cfg] in ln->nis, configuration order */
	/* [const] from here */
	struct lnet *ln;
	const struct lnet_lnd_ops *ops;
	void *priv;			/* ops->ni_priv_size bytes */
	struct lnet_nid nid;
	u32 net;
	char ifname[16];
	bool by_name;			/* was added by @ifname */
	u32 ix;				/* small number unique in the instance */
	/* shard/: counts references */
	atomic_t refs;
	/* path/: */
	atomic_t health;		/* 0..1000 */
	/* shard/: */
	atomic_t work;			/* lnet_ni_kick() */
	/* topology/: */
	u8 state;			/* enum lnet_ni_state [cfg] */
	/* enum lnet_ni_service, and above it the marks: lnet_ni_mark(), any context */
	atomic_t service;
	/* manage/: */
	u8 link_why;			/* enum lnet_link_why; valid with the mark LINK_DOWN */
	u8 link_seen;			/* 1: link down, as the worker last noticed */
	u8 up_pending;			/* [nid_lock] link up: not all peers are notified */
	/* service/, and router/ when forwarding starts: */
	u64 pinged_ns;			/* of a router: last received ping; WRITE_ONCE */
	/* path/: */
	/* of its health to 0 after it was advertised as up */
	struct lnet_relapses health_relapses;
	/* manage/: */
	struct lnet_peer *up_notified;	/* [nid_lock] last one notified; reference held */
	/* service/: */
	u32 since_seq;			/* of the first ping info that lists it; WRITE_ONCE */
	/* the driver at its start, then manage/ */
	u32 link_speed;			/* Mbit/s, 0 unknown */
	/* topology/: */
	u32 full_mbit;			/* [nid_lock] highest speed so far */
	u16 degradation;		/* LNET_WEIGHT_MAX - weight: link_quality.c, READ_ONCE */
	/* shard/: */
	u8 used;			/* [cfg] sent a message before its counters were reset */
	/* topology/: */
	struct lnet_loss loss;		/* [nid_lock] */
	struct lnet_flap flap;		/* [nid_lock] */
	/* [const] from here; manage/ sets them, and the driver at its start */
	s32 dev_cpt;			/* partition near the device; -1 unknown */
	u64 cpts;			/* bits of the CPTs that serve it; 0: all */
	s32 peer_timeout, peer_credits, peer_buffer_credits, credits;
	u32 conns_per_peer;
	s32 tos;
	/* manage/ */
	u32 nr_down, nr_up;		/* link changes */
	u64 ping_count, next_ping_ns;	/* always 0; management shows them */
	struct lnet_ni_shard sh[];	/* nr_shards */
};

#endif
