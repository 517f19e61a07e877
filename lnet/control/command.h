/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Between dispatch.c and the files with the commands. */
#ifndef LNET_CONTROL_CMD_H
#define LNET_CONTROL_CMD_H

#include "control/control.h"
#include "model/model.h"

/* A command: the const structs below are in cmd_*.c and transaction.c. */
struct lnet_ctl_cmd {
	u8 cmd;
	bool down;		/* answers although the node is not configured */
	bool stages;		/* its changes may be part of a transaction */
	u16 tells;		/* a change with one of these flags answers as a dump does */
	/*
	 * Each NULL if the command has no such form. Contracts: lnet_control_do() and
	 * lnet_control_dump_*(). If @stages, a request with LNET_NL_F_STAGED changes nothing: act
	 * checks all of it that can be checked without a change.
	 */
	int (*act)(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		   struct lnet_ctl_err *e);
	/* @d is zeroed but for what the request's header says. After an error, end is called. */
	int (*start)(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		     struct lnet_ctl_err *e);
	int (*next)(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e);
	/* NULL: d->priv is memory for kvfree(), or NULL. */
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
/* The driver of a net's type, NULL: there is none (any more). */
const struct lnet_lnd_ops *lnet_ctl_driver(const struct lnet *ln, u32 net);
/* States of an interface that an operator has set; they survive a restart. */
struct lnet_ctl_marks {
	bool drained, down;
};
void lnet_ctl_marks_get(const struct lnet_ni *ni, struct lnet_ctl_marks *marks);
void lnet_ctl_marks_set(struct lnet *ln, const struct lnet_nid *nid,
			const struct lnet_ctl_marks *marks);
/* pending_ni.c: interfaces that are to be added when they have come */
struct lnet_ctl_waiting {
	struct lnet_ctl_waiting *next;
	struct lnet_ni_cfg cfg;		/* NID any: the one that the interface will have */
	struct lnet_ctl_marks marks;
	u32 net;
	struct lnet_nid seen;		/* address of the interface when it was last tried */
	u32 looks;			/* since then */
	int err;			/* why it is not there; WRITE_ONCE */
};
int lnet_ctl_wait_add(struct lnet_control *ctl, const struct lnet_ctl_waiting *like);
/* NULL: all */
void lnet_ctl_wait_del(struct lnet_control *ctl, const struct lnet_ctl_waiting *w);
/* For an interface that cannot be added because of @err: will waiting help? */
bool lnet_ctl_wait_helps(int err);
/* What @w waits for, for an operator. */
const char *lnet_ctl_wait_why(const struct lnet_ctl_waiting *w);
/* cmd_log.c: @req was carried out. */
void lnet_ctl_log_change(struct lnet_control *ctl, const struct lnet_ctl_req *req);
/* Messages name the sender of @req until this is called with NULL. */
void lnet_ctl_log_by(struct lnet_control *ctl, const struct lnet_ctl_req *req);
/* snapshot.c: a configuration as a whole */
/* The configuration of @ni, also with the name of a device that the driver found. */
void lnet_ctl_ni_cfg(const struct lnet_ni *ni, struct lnet_ni_cfg *cfg);
struct lnet_ctl_conf;
/* 0 or -ENOMEM; *@conf is for lnet_ctl_conf_free(). */
int lnet_ctl_conf_read(struct lnet_control *ctl, struct lnet_ctl_conf **conf);
/*
 * Make the node be as it was, touching only what differs. 0, or the first error of what could not
 * be had, after the rest was done.
 */
int lnet_ctl_conf_restore(struct lnet_control *ctl, const struct lnet_ctl_conf *conf);
void lnet_ctl_conf_free(struct lnet_ctl_conf *conf);
/* transaction.c */
/* @req, which was checked, is kept. */
int lnet_ctl_trans_stage(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			 struct lnet_ctl_err *e);
size_t lnet_ctl_trans_size(const struct lnet_control *ctl);
void lnet_ctl_trans_drop(struct lnet_control *ctl);
/* dispatch.c: carry out what was staged */
int lnet_ctl_carry_out(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e);
/* cmd_net_show.c */
int lnet_ctl_nets_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			struct lnet_ctl_err *e);
int lnet_ctl_nets_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e);
bool lnet_ctl_ni_up(const struct lnet_ni *ni);		/* its status as shown */
/* cmd_udsp.c */
/* What rules say of an interface of ours (cfg_mutex held), of a peer's ([sh]). */
void lnet_ctl_udsp_ni(const struct lnet *ln, const struct lnet_nid *nid, struct lnet_view_udsp *v);
void lnet_ctl_udsp_pni(const struct lnet_peer_ni *pni, struct lnet_view_udsp *v);

/* request.c, reply.c: what they share. */

/* The items of a request: its outer list. False: the request does not begin with a list. */
bool lnet_ctl_items(const struct lnet_ctl_req *req, struct lnet_req *items);
/* The mapping that a request without a list is. */
static inline struct lnet_req lnet_ctl_attrs(const struct lnet_ctl_req *req)
{
	struct lnet_req all;

	lnet_req_init(&all, req->attrs, req->len);
	return all;
}

/* The first item of a request's list. False: there is none. */
bool lnet_ctl_first(const struct lnet_ctl_req *req, struct lnet_req *item);

enum lnet_field_kind {
	LNET_FIELD_HAS,		/* no member: sets only @has, which becomes true with the key */
	LNET_FIELD_NUM,		/* a number from @min to @max; a member of 1, 4 or 8 bytes */
	LNET_FIELD_NUM_DEF,	/* the same, or -1 for the default */
	LNET_FIELD_TEXT,	/* char[]: a text that @check accepts; @text says which */
	LNET_FIELD_NID,		/* struct lnet_nid */
	LNET_FIELD_NIDS,	/* the same; also *@net and *, for more than one NID */
	LNET_FIELD_NET,		/* u32 */
	LNET_FIELD_NETS,	/* the same; also stock's text for all nets */
	LNET_FIELD_LIST,	/* struct lnet_req: a list; empty if the value is none */
	LNET_FIELD_MAP,		/* a mapping, whose keys @sub has */
};

/* A key of a mapping in a request, the values that it accepts, and where they are stored. */
struct lnet_field {
	const char *key;		/* NULL: end of the table */
	u8 kind;
	bool need;			/* the key must be there */
	bool stock;			/* the error text begins as that of stock's tool */
	s16 range_err;			/* a number out of range, an unknown net; 0: -EINVAL */
	u16 off, size;			/* of the member */
	u16 has;			/* offset of a bool that becomes true with the key; or 0 */
	s64 min, max;
	const char *text;		/* accepted values, for the error text; NULL: the range */
	int (*check)(const char *text);	/* 0, -EINVAL, -ENOMEM; NULL: all texts that fit */
	const struct lnet_field *sub;
};

#define LNET_FIELD(kind_, key_, type, member, ...)						\
	{ .key = key_, .kind = LNET_FIELD_##kind_, .off = offsetof(type, member),		\
	  .size = sizeof(((type *)0)->member), __VA_ARGS__ }
#define LNET_FIELD_RANGE(key_, type, member, min_, max_, ...)					\
	LNET_FIELD(NUM, key_, type, member, .min = min_, .max = max_, __VA_ARGS__)
#define LNET_FIELD_SUB(key_, sub_) { .key = key_, .kind = LNET_FIELD_MAP, .sub = sub_ }

/*
 * Reads the fields @f of the mapping @r into the struct @base; members of keys that are not there
 * stay. 0; -EINVAL or the field's errno with a text that names the key, what is accepted, and what
 * came.
 */
int lnet_ctl_read(struct lnet_req r, const struct lnet_field *f, void *base,
		  struct lnet_ctl_err *e);
/* What "nids" of a request has: NIDs, perhaps with a process before them ("12345-10.0.0.1@tcp"). */
struct lnet_ctl_target {
	struct lnet_nid nid;
	s64 pid;		/* LNET_CTL_NO_PID: none was given */
};
#define LNET_CTL_NO_PID (-1)
/* Into @targets, LNET_CTL_NIDS_MAX of them; their number, at least 1, or -errno. */
int lnet_ctl_targets(const struct lnet_ctl_req *req, struct lnet_ctl_target *targets,
		     struct lnet_ctl_err *e);
/* Table before the first item. False: no room. */
bool lnet_ctl_table(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct lnet_table *t);
/* Open an item, or from d->sub on the rest of one; its header text if it is the first. */
void lnet_ctl_item(struct lnet_ctl_dump *d, struct lnet_sink *s);
/* Close it. False: no room, as if it had not been opened. */
bool lnet_ctl_item_end(struct lnet_ctl_dump *d, struct lnet_sink *s);
/* An item that is the mapping of @view alone, after its table. False: no room. */
bool lnet_ctl_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct lnet_table *t,
		   const void *view);
/*
 * The list in key @idx as the last key of an item, and the end of the item. @elem opens and writes
 * element d->sub; false: there is none. True: all elements from d->sub on fitted. Else d->sub is
 * the first that did not.
 */
bool lnet_ctl_list(struct lnet_ctl_dump *d, struct lnet_sink *s, unsigned int idx,
		   bool (*elem)(struct lnet_ctl_dump *d, struct lnet_sink *s, void *arg),
		   void *arg);
/* Words for an errno of the core's configuration calls. */
const char *lnet_ctl_why(int err);

void lnet_ctl_stat_add(struct lnet_view_stat *v, const struct lnet_path_stats *st);
void lnet_ctl_stat_done(struct lnet_view_stat *v);

/* ---- query.c: several nodes asked at once ---------------------------------------------------- */

#define LNET_CTL_PING_KEYS	5	/* of lnet_table_ping, of lnet_table_failure */
#define LNET_CTL_FAILURE_KEYS	4

struct lnet_ctl_asks;

struct lnet_ctl_ask {			/* one of them */
	struct lnet_ctl_asks *set;
	struct lnet_ctl_target to;
	int status;			/* [lock of @set] 1: under way */
	/* the answer, when it has come */
	char why[2 * LNET_TEXT_MAX];	/* why no message was sent; or empty */
	bool mr;			/* result of discover: Multi-Rail */
	unsigned int nr_nids;
	struct lnet_nid *nids;
	struct lnet_disc_ask disc;	/* discover's */
};

/*
 * Lives until the dump and every question have let go of it: a client may leave before the answers
 * come.
 */
struct lnet_ctl_asks {
	struct lnet_control *ctl;
	const char *what;		/* "ping", "discover" */
	struct lnet_table told, failed;
	struct lnet_key keys[LNET_CTL_PING_KEYS], failure_keys[LNET_CTL_FAILURE_KEYS];
	/* NULL, or: nobody waits for it. True: lnet_ctl_ask_ended() is not called any more. */
	bool (*cancel)(struct lnet_ctl_ask *ask);
	/* NULL, or: the answer is what the node knows now. 0, -ENOMEM, -ENOENT */
	int (*answer)(struct lnet_ctl_ask *ask);
	struct lnet_nid source;		/* ping: local NID to use, or ANY */
	u64 timeout_ns;
	bool force;			/* discover's */
	spinlock_t lock;
	unsigned int nr, nr_open;	/* nr_open [lock] */
	bool left;			/* [lock] the dump is gone */
	bool answered;			/* the dump: all is there to be told */
	struct lnet_ctl_ask ask[];
};

/* For the targets of @req; NULL: *@rc is why. */
struct lnet_ctl_asks *lnet_ctl_asks_new(struct lnet_control *ctl, const struct lnet_ctl_req *req,
					const char *what, struct lnet_ctl_err *e, int *rc);
void lnet_ctl_asks_free(struct lnet_ctl_asks *set);	/* not started; NULL is fine */
/* 0 from @start: lnet_ctl_ask_ended() will be called, or was. Else it failed. */
void lnet_ctl_asks_start(struct lnet_ctl_asks *set, int (*start)(struct lnet_ctl_ask *ask));
/* Any thread, no lock held but what handlers hold. */
void lnet_ctl_ask_ended(struct lnet_ctl_ask *ask, int status);
int lnet_ctl_asks_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e);
void lnet_ctl_asks_end(struct lnet_ctl_dump *d);

#endif
