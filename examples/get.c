/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* get OWN-NID PEER-NID: fetches by GET the text with which the example server describes itself. */
#include "node.h"

static char text[256];

static void on_get_event(const struct lnet_event *ev)
{
	if (ev->final)
		node_ends(ev);
}

int main(int argc, char **argv)
{
	struct lnet_md_cfg md = { .start = text, .length = sizeof(text), .threshold = 2, .cpt = -1,
				  .handler = on_get_event };
	struct lnet_xfer x;
	struct lnet *ln;
	int rc;

	if (argc != 3 || node_start(&ln, argv[1]))
		return 1;
	lnet_xfer_init(&x);
	x.portal = PORTAL_HELLO;
	rc = lnet_nid_parse(&x.target.nid, argv[2]);
	if (!rc)
		rc = lnet_md_bind(ln, &md, LNET_UNLINK, &x.md);
	if (!rc)
		rc = lnet_get(ln, &x);
	if (!rc)
		rc = node_wait(ln);
	if (rc)
		fprintf(stderr, "get: %s\n", strerror(-rc));
	else
		printf("%.*s\n", (int)node_event.mlength, text);
	node_end(ln);
	return rc != 0;
}
