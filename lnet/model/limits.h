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
 * Messages per doorbell: of a longer run the first leave while the rest is being made, so that both
 * ends work at once. Half of what is under way, within these bounds, and with it what is left if
 * that is less than half as many: see manual/performance.md.
 */
#define LNET_BELL_BURST		32U
#define LNET_BELL_BURST_MAX	128U
#define LNET_EVENTS_PER_PASS	128
#define LNET_PASS_TURNS		8U	/* deliveries of events in one pass */
/* A router may not read more of a message aside: larger ones stop a connection when they wait. */
#define LNET_LARGE		65536U
#define LNET_POOL_LOW		64	/* attempts a shard keeps */
#define LNET_RESERVE_LOW	4	/* operations, events: with fewer a lock is given up */
#define LNET_SLOTS_LOW		8	/* fewer free ones: make more before the next lock */
#define LNET_FLAP_NS		(60 * (u64)NSEC_PER_SEC)	/* fails again within: it flaps */
#define LNET_MAX_SHARDS		64
#define LNET_MAX_LNDS		8

#endif
