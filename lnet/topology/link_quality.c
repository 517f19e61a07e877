/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes the weight of an NI: the ratio of its current to its highest link speed, reduced by
 * packet loss. lnet_select() selects an NI in proportion to its weight.
 *
 * The loss is the lowest of several successive samples. So one burst of losses, for example when
 * the link goes down and comes up, does not count. If the loss has no new samples, it is halved
 * after a delay, so that selection tries a repaired link again. If the link is lossy again soon
 * afterwards, the next delay is twice as long.
 *
 * Damping: if a link goes down soon after it came up, its NI is damped when the link next comes up.
 * Each damping is twice as long as the one before, up to a bound. An NI whose link stays up for a
 * while is not damped. The link of a damped NI is up, and messages still test it. But lnet_select()
 * ranks the NI after all NIs in service, and peers see it as down.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"

#define SAMPLE_SENT	256U	/* a sample of the loss has at least this number of sent packets */
#define SAMPLE_NS	(200 * (u64)NSEC_PER_MSEC)	/* its duration, at least */
#define HALVE_NS	(5 * (u64)NSEC_PER_SEC)
#define HALVE_MAX_NS	(HALVE_NS << 6)			/* bound of the doubled delay */
#define LOOK_NS		((u64)NSEC_PER_SEC)
#define HOLD_FIRST_NS	(100 * (u64)NSEC_PER_MSEC)
#define BY_LOSS_MIN	10U	/* lowest weight by loss, so that messages still test the link */

static bool is_lossy(const struct lnet_loss *loss)
{
	return loss->ppm > LNET_LOSS_FREE_PPM;
}

/* [nid_lock] */
static void ni_weigh(struct lnet_ni *ni)
{
	u32 by_speed = LNET_WEIGHT_MAX, by_loss = LNET_WEIGHT_MAX, mbit = READ_ONCE(ni->link_speed);

	if (mbit && mbit < ni->full_mbit)
		by_speed = (u32)div_u64((u64)mbit * LNET_WEIGHT_MAX, ni->full_mbit);
	if (is_lossy(&ni->loss))
		by_loss = max(LNET_LOSS_FREE_PPM * LNET_WEIGHT_MAX / ni->loss.ppm, BY_LOSS_MIN);
	WRITE_ONCE(ni->degradation,
		   (u16)(LNET_WEIGHT_MAX - max(by_speed * by_loss / LNET_WEIGHT_MAX, 1U)));
}

/*
 * [nid_lock] Sets the effective loss of @ni, and computes the weight of @ni. Also counts how often
 * the loss of @ni has returned after it had ended.
 */
static void loss_set(struct lnet_ni *ni, u32 ppm, u64 now_ns)
{
	struct lnet_loss *loss = &ni->loss;
	bool was = is_lossy(loss);

	loss->ppm = ppm;
	loss->set_ns = now_ns;
	if (!was && is_lossy(loss))
		lnet_relapses_fail(&loss->relapses, now_ns);
	if (was && !is_lossy(loss))
		lnet_relapses_recover(&loss->relapses, now_ns);
	ni_weigh(ni);
}

/*
 * Returns the lowest loss of the last samples. If that is below the effective loss, returns the
 * mean of both.
 */
static u32 loss_seen(struct lnet_loss *loss, u32 ppm)
{
	u32 least = ppm;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(loss->last); i++)
		least = min(least, loss->last[i]);
	for (i = ARRAY_SIZE(loss->last) - 1; i; i--)
		loss->last[i] = loss->last[i - 1];
	loss->last[0] = ppm;
	return least >= loss->ppm ? least : loss->ppm - (loss->ppm - least) / 2;
}

void lnet_ni_loss(struct lnet_ni *ni, u32 sent, u32 lost)
{
	u64 now_ns = ni->ln->env->ops->now_ns(ni->ln->env);
	struct lnet_loss *loss = &ni->loss;
	bool lossy;
	u32 ppm;

	spin_lock(&ni->ln->nid_lock);
	loss->sent += sent;
	loss->lost += lost;
	loss->now_sent += sent;
	loss->now_lost += lost;
	if (!loss->since_ns)
		loss->since_ns = now_ns;
	if (loss->now_sent >= SAMPLE_SENT && now_ns - min(now_ns, loss->since_ns) >= SAMPLE_NS) {
		ppm = (u32)div_u64((u64)min(loss->now_lost, loss->now_sent) * 1000000,
				   loss->now_sent);
		loss_set(ni, loss_seen(loss, ppm), now_ns);
		loss->now_sent = loss->now_lost = 0;
		loss->since_ns = now_ns;
	}
	lossy = is_lossy(loss);
	spin_unlock(&ni->ln->nid_lock);
	if (unlikely(lossy))
		lnet_job_schedule(ni->ln, &ni->ln->weigh_ns, now_ns + LOOK_NS);
}

/* ---- damping --------------------------------------------------------------------------------- */

void lnet_flap_seen(struct lnet_ni *ni, bool down, u64 now_ns)
{
	struct lnet_flap *flap = &ni->flap;
	u64 hold_ns = 0;

	lnet_ni_mark(ni, LNET_MARK(DAMPED), false);
	if (down) {
		lnet_relapses_fail(&flap->relapses, now_ns);
		return;
	}
	lnet_relapses_recover(&flap->relapses, now_ns);
	if (flap->relapses.nr)
		hold_ns = lnet_doubled(HOLD_FIRST_NS, flap->relapses.nr - 1U,
				       READ_ONCE(ni->ln->tun.flap_hold));
	flap->until_ns = now_ns + hold_ns;
	if (!hold_ns)
		return;
	lnet_ni_mark(ni, LNET_MARK(DAMPED), true);
	lnet_job_schedule(ni->ln, &ni->ln->flap_ns, flap->until_ns);
}

void lnet_flaps_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	u64 next_ns = U64_MAX;
	struct lnet_ni *ni;

	if (p->now_ns < READ_ONCE(ln->flap_ns))
		return;
	spin_lock(&ln->nid_lock);
	list_for_each_entry(ni, &ln->nis, link)
		if (lnet_ni_marked(ni, LNET_MARK(DAMPED)) && p->now_ns < ni->flap.until_ns)
			next_ns = min(next_ns, ni->flap.until_ns);
		else if (lnet_ni_mark(ni, LNET_MARK(DAMPED), false))
			lnet_ni_advertise(ni);
	WRITE_ONCE(ln->flap_ns, next_ns);
	spin_unlock(&ln->nid_lock);
}

/* ---- weights, by the worker ------------------------------------------------------------------ */

void lnet_weights_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	struct lnet_loss *loss;
	struct lnet_ni *ni;
	bool lossy = false;
	u64 idle_ns;

	if (p->now_ns < READ_ONCE(ln->weigh_ns))
		return;
	WRITE_ONCE(ln->weigh_ns, U64_MAX);
	spin_lock(&ln->nid_lock);
	list_for_each_entry(ni, &ln->nis, link) {
		loss = &ni->loss;
		idle_ns = p->now_ns - min(p->now_ns, loss->set_ns);
		if (is_lossy(loss) &&
		    idle_ns >= lnet_doubled(HALVE_NS, loss->relapses.nr, HALVE_MAX_NS)) {
			memset(loss->last, 0, sizeof(loss->last));
			loss_set(ni, loss->ppm / 2, p->now_ns);
		}
		lossy |= is_lossy(loss);
	}
	spin_unlock(&ln->nid_lock);
	if (lossy)
		lnet_job_schedule(ln, &ln->weigh_ns, p->now_ns + LOOK_NS);
}

/* Computes all weights. The full speed of a link is the highest speed that it has had. */
void lnet_weights_follow(struct lnet *ln)
{
	struct lnet_ni *ni;

	spin_lock(&ln->nid_lock);
	list_for_each_entry(ni, &ln->nis, link) {
		ni->full_mbit = max(ni->full_mbit, READ_ONCE(ni->link_speed));
		ni_weigh(ni);
	}
	spin_unlock(&ln->nid_lock);
}

void lnet_weight_get(struct lnet_ni *ni, struct lnet_weight_view *v)
{
	u64 now_ns = ni->ln->env->ops->now_ns(ni->ln->env);

	spin_lock(&ni->ln->nid_lock);
	*v = (struct lnet_weight_view) {
		.weight = LNET_WEIGHT_MAX - ni->degradation, .full_mbit = ni->full_mbit,
		.loss_ppm = ni->loss.ppm, .sent = ni->loss.sent, .lost = ni->loss.lost,
		.flaps = ni->flap.relapses.nr,
	};
	if (lnet_ni_marked(ni, LNET_MARK(DAMPED)))
		v->damped_ms = (u32)div_u64(ni->flap.until_ns - min(now_ns, ni->flap.until_ns),
					    NSEC_PER_MSEC);
	spin_unlock(&ni->ln->nid_lock);
}
