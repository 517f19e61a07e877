/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the files that rebuild the state of a recording. */
#ifndef TESTS_SIM_REPLAY_STATE_H
#define TESTS_SIM_REPLAY_STATE_H

#include <stdlib.h>
#include "tests/sim/replay.h"

static inline u32 low(u64 value)
{
	return (u32)value;
}

static inline u32 high(u64 value)
{
	return (u32)(value >> 32);
}

static inline void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static inline struct lnet_shard *shard_of(struct replay *rp, const struct lnet_rec *r)
{
	return &rp->ln->shard[r->shard];
}

/* These do not return if no record has described the object. */
struct lnet_ni *replay_ni_of(struct replay *rp, const struct lnet_rec *r, u32 ix);
struct lnet_peer *replay_peer_of(struct replay *rp, const struct lnet_rec *r);
struct lnet_path *replay_path_of(struct replay *rp, const struct lnet_rec *r);
/* Does not return unless the replay's value is the recorded one. */
void replay_same(struct replay *rp, const struct lnet_rec *r, const char *what, u64 told, u64 mine);
/* replay_op.c */
void replay_op_set(struct replay *rp, const struct lnet_rec *r);
void replay_queue(struct replay *rp, const struct lnet_rec *r);

#endif
