/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The queue in which paths of a shard wait, in order, for the ping rate limit. Only the first path
 * is checked, because thousands of paths wait at once when a switch fails. Each peer also has a
 * token bucket, which bounds the pings that one peer can cause.
 */
#include "base/base.h"
#include "path/path.h"
#include "shard/trace.h"

#define BUDGET_BURST	8	/* pings that may be sent back to back */
#define CLAIMED_BURST_S	10ULL	/* bucket of a claimer, in s of recovery_ping_rate */

void lnet_probes_init(struct lnet_probes *probes,
		      void (*ping)(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns))
{
	probes->ping = ping;
	INIT_LIST_HEAD(&probes->line);
	lnet_timer_init(&probes->timer, LNET_TIMER_PROBE);
}

static void timer_arm(struct lnet_shard *sh, u64 now_ns)
{
	struct lnet_probes *probes = &sh->probes;

	if (list_empty(&probes->timer.link))
		lnet_timer_set(&sh->wheel, &probes->timer, max(probes->budget_ns, now_ns));
}

void lnet_probe_join(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns)
{
	lockdep_assert_held(&sh->lock);
	if (!list_empty(&path->line))
		return;
	lnet_rec_path(sh, now_ns, JOIN, path, now_ns, 0);
	if (sh->probes.budget_ns > now_ns || !list_empty(&sh->probes.line))
		lnet_count(sh, recovery_waits);
	list_add_tail(&path->line, &sh->probes.line);
	timer_arm(sh, now_ns);
}

void lnet_probe_first(struct lnet_pass *p, struct lnet_path *path)
{
	lnet_probe_join(p->sh, path, p->now_ns);
	list_move(&path->line, &p->sh->probes.line);
	lnet_probes_run(p);
}

/* recovery_rate is a rate of the node: each shard has an equal part of it. */
static void budget_take(struct lnet_shard *sh, u64 now_ns)
{
	u64 gap_ns = div64_u64(NSEC_PER_SEC * sh->ln->nr_shards,
			       READ_ONCE(sh->ln->tun.recovery_rate));
	u64 slack_ns = gap_ns * (BUDGET_BURST - 1);
	u64 floor_ns = now_ns > slack_ns ? now_ns - slack_ns : 0;

	sh->probes.budget_ns = max(sh->probes.budget_ns, floor_ns) + gap_ns;
}

static u64 ping_gap(const struct lnet *ln)
{
	return div64_u64(NSEC_PER_SEC, READ_ONCE(ln->tun.recovery_ping_rate));
}

/*
 * Without the token bucket, a node would ping a peer for ever that replies to pings but fails all
 * requests. Each path recovers by separate pings, so each path adds a burst.
 */
u64 lnet_probe_pay(struct lnet_pass *p, struct lnet_peer *peer)
{
	u64 gap_ns = ping_gap(p->ln);
	u64 burst = READ_ONCE(p->ln->tun.recovery_ping_burst) * max(peer->nr_paths, 1U);

	lockdep_assert_held(&p->sh->lock);
	return lnet_bucket_take(&peer->pings_paid_ns, p->now_ns, gap_ns, burst * gap_ns);
}

/* In a replay, no peer has a claimer. */
bool lnet_probe_pay_claimed(struct lnet_pass *p, const struct lnet_peer *peer)
{
	struct lnet_peer *claimer = peer->claimer;

	return !claimer || !lnet_bucket_take(&claimer->claimed_pings_ns, p->now_ns,
					     ping_gap(p->ln), CLAIMED_BURST_S * NSEC_PER_SEC);
}

void lnet_probe_refund(struct lnet_pass *p, struct lnet_peer *peer)
{
	lockdep_assert_held(&p->sh->lock);
	peer->pings_paid_ns -= min(peer->pings_paid_ns, ping_gap(p->ln));
}

void lnet_probes_run(struct lnet_pass *p)
{
	struct lnet_probes *probes = &p->sh->probes;
	unsigned int nr;

	lockdep_assert_held(&p->sh->lock);
	if (lnet_recs(p->sh))
		p->sh->rec->ops->note_line(p);
	for (nr = 0; nr < LNET_PASS_BURST && probes->budget_ns <= p->now_ns; nr++) {
		struct lnet_path *path =
			list_first_entry_or_null(&probes->line, struct lnet_path, line);

		if (!path)
			break;
		list_del_init(&path->line);
		if (lnet_path_probe(p, path))
			budget_take(p->sh, p->now_ns);
	}
	lnet_timer_cancel(&p->sh->wheel, &probes->timer);
	if (!list_empty(&probes->line))
		timer_arm(p->sh, p->now_ns);
}
