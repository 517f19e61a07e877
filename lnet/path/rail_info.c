/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports the rails to a peer: their ends, health and number of retransmitted messages. */
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"

/* [sh] */
static const struct lnet_path *path_at(const struct lnet_peer *peer, unsigned int pos)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			if (!pos--)
				return path;
	return NULL;
}

int lnet_rail_get(struct lnet *ln, const struct lnet_nid *peer, unsigned int pos,
		  struct lnet_rail_info *info)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, peer);
	const struct lnet_path *path;
	struct lnet_pass p;

	if (!pni)
		return -ENOENT;
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter_pni(&p, pni);
	path = path_at(pni->peer, pos);
	if (path)
		*info = (struct lnet_rail_info){ path->ni->nid, path->pni->nid, path->nr_resent,
						 (u32)lnet_path_health(path) };
	lnet_leave(&p);
	lnet_pass_end(&p);
	lnet_peer_ni_put(pni);
	return path ? 0 : -ENOENT;
}
