/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of stock's lst. This code converts the arguments of a request to a command to the
 * console, and writes the reply into the caller's memory. It accesses that memory only through the
 * two functions of struct lst_stock_caller, so it also runs outside of a kernel.
 */
#ifndef LNET_SELFTEST_STOCK_H
#define LNET_SELFTEST_STOCK_H

#include <lnet/lnet.h>
#include <uapi/lnet_lst.h>
#include "control/nl_buf.h"
#include "selftest.h"
#include "wire.h"

/* ---- replies in memory ----------------------------------------------------------------------- */

struct lst_view_counts {
	u32 total, active, busy, down, unknown;
};

struct lst_view_session {
	struct lst_sid sid;
	u32 key, feats, nr_nodes;
	struct lst_view_counts counts;
	char name[LST_NAME];
};

struct lst_view_node {
	struct lnet_process id;
	u32 state;			/* enum con_node_state */
};

/* An item in the reply of `stock_groups': a group. The nodes of the group follow. */
struct lst_view_group {
	char name[LST_NAME];
	struct lst_view_counts counts;
	u32 nr;				/* nodes that follow */
};

/* An item in the reply of `stock_batches': a batch, or the test that the command names. */
struct lst_view_batch {
	char name[LST_NAME];
	bool running, is_test, is_ping;
	u32 nr_tests, concur;
	s32 loop;
	struct lst_view_counts clients, servers;
	u32 nr;				/* nodes that follow */
};

/* A reply ends with such items: one for each node that the last step queried. */
struct lst_result {
	struct lnet_process id;
	u32 state;
	int rc;				/* 0, or -errno of the transfer: no field below is valid */
	u32 status;			/* errno of the node */
	u32 active;			/* 1: the batch is active */
	struct lst_sid sid;
	char owner[LST_NAME];
	struct lnet_lst_counters counters;
};

/* The reply of a command that succeeded. */
struct lst_memory {
	bool has_session;
	struct lst_view_session session;
	u32 nr_results;
};

/* ---- stock_request.c, stock_reply.c: ioctl 63 ------------------------------------------------ */

/* Access to the memory of the caller. Both functions return 0 or -EFAULT. */
struct lst_stock_caller {
	int (*get)(void *to, u64 from, u32 len);
	int (*put)(u64 to, const void *from, u32 len);
};

union lst_stock_args {
	struct lnet_lst_session_new session_new;
	struct lnet_lst_session_info session_info;
	struct lnet_lst_session_end session_end;
	struct lnet_lst_debug debug;
	struct lnet_lst_named named;
	struct lnet_lst_group_update group_update;
	struct lnet_lst_nodes_add nodes_add;
	struct lnet_lst_list list;
	struct lnet_lst_group_info group_info;
	struct lnet_lst_batch_run batch_run;
	struct lnet_lst_batch_query batch_query;
	struct lnet_lst_batch_info batch_info;
	struct lnet_lst_stat_query stat_query;
	struct lnet_lst_test_add test_add;
};

#define LST_STOCK_IDS_MAX	16384U	/* nodes that one request names */

struct lst_stock {
	const struct lst_stock_caller *caller;
	u32 op;
	union lst_stock_args args;
	char *words;			/* the command: lst_command.request */
	u32 used, size;
	int rc;				/* first -errno of the functions that write the command */
};

/*
 * Reads the arguments at @at and converts them to a command. May sleep. The caller then calls
 * lst_stock_end(), also after an error. Returns 0, -EINVAL, -EFAULT, -ENOMEM, or -EOPNOTSUPP (no
 * such operation).
 */
int lst_stock_take(struct lst_stock *s, const struct lst_stock_caller *caller, u32 op, u64 at,
		   u32 len);
/*
 * Writes the reply of @cmd, which has succeeded, into the caller's memory, and the statistics to
 * @at. May sleep. Returns 0, -ENOENT (the list has no such item), -EINVAL or -EFAULT.
 */
int lst_stock_give(struct lst_stock *s, const struct lst_command *cmd, u64 at, u32 len);
void lst_stock_end(struct lst_stock *s);

/*
 * These functions write a command into @s, which starts zeroed: first the verb, then the words. If
 * there is no memory, s->rc becomes -ENOMEM.
 */
void lst_stock_verb(struct lst_stock *s, const char *name);
void lst_stock_word(struct lst_stock *s, const char *name, const char *fmt, ...) __printf(3, 4);

/* ---- stock_nl.c: the netlink family ---------------------------------------------------------- */

/*
 * These functions parse a request for a new session, or for groups and the states of their nodes.
 * @attrs: the attributes, after both headers
 */
struct lst_stock_new {
	char name[LST_NAME];
	s64 timeout;			/* seconds; 0: the console's default */
};
int lst_stock_nl_new(struct lst_stock_new *req, const u8 *attrs, u32 len);

struct lst_stock_filter {
	char name[LST_NAME];
	u32 states;			/* 0: all */
};
#define LST_STOCK_FILTERS_MAX	64U
/*
 * Reads the names of groups. Returns their number, or -EINVAL. If the number is 0, the command
 * shows the names of all groups.
 */
int lst_stock_nl_groups(struct lst_stock_filter *filter, const u8 *attrs, u32 len);

void lst_stock_nl_session(struct lnet_nlbuf *w, const struct lst_view_session *s);
/* Writes the end of the reply to a request that is not a dump. */
void lst_stock_nl_done(struct lnet_nlbuf *w);
void lst_stock_nl_group_table(struct lnet_nlbuf *w);
/*
 * Writes @group and those of its @nodes whose state is in the set @states. If @nodes is NULL,
 * writes only the name.
 */
void lst_stock_nl_group(struct lnet_nlbuf *w, const struct lst_view_group *group,
			const struct lst_view_node *nodes, u32 states, bool first);

#endif
