/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lst add_test --map file:PATH: reads a file that defines which clients send to which servers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lst.h"

#define FILE_MAX_LEN	(1u << 20)
#define SPACE		" \t\r"

static const char *path;	/* last file that was read, for errors of the console */

/*
 * Returns the next argument of the request that begins with @name. The search begins after @at, or
 * at the first argument if @at is NULL.
 */
static const char *word_of(const struct request *r, const char *name, const char *at)
{
	const char *end = r->text + r->len;

	for (at = at ? at + strlen(at) + 1 : r->text; at < end; at += strlen(at) + 1)
		if (!strncmp(at, name, strlen(name)))
			return at;
	return NULL;
}

bool map_is_listed(const struct request *r)
{
	return word_of(r, "send=", NULL);
}

/* ---- reading ------------------------------------------------------------------------------- */

static char *map_file_read(FILE *in, size_t *len)
{
	char *bytes = malloc(FILE_MAX_LEN + 2);

	*len = bytes ? fread(bytes, 1, FILE_MAX_LEN + 1, in) : 0;
	if (!bytes || ferror(in))
		failed("%s: %s", path, strerror(bytes ? errno : ENOMEM));
	else if (*len > FILE_MAX_LEN)
		misused("%s: the file of a map must have at most 1 MiB", path);
	else
		return bytes;
	free(bytes);
	return NULL;
}

/* Removes spaces at begin and end of a line. Reduces other sequences of spaces to one space. */
static void squeeze(char *line)
{
	char *from = line, *to = line;

	for (;;) {
		size_t len;

		from += strspn(from, SPACE);
		len = strcspn(from, SPACE);
		if (!len)
			break;
		if (to != line)
			*to++ = ' ';
		memmove(to, from, len);
		to += len;
		from += len;
	}
	*to = 0;
}

static bool add_line(struct request *r, unsigned int nr, char *line)
{
	line[strcspn(line, "#")] = 0;
	squeeze(line);
	if (!*line)
		return true;
	request_add(r, "send", "%u %s", nr, line);
	if (r->over)
		return misused("%s:%u: the map up to this line is longer than a request may be: "
			       "%zu bytes",
			       path, nr, sizeof(r->text)),
		       false;
	return true;
}

static bool add_lines(struct request *r, char *bytes, size_t len)
{
	char *line = bytes, *end = bytes + len, *next;
	unsigned int nr = 1;

	for (; line < end; line = next, nr++) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next : end;
		*next++ = 0;
		if (strlen(line) != (size_t)(next - 1 - line))
			return misused("%s:%u: the line contains a NUL character", path, nr), false;
		if (!add_line(r, nr, line))
			return false;
	}
	return map_is_listed(r) ||
	       (misused("%s: the map has no pair of a client and a server", path), false);
}

/*
 * Adds the map LST_MAP_LISTED. For each line with text, adds an argument with the line's number,
 * senders and receivers.
 */
bool map_add_file(struct request *r, const char *name)
{
	FILE *in = *name ? fopen(name, "re") : NULL;
	char *bytes;
	size_t len;
	bool ok = false;

	path = name;
	if (!in)
		return misused("file:%s: %s", name, *name ? strerror(errno) : "a name is missing"),
		       false;
	bytes = map_file_read(in, &len);
	if (bytes && word_of(r, "map=", NULL))
		misused("%s: the test already has a map", path);
	else if (bytes) {
		request_add(r, "map", "10");
		ok = add_lines(r, bytes, len);
	}
	free(bytes);
	fclose(in);
	return ok;
}

/* ---- errors -------------------------------------------------------------------------------- */

/* Returns word @nr of a line, counted from 1. Word 0 is the number of the line. */
static const char *line_word_at(const char *line, int64_t nr, int *len)
{
	for (; nr && *line; nr--) {
		line += strcspn(line, " ");
		line += *line == ' ';
	}
	*len = (int)strcspn(line, " ");
	return line;
}

bool map_print_bad(const struct request *r, const struct lnetctl_node *doc)
{
	const struct lnetctl_node *bad = lnetctl_find(doc, "bad");
	const char *send = NULL, *word = "";
	int len = 0;

	if (!bad)
		return false;
	while ((send = word_of(r, "send=", send)))
		if (atoll(send + strlen("send=")) == number(bad, "line"))
			break;
	if (send)
		word = line_word_at(send + strlen("send="), number(bad, "word"), &len);
	fprintf(stderr, "%s:%s: %.*s%s%s\n", path, text(bad, "line"), len, word, len ? " " : "",
		text(bad, "why"));
	return true;
}
