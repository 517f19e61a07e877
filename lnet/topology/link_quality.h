/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The weight of an interface, 1 to 1000: what it is worth beside the same one with nothing wrong.
 * And how long a link that flaps is held back.
 */
#ifndef LNET_WEIGHT_H
#define LNET_WEIGHT_H

#include "model/ni.h"
#include "plat.h"

struct lnet;
struct lnet_ni;
struct lnet_pass;

/* Worker: links changed; what it is time for: losses count less, held links are let back. */
void lnet_weights_follow(struct lnet *ln);
void lnet_weights_work(struct lnet_pass *p);
void lnet_flaps_work(struct lnet_pass *p);
/* [nid_lock] The worker acts on a link that went (@down) or came. */
void lnet_flap_seen(struct lnet_ni *ni, bool down, u64 now_ns);

void lnet_weight_look(struct lnet_ni *ni, struct lnet_weight_view *v);

#endif
