/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of configuration files: what is read becomes well-formed attributes, and prints. */
#include <stdio.h>
#include "control.h"
#include "utils/lib/client.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
	struct lnetctl_node *doc;
	struct request r;
	char why[100];

	if (!in)
		return 0;
	if (!lnetctl_yaml_read(in, &doc, why, sizeof(why))) {
		/* The reader takes deeper files than the protocol carries. */
		if (!request_encode(&r, doc))
			lnet_req_check(r.buf, r.len);
		request_free(&r);
		lnetctl_doc_free(doc);
	} else {
		BUG_ON(doc);
	}
	fclose(in);
	return 0;
}
