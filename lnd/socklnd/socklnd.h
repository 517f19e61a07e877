/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver inside: peers, connections, and the sockets that a platform gives them. */
#ifndef SOCKLND_H
#define SOCKLND_H

#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include "lnet/model/model.h"
#include "lnd/socklnd/halfopen.h"
#include "lnd/socklnd/table.h"
#include "lnd/socklnd/wire.h"

/*
 * One lock per NI, sn->lock, a mutex: it protects everything below unless said otherwise. It is
 * inside of no lock of the core: it is never held when the core's locks may be taken, but for
 * lnet_att_posted/done. It is dropped around reads and writes; conn->reading and conn->writing then
 * say who may touch what. "[reader]": only the thread that set conn->reading.
 */

#define SOCK_OUT_SIZE	65536U		/* encoded bytes waiting for the socket */
#define SOCK_OUT_POOL	8U		/* such buffers kept */
#define SOCK_SEGS	16U
#define SOCK_VECS	32U
#define SOCK_INLINE_MAX	4096U
/* largest message of a stuck set that is copied at its deadline, so that the set can stay */
#define SOCK_STUCK_COPY_MAX	65536U
#define SOCK_DETACH_MAX	1048576U	/* largest rest of a message copied to free its memory */
#define SOCK_STAGING	262144U
#define SOCK_ROOM_FOR	16U	/* half-open ones closed when no more can be accepted */
#define SOCK_WARN_NS	60000000000ULL	/* between two warnings of one kind */
#define SOCK_TICK_NS	10000000ULL
#define SOCK_TICK_PEERS	512U	/* served in SOCK_TICK_NS */
#define SOCK_CHECK_MAX_NS	500000000ULL	/* between two checks for progress */
#define SOCK_PACKETS_NS	200000000ULL	/* between two questions for packets lost */
/* a stream whose bytes were acknowledged this recently moves */
#define SOCK_MOVING_NS	100000000ULL
/* 120; a HELLO with addresses is as long */
#define SOCK_HDR_MAX	(LNET_KSOCK_SIZE + LNET_HDR_SIZE_MAX)
#define SOCK_NOOP_KEEPALIVE_NS	10000000000ULL
#define SOCK_PEER_IDLE_NS	60000000000ULL
static_assert(SOCK_HDR_MAX >= LNET_HELLO_SIZE_MAX, "handshake buffer");

enum sock_conn_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "lnd/socklnd/conn.def"
#undef STATE
#undef EDGE
	SOCK_NR_CONN_STATES
};
extern const char *const sock_conn_state_names[SOCK_NR_CONN_STATES];

enum sock_counter {
#define SOCK_COUNTER(name, text) SOCK_C_##name,
#include "lnd/socklnd/sock_counters.def"
#undef SOCK_COUNTER
	SOCK_NR_COUNTERS
};
static_assert(SOCK_NR_COUNTERS <= LNET_LND_COUNTERS_MAX, "all can be shown");
extern const char *const sock_counter_names[SOCK_NR_COUNTERS];
#define SOCK_NR_LIMITS 8
extern const struct lnet_lnd_limit sock_limits[SOCK_NR_LIMITS];	/* limits.c: for ops->limits */

struct sock_ni;
struct sock_conn;
struct sock_peer;

/*
 * The payload of an attempt that is written by reference: until nobody reads the memory any more,
 * the attempt is not given back, whatever became of it. The first member of what the platform made
 * of it by one kzalloc().
 */
struct sock_pin {
	struct list_head link;		/* sn->pins */
	struct lnet_att *att;
	struct sock_peer *peer;		/* pinned by peer->pins */
	u32 epoch;
	u8 how;				/* given back so, as soon as the memory is free */
	bool owed;
};

/*
 * Sockets of a platform: user.c, kernel.c, sim.c. All are non-blocking byte streams. An
 * implementation keeps what it needs at conn->io, conn_size zeroed bytes. It calls the sock_*()
 * driving functions further down, never two for one connection at once but for writes.
 */
struct sock_io {
	u16 conn_size;
	/*
	 * Lock held. Begin connecting to the NID's address from the NI's: sock_conn_connected()
	 * follows. -errno: cannot even begin; then neither release() nor anything else is called
	 * for @c.
	 */
	int (*dial)(struct sock_conn *c, const struct lnet_nid *to);
	/*
	 * No lock held. Bytes taken or given; -EAGAIN; another -errno: broken. read(): 0 is the end
	 * of the stream. Short counts are legal anywhere.
	 */
	ssize_t (*write)(struct sock_conn *c, const struct kvec *vec, unsigned int nr);
	ssize_t (*read)(struct sock_conn *c, const struct kvec *vec, unsigned int nr);
	/*
	 * Lock held, any thread. Call sock_conn_ready() when it can be read (c->want_read) or
	 * written (c->want_write).
	 */
	void (*want)(struct sock_conn *c);
	/*
	 * Lock held, any thread; never waits. The connection is CLOSED: no byte shall move any more
	 * (@abort: throw away what was accepted and tell the peer by a reset). Then have the
	 * reading thread come and release(): once c->state is CONN_CLOSED and c->writing false,
	 * free the descriptor with no lock held, and call sock_conn_released().
	 */
	void (*shut)(struct sock_conn *c, bool abort);
	/*
	 * Lock held. Optional, with the three that follow. The payload of an attempt is about to be
	 * encoded; NULL: it is copied.
	 */
	struct sock_pin *(*pin)(struct sock_conn *c, const struct lnet_buf *payload);
	/* As write(); the socket may go on reading the memory after it returned. */
	ssize_t (*write_pinned)(struct sock_conn *c, struct sock_pin *pin, const struct kvec *vec,
				unsigned int nr);
	/* Lock held; once. Nothing is written of it any more. */
	void (*unpin)(struct sock_pin *pin);
	/*
	 * Lock held, after unpin(). True: no socket reads the memory. Else have sock_tick() called
	 * once none does: when the peer has it all, or the socket is gone.
	 */
	bool (*is_free)(struct sock_pin *pin);
	/* Lock held, at most once per @c, which is open: end the stream after its last byte. */
	void (*finish)(struct sock_conn *c);
	/* Lock held. Optional. @c is open: what it carries is known. */
	void (*opened)(struct sock_conn *c);
	/* Lock held. Bytes accepted by write() that the peer's stack has not acknowledged. */
	u64 (*unacked)(struct sock_conn *c);
	/*
	 * Lock held. Optional: packets that left since the connection began, repeated ones
	 * included, and those of them that were repeated as others were lost. Both may wrap.
	 */
	void (*packets)(struct sock_conn *c, u32 *sent, u32 *lost);
	/*
	 * Lock held, any thread. Call sock_tick() at @when_ns or soon after; replaces a later time.
	 */
	void (*arm)(struct sock_ni *sn, u64 when_ns);
};

struct sock_ni {
	struct mutex lock;
	struct lnet_ni *ni;
	struct lnet *ln;
	const struct sock_io *io;
	struct lnet_nid nid;
	u64 incarnation;		/* of the next set; never decreases */
	u32 epochs;			/* last path epoch given to a set of this NI */
	bool stopping;
	bool gone;			/* sock_ni_fini(): nobody finds a peer any more */
	bool closing;			/* sock_ni_close() was called: no new connections */
	bool refuses;			/* no connection is handed to it any more */
	atomic_t adopting;		/* threads that are handing it one */
	u64 next_ns;			/* when sock_tick() is due */
	u64 now_ns;			/* of the last entry; for functions without a pass */
	struct sock_table by_nid;	/* peers */
	struct list_head peers;
	struct lnet_wheel wheel;	/* peer->timer */
	struct list_head due;		/* expired timers of the wheel */
	u64 ticked_ns, ran_ns;		/* last tick; time in which the driver ran so far */
	u64 served_ns;			/* peers_tick() has served nr_served since then */
	u32 nr_served;
	struct list_head conns;		/* all, until released */
	struct sock_halfs halfs;	/* accepted, without HELLO */
	/* most of them that the platform can bear, whatever the tunable says; 0: any [const] */
	u32 halfs_cap;
	struct sock_halfs opens;	/* open connections that peers dialled, by address */
	u32 opens_cap;			/* as halfs_cap, for these [const] */
	u64 warned_ns;			/* when failing to accept was last said; 0 never */
	u32 nr_peers, nr_conns;
	struct list_head ring;		/* connections to be written */
	struct list_head work;		/* peers with an upcall owed */
	struct list_head broken;	/* closed connections with a message half received */
	struct list_head resume;	/* connections to be read again, by the reading thread */
	struct list_head holds;
	u64 hold_bytes;			/* WRITE_ONCE; of sn->holds, and of all c->stash */
	u64 unsent;			/* bytes of unsent_budget in use */
	struct sock_table hosts;	/* struct sock_host by address */
	struct list_head slow;		/* hosts with a payload that was too slow */
	u64 hosts_ns;			/* when the first host of that list is due; U64_MAX: none */
	u32 nr_lags;			/* connections with c->lags */
	u32 nr_young;			/* connections with c->young */
	struct list_head newcomers;	/* hosts that wait until there are fewer of these */
	struct list_head pins;
	u8 *pool[SOCK_OUT_POOL];
	u32 nr_pool;
	u64 c[SOCK_NR_COUNTERS];
};

/* A remote address with open connections, and the share of this NI that it uses. */
struct sock_host {
	struct sock_node hash;		/* sn->hosts */
	struct lnet_nid from;
	u32 refs;			/* connections, claims, holds, sn->slow */
	u32 nr;				/* payloads that have a claim */
	u64 receiving;			/* their bytes */
	struct list_head slow;		/* sn->slow, which has a reference */
	u64 slow_ns;			/* in sn->slow until then: one payload at a time */
	u64 pause_ns;			/* no payload until then; 0: no pause */
	u64 last_pause_ns;		/* length of the last pause; 0: not in sn->slow */
	bool proven;			/* a payload came in full since the last pause */
	struct list_head newcomer;	/* sn->newcomers */
	u64 held;			/* WRITE_ONCE; its share of sn->hold_bytes */
	u64 unsent;			/* its share of sn->unsent */
	struct list_head queue;		/* connections that wait for a claim */
};

/* A message read aside because no buffer is there yet. */
struct sock_hold {
	struct list_head link;		/* sn->holds */
	struct lnet_rx *rx;		/* NULL: dropped meanwhile */
	struct sock_peer *peer;		/* pinned by peer->pins */
	struct sock_host *host;		/* referenced; NULL: no memory for it */
	u32 epoch;			/* of the set it came by */
	u64 cookie;
	u32 len;
	u32 cost;			/* of sn->hold_bytes; not 0 without payload */
	bool full, landed;		/* all bytes are here; land() came before that */
	u8 data[];
};

/* A zero-copy question of ours. */
struct sock_zc {
	struct list_head link;		/* peer->zc */
	u64 cookie;
	/* NULL: given back already; on no list once it is written */
	struct lnet_att *att;
	u64 deadline_ns;		/* the peer's patience */
};

/* A NOOP to be sent. */
struct sock_noop {
	struct list_head link;		/* conn->noops */
	u64 pair[2];
};

enum { SOCK_SMALL, SOCK_BULK, SOCK_NR_QUEUES };

/* Values of the tunable hello_address. */
enum { SOCK_ADDRESS_OFF, SOCK_ADDRESS_SET, SOCK_ADDRESS_STRICT, SOCK_ADDRESS_AUTO };

/* A remote NID as this NI sees it, with its set of connections. */
struct sock_peer {
	struct sock_node hash;		/* sn->by_nid */
	struct list_head link;		/* sn->peers */
	struct sock_ni *sn;
	struct lnet_nid nid;
	struct lnet_peer_ni *pni;	/* counted */
	struct lnet_nid from;		/* remote address of the set, as a NID of this net */
	/* the set */
	struct list_head conns;		/* open ones */
	u16 nr[4];			/* open ones by enum lnet_ctype */
	u16 nr_mine;			/* open ones that we dialled */
	u32 version;			/* spoken with the set; 0: no set */
	u64 incarnation;
	u64 own_incarnation;		/* local one, in each HELLO of this set */
	u32 epoch;
	struct list_head zc;		/* struct sock_zc by cookie */
	u64 cookie;			/* next one */
	bool full;			/* the peer wants no more connections */
	bool gone;			/* sock_peer_gone(): not found by NID, ends when idle */
	/* dialling */
	struct sock_conn *dial;		/* the one being set up by us */
	/* one dial follows the other until the set is complete */
	bool job;
	u32 refusals;			/* in a row */
	u32 dial_version;		/* what the peer last spoke; 0 unknown */
	u64 dial_ns;			/* not before; 0 at once */
	u64 dial_least_ns;		/* a dial that nobody waits for lasts as long as this */
	u64 dial_took_ns;		/* the last one that came through; 0: none did */
	u64 backoff_ns;
	/* messages that no connection has encoded yet */
	struct list_head queue[SOCK_NR_QUEUES];
	u32 nr_queue[SOCK_NR_QUEUES];
	/* att->lnd[0] of a queued one: its place among those of all queues */
	long seq_first, seq_last;
	struct lnet_timer timer;	/* in sn->wheel or sn->due: when to serve the peer */
	u64 alive_ns;			/* last sign of life */
	u64 keepalive_ns;		/* last keepalive sent */
	u32 pins;			/* connections not yet released, messages held */
	/* upcalls owed once the lock is dropped */
	struct list_head work;
	bool lost, alive;
	u32 lost_epoch;
	u8 lost_how;
};

/*
 * Of what has been encoded: @len bytes, from the out buffer or from the attempt's payload or a copy
 * of its rest.
 */
struct sock_seg {
	u32 len, pos;
	struct lnet_att *att;
	struct sock_pin *pin;		/* NULL: none, or not written by it any more */
	u8 *copy;			/* owned */
};

struct sock_conn {
	struct list_head all;		/* sn->conns */
	struct list_head set;		/* peer->conns */
	struct sock_half half;		/* in sn->halfs while the HELLO is missing */
	struct sock_half guest;		/* in sn->opens while open, if the peer dialled */
	struct list_head ring, broken, resume;
	atomic_t refs;
	struct sock_ni *sn;
	struct sock_peer *peer;		/* pinned; NULL before the HELLO of a passive one */
	u8 state;			/* enum sock_conn_state; READ_ONCE without the lock */
	u8 type;			/* enum lnet_ctype, our view */
	u8 version;
	u32 epoch;			/* of the set */
	u8 how;				/* CLOSED: outcome of what was half written */
	bool mine, swapped, privileged, same_host;
	bool bound;			/* may not join a set of another address */
	bool known;			/* an operator configured the peer */
	struct lnet_nid from;		/* remote address, as a NID of this net [const] */
	bool reading, writing, blocked;	/* blocked: waits for room in the socket */
	bool want_read, want_write;
	bool more;			/* [writer] what write() has is followed by a payload */
	bool requeue;			/* CLOSED: what is unsent goes back to the peer */
	bool finished;			/* the local side has sent FIN */
	u64 start_ns, deadline_ns;	/* of the handshake */
	/* out */
	u8 *out;			/* NULL while empty */
	u32 out_size;			/* SOCK_OUT_SIZE, or less: see unsent.c */
	/* payloads up to @inline_max bytes are copied into @out, longer ones sent by reference */
	u32 inline_max;
	u32 tail_max;			/* of @tail: a header and an inline payload fit behind it */
	u32 head, tail;
	struct sock_seg seg[SOCK_SEGS];
	u32 seg_first, nr_segs;
	struct list_head noops;
	u32 nr_noops;
	/* attempts encoded; att->lnd[] = stream position of begin and end */
	struct list_head txs;
	unsigned long queued, written;	/* stream positions */
	unsigned long once_end;		/* position: end of the last message sent once */
	u64 total;			/* bytes written */
	u64 acked;			/* of which known to have been acknowledged */
	/* since when something is unacknowledged without progress; 0: nothing */
	u64 stuck_ns;
	u64 packets_ns;			/* when to ask for packets again */
	u32 sent, lost;			/* packets, as last asked */
	/* in [reader]; ticks look at nr_hdr and rx under the lock: READ_ONCE, WRITE_ONCE */
	u8 hdr[SOCK_HDR_MAX];
	u32 nr_hdr;
	struct lnet_rx *rx;		/* [reader or lock] landing or waiting */
	struct sock_hold *hold;		/* being filled */
	struct lnet_buf into;
	struct lnet_frag hold_frag;
	u32 pos, want;			/* of the landing payload */
	u32 skip;			/* bytes of the stream to drop after that */
	u64 cookie;			/* to answer at the end of this message; 0 none */
	/*
	 * [lock] the connection is not read: until land(), if the core answered LATER for rx and
	 * there is no hold; or while the connection is in host->queue
	 */
	bool waits;
	bool stop;			/* [lock] rx must not be written any more */
	struct sock_host *host;		/* [lock] referenced once open; NULL: no memory */
	struct list_head queued_at;	/* [lock] host->queue */
	u32 claim;			/* [lock] bytes in host->receiving; queued: wanted */
	bool reserved;			/* [lock] the claim is for the message that is read next */
	bool slow;			/* [lock] CLOSED, because its payload was too slow */
	bool lags;			/* [lock] its payload is slower than receive_rate */
	bool young;			/* [lock] payload of a new address; its rate is unknown */
	u32 nr_receives;		/* WRITE_ONCE; payloads begun */
	/* [lock] time of payload number @aged_nr so far, measured when sn->ran_ns was @aged_ns */
	u32 aged_nr;
	u64 age_ns, aged_ns;
	/* the last message was large: read little beyond the next */
	bool large;
	bool busy;			/* the last turn needed more than one read */
	u8 *stash;			/* read from the socket but not parsed, while stopped */
	u32 stash_len;
	u64 last_rx_ns;
	u8 io[] __aligned(8);
};

/* [reader] The next turn of @c begins with a read into the staging memory. */
static inline bool sock_conn_between(const struct sock_conn *c)
{
	return !READ_ONCE(c->rx) && !READ_ONCE(c->hold) && !c->stash && !c->large;
}

#define sock_count(sn, name) ((sn)->c[SOCK_C_##name]++)

/* ---- life of an NI: conn.c. No lock held by the caller. ---- */
int sock_ni_init(struct sock_ni *sn, struct lnet_ni *ni, const struct sock_io *io);
/*
 * Gives everything back (own upcalls); the platform then releases the connections until sn->conns
 * is empty.
 */
void sock_ni_stop(struct lnet_pass *p, struct sock_ni *sn);
void sock_ni_fini(struct sock_ni *sn);
/* ops->counters */
void sock_counters(struct lnet_ni *ni, u64 *values, bool reset);

/*
 * ---- what a platform calls: in a DRIVER pass, no lock held, task context ----
 */
/* Who dialled. @addr: IPv4 in the first four bytes, the others 0; or IPv6. */
struct sock_from {
	u8 addr[16];
	bool privileged;		/* the port is one of the reserved */
	bool same_host;			/* the address is the NI's */
};
/*
 * A connection came in, not yet read. Its io part is filled in by @setup, under the lock. NULL:
 * refused, close it. May close another that is half open.
 */
struct sock_conn *sock_accepted(struct lnet_pass *p, struct sock_ni *sn,
				const struct sock_from *from,
				void (*setup)(struct sock_conn *c, void *arg), void *arg);
/* Any lock may be held: for the log. @addr: 16 bytes, of the NI's family. */
void sock_rejected(struct sock_ni *sn, const u8 *addr, const char *why);
/*
 * The platform has no descriptor or memory for the next: counted, said now and then, and the oldest
 * half-open ones of who has most are closed. False: there were none, and the caller accepts nothing
 * for a while.
 */
bool sock_accept_failed(struct lnet_pass *p, struct sock_ni *sn, int err);
/* L; who dialled @c, which is half open. */
void sock_conn_from(const struct sock_conn *c, struct sock_from *from);
/* The dial ended: 0, or -errno. */
void sock_conn_connected(struct lnet_pass *p, struct sock_conn *c, int err);
/* It could not even begin, which the platform found out later than in dial(): peer.c. */
void sock_conn_undialled(struct lnet_pass *p, struct sock_conn *c, int err);
/*
 * Reads and handles what is there, within reason. @staging: memory for it, the reading thread's.
 * True if something was read.
 */
bool sock_conn_readable(struct lnet_pass *p, struct sock_conn *c, u8 *staging, u32 size);
void sock_conn_writable(struct lnet_pass *p, struct sock_conn *c);
/*
 * It broke, or the peer has gone for good, while it is not read (c->waits); else reading finds that
 * out.
 */
void sock_conn_broken(struct lnet_pass *p, struct sock_conn *c);
/* The descriptor of a CLOSED connection is gone. @c is freed. */
void sock_conn_released(struct sock_conn *c);
/*
 * Timers. Reads of connections that were stopped go on here too: so by the reading thread. @staging
 * NULL: they go on where sock_conn_readable() is called for each that want() was called for.
 */
void sock_tick(struct lnet_pass *p, struct sock_ni *sn, u8 *staging, u32 size);

/*
 * meant.c. The NI that a request is for if it is another one of this driver, counted and kept from
 * stopping until sock_ni_adopted(); NULL: none. No lock held.
 */
struct sock_ni *sock_ni_meant(struct sock_ni *sn, const struct lnet_nid *nid);
void sock_ni_adopted(struct sock_ni *other);
/* Nobody hands it a connection after this; waits for those who do. May sleep. */
void sock_ni_refuse(struct sock_ni *sn);
bool sock_same_address(const struct sock_ni *a, const struct sock_ni *b);

/* ---- ops ---- */
int sock_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att);
void sock_send_list(struct lnet_pass *p, struct lnet_ni *ni, struct list_head *atts, bool ring);
void sock_flush(struct lnet_pass *p, struct lnet_ni *ni);
void sock_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		 enum lnet_cancel how);
void sock_land(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
void sock_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
void sock_rx_address(struct lnet_ni *ni, const struct lnet_rx *rx, struct lnet_nid *nid);
/* L; something is outstanding and nothing was acknowledged or read for a while */
bool sock_set_is_stuck(struct sock_peer *peer, u64 now_ns);
void sock_peer_gone(struct lnet_ni *ni, struct lnet_peer_ni *pni);
void sock_path_reset(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *pni);

/* ---- inside; "L": lock held ---- */
struct sock_ni *sock_ni_of(struct lnet_ni *ni);		/* sn of an NI */
static inline const struct lnet_tunables *sock_tun(const struct sock_ni *sn)
{
	return lnet_tunables_of(sn->ln);
}

/* The message encoded before and where its header is, while neither leaves; NULL: none. */
struct sock_before {
	const struct lnet_att *att;
	const u8 *hdr;
};
/* encode.c. L; writes the header of @att, which is the next one's @b. */
u32 sock_encode_hdr(const struct sock_conn *c, const struct lnet_att *att, u8 *to,
		    struct sock_before *b);
/* What the header that came last says, and where it is while it stays there; NULL: none. */
struct sock_came {
	struct lnet_hdr hdr;
	const u8 *like;
};
/* The same; reads the header @from into in->hdr. 0, or what lnet_hdr_decode() says. */
int sock_decode_hdr(const struct sock_conn *c, const u8 *from, struct sock_came *in);

/* The hash of @nid in a table of the NI. */
static inline u32 sock_nid_hash(const struct sock_table *t, const struct lnet_nid *nid)
{
	return sock_table_hash(t, nid->addr, nid->size ? sizeof(nid->addr) : sizeof(nid->addr[0]));
}

/* conn.c */
void sock_lock(struct lnet_pass *p, struct sock_ni *sn);	/* relaxes the pass first */
void sock_unlock(struct lnet_pass *p, struct sock_ni *sn);	/* and performs the upcalls owed */
/* L; the only writer */
void sock_conn_set_state(struct sock_conn *c, enum sock_conn_state state);
struct sock_conn *sock_conn_new(struct sock_ni *sn);		/* L; NULL: no memory */
void sock_conn_put(struct sock_conn *c);
/* L; one that is not open. */
void sock_conn_close(struct lnet_pass *p, struct sock_conn *c, bool abort);
/* L; HELLO done */
void sock_conn_open(struct lnet_pass *p, struct sock_conn *c, struct sock_peer *peer);
/*
 * L; ends the set: @how is for what was half written. @requeue: what was not begun waits for the
 * next set, else it comes back REMOTE_DROPPED.
 */
void sock_set_close(struct lnet_pass *p, struct sock_peer *peer, enum lnet_outcome how,
		    bool requeue);
/* L; only @c, which has left the counts of its set. */
void sock_conn_shut(struct lnet_pass *p, struct sock_conn *c, bool abort);
/* L; whatever @c is, it failed. */
void sock_conn_fail(struct lnet_pass *p, struct sock_conn *c, enum lnet_outcome how, bool requeue);
void sock_arm(struct sock_ni *sn, u64 when_ns);			/* L */

/* guest.c: bounds of open connections that peers dialled */
u64 sock_guests_max(const struct sock_ni *sn);		/* conns_max, at most sn->opens_cap */
u64 sock_guests_per_address(const struct sock_ni *sn);	/* conns_per_address in effect */
/* L; @c has a good HELLO. False: too many are open. May close the idle set of another peer. */
bool sock_guest_fits(struct lnet_pass *p, struct sock_conn *c, const struct sock_peer *peer);
/* L; @c is open; sock_conn_shut() removes it. */
void sock_guest_add(struct sock_conn *c);
/* L; closes idle sets of the addresses that have the most. False: no set is idle. */
bool sock_guests_evict(struct lnet_pass *p, struct sock_ni *sn);

/* receive.c */
/* L; lets the reading thread of @c read it again. */
void sock_conn_resume(struct sock_conn *c);
/* L; true: @c waits for bytes of a payload. */
bool sock_receives(const struct sock_conn *c);
/*
 * L; true: the payload of @c takes longer than receive_rate and receive_time allow, or it is slower
 * than receive_rate while others wait for its buffer. The caller then closes the set of @c.
 */
bool sock_receive_is_late(struct sock_conn *c, u64 now_ns, u64 *next_ns);
void sock_receive_clock(struct sock_ni *sn, u64 now_ns);	/* L; each tick; moves sn->ran_ns */
void sock_hosts_tick(struct sock_ni *sn, u64 now_ns);	/* L */
/* L; after a turn of reading: if the payload is not complete, its time is checked again soon. */
void sock_receive_watch(struct sock_conn *c);
/*
 * L; before @c receives a payload of @len bytes. False: its address has used up its share, and @c
 * waits in the queue. @force: no bound applies.
 */
bool sock_receive_claim(struct sock_conn *c, u32 len, bool force);
void sock_receive_unclaim(struct sock_conn *c);		/* L; resumes queued connections */
void sock_receive_done(struct sock_conn *c);		/* L; the same, all bytes were received */
void sock_host_open(struct sock_conn *c);		/* L; @c is open */
void sock_host_shut(struct sock_conn *c);		/* L; @c is closed: leaves the queue */
void sock_host_put(struct sock_ni *sn, struct sock_host *host);	/* L; NULL is fine */

/* [reader] bytes to read behind the payload of @c, at most @size; @c may have to keep them all */
u32 sock_read_ahead(const struct sock_conn *c, u32 size);
/*
 * [reader] Keeps the header of a payload that must wait, and bytes behind the header, until reading
 * resumes. The header is in c->hdr or at @data, the bytes are at @data. 0 or -ENOMEM.
 */
int sock_stash_put(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len);
u8 *sock_stash_take(struct lnet_pass *p, struct sock_conn *c);	/* [reader] the caller frees it */
void sock_stash_drop(struct sock_conn *c);			/* L; nobody reads @c */

/*
 * L; allocates memory for a message of @len bytes that has no buffer yet. NULL: no memory, or
 * hold_max, hold_budget or hold_per_address forbids it.
 */
struct sock_hold *sock_hold_new(struct sock_conn *c, struct lnet_rx *rx, u32 len);
void sock_hold_free(struct sock_ni *sn, struct sock_hold *h);	/* L */
/* L; ends the accounting of @h; the caller frees @h. */
void sock_hold_forget(struct sock_ni *sn, struct sock_hold *h);

/* finish.c */
/* ops->ni_close */
bool sock_ni_close(struct lnet_ni *ni);
/*
 * L; the peer has closed its side of @c, or @c failed. The other connections of the set stay open
 * only if the local side was finished before and the last message is complete (@whole).
 */
void sock_conn_ended(struct lnet_pass *p, struct sock_conn *c, bool whole);

/* peer.c */
struct sock_peer *sock_peer_find(struct sock_ni *sn, const struct lnet_nid *nid);	/* L */
/* L; @pni is counted again */
struct sock_peer *sock_peer_make(struct sock_ni *sn, const struct lnet_nid *nid,
				 struct lnet_peer_ni *pni);
/*
 * L; gives the next set another incarnation. No connection of a set is open, and no dial has sent
 * its HELLO.
 */
void sock_peer_reincarnate(struct sock_peer *peer);
void sock_peer_free(struct sock_peer *peer);			/* L; nothing left in it */
void sock_peer_arm(struct sock_peer *peer, u64 when_ns);	/* L */
/* L; begins or goes on, if something is missing and the time has come */
void sock_peer_dial(struct lnet_pass *p, struct sock_peer *peer);
/* L; peer->dial is closed already */
void sock_dial_failed(struct lnet_pass *p, struct sock_peer *peer, int err, enum lnet_outcome how);
void sock_dial_refused(struct lnet_pass *p, struct sock_peer *peer);	/* L */
/* L; @att waits at @peer, behind all others or before them. */
void sock_peer_queue(struct sock_peer *peer, struct lnet_att *att, unsigned int q, bool first);
bool sock_peer_usable(const struct sock_peer *peer);		/* L; something can be sent now */
/* L; completes all queued attempts. @err: the errno if @how is LNET_REMOTE_DROPPED; or 0. */
void sock_peer_give_back(struct lnet_pass *p, struct sock_peer *peer, enum lnet_outcome how,
			 int err);
/* L; may free @peer */
void sock_peer_tick(struct lnet_pass *p, struct sock_peer *peer, u64 now_ns);

/* hello.c: handshakes. [reader] */
/* L; connected: request and HELLO into the out buffer */
void sock_hello_dial(struct lnet_pass *p, struct sock_conn *c);
/* Takes bytes of the handshake; the number used, or -errno: close. */
int sock_hello_feed(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len);

/* send.c */
void sock_out_raw(struct sock_conn *c, const void *data, u32 len);	/* L; handshake bytes */
/* L; closed: gives back what was encoded */
void sock_out_drop(struct lnet_pass *p, struct sock_conn *c);
/*
 * L; completes an attempt whose bytes stay in the stream, and copies its unsent bytes. No thread
 * writes to @c. 0; -EBUSY: no copy is possible; -ENOBUFS: unsent_budget forbids it; -ENOMEM.
 */
int sock_out_detach(struct lnet_pass *p, struct sock_conn *c, struct lnet_att *att,
		    enum lnet_outcome how);
/* L; to be written by sock_flush_ring() */
void sock_ring(struct sock_conn *c);
/* L; whoever may carry what is queued */
void sock_ring_peer(struct sock_peer *peer);
void sock_flush_ring(struct lnet_pass *p, struct sock_ni *sn);	/* L; dropped and taken again */

/* unsent.c */
/*
 * L; reserves @bytes of unsent_budget for memory of @c. Afterwards at least as much of the budget
 * is free as the address of @c uses, so some is left for each further address. False: the budget
 * does not suffice, and the driver has counted this.
 */
bool sock_unsent_take(struct sock_conn *c, u32 bytes);
void sock_unsent_give(struct sock_conn *c, u32 bytes);	/* L; the reverse */
/*
 * L; before bytes are encoded: allocates an out buffer if @c has none. Its size is SOCK_OUT_SIZE if
 * unsent_budget permits it, else less, so that @c can write at any time. Replaces such a smaller
 * buffer once it is empty and the budget permits it. False: no memory.
 */
bool sock_out_get(struct sock_conn *c);
void sock_out_put(struct sock_conn *c);		/* L; frees that buffer */

/* pin.c */
/* L; the payload of @att, encoded for @c, is sent by reference from now on. NULL: it is not. */
struct sock_pin *sock_pin_new(struct sock_conn *c, struct lnet_att *att,
			      const struct lnet_buf *payload);
/* L; nothing is written of it any more. */
void sock_seg_unpin(struct sock_conn *c, struct sock_seg *s);
/* L; true while some socket may read the memory of @att. */
bool sock_is_pinned(struct sock_ni *sn, const struct lnet_att *att);
/* L; no byte of @att was written, and it goes to another connection. */
void sock_pin_drop(struct sock_ni *sn, const struct lnet_att *att);
/* L; @att, encoded before, goes back to the core, once its memory is free. */
void sock_att_done(struct lnet_pass *p, struct sock_ni *sn, struct lnet_att *att,
		   enum lnet_outcome how, u32 epoch);
/* L; gives back what waited for that. */
void sock_pins_reap(struct lnet_pass *p, struct sock_ni *sn);

/* answer.c */
/* L; acknowledges @cookie, received by @via (NULL: unknown), or closes a set that does not read. */
void sock_zc_answer(struct lnet_pass *p, struct sock_peer *peer, struct sock_conn *via, u64 cookie);
void sock_noop_free(struct sock_conn *c, struct sock_noop *n);	/* L; @n is in c->noops */
/* L; sends a keepalive over a connection of the set */
void sock_keepalive(struct sock_peer *peer, u64 now_ns);
/* L; false: unknown cookie */
bool sock_zc_ack(struct lnet_pass *p, struct sock_peer *peer, const struct lnet_zcack *ack);

/* proto.c: frames in */
/* [reader] 0, or -errno: close */
int sock_frames_feed(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len);
/* no lock, nobody reads: what was half received */
void sock_rx_abandon(struct lnet_pass *p, struct sock_conn *c);

#endif
