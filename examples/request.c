/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* request OWN-NID PEER-NID TEXT: sends a request to the example server and waits for its answer. */
#include "node.h"

#define BITS 0x1234	/* match bits of the answer, which identify its request */

static char answer[256];

static void on_answer(const struct lnet_event *ev)
{
	if (ev->kind == LNET_EVENT_PUT)
		node_ends(ev);
}

/* Ends the program only if the request failed. After a success, the answer ends the program. */
static void on_request_final(const struct lnet_event *ev)
{
	if (ev->final && ev->status)
		node_ends(ev);
}

int main(int argc, char **argv)
{
	struct lnet_md_cfg in = { .start = answer, .length = sizeof(answer), .threshold = 1,
				  .cpt = -1, .options = LNET_MD_OP_PUT, .handler = on_answer };
	struct lnet_md_cfg md = { .threshold = 2, .cpt = -1, .handler = on_request_final };
	struct lnet_xfer x;
	struct lnet *ln;
	int rc;

	if (argc != 4 || node_start(&ln, argv[1]))
		return 1;
	md.start = argv[3];
	md.length = (uint32_t)strlen(argv[3]);
	lnet_xfer_init(&x);
	x.portal = PORTAL_REQUEST;
	x.hdr_data = BITS;
	x.flags = LNET_ACK;
	rc = lnet_nid_parse(&x.target.nid, argv[2]);
	if (!rc)	/* posted before the request, because the answer may be fast */
		rc = node_post(ln, PORTAL_ANSWER, BITS, &in);
	if (!rc)
		rc = lnet_md_bind(ln, &md, LNET_UNLINK, &x.md);
	if (!rc)
		rc = lnet_put(ln, &x);
	if (!rc)
		rc = node_wait(ln);
	if (rc)
		fprintf(stderr, "request: %s\n", strerror(-rc));
	else
		printf("%.*s\n", (int)node_event.mlength, answer);
	node_end(ln);
	return rc != 0;
}
