/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the program nettest: its node, and the names of all. */
#ifndef NETTEST_PROGRAM_H
#define NETTEST_PROGRAM_H

#include <lnet/lnet.h>
#include "utils/lib/nt.h"
#include "utils/nettest/launch.h"

#define PORT_LOOPBACK 7988	/* any user may listen there */

/* ---- names.c: which addresses ---------------------------------------------------------------- */

struct names {
	char **node;		/* of each "HOST NID,NID", a NID for each rail; names_free() */
	u32 nr;
	const char *system;	/* where they come from, for people */
};
/*
 * Of this node: "HOST NID,NID". @lists of @w if there are any, else what the machine has. NULL: it
 * was said why not.
 */
char *names_own(const struct nt_words *w, const struct launch *l, struct names *names);
/* Without a launcher, by the lists of @w: all names, and which of them we are. */
int names_listed(const struct nt_words *w, struct launch *l, struct names *names);
void names_free(struct names *names);
/* NIDs of a name: how many, at most NT_LISTS; 0: it is none. */
unsigned int names_nids(const char *name, struct lnet_nid nids[NT_LISTS]);
/* "HOST/NID,NID" */
void names_show(const struct names *names, char **shown);

/* ---- node.c ---------------------------------------------------------------------------------- */

struct node {
	struct lnet_env *env;
	struct lnet *ln;
};
/* Both: 0 or -errno, said. */
int node_start(struct node *n, const char *own, u32 port, bool crowded);
int node_peers(struct node *n, const struct names *names, u32 rank,
	       struct lnet_process *ids);
void node_stop(struct node *n);

#endif
