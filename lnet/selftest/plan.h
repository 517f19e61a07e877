/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plan of a drill: its fields, its wire form, and which client sends to which server. */
#ifndef LNET_SELFTEST_PLAN_H
#define LNET_SELFTEST_PLAN_H

#include "plat.h"
#include <lnet/lnet.h>
#include "wire.h"

enum lst_what { LST_WHAT_PING = 1, LST_WHAT_BULK };
/*
 * Mode of bulk; the client owns the memory. READ: the server puts data into it. WRITE: fetches it.
 * BACK: fetches it and puts the same data back. BOTH: fetches and puts at the same time.
 */
enum lst_mode { LST_MODE_READ = 1, LST_MODE_WRITE, LST_MODE_BACK, LST_MODE_BOTH };
enum lst_verify { LST_VERIFY_NONE = 1, LST_VERIFY_SIMPLE, LST_VERIFY_CRC32C, LST_VERIFY_FULL };
/*
 * Client i of n, servers 0 .. m-1; if both are one group, no node sends to itself.
 *
 * SPREAD	the first `dist' clients send to the first `span' servers, the next to the next
 * ONE_TO_ONE	i to i mod m
 * ONE_TO_ALL	the first one to all
 * ALL_TO_ALL	to all, beginning with i + 1
 * RING		i to i + 1 mod m
 * STAR		the first to all but the first, as `ways=2' the others back to it
 * CHAOS	i to all after i: each two are one pair
 * PERMUTATION	each to one, and each server has one client if there are as many; by `seed'
 * INCAST	all to the first
 * LISTED	to all: a client receives the list of its servers, which may be empty
 */
enum lst_map {
	LST_MAP_SPREAD = 1, LST_MAP_ONE_TO_ONE, LST_MAP_ONE_TO_ALL, LST_MAP_ALL_TO_ALL,
	LST_MAP_RING, LST_MAP_STAR, LST_MAP_CHAOS, LST_MAP_PERMUTATION, LST_MAP_INCAST,
	LST_MAP_LISTED,
};

/* Nodes with consecutive values of the last four bytes of the address. */
struct lst_run {
	struct lnet_process first;
	u32 nr;
};

struct lst_plan {
#define WORD(name, least, most, usual, text)	u64 name;
#define PLAN(name, least, most, text)		u64 name;
#include "plan.def"
#undef WORD
#undef PLAN
	u32 nr_runs;
	struct lst_run *run;		/* the other group, in order; kvfree() */
	const struct lst_ranges *ranges;	/* instead of @run, while a test is created */
};

/* A WORD of plan.def. */
struct lst_plan_word {
	const char *name;
	u64 least, most, usual;
	u32 at;				/* offset of its u64 */
};
extern const struct lst_plan_word lst_plan_words[];
extern const u32 lst_nr_plan_words;

/* Is it a drill, by its type and its arguments NAME=VALUE, each ended by a zero? */
bool lst_plan_is_ours(const char *type, const char *text, u32 len);
/* Writes such arguments, and defaults for the others, to @p: 0, -EINVAL. */
int lst_plan_read(struct lst_plan *p, const char *type, const char *text, u32 len);
/* Writes the bytes and returns their number; @buf NULL: only returns it. */
u32 lst_plan_encode(const struct lst_plan *p, u8 *buf);
/* 0; -EINVAL: not a plan, or not possible; -ENOMEM. */
int lst_plan_decode(struct lst_plan *p, const u8 *buf, u32 len);
/* Appends @id to @run and updates *@nr runs. @run has room for one more. */
void lst_runs_add(struct lst_run *run, u32 *nr, const struct lnet_process *id);
/* Stores the node at index @ix of @nr runs in *@id; false: there is none. */
bool lst_runs_at(const struct lst_run *run, u32 nr, u32 ix, struct lnet_process *id);

/*
 * Iterates the nodes that this node sends to: index in the other group, U32_MAX: no more. *@pos is
 * 0 at first. Each node computes the same result.
 */
u32 lst_map_next(const struct lst_plan *p, u32 *pos);

/* Spreads bits, for seeds and for the contents of memory. */
static inline u64 lst_mix(u64 x)
{
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

#endif
