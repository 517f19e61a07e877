/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The node of this process: its interfaces and its peers. */
#include <errno.h>
#include <lnet/progress.h>
#include <lnet/socklnd.h>
#include <string.h>
#include "utils/nettest/nettest.h"

static int nettest_node_fail(const char *what, int rc)
{
	fprintf(stderr, "nettest: %s: %s\n", what, strerror(-rc));
	return rc;
}

static int interfaces_add(struct node *n, const char *own)
{
	struct lnet_nid nids[NT_LISTS];
	unsigned int i, nr = names_nids(own, nids);
	struct lnet_ni_cfg cfg;
	char text[LNET_NIDSTR_SIZE];
	int rc = nr ? 0 : nettest_node_fail(own, -EINVAL);

	for (i = 0; i < nr && !rc; i++) {
		lnet_ni_cfg_init(&cfg);
		cfg.nid = nids[i];
		rc = lnet_ni_add(n->ln, &cfg);
		if (rc)
			nettest_node_fail(lnet_nid_str(&nids[i], text), rc);
	}
	return rc;
}

/*
 * Starts the node. All work follows from events, so the thread that receives the events does the
 * work.
 */
int node_start(struct node *n, const char *own, u32 port, bool crowded)
{
	struct lnet_user_env_cfg env = { .mode = LNET_PROGRESS_SERVICE,
					 .spin_us = crowded ? UINT32_MAX : 0 };
	struct lnet_cfg cfg = { 0 };
	int rc = lnet_user_env_create(&n->env, &env);

	cfg.env = n->env;
	if (!rc)
		rc = lnet_create(&n->ln, &cfg);
	if (!rc)
		rc = lnet_user_env_start(n->env, n->ln);
	if (!rc)
		rc = lnet_tunable_set(n->ln, "accept", 2);
	if (!rc && port)
		rc = lnet_tunable_set(n->ln, "accept_port", port);
	if (!rc)
		rc = lnet_lnd_register(n->ln, &lnet_socklnd_ops);
	return rc ? nettest_node_fail("cannot start", rc) : interfaces_add(n, own);
}

int node_peers(struct node *n, const struct names *names, u32 rank,
	       struct lnet_process *ids)
{
	struct lnet_nid nids[NT_LISTS];
	u32 i;
	int rc = 0;

	for (i = 0; i < names->nr && !rc; i++) {
		unsigned int nr = names_nids(names->node[i], nids);

		if (!nr)
			return nettest_node_fail(names->node[i], -EINVAL);
		ids[i] = (struct lnet_process){ .nid = nids[0], .pid = LNET_PID };
		if (i != rank)
			rc = lnet_peer_add(n->ln, &nids[0], &nids[1], nr - 1, true);
		if (rc)
			nettest_node_fail(names->node[i], rc);
	}
	return rc;
}

void node_stop(struct node *n)
{
	if (n->env)
		lnet_user_env_stop(n->env);
	lnet_destroy(n->ln);
	lnet_user_env_destroy(n->env);
}
