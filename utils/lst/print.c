/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What several commands of lst say and read: errors in stock's words, names, NIDs, numbers. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lst.h"

int fail(int err, const char *what, const char *doing)
{
	switch (-err) {
	case EHOSTDOWN:
		break;			/* it was said */
	case ESRCH:
		fprintf(stderr, "No session exists\n");
		break;
	case ESHUTDOWN:
		fprintf(stderr, "Session is shutting down\n");
		break;
	case EACCES:
	case EPERM:
		fprintf(stderr, "Unmatched session key or not root\n");
		break;
	case ENOENT:
		fprintf(stderr, "Can't find %s in current session\n", what);
		break;
	case EINVAL:
		fprintf(stderr, "Invalid parameters list in command line\n");
		break;
	case EFAULT:
		fprintf(stderr, "Bad parameter address\n");
		break;
	case EEXIST:
		fprintf(stderr, "%s already exists\n", what);
		break;
	default:
		fprintf(stderr, "Failed to %s: %s\n", doing, strerror(-err));
	}
	return -1;
}

int misused(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return -1;
}

int64_t number(const struct lnetctl_node *map, const char *key)
{
	const struct lnetctl_node *n = lnetctl_find(map, key);
	int64_t num = 0;

	return n && !lnetctl_num(n, &num) ? num : 0;
}

const char *text(const struct lnetctl_node *map, const char *key)
{
	const char *found = lnetctl_text(map, key);

	return found ? found : "";
}

/* What a node says; ESTALE has a meaning of its own there. */
const char *error_text(int err)
{
	return err == ESTALE ? "Taken over by another console" : strerror(err);
}

static void print_error(const struct lnetctl_node *e)
{
	const char *owner = text(e, "owner");

	fprintf(stderr, "%s RPC failed on %s: %s", text(e, "what"), text(e, "id"),
		error_text((int)number(e, "errno")));
	if (number(e, "errno") == EBUSY && *owner)
		fprintf(stderr, " (in session %s)", owner);
	fputc('\n', stderr);
}

unsigned int print_errors(const struct lnetctl_node *doc)
{
	const struct lnetctl_node *list = lnetctl_find(doc, "errors"), *e;
	unsigned int nr = 0;

	for (e = list ? list->first : NULL; e; e = e->next, nr++)
		print_error(e);
	return nr;
}

bool name_ok(const char *name, const char *what)
{
	if (*name && strlen(name) < NAME_MAX_LEN && !strpbrk(name, "\"\\\n"))
		return true;
	misused("Name of %s should be shorter than %d characters", what, NAME_MAX_LEN);
	return false;
}

/* A process ID before a NID is the only one there is. */
static const char *without_pid(const char *id)
{
	return strncmp(id, "12345-", 6) ? id : id + 6;
}

bool add_ids(struct request *r, const char *ids)
{
	struct lnetctl_node *nids, *n;
	char why[200];

	if (lnetctl_nids_expand(ids, &nids, why, sizeof(why))) {
		misused("%s", why);
		return false;
	}
	for (n = nids->first; n; n = n->next)
		request_add(r, "nid", "%s", without_pid(n->text));
	lnetctl_doc_free(nids);
	return true;
}

bool add_target(struct request *r, const char *arg)
{
	if (strchr(arg, '@'))
		return add_ids(r, arg);
	request_add(r, "group", "%s", arg);
	return true;
}

bool parse_number(const char *in, long long lo, long long hi, long long *num)
{
	char *end;

	*num = strtoll(in, &end, 0);
	if (end != in && !*end && *num >= lo && *num <= hi)
		return true;
	misused("'%s' is not a number from %lld to %lld", in, lo, hi);
	return false;
}
