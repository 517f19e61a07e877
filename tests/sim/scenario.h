/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A scenario describes a run of the simulator: nodes, links, faults by time, and load. It is drawn
 * from a seed or read from YAML.
 */
#ifndef TESTS_SIM_SCENARIO_H
#define TESTS_SIM_SCENARIO_H

#include "tests/sim/load.h"
#include "lnet/fault/fault.h"

#define SIM_MAX_RULES 16U

/* A rule of faults.def, in all nodes or in @node, for all interfaces or that on @rail. */
struct sim_rule {
	struct lnet_rule rule;
	s32 node, rail;
};

struct sim_scenario {
	char name[64];
	bool sock;			/* the TCP driver over streams, else simlnd */
	u32 nodes, rails, shards;
	/* the last nodes, on all rails; then end nodes are on one rail. 0: all are on all rails */
	u32 routers;
	u64 latency_ns, jitter_ns, rate_mbit;
	u32 inline_max;
	u64 duration_ns;		/* of the load */
	/* after the last fault, before the requests that must succeed */
	u64 heal_ns;
	u64 gap_ns;
	u32 max_open, min_len, max_len, partners;	/* min_len 0: most are small */
	u32 pair_open;			/* requests of a pair at one time; 0: no bound */
	/* TCP driver: @slow_node sends and receives at @slow_mbit; 0: no node is slow */
	u32 slow_node;
	u64 slow_mbit;
	bool symmetric;
	u64 timeout_ns;
	u32 retry_count;
	u64 hold_ns;			/* 0: the tunable's default */
	u32 windows_max;		/* 0: the default */
	u32 window;			/* 0: the default */
	u32 credits;			/* peer credits; 0: the driver's */
	bool expected_time;		/* paths are selected by expected time */
	bool discovery_wait;		/* first requests wait for discovery */
	u32 put_ack, put, get;		/* permille */
	/* further expectations: */
	u64 end_by_ns;			/* of each request, from its start; 0: no limit */
	/* not 0: only requests started from then on, except the last */
	u64 end_by_from_ns;
	bool calm;			/* nothing is retransmitted, no path is suspect */
	u64 calm_from_ns;		/* not 0: the same from then on, until the first fault */
	/* maximum of retransmissions from calm_from on; 0: no limit */
	u32 copies_max;
	bool ends_whole;		/* faults of a pair lower only health between the two */
	/*
	 * requests between the other nodes that end in time, in permille of the number without a
	 * slow node
	 */
	u32 others_permille;
	struct sim_fault fault[SIM_MAX_FAULTS];
	u32 nr_faults;
	/* each also has a fault of kind SIM_GRAMMAR: when and where it acts */
	struct sim_rule rule[SIM_MAX_RULES];
	u32 nr_rules;
	/* file with the decisions of node @record_node, in its last life; NULL: none */
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
/* the same with a fifth of the load and time, on few nodes, so that many seeds can run */
void sim_scenario_draw_brief(struct sim_scenario *s, u64 seed);
/* 0, or -errno with an error message in @err */
int sim_scenario_read(struct sim_scenario *s, const char *path, char *err, size_t size);
void sim_scenario_run(const struct sim_scenario *s, u64 seed, u32 verbose,
		      struct sim_result *result);

#endif
