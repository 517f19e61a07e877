/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The little languages of the module's parameters, and the interfaces that a text means. */
#include "networks.h"
#include <lnet/nid.h>
#include "core.h"

/* A net and its interfaces, called for each pair; "" is the driver's choice. */
struct sink {
	int (*net)(struct sink *s, u32 net, const char *ifname, u64 cpts);
};

/* ---- pieces ---------------------------------------------------------------------------------- */

static const char *spaces(const char *at)
{
	return skip_spaces(at);
}

static bool take(const char **at, char c)
{
	*at = spaces(*at);
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static int number(const char **at, unsigned int *value)
{
	const char *from;

	*at = from = spaces(*at);
	for (*value = 0; isdigit(**at); (*at)++) {
		*value = *value * 10 + (**at - '0');
		if (*value > U16_MAX)
			return -ERANGE;
	}
	return *at == from ? -EINVAL : 0;
}

/* n, n-m or n-m/s */
static int range(const char **at, unsigned long *bits, unsigned int nr)
{
	unsigned int i, last, step = 1;
	int rc = number(at, &i);

	last = i;
	if (!rc && take(at, '-'))
		rc = number(at, &last);
	if (!rc && take(at, '/'))
		rc = number(at, &step);
	if (rc || last < i || !step)
		return rc ? rc : -EINVAL;
	if (last >= nr)
		return -ERANGE;
	for (; bits && i <= last; i += step)
		__set_bit(i, bits);
	return 0;
}

int lnet_ranges_take(const char **at, unsigned long *bits, unsigned int nr)
{
	int rc;

	do
		rc = range(at, bits, nr);
	while (!rc && take(at, ','));
	return rc || take(at, ']') ? rc : -EINVAL;
}

/* [cpts], perhaps: else *@cpts stays. */
static int cpts_take(const char **at, u64 *cpts)
{
	DECLARE_BITMAP(bits, LNET_MAX_SHARDS) = { 0 };
	int rc;

	if (!take(at, '['))
		return 0;
	rc = lnet_ranges_take(at, bits, LNET_MAX_SHARDS);
	bitmap_to_arr64(cpts, bits, LNET_MAX_SHARDS);
	return rc;
}

/* A word that ends before one of @ends, into @buf. */
static int word(const char **at, const char *ends, char *buf, size_t size)
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

static int interfaces(const char **at, u32 net, u64 cpts, struct sink *s)
{
	char name[sizeof_field(struct lnet_ni_cfg, ifname)];
	u64 own;
	int rc;

	do {
		own = cpts;
		rc = word(at, NAME_ENDS, name, sizeof(name));
		if (!rc)
			rc = cpts_take(at, &own);
		if (!rc)
			rc = s->net(s, net, name, own);
	} while (!rc && take(at, ','));
	if (!rc && !take(at, ')'))
		rc = -EINVAL;
	return rc;
}

/* @cpts are of those that have none of their own; in the end, what stands behind them. */
static int one_pass(const char **at, u64 *cpts, struct sink *s)
{
	char name[LNET_NIDSTR_SIZE];
	u32 net;
	int rc = word(at, NAME_ENDS, name, sizeof(name));

	if (rc || lnet_net_parse(&net, name))
		return -EINVAL;
	rc = take(at, '(') ? interfaces(at, net, *cpts, s) : s->net(s, net, "", *cpts);
	return rc ? rc : cpts_take(at, cpts);
}

static int no_net(struct sink *s, u32 net, const char *ifname, u64 cpts)
{
	return 0;
}

static int one_net(const char **at, struct sink *s)
{
	struct sink none = { .net = no_net };
	const char *from = *at;
	u64 cpts = 0;
	int rc = one_pass(&from, &cpts, &none);

	return rc ? rc : one_pass(at, &cpts, s);
}

static int nets(const char **at, struct sink *s)
{
	int rc;

	do
		rc = one_net(at, s);
	while (!rc && take(at, ','));
	return rc;
}

static int networks_walk(const char *text, struct sink *s)
{
	const char *at = spaces(text);
	int rc = *at ? nets(&at, s) : 0;

	return rc ? rc : *spaces(at) ? -EINVAL : 0;
}

int lnet_networks_check(const char *text)
{
	struct sink s = { .net = no_net };

	return networks_walk(text, &s);
}

/* ---- ip2nets --------------------------------------------------------------------------------- */

/* A rule: nets, then patterns of addresses, as a list of NIDs on tcp. */
static int rule_patterns(const char *at, struct lnet_nidlist *list)
{
	size_t size = LNET_NIDLIST_TEXT_MAX;
	char *buf = kmalloc(size, GFP_KERNEL), word_buf[LNET_NIDSTR_SIZE];
	size_t len = 0;
	int rc = buf ? 0 : -ENOMEM;

	for (at = spaces(at); !rc && *at; at = spaces(at)) {
		rc = word(&at, " \t\r", word_buf, sizeof(word_buf));
		if (!rc && (strchr(word_buf, '@') || len + strlen(word_buf) + 6 >= size))
			rc = -EINVAL;
		if (!rc)
			len += scnprintf(buf + len, size - len, "%s@tcp ", word_buf);
	}
	if (!rc)
		rc = len ? lnet_nidlist_parse(list, buf) : -EINVAL;
	kfree(buf);
	return rc;
}

static int rule(char *text, struct sink *s, bool (*matches)(struct sink *s,
							    const struct lnet_nidlist *list))
{
	struct sink none = { .net = no_net };
	struct lnet_nidlist list = { 0 };
	const char *at = text;
	int rc = nets(&at, &none);

	if (!rc)
		rc = rule_patterns(at, &list);
	at = text;
	if (!rc && matches(s, &list))
		rc = nets(&at, s);
	lnet_nidlist_free(&list);
	return rc;
}

/* Rules end with a semicolon or the line; from a # on the line is a comment. */
static int rules_walk(const char *text, struct sink *s,
		      bool (*matches)(struct sink *s, const struct lnet_nidlist *list))
{
	char *copy = kstrdup(text, GFP_KERNEL), *rest = copy, *line, *one;
	int rc = copy ? 0 : -ENOMEM;

	while (!rc && (line = strsep(&rest, "\n"))) {
		line[strcspn(line, "#")] = 0;
		while (!rc && (one = strsep(&line, ";")))
			if (*spaces(one))
				rc = rule(one, s, matches);
	}
	kfree(copy);
	return rc;
}

static bool never(struct sink *s, const struct lnet_nidlist *list)
{
	return false;
}

int lnet_ip2nets_check(const char *text)
{
	struct sink s = { .net = no_net };

	return rules_walk(text, &s, never);
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* The first word that an expansion stands for: tcp[1-3] -> tcp1. */
static int first_of(const char *at, char *buf, size_t size)
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
		while (isdigit(*from) && len + 1 < size)
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

/* net [net ...] [hops] gateway [gateway ...] */
static int route_check(const char *at)
{
	unsigned int nr_nets = 0, nr_gateways = 0, nr_hops = 0, hops;
	char text[LNET_NIDSTR_SIZE], first[LNET_NIDSTR_SIZE];
	u32 net;

	for (at = spaces(at); *at; at = spaces(at)) {
		if (word(&at, " \t\r", text, sizeof(text)) ||
		    first_of(text, first, sizeof(first)))
			return -EINVAL;
		if (is_gateway(first))
			nr_gateways++;
		else if (nr_gateways)
			return -EINVAL;
		else if (nr_nets && !nr_hops && !kstrtouint(first, 10, &hops) && hops - 1 < 255)
			nr_hops++;
		else if (!nr_hops && !isdigit(*first) && !lnet_net_parse(&net, first))
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

/* ---- adding ---------------------------------------------------------------------------------- */

struct adder {
	struct sink sink;
	struct lnet_netns *ns;
	struct lnet_ctl_err *e;
	struct lnet_nid *added;		/* LNET_MAX_NIS */
	unsigned int nr;
	struct lnet_nid here;		/* ip2nets: the address that matched, on tcp */
	u32 *seen;			/* ip2nets: nets that had their rule */
	unsigned int nr_seen, nr_before;
};

static struct adder *adder(struct sink *s)
{
	return container_of(s, struct adder, sink);
}

static int add_nid(struct adder *a, const struct lnet_ni_cfg *cfg)
{
	char nid[LNET_NIDSTR_SIZE];
	int rc;

	if (a->nr == LNET_MAX_NIS)
		return -ENOSPC;
	rc = lnet_ni_add(a->ns->ln, cfg);
	if (rc == -EEXIST)
		return 0;
	if (rc == -ERANGE)
		return lnet_ctl_fail(a->e, rc, "%s: CPTs of this node are 0 to %u",
				     lnet_nid_str(&cfg->nid, nid), a->ns->ln->nr_shards - 1);
	if (rc)
		return lnet_ctl_fail(a->e, rc, "cannot add %s", lnet_nid_str(&cfg->nid, nid));
	a->added[a->nr++] = cfg->nid;
	return 0;
}

static int add_net(struct sink *s, u32 net, const char *ifname, u64 cpts)
{
	struct adder *a = adder(s);
	char name[LNET_NIDSTR_SIZE];
	struct lnet_ni_cfg cfg;
	int rc;

	if (lnet_net_type(net) == LNET_LND_LO)
		return 0;
	lnet_ni_cfg_init(&cfg);
	strscpy(cfg.ifname, ifname, sizeof(cfg.ifname));
	cfg.cpts = cpts;
	rc = *ifname ? lnet_kernel_control_ops.interface_nid(a->ns, ifname, net, &cfg.nid) :
		       lnet_kernel_first_nid(a->ns, net, &cfg.nid, cfg.ifname);
	if (rc)
		return lnet_ctl_fail(a->e, rc, "%s: interface '%s' is not there or has no address",
				     lnet_net_str(net, name), ifname);
	return add_nid(a, &cfg);
}

static void undo(struct adder *a)
{
	while (a->nr)
		lnet_ni_del(a->ns->ln, &a->added[--a->nr]);
}

static int add(struct adder *a, int (*walk)(struct adder *a, const char *text), const char *text)
{
	int rc;

	a->added = kvcalloc(LNET_MAX_NIS, sizeof(*a->added), GFP_KERNEL);
	a->seen = kvcalloc(LNET_MAX_NIS, sizeof(*a->seen), GFP_KERNEL);
	rc = a->added && a->seen ? walk(a, text) : -ENOMEM;
	if (rc)
		undo(a);
	kvfree(a->added);
	kvfree(a->seen);
	return rc;
}

static int add_networks(struct adder *a, const char *text)
{
	return networks_walk(text, &a->sink);
}

int lnet_networks_add(struct lnet_netns *ns, const char *text, struct lnet_ctl_err *e)
{
	struct adder a = { .sink = { add_net }, .ns = ns, .e = e };

	return add(&a, add_networks, text);
}

/* Of each net the first rule that matches counts, with all that it says of that net. */
static int add_net_once(struct sink *s, u32 net, const char *ifname, u64 cpts)
{
	struct adder *a = adder(s);
	unsigned int i;

	for (i = 0; i < a->nr_before; i++)
		if (a->seen[i] == net)
			return 0;
	if (a->nr_seen == LNET_MAX_NIS)
		return -ENOSPC;
	a->seen[a->nr_seen++] = net;
	return add_net(s, net, ifname, cpts);
}

static bool has_address(struct sink *s, const struct lnet_nidlist *list)
{
	struct adder *a = adder(s);

	a->nr_before = a->nr_seen;
	return lnet_kernel_address_in(a->ns, list);
}

static int add_ip2nets(struct adder *a, const char *text)
{
	return rules_walk(text, &a->sink, has_address);
}

int lnet_ip2nets_add(struct lnet_netns *ns, const char *text, struct lnet_ctl_err *e)
{
	struct adder a = { .sink = { add_net_once }, .ns = ns, .e = e };

	return add(&a, add_ip2nets, text);
}
