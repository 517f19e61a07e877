/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of session open requests and their replies, and of tracked requests
 * (manual/internals/exactly-once.md). Two nodes have two rails, and messages are lost, duplicated
 * and late. A peer sends false data: in its ping info, in its session ID, in headers with the IDs
 * of requests in flight.
 *
 * Input: steps, each a byte and its arguments. Every request ends once, and all credits are
 * returned. While no data is false, nothing takes effect twice, and each request that succeeded
 * took effect.
 */
#include <stdlib.h>
#include <lnet/wire.h>
#include "fuzz.h"
#include "rails.h"

enum step { PUT, GET, RULE, RUN, RELEASE, RESTART, FORGE, LIE, LAND, GIVE, LOST, TUNE, AGAIN, PARK,
	    CODEC, CLEAR, GONE, NR_STEPS };

#define STEPS_MAX	64
#define RUN_MAX_NS	(200 * NSEC_PER_SEC)	/* a longer run adds only recovery pings */

struct play {
	struct fuzz_in in;
	bool lied, restarted;
	u64 ran_ns;
};

/* ---- the codec alone ---- */

static void codec(struct play *play)
{
	size_t len = fuzz_u8(&play->in);
	u8 *bytes = fuzz_bytes(&play->in, &len), again[LNET_SESSION_REPLY_SIZE];
	u64 instance, session_id;
	u32 W;

	if (!lnet_session_reply_decode(bytes, (u32)len, &W, &instance, &session_id)) {
		BUG_ON(!W || W > 16383 || !session_id || !~session_id);
		lnet_session_reply_encode(again, W, instance, session_id);
		again[12] = bytes[12];		/* reserved: any value */
		memcpy(again + 12, bytes + 12, 4);
		BUG_ON(memcmp(again, bytes, sizeof(again)));
	}
	free(bytes);
}

/* ---- false data --- */

/*
 * The handle of the last request. The input may replace its session ID by that of either node, by
 * the peer's instance number, or by any number, and change its sequence.
 */
static struct lnet_handle handle(struct play *play, unsigned int from)
{
	struct lnet_handle h = rails.last.hdr.msg.put.ack_wmd;
	u8 how = fuzz_u8(&play->in);

	if (how & 1)
		h.cookie[0] = rails_peer(from, !from)->tx.session_id;
	if (how & 2)
		h.cookie[0] = rails.node[!from].ln->instance;
	if (how & 4)
		h.cookie[0] = fuzz_u64(&play->in);
	if (how & 8)
		h.cookie[1] = fuzz_u64(&play->in);
	if (how & 16)
		h.cookie[1] += fuzz_u8(&play->in);
	if (how & 32)
		h.cookie[0] = rails_peer(!from, from)->tx.session_id;
	return h;
}

static u64 match_bits(struct play *play)
{
	static const u64 known[] = { LNET_PING_MATCHBITS, LNET_OPEN_MATCHBITS,
				     LNET_CONFIRM_MATCHBITS };
	u8 which = fuzz_u8(&play->in);

	return which < ARRAY_SIZE(known) ? known[which] : fuzz_u64(&play->in);
}

static u32 portal(struct play *play)
{
	static const u32 known[] = { LNET_PORTAL_RESERVED, LNET_PORTAL_TRACKED, RAILS_PORTAL,
				     RAILS_PORTAL + LNET_PORTAL_TRACKED, RAILS_PORTAL + 1,
				     RAILS_PORTAL + 1 + LNET_PORTAL_TRACKED };
	u8 which = fuzz_u8(&play->in);

	return which < ARRAY_SIZE(known) ? known[which] : which;
}

static void fill(struct play *play, struct lnet_hdr *hdr, const struct lnet_handle *h)
{
	switch (hdr->type) {
	case LNET_MSG_ACK:
		hdr->msg.ack.dst_wmd = *h;
		hdr->msg.ack.match_bits = match_bits(play);
		hdr->msg.ack.mlength = fuzz_u32(&play->in);
		break;
	case LNET_MSG_PUT:
		hdr->msg.put.ack_wmd = *h;
		hdr->msg.put.match_bits = match_bits(play);
		hdr->msg.put.ptl_index = portal(play);
		hdr->msg.put.offset = fuzz_u16(&play->in);
		break;
	case LNET_MSG_GET:
		hdr->msg.get.return_wmd = *h;
		hdr->msg.get.match_bits = match_bits(play);
		hdr->msg.get.ptl_index = portal(play);
		hdr->msg.get.src_offset = fuzz_u32(&play->in);
		hdr->msg.get.sink_length = fuzz_u32(&play->in);
		break;
	default:
		hdr->msg.reply.dst_wmd = *h;
	}
}

/*
 * A message from @from to the other node that @from's core never sent. It is sent as bytes, so that
 * the receiver decodes it.
 */
static void forge(struct play *play)
{
	u8 what = fuzz_u8(&play->in), buf[LNET_HDR_SIZE_MAX];
	unsigned int from = what & 1, rail = what >> 1 & 1;
	struct lnet_handle h = handle(play, from);
	struct lnet_hdr hdr = { .type = what >> 2 & 3 };
	struct rails_msg *m = calloc(1, sizeof(*m));
	size_t len = fuzz_u16(&play->in) & 0x3fff;

	if (!m)
		abort();
	hdr.src_nid = m->via = rails_nid(from, rail);
	hdr.dest_nid = m->at = rails_nid(!from, rail);
	hdr.src_pid = hdr.dest_pid = LNET_PID;
	fill(play, &hdr, &h);
	m->data = fuzz_bytes(&play->in, &len);
	m->len = hdr.payload_len = (u32)len;
	INIT_LIST_HEAD(&m->link);
	lnet_hdr_encode(buf, &hdr, what & 16);
	if (lnet_hdr_decode(&m->hdr, buf, what & 16)) {
		free(m->data);
		free(m);
		return;
	}
	m->from = from;
	m->to = !from;
	m->rail = rail;
	m->half = what & 32;
	list_add_tail(&m->link, &rails.wire);
	play->lied = true;
	rails_pump();
}

/* Changes a delayed message: a session ID, a ping info, a payload. */
static void lie(struct play *play)
{
	u8 at = fuzz_u8(&play->in);
	size_t len = fuzz_u8(&play->in);
	u8 *bytes = fuzz_bytes(&play->in, &len);
	struct rails_msg *m;

	if (!list_empty(&rails.delayed)) {
		m = list_first_entry(&rails.delayed, struct rails_msg, link);
		if (at < m->len)
			memcpy(m->data + at, bytes, min(len, (size_t)(m->len - at)));
		play->lied = true;
		rails_release();
	}
	free(bytes);
}

/* ---- the rest of a step ---- */

static void rule(struct play *play)
{
	u8 what = fuzz_u8(&play->in), whom = fuzz_u8(&play->in);
	int type = (what & 15) % (RAILS_ANY + 1), count = (whom >> 4) + 1;
	enum rails_fate fate = (whom & 15) % (FATE_LATE + 1);

	if (rails.nr_rules == ARRAY_SIZE(rails.rule))
		rails_clear();
	rails_on((what >> 4 & 3) - 1 > 1 ? -1 : (what >> 4 & 3) - 1, what >> 6 ? what >> 7 : -1,
		 type, fate, fate == FATE_REFUSE || fate == FATE_FAIL ? LNET_LOCAL_DROPPED
								      : LNET_NETWORK_TIMEOUT,
		 count);
}

static void request(struct play *play, enum step step)
{
	u8 what = fuzz_u8(&play->in);
	unsigned int from = what & 1;
	u32 len = (what >> 2 & 7) << (what >> 5);

	len = len ? len : 8;
	if (step == PUT)
		rails_put(from, !from, len, what & 2 ? LNET_ACK : 0, 0);
	else
		rails_get(from, !from, len, 0);
	rails_pump();
}

static void tune(struct play *play)
{
	static const char *const names[] = { "window", "hedge", "reply_cache_max", "windows_max",
					     "retry_count", "reply_cache_budget", "hold_time" };
	u8 which = fuzz_u8(&play->in);

	/* A value out of range is rejected. */
	lnet_tunable_set(rails.node[which >> 7].ln, names[(which & 0x7f) % ARRAY_SIZE(names)],
			 fuzz_u16(&play->in));
}

static void run(struct play *play)
{
	u64 ns = (u64)fuzz_u8(&play->in) * fuzz_u8(&play->in) * RAILS_MS / 4;

	ns = min(ns, RUN_MAX_NS - play->ran_ns);
	play->ran_ns += ns;
	rails_run(ns);
}

static void again(void)
{
	struct rails_msg *m;

	if (list_empty(&rails.delayed))
		return;
	m = list_first_entry(&rails.delayed, struct rails_msg, link);
	rails_again(m);
	rails_pump();
}

/* Makes a portal lazy or not, or attaches memory for the requests that found none. */
static void park(struct play *play)
{
	u8 what = fuzz_u8(&play->in);

	if (what & 1)
		lnet_portal_lazy(rails.node[what >> 1 & 1].ln, RAILS_PORTAL, what & 4);
	else if (rails.cfg.no_buffers)
		rails_attach(what >> 1 & 1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
	rails_pump();
}

static void connection(struct play *play, enum step step)
{
	u8 what = fuzz_u8(&play->in);

	if (step == LOST)
		rails_lost(what & 1, !(what & 1), what >> 1 & 1, LNET_PATH_LOST);
	else if (step == GIVE)
		rails_give(what & 1 ? LNET_OK : LNET_NETWORK_TIMEOUT);
	else if (step == GONE && rails_count(&rails.waiting))
		rails_gone(what % rails_count(&rails.waiting));
	else if (step == LAND && rails_count(&rails.landing))
		rails_land(what >> 1 & (rails_count(&rails.landing) > 1),
			   what & 1 ? LNET_OK : LNET_LOCAL_ABORTED);
	rails_pump();
}

static void play_step(struct play *play)
{
	enum step step = fuzz_u8(&play->in) % NR_STEPS;

	switch (step) {
	case PUT:
	case GET:
		request(play, step);
		break;
	case RULE:
		rule(play);
		break;
	case RUN:
		run(play);
		break;
	case RELEASE:
		rails_release();
		break;
	case RESTART:
		play->restarted = true;
		rails_restart(1);
		break;
	case FORGE:
		forge(play);
		break;
	case LIE:
		lie(play);
		break;
	case TUNE:
		tune(play);
		break;
	case AGAIN:
		again();
		break;
	case PARK:
		park(play);
		break;
	case CODEC:
		codec(play);
		break;
	case CLEAR:
		rails_clear();
		break;
	default:
		connection(play, step);
	}
}

static void check_effects(const struct play *play)
{
	unsigned int i;

	for (i = 1; i <= rails.nr_tags && !play->lied; i++) {
		const struct rails_req *r = &rails.req[i];

		/*
		 * A rejected request that one attempt carried gets a new request ID (rule 11). The
		 * rejection may be of a copy of that attempt, which no real connection makes.
		 */
		BUG_ON(r->nr_effects > 1 && !(play->restarted && r->nr_copies));
		/* The success of an untracked PUT without ACK proves only that it was sent. */
		BUG_ON(!r->status && !r->nr_effects && !play->restarted &&
		       !(r->kind == LNET_EVENT_SEND && r->nr_plain));
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct play play = { .in = fuzz_begin(data, size) };
	u8 how = fuzz_u8(&play.in);
	struct rails_cfg cfg = { .quiet = how & 1, .one_rail = how & 2, .no_buffers = how & 4,
				 .nr_shards = how & 8 ? 2 : 1, .apart = how & 16 };
	unsigned int nr = 0;

	if (cfg.no_buffers)
		cfg.quiet = true;
	rails_begin(&cfg);
	while (fuzz_more(&play.in) && nr++ < STEPS_MAX)
		play_step(&play);
	rails_end();
	check_effects(&play);
	return 0;
}
