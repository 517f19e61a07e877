/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pings: the ping info of this node, its replies to pings, and pings that test a path. */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "xfer/xfer.h"
#include "receive/receive.h"
#include "service/service.h"

#define RECOVERY_SINK 48
#define INFO_SEQ 24		/* offset of the sequence number in a ping info */

/* ---- replies --------------------------------------------------------------------------------- */

static u32 own_features(const struct lnet *ln)
{
	u32 features = LNET_FEAT_NI_STATUS | LNET_FEAT_MULTI_RAIL | LNET_FEAT_OPEN;

	if (READ_ONCE(ln->tun.discovery))
		features |= LNET_FEAT_DISCOVERY;
	return lnet_router_announced(ln) ? features : features | LNET_FEAT_RTE_DISABLED;
}

/* Collects the interfaces to list. Includes drained interfaces only with @all. */
static unsigned int ping_nis_collect(struct lnet *ln, struct lnet_pinginfo_ni *nis,
				     unsigned int max, bool all)
{
	struct lnet_ni *ni;
	unsigned int nr = 0;

	list_for_each_entry(ni, &ln->nis, link) {
		if (ni == ln->lo || nr == max || lnet_ni_marked(ni, LNET_MARK(LEAVING)) ||
		    (lnet_ni_marked(ni, LNET_MARK(DRAINED)) && !all))
			continue;
		nis[nr].nid = ni->nid;
		nis[nr].status = lnet_ni_up(ni) ? LNET_NI_UP : LNET_NI_DOWN;
		nr++;
	}
	return nr;
}

/*
 * True if one interface is drained and another is up. Stock peers ignore the status of interfaces,
 * so they then need an info without the drained interface.
 */
static bool has_less(const struct lnet *ln)
{
	const struct lnet_ni *ni;
	bool drained = false, up = false;

	list_for_each_entry(ni, &ln->nis, link) {
		drained |= lnet_ni_marked(ni, LNET_MARK(DRAINED)) &&
			   !lnet_ni_marked(ni, LNET_MARK(LEAVING));
		up |= ni != ln->lo && lnet_ni_up(ni);
	}
	return drained && up;
}

/* Composes a ping info. Returns it with a reference; NULL: no memory. */
static struct lnet_sbuf *compose(struct lnet *ln, u32 seq, bool all)
{
	struct lnet_pinginfo_ni *nis = kcalloc(LNET_MAX_NIS, sizeof(*nis), GFP_KERNEL);
	struct lnet_sbuf *c = lnet_sbuf_new(32 + LNET_MAX_NIS * 24);
	int len = -ENOMEM;

	if (nis && c)
		len = lnet_pinginfo_encode(c->data, c->len, own_features(ln), ln->pid, seq, nis,
					   ping_nis_collect(ln, nis, LNET_MAX_NIS, all));
	kfree(nis);
	if (len < 0) {
		pr_warn("the ping info could not be rebuilt: %d\n", len);
		lnet_sbuf_put(c);
		return NULL;
	}
	c->len = c->frag.len = len;
	return c;
}

/*
 * Returns 1 if the info equals @said, so that there is no change to advertise; 0 if not; or
 * -ENOMEM.
 */
static int is_same(struct lnet *ln, const struct lnet_sbuf *said, bool all)
{
	struct lnet_sbuf *c = compose(ln, ln->ping_seq, all);
	int rc = -ENOMEM;

	if (c)
		rc = said && said->len == c->len && !memcmp(said->data, c->data, c->len);
	lnet_sbuf_put(c);
	return rc;
}

static int is_said(struct lnet *ln, bool less)
{
	int rc = is_same(ln, ln->ping_info, true);

	if (rc <= 0 || less != !!ln->ping_less)
		return min(rc, 0);
	return less ? is_same(ln, ln->ping_less, false) : 1;
}

bool lnet_ping_rebuild(struct lnet *ln)
{
	bool less = has_less(ln);
	struct lnet_sbuf *c[2] = { NULL, NULL };
	struct lnet_ni *ni;

	if (is_said(ln, less))
		return false;
	c[0] = compose(ln, ln->ping_seq + 1, true);
	c[1] = less ? compose(ln, ln->ping_seq + 1, false) : NULL;
	if (!c[0] || (less && !c[1])) {
		lnet_sbuf_put(c[0]);
		lnet_sbuf_put(c[1]);
		return false;
	}
	list_for_each_entry(ni, &ln->nis, link)
		/* the next info is the first info that lists the interface */
		if (!ni->since_seq)
			WRITE_ONCE(ni->since_seq, ln->ping_seq + 1);
	spin_lock(&ln->ping_lock);
	swap(ln->ping_info, c[0]);
	swap(ln->ping_less, c[1]);
	WRITE_ONCE(ln->ping_seq, ln->ping_seq + 1);
	spin_unlock(&ln->ping_lock);
	lnet_sbuf_put(c[0]);
	lnet_sbuf_put(c[1]);
	return true;
}

u32 lnet_ping_info_seq(const struct lnet_sbuf *info)
{
	u32 seq;

	memcpy(&seq, info->data + INFO_SEQ, sizeof(seq));
	return seq;
}

struct lnet_sbuf *lnet_ping_info_for(struct lnet *ln, const struct lnet_peer *peer)
{
	struct lnet_sbuf *c;

	spin_lock(&ln->ping_lock);
	c = ln->ping_less && !(peer->features & LNET_FEAT_OPEN) ? ln->ping_less : ln->ping_info;
	if (c)
		lnet_sbuf_get(c);
	spin_unlock(&ln->ping_lock);
	return c;
}

/* [sh] This router has received the ping @rx. So other nodes use the interface that received it. */
static void ni_pinged(struct lnet_pass *p, const struct lnet_rx *rx)
{
	struct lnet_ni *ni = rx->ni;

	WRITE_ONCE(ni->pinged_ns, p->now_ns);
	if (likely(!lnet_ni_marked(ni, LNET_MARK(UNPINGED))) ||
	    lnet_nid_is_local(p->ln, &rx->src_nid))
		return;
	lnet_ni_mark(ni, LNET_MARK(UNPINGED), false);
	lnet_ni_advertise(ni);
}

enum lnet_verdict lnet_ping_reply(struct lnet_pass *p, struct lnet_rx *rx,
				  const struct lnet_hdr *hdr)
{
	struct lnet_sbuf *c = lnet_ping_info_for(p->ln, rx->src->peer);
	struct lnet_op *op = c ? lnet_reply_new(p, rx, LNET_OP_REPLY) : NULL;
	u32 at = hdr->msg.get.src_offset, len = hdr->msg.get.sink_length;
	struct lnet_disc *d = &rx->src->peer->disc;

	if (lnet_router_forwards(p->ln))
		ni_pinged(p, rx);
	if (!op) {
		lnet_sbuf_put(c);
		return LNET_SKIP;
	}
	/*
	 * A ping for discovery by a peer with the exactly-once extension requests a multiple of
	 * LNET_PINGINFO_MIN bytes; its other pings do not. While this node does not know the info
	 * of the peer, it sends the peer no push. In this case, the peer learns our info by the
	 * REPLY to its first ping for discovery. So that REPLY counts as delivered. A later ping
	 * may be a duplicate, whose REPLY the peer ignores, so that REPLY does not count.
	 */
	if (!(len % LNET_PINGINFO_MIN) && !at && len >= c->len && !d->known && !d->advertised_seq)
		d->advertised_seq = lnet_ping_info_seq(c);
	at = min(at, c->len);
	op->cls = LNET_CLS_CONTROL;
	op->sbuf = c;
	op->md_off = at;
	op->len = min(len, c->len - at);
	lnet_op_defer(p, op);
	return LNET_SKIP;
}

int lnet_ping_init(struct lnet *ln)
{
	lnet_ping_rebuild(ln);
	return ln->ping_info ? 0 : -ENOMEM;
}

void lnet_ping_fini(struct lnet *ln)
{
	lnet_sbuf_put(ln->ping_info);
	lnet_sbuf_put(ln->ping_less);
	ln->ping_info = ln->ping_less = NULL;
}

/* ---- testing a path -------------------------------------------------------------------------- */

static void path_pinged(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_path *path = lnet_path_via(op->dst_pni, op->src_ni,
					       op->via ? op->via : op->dst_pni);
	int err = lnet_outcomes[op->outcome].err;
	bool back;

	if (!path)
		return;
	back = lnet_path_ping_done(p, path, err, err ? 0 : p->now_ns - op->first_wire_ns);
	if (back || (!err && path->back_ns >= op->first_wire_ns))
		lnet_ops_path_back(p, op->peer);
}

struct lnet_op *lnet_ping_by(struct lnet_pass *p, struct lnet_path *path)
{
	struct lnet_op *op = lnet_op_control(p, path->pni, LNET_OP_GET, 0);

	if (!op)
		return NULL;
	op->binding = LNET_BIND_FIXED;
	if (lnet_path_is_routed(path)) {
		op->via = path->hop;
		lnet_peer_ni_hold(op->via);
	}
	op->src_ni = path->ni;
	lnet_ni_get(op->src_ni);
	return op;
}

void lnet_ping_path(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns)
{
	struct lnet_op *op = lnet_ping_by(p, path);

	if (!op) {
		lnet_path_ping_done(p, path, -ENOMEM, 0);
		return;
	}
	op->kind = LNET_KIND_RECOVERY;
	op->sink = &p->sh->junk_frag;
	op->len = RECOVERY_SINK;
	op->timeout_ns = timeout_ns;
	op->done = path_pinged;
	lnet_op_defer(p, op);
}
