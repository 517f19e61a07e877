/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints the functions on the stack when a PUT has its path and when the driver gets it, for
 * tests/lint/depth.
 *
 * The core in this program is compiled without inlining and with -finstrument-functions. The
 * program prints a line for each measured call: its name, and the offsets of the functions on the
 * stack in the program, lnet_put() first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <lnet/lnet.h>
#include <lnet/progress.h>
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"

#define DEPTH_MAX 64

extern char __executable_start;
void __cyg_profile_func_enter(void *fn, void *site);
void __cyg_profile_func_exit(void *fn, void *site);

static struct {
	bool on;
	unsigned int nr;
	void *fn[DEPTH_MAX];
} stack;

static void print_stack(const char *what)
{
	unsigned int i;

	printf("%s", what);
	for (i = 0; i < stack.nr; i++)
		printf(" %lx", (unsigned long)((char *)stack.fn[i] - &__executable_start));
	printf("\n");
}

void __cyg_profile_func_enter(void *fn, void *site)
{
	if (!stack.on)
		return;
	if (stack.nr == DEPTH_MAX) {
		fprintf(stderr, "depth: more than %u nested calls\n", DEPTH_MAX);
		exit(2);
	}
	stack.fn[stack.nr++] = fn;
	if (fn == (void *)lnet_op_wire)
		print_stack("wire");
}

void __cyg_profile_func_exit(void *fn, void *site)
{
	if (stack.on)
		stack.nr--;
}

static int start(struct lnet_ni *ni)
{
	return 0;
}

static void stop(struct lnet_ni *ni)
{
}

/* The driver completes the attempt at once, and the ACK is never received. */
static int driver_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	stack.fn[stack.nr++] = (void *)driver_send;
	if (stack.on)
		print_stack("send");
	stack.nr--;
	lnet_att_done(p, att, LNET_OK, 1);
	return 0;
}

static void cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		   enum lnet_cancel how)
{
}

static void receive(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
}

static const struct lnet_lnd_ops ops = {
	.name = "depth", .type = LNET_LND_TCP, .peer_timeout = 180, .peer_credits = 8,
	.credits = 256, .ni_start = start, .ni_stop = stop, .send = driver_send, .cancel = cancel,
	.receive = receive, .rx_stop = receive,
};

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "depth: %s: error %d\n", what, err);
	exit(2);
}

/* The node has a session with the peer @nid, so requests do not wait. */
static void open_session(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_want(ln, nid, NULL);
	struct lnet_pass p;

	must(pni ? 0 : -ENOMEM, "creating the peer");
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter_pni(&p, pni);
	lnet_session_set_state(pni->peer, SESSION_OPENING);
	lnet_window_begin(pni->peer, 1, 64, 1);
	lnet_session_set_state(pni->peer, SESSION_OPEN);
	lnet_pass_end(&p);
	lnet_peer_ni_put(pni);
}

static void put(struct lnet *ln, const struct lnet_nid *nid)
{
	static u8 payload[64];
	struct lnet_md_cfg cfg = { .start = payload, .length = sizeof(payload),
				   .threshold = LNET_THRESHOLD_INF, .cpt = -1 };
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	must(lnet_md_bind(ln, &cfg, LNET_RETAIN, &x.md), "lnet_md_bind()");
	x.target.nid = *nid;
	x.portal = 5;
	x.flags = LNET_ACK;
	stack.on = true;
	must(lnet_put(ln, &x), "lnet_put()");
	stack.on = false;
}

int main(void)
{
	struct lnet_user_env_cfg env_cfg = { .mode = LNET_PROGRESS_MANUAL };
	struct lnet_cfg cfg = { 0 };
	struct lnet_ni_cfg ni_cfg;
	struct lnet_nid peer;
	struct lnet *ln;

	must(lnet_user_env_create(&cfg.env, &env_cfg), "lnet_user_env_create()");
	must(lnet_create(&ln, &cfg), "lnet_create()");
	must(lnet_user_env_start(cfg.env, ln), "lnet_user_env_start()");
	must(lnet_lnd_register(ln, &ops), "lnet_lnd_register()");
	lnet_ni_cfg_init(&ni_cfg);
	must(lnet_nid_parse(&ni_cfg.nid, "10.0.0.1@tcp"), "lnet_nid_parse()");
	must(lnet_nid_parse(&peer, "10.0.0.2@tcp"), "lnet_nid_parse()");
	must(lnet_ni_add(ln, &ni_cfg), "lnet_ni_add()");
	open_session(ln, &peer);
	put(ln, &peer);
	lnet_user_env_stop(cfg.env);
	lnet_destroy(ln);
	lnet_user_env_destroy(cfg.env);
	return 0;
}
