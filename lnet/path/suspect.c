/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signs of life of paths: round trips, suspicion when they are missing, and the budget of the
 * second copies that suspicion asks for.
 */
#include "path/path.h"
#include "shard/trace.h"

/* ---- suspicion and signs of life ------------------------------------------------------------- */

#define GAP_HALVED_NS	(250 * (u64)NSEC_PER_MSEC)

u64 lnet_path_round_trip(const struct lnet_path *path)
{
	return max(path->srtt_ns + 4 * path->rttvar_ns, 2 * path->srtt_ns);
}

/* By its round trips alone. */
static u64 round_trips(const struct lnet *ln, const struct lnet_path *path)
{
	u64 floor_ns = READ_ONCE(ln->tun.hedge_floor);

	if (!path->srtt_ns)
		return 3 * floor_ns;
	return max(floor_ns, lnet_path_round_trip(path));
}

u64 lnet_path_suspect_after(const struct lnet *ln, const struct lnet_path *path)
{
	return max(round_trips(ln, path), path->gap_ns + path->gap_ns / 2);
}

/*
 * A full link, or a processor that others use, too, gives signs of life in bursts with pauses
 * between. That is no loss: the longest pause of late tells what is silence. One that ends a
 * suspicion may have been an outage, so it counts only as far as it takes to learn in a few steps.
 */
static void gap_seen(const struct lnet *ln, struct lnet_path *path, u64 now_ns)
{
	u64 since_ns = max(path->evidence_ns, path->busy_ns), gap_ns;

	if (path->gap_ns && now_ns - path->gap_set_ns >= GAP_HALVED_NS) {
		path->gap_ns >>= min_t(u64, div_u64(now_ns - path->gap_set_ns, GAP_HALVED_NS), 32);
		path->gap_set_ns = now_ns;
	}
	if ((!path->nr_wire && list_empty(&path->asked)) || now_ns <= since_ns)
		return;
	gap_ns = min(now_ns - since_ns, 2 * lnet_path_suspect_after(ln, path));
	if (gap_ns > READ_ONCE(ln->tun.hedge_floor) / 2 && gap_ns > path->gap_ns) {
		path->gap_ns = gap_ns;
		path->gap_set_ns = now_ns;
	}
}

/*
 * The probe goes at once. The connections are left alone until it fails: a pause of the other
 * host's scheduler makes a path suspect, too, and giving up its connections would turn that into
 * failures.
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
	if (path->recovering && !path->pinging)
		lnet_probe_first(p, path);
}

/* As TCP estimates its round trip (RFC 6298). */
static void rtt_add(struct lnet_path *path, u64 rtt_ns)
{
	if (!path->srtt_ns) {
		path->srtt_ns = rtt_ns;
		path->rttvar_ns = rtt_ns / 2;
		return;
	}
	path->rttvar_ns =
		path->rttvar_ns - path->rttvar_ns / 4 + abs_diff(path->srtt_ns, rtt_ns) / 4;
	path->srtt_ns = path->srtt_ns - path->srtt_ns / 8 + rtt_ns / 8;
}

/*
 * What left before the path came back took as long as the silence: that is no round trip (as Karn,
 * for TCP). But a path that is slower now would be suspect for ever; so the first of these counts,
 * as far as it may without the time after which the path is suspect growing to many times as long.
 */
static void measured(const struct lnet *ln, struct lnet_path *path, u64 now_ns, u64 rtt_ns)
{
	u64 after_ns;

	if (likely(now_ns - rtt_ns >= path->back_ns)) {
		rtt_add(path, rtt_ns);
	} else if (!path->back_measured) {
		path->back_measured = true;
		after_ns = round_trips(ln, path);
		rtt_add(path, min(rtt_ns, path->srtt_ns ? 2 * after_ns : after_ns / 3));
	}
}

void lnet_path_alive(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns, u64 rtt_ns)
{
	bool was_down = path->down_ns, was_bad = was_down || path->suspect_ns;

	lnet_rec_path(sh, now_ns, ALIVE, path, now_ns, rtt_ns);
	if (path->evidence_ns != now_ns) {	/* the answer to a request reports it twice */
		if (unlikely(now_ns - path->evidence_ns > NSEC_PER_MSEC))
			gap_seen(sh->ln, path, now_ns);
		path->evidence_ns = now_ns;
		lnet_seen_add(path->ni->sh[sh->ix].heard, path->hop->ix, now_ns);
	}
	if (unlikely(path->health < LNET_HEALTH_MAX))
		lnet_blame_clear(sh, path);
	if (unlikely(was_bad)) {
		path->back_ns = now_ns;
		path->back_measured = false;
	}
	if (rtt_ns)
		measured(sh->ln, path, now_ns, rtt_ns);
	if (was_down)
		lnet_path_log_recovered(path, now_ns);
	else
		lnet_path_log_whole(path, now_ns);
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
	const struct lnet_path *trunk = att->path->trunk;

	return (att->outcome == LNET_LOCAL_TIMEOUT || att->outcome == LNET_NETWORK_TIMEOUT) &&
	       !(att->flags & LNET_ATTF_FAULT) && p->now_ns >= att->deadline_ns &&
	       trunk->evidence_ns > att->posted_ns && trunk->evidence_ns + MOVING_NS > p->now_ns;
}

/* Whose silence: the peer's if its side had the message or was heard since, else the way's. */
enum lnet_outcome lnet_att_silence(const struct lnet_att *att)
{
	if (att->path->evidence_ns > att->posted_ns)
		return LNET_REMOTE_TIMEOUT;
	/* a router's driver speaks for the router */
	if (att->outcome == LNET_CONFIRMED && !lnet_path_routed(att->path))
		return LNET_REMOTE_TIMEOUT;
	return LNET_NETWORK_TIMEOUT;
}

/* ---- hedging budget -------------------------------------------------------------------------- */

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
