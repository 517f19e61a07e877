/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of api.c that folders of the core call. */
#ifndef LNET_CORE_CALLS_H
#define LNET_CORE_CALLS_H

#include "model/model.h"

/* ---- api.c ----------------------------------------------------------------------------------- */
/* lnet_get() for the core: may use portal 0; no session negotiation first. @flags: LNET_OPF_x */
int lnet_get_core(struct lnet *ln, const struct lnet_xfer *x, u32 flags);
/* As lnet_ping(), for an operator: ends as soon as the peer has rejected it on every path. */
int lnet_ping_urgent(struct lnet *ln, const struct lnet_nid *nid, const struct lnet_nid *source,
		     u64 timeout_ns, lnet_ping_done_t done, void *arg);

#endif
