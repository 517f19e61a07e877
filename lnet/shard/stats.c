/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters and latency histograms: adding, summing over the shards, quantiles, reset, names. */
#include "plat.h"
#include "shard/shard.h"
#include "shard/hooks.h"

/* Each table takes the counters of its kind from counters.def, and ignores the others. */
#define NI_COUNTER(name, text)
#define PNI_COUNTER(name, text)
#define COUNTER(name, text) [LNET_C_##name] = #name,
const char *const lnet_counter_names[LNET_NR_COUNTERS] = {
#include "model/counters.def"
};
#undef COUNTER
#undef NI_COUNTER
#define COUNTER(name, text)
#define NI_COUNTER(name, text) [LNET_NIC_##name] = #name,
const char *const lnet_ni_counter_names[LNET_NR_NI_COUNTERS] = {
#include "model/counters.def"
};
#undef NI_COUNTER
#undef PNI_COUNTER
#define NI_COUNTER(name, text)
#define PNI_COUNTER(name, text) [LNET_PNIC_##name] = #name,
const char *const lnet_pni_counter_names[LNET_NR_PNI_COUNTERS] = {
#include "model/counters.def"
};
#undef COUNTER
#undef NI_COUNTER
#undef PNI_COUNTER

/* ---- histograms ------------------------------------------------------------------------------ */

/*
 * Bucket 0 ends at 512 ns. From there each power of two has four buckets of equal width, so an edge
 * is off by 25 % at most. The last bucket takes all from 6.4 s on.
 */
#define HIST_LOG 9

static unsigned int bucket_of(u64 ns)
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

void lnet_times_add(struct lnet_times *t, u64 ns, u32 nr)
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

void lnet_hist_add(struct lnet_hist *h, u64 ns, u32 nr)
{
	u16 *bucket = &h->bucket[bucket_of(ns)];

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
	WRITE_ONCE(sh->c[c], sh->c[c] + 1);	/* lnet_stat_sum() reads it without the lock */
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

/* @load stays, because it counts attempts in flight. */
static void hists_reset(struct lnet_path_stats *s)
{
	s->put_egress = s->egress = (struct lnet_times){ 0 };
	s->get_rtt = s->put_ack = (struct lnet_times){ 0 };
	memset(&s->sent, 0, sizeof(s->sent));
	memset(&s->answered, 0, sizeof(s->answered));
}

void lnet_peer_stats_reset(struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link) {
		memset(pni->c, 0, sizeof(pni->c));
		list_for_each_entry(path, &pni->paths, link)
			if (path->stats)
				hists_reset(path->stats);
	}
}
