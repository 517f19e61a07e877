/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract of drivers as a suite that every driver passes. Two nodes of one driver run on a
 * small core, which follows the suite's plan and records the calls of the driver.
 */
#ifndef TESTS_UNIT_CONTRACT_H
#define TESTS_UNIT_CONTRACT_H

#include "contract_rename.h"
#include "model/model.h"
#include "unit.h"

struct contract_pair;

/* Limits of a driver, which exclude parts of the suite. */
enum contract_lacks {
	CONTRACT_ONE_NI = 0x1,		/* both ends are one NI (loopback) */
	CONTRACT_NO_CUT = 0x2,		/* its path cannot break */
};

struct contract_driver {
	const struct lnet_lnd_ops *ops;
	unsigned int lacks;		/* enum contract_lacks */
	/*
	 * Fills pair->env[] and pair->cfg[] (NIDs, ifname) of both nodes before their NIs start.
	 * Returns 0 or -errno.
	 */
	int (*make)(struct contract_pair *pair);
	/* Connects the two started NIs, so that they can reach each other. May be NULL. */
	int (*join)(struct contract_pair *pair);
	/* Runs I/O and timers for about @ns of the environments' time. */
	void (*run)(struct contract_pair *pair, u64 ns);
	/* From now on no bytes pass: if @silent, bytes are lost, else all connections are reset. */
	void (*cut)(struct contract_pair *pair, bool silent);
	void (*unmake)(struct contract_pair *pair);	/* called when both NIs are stopped */
};

struct contract_node {
	struct lnet ln;			/* env, tun, nr_shards: the fields that drivers read */
	struct lnet_ni *ni;
	struct lnet_peer_ni *to;	/* the other node; holds a reference */
	struct list_head pnis;
	struct list_head rxs;		/* every rx that the driver got */
	struct list_head lost;		/* reports of lnet_path_lost() */
	bool stopped;			/* ni_stop returned: no further upcall is allowed */
	bool wanted;			/* result of lnet_rx_is_wanted(): others wait for buffers */
	bool kicked;
	unsigned int link_ups;
};

struct contract_pair {
	const struct contract_driver *driver;
	struct lnet_env *env[2];	/* owned by the driver's test; may be the same */
	struct {
		struct lnet_nid nid;
		char ifname[16];
	} cfg[2];
	struct contract_node node[2];	/* node[1] is unused with CONTRACT_ONE_NI */
	void *world;			/* owned by the driver's test */
};

/* Runs the whole suite; reports through CUnit. */
void contract_run(const struct contract_driver *driver);
/*
 * For make() of drivers whose test does not control the time: a clock that run() moves with
 * contract_env_run().
 */
struct lnet_env *contract_env(void);
void contract_env_run(struct contract_pair *pair, u64 ns);

#endif
