/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Do the nodes of a NETTEST run exchange the messages of their topology, as often as configured,
 * whatever the rails do? nettest-topo, nettest-rates
 */
#include "rails.h"
#include "selftest/nettest_run.h"

static struct node {
	struct nettest *nt;
	u32 nr_measured, gone;
	int status;
	bool ended;
	u64 bytes_before;
	struct lst_tally tally[64];	/* by measure */
	u64 median[64][RAILS_NODES];
} nodes[RAILS_NODES];
static u32 nr_records;

static void take_record(const struct nettest *nt, u32 rank, u32 index)
{
	struct node *n = &nodes[rank];
	u32 len;
	const u8 *buf = nettest_record(nt, rank, &len);

	nr_records++;
	if (index < ARRAY_SIZE(n->tally))
		UNIT_EQUAL(nettest_record_decode(buf, len, nt->cfg.nr, &n->tally[index],
						 n->median[index]), 0, "a record");
}

static void measured(struct nettest *nt, u32 index)
{
	struct node *n = nettest_user(nt);
	u32 i;

	UNIT_EQUAL(index, n->nr_measured, "in order");
	n->nr_measured++;
	for (i = 0; !nt->cfg.rank && i < nt->cfg.nr; i++)
		take_record(nt, i, index);
}

static void ended(struct nettest *nt, int status)
{
	struct node *n = nettest_user(nt);

	UNIT_EQUAL(n->ended, false, "once");
	n->ended = true;
	n->status = status;
}

static void gone(struct nettest *nt)
{
	struct node *n = nettest_user(nt);

	UNIT_EQUAL(nettest_stopped(nt), true, "stopped");
	n->gone++;
}

static u64 ni_bytes(u32 node)
{
	u32 r;
	u64 bytes = 0;

	for (r = 0; r < RAILS_RAILS; r++) {
		struct lnet_ni *ni = rails_ni(node, r);

		bytes += ni ? ni->sh[0].c[LNET_NIC_sent_bytes] : 0;
	}
	return bytes;
}

static void begin(u32 nr, const struct nettest_plan *plan)
{
	struct rails_cfg cfg = { .nr_nodes = nr };
	u32 i;

	rails_begin(&cfg);
	memset(nodes, 0, sizeof(nodes));
	nr_records = 0;
	for (i = 0; i < nr; i++) {
		struct nettest_cfg c = { .ln = rails.node[i].ln, .nr = nr, .rank = i, .run = 77,
					 .plan = *plan, .gather = true, .user = &nodes[i],
					 .measured = measured, .ended = ended,
					 .gone = gone };

		CU_ASSERT_EQUAL_FATAL(nettest_create(&nodes[i].nt, &c), 0);
	}
	/* Each node knows each peer now, so only bytes of NETTEST are counted below. */
	for (i = 0; i < nr * nr; i++)
		if (i / nr != i % nr)
			rails_get(i / nr, i % nr, 8, 0);
	rails_run(RAILS_MS);
	for (i = 0; i < nr; i++)
		nodes[i].bytes_before = ni_bytes(i);
}

static void start(void)
{
	struct lnet_process ids[RAILS_NODES];
	u32 i, nr = rails.cfg.nr_nodes;

	for (i = 0; i < nr; i++)
		ids[i] = (struct lnet_process){ rails_nid(i, 0), LNET_PID };
	for (i = 0; i < nr; i++)
		nettest_start(nodes[i].nt, ids);
}

static bool all_ended(void)
{
	u32 i;

	for (i = 0; i < rails.cfg.nr_nodes; i++)
		if (!nodes[i].ended)
			return false;
	return true;
}

/* Runs for at most @ns; messages take no time. */
static void run(u64 ns)
{
	u64 end = rails.now_ns + ns;
	u32 i;

	while (!all_ended() && rails.now_ns < end) {
		rails_run(5 * RAILS_MS);
		for (i = 0; i < rails.cfg.nr_nodes; i++)
			nettest_work(nodes[i].nt);
	}
}

static void finish(void)
{
	u32 i;

	for (i = 0; i < rails.cfg.nr_nodes; i++)
		nettest_stop(nodes[i].nt, -ESHUTDOWN);
	rails_run(20 * NSEC_PER_SEC);
	for (i = 0; i < rails.cfg.nr_nodes; i++) {
		UNIT_EQUAL(nettest_stopped(nodes[i].nt), true, "stopped");
		UNIT_EQUAL(nodes[i].gone, 1, "told so, once");
		nettest_free(nodes[i].nt);
	}
	rails_end();
}

static u64 errors(void)
{
	struct nettest_sums sums;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < rails.cfg.nr_nodes; i++) {
		nettest_sums(nodes[i].nt, &sums);
		sum += sums.errors;
	}
	return sum;
}

/* ---- formulas -------------------------------------------------------------------------------- */

static void channels(void)
{
	u32 nr, a, b, pairs, ends;
	enum nettest_topo topo;

	for (topo = NETTEST_EMPTY; topo <= NETTEST_RING; topo++)
		for (nr = 2; nr <= 16; nr++) {
			pairs = ends = 0;
			for (a = 0; a < nr; a++) {
				u32 degree = 0;

				for (b = 0; b < nr; b++) {
					if (!nettest_linked(topo, nr, a, b))
						continue;
					degree++;
					pairs += a < b;
					UNIT_EQUAL(nettest_linked(topo, nr, b, a), true, "both");
					UNIT_EQUAL(nettest_speaks_first(topo, nr, a, b) +
						   nettest_speaks_first(topo, nr, b, a), 1,
						   "one begins");
				}
				UNIT_EQUAL(nettest_degree(topo, nr, a), degree, "degree");
				ends += degree;
			}
			UNIT_EQUAL(nettest_channels(topo, nr), pairs, "N(P)");
			UNIT_EQUAL(ends, 2 * pairs, "each has two ends");
		}
	UNIT_EQUAL(nettest_channels(NETTEST_CHAOS, 4), 6, "chaos of four");
	UNIT_EQUAL(nettest_channels(NETTEST_RING, 2), 1, "a ring of two");
	UNIT_EQUAL(nettest_rounds(2), 1, "rounds");
	UNIT_EQUAL(nettest_rounds(4), 2, "rounds");
	UNIT_EQUAL(nettest_rounds(5), 3, "rounds");
	UNIT_EQUAL(nettest_rounds(NETTEST_NODES_MAX), NETTEST_ROUNDS_MAX, "rounds");
}

static void plans(void)
{
	struct nettest_plan plan = { .least = 1024, .most = 16384, .factor = 2, .repeats = 2,
				     .times = 1000, .patterns = NETTEST_ALL };
	struct nettest_measure m;
	u32 i;

	UNIT_EQUAL(nettest_plan_check(&plan), 0, "uK m1 M16 K2 R2 T1000");
	UNIT_EQUAL(nettest_plan_lens(&plan), 5, "1 2 4 8 16");
	UNIT_EQUAL(nettest_plan_nr(&plan), 2 * (1 + 5 * 6), "measures");
	for (i = 0; nettest_plan_at(&plan, i, &m); i++)
		if (m.pattern) {
			u32 ix = 0, len = plan.least;

			for (; len != m.len; len *= 2)
				ix++;
			UNIT_EQUAL(nettest_plan_index(&plan, m.repeat, ix, m.pattern), i, "index");
		} else {
			UNIT_EQUAL(nettest_plan_index(&plan, m.repeat, 3, 0), i, "the barrier");
		}
	UNIT_EQUAL(i, 62, "the end");
	plan.patterns &= ~NETTEST_CHAOSES;
	UNIT_EQUAL(nettest_plan_nr(&plan), 2 * (1 + 5 * 4), "without chaos");
	nettest_plan_at(&plan, 3, &m);
	UNIT_EQUAL(m.pattern, NETTEST_P_ring, "no chaos");
	plan.factor = 0;
	plan.step = 3000;
	UNIT_EQUAL(nettest_plan_lens(&plan), 6, "a step");
	plan.step = 0;
	UNIT_EQUAL(nettest_plan_check(&plan), -EINVAL, "no step");
	plan.step = 1;
	plan.repeats = 10;
	UNIT_EQUAL(nettest_plan_check(&plan), -E2BIG, "too many");
}

static void contents(void)
{
	u8 mem[100];
	u32 len, i;

	for (len = 1; len <= 100; len++) {
		nettest_fill(mem, len, nettest_key(5, 1, 2), NETTEST_CHECK_FULL);
		UNIT_EQUAL(nettest_first_bad(mem, len, nettest_key(5, 1, 2), NETTEST_CHECK_FULL),
			   len, "as filled");
		UNIT_EQUAL(nettest_first_bad(mem, len, nettest_key(5, 1, 2), NETTEST_CHECK_ENDS),
			   len, "as filled");
		UNIT_EQUAL(nettest_first_bad(mem, len, nettest_key(4, 1, 2),
					     NETTEST_CHECK_ENDS) < 2, true, "another iteration");
		UNIT_EQUAL(nettest_first_bad(mem, len, nettest_key(5, 2, 1),
					     NETTEST_CHECK_FULL) < 2, true, "another node");
		for (i = 0; i < len; i++) {
			mem[i] ^= 4;
			UNIT_EQUAL(nettest_first_bad(mem, len, nettest_key(5, 1, 2),
						     NETTEST_CHECK_FULL), i, "a bit");
			UNIT_EQUAL(nettest_first_bad(mem, len, nettest_key(5, 1, 2),
						     NETTEST_CHECK_ENDS),
				   i < 8 || i >= len - 8 || len <= 16 ? i : len, "a bit");
			mem[i] ^= 4;
		}
	}
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Interfaces carried all bytes of channels in both directions, of barriers and of records. */
static void exact_bytes(const struct nettest_plan *plan, u32 nr)
{
	u64 want = 0, payload = 0, control = 0, carried = 0, barriers = 0;
	struct nettest_sums sums;
	struct nettest_measure m;
	u32 i;

	for (i = 0; nettest_plan_at(plan, i, &m); i++) {
		want += 2ULL * m.len * plan->times *
			nettest_channels(nettest_topo_of(m.pattern), nr);
		barriers += 2 * plan->times;
	}
	for (i = 0; i < nr; i++) {
		nettest_sums(nodes[i].nt, &sums);
		payload += sums.payload;
		control += sums.control;
		carried += ni_bytes(i) - nodes[i].bytes_before;
		UNIT_EQUAL(sums.barriers, barriers, "two of each iteration");
		control -= barriers * nettest_rounds(nr) * NETTEST_SIGNAL;
	}
	UNIT_EQUAL(payload, want, "2 L N T R");
	UNIT_EQUAL(carried, payload + control + nr * barriers * nettest_rounds(nr) * NETTEST_SIGNAL,
		   "what interfaces count");
	CU_ASSERT(control > 0 && control <= (u64)(nr - 1) * nettest_plan_nr(plan) *
		  nettest_record_size(nr));
}

static void exact_tallies(const struct nettest_plan *plan, u32 nr)
{
	struct nettest_measure m;
	u32 i, k, to;

	for (i = 0; nettest_plan_at(plan, i, &m); i++)
		for (k = 0; k < nr; k++) {
			const struct lst_tally *t = &nodes[k].tally[i];
			u32 degree = nettest_degree(nettest_topo_of(m.pattern), nr, k);

			UNIT_EQUAL(t->nr_times, plan->times, "iterations");
			UNIT_EQUAL(t->c[LST_T_bytes_out], (u64)degree * m.len * plan->times, "out");
			UNIT_EQUAL(t->c[LST_T_corrupt], 0, "none");
			for (to = 0; to < nr; to++)
				if (!nettest_linked(nettest_topo_of(m.pattern), nr, k, to))
					UNIT_EQUAL(nodes[k].median[i][to], 0, "no channel");
		}
}

static void runs(void)
{
	struct nettest_plan plan = { .least = 1, .most = 4000, .factor = 63, .repeats = 2,
				     .times = 5, .patterns = NETTEST_ALL,
				     .check = NETTEST_CHECK_FULL };
	u32 nr, i;

	for (nr = 2; nr <= RAILS_NODES; nr++) {
		plan.patterns = nr != 3 ? NETTEST_ALL : NETTEST_ALL & ~NETTEST_CHAOSES;
		begin(nr, &plan);
		start();
		run(NSEC_PER_SEC);
		for (i = 0; i < nr; i++) {
			UNIT_EQUAL(nodes[i].ended, true, "ended");
			UNIT_EQUAL(nodes[i].status, 0, "well");
			UNIT_EQUAL(nodes[i].nr_measured, nettest_plan_nr(&plan), "all measured");
		}
		UNIT_EQUAL(nr_records, nr * nettest_plan_nr(&plan), "records of all");
		UNIT_EQUAL(errors(), 0, "as sent");
		exact_bytes(&plan, nr);
		exact_tallies(&plan, nr);
		finish();
	}
}

/* Messages of several PUTs. */
static void long_messages(void)
{
	struct nettest_plan plan = { .least = 3 * LNET_MTU + 17, .most = 3 * LNET_MTU + 17,
				     .factor = 2, .repeats = 1, .times = 2, .patterns = NETTEST_ALL,
				     .check = NETTEST_CHECK_FULL };

	begin(4, &plan);
	start();
	run(NSEC_PER_SEC);
	UNIT_EQUAL(all_ended() && !nodes[0].status, true, "ended well");
	UNIT_EQUAL(errors(), 0, "as sent");
	exact_bytes(&plan, 4);
	finish();
}

/* ---- noise ----------------------------------------------------------------------------------- */

#define NOISE_LEN	1000U

/* One wire for all nodes: time passes only by the bytes that it carries. */
static struct {
	u64 noise_ns, other_ns;	/* while node 0 is between t0 and t1 */
	u32 nr, byte_ns;
} carried;

static void one_wire(struct rails_msg *m)
{
	u32 state = nodes[0].nt->state;
	bool noise = m->type == RAILS_PUT && m->len == NOISE_LEN && m->from >= 2;

	rails.now_ns += m->len * carried.byte_ns;
	if (state != NETTEST_S_EXCHANGE && state != NETTEST_S_CLOSE)
		return;
	*(noise ? &carried.noise_ns : &carried.other_ns) += m->len * carried.byte_ns;
	carried.nr += noise;
}

/* Returns node 0's times over all measures; its record contains its own times. */
static u64 measure(u32 nr, const struct nettest_plan *plan)
{
	u64 ns = 0;
	u32 i;

	carried = (typeof(carried)){ .byte_ns = 1 };
	begin(nr, plan);
	rails.on_carry = one_wire;
	start();
	run(NSEC_PER_SEC);
	rails.on_carry = NULL;
	for (i = 0; i < nr; i++)
		UNIT_EQUAL(nodes[i].ended && !nodes[i].status, true, "ended well");
	UNIT_EQUAL(errors(), 0, "as sent");
	for (i = 0; i < nettest_plan_nr(plan); i++)
		ns += nodes[0].tally[i].sum_ns.lo;
	return ns;
}

/* In each measure, a pair received all noise that it sent. Returns the bytes of noise. */
static u64 noise_of_tallies(const struct nettest_plan *plan, u32 nr)
{
	u64 noise = 0, out, in;
	u32 i, k;

	for (i = 0; i < nettest_plan_nr(plan); i++) {
		for (k = out = in = 0; k < nr; k++) {
			const struct lst_tally *t = &nodes[k].tally[i];

			if (k < nr - 2 * plan->noise_pairs)
				continue;
			CU_ASSERT(t->c[LST_T_bytes_out] >=
				  (u64)plan->noise * plan->noise_depth * plan->times);
			out += t->c[LST_T_bytes_out];
			in += t->c[LST_T_bytes_in];
		}
		UNIT_EQUAL(in, out, "all of it arrived in its measure");
		noise += out;
	}
	return noise;
}

/* Interfaces carried the noise in addition to all other bytes. */
static void exact_noise(const struct nettest_plan *plan, u32 nr)
{
	u64 all[3] = { 0 };
	struct nettest_sums sums;
	u32 i;

	for (i = 0; i < nr; i++) {
		nettest_sums(nodes[i].nt, &sums);
		all[0] += sums.payload + sums.control + sums.noise;
		all[1] += ni_bytes(i) - nodes[i].bytes_before;
		all[2] += sums.noise;
		UNIT_EQUAL(sums.noise > 0, i >= nr - 2 * plan->noise_pairs, "who makes it");
	}
	UNIT_EQUAL(all[1], all[0], "what interfaces count");
	UNIT_EQUAL(noise_of_tallies(plan, nr), all[2], "as sent");
}

/* Two nodes are measured alone, then while a pair of other nodes loads the wire that all share. */
static void noisy(void)
{
	struct nettest_plan plan = { .least = 700, .most = 1400, .factor = 2, .repeats = 1,
				     .times = 20, .patterns = NETTEST_ALL,
				     .check = NETTEST_CHECK_FULL };
	u64 quiet_ns, ns, one = 0;

	quiet_ns = measure(2, &plan);
	UNIT_EQUAL(carried.nr, 0, "quiet");
	UNIT_EQUAL(quiet_ns, carried.other_ns, "times are what the wire took");
	exact_bytes(&plan, 2);
	finish();
	plan.noise = NOISE_LEN;
	plan.noise_pairs = 1;
	for (plan.noise_depth = 1; plan.noise_depth <= 4; plan.noise_depth *= 4) {
		ns = measure(4, &plan);
		UNIT_EQUAL(ns, carried.other_ns + carried.noise_ns, "what the wire took");
		CU_ASSERT(ns >= quiet_ns + carried.noise_ns);
		/* The wire serves messages in turn, so four in flight are four times the load. */
		one = one ? one : carried.noise_ns;
		UNIT_EQUAL(carried.noise_ns, one * plan.noise_depth, "as much as is under way");
		CU_ASSERT(one >= (u64)2 * NOISE_LEN * plan.times);
		exact_noise(&plan, 4);
		finish();
	}
}

static void noise_lost(void)
{
	struct nettest_plan plan = { .least = 100, .most = 100, .factor = 2, .repeats = 1,
				     .times = 200, .patterns = NETTEST_ALL, .noise = NOISE_LEN,
				     .noise_pairs = 1, .noise_depth = 3,
				     .check = NETTEST_CHECK_FULL };
	u32 i;

	carried.byte_ns = 40;	/* little noise until a lost message is retransmitted */
	begin(4, &plan);
	rails.on_carry = one_wire;
	start();
	for (i = 0; i < 40 && !all_ended(); i++) {
		rails_clear();
		rails_on(2, -1, RAILS_PUT, FATE_DELIVER, LNET_OK, 20);
		rails_on(2, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
		rails_on(3, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 1);
		run(5 * RAILS_MS);
	}
	rails_clear();
	run(100 * NSEC_PER_SEC);
	for (i = 0; i < 4; i++)
		UNIT_EQUAL(nodes[i].ended && !nodes[i].status, true, "ended well");
	UNIT_EQUAL(errors(), 0, "nothing but noise");
	noise_of_tallies(&plan, 4);
	CU_ASSERT(rails_stat(2, LNET_C_hedges) + rails_stat(2, LNET_C_resend_count) >= 2);
	finish();
}

static u32 spoilt_at;

static void spoil_noise(struct rails_msg *m)
{
	if (m->type == RAILS_PUT && m->len == NOISE_LEN && m->from == 2)
		m->data[spoilt_at] ^= 0x40;
}

/* Each measure finds a byte that is wrong in all noise, if the check covers this byte. */
static void noise_spoilt(void)
{
	static const struct { u32 check, at; bool found; } rows[] = {
		{ NETTEST_CHECK_NONE, 0, false }, { NETTEST_CHECK_ENDS, 0, true },
		{ NETTEST_CHECK_ENDS, 500, false }, { NETTEST_CHECK_ENDS, NOISE_LEN - 1, true },
		{ NETTEST_CHECK_FULL, 500, true },
	};
	struct nettest_plan plan = { .least = 100, .most = 100, .factor = 2, .repeats = 1,
				     .times = 20, .patterns = NETTEST_ALL, .noise = NOISE_LEN,
				     .noise_pairs = 1, .noise_depth = NETTEST_NOISE_DEPTH };
	u32 i, k, all = NETTEST_NOISE_DEPTH * nettest_plan_nr(&plan);

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		plan.check = rows[i].check, spoilt_at = rows[i].at;
		begin(4, &plan);
		rails.on_carry = spoil_noise;
		start();
		run(NSEC_PER_SEC);
		rails.on_carry = NULL;
		for (k = 0; k < 4; k++)
			UNIT_EQUAL(nodes[k].ended && !nodes[k].status, true, "ended well");
		UNIT_EQUAL(errors(), rows[i].found ? all : 0, "found");
		finish();
	}
}

/* One of seven messages is lost, delivered twice, or delivered once more later. */
static void rules(u32 turn)
{
	static const enum rails_fate fates[] = { FATE_LOSE, FATE_TWICE, FATE_LOSE, FATE_LATE };
	u32 i;

	rails_clear();
	for (i = 0; i < 15; i++) {
		rails_on(-1, -1, RAILS_ANY, FATE_DELIVER, LNET_OK, 6);
		rails_on(-1, -1, (turn + i) % 3 ? RAILS_PUT : RAILS_ACK, fates[(turn + i) % 4],
			 LNET_OK, 1);
	}
}

static void faults(void)
{
	struct nettest_plan plan = { .least = 100, .most = 6400, .factor = 8, .repeats = 1,
				     .times = 60, .patterns = NETTEST_ALL,
				     .check = NETTEST_CHECK_FULL };
	u32 i, turn;

	begin(4, &plan);
	start();
	for (turn = 0; turn < 2000 && nodes[0].nr_measured < 10; turn++) {
		rules(turn);
		run(5 * RAILS_MS);
		rails_release();
	}
	UNIT_EQUAL(all_ended(), false, "half of it");
	CU_ASSERT(turn > 20);
	/* One rail is cut, and the messages on it are lost. */
	rails_clear();
	rails_on(-1, 1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	for (i = 0; i < 4; i++)
		rails_link(i, 1, false);
	run(100 * NSEC_PER_SEC);
	for (i = 0; i < 4; i++) {
		UNIT_EQUAL(nodes[i].ended, true, "ended");
		UNIT_EQUAL(nodes[i].status, 0, "well");
	}
	UNIT_EQUAL(errors(), 0, "as sent");
	exact_tallies(&plan, 4);
	finish();
}

/* The nodes wait for a node that starts late, but not for ever for one that never starts. */
static void absent(void)
{
	struct nettest_plan plan = { .least = 100, .most = 100, .factor = 2, .repeats = 1,
				     .times = 2, .patterns = NETTEST_ALL,
				     .check = NETTEST_CHECK_ENDS };
	struct lnet_process ids[RAILS_NODES];
	u32 i;

	for (i = 0; i < RAILS_NODES; i++)
		ids[i] = (struct lnet_process){ (struct lnet_nid){ 0 }, LNET_PID };
	begin(3, &plan);
	for (i = 0; i < 3; i++)
		ids[i].nid = rails_nid(i, 0);
	nettest_start(nodes[0].nt, ids);
	nettest_start(nodes[1].nt, ids);
	run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(nodes[0].nr_measured + nodes[1].nr_measured, 0, "they wait");
	nettest_start(nodes[2].nt, ids);
	run(NSEC_PER_SEC);
	UNIT_EQUAL(all_ended() && !nodes[0].status && !nodes[1].status, true, "late");
	finish();

	begin(3, &plan);
	nettest_start(nodes[0].nt, ids);
	nettest_start(nodes[1].nt, ids);
	nodes[2].ended = true;
	run(70 * NSEC_PER_SEC);
	UNIT_EQUAL(nodes[0].status, -ETIMEDOUT, "not for ever");
	UNIT_EQUAL(nodes[1].status, -ETIMEDOUT, "not for ever");
	nodes[2].ended = false;
	finish();
}

/* If one node becomes unresponsive, every node ends with an error, whether it sends or receives. */
static void gone_node(void)
{
	struct nettest_plan plan = { .least = 100, .most = 100, .factor = 2, .repeats = 1,
				     .times = 1000000, .patterns = NETTEST_ALL,
				     .check = NETTEST_CHECK_ENDS };
	u32 dead, i;

	for (dead = 0; dead < 4; dead += 3) {
		begin(4, &plan);
		start();
		run((20 + dead) * RAILS_MS);
		UNIT_EQUAL(all_ended(), false, "it runs");
		rails_on((int)dead, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
		run(30 * NSEC_PER_SEC);
		for (i = 0; i < 4; i++)
			UNIT_EQUAL(nodes[i].ended && nodes[i].status < 0, true, "seen by all");
		finish();
	}
}

/* A request ends the run. A message that its receiver does not expect is counted as an error. */
static void stops(void)
{
	struct nettest_plan plan = { .least = 100, .most = 100, .factor = 2, .repeats = 1,
				     .times = 1000000, .patterns = NETTEST_ALL,
				     .check = NETTEST_CHECK_ENDS };
	struct nettest_put put = { .kind = NETTEST_DATA, .len = 50, .hdr_data = 999999ULL << 8 };
	u32 i;

	begin(4, &plan);
	start();
	run(20 * RAILS_MS);
	UNIT_EQUAL(errors(), 0, "all as sent");
	put.to = &nodes[1].nt->chan[2];
	put.md = put.to->tx_md[0];
	nodes[1].nt->nr_out++;
	UNIT_EQUAL(nettest_put(nodes[1].nt, &put), 0, "one too many");
	run(20 * RAILS_MS);
	CU_ASSERT(errors() >= 1);
	for (i = 0; i < 4; i++)
		nettest_stop(nodes[i].nt, -ECANCELED);
	run(NSEC_PER_SEC);
	for (i = 0; i < 4; i++)
		UNIT_EQUAL(nodes[i].status, -ECANCELED, "stopped");
	finish();
}

static void refusals(void)
{
	struct nettest_cfg cfg = { .nr = 1, .plan = { .least = 1, .most = 1, .factor = 2,
						      .repeats = 1, .times = 1,
						      .patterns = NETTEST_ALL } };
	struct nettest *nt;

	UNIT_EQUAL(nettest_create(&nt, &cfg), -EINVAL, "alone");
	CU_ASSERT_PTR_NULL(nt);
	cfg.nr = 4;
	cfg.rank = 4;
	UNIT_EQUAL(nettest_create(&nt, &cfg), -EINVAL, "no such node");
	cfg.rank = 0;
	cfg.plan.times = 0;
	UNIT_EQUAL(nettest_create(&nt, &cfg), -EINVAL, "no iterations");
	cfg.plan.times = 1;
	cfg.plan.noise = 1;
	cfg.plan.noise_pairs = 2;
	cfg.plan.noise_depth = 1;
	cfg.nr = 5;
	UNIT_EQUAL(nettest_create(&nt, &cfg), -EINVAL, "one is left");
	cfg.plan.noise_pairs = 0;
	UNIT_EQUAL(nettest_plan_check(&cfg.plan), -EINVAL, "nobody makes it");
	cfg.plan.noise_pairs = 1;
	cfg.plan.noise_depth = NETTEST_NOISE_DEPTH + 1;
	UNIT_EQUAL(nettest_plan_check(&cfg.plan), -EINVAL, "too many under way");
	cfg.plan.noise_depth = 1;
	cfg.plan.noise = LNET_MTU + 1;
	UNIT_EQUAL(nettest_plan_check(&cfg.plan), -EINVAL, "too long");
	cfg.plan.noise = 0;
	UNIT_EQUAL(nettest_plan_check(&cfg.plan), -EINVAL, "of what length?");
}

UNIT_SUITE(nettest,
	   { "N(P) and N_i(P) are the pairs that are linked, for 2 to 16 nodes (nettest-topo)",
	     channels },
	   { "measures of a plan stand where their index says", plans },
	   { "what a message holds is its own", contents },
	   { "all topologies, both ways: bytes of interfaces are 2 L N T R and control "
	     "(nettest-topo, nettest-rates)", runs },
	   { "messages longer than a PUT", long_messages },
	   { "under noise times are longer by what it takes on one wire; all of it is counted",
	     noisy },
	   { "noise that is lost is sent again, and comes to rest", noise_lost },
	   { "noise that is spoilt is found, as far as is checked", noise_spoilt },
	   { "lost and doubled messages, then a rail cut: it completes, all as sent", faults },
	   { "one that is late is waited for, but not for ever", absent },
	   { "one that goes in the middle ends it within half a minute", gone_node },
	   { "told to stop in the middle; what nobody waits for is counted", stops },
	   { "what cannot be is refused", refusals })
