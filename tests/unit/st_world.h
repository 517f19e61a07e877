/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes of rails.h with the self-test on each, time that runs for both, and requests by hand. */
#ifndef TESTS_UNIT_ST_WORLD_H
#define TESTS_UNIT_ST_WORLD_H

#include "rails.h"
#include "selftest/service.h"

struct st_node {
	struct lst_host host;		/* first */
	struct lst *st;
	unsigned int nr_arms;
	u64 due_ns;
};

extern struct st_node st_nodes[RAILS_NODES];
extern const struct lst_sid st_sid;	/* of a session of node 0 */

void st_begin(unsigned int nr_nodes);
void st_end(void);				/* all that was under way has ended */
void st_run(u64 ns);
struct lst *st_of(unsigned int node);
/* Asks @to from @from; the answer's type is right if 0. */
int st_ask(unsigned int from, unsigned int to, struct lst_msg *req, struct lst_msg *rpy);
/* Framework requests of node 0 in its session; the status of the answer, or -errno. */
int st_make(unsigned int to);
int st_remove(unsigned int to);
int st_batch(unsigned int to, enum lst_batch_opc opc, u32 test, u32 arg);
u32 st_active(void);				/* of the last answer to st_batch() */
/* A ping test if @len is 0, else brw, of node @client with @server as its destination. */
int st_test(unsigned int client, unsigned int server, s32 loop, u32 concur, u32 len, u32 opc,
	    u32 check);
void st_stat(unsigned int node, struct lst_query_stat_rpy *stat);
#define ST_BID	7

#endif
