/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node of a NETTEST run. It repeats barrier, exchange, barrier as the plan requires. */
#include "nettest_run.h"

/* ---- states ---------------------------------------------------------------------------------- */

#define TOPO(...)
#define PATTERN(...)
#define TO(name)		BIT(NETTEST_S_##name)
#define STATE(name, next)	(u8)(next),
static const u8 edges[] = {
#include "nettest.def"
};
#undef TOPO
#undef PATTERN
#undef TO
#undef STATE

static void state_set(struct nettest *nt, enum nettest_state state)
{
	lockdep_assert_held(&nt->lock);
	WARN_ON_ONCE(!(edges[nt->state] & BIT(state)));
	nt->state = state;
	nt->progress_ns = nettest_now(nt);
}

static bool is_running(const struct nettest *nt)
{
	return nt->state != NETTEST_S_IDLE && nt->state != NETTEST_S_OVER;
}

void nettest_fail_locked(struct nettest *nt, int status)
{
	if (!nt->status)
		nt->status = status;
}

void nettest_pause_locked(struct nettest *nt)
{
	nt->retry_ns = min(nt->retry_ns, nettest_now(nt) + NETTEST_PAUSE_NS);
	nt->arm = true;
}

/* Have all nodes started? In the first barrier some nodes may not have started. */
static bool all_were_here(const struct nettest *nt)
{
	return is_running(nt) && nt->barrier > 1;
}

void nettest_failing_locked(struct nettest *nt, int status)
{
	if (all_were_here(nt) && nettest_now(nt) >= nt->progress_ns + NETTEST_GONE_NS)
		nettest_fail_locked(nt, status);
}

/* ---- the barrier ----------------------------------------------------------------------------- */

static void barrier_begin_locked(struct nettest *nt)
{
	nt->barrier++;
	nt->round = 0;
	nt->signalled = false;
	nt->sums.barriers++;
}

int nettest_send(struct nettest *nt, const struct nettest_put *put)
{
	int rc;

	nt->nr_out++;
	spin_unlock(&nt->lock);
	rc = nettest_put(nt, put);
	spin_lock(&nt->lock);
	if (rc)
		nt->nr_out--;
	if (rc == -EAGAIN || rc == -ENOMEM)
		nettest_pause_locked(nt);
	return rc;
}

static void signal_send(struct nettest *nt, u64 barrier, u32 round)
{
	u32 slot = (u32)(barrier & 1) * NETTEST_ROUNDS_MAX + round;
	u32 to = (nt->cfg.rank + (1U << round)) % nt->cfg.nr;
	struct nettest_put put = { .kind = NETTEST_BARRIER, .to = &nt->chan[to],
				   .md = nt->signal_md, .len = NETTEST_SIGNAL,
				   .offset = slot * NETTEST_SIGNAL,
				   .hdr_data = barrier << 8 | round };

	int rc = nettest_send(nt, &put);

	/* A retry may send the signal twice. The receiver ignores the second signal. */
	if (rc) {
		nt->signal[barrier & 1][round].failed = barrier;
		nettest_pause_locked(nt);
		nettest_failing_locked(nt, rc);
	}
}

static u64 probe_at(const struct nettest *nt)
{
	return max(nt->probe_ns, nt->progress_ns + NETTEST_PROBE_NS);
}

/*
 * Sends a probe to all other nodes in turn, to detect failed nodes. A failed node may stop this
 * node although it never sends to this node: other nodes between them wait for the failed node.
 */
static void nettest_probe(struct nettest *nt)
{
	struct nettest_put put = { .kind = NETTEST_BARRIER, .md = nt->signal_md,
				   .len = NETTEST_SIGNAL };
	u32 i, nr = nt->cfg.nr;
	int rc;

	nt->probe_ns = nettest_now(nt) + NETTEST_PROBE_NS;
	for (i = 0; i < min(nr - 1, NETTEST_PROBES) && !nt->stopping; i++) {
		nt->probed = nt->probed % (nr - 1) + 1;
		put.to = &nt->chan[(nt->cfg.rank + nt->probed) % nr];
		rc = nettest_send(nt, &put);
		if (rc)
			nettest_failing_locked(nt, rc);
	}
}

/*
 * Repeats a signal that was not delivered, because its receiver may not have started at that time.
 */
static bool resend(struct nettest *nt)
{
	u32 i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < nt->nr_rounds; k++) {
			u64 barrier = nt->signal[i][k].failed;

			nt->signal[i][k].failed = 0;
			if (!barrier)
				continue;
			signal_send(nt, barrier, k);
			return true;
		}
	return false;
}

/*
 * Does one step of the barrier. If the signal of the round was not sent, releases the lock, sends
 * it, and returns true. If another node's signal is missing, returns false. Otherwise ends the
 * round, and returns true. After the last round, nt->round is nr_rounds.
 */
static bool barrier_step(struct nettest *nt)
{
	if (!nt->signalled) {
		nt->signalled = true;
		signal_send(nt, nt->barrier, nt->round);
		return true;
	}
	if (nt->signal[nt->barrier & 1][nt->round].came < nt->barrier)
		return false;
	nt->round++;
	nt->signalled = false;
	return true;
}

/* ---- the exchange ---------------------------------------------------------------------------- */

/*
 * May the node send on @c now? In a one-way pattern, the second node of a channel sends after it
 * has received. In a ring, the node also waits for all ACKs of its right neighbour.
 */
static bool chan_may_send(const struct nettest *nt, const struct nettest_chan *c)
{
	if (!c->linked || nettest_two_way(nt->m.pattern) || c->first)
		return c->linked;
	if (c->nr_came < nt->nr_parts)
		return false;
	return c != nt->left || nt->right->nr_acks == nt->nr_parts;
}

static void ready_locked(struct nettest *nt, struct nettest_chan *c)
{
	if (!c || c->queued || !chan_may_send(nt, c))
		return;
	c->queued = true;
	c->begun_ns = nettest_now(nt);
	list_add_tail(&c->link, &nt->ready);
}

void nettest_progress_locked(struct nettest *nt, struct nettest_chan *c)
{
	nt->nr_left--;
	if (c->nr_acks == nt->nr_parts && c->queued && c->begun_ns) {
		lst_tally_time(&c->delay, nettest_now(nt) - c->begun_ns, &c->id);
		c->begun_ns = 0;
	}
	if (nt->state != NETTEST_S_EXCHANGE)
		return;
	ready_locked(nt, c);
	ready_locked(nt, nt->left);
}

static void exchange_begin_locked(struct nettest *nt)
{
	u32 i;

	nt->t0_ns = nettest_now(nt);
	for (i = 0; i < nt->cfg.nr; i++)
		ready_locked(nt, &nt->chan[i]);
}

static void part_send(struct nettest *nt, struct nettest_chan *c)
{
	u32 part = c->next_part++;
	struct nettest_put put = { .kind = NETTEST_DATA, .to = c, .md = c->tx_md[part],
				   .len = nettest_part_len(nt, part), .offset = part * LNET_MTU,
				   .hdr_data = nt->seq << 8 | part };
	int rc;

	list_del_init(&c->link);
	if (c->next_part < nt->nr_parts)
		list_add_tail(&c->link, &nt->ready);
	put.more = !list_empty(&nt->ready);
	rc = nettest_send(nt, &put);
	if (!rc) {
		nt->sums.payload += put.len;
		return;
	}
	if (rc != -EAGAIN && rc != -ENOMEM)
		nettest_fail_locked(nt, rc);
	c->next_part = part;
	if (list_empty(&c->link))
		list_add(&c->link, &nt->ready);
}

static bool exchange_step(struct nettest *nt)
{
	if (!list_empty(&nt->ready)) {
		part_send(nt, list_first_entry(&nt->ready, struct nettest_chan, link));
		return true;
	}
	return false;
}

/* ---- iterations and measures ----------------------------------------------------------------- */

static void linked_set(struct nettest *nt, struct nettest_chan *c)
{
	enum nettest_topo topo = nettest_topo_of(nt->m.pattern);
	u32 nr = nt->nr_measured, rank = nt->cfg.rank;

	c->linked = rank < nr && c->rank < nr && nettest_linked(topo, nr, rank, c->rank);
	c->first = nettest_speaks_first(topo, nr, rank, c->rank);
	lst_tally_init(&c->delay);
	nt->nr_linked += c->linked;
}

/* False: the plan is complete. */
static bool measure_begin_locked(struct nettest *nt)
{
	u32 i, nr = nt->nr_measured;
	bool turns;

	if (!nettest_plan_at(&nt->cfg.plan, nt->index, &nt->m))
		return false;
	nt->iteration = nt->nr_linked = 0;
	nt->nr_parts = DIV_ROUND_UP(nt->m.len, LNET_MTU);
	for (i = 0; i < nt->cfg.nr; i++)
		linked_set(nt, &nt->chan[i]);
	turns = nettest_topo_of(nt->m.pattern) == NETTEST_RING && nr > 2 &&
		!nettest_two_way(nt->m.pattern) && nt->cfg.rank < nr;
	nt->right = turns ? &nt->chan[(nt->cfg.rank + 1) % nr] : NULL;
	nt->left = turns ? &nt->chan[(nt->cfg.rank + nr - 1) % nr] : NULL;
	lst_tally_init(&nt->tally);
	nettest_noise_begin(nt);
	return true;
}

/*
 * Fills the messages of the next iteration. Between the barriers CLOSE and OPEN no node accesses
 * the memory of messages.
 */
static void messages_fill(struct nettest *nt)
{
	u32 i;

	for (i = 0; i < nt->cfg.nr; i++)
		if (nt->chan[i].linked)
			nettest_fill(nt->chan[i].tx, nt->m.len,
				     nettest_key(nt->seq, nt->cfg.rank, i), nt->cfg.plan.check);
}

static u32 messages_check(struct nettest *nt)
{
	u32 i, at, bad = 0;

	for (i = 0; i < nt->cfg.nr; i++) {
		if (!nt->chan[i].linked)
			continue;
		at = nettest_first_bad(nt->chan[i].rx, nt->m.len,
				       nettest_key(nt->seq, i, nt->cfg.rank), nt->cfg.plan.check);
		if (at == nt->m.len)
			continue;
		bad++;
		if (nettest_may_log(nt))
			pr_warn("nettest: the message of node %u is wrong at byte %u of %u\n", i,
				at, nt->m.len);
	}
	return bad;
}

/* Begins an iteration. From now on other nodes may send messages to this node. */
static void iteration_begin(struct nettest *nt)
{
	u32 i;

	nt->seq++;
	for (i = 0; i < nt->cfg.nr; i++) {
		struct nettest_chan *c = &nt->chan[i];

		c->queued = false;
		c->next_part = c->nr_acks = c->nr_came = 0;
		c->came = 0;
	}
	nt->nr_left = 2 * nt->nr_linked;
	spin_unlock(&nt->lock);
	messages_fill(nt);
	spin_lock(&nt->lock);
	barrier_begin_locked(nt);
	state_set(nt, NETTEST_S_OPEN);
}

static void iteration_end(struct nettest *nt)
{
	u32 bad;

	lst_tally_time(&nt->tally, nettest_now(nt) - nt->t0_ns, &nt->chan[nt->cfg.rank].id);
	nt->iteration++;
	spin_unlock(&nt->lock);
	bad = messages_check(nt);
	spin_lock(&nt->lock);
	nettest_errors_locked(nt, bad);
}

static void noise_finish(struct nettest *nt) __must_hold(&nt->lock)
{
	u32 used = nt->noise.used, bad;

	nt->noise.used = 0;
	if (!used)
		return;
	spin_unlock(&nt->lock);
	bad = nettest_noise_check(nt, used);
	spin_lock(&nt->lock);
	nettest_errors_locked(nt, bad);
}

static void gather_begin(struct nettest *nt)
{
	nt->record_made = false;
	nt->record_sent = !nt->cfg.gather || !nt->cfg.rank;
	state_set(nt, NETTEST_S_GATHER);
}

static bool is_last(const struct nettest *nt)
{
	return nt->index + 1 == nettest_plan_nr(&nt->cfg.plan);
}

static void record_send(struct nettest *nt)
{
	struct nettest_put put = { .kind = NETTEST_RECORD, .to = &nt->chan[0], .md = nt->record_md,
				   .len = nt->record_len, .hdr_data = nt->index };
	int rc;

	nt->record_sent = true;
	put.offset = nt->cfg.rank * nettest_record_size(nt->cfg.nr);
	rc = nettest_send(nt, &put);
	if (rc == -EAGAIN || rc == -ENOMEM)
		nt->record_sent = false;
	else if (rc)
		nettest_fail_locked(nt, rc);
}

/*
 * A measure has ended: node 0 waits for the records (results) of all nodes. Each other node waits
 * for the ACK of its record. After the last measure, a node also waits for the ACKs of all its
 * messages, because LNet may have to retransmit them.
 */
static bool gather_step(struct nettest *nt) __must_hold(&nt->lock)
{
	u32 index = nt->index;

	if (!nettest_noise_over(nt))
		return false;
	if (!nt->record_made) {
		noise_finish(nt);
		nettest_record_make(nt);
		nt->record_made = true;
	}
	if (!nt->record_sent) {
		record_send(nt);
		return true;
	}
	if (nt->cfg.gather && !nt->cfg.rank && nt->nr_records < nt->cfg.nr - 1)
		return false;
	if (nt->nr_out && (is_last(nt) || (nt->cfg.gather && nt->cfg.rank)))
		return false;
	spin_unlock(&nt->lock);
	if (nt->cfg.measured)
		nt->cfg.measured(nt, index);
	spin_lock(&nt->lock);
	nt->index++;
	nt->nr_records = 0;
	if (measure_begin_locked(nt))
		iteration_begin(nt);
	else
		state_set(nt, NETTEST_S_OVER);
	return true;
}

static bool barrier_over(struct nettest *nt)
{
	if (nt->state == NETTEST_S_OPEN) {
		exchange_begin_locked(nt);
		state_set(nt, NETTEST_S_EXCHANGE);
		return true;
	}
	iteration_end(nt);
	if (nt->iteration < nt->cfg.plan.times)
		iteration_begin(nt);
	else
		gather_begin(nt);
	return true;
}

/* Does a step of the current state. May drop the lock and take it again. */
static bool step_state(struct nettest *nt)
{
	switch (nt->state) {
	case NETTEST_S_OPEN:
	case NETTEST_S_CLOSE:
		return nt->round == nt->nr_rounds ? barrier_over(nt) : barrier_step(nt);
	case NETTEST_S_EXCHANGE:
		if (exchange_step(nt))
			return true;
		if (nt->nr_left)
			return false;
		barrier_begin_locked(nt);
		state_set(nt, NETTEST_S_CLOSE);
		return true;
	case NETTEST_S_GATHER:
		return gather_step(nt);
	}
	return false;
}

/*
 * Does one step that is possible now. False: no step is possible. May drop the lock and take it
 * again.
 */
static bool nettest_step(struct nettest *nt)
{
	bool noisy;

	if (!is_running(nt))
		return false;
	if (nt->status) {
		state_set(nt, NETTEST_S_OVER);
		return false;
	}
	if (nt->retry_ns != U64_MAX)
		return false;
	if (resend(nt))
		return true;
	/*
	 * Sends one message of noise, which loads the network during a measure. Then does one other
	 * step.
	 */
	noisy = nettest_noise_step(nt);
	return step_state(nt) || noisy;
}

void nettest_enter(struct nettest *nt) __acquires(&nt->lock)
{
	spin_lock(&nt->lock);
	nt->nr_inside++;
}

static void step_all(struct nettest *nt) __must_hold(&nt->lock)
{
	bool was_running = is_running(nt);

	nt->stepping = true;
	while (nt->again) {
		nt->again = false;
		while (nettest_step(nt))
			;
	}
	nt->stepping = false;
	if (!was_running || is_running(nt))
		return;
	spin_unlock(&nt->lock);
	if (nt->cfg.ended)
		nt->cfg.ended(nt, nt->status);
	spin_lock(&nt->lock);
}

static bool is_stopped(const struct nettest *nt)
{
	return nt->stopping && !nt->nr_open && !nt->nr_inside;
}

void nettest_leave(struct nettest *nt) __releases(&nt->lock)
{
	bool gone;

	nt->again = true;
	if (!nt->stepping)
		step_all(nt);
	if (nt->arm && nt->cfg.arm) {
		nt->arm = false;
		spin_unlock(&nt->lock);
		nt->cfg.arm(nt);
		spin_lock(&nt->lock);
	}
	nt->nr_inside--;
	gone = is_stopped(nt) && !nt->gone;
	nt->gone = nt->gone || gone;
	spin_unlock(&nt->lock);
	if (gone && nt->cfg.gone)
		nt->cfg.gone(nt);
}

/* ---- begin, time, end ------------------------------------------------------------------------ */

int nettest_create(struct nettest **ntp, const struct nettest_cfg *cfg)
{
	struct nettest *nt;
	u32 i;
	int rc = nettest_plan_check(&cfg->plan);

	*ntp = NULL;
	if (rc)
		return rc;
	if (nettest_plan_measured(&cfg->plan, cfg->nr) < 2 || cfg->nr > NETTEST_NODES_MAX ||
	    cfg->rank >= cfg->nr)
		return -EINVAL;
	nt = kvzalloc(struct_size(nt, chan, cfg->nr), GFP_NOFS);
	if (!nt)
		return -ENOMEM;
	nt->cfg = *cfg;
	if (!nt->cfg.stall_ns)
		nt->cfg.stall_ns = NETTEST_STALL_NS;
	spin_lock_init(&nt->lock);
	INIT_LIST_HEAD(&nt->ready);
	nt->retry_ns = U64_MAX;
	nt->nr_rounds = nettest_rounds(cfg->nr);
	nt->nr_measured = nettest_plan_measured(&cfg->plan, cfg->nr);
	for (i = 0; i < cfg->nr; i++) {
		nt->chan[i].nt = nt;
		nt->chan[i].rank = i;
		INIT_LIST_HEAD(&nt->chan[i].link);
	}
	rc = nettest_memory_make(nt);
	if (rc)
		nettest_stop(nt, rc);
	*ntp = nt;
	return rc;
}

void nettest_start(struct nettest *nt, const struct lnet_process *nodes)
{
	u32 i;

	nettest_enter(nt);
	for (i = 0; i < nt->cfg.nr; i++)
		nt->chan[i].id = nodes[i];
	if (nt->state == NETTEST_S_IDLE && !nt->stopping) {
		/* No thread steps before this. */
		nt->stepping = true;
		measure_begin_locked(nt);
		iteration_begin(nt);
		nt->stepping = false;
	}
	nettest_leave(nt);
}

u64 nettest_work(struct nettest *nt)
{
	u64 now = nettest_now(nt), next;

	nettest_enter(nt);
	if (nt->retry_ns <= now)
		nt->retry_ns = U64_MAX;
	if (is_running(nt) && now >= nt->progress_ns + nt->cfg.stall_ns)
		nettest_fail_locked(nt, -ETIMEDOUT);
	if (all_were_here(nt) && now >= probe_at(nt))
		nettest_probe(nt);
	/*
	 * This thread counts twice in nr_inside. So the first nettest_leave() does not free the run
	 * before `next' is computed.
	 */
	nt->nr_inside++;
	nettest_leave(nt);
	spin_lock(&nt->lock);
	next = nt->retry_ns;
	if (is_running(nt))
		next = min3(next, nt->progress_ns + nt->cfg.stall_ns,
			    max(now + NETTEST_PAUSE_NS, probe_at(nt)));
	nettest_leave(nt);
	return next;
}

void nettest_stop(struct nettest *nt, int status)
{
	bool first;

	nettest_enter(nt);
	first = !nt->stopping;
	nt->stopping = true;
	if (is_running(nt))
		nettest_fail_locked(nt, status);
	spin_unlock(&nt->lock);
	if (first)
		nettest_memory_unlink(nt);
	spin_lock(&nt->lock);
	nettest_leave(nt);
}

bool nettest_stopped(struct nettest *nt)
{
	bool stopped;

	spin_lock(&nt->lock);
	stopped = is_stopped(nt);
	spin_unlock(&nt->lock);
	return stopped;
}

void nettest_free(struct nettest *nt)
{
	if (!nt)
		return;
	nettest_memory_free(nt);
	kvfree(nt);
}

void *nettest_user(const struct nettest *nt)
{
	return nt->cfg.user;
}

void nettest_sums(struct nettest *nt, struct nettest_sums *sums)
{
	spin_lock(&nt->lock);
	*sums = nt->sums;
	spin_unlock(&nt->lock);
}
