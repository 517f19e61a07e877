/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* interfaces [NODE]: prints NID and status of each interface of a node, by liblnetctl. */
#include <lnet/lnetctl.h>
#include <stdlib.h>

static void net_print(const struct lnetctl_node *net)
{
	const struct lnetctl_node *nis = lnetctl_find(net, "local NI(s)"), *ni;

	for (ni = nis ? nis->first : NULL; ni; ni = ni->next)
		printf("%s %s\n", lnetctl_text(ni, "nid"), lnetctl_text(ni, "status"));
}

int main(int argc, char **argv)
{
	struct lnetctl_node *doc, *nets, *net;
	struct lnetctl *c;
	char why[480];
	int rc;

	c = lnetctl_open(argc > 1 ? argv[1] : NULL, &rc, why, sizeof(why));
	if (!c) {
		fprintf(stderr, "interfaces: %s\n", why);
		return EXIT_FAILURE;
	}
	rc = lnetctl_net_show(c, NULL, 0, false, &doc);
	if (rc)
		lnetctl_error_print(c, stderr);
	nets = rc ? NULL : lnetctl_find(doc, "net");
	for (net = nets ? nets->first : NULL; net; net = net->next)
		net_print(net);
	lnetctl_doc_free(doc);
	lnetctl_close(c);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
