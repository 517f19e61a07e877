/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unlinks MDs and MEs: aborts the operations and held replies that use the memory. */
#include "plat.h"
#include <lnet/lnet.h>
#include "shard/shard.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "receive/receive.h"

void lnet_md_aborted_finish(struct lnet *ln, struct lnet_md *md)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	if (lnet_md_abort_close(&p, md)) {
		lnet_ops_md_aborted(&p, md);
		lnet_windows_md_aborted(&p, md);
	}
	lnet_md_unpin(md);
	lnet_pass_end(&p);
}

int lnet_md_unlink(struct lnet *ln, lnet_md_t h)
{
	struct lnet_md_dom *dom = lnet_handle_dom(ln, h.cookie, LNET_HANDLE_MD);
	struct lnet_md *md;

	if (!dom)
		return -ENOENT;
	spin_lock(&dom->lock);
	md = lnet_handle_find(dom, h.cookie);
	if (md)
		lnet_md_abort(md);
	spin_unlock(&dom->lock);
	if (!md)
		return -ENOENT;
	lnet_md_aborted_finish(ln, md);
	return 0;
}

int lnet_me_unlink(struct lnet *ln, lnet_me_t h)
{
	struct lnet_md_dom *dom = lnet_handle_dom(ln, h.cookie, LNET_HANDLE_ME);
	struct lnet_md *md = NULL;
	struct lnet_me *me;

	if (!dom)
		return -ENOENT;
	spin_lock(&dom->lock);
	me = lnet_handle_find(dom, h.cookie);
	if (me) {
		md = me->md;
		me->unlink = LNET_RETAIN;	/* it goes here, not with its MD */
		if (md)
			lnet_md_abort(md);
		lnet_me_free(me);
	}
	spin_unlock(&dom->lock);
	if (md)
		lnet_md_aborted_finish(ln, md);
	return me ? 0 : -ENOENT;
}
