/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of recorder/: the flight recorder. See manual/developer/recorder.md. */
#ifndef LNET_RECORDER_RECORDER_H
#define LNET_RECORDER_RECORDER_H

#include "model/model.h"
#include "recorder/record.h"

struct lnet_rec;
struct lnet_rec_head;
struct lnet_trace_ops;

/* ---- ring.c ---------------------------------------------------------------------------------- */
struct lnet_record_view {
	u64 bytes, records, lost, snapshots, put_off;
	bool running, there;
};

extern const char *const lnet_rec_names[LNET_NR_RECS];
extern const u8 lnet_rec_classes[LNET_NR_RECS];
/* [sh] Writes @r. */
void lnet_rec_write(struct lnet_shard *sh, struct lnet_rec *r);
/*
 * [sh] Writes @r. @peer may be NULL. If @peer was not written since the last snapshot, writes it
 * first. If @r is of the class CALL (record.def), also writes @peer first if it has changed.
 */
void lnet_rec_put(struct lnet_shard *sh, struct lnet_peer *peer, struct lnet_rec *r);
/* [sh] Returns the number of @op, and assigns one if @op has none. */
u32 lnet_rec_op_id(struct lnet_shard *sh, struct lnet_op *op);
/*
 * [sh] Called after the shard was locked. Writes a snapshot if one is due; otherwise writes
 * tunables that have changed.
 */
void lnet_rec_visit(struct lnet_pass *p);
/*
 * Takes cfg_mutex. Starts recording, with at most @bytes of memory for the node. 0, -EINVAL (@bytes
 * is too small), -ENOMEM, -EALREADY
 */
int lnet_record_start(struct lnet *ln, u64 bytes);
/* Takes cfg_mutex. Stops recording; the written records stay. 0, -EALREADY */
int lnet_record_stop(struct lnet *ln);
/* cfg_mutex held. Stops recording. Starts recording again if the tunable `record_size` is not 0. */
void lnet_record_tune(struct lnet *ln);
/* Frees the recorder. No other thread uses @ln any more. */
void lnet_record_fini(struct lnet *ln);
/*
 * Takes cfg_mutex. Copies at most @max records to @at, in the order of their numbers, beginning
 * with *@seq. Sets *@seq to the number after the last record. Returns the number of records.
 */
unsigned int lnet_record_read(struct lnet *ln, u64 *seq, struct lnet_rec *at, unsigned int max);
/* Takes cfg_mutex. Fills @v for management. */
void lnet_record_show(struct lnet *ln, struct lnet_record_view *v);
/*
 * Fills @head except nr, lost and hash. The reader fills these, because records may be overwritten
 * meanwhile.
 */
void lnet_record_head(struct lnet *ln, struct lnet_rec_head *head);

/* ---- snapshot.c ------------------------------------------------------------------------------ */
/*
 * [sh] Writes all tunables if one has changed. When the node begins to stop, writes a record of
 * this.
 */
void lnet_rec_tunables(struct lnet_shard *sh);
/* [sh] Returns a hash of the facts about @peer on which decisions depend. */
u32 lnet_rec_facts(const struct lnet_peer *peer);
/*
 * [sh] Writes the state of @op again, because code outside the core of decisions has changed @op.
 */
void lnet_rec_resync(struct lnet_shard *sh, struct lnet_op *op);
/* [sh] Writes the state of @peer. */
void lnet_rec_peer(struct lnet_shard *sh, struct lnet_peer *peer);
/* [sh] Writes the state of the shard. */
void lnet_rec_snapshot(struct lnet_shard *sh);

/* ---- events.c -------------------------------------------------------------------------------- */
/* [sh] Returns the position of @pni in the list of its peer. */
u16 lnet_rec_place(const struct lnet_peer_ni *pni);
/* installed while @sh is recorded */
extern const struct lnet_trace_ops lnet_rec_trace;

#endif
