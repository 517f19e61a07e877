/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flight recorder writes the inputs and decisions of the core of decisions to a ring buffer per
 * shard. See manual/developer/recorder.md.
 */
#ifndef LNET_RECORD_H
#define LNET_RECORD_H

#include "plat.h"
#include <lnet/hash.h>
#include "model/op.h"
#include "model/trace.h"

struct lnet;
struct lnet_peer;

enum lnet_rec_class {
	LNET_REC_STATE, LNET_REC_SET, LNET_REC_CALL, LNET_REC_VALUE, LNET_REC_CHOICE
};
/*
 * A trace record, with the same layout in a ring and in a dump. It has the byte order of the
 * machine.
 */
struct lnet_rec {
	u64 seq;		/* number of the record, over all shards, from 1; 0: none */
	u64 now_ns;		/* time of the pass; 0: not recorded */
	u8 kind, shard, att, cls;
	u32 op;			/* number of an operation or of an interface; 0: none */
	u32 peer;		/* number of a peer; 0: none */
	/* path: index among the paths of @peer; pni: index in its interface list */
	u16 path, pni;
	u64 a[4];
};

/* A dump is this header, then records sorted by @seq. */
#define LNET_REC_MAGIC		0x31636552744e4cULL	/* "LNtRec1" */
#define LNET_REC_VERSION	3U
#define LNET_REC_FILE_MAX	(1ULL << 32)		/* bytes: readers reject larger files */
struct lnet_rec_head {
	u64 magic;
	u32 version, size;		/* of a record */
	u32 nr_shards, nr_tunables;
	u64 nr, lost;			/* number of records; number of overwritten records */
	u64 hash;			/* lnet_rec_sum() of the records */
	u64 spare[2];
};

/*
 * Packs the flags of an operation, its kind, its binding to interfaces and the state of its request
 * ID into 32 bits of a record.
 */
static inline u32 lnet_rec_op_word(const struct lnet_op *op)
{
	static_assert(LNET_NR_KINDS <= 1 << 3 && LNET_NR_BINDINGS <= 1 << 2 &&
		      LNET_NR_ID_STATES <= 1 << 3 && LNET_OPF_HEDGE < 1 << 24);
	return op->flags | (u32)op->kind << 29 | (u32)op->binding << 27 |
	       (u32)op->id_state << 24;
}

static inline void lnet_rec_op_unpack(struct lnet_op *op, u32 word)
{
	op->flags = word & ((1U << 24) - 1);
	op->kind = (u8)(word >> 29);
	op->binding = word >> 27 & 3;
	op->id_state = word >> 24 & 7;
}

/* The queue that a QUEUE record describes, stored in its @att. */
enum lnet_rec_queue {
	LNET_RQ_PEER,
	LNET_RQ_NI,
	LNET_RQ_AWAIT_REPLY,
	LNET_RQ_PROBES,
	LNET_RQ_GW_PATHS,
	LNET_RQ_LARGE
};

#define lnet_rec_ring(sh) container_of((sh)->rec, struct lnet_rec_ring, trace)

/* Returns the checksum of the header, over all records. Its initial value is LNET_REC_MAGIC. */
static inline u64 lnet_rec_sum(u64 sum, const struct lnet_rec *at, u64 nr)
{
	u64 i;

	for (i = 0; i < nr; i++)
		sum = lnet_hash_bytes(&at[i], sizeof(at[i]), sum);
	return sum;
}

#define LNET_REC_LIVE_MAX	4096U	/* no snapshot is made if more operations are unfinished */
#define LNET_REC_SNAPSHOTS	4U	/* snapshots in a full ring */

struct lnet_rec_ring {		/* [sh] */
	struct lnet_trace trace;	/* sh->rec points here */
	struct lnet_recorder *owner;
	struct lnet_rec *at;
	u64 nr, head;		/* capacity, a power of two; number of records written */
	u64 snap_due;		/* @head at which the next snapshot is made */
	u32 seg;		/* number of the last snapshot; 0: none */
	u32 put_off;		/* postponed snapshots: see LNET_REC_LIVE_MAX */
	u8 stopping;
	u64 *tun;		/* as last recorded */
};

struct lnet_recorder {
	struct lnet *ln;
	atomic64_t seq;
	atomic_t ops, peers, segs;	/* last numbers assigned */
	u32 nr_shards;
	u8 running;			/* [cfg] */
	struct lnet_rec_ring ring[];
};

#endif
