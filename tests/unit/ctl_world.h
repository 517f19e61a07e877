/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node and its client in one process, without a socket. */
#ifndef TESTS_UNIT_CTL_WORLD_H
#define TESTS_UNIT_CTL_WORLD_H

#include "control/control.h"
#include "node.h"
#include "utils/lib/client.h"

struct world {
	struct lnet *ln;
	struct lnet_control ctl;
	struct lnetctl *c;
	u32 size;			/* of the pieces into which replies are divided */
	unsigned int nr_pieces, nr_wakes;
	unsigned int nr_dull;		/* pieces that end with a key table */
	bool comments;			/* send a comment first if the reply is not ready */
	unsigned int piece_at;		/* after this piece, call: */
	void (*piece)(struct world *w);
	bool late;			/* the interface "late" exists */
};

/*
 * The node is configured. Interface ethN has 10.0.N.1, "late" has 10.0.99.1; this machine has only
 * eth1.
 */
void ctl_world_begin(struct world *w);
void ctl_world_end(struct world *w);
/* Serves one message, for lnetctl_open_local(); @arg is a world. */
int ctl_world_serve(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply, void *to);
/* one more client, which the caller closes */
struct lnetctl *ctl_world_client(struct world *w);
int ctl_net_add(struct world *w, const char *net, const char *interfaces);

/* A document as a file named @name. */
#define FILE_OF(doc, name) &(const struct lnetctl_file){ doc, name, 0, NULL }

#endif
