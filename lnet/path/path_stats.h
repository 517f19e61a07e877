/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is measured of a path: times of its messages, and how fast it gets done what it is given. */
#ifndef LNET_PATH_STATS_H
#define LNET_PATH_STATS_H

#include "plat.h"
#include "path/expected_time.h"

/* log2 with 2 bits of mantissa, 512 ns to 6.4 s: see stats.c */
#define LNET_HIST_BUCKETS 96
struct lnet_hist {
	u16 bucket[LNET_HIST_BUCKETS];
};
struct lnet_times {
	u64 count, sum_ns, min_ns, max_ns;
};
struct lnet_path_stats {		/* allocated at first traffic */
	union {
		struct list_head link;	/* in sh->stats_free until a path has it */
		/* hand-over to the driver until it is done: PUTs sent once only */
		struct lnet_times put_egress;
	};
	struct lnet_times egress;	/* the same of all else */
	struct lnet_times get_rtt, put_ack;	/* request to answer */
	struct lnet_hist sent, answered;	/* of both of each */
	struct lnet_load load;
};

#endif
