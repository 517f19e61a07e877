/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of ours between nodes of ours: what a client and a server of one have. Requests and answers
 * are messages to portal 53, where one buffer takes those of all tests, so that answers that are
 * late or come again are seen. Bulk moves by portal 52.
 */
#ifndef LNET_SELFTEST_DRILL_H
#define LNET_SELFTEST_DRILL_H

#include "plan.h"
#include "service.h"
#include "store.h"
#include "tally.h"

#define LST_SLOTS_MAX	262144U

/* Whom a client sends to. */
struct lst_drill_dest {
	struct lnet_process id;
	struct list_head asked;		/* slots, in the order they sent */
	u64 seq;			/* requests sent so far */
	struct lst_tally *tally;	/* of it alone; NULL: the only one, or one of too many */
};

/*
 * Two interfaces between which a client saw answers and bulk of a test, or might have. Times are
 * those of answers that came over them; data that a server fetched is counted where it asked for
 * it. Health and what was sent again LNet tells of the pair, whoever used it.
 */
struct lst_rail {
	struct lnet_nid here, there;	/* any: of those for which there was no place */
	u64 nr_times, sum_ns, min_ns, max_ns, bytes_out, bytes_in;
	u64 resends;			/* since the test began */
	u64 health_before, health;	/* then and now; LST_UNKNOWN */
	u64 seen;			/* LNet's count, at the last look; LST_UNKNOWN: no look */
};
#define LST_RAILS_MAX	16U
#define LST_RAIL_WIRE	112U		/* as above, little endian, without `seen' */
#define LST_UNKNOWN	U64_MAX
#define LST_PAIRS_MAX	256U		/* destinations of a client with tallies of their own */

/*
 * IDLE: not running. WAIT: for its time. SEND: its request is being made. ASKED: it waits for the
 * answer and for bulk. LOST: given up, memory is on its way back. OVER: answered, being looked at.
 * Legal: IDLE to WAIT, SEND; WAIT to SEND, IDLE; SEND to ASKED, IDLE, LOST; ASKED to LOST, OVER;
 * LOST and OVER to WAIT, SEND, IDLE.
 */
enum lst_slot_state {
	LST_SLOT_IDLE, LST_SLOT_WAIT, LST_SLOT_SEND, LST_SLOT_ASKED, LST_SLOT_LOST, LST_SLOT_OVER,
};

/*
 * A part of a bulk transfer, as its client offers it. The session stays for it. LNet may tell only
 * long after the answer that what was fetched has arrived: then it is left alone, and the slot goes
 * on; nobody needs that memory as it was.
 */
struct lst_offer {
	struct lst_slot *slot;
	lnet_md_t md;
	u32 ix;
	bool alone;
	bool counts;			/* no warm-up */
};

/* One of the parallel parts at a client: sends one request after another to one server. */
struct lst_slot {
	struct lst_drill *drill;
	struct list_head link;		/* drill->waiting, by due_ns, or drill->asked */
	struct list_head of_dest;	/* dest->asked */
	struct lst_job job;
	struct lst_drill_dest *dest;
	u8 state;			/* enum lst_slot_state */
	/* begun: neither lost nor over; spoilt: what came is not what was asked for */
	bool begun, answered, failed, spoilt, unlink, unlinking;
	u32 round;			/* requests begun */
	u32 nr_open;			/* what it waits for: answer, offers, jobs */
	u64 lost;			/* bit n: the request n rounds ago was lost, and not late */
	u64 seq, due_ns, start_ns, deadline_ns, over_ns;
	u64 bulkid;
	u32 crc;			/* of what goes out */
	struct lst_drill_rpy rpy;
	struct lst_rail *rail;		/* by which that came */
	struct lnet_nid rail_from, rail_to;	/* of the last part that came */
	struct lst_store out, in;
	struct lst_offer **offer;	/* a part each: out, then in; NULL: it is gone */
};

/* What a server moved in one direction. */
struct lst_flow {
	u64 bytes, first_ns, last_ns;
};

/* The first wrong data that a node has found in a test. */
struct lst_finding {
	u64 nr;				/* in all */
	struct lst_bad bad;
	u64 seq;
	struct lnet_nid from, to;	/* the interfaces; any: not known */
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
	u64 cookie;			/* of this run: match bits of answers */
	u64 start_ns, end_ns;
	struct list_head waiting, asked;
	u32 nr_asked, max_asked;
	u32 nr_dests, nr_slots;
	u32 nr_offers;			/* of a transfer */
	u32 rest;			/* parts of each server that have one request more */
	struct lst_drill_dest *dest;
	struct lst_slot *slot;
	struct lst_job job;		/* of both: looks at rails */
	struct lst_tally tally;
	struct lst_tally *pair;		/* of destinations, or NULL */
	struct lst_rail rail[LST_RAILS_MAX];
	u32 nr_rails;
	/* server */
	struct lst_flow to_node, from_node;
	u64 nr_served;
	struct list_head hauls;		/* that are free */
	struct list_head queued;	/* that wait for one */
	u32 nr_hauls, max_hauls;	/* that move, now and at most */
	u32 most_hauls;			/* that may; 0: any number */
	u32 nr_queued;
	bool meeting;			/* somebody whose rails are to be looked at */
	struct lnet_nid met;
	struct lst_finding finding;	/* both */
};

/* A transfer at its server; its memory is used again by the next one. */
struct lst_haul {
	struct list_head link;		/* drill->hauls */
	struct lst_job job;
	struct lst_drill *drill;
	struct lst_call *call;		/* NULL: it was answered */
	u32 nr_open;			/* what it waits for: jobs, parts */
	u32 nr_get;			/* parts that are fetched, and who begins that */
	u32 got;			/* bytes */
	bool failed, put;
	struct lst_drill_req req;
	struct lnet_process from;
	struct lnet_nid self;
	struct lst_store in, out;	/* as the server sees it */
};

static inline bool lst_plan_goes_out(const struct lst_plan *p)
{
	return p->what == LST_WHAT_BULK && p->mode != LST_MODE_READ;
}

static inline bool lst_plan_comes_in(const struct lst_plan *p)
{
	return p->what == LST_WHAT_BULK && p->mode != LST_MODE_WRITE;
}

/* Of data that goes to the server, or comes from it. */
u64 lst_drill_salt(const struct lst_drill *drill, u64 cookie, u32 slot, u32 round, bool in);
/* What a ping has behind the numbers; NULL in it: nothing. */
struct lst_store lst_ping_store(struct lnet_frag *frag, u8 *mem, u32 len);
void lst_drill_found(struct lst_drill *drill, const struct lst_bad *bad, u64 seq,
		     const struct lnet_nid *from, const struct lnet_nid *to);

/* ---- drill.c: life of a test ----------------------------------------------------------------- */

/* @test is of a session that may be another one by now. Takes what @plan has. May sleep. */
int lst_drill_make(struct lst_test *test, struct lst *st, const struct lst_sid *sid,
		   struct lst_plan *plan);
/* A test of the session of @call, which need not be a request. The status; may sleep. */
u32 lst_drill_add(struct lst_call *call, struct lst_plan *plan);
void lst_drill_free(struct lst_drill *drill);
void lst_drill_join_locked(struct lst_drill *drill);

/* ---- slot.c: the client ---------------------------------------------------------------------- */

void lst_drill_run_locked(struct lst_drill *drill);
void lst_drill_stop_locked(struct lst_drill *drill, bool force);
/* @mem: all bytes of it */
void lst_drill_answer_locked(struct lst *st, const struct lnet_event *ev,
			     const struct lst_msg *rpy, u8 *mem);
u64 lst_drills_work_locked(struct lst *st, u64 now);	/* next deadline; @now 0: only that */

/* One less of what it waits for. */
void lst_slot_put_locked(struct lst_slot *slot);
/* Its request is lost from now on, whatever comes. */
void lst_slot_lost_locked(struct lst_slot *slot);

/* ---- rail.c ---------------------------------------------------------------------------------- */

struct lst_rail *lst_rail_of(struct lst_drill *drill, const struct lnet_nid *here,
			     const struct lnet_nid *there);
void lst_rail_time(struct lst_rail *rail, u64 ns);
/*
 * The rails to a peer are looked at, from now on their failures count; without the lock. False:
 * there is no place for more.
 */
bool lst_rails_meet(struct lst_drill *drill, const struct lnet_nid *peer);
/* The same at a server, soon: somebody asks it. */
void lst_rails_met_locked(struct lst_drill *drill, const struct lnet_nid *peer);
/* Another look at a rail as it is found; without the lock. */
struct lst_rail_look {
	struct lnet_nid here, there;
	struct lnet_rail_info info;
	bool gone;
};
void lst_rail_look(struct lst *st, struct lst_rail_look *look);
void lst_rail_looked_locked(struct lst_rail *rail, const struct lst_rail_look *look);
void lst_rails_encode(const struct lst_drill *drill, u8 *buf);	/* from LST_TALLY_RAILS on */
u32 lst_rails_decode(const u8 *buf, struct lst_rail rail[LST_RAILS_MAX]);	/* how many */

/* ---- offer.c: bulk memory of slots ----------------------------------------------------------- */

void lst_slots_free(struct lst_drill *drill);
int lst_slot_memory(struct lst_slot *slot);	/* 0, -ENOMEM; all of these three may sleep */
void lst_slot_fill(struct lst_slot *slot, u32 round);
int lst_offers_make(struct lst_slot *slot);	/* before anybody is told of them */
void lst_offers_unlink_run(struct lst_job *job);	/* of the slot */
/* What went out was fetched, the answer says so: these are left alone. */
void lst_offers_leave_locked(struct lst_slot *slot);

/* ---- haul.c: the server ---------------------------------------------------------------------- */

void lst_hauls_free(struct lst_drill *drill);
void lst_hauls_stop_locked(struct lst_drill *drill);	/* who waits is refused */

/* ---- what a node tells of a test: bytes that it puts ----------------------------------------- */

/*
 * The record; then as numbers of eight bytes, little endian: requests at one time, most of them,
 * requests served, bytes, first and last time of both flows, findings, offset, length and sequence
 * number of the first, its interfaces (20 bytes each), whom it was sent to (20 bytes, or any).
 * Then, at LST_TALLY_RAILS, eight bytes: how many rails, and these.
 */
#define LST_TALLY_NUMBERS	(13 * 8U)
#define LST_TALLY_RAILS		(LST_TALLY_WIRE + 256U)
#define LST_TALLY_BYTES		(LST_TALLY_RAILS + 8U + LST_RAILS_MAX * LST_RAIL_WIRE)

#endif
