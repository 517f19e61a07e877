/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of lst: requests to the console, its replies, and the commands. */
#ifndef LST_TOOL_H
#define LST_TOOL_H

#include <getopt.h>
#include <lnet/lnetctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "../lib/exit_status.h"

#define NAME_MAX_LEN	32	/* of sessions, groups and batches, with the NUL */

/* ---- link.c: the console ------------------------------------------------------------------- */

struct request {
	char text[65536];
	size_t len;
	bool over;			/* the request is too long */
};
void request_begin(struct request *r, const char *verb);
void request_add(struct request *r, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* -errno of the console or of the connection; the caller frees *@doc, if not NULL. */
int request_send(struct request *r, struct lnetctl_node **doc);
extern const char *link_node;	/* --node: "NAME", "UID/NAME" or "kernel"; NULL: search */

/* ---- errors.c: failures ---------------------------------------------------------------------- */

#define EXIT_FAILED	255	/* as stock's lst */
#define EXIT_NODES	254	/* also: nodes failed, but the command is valid */
/* Exit status of a failed command, by its first error; 0: no error was printed, a usage error. */
extern int status_of_failure;
/*
 * Prints the error @rc of the object @name (NULL: unknown) of @kind while @doing: first stock's
 * text, then the object. Returns -1.
 */
int fail_of(int err, const char *kind, const char *name, const char *doing);
int fail(int err, const char *kind, const char *doing);
int misused(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* -1 */
int failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* -1 */
int nodes_failed(void);				/* -1; the failed nodes were printed */
/* As getopt_long(). Before it returns '?', it prints the error and what the command accepts. */
int option_next(int argc, char **argv, const char *letters, const struct option *options,
		int *index);
/* Checks that at most @max arguments follow the options; else prints the first extra one. */
bool words_end(int argc, char **argv, int max);
bool is_there(const char *verb, const char *name);	/* is in list_group or list_batch */
unsigned int nr_active(const char *group);

/* ---- print.c: output of several commands --------------------------------------------------- */

int64_t number(const struct lnetctl_node *map, const char *key);	/* 0 if missing */
const char *text(const struct lnetctl_node *map, const char *key);		/* "" */
const char *error_text(int err);			/* for a positive errno of a node */
/* Prints the nodes that failed on stderr; returns their number. */
unsigned int print_errors(const struct lnetctl_node *doc);
/* Adds an argument to the request for each NID of @ids; false after a message. */
bool add_ids(struct request *r, const char *ids);
bool name_ok(const char *name, const char *what);
/* Adds the argument "group" or "nid" for @arg: NIDs contain an @. */
bool add_target(struct request *r, const char *arg);
bool parse_number(const char *name, const char *text, long long lo, long long hi, long long *num);

/* ---- plan.c: arguments of tests of this project -------------------------------------------- */

/* Adds an argument for NAME and its value, or for "NAME=VALUE"; false after a message. */
bool plan_add(struct request *r, const char *name, size_t len, const char *value);
bool plan_add_word(struct request *r, const char *word);
/* Parses a time above 0, such as 500us; false after a message. */
bool time_of(const char *in, long long *ns);

/* ---- map.c: a map in a file ---------------------------------------------------------------- */

/* Adds an argument for each line of a file; false after a message. */
bool map_add_file(struct request *r, const char *path);
bool map_is_listed(const struct request *r);
/* Prints the console's error about a line on stderr; false: there is none. */
bool map_print_bad(const struct request *r, const struct lnetctl_node *doc);

/* ---- tree.c: nodes by ranges, over a tree -------------------------------------------------- */

/* Prints missing and rejected nodes on stderr; returns their number. */
unsigned int tree_print_missing(const struct lnetctl_node *doc);
int tree_test(int argc, char **argv);	/* test.c */

/* ---- start.c: simultaneous start of clients ------------------------------------------------ */

int run_failed(int rc, const char *batch);	/* batch.c; prints the reason; -1 */
/* @skew_ns: bound on the difference of the starts, 0: any. 0, or -1 after messages. */
int start_together(const char *name, long long skew_ns);

/* ---- commands ------------------------------------------------------------------------------ */

int verb_new_session(int argc, char **argv);
int verb_show_session(int argc, char **argv);
int verb_end_session(int argc, char **argv);
int verb_ping(int argc, char **argv);
int verb_add_group(int argc, char **argv);
int verb_del_group(int argc, char **argv);
int verb_update_group(int argc, char **argv);
int verb_list_group(int argc, char **argv);
int verb_add_batch(int argc, char **argv);
int verb_list_batch(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_stop(int argc, char **argv);
int verb_query(int argc, char **argv);
int verb_add_test(int argc, char **argv);
int verb_pattern(int argc, char **argv);
int verb_stat(int argc, char **argv);
int verb_show_error(int argc, char **argv);
int verb_history(int argc, char **argv);
int verb_plot(int argc, char **argv);
int verb_wait(int argc, char **argv);
int verb_bulk_server(int argc, char **argv);
int verb_bulk_write(int argc, char **argv);
int verb_nettest(int argc, char **argv);
int verb_topo(int argc, char **argv);
bool topo_asked(char **argv);	/* pattern with --topo: nettest with other options */
int verb_tree(int argc, char **argv);

#endif
