/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of lnetctl: tables of commands and options, and the state with which a command runs. */
#ifndef LNETCTL_TOOL_H
#define LNETCTL_TOOL_H

#include <lnet/lnetctl.h>
#include "utils/lib/exit_status.h"

/* The kind of an option's value. */
enum arg {
	ARG_NONE,	/* the option has no value */
	ARG_LEVEL,	/* an optional number; 1 if it is missing */
	ARG_TEXT,	/* not empty; max: maximum characters, 0: any number */
	ARG_NID, ARG_NIDS, ARG_NET, ARG_FILE,	/* a text that the library or the node parses */
	ARG_MATCH,	/* a NID, *@net or *; the library or the node parses it */
	ARG_NUM,	/* min to max, as decimal, octal or hexadecimal number */
	ARG_TIME,	/* min to max ns; seconds if there is no unit */
	ARG_SPAN,	/* as ARG_TIME, but a unit is required */
	ARG_WAIT,	/* as ARG_TIME, but optional; WAIT_DEFAULT if missing */
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
	const char *form;		/* for ARG_TEXT: describes the accepted texts */
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
	 * Runs the command. Returns 0, a status of exit_status.h, a negative errno, or -1. The exit
	 * status is the low byte of the returned value. If this struct describes a group, run() is
	 * called only if the word after the group's name is not one of its commands. If run is
	 * NULL, the tool rejects such a word.
	 */
	int (*run)(struct tool *t);
	const struct opt *opts;		/* ends with an element of name NULL; NULL: no options */
	/* commands of a group; ends with an element of name NULL */
	const struct command *sub;
	bool offline;			/* needs no node */
	bool raw;			/* no options: an argument may begin with '-' */
	unsigned char words_min, words_max;
	const char *word;		/* kind of the arguments: "NID", "VALUE" */
	enum arg word_arg;		/* how to read arguments; ARG_NONE: the help explains it */
	/*
	 * Sets of options. For example, "net nid;if nid" is two sets. The caller may give at most
	 * one option of each set in @clash. The caller must give at least one option of each set in
	 * @need.
	 */
	const char *clash, *need;
};

struct tool {
	struct lnetctl *c;
	const char *node;		/* --node */
	unsigned int wait_ms;		/* --wait; 0: not given */
	/* json_always: given before the command; json: in effect now */
	bool json_always, json;
	const struct command *cmd;
	char path[PATH_MAX_LEN];	/* groups that contain cmd, as "fault drop " */
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
 * Reads options and arguments, and checks them against the tables of t->cmd. Returns 0 if t->cmd
 * may run. Returns TOOL_ENDS after it printed help or an error; *@rc is then the exit status.
 */
#define TOOL_ENDS 1
int tool_parse(struct tool *t, int argc, char **argv, int *rc);
/* Prints "net add: text", and a line for each option. @path precedes the name of the command. */
void tool_help(const char *path, const struct command *cmd, FILE *out);
const char *tool_opt(const struct tool *t, const char *name);	/* last value; NULL: not given */
/* Returns value number @nth of a repeated option. NULL: there are fewer values. */
const char *tool_opt_nth(const struct tool *t, const char *name, unsigned int nth);
/* Returns the number of an option. LNETCTL_UNSET: the option was not given, or is not a number. */
int64_t tool_num(const struct tool *t, const char *name);
unsigned int tool_level(const struct tool *t);	/* -v */
/*
 * Returns the arguments as one list, separated by commas, which the caller frees. NULL: no
 * arguments, or no memory.
 */
char *tool_words(const struct tool *t);

/* value.c */
/*
 * Does the option @o accept *@val? For ARG_WORD, *@val then becomes the word of the table. If
 * false, @why contains the reason: "--rate must be 1 to 5, not 6".
 */
bool tool_value_check(const struct opt *o, const char **val, char *why, size_t size);
/* Describes the values that @o accepts, for example "1 to 1000", "up or down", or "a NID". */
void tool_value_accepted(const struct opt *o, char *buf, size_t size);

/* dump.c: prints the tables as JSON, for list-commands --json. */
int tool_dump(const char *path, const struct command *table);

/* ---- errors.c: on standard error; as JSON after tool_errors_as_json() ---- */

/* Makes later errors have the command of @t as their object, and the layout that @t requests. */
void tool_errors_of(struct tool *t);
/* Prints a usage error, before anything was sent to the node. Returns EXIT_USAGE. */
int tool_usage(const char *fmt, ...) __attribute__((__format__(printf, 1, 2)));
/*
 * Prints an error in the second layout of stock's tool: verb, object, errno and text in four
 * columns. Returns @err.
 */
int tool_refuse(const char *verb, const char *object, int err, const char *fmt, ...)
	__attribute__((__format__(printf, 4, 5)));
/*
 * Prints only the text, for errors that stock's tool prints as one line. With --json, prints it as
 * other errors.
 */
void tool_plain(const char *verb, const char *object, int err, const char *fmt, ...)
	__attribute__((__format__(printf, 4, 5)));
int tool_missing(const char *what);		/* stock's text; EXIT_USAGE */
int tool_unknown(const char *word);		/* no such command; EXIT_NO_COMMAND */
int tool_no_command(const char *fmt, ...) __attribute__((__format__(printf, 1, 2)));
int tool_no_node(const char *why);		/* EXIT_NO_NODE */
void tool_error_print(struct tool *t);		/* prints the error of the last call of t->c */
/*
 * Returns the exit status for the error of the last call. EXIT_NO_NODE: no node replied, or the
 * node is not configured. EXIT_NOT_PERMITTED: the caller lacks permission. For other errors,
 * returns @otherwise.
 */
int tool_status(const struct tool *t, int otherwise);

/* main.c: these functions print replies. The exit status is the low byte of the returned value. */
int tool_show(struct tool *t, int rc, struct lnetctl_node *doc, enum lnetctl_style style);
int tool_done(struct tool *t, int rc);		/* of a change */
int tool_set_done(struct tool *t, int rc);	/* of net set, peer set */

/* ---- nids.c: the interfaces of the node; @doc: of lnetctl_net_show() ---- */

/*
 * Returns the interface after @ni, on *@net or a later net; NULL: none. If @ni and *@net are NULL,
 * returns the first interface.
 */
const struct lnetctl_node *tool_ni_next(const struct lnetctl_node *doc,
					const struct lnetctl_node **net,
					const struct lnetctl_node *ni);
bool tool_is_ni(const struct lnetctl_node *doc, const char *nid);
unsigned int tool_nis_up(const struct lnetctl_node *doc);	/* without loopback */
/* Checks that --local_nid is an interface of the node. Returns 0 or EXIT_USAGE. */
int tool_local_check(struct tool *t);
/*
 * Checks that each address of @list (may be NULL) can be the address of a host. Returns 0 or
 * EXIT_USAGE.
 */
int tool_peer_check(const char *list);

/* shell.c: runs commands from a terminal or a pipe. Returns the result of the last command. */
int tool_shell(struct tool *t, int (*run)(struct tool *t, int argc, char **argv));
/* Is @word the built-in command @name, or the option --@name? */
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
/* If the option was given, adds it to the rule as a parameter. False: no memory. */
bool rule_option(struct lnetctl_node *rule, const struct tool *t, const char *name);
/* Checks that an option of the rule selects messages. Returns 0 or EXIT_USAGE. */
int tool_selects(struct tool *t);
/* Prints the number of the newest rule of @kind. Returns 0. */
int tool_rule_print(struct tool *t, const char *kind);
int run_drill(struct tool *t);
extern const struct opt drill_opts[];
int run_service_id(struct tool *t);
int run_setup_mrrouting(struct tool *t);
int run_setup_sysctl(struct tool *t);

#endif
