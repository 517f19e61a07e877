/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The weight of an interface, 1 to 1000: what it is worth beside the same one with nothing wrong.
 * And how long a link that flaps is held back.
 */
#ifndef LNET_WEIGHT_H
#define LNET_WEIGHT_H

#include "plat.h"

#define LNET_WEIGHT_MAX		1000U
/* Loss up to this, in millionths of the packets, is what TCP makes itself on a full link. */
#define LNET_LOSS_FREE_PPM	5000U
#define LNET_LOSS_SAMPLES	3U

struct lnet;
struct lnet_ni;
struct lnet_pass;

struct lnet_loss {			/* [nid_lock] of an NI, as its driver tells it */
	u64 sent, lost;			/* packets, in all */
	u32 now_sent, now_lost;		/* in the sample that is being taken */
	u64 since_ns;			/* its begin; 0: nothing was told yet */
	u64 told_ns;			/* when the last one ended, or was counted half */
	u64 whole_ns;			/* when the loss was last found to be gone; 0: never */
	u32 last[LNET_LOSS_SAMPLES - 1];	/* ppm of the samples before */
	u32 ppm;			/* what counts */
	u8 relapses;			/* in a row, soon after it was gone */
};

struct lnet_flap {			/* [nid_lock] of an NI */
	u64 up_ns;			/* when its link last came back; 0: it never went */
	u64 until_ns;			/* held back until then */
	u8 nr;				/* times it went soon after it had come, in a row */
};

/* Worker: links changed; what it is time for: losses count less, held links are let back. */
void lnet_weights_follow(struct lnet *ln);
void lnet_weights_work(struct lnet_pass *p);
void lnet_flaps_work(struct lnet_pass *p);
/* [nid_lock] The worker acts on a link that went (@down) or came. */
void lnet_flap_seen(struct lnet_ni *ni, bool down, u64 now_ns);

/* What management shows of it. */
struct lnet_weight_view {
	u32 weight, full_mbit, loss_ppm, flaps, held_ms;
	u64 sent, lost;
};
void lnet_weight_look(struct lnet_ni *ni, struct lnet_weight_view *v);

#endif
