/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors of commands: stock's text, then the object, then the remedy. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lst.h"

int status_of_failure;

/* Sets the exit status, unless an earlier error has set it. */
static int failure(int status)
{
	if (!status_of_failure)
		status_of_failure = status;
	return -1;
}

static void print(const char *fmt, va_list args)
{
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

int misused(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(fmt, args);
	va_end(args);
	return failure(EXIT_USAGE);
}

int failed(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(fmt, args);
	va_end(args);
	return failure(EXIT_FAILED);
}

int nodes_failed(void)
{
	return failure(EXIT_NODES);
}

bool words_end(int argc, char **argv, int max)
{
	int first = optind ? optind : 1;	/* optind is 0 if the command has no options */

	if (argc - first <= max)
		return true;
	misused("%s: unexpected argument '%s'. See 'lst help %s'.", argv[0], argv[first + max],
		argv[0]);
	return false;
}

/* ---- the session --------------------------------------------------------------------------- */

/*
 * Returns the session of this console; its name is "" if there is none. Free *@doc with
 * lnetctl_doc_free().
 */
static const struct lnetctl_node *session(struct lnetctl_node **doc)
{
	static struct request r;

	request_begin(&r, "show_session");
	return request_send(&r, doc) ? NULL : lnetctl_find(*doc, "session");
}

static void print_owner(void)
{
	const char *key = getenv("LST_SESSION");
	struct lnetctl_node *doc = NULL;
	const struct lnetctl_node *s = session(&doc);

	fputs("Unmatched session key or not root", stderr);
	if (s)
		fprintf(stderr, ": this session belongs to %s@%s; LST_SESSION here is %s; "
			"'lst new_session --force' takes it over", text(s, "stamp"),
			text(s, "nid"), key ? key : "not set");
	fputc('\n', stderr);
	lnetctl_doc_free(doc);
}

static void print_absent(const char *kind, const char *name)
{
	struct lnetctl_node *doc = NULL;
	const struct lnetctl_node *s = session(&doc);

	fprintf(stderr, "Can't find %s in current session", kind);
	if (name)
		fprintf(stderr, ": there is no %s '%s' in session %s", kind, name,
			s ? text(s, "name") : "");
	fputc('\n', stderr);
	lnetctl_doc_free(doc);
}

/* ---- failures ------------------------------------------------------------------------------ */

int fail_of(int err, const char *kind, const char *name, const char *doing)
{
	switch (-err) {
	case EHOSTDOWN:
		return failure(EXIT_NO_NODE);		/* the error was printed before */
	case ESRCH:
		return failed("No session exists: 'lst new_session' makes one");
	case ESHUTDOWN:
		return failed("Session is shutting down");
	case EACCES:
		print_owner();
		return failure(EXIT_NOT_PERMITTED);
	case EPERM:
		fputs("Unmatched session key or not root: CAP_NET_ADMIN is needed\n", stderr);
		return failure(EXIT_NOT_PERMITTED);
	case ENOENT:
		print_absent(kind, name);
		return failure(EXIT_FAILED);
	case EINVAL:
		return failed("Invalid parameters list in command line");
	case EFAULT:
		return failed("Bad parameter address");
	case EEXIST:
		return name ? failed("%s already exists: '%s'", kind, name) :
			      failed("%s already exists", kind);
	case E2BIG:
		return failed("Failed to %s: the request is longer than %zu bytes", doing,
			      sizeof(((struct request *)0)->text));
	default:
		return failed("Failed to %s: %s", doing, strerror(-err));
	}
}

int fail(int err, const char *kind, const char *doing)
{
	return fail_of(err, kind, NULL, doing);
}

bool is_there(const char *verb, const char *name)
{
	struct lnetctl_node *doc = NULL;
	static struct request r;
	int rc;

	request_begin(&r, verb);
	request_add(&r, "name", "%s", name);
	rc = request_send(&r, &doc);
	lnetctl_doc_free(doc);
	return rc != -ENOENT;
}

unsigned int nr_active(const char *group)
{
	struct lnetctl_node *doc = NULL;
	const struct lnetctl_node *n;
	static struct request r;
	unsigned int nr = 0;

	request_begin(&r, "list_group");
	request_add(&r, "name", "%s", group);
	if (!request_send(&r, &doc)) {
		n = lnetctl_find(doc, "groups");
		n = lnetctl_find(n ? n->first : NULL, "nodes");
		for (n = n ? n->first : NULL; n; n = n->next)
			nr += !strcmp(text(n, "state"), "Active");
	}
	lnetctl_doc_free(doc);
	return nr;
}
