/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The orderly end of an NI's connections. Each one writes what it has, says that no more follows
 * (FIN), and is read until the peer says the same. An end by reset would lose what was received and
 * not read yet, and what the peer's stack has not sent yet.
 */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

/* L; all that @c was given is with the peer's or our stack. */
static bool is_written(const struct sock_conn *c)
{
	return !c->nr_segs && !c->writing && list_empty(&c->noops);
}

/* L; true: it still lives. */
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
	sock_flush_ring(&p, sn);
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
