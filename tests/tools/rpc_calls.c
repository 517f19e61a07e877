/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of remote calls: two nodes in this process call each other over TCP on loopback. Prints a
 * line with the sums.
 */
#include "plat.h"
#include <errno.h>
#include <limits.h>
#include <lnet/lnet.h>
#include <lnet/progress.h>
#include <lnet/rpc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SERVER "127.0.0.1@tcp"
#define CLIENT "127.0.0.2@tcp"

enum { ECHO = 1, FAILS, LARGE, SLOW, NESTED, ABSENT };
enum { LEN_MAX = 4096, THREADS = 4, CALLS = 500 };

static unsigned int nr_passed, nr_failed;

static void equal(long long got, long long want, const char *row)
{
	if (got == want) {
		nr_passed++;
		return;
	}
	nr_failed++;
	printf("FAIL rpc_calls: %s: %lld, expected %lld\n", row, got, want);
}

struct pair {
	struct lnet_rpc *server, *client;
	atomic_uint nr_echoed, nested_rc;
};

static int serve_echo(void *arg, const struct lnet_rpc_request *request, void *reply, uint32_t max)
{
	struct pair *p = arg;

	atomic_fetch_add(&p->nr_echoed, 1);
	memcpy(reply, request->data, min(request->len, max));
	return (int)request->len;
}

static int serve_fails(void *arg, const struct lnet_rpc_request *request, void *reply, uint32_t max)
{
	return -ENOTEMPTY;
}

static int serve_large(void *arg, const struct lnet_rpc_request *request, void *reply, uint32_t max)
{
	memset(reply, 'x', max);
	return (int)max;
}

static int serve_slow(void *arg, const struct lnet_rpc_request *request, void *reply, uint32_t max)
{
	usleep(300000);
	return 0;
}

static int serve_nested(void *arg, const struct lnet_rpc_request *request, void *reply,
			uint32_t max)
{
	struct lnet_rpc_call call = { .to = CLIENT, .service = ECHO, .data = "", .timeout_ns = 1 };
	struct pair *p = arg;

	atomic_store(&p->nested_rc, (unsigned int)-lnet_rpc_call(p->server, &call, NULL));
	return 0;
}

static void pair_open(struct pair *p)
{
	static unsigned int nr;
	struct lnet_rpc_cfg cfg = { .nids = SERVER, .any_port = true, .len_max = LEN_MAX };

	cfg.port = (uint16_t)(20000 + ((unsigned int)getpid() + 7 * nr++) % 30000);
	*p = (struct pair){ 0 };
	equal(lnet_rpc_open(&p->server, &cfg), 0, "server");
	cfg.nids = CLIENT;
	equal(lnet_rpc_open(&p->client, &cfg), 0, "client");
	equal(lnet_rpc_serve(p->server, ECHO, serve_echo, p), 0, "echo");
	equal(lnet_rpc_serve(p->server, FAILS, serve_fails, p), 0, "fails");
	equal(lnet_rpc_serve(p->server, LARGE, serve_large, p), 0, "large");
	equal(lnet_rpc_serve(p->server, SLOW, serve_slow, p), 0, "slow");
	equal(lnet_rpc_serve(p->server, NESTED, serve_nested, p), 0, "nested");
}

static void pair_close(struct pair *p)
{
	lnet_rpc_close(p->client);
	lnet_rpc_close(p->server);
}

static int call(struct pair *p, unsigned int service, const char *text, void *reply, uint32_t max,
		enum lnet_rpc_executed *executed)
{
	struct lnet_rpc_call c = { .to = SERVER,
				   .service = service,
				   .data = text,
				   .max = max,
				   .len = (uint32_t)strlen(text),
				   .reply = reply,
				   .timeout_ns = 10 * NSEC_PER_SEC };

	return lnet_rpc_call(p->client, &c, executed);
}

static void test_replies(void)
{
	static const struct {
		const char *row;
		unsigned int service;
		u32 max;
		int rc, executed;
	} rows[] = {
		{ "a reply", ECHO, 64, 5, LNET_RPC_EXECUTED },
		{ "a reply that just fits", ECHO, 5, 5, LNET_RPC_EXECUTED },
		{ "a reply that does not fit", ECHO, 4, -EMSGSIZE, LNET_RPC_EXECUTED },
		{ "no room for a reply", ECHO, 0, -EMSGSIZE, LNET_RPC_EXECUTED },
		{ "the handler's errno", FAILS, 64, -ENOTEMPTY, LNET_RPC_EXECUTED },
		{ "the longest reply", LARGE, LEN_MAX, LEN_MAX, LNET_RPC_EXECUTED },
		{ "an absent service", ABSENT, 64, -ENOSYS, LNET_RPC_NOT_EXECUTED },
	};
	enum lnet_rpc_executed executed;
	char reply[LEN_MAX];
	struct pair p;
	unsigned int i;

	pair_open(&p);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(reply, 0, sizeof(reply));
		equal(call(&p, rows[i].service, "hello", reply, rows[i].max, &executed), rows[i].rc,
		      rows[i].row);
		equal(executed, rows[i].executed, rows[i].row);
		if (rows[i].rc == 5)
			equal(strcmp(reply, "hello"), 0, rows[i].row);
	}
	equal(atomic_load(&p.nr_echoed), 4, "handlers ran");
	pair_close(&p);
}

static void *caller(void *arg)
{
	struct pair *p = arg;
	unsigned int i, nr_bad = 0;
	char text[1024], reply[1024];

	for (i = 0; i < CALLS; i++) {
		int len = snprintf(text, sizeof(text), "%p %u %0*u", (void *)&i, i,
				   (int)(i % 900) + 1, i);

		nr_bad += call(p, ECHO, text, reply, sizeof(reply), NULL) != len ||
			  memcmp(text, reply, (size_t)len);
	}
	return (void *)(uintptr_t)nr_bad;
}

/* The texts are long enough to fill each receive buffer several times. */
static void test_many(void)
{
	pthread_t threads[THREADS];
	unsigned int i;
	struct pair p;
	void *nr_bad;

	pair_open(&p);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, caller, &p);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &nr_bad);
		equal((uintptr_t)nr_bad, 0, "replies that differ");
	}
	equal(atomic_load(&p.nr_echoed), THREADS * CALLS, "each request ran once");
	pair_close(&p);
}

/* The reply of the slow handler arrives after the caller has returned and freed its memory. */
static void test_late(void)
{
	struct lnet_rpc_call c = {
		.to = SERVER, .service = SLOW, .data = "", .timeout_ns = 50 * NSEC_PER_MSEC
	};
	enum lnet_rpc_executed executed;
	char *reply = malloc(64);
	struct pair p;

	pair_open(&p);
	equal(call(&p, ECHO, "first", reply, 64, NULL), 5, "a session is there");
	c.reply = reply;
	c.max = 64;
	equal(lnet_rpc_call(p.client, &c, &executed), -ETIMEDOUT, "status");
	equal(executed, LNET_RPC_UNKNOWN, "delivery");
	free(reply);
	usleep(400000);
	equal(call(&p, FAILS, "", NULL, 0, NULL), -ENOTEMPTY, "the node goes on");
	c.reply = &p;
	equal(lnet_rpc_call(p.client, &c, &executed), -ETIMEDOUT, "in flight when the nodes end");
	pair_close(&p);
}

static void test_refused(void)
{
	struct lnet_rpc_call c = {
		.to = "127.0.0.9@tcp", .service = ECHO, .data = "", .timeout_ns = NSEC_PER_SEC
	};
	struct lnet_rpc_cfg cfg = { .nids = "no NID" };
	enum lnet_rpc_executed executed = LNET_RPC_UNKNOWN;
	struct lnet_rpc *none = NULL;
	struct pair p;

	pair_open(&p);
	equal(lnet_rpc_call(p.client, &c, &executed) < 0, true, "nobody listens there");
	equal(executed, LNET_RPC_NOT_EXECUTED, "nobody listens there");
	c.to = "nonsense";
	equal(lnet_rpc_call(p.client, &c, NULL), -EINVAL, "not a NID");
	c.to = SERVER;
	c.len = LEN_MAX + 1;
	equal(lnet_rpc_call(p.client, &c, NULL), -EINVAL, "a request above len_max");
	equal(lnet_rpc_serve(p.server, ECHO, serve_echo, &p), -EEXIST, "a service twice");
	equal(call(&p, NESTED, "", NULL, 0, NULL), 0, "a call in a handler");
	equal(atomic_load(&p.nested_rc), EDEADLK, "its status");
	pair_close(&p);
	equal(lnet_rpc_open(&none, &cfg), -EINVAL, "a node without a NID");
	cfg.nids = SERVER;
	cfg.len_max = LNET_RPC_MAX + 1;
	equal(lnet_rpc_open(&none, &cfg), -EINVAL, "len_max above the limit");
	equal(!none, true, "no node is left");
}

/* Returns a length above the maximum, which must not crash the caller. */
static int serve_malformed(void *arg, const struct lnet_rpc_request *request, void *reply,
			   uint32_t max)
{
	return INT_MAX;
}

static void test_lengths(void)
{
	enum lnet_rpc_executed executed;
	char reply[8];
	struct pair p;

	pair_open(&p);
	equal(lnet_rpc_serve(p.server, 99, serve_malformed, &p), 0, "serve");
	equal(call(&p, 99, "", reply, sizeof(reply), &executed), -EMSGSIZE,
	      "a handler's length is checked");
	equal(executed, LNET_RPC_EXECUTED, "it ran");
	lnet_rpc_stop(p.server);
	equal(lnet_rpc_run(p.server, -1), 0, "run ends after stop");
	equal(lnet_rpc_run(p.client, NSEC_PER_MSEC), -ETIMEDOUT, "run ends in time");
	pair_close(&p);
}

int main(void)
{
	test_replies();
	test_many();
	test_late();
	test_refused();
	test_lengths();
	printf("%u passed, %u failed, 0 skipped\n", nr_passed, nr_failed);
	return nr_failed != 0;
}
