/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages on simulated links: hands them to the link, carries, receives and completes them. */
#include "lnd/simlnd/simlnd.h"
#include "lnet/model/model.h"

/*
 * In ns. The link accepts a message if it can send the message within this time. Otherwise the
 * message stays unsent in the queue of its end.
 */
#define TX_AHEAD_NS (2 * SIM_MS)
#define HDR_BYTES 96U
#define TELL_AFTER 64U		/* messages */

static void arrive_event(struct sim_world *w, void *arg, u64 num);
static void landing_event(struct sim_world *w, void *arg, u64 num);

/* ---- payload --------------------------------------------------------------------------------- */

static u8 *copy_att(const struct lnet_att *att, u8 *data, u32 len)
{
	struct lnet_buf buf;

	if (!data)
		data = kvmalloc(len ? len : 1, GFP_NOFS);
	if (!data)
		BUG();
	lnet_att_payload(att, &buf);
	lnet_buf_read(&buf, 0, data, len);
	return data;
}

static void take_copy(struct simlnd_msg *m, const struct lnet_att *att)
{
	m->data = copy_att(att, m->len <= SIMLND_FEW ? m->few : NULL, m->len);
}

static u64 hash_att(const struct lnet_att *att, u32 *len)
{
	struct lnet_frag frag;
	struct lnet_buf buf;
	u64 hash;
	u8 *data;

	lnet_att_payload(att, &buf);
	*len = buf.len;
	if (!buf.len)
		return lnet_hash_bytes(NULL, 0, 0);
	if (lnet_buf_frags(&buf, 0, buf.len, &frag, 1) == 1 && frag.len == buf.len)
		return lnet_hash_bytes(frag.base, frag.len, 0);
	data = copy_att(att, NULL, buf.len);
	hash = lnet_hash_bytes(data, buf.len, 0);
	kvfree(data);
	return hash;
}

/* ---- life of a message ----------------------------------------------------------------------- */

void simlnd_msg_put(struct simlnd_msg *m)
{
	if (m->events || m->att || m->rx)
		return;
	if (m->data != m->few)
		kvfree(m->data);
	kfree(m);
}

void simlnd_msg_event_drop(sim_event_fn fn, void *arg)
{
	struct simlnd_msg *m = arg;

	if (fn != arrive_event && fn != landing_event && fn != simlnd_ack_event)
		return;
	m->events--;
	simlnd_msg_put(m);
}

/*
 * Completes the attempt of @m. With @keep, the network had all bytes of @m when the attempt ended,
 * so the message still arrives. The sender may now change its memory, so the driver copies the
 * payload first.
 */
void simlnd_complete(struct lnet_pass *p, struct simlnd_msg *m, enum lnet_outcome how, bool keep)
{
	struct lnet_att *att = m->att;

	if (!m->arrived && keep && !m->data)
		take_copy(m, att);
	if (!m->data && !m->arrived)
		m->lost = true;
	m->att = NULL;
	m->from = NULL;
	list_del_init(&m->link);
	att->lnd[0] = NULL;
	lnet_att_done(p, att, how, 0);
	simlnd_msg_put(m);
}

static struct simlnd_msg *msg_new(struct simlnd_end *end, const struct lnet_att *att)
{
	struct simlnd_msg *m = kmalloc(sizeof(*m), GFP_NOFS);

	if (!m)
		BUG();
	memset(m, 0, offsetof(struct simlnd_msg, few));
	INIT_LIST_HEAD(&m->link);
	INIT_LIST_HEAD(&m->in);
	lnet_att_hdr(att, &m->hdr);
	m->src_node = end->ni->node->ix;
	m->dst_node = end->peer_node;
	m->rail = end->ni->rail;
	m->gen = end->gen;
	m->hash = hash_att(att, &m->len);
	return m;
}

/* ---- sending --------------------------------------------------------------------------------- */

/*
 * Returns true if the link may deliver the message @hdr twice. An untracked request must not be
 * received twice. A tracked request may, except in a run that drops windows early (!w->may_double).
 *
 * In such a run, the target may reject a request for lack of a window. The initiator may retry this
 * request with a new request ID, which the target does not recognize as a duplicate. If a
 * connection also repeated the first transmission, the target might execute the request twice.
 */
static bool may_double(const struct sim_world *w, const struct lnet_hdr *hdr)
{
	if (hdr->type == LNET_MSG_PUT || hdr->type == LNET_MSG_GET)
		if (!w->may_double)
			return false;
	if (hdr->type == LNET_MSG_PUT)
		return hdr->msg.put.ptl_index >= LNET_PORTAL_TRACKED;
	return hdr->type != LNET_MSG_GET || hdr->msg.get.ptl_index >= LNET_PORTAL_TRACKED ||
	       !hdr->msg.get.ptl_index;
}

/*
 * Returns true for a reply to a request of a program. The reply to a request of the core gets a
 * small buffer, and no reply cache entry.
 */
static bool is_muted(struct sim_world *w, const struct simlnd_msg *m, const struct lnet_op *op)
{
	if ((m->hdr.type != LNET_MSG_ACK && m->hdr.type != LNET_MSG_REPLY) ||
	    !simlnd_roll(w, SIM_MUTE, m->rail, m->src_node, m->dst_node))
		return false;
	return op->type == LNET_OP_ACK || op->entry || !op->sbuf;
}

static void fly(struct simlnd_end *end, struct simlnd_msg *m, const struct simlnd_fate *fate,
		u64 sent_ns)
{
	struct sim_world *w = end->ni->w;
	u64 when = sent_ns + simlnd_latency(w) + fate->delay_ns;

	if (!fate->unordered) {
		when = max(when, end->last_arrival_ns);
		end->last_arrival_ns = when;
	}
	m->events++;
	sim_at(w, when, arrive_event, m, 0);
}

static void double_msg(struct simlnd_end *end, const struct simlnd_msg *m,
		       const struct lnet_att *att)
{
	struct sim_world *w = end->ni->w;
	struct simlnd_fate again = { .delay_ns = sim_below(&w->rng, 20 * SIM_MS),
				     .unordered = true };
	struct simlnd_msg *copy = kmalloc(sizeof(*copy), GFP_NOFS);

	if (!copy)
		BUG();
	*copy = *m;
	INIT_LIST_HEAD(&copy->link);
	INIT_LIST_HEAD(&copy->in);
	copy->att = NULL;
	copy->from = NULL;
	copy->events = 0;
	take_copy(copy, att);
	fly(end, copy, &again, w->now_ns);
}

static void sim_msg_print(struct sim_world *w, const char *what, const struct simlnd_msg *m)
{
	static const char *const types[] = { "ACK", "PUT", "GET", "REPLY" };
	/*
	 * the headers of all four types begin with the wire handle, so this handle is that of any
	 * type
	 */
	const struct lnet_handle *h = &m->hdr.msg.ack.dst_wmd;
	u64 bits = m->hdr.type == LNET_MSG_PUT ? m->hdr.msg.put.match_bits :
		   m->hdr.type == LNET_MSG_GET ? m->hdr.msg.get.match_bits : 0;

	if (w->verbose < 2)
		return;
	sim_say(w, "%s %s %u -> %u rail %u bits %llx handle %llx:%llx of %u bytes, %s%x", what,
		types[m->hdr.type & 3], m->src_node, m->dst_node, m->rail, (unsigned long long)bits,
		(unsigned long long)h->cookie[0], (unsigned long long)h->cookie[1], m->len,
		m->hdr.type == LNET_MSG_ACK ? "mlength " : "portal ",
		m->hdr.type == LNET_MSG_ACK   ? m->hdr.msg.ack.mlength
		: m->hdr.type == LNET_MSG_PUT ? m->hdr.msg.put.ptl_index
					      : m->hdr.msg.get.ptl_index);
}

/*
 * Reports loss that this end of a link can detect. This end detects a cut only by a missing reply.
 */
static void tell_loss(struct simlnd_ni *sn, const struct simlnd_fate *fate, bool cut)
{
	sn->nr_sent++;
	sn->nr_lost += fate->lost && !cut;
	if (sn->nr_sent < TELL_AFTER)
		return;
	lnet_ni_loss(sn->ni, sn->nr_sent, sn->nr_lost);
	sn->nr_sent = sn->nr_lost = 0;
}

/* Hands the message to the link. After this, its delivery is unknown. */
static void sim_msg_send(struct lnet_pass *p, struct simlnd_end *end, struct lnet_att *att)
{
	struct simlnd_ni *sn = end->ni;
	struct sim_world *w = sn->w;
	struct simlnd_msg *m = msg_new(end, att);
	struct simlnd_fate fate;

	sn->tx_free_ns =
		max(sn->tx_free_ns, w->now_ns) + (u64)(m->len + HDR_BYTES) * 8000 /
		simlnd_rate(w, sn->rail, m->src_node, m->dst_node);
	simlnd_fate(w, sn->rail, m->src_node, m->dst_node, &fate);
	tell_loss(sn, &fate, simlnd_cut(w, sn->rail, m->src_node, m->dst_node));
	if (w->now_ns < w->faults_end_ns) {
		w->count.messages++;
		w->count.met += fate.met;
	}
	sim_trace(w, (u64)m->src_node << 32 | m->dst_node, m->hash ^ m->hdr.type);
	if (w->on_send)
		w->on_send(w, sn->node, &m->hdr, att->op->id_state == ID_DRAWN);
	m->lost = fate.lost || is_muted(w, m, att->op);
	sim_msg_print(w, m->lost ? "post (lost)" : "post", m);
	if (fate.dup && !fate.lost && may_double(w, &m->hdr))
		double_msg(end, m, att);
	if (m->len <= w->inline_max) {
		if (fate.lost) {
			kfree(m);
		} else {
			take_copy(m, att);
			fly(end, m, &fate, sn->tx_free_ns);
		}
		att->lnd[1] = NULL;
		lnet_att_done(p, att, LNET_OK, end->epoch);
		return;
	}
	m->att = att;
	m->from = end;
	list_add_tail(&m->link, &end->flight);
	simlnd_end_busy(end);
	att->lnd[0] = m;
	att->lnd[1] = NULL;
	lnet_att_posted(p, att, end->epoch);
	if (!fate.lost)
		fly(end, m, &fate, sn->tx_free_ns);
	simlnd_tick_by(sn, att->deadline_ns);
}

static void pump_event(struct sim_world *w, void *arg, u64 num)
{
	struct simlnd_ni *sn = simlnd_ni_at(w, num >> 8, num & 0xff);
	struct simlnd_end *end;
	struct lnet_pass p;

	(void)arg;
	if (!sn)
		return;
	lnet_pass_begin(&p, lnet_ni_instance(sn->ni), LNET_PASS_DRIVER);
	list_for_each_entry(end, &sn->busy, busy) {
		if (!end->pumping)
			continue;
		end->pumping = false;
		simlnd_pump(&p, end);
	}
	lnet_pass_end(&p);
}

void simlnd_pump(struct lnet_pass *p, struct simlnd_end *end)
{
	struct simlnd_ni *sn = end->ni;
	struct sim_world *w = sn->w;

	if (end->state == END_NONE)
		simlnd_dial(end);
	while (end->state == END_UP && !list_empty(&end->queue)) {
		struct lnet_att *att = list_first_entry(&end->queue, struct lnet_att, link);

		if (sn->tx_free_ns > w->now_ns + TX_AHEAD_NS) {
			if (!end->pumping)
				sim_at(w, sn->tx_free_ns - TX_AHEAD_NS / 2, pump_event, NULL,
				       (u64)sn->node->ix << 8 | sn->rail);
			end->pumping = true;
			break;
		}
		list_del_init(&att->link);
		sim_msg_send(p, end, att);
	}
	simlnd_wait(end);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/*
 * Reads the payload when the message arrives. Returns false if the bytes have changed since the
 * message was posted.
 */
static bool take_data(struct sim_world *w, struct simlnd_msg *m)
{
	if (!m->data)
		take_copy(m, m->att);
	m->arrived = true;
	if (lnet_hash_bytes(m->data, m->len, 0) == m->hash)
		return true;
	sim_fail(w,
		 "message type %u from node %u to %u of %u bytes: memory changed between posting "
		 "and delivery",
		 m->hdr.type, m->src_node, m->dst_node, m->len);
	return false;
}

static void consumed(struct simlnd_msg *m)
{
	m->rx = NULL;
	m->to = NULL;
	m->place = CONSUMED;
	list_del_init(&m->in);
}

static void sim_payload_received(struct lnet_pass *p, struct simlnd_msg *m, enum lnet_outcome how)
{
	struct lnet_rx *rx = m->rx;

	consumed(m);
	lnet_pass_relax(p);
	lnet_rx_done(p, rx, how);
}

static void write_part(struct simlnd_msg *m, u32 from, u32 to)
{
	lnet_buf_write(&m->rx->into, from, m->data + from, to - from);
}

/*
 * Receives a payload. A large payload, or one that a fault selects, is received in two pieces with
 * time between them.
 */
static void sim_payload_receive(struct lnet_pass *p, struct simlnd_msg *m)
{
	struct sim_world *w = m->to->ni->w;
	u32 want = m->rx->want;
	bool split = want > w->inline_max ||
		     simlnd_roll(w, SIM_SHORT, m->rail, m->src_node, m->dst_node);

	m->place = LANDING;
	lnet_pass_relax(p);
	if (!split || want < 2) {
		write_part(m, 0, want);
		sim_payload_received(p, m, LNET_OK);
		return;
	}
	write_part(m, 0, want / 2);
	m->events++;
	sim_at(w, w->now_ns + 1 + sim_below(&w->rng, 2 * SIM_MS), landing_event, m, 0);
}

static void landing_event(struct sim_world *w, void *arg, u64 num)
{
	struct simlnd_msg *m = arg;
	struct lnet_pass p;

	(void)num;
	if (m->place == LANDING) {
		struct simlnd_end *end = m->to;

		lnet_pass_begin(&p, lnet_ni_instance(end->ni->ni), LNET_PASS_DRIVER);
		if (m->stop) {
			write_part(m, m->rx->want / 2, m->rx->want);
			sim_payload_received(&p, m, LNET_STOPPED);
		} else if (simlnd_roll(w, SIM_BREAK, m->rail, m->src_node, m->dst_node)) {
			simlnd_close(&p, end, LNET_PATH_LOST, true, true);
		} else {
			write_part(m, m->rx->want / 2, m->rx->want);
			sim_payload_received(&p, m, LNET_OK);
		}
		lnet_pass_end(&p);
	}
	m->events--;
	simlnd_msg_put(m);
}

static void give_to_core(struct lnet_pass *p, struct simlnd_end *end, struct simlnd_msg *m)
{
	struct lnet_rx *rx = lnet_rx_get(p);

	if (!rx)
		return;
	m->rx = rx;
	m->to = end;
	m->place = HELD;
	rx->lnd[0] = m;
	list_add_tail(&m->in, &end->in);
	switch (lnet_rx_begin(p, end->ni->ni, rx, &m->hdr, end->pni)) {
	case LNET_RECEIVE:
		sim_payload_receive(p, m);
		break;
	case LNET_LATER:
		break;
	case LNET_SKIP:
		consumed(m);
		break;
	case LNET_CLOSE:
		consumed(m);
		lnet_pass_relax(p);
		simlnd_close(p, end, LNET_REMOTE_ERROR, true, true);
		break;
	}
}

/* The remote network stack acknowledges the bytes of a message. */
void simlnd_ack_event(struct sim_world *w, void *arg, u64 num)
{
	struct simlnd_msg *m = arg;
	struct lnet_pass p;

	(void)num;
	if (m->att && !simlnd_cut(w, m->rail, m->dst_node, m->src_node)) {
		struct simlnd_end *end = m->from;

		lnet_pass_begin(&p, lnet_ni_instance(end->ni->ni), LNET_PASS_DRIVER);
		lnet_path_liveness(&p, end->ni->ni, end->pni, 0);
		simlnd_complete(&p, m, LNET_ACKNOWLEDGED, false);
		lnet_pass_end(&p);
	}
	m->events--;
	simlnd_msg_put(m);
}

static void arrive(struct sim_world *w, struct simlnd_msg *m)
{
	struct simlnd_ni *sn = simlnd_ni_at(w, m->dst_node, m->rail);
	struct simlnd_end *end;
	struct lnet_pass p;
	struct lnet_nid nid;

	sim_nid(&nid, m->src_node, m->rail);
	end = sn ? simlnd_end_find(sn, &nid) : NULL;
	sim_trace(w, m->gen, m->hash);
	if (m->lost)
		return;
	if (!end || end->state == END_NONE || end->gen != m->gen) {
		simlnd_send_reset(w, m->dst_node, m->src_node, m->rail, m->gen);
		return;
	}
	if (!take_data(w, m))
		return;
	sim_msg_print(w, "arrives", m);
	lnet_pass_begin(&p, lnet_ni_instance(sn->ni), LNET_PASS_DRIVER);
	/*
	 * The message overtook WORD_ACCEPTED, because each of them has a separate delay. On a TCP
	 * stream, WORD_ACCEPTED would arrive first. So the message also opens the end.
	 */
	if (end->state == END_DIALING)
		simlnd_up(&p, end, m->gen);
	give_to_core(&p, end, m);
	lnet_pass_end(&p);
}

static void arrive_event(struct sim_world *w, void *arg, u64 num)
{
	struct simlnd_msg *m = arg;

	(void)num;
	arrive(w, m);
	if (m->att && m->arrived) {
		m->events++;
		sim_at(w, w->now_ns + simlnd_latency(w), simlnd_ack_event, m, 0);
	}
	m->events--;
	simlnd_msg_put(m);
}

void simlnd_receive(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
	struct simlnd_msg *m = rx->lnd[0];

	if (rx->verdict == LNET_RECEIVE) {
		if (m->gone)
			sim_payload_received(p, m, LNET_PATH_LOST);
		else
			sim_payload_receive(p, m);
		lnet_pass_relax(p);
	} else {
		consumed(m);
	}
	simlnd_msg_put(m);
}

void simlnd_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
	struct simlnd_msg *m = rx->lnd[0];

	if (m->place != LANDING)
		return;
	/* The driver may not stop at once: a copying thread or a network card may still write. */
	if (sim_chance(&m->to->ni->w->rng, 500)) {
		m->stop = true;
		return;
	}
	sim_payload_received(p, m, LNET_STOPPED);
	lnet_pass_relax(p);
	simlnd_msg_put(m);
}

/*
 * Aborts the receives in progress of @end. A message that waits for a buffer was read completely.
 * So it stays with a probability of one half, unless the NI has stopped.
 */
void simlnd_drop_in(struct lnet_pass *p, struct simlnd_end *end)
{
	struct sim_world *w = end->ni->w;
	struct simlnd_msg *m, *next;

	list_for_each_entry_safe(m, next, &end->in, in) {
		if (m->place == LANDING) {
			sim_payload_received(p, m, LNET_PATH_LOST);
		} else if (end->ni->stopped || sim_chance(&w->rng, 500)) {
			struct lnet_rx *rx = m->rx;

			lnet_pass_relax(p);
			if (lnet_rx_gone(p, rx)) {
				consumed(m);
			} else {
				m->gone = true;
				list_del_init(&m->in);
			}
		}
		simlnd_msg_put(m);
	}
	lnet_pass_relax(p);
}
