/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The log of an instance: messages of log.def, with levels and limits of their rate. */
#ifndef LNET_MODEL_LOG_H
#define LNET_MODEL_LOG_H

#include "plat.h"
#include <lnet/lnet.h>

#define LNET_LOG_SPAN_NS	(10 * (u64)NSEC_PER_SEC)
#define LNET_LOG_BY_MAX		48

enum lnet_log_message {
#define LOG(name, ...) LNET_LOGM_##name,
#include "model/log.def"
#undef LOG
	LNET_NR_LOGS
};

/* The lines that were written of a message since @since_ns; 0: none yet. */
struct lnet_log_rate {
	u64 since_ns;
	u32 nr, suppressed;
};

struct lnet_log {			/* shard/: all but @by */
	lnet_log_fn fn;			/* [const] NULL: nothing is logged */
	void *arg;			/* [const] */
	u8 level;			/* [const] messages above it are not written */
	u64 job_ns;			/* when to report suppressed lines; WRITE_ONCE */
	spinlock_t lock;		/* leaf, may be taken under other leaves */
	struct lnet_log_rate rate[LNET_NR_LOGS];	/* [lock] */
	/* control/: who requested the current change; requests are processed one at a time */
	char by[LNET_LOG_BY_MAX];
};

#endif
