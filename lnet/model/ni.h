/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A local interface (NI): its state, its link, and its data in each shard. */
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

/*
 * Time of the last success, or of the last failure, of messages with one partner: a peer NI at the
 * other end of a path. [sh] The shard writes the time by WRITE_ONCE; other shards read it.
 */
struct lnet_seen {
	u64 ns;
	u32 who;			/* @ix of the peer NI that is the partner; 0: none */
};
struct lnet_ni_shard {			/* [sh] */
	/* xfer/: */
	/* NI credits of this shard; at 0 or below, only control messages take one */
	s32 credits, min_credits;
	struct list_head wait[LNET_NR_CLASSES];	/* attempts in ATT_WAIT_NI */
	u32 nr_wait;			/* of them */
	/*
	 * Numbers of the walks over operations in which attempts of this NI select a path again; 0:
	 * none. In the walk avoid_walk, only attempts that wait for a credit of the NI do so. In
	 * the walk down_walk, all attempts of the NI do so.
	 */
	u32 avoid_walk, down_walk;
	/* attempts in ATT_WIRE or ATT_POSTED; receive/ adds messages in RX_RECEIVE */
	u32 holds;
	/* path/: */
	u64 rr_pos;	/* round-robin position: selection prefers the NI with the lowest value */
	/*
	 * While @rr_pos of the shard is below this value, a degraded NI has used its share of
	 * requests, and selection prefers other NIs.
	 */
	u64 share_until;
	/* partners that responded, failed: attribution.c */
	struct lnet_seen responded[2], failed[2];
	/* Any folder adds to the counters [sh]; shard/ resets them: */
	u64 c[LNET_NR_NI_COUNTERS];
};

/* ---- its link -------------------------------------------------------------------------------- */

#define LNET_WEIGHT_MAX		1000U
/* Packet loss that counts as normal, in millionths: TCP itself causes it on a fully used link. */
#define LNET_LOSS_FREE_PPM	5000U
#define LNET_LOSS_SAMPLES	3U

/* [nid_lock] topology/: the packet loss on the link of an NI, as its driver reports it */
struct lnet_loss {
	u64 sent, lost;			/* packets, in all */
	u32 now_sent, now_lost;		/* in the current sample */
	u64 since_ns;	/* begin of the current sample; 0: the driver has reported nothing */
	u64 set_ns;		/* when a sample last set @ppm, or its value was last halved */
	struct lnet_relapses relapses;	/* counts how often the loss returned after it had ended */
	u32 last[LNET_LOSS_SAMPLES - 1];	/* ppm of the samples before */
	u32 ppm;			/* the effective loss */
};

struct lnet_flap {			/* [nid_lock] topology/: of an NI */
	/* counts how often the link was down soon after it came up */
	struct lnet_relapses relapses;
	u64 until_ns;			/* damped until then */
};

/* The numbers about a link that management shows. */
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
	u32 ix;				/* index of the NI: small, and unique in the instance */
	/* shard/: counts references */
	atomic_t refs;
	/* path/: */
	atomic_t health;		/* 0..1000 */
	/* shard/: */
	atomic_t work;			/* lnet_ni_kick() */
	/* topology/: */
	u8 state;			/* enum lnet_ni_state [cfg] */
	/*
	 * low bits: enum lnet_ni_service; higher bits: the marks; lnet_ni_mark() changes it in any
	 * context
	 */
	atomic_t service;
	/* manage/: */
	/* enum lnet_link_why: why the link is down; valid with the mark LINK_DOWN */
	u8 link_why;
	u8 link_seen;			/* 1: the worker has noticed that the link is down */
	/* [nid_lock] the link came up, and the node has not yet notified all peers */
	u8 up_pending;
	/* service/ writes @pinged_ns; router/ also writes it when forwarding starts: */
	u64 pinged_ns;		/* on a router: when this NI last received a ping; WRITE_ONCE */
	/* path/: */
	/* counts how often the health of the NI fell to 0 soon after the NI was advertised as up */
	struct lnet_relapses health_relapses;
	/* manage/: */
	/* [nid_lock] peer that the node notified last; reference held */
	struct lnet_peer *up_notified;
	/* service/: */
	u32 since_seq;		/* sequence of the first ping info that lists this NI; WRITE_ONCE */
	/* the driver writes @link_speed when the NI starts; manage/ writes it afterwards: */
	u32 link_speed;			/* Mbit/s, 0 unknown */
	/* topology/: */
	u32 full_mbit;			/* [nid_lock] highest speed so far */
	u16 degradation;		/* LNET_WEIGHT_MAX - weight: link_quality.c, READ_ONCE */
	/* shard/: */
	u8 used;	/* [cfg] the NI sent a message before its counters were last reset */
	/* topology/: */
	struct lnet_loss loss;		/* [nid_lock] */
	struct lnet_flap flap;		/* [nid_lock] */
	/* [const] from here: manage/ sets the fields, and the driver when the NI starts */
	s32 dev_cpt;			/* CPU partition near the device; -1: unknown */
	u64 cpts;			/* bitmap of the CPU partitions that serve the NI; 0: all */
	s32 peer_timeout, peer_credits, peer_buffer_credits, credits;
	u32 conns_per_peer;
	s32 tos;
	/* manage/ */
	u32 nr_down, nr_up;		/* link changes */
	u64 ping_count, next_ping_ns;	/* always 0; management shows them */
	struct lnet_ni_shard sh[];	/* nr_shards */
};

#endif
