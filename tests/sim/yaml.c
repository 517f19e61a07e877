/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a scenario from YAML: keys with numbers and units, and a list of faults. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include "tests/sim/scenario.h"

struct reader {
	struct sim_scenario *s;
	yaml_document_t doc;
	char *err;
	size_t size;
};

enum unit { NUMBER, TIME, TEXT, BOOL };

struct key {
	const char *name;
	u8 unit, bytes;
	size_t off;
};

#define KEY(field, key_name, unit_) { key_name, unit_, sizeof(((struct sim_scenario *)0)->field), \
				      offsetof(struct sim_scenario, field) }
static const struct key keys[] = {
	KEY(name, "name", TEXT),
	KEY(nodes, "nodes", NUMBER),
	KEY(rails, "rails", NUMBER),
	KEY(shards, "shards", NUMBER),
	KEY(routers, "routers", NUMBER),
	KEY(latency_ns, "latency", TIME),
	KEY(jitter_ns, "jitter", TIME),
	KEY(rate_mbit, "rate_mbit", NUMBER),
	KEY(inline_max, "inline_max", NUMBER),
	KEY(duration_ns, "duration", TIME),
	KEY(heal_ns, "heal", TIME),
	KEY(gap_ns, "gap", TIME),
	KEY(max_open, "max_open", NUMBER),
	KEY(min_len, "min_size", NUMBER), KEY(max_len, "max_size", NUMBER),
	KEY(partners, "partners", NUMBER),
	KEY(pair_open, "pair_open", NUMBER),
	KEY(slow_node, "slow_node", NUMBER),
	KEY(slow_mbit, "slow_mbit", NUMBER),
	KEY(others_permille, "others_permille", NUMBER),
	KEY(symmetric, "symmetric", BOOL),
	KEY(timeout_ns, "transaction_timeout", TIME),
	KEY(retry_count, "retry_count", NUMBER),
	KEY(hold_ns, "hold_time", TIME),
	KEY(windows_max, "windows_max", NUMBER),
	KEY(window, "window", NUMBER),
	KEY(credits, "peer_credits", NUMBER),
	KEY(expected_time, "expected_time", BOOL),
	KEY(discovery_wait, "discovery_wait", BOOL),
	KEY(put_ack, "put_ack", NUMBER),
	KEY(put, "put", NUMBER),
	KEY(get, "get", NUMBER),
	KEY(end_by_ns, "end_by", TIME),
	KEY(end_by_from_ns, "end_by_from", TIME),
	KEY(calm, "calm", BOOL),
	KEY(calm_from_ns, "calm_from", TIME),
	KEY(copies_max, "copies_max", NUMBER),
	KEY(ends_whole, "ends_whole", BOOL),
};
#undef KEY

#define KEY(field, key_name, unit_) { key_name, unit_, sizeof(((struct sim_fault *)0)->field), \
				      offsetof(struct sim_fault, field) }
static const struct key fault_keys[] = {
	KEY(from_ns, "from", TIME),	   KEY(to_ns, "to", TIME),
	KEY(period_ns, "period", TIME),	   KEY(delay_ns, "delay", TIME),
	KEY(permille, "permille", NUMBER), KEY(rail, "rail", NUMBER),
	KEY(node, "node", NUMBER),	   KEY(peer, "peer", NUMBER),
};
#undef KEY

static int complain(struct reader *r, const yaml_node_t *node, const char *what, const char *text)
{
	snprintf(r->err, r->size, "line %zu: %s%s%s", node->start_mark.line + 1, what,
		 text ? ": " : "", text ? text : "");
	return -EINVAL;
}

/* Returns "" for a node that is no scalar; no key or kind has this name. */
static const char *text_of(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

static int parse(const char *text, u8 unit, s64 *value)
{
	static const struct { const char *name; s64 ns; } units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	};
	char *end;
	u32 i;

	if (unit == BOOL) {
		*value = !strcmp(text, "true") || !strcmp(text, "yes");
		return *value || !strcmp(text, "false") || !strcmp(text, "no") ? 0 : -EINVAL;
	}
	errno = 0;
	*value = strtoll(text, &end, 0);
	if (end == text || errno || (unit == NUMBER && *end))
		return -EINVAL;
	if (unit == NUMBER)
		return 0;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].name)) {
			if (check_mul_overflow(*value, units[i].ns, value))
				return -EINVAL;
			return *value < 0 ? -EINVAL : 0;
		}
	return -EINVAL;
}

static void store(void *at, u8 bytes, s64 value)
{
	if (bytes == 8)
		*(u64 *)at = value;
	else if (bytes == 4)
		*(u32 *)at = value;
	else
		*(u8 *)at = value;
}

/* Takes the pairs of @map whose keys are in @table; leaves the key @other to the caller. */
static int take_keys(struct reader *r, const yaml_node_t *map, const struct key *table, u32 nr,
		     void *base, const char *other)
{
	yaml_node_pair_t *pair;

	if (map->type != YAML_MAPPING_NODE)
		return complain(r, map, "a mapping is expected", NULL);
	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(&r->doc, pair->key);
		yaml_node_t *node = yaml_document_get_node(&r->doc, pair->value);
		const char *name = text_of(key), *text = text_of(node);
		s64 value;
		u32 i;

		if (!strcmp(name, other))
			continue;
		for (i = 0; i < nr && strcmp(table[i].name, name); i++)
			;
		if (i == nr)
			return complain(r, key, "unknown key", name);
		if (node->type != YAML_SCALAR_NODE)
			return complain(r, node, "one value is expected", name);
		if (table[i].unit == TEXT)
			snprintf((char *)base + table[i].off, table[i].bytes, "%s", text);
		else if (parse(text, table[i].unit, &value))
			return complain(r, node, "no such value", text);
		else
			store((char *)base + table[i].off, table[i].bytes, value);
	}
	return 0;
}

static yaml_node_t *value_of(struct reader *r, const yaml_node_t *map, const char *name)
{
	yaml_node_pair_t *pair;

	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++)
		if (!strcmp(text_of(yaml_document_get_node(&r->doc, pair->key)), name))
			return yaml_document_get_node(&r->doc, pair->value);
	return NULL;
}

/* ---- rules of lnet/fault/faults.def ---------------------------------------------------------- */

static bool is_fault_key(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fault_keys); i++)
		if (!strcmp(fault_keys[i].name, name))
			return true;
	return !strcmp(name, "kind");
}

static u32 link_kind(const char *name)
{
	u32 kind = 0;

	while (kind < SIM_GRAMMAR && strcmp(sim_fault_names[kind], name))
		kind++;
	return kind;
}

/*
 * A fault is a rule if links do not have its kind, or do not have one of its keys. Faults of links
 * name nodes and rails; rules also name NIDs.
 */
static bool is_rule(struct reader *r, const yaml_node_t *map)
{
	const yaml_node_t *kind = value_of(r, map, "kind");
	yaml_node_pair_t *pair;

	if (!kind || kind->type != YAML_SCALAR_NODE)
		return false;
	if (lnet_rule_kind_find(text_of(kind)) == LNET_NR_RULE_KINDS)
		return false;
	if (link_kind(text_of(kind)) == SIM_GRAMMAR)
		return true;
	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++)
		if (!is_fault_key(text_of(yaml_document_get_node(&r->doc, pair->key))))
			return true;
	return false;
}

/* Writes a YAML list as a list with commas. */
static void join(struct reader *r, const yaml_node_t *node, char *text, size_t size)
{
	yaml_node_item_t *item;
	size_t len = 0;

	text[0] = 0;
	if (node->type == YAML_SCALAR_NODE)
		snprintf(text, size, "%s", text_of(node));
	else if (node->type == YAML_SEQUENCE_NODE)
		for (item = node->data.sequence.items.start;
		     item < node->data.sequence.items.top; item++)
			len += scnprintf(text + len, size - len, "%s%s", len ? "," : "",
					 text_of(yaml_document_get_node(&r->doc, *item)));
}

static int take_where(struct reader *r, const yaml_node_t *node, const char *text, u32 nr,
		      s32 *where)
{
	s64 value;

	if (parse(text, NUMBER, &value) || value < 0 || value >= nr)
		return complain(r, node, "no such node or rail", text);
	*where = (s32)value;
	return 0;
}

static int take_param(struct reader *r, struct sim_rule *rule, const yaml_node_t *key,
		      const yaml_node_t *node)
{
	const char *name = text_of(key);
	char text[600], err[LNET_RULE_ERR];

	join(r, node, text, sizeof(text));
	if (!strcmp(name, "node"))
		return take_where(r, node, text, r->s->nodes, &rule->node);
	if (!strcmp(name, "rail"))
		return take_where(r, node, text, r->s->rails, &rule->rail);
	if (!strcmp(name, "kind") || !lnet_rule_set(&rule->rule, name, text, err))
		return 0;
	return complain(r, node, err, NULL);
}

static int take_rule(struct reader *r, const yaml_node_t *map)
{
	struct sim_rule *rule = &r->s->rule[r->s->nr_rules];
	const char *kind = text_of(value_of(r, map, "kind"));
	struct lnet_rule *lr = &rule->rule;
	yaml_node_pair_t *pair;
	char err[LNET_RULE_ERR];

	if (r->s->nr_rules == SIM_MAX_RULES)
		return complain(r, map, "too many rules", NULL);
	*rule = (struct sim_rule){ .node = -1, .rail = -1 };
	lnet_rule_init(lr, lnet_rule_kind_find(kind));
	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++)
		if (take_param(r, rule, yaml_document_get_node(&r->doc, pair->key),
			       yaml_document_get_node(&r->doc, pair->value)))
			return -EINVAL;
	if (lnet_rule_check(lr, err))
		return complain(r, map, err, NULL);
	if (!lr->to_ns)
		lr->to_ns = r->s->duration_ns;
	r->s->fault[r->s->nr_faults++] = (struct sim_fault){
		.kind = SIM_GRAMMAR, .rail = rule->rail, .node = rule->node, .peer = -1,
		.from_ns = lr->from_ns, .to_ns = lr->to_ns,
	};
	r->s->nr_rules++;
	return 0;
}

static int take_fault(struct reader *r, const yaml_node_t *node)
{
	struct sim_fault *f = &r->s->fault[r->s->nr_faults];
	yaml_node_t *kind;

	if (r->s->nr_faults == SIM_MAX_FAULTS)
		return complain(r, node, "too many faults", NULL);
	if (node->type == YAML_MAPPING_NODE && is_rule(r, node))
		return take_rule(r, node);
	*f = (struct sim_fault){ .rail = -1, .node = -1, .peer = -1, .to_ns = r->s->duration_ns };
	if (take_keys(r, node, fault_keys, ARRAY_SIZE(fault_keys), f, "kind"))
		return -EINVAL;
	kind = value_of(r, node, "kind");
	f->kind = kind ? (u8)link_kind(text_of(kind)) : SIM_GRAMMAR;
	if (f->kind == SIM_GRAMMAR)
		return complain(r, node, "no such kind of fault",
				kind ? text_of(kind) : NULL);
	if (f->rail >= (s32)r->s->rails || f->node >= (s32)r->s->nodes ||
	    f->peer >= (s32)r->s->nodes)
		return complain(r, node, "no such node or rail", NULL);
	r->s->nr_faults++;
	return 0;
}

static int take(struct reader *r)
{
	yaml_node_t *root = yaml_document_get_root_node(&r->doc), *faults;
	struct sim_scenario *s = r->s;
	yaml_node_item_t *item;

	if (!root) {
		snprintf(r->err, r->size, "it is empty");
		return -EINVAL;
	}
	if (take_keys(r, root, keys, ARRAY_SIZE(keys), s, "faults"))
		return -EINVAL;
	if (s->routers && s->routers + 2 > s->nodes)
		return complain(r, root, "fewer than two end nodes", NULL);
	if (s->nodes < 2 || !s->rails || s->rails > SIM_RAILS || !s->shards ||
	    s->shards > SIM_SHARDS || !s->rate_mbit || !s->gap_ns)
		return complain(r, root, "nodes, rails, shards, rate_mbit or gap out of range",
				NULL);
	faults = value_of(r, root, "faults");
	if (!faults)
		return 0;
	if (faults->type != YAML_SEQUENCE_NODE)
		return complain(r, faults, "a list is expected", "faults");
	for (item = faults->data.sequence.items.start; item < faults->data.sequence.items.top;
	     item++)
		if (take_fault(r, yaml_document_get_node(&r->doc, *item)))
			return -EINVAL;
	return 0;
}

int sim_scenario_read(struct sim_scenario *s, const char *path, char *err, size_t size)
{
	struct reader r = { .s = s, .err = err, .size = size };
	FILE *file = fopen(path, "re");
	yaml_parser_t parser;
	int ret = -EINVAL;

	sim_scenario_init(s);
	if (!file) {
		snprintf(err, size, "%s", strerror(errno));
		return -errno;
	}
	yaml_parser_initialize(&parser);
	yaml_parser_set_input_file(&parser, file);
	if (yaml_parser_load(&parser, &r.doc)) {
		ret = take(&r);
		yaml_document_delete(&r.doc);
	} else {
		snprintf(err, size, "line %zu: %s", parser.problem_mark.line + 1, parser.problem);
	}
	yaml_parser_delete(&parser);
	fclose(file);
	return ret;
}
