/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports interfaces that a file names and this machine lacks. The node waits for such interfaces.
 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include "import.h"

/* Lists the names of this machine's interfaces, separated by commas. */
static void names_list(char *text, size_t size)
{
	struct if_nameindex *all = if_nameindex(), *i;
	size_t len = 0;

	*text = 0;
	for (i = all; i && i->if_index && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "",
					i->if_name);
	if (all)
		if_freenameindex(all);
}

/* @intf: "eth0", or "eth0[0,1]". */
static void interface_check(const struct lnetctl_file *file, const struct lnetctl_node *intf)
{
	char name[128], here[256];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(intf->text, "["), intf->text);
	if (if_nametoindex(name))
		return;
	names_list(here, sizeof(here));
	fprintf(file->notes,
		"%s%sline %u column %u: there is no interface '%s' (here: %s): the node adds it as "
		"soon as it exists\n",
		file->name ? file->name : "", file->name ? " " : "", intf->line, intf->column, name,
		here);
}

static void ni_check(const struct lnetctl_file *file, const struct lnetctl_node *ni)
{
	const struct lnetctl_node *list = lnetctl_find(ni, "interfaces"), *intf;

	for (intf = list ? list->first : NULL; intf; intf = intf->next)
		if (intf->text && *intf->text)
			interface_check(file, intf);
}

void import_missing(const struct lnetctl_file *file)
{
	const struct lnetctl_node *nets = lnetctl_find(file->doc, "net"), *net, *nis, *ni;

	if (!file->notes)
		return;
	for (net = nets ? nets->first : NULL; net; net = net->next) {
		nis = lnetctl_find(net, "local NI(s)");
		if (!nis)
			ni_check(file, net);
		for (ni = nis ? nis->first : NULL; ni; ni = ni->next)
			ni_check(file, ni);
	}
}
