/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace of an instance: the kinds of trace records, and a table of functions that write them.
 * Folders below lnet/recorder/ (see lnet/LAYERS) call these functions. lnet/recorder/ installs the
 * table while it records.
 */
#ifndef LNET_MODEL_TRACE_H
#define LNET_MODEL_TRACE_H

#include "plat.h"

struct lnet_shard;
struct lnet_pass;
struct lnet_op;
struct lnet_att;
struct lnet_path;
struct lnet_peer_ni;
struct lnet_ni;

enum lnet_rec_kind {
	LNET_REC_NONE,
#define REC(name, class, text) LNET_RK_##name,
#include "model/record.def"
#undef REC
	LNET_NR_RECS
};

struct lnet_rec_mark {		/* [sh] data of the flight recorder about one peer */
	u32 id, seg;	/* @id: number of the peer in the recorder; @seg: its last snapshot */
	u32 facts, queues;
};

/* [sh] all */
struct lnet_trace_ops {
	/* called when the pass @p has just locked a shard */
	void (*visit)(struct lnet_pass *p);
	/*
	 * records @value, an input of a decision, and returns it; a replay returns the recorded
	 * value
	 */
	u64 (*note_value)(struct lnet_shard *sh, u64 value);
	void (*note_op)(struct lnet_shard *sh, u64 now_ns, enum lnet_rec_kind kind,
			struct lnet_op *op, u64 a, u64 b);
	void (*note_start)(struct lnet_pass *p, struct lnet_op *op);
	/* called when code that is not recorded has changed @op */
	void (*resync)(struct lnet_shard *sh, struct lnet_op *op);
	void (*note_via)(struct lnet_pass *p, enum lnet_rec_kind kind, struct lnet_op *op,
			 const struct lnet_path *path);
	void (*note_att)(struct lnet_pass *p, enum lnet_rec_kind kind, const struct lnet_att *att,
			 u64 a, u64 b);
	void (*note_path)(struct lnet_shard *sh, u64 now_ns, enum lnet_rec_kind kind,
			  const struct lnet_path *path, u64 a, u64 b);
	void (*note_pni)(struct lnet_shard *sh, enum lnet_rec_kind kind,
			 const struct lnet_peer_ni *pni, u64 a);
	void (*note_ni)(struct lnet_shard *sh, enum lnet_rec_kind kind, const struct lnet_ni *ni,
			u64 a);
	void (*note_select)(struct lnet_shard *sh, const struct lnet_path *path, u64 how, u64 tried,
			    u64 exclude, const s64 *rank);
	/* called when the pass @p checks the queue of recovery pings */
	void (*note_probes)(struct lnet_pass *p);
};

struct lnet_trace {			/* first part of the recorder's ring buffer of a shard */
	const struct lnet_trace_ops *ops;
};

#endif
