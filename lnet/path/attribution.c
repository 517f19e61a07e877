/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attributes the failure of a path: to the path alone, or also to its NI or its peer NI.
 *
 * Some outcomes identify the end that failed: the local driver detected the failure, or the peer
 * reported it. Other outcomes show only that the path does not work, for example because of a
 * switch port between its ends. Such a failure is not attributed to an end if another partner of
 * the end responded since the path became unresponsive. Otherwise it is attributed to the end in
 * two cases:
 * - Another partner failed within the last 60 s and has not responded since.
 * - No other partner responded within the last 60 s, so nothing shows that the end works.
 * In all other cases, the end is penalized only when a further partner fails.
 *
 * The partners of an NI are the next hops to which it sends. Each shard stores the last two that
 * responded and the last two that failed; all shards are checked. The partners of a peer NI are the
 * NIs and routers of its other paths.
 */
#include "path/path.h"
#include "shard/trace.h"

#define LATELY_NS	(60 * (u64)NSEC_PER_SEC)

/* Outcomes that show which end of a path failed. */
#define CULPRITS (BIT(LNET_LOCAL_INTERRUPT) | BIT(LNET_LOCAL_DROPPED) | BIT(LNET_LOCAL_ABORTED) | \
		  BIT(LNET_LOCAL_NO_ROUTE) | BIT(LNET_LOCAL_ERROR) | BIT(LNET_REMOTE_ERROR))

/*
 * True if a failure is attributed to an end of the path. @heard_ns: last response of another
 * partner of the end; 0: never. @failed: another partner failed recently, and has not responded
 * since then.
 */
static bool to_blame(u64 heard_ns, bool failed, u64 since_ns, u64 now_ns)
{
	return heard_ns <= since_ns && (failed || !lnet_is_within(heard_ns, now_ns, LATELY_NS));
}

/* Returns the latest time in @seen of a partner other than @but; 0: never. */
static u64 last_seen(const struct lnet_seen *seen, u32 but)
{
	u64 ns = 0;
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (READ_ONCE(seen[i].who) != but)
			ns = max(ns, READ_ONCE(seen[i].ns));
	return ns;
}

u8 lnet_attribute(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how, u8 ends,
		  u64 since_ns)
{
	u64 now_ns = lnet_rec_value(sh, sh->ln->env->ops->now_ns(sh->ln->env)), heard_ns = 0;
	/* on a routed path, any hop may have caused the timeout */
	bool known = BIT(how) & CULPRITS ||
		     (how == LNET_REMOTE_TIMEOUT && !lnet_path_is_routed(path));
	const struct lnet_ni_shard *nis;
	const struct lnet_path *other;
	u8 attrib = LNET_ATTRIB_NONE;
	bool failed = false;

	lockdep_assert_held(&sh->lock);
	if (ends & LNET_ATTRIB_LOCAL) {
		for (nis = path->ni->sh; nis < path->ni->sh + sh->ln->nr_shards; nis++) {
			heard_ns = max(heard_ns, last_seen(nis->responded, path->hop->ix));
			failed |= lnet_is_within(last_seen(nis->failed, path->hop->ix), now_ns,
						 LATELY_NS);
		}
		if (known || to_blame(heard_ns, failed, since_ns, now_ns))
			attrib |= LNET_ATTRIB_LOCAL;
		lnet_seen_add(path->ni->sh[sh->ix].failed, path->hop->ix, now_ns);
	}
	if (ends & LNET_ATTRIB_REMOTE) {
		heard_ns = 0;
		failed = false;
		list_for_each_entry(other, &path->pni->paths, link) {
			if (other == path)
				continue;
			heard_ns = max(heard_ns, other->liveness_ns);
			failed |= lnet_is_within(other->failed_ns, now_ns, LATELY_NS);
		}
		if (known || to_blame(heard_ns, failed, since_ns, now_ns))
			attrib |= LNET_ATTRIB_REMOTE;
		path->failed_ns = now_ns;
	}
	return attrib;
}

void lnet_attribution_clear(struct lnet_shard *sh, struct lnet_path *path)
{
	struct lnet_seen *failed = path->ni->sh[sh->ix].failed;
	unsigned int i;

	path->failed_ns = 0;
	for (i = 0; i < 2; i++)
		if (failed[i].who == path->hop->ix)
			WRITE_ONCE(failed[i].ns, 0);
}
