/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applies fault rules to messages: decides which rules hit a message, and what they do to it. All
 * rules that hit a message act together, the most recent rule first. Their delays are added. The
 * first rule that ends the message ends it, and older rules do not count the message. A rule checks
 * messages that this node sends and messages that it receives. So the NIDs of a rule define the
 * direction, and both ends may have the same rule.
 *
 * Rules of stock LNet's kinds differ. If several of their delay rules hit a message, only the most
 * recent one holds the message, and older ones do not count it. A drop rule without outcomes drops
 * received messages silently. If a drop rule has outcomes or a time (when), it ends attempts in the
 * sender, before they are given to the driver. With drop_all, a drop rule acts on both sides. For a
 * sent message, the local NID of a rule is compared with the NID of the sender. In stock LNet, a
 * rule with a local NID matches no sent message.
 */
#include "plat.h"
#include "shard/shard.h"
#include "fault/fault.h"
#include <lnet/hash.h>

#define PAGE_BYTES 4096U
#define WIRE_HDR 96U			/* approximate bytes besides the payload */
#define SLOW_QUEUE_NS ((u64)NSEC_PER_SEC)	/* messages that would wait longer are dropped */
#define SPOIL_PAGES BIT(31)
#define MARK_PORTAL 64U		/* a tracked request has the number of its portal plus this */
#define PING_PORTAL 0U
enum { WHEN_BEFORE, WHEN_POSTED, WHEN_COMPLETED };

/* ---- drawing --------------------------------------------------------------------------------- */

/* Uniform over 0..@bound - 1. */
static u32 rule_random(struct lnet_rule_live *live, u32 bound)
{
	live->rng += 0x9e3779b97f4a7c15ULL;
	return (u32)(((lnet_hash64(live->rng) >> 32) * bound) >> 32);
}

static u64 draw_ns(struct lnet_rule_live *live, u64 bound_ns)
{
	return mul_u64_u64_div_u64(bound_ns, rule_random(live, U32_MAX), U32_MAX);
}

static void rate_open(struct lnet_rule_live *live)
{
	live->window_pos = 0;
	live->window_hit = live->r.rate ? rule_random(live, live->r.rate) : 0;
}

void lnet_rule_start(struct lnet_rule_live *live, u64 now_ns)
{
	live->added_ns = now_ns;
	live->rng = lnet_hash64(live->r.seed + 1);
	live->window_ns = U64_MAX;
	live->free_ns = 0;
	rate_open(live);
	if (lnet_rule_is_stock(&live->r) && live->r.rate == 2)
		live->window_hit = 0;	/* the first match hits, as in stock LNet */
}

static bool rate_hits(struct lnet_rule_live *live)
{
	bool hit = live->window_pos == live->window_hit;

	if (++live->window_pos == live->r.rate)
		rate_open(live);
	return hit;
}

/*
 * In each window, at most one match hits: the first match after a random time. The windows have no
 * gaps between them.
 */
static bool interval_hits(struct lnet_rule_live *live, u64 now_ns)
{
	u64 span_ns = live->r.interval_ns;

	if (live->window_ns == U64_MAX || now_ns - live->window_ns >= span_ns) {
		u64 past = live->window_ns == U64_MAX ? 0 :
			div64_u64(now_ns - live->window_ns, span_ns) * span_ns;

		live->window_ns = past ? live->window_ns + past : now_ns;
		live->hit_ns = live->window_ns + draw_ns(live, span_ns);
	}
	if (now_ns < live->hit_ns)
		return false;
	live->hit_ns = U64_MAX;
	return true;
}

static bool hits(struct lnet_rule_live *live, u64 now_ns)
{
	const struct lnet_rule *r = &live->r;

	if (r->drop_all)
		return true;
	if (r->random)
		return rule_random(live, 2);
	if (r->rate)
		return rate_hits(live);
	if (r->interval_ns)
		return interval_hits(live, now_ns);
	if (r->set & 1u << LNET_RULE_PERMILLE)
		return rule_random(live, 1000) < r->permille;
	return true;
}

/* ---- matching -------------------------------------------------------------------------------- */

enum lnet_rule_state lnet_rule_state(const struct lnet_rule_live *live, u64 now_ns)
{
	const struct lnet_rule *r = &live->r;
	u64 age_ns = now_ns - min(now_ns, live->added_ns), on_ns, at_ns;

	if ((r->to_ns && age_ns >= r->to_ns) || (r->count && live->info.nr_hit >= r->count))
		return LNET_RULE_IS_OVER;
	if (age_ns < r->from_ns)
		return LNET_RULE_IS_WAITING;
	if (!r->period_ns)
		return LNET_RULE_IS_ON;
	on_ns = mul_u64_u64_div_u64(r->period_ns, r->duty, 1000);
	at_ns = age_ns - r->from_ns;
	at_ns -= div64_u64(at_ns, r->period_ns) * r->period_ns;
	return at_ns < on_ns ? LNET_RULE_IS_ON : LNET_RULE_IS_OFF;
}

static bool nid_matches(const struct lnet_nid *pattern, const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(pattern) || lnet_nid_same(pattern, nid))
		return true;
	return pattern->size == 0 && be32_to_cpu(pattern->addr[0]) == U32_MAX &&
	       lnet_nid_net(pattern) == lnet_nid_net(nid);
}

static bool among(const struct lnet_rule_nids *nids, const struct lnet_nid *nid)
{
	unsigned int i;

	for (i = 0; i < nids->nr; i++)
		if (nid_matches(&nids->nid[i], nid))
			return true;
	return false;
}

static bool between(const struct lnet_rule *r, const struct lnet_hdr *hdr)
{
	return (among(&r->left, &hdr->src_nid) && among(&r->right, &hdr->dest_nid)) ||
	       (among(&r->right, &hdr->src_nid) && among(&r->left, &hdr->dest_nid));
}

static u32 types_of(const struct lnet_rule *r)
{
	if (r->kind == LNET_RULE_K_ACK_TIMEOUT)
		return 1u << LNET_MSG_ACK;
	if (r->kind == LNET_RULE_K_REPLY_TIMEOUT)
		return 1u << LNET_MSG_REPLY;
	return r->types ? r->types : U32_MAX;
}

static u32 portal_of(const struct lnet_hdr *hdr)
{
	return hdr->type == LNET_MSG_PUT ? hdr->msg.put.ptl_index : hdr->msg.get.ptl_index;
}

static bool is_request(const struct lnet_hdr *hdr)
{
	return hdr->type == LNET_MSG_PUT || hdr->type == LNET_MSG_GET;
}

static bool matches(const struct lnet_rule *r, const struct lnet_nid *local,
		    const struct lnet_hdr *hdr)
{
	if (hdr->type > LNET_MSG_REPLY || !(types_of(r) & 1u << hdr->type))
		return false;
	if (r->portals &&
	    (!is_request(hdr) || !(r->portals & BIT_ULL(portal_of(hdr) % MARK_PORTAL))))
		return false;
	if (r->kind == LNET_RULE_K_PARTITION)
		return between(r, hdr);
	return nid_matches(&r->src, &hdr->src_nid) && nid_matches(&r->dst, &hdr->dest_nid) &&
	       nid_matches(&r->local, local);
}

/*
 * Returns true if the message may be received twice without harm. This is true of a ping. It is
 * also true of a tracked request, because each receiver of such a request detects the duplicate. A
 * reply, or a request to a stock node, might take effect twice.
 */
static bool may_repeat(const struct lnet_hdr *hdr)
{
	return is_request(hdr) &&
	       (portal_of(hdr) >= MARK_PORTAL ||
		(hdr->type == LNET_MSG_GET && portal_of(hdr) == PING_PORTAL));
}

static bool rule_concerns(const struct lnet_rule *r, const struct lnet_hdr *hdr, unsigned int side)
{
	unsigned int at = r->at ? r->at : LNET_RULE_BOTH;

	if (r->kind == LNET_RULE_K_STOCK_DROP && !r->drop_all)
		at = r->outcomes || r->when ? LNET_RULE_SEND : LNET_RULE_RECEIVE;
	if (!(lnet_rule_sides(r->kind) & at & side))
		return false;
	if (r->kind == LNET_RULE_K_CORRUPT && !hdr->payload_len)
		return false;
	return r->kind != LNET_RULE_K_DUPLICATE || may_repeat(hdr);
}

/* [lock] */
static bool is_hit(struct lnet_rule_live *live, const struct lnet_nid *local,
		   const struct lnet_hdr *hdr, unsigned int side, u64 now_ns)
{
	if (!rule_concerns(&live->r, hdr, side) || !matches(&live->r, local, hdr) ||
	    lnet_rule_state(live, now_ns) != LNET_RULE_IS_ON)
		return false;
	live->info.nr_match++;
	if (!hits(live, now_ns))
		return false;
	live->info.nr_hit++;
	live->info.nr_by_type[hdr->type]++;
	return true;
}

/* [lock] If @live has hit its @count of messages, makes the worker log the end of the rule. */
static void note_end(struct lnet *ln, const struct lnet_rule_live *live, u64 now_ns)
{
	if (live->r.count && live->info.nr_hit >= live->r.count && lnet_log_is_on(ln))
		lnet_job_schedule(ln, &ln->rules_ns, now_ns);
}

/* ---- effects on sent messages ---------------------------------------------------------------- */

static void fate_end(struct lnet_fate *fate, enum lnet_outcome how)
{
	if (fate->end)
		return;
	fate->end = true;
	fate->how = how;
}

static u64 hold_ns(struct lnet_rule_live *live)
{
	const struct lnet_rule *r = &live->r;

	return r->delay_ns + (r->jitter_ns ? draw_ns(live, r->jitter_ns + 1) : 0);
}

/*
 * The rule with the longest delay is the holder. If the holder is deleted, the node sends the
 * message at once.
 */
static void fate_delay(struct lnet_rule_live *live, struct lnet_fate *fate, u64 ns)
{
	fate->delay_ns += ns;
	if (ns <= fate->most_ns)
		return;
	fate->most_ns = ns;
	fate->holder = live->info.id;
}

/* A token bucket: unused tokens are kept, up to the number of the burst. */
static void rule_throttle(struct lnet_rule_live *live, struct lnet_fate *fate, u32 bytes,
			  u64 now_ns)
{
	const struct lnet_rule *r = &live->r;
	u64 kept_ns = div64_u64((u64)r->burst * NSEC_PER_SEC, r->bandwidth);
	u64 from_ns = max(live->free_ns, now_ns - min(now_ns, kept_ns));

	if (from_ns > now_ns + SLOW_QUEUE_NS) {
		fate_end(fate, LNET_OK);
		return;
	}
	live->free_ns = from_ns + div64_u64((u64)bytes * NSEC_PER_SEC, r->bandwidth);
	if (live->free_ns > now_ns)
		fate_delay(live, fate, live->free_ns - now_ns);
}

static void wear(struct lnet_rule_live *live, struct lnet_fate *fate, u64 now_ns)
{
	const struct lnet_rule *r = &live->r;
	u64 age_ns = min(now_ns - live->added_ns - r->from_ns, r->over_ns);
	u32 share = (u32)mul_u64_u64_div_u64(age_ns, 1000000, r->over_ns);
	u64 ns;

	if (rule_random(live, 1000000) < div_u64((u64)r->loss * share, 1000)) {
		fate_end(fate, LNET_OK);
		return;
	}
	ns = mul_u64_u64_div_u64(hold_ns(live), share, 1000000);
	if (ns)
		fate_delay(live, fate, ns);
}

static enum lnet_outcome outcome_of(struct lnet_rule_live *live)
{
	u32 outcomes = live->r.outcomes & LNET_RULE_OUTCOMES, nth;
	unsigned int how = LNET_LOCAL_INTERRUPT;

	if (live->r.when == WHEN_COMPLETED)
		return LNET_ACKNOWLEDGED;
	if (!outcomes)
		return live->r.when == WHEN_POSTED ? LNET_NETWORK_TIMEOUT : LNET_OK;
	for (nth = rule_random(live, hweight32(outcomes)); how < LNET_NETWORK_TIMEOUT; how++)
		if ((outcomes & 1u << how) && nth-- == 0)
			break;
	return how;
}

static void fate_apply_rule(struct lnet_rule_live *live, struct lnet_fate *fate,
			    const struct lnet_hdr *hdr, u64 now_ns)
{
	switch (live->r.kind) {
	case LNET_RULE_K_STOCK_DELAY:
		fate->by_stock = true;
		fallthrough;
	case LNET_RULE_K_DELAY:
		fate_delay(live, fate, hold_ns(live));
		break;
	case LNET_RULE_K_DUPLICATE:
		fate->twice = true;
		break;
	case LNET_RULE_K_REORDER:
		fate_delay(live, fate, live->r.delay_ns);
		fate->behind = live->r.behind;
		break;
	case LNET_RULE_K_SLOW:
		rule_throttle(live, fate, hdr->payload_len + WIRE_HDR, now_ns);
		break;
	case LNET_RULE_K_DEGRADE:
		wear(live, fate, now_ns);
		break;
	case LNET_RULE_K_OUTCOME:
	case LNET_RULE_K_STOCK_DROP:
		fate_end(fate, outcome_of(live));
		break;
	default:	/* lost silently */
		fate_end(fate, LNET_OK);
	}
}

void lnet_rules_send(struct lnet_pass *p, struct lnet_ni *ni, const struct lnet_hdr *hdr,
		     struct lnet_fate *fate)
{
	struct lnet_fault *f = READ_ONCE(p->ln->fault);
	struct lnet_rule_live *live;

	memset(fate, 0, sizeof(*fate));
	if (!f || !READ_ONCE(f->nr))
		return;
	spin_lock(&f->lock);
	list_for_each_entry(live, &f->rules, link) {
		if (fate->by_stock && live->r.kind == LNET_RULE_K_STOCK_DELAY)
			continue;
		if (!is_hit(live, &ni->nid, hdr, LNET_RULE_SEND, p->now_ns))
			continue;
		note_end(p->ln, live, p->now_ns);
		fate_apply_rule(live, fate, hdr, p->now_ns);
		if (fate->end)
			break;
	}
	spin_unlock(&f->lock);
	if (fate->end)
		atomic64_inc(&f->hits[false]);
	else if (fate->delay_ns)
		atomic64_inc(&f->hits[true]);
}

/* ---- received messages ----------------------------------------------------------------------- */

bool lnet_rules_receive(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr)
{
	struct lnet_fault *f = READ_ONCE(p->ln->fault);
	struct lnet_rule_live *live;
	bool lost = false;

	if (!f || !READ_ONCE(f->nr))
		return true;
	spin_lock(&f->lock);
	list_for_each_entry(live, &f->rules, link) {
		if (!is_hit(live, &rx->ni->nid, hdr, LNET_RULE_RECEIVE, p->now_ns))
			continue;
		note_end(p->ln, live, p->now_ns);
		lost = live->r.kind != LNET_RULE_K_CORRUPT;
		if (lost)
			break;
		/* position of the byte to change; never 0, because 0 means no change */
		rx->spoil = (1 + rule_random(live, BIT(30))) |
			    (live->r.where == LNET_SPOIL_PAGES ? SPOIL_PAGES : 0);
	}
	spin_unlock(&f->lock);
	return !lost;
}

static void flip(const struct lnet_buf *buf, u32 pos, u32 bit)
{
	u8 byte;

	lnet_buf_read(buf, pos, &byte, 1);
	byte ^= 1u << bit % 8;
	lnet_buf_write(buf, pos, &byte, 1);
}

/* Swaps the first page with the last whole one. */
static void swap_pages(const struct lnet_buf *buf, u32 len)
{
	u32 other = len / PAGE_BYTES * PAGE_BYTES - PAGE_BYTES, at;
	u8 a[64], b[64];

	for (at = 0; at < PAGE_BYTES; at += sizeof(a)) {
		lnet_buf_read(buf, at, a, sizeof(a));
		lnet_buf_read(buf, other + at, b, sizeof(b));
		lnet_buf_write(buf, at, b, sizeof(b));
		lnet_buf_write(buf, other + at, a, sizeof(a));
	}
}

void lnet_rx_spoil(struct lnet_rx *rx)
{
	u32 at = rx->spoil & ~SPOIL_PAGES;

	if (!rx->want)
		return;
	if (rx->spoil & SPOIL_PAGES && rx->want >= 2 * PAGE_BYTES)
		swap_pages(&rx->into, rx->want);
	else
		flip(&rx->into, at % rx->want, at >> 8);
}
