/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulated connections. The first sender dials, each end knows the connection by a generation, and
 * a reset ends it.
 */
#include "lnd/simlnd/simlnd.h"
#include "lnd/socklnd/sim.h"

#define DIAL_TRY_NS (200 * SIM_MS)	/* pause before a dial without response is repeated */
#define DIAL_PAUSE_NS (20 * SIM_MS)	/* after a rejection */

struct simlnd_ni *simlnd_ni_at(struct sim_world *w, u32 node, u32 rail)
{
	struct simlnd_ni *sn;

	if (node >= w->nr_nodes || rail >= w->nr_rails)
		return NULL;
	sn = w->node[node].ni[rail];
	return sn && !sn->stopped ? sn : NULL;
}

/* Returns the slot of @node, or the first free slot if @node has none. */
static struct simlnd_end **end_slot(const struct simlnd_ni *sn, u32 node)
{
	u32 mask = (1U << sn->slot_bits) - 1, at = node & mask;

	while (sn->slot[at] && sn->slot[at]->peer_node != node)
		at = (at + 1) & mask;
	return &sn->slot[at];
}

static struct simlnd_end *end_find(const struct simlnd_ni *sn, u32 node)
{
	return sn->slot ? *end_slot(sn, node) : NULL;
}

static void put_in(struct simlnd_ni *sn, struct simlnd_end *end)
{
	*end_slot(sn, end->peer_node) = end;
}

/* Grows the table if one more end would fill more than 3/4 of it. */
static int end_table_grow(struct simlnd_ni *sn)
{
	u32 bits = sn->slot ? sn->slot_bits + 1 : 4, i, nr = sn->slot ? 1U << sn->slot_bits : 0;
	struct simlnd_end **old = sn->slot, **slot;

	if (4 * (sn->nr_ends + 1) <= 3 * nr)
		return 0;
	slot = kcalloc(1UL << bits, sizeof(*slot), GFP_NOFS);
	if (!slot)
		return -ENOMEM;
	sn->slot = slot;
	sn->slot_bits = bits;
	for (i = 0; i < nr; i++)
		if (old[i])
			put_in(sn, old[i]);
	kfree(old);
	return 0;
}

struct simlnd_end *simlnd_end_find(struct simlnd_ni *sn, const struct lnet_nid *nid)
{
	u32 node, rail;

	return sim_nid_where(nid, &node, &rail) && rail == sn->rail ? end_find(sn, node) : NULL;
}

static struct simlnd_end *end_new(struct simlnd_ni *sn, const struct lnet_nid *nid, u32 node)
{
	struct simlnd_end *end = end_table_grow(sn) ? NULL : kzalloc(sizeof(*end), GFP_NOFS);

	if (!end)
		return NULL;
	end->pni = lnet_peer_ni_get(lnet_ni_instance(sn->ni), nid);
	if (!end->pni) {
		kfree(end);
		return NULL;
	}
	end->ni = sn;
	end->peer_node = node;
	INIT_LIST_HEAD(&end->queue);
	INIT_LIST_HEAD(&end->flight);
	INIT_LIST_HEAD(&end->in);
	INIT_LIST_HEAD(&end->busy);
	INIT_LIST_HEAD(&end->dirty);
	put_in(sn, end);
	sn->nr_ends++;
	return end;
}

struct simlnd_end *simlnd_end_make(struct simlnd_ni *sn, const struct lnet_nid *nid)
{
	struct simlnd_end *end;
	u32 node, rail;

	if (!sim_nid_where(nid, &node, &rail) || rail != sn->rail)
		return NULL;
	end = end_find(sn, node);
	return end ? end : end_new(sn, nid, node);
}

void simlnd_end_free(struct simlnd_end *end)
{
	list_del(&end->busy);
	list_del(&end->dirty);
	lnet_peer_ni_put(end->pni);
	kfree(end);
}

void simlnd_end_busy(struct simlnd_end *end)
{
	if (list_empty(&end->busy))
		list_add_tail(&end->busy, &end->ni->busy);
}

/* ---- events between ends --------------------------------------------------------------------- */

/* A control message between two ends: its sender, receiver, kind and generation. */
struct word {
	u32 from, to, rail;
	enum { WORD_SYN, WORD_ACCEPTED, WORD_REFUSED, WORD_RESET } what;
	u64 gen;
};

static void hear(struct sim_world *w, void *arg, u64 num);

static void say(struct sim_world *w, u32 from, u32 to, u32 rail, int what, u64 gen)
{
	struct word *word;
	struct simlnd_fate fate;

	simlnd_fate(w, rail, from, to, &fate);
	if (fate.lost)
		return;
	word = kmalloc(sizeof(*word), GFP_NOFS);
	if (!word)
		return;
	*word = (struct word){ .from = from, .to = to, .rail = rail, .what = what, .gen = gen };
	sim_at(w, w->now_ns + simlnd_latency(w) + fate.delay_ns, hear, word, 0);
}

void simlnd_send_reset(struct sim_world *w, u32 from, u32 to, u32 rail, u64 gen)
{
	say(w, from, to, rail, WORD_RESET, gen);
}

void simlnd_dial(struct simlnd_end *end)
{
	struct sim_world *w = end->ni->w;

	if (end->state != END_NONE || w->now_ns < end->retry_ns ||
	    (end->ni->node->link_down & 1U << end->ni->rail))
		return;
	end->state = END_DIALING;
	end->gen = ++w->generations;
	end->retry_ns = w->now_ns + DIAL_TRY_NS + 4 * w->latency_ns;
	say(w, end->ni->node->ix, end->peer_node, end->ni->rail, WORD_SYN, end->gen);
}

void simlnd_up(struct lnet_pass *p, struct simlnd_end *end, u64 gen)
{
	end->state = END_UP;
	end->gen = gen;
	end->epoch = ++end->ni->epochs;
	end->last_arrival_ns = 0;
	sim_trace(end->ni->w, end->ni->node->ix, gen);
	simlnd_pump(p, end);
}

/*
 * If both nodes dial each other, the dial of the lower node is accepted, and that of the higher
 * node is ignored.
 */
static bool crossing_refused(const struct simlnd_end *end, const struct word *word)
{
	return end->state == END_DIALING && end->ni->node->ix < word->from;
}

/*
 * Returns true if the dialer no longer waits for this dial, because the dialer has accepted another
 * dial meanwhile. Such a dial must not replace a connection.
 */
static bool is_given_up(struct sim_world *w, const struct word *word)
{
	struct simlnd_ni *sn = simlnd_ni_at(w, word->from, word->rail);
	const struct simlnd_end *dialer;
	struct lnet_nid nid;

	sim_nid(&nid, word->to, word->rail);
	dialer = sn ? simlnd_end_find(sn, &nid) : NULL;
	return !dialer || dialer->state != END_DIALING || dialer->gen != word->gen;
}

static void heard_syn(struct sim_world *w, struct lnet_pass *p, struct simlnd_ni *sn,
		      const struct word *word)
{
	struct simlnd_end *end;
	struct lnet_nid nid;

	sim_nid(&nid, word->from, word->rail);
	end = simlnd_end_make(sn, &nid);
	if (!end || crossing_refused(end, word) || is_given_up(w, word))
		return;
	if (end->state == END_UP)
		simlnd_close(p, end, LNET_PATH_LOST, false, true);
	simlnd_up(p, end, word->gen);
	say(w, word->to, word->from, word->rail, WORD_ACCEPTED, word->gen);
}

static void give_back_queue(struct lnet_pass *p, struct simlnd_end *end, enum lnet_outcome how)
{
	while (!list_empty(&end->queue)) {
		struct lnet_att *att = list_first_entry(&end->queue, struct lnet_att, link);

		list_del_init(&att->link);
		att->lnd[1] = NULL;
		lnet_att_done(p, att, how, 0);
	}
}

static void heard_answer(struct sim_world *w, struct lnet_pass *p, struct simlnd_end *end,
			 const struct word *word)
{
	if (word->what == WORD_RESET) {
		if (end->state == END_UP && end->gen == word->gen)
			simlnd_close(p, end, LNET_PATH_LOST, false, sim_chance(&w->rng, 500));
		return;
	}
	if (end->state != END_DIALING || end->gen != word->gen)
		return;
	if (word->what == WORD_ACCEPTED) {
		simlnd_up(p, end, word->gen);
		return;
	}
	end->state = END_NONE;
	end->retry_ns = w->now_ns + DIAL_PAUSE_NS;
	give_back_queue(p, end, LNET_REMOTE_DROPPED);
}

static void hear(struct sim_world *w, void *arg, u64 num)
{
	struct word *word = arg;
	struct simlnd_ni *sn = simlnd_ni_at(w, word->to, word->rail);
	struct simlnd_end *end;
	struct lnet_pass p;
	struct lnet_nid nid;

	(void)num;
	sim_trace(w, word->gen, word->what);
	if (!sn) {
		if (word->what == WORD_SYN)
			say(w, word->to, word->from, word->rail, WORD_REFUSED, word->gen);
		kfree(word);
		return;
	}
	lnet_pass_begin(&p, lnet_ni_instance(sn->ni), LNET_PASS_DRIVER);
	sim_nid(&nid, word->from, word->rail);
	end = simlnd_end_find(sn, &nid);
	if (word->what == WORD_SYN)
		heard_syn(w, &p, sn, word);
	else if (end)
		heard_answer(w, &p, end, word);
	lnet_pass_end(&p);
	kfree(word);
}

void simlnd_event_drop(sim_event_fn fn, void *arg)
{
	if (fn == hear)
		kfree(arg);
	else
		simlnd_msg_event_drop(fn, arg);
}

/* ---- the end of a connection ----------------------------------------------------------------- */

static void kick_event(struct sim_world *w, void *arg, u64 num)
{
	struct simlnd_ni *sn = simlnd_ni_at(w, num >> 8, num & 0xff);

	(void)arg;
	if (sn)
		simlnd_dial_waiting(sn);
}

void simlnd_close(struct lnet_pass *p, struct simlnd_end *end, enum lnet_outcome how, bool tell,
		  bool requeue)
{
	struct simlnd_ni *sn = end->ni;
	struct sim_world *w = sn->w;
	bool was_up = end->state == END_UP;
	struct simlnd_msg *m, *next;

	if (was_up && tell)
		say(w, sn->node->ix, end->peer_node, sn->rail, WORD_RESET, end->gen);
	end->state = END_NONE;
	end->retry_ns = 0;
	end->gen = 0;
	list_for_each_entry_safe(m, next, &end->flight, link)
		simlnd_complete(p, m, LNET_PATH_LOST, sim_chance(&w->rng, 500));
	if (!requeue)
		give_back_queue(p, end, sn->stopped ? LNET_LOCAL_ABORTED : LNET_REMOTE_DROPPED);
	simlnd_drop_in(p, end);
	if (was_up)
		lnet_path_lost(p, sn->ni, end->pni, end->epoch, how);
	lnet_pass_relax(p);
	if (!list_empty(&end->queue))
		sim_at(w, w->now_ns + SIM_US, kick_event, NULL, (u64)sn->node->ix << 8 | sn->rail);
}

void simlnd_reset_node(struct sim_world *w, u32 node, s32 rail, s32 peer)
{
	struct simlnd_end **slot;
	struct lnet_pass p;
	u32 r;

	simsock_reset_node(w, node, rail, peer);
	for (r = 0; r < w->nr_rails; r++) {
		struct simlnd_ni *sn = simlnd_ni_at(w, node, r);

		if (!sn || (rail >= 0 && (u32)rail != r))
			continue;
		lnet_pass_begin(&p, lnet_ni_instance(sn->ni), LNET_PASS_DRIVER);
		simlnd_for_each_end(sn, slot) {
			struct simlnd_end *end = *slot;

			if (end->state != END_UP || (peer >= 0 && (u32)peer != end->peer_node))
				continue;
			w->count.fault[SIM_RESET]++;
			simlnd_close(&p, end, LNET_PATH_LOST, true, sim_chance(&w->rng, 500));
		}
		lnet_pass_end(&p);
	}
}
