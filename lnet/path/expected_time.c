/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selection by expected time: estimates when a further request would be done on each path. The
 * inputs are the requests in flight on the path and its measured rate.
 *
 * A request counts from the choice of its path until its end, also while it waits for credits. A
 * sample measures the bytes done in a time in which the path was never idle. So it gives the rate
 * of the path, whatever limits the rate: the link, the peer, or the round-trip time. A slow rail is
 * also used. It receives as many requests as it completes in the time that the fast rails need for
 * the other requests.
 */
#include "path/path.h"

#define HEADER_BYTES	256		/* bytes that a message costs in addition to its payload */
/*
 * A sample of the rate lasts SAMPLE_NS and has SAMPLE_ENDS ended requests, because requests end in
 * bursts. With fewer requests it lasts SAMPLE_LONG_NS.
 */
#define SAMPLE_NS	(2 * (u64)NSEC_PER_MSEC)
#define SAMPLE_ENDS	8
#define SAMPLE_LONG_NS	(50 * (u64)NSEC_PER_MSEC)
/*
 * For each period of this length without a request, the rate counts as twice as high, so that
 * selection tries the path again.
 */
#define FORGET_NS	(500 * (u64)NSEC_PER_MSEC)
#define FORGET_MAX	10		/* doublings */
#define UNKNOWN_MBIT	1000		/* speed assumed for a link of unknown speed */
#define NS_MAX		(1ULL << 35)	/* for 1 MiB */

/* Returns the measured time for 1 MiB, halved once for each FORGET_NS since load->end_ns. */
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
	u32 mbit;

	if (!mib_ns) {
		mbit = READ_ONCE(path->ni->link_speed);
		mib_ns = clamp_t(u64, div_u64(8ULL * 1000 << 20, mbit ? mbit : UNKNOWN_MBIT), 1,
				 NS_MAX);
	}
	return ((load->bytes + bytes + HEADER_BYTES) >> 4) * mib_ns >> 16;
}

static void load_begin(struct lnet_load *load, u64 at_ns)
{
	load->since_ns = at_ns;
	load->done = 0;
	load->ends = 0;
}

void lnet_load_add(struct lnet_path *path, struct lnet_att *att, u64 now_ns)
{
	struct lnet_load *load;
	u32 mbit = READ_ONCE(path->ni->link_speed);

	if (!path->stats || !lnet_op_is_request(att->op) || att->op->cls == LNET_CLS_CONTROL)
		return;
	load = &path->stats->load;
	if (unlikely(load->mbit != mbit)) {
		/*
		 * The measured time for 1 MiB is inversely proportional to the speed of the link.
		 */
		if (load->mbit && mbit && load->mib_ns)
			load->mib_ns = clamp_t(u64, div_u64(load->mib_ns * load->mbit, mbit), 1,
					       NS_MAX);
		load->mbit = mbit;
	}
	/* The path was idle. The sample includes the time before this pause, but not the pause. */
	if (!load->bytes) {
		load->since_ns = now_ns - load->seen_ns;
		load->mib_ns = seen_ns(load, now_ns);
		load->end_ns = now_ns;
	}
	att->load = min_t(u32, att->op->len, LNET_MTU) + HEADER_BYTES;
	load->bytes += att->load;
}

void lnet_load_sub(struct lnet_path *path, struct lnet_att *att, bool left)
{
	struct lnet_load *load = &path->stats->load;
	u64 now_ns = path->liveness_ns, span_ns, mib_ns;

	/*
	 * If @path responded after @att was handed to the fabric, the last response counts as the
	 * end of the transfer of @att.
	 */
	if (left && now_ns > att->posted_ns) {
		load->end_ns = now_ns;
		if (path->back_ns > load->since_ns)	/* an outage gives no rate */
			load_begin(load, path->back_ns);
		load->done += att->load;
		load->ends++;
		span_ns = now_ns - min(now_ns, load->since_ns);
		if (span_ns >= (load->ends < SAMPLE_ENDS ? SAMPLE_LONG_NS : SAMPLE_NS)) {
			mib_ns = clamp_t(u64, div64_u64(span_ns << 20, load->done), 1, NS_MAX);
			load->mib_ns = load->mib_ns ?
				       load->mib_ns - load->mib_ns / 4 + mib_ns / 4 : mib_ns;
			load_begin(load, now_ns);
		}
	}
	load->bytes -= att->load;
	att->load = 0;
	if (!load->bytes)
		load->seen_ns = now_ns - min(now_ns, load->since_ns);
}
