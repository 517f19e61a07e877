/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plan and apply: reads the node, compares it with a file, checks the requests, and executes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

/* ---- the node -------------------------------------------------------------------------------- */

/* A stock module has no section `faults'. */
static int faults_read(struct plan *p)
{
	int rc = lnetctl_rule_show(p->im.c, NULL, false, &p->faults);

	if (rc != -EOPNOTSUPP)
		return rc;
	p->faults = lnetctl_add_map(NULL, NULL);
	return p->faults ? 0 : plan_nomem(p);
}

static int sections_read(struct plan *p)
{
	const struct lnetctl_route all = { .hops = LNETCTL_UNSET, .priority = LNETCTL_UNSET };
	struct lnetctl *c = p->im.c;
	int rc = lnetctl_net_show(c, NULL, LEVEL_OURS, true, &p->nets);

	rc = rc ? rc : lnetctl_net_show(c, NULL, 0, false, &p->addresses);
	rc = rc ? rc : lnetctl_peer_show(c, NULL, 0, true, &p->peers);
	rc = rc ? rc : lnetctl_fault_show(c, false, &p->rules[0]);
	rc = rc ? rc : lnetctl_fault_show(c, true, &p->rules[1]);
	rc = rc ? rc : faults_read(p);
	rc = rc ? rc : ctl_udsp_all(c, &p->policies);
	rc = rc ? rc : lnetctl_routing_show(c, &p->routing);
	return rc ? rc : lnetctl_route_show(c, &all, 1, true, &p->routes);
}

static int node_read(struct plan *p)
{
	struct lnetctl_node *shown;
	int rc = sections_read(p);

	p->unconfigured = rc == -ENETDOWN && lnetctl_unconfigured(p->im.c);
	if (rc && !p->unconfigured)
		return rc;
	rc = lnetctl_global_show(p->im.c, &shown);
	if (rc)
		return rc;
	p->global = lnetctl_find(shown, "global");
	if (p->global)
		lnetctl_take(shown, p->global);
	lnetctl_doc_free(shown);
	return p->global ? 0 : plan_nomem(p);
}

static void node_forget(struct plan *p)
{
	lnetctl_doc_free(p->nets);
	lnetctl_doc_free(p->addresses);
	lnetctl_doc_free(p->peers);
	lnetctl_doc_free(p->rules[0]);
	lnetctl_doc_free(p->rules[1]);
	lnetctl_doc_free(p->faults);
	lnetctl_doc_free(p->policies);
	lnetctl_doc_free(p->routing);
	lnetctl_doc_free(p->routes);
	lnetctl_doc_free(p->global);
	lnetctl_doc_free(p->was);
	lnetctl_doc_free(p->moved);
}

/* ---- requests -------------------------------------------------------------------------------- */

/*
 * Rules, routes and peers refer to interfaces. They are deleted before these interfaces, and added
 * after them.
 */
static int plan_part_apply(struct import *im, const struct lnetctl_node *part, bool add)
{
	static const char *const order[] = { "udsp", "fault", "faults", "route", "peer",
					     "routing", "net", "buffers", "global" };
	const struct lnetctl_node *n;
	int i, last = sizeof(order) / sizeof(order[0]) - 1, rc = 0;

	im->how = add ? LNETCTL_IMPORT_ADD : LNETCTL_IMPORT_DEL;
	for (i = 0; i <= last && !rc; i++) {
		n = lnetctl_find(part, order[add ? last - i : i]);
		rc = n ? import_section(im, n) : 0;
	}
	return rc;
}

/* Calls @set for each NID of the mapping @section. */
static int switch_all(struct import *im, const struct lnetctl_node *section,
		      int (*set)(struct lnetctl *c, const char *nid, bool on))
{
	const struct lnetctl_node *n;
	int rc = 0;

	for (n = section ? section->first : NULL; n && !rc; n = n->next) {
		im->trans.at = n;
		rc = set(im->c, n->key, !strcmp(n->text, "drained") || !strcmp(n->text, "up"));
	}
	return rc;
}

static int switches_do(struct import *im, const struct lnetctl_node *set)
{
	int rc = switch_all(im, lnetctl_find(set, "service"), lnetctl_net_drain);

	return rc ? rc : switch_all(im, lnetctl_find(set, "link"), lnetctl_net_link);
}

static int plan_do(struct import *im, const struct lnetctl_node *plan)
{
	int rc = plan_part_apply(im, lnetctl_find(plan, "del"), false);

	rc = rc ? rc : plan_part_apply(im, lnetctl_find(plan, "set"), true);
	rc = rc ? rc : switches_do(im, lnetctl_find(plan, "set"));
	return rc ? rc : plan_part_apply(im, lnetctl_find(plan, "add"), true);
}

static int plan_read(struct plan *p, const struct lnetctl_file *file)
{
	int rc = plan_begin(p);

	rc = rc ? rc : node_read(p);
	rc = rc ? rc : plan_all(p, file->doc);
	if (!rc && file->flags & LNETCTL_FILE_PROBE)
		rc = plan_probe(p);
	return import_place(&p->im, file->name, rc);
}

/*
 * Compares @file with the node, and commits or discards the transaction of @im. The transaction
 * begins before the node is read. So the commit fails if the node changed after it was read. If the
 * comparison fails, p->im has the position in the file. If the node rejects a request of the
 * transaction, @im has the position.
 */
static int plan_send(struct plan *p, const struct lnetctl_file *file, struct import *im,
		     bool commit)
{
	int rc = plan_read(p, file), planned = rc;
	bool trans = im->c->trans;

	if (!rc && trans && !p->unconfigured)
		rc = plan_do(im, p->doc);
	if (trans && !rc && (!commit || !lnetctl_plan_summary(p->doc, NULL, 0)))
		ctl_trans_end(im->c, &im->trans, -ECANCELED);
	else if (trans)
		rc = ctl_trans_end(im->c, &im->trans, rc);
	return planned ? rc : import_place(im, file->name, rc);
}

/*
 * Begins a transaction, in which the node checks the plan. A plan is made without these checks if
 * the caller may not change the node, or on a stock module.
 */
static int trans_begin(struct import *im, bool commit)
{
	int rc = ctl_trans_begin(im->c, &im->trans, true);

	if (rc == -EOPNOTSUPP && commit)
		return ctl_fail(im->c, rc, "set", "apply",
				"'lnetctl apply' requires a node with transactions, which stock "
				"LNet does not have");
	return commit || (rc != -EOPNOTSUPP && rc != -EPERM && rc != -EACCES) ? rc : 0;
}

static int plan_once(struct lnetctl *c, const struct lnetctl_file *file, bool commit,
		     struct lnetctl_node **plan)
{
	struct plan p = { .im = { .c = c, .how = LNETCTL_IMPORT_ADD } };
	struct import im = { .c = c };
	int rc = trans_begin(&im, commit);

	rc = rc ? rc : plan_send(&p, file, &im, commit);
	rc = rc ? rc : plan_end(&p);
	node_forget(&p);
	if (!rc && plan)
		*plan = p.doc;
	else
		lnetctl_doc_free(p.doc);
	return rc;
}

static bool has_section(const struct lnetctl_node *doc)
{
	const struct lnetctl_node *n;

	for (n = doc->first; n; n = n->next)
		if (n->first || (n->text && *n->text && n->kind != LNETCTL_NULL))
			return true;
	return false;
}

/* Rejects a document that has no section, because it would delete everything. */
static int empty_check(struct lnetctl *c, const struct lnetctl_file *file)
{
	if (file->flags & LNETCTL_FILE_EMPTY || has_section(file->doc))
		return 0;
	return ctl_fail(c, -ENODATA, "add", "import",
			"%s%sthe file has no sections; with --empty, it deletes all interfaces, "
			"peers and routes",
			file->name ? file->name : "", file->name ? ": " : "");
}

static int file_check(struct lnetctl *c, const struct lnetctl_file *file)
{
	int rc = empty_check(c, file);

	return rc ? rc : import_keys(c, file, LNETCTL_IMPORT_ADD);
}

static int plan_run(struct lnetctl *c, const struct lnetctl_file *file, bool commit,
		    struct lnetctl_node **plan)
{
	unsigned int tries = 0;
	int rc;

	do
		rc = plan_once(c, file, commit, plan);
	while (ctl_trans_again(rc, &tries));
	if (!rc)
		import_missing(file);
	return rc;
}

int lnetctl_plan(struct lnetctl *c, const struct lnetctl_file *file, struct lnetctl_node **plan)
{
	int rc = file_check(c, file);

	*plan = NULL;
	return rc ? rc : plan_run(c, file, false, plan);
}

/* Configures the node if it is not configured. *@made: the function did so. */
static int node_configure(struct lnetctl *c, bool *made)
{
	struct lnetctl_node *shown;
	int rc = lnetctl_net_show(c, NULL, 0, false, &shown);

	*made = false;
	lnetctl_doc_free(shown);
	if (rc != -ENETDOWN || !lnetctl_unconfigured(c))
		return rc;
	rc = lnetctl_configure(c, 0);
	*made = !rc;
	return rc;
}

int lnetctl_apply(struct lnetctl *c, const struct lnetctl_file *file, struct lnetctl_node **plan)
{
	bool made = false;
	int rc = file_check(c, file);

	if (plan)
		*plan = NULL;
	rc = rc ? rc : node_configure(c, &made);
	rc = rc ? rc : plan_run(c, file, true, plan);
	if (rc && made)
		lnetctl_unconfigure(c);		/* on success, the stored error is unchanged */
	return rc;
}
