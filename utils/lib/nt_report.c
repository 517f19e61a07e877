/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The output of NETTEST: the parameters, a row for each length, the best of each column. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "utils/lib/create.h"
#include "utils/lib/nt.h"

#define MB	1e6
#define MIB	1048576.0

/* ---- figures --------------------------------------------------------------------------------- */

double nt_rate(enum nt_print print, enum nettest_topo topo, u32 nr, u32 rank,
	       u32 len, double ns)
{
	double channels = print == NT_AVERAGE ? 1 :
			  print == NT_TOTAL ? nettest_channels(topo, nr) :
					      nettest_degree(topo, nr, rank);

	return ns > 0 ? 2.0 * len * channels / (ns / 1e9) : 0;
}

double nt_cell_ns(const struct nt_cell *cell)
{
	return cell->nr ? (double)cell->sum_ns / cell->nr : 0;
}

double nt_corrected_ns(double ns, double barrier_ns)
{
	return barrier_ns > 0.3 * ns ? 0 : ns - barrier_ns;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int file_failed(const char *name)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name, strerror(errno));
	return -EIO;
}

int nt_files_open(const struct nt_words *w, FILE **out, FILE **matrix)
{
	*out = w->output ? file_write(w->output) : stdout;
	*matrix = NULL;
	if (!*out)
		return file_failed(w->output);
	if (w->matrix)
		*matrix = file_write(w->matrix);
	return w->matrix && !*matrix ? file_failed(w->matrix) : 0;
}

/* Closes a file. Also reports an earlier write error, whose errno is no longer known. */
static int file_close(FILE *out, const char *name)
{
	bool failed;

	if (!out)
		return 0;
	errno = 0;
	failed = fflush(out) | ferror(out);
	if (out != stdout)
		failed |= fclose(out) != 0;
	if (failed && !errno)
		errno = EIO;
	return failed ? file_failed(name) : 0;
}

int nt_files_close(const struct nt_words *w, FILE *out, FILE *matrix)
{
	int rc = file_close(out, w->output ? w->output : "output");

	return file_close(matrix, w->matrix) ? -EIO : rc;
}

/* ---- the head -------------------------------------------------------------------------------- */

void nt_print_head(const struct nt_report *r, const char *system, const char *const *nodes)
{
	static const char *const checks[] = { "nothing", "their ends", "every byte" };
	const struct nt_words *w = r->words;
	time_t now = time(NULL);
	struct tm tm;
	char date[16];
	u32 i;

	strftime(date, sizeof(date), "%Y/%m/%d", localtime_r(&now, &tm));
	fprintf(r->out, "NETTEST/LNet %s of %s is running with following parameters:\n",
		LNET_VERSION, date);
	fprintf(r->out, "\tMessage length unit is 1%cb = %u bytes\n",
		w->unit == 'b' ? ' ' : w->unit, w->unit_bytes);
	fprintf(r->out, "\tMessages: %u to %u units, step %u, multiplier %u\n", w->least, w->most,
		w->step, w->plan.factor);
	fprintf(r->out, "\t%u times for each test routine, %u iterations for whole test\n",
		w->plan.times, w->plan.repeats);
	if (w->plan.patterns & NETTEST_CHAOSES)
		fprintf(r->out, "\tRunning chaos test with %u logical links used.\n",
			nettest_channels(NETTEST_CHAOS,
					 nettest_plan_measured(&w->plan, r->nr)));
	else
		fputs("\tNot running chaos test.\n", r->out);
	fputs("\tNodes:", r->out);
	for (i = 0; i < r->nr; i++)
		fprintf(r->out, " %s", nodes[i]);
	fprintf(r->out, "\n\tInterfaces: %s\n\tChecked part of each message: %s\n", system,
		checks[w->plan.check]);
	if (w->noise)
		fprintf(r->out,
			"\tNoise: the last %u nodes, in pairs, %u units per message, %u messages "
			"in flight in each direction\n",
			2 * w->plan.noise_pairs, w->noise, w->plan.noise_depth);
	fflush(r->out);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *const modes[] = { "Average channel", "Network", "Local node" };

static const char *under(const struct nt_report *r)
{
	return r->words->noise ? " under noise" : "";
}

static bool has_column(const struct nt_report *r, u32 pattern)
{
	return r->words->plan.patterns & BIT(pattern);
}

static void print_titles(const struct nt_report *r, const char *first)
{
	u32 p;

	fprintf(r->out, "%s", first);
	for (p = 1; p < NETTEST_NR_PATTERNS; p++)
		if (has_column(r, p))
			fprintf(r->out, "\t%s", nettest_title(p));
	putc('\n', r->out);
}

enum value { RAW, CORRECTED };

static const struct nt_cell *cell_at(const struct nt_report *r, u32 repeat, u32 len_ix,
				     u32 pattern)
{
	return &r->cell[nettest_plan_index(&r->words->plan, repeat, len_ix, pattern)];
}

static double rate_at(const struct nt_report *r, u32 repeat, u32 len_ix,
		      u32 pattern, enum value value)
{
	u32 at = nettest_plan_index(&r->words->plan, repeat, len_ix, pattern);
	double ns = nt_cell_ns(&r->cell[at]);
	struct nettest_measure m;

	nettest_plan_at(&r->words->plan, at, &m);
	if (value == CORRECTED)
		ns = nt_corrected_ns(ns, nt_cell_ns(cell_at(r, repeat, 0, NETTEST_P_barrier)));
	return nt_rate(r->words->print, nettest_topo_of(pattern),
		       nettest_plan_measured(&r->words->plan, r->nr), 0, m.len, ns);
}

static void print_line(const struct nt_report *r, u32 repeat, u32 len_ix,
		       enum value value, double unit)
{
	u32 p, at = nettest_plan_row_end(&r->words->plan, repeat, len_ix) - 1;
	struct nettest_measure m;

	nettest_plan_at(&r->words->plan, at, &m);
	fprintf(r->out, "%u", m.len / r->words->unit_bytes);
	for (p = 1; p < NETTEST_NR_PATTERNS; p++) {
		double rate = has_column(r, p) ? rate_at(r, repeat, len_ix, p, value) : 0;

		if (!has_column(r, p))
			continue;
		if (rate > 0)
			fprintf(r->out, "\t%.2f", rate / unit);
		else
			fputs("\t-", r->out);
	}
	putc('\n', r->out);
}

static void print_size_titles(const struct nt_report *r)
{
	char first[16];

	snprintf(first, sizeof(first), "Size,%c", r->words->unit);
	print_titles(r, first);
}

void nt_print_row(const struct nt_report *r, u32 repeat, u32 len_ix)
{
	if (!repeat && !len_ix) {
		fprintf(r->out, "\n\t%s throughput values in MB/sec%s\n",
			modes[r->words->print], under(r));
		print_size_titles(r);
	}
	print_line(r, repeat, len_ix, RAW, MB);
	fflush(r->out);
}

u32 nt_print_rows(const struct nt_report *r, u32 printed, u32 nr_measured)
{
	const struct nettest_plan *plan = &r->words->plan;
	u32 lens = nettest_plan_lens(plan);

	while (printed < plan->repeats * lens &&
	       nettest_plan_row_end(plan, printed / lens, printed % lens) <= nr_measured) {
		nt_print_row(r, printed / lens, printed % lens);
		printed++;
	}
	return printed;
}

static void print_all(const struct nt_report *r, enum value value, double unit)
{
	u32 repeat, i, lens = nettest_plan_lens(&r->words->plan);

	print_size_titles(r);
	for (repeat = 0; repeat < r->words->plan.repeats; repeat++)
		for (i = 0; i < lens; i++)
			print_line(r, repeat, i, value, unit);
}

static double best_of(const struct nt_report *r, u32 pattern)
{
	u32 repeat, i, lens = nettest_plan_lens(&r->words->plan);
	double best = 0;

	for (repeat = 0; repeat < r->words->plan.repeats; repeat++)
		for (i = 0; i < lens; i++)
			best = max(best, rate_at(r, repeat, i, pattern, RAW));
	return best;
}

static void print_best(const struct nt_report *r, double unit)
{
	u32 p;

	print_titles(r, "");
	for (p = 1; p < NETTEST_NR_PATTERNS; p++)
		if (has_column(r, p))
			fprintf(r->out, "\t%.2f", best_of(r, p) / unit);
	putc('\n', r->out);
}

static void print_noise(const struct nt_report *r)
{
	unsigned long long out = 0, in = 0;
	u32 i, nr = nettest_plan_nr(&r->words->plan);

	for (i = 0; i < nr; i++) {
		out += r->cell[i].noise_out;
		in += r->cell[i].noise_in;
	}
	fprintf(r->out,
		"\tNoise during the measurement: %llu messages, %llu bytes sent, %llu received\n",
		out / r->words->plan.noise, out, in);
}

void nt_print_end(const struct nt_report *r, double seconds)
{
	const char *mode = modes[r->words->print];
	u32 repeat;

	fprintf(r->out, "\nLNet Network Test complete in %.2f sec\n", seconds);
	fprintf(r->out, "\n\tBest %c%s throughput values in MB/sec%s\n", mode[0] | 0x20,
		mode + 1, under(r));
	print_best(r, MB);
	fprintf(r->out, "\n\t%s throughput values in MiB/sec%s\n", mode, under(r));
	print_all(r, RAW, MIB);
	fprintf(r->out, "\n\tBest %c%s throughput values in MiB/sec%s\n", mode[0] | 0x20,
		mode + 1, under(r));
	print_best(r, MIB);
	fputs("\n\t1 MB = 1000000 bytes, 1 MiB = 1048576 bytes\n\tBarrier:", r->out);
	for (repeat = 0; repeat < r->words->plan.repeats; repeat++)
		fprintf(r->out, " %.1f", nt_cell_ns(cell_at(r, repeat, 0, 0)) / 1e3);
	fputs(" microseconds, which are part of the times above.\n", r->out);
	fprintf(r->out, "\n\t%s throughput values in MB/sec%s without the barrier (-: it is "
		"more than 30 %% of the time)\n", mode, under(r));
	print_all(r, CORRECTED, MB);
	fprintf(r->out, "\n\tMessages that were received with wrong contents: %llu\n",
		(unsigned long long)r->errors);
	if (r->words->noise)
		print_noise(r);
	fflush(r->out);
}

/* ---- the matrix ------------------------------------------------------------------------------ */

void nt_print_matrix(FILE *out, const struct nt_words *words, const struct nettest_measure *m,
		     u32 nr, const u64 *median)
{
	u32 from, to;

	fprintf(out, "# %s, %u %c, repeat %u: median microseconds until the ACK, from each node "
		"(line) to each\n", nettest_title(m->pattern), m->len / words->unit_bytes,
		words->unit, m->repeat + 1);
	for (from = 0; from < nr; from++)
		for (to = 0; to < nr; to++) {
			u64 ns = median[from * nr + to];

			if (ns)
				fprintf(out, "%.1f", (double)ns / 1e3);
			else
				putc('-', out);
			putc(to + 1 < nr ? '\t' : '\n', out);
		}
}
