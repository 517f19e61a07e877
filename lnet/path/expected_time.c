/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selection by expected time: what each path has under way, how fast it gets done, and so when a
 * further request would be done.
 *
 * Requests count from when they choose a path, wherever they wait, until they end; so what a path
 * has got done in a span in which it always had something under way is its rate, whatever limits
 * it: the link, the far end, or the round trip. A slow rail is not left alone: it gets what it
 * gets done in the time that the fast ones take for the rest.
 */
#include "path/path.h"

#define HEADER_BYTES	256		/* what a message costs beside its payload */
/* A sample of the rate: so much time and so many ends, as they come in bursts; or so much time. */
#define SAMPLE_NS	(2 * (u64)NSEC_PER_MSEC)
#define SAMPLE_ENDS	8
#define SAMPLE_LONG_NS	(50 * (u64)NSEC_PER_MSEC)
/* A rate that nothing has tested for so long counts as twice as good: it is tried again. */
#define FORGET_NS	(500 * (u64)NSEC_PER_MSEC)
#define FORGET_MAX	10		/* doublings */
#define UNKNOWN_MBIT	1000		/* of a link that does not tell its speed */
#define NS_MAX		(1ULL << 35)	/* for 1 MiB */

/* ns for 1 MiB at @mbit. */
static u64 nominal_ns(u32 mbit)
{
	return clamp_t(u64, div_u64(8ULL * 1000 << 20, mbit ? mbit : UNKNOWN_MBIT), 1, NS_MAX);
}

/* What was measured counts as better the longer nothing has tested it. */
static u64 seen_ns(const struct lnet_load *load, u64 now_ns)
{
	u64 idle_ns = now_ns - min(now_ns, load->end_ns);

	return load->mib_ns >> min_t(u64, div_u64(idle_ns, FORGET_NS), FORGET_MAX);
}

u64 lnet_load_due_ns(const struct lnet_path *path, u32 bytes, u64 now_ns)
{
	static const struct lnet_load none;
	const struct lnet_load *load = path->stats ? &path->stats->load : &none;
	u64 mib_ns = seen_ns(load, now_ns);

	if (!mib_ns)
		mib_ns = nominal_ns(READ_ONCE(path->ni->link_speed));
	return ((load->bytes + bytes + HEADER_BYTES) >> 4) * mib_ns >> 16;
}

static void begin(struct lnet_load *load, u64 at_ns)
{
	load->since_ns = at_ns;
	load->done = 0;
	load->ends = 0;
}

void lnet_load_add(struct lnet_path *path, struct lnet_att *att, u64 now_ns)
{
	struct lnet_load *load;
	u32 mbit = READ_ONCE(path->ni->link_speed);

	if (!path->stats || !lnet_op_request(att->op) || att->op->cls == LNET_CLS_CONTROL)
		return;
	load = &path->stats->load;
	if (unlikely(load->mbit != mbit)) {
		/* If the speed of a link changes, the measured time changes in proportion. */
		if (load->mbit && mbit && load->mib_ns)
			load->mib_ns = clamp_t(u64, div_u64(load->mib_ns * load->mbit, mbit), 1,
					       NS_MAX);
		load->mbit = mbit;
	}
	/* What was seen of the sample before the pause still counts, the pause does not. */
	if (!load->bytes) {
		load->since_ns = now_ns - load->seen_ns;
		load->mib_ns = seen_ns(load, now_ns);
		load->end_ns = now_ns;
	}
	att->load = min_t(u32, att->op->len, LNET_MTU) + HEADER_BYTES;
	load->bytes += att->load;
}

/* The path was heard of after the attempt left: it is taken as done by it. */
static void took(const struct lnet_path *path, struct lnet_load *load, u32 bytes)
{
	u64 now_ns = path->evidence_ns, span_ns, mib_ns;

	load->end_ns = now_ns;
	if (path->back_ns > load->since_ns)	/* no rate can be had of a silence */
		begin(load, path->back_ns);
	load->done += bytes;
	load->ends++;
	span_ns = now_ns - min(now_ns, load->since_ns);
	if (span_ns < (load->ends < SAMPLE_ENDS ? SAMPLE_LONG_NS : SAMPLE_NS))
		return;
	mib_ns = clamp_t(u64, div64_u64(span_ns << 20, load->done), 1, NS_MAX);
	load->mib_ns = load->mib_ns ? load->mib_ns - load->mib_ns / 4 + mib_ns / 4 : mib_ns;
	begin(load, now_ns);
}

void lnet_load_sub(struct lnet_path *path, struct lnet_att *att, bool left)
{
	struct lnet_load *load = &path->stats->load;

	if (left && path->evidence_ns > att->posted_ns)
		took(path, load, att->load);
	load->bytes -= att->load;
	att->load = 0;
	if (!load->bytes)
		load->seen_ns = path->evidence_ns - min(path->evidence_ns, load->since_ns);
}
