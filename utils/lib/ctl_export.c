/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exports the configuration of a node as a file that import accepts. */
#include <errno.h>
#include <string.h>
#include "import.h"

/*
 * Reads the node's name. The name is "" for a stock module, which has none. Returns 0 or -ENOMEM.
 */
static int node_name(struct lnetctl *c, char *name, size_t size)
{
	struct lnetctl_node *doc;
	const char *text = NULL;
	int rc = lnetctl_node_show(c, &doc);

	if (!rc)
		text = lnetctl_text(lnetctl_find(doc, "node"), "name");
	snprintf(name, size, "%s", text ? text : "");
	lnetctl_doc_free(doc);
	return rc == -ENOMEM ? rc : 0;
}

static int export_part(struct lnetctl_node *doc, int rc, enum lnetctl_style style, FILE *out)
{
	if (!rc)
		lnetctl_print(doc, style, out);
	lnetctl_doc_free(doc);
	return rc;
}

/* Copies the keys that an operator sets, "service" and "link", from @from to @to. */
static void marks_copy(struct lnetctl_node *to, const struct lnetctl_node *from)
{
	static const char *const keys[] = { "service", "link" };
	const char *text;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		text = lnetctl_text(from, keys[i]);
		if (text)
			lnetctl_add_text(to, keys[i], text);
	}
}

static struct lnetctl_node *net_of_type(const struct lnetctl_node *doc, const char *type)
{
	struct lnetctl_node *nets = lnetctl_find(doc, "net"), *net = nets ? nets->first : NULL;

	while (net && strcmp(lnetctl_text(net, "net type"), type))
		net = net->next;
	return net;
}

/*
 * Adds the operator's keys to an export. Both documents list the interfaces of a net in the same
 * order.
 */
static void export_marks_add(struct lnetctl_node *doc, const struct lnetctl_node *backup)
{
	struct lnetctl_node *nets = lnetctl_find(doc, "net"), *net, *other, *to, *from;

	for (net = nets ? nets->first : NULL; net; net = net->next) {
		other = net_of_type(backup, lnetctl_text(net, "net type"));
		to = lnetctl_find(net, "local NI(s)");
		from = lnetctl_find(other, "local NI(s)");
		to = to ? to->first : NULL;
		from = from ? from->first : NULL;
		for (; to && from; to = to->next, from = from->next)
			marks_copy(to, from);
	}
}

static int export_nets(struct lnetctl *c, bool backup, FILE *out)
{
	struct lnetctl_node *doc, *small;
	int rc = lnetctl_net_show(c, NULL, LEVEL_OURS, true, &small);

	if (rc || backup)
		return export_part(small, rc, LNETCTL_WIDE, out);
	rc = lnetctl_net_show(c, NULL, 2, false, &doc);
	if (!rc)
		export_marks_add(doc, small);
	lnetctl_doc_free(small);
	return export_part(doc, rc, LNETCTL_WIDE, out);
}

/* Removes the IDs of rules from a document. An import assigns a new ID to each rule. */
static void ids_drop(struct lnetctl_node *doc)
{
	struct lnetctl_node *rules = lnetctl_find(doc, "fault"), *rule, *id;

	for (rule = rules ? rules->first : NULL; rule; rule = rule->next) {
		id = lnetctl_find(rule, "id");
		if (id)
			lnetctl_take(rule, id);
		lnetctl_doc_free(id);
	}
}

static int export_faults(struct lnetctl *c, FILE *out)
{
	struct import faults = { .c = c };
	struct lnetctl_node *delays;
	int rc = lnetctl_fault_show(c, false, &faults.shown);

	if (rc)
		return rc;
	rc = lnetctl_fault_show(c, true, &delays);
	if (!rc)
		import_keep(&faults, delays);
	ids_drop(faults.shown);
	return export_part(faults.shown, rc, LNETCTL_WIDE, out);
}

/* A stock module has none. */
static int export_rules(struct lnetctl *c, bool backup, FILE *out)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_rule_show(c, NULL, backup, &doc);

	if (rc == -EOPNOTSUPP)
		return 0;
	if (!rc && !doc->first) {
		lnetctl_doc_free(doc);
		return 0;
	}
	return export_part(doc, rc, LNETCTL_WIDE, out);
}

/*
 * Reduces the sections of routing to data that a backup needs. Stopping counts as off, starting as
 * on.
 */
static void routing_strip(struct lnetctl_node *doc)
{
	struct lnetctl_node *list = lnetctl_find(doc, "routing"), *map;
	struct lnetctl_node *buffers = lnetctl_find(doc, "buffers");
	int64_t on = 0;

	if (!list || !buffers)
		return;
	lnetctl_num(lnetctl_find(list->last, "enable"), &on);
	lnetctl_take(doc, list);
	lnetctl_doc_free(list);
	lnetctl_take(doc, buffers);
	map = lnetctl_add_map(doc, "routing");
	if (map)
		lnetctl_add_num(map, "enable", on & 1);
	lnetctl_adopt(doc, buffers);
}

/*
 * If a number of buffers was not set, exports 0, which import reads as the default. A stock module
 * does not report which numbers were set.
 */
static int buffers_export(struct lnetctl *c, struct lnetctl_node *doc)
{
	struct lnetctl_node *buffers = lnetctl_find(doc, "buffers"), *global, *size;
	const char *set;
	char name[80];
	int rc;

	if (!buffers)
		return 0;
	rc = node_name(c, name, sizeof(name));
	if (rc || !name[0])
		return rc;
	rc = lnetctl_global_show(c, &global);
	for (size = buffers->first; size && !rc; size = size->next) {
		snprintf(name, sizeof(name), "%s_router_buffers", size->key);
		set = lnetctl_text(lnetctl_find(global, "global"), name);
		rc = set ? lnetctl_set_text(size, set) : 0;
	}
	lnetctl_doc_free(global);
	return rc;
}

static int export_routing(struct lnetctl *c, bool backup, FILE *out)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_routing_show(c, &doc);

	rc = rc ? rc : buffers_export(c, doc);
	if (!rc && backup)
		routing_strip(doc);
	if (!rc && !doc->first) {
		lnetctl_doc_free(doc);
		return 0;
	}
	return export_part(doc, rc, LNETCTL_HAND, out);
}

static int export_all(struct lnetctl *c, unsigned int flags, FILE *out)
{
	const struct lnetctl_route all = { .hops = LNETCTL_UNSET, .priority = LNETCTL_UNSET };
	bool backup = flags & LNETCTL_EXPORT_BACKUP;
	struct lnetctl_node *doc;
	int rc;

	rc = export_nets(c, backup, out);
	if (rc)
		return rc;
	rc = lnetctl_route_show(c, &all, 1, backup, &doc);
	rc = export_part(doc, rc, LNETCTL_WIDE, out);
	if (rc)
		return rc;
	rc = lnetctl_peer_show(c, NULL, backup ? 0 : 3, backup, &doc);
	rc = export_part(doc, rc, LNETCTL_WIDE, out);
	if (rc)
		return rc;
	rc = export_routing(c, backup, out);
	if (rc)
		return rc;
	rc = lnetctl_global_show(c, &doc);
	rc = export_part(doc, rc, LNETCTL_HAND, out);
	if (rc)
		return rc;
	rc = ctl_udsp_all(c, &doc);
	rc = export_part(doc, rc, LNETCTL_HAND, out);
	if (rc || flags & LNETCTL_EXPORT_NO_FAULT)
		return rc;
	rc = export_faults(c, out);
	return rc ? rc : export_rules(c, backup, out);
}

int lnetctl_export(struct lnetctl *c, unsigned int flags, FILE *out)
{
	char name[80];
	int rc;

	if (flags & LNETCTL_EXPORT_BARE)
		return export_all(c, flags, out);
	rc = node_name(c, name, sizeof(name));
	if (rc)
		return rc;
	if (!name[0])
		strcpy(name, "lnet");
	fprintf(out, YAML_EXPORT "%s" YAML_EXPORT_BEGIN "\n", name);
	rc = export_all(c, flags, out);
	if (!rc)
		fprintf(out, YAML_EXPORT "%s" YAML_EXPORT_END "\n", name);
	return rc;
}
