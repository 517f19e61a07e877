/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a file says of routing, beside what the node does. */
#include <stdio.h>
#include "plan.h"

/* Who has "enable": the mapping, as in backups, or one of a sequence, as in full exports. */
static const struct lnetctl_node *enabler(const struct lnetctl_node *section)
{
	const struct lnetctl_node *n = section;

	if (section && section->kind == LNETCTL_SEQ)
		for (n = section->first; n && !lnetctl_find(n, "enable"); n = n->next)
			;
	return n && lnetctl_find(n, "enable") ? n : NULL;
}

static int set_line(struct plan *p, const char *section, const char *key,
		    const struct lnetctl_node *at, int64_t num)
{
	struct lnetctl_node *set = plan_section(p, "set", section, LNETCTL_MAP);
	struct lnetctl_node *line = set ? lnetctl_add_num(set, key, num) : NULL;

	if (!line)
		return plan_nomem(p);
	line->line = at->line;
	return 0;
}

int plan_routing(struct plan *p, const struct lnetctl_node *section)
{
	const struct lnetctl_node *at = enabler(section), *now;
	struct lnetctl_node *shown;
	int64_t want = 0, has = 0;
	int rc = at ? import_num(&p->im, "routing", at, "enable", &want) : 0;

	if (rc || !at)
		return rc;
	rc = lnetctl_routing_show(p->im.c, &shown);
	if (rc)
		return rc;
	now = enabler(lnetctl_find(shown, "routing"));	/* NULL: it never routed */
	if (now)
		lnetctl_num(lnetctl_find(now, "enable"), &has);
	lnetctl_doc_free(shown);
	/* Starting is on, stopping is off. */
	if ((want & 1) == (has & 1) && want >= 0 && want <= 3)
		return 0;
	return set_line(p, "routing", "enable", at, want);
}

static int buffers_line(struct plan *p, const struct lnetctl_node *section,
			const struct lnetctl_node *shown, const char *key)
{
	int64_t want = -1, has = -1;
	char name[32];
	int rc = import_num(&p->im, "buffers", section, key, &want);

	if (rc || want == -1)
		return rc;
	snprintf(name, sizeof(name), "%s_router_buffers", key);
	if (lnetctl_num(lnetctl_find(lnetctl_find(shown, "buffers"), key), &has))
		lnetctl_num(lnetctl_find(p->global, name), &has);
	return want == has ? 0 : set_line(p, "buffers", key, section, want);
}

int plan_buffers(struct plan *p, const struct lnetctl_node *section)
{
	struct lnetctl_node *shown;
	int rc = lnetctl_routing_show(p->im.c, &shown);

	if (rc)
		return rc;
	rc = buffers_line(p, section, shown, "tiny");
	rc = rc ? rc : buffers_line(p, section, shown, "small");
	rc = rc ? rc : buffers_line(p, section, shown, "large");
	lnetctl_doc_free(shown);
	return rc;
}
