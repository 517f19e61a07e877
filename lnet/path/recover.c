/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recovery: tests each path that is not healthy by pings on that path.
 *
 * Slow recovery has one ping in flight. After each failed ping it pauses for a quarter of the time
 * since the path went down, with jitter. Quick recovery begins when a ping succeeds. It has several
 * pings in flight, and each reply adds health_step to the path and both ends, until the path is
 * healthy.
 *
 * Two limits apply to each ping. The ping rate limit applies to all pings of the node: paths that
 * wait for it are in a queue of their shard. The shard checks only the first path of the queue,
 * because thousands of paths may wait after a switch has failed. In addition, each peer has a token
 * bucket for the pings of all its paths. The bucket is refilled at the rate recovery_ping_rate.
 *
 * A failed ping lowers the health of the path, down to 0. If attribution.c attributes the failure
 * to the peer NI, the failed ping also lowers the health of the peer NI. The health of the NI falls
 * only once per outage, because the NI may not have caused the failure of a peer. The NI then
 * recovers by pings on its other paths. lnet_select() starts their recovery when it checks these
 * paths.
 *
 * The first-hop path tests the NI and the router of a routed path. The routed path itself pings its
 * peer NI, but only while the first-hop path is neither suspect nor down.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "shard/trace.h"

enum { RECOVER_NOT, RECOVER_SLOW, RECOVER_QUICK };

/* largest number of pings in flight on a path in quick recovery */
#define PINGS_AT_ONCE		4
#define PING_TIMEOUT_MIN_NS	(100 * (u64)NSEC_PER_MSEC)
/*
 * A suspect path may only have become slow. During this time, a late ping does not prove that the
 * path is down.
 */
#define DOUBT_NS		(250 * (u64)NSEC_PER_MSEC)
/*
 * Time during which a late ping does not prove that the path is down, if the round-trip time is
 * unknown. The driver may have to connect first: RTO of RFC 6298.
 */
#define UNKNOWN_NS		((u64)NSEC_PER_SEC)
#define BUSY_NS			((u64)NSEC_PER_SEC)	/* older responses do not count */
/* largest number of pings that a shard sends in one burst, without a gap between them */
#define BUDGET_BURST		8
/* size of a claimer's token bucket, as seconds of recovery_ping_rate */
#define CLAIMED_BURST_S		10ULL

/*
 * True if the node no longer pings @path: after recovery_limit without a response, and for a peer
 * that is not configured also after peer_age.
 */
static bool given_up(const struct lnet *ln, const struct lnet_path *path, u64 now_ns)
{
	u64 limit_ns = READ_ONCE(ln->tun.recovery_limit), age_ns = READ_ONCE(ln->tun.peer_age);
	u64 rx_ns = lnet_rec_value(path->pni->sh, path->pni->last_rx_ns);
	u64 heard_ns = max(rx_ns, path->liveness_ns);

	if (path->pni->peer && !path->pni->peer->configured && age_ns)
		limit_ns = limit_ns ? min(limit_ns, age_ns) : age_ns;
	if (!heard_ns)
		heard_ns = path->down_ns;
	return limit_ns && heard_ns && now_ns > heard_ns && now_ns - heard_ns > limit_ns;
}

/*
 * True if @path needs pings, and they may succeed. While the NI or the peer NI has no link, no ping
 * can succeed. When the link of the NI is up again, lnet_select() restarts recovery. When the
 * interface of the peer is up again, the peer advertises this change. Paths through the gateway
 * recover after their first-hop path.
 */
static bool worth_it(struct lnet_shard *sh, const struct lnet_path *path, u64 now_ns)
{
	const struct lnet_path *first_hop = path->first_hop;
	const struct lnet *ln = sh->ln;

	if (lnet_path_is_routed(path) && (first_hop->suspect_ns || first_hop->down_ns))
		return false;
	return !lnet_path_is_healthy(path) && path->ni != ln->lo && path->ni->state == NI_ACTIVE &&
	       lnet_ni_has_link(path->ni) && path->pni->status != LNET_PNI_STATUS_DOWN &&
	       !path->gone && !path->pni->deleted && !READ_ONCE(ln->stopping) &&
	       !given_up(ln, path, now_ns);
}

static void recovering_set(struct lnet_path *path, u8 to)
{
	if (path->recovering == to)
		return;
	path->recovering = to;
	lnet_trace(path, path);
}

static void recovery_stop(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns)
{
	recovering_set(path, RECOVER_NOT);
	path->pni->next_ping_ns = 0;
	lnet_timer_cancel(&sh->wheel, &path->timer);
	lnet_probe_leave(path);
	if (path->health == LNET_HEALTH_MAX)
		lnet_path_log_recovered(path, now_ns);
}

/* Makes @path send a ping as soon as the ping rate limit allows. */
static void ping_soon(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns)
{
	lnet_timer_cancel(&sh->wheel, &path->timer);
	lnet_probe_join(sh, path, now_ns);
	path->pni->next_ping_ns = max(sh->probes.budget_ns, now_ns);
}

static void ping_after(struct lnet_pass *p, struct lnet_path *path, u64 pause_ns)
{
	lnet_rec_path(p->sh, p->now_ns, PAUSE, path, pause_ns, 0);
	lnet_probe_leave(path);
	path->pni->next_ping_ns = p->now_ns + pause_ns;
	lnet_timer_set(&p->sh->wheel, &path->timer, p->now_ns + pause_ns);
}

void lnet_path_recover_at(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns)
{
	if (!worth_it(sh, path, now_ns))
		return;
	if (path->recovering == RECOVER_NOT)
		recovering_set(path, RECOVER_SLOW);
	if (!path->pinging)
		ping_soon(sh, path, now_ns);
}

void lnet_path_recover(struct lnet_shard *sh, struct lnet_path *path)
{
	lockdep_assert_held(&sh->lock);
	lnet_rec_path(sh, 0, RECOVER, path, 0, 0);
	lnet_path_recover_at(sh, path,
			     lnet_rec_value(sh, sh->ln->env->ops->now_ns(sh->ln->env)));
}

static u64 ping_timeout(const struct lnet *ln, const struct lnet_path *path)
{
	u64 retries = max(READ_ONCE(ln->tun.retry_count), (u64)1);
	u64 most_ns = div64_u64(READ_ONCE(ln->tun.transaction_timeout), retries);

	return min(max(4 * lnet_path_response_timeout(ln, path), PING_TIMEOUT_MIN_NS), most_ns);
}

/*
 * Returns the number of pings to have in flight: at most the number of successes that full health
 * still requires. With a health_step of 1, an NI at 900 needs exactly 100 pings.
 */
static unsigned int pings_wanted(const struct lnet *ln, const struct lnet_path *path)
{
	u64 step = READ_ONCE(ln->tun.health_step);
	u64 missing = LNET_HEALTH_MAX - lnet_path_health(path);
	u64 wanted = max(div64_u64(missing + step - 1, step), (u64)1);

	return path->recovering == RECOVER_QUICK ? min(wanted, (u64)PINGS_AT_ONCE) : 1;
}

/* ---- rate limits ----------------------------------------------------------------------------- */

static u64 ping_gap(const struct lnet *ln)
{
	return div64_u64(NSEC_PER_SEC, READ_ONCE(ln->tun.recovery_ping_rate));
}

void lnet_probe_refund(struct lnet_pass *p, struct lnet_peer *peer)
{
	lockdep_assert_held(&p->sh->lock);
	peer->pings_paid_ns -= min(peer->pings_paid_ns, ping_gap(p->ln));
}

/*
 * [sh] Limits the pings to peers that are known only from messages of their claimer, because such a
 * peer may not exist. While the node has received nothing from the NID of @path, each ping takes a
 * token from the bucket of the claimer. All peers of the claimer share this bucket, whose size is
 * 10 s of recovery_ping_rate.
 *
 * False: the bucket is empty. The node then does not ping @path until it next considers @path for a
 * message. A caller makes this check last, because the check takes a token. A replay has no
 * claimers, so this function reads the recorded results.
 */
static bool claimer_pays(struct lnet_pass *p, const struct lnet_path *path)
{
	u64 rx_ns = lnet_rec_value(p->sh, path->pni->last_rx_ns);
	struct lnet_peer *claimer = path->pni->peer->claimer;

	if (likely(!lnet_rec_value(p->sh, claimer != NULL) || rx_ns || path->liveness_ns) ||
	    lnet_rec_value(p->sh, !claimer ||
			   !lnet_bucket_take(&claimer->claimed_pings_ns, p->now_ns, ping_gap(p->ln),
					     CLAIMED_BURST_S * NSEC_PER_SEC)))
		return true;
	lnet_count(p->sh, recovery_limited);
	return false;
}

/* ---- the queue ------------------------------------------------------------------------------- */

void lnet_probes_init(struct lnet_probes *probes,
		      void (*ping)(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns))
{
	probes->ping = ping;
	INIT_LIST_HEAD(&probes->queue);
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
	if (!list_empty(&path->probe_link))
		return;
	lnet_rec_path(sh, now_ns, JOIN, path, now_ns, 0);
	if (sh->probes.budget_ns > now_ns || !list_empty(&sh->probes.queue))
		lnet_count(sh, recovery_waits);
	list_add_tail(&path->probe_link, &sh->probes.queue);
	timer_arm(sh, now_ns);
}

/*
 * Sends a ping of @path, the first path of the queue, if the limits permit. True: the ping was
 * sent.
 */
static bool path_probe(struct lnet_pass *p, struct lnet_path *path)
{
	struct lnet_peer *peer = path->pni->peer;
	u64 gap_ns, burst, wait_ns;

	lnet_rec_path(p->sh, p->now_ns, PROBE, path, 0, 0);
	if (!worth_it(p->sh, path, p->now_ns)) {
		recovery_stop(p->sh, path, p->now_ns);
		return false;
	}
	if (path->pinging >= pings_wanted(p->ln, path))
		return false;			/* lnet_path_ping_done() continues */
	/*
	 * A peer may reply to pings but fail all requests. Without the token bucket of the peer,
	 * the node would ping such a peer without end. Each path recovers by separate pings. So the
	 * size of the bucket is recovery_ping_burst for each path of the peer.
	 */
	gap_ns = ping_gap(p->ln);
	burst = READ_ONCE(p->ln->tun.recovery_ping_burst) * max(peer->nr_paths, 1U);
	wait_ns = lnet_bucket_take(&peer->pings_paid_ns, p->now_ns, gap_ns, burst * gap_ns);
	if (unlikely(wait_ns)) {
		lnet_count(p->sh, recovery_limited);
		ping_after(p, path, wait_ns);
		return false;
	}
	if (!claimer_pays(p, path)) {
		lnet_probe_refund(p, peer);
		recovery_stop(p->sh, path, p->now_ns);
		return false;
	}
	path->pinging++;
	path->pni->ping_count++;
	path->pni->next_ping_ns = 0;
	lnet_count(p->sh, recovery_pings);
	lnet_rec_path(p->sh, p->now_ns, PING, path, path->pinging, ping_timeout(p->ln, path));
	p->sh->probes.ping(p, path, ping_timeout(p->ln, path));
	lnet_rec_back(p->sh);
	if (path->recovering == RECOVER_QUICK && path->pinging < pings_wanted(p->ln, path))
		ping_soon(p->sh, path, p->now_ns);
	return true;
}

void lnet_probes_run(struct lnet_pass *p)
{
	struct lnet_probes *probes = &p->sh->probes;
	/*
	 * The tunable recovery_rate applies to the whole node, so each shard may use an equal part
	 * of it.
	 */
	u64 gap_ns = div64_u64(NSEC_PER_SEC * p->ln->nr_shards,
			       READ_ONCE(p->ln->tun.recovery_rate));
	u64 slack_ns = gap_ns * (BUDGET_BURST - 1), floor_ns = p->now_ns - min(p->now_ns, slack_ns);
	unsigned int nr;

	lockdep_assert_held(&p->sh->lock);
	lnet_rec_note(p->sh, note_probes, p);
	for (nr = 0; nr < LNET_PASS_BURST && probes->budget_ns <= p->now_ns; nr++) {
		struct lnet_path *path =
			list_first_entry_or_null(&probes->queue, struct lnet_path, probe_link);

		if (!path)
			break;
		list_del_init(&path->probe_link);
		if (path_probe(p, path))
			probes->budget_ns = max(probes->budget_ns, floor_ns) + gap_ns;
	}
	lnet_timer_cancel(&p->sh->wheel, &probes->timer);
	if (!list_empty(&probes->queue))
		timer_arm(p->sh, p->now_ns);
}

/* ---- replies and failures -------------------------------------------------------------------- */

void lnet_path_timer(struct lnet_pass *p, struct lnet_path *path)
{
	lockdep_assert_held(&p->sh->lock);
	lnet_rec_path(p->sh, p->now_ns, PATH_TIMER, path, path->timer.when_ns, 0);
	ping_soon(p->sh, path, p->now_ns);
	lnet_probes_run(p);
}

bool lnet_peer_is_responsive(const struct lnet_peer *peer, const struct lnet_path *but, u64 now_ns)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			if (path != but && lnet_is_within(path->liveness_ns, now_ns, BUSY_NS))
				return true;
	return false;
}

/*
 * Returns the pause after a failed ping: a quarter of the time since down_ns, within the bounds,
 * +-20 %.
 */
static u64 pause(struct lnet_pass *p, const struct lnet_path *path)
{
	const struct lnet_tunables *tun = &p->ln->tun;
	u64 most_ns = READ_ONCE(tun->max_recovery_ping_interval);
	u64 ns = READ_ONCE(tun->min_recovery_ping_interval);
	u64 chance = lnet_rec_value(p->sh, p->ln->env->ops->random(p->ln->env));
	u32 percent = 80 + (u32)(((chance >> 32) * 41) >> 32);

	if (path->down_ns && p->now_ns > path->down_ns)
		ns = max(ns, (p->now_ns - path->down_ns) / 4);
	/*
	 * If another path to the peer responds, the node exchanges messages with the peer, which
	 * could use @path. So the pause is shorter.
	 */
	if (path->pni->peer && lnet_peer_is_responsive(path->pni->peer, path, p->now_ns))
		most_ns = min(most_ns, READ_ONCE(tun->busy_recovery_ping_interval));
	return min(div_u64(min(ns, most_ns) * percent, 100), most_ns);
}

/*
 * Attributes a failed ping. @alive: the path responded while the ping was in flight, so the network
 * works, but the peer did not reply. If the path was lost (-ECONNRESET), lnet_path_lost() has
 * penalized it already. All other errors except a timeout are attributed to the peer.
 */
static void ping_blame(struct lnet_pass *p, struct lnet_path *path, int status, bool alive)
{
	u8 ends = path->down_ns ? LNET_ATTRIB_REMOTE : LNET_ATTRIB_BOTH;
	enum lnet_outcome how = LNET_REMOTE_TIMEOUT;
	struct lnet_peer_ni *pni = path->pni;

	if (lnet_path_is_routed(path)) {
		if (status != -ETIMEDOUT ||
		    lnet_is_within(lnet_rec_value(p->sh, pni->last_rx_ns), p->now_ns, BUSY_NS))
			return;
		ends = LNET_ATTRIB_REMOTE;
	} else if (!alive) {
		if (status == -ECONNRESET)
			return;
		how = status == -ETIMEDOUT ? LNET_NETWORK_TIMEOUT : LNET_REMOTE_DROPPED;
	}
	lnet_health_penalize(p->sh, path, how, ends, p->now_ns - ping_timeout(p->ln, path));
}

static const char *ping_why(int status)
{
	switch (status) {
	case -ETIMEDOUT:
		return "no answer to a ping";
	case -ECONNRESET:
		return "its connections were lost";
	case -ECONNREFUSED:
		return "the peer refused the connection";
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return "the peer could not be reached";
	default:
		return "a ping could not be sent";
	}
}

static void path_down(struct lnet_path *path, int status, u64 now_ns)
{
	const struct lnet_peer *peer = path->pni->peer;
	const struct lnet_peer_ni *pni;
	const struct lnet_path *other;
	struct lnet *ln = path->ni->ln;

	if (path->down_ns)
		return;
	path->down_ns = path->suspect_ns ? path->suspect_ns : now_ns;
	lnet_trace(path, path);
	lnet_path_log_failed(path, ping_why(status), path->down_ns);
	path->logged_down = path->logged_ns != 0;
	if (!peer || !lnet_log_is_on(ln))
		return;
	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(other, &pni->paths, link)
			if (!other->down_ns && lnet_ni_has_link(other->ni))
				return;
	lnet_log_peer_cut(ln, &peer->primary);
}

/*
 * True if the ping may be late but not lost: the path only just became suspect, or its driver still
 * has attempts and makes progress.
 */
static bool may_be_slow(const struct lnet_pass *p, const struct lnet_path *path, int status,
			bool alive)
{
	bool known = path->srtt_ns;

	if ((known && status != -ETIMEDOUT) || path->down_ns)
		return false;
	return lnet_is_within(path->suspect_ns, p->now_ns, known ? DOUBT_NS : UNKNOWN_NS) ||
	       (alive && path->nr_wire);
}

static void ping_failed(struct lnet_pass *p, struct lnet_path *path, int status)
{
	bool alive = lnet_is_within(path->liveness_ns, p->now_ns, ping_timeout(p->ln, path));

	if (path->recovering == RECOVER_SLOW &&
	    (!list_empty(&path->timer.link) || !list_empty(&path->probe_link)))
		/*
		 * This ping was one of several in quick recovery, and another one has already
		 * failed.
		 */
		return;
	if (status != -ENOMEM && status != -ECANCELED && status != -ESHUTDOWN &&
	    lnet_ni_has_link(path->ni) && !may_be_slow(p, path, status, alive)) {
		ping_blame(p, path, status, alive);
		path_down(path, status, p->now_ns);
		/* connections are reset only if the path did not respond */
		if (!alive && path->ni->ops->path_reset && !lnet_path_is_routed(path) &&
		    list_empty(&path->reset) && path->ni->state == NI_ACTIVE)
			list_add_tail(&path->reset, &p->resets);
	}
	recovering_set(path, RECOVER_SLOW);
	ping_after(p, path, pause(p, path));
}

bool lnet_path_ping_done(struct lnet_pass *p, struct lnet_path *path, int status, u64 rtt_ns)
{
	bool first = status == 0 && path->recovering == RECOVER_SLOW;
	struct lnet_shard *sh = p->sh;

	lockdep_assert_held(&sh->lock);
	lnet_rec_path(sh, p->now_ns, PING_DONE, path, (u64)(s64)status, rtt_ns);
	if (!WARN_ON_ONCE(!path->pinging))
		path->pinging--;
	if (READ_ONCE(p->ln->stopping))
		return false;
	if (status) {
		ping_failed(p, path, status);
		return false;
	}
	path->pni->ping_count = 0;
	lnet_path_alive(sh, path, p->now_ns, rtt_ns);
	lnet_health_ok(sh, path, true);
	/*
	 * A received message alone does not prove recovery, because the other direction may still
	 * fail.
	 */
	if (unlikely(path->logged_down))
		lnet_path_log_recovered(path, p->now_ns);
	if (worth_it(sh, path, p->now_ns)) {
		recovering_set(path, RECOVER_QUICK);
		ping_soon(sh, path, p->now_ns);
	} else {
		recovery_stop(sh, path, p->now_ns);
	}
	return first;
}

/*
 * Only the current thread uses p->resets. While a path is in this list, the path is not freed.
 * Before the function removes a path, it takes references to the NI and to the peer NI of the path.
 * So both remain valid for path_reset(), even if the path is freed.
 */
void lnet_path_resets(struct lnet_pass *p)
{
	struct lnet_path *path;
	struct lnet_peer_ni *pni;
	struct lnet_ni *ni;

	while (!list_empty(&p->resets)) {
		path = list_first_entry(&p->resets, struct lnet_path, reset);
		ni = path->ni;
		pni = path->pni;
		lnet_enter_pni(p, pni);
		lnet_ni_get(ni);
		lnet_peer_ni_hold(pni);
		list_del_init(&path->reset);
		lnet_leave(p);
		ni->ops->path_reset(p, ni, pni);
		lnet_peer_ni_put(pni);
		lnet_ni_put(ni);
	}
}
