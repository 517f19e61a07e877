/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ping: several nodes at once, each answer or failure told. And where the NIDs of a node are
 * handled.
 */
#include "control_cmd.h"

#define PING_NIDS_MAX	LNET_CTL_NIDS_MAX	/* told of one node */
#define PING_MS_MAX	180000

struct ping_set;

struct ping {
	struct ping_set *set;
	struct lnet_ctl_target to;
	struct lnet_nid primary;
	int status;			/* 1: under way */
	bool mr;
	unsigned int nr_nids;
	struct lnet_nid *nids;		/* of the answer */
};

/*
 * Lives until the dump and every ping have let go of it: a client may leave before the answers
 * come.
 */
struct ping_set {
	struct lnet_control *ctl;
	spinlock_t lock;
	unsigned int nr, nr_open;	/* nr_open [lock] */
	bool left;			/* [lock] the dump is gone */
	struct ping ping[];
};

static void set_free(struct ping_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		kfree(set->ping[i].nids);
	kvfree(set);
}

/* ---- the answer: runs like a handler --------------------------------------------------------- */

static int read_info(struct ping *ping, const u8 *info, u32 len)
{
	struct lnet_pinginfo_ni *nis = kcalloc(PING_NIDS_MAX, sizeof(*nis), GFP_NOFS);
	struct lnet_pinginfo pi;
	unsigned int i;
	int rc = nis ? lnet_pinginfo_decode(&pi, info, len, nis, PING_NIDS_MAX) : -ENOMEM;

	if (rc == -EMSGSIZE || rc == -ENOBUFS)
		rc = 0;		/* as many as came */
	if (!rc)
		ping->nids = kcalloc(pi.nr + 1, sizeof(*ping->nids), GFP_NOFS);
	if (!rc && !ping->nids)
		rc = -ENOMEM;
	for (i = 0; !rc && i < pi.nr; i++)
		ping->nids[i] = nis[i].nid;
	if (!rc) {
		ping->nr_nids = pi.nr;
		ping->mr = pi.features & LNET_FEAT_MULTI_RAIL;
	}
	kfree(nis);
	return rc;
}

static void ping_done(void *arg, int status, const u8 *info, u32 len,
		      const struct lnet_nid *primary, uint64_t rtt_ns)
{
	struct ping *ping = arg;
	struct ping_set *set = ping->set;
	struct lnet_control *ctl = set->ctl;
	bool last, left;

	if (!status)
		status = read_info(ping, info, len);
	ping->primary = primary ? *primary : LNET_NID_ANY;
	spin_lock(&set->lock);
	ping->status = status;
	last = !--set->nr_open;
	left = set->left;
	spin_unlock(&set->lock);
	if (last && left)
		set_free(set);
	else if (last)
		ctl->ops->wake(ctl->arg);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* What is out of the range means the longest, as in stock. */
static int timeout_of(struct lnet *ln, const struct lnet_ctl_req *req, u64 *timeout_ns,
		      struct lnet_ctl_err *e)
{
	struct lnet_req all;
	struct lnet_val v;
	s64 ms;

	*timeout_ns = READ_ONCE(ln->tun.transaction_timeout);
	lnet_req_init(&all, req->attrs, req->len);
	if (!lnet_req_find(all, "timeout", &v))
		return 0;
	if (lnet_val_int(&v, S64_MIN, S64_MAX, &ms))
		return lnet_ctl_fail(e, -EINVAL, "'timeout' must be milliseconds, 1 to %d",
				     PING_MS_MAX);
	if (ms < 1 || ms > PING_MS_MAX)
		ms = PING_MS_MAX;
	*timeout_ns = (u64)ms * NSEC_PER_MSEC;
	return 0;
}

static int source_of(struct lnet *ln, const struct lnet_ctl_req *req, struct lnet_nid *source,
		     struct lnet_ctl_err *e)
{
	char buf[LNET_NIDSTR_SIZE];
	struct lnet_req all;
	struct lnet_ni *ni;
	struct lnet_val v;
	int rc;

	*source = LNET_NID_ANY;
	lnet_req_init(&all, req->attrs, req->len);
	if (!lnet_req_find(all, "source", &v))
		return 0;
	rc = lnet_ctl_nid(&v, "source", source, e);
	if (rc)
		return rc;
	ni = lnet_ni_find(ln, source);
	lnet_ni_put(ni);
	return ni ? 0
		  : lnet_ctl_fail(e, -EINVAL, "%s is not an interface of this node",
				  lnet_nid_str(source, buf));
}

static struct ping_set *set_new(struct lnet_control *ctl, const struct lnet_ctl_target *to,
				unsigned int nr)
{
	struct ping_set *set = kvzalloc(struct_size(set, ping, nr), GFP_KERNEL);
	unsigned int i;

	if (!set)
		return NULL;
	spin_lock_init(&set->lock);
	set->ctl = ctl;
	set->nr = nr;
	set->nr_open = nr + 1;		/* one is the starter's */
	for (i = 0; i < nr; i++) {
		set->ping[i].set = set;
		set->ping[i].to = to[i];
		set->ping[i].status = 1;
	}
	return set;
}

/* All at once: the slowest one sets the time. */
static void set_start(struct lnet_ctl_dump *d, struct ping_set *set, const struct lnet_nid *source,
		      u64 timeout_ns)
{
	struct lnet *ln = d->ctl->ln;
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		struct ping *ping = &set->ping[i];
		int rc = lnet_ping(ln, &ping->to.nid, source, timeout_ns, ping_done, ping);

		if (!rc)
			continue;
		spin_lock(&set->lock);
		ping->status = rc;
		set->nr_open--;
		spin_unlock(&set->lock);
	}
	spin_lock(&set->lock);
	set->nr_open--;
	spin_unlock(&set->lock);
}

int lnet_ctl_ping_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			struct lnet_ctl_err *e)
{
	struct lnet_ctl_target *to = kcalloc(LNET_CTL_NIDS_MAX, sizeof(*to), GFP_KERNEL);
	struct lnet_nid source;
	u64 timeout_ns = 0;
	int nr, rc;

	if (!to)
		return -ENOMEM;
	nr = lnet_ctl_targets(req, to, e);
	rc = nr < 0 ? nr : timeout_of(d->ctl->ln, req, &timeout_ns, e);
	if (!rc)
		rc = source_of(d->ctl->ln, req, &source, e);
	if (!rc)
		d->priv = set_new(d->ctl, to, (unsigned int)nr);
	kfree(to);
	if (rc || !d->priv)
		return rc ? rc : -ENOMEM;
	set_start(d, d->priv, &source, timeout_ns);
	return 0;
}

void lnet_ctl_ping_end(struct lnet_ctl_dump *d)
{
	struct ping_set *set = d->priv;
	bool open;

	if (!set)
		return;
	spin_lock(&set->lock);
	open = set->nr_open;
	set->left = true;
	spin_unlock(&set->lock);
	if (!open)
		set_free(set);
	d->priv = NULL;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* A target that was asked with a process is told so. */
static void nid_told(const struct lnet_ctl_target *to, const struct lnet_nid *nid,
		     struct lnet_view_nid *v)
{
	char text[LNET_NIDSTR_SIZE];

	lnet_nid_str(nid, text);
	if (to->pid == LNET_CTL_NO_PID)
		strscpy(v->nid, text, sizeof(v->nid));
	else
		scnprintf(v->nid, sizeof(v->nid), "%lld-%s", to->pid, text);
}

static bool success_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct ping *ping)
{
	struct lnet_view_ping v = { .multi_rail = ping->mr };
	struct lnet_view_nid nid;
	unsigned int i;

	if (!lnet_ctl_table(d, s, &lnet_table_ping))
		return false;
	lnet_nid_str(&ping->primary, v.primary);
	lnet_ctl_item(d, s);
	lnet_table_emit(s, &lnet_table_ping, &v, 0, false, NULL);
	s->ops->open(s, LNET_OPEN_NEST, 5);
	for (i = 0; i < ping->nr_nids; i++) {
		nid_told(&ping->to, &ping->nids[i], &nid);
		s->ops->open(s, LNET_OPEN_ELEM, i + 1);
		lnet_table_emit(s, &lnet_table_nid, &nid, 0, false, NULL);
		s->ops->close(s);
	}
	s->ops->close(s);
	return lnet_ctl_item_end(d, s);
}

static bool failure_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct ping *ping)
{
	struct lnet_view_failure v = { .what = "\n", .err = (s16)ping->status };
	char nid[LNET_NIDSTR_SIZE];

	/* comes first, also where nobody answered */
	if (!lnet_ctl_table(d, s, &lnet_table_ping))
		return false;
	if (d->last != &lnet_table_failure) {	/* of the two tables, the one sent last */
		if (!s->ops->table(s, &lnet_table_failure, NULL, LNET_TABLE_OTHER))
			return false;
		d->last = &lnet_table_failure;
		d->head = false;
	}
	scnprintf(v.descr, sizeof(v.descr), "failed to ping %s", lnet_nid_str(&ping->to.nid, nid));
	lnet_ctl_item(d, s);
	lnet_table_emit(s, &lnet_table_failure, &v, 0, false, NULL);
	return lnet_ctl_item_end(d, s);
}

/* Positions 0..nr-1 are the successes, nr..2nr-1 the failures. */
int lnet_ctl_ping_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct ping_set *set = d->priv;
	bool open;

	spin_lock(&set->lock);
	open = set->nr_open;
	spin_unlock(&set->lock);
	if (open)
		return -EINPROGRESS;
	for (; d->pos < 2 * set->nr; d->pos++) {
		const struct ping *ping = &set->ping[d->pos % set->nr];
		bool failures = d->pos >= set->nr;

		if (failures != !!ping->status)
			continue;
		if (!(failures ? failure_emit(d, s, ping) : success_emit(d, s, ping)))
			return 1;
	}
	return 0;
}

/* ---- cpt-of-nid ------------------------------------------------------------------------------ */

struct nid_list {
	unsigned int nr;
	struct lnet_ctl_target nids[LNET_CTL_NIDS_MAX];
};

int lnet_ctl_cpt_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e)
{
	struct nid_list *list = kzalloc(sizeof(*list), GFP_KERNEL);
	int nr = list ? lnet_ctl_targets(req, list->nids, e) : -ENOMEM;

	if (nr < 0) {
		kfree(list);
		return nr;
	}
	list->nr = (unsigned int)nr;
	d->priv = list;
	return 0;
}

int lnet_ctl_cpt_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	const struct nid_list *list = d->priv;
	struct lnet_view_cpt v;

	for (; d->pos < list->nr; d->pos++) {
		if (!lnet_ctl_table(d, s, &lnet_table_cpt))
			return 1;
		lnet_nid_str(&list->nids[d->pos].nid, v.nid);
		v.cpt = lnet_nid_hash(&list->nids[d->pos].nid) % d->ctl->ln->nr_shards;
		lnet_ctl_item(d, s);
		lnet_table_emit(s, &lnet_table_cpt, &v, 0, false, NULL);
		if (!lnet_ctl_item_end(d, s))
			return 1;
	}
	return 0;
}

/*
 * How far @nid is, and which interface leads there: lower is nearer. False: nothing does, or it is
 * loopback.
 */
static bool dist_find(struct lnet *ln, const struct lnet_nid *nid, struct lnet_view_dist *v)
{
	const struct lnet_ni *ni;
	u32 order = 1;
	bool found = false;

	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(ni, &ln->nis, link) {
		if (lnet_nid_is_lo(&ni->nid))
			continue;
		order++;
		if (lnet_nid_same(&ni->nid, nid)) {
			v->distance = 0;
			v->order = 1;
			found = true;
			break;
		}
		if (!found && ni->net == lnet_nid_net(nid)) {
			v->distance = 1;
			v->order = order;
			found = true;
		}
	}
	mutex_unlock(&ln->cfg_mutex);
	return found;
}

int lnet_ctl_dist_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	const struct nid_list *list = d->priv;
	struct lnet_view_dist v;

	for (; d->pos < list->nr; d->pos++) {
		if (!lnet_ctl_table(d, s, &lnet_table_dist))
			return 1;
		lnet_nid_str(&list->nids[d->pos].nid, v.nid);
		if (!dist_find(d->ctl->ln, &list->nids[d->pos].nid, &v))
			continue;
		lnet_ctl_item(d, s);
		lnet_table_emit(s, &lnet_table_dist, &v, 0, false, NULL);
		if (!lnet_ctl_item_end(d, s))
			return 1;
	}
	return 0;
}

void lnet_ctl_cpt_end(struct lnet_ctl_dump *d)
{
	kfree(d->priv);
}
