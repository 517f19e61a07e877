/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command net show: reports the local interfaces with their counters. */
#include "control/command.h"
#include "topology/topology.h"
#include "manage/manage.h"

int lnet_ctl_nets_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			struct lnet_ctl_err *e)
{
	static const struct lnet_field fields[] = {
		LNET_FIELD(NET, "net type", struct lnet_ctl_dump, net, .range_err = -ENOENT,
			   .has = offsetof(struct lnet_ctl_dump, filtered)),
		{ NULL }
	};
	struct lnet_req item;

	return lnet_ctl_first(req, &item) ? lnet_ctl_read(item, fields, d, e) : 0;
}

/* ---- views ----------------------------------------------------------------------------------- */

static void latency_add(struct lnet_view_latency *v, const struct lnet_times *t)
{
	if (!t->count)
		return;
	v->min_ns = v->samples ? min(v->min_ns, t->min_ns) : t->min_ns;
	v->max_ns = max(v->max_ns, t->max_ns);
	v->avg_ns += t->sum_ns;
	v->samples += (u32)t->count;
}

/* Until lnet_ctl_stat_done(), the fields for averages contain sums. */
void lnet_ctl_stat_add(struct lnet_view_stat *v, const struct lnet_path_stats *st)
{
	latency_add(&v->put_egress, &st->put_egress);
	latency_add(&v->get_rtt, &st->get_rtt);
	latency_add(&v->put_ack, &st->put_ack);
}

void lnet_ctl_stat_done(struct lnet_view_stat *v)
{
	struct lnet_view_latency *all[] = { &v->put_egress, &v->get_rtt, &v->put_ack };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i]->samples)
			all[i]->avg_ns = div_u64(all[i]->avg_ns, all[i]->samples);
}

/*
 * Adds the latencies of all paths of an interface. Visits every peer, and takes the shard lock once
 * for each peer.
 */
static void ni_latency(const struct lnet_ni *ni, struct lnet_view_stat *v)
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	struct lnet_path *path;

	for (peer = lnet_peer_next(ni->ln, NULL); peer; peer = lnet_peer_next(ni->ln, peer)) {
		spin_lock(&peer->sh->lock);
		list_for_each_entry(pni, &peer->pnis, link) {
			path = lnet_path_find(pni, ni);
			if (path && path->stats)
				lnet_ctl_stat_add(v, path->stats);
		}
		spin_unlock(&peer->sh->lock);
	}
	lnet_ctl_stat_done(v);
}

static void ni_counters(const struct lnet_ni *ni, u64 *c)
{
	struct lnet *ln = ni->ln;
	unsigned int i, k;

	memset(c, 0, LNET_NR_NI_COUNTERS * sizeof(*c));
	for (i = 0; i < ln->nr_shards; i++) {
		spin_lock(&ln->shard[i].lock);
		for (k = 0; k < LNET_NR_NI_COUNTERS; k++)
			c[k] += ni->sh[i].c[k];
		spin_unlock(&ln->shard[i].lock);
	}
}

#define MSGS(side)                                                                             \
	{                                                                                      \
		.put = (u32)c[LNET_NIC_##side##_put], .get = (u32)c[LNET_NIC_##side##_get],    \
		.reply = (u32)c[LNET_NIC_##side##_reply], .ack = (u32)c[LNET_NIC_##side##_ack] \
	}

static void ni_traffic(struct lnet_ni *ni, struct lnet_view_ni *v)
{
	u64 c[LNET_NR_NI_COUNTERS];

	ni_counters(ni, c);
	v->stat.send_count = (u32)c[LNET_NIC_send_count];
	v->stat.recv_count = (u32)c[LNET_NIC_recv_count];
	v->stat.drop_count = (u32)c[LNET_NIC_drop_count];
	v->sent = (struct lnet_view_msgs)MSGS(sent);
	v->received = (struct lnet_view_msgs)MSGS(recv);
	v->dropped = (struct lnet_view_msgs)MSGS(drop);
	v->health = (struct lnet_view_ni_health){
		.fatal = !lnet_ni_has_link(ni),
		.interrupts = (u32)c[LNET_NIC_interrupts],
		.dropped = (u32)c[LNET_NIC_dropped],
		.aborted = (u32)c[LNET_NIC_aborted],
		.no_route = (u32)c[LNET_NIC_no_route],
		.timeouts = (u32)c[LNET_NIC_timeouts],
		.error = (u32)c[LNET_NIC_error],
		.ping_count = (u32)ni->ping_count,
		.next_ping = div_u64(ni->next_ping_ns, NSEC_PER_SEC),
	};
	v->more = (struct lnet_view_ni_more){
		.network_timeouts = c[LNET_NIC_network_timeout],
		.resends_local_timeout = c[LNET_NIC_resend_local_timeout],
		.resends_network_timeout = c[LNET_NIC_resend_network_timeout],
		.sent_bytes = c[LNET_NIC_sent_bytes],
		.received_bytes = c[LNET_NIC_recv_bytes],
		.down_events = READ_ONCE(ni->nr_down),
		.up_events = READ_ONCE(ni->nr_up),
		.link_mbit = READ_ONCE(ni->link_speed),
	};
	lnet_weight_get(ni, &v->more.quality);
}

bool lnet_ctl_ni_up(const struct lnet_ni *ni)
{
	if (lnet_nid_is_lo(&ni->nid))
		return true;
	return lnet_ni_usable(ni) && lnet_ni_has_link(ni) && atomic_read(&ni->health) > 0;
}

/*
 * Writes the CPU partitions in @set as "[0,1]". The quotes are part of the text, so that a YAML
 * parser reads a string. @set 0: all partitions
 */
static void cpts_text(u64 set, unsigned int nr_cpts, char *buf, size_t size)
{
	u64 cpts = set ? set : U64_MAX >> (64 - nr_cpts);
	bool few = nr_cpts <= 16;
	int len = scnprintf(buf, size, "\"[");
	unsigned int i, last;

	for (i = 0; i < 64; i = last + 1) {
		last = i;
		if (!(cpts >> i & 1))
			continue;
		while (!few && last < 63 && cpts >> (last + 1) & 1)
			last++;
		len += scnprintf(buf + len, size - (size_t)len, "%s%u", len > 2 ? "," : "", i);
		if (last > i)
			len += scnprintf(buf + len, size - (size_t)len, "-%u", last);
	}
	scnprintf(buf + len, size - (size_t)len, "]\"");
}

/*
 * cfg_mutex held. Returns the service state: a drained NI is "draining" while it has operations in
 * flight, then "drained".
 */
static const char *ni_status(struct lnet_ni *ni)
{
	if (!lnet_ctl_ni_up(ni))
		return "down";
	if (lnet_ni_service(ni) != LNET_NI_DRAINED)
		return lnet_ni_service(ni) == LNET_NI_DAMPED ? "damped" : "up";
	return lnet_ni_is_empty(ni->ln, ni) ? "drained" : "draining";
}

/* Returns the reason why the status is "down". */
static const char *ni_reason(const struct lnet_ni *ni)
{
	if (!lnet_ni_has_link(ni))
		return lnet_ni_link_why(ni);
	return lnet_ni_usable(ni) ? "health 0" : "not started";
}

/* Fills @v with the configuration of an interface, which exists or which the node awaits. */
static void cfg_view(const struct lnet *ln, const struct lnet_ni_cfg *cfg,
		     const struct lnet_ctl_marks *marks, struct lnet_view_ni *v)
{
	memset(v, 0, sizeof(*v));
	lnet_nid_str(&cfg->nid, v->nid);
	if (marks->drained)
		strscpy(v->service, "drained", sizeof(v->service));
	if (marks->down)
		strscpy(v->link, "down", sizeof(v->link));
	lnet_ctl_udsp_ni(ln, &cfg->nid, &v->udsp);
	v->dev_cpt = cfg->dev_cpt;
	cpts_text(cfg->cpts, ln->nr_shards, v->cpts, sizeof(v->cpts));
	v->lnd.conns_per_peer = (u16)max(cfg->conns_per_peer, 0);
	v->lnd.timeout = (u32)div_u64(lnet_sock_timeout_ns(&ln->tun), NSEC_PER_SEC);
	v->lnd.tos = (s16)cfg->tos;
	if (lnet_nid_is_lo(&cfg->nid))
		return;
	strscpy(v->intf.name, cfg->ifname, sizeof(v->intf.name));
	v->tunables = (struct lnet_view_tunables){ cfg->peer_timeout, cfg->peer_credits,
						   cfg->peer_buffer_credits, cfg->credits };
}

/* cfg_mutex held. */
static void ni_view(struct lnet_ni *ni, unsigned int level, struct lnet_view_ni *v)
{
	struct lnet_ctl_marks marks;
	struct lnet_ni_cfg cfg;

	lnet_ctl_ni_cfg(ni, &cfg);
	lnet_ctl_marks_get(ni, &marks);
	cfg_view(ni->ln, &cfg, &marks, v);
	v->lnd.conns_per_peer = (u16)lnet_ni_conns_per_peer(ni);
	strscpy(v->status, ni_status(ni), sizeof(v->status));
	if (!strcmp(v->status, "down"))
		strscpy(v->reason, ni_reason(ni), sizeof(v->reason));
	if (!level)
		return;
	ni_traffic(ni, v);
	/* 0 until the node has sent a message to itself, as in stock LNet */
	v->health.value = !lnet_nid_is_lo(&ni->nid) ? atomic_read(&ni->health) :
			  v->stat.send_count || ni->used ? LNET_HEALTH_MAX : 0;
	ni_latency(ni, &v->stat);
	if (level >= LNET_LEVEL_MORE && ni->ops->counters)
		ni->ops->counters(ni, v->lnd_counters, false);
}

/* cfg_mutex held. Fills @v with the values that an awaited interface will have. */
static void waiting_view(const struct lnet_ctl_dump *d, const struct lnet_ctl_waiting *w,
			 const struct lnet_lnd_ops *ops, struct lnet_view_ni *v)
{
	struct lnet_ni_cfg cfg = w->cfg;

	lnet_ni_cfg_complete(d->ctl->ln, w->net, ops, &cfg);
	cfg_view(d->ctl->ln, &cfg, &w->marks, v);
	strscpy(v->status, "down", sizeof(v->status));
	/* Stock's tool parses the text as YAML, so the text must not contain ": ". */
	scnprintf(v->reason, sizeof(v->reason), "not started ('%s', %s)", cfg.ifname,
		  lnet_ctl_wait_why(w));
}

/* ---- walking: cfg_mutex held ----------------------------------------------------------------- */

static bool net_is_first(const struct lnet *ln, const struct lnet_ni *ni)
{
	const struct lnet_ni *other;

	list_for_each_entry(other, &ln->nis, link) {
		if (other == ni)
			return true;
		if (other->net == ni->net)
			return false;
	}
	return true;
}

/*
 * True if @w is the first interface of its net, the net has only awaited interfaces, and its driver
 * exists.
 */
static bool waiting_is_first(const struct lnet_control *ctl, const struct lnet_ctl_waiting *w)
{
	const struct lnet_ctl_waiting *other;
	const struct lnet_ni *ni;

	list_for_each_entry(ni, &ctl->ln->nis, link)
		if (ni->net == w->net)
			return false;
	for (other = ctl->waiting; other != w; other = other->next)
		if (other->net == w->net)
			return false;
	return lnet_ctl_driver(ctl->ln, w->net);
}

struct shown_net {
	u32 net;
	const struct lnet_lnd_ops *ops;
	struct lnet_view_ni *v;		/* room for an interface */
};

/* Finds the net at @pos, in the order of configuration. False: there are fewer nets. */
static bool net_at(const struct lnet_ctl_dump *d, u32 pos, struct shown_net *n)
{
	const struct lnet *ln = d->ctl->ln;
	const struct lnet_ctl_waiting *w;
	const struct lnet_ni *ni;

	list_for_each_entry(ni, &ln->nis, link) {
		if (!net_is_first(ln, ni) || (d->filtered && ni->net != d->net))
			continue;
		if (d->backup && lnet_nid_is_lo(&ni->nid))
			continue;
		n->net = ni->net;
		n->ops = ni->ops;
		if (!pos--)
			return true;
	}
	for (w = d->ctl->waiting; w; w = w->next) {
		if (!waiting_is_first(d->ctl, w) || (d->filtered && w->net != d->net))
			continue;
		n->net = w->net;
		n->ops = lnet_ctl_driver(ln, w->net);
		if (!pos--)
			return true;
	}
	return false;
}

/*
 * Returns the key tables for the tunables and the counters of the driver @ops that this dump shows.
 * NULL: none
 */
static const struct lnet_lnd_tables *lnd_tables(struct lnet_ctl_dump *d,
						const struct lnet_lnd_ops *ops)
{
	bool tunables = d->level && ops->type == LNET_LND_TCP;
	bool counters = d->level >= LNET_LEVEL_MORE && ops->counters && !d->backup;
	unsigned int i;

	if (!tunables && !counters)
		return NULL;
	if (d->lnd_ops == ops)
		return &d->lnd;
	d->lnd_ops = NULL;	/* NULL until net_table() has sent the new tables */
	d->lnd.tunables = tunables ? &lnet_table_sock : NULL;
	d->lnd.counters = counters ? &d->counters : NULL;
	for (i = 0; counters && i < ops->nr_counters; i++)
		d->counter_keys[i] = (struct lnet_key){ .name = ops->counter_names[i],
							.type = LNET_NLT_U64,
							.off = (u16)(i * sizeof(u64)),
							.level = LNET_LEVEL_MORE };
	d->counters = (struct lnet_table){ d->counter_keys, ops->nr_counters };
	return &d->lnd;
}

/*
 * Sends the table if none was sent yet, or if the driver of the net differs from the driver of the
 * last table.
 */
static bool net_table(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct lnet_lnd_ops *ops)
{
	const struct lnet_lnd_tables *lnd = lnd_tables(d, ops);

	if (d->table && (d->lnd_ops == ops || !lnd))
		return true;
	if (!s->ops->table(s, &lnet_table_net, lnd,
			  d->table ? LNET_TABLE_AGAIN : LNET_TABLE_FIRST))
		return false;
	if (d->table)
		d->head = false;	/* after a repeated table, the next item has the top key */
	d->table = true;
	d->lnd_ops = ops;
	return true;
}

/*
 * Writes the interface with the number d->sub of the net; awaited interfaces have the last numbers.
 * False: there is no such interface. If an interface was added by its NID, a backup identifies it
 * by this NID, because its device may have several addresses.
 */
static bool element_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, void *arg)
{
	const struct shown_net *n = arg;
	const struct lnet_ctl_waiting *w;
	struct lnet_view_ni *v = n->v;
	struct lnet_ni *ni;
	u32 pos = d->sub;
	bool by_nid;

	list_for_each_entry(ni, &d->ctl->ln->nis, link)
		if (ni->net == n->net && !pos--) {
			ni_view(ni, d->level, v);
			by_nid = !ni->by_name;
			goto found;
		}
	for (w = d->ctl->waiting; w; w = w->next)
		if (w->net == n->net && !pos--) {
			waiting_view(d, w, n->ops, v);
			by_nid = !lnet_nid_is_any(&w->cfg.nid);
			goto found;
		}
	return false;
found:
	s->ops->open(s, LNET_OPEN_ELEM, 0);
	if (d->backup && by_nid)
		s->ops->str(s, 1, v->nid);
	lnet_table_emit(s, &lnet_table_ni, v, d->level, d->backup, lnd_tables(d, n->ops));
	if (d->reasons && d->level < LNET_LEVEL_MORE && v->reason[0])
		s->ops->str(s, lnet_table_ni.nr, v->reason);
	return true;
}

/* True: the whole net fits */
static bool net_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, struct shown_net *n)
{
	char text[LNET_NIDSTR_SIZE];

	if (!net_table(d, s, n->ops))
		return false;
	lnet_ctl_item(d, s);
	s->ops->str(s, 2, lnet_net_str(n->net, text));
	return lnet_ctl_list(d, s, 3, element_emit, n);
}

/*
 * Returns true if the tables of `net show' have the key that states why an interface is down or
 * awaited. Without such an interface, the tables have no such key, and equal those of stock LNet.
 */
static bool has_reasons(const struct lnet_ctl_dump *d)
{
	const struct lnet_ni *ni;

	if (d->backup)
		return false;
	list_for_each_entry(ni, &d->ctl->ln->nis, link)
		if (!lnet_ctl_ni_up(ni))
			return true;
	return d->ctl->waiting;
}

int lnet_ctl_nets_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct lnet *ln = d->ctl->ln;
	struct shown_net n = { .v = kzalloc(sizeof(*n.v), GFP_KERNEL) };
	char net[LNET_NIDSTR_SIZE];
	int rc = 0;

	if (!n.v)
		return -ENOMEM;
	mutex_lock(&ln->cfg_mutex);
	if (!d->table)
		d->reasons = has_reasons(d);
	s->more |= d->reasons;
	while (net_at(d, d->pos, &n)) {
		if (!net_emit(d, s, &n)) {
			rc = 1;
			break;
		}
		d->pos++;
		d->sub = 0;
	}
	mutex_unlock(&ln->cfg_mutex);
	kfree(n.v);
	if (!rc && d->filtered && !d->pos)
		return lnet_ctl_fail(e, -ESRCH, "no interface is on net %s",
				     lnet_net_str(d->net, net));
	return rc;
}
