/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the suite of contract.c and its small core share. */
#ifndef TESTS_UNIT_CONTRACT_CORE_H
#define TESTS_UNIT_CONTRACT_CORE_H

#include "contract.h"

/* What the receiver shall do with a message; travels in its match bits. */
enum plan {
	PLAN_LAND,
	PLAN_SKIP,
	PLAN_CLOSE,
	PLAN_LATER_LAND,	/* the suite calls ops->land in its own time */
	PLAN_LATER_SKIP,
	/* ops->land comes while rx_begin() still runs, as from another thread */
	PLAN_LATER_AT_ONCE,
	PLAN_STOP,		/* ops->rx_stop in its own time */
};

struct msg {			/* sent */
	struct list_head link;
	struct lnet_att att;
	struct contract_node *node;
	struct lnet_hdr hdr;
	struct lnet_frag frags[3];
	u8 *memory;
	u32 len;
	unsigned int seq;
	bool taken, posted;
	bool urgent, once;
	unsigned int nr_done;
	int err;			/* of lnet_att_unconnected() */
	enum lnet_outcome how;
	u64 done_ns;
};

struct got {			/* received */
	struct list_head link;	/* node->rxs */
	struct lnet_rx rx;
	struct contract_node *node;
	struct lnet_hdr hdr;
	struct lnet_frag frags[3];
	u8 *memory;
	unsigned int seq;
	enum plan plan;
	bool begun, waits;	/* waits: LATER was said, land was not called yet */
	unsigned int nr_done;
	enum lnet_outcome how;
};

struct lost {
	struct list_head link;	/* node->lost */
	struct lnet_peer_ni *to;
	u32 epoch;
};

int contract_node_start(struct contract_pair *pair, unsigned int ix);
void contract_node_stop(struct contract_node *node);
void contract_node_free(struct contract_node *node);
u64 contract_now(struct contract_node *node);
/* The byte at @pos of the payload of message @seq. */
u8 contract_byte(unsigned int seq, u32 pos);
/*
 * @memory for @len bytes cut in three at odd places, into @frags; the bytes lie from @memory[odd]
 * on.
 */
u8 *contract_frags(struct lnet_frag frags[3], u32 len, unsigned int odd);
bool contract_payload_ok(const struct got *got);
bool contract_memory_ok(const struct msg *msg);

#endif
