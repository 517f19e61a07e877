/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The log of an instance: the messages of log.def, their levels, and the limits of their rates. */
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

/*
 * For one kind of message: the numbers of lines written and suppressed since @since_ns; 0: none
 * yet.
 */
struct lnet_log_rate {
	u64 since_ns;
	u32 nr, suppressed;
};

struct lnet_log {			/* shard/: all but @by */
	lnet_log_fn fn;			/* [const] NULL: nothing is logged */
	void *arg;			/* [const] */
	u8 level;		/* [const] the node does not write messages above this level */
	u64 job_ns;		/* when the worker next reports suppressed lines; WRITE_ONCE */
	/* leaf lock; a thread may lock it while it holds another leaf lock */
	spinlock_t lock;
	struct lnet_log_rate rate[LNET_NR_LOGS];	/* [lock] */
	/*
	 * control/: user who requested the current change; the node processes one request at a time
	 */
	char by[LNET_LOG_BY_MAX];
};

#endif
