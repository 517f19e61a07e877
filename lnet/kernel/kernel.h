/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of lnet.ko share: its environment, its namespaces, and how it begins and ends. */
#ifndef LNET_KERNEL_KERNEL_H
#define LNET_KERNEL_KERNEL_H

#include "compat.h"
#include "env.h"
#include <lnet/lnet.h>
#include "lnet/control.h"

/* ---- env.c ----------------------------------------------------------------------------------- */
int lnet_kernel_env_init(void);		/* the workqueue. 0, -ENOMEM */
void lnet_kernel_env_fini(void);	/* all environments are destroyed */
/* As lnet_user_env_create() and the like; no driver's poll is ended by stopping. */
int lnet_kernel_env_create(struct lnet_env **env, struct net *net, unsigned int nr_shards);
void lnet_kernel_env_start(struct lnet_env *env, struct lnet *ln);
void lnet_kernel_env_stop(struct lnet_env *env);
void lnet_kernel_env_destroy(struct lnet_env *env);
/* Runs @work on the workqueue of all. */
void lnet_kernel_queue(struct work_struct *work);

/* ---- netns.c --------------------------------------------------------------------------------- */

/* A namespace as we know it; its instance comes with its first use. */
struct lnet_netns {
	struct list_head link;		/* [netns_lock] in those that have an instance */
	struct list_head clients;	/* [netns_lock] */
	struct net *net;
	struct lnet_env *env;
	struct lnet *ln;		/* [netns_lock]; cleared under RTNL too */
	struct mutex cfg_lock;		/* one change at a time: lnet_control_do() */
	struct lnet_control ctl;	/* [cfg_lock] but for what never changes */
	wait_queue_head_t wait;		/* dumps that wait for other nodes */
	bool dying;			/* [netns_lock] */
};

int lnet_netns_init(void);
void lnet_netns_fini(void);		/* stops the instances of all namespaces */
struct lnet_netns *lnet_netns_of(const struct net *net);
/*
 * The namespace with an instance, made if it has none. Process context, may sleep, RTNL not held.
 * -ENOMEM, -ESHUTDOWN: it is being taken down.
 */
int lnet_netns_up(struct net *net, struct lnet_netns **ns);

/* ---- address.c ------------------------------------------------------------------------------- */
extern const struct lnet_control_ops lnet_kernel_control_ops;	/* arg: struct lnet_netns */

/* ---- params.c -------------------------------------------------------------------------------- */
/* Gives a new instance the values that the modules were loaded with. */
void lnet_params_apply(struct lnet *ln);
unsigned int lnet_params_shards(void);

#endif
