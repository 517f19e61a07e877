/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of wire/: session replies as bytes. Headers and ping infos are in lnet/wire.h. */
#ifndef LNET_WIRE_WIRE_H
#define LNET_WIRE_WIRE_H

#include "plat.h"

/* ---- session_reply.c ------------------------------------------------------------------------- */
#define LNET_GRANT_SIZE 32	/* REPLY to a session open request */

/* Writes the REPLY to a session open request, LNET_GRANT_SIZE bytes. */
void lnet_grant_encode(u8 *buf, u32 W, u64 instance, u64 grant);
/* Reads the REPLY to a session open request. 0, -EPROTO */
int lnet_grant_decode(const u8 *buf, u32 len, u32 *W, u64 *instance, u64 *grant);

#endif
