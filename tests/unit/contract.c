/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The contract that every driver must meet, checked over two NIs of the driver. */
#include "contract_core.h"

#define MS		((u64)NSEC_PER_MSEC)
#define STEP_NS		(10 * MS)
/* how late a completion may be, by the clock of the environment, which only run() moves */
#define LATE_MAX_NS	STEP_NS
#define STEPS_MAX	1000U
#define NR_MANY		40U
#define TIMEOUT_NS	(60ULL * NSEC_PER_SEC)
#define MIB		(1U << 20)

static struct contract_pair the_pair;

/* ---- a clock that only run() moves ----------------------------------------------------------- */

struct still_env {
	struct lnet_env env;
	u64 now_ns, random;
};

static u64 still_now(struct lnet_env *env)
{
	return container_of(env, struct still_env, env)->now_ns;
}

static u64 still_random(struct lnet_env *env)
{
	return container_of(env, struct still_env, env)->random += 0x9e3779b97f4a7c15ULL;
}

static void still_hint(struct lnet_env *env, unsigned int shard)
{
}

struct lnet_env *contract_env(void)
{
	static const struct lnet_env_ops ops = {
		.now_ns = still_now, .random = still_random, .secret = still_random,
		.kick = still_hint, .arm = still_hint,
	};
	static struct still_env still;

	still.env.ops = &ops;
	still.now_ns = NSEC_PER_SEC;
	return &still.env;
}

void contract_env_run(struct contract_pair *pair, u64 ns)
{
	unsigned int i;

	container_of(pair->env[0], struct still_env, env)->now_ns += ns;
	for (i = 0; i < 2; i++)
		if (pair->node[i].ni)
			lnet_shard_work(&pair->node[i].ln, 0);
}

/* ---- a pair ---------------------------------------------------------------------------------- */

static struct contract_node *receiver(struct contract_pair *pair)
{
	return &pair->node[pair->driver->lacks & CONTRACT_ONE_NI ? 0 : 1];
}

static bool pair_begin(struct contract_pair *pair, const struct contract_driver *driver)
{
	struct contract_node *a = &pair->node[0], *b;
	int err;

	memset(pair, 0, sizeof(*pair));
	pair->driver = driver;
	b = receiver(pair);
	err = driver->make(pair);
	if (!err)
		err = contract_node_start(pair, 0);
	if (!err && b != a)
		err = contract_node_start(pair, 1);
	UNIT_EQUAL(err, 0, "starting the pair");
	if (err)
		return false;
	a->to = lnet_peer_ni_get(&a->ln, &b->ni->nid);
	if (b != a)
		b->to = lnet_peer_ni_get(&b->ln, &a->ni->nid);
	err = driver->join ? driver->join(pair) : 0;
	UNIT_EQUAL(err, 0, "joining the pair");
	return true;
}

static void pair_end(struct contract_pair *pair)
{
	struct contract_node *a = &pair->node[0], *b = receiver(pair);

	contract_node_stop(a);
	if (b != a)
		contract_node_stop(b);
	if (pair->driver->unmake)
		pair->driver->unmake(pair);
	contract_node_free(a);
	if (b != a)
		contract_node_free(b);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void msg_fill(struct msg *msg, enum plan plan)
{
	struct contract_node *node = msg->node;
	u32 pos = 0, f, i;

	msg->hdr.src_nid = node->ni->nid;
	msg->hdr.dest_nid = node->to->nid;
	msg->hdr.src_pid = LNET_PID;
	msg->hdr.dest_pid = LNET_PID;
	msg->hdr.type = LNET_MSG_PUT;
	msg->hdr.payload_len = msg->len;
	msg->hdr.msg.put.match_bits = plan;
	msg->hdr.msg.put.hdr_data = msg->seq;
	msg->memory = contract_frags(msg->frags, msg->len, msg->seq % 7);
	for (f = 0; f < 3; f++)
		for (i = 0; i < msg->frags[f].len; i++)
			((u8 *)msg->frags[f].base)[i] = contract_byte(msg->seq, pos++);
}

static struct msg *msg_new(struct contract_node *node, struct list_head *msgs, enum plan plan,
			   u32 len)
{
	struct msg *msg = calloc(1, sizeof(*msg));

	if (!msg)
		abort();
	msg->node = node;
	msg->len = len;
	msg->seq = (unsigned int)list_count_nodes(msgs);
	msg_fill(msg, plan);
	msg->att.ni = node->ni;
	msg->att.pni = node->to;
	msg->att.cls = LNET_CLS_DATA;
	msg->att.deadline_ns = contract_now(node) + TIMEOUT_NS;
	INIT_LIST_HEAD(&msg->att.link);
	list_add_tail(&msg->link, msgs);
	return msg;
}

/* If the driver does not take an attempt, it names an outcome and never completes the attempt. */
static void msg_send(struct lnet_pass *p, struct msg *msg)
{
	struct lnet_ni *ni = msg->node->ni;

	msg->att.outcome = LNET_OK;
	msg->taken = !ni->ops->send(p, ni, &msg->att);
	CU_ASSERT(msg->taken || msg->att.outcome != LNET_OK);
	CU_ASSERT(msg->taken || msg->nr_done == 0);
}

static void flush(struct lnet_pass *p, struct contract_node *node)
{
	if (node->ni->ops->flush)
		node->ni->ops->flush(p, node->ni);
}

static void send_one(struct msg *msg, enum lnet_pass_kind kind)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, &msg->node->ln, kind);
	msg_send(&p, msg);
	flush(&p, msg->node);
	lnet_pass_end(&p);
}

static void send_many(struct contract_node *node, struct list_head *msgs, enum plan plan, u32 len,
		      unsigned int nr)
{
	while (nr--)
		send_one(msg_new(node, msgs, plan, len), LNET_PASS_CALL);
}

static void msgs_free(struct list_head *msgs)
{
	struct msg *msg, *next;

	list_for_each_entry_safe(msg, next, msgs, link) {
		UNIT_EQUAL(msg->nr_done, msg->taken, "times given back for each time taken");
		CU_ASSERT(contract_memory_ok(msg));
		free(msg->memory);
		free(msg);
	}
}

static bool all_given(struct list_head *msgs)
{
	struct msg *msg;

	list_for_each_entry(msg, msgs, link)
		if (msg->taken && !msg->nr_done)
			return false;
	return true;
}

static unsigned int nr_begun(struct contract_node *node)
{
	struct got *got;
	unsigned int nr = 0;

	list_for_each_entry(got, &node->rxs, link)
		nr += got->begun;
	return nr;
}

static unsigned int nr_landed(struct contract_node *node)
{
	struct got *got;
	unsigned int nr = 0;

	list_for_each_entry(got, &node->rxs, link)
		nr += got->nr_done;
	return nr;
}

static void run_until_given(struct contract_pair *pair, struct list_head *msgs)
{
	unsigned int i;

	for (i = 0; i < STEPS_MAX && !all_given(msgs); i++)
		pair->driver->run(pair, STEP_NS);
	CU_ASSERT(all_given(msgs));
}

static void run_until_begun(struct contract_pair *pair, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < STEPS_MAX && nr_begun(receiver(pair)) < nr; i++)
		pair->driver->run(pair, STEP_NS);
	UNIT_EQUAL(nr_begun(receiver(pair)), nr, "messages that arrived");
}

static void run_until_landed(struct contract_pair *pair, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < STEPS_MAX && nr_landed(receiver(pair)) < nr; i++)
		pair->driver->run(pair, STEP_NS);
	UNIT_EQUAL(nr_landed(receiver(pair)), nr, "landings that ended");
}

static void each_landed_well(struct contract_node *node)
{
	struct got *got;

	list_for_each_entry(got, &node->rxs, link)
		if (got->nr_done && got->how == LNET_OK)
			CU_ASSERT(contract_payload_ok(got));
}

/* ---- the suite ------------------------------------------------------------------------------- */

static void test_delivery(struct contract_pair *pair)
{
	LIST_HEAD(msgs);
	struct msg *msg;

	send_many(&pair->node[0], &msgs, PLAN_LAND, 100, NR_MANY);
	run_until_given(pair, &msgs);
	run_until_landed(pair, NR_MANY);
	list_for_each_entry(msg, &msgs, link) {
		CU_ASSERT(msg->taken);
		CU_ASSERT(msg->how == LNET_OK || msg->how == LNET_ACKNOWLEDGED);
	}
	each_landed_well(receiver(pair));
	msgs_free(&msgs);
}

static void test_order(struct contract_pair *pair)
{
	unsigned int next[LNET_NR_CLASSES] = { 0, 1, 2 };
	struct got *got;
	struct msg *msg;
	LIST_HEAD(msgs);
	unsigned int i;

	for (i = 0; i < NR_MANY; i++) {
		msg = msg_new(&pair->node[0], &msgs, PLAN_LAND, i % 2 ? 8000 : 10);
		msg->att.cls = (u8)(i % LNET_NR_CLASSES);
		send_one(msg, i % 4 ? LNET_PASS_CALL : LNET_PASS_DRIVER);
	}
	run_until_given(pair, &msgs);
	run_until_landed(pair, NR_MANY);
	list_for_each_entry(got, &receiver(pair)->rxs, link) {
		if (!got->begun)
			continue;
		i = got->seq % LNET_NR_CLASSES;
		UNIT_EQUAL(got->seq, next[i], "next message of a class");
		next[i] += LNET_NR_CLASSES;
	}
	msgs_free(&msgs);
}

static void test_payloads(struct contract_pair *pair)
{
	static const u32 lens[] = { 0,	  1,	 2,	3,	17,	 4095, 4096,
				    4097, 65535, 65536, 262144, MIB - 1, MIB };
	unsigned int i, k;
	LIST_HEAD(msgs);

	for (k = 0; k < 3; k++)
		for (i = 0; i < ARRAY_SIZE(lens); i++)
			send_one(msg_new(&pair->node[0], &msgs, PLAN_LAND, lens[i]),
				 LNET_PASS_CALL);
	run_until_given(pair, &msgs);
	run_until_landed(pair, 3 * ARRAY_SIZE(lens));
	each_landed_well(receiver(pair));
	msgs_free(&msgs);
}

static void test_skip(struct contract_pair *pair)
{
	LIST_HEAD(msgs);

	send_many(&pair->node[0], &msgs, PLAN_SKIP, 3000, 3);
	send_many(&pair->node[0], &msgs, PLAN_SKIP, 0, 3);
	send_many(&pair->node[0], &msgs, PLAN_SKIP, MIB, 2);
	send_many(&pair->node[0], &msgs, PLAN_LAND, 500, 2);
	run_until_given(pair, &msgs);
	run_until_landed(pair, 2);
	UNIT_EQUAL(nr_begun(receiver(pair)), 10, "messages that arrived");
	each_landed_well(receiver(pair));
	msgs_free(&msgs);
}

static void land_waiting(struct contract_node *node)
{
	struct lnet_pass p;
	struct got *got;

	lnet_pass_begin(&p, &node->ln, LNET_PASS_CALL);
	list_for_each_entry(got, &node->rxs, link) {
		if (!got->waits)
			continue;
		got->waits = false;
		got->rx.verdict = got->plan == PLAN_LATER_SKIP ? LNET_SKIP : LNET_RECEIVE;
		node->ni->ops->receive(&p, node->ni, &got->rx);
	}
	lnet_pass_end(&p);
}

static void later(struct contract_pair *pair, enum plan plan, u32 len)
{
	unsigned int before = nr_begun(receiver(pair)), landed = nr_landed(receiver(pair));
	LIST_HEAD(msgs);

	send_many(&pair->node[0], &msgs, plan, len, 1);
	run_until_begun(pair, before + 1);
	UNIT_EQUAL(nr_landed(receiver(pair)), landed + (plan == PLAN_LATER_AT_ONCE),
		   "landings before the word came");
	land_waiting(receiver(pair));
	run_until_landed(pair, landed + (plan != PLAN_LATER_SKIP));
	run_until_given(pair, &msgs);
	each_landed_well(receiver(pair));
	msgs_free(&msgs);
}

static void test_later(struct contract_pair *pair)
{
	static const enum plan plans[] = { PLAN_LATER_LAND, PLAN_LATER_SKIP };
	static const u32 lens[] = { 0, 1, 1000, 200000, MIB };
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(plans); k++)
		for (i = 0; i < ARRAY_SIZE(lens); i++)
			later(pair, plans[k], lens[i]);
}

static void test_later_at_once(struct contract_pair *pair)
{
	static const u32 lens[] = { 0, 1000, 200000 };
	unsigned int i, landed = 0;
	LIST_HEAD(msgs);

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		send_many(&pair->node[0], &msgs, PLAN_LATER_AT_ONCE, lens[i], 1);
		run_until_landed(pair, ++landed);
	}
	run_until_given(pair, &msgs);
	each_landed_well(receiver(pair));
	msgs_free(&msgs);
}

static void test_close(struct contract_pair *pair)
{
	LIST_HEAD(msgs);

	send_many(&pair->node[0], &msgs, PLAN_CLOSE, 100, 1);
	run_until_begun(pair, 1);
	run_until_given(pair, &msgs);
	/* over new connections, or rejected for a while */
	send_many(&pair->node[0], &msgs, PLAN_LAND, 100, 1);
	run_until_given(pair, &msgs);
	each_landed_well(receiver(pair));
	msgs_free(&msgs);
}

static void test_rx_stop(struct contract_pair *pair)
{
	struct contract_node *node = receiver(pair);
	struct lnet_pass p;
	struct got *got;
	LIST_HEAD(msgs);

	send_many(&pair->node[0], &msgs, PLAN_STOP, MIB, 1);
	run_until_begun(pair, 1);
	got = list_first_entry(&node->rxs, struct got, link);
	if (!got->nr_done) {
		lnet_pass_begin(&p, &node->ln, LNET_PASS_WORKER);
		node->ni->ops->rx_stop(&p, node->ni, &got->rx);
		lnet_pass_end(&p);
		/* once the driver has completed the receive, it no longer owns the memory */
		memset(got->memory, 0x11, 1);
	}
	run_until_landed(pair, 1);
	CU_ASSERT(got->how == LNET_STOPPED || got->how == LNET_OK);
	run_until_given(pair, &msgs);
	send_many(&pair->node[0], &msgs, PLAN_LAND, 100, 1);	/* read as before */
	run_until_landed(pair, 2);
	run_until_given(pair, &msgs);
	msgs_free(&msgs);
}

static void cancel_all(struct contract_node *node, struct list_head *msgs, enum lnet_cancel how)
{
	struct lnet_pass p;
	struct msg *msg;

	lnet_pass_begin(&p, &node->ln, LNET_PASS_WORKER);
	list_for_each_entry(msg, msgs, link)
		if (msg->taken)
			node->ni->ops->cancel(&p, node->ni, &msg->att, how);
	lnet_pass_end(&p);
}

/* Without a doorbell perhaps nothing is sent: each is completed at once, or delivered. */
static void test_cancel_unsent(struct contract_pair *pair)
{
	struct contract_node *node = &pair->node[0];
	struct lnet_pass p;
	LIST_HEAD(msgs);
	unsigned int i, arrived = 0;
	struct msg *msg;

	lnet_pass_begin(&p, &node->ln, LNET_PASS_CALL);
	for (i = 0; i < NR_MANY; i++)
		msg_send(&p, msg_new(node, &msgs, PLAN_LAND, i * 100));
	lnet_pass_end(&p);
	cancel_all(node, &msgs, LNET_CANCEL_UNSENT);
	lnet_pass_begin(&p, &node->ln, LNET_PASS_CALL);
	flush(&p, node);
	lnet_pass_end(&p);
	run_until_given(pair, &msgs);
	list_for_each_entry(msg, &msgs, link)
		arrived += msg->how == LNET_OK || msg->how == LNET_ACKNOWLEDGED;
	run_until_landed(pair, arrived);
	cancel_all(node, &msgs, LNET_CANCEL_UNSENT);	/* all completed: ignored */
	msgs_free(&msgs);
}

static void test_cancel_abort(struct contract_pair *pair)
{
	struct contract_node *node = &pair->node[0];
	LIST_HEAD(msgs);
	unsigned int i;

	for (i = 0; i < NR_MANY; i++)
		send_one(msg_new(node, &msgs, i % 3 ? PLAN_LAND : PLAN_LATER_LAND,
				 i % 2 ? MIB : 1000),
			 LNET_PASS_CALL);
	pair->driver->run(pair, MS);
	cancel_all(node, &msgs, LNET_CANCEL_ABORT);
	for (i = 0; i < 20 && !all_given(&msgs); i++) {
		pair->driver->run(pair, MS);
		cancel_all(node, &msgs, LNET_CANCEL_ABORT);
	}
	CU_ASSERT(all_given(&msgs));		/* promptly, though no receiver took the messages */
	land_waiting(receiver(pair));
	for (i = 0; i < 20; i++)
		pair->driver->run(pair, STEP_NS);
	each_landed_well(receiver(pair));
	msgs_free(&msgs);
}

/* Attempts that the driver does not hold: one received, one waits for a buffer, one is unsent. */
static void test_cancel_not_held(struct contract_pair *pair)
{
	struct contract_node *node = &pair->node[0];
	struct lnet_pass p;
	unsigned int nr = 0;
	struct msg *msg;
	LIST_HEAD(msgs);
	LIST_HEAD(core);

	send_one(msg_new(node, &msgs, PLAN_LAND, 1000), LNET_PASS_CALL);
	send_one(msg_new(node, &msgs, PLAN_LATER_LAND, 1000), LNET_PASS_CALL);
	run_until_given(pair, &msgs);
	msg_new(node, &msgs, PLAN_LAND, 1000);
	lnet_pass_begin(&p, &node->ln, LNET_PASS_WORKER);
	list_for_each_entry(msg, &msgs, link) {
		list_add_tail(&msg->att.link, &core);
		node->ni->ops->cancel(&p, node->ni, &msg->att, LNET_CANCEL_UNSENT);
		node->ni->ops->cancel(&p, node->ni, &msg->att, LNET_CANCEL_ABORT);
	}
	lnet_pass_end(&p);
	list_for_each_entry(msg, &msgs, link) {
		UNIT_EQUAL(msg->nr_done, nr++ < 2, "times that it was given back");
		CU_ASSERT(!list_empty(&msg->att.link));
		list_del_init(&msg->att.link);
	}
	UNIT_EQUAL(nr, 3, "messages");
	land_waiting(receiver(pair));
	run_until_landed(pair, 2);
	msgs_free(&msgs);
}

static void test_stop(struct contract_pair *pair)
{
	struct contract_node *node = &pair->node[0];
	LIST_HEAD(msgs);
	unsigned int i;

	for (i = 0; i < NR_MANY; i++)
		send_one(msg_new(node, &msgs, PLAN_LAND, i % 2 ? MIB : 1000), LNET_PASS_CALL);
	pair->driver->run(pair, MS);
	send_many(node, &msgs, PLAN_LATER_LAND, MIB, 1);
	pair->driver->run(pair, MS);
	send_many(node, &msgs, PLAN_LAND, 1000, NR_MANY);
	contract_node_stop(node);
	CU_ASSERT(all_given(&msgs));
	for (i = 0; i < 5; i++)
		pair->driver->run(pair, STEP_NS);	/* no more upcalls */
	msgs_free(&msgs);
}

static bool is_timeout(enum lnet_outcome how)
{
	return how == LNET_LOCAL_TIMEOUT || how == LNET_REMOTE_TIMEOUT ||
	       how == LNET_NETWORK_TIMEOUT;
}

static void test_deadline(struct contract_pair *pair)
{
	struct contract_node *node = &pair->node[0];
	struct msg *msg;
	LIST_HEAD(msgs);
	u64 deadline_ns;
	unsigned int i;

	if (pair->driver->lacks & CONTRACT_NO_CUT)
		return;
	send_many(node, &msgs, PLAN_LAND, 100, 1);
	run_until_given(pair, &msgs);
	pair->driver->cut(pair, true);
	deadline_ns = contract_now(node) + 300 * MS;
	for (i = 0; i < 8; i++) {
		msg = msg_new(node, &msgs, PLAN_LAND, MIB);
		msg->att.deadline_ns = deadline_ns;
		send_one(msg, LNET_PASS_CALL);
	}
	run_until_given(pair, &msgs);
	list_for_each_entry(msg, &msgs, link) {
		if (!msg->taken || msg->how == LNET_OK || msg->how == LNET_ACKNOWLEDGED)
			continue;
		CU_ASSERT(is_timeout(msg->how));
		CU_ASSERT(msg->done_ns >= deadline_ns);
		CU_ASSERT(msg->done_ns <= deadline_ns + LATE_MAX_NS);
	}
	msgs_free(&msgs);
}

static bool is_lost(struct contract_node *node, u32 epoch)
{
	struct lost *lost;

	list_for_each_entry(lost, &node->lost, link)
		if (lost->to == node->to && lost->epoch >= epoch)
			return true;
	return false;
}

/*
 * The driver reports attempts that were posted before the cut as lost. Attempts that are posted
 * over new connections have a later epoch.
 */
static void test_path_lost(struct contract_pair *pair)
{
	struct contract_node *node = &pair->node[0];
	struct msg *msg;
	LIST_HEAD(msgs);
	unsigned int i;

	if (pair->driver->lacks & CONTRACT_NO_CUT)
		return;
	send_many(node, &msgs, PLAN_LAND, 100, 3);
	run_until_given(pair, &msgs);
	CU_ASSERT(list_empty(&node->lost));
	pair->driver->cut(pair, false);
	msg = list_first_entry(&msgs, struct msg, link);
	for (i = 0; i < STEPS_MAX && !is_lost(node, msg->att.epoch); i++)
		pair->driver->run(pair, STEP_NS);
	list_for_each_entry(msg, &msgs, link)
		CU_ASSERT(is_lost(node, msg->att.epoch));
	msgs_free(&msgs);
}

static const struct {
	const char *what;
	void (*run)(struct contract_pair *pair);
} suite[] = {
	{ "what is taken is given back once and arrives", test_delivery },
	{ "order within a class", test_order },
	{ "payloads of all sizes at odd places", test_payloads },
	{ "verdict SKIP", test_skip },
	{ "verdict LATER, then LAND or SKIP", test_later },
	{ "land called before LATER was returned", test_later_at_once },
	{ "verdict CLOSE", test_close },
	{ "a landing is stopped", test_rx_stop },
	{ "cancel UNSENT", test_cancel_unsent },
	{ "cancel ABORT", test_cancel_abort },
	{ "cancel ignores what the driver does not have", test_cancel_not_held },
	{ "ni_stop gives everything back", test_stop },
	{ "deadlines", test_deadline },
	{ "lost paths and their epochs", test_path_lost },
};

void contract_run(const struct contract_driver *driver)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(suite); i++) {
		unsigned int failed = CU_get_number_of_failures();

		if (!pair_begin(&the_pair, driver))
			return;
		suite[i].run(&the_pair);
		pair_end(&the_pair);
		if (CU_get_number_of_failures() != failed)
			UNIT_TEXT("broken", "kept", suite[i].what);
	}
}
