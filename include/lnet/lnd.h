/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The interface between the core and a driver of a fabric (LND). */
#ifndef LNET_LND_H
#define LNET_LND_H

#include "plat.h"
#include <lnet/lnet.h>
#include <lnet/wire.h>

struct lnet_pass;
struct lnet_ni;
struct lnet_peer_ni;
struct lnet_att;
struct lnet_rx;

/*
 * How an attempt or a receive ended. lnet/model/outcomes.def has the errno, attribution and
 * delivery of each outcome.
 */
enum lnet_outcome {
#define OUTCOME(name, num, errno_, attribution, delivery, text) LNET_##name = num,
#include "../../lnet/model/outcomes.def"
#undef OUTCOME
	LNET_NR_OUTCOMES
};

enum lnet_pass_kind {
	/*
	 * API caller: sends and flushes, but runs no handler, because the caller may hold locks
	 * that a handler takes
	 */
	LNET_PASS_CALL,
	LNET_PASS_DRIVER,	/* reader of a driver: all work but timers */
	LNET_PASS_WORKER,	/* worker of the environment: all work, with timers */
	LNET_PASS_EVENTS,	/* lnet_deliver(): events that ops->defer() took */
};

/* Batched statistics (stats.c), [sh]: counted before the pass releases the shard. */
struct lnet_pass_stats {
	struct lnet_path *path;
	u64 bytes;
	u32 nr;				/* messages sent over @path */
	u32 nr_times;			/* measured times of @ns each */
	u64 ns;
	struct lnet_times *times;
	struct lnet_hist *hist;
	u8 type, forward;
};

/*
 * One visit of a thread to the core, on its stack. The thread does the deferred work of its
 * decisions, in order, in lnet_pass_end(). Drivers may use only @now_ns and @more.
 */
struct lnet_pass {
	struct lnet *ln;
	struct lnet_shard *sh;		/* locked now, or NULL */
	/* read once per pass; entering a shard may advance it to the time of the last pass there */
	u64 now_ns;
	struct list_head send;		/* attempts in ATT_WIRE, for ops->send */
	struct list_head receive;	/* rx that waited and have a verdict now: ops->receive */
	struct list_head stop;		/* rx to abort: ops->rx_stop */
	/* attempts that drivers handed to the fabric or completed; processed together */
	struct list_head reported;
	struct list_head cancel;	/* pinned operations with attempts to cancel: ops->cancel */
	struct list_head posts;		/* events posted since the shard was locked */
	struct list_head ready;		/* MDs with events to deliver */
	struct list_head evts;		/* delivered events, to return to a pool */
	/* paths whose stale connections are to be closed: ops->path_reset (recover.c) */
	struct list_head resets;
	/* operations to start when no lock is held, such as replies: struct lnet_op.link */
	struct list_head defer;
	struct list_head routed;	/* rx whose forwarding has ended: struct lnet_rx.deferred */
	struct lnet_pass_stats stats;
	struct lnet_entry *backs;	/* entries whose replies ended in another shard */
	u64 acks;			/* bitmap of shards whose windows have ACKs to send */
	struct lnet_ni *flush_nis[4];	/* NIs for ops->flush; a fifth flushes the first */
	/* messages since the shard was locked; at 64, the pass releases and retakes the lock */
	u16 nr;
	u8 kind, more, nr_flush, busy;
	u32 nr_evts;			/* in @evts */
};

enum lnet_verdict {
	/* receive rx->want bytes into rx->into, skip the rest, then call lnet_rx_done() */
	LNET_RECEIVE = 1,
	/* skip the payload; no lnet_rx_done(); @rx is freed, do not access it */
	LNET_SKIP,
	/*
	 * ops->receive() follows, with RECEIVE or SKIP in rx->verdict; until then, do not read from
	 * this connection, or read the message aside
	 */
	LNET_LATER,
	LNET_CLOSE,	/* protocol error: close the connection set; @rx is freed */
};

enum lnet_cancel { LNET_CANCEL_UNSENT, LNET_CANCEL_ABORT };

/* A part of an MD or of a small buffer: @len bytes from byte @offset of @frags. */
struct lnet_buf {
	const struct lnet_frag *frags;
	u32 nr, offset, len;
};

/*
 * Copy @len bytes between contiguous memory and @buf, from its byte @pos. The caller checks bounds.
 */
void lnet_buf_write(const struct lnet_buf *buf, u32 pos, const void *from, u32 len);
void lnet_buf_read(const struct lnet_buf *buf, u32 pos, void *to, u32 len);
/* Writes the fragments of [pos, pos + len) to @out, at most @max. Returns their number. */
unsigned int lnet_buf_frags(const struct lnet_buf *buf, u32 pos, u32 len, struct lnet_frag *out,
			    unsigned int max);

/* One attempt to send an operation on a path. A driver has it from ops->send() to completion. */
struct lnet_att {
	/* the driver's from send() to lnet_att_posted() or lnet_att_done() */
	struct list_head link;
	struct lnet_op *op;
	struct lnet_ni *ni;
	/* next hop; referenced, by the operation if op->dst_pni is the next hop */
	struct lnet_peer_ni *pni;
	/* of the attempt; when it passes, the driver completes it with a timeout outcome */
	u64 deadline_ns;
	u64 posted_ns;
	u32 epoch;			/* of the connection set that sent it */
	/* the core's, but send() sets @outcome on errors; @cls: enum lnet_class */
	u8 state, outcome, flags, cls;
	atomic_t reports;		/* reports of the driver that no pass has processed */
	u32 load;			/* the core's */
	void *lnd[2];			/* the driver's */
	struct lnet_path *path;		/* the core's */
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_att) == 96);

enum lnet_class { LNET_CLS_CONTROL, LNET_CLS_REPLY, LNET_CLS_DATA, LNET_NR_CLASSES };

/*
 * A message being received, from lnet_rx_get() to the verdict SKIP or CLOSE, or to lnet_rx_done().
 * The first part is for drivers.
 */
struct lnet_rx {
	struct list_head link;		/* the core's */
	struct lnet_ni *ni;
	struct lnet_peer_ni *from;	/* last hop; a reference is held */
	union {
		struct lnet_buf into;	/* RECEIVE: memory for the payload */
		/* before RECEIVE: primary NID of the sender, from lnet_match() */
		struct lnet_nid initiator;
	};
	u32 want;			/* RECEIVE: bytes of the payload to keep, from its start */
	u32 payload_len;
	void *lnd[2];			/* the driver's */
	u8 lnd_flags;			/* the driver's */
	u8 verdict;			/* enum lnet_verdict */
	/* --- the core's from here --- */
	u8 state, type, tracked, received, wants_ack, lazy_queued, stopping, dead;
	u8 hold_shard;
	u8 claimed;			/* from a peer that is neither the source nor a gateway */
	u8 keeps_ni;			/* holds a reference to @ni: it waits or has waited */
	struct list_head stop;		/* in p->stop */
	struct list_head deferred;	/* in p->receive, p->routed */
	/* the sender: @from, or a peer NI behind that router, with a reference */
	struct lnet_peer_ni *src;
	/* only in lnet_rx_begin(), until it releases the lock of @src; NULL: no path */
	struct lnet_path *path;
	struct lnet_op *reply_op;	/* preallocated for the ACK or REPLY */
	struct lnet_op *get;		/* REPLY: its GET */
	struct lnet_evt *evt;
	struct lnet_sbuf *sbuf;		/* memory for a push */
	struct lnet_fwd *fwd;		/* if it is for another node */
	u32 mlength, rlength, offset, portal, src_pid;
	u32 spoil;			/* how a fault rule changes the payload; 0: not */
	struct lnet_md *md;
	struct lnet_entry *entry;	/* of a tracked request; a reference is held */
	struct lnet_entry *spare;	/* for a new entry */
	struct lnet_handle handle;	/* returned in the reply */
	u64 match_bits, hdr_data;
	struct lnet_nid src_nid, dest_nid;
	u64 arrived_ns;
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_rx) == 312);

#define LNET_LND_COUNTERS_MAX 48

/* The use of a bound, in the unit of its tunable. */
struct lnet_use {
	u64 bound;			/* in effect; the core presets it to the tunable */
	u64 most;			/* largest use by one peer, address, interface or shard */
	struct lnet_nid by;		/* the peer or address with this use; LNET_NID_ANY: none */
};

/* A bound on what peers can make a driver use. */
struct lnet_lnd_limit {
	const char *tunable;		/* name of the bound, in tunables.def */
	const char *per;		/* the user that it bounds: "address", "interface" */
	const char *counter;		/* of counter_names: how often the bound acted */
	/*
	 * Writes the use of @ni to @use. Called with ln->cfg_mutex held and no other lock, so the
	 * NI cannot stop during the call. It may take the driver's locks.
	 */
	void (*use)(struct lnet_ni *ni, struct lnet_use *use);
};

/*
 * All ops: task context, no core lock and no spin lock held; they may take sleeping locks and
 * allocate (kernel: GFP_NOFS). Only ni_start and ni_stop may wait for another party. No op calls a
 * handler. An op may lock a shard by an upcall only if stated. lnet_att_posted() and
 * lnet_att_done() are always permitted, because they only append to the pass.
 */
struct lnet_lnd_ops {
	struct module *owner;		/* NULL in user space */
	const char *name;
	u8 type;			/* LND type of the net number */
	u16 ni_priv_size;		/* bytes at ni->priv, zeroed */
	u32 inline_max;			/* payload up to this is copied by send() */
	s32 peer_timeout, peer_credits, peer_buffer_credits, credits;	/* defaults of a net */

	/*
	 * Optional: an instance has registered the driver, and has no NI of it yet. It may set
	 * tunables and sleep.
	 */
	void (*registered)(struct lnet *ln);
	/* may set ni->ifname, ni->dev_cpt, ni->cpts, ni->conns_per_peer, ni->link_speed */
	int  (*ni_start)(struct lnet_ni *ni);
	/*
	 * Optional: close all connections of @ni gracefully. The driver opens no further one. It
	 * writes all queued bytes, then receives until the peer has closed its side. Must not wait.
	 * The core calls it repeatedly before ni_stop, until it returns true or 1 s has passed.
	 * Return: true if no connection is left.
	 */
	bool (*ni_close)(struct lnet_ni *ni);
	/*
	 * Completes all attempts and receives by upcalls, in a separate DRIVER pass. No upcall runs
	 * after it has returned.
	 */
	void (*ni_stop)(struct lnet_ni *ni);
	/*
	 * Queues @att; no system call is needed. Per peer and class, the order of calls is the
	 * order on the wire while the connection lives. 0: accepted; lnet_att_done() follows
	 * exactly once. -errno: rejected and not delivered; att->outcome is the reason (a LOCAL_*
	 * outcome or REMOTE_DROPPED).
	 */
	int  (*send)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att);
	/*
	 * Optional: send() for several attempts, in order. Completes rejected ones by
	 * lnet_att_done() before it returns. @ring: the pass has nothing else to send. So this op
	 * also does the work of flush(), which the core does not call for these attempts.
	 */
	void (*send_list)(struct lnet_pass *p, struct lnet_ni *ni, struct list_head *atts,
			  bool flush);
	/*
	 * Optional: the doorbell, called once per pass. Writes queued attempts. Never blocks on a
	 * full socket: the driver writes the rest when the socket has space.
	 */
	void (*flush)(struct lnet_pass *p, struct lnet_ni *ni);
	/*
	 * UNSENT: complete @att if no byte of it was sent, else ignore the call. ABORT: complete
	 * @att now at any cost. Ignore an attempt that the driver does not have (yet, or any more).
	 * The core repeats ABORT until @att is completed.
	 */
	void (*cancel)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		       enum lnet_cancel how);
	/* after LATER: rx->verdict is RECEIVE, or SKIP (no lnet_rx_done() follows) */
	void (*receive)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
	/*
	 * Stop writing to rx->into at once, skip the rest of the payload, and call lnet_rx_done(rx,
	 * LNET_STOPPED) before or after return. Called with no lock held, so it may call
	 * lnet_rx_done() itself. Ignore the call if the receive has ended.
	 */
	void (*rx_stop)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
	/*
	 * Optional: writes to @nid the network address that sent @rx, as a NID on the net of @ni.
	 * Without this function, or if it does not write @nid, the core uses the NID of the peer
	 * interface. Called only in lnet_rx_begin() of @rx, with no lock held.
	 */
	void (*rx_address)(struct lnet_ni *ni, const struct lnet_rx *rx, struct lnet_nid *nid);
	/*
	 * Optional: the path to @pni is suspect or down. Close connections older than this call,
	 * and report that by lnet_path_lost(). The next attempt then opens a new connection, and
	 * does not wait for the backed-off retransmissions of an old one.
	 */
	void (*path_reset)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *pni);
	/*
	 * Optional: called in a WORKER pass, once after each lnet_ni_kick(). No lock held; all
	 * upcalls are permitted.
	 */
	void (*work)(struct lnet_pass *p, struct lnet_ni *ni);
	/* Optional: the core removes @pni. Close its connections and drop references to it. */
	void (*peer_gone)(struct lnet_ni *ni, struct lnet_peer_ni *pni);
	/*
	 * Optional: counters of an NI, which management shows under "lnd counters". @counter_names:
	 * nr_counters constant texts, at most LNET_LND_COUNTERS_MAX. counters() writes as many
	 * @values and, with @reset, sets them to zero. The NI has started and does not stop
	 * meanwhile.
	 */
	const char *const *counter_names;
	u16 nr_counters;
	void (*counters)(struct lnet_ni *ni, u64 *values, bool reset);
	/* Optional: the driver's bounds, listed by `lnetctl limits show` [const]. */
	const struct lnet_lnd_limit *limits;
	u16 nr_limits;
};

/* The loopback driver (lnd/lolnd), which each instance has from its creation. */
extern const struct lnet_lnd_ops lnet_lo_ops;

/*
 * ---- upcalls ----
 * Always between lnet_pass_begin(&p, ln, LNET_PASS_DRIVER) and lnet_pass_end(&p), in task context.
 * lnet_rx_begin() and lnet_rx_done() leave the shard locked. Call lnet_pass_relax(p) before a
 * system call, a copy of more than inline_max, and before taking a driver lock that other threads
 * hold around upcalls. Lock order: hold no driver lock when calling lnet_rx_begin(), lnet_rx_done()
 * or lnet_pass_*().
 */
void lnet_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind);
void lnet_pass_end(struct lnet_pass *p);
void lnet_pass_relax(struct lnet_pass *p);
/*
 * Releases the shard, sends queued messages (mostly replies) and runs handlers before the end of
 * @p. A driver calls it between two batches of messages that it passes to the core. May call the
 * NI's own send, send_list and flush.
 */
void lnet_pass_flush(struct lnet_pass *p);

/*
 * A zeroed rx from the pool of the shard. May allocate; the caller holds no lock. NULL: no memory;
 * then skip the message.
 */
struct lnet_rx *lnet_rx_get(struct lnet_pass *p);
/*
 * Call once per decoded header; hdr->payload_len bytes follow it. Returns the verdict; for RECEIVE
 * and LATER, it is also in rx->verdict. ACKs and GETs for this node end here: their verdict is
 * SKIP. If lnet_rx_needed() is false, the core keeps nothing of the message, and @rx may be NULL.
 * @from: the peer NI of the connection; the driver has a reference, and the core takes another one.
 * The core owns @rx afterwards.
 */
bool lnet_rx_needed(const struct lnet_ni *ni, const struct lnet_hdr *hdr);
enum lnet_verdict lnet_rx_begin(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx,
				const struct lnet_hdr *hdr, struct lnet_peer_ni *from);
/*
 * The receive of a payload ended. LNET_OK: all rx->want bytes are in place; LNET_STOPPED: after
 * rx_stop; else the reason of the failure. Consumes @rx.
 */
void lnet_rx_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
/*
 * The connection of @rx was lost after LATER and before receive(). True: @rx is consumed. False:
 * receive() is already due and follows; if its verdict is RECEIVE, the driver calls lnet_rx_done().
 */
bool lnet_rx_gone(struct lnet_pass *p, struct lnet_rx *rx);

/*
 * True if messages of other peers wait for a buffer like that of @rx, which is being received. If
 * @rx is slow, the driver then aborts it with lnet_rx_done(LNET_ABORTED). If @rx is a tracked
 * request on a lazy portal, the core removes its entry, and a retransmission is matched again. A
 * driver lock may be held.
 */
bool lnet_rx_is_wanted(const struct lnet_rx *rx);

/*
 * All bytes of @att are handed to the fabric in epoch @epoch. The driver may still use the memory;
 * lnet_att_done() follows. This function and lnet_att_done() only append to the pass, without a
 * lock: @att->link must be in no list of the driver.
 */
void lnet_att_posted(struct lnet_pass *p, struct lnet_att *att, u32 epoch);
/*
 * The driver no longer uses @att and its memory. Called exactly once. After lnet_att_posted(), or
 * instead of it with @epoch: LNET_OK (the fabric has all bytes), LNET_ACKNOWLEDGED (the peer's
 * driver has them), or a failure. Without a hand-over to the fabric: a failure.
 */
void lnet_att_done(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how, u32 epoch);
/*
 * As lnet_att_done() with LNET_REMOTE_DROPPED: no connection to the peer was made, because of @err.
 * -ECONNREFUSED, -ECONNRESET and -EHOSTUNREACH mean that the peer rejected the connection. Then the
 * core ends an urgent request after the last path, and does not wait. -ETIMEDOUT: no response.
 */
void lnet_att_unconnected(struct lnet_pass *p, struct lnet_att *att, int err);
/* True if an operator waits for the result: connect now, also after recent failures. */
bool lnet_att_is_urgent(const struct lnet_att *att);
/*
 * True if neither end retransmits @att after the loss of its connection, as for most messages to
 * and from a stock peer. While TCP has not acknowledged such a message, the driver keeps the
 * connection even if the core suspects the path.
 */
bool lnet_att_is_sent_once(const struct lnet_att *att);
/*
 * A connection set to @to over @ni was lost. Delivery is now unknown for all unanswered attempts
 * that it handed to the fabric in an epoch <= @epoch.
 */
void lnet_path_lost(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *to, u32 epoch,
		    enum lnet_outcome how);
/* Reports progress on the path: bytes were acknowledged or received. @rtt_ns: 0 if unknown. */
void lnet_path_liveness(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *to,
			u64 rtt_ns);

void lnet_ni_kick(struct lnet_ni *ni);	/* any context: requests ops->work soon */

enum lnet_link_why {
	LNET_LINK_NO_CARRIER,
	LNET_LINK_SET_DOWN,		/* an operator set the device down */
	LNET_LINK_NO_ADDRESS,
	LNET_LINK_GONE,			/* the device no longer exists */
};
struct lnet_link {
	bool up;			/* carrier, operational state and address present */
	u8 why;				/* not up: enum lnet_link_why */
	u32 speed_mbit;			/* 0 unknown */
};
/*
 * Any context but hard irq. Records @link and wakes the worker. Also called if only the speed
 * changed: a link that became slower lowers the weight of @ni (lnd-025).
 */
void lnet_ni_link(struct lnet_ni *ni, const struct lnet_link *link);
/*
 * Any context but hard irq; driver locks may be held. Logs that @ni rejected a connection from
 * @from. The rate of these log lines is limited.
 */
void lnet_ni_rejected(struct lnet_ni *ni, const char *from, const char *why);
/*
 * Task context; driver locks may be held. Since the last call, @ni sent @sent packets, including
 * retransmissions. The driver found that @lost of them were lost. Called at most a few times
 * a second, and only while the driver sends.
 */
void lnet_ni_loss(struct lnet_ni *ni, u32 sent, u32 lost);

/*
 * Returns a stable handle of a remote NID, with a reference; creates it if unknown. May sleep.
 * NULL: out of memory, shutting down, or too many unknown peers (peers_max). A dynamically created
 * peer does not expire while it is referenced.
 */
struct lnet_peer_ni *lnet_peer_ni_get(struct lnet *ln, const struct lnet_nid *nid);
void lnet_peer_ni_hold(struct lnet_peer_ni *pni);
void lnet_peer_ni_put(struct lnet_peer_ni *pni);
const struct lnet_nid *lnet_peer_ni_nid(const struct lnet_peer_ni *pni);
/* True if an operator configured the peer of @pni, or configured @pni as a gateway. */
bool lnet_peer_ni_is_configured(struct lnet_peer_ni *pni);

/* The complete header of @att in host form, and its payload. Valid while the driver has @att. */
void lnet_att_hdr(const struct lnet_att *att, struct lnet_hdr *hdr);
void lnet_att_payload(const struct lnet_att *att, struct lnet_buf *buf);
u32 lnet_att_len(const struct lnet_att *att);		/* of the payload */
/*
 * The driver has both attempts. True: the header of @att differs from that of @before only in
 * fields that lnet_hdr_encode_like() writes, and these are in @hdr.
 */
bool lnet_att_hdr_like(const struct lnet_att *att, const struct lnet_att *before,
		       struct lnet_hdr *hdr);

/* ---- properties of an NI for drivers --------------------------------------------------------- */
struct lnet *lnet_ni_instance(const struct lnet_ni *ni);
const struct lnet_nid *lnet_ni_nid(const struct lnet_ni *ni);
const char *lnet_ni_ifname(const struct lnet_ni *ni);
void *lnet_ni_priv(struct lnet_ni *ni);
const struct lnet_tunables *lnet_tunables_of(const struct lnet *ln);
/* The @n-th shard, counted cyclically, of those whose workers serve @ni. */
unsigned int lnet_ni_cpt(const struct lnet_ni *ni, unsigned int n);
u32 lnet_ni_conns_per_peer(const struct lnet_ni *ni);	/* never 0 */
/* True if no other NI is on the net of @ni. */
bool lnet_ni_is_alone(const struct lnet_ni *ni);
/* For acceptors: returns the NI with the local NID @nid, with a reference, or NULL. */
struct lnet_ni *lnet_ni_find(struct lnet *ln, const struct lnet_nid *nid);
void lnet_ni_put(struct lnet_ni *ni);

#endif
