/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The configuration in a file: read at start, replaced as a whole after each change. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lnet/lnetctl.h>
#include "lnetd.h"

static int complain(const char *path, int err, const char *what)
{
	fprintf(stderr, "lnetd: %s: %s\n", path, what ? what : strerror(-err));
	return err;
}

static int read_file(const char *path, struct lnetctl_node **doc)
{
	FILE *in = fopen(path, "re");
	char why[200];
	int rc;

	if (!in)
		return -errno;
	rc = lnetctl_yaml_read(in, doc, why, sizeof(why));
	fclose(in);
	return rc ? complain(path, rc, why) : 0;
}

static int apply(struct lnetctl *c, const char *path, const struct lnetctl_node *doc)
{
	int rc = lnetctl_configure(c, 0);

	if (!rc)
		rc = lnetctl_import(c, doc, LNETCTL_IMPORT_ADD, NULL);
	return rc ? complain(path, rc, lnetctl_error(c)->text) : 0;
}

int config_load(struct lnetctl *c, const char *path)
{
	struct lnetctl_node *doc;
	int rc = read_file(path, &doc);

	if (rc == -ENOENT)
		return complain(path, rc, NULL);
	if (rc)
		return rc;
	rc = apply(c, path, doc);
	lnetctl_doc_free(doc);
	return rc;
}

/* A file without sections is that of a node that is not configured. */
int state_load(struct lnetctl *c, const char *path)
{
	struct lnetctl_node *doc;
	int rc = read_file(path, &doc);

	if (rc == -ENOENT)
		return rc;
	if (rc)
		return complain(path, rc, NULL);
	rc = doc->first ? apply(c, path, doc) : 0;
	lnetctl_doc_free(doc);
	return rc;
}

/* The rename itself must survive a power cut. */
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

static int write_file(struct lnetctl *c, const char *path, bool configured)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int rc = 0;

	if (!out)
		return -errno;
	fputs("# Written by lnetd after each change; read when it starts.\n", out);
	if (configured)
		rc = lnetctl_export(c, LNETCTL_EXPORT_BACKUP | LNETCTL_EXPORT_NO_FAULT, out);
	if (!rc && (fflush(out) || fsync(fd)))
		rc = -errno;
	if (fclose(out) && !rc)
		rc = -errno;
	return rc;
}

int state_save(struct lnetctl *c, const char *path, bool configured)
{
	char *tmp = NULL;
	int rc = asprintf(&tmp, "%s.new", path) < 0 ? -ENOMEM : 0;

	if (!rc)
		rc = write_file(c, tmp, configured);
	if (!rc && rename(tmp, path))
		rc = -errno;
	if (!rc)
		rc = sync_directory(path);
	free(tmp);
	return rc ? complain(path, rc, NULL) : 0;
}
