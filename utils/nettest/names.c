/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the addresses of the nodes. If the arguments have lists of addresses, the nodes use these.
 * If all nodes are on one machine, they use addresses of its loopback interface. If each machine
 * has one node, the node uses the addresses of the machine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <lnet/lnetctl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "utils/nettest/nettest.h"

static const char *hostname(void)
{
	static char name[256];

	if (!*name && (gethostname(name, sizeof(name) - 1) || !*name))
		snprintf(name, sizeof(name), "localhost");
	return name;
}

unsigned int names_nids(const char *name, struct lnet_nid nids[NT_LISTS])
{
	const char *list = strchr(name, ' ');
	char *copy = list ? strdup(list + 1) : NULL, *save, *word;
	unsigned int nr = 0;

	for (word = copy ? strtok_r(copy, ",", &save) : NULL; word && nr < NT_LISTS;
	     word = strtok_r(NULL, ",", &save))
		if (lnet_nid_parse(&nids[nr++], word)) {
			nr = 0;
			break;
		}
	free(copy);
	return nr;
}

void names_show(const struct names *names, char **shown)
{
	u32 i;

	for (i = 0; i < names->nr; i++) {
		shown[i] = strdup(names->node[i]);
		if (shown[i] && strchr(shown[i], ' '))
			*strchr(shown[i], ' ') = '/';
	}
}

void names_free(struct names *names)
{
	u32 i;

	for (i = 0; names->node && i < names->nr; i++)
		free(names->node[i]);
	free(names->node);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static unsigned int list_count(const struct lnetctl_node *list)
{
	const struct lnetctl_node *n;
	unsigned int nr = 0;

	for (n = list->first; n; n = n->next)
		nr++;
	return nr;
}

static const char *list_at(const struct lnetctl_node *list, u32 ix)
{
	const struct lnetctl_node *n = list->first;

	while (n && ix--)
		n = n->next;
	return n ? n->text : NULL;
}

struct lists {
	struct lnetctl_node *nids[NT_LISTS];
	unsigned int nr, nr_nodes;
};

static void lists_free(struct lists *lists)
{
	unsigned int i;

	for (i = 0; i < lists->nr; i++)
		lnetctl_doc_free(lists->nids[i]);
}

static int lists_read(const struct nt_words *w, struct lists *lists)
{
	char why[200];
	unsigned int i;

	*lists = (struct lists){ 0 };
	for (i = 0; i < w->nr_lists; i++) {
		if (lnetctl_nids_expand(w->nids[i], &lists->nids[i], why, sizeof(why))) {
			fprintf(stderr, "nettest: 'n%s': %s\n", w->nids[i], why);
			return -EINVAL;
		}
		lists->nr++;
		if (i && list_count(lists->nids[i]) != lists->nr_nodes) {
			fprintf(stderr,
				"nettest: 'n%s': the lists of all rails must have the same number "
				"of NIDs, one for each node\n",
				w->nids[i]);
			return -EINVAL;
		}
		lists->nr_nodes = list_count(lists->nids[i]);
	}
	return 0;
}

static char *node_name_at(const struct lists *lists, u32 rank, const char *host)
{
	char text[1024];
	unsigned int i;
	int used = snprintf(text, sizeof(text), "%s ", host);

	for (i = 0; i < lists->nr; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s", i ? "," : "",
				 list_at(lists->nids[i], rank));
	return strdup(text);
}

static bool is_address(const struct ifaddrs *ifa, const char *nid)
{
	char addr[INET6_ADDRSTRLEN] = "";
	size_t len;

	if (!ifa->ifa_addr)
		return false;
	if (ifa->ifa_addr->sa_family == AF_INET)
		inet_ntop(AF_INET, &((struct sockaddr_in *)ifa->ifa_addr)->sin_addr, addr,
			  sizeof(addr));
	else if (ifa->ifa_addr->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)ifa->ifa_addr)->sin6_addr, addr,
			  sizeof(addr));
	len = strlen(addr);
	return len && !strncmp(addr, nid, len) && nid[len] == '@';
}

static bool nid_is_own(const struct ifaddrs *all, const char *nid)
{
	const struct ifaddrs *ifa;

	for (ifa = all; ifa; ifa = ifa->ifa_next)
		if (is_address(ifa, nid))
			return true;
	return false;
}

/*
 * Finds the rank of this node: the position of the NID in the first list that has an address of
 * this machine. Fails unless exactly one NID of the list has such an address.
 */
static int rank_find(const struct lists *lists, struct launch *l)
{
	struct ifaddrs *all;
	u32 i, nr = 0;

	if (getifaddrs(&all))
		return -errno;
	for (i = 0; i < lists->nr_nodes; i++)
		if (nid_is_own(all, list_at(lists->nids[0], i))) {
			l->rank = i;
			nr++;
		}
	freeifaddrs(all);
	if (nr == 1)
		return 0;
	fprintf(stderr, "nettest: the first list must have one address of this system, not %u\n",
		nr);
	return -EADDRNOTAVAIL;
}

int names_listed(const struct nt_words *w, struct launch *l, struct names *names)
{
	struct lists lists;
	u32 i;
	int rc = lists_read(w, &lists);

	*l = (struct launch){ .nr = lists.nr_nodes, .local_nr = 1 };
	if (!rc)
		rc = rank_find(&lists, l);
	names->system = "as listed";
	names->nr = lists.nr_nodes;
	names->node = rc ? NULL : calloc(names->nr, sizeof(*names->node));
	for (i = 0; names->node && i < names->nr; i++)
		names->node[i] = node_name_at(&lists, i, i == l->rank ? hostname() : "-");
	lists_free(&lists);
	return rc ? rc : names->node ? 0 : -ENOMEM;
}

static char *own_listed(const struct nt_words *w, const struct launch *l)
{
	struct lists lists;
	char *name = NULL;

	if (!lists_read(w, &lists)) {
		if (lists.nr_nodes == l->nr)
			name = node_name_at(&lists, l->rank, hostname());
		else
			fprintf(stderr,
				"nettest: each list of NIDs must have one NID for each of the %u "
				"started nodes, not %u NIDs\n",
				l->nr, lists.nr_nodes);
	}
	lists_free(&lists);
	return name;
}

/* ---- addresses of the machine ---------------------------------------------------------------- */

/* Assigns a separate net to each address of an interface that is up: tcp, tcp1 and so on. */
static char *own_machine(void)
{
	char text[1024], addr[INET_ADDRSTRLEN], net[8] = "tcp";
	struct ifaddrs *all, *ifa;
	unsigned int nr = 0;
	int used = snprintf(text, sizeof(text), "%s ", hostname());

	if (getifaddrs(&all))
		return NULL;
	for (ifa = all; ifa && nr < NT_LISTS; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr || ifa->ifa_addr->sa_family != AF_INET ||
		    !(ifa->ifa_flags & IFF_UP) || ifa->ifa_flags & IFF_LOOPBACK)
			continue;
		inet_ntop(AF_INET, &((struct sockaddr_in *)ifa->ifa_addr)->sin_addr, addr,
			  sizeof(addr));
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s@%s",
				 nr ? "," : "", addr, net);
		snprintf(net, sizeof(net), "tcp%u", ++nr);
	}
	freeifaddrs(all);
	if (nr)
		return strdup(text);
	fputs("nettest: this system has no interface that is up, except the loopback interface\n",
	      stderr);
	return NULL;
}

/*
 * Returns an address of 127.0.0.0/8. Each of these addresses is local. Concurrent jobs use
 * different addresses.
 */
static char *own_loopback(const struct launch *l)
{
	char text[320];

	snprintf(text, sizeof(text), "%s 127.%u.%u.%u@tcp", hostname(), 16 + l->job % 200,
		 (l->rank + 1) >> 8, (l->rank + 1) & 255);
	return strdup(text);
}

char *names_own(const struct nt_words *w, const struct launch *l, struct names *names)
{
	if (w->nr_lists) {
		names->system = "as listed";
		return own_listed(w, l);
	}
	if (l->local_nr == l->nr) {
		names->system = "loopback addresses of one machine";
		return own_loopback(l);
	}
	if (l->local_nr == 1) {
		names->system = "addresses of each machine";
		return own_machine();
	}
	if (!l->local_rank)
		fputs("nettest: several nodes were started on each of several systems: name their "
		      "NIDs, as n10.0.0.[1-4]@tcp\n",
		      stderr);
	return NULL;
}
