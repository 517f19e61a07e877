/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries to several nodes at once, with a result for each node. The commands ping and discover use
 * them.
 */
#include "control/command.h"
#include "topology/topology.h"
#include "service/service.h"
#include "manage/manage.h"

#define NETS_MAX 4			/* nets that a message lists */

/* ---- links ----------------------------------------------------------------------------------- */

/* The state of a check that finds out whether a target can be reached. */
struct links {
	const struct lnet_nid *source;	/* checks only this interface; ANY: checks all */
	u32 net[NETS_MAX];
	/* number of nets of the interfaces that link_note() added; @net has the first NETS_MAX */
	unsigned int nr;
	bool any;			/* an interface has its link up */
};

static void link_note(struct links *l, const struct lnet_ni *ni)
{
	unsigned int i;

	if (READ_ONCE(ni->state) != NI_ACTIVE ||
	    (!lnet_nid_is_any(l->source) && !lnet_nid_same(l->source, &ni->nid)))
		return;
	l->any |= lnet_ni_has_link(ni);
	for (i = 0; i < min(l->nr, NETS_MAX); i++)
		if (l->net[i] == ni->net)
			return;
	if (l->nr < NETS_MAX)
		l->net[l->nr] = ni->net;
	l->nr++;
}

/* Notes the interfaces of all paths to a peer. False: the peer is unknown */
static bool peer_noted(struct lnet *ln, const struct lnet_nid *nid, struct links *l)
{
	struct lnet_peer_ni *asked = lnet_peer_ni_lookup(ln, nid), *pni;
	struct lnet_peer *peer = asked ? lnet_peer_of(asked) : NULL;
	struct lnet_path *path;

	if (peer) {
		spin_lock(&peer->sh->lock);
		list_for_each_entry(pni, &peer->pnis, link)
			list_for_each_entry(path, &pni->paths, link)
				link_note(l, path->ni);
		spin_unlock(&peer->sh->lock);
	}
	lnet_peer_put(peer);
	lnet_peer_ni_put(asked);
	return peer;
}

/*
 * Notes the interfaces on the net of an unknown peer. If a route reaches the net, notes all
 * interfaces.
 */
static void stranger_noted(struct lnet *ln, const struct lnet_nid *nid, struct links *l)
{
	u32 net = lnet_nid_net(nid);
	const struct lnet_ni *ni;
	bool routed;

	spin_lock(&ln->shard[0].lock);
	routed = lnet_routes_hops(ln, net) > 0;
	list_for_each_entry(ni, &ln->nis, link)
		if (!lnet_nid_is_lo(&ni->nid) && (routed || ni->net == net))
			link_note(l, ni);
	spin_unlock(&ln->shard[0].lock);
}

/*
 * No lock held. Checks that an interface that reaches the target has its link up. 0; -EHOSTUNREACH:
 * no such interface has a link, and @ask->why lists the nets of these interfaces
 */
static int links_check(struct lnet_ctl_ask *ask)
{
	struct links l = { .source = &ask->set->source };
	struct lnet *ln = ask->set->ctl->ln;
	char net[LNET_NIDSTR_SIZE];
	unsigned int i;
	bool own;
	u32 len;

	spin_lock(&ln->nid_lock);
	own = lnet_nid_is_lo(&ask->to.nid) || lnet_nid_is_local(ln, &ask->to.nid);
	spin_unlock(&ln->nid_lock);
	if (own)
		return 0;
	if (!peer_noted(ln, &ask->to.nid, &l))
		stranger_noted(ln, &ask->to.nid, &l);
	if (l.any || !l.nr)
		return 0;
	len = scnprintf(ask->why, sizeof(ask->why), "no interface of this node is up on ");
	for (i = 0; i < min(l.nr, NETS_MAX); i++)
		len += scnprintf(ask->why + len, sizeof(ask->why) - len, "%s%s", i ? ", " : "",
				 lnet_net_str(l.net[i], net));
	if (l.nr > NETS_MAX)
		scnprintf(ask->why + len, sizeof(ask->why) - len, ", ...");
	return -EHOSTUNREACH;
}

/* ---- queries --------------------------------------------------------------------------------- */

static struct lnet_ctl_asks *set_new(struct lnet_control *ctl, const char *what,
				     const struct lnet_ctl_target *to, unsigned int nr)
{
	struct lnet_ctl_asks *set = kvzalloc(struct_size(set, ask, nr), GFP_KERNEL);
	unsigned int i;

	if (!set)
		return NULL;
	spin_lock_init(&set->lock);
	set->ctl = ctl;
	set->source = LNET_NID_ANY;
	set->nr = nr;
	set->nr_open = nr + 1;		/* one is for the starter */
	for (i = 0; i < nr; i++) {
		set->ask[i].set = set;
		set->ask[i].to = to[i];
		set->ask[i].status = 1;
	}
	/* The tables of the command ping, which contain the name of the command. */
	set->what = what;
	memcpy(set->keys, lnet_table_ping.keys, sizeof(set->keys));
	set->keys[0].name = what;
	set->replied = (struct lnet_table){ set->keys, ARRAY_SIZE(set->keys) };
	memcpy(set->failure_keys, lnet_table_failure.keys, sizeof(set->failure_keys));
	set->failure_keys[1].name = what;
	set->failed = (struct lnet_table){ set->failure_keys, ARRAY_SIZE(set->failure_keys) };
	return set;
}

struct lnet_ctl_asks *lnet_ctl_asks_new(struct lnet_control *ctl, const struct lnet_ctl_req *req,
					const char *what, struct lnet_ctl_err *e, int *rc)
{
	struct lnet_ctl_target *to = kcalloc(LNET_CTL_NIDS_MAX, sizeof(*to), GFP_KERNEL);
	struct lnet_ctl_asks *set = NULL;

	*rc = to ? lnet_ctl_targets(req, to, e) : -ENOMEM;
	if (*rc >= 0) {
		set = set_new(ctl, what, to, (unsigned int)*rc);
		*rc = set ? 0 : -ENOMEM;
	}
	kfree(to);
	return set;
}

/* Ends one query, and stores its status. Returns true if no other query is in progress. */
static bool close_one(struct lnet_ctl_asks *set, int *to, int status, bool *left)
{
	bool last;

	spin_lock(&set->lock);
	if (to)
		*to = status;
	last = !--set->nr_open;
	*left = set->left;
	spin_unlock(&set->lock);
	return last;
}

void lnet_ctl_ask_ended(struct lnet_ctl_ask *ask, int status)
{
	struct lnet_ctl_asks *set = ask->set;
	struct lnet_control *ctl = set->ctl;
	bool left;

	if (!close_one(set, &ask->status, status, &left))
		return;
	if (left)
		lnet_ctl_asks_free(set);
	else
		ctl->ops->wake(ctl->arg);
}

/* Starts all queries at once, so the duration is that of the slowest query. */
void lnet_ctl_asks_start(struct lnet_ctl_asks *set, int (*start)(struct lnet_ctl_ask *ask))
{
	unsigned int i;
	bool left;
	int rc;

	for (i = 0; i < set->nr; i++) {
		rc = links_check(&set->ask[i]);
		if (!rc)
			rc = start(&set->ask[i]);
		if (rc)
			close_one(set, &set->ask[i].status, rc, &left);
	}
	close_one(set, NULL, 0, &left);
}

void lnet_ctl_asks_free(struct lnet_ctl_asks *set)
{
	unsigned int i;

	for (i = 0; set && i < set->nr; i++)
		kvfree(set->ask[i].nids);
	kvfree(set);
}

void lnet_ctl_asks_end(struct lnet_ctl_dump *d)
{
	struct lnet_ctl_asks *set = d->priv;
	unsigned int i, nr = 0;
	bool open;

	if (!set)
		return;
	for (i = 0; set->cancel && i < set->nr; i++)
		nr += set->cancel(&set->ask[i]);
	spin_lock(&set->lock);
	set->nr_open -= nr;
	open = set->nr_open;
	set->left = true;
	spin_unlock(&set->lock);
	if (!open)
		lnet_ctl_asks_free(set);
	d->priv = NULL;
}

/* ---- replies --------------------------------------------------------------------------------- */

/*
 * Writes what the peer table has for the target: the primary NID, or "<?>" if no peer has the
 * target. A local NID is its own primary NID. For the loopback, discover shows the first NID of the
 * node and ping shows the loopback, as in stock LNet.
 *
 * For a ping, v->multi_rail is that of this node's peer entry, not that of the reply.
 */
static void known_of(const struct lnet_ctl_ask *ask, struct lnet_view_ping *v)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ask->set->ctl->ln, &ask->to.nid);
	struct lnet_peer *peer = pni ? lnet_peer_of(pni) : NULL;
	struct lnet_nid nid = LNET_NID_ANY;

	v->multi_rail = ask->mr;
	if (peer) {
		spin_lock(&peer->sh->lock);
		nid = peer->primary;
		v->multi_rail |= peer->mr && !lnet_nid_is_lo(&nid) && !ask->set->answer;
		spin_unlock(&peer->sh->lock);
	}
	if (lnet_nid_is_lo(&nid))
		nid = lnet_nid_is_lo(&ask->to.nid) && ask->set->answer && ask->nr_nids ?
			      ask->nids[0] : ask->to.nid;
	lnet_nid_str(&nid, v->primary);
	lnet_peer_put(peer);
	lnet_peer_ni_put(pni);
}

static bool success_emit(struct lnet_ctl_dump *d, struct lnet_sink *s,
			 const struct lnet_ctl_ask *ask)
{
	struct lnet_view_ping v = { 0 };
	char text[LNET_NIDSTR_SIZE];
	struct lnet_view_nid nid;
	unsigned int i;

	if (!lnet_ctl_table(d, s, &ask->set->replied))
		return false;
	known_of(ask, &v);
	lnet_ctl_item(d, s);
	lnet_table_emit(s, &ask->set->replied, &v, 0, false, NULL);
	s->ops->open(s, LNET_OPEN_NEST, 5);
	for (i = 0; i < ask->nr_nids; i++) {
		lnet_nid_str(&ask->nids[i], text);
		if (ask->to.pid == LNET_CTL_NO_PID)
			strscpy(nid.nid, text, sizeof(nid.nid));
		else	/* as the request named it */
			scnprintf(nid.nid, sizeof(nid.nid), "%lld-%s", ask->to.pid, text);
		s->ops->open(s, LNET_OPEN_ELEM, i + 1);
		lnet_table_emit(s, &lnet_table_nid, &nid, 0, false, NULL);
		s->ops->close(s);
	}
	s->ops->close(s);
	return lnet_ctl_item_end(d, s);
}

static bool failure_emit(struct lnet_ctl_dump *d, struct lnet_sink *s,
			 const struct lnet_ctl_ask *ask)
{
	struct lnet_view_failure v = { .what = "\n", .err = (s16)ask->status };
	char nid[LNET_NIDSTR_SIZE];

	/* the table of successes is sent first, even if no node replied */
	if (!lnet_ctl_table(d, s, &ask->set->replied))
		return false;
	/* sends the table of failures, unless it was sent last */
	if (d->last != &ask->set->failed) {
		if (!s->ops->table(s, &ask->set->failed, NULL, LNET_TABLE_OTHER))
			return false;
		d->last = &ask->set->failed;
		d->head = false;
	}
	/*
	 * Stock's tool parses the text as YAML, so the text must not contain ": ". The tool appends
	 * the text of the errno.
	 */
	scnprintf(v.descr, sizeof(v.descr), "failed to %s %s%s%s%s", ask->set->what,
		  lnet_nid_str(&ask->to.nid, nid), ask->why[0] ? " (" : "", ask->why,
		  ask->why[0] ? ")" : "");
	return lnet_ctl_emit(d, s, &ask->set->failed, &v);
}

/*
 * Fills in the results of discovered targets. If a peer was created only for a failed request,
 * deletes the peer by lnet_peer_del(), as an operator's command does. This also works while the
 * driver still references the peer.
 */
static void answer_all(struct lnet_ctl_asks *set)
{
	struct lnet *ln = set->ctl->ln;
	struct lnet_nid primary;
	unsigned int i;

	for (i = 0; set->answer && i < set->nr; i++)
		if (!set->ask[i].status)
			set->ask[i].status = set->answer(&set->ask[i]);
	for (i = 0; i < set->nr; i++)
		if (set->ask[i].status &&
		    lnet_expiry_unanswered(ln, &set->ask[i].to.nid, &primary))
			lnet_peer_del(ln, &primary, NULL, 0);
	set->answered = true;
}

/* The positions 0..nr-1 are the successful queries, the positions nr..2nr-1 the failed ones. */
int lnet_ctl_asks_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct lnet_ctl_asks *set = d->priv;
	bool open;

	spin_lock(&set->lock);
	open = set->nr_open;
	spin_unlock(&set->lock);
	if (open)
		return -EINPROGRESS;
	if (!set->answered)
		answer_all(set);
	for (; d->pos < 2 * set->nr; d->pos++) {
		const struct lnet_ctl_ask *ask = &set->ask[d->pos % set->nr];
		bool failures = d->pos >= set->nr;

		if (failures != !!ask->status)
			continue;
		if (!(failures ? failure_emit(d, s, ask) : success_emit(d, s, ask)))
			return 1;
	}
	return 0;
}
