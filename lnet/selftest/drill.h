/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drills: tests that stock nodes do not have. This header has the data of a client and of a server.
 * Requests and replies are messages to portal 53. One buffer of this portal receives the messages
 * of all tests, so that a node detects late and repeated replies. Bulk data uses portal 52.
 */
#ifndef LNET_SELFTEST_DRILL_H
#define LNET_SELFTEST_DRILL_H

#include "plan.h"
#include "service.h"
#include "store.h"
#include "tally.h"

#define LST_SLOTS_MAX	262144U

/* A server to which a client sends. */
struct lst_drill_dest {
	struct lnet_process id;
	struct list_head asked;		/* slots that await a reply, in the order of sending */
	u64 seq;			/* requests sent so far */
	/*
	 * tally of the requests to this server; NULL: the client has one server or more than
	 * LST_PAIRS_MAX
	 */
	struct lst_tally *tally;
};

/*
 * A rail: a pair of interfaces over which a client received replies or bulk data of a test, or
 * could have received them. The times are those of replies received over the pair. Data that a
 * server fetched is counted for the pair over which its GET was received. LNet reports health and
 * retransmits of the pair, which include the requests of all users of LNet.
 */
struct lst_rail {
	/* LNET_NID_ANY: the entry has the sums of all rails that did not fit into the table */
	struct lnet_nid here, there;
	u64 nr_times, sum_ns, min_ns, max_ns, bytes_out, bytes_in;
	u64 resends;			/* since the test began */
	/* health at the start of the test, and now; or LST_UNKNOWN */
	u64 health_before, health;
	u64 seen;			/* LNet's retransmits at the last check, or LST_UNKNOWN */
};
#define LST_RAILS_MAX	16U
#define LST_RAIL_WIRE	112U		/* bytes of a rail: little endian, without `seen' */
#define LST_UNKNOWN	U64_MAX
#define LST_PAIRS_MAX	256U		/* maximum destinations of a client with separate tallies */

/*
 * The states of a slot:
 *	IDLE	not running
 *	WAIT	waits for its start time
 *	SEND	prepares its request
 *	ASKED	waits for the reply and for bulk data
 *	LOST	its request was aborted; waits until its memory is released
 *	OVER	has its reply, and checks it
 *
 * Legal changes: IDLE to WAIT, SEND; WAIT to SEND, IDLE; SEND to ASKED, IDLE, LOST; ASKED to LOST,
 * OVER; LOST and OVER to WAIT, SEND, IDLE.
 */
enum lst_slot_state {
	LST_SLOT_IDLE, LST_SLOT_WAIT, LST_SLOT_SEND, LST_SLOT_ASKED, LST_SLOT_LOST, LST_SLOT_OVER,
};

/*
 * A part of a bulk transfer, as its client offers it to the server. The offer holds a reference to
 * the session.
 *
 * LNet may report the delivery of fetched data long after the reply. In this case the slot detaches
 * the offer (`alone') and continues. Its next request may overwrite the memory, because the server
 * has already fetched the old contents.
 */
struct lst_offer {
	struct lst_slot *slot;
	lnet_md_t md;
	u32 ix;
	bool alone;
	bool counts;			/* not part of the warm-up */
};

/*
 * One of the parallel parts of a test at a client. A slot sends requests to one server, one at a
 * time.
 */
struct lst_slot {
	struct lst_drill *drill;
	struct list_head link;		/* drill->waiting, by deadline_ns, or drill->asked */
	struct list_head of_dest;	/* dest->asked */
	struct lst_job job;
	struct lst_drill_dest *dest;
	u8 state;			/* enum lst_slot_state */
	/*
	 * begun: the request is neither lost nor over; spoilt: received data is not the requested
	 * data
	 */
	bool begun, answered, failed, spoilt, unlink, unlinking;
	u32 round;			/* requests begun */
	u32 nr_open;			/* pending reply, offers, jobs */
	/* bit n: the request n rounds ago was lost, and no late reply to it has been received */
	u64 lost;
	u64 seq, due_ns, start_ns, deadline_ns, over_ns;
	u64 bulkid;
	u32 crc;			/* of sent data */
	struct lst_drill_rpy rpy;
	struct lst_rail *rail;		/* rail by which the reply was received */
	struct lnet_nid rail_from, rail_to;	/* of the last part received */
	struct lst_store out, in;
	struct lst_offer **offer;	/* sent parts, then received parts; NULL: released */
};

/* Data that a server moved in one direction. */
struct lst_flow {
	u64 bytes, first_ns, last_ns;
};

/* The first wrong data that a node found in a test. */
struct lst_finding {
	u64 nr;				/* in all */
	struct lst_bad bad;
	u64 seq;
	struct lnet_nid from, to;	/* the interfaces; any: unknown */
};

struct lst_drill {
	struct lst *st;
	struct lst_test *test;
	struct list_head link;		/* st->drills */
	struct lst_plan plan;
	struct lst_verifier verifier;
	struct lst_crc32c *crc;
	u64 session_salt;
	struct lnet_process self;
	/* client */
	u64 cookie;			/* number of the run, a part of the match bits of replies */
	u64 start_ns, end_ns;
	struct list_head waiting, asked;
	u32 nr_asked, max_asked;
	u32 nr_dests, nr_slots;
	u32 nr_offers;			/* per transfer */
	/* number of slots of each server that send one request more than its other slots */
	u32 rest;
	struct lst_drill_dest *dest;
	struct lst_slot *slot;
	struct lst_job job;		/* checks the rails of the test, at a client or a server */
	struct lst_tally tally;
	struct lst_tally *pair;		/* per destination, or NULL */
	struct lst_rail rail[LST_RAILS_MAX];
	u32 nr_rails;
	/* server */
	struct lst_flow to_node, from_node;
	u64 nr_served;
	struct list_head hauls;		/* unused transfers (struct lst_haul) */
	struct list_head queued;	/* calls that wait for an unused transfer */
	u32 nr_hauls, max_hauls;	/* transfers in progress: now, and the maximum so far */
	u32 most_hauls;			/* limit of transfers in progress; 0: no limit */
	u32 nr_queued;
	bool meeting;			/* the rails to the node @met are to be checked */
	struct lnet_nid met;
	struct lst_finding finding;	/* of client or server */
};

/* A transfer at its server. The next transfer reuses its memory. */
struct lst_haul {
	struct list_head link;		/* drill->hauls */
	struct lst_job job;
	struct lst_drill *drill;
	struct lst_call *call;		/* NULL: it has been answered */
	u32 nr_open;			/* pending jobs and parts */
	u32 nr_get;			/* parts being fetched, plus 1 while fetches are started */
	u32 got;			/* bytes */
	bool failed, put;
	struct lst_drill_req req;
	struct lnet_process from;
	struct lnet_nid self;
	struct lst_store in, out;	/* as seen by the server */
};

static inline bool lst_plan_goes_out(const struct lst_plan *p)
{
	return p->what == LST_WHAT_BULK && p->mode != LST_MODE_READ;
}

static inline bool lst_plan_comes_in(const struct lst_plan *p)
{
	return p->what == LST_WHAT_BULK && p->mode != LST_MODE_WRITE;
}

/*
 * Returns the salt: a number from which sender and receiver compute the contents of a message.
 * Without @in, the salt is for data sent to the server; with @in, for data received from the
 * server.
 */
u64 lst_drill_salt(const struct lst_drill *drill, u64 cookie, u32 slot, u32 round, bool in);
/*
 * Returns the payload of the ping message of @len bytes at @mem: all bytes after the first
 * LST_MSG_SIZE bytes, which are numbers. If @len is at most LST_MSG_SIZE, the payload is empty and
 * has no parts.
 */
struct lst_store lst_ping_store(struct lnet_frag *frag, u8 *mem, u32 len);
void lst_drill_found(struct lst_drill *drill, const struct lst_bad *bad, u64 seq,
		     const struct lnet_nid *from, const struct lnet_nid *to);

/* ---- drill.c: life of a test ----------------------------------------------------------------- */

/*
 * Creates a drill for session @sid, which may have ended. Takes over the memory of @plan. May
 * sleep.
 */
int lst_drill_make(struct lst_test *test, struct lst *st, const struct lst_sid *sid,
		   struct lst_plan *plan);
/*
 * Adds a test to the session of @call: a received request, or a struct that lst_tree_call() made
 * for a wave. Returns the status of the reply. May sleep.
 */
u32 lst_drill_add(struct lst_call *call, struct lst_plan *plan);
void lst_drill_free(struct lst_drill *drill);
void lst_drill_join_locked(struct lst_drill *drill);

/* ---- slot.c: the client ---------------------------------------------------------------------- */

void lst_drill_run_locked(struct lst_drill *drill);
void lst_drill_stop_locked(struct lst_drill *drill, bool force);
/* @mem: the whole message */
void lst_drill_answer_locked(struct lst *st, const struct lnet_event *ev,
			     const struct lst_msg *rpy, u8 *mem);
/* Serves all drills. Returns the next deadline; @now 0: only returns it. */
u64 lst_drills_work_locked(struct lst *st, u64 now);

/* Drops one of nr_open. */
void lst_slot_put_locked(struct lst_slot *slot);
/* Marks the request as lost. A reply that is received later does not change this. */
void lst_slot_lost_locked(struct lst_slot *slot);

/* ---- rail.c ---------------------------------------------------------------------------------- */

struct lst_rail *lst_rail_of(struct lst_drill *drill, const struct lnet_nid *here,
			     const struct lnet_nid *there);
void lst_rail_time(struct lst_rail *rail, u64 ns);
/*
 * Checks the rails to @peer, and counts their failures from now on. Call without the lock. False:
 * the table of rails is full.
 */
bool lst_rails_meet(struct lst_drill *drill, const struct lnet_nid *peer);
/*
 * Called at a server that received a request of @peer. Queues a job that checks the rails to @peer.
 */
void lst_rails_met_locked(struct lst_drill *drill, const struct lnet_nid *peer);
/* Checks a known rail again. Call without the lock. */
struct lst_rail_look {
	struct lnet_nid here, there;
	struct lnet_rail_info info;
	bool gone;
};
void lst_rail_look(struct lst *st, struct lst_rail_look *look);
void lst_rail_looked_locked(struct lst_rail *rail, const struct lst_rail_look *look);
void lst_rails_encode(const struct lst_drill *drill, u8 *buf);	/* starts at LST_TALLY_RAILS */
u32 lst_rails_decode(const u8 *buf, struct lst_rail rail[LST_RAILS_MAX]);	/* their number */

/* ---- offer.c: bulk memory of slots ----------------------------------------------------------- */

void lst_slots_free(struct lst_drill *drill);
/* Allocates bulk memory. Returns 0 or -ENOMEM. May sleep, as the next two functions. */
int lst_slot_memory(struct lst_slot *slot);
void lst_slot_fill(struct lst_slot *slot, u32 round);
int lst_offers_make(struct lst_slot *slot);	/* call before the server knows the offers */
void lst_offers_unlink_run(struct lst_job *job);	/* of the slot */
/* Detaches the offers of sent parts. The reply shows that the server has fetched these parts. */
void lst_offers_leave_locked(struct lst_slot *slot);

/* ---- drill_server.c: the server -------------------------------------------------------------- */

void lst_hauls_free(struct lst_drill *drill);
void lst_hauls_stop_locked(struct lst_drill *drill);	/* rejects queued calls */

/* ---- what a node reports of a test: bytes that it puts --------------------------------------- */

/*
 * The report begins with the tally record. Then numbers of eight bytes follow, little endian:
 *	requests in flight, their maximum, requests served, bytes;
 *	first and last time of the data in both directions;
 *	number of times that wrong data was found; for the first time, offset and length of the
 *	wrong bytes, and sequence number of the request.
 *
 * Then three NIDs of 20 bytes each follow: two for the interfaces over which this wrong data was
 * received, and one for the server. LNET_NID_ANY means that the report is about all servers.
 *
 * The number of rails (eight bytes) and the rails begin at LST_TALLY_RAILS.
 */
#define LST_TALLY_NUMBERS	(13 * 8U)
#define LST_TALLY_RAILS		(LST_TALLY_WIRE + 256U)
#define LST_TALLY_BYTES		(LST_TALLY_RAILS + 8U + LST_RAILS_MAX * LST_RAIL_WIRE)

#endif
