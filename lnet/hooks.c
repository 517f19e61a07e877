/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls from lower folders of the core to higher ones: one line each. */
#include "shard/hooks.h"
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
