/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NIDs and nets as text, and their hash. */
#include "names/names.h"

static_assert(sizeof(struct lnet_nid) == 20, "NID layout");

const struct lnet_nid LNET_NID_ANY = {
	0xff, 0xff, (__force __be16)0xffff,
	{
		(__force __be32)0xffffffff, (__force __be32)0xffffffff,
		(__force __be32)0xffffffff, (__force __be32)0xffffffff,
	},
};

const struct lnet_nid LNET_NID_LO = { .type = LNET_LND_LO };

struct net_name {
	const char *name;
	u8 type, form;
};

/* Names of networks. A parser compares them as prefixes, in this order. */
static const struct net_name net_names[] = {
	{ "lo", LNET_LND_LO, LNET_ADDR_NONE },
	{ "tcp", LNET_LND_TCP, LNET_ADDR_IP },
	{ "o2ib", LNET_LND_O2IB, LNET_ADDR_IP },
	{ "gni", LNET_LND_GNI, LNET_ADDR_NUM },
	{ "gip", LNET_LND_GIP, LNET_ADDR_IP4 },
	{ "ptlf", LNET_LND_PTLF, LNET_ADDR_NUM },
	{ "kfi", LNET_LND_KFI, LNET_ADDR_NUM },
	{ "efa", LNET_LND_EFA, LNET_ADDR_IP },
	{ "bxi3f", LNET_LND_BXI3F, LNET_ADDR_NUM },
};

/* ---- small text tools ---- */

/*
 * Appends the formatted text at @p, where the text so far ends. Returns the new end. The buffer has
 * room for the text of any NID.
 */
static __printf(2, 3) char *nid_text_append(char *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	p += vscnprintf(p, LNET_NIDSTR_SIZE, fmt, args);
	va_end(args);
	return p;
}

/*
 * Parses [text, text + len), which must be one or more digits of base @base, with a value of at
 * most @limit.
 */
static int num_parse(u32 *value, const char *text, unsigned int len, unsigned int base, u32 limit)
{
	u64 sum = 0;
	unsigned int i;

	if (!len)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		unsigned char c = text[i];
		u32 digit = isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : base;

		if (digit >= base)
			return -EINVAL;
		sum = sum * base + digit;
		if (sum > limit)
			return -EINVAL;
	}
	*value = (u32)sum;
	return 0;
}

int lnet_num_parse(u32 *value, const char *text, unsigned int len, u32 limit)
{
	if (len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return num_parse(value, text + 2, len - 2, 16, limit);
	return num_parse(value, text, len, 10, limit);
}

/* ---- nets ---- */

static const struct net_name *name_of_type(unsigned int type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(net_names); i++)
		if (net_names[i].type == type)
			return &net_names[i];
	return NULL;
}

enum lnet_addr_form lnet_net_addr_form(u32 net)
{
	const struct net_name *name = net >> 24 ? NULL : name_of_type(lnet_net_type(net));

	return name ? name->form : LNET_ADDR_UNKNOWN;
}

char *lnet_net_str(u32 net, char *buf)
{
	const struct net_name *name = name_of_type(lnet_net_type(net));

	if (!name || net >> 24)
		nid_text_append(buf, "<%u:%u>", lnet_net_type(net), lnet_net_num(net));
	else if (lnet_net_num(net))
		nid_text_append(buf, "%s%u", name->name, lnet_net_num(net));
	else
		nid_text_append(buf, "%s", name->name);
	return buf;
}

int lnet_net_parse_part(u32 *net, struct lnet_part text)
{
	unsigned int i;
	u32 num = 0;

	for (i = 0; i < ARRAY_SIZE(net_names); i++) {
		unsigned int len = strlen(net_names[i].name);

		if (len > text.len || memcmp(text.at, net_names[i].name, len))
			continue;
		if (len < text.len && (net_names[i].type == LNET_LND_LO ||
				       num_parse(&num, text.at + len, text.len - len, 10, 0xffff)))
			return -EINVAL;
		*net = lnet_net_make(net_names[i].type, num);
		return 0;
	}
	if (lnet_num_parse(&num, text.at, text.len, ~0U) || (num != LNET_NET_ANY && num >> 24) ||
	    (lnet_net_type(num) == LNET_LND_LO && lnet_net_num(num)))
		return -EINVAL;
	*net = num;
	return 0;
}

int lnet_net_parse(u32 *net, const char *text)
{
	return lnet_net_parse_part(net, lnet_part_of(text, LNET_NIDSTR_SIZE));
}

/* ---- addresses ---- */

static char *put_ip4(char *p, u32 ip)
{
	return nid_text_append(p, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff,
			       ip & 0xff);
}

int lnet_ip4_parse(u32 *ip, const char *text, unsigned int len)
{
	struct lnet_part rest = { text, len };
	u32 value, sum = 0;
	unsigned int nr;

	for (nr = 0; nr < 4; nr++) {
		bool more = lnet_part_has(&rest, '.');
		struct lnet_part byte = lnet_part_cut(&rest, '.');

		if (more != (nr < 3) || byte.len > 3 ||
		    num_parse(&value, byte.at, byte.len, 10, 255))
			return -EINVAL;
		sum = sum << 8 | value;
	}
	*ip = sum;
	return 0;
}

static char *put_ip6(char *p, const struct lnet_nid *nid)
{
	unsigned int i, run = 0, longest = 1, start = 8;
	u16 word[8];

	/*
	 * "::" replaces the first of the longest sequences of zero words, if the sequence has at
	 * least two words.
	 */
	for (i = 0; i < 8; i++) {
		word[i] = (u16)(be32_to_cpu(nid->addr[i / 2]) >> (i % 2 ? 0 : 16));
		run = word[i] ? 0 : run + 1;
		if (run > longest) {
			longest = run;
			start = i + 1 - run;
		}
	}
	for (i = 0; i < 8; i++) {
		if (i == start) {
			p = nid_text_append(p, i ? ":" : "::");
			i += longest - 1;
			if (i == 7)
				return p;
			continue;
		}
		if (i == 6 && start == 0 && longest == 5 && word[5] == 0xffff)
			return put_ip4(p, be32_to_cpu(nid->addr[3]));
		p = nid_text_append(p, i < 7 ? "%x:" : "%x", word[i]);
	}
	return p;
}

int lnet_ip6_parse(u8 ip[16], const char *text, unsigned int len)
{
	bool has_gap = false, leads = len >= 2 && text[0] == ':' && text[1] == ':';
	struct lnet_part rest = { text + leads, len - leads }, word;
	/*
	 * @nr: number of bytes of the address in the text; @before: number of those bytes that
	 * precede the "::". If the text has no "::", @before is 0.
	 */
	unsigned int before = 0, nr = 0;
	u8 bytes[16];
	u32 value;

	while (rest.len) {
		bool more = lnet_part_has(&rest, ':');

		word = lnet_part_cut(&rest, ':');
		if (!word.len) {
			if (has_gap || (!nr && !leads))
				return -EINVAL;
			has_gap = true;
			before = nr;
		} else if (word.len > 4) {	/* IPv4, which ends the text */
			if (more || nr > 12 || lnet_ip4_parse(&value, word.at, word.len))
				return -EINVAL;
			put_unaligned_be32(value, bytes + nr);
			nr += 4;
		} else {
			if ((more && !rest.len) || nr > 14 ||
			    num_parse(&value, word.at, word.len, 16, 0xffff))
				return -EINVAL;
			bytes[nr++] = (u8)(value >> 8);
			bytes[nr++] = (u8)value;
		}
	}
	if (has_gap ? nr > 14 : nr < 16)
		return -EINVAL;
	memset(ip, 0, 16);
	memcpy(ip, bytes, before);
	memcpy(ip + 16 - (nr - before), bytes + before, nr - before);
	return 0;
}

int lnet_ip_parse(u8 ip[16], struct lnet_part text, enum lnet_addr_form form)
{
	u32 ip4;

	if (form != LNET_ADDR_IP && form != LNET_ADDR_IP4)
		return -EINVAL;
	if (!lnet_ip4_parse(&ip4, text.at, text.len)) {
		put_unaligned_be32(ip4, ip);
		return 0;
	}
	if (form != LNET_ADDR_IP || lnet_ip6_parse(ip, text.at, text.len))
		return -EINVAL;
	return LNET_NID_SIZE_MAX;
}

/* ---- NIDs ---- */

static char *put_addr(char *p, const struct lnet_nid *nid)
{
	enum lnet_addr_form form = lnet_net_addr_form(lnet_nid_net(nid));
	unsigned int i, words = min(nid->size / 4 + 1, 4);

	if (form == LNET_ADDR_IP && nid->size == LNET_NID_SIZE_MAX)
		return put_ip6(p, nid);
	/* write the address as hexadecimal words, as many as it has */
	if (form == LNET_ADDR_UNKNOWN || nid->size) {
		for (i = 0; i < words; i++)
			p = nid_text_append(p, i ? ":%x" : "%x", be32_to_cpu(nid->addr[i]));
		return p;
	}
	if (form == LNET_ADDR_IP || form == LNET_ADDR_IP4)
		return put_ip4(p, be32_to_cpu(nid->addr[0]));
	return nid_text_append(p, "%u", be32_to_cpu(nid->addr[0]));
}

char *lnet_nid_str(const struct lnet_nid *nid, char *buf)
{
	if (lnet_nid_is_any(nid))
		nid_text_append(buf, "<?>");
	else
		lnet_net_str(lnet_nid_net(nid), nid_text_append(put_addr(buf, nid), "@"));
	return buf;
}

char *lnet_id_str(u32 pid, const struct lnet_nid *nid, char *buf)
{
	char *p;

	if (pid == LNET_PID_ANY)
		p = nid_text_append(buf, "LNET_PID_ANY-");
	else
		p = nid_text_append(buf, pid & LNET_PID_USERFLAG ? "U%u-" : "%u-",
				    pid & ~LNET_PID_USERFLAG);
	lnet_nid_str(nid, p);
	return buf;
}

int lnet_nid_parse(struct lnet_nid *nid, const char *text)
{
	struct lnet_part part = lnet_part_of(text, LNET_NIDSTR_SIZE), addr;
	u32 net = lnet_net_make(LNET_LND_TCP, 0), num = 0;
	bool has_net = lnet_part_has(&part, '@');
	struct lnet_nid new = { 0 };
	enum lnet_addr_form form;
	u8 *ip = (u8 *)new.addr;
	int size;

	if (!strcmp(text, "<?>")) {
		*nid = LNET_NID_ANY;
		return 0;
	}
	if (part.len == LNET_NIDSTR_SIZE)
		return -EINVAL;
	addr = lnet_part_cut(&part, '@');
	if (has_net && lnet_net_parse_part(&net, part))
		return -EINVAL;
	new.type = (u8)lnet_net_type(net);
	new.num = cpu_to_be16((u16)lnet_net_num(net));
	form = lnet_net_addr_form(net);
	if (form == LNET_ADDR_NONE || form == LNET_ADDR_NUM) {
		if (form == LNET_ADDR_NUM && lnet_num_parse(&num, addr.at, addr.len, ~0U))
			return -EINVAL;
		new.addr[0] = cpu_to_be32(num);
	} else {
		size = lnet_ip_parse(ip, addr, form);
		/* Reject a link-local address: it needs a scope, which a NID cannot have. */
		if (size < 0 || (size && ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80))
			return -EINVAL;
		new.size = (u8)size;
	}
	*nid = new;
	return 0;
}

int lnet_nid_parse_any(struct lnet_nid *nid, const char *text)
{
	return lnet_nid_parse(nid, strcmp(text, "*") ? text : "<?>");
}

/* ---- NIDs that another node claims to have ---- */

bool lnet_nid_is_host(const struct lnet_nid *nid)
{
	enum lnet_addr_form form = lnet_net_addr_form(lnet_nid_net(nid));
	u32 first = be32_to_cpu(nid->addr[0]);
	bool has_tail = nid->addr[1] | nid->addr[2] | nid->addr[3];

	if (form == LNET_ADDR_IP && nid->size == LNET_NID_SIZE_MAX)
		return (first || has_tail) && first >> 24 != 0xff;
	if (nid->size || has_tail)
		return false;
	if (form == LNET_ADDR_IP || form == LNET_ADDR_IP4)
		return first && first != ~0U && first >> 28 != 0xe;
	return form == LNET_ADDR_NUM;
}

bool lnet_nid_is_own_host(const struct lnet_nid *nid)
{
	enum lnet_addr_form form = lnet_net_addr_form(lnet_nid_net(nid));

	if (form != LNET_ADDR_IP && form != LNET_ADDR_IP4)
		return false;
	if (nid->size == LNET_NID_SIZE_MAX)
		return !(nid->addr[0] | nid->addr[1] | nid->addr[2]) &&
		       be32_to_cpu(nid->addr[3]) == 1;
	return be32_to_cpu(nid->addr[0]) >> 24 == 127;
}

u32 lnet_nid_hash(const struct lnet_nid *nid)
{
	u64 sum = (u64)lnet_nid_net(nid) << 8 | nid->size;
	unsigned int i, words = nid->size ? 4 : 1;

	for (i = 0; i < words; i++) {
		sum = (sum ^ be32_to_cpu(nid->addr[i])) * 0x9e3779b97f4a7c15ULL;
		sum ^= sum >> 32;
	}
	return (u32)sum;
}
