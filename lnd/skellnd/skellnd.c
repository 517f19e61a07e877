/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The skeleton of a driver, to copy: each op with what it must see to, and a fabric that reaches
 * nobody.
 *
 * To make a driver of it: rename, choose a type of lnet/nid.h, replace what says "fabric", and run
 * the suite of tests/unit/contract.h over a pair of its NIs. Contracts stand in lnet/lnd.h.
 */
#include "plat.h"
#include <lnet/lnd.h>
#include "skellnd.h"

/* At ni->priv, zeroed: all that the driver has, as there is no static data. */
struct skel {
	spinlock_t lock;		/* never held while calling the core */
	struct list_head queue;		/* attempts taken and not given back, by att->link */
	bool stopped;
};

static struct skel *skel_of(struct lnet_ni *ni)
{
	return lnet_ni_priv(ni);
}

/*
 * Open what the fabric needs and say what was found out (ni->ifname, dev_cpt, link_speed). May
 * sleep. Until it returned 0 nobody finds the NI; after an error nothing may be left.
 */
static int skel_start(struct lnet_ni *ni)
{
	struct skel *skel = skel_of(ni);

	spin_lock_init(&skel->lock);
	INIT_LIST_HEAD(&skel->queue);
	return 0;
}

static struct lnet_att *take_first(struct skel *skel)
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
 * First see to it that nothing begins any more and readers have returned; then give everything
 * back: attempts, landings (lnet_rx_done() with why they broke), handles of peers. No upcall after
 * it returned.
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
	while ((att = take_first(skel)))
		lnet_att_done(&p, att, LNET_LOCAL_ABORTED, 0);
	lnet_pass_end(&p);
}

/*
 * Only queue: the bell comes with flush. att->lnd[] and att->link are ours until we give @att back.
 * Not taken is certainly not delivered: say why in att->outcome.
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
 * Ring the fabric's bell once for all that is queued: lnet_att_hdr() and lnet_att_payload() say
 * what to send. With all bytes handed over and the memory free: lnet_att_done(LNET_OK, epoch); with
 * the memory still referred to: lnet_att_posted(epoch) now, lnet_att_done() later. Never wait.
 *
 * What comes in is handled by a reader of ours, in a DRIVER pass: lnet_rx_get(), lnet_rx_begin(),
 * then by verdict; lnet_pass_relax() before a system call or a long copy.
 */
static void skel_flush(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct skel *skel = skel_of(ni);
	struct lnet_att *att;

	while ((att = take_first(skel)))	/* this fabric refuses connections */
		lnet_att_done(p, att, LNET_REMOTE_DROPPED, 0);
}

/*
 * True: @att was on the queue and is now ours alone. A driver must search its queue: the core may
 * cancel an attempt before send() or after its completion. The attempt is then on a list of the
 * core.
 */
static bool take(struct skel *skel, struct lnet_att *att)
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
 * UNSENT: only if no byte is on the wire. ABORT: at any price, soon: copy what is left, or reset
 * the connection. What we do not have (any more) is ignored.
 */
static void skel_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
			enum lnet_cancel how)
{
	if (take(skel_of(ni), att))
		lnet_att_done(p, att, LNET_CANCELED, 0);
}

/*
 * The last word about a message for which lnet_rx_begin() had said LATER: LAND as usual, with
 * lnet_rx_done(), or SKIP without. It may come before lnet_rx_begin() returned in the reader.
 */
static void skel_land(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
}

/* Write no more into rx->into, read the rest away, lnet_rx_done(LNET_STOPPED). */
static void skel_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
}

/*
 * A turn in a WORKER pass after lnet_ni_kick(): timeouts, what callbacks left, what CALL may not
 * do.
 */
static void skel_work(struct lnet_pass *p, struct lnet_ni *ni)
{
	skel_flush(p, ni);
}

const struct lnet_lnd_ops lnet_skel_ops = {
	.owner = THIS_MODULE,
	.name = "skellnd",
	.type = LNET_LND_PTLF,		/* a type nobody uses any more */
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
	.land = skel_land,
	.rx_stop = skel_rx_stop,
};
