/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver. A program registers it with an instance. */
#ifndef LNET_SOCKLND_H
#define LNET_SOCKLND_H

#include <lnet/types.h>

LNET_BEGIN_DECLS

struct lnet_lnd_ops;

/*
 * The driver implements stock LNet's TCP protocol (versions 3 and 4). All its state belongs to an
 * NI. NIs of several nets may have the same address; one listener then serves all of them.
 *
 * The driver identifies a peer by the source NID of its HELLO. If the tunable accept is "all", a
 * peer may connect from a port above 1023. The address in the NID of such a peer must be the source
 * address of the connection. Stock LNet identifies such a peer by address and port.
 */
extern const struct lnet_lnd_ops lnet_socklnd_ops;

LNET_END_DECLS

#endif
