/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Health of paths and interfaces: the events that raise and lower it, and its log messages and
 * reports.
 *
 * A failure lowers the health of its path by health_sensitivity. It also lowers the health of each
 * end to which the outcome and attribution.c attribute it. A success adds health_step. A failure on
 * an NI without link lowers only the health of the path. The cause of such a failure is known, and
 * shows no fault that remains after the link is up again.
 *
 * If a peer NI has a NID of this node, failures do not lower its health, as in stock LNet. Unlike
 * in stock LNet, failures lower the health of a peer NI that is the only one of its peer. That
 * lower health changes no selection. But users see it, and it starts the pings that detect when the
 * peer responds again.
 *
 * For a routed path, failures that a driver reports concern the first-hop path: the NI and the
 * router. Failed pings of the path itself, and requests without reply although the router responds,
 * penalize the path. These failures also penalize the peer NI if no other path to it works:
 * attribution.c.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "shard/trace.h"

/* number of successes after which an NI that had health 0 is advertised as up again */
#define UP_AFTER	16U

bool lnet_ni_up(const struct lnet_ni *ni)
{
	return lnet_ni_service(ni) == LNET_NI_OK;
}

/*
 * Updates the advertised status of @ni for its health @health. A worker then builds the new ping
 * info. An NI is advertised as up again after UP_AFTER successes. A higher number would keep peers
 * from using the NI for a long time, because the ping rate limit delays the successes. Each fall to
 * 0 soon after a recovery doubles the number, so that an NI that loses messages stays down.
 */
static void ni_announce(struct lnet_ni *ni, int health)
{
	u64 step = max_t(u64, READ_ONCE(ni->ln->tun.health_step), 1), now_ns;
	int up_at =
		lnet_doubled(UP_AFTER * step, READ_ONCE(ni->health_relapses.nr), LNET_HEALTH_MAX);
	bool was = lnet_ni_marked(ni, LNET_MARK(NO_HEALTH));
	bool low = health == 0 || (was && health < up_at);

	/* another shard may have changed the mark first */
	if (likely(low == was) || !lnet_ni_mark(ni, LNET_MARK(NO_HEALTH), low))
		return;
	now_ns = ni->ln->env->ops->now_ns(ni->ln->env);
	if (low) {
		lnet_relapses_fail(&ni->health_relapses, now_ns);
		lnet_log_ni_down(ni->ln, &ni->nid, ni->ifname, "health 0");
	} else {
		lnet_relapses_recover(&ni->health_relapses, now_ns);
		lnet_log_ni_up(ni->ln, &ni->nid, ni->ifname, "its health is good again");
	}
	lnet_ni_advertise(ni);
}

static int health_clamp(int health)
{
	return clamp(health, 0, LNET_HEALTH_MAX);
}

/*
 * Adds @by to the health of @ni, within 0..1000. The change is atomic, because several shards write
 * the health of an NI.
 */
static void ni_change(struct lnet_ni *ni, int by)
{
	int seen = atomic_read(&ni->health), health;

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

void lnet_health_ok(struct lnet_shard *sh, struct lnet_path *path, bool from_peer)
{
	int step = READ_ONCE(sh->ln->tun.health_step);

	if (unlikely(atomic_read(&path->ni->health) < LNET_HEALTH_MAX)) {
		ni_change(path->ni, step);
		lnet_rec_health(sh, HEALTH, path, from_peer);
	}
	if (from_peer && unlikely(path->health < LNET_HEALTH_MAX)) {
		path->health = health_clamp(path->health + step);
		lnet_rec_health(sh, HEALTH, path, from_peer);
	}
	if (from_peer && unlikely(path->pni->health < LNET_HEALTH_MAX)) {
		pni_change(path->pni, step);
		lnet_rec_health(sh, HEALTH, path, from_peer);
	}
	if (from_peer && unlikely(path->hop != path->pni))
		pni_change(path->hop, step);
}

/*
 * The counters of each outcome of a failed attempt: in the shard, the NI and the peer NI. Each
 * value is the index of a counter, plus 1; 0: no counter. A rejection does not count as a failed
 * attempt: lnet_rejection_take().
 */
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

void lnet_health_penalize(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how,
			  u8 ends, u64 since_ns)
{
	int cost = READ_ONCE(sh->ln->tun.health_sensitivity);
	u8 attrib = lnet_outcomes[how].attribution & ends;

	static_assert(LNET_ATTRIB_BOTH == (LNET_ATTRIB_LOCAL | LNET_ATTRIB_REMOTE));
	if (counted[how].c)
		sh->c[counted[how].c - 1]++;
	if (counted[how].ni)
		path->ni->sh[sh->ix].c[counted[how].ni - 1]++;
	if (counted[how].pni)
		path->pni->c[counted[how].pni - 1]++;
	if (lnet_nid_is_local(sh->ln, &path->pni->nid))
		attrib &= LNET_ATTRIB_LOCAL;
	if (path->ni == sh->ln->lo || !attrib)
		return;
	path->health = health_clamp(path->health - cost);
	attrib = lnet_ni_has_link(path->ni) ? lnet_attribute(sh, path, how, attrib, since_ns) :
					     LNET_ATTRIB_NONE;
	lnet_trace(fail, path, how, attrib);
	if (attrib & LNET_ATTRIB_LOCAL)
		ni_change(path->ni, -cost);
	if (attrib & LNET_ATTRIB_REMOTE)
		pni_change(path->pni, -cost);
	lnet_rec_health(sh, FAIL, path, how | attrib << 8);
}

/* ---- log: one line for the failure of a path, one for its recovery --------------------------- */

/* Texts of the outcomes that lower health, for the log. */
static const char *const whys[LNET_NR_OUTCOMES] = {
	[LNET_LOCAL_INTERRUPT] = "its interface interrupted a message",
	[LNET_LOCAL_DROPPED] = "its interface dropped a message",
	[LNET_LOCAL_ABORTED] = "its interface aborted a message",
	[LNET_LOCAL_NO_ROUTE] = "the network has no route to it",
	[LNET_LOCAL_ERROR] = "its interface could not send a message",
	[LNET_LOCAL_TIMEOUT] = "its interface did not send a message in time",
	[LNET_REMOTE_ERROR] = "the peer reported an error",
	[LNET_REMOTE_DROPPED] = "the peer could not be reached",
	[LNET_REMOTE_TIMEOUT] = "the peer did not reply to a message in time",
	[LNET_NETWORK_TIMEOUT] = "no response to a message",
	[LNET_PATH_LOST] = "its connections were lost",
};

void lnet_path_log_failed(struct lnet_path *path, const char *why, u64 since_ns)
{
	struct lnet *ln = path->ni->ln;

	if (path->logged_ns || !lnet_log_is_on(ln))
		return;
	path->logged_ns = since_ns;
	lnet_log_path_failed(ln, &path->ni->nid, &path->pni->nid, why);
}

void lnet_path_log_recovered(struct lnet_path *path, u64 now_ns)
{
	u64 ns = now_ns - min(now_ns, path->logged_ns);

	if (!path->logged_ns)
		return;
	path->logged_ns = 0;
	path->logged_down = false;
	lnet_log_path_recovered(path->ni->ln, &path->ni->nid, &path->pni->nid,
				div_u64(ns, NSEC_PER_MSEC));
}

/* ---- failures -------------------------------------------------------------------------------- */

void lnet_health_fail(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how,
		      u64 since_ns)
{
	struct lnet_env *env = sh->ln->env;
	const struct lnet_ni *ni = path->ni;

	lockdep_assert_held(&sh->lock);
	if (lnet_outcomes[how].attribution == LNET_ATTRIB_NONE || READ_ONCE(sh->ln->stopping))
		return;
	lnet_health_penalize(sh, path, how, LNET_ATTRIB_BOTH, since_ns);
	/*
	 * Logs the failure, with two exceptions. If the NI has no link, the log has a line for the
	 * NI instead. If the path has responded since @since_ns, it has recovered, so the failure
	 * is not logged.
	 */
	if (whys[how] && !path->logged_ns && since_ns >= path->back_ns && ni != sh->ln->lo &&
	    ni->state == NI_ACTIVE && lnet_ni_has_link(ni))
		lnet_path_log_failed(path, whys[how], env->ops->now_ns(env));
	if (!path->recovering)
		lnet_path_recover(sh, path);
}

void lnet_health_no_response(struct lnet_shard *sh, const struct lnet_att *att)
{
	struct lnet_path *path = att->path;

	if (!lnet_path_is_routed(path))
		lnet_health_fail(sh, path, lnet_att_late_outcome(att), att->posted_ns);
	else if (path->first_hop->liveness_ns <= att->posted_ns)
		lnet_health_fail(sh, path->first_hop, LNET_NETWORK_TIMEOUT, att->posted_ns);
	else
		lnet_health_fail(sh, path, LNET_REMOTE_TIMEOUT, att->posted_ns);
}

/* ---- set by the operator --------------------------------------------------------------------- */

struct by_hand {
	const struct lnet_nid *nid;
	struct lnet_ni *ni;		/* only its paths; NULL: all */
	int value;
	unsigned int nr;
};

/*
 * If h->ni is NULL, sets the health of the peer NIs of @peer that h->nid matches. Otherwise only
 * paths over h->ni change. Starts the recovery of these paths. If the health of an end becomes
 * 1000, the paths of the end also become 1000.
 */
static void peer_health_set(struct lnet_pass *p, struct lnet_peer *peer, void *arg)
{
	struct by_hand *h = arg;
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link) {
		if (!h->ni && !lnet_nid_is_any(h->nid) && !lnet_nid_same(h->nid, &pni->nid))
			continue;
		if (!h->ni) {
			lnet_trace(health, pni->ln, &pni->nid, pni->health, h->value);
			pni->health = h->value;
			lnet_rec_note(p->sh, note_pni, p->sh, LNET_RK_HEALTH_SET, pni, pni->health);
			h->nr++;
		}
		list_for_each_entry(path, &pni->paths, link) {
			if (h->ni && path->ni != h->ni)
				continue;
			if (h->value == LNET_HEALTH_MAX) {
				path->health = LNET_HEALTH_MAX;
				lnet_rec_path(p->sh, 0, PATH_HEALTH, path, 0, 0);
			}
			lnet_path_recover(p->sh, path);
		}
	}
}

static int health_set(struct lnet *ln, const struct lnet_nid *nid, int value, bool of_peers)
{
	struct by_hand h = { .nid = nid, .value = health_clamp(value) };
	bool any = lnet_nid_is_any(nid);
	struct lnet_pass p;
	struct lnet_ni *ni;

	mutex_lock(&ln->cfg_mutex);
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	if (of_peers)
		lnet_peers_walk(&p, peer_health_set, &h);
	list_for_each_entry(ni, &ln->nis, link) {
		if (of_peers || ni == ln->lo || (!any && !lnet_nid_same(nid, &ni->nid)))
			continue;
		lnet_trace(health, ln, &ni->nid, atomic_read(&ni->health), h.value);
		atomic_set(&ni->health, h.value);
		lnet_enter(&p, &ln->shard[0]);
		lnet_rec_note(p.sh, note_ni, p.sh, LNET_RK_NI_HEALTH, ni, (u64)h.value);
		lnet_leave(&p);
		ni_announce(ni, h.value);
		h.ni = ni;
		h.nr++;
		lnet_peers_walk(&p, peer_health_set, &h);
	}
	lnet_pass_end(&p);
	mutex_unlock(&ln->cfg_mutex);
	return h.nr || any ? 0 : -ENOENT;
}

int lnet_health_set_ni(struct lnet *ln, const struct lnet_nid *nid, int value)
{
	return health_set(ln, nid, value, false);
}

int lnet_health_set_peer(struct lnet *ln, const struct lnet_nid *nid, int value)
{
	return health_set(ln, nid, value, true);
}

/* ---- report of the rails to a peer ----------------------------------------------------------- */

int lnet_rail_get(struct lnet *ln, const struct lnet_nid *peer, unsigned int pos,
		  struct lnet_rail_info *info)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, peer);
	const struct lnet_peer_ni *end;
	const struct lnet_path *path;
	struct lnet_pass p;
	int rc = -ENOENT;

	if (!pni)
		return -ENOENT;
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter_pni(&p, pni);
	list_for_each_entry(end, &pni->peer->pnis, link)
		list_for_each_entry(path, &end->paths, link) {
			if (pos--)
				continue;
			*info = (struct lnet_rail_info){ path->ni->nid, end->nid, path->nr_resent,
							 (u32)lnet_path_health(path) };
			rc = 0;
		}
	lnet_leave(&p);
	lnet_pass_end(&p);
	lnet_peer_ni_put(pni);
	return rc;
}
