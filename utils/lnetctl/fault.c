/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands fault drop and fault delay, which make stock's rules. With options of this project,
 * they make rules as fault KIND does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "tool.h"

static const char *const message_names[] = { "ACK", "PUT", "GET", "REPLY", NULL };
/* from bit 1 on */
static const char *const error_names[] = { "local_interrupt",
					   "local_dropped",
					   "local_aborted",
					   "local_no_route",
					   "local_error",
					   "local_timeout",
					   "remote_error",
					   "remote_dropped",
					   "remote_timeout",
					   "network_timeout",
					   "random",
					   NULL };
static const char *const when_names[] = { "before", "posted", "completed", NULL };
static const char *const at_names[] = { "any", "send", "receive", NULL };

static int name_index(const char *const *names, const char *text)
{
	int i;

	for (i = 0; names[i]; i++)
		if (!strcasecmp(names[i], text))
			return i;
	return -1;
}

static void read_masks(struct tool *t, struct lnetctl_fault *f)
{
	const char *text;
	unsigned int i;

	for (i = 0; (text = tool_opt_nth(t, "portal", i)); i++)
		f->portals |= 1ULL << strtoul(text, NULL, 0);
	for (i = 0; (text = tool_opt_nth(t, "message", i)); i++)
		f->messages |= 1U << name_index(message_names, text);
	for (i = 0; (text = tool_opt_nth(t, "health_error", i)); i++)
		f->health_errors |= !strcmp(text, "random") ? UINT32_MAX :
				    1U << (name_index(error_names, text) + 1);
}

static int read_interval(struct tool *t, struct lnetctl_fault *f)
{
	const char *text = tool_opt(t, "interval");
	unsigned int ms = 0;

	if (text && (lnetctl_ms_parse(text, &ms) || ms % 1000))
		return tool_usage("--interval must be whole seconds in a rule with options of "
				  "stock LNet only, not '%s'", text);
	f->interval = ms / 1000;
	return 0;
}

static int read_rule(struct tool *t, struct lnetctl_fault *f)
{
	const char *when = tool_opt(t, "when");

	read_masks(t, f);
	f->source = tool_opt(t, "source");
	f->dest = tool_opt(t, "dest");
	f->local = tool_opt(t, "local_nid");
	f->random = tool_opt(t, "random");
	f->drop_all = tool_opt(t, "drop_all");
	if (f->drop_all)
		f->rate = 1;	/* a node rejects a rule without a rate or an interval */
	if (tool_opt(t, "rate"))
		f->rate = (unsigned int)tool_num(t, "rate");
	if (tool_opt(t, "latency"))
		lnetctl_ms_parse(tool_opt(t, "latency"), &f->latency_ms);
	if (when)
		f->when = (unsigned int)name_index(when_names, when);
	return read_interval(t, f);
}

static int fault_done(struct tool *t, int rc, const char *verb, bool delay)
{
	if (!rc)
		return 0;
	tool_plain(verb, "fault", rc, "failed to %s %s rule: %s", verb, delay ? "delay" : "drop",
		   lnetctl_error(t->c)->text);
	return tool_status(t, rc);
}

static bool is_delay(const struct tool *t)
{
	return t->cmd >= delay_commands && t->cmd < delay_commands + 4;
}

/* ---- options of this project ----------------------------------------------------------------- */

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

/* Adds a time in stock's form, which is seconds without a unit, or a number with a unit. */
static bool fault_time_add(struct lnetctl_node *rule, const struct tool *t, const char *option,
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

static int fault_rule_add(struct tool *t)
{
	struct lnetctl_node *rule = lnetctl_add_map(NULL, NULL);
	const char *stock = any_of(t, stock_names);
	int rc = -ENOMEM;

	if (stock)
		rc = tool_usage(
			"--%s is invalid with --%s option: use 'lnetctl fault outcome add' instead",
			stock, any_of(t, more_names));
	else if (rule && lnetctl_add_text(rule, "kind", is_delay(t) ? "delay" : "drop") &&
		 add_options(rule, t, same_names) && add_options(rule, t, more_names) &&
		 fault_time_add(rule, t, "interval", "interval") &&
		 fault_time_add(rule, t, "latency", "delay"))
		rc = tool_done(t, lnetctl_rule_add(t->c, rule));
	lnetctl_doc_free(rule);
	return rc ? rc : tool_rule_print(t, is_delay(t) ? "delay" : "drop");
}

/* ---- the commands ---------------------------------------------------------------------------- */

/* Reports that the ID is unknown. The rule was added, so the status is 0. */
static int id_unknown(const char *why)
{
	fprintf(stderr, "lnetctl: the rule was added, but its ID could not be read: %s\n", why);
	return 0;
}

static bool id_add(struct lnetctl_node *doc, int64_t id, bool delay)
{
	struct lnetctl_node *list = doc ? lnetctl_add_seq(doc, "fault") : NULL;
	struct lnetctl_node *item = list ? lnetctl_add_map(list, NULL) : NULL;

	return item && lnetctl_add_num(item, "id", id) &&
	       lnetctl_add_text(item, "rule_type", delay ? "delay" : "drop");
}

/* Prints the ID of the newest rule. A stock module has no IDs. */
static int id_print(struct tool *t, bool delay)
{
	struct lnetctl_node *all, *doc = lnetctl_add_map(NULL, NULL);
	const struct lnetctl_node *list, *rule;
	int64_t id, newest = 0;

	if (lnetctl_fault_show(t->c, delay, &all)) {
		lnetctl_doc_free(doc);
		return id_unknown(lnetctl_error(t->c)->text);
	}
	list = lnetctl_find(all, "fault");
	for (rule = list ? list->first : NULL; rule; rule = rule->next)
		if (!lnetctl_num(lnetctl_find(rule, "id"), &id) && id > newest)
			newest = id;
	lnetctl_doc_free(all);
	if (newest && !id_add(doc, newest, delay)) {
		lnetctl_doc_free(doc);
		return id_unknown("Cannot allocate memory");
	}
	return tool_show(t, 0, doc, LNETCTL_WIDE);
}

static int fault_command_add(struct tool *t)
{
	struct lnetctl_fault f = { .delay = is_delay(t) };
	int rc;

	if (any_of(t, more_names)) {
		rc = tool_selects(t);
		return rc ? rc : fault_rule_add(t);
	}
	if (!tool_opt(t, "source") || !tool_opt(t, "dest"))
		return tool_missing("missing mandatory parameters: 'source , dest'");
	if (!tool_opt(t, "rate") && !tool_opt(t, "interval") && !tool_opt(t, "drop_all"))
		return tool_missing("exactly one of --rate, --interval and --drop_all is needed");
	rc = read_rule(t, &f);
	rc = rc ? rc : tool_local_check(t);
	rc = rc ? rc : fault_done(t, lnetctl_fault_add(t->c, &f), "add", f.delay);
	return rc ? rc : id_print(t, f.delay);
}

/*
 * Deletes all rules, also those with options of this project. It is an error if there are no rules.
 */
static int del_all(struct tool *t)
{
	struct lnetctl_fault f = { .delay = is_delay(t) };
	struct lnetctl_node *which = lnetctl_add_map(NULL, NULL);
	int more = -ENOMEM, rc;

	if (which && lnetctl_add_text(which, "kind", f.delay ? "delay" : "drop"))
		more = lnetctl_rule_del(t->c, which);
	lnetctl_doc_free(which);
	rc = lnetctl_fault_del(t->c, &f);
	return fault_done(t, rc == -ENOENT && !more ? 0 : rc, "delete", f.delay);
}

/*
 * Deletes a rule by its ID. Rules of stock, and rules with options of this project, have a common
 * ID counter.
 */
static int del_id(struct tool *t)
{
	struct lnetctl_fault f = { .delay = is_delay(t), .id = (unsigned int)tool_num(t, "id") };

	return f.id && !tool_opt(t, "name") && !lnetctl_fault_del(t->c, &f) ? 0 : run_rule_del(t);
}

static int fault_command_del(struct tool *t)
{
	struct lnetctl_fault f = { .delay = is_delay(t),
				   .source = tool_opt(t, "source"),
				   .dest = tool_opt(t, "dest") };

	if (tool_opt(t, "id") || tool_opt(t, "name"))
		return del_id(t);
	if (!tool_opt(t, "all") && (!f.source || !f.dest))
		return tool_missing("missing mandatory parameters: 'source , dest' or 'all'");
	if (tool_opt(t, "all"))
		return del_all(t);
	return fault_done(t, lnetctl_fault_del(t->c, &f), "delete", f.delay);
}

static int fault_command_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_fault_show(t->c, is_delay(t), &doc);

	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static int run_reset(struct tool *t)
{
	return fault_done(t, lnetctl_fault_reset(t->c, is_delay(t)), "reset", is_delay(t));
}

#define COMMON_OPTS									\
	{ "source", 's', ARG_MATCH, "only messages from this source: NID, *@net or *" },\
	{ "dest", 'd', ARG_MATCH, "only messages to this destination: NID, *@net or *" },\
	{ "rate", 'r', ARG_NUM, "act on one message of every N", 1, UINT32_MAX },	\
	{ "interval", 'i', ARG_TIME,							\
	  "act on one message in each interval of this length: seconds (5), or with a "	\
	  "unit (500ms)", 1, TIME_DAY },						\
	{ "portal", 'p', ARG_NUM,							\
	  "only PUTs and GETs to this portal, 0 to 63; may be repeated", 0, 63, .many = true },\
	{ "message", 'm', ARG_WORD,							\
	  "only messages of this type: PUT, ACK, GET or REPLY; may be repeated",	\
	  .words = message_names, .many = true },					\
	{ "local_nid", 'o', ARG_MATCH,							\
	  "only messages over this interface of the node: NID, *@net or *" },		\
	{ "rule_type", 't', ARG_TEXT, "accepted for scripts of stock LNet, without effect" },\
	{ "permille", 0, ARG_NUM,							\
	  "probability to act on a message, in permille; instead of --rate", 0, 1000 },	\
	{ "count", 0, ARG_NUM, "act on at most N messages", 1, UINT64_MAX },		\
	{ "seed", 0, ARG_NUM, "seed of the rule's random values", 0, UINT64_MAX },	\
	{ "from", 0, ARG_SPAN, "begin to act this time after the rule was added, as 500ms", 0,\
	  TIME_DAY },									\
	{ "to", 0, ARG_SPAN, "end to act this time after the rule was added, as 10s", 1,\
	  TIME_DAY },									\
	{ "period", 0, ARG_SPAN,							\
	  "length of a period, as 2s: the rule is active only in the first part of each", 2,\
	  TIME_DAY },									\
	{ "duty", 0, ARG_NUM, "active part of each period, in permille; requires --period", 1,\
	  999 },									\
	{ "name", 0, ARG_TEXT, "name by which the rule is shown and deleted",		\
	  .form = RULE_NAME_FORM }

static const struct opt drop_opts[] = {
	COMMON_OPTS,
	{ "health_error", 'e', ARG_WORD,
	  "the outcome with which sending fails, such as remote_timeout, or random; may be "
	  "repeated",
	  .words = error_names, .many = true },
	{ "random", 'n', ARG_NONE,
	  "drop each message with probability 1/2, instead of one per interval; requires "
	  "--interval" },
	{ "drop_all", 'x', ARG_NONE, "drop every message that the other options select" },
	{ "when", 'w', ARG_WORD,
	  "with --health_error: sending fails before the driver has the message, when it is "
	  "posted, or when it is completed",
	  .words = when_names },
	{ "at", 0, ARG_WORD, "drop messages that the node sends, receives, or both (any)",
	  .words = at_names },
	{ .name = NULL }
};
static const struct opt delay_opts[] = {
	COMMON_OPTS,
	{ "latency", 'l', ARG_TIME,
	  "delay of each message, in seconds (1, 0.3) or with a unit (300ms)", TIME_MS, TIME_DAY },
	{ "jitter", 0, ARG_SPAN, "longest random time that is added to the delay, as 5ms", 0,
	  TIME_DAY },
	{ .name = NULL }
};
static const struct opt del_opts[] = {
	{ "all", 'a', ARG_NONE, "all rules of this kind" },
	{ "source", 's', ARG_MATCH, "only rules with this --source" },
	{ "dest", 'd', ARG_MATCH, "only rules with this --dest" },
	{ "id", 'i', ARG_NUM, "only the rule with this ID, which `fault show' prints", 1,
	  UINT32_MAX },
	{ "name", 'n', ARG_TEXT, "only the rule with this name", .form = RULE_NAME_FORM },
	{ .name = NULL }
};

const struct command drop_commands[] = {
	{ "add", "add a rule that drops messages", fault_command_add, drop_opts,
	  .clash = "rate interval drop_all" },
	{ "del", "delete drop rules", fault_command_del, del_opts,
	  .clash = "all source id name;all dest id name" },
	{ "show", "show drop rules", fault_command_show },
	{ "reset", "set the counters of all drop rules to 0", run_reset },
	{ .name = NULL }
};
const struct command delay_commands[] = {
	{ "add", "add a rule that delays messages", fault_command_add, delay_opts,
	  .clash = "rate interval", .need = "latency" },
	{ "del", "delete delay rules", fault_command_del, del_opts,
	  .clash = "all source id name;all dest id name" },
	{ "show", "show delay rules", fault_command_show },
	{ "reset", "set the counters of all delay rules to 0", run_reset },
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
	{ "show",
	  "show all fault rules with their parameters; of stock's drop and delay rules, only those "
	  "with options of this project",
	  run_rules_show },
	{ "import",
	  "import [--add | --del | --show] [FILE]: add, delete or show the fault rules of a YAML "
	  "file, a list under the key `faults'",
	  run_import, import_opts, .words_max = 1, .word = "FILE", .clash = "add del show exec" },
	{ "export", "print the fault rules in the form that `fault import' reads",
	  run_rules_export },
	{ .name = NULL }
};
