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

#define NAME_MAX_LEN	32	/* maximum bytes of a name, with the NUL */

/* ---- link.c: the console ------------------------------------------------------------------- */

struct request {
	char text[65536];
	size_t len;
	bool over;			/* the request is too long */
};
void request_begin(struct request *r, const char *verb);
void request_add(struct request *r, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Returns 0, or -errno of the console or of the connection. If *@doc is not NULL, the caller frees
 * it.
 */
int request_send(struct request *r, struct lnetctl_node **doc);
extern const char *link_node;	/* --node: "NAME", "UID/NAME" or "kernel"; NULL: search a node */

/* ---- errors.c: failures ---------------------------------------------------------------------- */

/* Exit statuses of stock's lst. */
#define EXIT_FAILED	255	/* the command failed */
#define EXIT_NODES	254	/* the command was valid, but failed at some nodes */
/*
 * The exit status of a failed command, which its first error sets. 0: no error has set it, because
 * a usage error was found elsewhere; the program then ends with EXIT_USAGE.
 */
extern int status_of_failure;
/*
 * Prints the error @err that occurred while @doing. Prints stock's text, and then the object: its
 * @kind and @name (NULL: unknown). Returns -1.
 */
int fail_of(int err, const char *kind, const char *name, const char *doing);
int fail(int err, const char *kind, const char *doing);
int misused(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* -1 */
int failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* -1 */
int nodes_failed(void);				/* returns -1; failed nodes were printed */
/*
 * As getopt_long(). Before the function returns '?', it prints the error, and the accepted
 * arguments.
 */
int option_next(int argc, char **argv, const char *letters, const struct option *options,
		int *index);
/*
 * Checks that at most @max arguments follow the options. Otherwise prints the first surplus
 * argument.
 */
bool words_end(int argc, char **argv, int max);
bool is_there(const char *verb, const char *name);	/* is in list_group or list_batch */
unsigned int nr_active(const char *group);

/* ---- print.c: output of several commands --------------------------------------------------- */

int64_t number(const struct lnetctl_node *map, const char *key);	/* 0 if missing */
const char *text(const struct lnetctl_node *map, const char *key);		/* "" */
const char *error_text(int err);			/* @err: a positive errno of a node */
/* Prints the nodes that failed on stderr; returns their number. */
unsigned int print_errors(const struct lnetctl_node *doc);
/* Adds an argument to the request for each NID of @ids. False: a message was printed. */
bool add_ids(struct request *r, const char *ids);
bool name_ok(const char *name, const char *what);
/* Adds @arg as "nid" if it contains an @, else as "group". */
bool add_target(struct request *r, const char *arg);
bool parse_number(const char *name, const char *text, long long lo, long long hi, long long *num);

/* ---- plan.c: arguments of tests of this project -------------------------------------------- */

/*
 * plan_add() adds an argument NAME with its value, plan_add_word() a text "NAME=VALUE". False: a
 * message was printed.
 */
bool plan_add(struct request *r, const char *name, size_t len, const char *value);
bool plan_add_word(struct request *r, const char *word);
/* Parses a time above 0, such as 500us. False: a message was printed. */
bool time_of(const char *in, long long *ns);

/* ---- map.c: a map in a file ---------------------------------------------------------------- */

/* Adds an argument for each line of a file. False: a message was printed. */
bool map_add_file(struct request *r, const char *path);
bool map_is_listed(const struct request *r);
/*
 * If the console reported an error in a line, prints it on stderr. False: there is no such error.
 */
bool map_print_bad(const struct request *r, const struct lnetctl_node *doc);

/* ---- tree.c: nodes by ranges, over a tree -------------------------------------------------- */

/*
 * @doc is the reply to a request that the console passed down a tree of nodes. Prints on stderr the
 * nodes that did not reply, and the nodes that rejected the request. Returns their number.
 */
unsigned int tree_print_missing(const struct lnetctl_node *doc);
int tree_test(int argc, char **argv);	/* test.c */

/* ---- start.c: simultaneous start of clients ------------------------------------------------ */

int run_failed(int rc, const char *batch);	/* batch.c; prints the reason; -1 */
/*
 * @skew_ns: maximum difference of the start times, 0: any difference. Returns 0, or -1 after
 * messages.
 */
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
bool topo_asked(char **argv);	/* with --topo, the command pattern runs NETTEST */
int verb_tree(int argc, char **argv);

#endif
