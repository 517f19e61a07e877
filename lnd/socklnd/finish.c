/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Closes an NI's connections gracefully. Each connection writes its queued bytes, sends FIN, and
 * receives until the peer's FIN. A reset would lose received bytes that were not read yet, and
 * bytes that the peer's stack has not sent yet.
 */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

/* Lock held. Returns true if all bytes of @c were handed to the local TCP stack. */
static bool is_written(const struct sock_conn *c)
{
	return !c->nr_segs && !c->writing && list_empty(&c->noops);
}

/* Lock held. Returns true if @c is open, or still sends a rejection. */
static bool conn_finish(struct sock_conn *c)
{
	if (c->state != CONN_OPEN)
		return c->state == CONN_REFUSING;
	if (!c->finished && is_written(c)) {
		c->finished = true;
		c->sn->io->finish(c);
	}
	return true;
}

bool sock_ni_close(struct lnet_ni *ni)
{
	struct sock_ni *sn = sock_ni_of(ni);
	struct sock_conn *c;
	struct lnet_pass p;
	bool lives = false;

	lnet_pass_begin(&p, sn->ln, LNET_PASS_CALL);
	sock_lock(&p, sn);
	sn->closing = true;
	sock_doorbell_flush(&p, sn);
	list_for_each_entry(c, &sn->conns, all)
		lives |= conn_finish(c);
	sock_unlock(&p, sn);
	lnet_pass_end(&p);
	return !lives;
}

void sock_conn_ended(struct lnet_pass *p, struct sock_conn *c, bool whole)
{
	struct sock_peer *peer = c->peer;

	if (!whole || !c->finished || c->state != CONN_OPEN || list_is_singular(&peer->conns)) {
		sock_conn_fail(p, c, LNET_PATH_LOST, whole);
		return;
	}
	peer->nr[c->type]--;
	peer->nr_mine -= c->mine;
	c->how = LNET_PATH_LOST;
	c->requeue = true;
	sock_conn_shut(p, c, false);
}
