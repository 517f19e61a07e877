/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside lnet_load.ko: a user of LNet in the kernel that does what lnetperf does, so that the same
 * tests and the same oracle serve both.
 *
 * An open file of /dev/lnet_load is one such user, in the network namespace of the process that
 * opened it. The namespace may end while the file is open. The first write has the options, as
 * lines "name value"; the user runs when that write returns. Writing "stop" ends the user in order.
 * Reading returns records of perflog.h as they are made, then the end of the file, or the error
 * that ended the user.
 */
#ifndef LOAD_H
#define LOAD_H

#include <linux/completion.h>
#include <linux/kfifo.h>
#include <linux/kthread.h>
#include <linux/wait.h>
#include <lnet/lnet.h>
#include "lnet/kernel/netns.h"
#include "utils/lnetperf/payload.h"
#include "utils/lnetperf/perflog.h"

#define LOAD_MAX_NIDS	16U
#define LOAD_MAX_ROUTES	16U
#define LOAD_BUFFERS	8U		/* of the server, each 2 MiB */

struct load_opt {
	int role, op, plant;			/* enum perf_role, perf_op, perf_plant */
	struct lnet_nid nids[LOAD_MAX_NIDS];	/* interfaces to add */
	struct lnet_nid peer[LOAD_MAX_NIDS];	/* NIDs of the other node, its primary NID first */
	struct lnet_route_cfg routes[LOAD_MAX_ROUTES];
	bool nid_mine[LOAD_MAX_NIDS], route_mine[LOAD_MAX_ROUTES];	/* added by this load */
	u32 nr_nids, nr_peer, nr_routes;
	u32 size, window;
	u64 interval_ns, count, timeout_ns;
};

struct load_client;
struct load_server;

struct load {
	struct lnet_client user;
	struct load_opt o;
	struct mutex lock;		/* taken to write and to read the file */
	struct task_struct *thread;	/* NULL: not begun [lock] */
	struct completion ended;	/* the thread no longer uses LNet */
	wait_queue_head_t wait;		/* the thread waits here */
	bool stop, gone;		/* READ_ONCE: requested to end; the namespace ends */
	int err;			/* why the thread ended early */

	u64 instance;
	s64 day_ns;			/* time of the day minus monotonic time */
	u64 next_rail_ns;
	spinlock_t log_lock;		/* taken to add to the log */
	wait_queue_head_t log_wait;	/* readers of the log wait here */
	DECLARE_KFIFO_PTR(log, struct perf_rec);
	void *log_mem;
	bool log_full;			/* a record was lost, so the log cannot be checked */

	struct load_client *client;	/* only one of the two is set */
	struct load_server *server;
};

/* ---- file.c */
void load_log(struct load *ld, enum perf_kind kind, u64 id, int status, u32 a, u32 b);
/* Logs interfaces and counters, if they are due; called by the thread. */
void load_log_counts(struct load *ld, u64 now_ns);
/* The thread waits until @ready(), but at most until @due_ns or until counts are due. */
void load_wait(struct load *ld, u64 due_ns, bool (*ready)(struct load *ld));

/* ---- client.c, server.c: the writer of the options calls begin(), the thread calls the others */
int load_client_begin(struct load *ld);	/* 0 or -errno; end() is called in any case */
int load_client_run(struct load *ld);	/* until requested to end; 0 or -errno */
void load_client_end(struct load *ld);	/* LNet no longer uses the memory when it returns */
void load_client_free(struct load *ld);	/* all that exists; NULL is accepted */
int load_server_begin(struct load *ld);
int load_server_run(struct load *ld);
void load_server_end(struct load *ld);
void load_server_free(struct load *ld);

#endif
