/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of fault/: fault rules as data and as text, and their application to messages that are
 * sent and received.
 *
 * A rule has a kind and parameters: which messages match, which of the matches it hits, and its
 * effect on those. Each rule has its own random generator, so equal seeds and messages cause equal
 * faults. Rules of stock's tool are two more kinds of the same table. Their parameters are given as
 * numbers, and they follow stock LNet where it differs from the grammar of faults.def.
 */
#ifndef LNET_FAULT_FAULT_H
#define LNET_FAULT_FAULT_H

#include "model/model.h"

struct lnet_rules_kept;

/* ---- rule.c ---------------------------------------------------------------------------------- */
#define LNET_RULE_NIDS	8U
#define LNET_RULES_MAX	256U
#define LNET_RULE_ERR	224U		/* bytes for an error text */

enum { LNET_RULE_SEND = 1, LNET_RULE_RECEIVE = 2, LNET_RULE_BOTH = 3 };

#define LNET_RULE_OUTCOMES ((2u << LNET_NETWORK_TIMEOUT) - 2)	/* the failures of stock, 1..10 */

enum { LNET_SPOIL_BIT, LNET_SPOIL_PAGES };

enum lnet_rule_kind {
#define FAULT_PARAM(id, name, type, member, min, max, text)
#define FAULT_KIND(id, ...) LNET_RULE_K_##id,
#include "fault/faults.def"
	LNET_NR_RULE_KINDS,
	/* kinds of stock LNet's tool, which are not in faults.def */
	LNET_RULE_K_STOCK_DROP,
	LNET_RULE_K_STOCK_DELAY,
	LNET_RULE_K_ANY,		/* in struct lnet_rule_which: all kinds, also stock's */
#undef FAULT_PARAM
#undef FAULT_KIND
};

enum lnet_rule_param {
#define FAULT_PARAM(id, ...) LNET_RULE_##id,
#define FAULT_KIND(id, ...)
#include "fault/faults.def"
	LNET_NR_RULE_PARAMS
#undef FAULT_PARAM
#undef FAULT_KIND
};

struct lnet_rule_nids {
	u32 nr;
	struct lnet_nid nid[LNET_RULE_NIDS];
};

struct lnet_rule {
	u8 kind, at, where, when;
	/* stock's rules: @random: hits with probability 1/2; @drop_all: always hits */
	u8 random, drop_all;
	u32 set;			/* 1 << enum lnet_rule_param: parameters that were set */
	char name[32];
	/* ANY: all NIDs; 255.255.255.255@net: all NIDs on the net */
	struct lnet_nid src, dst, local;
	struct lnet_rule_nids left, right;
	u32 types;			/* 1 << type; 0: all */
	u32 rate, permille, duty, behind, burst, loss;
	/*
	 * a set: bit N is the outcome with number N. A rule of stock LNet's kinds ignores all other
	 * bits.
	 */
	u32 outcomes;
	u64 portals;
	u64 count, seed, bandwidth;
	u64 interval_ns, from_ns, to_ns, period_ns, delay_ns, jitter_ns, over_ns;
};

enum lnet_rule_state { LNET_RULE_IS_WAITING, LNET_RULE_IS_ON, LNET_RULE_IS_OFF, LNET_RULE_IS_OVER };

/* The number, the state and the counters of a rule. */
struct lnet_rule_info {
	u32 id;				/* counted from 1 */
	u8 state;
	u64 nr_match, nr_hit;
	u64 nr_by_type[4];		/* hits by type of the message: ACK, PUT, GET, REPLY */
};

extern const char *const lnet_rule_states[];
static inline bool lnet_rule_is_stock(const struct lnet_rule *r)
{
	return r->kind > LNET_NR_RULE_KINDS;
}

/* Returns the kind with this name; LNET_NR_RULE_KINDS if there is none. */
enum lnet_rule_kind lnet_rule_kind_find(const char *name);
/* The name as in faults.def. */
const char *lnet_rule_kind_name(enum lnet_rule_kind kind);
/*
 * Returns on which side rules of @kind act: LNET_RULE_SEND, LNET_RULE_RECEIVE, or LNET_RULE_BOTH.
 */
unsigned int lnet_rule_sides(enum lnet_rule_kind kind);
/* True if rules of @kind have @param. */
bool lnet_rule_may(enum lnet_rule_kind kind, enum lnet_rule_param param);
/* The name as in faults.def. */
const char *lnet_rule_param_name(enum lnet_rule_param param);
/* Returns the parameter with this name; LNET_NR_RULE_PARAMS if there is none. */
enum lnet_rule_param lnet_rule_param_find(const char *name);
/* Makes @r a rule of @kind with default parameters. */
void lnet_rule_init(struct lnet_rule *r, enum lnet_rule_kind kind);
/*
 * Sets a parameter from @text. 0; -EINVAL: @err (LNET_RULE_ERR bytes) names the parameter and the
 * error.
 */
int lnet_rule_set(struct lnet_rule *r, const char *name, const char *text, char *err);
/*
 * Checks that no parameter is missing, and that no two of them conflict. Return value and @err as
 * for lnet_rule_set(). For stock's rules, @err has the names that stock's tool uses for the
 * parameters.
 */
int lnet_rule_check(const struct lnet_rule *r, char *err);
/*
 * Writes the NID of a rule in the form that lnet_rule_set() accepts: "*", "*@net" or a NID. @buf:
 * LNET_NIDSTR_SIZE bytes.
 */
const char *lnet_rule_nid_text(const struct lnet_nid *nid, char *buf);
/* Writes a parameter in the form that lnet_rule_set() accepts. False: the parameter was not set. */
bool lnet_rule_text(const struct lnet_rule *r, enum lnet_rule_param param, char *buf, size_t size);

/* ---- rule_table.c ---------------------------------------------------------------------------- */
/* An installed rule: its parameters, its counters and the state of its generator. */
struct lnet_rule_live {
	struct list_head link;
	struct lnet_rule r;
	struct lnet_rule_info info;
	u64 added_ns, rng;
	bool over_told;			/* its end was logged */
	/* for "rate": number of matches in this window; which of them hits */
	u32 window_pos, window_hit;
	/*
	 * For "interval": the begin of this window (U64_MAX: none yet), and the time from which a
	 * match hits.
	 */
	u64 window_ns, hit_ns;
	u64 free_ns;			/* for "slow": time at which the link becomes idle */
};

/*
 * Selects rules. @id 0 and @name "" match all rules. @kind LNET_NR_RULE_KINDS: all kinds of
 * faults.def. @name selects among rules of faults.def. @src and @dst select among stock's rules;
 * any: all rules.
 */
struct lnet_rule_which {
	u32 id;
	enum lnet_rule_kind kind;
	char name[32];
	struct lnet_nid src, dst;
};

/*
 * Takes cfg_mutex, may sleep. Adds the checked rule @r. 0, -ENOMEM, -ENOSPC (too many rules),
 * -EEXIST (the name is in use)
 */
int lnet_rule_add(struct lnet *ln, const struct lnet_rule *r);
/*
 * Takes cfg_mutex, may sleep. Deletes rules, and sends the messages that they hold. Returns the
 * number of deleted rules.
 */
unsigned int lnet_rule_del(struct lnet *ln, const struct lnet_rule_which *which);
/* Worker of shard 0, no lock held: logs the rules that have ended. */
void lnet_rules_work(struct lnet *ln, u64 now_ns);
/* Copies the rule of faults.def with the lowest number that is at least @id. 0, -ENOENT: none */
int lnet_rule_get(struct lnet *ln, u32 id, struct lnet_rule *r, struct lnet_rule_info *info);
/*
 * Copies rule number @pos of those of @kind, the most recent rule first. @copy may be NULL. 0;
 * -ENOENT: there are fewer rules.
 */
int lnet_rule_at(struct lnet *ln, enum lnet_rule_kind kind, unsigned int pos,
		 struct lnet_rule_live *copy);
/* Clears the counters of all rules of @kind, and starts them with new seeds. */
void lnet_rules_reset(struct lnet *ln, enum lnet_rule_kind kind);
/* Any context. True if the rule @id is in the table @f. */
bool lnet_rule_exists(struct lnet_fault *f, u32 id);
/* Returns the number of the newest rule; 0: there is none. */
u32 lnet_rule_last(struct lnet *ln);
/*
 * Takes cfg_mutex, may sleep. Copies all rules with their state to *@kept; the caller frees *@kept
 * by kvfree(). 0, -ENOMEM
 */
int lnet_rules_keep(struct lnet *ln, struct lnet_rules_kept **kept);
/*
 * Takes cfg_mutex, may sleep. Restores the rules of @kept, with counters and random state, and
 * deletes all other rules. 0; -ENOMEM: some rules are missing, and the caller may repeat the call.
 */
int lnet_rules_put_back(struct lnet *ln, const struct lnet_rules_kept *kept);

/* ---- fault.c --------------------------------------------------------------------------------- */
/* The table of an instance: rules, NIDs whose messages fail, and interfaces that are held down. */

#define LNET_FAULT_FAILS 64		/* NIDs that fail */

/* The next @left requests to a NID, and messages from it, fail. */
struct lnet_fault_fail {
	struct lnet_nid nid;		/* any: all */
	s32 left;			/* -1: always */
};

struct lnet_fault {
	spinlock_t lock;		/* leaf */
	struct list_head rules;		/* [lock] the most recent rule first: IDs descend */
	u32 last_id;			/* [lock] */
	u32 nr, nr_reorder;		/* [lock], READ_ONCE without */
	struct lnet_fault_fail fails[LNET_FAULT_FAILS];	/* [lock] */
	u32 nr_fails;			/* [lock], READ_ONCE without */
	/*
	 * Messages that were dropped or delayed before they were sent. Atomic, because no shard is
	 * locked.
	 */
	atomic64_t hits[2];
};

/*
 * Returns true if lnet_fault_peer() has requested that this message to or from @nid fails. If so,
 * also counts the message.
 */
bool lnet_fault_peer_fails(struct lnet *ln, const struct lnet_nid *nid);
/* cfg_mutex held. Returns the table, and allocates it if there is none. NULL: no memory. */
struct lnet_fault *lnet_fault_want(struct lnet *ln);
/* [lock] Sets ln->fault if there are rules or NIDs whose messages fail; else clears it. */
void lnet_fault_gate(struct lnet *ln);
/*
 * Takes cfg_mutex. Makes the next @count messages of @nid fail (any: of all NIDs). Requests to @nid
 * fail with -EIO, and messages from @nid are dropped. @count -1: all messages; 0: no message any
 * more. Returns 0, -ENOMEM or -ENOSPC.
 */
int lnet_fault_peer(struct lnet *ln, const struct lnet_nid *nid, s32 count);
/* Deletes all rules, and the table. */
void lnet_fault_fini(struct lnet *ln);
/*
 * Returns the number of messages that rules dropped or delayed before they were sent, since the
 * last lnet_fault_count_reset().
 */
u64 lnet_fault_count(const struct lnet *ln, bool delay);
/* Sets both counters of lnet_fault_count() to zero. */
void lnet_fault_count_reset(struct lnet *ln);
/*
 * Requirements dbg-025, dbg-030: marks an interface as down, or removes the mark. The mark has the
 * same effect as a link that is down. 0, -ENOENT
 */
int lnet_fault_ni_down(struct lnet *ln, const struct lnet_nid *nid, bool down);

/* ---- rule_apply.c ---------------------------------------------------------------------------- */
/* The combined effect of the rules on a message to be sent. */
struct lnet_fate {
	bool end;			/* the attempt ends with @how */
	enum lnet_outcome how;
	bool twice;
	/*
	 * a delay rule of stock LNet's kind holds the message, so older rules of this kind do not
	 * act
	 */
	bool by_stock;
	u64 delay_ns;			/* sum of the delays of all rules */
	u64 most_ns;			/* the longest of these delays, which rule @holder adds */
	/* @holder: rule that holds the message; @behind: number of later messages that pass it */
	u32 holder, behind;
};

/* Starts @live at @now_ns, as if it was added then. Its random values start again from the seed. */
void lnet_rule_start(struct lnet_rule_live *live, u64 now_ns);
/* Returns the state of @live at @now_ns. */
enum lnet_rule_state lnet_rule_state(const struct lnet_rule_live *live, u64 now_ns);
/* Applies the rules to a message that is to be sent. */
void lnet_rules_send(struct lnet_pass *p, struct lnet_ni *ni, const struct lnet_hdr *hdr,
		     struct lnet_fate *fate);
/* Applies the rules to a received message; may set rx->spoil. False: the message is lost. */
bool lnet_rules_receive(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr);
/* Corrupts the received payload as rx->spoil specifies. */
void lnet_rx_spoil(struct lnet_rx *rx);

/* ---- hold.c ---------------------------------------------------------------------------------- */
/* [sh] Sends the held attempts whose delay has expired. */
void lnet_delay_timer(struct lnet_pass *p, struct lnet_timer *t);
/* No lock held. Sends the messages that the rule @id holds. */
void lnet_att_release(struct lnet *ln, u32 id);
/*
 * No lock held. Applies the rules to an attempt that is about to be given to its driver. Returns
 * true if it must not be given to the driver, because it ended or is held.
 */
bool lnet_fault_seam(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att);

#endif
