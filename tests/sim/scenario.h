/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a run of the simulator does: nodes, links, faults by time, load; drawn from a seed or read
 * from YAML.
 */
#ifndef TESTS_SIM_SCENARIO_H
#define TESTS_SIM_SCENARIO_H

#include "tests/sim/load.h"
#include "lnet/fault/fault.h"

#define SIM_MAX_RULES 16U

/* A rule of faults.def, in all nodes or in @node, of all interfaces or of that on @rail. */
struct sim_rule {
	struct lnet_rule rule;
	s32 node, rail;
};

struct sim_scenario {
	char name[64];
	bool sock;			/* the TCP driver over streams, else simlnd */
	u32 nodes, rails, shards;
	/* the last ones: on all rails, end nodes are on one each; 0: all are on all rails */
	u32 routers;
	u64 latency_ns, jitter_ns, rate_mbit;
	u32 inline_max;
	u64 duration_ns;		/* of the load */
	/* after the last fault, before the requests that must succeed */
	u64 heal_ns;
	u64 gap_ns;
	u32 max_open, min_len, max_len, partners;	/* min_len 0: most are small */
	u32 pair_open;			/* requests of a pair at one time; 0: no bound */
	/* TCP driver: what comes from and goes to @slow_node does so at @slow_mbit; 0: none does */
	u32 slow_node;
	u64 slow_mbit;
	bool symmetric;
	u64 timeout_ns;
	u32 retry_count;
	u64 hold_ns;			/* 0: the tunable's default */
	u32 windows_max;		/* 0: the default */
	u32 window;			/* 0: the default */
	u32 credits;			/* peer credits; 0: the driver's */
	bool expected_time;		/* paths are chosen by it */
	bool discovery_wait;		/* first requests wait for discovery */
	u32 put_ack, put, get;		/* permille */
	/* what is expected besides: */
	u64 end_by_ns;			/* of each request, after it was made; 0: any time */
	u64 end_by_from_ns;		/* not 0: of those made from then on, but for the last */
	bool calm;			/* nothing is sent twice, no path is suspected */
	u64 calm_from_ns;		/* not 0: from then on, until the first fault */
	u32 copies_max;			/* sent twice at most, from calm_from on; 0: any number */
	bool ends_whole;		/* faults of pairs lower nobody's health for others */
	/* requests among the others that are done in time, of those when none is slow */
	u32 others_permille;
	struct sim_fault fault[SIM_MAX_FAULTS];
	u32 nr_faults;
	/* each has a fault of kind SIM_GRAMMAR, too: when and where it acts */
	struct sim_rule rule[SIM_MAX_RULES];
	u32 nr_rules;
	/* a node whose decisions are kept in a file, of its last life; NULL: none */
	const char *record;
	u32 record_node;
	u64 record_bytes;
};

struct sim_result {
	bool failed;
	char why[512];
	u64 hash;
	struct sim_counts count;
};

void sim_scenario_init(struct sim_scenario *s);			/* two nodes, two rails, no fault */
void sim_scenario_draw(struct sim_scenario *s, u64 seed);	/* the default of lnetsim */
/* the same of a fifth of the load and time, on few nodes: for many seeds */
void sim_scenario_draw_brief(struct sim_scenario *s, u64 seed);
/* 0, or -errno with a message for people in @err. */
int sim_scenario_read(struct sim_scenario *s, const char *path, char *err, size_t size);
void sim_scenario_run(const struct sim_scenario *s, u64 seed, u32 verbose,
		      struct sim_result *result);

#endif
