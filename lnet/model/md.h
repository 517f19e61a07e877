/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory descriptors, and the events for their handlers. Only memory/ writes these structs. */
#ifndef LNET_MODEL_MD_H
#define LNET_MODEL_MD_H

#include "plat.h"
#include <lnet/lnd.h>
#include <lnet/lnet.h>

struct lnet;
struct lnet_md;
struct lnet_me;

struct lnet_evt {	/* an event that waits for its handler; each shard has a pool of them */
	struct list_head link;		/* free list, p->posts or md->done */
	struct lnet_md *md;		/* in p->posts */
	struct lnet_evt *next;		/* in sh->evts_back */
	bool last;	/* the delivery of this event drops the operation's reference to @md */
	struct lnet_event ev;
};

struct lnet_md {
	spinlock_t *lock;		/* lock of the portal or of the hash bucket of the MD */
	struct lnet *ln;
	u64 cookie;
	struct lnet_me *me;		/* [lock] match entry; NULL: the MD is bound or detached */
	struct list_head done;		/* [lock] events to deliver */
	struct list_head ready;	/* [lock] link in p->ready of a pass, or in sh->ready of a shard */
	u64 offset;			/* [lock] local offset */
	u32 refs;			/* [lock] operations in flight */
	s32 threshold;			/* [lock] */
	u8 delivering, aborted, dead, gone_sent;	/* [lock] */
	/* [const] from here */
	u8 auto_unlink;
	bool unlimited;			/* the threshold always stays LNET_THRESHOLD_INF */
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
