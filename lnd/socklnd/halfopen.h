/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Half-open connections: this node has accepted them, but has not received the complete request and
 * HELLO. Counts them per address, and selects one to close if there are too many. guest.c uses this
 * code to count open connections.
 */
#ifndef SOCKLND_HALFOPEN_H
#define SOCKLND_HALFOPEN_H

#include "lnd/socklnd/table.h"

/* Number of classes. Class k has the addresses with 2^k to 2^(k+1) - 1 connections. */
#define SOCK_HALF_CLASSES	32

/* The counters of one NI. The struct that contains this struct names its lock. */
struct sock_halfs {
	struct list_head all;		/* oldest first */
	struct list_head classes[SOCK_HALF_CLASSES];	/* of struct sock_source */
	struct sock_table sources;	/* by address */
	u32 nr;
};

/* An address that has half-open connections. */
struct sock_source {
	struct sock_node hash;		/* halfs->sources */
	struct list_head link;		/* halfs->classes[] */
	struct list_head halfs;		/* oldest first */
	u32 nr;
	u8 addr[16];
};

/* Part of a connection. */
struct sock_half {
	struct list_head age;		/* halfs->all */
	struct list_head same;		/* source->halfs */
	struct sock_source *source;	/* NULL: not half open */
};

void sock_halfs_init(struct sock_halfs *hs, u64 key);
void sock_halfs_fini(struct sock_halfs *hs);	/* @hs is empty */
/*
 * Adds @h as the youngest connection of the address @addr (16 bytes). 0 or -ENOMEM. May sleep
 * (GFP_NOFS).
 */
int sock_half_add(struct sock_halfs *hs, struct sock_half *h, const u8 *addr);
u32 sock_half_nr(struct sock_halfs *hs, const u8 *addr);
/* Removes @h. Has no effect if @h is not half open. */
void sock_half_del(struct sock_halfs *hs, struct sock_half *h);
/*
 * Returns the connection to close after @newest was added. If the address of @newest has more than
 * @per_address connections, this is the oldest of that address. If there are more than @total
 * connections in all, this is sock_half_most(). NULL: none has to be closed. Both bounds are at
 * least 1.
 */
struct sock_half *sock_half_excess(const struct sock_halfs *hs, const struct sock_half *newest,
				   u64 per_address, u64 total);
/*
 * Returns the oldest half-open connection of an address with many of them. No other address has
 * twice as many connections as the chosen address. So an address with few connections keeps them
 * while another address has many. If each address has one connection, returns the oldest connection
 * of all. NULL: none.
 */
struct sock_half *sock_half_most(const struct sock_halfs *hs);

#endif
