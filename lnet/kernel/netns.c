/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Creates an instance at the first use of a network namespace, and ends the instance together with
 * the namespace. Each instance has separate interfaces, peers and tunables.
 */
#include "cpt.h"
#include "kernel.h"
#include "netns.h"
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <lnet/lnd.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "control/command.h"
#include "shard/shard.h"

/*
 * @netns_lock protects @instances, the clients and states of each namespace, and @drivers. It is
 * taken before all locks of instances. It is not held while a running instance stops, or during a
 * client's gone().
 */
static DEFINE_MUTEX(netns_lock);
static LIST_HEAD(instances);		/* struct lnet_netns */
static const struct lnet_lnd_ops *drivers[8];
static DECLARE_WAIT_QUEUE_HEAD(client_told);
static unsigned int netns_id;

struct lnet_netns *lnet_netns_of(const struct net *net)
{
	return net_generic(net, netns_id);
}

struct lnet *lnet_netns_instance(const struct net *net)
{
	ASSERT_RTNL();
	return READ_ONCE(lnet_netns_of(net)->ln);
}

/* ---- waiting interfaces, and transactions that expire ---------------------------------------- */

#define TEND_MS 500

/* cfg_lock held. */
static void tend_later(struct lnet_netns *ns)
{
	if (ns->ctl.waiting || ns->ctl.trans)
		schedule_delayed_work(&ns->tend, msecs_to_jiffies(TEND_MS));
}

static void tend_work(struct work_struct *work)
{
	struct lnet_netns *ns = container_of(to_delayed_work(work), struct lnet_netns, tend);

	mutex_lock(&ns->cfg_lock);
	lnet_control_join(&ns->ctl);
	lnet_control_expire(&ns->ctl);
	tend_later(ns);
	mutex_unlock(&ns->cfg_lock);
}

/* Cancels the work. The caller ensures that no request can schedule the work again. */
static void tend_end(struct lnet_netns *ns)
{
	mutex_lock(&ns->cfg_lock);
	lnet_control_fini(&ns->ctl);
	mutex_unlock(&ns->cfg_lock);
	cancel_delayed_work_sync(&ns->tend);
}

/* ---- start and stop of an instance ----------------------------------------------------------- */

static int drivers_add(struct lnet *ln)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < ARRAY_SIZE(drivers) && !rc; i++)
		if (drivers[i])
			rc = lnet_lnd_register(ln, drivers[i]);
	return rc;
}

static void log_print(void *arg, enum lnet_log_level level, const char *text)
{
	const struct lnet_netns *ns = arg;

	switch (level) {
	case LNET_LOG_ERROR:
		pr_err("lnet: netns %u: %s\n", ns->net->ns.inum, text);
		break;
	case LNET_LOG_WARNING:
		pr_warn("lnet: netns %u: %s\n", ns->net->ns.inum, text);
		break;
	case LNET_LOG_INFO:
		pr_info("lnet: netns %u: %s\n", ns->net->ns.inum, text);
		break;
	default:
		pr_debug("lnet: netns %u: %s\n", ns->net->ns.inum, text);
	}
}

/*
 * Logs the start or the end of a node. Unprivileged users may create namespaces, and with them
 * nodes, so the rate of these log lines is limited.
 */
static void life_log(const struct lnet_netns *ns, const char *what)
{
	pr_info_ratelimited("lnet: netns %u: lnet %s %s, by uid %u, pid %d\n", ns->net->ns.inum,
			    LNET_VERSION, what, from_kuid(&init_user_ns, current_uid()),
			    task_tgid_nr(current));
}

static int netns_instance_start(struct lnet_netns *ns)
{
	struct lnet_cfg cfg = { .nr_shards = lnet_cpts_nr(), .log = log_print, .log_arg = ns };
	struct lnet *ln;
	int rc = lnet_kernel_env_create(&ns->env, ns->net, cfg.nr_shards);

	if (rc)
		return rc;
	cfg.env = ns->env;
	rc = lnet_create(&ln, &cfg);
	if (!rc)
		rc = drivers_add(ln);
	if (rc) {
		lnet_destroy(ln);
		lnet_kernel_env_destroy(ns->env);
		return rc;
	}
	lnet_params_apply(ln);
	ns->ctl.ln = ln;
	lnet_kernel_env_start(ns->env, ln);
	/*
	 * The release store shows a reader without netns_lock only a completely initialized
	 * instance.
	 */
	smp_store_release(&ns->ln, ln);
	list_add_tail(&ns->link, &instances);
	life_log(ns, "started");
	return 0;
}

static void clients_tell(struct lnet_netns *ns)
{
	struct lnet_client *client;

	mutex_lock(&netns_lock);
	while ((client = list_first_entry_or_null(&ns->clients, struct lnet_client, link))) {
		list_del_init(&client->link);
		client->state = LNET_CLIENT_BUSY;
		mutex_unlock(&netns_lock);
		if (client->gone)
			client->gone(client);
		mutex_lock(&netns_lock);
		WRITE_ONCE(client->state, LNET_CLIENT_GONE);
		wake_up_all(&client_told);
	}
	mutex_unlock(&netns_lock);
}

/* netns_lock held. If there is no instance, creates one. 0 or -errno. */
static int instance_want(struct lnet_netns *ns)
{
	if (ns->dying)
		return -ESHUTDOWN;
	return ns->ln ? 0 : netns_instance_start(ns);
}

int lnet_netns_found(struct net *net, struct lnet_netns **nsp)
{
	int rc = 0;

	*nsp = lnet_netns_of(net);
	mutex_lock(&netns_lock);
	if ((*nsp)->dying)
		rc = -ESHUTDOWN;
	else if (!(*nsp)->ln)
		rc = -ENETDOWN;
	mutex_unlock(&netns_lock);
	return rc;
}

int lnet_netns_up(struct net *net, struct lnet_netns **nsp)
{
	int rc;

	*nsp = lnet_netns_of(net);
	mutex_lock(&netns_lock);
	rc = instance_want(*nsp);
	mutex_unlock(&netns_lock);
	return rc;
}

/*
 * When an instance is destroyed, nothing uses it any more. Clients were notified. Netlink and sysfs
 * act only for processes in the namespace. RTNL excludes notifiers.
 */
static void instance_stop(struct lnet_netns *ns)
{
	struct lnet *ln;

	mutex_lock(&netns_lock);
	ns->dying = true;
	ln = ns->ln;
	if (ln)
		list_del(&ns->link);
	mutex_unlock(&netns_lock);
	if (!ln)
		return;
	clients_tell(ns);
	tend_end(ns);
	rtnl_lock();
	WRITE_ONCE(ns->ln, NULL);
	rtnl_unlock();
	lnet_kernel_env_stop(ns->env);
	lnet_destroy(ln);
	lnet_kernel_env_destroy(ns->env);
	life_log(ns, "stopped");
}

int lnet_netns_act(struct lnet_netns *ns, const struct lnet_ctl_req *req, struct lnet_ctl_err *e)
{
	bool all = req->cmd == LNET_NL_CONFIGURE && req->flags & LNET_NL_F_CREATE &&
		   !(req->flags & LNET_NL_F_EXCL);
	int rc;

	mutex_lock(&ns->cfg_lock);
	rc = lnet_control_do(&ns->ctl, req, e);
	if (!rc && all)
		rc = lnet_params_networks(ns, e);
	tend_later(ns);
	mutex_unlock(&ns->cfg_lock);
	return rc;
}

void lnet_netns_changed(struct lnet_netns *ns, const char *what, const char *words)
{
	const struct lnet_ctl_req req = { .uid = from_kuid(&init_user_ns, current_uid()),
					  .pid = task_tgid_nr(current) };

	mutex_lock(&ns->cfg_lock);
	lnet_ctl_log_by(&ns->ctl, &req);
	lnet_log_config(ns->ln, what, words);
	lnet_ctl_log_by(&ns->ctl, NULL);
	mutex_unlock(&ns->cfg_lock);
}

void lnet_param_written(const char *name, const char *text)
{
	struct lnet_netns *ns = lnet_netns_of(current->nsproxy->net_ns);
	char words[64];

	scnprintf(words, sizeof(words), "%s %.*s", name, (int)strcspn(text, "\n"), text);
	if (READ_ONCE(ns->ln))
		lnet_netns_changed(ns, "set", words);
}
EXPORT_SYMBOL_GPL(lnet_param_written);

int lnet_netns_configure(struct net *net, bool all, struct lnet_ctl_err *e)
{
	struct lnet_ctl_req req = { .cmd = LNET_NL_CONFIGURE,
				    .flags = LNET_NL_F_CREATE | (all ? 0 : LNET_NL_F_EXCL),
				    .uid = from_kuid(&init_user_ns, current_uid()),
				    .pid = task_tgid_nr(current) };
	struct lnet_netns *ns;
	int rc;

	lnet_driver_want(LNET_LND_TCP);
	rc = lnet_netns_up(net, &ns);
	return rc ? rc : lnet_netns_act(ns, &req, e);
}

static int __net_init net_begin(struct net *net)
{
	struct lnet_netns *ns = lnet_netns_of(net);

	ns->net = net;
	mutex_init(&ns->cfg_lock);
	INIT_DELAYED_WORK(&ns->tend, tend_work);
	INIT_LIST_HEAD(&ns->clients);
	init_waitqueue_head(&ns->wait);
	ns->ctl = (struct lnet_control){ .ops = &lnet_kernel_control_ops, .arg = ns,
					 .name = "kernel", .version = LNET_VERSION };
	return 0;
}

static void __net_exit net_end(struct net *net)
{
	instance_stop(lnet_netns_of(net));
}

/*
 * lnet_netns_init() registers net_ops in the same way as network devices register theirs. So
 * net_end() runs while the devices of the namespace can still send.
 */
static struct pernet_operations net_ops = {
	.init = net_begin,
	.exit = net_end,
	.id = &netns_id,
	.size = sizeof(struct lnet_netns),
};

int lnet_netns_init(void)
{
	return register_pernet_device(&net_ops);
}

void lnet_netns_fini(void)
{
	unregister_pernet_device(&net_ops);
}

/* ---- clients --------------------------------------------------------------------------------- */

/**
 * lnet_client_open - use the LNet instance of a network namespace
 * @client: the caller sets gone(); this call sets the other fields
 * @net: the namespace
 *
 * Return: 0, -ENOMEM, or -ESHUTDOWN if the namespace is being removed.
 */
int lnet_client_open(struct lnet_client *client, struct net *net)
{
	struct lnet_netns *ns = lnet_netns_of(net);
	int rc;

	mutex_lock(&netns_lock);
	rc = instance_want(ns);
	if (!rc) {
		client->ln = ns->ln;
		client->state = LNET_CLIENT_OPEN;
		list_add_tail(&client->link, &ns->clients);
	}
	mutex_unlock(&netns_lock);
	return rc;
}
EXPORT_SYMBOL_GPL(lnet_client_open);

/**
 * lnet_client_close - end the use that lnet_client_open() began
 * @client: the caller may free its memory after the return
 */
void lnet_client_close(struct lnet_client *client)
{
	mutex_lock(&netns_lock);
	while (client->state == LNET_CLIENT_BUSY) {
		mutex_unlock(&netns_lock);
		wait_event(client_told, READ_ONCE(client->state) != LNET_CLIENT_BUSY);
		mutex_lock(&netns_lock);
	}
	if (client->state == LNET_CLIENT_OPEN)
		list_del(&client->link);
	client->state = LNET_CLIENT_GONE;
	mutex_unlock(&netns_lock);
}
EXPORT_SYMBOL_GPL(lnet_client_close);

/* ---- drivers --------------------------------------------------------------------------------- */

static bool driver_there(u8 type)
{
	unsigned int i;
	bool there = false;

	mutex_lock(&netns_lock);
	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		there = there || (drivers[i] && drivers[i]->type == type);
	mutex_unlock(&netns_lock);
	return there;
}

void lnet_driver_want(u8 type)
{
	if (type == LNET_LND_TCP && !driver_there(type))
		request_module("ksocklnd");
}

static void driver_forget(const struct lnet_lnd_ops *ops)
{
	struct lnet_netns *ns;
	unsigned int i;

	list_for_each_entry(ns, &instances, link)
		lnet_lnd_unregister(ns->ln, ops);
	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (drivers[i] == ops)
			drivers[i] = NULL;
}

static int driver_add(const struct lnet_lnd_ops *ops)
{
	struct lnet_netns *ns;
	unsigned int i = 0;
	int rc = 0;

	while (i < ARRAY_SIZE(drivers) && drivers[i])
		i++;
	if (i == ARRAY_SIZE(drivers))
		return -ENOSPC;
	list_for_each_entry(ns, &instances, link)
		rc = rc ? rc : lnet_lnd_register(ns->ln, ops);
	if (!rc)
		drivers[i] = ops;
	return rc;
}

int lnet_driver_register(const struct lnet_lnd_ops *ops)
{
	unsigned int i;
	int rc = 0;

	mutex_lock(&netns_lock);
	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (drivers[i] && drivers[i]->type == ops->type)
			rc = -EEXIST;
	if (!rc)
		rc = driver_add(ops);
	if (rc && rc != -EEXIST)
		driver_forget(ops);
	mutex_unlock(&netns_lock);
	return rc;
}

void lnet_driver_unregister(const struct lnet_lnd_ops *ops)
{
	mutex_lock(&netns_lock);
	driver_forget(ops);
	mutex_unlock(&netns_lock);
	/*
	 * The worker that ends a connection may still execute code of the driver, so waits for the
	 * worker.
	 */
	lnet_kernel_env_flush();
}
