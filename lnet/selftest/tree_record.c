/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Results of a wave: the nodes that executed, rejected or missed the wave, and merged tallies. */
#include "tree.h"

#define HEAD 48U			/* bytes before the sets */
#define TALLY_HEAD 6U

void lst_tree_record_init(struct lst_tree_record *rec, u32 first, u32 nr)
{
	memset(rec, 0, sizeof(*rec));
	rec->first = rec->missing.first = rec->refused.first = first;
	rec->nr = rec->missing.nr = rec->refused.nr = nr;
}

void lst_tree_record_free(struct lst_tree_record *rec)
{
	u32 i;

	lst_set_free(&rec->missing);
	lst_set_free(&rec->refused);
	for (i = 0; i < rec->nr_tallies; i++)
		kvfree(rec->tally[i]);
	rec->nr_tallies = 0;
}

/*
 * Returns the tally of test @id, and creates it if necessary. NULL: no memory, or too many tallies.
 */
static struct lst_tree_tally *record_tally_of(struct lst_tree_record *rec, u32 id)
{
	struct lst_tree_tally *new;
	u32 at = rec->nr_tallies;

	while (at && rec->tally[at - 1]->id > id)
		at--;
	if (at && rec->tally[at - 1]->id == id)
		return rec->tally[at - 1];
	new = rec->nr_tallies < LST_TREE_TESTS_MAX ? kmalloc(sizeof(*new), GFP_NOWAIT) : NULL;
	if (!new)
		return NULL;
	new->id = id;
	lst_tally_init(&new->tally);
	memmove(&rec->tally[at + 1], &rec->tally[at],
		(rec->nr_tallies++ - at) * sizeof(rec->tally[0]));
	rec->tally[at] = new;
	return new;
}

int lst_tree_record_tally(struct lst_tree_record *rec, u32 id, const struct lst_tally *tally)
{
	struct lst_tree_tally *into = record_tally_of(rec, id);

	if (!into)
		return -ENOMEM;
	lst_tally_merge(&into->tally, tally);
	return 0;
}

/* ---- on the wire ----------------------------------------------------------------------------- */

u32 lst_tree_record_size(const struct lst_tree_record *rec)
{
	return HEAD + 2 * LST_SET_WIRE(rec->nr) + rec->nr_tallies * (TALLY_HEAD + LST_TALLY_WIRE);
}

/*
 * Bytes of a record, little endian, in this order; the length of each number is in parentheses:
 *	first, nr, done, refused, active, started, status, tallies (4 each);
 *	late, bound (8 each);
 *	the two sets of nodes, missing and refused;
 *	for each tally the number of its test (4), the length (2), and the bytes of the tally.
 */
u32 lst_tree_record_encode(const struct lst_tree_record *rec, u8 *buf)
{
	const u32 head[8] = { rec->first, rec->nr, rec->nr_done, rec->nr_refused, rec->nr_active,
			      rec->nr_started, rec->status, rec->nr_tallies };
	u32 i, used, len = HEAD;

	for (i = 0; i < ARRAY_SIZE(head); i++)
		put_unaligned_le32(head[i], buf + 4 * i);
	put_unaligned_le64(rec->late_ns, buf + 32);
	put_unaligned_le64(rec->bound_ns, buf + 40);
	len += lst_set_encode(&rec->missing, buf + len);
	len += lst_set_encode(&rec->refused, buf + len);
	for (i = 0; i < rec->nr_tallies; i++) {
		used = lst_tally_encode(&rec->tally[i]->tally, buf + len + TALLY_HEAD);
		put_unaligned_le32(rec->tally[i]->id, buf + len);
		put_unaligned_le16((u16)used, buf + len + 4);
		len += TALLY_HEAD + used;
	}
	return len;
}

/* Adds one tally. Returns the number of used bytes, or -errno. */
static int tally_merge(struct lst_tree_record *rec, const u8 *buf, u32 len)
{
	struct lst_tally *tally;
	u32 bytes, used;
	int rc;

	if (len < TALLY_HEAD || get_unaligned_le16(buf + 4) > len - TALLY_HEAD)
		return -EINVAL;
	bytes = get_unaligned_le16(buf + 4);
	tally = kmalloc(sizeof(*tally), GFP_NOWAIT);
	if (!tally)
		return -ENOMEM;
	rc = lst_tally_decode(tally, buf + TALLY_HEAD, bytes, &used);
	if (!rc && used != bytes)
		rc = -EINVAL;
	if (!rc)
		rc = lst_tree_record_tally(rec, get_unaligned_le32(buf), tally);
	kfree(tally);
	return rc ? rc : (int)(TALLY_HEAD + bytes);
}

static int record_head_read(struct lst_tree_record *rec, u32 first, u32 nr, const u8 *buf,
			    u32 *tallies)
{
	rec->nr_done = get_unaligned_le32(buf + 8);
	rec->nr_refused = get_unaligned_le32(buf + 12);
	rec->nr_active = get_unaligned_le32(buf + 16);
	rec->nr_started = get_unaligned_le32(buf + 20);
	rec->status = get_unaligned_le32(buf + 24);
	*tallies = get_unaligned_le32(buf + 28);
	rec->late_ns = get_unaligned_le64(buf + 32);
	rec->bound_ns = get_unaligned_le64(buf + 40);
	if (get_unaligned_le32(buf) != first || get_unaligned_le32(buf + 4) != nr ||
	    rec->nr_done > nr || rec->nr_refused > nr || rec->nr_active > rec->nr_done ||
	    rec->nr_started > rec->nr_done || *tallies > LST_TREE_TESTS_MAX)
		return -EINVAL;
	return 0;
}

/*
 * Reads a record. Its counts must match: each node executed the wave, rejected it, or is missing.
 */
static int read(struct lst_tree_record *rec, u32 first, u32 nr, const u8 *buf, u32 len)
{
	u32 tallies, at = HEAD;
	int used = len < HEAD ? -EINVAL : record_head_read(rec, first, nr, buf, &tallies);

	if (used)
		return used;
	used = lst_set_merge(&rec->missing, first, nr, buf + at, len - at);
	if (used > 0) {
		at += (u32)used;
		used = lst_set_merge(&rec->refused, first, nr, buf + at, len - at);
	}
	if (used > 0 && ((u64)rec->nr_done + rec->refused.nr_in + rec->missing.nr_in != nr ||
			 rec->nr_refused != rec->refused.nr_in))
		used = -EINVAL;
	for (; used > 0 && tallies; tallies--) {
		at += (u32)used;
		used = tally_merge(rec, buf + at, len - at);
	}
	if (used < 0)
		return used;
	return at + (u32)used == len ? 0 : -EINVAL;
}

static int set_add(struct lst_set *into, const struct lst_set *from)
{
	u32 at, nr;
	int rc = 0;

	for (at = from->first; !rc && lst_set_run(from, &at, &nr); at += nr)
		rc = lst_set_add(into, at, nr);
	return rc;
}

static int record_add(struct lst_tree_record *rec, const struct lst_tree_record *from)
{
	u32 i;
	int rc = set_add(&rec->missing, &from->missing);

	if (!rc)
		rc = set_add(&rec->refused, &from->refused);
	for (i = 0; i < from->nr_tallies && !rc; i++)
		rc = lst_tree_record_tally(rec, from->tally[i]->id, &from->tally[i]->tally);
	if (rc)
		return rc;
	rec->nr_done += from->nr_done;
	rec->nr_refused += from->nr_refused;
	rec->nr_active += from->nr_active;
	rec->nr_started += from->nr_started;
	rec->status = max(rec->status, from->status);
	rec->late_ns = max(rec->late_ns, from->late_ns);
	rec->bound_ns = max(rec->bound_ns, from->bound_ns);
	return 0;
}

/* Adds a record. Reads the whole record first, so an invalid record changes nothing. */
int lst_tree_record_merge(struct lst_tree_record *rec, u32 first, u32 nr, const u8 *buf, u32 len)
{
	struct lst_tree_record *from = kmalloc(sizeof(*from), GFP_NOWAIT);
	int rc;

	if (!from)
		return -ENOMEM;
	lst_tree_record_init(from, first, nr);
	rc = read(from, first, nr, buf, len);
	if (!rc)
		rc = record_add(rec, from);
	lst_tree_record_free(from);
	kfree(from);
	return rc;
}
