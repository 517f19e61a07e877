/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Attributes of a request as words that a test can compare. */
#ifndef TESTS_UNIT_WORDS_H
#define TESTS_UNIT_WORDS_H

#include "control/control.h"

/* Writes "text", #number, { list }; returns the length. */
static inline size_t words(const void *attrs, size_t len, char *out, size_t size)
{
	struct lnet_req r;
	struct lnet_val v;
	size_t n = 0;

	out[0] = 0;
	lnet_req_init(&r, attrs, len);
	while (lnet_req_next(&r, &v) && n + 8 < size) {
		if (v.kind == LNET_VAL_TEXT) {
			n += (size_t)scnprintf(out + n, size - n, "\"%s\" ", v.text);
		} else if (v.kind == LNET_VAL_INT) {
			n += (size_t)scnprintf(out + n, size - n, "#%lld ", v.num);
		} else {
			n += (size_t)scnprintf(out + n, size - n, "{ ");
			n += words(v.list.at, (size_t)(v.list.end - v.list.at), out + n, size - n);
			n += (size_t)scnprintf(out + n, size - n, "} ");
		}
	}
	return n;
}

#endif
