/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink that writes netlink messages into a flat buffer; the platform sends it, or writes into
 * its socket buffer directly.
 */
#include "control.h"

#define NLMSG_HDR	16u
#define GENL_HDR	4u
#define ALIGN4(n)	(((n) + 3u) & ~3u)

static struct lnet_nlw *nlw(struct lnet_sink *s)
{
	return container_of(s, struct lnet_nlw, sink);
}

/* @len bytes at the end, or NULL and full. Aligned, and the padding zeroed. */
static u8 *nlw_put(struct lnet_nlw *w, u32 len)
{
	u8 *at = w->buf + w->len;

	if (w->full || ALIGN4(len) > w->size - w->len) {
		w->full = true;
		return NULL;
	}
	memset(at, 0, ALIGN4(len));
	w->len += ALIGN4(len);
	return at;
}

static void nlw_attr(struct lnet_nlw *w, u16 type, const void *data, u32 len)
{
	u16 total = (u16)(len + LNET_NL_ATTR_HDR);
	u8 *at = nlw_put(w, total);

	if (!at)
		return;
	memcpy(at, &total, 2);
	memcpy(at + 2, &type, 2);
	if (len)
		memcpy(at + LNET_NL_ATTR_HDR, data, len);
}

static void nlw_u16(struct lnet_nlw *w, u16 type, u16 val)
{
	nlw_attr(w, type, &val, sizeof(val));
}

static u32 nest_begin(struct lnet_nlw *w, u16 type)
{
	u32 at = w->len;

	nlw_attr(w, (u16)(type | LNET_NL_NESTED), NULL, 0);
	return at;
}

/* A nest longer than its 16-bit length can say counts as full. */
static void nest_end(struct lnet_nlw *w, u32 at)
{
	u16 len = (u16)(w->len - at);

	if (w->len - at > 0xfffc)
		w->full = true;
	if (!w->full)
		memcpy(w->buf + at, &len, 2);
}

static u32 msg_begin(struct lnet_nlw *w, u16 flags)
{
	u32 at = w->len;
	u8 *hdr = nlw_put(w, NLMSG_HDR + GENL_HDR);

	if (!hdr)
		return at;
	memcpy(hdr + 4, &w->type, 2);
	memcpy(hdr + 6, &flags, 2);
	memcpy(hdr + 8, &w->seq, 4);
	memcpy(hdr + 12, &w->portid, 4);
	hdr[16] = w->cmd;
	hdr[17] = LNET_NL_VERSION;
	return at;
}

static bool msg_end(struct lnet_nlw *w, u32 at)
{
	u32 len = w->len - at;

	if (w->full) {
		w->len = at;
		w->full = false;
		return false;
	}
	memcpy(w->buf + at, &len, 4);
	return true;
}

static bool value_end(struct lnet_nlw *w, u32 at)
{
	bool fits = msg_end(w, at);

	if (fits)
		w->tables_at = w->len;
	return fits;
}

static void table_keys(struct lnet_nlw *w, const struct lnet_table *t,
		       const struct lnet_lnd_tables *lnd, bool again);

/* Without the keys behind the stock node's, or with them. A table may also be all ours. */
static unsigned int table_size(const struct lnet_nlw *w, const struct lnet_table *t)
{
	unsigned int nr = t->nr;

	while (!w->sink.more && nr > 1 && t->keys[nr - 1].level >= LNET_LEVEL_MORE)
		nr--;
	return nr;
}

static void table_key(struct lnet_nlw *w, const struct lnet_table *t, unsigned int i,
		      const struct lnet_lnd_tables *lnd, bool again)
{
	const struct lnet_key *k = &t->keys[i];
	const struct lnet_table *child = lnet_key_child(k, lnd);
	const char *name = again && !i ? "" : k->name;
	u32 at = nest_begin(w, (u16)(i + 1));

	if (!i)
		nlw_u16(w, LNET_NLA_LIST_SIZE, (u16)table_size(w, t));
	nlw_u16(w, LNET_NLA_INDEX, (u16)(i + 1));
	nlw_attr(w, LNET_NLA_VALUE, name, (u32)strlen(name) + 1);
	if (k->format)
		nlw_u16(w, LNET_NLA_KEY_FORMAT, k->format);
	nlw_u16(w, LNET_NLA_TYPE, k->type);
	if (k->type == LNET_NLT_NESTED && child)
		table_keys(w, child, lnd, false);
	nest_end(w, at);
}

/* Recursion as deep as control.def nests. */
static void table_keys(struct lnet_nlw *w, const struct lnet_table *t,
		       const struct lnet_lnd_tables *lnd, bool again)
{
	u32 at = nest_begin(w, LNET_NLA_LIST);
	unsigned int i;

	for (i = 0; i < table_size(w, t); i++)
		table_key(w, t, i, lnd, again);
	nest_end(w, at);
}

static bool sink_table(struct lnet_sink *s, const struct lnet_table *t,
		       const struct lnet_lnd_tables *lnd, enum lnet_turn turn)
{
	struct lnet_nlw *w = nlw(s);
	u16 replace = turn == LNET_TABLE_FIRST && !w->replaces ? 0 : LNET_NL_F_REPLACE;
	u32 at = msg_begin(w, LNET_NL_F_CREATE | LNET_NL_F_MULTI | replace);

	table_keys(w, t, lnd, turn == LNET_TABLE_AGAIN);
	return msg_end(w, at);
}

static void sink_open(struct lnet_sink *s, enum lnet_open what, unsigned int idx)
{
	struct lnet_nlw *w = nlw(s);
	u32 at;

	if (what == LNET_OPEN_ITEM || what == LNET_OPEN_MORE)
		at = msg_begin(w, LNET_NL_F_MULTI | (what == LNET_OPEN_MORE ? LNET_NL_F_CONT : 0));
	else
		at = nest_begin(w, (u16)idx);
	if (!WARN_ON_ONCE(w->depth == ARRAY_SIZE(w->open)))
		w->open[w->depth++] = at;
}

static bool sink_close(struct lnet_sink *s)
{
	struct lnet_nlw *w = nlw(s);
	u32 at = w->open[--w->depth];

	if (!w->depth)
		return value_end(w, at);
	nest_end(w, at);
	if (w->full)
		w->len = at;
	return !w->full;
}

static void sink_resume(struct lnet_sink *s)
{
	nlw(s)->full = false;
}

static void sink_num(struct lnet_sink *s, unsigned int idx, enum lnet_nl_type type, u64 val)
{
	struct lnet_nlw *w = nlw(s);
	u32 val32 = (u32)val;
	u16 val16 = (u16)val;

	switch (type) {
	case LNET_NLT_FLAG:
		nlw_attr(w, (u16)idx, NULL, 0);
		break;
	case LNET_NLT_U16:
	case LNET_NLT_S16:
		nlw_attr(w, (u16)idx, &val16, sizeof(val16));
		break;
	case LNET_NLT_U32:
	case LNET_NLT_S32:
		nlw_attr(w, (u16)idx, &val32, sizeof(val32));
		break;
	default:
		nlw_attr(w, (u16)idx, &val, sizeof(val));
	}
}

static void sink_str(struct lnet_sink *s, unsigned int idx, const char *text)
{
	nlw_attr(nlw(s), (u16)idx, text, (u32)strlen(text) + 1);
}

static const struct lnet_sink_ops nlw_ops = {
	.table = sink_table, .open = sink_open, .close = sink_close,
	.resume = sink_resume, .num = sink_num, .str = sink_str,
};

void lnet_nlw_init(struct lnet_nlw *w, void *buf, u32 size, u16 type, u8 cmd, u32 portid, u32 seq)
{
	memset(w, 0, sizeof(*w));
	w->sink.ops = &nlw_ops;
	w->buf = buf;
	w->size = size & ~3u;
	w->type = type;
	w->cmd = cmd;
	w->portid = portid;
	w->seq = seq;
}

void lnet_nlw_comment(struct lnet_nlw *w)
{
	static const struct lnet_key head = { .name = "#", .type = LNET_NLT_NUL_STRING,
					      .format = LNET_NL_MAPPING };
	static const struct lnet_table comment = { &head, 1 };

	sink_table(&w->sink, &comment, NULL, LNET_TABLE_FIRST);
	sink_open(&w->sink, LNET_OPEN_ITEM, 0);
	sink_str(&w->sink, 1, "");
	sink_close(&w->sink);
}

bool lnet_nlw_put(struct lnet_nlw *w, const void *msgs, u32 len)
{
	u8 *at = nlw_put(w, len);

	if (at)
		memcpy(at, msgs, len);
	else
		w->full = false;
	return at;
}
