/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lnetctl: commands as tables, options as tables, and what a command gets to run with. */
#ifndef LNETCTL_TOOL_H
#define LNETCTL_TOOL_H

#include <lnet/lnetctl.h>

enum arg { ARG_NONE, ARG_NEEDED, ARG_LEVEL };	/* LEVEL: a number may follow, else it is 1 */

struct opt {
	const char *name;
	char letter;
	enum arg arg;
	const char *help;
};

#define OPTS_MAX 32
#define FOUND_MAX 96
#define PATH_MAX_LEN 64

struct tool;

struct command {
	const char *name, *help;
	/*
	 * 0 or what the exit status is made of: a negative errno, or -1. Of a group: what runs a
	 * word that is none of its commands, with that word and the rest as words; NULL: refuse it.
	 */
	int (*run)(struct tool *t);
	const struct opt *opts;		/* ends with name NULL; may be NULL */
	/* a group: ends with name NULL */
	const struct command *sub;
	bool offline;			/* needs no node */
	bool words;			/* takes words as they are, no options: -1 is one */
	int at_least;			/* fewer words and options: help, and -EINVAL */
};

struct tool {
	struct lnetctl *c;
	const char *node;		/* --node */
	bool json_always, json;		/* before the command; for this one */
	const struct command *cmd;
	char path[PATH_MAX_LEN];	/* the groups that led to cmd, as "fault drop " */
	struct {
		const struct opt *opt;
		const char *val;	/* "" without argument */
	} found[FOUND_MAX];
	unsigned int nr_found;
	int nr_rest;			/* words that are no options */
	char **rest;
};

extern const struct command lnetctl_commands[];

/* opt.c */
#define TOOL_HELPED 1	/* help was shown instead; *rc is the exit status */
int tool_parse(struct tool *t, int argc, char **argv, int *rc);
/* "net add: text", and a line per option. @path is what stands before the name. */
void tool_help(const char *path, const struct command *cmd, FILE *out);
const char *tool_opt(const struct tool *t, const char *name);	/* the last one; NULL: not given */
/* The @nth value of a repeated option; NULL past the last. */
const char *tool_opt_nth(const struct tool *t, const char *name, unsigned int nth);
/* Number of an option, LNETCTL_UNSET if it is not given or no number. */
int64_t tool_num(const struct tool *t, const char *name);
unsigned int tool_level(const struct tool *t);	/* -v */
/* The words that are no options as one list with commas, to free(). NULL: none, or no memory. */
char *tool_words(const struct tool *t);

/* main.c: answers and errors, with what the exit status is made of. */
int tool_show(struct tool *t, int rc, struct lnetctl_node *doc, enum lnetctl_style style);
int tool_done(struct tool *t, int rc);		/* of a change */
/* An error of stock's other kind, of four columns: verb, object, errno, text. Returns @err. */
int tool_refuse(const char *verb, const char *object, int err, const char *fmt, ...)
	__attribute__((__format__(printf, 4, 5)));
int tool_set_done(struct tool *t, int rc);	/* of net set, peer set */
int tool_missing(const char *what);		/* to stdout, as stock; -EINVAL */
int tool_unknown(const char *word);		/* no such command; -1 */

/* shell.c: commands from a terminal or a pipe; what the last one gave. */
int tool_shell(struct tool *t, int (*run)(struct tool *t, int argc, char **argv));
/* Is @word the built-in command @name, or --@name? */
bool tool_is_builtin(const char *word, const char *name);


/* commands of their own files */
extern const struct command net_commands[], peer_commands[], set_commands[], debug_commands[];
extern const struct command fault_commands[], drop_commands[], delay_commands[];
extern const struct command rule_commands[];
extern const struct command udsp_commands[];
extern const struct command route_commands[];
int run_set_other(struct tool *t);
int run_drain(struct tool *t);
int run_undrain(struct tool *t);
int run_import(struct tool *t);
int run_export(struct tool *t);
int run_plan(struct tool *t);
int run_apply(struct tool *t);
extern const struct opt import_opts[], export_opts[];
int run_rule_del(struct tool *t);
int run_rules_show(struct tool *t);
int run_rules_export(struct tool *t);
/* An option as a parameter of a rule, if it is given; false: no memory. */
bool rule_option(struct lnetctl_node *rule, const struct tool *t, const char *name);
int run_drill(struct tool *t);
extern const struct opt drill_opts[];
int run_service_id(struct tool *t);
int run_setup_mrrouting(struct tool *t);
int run_setup_sysctl(struct tool *t);

#endif
