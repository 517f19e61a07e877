/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stores a measurement during its run: the configuration at the begin, each sample, the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "history.h"
#include "measure.h"

/*
 * Removes line ends and indentation. Strings in JSON contain no line ends, so they do not change.
 */
static size_t pack(char *text, size_t len)
{
	size_t from, to = 0;

	for (from = 0; from < len; from++) {
		if (text[from] == '\n')
			while (from + 1 < len && text[from + 1] == ' ')
				from++;
		else
			text[to++] = text[from];
	}
	text[to] = 0;
	return to;
}

static int measure_append(struct measure *m, enum record_kind kind, const struct lnetctl_node *doc,
			  int64_t time_ns)
{
	struct record r = { .kind = kind, .id = m->id, .time_ns = time_ns };
	char path[4096], *text = NULL;
	size_t len = 0;
	FILE *out;
	int rc = record_path(m->file, path, sizeof(path));

	out = rc ? NULL : open_memstream(&text, &len);
	if (!rc && (!out || !doc || doc->incomplete))
		rc = -ENOMEM;
	if (out) {
		lnetctl_print(doc, LNETCTL_JSON, out);
		fclose(out);
	}
	if (!rc) {
		snprintf(r.session, sizeof(r.session), "%s", m->session);
		r.len = (uint32_t)pack(text, len);
		r.text = text;
		rc = record_append(path, &r);
		m->id = r.id;
	}
	free(text);
	if (rc)
		failed("The history cannot be written: %s: %s", path, strerror(-rc));
	return rc ? -1 : 0;
}

/* ---- the configuration --------------------------------------------------------------------- */

/* Sends @verb to the console, and adds the value of @key in the reply to @doc. */
static void add_answer(struct lnetctl_node *doc, const char *verb, const char *key)
{
	struct lnetctl_node *answer = NULL, *part;
	struct request r;

	request_begin(&r, verb);
	if (!request_send(&r, &answer) && (part = lnetctl_find(answer, key))) {
		lnetctl_take(answer, part);
		lnetctl_adopt(doc, part);
	}
	lnetctl_doc_free(answer);
}

static void add_part(struct lnetctl_node *doc, struct lnetctl_node *from, const char *key)
{
	struct lnetctl_node *part = lnetctl_find(from, key);

	if (part) {
		lnetctl_take(from, part);
		lnetctl_adopt(doc, part);
	}
	lnetctl_doc_free(from);
}

/*
 * Adds data of the node that runs the console: its retries, and the health of interfaces and peers.
 */
static void add_node(struct lnetctl_node *doc)
{
	struct lnetctl_node *node = lnetctl_add_map(doc, "node"), *part;
	struct lnetctl *c;
	char why[200];
	int err;

	c = lnetctl_open(link_node, &err, why, sizeof(why));
	if (!c) {
		lnetctl_add_text(node, "unknown", why);
		return;
	}
	if (!lnetctl_stats_show(c, &part))
		add_part(node, part, "statistics");
	if (!lnetctl_net_show(c, NULL, 2, false, &part))
		add_part(node, part, "net");
	if (!lnetctl_peer_show(c, NULL, 2, false, &part))
		add_part(node, part, "peer");
	lnetctl_close(c);
}

int history_begin(struct measure *m)
{
	struct lnetctl_node *doc = lnetctl_add_map(NULL, NULL), *versions;
	int rc;

	versions = lnetctl_add_map(doc, "versions");
	lnetctl_add_text(versions, "lst", LNET_VERSION);
	add_answer(doc, "show_session", "session");
	add_answer(doc, "list_group", "groups");
	add_answer(doc, "list_batch", "batches");
	add_node(doc);
	snprintf(m->session, sizeof(m->session), "%s",
		 text(lnetctl_find(doc, "session"), "name"));
	rc = measure_append(m, RECORD_BEGIN, doc, m->begin_ns);
	lnetctl_doc_free(doc);
	if (!rc)
		fprintf(stderr, "measurement stored in the history with ID %llu\n",
			(unsigned long long)m->id);
	return rc;
}

int history_sample(struct measure *m)
{
	return measure_append(m, RECORD_SAMPLE, m->sample, m->time_ns);
}

struct lnetctl_node *history_table(const struct lnetctl_node *sample)
{
	struct lnetctl_node *list = lnetctl_add_seq(NULL, "table");
	char *text = NULL, *line, *save;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		sample_print(sample, out);
		fclose(out);
	}
	for (line = out ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		lnetctl_add_text(list, NULL, line);
	free(text);
	return out ? list : NULL;
}

int history_end(struct measure *m)
{
	struct lnetctl_node *doc = lnetctl_add_map(NULL, NULL), *table;
	struct timespec now;
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	add_node(doc);
	lnetctl_add_num(doc, "missing", m->nr_missing);
	table = history_table(m->sample);
	if (table)
		lnetctl_adopt(doc, table);
	rc = measure_append(m, RECORD_END, table ? doc : NULL,
			    (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
	lnetctl_doc_free(doc);
	return rc;
}
