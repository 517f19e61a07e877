/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connects the nodes of tests that need more than one: clock, driver, messages. */
#include <lnet/hash.h>
#include "rails.h"
#include "service/service.h"

struct rails rails;

/* The state that the driver keeps for an attempt or a receive. */
struct held {
	struct list_head link;
	struct lnet_att *att;
	struct lnet_rx *rx;
	struct lnet_ni *ni;
	struct rails_msg *m;
	bool stopped, verdict;
	u32 epoch;
};

/* ---- environment ----------------------------------------------------------------------------- */

static u64 env_now(struct lnet_env *env)
{
	return rails_clock(container_of(env, struct rails_node, env) - rails.node);
}

static u64 env_random(struct lnet_env *env)
{
	u64 x = rails.random += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* A separate sequence, so that no test predicts secrets from the random values that nodes send. */
static u64 env_secret(struct lnet_env *env)
{
	return lnet_hash64(rails.secret += 0xd1342543de82ef95ULL);
}

static void env_kick(struct lnet_env *env, unsigned int shard)
{
	container_of(env, struct rails_node, env)->nr_kicks++;
}

static void env_arm(struct lnet_env *env, unsigned int shard)
{
	container_of(env, struct rails_node, env)->nr_arms++;
}

const struct lnet_env_ops rails_env_ops = {
	.now_ns = env_now, .random = env_random, .secret = env_secret,
	.kick = env_kick, .arm = env_arm,
};

/* ---- names ----------------------------------------------------------------------------------- */

struct lnet_nid rails_nid(unsigned int node, unsigned int rail)
{
	const char *name = rails.cfg.nids ? rails.cfg.nids[node][rail] : NULL;
	struct lnet_nid *nid = &rails.nid[node][rail];
	char text[32];

	if (!nid->type) {
		snprintf(text, sizeof(text), rail ? "10.1.0.%u@tcp1" : "10.0.0.%u@tcp", node + 1);
		CU_ASSERT_FATAL(lnet_nid_parse(nid, name ? name : text) == 0);
	}
	return *nid;
}

void rails_ni_del(unsigned int node, unsigned int rail)
{
	struct lnet_nid nid = rails_nid(node, rail);

	UNIT_EQUAL(lnet_ni_del(rails.node[node].ln, &nid), 0, "removal");
}

void rails_ni_add(unsigned int node, unsigned int rail)
{
	struct lnet_ni_cfg cfg;

	lnet_ni_cfg_init(&cfg);
	cfg.nid = rails_nid(node, rail);
	UNIT_EQUAL(lnet_ni_add(rails.node[node].ln, &cfg), 0, "addition");
}

static bool place_of(const struct lnet_nid *nid, int *node, int *rail)
{
	unsigned int i;

	for (i = 0; i < RAILS_NODES * RAILS_RAILS; i++) {
		struct lnet_nid at = rails_nid(i / RAILS_RAILS, i % RAILS_RAILS);

		if (!lnet_nid_same(&at, nid))
			continue;
		*node = i / RAILS_RAILS;
		*rail = i % RAILS_RAILS;
		return true;
	}
	return false;
}

struct lnet_ni *rails_ni(unsigned int node, unsigned int rail)
{
	struct lnet_nid nid = rails_nid(node, rail);

	return lnet_ni_by_nid(rails.node[node].ln, &nid);
}

static struct lnet_peer_ni *pni_of(unsigned int from, unsigned int to, unsigned int rail)
{
	struct lnet_nid nid = rails_nid(to, rail);

	return lnet_peer_ni_get(rails.node[from].ln, &nid);
}

struct lnet_path *rails_path(unsigned int from, unsigned int to, unsigned int rail)
{
	struct lnet_peer_ni *pni = pni_of(from, to, rail);
	struct lnet_path *path = lnet_path_find(pni, rails_ni(from, rail));

	lnet_peer_ni_put(pni);
	return path;
}

struct lnet_peer *rails_peer(unsigned int from, unsigned int to)
{
	struct lnet_peer_ni *pni = pni_of(from, to, 0);
	struct lnet_peer *peer = pni->peer;

	lnet_peer_ni_put(pni);
	return peer;
}

u64 rails_stat(unsigned int node, enum lnet_counter c)
{
	return lnet_stat_sum(rails.node[node].ln, c);
}

void rails_tune(unsigned int node, const char *name, u64 value)
{
	UNIT_EQUAL(lnet_tunable_set(rails.node[node].ln, name, value), 0, name);
}

unsigned int rails_nids(unsigned int from, unsigned int to)
{
	const struct lnet_peer_ni *pni;
	unsigned int nr = 0;

	list_for_each_entry(pni, &rails_peer(from, to)->pnis, link)
		nr += !pni->deleted;
	return nr;
}

u32 rails_disc_bits(unsigned int from, unsigned int to)
{
	struct lnet_peer *peer = rails_peer(from, to);
	u32 all;

	spin_lock(&peer->sh->lock);
	all = lnet_disc_bits(peer);
	spin_unlock(&peer->sh->lock);
	return all;
}

unsigned int rails_count(const struct list_head *list)
{
	return list_count_nodes((struct list_head *)list);
}

/* ---- messages -------------------------------------------------------------------------------- */

void rails_on(int from, int rail, int type, enum rails_fate fate, enum lnet_outcome how, int count)
{
	CU_ASSERT_FATAL(rails.nr_rules < ARRAY_SIZE(rails.rule));
	rails.rule[rails.nr_rules++] = (struct rails_rule){
		.from = from, .rail = rail, .type = type, .fate = fate, .how = how, .count = count,
	};
}

void rails_clear(void)
{
	rails.nr_rules = 0;
}

static struct rails_rule *rule_of(const struct rails_msg *m)
{
	unsigned int i;

	for (i = 0; i < rails.nr_rules; i++) {
		struct rails_rule *r = &rails.rule[i];

		if ((r->from >= 0 && r->from != m->from) || (r->rail >= 0 && r->rail != m->rail) ||
		    (r->type != RAILS_ANY && r->type != m->type) || !r->count)
			continue;
		if (r->count > 0)
			r->count--;
		return r;
	}
	return NULL;
}

static int type_of(const struct lnet_op *op)
{
	if (op->kind != LNET_KIND_USER && lnet_op_is_request(op))
		return RAILS_CORE;
	/* The REPLY to a ping or session open has a small buffer and no entry, or is empty. */
	if (op->type == LNET_OP_REPLY && !op->entry && (op->sbuf || (!op->md && !op->len)))
		return RAILS_CORE;
	return op->type;
}

static void copying(bool begin)
{
	if (rails.on_copy)
		rails.on_copy(begin);
}

static struct rails_msg *msg_new(const struct lnet_att *att)
{
	struct rails_msg *m = calloc(1, sizeof(*m));
	struct lnet_buf buf;
	int rail;

	INIT_LIST_HEAD(&m->link);
	lnet_att_hdr(att, &m->hdr);
	lnet_att_payload(att, &buf);
	m->len = m->hdr.payload_len;
	m->data = malloc(m->len + 1);
	copying(true);
	if (buf.len)
		lnet_buf_read(&buf, 0, m->data, buf.len);
	copying(false);
	UNIT_EQUAL(buf.len, m->len, "payload as the header says");
	m->type = type_of(att->op);
	m->to = -1;
	m->via = att->ni->nid;
	m->at = att->pni->nid;
	place_of(&m->via, &m->from, &m->rail);
	place_of(&m->at, &m->to, &rail);
	return m;
}

void rails_msg_free(struct rails_msg *m)
{
	list_del_init(&m->link);
	free(m->data);
	free(m);
}

static struct rails_msg *msg_copy(const struct rails_msg *m)
{
	struct rails_msg *copy = calloc(1, sizeof(*copy));
	u64 tag = 0;

	if (m->type == RAILS_PUT)
		tag = m->hdr.msg.put.match_bits;
	else if (m->type == RAILS_GET)
		tag = m->hdr.msg.get.match_bits;
	*copy = *m;
	INIT_LIST_HEAD(&copy->link);
	copy->data = malloc(m->len + 1);
	if (m->len)
		memcpy(copy->data, m->data, m->len);
	if (tag && tag < RAILS_TAGS)
		rails.req[tag].nr_copies++;
	return copy;
}

void rails_again(const struct rails_msg *m)
{
	list_add_tail(&msg_copy(m)->link, &rails.wire);
}

void rails_order(char c)
{
	size_t len = strlen(rails.order);

	if (len + 1 < sizeof(rails.order)) {
		rails.order[len] = c;
		rails.order[len + 1] = 0;
	}
}

/* ---- driver: sending ------------------------------------------------------------------------- */

static struct held *hold(struct list_head *list, struct lnet_ni *ni, struct rails_msg *m)
{
	struct held *h = calloc(1, sizeof(*h));

	h->ni = ni;
	h->m = m;
	list_add_tail(&h->link, list);
	return h;
}

static void unhold(struct held *h)
{
	list_del(&h->link);
	if (h->m)
		rails_msg_free(h->m);
	free(h);
}

static void note_sent(const struct lnet_att *att, const struct rails_msg *m)
{
	u64 tag = (u64)(unsigned long)att->op->arg;

	if (m->type != RAILS_CORE) {
		rails.last = *m;
		rails.last.data = NULL;
	}
	if (lnet_op_is_request(att->op) && tag < RAILS_TAGS && m->type != RAILS_CORE) {
		rails.req[tag].nr_attempts++;
		if (m->type == RAILS_PUT && m->hdr.msg.put.ptl_index < LNET_PORTAL_TRACKED)
			rails.req[tag].nr_plain++;
		rails.req[tag].on_rail[m->rail]++;
	}
	rails.nr_carried[m->type]++;
	rails.nr_once[m->type] += lnet_att_is_sent_once(att);
	rails_order("apgrc"[m->type]);
}

static u32 epoch_of(const struct rails_msg *m)
{
	return rails.epoch[m->from][m->rail] + 1;
}

static void carry(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		  const struct rails_rule *r, struct rails_msg *m)
{
	enum rails_fate fate = r ? r->fate : FATE_DELIVER;
	u32 epoch = epoch_of(m);

	m->half = fate == FATE_HALF;
	if (fate == FATE_LOSE || fate == FATE_POST_FAIL) {
		rails_msg_free(m);
	} else {
		if (fate == FATE_TWICE)
			rails_again(m);
		if (fate == FATE_LATE)
			list_add_tail(&msg_copy(m)->link, &rails.delayed);
		list_add_tail(&m->link, fate == FATE_DELAY ? &rails.delayed : &rails.wire);
	}
	if (fate == FATE_POST || fate == FATE_POST_FAIL)
		lnet_att_posted(p, att, epoch);
	if (fate == FATE_POST) {
		struct held *h = hold(&rails.posted, ni, NULL);

		h->att = att;
		h->epoch = epoch;
	} else if (fate == FATE_POST_FAIL) {
		lnet_att_done(p, att, r->how, epoch);
	} else {
		lnet_att_done(p, att, fate == FATE_CONFIRM ? LNET_ACKNOWLEDGED : LNET_OK, epoch);
	}
}

static void note_stack(void)
{
	unsigned long at = (unsigned long)__builtin_frame_address(0);

	rails.stack_low = rails.stack_low ? min(rails.stack_low, at) : at;
	rails.stack_high = max(rails.stack_high, at);
}

static int rails_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct rails_msg *m = msg_new(att);
	struct rails_rule *r = rule_of(m);

	note_stack();
	CU_ASSERT(att->deadline_ns >= rails.now_ns && att->deadline_ns <= att->op->deadline_ns);
	if (r && r->fate == FATE_REFUSE) {
		att->outcome = r->how;
		rails_msg_free(m);
		return -EIO;
	}
	note_sent(att, m);
	if (r && r->fate == FATE_FAIL) {
		lnet_att_done(p, att, r->how, 0);
		rails_msg_free(m);
	} else if (r && (r->fate == FATE_REJECT || r->fate == FATE_CUT)) {
		lnet_att_unconnected(p, att, r->fate == FATE_CUT ? -ETIMEDOUT : -ECONNRESET);
		rails_msg_free(m);
	} else if (r && r->fate == FATE_KEEP) {
		hold(&rails.kept, ni, m)->att = att;
		rails_kept(ni);
	} else {
		carry(p, ni, att, r, m);
	}
	return 0;
}

static void rails_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
			 enum lnet_cancel how)
{
	struct list_head *lists[] = { &rails.kept, &rails.posted };
	struct held *h, *next;
	unsigned int i;

	for (i = 0; i < 2; i++)
		list_for_each_entry_safe(h, next, lists[i], link)
			if (h->att == att) {
				lnet_att_done(p, att, i ? LNET_ABORTED : LNET_CANCELED, h->epoch);
				unhold(h);
			}
}

/* Completes all of @ni, or of all NIs. Each leaves its list first: the core may cancel others. */
static void give_list(struct list_head *list, struct lnet_ni *ni, enum lnet_outcome how)
{
	struct held *h, *next;
	struct lnet_pass p;
	LIST_HEAD(giving);

	list_for_each_entry_safe(h, next, list, link)
		if (!ni || h->ni == ni)
			list_move_tail(&h->link, &giving);
	while (!list_empty(&giving)) {
		h = list_first_entry(&giving, struct held, link);
		lnet_pass_begin(&p, h->ni->ln, LNET_PASS_DRIVER);
		lnet_att_done(&p, h->att, how, h->epoch);
		unhold(h);
		lnet_pass_end(&p);
	}
}

void rails_give(enum lnet_outcome how)
{
	give_list(&rails.kept, NULL, how);
	give_list(&rails.posted, NULL, how);
}

void rails_give_rail(unsigned int node, unsigned int rail, enum lnet_outcome how)
{
	struct lnet_ni *ni = rails_ni(node, rail);
	struct held *last = list_last_entry(&rails.kept, struct held, link), *h, *next;
	struct lnet_pass p;

	list_for_each_entry_safe(h, next, &rails.kept, link) {
		struct lnet_att *att = h->att;
		bool end = h == last;

		if (h->ni == ni) {
			lnet_pass_begin(&p, ni->ln, LNET_PASS_DRIVER);
			lnet_att_done(&p, att, how, 0);
			unhold(h);
			lnet_pass_end(&p);
		}
		if (end)
			break;
	}
}

/* ---- driver: receiving ----------------------------------------------------------------------- */

static void land_now(struct lnet_pass *p, struct lnet_rx *rx, const struct rails_msg *m)
{
	CU_ASSERT(rx->want <= m->len);
	copying(true);
	if (rx->want)
		lnet_buf_write(&rx->into, 0, m->data, rx->want);
	copying(false);
	lnet_rx_done(p, rx, LNET_OK);
}

static void deliver_to(struct rails_node *n, struct rails_msg *m)
{
	struct lnet_ni *ni = lnet_ni_find(n->ln, &m->at);
	struct lnet_peer_ni *from = lnet_peer_ni_get(n->ln, &m->via);
	enum lnet_verdict v;
	struct lnet_pass p;
	struct lnet_rx *rx;
	struct held *h;

	if (!ni || !from) {
		lnet_ni_put(ni);
		lnet_peer_ni_put(from);
		rails_msg_free(m);
		return;
	}
	lnet_pass_begin(&p, n->ln, LNET_PASS_DRIVER);
	rx = lnet_rx_get(&p);
	v = rx ? lnet_rx_begin(&p, ni, rx, &m->hdr, from) : LNET_SKIP;
	if (v == LNET_RECEIVE && m->half) {
		h = hold(&rails.landing, ni, m);
		h->rx = rx;
		lnet_buf_write(&rx->into, 0, m->data, rx->want / 2);
	} else if (v == LNET_RECEIVE) {
		land_now(&p, rx, m);
		rails_msg_free(m);
	} else if (v == LNET_LATER) {
		hold(&rails.waiting, ni, m)->rx = rx;
	} else {
		rails_msg_free(m);
	}
	lnet_pass_end(&p);
	lnet_peer_ni_put(from);
	lnet_ni_put(ni);
}

/* A stock node drops requests to portals it does not have, and does not advertise the extension. */
static bool stock_drops(struct rails_msg *m)
{
	u32 portal = m->hdr.type == LNET_MSG_PUT ? m->hdr.msg.put.ptl_index :
		     m->hdr.type == LNET_MSG_GET ? m->hdr.msg.get.ptl_index : 0;

	/* a test may inject messages of senders that are no nodes */
	if (m->from < RAILS_NODES && rails.node[m->from].stock && m->type == RAILS_CORE &&
	    m->len >= 8 && (m->hdr.type == LNET_MSG_REPLY || m->hdr.type == LNET_MSG_PUT))
		put_unaligned_le32(get_unaligned_le32(m->data + 4) & ~LNET_FEAT_OPEN, m->data + 4);
	return rails.node[m->to].stock && portal >= LNET_PORTAL_TRACKED;
}

void rails_deliver(void)
{
	struct rails_msg *m = list_first_entry(&rails.wire, struct rails_msg, link);

	list_del_init(&m->link);
	if (rails.on_carry)
		rails.on_carry(m);
	if (m->to < 0 || !rails.node[m->to].ln || stock_drops(m))
		rails_msg_free(m);
	else
		deliver_to(&rails.node[m->to], m);
}

static struct held *held_of(struct list_head *list, const struct lnet_rx *rx)
{
	struct held *h;

	list_for_each_entry(h, list, link)
		if (h->rx == rx)
			return h;
	return NULL;
}

static void rails_op_land(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
	struct held *h = held_of(&rails.waiting, rx);

	CU_ASSERT_PTR_NOT_NULL_FATAL(h);
	if (rx->verdict == LNET_SKIP)
		unhold(h);
	else
		h->verdict = true;
}

static void rails_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
	struct held *h = held_of(&rails.landing, rx);

	if (h)
		h->stopped = true;
}

/* Completes one receive that has its buffer now, or that was aborted. */
bool rails_landings(void)
{
	struct held *h, *next;
	struct lnet_pass p;
	bool any = false;

	list_for_each_entry_safe(h, next, &rails.waiting, link) {
		if (!h->verdict)
			continue;
		lnet_pass_begin(&p, h->ni->ln, LNET_PASS_DRIVER);
		land_now(&p, h->rx, h->m);
		unhold(h);
		lnet_pass_end(&p);
		return true;
	}
	list_for_each_entry_safe(h, next, &rails.landing, link) {
		if (!h->stopped)
			continue;
		lnet_pass_begin(&p, h->ni->ln, LNET_PASS_DRIVER);
		lnet_rx_done(&p, h->rx, LNET_STOPPED);
		unhold(h);
		lnet_pass_end(&p);
		return true;
	}
	return any;
}

void rails_land(unsigned int nth, enum lnet_outcome how)
{
	struct lnet_pass p;
	struct held *h;

	list_for_each_entry(h, &rails.landing, link) {
		if (nth--)
			continue;
		lnet_pass_begin(&p, h->ni->ln, LNET_PASS_DRIVER);
		if (how == LNET_OK)
			land_now(&p, h->rx, h->m);
		else
			lnet_rx_done(&p, h->rx, how);
		unhold(h);
		lnet_pass_end(&p);
		return;
	}
	CU_FAIL("no such landing");
}

static void gone(struct held *h)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, h->ni->ln, LNET_PASS_DRIVER);
	if (!h->verdict && lnet_rx_gone(&p, h->rx)) {
		unhold(h);
	} else if (h->verdict) {
		lnet_rx_done(&p, h->rx, LNET_LOCAL_ABORTED);
		unhold(h);
	}
	lnet_pass_end(&p);
}

void rails_gone(unsigned int nth)
{
	struct held *h;

	list_for_each_entry(h, &rails.waiting, link)
		if (!nth--) {
			gone(h);
			return;
		}
	CU_FAIL("no such message");
}

/* ---- driver: interfaces ---------------------------------------------------------------------- */

static int rails_start(struct lnet_ni *ni)
{
	return 0;
}

/* Closes the connection of a message waiting at @ni, perhaps of others. False if none. */
static bool first_gone(struct lnet_ni *ni)
{
	unsigned int before = rails_count(&rails.waiting);
	struct held *h, *next;

	list_for_each_entry_safe(h, next, &rails.waiting, link) {
		if (h->ni != ni)
			continue;
		gone(h);
		if (rails_count(&rails.waiting) != before)
			return true;
	}
	return false;
}

static void rails_stop(struct lnet_ni *ni)
{
	struct held *h, *next;
	struct lnet_pass p;

	give_list(&rails.kept, ni, LNET_CANCELED);
	give_list(&rails.posted, ni, LNET_ABORTED);
	while (first_gone(ni)) {}
	list_for_each_entry_safe(h, next, &rails.landing, link) {
		if (h->ni != ni)
			continue;
		lnet_pass_begin(&p, ni->ln, LNET_PASS_DRIVER);
		lnet_rx_done(&p, h->rx, LNET_LOCAL_ABORTED);
		unhold(h);
		lnet_pass_end(&p);
	}
}

static void rails_flush(struct lnet_pass *p, struct lnet_ni *ni)
{
	rails.nr_bells++;
}

const struct lnet_lnd_ops rails_ops = {
	.name = "rails", .type = LNET_LND_TCP, .inline_max = 4096, .peer_timeout = 180,
	.peer_credits = 8, .credits = 256, .ni_start = rails_start, .ni_stop = rails_stop,
	.send = rails_send, .flush = rails_flush, .cancel = rails_cancel, .receive = rails_op_land,
	.rx_stop = rails_rx_stop,
};

void rails_lost(unsigned int from, unsigned int to, unsigned int rail, enum lnet_outcome how)
{
	struct lnet_peer_ni *pni = pni_of(from, to, rail);
	struct lnet_pass p;

	rails.epoch[from][rail]++;
	lnet_pass_begin(&p, rails.node[from].ln, LNET_PASS_DRIVER);
	lnet_path_lost(&p, rails_ni(from, rail), pni, rails.epoch[from][rail], how);
	lnet_pass_end(&p);
	lnet_peer_ni_put(pni);
}

void rails_link(unsigned int node, unsigned int rail, bool up)
{
	lnet_ni_link(rails_ni(node, rail), &(struct lnet_link){ .up = up });
}
