/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hides differences between kernel versions; the probes of lnet/Kbuild define LNET_HAVE_*. */
#ifndef LNET_KERNEL_COMPAT_H
#define LNET_KERNEL_COMPAT_H

#include <linux/hrtimer.h>

/* The timer expires at an absolute time of CLOCK_MONOTONIC; @fn runs in hard irq. */
static inline void lnet_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*fn)(struct hrtimer *timer))
{
#ifdef LNET_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = fn;
#endif
}

#endif
