/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses input of operators: NID lists with ranges, lists of interfaces, CPT lists, times. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"

#define NIDS_MAX	128
#define ITEM_MAX	256
#define DAY_MS		86400000.0

struct expansion {
	struct lnetctl_node *nids;
	unsigned int nr;
	char *why;
	size_t why_size;
};

static int expansion_reject(struct expansion *x, const char *what, const char *text)
{
	snprintf(x->why, x->why_size, "%s: '%.60s' (accepted: NIDs such as "
		 "10.0.0.1@tcp,10.0.1.[2-4]@tcp)", what, text);
	return -EINVAL;
}

/*
 * Reads "lo", "lo-hi" or "lo-hi/step" at *@at, up to a comma or ']'. Numbers have the base @base.
 */
static int expand_range_parse(const char **at, int base, unsigned long *lo, unsigned long *hi,
			      unsigned long *step)
{
	char *end;

	*step = 1;
	if (!isxdigit((unsigned char)**at))
		return -EINVAL;
	*lo = *hi = strtoul(*at, &end, base);
	if (*end == '-') {
		if (!isxdigit((unsigned char)end[1]))
			return -EINVAL;
		*hi = strtoul(end + 1, &end, base);
		if (*end == '/')
			*step = strtoul(end + 1, &end, base);
	}
	*at = end;
	return *hi < *lo || !*step || (*end != ',' && *end != ']') ? -EINVAL : 0;
}

/*
 * Are host names allowed on @net? On tcp and o2ib a NID may have a host name instead of an address.
 */
static bool net_has_hosts(const char *net)
{
	return !strncmp(net, "tcp", 3) || !strncmp(net, "o2ib", 4);
}

/* Skips a process ID, with which the target of a ping may begin. */
static const char *address_begin(const char *item)
{
	const char *end = item + strspn(item, "0123456789");

	return end > item && *end == '-' ? end + 1 : item;
}

/*
 * Adds @item, which has no more brackets. Replaces a host name by its address. The node rejects an
 * invalid address.
 */
static int expansion_nid_add(struct expansion *x, const char *item)
{
	const char *begin = address_begin(item), *net = strchr(item, '@') + 1;
	char host[ITEM_MAX], addr[INET6_ADDRSTRLEN], text[2 * ITEM_MAX];

	snprintf(host, sizeof(host), "%.*s", (int)(net - 1 - begin), begin);
	if (!net_has_hosts(net) || strchr(host, ':') || !host[strspn(host, "0123456789.")])
		return lnetctl_add_text(x->nids, NULL, item) ? 0 : -ENOMEM;
	if (ctl_host_resolve(host, addr, sizeof(addr)))
		return expansion_reject(x, "host not found", host);
	snprintf(text, sizeof(text), "%.*s%s@%s", (int)(begin - item), item, addr, net);
	return lnetctl_add_text(x->nids, NULL, text) ? 0 : -ENOMEM;
}

static int item_expand(struct expansion *x, const char *item);

/* Replaces the group [@open, @close] of @item by each of its values, and expands each result. */
static int group_expand(struct expansion *x, const char *item, const char *open, const char *close)
{
	int base = strchr(item, ':') ? 16 : 10, rc = 0;
	const char *at = open + 1;

	while (!rc) {
		unsigned long val, lo, hi, step;

		if (expand_range_parse(&at, base, &lo, &hi, &step))
			return expansion_reject(x, "not a range", item);
		for (val = lo; !rc && val <= hi; val += step) {
			char one[ITEM_MAX];

			snprintf(one, sizeof(one), base == 16 ? "%.*s%lx%s" : "%.*s%lu%s",
				 (int)(open - item), item, val, close + 1);
			rc = item_expand(x, one);
		}
		if (at == close)
			break;
		at++;
	}
	return rc;
}

static int item_expand(struct expansion *x, const char *item)
{
	const char *open = strchr(item, '['), *close = strchr(item, ']'), *net = strchr(item, '@');

	if (strchr(item, '*') || strstr(item, "<?>"))
		return expansion_reject(x, "a list of NIDs must not have wildcards", item);
	if (!net || net == item || !net[1])
		return expansion_reject(x, "not a valid NID, which is written ADDRESS@NET", item);
	if (open && close && open < close && close < net)
		return group_expand(x, item, open, close);
	if (open || close)
		return expansion_reject(x, "opening and closing brackets do not match", item);
	if (x->nr == NIDS_MAX) {
		snprintf(x->why, x->why_size, "more NIDs than allowed (%d)", NIDS_MAX);
		return -E2BIG;
	}
	x->nr++;
	return expansion_nid_add(x, item);
}

/* Returns the length of the first item of @list. A comma in brackets does not end the item. */
static size_t item_len(const char *list)
{
	int depth = 0;
	size_t n;

	for (n = 0; list[n] && (depth > 0 || list[n] != ','); n++)
		depth += (list[n] == '[') - (list[n] == ']');
	return n;
}

int lnetctl_nids_expand(const char *list, struct lnetctl_node **nids, char *why, size_t why_size)
{
	const char *all = list;
	struct expansion x = { .nids = lnetctl_add_seq(NULL, NULL),
			       .why = why,
			       .why_size = why_size };
	int rc = x.nids ? 0 : -ENOMEM;

	*nids = NULL;
	snprintf(why, why_size, "%s", strerror(ENOMEM));
	while (!rc) {
		size_t len = item_len(list);
		char item[ITEM_MAX];

		if (!len || len >= sizeof(item)) {
			rc = expansion_reject(&x, "the list has an item that is empty or too long",
					      all);
			break;
		}
		memcpy(item, list, len);
		item[len] = 0;
		rc = item_expand(&x, item);
		if (!list[len])
			break;
		list += len + 1;
	}
	if (rc)
		lnetctl_doc_free(x.nids);
	else
		*nids = x.nids;
	return rc;
}

int ctl_cpts_add(struct lnetctl_node *map, const char *expr)
{
	struct lnetctl_node *seq = lnetctl_add_seq(map, "CPT");
	const char *at = expr + (*expr == '['), *end;
	char text[ITEM_MAX];
	int bad = 0;

	if (!seq || strlen(expr) >= sizeof(text) - 1)
		return seq ? -EINVAL : -ENOMEM;
	snprintf(text, sizeof(text), "%s%s", at, *expr == '[' ? "" : "]");
	for (end = text; !bad; end++) {
		unsigned long lo, hi, step;

		bad = expand_range_parse(&end, 10, &lo, &hi, &step) || hi > 1024;
		for (; !bad && lo <= hi; lo += step)
			lnetctl_add_num(seq, NULL, (int64_t)lo);
		if (!bad && *end == ']')
			return end[1] ? -EINVAL : 0;
	}
	return -EINVAL;
}

static bool name_good(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == 0x7f || *name == '/')
			return false;
	return true;
}

int ctl_interface_next(const char **list, char *name, size_t name_size, char *cpts,
		       size_t cpts_size)
{
	size_t len = item_len(*list), bracket = strcspn(*list, "[");
	const char *item = *list;

	if (!len)
		return 0;
	if (bracket > len)
		bracket = len;
	if (!bracket || bracket >= name_size || len - bracket >= cpts_size ||
	    (bracket < len && item[len - 1] != ']'))
		return -EINVAL;
	memcpy(name, item, bracket);
	name[bracket] = 0;
	if (!name_good(name))
		return -EINVAL;
	memcpy(cpts, item + bracket, len - bracket);
	cpts[len - bracket] = 0;
	*list += len + (item[len] == ',');
	return 1;
}

int lnetctl_ms_parse(const char *text, unsigned int *ms)
{
	double val;
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -EINVAL;
	val = strtod(text, &end);
	if (!strcmp(end, "") || !strcmp(end, "s"))
		val *= 1000;
	else if (strcmp(end, "ms"))
		return -EINVAL;
	if (!(val >= 1) || val > DAY_MS)
		return -ERANGE;
	*ms = (unsigned int)(val + 0.5);
	return 0;
}
