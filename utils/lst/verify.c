/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares the values and the table in the history with values that are computed again. */
#include <inttypes.h>
#include <string.h>
#include "history.h"
#include "sample.h"

static bool same_figures(struct lnetctl_node *item, uint64_t id)
{
	struct lnetctl_node *kept = lnetctl_find(item, "figures"), *f, *again;
	bool same = true;
	char name[TEST_NAME_SIZE];

	if (!kept)
		return failed("measurement %" PRIu64 ": a tally without figures", id), false;
	lnetctl_take(item, kept);
	again = sample_figures(item) ? NULL : lnetctl_find(item, "figures");
	for (f = again ? again->first : NULL; f; f = f->next) {
		if (!strcmp(text(kept, f->key), f->text ? f->text : ""))
			continue;
		failed("measurement %" PRIu64 ": %s of test %s is %s, computed %s", id, f->key,
			sample_test(item, name), text(kept, f->key), f->text);
		same = false;
	}
	if (!again)
		failed("measurement %" PRIu64 ": the tally of test %s does not add up", id,
			sample_test(item, name));
	lnetctl_doc_free(kept);
	return same && again;
}

static bool same_sample(struct lnetctl_node *sample, uint64_t id)
{
	static const char *const lists[] = { "tally", "pairs" };
	struct lnetctl_node *item;
	unsigned int i;
	bool same = true;

	for (i = 0; i < 2; i++) {
		item = lnetctl_find(sample, lists[i]);
		for (item = item ? item->first : NULL; item; item = item->next)
			same = same_figures(item, id) && same;
	}
	return same;
}

static bool same_table(const struct past *p, unsigned int *lines)
{
	const struct lnetctl_node *kept = lnetctl_find(p->end, "table"), *a, *b;
	struct lnetctl_node *again = history_table(p->last);
	bool same;

	a = kept ? kept->first : NULL;
	b = again ? again->first : NULL;
	for (*lines = 0; a && b && !strcmp(a->text, b->text); a = a->next, b = b->next)
		(*lines)++;
	same = !a && !b;
	if (!same)
		failed("measurement %" PRIu64 ": line %u of the table was\n%s\nand is\n%s", p->id,
			*lines + 1, a ? a->text : "", b ? b->text : "");
	lnetctl_doc_free(again);
	return same;
}

int history_verify(const struct history *h, uint64_t id)
{
	const struct records *rs = &h->rs;
	struct lnetctl_node *sample;
	unsigned int nr = 0, lines = 0;
	bool same = true;
	struct past p;
	size_t i;

	for (i = 0; i < rs->nr; i++) {
		if (rs->record[i].id != id || rs->record[i].kind != RECORD_SAMPLE)
			continue;
		sample = history_doc(&rs->record[i]);
		same = sample && same_sample(sample, id) && same;
		lnetctl_doc_free(sample);
		nr++;
	}
	past_find(h, id, &p);
	if (p.complete && p.last)
		same = same_table(&p, &lines) && same;
	past_free(&p);
	if (same)
		printf("measurement %" PRIu64 ": %u samples and %u lines of the table come out as "
		       "they were printed\n", id, nr, lines);
	return same ? 0 : -1;
}
