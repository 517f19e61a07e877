/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of lnetd: the configuration kept in a file, and the notifications for systemd. */
#ifndef LNETD_H
#define LNETD_H

#include <stdbool.h>
#include <stddef.h>
#include <lnet/lnet.h>

struct lnetctl;

struct state {
	const char *path;		/* the file of the configuration; NULL: none */
	char *next;			/* name of its replacement, "PATH.new" */
	int fd;				/* of the replacement; -1: not open */
	int lock_fd;			/* excludes other processes until this one ends; -1: none */
};

/* state.c; all return 0 or -errno, and report errors on stderr. */
int state_lock(struct state *s);	/* -EBUSY: another process uses this state */
int state_load(struct lnetctl *c, const char *path);	/* -ENOENT: no file, not reported */
int config_load(struct lnetctl *c, const char *path);
/*
 * Reserves space for the file before a change. The requests of the change have @change bytes. The
 * caller then calls state_commit() or state_drop(). @why receives the error with the name of the
 * file.
 */
int state_begin(struct state *s, size_t change, char *why, size_t why_size);
/* If it fails before the rename, the old file stays. */
int state_commit(struct state *s, struct lnetctl *c, bool configured, char *why, size_t why_size);
void state_drop(struct state *s);

/*
 * selftest.c: the network self-test of a node. All functions accept NULL. Stop the self-test while
 * the node runs, and free it after the node is destroyed, also if selftest_start() failed.
 * @consoles: the NIDs that may control the node, "*" or a list for lnet_nidlist_parse(); else
 * -EINVAL. -ENOTCONN: the socket cannot be created; see the log.
 */
struct lnet;
struct selftest;
int selftest_start(struct selftest **t, struct lnet *ln, const char *name, const char *consoles);
void selftest_stop(struct selftest *t);
void selftest_free(struct selftest *t);

/*
 * log.c: lines on standard error with the name of the node. If standard error is the journal, lines
 * begin with syslog's priority, else with time and level. log_open() is called before other threads
 * exist; 0, or -errno: lines are written without a queue. log_close() writes queued lines.
 */
int log_open(const char *node, int level);
void log_close(void);
int log_level_find(const char *name);	/* enum lnet_log_level, -1: unknown */
void log_text(void *arg, enum lnet_log_level level, const char *text);	/* lnet_log_fn */
void log_line(enum lnet_log_level level, const char *fmt, ...)
	__attribute__((__format__(__printf__, 2, 3)));

/* notify.c: sends "READY=1" and the like; without systemd it has no effect. */
void notify(const char *what);

#endif
