/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two nodes in one program and one thread, which run alternately. So the cost of a request at both
 * nodes can be counted in instructions, independently of other load on the machine.
 *
 *	pair put|put-noack|get WINDOW COUNT [SIZE]
 *
 * The cost of a request is the difference of two runs under callgrind or strace, divided by the
 * difference of their COUNTs; see manual/performance.md.
 */
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include <lnet/progress.h>
#include <lnet/socklnd.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORTAL 4
#define PORT 19988
#define BURST 64
#define SIZE_MAX_BYTES (1u << 20)

struct node {
	struct lnet_env *env;
	struct lnet *ln;
	struct lnet_nid nid;
	unsigned long nr;	/* requests ended, or received */
	unsigned long failed;
};

static unsigned char memory[2][SIZE_MAX_BYTES];

static void must(const char *what, int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "pair: %s: %s\n", what, strerror(-rc));
	exit(1);
}

static void node_start(struct node *n, const char *nid)
{
	struct lnet_user_env_cfg env = { .mode = LNET_PROGRESS_MANUAL };
	struct lnet_cfg cfg = { 0 };
	struct lnet_ni_cfg ni;

	must("environment", lnet_user_env_create(&n->env, &env));
	cfg.env = n->env;
	must("instance", lnet_create(&n->ln, &cfg));
	must("start", lnet_user_env_start(n->env, n->ln));
	must("port", lnet_tunable_set(n->ln, "accept_port", PORT));
	/* no hedges, and a confirm delay of 1 s: work that depends on time is not to be counted */
	must("hedge", lnet_tunable_set(n->ln, "hedge", 0));
	must("delay", lnet_tunable_set(n->ln, "confirm_delay", 1000000000));
	must("driver", lnet_lnd_register(n->ln, &lnet_socklnd_ops));
	lnet_ni_cfg_init(&ni);
	ni.credits = 1024;
	ni.peer_credits = 512;
	must(nid, lnet_nid_parse(&ni.nid, nid));
	n->nid = ni.nid;
	must(nid, lnet_ni_add(n->ln, &ni));
}

static void node_stop(struct node *n)
{
	lnet_user_env_stop(n->env);
	lnet_destroy(n->ln);
	lnet_user_env_destroy(n->env);
}

static void on_event(const struct lnet_event *ev)
{
	struct node *n = ev->user_ptr;

	if (!ev->final)
		return;
	n->nr++;
	n->failed += ev->status != 0;
}

static void post(struct node *n)
{
	struct lnet_process any = { .pid = LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = memory[1], .length = SIZE_MAX_BYTES, .cpt = -1,
				   .threshold = LNET_THRESHOLD_INF, .user_ptr = n,
				   .options = LNET_MD_OP_PUT | LNET_MD_OP_GET |
					      LNET_MD_MANAGE_REMOTE,
				   .handler = on_event };
	lnet_me_t me;
	lnet_md_t md;

	memset(&any.nid, 0xff, sizeof(any.nid));
	must("entry", lnet_me_attach(n->ln, PORTAL, &any, 0, ~0ull, LNET_RETAIN, LNET_INS_AFTER,
				     &me));
	must("memory", lnet_md_attach(n->ln, me, &cfg, LNET_RETAIN, &md));
}

/* Data of the other node may arrive a moment later. The pause limits the cost of empty polls. */
static void turn(struct node *n)
{
	int rc = lnet_progress(n->ln, 0);

	must("progress", rc);
	if (!rc)
		usleep(200);
}

/* Sends @count requests, at most @window in flight, as many per call as the window permits. */
static void run(struct node *a, struct node *b, const struct lnet_xfer *x, bool get,
		unsigned long window, unsigned long count)
{
	unsigned long issued = a->nr, end = a->nr + count, nr;
	int rc;

	while (a->nr < end) {
		for (; issued < end && issued - a->nr < window; issued += rc) {
			nr = window - (issued - a->nr);
			nr = nr < end - issued ? nr : end - issued;
			nr = nr < BURST ? nr : BURST;
			rc = get ? lnet_get_list(a->ln, x, nr) : lnet_put_list(a->ln, x, nr);
			must("request", rc);
		}
		turn(b);
		turn(a);
	}
}

int main(int argc, char **argv)
{
	unsigned long window, count, i;
	struct node a = { 0 }, b = { 0 };
	struct lnet_md_cfg cfg = { .start = memory[0], .length = SIZE_MAX_BYTES, .cpt = -1,
				   .threshold = LNET_THRESHOLD_INF, .user_ptr = &a,
				   .handler = on_event };
	struct lnet_xfer x[BURST];

	if (argc < 4) {
		fprintf(stderr, "pair put|put-noack|get WINDOW COUNT [SIZE]\n");
		return 2;
	}
	window = strtoul(argv[2], NULL, 0);
	count = strtoul(argv[3], NULL, 0);
	node_start(&a, "127.0.0.1@tcp");
	node_start(&b, "127.0.0.2@tcp");
	post(&b);
	lnet_xfer_init(x);
	must("memory", lnet_md_bind(a.ln, &cfg, LNET_RETAIN, &x->md));
	x->target.nid = b.nid;
	x->portal = PORTAL;
	x->length = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : 64;
	x->flags = LNET_NO_SEND | (strcmp(argv[1], "put") ? 0 : LNET_ACK);
	for (i = 1; i < BURST; i++)
		x[i] = *x;
	run(&a, &b, x, false, 1, 1);
	run(&a, &b, x, !strcmp(argv[1], "get"), window, count);
	printf("%lu asked, %lu taken, %lu failed\n", a.nr, b.nr, a.failed + b.failed);
	node_stop(&a);
	node_stop(&b);
	return a.failed || b.failed;
}
