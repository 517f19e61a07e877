/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The netlink family of stock's lst: reads requests, writes messages in the format of lnet_nl.h. */
#include <lnet/nid.h>
#include "stock.h"

#define NL_DONE		3U
#define TYPE_MASK	0x3fffU
#define DEPTH_MAX	6U

/* ---- requests -------------------------------------------------------------------------------- */

struct attr {
	u16 type;
	const u8 *data;
	u32 len;
	const u8 *next;
};

/* False: no further attribute. */
static bool stock_attr_read(struct attr *a, const u8 *at, const u8 *end)
{
	u16 len, type;

	if (end - at < (ptrdiff_t)LNET_NL_ATTR_HDR)
		return false;
	memcpy(&len, at, 2);
	memcpy(&type, at + 2, 2);
	if (len < LNET_NL_ATTR_HDR || len > end - at)
		return false;
	a->type = type & TYPE_MASK;
	a->data = at + LNET_NL_ATTR_HDR;
	a->len = len - LNET_NL_ATTR_HDR;
	a->next = at + min_t(u32, LNET_NL_ALIGN(len), (u32)(end - at));
	return true;
}

/*
 * Reads a scalar as text of at most LST_NAME - 1 bytes. The tool sends a word of digits as a
 * number.
 */
static bool attr_text(const struct attr *a, char text[LST_NAME])
{
	s64 num;

	if (a->type == LNET_NLA_INT_VALUE && a->len == sizeof(num)) {
		memcpy(&num, a->data, sizeof(num));
		snprintf(text, LST_NAME, "%lld", (long long)num);
		return true;
	}
	if (a->type != LNET_NLA_VALUE || !a->len || a->len > LST_NAME || a->data[a->len - 1])
		return false;
	memcpy(text, a->data, a->len);
	return true;
}

/*
 * Is @text a value of the YAML document? Empty text is not a value. Text that begins with "..."
 * marks the end of the document, and is not a value.
 */
static bool is_value(const char *text)
{
	return text[0] && strncmp(text, "...", 3);
}

static int new_pair(struct lst_stock_new *req, const char *key, const char *value)
{
	long long num;

	if (!strcmp(key, "name"))
		strscpy(req->name, value, LST_NAME);
	if (strcmp(key, "timeout"))
		return 0;
	if (kstrtoll(value, 10, &num) || num <= 0 || num > S32_MAX)
		return -EINVAL;
	req->timeout = num;
	return 0;
}

static int new_read(struct lst_stock_new *req, const u8 *at, const u8 *end, u32 depth)
{
	char key[LST_NAME] = "", value[LST_NAME];
	struct attr a;
	int rc = 0;

	for (; !rc && stock_attr_read(&a, at, end); at = a.next) {
		if (a.type == LNET_NLA_LIST && depth < DEPTH_MAX) {
			rc = new_read(req, a.data, a.data + a.len, depth + 1);
			key[0] = 0;
		} else if (!attr_text(&a, value)) {
			rc = -EINVAL;
		} else if (key[0]) {
			rc = new_pair(req, key, value);
			key[0] = 0;
		} else if (is_value(value)) {
			strscpy(key, value, sizeof(key));
		}
	}
	return rc;
}

int lst_stock_nl_new(struct lst_stock_new *req, const u8 *attrs, u32 len)
{
	int rc;

	memset(req, 0, sizeof(*req));
	rc = new_read(req, attrs, attrs + len, 0);
	return rc ? rc : req->name[0] ? 0 : -EINVAL;
}

struct groups_reader {
	struct lst_stock_filter *filter;
	u32 nr;
	bool is_status;			/* the next scalar is the value of "status" */
};

static const struct {
	const char *text;
	u32 state;
} states[] = {
#define UNIT(name)
#define NODE(name, number, text)	{ text, number },
#define BATCH(name, text)
#include "states.def"
#undef UNIT
#undef NODE
#undef BATCH
};

static u32 state_parse(const char *text)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (!strcmp(states[i].text, text))
			return states[i].state;
	return 0;
}

static const char *state_text(u32 state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i].state == state)
			return states[i].text;
	return "Unknown";
}

/* Reads a scalar: the name of a group, or the value of its key "status". */
static int groups_scalar(struct groups_reader *g, const char *text)
{
	u32 state;

	if (g->is_status) {
		g->is_status = false;
		state = state_parse(text);
		g->filter[g->nr - 1].states |= state;
		return state ? 0 : -EINVAL;
	}
	if (!is_value(text))
		return 0;
	if (!strcmp(text, "status") && g->nr) {
		g->is_status = true;
		return 0;
	}
	if (g->nr == LST_STOCK_FILTERS_MAX)
		return -E2BIG;
	memset(&g->filter[g->nr], 0, sizeof(g->filter[g->nr]));
	strscpy(g->filter[g->nr++].name, text, LST_NAME);
	return 0;
}

static int groups_read(struct groups_reader *g, const u8 *at, const u8 *end, u32 depth)
{
	char text[LST_NAME];
	struct attr a;
	int rc = 0;

	for (; !rc && stock_attr_read(&a, at, end); at = a.next) {
		if (a.type == LNET_NLA_LIST && depth < DEPTH_MAX)
			rc = groups_read(g, a.data, a.data + a.len, depth + 1);
		else if (attr_text(&a, text))
			rc = groups_scalar(g, text);
		else
			rc = -EINVAL;
	}
	return rc;
}

int lst_stock_nl_groups(struct lst_stock_filter *filter, const u8 *attrs, u32 len)
{
	struct groups_reader g = { .filter = filter };
	int rc = groups_read(&g, attrs, attrs + len, 0);

	return rc ? rc : (int)g.nr;
}

/* ---- messages -------------------------------------------------------------------------------- */

struct nl_key {
	const char *name;		/* "": a value without a key */
	u16 type, format;
	const struct nl_key *child;	/* of NESTED */
	u16 nr_child;
};

/* Writes a table, which may contain tables. There is no third level. */
static void table_put(struct lnet_nlbuf *w, const struct nl_key *key, u16 nr)
{
	u32 list = lnet_nlbuf_nest(w, LNET_NLA_LIST), at;
	u16 i;

	for (i = 0; i < nr; i++, key++) {
		at = lnet_nlbuf_nest(w, (u16)(i + 1));
		if (!i)
			lnet_nlbuf_u16(w, LNET_NLA_LIST_SIZE, nr);
		lnet_nlbuf_u16(w, LNET_NLA_INDEX, (u16)(i + 1));
		if (key->name[0])
			lnet_nlbuf_text(w, LNET_NLA_VALUE, key->name);
		if (key->format)
			lnet_nlbuf_u16(w, LNET_NLA_KEY_FORMAT, key->format);
		lnet_nlbuf_u16(w, LNET_NLA_TYPE, key->type);
		if (key->child)
			table_put(w, key->child, key->nr_child);
		lnet_nlbuf_unnest(w, at);
	}
	lnet_nlbuf_unnest(w, list);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static const struct nl_key session_keys[] = {
	{ "session", LNET_NLT_NUL_STRING, LNET_NL_MAPPING, NULL, 0 },
	{ "name", LNET_NLT_STRING, 0, NULL, 0 },
	{ "key", LNET_NLT_U32, 0, NULL, 0 },
	{ "timestamp", LNET_NLT_S64, 0, NULL, 0 },
	{ "nid", LNET_NLT_STRING, 0, NULL, 0 },
	{ "nodes", LNET_NLT_U16, 0, NULL, 0 },
};

void lst_stock_nl_session(struct lnet_nlbuf *w, const struct lst_view_session *s)
{
	char text[LNET_NIDSTR_SIZE];
	struct lnet_nid nid;
	u32 at = lnet_nlbuf_begin(w, w->type, LNET_NL_F_CREATE | LNET_NL_F_MULTI);

	table_put(w, session_keys, ARRAY_SIZE(session_keys));
	lnet_nlbuf_end(w, at);
	lnet_nid_from_nid4(&nid, s->sid.nid);
	at = lnet_nlbuf_begin(w, w->type, LNET_NL_F_MULTI);
	lnet_nlbuf_text(w, 1, "");
	lnet_nlbuf_text(w, 2, s->name);
	lnet_nlbuf_attr(w, 3, &s->key, sizeof(s->key));
	lnet_nlbuf_attr(w, 4, &s->sid.stamp, sizeof(s->sid.stamp));
	lnet_nlbuf_text(w, 5, lnet_nid_str(&nid, text));
	lnet_nlbuf_u16(w, 6, (u16)min_t(u32, s->nr_nodes, U16_MAX));
	lnet_nlbuf_end(w, at);
}

void lst_stock_nl_done(struct lnet_nlbuf *w)
{
	u32 at = lnet_nlbuf_begin(w, NL_DONE, LNET_NL_F_MULTI);

	/*
	 * The word after the first header is the result, 0. In other messages a second header
	 * begins there.
	 */
	if (!w->full)
		memset(w->buf + w->len - 4, 0, 4);
	lnet_nlbuf_end(w, at);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static const struct nl_key node_keys[] = {
	{ "nid", LNET_NLT_STRING, 0, NULL, 0 },
	{ "status", LNET_NLT_STRING, 0, NULL, 0 },
};
static const struct nl_key group_keys[] = {
	{ "groups", LNET_NLT_NUL_STRING, LNET_NL_SEQUENCE, NULL, 0 },
	{ "", LNET_NLT_STRING, 0, NULL, 0 },
	{ "", LNET_NLT_NESTED, LNET_NL_SEQUENCE | LNET_NL_MAPPING, node_keys,
	  ARRAY_SIZE(node_keys) },
};

void lst_stock_nl_group_table(struct lnet_nlbuf *w)
{
	u32 at = lnet_nlbuf_begin(w, w->type, LNET_NL_F_CREATE | LNET_NL_F_MULTI);

	table_put(w, group_keys, ARRAY_SIZE(group_keys));
	lnet_nlbuf_end(w, at);
}

static void node_encode(struct lnet_nlbuf *w, u16 index, const struct lst_view_node *node)
{
	char id[LNET_NIDSTR_SIZE + 16];
	u32 at = lnet_nlbuf_nest(w, index);

	lnet_nlbuf_text(w, 1, lnet_id_str(node->id.pid, &node->id.nid, id));
	lnet_nlbuf_text(w, 2, state_text(node->state));
	lnet_nlbuf_unnest(w, at);
}

void lst_stock_nl_group(struct lnet_nlbuf *w, const struct lst_view_group *group,
			const struct lst_view_node *nodes, u32 states, bool first)
{
	u32 at = lnet_nlbuf_begin(w, w->type, LNET_NL_F_MULTI), list, i;
	u16 index = 1;

	if (first)
		lnet_nlbuf_text(w, 1, "");
	lnet_nlbuf_text(w, 2, group->name);
	if (nodes) {
		list = lnet_nlbuf_nest(w, 3);
		for (i = 0; i < group->nr; i++)
			if (!states || nodes[i].state & states)
				node_encode(w, index++, &nodes[i]);
		lnet_nlbuf_unnest(w, list);
	}
	lnet_nlbuf_end(w, at);
}
