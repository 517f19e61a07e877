/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests: checks that the attributes of a client are well formed, and reads them. Also reads
 * values that several commands need.
 */
#include "control/command.h"

#define ATTR_ALIGN(n) (((n) + 3u) & ~3u)

struct attr {
	u16 len, type;		/* @len: length with this header; @type: type without the flags */
	const u8 *data;
	size_t data_len;
};

/*
 * Reads the attribute at @at. Returns the distance to the next attribute. Returns 0 if there is no
 * attribute at @at, or if it extends beyond @end.
 */
static size_t req_attr_read(const u8 *at, const u8 *end, struct attr *a)
{
	size_t room = (size_t)(end - at), step;

	if (room < LNET_NL_ATTR_HDR)
		return 0;
	memcpy(&a->len, at, 2);
	memcpy(&a->type, at + 2, 2);
	if (a->len < LNET_NL_ATTR_HDR || a->len > room)
		return 0;
	a->type &= LNET_NL_TYPE_MASK;
	a->data = at + LNET_NL_ATTR_HDR;
	a->data_len = a->len - LNET_NL_ATTR_HDR;
	step = ATTR_ALIGN(a->len);
	return step < room ? step : room;
}

static bool attr_valid(const struct attr *a)
{
	if (a->type == LNET_NLA_INT_VALUE)
		return a->data_len == 8;
	if (a->type != LNET_NLA_VALUE)
		return true;
	return a->data_len > 0 && a->data[a->data_len - 1] == 0;
}

/*
 * Keeps the ends of the open lists on a stack. The content of a list directly follows its header,
 * so one pointer advances through all levels.
 */
int lnet_req_check(const void *attrs, size_t len)
{
	const u8 *at = attrs, *ends[LNET_NL_DEPTH_MAX + 1];
	unsigned int depth = 0;
	struct attr a;

	if (!len)
		return 0;
	ends[0] = at + len;
	for (;;) {
		size_t step;

		while (depth && at == ends[depth])
			depth--;
		if (at == ends[0])
			return 0;
		step = req_attr_read(at, ends[depth], &a);
		if (!step || !attr_valid(&a))
			return -EINVAL;
		if (a.type != LNET_NLA_LIST) {
			at += step;
			continue;
		}
		if (depth == LNET_NL_DEPTH_MAX || (a.len & 3))
			return -EINVAL;
		ends[++depth] = at + a.len;
		at = a.data;
	}
}

void lnet_req_init(struct lnet_req *r, const void *attrs, size_t len)
{
	r->at = attrs;
	r->end = len ? r->at + len : r->at;
}

bool lnet_req_next(struct lnet_req *r, struct lnet_val *v)
{
	struct attr a;
	size_t step;

	while ((step = req_attr_read(r->at, r->end, &a))) {
		r->at += step;
		memset(v, 0, sizeof(*v));
		switch (a.type) {
		case LNET_NLA_VALUE:
			v->kind = LNET_VAL_TEXT;
			v->text = (const char *)a.data;
			return true;
		case LNET_NLA_INT_VALUE:
			v->kind = LNET_VAL_INT;
			memcpy(&v->num, a.data, sizeof(v->num));
			return true;
		case LNET_NLA_LIST:
			v->kind = LNET_VAL_LIST;
			lnet_req_init(&v->list, a.data, a.data_len);
			return true;
		}
	}
	return false;
}

/* Returns @text without spaces at its ends, and without newlines at its end. */
static const char *text_trim(const char *text, size_t *len)
{
	size_t n;

	while (*text == ' ')
		text++;
	n = strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\n'))
		n--;
	*len = n;
	return text;
}

bool lnet_req_find(struct lnet_req r, const char *key, struct lnet_val *v)
{
	struct lnet_val k, val;
	const char *text;
	bool found = false;
	size_t len;

	while (lnet_req_next(&r, &k)) {
		if (k.kind != LNET_VAL_TEXT)
			continue;
		text = text_trim(k.text, &len);
		if (strlen(key) != len || memcmp(key, text, len))
			continue;
		if (!lnet_req_next(&r, &val))
			break;
		*v = val;
		found = true;
	}
	return found;
}

bool lnet_req_item(struct lnet_req *r, struct lnet_req *item)
{
	struct lnet_val v;

	while (lnet_req_next(r, &v)) {
		if (v.kind != LNET_VAL_LIST)
			continue;
		*item = v.list;
		return true;
	}
	return false;
}

int lnet_val_text(const struct lnet_val *v, char *buf, size_t size)
{
	const char *text;
	size_t len;

	if (v->kind == LNET_VAL_LIST)
		return -EINVAL;
	if (v->kind == LNET_VAL_INT)
		return (size_t)scnprintf(buf, size, "%lld", v->num) + 1 < size ? 0 : -ENAMETOOLONG;
	text = text_trim(v->text, &len);
	if (!len)
		return -EINVAL;
	if (len >= size)
		return -ENAMETOOLONG;
	memcpy(buf, text, len);
	buf[len] = 0;
	return 0;
}

int lnet_val_int(const struct lnet_val *v, s64 min, s64 max, s64 *num)
{
	char buf[32];
	s64 val = v->num;
	int rc;

	if (v->kind != LNET_VAL_INT) {
		rc = lnet_val_text(v, buf, sizeof(buf));
		if (!rc)
			rc = kstrtoll(buf, 0, &val);
		if (rc)
			return rc == -ERANGE ? -ERANGE : -EINVAL;
	}
	if (val < min || val > max)
		return -ERANGE;
	*num = val;
	return 0;
}

/* ---- values that commands share -------------------------------------------------------------- */

bool lnet_ctl_items(const struct lnet_ctl_req *req, struct lnet_req *items)
{
	struct lnet_req all = lnet_ctl_attrs(req);

	return lnet_req_item(&all, items);
}

bool lnet_ctl_first(const struct lnet_ctl_req *req, struct lnet_req *item)
{
	struct lnet_req items;

	return lnet_ctl_items(req, &items) && lnet_req_item(&items, item);
}

static int value_reject(const struct lnet_field *f, const struct lnet_val *v, int rc,
			struct lnet_ctl_err *e)
{
	char range[48], value[LNET_UDSP_TEXT] = "a list";
	const char *quote = v->kind == LNET_VAL_TEXT ? "'" : "", *accepted = f->text, *text;
	size_t len;

	if (v->kind == LNET_VAL_INT) {
		scnprintf(value, sizeof(value), "%lld", (long long)v->num);
	} else if (v->kind == LNET_VAL_TEXT) {
		text = text_trim(v->text, &len);
		len = min(len, sizeof(value) - 1);
		scnprintf(value, sizeof(value), "%.*s", (int)len, text);
	}
	scnprintf(range, sizeof(range), "%lld to %lld", (long long)f->min, (long long)f->max);
	accepted = accepted ? accepted : range;
	if (f->stock)
		return lnet_ctl_fail(e, rc, "invalid value '%s' for key '%s': it must be %s",
				     value, f->key, accepted);
	return lnet_ctl_fail(e, rc, "'%s' must be %s, not %s%s%s", f->key, accepted, quote, value,
			     quote);
}

static int num_read(const struct lnet_field *f, const struct lnet_val *v, void *to,
		    struct lnet_ctl_err *e)
{
	s64 num;
	int rc = lnet_val_int(v, S64_MIN, S64_MAX, &num);

	if (!rc && (num < f->min || num > f->max) && (f->kind != LNET_FIELD_NUM_DEF || num != -1))
		rc = -ERANGE;
	if (rc)
		return value_reject(f, v, rc == -ERANGE && f->range_err ? f->range_err : -EINVAL,
				    e);
	if (f->size == 1)
		*(u8 *)to = (u8)num;
	else if (f->size == 4)
		*(u32 *)to = (u32)num;
	else
		*(u64 *)to = (u64)num;
	return 0;
}

static int text_read(const struct lnet_field *f, const struct lnet_val *v, char *to,
		     struct lnet_ctl_err *e)
{
	int rc = lnet_val_text(v, to, f->size);

	if (!rc && f->check)
		rc = f->check(to);
	return rc && rc != -ENOMEM ? value_reject(f, v, -EINVAL, e) : rc;
}

/*
 * Clients send *@net as 255.255.255.255@net, which is the pattern for any NID on the net. If such a
 * text cannot be parsed, the error text shows it as the user wrote it.
 */
static int nid_read(const struct lnet_field *f, const struct lnet_val *v, struct lnet_nid *nid,
		    struct lnet_ctl_err *e)
{
	char text[LNET_NIDSTR_SIZE] = "";
	unsigned int every;
	int rc = lnet_val_text(v, text, sizeof(text));

	if (!rc && !lnet_nid_parse(nid, text))
		return 0;
	if (f->kind == LNET_FIELD_NIDS) {
		every = strncmp(text, "255.255.255.255@", 16) ? 0 : 15;
		return lnet_ctl_fail(e, -EINVAL, "'%s%s' is not a valid NID, *@net or *",
				     every ? "*" : "", text + every);
	}
	if (rc)
		return lnet_ctl_fail(e, -EINVAL, "'%s' must be a " LNET_CTL_A_NID, f->key);
	return lnet_ctl_fail(e, -EINVAL, "'%s' is not a valid " LNET_CTL_A_NID, text);
}

static int net_read(const struct lnet_field *f, const struct lnet_val *v, u32 *net,
		    struct lnet_ctl_err *e)
{
	char text[LNET_NIDSTR_SIZE];

	if (lnet_val_text(v, text, sizeof(text)))
		return lnet_ctl_fail(e, -EINVAL, "'%s' must be a " LNET_CTL_A_NET, f->key);
	if (f->kind == LNET_FIELD_NETS && !strcmp(text, "<255:65535>")) {
		*net = LNET_NET_ANY;
		return 0;
	}
	if (lnet_net_parse(net, text))
		return lnet_ctl_fail(e, f->range_err ? f->range_err : -EINVAL,
				     "unknown net '%s': use a " LNET_CTL_A_NET, text);
	return 0;
}

int lnet_ctl_read(struct lnet_req r, const struct lnet_field *f, void *base, struct lnet_ctl_err *e)
{
	struct lnet_val v;
	bool found;
	int rc = 0;

	for (; f->key && !rc; f++) {
		void *to = (u8 *)base + f->off;

		found = lnet_req_find(r, f->key, &v);
		if (!found && f->need)
			return lnet_ctl_fail(e, -EINVAL, "'%s' is missing", f->key);
		if (!found)
			continue;
		if (f->has)
			*(bool *)((u8 *)base + f->has) = true;
		switch (f->kind) {
		case LNET_FIELD_NUM:
		case LNET_FIELD_NUM_DEF:
			rc = num_read(f, &v, to, e);
			break;
		case LNET_FIELD_TEXT:
			rc = text_read(f, &v, to, e);
			break;
		case LNET_FIELD_NID:
		case LNET_FIELD_NIDS:
			rc = nid_read(f, &v, to, e);
			break;
		case LNET_FIELD_NET:
		case LNET_FIELD_NETS:
			rc = net_read(f, &v, to, e);
			break;
		case LNET_FIELD_LIST:
			*(struct lnet_req *)to = v.list;
			break;
		case LNET_FIELD_MAP:
			rc = lnet_ctl_read(v.list, f->sub, base, e);
		}
	}
	return rc;
}

/*
 * Reads the process ID before the NID in "12345-10.0.0.1@tcp". Sets @text to the character behind
 * the process ID.
 */
static s64 pid_take(const char **text)
{
	const char *at = *text;
	s64 pid = 0;

	while (isdigit((unsigned char)*at) && pid <= U32_MAX)
		pid = pid * 10 + (*at++ - '0');
	if (at == *text || *at != '-' || pid > U32_MAX)
		return LNET_CTL_NO_PID;
	*text = at + 1;
	return pid;
}

int lnet_ctl_targets(const struct lnet_ctl_req *req, struct lnet_ctl_target *targets,
		     struct lnet_ctl_err *e)
{
	char buf[LNET_NIDSTR_SIZE + 12];
	const char *text;
	struct lnet_req list;
	struct lnet_val v;
	int nr = 0;

	if (!lnet_ctl_items(req, &list))
		return lnet_ctl_fail(e, -ENOENT, "no NID is given");
	while (lnet_req_next(&list, &v)) {
		if (v.kind == LNET_VAL_TEXT && v.text[0] == '.')
			continue;	/* old tools end a list with "..." */
		if (nr == LNET_CTL_NIDS_MAX)
			return lnet_ctl_fail(e, -E2BIG, "more NIDs than allowed (%d)",
					     LNET_CTL_NIDS_MAX);
		text = buf;
		if (lnet_val_text(&v, buf, sizeof(buf)))
			return lnet_ctl_fail(e, -EINVAL,
					     "'nids' must be a list of NIDs such as 10.0.0.1@tcp");
		targets[nr].pid = pid_take(&text);
		if (lnet_nid_parse(&targets[nr++].nid, text))
			return lnet_ctl_fail(e, -EINVAL, "'%s' is not a valid " LNET_CTL_A_NID,
					     buf);
	}
	return nr ? nr : lnet_ctl_fail(e, -ENOENT, "no NID is given");
}
