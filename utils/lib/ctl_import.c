/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Configuration files: the reader of each section, and the position of an error in the file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "import.h"

const char *import_verb(const struct import *im)
{
	static const char *const verbs[] = { "add", "del", "show", "manage" };

	return verbs[im->how];
}

int import_refuse(struct import *im, const char *object, const struct lnetctl_node *n,
		  const char *what)
{
	im->trans.at = n;
	return ctl_fail(im->c, -EINVAL, import_verb(im), object, "%s", what);
}

int import_keep(struct import *im, struct lnetctl_node *doc)
{
	while (im->shown && doc && doc->first) {
		struct lnetctl_node *section = doc->first,
				    *there = lnetctl_find(im->shown, section->key);

		lnetctl_take(doc, section);
		if (!there) {
			lnetctl_adopt(im->shown, section);
			continue;
		}
		while (section->first) {
			struct lnetctl_node *item = section->first;

			lnetctl_take(section, item);
			lnetctl_adopt(there, item);
		}
		lnetctl_doc_free(section);
	}
	lnetctl_doc_free(doc);
	return 0;
}

int import_num(struct import *im, const char *object, const struct lnetctl_node *map,
	       const char *key, int64_t *val)
{
	const struct lnetctl_node *n = lnetctl_find(map, key);
	char text[200];
	int rc = n ? lnetctl_num(n, val) : 0;

	if (!n || (!rc && *val != LNETCTL_UNSET))
		return 0;
	snprintf(text, sizeof(text), "invalid value '%s' for key '%s': %s", n->text ? n->text : "",
		 key, rc == -EINVAL ? "not a number" : "out of range");
	return import_refuse(im, object, n, text);
}

int import_flag(struct import *im, const char *object, const struct lnetctl_node *map,
		const char *key, int64_t *val)
{
	const struct lnetctl_node *n = lnetctl_find(map, key);
	char text[100];

	if (!n)
		return 0;
	snprintf(text, sizeof(text), "'%s' must be true or false, not %.40s", key,
		 n->text ? n->text : "a list");
	if (n->kind != LNETCTL_BOOL)
		return import_refuse(im, object, n, text);
	*val = strchr("yYtT", n->text[0]) || !strcasecmp(n->text, "on");
	return 0;
}

int import_text(struct import *im, const char *object, const struct lnetctl_node *map,
		const char *key, const char **res)
{
	const struct lnetctl_node *n = lnetctl_find(map, key);
	char text[100];

	*res = n ? n->text : NULL;
	if (!n || (n->kind != LNETCTL_MAP && n->kind != LNETCTL_SEQ))
		return 0;
	snprintf(text, sizeof(text), "the value of '%s' must be one word", key);
	return import_refuse(im, object, n, text);
}

int import_part(struct import *im, const char *object, const struct lnetctl_node *map,
		const char *key, unsigned int kinds, const struct lnetctl_node **part)
{
	const struct lnetctl_node *n = lnetctl_find(map, key);
	char text[100];

	*part = n && n->kind != LNETCTL_NULL ? n : NULL;
	if (!*part || kinds & 1u << n->kind)
		return 0;
	snprintf(text, sizeof(text), "'%s' must be a %s", key,
		 kinds & IMPORT_MAP ? "mapping" : "sequence");
	return import_refuse(im, object, n, text);
}

int import_not_a(struct import *im, const struct lnetctl_node *n, const char *kind)
{
	char text[100];

	snprintf(text, sizeof(text), "'%s' must be a %s", n->key, kind);
	return import_refuse(im, n->key, n, text);
}

/* ---- position of an error -------------------------------------------------------------------- */

/* Finds @word as a key or as a value in the tree @n. NULL: not found. */
static const struct lnetctl_node *find_word(const struct lnetctl_node *n, const char *word,
					    bool key)
{
	const char *text = key ? n->key : n->text;
	const struct lnetctl_node *child, *found = NULL;

	if (text && !strcmp(text, word))
		return n;
	for (child = n->first; child && !found; child = child->next)
		found = find_word(child, word, key);
	return found;
}

/*
 * Copies the next quoted word at or after @at to @buf. Returns the rest of the text; NULL: no word.
 */
static const char *quoted_word_copy(const char *at, char *buf, size_t size)
{
	const char *begin = strchr(at, '\''), *end = begin ? strchr(begin + 1, '\'') : NULL;

	if (!end || (size_t)(end - begin) > size)
		return NULL;
	snprintf(buf, size, "%.*s", (int)(end - begin - 1), begin + 1);
	return end + 1;
}

static const struct lnetctl_node *what_is_meant(const struct lnetctl_node *at, const char *text)
{
	const struct lnetctl_node *n = NULL;
	const char *key = strstr(text, "key '");
	char word[128];

	if (key && quoted_word_copy(key, word, sizeof(word)))
		n = find_word(at, word, true);
	while (!n && text && (text = quoted_word_copy(text, word, sizeof(word)))) {
		n = find_word(at, word, false);
		n = n ? n : find_word(at, word, true);
	}
	return n ? n : at;
}

int import_place(struct import *im, const char *name, int rc)
{
	const struct lnetctl_error *e = lnetctl_error(im->c);
	const struct lnetctl_node *at;
	char text[256], object[64];

	if (!rc || !im->trans.at || !im->trans.at->line || !e->text)
		return rc;
	at = what_is_meant(im->trans.at, e->text);
	at = at->line ? at : im->trans.at;
	snprintf(text, sizeof(text), "%s", e->text);
	snprintf(object, sizeof(object), "%s", e->object);
	return ctl_fail(im->c, rc, e->verb, object, "%s%sline %u column %u: %s", name ? name : "",
			name ? " " : "", at->line, at->column, text);
}

void import_at(struct lnetctl_node *n, const struct lnetctl_node *from)
{
	n->line = from ? from->line : 0;
	n->column = from ? from->column : 0;
}

/* ---- global ---------------------------------------------------------------------------------- */

/*
 * Handles the section "global" of a file whose contents `lnetctl import --del' deletes. Resets the
 * values in the section that stock's tool also resets, and no others.
 */
static int reset_globals(struct import *im, const struct lnetctl_node *section)
{
	static const char *const names[] = { "numa_range", "max_interfaces", "discovery" };
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !rc; i++)
		if (lnetctl_find(section, names[i]))
			rc = lnetctl_set(im->c, names[i], "default");
	return rc;
}

/*
 * In a transaction, sends each value in a separate request, so that an error has a line. The
 * transaction still sets all values together.
 */
static int set_globals(struct import *im, const struct lnetctl_node *section)
{
	const struct lnetctl_node *n;
	int rc = 0;

	if (!im->c->trans)
		return lnetctl_set_many(im->c, section);
	for (n = section->first; n && !rc; n = n->next) {
		im->trans.at = n;
		rc = lnetctl_set(im->c, n->key, n->text ? n->text : "");
	}
	return rc;
}

static int import_global(struct import *im, const struct lnetctl_node *section)
{
	struct lnetctl_node *doc;
	int rc;

	switch (im->how) {
	case LNETCTL_IMPORT_ADD:
		return set_globals(im, section);
	case LNETCTL_IMPORT_DEL:
		return reset_globals(im, section);
	case LNETCTL_IMPORT_SHOW:
		rc = lnetctl_global_show(im->c, &doc);
		return rc ? rc : import_keep(im, doc);
	default:
		return 0;
	}
}

/* Imports { range: N }, a second form of the tunable numa_range. */
static int import_numa(struct import *im, const struct lnetctl_node *section)
{
	const struct lnetctl_node *range = lnetctl_find(section, "range");

	if (!range || im->how == LNETCTL_IMPORT_SHOW)
		return 0;
	im->trans.at = range;
	if (im->how == LNETCTL_IMPORT_EXEC)
		return import_refuse(im, "import", section, "invalid key 'numa'");
	return lnetctl_set(im->c, "numa_range", range->text ? range->text : "");
}

/*
 * Is the key of @n, a scalar at the top of the file, the name of a tunable? Only an import that
 * adds sets the tunable. Imports that delete or show only check the key.
 */
static int scalar_known(struct import *im, const struct lnetctl_node *n)
{
	const char *key = strcmp(n->key, "max_intf") ? n->key : "max_interfaces";
	struct lnetctl_node *doc;
	int rc = lnetctl_global_show(im->c, &doc);
	bool known;

	if (rc)
		return rc;
	known = lnetctl_find(lnetctl_find(doc, "global"), key);
	lnetctl_doc_free(doc);
	return known ? 0 : ctl_fail(im->c, -EINVAL, import_verb(im), "import", "invalid key '%s'",
				    n->key);
}

/* Imports a scalar at the top level, which is a tunable. */
static int import_scalar(struct import *im, const struct lnetctl_node *n)
{
	char text[256];
	int rc;

	if (im->how != LNETCTL_IMPORT_ADD)
		return scalar_known(im, n);
	if (n->kind == LNETCTL_NULL)
		return ctl_fail(im->c, -EINVAL, "add", "import", "no value specified for key '%s'",
				n->key);
	rc = lnetctl_set(im->c, n->key, n->text);
	if (rc != -ENOENT && rc != -EINVAL && rc != -ERANGE)
		return rc;
	snprintf(text, sizeof(text), "%s", lnetctl_error(im->c)->text);
	return ctl_fail(im->c, -EINVAL, "add", "import", "%s", text);
}

/* ---- ping, discover -------------------------------------------------------------------------- */

/*
 * Rejects a section that queries other nodes, unless @im has LNETCTL_IMPORT_EXEC. *@nids: the list
 * of nodes, or NULL.
 */
static int asks_only(struct import *im, const struct lnetctl_node *section,
		     const struct lnetctl_node **nids)
{
	char text[80];

	if (im->how == LNETCTL_IMPORT_EXEC)
		return import_part(im, section->key, section, "nids", IMPORT_MAP | IMPORT_SEQ,
				   nids);
	snprintf(text, sizeof(text), "invalid key '%s'", section->key);
	return import_refuse(im, "import", section, text);
}

static int import_ping(struct import *im, const struct lnetctl_node *section)
{
	const struct lnetctl_node *nids, *n;
	const char *source;
	struct lnetctl_node *doc;
	int64_t timeout = 0;
	int rc = asks_only(im, section, &nids);

	rc = rc ? rc : import_num(im, "ping", section, "timeout", &timeout);
	rc = rc ? rc : import_text(im, "ping", section, "source", &source);
	if (!rc && (timeout < 0 || timeout > UINT32_MAX / 2))
		return import_refuse(im, "ping", lnetctl_find(section, "timeout"),
				     "'timeout' is out of range");
	if (rc)
		return rc;
	for (n = nids ? nids->first : NULL; n && !rc; n = n->next) {
		im->trans.at = n;
		rc = lnetctl_ping(im->c, n->text ? n->text : "", source, (unsigned int)timeout,
				  &doc);
		if (!rc)
			import_keep(im, doc);
	}
	return rc;
}

static int import_discover(struct import *im, const struct lnetctl_node *section)
{
	const struct lnetctl_node *nids, *n;
	struct lnetctl_node *doc;
	int64_t force = 0;
	int rc = asks_only(im, section, &nids);

	rc = rc ? rc : import_num(im, "discover", section, "force", &force);
	for (n = !rc && nids ? nids->first : NULL; n && !rc; n = n->next) {
		im->trans.at = n;
		rc = lnetctl_discover(im->c, n->text ? n->text : "", force, &doc);
		if (!rc)
			import_keep(im, doc);
	}
	return rc;
}

/* ---- routing --------------------------------------------------------------------------------- */

static int settings_only(struct import *im, const struct lnetctl_node *section)
{
	char text[80];

	im->trans.at = section;
	if (im->how != LNETCTL_IMPORT_EXEC)
		return 0;
	snprintf(text, sizeof(text), "invalid key '%s'", section->key);
	return import_refuse(im, "import", section, text);
}

/*
 * Imports "routing". The section is a mapping in backups and a sequence in full exports; both have
 * "enable".
 */
static int import_routing(struct import *im, const struct lnetctl_node *section)
{
	const struct lnetctl_node *n;
	int64_t on = -1;
	int rc = settings_only(im, section);

	if (rc || im->how == LNETCTL_IMPORT_SHOW)
		return rc;
	rc = import_num(im, "routing", section, "enable", &on);
	for (n = section->kind == LNETCTL_SEQ ? section->first : NULL; n && !rc && on < 0;
	     n = n->next)
		if (lnetctl_find(n, "enable"))
			rc = import_num(im, "routing", n, "enable", &on);
	if (rc || on < 0)
		return rc;
	/* The value may be starting, which counts as on, or stopping, which counts as off. */
	return lnetctl_routing_set(im->c, on & 1);
}

static int import_buffers(struct import *im, const struct lnetctl_node *section)
{
	int64_t tiny = -1, small = -1, large = -1;
	int rc = settings_only(im, section);

	if (rc || im->how == LNETCTL_IMPORT_SHOW)
		return rc;
	rc = import_num(im, "buffers", section, "tiny", &tiny);
	rc = rc ? rc : import_num(im, "buffers", section, "small", &small);
	rc = rc ? rc : import_num(im, "buffers", section, "large", &large);
	return rc ? rc : lnetctl_buffers_set(im->c, tiny, small, large);
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef int (*item_fn)(struct import *im, const struct lnetctl_node *item);

/*
 * @item is called for each element of a sequence, @whole for a mapping. For the kind ANY, @whole is
 * called for any kind of node.
 */
static const struct section {
	const char *name;
	item_fn item, whole;
	enum { MAPPING, SEQUENCE, ANY } kind;
} sections[] = {
	{ "net", import_net, NULL, SEQUENCE },
	{ "ip2nets", NULL, import_ip2nets_section, SEQUENCE },
	{ "peer", import_peer, NULL, SEQUENCE },
	{ "fault", import_fault, NULL, SEQUENCE },
	{ "faults", import_rule, NULL, SEQUENCE },
	{ "global", NULL, import_global, MAPPING },
	{ "numa", NULL, import_numa, MAPPING },
	{ "ping", NULL, import_ping, MAPPING },
	{ "routing", NULL, import_routing, ANY },
	{ "buffers", NULL, import_buffers, ANY },
	{ "route", import_route, NULL, SEQUENCE },
	{ "udsp", import_udsp, NULL, SEQUENCE },
	{ "discover", NULL, import_discover, MAPPING },
};

static int import_forward(struct import *im, const struct lnetctl_node *n, item_fn fn)
{
	const struct lnetctl_node *item;
	int rc = 0;

	for (item = n->first; item && !rc; item = item->next)
		rc = fn(im, item);
	return rc;
}

static int import_backward(struct import *im, const struct lnetctl_node *n, item_fn fn)
{
	const struct lnetctl_node *item, *end = NULL;
	int rc = 0;

	while (end != n->first && !rc) {
		for (item = n->first; item->next != end; item = item->next)
			;
		rc = fn(im, item);
		end = item;
	}
	return rc;
}

/*
 * A node shows the newest fault rule first, so an import adds rules in reverse order. Policies are
 * also deleted in reverse order, so that the remaining policies keep their indices.
 */
static int import_items(struct import *im, const struct lnetctl_node *n, item_fn fn)
{
	im->first = n->first;
	if ((fn == import_fault && im->how == LNETCTL_IMPORT_ADD) ||
	    (fn == import_udsp && im->how == LNETCTL_IMPORT_DEL))
		return import_backward(im, n, fn);
	return import_forward(im, n, fn);
}

static int import_known(struct import *im, const struct lnetctl_node *n, const struct section *s)
{
	if (n->kind == LNETCTL_NULL)
		return 0;
	if (s->kind == MAPPING && n->kind != LNETCTL_MAP)
		return import_not_a(im, n, "mapping");
	if (s->kind == SEQUENCE && n->kind != LNETCTL_SEQ)
		return import_not_a(im, n, "sequence");
	return s->item ? import_items(im, n, s->item) : s->whole(im, n);
}

int import_section(struct import *im, const struct lnetctl_node *n)
{
	size_t i;

	im->trans.at = n;
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (!strcmp(n->key, sections[i].name))
			return import_known(im, n, &sections[i]);
	if (n->kind == LNETCTL_MAP || n->kind == LNETCTL_SEQ)
		return ctl_fail(im->c, -EINVAL, import_verb(im), "import", "invalid key '%s'",
				n->key);
	return import_scalar(im, n);
}

/* Tunables are imported first, because an added interface uses them. */
static bool goes_first(const struct import *im, const struct lnetctl_node *n)
{
	return im->how == LNETCTL_IMPORT_ADD &&
	       (!strcmp(n->key, "global") || (n->kind != LNETCTL_MAP && n->kind != LNETCTL_SEQ));
}

/* Sections that query other nodes are imported after all changes. */
static bool goes_last(const struct import *im, const struct lnetctl_node *n)
{
	return im->how == LNETCTL_IMPORT_EXEC &&
	       (!strcmp(n->key, "ping") || !strcmp(n->key, "discover"));
}

static bool changes_any(const struct import *im, const struct lnetctl_node *doc)
{
	const struct lnetctl_node *n = doc->first;

	while (n && goes_last(im, n))
		n = n->next;
	return n && im->how != LNETCTL_IMPORT_SHOW;
}

static int import_asked(struct import *im, const struct lnetctl_node *doc)
{
	const struct lnetctl_node *n;
	int rc = 0;

	for (n = doc->first; n && !rc; n = n->next)
		if (goes_last(im, n))
			rc = import_section(im, n);
	return rc;
}

static int import_changes(struct import *im, const struct lnetctl_node *doc)
{
	const struct lnetctl_node *n;
	int rc = 0;

	for (n = doc->first; n && !rc; n = n->next)
		if (goes_first(im, n))
			rc = import_section(im, n);
	for (n = doc->first; n && !rc; n = n->next)
		if (!goes_first(im, n) && !goes_last(im, n))
			rc = import_section(im, n);
	return rc;
}

int lnetctl_import(struct lnetctl *c, const struct lnetctl_file *file, enum lnetctl_import how,
		   struct lnetctl_node **shown)
{
	struct import im = { .c = c, .how = how };
	bool changes = changes_any(&im, file->doc);
	unsigned int tries = 0;
	int rc;

	if (shown && !*shown)
		*shown = lnetctl_add_map(NULL, NULL);
	if (shown && !*shown)
		return ctl_fail(c, -ENOMEM, import_verb(&im), "import", NULL);
	if (shown)
		im.shown = *shown;
	rc = import_keys(c, file, how);
	if (rc)
		return rc;
	do {
		rc = changes ? ctl_trans_begin(c, &im.trans, false) : -EOPNOTSUPP;
		if (rc && rc != -EOPNOTSUPP)
			return rc;
		rc = import_changes(&im, file->doc);
		if (c->trans)
			rc = ctl_trans_end(c, &im.trans, rc);
	} while (ctl_trans_again(rc, &tries));
	if (!rc && how == LNETCTL_IMPORT_ADD)
		import_missing(file);
	rc = rc ? rc : import_asked(&im, file->doc);
	return import_place(&im, file->name, rc);
}
