/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The network self-test of a node: interface for programs and modules that run it. It uses only the
 * API of include/lnet/.
 *
 *	messages.def wire.c	messages: fields and codec
 *	rpc.c			requests of this node: a message, its reply, bulk data
 *	serve.c			requests of other nodes: buffers, dispatch, replies
 *	session.c stat.c	the session of this node, and its statistics
 *	batch.c start.c unit.c	batches of tests, their start, and the parts that run a test
 *	ping.c brw.c pattern.c	the tests that stock nodes have
 *	plan.[ch] plan.def map.c	plan of a drill, and which client sends to which server
 *	drill.[ch]		creation of drills
 *	slot.c offer.c		client of a drill, and its memory
 *	drill_server.c		server of a drill
 *	rail.c			traffic of drills per pair of interfaces, and their health
 *	store.[ch] verify.c crc32c.[ch]	memory of drills, and its contents
 *	tally.[ch] tally.def	counts of a test
 *	con.c con_*.c verbs.def	the console: controls a session over many nodes by commands
 *	stock.h stock_*.c	requests of stock's lst in wire form
 *	nettest.h nettest_*.c	exchanges among many nodes in topologies
 *	tree.c tree_*.c		a session over a tree of nodes: places, waves, records
 *	service.c		start, end, timers
 *
 * The service never waits and starts no thread. Its user calls lst_work() at the time that the last
 * lst_work() returned, or earlier after arm().
 */
#ifndef LNET_SELFTEST_H
#define LNET_SELFTEST_H

#include "plat.h"

struct lnet;
struct lnet_nidlist;
struct lst;
struct lst_memory;

struct lst_host {
	/*
	 * Requests a call of lst_work() at an earlier time than planned. Any thread may call arm(),
	 * also in a handler. The caller holds no lock.
	 */
	void (*arm)(struct lst_host *host);
};

struct lst_cfg {
	struct lnet *ln;		/* outlives the service */
	struct lst_host *host;		/* likewise */
	u32 nr_messages;		/* messages of other nodes that can be queued; 0: 512 */
	/*
	 * NIDs that may control this node, in addition to its own NIDs. NULL: all. The list
	 * outlives the service.
	 */
	const struct lnet_nidlist *consoles;
};

/*
 * Starts the service. A console of @cfg->consoles may then take this node into its session. May
 * sleep. Returns 0 or -ENOMEM.
 */
int lst_create(struct lst **stp, const struct lst_cfg *cfg);
/*
 * Does the work that is due. Returns the next deadline on the clock of the node's environment;
 * U64_MAX: none. Call in task context, from one thread at a time.
 */
u64 lst_work(struct lst *st);
/* Begins to stop: ends the session, aborts requests in flight. A second call has no effect. */
void lst_stop(struct lst *st);
/* Is nothing in progress? True some time after lst_stop(), at the latest after lnet_destroy(). */
bool lst_stopped(struct lst *st);
void lst_free(struct lst *st);		/* once lst_stopped(); NULL is fine */

/* A command to this node as a console; verbs.def defines the requests. */
struct lst_command {
	const char *request;		/* the caller's until done() */
	u32 len;			/* bytes, with the last zero */
	/* reply */
	int status;			/* 0 or -errno */
	char *answer;			/* YAML, kfree(); NULL: none */
	u32 used, size;			/* bytes of text, of memory */
	/*
	 * NULL: the reply is text. Otherwise the reply has the layouts of stock.h, and the node
	 * fills in *@memory.
	 */
	struct lst_memory *memory;
	/*
	 * Called once, perhaps before lst_command() returns, without the lock. It must not call the
	 * functions above.
	 */
	void (*done)(struct lst_command *cmd);
};
void lst_command(struct lst *st, struct lst_command *cmd);
/* Does the command need permission to configure the node? */
bool lst_command_changes(const struct lst_command *cmd);

#endif
