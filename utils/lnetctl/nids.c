/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the interfaces of the node. Commands check NIDs against them before they change anything.
 */
#include <stdlib.h>
#include <string.h>
#include "tool.h"

static const struct lnetctl_node *list_first(const struct lnetctl_node *list)
{
	return list ? list->first : NULL;
}

const struct lnetctl_node *tool_ni_next(const struct lnetctl_node *doc,
					const struct lnetctl_node **net,
					const struct lnetctl_node *ni)
{
	ni = ni ? ni->next : NULL;
	while (!ni) {
		*net = *net ? (*net)->next : list_first(lnetctl_find(doc, "net"));
		if (!*net)
			return NULL;
		ni = list_first(lnetctl_find(*net, "local NI(s)"));
	}
	return ni;
}

bool tool_is_ni(const struct lnetctl_node *doc, const char *nid)
{
	const struct lnetctl_node *net = NULL, *ni = NULL;

	while ((ni = tool_ni_next(doc, &net, ni)))
		if (lnetctl_text(ni, "nid") && !strcmp(lnetctl_text(ni, "nid"), nid))
			return true;
	return false;
}

unsigned int tool_nis_up(const struct lnetctl_node *doc)
{
	const struct lnetctl_node *net = NULL, *ni = NULL;
	unsigned int nr = 0;

	while ((ni = tool_ni_next(doc, &net, ni))) {
		const char *nid = lnetctl_text(ni, "nid"), *status = lnetctl_text(ni, "status");

		nr += nid && status && strcmp(nid, "0@lo") && !strcmp(status, "up");
	}
	return nr;
}

int tool_local_check(struct tool *t)
{
	const char *nid = tool_opt(t, "local_nid");
	struct lnetctl_node *doc, *nids;
	char why[200];
	bool known;

	if (!nid || strchr(nid, '*') || lnetctl_nids_expand(nid, &nids, why, sizeof(why)))
		return 0;
	if (lnetctl_net_show(t->c, NULL, 0, false, &doc)) {
		lnetctl_doc_free(nids);
		return 0;
	}
	known = !nids->first || tool_is_ni(doc, nids->first->text);
	lnetctl_doc_free(nids);
	lnetctl_doc_free(doc);
	return known ? 0
		     : tool_usage("--local_nid must be an interface of this node ('lnetctl net "
				  "show' lists them), not %s",
				  nid);
}

int tool_peer_check(const char *list)
{
	struct lnetctl_node *nids, *nid;
	char why[200], bad[80] = "";

	if (!list || lnetctl_nids_expand(list, &nids, why, sizeof(why)))
		return 0;
	for (nid = nids->first; nid; nid = nid->next)
		if (!strncmp(nid->text, "0.0.0.0@", 8) || !strncmp(nid->text, "::@", 3))
			snprintf(bad, sizeof(bad), "%s", nid->text);
	lnetctl_doc_free(nids);
	return *bad ? tool_usage("%s is not the address of a peer", bad) : 0;
}
