/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A token bucket that is stored as one time. */
#ifndef LNET_BUCKET_H
#define LNET_BUCKET_H

/*
 * Takes one token from the bucket *@paid_ns. A token returns each @gap_ns; a full bucket has
 * @span_ns / @gap_ns of them. Returns 0, or the time in ns until the bucket has a token. After a
 * change of the rate the bucket is empty at worst. Two threads that race may take one token twice.
 */
static inline u64 lnet_bucket_take(u64 *paid_ns, u64 now_ns, u64 gap_ns, u64 span_ns)
{
	u64 most_ns = now_ns + span_ns;
	u64 from_ns = min(max(READ_ONCE(*paid_ns), now_ns), most_ns);

	if (from_ns + gap_ns > most_ns) {
		WRITE_ONCE(*paid_ns, from_ns);
		return from_ns + gap_ns - most_ns;
	}
	WRITE_ONCE(*paid_ns, from_ns + gap_ns);
	return 0;
}

#endif
