/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared declarations of lnet.ko: environment, namespaces, and the start and end of each part. */
#ifndef LNET_KERNEL_KERNEL_H
#define LNET_KERNEL_KERNEL_H

#include "compat.h"
#include "env.h"
#include <lnet/lnet.h>
#include "lnet/control/control.h"

/* ---- env.c ----------------------------------------------------------------------------------- */
int lnet_kernel_env_init(void);		/* creates the workqueue. 0, -ENOMEM */
void lnet_kernel_env_fini(void);	/* after all environments are destroyed */
/*
 * Each function has the contract of the function lnet_user_env_... whose name has the same end.
 * lnet_kernel_env_stop() does not end the polls of drivers: each driver ends its polls.
 */
int lnet_kernel_env_create(struct lnet_env **env, struct net *net, unsigned int nr_shards);
void lnet_kernel_env_start(struct lnet_env *env, struct lnet *ln);
void lnet_kernel_env_stop(struct lnet_env *env);
void lnet_kernel_env_destroy(struct lnet_env *env);
/*
 * Waits for all work that was queued or running at the call. This includes work that ends
 * connections.
 */
void lnet_kernel_env_flush(void);

/* ---- netns.c --------------------------------------------------------------------------------- */

/*
 * Declares the parameter of lnet.ko for a tunable with the value OWN in the column `parameter' of
 * tunables.def. Declares nothing for the values STOCK and NONE.
 */
#define LNET_PARAM_OWN(name, text)			TUNED(name, 0644, #name, text)
#define LNET_PARAM_STOCK(name, text)
#define LNET_PARAM_NONE(name, text)

/* The parameters of lnet.ko, in the order of params.def. */
enum lnet_param {
#define TUNED(name, mode, tunable, help)		LNET_P_##name,
#define NUMBER(name, mode, def, min, max, help)		LNET_P_##name,
#define TEXT(name, mode, def, check, help)		LNET_P_##name,
#include "params.def"
#undef TUNED
#undef NUMBER
#undef TEXT
	LNET_NR_PARAMS
};

/* The data of a network namespace; the first use creates the instance. */
struct lnet_netns {
	/* [netns_lock] in the list of namespaces that have an instance */
	struct list_head link;
	struct list_head clients;	/* [netns_lock] */
	struct net *net;
	struct lnet_env *env;
	struct lnet *ln;	/* set under netns_lock; cleared under RTNL, after @dying was set */
	struct mutex cfg_lock;		/* serializes changes by lnet_control_do() */
	struct lnet_control ctl;	/* [cfg_lock] except for constant fields */
	/* worker for awaited interfaces and abandoned transactions */
	struct delayed_work tend;
	/* dumps that wait for other nodes wait here until @wakes changes */
	wait_queue_head_t wait;
	atomic_t wakes;
	/*
	 * [the module's parameter lock] parameters of kind NUMBER that were written in this
	 * namespace
	 */
	int numbers[LNET_NR_PARAMS];
	DECLARE_BITMAP(written, LNET_NR_PARAMS);
	bool dying;			/* [netns_lock] */
};

int lnet_netns_init(void);
void lnet_netns_fini(void);		/* stops the instances of all namespaces */
struct lnet_netns *lnet_netns_of(const struct net *net);
/*
 * Finds the namespace data of @net, and creates the instance if there is none. Process context, may
 * sleep, RTNL not held. 0, -ENOMEM, -ESHUTDOWN: the namespace is being removed.
 */
int lnet_netns_up(struct net *net, struct lnet_netns **ns);
/*
 * Finds the instance of @net without creating it, for callers that may not change the namespace.
 * May sleep. 0, -ENETDOWN: there is none, -ESHUTDOWN: the namespace is being removed.
 */
int lnet_netns_found(struct net *net, struct lnet_netns **ns);
/* Executes a change of the configuration. Takes cfg_lock. 0 or -errno with @e. */
int lnet_netns_act(struct lnet_netns *ns, const struct lnet_ctl_req *req, struct lnet_ctl_err *e);
/* Logs a change of the configuration that lnet_netns_act() did not execute. Takes cfg_lock. */
void lnet_netns_changed(struct lnet_netns *ns, const char *what, const char *words);
/* Does the work of `lnetctl lnet configure', with --all or without. 0 or -errno with @e. */
int lnet_netns_configure(struct net *net, bool all, struct lnet_ctl_err *e);

/*
 * If no driver is registered for @type and the driver's module is known, loads this module. No lock
 * held.
 */
void lnet_driver_want(u8 type);

/* ---- netlink.c ------------------------------------------------------------------------------- */
int lnet_netlink_init(void);
void lnet_netlink_fini(void);

/* ---- ioctl.c --------------------------------------------------------------------------------- */
int lnet_ioctl_init(void);
void lnet_ioctl_fini(void);

/* ---- lst_ioctl.c ----------------------------------------------------------------------------- */
/* Carries out ioctl 63. -EOPNOTSUPP: the module of the self-test is not loaded. */
int lnet_ioc_lst(struct lnet *ln, void *buf);

/* ---- debugfs.c ------------------------------------------------------------------------------- */
void lnet_debugfs_init(void);
void lnet_debugfs_fini(void);

/* ---- address.c ------------------------------------------------------------------------------- */
extern const struct lnet_control_ops lnet_kernel_control_ops;	/* arg: struct lnet_netns */
/*
 * Finds the first device that is up and has an address, except loopback. Sets @ifname. 0, -ENODEV
 */
int lnet_kernel_first_nid(struct lnet_netns *ns, u32 net, struct lnet_nid *nid, char ifname[16]);
/* True if a device that is up has an IPv4 address which is in @list as a NID on tcp. */
bool lnet_kernel_address_in(struct lnet_netns *ns, const struct lnet_nidlist *list);

/* ---- params.c -------------------------------------------------------------------------------- */
/*
 * Sets tunables and routing of a new instance to the values that were given when the module was
 * loaded.
 */
void lnet_params_apply(struct lnet *ln);
int lnet_params_cpts(void);	/* defines the CPU partitions. 0 or -errno */
/* Checks combinations of parameters. 0, or -EINVAL with a log message. */
int lnet_params_check(void);
/*
 * @on: from now on, reads and writes of parameters act on the caller's namespace; else they do not.
 */
void lnet_params_live(bool on);
bool lnet_params_config_on_load(void);
/*
 * Adds the interfaces of the parameters ip2nets or networks; if neither is set, those of net tcp.
 * cfg_lock held. 0 or -errno with @e.
 */
int lnet_params_networks(struct lnet_netns *ns, struct lnet_ctl_err *e);

/* ---- udsp.c: @buf is a struct lnet_ioc_udsp that was copied in ------------------------------- */
int lnet_ioc_udsp_add(struct lnet *ln, void *buf);
int lnet_ioc_udsp_del(struct lnet *ln, void *buf);
int lnet_ioc_udsp_size(struct lnet *ln, void *buf);
int lnet_ioc_udsp_get(struct lnet *ln, void *buf);

#endif
