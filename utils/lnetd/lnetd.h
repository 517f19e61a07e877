/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of lnetd: the configuration in a file, and the notifications for systemd. */
#ifndef LNETD_H
#define LNETD_H

#include <stdbool.h>
#include <stddef.h>
#include <lnet/lnet.h>

struct lnetctl;

struct state {
	const char *path;		/* file of the configuration; NULL: none */
	char *next;			/* name of its replacement, "PATH.new" */
	int fd;				/* descriptor of the new file; -1: not open */
	/* locks out other processes until this process ends; -1: no lock */
	int lock_fd;
};

/* state.c: all functions return 0 or -errno, and report errors on stderr. */
int state_lock(struct state *s);	/* -EBUSY: another process uses the file */
int state_load(struct lnetctl *c, const char *path);	/* -ENOENT: no file, not reported */
int config_load(struct lnetctl *c, const char *path);
/*
 * Reserves disk space for the new file before a change. The requests of the change have @change
 * bytes. Afterwards the caller calls state_commit() or state_drop(). @why receives the error, with
 * the name of the file.
 */
int state_begin(struct state *s, size_t change, char *why, size_t why_size);
/* If the function fails before it renames the new file, the old file stays. */
int state_commit(struct state *s, struct lnetctl *c, bool configured, char *why, size_t why_size);
void state_drop(struct state *s);

/*
 * selftest.c: the network self-test of a node. All functions accept NULL as @t. Stop the self-test
 * while the node still runs. Free it after the node is destroyed, also if selftest_start() failed.
 * @consoles names the NIDs that may control the node: "*", or a list for lnet_nidlist_parse().
 * Returns 0, -EINVAL for another @consoles, -ENOTCONN if the socket cannot be created (see the
 * log), or another -errno.
 */
struct lnet;
struct selftest;
int selftest_start(struct selftest **t, struct lnet *ln, const char *name, const char *consoles);
void selftest_stop(struct selftest *t);
void selftest_free(struct selftest *t);

/*
 * log.c: lines on standard error, with the name of the node. If standard error is the journal, a
 * line begins with syslog's priority. Otherwise it begins with time and level. Call log_open()
 * before other threads exist. It returns 0, or -errno; after an error, lines are written without a
 * queue. log_close() writes the queued lines.
 */
int log_open(const char *node, int level);
void log_close(void);
int log_level_find(const char *name);	/* enum lnet_log_level, -1: unknown */
void log_text(void *arg, enum lnet_log_level level, const char *text);	/* lnet_log_fn */
void log_line(enum lnet_log_level level, const char *fmt, ...)
	__attribute__((__format__(__printf__, 2, 3)));

/* notify.c: sends "READY=1" and similar texts to systemd. Without systemd, it has no effect. */
void notify(const char *what);

#endif
