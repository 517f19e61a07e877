/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Selection policies of a stock module, by its ioctls. */
#include <errno.h>
#include <lnet/nid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uapi/lnet_ioctl.h>
#include "client.h"

#define NR_ENDS		3
#define MAX_WORDS	(NR_ENDS * (1 + LNET_NIDLIST_WORDS))
#define MAX_TEXT	128	/* bytes of a pattern as text, with the NUL */
#define MAX_RULES	65536	/* bound, in case a module does not end the list */

static const char tags[NR_ENDS][4] = LNET_IOC_UDSP_ENDS;
static const char *const keys[NR_ENDS] = { "src", "dst", "rte" };

/* A request: the header, directly followed by the patterns. There may be no patterns. */
struct policy {
	struct lnet_ioc_udsp u;
	uint32_t words[MAX_WORDS];
};

static int udsp_ioctl_long(const struct stock *s, unsigned int nr, struct lnet_ioc_udsp *u,
			   uint32_t bytes)
{
	u->hdr = (struct lnet_ioc_hdr){ (uint32_t)sizeof(*u) + bytes, LNET_IOC_VERSION };
	return s->ask(s->arg, LNET_IOC(nr), u);
}

static int udsp_ioctl(const struct stock *s, unsigned int nr, struct lnet_ioc_udsp *u)
{
	return udsp_ioctl_long(s, nr, u, 0);
}

/* ---- add and del ----------------------------------------------------------------------------- */

/*
 * Converts a pattern of a policy to the 32-bit words of stock's request. A net alone, without an
 * address, matches all NIDs of the net. Returns the number of words, or -errno.
 */
static int end_words(const char *text, uint32_t *words)
{
	struct lnet_nidlist list;
	char all[MAX_TEXT + 2];
	bool net_alone;
	int rc;

	if (!text || !text[0]) {
		memset(words, 0, 3 * sizeof(words[0]));
		return 3;
	}
	net_alone = !strchr(text, '@');
	if (strlen(text) >= MAX_TEXT || strchr(text, ' '))
		return -EINVAL;
	snprintf(all, sizeof(all), "%s%s", net_alone ? "*@" : "", text);
	rc = lnet_nidlist_parse(&list, all);
	if (!rc)
		rc = lnet_nidlist_words(&list, net_alone, words, LNET_NIDLIST_WORDS);
	lnet_nidlist_free(&list);
	return rc;
}

static int policy_words(const struct lnetctl_node *item, uint32_t *words, char *why, size_t size)
{
	unsigned int i, nr = 0;
	const char *text;
	int rc;

	for (i = 0; i < NR_ENDS; i++) {
		text = lnetctl_text(item, keys[i]);
		memcpy(&words[nr++], tags[i], sizeof(tags[i]));
		rc = end_words(text, words + nr);
		if (rc == -EOPNOTSUPP)
			snprintf(why, size,
				 "stock LNet does not support selection policies for '%s'", text);
		else if (rc < 0)
			snprintf(why, size, "invalid value '%s' for key '%s'", text, keys[i]);
		if (rc < 0)
			return rc;
		nr += (unsigned int)rc;
	}
	return (int)nr;
}

static int32_t idx_of(const struct lnetctl_node *item)
{
	int64_t idx = -1;

	lnetctl_num(lnetctl_find(item, "idx"), &idx);
	return (int32_t)idx;
}

static bool item_has(const struct lnetctl_node *item, const char *key)
{
	const char *text = lnetctl_text(item, key);

	return text && text[0];
}

/*
 * Checks a policy as stock's tool does, because a stock module accepts any policy. 'src' or 'dst'
 * alone has priority 0 if no priority is given. 'src' and 'rte' exclude each other.
 */
static int action_of(const struct lnetctl_node *item, struct lnet_ioc_udsp *u, char *why,
		     size_t size)
{
	const struct lnetctl_node *priority = lnetctl_find(item, "priority");
	bool src = item_has(item, "src"), rte = item_has(item, "rte");
	int64_t num = 0;

	if (src && rte) {
		snprintf(why, size, "src and rte cannot be combined");
		return -EINVAL;
	}
	u->action = LNET_IOC_UDSP_PREFER;
	if ((priority && !lnetctl_num(priority, &num)) || (!rte && src != item_has(item, "dst")))
		u->action = LNET_IOC_UDSP_PRIORITY;
	u->priority = (uint32_t)num;
	return 0;
}

static int policy_add(const struct stock *s, const struct lnetctl_node *item, char *why,
		      size_t size)
{
	struct policy p = { .u = { .idx = idx_of(item) } };
	int rc = action_of(item, &p.u, why, size);

	if (!rc)
		rc = policy_words(item, p.words, why, size);
	if (rc < 0)
		return rc;
	p.u.bulk_size = (uint32_t)rc * sizeof(p.words[0]);
	p.u.bulk = (uintptr_t)p.words;
	rc = udsp_ioctl_long(s, LNET_IOC_ADD_UDSP, &p.u, p.u.bulk_size);
	if (rc == -EALREADY)
		snprintf(why, size, "this rule is there already");
	return rc;
}

static int policy_del(const struct stock *s, const struct lnetctl_node *item, char *why,
		      size_t size)
{
	struct lnet_ioc_udsp u = { .idx = idx_of(item) };
	int rc = udsp_ioctl(s, LNET_IOC_DEL_UDSP, &u);

	if (rc == -ENOENT)
		snprintf(why, size, "there is no rule with the index %d", idx_of(item));
	return rc;
}

/* ---- show ------------------------------------------------------------------------------------ */

/*
 * Converts words back to a pattern. Returns the number of words. @text is "" if the policy has no
 * such pattern.
 */
static int policy_end_text(const uint32_t *words, unsigned int nr, const char *tag, char *text)
{
	int rc;

	text[0] = 0;
	if (nr < 4 || memcmp(words, tag, 4))
		return -EPROTO;
	if (!words[1] && !words[2] && !words[3])
		return 4;
	rc = lnet_nidlist_unwords(words + 1, nr - 1, text, MAX_TEXT);
	return rc < 0 ? -EPROTO : rc + 1;
}

static int policy_show(const struct lnet_ioc_udsp *u, const uint32_t *words, unsigned int nr,
		       struct lnetctl_node *item)
{
	struct lnetctl_node *action;
	char text[MAX_TEXT];
	unsigned int i;
	int rc;

	for (i = 0; i < NR_ENDS; i++) {
		rc = policy_end_text(words, nr, tags[i], text);
		if (rc < 0)
			return rc;
		words += rc;
		nr -= (unsigned int)rc;
		if (text[0] && !lnetctl_add_text(item, keys[i], text))
			return -ENOMEM;
	}
	if (u->action != LNET_IOC_UDSP_PRIORITY)
		return 0;
	action = lnetctl_add_map(item, "action");
	return action && lnetctl_add_num(action, "priority", u->priority) ? 0 : -ENOMEM;
}

static int policy_read(const struct stock *s, int32_t idx, struct lnetctl_node *item,
		       uint32_t *words, uint32_t bytes)
{
	struct lnet_ioc_udsp u = { .idx = idx, .bulk_size = bytes, .bulk = (uintptr_t)words };
	int rc = udsp_ioctl(s, LNET_IOC_GET_UDSP, &u);

	if (!rc && !lnetctl_add_num(item, "idx", idx))
		rc = -ENOMEM;
	return rc ? rc : policy_show(&u, words, bytes / sizeof(words[0]), item);
}

/*
 * Returns the bytes of the patterns. The module reports a size that includes the header, but
 * accepts the size of the patterns alone.
 */
static int policy_bytes(const struct stock *s, int32_t idx, uint32_t *bytes)
{
	struct lnet_ioc_udsp u = { .idx = idx };
	int rc = udsp_ioctl(s, LNET_IOC_GET_UDSP_SIZE, &u);

	*bytes = (uint32_t)u.idx - (uint32_t)sizeof(u);
	return rc ? rc : *bytes && *bytes <= LNET_IOC_LEN_MAX ? 0 : -EPROTO;
}

static int show_one(const struct stock *s, int32_t idx, struct lnetctl_node *seq, uint32_t bytes)
{
	struct lnetctl_node *item = seq ? lnetctl_add_map(seq, NULL) : NULL;
	uint32_t *words = calloc(1, bytes);
	int rc = item && words ? policy_read(s, idx, item, words, bytes) : -ENOMEM;

	free(words);
	return rc;
}

/* Shows the policies. Prints nothing if there are none. */
static int policies_show(const struct stock *s, int32_t only, struct lnetctl_node *doc)
{
	struct lnetctl_node *seq = NULL;
	int32_t idx = only < 0 ? 0 : only;
	uint32_t bytes;
	int rc = 0;

	for (; !rc && idx < MAX_RULES; idx++) {
		rc = policy_bytes(s, idx, &bytes);
		if (rc)
			break;
		seq = seq ? seq : lnetctl_add_seq(doc, "udsp");
		rc = show_one(s, idx, seq, bytes);
		if (!rc && only >= 0)
			break;
	}
	return rc == -ENOENT ? 0 : rc;
}

int stock_udsp(const struct stock *s, const struct ctl_op *op, const struct lnetctl_node *body,
	       struct reply *reply, char *why, size_t size)
{
	const struct lnetctl_node *item = body ? body->first : NULL;

	if ((op->flags & LNET_NL_F_DUMP) == LNET_NL_F_DUMP)
		return policies_show(s, idx_of(item), reply->doc);
	if (!item)
		return -EINVAL;
	return op->flags & LNET_NL_F_CREATE ? policy_add(s, item, why, size)
					    : policy_del(s, item, why, size);
}
