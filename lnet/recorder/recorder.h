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
/* [sh] Writes @r; first @peer (or NULL), if new since the snapshot or, for a CALL, if changed. */
void lnet_rec_put(struct lnet_shard *sh, struct lnet_peer *peer, struct lnet_rec *r);
/* [sh] The number of @op, assigned now if it had none. */
u32 lnet_rec_op_id(struct lnet_shard *sh, struct lnet_op *op);
/* [sh] Called after the shard was locked: writes a snapshot if it is due, else changed tunables. */
void lnet_rec_visit(struct lnet_pass *p);
/*
 * Takes cfg_mutex. Starts recording, with at most @bytes of memory for the node. 0, -EINVAL (too
 * little), -ENOMEM, -EALREADY
 */
int lnet_record_start(struct lnet *ln, u64 bytes);
/* Takes cfg_mutex. Stops recording; the records stay. 0, -EALREADY */
int lnet_record_stop(struct lnet *ln);
/* cfg_mutex held. Stops recording; starts it again if the tunable `record_size` is not 0. */
void lnet_record_tune(struct lnet *ln);
/* Frees the recorder. No other thread uses @ln any more. */
void lnet_record_fini(struct lnet *ln);
/*
 * Takes cfg_mutex. Copies at most @max records to @at, by number from *@seq on. *@seq becomes the
 * number after the last one. Returns the number of records.
 */
unsigned int lnet_record_read(struct lnet *ln, u64 *seq, struct lnet_rec *at, unsigned int max);
/* Takes cfg_mutex. Fills @v for management. */
void lnet_record_show(struct lnet *ln, struct lnet_record_view *v);
/* Fills @head except nr, lost and hash, which the reader fills: records may be overwritten. */
void lnet_record_head(struct lnet *ln, struct lnet_rec_head *head);

/* ---- snapshot.c ------------------------------------------------------------------------------ */
/* [sh] Writes all tunables if one has changed, and a record when the node begins to stop. */
void lnet_rec_tunables(struct lnet_shard *sh);
/* [sh] A hash of the facts of @peer that matter for decisions. */
u32 lnet_rec_facts(const struct lnet_peer *peer);
/* [sh] Writes the state of @op, which another folder has changed. */
void lnet_rec_resync(struct lnet_shard *sh, struct lnet_op *op);
/* [sh] Writes the state of @peer. */
void lnet_rec_peer(struct lnet_shard *sh, struct lnet_peer *peer);
/* [sh] Writes the state of the shard. */
void lnet_rec_snapshot(struct lnet_shard *sh);

/* ---- events.c -------------------------------------------------------------------------------- */
/* [sh] The position of @pni in the list of its peer. */
u16 lnet_rec_place(const struct lnet_peer_ni *pni);
/* installed while @sh is recorded */
extern const struct lnet_trace_ops lnet_rec_trace;

#endif
