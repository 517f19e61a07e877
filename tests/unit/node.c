/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The node of unit tests, with its clock and its driver. */
#include "node.h"
#include "shard/shard.h"
#include "xfer/xfer.h"

struct fake_env node_env;
struct fake_lnd fake_lnd;

static u64 fake_now(struct lnet_env *env)
{
	return container_of(env, struct fake_env, env)->now_ns;
}

static u64 fake_random(struct lnet_env *env)
{
	return container_of(env, struct fake_env, env)->random += 0x9e3779b97f4a7c15ULL;
}

static void fake_kick(struct lnet_env *env, unsigned int shard)
{
	container_of(env, struct fake_env, env)->nr_kicks++;
}

static void fake_arm(struct lnet_env *env, unsigned int shard)
{
}

void fake_env_init(struct fake_env *fake)
{
	static const struct lnet_env_ops ops = {
		.now_ns = fake_now, .random = fake_random, .secret = fake_random,
		.kick = fake_kick, .arm = fake_arm,
	};

	memset(fake, 0, sizeof(*fake));
	fake->env.ops = &ops;
	fake->now_ns = NSEC_PER_SEC;
}

static int fake_start(struct lnet_ni *ni)
{
	struct lnet_ni *found = lnet_ni_find(ni->ln, &ni->nid);

	fake_lnd.nr_starts++;
	fake_lnd.found_in_start = found;
	lnet_ni_put(found);
	return fake_lnd.start_error;
}

static void fake_stop(struct lnet_ni *ni)
{
	fake_lnd.nr_stops++;
	fake_lnd.state_in_stop = ni->state;
	if (fake_lnd.in_stop)
		fake_lnd.in_stop(ni);
}

static int fake_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	if (fake_lnd.loses) {
		lnet_att_posted(p, att, 1);
		lnet_att_done(p, att, LNET_OK, 1);
		return 0;
	}
	att->outcome = LNET_LOCAL_DROPPED;
	return -ECANCELED;
}

static void fake_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
			enum lnet_cancel how)
{
}

static void fake_rx(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
}

static void fake_gone(struct lnet_ni *ni, struct lnet_peer_ni *pni)
{
	fake_lnd.nr_gone++;
}

const struct lnet_lnd_ops fake_tcp_ops = {
	.name = "fake",
	.type = LNET_LND_TCP,
	.ni_priv_size = 16,
	.peer_timeout = 180,
	.peer_credits = 8,
	.peer_buffer_credits = 0,
	.credits = 256,
	.ni_start = fake_start,
	.ni_stop = fake_stop,
	.send = fake_send,
	.cancel = fake_cancel,
	.receive = fake_rx,
	.rx_stop = fake_rx,
	.peer_gone = fake_gone,
};

struct lnet *node_begin(unsigned int nr_shards)
{
	struct lnet_cfg cfg = { .env = &node_env.env, .nr_shards = nr_shards };
	struct lnet *ln = NULL;

	fake_env_init(&node_env);
	memset(&fake_lnd, 0, sizeof(fake_lnd));
	UNIT_EQUAL(lnet_create(&ln, &cfg), 0, "creating a node");
	if (!ln)
		abort();
	UNIT_EQUAL(lnet_lnd_register(ln, &fake_tcp_ops), 0, "registering its driver");
	return ln;
}

void node_end(struct lnet *ln)
{
	lnet_destroy(ln);
}

void node_work(struct lnet *ln)
{
	unsigned int i;

	for (i = 0; i < lnet_nr_shards(ln); i++)
		lnet_shard_work(ln, i);
}

static struct lnet_op *asked(struct lnet_shard *sh)
{
	struct lnet_op *op;

	list_for_each_entry(op, &sh->live, all)
		if (op->type == LNET_OP_GET && op->sbuf && lnet_op_is_idempotent(op) &&
		    op->binding == LNET_BIND_FIXED &&
		    !lnet_op_is_over(op))
			return op;
	return NULL;
}

static u32 info_of(const struct lnet_nid *nid, u8 *out, u32 room)
{
	struct lnet_pinginfo_ni ni = { .nid = *nid, .status = LNET_NI_UP };

	return (u32)lnet_pinginfo_encode(out, room, LNET_FEAT_MULTI_RAIL | LNET_FEAT_DISCOVERY,
					 LNET_PID, 1, &ni, 1);
}

static bool answer_one(struct lnet *ln, struct lnet_shard *sh, const void *info, u32 len,
		       bool (*refuses)(const struct lnet_nid *nid))
{
	struct lnet_pass p;
	struct lnet_op *op;

	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_enter(&p, sh);
	op = asked(sh);
	if (op && refuses && refuses(&op->target)) {
		op->mlength = info_of(&op->target, op->sbuf->data, op->len);
	} else if (op) {
		op->mlength = min(len, op->len);
		memcpy(op->sbuf->data, info, op->mlength);
	}
	if (op)
		lnet_op_replied(&p, op, NULL);
	lnet_pass_end(&p);
	node_work(ln);
	return op;
}

void node_answer(struct lnet *ln, const void *info, u32 len,
		 bool (*refuses)(const struct lnet_nid *nid))
{
	unsigned int i, nr = 0;

	for (i = 0; i < lnet_nr_shards(ln); i++)
		while (answer_one(ln, &ln->shard[i], info, len, refuses))
			CU_ASSERT_FATAL(nr++ < 1000);
	if (nr)
		node_answer(ln, info, len, refuses);
}

struct lnet_nid nid(const char *text)
{
	struct lnet_nid out;

	if (lnet_nid_parse(&out, text))
		UNIT_TEXT(text, "a NID", "NID in a test");
	return out;
}

int node_ni_add(struct lnet *ln, const char *nid_text)
{
	struct lnet_ni_cfg cfg;

	lnet_ni_cfg_init(&cfg);
	cfg.nid = nid(nid_text);
	return lnet_ni_add(ln, &cfg);
}

struct lnet_sbuf *node_list_from(unsigned int at, unsigned int nr, bool mixed, u32 *len)
{
	struct lnet_pinginfo_ni *nis = calloc(nr, sizeof(*nis));
	struct lnet_sbuf *c = lnet_sbuf_new(64 * nr);
	char text[48];
	unsigned int i;
	int rc;

	for (i = 0; i < nr; i++) {
		unsigned int k = at + i;

		if (mixed && (k & 1))
			snprintf(text, sizeof(text), "fd00::%x@tcp", k + 1);
		else
			snprintf(text, sizeof(text), "10.9.%u.%u@tcp", k / 200, k % 200 + 1);
		nis[i].nid = nid(text);
		nis[i].status = LNET_NI_UP;
	}
	rc = lnet_pinginfo_encode(c->data, 64 * nr, NODE_LIST_FEATURES, LNET_PID, 1, nis, nr);
	CU_ASSERT_FATAL(rc > 0);
	*len = (u32)rc;
	free(nis);
	return c;
}
