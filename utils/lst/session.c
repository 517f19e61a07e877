/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands of lst for sessions, and the query of a node for its session. */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lst.h"

#define LEASE_MIN	4	/* seconds */
#define LEASE_MAX	3600

/* Writes the default name, user@host. Both parts are truncated to 15 bytes. */
static void name_default(char name[NAME_MAX_LEN])
{
	const struct passwd *user = getpwuid(getuid());
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(name, NAME_MAX_LEN, "%.15s@%.15s", user ? user->pw_name : "", host);
}

/* Reads the features. Only bit 0 is known, which allows bulk of any length. */
static bool features_of(const char *env, unsigned long *feats)
{
	char *end = NULL;

	*feats = env ? strtoul(env, &end, 16) : 1;
	return !env || (end != env && !*end && *feats <= 1);
}

int verb_new_session(int argc, char **argv)
{
	static const struct option options[] = { { "timeout", required_argument, NULL, 't' },
						 { "lease", required_argument, NULL, 'l' },
						 { "force", no_argument, NULL, 'f' }, { 0 } };
	const char *env = getenv("LST_FEATURES");
	unsigned long feats;
	long long timeout = 300, lease = 0;
	char name[NAME_MAX_LEN];
	bool force = false;
	struct request r;
	int c, rc;

	while ((c = option_next(argc, argv, "t:f", options, NULL)) != -1) {
		if (c == 'f')
			force = true;
		else if (c == 'l' && parse_number("--lease", optarg, LEASE_MIN, LEASE_MAX, &lease))
			continue;
		else if (c != 't' || !parse_number("--timeout", optarg, 1, INT_MAX, &timeout))
			return -1;
	}
	if (!features_of(env, &feats))
		return misused("LST_FEATURES must be 0 or 1, not '%s'", env);
	name_default(name);
	if (!words_end(argc, argv, 1) || (optind < argc && !name_ok(argv[optind], "session")))
		return -1;
	if (optind < argc)
		snprintf(name, sizeof(name), "%s", argv[optind]);
	request_begin(&r, "new_session");
	request_add(&r, "name", "%s", name);
	request_add(&r, "timeout", "%lld", timeout);
	request_add(&r, "feats", "%lu", feats);
	request_add(&r, "force", "%d", force);
	if (lease)
		request_add(&r, "lease", "%lld", lease);
	rc = request_send(&r, NULL);
	if (rc)
		return fail(rc, "session", "create session");
	printf("SESSION: %s FEATURES: %lx TIMEOUT: %lld FORCE: %s", name, feats, timeout,
	       force ? "Yes" : "No");
	printf(lease ? " LEASE: %lld\n" : "\n", lease);
	return 0;
}

int verb_show_session(int argc, char **argv)
{
	const struct lnetctl_node *s;
	struct lnetctl_node *doc;
	struct request r;
	int rc;

	if (!words_end(argc, argv, 0))
		return -1;
	request_begin(&r, "show_session");
	rc = request_send(&r, &doc);
	if (rc)
		return fail(rc, "session", "show session");
	s = lnetctl_find(doc, "session");
	printf("%s ID: %s@%s, KEY: %s FEATURES: %s NODES: %s\n", text(s, "name"), text(s, "stamp"),
	       text(s, "nid"), text(s, "key"), text(s, "features"), text(s, "nodes"));
	lnetctl_doc_free(doc);
	return 0;
}

int verb_end_session(int argc, char **argv)
{
	struct lnetctl_node *doc;
	struct request r;
	int rc;

	if (!words_end(argc, argv, 0))
		return -1;
	request_begin(&r, "end_session");
	rc = request_send(&r, &doc);
	print_errors(doc);
	lnetctl_doc_free(doc);
	return rc ? fail(rc, "session", "end session") : 0;
}

/* ---- ping ---------------------------------------------------------------------------------- */

static void print_pinged(const struct lnetctl_node *doc)
{
	const struct lnetctl_node *list = lnetctl_find(doc, "nodes"), *n;

	for (n = list ? list->first : NULL; n; n = n->next) {
		const char *session = text(n, "session");

		printf("\t%s: %s [session: %s id: %s]\n", text(n, "id"), text(n, "state"),
		       *session ? session : "<NULL>", text(n, "nid"));
	}
}

int verb_ping(int argc, char **argv)
{
	static const struct option options[] = { { "session", no_argument, NULL, 's' },
						 { "server", no_argument, NULL, 'v' },
						 { "batch", required_argument, NULL, 'b' },
						 { "group", required_argument, NULL, 'g' },
						 { "nodes", required_argument, NULL, 'n' },
						 { "timeout", required_argument, NULL, 't' },
						 { 0 } };
	const char *whom = NULL, *kind = "node";
	struct lnetctl_node *doc;
	long long wait = 5;
	struct request r;
	int c, rc;

	request_begin(&r, "ping");
	while ((c = option_next(argc, argv, "b:g:n:t:sv", options, NULL)) != -1) {
		if (c == '?' || (c == 't' && !parse_number("--timeout", optarg, 1, 3600, &wait)))
			return -1;
		if (c == 'v')
			request_add(&r, "server", "1");
		if (c == 't' || c == 'v')
			continue;
		if (whom)
			return misused("ping needs exactly one of --session, --group, --batch, "
				       "--nodes");
		whom = c == 's' ? "session" : optarg;
		kind = c == 's' ? "session" : c == 'g' ? "group" : c == 'b' ? "batch" : "node";
		if (c == 'n' && !add_ids(&r, optarg))
			return -1;
		if (c == 'b' || c == 'g')
			request_add(&r, c == 'b' ? "batch" : "group", "%s", optarg);
	}
	if (!words_end(argc, argv, 0))
		return -1;
	if (!whom)
		return misused("ping needs exactly one of --session, --group, --batch, --nodes");
	request_add(&r, "wait", "%lld", wait);
	rc = request_send(&r, &doc);
	if (!rc)
		print_pinged(doc);
	lnetctl_doc_free(doc);
	return rc ? fail_of(rc, kind, whom, "ping") : 0;
}
