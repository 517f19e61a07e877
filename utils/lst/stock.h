/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The console of stock's self-test. This code converts requests of lst to stock's ioctls, and the
 * replies to the documents that the console of this project sends.
 */
#ifndef LST_STOCK_H
#define LST_STOCK_H

#include <lnet/nid.h>
#include <uapi/lnet_lst.h>
#include "lst.h"

#define STOCK_AT(p)	((uintptr_t)(p))

/* ---- stock.c --------------------------------------------------------------------------------- */

struct nlmsghdr;
struct nl_msg;
typedef void (*stock_reply_fn)(const struct nlmsghdr *h, void *arg);

/* The two calls to a module. Both return 0 or -errno. Tests replace them, and need no kernel. */
struct stock_door {
	/* One operation of ioctl 63. */
	int (*ask)(void *arg, uint32_t op, const void *args, uint32_t len);
	/* Sends @msg to the netlink family from port @key (0: any). */
	int (*talk)(void *arg, struct nl_msg *msg, uint32_t key, stock_reply_fn on_reply,
		    void *reply_arg);
	void *arg;
};
extern const struct stock_door stock_kernel_door;

/* Does the kernel have a self-test, but not the device of this project? */
bool stock_is_loaded(void);
/*
 * As request_send(). -EOPNOTSUPP: stock has no such command or option, and a message was printed.
 */
int stock_send(const struct stock_door *door, const struct request *r, struct lnetctl_node **doc);

/* A request in progress. */
struct stock_call {
	const struct stock_door *door;
	const struct request *r;
	struct lnetctl_node *doc;	/* the reply: a mapping */
	int32_t key;
	struct lnet_lst_id *ids;	/* from the "nid" arguments */
	int nr_ids;
	struct stock_result *results;
	int nr_results;
	struct { uint64_t next, prev; } head;	/* of the list of results */
};

int stock_ask(struct stock_call *c, uint32_t op, const void *args, size_t len);
/*
 * Returns the value of the next argument @name after *@pos. *@pos is NULL at first. NULL: there is
 * none.
 */
const char *stock_word(const struct stock_call *c, const char *name, const char **pos);
const char *stock_text(const struct stock_call *c, const char *name);	/* "" if missing */
int32_t stock_number(const struct stock_call *c, const char *name, int32_t other);

/* Returns the name of @state, for example "Active" for 1. */
const char *stock_state(int state);
const char *stock_id(const struct lnet_lst_id *id, char text[LNET_IDSTR_SIZE]);

/* ---- stock_nl.c: sessions and groups --------------------------------------------------------- */

int stock_kernel_talk(void *arg, struct nl_msg *msg, uint32_t key, stock_reply_fn on_reply,
		      void *reply_arg);
int stock_new_session(struct stock_call *c);
int stock_end_session(struct stock_call *c);
int stock_show_session(struct stock_call *c);
int stock_list_group(struct stock_call *c);
/* Both functions return the number of nodes, or -errno. */
int stock_nodes_session(struct stock_call *c);
int stock_nodes_group(struct stock_call *c, const char *name);

/* ---- stock_batch.c --------------------------------------------------------------------------- */

int stock_list_batch(struct stock_call *c);
int stock_nodes_batch(struct stock_call *c, const char *name);	/* clients and servers */

/* ---- stock_run.c: requests with a result per node -------------------------------------------- */

int stock_ping(struct stock_call *c);
int stock_add_nodes(struct stock_call *c);
int stock_update_group(struct stock_call *c);
int stock_add_test(struct stock_call *c);
int stock_run(struct stock_call *c);
int stock_stop(struct stock_call *c);
int stock_query(struct stock_call *c);
int stock_stat(struct stock_call *c);

#endif
