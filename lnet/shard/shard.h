/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of shard/: the lock of a shard, passes, pools, counters, tunables, the log. */
#ifndef LNET_SHARD_SHARD_H
#define LNET_SHARD_SHARD_H

#include "model/model.h"

/* ---- pass.c ---------------------------------------------------------------------------------- */
/*
 * Locks @sh, and releases the shard that @p held. At every 64th call for the same shard it
 * releases the lock once. Refills low pools before.
 */
void lnet_enter(struct lnet_pass *p, struct lnet_shard *sh);
/* Locks the shard of @pni, also if @pni moves to another shard meanwhile. */
void lnet_enter_pni(struct lnet_pass *p, const struct lnet_peer_ni *pni);
/* Locks the shard of @peer, also if @peer moves to another shard meanwhile. */
void lnet_enter_peer(struct lnet_pass *p, const struct lnet_peer *peer);
/*
 * Posts events, counts batched statistics and returns used events, then releases the shard that @p
 * holds, if any.
 */
void lnet_leave(struct lnet_pass *p);
/* [sh] Aborts the receive of @rx at the end of the pass. */
void lnet_rx_want_stop(struct lnet_pass *p, struct lnet_rx *rx);

/*
 * True if a handler called the API. The pass that runs the handler delivers the events of the call,
 * because it checks again.
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
/* All operations have ended: frees the shards and their pools. */
void lnet_shards_fini(struct lnet *ln);
/* cfg_mutex held: locks all shards, to publish a configuration. */
void lnet_shards_lock_all(struct lnet *ln);
/* Undoes lnet_shards_lock_all(). */
void lnet_shards_unlock_all(struct lnet *ln);
/*
 * Any lock may be held. The worker of shard 0 runs the periodic job with the time *@at at @when_ns
 * or earlier; *@at never becomes later.
 */
void lnet_job_schedule(struct lnet *ln, u64 *at, u64 when_ns);
/*
 * cfg_mutex held. Waits until done() returns true, or for @limit_ns (U64_MAX: no limit). Meanwhile
 * it does the work of all shards, as the caller may be the only thread, and sleeps. Ends early if
 * the clock does not advance (simulator), because waiting has no effect there. Returns the last
 * result of done().
 */
bool lnet_cfg_wait(struct lnet *ln, bool (*done)(struct lnet *ln, void *arg), void *arg,
		   u64 limit_ns);

/* ---- pool.c ---------------------------------------------------------------------------------- */
/* Initializes @op, which is in no list. */
void lnet_op_init(struct lnet_op *op);
/* A zeroed operation, lists and first attempt set up. No lock held. NULL: no memory. */
struct lnet_op *lnet_op_new(void);
/* [sh] Puts @op with its events into the pool of @sh. */
void lnet_op_recycle(struct lnet_shard *sh, struct lnet_op *op);
/* [sh] An event from the pool; NULL: it is empty. */
struct lnet_evt *lnet_evt_take(struct lnet_shard *sh);
/* Any lock or none. @e returns to a pool when @p next leaves a shard. */
void lnet_evt_recycle(struct lnet_pass *p, struct lnet_evt *e);
/* [sh] Puts all events of p->evts, which lnet_evt_recycle() filled, into the pool of @sh. */
void lnet_evts_keep(struct lnet_pass *p, struct lnet_shard *sh);
/*
 * Any context. Gives the memory of the delivered events of @p back to the pool of @sh, at once or
 * at the next refill of the pool.
 */
void lnet_evts_return(struct lnet_pass *p, struct lnet_shard *sh);
/* Frees @op, its events and its small buffer. NULL is fine. */
void lnet_op_free(struct lnet_op *op);
/* Allocates an event; any context that may sleep. NULL: no memory. */
struct lnet_evt *lnet_evt_new(void);
/* Frees an event that is in no pool. */
void lnet_evt_free(struct lnet_evt *e);
/*
 * A small buffer of @len bytes with one reference. No lock held. The bytes are not cleared, so the
 * caller writes each one before they are sent. NULL: no memory.
 */
struct lnet_sbuf *lnet_sbuf_new(u32 len);
/* Takes a reference. */
void lnet_sbuf_get(struct lnet_sbuf *c);
/* Drops a reference; the last one frees @c. NULL is fine. */
void lnet_sbuf_put(struct lnet_sbuf *c);
/* Any lock or none. Takes a reference; lnet_ni_put() of <lnet/lnd.h> drops it. */
void lnet_ni_get(struct lnet_ni *ni);
/* [sh] An operation from the pool, which lnet_enter() refills. NULL: it is empty. */
struct lnet_op *lnet_op_take(struct lnet_shard *sh);
/* [sh] An attempt for a hedge from the pool. NULL: it is empty. */
struct lnet_att *lnet_att_take(struct lnet_shard *sh);
/* No lock held: fills the pools of @sh. */
void lnet_pool_refill(struct lnet_shard *sh);
/* No lock held: allocates the statistics that paths of @sh want. */
void lnet_stats_prealloc(struct lnet_shard *sh);
/* No caller uses @sh any more. Frees the objects of its pools. */
void lnet_pools_free(struct lnet_shard *sh);

/* ---- stats.c --------------------------------------------------------------------------------- */
extern const char *const lnet_counter_names[LNET_NR_COUNTERS];
/* Makes @sum the sum of @a and @b. */
void lnet_times_sum(struct lnet_times *sum, const struct lnet_times *a, const struct lnet_times *b);
/* The upper edge of the bucket with the quantile @permille, in ns, at most @max_ns. */
u64 lnet_hist_quantile(const struct lnet_hist *h, u64 max_ns, unsigned int permille);
/* The counter @c summed over shards, with the hits of fault rules. No lock needed. */
u64 lnet_stat_sum(const struct lnet *ln, enum lnet_counter c);
/* No shard lock held. Adds 1 to the counter of an event that belongs to no shard. */
void lnet_stat_count(struct lnet *ln, enum lnet_counter c);
/* [sh] Sets the counters of @sh, and its counters of interfaces, to zero. Gauges stay. */
void lnet_shard_stats_reset(struct lnet_shard *sh);
/* [sh of @peer] Sets counters and histograms of @peer, its interfaces and paths to zero. */
void lnet_peer_stats_reset(struct lnet_peer *peer);
/* [sh] Adds the batched statistics of p->stats to the counters, before the shard is released. */
void lnet_pass_stats_add(struct lnet_pass *p);
/* [sh] Counts, in p->stats, a message of @op that the driver has sent. */
void lnet_stat_sent(struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op);
/* [sh of @from] Counts a received message of @type with @len bytes of payload. */
void lnet_stat_recv(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type,
		    u32 len);
/* [sh] Counts a dropped message. @from is not counted if it belongs to another shard. */
void lnet_stat_drop(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type,
		    u32 len);
/* [sh] @op begins: counts it as unfinished. */
void lnet_stat_start(struct lnet_shard *sh, struct lnet_op *op);
/* [sh] @op is over: undoes lnet_stat_start(). */
void lnet_stat_end(struct lnet_shard *sh, const struct lnet_op *op);
/*
 * [sh] True if too many replies to @from are unfinished, or to all peers while @from has at least
 * 16 of them; counts the denial.
 */
bool lnet_replies_full(struct lnet_pass *p, const struct lnet_peer_ni *from);
/* [sh] The hand-over of @op to the driver of @path took @ns. */
void lnet_stat_posted(struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op,
		      u64 ns);
/* [sh] The reply to @op was received on @path: adds its response time. */
void lnet_stat_reply(struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op);

/* ---- tunables.c ------------------------------------------------------------------------------ */
extern const struct lnet_tunable_info lnet_tunable_table[];
extern const unsigned int lnet_nr_tunables;
/* Sets all tunables to their defaults. */
void lnet_tunables_init(struct lnet_tunables *tun);
/* Finds a tunable by its name, or by its name in stock LNet. NULL: none. */
const struct lnet_tunable_info *lnet_tunable_find(const char *name);
/* The value of a tunable. No lock needed. */
u64 lnet_tunable_get(const struct lnet *ln, const struct lnet_tunable_info *info);
/*
 * Returns the value that a node uses if @value is set. As in stock LNet, max_interfaces below the
 * minimum means the default, and above the maximum it means the maximum. All other values stay.
 */
u64 lnet_tunable_taken(const struct lnet_tunable_info *info, u64 value);
/* Writes the accepted words of a tunable of LNET_UNIT_E, as "none, secure or all", to @buf. */
void lnet_tunable_words(const struct lnet_tunable_info *info, char *buf, size_t size);

/* ---- log.c ----------------------------------------------------------------------------------- */
/* Each message of log.def. Any context in which the core runs; a shard or leaf lock may be held. */
#define LOG(name, level, most, title, params, ...) void lnet_log_##name params;
#include "model/log.def"
#undef LOG

/* Before all other functions of the log. */
void lnet_log_init(struct lnet *ln, const struct lnet_cfg *cfg);
/* True if messages are written. For messages whose arguments are costly to compute. */
bool lnet_log_is_on(const struct lnet *ln);
/* Worker of shard 0, no lock held. Logs the number of suppressed lines, if it is time. */
void lnet_log_work(struct lnet *ln, u64 now_ns);
/* As lnet_log_work(), at once. Nothing is logged afterwards. */
void lnet_log_flush(struct lnet *ln);

#endif
