/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver, to be registered with an instance. */
#ifndef LNET_SOCKLND_H
#define LNET_SOCKLND_H

#include <lnet/types.h>

LNET_BEGIN_DECLS

struct lnet_lnd_ops;

/*
 * Speaks stock LNet's TCP protocol (versions 3 and 4). Keeps no state of its own: everything hangs
 * on the NI. NIs of several nets may have one address: they share a listener. Peers are named by
 * the source NID of their HELLO. If accept is "all" and the port is above 1023, that NID must be
 * the source address (stock LNet names such a peer by address and port).
 */
extern const struct lnet_lnd_ops lnet_socklnd_ops;

LNET_END_DECLS

#endif
