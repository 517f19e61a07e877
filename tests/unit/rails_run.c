/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The nodes of tests that need more than one: time, requests, begin and end. */
#include "rails.h"
#include "base/base.h"

/* Tests of memory shortage let one allocation fail, so a second call succeeds. */
#define ENOUGH(call)				\
	({					\
		int rc_ = (call);		\
						\
		rc_ == -ENOMEM ? (call) : rc_;	\
	})

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
			if (!kicked && lnet_shard_next_ns(n->ln, s) > rails_clock(i))
				continue;
			lnet_shard_work(n->ln, s);
			any = true;
		}
	}
	return any;
}

/*
 * Runs until no work is due, with a bound on the steps, as some requests follow each other without
 * end. The bound is larger for tests whose on_carry() moves the clock.
 */
void rails_pump(void)
{
	unsigned int left = rails.on_carry ? 20000 : 2000;
	bool any = true;

	while (any && left--) {
		any = !list_empty(&rails.wire);
		if (any)
			rails_deliver();
		any |= rails_landings();
		any |= work();
	}
}

static u64 next_ns(void)
{
	u64 next = U64_MAX;
	unsigned int i, s;

	for (i = 0; i < RAILS_NODES; i++)
		for (s = 0; rails.node[i].ln && s < lnet_nr_shards(rails.node[i].ln); s++)
			next = min(next, lnet_shard_next_ns(rails.node[i].ln, s) -
					 rails.ahead_ns[i]);
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

/* The errno of the outcome. Without a connection, it states why there is none. */
static bool is_status_of(const struct lnet_event *ev)
{
	return ev->status == lnet_outcomes[ev->outcome].err ||
	       (ev->outcome == LNET_REMOTE_DROPPED &&
		(ev->status == -ECONNREFUSED || ev->status == -ECONNRESET ||
		 ev->status == -ETIMEDOUT));
}

static void count_own(struct rails_req *r, const struct lnet_event *ev)
{
	r->nr_sent += ev->kind == LNET_EVENT_SEND;
	if (!ev->final)
		return;
	r->nr_final++;
	r->status = ev->status;
	r->unknown = ev->delivery_unknown;
	UNIT_EQUAL(is_status_of(ev), true, "its outcome's status");
	r->kind = ev->kind;
	r->mlength = ev->mlength;
	r->latency_ns = ev->latency_ns;
	r->end_ns = rails.now_ns;
	rails_order('!');
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
	if ((ev->kind == LNET_EVENT_PUT || ev->kind == LNET_EVENT_GET) &&
	    ev->match_bits < RAILS_TAGS) {
		rails.req[ev->match_bits].nr_effects += ev->status == 0;
		rails.req[ev->match_bits].nr_target++;
		rails_order(ev->kind == LNET_EVENT_PUT ? 'P' : 'G');
	}
}

static bool has_rail(unsigned int ix, unsigned int rail)
{
	if (rails.cfg.nids)
		return rails.cfg.nids[ix][rail];
	if (rails.cfg.one_rail)
		return rail == 0;
	if (!rails.cfg.behind || (ix && ix < rails.cfg.nr_nodes - 1))
		return true;
	return rail == (ix ? 1 : 0);
}

void rails_xfer(struct lnet_xfer *x, u64 tag)
{
	lnet_xfer_init(x);
	x->md = rails.node[0].md;
	x->target.nid = rails_nid(1, 0);
	x->portal = RAILS_PORTAL;
	x->length = 8;
	x->match_bits = x->hdr_data = tag;
	x->op_ptr = (void *)(unsigned long)tag;
}

static unsigned int submit(unsigned int from, unsigned int to, u32 len, u32 flags, u64 timeout_ns,
			   int (*fn)(struct lnet *ln, const struct lnet_xfer *x))
{
	struct rails_node *n = &rails.node[from];
	unsigned int tag = ++rails.nr_tags;
	struct lnet_xfer x;

	CU_ASSERT_FATAL(tag < RAILS_TAGS);
	rails_xfer(&x, tag);
	x.md = n->md;
	x.target.nid = rails_nid(to, !has_rail(to, 0));
	x.flags = flags;
	x.length = len;
	x.timeout_ns = timeout_ns;
	rails.req[tag].started_ns = rails.now_ns;
	UNIT_EQUAL(ENOUGH(fn(n->ln, &x)), 0, "a request");
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
	unsigned int nr = 0;
	lnet_me_t me;
	int err;

	md.options = options | LNET_MD_TRUNCATE | LNET_MD_MANAGE_REMOTE;
	/* If the MD cannot be attached, its match entry is freed. */
	do {
		err = ENOUGH(lnet_me_attach(n->ln, RAILS_PORTAL, &any, 0, ~0ULL, LNET_RETAIN,
					    LNET_INS_AFTER, &me));
		UNIT_EQUAL(err, 0, "an entry");
		err = lnet_md_attach(n->ln, me, &md, LNET_RETAIN, &n->target);
	} while (err == -ENOMEM && nr++ < 1);
	UNIT_EQUAL(err, 0, "a buffer");
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void add_peers(unsigned int ix)
{
	unsigned int i, nr = rails.cfg.single || rails.cfg.one_rail ? 0 : 1;

	if ((rails.cfg.apart && ix) || rails.cfg.behind || rails.cfg.strangers)
		return;
	for (i = 0; i < rails.cfg.nr_nodes; i++) {
		struct lnet_nid primary = rails_nid(i, 0), other = rails_nid(i, 1);

		if (i != ix)
			UNIT_EQUAL(ENOUGH(lnet_peer_add(rails.node[ix].ln, &primary, &other, nr,
							!rails.cfg.single)), 0, "a peer");
	}
}

void rails_node_start(unsigned int ix)
{
	struct rails_node *n = &rails.node[ix];
	struct lnet_cfg cfg = { .env = &n->env, .nr_shards = rails.cfg.nr_shards };
	static u8 large[LNET_LARGE + 1];
	struct lnet_md_cfg md = { .start = n->src, .length = RAILS_MEM, .cpt = -1, .user_ptr = n,
				  .threshold = LNET_THRESHOLD_INF, .handler = handler };
	struct lnet_ni_cfg ni;
	unsigned int r;

	if (rails.cfg.large) {
		md.start = large;
		md.length = sizeof(large);
	}
	n->env.ops = &rails_env_ops;
	n->ix = ix;
	CU_ASSERT_FATAL(ENOUGH(lnet_create(&n->ln, &cfg)) == 0);
	CU_ASSERT_FATAL(ENOUGH(lnet_lnd_register(n->ln, &rails_ops)) == 0);
	UNIT_EQUAL(lnet_tunable_set(n->ln, "discovery", rails.cfg.discover), 0, "discovery");
	for (r = 0; r < RAILS_RAILS; r++) {
		if (!has_rail(ix, r))
			continue;
		lnet_ni_cfg_init(&ni);
		ni.nid = rails_nid(ix, r);
		if (rails.cfg.peer_credits)
			ni.peer_credits = rails.cfg.peer_credits;
		if (rails.cfg.credits)
			ni.credits = rails.cfg.credits;
		CU_ASSERT_FATAL(ENOUGH(lnet_ni_add(n->ln, &ni)) == 0);
	}
	add_peers(ix);
	CU_ASSERT_FATAL(ENOUGH(lnet_md_bind(n->ln, &md, LNET_RETAIN, &n->md)) == 0);
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
	CU_ASSERT(list_empty(&pni->rtr_wait[0]) && list_empty(&pni->rtr_wait[1]));
	CU_ASSERT(list_empty(&pni->rtr_held));
	list_for_each_entry(path, &pni->paths, link) {
		UNIT_EQUAL(path->nr_wire, 0, "nothing with a driver");
		UNIT_EQUAL(path->nr_large, 0, "no turn is taken");
		CU_ASSERT(list_empty(&path->await_reply) && list_empty(&path->large_queue));
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
		rails_msg_free(list_first_entry(list, struct rails_msg, link));
}

/* True if a request lacks its final event. */
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
