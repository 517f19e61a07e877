/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /dev/lnet: the ioctls of stock LNet's tools, for the network namespace of the caller. */
#include "kernel.h"
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/nsproxy.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include <lnet/nid.h>
#include <net/net_namespace.h>
#include <uapi/lnet_ioctl.h>
#include "shard/shard.h"
#include "topology/topology.h"
#include "router/router.h"
#include "manage/manage.h"

/* ---- the requests ---------------------------------------------------------------------------- */

static void peer_print(struct lnet_peer *peer)
{
	char primary[LNET_NIDSTR_SIZE], nid[LNET_NIDSTR_SIZE];
	const struct lnet_peer_ni *pni;

	spin_lock(&peer->sh->lock);
	lnet_nid_str(&peer->primary, primary);
	list_for_each_entry(pni, &peer->pnis, link)
		pr_info("lnet: peer %s: interface %s, %d references, health %d, credits %d of %u, "
			"fewest credits %d, %u waiting messages\n",
			primary, lnet_nid_str(&pni->nid, nid), atomic_read(&pni->refs), pni->health,
			pni->credits, pni->max_credits, pni->min_credits, pni->nr_wait);
	spin_unlock(&peer->sh->lock);
}

static int get_peer(struct lnet *ln, void *buf)
{
	const struct lnet_ioc_data *data = buf;
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	struct lnet_nid nid;

	lnet_nid_from_nid4(&nid, data->nid);
	pni = lnet_peer_ni_lookup(ln, &nid);
	if (!pni)
		return -ENOENT;
	peer = lnet_peer_of(pni);
	peer_print(peer);
	lnet_peer_put(peer);
	lnet_peer_ni_put(pni);
	return 0;
}

/* Writes the text of an error to the log, because an ioctl returns only the errno. */
static int told(int rc, const struct lnet_ctl_err *e)
{
	if (rc && e->text[0])
		pr_info("lnet: ioctl failed: %*pE\n", (int)strlen(e->text), e->text);
	return rc;
}

/*
 * Configures the node of the caller's namespace. If data->flags is not 0, also adds the interfaces
 * that the module parameters name.
 */
static int ioctl_configure(struct lnet *ln, void *buf)
{
	const struct lnet_ioc_data *data = buf;
	struct lnet_ctl_err e = { "" };

	return told(lnet_netns_configure(current->nsproxy->net_ns, data->flags, &e), &e);
}

static int ioctl_unconfigure(struct lnet *ln, void *buf)
{
	struct lnet_ctl_req req = { .cmd = LNET_NL_CONFIGURE,
				    .uid = from_kuid(&init_user_ns, current_uid()),
				    .pid = task_tgid_nr(current) };
	struct lnet_ctl_err e = { "" };

	return told(lnet_netns_act(lnet_netns_of(current->nsproxy->net_ns), &req, &e), &e);
}

static int config_rtr(struct lnet *ln, void *buf)
{
	const struct lnet_ioc_config *cfg = buf;

	return lnet_router_enable(ln, cfg->enable);
}

/* If the value is out of range, returns -EINVAL, as stock LNet does. */
static int ioctl_tunable_set(struct lnet *ln, const char *name, u64 value)
{
	int rc = lnet_tunable_set(ln, name, value);

	return rc == -ERANGE ? -EINVAL : rc;
}

/* @nr -1: leaves the tunable unchanged. */
static int set_buffers(struct lnet *ln, const char *tunable, s32 nr)
{
	if (nr < -1)
		return -EINVAL;
	return nr < 0 ? 0 : ioctl_tunable_set(ln, tunable, (u64)nr);
}

static int add_buf(struct lnet *ln, void *buf)
{
	const struct lnet_ioc_config *cfg = buf;
	int rc = set_buffers(ln, "tiny_router_buffers", (s32)cfg->tiny);

	rc = rc ?: set_buffers(ln, "small_router_buffers", (s32)cfg->small);
	return rc ?: set_buffers(ln, "large_router_buffers", (s32)cfg->large);
}

static int get_buf(struct lnet *ln, void *buf)
{
	struct lnet_ioc_buf *b = buf;
	struct lnet_rtr_view v[LNET_NR_RTR];
	unsigned int i;
	int rc = lnet_router_view(ln, b->cfg.count, v);

	for (i = 0; i < LNET_NR_RTR && !rc; i++)
		b->pool[i] = (struct lnet_ioc_pool){ v[i].pages, v[i].nr, (u32)v[i].credits,
						     (u32)v[i].min_credits };
	b->routing = lnet_router_state_nr(ln);
	return rc;
}

static u32 counter(const struct lnet *ln, enum lnet_counter c)
{
	return (u32)lnet_stat_sum(ln, c);
}

static int get_stats(struct lnet *ln, void *buf)
{
	struct lnet_ioc_stats *s = buf;

	s->msgs_alloc = counter(ln, LNET_C_msgs_alloc);
	s->msgs_max = counter(ln, LNET_C_msgs_max);
	s->errors = counter(ln, LNET_C_errors);
	s->send_count = counter(ln, LNET_C_send_count);
	s->recv_count = counter(ln, LNET_C_recv_count);
	s->route_count = counter(ln, LNET_C_route_count);
	s->drop_count = counter(ln, LNET_C_drop_count);
	s->send_length = lnet_stat_sum(ln, LNET_C_send_length);
	s->recv_length = lnet_stat_sum(ln, LNET_C_recv_length);
	s->route_length = lnet_stat_sum(ln, LNET_C_route_length);
	s->drop_length = lnet_stat_sum(ln, LNET_C_drop_length);
	s->rst_alloc = counter(ln, LNET_C_rst_alloc);
	s->resend = counter(ln, LNET_C_resend_count);
	s->response_timeout = counter(ln, LNET_C_response_timeout_count);
	s->local_interrupt = counter(ln, LNET_C_local_interrupt_count);
	s->local_dropped = counter(ln, LNET_C_local_dropped_count);
	s->local_aborted = counter(ln, LNET_C_local_aborted_count);
	s->local_no_route = counter(ln, LNET_C_local_no_route_count);
	s->local_timeout = counter(ln, LNET_C_local_timeout_count);
	s->local_error = counter(ln, LNET_C_local_error_count);
	s->remote_dropped = counter(ln, LNET_C_remote_dropped_count);
	s->remote_error = counter(ln, LNET_C_remote_error_count);
	s->remote_timeout = counter(ln, LNET_C_remote_timeout_count);
	s->network_timeout = counter(ln, LNET_C_network_timeout_count);
	s->failed_resends = counter(ln, LNET_C_failed_resends);
	s->successful_resends = counter(ln, LNET_C_successful_resends);
	return 0;
}

static int reset_stats(struct lnet *ln, void *buf)
{
	lnet_stats_reset(ln);
	return 0;
}

static int set_numa(struct lnet *ln, void *buf)
{
	const struct lnet_ioc_value *v = buf;

	return ioctl_tunable_set(ln, "numa_range", v->value);
}

static int get_numa(struct lnet *ln, void *buf)
{
	struct lnet_ioc_value *v = buf;

	v->value = (u32)READ_ONCE(ln->tun.numa_range);
	return 0;
}

/*
 * @size: minimum size of the buffer; for LNET_IOC_VERSION_DATA, data_fits() also checks the size.
 * @change: the name of a request that changes the configuration, if its function does not log the
 * change itself.
 */
static const struct request {
	u8 nr;
	u32 version, size;
	int (*act)(struct lnet *ln, void *buf);
	const char *change;
} requests[] = {
	{ LNET_IOC_UNCONFIGURE, LNET_IOC_VERSION_DATA, sizeof(struct lnet_ioc_data),
	  ioctl_unconfigure },
	{ LNET_IOC_CONFIGURE, LNET_IOC_VERSION_DATA, sizeof(struct lnet_ioc_data),
	  ioctl_configure },
	{ LNET_IOC_LST, LNET_IOC_VERSION_DATA, sizeof(struct lnet_ioc_data), lnet_ioc_lst },
	{ LNET_IOC_GET_PEER, LNET_IOC_VERSION_DATA, sizeof(struct lnet_ioc_data), get_peer },
	{ LNET_IOC_CONFIG_RTR, LNET_IOC_VERSION, sizeof(struct lnet_ioc_config), config_rtr,
	  "set routing" },
	{ LNET_IOC_ADD_BUF, LNET_IOC_VERSION, sizeof(struct lnet_ioc_config), add_buf,
	  "set buffers" },
	{ LNET_IOC_GET_BUF, LNET_IOC_VERSION, sizeof(struct lnet_ioc_buf), get_buf },
	{ LNET_IOC_GET_STATS, LNET_IOC_VERSION, sizeof(struct lnet_ioc_stats), get_stats },
	{ LNET_IOC_SET_NUMA, LNET_IOC_VERSION, sizeof(struct lnet_ioc_value), set_numa,
	  "set numa_range" },
	{ LNET_IOC_GET_NUMA, LNET_IOC_VERSION, sizeof(struct lnet_ioc_value), get_numa },
	{ LNET_IOC_ADD_UDSP, LNET_IOC_VERSION, sizeof(struct lnet_ioc_udsp), lnet_ioc_udsp_add,
	  "udsp add" },
	{ LNET_IOC_DEL_UDSP, LNET_IOC_VERSION, sizeof(struct lnet_ioc_udsp), lnet_ioc_udsp_del,
	  "udsp del" },
	{ LNET_IOC_GET_UDSP_SIZE, LNET_IOC_VERSION, sizeof(struct lnet_ioc_udsp),
	  lnet_ioc_udsp_size },
	{ LNET_IOC_GET_UDSP, LNET_IOC_VERSION, sizeof(struct lnet_ioc_udsp), lnet_ioc_udsp_get },
	{ LNET_IOC_RESET_STATS, LNET_IOC_VERSION_DATA, sizeof(struct lnet_ioc_data), reset_stats,
	  "stats reset" },
};

/* ---- from the caller and back ---------------------------------------------------------------- */

static const struct request *ioctl_request_find(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].nr == nr)
			return &requests[i];
	return NULL;
}

/* Returns true if the buffer is exactly as long as the header and both inline buffers. */
static bool data_fits(const struct lnet_ioc_data *data)
{
	u64 len = sizeof(*data) + ALIGN((u64)data->inline_len1, 8) +
		  ALIGN((u64)data->inline_len2, 8);

	return data->hdr.len == len;
}

/*
 * Copies the buffer, but keeps the header that was checked, because the caller may change the
 * header meanwhile.
 */
static void *ioctl_request_copy(const struct request *r, const void __user *from,
				struct lnet_ioc_hdr *hdr)
{
	void *buf;

	if (copy_from_user(hdr, from, sizeof(*hdr)))
		return ERR_PTR(-EFAULT);
	if (hdr->version != r->version || hdr->len < r->size || hdr->len > LNET_IOC_LEN_MAX)
		return ERR_PTR(-EINVAL);
	buf = vmemdup_user(from, hdr->len);
	if (IS_ERR(buf))
		return buf;
	memcpy(buf, hdr, sizeof(*hdr));
	if (r->version != LNET_IOC_VERSION_DATA || data_fits(buf))
		return buf;
	kvfree(buf);
	return ERR_PTR(-EINVAL);
}

/* Writes the new values to @words, for the log. */
static void ioctl_request_words(const struct request *r, const void *buf, char *words, size_t size)
{
	const struct lnet_ioc_config *cfg = buf;
	const struct lnet_ioc_value *v = buf;

	words[0] = 0;
	if (r->nr == LNET_IOC_CONFIG_RTR)
		scnprintf(words, size, "%u", cfg->enable);
	else if (r->nr == LNET_IOC_ADD_BUF)
		scnprintf(words, size, "tiny %d, small %d, large %d", (s32)cfg->tiny,
			  (s32)cfg->small, (s32)cfg->large);
	else if (r->nr == LNET_IOC_SET_NUMA)
		scnprintf(words, size, "%llu", (u64)v->value);
}

static long ioctl_execute(const struct request *r, void __user *at)
{
	char words[64];
	struct lnet_netns *ns;
	struct lnet_ioc_hdr hdr;
	void *buf = ioctl_request_copy(r, at, &hdr);
	int rc;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	rc = lnet_netns_up(current->nsproxy->net_ns, &ns);
	if (!rc)
		rc = r->act(ns->ln, buf);
	if (!rc && r->change) {
		ioctl_request_words(r, buf, words, sizeof(words));
		lnet_netns_changed(ns, r->change, words);
	}
	if (!rc && copy_to_user(at, buf, hdr.len))
		rc = -EFAULT;
	kvfree(buf);
	return rc;
}

static long on_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct user_namespace *user_ns = current->nsproxy->net_ns->user_ns;
	const struct request *r = ioctl_request_find(_IOC_NR(cmd));

	/*
	 * Checks the rights of the opener and of the caller, because the opener may have passed the
	 * descriptor to another process.
	 */
	if (!ns_capable(user_ns, CAP_SYS_ADMIN) || !file_ns_capable(file, user_ns, CAP_SYS_ADMIN))
		return -EACCES;
	if (_IOC_TYPE(cmd) != LNET_IOC_TYPE || _IOC_NR(cmd) < LNET_IOC_MIN ||
	    _IOC_NR(cmd) > LNET_IOC_MAX)
		return -EINVAL;
	return r ? ioctl_execute(r, (void __user *)arg) : -EOPNOTSUPP;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = on_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = LNET_IOC_DEVICE,
	.fops = &operations,
};

int __init lnet_ioctl_init(void)
{
	return misc_register(&device);
}

void lnet_ioctl_fini(void)
{
	misc_deregister(&device);
}
