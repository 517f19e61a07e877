/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applies fault rules to attempts at the driver seam, where the core gives attempts to drivers. The
 * rules end an attempt, hold it back, or make the node send it twice. Held attempts are in a queue
 * of their shard, ordered by time.
 */
#include "plat.h"
#include "shard/trace.h"
#include "base/base.h"
#include "shard/shard.h"
#include "xfer/xfer.h"
#include "fault/fault.h"

/*
 * While @att is held, its driver does not use att->lnd. att->lnd[0] is the ID of the rule, and
 * att->lnd[1] is the number of messages that may still pass @att.
 */
static unsigned long *holder_of(struct lnet_att *att)
{
	return (unsigned long *)&att->lnd[0];
}

static unsigned long *behind_of(struct lnet_att *att)
{
	return (unsigned long *)&att->lnd[1];
}

/*
 * No lock held. Holds @att as @fate specifies. False: @att is not held, because the rule was
 * deleted meanwhile. If the rule is deleted later, lnet_rule_del() releases @att: it first unlinks
 * the rule, and then visits the shards.
 */
static bool att_hold(struct lnet_pass *p, struct lnet_fault *f, struct lnet_att *att,
		     const struct lnet_fate *fate)
{
	struct lnet_shard *sh = att->op->sh;
	struct lnet_att *at;
	struct list_head *pos = &sh->delayed;

	lnet_enter(p, sh);
	if (!lnet_rule_exists(f, fate->holder)) {
		lnet_leave(p);
		return false;
	}
	/* time at which a held attempt is released */
	att->posted_ns = p->now_ns + fate->delay_ns;
	lnet_rec_att(p, HELD, att, att->posted_ns, 0);
	*holder_of(att) = fate->holder;
	*behind_of(att) = fate->behind;
	list_for_each_entry_reverse(at, &sh->delayed, link) {
		if (at->posted_ns <= att->posted_ns) {
			pos = &at->link;
			break;
		}
	}
	list_add(&att->link, pos);
	WRITE_ONCE(att->flags, LNET_ATTF_DELAYED);
	at = list_first_entry(&sh->delayed, struct lnet_att, link);
	lnet_timer_set(&sh->wheel, &sh->delay_timer, at->posted_ns);
	lnet_leave(p);
	return true;
}

/* [sh] */
static void let_go(struct lnet_pass *p, struct lnet_att *att)
{
	att->lnd[0] = att->lnd[1] = NULL;
	WRITE_ONCE(att->flags, LNET_ATTF_RELEASED);
	list_move_tail(&att->link, &p->send);
}

void lnet_delay_timer(struct lnet_pass *p, struct lnet_timer *t)
{
	struct lnet_shard *sh = p->sh;
	struct lnet_att *att;

	while (!list_empty(&sh->delayed)) {
		att = list_first_entry(&sh->delayed, struct lnet_att, link);
		if (att->posted_ns > p->now_ns) {
			lnet_timer_set(&sh->wheel, t, att->posted_ns);
			return;
		}
		let_go(p, att);
	}
}

void lnet_att_release(struct lnet *ln, u32 id)
{
	struct lnet_att *att, *next;
	struct lnet_pass p;
	unsigned int i;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	for (i = 0; i < ln->nr_shards; i++) {
		lnet_enter(&p, &ln->shard[i]);
		list_for_each_entry_safe(att, next, &ln->shard[i].delayed, link)
			if (*holder_of(att) == id)
				let_go(&p, att);
		lnet_leave(&p);
	}
	lnet_pass_end(&p);
}

/*
 * No lock held. @att passes the attempts that are held on its path. Sends each held attempt that
 * enough messages have passed.
 */
static void passed(struct lnet_pass *p, const struct lnet_att *att)
{
	struct lnet_shard *sh = att->op->sh;
	struct lnet_att *held, *next;

	lnet_enter(p, sh);
	list_for_each_entry_safe(held, next, &sh->delayed, link)
		if (held->path == att->path && *behind_of(held) && !--*behind_of(held))
			let_go(p, held);
	lnet_leave(p);
}

bool lnet_fault_seam(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct lnet_fault *f = READ_ONCE(p->ln->fault);
	struct lnet_fate fate;
	struct lnet_hdr hdr;

	if (!f || att->flags & LNET_ATTF_RELEASED)
		return false;
	lnet_att_hdr(att, &hdr);
	lnet_rules_send(p, ni, &hdr, &fate);
	if (fate.end) {
		WRITE_ONCE(att->flags, LNET_ATTF_FAULT);
		lnet_att_done(p, att, fate.how, 0);
		return true;
	}
	if (fate.twice)
		atomic_set(&att->reports, LNET_REPORT_TWICE);
	if (fate.delay_ns && att_hold(p, f, att, &fate))
		return true;
	if (READ_ONCE(f->nr_reorder))
		passed(p, att);
	return false;
}
