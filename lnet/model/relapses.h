/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts how often an object failed soon after it had recovered. base/base.h has the functions. */
#ifndef LNET_MODEL_RELAPSES_H
#define LNET_MODEL_RELAPSES_H

#include "plat.h"

struct lnet_relapses {
	u64 well_ns;			/* time of the last recovery; 0: none */
	u8 nr;	/* number of successive failures, each within LNET_FLAP_NS after a recovery */
};

#endif
