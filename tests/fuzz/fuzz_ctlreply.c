/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of management replies: tables and values of any content become a document that prints. */
#include <stdio.h>
#include "plat.h"
#include "utils/lib/client.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* Messages: a byte of flags, two of length, the attributes. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static FILE *null;
	struct lnetctl_node *doc;
	struct reply r;
	size_t at = 0;

	if (!null)
		null = fopen("/dev/null", "w");
	if (reply_init(&r))
		return 0;
	while (at + 3 <= size) {
		size_t len = (size_t)(data[at + 1] | data[at + 2] << 8);
		u16 flags = data[at] & 1 ? LNET_NL_F_CREATE : data[at] & 2 ? LNET_NL_F_CONT : 0;
		u8 *copy;

		len = len < size - at - 3 ? len : size - at - 3;
		copy = kmemdup(data + at + 3, len, GFP_KERNEL);
		if (copy)
			reply_feed(&r, flags, copy, len);
		kfree(copy);
		at += 3 + len;
	}
	doc = reply_finish(&r);
	lnetctl_print(doc, LNETCTL_WIDE, null);
	lnetctl_print(doc, LNETCTL_JSON, null);
	lnetctl_doc_free(doc);
	return 0;
}
