/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lst history: shows, recomputes and removes stored measurements. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "history.h"
#include "sample.h"

/* ---- measurements -------------------------------------------------------------------------- */

struct lnetctl_node *history_doc(const struct record *r)
{
	FILE *in = r->len ? fmemopen((void *)r->text, r->len, "r") : NULL;
	struct lnetctl_node *doc = NULL;
	char why[200];

	if (in && lnetctl_yaml_read(in, &doc, why, sizeof(why)))
		doc = NULL;
	if (in)
		fclose(in);
	return doc;
}

const struct past *past_of(const struct history *h, uint64_t id)
{
	size_t i;

	for (i = h->nr; i--; )
		if (h->past[i].id == id)
			return &h->past[i];
	return NULL;
}

/* Adds a record to its measurement, which is most often the last one. */
static int past_add(struct history *h, const struct record *r)
{
	struct past *p = (struct past *)past_of(h, r->id);

	if (r->kind == RECORD_LAST_ID)
		return 0;
	if (!p) {
		p = realloc(h->past, (h->nr + 1) * sizeof(*p));
		if (!p)
			return -ENOMEM;
		h->past = p;
		p += h->nr++;
		*p = (struct past){ .id = r->id, .session = r->session, .begin_ns = r->time_ns };
	}
	p->end_ns = r->time_ns;
	p->nr_samples += r->kind == RECORD_SAMPLE;
	p->complete = p->complete || r->kind == RECORD_END;
	p->bytes += r->len;
	return 0;
}

int history_open(struct history *h, const char *file)
{
	size_t i;
	int rc;

	*h = (struct history){ .nr = 0 };
	rc = record_path(file, h->path, sizeof(h->path));
	if (!rc)
		rc = records_read(h->path, &h->rs);
	for (i = 0; i < h->rs.nr && !rc; i++)
		rc = past_add(h, &h->rs.record[i]);
	return rc;
}

void history_close(struct history *h)
{
	records_free(&h->rs);
	free(h->past);
}

bool past_find(const struct history *h, uint64_t id, struct past *p)
{
	const struct past *sum = past_of(h, id);
	const struct record *r, *last = NULL;

	*p = sum ? *sum : (struct past){ .id = id };
	for (r = h->rs.record; sum && r < h->rs.record + h->rs.nr; r++) {
		if (r->id == id && r->kind == RECORD_BEGIN && !p->begin)
			p->begin = history_doc(r);
		if (r->id == id && r->kind == RECORD_END && !p->end)
			p->end = history_doc(r);
		if (r->id == id && r->kind == RECORD_SAMPLE)
			last = r;
	}
	p->last = last ? history_doc(last) : NULL;
	return sum;
}

void past_free(struct past *p)
{
	lnetctl_doc_free(p->begin);
	lnetctl_doc_free(p->last);
	lnetctl_doc_free(p->end);
	*p = (struct past){ 0 };
}

static const char *stamp(int64_t ns, char buf[32])
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return buf;
}

/* ---- list ---------------------------------------------------------------------------------- */

static int history_list(const struct history *h, int argc, char **argv)
{
	char from[32], to[32];
	const struct past *p;

	if (argc > 1)
		return misused("history list: unexpected argument '%s'", argv[1]);
	printf("%6s %-32s %-20s %-20s %8s %10s %s\n", "ID", "SESSION", "BEGUN", "LAST", "samples",
	       "bytes", "state");
	for (p = h->past; p < h->past + h->nr; p++)
		printf("%6" PRIu64 " %-32s %-20s %-20s %8zu %10" PRIu64 " %s\n", p->id, p->session,
		       stamp(p->begin_ns, from), stamp(p->end_ns, to), p->nr_samples, p->bytes,
		       p->complete ? "complete" : "cut off");
	if (h->rs.nr_skipped)
		fprintf(stderr, "%s: skipped %" PRIu64 " bytes that belong to no record\n",
			h->path, h->rs.nr_skipped);
	return 0;
}

/* ---- show ---------------------------------------------------------------------------------- */

static bool parse_id(const char *in, uint64_t *id)
{
	long long num;

	if (!parse_number("ID", in, 1, LLONG_MAX, &num))
		return false;
	*id = (uint64_t)num;
	return true;
}

static int not_found(const char *id)
{
	return failed("Measurement %s: not found", id);
}

static void part_adopt(struct lnetctl_node *doc, struct lnetctl_node **part, const char *key)
{
	if (!*part)
		return;
	lnetctl_set_key(*part, key);
	lnetctl_adopt(doc, *part);
	*part = NULL;
}

static void show_json(const struct history *h, struct past *p, bool all)
{
	const struct records *rs = &h->rs;
	struct lnetctl_node *doc = lnetctl_add_map(NULL, NULL), *samples, *sample;
	char buf[32];
	size_t i;

	lnetctl_add_num(doc, "id", (int64_t)p->id);
	lnetctl_add_text(doc, "state", p->complete ? "complete" : "cut off");
	lnetctl_add_text(doc, "begun", stamp(p->begin_ns, buf));
	lnetctl_add_text(doc, "last", stamp(p->end_ns, buf));
	part_adopt(doc, &p->begin, "begin");
	if (all) {
		samples = lnetctl_add_seq(doc, "samples");
		for (i = 0; i < rs->nr; i++) {
			sample = rs->record[i].id == p->id && rs->record[i].kind == RECORD_SAMPLE ?
				 history_doc(&rs->record[i]) : NULL;
			if (sample)
				lnetctl_adopt(samples, sample);
		}
	} else {
		lnetctl_add_num(doc, "nr_samples", (int64_t)p->nr_samples);
		part_adopt(doc, &p->last, "sample");
	}
	part_adopt(doc, &p->end, "end");
	lnetctl_print(doc, LNETCTL_JSON, stdout);
	lnetctl_doc_free(doc);
}

static void show_groups(const struct lnetctl_node *begin)
{
	const struct lnetctl_node *g = lnetctl_find(begin, "groups"), *n;

	for (g = g ? g->first : NULL; g; g = g->next) {
		printf("group %s:", text(g, "name"));
		n = lnetctl_find(g, "nodes");
		for (n = n ? n->first : NULL; n; n = n->next)
			printf(" %s", text(n, "id"));
		putchar('\n');
	}
}

static const char *resends_text(const struct lnetctl_node *doc)
{
	return text(lnetctl_find(lnetctl_find(doc, "node"), "statistics"), "resend_count");
}

static void show_text(const struct past *p)
{
	char from[32], to[32];

	printf("measurement %" PRIu64 " of session %s, %s to %s, %zu samples, %s\n", p->id,
	       p->session, stamp(p->begin_ns, from), stamp(p->end_ns, to), p->nr_samples,
	       p->complete ? "complete" : "cut off");
	show_groups(p->begin);
	if (*resends_text(p->begin) && *resends_text(p->end))
		printf("resends of the console's node: %s before, %s after\n",
		       resends_text(p->begin), resends_text(p->end));
	if (p->last)
		sample_print(p->last, stdout);
}

static int history_show(const struct history *h, int argc, char **argv)
{
	bool json = false, all = false;
	struct past p;
	uint64_t id;
	int i;

	for (i = 1; i < argc - 1; i++) {
		json = json || !strcmp(argv[i], "--json");
		all = all || !strcmp(argv[i], "--all");
		if (strcmp(argv[i], "--json") && strcmp(argv[i], "--all"))
			return misused("history show [--json] [--all] ID");
	}
	if (argc < 2 || !parse_id(argv[argc - 1], &id))
		return -1;
	if (!past_find(h, id, &p))
		return not_found(argv[argc - 1]);
	if (json || all)
		show_json(h, &p, all);
	else
		show_text(&p);
	past_free(&p);
	return 0;
}

static int history_ids_verify(const struct history *h, int argc, char **argv)
{
	uint64_t id;
	int i, rc = 0;

	if (argc < 2)
		return misused("history verify ID...");
	for (i = 1; i < argc; i++) {
		if (!parse_id(argv[i], &id))
			return -1;
		rc |= past_of(h, id) ? history_verify(h, id) : not_found(argv[i]);
	}
	return rc;
}

/* ---- purge --------------------------------------------------------------------------------- */

struct purge {
	uint64_t id[256];
	unsigned int nr_ids, nr_found;
	const char *session;
	/* removes measurements that ended before this time; 0: none */
	int64_t before_ns;
	uint64_t bytes;			/* size limit; ~0: none */
	uint64_t keep_from;		/* remove smaller IDs, for @bytes */
	const struct history *h;
};

static bool is_purged(const struct record *r, void *arg)
{
	const struct purge *g = arg;
	unsigned int i;

	for (i = 0; i < g->nr_ids; i++)
		if (g->id[i] == r->id)
			return true;
	if (g->session && !strcmp(g->session, r->session))
		return true;
	if (r->id < g->keep_from)
		return true;
	return g->before_ns && past_of(g->h, r->id) && past_of(g->h, r->id)->end_ns < g->before_ns;
}

/* Finds the newest measurements that together have at most @bytes. */
static void purge_fit(struct purge *g)
{
	uint64_t sum = 0;
	size_t i;

	for (i = g->h->nr; i--; ) {
		sum += g->h->past[i].bytes;
		if (sum <= g->bytes)
			continue;
		g->keep_from = g->h->past[i].id + 1;
		return;
	}
}

/* Parses a number with a unit. @units lists the units, @factors their factors in the same order. */
static bool parse_unit(const char *in, const char *units, const int64_t *factors, int64_t *value)
{
	const char *unit;
	char *end;

	*value = strtoll(in, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (end == in || *value < 0 || (*end && (!unit || end[1])))
		return misused("'%s' is not a number with one of the units %s", in, units), false;
	if (!__builtin_mul_overflow(*value, unit ? factors[unit - units] : 1, value))
		return true;
	return misused("'%s' is too large", in), false;
}

static bool purge_option(struct purge *g, const char *name, const char *value)
{
	static const int64_t seconds[] = { 1, 60, 3600, 86400 }, bytes[] = { 1024, 1048576 };
	int64_t num;

	if (!strcmp(name, "--session")) {
		g->session = value;
	} else if (!strcmp(name, "--age")) {
		if (!parse_unit(value, "smhd", seconds, &num))
			return false;
		num = (int64_t)time(NULL) - num;
		g->before_ns = num > 0 ? num * 1000000000 : 1;
	} else if (!strcmp(name, "--size")) {
		if (!parse_unit(value, "KM", bytes, &num))
			return false;
		g->bytes = (uint64_t)num;
		purge_fit(g);
	} else {
		return misused("history purge [--age TIME] [--session NAME] [--size BYTES] "
			       "[ID]..."), false;
	}
	return true;
}

static int purge(const struct history *h, int argc, char **argv)
{
	struct purge g = { .bytes = ~0ULL, .h = h };
	size_t nr = 0;
	int i, rc;

	for (i = 1; i < argc; i++) {
		if (argv[i][0] == '-') {
			if (!purge_option(&g, argv[i], i + 1 < argc ? argv[i + 1] : ""))
				return -1;
			i++;
			continue;
		}
		if (g.nr_ids == 256 || !parse_id(argv[i], &g.id[g.nr_ids]))
			return -1;
		if (!past_of(h, g.id[g.nr_ids++]))
			return not_found(argv[i]);
	}
	if (argc < 2)
		return misused(
			"history purge needs at least one of --age, --session, --size and an ID");
	rc = records_purge(h->path, is_purged, &g, &nr);
	if (rc)
		return failed("%s: %s", h->path, strerror(-rc));
	printf("%zu records purged\n", nr);
	return 0;
}

/* ---- the command --------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int (*run)(const struct history *h, int argc, char **argv);
} commands[] = {
	{ "list", history_list },
	{ "show", history_show },
	{ "verify", history_ids_verify },
	{ "purge", purge },
};

int verb_history(int argc, char **argv)
{
	const char *file = NULL;
	struct history h;
	unsigned int i;
	int rc;

	if (argc > 2 && !strcmp(argv[1], "--file")) {
		file = argv[2];
		argc -= 2;
		argv += 2;
	}
	rc = history_open(&h, file);
	if (rc)
		failed("%s: %s", h.path, strerror(-rc));
	for (i = 0; !rc && argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, argv[1]))
			break;
	if (!rc && (argc < 2 || i == sizeof(commands) / sizeof(commands[0])))
		rc = misused("history [--file FILE] list|show|verify|purge");
	else if (!rc)
		rc = commands[i].run(&h, argc - 1, argv + 1);
	history_close(&h);
	return rc;
}
