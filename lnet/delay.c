/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Attempts that a delay rule holds back: by time in their shard, until its timer lets them go. */
#include "core.h"

enum { ATTF_DELAYED = 1 };

/* Holds @att back for @ns; no lock held. */
void lnet_att_delay(struct lnet_pass *p, struct lnet_att *att, u64 ns)
{
	struct lnet_shard *sh = att->op->sh;
	struct lnet_att *at;
	struct list_head *pos = &sh->delayed;

	lnet_enter(p, sh);
	att->posted_ns = p->now_ns + ns;	/* the time of release while it is delayed */
	list_for_each_entry_reverse(at, &sh->delayed, link) {
		if (at->posted_ns <= att->posted_ns) {
			pos = &at->link;
			break;
		}
	}
	list_add(&att->link, pos);
	WRITE_ONCE(att->flags, ATTF_DELAYED);
	at = list_first_entry(&sh->delayed, struct lnet_att, link);
	lnet_timer_set(&sh->wheel, &sh->delay_timer, at->posted_ns);
	lnet_leave(p);
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
		WRITE_ONCE(att->flags, LNET_ATTF_RELEASED);
		list_move_tail(&att->link, &p->send);
	}
}

bool lnet_att_undelay(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	bool was;

	if (!(READ_ONCE(att->flags) & ATTF_DELAYED))
		return false;
	lnet_enter(p, op->sh);
	was = att->flags & ATTF_DELAYED;
	if (was) {
		WRITE_ONCE(att->flags, 0);
		list_del_init(&att->link);
	}
	lnet_leave(p);
	return was;
}
