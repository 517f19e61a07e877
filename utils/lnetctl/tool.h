/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lnetctl: tables of commands and options, and the state with which a command runs. */
#ifndef LNETCTL_TOOL_H
#define LNETCTL_TOOL_H

#include <lnet/lnetctl.h>
#include "utils/lib/exit_status.h"

/* The kind of an option's value. */
enum arg {
	ARG_NONE,	/* the option has no value */
	ARG_LEVEL,	/* an optional number; without it 1 */
	ARG_TEXT,	/* not empty; at most max characters, 0: any number */
	ARG_NID, ARG_NIDS, ARG_NET, ARG_FILE,	/* the library or the node parses the text */
	ARG_MATCH,	/* a NID, *@net or *; the library or the node parses it */
	ARG_NUM,	/* min to max; decimal, octal or hexadecimal */
	ARG_TIME,	/* min to max ns; a bare number is seconds */
	ARG_SPAN,	/* as ARG_TIME, but a unit is required */
	ARG_WAIT,	/* as ARG_TIME, but optional; default WAIT_DEFAULT */
	ARG_WORD,	/* one of @words, in upper or lower case */
};

struct opt {
	const char *name;
	char letter;
	enum arg arg;
	const char *help;
	int64_t min;
	uint64_t max;
	const char *const *words;	/* ends with NULL */
	bool many;			/* may be given several times */
	const char *form;		/* of ARG_TEXT: describes the accepted texts */
};

#define RULE_NAME_FORM "up to 31 letters, digits, . - _"
#define WAIT_DEFAULT "10s"
#define TIME_MS 1000000ULL
#define TIME_S (1000 * TIME_MS)
#define HEALTH_MAX 1000
#define TIME_DAY (86400 * TIME_S)

/* NI_MIN_credits and so on. */
enum {
#define NI_NUMBER(table, name, min, max) NI_MIN_##name = min, NI_MAX_##name = max,
#include "lnet/model/ni_numbers.def"
#undef NI_NUMBER
};

#define OPTS_MAX 32
#define FOUND_MAX 96
#define PATH_MAX_LEN 64

struct tool;

#define WORDS_ANY 255

struct command {
	const char *name, *help;
	/*
	 * Runs the command. Returns 0, a status of exit_status.h, or a negative errno or -1, of
	 * which the exit status is the low byte. For a group: called if the next word is none of
	 * its commands; NULL: the tool rejects such a word.
	 */
	int (*run)(struct tool *t);
	const struct opt *opts;		/* ends with name NULL; may be NULL */
	/* of a group; ends with name NULL */
	const struct command *sub;
	bool offline;			/* needs no node */
	bool raw;			/* no options: an argument may begin with '-' */
	unsigned char words_min, words_max;
	const char *word;		/* kind of its arguments: "NID", "VALUE" */
	enum arg word_arg;		/* how arguments are read; ARG_NONE: see the help */
	/*
	 * Sets of options, for example "net nid;if nid". The caller may give at most one option of
	 * each set of @clash, and must give at least one option of each set of @need.
	 */
	const char *clash, *need;
};

struct tool {
	struct lnetctl *c;
	const char *node;		/* --node */
	unsigned int wait_ms;		/* --wait; 0: not given */
	bool json_always, json;		/* given before the command; in effect for this one */
	const struct command *cmd;
	char path[PATH_MAX_LEN];	/* the groups above cmd, as "fault drop " */
	struct {
		const struct opt *opt;
		const char *val;	/* "" without a value */
	} found[FOUND_MAX];
	unsigned int nr_found;
	int nr_rest;			/* arguments that are not options */
	char **rest;
};

extern const struct command lnetctl_commands[];

/* opt.c */
/*
 * Reads options and arguments and checks them against the tables of t->cmd. 0: t->cmd may run.
 * TOOL_ENDS: help or an error was printed; *rc is the exit status.
 */
#define TOOL_ENDS 1
int tool_parse(struct tool *t, int argc, char **argv, int *rc);
/* Prints "net add: text", and a line per option. @path is the prefix of the name. */
void tool_help(const char *path, const struct command *cmd, FILE *out);
const char *tool_opt(const struct tool *t, const char *name);	/* last value; NULL: not given */
/* The @nth value of a repeated option; NULL past the last. */
const char *tool_opt_nth(const struct tool *t, const char *name, unsigned int nth);
/* Number of an option; LNETCTL_UNSET: not given, or not a number. */
int64_t tool_num(const struct tool *t, const char *name);
unsigned int tool_level(const struct tool *t);	/* -v */
/* The arguments in one list with commas; the caller frees it. NULL: none, or no memory. */
char *tool_words(const struct tool *t);

/* value.c */
/*
 * Whether @o accepts *@val. ARG_WORD: *@val becomes the word of the table. If false, @why has the
 * reason: "--rate must be 1 to 5, not 6".
 */
bool tool_value_check(const struct opt *o, const char **val, char *why, size_t size);
/* Describes the values that @o accepts: "1 to 1000", "up or down", "a NID". */
void tool_value_accepted(const struct opt *o, char *buf, size_t size);

/* dump.c: the tables as JSON, for list-commands --json. */
int tool_dump(const char *path, const struct command *table);

/* ---- errors.c: on standard error; as JSON after tool_errors_as_json() ---- */

void tool_errors_of(struct tool *t);	/* later errors name the command of @t */
/* Prints a usage error; nothing was sent to the node. Returns EXIT_USAGE. */
int tool_usage(const char *fmt, ...) __attribute__((__format__(printf, 1, 2)));
/* An error in stock's second form, of four columns: verb, object, errno, text. Returns @err. */
int tool_refuse(const char *verb, const char *object, int err, const char *fmt, ...)
	__attribute__((__format__(printf, 4, 5)));
/* Prints only the text, where stock's tool prints a line; with --json, prints it as any error. */
void tool_plain(const char *verb, const char *object, int err, const char *fmt, ...)
	__attribute__((__format__(printf, 4, 5)));
int tool_missing(const char *what);		/* stock's text; EXIT_USAGE */
int tool_unknown(const char *word);		/* no such command; EXIT_NO_COMMAND */
int tool_no_command(const char *fmt, ...) __attribute__((__format__(printf, 1, 2)));
int tool_no_node(const char *why);		/* EXIT_NO_NODE */
void tool_error_print(struct tool *t);		/* the error of the last call of t->c */
/*
 * The exit status for the error of the last call. EXIT_NO_NODE: no node replied, or the node is not
 * configured. EXIT_NOT_PERMITTED: the caller lacks permission. Other errors: @otherwise.
 */
int tool_status(const struct tool *t, int otherwise);

/* main.c: print replies; return the value of which the exit status is the low byte. */
int tool_show(struct tool *t, int rc, struct lnetctl_node *doc, enum lnetctl_style style);
int tool_done(struct tool *t, int rc);		/* of a change */
int tool_set_done(struct tool *t, int rc);	/* of net set, peer set */

/* ---- nids.c: the interfaces of the node; @doc: of lnetctl_net_show() ---- */

/* The interface after @ni, on *@net or a later net; @ni and *@net NULL: the first. NULL: none. */
const struct lnetctl_node *tool_ni_next(const struct lnetctl_node *doc,
					const struct lnetctl_node **net,
					const struct lnetctl_node *ni);
bool tool_is_ni(const struct lnetctl_node *doc, const char *nid);
unsigned int tool_nis_up(const struct lnetctl_node *doc);	/* without loopback */
/* 0, or EXIT_USAGE: --local_nid is not an interface of the node. */
int tool_local_check(struct tool *t);
/* 0, or EXIT_USAGE: an address of @list (may be NULL) cannot be that of a host. */
int tool_peer_check(const char *list);

/* shell.c: runs commands from a terminal or a pipe; returns the result of the last one. */
int tool_shell(struct tool *t, int (*run)(struct tool *t, int argc, char **argv));
/* Is @word the built-in command @name, or --@name? */
bool tool_is_builtin(const char *word, const char *name);


/* commands in separate files */
extern const struct command net_commands[], peer_commands[], set_commands[], debug_commands[];
extern const struct command fault_commands[], drop_commands[], delay_commands[];
extern const struct command rule_commands[];
extern const struct command udsp_commands[];
extern const struct command route_commands[];
int run_set_other(struct tool *t);
int run_drain(struct tool *t);
int run_undrain(struct tool *t);
extern const struct opt drain_opts[];
int run_import(struct tool *t);
int run_export(struct tool *t);
int run_plan(struct tool *t);
int run_apply(struct tool *t);
extern const struct opt import_opts[], export_opts[], plan_opts[], apply_opts[];
int run_rule_del(struct tool *t);
int run_rules_show(struct tool *t);
int run_rules_export(struct tool *t);
/* Adds an option, if given, as a parameter of the rule; false: no memory. */
bool rule_option(struct lnetctl_node *rule, const struct tool *t, const char *name);
/* 0, or EXIT_USAGE: no option of the rule selects messages. */
int tool_selects(struct tool *t);
/* Prints the number of the newest rule of @kind. Returns 0. */
int tool_rule_print(struct tool *t, const char *kind);
int run_drill(struct tool *t);
extern const struct opt drill_opts[];
int run_service_id(struct tool *t);
int run_setup_mrrouting(struct tool *t);
int run_setup_sysctl(struct tool *t);

#endif
