/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans as they are printed: old values, replaced interfaces, a summary. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "plan.h"

int plan_nomem(struct plan *p)
{
	return ctl_fail(p->im.c, -ENOMEM, "show", "plan", NULL);
}

/* Creates all parts of a plan. So their order does not depend on the differences. */
int plan_begin(struct plan *p)
{
	p->doc = lnetctl_add_map(NULL, NULL);
	p->was = lnetctl_add_map(NULL, NULL);
	p->moved = lnetctl_add_seq(NULL, NULL);
	return p->doc && p->was && p->moved && lnetctl_add_map(p->doc, "del") &&
			       lnetctl_add_map(p->doc, "set") && lnetctl_add_map(p->doc, "add")
		       ? 0 : plan_nomem(p);
}

struct lnetctl_node *plan_section(struct plan *p, const char *verb, const char *name,
				  enum lnetctl_kind kind)
{
	struct lnetctl_node *part = lnetctl_find(p->doc, verb), *section;

	section = part ? lnetctl_find(part, name) : NULL;
	return section ? section : part ? lnetctl_add(part, name, kind, NULL) : NULL;
}

int plan_set(struct plan *p, const char *section, const struct lnetctl_node *want,
	     const char *was)
{
	struct lnetctl_node *set = plan_section(p, "set", section, LNETCTL_MAP), *line, *old;

	line = set ? lnetctl_add(set, want->key, (enum lnetctl_kind)want->kind, want->text) : NULL;
	old = lnetctl_find(p->was, section);
	old = old ? old : lnetctl_add_map(p->was, section);
	if (!line || !old || !lnetctl_add(old, want->key, yaml_kind(was), was))
		return plan_nomem(p);
	import_at(line, want);
	return 0;
}

static const char *name_of(const struct lnetctl_node *ni)
{
	const struct lnetctl_node *intf = lnetctl_find(ni, "interfaces");
	const char *nid = lnetctl_text(ni, "nid");

	return nid ? nid : intf && intf->first && intf->first->text ? intf->first->text : "";
}

int plan_moved(struct plan *p, const struct lnetctl_node *ni, const char *net, const char *what)
{
	struct lnetctl_node *m = lnetctl_add_map(p->moved, NULL);
	const char *nid = lnetctl_text(ni, "nid");
	char name[160];

	/* an exported interface has a name and no NID */
	snprintf(name, sizeof(name), "%s%s%s", name_of(ni), nid ? "" : " on ", nid ? "" : net);
	if (m)
		lnetctl_add_text(m, "nid", name);
	if (m)
		lnetctl_add_text(m, "net", net);
	return m && lnetctl_add_text(m, "what", what) && !m->incomplete ? 0 : plan_nomem(p);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/*
 * Finds an interface on @only that the plan keeps. If @only is NULL, searches all nets. NULL: none.
 */
static const struct lnetctl_node *staying(const struct plan *p, const char *only)
{
	const struct lnetctl_node *nets = lnetctl_find(p->nets, "net"), *net, *nis, *ni;

	for (net = nets ? nets->first : NULL; net; net = net->next) {
		if (only && strcmp(lnetctl_text(net, "net type"), only))
			continue;
		nis = lnetctl_find(net, "local NI(s)");
		for (ni = nis ? nis->first : NULL; ni; ni = ni->next)
			if (ni->line == PLAN_KEPT)
				return ni;
	}
	return NULL;
}

static int note_moved(struct plan *p, struct lnetctl_node *notes, const struct lnetctl_node *m)
{
	const char *nid = lnetctl_text(m, "nid"), *net = lnetctl_text(m, "net");
	const struct lnetctl_node *other = staying(p, net);
	char text[512];

	other = other ? other : staying(p, NULL);
	snprintf(text, sizeof(text),
		 "interface %s is removed and added again: its traffic %s%s (%s)", nid,
		 other ? "moves to " : "has no other interface", other ? name_of(other) : "",
		 lnetctl_text(m, "what"));
	return lnetctl_add_text(notes, NULL, text) ? 0 : plan_nomem(p);
}

static int notes_add(struct plan *p)
{
	struct lnetctl_node *notes = NULL;
	const struct lnetctl_node *m;
	int rc = 0;

	if (p->unconfigured || p->moved->first) {
		notes = lnetctl_add_seq(p->doc, "notes");
		rc = notes ? 0 : plan_nomem(p);
	}
	if (!rc && p->unconfigured &&
	    !lnetctl_add_text(notes, NULL,
			      "the node is not configured: 'lnetctl apply' configures it"))
		rc = plan_nomem(p);
	for (m = p->moved->first; m && !rc; m = m->next)
		rc = note_moved(p, notes, m);
	return rc;
}

/* ---- the document ---------------------------------------------------------------------------- */

/*
 * @line is an entry of the plan's section "set": a key and its new value. Replaces the value by a
 * mapping with "old" and "new". The old value is that of the same key in @was.
 */
static int line_split(struct plan *p, struct lnetctl_node *line, const struct lnetctl_node *was)
{
	const struct lnetctl_node *old = lnetctl_find(was, line->key);
	enum lnetctl_kind kind = (enum lnetctl_kind)line->kind;
	const char *text = line->text;

	line->kind = LNETCTL_MAP;
	line->text = NULL;
	return old && lnetctl_add(line, "old", (enum lnetctl_kind)old->kind, old->text) &&
			       lnetctl_add(line, "new", kind, text)
		       ? 0 : plan_nomem(p);
}

static int set_split(struct plan *p)
{
	struct lnetctl_node *set = lnetctl_find(p->doc, "set"), *section, *line;
	int rc = 0;

	for (section = set->first; section && !rc; section = section->next)
		for (line = section->first; line && !rc; line = line->next)
			rc = line_split(p, line, lnetctl_find(p->was, section->key));
	return rc;
}

static void parts_strip(struct lnetctl_node *doc)
{
	struct lnetctl_node *part, *next;

	for (part = doc->first; part; part = next) {
		next = part->next;
		if (part->first)
			continue;
		lnetctl_take(doc, part);
		lnetctl_doc_free(part);
	}
}

int plan_end(struct plan *p)
{
	int rc = set_split(p);

	rc = rc ? rc : notes_add(p);
	parts_strip(p->doc);
	return rc;
}

static unsigned int list_items_count(const struct lnetctl_node *list)
{
	const struct lnetctl_node *n;
	unsigned int nr = 0;

	for (n = list ? list->first : NULL; n; n = n->next)
		nr++;
	return nr;
}

/* Counts the objects of a part. Each interface of a net counts as one object. */
static unsigned int part_count(const struct lnetctl_node *part)
{
	const struct lnetctl_node *section, *net;
	unsigned int nr = 0;

	for (section = part ? part->first : NULL; section; section = section->next) {
		if (strcmp(section->key, "net"))
			nr += list_items_count(section);
		for (net = strcmp(section->key, "net") ? NULL : section->first; net;
		     net = net->next)
			nr += list_items_count(lnetctl_find(net, "local NI(s)"));
	}
	return nr;
}

bool lnetctl_plan_summary(const struct lnetctl_node *plan, char *text, size_t size)
{
	unsigned int del = part_count(lnetctl_find(plan, "del")),
		     set = part_count(lnetctl_find(plan, "set")),
		     add = part_count(lnetctl_find(plan, "add"));

	if (text && !del && !set && !add)
		snprintf(text, size, "no difference");
	else if (text)
		snprintf(text, size, "%u deleted, %u changed, %u added", del, set, add);
	return del || set || add;
}
