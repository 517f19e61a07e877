/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Executes requests to a stock module by module parameters and ioctls. Nodes of this project have
 * netlink commands for these requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lnet/nid.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uapi/lnet_ioctl.h>
#include "client.h"

#define DEVICE "/dev/" LNET_IOC_DEVICE

static int device_ioctl(void *arg, unsigned long code, void *buf)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC), rc;

	(void)arg;
	if (fd < 0)
		return -errno;
	rc = ioctl(fd, code, buf) ? -errno : 0;
	close(fd);
	return rc;
}

const struct stock stock_kernel = { "/sys/module", "/sys/kernel/debug/lnet", device_ioctl, NULL };

/* ---- parameters ------------------------------------------------------------------------------ */

/* The parameters in the order of stock's `global show'. */
static const struct param {
	/*
	 * @file: path below /sys/module, as "MODULE/parameters/PARAMETER"; "": stock's module
	 * computes the value from other parameters
	 */
	const char *name, *file, *initial;
	bool inverted;
} params[] = {
	{ "numa_range", "lnet/parameters/lnet_numa_range", "0", false },
	{ "max_interfaces", "lnet/parameters/lnet_interfaces_max", "4096", false },
	{ "discovery", "lnet/parameters/lnet_peer_discovery_disabled", "1", true },
	{ "drop_asym_route", "lnet/parameters/lnet_drop_asym_route", "0", false },
	{ "retry_count", "lnet/parameters/lnet_retry_count", "2", false },
	{ "transaction_timeout", "lnet/parameters/lnet_transaction_timeout", "150", false },
	{ "health_sensitivity", "lnet/parameters/lnet_health_sensitivity", "100", false },
	{ "recovery_interval", "lnet/parameters/lnet_recovery_interval", "1", false },
	{ "router_sensitivity", "lnet/parameters/router_sensitivity_percentage", "100", false },
	{ "lnd_timeout", "", "", false },
	{ "response_tracking", "lnet/parameters/lnet_response_tracking", "3", false },
	{ "recovery_limit", "lnet/parameters/lnet_recovery_limit", "0", false },
	{ "max_recovery_ping_interval", "lnet/parameters/lnet_max_recovery_ping_interval", "900",
	  false },
	/* set only, not shown */
	{ "sock_timeout", "ksocklnd/parameters/sock_timeout", "50", false },
};

#define NR_PARAMS (sizeof(params) / sizeof(params[0]))
#define NR_SHOWN (NR_PARAMS - 1)

static const struct param *param_find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_PARAMS; i++)
		if (!strcmp(params[i].name, name))
			return &params[i];
	return NULL;
}

static int file_number_read(const char *directory, const char *file, int64_t *val)
{
	char path[256], text[32] = "";
	struct lnetctl_node n = { .text = text };
	FILE *in;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	in = fopen(path, "re");
	if (!in)
		return -errno;
	rc = fgets(text, sizeof(text), in) ? 0 : -EIO;
	fclose(in);
	text[strcspn(text, "\n")] = 0;
	return rc ? rc : lnetctl_num(&n, val);
}

/* Writes a number with its NUL, as stock's tool does. */
static int number_write(const char *directory, const char *file, int64_t val)
{
	char path[256], text[32];
	int fd, rc, len = snprintf(text, sizeof(text), "%" PRId64, val) + 1;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = write(fd, text, (size_t)len) == len ? 0 : errno ? -errno : -EIO;
	close(fd);
	return rc;
}

/* Sets the NUMA range by ioctl, because its parameter is not writable. */
static int numa_write(const struct stock *s, int64_t val)
{
	struct lnet_ioc_value v = {
		.hdr = { sizeof(v), LNET_IOC_VERSION }, .value = (uint32_t)val
	};

	return s->ask(s->arg, LNET_IOC(LNET_IOC_SET_NUMA), &v);
}

static int stock_param_read(const struct stock *s, const struct param *p, int64_t *val)
{
	int rc = file_number_read(s->modules, p->file, val);

	if (!rc && p->inverted)
		*val = !*val;
	return rc;
}

static int param_write(const struct stock *s, const struct param *p, int64_t val)
{
	if (!strcmp(p->name, "numa_range"))
		return numa_write(s, val);
	return number_write(s->modules, p->file, p->inverted ? !val : val);
}

/*
 * Reads the timeout in debugfs. If the caller may not read debugfs, computes the value as the
 * module does.
 */
static int lnd_timeout_read(const struct stock *s, int64_t *val)
{
	int64_t timeout, retries;
	int rc = 0;

	if (!file_number_read(s->debugfs, "lnet_lnd_timeout", val))
		return 0;
	rc = stock_param_read(s, param_find("transaction_timeout"), &timeout);
	if (!rc)
		rc = stock_param_read(s, param_find("retry_count"), &retries);
	if (rc || retries < 0)
		return rc ? rc : -EIO;
	*val = (timeout - 1) / (retries + 1);
	*val = *val < 1 ? 1 : *val;
	return 0;
}

static int global_show(const struct stock *s, struct lnetctl_node *doc)
{
	struct lnetctl_node *map = lnetctl_add_map(doc, "global");
	int64_t val;
	size_t i;
	int rc = map ? 0 : -ENOMEM;

	for (i = 0; i < NR_SHOWN && !rc; i++) {
		rc = *params[i].file ? stock_param_read(s, &params[i], &val)
				     : lnd_timeout_read(s, &val);
		if (!rc && !lnetctl_add_num(map, params[i].name, val))
			rc = -ENOMEM;
	}
	return rc;
}

static int value_parse(const struct lnetctl_node *n, const struct param *p, int64_t *val,
		       char *why, size_t size)
{
	struct lnetctl_node initial = { .text = (char *)p->initial };

	if (n->text && !strcmp(n->text, "default"))
		return lnetctl_num(&initial, val);
	if (!lnetctl_num(n, val))
		return 0;
	snprintf(why, size,
		 "invalid value '%s' for key '%s': stock LNet accepts only whole numbers",
		 n->text ? n->text : "", n->key);
	return -EINVAL;
}

/*
 * Sets all values. Checks all values before the first write. If a write fails, restores the earlier
 * values.
 */
static int set_all(const struct stock *s, const struct lnetctl_node *values, char *why, size_t size)
{
	const struct lnetctl_node *n, *failed = NULL;
	int64_t before[NR_PARAMS], val;
	const struct param *p;
	int rc = 0;

	for (n = values->first; n && !rc; n = n->next) {
		p = param_find(n->key);
		if (!p || !*p->file) {
			snprintf(why, size, "invalid key '%s'", n->key);
			return -ENOENT;
		}
		rc = value_parse(n, p, &val, why, size);
		if (!rc)
			rc = stock_param_read(s, p, &before[p - params]);
	}
	for (n = values->first; n && !rc; n = n->next) {
		p = param_find(n->key);
		value_parse(n, p, &val, why, size);
		rc = param_write(s, p, val);
		failed = rc ? n : NULL;
	}
	for (n = failed ? values->first : NULL; n != failed; n = n->next) {
		p = param_find(n->key);
		param_write(s, p, before[p - params]);
	}
	if (failed)
		snprintf(why, size, "invalid value '%s' for key '%s'", failed->text, failed->key);
	return rc;
}

/* ---- statistics ------------------------------------------------------------------------------ */

#define U32(name, member) { #name, offsetof(struct lnet_ioc_stats, member), 4 }
#define U64(name) { #name, offsetof(struct lnet_ioc_stats, name), 8 }

static const struct counter {
	const char *name;
	unsigned short at, bytes;
} counters[] = {
	U32(msgs_alloc, msgs_alloc), U32(msgs_max, msgs_max), U32(rst_alloc, rst_alloc),
	U32(errors, errors), U32(send_count, send_count), U32(resend_count, resend),
	U32(response_timeout_count, response_timeout),
	U32(local_interrupt_count, local_interrupt), U32(local_dropped_count, local_dropped),
	U32(local_aborted_count, local_aborted), U32(local_no_route_count, local_no_route),
	U32(local_timeout_count, local_timeout), U32(local_error_count, local_error),
	U32(remote_dropped_count, remote_dropped), U32(remote_error_count, remote_error),
	U32(remote_timeout_count, remote_timeout), U32(network_timeout_count, network_timeout),
	U32(failed_resends, failed_resends), U32(successful_resends, successful_resends),
	U32(recv_count, recv_count), U32(route_count, route_count), U32(drop_count, drop_count),
	U64(send_length), U64(recv_length), U64(route_length), U64(drop_length),
};

static int stock_stats_show(const struct stock *s, struct lnetctl_node *doc)
{
	struct lnet_ioc_stats st = { .hdr = { sizeof(st), LNET_IOC_VERSION } };
	int rc = s->ask(s->arg, LNET_IOC(LNET_IOC_GET_STATS), &st);
	struct lnetctl_node *map;
	size_t i;

	if (rc)
		return rc;
	map = lnetctl_add_map(doc, "statistics");
	for (i = 0; map && i < sizeof(counters) / sizeof(counters[0]); i++) {
		uint64_t val = 0;
		char text[24];

		memcpy(&val, (const char *)&st + counters[i].at, counters[i].bytes);
		snprintf(text, sizeof(text), "%" PRIu64, val);
		if (!lnetctl_add(map, counters[i].name, LNETCTL_NUM, text))
			return -ENOMEM;
	}
	return map ? 0 : -ENOMEM;
}

static int stock_stats_reset(const struct stock *s)
{
	struct lnet_ioc_data data = { .hdr = { sizeof(data), LNET_IOC_VERSION_DATA } };

	return s->ask(s->arg, LNET_IOC(LNET_IOC_RESET_STATS), &data);
}

/* ---- routing --------------------------------------------------------------------------------- */

static int config_set(const struct stock *s, unsigned int nr, struct lnet_ioc_config *cfg)
{
	cfg->hdr = (struct lnet_ioc_hdr){ sizeof(*cfg), LNET_IOC_VERSION };
	return s->ask(s->arg, LNET_IOC(nr), cfg);
}

static uint32_t body_number(const struct lnetctl_node *body, const char *key)
{
	int64_t num = -1;

	lnetctl_num(lnetctl_find(body, key), &num);
	return (uint32_t)num;
}

static int routing_set(const struct stock *s, const struct lnetctl_node *body)
{
	struct lnet_ioc_config cfg = { .enable = body_number(body, "enable") };

	return config_set(s, LNET_IOC_CONFIG_RTR, &cfg);
}

static int stock_buffers_set(const struct stock *s, const struct lnetctl_node *body)
{
	struct lnet_ioc_config cfg = { .tiny = body_number(body, "tiny"),
				       .small = body_number(body, "small"),
				       .large = body_number(body, "large") };

	return config_set(s, LNET_IOC_ADD_BUF, &cfg);
}

static void pool_add(struct lnetctl_node *item, const char *name, struct lnet_ioc_pool pool)
{
	struct lnetctl_node *map = lnetctl_add_map(item, name);

	if (!map)
		return;
	lnetctl_add_num(map, "npages", pool.pages);
	lnetctl_add_num(map, "nbuffers", pool.buffers);
	lnetctl_add_num(map, "credits", (int32_t)pool.credits);
	lnetctl_add_num(map, "mincredits", (int32_t)pool.min_credits);
}

/* Shows routing in the form that nodes of this project use. */
static int routing_show(const struct stock *s, struct lnetctl_node *doc)
{
	struct lnetctl_node *seq = lnetctl_add_seq(doc, "routing"), *item;
	unsigned int cpt;
	int rc;

	for (cpt = 0; seq; cpt++) {
		struct lnet_ioc_buf buf = { .cfg.hdr = { sizeof(buf), LNET_IOC_VERSION } };

		buf.cfg.count = cpt;
		rc = s->ask(s->arg, LNET_IOC(LNET_IOC_GET_BUF), &buf);
		if (rc)
			return rc == -ENOENT ? 0 : rc;
		item = lnetctl_add_map(seq, NULL);
		if (!item)
			return -ENOMEM;
		lnetctl_add_num(item, "cpt", cpt);
		lnetctl_add_num(item, "enable", buf.routing);
		pool_add(item, "tiny", buf.pool[0]);
		pool_add(item, "small", buf.pool[1]);
		pool_add(item, "large", buf.pool[2]);
	}
	return -ENOMEM;
}

/* ---- peers ----------------------------------------------------------------------------------- */

int stock_peer_log(const struct stock *s, const char *text)
{
	struct lnet_ioc_data data = { .hdr = { sizeof(data), LNET_IOC_VERSION_DATA } };
	struct lnet_nid nid;

	if (lnet_nid_parse(&nid, text) || !lnet_nid_is_nid4(&nid))
		return -EINVAL;
	data.nid = lnet_nid_to_nid4(&nid);
	data.net = (uint32_t)(data.nid >> 32);
	return s->ask(s->arg, LNET_IOC(LNET_IOC_GET_PEER), &data);
}

/* ---- on and off ------------------------------------------------------------------------------ */

/* Configures the module. The ioctl has no field for large NIDs. */
static int stock_configure(const struct stock *s, unsigned int flags)
{
	struct lnet_ioc_data data = { .hdr = { sizeof(data), LNET_IOC_VERSION_DATA } };

	if (!(flags & LNET_NL_F_CREATE))
		return s->ask(s->arg, LNET_IOC(LNET_IOC_UNCONFIGURE), &data);
	if (flags & LNET_NL_F_APPEND)
		return -EOPNOTSUPP;
	data.flags = !(flags & LNET_NL_F_EXCL);
	return s->ask(s->arg, LNET_IOC(LNET_IOC_CONFIGURE), &data);
}

/* ---- dispatch -------------------------------------------------------------------------------- */

int stock_talk(const struct stock *s, const struct ctl_op *op, const struct lnetctl_node *body,
	       struct reply *reply, char *why, size_t size)
{
	bool shows = (op->flags & LNET_NL_F_DUMP) == LNET_NL_F_DUMP;

	if (op->cmd == LNET_NL_CONFIGURE)
		return stock_configure(s, op->flags);
	if (op->cmd == LNET_NL_TUNABLES && shows)
		return global_show(s, reply->doc);
	if (op->cmd == LNET_NL_TUNABLES && body)
		return set_all(s, body, why, size);
	if (op->cmd == LNET_NL_ROUTING)
		return shows ? routing_show(s, reply->doc) : routing_set(s, body);
	if (op->cmd == LNET_NL_BUFFERS)
		return stock_buffers_set(s, body);
	if (op->cmd == LNET_NL_STATS && shows)
		return stock_stats_show(s, reply->doc);
	if (op->cmd == LNET_NL_STATS_RESET)
		return stock_stats_reset(s);
	if (op->cmd == LNET_NL_UDSP)
		return stock_udsp(s, op, body, reply, why, size);
	return -EOPNOTSUPP;
}
