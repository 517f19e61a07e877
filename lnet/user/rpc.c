/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Remote calls: creates and ends a separate node in this process for them. */
#include <errno.h>
#include <lnet/socklnd.h>
#include <stdlib.h>
#include <string.h>
#include "rpc.h"

#define RPC_LEN_DEFAULT 65536

static int rpc_ni_add(struct lnet_rpc *rpc, const char *nid)
{
	struct lnet_ni_cfg ni;
	int rc;

	lnet_ni_cfg_init(&ni);
	rc = lnet_nid_parse(&ni.nid, nid);
	return rc ? rc : lnet_ni_add(rpc->ln, &ni);
}

/* Adds each NID of the list @nids. */
static int rpc_nis_add(struct lnet_rpc *rpc, const char *nids)
{
	char *list = strdup(nids ? nids : ""), *save = NULL, *nid;
	int rc = list ? -EINVAL : -ENOMEM;

	for (nid = strtok_r(list, ",", &save); nid; nid = strtok_r(NULL, ",", &save)) {
		rc = rpc_ni_add(rpc, nid);
		if (rc)
			break;
	}
	free(list);
	return rc;
}

static int rpc_tunables_set(struct lnet_rpc *rpc, const struct lnet_rpc_cfg *cfg)
{
	int rc = cfg->any_port ? lnet_tunable_set(rpc->ln, "accept", 2) : 0;

	return !rc && cfg->port ? lnet_tunable_set(rpc->ln, "accept_port", cfg->port) : rc;
}

static int rpc_node_start(struct lnet_rpc *rpc, const struct lnet_rpc_cfg *cfg)
{
	struct lnet_user_env_cfg how = { .mode = LNET_PROGRESS_HYBRID };
	struct lnet_cfg node = { 0 };
	int rc = lnet_user_env_create(&rpc->env, &how);

	node.env = rpc->env;
	if (!rc)
		rc = lnet_create(&rpc->ln, &node);
	if (!rc)
		rc = lnet_user_env_start(rpc->env, rpc->ln);
	if (!rc)
		rc = lnet_lnd_register(rpc->ln, &lnet_socklnd_ops);
	if (!rc)
		rc = rpc_tunables_set(rpc, cfg);
	if (!rc)
		rc = lnet_portal_lazy(rpc->ln, RPC_PORTAL_REQUEST, true);
	return rc ? rc : rpc_nis_add(rpc, cfg->nids);
}

int lnet_rpc_open(struct lnet_rpc **rpcp, const struct lnet_rpc_cfg *cfg)
{
	struct lnet_rpc *rpc;
	int rc;

	if (cfg->len_max > LNET_RPC_MAX)
		return -EINVAL;
	rpc = calloc(1, sizeof(*rpc));
	if (!rpc)
		return -ENOMEM;
	rpc->len_max = cfg->len_max ? cfg->len_max : RPC_LEN_DEFAULT;
	pthread_mutex_init(&rpc->lock, NULL);
	rc = rpc_node_start(rpc, cfg);
	if (rc) {
		lnet_rpc_close(rpc);
		return rc;
	}
	*rpcp = rpc;
	return 0;
}

void lnet_rpc_close(struct lnet_rpc *rpc)
{
	unsigned int i;

	if (!rpc)
		return;
	if (rpc->ln)
		lnet_user_env_stop(rpc->env);
	lnet_destroy(rpc->ln);
	lnet_user_env_destroy(rpc->env);
	rpc_calls_free(rpc);
	for (i = 0; i < RPC_BUFFERS; i++)
		free(rpc->buffers[i].memory);
	pthread_mutex_destroy(&rpc->lock);
	free(rpc);
}

struct lnet *lnet_rpc_node(struct lnet_rpc *rpc)
{
	return rpc->ln;
}

static bool rpc_is_stopped(void *arg)
{
	struct lnet_rpc *rpc = arg;

	return atomic_load(&rpc->stopped);
}

int lnet_rpc_run(struct lnet_rpc *rpc, int64_t timeout_ns)
{
	return lnet_progress_until(rpc->ln, rpc_is_stopped, rpc, timeout_ns);
}

void lnet_rpc_stop(struct lnet_rpc *rpc)
{
	atomic_store(&rpc->stopped, true);
	lnet_progress_wake(rpc->ln);
}
