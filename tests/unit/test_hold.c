/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/fault/hold.c: a rule that is deleted while an attempt is about to be held. */
#define lnet_delay_timer hold_t_timer
#define lnet_att_release hold_t_release
#define lnet_fault_seam hold_t_seam
#define lnet_att_hdr hold_t_hdr
#define lnet_rules_send hold_t_rules
#include "node.h"
#include "shard/shard.h"
#include "xfer/xfer.h"
#include "fault/fault.h"
#include "lnet/fault/hold.c"

static bool is_deleted;		/* another thread deletes the rule after it has hit */

void hold_t_hdr(const struct lnet_att *att, struct lnet_hdr *hdr)
{
	memset(hdr, 0, sizeof(*hdr));
}

void hold_t_rules(struct lnet_pass *p, struct lnet_ni *ni, const struct lnet_hdr *hdr,
		  struct lnet_fate *fate)
{
	memset(fate, 0, sizeof(*fate));
	fate->delay_ns = NSEC_PER_SEC;
	fate->holder = lnet_rule_last(p->ln);
	if (is_deleted)
		lnet_rule_del(p->ln, &(struct lnet_rule_which){ .id = fate->holder,
								.kind = LNET_RULE_K_ANY });
}

static void test_deleted(void)
{
	struct lnet_rule r;
	struct lnet_pass p;
	struct lnet *ln = node_begin(1);
	struct lnet_op op = { .sh = &ln->shard[0] };
	struct lnet_att att = { .op = &op };

	lnet_rule_init(&r, LNET_RULE_K_DELAY);
	r.delay_ns = NSEC_PER_SEC;
	UNIT_EQUAL(lnet_rule_add(ln, &r), 0, "rule");
	UNIT_EQUAL(lnet_rule_add(ln, &r), 0, "another rule");
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	is_deleted = false;
	UNIT_EQUAL(lnet_fault_seam(&p, NULL, &att), true, "held");
	UNIT_EQUAL(list_empty(&op.sh->delayed), false, "in the queue");
	lnet_enter(&p, op.sh);
	list_del_init(&att.link);
	lnet_timer_cancel(&op.sh->wheel, &op.sh->delay_timer);
	lnet_leave(&p);
	att.flags = 0;
	is_deleted = true;
	UNIT_EQUAL(lnet_fault_seam(&p, NULL, &att), false, "given to the driver at once");
	UNIT_EQUAL(list_empty(&op.sh->delayed), true, "not in the queue");
	UNIT_EQUAL(att.flags, 0, "not marked as held");
	list_del_init(&op.sh->delayed);	/* if the test failed, @att is in the list */
	lnet_pass_end(&p);
	node_end(ln);
}

UNIT_SUITE(hold, { "dbg-005: a rule that was deleted meanwhile holds nothing", test_deleted })
