/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tunables: their table, their defaults, their values as text, and changes of them. */
#include "plat.h"
#include "shard/shard.h"
#include "shard/hooks.h"

const struct lnet_tunable_info lnet_tunable_table[] = {
#define TUNABLE(name_, unit_, def_, min_, max_, stock_, param_, text_)	\
	{ .name = #name_, .stock = stock_, .text = text_, .unit = LNET_UNIT_##unit_,	\
	  .def = def_, .min = min_, .max = max_, .off = offsetof(struct lnet_tunables, name_) },
#include "model/tunables.def"
#undef TUNABLE
};
const unsigned int lnet_nr_tunables = ARRAY_SIZE(lnet_tunable_table);

static u64 *slot(const struct lnet_tunables *tun, const struct lnet_tunable_info *info)
{
	return (u64 *)((char *)tun + info->off);
}

void lnet_tunables_init(struct lnet_tunables *tun)
{
	unsigned int i;

	for (i = 0; i < lnet_nr_tunables; i++)
		WRITE_ONCE(*slot(tun, &lnet_tunable_table[i]), lnet_tunable_table[i].def);
}

const struct lnet_tunable_info *lnet_tunable_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < lnet_nr_tunables; i++) {
		const struct lnet_tunable_info *info = &lnet_tunable_table[i];

		if (!strcmp(info->name, name) || (*name && !strcmp(info->stock, name)))
			return info;
	}
	return NULL;
}

u64 lnet_tunable_get(const struct lnet *ln, const struct lnet_tunable_info *info)
{
	return READ_ONCE(*slot(&ln->tun, info));
}

u64 lnet_tunable_taken(const struct lnet_tunable_info *info, u64 value)
{
	if (info->off != offsetof(struct lnet_tunables, max_interfaces) || value > INT_MAX)
		return value;
	return value < info->min ? info->def : min(value, info->max);
}

int lnet_tunable_set(struct lnet *ln, const char *name, uint64_t value)
{
	const struct lnet_tunable_info *info = lnet_tunable_find(name);
	bool changed;

	if (!info)
		return -ENOENT;
	if (value < info->min || value > info->max)
		return -ERANGE;
	if (slot(&ln->tun, info) == &ln->tun.recovery_interval) {
		if (value != info->def)
			pr_warn("recovery_interval is ignored: recovery pings pace themselves\n");
		return 0;
	}
	mutex_lock(&ln->cfg_mutex);
	changed = *slot(&ln->tun, info) != value;
	WRITE_ONCE(*slot(&ln->tun, info), value);
	ln->hooks->tuned(ln, slot(&ln->tun, info), changed);
	mutex_unlock(&ln->cfg_mutex);
	return 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* digits after the point, so that the precision is 1 ns for seconds */
#define FRACTION_DIGITS 9
#define FRACTION_ONE 1000000000ULL

/* A parsed number: "12.5ms" has whole 12, fraction 500000000 of FRACTION_ONE, rest "ms". */
struct decimal {
	u64 whole, fraction;
	const char *rest;
};

/*
 * Parses a number. It accepts a sign, so that the error for -1 is "out of range" and not "no
 * number".
 */
static int decimal_parse(struct decimal *d, const char *text)
{
	const bool negative = *text == '-';
	const char *start = text + negative, *at = start;
	u64 weight = FRACTION_ONE;

	*d = (struct decimal){ 0 };
	for (; isdigit((unsigned char)*at); at++)
		if (check_mul_overflow(d->whole, (u64)10, &d->whole) ||
		    check_add_overflow(d->whole, (u64)(*at - '0'), &d->whole))
			return -ERANGE;
	if (at == start)
		return -EINVAL;
	if (*at == '.') {
		for (start = ++at; isdigit((unsigned char)*at); at++) {
			if (at - start == FRACTION_DIGITS)
				return -EINVAL;
			weight = div_u64(weight, 10);
			d->fraction += weight * (*at - '0');
		}
		if (at == start)
			return -EINVAL;
	}
	d->rest = at;
	return negative ? -ERANGE : 0;
}

static const struct suffix {
	u8 unit;
	const char *text;
	u64 scale;
} suffixes[] = {
	{ LNET_UNIT_N, "", 1 },
	{ LNET_UNIT_E, "", 1 },
	{ LNET_UNIT_NS, "", NSEC_PER_SEC },
	{ LNET_UNIT_NS, "s", NSEC_PER_SEC },
	{ LNET_UNIT_NS, "ms", NSEC_PER_MSEC },
	{ LNET_UNIT_NS, "us", NSEC_PER_USEC },
	{ LNET_UNIT_NS, "ns", 1 },
	{ LNET_UNIT_NS, "m", 60ULL * NSEC_PER_SEC },
	{ LNET_UNIT_NS, "h", 3600ULL * NSEC_PER_SEC },
	{ LNET_UNIT_B, "", 1 },
	{ LNET_UNIT_B, "k", 1ULL << 10 },
	{ LNET_UNIT_B, "K", 1ULL << 10 },
	{ LNET_UNIT_B, "M", 1ULL << 20 },
	{ LNET_UNIT_B, "G", 1ULL << 30 },
	{ LNET_UNIT_PT, "", 1 },
	{ LNET_UNIT_PT, "%", LNET_HEALTH_MAX / 100 },
};

/*
 * Words for the values of tunables. @name NULL: the row is for each tunable of the unit LNET_UNIT_E
 * whose maximum is 1.
 */
static const struct {
	const char *name, *word;
	u64 value;
} words[] = {
	{ "accept", "none", 0 }, { "accept", "secure", 1 }, { "accept", "all", 2 },
	{ "hello_address", "off", 0 }, { "hello_address", "set", 1 },
	{ "hello_address", "strict", 2 }, { "hello_address", "auto", 3 },
	{ "resend_ambiguous", "certain", 0 }, { "resend_ambiguous", "always", 1 },
	{ "selection", "order", 0 }, { "selection", "expected-time", 1 },
	{ "congestion", "system", 0 }, { "congestion", "reno", 1 }, { "congestion", "cubic", 2 },
	{ NULL, "off", 0 }, { NULL, "on", 1 }, { NULL, "no", 0 }, { NULL, "yes", 1 },
	{ NULL, "false", 0 }, { NULL, "true", 1 }, { NULL, "disabled", 0 }, { NULL, "enabled", 1 },
};

static void words_text(const struct lnet_tunable_info *info, char *buf, size_t size)
{
	unsigned int i, len = 0;

	buf[0] = 0;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (!words[i].name || strcmp(words[i].name, info->name))
			continue;
		len += scnprintf(buf + len, size - len, "%s%s",
				 !words[i].value ? "" :
				 words[i].value == info->max ? " or " : ", ", words[i].word);
	}
	if (!len)
		strscpy(buf, "0, 1, on or off", size);
}

/* Prints a time in the largest unit that divides it, as lnet_tunable_parse() accepts it. */
static void time_text(u64 ns, char *buf, size_t size)
{
	const struct suffix *best = NULL, *s, *end = suffixes + ARRAY_SIZE(suffixes);

	for (s = suffixes; ns && s < end; s++)
		if (s->unit == LNET_UNIT_NS && *s->text && (!best || s->scale > best->scale) &&
		    div64_u64(ns, s->scale) * s->scale == ns)
			best = s;
	scnprintf(buf, size, "%llu%s", best ? div64_u64(ns, best->scale) : 0,
		  best ? best->text : "");
}

void lnet_tunable_range(const struct lnet_tunable_info *info, char *buf, size_t size)
{
	char min[24], max[24];

	if (info->unit == LNET_UNIT_E) {
		words_text(info, buf, size);
	} else if (info->unit == LNET_UNIT_NS) {
		time_text(info->min, min, sizeof(min));
		time_text(info->max, max, sizeof(max));
		scnprintf(buf, size, "%s to %s", min, max);
	} else {
		scnprintf(buf, size, "%llu to %llu", info->min, info->max);
	}
}

int lnet_tunable_parse(const char *name, const char *text, uint64_t *value)
{
	const struct lnet_tunable_info *info = lnet_tunable_find(name);
	const struct suffix *s, *end = suffixes + ARRAY_SIZE(suffixes);
	struct decimal d;
	u64 part, whole;
	unsigned int i;
	int rc;

	if (!info)
		return -ENOENT;
	for (i = 0; info->unit == LNET_UNIT_E && i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i].word, text) ||
		    (words[i].name ? strcmp(words[i].name, info->name) : info->max != 1))
			continue;
		*value = words[i].value;
		return 0;
	}
	rc = decimal_parse(&d, text);
	if (rc)
		return rc;
	for (s = suffixes; s < end; s++)
		if (s->unit == info->unit && !strcmp(s->text, d.rest))
			break;
	if (s == end)
		return -EINVAL;
	part = mul_u64_u64_div_u64(d.fraction, s->scale, FRACTION_ONE);
	/*
	 * d.fraction * s->scale / FRACTION_ONE must be a whole number of units. Half a byte, or a
	 * third of a point of health, is rejected. The true products in the comparison differ by
	 * less than FRACTION_ONE, so comparing them modulo 2^64 suffices.
	 */
	if (part * FRACTION_ONE != d.fraction * s->scale)
		return -EINVAL;
	if (check_mul_overflow(d.whole, s->scale, &whole) ||
	    check_add_overflow(whole, part, &whole))
		return -ERANGE;
	*value = whole;
	return 0;
}
