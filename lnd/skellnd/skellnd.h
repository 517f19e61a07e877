/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The skeleton of a driver. */
#ifndef LNET_SKELLND_H
#define LNET_SKELLND_H

#include <lnet/lnd.h>

extern const struct lnet_lnd_ops lnet_skel_ops;

#endif
