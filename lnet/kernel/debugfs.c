/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stock LNet's files below /sys/kernel/debug/lnet, for the network namespace of the reader. */
#include "kernel.h"
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/nsproxy.h>
#include <linux/seq_file.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include "control/command.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "router/router.h"
#include "manage/manage.h"

static struct dentry *directory;

/*
 * Returns the LNet node of the calling process. NULL: its namespace has none, and reading or
 * writing a file does not create one. During the call, the process keeps its namespace alive, and
 * the namespace keeps the node alive.
 */
static struct lnet *callers_node(void)
{
	return READ_ONCE(lnet_netns_of(current->nsproxy->net_ns)->ln);
}

/* ---- stats ----------------------------------------------------------------------------------- */

static void debugfs_stats_show(struct seq_file *m, struct lnet *ln)
{
	static const u8 shown[] = {
		LNET_C_msgs_alloc, LNET_C_msgs_max, LNET_C_errors, LNET_C_send_count,
		LNET_C_recv_count, LNET_C_route_count, LNET_C_drop_count, LNET_C_send_length,
		LNET_C_recv_length, LNET_C_route_length, LNET_C_drop_length,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shown); i++)
		seq_printf(m, "%s%llu", i ? " " : "",
			   ln ? lnet_stat_sum(ln, shown[i]) : 0ULL);
	seq_putc(m, '\n');
}

/* ---- nis ------------------------------------------------------------------------------------- */

/*
 * Prints a line per shard, because each shard has separate credits. As in stock LNet, the loopback
 * has no line.
 */
static void ni_show(struct seq_file *m, struct lnet_ni *ni)
{
	struct lnet *ln = ni->ln;
	bool lo = ni == ln->lo;
	char nid[LNET_NIDSTR_SIZE];
	s32 tx, min_tx;
	unsigned int i;

	lnet_nid_str(&ni->nid, nid);
	for (i = 0; i < ln->nr_shards; i++) {
		spin_lock(&ln->shard[i].lock);
		tx = ni->sh[i].credits;
		min_tx = ni->sh[i].min_credits;
		spin_unlock(&ln->shard[i].lock);
		seq_printf(m, "%-24s %6s %5d %4d %4d %4d %5d %5d %5d\n", nid,
			   lnet_ctl_ni_up(ni) ? "up" : "down", lo ? 0 : -1,
			   atomic_read(&ni->refs), lo ? 0 : ni->peer_credits,
			   lo ? 0 : ni->peer_buffer_credits, lo ? 0 : lnet_credits_ni_quota(ni),
			   lo ? 0 : tx, lo ? 0 : min_tx);
	}
}

static void nis_show(struct seq_file *m, struct lnet *ln)
{
	struct lnet_ni *ni;

	seq_printf(m, "%-24s %6s %5s %4s %4s %4s %5s %5s %5s\n", "nid", "status", "alive", "refs",
		   "peer", "rtr", "max", "tx", "min");
	if (!ln)
		return;
	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(ni, &ln->nis, link)
		ni_show(m, ni);
	mutex_unlock(&ln->cfg_mutex);
}

static void nis_reset(struct lnet *ln)
{
	struct lnet_ni *ni;
	unsigned int i;

	mutex_lock(&ln->cfg_mutex);
	for (i = 0; i < ln->nr_shards; i++) {
		spin_lock(&ln->shard[i].lock);
		list_for_each_entry(ni, &ln->nis, link)
			ni->sh[i].min_credits = ni->sh[i].credits;
		spin_unlock(&ln->shard[i].lock);
	}
	mutex_unlock(&ln->cfg_mutex);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static void debugfs_peers_walk(struct lnet *ln,
			       void (*fn)(struct lnet_pass *p, struct lnet_peer *peer, void *arg),
			       void *arg)
{
	struct lnet_pass p;

	mutex_lock(&ln->cfg_mutex);
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_peers_walk(&p, fn, arg);
	lnet_pass_end(&p);
	mutex_unlock(&ln->cfg_mutex);
}

static void debugfs_peer_show(struct lnet_pass *p, struct lnet_peer *peer, void *arg)
{
	const struct lnet_peer_ni *pni;
	char nid[LNET_NIDSTR_SIZE];
	struct seq_file *m = arg;

	if (lnet_nid_is_lo(&peer->primary))
		return;
	list_for_each_entry(pni, &peer->pnis, link)
		seq_printf(m, "%-24s %4d %5s %5d %5u %5d %5d %5d %5d %u\n",
			   lnet_nid_str(&pni->nid, nid), atomic_read(&pni->refs), "NA", -1,
			   pni->max_credits, pni->rtr_credits, pni->min_rtr_credits, pni->credits,
			   pni->min_credits, pni->nr_wait);
}

static void peers_show(struct seq_file *m, struct lnet *ln)
{
	seq_printf(m, "%-24s %4s %5s %5s %5s %5s %5s %5s %5s %s\n", "nid", "refs", "state", "last",
		   "max", "rtr", "min", "tx", "min", "queue");
	if (ln)
		debugfs_peers_walk(ln, debugfs_peer_show, m);
}

static void debugfs_peer_reset(struct lnet_pass *p, struct lnet_peer *peer, void *arg)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link) {
		pni->min_credits = pni->credits;
		pni->min_rtr_credits = pni->rtr_credits;
	}
}

static void peers_reset(struct lnet *ln)
{
	debugfs_peers_walk(ln, debugfs_peer_reset, NULL);
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* Prints the routing state, but no routes; lnetctl shows the routes. */
static void routes_show(struct seq_file *m, struct lnet *ln)
{
	static const char *const words[LNET_NR_ROUTER_STATES] = {
		[ROUTER_DISABLED] = "disabled", [ROUTER_STARTING] = "starting",
		[ROUTER_ENABLED] = "enabled", [ROUTER_STOPPING] = "stopping",
	};

	seq_printf(m, "Routing %s\n", words[ln ? lnet_router_state(ln) : ROUTER_DISABLED]);
	seq_printf(m, "%-8s %4s %8s %7s %s\n", "net", "hops", "priority", "state", "router");
}

static void routers_show(struct seq_file *m, struct lnet *ln)
{
	seq_printf(m, "%-4s %7s %5s %s\n", "ref", "rtr_ref", "alive", "router");
}

static void buffers_show(struct seq_file *m, struct lnet *ln)
{
	struct lnet_rtr_view v[LNET_NR_RTR];
	unsigned int shard, i;

	seq_printf(m, "%5s %5s %7s %7s\n", "pages", "count", "credits", "min");
	for (shard = 0; ln && !lnet_router_view(ln, shard, v); shard++)
		for (i = 0; i < LNET_NR_RTR; i++)
			seq_printf(m, "%5u %5u %7d %7d\n", v[i].pages, v[i].nr, v[i].credits,
				   v[i].min_credits);
}

/* Prints the attempt timeout in seconds, rounded up. */
static void timeout_show(struct seq_file *m, struct lnet *ln)
{
	u64 tries, ns;

	if (!ln)
		return;
	tries = max_t(u64, READ_ONCE(ln->tun.retry_count), 1);
	ns = div64_u64(READ_ONCE(ln->tun.transaction_timeout), tries);
	seq_printf(m, "%llu\n", div_u64(ns + NSEC_PER_SEC - 1, NSEC_PER_SEC));
}

static void cpts_show(struct seq_file *m, struct lnet *ln)
{
	lnet_cpts_show(m);
}

static void distances_show(struct seq_file *m, struct lnet *ln)
{
	lnet_cpts_distances_show(m);
}

static const struct text {
	const char *name;
	void (*show)(struct seq_file *m, struct lnet *ln);	/* @ln NULL: no node */
	void (*reset)(struct lnet *ln);	/* on any write; NULL: read-only */
} texts[] = {
	{ "stats", debugfs_stats_show, lnet_stats_reset },
	{ "nis", nis_show, nis_reset },
	{ "peers", peers_show, peers_reset },
	{ "routes", routes_show },
	{ "routers", routers_show },
	{ "buffers", buffers_show },
	{ "lnet_lnd_timeout", timeout_show },
	{ "cpu_partition_table", cpts_show },
	{ "cpu_partition_distance", distances_show },
};

static int text_show(struct seq_file *m, void *unused)
{
	const struct text *text = m->private;

	text->show(m, callers_node());
	return 0;
}

static int text_open(struct inode *inode, struct file *file)
{
	return single_open(file, text_show, inode->i_private);
}

static ssize_t text_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	const struct text *text = file_inode(file)->i_private;
	struct user_namespace *user_ns = current->nsproxy->net_ns->user_ns;
	struct lnet *ln = callers_node();

	/*
	 * Checks the rights of the opener and of the writer, because the opener may have passed the
	 * descriptor to another process.
	 */
	if (!text->reset || !ns_capable(user_ns, CAP_NET_ADMIN) ||
	    !file_ns_capable(file, user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (ln)
		text->reset(ln);
	return len;
}

static const struct file_operations text_operations = {
	.owner = THIS_MODULE,
	.open = text_open,
	.read = seq_read,
	.write = text_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* Ignores errors, because a kernel without debugfs lacks only these files. */
void __init lnet_debugfs_init(void)
{
	unsigned int i;

	directory = debugfs_create_dir("lnet", NULL);
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		debugfs_create_file(texts[i].name, texts[i].reset ? 0644 : 0444, directory,
				    (void *)&texts[i], &text_operations);
}

/* Waits until no process reads or writes a file. */
void lnet_debugfs_fini(void)
{
	debugfs_remove(directory);
}
