/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Logs the failure of a path, under traffic or in recovery, and its recovery: one line each. */
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"

/* Reasons of failures that lower health. */
static const char *const whys[LNET_NR_OUTCOMES] = {
	[LNET_LOCAL_INTERRUPT] = "its interface interrupted a message",
	[LNET_LOCAL_DROPPED] = "its interface dropped a message",
	[LNET_LOCAL_ABORTED] = "its interface aborted a message",
	[LNET_LOCAL_NO_ROUTE] = "the network has no route to it",
	[LNET_LOCAL_ERROR] = "its interface could not send a message",
	[LNET_LOCAL_TIMEOUT] = "its interface did not send a message in time",
	[LNET_REMOTE_ERROR] = "the peer reported an error",
	[LNET_REMOTE_DROPPED] = "the peer could not be reached",
	[LNET_REMOTE_TIMEOUT] = "the peer did not reply to a message in time",
	[LNET_NETWORK_TIMEOUT] = "no response to a message",
	[LNET_PATH_LOST] = "its connections were lost",
};

void lnet_path_log_failed(struct lnet_path *path, const char *why, u64 since_ns)
{
	struct lnet *ln = path->ni->ln;

	if (path->logged_ns || !lnet_log_is_on(ln))
		return;
	path->logged_ns = since_ns;
	lnet_log_path_failed(ln, &path->ni->nid, &path->pni->nid, why);
}

void lnet_path_log_outcome(struct lnet_path *path, enum lnet_outcome how, u64 since_ns)
{
	const struct lnet_ni *ni = path->ni;
	struct lnet_env *env = ni->ln->env;

	if (path->logged_ns || since_ns < path->back_ns || !whys[how])
		return;
	if (ni != ni->ln->lo && ni->state == NI_ACTIVE && lnet_ni_has_link(ni))
		lnet_path_log_failed(path, whys[how], env->ops->now_ns(env));
}

void lnet_path_log_recovered(struct lnet_path *path, u64 now_ns)
{
	u64 ns = now_ns - min(now_ns, path->logged_ns);

	if (!path->logged_ns)
		return;
	path->logged_ns = 0;
	lnet_log_path_recovered(path->ni->ln, &path->ni->nid, &path->pni->nid,
				div_u64(ns, NSEC_PER_MSEC));
}
