/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls from lower folders of the core to higher ones: one line each. */
#include "shard/hooks.h"
#include "fault/rule.h"
#include "recorder/record.h"
#include "router/router.h"

void lnet_hook_tuned(struct lnet *ln, const u64 *tunable, bool changed)
{
	if (tunable == &ln->tun.discovery && changed)
		lnet_disc_switched(ln);
	if (tunable == &ln->tun.record_size)
		lnet_record_tune(ln);
	lnet_router_resize(ln);
	if (tunable == &ln->tun.peer_buffer_credits)
		lnet_router_credits(ln);
}

bool lnet_hook_fault_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	return lnet_fault_seam(p, ni, att);
}

bool lnet_hook_fault_drops(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr)
{
	return lnet_fault_rx(p, rx->ni, hdr) || !lnet_rules_receive(p, rx, hdr);
}

void lnet_hook_fault_spoil(struct lnet_rx *rx)
{
	lnet_rx_spoil(rx);
}

u64 lnet_hook_fault_count(const struct lnet *ln, bool delay)
{
	return lnet_fault_count(ln, delay);
}

void lnet_hook_fault_count_reset(struct lnet *ln)
{
	lnet_fault_count_reset(ln);
}
