/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transactions: the client sends changes one by one, and the node checks each change. Then the node
 * executes all changes or none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "client.h"

/* A commit takes long, because it waits until removed interfaces have drained. */
#define COMMIT_MS 600000
/*
 * Maximum attempts to commit a transaction. A commit fails with ESTALE only after another client
 * has changed the node. So clients that retry at the same time do not block each other forever.
 */
#define TRIES_MAX 40
#define PAUSE_US 10000

int ctl_trans_begin(struct lnetctl *c, struct ctl_trans *t, bool alone)
{
	const struct ctl_op op = { LNET_NL_TRANSACTION, LNET_NL_VERSION,
				   LNET_NL_F_CREATE | (alone ? LNET_NL_F_EXCL : 0), 0,
				   "add", "import" };
	int rc;

	*t = (struct ctl_trans){ .at = NULL };
	rc = ctl_do(c, &op, NULL);
	if (!rc)
		c->trans = t;
	return rc;
}

int ctl_trans_stage(struct lnetctl *c, const struct ctl_op *op, uint16_t *flags)
{
	struct ctl_trans *t = c->trans;

	if (t->nr == t->room) {
		unsigned int room = 2 * t->room + 64;
		const struct lnetctl_node **origin = realloc(t->origin, room * sizeof(*origin));

		if (!origin)
			return -ENOMEM;
		t->origin = origin;
		t->room = room;
	}
	t->origin[t->nr++] = t->at;
	*flags |= LNET_NL_F_STAGED;
	if (op->cmd == LNET_NL_NETS && op->flags & LNET_NL_F_CREATE)
		*flags |= LNET_NL_F_APPEND;
	return 0;
}

/*
 * Removes a prefix such as "request 12: " from the error text. Stores the position of that request
 * in the file.
 */
static void find_origin(struct lnetctl *c, struct ctl_trans *t)
{
	unsigned int nr;
	int len = 0;

	t->at = NULL;
	if (sscanf(c->text, "request %u: %n", &nr, &len) < 1 || !len || nr >= t->nr)
		return;
	t->at = t->origin[nr];
	memmove(c->text, c->text + len, strlen(c->text + len) + 1);
}

static int trans_commit(struct lnetctl *c, struct ctl_trans *t)
{
	const struct ctl_op op = { LNET_NL_TRANSACTION, LNET_NL_VERSION, LNET_NL_F_REPLACE,
				   COMMIT_MS,		"add",		 "import" };
	int rc = ctl_do(c, &op, NULL);

	if (rc)
		find_origin(c, t);
	return rc;
}

bool ctl_trans_again(int rc, unsigned int *tries)
{
	if (rc != -ESTALE || ++*tries >= TRIES_MAX)
		return false;
	usleep(PAUSE_US + (unsigned int)random() % (PAUSE_US * *tries));
	return true;
}

int ctl_trans_end(struct lnetctl *c, struct ctl_trans *t, int rc)
{
	struct link_call forget = { .cmd = LNET_NL_TRANSACTION, .version = LNET_NL_VERSION };

	c->trans = NULL;
	if (!rc)
		rc = trans_commit(c, t);
	else
		/*
		 * Discards the transaction. An error of this request is ignored, because it would
		 * replace the error @rc of the change that failed.
		 */
		link_talk(c->link, &forget);
	free(t->origin);
	t->origin = NULL;
	return rc;
}
