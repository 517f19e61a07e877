/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands about tunables, statistics, recovery and fault rules. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"

static int object_show(struct lnetctl *c, uint8_t cmd, const char *object,
		       struct lnetctl_node *body, struct lnetctl_node **doc)
{
	struct ctl_op op = { cmd, LNET_NL_VERSION, LNET_NL_F_DUMP, 0, "show", object };

	*doc = NULL;
	return ctl_dump(c, &op, body, doc);
}

/* Reads a list. Nodes report an empty list as ENOENT. */
static int show_list(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body,
		     struct lnetctl_node **doc)
{
	int rc;

	*doc = NULL;
	rc = ctl_dump(c, op, body, doc);
	if (rc != -ENOENT)
		return rc;
	*doc = lnetctl_add_map(NULL, NULL);
	return *doc ? 0 : ctl_fail(c, -ENOMEM, op->verb, op->object, NULL);
}

int lnetctl_set_many(struct lnetctl *c, const struct lnetctl_node *values)
{
	const struct ctl_op op = { LNET_NL_TUNABLES, LNET_NL_VERSION, LNET_NL_F_REPLACE, 0, "add",
				   "global" };
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);
	const struct lnetctl_node *n;

	for (n = values->first; body && n; n = n->next) {
		const char *name = strcmp(n->key, "max_intf") ? n->key : "max_interfaces";

		if (!strcmp(name, "lnd_timeout"))
			/* the node computes this value; stock's tool also accepts the key */
			continue;
		if (!n->text || !*n->text) {
			lnetctl_doc_free(body);
			return ctl_fail(c, -EINVAL, "add", "global",
					"no value specified for key '%s'", n->key);
		}
		lnetctl_add_text(body, name, n->text);
	}
	if (!body)
		return ctl_fail(c, -ENOMEM, "add", "global", NULL);
	if (body->first || body->incomplete)
		return ctl_do(c, &op, body);
	lnetctl_doc_free(body);
	return 0;
}

int lnetctl_set(struct lnetctl *c, const char *name, const char *value)
{
	struct lnetctl_node *values = lnetctl_add_map(NULL, NULL);
	int rc = values && lnetctl_add_text(values, name, value) ? 0 : -ENOMEM;

	if (rc)
		ctl_fail(c, rc, "add", name, NULL);
	else
		rc = lnetctl_set_many(c, values);
	if (rc) {
		snprintf(c->object, sizeof(c->object), "%s", name);
		c->error.object = c->object;
	}
	lnetctl_doc_free(values);
	return rc;
}

int lnetctl_global_show(struct lnetctl *c, struct lnetctl_node **doc)
{
	return object_show(c, LNET_NL_TUNABLES, "global", NULL, doc);
}

int lnetctl_stats_show(struct lnetctl *c, struct lnetctl_node **doc)
{
	return object_show(c, LNET_NL_STATS, "statistics", NULL, doc);
}

int lnetctl_stats_reset(struct lnetctl *c)
{
	const struct ctl_op op = {
		LNET_NL_STATS_RESET, LNET_NL_VERSION, LNET_NL_F_REPLACE, 0, "set", "statistics"
	};

	return ctl_do(c, &op, NULL);
}

int lnetctl_limits_show(struct lnetctl *c, bool at_bound, struct lnetctl_node **doc)
{
	const struct ctl_op op = { LNET_NL_LIMITS, LNET_NL_VERSION, LNET_NL_F_DUMP, 0, "show",
				   "limits" };
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);

	*doc = NULL;
	if (!body || !lnetctl_add_num(body, "at bound", at_bound)) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, "show", "limits", NULL);
	}
	return ctl_dump(c, &op, body, doc);
}

int lnetctl_node_show(struct lnetctl *c, struct lnetctl_node **doc)
{
	return object_show(c, LNET_NL_NODE, "node", NULL, doc);
}

int lnetctl_explain(struct lnetctl *c, const char *nid, struct lnetctl_node **doc)
{
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);

	*doc = NULL;
	if (!body || !lnetctl_add_text(body, "nid", nid)) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, "show", "explain", NULL);
	}
	return object_show(c, LNET_NL_EXPLAIN, "explain", body, doc);
}

int lnetctl_recovery_show(struct lnetctl *c, bool peers, struct lnetctl_node **doc)
{
	const struct ctl_op op = { LNET_NL_DBG_RECOV, LNET_NL_VERSION, LNET_NL_F_DUMP, 0, "show",
				   "debug" };
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);

	if (!body || !lnetctl_add_num(body, "queue_type", peers))
		return ctl_fail(c, -ENOMEM, "show", "debug", NULL);
	return show_list(c, &op, body, doc);
}

/* ---- fault rules ---- */

/*
 * Converts a pattern for the node. "*@tcp" becomes all addresses on the net. "*", or no pattern,
 * becomes any NID.
 */
static const char *nid_pattern(const char *text, char *buf, size_t size)
{
	if (!text || !strcmp(text, "*"))
		return "<?>";
	if (strncmp(text, "*@", 2))
		return text;
	snprintf(buf, size, "255.255.255.255%s", text + 1);
	return buf;
}

static struct lnetctl_node *fault_body(const struct lnetctl_fault *f, enum lnet_nl_rule drop_rule)
{
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);
	char buf[96];

	if (!body)
		return NULL;
	lnetctl_add_num(body, "rule_type", drop_rule + (f->delay ? LNET_NL_DELAY_ADD : 0));
	lnetctl_add_text(body, "fa_src", nid_pattern(f->source, buf, sizeof(buf)));
	lnetctl_add_text(body, "fa_dst", nid_pattern(f->dest, buf, sizeof(buf)));
	return body;
}

static void fault_add_rest(struct lnetctl_node *body, const struct lnetctl_fault *f)
{
	char buf[96];

	lnetctl_add_text(body, "fa_local_nid", nid_pattern(f->local, buf, sizeof(buf)));
	lnetctl_add_num(body, "fa_ptl_mask", (int64_t)f->portals);
	lnetctl_add_num(body, "fa_msg_mask", f->messages);
	if (f->delay) {
		lnetctl_add_num(body, "la_rate", f->rate);
		lnetctl_add_num(body, "la_interval", f->interval);
		lnetctl_add_num(body, "la_latency", (f->latency_ms + 999) / 1000);
		if (f->latency_ms % 1000)
			lnetctl_add_num(body, "la_latency_ms", f->latency_ms);
		return;
	}
	lnetctl_add_num(body, "da_rate", f->rate);
	lnetctl_add_num(body, "da_interval", f->interval);
	lnetctl_add_num(body, "da_health_error_mask", f->health_errors);
	lnetctl_add_num(body, "da_random", f->random);
	lnetctl_add_num(body, "da_drop_all", f->drop_all);
	if (f->when)
		lnetctl_add_num(body, "da_when", f->when);
}

static int fault_do(struct lnetctl *c, const char *verb, uint16_t flags, struct lnetctl_node *body)
{
	const struct ctl_op op = { LNET_NL_FAULT, LNET_NL_VERSION, flags, 0, verb, "fault" };

	return body ? ctl_do(c, &op, body) : ctl_fail(c, -ENOMEM, verb, "fault", NULL);
}

int lnetctl_fault_add(struct lnetctl *c, const struct lnetctl_fault *f)
{
	struct lnetctl_node *body = fault_body(f, LNET_NL_DROP_ADD);

	if (body)
		fault_add_rest(body, f);
	return fault_do(c, "add", LNET_NL_F_CREATE, body);
}

int lnetctl_fault_del(struct lnetctl *c, const struct lnetctl_fault *f)
{
	struct lnetctl_node *body = fault_body(f, LNET_NL_DROP_DEL);

	if (body && f->id)
		lnetctl_add_num(body, "id", f->id);
	return fault_do(c, "del", 0, body);
}

int lnetctl_fault_reset(struct lnetctl *c, bool delay)
{
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);

	if (body)
		lnetctl_add_num(body, "rule_type",
				delay ? LNET_NL_DELAY_RESET : LNET_NL_DROP_RESET);
	return fault_do(c, "set", LNET_NL_F_REPLACE, body);
}

/* Converts the patterns of a node back to the form that operators write. */
static void show_patterns(struct lnetctl_node *doc)
{
	static const char *const keys[] = { "fa_src", "fa_dst", "fa_local_nid" };
	struct lnetctl_node *rules = lnetctl_find(doc, "fault"), *rule;
	size_t i;

	for (rule = rules ? rules->first : NULL; rule; rule = rule->next)
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			struct lnetctl_node *n = lnetctl_find(rule, keys[i]);

			if (!n || !n->text)
				continue;
			if (!strncmp(n->text, "255.255.255.255@", 16))
				memmove(n->text + 1, n->text + 15, strlen(n->text + 15) + 1);
			else if (strcmp(n->text, "<?>"))
				continue;
			else
				n->text[1] = 0;
			n->text[0] = '*';
		}
}

int lnetctl_fault_show(struct lnetctl *c, bool delay, struct lnetctl_node **doc)
{
	const struct ctl_op op = { LNET_NL_FAULT, LEVEL_OURS, LNET_NL_F_DUMP, 0, "show", "fault" };
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);
	int rc;

	*doc = NULL;
	if (!body ||
	    !lnetctl_add_num(body, "rule_type", delay ? LNET_NL_DELAY_LIST : LNET_NL_DROP_LIST))
		return ctl_fail(c, -ENOMEM, "show", "fault", NULL);
	rc = show_list(c, &op, body, doc);
	if (!rc)
		show_patterns(*doc);
	return rc;
}
