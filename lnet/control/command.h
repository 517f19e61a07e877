/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Declarations that dispatch.c and the files with the commands share. */
#ifndef LNET_CONTROL_CMD_H
#define LNET_CONTROL_CMD_H

#include "control/control.h"
#include "model/model.h"

/*
 * A command of the management protocol. The const structs below are defined in cmd_*.c and
 * transaction.c.
 */
struct lnet_ctl_cmd {
	u8 cmd;
	bool down;		/* the command is also available if the node is not configured */
	bool stages;		/* changes of this command may be part of a transaction */
	u16 tells;		/* flags: if a change has one of them, its reply is a dump */
	/*
	 * A request for a change calls act(), by the contract of lnet_control_do(). If the command
	 * has no changes, act() is NULL. A dump calls the other functions, by the contracts of
	 * lnet_control_dump_*(). If the command has no dump, next() is NULL; start() and end() are
	 * optional.
	 *
	 * If @stages is set and a request has LNET_NL_F_STAGED, act() makes all checks that are
	 * possible without a change, and changes nothing.
	 */
	int (*act)(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		   struct lnet_ctl_err *e);
	/*
	 * @d is zero except for fields from the request's header. end() is also called after an
	 * error of start().
	 */
	int (*start)(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		     struct lnet_ctl_err *e);
	int (*next)(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e);
	/* If end() is NULL, d->priv is memory for kvfree(), or NULL. */
	void (*end)(struct lnet_ctl_dump *d);
};

extern const struct lnet_ctl_cmd lnet_cmd_configure, lnet_cmd_nets, lnet_cmd_peers,
	lnet_cmd_routes, lnet_cmd_ping, lnet_cmd_cpt_of_nid, lnet_cmd_udsp, lnet_cmd_recovery,
	lnet_cmd_fault, lnet_cmd_peer_dist, lnet_cmd_peer_fail, lnet_cmd_routing,
	lnet_cmd_buffers, lnet_cmd_numa, lnet_cmd_stats, lnet_cmd_stats_reset, lnet_cmd_tunables,
	lnet_cmd_explain, lnet_cmd_rules, lnet_cmd_record, lnet_cmd_limits, lnet_cmd_node,
	lnet_cmd_transaction;

#define LNET_CTL_NIDS_MAX 128	/* in one request */

/* cmd_net.c */
/* Returns the driver for the type of a net; NULL: none is registered. */
const struct lnet_lnd_ops *lnet_ctl_driver(const struct lnet *ln, u32 net);
/* The states of an interface that an operator has set. They survive a restart. */
struct lnet_ctl_marks {
	bool drained, down;
};
void lnet_ctl_marks_get(const struct lnet_ni *ni, struct lnet_ctl_marks *marks);
void lnet_ctl_marks_set(struct lnet *ln, const struct lnet_nid *nid,
			const struct lnet_ctl_marks *marks);
/* pending_ni.c: interfaces that the node awaits, and adds when they exist */
struct lnet_ctl_waiting {
	struct lnet_ctl_waiting *next;
	struct lnet_ni_cfg cfg;		/* If the NID is any: the node awaits an address. */
	struct lnet_ctl_marks marks;
	u32 net;
	/* address that the interface had at the last attempt to add it */
	struct lnet_nid seen;
	u32 looks;			/* checks since that try */
	int err;			/* reason why the interface is missing; WRITE_ONCE */
};
int lnet_ctl_wait_add(struct lnet_control *ctl, const struct lnet_ctl_waiting *like);
/* Makes the node stop awaiting @w; NULL: all awaited interfaces. */
void lnet_ctl_wait_del(struct lnet_control *ctl, const struct lnet_ctl_waiting *w);
/* True if an interface that could not be added because of @err may be added later. */
bool lnet_ctl_wait_helps(int err);
/* Returns a text for operators that states why the node still awaits @w. */
const char *lnet_ctl_wait_why(const struct lnet_ctl_waiting *w);
/* cmd_log.c: writes to the log that @req was executed. */
void lnet_ctl_log_change(struct lnet_control *ctl, const struct lnet_ctl_req *req);
/* Log messages name the sender of @req from now on, until this function is called with NULL. */
void lnet_ctl_log_by(struct lnet_control *ctl, const struct lnet_ctl_req *req);
/* snapshot.c: the whole configuration */
/* Copies the configuration of @ni. This includes the name of a device that the driver found. */
void lnet_ctl_ni_cfg(const struct lnet_ni *ni, struct lnet_ni_cfg *cfg);
struct lnet_ctl_conf;
/* Copies the configuration to *@conf; lnet_ctl_conf_free() frees the copy. 0 or -ENOMEM */
int lnet_ctl_conf_read(struct lnet_control *ctl, struct lnet_ctl_conf **conf);
/*
 * Restores the configuration @conf. Changes only objects that differ. If an object cannot be
 * restored, continues with the others. Returns 0 or the first error.
 */
int lnet_ctl_conf_restore(struct lnet_control *ctl, const struct lnet_ctl_conf *conf);
void lnet_ctl_conf_free(struct lnet_ctl_conf *conf);
/* transaction.c */
/* Adds a copy of @req to the transaction. The caller has checked @req. */
int lnet_ctl_trans_stage(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			 struct lnet_ctl_err *e);
size_t lnet_ctl_trans_size(const struct lnet_control *ctl);
void lnet_ctl_trans_drop(struct lnet_control *ctl);
/* dispatch.c: executes a request of a transaction */
int lnet_ctl_carry_out(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e);
/* cmd_net_show.c */
int lnet_ctl_nets_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			struct lnet_ctl_err *e);
int lnet_ctl_nets_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e);
bool lnet_ctl_ni_up(const struct lnet_ni *ni);		/* false: shown as down */
/* cmd_udsp.c */
/*
 * Fill @v with the policies that apply to a local interface (cfg_mutex held) or to a peer interface
 * ([sh]).
 */
void lnet_ctl_udsp_ni(const struct lnet *ln, const struct lnet_nid *nid, struct lnet_view_udsp *v);
void lnet_ctl_udsp_pni(const struct lnet_peer_ni *pni, struct lnet_view_udsp *v);

/* request.c, reply.c */

/*
 * Finds the outer list of @req; @items then contains the items of this list. False: @req has no
 * list
 */
bool lnet_ctl_items(const struct lnet_ctl_req *req, struct lnet_req *items);
/* Returns the mapping in a request without a list. */
static inline struct lnet_req lnet_ctl_attrs(const struct lnet_ctl_req *req)
{
	struct lnet_req all;

	lnet_req_init(&all, req->attrs, req->len);
	return all;
}

/* Finds the first item in the list of a request. False: there is none */
bool lnet_ctl_first(const struct lnet_ctl_req *req, struct lnet_req *item);

enum lnet_field_kind {
	LNET_FIELD_HAS,		/* sets only the bool at @has to true if the request has the key */
	LNET_FIELD_NUM,		/* a number from @min to @max; a member of 1, 4 or 8 bytes */
	LNET_FIELD_NUM_DEF,	/* like LNET_FIELD_NUM; also -1, for the default */
	LNET_FIELD_TEXT,	/* char[]: a text that @check accepts; @text describes it */
	LNET_FIELD_NID,		/* struct lnet_nid */
	LNET_FIELD_NIDS,	/* like LNET_FIELD_NID; also *@net and *, for several NIDs */
	LNET_FIELD_NET,		/* u32 */
	LNET_FIELD_NETS,	/* like LNET_FIELD_NET; also stock's text for all nets */
	LNET_FIELD_LIST,	/* struct lnet_req: a list; a value "none" is an empty list */
	LNET_FIELD_MAP,		/* a mapping; @sub describes its keys */
};

/* A key of a mapping in a request, the values that it accepts, and where they are stored. */
struct lnet_field {
	const char *key;		/* NULL: end of the table */
	u8 kind;
	bool need;			/* the key must be there */
	bool stock;			/* the error text begins like the text of stock's tool */
	/* errno for a number out of range or an unknown net; 0: -EINVAL */
	s16 range_err;
	u16 off, size;			/* of the member */
	/* offset of a bool that is set if the request has the key; or 0 */
	u16 has;
	s64 min, max;
	/* accepted values, for the error text; NULL: the range of numbers */
	const char *text;
	/* Returns 0, -EINVAL or -ENOMEM; NULL: all texts that fit are valid. */
	int (*check)(const char *text);
	const struct lnet_field *sub;
};

#define LNET_FIELD(kind_, key_, type, member, ...)						\
	{ .key = key_, .kind = LNET_FIELD_##kind_, .off = offsetof(type, member),		\
	  .size = sizeof(((type *)0)->member), __VA_ARGS__ }
#define LNET_FIELD_RANGE(key_, type, member, min_, max_, ...)					\
	LNET_FIELD(NUM, key_, type, member, .min = min_, .max = max_, __VA_ARGS__)
#define LNET_FIELD_SUB(key_, sub_) { .key = key_, .kind = LNET_FIELD_MAP, .sub = sub_ }

/*
 * Reads the fields @f of the mapping @r into the struct @base. Members whose key is not in @r keep
 * their value. 0, -ENOMEM; -EINVAL or the field's errno, with a text: key, accepted values, and
 * value.
 */
int lnet_ctl_read(struct lnet_req r, const struct lnet_field *f, void *base,
		  struct lnet_ctl_err *e);
/*
 * Reads an element of "nids": a NID, with an optional process ID before it ("12345-10.0.0.1@tcp").
 */
struct lnet_ctl_target {
	struct lnet_nid nid;
	s64 pid;		/* LNET_CTL_NO_PID: none was given */
};
#define LNET_CTL_NO_PID (-1)
/*
 * Reads the targets of a request, at most LNET_CTL_NIDS_MAX. Returns their number, at least 1, or
 * -errno.
 */
int lnet_ctl_targets(const struct lnet_ctl_req *req, struct lnet_ctl_target *targets,
		     struct lnet_ctl_err *e);
/* If the dump has sent no key table yet, writes the table @t. False: the message has no space */
bool lnet_ctl_table(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct lnet_table *t);
/*
 * Opens the next item of a dump. If d->sub is not 0, an earlier message has the first part of the
 * item, and the item continues with element d->sub. The first item also has the top key of the
 * document.
 */
void lnet_ctl_item(struct lnet_ctl_dump *d, struct lnet_sink *s);
/* Closes the item. False: the message has no space, and the sink is as it was before the item */
bool lnet_ctl_item_end(struct lnet_ctl_dump *d, struct lnet_sink *s);
/*
 * Writes an item that has only the keys of @view; writes its table first. False: the message has no
 * space
 */
bool lnet_ctl_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct lnet_table *t,
		   const void *view);
/*
 * Writes the list in the key @idx, which is the last key of an item, and closes the item. @elem
 * opens and writes the element d->sub; it returns false if there is no such element. True: all
 * elements from d->sub on fit in the message. Otherwise d->sub is the first element that did not
 * fit.
 */
bool lnet_ctl_list(struct lnet_ctl_dump *d, struct lnet_sink *s, unsigned int idx,
		   bool (*elem)(struct lnet_ctl_dump *d, struct lnet_sink *s, void *arg),
		   void *arg);
/* Returns a text for an errno of the core's configuration calls. */
const char *lnet_ctl_why(int err);

void lnet_ctl_stat_add(struct lnet_view_stat *v, const struct lnet_path_stats *st);
void lnet_ctl_stat_done(struct lnet_view_stat *v);

/* ---- query.c: queries to several nodes at once ----------------------------------------------- */

#define LNET_CTL_PING_KEYS	5	/* of lnet_table_ping, of lnet_table_failure */
#define LNET_CTL_FAILURE_KEYS	4

struct lnet_ctl_asks;

struct lnet_ctl_ask {			/* a query to one node */
	struct lnet_ctl_asks *set;
	struct lnet_ctl_target to;
	/* [lock of @set] 1: the query is in progress; else 0 or -errno */
	int status;
	/* the result; it is valid when the query has ended */
	char why[2 * LNET_TEXT_MAX];	/* the reason why no message was sent; or empty */
	bool mr;			/* result of discover: Multi-Rail */
	unsigned int nr_nids;
	struct lnet_nid *nids;
	struct lnet_disc_ask disc;	/* of discover */
};

/*
 * The queries of one request. The set exists until the dump and all queries have ended, because a
 * client may close its socket earlier.
 */
struct lnet_ctl_asks {
	struct lnet_control *ctl;
	const char *what;		/* "ping", "discover" */
	struct lnet_table replied, failed;
	struct lnet_key keys[LNET_CTL_PING_KEYS], failure_keys[LNET_CTL_FAILURE_KEYS];
	/*
	 * NULL, or a function that cancels a query. True: lnet_ctl_ask_ended() is not called for
	 * the query any more
	 */
	bool (*cancel)(struct lnet_ctl_ask *ask);
	/*
	 * NULL, or a function that fills in the present state of the target, as this node knows it.
	 * 0, -ENOMEM, -ENOENT
	 */
	int (*answer)(struct lnet_ctl_ask *ask);
	struct lnet_nid source;		/* ping: local NID from which to ping, or ANY */
	u64 timeout_ns;
	bool force;			/* of discover */
	spinlock_t lock;
	/* @nr_open: [lock] number of queries in progress, plus 1 while they are started */
	unsigned int nr, nr_open;
	bool left;			/* [lock] the dump has ended */
	bool answered;		/* answer_all() has completed the results; used by the dump only */
	struct lnet_ctl_ask ask[];
};

/* Creates a set of queries for the targets of @req. NULL: *@rc is the error */
struct lnet_ctl_asks *lnet_ctl_asks_new(struct lnet_control *ctl, const struct lnet_ctl_req *req,
					const char *what, struct lnet_ctl_err *e, int *rc);
void lnet_ctl_asks_free(struct lnet_ctl_asks *set);	/* not started; accepts NULL */
/*
 * Returns 0 if lnet_ctl_ask_ended() was called or will be called for the query. Other values: the
 * query failed.
 */
void lnet_ctl_asks_start(struct lnet_ctl_asks *set, int (*start)(struct lnet_ctl_ask *ask));
/*
 * Called when a query has ended. Any thread; no locks except those under which the core calls
 * handlers.
 */
void lnet_ctl_ask_ended(struct lnet_ctl_ask *ask, int status);
int lnet_ctl_asks_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e);
void lnet_ctl_asks_end(struct lnet_ctl_dump *d);

#endif
