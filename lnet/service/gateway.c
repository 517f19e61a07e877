/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks of gateways. A check is a ping. If the node and a gateway have several common nets,
 * successive checks use these nets in turn. The reply contains the status of each interface of the
 * router, and whether the router forwards. lnet/topology/gateway.c stores these. The ping also
 * shows the router that nodes use it.
 *
 * If no reply is received, the router's interfaces on the net of the ping are unresponsive. Between
 * two checks, failures of the path to a router (health.c) make the paths through the router
 * unusable. A message from the router marks it as up again.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "xfer/xfer.h"
#include "service/service.h"

#define NETS_MAX	LNET_MAX_NIS
/* first pause between checks of a router that is not fully up */
#define AGAIN_NS	((u64)NSEC_PER_SEC)
/*
 * if checks are switched off: pause before the timer tests whether an operator has switched them on
 */
#define IDLE_NS		(10 * (u64)NSEC_PER_SEC)
#define SOON_NS		(10 * (u64)NSEC_PER_MSEC)

/* ---- a report of a program ------------------------------------------------------------------- */

/* cfg_mutex held. */
static int gateway_notify(struct lnet *ln, const struct lnet_peer_ni *pni, u32 net, bool up,
			  s64 when_s)
{
	struct lnet_peer_ni *hop;
	struct lnet_gateway *gw;
	struct lnet_pass p;
	bool local;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter(&p, &ln->shard[0]);
	local = lnet_net_is_local(ln, net);
	gw = local && pni ? lnet_gateway_of(ln, pni->peer) : NULL;
	if (gw && when_s >= gw->notified_s) {
		gw->notified_s = when_s;
		list_for_each_entry(hop, &gw->pni->peer->pnis, link)
			hop->gw = up ? LNET_GW_UP : LNET_GW_DOWN;
		/*
		 * A report that the router is up expedites the next check. A report that the router
		 * is down does not, because it is valid only until the next check.
		 */
		if (up)
			lnet_gateway_check_by(&p, gw, p.now_ns + SOON_NS);
	}
	lnet_leave(&p);
	lnet_pass_end(&p);
	return local ? 0 : -EINVAL;
}

int lnet_route_notify(struct lnet *ln, const struct lnet_nid *gateway, bool up, s64 when_s)
{
	struct lnet_peer_ni *pni;
	int err;

	mutex_lock(&ln->cfg_mutex);
	pni = lnet_peer_ni_lookup(ln, gateway);
	err = gateway_notify(ln, pni, lnet_nid_net(gateway), up, when_s);
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	if (!err && up)
		lnet_health_set_peer(ln, gateway, LNET_HEALTH_MAX);
	return err;
}

/* ---- checking -------------------------------------------------------------------------------- */

/*
 * Returns the best path to the router on @net. NULL: the router's interfaces on @net were removed
 * or replaced.
 */
static struct lnet_path *path_on(const struct lnet_gateway *gw, u32 net)
{
	struct lnet_path *path, *best = NULL;
	struct lnet_peer_ni *hop;

	list_for_each_entry(hop, &gw->pni->peer->pnis, link) {
		if (hop->net != net || hop->deleted || lnet_gateway_replaced(gw, hop))
			continue;
		list_for_each_entry(path, &hop->paths, link)
			if (!lnet_path_is_routed(path) && path->ni->state == NI_ACTIVE &&
			    lnet_path_is_better(path, best))
				best = path;
	}
	return best;
}

/*
 * Lists the nets with a path to the router, in the order of the router's interfaces. Returns their
 * number.
 */
static unsigned int nets_of(const struct lnet_gateway *gw, u32 *nets)
{
	const struct lnet_peer_ni *hop;
	unsigned int nr = 0, i;

	list_for_each_entry(hop, &gw->pni->peer->pnis, link) {
		for (i = 0; i < nr && nets[i] != hop->net; i++)
			;
		if (i == nr && nr < NETS_MAX && path_on(gw, hop->net))
			nets[nr++] = hop->net;
	}
	return nr;
}

/*
 * Returns the pause before the next check of a router that is not fully up. A check may cause the
 * router to report an interface as up, so the first pause is short. Each reply that equals the last
 * one doubles the pause.
 */
static u64 again_ns(const struct lnet_gateway *gw)
{
	return lnet_doubled(AGAIN_NS, gw->doubts - 1, AGAIN_NS << 16);
}

/*
 * Discovers the router like any peer: learns its NIDs, and pushes the NIDs of this node, so that
 * the router pushes changes. Repeats this if the router's info has changed, a check has failed, or
 * the router may have restarted.
 */
static void meet(struct lnet_pass *p, struct lnet_gateway *gw)
{
	struct lnet_peer *peer = gw->pni->peer;

	if (!READ_ONCE(p->ln->tun.discovery) ||
	    (gw->discovered && gw->discovered_seq == gw->info.seq))
		return;
	gw->discovered = 1;
	gw->discovered_seq = gw->info.seq;
	lnet_disc_anew(peer);
	peer->disc.want_ping = 1;
	lnet_disc_step(p, peer);
}

static void checked(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_gateway *gw = op->arg;

	gw->busy = 0;
	gw->check = NULL;
	if (op->outcome == LNET_OK) {
		lnet_gateway_update(p, gw->pni->peer, gw->sink, op->mlength);
		if (gw->doubts)
			lnet_gateway_check_by(p, gw, p->now_ns + again_ns(gw));
		if (gw->known)
			meet(p, gw);
	} else if (op->outcome == LNET_CANCELED || op->outcome == LNET_SHUTDOWN) {
		return;
	} else if (lnet_gateway_replaced(gw, op->dst_pni)) {
		lnet_gateway_check_by(p, gw, p->now_ns + SOON_NS);
	} else {
		gw->nr_failed++;
		gw->discovered = 0;
		lnet_gateway_unresponsive(gw, op->dst_pni->net);
	}
}

/* [sh 0] Pings the router over @path. False: a pool is empty. */
static bool gateway_check(struct lnet_pass *p, struct lnet_gateway *gw, struct lnet_path *path)
{
	struct lnet_op *op = lnet_ping_by(p, path);

	if (!op)
		return false;
	op->timeout_ns = 0;		/* the timeout of a request */
	op->sink = &gw->frag;
	op->len = sizeof(gw->sink);
	op->arg = gw;
	op->done = checked;
	gw->busy = 1;
	gw->check = op;
	gw->nr_checks++;
	lnet_count(p->sh, pings_sent);
	lnet_op_defer(p, op);
	return true;
}

/*
 * Returns the pause before the next check of the router @gw, which is on @nr common nets. Each net
 * has one check per @every_ns. All nets of a new router are checked at once, one after another.
 * After the router has rejected a message, checks continue until it replies, even if checks are
 * switched off.
 */
static u64 gateway_pause_ns(const struct lnet_gateway *gw, unsigned int nr, u64 every_ns)
{
	u64 ns = every_ns ? div64_u64(every_ns, max(nr, 1U)) : IDLE_NS;

	if (every_ns && gw->rr_pos < nr)
		return SOON_NS;
	if (gw->rejected)
		return min(ns, AGAIN_NS);
	return gw->doubts ? min(ns, again_ns(gw)) : ns;
}

void lnet_gateway_timer(struct lnet_pass *p, struct lnet_timer *t)
{
	struct lnet_gateway *gw = container_of(t, struct lnet_gateway, timer);
	u64 every_ns = READ_ONCE(p->ln->tun.alive_router_check_interval);
	u32 nets[NETS_MAX];
	unsigned int nr;

	lockdep_assert_held(&p->sh->lock);
	if (READ_ONCE(p->ln->stopping))
		return;
	lnet_gateway_hops_review(gw);	/* local interfaces may have changed */
	nr = nets_of(gw, nets);
	if (nr && !gw->busy && (every_ns || !gw->nr_checks || gw->rejected)) {
		if (!gateway_check(p, gw, path_on(gw, nets[gw->rr_pos % nr]))) {
			lnet_gateway_check_by(p, gw, p->now_ns + SOON_NS);
			return;
		}
		gw->rr_pos++;
	}
	lnet_gateway_check_by(p, gw, p->now_ns + gateway_pause_ns(gw, nr, every_ns));
}

void lnet_gateway_start(struct lnet_gateway *gw, struct lnet_route *route)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, gw->ln, LNET_PASS_CALL);
	lnet_enter(&p, &gw->ln->shard[0]);
	if (gw->known)
		route->up = lnet_gateway_reaches(gw, route);
	else
		route->up = !READ_ONCE(gw->ln->tun.check_routers_before_use);
	lnet_gateway_check_by(&p, gw, p.now_ns);
	lnet_leave(&p);
	lnet_pass_end(&p);
}

bool lnet_gateway_stop(struct lnet_gateway *gw)
{
	struct lnet_pass p;
	bool busy;

	lnet_pass_begin(&p, gw->ln, LNET_PASS_CALL);
	lnet_enter(&p, &gw->ln->shard[0]);
	if (gw->check && gw->check->state != OP_NEW)
		lnet_op_finish(&p, gw->check, LNET_CANCELED);
	lnet_timer_cancel(&p.sh->wheel, &gw->timer);
	busy = gw->busy;
	lnet_leave(&p);
	lnet_pass_end(&p);
	return !busy;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* All shards locked. Sets the gateway state of each interface of @peer. */
static void router_mark(struct lnet_peer *peer, u8 state)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link)
		pni->gw = state;
}

struct lnet_gateway *lnet_gateway_get(struct lnet *ln, struct lnet_peer_ni *pni, int *err)
{
	struct lnet_gateway *gw = lnet_gateway_of(ln, pni->peer);

	if (gw)
		return gw;
	*err = lnet_peer_pin_shard(pni->peer, true);
	if (*err)
		return NULL;
	gw = kvzalloc(sizeof(*gw), GFP_KERNEL);
	if (!gw) {
		*err = -ENOMEM;
		return NULL;
	}
	gw->ln = ln;
	gw->pni = pni;
	lnet_peer_ni_hold(pni);
	gw->frag.base = gw->sink;
	gw->frag.len = sizeof(gw->sink);
	lnet_timer_init(&gw->timer, LNET_TIMER_GATEWAY);
	lnet_shards_lock_all(ln);
	list_add_tail(&gw->link, &ln->routes->gateways);
	router_mark(pni->peer, READ_ONCE(ln->tun.check_routers_before_use) ? LNET_GW_UNRESPONSIVE :
									     LNET_GW_UP);
	lnet_shards_unlock_all(ln);
	return gw;
}

bool lnet_gateway_put(struct lnet_gateway *gw)
{
	struct lnet *ln = gw->ln;
	bool busy;

	if (gw->nr_routes)
		return true;
	if (!lnet_gateway_stop(gw))
		return false;
	lnet_shards_lock_all(ln);
	busy = gw->busy;	/* a message may have started the timer of the gateway again */
	if (!busy) {
		lnet_timer_cancel(&ln->shard[0].wheel, &gw->timer);
		list_del_init(&gw->link);
		router_mark(gw->pni->peer, 0);
	}
	lnet_shards_unlock_all(ln);
	if (busy)
		return false;
	lnet_peer_ni_put(gw->pni);
	kvfree(gw);
	return true;
}
