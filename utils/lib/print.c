/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes documents as text: YAML in the three layouts of stock's tools, and JSON. */
#include <stdlib.h>
#include <string.h>
#include "client.h"

struct layout {
	int step;	/* indentation of a nested mapping, in columns */
	int seq;	/* indentation of the dash of a nested sequence, in columns */
	int dash;	/* columns from the dash of an item to its text */
};

static const struct layout layouts[] = {
	[LNETCTL_WIDE] = { 6, 0, 6 }, [LNETCTL_NARROW] = { 2, 0, 2 }, [LNETCTL_HAND] = { 4, 4, 2 },
};

/*
 * Collects output before it is written to the stream, because a large reply has a million small
 * pieces.
 */
struct printer {
	FILE *to;
	size_t len;
	char buf[16384];
};

static void printer_flush(struct printer *out)
{
	fwrite(out->buf, 1, out->len, out->to);
	out->len = 0;
}

static void put_bytes(struct printer *out, const char *text, size_t len)
{
	if (len > sizeof(out->buf) - out->len)
		printer_flush(out);
	if (len > sizeof(out->buf)) {
		fwrite(text, 1, len, out->to);
		return;
	}
	memcpy(out->buf + out->len, text, len);
	out->len += len;
}

static void printer_append(const char *text, struct printer *out)
{
	put_bytes(out, text, strlen(text));
}

static void put_char(char ch, struct printer *out)
{
	if (out->len == sizeof(out->buf))
		printer_flush(out);
	out->buf[out->len++] = ch;
}

static void indent(int columns, struct printer *out)
{
	static const char spaces[] = "                                ";
	int max = sizeof(spaces) - 1;

	for (; columns > max; columns -= max)
		put_bytes(out, spaces, max);
	if (columns > 0)
		put_bytes(out, spaces, columns);
}

static bool is_collection(const struct lnetctl_node *n)
{
	return n->kind == LNETCTL_MAP || n->kind == LNETCTL_SEQ;
}

/* Is @text a list of numbers? The node sends such lists with quotes. */
static bool is_quoted(const char *text)
{
	size_t inner;

	if (text[0] != '"' || text[1] != '[')
		return false;
	inner = 2 + strspn(text + 2, "0123456789,- ");
	return !strcmp(text + inner, "]\"");
}

/* May @text be written without quotes in YAML? */
static bool text_is_plain(const char *text)
{
	size_t len = strlen(text);

	if (!len || strchr("-?:,[]{}#&*!|>'\"%@` ", text[0]) || text[len - 1] == ' ' ||
	    text[len - 1] == ':')
		return text[0] == '-' && len > 1 && text[1] != ' ' && !strpbrk(text, "#:") &&
		       yaml_kind(text) == LNETCTL_TEXT;
	return !strstr(text, ": ") && !strstr(text, " #") && strncmp(text, "0x", 2) &&
	       yaml_kind(text) == LNETCTL_TEXT;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

/* Is @text a number with decimals, such as a time? */
static bool is_decimal(const char *text)
{
	size_t whole = strspn(text, "0123456789"), rest;

	if (!whole || text[whole] != '.')
		return false;
	rest = strspn(text + whole + 1, "0123456789");
	return rest && !text[whole + 1 + rest];
}

static void put_control(unsigned char ch, struct printer *out)
{
	char text[8];

	snprintf(text, sizeof(text), "\\u%04x", ch);
	printer_append(text, out);
}

static void print_escaped(const char *text, struct printer *out)
{
	put_char('"', out);
	for (; *text; text++) {
		unsigned char ch = (unsigned char)*text;

		if (ch == '"' || ch == '\\') {
			put_char('\\', out);
			put_char((char)ch, out);
		} else if (ch == '\n')
			printer_append("\\n", out);
		else if (ch < ' ' || ch == 0x7f)
			put_control(ch, out);
		else
			put_char(ch, out);
	}
	put_char('"', out);
}

static void print_single(const char *text, struct printer *out)
{
	put_char('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			put_char('\'', out);
		put_char(*text, out);
	}
	put_char('\'', out);
}

static void yaml_scalar(const struct lnetctl_node *n, struct printer *out)
{
	const char *text = n->text ? n->text : "";

	switch (n->quote) {
	case LNETCTL_TAG_DOUBLE:
		printer_append("! ", out);
		/* fall through */
	case LNETCTL_DOUBLE:
		print_escaped(text, out);
		break;
	case LNETCTL_TAG_SINGLE:
		printer_append("! ", out);
		/* fall through */
	case LNETCTL_SINGLE:
		print_single(text, out);
		break;
	default:
		if (n->kind != LNETCTL_TEXT)
			printer_append(text, out);
		else if (has_control(text))
			print_escaped(text, out);
		else if (text_is_plain(text) || is_quoted(text))
			printer_append(text, out);
		else
			print_single(text, out);
	}
}

static void yaml_children(const struct lnetctl_node *n, const struct layout *l, int col,
			  bool on_dash, struct printer *out);

static void yaml_key(const struct lnetctl_node *n, const struct layout *l, int col,
		     struct printer *out)
{
	printer_append(n->key, out);
	put_char(':', out);
	if (is_collection(n)) {
		put_char('\n', out);
		yaml_children(n, l, col + (n->kind == LNETCTL_SEQ ? l->seq : l->step), false, out);
		return;
	}
	if (n->kind != LNETCTL_NULL) {
		put_char(' ', out);
		yaml_scalar(n, out);
	}
	put_char('\n', out);
}

static void yaml_item(const struct lnetctl_node *n, const struct layout *l, int col,
		      struct printer *out)
{
	put_char('-', out);
	indent(l->dash - 1, out);
	if (is_collection(n)) {
		yaml_children(n, l, col + l->dash, true, out);
		return;
	}
	if (n->text)
		yaml_scalar(n, out);
	put_char('\n', out);
}

/*
 * Prints each child on a separate line at column @col. With @on_dash, the first child continues the
 * current line.
 */
static void yaml_children(const struct lnetctl_node *n, const struct layout *l, int col,
			  bool on_dash, struct printer *out)
{
	const struct lnetctl_node *child;

	for (child = n->first; child; child = child->next) {
		if (!on_dash)
			indent(col, out);
		on_dash = false;
		if (n->kind == LNETCTL_SEQ)
			yaml_item(child, l, col, out);
		else
			yaml_key(child, l, col, out);
	}
}

static void json_value(const struct lnetctl_node *n, int col, struct printer *out)
{
	const struct lnetctl_node *child;
	bool map = n->kind == LNETCTL_MAP;

	if (!is_collection(n)) {
		char *text = n->text ? n->text : "";
		size_t len = strlen(text);

		if (n->kind == LNETCTL_NULL)
			printer_append("null", out);
		else if (n->kind == LNETCTL_TEXT && is_quoted(text))
			put_bytes(out, text, len);
		else if (n->kind == LNETCTL_TEXT && !is_decimal(text))
			print_escaped(text, out);
		else
			printer_append(text, out);
		return;
	}
	printer_append(map ? "{" : "[", out);
	for (child = n->first; child; child = child->next) {
		printer_append(child == n->first ? "\n" : ",\n", out);
		indent(col + 2, out);
		if (map) {
			print_escaped(child->key, out);
			printer_append(": ", out);
		}
		json_value(child, col + 2, out);
	}
	if (n->first) {
		put_char('\n', out);
		indent(col, out);
	}
	printer_append(map ? "}" : "]", out);
}

void lnetctl_print(const struct lnetctl_node *doc, enum lnetctl_style style, FILE *to)
{
	struct printer out;

	out.to = to;
	out.len = 0;
	if (style == LNETCTL_JSON) {
		json_value(doc, 0, &out);
		put_char('\n', &out);
	} else {
		yaml_children(doc, &layouts[style], 0, false, &out);
	}
	printer_flush(&out);
}
