/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of a bulk transfer. A part is the payload of one message. The lengths of its fragments
 * differ by at most one byte, and its fragments are not adjacent.
 */
#include "memory.h"
#include "store.h"

#define LINE	64U

static u32 part_len(u32 len, u32 part)
{
	return min(LNET_MTU, len - part * LNET_MTU);
}

/* Returns the distance between the starts of two fragments. */
static u32 stride_of(const struct lst_plan *p, u32 longest)
{
	return p->frags == 1 ? LNET_MTU : ALIGN(longest + 1, LINE);
}

static void part_frags_make(struct lst_store *s, u32 part, u32 stride, u8 *mem)
{
	u32 len = part_len(s->len, part), nr = min(s->per_part, len), each = len / nr, i;
	struct lnet_frag *frag = &s->frag[part * s->per_part];

	for (i = 0; i < nr; i++)
		frag[i] = (struct lnet_frag){ mem + i * stride, each + (i < len % nr) };
	s->nr_frags += nr;
}

int lst_store_make(struct lst_store *s, const struct lst_plan *p)
{
	u32 part, frags = (u32)p->frags, first = part_len((u32)p->size, 0);
	u32 stride = stride_of(p, DIV_ROUND_UP(first, min(frags, first)));
	size_t size = (u32)p->off + (frags == 1 ? (size_t)p->size : 0);

	*s = (struct lst_store){ .len = (u32)p->size, .nr_parts = lst_plan_parts(p),
				 .per_part = frags };
	if (frags > 1)
		size += (size_t)s->nr_parts * frags * stride;
	s->mem = lst_memory(size);
	s->frag = kvcalloc(s->nr_parts * frags, sizeof(s->frag[0]), GFP_NOFS | __GFP_NOWARN);
	if (!s->mem || !s->frag) {
		lst_store_free(s);
		return -ENOMEM;
	}
	for (part = 0; part < s->nr_parts; part++)
		part_frags_make(s, part, stride, s->mem + p->off + (size_t)part * frags * stride);
	return 0;
}

void lst_store_free(struct lst_store *s)
{
	kvfree(s->mem);
	kvfree(s->frag);
	*s = (struct lst_store){ 0 };
}

const struct lnet_frag *lst_store_part(const struct lst_store *s, u32 part, u32 *nr)
{
	*nr = min(s->per_part, part_len(s->len, part));
	return &s->frag[part * s->per_part];
}
