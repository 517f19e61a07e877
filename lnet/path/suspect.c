/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Liveness of paths: round-trip times, suspicion of paths without response, and the hedge budget.
 */
#include "path/path.h"
#include "shard/trace.h"

#define GAP_HALVED_NS	(250 * (u64)NSEC_PER_MSEC)

u64 lnet_path_round_trip(const struct lnet_path *path)
{
	return max(path->srtt_ns + 4 * path->rttvar_ns, 2 * path->srtt_ns);
}

/* Returns the response timeout computed from round-trip times alone. */
static u64 round_trips(const struct lnet *ln, const struct lnet_path *path)
{
	u64 floor_ns = READ_ONCE(ln->tun.hedge_floor);

	if (!path->srtt_ns)
		return 3 * floor_ns;
	return max(floor_ns, lnet_path_round_trip(path));
}

u64 lnet_path_response_timeout(const struct lnet *ln, const struct lnet_path *path)
{
	return max(round_trips(ln, path), path->gap_ns + path->gap_ns / 2);
}

/*
 * Records a gap between responses. On a full link or a busy processor, responses arrive in bursts.
 * The gaps between the bursts are no loss, so the longest recent gap raises the response timeout. A
 * gap that ends a suspicion may have been an outage. So it counts for at most 2 response timeouts,
 * and the response timeout adapts to longer gaps in a few steps.
 */
static void gap_seen(const struct lnet *ln, struct lnet_path *path, u64 now_ns)
{
	u64 since_ns = max(path->liveness_ns, path->busy_ns), gap_ns;

	if (path->gap_ns && now_ns - path->gap_set_ns >= GAP_HALVED_NS) {
		path->gap_ns >>= min_t(u64, div_u64(now_ns - path->gap_set_ns, GAP_HALVED_NS), 32);
		path->gap_set_ns = now_ns;
	}
	if ((!path->nr_wire && list_empty(&path->await_reply)) || now_ns <= since_ns)
		return;
	gap_ns = min(now_ns - since_ns, 2 * lnet_path_response_timeout(ln, path));
	if (gap_ns > READ_ONCE(ln->tun.hedge_floor) / 2 && gap_ns > path->gap_ns) {
		path->gap_ns = gap_ns;
		path->gap_set_ns = now_ns;
	}
}

/*
 * Marks a path as suspect. The ping is sent at once, but the connections are reset only if the ping
 * fails. A pause in the scheduler of the peer also makes a path suspect, and a reset would turn
 * such a pause into failures.
 */
void lnet_path_suspect(struct lnet_pass *p, struct lnet_path *path)
{
	lockdep_assert_held(&p->sh->lock);
	if (path->suspect_ns || path->ni == p->ln->lo || !READ_ONCE(p->ln->tun.hedge))
		return;
	path->suspect_ns = p->now_ns;
	lnet_rec_path(p->sh, p->now_ns, SUSPECT, path, path->srtt_ns, path->rttvar_ns);
	lnet_trace(path, path);
	lnet_count(p->sh, suspects);
	lnet_path_recover_at(p->sh, path, p->now_ns);
	/* makes the path's ping the next one in the queue */
	if (path->recovering && !path->pinging) {
		lnet_probe_join(p->sh, path, p->now_ns);
		list_move(&path->probe_link, &p->sh->probes.queue);
		lnet_probes_run(p);
	}
}

/*
 * Estimates the round-trip time as TCP does (RFC 6298). If a message was sent before the path
 * recovered, the time until its reply measures the outage, not the round-trip time (Karn's
 * algorithm of TCP). But if all such times were ignored, a path that has become slower would remain
 * suspect for ever. So the first such time counts, with a limit on the growth of the response
 * timeout.
 */
static void rtt_update(const struct lnet *ln, struct lnet_path *path, u64 now_ns, u64 rtt_ns)
{
	u64 after_ns;

	if (unlikely(now_ns - rtt_ns < path->back_ns)) {
		if (path->back_measured)
			return;
		path->back_measured = true;
		after_ns = round_trips(ln, path);
		rtt_ns = min(rtt_ns, path->srtt_ns ? 2 * after_ns : after_ns / 3);
	}
	if (!path->srtt_ns) {
		path->srtt_ns = rtt_ns;
		path->rttvar_ns = rtt_ns / 2;
		return;
	}
	path->rttvar_ns =
		path->rttvar_ns - path->rttvar_ns / 4 + abs_diff(path->srtt_ns, rtt_ns) / 4;
	path->srtt_ns = path->srtt_ns - path->srtt_ns / 8 + rtt_ns / 8;
}

void lnet_path_alive(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns, u64 rtt_ns)
{
	bool was_down = path->down_ns, was_bad = was_down || path->suspect_ns;

	lnet_rec_path(sh, now_ns, ALIVE, path, now_ns, rtt_ns);
	/*
	 * A reply to a request reports liveness twice, at the same time. The second report changes
	 * nothing here.
	 */
	if (path->liveness_ns != now_ns) {
		if (unlikely(now_ns - path->liveness_ns > NSEC_PER_MSEC))
			gap_seen(sh->ln, path, now_ns);
		path->liveness_ns = now_ns;
		lnet_seen_add(path->ni->sh[sh->ix].responded, path->hop->ix, now_ns);
	}
	if (unlikely(path->health < LNET_HEALTH_MAX))
		lnet_attribution_clear(sh, path);
	if (unlikely(was_bad)) {
		path->back_ns = now_ns;
		path->back_measured = false;
	}
	if (rtt_ns)
		rtt_update(sh->ln, path, now_ns, rtt_ns);
	if (unlikely(path->logged_ns) && !path->logged_down && path->health == LNET_HEALTH_MAX)
		lnet_path_log_recovered(path, now_ns);
	if (likely(!was_bad))
		return;
	path->suspect_ns = 0;
	path->down_ns = 0;
	lnet_trace(path, path);
	if (was_down)
		lnet_path_recover_at(sh, path, now_ns);
}

#define MOVING_NS	(250 * (u64)NSEC_PER_MSEC)

bool lnet_att_slow(const struct lnet_pass *p, const struct lnet_att *att)
{
	const struct lnet_path *first_hop = att->path->first_hop;

	return (att->outcome == LNET_LOCAL_TIMEOUT || att->outcome == LNET_NETWORK_TIMEOUT) &&
	       !(att->flags & LNET_ATTF_FAULT) && p->now_ns >= att->deadline_ns &&
	       first_hop->liveness_ns > att->posted_ns &&
	       first_hop->liveness_ns + MOVING_NS > p->now_ns;
}

enum lnet_outcome lnet_att_late_outcome(const struct lnet_att *att)
{
	/* on a routed path, only the router has acknowledged the message */
	bool acked = att->outcome == LNET_ACKNOWLEDGED && !lnet_path_is_routed(att->path);

	return acked || att->path->liveness_ns > att->posted_ns ? LNET_REMOTE_TIMEOUT :
								  LNET_NETWORK_TIMEOUT;
}

bool lnet_hedge_allowed(struct lnet_shard *sh, struct lnet_peer *peer)
{
	s64 burst = READ_ONCE(sh->ln->tun.hedge_burst) * 1000;

	if (peer->hedge_tokens + burst < 1000) {
		lnet_count(sh, hedges_denied);
		return false;
	}
	peer->hedge_tokens -= 1000;
	return true;
}

void lnet_peer_earn(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (unlikely(peer->hedge_tokens < 0))
		peer->hedge_tokens =
			min(peer->hedge_tokens + (s64)READ_ONCE(p->ln->tun.hedge_budget), (s64)0);
	if (unlikely(peer->pings_paid_ns > p->now_ns))
		lnet_probe_refund(p, peer);
}
