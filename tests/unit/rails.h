/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Up to four real nodes in one process, connected by rails. Their driver handles each message by
 * the test's rules, and only the test moves their clock.
 *
 *	node 0                 node 1                 node 2
 *	10.0.0.1@tcp  ------- 10.0.0.2@tcp  ------- 10.0.0.3@tcp	rail 0
 *	10.1.0.1@tcp1 ------- 10.1.0.2@tcp1 ------- 10.1.0.3@tcp1	rail 1
 *
 * With cfg.behind, node 0 has only rail 0 and the last node only rail 1; those between may be
 * routers.
 *
 * Every request has a tag (op_ptr, match bits, header data). By the tag, the events and effects of
 * the request at the target are counted.
 */
#ifndef TESTS_UNIT_RAILS_H
#define TESTS_UNIT_RAILS_H

#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "unit.h"

#define RAILS_NODES	4
#define RAILS_RAILS	2
#define RAILS_TAGS	512
#define RAILS_MEM	8192
#define RAILS_PORTAL	5
#define RAILS_MS	1000000ULL

enum rails_fate {
	FATE_DELIVER,		/* posted, completed, delivered */
	FATE_REFUSE,		/* send() fails with the rule's outcome */
	FATE_FAIL,		/* completed unposted with the rule's outcome */
	FATE_REJECT,		/* completed unposted: the peer resets the connection */
	FATE_CUT,		/* completed unposted: no connection was made in time */
	FATE_KEEP,		/* the driver keeps it, nothing is sent */
	FATE_LOSE,		/* posted, completed, lost on the wire */
	FATE_POST,		/* posted and delivered, the driver still uses the memory */
	FATE_POST_FAIL,		/* posted, completed with the rule's outcome, lost */
	FATE_CONFIRM,		/* delivered, completed as CONFIRMED */
	FATE_TWICE,		/* delivered twice */
	FATE_DELAY,		/* posted, completed; delivered at rails_release() */
	FATE_HALF,		/* delivered; half of the payload is received: rails_land() */
	FATE_LATE,		/* as FATE_DELIVER, and once more at rails_release() */
};

enum { RAILS_ACK, RAILS_PUT, RAILS_GET, RAILS_REPLY, RAILS_CORE, RAILS_ANY };

struct rails_rule {
	int from, rail, type;	/* -1: any; type: enum above, with CORE for pings, session opens */
	enum rails_fate fate;
	enum lnet_outcome how;
	int count;		/* -1: no limit */
};

struct rails_msg {
	struct list_head link;
	struct lnet_hdr hdr;
	struct lnet_nid via, at;	/* interfaces of this hop: sender, receiver */
	u8 *data;
	u32 len;
	int from, to, rail, type;
	bool half;
};

struct rails_node {
	struct lnet_env env;
	struct lnet *ln;
	unsigned int ix, nr_kicks, nr_arms;
	bool stock;		/* drops tracked requests, does not advertise the extension */
	lnet_md_t md, target;
	u8 src[RAILS_MEM], dst[RAILS_MEM];
};

struct rails_req {		/* by tag */
	unsigned int nr_final, nr_effects, nr_sent, nr_attempts, nr_target;
	unsigned int nr_copies;	/* duplicates of its messages */
	unsigned int nr_plain;	/* untracked attempts of a PUT */
	int status;
	bool unknown;
	u8 kind;
	u32 mlength;
	u64 end_ns, latency_ns, started_ns;
	unsigned int on_rail[RAILS_RAILS];
};

struct rails_cfg {
	unsigned int nr_nodes, nr_shards;
	bool quiet;		/* no warm-up: the nodes do not know each other yet */
	bool single;		/* peers are not multi-rail, one rail is known */
	bool no_buffers;	/* the targets attach no buffers */
	bool one_rail;
	bool behind;		/* the first and the last node have one rail each, not the same */
	bool apart;		/* only node 0 knows which interfaces belong to one node */
	bool discover;		/* discovery is on; if it is off, nodes know only configured NIDs */
	bool strangers;		/* no peers are configured */
	bool large;		/* MDs for requests have LNET_LARGE + 1 bytes, targets RAILS_MEM */
	unsigned int peer_credits, credits;	/* 0: 8, 256 */
	/* NIDs instead of those above; a node has the rails that have a NID here */
	const char *const (*nids)[RAILS_RAILS];
};

struct rails {
	u64 now_ns, random, secret;
	u64 ahead_ns[RAILS_NODES];	/* of nodes' clocks; only increases */
	struct rails_node node[RAILS_NODES];
	struct rails_cfg cfg;
	struct lnet_nid nid[RAILS_NODES][RAILS_RAILS];	/* filled at first use */
	struct rails_rule rule[32];
	unsigned int nr_rules;
	struct list_head wire, delayed, kept, posted, waiting, landing;
	struct rails_req req[RAILS_TAGS];
	unsigned int nr_tags, nr_carried[8];
	unsigned int nr_once[8];	/* of these, sent only once: lost with their connection */
	unsigned int nr_bells;	/* calls of flush() */
	u32 epoch[RAILS_NODES][RAILS_RAILS];
	unsigned long stack_low, stack_high;	/* of send(), when called */
	char order[256];	/* messages sent and events handled, one letter each */
	struct rails_msg last;	/* header of the last message sent that is not CORE, data NULL */
	void (*on_event)(struct rails_node *n, const struct lnet_event *ev);
	void (*on_keep)(struct lnet_ni *ni);	/* FATE_KEEP: before send() returns */
	void (*on_carry)(struct rails_msg *m);	/* may corrupt the message */
	void (*on_copy)(bool begin);		/* a payload is copied, as hardware would */
};

extern struct rails rails;

static inline void rails_kept(struct lnet_ni *ni)
{
	if (rails.on_keep)
		rails.on_keep(ni);
}

static inline u64 rails_clock(unsigned int node)
{
	return rails.now_ns + rails.ahead_ns[node];
}

void rails_begin(const struct rails_cfg *cfg);	/* NULL: two nodes, two rails, after a warm-up */
/*
 * Ends all nodes. Checks that each request had one final event, and that all credits are returned.
 */
void rails_end(void);
void rails_node_start(unsigned int ix);
void rails_node_stop(unsigned int ix);
void rails_restart(unsigned int ix);
struct lnet_nid rails_nid(unsigned int node, unsigned int rail);
/* Each checks that the call succeeds. */
void rails_ni_del(unsigned int node, unsigned int rail);
void rails_ni_add(unsigned int node, unsigned int rail);
struct lnet_ni *rails_ni(unsigned int node, unsigned int rail);	/* without a reference */
struct lnet_path *rails_path(unsigned int from, unsigned int to, unsigned int rail);
struct lnet_peer *rails_peer(unsigned int from, unsigned int to);

void rails_on(int from, int rail, int type, enum rails_fate fate, enum lnet_outcome how,
	      int count);
void rails_clear(void);				/* removes all rules */
/* Returns the tag. @flags: LNET_ACK, LNET_MORE. */
unsigned int rails_put(unsigned int from, unsigned int to, u32 len, u32 flags, u64 timeout_ns);
unsigned int rails_get(unsigned int from, unsigned int to, u32 len, u64 timeout_ns);
void rails_attach(unsigned int node, u32 options);
u64 rails_stat(unsigned int node, enum lnet_counter c);
void rails_tune(unsigned int node, const char *name, u64 value);
/* The number of NIDs of @to that @from knows; its state of discovery, as `peer show' prints it. */
unsigned int rails_nids(unsigned int from, unsigned int to);
u32 rails_disc_bits(unsigned int from, unsigned int to);
/* 8 bytes of node 0's memory to node 1, without options */
void rails_xfer(struct lnet_xfer *x, u64 tag);

/* delivers messages and runs workers until no work is due now */
void rails_pump(void);
void rails_run(u64 ns);				/* rails_pump(), while @ns pass */
void rails_release(void);			/* delivers delayed messages */
/*
 * Ends the @nth receive (from 0) that has half its payload: receives the rest if LNET_OK, otherwise
 * the connection breaks.
 */
void rails_land(unsigned int nth, enum lnet_outcome how);
void rails_give(enum lnet_outcome how);		/* completes all kept and posted attempts */
void rails_give_rail(unsigned int node, unsigned int rail, enum lnet_outcome how);
/* closes the connection of the @nth waiting message */
void rails_gone(unsigned int nth);
void rails_lost(unsigned int from, unsigned int to, unsigned int rail, enum lnet_outcome how);
void rails_link(unsigned int node, unsigned int rail, bool up);
/* Repeats a message as it was received before. */
void rails_again(const struct rails_msg *m);
unsigned int rails_count(const struct list_head *list);
/* ---- between rails.c and rails_run.c --------------------------------------------------------- */
extern const struct lnet_env_ops rails_env_ops;
extern const struct lnet_lnd_ops rails_ops;
void rails_order(char c);
void rails_msg_free(struct rails_msg *m);
void rails_deliver(void);			/* the first message on the wire */
bool rails_landings(void);			/* ends one receive that can end; false: none */

#define rails_done(tag) (rails.req[tag].nr_final)

#endif
