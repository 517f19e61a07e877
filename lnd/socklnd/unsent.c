/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bounds the memory for unsent bytes: out buffers, copies, zero-copy acknowledgements. */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

/* size of the out buffer that each connection may have in any case */
#define SMALL_SIZE	2048U

bool sock_unsent_take(struct sock_conn *c, u32 bytes)
{
	struct sock_ni *sn = c->sn;
	u64 budget = READ_ONCE(sock_tun(sn)->unsent_budget);
	u64 own = c->host ? c->host->unsent : 0;

	lockdep_assert_held(&sn->lock);
	if (sn->unsent + own + 2ULL * bytes > budget) {
		sock_count(sn, unsent_denied);
		return false;
	}
	sn->unsent += bytes;
	if (c->host)
		c->host->unsent += bytes;
	return true;
}

void sock_unsent_return(struct sock_conn *c, u32 bytes)
{
	lockdep_assert_held(&c->sn->lock);
	c->sn->unsent -= bytes;
	if (c->host)
		c->host->unsent -= bytes;
}

static u8 *large_get(struct sock_conn *c)
{
	struct sock_ni *sn = c->sn;
	u8 *buf;

	if (!sock_unsent_take(c, SOCK_OUT_SIZE))
		return NULL;
	buf = sn->nr_pool ? sn->pool[--sn->nr_pool]
			  : kmalloc(SOCK_OUT_SIZE, GFP_NOFS | __GFP_NOWARN);
	if (!buf)
		sock_unsent_return(c, SOCK_OUT_SIZE);
	return buf;
}

/*
 * A small buffer is replaced only when it is empty, because its bytes must stay at their address.
 */
static bool may_replace(const struct sock_conn *c)
{
	return !c->out || (c->out_size < SOCK_OUT_SIZE && !c->nr_segs);
}

bool sock_out_get(struct sock_conn *c)
{
	u8 *large = c->state == CONN_OPEN && may_replace(c) ? large_get(c) : NULL;

	if (c->out && !large)
		return true;
	kfree(c->out);
	c->head = 0;
	c->tail = 0;
	c->out_size = large ? SOCK_OUT_SIZE : SMALL_SIZE;
	c->inline_max = min(SOCK_INLINE_MAX, c->out_size / 2);
	c->tail_max = c->out_size - SOCK_HDR_MAX - c->inline_max;
	c->out = large ? large : kmalloc(SMALL_SIZE, GFP_NOFS);
	return c->out;
}

void sock_out_put(struct sock_conn *c)
{
	struct sock_ni *sn = c->sn;

	if (c->out && c->out_size == SOCK_OUT_SIZE) {
		sock_unsent_return(c, SOCK_OUT_SIZE);
		if (sn->nr_pool < SOCK_OUT_POOL) {
			sn->pool[sn->nr_pool++] = c->out;
			c->out = NULL;
		}
	}
	kfree(c->out);
	c->out = NULL;
}
