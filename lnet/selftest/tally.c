/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of a test: adding counts, merging records, quantiles, wire form. */
#include "tally.h"

#define OCTAVE_BITS	3U		/* log2 of the number of buckets per power of two */
#define FIRST_BITS	9U		/* log2 of the end of bucket 0 (512 ns) */

#define TALLY(name, text)	#name,
const char *const lst_tally_names[LST_NR_TALLIES] = {
#include "tally.def"
};
#undef TALLY

/* ---- numbers --------------------------------------------------------------------------------- */

static void u128_add(struct lst_u128 *to, struct lst_u128 x)
{
	to->lo += x.lo;
	to->hi += x.hi + (to->lo < x.lo);
}

static struct lst_u128 square(u64 x)
{
	u64 hi = x >> 32, lo = x & U32_MAX, mid = hi * lo;
	struct lst_u128 sq = { hi * hi, lo * lo };

	/* The middle term of (hi + lo)^2 is 2 * hi * lo. */
	u128_add(&sq, (struct lst_u128){ mid >> 31, mid << 33 });
	return sq;
}

static u32 tally_bucket_of(u64 ns)
{
	u32 bits;

	if (ns >> FIRST_BITS == 0)
		return 0;
	bits = (u32)fls64(ns) - 1;
	return min(1 + ((bits - FIRST_BITS) << OCTAVE_BITS) +
			   (u32)(ns >> (bits - OCTAVE_BITS) & ((1U << OCTAVE_BITS) - 1)),
		   LST_TALLY_BUCKETS - 1);
}

/* Returns the smallest value in the bucket. */
static u64 bucket_low(u32 bucket)
{
	u32 bits = FIRST_BITS + ((bucket - 1) >> OCTAVE_BITS);
	u64 part = (bucket - 1) & ((1U << OCTAVE_BITS) - 1);

	return bucket ? (1ULL << bits) + (part << (bits - OCTAVE_BITS)) : 0;
}

/* ---- lists of the largest -------------------------------------------------------------------- */

static int process_cmp(const struct lnet_process *a, const struct lnet_process *b)
{
	int cmp = lnet_nid_cmp(&a->nid, &b->nid);

	return cmp ? cmp : (a->pid > b->pid) - (a->pid < b->pid);
}

static bool goes_before(const struct lst_top *a, const struct lst_top *b)
{
	if (a->value != b->value)
		return a->value > b->value;
	return process_cmp(&a->id, &b->id) < 0;
}

/*
 * Updates the entry of a node in the list, or inserts a new entry. The list is sorted by value, so
 * later entries move.
 */
static void top_add(struct lst_top *list, u32 *nr, u64 value, const struct lnet_process *id,
		    bool sum)
{
	struct lst_top top = { value, *id };
	u32 i;

	for (i = 0; i < *nr && process_cmp(&list[i].id, id); i++)
		;
	if (i < *nr)
		top.value = sum ? list[i].value + value : max(list[i].value, value);
	else if (*nr < LST_TALLY_TOP)
		i = (*nr)++;
	else if (goes_before(&top, &list[--i]))
		;
	else
		return;
	for (; i && goes_before(&top, &list[i - 1]); i--)
		list[i] = list[i - 1];
	list[i] = top;
}

/* ---- adding ---------------------------------------------------------------------------------- */

void lst_tally_init(struct lst_tally *t)
{
	memset(t, 0, sizeof(*t));
}

static void tally_min_update(struct lst_tally *t, u64 ns, const struct lnet_process *at)
{
	if (t->nr_times && (ns > t->min_ns ||
			    (ns == t->min_ns && process_cmp(at, &t->min_at) >= 0)))
		return;
	t->min_ns = ns;
	t->min_at = *at;
}

static void largest(struct lst_tally *t, u64 ns, const struct lnet_process *at)
{
	if (t->nr_times && (ns < t->max_ns ||
			    (ns == t->max_ns && process_cmp(at, &t->max_at) >= 0)))
		return;
	t->max_ns = ns;
	t->max_at = *at;
}

void lst_tally_time(struct lst_tally *t, u64 ns, const struct lnet_process *id)
{
	tally_min_update(t, ns, id);
	largest(t, ns, id);
	t->nr_times++;
	u128_add(&t->sum_ns, (struct lst_u128){ 0, ns });
	u128_add(&t->sum_ns2, square(ns));
	t->bucket[tally_bucket_of(ns)]++;
	/*
	 * The list of slow nodes of a client has one entry: the client itself with its longest
	 * time. So the list changes only if @ns is longer than that time.
	 */
	if (!t->nr_slow || ns > t->slow[0].value || process_cmp(&t->slow[0].id, id))
		top_add(t->slow, &t->nr_slow, ns, id, false);
}

void lst_tally_bad(struct lst_tally *t, u64 nr, const struct lnet_process *id)
{
	if (nr)
		top_add(t->bad, &t->nr_bad, nr, id, true);
}

static void window_merge(struct lst_tally *into, const struct lst_tally *from)
{
	if (from->first_ns && (!into->first_ns || from->first_ns < into->first_ns))
		into->first_ns = from->first_ns;
	into->last_ns = max(into->last_ns, from->last_ns);
}

void lst_tally_merge(struct lst_tally *into, const struct lst_tally *from)
{
	u32 i;

	for (i = 0; i < LST_NR_TALLIES; i++)
		into->c[i] += from->c[i];
	into->nr_nodes += from->nr_nodes;
	if (from->nr_times) {
		tally_min_update(into, from->min_ns, &from->min_at);
		largest(into, from->max_ns, &from->max_at);
	}
	into->nr_times += from->nr_times;
	u128_add(&into->sum_ns, from->sum_ns);
	u128_add(&into->sum_ns2, from->sum_ns2);
	window_merge(into, from);
	for (i = 0; i < LST_TALLY_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	for (i = 0; i < from->nr_slow; i++)
		top_add(into->slow, &into->nr_slow, from->slow[i].value, &from->slow[i].id, false);
	for (i = 0; i < from->nr_bad; i++)
		top_add(into->bad, &into->nr_bad, from->bad[i].value, &from->bad[i].id, true);
}

u64 lst_tally_quantile(const struct lst_tally *t, u32 per_million)
{
	const u32 million = 1000000;
	u64 rank, seen = 0;
	u32 rest, i;

	if (!t->nr_times)
		return 0;
	per_million = min(per_million, million);
	rank = div_u64_rem(t->nr_times, million, &rest) * per_million;
	rank += div_u64((u64)rest * per_million + million - 1, million);
	for (i = 0; i < LST_TALLY_BUCKETS - 1; i++) {
		seen += t->bucket[i];
		if (seen && seen >= rank)
			return min(bucket_low(i + 1) - 1, t->max_ns);
	}
	return t->max_ns;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/*
 * The bytes of a tally record, in this order:
 *	the number of counts, and the lengths of the lists `slow' and `bad', one byte each;
 *	the counts;
 *	nr_nodes, nr_times, sum_ns and sum_ns2 (the low half of each sum first), min_ns, max_ns,
 *	first_ns, last_ns, min_at and max_at;
 *	for each bucket that is not empty, its index (one byte) and its count;
 *	the byte END_OF_BUCKETS;
 *	the lists `slow' and `bad': for each entry, the value and the process.
 * A process (NID and PID) has 24 bytes. Each number without a given size has eight bytes.
 */
#define END_OF_BUCKETS	255U

struct cursor {
	u8 *out;			/* or */
	const u8 *in;
	u32 used, len;
	bool bad;			/* it was too short */
};

static u32 cursor_step(struct cursor *c, u32 bytes)
{
	u32 at = c->used;

	if (bytes > c->len - at) {
		c->bad = true;
		return 0;
	}
	c->used += bytes;
	return at;
}

static void byte(struct cursor *c, u8 *x)
{
	u32 at = cursor_step(c, 1);

	if (c->bad)
		*x = 0;
	else if (c->out)
		c->out[at] = *x;
	else
		*x = c->in[at];
}

static void cursor_word(struct cursor *c, u64 *x)
{
	u32 at = cursor_step(c, 8);

	if (c->bad)
		*x = 0;
	else if (c->out)
		put_unaligned_le64(*x, c->out + at);
	else
		*x = get_unaligned_le64(c->in + at);
}

static void cursor_process(struct cursor *c, struct lnet_process *id)
{
	u32 at = cursor_step(c, sizeof(id->nid) + 4);

	if (c->bad)
		return;
	if (c->out) {
		memcpy(c->out + at, &id->nid, sizeof(id->nid));
		put_unaligned_le32(id->pid, c->out + at + sizeof(id->nid));
		return;
	}
	memcpy(&id->nid, c->in + at, sizeof(id->nid));
	id->pid = get_unaligned_le32(c->in + at + sizeof(id->nid));
}

static void cursor_numbers(struct cursor *c, struct lst_tally *t)
{
	u64 *const order[] = { &t->nr_nodes, &t->nr_times, &t->sum_ns.lo, &t->sum_ns.hi,
			       &t->sum_ns2.lo, &t->sum_ns2.hi, &t->min_ns, &t->max_ns,
			       &t->first_ns, &t->last_ns };
	u32 i;

	for (i = 0; i < LST_NR_TALLIES; i++)
		cursor_word(c, &t->c[i]);
	for (i = 0; i < ARRAY_SIZE(order); i++)
		cursor_word(c, order[i]);
	cursor_process(c, &t->min_at);
	cursor_process(c, &t->max_at);
}

static void tops(struct cursor *c, struct lst_top *list, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		cursor_word(c, &list[i].value);
		cursor_process(c, &list[i].id);
	}
}

u32 lst_tally_encode(const struct lst_tally *t, u8 buf[LST_TALLY_WIRE])
{
	/* the cursor only reads *@in, because it writes to @buf */
	struct lst_tally *in = (struct lst_tally *)t;
	u8 head[] = { LST_NR_TALLIES, (u8)t->nr_slow, (u8)t->nr_bad }, end = END_OF_BUCKETS;
	struct cursor c = { .out = buf, .len = LST_TALLY_WIRE };
	u32 i;

	BUILD_BUG_ON(3 + 8 * (LST_NR_TALLIES + 10) + 2 * 24 + 9 * LST_TALLY_BUCKETS + 1 +
		     2 * LST_TALLY_TOP * 32 > LST_TALLY_WIRE);
	BUILD_BUG_ON(LST_TALLY_BUCKETS > END_OF_BUCKETS);
	for (i = 0; i < ARRAY_SIZE(head); i++)
		byte(&c, &head[i]);
	cursor_numbers(&c, in);
	for (i = 0; i < LST_TALLY_BUCKETS; i++) {
		u8 ix = (u8)i;

		if (!t->bucket[i])
			continue;
		byte(&c, &ix);
		cursor_word(&c, &in->bucket[i]);
	}
	byte(&c, &end);
	tops(&c, in->slow, t->nr_slow);
	tops(&c, in->bad, t->nr_bad);
	return c.used;
}

/* Reads the buckets. They must be in ascending order, and none may be empty. */
static bool buckets_read(struct cursor *c, struct lst_tally *t)
{
	u32 next = 0;
	u8 ix = 0;

	for (byte(c, &ix); !c->bad && ix != END_OF_BUCKETS; byte(c, &ix)) {
		if (ix < next || ix >= LST_TALLY_BUCKETS)
			return false;
		cursor_word(c, &t->bucket[ix]);
		if (!t->bucket[ix])
			return false;
		next = ix + 1U;
	}
	return !c->bad;
}

static bool times_fit(const struct lst_tally *t)
{
	u32 i, low = LST_TALLY_BUCKETS, high = 0;
	u64 left = t->nr_times;

	for (i = 0; i < LST_TALLY_BUCKETS; i++) {
		if (!t->bucket[i])
			continue;
		if (t->bucket[i] > left)
			return false;
		left -= t->bucket[i];
		low = min(low, i);
		high = i;
	}
	if (!t->nr_times)
		return !t->min_ns && !t->max_ns && !t->nr_slow && !t->sum_ns.hi && !t->sum_ns.lo &&
		       !t->sum_ns2.hi && !t->sum_ns2.lo;
	return !left && t->min_ns <= t->max_ns && tally_bucket_of(t->min_ns) == low &&
	       tally_bucket_of(t->max_ns) == high;
}

static bool tops_fit(const struct lst_top *list, u32 nr)
{
	u32 i, j;

	for (i = 0; i < nr; i++) {
		if (!lnet_nid_is_sane(&list[i].id.nid) ||
		    (i && !goes_before(&list[i - 1], &list[i])))
			return false;
		for (j = 0; j < i; j++)
			if (!process_cmp(&list[i].id, &list[j].id))
				return false;
	}
	return true;
}

static bool tally_fits(const struct lst_tally *t)
{
	const u64 *c = t->c;
	u64 answered = c[LST_T_received] + c[LST_T_lost];

	if (answered < c[LST_T_lost] || answered + c[LST_T_under_way] < answered ||
	    c[LST_T_sent] != answered + c[LST_T_under_way])
		return false;
	return t->first_ns <= t->last_ns && lnet_nid_is_sane(&t->min_at.nid) &&
	       lnet_nid_is_sane(&t->max_at.nid) && times_fit(t) && tops_fit(t->slow, t->nr_slow) &&
	       tops_fit(t->bad, t->nr_bad) && (!t->nr_slow || t->slow[0].value == t->max_ns);
}

int lst_tally_decode(struct lst_tally *t, const u8 *buf, u32 len, u32 *used)
{
	struct cursor c = { .in = buf, .len = len };
	u8 head[3] = { 0 };
	u32 i;

	lst_tally_init(t);
	for (i = 0; i < ARRAY_SIZE(head); i++)
		byte(&c, &head[i]);
	if (head[0] != LST_NR_TALLIES || head[1] > LST_TALLY_TOP || head[2] > LST_TALLY_TOP)
		return -EINVAL;
	t->nr_slow = head[1];
	t->nr_bad = head[2];
	cursor_numbers(&c, t);
	if (!buckets_read(&c, t))
		return -EINVAL;
	tops(&c, t->slow, t->nr_slow);
	tops(&c, t->bad, t->nr_bad);
	*used = c.used;
	return c.bad || !tally_fits(t) ? -EINVAL : 0;
}
