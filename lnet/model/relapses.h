/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How often something failed soon after a recovery. The functions are in base/base.h. */
#ifndef LNET_MODEL_RELAPSES_H
#define LNET_MODEL_RELAPSES_H

#include "plat.h"

struct lnet_relapses {
	u64 well_ns;			/* last recovery; 0: none */
	u8 nr;				/* failures in a row within LNET_FLAP_NS after recovery */
};

#endif
