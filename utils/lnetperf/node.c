/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The node inside lnetperf: interfaces, peers, tunables, and the socket for lnetctl. */
#include "perf.h"

#include <lnet/lnetctl.h>
#include <lnet/socklnd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shard/shard.h"
#include "topology/topology.h"
#include "lnet/user/netlink.h"

volatile int perf_stop;

u64 perf_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec;
}

static int node_fail(const char *what, int err)
{
	fprintf(stderr, "lnetperf: %s: %s\n", what, strerror(-err));
	return err;
}

static int node_tunable_set(struct perf_node *n, const char *text)
{
	const char *value = strchr(text, '=');
	char name[64];
	uint64_t num;
	int rc;

	if (!value) {
		fprintf(stderr, "lnetperf: --set must be NAME=VALUE, not '%s'\n", text);
		return -EINVAL;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(value - text), text);
	rc = lnet_tunable_parse(name, value + 1, &num);
	if (!rc)
		rc = lnet_tunable_set(n->ln, name, num);
	if (rc == -ENOENT)
		fprintf(stderr, "lnetperf: no tunable '%s'; 'lnetctl global show' lists them\n",
			name);
	else if (rc)
		fprintf(stderr, "lnetperf: tunable %s does not accept '%s'\n", name, value + 1);
	return rc;
}

static int tunables_set(struct perf_node *n)
{
	unsigned int i;
	int rc = lnet_tunable_set(n->ln, "accept", 2);

	if (!rc)
		rc = lnet_tunable_set(n->ln, "accept_port", n->opt->port);
	if (rc)
		return node_fail("tunables", rc);
	for (i = 0; i < n->opt->nr_sets && !rc; i++)
		rc = node_tunable_set(n, n->opt->sets[i]);
	return rc;
}

static int ni_add(struct perf_node *n, const char *nid)
{
	struct lnet_ni_cfg cfg;
	int rc;

	lnet_ni_cfg_init(&cfg);
	cfg.credits = (s32)n->opt->credits;
	cfg.peer_credits = (s32)n->opt->peer_credits;
	rc = lnet_nid_parse(&cfg.nid, nid);
	if (rc) {
		fprintf(stderr, "lnetperf: --nid must be a NID such as 10.0.0.1@tcp, not '%s'\n",
			nid);
		return rc;
	}
	rc = lnet_ni_add(n->ln, &cfg);
	if (rc == -EACCES || rc == -EPERM)
		fprintf(stderr,
			"lnetperf: port %u needs CAP_NET_BIND_SERVICE; choose another with "
			"--port\n",
			n->opt->port);
	return !rc || rc == -EACCES || rc == -EPERM ? rc : node_fail(nid, rc);
}

static int node_peer_add(struct perf_node *n, const char *text)
{
	struct lnet_nid nids[PERF_MAX_RAILS];
	char *list = strdup(text), *save, *nid;
	unsigned int nr = 0;
	int rc = list ? 0 : -ENOMEM;

	for (nid = strtok_r(list, ",", &save); nid && !rc; nid = strtok_r(NULL, ",", &save))
		rc = nr < PERF_MAX_RAILS ? lnet_nid_parse(&nids[nr++], nid) : -E2BIG;
	if (!rc)
		rc = nr ? lnet_peer_add(n->ln, &nids[0], nids, nr, true) : -EINVAL;
	free(list);
	return rc ? node_fail(text, rc) : 0;
}

static int routes_add(struct perf_node *n, const char *text)
{
	struct lnet_route_cfg cfg = { .hops = -1 };
	char *list = strdup(text), *save, *word = list ? strtok_r(list, ",", &save) : NULL;
	unsigned int nr = 0;
	int rc = list ? -EINVAL : -ENOMEM;

	if (word)
		rc = lnet_net_parse(&cfg.net, word);
	while (!rc && (word = strtok_r(NULL, ",", &save))) {
		nr++;
		rc = lnet_nid_parse(&cfg.gateway, word);
		if (!rc)
			rc = lnet_route_add(n->ln, &cfg);
	}
	free(list);
	rc = !rc && !nr ? -EINVAL : rc;
	return rc ? node_fail(text, rc) : 0;
}

static int node_instance_start(struct perf_node *n)
{
	struct lnet_user_env_cfg env = { .mode = n->opt->mode };
	struct lnet_cfg cfg = { 0 };
	int rc = lnet_user_env_create(&n->env, &env);

	cfg.env = n->env;
	if (!rc)
		rc = lnet_create(&n->ln, &cfg);
	if (!rc)
		rc = lnet_user_env_start(n->env, n->ln);
	if (!rc)
		rc = lnet_lnd_register(n->ln, &lnet_socklnd_ops);
	return rc ? node_fail("cannot start", rc) : tunables_set(n);
}

/* ---- lnetctl ------------------------------------------------------------------------------- */

static void *ctl_loop(void *arg)
{
	struct perf_node *n = arg;

	while (!READ_ONCE(n->ctl_stop))
		lnet_nl_server_step(n->ctl, 200);
	return NULL;
}

/* Marks the node as configured. Otherwise lnetctl would reject commands. */
static int ctl_configured(struct perf_node *n)
{
	struct lnetctl *c = lnetctl_open_local(lnet_nl_server_serve, n->ctl);
	int rc = c ? lnetctl_configure(c, 0) : -ENOMEM;

	lnetctl_close(c);
	return rc;
}

static int ctl_start(struct perf_node *n)
{
	struct lnet_nl_server_cfg cfg = { .ln = n->ln,
					  .name = n->opt->name,
					  .version = LNET_VERSION };
	int rc;

	if (!cfg.name)
		return 0;
	rc = lnet_nl_server_create(&n->ctl, &cfg);
	if (rc)
		return node_fail(cfg.name, rc);
	rc = ctl_configured(n);
	if (rc) {
		lnet_nl_server_destroy(n->ctl);
		n->ctl = NULL;
		return node_fail("lnetctl", rc);
	}
	rc = -pthread_create(&n->ctl_thread, NULL, ctl_loop, n);
	if (rc) {
		lnet_nl_server_destroy(n->ctl);
		n->ctl = NULL;
		return node_fail("thread", rc);
	}
	return 0;
}

static void ctl_end(struct perf_node *n)
{
	if (!n->ctl)
		return;
	WRITE_ONCE(n->ctl_stop, true);
	lnet_nl_server_wake(n->ctl);
	pthread_join(n->ctl_thread, NULL);
	lnet_nl_server_destroy(n->ctl);
}

/* ---- start and stop ------------------------------------------------------------------------ */

int perf_node_start(struct perf_node *n, const struct perf_opt *opt)
{
	unsigned int i;
	int rc;

	n->opt = opt;
	n->threaded = opt->mode != LNET_PROGRESS_MANUAL;
	pthread_mutex_init(&n->lock, NULL);
	rc = perf_log_open(&n->log, opt->log, opt->role, &n->instance);
	if (rc)
		return node_fail(opt->log, rc);
	rc = node_instance_start(n);
	for (i = 0; i < opt->nr_nids && !rc; i++)
		rc = ni_add(n, opt->nids[i]);
	for (i = 0; i < opt->nr_peers && !rc; i++)
		rc = node_peer_add(n, opt->peers[i]);
	for (i = 0; i < opt->nr_routes && !rc; i++)
		rc = routes_add(n, opt->routes[i]);
	return rc ? rc : ctl_start(n);
}

void perf_node_stop(struct perf_node *n)
{
	ctl_end(n);
	if (n->env)
		lnet_user_env_stop(n->env);
	lnet_destroy(n->ln);
	lnet_user_env_destroy(n->env);
	perf_log_close(n->log);
	pthread_mutex_destroy(&n->lock);
}

/* ---- counters ------------------------------------------------------------------------------ */

/*
 * Adds to a sum of counters. If an interface is removed and added again, its counters restart at 0.
 */
static void counter_sum_add(u64 *sum, u64 *seen, u64 now)
{
	*sum += now >= *seen ? now - *seen : now;
	*seen = now;
}

static void read_rail(const struct perf_node *n, const char *text, u64 *sent, u64 *bytes)
{
	struct lnet_ni *ni;
	struct lnet_nid nid;
	unsigned int k;

	*sent = *bytes = 0;
	if (lnet_nid_parse(&nid, text))
		return;
	ni = lnet_ni_by_nid(n->ln, &nid);
	for (k = 0; ni && k < n->ln->nr_shards; k++) {
		*sent += ni->sh[k].c[LNET_NIC_send_count];
		*bytes += ni->sh[k].c[LNET_NIC_sent_bytes];
	}
}

void perf_node_rails(struct perf_node *n, struct perf_rails *r)
{
	unsigned int i;
	u64 sent, bytes;

	spin_lock(&n->ln->shard[0].lock);
	for (i = 0; i < n->opt->nr_nids; i++) {
		read_rail(n, n->opt->nids[i], &sent, &bytes);
		counter_sum_add(&n->sum.sent[i], &n->seen.sent[i], sent);
		counter_sum_add(&n->sum.bytes[i], &n->seen.bytes[i], bytes);
	}
	spin_unlock(&n->ln->shard[0].lock);
	*r = n->sum;
}

u64 perf_node_suppressed(const struct perf_node *n)
{
	return lnet_stat_sum(n->ln, LNET_C_dup_taken) + lnet_stat_sum(n->ln, LNET_C_dup_final) +
	       lnet_stat_sum(n->ln, LNET_C_dup_old);
}
