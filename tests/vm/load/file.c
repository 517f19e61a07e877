/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of a load: its options, its thread, its log. */
#include "load.h"
#include "model/model.h"
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define LOG_BYTES	(4U << 20)
#define RAIL_NS		(50 * NSEC_PER_MSEC)
#define OPTIONS_MAX	2048U

/* ---- the log --------------------------------------------------------------------------------- */

void load_log(struct load *ld, enum perf_kind kind, u64 id, int status, u32 a, u32 b)
{
	struct perf_rec rec = { .id = id, .status = status, .a = a, .b = b, .kind = kind };

	spin_lock(&ld->log_lock);
	rec.time_ns = (s64)ktime_get_ns() + ld->day_ns;
	if (!kfifo_put(&ld->log, rec))
		WRITE_ONCE(ld->log_full, true);
	spin_unlock(&ld->log_lock);
	wake_up(&ld->log_wait);
}

static u64 counter(const struct lnet *ln, enum lnet_counter c)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < ln->nr_shards; i++)
		sum += READ_ONCE(ln->shard[i].c[c]);
	return sum;
}

static u64 sent_by(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_ni *ni = lnet_ni_find(ln, nid);
	unsigned int i;
	u64 sum = 0;

	if (!ni)
		return 0;
	for (i = 0; i < ln->nr_shards; i++)
		sum += READ_ONCE(ni->sh[i].c[LNET_NIC_send_count]);
	lnet_ni_put(ni);
	return sum;
}

void load_log_counts(struct load *ld, u64 now_ns)
{
	struct lnet *ln = ld->user.ln;
	unsigned int i;

	if (now_ns < ld->next_rail_ns)
		return;
	ld->next_rail_ns = now_ns + RAIL_NS;
	for (i = 0; i < ld->o.nr_nids; i++)
		load_log(ld, PERF_RAIL, i, 0, (u32)sent_by(ln, &ld->o.nids[i]), 0);
	load_log(ld, PERF_COUNTS, counter(ln, LNET_C_dup_taken) + counter(ln, LNET_C_dup_final) +
		 counter(ln, LNET_C_dup_old) + counter(ln, LNET_C_dup_reply), 0,
		 (u32)counter(ln, LNET_C_resend_count), (u32)counter(ln, LNET_C_hedges));
}

/* ---- the thread ------------------------------------------------------------------------------ */

void load_wait(struct load *ld, u64 due_ns, bool (*ready)(struct load *ld))
{
	u64 now = ktime_get_ns();

	due_ns = min(due_ns, ld->next_rail_ns);
	if (due_ns <= now) {
		cond_resched();
		return;
	}
	wait_event_interruptible_hrtimeout(ld->wait, ready(ld) || kthread_should_stop(),
					   ns_to_ktime(due_ns - now));
}

/* Does nothing while the namespace ends, because its interfaces then end by themselves. */
static void interfaces_del(struct load *ld)
{
	unsigned int i;

	if (READ_ONCE(ld->gone))
		return;
	if (ld->o.nr_peer)
		lnet_peer_del(ld->user.ln, &ld->o.peer[0], NULL, 0);
	for (i = 0; i < ld->o.nr_routes; i++)
		if (ld->o.route_mine[i])
			lnet_route_del(ld->user.ln, ld->o.routes[i].net, &ld->o.routes[i].gateway);
	for (i = 0; i < ld->o.nr_nids; i++)
		if (ld->o.nid_mine[i])
			lnet_ni_del(ld->user.ln, &ld->o.nids[i]);
}

/* A server whose namespace ends is like a killed one: its log has no end. */
static int load_thread(void *arg)
{
	struct load *ld = arg;
	bool client = ld->o.role == PERF_CLIENT;

	ld->err = client ? load_client_run(ld) : load_server_run(ld);
	if (client)
		load_client_end(ld);
	else
		load_server_end(ld);
	if (client || !READ_ONCE(ld->gone))
		load_log(ld, PERF_END, 0, 0, 0, 0);
	interfaces_del(ld);
	complete_all(&ld->ended);
	wake_up_all(&ld->log_wait);
	return 0;
}

/* ---- options --------------------------------------------------------------------------------- */

static int nids_parse(char *text, struct lnet_nid *nids, u32 *nr)
{
	char *nid;
	int err = 0;

	while (!err && (nid = strsep(&text, ",")))
		err = *nr < LOAD_MAX_NIDS ? lnet_nid_parse(&nids[(*nr)++], nid) : -E2BIG;
	return err;
}

/* "net,nid,nid": a remote net and its gateways. */
static int routes_parse(struct load_opt *o, char *text)
{
	struct lnet_route_cfg cfg = { .hops = -1 };
	char *nid, *net = strsep(&text, ",");
	int err = text ? lnet_net_parse(&cfg.net, net) : -EINVAL;

	while (!err && (nid = strsep(&text, ","))) {
		err = o->nr_routes < LOAD_MAX_ROUTES ? lnet_nid_parse(&cfg.gateway, nid) : -E2BIG;
		if (!err)
			o->routes[o->nr_routes++] = cfg;
	}
	return err;
}

static int tune(struct load *ld, char *text)
{
	char *name = strsep(&text, "=");
	u64 value;
	int err = text ? lnet_tunable_parse(name, text, &value) : -EINVAL;

	return err ? err : lnet_tunable_set(ld->user.ln, name, value);
}

/* Sets *@to to @first plus the index of @value in the @nr @names. */
static int choose(int *to, int first, const char *const *names, int nr, const char *value)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (strcmp(names[i], value))
			continue;
		*to = first + i;
		return 0;
	}
	return -EINVAL;
}

static int number(u64 *to, const char *value, u64 max)
{
	char *end;
	u64 num = memparse(value, &end);

	if (*end || !num || num > max)
		return -EINVAL;
	*to = num;
	return 0;
}

static int number32(u32 *to, const char *value, u32 max)
{
	u64 num = 0;
	int err = number(&num, value, max);

	*to = (u32)num;
	return err;
}

static int option(struct load *ld, const char *name, char *value)
{
	static const char *const roles[] = { "client", "server" };
	static const char *const ops[] = { "put", "put-noack", "get" };
	static const char *const plants[] = { "none", "lost", "dup", "corrupt", "reorder" };
	struct load_opt *o = &ld->o;

	if (!strcmp(name, "role"))
		return choose(&o->role, PERF_CLIENT, roles, ARRAY_SIZE(roles), value);
	if (!strcmp(name, "op"))
		return choose(&o->op, PERF_PUT, ops, ARRAY_SIZE(ops), value);
	if (!strcmp(name, "plant"))
		return choose(&o->plant, PLANT_NONE, plants, ARRAY_SIZE(plants), value);
	if (!strcmp(name, "nid"))
		return nids_parse(value, o->nids, &o->nr_nids);
	if (!strcmp(name, "peer"))
		return nids_parse(value, o->peer, &o->nr_peer);
	if (!strcmp(name, "route"))
		return routes_parse(o, value);
	if (!strcmp(name, "set"))
		return tune(ld, value);
	if (!strcmp(name, "size"))
		return number32(&o->size, value, PERF_MAX_SIZE);
	if (!strcmp(name, "window"))
		return number32(&o->window, value, 1024);
	if (!strcmp(name, "interval"))
		return number(&o->interval_ns, value, 60 * NSEC_PER_SEC);
	if (!strcmp(name, "count"))
		return number(&o->count, value, 1ULL << PERF_ID_SHIFT);
	if (!strcmp(name, "timeout"))
		return number(&o->timeout_ns, value, 3600 * NSEC_PER_SEC);
	return -EINVAL;
}

static int options_parse(struct load *ld, char *text)
{
	struct load_opt *o = &ld->o;
	char *line, *name;
	int err = 0;

	*o = (struct load_opt){ .op = PERF_PUT, .size = 64, .window = 1, .count = U64_MAX };
	while (!err && (line = strsep(&text, "\n"))) {
		name = strsep(&line, " ");
		if (*name)
			err = line ? option(ld, name, line) : -EINVAL;
		if (err)
			pr_info("lnet_load: option %s: %d\n", name, err);
	}
	if (!err && (!o->role || !o->nr_nids || (o->role == PERF_CLIENT && !o->nr_peer) ||
		     o->size % 8 || o->size < PERF_PAYLOAD_MIN ||
		     (o->plant && o->op == PERF_GET)))
		err = -EINVAL;
	return err;
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* An existing object is used, and is not removed later: a node may reply and request. */
static int added(int err, bool *mine)
{
	*mine = !err;
	return err == -EEXIST ? 0 : err;
}

static int routes_add(struct load *ld)
{
	struct load_opt *o = &ld->o;
	u32 i;
	int err = 0;

	for (i = 0; i < o->nr_routes && !err; i++)
		err = added(lnet_route_add(ld->user.ln, &o->routes[i]), &o->route_mine[i]);
	return err;
}

/* As in lnetperf: plenty of credits, and connections from everybody. */
static int interfaces_add(struct load *ld)
{
	struct lnet_ni_cfg cfg;
	unsigned int i;
	int err = lnet_tunable_set(ld->user.ln, "accept", 2);

	for (i = 0; i < ld->o.nr_nids && !err; i++) {
		lnet_ni_cfg_init(&cfg);
		cfg.credits = 1024;
		cfg.peer_credits = 256;
		cfg.nid = ld->o.nids[i];
		err = added(lnet_ni_add(ld->user.ln, &cfg), &ld->o.nid_mine[i]);
	}
	if (!err)
		err = routes_add(ld);
	if (!err && ld->o.nr_peer)
		err = lnet_peer_add(ld->user.ln, &ld->o.peer[0], ld->o.peer, ld->o.nr_peer, true);
	return err;
}

static int thread_begin(struct load *ld)
{
	struct task_struct *thread = kthread_create(load_thread, ld, "lnet_load");

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	get_task_struct(thread);
	ld->thread = thread;
	wake_up_process(thread);
	return 0;
}

static void role_undo(struct load *ld)
{
	if (ld->client)
		load_client_end(ld);
	if (ld->server)
		load_server_end(ld);
	interfaces_del(ld);
}

/* Called with @lock of the load held. */
static int begin(struct load *ld, char *text)
{
	int err = options_parse(ld, text);

	if (err)
		return err;
	load_log(ld, PERF_START, ld->instance, 0, ld->o.role, (u32)task_pid_nr(current));
	err = interfaces_add(ld);
	if (!err)
		err = ld->o.role == PERF_CLIENT ? load_client_begin(ld) : load_server_begin(ld);
	if (!err)
		err = thread_begin(ld);
	if (err) {
		role_undo(ld);
		complete_all(&ld->ended);
	}
	return err;
}

static void ask_to_end(struct load *ld)
{
	WRITE_ONCE(ld->stop, true);
	wake_up_all(&ld->wait);
}

/* A load that has not begun never begins. */
static void gone(struct lnet_client *user)
{
	struct load *ld = container_of(user, struct load, user);

	WRITE_ONCE(ld->gone, true);
	ask_to_end(ld);
	mutex_lock(&ld->lock);
	if (!ld->thread)
		complete_all(&ld->ended);
	mutex_unlock(&ld->lock);
	wait_for_completion(&ld->ended);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int load_open(struct inode *inode, struct file *file)
{
	struct load *ld = kzalloc(sizeof(*ld), GFP_KERNEL);
	int err;

	if (!ld)
		return -ENOMEM;
	mutex_init(&ld->lock);
	init_completion(&ld->ended);
	init_waitqueue_head(&ld->wait);
	init_waitqueue_head(&ld->log_wait);
	spin_lock_init(&ld->log_lock);
	ld->instance = (get_random_u32() & 0xffffff) | 1;
	ld->day_ns = (s64)(ktime_get_real_ns() - ktime_get_ns());
	ld->user.gone = gone;
	ld->log_mem = vmalloc(LOG_BYTES);
	err = ld->log_mem ? kfifo_init(&ld->log, ld->log_mem, LOG_BYTES) : -ENOMEM;
	if (!err)
		err = lnet_client_open(&ld->user, current->nsproxy->net_ns);
	if (err) {
		vfree(ld->log_mem);
		kfree(ld);
		return err;
	}
	file->private_data = ld;
	return nonseekable_open(inode, file);
}

static int load_release(struct inode *inode, struct file *file)
{
	struct load *ld = file->private_data;

	ask_to_end(ld);
	if (ld->thread) {
		kthread_stop(ld->thread);
		put_task_struct(ld->thread);
	}
	lnet_client_close(&ld->user);
	load_client_free(ld);
	load_server_free(ld);
	vfree(ld->log_mem);
	kfree(ld);
	return 0;
}

static ssize_t load_write(struct file *file, const char __user *from, size_t len, loff_t *at)
{
	struct load *ld = file->private_data;
	char *text = len < OPTIONS_MAX ? memdup_user_nul(from, len) : ERR_PTR(-E2BIG);
	int err = 0;

	if (IS_ERR(text))
		return PTR_ERR(text);
	if (!strcmp(text, "stop")) {
		ask_to_end(ld);
	} else {
		mutex_lock(&ld->lock);
		err = ld->thread || completion_done(&ld->ended) ? -EBUSY : begin(ld, text);
		mutex_unlock(&ld->lock);
	}
	kfree(text);
	return err ? err : (ssize_t)len;
}

static ssize_t load_read(struct file *file, char __user *to, size_t len, loff_t *at)
{
	struct load *ld = file->private_data;
	unsigned int copied = 0;
	int err;

	len -= len % sizeof(struct perf_rec);
	err = wait_event_interruptible(ld->log_wait, !kfifo_is_empty(&ld->log) ||
						     completion_done(&ld->ended));
	mutex_lock(&ld->lock);
	if (!err)
		err = kfifo_to_user(&ld->log, to, len, &copied);
	mutex_unlock(&ld->lock);
	if (err)
		return err;
	if (copied)
		return copied;
	return READ_ONCE(ld->log_full) ? -EOVERFLOW : ld->err;
}

static const struct file_operations load_fops = {
	.owner = THIS_MODULE,
	.open = load_open,
	.release = load_release,
	.write = load_write,
	.read = load_read,
};

static struct miscdevice load_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "lnet_load",
	.fops = &load_fops,
	.mode = 0600,
};

static int __init load_init(void)
{
	perf_payload_init();
	return misc_register(&load_device);
}

static void __exit load_exit(void)
{
	misc_deregister(&load_device);
}

module_init(load_init);
module_exit(load_exit);
MODULE_DESCRIPTION("LNet: requests and answers in the kernel, for tests");
MODULE_LICENSE("Dual BSD/GPL");
