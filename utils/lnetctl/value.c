/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of options: checks them against the tables, and describes accepted values for messages. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <lnet/lnet.h>
#include "tool.h"

#define LEVEL_MAX INT32_MAX

/* ---- descriptions ---------------------------------------------------------------------------- */

/* Prints a time in the largest unit of which the time is a multiple. */
static void time_print(uint64_t ns, char *buf, size_t size)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "h", 3600 * TIME_S }, { "m", 60 * TIME_S }, { "s", TIME_S },
		      { "ms", TIME_MS },      { "us", 1000 },	    { "ns", 1 } };
	unsigned int i = 0;

	while (units[i].ns > 1 && ns % units[i].ns)
		i++;
	snprintf(buf, size, "%" PRIu64 "%s", ns / units[i].ns, ns ? units[i].unit : "");
}

static void words_text(const char *const *words, char *buf, size_t size)
{
	size_t len = 0;
	int i;

	for (i = 0; words[i] && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s",
					!i ? "" : words[i + 1] ? ", " : " or ", words[i]);
}

void tool_value_accepted(const struct opt *o, char *buf, size_t size)
{
	static const char *const texts[] = {
		[ARG_TEXT] = "a non-empty text",
		[ARG_NID] = "a NID such as 10.0.0.1@tcp",
		[ARG_NIDS] = "NIDs such as 10.0.0.1@tcp,10.0.1.[2-4]@tcp",
		[ARG_NET] = "a net such as tcp or o2ib1",
		[ARG_FILE] = "the name of a file",
		[ARG_MATCH] = "a NID, *@net or *",
	};
	char min[32], max[32];

	switch (o->arg) {
	case ARG_NONE:
		snprintf(buf, size, "no value");
		break;
	case ARG_LEVEL:
		snprintf(buf, size, "0 to %d", LEVEL_MAX);
		break;
	case ARG_NUM:
		snprintf(buf, size, "%" PRId64 " to %" PRIu64, o->min, o->max);
		break;
	case ARG_TIME:
	case ARG_WAIT:
	case ARG_SPAN:
		time_print((uint64_t)o->min, min, sizeof(min));
		time_print(o->max, max, sizeof(max));
		snprintf(buf, size, "%s to %s", min, max);
		break;
	case ARG_WORD:
		words_text(o->words, buf, size);
		break;
	default:
		snprintf(buf, size, "%s", o->form ? o->form : texts[o->arg]);
		if (o->max)
			snprintf(buf, size, "1 to %" PRIu64 " characters", o->max);
	}
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool text_has_number(const char *text)
{
	return isdigit((unsigned char)text[*text == '-']);
}

static bool num_good(const char *text, int64_t min, uint64_t max)
{
	bool negative = *text == '-';
	unsigned long long val;
	char *end;

	if (!text_has_number(text))
		return false;
	errno = 0;
	val = strtoull(text + negative, &end, 0);
	if (errno || *end)
		return false;
	if (negative && val)
		return min < 0 && val <= (uint64_t)-min;
	return val <= max && (min <= 0 || val >= (uint64_t)min);
}

static bool time_good(const struct opt *o, const char *text)
{
	size_t len = strlen(text);
	uint64_t ns;

	if (o->arg == ARG_SPAN && len && isdigit((unsigned char)text[len - 1]))
		return false;
	if (lnet_tunable_parse("transaction_timeout", text, &ns))
		return false;
	return ns >= (uint64_t)o->min && ns <= o->max;
}

static bool word_good(const struct opt *o, const char **val)
{
	const char *const *word;

	for (word = o->words; *word; word++)
		if (!strcasecmp(*word, *val)) {
			*val = *word;
			return true;
		}
	return false;
}

static bool value_good(const struct opt *o, const char **val)
{
	switch (o->arg) {
	case ARG_NONE:
		return true;
	case ARG_LEVEL:
		return num_good(*val, 0, LEVEL_MAX);
	case ARG_NUM:
		return num_good(*val, o->min, o->max);
	case ARG_TIME:
	case ARG_WAIT:
	case ARG_SPAN:
		return time_good(o, *val);
	case ARG_WORD:
		return word_good(o, val);
	default:
		return **val && (!o->max || strlen(*val) <= o->max);
	}
}

bool tool_value_check(const struct opt *o, const char **val, char *why, size_t size)
{
	const char *quote;
	char accepted[200];

	if (value_good(o, val))
		return true;
	quote = text_has_number(*val) && !(*val)[strspn(*val, "-0123456789")] ? "" : "'";
	tool_value_accepted(o, accepted, sizeof(accepted));
	snprintf(why, size, "--%s must be %s%s, not %s%.100s%s", o->name, accepted,
		 o->arg == ARG_SPAN ? ", with a unit (ns, us, ms, s, m or h)" : "", quote, *val,
		 quote);
	return false;
}
