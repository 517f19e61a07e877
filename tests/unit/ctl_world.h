/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node and a client of it in one process, without a socket. */
#ifndef TESTS_UNIT_CTL_WORLD_H
#define TESTS_UNIT_CTL_WORLD_H

#include "control/control.h"
#include "node.h"
#include "utils/lib/client.h"

struct world {
	struct lnet *ln;
	struct lnet_control ctl;
	struct lnetctl *c;
	u32 size;			/* of the pieces in which answers come */
	unsigned int nr_pieces, nr_wakes;
	unsigned int nr_dull;		/* pieces that end with a key table */
	bool comments;			/* a comment comes first when an answer is not there yet */
	unsigned int piece_at;		/* after that piece: */
	void (*piece)(struct world *w);
	bool late;			/* the interface "late" has come */
};

/* Configured; interfaces ethN have the address 10.0.N.1, this machine has eth1; 10.0.99.1 late. */
void ctl_world_begin(struct world *w);
void ctl_world_end(struct world *w);
/* Serves one message, for lnetctl_open_local() with @arg a world. */
int ctl_world_serve(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply, void *to);
/* one more client, to be closed */
struct lnetctl *ctl_world_client(struct world *w);
int ctl_net_add(struct world *w, const char *net, const char *interfaces);

/* A document as a file named @name. */
#define FILE_OF(doc, name) &(const struct lnetctl_file){ doc, name, 0, NULL }

#endif
