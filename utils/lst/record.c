/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file of the history. This code appends, reads and purges records, and tolerates that a writer
 * is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lnet/selftest/crc32c.h"
#include "../lib/create.h"
#include "record.h"

#define RECORD_MAX	(256u << 20)	/* bytes of a record's text */

/* Begin of a record. UTF-8 text never contains the byte 0xff. All numbers are little endian. */
static const unsigned char magic[4] = { 0xff, 'L', 'S', 'T' };

#define HEAD_SIZE	68
enum { AT_MAGIC = 0, AT_CRC = 4, AT_LEN = 8, AT_KIND = 12, AT_ID = 16, AT_TIME = 24,
       AT_SESSION = 32, AT_VERSION = 64 };
#define VERSION		1

/* ---- bytes --------------------------------------------------------------------------------- */

static uint32_t record_crc32c(const unsigned char *buf, size_t len)
{
	static struct lst_crc32c tables;

	if (!tables.table[0][1])
		lst_crc32c_init(&tables);
	return ~lst_crc32c(&tables, ~0u, buf, (uint32_t)len);
}

static void field_encode(unsigned char *to, uint64_t value, unsigned int size)
{
	for (; size--; value >>= 8)
		*to++ = (unsigned char)value;
}

static uint64_t field_decode(const unsigned char *from, unsigned int size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | from[size];
	return value;
}

static void encode(unsigned char *to, const struct record *r)
{
	memcpy(to + AT_MAGIC, magic, 4);
	field_encode(to + AT_LEN, r->len, 4);
	field_encode(to + AT_KIND, r->kind, 4);
	field_encode(to + AT_ID, r->id, 8);
	field_encode(to + AT_TIME, (uint64_t)r->time_ns, 8);
	memset(to + AT_SESSION, 0, 32);
	memcpy(to + AT_SESSION, r->session, strnlen(r->session, 31));
	field_encode(to + AT_VERSION, VERSION, 4);
	if (r->len)
		memcpy(to + HEAD_SIZE, r->text, r->len);
	field_encode(to + AT_CRC, record_crc32c(to + AT_LEN, HEAD_SIZE - AT_LEN + r->len), 4);
}

/* Decodes the record at @from and returns its length. 0: there is no record. */
static size_t record_decode(const unsigned char *from, size_t left, struct record *r)
{
	uint64_t len;

	if (left < HEAD_SIZE || memcmp(from + AT_MAGIC, magic, 4))
		return 0;
	len = field_decode(from + AT_LEN, 4);
	if (len > left - HEAD_SIZE || field_decode(from + AT_VERSION, 4) != VERSION ||
	    field_decode(from + AT_CRC, 4) !=
		    record_crc32c(from + AT_LEN, HEAD_SIZE - AT_LEN + len))
		return 0;
	r->kind = (enum record_kind)field_decode(from + AT_KIND, 4);
	r->id = field_decode(from + AT_ID, 8);
	r->time_ns = (int64_t)field_decode(from + AT_TIME, 8);
	memcpy(r->session, from + AT_SESSION, 32);
	r->session[31] = 0;
	r->text = (const char *)from + HEAD_SIZE;
	r->len = (uint32_t)len;
	return HEAD_SIZE + len;
}

/* ---- reading ------------------------------------------------------------------------------- */

void records_free(struct records *rs)
{
	free(rs->bytes);
	free(rs->record);
	*rs = (struct records){ 0 };
}

static int records_read_all(int fd, struct records *rs)
{
	struct stat st;
	ssize_t n = 0;

	if (fstat(fd, &st))
		return -errno;
	rs->bytes = malloc((size_t)st.st_size + 1);
	if (!rs->bytes)
		return -ENOMEM;
	for (; rs->size < (size_t)st.st_size; rs->size += (size_t)n) {
		n = pread(fd, rs->bytes + rs->size, (size_t)st.st_size - rs->size,
			  (off_t)rs->size);
		if (n <= 0)
			return n ? -errno : 0;
	}
	return 0;
}

static int records_scan(struct records *rs)
{
	const unsigned char *bytes = (unsigned char *)rs->bytes;
	size_t at = 0, len, cap = 0;
	struct record r = { 0 }, *more;

	while (at < rs->size) {
		len = record_decode(bytes + at, rs->size - at, &r);
		if (!len) {
			at++;
			rs->nr_skipped++;
			continue;
		}
		if (rs->nr == cap) {
			cap = cap ? 2 * cap : 64;
			more = realloc(rs->record, cap * sizeof(r));
			if (!more)
				return -ENOMEM;
			rs->record = more;
		}
		r.at = at;
		rs->last_id = rs->last_id > r.id ? rs->last_id : r.id;
		rs->record[rs->nr++] = r;
		at += len;
	}
	return 0;
}

static int read_fd(int fd, struct records *rs)
{
	int rc;

	*rs = (struct records){ 0 };
	rc = records_read_all(fd, rs);
	if (!rc)
		rc = records_scan(rs);
	if (rc)
		records_free(rs);
	return rc;
}

int records_read(const char *path, struct records *rs)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	*rs = (struct records){ 0 };
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	rc = read_fd(fd, rs);
	close(fd);
	return rc;
}

/* ---- writing ------------------------------------------------------------------------------- */

static int make_directory(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

int record_path(const char *file, char *path, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int len;

	file = file ? file : getenv("LST_HISTORY");
	if (file && *file)
		len = snprintf(path, size, "%s", file);
	else if (state && *state == '/')
		len = snprintf(path, size, "%s/lnet/history", state);
	else
		len = snprintf(path, size, "%s/.local/state/lnet/history", home ? home : "");
	return (size_t)len < size ? 0 : -ENAMETOOLONG;
}

/*
 * Opens and locks the file. Before it is locked, another process may replace the file, so the
 * function checks for this.
 */
static int open_locked(const char *path)
{
	char dir[4096];
	struct stat mine, named;
	int fd, err;

	snprintf(dir, sizeof(dir), "%s", path);
	if (make_directory(dir))
		return -errno;
	for (;;) {
		fd = file_create(path, O_RDWR | O_APPEND, 0600);
		if (fd < 0)
			return -errno;
		while (flock(fd, LOCK_EX) && errno == EINTR)
			;
		errno = 0;
		if (!fstat(fd, &mine) && !stat(path, &named) && mine.st_ino == named.st_ino &&
		    mine.st_dev == named.st_dev)
			return fd;
		err = errno;
		close(fd);
		if (err && err != ENOENT && err != EINTR)
			return -err;
	}
}

static int record_write_all(int fd, const unsigned char *bytes, size_t len)
{
	ssize_t n;

	for (; len; bytes += n, len -= (size_t)n) {
		n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0)
			return -errno;
	}
	return 0;
}

static int write_record(int fd, const struct record *r)
{
	unsigned char *bytes;
	int rc;

	if (r->len > RECORD_MAX)
		return -EFBIG;
	bytes = malloc(HEAD_SIZE + r->len);
	if (!bytes)
		return -ENOMEM;
	encode(bytes, r);
	rc = record_write_all(fd, bytes, HEAD_SIZE + r->len);
	free(bytes);
	return rc;
}

static int new_id(int fd, struct record *r)
{
	struct records rs;
	int rc = read_fd(fd, &rs);

	if (!rc)
		r->id = rs.last_id + 1;
	records_free(&rs);
	return rc;
}

int record_append(const char *path, struct record *r)
{
	int fd = open_locked(path), rc = 0;
	uint64_t id = r->id;
	off_t end;

	if (fd < 0)
		return fd;
	end = lseek(fd, 0, SEEK_END);
	if (!id)
		rc = new_id(fd, r);
	if (!rc)
		rc = write_record(fd, r);
	/* An error such as a full disk may leave a partial record, which is removed. */
	if (rc) {
		r->id = id;
		if (ftruncate(fd, end) && rc != -ENOSPC)
			rc = -errno;
	} else if (r->kind == RECORD_END && fdatasync(fd)) {
		rc = -errno;
	}
	close(fd);
	return rc;
}

/* ---- purging ------------------------------------------------------------------------------- */

static int write_kept(int fd, const struct records *rs,
		      bool (*purge)(const struct record *r, void *arg), void *arg, size_t *nr)
{
	const struct record last = { .kind = RECORD_LAST_ID, .id = rs->last_id };
	size_t i;
	int rc = rs->last_id ? write_record(fd, &last) : 0;

	for (i = 0, *nr = 0; i < rs->nr && !rc; i++) {
		if (rs->record[i].kind == RECORD_LAST_ID)
			continue;
		if (purge(&rs->record[i], arg))
			(*nr)++;
		else
			rc = write_record(fd, &rs->record[i]);
	}
	return rc ? rc : fsync(fd) ? -errno : 0;
}

int records_purge(const char *path, bool (*purge)(const struct record *r, void *arg), void *arg,
		  size_t *nr)
{
	int old = open_locked(path), fd, rc;
	char other[4096];
	struct records rs;

	if (old < 0)
		return old;
	rc = read_fd(old, &rs);
	if (!rc && (size_t)snprintf(other, sizeof(other), "%s.new", path) >= sizeof(other))
		rc = -ENAMETOOLONG;
	if (!rc) {
		fd = file_create_new(other, 0600);
		rc = fd < 0 ? -errno : write_kept(fd, &rs, purge, arg, nr);
		if (fd >= 0)
			close(fd);
		if (!rc && rename(other, path))
			rc = -errno;
		if (rc)
			unlink(other);
	}
	records_free(&rs);
	close(old);
	return rc;
}
