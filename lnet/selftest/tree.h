/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside the self-test: a session over so many nodes that its console does not know them singly.
 *
 * Nodes are named by ranges, which give each an index, by NID. From ranges, number of children and
 * index each node computes its place in the tree; the console is above them all. What is asked goes
 * down in a wave, what came of it is added up on its way back. Who does not answer is lost for the
 * rest of the session, and those below it are asked by who asked it.
 */
#ifndef LNET_SELFTEST_TREE_H
#define LNET_SELFTEST_TREE_H

#include "plan.h"
#include "service.h"
#include "tally.h"

#define LST_TREE_NODES_MAX	(1U << 20)
#define LST_TREE_RANGES_MAX	256U
#define LST_TREE_K		16U
#define LST_TREE_K_MAX		64U
#define LST_TREE_TESTS_MAX	16U
#define LST_TREE_BODY_MAX	8192U
#define LST_TREE_SAID_MAX	(1U << 19)	/* bytes of a record */
#define LST_TREE_TRY_NS		(1ULL * NSEC_PER_SEC)
#define LST_TREE_TRIES		5U
/* After so long a node that does not answer is lost. */
#define LST_TREE_TIMEOUT_NS	(LST_TREE_TRIES * LST_TREE_TRY_NS)
#define LST_TREE_BEAT_NS	(30ULL * NSEC_PER_SEC)
/* Seconds: those above a node may have to be found lost, one after the other. */
#define LST_TREE_LEASE_MIN	40U
#define LST_TREE_DRIFT_SHIFT	14	/* clocks drift by 1/2^14 at most, 61 us in a second */
#define LST_TREE_ROOT		U32_MAX	/* the console's index */

/* ---- tree_range.c: nodes by ranges ------------------------------------------------------- */

struct lst_range {
	u32 net, lo, hi;		/* the first and last address */
	u32 first, nr;			/* index of the first node, how many */
	u16 count[4];			/* of values of each byte of the address */
	u8 set[4][32];			/* which: a bit each */
};

struct lst_ranges {
	u32 nr, nr_ranges;		/* nodes, ranges */
	struct lst_range *range;	/* by NID, one behind the other */
};

/*
 * Ranges with blanks or commas between them, outside of brackets: "10.0.[0-3].[2-200]@tcp". May
 * sleep. 0; -EINVAL (not ranges of IPv4 addresses on one net each, or one reaches into another);
 * -E2BIG; -ENOMEM. @r is for lst_ranges_free() in any case.
 */
int lst_ranges_parse(struct lst_ranges *r, const char *text);
void lst_ranges_free(struct lst_ranges *r);
u32 lst_ranges_index(const struct lst_ranges *r, const struct lnet_nid *nid);	/* U32_MAX: none */
void lst_ranges_nid(const struct lst_ranges *r, u32 index, struct lnet_nid *nid);

/* ---- tree_place.c: who is below whom ----------------------------------------------------- */

struct lst_place {
	u32 head;			/* LST_TREE_ROOT: the console */
	u32 first, nr;			/* nodes that it stands for, itself among them */
	u32 depth;			/* 0: the console */
	u32 parent;
};

void lst_place_root(struct lst_place *place, u32 nr);
u32 lst_place_children(const struct lst_place *place, u32 k);
void lst_place_child(const struct lst_place *place, u32 k, u32 number, struct lst_place *child);
/* @index is less than @nr. */
void lst_place_find(struct lst_place *place, u32 nr, u32 k, u32 index);
u32 lst_place_levels(u32 nr, u32 k);

/* ---- tree_set.c: which of a row of nodes ------------------------------------------------- */

struct lst_set {
	u32 first, nr, nr_in;
	u8 *bits;			/* NULL: none */
};
#define LST_SET_WIRE(nr)	(5U + DIV_ROUND_UP(nr, 8U))	/* bytes are enough */

/* Nodes [@first, @first + @nr), which are in its row: 0, -ENOMEM. */
int lst_set_add(struct lst_set *set, u32 first, u32 nr);
/* The first run from *@at on; false: there is none. */
bool lst_set_run(const struct lst_set *set, u32 *at, u32 *nr);
void lst_set_free(struct lst_set *set);
u32 lst_set_encode(const struct lst_set *set, u8 *buf);
/* Adds what @buf says of the row [@first, @first + @nr): bytes used, or -EINVAL, -ENOMEM. */
int lst_set_merge(struct lst_set *set, u32 first, u32 nr, const u8 *buf, u32 len);

/* ---- tree_record.c: what comes back ------------------------------------------------------ */

struct lst_tree_tally {
	u32 id;				/* of the test */
	struct lst_tally tally;
};

struct lst_tree_record {
	u32 first, nr;
	u32 nr_done, nr_refused, nr_active, nr_started;
	u32 status;			/* of one that refused, the largest */
	u64 late_ns;			/* from the time for which it was told to its start */
	u64 bound_ns;			/* of the error of clocks on the way */
	struct lst_set missing, refused;
	u32 nr_tallies;
	struct lst_tree_tally *tally[LST_TREE_TESTS_MAX];	/* by id */
};

void lst_tree_record_init(struct lst_tree_record *rec, u32 first, u32 nr);
void lst_tree_record_free(struct lst_tree_record *rec);
int lst_tree_record_tally(struct lst_tree_record *rec, u32 id, const struct lst_tally *tally);
/* Bytes that lst_tree_record_encode() needs at most, and used. */
u32 lst_tree_record_size(const struct lst_tree_record *rec);
u32 lst_tree_record_encode(const struct lst_tree_record *rec, u8 *buf);
/* Of the nodes [@first, @first + @nr), which are in @rec's: 0, -EINVAL, -ENOMEM. */
int lst_tree_record_merge(struct lst_tree_record *rec, u32 first, u32 nr, const u8 *buf, u32 len);

/* ---- tree.c: the tree of a session at a node --------------------------------------------- */

#define OP(name, text)		LST_TREE_##name,
#define EDGE(name)
#define EDGE_TO(from, to)
#define WAVE(name)
#define WAVE_TO(from, to)
enum lst_tree_op {
#include "tree.def"
	LST_NR_TREE_OPS
};
#undef OP
#undef EDGE
#define OP(name, text)
#define EDGE(name)		LST_EDGE_##name,
enum lst_edge_state {
#include "tree.def"
	LST_NR_EDGE_STATES
};
#undef EDGE
#undef WAVE
#define EDGE(name)
#define WAVE(name)		LST_WAVE_##name,
enum lst_wave_state {
#include "tree.def"
	LST_NR_WAVE_STATES
};
#undef OP
#undef EDGE
#undef EDGE_TO
#undef WAVE
#undef WAVE_TO

/* What a wave carries down; words NAME=VALUE, each ended by a zero. */
struct lst_body {
	u32 refs, len;
	char text[];
};

/* A node below. */
struct lst_edge {
	struct lst_rpc rpc;
	struct list_head link;
	struct lst_tree *tree;
	struct lst_place place;
	u8 state;			/* enum lst_edge_state */
	u8 tries;
	bool busy;			/* @rpc is under way */
	u64 wave;			/* that @rpc is for */
	struct lst_body *body;		/* that @rpc offers */
	u64 sent_ns, next_ns;		/* of @rpc; when it is asked again */
	/* its clock less ours, by how much that may be wrong, when it was found; 0: never */
	s64 offset_ns;
	u64 error_ns, sampled_ns;
};

struct lst_wave {
	u64 id;				/* 0: none yet */
	u8 state;			/* enum lst_wave_state */
	u8 op;				/* enum lst_tree_op */
	bool force;
	u64 arg;			/* batch */
	u64 at_ns;			/* START: on our clock */
	/* our clock less the console's, modulo 2^64, and by how much that may be wrong */
	u64 clock_ns, bound_ns;
	u64 began_ns, deadline_ns;
	u32 nr_left;			/* edges, and this node itself, that are not over */
	struct lst_body *body;
	struct lst_tree_record rec;
};

struct lst_tree_test {
	u32 id;
	u64 bid;
	const struct lst_test *test;
};

struct lst_tree_name {			/* of a test, as the console prints it */
	char what[16], batch[LST_NAME];
};

struct lst_tree_counts {		/* of the wave, at this node */
	u32 asked, told;
	u64 bytes;
};

struct lst_tree {
	struct lst *st;
	struct lst_job own, free;	/* its part in a wave; its end */
	struct lst_sid sid;
	u32 feats, k;
	struct lst_ranges ranges;
	struct lst_place place;
	struct list_head edges;
	u32 nr_open;			/* requests and jobs that refer to it */
	bool owning;			/* @own is under way */
	bool ending;			/* it is freed when these are over */
	u64 next_ns;
	struct lst_wave wave;
	/* telling */
	struct lst_rpc tell;
	struct lnet_process asker;
	u32 asker_head;
	bool telling, again;		/* again: somebody else asked meanwhile */
	u8 tell_tries;
	u64 tell_ns;			/* when it is tried again */
	u8 *said;			/* of the wave @said_wave */
	u32 said_len;
	u64 said_wave;
	/* tests */
	u32 nr_tests;
	struct lst_tree_test test[LST_TREE_TESTS_MAX];
	u64 start_ns, start_bid;	/* U64_MAX: nothing is to be started */
	u64 started_ns, late_ns;	/* of the last start; 0: none */
	struct lst_tree_counts counts;
	u64 beat_ns;			/* the console's: between signs of life */
	/* the console's: a wave is over, or the tree ends before that; lock held */
	void (*over)(struct lst_tree *tree);
	void *over_arg;
	u64 took_ns;			/* the last wave */
	struct lst_tree_name *name;	/* of LST_TREE_TESTS_MAX tests */
};

/* May sleep. 0, or as lst_ranges_parse(). The caller's until it is st->tree or st->root. */
int lst_tree_make(struct lst_tree **treep, struct lst *st, const char *ranges, u32 k);
void lst_tree_drop(struct lst_tree *tree);	/* one that is the caller's; NULL is fine */
void lst_tree_end_locked(struct lst_tree *tree);	/* another; it frees itself; NULL is fine */
/* What referred to it does not any more. */
void lst_tree_close_locked(struct lst_tree *tree);
/* Edges to all children of @place, as children of ours; how many could not be made. */
u32 lst_tree_edges_locked(struct lst_tree *tree, const struct lst_place *place);
/* The console's waves; @body may be NULL and is taken. */
struct lst_wave_cfg {
	enum lst_tree_op op;
	u64 arg, at_ns, bound_ns, budget_ns;
	bool force;
	struct lst_body *body;
};
void lst_tree_wave_locked(struct lst_tree *tree, const struct lst_wave_cfg *cfg);
void lst_tree_work_locked(struct lst *st, u64 now);
u64 lst_tree_next_locked(const struct lst *st);
struct lst_body *lst_body_new(const char *text, u32 len, gfp_t gfp);
void lst_body_put(struct lst_body *body);
/* The value of a word, NULL: there is none. */
const char *lst_body_word(const char *text, u32 len, const char *name);
int lst_body_number(const char *text, u32 len, const char *name, s64 lo, s64 hi, s64 *value);

/* ---- tree_wave.c: what goes down --------------------------------------------------------- */

void lst_wave_begin_locked(struct lst_tree *tree);	/* all but its state is set */
void lst_wave_part_locked(struct lst_tree *tree);	/* one of nr_left is over */
void lst_edge_ask_locked(struct lst_edge *edge);
void lst_edge_lose_locked(struct lst_edge *edge, u32 status);
/* Bytes of a record that came from below: 0, or the status of the answer. */
u32 lst_edge_told_locked(struct lst_tree *tree, u32 head, u64 wave, const u8 *buf, u32 len);
void lst_wave_tell_locked(struct lst_tree *tree);
u64 lst_wave_work_locked(struct lst_tree *tree, u64 now);	/* next deadline */

/* ---- tree_serve.c: requests of others ---------------------------------------------------- */

enum lst_verdict lst_tree_serve_locked(struct lst_call *call);

/* ---- tree_act.c: this node's part -------------------------------------------------------- */

void lst_tree_own_run(struct lst_job *job);
void lst_tree_start_locked(struct lst_tree *tree, u64 now);
/* Takes part in the session of the request: the status of the answer. */
u32 lst_tree_join(struct lst_call *call);
void lst_tree_leave_locked(struct lst_tree *tree);

struct lst_call *lst_tree_call(struct lst_tree *tree, u32 type, gfp_t gfp);

/* What a test is, by the words of a body: 0, -EINVAL. The texts are parts of the body. */
struct lst_tree_spec {
	u32 id;
	u64 bid;
	const char *from, *to;
	u32 dist, span, seed;
	struct lst_test_req req;
	bool ours;			/* then @plan says it, else the former */
	struct lst_plan plan;
};
int lst_tree_spec_read(struct lst_tree_spec *spec, const char *text, u32 len, u32 feats);

/* ---- tree_drill.c: tests of ours --------------------------------------------------------- */

/* This node's sides of one, of the wave @wave: the status of an answer. May sleep. */
u32 lst_tree_drill_add(struct lst_tree *tree, const struct lst_tree_spec *spec,
		       const struct lst_ranges *from, const struct lst_ranges *to, u64 wave);

#endif
