/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Local interfaces (NIs): configuration, start, link changes, draining and removal. */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "service/service.h"
#include "manage/manage.h"

#define SLICE	128U	/* number of peers that the worker visits at a time after a link is up */

/*
 * The link of @ni is up: starts a walk that expedites recovery of the paths to all peers. If a walk
 * is in progress, it starts again at the first peer. If @ni was removed, the walk ends.
 */
static void rise_anew(struct lnet_ni *ni)
{
	struct lnet_peer *at;

	spin_lock(&ni->ln->nid_lock);
	at = ni->up_notified;
	ni->up_notified = NULL;
	ni->up_pending = !list_empty(&ni->link);
	spin_unlock(&ni->ln->nid_lock);
	lnet_peer_put(at);
}

static void publish_del(struct lnet *ln, struct lnet_ni *ni)
{
	lnet_nis_publish_begin(ln);
	list_del_init(&ni->link);
	ln->nr_nis--;
	lnet_ni_set_state(ni, NI_GONE);
	lnet_nis_publish_end(ln);
	rise_anew(ni);
}

static void link_kick(struct lnet *ln)
{
	WRITE_ONCE(ln->shard[0].link_work, 1);
	smp_mb();
	ln->env->ops->kick(ln->env, 0);
}

/* ---- adding ---------------------------------------------------------------------------------- */

void lnet_ni_cfg_init(struct lnet_ni_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->nid = LNET_NID_ANY;
	cfg->peer_timeout = -1;
	cfg->peer_credits = -1;
	cfg->peer_buffer_credits = -1;
	cfg->credits = -1;
	cfg->conns_per_peer = -1;
	cfg->tos = -1;
	cfg->dev_cpt = -1;
}

static int ni_cfg_check(const struct lnet_ni_cfg *cfg)
{
	if (lnet_nid_is_any(&cfg->nid) || !lnet_nid_is_sane(&cfg->nid) || lnet_nid_is_lo(&cfg->nid))
		return -EINVAL;
	if (cfg->peer_credits < -1 || !cfg->peer_credits || cfg->credits < -1 || !cfg->credits)
		return -EINVAL;
	if (cfg->peer_buffer_credits < -1 || cfg->peer_timeout < -1 || cfg->conns_per_peer < -1)
		return -EINVAL;
	if (cfg->tos < -1 || cfg->tos > 255)
		return -EINVAL;
	if (strnlen(cfg->ifname, sizeof(cfg->ifname)) == sizeof(cfg->ifname))
		return -EINVAL;
	return 0;
}

/*
 * If @field is -1, sets it to the value of the NI @like, or to the driver's default if @like is
 * NULL.
 */
#define COMPLETE(field) \
	(cfg->field = cfg->field == -1 ? (like ? like->field : ops->field) : cfg->field)
void lnet_ni_cfg_complete(const struct lnet *ln, u32 net, const struct lnet_lnd_ops *ops,
			  struct lnet_ni_cfg *cfg)
{
	const struct lnet_ni *ni, *like = NULL;

	list_for_each_entry(ni, &ln->nis, link)
		if (!like && ni->net == net)
			like = ni;
	COMPLETE(peer_timeout);
	COMPLETE(credits);
	COMPLETE(peer_credits);
	COMPLETE(peer_buffer_credits);
}

static void apply_cfg(struct lnet_ni *ni, const struct lnet_ni_cfg *given)
{
	struct lnet_ni_cfg complete = *given, *cfg = &complete;

	lnet_ni_cfg_complete(ni->ln, ni->net, ni->ops, cfg);
	memcpy(ni->ifname, cfg->ifname, sizeof(ni->ifname));
	ni->by_name = cfg->ifname[0];
	ni->peer_timeout = cfg->peer_timeout;
	ni->credits = max(cfg->credits, 1);
	ni->peer_credits = clamp(cfg->peer_credits, 1, ni->credits);
	ni->peer_buffer_credits = cfg->peer_buffer_credits;
	/* 0 in the configuration: ni_start() of the driver chooses the number of connections */
	ni->conns_per_peer = max(cfg->conns_per_peer, 0);
	ni->tos = cfg->tos;
	ni->dev_cpt = cfg->dev_cpt;
	ni->cpts = cfg->cpts;
}

static struct lnet_ni *ni_alloc(struct lnet *ln, const struct lnet_lnd_ops *ops,
				const struct lnet_ni_cfg *cfg)
{
	struct lnet_ni *ni = kvzalloc(struct_size(ni, sh, ln->nr_shards), GFP_KERNEL);
	unsigned int i, cls;

	if (!ni)
		return NULL;
	ni->ln = ln;
	ni->ops = ops;
	ni->nid = cfg->nid;
	ni->net = lnet_nid_net(&cfg->nid);
	ni->ix = ln->next_ni_ix;
	INIT_LIST_HEAD(&ni->link);
	atomic_set(&ni->refs, 1);
	atomic_set(&ni->health, LNET_HEALTH_MAX);
	for (i = 0; i < ln->nr_shards; i++)
		for (cls = 0; cls < LNET_NR_CLASSES; cls++)
			INIT_LIST_HEAD(&ni->sh[i].wait[cls]);
	apply_cfg(ni, cfg);
	if (ops->ni_priv_size) {
		ni->priv = kzalloc(ops->ni_priv_size, GFP_KERNEL);
		if (!ni->priv) {
			kvfree(ni);
			return NULL;
		}
	}
	lnet_credits_ni_init(ni);
	atomic_inc(&ln->nr_counted);
	return ni;
}

/* cfg_mutex held. Creates the paths of a new NI. 0, -ENOMEM */
static int paths_add(struct lnet *ln, struct lnet_ni *ni)
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	int err = 0;

	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer))
		list_for_each_entry(pni, &peer->pnis, link)
			if (!err && pni->net == ni->net)
				err = lnet_paths_add(pni);
	if (!err)
		lnet_routes_sync(ln);
	return err;
}

static int ni_create(struct lnet *ln, const struct lnet_lnd_ops *ops, const struct lnet_ni_cfg *cfg)
{
	struct lnet_ni *ni = ni_alloc(ln, ops, cfg);
	int err;

	if (!ni)
		return -ENOMEM;
	if (!try_module_get(ops->owner)) {
		lnet_ni_put(ni);
		return -ENOENT;
	}
	/* The NI is not in the list yet, so only the driver knows it. */
	lnet_ni_set_state(ni, NI_STARTING);
	err = ops->ni_start(ni);
	if (err) {
		lnet_ni_set_state(ni, NI_GONE);
		lnet_ni_put(ni);
		return err;
	}
	ln->next_ni_ix++;
	lnet_ni_publish(ln, ni);
	err = paths_add(ln, ni);
	if (err) {
		ops->ni_stop(ni);
		lnet_paths_drop_ni(ln, ni);
		publish_del(ln, ni);
		lnet_ni_put(ni);
		return err;
	}
	lnet_ni_publish_state(ni, NI_ACTIVE);
	if (lnet_nid_is_lo(&ni->nid))
		ln->lo = ni;
	link_kick(ln);			/* ni_start() may have found that the link is down */
	return 0;
}

static const struct lnet_lnd_ops *lnd_of(struct lnet *ln, u8 type)
{
	unsigned int i;

	for (i = 0; i < LNET_MAX_LNDS; i++)
		if (ln->lnds[i] && ln->lnds[i]->type == type)
			return ln->lnds[i];
	return NULL;
}

static int ni_add_checked(struct lnet *ln, const struct lnet_ni_cfg *cfg)
{
	const struct lnet_lnd_ops *ops = lnd_of(ln, cfg->nid.type);
	int err;

	if (READ_ONCE(ln->stopping))
		return -ESHUTDOWN;
	if (lnet_ni_listed(ln, &cfg->nid))
		return -EEXIST;
	if (lnet_routes_hops(ln, lnet_nid_net(&cfg->nid)) || lnet_nid_is_gateway(ln, &cfg->nid))
		return -EUSERS;
	if (ln->nr_shards < 64 && cfg->cpts >> ln->nr_shards)
		return -ERANGE;
	if (ln->nr_nis >= min_t(u64, READ_ONCE(ln->tun.max_interfaces), LNET_MAX_NIS))
		return -ENOSPC;
	if (!ops)
		return -ENOENT;
	err = ni_create(ln, ops, cfg);
	if (!err) {
		lnet_log_ni_added(ln, &cfg->nid, cfg->ifname);
		lnet_ping_advertise(ln);
		lnet_push_now(ln);
	}
	return err;
}

int lnet_ni_add(struct lnet *ln, const struct lnet_ni_cfg *cfg)
{
	int err = ni_cfg_check(cfg);

	if (err)
		return err;
	mutex_lock(&ln->cfg_mutex);
	err = ni_add_checked(ln, cfg);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

void lnet_nis_order(struct lnet *ln, const struct lnet_ni_cfg *cfgs, unsigned int nr)
{
	struct lnet_ni *ni;
	unsigned int i;

	mutex_lock(&ln->cfg_mutex);
	lnet_nis_publish_begin(ln);
	for (i = 0; i < nr; i++) {
		ni = lnet_ni_listed(ln, &cfgs[i].nid);
		if (ni)
			list_move_tail(&ni->link, &ln->nis);
	}
	lnet_nis_publish_end(ln);
	mutex_unlock(&ln->cfg_mutex);
}

/* ---- removing -------------------------------------------------------------------------------- */

static bool has_no_paths(struct lnet *ln, void *arg)
{
	return lnet_paths_drop_ni(ln, arg);
}

/*
 * Makes attempts that wait for credits of the NI choose another path. Attempts in flight may end
 * within @limit_ns.
 */
static void ni_drain_atts(struct lnet_ni *ni, u64 limit_ns)
{
	struct lnet_pass p;

	lnet_ni_publish_state(ni, NI_DRAINING);
	lnet_pass_begin(&p, ni->ln, LNET_PASS_CALL);
	lnet_ops_walk(&p, lnet_op_reselect_ni, ni);
	lnet_pass_end(&p);
	if (limit_ns)
		lnet_cfg_wait(ni->ln, lnet_ni_is_empty, ni, limit_ns);
}

/*
 * The driver of @ni completes all attempts on @ni. If a request has no reply at that time, its
 * delivery is unknown.
 */
static void ni_stop_driver(struct lnet_ni *ni)
{
	struct lnet_pass p;

	lnet_ni_publish_state(ni, NI_STOPPING);
	lnet_pass_begin(&p, ni->ln, LNET_PASS_CALL);
	lnet_match_drop_ni(&p, ni);
	lnet_pass_end(&p);
	ni->ops->ni_stop(ni);
	lnet_pass_begin(&p, ni->ln, LNET_PASS_CALL);
	lnet_ops_walk(&p, lnet_op_reselect_ni, ni);
	lnet_ops_walk(&p, lnet_op_ni_down, ni);
	lnet_pass_end(&p);
	lnet_cfg_wait(ni->ln, lnet_ni_is_unheld, ni, U64_MAX);
	lnet_cfg_wait(ni->ln, has_no_paths, ni, U64_MAX);
}

static void ni_del(struct lnet_ni *ni, u64 limit_ns)
{
	struct lnet *ln = ni->ln;
	bool lo = ln->lo == ni;

	if (limit_ns && ni->state == NI_ACTIVE)
		lnet_ni_leave(ni, limit_ns);
	ni_drain_atts(ni, limit_ns);
	if (limit_ns)
		lnet_ni_close(ni);
	ni_stop_driver(ni);
	publish_del(ln, ni);
	if (lo)
		ln->lo = NULL;
	else
		lnet_log_ni_removed(ln, &ni->nid, ni->ifname);
	lnet_ni_put(ni);
}

int lnet_ni_del(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_ni *ni;
	int err = 0;

	if (lnet_nid_is_lo(nid))
		return -EINVAL;
	mutex_lock(&ln->cfg_mutex);
	ni = lnet_ni_listed(ln, nid);
	if (ni) {
		ni_del(ni, READ_ONCE(ln->tun.drain_time));
		if (!READ_ONCE(ln->stopping)) {
			lnet_ping_advertise(ln);
			lnet_push_now(ln);
		}
	} else {
		err = -ENOENT;
	}
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

/* ---- start and stop of the node -------------------------------------------------------------- */

int lnet_net_init(struct lnet *ln)
{
	struct lnet_ni_cfg cfg;
	struct lnet_peer_ni *pni;
	int err;

	lnet_ni_cfg_init(&cfg);
	cfg.nid = LNET_NID_LO;
	mutex_lock(&ln->cfg_mutex);
	err = ni_create(ln, lnd_of(ln, cfg.nid.type), &cfg);
	mutex_unlock(&ln->cfg_mutex);
	if (err)
		return err;
	pni = lnet_peer_ni_get(ln, &LNET_NID_LO);
	if (!pni) {
		mutex_lock(&ln->cfg_mutex);
		lnet_net_stop(ln);
		mutex_unlock(&ln->cfg_mutex);
		return -ENOMEM;
	}
	lnet_peer_ni_put(pni);	/* drops this function's reference; the node holds another */
	return 0;
}

void lnet_net_stop(struct lnet *ln)
{
	while (!list_empty(&ln->nis))
		ni_del(list_last_entry(&ln->nis, struct lnet_ni, link), 0);
}

void lnet_net_fini(struct lnet *ln)
{
	WARN_ON_ONCE(!list_empty(&ln->nis));
}

/* ---- link ------------------------------------------------------------------------------------ */

void lnet_ni_link(struct lnet_ni *ni, const struct lnet_link *link)
{
	WRITE_ONCE(ni->link_why, link->why);
	lnet_ni_mark(ni, LNET_MARK(LINK_DOWN), !link->up);
	if (link->speed_mbit)
		WRITE_ONCE(ni->link_speed, link->speed_mbit);
	link_kick(ni->ln);
}

const char *lnet_ni_link_why(const struct lnet_ni *ni)
{
	static const char *const whys[] = {
		[LNET_LINK_NO_CARRIER] = "no carrier",
		[LNET_LINK_SET_DOWN] = "set down by an operator (ip link)",
		[LNET_LINK_NO_ADDRESS] = "no address",
		[LNET_LINK_GONE] = "interface gone",
	};
	u8 why = READ_ONCE(ni->link_why);

	if (lnet_ni_marked(ni, LNET_MARK(RULE_DOWN)))
		return "set down by an operator (net set --link)";
	return whys[why < ARRAY_SIZE(whys) ? why : LNET_LINK_NO_CARRIER];
}

/* Returns an NI whose link has changed since the last call, with a reference; NULL: none. */
static struct lnet_ni *next_changed(struct lnet *ln, u64 now_ns)
{
	struct lnet_ni *ni, *found = NULL;

	spin_lock(&ln->nid_lock);
	list_for_each_entry(ni, &ln->nis, link) {
		if (lnet_ni_has_link(ni) != !!ni->link_seen)
			continue;
		ni->link_seen = !ni->link_seen;
		if (ni->link_seen)
			ni->nr_down++;
		else
			ni->nr_up++;
		lnet_flap_seen(ni, ni->link_seen, now_ns);
		lnet_ni_get(ni);
		found = ni;
		break;
	}
	spin_unlock(&ln->nid_lock);
	return found;
}

/*
 * Only tries to lock cfg_mutex, because a caller of this function may hold the mutex. That caller
 * is lnet_cfg_wait(), which runs the worker's jobs while it waits. If the lock fails, the next
 * visit of the worker retries. A change of NIs rebuilds the ping info in any case.
 */
static void refresh_ping(struct lnet *ln)
{
	if (!READ_ONCE(ln->ping_stale) || READ_ONCE(ln->stopping))
		return;
	if (!mutex_trylock(&ln->cfg_mutex)) {
		WRITE_ONCE(ln->shard[0].link_work, 1);
		return;
	}
	WRITE_ONCE(ln->ping_stale, 0);
	/* clear the flag before reading the NIs: other threads set it after a change */
	smp_mb();
	lnet_ping_advertise(ln);
	mutex_unlock(&ln->cfg_mutex);
}

/*
 * Takes over the walk of an NI that has one. Returns the NI with a reference; NULL: no NI has a
 * walk. *@at: the peer that the walk visited last.
 */
static struct lnet_ni *rise_take(struct lnet *ln, struct lnet_peer **at)
{
	struct lnet_ni *ni, *found = NULL;

	spin_lock(&ln->nid_lock);
	list_for_each_entry(ni, &ln->nis, link) {
		if (!ni->up_pending)
			continue;
		*at = ni->up_notified;
		ni->up_notified = NULL;
		ni->up_pending = 0;
		lnet_ni_get(ni);
		found = ni;
		break;
	}
	spin_unlock(&ln->nid_lock);
	return found;
}

/*
 * Stores the peer @at, behind which the walk continues. Does nothing if the walk was restarted or
 * @ni was removed.
 */
static void rise_keep(struct lnet_ni *ni, struct lnet_peer *at)
{
	spin_lock(&ni->ln->nid_lock);
	if (at && !ni->up_pending && !list_empty(&ni->link)) {
		swap(ni->up_notified, at);
		ni->up_pending = 1;
	}
	spin_unlock(&ni->ln->nid_lock);
	lnet_peer_put(at);
}

/*
 * No lock held. The link of @ni is up: expedites recovery for some peers behind @at, and drops the
 * reference to @at. If @at is NULL, begins with the first peer. Returns the peer at which to
 * continue, with a reference; NULL: all peers are done.
 */
static struct lnet_peer *paths_rise(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer *at)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;
	unsigned int nr;

	for (nr = 0; nr < SLICE; nr++) {
		at = lnet_peer_next(p->ln, at);
		if (!at)
			break;
		lnet_enter_peer(p, at);
		list_for_each_entry(pni, &at->pnis, link) {
			path = lnet_path_find(pni, ni);
			if (path)
				lnet_path_recover(p->sh, path);
		}
		lnet_leave(p);
	}
	return at;
}

void lnet_ni_rejected(struct lnet_ni *ni, const char *from, const char *why)
{
	lnet_log_rejected(ni->ln, &ni->nid, from, why);
}

void lnet_ni_link_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	struct lnet_peer *at = NULL;
	struct lnet_ni *ni;
	unsigned int i;

	WRITE_ONCE(ln->shard[0].link_work, 0);
	smp_mb();
	lnet_weights_follow(ln);
	for (i = 0; i < LNET_MAX_NIS; i++) {
		ni = next_changed(ln, p->now_ns);
		if (!ni)
			break;
		if (ni->link_seen) {
			lnet_log_ni_down(ln, &ni->nid, ni->ifname, lnet_ni_link_why(ni));
			lnet_ops_link_down(p, ni);
		} else {
			lnet_log_ni_up(ln, &ni->nid, ni->ifname, "it has its link");
			rise_anew(ni);
		}
		lnet_ni_put(ni);
		WRITE_ONCE(ln->ping_stale, 1);
	}
	ni = rise_take(ln, &at);
	/* visits only a slice of the peers, so that traffic does not wait */
	if (ni) {
		rise_keep(ni, paths_rise(p, ni, at));
		lnet_ni_put(ni);
		link_kick(ln);
	}
	refresh_ping(ln);
}
