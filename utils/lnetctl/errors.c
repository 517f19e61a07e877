/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints errors on standard error, as JSON or in the layouts of stock's tool. Computes their exit
 * statuses.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include "tool.h"

#define NAME "lnetctl"

/*
 * The command that is running. An error is printed as verb, object, errno and text. The object is
 * the first word of this command, such as "net" for net add.
 */
static struct tool *current;

void tool_errors_of(struct tool *t)
{
	current = t;
}

static bool as_json(void)
{
	return current && (current->json || current->json_always);
}

/*
 * Prints an error as JSON. Error texts of stock LNet's modules are often in quotes. The function
 * removes these quotes.
 */
static void json_error(const char *verb, const char *object, int err, const char *text)
{
	struct lnetctl_node *doc = lnetctl_add_map(NULL, NULL);
	struct lnetctl_node *map = doc ? lnetctl_add_map(doc, "error") : NULL;
	size_t len = strlen(text);
	char bare[1000];

	if (len > 1 && text[0] == '"' && text[len - 1] == '"')
		snprintf(bare, sizeof(bare), "%.*s", (int)len - 2, text + 1);
	else
		snprintf(bare, sizeof(bare), "%s", text);
	if (map && lnetctl_add_text(map, "verb", verb) && lnetctl_add_text(map, "object", object) &&
	    lnetctl_add_num(map, "errno", err) && lnetctl_add_text(map, "descr", bare))
		lnetctl_print(doc, LNETCTL_JSON, stderr);
	else
		fprintf(stderr, NAME ": out of memory\n");
	lnetctl_doc_free(doc);
}

static void error_put(const char *verb, const char *object, int err, const char *text)
{
	if (as_json())
		json_error(verb, object, err, text);
	else
		fprintf(stderr, "%s:\n    - %s:\n          errno: %d\n          descr: %s\n", verb,
			object, err, text);
}

int tool_refuse(const char *verb, const char *object, int err, const char *fmt, ...)
{
	char text[640];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_put(verb, object, err, text);
	return err;
}

void tool_plain(const char *verb, const char *object, int err, const char *fmt, ...)
{
	char text[640];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (as_json())
		json_error(verb, object, err, text);
	else
		fprintf(stderr, "%s\n", text);
}

/* Writes the first word of the command, for example "net" for net add. */
static void object_name(char *buf, size_t size)
{
	const char *path = current ? current->path : "";
	size_t len = strcspn(path, " ");

	if (len)
		snprintf(buf, size, "%.*s", (int)len, path);
	else
		snprintf(buf, size, "%s", current && current->cmd ? current->cmd->name : NAME);
}

/* Prints @text as a YAML scalar in double quotes. */
static void text_quote(const char *text, char *buf, size_t size)
{
	size_t len = 0;

	buf[len++] = '"';
	for (; *text && len + 4 < size; text++) {
		if (*text == '"' || *text == '\\')
			buf[len++] = '\\';
		buf[len++] = *text < ' ' && *text > 0 ? '?' : *text;
	}
	buf[len++] = '"';
	buf[len] = 0;
}

int tool_usage(const char *fmt, ...)
{
	char text[1000], shown[2010], object[40];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	object_name(object, sizeof(object));
	text_quote(text, shown, sizeof(shown));
	if (as_json())
		json_error("parser", object, -EINVAL, text);
	else
		error_put("parser", object, -EINVAL, shown);
	return EXIT_USAGE;
}

int tool_missing(const char *what)
{
	return tool_usage("%s", what);
}

int tool_no_command(const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (as_json())
		json_error("parser", NAME, -1, text);
	else
		fprintf(stderr, NAME ": %s\n", text);
	return EXIT_NO_COMMAND;
}

int tool_unknown(const char *word)
{
	return tool_no_command("'%s' is not a valid command. See '" NAME " --list-commands'.",
			       word);
}

int tool_no_node(const char *why)
{
	if (as_json())
		json_error("open", "node", -ECONNREFUSED, why);
	else
		fprintf(stderr, NAME ": %s\n", why);
	return EXIT_NO_NODE;
}

void tool_error_print(struct tool *t)
{
	const struct lnetctl_error *e = lnetctl_error(t->c);

	if (as_json())
		json_error(e->verb, e->object, e->err, e->text);
	else
		lnetctl_error_print(t->c, stderr);
}

static bool is_unconfigured(const struct lnetctl_error *e)
{
	if (e->err != -ENETDOWN && e->err != -ESHUTDOWN)
		return false;
	return strstr(e->text, "stack down") || strstr(e->text, "not configured");
}

/*
 * Does the caller lack permission? EPERM alone is not sufficient: a node also returns EPERM if the
 * request contradicts a peer's configuration.
 */
static bool is_not_permitted(const struct lnetctl_error *e)
{
	if (e->err == -EACCES)
		return true;
	return e->err == -EPERM && (strstr(e->text, "change this node") ||
				    !strcmp(e->text, strerror(EPERM)));
}

int tool_status(const struct tool *t, int otherwise)
{
	const struct lnetctl_error *e = lnetctl_error(t->c);

	switch (e->err) {
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -ETIMEDOUT:
		return EXIT_NO_NODE;
	}
	if (is_unconfigured(e))
		return EXIT_NO_NODE;
	return is_not_permitted(e) ? EXIT_NOT_PERMITTED : otherwise;
}
