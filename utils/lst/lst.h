/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside lst: requests to the console, what it answered, and the commands. */
#ifndef LST_TOOL_H
#define LST_TOOL_H

#include <getopt.h>
#include <lnet/lnetctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "../lib/exit_status.h"

#define NAME_MAX_LEN	32	/* of sessions, groups, batches, with the last zero */

/* ---- link.c: the console ------------------------------------------------------------------- */

struct request {
	char text[65536];
	size_t len;
	bool over;			/* it did not fit */
};
void request_begin(struct request *r, const char *verb);
void request_add(struct request *r, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* -errno of the console or of the way there; *doc, if not NULL, is for lnetctl_doc_free(). */
int request_send(struct request *r, struct lnetctl_node **doc);
extern const char *link_node;	/* --node: "NAME", "UID/NAME" or "kernel"; NULL: which is there */

/* ---- why.c: failures ------------------------------------------------------------------------ */

#define EXIT_FAILED	255	/* as stock's lst */
#define EXIT_NODES	254	/* also: nodes failed, the command was right */
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
/* Whether at most @max words follow the options; if not, prints the first extra word. */
bool words_end(int argc, char **argv, int max);
bool is_there(const char *verb, const char *name);	/* what list_group or list_batch lists */
unsigned int nr_active(const char *group);

/* ---- print.c: what several commands say ---------------------------------------------------- */

int64_t number(const struct lnetctl_node *map, const char *key);	/* 0 if there is none */
const char *text(const struct lnetctl_node *map, const char *key);		/* "" */
const char *error_text(int err);			/* of a node's status, above 0 */
/* Nodes that failed, on stderr; how many. */
unsigned int print_errors(const struct lnetctl_node *doc);
/* A word of the request for each NID of @ids; false: said why not. */
bool add_ids(struct request *r, const char *ids);
bool name_ok(const char *name, const char *what);
/* The words "group" or "nid" of what @arg names: NIDs have an @. */
bool add_target(struct request *r, const char *arg);
bool parse_number(const char *name, const char *text, long long lo, long long hi, long long *num);

/* ---- plan.c: words of tests of this project ------------------------------------------------ */

/* A word of the request for NAME and its value, or for "NAME=VALUE"; false: said why not. */
bool plan_add(struct request *r, const char *name, size_t len, const char *value);
bool plan_add_word(struct request *r, const char *word);
/* Above 0, as 500us; false: said why not. */
bool time_of(const char *in, long long *ns);

/* ---- map.c: who sends to whom, in a file --------------------------------------------------- */

/* The words of the request for the lines of a file; false: said why not. */
bool map_add_file(struct request *r, const char *path);
bool map_is_listed(const struct request *r);
/* What the console says of a line, on stderr; false: nothing. */
bool map_print_bad(const struct request *r, const struct lnetctl_node *doc);

/* ---- tree.c: nodes by ranges, over a tree -------------------------------------------------- */

/* Who is missing or refused, on stderr; how many. */
unsigned int tree_print_missing(const struct lnetctl_node *doc);
int tree_test(int argc, char **argv);	/* test.c */

/* ---- start.c: all clients at one time ------------------------------------------------------ */

/* @skew_ns: how far apart they may be, 0: any. 0 or -1, all is said. */
int run_failed(int rc, const char *batch);	/* batch.c; prints the reason; -1 */
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
bool topo_asked(char **argv);	/* pattern with --topo, which is nettest by other words */
int verb_tree(int argc, char **argv);

#endif
