/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many threads use the same nodes at the same time, over the loopback and over TCP, in each
 * progress mode. The program is intended for a sanitizer. Exit status 0: every request succeeded,
 * with one final event.
 */
#include <lnet/progress.h>
#include <lnet/socklnd.h>
#include "lnet/topology/topology.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Two attempts of one request may be received at the same time: the same bytes into the same
 * memory, by design.
 */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:lnet_buf_write\n";
}

static unsigned int nr_wrong;

static void same(long long got, long long want, const char *what)
{
	if (got == want)
		return;
	fprintf(stderr, "%s: got %lld, want %lld\n", what, got, want);
	nr_wrong++;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

#define THREADS 3
#define REQUESTS 1500
#define SLOT 200
#define MEMORY (THREADS * REQUESTS * SLOT)

static struct node {
	struct lnet_env *env;
	struct lnet *ln;
	struct lnet_nid to;
	u8 src[MEMORY], dst[MEMORY];	/* a slot for each request */
	atomic_t nr_threads;
	atomic_t nr_sent, nr_final, nr_failed, nr_done;
} nodes[2];

static void count_event(const struct lnet_event *ev)
{
	struct node *n = ev->user_ptr;

	if (!ev->op_ptr || !ev->final)
		return;
	if (ev->status && atomic_inc_return(&n->nr_failed) == 1)
		fprintf(stderr, "first failure: event %d, status %d\n", ev->kind, ev->status);
	atomic_inc(&n->nr_final);
}

static lnet_md_t memory(struct node *n, void *start, u32 options)
{
	struct lnet_md_cfg cfg = { .start = start, .length = MEMORY, .cpt = -1, .user_ptr = n,
				   .threshold = LNET_THRESHOLD_INF, .handler = count_event };
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	lnet_md_t md = { 0 };
	lnet_me_t me;

	cfg.options = options;
	if (!options) {
		same(lnet_md_bind(n->ln, &cfg, LNET_RETAIN, &md), 0, "bind");
		return md;
	}
	same(lnet_me_attach(n->ln, 5, &any, 0, ~0ULL, LNET_RETAIN, LNET_INS_AFTER, &me), 0,
		   "entry");
	same(lnet_md_attach(n->ln, me, &cfg, LNET_RETAIN, &md), 0, "attach");
	return md;
}

static void *sender(void *arg)
{
	struct node *n = arg;
	lnet_md_t md = memory(n, n->src, 0);
	unsigned int slot = (atomic_inc_return(&n->nr_threads) - 1) * REQUESTS, i;
	struct lnet_xfer x;

	for (i = 0; i < REQUESTS; i++) {
		lnet_xfer_init(&x);
		x.md = md;
		x.target.nid = n->to;
		x.portal = 5;
		x.length = 1 + i * 13 % SLOT;
		x.offset = x.md_offset = (slot + i) * SLOT;
		x.flags = (i % 3 ? LNET_ACK : 0) | (i % 5 ? 0 : LNET_MORE);
		x.op_ptr = n;
		atomic_inc(&n->nr_sent);
		same(i % 4 == 3 ? lnet_get(n->ln, &x) : lnet_put(n->ln, &x), 0, "a request");
		while (atomic_read(&n->nr_sent) - atomic_read(&n->nr_final) > 64)
			lnet_progress(n->ln, 1000000);
	}
	lnet_flush(n->ln);
	atomic_inc(&n->nr_done);
	return NULL;
}

static bool all_final(void *arg)
{
	struct node *n = arg;

	return atomic_read(&n->nr_done) == THREADS &&
	       atomic_read(&n->nr_final) == atomic_read(&n->nr_sent);
}

struct run {
	const char *name;
	enum lnet_progress_mode mode;
	bool sock;
	unsigned int nr_shards;
	/* only node 0 sends, and node 1 does not know that the two interfaces belong to one node */
	bool apart;
};

static void node_up(unsigned int ix, const struct run *r, unsigned int port)
{
	struct lnet_user_env_cfg ecfg = { .mode = r->mode, .nr_shards = r->nr_shards };
	struct lnet_cfg cfg = { .nr_shards = r->nr_shards };
	struct node *n = &nodes[ix];
	struct lnet_ni_cfg ni;
	char text[32];

	must(lnet_user_env_create(&n->env, &ecfg) == 0);
	cfg.env = n->env;
	must(lnet_create(&n->ln, &cfg) == 0);
	must(lnet_user_env_start(n->env, n->ln) == 0);
	memory(n, n->dst, LNET_MD_OP_PUT | LNET_MD_OP_GET | LNET_MD_TRUNCATE |
			  LNET_MD_MANAGE_REMOTE);
	n->to = LNET_NID_LO;
	if (!r->sock)
		return;
	same(lnet_lnd_register(n->ln, &lnet_socklnd_ops), 0, "driver");
	same(lnet_tunable_set(n->ln, "accept_port", port), 0, "port");
	same(lnet_tunable_set(n->ln, "accept", 2), 0, "accept");
	lnet_ni_cfg_init(&ni);
	snprintf(text, sizeof(text), "127.7.0.%u@tcp", ix + 1);
	must(!lnet_nid_parse(&ni.nid, text));
	same(lnet_ni_add(n->ln, &ni), 0, "rail 0");
	snprintf(text, sizeof(text), "127.7.1.%u@tcp1", ix + 1);
	must(!lnet_nid_parse(&ni.nid, text));
	same(lnet_ni_add(n->ln, &ni), 0, "rail 1");
	snprintf(text, sizeof(text), "127.7.0.%u@tcp", 2 - ix);
	must(!lnet_nid_parse(&n->to, text));
	snprintf(text, sizeof(text), "127.7.1.%u@tcp1", 2 - ix);
	must(!lnet_nid_parse(&ni.nid, text));
	if (!ix || !r->apart)
		same(lnet_peer_add(n->ln, &n->to, &ni.nid, 1, true), 0, "peer");
}

static void node_down(struct node *n)
{
	lnet_user_env_stop(n->env);
	lnet_destroy(n->ln);
	lnet_user_env_destroy(n->env);
}

static void stress(const struct run *r)
{
	unsigned int nr = r->sock ? 2 : 1, nr_senders = r->apart ? 1 : nr, i, k;
	unsigned int port = 20000 + getpid() % 20000;
	pthread_t thread[2][THREADS];

	memset(nodes, 0, sizeof(nodes));
	for (i = 0; i < nr; i++)
		node_up(i, r, port);
	for (i = 0; i < nr_senders; i++)
		for (k = 0; k < THREADS; k++)
			must(!pthread_create(&thread[i][k], NULL, sender, &nodes[i]));
	for (i = 0; i < nr_senders; i++)
		same(lnet_progress_until(nodes[i].ln, all_final, &nodes[i],
					       40 * (s64)NSEC_PER_SEC), 0, "all end");
	for (i = 0; i < nr_senders; i++)
		for (k = 0; k < THREADS; k++)
			pthread_join(thread[i][k], NULL);
	for (i = 0; i < nr_senders; i++) {
		same(atomic_read(&nodes[i].nr_final), THREADS * REQUESTS, "one end each");
		same(atomic_read(&nodes[i].nr_failed), 0, "none failed");
	}
	for (i = 0; i < nr; i++)
		node_down(&nodes[i]);
}

/* Looks up the peer of an interface, as `peer show` does. */
static void *ask_whose(void *arg)
{
	struct lnet_nid *nid = arg;

	while (!atomic_read(&nodes[0].nr_done)) {
		struct lnet_peer_ni *pni = lnet_peer_ni_lookup(nodes[0].ln, nid);

		if (pni)
			lnet_peer_put(lnet_peer_of(pni));
		lnet_peer_ni_put(pni);
	}
	return NULL;
}

/* A dynamically created interface is added to a configured peer, while a thread looks it up. */
static void moves(void)
{
	static const struct run r = { "", LNET_PROGRESS_SERVICE, false, 2 };
	struct lnet_nid primary, nid;
	pthread_t thread;
	unsigned int i;

	memset(nodes, 0, sizeof(nodes));
	node_up(0, &r, 0);
	must(!lnet_nid_parse(&primary, "10.0.0.1@tcp") && !lnet_nid_parse(&nid, "10.0.0.2@tcp"));
	must(!pthread_create(&thread, NULL, ask_whose, &nid));
	for (i = 0; i < 2000; i++) {
		struct lnet_peer_ni *pni = lnet_peer_ni_get(nodes[0].ln, &nid);

		must(pni);
		lnet_peer_ni_put(pni);
		same(lnet_peer_add(nodes[0].ln, &primary, NULL, 0, true), 0, "a peer is there");
		same(lnet_peer_add(nodes[0].ln, &primary, &nid, 1, true), 0, "it is theirs");
		same(lnet_peer_del(nodes[0].ln, &primary, NULL, 0), 0, "they go");
	}
	atomic_set(&nodes[0].nr_done, 1);
	pthread_join(thread, NULL);
	node_down(&nodes[0]);
}

int main(int argc, char **argv)
{
	static const struct run runs[] = {
		{ "hybrid, loopback", LNET_PROGRESS_HYBRID, false, 2 },
		{ "service, loopback", LNET_PROGRESS_SERVICE, false, 2 },
		{ "hybrid, TCP", LNET_PROGRESS_HYBRID, true, 2 },
		{ "service, TCP", LNET_PROGRESS_SERVICE, true, 2 },
		{ "service, TCP, interfaces apart", LNET_PROGRESS_SERVICE, true, 4, true },
	};
	unsigned int i, nr_failed = 0;

	setbuf(stdout, NULL);

	for (i = 0; i < ARRAY_SIZE(runs); i++) {
		if (argc > 1 && !strstr(runs[i].name, argv[1]))
			continue;
		nr_wrong = 0;
		stress(&runs[i]);
		printf("%s: %s\n", runs[i].name, nr_wrong ? "FAIL" : "ok");
		nr_failed += nr_wrong != 0;
	}
	if (argc == 1 || !strcmp(argv[1], "moves")) {
		nr_wrong = 0;
		moves();
		printf("moves: %s\n", nr_wrong ? "FAIL" : "ok");
		nr_failed += nr_wrong != 0;
	}
	return nr_failed ? 1 : 0;
}
