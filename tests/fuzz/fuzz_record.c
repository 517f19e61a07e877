/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of the reader of recordings, as `lnetsim --replay FILE` calls it. An accepted file has
 * valid records, in order, and their sum. A truncated file, or one with a changed bit, is rejected.
 *
 * The first byte selects the fields that are corrected before the rest is read as a file. So inputs
 * reach the code behind the checks of the head.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "lnet/model/model.h"
#include "tests/sim/replay_file.h"

enum { MEND_HEAD = 1, MEND_NR = 2, MEND_SUM = 4, SPOIL = 8, LONG = 0xff };
#define LONG_BYTES (200u << 10)

static int file = -1;
static char name[32];

static void file_make(void)
{
	file = memfd_create("record", MFD_CLOEXEC);
	if (file < 0)
		abort();
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
}

static void file_write(const u8 *data, size_t len, bool again)
{
	size_t at = 0;

	if (ftruncate(file, 0) || lseek(file, 0, SEEK_SET))
		abort();
	do {
		if (write(file, data, len) != (ssize_t)len)
			abort();
		at += len;
	} while (again && at < LONG_BYTES && len > 64);
}

static void mend(u8 *data, size_t len, u8 how)
{
	struct lnet_rec_head head;

	if (len < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	if (how & MEND_HEAD) {
		head.magic = LNET_REC_MAGIC;
		head.version = LNET_REC_VERSION;
		head.size = sizeof(struct lnet_rec);
		head.nr_tunables = sizeof(struct lnet_tunables) / sizeof(u64);
	}
	if (how & MEND_NR)
		head.nr = (len - sizeof(head)) / sizeof(struct lnet_rec);
	if (how & MEND_SUM)
		head.hash = lnet_rec_sum(LNET_REC_MAGIC, (void *)(data + sizeof(head)),
					 (len - sizeof(head)) / sizeof(struct lnet_rec));
	memcpy(data, &head, sizeof(head));
}

static void check_taken(const struct lnet_rec_head *head, const struct lnet_rec *rec, size_t len)
{
	u64 i;

	BUG_ON(head->nr * sizeof(*rec) + sizeof(*head) != len);
	BUG_ON(!head->nr_shards || head->nr_shards > LNET_MAX_SHARDS);
	BUG_ON(lnet_rec_sum(LNET_REC_MAGIC, rec, head->nr) != head->hash);
	for (i = 0; i < head->nr; i++) {
		BUG_ON(!rec[i].kind || rec[i].kind >= LNET_NR_RECS);
		BUG_ON(rec[i].shard >= head->nr_shards || !rec[i].seq);
		BUG_ON(i && rec[i].seq <= rec[i - 1].seq);
	}
}

/* Changes one bit of an accepted record, which the reader must detect. */
static void check_spoilt(u8 *data, size_t len, u8 where)
{
	struct lnet_rec_head head;
	char why[200];
	size_t at = sizeof(head) + where * 7919u % (len - sizeof(head));

	data[at] ^= 1 << where % 8;
	BUG_ON(!sim_record_parse(data, len, &head, why, sizeof(why)));
	BUG_ON(!strstr(why, "damaged"));
	BUG_ON(!sim_record_parse(data, len - 1, &head, why, sizeof(why)));
	BUG_ON(!strstr(why, "cut short"));
}

static void read_it(u8 *data, size_t len, u8 how, bool whole)
{
	struct lnet_rec_head head;
	struct lnet_rec *rec;
	char why[200] = "";
	int err = sim_record_load(name, &head, &rec, why, sizeof(why));

	BUG_ON(err ? rec || !why[0] : !rec || why[0]);
	if (err || !whole)
		return;
	check_taken(&head, rec, len);
	free(rec);
	if (head.nr && how & SPOIL)
		check_spoilt(data, len, how);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_begin(data, size);
	u8 how = fuzz_u8(&in), *copy;
	size_t len = size;

	if (file < 0)
		file_make();
	copy = fuzz_bytes(&in, &len);
	if (how != LONG)
		mend(copy, len, how);
	file_write(copy, len, how == LONG);
	read_it(copy, len, how, how != LONG);
	free(copy);
	return 0;
}
