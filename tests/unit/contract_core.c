/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A core for drivers under test: it follows the plan that each message carries, and records and
 * checks each upcall.
 */
#include "contract_core.h"
#include "topology/topology.h"

#define FRAME 7			/* guard bytes before and behind each fragment */
#define GUARD 0xa5

static struct contract_node *node_of(const struct lnet *ln)
{
	return container_of(ln, struct contract_node, ln);
}

static struct msg *msg_of(const struct lnet_att *att)
{
	return container_of(att, struct msg, att);
}

static struct got *got_of(struct lnet_rx *rx)
{
	return container_of(rx, struct got, rx);
}

static void must_run(struct contract_node *node)
{
	CU_ASSERT_FALSE(node->stopped);		/* no upcall after ni_stop */
}

/* ---- payloads -------------------------------------------------------------------------------- */

u8 contract_byte(unsigned int seq, u32 pos)
{
	return (u8)(seq * 31 + pos + (pos >> 8) * 7 + (pos >> 16) * 3);
}

u8 *contract_frags(struct lnet_frag frags[3], u32 len, unsigned int odd)
{
	u32 cut[4] = { 0, min(len, 1 + odd), len - len / 3, len };
	u8 *memory, *at;
	unsigned int i;

	if (cut[2] < cut[1])
		cut[2] = cut[1];
	memory = malloc(len + odd + 4 * FRAME);
	if (!memory)
		abort();
	memset(memory, GUARD, len + odd + 4 * FRAME);
	at = memory + odd;
	for (i = 0; i < 3; i++) {
		at += FRAME;
		frags[i].base = at;
		frags[i].len = cut[i + 1] - cut[i];
		at += frags[i].len;
	}
	return memory;
}

static bool bytes_ok(const struct lnet_frag *frags, unsigned int seq, u32 len)
{
	u32 pos = 0, i;
	unsigned int f;

	for (f = 0; f < 3; f++) {
		const u8 *base = frags[f].base;

		for (i = 0; i < frags[f].len && pos < len; i++, pos++)
			if (base[i] != contract_byte(seq, pos))
				return false;
		for (; i < frags[f].len; i++)		/* beyond the wanted bytes */
			if (base[i] != GUARD)
				return false;
		for (i = 1; i <= FRAME; i++)
			if (base[-(int)i] != GUARD || base[frags[f].len + i - 1] != GUARD)
				return false;
	}
	return pos == len;
}

bool contract_payload_ok(const struct got *got)
{
	return bytes_ok(got->frags, got->seq, got->rx.want);
}

bool contract_memory_ok(const struct msg *msg)
{
	return bytes_ok(msg->frags, msg->seq, msg->len);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

u64 contract_now(struct contract_node *node)
{
	return node->ln.env->ops->now_ns(node->ln.env);
}

static void node_init(struct contract_node *node, struct lnet_env *env)
{
	memset(node, 0, sizeof(*node));
	INIT_LIST_HEAD(&node->pnis);
	INIT_LIST_HEAD(&node->ln.nis);
	INIT_LIST_HEAD(&node->rxs);
	INIT_LIST_HEAD(&node->lost);
	node->ln.env = env;
	node->ln.nr_shards = 1;
	node->ln.pid = LNET_PID;
	node->ln.instance = 1 + (u64)(uintptr_t)node % 1000;
#define TUNABLE(name, unit, def, min, max, stock, param, text) node->ln.tun.name = def;
#include "model/tunables.def"
#undef TUNABLE
}

int contract_node_start(struct contract_pair *pair, unsigned int ix)
{
	const struct lnet_lnd_ops *ops = pair->driver->ops;
	struct contract_node *node = &pair->node[ix];
	struct lnet_ni *ni = calloc(1, sizeof(*ni) + sizeof(ni->sh[0]));

	node_init(node, pair->env[ix]);
	if (!ni)
		abort();
	ni->ln = &node->ln;
	ni->ops = ops;
	ni->nid = pair->cfg[ix].nid;
	ni->net = lnet_nid_net(&ni->nid);
	memcpy(ni->ifname, pair->cfg[ix].ifname, sizeof(ni->ifname));
	atomic_set(&ni->refs, 1);
	ni->peer_timeout = ops->peer_timeout;
	ni->credits = ops->credits;
	ni->peer_credits = ops->peer_credits;
	ni->tos = -1;
	ni->dev_cpt = -1;
	ni->priv = calloc(1, max(ops->ni_priv_size, (u16)1));
	ni->state = NI_ACTIVE;
	node->ni = ni;
	return ops->ni_start(ni);
}

/* As the core does before it stops an NI: drops waiting messages in a separate pass. */
static void drop_waiting(struct contract_node *node)
{
	struct lnet_pass p;
	struct got *got;

	lnet_pass_begin(&p, &node->ln, LNET_PASS_CALL);
	list_for_each_entry(got, &node->rxs, link) {
		if (!got->waits)
			continue;
		got->waits = false;
		got->rx.verdict = LNET_SKIP;
		node->ni->ops->receive(&p, node->ni, &got->rx);
	}
	lnet_pass_end(&p);
}

void contract_node_stop(struct contract_node *node)
{
	if (node->stopped)
		return;
	drop_waiting(node);
	node->ni->ops->ni_stop(node->ni);
	node->stopped = true;
}

void contract_node_free(struct contract_node *node)
{
	struct lnet_peer_ni *pni, *next_pni;
	struct lost *lost, *next_lost;
	struct got *got, *next;

	lnet_peer_ni_put(node->to);
	list_for_each_entry_safe(got, next, &node->rxs, link) {
		free(got->memory);
		free(got);
	}
	list_for_each_entry_safe(lost, next_lost, &node->lost, link)
		free(lost);
	list_for_each_entry_safe(pni, next_pni, &node->pnis, link) {
		UNIT_EQUAL(atomic_read(&pni->refs), 1, "handles of peers that were not put");
		free(pni);
	}
	UNIT_EQUAL(atomic_read(&node->ni->refs), 1, "handles of NIs that were not put");
	free(node->ni->priv);
	free(node->ni);
}

/* ---- passes and small replies ---------------------------------------------------------------- */

void lnet_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind)
{
	memset(p, 0, sizeof(*p));
	p->ln = ln;
	p->kind = kind;
	p->now_ns = ln->env->ops->now_ns(ln->env);
	must_run(node_of(ln));
}

void lnet_pass_end(struct lnet_pass *p)
{
	p->ln = NULL;
}

void lnet_pass_relax(struct lnet_pass *p)
{
	CU_ASSERT_PTR_NOT_NULL(p->ln);
}

void lnet_pass_flush(struct lnet_pass *p)
{
	lnet_pass_relax(p);
}

struct lnet *lnet_ni_instance(const struct lnet_ni *ni)
{
	return ni->ln;
}

const struct lnet_nid *lnet_ni_nid(const struct lnet_ni *ni)
{
	return &ni->nid;
}

const char *lnet_ni_ifname(const struct lnet_ni *ni)
{
	return ni->ifname;
}

void *lnet_ni_priv(struct lnet_ni *ni)
{
	return ni->priv;
}

u32 lnet_ni_conns_per_peer(const struct lnet_ni *ni)
{
	return ni->conns_per_peer ? ni->conns_per_peer : 1;
}

const struct lnet_tunables *lnet_tunables_of(const struct lnet *ln)
{
	return &ln->tun;
}

struct lnet_env *lnet_env_of(const struct lnet *ln)
{
	return ln->env;
}

unsigned int lnet_nr_shards(const struct lnet *ln)
{
	return ln->nr_shards;
}

u32 lnet_pid(const struct lnet *ln)
{
	return ln->pid;
}

u64 lnet_shard_work(struct lnet *ln, unsigned int shard)
{
	struct contract_node *node = node_of(ln);
	struct lnet_pass p;

	if (!node->kicked || node->stopped)
		return U64_MAX;
	node->kicked = false;
	lnet_pass_begin(&p, ln, LNET_PASS_WORKER);
	if (node->ni->ops->work)
		node->ni->ops->work(&p, node->ni);
	lnet_pass_end(&p);
	return U64_MAX;
}

u64 lnet_shard_next_ns(const struct lnet *ln, unsigned int shard)
{
	return node_of(ln)->kicked ? 0 : U64_MAX;
}

void lnet_ni_kick(struct lnet_ni *ni)
{
	struct contract_node *node = node_of(ni->ln);

	must_run(node);
	node->kicked = true;
	ni->ln->env->ops->kick(ni->ln->env, 0);
}

void lnet_ni_link(struct lnet_ni *ni, const struct lnet_link *link)
{
	struct contract_node *node = node_of(ni->ln);

	must_run(node);
	lnet_ni_mark(ni, LNET_MARK(LINK_DOWN), !link->up);
	node->link_ups += link->up;
}

void lnet_ni_loss(struct lnet_ni *ni, u32 sent, u32 lost)
{
	must_run(node_of(ni->ln));
	ni->loss.sent += sent;
	ni->loss.lost += lost;
}

bool lnet_ni_is_alone(const struct lnet_ni *ni)
{
	return true;
}

bool lnet_peer_ni_is_configured(struct lnet_peer_ni *pni)
{
	return false;
}

struct lnet_ni *lnet_ni_find(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_ni *ni = node_of(ln)->ni;

	if (node_of(ln)->stopped || !ni || !lnet_nid_same(&ni->nid, nid))
		return NULL;
	atomic_inc(&ni->refs);
	return ni;
}

void lnet_ni_put(struct lnet_ni *ni)
{
	if (ni)
		atomic_dec(&ni->refs);
}

struct lnet_peer_ni *lnet_peer_ni_lookup(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &node_of(ln)->pnis, link)
		if (lnet_nid_same(&pni->nid, nid)) {
			lnet_peer_ni_hold(pni);
			return pni;
		}
	return NULL;
}

struct lnet_peer_ni *lnet_peer_ni_get(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, nid);

	if (pni)
		return pni;
	pni = calloc(1, sizeof(*pni));
	if (!pni)
		abort();
	pni->ln = ln;
	pni->nid = *nid;
	pni->net = lnet_nid_net(nid);
	atomic_set(&pni->refs, 2);	/* the list's and the caller's */
	list_add_tail(&pni->link, &node_of(ln)->pnis);
	return pni;
}

void lnet_peer_ni_hold(struct lnet_peer_ni *pni)
{
	atomic_inc(&pni->refs);
}

void lnet_peer_ni_put(struct lnet_peer_ni *pni)
{
	if (pni)
		CU_ASSERT(atomic_dec_return(&pni->refs) > 0);
}

const struct lnet_nid *lnet_peer_ni_nid(const struct lnet_peer_ni *pni)
{
	return &pni->nid;
}

/* ---- attempts -------------------------------------------------------------------------------- */

void lnet_att_hdr(const struct lnet_att *att, struct lnet_hdr *hdr)
{
	CU_ASSERT(msg_of(att)->nr_done == 0);
	*hdr = msg_of(att)->hdr;
}

bool lnet_att_hdr_like(const struct lnet_att *att, const struct lnet_att *before,
		       struct lnet_hdr *hdr)
{
	const struct lnet_hdr *a = &msg_of(att)->hdr, *b = &msg_of(before)->hdr;

	CU_ASSERT(msg_of(before)->nr_done == 0);
	if (a->type != LNET_MSG_PUT || b->type != LNET_MSG_PUT || a->dest_pid != b->dest_pid ||
	    a->src_pid != b->src_pid || !lnet_nid_same(&a->dest_nid, &b->dest_nid) ||
	    !lnet_nid_same(&a->src_nid, &b->src_nid))
		return false;
	hdr->payload_len = a->payload_len;
	hdr->msg.put = a->msg.put;
	return true;
}

u32 lnet_att_len(const struct lnet_att *att)
{
	return msg_of(att)->len;
}

void lnet_att_payload(const struct lnet_att *att, struct lnet_buf *buf)
{
	struct msg *msg = msg_of(att);

	CU_ASSERT(msg->nr_done == 0);
	buf->frags = msg->frags;
	buf->nr = ARRAY_SIZE(msg->frags);
	buf->offset = 0;
	buf->len = msg->len;
}

void lnet_att_posted(struct lnet_pass *p, struct lnet_att *att, u32 epoch)
{
	struct msg *msg = msg_of(att);

	must_run(msg->node);
	CU_ASSERT(!msg->posted && msg->nr_done == 0);
	CU_ASSERT(list_empty(&att->link));
	msg->posted = true;
	att->epoch = epoch;
}

void lnet_att_done(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how, u32 epoch)
{
	struct msg *msg = msg_of(att);

	must_run(msg->node);
	CU_ASSERT_PTR_EQUAL(p->ln, &msg->node->ln);
	CU_ASSERT(list_empty(&att->link));
	CU_ASSERT(how < LNET_NR_OUTCOMES);
	msg->nr_done++;
	UNIT_EQUAL(msg->nr_done, 1, "times an attempt was given back");
	if (!msg->posted)
		att->epoch = epoch;
	msg->how = how;
	msg->done_ns = contract_now(msg->node);
}

void lnet_att_unconnected(struct lnet_pass *p, struct lnet_att *att, int err)
{
	msg_of(att)->err = err;
	lnet_att_done(p, att, LNET_REMOTE_DROPPED, 0);
}

bool lnet_att_is_urgent(const struct lnet_att *att)
{
	return msg_of(att)->urgent;
}

bool lnet_att_is_sent_once(const struct lnet_att *att)
{
	return msg_of(att)->once;
}

void lnet_path_lost(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *to, u32 epoch,
		    enum lnet_outcome how)
{
	struct contract_node *node = node_of(ni->ln);
	struct lost *lost = calloc(1, sizeof(*lost));

	must_run(node);
	if (!lost)
		abort();
	lost->to = to;
	lost->epoch = epoch;
	list_add_tail(&lost->link, &node->lost);
}

void lnet_path_liveness(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *to,
			u64 rtt_ns)
{
	must_run(node_of(ni->ln));
	CU_ASSERT_PTR_NOT_NULL(to);
}

/* ---- receives -------------------------------------------------------------------------------- */

struct lnet_rx *lnet_rx_get(struct lnet_pass *p)
{
	struct contract_node *node = node_of(p->ln);
	struct got *got = calloc(1, sizeof(*got));

	must_run(node);
	if (!got)
		abort();
	got->node = node;
	INIT_LIST_HEAD(&got->rx.link);
	list_add_tail(&got->link, &node->rxs);
	return &got->rx;
}

/* Wants the whole payload, but for some messages all except the last 5 bytes. */
static void aim(struct got *got)
{
	u32 len = got->hdr.payload_len;

	got->rx.want = len > 16 && got->seq % 3 == 2 ? len - 5 : len;
	got->memory = contract_frags(got->frags, len, got->seq % 5);
	got->rx.into.frags = got->frags;
	got->rx.into.nr = ARRAY_SIZE(got->frags);
	got->rx.into.offset = 0;
	got->rx.into.len = got->rx.want;
}

static const u8 first_verdict[] = {
	[PLAN_LAND] = LNET_RECEIVE,	   [PLAN_SKIP] = LNET_SKIP,
	[PLAN_CLOSE] = LNET_CLOSE,	   [PLAN_STOP] = LNET_RECEIVE,
	[PLAN_LATER_LAND] = LNET_LATER,	   [PLAN_LATER_SKIP] = LNET_LATER,
	[PLAN_LATER_AT_ONCE] = LNET_LATER,
};

enum lnet_verdict lnet_rx_begin(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx,
				const struct lnet_hdr *hdr, struct lnet_peer_ni *from)
{
	struct got *got = got_of(rx ? rx : lnet_rx_get(p));
	enum lnet_verdict verdict;

	if (!rx)
		UNIT_EQUAL(hdr->type, LNET_MSG_ACK, "only an ACK comes without rx");
	rx = &got->rx;
	must_run(got->node);
	CU_ASSERT_FALSE(got->begun);
	CU_ASSERT_PTR_EQUAL(ni, got->node->ni);
	CU_ASSERT_PTR_NOT_NULL(from);
	got->begun = true;
	got->hdr = *hdr;
	/* A corrupt message has no plan. */
	got->plan = hdr->msg.put.match_bits <= PLAN_STOP ? (enum plan)hdr->msg.put.match_bits
							 : PLAN_SKIP;
	got->seq = (unsigned int)hdr->msg.put.hdr_data;
	rx->ni = ni;
	rx->from = from;
	rx->payload_len = hdr->payload_len;
	aim(got);
	verdict = first_verdict[got->plan];
	rx->verdict = verdict;
	got->waits = verdict == LNET_LATER;
	if (got->plan == PLAN_LATER_AT_ONCE) {
		got->waits = false;
		rx->verdict = LNET_RECEIVE;
		ni->ops->receive(p, ni, rx);
	}
	return verdict;
}

bool lnet_rx_is_wanted(const struct lnet_rx *rx)
{
	return node_of(rx->ni->ln)->wanted;
}

void lnet_rx_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how)
{
	struct got *got = got_of(rx);

	must_run(got->node);
	CU_ASSERT(got->begun && !got->waits && rx->verdict == LNET_RECEIVE);
	got->nr_done++;
	UNIT_EQUAL(got->nr_done, 1, "times a landing ended");
	got->how = how;
}
