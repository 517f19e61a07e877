/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plan of a drill: its fields, its wire form, and which client sends to which server. */
#ifndef LNET_SELFTEST_PLAN_H
#define LNET_SELFTEST_PLAN_H

#include "plat.h"
#include <lnet/lnet.h>
#include "wire.h"

enum lst_what { LST_WHAT_PING = 1, LST_WHAT_BULK };
/*
 * Modes of bulk. The memory belongs to the client:
 *	READ	the server puts data into the memory
 *	WRITE	the server fetches data from the memory
 *	BACK	the server fetches data, and puts the same data back
 *	BOTH	the server fetches and puts at the same time
 */
enum lst_mode { LST_MODE_READ = 1, LST_MODE_WRITE, LST_MODE_BACK, LST_MODE_BOTH };
enum lst_verify { LST_VERIFY_NONE = 1, LST_VERIFY_SIMPLE, LST_VERIFY_CRC32C, LST_VERIFY_FULL };
/*
 * The map defines to which servers client i sends. There are clients 0 to n - 1, and servers 0 to
 * m - 1. If clients and servers are one group, no node sends to itself.
 *
 * SPREAD	the first `dist' clients send to the first `span' servers, the next clients to the
 *		next servers
 * ONE_TO_ONE	i to i mod m
 * ONE_TO_ALL	the first client to all servers
 * ALL_TO_ALL	to all servers, beginning with i + 1
 * RING		i to i + 1 mod m
 * STAR		the first node to all other nodes; with `ways=2' these also to the first
 * CHAOS	i to all nodes after i, so each two nodes are one pair
 * PERMUTATION	each client to one server, selected by `seed'; if there are as many servers as
 *		clients, each server has one client
 * INCAST	all clients to the first server
 * LISTED	to all servers that the client's plan lists; the list may be empty
 */
enum lst_map {
	LST_MAP_SPREAD = 1, LST_MAP_ONE_TO_ONE, LST_MAP_ONE_TO_ALL, LST_MAP_ALL_TO_ALL,
	LST_MAP_RING, LST_MAP_STAR, LST_MAP_CHAOS, LST_MAP_PERMUTATION, LST_MAP_INCAST,
	LST_MAP_LISTED,
};

/* Nodes whose addresses have consecutive values in the last four bytes. */
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
	/* the servers if this node is a client, else the clients, in order; free with kvfree() */
	struct lst_run *run;
	/*
	 * while a test of a tree is created: the same nodes as ranges of NIDs, used in place of
	 * @run
	 */
	const struct lst_ranges *ranges;
};

/* A WORD of plan.def. */
struct lst_plan_word {
	const char *name;
	u64 least, most, usual;
	u32 at;				/* offset of its u64 */
};
extern const struct lst_plan_word lst_plan_words[];
extern const u32 lst_nr_plan_words;

/*
 * Is the test a drill? Its type and its arguments decide. @text has arguments NAME=VALUE, each
 * ended by a zero.
 */
bool lst_plan_is_ours(const char *type, const char *text, u32 len);
/*
 * Reads arguments NAME=VALUE, each ended by a zero, into @p. Sets defaults for missing arguments.
 * Returns 0 or -EINVAL.
 */
int lst_plan_read(struct lst_plan *p, const char *type, const char *text, u32 len);
/* Encodes @p as bytes and returns their number. If @buf is NULL, only returns the number. */
u32 lst_plan_encode(const struct lst_plan *p, u8 *buf);
/* Decodes a plan. Returns 0, -EINVAL if the bytes are no plan or an impossible one, or -ENOMEM. */
int lst_plan_decode(struct lst_plan *p, const u8 *buf, u32 len);
/* Appends @id to the *@nr runs at @run, and updates *@nr. The array has room for one more run. */
void lst_runs_add(struct lst_run *run, u32 *nr, const struct lnet_process *id);
/* Stores the node with index @ix of @nr runs in *@id. False: there is no such node. */
bool lst_runs_at(const struct lst_run *run, u32 nr, u32 ix, struct lnet_process *id);

/*
 * Iterates over the nodes to which this node sends. Returns the index of the next such node among
 * the nodes of p->run; U32_MAX: no more. *@pos is 0 at first. All nodes compute the same map, so
 * both nodes of a pair agree on it.
 */
u32 lst_map_next(const struct lst_plan *p, u32 *pos);

/* A hash function, for seeds and for the contents of memory. */
static inline u64 lst_mix(u64 x)
{
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

#endif
