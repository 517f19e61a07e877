/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remote calls in user space: a node serves numbered services and calls services of other nodes
 * with a deadline. A program needs none of the memory descriptors, portals and events of lnet.h.
 *
 * A request is a PUT to portal 62. The match bits are the service number; the header data is the
 * call ID, 64 random bits. The reply is a PUT to portal 63 with the call ID as match bits. A reply
 * begins with two little-endian 32-bit numbers: the status (0 or -errno), and 1 if the handler ran.
 * Between two nodes with the exactly-once extension, a retransmitted request runs only once.
 */
#ifndef LNET_RPC_H
#define LNET_RPC_H

#include <lnet/nid.h>
#include <lnet/types.h>

LNET_BEGIN_DECLS

struct lnet;
struct lnet_rpc; /* a node that serves calls of other nodes and calls other nodes */

#define LNET_RPC_MAX	  1048568U /* most bytes of a request or reply */
#define LNET_RPC_SERVICES 64U	   /* services of a node */

struct lnet_rpc_cfg {
	const char *nids; /* NIDs of this node's interfaces, as "10.0.0.1@tcp,10.1.0.1@tcp1" */
	/*
	 * TCP port on which this node listens, and to which it connects; 0: 988, which needs
	 * CAP_NET_BIND_SERVICE
	 */
	uint16_t port;
	/*
	 * True: this node also accepts connections from TCP ports of 1024 and above, which
	 * processes without privileges use. Any local user of a peer's host can then act as that
	 * peer.
	 */
	bool any_port;
	uint32_t len_max; /* most bytes of a request or reply of this node; 0: 65536 */
};

/**
 * lnet_rpc_open - start a node in this process
 * @rpc: receives the node
 * @cfg: read only during the call
 *
 * Any thread may call it. May sleep. The caller ends the node with lnet_rpc_close().
 *
 * Return: 0; -EINVAL (a NID cannot be parsed, or len_max is above LNET_RPC_MAX); -ENODEV or
 * -EADDRNOTAVAIL (no interface has the address); -EADDRINUSE (another node has the port); -EACCES
 * (the port needs privileges); -ENOMEM.
 */
int lnet_rpc_open(struct lnet_rpc **rpc, const struct lnet_rpc_cfg *cfg);

/**
 * lnet_rpc_close - end the node
 * @rpc: NULL is accepted
 *
 * Not to be called from a handler, or while another thread uses @rpc. If a peer has a call to this
 * node in flight, the call ends at its deadline.
 */
void lnet_rpc_close(struct lnet_rpc *rpc);

/*
 * Returns the instance, for lnet_peer_add(), lnet_tunable_set() and so on. @rpc owns the instance.
 */
struct lnet *lnet_rpc_node(struct lnet_rpc *rpc);

struct lnet_rpc_request {
	uint64_t service;
	struct lnet_nid from; /* primary NID of the caller */
	const void *data;     /* valid until the handler returns */
	uint32_t len;
};

/*
 * A handler serves one request: it writes at most @max bytes to @reply. Returns the number of
 * bytes, or a negative errno for the caller.
 *
 * Runs in a thread that makes progress, with no lock held; several threads may run it at once. A
 * handler must not block or run for long (lnet_handler_t in lnet.h). In a handler, lnet_rpc_call()
 * and lnet_rpc_run() return -EDEADLK.
 */
typedef int (*lnet_rpc_handler_t)(void *arg, const struct lnet_rpc_request *request, void *reply,
				  uint32_t max);

/**
 * lnet_rpc_serve - offer a service
 * @rpc: the node
 * @service: the number of the service, which callers use; any value
 * @handler: serves the requests to the service
 * @arg: passed to @handler; must stay valid until lnet_rpc_close()
 *
 * Any thread. Callers of a service that is not offered receive -ENOSYS.
 *
 * Return: 0; -EEXIST (the service is offered already); -ENOSPC (LNET_RPC_SERVICES are offered);
 * -ENOMEM.
 */
int lnet_rpc_serve(struct lnet_rpc *rpc, uint64_t service, lnet_rpc_handler_t handler, void *arg);

/**
 * lnet_rpc_run - serve requests in the calling thread
 * @rpc: the node
 * @timeout_ns: how long to serve; below 0: until lnet_rpc_stop()
 *
 * While no thread runs this call, a thread of the node serves the requests, with a longer response
 * time.
 *
 * Return: 0 after lnet_rpc_stop(); -ETIMEDOUT after @timeout_ns; -EDEADLK in a handler.
 */
int lnet_rpc_run(struct lnet_rpc *rpc, int64_t timeout_ns);
/*
 * Makes all current and later calls of lnet_rpc_run() return. Any thread may call it, also from the
 * handler of a service. A signal handler must not call it, because it takes a lock.
 */
void lnet_rpc_stop(struct lnet_rpc *rpc);

enum lnet_rpc_executed {
	LNET_RPC_NOT_EXECUTED, /* the handler has not run for this call, and will not run */
	LNET_RPC_EXECUTED,     /* it ran once */
	/* no reply was received: the handler ran, will run, or will not run, but at most once */
	LNET_RPC_UNKNOWN,
};

struct lnet_rpc_call {
	const char *to; /* a NID of the peer that serves the call, as text */
	uint64_t service;
	const void *data; /* request data; copied before the call is sent */
	uint32_t len;
	void *reply;	     /* memory for the reply; written only if the call succeeds */
	uint32_t max;	     /* size of @reply in bytes */
	uint64_t timeout_ns; /* 0: 5 s */
};

/**
 * lnet_rpc_call - send a request and wait for its reply
 * @rpc: the node
 * @call: the request
 * @executed: receives whether the handler ran; may be NULL
 *
 * Any thread may call it, but not in a handler. Returns when the timeout has passed, at the latest.
 *
 * Return: the length of the reply, or a negative errno. With LNET_RPC_EXECUTED: the errno that the
 * handler returned; -EMSGSIZE (the reply is longer than @max). With LNET_RPC_NOT_EXECUTED: -ENOSYS
 * (the peer does not offer the service); -EINVAL (@to is not a NID, @len or @max is above the
 * node's len_max, or @timeout_ns is too long); -EDEADLK in a handler; -ENOMEM. With either of
 * NOT_EXECUTED and UNKNOWN: -ETIMEDOUT; -EHOSTUNREACH (no path reaches the peer, or no host has the
 * address); -ECONNREFUSED (no node listens); -ECONNRESET (the node there does not have the NID, or
 * the connections were lost); -EPROTO (the reply is malformed); -ESHUTDOWN.
 *
 * A refused connection is retried, because a peer may be starting. So -ECONNREFUSED may take most
 * of the timeout.
 */
int lnet_rpc_call(struct lnet_rpc *rpc, const struct lnet_rpc_call *call,
		  enum lnet_rpc_executed *executed);

LNET_END_DECLS

#endif
