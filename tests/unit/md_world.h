/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small environment for tests of MDs and matching. md_world.c compiles their sources under other
 * names. A pass, a shard and receivers that only record replace the rest of the core.
 */
#ifndef TESTS_UNIT_MD_WORLD_H
#define TESTS_UNIT_MD_WORLD_H

#define lnet_md_bind		mw_md_bind
#define lnet_md_attach		mw_md_attach
#define lnet_md_unlink		mw_md_unlink
#define lnet_md_use_bound	mw_md_use_bound
#define lnet_md_use_again	mw_md_use_again
#define lnet_md_unuse		mw_md_unuse
#define lnet_md_aborted		mw_md_aborted
#define lnet_md_post		mw_md_post
#define lnet_md_posts		mw_md_posts
#define lnet_md_deliver		mw_md_deliver
#define lnet_md_hand_over	mw_md_hand_over
#define lnet_handlers_watch	mw_handlers_watch
#define lnet_md_take_ready	mw_md_take_ready
#define lnet_md_tables_init	mw_md_tables_init
#define lnet_md_tables_fini	mw_md_tables_fini
#define lnet_md_take		mw_md_take
#define lnet_md_detach		mw_md_detach
#define lnet_md_abort		mw_md_abort
#define lnet_md_abort_close	mw_md_abort_close
#define lnet_md_unpin		mw_md_unpin
#define lnet_md_aborted_finish	mw_md_aborted_finish
#define lnet_md_queue		mw_md_queue
#define lnet_md_queue_list	mw_md_queue_list
#define lnet_md_unlock_free	mw_md_unlock_free
#define lnet_md_free		mw_md_free
#define lnet_md_dom_get		mw_md_dom_get
#define lnet_md_dom_peek	mw_md_dom_peek
#define lnet_md_dom_lock_slot	mw_md_dom_lock_slot
#define lnet_handle_dom		mw_handle_dom
#define lnet_handle_add		mw_handle_add
#define lnet_handle_del		mw_handle_del
#define lnet_handle_find	mw_handle_find
#define lnet_portal_init	mw_portal_init
#define lnet_portal_fini	mw_portal_fini
#define lnet_portal_lazy	mw_portal_lazy
#define lnet_me_attach		mw_me_attach
#define lnet_me_unlink		mw_me_unlink
#define lnet_me_free		mw_me_free
#define lnet_match		mw_match
#define lnet_match_lazy	mw_match_parked
#define lnet_match_unpark	mw_match_unpark
#define lnet_match_tell		mw_match_tell
#define lnet_match_expire	mw_match_expire
#define lnet_match_drop_ni	mw_match_drop_ni
#define lnet_md_is_pooled	mw_md_is_pooled
#define lnet_rx_is_wanted	mw_rx_is_wanted
/* Replaced by stubs in md_world.c: */
#define lnet_pass_begin		mw_pass_begin
#define lnet_pass_end		mw_pass_end
#define lnet_enter		mw_enter
#define lnet_leave		mw_leave
#define lnet_evt_new		mw_evt_new
#define lnet_evt_free		mw_evt_free
#define lnet_evt_recycle	mw_evt_recycle
#define lnet_rx_matched		mw_rx_matched
#define lnet_ops_md_aborted	mw_ops_md_aborted
#define lnet_windows_md_aborted	mw_windows_md_aborted

#include "unit.h"
#include "shard/shard.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "receive/receive.h"

#define MW_TIMEOUT_NS	1000ULL		/* transaction timeout of the tests */

struct mw_told {			/* the arguments of a call of lnet_rx_matched() */
	struct lnet_rx *rx;
	enum lnet_verdict verdict;
	enum lnet_outcome why;
};

struct mw {
	struct lnet_env env;		/* first */
	struct lnet ln;
	struct lnet_shard shard;
	u64 now_ns;
	int nr_kicks, nr_evts;		/* nr_evts: events in existence */
	struct mw_told told[64];
	unsigned int nr_told;
	/* Called by lnet_ops_md_aborted(), which otherwise only counts. */
	void (*aborted)(struct mw *w, struct lnet_pass *p, struct lnet_md *md);
	unsigned int nr_aborted;
};

void mw_init(struct mw *w);
void mw_fini(struct mw *w);		/* asserts that no event and no queued request is left */
struct mw *mw_of(struct lnet *ln);
/* A pass that only delivers events; WORKER takes the ready events of the shard. */
void mw_visit(struct mw *w, enum lnet_pass_kind kind);
/* Posts an event of @kind and @status in a pass of @kind_of_pass. */
void mw_post(struct mw *w, enum lnet_pass_kind kind_of_pass, struct lnet_md *md, u8 kind,
	     int status, bool last);
struct lnet_md *mw_md(struct mw *w, lnet_md_t h);	/* NULL if the handle is stale */
bool mw_me_exists(struct mw *w, lnet_me_t h);

static inline struct lnet_md *md_use_one(struct lnet *ln, lnet_md_t h, int *err)
{
	unsigned int nr = 1;
	struct lnet_md *md = lnet_md_use_bound(ln, h, &nr);

	*err = md ? 0 : -ENOENT;
	return md;
}

#endif
