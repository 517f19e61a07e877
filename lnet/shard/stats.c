/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters and latency histograms: adding, summing over the shards, quantiles, reset, names. */
#include "plat.h"
#include "shard/shard.h"
#include "shard/hooks.h"

const char *const lnet_counter_names[LNET_NR_COUNTERS] = {
#define COUNTER(name, text) [LNET_C_##name] = #name,
#define NI_COUNTER(name, text)
#define PNI_COUNTER(name, text)
#include "model/counters.def"
#undef COUNTER
#undef NI_COUNTER
#undef PNI_COUNTER
};

/* ---- histograms ------------------------------------------------------------------------------ */

/*
 * Bucket 0 of a histogram ends at 512 ns. Above that, each power of two has four buckets of equal
 * width, so the error of an edge is at most 25 %. The last bucket has all times from 6.4 s on.
 */
#define HIST_LOG 9

static unsigned int hist_bucket(u64 ns)
{
	unsigned int log, bucket;

	if (ns < 1ULL << HIST_LOG)
		return 0;
	log = fls64(ns) - 1;
	bucket = (log - HIST_LOG) * 4 + ((ns >> (log - 2)) & 3) + 1;
	return min(bucket, (unsigned int)LNET_HIST_BUCKETS - 1);
}

/* First value beyond the bucket. */
static u64 bucket_end(unsigned int bucket)
{
	unsigned int log;

	if (bucket == 0)
		return 1ULL << HIST_LOG;
	log = HIST_LOG + (bucket - 1) / 4;
	return (5ULL + (bucket - 1) % 4) << (log - 2);
}

/* Adds the time @ns, which was measured @nr times, to @t. */
static void times_add(struct lnet_times *t, u64 ns, u32 nr)
{
	if (t->count == 0 || ns < t->min_ns)
		t->min_ns = ns;
	if (ns > t->max_ns)
		t->max_ns = ns;
	t->count += nr;
	t->sum_ns += nr * ns;
}

void lnet_times_sum(struct lnet_times *sum, const struct lnet_times *a, const struct lnet_times *b)
{
	if (!a->count)
		swap(a, b);
	*sum = *a;
	if (!b->count)
		return;
	sum->count += b->count;
	sum->sum_ns += b->sum_ns;
	sum->min_ns = min(a->min_ns, b->min_ns);
	sum->max_ns = max(a->max_ns, b->max_ns);
}

static noinline void halve(struct lnet_hist *h)
{
	unsigned int i;

	for (i = 0; i < LNET_HIST_BUCKETS; i++)
		h->bucket[i] /= 2;
}

/*
 * Adds the time @ns, measured @nr times, to the histogram. If a bucket is full, all buckets are
 * halved, so old times count less.
 */
static void hist_add(struct lnet_hist *h, u64 ns, u32 nr)
{
	u16 *bucket = &h->bucket[hist_bucket(ns)];

	while (unlikely(*bucket + nr > U16_MAX)) {
		halve(h);
		nr = min_t(u32, nr, U16_MAX / 2);
	}
	*bucket += nr;
}

u64 lnet_hist_quantile(const struct lnet_hist *h, u64 max_ns, unsigned int permille)
{
	u64 all = 0, seen = 0, wanted;
	unsigned int i;

	for (i = 0; i < LNET_HIST_BUCKETS; i++)
		all += h->bucket[i];
	wanted = max(div_u64(all * min(permille, 1000u) + 999, 1000), (u64)1);
	if (all == 0)
		return 0;
	for (i = 0; i < LNET_HIST_BUCKETS - 1; i++) {
		seen += h->bucket[i];
		if (seen >= wanted)
			return min(bucket_end(i), max_ns);
	}
	return max_ns;
}

/* ---- counters -------------------------------------------------------------------------------- */

u64 lnet_stat_sum(const struct lnet *ln, enum lnet_counter c)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < ln->nr_shards; i++)
		sum += READ_ONCE(ln->shard[i].c[c]);
	if (c == LNET_C_fault_drops || c == LNET_C_fault_delays)
		sum += ln->hooks->fault_count(ln, c == LNET_C_fault_delays);
	return sum;
}

void lnet_stat_count(struct lnet *ln, enum lnet_counter c)
{
	struct lnet_shard *sh = &ln->shard[0];

	spin_lock(&sh->lock);
	/* WRITE_ONCE(), because lnet_stat_sum() reads the counter without the lock */
	WRITE_ONCE(sh->c[c], sh->c[c] + 1);
	spin_unlock(&sh->lock);
}

int lnet_counter_get(const struct lnet *ln, const char *name, uint64_t *value)
{
	unsigned int c;

	for (c = 0; c < LNET_NR_COUNTERS; c++) {
		if (strcmp(lnet_counter_names[c], name))
			continue;
		*value = lnet_stat_sum(ln, c);
		return 0;
	}
	return -ENOENT;
}

void lnet_shard_stats_reset(struct lnet_shard *sh)
{
	struct lnet_ni *ni;
	unsigned int c;

	for (c = 0; c < LNET_NR_COUNTERS; c++)
		if (c != LNET_C_msgs_alloc && c != LNET_C_rst_alloc)	/* gauges */
			WRITE_ONCE(sh->c[c], 0);
	WRITE_ONCE(sh->c[LNET_C_msgs_max], sh->c[LNET_C_msgs_alloc]);
	list_for_each_entry(ni, &sh->ln->nis, link) {
		ni->used |= !!ni->sh[sh->ix].c[LNET_NIC_send_count];
		memset(ni->sh[sh->ix].c, 0, sizeof(ni->sh[sh->ix].c));
	}
}

void lnet_peer_stats_reset(struct lnet_peer *peer)
{
	struct lnet_path_stats *s;
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link) {
		memset(pni->c, 0, sizeof(pni->c));
		list_for_each_entry(path, &pni->paths, link) {
			s = path->stats;
			if (!s)
				continue;
			/* s->load is not reset, because it counts attempts in flight */
			s->put_egress = s->egress = (struct lnet_times){ 0 };
			s->get_rtt = s->put_ack = (struct lnet_times){ 0 };
			memset(&s->sent, 0, sizeof(s->sent));
			memset(&s->answered, 0, sizeof(s->answered));
		}
	}
}

/* ---- messages, per node, NI, peer NI and path ------------------------------------------------ */

/*
 * number of unfinished replies to a peer NI below which replies_budget does not apply to the peer
 * NI. The number is below the minimum of replies_max, so replies_max does not apply below it
 * either.
 */
#define ANSWERS_FEW 16

/*
 * The counter of a message type. In counters.def the types have the order PUT, GET, REPLY, ACK; the
 * wire numbers begin with the ACK.
 */
#define OF_TYPE(put, type) ((put) + (((type) + 3) & 3))
#define IN_ORDER(prefix)						\
	((int)prefix##_get == (int)prefix##_put + 1 &&			\
	 (int)prefix##_reply == (int)prefix##_put + 2 && (int)prefix##_ack == (int)prefix##_put + 3)
static_assert(IN_ORDER(LNET_NIC_sent) && IN_ORDER(LNET_NIC_recv) && IN_ORDER(LNET_NIC_drop) &&
	      IN_ORDER(LNET_PNIC_sent) && IN_ORDER(LNET_PNIC_recv) && IN_ORDER(LNET_PNIC_drop));

/* ---- batched statistics ---------------------------------------------------------------------- */

static void book_sent(struct lnet_shard *sh, struct lnet_pass_stats *b)
{
	u64 *ni = b->path->ni->sh[sh->ix].c, *pni = b->path->hop->c;

	lockdep_assert_held(&b->path->hop->sh->lock);
	if (likely(!b->forward)) {
		lnet_count_add(sh, send_count, b->nr);
		lnet_count_add(sh, send_length, b->bytes);
	}
	ni[LNET_NIC_send_count] += b->nr;
	ni[LNET_NIC_sent_bytes] += b->bytes;
	ni[OF_TYPE(LNET_NIC_sent_put, b->type)] += b->nr;
	pni[LNET_PNIC_send_count] += b->nr;
	pni[OF_TYPE(LNET_PNIC_sent_put, b->type)] += b->nr;
	b->nr = 0;
	b->bytes = 0;
}

static void book_times(struct lnet_pass_stats *b)
{
	times_add(b->times, b->ns, b->nr_times);
	hist_add(b->hist, b->ns, b->nr_times);
	b->nr_times = 0;
}

void lnet_pass_stats_add(struct lnet_pass *p)
{
	if (p->stats.nr)
		book_sent(p->sh, &p->stats);
	if (p->stats.nr_times)
		book_times(&p->stats);
}

void lnet_stat_sent(struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op)
{
	u8 type = op->type & 3, forward = op->kind == LNET_KIND_FORWARD;
	struct lnet_pass_stats *b = &p->stats;

	if (b->nr && (b->path != path || b->type != type || b->forward != forward))
		book_sent(p->sh, b);
	b->path = path;
	b->type = type;
	b->forward = forward;
	b->nr++;
	if (op->type == LNET_OP_PUT || op->type == LNET_OP_REPLY)
		b->bytes += op->len;
}

static void took(struct lnet_pass *p, struct lnet_times *times, struct lnet_hist *hist, u64 ns)
{
	struct lnet_pass_stats *b = &p->stats;

	if (b->nr_times && (b->times != times || b->hist != hist || b->ns != ns))
		book_times(b);
	b->times = times;
	b->hist = hist;
	b->ns = ns;
	b->nr_times++;
}

/* ---- single messages ------------------------------------------------------------------------- */

void lnet_stat_recv(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type,
		    u32 len)
{
	u64 *c = ni->sh[sh->ix].c;

	lockdep_assert_held(&from->sh->lock);
	lnet_count(sh, recv_count);
	lnet_count_add(sh, recv_length, len);
	c[LNET_NIC_recv_count]++;
	c[LNET_NIC_recv_bytes] += len;
	c[OF_TYPE(LNET_NIC_recv_put, type)]++;
	from->c[LNET_PNIC_recv_count]++;
	from->c[OF_TYPE(LNET_PNIC_recv_put, type)]++;
}

void lnet_stat_drop(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type,
		    u32 len)
{
	u64 *c = ni->sh[sh->ix].c;

	lnet_count(sh, drop_count);
	lnet_count_add(sh, drop_length, len);
	c[LNET_NIC_drop_count]++;
	c[OF_TYPE(LNET_NIC_drop_put, type)]++;
	/* @sh is the shard of a window, which may not be the shard of @from */
	if (unlikely(READ_ONCE(from->sh) != sh))
		return;
	from->c[LNET_PNIC_drop_count]++;
	from->c[OF_TYPE(LNET_PNIC_drop_put, type)]++;
}

/*
 * Response tracking, as in stock LNet: true if the statistics count @op. The node counts @op while
 * @op awaits its reply, and again if @op times out without a reply. An option of the MD decides
 * whether @op is counted. If the MD has no such option, the tunable response_tracking decides: bit
 * 0 for GETs, bit 1 for PUTs that request an ACK. Requests of the node itself are always counted.
 */
static bool is_response_counted(const struct lnet *ln, const struct lnet_op *op)
{
	u32 said = op->md ? op->md->options : 0;

	if (!lnet_op_is_request(op) || (op->type == LNET_OP_PUT && !(op->flags & LNET_OPF_ACK)))
		return false;
	if (op->kind != LNET_KIND_USER)
		return true;
	if (said & (LNET_MD_TRACK_RESPONSE | LNET_MD_NO_TRACK_RESPONSE))
		return !(said & LNET_MD_NO_TRACK_RESPONSE);
	return READ_ONCE(ln->tun.response_tracking) & (op->type == LNET_OP_GET ? 1 : 2);
}

void lnet_stat_start(struct lnet_shard *sh, struct lnet_op *op)
{
	WRITE_ONCE(sh->nr_live, sh->nr_live + 1);
	sh->nr_reply_ops += lnet_op_is_reply(op);
	op->peer->nr_ops++;
	sh->c[LNET_C_msgs_max] = max(sh->c[LNET_C_msgs_max], ++sh->c[LNET_C_msgs_alloc]);
	if (!is_response_counted(sh->ln, op))
		return;
	op->flags |= LNET_OPF_RESPONSE_COUNTED;
	lnet_count(sh, rst_alloc);
}

void lnet_stat_end(struct lnet_shard *sh, const struct lnet_op *op)
{
	WRITE_ONCE(sh->nr_live, sh->nr_live - 1);
	sh->nr_reply_ops -= lnet_op_is_reply(op);
	op->peer->nr_ops--;
	sh->c[LNET_C_msgs_alloc]--;
	if (op->flags & LNET_OPF_RESPONSE_COUNTED)
		sh->c[LNET_C_rst_alloc]--;
}

bool lnet_replies_full(struct lnet_pass *p, const struct lnet_peer_ni *from)
{
	u32 nr = (u32)atomic_read(&from->nr_reply_ops);

	if (likely(nr < ANSWERS_FEW))
		return false;
	if (nr >= READ_ONCE(p->ln->tun.replies_max))
		lnet_count(p->sh, not_reading);
	else if (p->sh->nr_reply_ops >= READ_ONCE(p->ln->tun.replies_budget))
		lnet_count(p->sh, replies_denied);
	else
		return false;
	return true;
}

#define STATS_WANT_MAX 8	/* blocks allocated at once */

/*
 * [sh] Returns the statistics of @path; NULL: not allocated yet. The first message on @path only
 * requests the allocation, and is not measured.
 */
static struct lnet_path_stats *stats_of(struct lnet_path *path)
{
	struct lnet_shard *sh = path->pni->sh;

	if (path->stats)
		return path->stats;
	if (!list_empty(&sh->stats_free)) {
		path->stats = list_first_entry(&sh->stats_free, struct lnet_path_stats, link);
		list_del(&path->stats->link);
		memset(&path->stats->link, 0, sizeof(path->stats->link));
	} else if (sh->stats_want < STATS_WANT_MAX) {
		WRITE_ONCE(sh->stats_want, sh->stats_want + 1);
	}
	return path->stats;
}

void lnet_stat_posted(struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op,
		      u64 ns)
{
	struct lnet_path_stats *s = stats_of(path);
	bool once = op->type == LNET_OP_PUT && op->tries == 1;

	if (s)
		took(p, once ? &s->put_egress : &s->egress, &s->sent, ns);
}

void lnet_stat_reply(struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op)
{
	struct lnet_path_stats *s = stats_of(path);

	if (s)
		took(p, op->type == LNET_OP_GET ? &s->get_rtt : &s->put_ack, &s->answered,
		     p->now_ns - op->first_wire_ns);
}
