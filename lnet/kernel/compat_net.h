/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hides socket differences between kernels; the probes of lnet/Kbuild define LNET_HAVE_*. */
#ifndef LNET_KERNEL_COMPAT_NET_H
#define LNET_KERNEL_COMPAT_NET_H

#include <linux/skbuff.h>
#include <net/sock.h>

/*
 * Forbids the socket to use current->task_frag. A thread may send from memory reclaim, which may
 * run in a page fault of code that is using the same task_frag.
 */
static inline void lnet_sock_no_task_frag(struct sock *sk)
{
#ifdef LNET_HAVE_SK_USE_TASK_FRAG
	sk->sk_use_task_frag = false;
#endif
}

/*
 * Sends by reference: LNET_UBUF_OPS(name, fn) defines the callback by which a packet drops its
 * reference, in any context. lnet_ubuf_init() initializes @ubuf with it and one reference.
 */
#ifdef LNET_HAVE_UBUF_INFO_OPS
#define LNET_UBUF_OPS(name, fn) static const struct ubuf_info_ops name = { .complete = fn }
typedef const struct ubuf_info_ops lnet_ubuf_ops_t;
#else
struct lnet_ubuf_ops {
	void (*complete)(struct sk_buff *skb, struct ubuf_info *ubuf, bool success);
};
#define LNET_UBUF_OPS(name, fn) static const struct lnet_ubuf_ops name = { .complete = fn }
typedef const struct lnet_ubuf_ops lnet_ubuf_ops_t;
#endif

static inline void lnet_ubuf_init(struct ubuf_info *ubuf, lnet_ubuf_ops_t *ops)
{
#ifdef LNET_HAVE_UBUF_INFO_OPS
	ubuf->ops = ops;
#else
	ubuf->callback = ops->complete;
#endif
	/*
	 * TCP sends clones of packets. Without these flags, the kernel would copy the data of the
	 * clones.
	 */
	ubuf->flags = SKBFL_ZEROCOPY_FRAG | SKBFL_DONT_ORPHAN;
	refcount_set(&ubuf->refcnt, 1);
}

#endif
