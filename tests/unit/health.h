/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lnet/path/health.c with stubs for the functions that it calls, in a node with some rails to one
 * peer. Each test of that file defines HEALTH_T(name), the names of the functions in that test.
 */
#ifndef TESTS_UNIT_HEALTH_H
#define TESTS_UNIT_HEALTH_H

#define lnet_ni_up HEALTH_T(ni_up)
#define lnet_health_ok HEALTH_T(health_ok)
#define lnet_health_fail HEALTH_T(health_fail)
#define lnet_health_no_response HEALTH_T(health_silence)
#define lnet_health_set_ni HEALTH_T(health_set_ni)
#define lnet_health_set_peer HEALTH_T(health_set_peer)
#define lnet_path_log_failed HEALTH_T(path_log_failed)
#define lnet_path_log_recovered HEALTH_T(path_log_recovered)
#define lnet_rail_get HEALTH_T(rail_get)
#define lnet_path_recover HEALTH_T(path_recover)
#define lnet_path_timer HEALTH_T(path_timer)
#define lnet_probes_init HEALTH_T(probes_init)
#define lnet_probes_run HEALTH_T(probes_run)
#define lnet_probe_join HEALTH_T(probe_join)
#define lnet_path_ping_done HEALTH_T(path_ping_done)
#define lnet_path_resets HEALTH_T(path_resets)
#define lnet_path_response_timeout HEALTH_T(path_suspect_after)
#define lnet_path_round_trip HEALTH_T(path_round_trip)
#define lnet_path_suspect HEALTH_T(path_suspect)
#define lnet_path_alive HEALTH_T(path_alive)
#define lnet_att_slow HEALTH_T(att_slow)
#define lnet_att_late_outcome HEALTH_T(att_silence)
#define lnet_hedge_allowed HEALTH_T(hedge_allowed)
#define lnet_probe_refund HEALTH_T(probe_refund)
#define lnet_peer_earn HEALTH_T(peer_earn)
#define lnet_peer_is_responsive HEALTH_T(peer_is_heard)
#define lnet_ping_path HEALTH_T(ping_path)
#define lnet_pass_begin HEALTH_T(pass_begin)
#define lnet_pass_end HEALTH_T(pass_end)
#define lnet_enter HEALTH_T(enter)
#define lnet_enter_pni HEALTH_T(enter_pni)
#define lnet_leave HEALTH_T(leave)
#define lnet_nid_is_local HEALTH_T(nid_is_local)
#define lnet_ni_get HEALTH_T(ni_get)
#define lnet_ni_put HEALTH_T(ni_put)
#define lnet_peer_ni_hold HEALTH_T(peer_ni_hold)
#define lnet_peer_ni_put HEALTH_T(peer_ni_put)
#define lnet_peer_next HEALTH_T(peer_next)
#define lnet_peers_walk HEALTH_T(peers_walk)
#include "paths.h"
#define lnet_health_penalize HEALTH_T(health_charge)
#define lnet_attribute HEALTH_T(blame)
#define lnet_attribution_clear HEALTH_T(blame_clear)
#define lnet_path_recover_at HEALTH_T(path_recover_at)
#include "lnet/path/health.c"
#include "lnet/path/attribution.c"
#include "lnet/path/recover.c"
#include "lnet/path/suspect.c"

#define MS ((u64)NSEC_PER_MSEC)
#define SEC ((u64)NSEC_PER_SEC)

/* ---- stubs for the rest of the core ---------------------------------------------------------- */

#define PINGS_MAX 20000
static struct {
	u64 at_ns, timeout_ns;
	struct lnet_path *path;
	bool open;
} pings[PINGS_MAX];
static unsigned int nr_pings, nr_open, most_open;
static struct lnet_nid own_nid;
static int refs;
static unsigned int nr_resets;
static bool reset_locked;

void lnet_ping_path(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns)
{
	if (nr_pings == PINGS_MAX)
		abort();
	pings[nr_pings].at_ns = p->now_ns;
	pings[nr_pings].timeout_ns = timeout_ns;
	pings[nr_pings].path = path;
	pings[nr_pings++].open = true;
	most_open = max(most_open, ++nr_open);
}

void lnet_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind)
{
	memset(p, 0, sizeof(*p));
	p->ln = ln;
	p->kind = kind;
	p->now_ns = ln->env->ops->now_ns(ln->env);
	INIT_LIST_HEAD(&p->resets);
}

void lnet_enter(struct lnet_pass *p, struct lnet_shard *sh)
{
	spin_lock(&sh->lock);
	p->sh = sh;
}

void lnet_enter_pni(struct lnet_pass *p, const struct lnet_peer_ni *pni)
{
	lnet_enter(p, pni->sh);
}

void lnet_leave(struct lnet_pass *p)
{
	if (p->sh)
		spin_unlock(&p->sh->lock);
	p->sh = NULL;
}

void lnet_pass_end(struct lnet_pass *p)
{
	lnet_leave(p);
	lnet_path_resets(p);
	lnet_leave(p);
}

bool lnet_nid_is_local(struct lnet *ln, const struct lnet_nid *nid)
{
	return lnet_nid_same(nid, &own_nid);
}

void lnet_ni_get(struct lnet_ni *ni) { refs++; }
void lnet_ni_put(struct lnet_ni *ni) { refs--; }
void lnet_peer_ni_hold(struct lnet_peer_ni *pni) { refs++; }
void lnet_peer_ni_put(struct lnet_peer_ni *pni) { refs--; }

struct lnet_peer *lnet_peer_next(struct lnet *ln, struct lnet_peer *prev)
{
	if (!prev)
		return list_first_entry(&ln->peers, struct lnet_peer, link);
	return list_is_last(&prev->link, &ln->peers) ? NULL : list_next_entry(prev, link);
}

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

static __maybe_unused void path_reset(struct lnet_pass *p, struct lnet_ni *ni,
				      struct lnet_peer_ni *pni)
{
	nr_resets++;
	reset_locked |= p->sh || refs != 2;
}

static const __maybe_unused struct lnet_lnd_ops lnd = { .name = "unit", .path_reset = path_reset };

/* ---- a node with @nr rails to one peer ------------------------------------------------------- */

static struct world *w;
static struct lnet_pass pass;

/* @nr interfaces at each end, each pair on a separate net, or all on one @net. */
static __maybe_unused void setup_nets(unsigned int nr, unsigned int net)
{
	unsigned int i;

	w = world_create();
	for (i = 1; i <= nr; i++) {
		world_ni(w, net ? net : i)->ops = &lnd;
		world_pni(w, net ? net : i);
	}
	world_join(w);
	lnet_wheel_init(&w->sh.wheel, w->now_ns);
	lnet_probes_init(&w->sh.probes, lnet_ping_path);
	nr_pings = nr_open = most_open = nr_resets = 0;
	refs = 0;
	reset_locked = false;
	memset(&own_nid, 0, sizeof(own_nid));
}

static __maybe_unused void setup(unsigned int nr)
{
	setup_nets(nr, 0);
}

static __maybe_unused void teardown(void)
{
	world_destroy(w);
}

static __maybe_unused void begin(void)
{
	lnet_pass_begin(&pass, &w->ln, LNET_PASS_WORKER);
	lnet_enter(&pass, &w->sh);
}

static __maybe_unused void end(void)
{
	lnet_pass_end(&pass);
}

static __maybe_unused void fail_at(unsigned int i, enum lnet_outcome how)
{
	begin();
	lnet_health_fail(&w->sh, &w->path[i], how, w->now_ns);
	end();
}

static __maybe_unused void ok_at(unsigned int i, bool from_peer)
{
	begin();
	lnet_health_ok(&w->sh, &w->path[i], from_peer);
	end();
}

static __maybe_unused int ni_health(unsigned int i)
{
	return atomic_read(&w->ni[i]->health);
}

/* Which pings have a reply, and their round-trip time. */
struct fate {
	bool (*answered)(const struct lnet_path *path, u64 at_ns);
	u64 rtt_ns;
};

static __maybe_unused void pings_end(const struct fate *fate)
{
	unsigned int i;

	for (i = 0; i < nr_pings; i++) {
		bool ok = fate->answered(pings[i].path, pings[i].at_ns);

		if (!pings[i].open ||
		    w->now_ns < pings[i].at_ns + (ok ? fate->rtt_ns : pings[i].timeout_ns))
			continue;
		pings[i].open = false;
		nr_open--;
		begin();
		lnet_path_ping_done(&pass, pings[i].path, ok ? 0 : -ETIMEDOUT,
				    ok ? fate->rtt_ns : 0);
		end();
	}
}

static __maybe_unused void timers_run(void)
{
	struct lnet_timer *t, *next;
	LIST_HEAD(due);

	begin();
	lnet_wheel_advance(&w->sh.wheel, w->now_ns, &due, 1000);
	list_for_each_entry_safe(t, next, &due, link) {
		lnet_timer_fired(&w->sh.wheel, t);
		if (t->kind == LNET_TIMER_PROBE)
			lnet_probes_run(&pass);
		else
			lnet_path_timer(&pass, container_of(t, struct lnet_path, timer));
	}
	end();
}

/* Advances the clock by @span_ns in steps of @step_ns, with pings and timers. */
static __maybe_unused void run(u64 span_ns, u64 step_ns, const struct fate *fate)
{
	u64 until_ns = w->now_ns + span_ns;

	while (w->now_ns < until_ns) {
		w->now_ns += step_ns;
		pings_end(fate);
		timers_run();
	}
}

static __maybe_unused bool always(const struct lnet_path *path, u64 at_ns) { return true; }
static __maybe_unused bool never(const struct lnet_path *path, u64 at_ns) { return false; }
static const __maybe_unused struct fate lively = { always, 200000 };
static const __maybe_unused struct fate silent = { never, 0 };

#endif
