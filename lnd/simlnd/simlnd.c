/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Operations of the simulator's driver for the core, and its timer. */
#include "lnd/simlnd/simlnd.h"

#define TICK_NS (5 * SIM_MS)

static struct simlnd_ni *of(struct lnet_ni *ni)
{
	return *(struct simlnd_ni **)lnet_ni_priv(ni);
}

static int sim_ni_start(struct lnet_ni *ni)
{
	struct sim_node *node = sim_node_of(lnet_ni_instance(ni));
	struct simlnd_ni *sn;
	u32 n, rail;

	if (!sim_nid_where(lnet_ni_nid(ni), &n, &rail) || n != node->ix || rail >= SIM_RAILS)
		return -EADDRNOTAVAIL;
	sn = kzalloc(sizeof(*sn), GFP_KERNEL);
	if (!sn)
		return -ENOMEM;
	sn->ni = ni;
	sn->node = node;
	sn->w = node->w;
	sn->rail = rail;
	sn->life = node->life;
	sn->tick_ns = U64_MAX;
	INIT_LIST_HEAD(&sn->busy);
	INIT_LIST_HEAD(&sn->dirty);
	*(struct simlnd_ni **)lnet_ni_priv(ni) = sn;
	node->ni[rail] = sn;
	node->lnet_ni[rail] = ni;
	return 0;
}

static void sim_ni_stop(struct lnet_ni *ni)
{
	struct simlnd_ni *sn = of(ni);
	struct simlnd_end **slot;
	struct lnet_pass p;

	sn->stopped = true;
	lnet_pass_begin(&p, lnet_ni_instance(ni), LNET_PASS_DRIVER);
	simlnd_for_each_end(sn, slot)
		simlnd_close(&p, *slot, LNET_PATH_LOST, sim_chance(&sn->w->rng, 800), false);
	lnet_pass_end(&p);
	simlnd_for_each_end(sn, slot)
		simlnd_end_free(*slot);
	sn->node->ni[sn->rail] = NULL;
	sn->node->lnet_ni[sn->rail] = NULL;
	kfree(sn->slot);
	kfree(sn);
}

/* ---- sending --------------------------------------------------------------------------------- */

static int send_reject(struct simlnd_ni *sn, struct lnet_att *att)
{
	static const u8 how[] = { LNET_LOCAL_INTERRUPT, LNET_LOCAL_DROPPED, LNET_LOCAL_ABORTED,
				  LNET_LOCAL_NO_ROUTE };

	sn->w->count.messages++;
	sn->w->count.met++;
	att->outcome = how[sim_below(&sn->w->rng, ARRAY_SIZE(how))];
	return -EIO;
}

static int sim_att_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct simlnd_ni *sn = of(ni);
	struct simlnd_end *end;

	att->outcome = LNET_LOCAL_DROPPED;
	if (sn->stopped || (sn->node->link_down & 1U << sn->rail))
		return -ENETDOWN;
	end = simlnd_end_make(sn, lnet_peer_ni_nid(att->pni));
	if (!end)
		return -ENOMEM;
	if (simlnd_roll(sn->w, SIM_REFUSE, sn->rail, sn->node->ix, end->peer_node))
		return send_reject(sn, att);
	att->lnd[0] = NULL;
	att->lnd[1] = end;
	list_add_tail(&att->link, &end->queue);
	simlnd_end_busy(end);
	if (list_empty(&end->dirty))
		list_add_tail(&end->dirty, &sn->dirty);
	return 0;
}

static void sim_ni_flush(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct simlnd_ni *sn = of(ni);
	struct simlnd_end *end;

	while (!list_empty(&sn->dirty)) {
		end = list_first_entry(&sn->dirty, struct simlnd_end, dirty);
		list_del_init(&end->dirty);
		simlnd_pump(p, end);
	}
}

static void unqueue(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how)
{
	list_del_init(&att->link);
	att->lnd[1] = NULL;
	lnet_att_done(p, att, how, 0);
}

/*
 * Completes an attempt in flight at once, or soon. The link sends the bytes from a copy, or
 * discards them.
 */
static void sim_att_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
			   enum lnet_cancel how)
{
	struct simlnd_ni *sn = of(ni);
	struct simlnd_msg *m = att->lnd[0];

	if (att->lnd[1]) {
		unqueue(p, att, LNET_CANCELED);
		return;
	}
	if (how == LNET_CANCEL_UNSENT || !m)
		return;
	if (!m->abort_soon && sim_chance(&sn->w->rng, 250)) {
		m->abort_soon = true;
		simlnd_tick_by(sn, sn->w->now_ns);
		return;
	}
	simlnd_complete(p, m, LNET_ABORTED, sim_chance(&sn->w->rng, 700));
}

static void path_reset(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *pni)
{
	struct simlnd_end *end = simlnd_end_find(of(ni), lnet_peer_ni_nid(pni));

	if (end && end->state == END_UP)
		simlnd_close(p, end, LNET_PATH_LOST, true, true);
}

const struct lnet_lnd_ops simlnd_ops = {
	.name = "simlnd",
	.type = LNET_LND_TCP,
	.ni_priv_size = sizeof(struct simlnd_ni *),
	.inline_max = 4096,
	.peer_timeout = 180,
	.peer_credits = 8,
	.peer_buffer_credits = 0,
	.credits = 256,
	.ni_start = sim_ni_start,
	.ni_stop = sim_ni_stop,
	.send = sim_att_send,
	.flush = sim_ni_flush,
	.cancel = sim_att_cancel,
	.receive = simlnd_receive,
	.rx_stop = simlnd_rx_stop,
	.path_reset = path_reset,
};

/* ---- time: deadlines of attempts, retries of dials ------------------------------------------- */

/* Completes expired attempts. Returns the first deadline of the attempts that stay in the queue. */
static u64 queue_expire(struct lnet_pass *p, struct simlnd_end *end, u64 now_ns)
{
	enum lnet_outcome how =
		end->state == END_DIALING ? LNET_REMOTE_DROPPED : LNET_LOCAL_TIMEOUT;
	struct lnet_att *att, *next;
	u64 first_ns = U64_MAX;

	list_for_each_entry_safe(att, next, &end->queue, link)
		if (now_ns >= att->deadline_ns)
			unqueue(p, att, how);
		else
			first_ns = min(first_ns, att->deadline_ns);
	return first_ns;
}

static u64 flight_expire(struct lnet_pass *p, struct simlnd_end *end, u64 now_ns)
{
	struct sim_world *w = end->ni->w;
	struct simlnd_msg *m, *next;
	u64 first_ns = U64_MAX;

	list_for_each_entry_safe(m, next, &end->flight, link) {
		if (m->abort_soon)
			simlnd_complete(p, m, LNET_ABORTED, sim_chance(&w->rng, 700));
		else if (now_ns >= m->att->deadline_ns)
			simlnd_complete(p, m, LNET_NETWORK_TIMEOUT, sim_chance(&w->rng, 700));
		else
			first_ns = min(first_ns, m->att->deadline_ns);
	}
	return first_ns;
}

/* Returns the time at which to check @end again; U64_MAX: not before an attempt is sent. */
static u64 end_tick(struct lnet_pass *p, struct simlnd_end *end, u64 now_ns)
{
	u64 next_ns = min(queue_expire(p, end, now_ns), flight_expire(p, end, now_ns));

	if (end->state == END_DIALING && now_ns >= end->retry_ns)
		end->state = END_NONE;
	if (end->state == END_NONE && !list_empty(&end->queue))
		simlnd_dial(end);
	if (list_empty(&end->queue) && list_empty(&end->flight)) {
		list_del_init(&end->busy);
		end->pumping = false;
		return U64_MAX;
	}
	/* if attempts are queued without a connection, checks at retry_ns whether the link is up */
	if (!list_empty(&end->queue) && end->state != END_UP)
		next_ns = min(next_ns, end->retry_ns);
	return next_ns;
}

static void tick(struct sim_world *w, void *arg, u64 num)
{
	struct simlnd_ni *sn = simlnd_ni_at(w, num >> 8 & 0xffffffff, num & 0xff);
	struct simlnd_end *end, *next;
	u64 next_ns = U64_MAX;
	struct lnet_pass p;

	(void)arg;
	if (!sn || sn->life != num >> 40 || sn->tick_ns != w->now_ns)
		return;
	sn->tick_ns = U64_MAX;
	lnet_pass_begin(&p, lnet_ni_instance(sn->ni), LNET_PASS_DRIVER);
	list_for_each_entry_safe(end, next, &sn->busy, busy)
		next_ns = min(next_ns, end_tick(&p, end, w->now_ns));
	lnet_pass_end(&p);
	if (next_ns != U64_MAX)
		simlnd_tick_by(sn, next_ns);
}

/*
 * Rounds the time up to whole ticks, so that deadlines may pass before a check. Threads of a real
 * driver are also late.
 */
void simlnd_tick_by(struct simlnd_ni *sn, u64 when_ns)
{
	u64 now_ns = sn->w->now_ns, ahead_ns = max(when_ns, now_ns + 1) - now_ns;

	when_ns = now_ns + DIV_ROUND_UP(ahead_ns, TICK_NS) * TICK_NS;
	if (when_ns >= sn->tick_ns || sn->stopped)
		return;
	sn->tick_ns = when_ns;
	sim_at(sn->w, when_ns, tick, NULL,
	       (u64)sn->life << 40 | (u64)sn->node->ix << 8 | sn->rail);
}

void simlnd_wait(struct simlnd_end *end)
{
	u64 when_ns = end->state == END_UP ? U64_MAX : end->retry_ns;
	struct lnet_att *att;

	list_for_each_entry(att, &end->queue, link)
		when_ns = min(when_ns, att->deadline_ns);
	if (!list_empty(&end->queue))
		simlnd_tick_by(end->ni, when_ns);
}

void simlnd_dial_waiting(struct simlnd_ni *sn)
{
	struct simlnd_end *end;

	list_for_each_entry(end, &sn->busy, busy) {
		if (list_empty(&end->queue))
			continue;
		simlnd_dial(end);
		simlnd_wait(end);
	}
}
