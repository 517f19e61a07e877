/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside lnetd: the configuration kept in a file, and what systemd is told. */
#ifndef LNETD_H
#define LNETD_H

#include <stdbool.h>
#include <stddef.h>
#include <lnet/lnet.h>

struct lnetctl;

/* The file that keeps the configuration, and the one that is to replace it. */
struct state {
	const char *path;		/* NULL: nothing is kept */
	char *next;			/* name of the other, "PATH.new" */
	int fd;				/* of that; -1: not open */
	int lock_fd;			/* keeps others off, until we end; -1: nothing does */
};

/* state.c; all return 0 or -errno and say on stderr what went wrong. */
int state_lock(struct state *s);	/* -EBUSY: another process keeps its state there */
int state_load(struct lnetctl *c, const char *path);	/* -ENOENT: there is none, quietly */
int config_load(struct lnetctl *c, const char *path);
/*
 * Before a change by requests of @change bytes: room for the file with it. Then either
 * state_commit() or state_drop(). @why gets the words, with the name of the file.
 */
int state_begin(struct state *s, size_t change, char *why, size_t why_size);
/* Until it returned 0 the old file stays. */
int state_commit(struct state *s, struct lnetctl *c, bool configured, char *why, size_t why_size);
void state_drop(struct state *s);

/*
 * selftest.c: the network self-test of a node. All accept NULL. Stopped while the node still runs,
 * freed when it is destroyed; what selftest_start() left is freed also if it failed. @consoles: the
 * NIDs that may lead the node, "*" or a list that lnet_nidlist_parse() accepts; else -EINVAL.
 * -ENOTCONN: the socket cannot be created, and the log has the reason.
 */
struct lnet;
struct selftest;
int selftest_start(struct selftest **t, struct lnet *ln, const char *name, const char *consoles);
void selftest_stop(struct selftest *t);
void selftest_free(struct selftest *t);

/*
 * log.c: lines on standard error. With syslog's priority before them if that is the journal, else
 * with time and level; both with the name of the node. log_open() first, before other threads; 0 or
 * -errno: lines are written without a queue. log_close() writes what is queued.
 */
int log_open(const char *node, int level);
void log_close(void);
int log_level_find(const char *name);	/* enum lnet_log_level, -1: none of that name */
void log_text(void *arg, enum lnet_log_level level, const char *text);	/* lnet_log_fn */
void log_line(enum lnet_log_level level, const char *fmt, ...)
	__attribute__((__format__(__printf__, 2, 3)));

/* notify.c: "READY=1" and the like; without systemd nothing happens. */
void notify(const char *what);

#endif
