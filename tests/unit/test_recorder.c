/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of recordings: a malformed file is rejected with a message. tests/sim/replay tests that a
 * replay makes the recorded decisions.
 */
#include "unit.h"
#include "model/model.h"
#include "tests/sim/replay_file.h"
#include "xfer/xfer.h"

#define FEW 3U

struct file {
	struct lnet_rec_head head;
	struct lnet_rec rec[FEW];
};

static void file_make(struct file *f)
{
	unsigned int i;

	memset(f, 0, sizeof(*f));
	f->head = (struct lnet_rec_head){
		.magic = LNET_REC_MAGIC, .version = LNET_REC_VERSION,
		.size = sizeof(struct lnet_rec), .nr_shards = 1,
		.nr_tunables = sizeof(struct lnet_tunables) / sizeof(u64), .nr = FEW,
	};
	for (i = 0; i < FEW; i++)
		f->rec[i] = (struct lnet_rec){ .seq = i + 1, .kind = LNET_RK_VALUE };
}

static void file_sum(struct file *f)
{
	f->head.hash = lnet_rec_sum(LNET_REC_MAGIC, f->rec, FEW);
}

static void no_magic(struct file *f) { f->head.magic++; }
static void later_version(struct file *f) { f->head.version++; }
static void larger_records(struct file *f) { f->head.size += 8; }
static void no_shard(struct file *f) { f->head.nr_shards = 0; }
static void many_shards(struct file *f) { f->head.nr_shards = 1000; }
static void other_tunables(struct file *f) { f->head.nr_tunables--; }
static void more_said(struct file *f) { f->head.nr++; }
static void less_said(struct file *f) { f->head.nr--; }
static void damaged(struct file *f) { f->rec[1].a[2] ^= 4; }
static void no_kind(struct file *f) { f->rec[1].kind = 0; file_sum(f); }
static void unknown_kind(struct file *f) { f->rec[1].kind = LNET_NR_RECS; file_sum(f); }
static void other_shard(struct file *f) { f->rec[1].shard = 1; file_sum(f); }
static void not_sorted(struct file *f) { f->rec[2].seq = 1; file_sum(f); }

static void test_files(void)
{
	static const struct {
		const char *name;
		void (*spoil)(struct file *f);
	} cases[] = {
		{ "no magic", no_magic }, { "a later version", later_version },
		{ "larger records", larger_records }, { "no shard", no_shard },
		{ "too many shards", many_shards }, { "other tunables", other_tunables },
		{ "more than there is", more_said }, { "less than there is", less_said },
		{ "damaged", damaged }, { "a record of no kind", no_kind },
		{ "a record of an unknown kind", unknown_kind },
		{ "a record of no shard", other_shard }, { "not sorted", not_sorted },
	};
	struct lnet_rec_head head;
	struct file f;
	char why[256];
	unsigned int i;

	file_make(&f);
	file_sum(&f);
	UNIT_EQUAL(sim_record_parse(&f, sizeof(f), &head, why, sizeof(why)), 0, "a good one");
	for (i = 0; i < sizeof(f); i++) {
		why[0] = 0;
		UNIT_EQUAL(sim_record_parse(&f, i, &head, why, sizeof(why)), -EINVAL, "cut short");
		CU_ASSERT(why[0] != 0);
	}
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		file_make(&f);
		file_sum(&f);
		cases[i].spoil(&f);
		why[0] = 0;
		UNIT_EQUAL(sim_record_parse(&f, sizeof(f), &head, why, sizeof(why)), -EINVAL,
			   cases[i].name);
		CU_ASSERT(why[0] != 0);
	}
}

static u64 recorded_yes(struct lnet_shard *sh, u64 value)
{
	return 1;
}

/*
 * Another thread changes the marks of an NI, so a replay must not read them. It uses the recorded
 * decision whether a request with a given source may use another one.
 */
static void test_unbind(void)
{
	static const struct lnet_trace_ops ops = { .note_value = recorded_yes };
	struct lnet_trace trace = { .ops = &ops };
	struct lnet_shard *sh = calloc(1, sizeof(*sh));
	struct lnet_op op = { .sh = sh, .binding = LNET_BIND_FIXED };

	CU_ASSERT_PTR_NOT_NULL_FATAL(sh);
	UNIT_EQUAL(lnet_op_unbind(&op), false, "without a recording");
	UNIT_EQUAL(op.binding, LNET_BIND_FIXED, "without a recording");
	sh->rec = &trace;
	UNIT_EQUAL(lnet_op_unbind(&op), true, "the recording says that the source leaves");
	UNIT_EQUAL(op.binding, LNET_BIND_NONE, "the recording says that the source leaves");
	free(sh);
}

UNIT_SUITE(recorder,
	{ "what is no recording is refused", test_files },
	{ "a replay takes from the recording whether the source of a request leaves", test_unbind })
