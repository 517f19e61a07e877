/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of the TCP driver: peers, connections, and the socket interface of a platform. */
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
 * Each NI has one mutex, sn->lock; "[lock]" marks that it is held. It protects everything
 * below unless a comment names another rule. No lock of the core is held when it is taken. While it
 * is held, the driver makes only upcalls that permit driver locks, such as lnet_att_done(). It is
 * released during reads and writes. Then only the thread that set conn->reading may use fields
 * marked "[reader]", and only the thread that set conn->writing those marked "[writer]".
 */

#define SOCK_OUT_SIZE	65536U		/* size of an out buffer for encoded bytes */
#define SOCK_OUT_POOL	8U		/* such buffers cached */
#define SOCK_SEGS	16U
#define SOCK_VECS	32U
#define SOCK_INLINE_MAX	4096U
/*
 * If a set is stuck, a message up to this size is copied at its deadline, and the set stays open.
 */
#define SOCK_STUCK_COPY_MAX	65536U
#define SOCK_DETACH_MAX	1048576U	/* maximum of unsent bytes copied to free a payload */
#define SOCK_STAGING	262144U
#define SOCK_ROOM_FOR	16U	/* half-open connections to close if accepting fails */
#define SOCK_WARN_NS	60000000000ULL	/* least time between two warnings of one kind */
#define SOCK_TICK_NS	10000000ULL
#define SOCK_TICK_PEERS	512U	/* served in SOCK_TICK_NS */
#define SOCK_CHECK_MAX_NS	500000000ULL	/* between two checks for progress */
#define SOCK_PACKETS_NS	200000000ULL	/* interval of queries for lost packets */
/* A stream makes progress if the peer acknowledged bytes of the stream within this time. */
#define SOCK_MOVING_NS	100000000ULL
/* largest header, 120 bytes; also the size of a HELLO with addresses */
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
extern const struct lnet_lnd_limit sock_limits[SOCK_NR_LIMITS];	/* limits.c; ops->limits */

struct sock_ni;
struct sock_conn;
struct sock_peer;

/*
 * A payload sent by reference. The driver completes the attempt when no socket reads the memory any
 * more. The platform allocates it by kzalloc(), as the first member of a larger struct.
 */
struct sock_pin {
	struct list_head link;		/* sn->pins */
	struct lnet_att *att;
	struct sock_peer *peer;		/* counted in peer->pins */
	u32 epoch;
	u8 how;				/* outcome, for @deferred */
	bool deferred;
};

/*
 * The functions by which the driver uses sockets, in user.c, kernel.c or sim.c. All sockets are
 * non-blocking byte streams. A platform keeps its state at c->io, in conn_size zeroed bytes. It
 * calls the driver by the section "functions that a platform calls". For one connection, the
 * platform makes one of these calls at a time, except for writes.
 */
struct sock_io {
	u16 conn_size;
	/*
	 * Lock held. Begins to connect from the NI's address to the address of the NID. The
	 * platform calls sock_conn_connected() later. -errno: the connection could not begin, and
	 * no other function is called for @c.
	 */
	int (*dial)(struct sock_conn *c, const struct lnet_nid *to);
	/*
	 * No lock held. Returns the number of bytes, which may be smaller than requested; 0 from
	 * read(): end of the stream. -EAGAIN: no byte now. Another -errno: the connection broke.
	 */
	ssize_t (*write)(struct sock_conn *c, const struct kvec *vec, unsigned int nr);
	ssize_t (*read)(struct sock_conn *c, const struct kvec *vec, unsigned int nr);
	/*
	 * Lock held, any thread. c->want_read: the platform calls sock_conn_readable() when @c can
	 * be read. c->want_write: it calls sock_conn_writable() when @c can be written.
	 */
	void (*want)(struct sock_conn *c);
	/*
	 * Lock held, any thread; never waits. @c is CLOSED, so no further byte is transferred. With
	 * @abort, discards unsent bytes and resets the stream. Then wakes the reading thread. When
	 * c->state is CONN_CLOSED and c->writing is false, the reading thread frees the descriptor
	 * without locks, and calls sock_conn_released().
	 */
	void (*shut)(struct sock_conn *c, bool abort);
	/*
	 * Lock held. pin() and the next three functions are optional. Called before the payload of
	 * an attempt is encoded. If pin() returns NULL, the driver copies the payload.
	 */
	struct sock_pin *(*pin)(struct sock_conn *c, const struct lnet_buf *payload);
	/* Like write(), but the socket may read the memory after the return. */
	ssize_t (*write_pinned)(struct sock_conn *c, struct sock_pin *pin, const struct kvec *vec,
				unsigned int nr);
	/* Lock held; called once. The driver writes no further byte of the payload. */
	void (*unpin)(struct sock_pin *pin);
	/*
	 * Lock held, after unpin(). Returns true if no socket reads the memory. Else the platform
	 * calls sock_tick() when no socket reads it: the peer has all bytes, or the socket is
	 * freed.
	 */
	bool (*is_free)(struct sock_pin *pin);
	/* Lock held, at most once per open @c. Makes the socket send FIN after the last byte. */
	void (*finish)(struct sock_conn *c);
	/* Lock held. Optional. Called when @c has become open, and its type is known. */
	void (*opened)(struct sock_conn *c);
	/*
	 * Lock held. Returns the number of written bytes that the peer's stack did not acknowledge.
	 */
	u64 (*unacked)(struct sock_conn *c);
	/*
	 * Lock held. Optional. Returns the number of data packets that the connection has sent,
	 * with retransmissions. @lost: how many were retransmitted because of loss. Both may wrap.
	 */
	void (*packets)(struct sock_conn *c, u32 *sent, u32 *lost);
	/*
	 * Lock held, any thread. Makes the platform call sock_tick() at @when_ns or soon after.
	 * Replaces a later time.
	 */
	void (*arm)(struct sock_ni *sn, u64 when_ns);
};

struct sock_ni {
	struct mutex lock;
	struct lnet_ni *ni;
	struct lnet *ln;
	const struct sock_io *io;
	struct lnet_nid nid;
	u64 incarnation;		/* incarnation of the next set; never decreases */
	u32 epochs;			/* epoch of the newest set of this NI */
	bool stopping;
	bool gone;			/* sock_ni_fini() was called: look-ups find no peer */
	bool closing;			/* sock_ni_close() was called: no new connections */
	bool rejects;			/* other NIs pass no further connection to this NI */
	atomic_t adopting;		/* threads of other NIs that pass a connection to this NI */
	u64 next_ns;			/* when sock_tick() is due */
	u64 now_ns;	/* time of the last sock_lock(), for functions without a struct lnet_pass */
	struct sock_table by_nid;	/* peers */
	struct list_head peers;
	struct lnet_wheel wheel;	/* peer->timer */
	struct list_head due;		/* expired timers of the wheel */
	u64 ticked_ns, ran_ns;	/* @ticked_ns: last tick; @ran_ns: total time the driver ran */
	u64 served_ns;		/* since this time, peers_tick() has served @nr_served peers */
	u32 nr_served;
	struct list_head conns;		/* all, until released */
	struct sock_halfs halfs;	/* accepted, HELLO not received yet */
	/* the platform's maximum for @halfs, in addition to the tunable; 0: none [const] */
	u32 halfs_cap;
	struct sock_halfs opens;	/* open connections that peers dialled, by address */
	u32 opens_cap;			/* the same for @opens [const] */
	u64 warned_ns;			/* last warning that accepting failed; 0: none */
	u32 nr_peers, nr_conns;
	struct list_head doorbell;	/* connections to be written */
	struct list_head work;		/* peers with a pending upcall */
	struct list_head broken;	/* closed connections whose last message is incomplete */
	struct list_head resume;	/* stopped connections whose reads are to resume */
	struct list_head holds;
	u64 hold_bytes;			/* WRITE_ONCE; memory of all @holds and c->stash */
	u64 unsent;			/* bytes of unsent_budget in use */
	struct sock_table hosts;	/* struct sock_host by address */
	struct list_head slow;		/* hosts with a payload that was too slow */
	u64 hosts_ns;	/* when sock_hosts_tick() must check @slow next; U64_MAX: @slow is empty */
	u32 nr_lags;			/* connections with c->lags */
	u32 nr_young;			/* connections with c->young */
	struct list_head newcomers;	/* hosts waiting until sock_ni_is_full() is false */
	struct list_head pins;
	u8 *pool[SOCK_OUT_POOL];
	u32 nr_pool;
	u64 c[SOCK_NR_COUNTERS];
};

/* A remote address with open connections, and the resources that bounds limit per address. */
struct sock_host {
	struct sock_node hash;		/* sn->hosts */
	struct lnet_nid from;
	u32 refs;		/* users: connections, permitted payloads, holds, sn->slow */
	u32 nr;			/* number of payloads that were permitted and have not ended */
	u64 receiving;			/* sum of the lengths of these payloads in bytes */
	struct list_head slow;		/* sn->slow, which has a reference */
	u64 slow_ns;	/* until this time, one payload at a time is received from the address */
	u64 pause_ns;	/* until this time, no payload is received from the address; 0: no pause */
	u64 last_pause_ns;		/* length of the last pause; 0: not in sn->slow */
	bool proven;			/* a payload was received in full since the last pause */
	struct list_head newcomer;	/* sn->newcomers */
	u64 held;			/* WRITE_ONCE; bytes of sn->hold_bytes for this address */
	u64 unsent;			/* bytes of sn->unsent for this address */
	struct list_head queue;		/* connections whose next payload is not permitted yet */
};

/* A message that the driver reads into separate memory, because it has no buffer yet. */
struct sock_hold {
	struct list_head link;		/* sn->holds */
	struct lnet_rx *rx;		/* NULL: discarded meanwhile */
	struct sock_peer *peer;		/* counted in peer->pins */
	struct sock_host *host;		/* sender of the message, referenced; or NULL */
	u32 epoch;			/* epoch of the set that received the message */
	u64 cookie;
	u32 len;
	u32 cost;		/* bytes of sn->hold_bytes for this message; not 0 if @len is 0 */
	bool full, landed;	/* @full: all bytes were received; @landed: receive() was called */
	u8 data[];
};

/* A zero-copy acknowledgement that this node has requested. */
struct sock_zc {
	struct list_head link;		/* peer->zc */
	u64 cookie;
	/* NULL: already completed. The attempt is on no list once all its bytes are written. */
	struct lnet_att *att;
	u64 deadline_ns;	/* if no acknowledgement was received until then, the set ends */
};

/* A queued NOOP. */
struct sock_noop {
	struct list_head link;		/* conn->noops */
	u64 pair[2];
};

enum { SOCK_SMALL, SOCK_BULK, SOCK_NR_QUEUES };

/* Values of the tunable hello_address. */
enum { SOCK_ADDRESS_OFF, SOCK_ADDRESS_SET, SOCK_ADDRESS_STRICT, SOCK_ADDRESS_AUTO };

/* A remote NID with its connection set, as one NI sees it. */
struct sock_peer {
	struct sock_node hash;		/* sn->by_nid */
	struct list_head link;		/* sn->peers */
	struct sock_ni *sn;
	struct lnet_nid nid;
	struct lnet_peer_ni *pni;	/* referenced */
	struct lnet_nid from;		/* remote address of the set, as a NID of this net */
	/* the set */
	struct list_head conns;		/* open ones */
	u16 nr[4];			/* open ones by enum lnet_ctype */
	u16 nr_mine;			/* open connections that this node dialled */
	u32 version;			/* protocol version of the set; 0: no set */
	u64 incarnation;
	u64 own_incarnation;		/* this node's incarnation, in HELLOs of this set */
	u32 epoch;
	struct list_head zc;		/* struct sock_zc by cookie */
	u64 cookie;			/* next one */
	bool full;			/* the peer accepts no more connections */
	bool gone;			/* sock_peer_gone(): unlisted, freed when idle */
	/* dialling */
	struct sock_conn *dial;		/* the connection that this node is dialling */
	/* dials follow without a pause until the set is complete */
	bool job;
	u32 refusals;			/* in a row */
	u32 dial_version;		/* protocol version of the peer's last HELLO; 0: unknown */
	u64 dial_ns;			/* time of the next dial; 0: at once */
	u64 dial_least_ns;	/* a dial for which no message waits may be ended after this time */
	u64 dial_took_ns;		/* duration of the last successful dial; 0: none */
	u64 backoff_ns;
	int dial_err;			/* errno of the last dial that failed */
	/* messages that no connection has encoded yet */
	struct list_head queue[SOCK_NR_QUEUES];
	u32 nr_queue[SOCK_NR_QUEUES];
	/* Range of att->lnd[0], the position of a queued attempt in the order of all queues. */
	long seq_first, seq_last;
	struct lnet_timer timer;	/* in sn->wheel or sn->due: when to serve the peer */
	u64 alive_ns;			/* when bytes were last received or acknowledged */
	u64 keepalive_ns;		/* last keepalive sent */
	u32 pins;		/* number of users of this peer: connections, sock_hold, sock_pin */
	/* upcalls that are made when the lock is released */
	struct list_head work;
	bool lost, alive;
	u32 lost_epoch;
	u8 lost_how;
};

/* @len encoded bytes, in the out buffer, in the payload of @att or in a copy of unsent bytes. */
struct sock_seg {
	u32 len, pos;
	struct lnet_att *att;
	struct sock_pin *pin;		/* NULL: none, or unpinned */
	u8 *copy;			/* owned */
};

struct sock_conn {
	struct list_head all;		/* sn->conns */
	struct list_head set;		/* peer->conns */
	struct sock_half half;		/* in sn->halfs until the HELLO is received */
	struct sock_half guest;		/* in sn->opens while open, if the peer dialled */
	struct list_head doorbell, broken, resume;
	atomic_t refs;
	struct sock_ni *sn;
	struct sock_peer *peer;	/* counted in peer->pins; NULL: dialled by the peer, no HELLO yet */
	u8 state;			/* enum sock_conn_state; READ_ONCE without the lock */
	u8 type;			/* enum lnet_ctype, this node's view */
	u8 version;
	u32 epoch;			/* of the set */
	u8 how;				/* CLOSED: outcome of messages that were partly written */
	bool mine, swapped, privileged, same_host;
	bool bound;	/* the connection may join only a set with the same remote address */
	bool known;			/* an operator configured the peer */
	struct lnet_nid from;		/* remote address, as a NID of this net [const] */
	bool reading, writing, blocked;	/* the connection waits for buffer space of the socket */
	bool want_read, want_write;
	bool more;			/* [writer] a pinned payload follows this write() */
	bool requeue;			/* CLOSED: unsent messages are queued again */
	bool finished;			/* this node has sent FIN */
	u64 start_ns, deadline_ns;	/* of the handshake */
	/* out */
	u8 *out;			/* NULL while empty */
	u32 out_size;			/* SOCK_OUT_SIZE, or less; unsent.c */
	/* @out has copies of payloads up to @inline_max bytes; longer ones are sent by reference */
	u32 inline_max;
	u32 tail_max;		/* largest @tail with space for a header and a copied payload */
	u32 head, tail;
	struct sock_seg seg[SOCK_SEGS];
	u32 seg_first, nr_segs;
	struct list_head noops;
	u32 nr_noops;
	/* encoded attempts; att->lnd[] has the stream positions of their begin and end */
	struct list_head txs;
	unsigned long queued, written;	/* stream positions */
	unsigned long once_end;		/* end of the last message that no node retransmits */
	u64 total;			/* bytes written */
	u64 acked;			/* bytes that the peer is known to have received */
	/* Since this time, no unacknowledged byte was acknowledged; 0: no such bytes. */
	u64 stuck_ns;
	u64 packets_ns;			/* time of the next query for packets */
	u32 sent, lost;			/* packets, at the last query */
	/* [reader] receiving. sock_tick() reads nr_hdr, rx under the lock: READ_ONCE, WRITE_ONCE */
	u8 hdr[SOCK_HDR_MAX];
	u32 nr_hdr;
	struct lnet_rx *rx; /* [reader or lock] message being received, or waiting for receive() */
	struct sock_hold *hold;		/* memory into which a message without a buffer is read */
	struct lnet_buf into;
	struct lnet_frag hold_frag;
	u32 pos, want;		/* @pos: received bytes of the current payload; @want: its length */
	u32 skip;			/* bytes of the stream to discard after the payload */
	u64 cookie;		/* zero-copy acknowledgement to send after this message; 0: none */
	/*
	 * [lock] The connection is not read, for one of two reasons. The verdict on rx is LATER,
	 * and rx is not read aside: reading resumes after receive(). Or the connection is in
	 * host->queue.
	 */
	bool waits;
	bool stop;			/* [lock] the memory of rx must not be written any more */
	struct sock_host *host;	/* [lock] of the open connection, referenced; NULL: no memory */
	struct list_head queued_at;	/* [lock] host->queue */
	u32 claim;		/* [lock] bytes in host->receiving; in host->queue: bytes needed */
	bool reserved;	/* [lock] @claim was counted for a queued payload that is not begun yet */
	bool slow;			/* [lock] CLOSED, because a payload was too slow */
	bool lags;			/* [lock] the payload is slower than receive_rate */
	bool young;			/* [lock] payload of a new address, whose rate is unknown */
	u32 nr_receives;		/* WRITE_ONCE; number of payloads begun */
	/* [lock] time of payload @aged_nr so far, measured when sn->ran_ns was @aged_ns */
	u32 aged_nr;
	u64 age_ns, aged_ns;
	/* The last message was large: each read takes only few bytes beyond the current payload. */
	bool large;
	bool busy;			/* the last turn of reading made more than one read */
	u8 *stash;			/* bytes read and not parsed, if reading is stopped */
	u32 stash_len;
	u64 last_rx_ns;
	u8 io[] __aligned(8);
};

/* [reader] Returns true if the next read of @c first reads into the staging memory. */
static inline bool sock_conn_between(const struct sock_conn *c)
{
	return !READ_ONCE(c->rx) && !READ_ONCE(c->hold) && !c->stash && !c->large;
}

#define sock_count(sn, name) ((sn)->c[SOCK_C_##name]++)

/* ---- life of an NI: conn.c. No lock held by the caller. ---- */
int sock_ni_init(struct sock_ni *sn, struct lnet_ni *ni, const struct sock_io *io);
/*
 * Completes all attempts and receives by upcalls. After this, the platform releases connections
 * until sn->conns is empty.
 */
void sock_ni_stop(struct lnet_pass *p, struct sock_ni *sn);
void sock_ni_fini(struct sock_ni *sn);
/* ops->counters */
void sock_counters(struct lnet_ni *ni, u64 *values, bool reset);

/* ---- functions that a platform calls: in a DRIVER pass, no lock held, task context ---- */
/* Remote address of an accepted connection. IPv4: in the first 4 bytes of @addr, then zeros. */
struct sock_from {
	u8 addr[16];
	bool privileged;		/* its port is reserved */
	bool same_host;			/* its address is the NI's */
};
/*
 * Creates a connection for an accepted socket from which nothing was read. Under the lock, @setup
 * initializes the connection's io. May close another half-open connection. NULL: the connection is
 * rejected, and the caller closes the socket.
 */
struct sock_conn *sock_accepted(struct lnet_pass *p, struct sock_ni *sn,
				const struct sock_from *from,
				void (*setup)(struct sock_conn *c, void *arg), void *arg);
/* Logs a rejection; any lock may be held. @addr: 16 bytes, of the NI's family. */
void sock_rejected(struct sock_ni *sn, const u8 *addr, const char *why);
/*
 * The platform has no descriptor or memory for the next connection. Counts this, and warns at most
 * once in SOCK_WARN_NS. Closes the oldest half-open connections of the addresses with most
 * connections, or idle sets. False: none was closed, and the caller pauses accepting.
 */
bool sock_accept_failed(struct lnet_pass *p, struct sock_ni *sn, int err);
/* Lock held. Returns the remote address of @c, which is half open. */
void sock_conn_from(const struct sock_conn *c, struct sock_from *from);
/* The dial of @c has ended with @err: 0, or -errno. */
void sock_conn_connected(struct lnet_pass *p, struct sock_conn *c, int err);
/* After the return of dial(), the platform found that the dial could not begin (peer.c). */
void sock_conn_undialled(struct lnet_pass *p, struct sock_conn *c, int err);
/*
 * Reads and processes available bytes, a bounded number per call. @staging: memory of the reading
 * thread. Returns true if the socket had bytes, the end of the stream or an error.
 */
bool sock_conn_readable(struct lnet_pass *p, struct sock_conn *c, u8 *staging, u32 size);
void sock_conn_writable(struct lnet_pass *p, struct sock_conn *c);
/* Called if @c broke, or the peer closed it for good, while reads are stopped (c->waits). */
void sock_conn_broken(struct lnet_pass *p, struct sock_conn *c);
/* Frees @c. The platform has freed the descriptor of @c, which is CLOSED. */
void sock_conn_released(struct sock_conn *c);
/*
 * Serves the timers, in the reading thread. With @staging, also resumes stopped reads. If @staging
 * is NULL, the platform calls sock_conn_readable() for stopped connections after want().
 */
void sock_tick(struct lnet_pass *p, struct sock_ni *sn, u8 *staging, u32 size);

/*
 * named_ni.c. No lock held. Returns the NI that a request names, if it is another NI of this
 * driver; else NULL. The NI is referenced, and does not stop before sock_ni_adopted().
 */
struct sock_ni *sock_ni_named(struct sock_ni *sn, const struct lnet_nid *nid);
void sock_ni_adopted(struct sock_ni *other);
/* Waits until no thread of another NI passes a connection to this NI, and excludes later ones. */
void sock_ni_reject(struct sock_ni *sn);
bool sock_same_address(const struct sock_ni *a, const struct sock_ni *b);

/* ---- ops ---- */
int sock_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att);
void sock_send_list(struct lnet_pass *p, struct lnet_ni *ni, struct list_head *atts, bool doorbell);
void sock_flush(struct lnet_pass *p, struct lnet_ni *ni);
void sock_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		 enum lnet_cancel how);
void sock_receive(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
void sock_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
void sock_rx_address(struct lnet_ni *ni, const struct lnet_rx *rx, struct lnet_nid *nid);
/* [lock] true if bytes are outstanding, and none was acknowledged or read for hedge_floor */
bool sock_set_is_stuck(struct sock_peer *peer, u64 now_ns);
void sock_peer_gone(struct lnet_ni *ni, struct lnet_peer_ni *pni);
void sock_path_reset(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *pni);

/* ---- internal functions; "L": lock held ---- */
struct sock_ni *sock_ni_of(struct lnet_ni *ni);
static inline const struct lnet_tunables *sock_tun(const struct sock_ni *sn)
{
	return lnet_tunables_of(sn->ln);
}

/* The message that was encoded last and its header, while both stay in memory; NULL: none. */
struct sock_before {
	const struct lnet_att *att;
	const u8 *hdr;
};
/* encode.c. Lock held. Writes the header of @att, and updates @b for the next header. */
u32 sock_encode_hdr(const struct sock_conn *c, const struct lnet_att *att, u8 *to,
		    struct sock_before *b);
/* The header that was received last, and its bytes while they stay in memory (else NULL). */
struct sock_came {
	struct lnet_hdr hdr;
	const u8 *like;
};
/* encode.c. Decodes the header @from into in->hdr. 0, or the error of lnet_hdr_decode(). */
int sock_decode_hdr(const struct sock_conn *c, const u8 *from, struct sock_came *in);

static inline u32 sock_nid_hash(const struct sock_table *t, const struct lnet_nid *nid)
{
	return sock_table_hash(t, nid->addr, nid->size ? sizeof(nid->addr) : sizeof(nid->addr[0]));
}

/* conn.c */
void sock_lock(struct lnet_pass *p, struct sock_ni *sn);	/* relaxes the pass first */
void sock_unlock(struct lnet_pass *p, struct sock_ni *sn);	/* and pending upcalls */
/* [lock] the only writer */
void sock_conn_set_state(struct sock_conn *c, enum sock_conn_state state);
struct sock_conn *sock_conn_new(struct sock_ni *sn);		/* [lock] NULL: no memory */
void sock_conn_put(struct sock_conn *c);
/* [lock] @c is not open. */
void sock_conn_close(struct lnet_pass *p, struct sock_conn *c, bool abort);
/* [lock] HELLO done */
void sock_conn_open(struct lnet_pass *p, struct sock_conn *c, struct sock_peer *peer);
/*
 * [lock] ends the set. @how: outcome of partly written messages. @requeue: the other messages wait
 * for the next set. Else they fail: LNET_REMOTE_DROPPED; after their deadline LNET_LOCAL_TIMEOUT.
 */
void sock_set_close(struct lnet_pass *p, struct sock_peer *peer, enum lnet_outcome how,
		    bool requeue);
/* Lock held. Closes only @c, which no longer counts as a connection of the set. */
void sock_conn_shut(struct lnet_pass *p, struct sock_conn *c, bool abort);
/* Lock held. Called when @c has failed, in any state. */
void sock_conn_fail(struct lnet_pass *p, struct sock_conn *c, enum lnet_outcome how, bool requeue);
void sock_arm(struct sock_ni *sn, u64 when_ns);			/* [lock] */

/* guest.c: bounds of open connections that peers dialled */
u64 sock_guests_max(const struct sock_ni *sn);		/* conns_max, at most sn->opens_cap */
u64 sock_guests_per_address(const struct sock_ni *sn);	/* conns_per_address in effect */
/* [lock] @c sent a valid HELLO. False: too many are open. May close another peer's idle set. */
bool sock_guest_fits(struct lnet_pass *p, struct sock_conn *c, const struct sock_peer *peer);
/* Lock held. Counts the open @c; sock_conn_shut() removes it. */
void sock_guest_add(struct sock_conn *c);
/* Lock held. Closes idle sets of the addresses with the most connections. False: no set is idle. */
bool sock_guests_evict(struct lnet_pass *p, struct sock_ni *sn);

/* receive.c */
/* Lock held. Makes the reading thread resume reads of @c. */
void sock_conn_resume(struct sock_conn *c);
/* Lock held. Returns true if @c waits for bytes of a payload. */
bool sock_receives(const struct sock_conn *c);
/*
 * [lock] true if the payload of @c takes longer than receive_rate and receive_time allow. Also true
 * if it is slower than receive_rate while messages wait. The caller then closes the set.
 */
bool sock_receive_is_late(struct sock_conn *c, u64 now_ns, u64 *next_ns);
void sock_receive_clock(struct sock_ni *sn, u64 now_ns);	/* [lock] advances sn->ran_ns */
void sock_hosts_tick(struct sock_ni *sn, u64 now_ns);	/* [lock] */
/* Lock held. Called after a turn of reading: schedules a check of an incomplete payload. */
void sock_receive_watch(struct sock_conn *c);
/*
 * Lock held. Called before @c receives a payload of @len bytes. Returns false if the address of @c
 * has used up its share; @c then waits in the queue. With @force, no bound applies.
 */
bool sock_receive_claim(struct sock_conn *c, u32 len, bool force);
void sock_receive_unclaim(struct sock_conn *c);		/* [lock] resumes queued connections */
/* [lock] all bytes of the payload were received */
void sock_receive_done(struct sock_conn *c);
void sock_host_open(struct sock_conn *c);		/* [lock] @c is open */
void sock_host_shut(struct sock_conn *c);		/* [lock] @c is closed: unqueues it */
void sock_host_put(struct sock_ni *sn, struct sock_host *host);	/* [lock] accepts NULL */

/*
 * [reader] Returns the number of bytes, at most @size, to read beyond the payload of @c. If reading
 * stops, @c must store these bytes, so free memory bounds their number.
 */
u32 sock_read_ahead(const struct sock_conn *c, u32 size);
/*
 * [reader] The payload must wait: keeps its header, and the bytes behind the header, until reading
 * resumes. The header is in c->hdr or at @data, the bytes are at @data. 0 or -ENOMEM.
 */
int sock_stash_put(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len);
u8 *sock_stash_take(struct lnet_pass *p, struct sock_conn *c);	/* [reader] the caller frees it */
void sock_stash_drop(struct sock_conn *c);			/* [lock] no thread reads @c */

/*
 * Lock held. Allocates memory for a message of @len bytes that has no buffer yet. NULL: no memory,
 * or hold_max, hold_budget or hold_per_address forbids it.
 */
struct sock_hold *sock_hold_new(struct sock_conn *c, struct lnet_rx *rx, u32 len);
void sock_hold_free(struct sock_ni *sn, struct sock_hold *h);	/* [lock] */
/* Lock held. Subtracts @h from the bytes in use; the caller frees @h. */
void sock_hold_release(struct sock_ni *sn, struct sock_hold *h);

/* finish.c */
/* ops->ni_close */
bool sock_ni_close(struct lnet_ni *ni);
/*
 * Lock held. The peer has closed its side of @c, or @c failed. The other connections of the set
 * stay open only if this node has sent FIN before and the last message is complete (@whole).
 */
void sock_conn_ended(struct lnet_pass *p, struct sock_conn *c, bool whole);

/* peer.c */
struct sock_peer *sock_peer_find(struct sock_ni *sn, const struct lnet_nid *nid);	/* [lock] */
/* Lock held. Takes a further reference to @pni. NULL: no memory. */
struct sock_peer *sock_peer_make(struct sock_ni *sn, const struct lnet_nid *nid,
				 struct lnet_peer_ni *pni);
/*
 * Lock held. Sets another incarnation for the next set. The caller ensures that no connection of a
 * set is open, and no dial has sent its HELLO.
 */
void sock_peer_reincarnate(struct sock_peer *peer);
void sock_peer_free(struct sock_peer *peer);			/* [lock] @peer is idle */
void sock_peer_arm(struct sock_peer *peer, u64 when_ns);	/* [lock] */
/* Lock held. Dials the next missing connection, if a dial is due. */
void sock_peer_dial(struct lnet_pass *p, struct sock_peer *peer);
/* [lock] peer->dial is already closed */
void sock_dial_failed(struct lnet_pass *p, struct sock_peer *peer, int err, enum lnet_outcome how);
void sock_dial_refused(struct lnet_pass *p, struct sock_peer *peer);	/* [lock] */
/* Lock held. Queues @att: with @first before all other attempts, otherwise behind them. */
void sock_peer_queue(struct sock_peer *peer, struct lnet_att *att, unsigned int q, bool first);
/* [lock] true if the set has a connection on which a message can be sent */
bool sock_peer_usable(const struct sock_peer *peer);
/* [lock] completes all queued attempts. @err: the errno for LNET_REMOTE_DROPPED, else 0. */
void sock_peer_complete(struct lnet_pass *p, struct sock_peer *peer, enum lnet_outcome how,
			int err);
/* [lock] may free @peer */
void sock_peer_tick(struct lnet_pass *p, struct sock_peer *peer, u64 now_ns);

/* hello.c: handshakes. [reader] */
/* Lock held. @c is connected: encodes the request and the HELLO. */
void sock_hello_dial(struct lnet_pass *p, struct sock_conn *c);
/* Processes bytes of the handshake. Returns the number used; -errno: the caller closes @c. */
int sock_hello_feed(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len);

/* send.c */
void sock_out_raw(struct sock_conn *c, const void *data, u32 len);	/* [lock] handshake bytes */
/* Lock held. @c is closed: completes or requeues the attempts that @c has encoded. */
void sock_out_drop(struct lnet_pass *p, struct sock_conn *c);
/*
 * [lock] completes @att, and copies its unsent bytes, because the stream must have the whole
 * message. No thread may write to @c. 0; -EBUSY: no copy is possible; -ENOBUFS: unsent_budget
 * forbids it; -ENOMEM.
 */
int sock_out_detach(struct lnet_pass *p, struct sock_conn *c, struct lnet_att *att,
		    enum lnet_outcome how);
/* [lock] sock_doorbell_flush() will write @c */
void sock_doorbell(struct sock_conn *c);
/* Lock held. Calls sock_doorbell() for each connection that may send queued messages. */
void sock_doorbell_peer(struct sock_peer *peer);
/* [lock] releases and retakes the lock */
void sock_doorbell_flush(struct lnet_pass *p, struct sock_ni *sn);

/* unsent.c */
/*
 * Lock held. Reserves @bytes of unsent_budget for memory of @c. Fails if less of the budget would
 * then be free than the address of @c uses. So each further address also gets a part of the budget.
 * False: the reservation failed, and the driver has counted this.
 */
bool sock_unsent_take(struct sock_conn *c, u32 bytes);
void sock_unsent_return(struct sock_conn *c, u32 bytes); /* [lock] reverses sock_unsent_take() */
/*
 * Lock held, before bytes are encoded. Allocates an out buffer if @c has none. If unsent_budget
 * permits it, the size is SOCK_OUT_SIZE. Otherwise the size is smaller, so that @c can write at any
 * time. A smaller buffer is replaced once it is empty and the budget permits it. False: no memory.
 */
bool sock_out_get(struct sock_conn *c);
void sock_out_put(struct sock_conn *c);		/* [lock] frees that buffer */

/* pin.c */
/* [lock] pins the payload of @att, so that @c sends it by reference. NULL: copy the payload. */
struct sock_pin *sock_pin_new(struct sock_conn *c, struct lnet_att *att,
			      const struct lnet_buf *payload);
/* Lock held. No further byte of @s is written by reference. */
void sock_seg_unpin(struct sock_conn *c, struct sock_seg *s);
/* Lock held. Returns true while a socket may read the memory of @att. */
bool sock_is_pinned(struct sock_ni *sn, const struct lnet_att *att);
/* [lock] drops the pin of @att: nothing was written, and another connection will send @att. */
void sock_pin_drop(struct sock_ni *sn, const struct lnet_att *att);
/* Lock held. Completes the encoded @att as soon as no socket reads the memory of @att. */
void sock_att_done(struct lnet_pass *p, struct sock_ni *sn, struct lnet_att *att,
		   enum lnet_outcome how, u32 epoch);
/* Lock held. Completes attempts whose memory no socket reads any more. */
void sock_pins_reap(struct lnet_pass *p, struct sock_ni *sn);

/* noop.c */
/*
 * [lock] queues the acknowledgement of @cookie, which was received over @via (NULL: unknown). If
 * too many are queued, the peer does not read, and the driver closes the set.
 */
void sock_zc_ack_send(struct lnet_pass *p, struct sock_peer *peer, struct sock_conn *via,
		      u64 cookie);
void sock_noop_free(struct sock_conn *c, struct sock_noop *n);	/* [lock] @n is in c->noops */
/* Lock held. Sends a keepalive over a connection of the set. */
void sock_keepalive(struct sock_peer *peer, u64 now_ns);
/* Lock held. Completes the acknowledged attempts. False: a cookie is unknown. */
bool sock_zc_ack(struct lnet_pass *p, struct sock_peer *peer, const struct lnet_zcack *ack);

/* proto.c: received frames */
/* [reader] Processes received bytes of frames. 0; -errno: the caller closes @c. */
int sock_frames_feed(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len);
/* No lock held, and no thread reads @c. Ends the incomplete message of @c. */
void sock_rx_abandon(struct lnet_pass *p, struct sock_conn *c);

#endif
