/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The key tables as data, and the walk that emits what a view holds. */
#include "control/control.h"

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

static u64 key_number(const struct lnet_key *k, const u8 *val)
{
	switch (k->type) {
	case LNET_NLT_U16:
		return *(const u16 *)val;
	case LNET_NLT_S16:
		return (u64)(s64)*(const s16 *)val;
	case LNET_NLT_U32:
		return *(const u32 *)val;
	case LNET_NLT_S32:
		return (u64)(s64)*(const s32 *)val;
	default:
		return *(const u64 *)val;
	}
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
	default:
		s->ops->num(s, idx, (enum lnet_nl_type)k->type, key_number(k, val));
	}
}

/*
 * The mapping inside key @idx. A function of its own so that the walk reads as one level; nesting
 * is as deep as control.def.
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
 * A mapping of texts that has none is left out. What stock has for NIDs that are preferred reads
 * badly: they are told with what is ours.
 */
static bool is_there(const struct lnet_table *t, const u8 *val, unsigned int level)
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
		else if (child && is_there(k->child, val, level))
			nest_emit(s, i + 1, child, val, level, backup);
	}
}
