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

#define OPTS_MAX 24
#define FOUND_MAX 96

struct tool;

struct command {
	const char *name, *help;
	/* 0 or what the exit status is made of: a negative errno, or -1. */
	int (*run)(struct tool *t);
	const struct opt *opts;		/* ends with name NULL; may be NULL */
	/* a group: ends with name NULL; then the rest but help is NULL */
	const struct command *sub;
	bool offline;			/* needs no node */
};

struct tool {
	struct lnetctl *c;
	const char *node;		/* --node */
	bool json;
	const struct command *cmd;
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
void tool_help(const struct command *cmd, FILE *out);
const char *tool_opt(const struct tool *t, const char *name);	/* the last one; NULL: not given */
/* The @nth value of a repeated option; NULL past the last. */
const char *tool_opt_nth(const struct tool *t, const char *name, unsigned int nth);
/* Number of an option, LNETCTL_UNSET if it is not given or no number. */
int64_t tool_num(const struct tool *t, const char *name);

/* main.c: answers and errors, with what the exit status is made of. */
int tool_show(struct tool *t, int rc, struct lnetctl_node *doc, enum lnetctl_style style);
int tool_done(struct tool *t, int rc);		/* of a change */
/* An error of stock's other kind, of four columns: verb, object, errno, text. Returns @err. */
int tool_refuse(const char *verb, const char *object, int err, const char *fmt, ...)
	__attribute__((__format__(printf, 4, 5)));
int tool_missing(const char *what);		/* to stdout, as stock; -EINVAL */

/* commands of their own files */
extern const struct command fault_commands[], drop_commands[], delay_commands[];
int run_import(struct tool *t);
int run_export(struct tool *t);
extern const struct opt import_opts[], export_opts[];

#endif
