/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bulk memory of a client's slots. The client allocates and fills the memory, offers it to the
 * server, and withdraws the offer.
 */
#include "drill.h"

/* ---- bulk memory ----------------------------------------------------------------------------- */

int lst_slot_memory(struct lst_slot *slot)
{
	const struct lst_plan *p = &slot->drill->plan;

	if (p->what != LST_WHAT_BULK || slot->offer)
		return 0;
	if (lst_plan_goes_out(p) && !slot->out.mem && lst_store_make(&slot->out, p))
		return -ENOMEM;
	if (lst_plan_comes_in(p) && !slot->in.mem && lst_store_make(&slot->in, p))
		return -ENOMEM;
	slot->offer = kcalloc(slot->drill->nr_offers, sizeof(slot->offer[0]), GFP_NOFS);
	return slot->offer ? 0 : -ENOMEM;
}

void lst_slots_free(struct lst_drill *drill)
{
	u32 i;

	for (i = 0; drill->slot && i < drill->nr_slots; i++) {
		lst_store_free(&drill->slot[i].out);
		lst_store_free(&drill->slot[i].in);
		kfree(drill->slot[i].offer);
	}
	kvfree(drill->slot);
	kvfree(drill->dest);
}

void lst_slot_fill(struct lst_slot *slot, u32 round)
{
	struct lst_drill *drill = slot->drill;
	u64 salt = lst_drill_salt(drill, drill->cookie, (u32)(slot - drill->slot), round, false);

	if (lst_plan_goes_out(&drill->plan))
		slot->crc = lst_verify_fill(&drill->verifier, &slot->out, salt);
	if (lst_plan_comes_in(&drill->plan))
		lst_verify_spoil(&drill->verifier, &slot->in);
}

static bool offer_is_inbound(const struct lst_slot *slot, u32 offer)
{
	const struct lst_plan *p = &slot->drill->plan;

	return !lst_plan_goes_out(p) || offer >= lst_plan_parts(p);
}

/* ---- offers ---------------------------------------------------------------------------------- */

static void on_offer(const struct lnet_event *ev);

static int offer_attach(struct lst_offer *offer, u64 bits, lnet_md_t *md)
{
	struct lst_slot *slot = offer->slot;
	bool in = offer_is_inbound(slot, offer->ix);
	const struct lst_store *store = in ? &slot->in : &slot->out;
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .threshold = 1, .cpt = -1, .user_ptr = offer,
				   .options = in ? LNET_MD_OP_PUT : LNET_MD_OP_GET,
				   .handler = on_offer };
	struct lnet *ln = slot->drill->st->ln;
	lnet_me_t me;
	int rc;

	cfg.frags = lst_store_part(store, offer->ix % store->nr_parts, &cfg.nr_frags);
	rc = lnet_me_attach(ln, LST_PORTAL_RDMA, &any, bits, 0, LNET_UNLINK, LNET_INS_AFTER, &me);
	return rc ? rc : lnet_md_attach(ln, me, &cfg, LNET_UNLINK, md);
}

static void offer_end_locked(struct lst_offer *offer)
{
	struct lst_drill *drill = offer->slot->drill;

	if (!offer->alone)
		offer->slot->offer[offer->ix] = NULL;
	kfree(offer);
	lst_session_put_locked(drill->st, drill->test->session);
}

static int offer_make(struct lst_slot *slot, u32 ix)
{
	struct lst_offer *offer = kzalloc(sizeof(*offer), GFP_NOFS);
	struct lst *st = slot->drill->st;
	lnet_md_t md = { 0 };
	int rc;

	if (!offer)
		return -ENOMEM;
	offer->slot = slot;
	offer->ix = ix;
	offer->counts = slot->round > slot->drill->plan.warmup;
	spin_lock(&st->lock);
	slot->offer[ix] = offer;
	slot->nr_open++;
	slot->drill->test->session->nr_running++;
	spin_unlock(&st->lock);
	rc = offer_attach(offer, slot->bulkid + ix, &md);
	spin_lock(&st->lock);
	if (rc) {
		offer_end_locked(offer);
		slot->nr_open--;
	} else if (slot->offer[ix]) {
		offer->md = md;
	}
	spin_unlock(&st->lock);
	return rc;
}

int lst_offers_make(struct lst_slot *slot)
{
	u32 i;
	int rc = 0;

	for (i = 0; i < slot->drill->nr_offers && !rc; i++)
		rc = offer_make(slot, i);
	return rc;
}

static u32 len_of(const struct lst_slot *slot, u32 offer)
{
	const struct lst_store *store = offer_is_inbound(slot, offer) ? &slot->in : &slot->out;

	return min(LNET_MTU, store->len - offer % store->nr_parts * LNET_MTU);
}

static void offer_moved_locked(struct lst_slot *slot, const struct lst_offer *offer,
			       const struct lnet_event *ev)
{
	bool in = ev->kind == LNET_EVENT_PUT;
	struct lst_rail *rail;

	slot->drill->st->c[in ? LST_C_bulk_get : LST_C_bulk_put] += ev->mlength;
	if (offer->counts) {
		rail = lst_rail_of(slot->drill, &ev->target.nid, &ev->source);
		*(in ? &rail->bytes_in : &rail->bytes_out) += ev->mlength;
	}
	if (offer->alone)
		return;
	slot->spoilt |= ev->mlength != len_of(slot, offer->ix);
	if (!in)
		return;
	slot->rail_from = ev->source;
	slot->rail_to = ev->target.nid;
}

static void on_offer(const struct lnet_event *ev)
{
	struct lst_offer *offer = ev->user_ptr;
	struct lst_slot *slot = offer->slot;
	struct lst *st = slot->drill->st;
	bool alone;

	lst_enter(st);
	if (ev->kind != LNET_EVENT_UNLINK && !ev->status)
		offer_moved_locked(slot, offer, ev);
	else if (ev->status && !offer->alone && slot->begun && !slot->unlink)
		lst_slot_lost_locked(slot);
	alone = offer->alone;
	if (ev->unlinked)
		offer_end_locked(offer);
	if (ev->unlinked && !alone)
		lst_slot_put_locked(slot);
	spin_unlock(&st->lock);
	lst_run(st);
}

/* ---- the end --------------------------------------------------------------------------------- */

static lnet_md_t offer_md(const struct lst_slot *slot, u32 ix)
{
	struct lst *st = slot->drill->st;
	lnet_md_t md;

	spin_lock(&st->lock);
	md = slot->offer[ix] ? slot->offer[ix]->md : (lnet_md_t){ 0 };
	spin_unlock(&st->lock);
	return md;
}

void lst_offers_unlink_run(struct lst_job *job)
{
	struct lst_slot *slot = container_of(job, struct lst_slot, job);
	struct lst *st = slot->drill->st;
	lnet_md_t md;
	u32 i;

	for (i = 0; i < slot->drill->nr_offers; i++) {
		md = offer_md(slot, i);
		if (md.cookie)
			lnet_md_unlink(st->ln, md);
	}
	spin_lock(&st->lock);
	slot->unlinking = false;
	lst_slot_put_locked(slot);
	spin_unlock(&st->lock);
}

void lst_offers_leave_locked(struct lst_slot *slot)
{
	const struct lst_plan *p = &slot->drill->plan;
	u32 i, nr = lst_plan_goes_out(p) ? lst_plan_parts(p) : 0;

	for (i = 0; i < nr; i++) {
		if (!slot->offer[i])
			continue;
		slot->offer[i]->alone = true;
		slot->offer[i] = NULL;
		slot->nr_open--;
	}
}
