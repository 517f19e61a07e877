/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads tallies from documents. Computes mean, deviation, percentiles and rates, and prints tables.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sample.h"

typedef unsigned __int128 u128;

u64 sample_count(const struct lnetctl_node *map, const char *key)
{
	const char *found = lnetctl_text(map, key);

	return found ? strtoull(found, NULL, 0) : 0;
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool read_u128(const struct lnetctl_node *item, const char *key, struct lst_u128 *x)
{
	const char *digit = lnetctl_text(item, key);
	u128 value = 0;

	if (!digit || strncmp(digit, "0x", 2) || strlen(digit) > 34)
		return false;
	for (digit += 2; *digit; digit++) {
		const char *at = strchr("0123456789abcdef", *digit);

		if (!at)
			return false;
		value = value << 4 | (u128)(at - "0123456789abcdef");
	}
	*x = (struct lst_u128){ (u64)(value >> 64), (u64)value };
	return true;
}

static bool read_buckets(const struct lnetctl_node *item, struct lst_tally *t)
{
	const struct lnetctl_node *list = lnetctl_find(item, "buckets"), *b;
	u64 sum = 0;

	for (b = list ? list->first : NULL; b; b = b->next) {
		const struct lnetctl_node *nr = b->first ? b->first->next : NULL;
		u64 ix = b->first && b->first->text ? strtoull(b->first->text, NULL, 0) : ~0ULL;

		if (ix >= LST_TALLY_BUCKETS || !nr || !nr->text || t->bucket[ix])
			return false;
		t->bucket[ix] = strtoull(nr->text, NULL, 0);
		sum += t->bucket[ix];
	}
	return sum == t->nr_times;
}

bool tally_read(const struct lnetctl_node *item, struct lst_tally *t)
{
	unsigned int i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < LST_NR_TALLIES; i++) {
		if (!lnetctl_text(item, lst_tally_names[i]))
			return false;
		t->c[i] = sample_count(item, lst_tally_names[i]);
	}
	t->nr_nodes = sample_count(item, "nodes");
	t->nr_times = sample_count(item, "times");
	t->min_ns = sample_count(item, "min_ns");
	t->max_ns = sample_count(item, "max_ns");
	t->first_ns = sample_count(item, "first_ns");
	t->last_ns = sample_count(item, "last_ns");
	return read_u128(item, "sum_ns", &t->sum_ns) && read_u128(item, "sum_ns2", &t->sum_ns2) &&
	       read_buckets(item, t) &&
	       t->c[LST_T_sent] == t->c[LST_T_received] + t->c[LST_T_lost] + t->c[LST_T_under_way];
}

/* ---- computing ----------------------------------------------------------------------------- */

static u128 u128_of(struct lst_u128 x)
{
	return (u128)x.hi << 64 | x.lo;
}

static u64 square_root(u128 x)
{
	u64 root = 0, bit;

	for (bit = 1ULL << 63; bit; bit >>= 1)
		if ((u128)(root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

/*
 * Computes the standard deviation. The mean is rounded to whole ns, so that the sum of the squared
 * deviations is an exact whole number. The rounded mean changes the result only little.
 */
static u64 deviation(const struct lst_tally *t)
{
	u128 sum = u128_of(t->sum_ns), n = t->nr_times, mean = sum / n;

	return square_root((u128_of(t->sum_ns2) - 2 * mean * sum + n * mean * mean) / n);
}

static u64 per_second(u64 count, u64 window_ns)
{
	return window_ns ? (u64)((u128)count * 1000000000 / window_ns) : 0;
}

void tally_figures(const struct lst_tally *t, struct figures *f)
{
	memset(f, 0, sizeof(*f));
	f->window_ns = t->last_ns > t->first_ns ? t->last_ns - t->first_ns : 0;
	f->per_s = per_second(t->c[LST_T_received], f->window_ns);
	f->out_per_s = per_second(t->c[LST_T_bytes_out], f->window_ns);
	f->in_per_s = per_second(t->c[LST_T_bytes_in], f->window_ns);
	if (!t->nr_times)
		return;
	f->mean_ns = (u64)((u128_of(t->sum_ns) + t->nr_times / 2) / t->nr_times);
	f->dev_ns = deviation(t);
	f->min_ns = t->min_ns;
	f->p50_ns = lst_tally_quantile(t, 500000);
	f->p90_ns = lst_tally_quantile(t, 900000);
	f->p99_ns = lst_tally_quantile(t, 990000);
	f->p999_ns = lst_tally_quantile(t, 999000);
	f->max_ns = t->max_ns;
}

static void u128_sub(struct lst_u128 *x, struct lst_u128 y)
{
	u128 diff = u128_of(*x) - u128_of(y);

	*x = (struct lst_u128){ (u64)(diff >> 64), (u64)diff };
}

bool tally_minus(struct lst_tally *t, const struct lst_tally *before)
{
	unsigned int i;

	for (i = 0; i < LST_TALLY_BUCKETS; i++)
		if (t->bucket[i] < before->bucket[i])
			return false;
	for (i = 0; i < LST_NR_TALLIES; i++)
		if (i != LST_T_under_way && t->c[i] < before->c[i])
			return false;
	for (i = 0; i < LST_TALLY_BUCKETS; i++)
		t->bucket[i] -= before->bucket[i];
	for (i = 0; i < LST_NR_TALLIES; i++)
		if (i != LST_T_under_way)
			t->c[i] -= before->c[i];
	t->nr_times -= before->nr_times;
	u128_sub(&t->sum_ns, before->sum_ns);
	u128_sub(&t->sum_ns2, before->sum_ns2);
	return true;
}

/* ---- documents ----------------------------------------------------------------------------- */

const char *sample_test(const struct lnetctl_node *item, char name[TEST_NAME_SIZE])
{
	snprintf(name, TEST_NAME_SIZE, "%s.%s", text(item, "batch"), text(item, "test"));
	return name;
}

int sample_figures(struct lnetctl_node *item)
{
	struct lst_tally t;
	struct figures f;
	struct lnetctl_node *map;

	if (!tally_read(item, &t))
		return -EINVAL;
	tally_figures(&t, &f);
	map = lnetctl_add_map(item, "figures");
	if (!map)
		return -ENOMEM;
	lnetctl_add_num(map, "mean_ns", (int64_t)f.mean_ns);
	lnetctl_add_num(map, "deviation_ns", (int64_t)f.dev_ns);
	lnetctl_add_num(map, "p50_ns", (int64_t)f.p50_ns);
	lnetctl_add_num(map, "p90_ns", (int64_t)f.p90_ns);
	lnetctl_add_num(map, "p99_ns", (int64_t)f.p99_ns);
	lnetctl_add_num(map, "p999_ns", (int64_t)f.p999_ns);
	lnetctl_add_num(map, "window_ns", (int64_t)f.window_ns);
	lnetctl_add_num(map, "per_s", (int64_t)f.per_s);
	lnetctl_add_num(map, "out_bytes_per_s", (int64_t)f.out_per_s);
	lnetctl_add_num(map, "in_bytes_per_s", (int64_t)f.in_per_s);
	return map->incomplete ? -ENOMEM : 0;
}

int sample_add_figures(struct lnetctl_node *sample)
{
	static const char *const lists[] = { "tally", "pairs" };
	struct lnetctl_node *item;
	unsigned int i;
	int rc = 0;

	for (i = 0; i < 2; i++) {
		item = lnetctl_find(sample, lists[i]);
		for (item = item ? item->first : NULL; item && !rc; item = item->next)
			rc = sample_figures(item);
	}
	return rc;
}

/* ---- tables -------------------------------------------------------------------------------- */

const char *thousandths(u64 value, char buf[24])
{
	snprintf(buf, 24, "%llu.%03llu", value / 1000, value % 1000);
	return buf;
}

struct table {
	FILE *out;
	bool pairs;
};

static void print_name(const struct table *table, const struct lnetctl_node *item)
{
	char name[TEST_NAME_SIZE];

	fprintf(table->out, "%-14s %-6s", sample_test(item, name), text(item, "what"));
	if (table->pairs)
		fprintf(table->out, " %-22s %-22s", text(item, "from"), text(item, "to"));
}

static void sample_head_print(const struct table *table)
{
	fprintf(table->out, "%-14s %-6s", "TEST", "WHAT");
	if (table->pairs)
		fprintf(table->out, " %-22s %-22s", "FROM", "TO");
}

static void sample_counts_print(const struct table *table, const struct lnetctl_node *list)
{
	const struct lnetctl_node *item;
	struct lst_tally t;
	unsigned int i;

	sample_head_print(table);
	fprintf(table->out, " %6s", "nodes");
	for (i = 0; i < LST_NR_TALLIES; i++)
		fprintf(table->out, " %*s", i < LST_T_late ? 11 : 10, lst_tally_names[i]);
	fputc('\n', table->out);
	for (item = list->first; item; item = item->next) {
		print_name(table, item);
		if (!tally_read(item, &t)) {
			fputs(" unreadable\n", table->out);
			continue;
		}
		fprintf(table->out, " %6llu", t.nr_nodes);
		for (i = 0; i < LST_NR_TALLIES; i++)
			fprintf(table->out, " %*llu", i < LST_T_late ? 11 : 10, t.c[i]);
		fputc('\n', table->out);
	}
}

static void print_times(const struct table *table, const struct lnetctl_node *list)
{
	static const char *const heads[] = { "min us", "mean", "deviation", "p50", "p90", "p99",
					     "p99.9", "max us" };
	const struct lnetctl_node *item;
	struct lst_tally t;
	struct figures f;
	unsigned int i;
	char buf[24];

	sample_head_print(table);
	for (i = 0; i < 8; i++)
		fprintf(table->out, " %11s", heads[i]);
	fprintf(table->out, " %9s %11s %11s\n", "answers/s", "out kB/s", "in kB/s");
	for (item = list->first; item; item = item->next) {
		if (!tally_read(item, &t))
			continue;
		tally_figures(&t, &f);
		const u64 values[] = { f.min_ns, f.mean_ns, f.dev_ns, f.p50_ns, f.p90_ns,
					    f.p99_ns, f.p999_ns, f.max_ns };

		print_name(table, item);
		for (i = 0; i < 8; i++)
			fprintf(table->out, " %11s", thousandths(values[i], buf));
		fprintf(table->out, " %9llu %11s", f.per_s, thousandths(f.out_per_s, buf));
		fprintf(table->out, " %11s\n", thousandths(f.in_per_s, buf));
	}
}

/*
 * Prints the table of rails. Some nodes report no rails. The columns are the keys of the first
 * rail.
 */
void sample_print_rails(const struct lnetctl_node *sample, FILE *out)
{
	const struct lnetctl_node *list = lnetctl_find(sample, "rails"), *rail, *head;

	if (!list || !list->first)
		return;
	for (head = list->first->first; head; head = head->next)
		if (head->text || head->kind == LNETCTL_NULL)
			fprintf(out, "%-22s ", head->key);
	fputc('\n', out);
	for (rail = list->first; rail; rail = rail->next) {
		for (head = list->first->first; head; head = head->next)
			if (head->text || head->kind == LNETCTL_NULL)
				fprintf(out, "%-22s ", text(rail, head->key));
		fputc('\n', out);
	}
}

/* Prints the first wrong data that each node found in a test. */
static void print_found(const struct lnetctl_node *tally, FILE *out)
{
	const struct lnetctl_node *item, *list, *f;
	char name[TEST_NAME_SIZE];

	for (item = tally->first; item; item = item->next) {
		list = lnetctl_find(item, "found");
		for (f = list ? list->first : NULL; f; f = f->next) {
			fprintf(out, "%s: %s found wrong data %s times, first in request %s: "
				"%s bytes from offset %s", sample_test(item, name),
				text(f, "nid"), text(f, "nr"), text(f, "seq"), text(f, "length"),
				text(f, "offset"));
			if (*text(f, "from"))
				fprintf(out, ", by %s to %s", text(f, "from"), text(f, "to"));
			fputc('\n', out);
		}
	}
}

/* Prints a number with its noun: "no error", "1 error", "2 errors". */
static void print_number(FILE *out, u64 nr, const char *what, const char *end)
{
	if (nr)
		fprintf(out, "%llu %s%s%s", nr, what, nr == 1 ? "" : "s", end);
	else
		fprintf(out, "no %s%s", what, end);
}

/* Prints the effects of faults on each test, for nodes that report their retries. */
static void print_faults(const struct lnetctl_node *tally, FILE *out)
{
	const struct lnetctl_node *item;
	char name[TEST_NAME_SIZE];

	for (item = tally->first; item; item = item->next) {
		if (!lnetctl_find(item, "resends"))
			continue;
		fprintf(out, "%s: ", sample_test(item, name));
		print_number(out, sample_count(item, "corrupt"), "integrity error", ", ");
		print_number(out, sample_count(item, "lost"), "lost transaction", ", ");
		print_number(out, sample_count(item, "resends"), "resend", "\n");
	}
}

void sample_print(const struct lnetctl_node *sample, FILE *out)
{
	const struct lnetctl_node *tally = lnetctl_find(sample, "tally");
	const struct lnetctl_node *pairs = lnetctl_find(sample, "pairs");
	struct table table = { out, false };

	if (tally && tally->first) {
		sample_counts_print(&table, tally);
		print_times(&table, tally);
		print_found(tally, out);
		print_faults(tally, out);
	}
	table.pairs = true;
	if (pairs && pairs->first) {
		sample_counts_print(&table, pairs);
		print_times(&table, pairs);
	}
	sample_print_rails(sample, out);
}
