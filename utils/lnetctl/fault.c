/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fault drop and fault delay: stock's rules; with options of ours, rules as those of fault KIND. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "tool.h"

static const char *const message_names[] = { "ACK", "PUT", "GET", "REPLY", NULL };
static const char *const error_names[] = { "",
					   "local_interrupt",
					   "local_dropped",
					   "local_aborted",
					   "local_no_route",
					   "local_error",
					   "local_timeout",
					   "remote_error",
					   "remote_dropped",
					   "remote_timeout",
					   "network_timeout",
					   NULL };
static const char *const when_names[] = { "before", "posted", "completed", NULL };

static int name_index(const char *const *names, const char *text)
{
	int i;

	for (i = 0; names[i]; i++)
		if (*names[i] && !strcasecmp(names[i], text))
			return i;
	return -1;
}

static int refuse(const char *what, const char *text)
{
	return tool_refuse("parser", "fault", -1, "cannot parse %s '%s'", what, text);
}

static int read_masks(struct tool *t, struct lnetctl_fault *f)
{
	const char *text;
	unsigned int i;
	int ix;

	for (i = 0; (text = tool_opt_nth(t, "portal", i)); i++) {
		char *end;
		unsigned long portal = strtoul(text, &end, 0);

		if (!*text || *end || portal > 63)
			return refuse("portal", text);
		f->portals |= 1ULL << portal;
	}
	for (i = 0; (text = tool_opt_nth(t, "message", i)); i++) {
		ix = name_index(message_names, text);
		if (ix < 0)
			return refuse("message", text);
		f->messages |= 1U << ix;
	}
	for (i = 0; (text = tool_opt_nth(t, "health_error", i)); i++) {
		ix = name_index(error_names, text);
		if (ix < 0 && strcmp(text, "random"))
			return refuse("health_error", text);
		f->health_errors |= ix < 0 ? UINT32_MAX : 1U << ix;
	}
	return 0;
}

static int read_number(struct tool *t, const char *name, unsigned int *num)
{
	int64_t val = tool_num(t, name);

	if (!tool_opt(t, name))
		return 0;
	if (val < 0 || val > UINT32_MAX)
		return refuse(name, tool_opt(t, name));
	*num = (unsigned int)val;
	return 0;
}

static int read_rule(struct tool *t, struct lnetctl_fault *f)
{
	const char *latency = tool_opt(t, "latency"), *when = tool_opt(t, "when");
	int rc = read_masks(t, f);

	f->source = tool_opt(t, "source");
	f->dest = tool_opt(t, "dest");
	f->local = tool_opt(t, "local_nid");
	f->random = tool_opt(t, "random");
	f->drop_all = tool_opt(t, "drop_all");
	rc = rc ? rc : read_number(t, "rate", &f->rate);
	rc = rc ? rc : read_number(t, "interval", &f->interval);
	if (!rc && latency && lnetctl_ms_parse(latency, &f->latency_ms))
		rc = refuse("latency", latency);
	if (!rc && when && name_index(when_names, when) < 0)
		rc = refuse("when", when);
	if (when && !rc)
		f->when = (unsigned int)name_index(when_names, when);
	return rc;
}

/* On stdout, as stock's tool. */
static int done(struct tool *t, int rc, const char *verb, bool delay)
{
	if (rc)
		printf("failed to %s %s rule: %s\n", verb, delay ? "delay" : "drop",
		       lnetctl_error(t->c)->text);
	return rc;
}

static bool is_delay(const struct tool *t)
{
	return t->cmd >= delay_commands && t->cmd < delay_commands + 4;
}

/* ---- with options of ours -------------------------------------------------------------------- */

static const char *const more_names[] = { "permille", "count",	"seed", "from", "to",	 "period",
					  "duty",     "jitter", "at",	"name", NULL };
static const char *const same_names[] = { "source",  "dest",	"local_nid", "rate",
					  "message", "portal", NULL };
static const char *const stock_names[] = { "health_error", "random", "drop_all", "when", NULL };

static const char *any_of(const struct tool *t, const char *const *names)
{
	for (; *names; names++)
		if (tool_opt(t, *names))
			return *names;
	return NULL;
}

static bool add_options(struct lnetctl_node *rule, const struct tool *t, const char *const *names)
{
	for (; *names; names++)
		if (!rule_option(rule, t, *names))
			return false;
	return true;
}

/* A time of stock's: seconds, or with a unit. */
static bool add_time(struct lnetctl_node *rule, const struct tool *t, const char *option,
		     const char *param)
{
	const char *text = tool_opt(t, option);
	char buf[64];
	unsigned int ms;

	if (!text)
		return true;
	if (!lnetctl_ms_parse(text, &ms))
		snprintf(buf, sizeof(buf), "%ums", ms);
	else
		snprintf(buf, sizeof(buf), "%.60s", text);
	return lnetctl_add_text(rule, param, buf);
}

static int add_more(struct tool *t)
{
	struct lnetctl_node *rule = lnetctl_add_map(NULL, NULL);
	const char *stock = any_of(t, stock_names);
	int rc = -ENOMEM;

	if (stock)
		rc = tool_refuse("add", "faults", -EINVAL, "'%s' does not go with '%s': it is of "
				 "'fault outcome add' there", stock, any_of(t, more_names));
	else if (rule && lnetctl_add_text(rule, "kind", is_delay(t) ? "delay" : "drop") &&
		 add_options(rule, t, same_names) && add_options(rule, t, more_names) &&
		 add_time(rule, t, "interval", "interval") && add_time(rule, t, "latency", "delay"))
		rc = tool_done(t, lnetctl_rule_add(t->c, rule));
	lnetctl_doc_free(rule);
	return rc;
}

/* ---- the commands ---------------------------------------------------------------------------- */

static int run_add(struct tool *t)
{
	struct lnetctl_fault f = { .delay = is_delay(t) };
	int rc;

	if (any_of(t, more_names))
		return add_more(t);
	if (!tool_opt(t, "source") || !tool_opt(t, "dest"))
		return tool_missing("missing mandatory parameters: 'source , dest'");
	if (!tool_opt(t, "rate") == !tool_opt(t, "interval") && !tool_opt(t, "drop_all"))
		return tool_missing("exactly one of --rate and --interval is needed");
	if (f.delay && !tool_opt(t, "latency"))
		return tool_missing("missing mandatory parameters: 'latency'");
	rc = read_rule(t, &f);
	return rc ? rc : done(t, lnetctl_fault_add(t->c, &f), "add", f.delay);
}

/* Those with options of ours, too; an error if there are neither. */
static int del_all(struct tool *t)
{
	struct lnetctl_fault f = { .delay = is_delay(t) };
	struct lnetctl_node *which = lnetctl_add_map(NULL, NULL);
	int more = -ENOMEM, rc;

	if (which && lnetctl_add_text(which, "kind", f.delay ? "delay" : "drop"))
		more = lnetctl_rule_del(t->c, which);
	lnetctl_doc_free(which);
	rc = lnetctl_fault_del(t->c, &f);
	return done(t, rc == -ENOENT && !more ? 0 : rc, "delete", f.delay);
}

static int run_del(struct tool *t)
{
	struct lnetctl_fault f = { .delay = is_delay(t),
				   .source = tool_opt(t, "source"),
				   .dest = tool_opt(t, "dest") };

	if (tool_opt(t, "id") || tool_opt(t, "name"))
		return run_rule_del(t);
	if (!tool_opt(t, "all") && (!f.source || !f.dest))
		return tool_missing("missing mandatory parameters: 'source , dest' or 'all'");
	if (tool_opt(t, "all"))
		return del_all(t);
	return done(t, lnetctl_fault_del(t->c, &f), "delete", f.delay);
}

static int run_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_fault_show(t->c, is_delay(t), &doc);

	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static int run_reset(struct tool *t)
{
	return done(t, lnetctl_fault_reset(t->c, is_delay(t)), "reset", is_delay(t));
}

#define COMMON_OPTS										\
	{ "source", 's', ARG_NEEDED, "NID, *@net or *: where the message comes from" },		\
	{ "dest", 'd', ARG_NEEDED, "NID, *@net or *: where it goes" },				\
	{ "rate", 'r', ARG_NEEDED, "one message in so many" },					\
	{ "interval", 'i', ARG_NEEDED, "one message in so many seconds" },			\
	{ "portal", 'p', ARG_NEEDED, "only PUT and GET to portal 0 to 63; repeatable" },	\
	{ "message", 'm', ARG_NEEDED, "only PUT, ACK, GET or REPLY; may be repeated" },		\
	{ "local_nid", 'o', ARG_NEEDED, "only over this interface" },				\
	{ "rule_type", 't', ARG_NEEDED, "accepted" },						\
	{ "permille", 0, ARG_NEEDED, "the chance of each message, in place of the rate" },	\
	{ "count", 0, ARG_NEEDED, "at most so many" },						\
	{ "seed", 0, ARG_NEEDED, "of what the rule draws; the same again" },			\
	{ "from", 0, ARG_NEEDED, "it begins so long after it was added, as 500ms" },		\
	{ "to", 0, ARG_NEEDED, "it is over so long after it was added" },			\
	{ "period", 0, ARG_NEEDED, "on and off in turn; both together" },			\
	{ "duty", 0, ARG_NEEDED, "how much of a period it is on, permille" },			\
	{ "name", 0, ARG_NEEDED, "a name, to find the rule again" }

static const struct opt drop_opts[] = {
	COMMON_OPTS,
	{ "health_error", 'e', ARG_NEEDED,
	  "how sending fails, as remote_timeout, or random; may be repeated" },
	{ "random", 'n', ARG_NONE, "any moment of the interval" },
	{ "drop_all", 'x', ARG_NONE, "every message" },
	{ "when", 'w', ARG_NEEDED, "with health_error: before, posted or completed" },
	{ "at", 0, ARG_NEEDED, "any, send or receive: where it acts" },
	{ .name = NULL }
};
static const struct opt delay_opts[] = {
	COMMON_OPTS,
	{ "latency", 'l', ARG_NEEDED, "how long: seconds (1, 0.3) or 300ms" },
	{ "jitter", 0, ARG_NEEDED, "up to so much longer, as 5ms" },
	{ .name = NULL }
};
static const struct opt del_opts[] = {
	{ "all", 'a', ARG_NONE, "all rules" },
	{ "source", 's', ARG_NEEDED, "those with this source" },
	{ "dest", 'd', ARG_NEEDED, "and this destination" },
	{ "id", 'i', ARG_NEEDED, "the one of this number in `fault show'" },
	{ "name", 'n', ARG_NEEDED, "the one of this name" },
	{ .name = NULL }
};

const struct command drop_commands[] = {
	{ "add", "drop messages", run_add, drop_opts },
	{ "del", "delete drop rules", run_del, del_opts },
	{ "show", "show drop rules", run_show },
	{ "reset", "start their counters again", run_reset },
	{ .name = NULL }
};
const struct command delay_commands[] = {
	{ "add", "delay messages", run_add, delay_opts },
	{ "del", "delete delay rules", run_del, del_opts },
	{ "show", "show delay rules", run_show },
	{ "reset", "start their counters again", run_reset },
	{ .name = NULL }
};
const struct command fault_commands[] = {
	{ "drop", "drop {add | del | show | reset}", .sub = drop_commands },
	{ "delay", "delay {add | del | show | reset}", .sub = delay_commands },
	{ "duplicate", "duplicate {add | del | show}", .sub = rule_commands },
	{ "reorder", "reorder {add | del | show}", .sub = rule_commands },
	{ "corrupt", "corrupt {add | del | show}", .sub = rule_commands },
	{ "cut", "cut {add | del | show}", .sub = rule_commands },
	{ "partition", "partition {add | del | show}", .sub = rule_commands },
	{ "slow", "slow {add | del | show}", .sub = rule_commands },
	{ "flap", "flap {add | del | show}", .sub = rule_commands },
	{ "degrade", "degrade {add | del | show}", .sub = rule_commands },
	{ "outcome", "outcome {add | del | show}", .sub = rule_commands },
	{ "ack-timeout", "ack-timeout {add | del | show}", .sub = rule_commands },
	{ "reply-timeout", "reply-timeout {add | del | show}", .sub = rule_commands },
	{ "show", "show all rules of these kinds, and drop and delay rules with their options",
	  run_rules_show },
	{ "import", "import [--add | --del | --show] [FILE]: a list of rules under `faults'",
	  run_import, import_opts },
	{ "export", "print these rules as import takes them", run_rules_export },
	{ .name = NULL }
};
