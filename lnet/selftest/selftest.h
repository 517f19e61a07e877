/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The network self-test of a node, as programs and modules that run it see it. It uses nothing but
 * the API of include/lnet/.
 *
 *	messages.def wire.c	messages: fields and codec
 *	rpc.c			own requests: a message there, one back, bulk meanwhile
 *	serve.c			requests of others: buffers, whom they are for, answers
 *	session.c stat.c	the session this node is in, and what it tells of itself
 *	batch.c start.c unit.c	batches of tests, when they begin, and the parts that run one
 *	ping.c brw.c pattern.c	the tests that stock nodes have
 *	plan.[ch] plan.def map.c	what a test of ours is to do, and who sends to whom
 *	drill.[ch] slot.c offer.c haul.c	tests of ours: life, client, its memory, server
 *	rail.c			what of them went over which interfaces, and how well these are
 *	store.[ch] verify.c crc32c.[ch]	their memory, and what it holds
 *	tally.[ch] tally.def	what a test counted
 *	con.c con_*.c verbs.def	the console: a session over many nodes, led by commands
 *	stock.h stock_*.c	requests of stock's lst, bytes in and out
 *	nettest.h nettest_*.c	exchanges among many nodes in topologies
 *	tree.c tree_*.c		a session over a tree of nodes: places, waves, records
 *	service.c		begin, end, time
 *
 * The service never waits and starts no thread. Whoever runs it calls lst_work() when lst_work()
 * or arm() said so.
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
	 * lst_work() is to be called earlier than was said. Any thread, also from handlers; no lock
	 * held.
	 */
	void (*arm)(struct lst_host *host);
};

struct lst_cfg {
	struct lnet *ln;		/* outlives the service */
	struct lst_host *host;		/* also */
	u32 nr_messages;		/* of others that wait for us at one time; 0: 512 */
	/* NIDs that may lead this node, in addition to its own; outlives the service. NULL: all */
	const struct lnet_nidlist *consoles;
};

/*
 * Begin to serve: a console of @cfg->consoles may take this node into its session. May sleep. 0,
 * -ENOMEM.
 */
int lst_create(struct lst **stp, const struct lst_cfg *cfg);
/*
 * What time demands; the next deadline on the clock of the node's environment, U64_MAX: none. Task
 * context, one thread at a time.
 */
u64 lst_work(struct lst *st);
/* Begin to end: the session is over, what is under way is taken back. Twice does no harm. */
void lst_stop(struct lst *st);
/* Nothing is under way any more. After lst_stop() this comes by itself, or with lnet_destroy(). */
bool lst_stopped(struct lst *st);
void lst_free(struct lst *st);		/* once lst_stopped(); NULL is fine */

/* A command to this node as a console: verbs.def says what requests look like. */
struct lst_command {
	const char *request;		/* the caller's until done() */
	u32 len;			/* bytes, with the last zero */
	/* answer */
	int status;			/* 0 or -errno */
	char *answer;			/* YAML, kfree(); NULL: none */
	u32 used, size;			/* bytes of text, of memory */
	/* NULL: the reply is text; else it has the layouts of stock.h, and this is filled in */
	struct lst_memory *memory;
	/* Once, perhaps before lst_command() returns. No lock held; must not call the above. */
	void (*done)(struct lst_command *cmd);
};
void lst_command(struct lst *st, struct lst_command *cmd);
/* Only who may configure the node may ask this. */
bool lst_command_changes(const struct lst_command *cmd);

#endif
