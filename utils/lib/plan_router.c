/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares the routing settings of a file with those of a node. */
#include <stdio.h>
#include "plan.h"

/*
 * Finds the mapping that has "enable". In backups it is the section, in full exports an element of
 * the section.
 */
static const struct lnetctl_node *enabler(const struct lnetctl_node *section)
{
	const struct lnetctl_node *n = section;

	if (section && section->kind == LNETCTL_SEQ)
		for (n = section->first; n && !lnetctl_find(n, "enable"); n = n->next)
			;
	return n && lnetctl_find(n, "enable") ? n : NULL;
}

static int set_number(struct plan *p, const char *section, const struct lnetctl_node *at,
		      int64_t was)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)was);
	return plan_set(p, section, at, text);
}

int plan_routing(struct plan *p, const struct lnetctl_node *section)
{
	const struct lnetctl_node *at = enabler(section), *now;
	int64_t want = 0, has = 0;
	int rc = at ? import_num(&p->im, "routing", at, "enable", &want) : 0;

	if (rc || !at)
		return rc;
	now = enabler(lnetctl_find(p->routing, "routing"));	/* NULL: routing was never on */
	if (now)
		lnetctl_num(lnetctl_find(now, "enable"), &has);
	/* starting counts as on, stopping as off */
	if ((want & 1) == (has & 1) && want >= 0 && want <= 3)
		return 0;
	return set_number(p, "routing", lnetctl_find(at, "enable"), has);
}

/* Compares a number of buffers with the number that was set on the node. 0 is the default. */
static int buffers_line(struct plan *p, const struct lnetctl_node *section, const char *key)
{
	const struct lnetctl_node *at = lnetctl_find(section, key);
	int64_t want = -1, set = -1, used = -1;
	char name[32];
	int rc = import_num(&p->im, "buffers", section, key, &want);

	if (rc || want == -1)
		return rc;
	snprintf(name, sizeof(name), "%s_router_buffers", key);
	lnetctl_num(lnetctl_find(p->global, name), &set);
	lnetctl_num(lnetctl_find(lnetctl_find(p->routing, "buffers"), key), &used);
	if (want == set || (want == used && set <= 0))
		return 0;
	return set_number(p, "buffers", at, set >= 0 ? set : used);
}

int plan_buffers(struct plan *p, const struct lnetctl_node *section)
{
	int rc = buffers_line(p, section, "tiny");

	rc = rc ? rc : buffers_line(p, section, "small");
	return rc ? rc : buffers_line(p, section, "large");
}
