/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of a self-test console: session, nodes, groups, batches, commands in progress. */
#ifndef LNET_SELFTEST_CON_H
#define LNET_SELFTEST_CON_H

#include "drill.h"

/*
 * The service's lock protects all objects of the console. A command runs in steps. Each step sends
 * requests to nodes; the next step runs when all nodes have replied or timed out. Other commands
 * may run between two steps. So each step looks up its objects by name again.
 */

#define CON_NODES_MAX	65536U
#define CON_TIMEOUT	300U		/* seconds without a command, after which a session ends */
#define CON_WAIT	30U		/* seconds for nodes to reply */
#define CON_PINGER		8U		/* maximum seconds between checks for idle nodes */

#define UNIT(name)
#define NODE(name, number, text)	CON_NODE_##name = number,
#define BATCH(name, text)
enum con_node_state {
#include "states.def"
};
#undef NODE
#undef BATCH
#define NODE(name, number, text)
#define BATCH(name, text)		CON_BATCH_##name,
enum con_batch_state {
#include "states.def"
};
#undef UNIT
#undef NODE
#undef BATCH

/*
 * The clock of a node: its offset from the console's clock, and the error bound, which applies in
 * both directions.
 */
struct con_clock {
	bool known;
	s64 off_ns;
	u64 error_ns;
	u64 at_ns;			/* time of the measurement, on the console's clock */
	u32 steps;			/* how often it jumped */
};

struct con_node {
	struct list_head link;		/* con_session.nodes */
	struct lnet_process id;
	u32 refs;			/* held by groups and requests */
	u8 state;			/* enum con_node_state */
	bool pinged;			/* a keepalive request is in flight */
	/*
	 * number of the last list that contains this node; con_stock.c builds and numbers such
	 * lists
	 */
	u32 mark;
	u64 heard_ns;			/* time of the node's last reply in this session */
	/* number of the node's current session, as the node last reported it; 0: none */
	u64 epoch;
	/* lease of that session in seconds, as the node reported it */
	u32 lease;
	/*
	 * The session that the node reported. If the name is missing, the console queries it later.
	 */
	char owner[LST_NAME];
	u64 owner_nid;
	struct con_clock clock;
};

struct con_group {
	struct list_head link;
	char name[LST_NAME];
	u32 nr, cap, nr_tests;		/* nr_tests: tests that use the group */
	struct con_node **node;
};

/* Senders and receivers of a test, as the lines of a file list them. */
struct con_pair {
	struct lnet_process from, to;
};
struct con_map {
	u32 nr;
	struct con_pair pair[];
};
static inline size_t con_map_size(u32 nr)
{
	return sizeof(struct con_map) + nr * sizeof(struct con_pair);
}

struct con_test {
	struct list_head link;
	u32 index, service;
	s32 loop;
	u32 concur, dist, span;
	struct lst_bytes_param bytes;
	struct con_group *from, *to;
	bool stop_onerr;
	/* plan of the test if it is a drill (drill.h), else NULL; the member `run' is not used */
	struct lst_plan *plan;
	struct con_map *map;		/* of LST_MAP_LISTED, else NULL */
	u32 key;			/* unique among the tests of a session */
};

struct con_batch {
	struct list_head link;
	char name[LST_NAME];
	u64 bid;
	u8 state;			/* enum con_batch_state */
	u32 nr_tests;
	u64 start_ns;			/* common start of all nodes; 0: each starts on receipt */
	struct list_head tests;
};

struct con_session {
	struct lst_sid sid;
	u64 generation;
	char name[LST_NAME];
	u32 key, timeout, feats, nr_nodes;
	/* seconds that a node stays in the session without a message from the console */
	u32 lease;
	bool force;			/* this session takes over nodes of other sessions */
	u64 used_ns, pinger_ns;
	u64 next_bid;
	u32 next_key;			/* of tests */
	u32 next_mark;			/* last con_node.mark in use */
	struct list_head nodes, groups, batches;
};

struct con_cmd;

/* A request that a command sends to a node. */
struct con_rpc {
	struct lst_rpc rpc;
	struct list_head link;
	struct con_cmd *cmd;
	struct con_node *node;
	void *bulk;
	u32 key;			/* number by which the sender finds this request */
	int rc;				/* 0: @rpy is a reply */
	struct lst_msg rpy;
};

struct con_cmd {
	struct lst *st;
	struct list_head link;			/* st->commands */
	struct lst_job job;
	struct lst_command *user;
	u64 generation;			/* generation of the session that the command is for */
	u64 own_nid;			/* first NID of this node in four-byte form; 0: none */
	u64 timeout_ns;
	struct list_head asked, answered;	/* con_rpc */
	struct list_head kept;			/* replies that a later step needs */
	/* requests of this step; requests without a reply */
	u32 nr_asked, nr_left;
	u32 round;			/* of clock measurements */
	u64 step_ns, slowest_ns;	/* start of the last step; duration of the slowest step */
	/*
	 * next step; called with the lock; returns as the functions of verbs.def: 0, -errno, or
	 * -EINPROGRESS
	 */
	int (*next)(struct con_cmd *cmd);
};

/* ---- con.c ----------------------------------------------------------------------------------- */

/*
 * Returns the value of the argument @name, or NULL. *@pos is NULL at first. The next call continues
 * at *@pos.
 */
const char *con_word(const struct con_cmd *cmd, const char *name, const char **pos);
static inline const char *con_text(const struct con_cmd *cmd, const char *name)
{
	const char *pos = NULL;

	return con_word(cmd, name, &pos);
}
/*
 * Reads the argument @name into *@value. If the argument is missing, *@value is unchanged. Returns
 * 0 or -EINVAL.
 */
int con_number(const struct con_cmd *cmd, const char *name, s64 lo, s64 hi, s64 *value);
/*
 * Appends text to the reply. If the caller reads a binary reply from memory (stock.h), does
 * nothing.
 */
void con_say(struct con_cmd *cmd, const char *fmt, ...) __printf(2, 3);
/*
 * Appends @data to the reply if the caller reads a binary reply from memory (stock.h). Otherwise
 * does nothing.
 */
void con_put(struct con_cmd *cmd, const void *data, u32 len);

/* All need the lock. */
struct con_session *con_session(const struct con_cmd *cmd);	/* NULL: the session has ended */
/*
 * Sends a request to @node. In the next step, cmd->answered contains its reply. Until the request
 * ends, the node may fetch @bulk, which kfree() then frees. Returns 0 or -ENOMEM.
 */
int con_ask(struct con_cmd *cmd, struct con_node *node, struct lst_msg *req, void *bulk,
	    u32 bulk_len);
/* As con_ask(), but @node puts @len bytes into the member `bulk' of the result. NULL: no memory. */
struct con_rpc *con_ask_put(struct con_cmd *cmd, struct con_node *node, struct lst_msg *req,
			    u32 len);
/* Schedules @next, which runs when all nodes have replied. Returns -EINPROGRESS. */
int con_then(struct con_cmd *cmd, int (*next)(struct con_cmd *cmd));
/* Appends the failed replies to the reply as the list "errors". Returns their number. */
u32 con_say_errors(struct con_cmd *cmd, const char *what);
/* Decrements nr_left. At 0, the next step of the command runs. */
void con_answered(struct con_cmd *cmd);
/* Returns -errno of the transfer, or the error that the node reported. */
int con_rpc_error(const struct con_rpc *r);

/* Ends a command whose verb returned -EINPROGRESS. */
void con_finish_locked(struct con_cmd *cmd, int rc);

/* ---- con_node.c ------------------------------------------------------------------------------ */

struct con_node *con_node_get(struct con_session *s, const struct lnet_process *id);
struct con_node *con_node_find(struct con_session *s, const struct lnet_nid *nid);
void con_node_hold(struct con_node *node);
void con_node_put(struct con_session *s, struct con_node *node);
/* Is @name valid as the name of a session, group or batch? False for NULL. */
bool con_name_ok(const char *name);
/* Updates @node from a reply. */
void con_node_heard(struct lst *st, struct con_node *node, const struct lst_rpc *rpc, int rc,
		    const struct lst_msg *rpy);
#define CON_ID_SIZE	(LNET_NIDSTR_SIZE + 16)
const char *con_node_id(const struct con_node *node, char buf[CON_ID_SIZE]);
const char *con_node_state_text(u8 state);
u8 con_node_state_parse(const char *text);	/* 0: no such state */

/* ---- con_group.c ----------------------------------------------------------------------------- */

struct con_group *con_group_find(struct con_session *s, const char *name);
int con_group_add(struct con_group *group, struct con_node *node);
void con_group_free(struct con_session *s, struct con_group *group);

/* ---- con_batch.c, con_test.c ----------------------------------------------------------------- */

struct con_batch *con_batch_find(struct con_session *s, const char *name);
struct con_batch *con_batch_new(struct con_session *s, const char *name);
void con_batch_free(struct con_batch *batch);
void con_test_say(struct con_cmd *cmd, const struct con_test *test);
u32 con_nr_active(const struct con_group *group);
/* Appends @test to @batch. Finds the groups of the test by name. Returns 0, -ENOENT or -EINVAL. */
int con_test_link(struct con_cmd *cmd, struct con_batch *batch, struct con_test *test);
struct con_test *con_test_last(struct con_cmd *cmd, struct con_batch **batchp);

/*
 * Sends @req once to each active client of the selected tests. With @server, sends @req to their
 * active servers instead. @index selects a test of the batch; 0 selects all. Returns 0 or -ENOMEM.
 */
int con_batch_ask(struct con_cmd *cmd, struct con_batch *batch, u32 index, bool server,
		  const struct lst_msg *req);

/* ---- con_start.c ----------------------------------------------------------------------------- */

/*
 * Updates @clock: the node read @told_ns on its clock, between @asked_ns and @heard_ns on the
 * console's clock.
 */
void con_clock_heard(struct con_clock *clock, u64 asked_ns, u64 told_ns, u64 heard_ns);
static inline u64 con_clock_here(const struct con_clock *clock, u64 there_ns)
{
	return there_ns - (u64)clock->off_ns;
}

/* ---- con_drill.c ----------------------------------------------------------------------------- */

/* If the test is a drill, converts its arguments to test->plan. Returns 0, -EINVAL or -ENOMEM. */
int con_drill_take(struct con_cmd *cmd, struct con_test *test, const char *type);
/* Sends the last test of the batch to its nodes. Returns as the functions of verbs.def. */
int con_drill_tell(struct con_cmd *cmd);
const char *con_drill_type(const struct con_test *test);
void con_drill_say(struct con_cmd *cmd, const struct lst_plan *plan);
/* Returns the active nodes of a group, which the caller frees with kfree(). NULL: no memory. */
struct lst_run *con_runs_of(const struct con_group *group, u32 *nr);

/* ---- con_map.c ------------------------------------------------------------------------------- */

/*
 * Reads a map of the kind LST_MAP_LISTED into test->map, and reports wrong arguments. Returns 0,
 * -ENOENT, -ENOMEM or -EINVAL.
 */
int con_map_take(struct con_cmd *cmd, struct con_test *test);
/*
 * Returns the nodes to which @node sends, or with @back the nodes that send to @node. The result is
 * an array of runs: nodes with consecutive addresses. There may be no nodes. Stores the number of
 * nodes in p->nr_to, and the number of runs in p->nr_runs. The caller frees the result with
 * kfree(). NULL: no memory.
 */
struct lst_run *con_map_runs(const struct con_map *map, const struct con_node *node, bool back,
			     struct lst_plan *p);
void con_map_say(struct con_cmd *cmd, const struct con_map *map);

/* ---- con_stock.c ----------------------------------------------------------------------------- */

/* Appends a result for each node of the last step to the reply in memory. */
void con_stock_end(struct con_cmd *cmd);

/* ---- con_tree.c ------------------------------------------------------------------------------ */

/*
 * If the console reaches nodes of the session through a tree (tree.h), removes these nodes from the
 * session before the next step.
 */
void con_tree_end(struct con_cmd *cmd);
/*
 * Does the batch have tests that run on the nodes of the tree? A batch cannot have both such tests
 * and tests that run on groups.
 */
bool con_tree_has(const struct con_cmd *cmd, const struct con_batch *batch);

/* ---- con_tally.c ----------------------------------------------------------------------------- */

/* Appends an item to a list of tallies. */
void con_tally_say(struct con_cmd *cmd, const char *batch, u32 test, const char *what,
		   const struct lst_tally *t);

/* ---- con_session.c --------------------------------------------------------------------------- */

void con_session_free(struct lst *st);
u64 con_own_nid(struct lst *st);		/* without the lock */
/* Sends keepalive requests, and ends an idle session. Returns the next deadline. */
u64 con_session_work(struct lst *st, u64 now);

#define VERB(name, changes)	int con_##name(struct con_cmd *cmd);
#include "verbs.def"
#undef VERB

#endif
