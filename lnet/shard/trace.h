/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trace points. Without an active recorder, a trace point is only a branch on sh->rec. Otherwise it
 * calls the table of functions of the flight recorder, so that lower folders do not call
 * lnet/recorder/.
 *
 * The core of decisions is the set of source files that select paths, retry requests and compute
 * health. A replay runs the same files, and compares their decisions with the recorded ones.
 */
#ifndef LNET_SHARD_TRACE_H
#define LNET_SHARD_TRACE_H

#include "model/model.h"

#define lnet_recs(sh) unlikely((sh)->rec)

/*
 * Records @value, which code outside the core of decisions has computed. In a replay, returns the
 * recorded value.
 */
static inline u64 lnet_rec_value(struct lnet_shard *sh, u64 value)
{
	return lnet_recs(sh) ? sh->rec->ops->note_value(sh, value) : value;
}

/*
 * Records that a function outside the core of decisions has returned to the core of decisions.
 * During the call, this function may have called functions of the core of decisions.
 */
static inline void lnet_rec_back(struct lnet_shard *sh)
{
	lnet_rec_value(sh, 0);
}

/*
 * If a recorder is active, calls the function @note of the recorder's table with the other
 * arguments.
 */
#define lnet_rec_note(sh, note, ...) do {							\
	if (lnet_recs(sh))									\
		(sh)->rec->ops->note(__VA_ARGS__);						\
} while (0)
#define lnet_rec_op(p, kind, op, a, b)								\
	lnet_rec_note((p)->sh, note_op, (p)->sh, (p)->now_ns, LNET_RK_##kind, op, a, b)
#define lnet_rec_via(p, kind, op, path)								\
	lnet_rec_note((p)->sh, note_via, p, LNET_RK_##kind, op, path)
#define lnet_rec_att(p, kind, att, a, b)							\
	lnet_rec_note((p)->sh, note_att, p, LNET_RK_##kind, att, a, b)
#define lnet_rec_path(sh, now_ns, kind, path, a, b)						\
	lnet_rec_note(sh, note_path, sh, now_ns, LNET_RK_##kind, path, a, b)
#define lnet_rec_health(sh, kind, path, more)							\
	lnet_rec_path(sh, 0, kind, path, (u64)atomic_read(&(path)->ni->health) |		\
		      (u64)(path)->pni->health << 16, more)

/* Code outside the core of decisions has changed @op: records the state of @op again. */
static inline void lnet_rec_op_anew(struct lnet_pass *p, struct lnet_op *op)
{
	if (lnet_recs(p->sh) && op->rec)
		p->sh->rec->ops->resync(p->sh, op);
}

#endif
