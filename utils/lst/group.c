/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands of lst on groups. */
#include <errno.h>
#include <string.h>
#include "lst.h"

static int simple(const char *verb, const char *name)
{
	struct request r;

	request_begin(&r, verb);
	request_add(&r, "name", "%s", name);
	return request_send(&r, NULL);
}

/* Returns the number of nodes that have joined or were already members; -1 after a message. */
static long add_nodes(const char *group, const char *ids)
{
	struct lnetctl_node *doc;
	struct request r;
	long added;
	int rc;

	request_begin(&r, "add_nodes");
	request_add(&r, "name", "%s", group);
	if (!add_ids(&r, ids))
		return -1;
	rc = request_send(&r, &doc);
	added = (long)(number(doc, "joined") + number(doc, "members"));
	if (rc)
		fail_of(rc, "group", group, "add nodes");
	else if (number(doc, "refused"))
		fail(-(int)number(doc, "refused"), ids, "add nodes");
	else if (!print_errors(doc))
		printf("%s are added to session\n", ids);
	lnetctl_doc_free(doc);
	return rc ? -1 : added;
}

int verb_add_group(int argc, char **argv)
{
	long added = 0, some;
	int i, rc;

	if (argc < 3)
		return misused("add_group needs a name and at least one list of NIDs: add_group "
			       "NAME IDs [IDs]...");
	if (!name_ok(argv[1], "group"))
		return -1;
	rc = simple("add_group", argv[1]);
	if (rc)
		return fail_of(rc, "group", argv[1], "add group");
	for (i = 2; i < argc; i++) {
		some = add_nodes(argv[1], argv[i]);
		added += some > 0 ? some : 0;
	}
	if (added)
		return 0;
	printf("No nodes added successfully, deleting group %s\n", argv[1]);
	if (!simple("del_group", argv[1]))
		puts("Group is deleted");
	return -1;
}

int verb_del_group(int argc, char **argv)
{
	int rc;

	if (argc != 2)
		return misused("del_group needs the name of one group: del_group NAME");
	rc = simple("del_group", argv[1]);
	if (rc == -EBUSY)
		return failed("Failed to delete group: %s: a test uses group %s", strerror(EBUSY),
			      argv[1]);
	if (rc)
		return fail_of(rc, "group", argv[1], "delete group");
	puts("Group is deleted");
	return 0;
}

static bool is_state(const char *word)
{
	static const char *const words[] = { "active", "busy", "down", "unknown", "invalid" };
	unsigned int i;

	for (i = 0; i < 5; i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

int verb_update_group(int argc, char **argv)
{
	static const struct option options[] = { { "refresh", no_argument, NULL, 'f' },
						 { "clean", required_argument, NULL, 'c' },
						 { "remove", required_argument, NULL, 'r' },
						 { 0 } };
	const char *removed = NULL;
	struct lnetctl_node *doc;
	struct request r;
	int c, rc, nr = 0;

	request_begin(&r, "update_group");
	while ((c = option_next(argc, argv, "fc:r:", options, NULL)) != -1) {
		nr++;
		if (c == '?' || (c == 'r' && !add_ids(&r, optarg)))
			return -1;
		removed = optarg;
		if (c == 'c' && !is_state(optarg))
			return misused("--clean must be active, busy, down, unknown or invalid, "
				       "not '%s'", optarg);
		if (c == 'c')
			request_add(&r, "state", "%s", optarg);
		request_add(&r, "op", "%s", c == 'f' ? "refresh" : c == 'c' ? "clean" : "remove");
	}
	if (nr != 1 || optind != argc - 1)
		return misused("update_group needs one name and exactly one of --clean STATE, "
			       "--refresh, --remove IDs");
	request_add(&r, "name", "%s", argv[optind]);
	rc = request_send(&r, &doc);
	print_errors(doc);
	lnetctl_doc_free(doc);
	if (rc == -EBUSY)
		return failed("Failed to update group: %s: a test uses group %s", strerror(EBUSY),
			      argv[optind]);
	if (rc == -ENOENT && is_there("list_group", argv[optind]))
		return fail_of(rc, "node", removed, "update group");
	return rc ? fail_of(rc, "group", argv[optind], "update group") : 0;
}

/* ---- list ---------------------------------------------------------------------------------- */

static const char *const states[] = { "Active", "Busy", "Down", "Unknown" };
#define NR_STATES 4

static int state_of(const struct lnetctl_node *n)
{
	int i = 0;

	while (i < NR_STATES - 1 && strcmp(text(n, "state"), states[i]))
		i++;
	return i;
}

static void group_counts_print(const struct lnetctl_node *group)
{
	const struct lnetctl_node *n = lnetctl_find(group, "nodes");
	unsigned int nr[NR_STATES] = { 0 }, total = 0;

	for (n = n ? n->first : NULL; n; n = n->next, total++)
		nr[state_of(n)]++;
	printf("\t%u\t%u\t%u\t%u\t%u\t%s\n", nr[0], nr[1], nr[2], nr[3], total,
	       text(group, "name"));
}

static void group_nodes_print(const struct lnetctl_node *group, unsigned int flags)
{
	const struct lnetctl_node *n = lnetctl_find(group, "nodes");
	unsigned int total = 0;

	printf("Group [ %s ]\n", text(group, "name"));
	for (n = n ? n->first : NULL; n; n = n->next) {
		if (!(flags & 1u << state_of(n)))
			continue;
		printf("\t%s: %s\n", text(n, "id"), text(n, "state"));
		total++;
	}
	printf("Total %u nodes [ %s ]\n", total, text(group, "name"));
}

static void print_groups(const struct lnetctl_node *list, unsigned int flags, bool named)
{
	const struct lnetctl_node *g;
	unsigned int nr = 0;

	if (named && !flags)
		puts("\tACTIVE\tBUSY\tDOWN\tUNKNOWN\tTOTAL");
	for (g = list ? list->first : NULL; g; g = g->next) {
		if (flags)
			group_nodes_print(g, flags);
		else if (named)
			group_counts_print(g);
		else
			printf("%u) %s\n", ++nr, text(g, "name"));
	}
	if (!named && !flags)
		printf("Total %u groups\n", nr);
}

int verb_list_group(int argc, char **argv)
{
	static const struct option options[] = { { "active", no_argument, NULL, 'a' },
						 { "busy", no_argument, NULL, 'b' },
						 { "down", no_argument, NULL, 'd' },
						 { "unknown", no_argument, NULL, 'u' },
						 { "all", no_argument, NULL, 'l' }, { 0 } };
	unsigned int flags = 0;
	struct lnetctl_node *doc;
	struct request r;
	int c, rc;

	while ((c = option_next(argc, argv, "abdul", options, NULL)) != -1) {
		if (c == '?')
			return -1;
		flags |= c == 'l' ? 15u : 1u << (strcspn("abdu", (char[]){ (char)c, 0 }));
	}
	request_begin(&r, "list_group");
	for (c = optind; c < argc; c++)
		request_add(&r, "name", "%s", argv[c]);
	rc = request_send(&r, &doc);
	if (!rc)
		print_groups(lnetctl_find(doc, "groups"), flags, optind < argc);
	lnetctl_doc_free(doc);
	for (c = optind; rc == -ENOENT && c < argc - 1; c++)
		if (!is_there("list_group", argv[c]))
			break;
	return rc ? fail_of(rc, "group", c < argc ? argv[c] : NULL, "list groups") : 0;
}
