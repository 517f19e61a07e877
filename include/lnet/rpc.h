/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remote calls in user space: a node serves numbered services and calls services of other nodes
 * with a deadline. It is built on the calls of lnet.h and hides memory descriptors, portals and
 * events.
 *
 * A request is a PUT to portal 62. Its match bits are the service, its header data is the call ID,
 * 64 random bits. The reply is a PUT to portal 63 whose match bits are the call ID. The reply
 * begins with two little-endian 32-bit numbers, the status (0 or -errno) and 1 if the handler ran.
 * Between two nodes with the exactly-once extension a retransmitted request runs once.
 */
#ifndef LNET_RPC_H
#define LNET_RPC_H

#include <lnet/nid.h>
#include <lnet/types.h>

LNET_BEGIN_DECLS

struct lnet;
struct lnet_rpc; /* one node that serves and calls */

#define LNET_RPC_MAX	  1048568U /* bytes of the longest request or reply */
#define LNET_RPC_SERVICES 64U	   /* services of a node */

struct lnet_rpc_cfg {
	const char *nids; /* interfaces of this node, as "10.0.0.1@tcp,10.1.0.1@tcp1" */
	/* TCP port to listen on and to dial; 0: 988, for which a process needs privileges */
	uint16_t port;
	/*
	 * Also accept peers that connect from a port of 1024 or above, as processes without
	 * privileges do. Any local user of such a host can then act as a node.
	 */
	bool any_port;
	uint32_t len_max; /* bytes of the longest request or reply here; 0: 65536 */
};

/**
 * lnet_rpc_open - start a node in this process
 * @rpc: the result
 * @cfg: read during the call only
 *
 * Any thread. May sleep. lnet_rpc_close() ends the node.
 *
 * Return: 0; -EINVAL (a NID, len_max above LNET_RPC_MAX); -ENODEV or -EADDRNOTAVAIL (no interface
 * has the address); -EADDRINUSE (another node has the port); -EACCES (the port needs privileges);
 * -ENOMEM.
 */
int lnet_rpc_open(struct lnet_rpc **rpc, const struct lnet_rpc_cfg *cfg);

/**
 * lnet_rpc_close - end the node
 * @rpc: NULL is accepted
 *
 * Not from a handler, and not while another thread uses @rpc. Calls in flight at peers end there
 * by their deadline.
 */
void lnet_rpc_close(struct lnet_rpc *rpc);

/* The node below, for lnet_peer_add(), lnet_tunable_set() and the others. It lives as @rpc does. */
struct lnet *lnet_rpc_node(struct lnet_rpc *rpc);

struct lnet_rpc_request {
	uint64_t service;
	struct lnet_nid from; /* primary NID of the caller */
	const void *data;     /* valid until the handler returns */
	uint32_t len;
};

/*
 * Serves one request: writes at most @max bytes to @reply and returns their number, or -errno,
 * which the caller gets. It runs in the thread that makes progress, with no lock held, several
 * threads at a time if several make progress. It must not wait: neither lnet_rpc_call() nor
 * lnet_rpc_run() works in it (-EDEADLK).
 */
typedef int (*lnet_rpc_handler_t)(void *arg, const struct lnet_rpc_request *request, void *reply,
				  uint32_t max);

/**
 * lnet_rpc_serve - offer a service
 * @rpc: the node
 * @service: any number; callers name it
 * @handler: serves its requests
 * @arg: for the handler; must live as long as @rpc
 *
 * Any thread. Requests for services that a node does not offer fail at the caller with -ENOSYS.
 *
 * Return: 0; -EEXIST; -ENOSPC (LNET_RPC_SERVICES are offered); -ENOMEM.
 */
int lnet_rpc_serve(struct lnet_rpc *rpc, uint64_t service, lnet_rpc_handler_t handler, void *arg);

/**
 * lnet_rpc_run - serve requests in the calling thread
 * @rpc: the node
 * @timeout_ns: how long; below 0: until lnet_rpc_stop()
 *
 * Another thread of the node serves while nobody runs this, with a longer response time.
 *
 * Return: 0 after lnet_rpc_stop(); -ETIMEDOUT; -EDEADLK in a handler.
 */
int lnet_rpc_run(struct lnet_rpc *rpc, int64_t timeout_ns);
/* Makes every lnet_rpc_run() return, now and later. Any thread, a handler as well. */
void lnet_rpc_stop(struct lnet_rpc *rpc);

enum lnet_rpc_executed {
	LNET_RPC_NOT_EXECUTED, /* the handler did not and will not run for this call */
	LNET_RPC_EXECUTED,     /* it ran once */
	LNET_RPC_UNKNOWN,      /* no reply came: it may have run, or may still run, once */
};

struct lnet_rpc_call {
	const char *to; /* a NID of the peer, as text */
	uint64_t service;
	const void *data; /* copied before the call is sent */
	uint32_t len;
	void *reply;	     /* written only if the call succeeds */
	uint32_t max;	     /* bytes of @reply */
	uint64_t timeout_ns; /* 0: 5 s */
};

/**
 * lnet_rpc_call - send a request and wait for its reply
 * @rpc: the node
 * @call: the request
 * @executed: what is known about the handler; may be NULL
 *
 * Any thread but a handler. Returns at the latest when the timeout has passed.
 *
 * Return: length of the reply; what the handler returned, if that is negative, with
 * LNET_RPC_EXECUTED; -ENOSYS (the peer does not offer the service); -EMSGSIZE (the reply is longer
 * than @max, with LNET_RPC_EXECUTED); -EINVAL (no NID, @len or @max above the node's len_max);
 * -ETIMEDOUT; -EHOSTUNREACH (no path); -ECONNREFUSED; -EPROTO (the reply is malformed); -EDEADLK in
 * a handler; -ENOMEM; -ESHUTDOWN.
 */
int lnet_rpc_call(struct lnet_rpc *rpc, const struct lnet_rpc_call *call,
		  enum lnet_rpc_executed *executed);

LNET_END_DECLS

#endif
