/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contents and portals of verified requests, and the errors that can be planted in them. lnetperf
 * and the load in the kernel (tests/vm/load) exchange such requests.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include "plat.h"

#define PERF_PORTAL_PUT	11	/* verified PUTs */
#define PERF_PORTAL_GET	12	/* GETs of a known pattern */
#define PERF_MAX_SIZE	(1u << 20)
#define PERF_GET_BYTES	(2 * PERF_MAX_SIZE)
#define PERF_PAYLOAD_MIN 32

/*
 * Errors that the client plants in some requests. The program tests/netns/oracle.c, which compares
 * the logs of client and server, must report these errors.
 */
enum perf_plant { PLANT_NONE, PLANT_LOST, PLANT_DUP, PLANT_CORRUPT, PLANT_REORDER };
#define PERF_PLANT_EVERY 97

void perf_payload_init(void);	/* called once, before the others */
/* Fills a payload. @len is a multiple of 8, and at least PERF_PAYLOAD_MIN. */
void perf_payload_fill(void *buf, u32 len, u64 id);
bool perf_payload_good(const void *buf, u32 len, u64 id);
/*
 * Finds a payload of at most @max bytes at @buf. Returns its length, and stores its ID in *@id.
 * Returns 0 if there is no payload.
 */
u32 perf_payload_find(const void *buf, size_t max, u64 *id);
/* Writes the pattern of memory that GETs read: @len bytes (a multiple of 8) from @offset on. */
void perf_pattern_fill(void *buf, u32 offset, u32 len);
bool perf_pattern_good(const void *buf, u32 offset, u32 len);

#endif
