/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Light nodes: the calls of <lnet/lnet.h> that the self-test makes, over links that have a latency
 * and may lose messages. They retransmit nothing and select no path, so a node costs its self-test
 * and little else. Each node has its own clock, which is set wrong and drifts.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/sim/ground.h"

#define PORTAL_NONE	U32_MAX
#define HASH_BITS	18U
#define CHUNK		4096U		/* descriptors allocated at a time */
#define TIMEOUT_NS	(3ULL * NSEC_PER_SEC)	/* of a GET whose REPLY is not received */
#define BYTE_PS		800U		/* 10 Gbit/s */
#define HEADER		72U		/* bytes of a message in addition to its payload */
#define NO_MD		U32_MAX

struct md {
	u32 next, life;			/* next: in its chain, or in the list of free ones */
	struct lnet *ln;		/* NULL: free */
	u32 portal;			/* PORTAL_NONE: for the node's own requests */
	u64 bits, ignore;
	struct lnet_md_cfg cfg;
	u32 used;			/* bytes used in a buffer for many messages */
	bool pending;			/* an unanswered GET of this node */
};

struct lnet {				/* a node */
	struct lnet_env env;		/* first */
	struct light *l;
	struct sim_member *member;
	u32 ix;
	s64 offset_ns;
	s32 drift_ppm;
	u64 out_ns, in_ns;		/* when its link is free to send, to receive */
	struct sim_rng rng;
	u32 any;			/* chain of descriptors that ignore match bits */
	struct list_head waiting;	/* messages without a match yet */
	struct sim_traffic traffic;
};

enum kind { PUT, GET, REPLY };

struct message {
	struct list_head link;
	struct lnet *from, *to;
	enum kind kind;
	u32 portal, len, rlen;
	u64 bits, hdr_data, origin;
	u8 payload[];
};

struct due {				/* an event for a handler */
	struct lnet_event ev;
	lnet_handler_t handler;
};

struct light {
	struct sim_world *w;
	struct lnet *node;
	u32 nr_nodes;
	struct sim_rng rng;
	struct md **chunk;
	u32 nr_chunks, free;
	u32 hash[1U << HASH_BITS];
	struct due *ring;		/* ring buffer of events */
	u32 cap, head, nr;
	bool draining;
};

static struct light *the;		/* only one world exists at a time */
struct sim_light_cfg sim_light_cfg = { .near_ns = 5000, .far_ns = 50000, .jitter_ns = 2000,
				       .gap_ns = 500, .drift_ppm = 20 };

/* ---- descriptors ----------------------------------------------------------------------------- */

static struct md *md_at(u32 ix)
{
	return &the->chunk[ix / CHUNK][ix % CHUNK];
}

static u32 md_new(struct lnet *ln)
{
	struct md *md;
	u32 ix;

	if (the->free == NO_MD) {
		the->chunk = realloc(the->chunk, (the->nr_chunks + 1) * sizeof(*the->chunk));
		the->chunk[the->nr_chunks] = calloc(CHUNK, sizeof(struct md));
		if (!the->chunk[the->nr_chunks])
			abort();
		for (ix = 0; ix < CHUNK; ix++)
			the->chunk[the->nr_chunks][ix].next = ix + 1 == CHUNK ? NO_MD :
				the->nr_chunks * CHUNK + ix + 1;
		the->free = the->nr_chunks++ * CHUNK;
	}
	ix = the->free;
	md = md_at(ix);
	the->free = md->next;
	*md = (struct md){ .life = md->life + 1, .ln = ln, .next = NO_MD };
	return ix;
}

static u64 cookie_of(u32 ix)
{
	return (u64)md_at(ix)->life << 32 | ix;
}

/* NULL: it was freed. */
static struct md *md_of(u64 cookie)
{
	u32 ix = (u32)cookie;
	struct md *md = ix < the->nr_chunks * CHUNK ? md_at(ix) : NULL;

	return md && md->ln && md->life == cookie >> 32 ? md : NULL;
}

static u32 *chain_of(struct lnet *ln, u32 portal, u64 bits, u64 ignore)
{
	u64 hash = lnet_hash64(bits ^ lnet_hash64((u64)ln->ix << 32 | portal));

	return ignore ? &ln->any : &the->hash[hash >> (64 - HASH_BITS)];
}

/* Descriptors of a chain are in the order of their creation. */
static void chain_add(u32 *at, u32 ix)
{
	while (*at != NO_MD)
		at = &md_at(*at)->next;
	*at = ix;
}

static void md_free(u32 ix)
{
	struct md *md = md_at(ix);
	u32 *at;

	if (md->portal != PORTAL_NONE) {
		at = chain_of(md->ln, md->portal, md->bits, md->ignore);
		while (*at != ix)
			at = &md_at(*at)->next;
		*at = md->next;
	}
	md->ln = NULL;
	md->next = the->free;
	the->free = ix;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void drain(void)
{
	struct due due;

	if (the->draining)
		return;
	the->draining = true;
	while (the->nr) {
		due = the->ring[the->head];
		the->head = (the->head + 1) % the->cap;
		the->nr--;
		if (due.handler)
			due.handler(&due.ev);
	}
	the->draining = false;
}

static void drain_event(struct sim_world *w, void *arg, u64 num)
{
	drain();
}

static void ring_grow(void)
{
	u32 cap = the->cap ? 2 * the->cap : 256, i;
	struct due *ring = malloc(cap * sizeof(*ring));

	if (!ring)
		abort();
	for (i = 0; i < the->nr; i++)
		ring[i] = the->ring[(the->head + i) % the->cap];
	free(the->ring);
	the->ring = ring;
	the->cap = cap;
	the->head = 0;
}

/* Queues an event. The last event of a descriptor that accepts no more messages frees it. */
static void tell(struct md *md, u32 ix, const struct lnet_event *ev)
{
	struct due *due;

	if (the->nr == the->cap)
		ring_grow();
	if (!the->nr && !the->draining)
		sim_at(the->w, the->w->now_ns, drain_event, NULL, 0);
	due = &the->ring[(the->head + the->nr++) % the->cap];
	due->ev = *ev;
	due->ev.user_ptr = md->cfg.user_ptr;
	due->ev.md.cookie = cookie_of(ix);
	due->handler = md->cfg.handler;
	if (ev->unlinked)
		md_free(ix);
}

/* Has @md accepted its last message? */
static bool is_last(struct md *md)
{
	if (md->cfg.threshold != LNET_THRESHOLD_INF && !--md->cfg.threshold)
		return true;
	return md->cfg.options & LNET_MD_MAX_SIZE && md->cfg.length - md->used < md->cfg.max_size;
}

/* ---- links ----------------------------------------------------------------------------------- */

static void arrive(struct sim_world *w, void *arg, u64 num);

static u64 latency(const struct lnet *a, const struct lnet *b)
{
	u64 ns = a == b ? 1000 : (a->ix + 1) >> 8 == (b->ix + 1) >> 8 ? sim_light_cfg.near_ns :
							       sim_light_cfg.far_ns;

	if (sim_light_cfg.slow && a != b &&
	    (a->ix == sim_light_cfg.slow || b->ix == sim_light_cfg.slow))
		ns *= 10;
	return ns + sim_below(&the->rng, sim_light_cfg.jitter_ns + 1);
}

static void timed_out(struct sim_world *w, void *arg, u64 cookie)
{
	struct lnet_event ev = { .kind = LNET_EVENT_REPLY, .final = true, .unlinked = true,
				 .status = -ETIMEDOUT };
	struct md *md = md_of(cookie);

	if (!md || !md->pending)
		return;
	tell(md, (u32)cookie, &ev);
	drain();
}

/* The node that waits for the reply learns of the loss by the timeout. */
static void lose(struct message *msg)
{
	if (msg->kind != PUT)
		sim_at(the->w, the->w->now_ns + TIMEOUT_NS, timed_out, NULL, msg->origin);
	free(msg);
}

static void transmit(struct message *msg)
{
	struct lnet *from = msg->from, *to = msg->to;
	u32 bytes = HEADER + (msg->kind == GET ? 0 : msg->len);

	from->traffic.out++;
	from->traffic.bytes += bytes;
	from->out_ns = max(from->out_ns, the->w->now_ns) + sim_light_cfg.gap_ns +
		       bytes * BYTE_PS / 1000;
	the->w->count.messages++;
	if (from->member->dead ||
	    (from != to && sim_chance(&the->rng, sim_light_cfg.loss_permille)))
		lose(msg);
	else
		sim_at(the->w, from->out_ns + latency(from, to), arrive, msg, 0);
}

static struct message *message_new(struct lnet *from, struct lnet *to, enum kind kind, u32 len)
{
	struct message *msg = malloc(sizeof(*msg) + (kind == GET ? 0 : len));

	if (!msg)
		abort();
	*msg = (struct message){ .from = from, .to = to, .kind = kind, .len = len };
	INIT_LIST_HEAD(&msg->link);
	return msg;
}

/* ---- arrival --------------------------------------------------------------------------------- */

static struct lnet_event event_of(const struct message *msg, u8 kind)
{
	struct lnet_event ev = { .kind = kind, .final = true, .portal = msg->portal,
				 .rlength = msg->len, .match_bits = msg->bits,
				 .hdr_data = msg->hdr_data };

	sim_nid(&ev.initiator.nid, msg->from->ix, 0);
	ev.source = ev.sender = ev.initiator.nid;
	sim_nid(&ev.target.nid, msg->to->ix, 0);
	ev.initiator.pid = ev.target.pid = LNET_PID;
	return ev;
}

static u32 match(const struct message *msg)
{
	u32 option = msg->kind == GET ? LNET_MD_OP_GET : LNET_MD_OP_PUT;
	u32 ix = *chain_of(msg->to, msg->portal, msg->bits, 0);
	struct md *md;

	for (; ix != NO_MD; ix = md->next) {
		md = md_at(ix);
		if (md->ln == msg->to && md->portal == msg->portal && md->bits == msg->bits &&
		    md->cfg.options & option)
			return ix;
	}
	for (ix = msg->to->any; ix != NO_MD; ix = md->next) {
		md = md_at(ix);
		if (md->portal == msg->portal && md->cfg.options & option)
			return ix;
	}
	return NO_MD;
}

static void land(struct message *msg, u32 ix)
{
	struct md *md = md_at(ix);
	struct lnet_event ev = event_of(msg, LNET_EVENT_PUT);

	ev.offset = md->used;
	ev.mlength = min(msg->len, md->cfg.length - md->used);
	memcpy((u8 *)md->cfg.start + md->used, msg->payload, ev.mlength);
	if (md->cfg.options & LNET_MD_MAX_SIZE)
		md->used += ev.mlength;
	ev.unlinked = is_last(md);
	tell(md, ix, &ev);
	free(msg);
}

static void answer(struct message *msg, u32 ix)
{
	struct md *md = md_at(ix);
	struct lnet_event ev = event_of(msg, LNET_EVENT_GET);
	struct message *reply;

	ev.mlength = min(msg->len, md->cfg.length);
	reply = message_new(msg->to, msg->from, REPLY, ev.mlength);
	reply->origin = msg->origin;
	memcpy(reply->payload, md->cfg.start, ev.mlength);
	ev.unlinked = is_last(md);
	tell(md, ix, &ev);
	free(msg);
	transmit(reply);
}

static void replied(struct message *msg)
{
	struct lnet_event ev = event_of(msg, LNET_EVENT_REPLY);
	struct md *md = md_of(msg->origin);

	if (md && md->pending) {
		ev.mlength = min(msg->len, md->cfg.length);
		memcpy(md->cfg.start, msg->payload, ev.mlength);
		ev.unlinked = true;
		tell(md, (u32)msg->origin, &ev);
	}
	free(msg);
}

static void deliver(struct message *msg)
{
	u32 ix = msg->kind == REPLY ? NO_MD : match(msg);

	sim_trace(the->w, (u64)msg->from->ix << 32 | msg->to->ix, msg->bits ^ the->w->now_ns);
	msg->to->traffic.in++;
	msg->to->traffic.bytes += HEADER + (msg->kind == GET ? 0 : msg->len);
	if (msg->kind == REPLY)
		replied(msg);
	else if (ix == NO_MD && msg->kind == PUT &&
		 (msg->portal == LST_PORTAL_TEST || msg->portal == LST_PORTAL_FRAMEWORK))
		list_add_tail(&msg->link, &msg->to->waiting);
	else if (ix == NO_MD)
		lose(msg);
	else if (msg->kind == PUT)
		land(msg, ix);
	else
		answer(msg, ix);
	drain();
}

static void arrive(struct sim_world *w, void *arg, u64 waited)
{
	struct message *msg = arg;
	struct lnet *to = msg->to;

	if (to->member->dead) {
		lose(msg);
	} else if (!waited && to->in_ns > w->now_ns) {
		u64 at = to->in_ns;

		to->in_ns += sim_light_cfg.gap_ns;
		sim_at(w, at, arrive, msg, 1);
	} else {
		if (!waited)
			to->in_ns = w->now_ns + sim_light_cfg.gap_ns;
		deliver(msg);
	}
}

/* ---- the API --------------------------------------------------------------------------------- */

int lnet_me_attach(struct lnet *ln, u32 portal, const struct lnet_process *from, uint64_t bits,
		   uint64_t ignore, enum lnet_unlink unlink, enum lnet_ins_pos pos, lnet_me_t *me)
{
	u32 ix = md_new(ln);
	struct md *md = md_at(ix);

	md->portal = portal;
	md->bits = bits;
	md->ignore = ignore;
	chain_add(chain_of(ln, portal, bits, ignore), ix);
	me->cookie = cookie_of(ix);
	return 0;
}

/* Matches waiting messages with the new descriptor. */
static void retry(struct lnet *ln)
{
	struct message *msg, *next;
	u32 ix;

	list_for_each_entry_safe(msg, next, &ln->waiting, link) {
		ix = match(msg);
		if (ix == NO_MD)
			continue;
		list_del(&msg->link);
		land(msg, ix);
	}
}

int lnet_md_attach(struct lnet *ln, lnet_me_t me, const struct lnet_md_cfg *cfg,
		   enum lnet_unlink unlink, lnet_md_t *md)
{
	struct md *at = md_of(me.cookie);

	if (!at)
		return -ENOENT;
	at->cfg = *cfg;
	md->cookie = me.cookie;
	retry(ln);
	return 0;
}

int lnet_md_bind(struct lnet *ln, const struct lnet_md_cfg *cfg, enum lnet_unlink unlink,
		 lnet_md_t *md)
{
	u32 ix = md_new(ln);

	md_at(ix)->portal = PORTAL_NONE;
	md_at(ix)->cfg = *cfg;
	md->cookie = cookie_of(ix);
	return 0;
}

int lnet_md_unlink(struct lnet *ln, lnet_md_t handle)
{
	struct lnet_event ev = { .kind = LNET_EVENT_UNLINK, .unlinked = true };
	struct md *md = md_of(handle.cookie);

	if (!md)
		return -ENOENT;
	ev.final = md->pending;
	ev.status = md->pending ? -ECANCELED : 0;
	tell(md, (u32)handle.cookie, &ev);
	return 0;
}

int lnet_portal_lazy(struct lnet *ln, u32 portal, bool lazy)
{
	return 0;
}

void lnet_xfer_init(struct lnet_xfer *x)
{
	memset(x, 0, sizeof(*x));
	x->self = LNET_NID_ANY;
}

static struct lnet *node_of(const struct lnet_nid *nid)
{
	u32 node, rail;

	return sim_nid_where(nid, &node, &rail) && node < the->nr_nodes ? &the->node[node] : NULL;
}

static int request(struct lnet *ln, const struct lnet_xfer *x, enum kind kind)
{
	struct lnet_event ev = { .kind = LNET_EVENT_SEND, .final = true, .unlinked = true };
	struct lnet *to = node_of(&x->target.nid);
	struct md *md = md_of(x->md.cookie);
	struct message *msg;

	if (!md || !to)
		return md ? -EHOSTUNREACH : -ENOENT;
	msg = message_new(ln, to, kind, md->cfg.length);
	msg->portal = x->portal;
	msg->bits = x->match_bits;
	msg->hdr_data = x->hdr_data;
	msg->origin = x->md.cookie;
	if (kind == GET) {
		md->pending = true;
	} else {
		memcpy(msg->payload, md->cfg.start, md->cfg.length);
		ev.mlength = ev.rlength = md->cfg.length;
		tell(md, (u32)x->md.cookie, &ev);
	}
	transmit(msg);
	return 0;
}

int lnet_put(struct lnet *ln, const struct lnet_xfer *x)
{
	return request(ln, x, PUT);
}

int lnet_get(struct lnet *ln, const struct lnet_xfer *x)
{
	return request(ln, x, GET);
}

int lnet_get_id(struct lnet *ln, unsigned int index, struct lnet_process *id)
{
	if (index > 1)
		return -ENOENT;
	id->pid = LNET_PID;
	id->nid = LNET_NID_LO;
	if (index)
		sim_nid(&id->nid, ln->ix, 0);
	return 0;
}

int lnet_counter_get(const struct lnet *ln, const char *name, uint64_t *value)
{
	return -ENOENT;
}

int lnet_rail_get(struct lnet *ln, const struct lnet_nid *peer, unsigned int pos,
		  struct lnet_rail_info *info)
{
	return -ENOENT;
}

struct lnet_env *lnet_env_of(const struct lnet *ln)
{
	return (struct lnet_env *)&ln->env;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static u64 env_now(struct lnet_env *env)
{
	const struct lnet *ln = (const struct lnet *)env;
	s64 ns = (s64)the->w->now_ns;

	return (u64)(ns + ln->offset_ns + ns * ln->drift_ppm / 1000000);
}

static u64 true_ns(const struct sim_member *m, u64 ns)
{
	const struct lnet *ln = m->ln;
	s64 at = (s64)ns - ln->offset_ns;

	return (u64)(at - at * ln->drift_ppm / 1000000);
}

static u64 env_random(struct lnet_env *env)
{
	return sim_random(&((struct lnet *)env)->rng);
}

static const struct lnet_env_ops env_ops = {
	.now_ns = env_now, .random = env_random, .secret = env_random
};

/* ---- a ground -------------------------------------------------------------------------------- */

static int begin(struct sim_world *w, u64 seed, u32 nr_nodes)
{
	int rc = sim_world_init(w, seed, 1);

	if (rc)
		return rc;
	the = calloc(1, sizeof(*the));
	if (the)
		the->node = calloc(nr_nodes, sizeof(*the->node));
	if (!the || !the->node)
		return -ENOMEM;
	the->w = w;
	the->nr_nodes = nr_nodes;
	the->free = NO_MD;
	the->rng.state = lnet_hash64(seed + 77);
	memset(the->hash, 0xff, sizeof(the->hash));
	return 0;
}

static void end(struct sim_world *w)
{
	u32 i;

	for (i = 0; i < the->nr_chunks; i++)
		free(the->chunk[i]);
	free(the->chunk);
	free(the->ring);
	free(the->node);
	free(the);
	the = NULL;
	sim_world_fini(w);
}

static void tick(struct sim_world *w, void *arg, u64 due_ns)
{
	struct sim_member *m = arg;

	sim_member_tick(m, lst_work, due_ns);
	drain();
}

static void wake(struct sim_member *m)
{
	sim_at(m->w, m->due_ns, tick, m, m->due_ns);
}

static void arm(struct lst_host *host)
{
	struct sim_member *m = (struct sim_member *)host;

	m->due_ns = m->w->now_ns + 1;
	wake(m);
}

static int up(struct sim_world *w, struct sim_member *m, u32 nr_messages)
{
	struct lnet *ln = &the->node[m->ix];
	struct lst_cfg cfg = { .ln = ln, .host = &m->host, .nr_messages = nr_messages };
	u64 drift = sim_light_cfg.drift_ppm;

	m->w = w;
	m->ln = ln;
	m->ground = &sim_light;
	m->host.arm = arm;
	ln->env.ops = &env_ops;
	ln->l = the;
	ln->member = m;
	ln->ix = m->ix;
	ln->any = NO_MD;
	ln->rng.state = lnet_hash64(w->seed ^ lnet_hash64(m->ix + 1000));
	ln->offset_ns = (s64)sim_below(&ln->rng, 2 * NSEC_PER_SEC);
	ln->drift_ppm = (s32)sim_below(&ln->rng, 2 * drift + 1) - (s32)drift;
	INIT_LIST_HEAD(&ln->waiting);
	return lst_create(&m->st, &cfg);
}

static void kill_member(struct sim_member *m)
{
	m->dead = true;
}

static void stop(struct sim_member *m)
{
	m->dead = false;
	lst_stop(m->st);
}

static void free_member(struct sim_member *m)
{
	struct message *msg, *next;

	list_for_each_entry_safe(msg, next, &m->ln->waiting, link)
		free(msg);
	if (!lst_stopped(m->st))
		sim_fail(m->w, "node %u did not stop", m->ix);
	else
		lst_free(m->st);
}

static struct sim_traffic traffic(struct sim_member *m, bool reset)
{
	struct sim_traffic t = m->ln->traffic;

	if (reset)
		m->ln->traffic = (struct sim_traffic){ 0 };
	return t;
}

const struct sim_ground sim_light = {
	.name = "light", .begin = begin, .end = end, .up = up, .kill = kill_member,
	.wake = wake, .stop = stop, .free = free_member, .command = lst_command,
	.true_ns = true_ns, .traffic = traffic,
};
