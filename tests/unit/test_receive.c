/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bounds of payloads that the TCP driver receives: their time, and the share of an address. */
#include "sock_fake.h"

#define A "192.168.50.11@tcp"
#define C "192.168.50.13@tcp"
#define B "192.168.50.12@tcp"
#define INC_A 0x17f0a1b2c3d4e5f6ULL
#define SEC ((u64)NSEC_PER_SEC)
#define MS ((u64)NSEC_PER_MSEC)

static u8 frames[FAKE_BUFFER / 2];

static void begin(void)
{
	fake_begin_with(B, A, INC_A);
}

/* A payload that arrives byte by byte ends its connections after its longest time. */
static void test_too_slow(void)
{
	struct lnet_tunables *tun;
	u32 at, len;

	begin();
	tun = &fw.node->ln.tun;
	tun->receive_time = 2 * SEC;
	tun->receive_rate = 10000;
	len = fake_put(frames, A, PLAN_LAND, 0, 30000, 0);
	fake_in(&fw.fake[IN], frames, 200);
	for (at = 200; at < 200 + 29; at++) {
		fake_run(100 * MS);
		fake_in(&fw.fake[IN], frames + at, 1);
	}
	CU_ASSERT(!fw.fake[IN].shut);
	fake_run(400 * MS);
	CU_ASSERT(fw.fake[IN].shut && fw.fake[CONTROL].shut);
	UNIT_EQUAL(fw.sn->c[SOCK_C_too_slow], 1, "counted");
	UNIT_EQUAL(fake_got(0)->how, LNET_ABORTED, "the receive");
	UNIT_EQUAL(fake_got(0)->nr_done, 1, "the receive");
	CU_ASSERT(at < len);
	fake_end();
}

/* A payload slightly faster than receive_rate is received. Time without reading does not count. */
static void test_slow_enough(void)
{
	struct lnet_tunables *tun;
	u32 at, len;

	begin();
	tun = &fw.node->ln.tun;
	tun->receive_time = SEC;
	tun->receive_rate = 10000;
	len = fake_put(frames, A, PLAN_LAND, 0, 30000, 0);
	for (at = 0; at < len; at += 1100) {
		fake_in(&fw.fake[IN], frames + at, min(1100U, len - at));
		fake_run(100 * MS);
	}
	fake_landed(0, 30000, "a slow one");
	fake_in(&fw.fake[IN], frames, 1000);
	fake_run(300 * MS);
	contract_env_run(&fw.pair, 20 * SEC);
	fake_run(100 * MS);
	fake_in(&fw.fake[IN], frames + 1000, len - 1000);
	fake_landed(1, 30000, "after this node slept");
	UNIT_EQUAL(fw.sn->c[SOCK_C_too_slow], 0, "none was too slow");
	fake_end();
}

/* Peers that are due in every tick: a pinned peer without connections is. */
static void crowd(unsigned int nr)
{
	struct lnet_peer_ni *pni;
	struct sock_peer *peer;
	struct lnet_nid nid;

	CU_ASSERT_EQUAL(lnet_nid_parse(&nid, "10.1.0.0@tcp"), 0);
	while (nr--) {
		nid.addr[0] = cpu_to_be32(be32_to_cpu(nid.addr[0]) + 1);
		pni = lnet_peer_ni_get(&fw.node->ln, &nid);
		peer = sock_peer_make(fw.sn, &nid, pni);
		CU_ASSERT_PTR_NOT_NULL_FATAL(peer);
		peer->pins++;
		lnet_peer_ni_put(pni);
	}
}

static void crowd_end(void)
{
	struct sock_peer *peer;

	list_for_each_entry(peer, &fw.sn->peers, link)
		if (peer->pins && list_empty(&peer->conns))
			peer->pins--;
	fake_run(2 * SEC);
}

/* If so many peers are due that each is visited every 0.5 s, all time of a payload counts. */
static void test_crowd(void)
{
	struct lnet_tunables *tun;

	begin();
	tun = &fw.node->ln.tun;
	tun->receive_time = 5 * SEC;
	tun->receive_rate = 1000000;
	fake_put(frames, A, PLAN_LAND, 0, 30000, 0);
	fake_in(&fw.fake[IN], frames, 200);
	crowd(50 * SOCK_TICK_PEERS);
	fake_run(4 * SEC);
	CU_ASSERT(!fw.fake[IN].shut);
	fake_run(3 * SEC);
	CU_ASSERT(fw.fake[IN].shut);
	UNIT_EQUAL(fw.sn->c[SOCK_C_too_slow], 1, "counted");
	crowd_end();
	fake_end();
}

/*
 * The node receives no more than its share from one address. The next payload waits until another
 * one is complete; payloads of other addresses do not wait.
 */
static void test_share(void)
{
	struct fake *other;
	u32 len, i;

	begin();
	fw.node->ln.tun.receive_per_address = 100000;
	len = fake_put(frames, A, PLAN_LAND, 0, 90000, 0);
	for (i = CONTROL; i <= IN; i++)
		fake_in(&fw.fake[i], frames, i == OUT ? 60 : 200);
	UNIT_EQUAL(fake_nr_got(), 1, "received at a time");
	UNIT_EQUAL(fw.sn->c[SOCK_C_throttled], 1, "one waits");
	other = fake_come(C, LNET_CTYPE_CONTROL, INC_A);
	fake_in(other, frames, fake_put(frames, C, PLAN_LAND, 1, 90000, 0));
	fake_landed(1, 90000, "of another address");
	len = fake_put(frames, A, PLAN_LAND, 0, 90000, 0);
	fake_in(&fw.fake[CONTROL], frames + 200, len - 200);
	fake_landed(0, 90000, "the first");
	fake_run(10 * MS);
	fake_in(&fw.fake[OUT], frames + 60, len - 60);
	fake_in(&fw.fake[IN], frames + 200, len - 200);
	fake_run(10 * MS);
	fake_in(&fw.fake[OUT], frames, 0);
	fake_run(10 * MS);
	fake_landed(2, 90000, "the second");
	fake_landed(3, 90000, "the third");
	UNIT_EQUAL(fake_nr_got(), 4, "received");
	fake_end();
}

/* ops->rx_address() returns the address of the connection of a message. */
static void test_address(void)
{
	struct lnet_nid nid, from;

	begin();
	fake_put(frames, A, PLAN_LAND, 0, 90000, 0);
	fake_in(&fw.fake[IN], frames, 200);
	memset(&nid, 0, sizeof(nid));
	sock_rx_address(fw.node->ni, &fake_got(0)->rx, &nid);
	UNIT_EQUAL(lnet_nid_parse(&from, A), 0, "address");
	UNIT_EQUAL(lnet_nid_same(&nid, &from), true, "the address of the connection");
	fake_end();
}

/* A small payload does not pass a large one that waits. */
static void test_share_order(void)
{
	static u8 small[16384];
	u32 len, small_len;

	begin();
	fw.node->ln.tun.receive_per_address = 100000;
	len = fake_put(frames, A, PLAN_LAND, 0, 90000, 0);
	fake_in(&fw.fake[CONTROL], frames, 200);
	fake_in(&fw.fake[IN], frames, 200);
	small_len = fake_put(small, A, PLAN_LAND, 0, 8000, 0);
	fake_in(&fw.fake[OUT], small, small_len);
	UNIT_EQUAL(fake_nr_got(), 1, "one is received, two wait");
	fake_in(&fw.fake[CONTROL], frames + 200, len - 200);
	fake_run(10 * MS);
	fake_in(&fw.fake[IN], frames + 200, len - 200);
	fake_in(&fw.fake[OUT], small, 0);
	fake_run(10 * MS);
	UNIT_EQUAL(fake_nr_got(), 3, "all are received");
	fake_end();
}

/* If a connection ends while it waits for its share, the next set can use the share. */
static void test_share_ends(void)
{
	struct fake *other;
	u32 len;

	begin();
	fw.node->ln.tun.receive_per_address = 100000;
	len = fake_put(frames, A, PLAN_LAND, 0, 90000, 0);
	fake_in(&fw.fake[CONTROL], frames, 200);
	fake_in(&fw.fake[IN], frames, 200);
	fake_in(&fw.fake[OUT], frames, 200);
	UNIT_EQUAL(fw.sn->c[SOCK_C_throttled], 2, "two wait");
	fake_eof(&fw.fake[CONTROL]);
	CU_ASSERT(fw.fake[IN].shut && fw.fake[OUT].shut);
	other = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	fake_in(other, frames, len);
	fake_landed(1, 90000, "of the next set");
	fake_end();
}

/* The node holds messages without a buffer up to the share of an address, then reads no more. */
static void test_share_of_hold(void)
{
	u32 len, i;

	begin();
	fw.node->ln.tun.hold_per_address = 100000;
	for (i = 0; i < 3; i++) {
		len = fake_put(frames, A, PLAN_LATER_LAND, i, 40000, 0);
		fake_in(&fw.fake[IN], frames, len);
	}
	UNIT_EQUAL(fw.sn->c[SOCK_C_held], 2, "read aside");
	UNIT_EQUAL(fw.sn->c[SOCK_C_stopped], 1, "not read");
	fake_end();
}

#define WAITING 40

static struct fake *waiting[WAITING];

/* Connections of one address; the payloads of all but the first may not be received yet. */
static u64 fill(enum plan plan)
{
	u32 len, i, k;
	char nid[32];
	u64 nr = 0;

	begin();
	fw.node->ln.tun.hello_address = SOCK_ADDRESS_OFF;
	fw.node->ln.tun.receive_per_address = 100000;
	fw.node->ln.tun.hold_per_address = 1 << 20;
	for (i = 0; i < WAITING; i++) {
		snprintf(nid, sizeof(nid), "10.1.0.%u@tcp", 1 + i);
		waiting[i] = fake_come_from(A, true, nid, LNET_CTYPE_CONTROL, 1);
		for (k = 0, len = 0; k < 3; k++)
			len += fake_put(frames + len, nid, plan, i * 3 + k, 90000, 0);
		fake_in(waiting[i], frames, i ? len : 200);
		nr += waiting[i]->at_in;
	}
	return nr;
}

/* hold_per_address includes bytes that the node has read behind a header that must wait. */
static void test_share_of_ahead(void)
{
	u32 len, i, k, round;

	CU_ASSERT(fill(PLAN_LAND) < (1 << 20) + WAITING * 4500);
	CU_ASSERT(fw.sn->hold_bytes < (1 << 20) + WAITING * 4500);
	for (k = 0, len = 0; k < 3; k++)
		len += fake_put(frames + len, "10.1.0.1@tcp", PLAN_LAND, k, 90000, 0);
	fake_in(waiting[0], frames + 200, len - 200);
	for (round = 0; round < 3 * WAITING; round++) {
		fake_run(5 * MS);
		for (i = 0; i < WAITING; i++)
			fake_in(waiting[i], frames, 0);
	}
	UNIT_EQUAL(fake_nr_got(), 3 * WAITING, "all are received");
	for (i = 0; i < 3 * WAITING; i++)
		fake_landed(i, 90000, "each");
	UNIT_EQUAL(fw.sn->hold_bytes, 0, "nothing waits");
	fake_end();
}

/* The same for messages that are too large to be read aside. */
static void test_share_of_stopped(void)
{
	CU_ASSERT(fill(PLAN_LATER_LAND) < (1 << 20) + WAITING * 4500);
	UNIT_EQUAL(fw.sn->c[SOCK_C_stopped], WAITING, "none is read");
	fake_end();
}

/*
 * If others wait for its buffer, the node ends a payload that is too slow within a second. Then it
 * receives no payload from that address for a second, and one at a time for ten seconds.
 */
static void test_in_the_way(void)
{
	struct fake *again;
	u32 len, i;

	begin();
	len = fake_put(frames, A, PLAN_LAND, 0, 90000, 0);
	fake_in(&fw.fake[IN], frames, 200);
	fake_run(2 * SEC);
	CU_ASSERT(!fw.fake[IN].shut);
	fw.node->wanted = true;
	fake_run(300 * MS);
	CU_ASSERT(fw.fake[IN].shut);
	UNIT_EQUAL(fw.sn->c[SOCK_C_too_slow], 1, "counted");
	UNIT_EQUAL(fake_got(0)->how, LNET_ABORTED, "the reason");
	fw.node->wanted = false;
	fw.node->ln.tun.receive_time = 60 * SEC;
	for (i = LNET_CTYPE_CONTROL; i <= LNET_CTYPE_BULK_OUT; i++) {
		again = fake_come(A, i, INC_A);
		fake_in(again, frames, 200);
	}
	fake_run(600 * MS);
	UNIT_EQUAL(fake_nr_got(), 1, "none in the pause");
	fake_run(600 * MS);
	UNIT_EQUAL(fake_nr_got(), 2, "one at a time");
	again = fake_last() - 2;
	fake_in(again, frames + 200, len - 200);
	fake_landed(1, 90000, "that one");
	fake_run(10200 * MS);
	UNIT_EQUAL(fake_nr_got(), 4, "all, after the time");
	fake_end();
}

static void run_until_too_slow(u64 number)
{
	u32 i;

	for (i = 0; i < 100 && fw.sn->c[SOCK_C_too_slow] < number; i++)
		fake_run(20 * MS);
	UNIT_EQUAL(fw.sn->c[SOCK_C_too_slow], number, "payloads that were too slow");
}

/* If an address is too slow again, its pause doubles. */
static void test_pauses(void)
{
	u32 i;

	begin();
	fake_put(frames, A, PLAN_LAND, 0, 90000, 0);
	fake_in(&fw.fake[IN], frames, 200);
	fw.node->wanted = true;
	for (i = 1; i <= 3; i++) {
		run_until_too_slow(i);
		fake_in(fake_come(A, LNET_CTYPE_CONTROL, INC_A), frames, 200);
		fake_run((SEC << (i - 1)) - 100 * MS);
		UNIT_EQUAL(fake_nr_got(), i, "not before the pause ends");
		fake_run(200 * MS);
		UNIT_EQUAL(fake_nr_got(), i + 1, "after it");
	}
	fake_end();
}

/* While others wait, slow payloads share WANTED_NS: each of many ends sooner. */
static void test_many_in_the_way(void)
{
	struct fake *slow[12];
	char nid[32];
	u32 i, shut = 0;

	begin();
	fw.node->wanted = true;
	for (i = 0; i < ARRAY_SIZE(slow); i++) {
		snprintf(nid, sizeof(nid), "192.168.50.%u@tcp", 100 + i);
		slow[i] = fake_come(nid, LNET_CTYPE_CONTROL, INC_A);
		fake_put(frames, nid, PLAN_LAND, i, 90000, 0);
		fake_in(slow[i], frames, 200);
	}
	fake_run(300 * MS);
	for (i = 0; i < ARRAY_SIZE(slow); i++)
		shut += slow[i]->shut;
	CU_ASSERT(shut > ARRAY_SIZE(slow) / 2);
	fake_run(900 * MS);
	UNIT_EQUAL(fw.sn->c[SOCK_C_too_slow], ARRAY_SIZE(slow), "all have ended after a second");
	UNIT_EQUAL(fw.sn->nr_lags, 0, "none is left");
	fake_end();
}

#define NEWCOMERS 40

static void newcomer_nid(char *nid, size_t size, u32 i)
{
	snprintf(nid, size, "192.168.50.%u@tcp", 100 + i);
}

/* @nr new addresses begin a payload and send no more of it. */
static void newcomers_come(u32 first, u32 nr, u32 payload)
{
	char nid[32];
	u32 i;

	for (i = first; i < first + nr; i++) {
		newcomer_nid(nid, sizeof(nid), i);
		fake_put(frames, nid, PLAN_LAND, i, payload, 0);
		fake_in(fake_come(nid, LNET_CTYPE_CONTROL, INC_A), frames, 200);
	}
}

/* Many new addresses cannot take all buffers. An address that completed a payload does not wait. */
static void test_newcomers(void)
{
	struct fake *known, *f;
	u32 len, nr;

	begin();
	fw.node->ln.tun.receive_time = 60 * SEC;
	known = fake_come(C, LNET_CTYPE_CONTROL, INC_A);
	fake_in(known, frames, fake_put(frames, C, PLAN_LAND, 0, 90000, 0));
	fake_landed(0, 90000, "of the known one");
	newcomers_come(0, NEWCOMERS, 90000);
	nr = fake_nr_got();
	UNIT_EQUAL(nr, 1 + 16, "16 new ones are received");
	fake_in(known, frames, fake_put(frames, C, PLAN_LAND, 1, 90000, 0));
	fake_landed(nr, 90000, "of the known one, at once");
	len = fake_put(frames, A, PLAN_LAND, 2, 3000, 0);
	fake_in(&fw.fake[IN], frames, 200);
	fake_in(&fw.fake[IN], frames + 200, len - 200);
	fake_landed(nr + 1, 3000, "of a new one, but small");
	fake_run(200 * MS);
	UNIT_EQUAL(fake_nr_got() > nr + 2, true, "slow ones give way to others");
	fake_run(2 * SEC);
	CU_ASSERT(fw.sn->nr_young + fw.sn->nr_lags <= 16);
	CU_ASSERT(fake_nr_got() >= nr + 2 + NEWCOMERS - 16);
	for (f = &fw.fake[IN]; f <= fake_last(); f++)
		if (f->c)
			fake_eof(f);
	fake_run(SEC);
	UNIT_EQUAL(fw.sn->nr_young + fw.sn->nr_lags, 0, "none is left");
	fake_end();
}

/* Payloads of new addresses that arrive fast enough do not keep others waiting. */
static void test_fast_newcomers(void)
{
	u32 i;

	begin();
	for (i = 0; i < NEWCOMERS; i++) {
		newcomers_come(i, 1, 90000);
		fake_in(fake_last(), frames + 200, 20000);
	}
	UNIT_EQUAL(fake_nr_got(), 16, "16 at once");
	fake_run(30 * MS);
	for (i = 0; i < NEWCOMERS; i++)
		fake_in(fake_last() - i, frames, 0);
	fake_run(30 * MS);
	UNIT_EQUAL(fake_nr_got() >= 32, true, "more of them after a short time");
	UNIT_EQUAL(fw.sn->c[SOCK_C_too_slow], 0, "none is too slow");
	fake_end();
}

/* Without a least rate, new addresses do not wait. */
static void test_newcomers_any(void)
{
	begin();
	fw.node->ln.tun.receive_rate = 0;
	newcomers_come(0, NEWCOMERS, 90000);
	UNIT_EQUAL(fake_nr_got(), NEWCOMERS, "all are received");
	fake_end();
}

/* A payload at receive_rate is received, also if others wait. */
static void test_in_nobodys_way(void)
{
	u32 len, at;

	begin();
	fw.node->wanted = true;
	len = fake_put(frames, A, PLAN_LAND, 0, 200000, 0);
	for (at = 0; at < len; at += 4000) {
		fake_in(&fw.fake[IN], frames + at, min(4000U, len - at));
		fake_run(100 * MS);
	}
	fake_landed(0, 200000, "40 KiB a second");
	fake_end();
}

UNIT_SUITE(receive,
	{ "a payload slower than the least rate ends its connections", test_too_slow },
	{ "one at that rate does not, nor one that was not read", test_slow_enough },
	{ "the time of a payload counts while many peers are due", test_crowd },
	{ "one address receives no more than its share", test_share },
	{ "the address of a message is that of its connection", test_address },
	{ "connections get their share in the order in which they wait", test_share_order },
	{ "a connection that waits for its share may end", test_share_ends },
	{ "one address has a share of the memory for messages that wait", test_share_of_hold },
	{ "bytes that wait behind a header are a part of it", test_share_of_ahead },
	{ "also if the message is too large for it", test_share_of_stopped },
	{ "a slow payload gives way to others that wait for its buffer", test_in_the_way },
	{ "the pause of an address doubles each time it is too slow", test_pauses },
	{ "many slow payloads end sooner", test_many_in_the_way },
	{ "one at the least rate does not", test_in_nobodys_way },
	{ "many new addresses leave buffers to others", test_newcomers },
	{ "new addresses that are fast do not wait long", test_fast_newcomers },
	{ "without a least rate they do not wait", test_newcomers_any },
)
