/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Health of interfaces, what raises and lowers it, and the recovery of paths that are not whole.
 *
 * A failure costs the ends that its outcome blames the sensitivity, a success gives back the step.
 * As in stock LNet our own NIDs are never blamed as peers; other than there, a peer's only NID is:
 * it changes no choice, but it is shown and starts the pings that tell when the peer is back.
 *
 * A path is whole while both ends stand at 1000 and it is neither suspect nor down; otherwise it
 * recovers, by pings pinned to it. Slow: one at a time, after each failure a pause of a quarter of
 * the time it has been down, with jitter. Quick, from the first answer on: a few at once, each
 * giving a point to both ends, until both are whole. All pings of a node share one budget. A
 * failed ping lowers the far end until it is at 0, but the near end only once an outage: an NI is
 * not to blame for each second that one of its peers is dead. That NI then heals by its other
 * paths, whose recovery lnet_select() starts when it meets them.
 *
 * Of a path through a router the near end and the way to the router are the trunk's business: what
 * a driver says is said of that. The path's own pings go to the far end, while the trunk is well;
 * they, and requests that get no answer though the router lives, blame the far end, unless it was
 * heard another way meanwhile: then the fault is between, which suspicion of the path covers.
 */
#include "plat.h"
#include "core.h"

enum { RECOVER_NOT, RECOVER_SLOW, RECOVER_QUICK };

#define PINGS_AT_ONCE		4	/* quick recovery: under way at one time */
#define PING_TIMEOUT_MIN_NS	(100 * (u64)NSEC_PER_MSEC)
#define BUSY_NS			((u64)NSEC_PER_SEC)	/* a path heard of within this is alive */

/* ---- values ---------------------------------------------------------------------------------- */

static u64 clock_of(const struct lnet_shard *sh)
{
	return sh->ln->env->ops->now_ns(sh->ln->env);
}

bool lnet_ni_up(const struct lnet_ni *ni)
{
	return !READ_ONCE(ni->fatal) && !READ_ONCE(ni->fault_down) && !READ_ONCE(ni->low) &&
	       !READ_ONCE(ni->unpinged) && !READ_ONCE(ni->drained);
}

void lnet_ni_announced(struct lnet_ni *ni)
{
	struct lnet *ln = ni->ln;

	WRITE_ONCE(ln->ping_stale, 1);
	WRITE_ONCE(ln->shard[0].link_work, 1);
	ln->env->ops->kick(ln->env, 0);
}

/* What the node announces of @ni changes at 0 and at 1000; a worker makes the new ping info. */
static void ni_announce(struct lnet_ni *ni, int health)
{
	u8 low = health == 0 ? 1 : health == LNET_HEALTH_MAX ? 0 : READ_ONCE(ni->low);

	if (low == READ_ONCE(ni->low))
		return;
	WRITE_ONCE(ni->low, low);
	lnet_ni_announced(ni);
}

static int health_clamp(int health)
{
	return clamp(health, 0, LNET_HEALTH_MAX);
}

/* Written from several shards: added in one step, never outside 0..1000. */
static void ni_change(struct lnet_ni *ni, int by)
{
	int seen = atomic_read(&ni->health);
	int health;

	do {
		health = health_clamp(seen + by);
	} while (!atomic_try_cmpxchg(&ni->health, &seen, health));
	lnet_trace(health, ni->ln, &ni->nid, seen, health);
	ni_announce(ni, health);
}

static void pni_change(struct lnet_peer_ni *pni, int by)
{
	int was = pni->health;

	pni->health = health_clamp(was + by);
	lnet_trace(health, pni->ln, &pni->nid, was, pni->health);
}

/* Of the lesser of the ends that the path answers for. */
static int path_health(const struct lnet_path *path)
{
	if (unlikely(lnet_path_routed(path)))
		return path->pni->health;
	return min_t(int, atomic_read(&path->ni->health), path->pni->health);
}

bool lnet_path_whole(const struct lnet_path *path)
{
	return path_health(path) == LNET_HEALTH_MAX && !path->suspect_ns && !path->down_ns;
}

void lnet_health_ok(struct lnet_shard *sh, struct lnet_path *path, bool from_peer)
{
	int step = READ_ONCE(sh->ln->tun.health_step);

	if (unlikely(atomic_read(&path->ni->health) < LNET_HEALTH_MAX))
		ni_change(path->ni, step);
	if (from_peer && unlikely(path->pni->health < LNET_HEALTH_MAX))
		pni_change(path->pni, step);
	if (from_peer && unlikely(path->hop != path->pni))
		pni_change(path->hop, step);
}

/* Where an outcome is counted: position + 1 in the three kinds of counters, 0: not there. */
static const struct {
	u8 c, ni, pni;
} counted[LNET_NR_OUTCOMES] = {
	[LNET_LOCAL_INTERRUPT] = { LNET_C_local_interrupt_count + 1, LNET_NIC_interrupts + 1, 0 },
	[LNET_LOCAL_DROPPED] = { LNET_C_local_dropped_count + 1, LNET_NIC_dropped + 1, 0 },
	[LNET_LOCAL_ABORTED] = { LNET_C_local_aborted_count + 1, LNET_NIC_aborted + 1, 0 },
	[LNET_LOCAL_NO_ROUTE] = { LNET_C_local_no_route_count + 1, LNET_NIC_no_route + 1, 0 },
	[LNET_LOCAL_ERROR] = { LNET_C_local_error_count + 1, LNET_NIC_error + 1, 0 },
	[LNET_LOCAL_TIMEOUT] = { LNET_C_local_timeout_count + 1, LNET_NIC_timeouts + 1, 0 },
	[LNET_REMOTE_ERROR] = { LNET_C_remote_error_count + 1, 0, LNET_PNIC_error + 1 },
	[LNET_REMOTE_DROPPED] = { LNET_C_remote_dropped_count + 1, 0, LNET_PNIC_dropped + 1 },
	[LNET_REMOTE_TIMEOUT] = { LNET_C_remote_timeout_count + 1, 0, LNET_PNIC_timeout + 1 },
	[LNET_NETWORK_TIMEOUT] = { LNET_C_network_timeout_count + 1, LNET_NIC_network_timeout + 1,
				   LNET_PNIC_network_timeout + 1 },
};

static void count(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how)
{
	if (counted[how].c)
		sh->c[counted[how].c - 1]++;
	if (counted[how].ni)
		path->ni->sh[sh->ix].c[counted[how].ni - 1]++;
	if (counted[how].pni && path->pni->c)
		path->pni->c[counted[how].pni - 1]++;
}

/* The blame of @how, but for the ends not in @ends. */
static void fail(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how, u8 ends)
{
	u8 blame = lnet_outcomes[how].blame & ends;
	int cost = READ_ONCE(sh->ln->tun.health_sensitivity);

	static_assert(LNET_BLAME_BOTH == (LNET_BLAME_LOCAL | LNET_BLAME_REMOTE));
	count(sh, path, how);
	lnet_trace(fail, path, how, blame);
	if (path->ni == sh->ln->lo)
		return;
	if (blame & LNET_BLAME_LOCAL)
		ni_change(path->ni, -cost);
	if ((blame & LNET_BLAME_REMOTE) && !lnet_nid_is_local(sh->ln, &path->pni->nid))
		pni_change(path->pni, -cost);
}

void lnet_health_fail(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how)
{
	lockdep_assert_held(&sh->lock);
	if (lnet_outcomes[how].blame == LNET_BLAME_NONE || READ_ONCE(sh->ln->stopping))
		return;
	fail(sh, path, how, LNET_BLAME_BOTH);
	if (!path->recovering)
		lnet_path_recover(sh, path);
}

void lnet_health_silence(struct lnet_shard *sh, const struct lnet_att *att)
{
	struct lnet_path *path = att->path;

	if (!lnet_path_routed(path))
		lnet_health_fail(sh, path, lnet_att_silence(att));
	else if (path->trunk->evidence_ns <= att->posted_ns)
		lnet_health_fail(sh, path->trunk, LNET_NETWORK_TIMEOUT);
	else if (path->pni->last_rx_ns <= att->posted_ns)
		lnet_health_fail(sh, path, LNET_REMOTE_TIMEOUT);
}

/* ---- recovery -------------------------------------------------------------------------------- */

/* Nobody waits for ever for a peer that has gone for good, least for one that nobody configured. */
static u64 patience_ns(const struct lnet *ln, const struct lnet_peer *peer)
{
	u64 limit_ns = READ_ONCE(ln->tun.recovery_limit), age_ns = READ_ONCE(ln->tun.peer_age);

	if (!peer || peer->configured || !age_ns)
		return limit_ns;
	return limit_ns ? min(limit_ns, age_ns) : age_ns;
}

static bool given_up(const struct lnet *ln, const struct lnet_path *path, u64 now_ns)
{
	u64 limit_ns = patience_ns(ln, path->pni->peer);
	u64 heard_ns = max(path->pni->last_rx_ns, path->evidence_ns);

	if (!heard_ns)
		heard_ns = path->down_ns;
	return limit_ns && heard_ns && now_ns > heard_ns && now_ns - heard_ns > limit_ns;
}

static bool link_up(const struct lnet_path *path)
{
	return !READ_ONCE(path->ni->fatal) && !READ_ONCE(path->ni->fault_down);
}

/* The way to the router is seen to first. */
static bool trunk_is_well(const struct lnet_path *path)
{
	return !lnet_path_routed(path) || (!path->trunk->suspect_ns && !path->trunk->down_ns);
}

/*
 * Without link nothing can pass, here or there; lnet_select() starts anew when it is back, and a
 * peer says when its interface is.
 */
static bool worth_it(const struct lnet_shard *sh, const struct lnet_path *path, u64 now_ns)
{
	const struct lnet *ln = sh->ln;

	return !lnet_path_whole(path) && path->ni != ln->lo && path->ni->state == NI_ACTIVE &&
	       link_up(path) && path->pni->said != LNET_SAID_DOWN && trunk_is_well(path) &&
	       !path->gone && !path->pni->deleted &&
	       !READ_ONCE(ln->stopping) && !given_up(ln, path, now_ns);
}

static void recovering_set(struct lnet_path *path, u8 to)
{
	if (path->recovering == to)
		return;
	path->recovering = to;
	lnet_trace(path, path);
}

static void stop(struct lnet_shard *sh, struct lnet_path *path)
{
	recovering_set(path, RECOVER_NOT);
	path->recover_ns = 0;
	path->pni->next_ping_ns = 0;
	lnet_timer_cancel(&sh->wheel, &path->timer);
	lnet_probe_leave(path);
}

/* As soon as the budget allows. */
static void ping_soon(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns)
{
	lnet_timer_cancel(&sh->wheel, &path->timer);
	lnet_probe_join(sh, path, now_ns);
	path->pni->next_ping_ns = max(sh->probes.budget_ns, now_ns);
}

static void ping_after(struct lnet_pass *p, struct lnet_path *path, u64 pause_ns)
{
	lnet_probe_leave(path);
	path->pni->next_ping_ns = p->now_ns + pause_ns;
	lnet_timer_set(&p->sh->wheel, &path->timer, p->now_ns + pause_ns);
}

static void recover(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns)
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
	recover(sh, path, clock_of(sh));
}

static u64 ping_timeout(const struct lnet *ln, const struct lnet_path *path)
{
	u64 retries = max(READ_ONCE(ln->tun.retry_count), (u64)1);
	u64 most_ns = div64_u64(READ_ONCE(ln->tun.transaction_timeout), retries);

	return min(max(4 * lnet_path_suspect_after(ln, path), PING_TIMEOUT_MIN_NS), most_ns);
}

/* No more pings under way than points are missing: an NI at 900 takes exactly 100. */
static unsigned int pings_wanted(const struct lnet *ln, const struct lnet_path *path)
{
	u64 step = READ_ONCE(ln->tun.health_step);
	u64 missing = LNET_HEALTH_MAX - path_health(path);
	u64 wanted = max(div64_u64(missing + step - 1, step), (u64)1);

	return path->recovering == RECOVER_QUICK ? min(wanted, (u64)PINGS_AT_ONCE) : 1;
}

static void ping_send(struct lnet_pass *p, struct lnet_path *path)
{
	path->pinging++;
	path->pni->ping_count++;
	path->pni->next_ping_ns = 0;
	lnet_count(p->sh, recovery_pings);
	lnet_ping_path(p, path, ping_timeout(p->ln, path));
	if (path->recovering == RECOVER_QUICK && path->pinging < pings_wanted(p->ln, path))
		ping_soon(p->sh, path, p->now_ns);
}

bool lnet_path_probe(struct lnet_pass *p, struct lnet_path *path)
{
	lockdep_assert_held(&p->sh->lock);
	if (!worth_it(p->sh, path, p->now_ns)) {
		stop(p->sh, path);
		return false;
	}
	if (path->pinging >= pings_wanted(p->ln, path))
		return false;			/* lnet_path_ping_done() goes on */
	ping_send(p, path);
	return true;
}

void lnet_path_timer(struct lnet_pass *p, struct lnet_path *path)
{
	lockdep_assert_held(&p->sh->lock);
	ping_soon(p->sh, path, p->now_ns);
	lnet_probes_run(p);
}

static bool heard_within(const struct lnet_path *path, u64 now_ns, u64 span_ns)
{
	return path->evidence_ns && now_ns - min(now_ns, path->evidence_ns) < span_ns;
}

/* By a path other than @but, which may be NULL. */
static bool heard_beside(const struct lnet_peer *peer, const struct lnet_path *but, u64 now_ns)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			if (path != but && heard_within(path, now_ns, BUSY_NS))
				return true;
	return false;
}

bool lnet_peer_is_heard(const struct lnet_peer *peer, u64 now_ns)
{
	return heard_beside(peer, NULL, now_ns);
}

/* Another path to the peer is alive: it is talked to, so this one is missed. */
static bool busy(const struct lnet_path *path, u64 now_ns)
{
	return path->pni->peer && heard_beside(path->pni->peer, path, now_ns);
}

/*
 * Pause after a failed ping: a quarter of the time it is down, within the bounds, 20 % more or
 * less.
 */
static u64 pause(struct lnet_pass *p, const struct lnet_path *path)
{
	const struct lnet_tunables *tun = &p->ln->tun;
	u64 most_ns = READ_ONCE(tun->max_recovery_ping_interval);
	u64 ns = READ_ONCE(tun->min_recovery_ping_interval);
	u32 percent = 80 + (u32)(((p->ln->env->ops->random(p->ln->env) >> 32) * 41) >> 32);

	if (path->down_ns && p->now_ns > path->down_ns)
		ns = max(ns, (p->now_ns - path->down_ns) / 4);
	if (busy(path, p->now_ns))
		most_ns = min(most_ns, READ_ONCE(tun->busy_recovery_ping_interval));
	return min(div_u64(min(ns, most_ns) * percent, 100), most_ns);
}

static void ping_ok(struct lnet_pass *p, struct lnet_path *path, u64 rtt_ns)
{
	struct lnet_shard *sh = p->sh;

	path->pni->ping_count = 0;
	path->recover_ns = 0;
	lnet_path_alive(sh, path, p->now_ns, rtt_ns);
	lnet_health_ok(sh, path, true);
	if (!worth_it(sh, path, p->now_ns)) {
		stop(sh, path);
		return;
	}
	recovering_set(path, RECOVER_QUICK);
	ping_soon(sh, path, p->now_ns);
}

static bool heard_lately(const struct lnet_peer_ni *pni, u64 now_ns)
{
	return pni->last_rx_ns && now_ns - min(now_ns, pni->last_rx_ns) < BUSY_NS;
}

/*
 * Who pays for a ping that failed. With signs of life meanwhile the network works and the peer did
 * not answer; a lost path was paid for by lnet_path_lost(); what was refused is the peer's.
 */
static void ping_blame(struct lnet_pass *p, struct lnet_path *path, int status, bool alive)
{
	u8 ends = path->down_ns ? LNET_BLAME_REMOTE : LNET_BLAME_BOTH;

	if (lnet_path_routed(path)) {
		if (status == -ETIMEDOUT && !heard_lately(path->pni, p->now_ns))
			fail(p->sh, path, LNET_REMOTE_TIMEOUT, LNET_BLAME_REMOTE);
		return;
	}
	if (alive)
		fail(p->sh, path, LNET_REMOTE_TIMEOUT, ends);
	else if (status == -ETIMEDOUT)
		fail(p->sh, path, LNET_NETWORK_TIMEOUT, ends);
	else if (status != -ECONNRESET)
		fail(p->sh, path, LNET_REMOTE_DROPPED, ends);
}

static bool is_evidence(int status)
{
	return status != -ENOMEM && status != -ECANCELED && status != -ESHUTDOWN;
}

/* Connections that show life are left alone. */
static void reset_later(struct lnet_pass *p, struct lnet_path *path)
{
	if (path->ni->ops->path_reset && !lnet_path_routed(path) && list_empty(&path->reset) &&
	    path->ni->state == NI_ACTIVE)
		list_add_tail(&path->reset, &p->resets);
}

static void path_down(struct lnet_path *path, u64 now_ns)
{
	if (path->down_ns)
		return;
	path->down_ns = path->suspect_ns ? path->suspect_ns : now_ns;
	lnet_trace(path, path);
}

static void ping_failed(struct lnet_pass *p, struct lnet_path *path, int status)
{
	bool alive = heard_within(path, p->now_ns, ping_timeout(p->ln, path));

	if (path->recovering == RECOVER_SLOW &&
	    (!list_empty(&path->timer.link) || !list_empty(&path->line)))
		/* one of several of the quick time; the first has said it */
		return;
	if (is_evidence(status) && link_up(path)) {
		ping_blame(p, path, status, alive);
		path_down(path, p->now_ns);
		if (!alive)
			reset_later(p, path);
	}
	recovering_set(path, RECOVER_SLOW);
	path->recover_ns = pause(p, path);
	ping_after(p, path, path->recover_ns);
}

void lnet_path_ping_done(struct lnet_pass *p, struct lnet_path *path, int status, u64 rtt_ns)
{
	lockdep_assert_held(&p->sh->lock);
	if (!WARN_ON_ONCE(!path->pinging))
		path->pinging--;
	if (READ_ONCE(p->ln->stopping))
		return;
	if (status == 0)
		ping_ok(p, path, rtt_ns);
	else
		ping_failed(p, path, status);
}

/*
 * The list is this thread's, and a path on it is not dropped; off it, its two ends are counted
 * instead.
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
	lnet_trace(path, path);
	lnet_count(p->sh, suspects);
	recover(p->sh, path, p->now_ns);
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

	path->evidence_ns = now_ns;
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
		recover(sh, path, now_ns);
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

/* ---- by hand --------------------------------------------------------------------------------- */

void lnet_peers_walk(struct lnet_pass *p,
		     void (*fn)(struct lnet_pass *p, struct lnet_peer *peer, void *arg), void *arg)
{
	struct lnet_peer *peer;

	for (peer = lnet_peer_next(p->ln, NULL); peer; peer = lnet_peer_next(p->ln, peer)) {
		lnet_enter(p, peer->sh);
		fn(p, peer, arg);
		lnet_leave(p);
	}
}

struct by_hand {
	const struct lnet_nid *nid;
	struct lnet_ni *ni;		/* recover the paths of this NI */
	int value;
	unsigned int nr;
};

static void recover_all(struct lnet_pass *p, struct lnet_peer_ni *pni, const struct lnet_ni *ni)
{
	struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		if (!ni || path->ni == ni)
			lnet_path_recover(p->sh, path);
}

static void peer_recover_ni(struct lnet_pass *p, struct lnet_peer *peer, void *arg)
{
	struct by_hand *h = arg;
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link)
		recover_all(p, pni, h->ni);
}

static void peer_set(struct lnet_pass *p, struct lnet_peer *peer, void *arg)
{
	struct by_hand *h = arg;
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link) {
		if (!lnet_nid_is_any(h->nid) && !lnet_nid_same(h->nid, &pni->nid))
			continue;
		lnet_trace(health, pni->ln, &pni->nid, pni->health, h->value);
		pni->health = h->value;
		h->nr++;
		recover_all(p, pni, NULL);
	}
}

static void ni_set(struct lnet_pass *p, struct lnet_ni *ni, struct by_hand *h)
{
	lnet_trace(health, ni->ln, &ni->nid, atomic_read(&ni->health), h->value);
	atomic_set(&ni->health, h->value);
	ni_announce(ni, h->value);
	h->ni = ni;
	h->nr++;
	if (h->value < LNET_HEALTH_MAX)
		lnet_peers_walk(p, peer_recover_ni, h);
}

int lnet_health_set_ni(struct lnet *ln, const struct lnet_nid *nid, int value)
{
	struct by_hand h = { .nid = nid, .value = health_clamp(value) };
	struct lnet_pass p;
	struct lnet_ni *ni;

	mutex_lock(&ln->cfg_mutex);
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	list_for_each_entry(ni, &ln->nis, link)
		if (ni != ln->lo && (lnet_nid_is_any(nid) || lnet_nid_same(nid, &ni->nid)))
			ni_set(&p, ni, &h);
	lnet_pass_end(&p);
	mutex_unlock(&ln->cfg_mutex);
	return h.nr || lnet_nid_is_any(nid) ? 0 : -ENOENT;
}

int lnet_health_set_peer(struct lnet *ln, const struct lnet_nid *nid, int value)
{
	struct by_hand h = { .nid = nid, .value = health_clamp(value) };
	struct lnet_pass p;

	mutex_lock(&ln->cfg_mutex);
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_peers_walk(&p, peer_set, &h);
	lnet_pass_end(&p);
	mutex_unlock(&ln->cfg_mutex);
	return h.nr || lnet_nid_is_any(nid) ? 0 : -ENOENT;
}
