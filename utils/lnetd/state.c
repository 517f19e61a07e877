/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores the configuration in a file. lnetd reads the file at start, and replaces the whole file
 * after each change.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <lnet/lnetctl.h>
#include "../lib/create.h"
#include "lnetd.h"

static int file_error_log(const char *path, int err, const char *what)
{
	log_line(LNET_LOG_ERROR, "%s: %s", path, what ? what : strerror(-err));
	return err;
}

static int state_file_read(const char *path, struct lnetctl_node **doc)
{
	FILE *in = fopen(path, "re");
	char why[200];
	int rc;

	if (!in)
		return -errno;
	rc = lnetctl_yaml_read(in, doc, why, sizeof(why));
	fclose(in);
	return rc ? file_error_log(path, rc, why) : 0;
}

static void notes_log(const char *path, char *notes)
{
	char *rest = notes, *note;

	while ((note = strtok_r(rest, "\n", &rest)))
		log_line(LNET_LOG_WARNING, "%s: %s", path, note);
}

static int state_apply(struct lnetctl *c, const char *path, const struct lnetctl_node *doc)
{
	char *notes = NULL;
	size_t size;
	FILE *out = open_memstream(&notes, &size);
	const struct lnetctl_file file = { .doc = doc, .notes = out };
	int rc = out ? lnetctl_configure(c, 0) : -ENOMEM;

	if (!rc)
		rc = lnetctl_import(c, &file, LNETCTL_IMPORT_ADD, NULL);
	if (out && !fclose(out))
		notes_log(path, notes);
	free(notes);
	return rc ? file_error_log(path, rc, lnetctl_error(c)->text) : 0;
}

int config_load(struct lnetctl *c, const char *path)
{
	struct lnetctl_node *doc;
	int rc = state_file_read(path, &doc);

	if (rc == -ENOENT)
		return file_error_log(path, rc, NULL);
	if (rc)
		return rc;
	rc = state_apply(c, path, doc);
	lnetctl_doc_free(doc);
	return rc;
}

/*
 * If a writer is killed, it may leave a truncated file. lnetd must not read such a file as a node
 * without configuration, or with fewer peers. So the state ends with a fixed line.
 */
#define STATE_BEGIN	"# Written by lnetd after each change; whole if it has its last line.\n"
#define STATE_NONE	"lnet: unconfigured\n"
#define STATE_END	"# The end.\n"

static bool is_whole(const char *path)
{
	char begin[sizeof(STATE_BEGIN)] = "", end[sizeof(STATE_END)] = "";
	FILE *in = fopen(path, "re");
	bool whole;

	if (!in)
		return false;
	whole = fgets(begin, sizeof(begin), in) && strcmp(begin, STATE_BEGIN);
	if (!whole && begin[0] && !fseek(in, 1 - (long)sizeof(STATE_END), SEEK_END))
		whole = fgets(end, sizeof(end), in) && !strcmp(end, STATE_END);
	fclose(in);
	return whole;
}

/*
 * Locks the state file, because two daemons with one state file would overwrite each other's
 * changes. Each change replaces the state file, so the lock is on a separate lock file. The lock
 * file is opened read-only, so that its file system can be mounted read-only later. O_NONBLOCK
 * prevents that open() waits on a FIFO. If the lock file cannot be created, the daemon continues
 * without a lock. It then cannot write the state file either.
 */
int state_lock(struct state *s)
{
	char *name;
	int rc = 0;

	if (asprintf(&name, "%s.lock", s->path) < 0)
		return -ENOMEM;
	s->lock_fd = file_create(name, O_RDONLY | O_NONBLOCK, 0600);
	if (s->lock_fd < 0 && errno == ELOOP)
		rc = file_error_log(name, -ELOOP,
				    "the lock file is a symbolic link; remove the link");
	if (s->lock_fd >= 0 && flock(s->lock_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		rc = file_error_log(s->path, -EBUSY, "another lnetd uses this state file");
	free(name);
	return rc;
}

static bool says_unconfigured(const struct lnetctl_node *doc)
{
	const char *text = lnetctl_text(doc, "lnet");

	return text && !strcmp(text, "unconfigured");
}

int state_load(struct lnetctl *c, const char *path)
{
	struct lnetctl_node *doc;
	struct stat st;
	int rc;

	/* open() of a FIFO would wait for a writer. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return file_error_log(path, -EINVAL, "the state file is not a regular file");
	rc = state_file_read(path, &doc);
	if (rc == -ENOENT)
		return rc;
	if (rc)
		return rc == -EINVAL ? rc : file_error_log(path, rc, NULL);
	if (says_unconfigured(doc) && is_whole(path))
		rc = 0;
	else if (!doc->first || !is_whole(path))
		rc = file_error_log(path, -ENODATA,
			      "the state file is empty or truncated, because it was not completely "
			      "written. Restore it, or remove it to start without a configuration");
	else
		rc = state_apply(c, path, doc);
	lnetctl_doc_free(doc);
	return rc;
}

/* ---- saving ---------------------------------------------------------------------------------- */

/*
 * A change adds at most STATE_MORE bytes, plus STATE_FACTOR bytes for each byte of its requests, to
 * the state file. The factor is above 1, because a short name in a request may add a whole section.
 */
#define STATE_MORE	16384
#define STATE_FACTOR	8

static int explain(const char *path, int err, const char *what, char *why, size_t why_size)
{
	snprintf(why, why_size, "%s: %s: %s", what, strerror(-err), path);
	log_line(LNET_LOG_ERROR, "%s", why);
	return err;
}

/* Syncs the directory, because the rename must also survive a power failure. */
static int sync_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int rc = fd < 0 ? -errno : fsync(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	free(copy);
	return rc;
}

static int reserve(int fd, const char *path, size_t change)
{
	struct stat st;
	off_t size = lstat(path, &st) ? 0 : st.st_size;
	int err = posix_fallocate(fd, 0, size + STATE_MORE + (off_t)(STATE_FACTOR * change));

	return err == EOPNOTSUPP || err == EINVAL ? 0 : -err;
}

int state_begin(struct state *s, size_t change, char *why, size_t why_size)
{
	int rc = 0;

	if (!s->next && asprintf(&s->next, "%s.new", s->path) < 0)
		s->next = NULL;
	if (!s->next)
		return -ENOMEM;
	s->fd = file_create_new(s->next, 0600);
	if (s->fd < 0)
		rc = -errno;
	else
		rc = reserve(s->fd, s->path, change);
	if (!rc)
		return 0;
	state_drop(s);
	return explain(s->next, rc, "nothing was changed, because the change cannot be saved", why,
		       why_size);
}

void state_drop(struct state *s)
{
	if (s->fd < 0)
		return;
	close(s->fd);
	unlink(s->next);
	s->fd = -1;
}

static int state_write_all(struct lnetctl *c, FILE *out, bool configured)
{
	int rc = 0;

	fputs(STATE_BEGIN, out);
	if (configured)
		rc = lnetctl_export(c, LNETCTL_EXPORT_BACKUP | LNETCTL_EXPORT_NO_FAULT |
						LNETCTL_EXPORT_BARE, out);
	else
		fputs(STATE_NONE, out);
	fputs(STATE_END, out);
	if (!rc && (fflush(out) || ftruncate(fileno(out), ftell(out)) || fsync(fileno(out))))
		rc = -errno;
	return rc;
}

int state_commit(struct state *s, struct lnetctl *c, bool configured, char *why, size_t why_size)
{
	FILE *out = fdopen(s->fd, "w");
	int rc;

	if (!out) {
		rc = -errno;
		state_drop(s);
	} else {
		rc = state_write_all(c, out, configured);
		if (fclose(out) && !rc)
			rc = -errno;
		if (!rc && rename(s->next, s->path))
			rc = -errno;
		if (rc)
			unlink(s->next);
		else
			rc = sync_directory(s->path);
	}
	s->fd = -1;
	return rc ? explain(s->path, rc, "the change is in effect, but is not saved", why, why_size)
		  : 0;
}
