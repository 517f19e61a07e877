/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/shard/tunables.c: ranges, defaults, units. */
#include "lnet/recorder/recorder.h"
#include "paths.h"

static u64 get(struct lnet *ln, const char *name)
{
	return lnet_tunable_get(ln, lnet_tunable_find(name));
}

static void test_ranges(void)
{
	struct world *w = world_create();
	const struct lnet_tunable_info *t;
	unsigned int i;

	for (i = 0; i < lnet_nr_tunables; i++) {
		t = &lnet_tunable_table[i];
		if (!strcmp(t->name, "recovery_interval"))
			continue;
		CU_ASSERT_TRUE(t->min <= t->def && t->def <= t->max);
		UNIT_EQUAL(lnet_tunable_set(&w->ln, t->name, t->min), 0, t->name);
		UNIT_EQUAL(lnet_tunable_get(&w->ln, t), t->min, t->name);
		UNIT_EQUAL(lnet_tunable_set(&w->ln, t->name, t->max), 0, t->name);
		UNIT_EQUAL(lnet_tunable_get(&w->ln, t), t->max, t->name);
		UNIT_EQUAL(lnet_tunable_set(&w->ln, t->name, t->max + 1), -ERANGE, t->name);
		if (t->min)
			UNIT_EQUAL(lnet_tunable_set(&w->ln, t->name, t->min - 1), -ERANGE, t->name);
		UNIT_EQUAL(lnet_tunable_get(&w->ln, t), t->max, "a refused value changes nothing");
	}
	UNIT_EQUAL(lnet_tunable_set(&w->ln, "no_such", 1), -ENOENT, "unknown");
	UNIT_EQUAL(lnet_tunable_set(&w->ln, "", 1), -ENOENT, "empty: is no stock name");
	lnet_tunables_init(&w->ln.tun);
	for (i = 0; i < lnet_nr_tunables; i++)
		UNIT_EQUAL(lnet_tunable_get(&w->ln, &lnet_tunable_table[i]),
			   lnet_tunable_table[i].def, "default");
	lnet_record_fini(&w->ln);		/* its tunable has created one */
	world_destroy(w);
}

/* Stock's deprecated tunable: checked, warned about, never changed. */
static void test_ignored(void)
{
	struct world *w = world_create();

	lnet_tunables_init(&w->ln.tun);
	UNIT_EQUAL(lnet_tunable_set(&w->ln, "lnet_recovery_interval", 7), 0, "accepted");
	UNIT_EQUAL(get(&w->ln, "recovery_interval"), 1, "and ignored");
	UNIT_EQUAL(lnet_tunable_set(&w->ln, "recovery_interval", 3601), -ERANGE, "but in range");
	world_destroy(w);
}

/* Each name sets a separate value. */
static void test_independent(void)
{
	struct world *w = world_create();
	unsigned int i, k;

	for (i = 0; i < lnet_nr_tunables; i++) {
		const struct lnet_tunable_info *t = &lnet_tunable_table[i];
		u64 other = t->def == t->max ? t->min : t->max;

		lnet_tunables_init(&w->ln.tun);
		UNIT_EQUAL(lnet_tunable_set(&w->ln, t->name, other), 0, t->name);
		for (k = 0; k < lnet_nr_tunables; k++)
			if (k != i)
				UNIT_EQUAL(lnet_tunable_get(&w->ln, &lnet_tunable_table[k]),
					   lnet_tunable_table[k].def, t->name);
		if (t->stock[0])
			CU_ASSERT_PTR_EQUAL(lnet_tunable_find(t->stock), t);
		CU_ASSERT_PTR_EQUAL(lnet_tunable_find(t->name), t);
	}
	lnet_record_fini(&w->ln);
	world_destroy(w);
}

static void test_defaults(void)
{
	struct world *w = world_create();

	lnet_tunables_init(&w->ln.tun);
	UNIT_EQUAL(get(&w->ln, "transaction_timeout"), 5000000000LL, "5 s");
	UNIT_EQUAL(get(&w->ln, "health_sensitivity"), 100, "10 %");
	UNIT_EQUAL(get(&w->ln, "health_range"), 0, "only the best");
	UNIT_EQUAL(get(&w->ln, "retry_count"), 2, "two resends");
	UNIT_EQUAL(get(&w->ln, "health_step"), 1, "one point");
	world_destroy(w);
}

static const struct {
	const char *name, *text;
	int rc;
	u64 value;
} texts[] = {
	{ "transaction_timeout", "5", 0, 5000000000ULL },
	{ "transaction_timeout", "0.3", 0, 300000000 },
	{ "transaction_timeout", "300ms", 0, 300000000 },
	{ "lnet_transaction_timeout", "50us", 0, 50000 },
	{ "transaction_timeout", "1s", 0, 1000000000 },
	{ "transaction_timeout", "2m", 0, 120000000000ULL },
	{ "transaction_timeout", "1.5h", 0, 5400000000000ULL },
	{ "transaction_timeout", "7ns", 0, 7 },
	{ "transaction_timeout", "0.000000001", 0, 1 },
	{ "transaction_timeout", "1.25us", 0, 1250 },
	{ "transaction_timeout", "0.5ns", -EINVAL, 0 },
	{ "transaction_timeout", "0.0000000001", -EINVAL, 0 },
	{ "transaction_timeout", "18446744073s", 0, 18446744073000000000ULL },
	{ "transaction_timeout", "18446744073.709551615", 0, U64_MAX },
	{ "transaction_timeout", "18446744073.709551616", -ERANGE, 0 },
	{ "transaction_timeout", "18446744074s", -ERANGE, 0 },
	{ "transaction_timeout", "99999999999999999999", -ERANGE, 0 },
	{ "transaction_timeout", "5 s", -EINVAL, 0 },
	{ "transaction_timeout", "5x", -EINVAL, 0 },
	{ "transaction_timeout", "5.", -EINVAL, 0 },
	{ "transaction_timeout", ".5", -EINVAL, 0 },
	{ "transaction_timeout", "", -EINVAL, 0 },
	{ "transaction_timeout", "s", -EINVAL, 0 },
	{ "transaction_timeout", "-1", -ERANGE, 0 },
	{ "transaction_timeout", "0x10", -EINVAL, 0 },
	{ "transaction_timeout", "1e3", -EINVAL, 0 },
	{ "health_sensitivity", "100", 0, 100 },
	{ "health_sensitivity", "10%", 0, 100 },
	{ "health_sensitivity", "100%", 0, 1000 },
	{ "health_sensitivity", "0%", 0, 0 },
	{ "health_sensitivity", "12.5%", 0, 125 },
	{ "health_sensitivity", "12.55%", -EINVAL, 0 },
	{ "health_sensitivity", "1.5", -EINVAL, 0 },
	{ "health_sensitivity", "101%", 0, 1010 },
	{ "health_sensitivity", "10 %", -EINVAL, 0 },
	{ "retry_count", "0", 0, 0 },
	{ "retry_count", "3", 0, 3 },
	{ "retry_count", "-1", -ERANGE, 0 },
	{ "retry_count", "two", -EINVAL, 0 },
	{ "retry_count", "2s", -EINVAL, 0 },
	{ "retry_count", "-", -EINVAL, 0 },
	{ "health_range", "1001", 0, 1001 },
	{ "reply_cache_max", "4096", 0, 4096 },
	{ "reply_cache_max", "64k", 0, 65536 },
	{ "reply_cache_max", "1M", 0, 1048576 },
	{ "reply_cache_max", "0.5k", 0, 512 },
	{ "reply_cache_max", "0.3k", -EINVAL, 0 },
	{ "reply_cache_max", "64q", -EINVAL, 0 },
	{ "accept", "all", 0, 2 },
	{ "accept", "secure", 0, 1 },
	{ "accept", "none", 0, 0 },
	{ "accept", "2", 0, 2 },
	{ "accept", "on", -EINVAL, 0 },
	{ "hello_address", "off", 0, 0 },
	{ "hello_address", "set", 0, 1 },
	{ "hello_address", "strict", 0, 2 },
	{ "hello_address", "auto", 0, 3 },
	{ "hello_address", "on", -EINVAL, 0 },
	{ "resend_ambiguous", "always", 0, 1 },
	{ "resend_ambiguous", "certain", 0, 0 },
	{ "hedge", "off", 0, 0 },
	{ "hedge", "on", 0, 1 },
	{ "hedge", "always", -EINVAL, 0 },
	{ "retry_count", "on", -EINVAL, 0 },
	{ "no_such", "1", -ENOENT, 0 },
};

static void test_texts(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		char row[128];
		uint64_t value = 12345;

		snprintf(row, sizeof(row), "%s=%s", texts[i].name, texts[i].text);
		UNIT_EQUAL(lnet_tunable_parse(texts[i].name, texts[i].text, &value), texts[i].rc,
			   row);
		if (!texts[i].rc)
			UNIT_EQUAL(value, texts[i].value, row);
	}
}

static void test_taken(void)
{
	static const struct {
		const char *name;
		u64 value, taken;
	} rows[] = {
		{ "max_interfaces", 0, 128 }, { "max_interfaces", 15, 128 },
		{ "max_interfaces", 16, 16 }, { "max_interfaces", 128, 128 },
		{ "max_interfaces", 200, 128 }, { "max_interfaces", INT_MAX, 128 },
		{ "max_interfaces", 1ULL << 32, 1ULL << 32 }, { "retry_count", 999, 999 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_EQUAL(lnet_tunable_taken(lnet_tunable_find(rows[i].name), rows[i].value),
			   rows[i].taken, rows[i].name);
}

/* Errors print these texts, and `lnetctl set' accepts both ends of each. */
static void test_range_text(void)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
		{ "retry_count", "0 to 255" },
		{ "transaction_timeout", "1ms to 1h" },
		{ "flap_hold", "0 to 1h" },
		{ "min_recovery_ping_interval", "1ms to 1m" },
		{ "max_recovery_ping_interval", "1s to 24h" },
		{ "hedge", "0, 1, on or off" },
	};
	unsigned int i;
	char text[48];

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		lnet_tunable_range(lnet_tunable_find(rows[i].name), text, sizeof(text));
		UNIT_TEXT(text, rows[i].text, rows[i].name);
	}
}

UNIT_SUITE(tunables,
	   { "cfg-005 cfg-015 cfg-025: each takes both ends of its range and nothing beyond",
	     test_ranges },
	   { "a number of interfaces out of range is replaced", test_taken },
	   { "recovery_interval is accepted and ignored", test_ignored },
	   { "cfg-015: setting one changes no other", test_independent },
	   { "lnt-070 cfg-020 cfg-025: defaults", test_defaults },
	   { "cfg-025 cfg-030: values read from text by their unit", test_texts },
	   { "in which units are the ranges of tunables printed?", test_range_text })
