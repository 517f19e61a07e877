/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A node for unit tests: an environment with a clock that the test moves, and a driver that follows
 * the test's instructions and records calls.
 */
#ifndef TESTS_UNIT_NODE_H
#define TESTS_UNIT_NODE_H

#include "model/model.h"
#include "unit.h"

struct fake_env {
	struct lnet_env env;
	u64 now_ns, random;
	unsigned int nr_kicks;
};

void fake_env_init(struct fake_env *fake);

/* Settings and records of the driver of nets tcp and o2ib; one at a time, reset by node_begin(). */
struct fake_lnd {
	int start_error;
	unsigned int nr_starts, nr_stops, nr_gone;
	bool loses;		/* messages are handed to the fabric, and lost there */
	bool found_in_start;	/* lnet_ni_find() found the NI in ni_start */
	u8 state_in_stop;	/* state of the NI in ni_stop */
	bool (*in_stop)(struct lnet_ni *ni);
};

extern struct fake_lnd fake_lnd;
extern const struct lnet_lnd_ops fake_tcp_ops;

/*
 * The node of the running test, with @nr_shards shards and the fake driver; only 0@lo is
 * configured.
 */
struct lnet *node_begin(unsigned int nr_shards);
void node_end(struct lnet *ln);
void node_work(struct lnet *ln);	/* runs the worker of each shard once */
/*
 * Replies to all pings of listed NIDs until no such ping is left. The reply is @len bytes of @info;
 * if @refuses(nid), it lists only that NID.
 */
void node_answer(struct lnet *ln, const void *info, u32 len,
		 bool (*refuses)(const struct lnet_nid *nid));
#define NODE_LIST_FEATURES \
	(LNET_FEAT_NI_STATUS | LNET_FEAT_RTE_DISABLED | LNET_FEAT_MULTI_RAIL | LNET_FEAT_DISCOVERY)
/*
 * Encodes the ping info of a multi-rail node with @nr NIDs, from number @at on. If @mixed, every
 * second NID is an IPv6 address. The caller drops the returned reference.
 */
struct lnet_sbuf *node_list_from(unsigned int at, unsigned int nr, bool mixed, u32 *len);
struct lnet_nid nid(const char *text);
int node_ni_add(struct lnet *ln, const char *nid_text);
extern struct fake_env node_env;

#endif
