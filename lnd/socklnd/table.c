/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash table of addresses with a secret key. On average, a chain has at most two entries. */
#include "plat.h"
#include <lnet/hash.h>
#include "lnd/socklnd/table.h"

#define BITS_MAX 22

void sock_table_init(struct sock_table *t, u64 key)
{
	memset(t, 0, sizeof(*t));
	t->heads = t->first;
	t->bits = SOCK_TABLE_BITS;
	t->key = key;
}

void sock_table_fini(struct sock_table *t)
{
	if (t->heads != t->first)
		kvfree(t->heads);
	t->heads = t->first;
	t->bits = SOCK_TABLE_BITS;
}

u32 sock_table_hash(const struct sock_table *t, const void *addr, unsigned int len)
{
	return lnet_hash_bytes(addr, len, t->key) >> 32;
}

static void sock_table_grow(struct sock_table *t)
{
	struct hlist_head *old = t->heads;
	unsigned int i, nr = 1U << t->bits;
	struct hlist_head *heads;
	struct sock_node *node;
	struct hlist_node *next;

	if (t->nr >> t->bits < 2 || t->bits >= BITS_MAX)
		return;
	heads = kvcalloc(4UL << t->bits, sizeof(*heads), GFP_NOFS);
	if (!heads)
		return;
	t->heads = heads;
	t->bits += 2;
	for (i = 0; i < nr; i++)
		hlist_for_each_entry_safe(node, next, &old[i], link) {
			hlist_del(&node->link);
			hlist_add_head(&node->link, sock_table_chain(t, node->hash));
		}
	if (old == t->first)
		memset(t->first, 0, sizeof(t->first));
	else
		kvfree(old);
}

void sock_table_add(struct sock_table *t, struct sock_node *node, u32 hash)
{
	node->hash = hash;
	hlist_add_head(&node->link, sock_table_chain(t, hash));
	t->nr++;
	sock_table_grow(t);
}

void sock_table_del(struct sock_table *t, struct sock_node *node)
{
	if (hlist_unhashed(&node->link))
		return;
	hlist_del_init(&node->link);
	t->nr--;
}
