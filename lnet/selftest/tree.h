/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internals of the self-test: a session over so many nodes that its console does not store each of
 * them.
 *
 * Ranges of NIDs define the nodes, and give each node an index. From the ranges, the number of
 * children and its index, each node computes its place in the tree. The console is the root. A wave
 * passes a request down the tree, and its results are added up on the way back. A node that does
 * not reply is lost for the rest of the session. Then the node above the lost node sends requests
 * to the nodes below the lost node.
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
/* Time after which a node without a reply counts as lost. */
#define LST_TREE_TIMEOUT_NS	(LST_TREE_TRIES * LST_TREE_TRY_NS)
#define LST_TREE_BEAT_NS	(30ULL * NSEC_PER_SEC)
/*
 * Minimum lease in seconds. If all nodes between the console and a node are lost, they are detected
 * one after the other. The lease is long enough for this.
 */
#define LST_TREE_LEASE_MIN	40U
#define LST_TREE_DRIFT_SHIFT	14	/* maximum drift of clocks: 1/2^14, 61 us in a second */
#define LST_TREE_ROOT		U32_MAX	/* the console's index */

/* ---- tree_range.c: nodes by ranges ------------------------------------------------------- */

struct lst_range {
	u32 net, lo, hi;		/* the first and last address */
	u32 first, nr;			/* first: index of the first node; nr: number of nodes */
	u16 count[4];			/* number of values of each byte of the address */
	u8 set[4][32];			/* which: a bit each */
};

struct lst_ranges {
	u32 nr, nr_ranges;		/* nodes, ranges */
	struct lst_range *range;	/* by NID, without overlap */
};

/*
 * Parses ranges such as "10.0.[0-3].[2-200]@tcp", with blanks or commas between the ranges. May
 * sleep. Returns 0, -EINVAL, -E2BIG or -ENOMEM. -EINVAL: a range does not consist of IPv4 addresses
 * on one net, or two ranges overlap. The caller calls lst_ranges_free(@r) in any case.
 */
int lst_ranges_parse(struct lst_ranges *r, const char *text);
void lst_ranges_free(struct lst_ranges *r);
u32 lst_ranges_index(const struct lst_ranges *r, const struct lnet_nid *nid);	/* U32_MAX: none */
void lst_ranges_nid(const struct lst_ranges *r, u32 index, struct lnet_nid *nid);

/* ---- tree_place.c: places in the tree -------------------------------------------------------- */

struct lst_place {
	/* index of the node at this place; LST_TREE_ROOT: the console */
	u32 head;
	/*
	 * The row of a place (tree_place.c) has its node and all nodes below it. first: index of
	 * the first node of the row; nr: number of nodes in the row.
	 */
	u32 first, nr;
	u32 depth;			/* 0: the console */
	u32 parent;
};

void lst_place_root(struct lst_place *place, u32 nr);
u32 lst_place_children(const struct lst_place *place, u32 k);
void lst_place_child(const struct lst_place *place, u32 k, u32 number, struct lst_place *child);
/* @index is less than @nr. */
void lst_place_find(struct lst_place *place, u32 nr, u32 k, u32 index);
u32 lst_place_levels(u32 nr, u32 k);

/* ---- tree_set.c: sets of nodes of a row ------------------------------------------------------ */

struct lst_set {
	u32 first, nr, nr_in;
	u8 *bits;			/* NULL: none */
};
#define LST_SET_WIRE(nr)	(5U + DIV_ROUND_UP(nr, 8U))	/* maximum bytes */

/* Adds the nodes [@first, @first + @nr), which have successive indices. Returns 0 or -ENOMEM. */
int lst_set_add(struct lst_set *set, u32 first, u32 nr);
/* Finds the first run of members at or after *@at. False: there is none. */
bool lst_set_run(const struct lst_set *set, u32 *at, u32 *nr);
void lst_set_free(struct lst_set *set);
u32 lst_set_encode(const struct lst_set *set, u8 *buf);
/*
 * Adds the nodes that @buf contains, of the row [@first, @first + @nr). Returns the number of used
 * bytes, -EINVAL or -ENOMEM.
 */
int lst_set_merge(struct lst_set *set, u32 first, u32 nr, const u8 *buf, u32 len);

/* ---- tree_record.c: results of a wave -------------------------------------------------------- */

struct lst_tree_tally {
	u32 id;				/* of the test */
	struct lst_tally tally;
};

struct lst_tree_record {
	u32 first, nr;
	u32 nr_done, nr_refused, nr_active, nr_started;
	u32 status;			/* largest status with which a node rejected the wave */
	u64 late_ns;			/* longest delay from the scheduled time to a start */
	u64 bound_ns;			/* largest error bound of a node's clock */
	struct lst_set missing, refused;
	u32 nr_tallies;
	struct lst_tree_tally *tally[LST_TREE_TESTS_MAX];	/* by id */
};

void lst_tree_record_init(struct lst_tree_record *rec, u32 first, u32 nr);
void lst_tree_record_free(struct lst_tree_record *rec);
int lst_tree_record_tally(struct lst_tree_record *rec, u32 id, const struct lst_tally *tally);
/*
 * Returns the maximum bytes that lst_tree_record_encode() writes. lst_tree_record_encode() returns
 * the bytes that it wrote.
 */
u32 lst_tree_record_size(const struct lst_tree_record *rec);
u32 lst_tree_record_encode(const struct lst_tree_record *rec, u8 *buf);
/*
 * Adds to @rec the encoded record @buf of the nodes [@first, @first + @nr). These nodes must be
 * some of the nodes of @rec. Returns 0, -EINVAL or -ENOMEM.
 */
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

/* The arguments that a wave carries down the tree: NAME=VALUE, each ended by a zero. */
struct lst_body {
	u32 refs, len;
	char text[];
};

/* A node below this one. */
struct lst_edge {
	struct lst_rpc rpc;
	struct list_head link;
	struct lst_tree *tree;
	struct lst_place place;
	u8 state;			/* enum lst_edge_state */
	u8 tries;
	bool busy;			/* @rpc is in flight */
	u64 wave;			/* of @rpc */
	struct lst_body *body;		/* offered by @rpc */
	u64 sent_ns, next_ns;		/* when @rpc was sent; time of the next request */
	/*
	 * The child's clock minus this node's clock, the error bound, and the time of measurement
	 * (0: never).
	 */
	s64 offset_ns;
	u64 error_ns, sampled_ns;
};

struct lst_wave {
	u64 id;				/* 0: none yet */
	u8 state;			/* enum lst_wave_state */
	u8 op;				/* enum lst_tree_op */
	bool force;
	u64 arg;			/* batch ID */
	u64 at_ns;			/* START: on this node's clock */
	/* this node's clock minus the console's clock, modulo 2^64; the error bound */
	u64 clock_ns, bound_ns;
	u64 began_ns, deadline_ns;
	u32 nr_left;			/* unfinished edges, plus 1 for this node's own part */
	struct lst_body *body;
	struct lst_tree_record rec;
};

struct lst_tree_test {
	u32 id;
	u64 bid;
	const struct lst_test *test;
};

struct lst_tree_name {			/* names of a test, as the console prints them */
	char what[16], batch[LST_NAME];
};

struct lst_tree_counts {		/* Counts of messages of the wave, at this node. */
	u32 asked, told;
	u64 bytes;
};

struct lst_tree {
	struct lst *st;
	/*
	 * own: the job that executes this node's part of a wave; free: the job that frees the tree
	 */
	struct lst_job own, free;
	struct lst_sid sid;
	u32 feats, k;
	struct lst_ranges ranges;
	struct lst_place place;
	struct list_head edges;
	u32 nr_open;			/* requests and jobs that reference the tree */
	bool owning;			/* @own is queued or runs */
	/* the tree has ended, and is freed when no request or job references it */
	bool ending;
	u64 next_ns;
	struct lst_wave wave;
	/* reports to the node above */
	struct lst_rpc tell;
	struct lnet_process asker;
	u32 asker_head;
	bool telling, again;		/* again: another request was received during a report */
	u8 tell_tries;
	u64 tell_ns;			/* time of the next try */
	u8 *said;			/* record of the wave @said_wave */
	u32 said_len;
	u64 said_wave;
	/* tests */
	u32 nr_tests;
	struct lst_tree_test test[LST_TREE_TESTS_MAX];
	u64 start_ns, start_bid;	/* U64_MAX: no start is scheduled */
	u64 started_ns, late_ns;	/* time and delay of the last start; 0: no start */
	struct lst_tree_counts counts;
	u64 beat_ns;			/* at the console: interval of keepalive waves */
	/*
	 * At the console: called when a wave ends, or when the tree ends before the wave. Called
	 * with the lock.
	 */
	void (*over)(struct lst_tree *tree);
	void *over_arg;
	u64 took_ns;			/* duration of the last wave */
	struct lst_tree_name *name;	/* of LST_TREE_TESTS_MAX tests */
};

/*
 * Creates a tree. May sleep. Returns 0, or an error as lst_ranges_parse(). The caller owns the tree
 * until it is st->tree or st->root.
 */
int lst_tree_make(struct lst_tree **treep, struct lst *st, const char *ranges, u32 k);
/* frees a tree that the caller owns; accepts NULL */
void lst_tree_drop(struct lst_tree *tree);
/* Ends a tree that is st->tree or st->root. The tree then frees itself. Accepts NULL. */
void lst_tree_end_locked(struct lst_tree *tree);
/* Drops one of nr_open. */
void lst_tree_close_locked(struct lst_tree *tree);
/*
 * Creates edges to all children of @place. Returns the number of edges that could not be created.
 */
u32 lst_tree_edges_locked(struct lst_tree *tree, const struct lst_place *place);
/* Describes a wave of the console. The wave takes over @body, which may be NULL. */
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
/* Returns the value of the argument @name, or NULL. */
const char *lst_body_word(const char *text, u32 len, const char *name);
int lst_body_number(const char *text, u32 len, const char *name, s64 lo, s64 hi, s64 *value);

/* ---- tree_wave.c: passing a wave down -------------------------------------------------------- */

/* Begins the wave of @tree. The caller has set all fields of tree->wave except its state. */
void lst_wave_begin_locked(struct lst_tree *tree);
void lst_wave_part_locked(struct lst_tree *tree);	/* one of nr_left has ended */
void lst_edge_ask_locked(struct lst_edge *edge);
void lst_edge_lose_locked(struct lst_edge *edge, u32 status);
/* Adds a record that a node below reported. Returns 0, or the status of the reply. */
u32 lst_edge_told_locked(struct lst_tree *tree, u32 head, u64 wave, const u8 *buf, u32 len);
void lst_wave_tell_locked(struct lst_tree *tree);
u64 lst_wave_work_locked(struct lst_tree *tree, u64 now);	/* next deadline */

/* ---- tree_serve.c: requests of other nodes --------------------------------------------------- */

enum lst_verdict lst_tree_serve_locked(struct lst_call *call);

/* ---- tree_act.c: this node's part -------------------------------------------------------- */

void lst_tree_own_run(struct lst_job *job);
void lst_tree_start_locked(struct lst_tree *tree, u64 now);
/* Joins the session of the request. Returns the status of the reply. */
u32 lst_tree_join(struct lst_call *call);
void lst_tree_leave_locked(struct lst_tree *tree);

struct lst_call *lst_tree_call(struct lst_tree *tree, u32 type, gfp_t gfp);

/*
 * A test, as the arguments of a body define it. The texts are parts of the body.
 * lst_tree_spec_read() returns 0 or -EINVAL.
 */
struct lst_tree_spec {
	u32 id;
	u64 bid;
	const char *from, *to;
	u32 dist, span, seed;
	struct lst_test_req req;
	bool ours;			/* a drill: @plan is used instead of the fields above */
	struct lst_plan plan;
};
int lst_tree_spec_read(struct lst_tree_spec *spec, const char *text, u32 len, u32 feats);

/* ---- tree_drill.c: drills -------------------------------------------------------------------- */

/*
 * Adds a drill of the wave @wave at this node, as client, as server, or as both. Returns the status
 * of the reply. May sleep.
 */
u32 lst_tree_drill_add(struct lst_tree *tree, const struct lst_tree_spec *spec,
		       const struct lst_ranges *from, const struct lst_ranges *to, u64 wave);

#endif
