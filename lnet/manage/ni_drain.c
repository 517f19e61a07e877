/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drains an interface administratively, and ends the drain, without losing or delaying a message.
 * The interface stays active. Attempts in flight end as usual, replies to received requests are
 * sent, and peers without another path are served. lnet_select() ranks the interface behind all
 * interfaces in service. Attempts that wait for its credits choose another path at once. The ping
 * info advertises the interface as down, so that peers stop using it.
 *
 * Stock peers ignore the status, so the ping info for stock peers omits the interface (ping.c).
 * After a stock peer has received such a ping info, it matches no request from the NID of the
 * interface. So the node pushes the ping info to stock peers after the last request of the
 * interface.
 */
#include "plat.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "service/service.h"
#include "manage/manage.h"

/*
 * Longest waits: SENT_NS for messages in flight, ACK_NS for acknowledgements, CLOSE_NS until
 * connections are closed.
 */
#define SENT_NS		((u64)NSEC_PER_SEC)
#define ACK_NS		((u64)NSEC_PER_SEC)
#define CLOSE_NS	((u64)NSEC_PER_SEC)
/* Within this time a peer receives the messages in flight, and stops sending to the interface. */
#define QUIET_NS	(100 * (u64)NSEC_PER_MSEC)

/* ---- waiting until an interface is quiet ----------------------------------------------------- */

struct quiet {
	struct lnet_ni *ni;
	unsigned int counter;		/* counter of messages: enum lnet_ni_counter */
	/* last value of @counter, and the time at which it changed */
	u64 nr, since_ns;
};

static bool ni_is_quiet(struct lnet *ln, void *arg)
{
	struct quiet *q = arg;
	u64 now_ns = ln->env->ops->now_ns(ln->env), nr = 0;
	unsigned int i;

	for (i = 0; i < ln->nr_shards; i++) {
		spin_lock(&ln->shard[i].lock);
		nr += q->ni->sh[i].c[q->counter];
		spin_unlock(&ln->shard[i].lock);
	}
	if (nr != q->nr || !q->since_ns)
		q->since_ns = now_ns;
	q->nr = nr;
	return now_ns - q->since_ns >= QUIET_NS && lnet_ni_is_empty(ln, q->ni);
}

/* ---- draining -------------------------------------------------------------------------------- */

/*
 * @marks: DRAINED, or both DRAINED and LEAVING. Both are set under all shard locks, so that no path
 * selection sees only one of them.
 */
static void set_drained(struct lnet_ni *ni, u32 marks, bool drained)
{
	struct quiet sent = { .ni = ni, .counter = LNET_NIC_sent_put };
	struct lnet *ln = ni->ln;
	struct lnet_pass p;

	lnet_shards_lock_all(ln);
	lnet_ni_mark(ni, marks, drained);
	lnet_shards_unlock_all(ln);
	/* no new request uses the NI; waits until peers have received the requests in flight */
	if (drained) {
		lnet_pass_begin(&p, ln, LNET_PASS_CALL);
		lnet_ops_walk(&p, lnet_op_reselect_ni, ni);
		lnet_pass_end(&p);
		if (lnet_push_reaches_stock(ln, ni))
			lnet_cfg_wait(ln, ni_is_quiet, &sent, SENT_NS);
	}
	lnet_ping_advertise(ln);
	lnet_push_now(ln);
}

int lnet_ni_drain(struct lnet *ln, const struct lnet_nid *nid, bool drained)
{
	struct lnet_ni *ni;
	int rc = 0;

	if (lnet_nid_is_lo(nid))
		return -EINVAL;
	mutex_lock(&ln->cfg_mutex);
	ni = lnet_ni_by_nid(ln, nid);
	if (!ni) {
		rc = -ENOENT;
	} else if (lnet_ni_marked(ni, LNET_MARK(DRAINED)) != drained) {
		set_drained(ni, LNET_MARK(DRAINED), drained);
		lnet_log_ni_drained(ln, nid, drained);
	}
	mutex_unlock(&ln->cfg_mutex);
	return rc;
}

bool lnet_ni_is_unheld(struct lnet *ln, void *arg)
{
	struct lnet_ni *ni = arg;
	unsigned int i;
	u32 holds = 0;

	for (i = 0; i < ln->nr_shards; i++) {
		spin_lock(&ln->shard[i].lock);
		holds += ni->sh[i].holds;
		spin_unlock(&ln->shard[i].lock);
	}
	return !holds;
}

bool lnet_ni_is_empty(struct lnet *ln, void *ni)
{
	return lnet_ni_is_unheld(ln, ni) && lnet_paths_idle(ln, ni);
}

/* ---- removal --------------------------------------------------------------------------------- */

struct notified {
	struct lnet_ni *ni;
	/* peer whose acknowledgement is awaited; with a reference */
	struct lnet_peer *at;
};

static bool status_is_known(struct lnet *ln, void *arg)
{
	struct notified *n = arg;

	return lnet_push_is_known(ln, n->ni, &n->at);
}

void lnet_ni_leave(struct lnet_ni *ni, u64 limit_ns)
{
	struct quiet received = { .ni = ni, .counter = LNET_NIC_recv_count };
	struct notified peers = { .ni = ni };
	struct lnet *ln = ni->ln;

	set_drained(ni, LNET_MARK(LEAVING) | LNET_MARK(DRAINED), true);
	if (status_is_known(ln, &peers))
		return;			/* no peer needs the list */
	lnet_cfg_wait(ln, status_is_known, &peers, min(limit_ns, ACK_NS));
	lnet_peer_put(peers.at);
	lnet_cfg_wait(ln, ni_is_quiet, &received, limit_ns);
}

static bool ni_is_closed(struct lnet *ln, void *ni)
{
	return ((struct lnet_ni *)ni)->ops->ni_close(ni);
}

void lnet_ni_close(struct lnet_ni *ni)
{
	if (ni->ops->ni_close)
		lnet_cfg_wait(ni->ln, ni_is_closed, ni, CLOSE_NS);
}
