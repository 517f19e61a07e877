/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replay of a recording. The core's structs are rebuilt from a snapshot. Then the core's code runs
 * with the recorded inputs and makes the decisions again. See manual/developer/recorder.md.
 */
#ifndef TESTS_SIM_REPLAY_H
#define TESTS_SIM_REPLAY_H

#include <setjmp.h>
#include "lnet/model/model.h"
#include "tests/sim/replay_file.h"

#define REPLAY_HASH 4096U

struct replay_peer {
	struct lnet_peer peer;		/* first */
	struct replay_peer *next;	/* in the hash */
};

struct replay_pni {
	struct lnet_peer_ni pni;	/* first */
	struct replay_pni *next;	/* all */
	bool local, stale;
};

struct replay_path {
	struct lnet_path path;		/* first */
	struct lnet_route route;
	bool stale, known;
};

struct replay_op {
	struct lnet_op op;		/* first */
	struct lnet_md md;
	struct replay_op *next;		/* in the hash */
};

struct replay_shard {
	const struct lnet_rec **at;	/* its records */
	u64 nr, cur;
	/* a snapshot was read; the snapshot is being read for the first time */
	bool covered, fresh;
};

struct replay {
	struct lnet_env env;		/* first */
	struct lnet *ln;
	struct lnet_rec_head head;
	struct replay_shard *shard;
	struct replay_peer *peers[REPLAY_HASH];
	struct replay_op *ops[REPLAY_HASH];
	struct replay_pni *pnis;
	struct lnet_ni *ni[256];
	struct lnet_pass pass;
	struct lnet_op *visited;	/* the operation that a walk visits */
	u64 now_ns;
	u64 recorded, replayed;		/* hashes */
	u64 decisions, calls, values, skipped, states;
	jmp_buf differs;
	char why[4096];
};

/* ---- internal functions ---------------------------------------------------------------------- */
struct replay *replay_of(const struct lnet *ln);
extern const struct lnet_hooks replay_hooks;	/* replay_stub.c */
/* Replaces lnet_ping_path(). */
void replay_ping(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns);
/* Returns the next record of a shard, after applying all states before it; NULL: none. */
const struct lnet_rec *replay_next(struct replay *rp, u32 shard);
/* Consumes the next record. If it is not equal to @again, the function does not return. */
void replay_take(struct replay *rp, struct lnet_shard *sh, struct lnet_rec *again);
void replay_differs(struct replay *rp, const struct lnet_rec *r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
/* Makes the recorded calls into the core that were made within a call out of the core. */
void replay_nested(struct replay *rp, struct lnet_shard *sh);
/* replay_state.c */
void replay_state(struct replay *rp, const struct lnet_rec *r);
struct lnet_peer *replay_peer(struct replay *rp, u32 id);
struct lnet_path *replay_path(struct replay *rp, u32 peer, u32 ix);
struct lnet_op *replay_op(struct replay *rp, u32 id);
struct lnet_peer_ni *replay_pni(struct replay *rp, u32 peer, u16 place);
/* @nid: 20 bytes */
struct lnet_peer_ni *replay_pni_by_nid(struct replay *rp, u32 peer, const void *nid);
void replay_op_gone(struct replay *rp, struct lnet_op *op);
void replay_state_fini(struct replay *rp);

#endif
