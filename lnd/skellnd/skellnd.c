/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A driver skeleton to copy. It states the duties of each operation; its fabric reaches no peer.
 *
 * To make a driver of the skeleton, rename it, choose a type of lnet/nid.h, and replace the code of
 * the fabric. Then run the test suite of tests/unit/contract.h on a pair of NIs of the driver.
 * lnet/lnd.h has the contracts.
 */
#include "plat.h"
#include <lnet/lnd.h>
#include "skellnd.h"

/*
 * The state of an NI, at ni->priv; zeroed at first. It is all state of the driver, which has no
 * static data.
 */
struct skel {
	/* the driver calls no function of the core while it holds this lock */
	spinlock_t lock;
	/* attempts that the driver has and has not completed, by att->link */
	struct list_head queue;
	bool stopped;
};

static struct skel *skel_of(struct lnet_ni *ni)
{
	return lnet_ni_priv(ni);
}

/*
 * Opens the resources of the fabric, and sets ni->ifname, dev_cpt and link_speed if known. May
 * sleep. No look-up finds the NI before this function returns 0. After an error, no resource may be
 * left.
 */
static int skel_start(struct lnet_ni *ni)
{
	struct skel *skel = skel_of(ni);

	spin_lock_init(&skel->lock);
	INIT_LIST_HEAD(&skel->queue);
	return 0;
}

static struct lnet_att *skel_att_dequeue_first(struct skel *skel)
{
	struct lnet_att *att;

	spin_lock(&skel->lock);
	att = list_first_entry_or_null(&skel->queue, struct lnet_att, link);
	if (att)
		list_del_init(&att->link);
	spin_unlock(&skel->lock);
	return att;
}

/*
 * First ensures that no new work begins, and that reader threads have returned. Then completes
 * attempts and receives (lnet_rx_done() with the reason), and drops references to peers. After the
 * return, the driver calls no function of the core for this NI.
 */
static void skel_stop(struct lnet_ni *ni)
{
	struct skel *skel = skel_of(ni);
	struct lnet_att *att;
	struct lnet_pass p;

	spin_lock(&skel->lock);
	skel->stopped = true;
	spin_unlock(&skel->lock);
	lnet_pass_begin(&p, lnet_ni_instance(ni), LNET_PASS_DRIVER);
	while ((att = skel_att_dequeue_first(skel)))
		lnet_att_done(&p, att, LNET_LOCAL_ABORTED, 0);
	lnet_pass_end(&p);
}

/*
 * Only queues the attempt; flush sends it. The driver owns att->lnd[] and att->link until it
 * completes @att. If the driver rejects @att, the message is not delivered: the driver sets the
 * reason in att->outcome.
 */
static int skel_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct skel *skel = skel_of(ni);
	bool stopped;

	spin_lock(&skel->lock);
	stopped = skel->stopped;
	if (!stopped)
		list_add_tail(&att->link, &skel->queue);
	spin_unlock(&skel->lock);
	if (!stopped)
		return 0;
	att->outcome = LNET_LOCAL_DROPPED;
	return -ESHUTDOWN;
}

/*
 * Hands all queued attempts to the fabric, with one doorbell: see lnet_att_hdr(),
 * lnet_att_payload(). If all bytes are handed over and the memory is free, calls
 * lnet_att_done(LNET_OK, epoch). If the memory is still in use, calls lnet_att_posted(epoch) now
 * and lnet_att_done() later. Never waits.
 *
 * A reader thread of the driver receives messages in a DRIVER pass. It calls lnet_rx_get() and
 * lnet_rx_begin(), and then follows the verdict. It calls lnet_pass_relax() before a system call or
 * a long copy.
 */
static void skel_flush(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct skel *skel = skel_of(ni);
	struct lnet_att *att;

	while ((att = skel_att_dequeue_first(skel))) /* this fabric rejects connections */
		lnet_att_done(p, att, LNET_REMOTE_DROPPED, 0);
}

/*
 * Returns true if @att was in the queue; now only the caller has @att. A driver must search its
 * queue for @att, because the core may cancel an attempt that the driver does not have. Such an
 * attempt is in a list of the core.
 */
static bool skel_att_dequeue(struct skel *skel, struct lnet_att *att)
{
	struct lnet_att *at;
	bool queued = false;

	spin_lock(&skel->lock);
	list_for_each_entry(at, &skel->queue, link) {
		if (at != att)
			continue;
		list_del_init(&att->link);
		queued = true;
		break;
	}
	spin_unlock(&skel->lock);
	return queued;
}

/*
 * With UNSENT, completes @att only if no byte was sent. With ABORT, completes @att soon in any
 * case: copies the unsent bytes, or resets the connection. Ignores attempts that the driver does
 * not have (any more).
 */
static void skel_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
			enum lnet_cancel how)
{
	if (skel_att_dequeue(skel_of(ni), att))
		lnet_att_done(p, att, LNET_CANCELED, 0);
}

/*
 * The final verdict on a message for which lnet_rx_begin() returned LATER. RECEIVE: receives the
 * payload as usual, and calls lnet_rx_done(). SKIP: does not call lnet_rx_done(). The core may call
 * this function before the reader's lnet_rx_begin() returns.
 */
static void skel_land(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
}

/*
 * Stops writing to rx->into, discards the remaining bytes, then calls lnet_rx_done(LNET_STOPPED).
 */
static void skel_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
}

/*
 * Called in a WORKER pass after lnet_ni_kick(): serves timeouts, work of callbacks, and work that a
 * CALL pass may not do.
 */
static void skel_work(struct lnet_pass *p, struct lnet_ni *ni)
{
	skel_flush(p, ni);
}

const struct lnet_lnd_ops lnet_skel_ops = {
	.owner = THIS_MODULE,
	.name = "skellnd",
	.type = LNET_LND_PTLF,		/* an obsolete type */
	.ni_priv_size = sizeof(struct skel),
	.inline_max = 4096,
	.peer_timeout = 180,
	.peer_credits = 8,
	.peer_buffer_credits = 0,
	.credits = 256,
	.ni_start = skel_start,
	.ni_stop = skel_stop,
	.send = skel_send,
	.flush = skel_flush,
	.work = skel_work,
	.cancel = skel_cancel,
	.receive = skel_land,
	.rx_stop = skel_rx_stop,
};
