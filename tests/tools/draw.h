/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pseudo-random numbers from a seed, for tools that send random requests (xorshift of 64 bits). */
#ifndef TESTS_TOOLS_DRAW_H
#define TESTS_TOOLS_DRAW_H

#include <stdint.h>

static uint64_t state;		/* initially the seed; not 0 */

/* Returns a number below @limit, which is not 0. */
static uint32_t draw(uint32_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % limit;
}

#endif
