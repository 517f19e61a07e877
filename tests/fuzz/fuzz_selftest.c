/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of the network self-test: any bytes as a message, and requests of all kinds to a node that
 * serves them. The bulk memory has any content. A decoded message encodes to the same bytes. No
 * request makes the node fail, and at the end it is free.
 *
 * Input: steps, each a byte and its arguments.
 */
#include <stdlib.h>
#include "fuzz.h"
#include "st_world.h"
#include "selftest/tree.h"

enum step { CODEC, ASK, RAW, RUN, ANSWERS, COMMAND, NR_STEPS };

#define STEPS_MAX	48
#define RUN_MAX_NS	(400ULL * NSEC_PER_SEC)
#define CARRY_MAX	(8U << 20)	/* bytes of an input; a message counts as 1000 more */

struct play {
	struct fuzz_in in;
	u64 ran_ns;
	struct lst_rpc rpc[STEPS_MAX];
	u8 list[STEPS_MAX][LST_PAGE];
	u8 tally[LST_TALLY_BYTES];
	unsigned int nr;
	lnet_md_t raw;
	u8 bytes[2 * LST_MSG_SIZE];
};

static void codec(struct play *play)
{
	size_t len = LST_MSG_SIZE + 1;
	u8 *bytes = fuzz_bytes(&play->in, &len), again[LST_MSG_SIZE];
	struct lst_msg msg, other;

	if (!lst_msg_decode(&msg, bytes, (u32)len)) {
		lst_msg_encode(again, &msg);
		BUG_ON(lst_msg_decode(&other, again, LST_MSG_SIZE));
		BUG_ON(memcmp(&msg, &other, sizeof(msg)));
	}
	lst_rpc_kind_of_req(msg.type);
	free(bytes);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void fill(struct play *play, struct lst_msg *req)
{
	u8 *body = (u8 *)&req->rpyid;
	u32 i, len = fuzz_u8(&play->in) % 64;

	for (i = 8; i < 8 + len; i++)
		body[i] = fuzz_u8(&play->in);
}

static void session_set(struct lst_msg *req)
{
	switch (req->type) {
	case LST_TEST_REQ:
		req->test_req.sid = st_sid;
		break;
	case LST_PING_REQ:
		req->ping_req.magic = LST_PING_MAGIC;
		break;
	case LST_BRW_REQ:
	case LST_DRILL_REQ:
		break;
	case LST_ADD_REQ:
	case LST_TALLY_REQ:
	case LST_TREE_ASK_REQ:
	case LST_TREE_TELL_REQ:
		req->add_req.sid = st_sid;
		break;
	default:
		/* All other requests have it behind the match bits. */
		req->make_session_req.sid = st_sid;
	}
}

/* Sets small and valid values more often than random bytes would contain them. */
static void test_set(struct play *play, struct lst_msg *req)
{
	u8 what = fuzz_u8(&play->in);
	struct lnet_nid nid = rails_nid(what & 1, 0);
	struct lst_dest dest = { lnet_nid_to_nid4(&nid), LNET_PID };

	req->test_req.bid = ST_BID;
	req->test_req.service = what & 2 ? LST_SERVICE_BRW : LST_SERVICE_PING;
	req->test_req.loop = what & 4 ? 40 : 3;
	req->test_req.concur = 1 + (what >> 3 & 1);
	req->test_req.is_client = !(what & 64);
	req->test_req.nr_dests = 1;
	req->test_req.stop_onerr = what >> 7;
	req->test_req.bytes_param = (struct lst_bytes_param){ 1 + (what >> 4 & 1),
							      1 + (what >> 5 & 1) * 2, 600, 8 };
	lst_dest_encode(play->list[play->nr], 0, &dest);
}

/* A test of ours: a small one, of which the input may change some bytes. */
static void plan_set(struct play *play, struct lst_msg *req)
{
	u8 what = fuzz_u8(&play->in), size = fuzz_u8(&play->in), i;
	u8 *list = play->list[play->nr];
	struct lst_run run = { { rails_nid(what & 1, 0), LNET_PID }, 1 };
	struct lst_plan plan;

	st_plan_init(&plan, what & 2 ? LST_WHAT_BULK : LST_WHAT_PING);
	plan.server = what >> 2 & 1;
	plan.mode = 1 + (what >> 3 & 3);
	plan.verify = 1 + (what >> 5 & 3);
	plan.stop_onerr = what >> 7;
	plan.size = LST_DRILL_MIN + 16 * size;
	plan.loop = 1 + size % 16;
	plan.concur = 1 + size % 3;
	plan.run = &run;
	plan.nr_runs = !plan.server;
	req->add_req.len = lst_plan_encode(&plan, list);
	for (i = fuzz_u8(&play->in) % 4; i; i--) {
		u16 at = fuzz_u16(&play->in);

		list[at % req->add_req.len] = fuzz_u8(&play->in);
	}
}

/* A request to a node of a tree, with a body that the node fetches or that the request contains. */
static void tree_set(struct play *play, struct lst_msg *req)
{
	u8 what = fuzz_u8(&play->in), head = fuzz_u8(&play->in);
	size_t len = fuzz_u16(&play->in) % LST_PAGE;
	u8 *bytes = fuzz_bytes(&play->in, &len);
	u32 asker = what & 128 ? LST_TREE_ROOT : 0;

	memcpy(play->list[play->nr], bytes, len);
	if (req->type == LST_TREE_ASK_REQ) {
		req->tree_ask_req.op = what % (LST_NR_TREE_OPS + 1);
		req->tree_ask_req.wave = head >> 4;
		req->tree_ask_req.head = head & 15;
		req->tree_ask_req.asker = asker;
		req->tree_ask_req.budget_ms = 1000;
		req->tree_ask_req.body_len = (u32)len;
	} else {
		req->tree_tell_req.wave = head >> 4;
		req->tree_tell_req.head = head & 15;
		req->tree_tell_req.asker = asker;
		req->tree_tell_req.len = (u32)len;
		len = min(len, sizeof(req->tree_tell_req.record));
		memcpy(req->tree_tell_req.record, bytes, len);
	}
	free(bytes);
}

static void on_done(struct lst_rpc *rpc)
{
	struct lst_msg rpy;

	lst_rpc_result(rpc, &rpy);
}

static void offer(struct play *play, struct lst_rpc *rpc, struct lst_msg *req)
{
	u16 len;

	rpc->bulk = play->list[play->nr];
	rpc->bulk_options = LNET_MD_OP_GET;
	switch (req->type) {
	case LST_ADD_REQ:
		rpc->bulk_len = min(req->add_req.len, LST_PAGE);
		req->add_req.bulkid = rpc->bulkid;
		return;
	case LST_TALLY_REQ:
		rpc->bulk = play->tally;
		rpc->bulk_len = sizeof(play->tally);
		rpc->bulk_options = LNET_MD_OP_PUT;
		req->tally_req.bulkid = rpc->bulkid;
		return;
	case LST_TREE_ASK_REQ:
		rpc->bulk_len = min(req->tree_ask_req.body_len, LST_PAGE);
		req->tree_ask_req.bulkid = rpc->bulkid;
		return;
	case LST_TREE_TELL_REQ:
		rpc->bulk_len = min(req->tree_tell_req.len, LST_PAGE);
		req->tree_tell_req.bulkid = rpc->bulkid;
		return;
	case LST_TEST_REQ:
	case LST_BRW_REQ:
		break;
	default:
		rpc->bulk = NULL;
		return;
	}
	len = fuzz_u16(&play->in);
	rpc->bulk_len = len & 0xfff ? len & 0xfff : LST_DEST_SIZE;
	rpc->bulk_options = len & 0x8000 ? LNET_MD_OP_PUT : LNET_MD_OP_GET;
	req->test_req.bulkid = rpc->bulkid;
	if (req->type == LST_BRW_REQ && len & 0x4000)
		req->brw_req.len = rpc->bulk_len;
}

static void ask(struct play *play)
{
	static const u8 types[] = { LST_MAKE_SESSION_REQ, LST_REMOVE_SESSION_REQ, LST_BATCH_REQ,
				    LST_QUERY_STAT_REQ, LST_TEST_REQ, LST_DEBUG_REQ, LST_BRW_REQ,
				    LST_PING_REQ, LST_ADD_REQ, LST_TALLY_REQ, LST_START_REQ,
				    LST_DRILL_REQ, LST_TREE_ASK_REQ, LST_TREE_TELL_REQ };
	struct lnet_process to = { rails_nid(1, 0), LNET_PID };
	u8 what = fuzz_u8(&play->in), how = fuzz_u8(&play->in);
	struct lst_rpc *rpc = &play->rpc[play->nr];
	struct lst_msg req = { .type = types[what % ARRAY_SIZE(types)] };
	struct lst *st = st_of(0);

	req.feats = how & 1 ? how >> 4 : LST_FEATS;
	fill(play, &req);
	if (!(how & 2))
		session_set(&req);
	if (req.type == LST_TEST_REQ && !(how & 4))
		test_set(play, &req);
	if (req.type == LST_BATCH_REQ && !(how & 4))
		req.batch_req.bid = ST_BID;
	if (req.type == LST_ADD_REQ && !(how & 4))
		plan_set(play, &req);
	if ((req.type == LST_TREE_ASK_REQ || req.type == LST_TREE_TELL_REQ) && !(how & 4))
		tree_set(play, &req);
	lst_enter(st);
	lst_rpc_init_locked(rpc, st, &to);
	rpc->done = on_done;
	if (!(how & 8))
		offer(play, rpc, &req);
	lst_rpc_post_locked(rpc, &req, LST_RPC_TIMEOUT_NS);
	spin_unlock(&st->lock);
	lst_run(st);
	play->nr++;
	st_run(1);
}

/* Sends a message as it is to any portal; LNet uses memory of @play for it. */
static void raw(struct play *play)
{
	struct lnet_md_cfg cfg = { .start = play->bytes, .length = sizeof(play->bytes), .cpt = -1,
				   .threshold = LNET_THRESHOLD_INF };
	u8 what = fuzz_u8(&play->in);
	size_t len = what & 64 ? fuzz_u8(&play->in) : LST_MSG_SIZE, got = len;
	u8 *bytes = fuzz_bytes(&play->in, &got);
	struct lnet_xfer x;

	memcpy(play->bytes, bytes, got);
	free(bytes);
	if (what & 128)
		put_unaligned_le32(LST_MAGIC, play->bytes);
	if (!play->raw.cookie)
		lnet_md_bind(rails.node[0].ln, &cfg, LNET_UNLINK, &play->raw);
	lnet_xfer_init(&x);
	x.md = play->raw;
	x.target = (struct lnet_process){ rails_nid(1, 0), LNET_PID };
	x.portal = what & 2 ? LST_PORTAL_DRILL : LST_PORTAL_TEST + (what & 1);
	x.match_bits = what & 2 ? LST_SERVICE_DRILL : what >> 2 & 15;
	x.length = max((u32)len, 1u);
	lnet_put(rails.node[0].ln, &x);
	st_run(1);
}

/* Replies of a node are lost for a while, or all its messages; or its driver fails to send them. */
static void answers(struct play *play)
{
	u8 what = fuzz_u8(&play->in);
	bool fail = what & 8;

	rails_clear();
	rails_on(what & 1, -1, what >> 1 & 3 ? RAILS_PUT : RAILS_ANY,
		 fail ? FATE_FAIL : FATE_LOSE,
		 fail ? LNET_LOCAL_DROPPED : LNET_NETWORK_TIMEOUT, 1 + (what >> 4) * 4);
}

/* ---- the console ----------------------------------------------------------------------------- */

struct told {
	struct lst_command cmd;		/* first */
	u8 *bytes;
};

static void on_told(struct lst_command *cmd)
{
	struct told *told = (struct told *)cmd;

	BUG_ON(cmd->used && strlen(cmd->answer) != cmd->used);
	kfree(cmd->answer);
	free(told->bytes);
	free(told);
}

static void command(struct play *play)
{
	size_t len = fuzz_u8(&play->in);
	struct told *told = calloc(1, sizeof(*told));

	if (!told)
		abort();
	told->bytes = fuzz_bytes(&play->in, &len);
	told->cmd.request = (char *)told->bytes;
	told->cmd.len = (u32)len;
	told->cmd.done = on_told;
	lst_command_changes(&told->cmd);
	lst_command(st_of(0), &told->cmd);
	st_run(1);
}

static void run(struct play *play)
{
	u64 ns = (u64)fuzz_u8(&play->in) * fuzz_u8(&play->in) * 4 * RAILS_MS;

	ns = min(ns, RUN_MAX_NS - play->ran_ns);
	play->ran_ns += ns;
	st_run(ns);
}

static void play_step(struct play *play)
{
	switch (fuzz_u8(&play->in) % NR_STEPS) {
	case CODEC: codec(play); break;
	case ASK: ask(play); break;
	case RAW: raw(play); break;
	case RUN: run(play); break;
	case ANSWERS: answers(play); break;
	case COMMAND: command(play); break;
	}
}

static u64 carried;

/*
 * An endless test takes no time here. After CARRY_MAX bytes the wire is cut, so that time passes.
 */
static void carry(struct rails_msg *m)
{
	carried += m->len + 1000;
	if (carried > CARRY_MAX)
		m->to = -1;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct play *play = calloc(1, sizeof(*play));
	unsigned int nr = 0;

	if (!play)
		abort();
	play->in = fuzz_begin(data, size);
	st_begin(2);
	carried = 0;
	rails.on_carry = carry;
	while (fuzz_more(&play->in) && nr++ < STEPS_MAX)
		play_step(play);
	rails.on_carry = NULL;
	rails_clear();
	if (play->raw.cookie)
		lnet_md_unlink(rails.node[0].ln, play->raw);
	st_end();
	free(play);
	return 0;
}
