/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flight recorder: start, stop, show, and dump to a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lnet/recorder/record.h"
#include "client.h"
#include "create.h"

#define WHAT "record"

static int record_change(struct lnetctl *c, const char *verb, uint16_t flags, uint64_t size)
{
	const struct ctl_op op = { LNET_NL_RECORD, LNET_NL_VERSION, flags, 0, verb, WHAT };
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);

	if (!body || (size && !lnetctl_add_num(body, "size", (int64_t)size))) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, verb, WHAT, NULL);
	}
	return ctl_do(c, &op, body);
}

int lnetctl_record_start(struct lnetctl *c, uint64_t size)
{
	return record_change(c, "start", LNET_NL_F_CREATE, size);
}

int lnetctl_record_stop(struct lnetctl *c)
{
	return record_change(c, "stop", 0, 0);
}

static int record_request(struct lnetctl *c, const char *verb, struct lnetctl_node *body,
			  struct lnetctl_node **doc)
{
	const struct ctl_op op = { LNET_NL_RECORD, LNET_NL_VERSION, LNET_NL_F_DUMP, 0, verb,
				   WHAT };

	*doc = NULL;
	return ctl_dump(c, &op, body, doc);
}

int lnetctl_record_show(struct lnetctl *c, struct lnetctl_node **doc)
{
	return record_request(c, "show", NULL, doc);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Converts hexadecimal text to bytes. Returns the number of bytes, or -EPROTO. */
static int unhex(const char *text, void *to, size_t size)
{
	uint8_t *at = to;
	size_t len = 0;

	for (; text[0]; text += 2) {
		if (digit(text[0]) < 0 || digit(text[1]) < 0 || len == size)
			return -EPROTO;
		at[len++] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
	}
	return (int)len;
}

static int read_head(struct lnetctl *c, struct lnet_rec_head *head, uint64_t *size, bool *running)
{
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL), *doc, *what, *n;
	int rc;

	if (!body || !lnetctl_add_num(body, "head", 1)) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, "dump", WHAT, NULL);
	}
	rc = record_request(c, "dump", body, &doc);
	if (rc)
		return rc;
	what = lnetctl_find(doc, WHAT);
	n = what ? lnetctl_find(what, "head") : NULL;
	rc = n && n->text && unhex(n->text, head, sizeof(*head)) == sizeof(*head) ? 0 : -EPROTO;
	n = what ? lnetctl_find(what, "running") : NULL;
	*running = n && n->text && strcmp(n->text, "0");
	n = what ? lnetctl_find(what, "bytes") : NULL;
	*size = n && n->text ? strtoull(n->text, NULL, 10) : 0;
	lnetctl_doc_free(doc);
	if (!rc && head->size != sizeof(struct lnet_rec))
		rc = -EPROTO;
	return rc ? ctl_fail(c, rc, "dump", WHAT,
			     "the node sends trace records in a format that this lnetctl does not "
			     "know")
		  : 0;
}

struct dump {
	FILE *f;
	struct lnet_rec_head head;
	uint64_t first, next;		/* sequence numbers */
};

/* Writes the records of @text. Returns their number, or -errno. */
static int write_records(struct dump *d, const char *text)
{
	struct lnet_rec r[64];
	int len = unhex(text, r, sizeof(r)), nr = len / (int)sizeof(r[0]);

	if (len <= 0 || len % (int)sizeof(r[0]))
		return -EPROTO;
	if (!d->first)
		d->first = r[0].seq;
	d->next = r[nr - 1].seq + 1;
	d->head.nr += (uint64_t)nr;
	d->head.hash = lnet_rec_sum(d->head.hash, r, (uint64_t)nr);
	return fwrite(r, sizeof(r[0]), (size_t)nr, d->f) == (size_t)nr ? nr : -EIO;
}

/* Writes the records of one reply. Returns their number, or -errno. 0 marks the last reply. */
static int dump_some(struct lnetctl *c, struct dump *d)
{
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL), *doc, *list, *n, *data;
	int rc, nr = 0;

	if (!body || !lnetctl_add_num(body, "from", (int64_t)d->next)) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, "dump", WHAT, NULL);
	}
	rc = record_request(c, "dump", body, &doc);
	if (rc)
		return rc;
	list = lnetctl_find(doc, "records");
	for (n = list ? list->first : NULL; n && rc >= 0; n = n->next) {
		data = lnetctl_find(n, "data");
		rc = data && data->text ? write_records(d, data->text) : -EPROTO;
		nr += rc > 0 ? rc : 0;
	}
	lnetctl_doc_free(doc);
	if (rc == -EPROTO)
		ctl_fail(c, rc, "dump", WHAT, NULL);
	return rc < 0 ? rc : nr;
}

static int dump_write(struct lnetctl *c, struct dump *d)
{
	int rc = fwrite(&d->head, sizeof(d->head), 1, d->f) == 1 ? 1 : -EIO;

	d->head.hash = LNET_REC_MAGIC;
	while (rc > 0)
		rc = dump_some(c, d);
	d->head.lost = d->first ? d->first - 1 : 0;
	if (!rc && (fseek(d->f, 0, SEEK_SET) ||
		    fwrite(&d->head, sizeof(d->head), 1, d->f) != 1))
		rc = -EIO;
	return rc;
}

/*
 * Writes a dump to @file. With @is_new, removes an old file @file first, and creates a new file. So
 * no other process has the new file open.
 */
static int dump_to(struct lnetctl *c, struct dump *d, const char *file, bool is_new)
{
	int fd = is_new ? file_create_new(file, 0666) : file_create(file, O_WRONLY | O_TRUNC, 0666);
	int rc;

	d->f = fd < 0 ? NULL : fdopen(fd, "wb");
	if (fd >= 0 && !d->f)
		close(fd);
	if (!d->f)
		return ctl_fail(c, -errno, "dump", WHAT, "cannot open '%s': %s", file,
				strerror(errno));
	rc = dump_write(c, d);
	if (fclose(d->f) && !rc)
		rc = -EIO;
	return rc == -EIO ? ctl_fail(c, rc, "dump", WHAT, "cannot write '%s'", file) : rc;
}

/*
 * Replaces a regular file after the new file is complete. Writes directly to any other kind of
 * file.
 */
static int dump_all(struct lnetctl *c, struct dump *d, const char *file)
{
	char name[4096 + 8];
	struct stat st;
	int rc;

	if (!stat(file, &st) && !S_ISREG(st.st_mode))
		return dump_to(c, d, file, false);
	if (snprintf(name, sizeof(name), "%s.new", file) >= sizeof(name))
		return ctl_fail(c, -ENAMETOOLONG, "dump", WHAT, NULL);
	rc = dump_to(c, d, name, true);
	if (!rc && rename(name, file))
		rc = ctl_fail(c, -errno, "dump", WHAT, "cannot write '%s': %s", file,
			      strerror(errno));
	if (rc)
		remove(name);
	return rc;
}

int lnetctl_record_dump(struct lnetctl *c, const char *file)
{
	struct dump d = { .next = 0 };
	bool running = false;
	uint64_t size = 0;
	int rc;

	rc = read_head(c, &d.head, &size, &running);
	if (!rc && running)
		rc = lnetctl_record_stop(c);
	if (rc)
		return rc;
	rc = dump_all(c, &d, file);
	/*
	 * after an error the recorder stays stopped, because new records would replace unsaved
	 * records
	 */
	return rc || !running ? rc : lnetctl_record_start(c, size);
}
