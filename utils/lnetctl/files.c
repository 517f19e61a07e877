/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* import, export, plan and apply. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tool.h"

const struct opt import_opts[] = {
	{ "add", 'a', ARG_NONE, "add the objects that the file describes (default)" },
	{ "del", 'd', ARG_NONE, "delete the objects that the file describes" },
	{ "show", 's', ARG_NONE, "show the present state of the objects that the file describes" },
	{ "exec", 'e', ARG_NONE, "execute the commands in the file (ping, discover)" },
	{ "old-api", 'o', ARG_NONE, "accepted for scripts of stock LNet, without effect" },
	{ "strict", 0, ARG_NONE, "reject a file with unknown keys" },
	{ .name = NULL }
};

const struct opt export_opts[] = {
	{ "backup", 'b', ARG_NONE, "only the configuration, without state and counters" },
	{ .name = NULL }
};

const struct opt plan_opts[] = {
	{ "check", 'c', ARG_NONE, "end with exit status 1 if the node differs from the file" },
	{ "empty", 0, ARG_NONE,
	  "accept a file without sections, which deletes all interfaces, peers and routes" },
	{ "strict", 0, ARG_NONE, "reject a file with unknown keys" },
	{ .name = NULL }
};

const struct opt apply_opts[] = {
	{ "empty", 0, ARG_NONE,
	  "accept a file without sections, which deletes all interfaces, peers and routes" },
	{ "strict", 0, ARG_NONE, "reject a file with unknown keys" },
	{ .name = NULL }
};

/* ---- reading --------------------------------------------------------------------------------- */

static enum lnetctl_import import_how(const struct tool *t)
{
	if (tool_opt(t, "del"))
		return LNETCTL_IMPORT_DEL;
	if (tool_opt(t, "show"))
		return LNETCTL_IMPORT_SHOW;
	return tool_opt(t, "exec") ? LNETCTL_IMPORT_EXEC : LNETCTL_IMPORT_ADD;
}

/* NULL: standard input. */
static const char *file_name(const struct tool *t)
{
	return t->nr_rest && strcmp(t->rest[0], "-") ? t->rest[0] : NULL;
}

static int yaml_file_read(const struct tool *t, struct lnetctl_node **doc,
			  struct lnetctl_file *file)
{
	const char *name = file_name(t);
	FILE *in = name ? fopen(name, "re") : stdin;
	char why[200];
	int rc;

	if (!in) {	/* stock prints -1, but exits with the errno */
		rc = -errno;
		tool_refuse("yaml", "builder", -1, "cannot open '%s': %s", name, strerror(-rc));
		return rc;
	}
	rc = lnetctl_yaml_read(in, doc, why, sizeof(why));
	if (name)
		fclose(in);
	*file = (struct lnetctl_file){ .doc = *doc, .name = name, .notes = stderr };
	file->flags = (tool_opt(t, "empty") ? LNETCTL_FILE_EMPTY : 0) |
		      (tool_opt(t, "strict") ? LNETCTL_FILE_STRICT : 0);
	if (rc)
		return tool_refuse("yaml", "builder", rc, "%s%s%s", name ? name : "",
				   name ? " " : "", why);
	return 0;
}

int run_import(struct tool *t)
{
	enum lnetctl_import how = import_how(t);
	struct lnetctl_node *doc, *shown = NULL;
	struct lnetctl_file file;
	int rc = yaml_file_read(t, &doc, &file);

	if (rc)
		return rc;
	rc = lnetctl_import(t->c, &file, how, how == LNETCTL_IMPORT_SHOW ? &shown : NULL);
	lnetctl_doc_free(doc);
	if (shown && shown->first)
		lnetctl_print(shown, t->json ? LNETCTL_JSON : LNETCTL_WIDE, stdout);
	lnetctl_doc_free(shown);
	return tool_done(t, rc);
}

/* ---- export ---------------------------------------------------------------------------------- */

/* A new file, written next to the file that it will replace. */
struct replacement {
	char *path;		/* after resolving symbolic links */
	/* name of the new file; NULL: path is not a regular file, and is written directly */
	char *next;
	FILE *out;
};

static int export_refuse(const char *what, const char *name, int err)
{
	return tool_refuse("yaml", "builder", -1, "cannot %s '%s': %s", what, name, strerror(err));
}

/*
 * Returns the permissions of the old file. If there is no old file, returns those that fopen()
 * sets.
 */
static mode_t new_mode(const struct stat *old)
{
	mode_t mask = umask(0);

	umask(mask);
	return old->st_mode ? old->st_mode & 07777 : 0666 & ~mask;
}

static int next_open(struct replacement *r, const struct stat *old)
{
	int fd;

	if (asprintf(&r->next, "%s.XXXXXX", r->path) < 0) {
		r->next = NULL;
		return ENOMEM;
	}
	fd = mkostemp(r->next, O_CLOEXEC);
	r->out = fd < 0 || fchmod(fd, new_mode(old)) ? NULL : fdopen(fd, "w");
	if (fd >= 0 && old->st_mode && fchown(fd, old->st_uid, old->st_gid))
		errno = 0;	/* ignored: if fchown() fails, the user of lnetctl owns the file */
	if (r->out)
		return 0;
	if (fd >= 0)
		close(fd);
	return errno;
}

/* 0 or an errno. */
static int replacement_open(struct replacement *r, const char *name)
{
	struct stat old = { .st_mode = 0 };

	*r = (struct replacement){ .path = realpath(name, NULL) };
	if (!r->path)
		r->path = strdup(name);
	if (!r->path)
		return ENOMEM;
	if (stat(r->path, &old) && errno != ENOENT)
		return errno;
	if (!old.st_mode || S_ISREG(old.st_mode))
		return next_open(r, &old);
	r->out = fopen(r->path, "we");
	return r->out ? 0 : errno;
}

/* Syncs the directory, so that the rename also survives a power failure. */
static int directory_sync(char *path)
{
	int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	err = fd < 0 || fsync(fd) ? errno : 0;
	if (fd >= 0)
		close(fd);
	return err == EINVAL ? 0 : err;
}

/*
 * Closes the new file. With @keep it replaces the old file, otherwise the old file is unchanged.
 * Returns 0 or an errno.
 */
static int replacement_close(struct replacement *r, bool keep)
{
	int err = 0;

	if (r->out) {
		if (ferror(r->out) || fflush(r->out))
			err = errno ? errno : EIO;
		if (!err && r->next && keep && fsync(fileno(r->out)))
			err = errno;
		if (fclose(r->out) && !err)
			err = errno;
	}
	if (r->out && r->next && keep && !err && rename(r->next, r->path))
		err = errno;
	if (r->out && r->next && (!keep || err))
		unlink(r->next);
	else if (r->out && r->next)
		err = directory_sync(r->path);
	free(r->next);
	free(r->path);
	return err;
}

/* Writes the export as a JSON document, without comment lines. */
static int export_json(struct tool *t, unsigned int flags, FILE *out)
{
	struct lnetctl_node *doc = NULL;
	char *text = NULL, why[200];
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);
	int rc = file ? lnetctl_export(t->c, flags, file) : -ENOMEM;

	if (file && fclose(file) && !rc)
		rc = -ENOMEM;
	file = rc ? NULL : fmemopen(text, len, "r");
	if (!rc)
		rc = file ? lnetctl_yaml_read(file, &doc, why, sizeof(why)) : -ENOMEM;
	if (file)
		fclose(file);
	if (!rc)
		lnetctl_print(doc, LNETCTL_JSON, out);
	lnetctl_doc_free(doc);
	free(text);
	return rc;
}

static int export_write(struct tool *t, unsigned int flags, FILE *out)
{
	return t->json ? export_json(t, flags, out) : lnetctl_export(t->c, flags, out);
}

static int export_to(struct tool *t, const char *name, unsigned int flags)
{
	struct replacement r;
	int rc = 0, err = replacement_open(&r, name);

	if (err) {
		replacement_close(&r, false);
		return export_refuse("open", name, err);
	}
	rc = export_write(t, flags, r.out);
	err = replacement_close(&r, !rc);
	return !rc && err ? export_refuse("write", name, err) : tool_done(t, rc);
}

int run_export(struct tool *t)
{
	unsigned int flags = tool_opt(t, "backup") ? LNETCTL_EXPORT_BACKUP : 0;

	if (t->nr_rest && strcmp(t->rest[0], "-"))
		return export_to(t, t->rest[0], flags);
	return tool_done(t, export_write(t, flags, stdout));
}

/* ---- plan, apply ----------------------------------------------------------------------------- */

/* Replaces { old: 6, new: 5 } by the text "6 -> 5". */
static void old_and_new(struct lnetctl_node *line)
{
	const char *old = lnetctl_text(line, "old"), *new = lnetctl_text(line, "new");
	char text[320];

	snprintf(text, sizeof(text), "%s -> %s", old ? old : "", new ? new : "");
	while (line->first) {
		struct lnetctl_node *part = line->first;

		lnetctl_take(line, part);
		lnetctl_doc_free(part);
	}
	line->kind = LNETCTL_TEXT;
	lnetctl_set_text(line, text);
}

static int plan_show(struct tool *t, struct lnetctl_node *plan)
{
	struct lnetctl_node *set = lnetctl_find(plan, "set"), *section, *line;
	char text[80];

	for (section = set && !t->json ? set->first : NULL; section; section = section->next)
		for (line = section->first; line; line = line->next)
			old_and_new(line);
	lnetctl_plan_summary(plan, text, sizeof(text));
	if (!lnetctl_add_text(plan, "summary", text)) {
		fprintf(stderr, "lnetctl: not enough memory to show the plan; summary: %s\n", text);
		lnetctl_doc_free(plan);
		return -ENOMEM;
	}
	return tool_show(t, 0, plan, LNETCTL_WIDE);
}

/* Returns the exit status of a failed plan. It is a usage error if the document has no section. */
static int plan_failed(struct tool *t, int rc)
{
	int status = tool_done(t, rc);

	return rc == -ENODATA ? EXIT_USAGE : status;
}

int run_plan(struct tool *t)
{
	struct lnetctl_node *doc, *plan;
	struct lnetctl_file file;
	bool differs;
	int rc = yaml_file_read(t, &doc, &file);

	if (rc)
		return rc;
	file.flags |= LNETCTL_FILE_PROBE;
	rc = lnetctl_plan(t->c, &file, &plan);
	lnetctl_doc_free(doc);
	if (rc)
		return plan_failed(t, rc);
	differs = lnetctl_plan_summary(plan, NULL, 0);
	rc = plan_show(t, plan);
	return rc ? rc : differs && tool_opt(t, "check") ? EXIT_DIFFERS : 0;
}

int run_apply(struct tool *t)
{
	struct lnetctl_node *doc, *plan;
	struct lnetctl_file file;
	int rc = yaml_file_read(t, &doc, &file);

	if (rc)
		return rc;
	rc = lnetctl_apply(t->c, &file, &plan);
	lnetctl_doc_free(doc);
	return rc ? plan_failed(t, rc) : plan_show(t, plan);
}
