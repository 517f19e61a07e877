/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel module of the TCP driver: parameters, load and unload. */
#include "lnd/socklnd/kernel.h"
#include "lnet/kernel/netns.h"
#include <linux/moduleparam.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

struct sock_param sock_params[SOCK_NR_PARAMS] = {
#define PARAM(name, def, min, max, mode, tunable, scale, text) \
	{ #name, tunable, scale, def, min, max, false },
#include "lnd/socklnd/params.def"
#undef PARAM
};

/*
 * Until the module has started, a write sets the initial value of all namespaces. Later, a write
 * sets only the value of the writer's namespace.
 */
static bool is_loaded;

/* ---- one parameter --------------------------------------------------------------------------- */

static u64 tunable_value(const struct sock_param *sp, int value)
{
	return (u64)value * sp->scale;
}

static int set_here(const struct sock_param *sp, int value)
{
	struct lnet_client client = {};
	int err = lnet_client_open(&client, current->nsproxy->net_ns);

	if (err)
		return err;
	err = lnet_tunable_set(client.ln, sp->tunable, tunable_value(sp, value));
	lnet_client_close(&client);
	return err;
}

static int sock_param_set(const char *text, const struct kernel_param *kp)
{
	struct sock_param *sp = kp->arg;
	int value, err = kstrtoint(text, 0, &value);

	if (!err && (value < sp->min || value > sp->max))
		err = -ERANGE;
	if (err) {
		pr_err("ksocklnd: parameter %s must be %d to %d, not %*pE\n", sp->name, sp->min,
		       sp->max, (int)strcspn(text, "\n"), text);
		return err;
	}
	if (READ_ONCE(is_loaded)) {
		err = set_here(sp, value);
		if (!err)
			lnet_param_written(sp->name, text);
		return err;
	}
	sp->value = value;
	sp->given = true;
	return 0;
}

/*
 * Only sock_timeout may be written after the load, so only this parameter has a value per
 * namespace.
 */
static int sock_param_get(char *text, const struct kernel_param *kp)
{
	const struct sock_param *sp = kp->arg;
	int value = sp->value;
	struct lnet *ln;

	if (sp == &sock_params[SOCK_P_sock_timeout]) {
		rtnl_lock();
		ln = lnet_netns_instance(current->nsproxy->net_ns);
		if (ln)
			value = div_u64(READ_ONCE(lnet_tunables_of(ln)->sock_timeout), sp->scale);
		rtnl_unlock();
	}
	return sysfs_emit(text, "%d\n", value);
}

static const struct kernel_param_ops param_ops = { .set = sock_param_set, .get = sock_param_get };

#define PARAM(name, def, min, max, mode, tunable, scale, text)                            \
	module_param_cb(name, &param_ops, &sock_params[SOCK_P_##name], mode);             \
	MODULE_PARM_DESC(name, text);
#include "lnd/socklnd/params.def"
#undef PARAM

/* ---- the module ------------------------------------------------------------------------------ */

/* Applies the module parameters that were given at the load to a new instance. */
static void registered(struct lnet *ln)
{
	const struct sock_param *sp;
	unsigned int i;

	for (i = 0; i < SOCK_NR_PARAMS; i++) {
		sp = &sock_params[i];
		if (sp->given && sp->tunable[0])
			WARN_ON_ONCE(lnet_tunable_set(ln, sp->tunable,
						      tunable_value(sp, sp->value)));
	}
}

static void fill_ops(struct lnet_lnd_ops *ops)
{
	ops->peer_timeout = sock_param(peer_timeout);
	ops->peer_credits = sock_param(peer_credits);
	ops->peer_buffer_credits = sock_param(peer_buffer_credits);
	ops->credits = sock_param(credits);
	ops->registered = registered;
}

static int __init ksocklnd_init(void)
{
	int err;

	fill_ops(&kern_socklnd_ops);
	err = kern_link_init();
	if (err)
		return err;
	err = lnet_driver_register(&kern_socklnd_ops);
	if (err)
		kern_link_exit();
	else
		WRITE_ONCE(is_loaded, true);
	return err;
}

static void __exit ksocklnd_exit(void)
{
	lnet_driver_unregister(&kern_socklnd_ops);
	kern_link_exit();
	kern_staging_exit();
}

module_init(ksocklnd_init);
module_exit(ksocklnd_exit);
MODULE_DESCRIPTION("LNet: TCP driver");
MODULE_VERSION(LNET_VERSION);
MODULE_LICENSE("Dual BSD/GPL");
