/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command debug recovery: shows local interfaces without link or with less than full health, or
 * peer interfaces with less than full health.
 */
#include "control/command.h"
#include "topology/topology.h"

#define RECOV_MAX 256		/* maximum number of interfaces in a reply, which is one message */

enum { QUEUE_LOCAL, QUEUE_PEER };

struct recov_view {
	struct lnet_key keys[RECOV_MAX + 1];
	char name[RECOV_MAX][12];
	struct lnet_nid nid[RECOV_MAX];
	unsigned int nr;
	struct lnet_table table;
};

static void recov_nid_add(struct recov_view *v, const struct lnet_nid *nid)
{
	if (v->nr < RECOV_MAX)
		v->nid[v->nr++] = *nid;
}

static void local_fill(struct recov_view *v, struct lnet *ln)
{
	const struct lnet_ni *ni;

	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(ni, &ln->nis, link)
		if (!lnet_nid_is_lo(&ni->nid) &&
		    (!lnet_ni_has_link(ni) || atomic_read(&ni->health) < LNET_HEALTH_MAX))
			recov_nid_add(v, &ni->nid);
	mutex_unlock(&ln->cfg_mutex);
}

static void peer_fill(struct recov_view *v, struct lnet *ln)
{
	const struct lnet_peer_ni *pni;
	struct lnet_peer *peer;

	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer)) {
		spin_lock(&peer->sh->lock);
		list_for_each_entry(pni, &peer->pnis, link)
			if (!lnet_nid_is_lo(&pni->nid) && pni->health < LNET_HEALTH_MAX)
				recov_nid_add(v, &pni->nid);
		spin_unlock(&peer->sh->lock);
	}
}

/* -ENOENT without a text reports an empty list, as in stock LNet. */
static int recov_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e)
{
	static const struct lnet_field fields[] = {
		LNET_FIELD_RANGE("queue_type", struct lnet_ctl_dump, kind, QUEUE_LOCAL, QUEUE_PEER,
				 .need = true, .text = "0 (local) or 1 (peer)"),
		{ NULL }
	};
	struct recov_view *v;
	int rc = lnet_ctl_read(lnet_ctl_attrs(req), fields, d, e);

	if (rc)
		return rc;
	v = d->priv = kvzalloc(sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	if (d->kind == QUEUE_LOCAL)
		local_fill(v, d->ctl->ln);
	else
		peer_fill(v, d->ctl->ln);
	return v->nr ? 0 : -ENOENT;
}

static int recov_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct recov_view *v = d->priv;
	char text[LNET_NIDSTR_SIZE];
	unsigned int i;

	if (d->head)
		return 0;
	v->keys[0] = (struct lnet_key){ .name = d->kind == QUEUE_PEER ? "Peer NI recovery"
								     : "Local NI recovery",
					.type = LNET_NLT_NUL_STRING,
					.format = LNET_NL_MAPPING };
	for (i = 0; i < v->nr; i++) {
		scnprintf(v->name[i], sizeof(v->name[i]), "nid-%u", i);
		v->keys[i + 1] = (struct lnet_key){ .name = v->name[i], .type = LNET_NLT_STRING };
	}
	v->table = (struct lnet_table){ v->keys, (u16)(v->nr + 1) };
	if (!s->ops->table(s, &v->table, NULL, LNET_TABLE_FIRST))
		return 1;
	lnet_ctl_item(d, s);
	for (i = 0; i < v->nr; i++)
		s->ops->str(s, i + 2, lnet_nid_str(&v->nid[i], text));
	return !lnet_ctl_item_end(d, s);
}

const struct lnet_ctl_cmd lnet_cmd_recovery = {
	.cmd = LNET_NL_DBG_RECOV, .start = recov_start, .next = recov_next,
};
