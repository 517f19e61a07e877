/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An instance: one node, from creation to destruction; its drivers and its constants. */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include "shard/shard.h"
#include "shard/hooks.h"
#include "topology/topology.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "receive/receive.h"
#include "service/service.h"
#include "router/router.h"
#include "fault/fault.h"
#include "recorder/recorder.h"
#include "manage/manage.h"

static struct lnet *instance_alloc(const struct lnet_cfg *cfg)
{
	struct lnet *ln = kzalloc(sizeof(*ln), GFP_KERNEL);

	if (!ln)
		return NULL;
	ln->env = cfg->env;
	ln->hooks = &lnet_hooks;
	ln->pid = cfg->pid ? cfg->pid : LNET_PID;
	ln->nr_shards = cfg->nr_shards ? cfg->nr_shards : 1;
	ln->instance = cfg->instance;
	while (!ln->instance)
		ln->instance = cfg->env->ops->random(cfg->env);
	lnet_log_init(ln, cfg);
	ln->lnds[0] = &lnet_lo_ops;
	ln->watch_idle = 1;
	lnet_tunables_init(&ln->tun);
	mutex_init(&ln->cfg_mutex);
	spin_lock_init(&ln->nid_lock);
	spin_lock_init(&ln->slot_lock);
	spin_lock_init(&ln->ping_lock);
	INIT_LIST_HEAD(&ln->nis);
	INIT_LIST_HEAD(&ln->peers);
	return ln;
}

static void instance_free(struct lnet *ln)
{
	mutex_destroy(&ln->cfg_mutex);
	kfree(ln);
}

/*
 * The parts of an instance; each part follows the parts that it uses. They end in the opposite
 * order.
 */
static const struct part {
	int (*init)(struct lnet *ln);
	void (*fini)(struct lnet *ln);
} parts[] = {
	{ lnet_shards_init, lnet_shards_fini },
	{ lnet_ops_init, lnet_ops_fini },
	{ lnet_md_tables_init, lnet_md_tables_fini },
	{ lnet_disc_init, lnet_disc_fini },
	{ lnet_peers_init, lnet_peers_fini },
	{ lnet_routes_init, lnet_routes_fini },
	{ lnet_net_init, lnet_net_fini },
	{ lnet_ping_init, lnet_ping_fini },
};

static void parts_fini(struct lnet *ln, unsigned int nr)
{
	while (nr--)
		parts[nr].fini(ln);
}

static void net_stop(struct lnet *ln)
{
	mutex_lock(&ln->cfg_mutex);
	lnet_net_stop(ln);
	mutex_unlock(&ln->cfg_mutex);
}

static int parts_init(struct lnet *ln)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		err = parts[i].init(ln);
		if (err) {
			ln->stopping = 1;
			if (i == ARRAY_SIZE(parts) - 1)
				net_stop(ln);
			parts_fini(ln, i);
			return err;
		}
	}
	return 0;
}

int lnet_create(struct lnet **lnp, const struct lnet_cfg *cfg)
{
	struct lnet *ln;
	int err;

	*lnp = NULL;
	if (!cfg->env || cfg->nr_shards > LNET_MAX_SHARDS)
		return -EINVAL;
	ln = instance_alloc(cfg);
	if (!ln)
		return -ENOMEM;
	err = parts_init(ln);
	if (err) {
		instance_free(ln);
		return err;
	}
	*lnp = ln;
	return 0;
}

/* Ends all operations. Drivers complete their attempts after a cancellation, or when they stop. */
static void ops_shutdown(struct lnet *ln)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_op_fail_all(&p, NULL, LNET_SHUTDOWN);
	lnet_windows_md_aborted(&p, NULL);
	lnet_pass_end(&p);
}

static bool has_events(struct lnet_shard *sh)
{
	bool some;

	spin_lock(&sh->lock);
	some = !list_empty(&sh->ready);
	spin_unlock(&sh->lock);
	return some;
}

static bool ops_ended(struct lnet *ln, void *arg)
{
	unsigned int i;

	for (i = 0; i < ln->nr_shards; i++)
		if (has_events(&ln->shard[i]))
			return false;
	return lnet_ops_idle(ln);
}

void lnet_destroy(struct lnet *ln)
{
	if (!ln)
		return;
	WRITE_ONCE(ln->stopping, 1);
	mutex_lock(&ln->cfg_mutex);
	ops_shutdown(ln);
	lnet_net_stop(ln);
	/* ends operations of messages that were received until the drivers stopped */
	ops_shutdown(ln);
	lnet_cfg_wait(ln, ops_ended, NULL, U64_MAX);
	mutex_unlock(&ln->cfg_mutex);
	lnet_log_flush(ln);
	lnet_record_fini(ln);
	lnet_fault_fini(ln);
	lnet_udsp_fini(ln);
	lnet_ping_fini(ln);
	lnet_windows_fini(ln);
	lnet_router_fini(ln);
	parts_fini(ln, ARRAY_SIZE(parts) - 1);
	WARN_ON_ONCE(atomic_read(&ln->nr_counted));	/* a reference was not dropped */
	instance_free(ln);
}

int lnet_lnd_register(struct lnet *ln, const struct lnet_lnd_ops *ops)
{
	unsigned int i, at = LNET_MAX_LNDS;
	int err = 0;

	if (!ops->name || !ops->ni_start || !ops->ni_stop || !ops->send || !ops->cancel ||
	    !ops->receive || !ops->rx_stop || ops->type == LNET_LND_ANY ||
	    ops->nr_counters > LNET_LND_COUNTERS_MAX)
		return -EINVAL;
	mutex_lock(&ln->cfg_mutex);
	for (i = 0; i < LNET_MAX_LNDS; i++) {
		if (!ln->lnds[i])
			at = min(at, i);
		else if (ln->lnds[i]->type == ops->type)
			err = -EEXIST;
	}
	if (!err && at == LNET_MAX_LNDS)
		err = -EINVAL;
	if (!err)
		ln->lnds[at] = ops;
	mutex_unlock(&ln->cfg_mutex);
	if (!err && ops->registered)
		ops->registered(ln);
	return err;
}

void lnet_lnd_unregister(struct lnet *ln, const struct lnet_lnd_ops *ops)
{
	unsigned int i;

	mutex_lock(&ln->cfg_mutex);
	for (i = 0; i < LNET_MAX_LNDS; i++)
		if (ln->lnds[i] == ops)
			ln->lnds[i] = NULL;
	mutex_unlock(&ln->cfg_mutex);
}

u32 lnet_pid(const struct lnet *ln)
{
	return ln->pid;
}

struct lnet_env *lnet_env_of(const struct lnet *ln)
{
	return ln->env;
}

unsigned int lnet_nr_shards(const struct lnet *ln)
{
	return ln->nr_shards;
}

const struct lnet_tunables *lnet_tunables_of(const struct lnet *ln)
{
	return &ln->tun;
}
