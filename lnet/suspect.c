/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signs of life of paths: round trips, suspicion when they are missing, and the budget of the
 * second copies that suspicion asks for.
 */
#include "plat.h"
#include "health.h"
#include "record_hook.h"

/* ---- suspicion and signs of life ------------------------------------------------------------- */

u64 lnet_path_suspect_after(const struct lnet *ln, const struct lnet_path *path)
{
	u64 floor_ns = READ_ONCE(ln->tun.hedge_floor);

	if (!path->srtt_ns)
		return 3 * floor_ns;
	return max3(floor_ns, path->srtt_ns + 4 * path->rttvar_ns, 2 * path->srtt_ns);
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
		after_ns = lnet_path_suspect_after(ln, path);
		rtt_add(path, min(rtt_ns, path->srtt_ns ? 2 * after_ns : after_ns / 3));
	}
}

void lnet_path_alive(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns, u64 rtt_ns)
{
	bool was_down = path->down_ns, was_bad = was_down || path->suspect_ns;

	lnet_rec_path(sh, now_ns, ALIVE, path, now_ns, rtt_ns);
	path->evidence_ns = now_ns;
	lnet_blame_heard(sh, path, now_ns);
	if (unlikely(path->health < LNET_HEALTH_MAX))
		lnet_blame_clear(sh, path);
	if (unlikely(was_bad)) {
		path->back_ns = now_ns;
		path->back_measured = false;
	}
	if (rtt_ns)
		measured(sh->ln, path, now_ns, rtt_ns);
	if (likely(!was_bad))
		return;
	path->suspect_ns = 0;
	path->down_ns = 0;
	lnet_trace(path, path);
	if (was_down)
		lnet_path_recover_at(sh, path, now_ns);
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

void lnet_hedge_earn(struct lnet_shard *sh, struct lnet_peer *peer)
{
	if (unlikely(peer->hedge_tokens < 0))
		peer->hedge_tokens =
			min(peer->hedge_tokens + (s64)READ_ONCE(sh->ln->tun.hedge_budget), (s64)0);
}
