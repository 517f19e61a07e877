/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table ln->hooks, by which lower folders call functions and tables of higher folders. */
#include "shard/hooks.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "receive/receive.h"
#include "service/service.h"
#include "router/router.h"
#include "fault/fault.h"
#include "recorder/recorder.h"
#include "manage/manage.h"

static void tuned(struct lnet *ln, const u64 *tunable, bool changed)
{
	if (tunable == &ln->tun.discovery && changed)
		lnet_disc_switched(ln);
	if (tunable == &ln->tun.record_size)
		lnet_record_tune(ln);
	lnet_router_resize(ln);
	if (tunable == &ln->tun.peer_buffer_credits)
		lnet_router_credits(ln);
}

static void hooks_shard_init(struct lnet_shard *sh)
{
	lnet_windows_init(sh);
	lnet_probes_init(&sh->probes, lnet_ping_path);
}

static void shard_fini(struct lnet_shard *sh)
{
	lnet_rx_pool_fini(sh);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static void op_due(struct lnet_pass *p, struct lnet_timer *t)
{
	lnet_op_timer(p, container_of(t, struct lnet_op, timer));
}

static void path_due(struct lnet_pass *p, struct lnet_timer *t)
{
	lnet_path_timer(p, container_of(t, struct lnet_path, timer));
}

static void peer_due(struct lnet_pass *p, struct lnet_timer *t)
{
	lnet_peer_timer(p, container_of(t, struct lnet_peer, timer));
}

static void disc_due(struct lnet_pass *p, struct lnet_timer *t)
{
	lnet_disc_step(p, container_of(t, struct lnet_peer, disc.timer));
}

static void probe_due(struct lnet_pass *p, struct lnet_timer *t)
{
	lnet_probes_run(p);
}

static void walk_due(struct lnet_pass *p, struct lnet_timer *t)
{
	lnet_walk_timer(p);
}

/* ---- periodic jobs --------------------------------------------------------------------------- */

static void park_work(struct lnet_pass *p)
{
	struct lnet_shard *sh = &p->ln->shard[0];

	if (p->now_ns < READ_ONCE(sh->lazy_ns))
		return;
	WRITE_ONCE(sh->lazy_ns, U64_MAX);
	lnet_job_schedule(p->ln, &sh->lazy_ns, lnet_match_expire(p));
}

static void rules_work(struct lnet_pass *p)
{
	lnet_rules_work(p->ln, p->now_ns);
}

static void log_work(struct lnet_pass *p)
{
	lnet_log_work(p->ln, p->now_ns);
}

#define WHEN(job, field)				\
static u64 job##_when(const struct lnet *ln)		\
{							\
	return READ_ONCE(ln->field);			\
}
WHEN(park, shard[0].lazy_ns)
WHEN(merge, disc.todo_ns)
WHEN(push, disc.walk_ns)
WHEN(ask, disc.ask_ns)
WHEN(age, expiry_ns)
WHEN(weights, weigh_ns)
WHEN(flaps, flap_ns)
WHEN(rules, rules_ns)
WHEN(log, log.job_ns)

/* ---- attempts and fault rules ---------------------------------------------------------------- */

static void not_taken(struct lnet_pass *p, struct lnet_att *att)
{
	lnet_att_done(p, att, att->outcome, 0);
}

static bool fault_drops(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr)
{
	return lnet_fault_peer_fails(p->ln, &hdr->src_nid) || !lnet_rules_receive(p, rx, hdr);
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct lnet_hooks lnet_hooks = {
	.tuned = tuned,
	.acks = lnet_pass_acks,
	.starts = lnet_pass_starts,
	.cancels = lnet_pass_cancels,
	.resets = lnet_path_resets,
	.receives = lnet_pass_receives,
	.stops = lnet_pass_stops,
	.reported = lnet_atts_reported,
	.backs = lnet_pass_backs,
	.routed = lnet_pass_routed,
	.posts = lnet_md_posts,
	.take_ready = lnet_md_take_ready,
	.deliver = lnet_md_deliver,
	.hand_over = lnet_md_hand_over,
	.not_taken = not_taken,
	.link_work = lnet_ni_link_work,
	.slots_prealloc = lnet_slots_prealloc,
	.shard_init = hooks_shard_init,
	.shard_fini = shard_fini,
	.timers = {
		[LNET_TIMER_OP] = op_due,
		[LNET_TIMER_PATH] = path_due,
		[LNET_TIMER_PEER] = peer_due,
		[LNET_TIMER_WINDOW] = lnet_window_timer,
		[LNET_TIMER_ROUTER] = lnet_router_timer,
		[LNET_TIMER_DELAY] = lnet_delay_timer,
		[LNET_TIMER_GATEWAY] = lnet_gateway_timer,
		[LNET_TIMER_DISC] = disc_due,
		[LNET_TIMER_PROBE] = probe_due,
		[LNET_TIMER_PROOF] = lnet_proofs_timer,
		[LNET_TIMER_WALK] = walk_due,
	},
	.jobs = {
		{ park_when, park_work },
		{ merge_when, lnet_merge_work },
		{ push_when, lnet_push_work },
		{ ask_when, lnet_disc_ask_work },
		{ age_when, lnet_expiry_work },
		{ weights_when, lnet_weights_work },
		{ flaps_when, lnet_flaps_work },
		{ lnet_router_job_ns, lnet_router_work },
		{ lnet_routes_next_ns, lnet_routes_work },
		{ rules_when, rules_work },
		{ log_when, log_work },
	},
	.negotiate = lnet_session_negotiate,
	.peer_end = lnet_disc_peer_end,
	.peer_free = lnet_disc_peer_free,
	.peer_made = lnet_expiry_peer_made,
	.forward_rx = {
		.is_accepted = lnet_router_forwards, .begin = lnet_forward_begin,
		.receive = lnet_forward_receive, .done = lnet_forward_done,
		.gone = lnet_forward_gone, .is_wanted = lnet_forward_is_wanted,
		.free = lnet_forward_free,
	},
	.forward_op = {
		.hdr = lnet_forward_hdr, .payload = lnet_forward_payload,
		.is_resendable = lnet_forward_resendable, .is_stuck = lnet_forward_stuck,
		.substitute = lnet_forward_substitute, .avoid = lnet_forward_avoid,
	},
	.ping_reply = lnet_ping_reply,
	.push_taken = lnet_push_taken,
	.rx_matched = lnet_rx_matched,
	.fault_send = lnet_fault_seam,
	.fault_drops = fault_drops,
	.fault_spoil = lnet_rx_spoil,
	.fault_count = lnet_fault_count,
	.ping_urgent = lnet_ping_urgent,
};
