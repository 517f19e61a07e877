/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that shard.c offers to pass.c. */
#ifndef LNET_PASS_H
#define LNET_PASS_H

#include "model/core.h"

/*
 * LNET_MORE: what this pass sends waits in the shard for the next pass without it, or the worker;
 * what a handler sends, for the pass that called it. After a burst it goes all the same.
 */
void lnet_more_leave(struct lnet_pass *p);
/* What calls with LNET_MORE left leaves with this pass. */
void lnet_more_collect(struct lnet_pass *p);

#endif
