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
	putc('"', out);
	for (; *text; text++) {
		unsigned char ch = (unsigned char)*text;

		if (ch == '"' || ch == '\\')
			fprintf(out, "\\%c", ch);
		else if (ch == '\n')
			fputs("\\n", out);
		else if (ch < ' ')
			fprintf(out, "\\u%04x", ch);
		else
			putc(ch, out);
	}
	putc('"', out);
}

static void print_single(const char *text, FILE *out)
{
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			putc('\'', out);
		putc(*text, out);
	}
	putc('\'', out);
}

static void yaml_scalar(const struct lnetctl_node *n, FILE *out)
{
	const char *text = n->text ? n->text : "";

	switch (n->quote) {
	case LNETCTL_TAG_DOUBLE:
		fputs("! ", out);
		/* fall through */
	case LNETCTL_DOUBLE:
		print_escaped(text, out);
		break;
	case LNETCTL_TAG_SINGLE:
		fputs("! ", out);
		/* fall through */
	case LNETCTL_SINGLE:
		print_single(text, out);
		break;
	default:
		if (n->kind != LNETCTL_TEXT || is_plain(text) || is_quoted(text))
			fputs(text, out);
		else
			print_single(text, out);
	}
}

static void yaml_children(const struct lnetctl_node *n, const struct layout *l, int col,
			  bool on_dash, FILE *out);

static void yaml_key(const struct lnetctl_node *n, const struct layout *l, int col, FILE *out)
{
	fprintf(out, "%s:", n->key);
	if (is_collection(n)) {
		putc('\n', out);
		yaml_children(n, l, col + (n->kind == LNETCTL_SEQ ? l->seq : l->step), false, out);
		return;
	}
	if (n->kind != LNETCTL_NULL) {
		putc(' ', out);
		yaml_scalar(n, out);
	}
	putc('\n', out);
}

static void yaml_item(const struct lnetctl_node *n, const struct layout *l, int col, FILE *out)
{
	fprintf(out, "-%*s", l->dash - 1, "");
	if (is_collection(n)) {
		yaml_children(n, l, col + l->dash, true, out);
		return;
	}
	if (n->text)
		yaml_scalar(n, out);
	putc('\n', out);
}

/* Each on a line of its own at column @col; @on_dash: the first continues the line. */
static void yaml_children(const struct lnetctl_node *n, const struct layout *l, int col,
			  bool on_dash, FILE *out)
{
	const struct lnetctl_node *child;

	for (child = n->first; child; child = child->next) {
		if (!on_dash)
			fprintf(out, "%*s", col, "");
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
			fputs("null", out);
		else if (n->kind == LNETCTL_TEXT && is_quoted(text))
			fprintf(out, "\"%.*s\"", (int)len - 2, text + 1);
		else if (n->kind == LNETCTL_TEXT && !is_decimal(text))
			print_escaped(text, out);
		else
			fputs(text, out);
		return;
	}
	fputs(map ? "{" : "[", out);
	for (child = n->first; child; child = child->next) {
		fprintf(out, "%s\n%*s", child == n->first ? "" : ",", col + 2, "");
		if (map) {
			print_escaped(child->key, out);
			fputs(": ", out);
		}
		json_value(child, col + 2, out);
	}
	if (n->first)
		fprintf(out, "\n%*s", col, "");
	fputs(map ? "}" : "]", out);
}

void lnetctl_print(const struct lnetctl_node *doc, enum lnetctl_style style, FILE *out)
{
	if (style == LNETCTL_JSON) {
		json_value(doc, 0, out);
		putc('\n', out);
	} else {
		yaml_children(doc, &layouts[style], 0, false, out);
	}
}
