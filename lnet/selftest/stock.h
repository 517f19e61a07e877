/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of stock's lst: their arguments become a command to the console, and the answer of that
 * becomes memory of the caller. Nothing here knows a kernel: memory is reached by two functions.
 */
#ifndef LNET_SELFTEST_STOCK_H
#define LNET_SELFTEST_STOCK_H

#include <lnet/lnet.h>
#include <uapi/lnet_lst.h>
#include "nl_buf.h"
#include "selftest.h"
#include "wire.h"

/* ---- answers in memory ----------------------------------------------------------------------- */

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

/* An item of `stock_groups'; the nodes follow. */
struct lst_view_group {
	char name[LST_NAME];
	struct lst_view_counts counts;
	u32 nr;				/* nodes that follow */
};

/* An item of `stock_batches', of a test of it if the command names one; the nodes follow. */
struct lst_view_batch {
	char name[LST_NAME];
	bool running, is_test, is_ping;
	u32 nr_tests, concur;
	s32 loop;
	struct lst_view_counts clients, servers;
	u32 nr;				/* nodes that follow */
};

/* The end of every answer: an item for each node that the last step asked. */
struct lst_result {
	struct lnet_process id;
	u32 state;
	int rc;				/* 0, or -errno of the transfer: nothing below is known */
	u32 status;			/* errno of the node */
	u32 active;			/* of a batch */
	struct lst_sid sid;
	char owner[LST_NAME];
	struct lnet_lst_counters counters;
};

/* Of a command that succeeded. */
struct lst_memory {
	bool has_session;
	struct lst_view_session session;
	u32 nr_results;
};

/* ---- stock_take.c, stock_give.c: ioctl 63 ---------------------------------------------------- */

/* The memory of the caller. Both return 0 or -EFAULT. */
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
	int rc;				/* -errno while the command is written */
};

/*
 * Read the arguments at @at and write the command. May sleep. 0, -EINVAL, -EFAULT, -ENOMEM,
 * -EOPNOTSUPP (no such operation). lst_stock_end() follows in any case.
 */
int lst_stock_take(struct lst_stock *s, const struct lst_stock_caller *caller, u32 op, u64 at,
		   u32 len);
/*
 * The answer into the memory of the caller, statistics to @at. The command has succeeded. May
 * sleep. 0, -ENOENT (no such item of a list), -EINVAL, -EFAULT.
 */
int lst_stock_give(struct lst_stock *s, const struct lst_command *cmd, u64 at, u32 len);
void lst_stock_end(struct lst_stock *s);

/* A command of other words, in one that is all zero: first its verb. s->rc tells of memory. */
void lst_stock_verb(struct lst_stock *s, const char *name);
void lst_stock_word(struct lst_stock *s, const char *name, const char *fmt, ...) __printf(3, 4);

/* ---- stock_nl.c: the netlink family ---------------------------------------------------------- */

/*
 * What a session is to be named, or which groups are wanted and which of their nodes.
 * @attrs: the request's, behind both heads
 */
struct lst_stock_new {
	char name[LST_NAME];
	s64 timeout;			/* seconds; 0: as the console has it */
};
int lst_stock_nl_new(struct lst_stock_new *req, const u8 *attrs, u32 len);

struct lst_stock_filter {
	char name[LST_NAME];
	u32 states;			/* 0: all */
};
#define LST_STOCK_FILTERS_MAX	64U
/* How many groups; 0: all, their names alone. -EINVAL. */
int lst_stock_nl_groups(struct lst_stock_filter *filter, const u8 *attrs, u32 len);

void lst_stock_nl_session(struct lnet_nlbuf *w, const struct lst_view_session *s);
/* The end of the answer to a request that is no dump. */
void lst_stock_nl_done(struct lnet_nlbuf *w);
void lst_stock_nl_group_table(struct lnet_nlbuf *w);
/* @nodes: those of @group whose state is in @states; NULL: the name alone. */
void lst_stock_nl_group(struct lnet_nlbuf *w, const struct lst_view_group *group,
			const struct lst_view_node *nodes, u32 states, bool first);

#endif
