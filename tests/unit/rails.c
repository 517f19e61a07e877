/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The nodes of tests that need more than one: clock, driver, messages. */
#include "rails.h"

struct rails rails;

/* What the driver keeps of an attempt or a landing. */
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
	return rails.now_ns;
}

static u64 env_random(struct lnet_env *env)
{
	u64 x = rails.random += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static void env_kick(struct lnet_env *env, unsigned int shard)
{
	container_of(env, struct rails_node, env)->nr_kicks++;
}

static void env_arm(struct lnet_env *env, unsigned int shard)
{
	container_of(env, struct rails_node, env)->nr_arms++;
}

static const struct lnet_env_ops env_ops = {
	.now_ns = env_now, .random = env_random, .kick = env_kick, .arm = env_arm,
};

/* ---- names ----------------------------------------------------------------------------------- */

struct lnet_nid rails_nid(unsigned int node, unsigned int rail)
{
	struct lnet_nid nid;
	char text[32];

	snprintf(text, sizeof(text), rail ? "10.1.0.%u@tcp1" : "10.0.0.%u@tcp", node + 1);
	CU_ASSERT_FATAL(lnet_nid_parse(&nid, text) == 0);
	return nid;
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
	if (op->flags & LNET_OPF_INTERNAL && lnet_op_request(op))
		return RAILS_CORE;
	/* The answer to a ping or an opening has a copy and no entry. */
	if (op->type == LNET_OP_REPLY && op->copy && !op->entry)
		return RAILS_CORE;
	return op->type;
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
	if (buf.len)
		lnet_buf_read(&buf, 0, m->data, buf.len);
	UNIT_EQUAL(buf.len, m->len, "payload as the header says");
	m->type = type_of(att->op);
	m->to = -1;
	place_of(&m->hdr.src_nid, &m->from, &m->rail);
	place_of(&m->hdr.dest_nid, &m->to, &rail);
	return m;
}

static void msg_free(struct rails_msg *m)
{
	list_del_init(&m->link);
	free(m->data);
	free(m);
}

static struct rails_msg *msg_copy(const struct rails_msg *m)
{
	struct rails_msg *copy = calloc(1, sizeof(*copy));

	*copy = *m;
	INIT_LIST_HEAD(&copy->link);
	copy->data = malloc(m->len + 1);
	memcpy(copy->data, m->data, m->len);
	return copy;
}

void rails_again(const struct rails_msg *m)
{
	list_add_tail(&msg_copy(m)->link, &rails.wire);
}

static void order_add(char c)
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
		msg_free(h->m);
	free(h);
}

static void note_sent(const struct lnet_att *att, const struct rails_msg *m)
{
	u64 tag = (u64)(unsigned long)att->op->op_ptr;

	if (m->type != RAILS_CORE) {
		rails.last = *m;
		rails.last.data = NULL;
	}
	if (lnet_op_request(att->op) && tag < RAILS_TAGS && m->type != RAILS_CORE) {
		rails.req[tag].nr_attempts++;
		rails.req[tag].on_rail[m->rail]++;
	}
	rails.nr_carried[m->type]++;
	order_add("apgrc"[m->type]);
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
		msg_free(m);
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
		lnet_att_done(p, att, fate == FATE_CONFIRM ? LNET_CONFIRMED : LNET_OK, epoch);
	}
}

static int rails_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct rails_msg *m = msg_new(att);
	struct rails_rule *r = rule_of(m);

	CU_ASSERT(att->deadline_ns >= rails.now_ns && att->deadline_ns <= att->op->deadline_ns);
	if (r && r->fate == FATE_REFUSE) {
		att->outcome = r->how;
		msg_free(m);
		return -EIO;
	}
	note_sent(att, m);
	if (r && r->fate == FATE_FAIL) {
		lnet_att_done(p, att, r->how, 0);
		msg_free(m);
	} else if (r && r->fate == FATE_KEEP) {
		hold(&rails.kept, ni, m)->att = att;
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

/* Gives back all of @ni (NULL: of all). */
static void give_list(struct list_head *list, struct lnet_ni *ni, enum lnet_outcome how)
{
	struct held *h, *next;
	struct lnet_pass p;

	list_for_each_entry_safe(h, next, list, link) {
		struct lnet_att *att = h->att;

		if (ni && h->ni != ni)
			continue;
		lnet_pass_begin(&p, h->ni->ln, LNET_PASS_DRIVER);
		lnet_att_done(&p, att, how, h->epoch);
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
	if (rx->want)
		lnet_buf_write(&rx->into, 0, m->data, rx->want);
	lnet_rx_done(p, rx, LNET_OK);
}

static void deliver_to(struct rails_node *n, struct rails_msg *m)
{
	struct lnet_ni *ni = lnet_ni_find(n->ln, &m->hdr.dest_nid);
	struct lnet_peer_ni *from = lnet_peer_ni_get(n->ln, &m->hdr.src_nid);
	enum lnet_verdict v;
	struct lnet_pass p;
	struct lnet_rx *rx;
	struct held *h;

	if (!ni || !from) {
		lnet_ni_put(ni);
		lnet_peer_ni_put(from);
		msg_free(m);
		return;
	}
	lnet_pass_begin(&p, n->ln, LNET_PASS_DRIVER);
	rx = lnet_rx_get(&p);
	v = lnet_rx_begin(&p, ni, rx, &m->hdr, from);
	if (v == LNET_LAND && m->half) {
		h = hold(&rails.landing, ni, m);
		h->rx = rx;
		lnet_buf_write(&rx->into, 0, m->data, rx->want / 2);
	} else if (v == LNET_LAND) {
		land_now(&p, rx, m);
		msg_free(m);
	} else if (v == LNET_LATER) {
		hold(&rails.waiting, ni, m)->rx = rx;
	} else {
		msg_free(m);
	}
	lnet_pass_end(&p);
	lnet_peer_ni_put(from);
	lnet_ni_put(ni);
}

/* A stock node drops requests to portals it does not have and says nothing of the extension. */
static bool stock_drops(struct rails_msg *m)
{
	u32 portal = m->hdr.type == LNET_MSG_PUT ? m->hdr.msg.put.ptl_index :
		     m->hdr.type == LNET_MSG_GET ? m->hdr.msg.get.ptl_index : 0;

	if (rails.node[m->from].stock && m->type == RAILS_CORE && m->hdr.type == LNET_MSG_REPLY &&
	    m->len >= 8)
		put_unaligned_le32(get_unaligned_le32(m->data + 4) & ~LNET_FEAT_OPEN, m->data + 4);
	return rails.node[m->to].stock && portal >= LNET_PORTAL_MARK;
}

static void deliver_next(void)
{
	struct rails_msg *m = list_first_entry(&rails.wire, struct rails_msg, link);

	list_del_init(&m->link);
	if (m->to < 0 || !rails.node[m->to].ln || stock_drops(m))
		msg_free(m);
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

/* What may land now that a buffer came, what was stopped. */
static bool landings(void)
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

static void rails_stop(struct lnet_ni *ni)
{
	struct held *h, *next;
	struct lnet_pass p;

	give_list(&rails.kept, ni, LNET_CANCELED);
	give_list(&rails.posted, ni, LNET_ABORTED);
	list_for_each_entry_safe(h, next, &rails.waiting, link)
		if (h->ni == ni)
			gone(h);
	list_for_each_entry_safe(h, next, &rails.landing, link) {
		if (h->ni != ni)
			continue;
		lnet_pass_begin(&p, ni->ln, LNET_PASS_DRIVER);
		lnet_rx_done(&p, h->rx, LNET_LOCAL_ABORTED);
		unhold(h);
		lnet_pass_end(&p);
	}
}

static const struct lnet_lnd_ops rails_ops = {
	.name = "rails", .type = LNET_LND_TCP, .inline_max = 4096, .peer_timeout = 180,
	.peer_credits = 8, .credits = 256, .ni_start = rails_start, .ni_stop = rails_stop,
	.send = rails_send, .cancel = rails_cancel, .land = rails_op_land, .rx_stop = rails_rx_stop,
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
	struct lnet_link link = { .up = up };

	lnet_ni_link(rails_ni(node, rail), &link);
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool work(void)
{
	bool any = false;
	unsigned int i, s;

	for (i = 0; i < RAILS_NODES; i++) {
		struct rails_node *n = &rails.node[i];
		bool kicked = n->nr_kicks;

		n->nr_kicks = 0;
		for (s = 0; n->ln && s < lnet_nr_shards(n->ln); s++) {
			if (!kicked && lnet_shard_next_ns(n->ln, s) > rails.now_ns)
				continue;
			lnet_shard_work(n->ln, s, LNET_EVENTS_PER_PASS);
			any = true;
		}
	}
	return any;
}

void rails_pump(void)
{
	unsigned int left = 200000;
	bool any = true;

	while (any && left--) {
		any = !list_empty(&rails.wire);
		if (any)
			deliver_next();
		any |= landings();
		any |= work();
	}
	CU_ASSERT(left > 0);
}

static u64 next_ns(void)
{
	u64 next = U64_MAX;
	unsigned int i, s;

	for (i = 0; i < RAILS_NODES; i++)
		for (s = 0; rails.node[i].ln && s < lnet_nr_shards(rails.node[i].ln); s++)
			next = min(next, lnet_shard_next_ns(rails.node[i].ln, s));
	return next;
}

void rails_run(u64 ns)
{
	u64 end = rails.now_ns + ns, next;

	for (;;) {
		rails_pump();
		next = next_ns();
		if (next > end)
			break;
		rails.now_ns = max(next, rails.now_ns + 1);
	}
	rails.now_ns = end;
	rails_pump();
}

void rails_release(void)
{
	list_splice_tail_init(&rails.delayed, &rails.wire);
	rails_pump();
}

/* ---- requests -------------------------------------------------------------------------------- */

static void count_own(struct rails_req *r, const struct lnet_event *ev)
{
	r->nr_sent += ev->kind == LNET_EVENT_SEND;
	if (!ev->final)
		return;
	r->nr_final++;
	r->status = ev->status;
	r->perhaps = ev->perhaps;
	r->kind = ev->kind;
	r->mlength = ev->mlength;
	r->latency_ns = ev->latency_ns;
	r->end_ns = rails.now_ns;
	order_add('!');
}

static void handler(const struct lnet_event *ev)
{
	struct rails_node *n = ev->user_ptr;
	u64 tag = (u64)(unsigned long)ev->op_ptr;

	if (rails.on_event)
		rails.on_event(n, ev);
	if (tag && tag < RAILS_TAGS) {
		count_own(&rails.req[tag], ev);
		return;
	}
	if ((ev->kind == LNET_EVENT_PUT || ev->kind == LNET_EVENT_GET) && ev->match_bits < RAILS_TAGS) {
		rails.req[ev->match_bits].nr_effects += ev->status == 0;
		rails.req[ev->match_bits].nr_target++;
		order_add(ev->kind == LNET_EVENT_PUT ? 'P' : 'G');
	}
}

static unsigned int submit(unsigned int from, unsigned int to, u32 len, u32 flags, u64 timeout_ns,
			   int (*fn)(struct lnet *ln, const struct lnet_xfer *x))
{
	struct rails_node *n = &rails.node[from];
	unsigned int tag = ++rails.nr_tags;
	struct lnet_xfer x;

	CU_ASSERT_FATAL(tag < RAILS_TAGS);
	lnet_xfer_init(&x);
	x.md = n->md;
	x.target.nid = rails_nid(to, 0);
	x.portal = RAILS_PORTAL;
	x.match_bits = x.hdr_data = tag;
	x.flags = flags;
	x.length = len;
	x.timeout_ns = timeout_ns;
	x.op_ptr = (void *)(unsigned long)tag;
	rails.req[tag].started_ns = rails.now_ns;
	UNIT_EQUAL(fn(n->ln, &x), 0, "a request");
	return tag;
}

unsigned int rails_put(unsigned int from, unsigned int to, u32 len, u32 flags, u64 timeout_ns)
{
	return submit(from, to, len, flags, timeout_ns, lnet_put);
}

unsigned int rails_get(unsigned int from, unsigned int to, u32 len, u64 timeout_ns)
{
	return submit(from, to, len, 0, timeout_ns, lnet_get);
}

void rails_attach(unsigned int node, u32 options)
{
	struct rails_node *n = &rails.node[node];
	struct lnet_md_cfg md = { .start = n->dst, .length = RAILS_MEM, .cpt = -1, .user_ptr = n,
				  .threshold = LNET_THRESHOLD_INF, .handler = handler };
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	lnet_me_t me;

	md.options = options | LNET_MD_TRUNCATE | LNET_MD_MANAGE_REMOTE;
	UNIT_EQUAL(lnet_me_attach(n->ln, RAILS_PORTAL, &any, 0, ~0ULL, LNET_RETAIN, LNET_INS_AFTER,
				  &me), 0, "an entry");
	UNIT_EQUAL(lnet_md_attach(n->ln, me, &md, LNET_RETAIN, &n->target), 0, "a buffer");
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void add_peers(unsigned int ix)
{
	unsigned int i, nr = rails.cfg.single || rails.cfg.one_rail ? 0 : 1;

	for (i = 0; i < rails.cfg.nr_nodes; i++) {
		struct lnet_nid primary = rails_nid(i, 0), other = rails_nid(i, 1);

		if (i != ix)
			UNIT_EQUAL(lnet_peer_add(rails.node[ix].ln, &primary, &other, nr,
						 !rails.cfg.single), 0, "a peer");
	}
}

void rails_node_start(unsigned int ix)
{
	struct rails_node *n = &rails.node[ix];
	struct lnet_cfg cfg = { .env = &n->env, .nr_shards = rails.cfg.nr_shards };
	struct lnet_md_cfg md = { .start = n->src, .length = RAILS_MEM, .cpt = -1, .user_ptr = n,
				  .threshold = LNET_THRESHOLD_INF, .handler = handler };
	struct lnet_ni_cfg ni;
	unsigned int r;

	n->env.ops = &env_ops;
	n->ix = ix;
	CU_ASSERT_FATAL(lnet_create(&n->ln, &cfg) == 0);
	CU_ASSERT_FATAL(lnet_lnd_register(n->ln, &rails_ops) == 0);
	for (r = 0; r < (rails.cfg.one_rail ? 1 : RAILS_RAILS); r++) {
		lnet_ni_cfg_init(&ni);
		ni.nid = rails_nid(ix, r);
		if (rails.cfg.peer_credits)
			ni.peer_credits = rails.cfg.peer_credits;
		if (rails.cfg.credits)
			ni.credits = rails.cfg.credits;
		CU_ASSERT_FATAL(lnet_ni_add(n->ln, &ni) == 0);
	}
	add_peers(ix);
	CU_ASSERT_FATAL(lnet_md_bind(n->ln, &md, LNET_RETAIN, &n->md) == 0);
	for (r = 0; r < RAILS_MEM; r++)
		n->src[r] = (u8)(r * 7 + ix);
	if (!rails.cfg.no_buffers)
		rails_attach(ix, LNET_MD_OP_PUT | LNET_MD_OP_GET);
}

void rails_node_stop(unsigned int ix)
{
	lnet_destroy(rails.node[ix].ln);
	rails.node[ix].ln = NULL;
}

void rails_restart(unsigned int ix)
{
	rails_node_stop(ix);
	rails_node_start(ix);
	rails_pump();
}

void rails_begin(const struct rails_cfg *cfg)
{
	struct list_head *lists[] = { &rails.wire, &rails.delayed, &rails.kept, &rails.posted,
				      &rails.waiting, &rails.landing };
	unsigned int i;

	memset(&rails, 0, sizeof(rails));
	if (cfg)
		rails.cfg = *cfg;
	rails.cfg.nr_nodes = rails.cfg.nr_nodes ? rails.cfg.nr_nodes : 2;
	rails.now_ns = 10 * NSEC_PER_SEC;
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		INIT_LIST_HEAD(lists[i]);
	for (i = 0; i < rails.cfg.nr_nodes; i++)
		rails_node_start(i);
	if (rails.cfg.quiet)
		return;
	i = rails_get(0, 1, 8, 0);
	rails_get(1, 0, 8, 0);
	rails_run(50 * RAILS_MS);
	UNIT_EQUAL(rails.req[i].nr_final + rails.req[i + 1].nr_final, 2, "warm-up");
	rails.order[0] = 0;
	memset(rails.nr_carried, 0, sizeof(rails.nr_carried));
}

static void check_pni(const struct lnet_peer_ni *pni)
{
	struct lnet_path *path;

	if (pni->max_credits)
		UNIT_EQUAL(pni->credits, pni->max_credits, "peer credits are back");
	UNIT_EQUAL(pni->nr_wait, 0, "nobody waits for the peer");
	list_for_each_entry(path, &pni->paths, link) {
		UNIT_EQUAL(path->nr_wire, 0, "nothing with a driver");
		CU_ASSERT(list_empty(&path->asked));
	}
}

static void check_node(struct lnet *ln)
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	struct lnet_ni *ni;
	unsigned int s;

	UNIT_EQUAL(lnet_ops_idle(ln), true, "no operation is left");
	list_for_each_entry(ni, &ln->nis, link)
		for (s = 0; s < ln->nr_shards; s++) {
			if (ln->nr_shards == 1)
				UNIT_EQUAL(ni->sh[s].credits, ni->credits, "NI credits are back");
			UNIT_EQUAL(ni->sh[s].holds, 0, "holds are back");
		}
	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer))
		list_for_each_entry(pni, &peer->pnis, link)
			check_pni(pni);
}

static void drop_messages(struct list_head *list)
{
	while (!list_empty(list))
		msg_free(list_first_entry(list, struct rails_msg, link));
}

/* Long enough for whatever waits, whatever it waits for. */
static bool unfinished(void)
{
	unsigned int i;

	for (i = 1; i <= rails.nr_tags; i++)
		if (!rails.req[i].nr_final)
			return true;
	return false;
}

void rails_end(void)
{
	unsigned int i;

	if (unfinished())
		rails_run(20 * NSEC_PER_SEC);
	rails_clear();
	drop_messages(&rails.delayed);
	rails_give(LNET_ABORTED);
	while (!list_empty(&rails.landing))
		rails_land(0, LNET_LOCAL_ABORTED);
	rails_run(7 * NSEC_PER_SEC);
	for (i = 0; i < RAILS_NODES; i++)
		if (rails.node[i].ln)
			check_node(rails.node[i].ln);
	for (i = 0; i < RAILS_NODES; i++)
		if (rails.node[i].ln)
			rails_node_stop(i);
	drop_messages(&rails.wire);
	drop_messages(&rails.delayed);
	for (i = 1; i <= rails.nr_tags; i++)
		UNIT_EQUAL(rails.req[i].nr_final, 1, "one final event");
	CU_ASSERT(list_empty(&rails.kept) && list_empty(&rails.posted));
	CU_ASSERT(list_empty(&rails.waiting) && list_empty(&rails.landing));
}
