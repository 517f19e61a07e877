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
 * Number of messages after which the core rings the doorbell of a driver: it calls flush(), so that
 * the driver sends them. The driver sends the first messages of a longer sequence while the core
 * creates the others. So the sender and the receiver work in parallel.
 *
 * One doorbell sends half as many messages as operations are in flight. This number is at least
 * LNET_DOORBELL_BURST and at most LNET_DOORBELL_BURST_MAX. If the remaining messages of the
 * sequence are fewer than half of the number, the same doorbell also sends them: see
 * manual/performance.md.
 */
#define LNET_DOORBELL_BURST		32U
#define LNET_DOORBELL_BURST_MAX	128U
#define LNET_EVENTS_PER_PASS	128
/* largest number of times that a pass (one visit of a thread to the core) delivers events */
#define LNET_PASS_ROUNDS		8U
/*
 * The longest payload that a router reads aside: into separate memory, because no router buffer is
 * available yet. While a longer message waits, the router reads nothing from its connection.
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
