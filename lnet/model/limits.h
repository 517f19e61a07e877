/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fixed sizes and bounds of an instance. Bounds that an operator sets are tunables. */
#ifndef LNET_MODEL_LIMITS_H
#define LNET_MODEL_LIMITS_H

#include "plat.h"

#define LNET_MAX_NIS		128	/* per instance, loopback included */
#define LNET_MAX_PATHS		64	/* per peer: bits of op->tried */
#define LNET_HEALTH_MAX		1000
#define LNET_PASS_BURST		64	/* messages per lock hold */
/*
 * Messages per doorbell. The first messages of a longer run are sent while the node creates the
 * rest, so both ends work at once. The number is half of the operations in flight, within these
 * bounds. If less than half as many would remain, they are sent too: see manual/performance.md.
 */
#define LNET_DOORBELL_BURST		32U
#define LNET_DOORBELL_BURST_MAX	128U
#define LNET_EVENTS_PER_PASS	128
#define LNET_PASS_ROUNDS		8U	/* rounds of event delivery in one pass */
/* A router reads no larger message aside: one that waits stops its connection. */
#define LNET_LARGE		65536U
#define LNET_POOL_LOW		64	/* attempts that a shard caches */
#define LNET_POOL_REFILL	4	/* operations, events: refilled below this */
#define LNET_SLOTS_LOW		8	/* free slots: more are made below this */
#define LNET_FLAP_NS		(60 * (u64)NSEC_PER_SEC)	/* fails again within: flapping */
#define LNET_MAX_SHARDS		64
#define LNET_MAX_LNDS		8

#endif
