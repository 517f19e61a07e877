/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An outcome of outcomes.def: its errno, its delivery, and the ends of a path to which a failure is
 * attributed.
 */
#ifndef LNET_MODEL_OUTCOME_H
#define LNET_MODEL_OUTCOME_H

#include "plat.h"

enum lnet_attribution { LNET_ATTRIB_NONE, LNET_ATTRIB_LOCAL, LNET_ATTRIB_REMOTE, LNET_ATTRIB_BOTH };
enum lnet_delivery { LNET_DELIVERY_NOT, LNET_DELIVERY_UNKNOWN, LNET_DELIVERY_YES };
struct lnet_outcome_info {
	const char *name;
	int err;			/* -errno or 0 */
	u8 attribution, delivery;
};

#endif
