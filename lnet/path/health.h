/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that health.c, attribution.c, recover.c and suspect.c share. All [sh of the path]. */
#ifndef LNET_HEALTH_H
#define LNET_HEALTH_H

#include "model/core.h"

/* ---- health.c -------------------------------------------------------------------------------- */
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
/*
 * counts, lowers the path, and the ends of those in @ends that @how blames, if attribution.c agrees
 */
void lnet_health_charge(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how,
			u8 ends, u64 since_ns);

/* ---- attribution.c --------------------------------------------------------------------------- */
/*
 * Whom of @ends (enum lnet_blame) a failure of @path is to be charged to, beside the path: it was
 * silent since @since_ns. Remembers it as a witness against them.
 */
u8 lnet_blame(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how, u8 ends,
	      u64 since_ns);
/* life over @path, which had failed: no witness any more */
void lnet_blame_clear(struct lnet_shard *sh, struct lnet_path *path);

/* Life over @path: its partner was heard by its NI. Of the last two, so that one is another. */
static inline void lnet_blame_heard(struct lnet_shard *sh, const struct lnet_path *path, u64 now_ns)
{
	struct lnet_seen *heard = path->ni->sh[sh->ix].heard;
	u32 who = path->hop->ix;

	if (heard[0].who != who) {
		WRITE_ONCE(heard[1].ns, heard[0].ns);
		WRITE_ONCE(heard[1].who, heard[0].who);
		WRITE_ONCE(heard[0].who, who);
	}
	WRITE_ONCE(heard[0].ns, now_ns);
}

/* ---- recover.c ------------------------------------------------------------------------------- */
bool lnet_path_heard_within(const struct lnet_path *path, u64 now_ns, u64 span_ns);
/* lnet_path_recover() at a time that is known */
void lnet_path_recover_at(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns);

/* ---- path_log.c ------------------------------------------------------------------------------ */
/*
 * Logs that @path failed because of @why. Does nothing if the log has an earlier failure from which
 * @path has not recovered. @since_ns: begin of the failure.
 */
void lnet_path_log_failed(struct lnet_path *path, const char *why, u64 since_ns);
/*
 * The same, for a message that ended with @how. Does nothing if the interface has no link: the log
 * has a line for the interface. Also does nothing if @path was suspect or down after @since_ns, the
 * time from which there was no response.
 */
void lnet_path_log_outcome(struct lnet_path *path, enum lnet_outcome how, u64 since_ns);
/* Logs that @path has recovered, if its failure is logged. */
void lnet_path_log_recovered(struct lnet_path *path, u64 now_ns);
/* The same, but only if the health of @path is at its maximum. */
static inline void lnet_path_log_whole(struct lnet_path *path, u64 now_ns)
{
	if (unlikely(path->logged_ns) && path->health == LNET_HEALTH_MAX)
		lnet_path_log_recovered(path, now_ns);
}

#endif
