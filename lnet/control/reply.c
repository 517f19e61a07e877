/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replies: the key tables as data, and the sink that writes netlink messages to a flat buffer. The
 * platform sends this buffer, or uses its socket buffer as the flat buffer. This file also has the
 * items and texts that several commands write.
 */
#include "control/command.h"

/* ---- key tables and the walk that emits what a view holds ------------------------------------ */

#define NONE 0
#define MAPPING LNET_NL_MAPPING
#define SEQ_MAP (LNET_NL_SEQUENCE | LNET_NL_MAPPING)

#define TABLE(t) static const struct lnet_key t##_keys[] = {
#define KEY(t, text, kind, member, lvl, bak)							\
	{ .name = text, .type = LNET_NLT_##kind, .off = offsetof(struct lnet_view_##t, member),	\
	  .level = lvl, .backup = bak },
#define NEST(t, text, fmt, sub, member, lvl, bak)						\
	{ .name = text, .type = LNET_NLT_NESTED, .format = fmt, .child = sub,			\
	  .off = offsetof(struct lnet_view_##t, member), .level = lvl, .backup = bak },
#define HAND(t, text, kind, fmt)								\
	{ .name = text, .type = LNET_NLT_##kind, .format = fmt, .off = LNET_KEY_BY_HAND },
#define LIST(t, text, fmt, sub)									\
	{ .name = text, .type = LNET_NLT_NESTED, .format = fmt, .child = &lnet_table_##sub,	\
	  .off = LNET_KEY_BY_HAND },
#define MORE(t, text, fmt, sub)									\
	{ .name = text, .type = LNET_NLT_NESTED, .format = fmt, .child = &lnet_table_##sub,	\
	  .off = LNET_KEY_BY_HAND, .level = LNET_LEVEL_MORE },
#define END(t) }; const struct lnet_table lnet_table_##t = { t##_keys, ARRAY_SIZE(t##_keys) };
#include "control/control.def"

const struct lnet_table lnet_table_lnd_counters = { NULL, 0 };

const struct lnet_table *lnet_key_child(const struct lnet_key *k,
					const struct lnet_lnd_tables *lnd)
{
	if (k->child && k->child != &lnet_table_lnd_counters)
		return k->child;
	if (!lnd)
		return NULL;
	return k->child ? lnd->counters : lnd->tunables;
}

static void key_emit(struct lnet_sink *s, unsigned int idx, const struct lnet_key *k, const u8 *val)
{
	switch (k->type) {
	case LNET_NLT_STRING:
		if (*val)
			s->ops->str(s, idx, (const char *)val);
		break;
	case LNET_NLT_FLAG:
		if (*(const bool *)val)
			s->ops->num(s, idx, LNET_NLT_FLAG, 1);
		break;
	case LNET_NLT_U16:
		s->ops->num(s, idx, LNET_NLT_U16, *(const u16 *)val);
		break;
	case LNET_NLT_S16:
		s->ops->num(s, idx, LNET_NLT_S16, (u64)(s64)*(const s16 *)val);
		break;
	case LNET_NLT_U32:
		s->ops->num(s, idx, LNET_NLT_U32, *(const u32 *)val);
		break;
	case LNET_NLT_S32:
		s->ops->num(s, idx, LNET_NLT_S32, (u64)(s64)*(const s32 *)val);
		break;
	default:
		s->ops->num(s, idx, (enum lnet_nl_type)k->type, *(const u64 *)val);
	}
}

/*
 * Emits the mapping inside the key @idx. The recursion is as deep as the tables of control.def
 * nest.
 */
static void nest_emit(struct lnet_sink *s, unsigned int idx, const struct lnet_table *t,
		      const void *view, unsigned int level, bool backup)
{
	s->ops->open(s, LNET_OPEN_NEST, idx);
	s->ops->open(s, LNET_OPEN_ELEM, 0);
	lnet_table_emit(s, t, view, level, backup, NULL);
	s->ops->close(s);
	s->ops->close(s);
}

/*
 * Returns false if the reply omits the mapping @t. The mapping of interfaces is omitted if its
 * first text is empty. The mapping of preferred NIDs is also omitted below LNET_LEVEL_MORE, because
 * stock LNet does not have its keys.
 */
static bool mapping_is_present(const struct lnet_table *t, const u8 *val, unsigned int level)
{
	if (t == &lnet_table_pref)
		return *val && level >= LNET_LEVEL_MORE;
	return *val || t != &lnet_table_intf;
}

void lnet_table_emit(struct lnet_sink *s, const struct lnet_table *t, const void *view,
		     unsigned int level, bool backup, const struct lnet_lnd_tables *lnd)
{
	unsigned int i;

	for (i = 0; i < t->nr; i++) {
		const struct lnet_key *k = &t->keys[i];
		const u8 *val = (const u8 *)view + k->off;
		const struct lnet_table *child = lnet_key_child(k, lnd);

		if (k->off == LNET_KEY_BY_HAND || level < k->level || (backup && !k->backup))
			continue;
		if (k->type != LNET_NLT_NESTED)
			key_emit(s, i + 1, k, val);
		else if (child && mapping_is_present(k->child, val, level))
			nest_emit(s, i + 1, child, val, level, backup);
	}
}

/* ---- the sink -------------------------------------------------------------------------------- */

static struct lnet_nlw *nlw(struct lnet_sink *s)
{
	return container_of(s, struct lnet_nlw, sink);
}

static bool msg_end(struct lnet_nlw *w, u32 at)
{
	bool fits = !w->b.full;

	lnet_nlbuf_end(&w->b, at);
	w->b.full = false;
	return fits;
}

static void table_keys(struct lnet_nlw *w, const struct lnet_table *t,
		       const struct lnet_lnd_tables *lnd, bool again);

/*
 * Returns how many keys to list, at least one. Without @more, only the keys before the extensions
 * are listed.
 */
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
	u32 at = lnet_nlbuf_nest(&w->b, (u16)(i + 1));

	if (!i)
		lnet_nlbuf_u16(&w->b, LNET_NLA_LIST_SIZE, (u16)table_size(w, t));
	lnet_nlbuf_u16(&w->b, LNET_NLA_INDEX, (u16)(i + 1));
	lnet_nlbuf_text(&w->b, LNET_NLA_VALUE, name);
	if (k->format)
		lnet_nlbuf_u16(&w->b, LNET_NLA_KEY_FORMAT, k->format);
	lnet_nlbuf_u16(&w->b, LNET_NLA_TYPE, k->type);
	if (k->type == LNET_NLT_NESTED && child)
		table_keys(w, child, lnd, false);
	lnet_nlbuf_unnest(&w->b, at);
}

/* The recursion is as deep as the tables of control.def nest. */
static void table_keys(struct lnet_nlw *w, const struct lnet_table *t,
		       const struct lnet_lnd_tables *lnd, bool again)
{
	u32 at = lnet_nlbuf_nest(&w->b, LNET_NLA_LIST);
	unsigned int i;

	for (i = 0; i < table_size(w, t); i++)
		table_key(w, t, i, lnd, again);
	lnet_nlbuf_unnest(&w->b, at);
}

static bool sink_table(struct lnet_sink *s, const struct lnet_table *t,
		       const struct lnet_lnd_tables *lnd, enum lnet_turn turn)
{
	struct lnet_nlw *w = nlw(s);
	u16 replace = turn == LNET_TABLE_FIRST && !w->replaces ? 0 : LNET_NL_F_REPLACE;
	u32 at = lnet_nlbuf_begin(&w->b, w->b.type, LNET_NL_F_CREATE | LNET_NL_F_MULTI | replace);

	table_keys(w, t, lnd, turn == LNET_TABLE_AGAIN);
	return msg_end(w, at);
}

static void sink_open(struct lnet_sink *s, enum lnet_open what, unsigned int idx)
{
	struct lnet_nlw *w = nlw(s);
	u32 at;

	if (what == LNET_OPEN_ITEM || what == LNET_OPEN_MORE)
		at = lnet_nlbuf_begin(&w->b, w->b.type, LNET_NL_F_MULTI |
				      (what == LNET_OPEN_MORE ? LNET_NL_F_CONT : 0));
	else
		at = lnet_nlbuf_nest(&w->b, (u16)idx);
	if (!WARN_ON_ONCE(w->depth == ARRAY_SIZE(w->open)))
		w->open[w->depth++] = at;
}

static bool sink_close(struct lnet_sink *s)
{
	struct lnet_nlw *w = nlw(s);
	u32 at = w->open[--w->depth];

	if (!w->depth) {
		if (!msg_end(w, at))
			return false;
		w->tables_at = w->b.len;
		return true;
	}
	lnet_nlbuf_unnest(&w->b, at);
	if (w->b.full)
		w->b.len = at;
	return !w->b.full;
}

static void sink_resume(struct lnet_sink *s)
{
	nlw(s)->b.full = false;
}

static void sink_num(struct lnet_sink *s, unsigned int idx, enum lnet_nl_type type, u64 val)
{
	struct lnet_nlw *w = nlw(s);
	u32 val32 = (u32)val;
	u16 val16 = (u16)val;

	switch (type) {
	case LNET_NLT_FLAG:
		lnet_nlbuf_attr(&w->b, (u16)idx, NULL, 0);
		break;
	case LNET_NLT_U16:
	case LNET_NLT_S16:
		lnet_nlbuf_attr(&w->b, (u16)idx, &val16, sizeof(val16));
		break;
	case LNET_NLT_U32:
	case LNET_NLT_S32:
		lnet_nlbuf_attr(&w->b, (u16)idx, &val32, sizeof(val32));
		break;
	default:
		lnet_nlbuf_attr(&w->b, (u16)idx, &val, sizeof(val));
	}
}

static void sink_str(struct lnet_sink *s, unsigned int idx, const char *text)
{
	lnet_nlbuf_text(&nlw(s)->b, (u16)idx, text);
}

static const struct lnet_sink_ops nlw_ops = {
	.table = sink_table, .open = sink_open, .close = sink_close,
	.resume = sink_resume, .num = sink_num, .str = sink_str,
};

void lnet_nlw_init(struct lnet_nlw *w, void *buf, u32 size, u16 type, u8 cmd, u32 portid, u32 seq)
{
	memset(w, 0, sizeof(*w));
	w->sink.ops = &nlw_ops;
	w->b.buf = buf;
	w->b.size = size & ~3u;
	w->b.type = type;
	w->b.cmd = cmd;
	w->b.version = LNET_NL_VERSION;
	w->b.portid = portid;
	w->b.seq = seq;
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
	u8 *at = lnet_nlbuf_put(&w->b, len);

	if (at)
		memcpy(at, msgs, len);
	else
		w->b.full = false;
	return at;
}

/* ---- items that commands share --------------------------------------------------------------- */

bool lnet_ctl_table(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct lnet_table *t)
{
	if (!d->table)
		d->table = s->ops->table(s, t, NULL, LNET_TABLE_FIRST);
	return d->table;
}

void lnet_ctl_item(struct lnet_ctl_dump *d, struct lnet_sink *s)
{
	s->ops->open(s, d->sub ? LNET_OPEN_MORE : LNET_OPEN_ITEM, 0);
	if (!d->head)
		s->ops->str(s, 1, "");
}

bool lnet_ctl_item_end(struct lnet_ctl_dump *d, struct lnet_sink *s)
{
	if (!s->ops->close(s))
		return false;
	d->head = true;
	return true;
}

bool lnet_ctl_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct lnet_table *t,
		   const void *view)
{
	if (!lnet_ctl_table(d, s, t))
		return false;
	lnet_ctl_item(d, s);
	lnet_table_emit(s, t, view, d->level, d->backup, NULL);
	return lnet_ctl_item_end(d, s);
}

bool lnet_ctl_list(struct lnet_ctl_dump *d, struct lnet_sink *s, unsigned int idx,
		   bool (*elem)(struct lnet_ctl_dump *d, struct lnet_sink *s, void *arg),
		   void *arg)
{
	u32 first = d->sub;
	bool fits = true;

	s->ops->open(s, LNET_OPEN_NEST, idx);
	while (fits && elem(d, s, arg)) {
		fits = s->ops->close(s);
		if (fits)
			d->sub++;
		else if (d->sub > first)
			s->ops->resume(s);
	}
	s->ops->close(s);
	if (lnet_ctl_item_end(d, s))
		return fits;
	d->sub = first;
	return false;
}

static const struct {
	int err;
	const char *text;
} whys[] = {
	{ -ENOENT, "not found" },
	{ -EEXIST, "already exists" },
	{ -ENOSPC, "more interfaces than allowed (see max_interfaces)" },
	{ -EINVAL, "not a valid value" },
	{ -EADDRINUSE,
	  "address and port are in use (another node of this machine? see accept_port)" },
	{ -EADDRNOTAVAIL, "the address is not on this machine" },
	{ -ENODEV, "no such interface" },
	{ -ENXIO, "net not found" },
	{ -EACCES, "ports below 1024 need root or CAP_NET_BIND_SERVICE; or set accept_port "
		   "to 1024 or more" },
	{ -ENETDOWN, "the interface is down" },
	{ -ENOMEM, "out of memory" },
	{ -ENOBUFS, "out of memory" },
	{ -ERANGE, "out of range" },
	{ -ESHUTDOWN, "the node is stopping" },
	{ -ENETUNREACH, "network unreachable" },
	{ -EHOSTUNREACH, "no interface of this node is on the net" },
	{ -EMFILE, "too many open files" },
	{ -ENFILE, "too many open files on this machine" },
	{ -EPERM, "not permitted" },
	{ -EBUSY, "in use" },
	{ -EALREADY, "already exists" },
	{ -ENOTUNIQ, "a peer that is not multi-rail can have only one NID on a net" },
	{ -EUSERS, "a route uses the net or the NID: delete the route first" },
	{ -ESTALE, "another client has changed the configuration" },
	{ -EOPNOTSUPP, "this node does not support the request" },
	{ -EAFNOSUPPORT, "this machine does not support the address family" },
	{ -EPROTONOSUPPORT, "this machine does not support the protocol" },
	{ -ENAMETOOLONG, "the name is too long" },
	{ -EMSGSIZE, "too long for a message" },
	{ -E2BIG, "more than allowed" },
	{ -ENOMSG, "the request is empty" },
	{ -ETIMEDOUT, "no reply in time" },
	{ -EAGAIN, "not now: try again" },
	{ -EINTR, "interrupted" },
	{ -EIO, "input or output failed" },
	{ -EFAULT, "the buffer cannot be read or written" },
	{ -EROFS, "the file system is read-only" },
	{ -EINPROGRESS, "not finished yet" },
	{ -ENODATA, "no data" },
	{ -ESRCH, "not found" },
	{ -ECANCELED, "cancelled" },
	{ -EPROTO, "the message is malformed" },
	{ -ECONNRESET, "the connection was reset" },
	{ -ECONNREFUSED, "the connection was refused" },
	{ -EDEADLK, "not permitted in a handler" },
	{ -ENOSYS, "this node does not support the request" },
};

const char *lnet_ctl_why(int err)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(whys); i++)
		if (whys[i].err == err)
			return whys[i].text;
	return "the cause is unknown";
}
