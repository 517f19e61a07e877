/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fault rules as text: the tables of faults.def; reads, writes and checks parameters. */
#include "plat.h"
#include "base/base.h"
#include "fault/fault.h"

enum type { NAME_, NID, NIDS, TYPES, PORTALS, OUTCOMES, NUM, TIME, WORD_AT, WORD_WHERE, WORD_WHEN };

static const char *const words_at[] = { "any", "send", "receive", NULL };
static const char *const words_where[] = { "bit", "pages", NULL };
static const char *const words_when[] = { "before", "posted", "completed", NULL };
static const char *const words_types[] = { "ACK", "PUT", "GET", "REPLY", NULL };

const char *const lnet_rule_states[] = {
	[LNET_RULE_IS_WAITING] = "waiting",
	[LNET_RULE_IS_ON] = "on",
	[LNET_RULE_IS_OFF] = "off",
	[LNET_RULE_IS_OVER] = "over",
};

struct param {
	const char *name;
	u8 type, size;
	u16 off;
	u64 min, max;
};

static const struct param params[] = {
#define NAME NAME_
#define FAULT_PARAM(id, name_, type_, member, min_, max_, text)					\
	[LNET_RULE_##id] = { name_, type_, (u8)sizeof(((struct lnet_rule *)0)->member),		\
			     offsetof(struct lnet_rule, member), min_, max_ },
#define FAULT_KIND(id, ...)
#include "fault/faults.def"
#undef FAULT_PARAM
#undef FAULT_KIND
#undef NAME
};

/* Sets of parameters. */
enum {
#define FAULT_PARAM(id, ...) P_##id = 1u << LNET_RULE_##id,
#define FAULT_KIND(id, ...)
#include "fault/faults.def"
#undef FAULT_PARAM
#undef FAULT_KIND
	P_WHO = P_SOURCE | P_DEST | P_LOCAL,
	P_WHAT = P_MESSAGE | P_PORTAL,
	P_CHANCE = P_RATE | P_INTERVAL | P_PERMILLE | P_COUNT | P_SEED,
	P_PLAN = P_FROM | P_TO | P_PERIOD | P_DUTY,
};

static const struct kind {
	const char *name;
	u8 sides;
	u32 may, must;
} kinds[] = {
#define FAULT_PARAM(id, ...)
#define FAULT_KIND(id, name_, sides_, may_, must_, text)					\
	[LNET_RULE_K_##id] = { name_, sides_, P_NAME | (may_), must_ },
#include "fault/faults.def"
#undef FAULT_PARAM
#undef FAULT_KIND
	[LNET_RULE_K_STOCK_DROP] = { "drop", LNET_RULE_BOTH, P_SEED, 0 },
	[LNET_RULE_K_STOCK_DELAY] = { "delay", LNET_RULE_SEND, P_SEED, 0 },
};

#define fail(err, ...) (scnprintf(err, LNET_RULE_ERR, __VA_ARGS__), -EINVAL)

enum lnet_rule_kind lnet_rule_kind_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < LNET_NR_RULE_KINDS && strcmp(kinds[i].name, name); i++)
		;
	return i;
}

const char *lnet_rule_kind_name(enum lnet_rule_kind kind)
{
	return kinds[kind].name;
}

unsigned int lnet_rule_sides(enum lnet_rule_kind kind)
{
	return kinds[kind].sides;
}

bool lnet_rule_may(enum lnet_rule_kind kind, enum lnet_rule_param param)
{
	return kinds[kind].may & 1u << param;
}

const char *lnet_rule_param_name(enum lnet_rule_param param)
{
	return params[param].name;
}

enum lnet_rule_param lnet_rule_param_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < LNET_NR_RULE_PARAMS && strcmp(params[i].name, name); i++)
		;
	return i;
}

void lnet_rule_init(struct lnet_rule *r, enum lnet_rule_kind kind)
{
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->src = r->dst = r->local = LNET_NID_ANY;
	r->duty = 500;
	r->behind = 1;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const struct { const char *name; u64 ns; } units[] = {
	{ "h", 3600 * (u64)NSEC_PER_SEC }, { "m", 60 * (u64)NSEC_PER_SEC }, { "s", NSEC_PER_SEC },
	{ "ms", NSEC_PER_MSEC }, { "us", NSEC_PER_USEC }, { "ns", 1 },
};

static void store(const struct param *p, void *at, u64 value)
{
	if (p->size == sizeof(u64))
		*(u64 *)at = value;
	else
		*(u32 *)at = (u32)value;
}

static u64 load(const struct param *p, const void *at)
{
	return p->size == sizeof(u64) ? *(const u64 *)at : *(const u32 *)at;
}

static int set_num(const struct param *p, void *at, const char *text, char *err)
{
	unsigned long long value;

	if (kstrtoull(text, 10, &value) || value < p->min || value > p->max)
		return fail(err, "'%s' must be %llu to %llu, not '%s'", p->name,
			    (unsigned long long)p->min, (unsigned long long)p->max, text);
	store(p, at, value);
	return 0;
}

/*
 * Reads the digits at *@text, and sets *@text to the character behind them. False: no digits, or
 * more than 18.
 */
static bool digits(const char **text, u64 *value)
{
	const char *at = *text;

	for (*value = 0; *at >= '0' && *at <= '9'; at++)
		if (at - *text == 18)
			return false;
		else
			*value = *value * 10 + (u64)(*at - '0');
	if (at == *text)
		return false;
	*text = at;
	return true;
}

static int time_refuse(const struct param *p, const char *text, char *err)
{
	return fail(err,
		    "'%s' must be %lluns to %lluh, with a unit (ns, us, ms, s, m or h), not '%s'",
		    p->name, (unsigned long long)p->min,
		    (unsigned long long)div64_u64(p->max, units[0].ns), text);
}

static int set_time(const struct param *p, void *at, const char *text, char *err)
{
	const char *rest = text;
	unsigned int i;
	u64 value, ns;

	if (!digits(&rest, &value))
		return time_refuse(p, text, err);
	for (i = 0; i < ARRAY_SIZE(units) && strcmp(units[i].name, rest); i++)
		;
	if (i == ARRAY_SIZE(units) || check_mul_overflow(value, units[i].ns, &ns) || ns < p->min ||
	    ns > p->max)
		return time_refuse(p, text, err);
	store(p, at, ns);
	return 0;
}

static int word_find(const char *const *words, const char *text)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	return -1;
}

static const char *const *param_words(const struct param *p)
{
	if (p->type == WORD_AT)
		return words_at;
	return p->type == WORD_WHERE ? words_where : words_when;
}

static int set_word(const struct param *p, void *at, const char *text, char *err)
{
	const char *const *words = param_words(p);
	int i = word_find(words, text);

	if (i < 0)
		return fail(err, "'%s' must be %s%s%s or %s, not '%s'", p->name, words[0],
			    words[2] ? ", " : "", words[2] ? words[1] : "",
			    words[2] ? words[2] : words[1], text);
	*(u8 *)at = (u8)i;
	return 0;
}

static int nid_parse(const struct param *p, struct lnet_nid *nid, const char *text, char *err)
{
	char buf[LNET_NIDSTR_SIZE + 16];
	bool net = text[0] == '*' && text[1] == '@';

	scnprintf(buf, sizeof(buf), "%s%s", net ? "255.255.255.255" : "", net ? text + 1 : text);
	if (strlen(text) >= LNET_NIDSTR_SIZE || lnet_nid_parse_any(nid, buf))
		return fail(err, "'%s': '%.60s' is not a valid NID, *@net or *", p->name, text);
	return 0;
}

static int set_name(const struct param *p, char *at, const char *text, char *err)
{
	const char *c;

	for (c = text; (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		       (*c >= '0' && *c <= '9') || *c == '-' || *c == '_' || *c == '.'; c++)
		;
	if (*c || c == text || c - text >= p->size)
		return fail(err, "'%s' must be up to %d letters, digits, . - _, not '%.40s'",
			    p->name, p->size - 1, text);
	strscpy(at, text, p->size);
	return 0;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Copies the next item of a comma-separated list. False: no item is left, or it is too long. */
static bool list_item_next(const char **list, char *buf, size_t size)
{
	size_t len = 0;

	if (!*list)
		return false;
	while ((*list)[len] && (*list)[len] != ',')
		len++;
	if (len >= size)
		return false;
	memcpy(buf, *list, len);
	buf[len] = 0;
	*list = (*list)[len] ? *list + len + 1 : NULL;
	return true;
}

static int rule_nid_add(const struct param *p, struct lnet_rule_nids *nids, const char *one,
			char *err)
{
	if (nids->nr == LNET_RULE_NIDS)
		return fail(err, "'%s' must be at most %u NIDs", p->name, LNET_RULE_NIDS);
	return nid_parse(p, &nids->nid[nids->nr++], one, err);
}

static int add_type(const struct param *p, u32 *types, const char *one, char *err)
{
	int i = word_find(words_types, one);

	if (i < 0)
		return fail(err, "'%s' must be PUT, ACK, GET or REPLY, not '%s'", p->name, one);
	*types |= 1u << i;
	return 0;
}

static int add_portal(const struct param *p, u64 *portals, const char *one, char *err)
{
	unsigned int portal;

	if (kstrtouint(one, 10, &portal) || portal > p->max)
		return fail(err, "'%s' must be a portal from 0 to 63, not '%s'", p->name, one);
	*portals |= BIT_ULL(portal);
	return 0;
}

/* Writes the accepted outcomes to @err. */
static int outcome_refuse(const struct param *p, const char *one, char *err)
{
	unsigned int i, len = scnprintf(err, LNET_RULE_ERR, "'%s' must be ", p->name);

	for (i = LNET_LOCAL_INTERRUPT; i <= LNET_NETWORK_TIMEOUT; i++)
		len += scnprintf(err + len, LNET_RULE_ERR - len, "%s%s", lnet_outcomes[i].name,
				 i == LNET_NETWORK_TIMEOUT ? "" :
				 i + 1 == LNET_NETWORK_TIMEOUT ? " or " : ", ");
	scnprintf(err + len, LNET_RULE_ERR - len, ", not '%.30s'", one);
	return -EINVAL;
}

static int add_outcome(const struct param *p, u32 *outcomes, const char *one, char *err)
{
	unsigned int i;

	for (i = LNET_LOCAL_INTERRUPT; i <= LNET_NETWORK_TIMEOUT; i++)
		if (!strcmp(lnet_outcomes[i].name, one)) {
			*outcomes |= 1u << i;
			return 0;
		}
	return outcome_refuse(p, one, err);
}

static int list_item_add(const struct param *p, void *at, const char *one, char *err)
{
	if (p->type == NIDS)
		return rule_nid_add(p, at, one, err);
	if (p->type == TYPES)
		return add_type(p, at, one, err);
	return p->type == PORTALS ? add_portal(p, at, one, err) : add_outcome(p, at, one, err);
}

static int set_list(const struct param *p, void *at, const char *text, char *err)
{
	char one[LNET_NIDSTR_SIZE];
	int rc = 0;

	memset(at, 0, p->type == NIDS ? sizeof(struct lnet_rule_nids) : p->size);
	while (!rc && list_item_next(&text, one, sizeof(one)))
		rc = list_item_add(p, at, one, err);
	if (!rc && text)
		return fail(err, "'%s': '%.40s' is too long", p->name, text);
	return rc;
}

static int set_value(const struct param *p, void *at, const char *text, char *err)
{
	if (p->type >= WORD_AT)
		return set_word(p, at, text, err);
	switch (p->type) {
	case NAME_:
		return set_name(p, at, text, err);
	case NID:
		return nid_parse(p, at, text, err);
	case NUM:
		return set_num(p, at, text, err);
	case TIME:
		return set_time(p, at, text, err);
	}
	return set_list(p, at, text, err);
}

/* Writes the parameters of rules of @kind to @err. */
static int param_refuse(enum lnet_rule_kind kind, const char *name, char *err)
{
	unsigned int i, len = scnprintf(err, LNET_RULE_ERR,
					"'%s' is not a parameter of '%s', which "
					"has",
					name, kinds[kind].name);

	for (i = 0; i < LNET_NR_RULE_PARAMS; i++)
		if (lnet_rule_may(kind, i))
			len += scnprintf(err + len, LNET_RULE_ERR - len, " %s", params[i].name);
	return -EINVAL;
}

int lnet_rule_set(struct lnet_rule *r, const char *name, const char *text, char *err)
{
	enum lnet_rule_param i = lnet_rule_param_find(name);

	if (i == LNET_NR_RULE_PARAMS)
		return fail(err, "'%.40s' is not a parameter of a fault rule", name);
	if (!lnet_rule_may(r->kind, i))
		return param_refuse(r->kind, name, err);
	if (r->set & 1u << i)
		return fail(err, "'%s' is given twice", name);
	if (strlen(text) > 512)
		return fail(err, "'%s' is too long: at most 512 bytes", name);
	r->set |= 1u << i;
	return set_value(&params[i], (u8 *)r + params[i].off, text, err);
}

/* ---- checks of whole rules ------------------------------------------------------------------- */

static int check_stock(const struct lnet_rule *r, char *err)
{
	if (r->kind == LNET_RULE_K_STOCK_DELAY && !r->delay_ns)
		return fail(err, "a delay rule needs a latency above 0");
	if (!r->rate == !r->interval_ns)
		return fail(err, "a rule needs either a rate or an interval of at least 1; rate is "
			    "%u, interval %u", r->rate,
			    (u32)div_u64(r->interval_ns, NSEC_PER_SEC));
	if (r->random && !r->interval_ns)
		return fail(err, "'random' needs an interval");
	if (r->kind == LNET_RULE_K_STOCK_DELAY && !lnet_nid_is_any(&r->local))
		return fail(err, "a delay rule cannot have 'local_nid'");
	if (r->outcomes && !(r->outcomes & LNET_RULE_OUTCOMES))
		return fail(err, "'health_error' must have some of the bits 1 to 10, not %#x",
			    r->outcomes);
	return 0;
}

static int check_kind(const struct lnet_rule *r, char *err)
{
	switch (r->kind) {
	case LNET_RULE_K_DEGRADE:
		if (!r->loss && !r->delay_ns)
			return fail(err, "a rule of kind 'degrade' needs 'loss' or 'delay'");
		break;
	case LNET_RULE_K_OUTCOME:
		if (!r->outcomes && !r->when)
			return fail(err, "a rule of kind 'outcome' needs the parameter 'outcome', "
					 "or 'when' posted or completed");
		break;
	case LNET_RULE_K_STOCK_DROP:
	case LNET_RULE_K_STOCK_DELAY:
		return check_stock(r, err);
	}
	return 0;
}

int lnet_rule_check(const struct lnet_rule *r, char *err)
{
	u32 missing = kinds[r->kind].must & ~r->set;

	if (missing)
		return fail(err, "a rule of kind '%s' needs '%s'", kinds[r->kind].name,
			    params[__builtin_ctz(missing)].name);
	if (hweight32(r->set & (P_RATE | P_INTERVAL | P_PERMILLE)) > 1)
		return fail(err, "at most one of 'rate', 'interval' and 'permille' may be given");
	if (r->portals && r->types && !(r->types & (1u << LNET_MSG_PUT | 1u << LNET_MSG_GET)))
		return fail(err, "'portal' needs 'message' PUT or GET");
	if (r->set & P_TO && r->to_ns <= r->from_ns)
		return fail(err, "'to' must be later than 'from'");
	if (r->set & P_DUTY && !r->period_ns)
		return fail(err, "'duty' needs 'period'");
	return check_kind(r, err);
}

/* ---- parameters as text ---------------------------------------------------------------------- */

static void text_time(u64 ns, char *buf, size_t size)
{
	unsigned int i = 0;

	while (i + 1 < ARRAY_SIZE(units) && (!ns || div64_u64(ns, units[i].ns) * units[i].ns != ns))
		i++;
	scnprintf(buf, size, "%llu%s", (unsigned long long)div64_u64(ns, units[i].ns),
		  units[i].name);
}

const char *lnet_rule_nid_text(const struct lnet_nid *nid, char *buf)
{
	const char *at;

	if (lnet_nid_is_any(nid))
		return "*";
	lnet_nid_str(nid, buf);
	at = strchr(buf, '@');
	if (!at || strncmp(buf, "255.255.255.255@", 16))
		return buf;
	buf[at - buf - 1] = '*';
	return at - 1;
}

static size_t text_nids(const struct lnet_rule_nids *nids, char *buf, size_t size)
{
	char nid[LNET_NIDSTR_SIZE];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < nids->nr; i++)
		len += scnprintf(buf + len, size - len, "%s%s", i ? "," : "",
				 lnet_rule_nid_text(&nids->nid[i], nid));
	return len;
}

/* Writes the bits of @set: portals as numbers, types and outcomes as names. */
static void text_bits(const struct param *p, u64 set, char *buf, size_t size)
{
	size_t len = 0;
	unsigned int i;

	buf[0] = 0;
	for (i = 0; i < 64; i++) {
		if (!(set & BIT_ULL(i)))
			continue;
		if (p->type == PORTALS)
			len += scnprintf(buf + len, size - len, "%s%u", len ? "," : "", i);
		else
			len += scnprintf(buf + len, size - len, "%s%s", len ? "," : "",
					 p->type == TYPES ? words_types[i] : lnet_outcomes[i].name);
	}
}

static void text_value(const struct param *p, const void *at, char *buf, size_t size)
{
	char nid[LNET_NIDSTR_SIZE];

	if (p->type >= WORD_AT)
		strscpy(buf, param_words(p)[*(const u8 *)at], size);
	else if (p->type == NAME_)
		strscpy(buf, at, size);
	else if (p->type == NID)
		strscpy(buf, lnet_rule_nid_text(at, nid), size);
	else if (p->type == NIDS)
		text_nids(at, buf, size);
	else if (p->type == TIME)
		text_time(load(p, at), buf, size);
	else if (p->type == NUM)
		scnprintf(buf, size, "%llu", (unsigned long long)load(p, at));
	else
		text_bits(p, load(p, at), buf, size);
}

bool lnet_rule_text(const struct lnet_rule *r, enum lnet_rule_param param, char *buf, size_t size)
{
	if (!(r->set & 1u << param))
		return false;
	text_value(&params[param], (const u8 *)r + params[param].off, buf, size);
	return true;
}
