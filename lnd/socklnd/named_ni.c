/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the NI of an accepted connection. NIs with the same address and port share a listener. The
 * acceptor request, the first message of a connection, names one of them.
 */
#include "lnd/socklnd/socklnd.h"

struct sock_ni *sock_ni_named(struct sock_ni *sn, const struct lnet_nid *nid)
{
	struct sock_ni *other;
	struct lnet_ni *ni;

	if (lnet_nid_same(nid, &sn->nid))
		return NULL;
	ni = lnet_ni_find(sn->ln, nid);
	if (!ni || ni->ops != sn->ni->ops) {
		lnet_ni_put(ni);
		return NULL;
	}
	other = sock_ni_of(ni);
	atomic_inc(&other->adopting);
	smp_mb();	/* pairs with sock_ni_reject() */
	if (!READ_ONCE(other->rejects))
		return other;
	sock_ni_adopted(other);
	return NULL;
}

void sock_ni_adopted(struct sock_ni *other)
{
	struct lnet_ni *ni = other->ni;

	atomic_dec(&other->adopting);
	lnet_ni_put(ni);
}

void sock_ni_reject(struct sock_ni *sn)
{
	WRITE_ONCE(sn->rejects, true);
	smp_mb();	/* pairs with sock_ni_named() */
	while (atomic_read(&sn->adopting))
		usleep_range(50, 200);
}

bool sock_same_address(const struct sock_ni *a, const struct sock_ni *b)
{
	return a->nid.size == b->nid.size && !memcmp(a->nid.addr, b->nid.addr, sizeof(a->nid.addr));
}
