/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* set: a command for each setting that stock's tool knows, and every other tunable by its name. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

/* What is refused without asking the node, in stock's words. */
struct check {
	const char *name;
	int64_t min, max;
	const char *words;
	bool is_switch;		/* everything but 0 is 1 */
};

static const struct check checks[] = {
	{ "discovery", INT64_MIN, INT64_MAX, NULL, true },
	{ "drop_asym_route", INT64_MIN, INT64_MAX, NULL, true },
	{ "response_tracking", 0, 3, "\"Valid values are: 0, 1, 2, or 3\"", false },
	{ "recovery_limit", 0, INT64_MAX, "\"Must be greater than or equal to 0\"", false },
	{ "max_recovery_ping_interval", 1, INT64_MAX, "\"Must be strictly positive\"", false },
};

static const struct check *check_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (!strcmp(checks[i].name, name))
			return &checks[i];
	return NULL;
}

/*
 * The errno is stock's for "the node refused". Why it did follows in its own words, as a comment,
 * so that what scripts read is what they know.
 */
static int refused(const struct tool *t, const char *name, int rc)
{
	char words[64], *at;

	snprintf(words, sizeof(words), "%s", name);
	for (at = words; *at; at++)
		if (*at == '_')
			*at = ' ';
	rc = tool_refuse("add", name, rc == -EPERM ? rc : -ENODATA,
			 "\"cannot configure %s: %s\"", words,
			 strerror(rc == -ERANGE ? EINVAL : -rc));
	fprintf(stderr, "# %s\n", lnetctl_error(t->c)->text);
	return rc;
}

static int set(struct tool *t, const char *name, const char *value)
{
	const struct check *check = check_of(name);
	struct lnetctl_node text = { .text = (char *)value };
	char number[24];
	int64_t num;
	bool whole = !lnetctl_num(&text, &num);
	int rc;

	if (whole && check && (num < check->min || num > check->max))
		return tool_refuse("add", name, -EINVAL, "%s", check->words);
	if (whole) {
		snprintf(number, sizeof(number), "%" PRId64,
			 check && check->is_switch ? !!num : num);
		value = number;
	}
	rc = lnetctl_set(t->c, name, value);
	if (rc == -EINVAL && !whole)
		return tool_refuse("parser", "set", -1, "cannot parse %s value", name);
	return rc ? refused(t, name, rc) : 0;
}

static int run_set(struct tool *t)
{
	return set(t, t->cmd->name, t->rest[0]);
}

/* In stock's words, which are of what was asked and not of the node. */
static int router_refused(const struct tool *t, const char *name, int rc)
{
	const char *why = lnetctl_error(t->c)->text;

	return rc ? tool_refuse("add", name, rc, "\"%s\"", why) : 0;
}

static int run_set_routing(struct tool *t)
{
	struct lnetctl_node text = { .text = t->rest[0] };
	int64_t on;

	if (lnetctl_num(&text, &on))
		return tool_refuse("parser", "set", -1, "cannot parse routing value");
	if (on < 0 || on > 1)
		return tool_refuse("add", "routing", -EINVAL,
				   "\"Invalid routing value. Valid values are: 0 or 1\"");
	return router_refused(t, "routing", lnetctl_routing_set(t->c, on));
}

static int run_set_buffers(struct tool *t)
{
	struct lnetctl_node text = { .text = t->rest[0] };
	const char *name = t->cmd->name;
	int64_t nr;

	if (lnetctl_num(&text, &nr))
		return tool_refuse("parser", "set", -1, "cannot parse %s value", name);
	if (nr < -1)
		return tool_refuse("add", name, -EINVAL,
				   "\"%s must be greater than or equal to -1\"", name);
	return router_refused(t, name,
			      lnetctl_buffers_set(t->c, *name == 't' ? nr : -1,
						  *name == 's' ? nr : -1,
						  *name == 'l' ? nr : -1));
}

/* Also true if the node cannot be asked. */
static bool is_tunable(struct tool *t, const char *name)
{
	struct lnetctl_node *doc;
	bool found;

	if (lnetctl_global_show(t->c, &doc))
		return true;
	found = lnetctl_find(lnetctl_find(doc, "global"), name);
	lnetctl_doc_free(doc);
	return found;
}

int run_set_other(struct tool *t)
{
	int rc;

	/* derived: accepted in files, where exports have it, only */
	if (!strcmp(t->rest[0], "lnd_timeout") ||
	    (t->nr_rest != 2 && !is_tunable(t, t->rest[0])))
		return tool_unknown(t->rest[0]);
	if (t->nr_rest != 2) {
		tool_help("", t->cmd, stdout);
		return -EINVAL;
	}
	rc = lnetctl_set(t->c, t->rest[0], t->rest[1]);
	if (rc == -ENOENT)
		return tool_unknown(t->rest[0]);
	return rc ? refused(t, t->rest[0], rc) : 0;
}

#define SET(name, text) { name, text, run_set, NULL, NULL, false, true, 1 }

const struct command set_commands[] = {
	{ "tiny_buffers", "messages without payload in a router; 0: 2048, -1: as it is",
	  run_set_buffers, NULL, NULL, false, true, 1 },
	{ "small_buffers", "messages of up to 4 KiB in a router; 0: 16384, -1: as it is",
	  run_set_buffers, NULL, NULL, false, true, 1 },
	{ "large_buffers", "messages of up to 1 MiB in a router; 0: 1024, -1: as it is",
	  run_set_buffers, NULL, NULL, false, true, 1 },
	{ "routing", "1: pass on messages for other nodes; 0: do not", run_set_routing, NULL, NULL,
	  false, true, 1 },
	SET("numa_range", "NUMA distances below this count as equal"),
	SET("max_interfaces", "most interfaces of this node, 2 to 128"),
	SET("discovery", "1: learn the interfaces of peers from them; 0: do not"),
	SET("drop_asym_route", "1: drop messages that came by a router this node would not use"),
	SET("retry_count", "how often a message is sent again, 0 to 255; 0: never"),
	SET("transaction_timeout", "seconds (5, 0.3) or 300ms until a request has failed"),
	SET("health_sensitivity", "points that a failure costs, 0 to 1000; 0: health never falls"),
	SET("recovery_interval", "accepted; recovery pings pace themselves"),
	SET("router_sensitivity", "0 to 100; kept for scripts, without effect"),
	SET("response_tracking", "whose answers are counted as awaited: 0 the node's own, 1 GETs "
				 "too, 2 PUTs with ACK too, 3 all"),
	SET("recovery_limit", "seconds until recovery of a peer interface is given up; 0: never"),
	SET("max_recovery_ping_interval", "longest seconds between two recovery pings, from 1 on"),
	{ .name = NULL }
};
