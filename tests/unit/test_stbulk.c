/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is bulk data of our tests received as sent, in any pieces, and is a difference detected? */
#include <signal.h>
#include <sys/mman.h>
#include "st_world.h"

static struct lst_plan plan;
static struct lst_tally t;
static u64 numbers[13];

static void begin(void)
{
	st_begin(3);
	UNIT_EQUAL(st_make(1), 0, "client");
	UNIT_EQUAL(st_make(2), 0, "server");
	st_plan_init(&plan, LST_WHAT_BULK);
}

static void run(const char *what)
{
	u32 left = 1000;

	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, what);
	do {
		st_run(10 * NSEC_PER_MSEC);
		UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 0, 0), 0, what);
	} while (st_active() && left--);
	UNIT_EQUAL(st_active(), 0, what);
	st_tally(1, 1, false, &t, numbers);
}

static const u32 modes[] = { LST_MODE_READ, LST_MODE_WRITE, LST_MODE_BACK, LST_MODE_BOTH };
static const u32 checks[] = { LST_VERIFY_NONE, LST_VERIFY_SIMPLE, LST_VERIFY_CRC32C,
			      LST_VERIFY_FULL };

static void all_well(u64 nr, const char *what)
{
	bool out = plan.mode != LST_MODE_READ, in = plan.mode != LST_MODE_WRITE;

	run(what);
	UNIT_EQUAL(t.c[LST_T_sent], nr, what);
	UNIT_EQUAL(t.c[LST_T_received], nr, what);
	UNIT_EQUAL(t.c[LST_T_corrupt] + t.c[LST_T_refused] + t.c[LST_T_lost], 0, what);
	UNIT_EQUAL(t.c[LST_T_bytes_out], out ? nr * plan.size : 0, what);
	UNIT_EQUAL(t.c[LST_T_bytes_in], in ? nr * plan.size : 0, what);
	st_run(NSEC_PER_SEC);		/* LNet may report the last arrivals late */
	st_tally(2, 1, true, &t, numbers);
	UNIT_EQUAL(numbers[ST_SERVED], nr, what);
	UNIT_EQUAL(numbers[ST_TO], out ? nr * plan.size : 0, what);
	UNIT_EQUAL(numbers[ST_FROM], in ? nr * plan.size : 0, what);
	UNIT_EQUAL(numbers[ST_TO_FIRST] <= numbers[ST_TO_LAST] &&
		   numbers[ST_FROM_FIRST] <= numbers[ST_FROM_LAST], true, what);
	UNIT_EQUAL(!numbers[ST_TO_FIRST], !out, "a window to the node");
	UNIT_EQUAL(!numbers[ST_FROM_LAST], !in, "a window from the node");
}

static void shapes(void)
{
	static const struct {
		const char *what;
		u32 size, off, frags, concur;
	} row[] = {
		{ "a byte", 1, 0, 1, 1 },
		{ "seven", 7, 3, 4, 2 },
		{ "less than a page", 4095, 3, 7, 2 },
		{ "more than a page", 4097, 1, 3, 3 },
		{ "a MiB", 1048576, 0, 1, 2 },
		{ "a MiB in 256", 1048576, 3, 256, 1 },
		{ "more than a MiB", 1048577, 5, 1, 2 },
		{ "three and a half in 256", 3670019, 4095, 256, 1 },
	};
	u32 i, mode, check;

	for (i = 0; i < ARRAY_SIZE(row); i++)
		for (mode = 0; mode < ARRAY_SIZE(modes); mode++)
			for (check = 0; check < ARRAY_SIZE(checks); check++) {
				begin();
				plan.size = row[i].size;
				plan.off = row[i].off;
				plan.frags = row[i].frags;
				plan.concur = row[i].concur;
				plan.mode = modes[mode];
				plan.verify = checks[check];
				plan.every = 8;
				plan.loop = 3;
				UNIT_EQUAL(st_drill(1, 2, &plan), 0, row[i].what);
				all_well(3 * row[i].concur, row[i].what);
				st_end();
			}
}

/* ---- faults ---------------------------------------------------------------------------------- */

enum fault {
#define SEEN(fault, none, simple, crc32c, full) FAULT_##fault,
#include "st_matrix.def"
#undef SEEN
	NR_FAULTS
};

static const struct {
	const char *name;
	bool seen[4];
} predicted[] = {
#define SEEN(fault, none, simple, crc32c, full) { #fault, { none, simple, crc32c, full } },
#include "st_matrix.def"
#undef SEEN
};

#define SIZE	65536U
#define PAGE	4096U
#define MIDDLE	(20 * 512 + 100U)

static struct {
	enum fault fault;
	u32 nr;				/* of this one */
	u32 seen;
	u8 before[RAILS_NODES][SIZE];	/* by sender */
} plant;

static void spoil(struct rails_msg *m)
{
	u8 page[PAGE];

	switch (plant.fault) {
	case FAULT_BIT:
		m->data[MIDDLE] ^= 4;
		return;
	case FAULT_MARK:
		m->data[20 * 512] ^= 4;
		return;
	case FAULT_PAGES:
		memcpy(page, m->data, PAGE);
		memcpy(m->data, m->data + PAGE, PAGE);
		memcpy(m->data + PAGE, page, PAGE);
		return;
	case FAULT_SHORT:
		m->len -= 100;
		m->hdr.payload_len = m->len;
		return;
	case FAULT_STALE:
		memcpy(m->data, plant.before[m->from], SIZE);
		return;
	case FAULT_DOUBLE:
		memcpy(m->data + PAGE, m->data, PAGE);
		return;
	case NR_FAULTS:
		return;
	}
}

static void on_carry(struct rails_msg *m)
{
	if (m->len != SIZE)
		return;
	if (++plant.seen == plant.nr)
		spoil(m);
	if (m->len == SIZE)
		memcpy(plant.before[m->from], m->data, SIZE);
}

static void matrix(void)
{
	u32 fault, check, mode;

	for (fault = 0; fault < NR_FAULTS; fault++)
		for (check = 0; check < ARRAY_SIZE(checks); check++)
			for (mode = 0; mode < ARRAY_SIZE(modes); mode++) {
				u32 seen = predicted[fault].seen[check];

				begin();
				plan.size = SIZE;
				plan.mode = modes[mode];
				plan.verify = checks[check];
				plan.loop = 6;
				UNIT_EQUAL(st_drill(1, 2, &plan), 0, "added");
				memset(&plant, 0, sizeof(plant));
				plant.fault = fault;
				/* With both directions, twice as many messages carry data. */
				plant.nr = mode < 2 ? 3 : 6;
				rails.on_carry = on_carry;
				run(predicted[fault].name);
				UNIT_EQUAL(t.c[LST_T_corrupt], seen, predicted[fault].name);
				UNIT_EQUAL(t.c[LST_T_received], 6, "all are answered");
				st_end();
			}
}

/* A finding contains the position, the number of bytes and the rail. */
static void findings(void)
{
	struct lst_batch *batch;
	struct lst_finding *f;
	struct lst_test *test;
	u32 side;

	for (side = 0; side < 2; side++) {
		begin();
		plan.size = SIZE;
		plan.frags = 5;
		plan.mode = side ? LST_MODE_WRITE : LST_MODE_READ;
		plan.verify = LST_VERIFY_FULL;
		plan.loop = 6;
		UNIT_EQUAL(st_drill(1, 2, &plan), 0, "added");
		plant.fault = FAULT_BIT;
		plant.seen = 0;
		plant.nr = 4;
		rails.on_carry = on_carry;
		run("a bit");
		if (side)
			st_tally(2, 1, true, &t, numbers);
		UNIT_EQUAL(numbers[ST_FOUND], 1, "one");
		UNIT_EQUAL(numbers[ST_BAD_OFF], MIDDLE, "where");
		UNIT_EQUAL(numbers[ST_BAD_LEN], 1, "how much");
		UNIT_EQUAL(numbers[ST_BAD_SEQ], 4, "in which");
		batch = lst_batch_find(st_of(1 + side)->session, ST_BID);
		test = list_first_entry(&batch->tests, struct lst_test, link);
		f = &test->drill->finding;
		if (side) {
			UNIT_EQUAL(lnet_nid_is_any(&f->from), true, "which is not known");
			st_end();
			continue;
		}
		UNIT_EQUAL(lnet_nid_num(&f->from) == lnet_nid_num(&f->to), true, "the rail");
		UNIT_EQUAL(lnet_nid_same(&f->from, &rails.nid[2][lnet_nid_num(&f->from)]),
			   true, "from");
		UNIT_EQUAL(lnet_nid_same(&f->to, &rails.nid[1][lnet_nid_num(&f->to)]), true, "to");
		st_end();
	}
}

/* ---- without a check nothing is read --------------------------------------------------------- */

#define BLIND	(1U << 20)
static u8 *blind[16];
static u32 nr_blind;

static void protect(bool open)
{
	u32 i;

	for (i = 0; i < nr_blind; i++) {
		u8 *from = (u8 *)(((uintptr_t)blind[i] + 4095) & ~4095ULL);

		if (mprotect(from, BLIND - 8192, open ? PROT_READ | PROT_WRITE : PROT_NONE))
			abort();
	}
}

static volatile sig_atomic_t nr_touched;

static void on_touch(int sig)
{
	nr_touched++;
	protect(true);
}

static void hide(const struct lst_store *store)
{
	CU_ASSERT_FATAL(nr_blind < ARRAY_SIZE(blind));
	if (store->mem)
		blind[nr_blind++] = store->mem;
}

static const struct lst_drill *drill_of(unsigned int node)
{
	struct lst_batch *batch = lst_batch_find(st_of(node)->session, ST_BID);

	return list_first_entry(&batch->tests, struct lst_test, link)->drill;
}

/* The second run uses the memory of the first; only code that carries messages may access it. */
static void run_blind(void)
{
	struct sigaction touch = { .sa_handler = on_touch }, before;
	struct lst_haul *h;

	run("once");
	st_run(NSEC_PER_SEC);
	nr_blind = 0;
	hide(&drill_of(1)->slot[0].out);
	hide(&drill_of(1)->slot[0].in);
	list_for_each_entry(h, &drill_of(2)->hauls, link) {
		hide(&h->in);
		hide(&h->out);
	}
	nr_touched = 0;
	sigaction(SIGSEGV, &touch, &before);
	rails.on_copy = protect;
	protect(false);
	run("blind");
	protect(true);
	rails.on_copy = NULL;
	sigaction(SIGSEGV, &before, NULL);
}

static void nothing_is_read(void)
{
	u32 mode;

	for (mode = 0; mode < ARRAY_SIZE(modes); mode++) {
		begin();
		plan.size = BLIND;
		plan.mode = modes[mode];
		plan.loop = 4;
		UNIT_EQUAL(st_drill(1, 2, &plan), 0, "added");
		run_blind();
		UNIT_EQUAL(nr_blind >= (mode < 2 ? 2 : mode == 2 ? 3 : 4), true,
			   "memory of both");
		UNIT_EQUAL(t.c[LST_T_received], 4, "moved");
		UNIT_EQUAL(nr_touched, 0, "untouched");
		st_end();
	}
}

/* Every other check reads the memory, so the test above is meaningful. */
static void others_read(void)
{
	u32 check;

	for (check = 1; check < ARRAY_SIZE(checks); check++) {
		begin();
		plan.size = BLIND;
		plan.mode = LST_MODE_WRITE;
		plan.loop = 4;
		plan.verify = checks[check];
		UNIT_EQUAL(st_drill(1, 2, &plan), 0, "added");
		run_blind();
		UNIT_EQUAL(nr_touched > 0, true, "it reads");
		UNIT_EQUAL(t.c[LST_T_corrupt], 0, "well");
		st_end();
	}
}

/* A flipped bit is detected at a mark, and nowhere else; fragments do not matter. */
static void marks(void)
{
	static const u32 every[] = { 8, 9, 100, 512, 5000 };
	struct lst_verifier v = { .how = LST_VERIFY_SIMPLE };
	struct lst_plan p = { .what = LST_WHAT_BULK, .size = 2050, .off = 5, .frags = 7 };
	struct lst_store store;
	struct lst_bad bad;
	u32 i, frag, at, nr;

	for (i = 0; i < ARRAY_SIZE(every); i++) {
		v.every = every[i];
		UNIT_EQUAL(lst_store_make(&store, &p), 0, "memory");
		lst_verify_fill(&v, &store, 1);
		UNIT_EQUAL(lst_verify_good(&v, &store, 2, 0, &bad), true, "whole");
		lst_store_part(&store, 0, &nr);
		for (at = 0, frag = 0; frag < nr; frag++) {
			u8 *mem = store.frag[frag].base, *end = mem + store.frag[frag].len;

			for (; mem < end; mem++, at++) {
				*mem ^= 0x10;
				UNIT_EQUAL(lst_verify_good(&v, &store, 2, 0, &bad),
					   at % every[i] >= 8, "at marks");
				*mem ^= 0x10;
			}
		}
		UNIT_EQUAL(at, 2050, "all of it");
		lst_verify_spoil(&v, &store);
		UNIT_EQUAL(lst_verify_good(&v, &store, 2, 0, &bad), false, "nothing came");
		UNIT_EQUAL(bad.off, 0, "from the begin");
		lst_store_free(&store);
	}
}

static void checksums(void)
{
	static struct lst_crc32c c;
	u8 mem[64] = "123456789";
	u32 i, crc;

	lst_crc32c_init(&c);
	UNIT_EQUAL((u32)~lst_crc32c(&c, ~0U, mem, 9), 0xe3069283U, "the known one");
	memset(mem, 0, sizeof(mem));
	UNIT_EQUAL((u32)~lst_crc32c(&c, ~0U, mem, 32), 0x8a9136aaU, "zeros");
	memset(mem, 0xff, sizeof(mem));
	UNIT_EQUAL((u32)~lst_crc32c(&c, ~0U, mem, 32), 0x62a8ab43U, "ones");
	for (i = 0; i <= 64; i++) {
		crc = lst_crc32c(&c, lst_crc32c(&c, ~0U, mem, i), mem + i, 64 - i);
		UNIT_EQUAL(crc, lst_crc32c(&c, ~0U, mem, 64), "in two steps");
	}
}

UNIT_SUITE(stbulk,
	   { "r.c2.net.self-test.test.bulk.size: any size, offset, number of pieces, both ways",
	     shapes },
	   { "r.c2.net.self-test.test.bulk.integrity: faults are seen as predicted", matrix },
	   { "r.c2.net.self-test.test.bulk.integrity.paranoid: where a fault is",
	     findings },
	   { "r.c2.net.self-test.test.bulk.integrity.no-check: no byte is touched",
	     nothing_is_read },
	   { "other checks touch them", others_read },
	   { "r.c2.net.self-test.test.bulk.integrity.simplistic: marks, as far apart as asked",
	     marks },
	   { "r.c2.net.self-test.test.bulk.integrity.checksumming: CRC-32C", checksums })
