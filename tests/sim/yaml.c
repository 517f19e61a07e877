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
	KEY(max_len, "max_size", NUMBER),
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
			*value *= units[i].ns;
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

/* Takes the pairs of @map whose keys are in @table; leaves those in @others to the caller. */
static int take_keys(struct reader *r, const yaml_node_t *map, const struct key *table, u32 nr,
		     void *base, const char *other)
{
	yaml_node_pair_t *pair;

	if (map->type != YAML_MAPPING_NODE)
		return complain(r, map, "a mapping is expected", NULL);
	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(&r->doc, pair->key);
		yaml_node_t *node = yaml_document_get_node(&r->doc, pair->value);
		const char *name = (char *)key->data.scalar.value,
			   *text = (char *)node->data.scalar.value;
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
		if (!strcmp((char *)yaml_document_get_node(&r->doc, pair->key)->data.scalar.value,
			    name))
			return yaml_document_get_node(&r->doc, pair->value);
	return NULL;
}

static int take_fault(struct reader *r, const yaml_node_t *node)
{
	struct sim_fault *f = &r->s->fault[r->s->nr_faults];
	yaml_node_t *kind;

	*f = (struct sim_fault){ .rail = -1, .node = -1, .peer = -1, .to_ns = r->s->duration_ns };
	if (r->s->nr_faults == SIM_MAX_FAULTS)
		return complain(r, node, "too many faults", NULL);
	if (take_keys(r, node, fault_keys, ARRAY_SIZE(fault_keys), f, "kind"))
		return -EINVAL;
	kind = value_of(r, node, "kind");
	for (f->kind = 0; kind && f->kind < SIM_NR_FAULTS; f->kind++)
		if (!strcmp(sim_fault_names[f->kind], (char *)kind->data.scalar.value))
			break;
	if (!kind || f->kind == SIM_NR_FAULTS)
		return complain(r, node, "no such kind of fault",
				kind ? (char *)kind->data.scalar.value : NULL);
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
