/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where kernels differ in their sockets; LNET_HAVE_* is what the probes of lnet/Kbuild found. */
#ifndef LNET_KERNEL_COMPAT_NET_H
#define LNET_KERNEL_COMPAT_NET_H

#include <net/sock.h>

/* Sends may come from who frees memory, in the middle of a page fault: its fragment is in use. */
static inline void lnet_sock_no_task_frag(struct sock *sk)
{
#ifdef LNET_HAVE_SK_USE_TASK_FRAG
	sk->sk_use_task_frag = false;
#endif
}

#endif
