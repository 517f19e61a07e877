/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of lnet.ko share: its environment, its namespaces, and how it begins and ends. */
#ifndef LNET_KERNEL_KERNEL_H
#define LNET_KERNEL_KERNEL_H

#include "compat.h"
#include "env.h"
#include <lnet/lnet.h>
#include "lnet/control/control.h"

/* ---- env.c ----------------------------------------------------------------------------------- */
int lnet_kernel_env_init(void);		/* the workqueue. 0, -ENOMEM */
void lnet_kernel_env_fini(void);	/* all environments are destroyed */
/* As lnet_user_env_create() and the like; no driver's poll is ended by stopping. */
int lnet_kernel_env_create(struct lnet_env **env, struct net *net, unsigned int nr_shards);
void lnet_kernel_env_start(struct lnet_env *env, struct lnet *ln);
void lnet_kernel_env_stop(struct lnet_env *env);
void lnet_kernel_env_destroy(struct lnet_env *env);
/* Who worked when it was called has returned when it does: also from the end of a connection. */
void lnet_kernel_env_flush(void);

/* ---- netns.c --------------------------------------------------------------------------------- */

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

/* A namespace as we know it; its instance comes with its first use. */
struct lnet_netns {
	struct list_head link;		/* [netns_lock] in those that have an instance */
	struct list_head clients;	/* [netns_lock] */
	struct net *net;
	struct lnet_env *env;
	struct lnet *ln;		/* [netns_lock]; cleared under RTNL too */
	struct mutex cfg_lock;		/* one change at a time: lnet_control_do() */
	struct lnet_control ctl;	/* [cfg_lock] but for what never changes */
	struct delayed_work tend;	/* interfaces that wait, a transaction that is left */
	wait_queue_head_t wait;		/* dumps that wait for other nodes: until @wakes moves */
	atomic_t wakes;
	/* [the module's parameter lock] of parameters that were written here and are no tunables */
	int numbers[LNET_NR_PARAMS];
	DECLARE_BITMAP(written, LNET_NR_PARAMS);
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
/*
 * Finds the instance of @net without creating it, for callers that may not change the namespace.
 * May sleep. 0, -ENETDOWN: there is none, -ESHUTDOWN: it is being taken down.
 */
int lnet_netns_found(struct net *net, struct lnet_netns **ns);
/* A change. 0 or -errno with @e. */
int lnet_netns_act(struct lnet_netns *ns, const struct lnet_ctl_req *req, struct lnet_ctl_err *e);
/* Logs a change that did not use lnet_netns_act(). cfg_lock not held. */
void lnet_netns_changed(struct lnet_netns *ns, const char *what, const char *words);
/* As `lnetctl lnet configure', with --all or without. 0 or -errno with @e. */
int lnet_netns_configure(struct net *net, bool all, struct lnet_ctl_err *e);

/* Loads the module of a type's driver, if there is none and one is known. No lock held. */
void lnet_driver_want(u8 type);

/* ---- netlink.c ------------------------------------------------------------------------------- */
int lnet_netlink_init(void);
void lnet_netlink_fini(void);

/* ---- ioctl.c --------------------------------------------------------------------------------- */
int lnet_ioctl_init(void);
void lnet_ioctl_fini(void);

/* ---- lst_door.c ------------------------------------------------------------------------------ */
/* Carries out ioctl 63. -EOPNOTSUPP: the module of the self-test is not loaded. */
int lnet_ioc_lst(struct lnet *ln, void *buf);

/* ---- debugfs.c ------------------------------------------------------------------------------- */
void lnet_debugfs_init(void);
void lnet_debugfs_fini(void);

/* ---- address.c ------------------------------------------------------------------------------- */
extern const struct lnet_control_ops lnet_kernel_control_ops;	/* arg: struct lnet_netns */
/* The first device that is up and has an address; its name into @ifname. 0, -ENODEV */
int lnet_kernel_first_nid(struct lnet_netns *ns, u32 net, struct lnet_nid *nid, char ifname[16]);
/* Is one of our IPv4 addresses, taken as a NID on tcp, in @list? */
bool lnet_kernel_address_in(struct lnet_netns *ns, const struct lnet_nidlist *list);

/* ---- params.c -------------------------------------------------------------------------------- */
/* Gives a new instance the values that the modules were loaded with. */
void lnet_params_apply(struct lnet *ln);
int lnet_params_cpts(void);	/* makes the CPU partitions that they mean. 0 or -errno */
/* What no single parameter shows. 0, -EINVAL, said in the log. */
int lnet_params_check(void);
/* From here on they act on the caller's namespace, or not any more. */
void lnet_params_live(bool on);
bool lnet_params_config_on_load(void);
/* The interfaces that they name; cfg_lock held. 0 or -errno with @e. */
int lnet_params_networks(struct lnet_netns *ns, struct lnet_ctl_err *e);

/* ---- udsp.c: @buf is a struct lnet_ioc_udsp that was copied in ------------------------------- */
int lnet_ioc_udsp_add(struct lnet *ln, void *buf);
int lnet_ioc_udsp_del(struct lnet *ln, void *buf);
int lnet_ioc_udsp_size(struct lnet *ln, void *buf);
int lnet_ioc_udsp_get(struct lnet *ln, void *buf);

#endif
