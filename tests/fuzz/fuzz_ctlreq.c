/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of management requests: what passes the check is walked to its end without harm. */
#include "control.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static unsigned int walk(struct lnet_req r, unsigned int depth)
{
	static const char *const keys[] = { "net type", "local NI(s)", "nid" };
	struct lnet_req pairs = r;
	unsigned int nr = 0;
	struct lnet_val v;
	char text[16];
	s64 num;

	BUG_ON(depth > LNET_NL_DEPTH_MAX);
	while (lnet_req_next(&r, &v)) {
		nr++;
		BUG_ON(!lnet_val_text(&v, text, sizeof(text)) && strlen(text) >= sizeof(text));
		BUG_ON(!lnet_val_int(&v, -5, 5, &num) && (num < -5 || num > 5));
		if (v.kind == LNET_VAL_LIST)
			nr += walk(v.list, depth + 1);
	}
	while (lnet_req_pair(&pairs, keys, ARRAY_SIZE(keys), &v) >= 0)
		nr++;
	return nr;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	/* A copy of just this size: the sanitizer sees a read beyond it. */
	u8 *copy = kmemdup(data, size, GFP_KERNEL);
	struct lnet_req r;

	if (copy && !lnet_req_check(copy, size)) {
		lnet_req_init(&r, copy, size);
		BUG_ON(walk(r, 0) > size);
	}
	kfree(copy);
	return 0;
}
