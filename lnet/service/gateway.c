/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Are routers alive, and where do they lead? Asked by pings, over each net shared with a router in
 * turn, and seen by what comes from and through them.
 *
 * A ping answered says of each interface of the router whether it is up, and whether the router
 * forwards; it also keeps a router from thinking that nobody uses it. No answer makes the router's
 * interfaces on that net silent. Between two checks failures of the way to a router (health.c) make
 * its paths unusable, and a message makes it alive again.
 */
#include <lnet/hash.h>
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "xfer/xfer.h"
#include "service/service.h"
#include "shard/hooks.h"

#define NETS_MAX	LNET_MAX_NIS
/* a router that is not wholly up is asked again, at first */
#define AGAIN_NS	((u64)NSEC_PER_SEC)
/* with checks switched off: when to look whether they are on */
#define IDLE_NS		(10 * (u64)NSEC_PER_SEC)
/* a router that is heard again is asked soon what it is now */
#define SOON_NS		(10 * (u64)NSEC_PER_MSEC)
/* and one that could not pass something on, whether that is so of all there */
#define REFUSED_NS	(100 * (u64)NSEC_PER_MSEC)

/* ---- what a router says ---------------------------------------------------------------------- */

static const struct lnet_pinginfo_ni *said_of(const struct lnet_gateway *gw,
					      const struct lnet_nid *nid)
{
	unsigned int i;

	for (i = 0; i < gw->info.nr; i++)
		if (lnet_nid_same(&gw->nis[i].nid, nid))
			return &gw->nis[i];
	return NULL;
}

/* 0: the router says nothing of @net; else whether one of its interfaces there is up. */
enum { NET_UNKNOWN, NET_DOWN, NET_UP };
static unsigned int net_of(const struct lnet_gateway *gw, u32 net)
{
	unsigned int i, state = NET_UNKNOWN;

	for (i = 0; i < gw->info.nr && state != NET_UP; i++)
		if (lnet_nid_net(&gw->nis[i].nid) == net)
			state = gw->nis[i].status == LNET_NI_UP ? NET_UP : NET_DOWN;
	return state;
}

bool lnet_gateway_is_on(const struct lnet_gateway *gw, u32 net)
{
	const struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &gw->pni->peer->pnis, link)
		if (pni->net == net && !pni->deleted)
			return true;
	return gw->known && net_of(gw, net) != NET_UNKNOWN;
}

/*
 * The far side of a router counts if it is the last one. With more routers between, or if it does
 * not say, nobody knows.
 */
static bool leads(const struct lnet_gateway *gw, const struct lnet_route *route)
{
	unsigned int net = net_of(gw, route->net);

	if (gw->info.features & LNET_FEAT_RTE_DISABLED)
		return false;
	if (!READ_ONCE(gw->ln->tun.avoid_asym_router_failure))
		return true;
	return net == NET_UP || (net == NET_UNKNOWN && route->hops != 1);
}

/* Whether all its routes are up. */
static bool routes_judge(struct lnet_gateway *gw)
{
	struct lnet_route *route;
	bool all = true;

	list_for_each_entry(route, &gw->ln->routes->list, link) {
		if (route->gw != gw)
			continue;
		route->up = leads(gw, route);
		all &= route->up;
	}
	return all;
}

/* True if the last info of the router is complete and lists an interface that has a path here. */
static bool lists_a_hop(const struct lnet_gateway *gw)
{
	const struct lnet_peer_ni *hop;
	const struct lnet_path *path;

	if (!gw->whole)
		return false;
	list_for_each_entry(hop, &gw->pni->peer->pnis, link) {
		if (hop->deleted || !said_of(gw, &hop->nid))
			continue;
		list_for_each_entry(path, &hop->paths, link)
			if (!lnet_path_routed(path))
				return true;
	}
	return false;
}

/* True if the router has other interfaces instead of @hop. */
static bool is_replaced(const struct lnet_gateway *gw, const struct lnet_peer_ni *hop)
{
	return gw->lists_hop && !said_of(gw, &hop->nid);
}

/* Whether all its interfaces here are. */
static bool hops_judge(struct lnet_gateway *gw)
{
	const struct lnet_pinginfo_ni *said;
	struct lnet_peer_ni *hop;
	bool all = true;

	gw->lists_hop = lists_a_hop(gw);
	list_for_each_entry(hop, &gw->pni->peer->pnis, link) {
		if (is_replaced(gw, hop)) {
			hop->gw = LNET_GW_DOWN;
			continue;
		}
		said = said_of(gw, &hop->nid);
		hop->gw = said && said->status == LNET_NI_DOWN ? LNET_GW_DOWN :
								     LNET_GW_UP;
		all &= hop->gw == LNET_GW_UP;
	}
	return all;
}

void lnet_gateway_said(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len)
{
	struct lnet_gateway *gw = lnet_gateway_of(p->ln, peer);
	u64 hash = lnet_hash_bytes(info, len, 1);
	unsigned int nr;
	bool all;
	int err;

	if (!gw)
		return;
	gw->refused = 0;
	nr = gw->known ? gw->info.nr : 0;
	if (!gw->known || hash != gw->hash)
		gw->doubts = 0;
	gw->hash = hash;
	err = lnet_pinginfo_decode(&gw->info, info, len, gw->nis, ARRAY_SIZE(gw->nis));
	/* what did not fit is missed, what did is true */
	gw->known = !err || err == -EMSGSIZE || err == -ENOBUFS;
	gw->whole = !err;
	if (!gw->known)
		return;
	all = routes_judge(gw);
	all &= hops_judge(gw);
	gw->doubts = all ? 0 : gw->doubts + 1;
	if (nr != gw->info.nr)		/* paths to what it has itself are not by it */
		lnet_look_by(p->ln, &p->ln->routes->look_ns, p->now_ns);
}

void lnet_gateway_silent(struct lnet_pass *p, struct lnet_gateway *gw, u32 net)
{
	struct lnet_peer_ni *hop;

	(void)p;
	list_for_each_entry(hop, &gw->pni->peer->pnis, link)
		if (hop->net == net)
			hop->gw = LNET_GW_SILENT;
}

/* ---- signs of life --------------------------------------------------------------------------- */

static void check_by(struct lnet_pass *p, struct lnet_gateway *gw, u64 when_ns)
{
	if (list_empty(&gw->timer.link) || when_ns < gw->timer.when_ns)
		lnet_timer_set(&p->sh->wheel, &gw->timer, when_ns);
}

/* [sh 0] True if the last ping info of a gateway lists @nid. */
static bool is_listed(const struct lnet *ln, const struct lnet_nid *nid)
{
	const struct lnet_gateway *gw;

	list_for_each_entry(gw, &ln->routes->gateways, link)
		if (gw->known && said_of(gw, nid))
			return true;
	return false;
}

bool lnet_gateway_sent(struct lnet_pass *p, const struct lnet_rx *rx)
{
	bool is;

	if (likely(rx->from->gw))
		return true;
	if (list_empty(&p->ln->routes->gateways))
		return false;
	lnet_enter(p, &p->ln->shard[0]);
	is = is_listed(p->ln, &rx->from->nid);
	lnet_enter_pni(p, rx->from);
	return is;
}

/* What comes through a router proves that it forwards from there, whatever it said. */
static void passed(struct lnet_gateway *gw, u32 net)
{
	struct lnet_route *route;

	list_for_each_entry(route, &gw->ln->routes->list, link)
		if (route->gw == gw && route->net == net)
			route->up = 1;
}

void lnet_gateway_heard(struct lnet_pass *p, struct lnet_rx *rx, bool own_word)
{
	bool through = !own_word && !lnet_nid_same(&rx->src_nid, &rx->from->nid);
	struct lnet_peer_ni *hop = rx->from;
	struct lnet_gateway *gw;

	if (likely(!through && hop->gw != LNET_GW_SILENT))
		return;
	gw = lnet_gateway_of(p->ln, hop->peer);
	if (!gw)
		return;
	if (hop->gw != LNET_GW_UP)
		check_by(p, gw, p->now_ns + SOON_NS);
	hop->gw = LNET_GW_UP;
	if (through)
		passed(gw, lnet_nid_net(&rx->src_nid));
}

/* It may have started anew, and know nobody. */
void lnet_gateway_lost(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_gateway *gw = lnet_gateway_of(p->ln, peer);

	if (!gw)
		return;
	gw->met = 0;
	check_by(p, gw, p->now_ns + SOON_NS);
}

void lnet_gateway_refused(struct lnet_pass *p, struct lnet_path *via)
{
	lockdep_assert_held(&p->sh->lock);
	if (!via->route)
		return;
	via->route->up = 0;
	via->route->gw->refused = 1;
	check_by(p, via->route->gw, p->now_ns + REFUSED_NS);
}

/* What is said to be alive is asked soon what it is now; what is not, when its time comes. */
static void told(struct lnet_pass *p, struct lnet_gateway *gw, bool up)
{
	struct lnet_peer_ni *hop;

	list_for_each_entry(hop, &gw->pni->peer->pnis, link)
		hop->gw = up ? LNET_GW_UP : LNET_GW_DOWN;
	if (up)
		check_by(p, gw, p->now_ns + SOON_NS);
}

/* cfg_mutex held. */
static int notify(struct lnet *ln, const struct lnet_peer_ni *pni, u32 net, bool up, s64 when_s)
{
	struct lnet_gateway *gw;
	struct lnet_pass p;
	bool local;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter(&p, &ln->shard[0]);
	local = lnet_net_is_local(ln, net);
	gw = local && pni ? lnet_gateway_of(ln, pni->peer) : NULL;
	if (gw && when_s >= gw->told_s) {
		gw->told_s = when_s;
		told(&p, gw, up);
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
	err = notify(ln, pni, lnet_nid_net(gateway), up, when_s);
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	if (!err && up)
		lnet_health_set_peer(ln, gateway, LNET_HEALTH_MAX);
	return err;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* The best path to the router on @net; NULL: its interfaces here are gone, or replaced. */
static struct lnet_path *path_on(const struct lnet_gateway *gw, u32 net)
{
	struct lnet_path *path, *best = NULL;
	struct lnet_peer_ni *hop;

	list_for_each_entry(hop, &gw->pni->peer->pnis, link) {
		if (hop->net != net || hop->deleted || is_replaced(gw, hop))
			continue;
		list_for_each_entry(path, &hop->paths, link)
			if (!lnet_path_routed(path) && path->ni->state == NI_ACTIVE &&
			    lnet_path_is_better(path, best))
				best = path;
	}
	return best;
}

/* The nets that the router is reached on, in the order of its interfaces; how many. */
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
 * A router that is not wholly up may be so soon, as it says that it is when it has been asked: it
 * is asked again soon, then less and less often while it says the same.
 */
static u64 again_ns(const struct lnet_gateway *gw)
{
	return AGAIN_NS << min(gw->doubts - 1, 16U);
}

/*
 * It is a peer like any other: its interfaces are learned, and it is told ours, so that it tells of
 * changes. Anew when it says something else, or was silent or lost.
 */
static void meet(struct lnet_pass *p, struct lnet_gateway *gw)
{
	struct lnet_peer *peer = gw->pni->peer;

	if (!READ_ONCE(p->ln->tun.discovery) || (gw->met && gw->met_seq == gw->info.seq))
		return;
	gw->met = 1;
	gw->met_seq = gw->info.seq;
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
		lnet_gateway_said(p, gw->pni->peer, gw->sink, op->mlength);
		if (gw->doubts)
			check_by(p, gw, p->now_ns + again_ns(gw));
		if (gw->known)
			meet(p, gw);
	} else if (op->outcome == LNET_CANCELED || op->outcome == LNET_SHUTDOWN) {
		return;
	} else if (is_replaced(gw, op->dst_pni)) {
		check_by(p, gw, p->now_ns + SOON_NS);
	} else {
		gw->nr_failed++;
		gw->met = 0;
		lnet_gateway_silent(p, gw, op->dst_pni->net);
	}
}

/* [sh 0] False: no reserve. */
static bool check(struct lnet_pass *p, struct lnet_gateway *gw, struct lnet_path *path)
{
	struct lnet_op *op = lnet_ping_by(p, path);

	if (!op)
		return false;
	op->flags |= LNET_OPF_IDEMPOTENT;
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
 * To the next check, of @nr nets. Each is checked once in an interval, those of a new router one
 * after the other; one that refused something is asked until it answers, even without an interval.
 */
static u64 pause_ns(const struct lnet_gateway *gw, unsigned int nr, u64 every_ns)
{
	u64 ns = every_ns ? div64_u64(every_ns, max(nr, 1U)) : IDLE_NS;

	if (every_ns && gw->turn < nr)
		return SOON_NS;
	if (gw->refused)
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
	gw->lists_hop = lists_a_hop(gw);	/* local interfaces may have changed */
	nr = nets_of(gw, nets);
	if (nr && !gw->busy && (every_ns || !gw->nr_checks || gw->refused)) {
		if (!check(p, gw, path_on(gw, nets[gw->turn % nr]))) {
			check_by(p, gw, p->now_ns + SOON_NS);
			return;
		}
		gw->turn++;
	}
	check_by(p, gw, p->now_ns + pause_ns(gw, nr, every_ns));
}

void lnet_gateway_start(struct lnet_gateway *gw, struct lnet_route *route)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, gw->ln, LNET_PASS_CALL);
	lnet_enter(&p, &gw->ln->shard[0]);
	if (gw->known)
		route->up = leads(gw, route);
	else
		route->up = !READ_ONCE(gw->ln->tun.check_routers_before_use);
	check_by(&p, gw, p.now_ns);
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
