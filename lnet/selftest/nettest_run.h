/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of a node of a NETTEST run. */
#ifndef LNET_SELFTEST_NETTEST_RUN_H
#define LNET_SELFTEST_NETTEST_RUN_H

#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnet.h>
#include "nettest.h"

/*
 * One lock protects all data. It is a leaf lock: no API call is made while it is held. Each handler
 * and timer function takes the lock with nettest_enter(), notes the event, and leaves with
 * nettest_leave(). In nettest_leave(), one thread at a time does the resulting work.
 */

#define NETTEST_PAUSE_NS	(200ULL * NSEC_PER_MSEC)	/* before a retry */
/*
 * Without progress a node probes other nodes with a signal of barrier 0, which does not exist. If a
 * node cannot be reached and there was no progress for NETTEST_GONE_NS, the run fails.
 */
#define NETTEST_PROBE_NS	(2ULL * NSEC_PER_SEC)
#define NETTEST_GONE_NS		(10ULL * NSEC_PER_SEC)
#define NETTEST_PROBES		32U		/* nodes probed at one time */

/* Another node, and the messages to and from it. */
struct nettest_chan {
	struct nettest *nt;
	struct list_head link;		/* nt->ready: may send */
	struct lnet_process id;
	u32 rank;
	u8 *tx, *rx;			/* NULL: never a neighbour */
	lnet_md_t rx_md, tx_md[NETTEST_PARTS_MAX];
	/* of this measure */
	bool linked, first;		/* first: this node sends first, in a one-way pattern */
	struct lst_tally delay;		/* times from sending a message to its last ACK */
	/* of this iteration */
	bool queued;
	u32 next_part, nr_acks;		/* next part to send; number of ACKs received */
	u64 came;			/* parts received, a bit each */
	u32 nr_came;
	u64 begun_ns;
};

/* One round of a barrier: the signal that this node received, and the one it failed to send. */
struct nettest_signal {
	u64 came, failed;		/* number of the barrier */
};

struct nettest_noise {
	struct nettest_chan *to;	/* the partner; NULL: this node makes no noise */
	u8 *tx, *rx;
	lnet_md_t rx_md, tx_md[NETTEST_NOISE_DEPTH];
	u32 busy, used;			/* slots in flight; slots received (a bit per slot) */
	u32 nr_said, nr_heard;		/* measures whose noise was all sent; all received */
	/* bytes sent; received, by parity of the measure's number */
	u64 out, in[2];
};

struct nettest {
	struct nettest_cfg cfg;
	spinlock_t lock;
	u8 state;			/* enum nettest_state */
	int status;			/* < 0: status with which the run ends or has ended */
	bool stepping, again, stopping;
	/* arm: cfg.arm() is to be called; gone: cfg.gone() was called */
	bool arm, gone;
	u32 nr_open;			/* memory that LNet references */
	u32 nr_out;			/* own requests without their final event */
	u32 nr_inside;			/* threads between enter and leave */
	u32 nr_rounds;
	u32 nr_lines;			/* log lines about wrong messages */

	u32 index, iteration;
	struct nettest_measure m;
	u64 seq;			/* number of the iteration, counted over all measures */
	u32 nr_measured;		/* nodes; others make noise */
	u32 nr_linked, nr_parts;
	u32 nr_left;			/* messages not received yet, or not acknowledged yet */
	struct list_head ready;
	struct nettest_chan *left, *right;	/* of a ring one way */
	u64 t0_ns, progress_ns;
	u64 retry_ns;			/* nothing is sent before this time; U64_MAX: no pause */
	u64 probe_ns;			/* no probe before */
	u32 probed;			/* last probed node: its number minus this node's number */
	struct lst_tally tally;
	struct nettest_sums sums;

	u64 barrier;			/* number */
	u32 round;
	bool signalled;			/* the signal of this round was sent */
	struct nettest_signal signal[2][NETTEST_ROUNDS_MAX];
	u8 barrier_mem[2 * NETTEST_ROUNDS_MAX * NETTEST_SIGNAL], signal_mem[NETTEST_SIGNAL];
	lnet_md_t barrier_md, signal_md;
	struct nettest_noise noise;

	u8 *record, *records;		/* own record; at the gathering node, all records */
	u32 record_len, *records_len;	/* lengths of the records received in this measure */
	u32 nr_records;
	bool record_made, record_sent;
	lnet_md_t record_md, records_md;

	struct nettest_chan chan[];	/* all nodes, by number */
};

/* A request to send. */
enum nettest_kind { NETTEST_DATA = 1, NETTEST_BARRIER, NETTEST_RECORD, NETTEST_NOISE };
struct nettest_put {
	enum nettest_kind kind;
	struct nettest_chan *to;
	lnet_md_t md;
	u32 len, offset, md_offset;
	u64 hdr_data;
	bool more;
};

#define NETTEST_LINES_MAX 16U

/* Counts a log line about a wrong message. False: the run has logged NETTEST_LINES_MAX lines. */
static inline bool nettest_may_log(struct nettest *nt)
{
	return nt->nr_lines < NETTEST_LINES_MAX && ++nt->nr_lines;
}

static inline u64 nettest_now(const struct nettest *nt)
{
	struct lnet_env *env = lnet_env_of(nt->cfg.ln);

	return env->ops->now_ns(env);
}

/* ---- nettest.c ------------------------------------------------------------------------------- */

void nettest_enter(struct nettest *nt) __acquires(&nt->lock);
void nettest_leave(struct nettest *nt) __releases(&nt->lock);
/*
 * Sends a message, and drops the lock meanwhile. After -EAGAIN or -ENOMEM the caller retries later.
 */
int nettest_send(struct nettest *nt, const struct nettest_put *put);
/* Called when a message of @chan was received as a whole, or was acknowledged. */
void nettest_progress_locked(struct nettest *nt, struct nettest_chan *chan);
void nettest_fail_locked(struct nettest *nt, int status);
void nettest_pause_locked(struct nettest *nt);
/* Called when a node cannot be reached, because its signal or a probe failed. */
void nettest_failing_locked(struct nettest *nt, int status);
static inline u32 nettest_part_len(const struct nettest *nt, u32 part)
{
	return min(nt->m.len - part * LNET_MTU, LNET_MTU);
}

/* ---- nettest_io.c ---------------------------------------------------------------------------- */

/* Allocates and posts memory. Returns 0 or -errno. The caller unlinks and frees in any case. */
int nettest_memory_make(struct nettest *nt);
void nettest_memory_unlink(struct nettest *nt);	/* no lock held */
void nettest_memory_free(struct nettest *nt);
int nettest_put(struct nettest *nt, const struct nettest_put *put);	/* no lock held; counted */
/*
 * Each event handler calls this function first. Takes the lock, and notes memory that LNet has
 * released. With @aside, the event does not count as progress of the run.
 */
void nettest_enter_event(struct nettest *nt, const struct lnet_event *ev, bool aside)
	__acquires(&nt->lock);
void nettest_errors_locked(struct nettest *nt, u32 nr);
void nettest_wrong_locked(struct nettest *nt, const struct lnet_event *ev);

/* memory to which others put, or from which this node puts */
struct nettest_into {
	void *mem, *user;
	u32 len;
	u64 bits, ignore;
	lnet_handler_t handler;
};
u64 nettest_match_bits(const struct nettest *nt, enum nettest_kind kind, u32 rank);
int nettest_attach(struct nettest *nt, const struct nettest_into *to, lnet_md_t *md);
int nettest_bind(struct nettest *nt, const struct nettest_into *from, lnet_md_t *md);
void nettest_unlink(struct nettest *nt, lnet_md_t md);	/* a zero handle is fine */

/* ---- nettest_noise.c ------------------------------------------------------------------------- */

int nettest_noise_make(struct nettest *nt);	/* allocates memory; 0 or -errno */
void nettest_noise_unlink(struct nettest *nt);	/* no lock held */
void nettest_noise_free(struct nettest *nt);
/*
 * The stepping thread calls these functions. nettest_noise_begin() begins a measure.
 * nettest_noise_step() sends a message, and returns false if it cannot send now.
 * nettest_noise_over() returns true if all noise of the measure was sent and received.
 */
void nettest_noise_begin(struct nettest *nt);
bool nettest_noise_step(struct nettest *nt);
bool nettest_noise_over(const struct nettest *nt);
/*
 * Returns how many of the slots @used have wrong contents. Call without the lock, while no message
 * is in flight.
 */
u32 nettest_noise_check(struct nettest *nt, u32 used);

/* ---- nettest_check.c ------------------------------------------------------------------------- */

u64 nettest_key(u64 seq, u32 from, u32 to);
void nettest_fill(u8 *mem, u32 len, u64 key, enum nettest_check check);
/* @len: no byte is wrong */
u32 nettest_first_bad(const u8 *mem, u32 len, u64 key, enum nettest_check check);

/* ---- nettest_record.c ------------------------------------------------------------------------ */

void nettest_record_make(struct nettest *nt);	/* by the stepping thread */

#endif
