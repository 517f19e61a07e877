/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lst add_test: a table of the arguments of tests of this project. */
#include <stdlib.h>
#include <string.h>
#include "lst.h"

enum kind { NUMBER, BYTES, TIME, CHECK, MAP };

/*
 * Each argument may also be given as an option. The console has the ranges, and checks the values.
 */
static const struct row {
	const char *name, *word;
	enum kind kind;
} rows[] = {
	{ "loop", "loop", NUMBER },
	{ "time", "time", TIME },
	{ "warmup", "warmup", NUMBER },
	{ "concurrency", "concur", NUMBER },
	{ "rate", "rate", NUMBER },
	{ "lost-after", "timeout", TIME },
	{ "size", "size", BYTES },
	{ "off", "off", BYTES },
	{ "frags", "frags", NUMBER },
	{ "check", "verify", CHECK },
	{ "map", "map", MAP },
	{ "stop-on-error", "stop_onerr", NUMBER },
};

static const char *const modes[] = { "read", "write", "back", "both" };
static const char *const checks[] = { "none", "simple", "crc32c", "full" };
static const char *const maps[] = { "spread", "one-to-one", "one-to-all", "all-to-all", "ring",
				    "star", "chaos", "permutation", "incast" };
#define NR(names)	(sizeof(names) / sizeof((names)[0]))

/* From 1; 0: not found. */
static unsigned int name_number(const char *const *names, unsigned int nr, const char *name,
				size_t len)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (strlen(names[i]) == len && !strncmp(names[i], name, len))
			return i + 1;
	return 0;
}

static bool unit_parse(const char *in, const char *const *units, const long long *factors,
		       unsigned int nr, long long *value)
{
	char *end;
	unsigned int unit;

	*value = strtoll(in, &end, 0);
	if (end == in || *value < 0)
		return false;
	unit = name_number(units, nr, end, strlen(end));
	return unit && !__builtin_mul_overflow(*value, factors[unit - 1], value);
}

static bool bytes_parse(const char *in, long long *value)
{
	static const char *const units[] = { "", "k", "K", "m", "M" };
	static const long long factors[] = { 1, 1024, 1024, 1048576, 1048576 };

	return unit_parse(in, units, factors, NR(units), value);
}

static bool time_parse(const char *in, long long *value)
{
	static const char *const units[] = { "", "s", "ms", "us", "ns", "m", "min", "h", "d" };
	static const long long factors[] = { 1000000000, 1000000000, 1000000, 1000, 1, 60000000000,
					     60000000000, 3600000000000, 86400000000000 };

	return unit_parse(in, units, factors, NR(units), value);
}

bool time_of(const char *in, long long *ns)
{
	if (time_parse(in, ns) && *ns > 0)
		return true;
	return misused("a time must be such as 500us, 2s or 1h, not '%s'", in), false;
}

/* none, simple, simple:k=512, crc32c, full */
static bool plan_check_add(struct request *r, const char *in)
{
	size_t len = strcspn(in, ":");
	unsigned int check = name_number(checks, NR(checks), in, len);
	long long every;

	if (!check || (in[len] && check != 2))
		return misused("check must be none, simple, simple:k=BYTES, crc32c or full, not "
			       "'%s'",
			       in),
		       false;
	request_add(r, "verify", "%u", check);
	if (!in[len])
		return true;
	if (strncmp(in + len, ":k=", 3) || !bytes_parse(in + len + 3, &every))
		return misused("the distance of the marks of the simple check must be a number of "
			       "bytes, as simple:k=512, not '%s'",
			       in),
		       false;
	request_add(r, "every", "%lld", every);
	return true;
}

/* NAME, permutation:SEED, file:PATH, or D:S */
static bool add_map(struct request *r, const char *in)
{
	size_t len = strcspn(in, ":");
	unsigned int map = name_number(maps, NR(maps), in, len), dist, span;
	long long seed;
	char rest;

	if (!strncmp(in, "file:", 5))
		return map_add_file(r, in + 5);
	if (sscanf(in, "%u:%u%c", &dist, &span, &rest) == 2) {
		request_add(r, "map", "1");
		request_add(r, "dist", "%u", dist);
		request_add(r, "span", "%u", span);
		return true;
	}
	if (!map || (in[len] && strncmp(in, "permutation:", 12)))
		return misused("a map must be D:S, one-to-one, one-to-all, all-to-all, ring, star, "
			       "chaos, permutation:SEED, incast or file:PATH, not '%s'",
			       in),
		       false;
	request_add(r, "map", "%u", map);
	if (!in[len])
		return true;
	if (!parse_number("the seed", in + len + 1, 0, INT64_MAX, &seed))
		return false;
	request_add(r, "seed", "%lld", seed);
	return true;
}

static bool plan_value_add(struct request *r, const struct row *row, const char *in)
{
	long long value;

	switch (row->kind) {
	case CHECK:
		return plan_check_add(r, in);
	case MAP:
		return add_map(r, in);
	case NUMBER:
		if (!parse_number(row->name, in, -1, INT64_MAX, &value))
			return false;
		break;
	case BYTES:
		if (!bytes_parse(in, &value))
			return misused("a number of bytes must be such as 4097 or 1M, not '%s'",
				       in),
			       false;
		break;
	case TIME:
		if (!time_parse(in, &value))
			return misused("a time must be such as 500ms, 2s or 1h, not '%s'", in),
			       false;
		break;
	}
	request_add(r, row->word, "%lld", value);
	return true;
}

bool plan_add(struct request *r, const char *name, size_t len, const char *value)
{
	size_t i;

	if (!strncmp(name, "two-way", len) && len == 7) {
		request_add(r, "ways", "2");
		return true;
	}
	for (i = 0; i < NR(rows); i++)
		if (strlen(rows[i].name) == len && !strncmp(rows[i].name, name, len) && value)
			return plan_value_add(r, &rows[i], value);
	return misused("'%s' is not a valid argument of a test", name), false;
}

bool plan_add_word(struct request *r, const char *word)
{
	size_t len = strcspn(word, "=");
	unsigned int mode = name_number(modes, NR(modes), word, strlen(word));

	if (!mode)
		return plan_add(r, word, len, word[len] ? word + len + 1 : NULL);
	request_add(r, "mode", "%u", mode);
	return true;
}
