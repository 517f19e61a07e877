/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Output while tests run: a line for each test and sample, or a screen that is updated. */
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "measure.h"

#define HEAD_EVERY	20	/* samples on a terminal */

static const struct lnetctl_node *same_test(const struct lnetctl_node *sample,
					    const struct lnetctl_node *item)
{
	const struct lnetctl_node *i = lnetctl_find(sample, "tally");

	for (i = i ? i->first : NULL; i; i = i->next)
		if (!strcmp(text(i, "batch"), text(item, "batch")) &&
		    !strcmp(text(i, "test"), text(item, "test")))
			return i;
	return NULL;
}

static u64 oldest_ms(const struct measure *m, bool *never)
{
	const struct lnetctl_node *n = lnetctl_find(m->sample, "missing");
	u64 age = 0;

	*never = false;
	for (n = n ? n->first : NULL; n; n = n->next) {
		*never = *never || !*text(n, "age_ms");
		age = max(age, sample_count(n, "age_ms"));
	}
	return age;
}

static void print_age(const struct measure *m)
{
	bool never;
	u64 age = oldest_ms(m, &never);
	char buf[24];

	printf(" %8s%s\n", never ? "-" : thousandths(age, buf), m->nr_missing ? " incomplete" : "");
}

static void live_head_print(void)
{
	printf("%8s %-14s %-6s %6s %11s %11s %9s %9s %10s %11s %11s %10s %10s %10s %8s\n", "TIME s",
	       "TEST", "WHAT", "nodes", "sent", "received", "lost", "errors", "answers/s",
	       "out kB/s", "in kB/s", "p50 us", "p99 us", "max us", "age s");
}

/* Prints a test. Rates and percentiles are since the previous sample; other values are totals. */
static void print_item(const struct measure *m, const struct lnetctl_node *item,
		       const struct lnetctl_node *before)
{
	const struct lnetctl_node *old = before ? same_test(before, item) : NULL;
	u64 ns = (u64)(m->time_ns - (int64_t)sample_count(before, "time_ns"));
	char name[TEST_NAME_SIZE], b[5][24];
	struct lst_tally all, t, earlier;
	struct figures f;
	bool known;

	if (!tally_read(item, &all))
		return;
	t = all;
	known = old && tally_read(old, &earlier) && tally_minus(&t, &earlier);
	if (known) {
		t.first_ns = 0;
		t.last_ns = ns;
	} else {
		t = all;
	}
	tally_figures(&t, &f);
	printf("%8s %-14s %-6s %6llu %11llu %11llu %9llu %9llu",
	       thousandths((u64)(m->time_ns - m->begin_ns) / 1000000, b[0]),
	       sample_test(item, name), text(item, "what"), all.nr_nodes, all.c[LST_T_sent],
	       all.c[LST_T_received], all.c[LST_T_lost],
	       all.c[LST_T_corrupt] + all.c[LST_T_refused]);
	printf(" %10llu %11s %11s %10s", f.per_s, thousandths(f.out_per_s, b[0]),
	       thousandths(f.in_per_s, b[1]), thousandths(f.p50_ns, b[2]));
	printf(" %10s %10s", thousandths(f.p99_ns, b[3]), thousandths(all.max_ns, b[4]));
	print_age(m);
}

static void print_items(const struct measure *m, const struct lnetctl_node *before)
{
	const struct lnetctl_node *item = lnetctl_find(m->sample, "tally");

	for (item = item ? item->first : NULL; item; item = item->next)
		print_item(m, item, before);
}

void live_line(struct measure *m, const struct lnetctl_node *before)
{
	static unsigned int nr;

	if (!before || (isatty(1) && nr % HEAD_EVERY == 0))
		live_head_print();
	nr++;
	print_items(m, before);
}

/* ---- rails --------------------------------------------------------------------------------- */

struct flow {
	u64 answers, out, in, resends;
};

static bool same_rail(const struct lnetctl_node *a, const struct lnetctl_node *b)
{
	static const char *const keys[] = { "batch", "test", "ni", "peer" };
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(text(a, keys[i]), text(b, keys[i])))
			return false;
	return true;
}

/*
 * Several clients may have rails with the same name. Adds the counts of all rails in @sample with
 * the name of @rail to *@sum. If @until is not NULL, only rails before @until in the list count.
 * False: there is no such rail.
 */
static bool rail_sum(const struct lnetctl_node *sample, const struct lnetctl_node *rail,
		     const struct lnetctl_node *until, struct flow *sum)
{
	const struct lnetctl_node *r = lnetctl_find(sample, "rails");
	bool any = false;

	*sum = (struct flow){ 0 };
	for (r = r ? r->first : NULL; r && r != until; r = r->next) {
		if (!same_rail(r, rail))
			continue;
		any = true;
		sum->answers += sample_count(r, "answers");
		sum->out += sample_count(r, "bytes_out");
		sum->in += sample_count(r, "bytes_in");
		sum->resends += sample_count(r, "resends");
	}
	return any;
}

static u64 per_s(u64 now, u64 before, u64 ns)
{
	return ns && now >= before ? (u64)((unsigned __int128)(now - before) * 1000000000 / ns) : 0;
}

/* Prints totals of a rail, and rates since the previous sample. */
static void print_rail(const struct measure *m, const struct lnetctl_node *rail,
		       const struct lnetctl_node *before)
{
	u64 ns = (u64)(m->time_ns - (int64_t)sample_count(before, "time_ns"));
	char name[TEST_NAME_SIZE], b[3][24];
	struct flow now, old;

	rail_sum(m->sample, rail, NULL, &now);
	if (!before || !rail_sum(before, rail, NULL, &old)) {
		old = now;
		ns = 0;
	}
	printf("%-14s %-22s %-22s %11llu %10llu %11s %11s %10s %8llu %7s\n",
	       sample_test(rail, name), text(rail, "ni"), text(rail, "peer"), now.answers,
	       per_s(now.answers, old.answers, ns), thousandths(per_s(now.out, old.out, ns), b[0]),
	       thousandths(per_s(now.in, old.in, ns), b[1]),
	       thousandths(sample_count(rail, "mean_ns"), b[2]), now.resends,
	       text(rail, "health"));
}

static void print_rails(const struct measure *m, const struct lnetctl_node *before)
{
	const struct lnetctl_node *rail = lnetctl_find(m->sample, "rails");
	struct flow sum;

	if (!rail || !rail->first)
		return;
	printf("%-14s %-22s %-22s %11s %10s %11s %11s %10s %8s %7s\n", "TEST", "NI", "PEER",
	       "answers", "answers/s", "out kB/s", "in kB/s", "mean us", "resends", "health");
	for (rail = rail->first; rail; rail = rail->next)
		if (!rail_sum(m->sample, rail, rail, &sum))
			print_rail(m, rail, before);
}

/* ---- the screen ---------------------------------------------------------------------------- */

void live_screen(struct measure *m, const struct lnetctl_node *before)
{
	char buf[24];

	if (isatty(1))
		fputs("\033[H\033[2J", stdout);
	printf("%s  %s s  nodes: %u, %u missing\n\n", text(m->sample, "time"),
	       thousandths((u64)(m->time_ns - m->begin_ns) / 1000000, buf), m->nr_asked,
	       m->nr_missing);
	live_head_print();
	print_items(m, before);
	putchar('\n');
	print_rails(m, before);
	if (m->nr_missing)
		putchar('\n');
	measure_print_missing(m, stdout);
}
