/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of configuration files: an accepted file becomes well-formed attributes, can be printed,
 * and is imported into a node. The node's export can then be read.
 */
#include "fuzz.h"
#include "control/control.h"
#include "lnet/user/netlink.h"
#include "node.h"
#include "utils/lib/client.h"

static void check_request(const struct lnetctl_node *doc)
{
	struct request r;

	/* The reader accepts deeper files than the protocol can carry. */
	if (!request_encode(&r, doc))
		lnet_req_check(r.buf, r.len);
	request_free(&r);
}

static void check_export(struct lnetctl *c)
{
	struct lnetctl_node *doc;
	char *text = NULL, why[100];
	size_t len = 0;
	FILE *out = open_memstream(&text, &len), *in;

	if (!out)
		return;
	BUG_ON(lnetctl_export(c, LNETCTL_EXPORT_BACKUP, out));
	fclose(out);
	in = fmemopen(text, len, "r");
	if (in && lnetctl_yaml_read(in, &doc, why, sizeof(why))) {
		fprintf(stderr, "fuzz: an export cannot be read: %s\n%s\n", why, text);
		abort();
	}
	if (in) {
		lnetctl_doc_free(doc);
		fclose(in);
	}
	free(text);
}

#define FILE_OF(doc, name) &(const struct lnetctl_file){ doc, name, 0, fuzz_null() }

static void import(const struct lnetctl_node *doc, enum lnetctl_import how)
{
	struct lnet_nl_server_cfg cfg = { .name = "fuzz", .version = "0", .ln = node_begin(1) };
	struct lnetctl_node *shown = NULL;
	struct lnet_nl_server *srv;
	struct lnetctl *c;

	BUG_ON(lnet_nl_server_create(&srv, &cfg));
	c = lnetctl_open_local(lnet_nl_server_serve, srv);
	BUG_ON(!c || lnetctl_configure(c, 0));
	if (how != LNETCTL_IMPORT_ADD)
		BUG_ON(lnetctl_import(c, FILE_OF(doc, NULL), LNETCTL_IMPORT_ADD, NULL) == -EPROTO);
	if (lnetctl_import(c, FILE_OF(doc, "fuzz"), how, &shown))
		lnetctl_error_print(c, fuzz_null());
	lnetctl_print(shown, LNETCTL_WIDE, fuzz_null());
	lnetctl_doc_free(shown);
	check_export(c);
	if (!lnetctl_apply(c, FILE_OF(doc, "fuzz"), &shown))
		lnetctl_print(shown, LNETCTL_WIDE, fuzz_null());
	lnetctl_doc_free(shown);
	check_export(c);
	lnetctl_close(c);
	lnet_nl_server_destroy(srv);
	node_end(cfg.ln);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
	struct lnetctl_node *doc;
	char why[100];

	if (!in)
		return 0;
	if (!lnetctl_yaml_read(in, &doc, why, sizeof(why))) {
		check_request(doc);
		lnetctl_print(doc, LNETCTL_HAND, fuzz_null());
		import(doc, size % (LNETCTL_IMPORT_EXEC + 1));
		lnetctl_doc_free(doc);
	} else {
		BUG_ON(doc);
	}
	fclose(in);
	return 0;
}
