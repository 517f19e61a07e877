/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory descriptors and the events for their handlers. memory/ writes all of it. */
#ifndef LNET_MODEL_MD_H
#define LNET_MODEL_MD_H

#include "plat.h"
#include <lnet/lnd.h>
#include <lnet/lnet.h>

struct lnet;
struct lnet_md;
struct lnet_me;

struct lnet_evt {			/* an event waiting for its handler; pool per shard */
	struct list_head link;		/* free list, p->posts or md->done */
	struct lnet_md *md;		/* in p->posts */
	struct lnet_evt *next;		/* in sh->evts_back */
	bool last;			/* it drops the reference of the operation */
	struct lnet_event ev;
};

struct lnet_md {
	spinlock_t *lock;		/* its portal's, or its bucket's */
	struct lnet *ln;
	u64 cookie;
	struct lnet_me *me;		/* [lock] NULL when bound or detached */
	struct list_head done;		/* [lock] events to deliver */
	struct list_head ready;		/* [lock] in a pass's or shard's ready list */
	u64 offset;			/* [lock] local offset */
	u32 refs;			/* [lock] operations in flight */
	s32 threshold;			/* [lock] */
	u8 delivering, aborted, dead, gone_sent;	/* [lock] */
	/* [const] from here */
	u8 auto_unlink;
	bool unlimited;			/* threshold is LNET_THRESHOLD_INF for good */
	u32 length, max_size, options;
	s32 cpt;
	u32 nr_frags;
	void *user_ptr;
	lnet_handler_t handler;
	struct lnet_frag one;
	struct lnet_frag *frags;	/* &one or an allocated copy */
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_md) == 152);

#endif
