/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internals of the self-test: the service of a node, requests from and to other nodes, sessions,
 * batches, tests.
 */
#ifndef LNET_SELFTEST_SERVICE_H
#define LNET_SELFTEST_SERVICE_H

#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnet.h>
#include "selftest.h"
#include "wire.h"

/*
 * One lock per service protects all data below. It is a leaf lock: no API call is made while it is
 * held. Calls of the API are queued as jobs. Each entry from outside (a handler, lst_work(), a
 * command) begins with lst_enter() and ends with lst_run(), which runs the jobs. Functions named
 * _locked need the lock.
 */

#define LST_RPC_TIMEOUT_NS	(64ULL * NSEC_PER_SEC)
#define LST_LEASE		100U		/* default lease in seconds */
#define LST_LEASE_MIN		4U
#define LST_LEASE_MAX		3600U
/* maximum sessions that the node remembers as taken over by another console */
#define LST_FENCED_MAX		16U
#define LST_CALLS_MAX		8192U		/* maximum requests of other nodes being served */
/* calls that each sender may have even if LST_CALLS_MAX calls are being served */
#define LST_CALLS_FEW		32U
#define LST_BULK_MAX		(256ULL << 20)	/* maximum bytes of bulk memory of all calls */
#define LST_BULK_SHARE		(64ULL << 20)	/* maximum bytes of bulk memory per sender */
#define LST_SENDERS_MAX		64U		/* number of shares; other senders use the last */
#define LST_UNITS_MAX		65536U		/* of a test */
#define LST_TESTS_MAX		1024U		/* tests of a session */
#define LST_PARTS_MAX		262144U		/* maximum units and slots of a session */
#define LST_DESTS_MAX		(256U * LST_DESTS_PER_PAGE)
#define LST_REFUSED_LOG_NS	(10ULL * NSEC_PER_SEC)
#define LST_RETRY_NS		(1ULL * NSEC_PER_SEC)	/* to post a buffer */
#define LST_PAUSE_NS		(10ULL * NSEC_PER_MSEC)	/* pause before a retry */

struct lst_job {
	struct list_head link;
	/* called without the lock; must not call lst_run() */
	void (*run)(struct lst_job *job);
};

#define COUNTER(name, text)	LST_C_##name,
enum lst_counter {
#include "counters.def"
	LST_NR_COUNTERS
};
#undef COUNTER

struct lst_buffer {			/* receives requests of other nodes */
	struct lst *st;
	struct lst_job job;
	lnet_md_t md;
	u32 portal, size;
	bool posted;
	u8 *mem;
};
#define LST_BUFFERS	6		/* two for each portal */

struct lst_share {			/* the calls of one sender, and their bulk memory */
	struct lnet_nid sender;
	u32 nr_calls;
	u64 used;			/* bytes of bulk memory */
	struct list_head waits;		/* calls that wait for memory, by job.link */
};

struct lst {
	struct lnet *ln;
	struct lst_host *host;
	spinlock_t lock;
	struct list_head jobs;
	struct list_head rpcs;		/* in flight, by deadline */
	struct list_head ending;	/* failed requests whose memory LNet has not released yet */
	struct list_head calls;		/* being served */
	struct list_head paused;	/* units, by resume time */
	struct list_head drills;
	u64 start_ns;			/* no batch is scheduled before this time */
	struct list_head nettests;
	u32 nr_messages;		/* as lst_cfg requested */
	const struct lnet_nidlist *consoles;	/* NIDs that may control this node; NULL: all */
	bool drills_served;		/* buffers for drills exist */
	u32 nr_calls, nr_outs;
	struct lst_share share[LST_SENDERS_MAX];
	u64 bulk_used;			/* bytes of all shares */
	u32 share_turn;			/* round-robin position in share[] */
	struct list_head spares;	/* large memory of ended calls */
	u32 nr_spares;
	u32 nr_inside;			/* threads between lst_enter() and lst_run() */
	u64 armed_ns;			/* time of the next lst_work() */
	u64 retry_ns;			/* time to post buffers again, after a lack of memory */
	bool stopping;
	struct lst_session *session;	/* session that this node is in, or NULL */
	struct list_head zombies;	/* ended sessions with running units */
	u32 nr_zombies;
	u64 epoch;			/* epoch of the last session; each new session adds 1 */
	/* Ring of the last sessions that ended by a takeover. Their consoles may not know of it. */
	struct lst_sid fenced[LST_FENCED_MAX];
	u32 nr_fenced;
	struct con_session *con;	/* session that this node controls as a console, or NULL */
	u64 con_generation;
	struct list_head commands;	/* to the console, in progress */
	/*
	 * @tree belongs to the session of this node. @root belongs to the session that this node
	 * controls as a console. Both may be NULL.
	 */
	struct lst_tree *tree, *root;
	u32 nr_trees;			/* these, and ending ones */
	u32 nr_commands;
	u64 c[LST_NR_COUNTERS];
	u64 refused_log_ns;		/* earliest time of the next log line about rejections */
	struct lst_buffer buffer[LST_BUFFERS];
};

static inline u64 lst_now(const struct lst *st)
{
	struct lnet_env *env = lnet_env_of(st->ln);

	return env->ops->now_ns(env);
}

/*
 * Draws a secret ID: the match bits of memory that this node posts. Any node that knows the ID may
 * put to or get from that memory. So no node can compute it from the IDs of other requests.
 */
static inline u64 lst_id_draw(struct lst *st)
{
	struct lnet_env *env = lnet_env_of(st->ln);

	return env->ops->secret(env);
}

/* ---- service.c ------------------------------------------------------------------------------- */

void lst_queue_locked(struct lst *st, struct lst_job *job, void (*run)(struct lst_job *job));
/* First call of each entry from outside; the last call is lst_run(). Takes the lock. */
static inline void lst_enter(struct lst *st) __acquires(&st->lock)
{
	spin_lock(&st->lock);
	st->nr_inside++;
}
void lst_run(struct lst *st);
/* Returns the first NID of this node other than 0@lo. Call without the lock. */
void lst_self(struct lst *st, struct lnet_process *id);
/* Sends @x from the interface @x->self, or from any interface if @x->self was removed meanwhile. */
int lst_bulk_start(struct lst *st, struct lnet_xfer *x, bool get);

/* ---- rpc.c: own requests ----------------------------------------------------------------- */

enum lst_md_kind { LST_MD_RPY, LST_MD_BULK, LST_NR_MDS };

/*
 * The message of a request. ACKs are cumulative, so LNet may report the delivery of the message
 * after the reply. Therefore the message outlives the request.
 */
struct lst_out {
	struct lst *st;
	struct lst_rpc *rpc;		/* NULL: it has ended */
	u8 buf[LST_MSG_SIZE];
};

/*
 * Memory posted for a request. LNet may report the delivery of fetched data long after the reply.
 * If a session keeps the memory, the request does not wait for the report.
 */
struct lst_rpc_md {
	struct lst *st;
	struct lst_rpc *rpc;		/* NULL: it has ended */
	/*
	 * if this struct was allocated separately from its request: the session that it references;
	 * else NULL
	 */
	struct lst_session *session;
	enum lst_md_kind kind;
	lnet_md_t md;
};

struct lst_rpc {
	struct lst *st;
	struct list_head link;
	struct lst_job job;
	struct lst_rpc_md own_md[LST_NR_MDS];
	struct lst_rpc_md *md[LST_NR_MDS];	/* NULL: not posted, or released */
	struct lnet_process target;
	u64 rpyid, bulkid;
	u64 start_ns, end_ns, deadline_ns;
	/*
	 * Memory of the caller, into which other nodes may put or from which they may get. NULL:
	 * none.
	 */
	void *bulk;
	u32 bulk_len, bulk_options;	/* LNET_MD_OP_PUT or LNET_MD_OP_GET */
	/*
	 * The caller's session, which keeps fetched memory. NULL: the request waits until LNet has
	 * released the memory.
	 */
	struct lst_session *session;
	u32 portal, service;
	u8 nr_open;			/* descriptors and jobs that reference the request */
	bool starting, unlinking, unlink, replied, moved;
	int status;
	struct lst_out *out;		/* NULL: LNet has released it */
	lnet_md_t out_md;
	u8 request[LST_MSG_SIZE], reply[LST_MSG_SIZE];
	/*
	 * Called when the request has ended; returns its ownership to the caller. Called without
	 * the lock; must not call lst_run().
	 */
	void (*done)(struct lst_rpc *rpc);
};

/* Draws the match bits. Call it before each use of @rpc. */
void lst_rpc_init_locked(struct lst_rpc *rpc, struct lst *st, const struct lnet_process *target);
/*
 * Sends @req and fills in its rpyid. If there is bulk memory, the caller has filled in bulkid.
 * done() is then called exactly once, also if nothing can be sent.
 */
void lst_rpc_post_locked(struct lst_rpc *rpc, struct lst_msg *req, u64 timeout_ns);
/*
 * Ends a request in progress. Its status becomes @status (< 0), unless the request already has a
 * status.
 */
void lst_rpc_fail_locked(struct lst_rpc *rpc, int status);
/* Call in done(). Returns 0 and the reply, or -errno. */
int lst_rpc_result(struct lst_rpc *rpc, struct lst_msg *rpy);
u64 lst_rpcs_expire_locked(struct lst *st, u64 now);	/* next deadline */

/* ---- serve.c: requests of other nodes -------------------------------------------------------- */

enum lst_verdict { LST_DROP, LST_REPLY, LST_BULK, LST_LATER };

struct lst_call {
	struct lst *st;
	struct list_head link;
	struct lst_job job;
	struct lnet_process from;	/* destination of the reply */
	struct lnet_nid primary;	/* primary NID of the sender; all ones: unknown */
	struct lnet_nid self;		/* the interface that was addressed */
	struct lst_msg req, rpy;
	u8 nr_open;			/* transfers in progress */
	void *bulk;			/* kvfree() at the end */
	u32 bulk_len;
	struct lst_share *share;	/* of its sender */
	bool bulk_counted;		/* @share counts the memory @bulk */
	bool bulk_get;			/* true: the data moves to this node; false: from it */
	u64 bulkid;
	int bulk_status;
	u8 buf[LST_MSG_SIZE];
	u32 portal;			/* of the reply; 0: LST_PORTAL_RDMA */
	u32 len, rpy_len;		/* bytes of request and reply */
	const u8 *raw;			/* bytes of the request; valid while it is served */
	bool echo;			/* @bulk is the reply */
	/*
	 * bulk_prepare() and bulk_done() are called without the lock; both may be NULL.
	 * bulk_prepare() is called before the transfer. It returns 0, or < 0 if no reply is to be
	 * sent. bulk_done() is called after this node has fetched the data.
	 */
	int (*bulk_prepare)(struct lst_call *call);
	void (*bulk_done)(struct lst_call *call);	/* after a fetch */
};

void lst_reply_locked(struct lst_call *call);	/* after LST_LATER */
/*
 * Makes the reply as long as the request, and repeats the payload of the request. False: no memory.
 */
bool lst_call_echo_locked(struct lst_call *call);
void lst_spares_free(struct lst *st);	/* without the lock; may sleep */
int lst_serve_start(struct lst *st, u32 nr_messages);
int lst_serve_drills(struct lst *st);	/* creates their buffers; may sleep */
void lst_serve_retry_locked(struct lst *st, u64 now);
void lst_serve_stop_locked(struct lst *st);
bool lst_serve_stopped_locked(const struct lst *st);
void lst_serve_free(struct lst *st);

/*
 * Each of these functions serves @call->req. @call->rpy already contains type and features of the
 * reply.
 */
enum lst_verdict lst_session_serve_locked(struct lst_call *call);
enum lst_verdict lst_batch_serve_locked(struct lst_call *call);
enum lst_verdict lst_stat_serve_locked(struct lst_call *call);
enum lst_verdict lst_ping_serve_locked(struct lst_call *call);
enum lst_verdict lst_brw_serve_locked(struct lst_call *call);
enum lst_verdict lst_add_serve_locked(struct lst_call *call);
enum lst_verdict lst_tally_serve_locked(struct lst_call *call);
enum lst_verdict lst_drill_serve_locked(struct lst_call *call);
enum lst_verdict lst_start_serve_locked(struct lst_call *call);
enum lst_verdict lst_nettest_serve_locked(struct lst_call *call);

/* ---- session.c ------------------------------------------------------------------------------- */

#define STATE(name)	name,
#define EDGE(from, to)
enum lst_lease {
#include "lease.def"
	LST_NR_LEASES
};
#undef STATE
#undef EDGE

struct lst_session {
	struct lst *st;
	struct list_head link;		/* st->zombies */
	struct lst_job job;
	struct lst_sid sid;
	/* NIDs of the console. All ones: a tree, or a tool on this node, made the session. */
	struct lnet_nid console, primary;
	char name[LST_NAME];
	u8 state;			/* enum lst_lease */
	bool ours;			/* its console supports epochs */
	u32 lease;			/* maximum seconds without the console; 0: endless */
	u32 feats, refs;		/* refs: MAKE requests minus REMOVE requests */
	u64 start_ns, used_ns;
	struct list_head batches;
	struct lst_nettest *nettest;	/* the last one, or NULL */
	u32 nr_tests, nr_parts;		/* nr_parts: units and slots of the tests */
	u32 nr_running;			/* units and other users; the last one frees the session */
	u32 brw_errors, ping_errors;
};

/*
 * Is @sid the session of this node? If so, renews its lease and returns 0. Otherwise returns the
 * status of the reply: EINVAL, ESRCH, ESTALE after a takeover by another console, EPROTO if the
 * features differ.
 */
u32 lst_session_check_locked(struct lst_call *call, const struct lst_sid *sid);
struct lst_sid lst_session_sid_locked(const struct lst *st);
/* Did another console take over this node from session @sid? */
bool lst_session_fenced_locked(const struct lst *st, const struct lst_sid *sid);
/*
 * Ends the current session, and creates the session that MAKE_SESSION requests. Returns the status
 * of the reply.
 */
u32 lst_session_make_locked(struct lst *st, const struct lst_msg *msg);
/* Ends the session of this node, if there is one. @how is its final state. */
void lst_session_end_locked(struct lst *st, enum lst_lease how);
void lst_session_put_locked(struct lst *st, struct lst_session *s);	/* a user ended */
u64 lst_session_expire_locked(struct lst *st, u64 now);		/* returns its deadline */
/* May the sender of @call request @service? Returns 0, or EACCES as the status of the reply. */
u32 lst_session_allows_locked(struct lst_call *call, u32 service);

/* ---- batch.c: batches and tests ---------------------------------------------------------- */

struct lst_test_ops;
struct lst_drill;
struct lst_tally;

struct lst_batch {
	struct list_head link;
	u64 bid;
	struct list_head tests;
	u32 nr_tests, nr_active;	/* tests with running units */
	u64 start_ns;			/* scheduled start; 0: none */
	u64 started_ns;			/* its last start */
	bool stopping;
};

struct lst_test {
	struct list_head link;
	struct lst_batch *batch;
	struct lst_session *session;
	const struct lst_test_ops *ops;
	u32 index;			/* from 1 */
	s32 loop;			/* -1: endless */
	u32 concur, nr_dests;
	bool is_client, stop_onerr;
	/* of brw */
	u32 opc, flags, len, offset;
	struct lst_unit *units;		/* nr_dests times concur, or NULL */
	u32 nr_units, nr_active;
	struct lst_drill *drill;	/* set for a drill, which has no units */
	struct lst_tally *tally;	/* of a client */
	struct lnet_process self;	/* this node */
};

/* One of the parallel parts of a test at its client. */
struct lst_unit {
	struct lst_test *test;
	struct list_head link;		/* st->paused */
	struct lst_job job;
	struct lst_rpc rpc;
	struct lnet_process dest;
	s32 loop;			/* requests left */
	u8 state;			/* enum lst_unit_state */
	u64 resume_ns;
	u32 seq;
	u8 *mem;			/* brw */
	bool filled;
	bool answered;			/* a reply was received, valid or not */
};

#define UNIT(name)		LST_UNIT_##name,
#define NODE(name, number, text)
#define BATCH(name, text)
enum lst_unit_state {
#include "states.def"
};
#undef UNIT
#undef NODE
#undef BATCH

/* The batch runs or is scheduled, so no test can be added. */
static inline bool lst_batch_is_busy(const struct lst_batch *batch)
{
	return batch->nr_active || batch->start_ns;
}

void lst_batch_run_locked(struct lst *st, struct lst_batch *batch);
void lst_batches_stop_locked(struct lst_session *s, bool force);
void lst_batches_free(struct lst_session *s);
struct lst_batch *lst_batch_find(const struct lst_session *s, u64 bid);
/* Adds a test to a batch. @index 0: the next index. Returns the status of the reply. */
u32 lst_test_link_locked(struct lst_session *s, u64 bid, u32 index, struct lst_test *test);
void lst_test_free(struct lst_test *test);
/*
 * Serves a TEST request after the fetch of its destinations: fills in the reply. Call without the
 * lock.
 */
void lst_test_add(struct lst_call *call);

/* ---- start.c --------------------------------------------------------------------------------- */

u64 lst_starts_work_locked(struct lst *st, u64 now);	/* returns the next start */

/* ---- nettest_serve.c ------------------------------------------------------------------------- */

void lst_nettest_end_locked(struct lst_session *s);
/* Serves the runs of NETTEST. Returns the next deadline; @now 0: only returns it. */
u64 lst_nettests_work_locked(struct lst *st, u64 now);

/* ---- unit.c ---------------------------------------------------------------------------------- */

void lst_test_run_locked(struct lst_test *test);
void lst_test_stop_locked(struct lst_test *test, bool force);
void lst_units_resume_locked(struct lst *st, u64 now);

/* ---- the tests ------------------------------------------------------------------------------- */

struct lst_test_ops {
	u32 service;
	/* Reads the parameters of @req into @test. Returns 0 or -EINVAL. */
	int (*take)(struct lst_test *test, const struct lst_msg *req);
	/*
	 * Makes the next request, and bulk memory in unit->rpc. Called without the lock. Returns 0
	 * or -ENOMEM.
	 */
	int (*prepare)(struct lst_unit *unit, struct lst_msg *req);
	/*
	 * Checks a reply that reports no error. Called without the lock. Returns 0, or -EBADMSG for
	 * unexpected contents.
	 */
	int (*finish)(struct lst_unit *unit, const struct lst_msg *rpy);
};
extern const struct lst_test_ops lst_ping_ops, lst_brw_ops;

/* ---- pattern.c: contents of bulk memory ------------------------------------------------------ */

void lst_pattern_fill(u8 *mem, u32 len, enum lst_check check);
/* At each position that lst_pattern_good() checks, writes a value that no node sends. */
void lst_pattern_poison(u8 *mem, u32 len, enum lst_check check);
/* @swapped: the byte order of the sender differs */
bool lst_pattern_good(const u8 *mem, u32 len, enum lst_check check, bool swapped);

#endif
