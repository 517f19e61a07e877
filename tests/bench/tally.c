/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Measures the processor time that a client of a self-test uses for statistics, per reply. */
#include <stdio.h>
#include <time.h>
#include "selftest/plan.h"
#include "selftest/tally.h"

#define ANSWERS	20000000U

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A request is counted in the tally of the test and in that of its destination. */
static void answer(struct lst_tally t[2], u64 ns, const struct lnet_process *self)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		t[i].c[LST_T_sent]++;
		t[i].c[LST_T_received]++;
		t[i].c[LST_T_bytes_out] += 64;
		t[i].c[LST_T_bytes_in] += 64;
		t[i].last_ns = max(t[i].last_ns, ns);
		lst_tally_time(&t[i], ns, self);
	}
}

int main(void)
{
	static struct lst_tally t[2];
	struct lnet_process self = { .pid = LNET_PID };
	double begin, with, without;
	u64 sum = 0;
	u32 i;

	if (lnet_nid_parse(&self.nid, "10.0.0.1@tcp"))
		return 1;
	lst_tally_init(&t[0]);
	lst_tally_init(&t[1]);
	begin = cpu_ns();
	for (i = 0; i < ANSWERS; i++)
		sum += lst_mix(i) >> 44;
	without = cpu_ns() - begin;
	begin = cpu_ns();
	for (i = 0; i < ANSWERS; i++)
		answer(t, lst_mix(i) >> 44, &self);
	with = cpu_ns() - begin;
	if (t[0].nr_times != ANSWERS || t[1].sum_ns.lo != sum)
		return 1;
	printf("%.1f\n", (with - without) / ANSWERS);
	return 0;
}
