/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unlinks MDs and MEs: aborts the operations that use the memory, and discards replies held from
 * it.
 */
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

/* Unlinks the MD or ME with this handle. Returns 0 or -ENOENT. */
static int handle_unlink(struct lnet *ln, u64 cookie, enum lnet_handle_kind kind)
{
	struct lnet_md_dom *dom = lnet_handle_dom(ln, cookie, kind);
	struct lnet_me *me = NULL;
	struct lnet_md *md;
	void *found;

	if (!dom)
		return -ENOENT;
	spin_lock(&dom->lock);
	found = md = lnet_handle_find(dom, cookie);
	if (found && kind == LNET_HANDLE_ME) {
		me = found;
		md = me->md;
		/* the ME is freed in this function, and not with its MD */
		me->unlink = LNET_RETAIN;
	}
	if (md)
		lnet_md_abort(md);
	if (me)
		lnet_me_free(me);
	spin_unlock(&dom->lock);
	if (md)
		lnet_md_aborted_finish(ln, md);
	return found ? 0 : -ENOENT;
}

int lnet_md_unlink(struct lnet *ln, lnet_md_t h)
{
	return handle_unlink(ln, h.cookie, LNET_HANDLE_MD);
}

int lnet_me_unlink(struct lnet *ln, lnet_me_t h)
{
	return handle_unlink(ln, h.cookie, LNET_HANDLE_ME);
}
