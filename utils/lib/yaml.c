/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads YAML files into documents with libyaml's parser. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>
#include "client.h"

#define YAML_DEPTH_MAX 16
/* Maximum keys of a mapping. The time is quadratic: each key is compared with all earlier keys. */
#define YAML_KEYS_MAX 4096

static bool word_in(const char *text, const char *const *words)
{
	for (; *words; words++)
		if ((*text | ' ') == **words && !strcasecmp(text, *words))
			return true;
	return false;
}

enum lnetctl_kind yaml_kind(const char *text)
{
	static const char *const words[] = { "yes",   "true", "on", "y", "no",
					     "false", "off",  "n",  NULL };
	const char *t = text + (*text == '-');

	if (!*text || !strcmp(text, "~") || ((*text | ' ') == 'n' && !strcasecmp(text, "null")))
		return LNETCTL_NULL;
	if (word_in(text, words))
		return LNETCTL_BOOL;
	if (!*t)
		return LNETCTL_TEXT;
	for (; *t; t++)
		if (!isdigit((unsigned char)*t))
			return LNETCTL_TEXT;
	return LNETCTL_NUM;
}

struct reader {
	yaml_document_t *doc;
	char *why;
	size_t why_size;
};

static int reader_fail(struct reader *r, const yaml_node_t *n, int err, const char *what)
{
	snprintf(r->why, r->why_size, "line %zu column %zu: %s", n->start_mark.line + 1,
		 n->start_mark.column + 1, what);
	return err;
}

static void node_place_set(struct lnetctl_node *n, const yaml_node_t *from)
{
	n->line = (unsigned int)from->start_mark.line + 1;
	n->column = (unsigned int)from->start_mark.column + 1;
}

static int read_node(struct reader *r, struct lnetctl_node *parent, const char *key, int index,
		     int depth, struct lnetctl_node **res);

static int read_map(struct reader *r, const yaml_node_t *n, struct lnetctl_node *map, int depth)
{
	const yaml_node_pair_t *pair;

	if (n->data.mapping.pairs.top - n->data.mapping.pairs.start > YAML_KEYS_MAX)
		return reader_fail(r, n, -EINVAL, "more than 4096 keys in one mapping");
	for (pair = n->data.mapping.pairs.start; pair < n->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(r->doc, pair->key);
		int rc;

		if (!key || key->type != YAML_SCALAR_NODE)
			return reader_fail(r, n, -EINVAL, "a key must be a plain text");
		if (lnetctl_find(map, (char *)key->data.scalar.value)) {
			snprintf(r->why, r->why_size,
				 "line %zu column %zu: the key '%s' occurs twice",
				 key->start_mark.line + 1, key->start_mark.column + 1,
				 (char *)key->data.scalar.value);
			return -EINVAL;
		}
		rc = read_node(r, map, (char *)key->data.scalar.value, pair->value, depth + 1,
			       NULL);
		if (rc)
			return rc;
		node_place_set(map->last, key);
	}
	return 0;
}

static int read_seq(struct reader *r, const yaml_node_t *n, struct lnetctl_node *seq, int depth)
{
	const yaml_node_item_t *item;
	int rc = 0;

	for (item = n->data.sequence.items.start; !rc && item < n->data.sequence.items.top; item++)
		rc = read_node(r, seq, NULL, *item, depth + 1, NULL);
	return rc;
}

static int read_node(struct reader *r, struct lnetctl_node *parent, const char *key, int index,
		     int depth, struct lnetctl_node **res)
{
	yaml_node_t *n = yaml_document_get_node(r->doc, index);
	enum lnetctl_kind kind = LNETCTL_TEXT;
	const char *text = NULL;
	struct lnetctl_node *node;

	if (depth > YAML_DEPTH_MAX)
		return reader_fail(r, n, -EINVAL, "mappings and lists are nested too deeply");
	if (n->type == YAML_MAPPING_NODE) {
		kind = LNETCTL_MAP;
	} else if (n->type == YAML_SEQUENCE_NODE) {
		kind = LNETCTL_SEQ;
	} else {
		text = (const char *)n->data.scalar.value;
		if (n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
			kind = yaml_kind(text);
	}
	node = lnetctl_add(parent, key, kind, text);
	if (!node)
		return reader_fail(r, n, -ENOMEM, "out of memory");
	node_place_set(node, n);
	if (res)
		*res = node;
	if (kind == LNETCTL_MAP)
		return read_map(r, n, node, depth);
	return kind == LNETCTL_SEQ ? read_seq(r, n, node, depth) : 0;
}

/*
 * Reads a document. Rejects aliases, which configurations do not need: a small file with aliases
 * could expand to a tree of unbounded size.
 */
static int read_document(struct reader *r, struct lnetctl_node **doc)
{
	yaml_node_t *root = yaml_document_get_root_node(r->doc);
	int rc;

	*doc = NULL;
	if (!root || (root->type == YAML_SCALAR_NODE && !*root->data.scalar.value)) {
		*doc = lnetctl_add_map(NULL, NULL);
		return *doc ? 0 : -ENOMEM;
	}
	if (root->type != YAML_MAPPING_NODE)
		return reader_fail(
			r, root, -EINVAL,
			"the file must be a mapping whose keys are sections, such as 'net'");
	rc = read_node(r, NULL, NULL, (int)(root - r->doc->nodes.start) + 1, 0, doc);
	if (rc) {
		lnetctl_doc_free(*doc);
		*doc = NULL;
	}
	return rc;
}

static int event_depth(const yaml_event_t *event)
{
	if (event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT)
		return 1;
	if (event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT)
		return -1;
	return 0;
}

/*
 * Does the event have a YAML tag that the library does not support? The tag "!" is accepted. It
 * only means that a scalar is a text, and the program writes it before error texts in exports.
 */
static bool has_tag(const yaml_event_t *event)
{
	const yaml_char_t *tag = NULL;

	if (event->type == YAML_SCALAR_EVENT)
		tag = event->data.scalar.tag;
	else if (event->type == YAML_SEQUENCE_START_EVENT)
		tag = event->data.sequence_start.tag;
	else if (event->type == YAML_MAPPING_START_EVENT)
		tag = event->data.mapping_start.tag;
	return tag && strcmp((const char *)tag, "!");
}

static bool has_nul(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT &&
	       strlen((const char *)event->data.scalar.value) != event->data.scalar.length;
}

static const char *event_fault(const yaml_event_t *event, int depth, unsigned int nr_docs)
{
	if (event->type == YAML_ALIAS_EVENT)
		return "aliases are not supported (quote a text that begins with '*')";
	if (has_tag(event))
		return "tags are not supported (quote a text that begins with '!')";
	if (has_nul(event))
		return "a text must not contain a NUL character";
	if (nr_docs > 1)
		return "the file must have only one YAML document";
	return depth > YAML_DEPTH_MAX + 1 ? "mappings and lists are nested too deeply" : NULL;
}

/*
 * Writes the parser's error. If memory is missing, libyaml does not always report this as the
 * cause.
 */
static int parser_fault(const yaml_parser_t *parser, char *why, size_t why_size)
{
	if (parser->error == YAML_MEMORY_ERROR || !parser->problem) {
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	snprintf(why, why_size, "line %zu column %zu: %s", parser->problem_mark.line + 1,
		 parser->problem_mark.column + 1, parser->problem);
	return -EINVAL;
}

/*
 * Checks the events of the parser before the loader reads them. The loader resolves aliases without
 * a report, and its time grows with the square of the depth.
 */
static int check_events(FILE *in, char *why, size_t why_size)
{
	yaml_parser_t parser;
	yaml_event_t event;
	const char *fault;
	unsigned int nr_docs = 0;
	bool done = false;
	int rc = 0, depth = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_file(&parser, in);
	while (!done && !rc && yaml_parser_parse(&parser, &event)) {
		done = event.type == YAML_STREAM_END_EVENT;
		depth += event_depth(&event);
		nr_docs += event.type == YAML_DOCUMENT_START_EVENT;
		fault = event_fault(&event, depth, nr_docs);
		if (fault) {
			snprintf(why, why_size, "line %zu column %zu: %s",
				 event.start_mark.line + 1, event.start_mark.column + 1, fault);
			rc = -EINVAL;
		}
		yaml_event_delete(&event);
	}
	if (!done && !rc)
		rc = parser_fault(&parser, why, why_size);
	yaml_parser_delete(&parser);
	return rc;
}

/* Reads @in into memory first, because standard input cannot be read twice. */
static int read_checked(FILE *in, struct lnetctl_node **doc, char *why, size_t why_size)
{
	struct reader r = { .why = why, .why_size = why_size };
	yaml_document_t document;
	yaml_parser_t parser;
	int rc = check_events(in, why, why_size);

	if (rc)
		return rc;
	rewind(in);
	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_file(&parser, in);
	if (yaml_parser_load(&parser, &document)) {
		r.doc = &document;
		rc = read_document(&r, doc);
		yaml_document_delete(&document);
	} else {
		rc = parser_fault(&parser, why, why_size);
	}
	yaml_parser_delete(&parser);
	return rc;
}

/* Maximum bytes of a file. A full export of 1,000 peers with 8 NIDs each has 13 MB. */
#define YAML_FILE_MAX (64u << 20)

/* Reads all of @in into *@text, which the caller frees. */
static int read_text(FILE *in, char **text, size_t *len, char *why, size_t why_size)
{
	size_t size = 65536;
	char *longer;

	*text = NULL;
	for (*len = 0; !feof(in); size *= 2) {
		longer = size <= YAML_FILE_MAX ? realloc(*text, size) : NULL;
		if (!longer && size <= YAML_FILE_MAX)
			return -ENOMEM;
		if (longer) {
			*text = longer;
			*len += fread(longer + *len, 1, size - *len, in);
		}
		if (longer && !ferror(in))
			continue;
		snprintf(why, why_size, "%s",
			 longer ? "cannot read the file" : "the file is longer than 64 MiB");
		return -EINVAL;
	}
	return 0;
}

static bool begins(const char *line, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(line, with, strlen(with));
}

static bool ends(const char *line, size_t len, const char *with)
{
	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	return len >= strlen(with) && !memcmp(line + len - strlen(with), with, strlen(with));
}

/*
 * Is each export in @text complete? A file may be truncated by `head', a full disk or a lost
 * connection. Such a file must not be read as a node with fewer peers. Exports of stock LNet have
 * no first and last lines.
 */
static bool exports_whole(const char *text, size_t len)
{
	const char *line = text, *end = text + len, *next;
	bool open = false;

	if (!begins(text, len, YAML_EXPORT))
		return true;
	for (; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next + 1 : end;
		if (begins(line, (size_t)(next - line), YAML_EXPORT))
			open = !ends(line, (size_t)(next - line), YAML_EXPORT_END);
	}
	return !open;
}

int lnetctl_yaml_read(FILE *in, struct lnetctl_node **doc, char *why, size_t why_size)
{
	char *text;
	size_t len;
	FILE *mem;
	int rc;

	*doc = NULL;
	snprintf(why, why_size, "%s", strerror(ENOMEM));
	rc = read_text(in, &text, &len, why, why_size);
	if (rc || !len) {
		free(text);
		if (!rc)
			*doc = lnetctl_add_map(NULL, NULL);
		return rc || *doc ? rc : -ENOMEM;
	}
	if (!exports_whole(text, len)) {
		snprintf(why, why_size, "this export is truncated: its last line, '" YAML_EXPORT
			 "..." YAML_EXPORT_END "', is missing");
		free(text);
		return -EINVAL;
	}
	mem = fmemopen(text, len, "r");
	rc = mem ? read_checked(mem, doc, why, why_size) : -ENOMEM;
	if (mem)
		fclose(mem);
	free(text);
	return rc;
}
