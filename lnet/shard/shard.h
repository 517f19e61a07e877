/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of shard/: the lock of a shard, passes, pools, counters, tunables, the log. */
#ifndef LNET_SHARD_SHARD_H
#define LNET_SHARD_SHARD_H

#include "model/model.h"

/* ---- pass.c ---------------------------------------------------------------------------------- */
/*
 * Locks @sh, and releases the shard that @p had locked. Every 64th call for the same shard releases
 * the lock once. Before it locks @sh, the function refills pools that have too few objects.
 */
void lnet_enter(struct lnet_pass *p, struct lnet_shard *sh);
/* Locks the shard of @pni, even if @pni moves to another shard during the call. */
void lnet_enter_pni(struct lnet_pass *p, const struct lnet_peer_ni *pni);
/* Locks the shard of @peer, even if @peer moves to another shard during the call. */
void lnet_enter_peer(struct lnet_pass *p, const struct lnet_peer *peer);
/*
 * Posts events, counts batched statistics, and returns delivered events to a pool. Then releases
 * the shard that @p has locked, if any.
 */
void lnet_leave(struct lnet_pass *p);
/* [sh] Aborts the receive of @rx at the end of the pass. */
void lnet_rx_want_stop(struct lnet_pass *p, struct lnet_rx *rx);

/*
 * True if the pass @p is an API call of a handler. The pass that runs the handler delivers the
 * events of the call, because it checks for events again.
 */
static inline bool lnet_pass_in_handler(const struct lnet_pass *p)
{
	return p->kind == LNET_PASS_CALL && READ_ONCE(p->ln->shard[0].deliverer) == plat_self();
}

/* [sh] Starts @op at the end of the pass. */
static inline void lnet_op_defer(struct lnet_pass *p, struct lnet_op *op)
{
	list_add_tail(&op->link, &p->defer);
}

/* ---- shard.c --------------------------------------------------------------------------------- */
/* 0, -ENOMEM */
int lnet_shards_init(struct lnet *ln);
/* Frees the shards and their pools. All operations have ended. */
void lnet_shards_fini(struct lnet *ln);
/* cfg_mutex held. Locks all shards, so that the caller can publish a configuration. */
void lnet_shards_lock_all(struct lnet *ln);
/* Undoes lnet_shards_lock_all(). */
void lnet_shards_unlock_all(struct lnet *ln);
/*
 * Schedules the periodic job whose time is *@at: the worker of shard 0 runs the job at @when_ns or
 * earlier. The call never makes *@at later. Any lock may be held.
 */
void lnet_job_schedule(struct lnet *ln, u64 *at, u64 when_ns);
/*
 * cfg_mutex held. Waits until done() returns true, or for @limit_ns (U64_MAX: no limit). Repeatedly
 * does the due work of all shards and then sleeps for a short time. The caller does this work
 * because the program may have no other thread. In the simulator, the clock does not advance during
 * the call. A wait has no effect there, so it ends early. Returns the last result of done().
 */
bool lnet_cfg_wait(struct lnet *ln, bool (*done)(struct lnet *ln, void *arg), void *arg,
		   u64 limit_ns);

/* ---- pool.c ---------------------------------------------------------------------------------- */
/* Initializes @op, which must be in no list. */
void lnet_op_init(struct lnet_op *op);
/*
 * Allocates a zeroed operation with initialized lists and first attempt. No lock held. NULL: no
 * memory.
 */
struct lnet_op *lnet_op_new(void);
/* [sh] Returns @op with its events to the pool of @sh. */
void lnet_op_recycle(struct lnet_shard *sh, struct lnet_op *op);
/* [sh] Takes an event from the pool; NULL: the pool is empty. */
struct lnet_evt *lnet_evt_take(struct lnet_shard *sh);
/*
 * Notes the delivered event @e. It returns to a pool when @p next releases a shard. Any lock may be
 * held.
 */
void lnet_evt_recycle(struct lnet_pass *p, struct lnet_evt *e);
/* [sh] Returns all events of p->evts, which lnet_evt_recycle() added, to the pool of @sh. */
void lnet_evts_keep(struct lnet_pass *p, struct lnet_shard *sh);
/*
 * Returns the delivered events of @p to the pool of @sh, at once or at the next refill of the pool.
 * Any context.
 */
void lnet_evts_return(struct lnet_pass *p, struct lnet_shard *sh);
/* Frees @op, its events and its small buffer. @op may be NULL. */
void lnet_op_free(struct lnet_op *op);
/* Allocates an event; any context that may sleep. NULL: no memory. */
struct lnet_evt *lnet_evt_new(void);
/* Frees the event @e, which is in no pool. */
void lnet_evt_free(struct lnet_evt *e);
/*
 * Allocates a small buffer of @len bytes with one reference. No lock held. NULL: no memory. The
 * bytes are not cleared, so the caller writes each byte before the buffer is sent.
 */
struct lnet_sbuf *lnet_sbuf_new(u32 len);
/* Takes a reference. */
void lnet_sbuf_get(struct lnet_sbuf *c);
/* Drops a reference to the small buffer; the last one frees it. NULL is accepted. */
void lnet_sbuf_put(struct lnet_sbuf *c);
/* Takes a reference to @ni; lnet_ni_put() of <lnet/lnd.h> drops it. Any lock may be held. */
void lnet_ni_get(struct lnet_ni *ni);
/* [sh] Takes an operation from the pool, which lnet_enter() refills. NULL: the pool is empty. */
struct lnet_op *lnet_op_take(struct lnet_shard *sh);
/* [sh] Takes an attempt, for a hedge, from the pool. NULL: the pool is empty. */
struct lnet_att *lnet_att_take(struct lnet_shard *sh);
/* Fills the pools of @sh. No lock held. */
void lnet_pool_refill(struct lnet_shard *sh);
/* Allocates the statistics that paths of @sh have requested. No lock held. */
void lnet_stats_prealloc(struct lnet_shard *sh);
/* Frees the objects in the pools of @sh. No caller uses @sh any more. */
void lnet_pools_free(struct lnet_shard *sh);

/* ---- stats.c --------------------------------------------------------------------------------- */
extern const char *const lnet_counter_names[LNET_NR_COUNTERS];
/* Makes @sum the sum of @a and @b. */
void lnet_times_sum(struct lnet_times *sum, const struct lnet_times *a, const struct lnet_times *b);
/* Returns the upper edge, in ns, of the bucket with the quantile @permille; at most @max_ns. */
u64 lnet_hist_quantile(const struct lnet_hist *h, u64 max_ns, unsigned int permille);
/*
 * Returns the counter @c summed over all shards, including the messages that fault rules failed or
 * delayed. No lock needed.
 */
u64 lnet_stat_sum(const struct lnet *ln, enum lnet_counter c);
/* Adds 1 to the counter @c of an event that belongs to no shard. No shard lock held. */
void lnet_stat_count(struct lnet *ln, enum lnet_counter c);
/*
 * [sh] Sets the counters of @sh to zero, and those that interfaces have in @sh. Gauges keep their
 * values.
 */
void lnet_shard_stats_reset(struct lnet_shard *sh);
/*
 * [sh of @peer] Sets the counters and histograms of @peer to zero, with those of its interfaces and
 * paths.
 */
void lnet_peer_stats_reset(struct lnet_peer *peer);
/* [sh] Adds the batched statistics in p->stats to the counters, before the shard is released. */
void lnet_pass_stats_add(struct lnet_pass *p);
/* [sh] Adds a message of @op that the driver has sent to the batched statistics in p->stats. */
void lnet_stat_sent(struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op);
/* [sh of @from] Counts a received message of the type @type with @len bytes of payload. */
void lnet_stat_recv(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type,
		    u32 len);
/* [sh] Counts a dropped message, also for @from, unless @from belongs to another shard. */
void lnet_stat_drop(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type,
		    u32 len);
/* [sh] Counts @op, which begins, as unfinished. */
void lnet_stat_start(struct lnet_shard *sh, struct lnet_op *op);
/* [sh] Undoes lnet_stat_start() when @op is over. */
void lnet_stat_end(struct lnet_shard *sh, const struct lnet_op *op);
/*
 * [sh] Returns true, and counts a denied reply, if the node must not create a further reply to
 * @from. This is so if replies_max replies to @from are unfinished. It is also so if replies_budget
 * replies to all peers of the shard are unfinished, and at least 16 of them to @from.
 */
bool lnet_replies_full(struct lnet_pass *p, const struct lnet_peer_ni *from);
/* [sh] Records that the driver of @path took @ns to hand @op over to the fabric. */
void lnet_stat_posted(struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op,
		      u64 ns);
/* [sh] Records the response time of @op, whose reply was received on @path. */
void lnet_stat_reply(struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op);

/* ---- tunables.c ------------------------------------------------------------------------------ */
extern const struct lnet_tunable_info lnet_tunable_table[];
extern const unsigned int lnet_nr_tunables;
/* Sets all tunables to their defaults. */
void lnet_tunables_init(struct lnet_tunables *tun);
/* Finds a tunable by its name here or in stock LNet. NULL: there is none. */
const struct lnet_tunable_info *lnet_tunable_find(const char *name);
/* Returns the value of a tunable. No lock needed. */
u64 lnet_tunable_get(const struct lnet *ln, const struct lnet_tunable_info *info);
/*
 * Returns the value that a node uses if an operator sets @value. As in stock LNet, a max_interfaces
 * below the minimum means the default, and one above the maximum means the maximum. All other
 * values are returned unchanged.
 */
u64 lnet_tunable_taken(const struct lnet_tunable_info *info, u64 value);
/* Writes the accepted values to @buf, as "0 to 255", "1ms to 1h" or "none, secure or all". */
void lnet_tunable_range(const struct lnet_tunable_info *info, char *buf, size_t size);

/* ---- log.c ----------------------------------------------------------------------------------- */
/*
 * Write the messages of log.def, one function each. Any context in which the core runs; a shard or
 * leaf lock may be held.
 */
#define LOG(name, level, most, title, params, ...) void lnet_log_##name params;
#include "model/log.def"
#undef LOG

/* Initializes the log. To be called before all other functions of the log. */
void lnet_log_init(struct lnet *ln, const struct lnet_cfg *cfg);
/* True if the node writes log messages. For messages whose arguments are costly to compute. */
bool lnet_log_is_on(const struct lnet *ln);
/* Logs the number of suppressed lines, if that is due. Worker of shard 0, no lock held. */
void lnet_log_work(struct lnet *ln, u64 now_ns);
/* Logs the number of suppressed lines at once. Nothing is logged afterwards. */
void lnet_log_flush(struct lnet *ln);

#endif
