/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of path/: selection of a path, health, suspicion, recovery. */
#ifndef LNET_PATH_PATH_H
#define LNET_PATH_PATH_H

#include "model/model.h"

struct lnet_look;

/* ---- select.c -------------------------------------------------------------------------------- */
/* route_up, gw_priority, hops and gw_health are equal for pairs on one net. */
#define PATH_RANKS(RANK)						\
	RANK(link_up) RANK(route_up) RANK(responsive) RANK(direct)	\
	RANK(health) RANK(priority) RANK(preferred) RANK(gw_priority)	\
	RANK(hops) RANK(gw_health) RANK(share) RANK(due) RANK(numa)	\
	RANK(credits) RANK(turn)

enum lnet_path_rank {
#define RANK(name) LNET_RANK_##name,
	PATH_RANKS(RANK)
#undef RANK
	LNET_NR_PATH_RANKS
};

struct lnet_cand {
	struct lnet_path *path;
	s64 rank[LNET_NR_PATH_RANKS];	/* more is better */
};

struct lnet_select {			/* question and answer */
	struct lnet_peer *peer;
	struct lnet_ni *ni;		/* only this NI, or NULL */
	struct lnet_peer_ni *pni;	/* only this peer NI, or NULL */
	struct lnet_peer_ni *hop;	/* by this router if there is such a path, or NULL */
	u64 tried;			/* paths to avoid while another is left */
	u64 exclude;			/* paths never to take (a hedge: the one that is suspect) */
	s32 cpt;			/* of the memory; -1 unknown */
	u32 bytes;			/* of the request, both ways */
	/* PUT or GET: sets the sticky NI of a peer that is not multi-rail */
	u8 request;
	/* answer */
	/* enum lnet_path_rank; LNET_NR_PATH_RANKS: only one candidate */
	u8 decided_by;
	u8 nr_cand;
	struct lnet_look *look;		/* lnet_select_look()'s */
};

#define LNET_LOOK_MAX 256

struct lnet_look {			/* candidates in their order */
	unsigned int nr;
	struct lnet_cand cand[LNET_LOOK_MAX];
};

extern const char *const lnet_path_rank_names[LNET_NR_PATH_RANKS];
/*
 * [sh] Chooses a path, and updates the round-robin positions of what it picks. NULL: no path, as
 * there is no common net or all NIs have gone.
 */
struct lnet_path *lnet_select(struct lnet_shard *sh, struct lnet_select *s);
/*
 * [sh] The path that lnet_select() would choose now, and its candidates. If there are more than
 * LNET_LOOK_MAX, @look has the first ones, and the chosen path as the last one. Changes nothing.
 */
struct lnet_path *lnet_select_look(struct lnet_shard *sh, struct lnet_select *s,
				   struct lnet_look *look);
/* [sh] Chooses the path of the next attempt of @op; NULL: no path. */
struct lnet_path *lnet_op_choose(struct lnet_pass *p, struct lnet_op *op);

/* ---- expected_time.c ------------------------------------------------------------------------- */
/*
 * [sh] Time in ns until @bytes more would be done at the last measured rate; before a measurement,
 * at the speed of the link.
 */
u64 lnet_load_due_ns(const struct lnet_path *path, u32 bytes, u64 now_ns);
/* [sh] The attempt @att chose @path. */
void lnet_load_add(struct lnet_path *path, struct lnet_att *att, u64 now_ns);
/* [sh] The attempt @att on @path has ended. @left: it had been given to the driver. */
void lnet_load_sub(struct lnet_path *path, struct lnet_att *att, bool left);

/* ---- health.c -------------------------------------------------------------------------------- */
/* The status of @ni that ping infos advertise. */
bool lnet_ni_up(const struct lnet_ni *ni);
/* [sh] A message on @path succeeded. @from_peer: the remote side sent a reply. */
void lnet_health_ok(struct lnet_shard *sh, struct lnet_path *path, bool from_peer);
/*
 * [sh] Counts @how. If @how blames one of @ends, lowers the health of @path, and of those ends to
 * which lnet_blame() attributes the failure.
 */
void lnet_health_charge(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how,
			u8 ends, u64 since_ns);
/*
 * [sh] A message on @path failed: counters, attribution, recovery. @since_ns: there was no response
 * from then on.
 */
void lnet_health_fail(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how,
		      u64 since_ns);
/* [sh] There was no response to @att in time: lowers the health of its path. */
void lnet_health_silence(struct lnet_shard *sh, const struct lnet_att *att);
/*
 * Takes cfg_mutex. Sets the health of the interface @nid, any: of all, to @value, brought into
 * 0..1000. 0, -ENOENT
 */
int lnet_health_set_ni(struct lnet *ln, const struct lnet_nid *nid, int value);
/*
 * Takes cfg_mutex. Sets the health of the peer interface @nid, any: of all, to @value, brought into
 * 0..1000. 0, -ENOENT
 */
int lnet_health_set_peer(struct lnet *ln, const struct lnet_nid *nid, int value);

/* True if @a works better than @b: first one that is not down, then one that is not suspect. */
static inline bool lnet_path_is_better(const struct lnet_path *a, const struct lnet_path *b)
{
	return !b || (b->down_ns && !a->down_ns) ||
	       (!b->down_ns == !a->down_ns && b->suspect_ns && !a->suspect_ns);
}

/* 0..1000: the least of the pair's own and those of the ends that it answers for */
static inline int lnet_path_health(const struct lnet_path *path)
{
	int least = min_t(int, path->health, path->pni->health);

	if (unlikely(lnet_path_routed(path)))
		return least;
	return min_t(int, least, atomic_read(&path->ni->health));
}

/* [sh] True if @path and both its ends have full health, and @path is neither suspect nor down. */
static inline bool lnet_path_whole(const struct lnet_path *path)
{
	return lnet_path_health(path) == LNET_HEALTH_MAX && !path->suspect_ns && !path->down_ns;
}

/* ---- attribution.c --------------------------------------------------------------------------- */
/*
 * [sh] Returns which of @ends (enum lnet_blame) a failure of @path is attributed to, in addition to
 * @path, which did not respond since @since_ns. Remembers @path as a witness against them.
 */
u8 lnet_blame(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how, u8 ends,
	      u64 since_ns);
/* [sh] @path, which had failed, works: it is no witness any more. */
void lnet_blame_clear(struct lnet_shard *sh, struct lnet_path *path);

/* [sh] Writes to @seen, which keeps the last two different partners, that @who was seen. */
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
 * [sh] An upper bound in ns of the next round-trip time, from measured ones; 0: none was measured.
 */
u64 lnet_path_round_trip(const struct lnet_path *path);
/* [sh] Time in ns without response after which @path becomes suspect, from its round-trip time. */
u64 lnet_path_suspect_after(const struct lnet *ln, const struct lnet_path *path);
/*
 * [sh] Marks @path as suspect, and puts its recovery ping first in the queue. Nothing if @path is
 * suspect, is loopback, or hedge is off.
 */
void lnet_path_suspect(struct lnet_pass *p, struct lnet_path *path);
/*
 * [sh] A sign of life on @path: clears suspicion, and updates the round-trip time by @rtt_ns (0:
 * not known).
 */
void lnet_path_alive(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns, u64 rtt_ns);
/*
 * [sh] True if the driver completed @att late while its path took bytes: the path is congested, not
 * broken.
 */
bool lnet_att_slow(const struct lnet_pass *p, const struct lnet_att *att);
/*
 * [sh] The outcome of @att, which got no reply in time: REMOTE_TIMEOUT if the peer had the message
 * or was heard since, else NETWORK_TIMEOUT.
 */
enum lnet_outcome lnet_att_silence(const struct lnet_att *att);
/*
 * [sh] Takes one hedge from the hedge budget of @peer. False: the budget is used up; counts the
 * denial.
 */
bool lnet_hedge_allowed(struct lnet_shard *sh, struct lnet_peer *peer);
/* [sh] A request of a program succeeded: adds to the budgets of hedges and of recovery pings. */
void lnet_peer_earn(struct lnet_pass *p, struct lnet_peer *peer);

/* ---- recover.c ------------------------------------------------------------------------------- */
/* [sh] As lnet_path_recover(), at a known time. */
void lnet_path_recover_at(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns);
/*
 * [sh] Starts recovery, or expedites it: a ping is sent as soon as the budget allows. Nothing if
 * the path is healthy.
 */
void lnet_path_recover(struct lnet_shard *sh, struct lnet_path *path);
/* [sh] It is the turn of @path in the queue for the ping budget. True: a ping is sent. */
bool lnet_path_probe(struct lnet_pass *p, struct lnet_path *path);
/* [sh] A recovery ping of @path is due: the path joins the queue for the ping budget. */
void lnet_path_timer(struct lnet_pass *p, struct lnet_path *path);
/* [sh] True if a message from @peer was received on any path within the last second. */
bool lnet_peer_is_heard(const struct lnet_peer *peer, u64 now_ns);
/*
 * [sh] A recovery ping has ended. True: it is the first success after the path failed, and requests
 * that pause may be sent.
 */
bool lnet_path_ping_done(struct lnet_pass *p, struct lnet_path *path, int status, u64 rtt_ns);
void lnet_path_resets(struct lnet_pass *p);	/* ln->hooks->resets() */

/* ---- probe_queue.c --------------------------------------------------------------------------- */
/* Makes the queue empty. @ping: sends the pings, see struct lnet_probes. */
void lnet_probes_init(struct lnet_probes *probes,
		      void (*ping)(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns));
/* [sh] Adds @path to the end of the queue, unless it is there. Its turn is not before @now_ns. */
void lnet_probe_join(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns);
/* [sh] Adds @path to the head of the queue, and serves the queue now. */
void lnet_probe_first(struct lnet_pass *p, struct lnet_path *path);
/*
 * [sh] Takes one ping from the bucket of @peer. Returns 0, or the time in ns until the bucket has
 * one.
 */
u64 lnet_probe_pay(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh of @peer] Takes one ping from the bucket of the claimer of @peer. It holds 10 s of
 * recovery_ping_rate for all claimed peers. True also without a claimer.
 */
bool lnet_probe_pay_claimed(struct lnet_pass *p, const struct lnet_peer *peer);
/* [sh] Returns one ping to the bucket of @peer. */
void lnet_probe_refund(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] Serves the queue, within the budget. */
void lnet_probes_run(struct lnet_pass *p);

/* ---- path_log.c ------------------------------------------------------------------------------ */
/*
 * Logs that @path failed because of @why. Does nothing if the log has an earlier failure from which
 * @path has not recovered. @since_ns: begin of the failure.
 */
void lnet_path_log_failed(struct lnet_path *path, const char *why, u64 since_ns);
/*
 * As lnet_path_log_failed(), for a message that ended with @how. Does nothing if the interface has
 * no link: the log has a line for the interface. Also does nothing if @path was suspect or down
 * after @since_ns, the time from which there was no response.
 */
void lnet_path_log_outcome(struct lnet_path *path, enum lnet_outcome how, u64 since_ns);
/* Logs that @path has recovered, if its failure is logged. */
void lnet_path_log_recovered(struct lnet_path *path, u64 now_ns);

/* As lnet_path_log_recovered(), but only if the health of @path is at its maximum. */
static inline void lnet_path_log_whole(struct lnet_path *path, u64 now_ns)
{
	if (unlikely(path->logged_ns) && path->health == LNET_HEALTH_MAX)
		lnet_path_log_recovered(path, now_ns);
}

#endif
