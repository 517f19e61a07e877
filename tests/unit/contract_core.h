/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types and functions that the suite of contract.c shares with its small core. */
#ifndef TESTS_UNIT_CONTRACT_CORE_H
#define TESTS_UNIT_CONTRACT_CORE_H

#include "contract.h"

/* How the receiver handles a message; sent in its match bits. */
enum plan {
	PLAN_LAND,
	PLAN_SKIP,
	PLAN_CLOSE,
	PLAN_LATER_LAND,	/* the suite calls ops->receive later */
	PLAN_LATER_SKIP,
	/* ops->receive is called while rx_begin() still runs, as from another thread */
	PLAN_LATER_AT_ONCE,
	PLAN_STOP,		/* the suite calls ops->rx_stop later */
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
	int err;			/* the argument of lnet_att_unconnected() */
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
	bool begun, waits;	/* waits: the verdict was LATER, and land was not called yet */
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
 * Allocates memory for @len bytes and divides it at odd offsets into three fragments, @frags. The
 * bytes start at offset @odd of the returned memory.
 */
u8 *contract_frags(struct lnet_frag frags[3], u32 len, unsigned int odd);
bool contract_payload_ok(const struct got *got);
bool contract_memory_ok(const struct msg *msg);

#endif
