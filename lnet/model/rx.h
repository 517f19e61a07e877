/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The states of a received message: struct lnet_rx of lnet/lnd.h. receive/ writes the state. */
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
