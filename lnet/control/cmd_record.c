/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands of the flight recorder: start, stop, show, and a command that reads its trace records
 * piece by piece.
 */
#include "control/command.h"
#include "recorder/record.h"
#include "recorder/recorder.h"

#define SIZE_DEFAULT	(16ULL << 20)
#define SIZE_MAX_BYTES	(1ULL << 30)
#define PER_ITEM	16U		/* records */
#define ITEMS_MAX	1024U		/* of a reply */

/* ---- tables ---------------------------------------------------------------------------------- */

enum { R_RUNNING = 2, R_BYTES, R_RECORDS, R_LOST, R_SNAPSHOTS, R_PUT_OFF, R_HEAD };
static const struct lnet_key show_keys[] = {
	{ .name = "record", .type = LNET_NLT_NUL_STRING, .format = LNET_NL_MAPPING },
	{ .name = "running", .type = LNET_NLT_U32 }, { .name = "bytes", .type = LNET_NLT_U64 },
	{ .name = "records", .type = LNET_NLT_U64 },
	{ .name = "overwritten", .type = LNET_NLT_U64 },
	{ .name = "snapshots", .type = LNET_NLT_U64 },
	{ .name = "put_off", .type = LNET_NLT_U64 }, { .name = "head", .type = LNET_NLT_STRING },
};
static const struct lnet_table show_table = { show_keys, ARRAY_SIZE(show_keys) };

static const struct lnet_key data_keys[] = {
	{ .name = "records", .type = LNET_NLT_NUL_STRING,
	  .format = LNET_NL_SEQUENCE | LNET_NL_MAPPING },
	{ .name = "data", .type = LNET_NLT_STRING },
};
static const struct lnet_table data_table = { data_keys, ARRAY_SIZE(data_keys) };

/* ---- changes --------------------------------------------------------------------------------- */

static const struct lnet_field size_fields[] = {
	{ .key = "size", .kind = LNET_FIELD_NUM, .size = 8, .max = SIZE_MAX_BYTES,
	  .range_err = -ERANGE },
	{ NULL }
};

static int record_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		      struct lnet_ctl_err *e)
{
	u64 bytes = SIZE_DEFAULT;
	int rc = lnet_ctl_read(lnet_ctl_attrs(req), size_fields, &bytes, e);

	if (rc)
		return rc;
	if (!(req->flags & (LNET_NL_F_CREATE | LNET_NL_F_REPLACE)))
		return lnet_record_stop(ctl->ln)
			       ? lnet_ctl_fail(e, -EALREADY, "the flight recorder is not recording")
			       : 0;
	if (!(req->flags & LNET_NL_F_CREATE))
		return lnet_ctl_fail(e, -EOPNOTSUPP,
				     "a recording cannot be changed: stop it and start a new one");
	rc = lnet_record_start(ctl->ln, bytes);
	if (rc == -EALREADY)
		return lnet_ctl_fail(e, rc, "the flight recorder is already recording");
	if (rc == -EINVAL)
		return lnet_ctl_fail(e, rc,
				     "'size' must be at least 64 KiB for each of the %u shards",
				     ctl->ln->nr_shards);
	return rc ? lnet_ctl_fail(e, rc, "%s", lnet_ctl_why(rc)) : 0;
}

/* ---- show ------------------------------------------------------------------------------------ */

struct record_dump {
	u64 seq;			/* number of the next trace record; 0: show the state */
	u32 items;
	/* @from: the key "from" was given; @head: show the header of a file */
	bool from, head;
	struct lnet_record_view view;
	struct lnet_rec rec[PER_ITEM];
	char text[2 * PER_ITEM * sizeof(struct lnet_rec) + 1];
};

static void hex(char *to, const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const u8 *at = data;

	for (; len; len--, at++) {
		*to++ = digits[*at >> 4];
		*to++ = digits[*at & 15];
	}
	*to = 0;
}

static const struct lnet_field show_fields[] = {
	LNET_FIELD_RANGE("from", struct record_dump, seq, 0, S64_MAX, .range_err = -ERANGE,
			 .has = offsetof(struct record_dump, from)),
	LNET_FIELD_RANGE("head", struct record_dump, head, 0, 1, .range_err = -ERANGE),
	{ NULL }
};

static int record_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			struct lnet_ctl_err *e)
{
	struct record_dump *r = kvzalloc(sizeof(*r), GFP_KERNEL);
	int rc;

	if (!r)
		return -ENOMEM;
	d->priv = r;
	rc = lnet_ctl_read(lnet_ctl_attrs(req), show_fields, r, e);
	if (r->from && !r->seq)
		r->seq = 1;	/* number of the first trace record to read */
	lnet_record_show(d->ctl->ln, &r->view);
	if (rc || !r->seq)
		return rc;
	if (!r->view.there)
		return lnet_ctl_fail(e, -ENODATA, "the flight recorder has recorded nothing");
	return r->view.running
		       ? lnet_ctl_fail(e, -EBUSY, "the flight recorder is recording: stop it first")
		       : 0;
}

static int show_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct record_dump *r)
{
	const struct lnet_record_view *v = &r->view;
	struct lnet_rec_head head;

	if (!lnet_ctl_table(d, s, &show_table))
		return 1;
	lnet_record_head(d->ctl->ln, &head);
	hex(r->text, &head, sizeof(head));
	lnet_ctl_item(d, s);
	s->ops->num(s, R_RUNNING, LNET_NLT_U32, v->running);
	s->ops->num(s, R_BYTES, LNET_NLT_U64, v->bytes);
	s->ops->num(s, R_RECORDS, LNET_NLT_U64, v->records);
	s->ops->num(s, R_LOST, LNET_NLT_U64, v->lost);
	s->ops->num(s, R_SNAPSHOTS, LNET_NLT_U64, v->snapshots);
	s->ops->num(s, R_PUT_OFF, LNET_NLT_U64, v->put_off);
	if (r->head)
		s->ops->str(s, R_HEAD, r->text);
	return lnet_ctl_item_end(d, s) ? 0 : 1;
}

/* The next call reads trace records again that did not fit. */
static int data_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct record_dump *r)
{
	unsigned int nr;
	u64 seq;

	if (!lnet_ctl_table(d, s, &data_table))
		return 1;
	for (; r->items < ITEMS_MAX; r->items++) {
		seq = r->seq;
		nr = lnet_record_read(d->ctl->ln, &r->seq, r->rec, PER_ITEM);
		if (!nr)
			break;
		hex(r->text, r->rec, nr * sizeof(r->rec[0]));
		lnet_ctl_item(d, s);
		s->ops->str(s, 2, r->text);
		if (lnet_ctl_item_end(d, s))
			continue;
		r->seq = seq;
		return 1;
	}
	return 0;
}

static int record_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct record_dump *r = d->priv;

	return r->seq ? data_next(d, s, r) : show_next(d, s, r);
}

const struct lnet_ctl_cmd lnet_cmd_record = {
	.cmd = LNET_NL_RECORD,
	.down = true,
	.act = record_act,
	.start = record_start,
	.next = record_next,
};
