/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fixed sizes and bounds of an instance. Tunables are the bounds that an operator can set. */
#ifndef LNET_MODEL_LIMITS_H
#define LNET_MODEL_LIMITS_H

#include "plat.h"

#define LNET_MAX_NIS		128	/* per instance, loopback included */
#define LNET_MAX_PATHS		64	/* per peer: bits of op->tried */
#define LNET_HEALTH_MAX		1000
#define LNET_PASS_BURST		64	/* messages per lock hold */
/*
 * Messages per doorbell. The driver sends the first messages of a longer sequence while the core
 * creates the others, so the sender and the receiver work in parallel. The number is half of the
 * operations in flight, but at least LNET_DOORBELL_BURST and at most LNET_DOORBELL_BURST_MAX. If
 * fewer than half of this number of messages remain, the same doorbell sends them also: see
 * manual/performance.md.
 */
#define LNET_DOORBELL_BURST		32U
#define LNET_DOORBELL_BURST_MAX	128U
#define LNET_EVENTS_PER_PASS	128
/* number of times that one pass delivers events, at most */
#define LNET_PASS_ROUNDS		8U
/*
 * The longest payload that a router reads aside. While a longer message waits, the router reads
 * nothing from its connection.
 */
#define LNET_LARGE		65536U
#define LNET_POOL_LOW		64	/* attempts that a shard caches */
/* operations and events: the shard refills its pool below this number */
#define LNET_POOL_REFILL	4
/* the node allocates more slots when fewer than this are free */
#define LNET_SLOTS_LOW		8
/* a link that fails again within this time is flapping */
#define LNET_FLAP_NS		(60 * (u64)NSEC_PER_SEC)
#define LNET_MAX_SHARDS		64
#define LNET_MAX_LNDS		8

#endif
