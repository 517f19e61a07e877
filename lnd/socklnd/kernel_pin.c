/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends payload pages by reference, as a program does with MSG_ZEROCOPY. The kernel reports when
 * the last packet that references the pages is freed. So the pages stay pinned exactly as long as
 * necessary. This includes packets that are retransmitted, that wait in a device or queue, or that
 * belong to a reset socket.
 *
 * If packets are looped back to a receiver on this machine (veth, lo), the kernel copies the pages
 * before delivery, which saves nothing. On such devices, the driver copies the payload at once.
 */
#include "lnd/socklnd/kernel.h"
#include "lnet/kernel/compat_net.h"
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/uio.h>
#include <net/dst.h>

#define BVECS_MAX	64U

/*
 * Bits that two threads set in any order. The thread that sets the second of these bits makes the
 * driver complete the attempt.
 */
enum { PIN_FREE = 1, PIN_AWAITED = 2 };

struct kern_pin {
	struct sock_pin pin;		/* first */
	struct ubuf_info ubuf;
	struct kern_ni *kn;
	atomic_t state;
};

static struct kern_pin *kern_pin(struct sock_pin *pin)
{
	return container_of(pin, struct kern_pin, pin);
}

/*
 * Any context. As soon as PIN_FREE is set, another thread may free the pin, so the code below does
 * not read the pin again. The NI exists for an RCU grace period after its last pin was freed.
 */
static void on_pin_released(struct sk_buff *skb, struct ubuf_info *ubuf, bool success)
{
	struct kern_pin *kp = container_of(ubuf, struct kern_pin, ubuf);
	struct kern_ni *kn = kp->kn;

	if (!refcount_dec_and_test(&ubuf->refcnt))
		return;
	rcu_read_lock();
	if (atomic_fetch_or(PIN_FREE, &kp->state) & PIN_AWAITED)
		lnet_env_poll_raise(&kn->tick, LNET_POLL_TURN);
	rcu_read_unlock();
}

LNET_UBUF_OPS(pin_ops, on_pin_released);

/* ---- payloads that may be sent by reference ---- */

static struct page *page_at(const void *at)
{
	if (is_vmalloc_addr(at))
		return vmalloc_to_page(at);
	return virt_addr_valid(at) ? virt_to_page(at) : NULL;
}

static bool pages_are_good(const struct lnet_frag *frag)
{
	const u8 *at = (u8 *)((unsigned long)frag->base & PAGE_MASK);
	const u8 *end = (u8 *)frag->base + frag->len;
	struct page *page;

	for (; at < end; at += PAGE_SIZE) {
		page = page_at(at);
		if (!page || !sendpage_ok(page))
			return false;
	}
	return true;
}

static bool payload_is_good(const struct lnet_buf *payload)
{
	struct lnet_frag frag[16];
	u32 pos = 0;
	unsigned int i, nr;

	while (pos < payload->len) {
		nr = lnet_buf_frags(payload, pos, payload->len - pos, frag, ARRAY_SIZE(frag));
		for (i = 0; i < nr; i++) {
			if (!pages_are_good(&frag[i]))
				return false;
			pos += frag[i].len;
		}
	}
	return true;
}

/*
 * Returns true if the device is on a bus (or by_reference is 2), and can send packets of several
 * fragments.
 */
static bool device_is_good(struct sock *sk)
{
	struct dst_entry *dst = sk_dst_get(sk);
	bool good = false;

	if (dst && sk->sk_route_caps & NETIF_F_SG)
		good = sock_param(by_reference) == 2 || dst->dev->dev.parent;
	dst_release(dst);
	return good;
}

struct sock_pin *kern_pin_new(struct sock_conn *c, const struct lnet_buf *payload)
{
	struct kern_pin *kp;

	if (!sock_param(by_reference) || !kern_conn(c)->sock ||
	    !device_is_good(kern_conn(c)->sock->sk) || !payload_is_good(payload))
		return NULL;
	kp = kzalloc(sizeof(*kp), GFP_NOFS | __GFP_NOWARN);
	if (!kp)
		return NULL;
	kp->kn = kern_ni(c->sn);
	kp->kn->has_pinned = true;
	lnet_ubuf_init(&kp->ubuf, &pin_ops);
	return &kp->pin;
}

/* ---- writing ---- */

static unsigned int bvecs_fill(struct bio_vec *to, const struct kvec *vec, unsigned int nr,
			       size_t *len)
{
	unsigned int used = 0, i;

	*len = 0;
	for (i = 0; i < nr; i++) {
		u8 *at = vec[i].iov_base, *end = at + vec[i].iov_len;

		while (at < end && used < BVECS_MAX) {
			u32 part = min_t(size_t, end - at, PAGE_SIZE - offset_in_page(at));

			bvec_set_page(&to[used++], page_at(at), part, offset_in_page(at));
			at += part;
			*len += part;
		}
	}
	return used;
}

ssize_t kern_write_pinned(struct sock_conn *c, struct sock_pin *pin, const struct kvec *vec,
			  unsigned int nr)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_ZEROCOPY,
			      .msg_ubuf = &kern_pin(pin)->ubuf };
	struct bio_vec pages[BVECS_MAX];
	unsigned int flags = memalloc_noreclaim_save();
	size_t len;
	ssize_t n;

	nr = bvecs_fill(pages, vec, nr, &len);
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, pages, nr, len);
	n = sock_sendmsg(kern_conn(c)->sock, &msg);
	memalloc_noreclaim_restore(flags);
	return n;
}

void kern_unpin(struct sock_pin *pin)
{
	net_zcopy_put(&kern_pin(pin)->ubuf);
}

bool kern_pin_is_free(struct sock_pin *pin)
{
	return atomic_fetch_or(PIN_AWAITED, &kern_pin(pin)->state) & PIN_FREE;
}

/* All sockets are freed and no attempt follows, so devices soon free the remaining packets. */
void kern_pins_end(struct kern_ni *kn)
{
	struct lnet_pass p;
	bool none = false;

	if (!kn->has_pinned)
		return;
	while (!none) {
		lnet_pass_begin(&p, kn->sn.ln, LNET_PASS_DRIVER);
		sock_lock(&p, &kn->sn);
		sock_pins_reap(&p, &kn->sn);
		none = list_empty(&kn->sn.pins);
		sock_unlock(&p, &kn->sn);
		lnet_pass_end(&p);
		if (!none)
			usleep_range(500, 1000);
	}
	synchronize_rcu();
}
