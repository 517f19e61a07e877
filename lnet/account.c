/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Books what was sent, received, dropped and answered, per instance, interface, peer interface and
 * path.
 */
#include "core.h"

static const u8 sent_ni[] = { LNET_NIC_sent_ack, LNET_NIC_sent_put, LNET_NIC_sent_get,
			      LNET_NIC_sent_reply };
static const u8 recv_ni[] = { LNET_NIC_recv_ack, LNET_NIC_recv_put, LNET_NIC_recv_get,
			      LNET_NIC_recv_reply };
static const u8 drop_ni[] = { LNET_NIC_drop_ack, LNET_NIC_drop_put, LNET_NIC_drop_get,
			      LNET_NIC_drop_reply };
static const u8 sent_pni[] = { LNET_PNIC_sent_ack, LNET_PNIC_sent_put, LNET_PNIC_sent_get,
			       LNET_PNIC_sent_reply };
static const u8 recv_pni[] = { LNET_PNIC_recv_ack, LNET_PNIC_recv_put, LNET_PNIC_recv_get,
			       LNET_PNIC_recv_reply };
static const u8 drop_pni[] = { LNET_PNIC_drop_ack, LNET_PNIC_drop_put, LNET_PNIC_drop_get,
			       LNET_PNIC_drop_reply };

static u64 *ni_counters(struct lnet_shard *sh, struct lnet_ni *ni)
{
	return ni->sh[sh->ix].c;
}

static u32 payload(const struct lnet_op *op)
{
	return op->type == LNET_OP_PUT || op->type == LNET_OP_REPLY ? op->len : 0;
}

void lnet_stat_sent(struct lnet_shard *sh, struct lnet_path *path, const struct lnet_op *op)
{
	u64 *ni = ni_counters(sh, path->ni), *pni = path->hop->c;
	u32 len = payload(op);

	lockdep_assert_held(&path->hop->sh->lock);
	if (likely(!(op->flags & LNET_OPF_FORWARD))) {
		lnet_count(sh, send_count);
		lnet_count_add(sh, send_length, len);
	}
	ni[LNET_NIC_send_count]++;
	ni[LNET_NIC_sent_bytes] += len;
	ni[sent_ni[op->type & 3]]++;
	pni[LNET_PNIC_send_count]++;
	pni[sent_pni[op->type & 3]]++;
}

void lnet_stat_recv(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type,
		    u32 len)
{
	u64 *c = ni_counters(sh, ni);

	lockdep_assert_held(&from->sh->lock);
	lnet_count(sh, recv_count);
	lnet_count_add(sh, recv_length, len);
	c[LNET_NIC_recv_count]++;
	c[LNET_NIC_recv_bytes] += len;
	c[recv_ni[type & 3]]++;
	from->c[LNET_PNIC_recv_count]++;
	from->c[recv_pni[type & 3]]++;
}

void lnet_stat_drop(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type,
		    u32 len)
{
	u64 *c = ni_counters(sh, ni);

	lnet_count(sh, drop_count);
	lnet_count_add(sh, drop_length, len);
	c[LNET_NIC_drop_count]++;
	c[drop_ni[type & 3]]++;
	if (unlikely(READ_ONCE(from->sh) != sh))	/* a window's: the interface is another's */
		return;
	from->c[LNET_PNIC_drop_count]++;
	from->c[drop_pni[type & 3]]++;
}

/*
 * Does anybody want to know whether its answer came in time (behaviour.md 1.4, 4.6)? The MD may say
 * so, else the tunable does: bit 0 GETs, bit 1 PUTs that want an ACK. What the core asks is tracked
 * always.
 */
static bool tracked(const struct lnet *ln, const struct lnet_op *op)
{
	u32 said = op->md ? op->md->options : 0;

	if (!lnet_op_request(op) || (op->type == LNET_OP_PUT && !(op->flags & LNET_OPF_ACK)))
		return false;
	if (op->flags & LNET_OPF_INTERNAL)
		return true;
	if (said & (LNET_MD_TRACK_RESPONSE | LNET_MD_NO_TRACK_RESPONSE))
		return !(said & LNET_MD_NO_TRACK_RESPONSE);
	return READ_ONCE(ln->tun.response_tracking) & (op->type == LNET_OP_GET ? 1 : 2);
}

void lnet_stat_start(struct lnet_shard *sh, struct lnet_op *op)
{
	sh->nr_live++;
	sh->c[LNET_C_msgs_max] = max(sh->c[LNET_C_msgs_max], ++sh->c[LNET_C_msgs_alloc]);
	if (!tracked(sh->ln, op))
		return;
	op->flags |= LNET_OPF_TRACKED;
	lnet_count(sh, rst_alloc);
}

void lnet_stat_end(struct lnet_shard *sh, const struct lnet_op *op)
{
	sh->nr_live--;
	sh->c[LNET_C_msgs_alloc]--;
	if (op->flags & LNET_OPF_TRACKED)
		sh->c[LNET_C_rst_alloc]--;
}

#define STATS_WANT_MAX 8	/* blocks allocated at once */

void lnet_stats_reserve(struct lnet_shard *sh)
{
	u32 want = READ_ONCE(sh->stats_want), nr = 0;
	LIST_HEAD(blocks);

	while (nr < want) {
		struct lnet_path_stats *s = kzalloc(sizeof(*s), GFP_NOFS);

		if (!s)
			break;
		list_add(&s->link, &blocks);
		nr++;
	}
	spin_lock(&sh->lock);
	list_splice(&blocks, &sh->stats_free);
	WRITE_ONCE(sh->stats_want, sh->stats_want - min(sh->stats_want, want));
	spin_unlock(&sh->lock);
}

void lnet_stats_pool_fini(struct lnet_shard *sh)
{
	struct lnet_path_stats *s, *next;

	list_for_each_entry_safe(s, next, &sh->stats_free, link)
		kfree(s);
	INIT_LIST_HEAD(&sh->stats_free);
}

/* [sh] The path's block; the first message of a path asks for it and is not measured. */
static struct lnet_path_stats *stats_of(struct lnet_path *path)
{
	struct lnet_shard *sh = path->pni->sh;

	if (path->stats)
		return path->stats;
	if (!list_empty(&sh->stats_free)) {
		path->stats = list_first_entry(&sh->stats_free, struct lnet_path_stats, link);
		list_del_init(&path->stats->link);
	} else if (sh->stats_want < STATS_WANT_MAX) {
		WRITE_ONCE(sh->stats_want, sh->stats_want + 1);
	}
	return path->stats;
}

void lnet_stat_posted(struct lnet_path *path, const struct lnet_op *op, u64 ns)
{
	struct lnet_path_stats *s = stats_of(path);

	if (!s)
		return;
	lnet_times_add(op->type == LNET_OP_PUT && op->tries == 1 ? &s->put_egress : &s->egress, ns);
	lnet_hist_add(&s->sent, ns);
}

void lnet_stat_answer(struct lnet_path *path, const struct lnet_op *op, u64 now_ns)
{
	struct lnet_path_stats *s = stats_of(path);
	u64 ns = now_ns - op->first_wire_ns;

	if (!s)
		return;
	lnet_times_add(op->type == LNET_OP_GET ? &s->get_rtt : &s->put_ack, ns);
	lnet_hist_add(&s->answered, ns);
}
