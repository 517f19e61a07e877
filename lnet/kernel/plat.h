/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The platform of the core in the kernel: a closed list of kernel headers. The core may use a name
 * of these headers only if lnet/user/plat.h also defines the name.
 */
#ifndef LNET_KERNEL_PLAT_H
#define LNET_KERNEL_PLAT_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/uio.h>
#ifdef LNET_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
#include "trace.h"

/*
 * Empty here: clang checks lock annotations in the user build; sparse and lockdep check the kernel
 * build.
 */
#define __lnet_acquires
#define __lnet_releases
#define __must_hold_shard
#define __excludes_shard
#define __guarded_by_shard
#define __no_lock_check

/* Identifies the calling thread among the existing threads. Use it only for comparisons. */
#define plat_self()		((const void *)current)

static inline void lnet_shard_role_take(void) {}
static inline void lnet_shard_role_drop(void) {}

/* Linux 6.1 has no abs_diff(). */
#ifndef abs_diff
#define abs_diff(a, b) ({						\
	__auto_type plat_a_ = (a);					\
	__auto_type plat_b_ = (b);					\
	plat_a_ > plat_b_ ? plat_a_ - plat_b_ : plat_b_ - plat_a_; })
#endif

#endif
