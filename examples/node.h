/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code shared by the examples: creates a node with one interface, offers memory to other nodes,
 * waits for the end.
 */
#include <lnet/lnet.h>
#include <lnet/progress.h>
#include <lnet/socklnd.h>
#include <stdio.h>
#include <string.h>

enum { PORTAL_TEXT = 1, PORTAL_HELLO, PORTAL_REQUEST, PORTAL_ANSWER };

/* The environment that serves the node; it has a service thread. */
static struct lnet_env *node_env;

/*
 * The node uses TCP port 988 and connects from ports below 1024, as nodes do by default. So the
 * program must run as root.
 */
static inline int node_start(struct lnet **ln, const char *nid)
{
	struct lnet_user_env_cfg how = { .mode = LNET_PROGRESS_HYBRID };
	struct lnet_cfg cfg = { 0 };
	struct lnet_ni_cfg ni;
	int rc = lnet_user_env_create(&node_env, &how);

	cfg.env = node_env;
	if (!rc)
		rc = lnet_create(ln, &cfg);
	if (!rc)
		rc = lnet_user_env_start(node_env, *ln);
	if (!rc)
		rc = lnet_lnd_register(*ln, &lnet_socklnd_ops);
	lnet_ni_cfg_init(&ni);
	if (!rc)
		rc = lnet_nid_parse(&ni.nid, nid);
	if (!rc)
		rc = lnet_ni_add(*ln, &ni);
	if (rc)
		fprintf(stderr, "%s: %s\n", nid, strerror(-rc));
	return rc;
}

/* Allows everybody to use the memory of @md with the match bits @bits. */
static inline int node_post(struct lnet *ln, unsigned int portal, uint64_t bits,
			    struct lnet_md_cfg *md)
{
	struct lnet_process anybody = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	lnet_me_t me;
	lnet_md_t handle;
	int rc = lnet_me_attach(ln, portal, &anybody, bits, 0, LNET_RETAIN, LNET_INS_AFTER, &me);

	return rc ? rc : lnet_md_attach(ln, me, md, LNET_RETAIN, &handle);
}

/*
 * The event that ends the program. The handler only stores it, because a handler must not block.
 * main() waits for it in node_wait() and prints.
 */
static struct lnet_event node_event;
static int node_status = 1;

static inline void node_ends(const struct lnet_event *ev)
{
	node_event = *ev;
	__atomic_store_n(&node_status, ev->status, __ATOMIC_RELEASE);
}

static inline bool node_ended(void *arg)
{
	return __atomic_load_n(&node_status, __ATOMIC_ACQUIRE) <= 0;
}

static inline int node_wait(struct lnet *ln)
{
	int rc = lnet_progress_until(ln, node_ended, NULL, 10 * 1000000000ll);

	return rc ? rc : node_status;
}

/* The service thread uses the instance, so the thread stops before the instance is destroyed. */
static inline void node_end(struct lnet *ln)
{
	lnet_user_env_stop(node_env);
	lnet_destroy(ln);
	lnet_user_env_destroy(node_env);
}
