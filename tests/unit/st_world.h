/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes of rails.h with the self-test on each, their common time, and requests of a test. */
#ifndef TESTS_UNIT_ST_WORLD_H
#define TESTS_UNIT_ST_WORLD_H

#include "rails.h"
#include "selftest/drill.h"

struct st_node {
	struct lst_host host;		/* first */
	struct lst *st;
	unsigned int nr_arms;
	u64 due_ns;
};

extern struct st_node st_nodes[RAILS_NODES];
extern const struct lst_sid st_sid;	/* of a session of node 0 */

void st_begin(unsigned int nr_nodes);
void st_end(void);				/* also checks that all calls have ended */
void st_run(u64 ns);
struct lst *st_of(unsigned int node);
/* Makes the console of the node's session unresponsive, so another one may take it by force. */
void st_silence(unsigned int node);
/* Sends @req from @from to @to. 0 only if the reply has the right type. */
int st_ask(unsigned int from, unsigned int to, struct lst_msg *req, struct lst_msg *rpy);
/* As st_ask(). @to writes to @mem, or with LNET_MD_OP_GET reads from it. */
int st_ask_bulk(unsigned int from, unsigned int to, struct lst_msg *req, struct lst_msg *rpy,
		void *mem, u32 len, u32 options);
/* Framework requests of node 0 in its session. Return the status of the reply, or -errno. */
int st_make(unsigned int to);
int st_remove(unsigned int to);
int st_batch(unsigned int to, enum lst_batch_opc opc, u32 test, u32 arg);
u32 st_active(void);				/* from the last reply to st_batch() */
/* Adds a test to node @client with @server as its destination: ping if @len is 0, else brw. */
int st_test(unsigned int client, unsigned int server, s32 loop, u32 concur, u32 len, u32 opc,
	    u32 check);
void st_stat(unsigned int node, struct lst_query_stat_rpy *stat);
/* A test that stock does not have, which node @client runs with @server; both get the plan. */
void st_plan_init(struct lst_plan *p, enum lst_what what);
int st_drill(unsigned int client, unsigned int server, const struct lst_plan *plan);
/* The tally of the test at @node, and its numbers (drill.h). */
void st_tally(unsigned int node, u32 index, bool server, struct lst_tally *t, u64 numbers[13]);
enum { ST_ASKED, ST_MAX_ASKED, ST_SERVED, ST_TO, ST_TO_FIRST, ST_TO_LAST, ST_FROM, ST_FROM_FIRST,
       ST_FROM_LAST, ST_FOUND, ST_BAD_OFF, ST_BAD_LEN, ST_BAD_SEQ };
#define ST_BID	7

#endif
