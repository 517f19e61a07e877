/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The patterns of selection policies, as text and as the words of ioctls, one end after another. */
#include "plat.h"
#include <uapi/lnet_ioctl.h>
#include "names/names.h"

int lnet_udsp_pattern_parse(struct lnet_nidlist *list, bool *is_net, const char *text)
{
	char all[LNET_UDSP_TEXT + 2];

	*is_net = !strchr(text, '@');
	if (strchr(text, ' '))
		return -EINVAL;
	scnprintf(all, sizeof(all), "%s%s", *is_net ? "*@" : "", text);
	return lnet_nidlist_parse(list, all);
}

int lnet_udsp_pattern_check(const char *text)
{
	struct lnet_nidlist list;
	bool is_net;
	int rc = lnet_udsp_pattern_parse(&list, &is_net, text);

	if (!rc)
		lnet_nidlist_free(&list);
	return rc;
}

static u32 tag_of(unsigned int end)
{
	static const char tags[LNET_NR_UDSP_ENDS][4] = LNET_IOC_UDSP_ENDS;
	u32 tag;

	memcpy(&tag, tags[end], sizeof(tag));
	return tag;
}

/* Words of an end that is not given: no expressions, no net, no ranges. */
#define NOTHING 3

static int pattern_words(const char *text, u32 *words)
{
	struct lnet_nidlist list;
	bool net_alone;
	int rc;

	if (!text[0]) {
		memset(words, 0, NOTHING * sizeof(words[0]));
		return NOTHING;
	}
	rc = lnet_udsp_pattern_parse(&list, &net_alone, text);
	if (rc)
		return rc;
	rc = lnet_nidlist_words(&list, net_alone, words, LNET_NIDLIST_WORDS);
	lnet_nidlist_free(&list);
	return rc;
}

int lnet_udsp_words(const struct lnet_udsp_rule *rule, u32 *words)
{
	unsigned int i, nr = 0;
	int rc;

	for (i = 0; i < LNET_NR_UDSP_ENDS; i++) {
		words[nr++] = tag_of(i);
		rc = pattern_words(rule->text[i], words + nr);
		if (rc < 0)
			return rc;
		nr += (unsigned int)rc;
	}
	return (int)nr;
}

int lnet_udsp_unwords(struct lnet_udsp_rule *rule, const u32 *words, unsigned int nr)
{
	unsigned int i, at = 0;
	int rc;

	for (i = 0; i < LNET_NR_UDSP_ENDS; i++) {
		if (at >= nr || words[at] != tag_of(i))
			return -EINVAL;
		at++;
		rule->text[i][0] = 0;
		rc = NOTHING;
		if (nr - at < NOTHING || words[at] || words[at + 1] || words[at + 2])
			rc = lnet_nidlist_unwords(words + at, nr - at, rule->text[i],
						  LNET_UDSP_TEXT);
		if (rc < 0)
			return rc;
		at += (unsigned int)rc;
	}
	return 0;
}
