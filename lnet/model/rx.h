/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A message being received: the states of struct lnet_rx, which is in lnet/lnd.h; receive/. */
#ifndef LNET_MODEL_RX_H
#define LNET_MODEL_RX_H

#include <lnet/lnd.h>

enum lnet_rx_state {
#define STATE(s, pc, buf) s,
#define EDGE(a, b)
#include "model/states/rx.def"
#undef STATE
#undef EDGE
	LNET_NR_RX_STATES
};

#endif
