/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Remote calls, internal: structs shared by the node, its services and its calls. */
#ifndef LNET_USER_RPC_H
#define LNET_USER_RPC_H

#include <lnet/lnet.h>
#include <lnet/progress.h>
#include <lnet/rpc.h>
#include <pthread.h>
#include <stdatomic.h>

enum { RPC_PORTAL_REQUEST = 62, RPC_PORTAL_REPLY = 63 };

/* number of buffers for requests; if all are full, the portal queues requests */
#define RPC_BUFFERS	4
#define RPC_REPLIES_MAX 4096 /* maximum number of replies in flight; further requests are dropped */

/* The head before the bytes of a reply. Both numbers are little-endian. */
struct rpc_reply_head {
	uint32_t status;   /* 0 or -errno, two's complement */
	uint32_t executed; /* 1: the handler ran */
};

struct rpc_buffer {
	struct lnet_rpc *rpc;
	uint8_t *memory;
	bool posted; /* protected by lnet_rpc.lock */
};

struct rpc_service {
	uint64_t number;
	lnet_rpc_handler_t handler;
	void *arg;
};

struct rpc_state;

struct lnet_rpc {
	struct lnet *ln;
	struct lnet_env *env;
	uint32_t len_max;
	pthread_mutex_t lock;
	struct rpc_service services[LNET_RPC_SERVICES]; /* append-only */
	atomic_uint nr_services;
	struct rpc_buffer buffers[RPC_BUFFERS];
	bool serving; /* buffers are posted; protected by lock */
	atomic_uint nr_replies;
	atomic_bool stopped;
	struct rpc_state *calls; /* protected by lock */
};

/* rpc_call.c: frees calls without a final event, after lnet_destroy(). */
void rpc_calls_free(struct lnet_rpc *rpc);

#endif
