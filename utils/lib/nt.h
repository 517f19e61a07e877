/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user interface of NETTEST for the programs nettest and lst: arguments of a run, and output.
 */
#ifndef UTILS_LIB_NT_H
#define UTILS_LIB_NT_H

#include <stdio.h>
#include "lnet/selftest/nettest.h"

enum nt_print { NT_AVERAGE, NT_TOTAL, NT_LOCAL };

#define NT_LISTS 4

/* ---- nt_args.c: arguments of one letter and its value -------------------------------------- */

struct nt_words {
	struct nettest_plan plan;
	char unit;			/* b, K or M: the unit of lengths */
	u32 unit_bytes, least, most, step, noise;
	enum nt_print print;
	const char *output, *matrix;	/* file names, or NULL */
	const char *nids[NT_LISTS];	/* lists of NIDs: one list per rail, one NID per node */
	unsigned int nr_lists;
	u32 port;			/* 0: not given */
};
/* Sets the defaults. */
void nt_words_init(struct nt_words *w);
/*
 * Reads one argument, to which @w may keep a pointer. Returns 0, or -EINVAL with the reason in
 * @why.
 */
int nt_word(struct nt_words *w, const char *word, char *why, size_t why_size);
/*
 * Checks that at least two of @nr nodes are measured. Returns 0, or -EINVAL with the reason in
 * @why.
 */
int nt_words_fit(const struct nt_words *w, u32 nr, char *why, size_t why_size);
/* Called after the last argument. */
int nt_words_end(struct nt_words *w, char *why, size_t why_size);
#define NT_WORDS_HELP										\
	"  ub|uK|uM     unit of message lengths: 1, 1024 or 1048576 bytes; default K\n"		\
	"  mN MN        least and largest message length, in units; default 1 and 16\n"		\
	"  sN           difference between successive lengths, in units; K takes precedence\n"	\
	"  KN           factor between successive lengths; default 2\n"				\
	"  RN           repeats of the whole measurement; default 1\n"				\
	"  TN           iterations for each figure; default 100\n"				\
	"  C, C0, C1    C, C0: without the topology chaos; C1: with it (default)\n"		\
	"  Paverage|Ptotal|Plocal  print the throughput of the average channel (default), of\n"	\
	"               all nodes together, or of the local node\n"				\
	"  oFILE        print the results to FILE\n"						\
	"  vnone|vends|vfull  check no byte, the ends (default) or all of each message\n"	\
	"  xFILE        write the matrix of median round trips between all nodes to FILE\n"	\
	"  NN           noise: the last nodes are not measured, but exchange messages of N\n"	\
	"               units with each other during the measurement\n"				\
	"  BN           number of node pairs that send noise; default 1\n"			\
	"  DN           noise messages in flight in each direction of a pair; default 8\n"

/* ---- nt_report.c: figures and tables --------------------------------------------------------- */

struct nt_cell {			/* results of one measurement with all nodes */
	/* Each node adds up the durations of its exchanges. This is the largest of these sums. */
	u64 sum_ns;
	u32 nr;			/* exchanges of each node; 0: not measured yet */
	/* bytes sent and received by the nodes that load the network and are not measured */
	u64 noise_out, noise_in;
};

struct nt_report {
	FILE *out;
	const struct nt_words *words;
	u32 nr;			/* nodes */
	struct nt_cell *cell;		/* nettest_plan_nr() cells */
	u64 errors;		/* messages received with wrong contents */
};

/*
 * Returns bytes per second. @ns is the duration of one exchange. For NT_LOCAL, returns the rate of
 * node @rank.
 */
double nt_rate(enum nt_print print, enum nettest_topo topo, u32 nr, u32 rank,
	       u32 len, double ns);
double nt_cell_ns(const struct nt_cell *cell);	/* of an iteration */
/* Returns @ns minus the time of the barrier, or 0 if the barrier takes more than 30 % of @ns. */
double nt_corrected_ns(double ns, double barrier_ns);

/*
 * Opens the files that @w names. *@out may become stdout, and *@matrix may become NULL. Reports an
 * error on stderr. Returns 0 or -EIO.
 */
int nt_files_open(const struct nt_words *w, FILE **out, FILE **matrix);
int nt_files_close(const struct nt_words *w, FILE *out, FILE *matrix);	/* NULL is fine */

/* @nodes: names of the nodes. */
void nt_print_head(const struct nt_report *r, const char *system, const char *const *nodes);
void nt_print_row(const struct nt_report *r, u32 repeat, u32 len_ix);
/* Prints all complete rows, except the first @printed ones. Returns the number of printed rows. */
u32 nt_print_rows(const struct nt_report *r, u32 printed, u32 nr_measured);
/* Prints the end of the output, after all measures. */
void nt_print_end(const struct nt_report *r, double seconds);
/*
 * Prints the matrix of P x P times to @out, one line per node. @median has P times in ns for each
 * node.
 */
void nt_print_matrix(FILE *out, const struct nt_words *words, const struct nettest_measure *m,
		     u32 nr, const u64 *median);

#endif
