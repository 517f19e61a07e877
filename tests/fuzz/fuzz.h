/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that all fuzzers use: reading an input, and the asserts of the unit tests' worlds,
 * which end the process.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdio.h>
#include "plat.h"

/* libFuzzer calls this function with any bytes, many times in one process. Returns 0. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* The rest of an input. Numbers are little-endian, and 0 beyond its end. */
struct fuzz_in {
	const u8 *at, *end;
};

static inline struct fuzz_in fuzz_begin(const u8 *data, size_t size)
{
	return (struct fuzz_in){ data, data + size };
}

static inline bool fuzz_more(const struct fuzz_in *in)
{
	return in->at < in->end;
}

u8 fuzz_u8(struct fuzz_in *in);
u16 fuzz_u16(struct fuzz_in *in);
u32 fuzz_u32(struct fuzz_in *in);
u64 fuzz_u64(struct fuzz_in *in);
/*
 * Returns the next *len bytes, fewer at the end, as a copy of exactly that size, so that the
 * sanitizer detects a read beyond it. The caller frees it with free().
 */
u8 *fuzz_bytes(struct fuzz_in *in, size_t *len);
FILE *fuzz_null(void);		/* for output that nobody reads */

#endif
