/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the frequency of the time stamp counter in kHz, or nothing on a machine without one. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>

#define TRIES	100
#define APART	100000000	/* ns */

struct reading {
	int64_t ns, tsc;
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Returns the one of many readings with the shortest time between its two reads of the clock. */
static struct reading reading(void)
{
	struct reading best = { 0 };
	int64_t before, tsc, took, least = INT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		before = now();
		tsc = (int64_t)__rdtsc();
		took = now() - before;
		if (took >= least)
			continue;
		least = took;
		best = (struct reading){ before + took / 2, tsc };
	}
	return best;
}

int main(void)
{
	struct reading from = reading(), to;

	nanosleep(&(struct timespec){ .tv_nsec = APART }, NULL);
	to = reading();
	printf("%lld\n", (long long)((to.tsc - from.tsc) * 1000000 / (to.ns - from.ns)));
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
