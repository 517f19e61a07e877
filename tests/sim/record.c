/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads recordings, also of real nodes, and writes recordings of simulated nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/sim/replay_file.h"
#include "lnet/recorder/recorder.h"

static int bad(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return -EINVAL;
}

static int parse_head(const struct lnet_rec_head *h, u64 len, char *why, size_t size)
{
	if (h->magic != LNET_REC_MAGIC)
		return bad(why, size, "this is no recording, or of a machine of other byte order");
	if (h->version != LNET_REC_VERSION) {
		snprintf(why, size, "the recording has version %u, only %u can be replayed",
			 h->version, LNET_REC_VERSION);
		return -EINVAL;
	}
	if (h->size != sizeof(struct lnet_rec))
		return bad(why, size, "the recording has records of another size");
	if (!h->nr_shards || h->nr_shards > LNET_MAX_SHARDS ||
	    h->nr_tunables != sizeof(struct lnet_tunables) / sizeof(u64))
		return bad(why, size, "the recording is of a node that was built otherwise");
	if (h->nr != (len - sizeof(*h)) / sizeof(struct lnet_rec) ||
	    (len - sizeof(*h)) % sizeof(struct lnet_rec))
		return bad(why, size, "the recording is cut short or has too much at its end");
	return 0;
}

static int check_record(const struct lnet_rec_head *h, const struct lnet_rec *r, u64 before)
{
	return r->seq > before && r->kind && r->kind < LNET_NR_RECS && r->shard < h->nr_shards ?
	       0 : -EINVAL;
}

int sim_record_parse(const void *data, u64 len, struct lnet_rec_head *head, char *why, size_t size)
{
	const struct lnet_rec *rec = (const void *)((const u8 *)data + sizeof(*head));
	u64 i, before = 0;
	int err;

	if (len < sizeof(*head))
		return bad(why, size, "the recording is cut short: it has no head");
	memcpy(head, data, sizeof(*head));
	err = parse_head(head, len, why, size);
	if (err)
		return err;
	if (lnet_rec_sum(LNET_REC_MAGIC, rec, head->nr) != head->hash)
		return bad(why, size, "the recording is damaged: its sum is not that of its "
			   "records");
	for (i = 0; i < head->nr; i++, before = rec[i - 1].seq)
		if (check_record(head, &rec[i], before))
			return bad(why, size, "the recording has records that cannot be");
	return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int read_all(FILE *f, u8 **data, u64 *len)
{
	u64 room = 1 << 16;
	size_t nr;

	*len = 0;
	*data = malloc(room);
	while (*data && (nr = fread(*data + *len, 1, room - *len, f)) > 0) {
		u8 *more;

		*len += nr;
		if (*len < room)
			continue;
		room *= 2;
		more = *len > LNET_REC_FILE_MAX ? NULL : realloc(*data, room);
		if (!more)
			free(*data);
		*data = more;
	}
	return *data ? 0 : -ENOMEM;
}

int sim_record_load(const char *file, struct lnet_rec_head *head, struct lnet_rec **rec,
		    char *why, size_t size)
{
	FILE *f = fopen(file, "rb");
	u8 *data = NULL;
	u64 len;
	int err;

	*rec = NULL;
	if (!f) {
		snprintf(why, size, "%s: %s", file, strerror(errno));
		return -errno;
	}
	err = read_all(f, &data, &len);
	fclose(f);
	if (err)
		return bad(why, size, "the recording is too large");
	err = sim_record_parse(data, len, head, why, size);
	if (!err) {
		memmove(data, data + sizeof(*head), len - sizeof(*head));
		*rec = (struct lnet_rec *)data;
	} else {
		free(data);
	}
	return err;
}

/* The head is written last, when the number of records is known. */
static int save(struct lnet *ln, FILE *f)
{
	struct lnet_rec_head head;
	struct lnet_rec r[64];
	u64 seq = 0, first = 0;
	unsigned int nr;

	lnet_record_head(ln, &head);
	head.hash = LNET_REC_MAGIC;
	if (fwrite(&head, sizeof(head), 1, f) != 1)
		return -EIO;
	while ((nr = lnet_record_read(ln, &seq, r, ARRAY_SIZE(r)))) {
		if (!first)
			first = r[0].seq;
		if (fwrite(r, sizeof(r[0]), nr, f) != nr)
			return -EIO;
		head.nr += nr;
		head.hash = lnet_rec_sum(head.hash, r, nr);
	}
	head.lost = first ? first - 1 : 0;
	if (fseek(f, 0, SEEK_SET) || fwrite(&head, sizeof(head), 1, f) != 1)
		return -EIO;
	return 0;
}

int sim_record_save(struct lnet *ln, const char *file)
{
	FILE *f = fopen(file, "wb");
	int err;

	if (!f)
		return -errno;
	err = save(ln, f);
	return fclose(f) && !err ? -EIO : err;
}
