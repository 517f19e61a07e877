/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of the frame header and of merging zero-copy acknowledgements. */
#include "fuzz.h"
#include "lnd/socklnd/wire.h"

static u64 nr_acked(const u64 pair[2])
{
	struct lnet_ksock_hdr hdr = { LNET_KSOCK_NOOP, 0, { pair[0], pair[1] } };
	struct lnet_zcack ack;

	lnet_zcack_decode(&ack, &hdr);
	BUG_ON(ack.kind == LNET_ZCACK_BAD);
	return ack.nr;
}

/* Each merged cookie adds one to the acknowledged cookies; one that does not fit adds none. */
static void check_merge(const u8 *data, size_t size)
{
	u64 pair[2] = { 0, 0 };
	size_t i;

	for (i = 0; i < size; i++) {
		u64 before = nr_acked(pair), cookie = data[i];
		bool merged = lnet_zcack_merge(pair, cookie);

		BUG_ON(nr_acked(pair) != before + merged);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	bool swapped = size & 1;
	struct lnet_ksock_hdr hdr;
	struct lnet_zcack ack;
	u8 buf[LNET_KSOCK_SIZE];

	check_merge(data, min_t(size_t, size, 64));
	if (lnet_ksock_decode(&hdr, data, size, swapped))
		return 0;
	BUG_ON(size < LNET_KSOCK_SIZE);
	BUG_ON(lnet_ksock_encode(buf, &hdr, swapped) != LNET_KSOCK_SIZE);
	BUG_ON(memcmp(buf, data, LNET_KSOCK_SIZE));
	lnet_zcack_decode(&ack, &hdr);
	BUG_ON(ack.nr && (ack.first < LNET_ZC_COOKIE_FIRST || ack.last < ack.first));
	return 0;
}
