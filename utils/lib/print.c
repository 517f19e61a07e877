/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Documents as text: YAML in the three layouts of stock's tools, and JSON. */
#include <stdlib.h>
#include <string.h>
#include <lnet/lnetctl.h>

struct layout {
	int step;	/* columns a nested mapping moves right */
	int seq;	/* columns the dash of a nested sequence moves right */
	int dash;	/* columns from the dash to its item */
};

static const struct layout layouts[] = {
	[LNETCTL_WIDE] = { 6, 0, 6 }, [LNETCTL_NARROW] = { 2, 0, 2 }, [LNETCTL_HAND] = { 4, 4, 2 },
};

/* The caller of lnetctl_print() has the lock of the stream, which a large document needs often. */
static void put(const char *text, FILE *out)
{
	fputs_unlocked(text, out);
}

static void indent(int columns, FILE *out)
{
	static const char spaces[] = "                                ";
	int max = sizeof(spaces) - 1;

	for (; columns > max; columns -= max)
		put(spaces, out);
	if (columns > 0)
		put(spaces + max - columns, out);
}

static bool is_collection(const struct lnetctl_node *n)
{
	return n->kind == LNETCTL_MAP || n->kind == LNETCTL_SEQ;
}

/* Values that the node sends ready-made with their quotes. */
static bool is_quoted(const char *text)
{
	size_t len = strlen(text);

	return len >= 2 && text[0] == '"' && text[len - 1] == '"';
}

/* May @text stand in YAML as it is? */
static bool is_plain(const char *text)
{
	size_t len = strlen(text);

	if (!len || strchr("-?:,[]{}#&*!|>'\"%@` ", text[0]) || text[len - 1] == ' ' ||
	    text[len - 1] == ':')
		return text[0] == '-' && len > 1 && text[1] != ' ' && !strpbrk(text, "#:");
	return !strstr(text, ": ") && !strstr(text, " #") && !strpbrk(text, "\n\t");
}

/* A number with decimals, as times are. */
static bool is_decimal(const char *text)
{
	size_t whole = strspn(text, "0123456789"), rest;

	if (!whole || text[whole] != '.')
		return false;
	rest = strspn(text + whole + 1, "0123456789");
	return rest && !text[whole + 1 + rest];
}

static void print_escaped(const char *text, FILE *out)
{
	putc_unlocked('"', out);
	for (; *text; text++) {
		unsigned char ch = (unsigned char)*text;

		if (ch == '"' || ch == '\\')
			fprintf(out, "\\%c", ch);
		else if (ch == '\n')
			put("\\n", out);
		else if (ch < ' ')
			fprintf(out, "\\u%04x", ch);
		else
			putc_unlocked(ch, out);
	}
	putc_unlocked('"', out);
}

static void print_single(const char *text, FILE *out)
{
	putc_unlocked('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			putc_unlocked('\'', out);
		putc_unlocked(*text, out);
	}
	putc_unlocked('\'', out);
}

static void yaml_scalar(const struct lnetctl_node *n, FILE *out)
{
	const char *text = n->text ? n->text : "";

	switch (n->quote) {
	case LNETCTL_TAG_DOUBLE:
		put("! ", out);
		/* fall through */
	case LNETCTL_DOUBLE:
		print_escaped(text, out);
		break;
	case LNETCTL_TAG_SINGLE:
		put("! ", out);
		/* fall through */
	case LNETCTL_SINGLE:
		print_single(text, out);
		break;
	default:
		if (n->kind != LNETCTL_TEXT || is_plain(text) || is_quoted(text))
			put(text, out);
		else
			print_single(text, out);
	}
}

static void yaml_children(const struct lnetctl_node *n, const struct layout *l, int col,
			  bool on_dash, FILE *out);

static void yaml_key(const struct lnetctl_node *n, const struct layout *l, int col, FILE *out)
{
	put(n->key, out);
	putc_unlocked(':', out);
	if (is_collection(n)) {
		putc_unlocked('\n', out);
		yaml_children(n, l, col + (n->kind == LNETCTL_SEQ ? l->seq : l->step), false, out);
		return;
	}
	if (n->kind != LNETCTL_NULL) {
		putc_unlocked(' ', out);
		yaml_scalar(n, out);
	}
	putc_unlocked('\n', out);
}

static void yaml_item(const struct lnetctl_node *n, const struct layout *l, int col, FILE *out)
{
	putc_unlocked('-', out);
	indent(l->dash - 1, out);
	if (is_collection(n)) {
		yaml_children(n, l, col + l->dash, true, out);
		return;
	}
	if (n->text)
		yaml_scalar(n, out);
	putc_unlocked('\n', out);
}

/* Each on a line of its own at column @col; @on_dash: the first continues the line. */
static void yaml_children(const struct lnetctl_node *n, const struct layout *l, int col,
			  bool on_dash, FILE *out)
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

static void json_value(const struct lnetctl_node *n, int col, FILE *out)
{
	const struct lnetctl_node *child;
	bool map = n->kind == LNETCTL_MAP;

	if (!is_collection(n)) {
		char *text = n->text ? n->text : "";
		size_t len = strlen(text);

		if (n->kind == LNETCTL_NULL)
			put("null", out);
		else if (n->kind == LNETCTL_TEXT && is_quoted(text))
			fprintf(out, "\"%.*s\"", (int)len - 2, text + 1);
		else if (n->kind == LNETCTL_TEXT && !is_decimal(text))
			print_escaped(text, out);
		else
			put(text, out);
		return;
	}
	put(map ? "{" : "[", out);
	for (child = n->first; child; child = child->next) {
		put(child == n->first ? "\n" : ",\n", out);
		indent(col + 2, out);
		if (map) {
			print_escaped(child->key, out);
			put(": ", out);
		}
		json_value(child, col + 2, out);
	}
	if (n->first) {
		putc_unlocked('\n', out);
		indent(col, out);
	}
	put(map ? "}" : "]", out);
}

void lnetctl_print(const struct lnetctl_node *doc, enum lnetctl_style style, FILE *out)
{
	flockfile(out);
	if (style == LNETCTL_JSON) {
		json_value(doc, 0, out);
		putc_unlocked('\n', out);
	} else {
		yaml_children(doc, &layouts[style], 0, false, out);
	}
	funlockfile(out);
}
