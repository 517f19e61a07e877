/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Odd requests over TCP, while a peer, an interface and fault rules are deleted and added: no last
 * event may be lost.
 *
 *	churn [ROUNDS [PAUSE]]	default: 6 rounds of at least 0.4 s; PAUSE in ms, default 300
 *
 * Two nodes run in one process. Threads send PUTs and GETs of odd sizes, offsets and timeouts, and
 * unlink memory in use; handlers send further requests. One thread adds and deletes fault rules at
 * both nodes. The main thread deletes the peer, and removes the interface and adds it again. Then
 * both nodes are destroyed, with the remaining rules and the messages that these hold.
 * Exit status 0: each accepted request had exactly one final event, each MD exactly one last event,
 * and no rejected request or MD had any.
 */
#include "plat.h"
#include <lnet/lnet.h>
#include <lnet/progress.h>
#include <lnet/socklnd.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lnet/fault/fault.h"

#define LOADERS 2
#define POLLERS 2		/* threads of the sending node; the other node has one */
#define LIVES_MAX (1 << 20)	/* maximum of requests, and of MDs, in a run */
#define BUSY_MAX 500		/* requests in flight above which the loaders pause */
#define MEMORY (1 << 20)
#define PORTAL 1
#define BITS 1
#define WATCHDOG_S 120
#define SECOND 1000000000ULL

/* Begins with a call that returns 0 and ends with an event. Checked at the end of the run. */
struct life {
	atomic_t begun, ended;
};

static struct lives {
	const char *what, *event;
	atomic_t nr_taken, nr_begun, nr_ended;
	struct life life[LIVES_MAX];
} requests = { .what = "request", .event = "final" }, mds = { .what = "MD", .event = "last" };

static struct node {
	struct lnet_env *env;
	struct lnet *ln;
	struct lnet_nid nid;
} sender, receiver;

static u8 sent[MEMORY], received[MEMORY];
static atomic_t stopping, nr_strange;
static const char *volatile doing = "starting";

static void must(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "churn: %s: %s\n", what, strerror(rc < 0 ? -rc : rc));
	exit(1);
}

/* The cause may be a lost event: an interface or a node then waits for it forever. */
static void too_long(int sig)
{
	dprintf(STDERR_FILENO, "churn: FAIL: not over in %d s, hangs %s, %d requests of %d ended\n",
		WATCHDOG_S, doing, atomic_read(&requests.nr_ended),
		atomic_read(&requests.nr_begun));
	_exit(1);
}

/* ---- random values: the same sequence per thread in each run ---- */

static u32 rnd(u32 *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

static bool one_in(u32 *seed, u32 n)
{
	return rnd(seed) % n == 0;
}

/* ---- lives ---- */

/* NULL when all are used. */
static struct life *life_take(struct lives *all)
{
	if (atomic_read(&all->nr_taken) >= LIVES_MAX - 64)	/* 64: for threads at once */
		return NULL;
	return &all->life[atomic_inc_return(&all->nr_taken) - 1];
}

static void life_begin(struct lives *all, struct life *life)
{
	atomic_inc(&life->begun);
	atomic_inc(&all->nr_begun);
}

static void life_end(struct lives *all, struct life *life)
{
	atomic_inc(&life->ended);
	atomic_inc(&all->nr_ended);
}

static unsigned int lives_judge(struct lives *all)
{
	unsigned int i, nr_taken = atomic_read(&all->nr_taken), nr_wrong = 0;

	for (i = 0; i < nr_taken; i++) {
		int begun = atomic_read(&all->life[i].begun);
		int ended = atomic_read(&all->life[i].ended);

		if (begun == ended || nr_wrong++ >= 5)
			continue;
		fprintf(stderr, "churn: %s %u was %s and has %d %s events\n", all->what, i,
			begun ? "accepted" : "refused", ended, all->event);
	}
	printf("%ss: %d accepted, %d %s events, %u refused, %u wrong\n", all->what,
	       atomic_read(&all->nr_begun), atomic_read(&all->nr_ended), all->event,
	       nr_taken - atomic_read(&all->nr_begun), nr_wrong);
	return nr_wrong;
}

/* ---- load ---- */

static int request_send(struct lnet_xfer *x, bool put)
{
	struct life *life = life_take(&requests);
	int rc;

	if (!life)
		return -ENOSPC;
	x->op_ptr = life;
	rc = put ? lnet_put(sender.ln, x) : lnet_get(sender.ln, x);
	if (!rc)
		life_begin(&requests, life);
	return rc;
}

/* Unlinks the MD of an ended request, or uses it for a new request at once. */
static void go_on(const struct lnet_event *ev)
{
	static __thread u32 seed = 7;
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	x.md = ev->md;
	x.target = ev->target;
	x.portal = PORTAL;
	x.match_bits = BITS;
	x.flags = LNET_ACK;
	if (atomic_read(&stopping) || !one_in(&seed, 3) || request_send(&x, true))
		lnet_md_unlink(sender.ln, ev->md);
}

static void count_event(const struct lnet_event *ev)
{
	if (ev->final && ev->op_ptr)
		life_end(&requests, ev->op_ptr);
	else if (ev->final)
		atomic_inc(&nr_strange);
	if (ev->unlinked)
		life_end(&mds, ev->user_ptr);
	else if (ev->final)
		go_on(ev);
}

static int memory_bind(u32 *seed, lnet_md_t *md)
{
	static const u32 lengths[] = { 0, 1, 64, 4096, 65536, MEMORY };
	struct lnet_md_cfg cfg = { .start = sent, .cpt = -1, .handler = count_event };
	struct life *life = life_take(&mds);
	int rc;

	if (!life)
		return -ENOSPC;
	cfg.user_ptr = life;
	cfg.threshold = one_in(seed, 4) ? (int)(rnd(seed) % 5) - 1 : 2;
	cfg.length = lengths[rnd(seed) % ARRAY_SIZE(lengths)];
	cfg.options = one_in(seed, 2) ? LNET_MD_TRUNCATE : 0;
	rc = lnet_md_bind(sender.ln, &cfg, one_in(seed, 2) ? LNET_UNLINK : LNET_RETAIN, md);
	if (!rc)
		life_begin(&mds, life);
	return rc;
}

static u64 some_timeout(u32 *seed)
{
	if (one_in(seed, 8))
		return 1;
	if (one_in(seed, 8))
		return 3600 * SECOND;
	return one_in(seed, 2) ? SECOND / 1000 : 0;
}

/* Mostly the receiver; else the sender itself, or an address at which no node listens. */
static struct lnet_nid some_target(u32 *seed)
{
	struct lnet_nid nobody;

	if (!one_in(seed, 8))
		return receiver.nid;
	if (one_in(seed, 2))
		return sender.nid;
	must(lnet_nid_parse(&nobody, "127.8.0.3@tcp"), "NID");
	return nobody;
}

static void request_odd(u32 *seed)
{
	struct lnet_xfer x;
	int rc;

	lnet_xfer_init(&x);
	if (memory_bind(seed, &x.md)) {
		usleep(100);
		return;
	}
	x.target.nid = some_target(seed);
	x.portal = one_in(seed, 8) ? rnd(seed) % 70 : PORTAL;
	x.match_bits = BITS;
	x.offset = one_in(seed, 8) ? rnd(seed) : 0;
	x.flags = rnd(seed) & (LNET_MORE | LNET_ACK);
	x.timeout_ns = some_timeout(seed);
	if (one_in(seed, 16)) {
		x.md_offset = rnd(seed);
		x.length = rnd(seed);
	}
	rc = request_send(&x, one_in(seed, 2));
	if (!rc && x.timeout_ns > SECOND)
		usleep(200);
	if (rc || x.timeout_ns > SECOND || one_in(seed, 4)) {
		lnet_md_unlink(sender.ln, x.md);
		lnet_md_unlink(sender.ln, x.md);
	}
}

static void *load(void *arg)
{
	u32 seed = (uintptr_t)arg;

	while (!atomic_read(&stopping)) {
		request_odd(&seed);
		if (one_in(&seed, 2))
			lnet_flush(sender.ln);
		if (atomic_read(&requests.nr_begun) - atomic_read(&requests.nr_ended) > BUSY_MAX)
			usleep(2000);
	}
	return NULL;
}

/* ---- fault rules ---- */

static const char *const rules[] = {
	"drop permille=50", "drop rate=9 count=40 message=ACK", "delay delay=20s permille=20",
	"delay delay=3ms jitter=5ms rate=3", "duplicate permille=300", "flap period=30ms",
	"reorder delay=10ms behind=3 rate=4", "corrupt interval=10ms", "ack-timeout rate=10",
	"cut permille=100 period=20ms duty=300", "degrade loss=300 delay=3ms over=100ms",
	"partition left=127.8.0.1@tcp right=*@tcp rate=5 to=50ms", "reply-timeout interval=5ms",
	"slow bandwidth=20000000 rate=2", "outcome when=completed interval=20ms",
	"outcome outcome=local_error,remote_timeout rate=20",
};

static void rule_read(const char *line, struct lnet_rule *r)
{
	char text[128], err[LNET_RULE_ERR], *at = text, *name, *value;

	snprintf(text, sizeof(text), "%s", line);
	lnet_rule_init(r, lnet_rule_kind_find(strsep(&at, " ")));
	while ((name = strsep(&at, " "))) {
		value = strchr(name, '=');
		*value++ = 0;
		must(lnet_rule_set(r, name, value, err), line);
	}
	must(lnet_rule_check(r, err), line);
}

static void rule_change(u32 *seed, struct lnet *ln)
{
	struct lnet_rule_which which = { .kind = LNET_NR_RULE_KINDS };
	struct lnet_rules_kept *kept = NULL;
	struct lnet_rule r;

	if (one_in(seed, 8))
		must(lnet_rules_keep(ln, &kept), "keeping the rules");
	rule_read(rules[rnd(seed) % ARRAY_SIZE(rules)], &r);
	if (one_in(seed, 3) && !one_in(seed, 4))
		which.kind = r.kind;
	if (one_in(seed, 3))
		lnet_rule_del(ln, &which);
	else
		must(lnet_rule_add(ln, &r), "adding a rule");
	if (kept)
		must(lnet_rules_put_back(ln, kept), "putting the rules back");
	kvfree(kept);
}

/* No other thread changes rules. */
static void *rule_nodes(void *arg)
{
	u32 seed = (uintptr_t)arg;

	while (!atomic_read(&stopping)) {
		rule_change(&seed, one_in(&seed, 2) ? sender.ln : receiver.ln);
		usleep(rnd(&seed) % 3000);
	}
	return NULL;
}

/* ---- nodes ---- */

/* Runs until the node's environment is stopped. */
static void *poll_node(void *arg)
{
	struct node *n = arg;

	while (lnet_progress(n->ln, SECOND / 1000) >= 0)
		;
	return NULL;
}

static void interface_add(struct node *n)
{
	struct lnet_ni_cfg cfg;

	lnet_ni_cfg_init(&cfg);
	cfg.nid = n->nid;
	must(lnet_ni_add(n->ln, &cfg), "adding the interface");
}

static void node_up(struct node *n, const char *nid, unsigned int port)
{
	struct lnet_user_env_cfg how = { .mode = LNET_PROGRESS_HYBRID };
	struct lnet_cfg cfg = { 0 };

	must(lnet_user_env_create(&n->env, &how), "environment");
	cfg.env = n->env;
	must(lnet_create(&n->ln, &cfg), "node");
	must(lnet_user_env_start(n->env, n->ln), "start");
	must(lnet_lnd_register(n->ln, &lnet_socklnd_ops), "driver");
	must(lnet_tunable_set(n->ln, "accept", 2), "accept");
	must(lnet_tunable_set(n->ln, "accept_port", port), "accept_port");
	must(lnet_tunable_set(n->ln, "transaction_timeout", 2 * SECOND), "transaction_timeout");
	must(lnet_nid_parse(&n->nid, nid), nid);
	interface_add(n);
}

static void node_down(struct node *n)
{
	lnet_destroy(n->ln);
	lnet_user_env_destroy(n->env);
}

static void memory_post(struct node *n)
{
	struct lnet_process anybody = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = received, .length = MEMORY, .cpt = -1,
				   .threshold = LNET_THRESHOLD_INF,
				   .options = LNET_MD_OP_PUT | LNET_MD_OP_GET | LNET_MD_TRUNCATE |
					      LNET_MD_MANAGE_REMOTE };
	lnet_me_t me;
	lnet_md_t md;

	must(lnet_me_attach(n->ln, PORTAL, &anybody, BITS, 0, LNET_RETAIN, LNET_INS_AFTER, &me),
	     "entry");
	must(lnet_md_attach(n->ln, me, &cfg, LNET_RETAIN, &md), "memory");
}

static void churn(unsigned int nr_rounds, unsigned int pause_us)
{
	unsigned int i;
	int rc;

	for (i = 0; i < nr_rounds; i++) {
		usleep(pause_us);
		doing = "deleting the peer";
		rc = lnet_peer_del(sender.ln, &receiver.nid, NULL, 0);
		must(rc == -ENOENT ? 0 : rc, "deleting the peer");
		usleep(pause_us / 3);
		doing = "deleting the interface";
		must(lnet_ni_del(sender.ln, &sender.nid), "deleting the interface");
		doing = "adding the interface";
		interface_add(&sender);
	}
}

int main(int argc, char **argv)
{
	unsigned int nr_rounds = argc > 1 ? atoi(argv[1]) : 6, i, nr_wrong;
	unsigned int pause_us = 1000 * (argc > 2 ? atoi(argv[2]) : 300);
	unsigned int port = 9800 + getpid() % 1000;
	pthread_t loader[LOADERS], poller[POLLERS + 1], ruler;

	signal(SIGALRM, too_long);
	alarm(WATCHDOG_S);
	node_up(&sender, "127.8.0.1@tcp", port);
	node_up(&receiver, "127.8.0.2@tcp", port);
	memory_post(&receiver);
	for (i = 0; i < LOADERS; i++)
		must(pthread_create(&loader[i], NULL, load, (void *)(uintptr_t)(i + 3)), "thread");
	for (i = 0; i <= POLLERS; i++)
		must(pthread_create(&poller[i], NULL, poll_node, i ? &sender : &receiver),
		     "thread");
	must(pthread_create(&ruler, NULL, rule_nodes, (void *)5), "thread");
	churn(nr_rounds, pause_us);
	atomic_set(&stopping, 1);
	doing = "stopping the threads";
	for (i = 0; i < LOADERS; i++)
		pthread_join(loader[i], NULL);
	pthread_join(ruler, NULL);
	lnet_user_env_stop(sender.env);
	lnet_user_env_stop(receiver.env);
	for (i = 0; i <= POLLERS; i++)
		pthread_join(poller[i], NULL);
	doing = "destroying the nodes";
	node_down(&sender);
	node_down(&receiver);
	nr_wrong = lives_judge(&requests) + lives_judge(&mds) + atomic_read(&nr_strange);
	if (atomic_read(&nr_strange))
		fprintf(stderr, "churn: %d final events of no request\n",
			atomic_read(&nr_strange));
	printf("%s\n", nr_wrong ? "FAIL" : "ok");
	return nr_wrong ? 1 : 0;
}
