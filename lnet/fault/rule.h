/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fault rules in the grammar of faults.def: as data, as text, and acting on what is sent and
 * received.
 *
 * A rule is a kind with parameters: whom it concerns, when it hits, what it then does. It draws
 * from a generator of its own, so that the same seed and the same messages give the same faults
 * again. Rules that stock's tool knows are in stock_rules.c; both act, those first.
 */
#ifndef LNET_RULE_H
#define LNET_RULE_H

#include "model/core.h"

#define LNET_RULE_NIDS	8U
#define LNET_RULES_MAX	256U
#define LNET_RULE_ERR	224U		/* bytes for what is wrong */

enum { LNET_RULE_SEND = 1, LNET_RULE_RECEIVE = 2, LNET_RULE_BOTH = 3 };
enum { LNET_SPOIL_BIT, LNET_SPOIL_PAGES };

enum lnet_rule_kind {
#define FAULT_PARAM(id, name, type, member, min, max, text)
#define FAULT_KIND(id, ...) LNET_RULE_K_##id,
#include "fault/faults.def"
	LNET_NR_RULE_KINDS
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
	u32 set;			/* 1 << enum lnet_rule_param: what was said */
	char name[32];
	struct lnet_nid src, dst, local;	/* any; or 255.255.255.255@net: any on the net */
	struct lnet_rule_nids left, right;
	u32 types;			/* 1 << type; 0: all */
	u32 rate, permille, duty, behind, burst, loss;
	u32 outcomes;			/* 1 << number */
	u64 portals;
	u64 count, seed, bandwidth;
	u64 interval_ns, from_ns, to_ns, period_ns, delay_ns, jitter_ns, over_ns;
};

enum lnet_rule_state { LNET_RULE_IS_WAITING, LNET_RULE_IS_ON, LNET_RULE_IS_OFF, LNET_RULE_IS_OVER };
extern const char *const lnet_rule_states[];

/* What a rule has done so far. */
struct lnet_rule_info {
	u32 id;				/* counted from 1 */
	u8 state;
	u64 nr_match, nr_hit;
};

/* ---- rule.c: rules as text ------------------------------------------------------------------- */

/* LNET_NR_RULE_KINDS: there is none */
enum lnet_rule_kind lnet_rule_kind_find(const char *name);
const char *lnet_rule_kind_name(enum lnet_rule_kind kind);
unsigned int lnet_rule_sides(enum lnet_rule_kind kind);	/* LNET_RULE_SEND ... */
bool lnet_rule_may(enum lnet_rule_kind kind, enum lnet_rule_param param);
const char *lnet_rule_param_name(enum lnet_rule_param param);
/* LNET_NR_RULE_PARAMS: there is none */
enum lnet_rule_param lnet_rule_param_find(const char *name);
void lnet_rule_init(struct lnet_rule *r, enum lnet_rule_kind kind);
/*
 * A parameter from @text. 0, or -EINVAL with words in @err (LNET_RULE_ERR bytes) that name the
 * parameter and what is wrong.
 */
int lnet_rule_set(struct lnet_rule *r, const char *name, const char *text, char *err);
/* What is missing or does not go together. As lnet_rule_set(). */
int lnet_rule_check(const struct lnet_rule *r, char *err);
/* As lnet_rule_set() reads it; false: it was not said. */
bool lnet_rule_text(const struct lnet_rule *r, enum lnet_rule_param param, char *buf, size_t size);

/* ---- rule_table.c: rules of an instance ------------------------------------------------------ */

/* @r was checked. config, may sleep. 0, -ENOMEM, -ENOSPC (too many), -EEXIST (the name). */
int lnet_rule_add(struct lnet *ln, const struct lnet_rule *r);
/*
 * Which rules: all that are like what is said. @id 0, @kind LNET_NR_RULE_KINDS, @name "": not said.
 */
struct lnet_rule_which {
	u32 id;
	enum lnet_rule_kind kind;
	char name[32];
};
/* Of shard 0: rules that ended by themselves, for the log. No lock held. */
void lnet_rules_work(struct lnet *ln, u64 now_ns);
/* What they hold goes. config, may sleep. The number of rules that are gone. */
unsigned int lnet_rule_del(struct lnet *ln, const struct lnet_rule_which *which);
/* The first with a number from @id on. -ENOENT: none */
int lnet_rule_get(struct lnet *ln, u32 id, struct lnet_rule *r, struct lnet_rule_info *info);

/* The number of the newest; 0: none is there */
u32 lnet_rule_last(struct lnet *ln);
struct lnet_rules_kept;
/* All of them as they stand. config, may sleep. 0 or -ENOMEM; for kvfree() */
int lnet_rules_keep(struct lnet *ln, struct lnet_rules_kept **kept);
/*
 * Those that came since go, those that went come back, with their counters and draws. config, may
 * sleep. 0, or -ENOMEM: some are missing; it may be called again.
 */
int lnet_rules_put_back(struct lnet *ln, const struct lnet_rules_kept *kept);

/* ---- stock_rules.c: the table of both kinds of rules ----------------------------------------- */

struct lnet_rules {
	struct list_head list;		/* [lock] most recent first */
	u32 nr, last_id;		/* [lock] */
	u32 nr_reorder;			/* [lock], READ_ONCE without */
};

#define LNET_FAULT_FAILS 64		/* NIDs that fail */

/* What is asked of a NID, and what comes from it, fails so many times more. */
struct lnet_fault_fail {
	struct lnet_nid nid;		/* any: all */
	s32 left;			/* -1: always */
};

struct lnet_fault {
	spinlock_t lock;		/* leaf */
	struct list_head rules[2];	/* [lock] stock's: drop, delay */
	u32 nr[2];			/* [lock], READ_ONCE without */
	struct lnet_fault_fail fails[LNET_FAULT_FAILS];	/* [lock] */
	u32 nr_fails;			/* [lock], READ_ONCE without */
	struct lnet_rules more;
	/* while sending, where no shard is locked; what comes in is counted by who drops it */
	atomic64_t hits[2];
};

/* What is added first makes the table. [cfg_mutex] NULL: no memory */
struct lnet_fault *lnet_fault_want(struct lnet *ln);
/* [lock] ln->fault is there while some rule is. */
void lnet_fault_gate(struct lnet *ln);
bool lnet_fault_nid_matches(const struct lnet_nid *pattern, const struct lnet_nid *nid);

/* ---- rule_apply.c: what they do -------------------------------------------------------------- */

/* A rule that acts: the rule, its generator, and where it stands. */
struct lnet_rule_live {
	struct list_head link;
	struct lnet_rule r;
	struct lnet_rule_info info;
	u64 added_ns, rng;
	bool over_told;			/* the log has its end */
	u32 window_pos, window_hit;	/* rate */
	u64 window_ns, hit_ns;		/* interval: begin of this window, U64_MAX: none yet */
	u64 free_ns;			/* slow: when the link will have sent all */
};

/* as if it was added now: it draws the same again */
void lnet_rule_start(struct lnet_rule_live *live, u64 now_ns);
enum lnet_rule_state lnet_rule_state(const struct lnet_rule_live *live, u64 now_ns);

/* What becomes of a message that is to be sent. */
struct lnet_fate {
	bool end;			/* the attempt ends so */
	enum lnet_outcome how;
	bool twice;
	u64 delay_ns;
	u32 holder, behind;		/* rule that holds it; it goes after so many later ones */
};

void lnet_rules_send(struct lnet_pass *p, struct lnet_ni *ni, const struct lnet_hdr *hdr,
		     struct lnet_fate *fate);
/* false: it is lost. Sets rx->spoil. */
bool lnet_rules_receive(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr);
/* It has landed, and is spoilt as rx->spoil says. */
void lnet_rx_spoil(struct lnet_rx *rx);

/* ---- hold.c: what is held -------------------------------------------------------------------- */

/*
 * Rules for an attempt that is to be given to its driver. true: it is not, it ended or is held. No
 * lock held.
 */
bool lnet_fault_seam(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att);
/* What rule @id holds goes now. No lock held. */
void lnet_att_release(struct lnet *ln, u32 id);

#endif
