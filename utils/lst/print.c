/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Printing and parsing for the commands of lst: failed nodes, names, NIDs, numbers. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lst.h"

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

/*
 * Returns the text for an error of a node. ESTALE and EACCES have special meanings in a self-test.
 */
const char *error_text(int err)
{
	switch (err) {
	case ESTALE:
		return "Taken over by another console";
	case EACCES:
		return "This node is not in that node's list of consoles; on that node, "
		       "'lnetd --selftest LIST' or 'modprobe lnet_selftest consoles=LIST' "
		       "sets the list";
	default:
		return strerror(err);
	}
}

/* Does the node have no portal for self-tests? */
static bool is_without(const struct lnetctl_node *e)
{
	return number(e, "errno") == ENOENT && !strcmp(text(e, "remote"), "false");
}

static void print_error(const struct lnetctl_node *e)
{
	const char *owner = text(e, "owner");

	fprintf(stderr, "%s RPC failed on %s: %s", text(e, "what"), text(e, "id"),
		is_without(e) ? "It takes no part in self-tests; on that node, "
				"'lnetd --selftest LIST' or 'modprobe lnet_selftest' "
				"enables them" :
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
	if (nr)
		nodes_failed();
	return nr;
}

bool name_ok(const char *name, const char *what)
{
	if (*name && strlen(name) < NAME_MAX_LEN && !strpbrk(name, "\"\\\n"))
		return true;
	misused("Name of %s should be shorter than %d characters, without \", \\ and new lines, "
		"not '%s'", what, NAME_MAX_LEN, name);
	return false;
}

/* Returns @id without the process ID, which is the same for all nodes. */
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

bool parse_number(const char *name, const char *in, long long lo, long long hi, long long *num)
{
	char *end;

	*num = strtoll(in, &end, 0);
	if (end != in && !*end && *num >= lo && *num <= hi)
		return true;
	misused("%s must be %lld to %lld, not '%s'", name, lo, hi, in);
	return false;
}
