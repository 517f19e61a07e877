/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lnet_selftest.ko: a self-test service in the first network namespace, and in each namespace in
 * which a program opens the device. Each service has a separate work item.
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include "lnet/kernel/compat.h"
#include "lnet/kernel/netns.h"
#include "kernel.h"

#define STOP_POLL_MS	10
#define STOP_WARN_MS	60000
#define SLACK_NS	10000

struct service {
	struct lst_host host;		/* first */
	struct lnet_client client;
	struct list_head link;
	/* only for comparison; NULL: the namespace is being removed */
	struct net *net;
	struct lst *st;
	struct mutex lock;		/* who stops it */
	struct work_struct work;
	struct hrtimer timer;		/* queues @work when something is due */
};

static char *consoles = "*";
module_param(consoles, charp, 0444);
MODULE_PARM_DESC(consoles, "NIDs that may lead this node: a list of ranges; * (the default): all");
static struct lnet_nidlist console_list;	/* parsed @consoles, while the module is loaded */

static LIST_HEAD(services);
static DEFINE_MUTEX(services_lock);	/* protects @services; not held while a service stops */
static struct workqueue_struct *queue;

/* ---- time ------------------------------------------------------------------------------------ */

static void service_arm(struct lst_host *host)
{
	struct service *s = container_of(host, struct service, host);

	queue_work(queue, &s->work);
}

static enum hrtimer_restart service_timer_due(struct hrtimer *timer)
{
	service_arm(&container_of(timer, struct service, timer)->host);
	return HRTIMER_NORESTART;
}

static void work_run(struct work_struct *work)
{
	struct service *s = container_of(work, struct service, work);
	struct lst *st = READ_ONCE(s->st);
	u64 due;

	if (!st)
		return;			/* it is being made */
	due = lst_work(st);
	if (due != U64_MAX)
		hrtimer_start_range_ns(&s->timer, ns_to_ktime(min_t(u64, due, KTIME_MAX)), SLACK_NS,
				       HRTIMER_MODE_ABS);
}

/* ---- begin and end of one -------------------------------------------------------------------- */

static void service_stop(struct service *s)
{
	unsigned int ms = 0;

	mutex_lock(&s->lock);
	if (s->st) {
		lst_stop(s->st);
		for (; !lst_stopped(s->st); ms += STOP_POLL_MS) {
			if (ms == STOP_WARN_MS)
				pr_warn("lnet_selftest: what is under way takes long to end\n");
			msleep(STOP_POLL_MS);
		}
		/* the work may have set the timer, which may queue the work again */
		cancel_work_sync(&s->work);
		hrtimer_cancel(&s->timer);
		cancel_work_sync(&s->work);
		lst_free(s->st);
		s->st = NULL;
	}
	mutex_unlock(&s->lock);
}

/* Stops the service of a namespace that is being removed. The struct is freed later. */
static void on_netns_gone(struct lnet_client *client)
{
	struct service *s = container_of(client, struct service, client);

	mutex_lock(&services_lock);
	s->net = NULL;
	mutex_unlock(&services_lock);
	service_stop(s);
}

static struct service *netns_service_find(const struct net *net)
{
	struct service *s;

	list_for_each_entry(s, &services, link)
		if (s->net == net)
			return s;
	return NULL;
}

static void service_free(struct service *s)
{
	service_stop(s);
	lnet_client_close(&s->client);
	kfree(s);
}

/* Those whose namespace has gone. */
static void services_reap(void)
{
	struct service *s, *next;
	LIST_HEAD(gone);

	mutex_lock(&services_lock);
	list_for_each_entry_safe(s, next, &services, link)
		if (!s->net)
			list_move(&s->link, &gone);
	mutex_unlock(&services_lock);
	list_for_each_entry_safe(s, next, &gone, link)
		service_free(s);
}

static int service_begin(struct service *s)
{
	struct lst_cfg cfg = { .host = &s->host,
			       .consoles = console_list.nr ? &console_list : NULL };
	int rc = lnet_client_open(&s->client, s->net);

	if (rc)
		return rc;
	cfg.ln = s->client.ln;
	mutex_lock(&s->lock);
	rc = lst_create(&s->st, &cfg);
	mutex_unlock(&s->lock);
	if (rc)
		lnet_client_close(&s->client);
	else
		service_arm(&s->host);
	return rc;
}

static struct service *service_new(struct net *net)
{
	struct service *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int rc;

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->host.arm = service_arm;
	s->client.gone = on_netns_gone;
	s->net = net;
	mutex_init(&s->lock);
	INIT_LIST_HEAD(&s->link);
	INIT_WORK(&s->work, work_run);
	lnet_hrtimer_setup(&s->timer, service_timer_due);
	rc = service_begin(s);
	if (!rc)
		return s;
	kfree(s);
	return ERR_PTR(rc);
}

bool lst_net_is_started(struct net *net)
{
	bool started;

	mutex_lock(&services_lock);
	started = netns_service_find(net);
	mutex_unlock(&services_lock);
	return started;
}

int lst_net_start(struct net *net)
{
	struct service *s, *other;

	services_reap();
	mutex_lock(&services_lock);
	s = netns_service_find(net);
	mutex_unlock(&services_lock);
	if (s)
		return 0;
	s = service_new(net);
	if (IS_ERR(s))
		return PTR_ERR(s);
	mutex_lock(&services_lock);
	other = netns_service_find(net);
	if (!other)
		list_add(&s->link, &services);
	mutex_unlock(&services_lock);
	if (other)
		service_free(s);
	return 0;
}

/*
 * Sends a command to the service of the namespace. The caller holds the namespace, so the service
 * stays.
 */
int lst_net_command(struct net *net, struct lst_command *cmd)
{
	struct service *s;

	mutex_lock(&services_lock);
	s = netns_service_find(net);
	mutex_unlock(&services_lock);
	if (!s)
		return -ENXIO;
	lst_command(s->st, cmd);
	return 0;
}

/* ---- the module ------------------------------------------------------------------------------ */

static void services_end(void)
{
	struct service *s, *next;

	mutex_lock(&services_lock);
	list_for_each_entry(s, &services, link)
		s->net = NULL;
	mutex_unlock(&services_lock);
	services_reap();
	list_for_each_entry_safe(s, next, &services, link)
		WARN_ON_ONCE(1);
}

static int __init consoles_param_parse(void)
{
	int rc = strcmp(consoles, "*") ? lnet_nidlist_parse(&console_list, consoles) : 0;

	if (rc == -EINVAL)
		pr_err("lnet_selftest: consoles must be * or a list of NIDs, not '%s'\n", consoles);
	return rc;
}

static int __init selftest_begin(void)
{
	int rc = consoles_param_parse();

	if (rc)
		return rc;
	rc = -ENOMEM;
	queue = alloc_workqueue("lnet_selftest", WQ_UNBOUND, 0);
	if (!queue)
		goto no_queue;
	rc = lst_net_start(&init_net);
	if (rc)
		goto no_service;
	rc = lst_device_open();
	if (rc)
		goto no_device;
	rc = lst_stock_netlink_open();
	if (rc)
		goto no_netlink;
	rc = lst_stock_ioctl_open();
	if (!rc)
		return 0;
	lst_stock_netlink_close();
no_netlink:
	lst_device_close();
no_device:
	services_end();
no_service:
	destroy_workqueue(queue);
no_queue:
	lnet_nidlist_free(&console_list);
	return rc;
}

static void __exit selftest_end(void)
{
	lst_stock_ioctl_close();
	lst_stock_netlink_close();
	lst_device_close();
	services_end();
	destroy_workqueue(queue);
	lnet_nidlist_free(&console_list);
}

module_init(selftest_begin);
module_exit(selftest_end);
MODULE_DESCRIPTION("LNet: network self-test");
MODULE_VERSION(LNET_VERSION);
MODULE_LICENSE("Dual BSD/GPL");
