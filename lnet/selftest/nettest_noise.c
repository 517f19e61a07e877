/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Noise: pairs of NETTEST nodes that are not measured, and load the network during measures. Each
 * of these nodes sends to its partner without a pause, with several messages in flight. Noise
 * begins before the first barrier of a measure and ends after the last barrier, so it covers all
 * measured exchanges. When all messages of a measure are acknowledged, the node sends one more
 * message, which marks the end.
 */
#include "memory.h"
#include "nettest_run.h"

#define LAST		0x80U		/* bit of a tag: the last message of this measure */
#define SLOT		0x7fU

/*
 * Returns the tag of a message: the number of the measure, and the slot. A slot is the part of the
 * memory for one message.
 */
static u64 noise_tag_of(const struct nettest *nt, u32 slot, bool last)
{
	return (u64)nt->index << 8 | (last ? LAST : 0) | slot;
}

static u32 all_slots(const struct nettest *nt)
{
	return (u32)(BIT_ULL(nt->cfg.plan.noise_depth) - 1);
}

static bool noise_may_send(const struct nettest *nt)
{
	const struct nettest_noise *n = &nt->noise;

	if (!n->to)
		return false;
	if (nt->state == NETTEST_S_GATHER)
		return !n->busy && n->nr_said == nt->index;
	return n->busy != all_slots(nt);
}

bool nettest_noise_step(struct nettest *nt)
{
	struct nettest_noise *n = &nt->noise;
	struct nettest_put put = { .kind = NETTEST_NOISE, .to = n->to,
				   .len = nt->cfg.plan.noise };
	bool last = nt->state == NETTEST_S_GATHER;
	u32 slot;
	int rc;

	if (!noise_may_send(nt))
		return false;
	slot = (u32)__ffs64(~(u64)n->busy);
	put.md = n->tx_md[slot];
	put.offset = slot * put.len;
	put.hdr_data = noise_tag_of(nt, slot, last);
	n->busy |= BIT(slot);
	n->nr_said += last;
	rc = nettest_send(nt, &put);
	if (!rc) {
		nt->sums.noise += put.len;
		return true;
	}
	n->busy &= ~BIT(slot);
	n->nr_said -= last;
	if (rc != -EAGAIN && rc != -ENOMEM)
		nettest_fail_locked(nt, rc);
	return true;
}

bool nettest_noise_over(const struct nettest *nt)
{
	const struct nettest_noise *n = &nt->noise;

	return !n->to || (n->nr_said > nt->index && n->nr_heard > nt->index && !n->busy);
}

/*
 * Clears the number of noise bytes received in the next measure. The number for the current measure
 * was cleared when the previous measure began, because the partner may already send noise for the
 * current measure.
 */
void nettest_noise_begin(struct nettest *nt)
{
	nt->noise.out = 0;
	nt->noise.in[(nt->index + 1) & 1] = 0;
}

/*
 * Checks the last message of each slot. All messages of a slot have the same contents, so the check
 * may run while the partner writes the slot.
 */
u32 nettest_noise_check(struct nettest *nt, u32 used)
{
	const struct nettest_noise *n = &nt->noise;
	u32 len = nt->cfg.plan.noise, other = (u32)(n->to - nt->chan), slot, at, bad = 0;

	for (slot = 0; slot < nt->cfg.plan.noise_depth; slot++) {
		if (!(used & BIT(slot)))
			continue;
		at = nettest_first_bad(n->rx + slot * len, len,
				       nettest_key(slot, other, nt->cfg.rank), nt->cfg.plan.check);
		if (at == len)
			continue;
		bad++;
		if (nettest_may_log(nt))
			pr_warn("nettest: noise of node %u is wrong at byte %u of %u\n", other, at,
				len);
	}
	return bad;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void came_locked(struct nettest *nt, const struct lnet_event *ev)
{
	struct nettest_noise *n = &nt->noise;
	u32 index = (u32)(ev->hdr_data >> 8), slot = (u32)ev->hdr_data & SLOT;

	if (index - nt->index > 1 || slot >= nt->cfg.plan.noise_depth ||
	    ev->offset != slot * nt->cfg.plan.noise || ev->mlength != nt->cfg.plan.noise ||
	    ev->rlength != ev->mlength) {
		nettest_wrong_locked(nt, ev);
		return;
	}
	n->in[index & 1] += ev->mlength;
	n->used |= BIT(slot);
	if (ev->hdr_data & LAST)
		n->nr_heard = index + 1;
}

static void on_noise(const struct lnet_event *ev)
{
	struct nettest *nt = ev->user_ptr;

	nettest_enter_event(nt, ev, true);
	if (ev->kind == LNET_EVENT_PUT && !ev->status && !nt->stopping)
		came_locked(nt, ev);
	nettest_leave(nt);
}

static void on_noise_sent(const struct lnet_event *ev)
{
	struct nettest *nt = ev->user_ptr;
	u64 tag = (u64)(unsigned long)ev->op_ptr;

	nettest_enter_event(nt, ev, true);
	nt->nr_out -= ev->final;
	if (ev->final) {
		nt->noise.busy &= ~BIT(tag & SLOT);
		if (ev->status)
			nettest_fail_locked(nt, ev->status);
		else
			nt->noise.out += nt->cfg.plan.noise;
	}
	nettest_leave(nt);
}

/* ---- memory ---------------------------------------------------------------------------------- */

int nettest_noise_make(struct nettest *nt)
{
	struct nettest_noise *n = &nt->noise;
	struct nettest_into mem = { .user = nt, .len = nt->cfg.plan.noise *
						       nt->cfg.plan.noise_depth };
	u32 other, i;
	int rc;

	if (!nettest_noise_other(&nt->cfg.plan, nt->cfg.nr, nt->cfg.rank, &other))
		return 0;
	n->to = &nt->chan[other];
	n->rx = lst_memory(mem.len);
	n->tx = lst_memory(mem.len);
	if (!n->rx || !n->tx)
		return -ENOMEM;
	mem.mem = n->rx;
	mem.bits = nettest_match_bits(nt, NETTEST_NOISE, other);
	mem.handler = on_noise;
	rc = nettest_attach(nt, &mem, &n->rx_md);
	mem.handler = on_noise_sent;
	mem.len = nt->cfg.plan.noise;
	for (i = 0; i < nt->cfg.plan.noise_depth && !rc; i++) {
		mem.mem = n->tx + i * mem.len;
		nettest_fill(mem.mem, mem.len, nettest_key(i, nt->cfg.rank, other),
			     nt->cfg.plan.check);
		rc = nettest_bind(nt, &mem, &n->tx_md[i]);
	}
	return rc;
}

void nettest_noise_unlink(struct nettest *nt)
{
	u32 i;

	nettest_unlink(nt, nt->noise.rx_md);
	for (i = 0; i < NETTEST_NOISE_DEPTH; i++)
		nettest_unlink(nt, nt->noise.tx_md[i]);
}

void nettest_noise_free(struct nettest *nt)
{
	kvfree(nt->noise.rx);
	kvfree(nt->noise.tx);
}
