/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of path/: selection of a path, health, suspicion, recovery. */
#ifndef LNET_PATH_PATH_H
#define LNET_PATH_PATH_H

#include "model/model.h"

struct lnet_cands;

/* ---- select.c -------------------------------------------------------------------------------- */
/*
 * The ranks of path selection, in order. route_up, gw_priority, hops and gw_health are equal for
 * all direct paths.
 */
#define PATH_RANKS(RANK)						\
	RANK(link_up) RANK(route_up) RANK(responsive) RANK(direct)	\
	RANK(health) RANK(priority) RANK(preferred) RANK(gw_priority)	\
	RANK(hops) RANK(gw_health) RANK(share) RANK(due) RANK(numa)	\
	RANK(credits) RANK(round_robin)

enum lnet_path_rank {
#define RANK(name) LNET_RANK_##name,
	PATH_RANKS(RANK)
#undef RANK
	LNET_NR_PATH_RANKS
};

struct lnet_cand {
	struct lnet_path *path;
	s64 rank[LNET_NR_PATH_RANKS];	/* a larger value is better */
};

struct lnet_select {			/* parameters and result of one path selection */
	struct lnet_peer *peer;
	struct lnet_ni *ni;		/* only this NI, or NULL */
	struct lnet_peer_ni *pni;	/* only paths to this peer NI; NULL: any peer NI */
	struct lnet_peer_ni *hop;	/* preferred next hop, or NULL */
	/* bitmap of tried paths, which are avoided while a usable untried path exists */
	u64 tried;
	u64 exclude;	/* bitmap of paths that are never used; for a hedge, the suspect path */
	s32 cpt;			/* of the memory; -1 unknown */
	u32 bytes;			/* payload, in either direction */
	/*
	 * The operation is a PUT or GET, so it may set the sticky NI of a peer that is not
	 * multi-rail.
	 */
	u8 request;
	/*
	 * result: the deciding enum lnet_path_rank; LNET_NR_PATH_RANKS: there was at most one
	 * candidate
	 */
	u8 decided_by;
	u8 nr_cand;
	struct lnet_cands *cands;	/* of lnet_select_explain(), or NULL */
};

#define LNET_CANDS_MAX 256

struct lnet_cands {			/* candidates in their order */
	unsigned int nr;
	struct lnet_cand cand[LNET_CANDS_MAX];
};

extern const char *const lnet_path_rank_names[LNET_NR_PATH_RANKS];
/*
 * [sh] Chooses a path, and updates the round-robin positions of its ends. NULL: no path passes the
 * filters, for example because no net is common or no NI is active.
 */
struct lnet_path *lnet_select(struct lnet_shard *sh, struct lnet_select *s);
/*
 * [sh] Returns the path that lnet_select() would choose now, and lists the candidates in @cands. If
 * there are more than LNET_CANDS_MAX candidates, the last element of @cands is the chosen path.
 * Changes nothing.
 */
struct lnet_path *lnet_select_explain(struct lnet_shard *sh, struct lnet_select *s,
				      struct lnet_cands *cands);
/* [sh] Chooses the path of the next attempt of @op; NULL: no path. */
struct lnet_path *lnet_op_choose(struct lnet_pass *p, struct lnet_op *op);

/* ---- expected_time.c ------------------------------------------------------------------------- */
/*
 * [sh] Returns the time in ns until a further request of @bytes would be done on @path, at the last
 * measured rate. Without a measurement, the speed of the link is used.
 */
u64 lnet_load_due_ns(const struct lnet_path *path, u32 bytes, u64 now_ns);
/* [sh] Adds the bytes of @att, for which @path was chosen, to the load of @path. */
void lnet_load_add(struct lnet_path *path, struct lnet_att *att, u64 now_ns);
/* [sh] Removes the ended @att from the load of @path. @left: a driver has received @att. */
void lnet_load_sub(struct lnet_path *path, struct lnet_att *att, bool left);

/* ---- health.c -------------------------------------------------------------------------------- */
/* True if the ping info of this node advertises @ni as up. */
bool lnet_ni_up(const struct lnet_ni *ni);
/*
 * [sh] A message on @path succeeded: raises the health of its NI. @from_peer: a reply was received,
 * so the health of @path, of its peer NI and of its next hop also rises.
 */
void lnet_health_ok(struct lnet_shard *sh, struct lnet_path *path, bool from_peer);
/*
 * [sh] Counts the failure @how. If lnet_outcomes[] attributes @how to one of @ends, lowers the
 * health of @path, and of those ends that lnet_attribute() returns.
 */
void lnet_health_penalize(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how,
			  u8 ends, u64 since_ns);
/*
 * [sh] A message on @path failed. Counts, logs and attributes the failure, and starts recovery.
 * @since_ns: start of the time without a response.
 */
void lnet_health_fail(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how,
		      u64 since_ns);
/*
 * [sh] The peer did not respond to @att in time. Lowers the health of the path of @att. If the
 * first-hop path also gave no response, lowers the health of that path instead.
 */
void lnet_health_no_response(struct lnet_shard *sh, const struct lnet_att *att);
/*
 * Sets the health of the NI @nid to @value, limited to 0..1000. LNET_NID_ANY: of all NIs. Takes
 * cfg_mutex. Returns 0 or -ENOENT.
 */
int lnet_health_set_ni(struct lnet *ln, const struct lnet_nid *nid, int value);
/* Like lnet_health_set_ni(), but for the peer NI @nid. */
int lnet_health_set_peer(struct lnet *ln, const struct lnet_nid *nid, int value);

/*
 * Logs that @path failed because of @why. Does nothing if the log already has a failure of @path
 * without a recovery. @since_ns: begin of the failure.
 */
void lnet_path_log_failed(struct lnet_path *path, const char *why, u64 since_ns);
/* Logs that @path has recovered, if its failure was logged. */
void lnet_path_log_recovered(struct lnet_path *path, u64 now_ns);

/*
 * True if @a works better than @b, or if @b is NULL. A path that is not down works better than a
 * path that is down. If the two paths do not differ in this, a path that is not suspect works
 * better than a suspect path.
 */
static inline bool lnet_path_is_better(const struct lnet_path *a, const struct lnet_path *b)
{
	return !b || (b->down_ns && !a->down_ns) ||
	       (!b->down_ns == !a->down_ns && b->suspect_ns && !a->suspect_ns);
}

/* Returns the lowest health (0..1000) among the path, its peer NI and, on a direct path, its NI. */
static inline int lnet_path_health(const struct lnet_path *path)
{
	int least = min_t(int, path->health, path->pni->health);

	if (unlikely(lnet_path_is_routed(path)))
		return least;
	return min_t(int, least, atomic_read(&path->ni->health));
}

/* [sh] True if @path is healthy: lnet_path_health() is 1000, and it is neither suspect nor down. */
static inline bool lnet_path_is_healthy(const struct lnet_path *path)
{
	return lnet_path_health(path) == LNET_HEALTH_MAX && !path->suspect_ns && !path->down_ns;
}

/* True if @then_ns is less than @span_ns before @now_ns. @then_ns 0 means never. */
static inline bool lnet_is_within(u64 then_ns, u64 now_ns, u64 span_ns)
{
	return then_ns && now_ns - min(now_ns, then_ns) < span_ns;
}

/* ---- attribution.c --------------------------------------------------------------------------- */
/*
 * [sh] Attributes the failure @how of @path, which gave no response since @since_ns. Returns those
 * of @ends (enum lnet_attribution) to which the failure is attributed in addition to @path. Records
 * the failure for later attributions.
 */
u8 lnet_attribute(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how, u8 ends,
		  u64 since_ns);
/*
 * [sh] @path works again: attributions of other failures ignore its recorded failures from now on.
 */
void lnet_attribution_clear(struct lnet_shard *sh, struct lnet_path *path);

/* [sh] Adds the partner @who to @seen, which stores the last two different partners. */
static inline void lnet_seen_add(struct lnet_seen *seen, u32 who, u64 now_ns)
{
	if (seen[0].who != who) {
		WRITE_ONCE(seen[1].ns, seen[0].ns);
		WRITE_ONCE(seen[1].who, seen[0].who);
		WRITE_ONCE(seen[0].who, who);
	}
	WRITE_ONCE(seen[0].ns, now_ns);
}

/* ---- suspect.c ------------------------------------------------------------------------------- */
/*
 * [sh] Returns an upper bound, in ns, of the next round-trip time, computed from measured ones; 0:
 * nothing was measured.
 */
u64 lnet_path_round_trip(const struct lnet_path *path);
/*
 * [sh] Returns the response timeout of @path in ns, computed from its round-trip times and its
 * longest recent gap.
 */
u64 lnet_path_response_timeout(const struct lnet *ln, const struct lnet_path *path);
/*
 * [sh] Marks @path as suspect, and puts its recovery ping first in the queue. Does nothing if @path
 * is suspect or loopback, or if the tunable hedge is off.
 */
void lnet_path_suspect(struct lnet_pass *p, struct lnet_path *path);
/*
 * [sh] Bytes were received or acknowledged on @path, so the path is no longer suspect or down.
 * Updates the round-trip time by the sample @rtt_ns; 0: no sample.
 */
void lnet_path_alive(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns, u64 rtt_ns);
/*
 * [sh] True if the driver completed @att after its deadline, but the first-hop path made progress
 * until then. So the path is congested, not broken.
 */
bool lnet_att_slow(const struct lnet_pass *p, const struct lnet_att *att);
/*
 * [sh] Returns the outcome of @att, whose reply is late. REMOTE_TIMEOUT: the peer acknowledged the
 * message of @att, or the path of @att responded after the hand-over to the fabric.
 * NETWORK_TIMEOUT: neither happened.
 */
enum lnet_outcome lnet_att_late_outcome(const struct lnet_att *att);
/*
 * [sh] Takes one hedge from the hedge budget of @peer. False: the budget is used up; this denial is
 * counted.
 */
bool lnet_hedge_allowed(struct lnet_shard *sh, struct lnet_peer *peer);
/*
 * [sh] A request of a program succeeded. Adds to the hedge budget of @peer and to its token bucket
 * for pings.
 */
void lnet_peer_earn(struct lnet_pass *p, struct lnet_peer *peer);

/* ---- recover.c ------------------------------------------------------------------------------- */
/* [sh] Does lnet_path_recover() with the given time. */
void lnet_path_recover_at(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns);
/*
 * [sh] Starts or expedites recovery: sends a ping as soon as the ping rate limit allows. Does
 * nothing if @path is healthy, or if a ping on it cannot succeed.
 */
void lnet_path_recover(struct lnet_shard *sh, struct lnet_path *path);
/*
 * [sh] A recovery ping of @path is due. Adds @path to the queue for the ping rate limit, and serves
 * the queue.
 */
void lnet_path_timer(struct lnet_pass *p, struct lnet_path *path);
/*
 * [sh] True if bytes were received or acknowledged in the last second on a path to @peer other than
 * @but. @but may be NULL.
 */
bool lnet_peer_is_responsive(const struct lnet_peer *peer, const struct lnet_path *but, u64 now_ns);
/*
 * [sh] A recovery ping has ended with @status (0 or -errno). True: it is the first success after
 * the path failed, so the caller may send the requests that wait.
 */
bool lnet_path_ping_done(struct lnet_pass *p, struct lnet_path *path, int status, u64 rtt_ns);
void lnet_path_resets(struct lnet_pass *p);	/* ln->hooks->resets() */
/*
 * Initializes @probes, an empty queue for the ping rate limit. @ping: the function that sends
 * pings, see struct lnet_probes.
 */
void lnet_probes_init(struct lnet_probes *probes,
		      void (*ping)(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns));
/*
 * [sh] Adds @path to the end of the queue, unless it is in the queue. @now_ns: earliest time of its
 * ping.
 */
void lnet_probe_join(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns);
/* [sh] Returns one token to the bucket of recovery pings of @peer. */
void lnet_probe_refund(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] Sends pings for the paths in the queue, within the ping rate limit. */
void lnet_probes_run(struct lnet_pass *p);

#endif
