/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the lower folders of the core need of higher ones: lnet/hooks.c implements it. This is the
 * only way up; tests/lint/layers allows no other, and at most 40 names here.
 */
#ifndef LNET_SHARD_HOOKS_H
#define LNET_SHARD_HOOKS_H

#include "model/core.h"

/* cfg_mutex held: *@tunable, one of ln->tun, was set; @changed: to another value */
void lnet_hook_tuned(struct lnet *ln, const u64 *tunable, bool changed);

#endif
