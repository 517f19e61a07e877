/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command set. It has a subcommand for each setting of stock's tool, and accepts any other
 * tunable by its name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

/* Values that the tool itself rejects, with stock's texts. No request is sent to the node. */
struct check {
	const char *name;
	int64_t min, max;
	const char *words;
	const char *object;		/* object in the error message; NULL: @name is the object */
};

static const struct check checks[] = {
	{ "discovery", 0, 1, "\"Valid values are: 0, 1, on or off\"" },
	{ "drop_asym_route", 0, 1, "\"Valid values are: 0, 1, on or off\"" },
	{ "response_tracking", 0, 3, "\"Valid values are: 0, 1, 2, or 3\"" },
	{ "recovery_limit", 0, INT64_MAX, "\"Must be greater than or equal to 0\"" },
	{ "max_recovery_ping_interval", 1, INT64_MAX, "\"must be strictly positive\"",
	  "maximum recovery ping interval" },
};

static const struct check *check_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (!strcmp(checks[i].name, name))
			return &checks[i];
	return NULL;
}

/* Writes the name of the tunable as in stock's messages: with spaces, except for one tunable. */
static void stock_name(const char *name, char *words, size_t size)
{
	char *at;

	if (!strcmp(name, "router_sensitivity"))
		name = "router_health_sensitivity";
	snprintf(words, size, "%s", name);
	for (at = words; *at; at++)
		if (*at == '_')
			*at = ' ';
}

/*
 * Prints a rejection by the node. The errno is that of stock's tool. The text is stock's, followed
 * by the node's reason.
 */
static int set_rejected(const struct tool *t, const char *name, int rc)
{
	const char *why = lnetctl_error(t->c)->text;
	const char *stock = strerror(rc == -ERANGE ? EINVAL : -rc);
	bool more = strcmp(why, stock);
	char words[64];

	stock_name(name, words, sizeof(words));
	rc = rc == -EPERM ? rc : -ENODATA;
	tool_refuse("add", name, rc, "\"cannot configure %s: %s%s%s\"", words, stock,
		    more ? ": " : "", more ? why : "");
	return tool_status(t, rc);
}

/* Prints stock's text, and then the values that @name accepts. */
static int not_read(const char *name, const char *accepted, const char *value)
{
	tool_refuse("parser", "set", -1, "\"cannot parse %s value: %s, not '%s'\"", name,
		    accepted, value);
	return EXIT_USAGE;
}

/*
 * Prints a note if the node stored another value. As stock does, the node replaces some values of
 * max_interfaces.
 */
static void taken_note(struct tool *t, const char *name, const char *value)
{
	const struct lnetctl_node *taken;
	struct lnetctl_node *doc;

	if (strcmp(name, "max_interfaces") || lnetctl_global_show(t->c, &doc))
		return;
	taken = lnetctl_find(lnetctl_find(doc, "global"), name);
	if (taken && taken->text && strcmp(taken->text, value) && strcmp(value, "default"))
		fprintf(stderr, "note: %s was set to %s, because %s is too %s\n", name,
			taken->text, value,
			strtoll(value, NULL, 10) < strtoll(taken->text, NULL, 10) ? "small" :
										    "large");
	lnetctl_doc_free(doc);
}

/*
 * Prints the reason of a node. Its text is "invalid value 'x' for key 'NAME': REASON". A stock
 * module sends no reason.
 */
static int value_wrong(const struct tool *t, const char *name, const char *value)
{
	const char *why = lnetctl_error(t->c)->text, *reason = strstr(why, "': ");

	if (strncmp(why, "invalid value", 13) || !reason)
		return not_read(name,
				"it must be a number, a time or 'default' ('lnetctl global show' "
				"prints the present value)",
				value);
	tool_refuse("parser", "set", -1, "\"cannot parse %s value: %s\"", name, reason + 3);
	return EXIT_USAGE;
}

/*
 * Prints the result of a set command. -EINVAL for a whole number means that the number is out of
 * range. -EINVAL for another text means that the text is invalid.
 */
static int set_done(struct tool *t, const char *name, const char *value, int rc)
{
	if (rc == -EINVAL && (!*value || value[strspn(value, "-0123456789")]))
		return value_wrong(t, name, value);
	if (rc)
		return set_rejected(t, name, rc);
	taken_note(t, name, value);
	return 0;
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
		return tool_refuse("add", check->object ? check->object : name, -EINVAL, "%s",
				   check->words);
	if (whole) {
		snprintf(number, sizeof(number), "%" PRId64, num);
		value = number;
	}
	rc = lnetctl_set(t->c, name, value);
	return set_done(t, name, value, rc);
}

static int run_set(struct tool *t)
{
	return set(t, t->cmd->name, t->rest[0]);
}

/* Prints only stock's text. Like stock's tool, prints no reason of the node. */
static int router_refused(const struct tool *t, const char *name, int rc)
{
	const char *why = lnetctl_error(t->c)->text;

	return rc ? tool_refuse("add", name, rc, "\"%s\"", why) : 0;
}

static int run_set_routing(struct tool *t)
{
	static const char *const words[] = { "off", "on", "default", NULL };
	struct lnetctl_node text = { .text = t->rest[0] };
	int64_t on;

	for (on = 0; words[on] && strcmp(words[on], text.text); on++)
		;
	if (words[on])
		on = on == 1;
	else if (lnetctl_num(&text, &on) || on < 0 || on > 1)
		return not_read("routing", "it must be 0, 1, on, off or 'default' (off)",
				text.text);
	return router_refused(t, "routing", lnetctl_routing_set(t->c, on));
}

static int run_set_buffers(struct tool *t)
{
	struct lnetctl_node text = { .text = t->rest[0] };
	const char *name = t->cmd->name;
	int64_t nr = 0;

	/* 0 is the default number */
	if (strcmp(text.text, "default") && lnetctl_num(&text, &nr))
		return not_read(name, "it must be a number or 'default'", text.text);
	if (nr < -1)	/* stock's object, text and errno */
		return tool_refuse("add", "buf", -ERANGE,
				   "\"tiny, small and large must be >= 0\"");
	return router_refused(t, name,
			      lnetctl_buffers_set(t->c, *name == 't' ? nr : -1,
						  *name == 's' ? nr : -1,
						  *name == 'l' ? nr : -1));
}

/* ---- names ----------------------------------------------------------------------------------- */

#define NAME_MAX_LEN 40

static unsigned int smaller_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Returns the edit distance of @a and @b: the number of letters to add, remove or replace. */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[NAME_MAX_LEN + 1], i, j, nr = (unsigned int)strlen(b);

	if (nr > NAME_MAX_LEN)
		return UINT32_MAX;
	for (j = 0; j <= nr; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		unsigned int corner = row[0]++;

		for (j = 0; j < nr; j++) {
			unsigned int same = corner + (a[i] != b[j]);

			corner = row[j + 1];
			row[j + 1] = smaller_of(smaller_of(corner, row[j]) + 1, same);
		}
	}
	return row[nr];
}

static void nearer(const char *name, const char *than, const char **best, unsigned int *apart)
{
	unsigned int far = edit_distance(than, name);

	if (far < *apart) {
		*apart = far;
		*best = name;
	}
}

/*
 * Finds the tunable with the most similar name, in @doc and in the table. NULL: no name is similar.
 */
static const char *nearest_tunable(const struct lnetctl_node *doc, const char *name)
{
	const struct lnetctl_node *all = lnetctl_find(doc, "global"), *one;
	unsigned int apart = 2 + (unsigned int)strlen(name) / 3;
	const struct command *cmd;
	const char *best = NULL;

	for (cmd = set_commands; cmd->name; cmd++)
		nearer(cmd->name, name, &best, &apart);
	for (one = all ? all->first : NULL; one; one = one->next)
		nearer(one->key, name, &best, &apart);
	return best;
}

/* Checks a name. Returns 0 if the node has the tunable @name, or if the node cannot be queried. */
static int name_check(struct tool *t, const char *name)
{
	struct lnetctl_node *doc;
	const char *near;
	int rc = 0;

	if (!strcmp(name, "lnd_timeout"))
		return tool_usage("lnd_timeout cannot be set: it is derived from "
				  "transaction_timeout and retry_count");
	if (lnetctl_global_show(t->c, &doc))
		return 0;
	if (!lnetctl_find(lnetctl_find(doc, "global"), name)) {
		near = nearest_tunable(doc, name);
		rc = tool_no_command("there is no tunable '%s'%s%s%s; 'lnetctl global show' lists "
				     "them", name, near ? " (did you mean '" : "",
				     near ? near : "", near ? "'?)" : "");
	}
	lnetctl_doc_free(doc);
	return rc;
}

int run_set_other(struct tool *t)
{
	const char *name = t->rest[0];
	int rc;

	if (t->nr_rest == 2)
		rc = strcmp(name, "lnd_timeout") ? lnetctl_set(t->c, name, t->rest[1]) : -ENOENT;
	else
		rc = -ENOENT;
	if (rc != -ENOENT)
		return set_done(t, name, t->rest[1], rc);
	rc = name_check(t, name);
	if (rc)
		return rc;
	return t->nr_rest == 2 ? set_rejected(t, name, -ENOENT) :
				 tool_usage("Missing value argument: set %s VALUE", name);
}

#define ONE_VALUE .raw = true, .words_min = 1, .words_max = 1, .word = "VALUE"
#define SET(name, text) { name, text, run_set, ONE_VALUE }

const struct command set_commands[] = {
	{ "tiny_buffers",
	  "number of router buffers for messages without payload; 0: 2048, -1: unchanged",
	  run_set_buffers, ONE_VALUE },
	{ "small_buffers",
	  "number of router buffers for messages of up to 4 KiB; 0: 16384, -1: unchanged",
	  run_set_buffers, ONE_VALUE },
	{ "large_buffers",
	  "number of router buffers for messages of up to 1 MiB; 0: 1024, -1: unchanged",
	  run_set_buffers, ONE_VALUE },
	{ "routing",
	  "1: the node is a router and forwards messages for other nodes; 0: it does not",
	  run_set_routing, ONE_VALUE },
	SET("numa_range",
	    "NUMA distances below this number are treated as equal in path selection"),
	SET("max_interfaces",
	    "largest number of interfaces of this node, 16 to 128; any other number sets 128"),
	SET("discovery", "1: learn the NIDs of peers by discovery; 0: do not"),
	SET("drop_asym_route",
	    "1: drop messages from a router by which this node has no route back to their sender"),
	SET("retry_count", "how many times a message is retried, 0 to 255; 0: never"),
	SET("transaction_timeout", "time after which a request without reply fails, in seconds (5, "
				   "0.3) or with a unit (300ms)"),
	SET("health_sensitivity",
	    "points by which a failure lowers a health value, 0 to 1000; 0: health never falls"),
	SET("recovery_interval", "accepted for scripts of stock LNet, without effect"),
	SET("router_sensitivity", "0 to 100; accepted for scripts of stock LNet, without effect"),
	SET("response_tracking", "requests that the response counters include: 0 only those of the "
				 "node itself, 1 also GETs, 2 also PUTs with ACK, 3 all"),
	SET("recovery_limit", "seconds without response after which recovery pings to a peer "
			      "interface end; 0: never"),
	SET("max_recovery_ping_interval",
	    "longest time between two recovery pings, in seconds, at least 1"),
	{ .name = NULL }
};
