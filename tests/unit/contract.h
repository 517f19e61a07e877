/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract of drivers as a suite that every driver passes: two nodes of one driver under a
 * small core that does what the suite says and records what the driver does.
 */
#ifndef TESTS_UNIT_CONTRACT_H
#define TESTS_UNIT_CONTRACT_H

#include "contract_rename.h"
#include "model/model.h"
#include "unit.h"

struct contract_pair;

/* What a driver cannot do or need not be asked. */
enum contract_lacks {
	CONTRACT_ONE_NI = 0x1,		/* both ends are one NI (loopback) */
	CONTRACT_NO_CUT = 0x2,		/* its path cannot break */
};

struct contract_driver {
	const struct lnet_lnd_ops *ops;
	unsigned int lacks;		/* enum contract_lacks */
	/*
	 * Fills pair->env[] and pair->cfg[] (NIDs, ifname) of both nodes before their NIs start. 0
	 * or -errno.
	 */
	int (*make)(struct contract_pair *pair);
	/* Both NIs are started; so that they can reach each other. May be NULL. */
	int (*join)(struct contract_pair *pair);
	/* Lets the world run for about @ns of the environments' time: I/O, timers. */
	void (*run)(struct contract_pair *pair, u64 ns);
	/* From now on nothing passes: @silent, or with all connections reset. */
	void (*cut)(struct contract_pair *pair, bool silent);
	void (*unmake)(struct contract_pair *pair);	/* both NIs are stopped */
};

struct contract_node {
	struct lnet ln;			/* env, tun, nr_shards: what drivers ask for */
	struct lnet_ni *ni;
	struct lnet_peer_ni *to;	/* the other node; counted */
	struct list_head pnis;
	struct list_head rxs;		/* every rx there ever was */
	struct list_head lost;		/* reports of lnet_path_lost() */
	bool stopped;			/* ni_stop returned: no upcall may come */
	bool wanted;			/* lnet_rx_is_wanted(): others wait for buffers */
	bool kicked;
	unsigned int link_ups;
};

struct contract_pair {
	const struct contract_driver *driver;
	struct lnet_env *env[2];	/* the driver test's; may be the same */
	struct {
		struct lnet_nid nid;
		char ifname[16];
	} cfg[2];
	struct contract_node node[2];	/* node[1] is unused with CONTRACT_ONE_NI */
	void *world;			/* the driver test's */
};

/* Runs all of the suite; reports through CUnit. */
void contract_run(const struct contract_driver *driver);
/*
 * For make() of drivers whose time nobody needs to control: a clock that run() moves by
 * contract_env_run().
 */
struct lnet_env *contract_env(void);
void contract_env_run(struct contract_pair *pair, u64 ns);

#endif
