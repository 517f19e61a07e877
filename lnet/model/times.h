/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Measured times: sums and histograms. */
#ifndef LNET_MODEL_TIMES_H
#define LNET_MODEL_TIMES_H

#include "plat.h"

/* buckets by the logarithm to base 2, with 2 bits of mantissa: 512 ns to 6.4 s */
#define LNET_HIST_BUCKETS 96
struct lnet_hist {
	u16 bucket[LNET_HIST_BUCKETS];
};
struct lnet_times {
	u64 count, sum_ns, min_ns, max_ns;
};

#endif
