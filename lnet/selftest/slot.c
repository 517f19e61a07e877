/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client of a drill: each slot sends one request after another, and tracks its result. */
#include "drill.h"

#define HISTORY	64U			/* number of last rounds whose losses are recorded */

static void slot_send_run(struct lst_job *job);

/* ---- scheduling ------------------------------------------------------------------------------ */

static void slot_end_locked(struct lst_slot *slot)
{
	struct lst_test *test = slot->drill->test;

	slot->state = LST_SLOT_IDLE;
	if (!--test->nr_active)
		test->batch->nr_active--;
	lst_session_put_locked(slot->drill->st, test->session);
}

static bool counts(const struct lst_slot *slot)
{
	return slot->round > slot->drill->plan.warmup;
}

/*
 * Returns the number of requests that @slot sends in each run of the test. The requests to a server
 * are divided among its slots. If the division leaves a remainder, the first slots of each server
 * send one request more.
 */
static u64 nr_rounds(const struct lst_slot *slot)
{
	const struct lst_drill *drill = slot->drill;
	u32 part = (u32)(slot - drill->slot) / drill->nr_dests;

	return drill->plan.loop + (part < drill->rest) + drill->plan.warmup;
}

static bool is_enough(const struct lst_slot *slot, u64 now)
{
	const struct lst_plan *p = &slot->drill->plan;

	return slot->drill->test->batch->stopping || now >= slot->drill->end_ns ||
	       (p->loop && slot->round >= nr_rounds(slot));
}

/*
 * Returns the intended start of the next request. If the test has a rate, the slots take the start
 * times in turn.
 */
static u64 intended_ns(const struct lst_slot *slot, u64 now)
{
	const struct lst_drill *drill = slot->drill;
	u32 rate = (u32)drill->plan.rate;
	u64 nr = (u64)slot->round * drill->nr_slots + (u32)(slot - drill->slot);
	u32 rest;

	if (!rate)
		return now;
	nr = div_u64_rem(nr, rate, &rest);
	return drill->start_ns + nr * NSEC_PER_SEC + div_u64(rest * (u64)NSEC_PER_SEC, rate);
}

static void wait_locked(struct lst_slot *slot, u64 until)
{
	struct list_head *at = slot->drill->waiting.prev;

	slot->state = LST_SLOT_WAIT;
	slot->deadline_ns = until;
	while (at != &slot->drill->waiting &&
	       list_entry(at, struct lst_slot, link)->deadline_ns > until)
		at = at->prev;
	list_add(&slot->link, at);
}

static void go_locked(struct lst_slot *slot)
{
	slot->state = LST_SLOT_SEND;
	lst_queue_locked(slot->drill->st, &slot->job, slot_send_run);
}

/*
 * Schedules the next request. After a failure the slot pauses, to limit the rate of requests to an
 * unreachable server.
 */
static void slot_next_locked(struct lst_slot *slot, bool failed)
{
	u64 now = lst_now(slot->drill->st), until;

	if (is_enough(slot, now) || (failed && slot->drill->plan.stop_onerr)) {
		slot_end_locked(slot);
		return;
	}
	slot->due_ns = intended_ns(slot, now);
	until = max(slot->due_ns, failed ? now + LST_PAUSE_NS : 0);
	if (until >= slot->drill->end_ns)
		slot_end_locked(slot);
	else if (until > now)
		wait_locked(slot, until);
	else
		go_locked(slot);
}

/* ---- the end of a request -------------------------------------------------------------------- */

static void decided_locked(struct lst_slot *slot)
{
	slot->begun = false;
	list_del_init(&slot->link);
	list_del_init(&slot->of_dest);
	slot->drill->nr_asked--;
}

/* Counts an error in stock's counters. These exist once per session, for all tests. */
static void slot_error_locked(const struct lst_slot *slot)
{
	struct lst_session *s = slot->drill->test->session;

	if (slot->drill->plan.what == LST_WHAT_PING)
		s->ping_errors++;
	else
		s->brw_errors++;
}

static bool is_refused(const struct lst_drill_rpy *rpy)
{
	return rpy->status && rpy->status != EBADMSG;
}

/* Counts for the test, and for the destination if it has a tally. */
static void slot_count(struct lst_slot *slot, enum lst_tally_count what, u64 nr)
{
	slot->drill->tally.c[what] += nr;
	if (slot->dest->tally)
		slot->dest->tally->c[what] += nr;
}

static void under_way(struct lst_slot *slot, enum lst_tally_count what)
{
	slot->drill->tally.c[LST_T_under_way]--;
	if (slot->dest->tally)
		slot->dest->tally->c[LST_T_under_way]--;
	slot_count(slot, what, 1);
}

static void window(struct lst_slot *slot, u64 now)
{
	struct lst_tally *t[] = { &slot->drill->tally, slot->dest->tally };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t) && t[i]; i++) {
		if (!t[i]->first_ns)
			t[i]->first_ns = now;
		t[i]->last_ns = max(t[i]->last_ns, now);
	}
}

static void time_locked(struct lst_slot *slot)
{
	struct lst_drill *drill = slot->drill;
	u64 ns = slot->over_ns - (drill->plan.rate ? slot->due_ns : slot->start_ns);

	lst_tally_time(&drill->tally, ns, &drill->self);
	if (slot->dest->tally)
		lst_tally_time(slot->dest->tally, ns, &drill->self);
	if (slot->rail)
		lst_rail_time(slot->rail, ns);
}

static void received_locked(struct lst_slot *slot, bool good)
{
	const struct lst_plan *p = &slot->drill->plan;

	if (!counts(slot))
		return;
	under_way(slot, LST_T_received);
	slot_count(slot, LST_T_corrupt, !good);
	slot_count(slot, LST_T_refused, is_refused(&slot->rpy));
	window(slot, slot->over_ns);
	time_locked(slot);
	if (is_refused(&slot->rpy))
		return;
	if (p->what == LST_WHAT_PING || lst_plan_goes_out(p))
		slot_count(slot, LST_T_bytes_out, p->size);
	if (p->what == LST_WHAT_PING || lst_plan_comes_in(p))
		slot_count(slot, LST_T_bytes_in, p->size);
}

/*
 * Checks reply and memory of a slot when both are complete. Call without the lock, because the
 * check reads the memory.
 */
static bool is_good(struct lst_slot *slot)
{
	struct lst_drill *drill = slot->drill;
	struct lst_bad bad;
	u64 salt;

	if (slot->rpy.status)
		return slot->rpy.status != EBADMSG;
	if (!lst_plan_comes_in(&drill->plan))
		return true;
	salt = lst_drill_salt(drill, drill->cookie, (u32)(slot - drill->slot), slot->round,
			      drill->plan.mode != LST_MODE_BACK);
	if (lst_verify_good(&drill->verifier, &slot->in, salt, slot->rpy.crc, &bad))
		return true;
	lst_drill_found(drill, &bad, slot->seq, &slot->rail_from, &slot->rail_to);
	return false;
}

static void over_run(struct lst_job *job)
{
	struct lst_slot *slot = container_of(job, struct lst_slot, job);
	struct lst *st = slot->drill->st;
	bool good = is_good(slot) && !slot->spoilt;

	spin_lock(&st->lock);
	if (!good || is_refused(&slot->rpy))
		slot_error_locked(slot);
	received_locked(slot, good);
	slot_next_locked(slot, is_refused(&slot->rpy) || !good);
	spin_unlock(&st->lock);
}

void lst_slot_put_locked(struct lst_slot *slot)
{
	if (--slot->nr_open)
		return;
	if (slot->failed) {
		slot_next_locked(slot, true);
		return;
	}
	decided_locked(slot);
	slot->state = LST_SLOT_OVER;
	slot->over_ns = lst_now(slot->drill->st);
	lst_queue_locked(slot->drill->st, &slot->job, over_run);
}

/*
 * Withdraws the offers of a slot. While the slot sends, the sending function withdraws them at its
 * end.
 */
static void slot_unlink_locked(struct lst_slot *slot)
{
	slot->unlink = true;
	if (slot->state == LST_SLOT_SEND || slot->unlinking || !slot->offer)
		return;
	slot->unlinking = true;
	slot->nr_open++;
	lst_queue_locked(slot->drill->st, &slot->job, lst_offers_unlink_run);
}

void lst_slot_lost_locked(struct lst_slot *slot)
{
	decided_locked(slot);
	slot->failed = true;
	slot->lost |= 1;
	if (!slot->drill->test->batch->stopping)
		slot_error_locked(slot);
	if (counts(slot)) {
		under_way(slot, LST_T_lost);
		window(slot, lst_now(slot->drill->st));
	}
	if (slot->state == LST_SLOT_ASKED)
		slot->state = LST_SLOT_LOST;
	slot_unlink_locked(slot);
	if (!slot->answered)
		lst_slot_put_locked(slot);
}

/* ---- replies --------------------------------------------------------------------------------- */

static struct lst_drill *drill_find(struct lst *st, u64 cookie)
{
	struct lst_drill *drill;

	list_for_each_entry(drill, &st->drills, link)
		if (drill->cookie == cookie)
			return drill;
	return NULL;
}

/* Counts an unexpected reply. The reply is late if its request was aborted, else a duplicate. */
static void stranger_locked(struct lst_slot *slot, u32 round)
{
	u32 age = slot->round - round;
	bool late = age >= HISTORY || slot->lost >> age & 1;

	if (!round || round > slot->round || round <= slot->drill->plan.warmup)
		return;
	slot_count(slot, late ? LST_T_late : LST_T_duplicated, 1);
	if (age < HISTORY)
		slot->lost &= ~(1ULL << age);
}

static bool is_echo(struct lst_slot *slot, const struct lst_drill_rpy *rpy, u8 *mem, u32 len)
{
	const struct lst_drill *drill = slot->drill;
	u64 salt = lst_drill_salt(drill, drill->cookie, (u32)(slot - drill->slot), slot->round,
				  false);
	struct lnet_frag frag;
	struct lst_store store;
	struct lst_bad bad;

	if (rpy->seq != slot->seq || rpy->stamp != slot->start_ns)
		return false;
	if (drill->plan.what != LST_WHAT_PING || rpy->status)
		return true;
	if (len != drill->plan.size)
		return false;
	store = lst_ping_store(&frag, mem, len);
	return lst_verify_good(&drill->verifier, &store, salt, slot->crc, &bad);
}

void lst_drill_answer_locked(struct lst *st, const struct lnet_event *ev,
			     const struct lst_msg *msg, u8 *mem)
{
	const struct lst_drill_rpy *rpy = &msg->drill_rpy;
	struct lst_drill *drill = drill_find(st, ev->match_bits);
	struct lst_slot *slot;

	if (!drill || rpy->slot >= drill->nr_slots) {
		st->c[LST_C_rpc_errors]++;
		return;
	}
	slot = &drill->slot[rpy->slot];
	if (!slot->begun || rpy->round != slot->round || slot->answered) {
		stranger_locked(slot, rpy->round);
		return;
	}
	if (counts(slot) && list_first_entry(&slot->dest->asked, struct lst_slot, of_dest) != slot)
		slot_count(slot, LST_T_reordered, 1);
	list_del_init(&slot->of_dest);
	slot->answered = true;
	slot->rpy = *rpy;
	slot->rail = lst_rail_of(drill, &ev->target.nid, &ev->source);
	if (drill->plan.what == LST_WHAT_PING && counts(slot)) {
		slot->rail->bytes_out += drill->plan.size;
		slot->rail->bytes_in += drill->plan.size;
	}
	slot->spoilt |= !is_echo(slot, rpy, mem, ev->mlength);
	if (rpy->status)
		/*
		 * the reply reports an error, so the server does not access the memory of this
		 * request any more
		 */
		slot_unlink_locked(slot);
	else
		lst_offers_leave_locked(slot);
	lst_slot_put_locked(slot);
}

/* ---- sending --------------------------------------------------------------------------------- */

struct letter {
	struct lst *st;
	u64 cookie;
	u32 slot, round;
	u8 buf[];
};

/* Frees the message. LNet may release the message long after the end of the request. */
static void on_letter_sent(const struct lnet_event *ev)
{
	struct letter *letter = ev->user_ptr;
	struct lst *st = letter->st;
	struct lst_drill *drill;

	lst_enter(st);
	drill = ev->status ? drill_find(st, letter->cookie) : NULL;
	if (drill) {
		struct lst_slot *slot = &drill->slot[letter->slot];

		if (slot->begun && slot->round == letter->round && !slot->answered)
			lst_slot_lost_locked(slot);
	}
	if (ev->unlinked) {
		kfree(letter);
		st->nr_outs--;
	}
	spin_unlock(&st->lock);
	lst_run(st);
}

static struct letter *letter_new(struct lst_slot *slot, u32 len)
{
	struct lst_drill *drill = slot->drill;
	struct letter *letter = kzalloc(sizeof(*letter) + max(len, LST_MSG_SIZE), GFP_NOFS);

	if (!letter)
		return NULL;
	*letter = (struct letter){ drill->st, drill->cookie, (u32)(slot - drill->slot),
				   slot->round };
	return letter;
}

static void letter_write(struct lst_slot *slot, u8 *buf, u32 len)
{
	const struct lst_drill *drill = slot->drill;
	u32 ix = (u32)(slot - drill->slot);
	struct lnet_frag frag;
	struct lst_store store;
	struct lst_msg req = { .type = LST_DRILL_REQ, .version = LST_VERSION,
			       .feats = drill->test->session->feats };

	if (drill->plan.what == LST_WHAT_PING) {
		store = lst_ping_store(&frag, buf, len);
		slot->crc = lst_verify_fill(&drill->verifier, &store,
					    lst_drill_salt(drill, drill->cookie, ix, slot->round,
							   false));
	}
	req.drill_req = (struct lst_drill_req){ .rpyid = drill->cookie, .seq = slot->seq,
						.stamp = slot->start_ns, .bulkid = slot->bulkid,
						.tag = (u32)drill->plan.tag, .slot = ix,
						.round = slot->round, .size = len,
						.crc = slot->crc };
	lst_msg_encode(buf, &req);
}

static int slot_send(struct lst_slot *slot)
{
	const struct lst_plan *p = &slot->drill->plan;
	struct lst *st = slot->drill->st;
	u32 len = p->what == LST_WHAT_PING ? (u32)p->size : LST_MSG_SIZE;
	struct letter *letter = letter_new(slot, len);
	struct lnet_md_cfg cfg = { .start = letter ? letter->buf : NULL, .length = len,
				   .threshold = 1, .cpt = -1, .user_ptr = letter,
				   .handler = on_letter_sent };
	struct lnet_xfer x;
	int rc;

	if (!letter)
		return -ENOMEM;
	letter_write(slot, letter->buf, len);
	lnet_xfer_init(&x);
	rc = lnet_md_bind(st->ln, &cfg, LNET_UNLINK, &x.md);
	if (rc) {
		kfree(letter);
		return rc;
	}
	spin_lock(&st->lock);
	st->nr_outs++;
	spin_unlock(&st->lock);
	x.target = slot->dest->id;
	x.portal = LST_PORTAL_DRILL;
	x.match_bits = LST_SERVICE_DRILL;
	x.flags = LNET_MORE;
	rc = lnet_put(st->ln, &x);
	if (rc)
		lnet_md_unlink(st->ln, x.md);
	return rc;
}

/* ---- a request ------------------------------------------------------------------------------- */

static void slot_begin_locked(struct lst_slot *slot, u64 now)
{
	struct lst_drill *drill = slot->drill;

	slot->round++;
	slot->lost <<= 1;
	slot->begun = true;
	slot->rail = NULL;
	slot->answered = slot->failed = slot->spoilt = slot->unlink = slot->unlinking = false;
	slot->nr_open = 2;		/* the sender, the reply */
	slot->seq = ++slot->dest->seq;
	slot->start_ns = now;
	slot->deadline_ns = now + drill->plan.timeout;
	if (drill->nr_offers)	/* the first of nr_offers */
		slot->bulkid = lst_id_draw(drill->st);
	list_add_tail(&slot->link, &drill->asked);
	list_add_tail(&slot->of_dest, &slot->dest->asked);
	drill->max_asked = max(drill->max_asked, ++drill->nr_asked);
	if (!counts(slot))
		return;
	slot_count(slot, LST_T_sent, 1);
	slot_count(slot, LST_T_under_way, 1);
	window(slot, now);
}

static void sent_locked(struct lst_slot *slot, int rc)
{
	slot->state = slot->begun ? LST_SLOT_ASKED : LST_SLOT_LOST;
	if (rc && slot->begun)
		lst_slot_lost_locked(slot);
	else if (slot->unlink)
		slot_unlink_locked(slot);
	lst_slot_put_locked(slot);
}

static void slot_send_run(struct lst_job *job)
{
	struct lst_slot *slot = container_of(job, struct lst_slot, job);
	struct lst *st = slot->drill->st;
	int rc = lst_slot_memory(slot);
	u64 now;

	if (!rc && slot->offer)
		lst_slot_fill(slot, slot->round + 1);
	spin_lock(&st->lock);
	now = lst_now(st);
	if (rc || is_enough(slot, now)) {
		slot_next_locked(slot, rc);
		spin_unlock(&st->lock);
		return;
	}
	slot_begin_locked(slot, now);
	spin_unlock(&st->lock);
	rc = lst_offers_make(slot);
	if (!rc)
		rc = slot_send(slot);
	spin_lock(&st->lock);
	sent_locked(slot, rc);
	spin_unlock(&st->lock);
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Begins a run: checks the rails before the first request. */
static void drill_begin_run(struct lst_job *job)
{
	struct lst_drill *drill = container_of(job, struct lst_drill, job);
	struct lst *st = drill->st;
	bool room = true;
	u32 i;

	for (i = 0; i < drill->nr_dests && room; i++)
		room = lst_rails_meet(drill, &drill->dest[i].id.nid);
	spin_lock(&st->lock);
	drill->start_ns = lst_now(st);
	drill->end_ns = drill->plan.time ? drill->start_ns + drill->plan.time : U64_MAX;
	for (i = 0; i < drill->nr_slots; i++)
		slot_next_locked(&drill->slot[i], false);
	lst_session_put_locked(st, drill->test->session);
	spin_unlock(&st->lock);
}

void lst_drill_run_locked(struct lst_drill *drill)
{
	struct lst_test *test = drill->test;
	struct lst *st = drill->st;
	u32 i;

	if (!drill->nr_slots)
		return;
	test->batch->nr_active++;
	test->nr_active = drill->nr_slots;
	test->session->nr_running += drill->nr_slots + 1;
	lst_tally_init(&drill->tally);
	drill->tally.nr_nodes = 1;
	drill->finding = (struct lst_finding){ 0 };
	drill->max_asked = 0;
	drill->cookie = lst_id_draw(st);
	drill->nr_rails = 0;
	for (i = 0; i < drill->nr_dests; i++) {
		drill->dest[i].seq = 0;
		if (!drill->dest[i].tally)
			continue;
		lst_tally_init(drill->dest[i].tally);
		drill->dest[i].tally->nr_nodes = 1;
	}
	for (i = 0; i < drill->nr_slots; i++) {
		drill->slot[i].round = 0;
		drill->slot[i].lost = 0;
	}
	lst_queue_locked(st, &drill->job, drill_begin_run);
}

void lst_drill_stop_locked(struct lst_drill *drill, bool force)
{
	u32 i;

	lst_hauls_stop_locked(drill);
	for (i = 0; i < drill->nr_slots; i++) {
		struct lst_slot *slot = &drill->slot[i];

		if (slot->state == LST_SLOT_WAIT) {
			list_del_init(&slot->link);
			slot_end_locked(slot);
		} else if (slot->begun && force) {
			lst_slot_lost_locked(slot);
		}
	}
}

static u64 drill_work_locked(struct lst_drill *drill, u64 now)
{
	struct lst_slot *slot;
	u64 next = U64_MAX;

	while (!list_empty(&drill->waiting)) {
		slot = list_first_entry(&drill->waiting, struct lst_slot, link);
		next = slot->deadline_ns;
		if (next > now)
			break;
		list_del_init(&slot->link);
		go_locked(slot);
		next = U64_MAX;
	}
	while (!list_empty(&drill->asked)) {
		slot = list_first_entry(&drill->asked, struct lst_slot, link);
		if (slot->deadline_ns > now)
			return min(next, slot->deadline_ns);
		lst_slot_lost_locked(slot);
	}
	return next;
}

u64 lst_drills_work_locked(struct lst *st, u64 now)
{
	struct lst_drill *drill;
	u64 next = U64_MAX;

	list_for_each_entry(drill, &st->drills, link)
		next = min(next, drill_work_locked(drill, now));
	return next;
}
