/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contents and portals of verified requests, and the errors to plant in them; shared by
 * lnetperf and the load in the kernel (tests/vm/load), which exchange them.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include "plat.h"

#define PERF_PORTAL_PUT	11	/* verified PUTs */
#define PERF_PORTAL_GET	12	/* GETs of a known pattern */
#define PERF_MAX_SIZE	(1u << 20)
#define PERF_GET_BYTES	(2 * PERF_MAX_SIZE)
#define PERF_PAYLOAD_MIN 32

/* Errors planted in requests now and then, which the oracle must find. */
enum perf_plant { PLANT_NONE, PLANT_LOST, PLANT_DUP, PLANT_CORRUPT, PLANT_REORDER };
#define PERF_PLANT_EVERY 97

void perf_payload_init(void);	/* called once, before the others */
/* @len: a multiple of 8, at least PERF_PAYLOAD_MIN */
void perf_payload_fill(void *buf, u32 len, u64 id);
bool perf_payload_good(const void *buf, u32 len, u64 id);
/* Finds a payload at @buf, at most @max long. Returns its length and *id, else 0. */
u32 perf_payload_find(const void *buf, size_t max, u64 *id);
/* The pattern of @len bytes (a multiple of 8) at @offset of the memory that GETs read. */
void perf_pattern_fill(void *buf, u32 offset, u32 len);
bool perf_pattern_good(const void *buf, u32 offset, u32 len);

#endif
