/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the reply of the generic netlink controller: the number of a family, and its operations. */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include "client.h"

struct attr {
	unsigned int type;
	const unsigned char *data;
	size_t len;
};

static bool attr_next(const unsigned char **at, size_t *len, struct attr *a)
{
	struct nlattr head;
	size_t step;

	if (*len < sizeof(head))
		return false;
	memcpy(&head, *at, sizeof(head));
	if (head.nla_len < sizeof(head) || head.nla_len > *len)
		return false;
	*a = (struct attr){ head.nla_type & NLA_TYPE_MASK, *at + sizeof(head),
			    head.nla_len - sizeof(head) };
	step = NLA_ALIGN((size_t)head.nla_len);
	step = step < *len ? step : *len;
	*at += step;
	*len -= step;
	return true;
}

static uint32_t attr_number(const struct attr *a)
{
	uint32_t num = 0;

	memcpy(&num, a->data, a->len < sizeof(num) ? a->len : sizeof(num));
	return num;
}

static void bit_set(uint8_t *bits, uint32_t nr)
{
	if (nr <= UINT8_MAX)
		bits[nr / 8] |= (uint8_t)(1 << nr % 8);
}

static void op_read(struct family *f, const unsigned char *at, size_t len)
{
	uint32_t id = UINT32_MAX, flags = 0;
	struct attr a;

	while (attr_next(&at, &len, &a)) {
		if (a.type == CTRL_ATTR_OP_ID)
			id = attr_number(&a);
		else if (a.type == CTRL_ATTR_OP_FLAGS)
			flags = attr_number(&a);
	}
	if (flags & GENL_CMD_CAP_DO)
		bit_set(f->does, id);
	if (flags & GENL_CMD_CAP_DUMP)
		bit_set(f->dumps, id);
}

static void ops_read(struct family *f, const unsigned char *at, size_t len)
{
	struct attr a;

	f->listed = true;
	while (attr_next(&at, &len, &a))
		op_read(f, a.data, a.len);
}

void family_read(struct family *f, const void *attrs, size_t len)
{
	const unsigned char *at = attrs;
	struct attr a;

	while (attr_next(&at, &len, &a)) {
		if (a.type == CTRL_ATTR_FAMILY_ID)
			f->id = (uint16_t)attr_number(&a);
		else if (a.type == CTRL_ATTR_OPS)
			ops_read(f, a.data, a.len);
	}
}

bool family_has(const struct family *f, uint8_t cmd, bool dump)
{
	const uint8_t *bits = dump ? f->dumps : f->does;

	return !f->listed || bits[cmd / 8] >> cmd % 8 & 1;
}
