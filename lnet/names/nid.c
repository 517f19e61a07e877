/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NIDs and nets as text, and their hash. */
#include "plat.h"
#include "lnet/nid.h"

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

/* Searched in this order by prefix. */
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

/* ---- small text tools: none may fail, the buffers are large enough for the longest result ---- */

static unsigned int text_len(const char *text, unsigned int max)
{
	unsigned int len = 0;

	while (len < max && text[len])
		len++;
	return len;
}

static bool text_is(const char *text, unsigned int len, const char *what)
{
	return text_len(what, len + 1) == len && !memcmp(text, what, len);
}

static char *put_text(char *p, const char *text)
{
	while (*text)
		*p++ = *text++;
	return p;
}

static char *put_num(char *p, u32 value, unsigned int base)
{
	char digits[10];
	unsigned int nr = 0;

	do {
		digits[nr++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (nr)
		*p++ = digits[--nr];
	return p;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Digits of @base only, at least one, value <= @limit; the whole of [text, text + len). */
static int num_parse(u32 *value, const char *text, unsigned int len, unsigned int base, u32 limit)
{
	u64 sum = 0;
	unsigned int i;

	if (!len)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0 || digit >= (int)base)
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

static char *put_net(char *p, u32 net)
{
	const struct net_name *name = name_of_type(lnet_net_type(net));

	if (!name || net >> 24) {
		*p++ = '<';
		p = put_num(p, lnet_net_type(net), 10);
		*p++ = ':';
		p = put_num(p, lnet_net_num(net), 10);
		*p++ = '>';
		return p;
	}
	p = put_text(p, name->name);
	if (lnet_net_num(net))
		p = put_num(p, lnet_net_num(net), 10);
	return p;
}

char *lnet_net_str(u32 net, char *buf)
{
	*put_net(buf, net) = '\0';
	return buf;
}

/* A name with or without an instance; -EINVAL also if no name fits. */
static int net_name_parse(u32 *net, const char *text, unsigned int len)
{
	unsigned int i;
	u32 num = 0;

	for (i = 0; i < ARRAY_SIZE(net_names); i++) {
		unsigned int part = text_len(net_names[i].name, 16);

		if (part > len || memcmp(text, net_names[i].name, part))
			continue;
		if (len > part && (net_names[i].type == LNET_LND_LO ||
				   num_parse(&num, text + part, len - part, 10, 0xffff)))
			return -EINVAL;
		*net = lnet_net_make(net_names[i].type, num);
		return 0;
	}
	return -EINVAL;
}

static int net_parse(u32 *net, const char *text, unsigned int len)
{
	u32 num;

	if (!net_name_parse(net, text, len))
		return 0;
	if (lnet_num_parse(&num, text, len, ~0U) || (num != LNET_NET_ANY && num >> 24))
		return -EINVAL;
	if (lnet_net_type(num) == LNET_LND_LO && lnet_net_num(num))
		return -EINVAL;
	*net = num;
	return 0;
}

int lnet_net_parse(u32 *net, const char *text)
{
	return net_parse(net, text, text_len(text, LNET_NIDSTR_SIZE));
}

/* ---- addresses ---- */

static char *put_ip4(char *p, u32 ip)
{
	int shift;

	for (shift = 24; shift >= 0; shift -= 8) {
		p = put_num(p, (ip >> shift) & 0xff, 10);
		if (shift)
			*p++ = '.';
	}
	return p;
}

int lnet_ip4_parse(u32 *ip, const char *text, unsigned int len)
{
	unsigned int nr, end;
	u32 part, sum = 0;

	for (nr = 0; nr < 4; nr++) {
		for (end = 0; end < len && text[end] != '.'; end++)
			;
		if (end > 3 || (nr < 3) != (end < len) || num_parse(&part, text, end, 10, 255))
			return -EINVAL;
		sum = sum << 8 | part;
		end += nr < 3;
		text += end;
		len -= end;
	}
	*ip = sum;
	return 0;
}

/* The longest run of zero words, the first of equals; nothing shorter than two is worth "::". */
static unsigned int zero_run(const u16 word[8], unsigned int *start)
{
	unsigned int i, run = 0, best = 1;

	for (i = 0; i < 8; i++) {
		run = word[i] ? 0 : run + 1;
		if (run > best) {
			best = run;
			*start = i + 1 - run;
		}
	}
	return best > 1 ? best : 0;
}

static char *put_ip6(char *p, const struct lnet_nid *nid)
{
	unsigned int i, start = 8, run;
	u16 word[8];

	for (i = 0; i < 4; i++) {
		word[2 * i] = (u16)(be32_to_cpu(nid->addr[i]) >> 16);
		word[2 * i + 1] = (u16)be32_to_cpu(nid->addr[i]);
	}
	run = zero_run(word, &start);
	for (i = 0; i < 8; i++) {
		if (run && i == start) {
			p = put_text(p, i ? ":" : "::");
			i += run - 1;
			if (i == 7)
				return p;
			continue;
		}
		if (i == 6 && start == 0 && run == 5 && word[5] == 0xffff)
			return put_ip4(p, be32_to_cpu(nid->addr[3]));
		p = put_num(p, word[i], 16);
		if (i < 7)
			*p++ = ':';
	}
	return p;
}

/*
 * One word of at most four hex digits, or a dotted quad where two are left: how many words, or
 * -EINVAL.
 */
static int ip6_word_parse(u16 *word, unsigned int room, const char *text, unsigned int len)
{
	u32 value;

	if (!room)
		return -EINVAL;
	if (len > 4) {
		if (room < 2 || lnet_ip4_parse(&value, text, len))
			return -EINVAL;
		word[0] = (u16)(value >> 16);
		word[1] = (u16)value;
		return 2;
	}
	if (num_parse(&value, text, len, 16, 0xffff))
		return -EINVAL;
	word[0] = (u16)value;
	return 1;
}

/*
 * Words between single colons, an empty text giving none; stops at "::", whose two bytes it leaves.
 * Returns the number of words or -EINVAL; *used is the number of bytes read.
 */
static int ip6_words_parse(u16 *word, unsigned int room, const char *text, unsigned int len,
			   unsigned int *used)
{
	unsigned int pos = 0, nr = 0;

	while (pos < len && text[pos] != ':') {
		unsigned int end = pos;
		int got;

		while (end < len && text[end] != ':')
			end++;
		got = ip6_word_parse(word + nr, room - nr, text + pos, end - pos);
		if (got < 0 || (got == 2 && end < len))
			return -EINVAL;
		nr += got;
		pos = end;
		if (pos + 1 >= len || text[pos + 1] == ':')
			break;
		pos++;
	}
	*used = pos;
	return nr;
}

int lnet_ip6_parse(u8 ip[16], const char *text, unsigned int len)
{
	u16 word[8] = { 0 }, tail[8];
	unsigned int used, i;
	int head, rest = 0;

	head = ip6_words_parse(word, 8, text, len, &used);
	if (head < 0)
		return -EINVAL;
	text += used;
	len -= used;
	if (len >= 2 && text[0] == ':' && text[1] == ':') {
		if (head == 8)
			return -EINVAL;
		rest = ip6_words_parse(tail, 7 - head, text + 2, len - 2, &used);
		if (rest < 0 || used != len - 2)
			return -EINVAL;
		memcpy(word + 8 - rest, tail, rest * sizeof(*tail));
	} else if (len || head != 8) {
		return -EINVAL;
	}
	for (i = 0; i < 8; i++) {
		ip[2 * i] = (u8)(word[i] >> 8);
		ip[2 * i + 1] = (u8)word[i];
	}
	return 0;
}

/* ---- NIDs ---- */

/* Hex words of an address on a net without a name; bytes beyond the size are not there. */
static char *put_hex_words(char *p, const struct lnet_nid *nid)
{
	unsigned int i, words = min(nid->size / 4 + 1, 4);

	for (i = 0; i < words; i++) {
		if (i)
			*p++ = ':';
		p = put_num(p, be32_to_cpu(nid->addr[i]), 16);
	}
	return p;
}

static char *put_addr(char *p, const struct lnet_nid *nid)
{
	enum lnet_addr_form form = lnet_net_addr_form(lnet_nid_net(nid));

	if (form == LNET_ADDR_IP && nid->size == LNET_NID_SIZE_MAX)
		return put_ip6(p, nid);
	if (form == LNET_ADDR_UNKNOWN || nid->size)
		return put_hex_words(p, nid);
	if (form == LNET_ADDR_IP || form == LNET_ADDR_IP4)
		return put_ip4(p, be32_to_cpu(nid->addr[0]));
	return put_num(p, be32_to_cpu(nid->addr[0]), 10);
}

static char *put_nid(char *p, const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(nid))
		return put_text(p, "<?>");
	p = put_addr(p, nid);
	*p++ = '@';
	return put_net(p, lnet_nid_net(nid));
}

char *lnet_nid_str(const struct lnet_nid *nid, char *buf)
{
	*put_nid(buf, nid) = '\0';
	return buf;
}

char *lnet_id_str(u32 pid, const struct lnet_nid *nid, char *buf)
{
	char *p = buf;

	if (pid == LNET_PID_ANY) {
		p = put_text(p, "LNET_PID_ANY");
	} else {
		if (pid & LNET_PID_USERFLAG)
			*p++ = 'U';
		p = put_num(p, pid & ~LNET_PID_USERFLAG, 10);
	}
	*p++ = '-';
	*put_nid(p, nid) = '\0';
	return buf;
}

static int ip_parse(struct lnet_nid *nid, const char *text, unsigned int len,
		    enum lnet_addr_form form)
{
	u8 ip6[16];
	u32 ip;

	if (!lnet_ip4_parse(&ip, text, len)) {
		nid->addr[0] = cpu_to_be32(ip);
		return 0;
	}
	if (form != LNET_ADDR_IP || lnet_ip6_parse(ip6, text, len))
		return -EINVAL;
	/* Link-local means nothing without a scope. */
	if (ip6[0] == 0xfe && (ip6[1] & 0xc0) == 0x80)
		return -EINVAL;
	nid->size = LNET_NID_SIZE_MAX;
	memcpy(nid->addr, ip6, sizeof(ip6));
	return 0;
}

static int addr_parse(struct lnet_nid *nid, const char *text, unsigned int len,
		      enum lnet_addr_form form)
{
	u32 num;

	switch (form) {
	case LNET_ADDR_NONE:
		return 0;
	case LNET_ADDR_IP:
	case LNET_ADDR_IP4:
		return ip_parse(nid, text, len, form);
	case LNET_ADDR_NUM:
		if (lnet_num_parse(&num, text, len, ~0U))
			return -EINVAL;
		nid->addr[0] = cpu_to_be32(num);
		return 0;
	default:
		return -EINVAL;
	}
}

int lnet_nid_parse(struct lnet_nid *nid, const char *text)
{
	unsigned int len = text_len(text, LNET_NIDSTR_SIZE), at = 0;
	u32 net = lnet_net_make(LNET_LND_TCP, 0);
	struct lnet_nid new = { 0 };

	if (text_is(text, len, "<?>")) {
		*nid = LNET_NID_ANY;
		return 0;
	}
	while (at < len && text[at] != '@')
		at++;
	if (len == LNET_NIDSTR_SIZE || (at < len && net_parse(&net, text + at + 1, len - at - 1)))
		return -EINVAL;
	new.type = (u8)lnet_net_type(net);
	new.num = cpu_to_be16((u16)lnet_net_num(net));
	if (addr_parse(&new, text, at, lnet_net_addr_form(net)))
		return -EINVAL;
	*nid = new;
	return 0;
}

int lnet_nid_parse_any(struct lnet_nid *nid, const char *text)
{
	if (text_is(text, text_len(text, 2), "*")) {
		*nid = LNET_NID_ANY;
		return 0;
	}
	return lnet_nid_parse(nid, text);
}

/* ---- NIDs that another node claims to have ---- */

static bool ip4_is_host(u32 ip)
{
	return ip && ip != ~0U && ip >> 28 != 0xe;
}

static bool ip6_is_host(const struct lnet_nid *nid)
{
	bool zero = !(nid->addr[0] | nid->addr[1] | nid->addr[2] | nid->addr[3]);

	return !zero && be32_to_cpu(nid->addr[0]) >> 24 != 0xff;
}

static bool has_tail(const struct lnet_nid *nid)
{
	return nid->addr[1] | nid->addr[2] | nid->addr[3];
}

bool lnet_nid_is_host(const struct lnet_nid *nid)
{
	enum lnet_addr_form form = lnet_net_addr_form(lnet_nid_net(nid));

	if (form == LNET_ADDR_IP && nid->size == LNET_NID_SIZE_MAX)
		return ip6_is_host(nid);
	if (nid->size || has_tail(nid))
		return false;
	if (form == LNET_ADDR_IP || form == LNET_ADDR_IP4)
		return ip4_is_host(be32_to_cpu(nid->addr[0]));
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
