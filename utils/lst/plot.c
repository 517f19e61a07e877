/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command lst plot. gnuplot draws a stored measurement as a picture. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../lib/create.h"
#include "history.h"
#include "sample.h"

#define SERIES_MAX	64
#define NODES_MAX	1024
#define LABEL_SIZE	160

/* The names of curves, or of nodes, in the order in which they appear. */
struct names {
	char (*name)[LABEL_SIZE];
	size_t nr, max;
};

struct plot {
	const struct history *h;
	struct past past;
	FILE *out;			/* gnuplot's script */
};

/* Removes characters that gnuplot could interpret, because any user may have written the file. */
static void label_clean(char *label)
{
	for (; *label; label++)
		if (!strchr(" .:@>-_,/[]()", *label) && !(*label >= '0' && *label <= '9') &&
		    !(*label >= 'A' && *label <= 'Z') && !(*label >= 'a' && *label <= 'z'))
			*label = '?';
}

/* Its index; -1: no memory. */
static long names_index(struct names *names, const char *name)
{
	char label[LABEL_SIZE], (*grown)[LABEL_SIZE];
	size_t i;

	snprintf(label, sizeof(label), "%s", name);
	label_clean(label);
	for (i = 0; i < names->nr; i++)
		if (!strcmp(names->name[i], label))
			return (long)i;
	if (names->nr == names->max)
		return -1;
	grown = realloc(names->name, (names->nr + 1) * sizeof(*grown));
	if (!grown)
		return -1;
	names->name = grown;
	memcpy(grown[names->nr], label, sizeof(label));
	return (long)names->nr++;
}

static void plot_head_print(const struct plot *p, const char *title, const char *x, const char *y)
{
	char session[LABEL_SIZE];

	snprintf(session, sizeof(session), "%s", p->past.session);
	label_clean(session);
	fprintf(p->out, "set terminal svg size 960,600 noenhanced background 'white'\n"
		"set title '%s: session %s, measurement %llu'\nset xlabel '%s'\nset ylabel '%s'\n",
		title, session, (unsigned long long)p->past.id, x, y);
}

static void lines(const struct plot *p, const struct names *names, const char *with)
{
	size_t i;

	fprintf(p->out, "set grid\nset key outside below\nplot ");
	for (i = 0; i < names->nr; i++)
		fprintf(p->out, "%s$d%zu using 1:2 with %s title '%s'", i ? ", " : "", i, with,
			names->name[i]);
	fputc('\n', p->out);
}

/* ---- round trips --------------------------------------------------------------------------- */

static u64 bucket_end_ns(unsigned int bucket)
{
	unsigned int octave = 9 + (bucket - 1) / 8;

	return bucket ? (u64)(8 + (bucket - 1) % 8 + 1) << (octave - 3) : 512;
}

/*
 * Writes the distribution of round-trip times: for each duration, the percentage of round trips
 * that were not longer. The last duration is the exact maximum.
 */
static void cdf_data(const struct plot *p, const struct lst_tally *t, size_t series)
{
	u64 sum = 0;
	unsigned int i;
	char buf[24];

	fprintf(p->out, "$d%zu << END\n%s 0\n", series, thousandths(t->min_ns, buf));
	for (i = 0; i < LST_TALLY_BUCKETS; i++) {
		u64 end = bucket_end_ns(i);

		sum += t->bucket[i];
		if (!t->bucket[i])
			continue;
		end = i == LST_TALLY_BUCKETS - 1 || end > t->max_ns ? t->max_ns : end;
		fprintf(p->out, "%s ", thousandths(end, buf));
		fprintf(p->out, "%s\n", thousandths((u64)((unsigned __int128)sum * 100000 /
							  t->nr_times), buf));
	}
	fputs("END\n", p->out);
}

static int plot_cdf(struct plot *p, struct names *names)
{
	const struct lnetctl_node *item = lnetctl_find(p->past.last, "tally");
	char name[TEST_NAME_SIZE], label[LABEL_SIZE];
	struct lst_tally t;
	long series;

	plot_head_print(p, "Round trips", "us", "% not longer");
	fputs("set logscale x\nset yrange [0:100]\n", p->out);
	for (item = item ? item->first : NULL; item; item = item->next) {
		if (!tally_read(item, &t) || !t.nr_times)
			continue;
		snprintf(label, sizeof(label), "%s %s", sample_test(item, name),
			 text(item, "what"));
		series = names_index(names, label);
		if (series >= 0)
			cdf_data(p, &t, (size_t)series);
	}
	if (!names->nr)
		return failed("Measurement %llu has no round trips",
			       (unsigned long long)p->past.id);
	lines(p, names, "steps");
	return 0;
}

/* ---- rates over time ----------------------------------------------------------------------- */

/* Writes the name of a rail of a test. If the rails are unknown, writes the name of the test. */
static void rate_label(const struct lnetctl_node *item, char label[LABEL_SIZE])
{
	char name[TEST_NAME_SIZE];

	if (*text(item, "ni"))
		snprintf(label, LABEL_SIZE, "%s %s > %s", sample_test(item, name),
			 text(item, "ni"), text(item, "peer"));
	else
		snprintf(label, LABEL_SIZE, "%s %s", sample_test(item, name), text(item, "what"));
}

static const struct lnetctl_node *rate_items(const struct lnetctl_node *sample)
{
	const struct lnetctl_node *rails = lnetctl_find(sample, "rails");

	return rails && rails->first ? rails : lnetctl_find(sample, "tally");
}

/*
 * Adds up the bytes of all items with @label. Several clients may have rails of the same name.
 * False: no item has the label.
 */
static bool label_bytes(const struct lnetctl_node *sample, const char *label, u64 *bytes)
{
	const struct lnetctl_node *item = rate_items(sample);
	char other[LABEL_SIZE];
	bool any = false;

	*bytes = 0;
	for (item = item ? item->first : NULL; item; item = item->next) {
		rate_label(item, other);
		label_clean(other);
		if (strcmp(other, label))
			continue;
		any = true;
		*bytes += sample_count(item, "bytes_out") + sample_count(item, "bytes_in");
	}
	return any;
}

static void rate_data(const struct plot *p, struct lnetctl_node **sample, size_t nr,
		      const struct names *names, size_t series)
{
	u64 begin = sample_count(sample[0], "time_ns"), before = 0, bytes, ns;
	bool known = false;
	char buf[24];
	size_t i;

	fprintf(p->out, "$d%zu << END\n", series);
	for (i = 0; i < nr; i++) {
		u64 last = before;
		bool is = label_bytes(sample[i], names->name[series], &bytes);

		ns = i ? sample_count(sample[i], "time_ns") - sample_count(sample[i - 1], "time_ns")
		       : 0;
		before = bytes;
		if (known && is && ns && bytes >= last) {
			fprintf(p->out, "%s ", thousandths((sample_count(sample[i], "time_ns") -
							    begin) / 1000000, buf));
			fprintf(p->out, "%s\n", thousandths((u64)((unsigned __int128)
					(bytes - last) * 1000000 / ns), buf));
		} else {
			fputc('\n', p->out);	/* interrupts the line */
		}
		known = is;
	}
	fputs("END\n", p->out);
}

static size_t samples_read(const struct plot *p, struct lnetctl_node **sample)
{
	const struct records *rs = &p->h->rs;
	size_t i, nr = 0;

	for (i = 0; i < rs->nr; i++) {
		if (rs->record[i].id != p->past.id || rs->record[i].kind != RECORD_SAMPLE)
			continue;
		sample[nr] = history_doc(&rs->record[i]);
		nr += sample[nr] != NULL;
	}
	return nr;
}

static int plot_rates(struct plot *p, struct names *names, struct lnetctl_node **sample, size_t nr)
{
	const struct lnetctl_node *item;
	char label[LABEL_SIZE];
	size_t i;

	for (i = 0; i < nr; i++) {
		item = rate_items(sample[i]);
		for (item = item ? item->first : NULL; item; item = item->next) {
			rate_label(item, label);
			names_index(names, label);
		}
	}
	if (nr < 2 || !names->nr)
		return failed("Measurement %llu has fewer than two samples of tests",
			       (unsigned long long)p->past.id);
	plot_head_print(p, "Bytes both ways", "s", "MB/s");
	fputs("set yrange [0:*]\n", p->out);
	for (i = 0; i < names->nr; i++)
		rate_data(p, sample, nr, names, i);
	lines(p, names, "linespoints");
	return 0;
}

static int plot_rate(struct plot *p, struct names *names)
{
	struct lnetctl_node **sample = calloc(p->past.nr_samples + 1, sizeof(*sample));
	size_t i, nr = sample ? samples_read(p, sample) : 0;
	int rc = sample ? plot_rates(p, names, sample, nr) : failed("%s", strerror(ENOMEM));

	for (i = 0; i < nr; i++)
		lnetctl_doc_free(sample[i]);
	free(sample);
	return rc;
}

/* ---- matrix -------------------------------------------------------------------------------- */

struct cell {
	u64 bytes, window_ns, times;
	unsigned __int128 sum_ns;
};

static void cell_add(struct cell *c, const struct lst_tally *t)
{
	u64 window = t->last_ns > t->first_ns ? t->last_ns - t->first_ns : 0;

	c->bytes += t->c[LST_T_bytes_out] + t->c[LST_T_bytes_in];
	c->window_ns = window > c->window_ns ? window : c->window_ns;
	c->times += t->nr_times;
	c->sum_ns += (unsigned __int128)t->sum_ns.hi << 64 | t->sum_ns.lo;
}

/* False: without measurements. */
static bool cell_value(const struct cell *c, bool delays, char buf[24])
{
	unsigned __int128 value = delays ? c->sum_ns : (unsigned __int128)c->bytes * 1000000;
	u64 of = delays ? c->times : c->window_ns;

	if (of)
		thousandths((u64)(value / of), buf);
	return of;
}

static void tics(const struct plot *p, const struct names *names, const char *axis)
{
	size_t i;

	fprintf(p->out, "set %srange [-0.5:%zu.5]\nset %stics %s(", axis, names->nr - 1, axis,
		*axis == 'x' ? "rotate " : "");
	for (i = 0; i < names->nr; i++)
		fprintf(p->out, "%s'%s' %zu", i ? ", " : "", names->name[i], i);
	fputs(")\n", p->out);
}

static void grid(const struct plot *p, const struct names *names, const struct cell *cells,
		 bool delays)
{
	size_t i, j;
	char buf[24];

	plot_head_print(p, delays ? "Mean round trip, us" : "MB/s, both ways", "to", "from");
	fputs("set cbrange [0:*]\n", p->out);
	tics(p, names, "x");
	tics(p, names, "y");
	fputs("$grid << END\n", p->out);
	for (i = 0; i < names->nr; i++)
		for (j = 0; j < names->nr; j++)
			if (cell_value(&cells[i * names->nr + j], delays, buf))
				fprintf(p->out, "%zu %zu %s\n", j, i, buf);
	fputs("END\nplot $grid using 1:2:(0.5):(0.5):3 with boxxyerror lc palette fs solid "
	      "notitle\n", p->out);
}

static int matrix(struct plot *p, struct names *names, bool delays)
{
	const struct lnetctl_node *pairs = lnetctl_find(p->past.last, "pairs"), *pair;
	struct lst_tally t;
	struct cell *cells;
	long from, to;

	for (pair = pairs ? pairs->first : NULL; pair; pair = pair->next)
		if (names_index(names, text(pair, "from")) < 0 ||
		    names_index(names, text(pair, "to")) < 0)
			return failed("The plot of a matrix must have at most %d nodes", NODES_MAX);
	if (!names->nr)
		return failed("Measurement %llu has no pairs: record with --pairs",
			       (unsigned long long)p->past.id);
	cells = calloc(names->nr * names->nr, sizeof(*cells));
	if (!cells)
		return failed("%s", strerror(ENOMEM));
	for (pair = pairs->first; pair; pair = pair->next) {
		from = names_index(names, text(pair, "from"));
		to = names_index(names, text(pair, "to"));
		if (tally_read(pair, &t))
			cell_add(&cells[(size_t)from * names->nr + (size_t)to], &t);
	}
	grid(p, names, cells, delays);
	free(cells);
	return 0;
}

static int plot_matrix(struct plot *p, struct names *names)
{
	return matrix(p, names, false);
}

static int plot_delays(struct plot *p, struct names *names)
{
	return matrix(p, names, true);
}

/* ---- the command --------------------------------------------------------------------------- */

static const struct kind {
	const char *name;
	int (*plot)(struct plot *p, struct names *names);
	size_t max;
} kinds[] = {
	{ "cdf", plot_cdf, SERIES_MAX }, { "rate", plot_rate, SERIES_MAX },
	{ "matrix", plot_matrix, NODES_MAX }, { "delays", plot_delays, NODES_MAX },
};

static int script_make(const struct history *h, const struct kind *kind, uint64_t id,
		       char **script, size_t *len)
{
	struct plot p = { .h = h };
	struct names names = { .max = kind->max };
	int rc;

	if (!past_find(h, id, &p.past))
		return failed("Measurement %llu: not found", (unsigned long long)id);
	p.out = open_memstream(script, len);
	rc = p.out ? kind->plot(&p, &names) : failed("%s", strerror(errno));
	if (p.out)
		fclose(p.out);
	free(names.name);
	past_free(&p.past);
	return rc;
}

/* Writes the picture to @file, and removes @file if gnuplot fails. */
static int plot_draw(const char *script, size_t len, const char *file)
{
	int fd = file ? file_create(file, O_WRONLY | O_TRUNC, 0666) : 1, rc;
	FILE *gnuplot;

	if (fd < 0)
		return failed("%s: %s", file, strerror(errno));
	fflush(stdout);
	if (file && dup2(fd, 1) < 0)
		return failed("%s: %s", file, strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	gnuplot = popen("exec gnuplot -", "w");
	if (!gnuplot)
		return failed("gnuplot: %s", strerror(errno));
	fwrite(script, 1, len, gnuplot);
	rc = pclose(gnuplot);
	if (rc && file)
		unlink(file);
	return rc ? failed("gnuplot is not installed, or failed; --script prints its input")
		  : 0;
}

static int plot(const struct history *h, const struct kind *kind, uint64_t id, const char *file,
		bool only_script)
{
	char *script = NULL;
	size_t len = 0;
	int rc = script_make(h, kind, id, &script, &len);

	if (!rc && only_script)
		rc = fwrite(script, 1, len, stdout) == len ? 0 : -1;
	else if (!rc)
		rc = plot_draw(script, len, file);
	free(script);
	return rc;
}

static const struct kind *plot_kind_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

int verb_plot(int argc, char **argv)
{
	static const struct option options[] = { { "file", required_argument, NULL, 'f' },
						 { "output", required_argument, NULL, 'o' },
						 { "script", no_argument, NULL, 's' }, { 0 } };
	const char *file = NULL, *output = NULL;
	const struct kind *kind;
	bool only_script = false;
	struct history h;
	long long id;
	int c, rc;

	while ((c = option_next(argc, argv, "o:", options, NULL)) != -1) {
		if (c != 'f' && c != 'o' && c != 's')
			return -1;
		file = c == 'f' ? optarg : file;
		output = c == 'o' ? optarg : output;
		only_script = only_script || c == 's';
	}
	kind = argc - optind == 2 ? plot_kind_find(argv[optind]) : NULL;
	if (!kind)
		return misused("plot [--file FILE] [--output SVG] [--script] "
			       "cdf|rate|matrix|delays ID");
	if (!parse_number("ID", argv[optind + 1], 1, INT64_MAX, &id))
		return -1;
	rc = history_open(&h, file);
	rc = rc ? failed("%s: %s", h.path, strerror(-rc)) :
		  plot(&h, kind, (uint64_t)id, output, only_script);
	history_close(&h);
	return rc;
}
