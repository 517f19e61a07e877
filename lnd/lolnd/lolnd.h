/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loopback driver, which every instance has from its creation on. */
#ifndef LNET_LOLND_H
#define LNET_LOLND_H

#include <lnet/lnd.h>

extern const struct lnet_lnd_ops lnet_lo_ops;

#endif
