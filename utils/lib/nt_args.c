/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The arguments of NETTEST. Each is a letter that names the parameter, directly followed by the
 * value.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "utils/lib/nt.h"

#define A_NUMBER	"1 to 4294967295"
/* The Cyrillic letter Es in UTF-8. It looks like a Latin C, so users copy it from documents. */
#define CYRILLIC_ES "\xd0\xa1"

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

#define CHAOS "the topology chaos (C) must be 0 or 1"

static const struct {
	char letter;
	const char *accepted;
} words[] = {
	{ 'u', "the unit of lengths (u) must be b, K or M" },
	{ 'm', "the least length (m) must be " A_NUMBER },
	{ 'M', "the largest length (M) must be " A_NUMBER },
	{ 's', "the step between lengths (s) must be " A_NUMBER },
	{ 'K', "the factor between lengths (K) must be 2 to 4294967295" },
	{ 'R', "the number of repeats (R) must be " A_NUMBER },
	{ 'T', "the number of iterations (T) must be " A_NUMBER },
	{ 'C', CHAOS },
	{ 'P', "the printed figures (P) must be average, total or local" },
	{ 'o', "the name of the file is missing" },
	{ 'x', "the name of the file is missing" },
	{ 'v', "the check of messages (v) must be none, ends or full" },
	{ 'n', "n must have a list of NIDs, one for each node, and may be given at most 4 times" },
	{ 'p', "the TCP port (p) must be 1 to 65535" },
	{ 'N', "the length of noise messages (N) must be " A_NUMBER },
	{ 'B', "the number of node pairs that send noise (B) must be 1 to 511" },
	{ 'D', "the number of noise messages in flight in each direction (D) must be 1 to 32" },
};

static bool take(struct nt_words *w, char letter, const char *value)
{
	switch (letter) {
	case 'u': return unit(w, value);
	case 'm': return word_number(value, 1, UINT32_MAX, &w->least);
	case 'M': return word_number(value, 1, UINT32_MAX, &w->most);
	case 's': return word_number(value, 1, UINT32_MAX, &w->step);
	case 'K': return word_number(value, 2, UINT32_MAX, &w->plan.factor);
	case 'R': return word_number(value, 1, UINT32_MAX, &w->plan.repeats);
	case 'T': return word_number(value, 1, UINT32_MAX, &w->plan.times);
	case 'C': return chaos(w, value);
	case 'P': return print_mode(w, value);
	case 'o': return file(&w->output, value);
	case 'x': return file(&w->matrix, value);
	case 'v': return check_word(w, value);
	case 'n': return list_word(w, value);
	case 'p': return word_number(value, 1, 65535, &w->port);
	case 'N': return word_number(value, 1, UINT32_MAX, &w->noise);
	case 'B': return word_number(value, 1, NETTEST_NODES_MAX / 2 - 1, &w->plan.noise_pairs);
	case 'D': return word_number(value, 1, NETTEST_NOISE_DEPTH, &w->plan.noise_depth);
	default: return false;
	}
}

int nt_word(struct nt_words *w, const char *word, char *why, size_t why_size)
{
	unsigned int i;

	if (!strncmp(word, CYRILLIC_ES, 2))
		return chaos(w, word + 2) ? 0 : word_reject(why, why_size, word, CHAOS);
	if (take(w, *word, word + 1))
		return 0;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].letter == *word)
			return word_reject(why, why_size, word, words[i].accepted);
	return word_reject(why, why_size, word, "not a valid argument");
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
			      "B and D require N, the length of noise messages");
	if (!w->noise)
		return 0;
	if ((u64)w->noise * w->unit_bytes > LNET_MTU)
		return word_reject(why, why_size, "N",
				   "a noise message (N) must have at most 1 MiB");
	plan->noise = w->noise * w->unit_bytes;
	plan->noise_pairs = plan->noise_pairs ? plan->noise_pairs : 1;
	plan->noise_depth = plan->noise_depth ? plan->noise_depth : 8;
	return 0;
}

int nt_words_fit(const struct nt_words *w, u32 nr, char *why, size_t why_size)
{
	if (nettest_plan_measured(&w->plan, nr) >= 2)
		return 0;
	snprintf(why, why_size,
		 "of %u nodes, %u would send noise (B, N); at least two must remain to be measured",
		 nr, 2 * w->plan.noise_pairs);
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
		return range(why, why_size, w,
			     "the least length (m) must not exceed the largest (M)");
	if ((u64)w->most * w->unit_bytes > NETTEST_LEN_MAX)
		return range(why, why_size, w, "the largest length (M) must be at most 64 MiB");
	w->plan.least = w->least * w->unit_bytes;
	w->plan.most = w->most * w->unit_bytes;
	w->plan.step = (u32)min_t(u64, (u64)w->step * w->unit_bytes, UINT32_MAX);
	rc = nettest_plan_check(&w->plan);
	if (rc == -E2BIG)
		return range(why, why_size, w, "too many lengths and repeats");
	return rc ? range(why, why_size, w, "this combination is not possible") : 0;
}
