/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory, requests and events of a NETTEST node. */
#include "memory.h"
#include "nettest_run.h"

u64 nettest_match_bits(const struct nettest *nt, enum nettest_kind kind, u32 rank)
{
	return (u64)nt->cfg.run << 32 | kind << 24 | rank;
}

#define RANK_BITS	0xffffffULL

/* ---- requests -------------------------------------------------------------------------------- */

int nettest_put(struct nettest *nt, const struct nettest_put *put)
{
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	x.md = put->md;
	x.target = put->to->id;
	x.portal = NETTEST_PORTAL;
	x.match_bits = nettest_match_bits(nt, put->kind, nt->cfg.rank);
	x.hdr_data = put->hdr_data;
	x.offset = put->offset;
	x.md_offset = put->md_offset;
	x.length = put->len;
	x.flags = LNET_ACK | LNET_NO_SEND | (put->more ? LNET_MORE : 0);
	x.op_ptr = (void *)(unsigned long)put->hdr_data;
	return lnet_put(nt->cfg.ln, &x);
}

/* ---- events ---------------------------------------------------------------------------------- */

void nettest_enter_event(struct nettest *nt, const struct lnet_event *ev, bool aside)
	__acquires(&nt->lock)
{
	nettest_enter(nt);
	if (ev->unlinked)
		nt->nr_open--;
	if (!ev->status && ev->kind != LNET_EVENT_UNLINK && !aside)
		nt->progress_ns = nettest_now(nt);
}

static void enter(struct nettest *nt, const struct lnet_event *ev) __acquires(&nt->lock)
{
	nettest_enter_event(nt, ev, false);
}

void nettest_errors_locked(struct nettest *nt, u32 nr)
{
	nt->sums.errors += nr;
	nt->tally.c[LST_T_corrupt] += nr;
}

void nettest_wrong_locked(struct nettest *nt, const struct lnet_event *ev)
{
	nettest_errors_locked(nt, 1);
	if (nettest_may_log(nt))
		pr_warn("nettest: node %u got an unexpected message: %llx, %u bytes at %u\n",
			nt->cfg.rank, (unsigned long long)ev->hdr_data, ev->mlength, ev->offset);
}

static void chan_part_locked(struct nettest_chan *c, const struct lnet_event *ev)
{
	struct nettest *nt = c->nt;
	u32 part = (u32)ev->hdr_data & 0xff;
	bool waits = nt->state == NETTEST_S_OPEN || nt->state == NETTEST_S_EXCHANGE;

	if (!waits || !c->linked || ev->hdr_data >> 8 != nt->seq || part >= nt->nr_parts ||
	    ev->offset != part * LNET_MTU || ev->mlength != nettest_part_len(nt, part) ||
	    ev->rlength != ev->mlength || (c->came & BIT_ULL(part))) {
		nettest_wrong_locked(nt, ev);
		return;
	}
	c->came |= BIT_ULL(part);
	if (++c->nr_came == nt->nr_parts)
		nettest_progress_locked(nt, c);
}

/*
 * Handles a part of a message. If a part is received incompletely, LNet receives it again, or its
 * sender gets an error.
 */
static void on_chan_data(const struct lnet_event *ev)
{
	struct nettest_chan *c = ev->user_ptr;

	enter(c->nt, ev);
	if (ev->kind == LNET_EVENT_PUT && !ev->status && !c->nt->stopping)
		chan_part_locked(c, ev);
	nettest_leave(c->nt);
}

static void on_data_sent(const struct lnet_event *ev)
{
	struct nettest_chan *c = ev->user_ptr;
	struct nettest *nt = c->nt;

	enter(nt, ev);
	nt->nr_out -= ev->final;
	if (ev->final && ev->status)
		nettest_fail_locked(nt, ev->status);
	else if (ev->final && ++c->nr_acks == nt->nr_parts)
		nettest_progress_locked(nt, c);
	nettest_leave(nt);
}

static void on_barrier_event(const struct lnet_event *ev)
{
	struct nettest *nt = ev->user_ptr;
	u64 barrier = ev->hdr_data >> 8;
	u32 round = (u32)ev->hdr_data & 0xff;

	nettest_enter_event(nt, ev, !barrier);
	if (ev->kind == LNET_EVENT_PUT && !ev->status) {
		struct nettest_signal *s = &nt->signal[barrier & 1][min(round, nt->nr_rounds - 1)];

		if (barrier > nt->barrier + 1 || round >= nt->nr_rounds)
			nettest_wrong_locked(nt, ev);
		else
			s->came = max(s->came, barrier);
	}
	nettest_leave(nt);
}

/* The signal fails if the other node has not started. Then it is repeated. */
static void on_signal_sent(const struct lnet_event *ev)
{
	struct nettest *nt = ev->user_ptr;
	u64 tag = (u64)(unsigned long)ev->op_ptr;

	nettest_enter_event(nt, ev, !tag);
	nt->nr_out -= ev->final;
	if (ev->final && ev->status && !nt->stopping) {
		nettest_failing_locked(nt, ev->status);
		if (tag)
			nt->signal[tag >> 8 & 1][tag & 0xff].failed = tag >> 8;
		nettest_pause_locked(nt);
	} else if (ev->final && !ev->status) {
		nt->sums.control += NETTEST_SIGNAL;
	}
	nettest_leave(nt);
}

static void on_record(const struct lnet_event *ev)
{
	struct nettest *nt = ev->user_ptr;
	u32 rank = (u32)(ev->match_bits & RANK_BITS);

	enter(nt, ev);
	if (ev->kind == LNET_EVENT_PUT && !ev->status) {
		if (!rank || rank >= nt->cfg.nr || ev->hdr_data != nt->index ||
		    ev->offset != rank * nettest_record_size(nt->cfg.nr)) {
			nettest_wrong_locked(nt, ev);
		} else {
			nt->records_len[rank] = ev->mlength;
			nt->nr_records++;
		}
	}
	nettest_leave(nt);
}

static void on_record_sent(const struct lnet_event *ev)
{
	struct nettest *nt = ev->user_ptr;

	enter(nt, ev);
	nt->nr_out -= ev->final;
	if (ev->final && ev->status)
		nettest_fail_locked(nt, ev->status);
	else if (ev->final)
		nt->sums.control += nt->record_len;
	nettest_leave(nt);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void nr_open_add(struct nettest *nt, int delta)
{
	spin_lock(&nt->lock);
	nt->nr_open += delta;
	spin_unlock(&nt->lock);
}

int nettest_attach(struct nettest *nt, const struct nettest_into *to, lnet_md_t *md)
{
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = to->mem, .length = to->len, .cpt = -1,
				   .threshold = LNET_THRESHOLD_INF, .user_ptr = to->user,
				   .options = LNET_MD_OP_PUT | LNET_MD_MANAGE_REMOTE,
				   .handler = to->handler };
	lnet_me_t me;
	int rc = lnet_me_attach(nt->cfg.ln, NETTEST_PORTAL, &any, to->bits, to->ignore,
				LNET_UNLINK, LNET_INS_AFTER, &me);

	if (rc)
		return rc;
	nr_open_add(nt, 1);
	rc = lnet_md_attach(nt->cfg.ln, me, &cfg, LNET_RETAIN, md);
	if (rc)
		nr_open_add(nt, -1);
	return rc;
}

int nettest_bind(struct nettest *nt, const struct nettest_into *from, lnet_md_t *md)
{
	struct lnet_md_cfg cfg = { .start = from->mem, .length = from->len, .cpt = -1,
				   .threshold = LNET_THRESHOLD_INF, .user_ptr = from->user,
				   .handler = from->handler };
	int rc;

	nr_open_add(nt, 1);
	rc = lnet_md_bind(nt->cfg.ln, &cfg, LNET_RETAIN, md);
	if (rc)
		nr_open_add(nt, -1);
	return rc;
}

static bool is_neighbour(const struct nettest *nt, u32 rank)
{
	u32 p, nr = nt->nr_measured;

	if (rank >= nr || nt->cfg.rank >= nr)
		return false;
	for (p = 1; p < NETTEST_NR_PATTERNS; p++)
		if (nt->cfg.plan.patterns & BIT(p) &&
		    nettest_linked(nettest_topo_of(p), nr, nt->cfg.rank, rank))
			return true;
	return false;
}

static int chan_make(struct nettest *nt, struct nettest_chan *c)
{
	u32 most = nt->cfg.plan.most, part, at;
	struct nettest_into rx = { .user = c, .len = most, .handler = on_chan_data };
	struct nettest_into tx = { .user = c, .handler = on_data_sent };
	int rc;

	c->rx = lst_memory(most);
	c->tx = lst_memory(most);
	if (!c->rx || !c->tx)
		return -ENOMEM;
	rx.mem = c->rx;
	rx.bits = nettest_match_bits(nt, NETTEST_DATA, c->rank);
	rc = nettest_attach(nt, &rx, &c->rx_md);
	for (part = at = 0; at < most && !rc; part++, at += LNET_MTU) {
		tx.mem = c->tx + at;
		tx.len = min(most - at, LNET_MTU);
		rc = nettest_bind(nt, &tx, &c->tx_md[part]);
	}
	return rc;
}

static int barrier_make(struct nettest *nt)
{
	struct nettest_into in = { .mem = nt->barrier_mem, .len = sizeof(nt->barrier_mem),
				   .bits = nettest_match_bits(nt, NETTEST_BARRIER, 0),
				   .ignore = RANK_BITS, .user = nt, .handler = on_barrier_event };
	struct nettest_into out = { .mem = nt->signal_mem, .len = sizeof(nt->signal_mem),
				    .user = nt, .handler = on_signal_sent };
	int rc = nettest_attach(nt, &in, &nt->barrier_md);

	return rc ? rc : nettest_bind(nt, &out, &nt->signal_md);
}

static int records_make(struct nettest *nt)
{
	u32 size = nettest_record_size(nt->cfg.nr);
	struct nettest_into in = { .user = nt, .len = nt->cfg.nr * size, .handler = on_record,
				   .bits = nettest_match_bits(nt, NETTEST_RECORD, 0),
				   .ignore = RANK_BITS };
	struct nettest_into out = { .user = nt, .len = size, .handler = on_record_sent };

	nt->record = kvzalloc(size, GFP_NOFS);
	if (!nt->record)
		return -ENOMEM;
	out.mem = nt->record;
	if (!nt->cfg.gather)
		return 0;
	if (nt->cfg.rank)
		return nettest_bind(nt, &out, &nt->record_md);
	nt->records = kvzalloc(in.len, GFP_NOFS);
	nt->records_len = kvcalloc(nt->cfg.nr, sizeof(*nt->records_len), GFP_NOFS);
	if (!nt->records || !nt->records_len)
		return -ENOMEM;
	in.mem = nt->records;
	return nettest_attach(nt, &in, &nt->records_md);
}

int nettest_memory_make(struct nettest *nt)
{
	int rc = barrier_make(nt);
	u32 i;

	if (!rc)
		rc = records_make(nt);
	if (!rc)
		rc = nettest_noise_make(nt);
	for (i = 0; i < nt->cfg.nr && !rc; i++)
		if (is_neighbour(nt, i))
			rc = chan_make(nt, &nt->chan[i]);
	return rc;
}

void nettest_unlink(struct nettest *nt, lnet_md_t md)
{
	if (md.cookie)
		lnet_md_unlink(nt->cfg.ln, md);
}

void nettest_memory_unlink(struct nettest *nt)
{
	u32 i, k;

	nettest_unlink(nt, nt->barrier_md);
	nettest_unlink(nt, nt->signal_md);
	nettest_unlink(nt, nt->record_md);
	nettest_unlink(nt, nt->records_md);
	nettest_noise_unlink(nt);
	for (i = 0; i < nt->cfg.nr; i++) {
		nettest_unlink(nt, nt->chan[i].rx_md);
		for (k = 0; k < NETTEST_PARTS_MAX; k++)
			nettest_unlink(nt, nt->chan[i].tx_md[k]);
	}
}

void nettest_memory_free(struct nettest *nt)
{
	u32 i;

	for (i = 0; i < nt->cfg.nr; i++) {
		kvfree(nt->chan[i].rx);
		kvfree(nt->chan[i].tx);
	}
	nettest_noise_free(nt);
	kvfree(nt->record);
	kvfree(nt->records);
	kvfree(nt->records_len);
}
