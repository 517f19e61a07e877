/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the console of a self-test: session, nodes, groups, batches, commands under way. */
#ifndef LNET_SELFTEST_CON_H
#define LNET_SELFTEST_CON_H

#include "drill.h"

/*
 * All of it is guarded by the service's lock. A command runs in steps: each asks nodes, and the
 * next one comes when all have answered or their time is over. What a command finds by name it
 * finds again in each step, as others run meanwhile.
 */

#define CON_NODES_MAX	65536U
#define CON_TIMEOUT	300U		/* seconds without a command, after which a session ends */
#define CON_WAIT	30U		/* seconds for nodes to answer */
#define CON_PINGER		8U		/* seconds between looks at idle nodes, at most */

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

/* The clock of a node: what is added to the console's, known to an error either way. */
struct con_clock {
	bool known;
	s64 off_ns;
	u64 error_ns;
	u64 at_ns;			/* when it was looked at, by the console's */
	u32 steps;			/* how often it jumped */
};

struct con_node {
	struct list_head link;		/* of the session */
	struct lnet_process id;
	u32 refs;			/* groups and requests */
	u8 state;			/* enum con_node_state */
	bool pinged;			/* the pinger's request is under way */
	u32 mark;			/* con_stock.c: number of the last list with this node */
	u64 heard_ns;			/* of its last answer in this session */
	u64 epoch;			/* the last it told; 0: none */
	u32 lease;			/* seconds, as it told */
	/* Of the session it said it is in. A name is not always told, and asked for later. */
	char owner[LST_NAME];
	u64 owner_nid;
	struct con_clock clock;
};

struct con_group {
	struct list_head link;
	char name[LST_NAME];
	u32 nr, cap, nr_tests;		/* nr_tests: that use it */
	struct con_node **node;
};

/* Who sends to whom, where a file says it. */
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
	struct lst_plan *plan;		/* of ours, else NULL; its list of nodes is not used */
	struct con_map *map;		/* of LST_MAP_LISTED, else NULL */
	u32 key;			/* no two tests of a session have the same */
};

struct con_batch {
	struct list_head link;
	char name[LST_NAME];
	u64 bid;
	u8 state;			/* enum con_batch_state */
	u32 nr_tests;
	u64 start_ns;			/* all together; 0: each as it was told */
	struct list_head tests;
};

struct con_session {
	struct lst_sid sid;
	u64 generation;
	char name[LST_NAME];
	u32 key, timeout, feats, nr_nodes;
	u32 lease;			/* seconds that nodes stay without this console */
	bool force;			/* nodes that are in another session are taken over */
	u64 used_ns, pinger_ns;
	u64 next_bid;
	u32 next_key;			/* of tests */
	u32 next_mark;			/* last con_node.mark that was used */
	struct list_head nodes, groups, batches;
};

struct con_cmd;

/* A request to a node, for a command. */
struct con_rpc {
	struct lst_rpc rpc;
	struct list_head link;
	struct con_cmd *cmd;
	struct con_node *node;
	void *bulk;
	u32 key;			/* of whoever asked: what about */
	int rc;				/* 0: @rpy is an answer */
	struct lst_msg rpy;
};

struct con_cmd {
	struct lst *st;
	struct list_head link;			/* st->commands */
	struct lst_job job;
	struct lst_command *user;
	u64 generation;			/* of the session it is for */
	u64 own_nid;			/* the first of this node, four-byte form; 0: it has none */
	u64 timeout_ns;
	struct list_head asked, answered;	/* con_rpc */
	struct list_head kept;			/* answers of an earlier step, for a later one */
	u32 nr_asked, nr_left;			/* of this step; left: have not answered */
	u32 round;			/* of looks at clocks */
	u64 step_ns, slowest_ns;	/* when the last one began; what the slowest took */
	int (*next)(struct con_cmd *cmd);	/* lock held; as verbs */
};

/* ---- con.c ----------------------------------------------------------------------------------- */

/* The value of a word of the request; NULL: there is none. *@pos: where to go on, at first NULL. */
const char *con_word(const struct con_cmd *cmd, const char *name, const char **pos);
static inline const char *con_text(const struct con_cmd *cmd, const char *name)
{
	const char *pos = NULL;

	return con_word(cmd, name, &pos);
}
/* 0 and *@value, which stays as it is if there is none; -EINVAL. */
int con_number(const struct con_cmd *cmd, const char *name, s64 lo, s64 hi, s64 *value);
/* Appends to the answer. */
void con_say(struct con_cmd *cmd, const char *fmt, ...) __printf(2, 3);
/* con_say() for callers whose reply is in memory (stock.h); con_say() ignores such callers. */
void con_put(struct con_cmd *cmd, const void *data, u32 len);

/* All want the lock. */
struct con_session *con_session(const struct con_cmd *cmd);	/* NULL: it is over */
/*
 * Asks @node; its answer is on cmd->answered in the next step. @bulk is what it may fetch
 * meanwhile, kfree() at the end. 0, -ENOMEM.
 */
int con_ask(struct con_cmd *cmd, struct con_node *node, struct lst_msg *req, void *bulk,
	    u32 bulk_len);
/* The same; @node puts @len bytes into memory that is in r->bulk. NULL: no memory. */
struct con_rpc *con_ask_put(struct con_cmd *cmd, struct con_node *node, struct lst_msg *req,
			    u32 len);
/* The verb goes on with @next when all have answered: -EINPROGRESS, or what @next says at once. */
int con_then(struct con_cmd *cmd, int (*next)(struct con_cmd *cmd));
/* How many answers failed; says which, as a list "errors". */
u32 con_say_errors(struct con_cmd *cmd, const char *what);
/* One less of nr_left; the next step comes with the last. */
void con_answered(struct con_cmd *cmd);
/* -errno of the transfer, or of what the node said. */
int con_rpc_error(const struct con_rpc *r);

/* A verb that said -EINPROGRESS is over. */
void con_finish_locked(struct con_cmd *cmd, int rc);

/* ---- con_node.c ------------------------------------------------------------------------------ */

struct con_node *con_node_get(struct con_session *s, const struct lnet_process *id);
struct con_node *con_node_find(struct con_session *s, const struct lnet_nid *nid);
void con_node_hold(struct con_node *node);
void con_node_put(struct con_session *s, struct con_node *node);
bool con_name_ok(const char *name);	/* of a session, group, batch; NULL is none */
/* What an answer tells of the node. */
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
/* Into the batch, as the last one; groups are found by name. 0, -ENOENT, -EINVAL. */
int con_test_link(struct con_cmd *cmd, struct con_batch *batch, struct con_test *test);
struct con_test *con_test_last(struct con_cmd *cmd, struct con_batch **batchp);

/*
 * Asks the active clients of all tests of a batch (@index 0) or of one, or its servers, each once.
 * 0, -ENOMEM.
 */
int con_batch_ask(struct con_cmd *cmd, struct con_batch *batch, u32 index, bool server,
		  const struct lst_msg *req);

/* ---- con_start.c ----------------------------------------------------------------------------- */

/* A node told its clock between two times of the console. */
void con_clock_heard(struct con_clock *clock, u64 asked_ns, u64 told_ns, u64 heard_ns);
static inline u64 con_clock_here(const struct con_clock *clock, u64 there_ns)
{
	return there_ns - (u64)clock->off_ns;
}

/* ---- con_drill.c ----------------------------------------------------------------------------- */

/* The words of a test of ours into test->plan, if it is one. 0, -EINVAL, -ENOMEM. */
int con_drill_take(struct con_cmd *cmd, struct con_test *test, const char *type);
int con_drill_tell(struct con_cmd *cmd);	/* the last of the batch, to its nodes; as a verb */
const char *con_drill_type(const struct con_test *test);
void con_drill_say(struct con_cmd *cmd, const struct lst_plan *plan);
/* The active ones of a group; kfree(). NULL: no memory. */
struct lst_run *con_runs_of(const struct con_group *group, u32 *nr);

/* ---- con_map.c ------------------------------------------------------------------------------- */

/* The words of LST_MAP_LISTED into test->map. 0, -ENOENT, -ENOMEM, -EINVAL: it says what is bad. */
int con_map_take(struct con_cmd *cmd, struct con_test *test);
/*
 * Whom a node sends to, perhaps nobody; @back: who sends to it. In @p their number; kfree(). NULL:
 * no memory.
 */
struct lst_run *con_map_runs(const struct con_map *map, const struct con_node *node, bool back,
			     struct lst_plan *p);
void con_map_say(struct con_cmd *cmd, const struct con_map *map);

/* ---- con_stock.c ----------------------------------------------------------------------------- */

/* Appends to a reply in memory a result for each node of the last step. */
void con_stock_end(struct con_cmd *cmd);

/* ---- con_tree.c ------------------------------------------------------------------------------ */

/* Nodes of a tree leave the session, if there is one, before the next step. */
void con_tree_end(struct con_cmd *cmd);
/* Are tests of it the tree's? Then groups may have none there, and the other way round. */
bool con_tree_has(const struct con_cmd *cmd, const struct con_batch *batch);

/* ---- con_tally.c ----------------------------------------------------------------------------- */

/* An item of a list of tallies. */
void con_tally_say(struct con_cmd *cmd, const char *batch, u32 test, const char *what,
		   const struct lst_tally *t);

/* ---- con_session.c --------------------------------------------------------------------------- */

void con_session_free(struct lst *st);
u64 con_own_nid(struct lst *st);		/* without the lock */
u64 con_session_work(struct lst *st, u64 now);	/* pinger and idle time; next deadline */

#define VERB(name, changes)	int con_##name(struct con_cmd *cmd);
#include "verbs.def"
#undef VERB

#endif
