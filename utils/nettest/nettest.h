/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of the program nettest: its node, and the names of all nodes. */
#ifndef NETTEST_PROGRAM_H
#define NETTEST_PROGRAM_H

#include <lnet/lnet.h>
#include "utils/lib/nt.h"
#include "utils/nettest/launch.h"

#define PORT_LOOPBACK 7988	/* any user may listen there */

/* ---- names.c: addresses ---------------------------------------------------------------------- */

struct names {
	/* "HOST NID,NID" of each node, with one NID per rail; names_free() frees these texts */
	char **node;
	u32 nr;
	const char *system;	/* source of the names, for output */
};
/*
 * Returns the name of this node, "HOST NID,NID": from the lists of @w if there are any, else from
 * the machine. NULL after a message.
 */
char *names_own(const struct nt_words *w, const struct launch *l, struct names *names);
/* Without a launcher: reads all names from the lists of @w, and finds the rank of this node. */
int names_listed(const struct nt_words *w, struct launch *l, struct names *names);
void names_free(struct names *names);
/* Reads the NIDs of a name. Returns their number, at most NT_LISTS. 0: the name is invalid. */
unsigned int names_nids(const char *name, struct lnet_nid nids[NT_LISTS]);
/* Writes "HOST/NID,NID". */
void names_show(const struct names *names, char **shown);

/* ---- node.c ---------------------------------------------------------------------------------- */

struct node {
	struct lnet_env *env;
	struct lnet *ln;
};
/* Both functions return 0, or -errno after a message. */
int node_start(struct node *n, const char *own, u32 port, bool crowded);
int node_peers(struct node *n, const struct names *names, u32 rank,
	       struct lnet_process *ids);
void node_stop(struct node *n);

#endif
