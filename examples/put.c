/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * put OWN-NID PEER-NID TEXT: writes TEXT into the example server's memory, and waits for the ACK.
 */
#include "node.h"

static void on_put_event(const struct lnet_event *ev)
{
	if (ev->final)
		node_ends(ev);
}

int main(int argc, char **argv)
{
	/* The threshold counts the PUT and its ACK. */
	struct lnet_md_cfg md = { .threshold = 2, .cpt = -1, .handler = on_put_event };
	struct lnet_xfer x;
	struct lnet *ln;
	int rc;

	if (argc != 4 || node_start(&ln, argv[1]))
		return 1;
	md.start = argv[3];
	md.length = (uint32_t)strlen(argv[3]);
	lnet_xfer_init(&x);
	x.portal = PORTAL_TEXT;
	x.flags = LNET_ACK;
	rc = lnet_nid_parse(&x.target.nid, argv[2]);
	if (!rc)
		rc = lnet_md_bind(ln, &md, LNET_UNLINK, &x.md);
	if (!rc)
		rc = lnet_put(ln, &x);
	if (!rc)
		rc = node_wait(ln);
	if (rc)
		fprintf(stderr, "put: %s\n", strerror(-rc));
	else
		printf("taken, %u bytes at %u, after %llu us\n", node_event.mlength,
		       node_event.offset, (unsigned long long)node_event.latency_ns / 1000);
	node_end(ln);
	return rc != 0;
}
