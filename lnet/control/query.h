/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several nodes asked at once: between query.c and the commands that do. */
#ifndef LNET_CONTROL_ASK_H
#define LNET_CONTROL_ASK_H

#include "control/command.h"

#define LNET_CTL_PING_KEYS	5	/* of lnet_table_ping, of lnet_table_failure */
#define LNET_CTL_FAILURE_KEYS	4

struct lnet_ctl_asks;

struct lnet_ctl_ask {			/* one of them */
	struct lnet_ctl_asks *set;
	struct lnet_ctl_target to;
	int status;			/* [lock of @set] 1: under way */
	/* the answer, when it has come */
	char why[2 * LNET_TEXT_MAX];	/* why no message was sent; or empty */
	bool mr;			/* result of discover: Multi-Rail */
	unsigned int nr_nids;
	struct lnet_nid *nids;
	struct lnet_disc_ask disc;	/* discover's */
};

/*
 * Lives until the dump and every question have let go of it: a client may leave before the answers
 * come.
 */
struct lnet_ctl_asks {
	struct lnet_control *ctl;
	const char *what;		/* "ping", "discover" */
	struct lnet_table told, failed;
	struct lnet_key keys[LNET_CTL_PING_KEYS], failure_keys[LNET_CTL_FAILURE_KEYS];
	/* NULL, or: nobody waits for it. True: lnet_ctl_ask_ended() is not called any more. */
	bool (*cancel)(struct lnet_ctl_ask *ask);
	/* NULL, or: the answer is what the node knows now. 0, -ENOMEM, -ENOENT */
	int (*answer)(struct lnet_ctl_ask *ask);
	struct lnet_nid source;		/* ping: local NID to use, or ANY */
	u64 timeout_ns;
	bool force;			/* discover's */
	spinlock_t lock;
	unsigned int nr, nr_open;	/* nr_open [lock] */
	bool left;			/* [lock] the dump is gone */
	bool answered;			/* the dump: all is there to be told */
	struct lnet_ctl_ask ask[];
};

/* For the targets of @req; NULL: *@rc is why. */
struct lnet_ctl_asks *lnet_ctl_asks_new(struct lnet_control *ctl, const struct lnet_ctl_req *req,
					const char *what, struct lnet_ctl_err *e, int *rc);
void lnet_ctl_asks_free(struct lnet_ctl_asks *set);	/* not started; NULL is fine */
/* 0 from @start: lnet_ctl_ask_ended() will be called, or was. Else it failed. */
void lnet_ctl_asks_start(struct lnet_ctl_asks *set, int (*start)(struct lnet_ctl_ask *ask));
/* Any thread, no lock held but what handlers hold. */
void lnet_ctl_ask_ended(struct lnet_ctl_ask *ask, int status);
/*
 * cmd_links.c. No lock held. 0; -EHOSTUNREACH: the links of all interfaces that reach the
 * target are down, and @ask->why lists their nets.
 */
int lnet_ctl_ask_links(struct lnet_ctl_ask *ask);
int lnet_ctl_discover_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			    struct lnet_ctl_err *e);

#endif
