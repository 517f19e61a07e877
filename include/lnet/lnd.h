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
 * How an attempt or a receive ended. lnet/model/outcomes.def has the errno of each outcome. It also
 * has the attribution: whether a failure lowers the health of the path, of the NI or of the peer
 * NI. The delivery states whether the message may have taken effect at the receiver.
 */
enum lnet_outcome {
#define OUTCOME(name, num, errno_, attribution, delivery, text) LNET_##name = num,
#include "../../lnet/model/outcomes.def"
#undef OUTCOME
	LNET_NR_OUTCOMES
};

enum lnet_pass_kind {
	/*
	 * The pass of an API call sends and flushes. It runs no handler, because the caller may
	 * hold locks that a handler takes.
	 */
	LNET_PASS_CALL,
	LNET_PASS_DRIVER,	/* the pass of a driver's reader does all work except timers */
	LNET_PASS_WORKER,	/* the pass of a worker does all work, including timers */
	LNET_PASS_EVENTS,	/* lnet_deliver(): events that ops->defer() took */
};

/*
 * Batched statistics (stats.c) [sh]. The pass adds them to the counters before it releases the
 * shard.
 */
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
 * One visit of a thread to the core; the struct is on the thread's stack. In lnet_pass_end(), the
 * thread does the work that it deferred in the pass, in a fixed order. Drivers may use only @now_ns
 * and @more.
 */
struct lnet_pass {
	struct lnet *ln;
	struct lnet_shard *sh;		/* locked now, or NULL */
	/*
	 * Time in ns, read once per pass. If the last pass in a shard ended with a later time, a
	 * pass that enters the shard takes over the later time.
	 */
	u64 now_ns;
	struct list_head send;		/* attempts in ATT_WIRE, for ops->send */
	/* messages (rx) that waited and now have a verdict, for ops->receive */
	struct list_head receive;
	struct list_head stop;	/* messages (rx) whose receive is to be aborted, by ops->rx_stop */
	/*
	 * attempts that drivers handed to the fabric or completed; the core processes them together
	 */
	struct list_head reported;
	/*
	 * operations whose attempts ops->cancel is to cancel; a pin keeps each operation in memory
	 */
	struct list_head cancel;
	struct list_head posts;	/* events that were posted since the pass locked the shard */
	struct list_head ready;		/* MDs with events to deliver */
	struct list_head evts;		/* delivered events, which return to a pool */
	/* paths whose stale connections are to be closed by ops->path_reset (recover.c) */
	struct list_head resets;
	/*
	 * operations, such as replies, that the pass starts when it holds no lock; linked by
	 * op->link
	 */
	struct list_head defer;
	/* messages (rx) whose forwarding has ended, linked by rx->deferred */
	struct list_head routed;
	struct lnet_pass_stats stats;
	/*
	 * Reply cache entries that are not in the shard in which their replies ended. The pass
	 * updates each entry in the shard of the entry.
	 */
	struct lnet_entry *backs;
	/* bitmap of shards; a bit is set if a duplicate window in the shard has ACKs to send */
	u64 acks;
	/* NIs for ops->flush; before the pass adds a fifth NI, it flushes the first one */
	struct lnet_ni *flush_nis[4];
	/*
	 * messages since the pass locked the shard; at 64, the pass releases the lock and takes it
	 * again
	 */
	u16 nr;
	u8 kind, more, nr_flush, busy;
	u32 nr_evts;			/* in @evts */
};

enum lnet_verdict {
	/* receive rx->want bytes into rx->into, skip the other bytes, then call lnet_rx_done() */
	LNET_RECEIVE = 1,
	/*
	 * skip the payload, and do not call lnet_rx_done(); the core frees @rx, so do not access it
	 */
	LNET_SKIP,
	/*
	 * The core calls ops->receive() later, with RECEIVE or SKIP in rx->verdict. Until then, the
	 * driver reads no further bytes from this connection, or reads the message into separate
	 * memory.
	 */
	LNET_LATER,
	/* protocol error: the driver closes the connection set; the core frees @rx */
	LNET_CLOSE,
};

enum lnet_cancel { LNET_CANCEL_UNSENT, LNET_CANCEL_ABORT };

/* A range of the memory of an MD or small buffer: @len bytes from byte @offset of @frags. */
struct lnet_buf {
	const struct lnet_frag *frags;
	u32 nr, offset, len;
};

/*
 * Copy @len bytes from contiguous memory to @buf (write), or back (read). @pos: first byte in @buf.
 * The caller checks bounds.
 */
void lnet_buf_write(const struct lnet_buf *buf, u32 pos, const void *from, u32 len);
void lnet_buf_read(const struct lnet_buf *buf, u32 pos, void *to, u32 len);
/*
 * Writes the fragments of the bytes [pos, pos + len) of @buf to @out, at most @max. Returns their
 * number.
 */
unsigned int lnet_buf_frags(const struct lnet_buf *buf, u32 pos, u32 len, struct lnet_frag *out,
			    unsigned int max);

/*
 * One attempt to send an operation on a path. A driver has the attempt from ops->send() until it
 * completes it.
 */
struct lnet_att {
	/* for the driver from send() to lnet_att_posted() or lnet_att_done(), else for the core */
	struct list_head link;
	struct lnet_op *op;
	struct lnet_ni *ni;
	/* Next hop. If it is op->dst_pni, the operation has the reference, else the attempt. */
	struct lnet_peer_ni *pni;
	/* deadline of the attempt, at which the driver completes it with a timeout outcome */
	u64 deadline_ns;
	u64 posted_ns;
	u32 epoch;			/* epoch of the connection set that sent the attempt */
	/*
	 * @state, @outcome, @flags and @cls are the core's. Exception: if send() of the driver
	 * returns an error, send() sets @outcome. @cls is an enum lnet_class.
	 */
	u8 state, outcome, flags, cls;
	atomic_t reports;	/* bits for reports of the driver that no pass has processed yet */
	u32 load;			/* the core's */
	void *lnd[2];			/* the driver's */
	struct lnet_path *path;		/* the core's */
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_att) == 96);

enum lnet_class { LNET_CLS_CONTROL, LNET_CLS_REPLY, LNET_CLS_DATA, LNET_NR_CLASSES };

/*
 * A message that is being received. The driver may use it from lnet_rx_get() until the verdict SKIP
 * or CLOSE, or until lnet_rx_done(). The first fields are for drivers.
 */
struct lnet_rx {
	struct list_head link;		/* the core's */
	struct lnet_ni *ni;
	/* peer NI that sent the message, the last hop; reference held */
	struct lnet_peer_ni *from;
	union {
		struct lnet_buf into;	/* RECEIVE: memory for the payload */
		/*
		 * until the verdict is RECEIVE: primary NID of the sender, for lnet_match(); then
		 * @into has replaced it
		 */
		struct lnet_nid initiator;
	};
	/* RECEIVE: number of bytes at the start of the payload that the driver stores */
	u32 want;
	u32 payload_len;
	void *lnd[2];			/* the driver's */
	u8 lnd_flags;			/* the driver's */
	u8 verdict;			/* enum lnet_verdict */
	/* --- the core's from here --- */
	u8 state, type, tracked, received, wants_ack, lazy_queued, stopping, dead;
	u8 hold_shard;
	u8 claimed;	/* the peer that sent the message is neither its source nor a gateway */
	u8 keeps_ni;	/* the message waits or has waited, so it holds a reference to @ni */
	struct list_head stop;		/* in p->stop */
	struct list_head deferred;	/* in p->receive, p->routed */
	/*
	 * peer NI of the source: @from, or a peer NI behind the router @from; a reference is held
	 * if it is not @from
	 */
	struct lnet_peer_ni *src;
	/*
	 * Path of the message. Valid only in lnet_rx_begin(), until the function releases the lock
	 * of @src; NULL: no path.
	 */
	struct lnet_path *path;
	struct lnet_op *reply_op;	/* preallocated operation for the ACK or REPLY */
	struct lnet_op *get;		/* REPLY: its GET */
	struct lnet_evt *evt;
	struct lnet_sbuf *sbuf;		/* memory for a push */
	struct lnet_fwd *fwd;		/* data of a message for another node; otherwise NULL */
	u32 mlength, rlength, offset, portal, src_pid;
	u32 spoil;			/* how a fault rule changes the payload; 0: no change */
	struct lnet_md *md;
	/*
	 * reply cache entry of the message, if it is a request with protection against duplicates
	 * (a tracked request); reference held
	 */
	struct lnet_entry *entry;
	struct lnet_entry *spare;	/* for a new entry */
	struct lnet_handle handle;	/* returned in the reply */
	u64 match_bits, hdr_data;
	struct lnet_nid src_nid, dest_nid;
	u64 arrived_ns;
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_rx) == 312);

#define LNET_LND_COUNTERS_MAX 48

/*
 * How much of a bound on resources is used. The tunable that sets the bound defines the unit of
 * @bound and @most.
 */
struct lnet_use {
	u64 bound;	/* value of the bound that applies; the core presets it to the tunable */
	u64 most;		/* largest use by a single peer, address, interface or shard */
	struct lnet_nid by;	/* peer or address with the largest use; LNET_NID_ANY: none */
};

/* A bound on the resources that peers can make a driver use. */
struct lnet_lnd_limit {
	const char *tunable;		/* name of the bound, which is a tunable of tunables.def */
	const char *per;	/* kind of user that the bound limits: "address", "interface" */
	/* counter among counter_names that counts how often the bound acted */
	const char *counter;
	/*
	 * Writes to @use how much of the bound @ni uses. Called with ln->cfg_mutex held and no
	 * other lock, so the NI cannot stop during the call. The function may take the driver's
	 * locks.
	 */
	void (*use)(struct lnet_ni *ni, struct lnet_use *use);
};

/*
 * Rules for all ops. Task context; no core lock and no spin lock is held. An op may take sleeping
 * locks and allocate memory (kernel: GFP_NOFS). Only ni_start and ni_stop may wait for another
 * thread or node. An op calls no handler. An op may use upcalls that lock a shard only if its
 * comment permits this. lnet_att_posted() and lnet_att_done() are always permitted, because they
 * only append to the pass.
 */
struct lnet_lnd_ops {
	struct module *owner;		/* NULL in user space */
	const char *name;
	u8 type;			/* LND type of the net number */
	u16 ni_priv_size;		/* bytes at ni->priv, zeroed */
	u32 inline_max;			/* send() copies a payload of up to this number of bytes */
	s32 peer_timeout, peer_credits, peer_buffer_credits, credits;	/* defaults of a net */

	/*
	 * Optional: the core calls it when an instance has registered the driver and has no NI of
	 * the driver yet. The op may set tunables and sleep.
	 */
	void (*registered)(struct lnet *ln);
	/*
	 * starts @ni; may set ni->ifname, ni->dev_cpt, ni->cpts, ni->conns_per_peer, ni->link_speed
	 */
	int  (*ni_start)(struct lnet_ni *ni);
	/*
	 * Optional: close all connections of @ni gracefully, and open no new one. The driver writes
	 * all queued bytes, then receives until the peer has closed the connection. The op must not
	 * wait. The core calls it repeatedly before ni_stop, until it returns true or 1 s has
	 * passed. Return: true if no connection is left.
	 */
	bool (*ni_close)(struct lnet_ni *ni);
	/*
	 * Stops @ni: completes all its attempts and receives by upcalls, in a separate DRIVER pass.
	 * The driver makes no upcall after ni_stop has returned.
	 */
	void (*ni_stop)(struct lnet_ni *ni);
	/*
	 * Queues @att; no system call is needed. While the connection lives, attempts of one peer
	 * and class are sent in the order of the calls. Return: 0: accepted; the driver then calls
	 * lnet_att_done() exactly once. -errno: rejected and not delivered; att->outcome is the
	 * reason (a LOCAL_* outcome or REMOTE_DROPPED).
	 */
	int  (*send)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att);
	/*
	 * Optional: send() for several attempts, in order. The op completes rejected attempts by
	 * lnet_att_done() before it returns. @flush: the pass has nothing else to send, so the op
	 * also does the work of flush(). The core then does not call flush() for these attempts.
	 */
	void (*send_list)(struct lnet_pass *p, struct lnet_ni *ni, struct list_head *atts,
			  bool flush);
	/*
	 * Optional: the doorbell, which the core calls once per pass. Writes queued attempts. Never
	 * blocks on a full socket: the driver writes the remaining attempts when the socket has
	 * space.
	 */
	void (*flush)(struct lnet_pass *p, struct lnet_ni *ni);
	/*
	 * Cancels @att. UNSENT: complete @att if no byte of it was sent, else ignore the call.
	 * ABORT: complete @att now at any cost; the core repeats the call until @att is completed.
	 * Ignore the call if the driver has not received @att yet, or has completed it.
	 */
	void (*cancel)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		       enum lnet_cancel how);
	/*
	 * Called after the verdict LATER. rx->verdict is now RECEIVE or SKIP. After SKIP, the
	 * driver does not call lnet_rx_done().
	 */
	void (*receive)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
	/*
	 * Stop writing to rx->into at once, and skip the remaining bytes of the payload. Then call
	 * lnet_rx_done(rx, LNET_STOPPED), before or after this op returns. The core holds no lock,
	 * so the op may make this upcall. Ignore the call if the receive has ended.
	 */
	void (*rx_stop)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
	/*
	 * Optional: writes to @nid the network address that sent @rx, as a NID on the net of @ni.
	 * If the op is absent or does not write @nid, the core uses the NID of the peer interface.
	 * The core calls it only in lnet_rx_begin() of @rx, with no lock held.
	 */
	void (*rx_address)(struct lnet_ni *ni, const struct lnet_rx *rx, struct lnet_nid *nid);
	/*
	 * Optional: the path to @pni is suspect or down. Close all connections to @pni that are
	 * older than this call, and report their loss by lnet_path_lost(). So the next attempt
	 * opens a new connection. Otherwise the attempt would wait for retransmissions on an old
	 * connection, whose retransmission timer has backed off.
	 */
	void (*path_reset)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *pni);
	/*
	 * Optional: the core calls it in a WORKER pass, once after each lnet_ni_kick(). No lock is
	 * held; all upcalls are permitted.
	 */
	void (*work)(struct lnet_pass *p, struct lnet_ni *ni);
	/*
	 * Optional: the core removes @pni. Close the connections to @pni and drop references to it.
	 */
	void (*peer_gone)(struct lnet_ni *ni, struct lnet_peer_ni *pni);
	/*
	 * Optional: counters of an NI, which management shows under "lnd counters". @counter_names:
	 * names of the counters, nr_counters constant texts, at most LNET_LND_COUNTERS_MAX.
	 * counters() writes the counters to @values and, with @reset, sets them to zero. The NI has
	 * started, and does not stop during the call.
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
 *
 * Rules for all upcalls: call them in task context, between lnet_pass_begin(&p, ln,
 * LNET_PASS_DRIVER) and lnet_pass_end(&p). lnet_rx_begin() and lnet_rx_done() leave the shard
 * locked. Call lnet_pass_relax(p) before a system call, and before a copy of more than inline_max
 * bytes. Also call it before taking a driver lock that other threads hold around upcalls. Lock
 * order: hold no driver lock when calling lnet_rx_begin(), lnet_rx_done() or lnet_pass_*().
 */
void lnet_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind);
void lnet_pass_end(struct lnet_pass *p);
void lnet_pass_relax(struct lnet_pass *p);
/*
 * Before the end of @p, releases the shard, sends queued messages (mostly replies) and runs
 * handlers. A driver calls it between two batches of messages that it passes to the core. The
 * function may call send, send_list and flush of the calling NI.
 */
void lnet_pass_flush(struct lnet_pass *p);

/*
 * Returns a zeroed rx from the pool of the shard. May allocate; the caller holds no lock. NULL: no
 * memory; the driver then skips the message.
 */
struct lnet_rx *lnet_rx_get(struct lnet_pass *p);
/*
 * The driver calls lnet_rx_begin() once per decoded header, which hdr->payload_len bytes follow.
 * Returns the verdict. The verdicts RECEIVE and LATER are also in rx->verdict. @from: the peer NI
 * of the connection, to which the driver has a reference; the core takes a separate one. The core
 * owns @rx afterwards.
 *
 * If the message is an ACK or GET for this node, the core has fully processed it when the call
 * returns. So the verdict is SKIP.
 *
 * If lnet_rx_needed() is false, the core keeps nothing of the message, and @rx may be NULL.
 */
bool lnet_rx_needed(const struct lnet_ni *ni, const struct lnet_hdr *hdr);
enum lnet_verdict lnet_rx_begin(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx,
				const struct lnet_hdr *hdr, struct lnet_peer_ni *from);
/*
 * The driver reports that the receive of a payload ended. LNET_OK: all rx->want bytes are in the
 * memory; LNET_STOPPED: rx_stop was called; else the reason of the failure. The core owns @rx
 * afterwards.
 */
void lnet_rx_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
/*
 * The driver reports that the connection of @rx was lost after the verdict LATER and before
 * receive(). True: the core owns @rx again. False: the core is about to call receive(). If the
 * verdict is then RECEIVE, the driver calls lnet_rx_done().
 */
bool lnet_rx_gone(struct lnet_pass *p, struct lnet_rx *rx);

/*
 * True if messages of other peers wait for a buffer like the one into which @rx is received. If @rx
 * is slow, the driver then aborts it with lnet_rx_done(LNET_ABORTED).
 *
 * On a lazy portal, requests wait for a match. If @rx is a tracked request (protected against
 * duplicates) on such a portal, the core removes its reply cache entry. So a retransmission of the
 * request is matched again.
 *
 * A driver lock may be held.
 */
bool lnet_rx_is_wanted(const struct lnet_rx *rx);

/*
 * The driver reports that all bytes of @att are handed to the fabric in epoch @epoch. The driver
 * may still use the memory of @att until it calls lnet_att_done(). lnet_att_posted() and
 * lnet_att_done() only append @att to a list of the pass, without a lock. So @att->link must be in
 * no list of the driver.
 */
void lnet_att_posted(struct lnet_pass *p, struct lnet_att *att, u32 epoch);
/*
 * The driver reports that it no longer uses @att and its memory, exactly once per attempt. If it
 * handed @att to the fabric, @how is LNET_OK (the fabric has all bytes), LNET_ACKNOWLEDGED (the
 * peer's driver has them), or a failure. Otherwise @how is a failure. The driver may omit
 * lnet_att_posted() if it passes @epoch here.
 */
void lnet_att_done(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how, u32 epoch);
/*
 * Like lnet_att_done() with LNET_REMOTE_DROPPED: the driver made no connection to the peer, because
 * of @err. -ECONNREFUSED, -ECONNRESET and -EHOSTUNREACH mean that the peer rejected the connection.
 * If the peer rejects an urgent request (lnet_att_is_urgent()) on the last untried path, the core
 * ends the request at once. -ETIMEDOUT: the peer did not respond.
 */
void lnet_att_unconnected(struct lnet_pass *p, struct lnet_att *att, int err);
/*
 * True if an operator waits for the result, so the driver connects at once, even after recent
 * failures.
 */
bool lnet_att_is_urgent(const struct lnet_att *att);
/*
 * True if neither this node nor the peer retransmits @att after the loss of its connection. This
 * applies to most messages to and from a peer that runs stock LNet. While TCP has not acknowledged
 * such a message, the driver keeps the connection even if the core suspects the path.
 */
bool lnet_att_is_sent_once(const struct lnet_att *att);
/*
 * The driver reports that a connection set to @to over @ni was lost. The delivery of all unanswered
 * attempts that the driver handed to the fabric in an epoch <= @epoch is now unknown.
 */
void lnet_path_lost(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *to, u32 epoch,
		    enum lnet_outcome how);
/*
 * The driver reports progress on the path: bytes were acknowledged or received. @rtt_ns: the
 * round-trip time; 0: unknown.
 */
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
	bool up;	/* the device has a carrier, an address, and the operational state "up" */
	u8 why;				/* not up: enum lnet_link_why */
	u32 speed_mbit;			/* 0 unknown */
};
/*
 * Records the link state @link and wakes the worker. Any context but hard irq. Drivers also call it
 * if only the speed changed, because a lower speed lowers the weight of @ni (lnd-025).
 */
void lnet_ni_link(struct lnet_ni *ni, const struct lnet_link *link);
/*
 * Logs that @ni rejected a connection from @from. The rate of these log lines is limited. Any
 * context but hard irq; driver locks may be held.
 */
void lnet_ni_rejected(struct lnet_ni *ni, const char *from, const char *why);
/*
 * The driver reports that @ni sent @sent packets since the last call, including retransmissions.
 * The driver found that @lost of these packets were lost. Called at most a few times a second, and
 * only while the driver sends. Task context; driver locks may be held.
 */
void lnet_ni_loss(struct lnet_ni *ni, u32 sent, u32 lost);

/*
 * Returns the peer NI of a remote NID with a reference, and creates it if the NID is unknown. The
 * pointer stays valid while referenced. May sleep. NULL: out of memory, the node stops, or too many
 * unknown peers (peers_max). A dynamically created peer does not expire while it is referenced.
 */
struct lnet_peer_ni *lnet_peer_ni_get(struct lnet *ln, const struct lnet_nid *nid);
void lnet_peer_ni_hold(struct lnet_peer_ni *pni);
void lnet_peer_ni_put(struct lnet_peer_ni *pni);
const struct lnet_nid *lnet_peer_ni_nid(const struct lnet_peer_ni *pni);
/* True if an operator configured the peer of @pni, or configured @pni as a gateway. */
bool lnet_peer_ni_is_configured(struct lnet_peer_ni *pni);

/*
 * lnet_att_hdr() writes the complete header of @att to @hdr, in decoded form. lnet_att_payload()
 * writes to @buf the place of the payload in memory. The payload is valid while the driver has
 * @att.
 */
void lnet_att_hdr(const struct lnet_att *att, struct lnet_hdr *hdr);
void lnet_att_payload(const struct lnet_att *att, struct lnet_buf *buf);
u32 lnet_att_len(const struct lnet_att *att);		/* bytes of the payload of @att */
/*
 * True: the headers of @att and @before differ only in fields that lnet_hdr_encode_like() encodes.
 * lnet_att_hdr_like() has written these fields of @att to @hdr. False: the driver needs the
 * complete header of lnet_att_hdr(). The driver has both attempts.
 */
bool lnet_att_hdr_like(const struct lnet_att *att, const struct lnet_att *before,
		       struct lnet_hdr *hdr);

/* ---- properties of an NI for drivers --------------------------------------------------------- */
struct lnet *lnet_ni_instance(const struct lnet_ni *ni);
const struct lnet_nid *lnet_ni_nid(const struct lnet_ni *ni);
const char *lnet_ni_ifname(const struct lnet_ni *ni);
void *lnet_ni_priv(struct lnet_ni *ni);
const struct lnet_tunables *lnet_tunables_of(const struct lnet *ln);
/* Returns element @n, counted cyclically, of the shards whose workers serve @ni. */
unsigned int lnet_ni_cpt(const struct lnet_ni *ni, unsigned int n);
u32 lnet_ni_conns_per_peer(const struct lnet_ni *ni);	/* never 0 */
/* True if no other NI is on the net of @ni. */
bool lnet_ni_is_alone(const struct lnet_ni *ni);
/* For acceptors: returns the NI with the local NID @nid, with a reference, or NULL. */
struct lnet_ni *lnet_ni_find(struct lnet *ln, const struct lnet_nid *nid);
void lnet_ni_put(struct lnet_ni *ni);

#endif
