/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accounts half-open connections, and also open connections, by address and age. */
#include "plat.h"
#include "lnd/socklnd/halfopen.h"

void sock_halfs_init(struct sock_halfs *hs, u64 key)
{
	unsigned int i;

	memset(hs, 0, sizeof(*hs));
	sock_table_init(&hs->sources, key);
	INIT_LIST_HEAD(&hs->all);
	for (i = 0; i < ARRAY_SIZE(hs->classes); i++)
		INIT_LIST_HEAD(&hs->classes[i]);
}

void sock_halfs_fini(struct sock_halfs *hs)
{
	sock_table_fini(&hs->sources);
}

static u32 hash_of(const struct sock_halfs *hs, const u8 *addr)
{
	return sock_table_hash(&hs->sources, addr, 16);
}

static struct sock_source *source_find(const struct sock_halfs *hs, const u8 *addr, u32 hash)
{
	struct sock_source *s;

	hlist_for_each_entry(s, sock_table_chain(&hs->sources, hash), hash.link)
		if (!memcmp(s->addr, addr, sizeof(s->addr)))
			return s;
	return NULL;
}

u32 sock_half_nr(struct sock_halfs *hs, const u8 *addr)
{
	const struct sock_source *s = source_find(hs, addr, hash_of(hs, addr));

	return s ? s->nr : 0;
}

static struct sock_source *source_get(struct sock_halfs *hs, const u8 *addr)
{
	u32 hash = hash_of(hs, addr);
	struct sock_source *s = source_find(hs, addr, hash);

	if (s)
		return s;
	s = kzalloc(sizeof(*s), GFP_NOFS);
	if (!s)
		return NULL;
	memcpy(s->addr, addr, sizeof(s->addr));
	INIT_LIST_HEAD(&s->link);
	INIT_LIST_HEAD(&s->halfs);
	sock_table_add(&hs->sources, &s->hash, hash);
	return s;
}

/*
 * Sets the number of half-open connections of the address @s. hs->classes[] has a list per class of
 * addresses; the class is the binary logarithm of the number. If the class does not change, @s
 * keeps its position in the list.
 */
static void source_set_nr(struct sock_halfs *hs, struct sock_source *s, u32 nr)
{
	bool moves = !s->nr || ilog2(s->nr) != ilog2(nr);

	s->nr = nr;
	if (moves)
		list_move_tail(&s->link, &hs->classes[ilog2(nr)]);
}

int sock_half_add(struct sock_halfs *hs, struct sock_half *h, const u8 *addr)
{
	struct sock_source *s = source_get(hs, addr);

	if (!s)
		return -ENOMEM;
	h->source = s;
	list_add_tail(&h->same, &s->halfs);
	list_add_tail(&h->age, &hs->all);
	source_set_nr(hs, s, s->nr + 1);
	hs->nr++;
	return 0;
}

void sock_half_del(struct sock_halfs *hs, struct sock_half *h)
{
	struct sock_source *s = h->source;

	if (!s)
		return;
	h->source = NULL;
	list_del(&h->same);
	list_del(&h->age);
	hs->nr--;
	if (s->nr > 1) {
		source_set_nr(hs, s, s->nr - 1);
		return;
	}
	sock_table_del(&hs->sources, &s->hash);
	list_del(&s->link);
	kfree(s);
}

static struct sock_half *source_oldest_half(const struct sock_source *s)
{
	return list_first_entry(&s->halfs, struct sock_half, same);
}

struct sock_half *sock_half_excess(const struct sock_halfs *hs, const struct sock_half *newest,
				   u64 per_address, u64 total)
{
	if (newest->source->nr > per_address)
		return source_oldest_half(newest->source);
	return hs->nr > total ? sock_half_most(hs) : NULL;
}

struct sock_half *sock_half_most(const struct sock_halfs *hs)
{
	unsigned int i;

	for (i = SOCK_HALF_CLASSES; i-- > 0;)
		if (!list_empty(&hs->classes[i]))
			return source_oldest_half(
				list_first_entry(&hs->classes[i], struct sock_source, link));
	return NULL;
}
