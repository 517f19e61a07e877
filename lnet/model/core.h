/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All of the model, and the functions that the files of the core offer the others. */
#ifndef LNET_CORE_H
#define LNET_CORE_H

#include "model/model.h"
#include "path/expected_time.h"
#include "path/probe_queue.h"
#include "topology/link_quality.h"
#include "service/discover.h"
#include "xfer/walk.h"
#include "receive/window.h"

/*
 * for put/get: active, not attached; takes threshold and ref *@nr times, or as often as its
 * threshold lets, which *@nr is then: once at least
 */
struct lnet_md *lnet_md_use_bound(struct lnet *ln, lnet_md_t h, unsigned int *nr,
				  int *err);
/*
 * an ACK or REPLY arrived for an op that holds a ref: takes threshold only; false if aborted or
 * exhausted
 */
bool lnet_md_use_again(struct lnet_md *md);
/* undo of lnet_md_use_bound when the op was never started */
void lnet_md_unuse(struct lnet_pass *p, struct lnet_md *md);
void lnet_md_hold(struct lnet_md *md);		/* a plain ref, e.g. of a held answer */
void lnet_md_release(struct lnet_pass *p, struct lnet_md *md);
void lnet_md_buf(const struct lnet_md *md, u32 offset, u32 len, struct lnet_buf *buf);
bool lnet_md_aborted(const struct lnet_md *md);
/*
 * Queue @e for the MD's handler (in order); @last: the op's ref goes back with it, and if that was
 * the last of an unlinked MD, e->ev.unlinked is set.
 * status 0 becomes -ETIMEDOUT if the MD was aborted by lnet_md_unlink(). Any lock of a shard may be
 * held.
 */
void lnet_md_post(struct lnet_pass *p, struct lnet_md *md, struct lnet_evt *e, bool last);
/*
 * [sh] Called before the shard is unlocked, as events of one MD come in the order in which shards
 * were held: what was posted under it.
 */
void lnet_md_posts(struct lnet_pass *p);
/*
 * Called at the end of passes, no lock held. DRIVER and WORKER passes: runs handlers of p->ready,
 * then of events that calls from these handlers made ready. It runs at most LNET_EVENTS_PER_PASS,
 * for about 2 ms, moves the rest to shard 0 and kicks the env. CALL passes: moves all events to
 * shard 0, and kicks the env unless a handler is the caller.
 */
void lnet_md_deliver(struct lnet_pass *p);
/* No lock held. Moves p->ready to shard 0 for a later pass. Kicks the env unless in a handler. */
void lnet_md_hand_over(struct lnet_pass *p);
void lnet_md_take_ready(struct lnet_pass *p);	/* what CALL passes left is this pass's */
int lnet_md_tables_init(struct lnet *ln);
/* after all ops ended: unlinks and frees everything, no events */
void lnet_md_tables_fini(struct lnet *ln);
/*
 * Unlinking gives up the requests that use the MD (rx.c/tx.c look at lnet_md_aborted()); md.c calls
 * this after marking, no lock held:
 */
void lnet_ops_md_aborted(struct lnet_pass *p, struct lnet_md *md);	/* abort.c */

#include "model/parts.h"

#endif
