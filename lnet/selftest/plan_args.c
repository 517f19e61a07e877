/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts arguments to the plan of a drill. */
#include "drill.h"
#include "tree.h"

/*
 * Is @name also an argument of the tests that stock nodes have (ping and brw)? Such tests may run
 * on groups or on trees.
 */
static bool is_common(const char *name)
{
	static const char *const common[] = { "loop", "concur", "dist", "span", "stop_onerr",
					      "seed" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(common); i++)
		if (!strcmp(common[i], name))
			return true;
	return false;
}

bool lst_plan_is_ours(const char *type, const char *text, u32 len)
{
	u32 i;

	if (!strcmp(type, "bulk"))
		return true;
	if (strcmp(type, "ping"))
		return false;
	for (i = 0; i < lst_nr_plan_words; i++)
		if (!is_common(lst_plan_words[i].name) &&
		    lst_body_word(text, len, lst_plan_words[i].name))
			return true;
	return false;
}

static int plan_words_read(struct lst_plan *p, const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < lst_nr_plan_words; i++) {
		const struct lst_plan_word *word = &lst_plan_words[i];
		s64 value = (s64)word->usual;

		if (lst_body_number(text, len, word->name, -1, (s64)word->most, &value))
			return -EINVAL;
		/* For an endless test, stock's tool writes -1. */
		if (value == -1 && !strcmp(word->name, "loop"))
			value = 0;
		if (value < (s64)word->least)
			return -EINVAL;
		*(u64 *)((u8 *)p + word->at) = (u64)value;
	}
	return 0;
}

int lst_plan_read(struct lst_plan *p, const char *type, const char *text, u32 len)
{
	p->what = strcmp(type, "ping") ? LST_WHAT_BULK : LST_WHAT_PING;
	if (plan_words_read(p, text, len))
		return -EINVAL;
	if (p->what == LST_WHAT_BULK && !lst_body_word(text, len, "size"))
		p->size = LNET_MTU;
	if (p->what == LST_WHAT_PING && (p->size < LST_DRILL_MIN || p->size > LST_DRILL_MAX))
		return -EINVAL;
	return 0;
}
