/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A growing hash table of addresses. Other hosts choose the addresses, so the hash has a secret
 * key.
 */
#ifndef SOCKLND_TABLE_H
#define SOCKLND_TABLE_H

#include "plat.h"

#define SOCK_TABLE_BITS 6		/* first size */

/* The table's fields in an entry. Zeroed: the entry is in no table. */
struct sock_node {
	struct hlist_node link;
	u32 hash;
};

/* The struct that contains a table names its lock. */
struct sock_table {
	struct hlist_head *heads;	/* @first, or allocated */
	struct hlist_head first[1 << SOCK_TABLE_BITS];
	u64 key;			/* [const] */
	u32 nr;
	u8 bits;
};

void sock_table_init(struct sock_table *t, u64 key);
void sock_table_fini(struct sock_table *t);	/* @t is empty */
/* The hash of the @len bytes at @addr; @len is 4 or 16. */
u32 sock_table_hash(const struct sock_table *t, const void *addr, unsigned int len);
static inline struct hlist_head *sock_table_chain(const struct sock_table *t, u32 hash)
{
	return &t->heads[hash >> (32 - t->bits)];
}
/*
 * Adds an entry. May sleep (GFP_NOFS). If the table has two entries per chain, it grows if there is
 * memory.
 */
void sock_table_add(struct sock_table *t, struct sock_node *node, u32 hash);
void sock_table_del(struct sock_table *t, struct sock_node *node);	/* may be repeated */

#endif
