/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests to stock's self-test that have one result per node. The caller provides the list of
 * results.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "stock.h"

/* ---- results --------------------------------------------------------------------------------- */

/* A result, with memory for the payload of any operation. */
struct stock_result {
	struct lnet_lst_result r;
	uint8_t more[sizeof(struct lnet_lst_counters)];
} __attribute__((__aligned__(8)));

static const void *payload_of(const struct stock_result *result)
{
	return (const char *)result + LNET_LST_RESULT_PAYLOAD;
}

/*
 * Creates a list of @nr results at c->head. Returns 0 or -ENOMEM. If @nr is negative, returns @nr.
 */
static int results_make(struct stock_call *c, int nr)
{
	uint64_t before = STOCK_AT(&c->head);
	int i;

	if (nr < 0)
		return nr;
	c->results = calloc((size_t)nr + 1, sizeof(*c->results));
	if (!c->results)
		return -ENOMEM;
	c->nr_results = nr;
	for (i = 0; i < nr; i++) {
		c->results[i].r.prev = before;
		c->results[i].r.next = STOCK_AT(i + 1 < nr ? (void *)&c->results[i + 1] :
							    (void *)&c->head);
		before = STOCK_AT(&c->results[i]);
	}
	c->head.next = STOCK_AT(nr ? (void *)&c->results[0] : (void *)&c->head);
	c->head.prev = before;
	return 0;
}

/* Did the console fill in the result? If not, it had no node for this item of the list. */
static bool result_is_filled(const struct stock_result *result)
{
	return result->r.peer.nid != 0;
}

/* Returns a positive errno. For errors of a transfer, stock's module writes a negative errno. */
static int error_of(const struct stock_result *result)
{
	return result->r.rpc_errno ? abs(result->r.rpc_errno) : result->r.remote_errno;
}

/* Shows the nodes that failed while @doing. Returns the number of results without an error. */
static int errors_show(struct stock_call *c, const char *doing)
{
	struct lnetctl_node *seq = NULL, *map;
	char text[LNET_IDSTR_SIZE];
	int i, nr_good = 0;

	for (i = 0; i < c->nr_results; i++) {
		const struct stock_result *result = &c->results[i];

		nr_good += result_is_filled(result) && !error_of(result);
		if (!result_is_filled(result) || !error_of(result))
			continue;
		seq = seq ? seq : lnetctl_add_seq(c->doc, "errors");
		map = seq ? lnetctl_add_map(seq, NULL) : NULL;
		if (!map)
			break;
		lnetctl_add_text(map, "id", stock_id(&result->r.peer, text));
		lnetctl_add_text(map, "what", doing);
		lnetctl_add_num(map, "errno", error_of(result));
	}
	return nr_good;
}

/* Adds an item to the list "nodes" for each result, and calls @show with it. */
static int result_nodes_show(struct stock_call *c, void (*show)(struct lnetctl_node *map,
								const struct stock_result *result))
{
	struct lnetctl_node *seq = lnetctl_add_seq(c->doc, "nodes"), *map;
	char text[LNET_IDSTR_SIZE];
	int i;

	for (i = 0; seq && i < c->nr_results; i++) {
		if (!result_is_filled(&c->results[i]))
			continue;
		map = lnetctl_add_map(seq, NULL);
		if (!map)
			return -ENOMEM;
		lnetctl_add_text(map, "id", stock_id(&c->results[i].r.peer, text));
		lnetctl_add_text(map, "state", stock_state(c->results[i].r.state));
		lnetctl_add_num(map, "errno", error_of(&c->results[i]));
		show(map, &c->results[i]);
	}
	return seq ? 0 : -ENOMEM;
}

/* ---- ping ------------------------------------------------------------------------------------ */

static void owner_show(struct lnetctl_node *map, const struct stock_result *result)
{
	uint64_t nid4 = error_of(result) ? UINT64_MAX : result->r.sid.nid;
	char name[LNET_LST_NAME] = "", text[LNET_NIDSTR_SIZE];
	struct lnet_nid nid;

	if (!error_of(result))
		memcpy(name, payload_of(result), sizeof(name) - 1);
	lnet_nid_from_nid4(&nid, nid4);
	lnetctl_add_text(map, "session", name);
	lnetctl_add_text(map, "nid", lnet_nid_str(&nid, text));
}

int stock_ping(struct stock_call *c)
{
	const char *group = stock_text(c, "group"), *batch = stock_text(c, "batch");
	const char *name = *batch ? batch : group;
	struct lnet_lst_debug a = {
		.key = c->key, .type = LNET_LST_OF_SESSION,
		.timeout = stock_number(c, "wait", 5), .count = c->nr_ids,
		.ids_at = c->nr_ids ? STOCK_AT(c->ids) : 0, .results_at = STOCK_AT(&c->head)
	};
	int rc;

	if (*name) {
		a.type = !*batch ? LNET_LST_OF_GROUP :
			 stock_number(c, "server", 0) ? LNET_LST_OF_SERVERS : LNET_LST_OF_CLIENTS;
		a.name_len = (int32_t)strlen(name);
		a.name_at = STOCK_AT(name);
	} else if (c->nr_ids) {
		a.type = LNET_LST_OF_NODES;
	}
	rc = results_make(c, *batch ? stock_nodes_batch(c, batch) :
			     *group ? stock_nodes_group(c, group) :
			     c->nr_ids ? c->nr_ids : stock_nodes_session(c));
	if (!rc)
		rc = stock_ask(c, LNET_LST_DEBUG, &a, sizeof(a));
	return rc ? rc : result_nodes_show(c, owner_show);
}

/* ---- groups ---------------------------------------------------------------------------------- */

int stock_add_nodes(struct stock_call *c)
{
	const char *name = stock_text(c, "name");
	uint32_t features = 0;
	struct lnet_lst_nodes_add a = {
		.key = c->key, .name_len = (int32_t)strlen(name), .name_at = STOCK_AT(name),
		.count = c->nr_ids, .features_at = STOCK_AT(&features),
		.ids_at = STOCK_AT(c->ids), .results_at = STOCK_AT(&c->head)
	};
	int before = stock_nodes_group(c, name), after;
	int rc = before < 0 ? before : results_make(c, c->nr_ids);

	if (!rc)
		rc = stock_ask(c, LNET_LST_NODES_ADD, &a, sizeof(a));
	if (rc)
		return rc;
	errors_show(c, "create session");
	after = stock_nodes_group(c, name);
	if (after >= 0)
		lnetctl_add_num(c->doc, "joined", after - before);
	return after < 0 ? after : 0;
}

static int states_of(const char *word)
{
	int state;

	if (!strcmp(word, "invalid"))
		return 2 | 4 | 8;
	for (state = 1; state < 8 && strcasecmp(word, stock_state(state)); state *= 2)
		;
	return state;
}

int stock_update_group(struct stock_call *c)
{
	const char *name = stock_text(c, "name"), *op = stock_text(c, "op");
	struct lnet_lst_group_update a = {
		.key = c->key, .name_len = (int32_t)strlen(name), .name_at = STOCK_AT(name),
		.what = LNET_LST_REFRESH, .results_at = STOCK_AT(&c->head)
	};
	int rc = results_make(c, stock_nodes_group(c, name));

	if (!strcmp(op, "clean")) {
		a.what = LNET_LST_CLEAN;
		a.states = states_of(stock_text(c, "state"));
	} else if (!strcmp(op, "remove")) {
		a.what = LNET_LST_REMOVE;
		a.count = c->nr_ids;
		a.ids_at = STOCK_AT(c->ids);
	}
	if (!rc)
		rc = stock_ask(c, LNET_LST_GROUP_UPDATE, &a, sizeof(a));
	if (!rc && a.what == LNET_LST_REFRESH)
		errors_show(c, "create session");
	return rc;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static int bulk_read(const struct stock_call *c, struct lnet_lst_test_add *a,
		     struct lnet_lst_bulk_param *p)
{
	const char *type = stock_text(c, "type");

	a->type = LNET_LST_PING;
	if (!strcmp(type, "ping"))
		return 0;
	if (strcmp(type, "brw")) {
		fprintf(stderr, "lst: the self-test of stock LNet has the tests ping and brw, not "
			"'%s'\n", type);
		return -EOPNOTSUPP;
	}
	a->type = LNET_LST_BULK;
	a->param_len = sizeof(*p);
	a->param_at = STOCK_AT(p);
	p->opc = stock_number(c, "opc", 1);
	p->size = stock_number(c, "size", 4096);
	p->check = stock_number(c, "check", 1);
	p->client_offset = stock_number(c, "off", 0);
	return 0;
}

/* Creates the list of results for a test. The nodes of both groups send results. */
static int results_of_test(struct stock_call *c, const char *from, const char *to)
{
	int nr = stock_nodes_group(c, from), more = nr < 0 ? nr : stock_nodes_group(c, to);

	return results_make(c, more < 0 ? more : nr + more);
}

int stock_add_test(struct stock_call *c)
{
	const char *batch = stock_text(c, "batch"), *from = stock_text(c, "from");
	const char *to = stock_text(c, "to");
	struct lnet_lst_bulk_param bulk = { 0 };
	int32_t returned = 0;
	struct lnet_lst_test_add a = {
		.key = c->key, .batch_len = (int32_t)strlen(batch), .batch_at = STOCK_AT(batch),
		.loop = stock_number(c, "loop", -1), .concurrency = stock_number(c, "concur", 1),
		.distance = stock_number(c, "dist", 1), .span = stock_number(c, "span", 1),
		.from_len = (int32_t)strlen(from), .from_at = STOCK_AT(from),
		.to_len = (int32_t)strlen(to), .to_at = STOCK_AT(to),
		.returned_at = STOCK_AT(&returned), .results_at = STOCK_AT(&c->head)
	};
	int rc = bulk_read(c, &a, &bulk);

	if (!rc)
		rc = results_of_test(c, from, to);
	if (!rc)
		rc = stock_ask(c, LNET_LST_TEST_ADD, &a, sizeof(a));
	if (!rc)
		errors_show(c, "add test");
	return rc;
}

/* ---- batches --------------------------------------------------------------------------------- */

static int start_or_stop(struct stock_call *c, uint32_t op, const char *word, const char *doing)
{
	const char *name = stock_text(c, "name");
	struct lnet_lst_batch_run a = {
		.key = c->key, .timeout_or_force = stock_number(c, word, 0),
		.name_len = (int32_t)strlen(name), .name_at = STOCK_AT(name),
		.results_at = STOCK_AT(&c->head)
	};
	int rc = results_make(c, stock_nodes_batch(c, name));

	if (!rc)
		rc = stock_ask(c, op, &a, sizeof(a));
	if (!rc)
		errors_show(c, doing);
	return rc;
}

int stock_run(struct stock_call *c)
{
	return start_or_stop(c, LNET_LST_BATCH_START, "timeout", "run batch");
}

int stock_stop(struct stock_call *c)
{
	return start_or_stop(c, LNET_LST_BATCH_STOP, "force", "stop batch");
}

static void active_show(struct lnetctl_node *map, const struct stock_result *result)
{
	lnetctl_add_num(map, "active", !error_of(result) && result->r.private_[0]);
}

int stock_query(struct stock_call *c)
{
	const char *name = stock_text(c, "name");
	struct lnet_lst_batch_query a = {
		.key = c->key, .test = stock_number(c, "test", 0),
		.client = !stock_number(c, "server", 0), .timeout = stock_number(c, "wait", 5),
		.name_len = (int32_t)strlen(name), .name_at = STOCK_AT(name),
		.results_at = STOCK_AT(&c->head)
	};
	int rc = results_make(c, stock_nodes_batch(c, name));

	if (!rc)
		rc = stock_ask(c, LNET_LST_BATCH_QUERY, &a, sizeof(a));
	return rc ? rc : result_nodes_show(c, active_show);
}

/* ---- statistics ------------------------------------------------------------------------------ */

#define COUNTER(name) { #name, offsetof(struct lnet_lst_counters, name), \
			sizeof(((struct lnet_lst_counters *)0)->name) }

static const struct {
	const char *name;
	unsigned int at, bytes;
} counters[] = {
	COUNTER(running_ms), COUNTER(active_batches), COUNTER(zombie_sessions),
	COUNTER(brw_errors), COUNTER(ping_errors), COUNTER(rpc_errors), COUNTER(rpcs_sent),
	COUNTER(rpcs_rcvd), COUNTER(rpcs_dropped), COUNTER(rpcs_expired), COUNTER(bulk_get),
	COUNTER(bulk_put), COUNTER(msgs_alloc), COUNTER(msgs_max), COUNTER(errors),
	COUNTER(send_count), COUNTER(recv_count), COUNTER(route_count), COUNTER(drop_count),
	COUNTER(send_length), COUNTER(recv_length), COUNTER(route_length), COUNTER(drop_length),
};

static void counters_show(struct lnetctl_node *map, const struct stock_result *result)
{
	size_t i;

	for (i = 0; !error_of(result) && i < sizeof(counters) / sizeof(counters[0]); i++) {
		uint64_t value = 0;

		memcpy(&value, (const char *)payload_of(result) + counters[i].at,
		       counters[i].bytes);
		lnetctl_add_num(map, counters[i].name, (int64_t)value);
	}
}

int stock_stat(struct stock_call *c)
{
	const char *group = stock_text(c, "group");
	struct lnet_lst_stat_query a = {
		.key = c->key, .timeout = stock_number(c, "wait", 5),
		.name_len = (int32_t)strlen(group), .name_at = *group ? STOCK_AT(group) : 0,
		.count = c->nr_ids, .ids_at = c->nr_ids ? STOCK_AT(c->ids) : 0,
		.results_at = STOCK_AT(&c->head)
	};
	int rc;

	if (!*group && !c->nr_ids) {
		fputs("lst: the self-test of stock LNet has statistics of a group or of nodes, not "
		      "of a session\n", stderr);
		return -EOPNOTSUPP;
	}
	rc = results_make(c, *group ? stock_nodes_group(c, group) : c->nr_ids);
	if (!rc)
		rc = stock_ask(c, LNET_LST_STAT_QUERY, &a, sizeof(a));
	return rc ? rc : result_nodes_show(c, counters_show);
}
