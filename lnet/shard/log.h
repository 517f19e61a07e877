/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The log of an instance: messages of log.def, with levels and limits of their rate. */
#ifndef LNET_LOG_H
#define LNET_LOG_H

#include "model/log.h"
#include "plat.h"
#include <lnet/lnet.h>

/* log.c: each of log.def. Any context in which the core runs; a shard or leaf lock may be held. */
#define LOG(name, level, most, title, params, ...) void lnet_log_##name params;
#include "model/log.def"
#undef LOG

void lnet_log_init(struct lnet *ln, const struct lnet_cfg *cfg);
/* Is anybody there to read it? For what is costly to find out. */
bool lnet_log_is_on(const struct lnet *ln);
/* When lnet_log_work() has something to do. */
u64 lnet_log_look_ns(const struct lnet *ln);
/* Of shard 0: how many lines were suppressed, when their time is over. No lock held. */
void lnet_log_work(struct lnet *ln, u64 now_ns);
/* The same at once: nothing is logged after it. */
void lnet_log_flush(struct lnet *ln);

#endif
