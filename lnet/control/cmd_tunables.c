/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands for tunables, statistics, and the description of the node. */
#include "control/command.h"
#include "shard/shard.h"
#include "manage/manage.h"

#define TUNABLES_MAX 128

/* ---- set: all or nothing --------------------------------------------------------------------- */

struct setting {
	const struct lnet_tunable_info *info;
	u64 value, asked;
};

/* The text before the colon equals the text of stock's tool. */
static int value_refuse(const struct lnet_tunable_info *info, const char *text, int rc,
			struct lnet_ctl_err *e)
{
	const char *quote = rc == -EINVAL ? "'" : "";
	char range[LNET_TEXT_MAX];

	lnet_tunable_range(info, range, sizeof(range));
	return lnet_ctl_fail(e, rc, "invalid value '%s' for key '%s': %s must be %s, not %s%s%s",
			     text, info->name, info->name, range, quote, text, quote);
}

static int setting_parse(const struct lnet_val *key, const struct lnet_val *val,
			 struct setting *set, struct lnet_ctl_err *e)
{
	char name[LNET_TEXT_MAX], text[LNET_TEXT_MAX];
	uint64_t value = 0;
	int rc;

	if (lnet_val_text(key, name, sizeof(name)))
		return lnet_ctl_fail(e, -EINVAL, "the name of a tunable must be a word");
	set->info = lnet_tunable_find(name);
	if (!set->info)
		return lnet_ctl_fail(e, -ENOENT, "invalid key '%s'", name);
	if (lnet_val_text(val, text, sizeof(text)))
		return lnet_ctl_fail(e, -EINVAL, "no value specified for key '%s'", name);
	if (!strcmp(text, "default")) {
		set->value = set->asked = set->info->def;
		return 0;
	}
	rc = lnet_tunable_parse(name, text, &value);
	set->asked = value;
	set->value = lnet_tunable_taken(set->info, value);
	if (rc == -EINVAL)
		return value_refuse(set->info, text, rc, e);
	if (rc || set->value < set->info->min || set->value > set->info->max)
		return value_refuse(set->info, text, -ERANGE, e);
	return 0;
}

static int tunables_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			struct lnet_ctl_err *e)
{
	struct setting *set = kvcalloc(TUNABLES_MAX, sizeof(*set), GFP_KERNEL);
	struct lnet_req all = lnet_ctl_attrs(req);
	unsigned int nr, i;
	struct lnet_val key, val;
	int rc = set ? 0 : -ENOMEM;

	for (nr = 0; !rc && lnet_req_next(&all, &key) && lnet_req_next(&all, &val); nr++)
		rc = nr < TUNABLES_MAX ? setting_parse(&key, &val, &set[nr], e)
				       : lnet_ctl_fail(e, -E2BIG,
						       "more tunables than allowed in one request");
	for (i = 0; i < nr && !rc && !(req->flags & LNET_NL_F_STAGED); i++) {
		rc = lnet_tunable_set(ctl->ln, set[i].info->name, set[i].value);
		if (rc)
			rc = lnet_ctl_fail(e, rc, "cannot set '%s': %s", set[i].info->name,
					   lnet_ctl_why(rc));
		else if (set[i].value != set[i].asked)
			lnet_log_value_taken(ctl->ln, set[i].info->name, set[i].value,
					     set[i].asked);
	}
	kvfree(set);
	return rc;
}

/*
 * Sets numa_range to the number in the key "range". Stock LNet's tool sends this request when it
 * imports the section `numa'.
 */
static int numa_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		    struct lnet_ctl_err *e)
{
	static const struct lnet_field fields[] = {
		{ .key = "range", .kind = LNET_FIELD_NUM, .size = 8, .max = U32_MAX, .need = true },
		{ NULL }
	};
	u64 range;
	int rc = lnet_ctl_read(lnet_ctl_attrs(req), fields, &range, e);

	return rc ? rc : lnet_tunable_set(ctl->ln, "numa_range", range);
}

/* ---- show ------------------------------------------------------------------------------------ */

/*
 * The rows of stock's `global show`, in its order. The entry "" is lnd_timeout, which is computed.
 * All other tunables follow these rows.
 */
static const char *const stock_order[] = {
	"numa_range",
	"max_interfaces",
	"discovery",
	"drop_asym_route",
	"retry_count",
	"transaction_timeout",
	"health_sensitivity",
	"recovery_interval",
	"router_sensitivity",
	"",
	"response_tracking",
	"recovery_limit",
	"max_recovery_ping_interval",
};

/* One row: a number; or a text if the value is not a whole number of seconds. */
struct shown {
	u64 num;
	char text[24];
};

struct tun_view {
	struct lnet_key keys[TUNABLES_MAX];
	struct shown shown[TUNABLES_MAX];
	struct lnet_table table;
};

/* A time is a number of seconds. If it is not whole, it has up to nine decimals. */
static void line_add(struct tun_view *v, const char *name, u64 value, bool is_time)
{
	struct shown *s = &v->shown[v->table.nr];
	struct lnet_key *k = &v->keys[v->table.nr];
	u64 rest;
	int len;

	if (v->table.nr == TUNABLES_MAX)
		return;
	s->num = is_time ? div_u64(value, NSEC_PER_SEC) : value;
	rest = is_time ? value - s->num * NSEC_PER_SEC : 0;
	len = rest ? scnprintf(s->text, sizeof(s->text), "%llu.%09llu", s->num, rest) : 0;
	while (len && s->text[len - 1] == '0')
		s->text[--len] = 0;
	k->name = name;
	k->type = rest ? LNET_NLT_STRING : LNET_NLT_S64;
	v->table.nr++;
}

static bool tunable_is_stock(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stock_order); i++)
		if (!strcmp(stock_order[i], name))
			return true;
	return false;
}

static void lines_add(struct tun_view *v, const struct lnet *ln)
{
	const struct lnet_tunable_info *info;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stock_order); i++) {
		info = lnet_tunable_find(stock_order[i]);
		if (info)
			line_add(v, info->name, lnet_tunable_get(ln, info),
				 info->unit == LNET_UNIT_NS);
		else
			line_add(v, "lnd_timeout", lnet_lnd_timeout_ns(&ln->tun), true);
	}
	for (i = 0; i < lnet_nr_tunables; i++) {
		info = &lnet_tunable_table[i];
		if (!tunable_is_stock(info->name))
			line_add(v, info->name, lnet_tunable_get(ln, info),
				 info->unit == LNET_UNIT_NS);
	}
}

static int tunables_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct tun_view *v = kvzalloc(sizeof(*v), GFP_KERNEL);
	unsigned int i;
	int rc = 1;

	if (!v)
		return -ENOMEM;
	v->keys[0] = (struct lnet_key){ .name = "global",
					.type = LNET_NLT_NUL_STRING,
					.format = LNET_NL_MAPPING };
	v->table = (struct lnet_table){ v->keys, 1 };
	lines_add(v, d->ctl->ln);
	if (s->ops->table(s, &v->table, NULL, LNET_TABLE_FIRST)) {
		lnet_ctl_item(d, s);
		for (i = 1; i < v->table.nr; i++) {
			if (v->shown[i].text[0])
				s->ops->str(s, i + 1, v->shown[i].text);
			else
				s->ops->num(s, i + 1, LNET_NLT_S64, v->shown[i].num);
		}
		rc = !lnet_ctl_item_end(d, s);
	}
	kvfree(v);
	return rc;
}

const struct lnet_ctl_cmd lnet_cmd_tunables = {
	.cmd = LNET_NL_TUNABLES,
	.down = true,
	.stages = true,
	.act = tunables_act,
	.next = tunables_next,
};

const struct lnet_ctl_cmd lnet_cmd_numa = { .cmd = LNET_NL_NUMA, .down = true, .act = numa_act };

/* ---- statistics ------------------------------------------------------------------------------ */

/* The counters are in the order of control.def, which is stock's order. */
static const u8 shown_counters[] = {
	LNET_C_msgs_alloc,
	LNET_C_msgs_max,
	LNET_C_rst_alloc,
	LNET_C_errors,
	LNET_C_send_count,
	LNET_C_resend_count,
	LNET_C_response_timeout_count,
	LNET_C_local_interrupt_count,
	LNET_C_local_dropped_count,
	LNET_C_local_aborted_count,
	LNET_C_local_no_route_count,
	LNET_C_local_timeout_count,
	LNET_C_local_error_count,
	LNET_C_remote_dropped_count,
	LNET_C_remote_error_count,
	LNET_C_remote_timeout_count,
	LNET_C_network_timeout_count,
	LNET_C_failed_resends,
	LNET_C_successful_resends,
	LNET_C_recv_count,
	LNET_C_route_count,
	LNET_C_drop_count,
};

/*
 * The reply is one mapping in which no name is repeated: the 26 counters of stock LNet, then all
 * other counters.
 */
static bool counter_is_stock(unsigned int c)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shown_counters); i++)
		if (shown_counters[i] == c)
			return true;
	return c == LNET_C_send_length || c == LNET_C_recv_length || c == LNET_C_route_length ||
	       c == LNET_C_drop_length;
}

#define STOCK_STATS 27		/* number of keys of lnet_table_stats, including the header */
static_assert(ARRAY_SIZE(shown_counters) + 5 == STOCK_STATS, "the counters of the table");

struct stats_view {
	struct lnet_key keys[STOCK_STATS + LNET_NR_COUNTERS];
	u64 val[STOCK_STATS + LNET_NR_COUNTERS];
	struct lnet_table table;
};

static void stats_fill(struct stats_view *v, const struct lnet *ln)
{
	static const u8 lengths[] = { LNET_C_send_length, LNET_C_recv_length, LNET_C_route_length,
				      LNET_C_drop_length };
	unsigned int i, n = 1;

	memcpy(v->keys, lnet_table_stats.keys, STOCK_STATS * sizeof(*v->keys));
	for (i = 0; i < ARRAY_SIZE(shown_counters); i++)
		v->val[n++] = lnet_stat_sum(ln, shown_counters[i]);
	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		v->val[n++] = lnet_stat_sum(ln, lengths[i]);
	for (i = 0; i < LNET_NR_COUNTERS; i++) {
		if (counter_is_stock(i))
			continue;
		v->keys[n] =
			(struct lnet_key){ .name = lnet_counter_names[i], .type = LNET_NLT_U64 };
		v->val[n++] = lnet_stat_sum(ln, i);
	}
	v->table = (struct lnet_table){ v->keys, (u16)n };
}

static int stats_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct stats_view *v = kvzalloc(sizeof(*v), GFP_KERNEL);
	unsigned int i;
	int rc = 1;

	if (!v)
		return -ENOMEM;
	stats_fill(v, d->ctl->ln);
	if (s->ops->table(s, &v->table, NULL, LNET_TABLE_FIRST)) {
		lnet_ctl_item(d, s);
		for (i = 1; i < v->table.nr; i++)
			s->ops->num(s, i + 1, (enum lnet_nl_type)v->keys[i].type, v->val[i]);
		rc = !lnet_ctl_item_end(d, s);
	}
	kvfree(v);
	return rc;
}

static int cmd_stats_reset(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			   struct lnet_ctl_err *e)
{
	lnet_stats_reset(ctl->ln);
	return 0;
}

const struct lnet_ctl_cmd lnet_cmd_stats = {
	.cmd = LNET_NL_STATS, .down = true, .next = stats_next,
};

const struct lnet_ctl_cmd lnet_cmd_stats_reset = {
	.cmd = LNET_NL_STATS_RESET,
	.down = true,
	.act = cmd_stats_reset,
};

/* ---- node ------------------------------------------------------------------------------------ */

static int node_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	const struct lnet_control *ctl = d->ctl;
	struct lnet_view_node v = { .pid = ctl->pid,
				    .uid = ctl->uid,
				    .configured = READ_ONCE(ctl->configured) };

	strscpy(v.name, ctl->name, sizeof(v.name));
	strscpy(v.version, ctl->version, sizeof(v.version));
	return !lnet_ctl_emit(d, s, &lnet_table_node, &v);
}

const struct lnet_ctl_cmd lnet_cmd_node = {
	.cmd = LNET_NL_NODE, .down = true, .next = node_next,
};
