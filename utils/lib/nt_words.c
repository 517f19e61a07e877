/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arguments of NETTEST: a letter that names the parameter, directly followed by its value. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "utils/lib/nt.h"

#define A_NUMBER	"a number from 1 to 4294967295"
#define CYRILLIC_ES "\xd0\xa1"	/* looks like C in the documents */

void nt_words_init(struct nt_words *w)
{
	*w = (struct nt_words){ .unit = 'K', .unit_bytes = 1024, .least = 1, .most = 16,
				.print = NT_AVERAGE };
	w->plan = (struct nettest_plan){ .repeats = 1, .times = 100, .patterns = NETTEST_ALL,
					 .check = NETTEST_CHECK_ENDS };
}

static int word_reject(char *why, size_t size, const char *word, const char *what)
{
	snprintf(why, size, "'%s': %s", word, what);
	return -EINVAL;
}

static bool word_number(const char *text, u32 lo, u32 hi, u32 *num)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end || errno || value < lo || value > hi)
		return false;
	*num = (u32)value;
	return true;
}

static bool one_of(const char *text, const char *const *names, unsigned int nr, u32 *ix)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(text, names[i])) {
			*ix = i;
			return true;
		}
	return false;
}

static bool unit(struct nt_words *w, const char *value)
{
	static const char *const names[] = { "b", "K", "M" };
	u32 ix;

	if (!one_of(value, names, 3, &ix))
		return false;
	w->unit = *names[ix];
	w->unit_bytes = 1U << (10 * ix);
	return true;
}

static bool chaos(struct nt_words *w, const char *value)
{
	static const char *const names[] = { "", "0", "off", "no", "1", "on", "yes" };
	u32 ix;

	if (!one_of(value, names, 7, &ix))
		return false;
	w->plan.patterns |= NETTEST_CHAOSES;
	if (ix <= 3)
		w->plan.patterns &= ~NETTEST_CHAOSES;
	return true;
}

static bool check_word(struct nt_words *w, const char *value)
{
	static const char *const names[] = { "none", "ends", "full" };

	return one_of(value, names, 3, &w->plan.check);
}

static bool print_mode(struct nt_words *w, const char *value)
{
	static const char *const names[] = { "average", "total", "local" };
	u32 ix;

	if (!one_of(value, names, 3, &ix))
		return false;
	w->print = (enum nt_print)ix;
	return true;
}

static bool file(const char **name, const char *value)
{
	*name = value;
	return *value;
}

static bool list_word(struct nt_words *w, const char *value)
{
	if (!*value || w->nr_lists == NT_LISTS)
		return false;
	w->nids[w->nr_lists++] = value;
	return true;
}

int nt_word(struct nt_words *w, const char *word, char *why, size_t why_size)
{
	const char *value = word + 1;
	const char *what = NULL;

	if (!strncmp(word, CYRILLIC_ES, 2))
		return chaos(w, word + 2) ? 0 : word_reject(why, why_size, word, "chaos is 0 or 1");
	switch (*word) {
	case 'u': what = unit(w, value) ? NULL : "the unit is b, K or M"; break;
	case 'm': what = word_number(value, 1, UINT32_MAX, &w->least) ? NULL :
			"the least length is " A_NUMBER; break;
	case 'M': what = word_number(value, 1, UINT32_MAX, &w->most) ? NULL :
			"the largest length is " A_NUMBER; break;
	case 's': what = word_number(value, 1, UINT32_MAX, &w->step) ? NULL : "a step is " A_NUMBER;
		break;
	case 'K': what = word_number(value, 2, UINT32_MAX, &w->plan.factor) ? NULL :
			"lengths are multiplied by 2 to 4294967295"; break;
	case 'R': what = word_number(value, 1, UINT32_MAX, &w->plan.repeats) ? NULL :
			"the repeats are " A_NUMBER; break;
	case 'T': what = word_number(value, 1, UINT32_MAX, &w->plan.times) ? NULL :
			"the iterations are " A_NUMBER; break;
	case 'C': what = chaos(w, value) ? NULL : "chaos is 0 or 1"; break;
	case 'P': what = print_mode(w, value) ? NULL : "what is printed is average, total or local";
		break;
	case 'o': what = file(&w->output, value) ? NULL : "the name of a file is missing"; break;
	case 'x': what = file(&w->matrix, value) ? NULL : "the name of a file is missing"; break;
	case 'v': what = check_word(w, value) ? NULL : "checks are none, ends or full"; break;
	case 'n': what = list_word(w, value) ? NULL : "a list of NIDs is missing, or a fifth one";
		break;
	case 'p': what = word_number(value, 1, 65535, &w->port) ? NULL :
			"a port is a number from 1 to 65535"; break;
	case 'N': what = word_number(value, 1, UINT32_MAX, &w->noise) ? NULL :
			"the length of noise is " A_NUMBER; break;
	case 'B': what = word_number(value, 1, NETTEST_NODES_MAX / 2 - 1, &w->plan.noise_pairs) ?
			NULL : "the pairs that make noise are a number from 1 to 511"; break;
	case 'D': what = word_number(value, 1, NETTEST_NOISE_DEPTH, &w->plan.noise_depth) ? NULL :
			"of noise 1 to 32 messages are under way"; break;
	default: what = "there is no such word";
	}
	return what ? word_reject(why, why_size, word, what) : 0;
}

static int range(char *why, size_t size, const struct nt_words *w, const char *what)
{
	snprintf(why, size, "lengths from m%u to M%u of %u bytes: %s", w->least, w->most,
		 w->unit_bytes, what);
	return -EINVAL;
}

static int noise_words_end(struct nt_words *w, char *why, size_t why_size)
{
	struct nettest_plan *plan = &w->plan;

	if (!w->noise && (plan->noise_pairs || plan->noise_depth))
		return word_reject(why, why_size, "B, D",
				   "they say how noise is made, N that it is");
	if (!w->noise)
		return 0;
	if ((u64)w->noise * w->unit_bytes > LNET_MTU)
		return word_reject(why, why_size, "N", "messages of noise have 1 MiB at most");
	plan->noise = w->noise * w->unit_bytes;
	plan->noise_pairs = plan->noise_pairs ? plan->noise_pairs : 1;
	plan->noise_depth = plan->noise_depth ? plan->noise_depth : 8;
	return 0;
}

int nt_words_fit(const struct nt_words *w, u32 nr, char *why, size_t why_size)
{
	if (nettest_plan_measured(&w->plan, nr) >= 2)
		return 0;
	snprintf(why, why_size, "of %u nodes %u make noise: two at least are to be measured", nr,
		 2 * w->plan.noise_pairs);
	return -EINVAL;
}

int nt_words_end(struct nt_words *w, char *why, size_t why_size)
{
	int rc = noise_words_end(w, why, why_size);

	if (rc)
		return rc;
	if (w->plan.factor)
		w->step = 0;
	else if (!w->step)
		w->plan.factor = 2;
	if (w->least > w->most)
		return range(why, why_size, w, "the least is more than the largest");
	if ((u64)w->most * w->unit_bytes > NETTEST_LEN_MAX)
		return range(why, why_size, w, "64 MiB is the most");
	w->plan.least = w->least * w->unit_bytes;
	w->plan.most = w->most * w->unit_bytes;
	w->plan.step = (u32)min_t(u64, (u64)w->step * w->unit_bytes, UINT32_MAX);
	rc = nettest_plan_check(&w->plan);
	if (rc == -E2BIG)
		return range(why, why_size, w, "too many lengths and repeats");
	return rc ? range(why, why_size, w, "these cannot be") : 0;
}
