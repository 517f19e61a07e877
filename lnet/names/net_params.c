/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsers of the module parameters networks, ip2nets and routes. */
#include <lnet/lnet.h>
#include "model/limits.h"
#include "names/names.h"

/* ---- tokens ---------------------------------------------------------------------------------- */

static const char *spaces(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static bool param_take_char(const char **at, char c)
{
	*at = spaces(*at);
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static int param_take_number(const char **at, unsigned int *value)
{
	const char *from;

	*at = from = spaces(*at);
	for (*value = 0; isdigit((unsigned char)**at); (*at)++) {
		*value = *value * 10 + (**at - '0');
		if (*value > U16_MAX)
			return -ERANGE;
	}
	return *at == from ? -EINVAL : 0;
}

int lnet_ranges_take(const char **at, unsigned long *bits, unsigned int nr)
{
	unsigned int i, last, step;
	int rc;

	do {			/* n, n-m or n-m/s */
		rc = param_take_number(at, &i);
		last = i;
		step = 1;
		if (!rc && param_take_char(at, '-'))
			rc = param_take_number(at, &last);
		if (!rc && param_take_char(at, '/'))
			rc = param_take_number(at, &step);
		if (rc || last < i || !step)
			return rc ? rc : -EINVAL;
		if (last >= nr)
			return -ERANGE;
		for (; bits && i <= last; i += step)
			__set_bit(i, bits);
	} while (param_take_char(at, ','));
	return param_take_char(at, ']') ? 0 : -EINVAL;
}

/* Reads optional CPTs in brackets. If there are none, *@cpts does not change. */
static int cpts_take(const char **at, u64 *cpts)
{
	DECLARE_BITMAP(bits, LNET_MAX_SHARDS) = { 0 };
	unsigned int i;
	int rc;

	if (!param_take_char(at, '['))
		return 0;
	rc = lnet_ranges_take(at, bits, LNET_MAX_SHARDS);
	for (*cpts = 0, i = 0; i < LNET_MAX_SHARDS; i++)
		*cpts |= test_bit(i, bits) ? BIT_ULL(i) : 0;
	return rc;
}

/* Copies the text before the first character that is in @ends to @buf. */
static int param_take_word(const char **at, const char *ends, char *buf, size_t size)
{
	size_t len;

	*at = spaces(*at);
	len = strcspn(*at, ends);
	if (!len || len >= size)
		return -EINVAL;
	memcpy(buf, *at, len);
	buf[len] = 0;
	*at += len;
	return 0;
}

/* ---- networks -------------------------------------------------------------------------------- */

#define NAME_ENDS "()[],; \t\r\n"

static int sink_net(struct lnet_net_sink *s, u32 net, const char *ifname, u64 cpts)
{
	return s ? s->net(s, net, ifname, cpts) : 0;
}

/*
 * Reads one net, and reports each of its interfaces to @s. CPTs after the net apply to those of its
 * interfaces that have none themselves. The function stores these CPTs in *@cpts. nets() calls the
 * function once to find the CPTs, and again to report the interfaces with them.
 */
static int one_pass(const char **at, u64 *cpts, struct lnet_net_sink *s)
{
	char name[LNET_NIDSTR_SIZE], ifname[sizeof_field(struct lnet_ni_cfg, ifname)];
	u32 net;
	u64 own;
	int rc = param_take_word(at, NAME_ENDS, name, sizeof(name));

	if (rc || lnet_net_parse(&net, name))
		return -EINVAL;
	if (!param_take_char(at, '(')) {
		rc = sink_net(s, net, "", *cpts);
		return rc ? rc : cpts_take(at, cpts);
	}
	do {
		own = *cpts;
		rc = param_take_word(at, NAME_ENDS, ifname, sizeof(ifname));
		if (!rc)
			rc = cpts_take(at, &own);
		if (!rc)
			rc = sink_net(s, net, ifname, own);
	} while (!rc && param_take_char(at, ','));
	if (!rc && !param_take_char(at, ')'))
		rc = -EINVAL;
	return rc ? rc : cpts_take(at, cpts);
}

/*
 * Reads nets. It reads each net twice: the first time only for its CPTs, which follow the
 * interfaces in the text.
 */
static int nets(const char **at, struct lnet_net_sink *s)
{
	const char *from;
	u64 cpts;
	int rc;

	do {
		from = *at;
		cpts = 0;
		rc = one_pass(&from, &cpts, NULL);
		if (!rc)
			rc = one_pass(at, &cpts, s);
	} while (!rc && param_take_char(at, ','));
	return rc;
}

int lnet_networks_walk(const char *text, struct lnet_net_sink *s)
{
	const char *at = spaces(text);
	int rc = *at ? nets(&at, s) : 0;

	return rc ? rc : *spaces(at) ? -EINVAL : 0;
}

int lnet_networks_check(const char *text)
{
	return lnet_networks_walk(text, NULL);
}

/* ---- ip2nets --------------------------------------------------------------------------------- */

/*
 * Reads one rule: nets, and the address patterns that follow them. The patterns are parsed as NIDs
 * on tcp.
 */
static int rule(const char *text, struct lnet_net_sink *s)
{
	size_t size = LNET_NIDLIST_TEXT_MAX, len = 0;
	char *buf = kmalloc(size, GFP_KERNEL), pattern[LNET_NIDSTR_SIZE];
	struct lnet_nidlist list = { 0 };
	const char *at = text;
	int rc = buf ? nets(&at, NULL) : -ENOMEM;

	for (at = spaces(at); !rc && *at; at = spaces(at)) {
		rc = param_take_word(&at, " \t\r", pattern, sizeof(pattern));
		if (!rc && (strchr(pattern, '@') || len + strlen(pattern) + 6 >= size))
			rc = -EINVAL;
		if (!rc)
			len += scnprintf(buf + len, size - len, "%s@tcp ", pattern);
	}
	if (!rc)
		rc = len ? lnet_nidlist_parse(&list, buf) : -EINVAL;
	if (!rc && s && s->matches(s, &list))
		rc = nets(&text, s);
	lnet_nidlist_free(&list);
	kfree(buf);
	return rc;
}

/*
 * Reads rules. A semicolon or the end of the line ends a rule. The character # begins a comment,
 * which ends with the line.
 */
int lnet_ip2nets_walk(const char *text, struct lnet_net_sink *s)
{
	char *copy = kstrdup(text, GFP_KERNEL), *rest = copy, *line, *one;
	int rc = copy ? 0 : -ENOMEM;

	while (!rc && (line = strsep(&rest, "\n"))) {
		line[strcspn(line, "#")] = 0;
		while (!rc && (one = strsep(&line, ";")))
			if (*spaces(one))
				rc = rule(one, s);
	}
	kfree(copy);
	return rc;
}

int lnet_ip2nets_check(const char *text)
{
	return lnet_ip2nets_walk(text, NULL);
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* Copies the text @at to @buf. Replaces ranges by their first number: tcp[1-3] becomes tcp1. */
static int ranges_copy_first(const char *at, char *buf, size_t size)
{
	size_t len = 0;
	const char *from;

	while (*at) {
		if (len + 1 >= size)
			return -EINVAL;
		if (*at != '[') {
			buf[len++] = *at++;
			continue;
		}
		from = ++at;
		while (isdigit((unsigned char)*from) && len + 1 < size)
			buf[len++] = *from++;
		if (lnet_ranges_take(&at, NULL, LNET_RANGE_MAX))
			return -EINVAL;
	}
	buf[len] = 0;
	return 0;
}

static bool is_gateway(char *text)
{
	char *at = strchr(text, '@'), *colon = at ? strchr(at, ':') : NULL;
	struct lnet_nid nid;
	unsigned int priority;

	if (colon) {
		*colon = 0;
		if (kstrtouint(colon + 1, 10, &priority))
			return false;
	}
	return at && !lnet_nid_parse(&nid, text);
}

/* Checks one route: net [net ...] [hops] gateway [gateway ...] */
static int route_check(const char *at)
{
	unsigned int nr_nets = 0, nr_gateways = 0, nr_hops = 0, hops;
	char text[LNET_NIDSTR_SIZE], first[LNET_NIDSTR_SIZE];
	u32 net;

	for (at = spaces(at); *at; at = spaces(at)) {
		if (param_take_word(&at, " \t\r", text, sizeof(text)) ||
		    ranges_copy_first(text, first, sizeof(first)))
			return -EINVAL;
		if (is_gateway(first))
			nr_gateways++;
		else if (nr_gateways)
			return -EINVAL;
		else if (nr_nets && !nr_hops && !kstrtouint(first, 10, &hops) && hops - 1 < 255)
			nr_hops++;
		else if (!nr_hops && !isdigit((unsigned char)*first) &&
			 !lnet_net_parse(&net, first))
			nr_nets++;
		else
			return -EINVAL;
	}
	return nr_nets && nr_gateways ? 0 : -EINVAL;
}

int lnet_routes_check(const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL), *rest = copy, *one;
	int rc = copy ? 0 : -ENOMEM;

	while (!rc && (one = strsep(&rest, ";\n"))) {
		one[strcspn(one, "#")] = 0;
		if (*spaces(one))
			rc = route_check(one);
	}
	kfree(copy);
	return rc;
}
