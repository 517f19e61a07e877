/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a driver of a fabric (LND) offers to the core, and what the core offers to it. */
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
 * How an attempt or a landing ended: generated from lnet/model/outcomes.def (errno, blame,
 * delivery, counter).
 */
enum lnet_outcome {
#define OUTCOME(name, num, errno_, blame, delivery, text) LNET_##name = num,
#include "../../lnet/model/outcomes.def"
#undef OUTCOME
	LNET_NR_OUTCOMES
};

enum lnet_pass_kind {
	/*
	 * API caller: sends and doorbells, never a handler (the caller may hold locks a handler
	 * takes)
	 */
	LNET_PASS_CALL,
	LNET_PASS_DRIVER,	/* reader of a driver, progress: everything */
	LNET_PASS_WORKER,	/* env worker: everything, and the timers */
	LNET_PASS_EVENTS,	/* lnet_deliver(): events that ops->defer() took */
};

/*
 * One thread's visit, on its stack: who decides performs, in order, at lnet_pass_end(). Drivers
 * treat it as opaque but for @now_ns and @more.
 */
/* traffic_stats.c, [sh]: messages that are alike, booked together when the shard is left */
struct lnet_books {
	struct lnet_path *path;
	u64 bytes;
	u32 nr;				/* messages sent over @path */
	u32 nr_times;			/* that took @ns each */
	u64 ns;
	struct lnet_times *times;
	struct lnet_hist *hist;
	u8 type, forward;
};

struct lnet_pass {
	struct lnet *ln;
	struct lnet_shard *sh;		/* locked now, or NULL */
	/* read once per pass; entering a shard may move it forward, to the last one's there */
	u64 now_ns;
	struct list_head send;		/* attempts in ATT_WIRE not yet given to ops->send */
	struct list_head land;		/* rx that waited and may now be landed: ops->land */
	struct list_head stop;		/* rx whose landing must stop: ops->rx_stop */
	/* attempts posted or given back by drivers in this pass: one re-entry for all */
	struct list_head given;
	struct list_head cancel;	/* attempts to take back: ops->cancel; their op is pinned */
	struct list_head posts;		/* events that were posted since the shard was locked */
	struct list_head ready;		/* MDs with events to deliver */
	struct list_head evts;		/* delivered events to be kept for reuse */
	/* paths whose stale connections must go: ops->path_reset (health.c) */
	struct list_head resets;
	/* operations to start once no lock is held (answers), struct lnet_op.link */
	struct list_head defer;
	struct list_head routed;	/* rx that were forwarded, or not: struct lnet_rx.owed */
	struct lnet_books books;
	struct lnet_entry *backs;	/* entries whose answers ended in another shard */
	u64 acks;			/* bitmap of shards whose windows owe ACKs */
	struct lnet_ni *ring[4];	/* whose ops->flush is due; a fifth flushes the first */
	/* messages since the lock was taken; at 64 it is dropped and retaken */
	u16 nr;
	u8 kind, more, nr_ring, busy;
	u32 nr_evts;			/* in @evts */
};

enum lnet_verdict {
	/* copy rx->want bytes to rx->into, skip the rest of the payload, then lnet_rx_done() */
	LNET_LAND = 1,
	/* nothing to keep: skip the payload; no lnet_rx_done(), @rx is gone (do not touch it) */
	LNET_SKIP,
	/*
	 * ops->land() will follow with the final verdict in rx->verdict (LAND or SKIP); until then
	 * do not read this connection, or hold
	 */
	LNET_LATER,
	LNET_CLOSE,	/* protocol error: close the connection and its siblings; @rx is gone */
};

enum lnet_cancel { LNET_CANCEL_UNSENT, LNET_CANCEL_ABORT };

/* A piece of an MD or a small copy: @len bytes starting @offset bytes into @frags. */
struct lnet_buf {
	const struct lnet_frag *frags;
	u32 nr, offset, len;
};

/*
 * Copy @len bytes between contiguous memory and @buf at @pos bytes from its start. Bounds are the
 * caller's.
 */
void lnet_buf_write(const struct lnet_buf *buf, u32 pos, const void *from, u32 len);
void lnet_buf_read(const struct lnet_buf *buf, u32 pos, void *to, u32 len);
/* The fragments of [pos, pos + len) into @out (at most @max); returns their number. */
unsigned int lnet_buf_frags(const struct lnet_buf *buf, u32 pos, u32 len, struct lnet_frag *out,
			    unsigned int max);

/* An attempt: one try over one path; the driver's from ops->send() until it gave it back. */
struct lnet_att {
	/* driver: yours between send() and lnet_att_posted()/lnet_att_done() */
	struct list_head link;
	struct lnet_op *op;
	struct lnet_ni *ni;
	/* next hop; counted, by the operation if it is the one asked for */
	struct lnet_peer_ni *pni;
	/* of the attempt; the driver gives it back with a timeout outcome when it passes */
	u64 deadline_ns;
	u64 posted_ns;
	u32 epoch;			/* path epoch it was posted under */
	/* the core's; outcome: why send() refused it; cls: enum lnet_class */
	u8 state, outcome, flags, cls;
	atomic_t given;			/* what the driver said and no pass has processed yet */
	u32 load;			/* the core's */
	void *lnd[2];			/* the driver's */
	struct lnet_path *path;		/* the core's */
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_att) == 96);

enum lnet_class { LNET_CLS_CONTROL, LNET_CLS_REPLY, LNET_CLS_DATA, LNET_NR_CLASSES };

/*
 * A message being received. From lnet_rx_get() to the verdict (SKIP, CLOSE) or lnet_rx_done();
 * public part for drivers.
 */
struct lnet_rx {
	struct list_head link;		/* the core's */
	struct lnet_ni *ni;
	struct lnet_peer_ni *from;	/* last hop, counted while the rx lives */
	union {
		struct lnet_buf into;	/* LAND: where the payload goes */
		/* before: primary NID of the sender as lnet_match() found it */
		struct lnet_nid initiator;
	};
	u32 want;			/* LAND: bytes of the payload to keep, from its start */
	u32 payload_len;
	void *lnd[2];			/* the driver's */
	u8 lnd_flags;			/* the driver's */
	u8 verdict;			/* enum lnet_verdict */
	/* --- the core's from here --- */
	u8 state, type, marked, landed, wants_ack, parked, stopping, dead;
	u8 hold_shard;
	u8 claimed;			/* from a peer that is neither the source nor a gateway */
	u8 keeps_ni;			/* it has a reference to @ni, as it waits or has waited */
	struct list_head stop;		/* in p->stop */
	struct list_head owed;		/* in p->land, p->routed */
	/* the sender's: @from, or one behind that router, counted then */
	struct lnet_peer_ni *src;
	/* in lnet_rx_begin(), until it releases the lock of @src; NULL: there is none */
	struct lnet_path *path;
	struct lnet_op *answer;		/* reserve for the ACK or REPLY */
	struct lnet_op *get;		/* REPLY: the GET it answers */
	struct lnet_evt *evt;
	struct lnet_copy *copy;		/* a push lands here */
	struct lnet_fwd *fwd;		/* it is for another node */
	u32 mlength, rlength, offset, portal, src_pid;
	u32 spoil;			/* a fault rule spoils what landed; 0: none does */
	struct lnet_md *md;
	struct lnet_entry *entry;	/* marked: counted */
	struct lnet_entry *spare;	/* for a new entry */
	struct lnet_handle handle;	/* to echo */
	u64 match_bits, hdr_data;
	struct lnet_nid src_nid, dest_nid;
	u64 arrived_ns;
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_rx) == 312);

/*
 * Contracts common to all ops: task context, no core lock held, no foreign spin lock; may take
 * sleeping locks and allocate (kernel: GFP_NOFS). Only ni_start and ni_stop may wait for another
 * party. None may call a handler. None may call upcalls that enter the core's lock except as said
 * (lnet_att_posted/done only append to the pass and are always allowed).
 */
#define LNET_LND_COUNTERS_MAX 48

/* How much of a bound is in use, in the unit of its tunable. */
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

struct lnet_lnd_ops {
	struct module *owner;		/* NULL in user space */
	const char *name;
	u8 type;			/* LND type of the net number */
	u16 ni_priv_size;		/* bytes at ni->priv, zeroed */
	u32 inline_max;			/* payload up to this is copied by send() */
	s32 peer_timeout, peer_credits, peer_buffer_credits, credits;	/* defaults of a net */

	/*
	 * Optional: an instance knows the driver now and no NI of it yet; it may set tunables. May
	 * sleep.
	 */
	void (*registered)(struct lnet *ln);
	/* may fill ni->ifname, ni->dev_cpt, ni->cpts, ni->conns_per_peer, ni->link_speed */
	int  (*ni_start)(struct lnet_ni *ni);
	/*
	 * Optional: close all connections of @ni gracefully. The driver opens no further one. It
	 * writes all queued bytes, then receives until the peer has closed its side. Must not wait.
	 * The core calls it repeatedly before ni_stop, until it returns true or 1 s has passed.
	 * Return: true if no connection is left.
	 */
	bool (*ni_close)(struct lnet_ni *ni);
	/*
	 * gives all attempts and rx back through the upcalls (own DRIVER pass), then none runs or
	 * will run
	 */
	void (*ni_stop)(struct lnet_ni *ni);
	/*
	 * Queue @att; no system call needed. Order of calls is order on the wire per (peer, class)
	 * while the connection lives.
	 * 0: taken, lnet_att_done() follows exactly once. -errno: not taken, certainly not
	 * delivered; att->outcome says why (a LOCAL_* or REMOTE_DROPPED outcome).
	 */
	int  (*send)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att);
	/*
	 * Optional: as send() for several in a row, in order. Those that are not taken are given
	 * back by lnet_att_done() before it returns. @ring: nothing else leaves with this pass, so
	 * it does what flush() would, which is not called for these.
	 */
	void (*send_list)(struct lnet_pass *p, struct lnet_ni *ni, struct list_head *atts,
			  bool ring);
	/*
	 * Doorbell: write what is queued, once per pass. Never blocks on a full socket: the rest
	 * goes on write space. Optional.
	 */
	void (*flush)(struct lnet_pass *p, struct lnet_ni *ni);
	/*
	 * UNSENT: give it back if no byte is on the wire (else ignore). ABORT: give it back now
	 * whatever it costs. An attempt that the driver
	 * does not hold (any more or yet) is ignored. The core repeats ABORT until it has it back.
	 */
	void (*cancel)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		       enum lnet_cancel how);
	/* after LATER: rx->verdict LAND or SKIP */
	void (*land)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
	/*
	 * Stop writing into rx->into at once, drain the rest of the payload, and lnet_rx_done(rx,
	 * LNET_STOPPED) before or after return
	 * (ops->rx_stop may call it: it is called with no lock held). If the landing already ended,
	 * ignore.
	 */
	void (*rx_stop)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
	/*
	 * Optional: writes to @nid the network address that sent @rx, as a NID on the net of @ni.
	 * Without this function, or if it does not write @nid, the core uses the NID of the peer
	 * interface. Called only in lnet_rx_begin() of @rx, with no lock held.
	 */
	void (*rx_address)(struct lnet_ni *ni, const struct lnet_rx *rx, struct lnet_nid *nid);
	/*
	 * Optional: the path to @pni is suspect or was found dead: connections older than this call
	 * should be given up (path_lost upcall) so that the
	 * next attempt dials anew instead of waiting in a backed-off stream. */
	void (*path_reset)(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *pni);
	/*
	 * Optional: a turn in a WORKER pass (everything allowed), once after each lnet_ni_kick().
	 * No lock held.
	 */
	void (*work)(struct lnet_pass *p, struct lnet_ni *ni);
	/* optional */
	void (*peer_gone)(struct lnet_ni *ni, struct lnet_peer_ni *pni);
	/*
	 * Optional: what the driver counts per NI, for management to show under "lnd counters".
	 * @counter_names: nr_counters constant texts, at most LNET_LND_COUNTERS_MAX. counters()
	 * writes as many @values and, with @reset, sets them to zero. The NI has started and does
	 * not stop meanwhile.
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
 * lnet_rx_begin/done keep the shard locked between calls: call lnet_pass_relax(p) before a system
 * call, a copy of more than inline_max, or taking a driver lock that is also
 * held around upcalls elsewhere (lock order: driver locks are never held when calling
 * lnet_rx_begin/done or lnet_pass_*).
 */
void lnet_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind);
void lnet_pass_end(struct lnet_pass *p);
void lnet_pass_relax(struct lnet_pass *p);
/*
 * Relaxes @p, sends what it owes so far, answers above all, and calls handlers, before it ends: for
 * a driver that has handed over a batch and has more in hand. May call the NI's own send, send_list
 * and flush.
 */
void lnet_pass_flush(struct lnet_pass *p);

/*
 * From the shard's pool, zeroed; NULL only if memory is exhausted (then treat the message as SKIP).
 * May allocate; call without lock held by you.
 */
struct lnet_rx *lnet_rx_get(struct lnet_pass *p);
/*
 * One per parsed header, with hdr->payload_len bytes to follow. Decides; the answer is rx->verdict
 * (also returned). ACKs, GETs are finished here: verdict SKIP, unless they are for another node. If
 * lnet_rx_needed() says no, @rx may be NULL: none of it is kept.
 * @from: the peer interface of the connection (counted by the driver; the core takes its own
 * count). The rx belongs to the core afterwards.
 */
bool lnet_rx_needed(const struct lnet_ni *ni, const struct lnet_hdr *hdr);
enum lnet_verdict lnet_rx_begin(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx,
				const struct lnet_hdr *hdr, struct lnet_peer_ni *from);
/*
 * The landing ended: LNET_OK all @want bytes are in place; LNET_STOPPED after rx_stop; else why it
 * broke. Consumes @rx.
 */
void lnet_rx_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
/*
 * LATER given up by the driver (its connection died before land() came). Consumes @rx unless land()
 * was already owed: then false, and land() will come and must answer lnet_rx_done().
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
 * All bytes handed to the fabric under path epoch @epoch, the driver may still refer to the memory:
 * lnet_att_done() follows.
 * These two only append to the pass (no lock): @att->link must be off the driver's lists. */
void lnet_att_posted(struct lnet_pass *p, struct lnet_att *att, u32 epoch);
/*
 * The driver forgets @att and its memory. Once. After posted (or both at once: @epoch is taken
 * then): LNET_OK (all bytes taken by the fabric) or LNET_CONFIRMED
 * (the peer's driver has it all) or a failure after posting; not posted: why, a failure. */
void lnet_att_done(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how, u32 epoch);
/*
 * As lnet_att_done() with LNET_REMOTE_DROPPED: no connection to the peer was made, because of @err.
 * -ECONNREFUSED, -ECONNRESET and -EHOSTUNREACH mean that the peer rejected the connection. Then the
 * core ends an urgent request after the last path, and does not wait.
 */
void lnet_att_unconnected(struct lnet_pass *p, struct lnet_att *att, int err);
/* An operator waits for its result: the driver must connect now, also after recent failures. */
bool lnet_att_is_urgent(const struct lnet_att *att);
/*
 * True if neither end retransmits @att after the loss of its connection, as for most messages to
 * and from a stock peer. While TCP has not acknowledged such a message, the driver keeps the
 * connection even if the core suspects the path.
 */
bool lnet_att_is_sent_once(const struct lnet_att *att);
/*
 * All that was posted to @to over @ni under an epoch <= @epoch and is unanswered is now "perhaps
 * delivered": a connection set died.
 */
void lnet_path_lost(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *to, u32 epoch,
		    enum lnet_outcome how);
/* Proof of life of the path (bytes acknowledged or received). @rtt_ns 0 if not known. */
void lnet_path_evidence(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *to,
			u64 rtt_ns);

void lnet_ni_kick(struct lnet_ni *ni);	/* any context: ops->work will be called soon */

enum lnet_link_why {
	LNET_LINK_NO_CARRIER,
	LNET_LINK_SET_DOWN,		/* the device, by an operator */
	LNET_LINK_NO_ADDRESS,
	LNET_LINK_GONE,			/* the device is not there any more */
};
struct lnet_link {
	bool up;			/* carrier, operational state and address present */
	u8 why;				/* not up: enum lnet_link_why */
	u32 speed_mbit;			/* 0 unknown */
};
/*
 * Any context but hard irq: records, kicks, returns. Also when only the speed changed: a link that
 * is slower than it was lowers the weight of @ni (lnd-025).
 */
void lnet_ni_link(struct lnet_ni *ni, const struct lnet_link *link);
/*
 * Any context but hard irq, locks of the driver may be held: @ni rejected a connection from @from,
 * for the log. Such lines are few, however many there are.
 */
void lnet_ni_rejected(struct lnet_ni *ni, const char *from, const char *why);
/*
 * Task context, locks of the driver may be held. Since the last call @sent packets left over @ni,
 * those that were sent again included, and @lost of them were lost on the way, as far as the driver
 * knows. A few times a second at most, and only while something is sent.
 */
void lnet_ni_loss(struct lnet_ni *ni, u32 sent, u32 lost);

/*
 * A counted, stable handle for the remote NID, made if unknown. May sleep. NULL: out of memory,
 * shutting down, or an unknown one too many (peers_max). A peer that nobody configured is not
 * forgotten while it is counted.
 */
struct lnet_peer_ni *lnet_peer_ni_get(struct lnet *ln, const struct lnet_nid *nid);
void lnet_peer_ni_hold(struct lnet_peer_ni *pni);
void lnet_peer_ni_put(struct lnet_peer_ni *pni);
const struct lnet_nid *lnet_peer_ni_nid(const struct lnet_peer_ni *pni);
/* True if an operator configured the peer of @pni, or configured @pni as a gateway. */
bool lnet_peer_ni_is_configured(struct lnet_peer_ni *pni);

/*
 * What to send for @att: header in host form (source, destination, handle, everything) and payload.
 * Valid while the driver holds @att.
 */
void lnet_att_hdr(const struct lnet_att *att, struct lnet_hdr *hdr);
void lnet_att_payload(const struct lnet_att *att, struct lnet_buf *buf);
u32 lnet_att_len(const struct lnet_att *att);		/* of the payload */
/*
 * True if the header of @att differs from that of @before, which the driver has too, in no more
 * than lnet_hdr_encode_like() writes; that is in @hdr then.
 */
bool lnet_att_hdr_like(const struct lnet_att *att, const struct lnet_att *before,
		       struct lnet_hdr *hdr);

/* ---- what a driver may know of an NI --------------------------------------------------------- */
struct lnet *lnet_ni_instance(const struct lnet_ni *ni);
const struct lnet_nid *lnet_ni_nid(const struct lnet_ni *ni);
const char *lnet_ni_ifname(const struct lnet_ni *ni);
void *lnet_ni_priv(struct lnet_ni *ni);
const struct lnet_tunables *lnet_tunables_of(const struct lnet *ln);
/* The @n-th of the shards whose workers serve it, going round. */
unsigned int lnet_ni_cpt(const struct lnet_ni *ni, unsigned int n);
u32 lnet_ni_conns_per_peer(const struct lnet_ni *ni);	/* never 0 */
/* True if no other NI is on the net of @ni. */
bool lnet_ni_is_alone(const struct lnet_ni *ni);
/* A local NID of this instance? (acceptor) Returns the NI, counted, or NULL. */
struct lnet_ni *lnet_ni_find(struct lnet *ln, const struct lnet_nid *nid);
void lnet_ni_put(struct lnet_ni *ni);

#endif
