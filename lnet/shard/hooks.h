/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions and tables of higher folders that lower ones call: ln->hooks, filled by lnet/hooks.c.
 * tests/lint/layers allows no other symbol of a higher folder, and at most 40 entries here.
 */
#ifndef LNET_SHARD_HOOKS_H
#define LNET_SHARD_HOOKS_H

#include "model/model.h"

/* A periodic job of the worker of shard 0. No lock held. */
struct lnet_job {
	u64 (*when)(const struct lnet *ln);	/* the next time it has something to do */
	void (*run)(struct lnet_pass *p);	/* does nothing before that time */
};
#define LNET_NR_JOBS 11

/* A kind of received messages that a higher folder handles. */
struct lnet_rx_kind {
	bool (*is_accepted)(const struct lnet *ln);
	/* [sh of rx->from] as lnet_rx_begin(); may release and take the lock */
	enum lnet_verdict (*begin)(struct lnet_pass *p, struct lnet_rx *rx,
				   const struct lnet_hdr *hdr);
	/* no lock held: the driver may receive @rx now; without memory its verdict becomes SKIP */
	void (*receive)(struct lnet_pass *p, struct lnet_rx *rx);
	void (*done)(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
	bool (*gone)(struct lnet_pass *p, struct lnet_rx *rx);	/* as lnet_rx_gone() */
	bool (*is_wanted)(const struct lnet_rx *rx);		/* as lnet_rx_is_wanted() */
	void (*free)(struct lnet_rx *rx);	/* frees the data of this kind */
};

/* A kind of operations that a higher folder makes. */
struct lnet_op_kind {
	/* header and payload; the destination is that of the attempt */
	void (*hdr)(const struct lnet_op *op, struct lnet_hdr *hdr);
	void (*payload)(const struct lnet_op *op, struct lnet_buf *buf);
	/* [sh] may be retransmitted if its delivery is unknown: exactly-once.md rule 15 */
	bool (*is_resendable)(const struct lnet_op *op);
	/* [sh] true: fails now, because @path has no link, or (NULL) all paths were tried */
	bool (*is_stuck)(const struct lnet_op *op, const struct lnet_path *path);
	void (*substitute)(struct lnet_op *op);	/* [sh] may permit another NID of the peer */
	u64 (*avoid)(const struct lnet_op *op);	/* [sh] paths not to use */
};

struct lnet_hooks {
	/* cfg_mutex held: *@tunable, one of ln->tun, was set; @changed: to another value */
	void (*tuned)(struct lnet *ln, const u64 *tunable, bool changed);

	/*
	 * Steps of a pass, which calls each only if there is work for it. acks(), starts(),
	 * given(), backs() and routed() may begin and end with a shard locked; the others without a
	 * lock.
	 */
	void (*acks)(struct lnet_pass *p);	/* creates the ACKs for PUTs of this pass */
	void (*starts)(struct lnet_pass *p);	/* starts operations of p->defer */
	void (*cancels)(struct lnet_pass *p);	/* cancels attempts of p->cancel */
	void (*resets)(struct lnet_pass *p);	/* closes connections of p->resets */
	void (*receives)(struct lnet_pass *p);	/* drivers receive the messages of p->receive */
	void (*stops)(struct lnet_pass *p);	/* aborts the receives of p->stop */
	void (*reported)(struct lnet_pass *p, struct list_head *reported);	/* from drivers */
	void (*backs)(struct lnet_pass *p);	/* p->backs: replies that ended in another shard */
	void (*routed)(struct lnet_pass *p);	/* forwards p->routed */

	/* Events. No lock held, except by posts(). */
	void (*posts)(struct lnet_pass *p);	/* [sh] events of p->posts become ready */
	void (*take_ready)(struct lnet_pass *p);	/* takes events that API calls left */
	void (*deliver)(struct lnet_pass *p);	/* runs the handlers for p->ready */
	void (*hand_over)(struct lnet_pass *p);	/* leaves the events to the worker */

	/* no lock held: the driver did not accept @att; the reason is att->outcome */
	void (*not_taken)(struct lnet_pass *p, struct lnet_att *att);
	void (*link_work)(struct lnet_pass *p);	/* worker: acts on lnet_ni_link() records */
	/* no shard locked: allocates slots if few are free; 0, -ENOMEM or -ENOSPC */
	int (*slots_prealloc)(struct lnet *ln);
	/* parts of a shard that higher folders own; fini: no caller uses @sh any more */
	void (*shard_init)(struct lnet_shard *sh);
	void (*shard_fini)(struct lnet_shard *sh);
	/* by enum lnet_timer_kind: @t, of p->sh, is due; [sh] */
	void (*timers[LNET_NR_TIMERS])(struct lnet_pass *p, struct lnet_timer *t);
	struct lnet_job jobs[LNET_NR_JOBS];	/* in the order in which they run */

	/* [sh] pings @peer, or sends a session open request: adds it to p->defer */
	void (*negotiate)(struct lnet_pass *p, struct lnet_peer *peer);
	void (*peer_end)(struct lnet_peer *peer);	/* [sh] @peer is removed: no discovery */
	void (*peer_free)(struct lnet_peer *peer);	/* the last reference was dropped */
	/* no lock held: a peer was created dynamically, or could not be because of a bound */
	void (*peer_made)(struct lnet *ln);

	struct lnet_rx_kind forward_rx;		/* rx->fwd: for another node */
	struct lnet_op_kind forward_op;		/* LNET_KIND_FORWARD: for another node */
	/* The reserved portal, [sh of rx->src]: a ping was received; a push is in rx->sbuf. */
	enum lnet_verdict (*ping_reply)(struct lnet_pass *p, struct lnet_rx *rx,
					const struct lnet_hdr *hdr);
	void (*push_taken)(struct lnet_pass *p, struct lnet_rx *rx);
	/* no lock held: a request queued on a lazy portal has matched, or its time is over */
	void (*rx_matched)(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
			   enum lnet_outcome why);

	/*
	 * Fault rules. The first two only if ln->fault is set; its rules may be removed meanwhile.
	 * No lock held: true if @att is not given to its driver, as it ended or is delayed.
	 */
	bool (*fault_send)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att);
	/* [sh of rx->from] true: @rx is dropped; otherwise may set rx->spoil */
	bool (*fault_drops)(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr);
	/* no lock held: changes the received payload as rx->spoil specifies */
	void (*fault_spoil)(struct lnet_rx *rx);
	/* number of sent messages that rules failed, or with @delay delayed */
	u64 (*fault_count)(const struct lnet *ln, bool delay);

	/* for control/: as lnet_ping(), but ends once the peer has rejected it on every path */
	int (*ping_urgent)(struct lnet *ln, const struct lnet_nid *nid,
			   const struct lnet_nid *source, u64 timeout_ns, lnet_ping_done_t done,
			   void *arg);
};

/* api.c: ln->hooks->ping_urgent() */
int lnet_ping_urgent(struct lnet *ln, const struct lnet_nid *nid, const struct lnet_nid *source,
		     u64 timeout_ns, lnet_ping_done_t done, void *arg);

/* hooks.c: the hooks of every instance */
extern const struct lnet_hooks lnet_hooks;

#endif
