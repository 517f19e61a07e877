/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions and tables of higher folders that lower folders call by ln->hooks. lnet/hooks.c fills
 * ln->hooks. tests/lint/layers forbids all other symbols of higher folders in lower ones, and
 * permits at most 40 entries here.
 */
#ifndef LNET_SHARD_HOOKS_H
#define LNET_SHARD_HOOKS_H

#include "model/model.h"

/* A periodic job of the worker of shard 0. It runs with no lock held. */
struct lnet_job {
	/* returns the next time at which the job has work */
	u64 (*when)(const struct lnet *ln);
	void (*run)(struct lnet_pass *p);	/* does nothing before that time */
};
#define LNET_NR_JOBS 11

/* A kind of received messages that a higher folder handles. */
struct lnet_rx_kind {
	bool (*is_accepted)(const struct lnet *ln);
	/* [sh of rx->from] does the work of lnet_rx_begin(); may release and retake the lock */
	enum lnet_verdict (*begin)(struct lnet_pass *p, struct lnet_rx *rx,
				   const struct lnet_hdr *hdr);
	/*
	 * No lock held. The driver may receive @rx now. Without memory, the verdict of @rx becomes
	 * SKIP.
	 */
	void (*receive)(struct lnet_pass *p, struct lnet_rx *rx);
	void (*done)(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
	bool (*gone)(struct lnet_pass *p, struct lnet_rx *rx);	/* as lnet_rx_gone() */
	bool (*is_wanted)(const struct lnet_rx *rx);		/* as lnet_rx_is_wanted() */
	/* frees the data of @rx that belongs to this kind */
	void (*free)(struct lnet_rx *rx);
};

/* A kind of operations that a higher folder creates. */
struct lnet_op_kind {
	/*
	 * hdr() and payload() fill in the header and the payload of @op. hdr() does not change
	 * hdr->dest_nid, which is already the NID to which the path of the attempt leads.
	 */
	void (*hdr)(const struct lnet_op *op, struct lnet_hdr *hdr);
	void (*payload)(const struct lnet_op *op, struct lnet_buf *buf);
	/*
	 * [sh] true: @op may be retransmitted while its delivery is unknown: exactly-once.md rule
	 * 15
	 */
	bool (*is_resendable)(const struct lnet_op *op);
	/*
	 * [sh] true: @op fails now, because @path has no link, or (@path NULL) all paths were tried
	 */
	bool (*is_stuck)(const struct lnet_op *op, const struct lnet_path *path);
	void (*substitute)(struct lnet_op *op);	/* [sh] may let @op use another NID of the peer */
	u64 (*avoid)(const struct lnet_op *op);	/* [sh] paths not to use */
};

struct lnet_hooks {
	/* cfg_mutex held. The tunable *@tunable of ln->tun was set; @changed: its value is new. */
	void (*tuned)(struct lnet *ln, const u64 *tunable, bool changed);

	/*
	 * Steps of a pass. The pass calls a step only if the step has work. acks(), starts(),
	 * reported(), backs() and routed() may begin and end with a shard locked; the other steps
	 * hold no lock.
	 */
	/* creates the ACKs for PUTs that this pass received */
	void (*acks)(struct lnet_pass *p);
	void (*starts)(struct lnet_pass *p);	/* starts operations of p->defer */
	void (*cancels)(struct lnet_pass *p);	/* cancels attempts of p->cancel */
	void (*resets)(struct lnet_pass *p);	/* closes connections of p->resets */
	/* lets drivers receive the messages of p->receive */
	void (*receives)(struct lnet_pass *p);
	void (*stops)(struct lnet_pass *p);	/* aborts the receives of p->stop */
	void (*reported)(struct lnet_pass *p, struct list_head *reported);	/* from drivers */
	/* processes p->backs: replies that ended in another shard */
	void (*backs)(struct lnet_pass *p);
	void (*routed)(struct lnet_pass *p);	/* forwards p->routed */

	/* Delivery of events. No lock is held, except by posts(). */
	/*
	 * [sh] moves the events of p->posts to the queues of their MDs, so that deliver() can run
	 * the handlers of these MDs
	 */
	void (*posts)(struct lnet_pass *p);
	/* adds to p->ready the events that API calls did not deliver */
	void (*take_ready)(struct lnet_pass *p);
	void (*deliver)(struct lnet_pass *p);	/* runs the handlers for p->ready */
	/* hands the events of p->ready over to the worker */
	void (*hand_over)(struct lnet_pass *p);

	/* No lock held. The driver did not accept @att; att->outcome is the reason. */
	void (*not_taken)(struct lnet_pass *p, struct lnet_att *att);
	void (*link_work)(struct lnet_pass *p);	/* worker: acts on lnet_ni_link() records */
	/* No shard locked. Allocates slots if few are free. Returns 0, -ENOMEM or -ENOSPC. */
	int (*slots_prealloc)(struct lnet *ln);
	/*
	 * Create and free the data that higher folders have in a shard. shard_fini(): no caller
	 * uses @sh any more.
	 */
	void (*shard_init)(struct lnet_shard *sh);
	void (*shard_fini)(struct lnet_shard *sh);
	/* [sh] one function for each enum lnet_timer_kind: the timer @t of p->sh is due */
	void (*timers[LNET_NR_TIMERS])(struct lnet_pass *p, struct lnet_timer *t);
	struct lnet_job jobs[LNET_NR_JOBS];	/* periodic jobs, in the order in which they run */

	/* [sh] adds a ping of @peer, or a session open request to it, to p->defer */
	void (*negotiate)(struct lnet_pass *p, struct lnet_peer *peer);
	/* [sh] ends the discovery of @peer, which is removed */
	void (*peer_end)(struct lnet_peer *peer);
	void (*peer_free)(struct lnet_peer *peer);	/* the last reference was dropped */
	/* No lock held. A peer was created dynamically, or a bound prevented its creation. */
	void (*peer_made)(struct lnet *ln);

	struct lnet_rx_kind forward_rx;		/* rx->fwd: for another node */
	struct lnet_op_kind forward_op;		/* LNET_KIND_FORWARD: for another node */
	/*
	 * [sh of rx->src] Messages to the reserved portal. ping_reply(): a ping was received;
	 * push_taken(): a push was received into rx->sbuf.
	 */
	enum lnet_verdict (*ping_reply)(struct lnet_pass *p, struct lnet_rx *rx,
					const struct lnet_hdr *hdr);
	void (*push_taken)(struct lnet_pass *p, struct lnet_rx *rx);
	/* No lock held. A request queued on a lazy portal has matched, or its time is over. */
	void (*rx_matched)(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
			   enum lnet_outcome why);

	/*
	 * Fault rules. fault_send() and fault_drops() are called only if ln->fault is set; another
	 * thread may remove the rules meanwhile. fault_send(): no lock held; true: @att ended or is
	 * delayed, so the pass does not give it to its driver.
	 */
	bool (*fault_send)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att);
	/*
	 * [sh of rx->from] true: a fault rule drops @rx; false: the function may have set rx->spoil
	 */
	bool (*fault_drops)(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr);
	/* no lock held: changes the received payload of @rx as rx->spoil specifies */
	void (*fault_spoil)(struct lnet_rx *rx);
	/* number of sent messages that fault rules failed or, with @delay, delayed */
	u64 (*fault_count)(const struct lnet *ln, bool delay);

	/*
	 * For control/: like lnet_ping(), but ends as soon as the peer has rejected the ping on
	 * every path.
	 */
	int (*ping_urgent)(struct lnet *ln, const struct lnet_nid *nid,
			   const struct lnet_nid *source, u64 timeout_ns, lnet_ping_done_t done,
			   void *arg);
};

/* api.c: ln->hooks->ping_urgent() */
int lnet_ping_urgent(struct lnet *ln, const struct lnet_nid *nid, const struct lnet_nid *source,
		     u64 timeout_ns, lnet_ping_done_t done, void *arg);

/* table of hooks that all instances use; defined in hooks.c */
extern const struct lnet_hooks lnet_hooks;

#endif
