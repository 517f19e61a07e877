/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How often something failed soon after it had recovered: base/base.h has the functions. */
#ifndef LNET_MODEL_RELAPSES_H
#define LNET_MODEL_RELAPSES_H

#include "plat.h"

struct lnet_relapses {
	u64 well_ns;			/* when it last recovered; 0: it never failed */
	u8 nr;				/* failures in a row, each within LNET_FLAP_NS after that */
};

#endif
