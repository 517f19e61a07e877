/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of the ping info: a complete one can be encoded again, and is then decoded as the same.
 * The last byte is the number of NIDs for which the reader has room.
 */
#include <stdlib.h>
#include "fuzz.h"
#include "lnet/wire.h"

#define MAX_NIS 32

static bool has(const struct lnet_pinginfo_ni *nis, unsigned int nr,
		const struct lnet_pinginfo_ni *ni)
{
	for (; nr--; nis++)
		if (lnet_nid_same(&nis->nid, &ni->nid) && nis->status == ni->status)
			return true;
	return false;
}

static void check_again(const struct lnet_pinginfo *info, const struct lnet_pinginfo_ni *nis)
{
	static u8 buf[16 + 16 + MAX_NIS * 24];
	struct lnet_pinginfo_ni read[MAX_NIS];
	struct lnet_pinginfo again;
	unsigned int i;
	int len = lnet_pinginfo_encode(buf, sizeof(buf), info->features, info->pid, info->seq, nis,
				       info->nr);

	BUG_ON(len < 0 || len != lnet_pinginfo_size(nis, info->nr));
	BUG_ON(lnet_pinginfo_decode(&again, buf, len, read, MAX_NIS));
	BUG_ON(again.nr != info->nr || again.seq != info->seq || again.size != len);
	BUG_ON(again.pid != info->pid || again.swapped);
	BUG_ON(info->nr && !lnet_nid_same(&read[0].nid, &nis[0].nid));
	for (i = 0; i < info->nr; i++)
		BUG_ON(!has(read, again.nr, &nis[i]));
	/* A buffer with one byte less is too small, and nothing is written to it. */
	BUG_ON(lnet_pinginfo_encode(buf, len - 1, info->features, info->pid, info->seq, nis,
				    info->nr) != -ENOSPC);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	unsigned int max = size ? data[size - 1] % (MAX_NIS + 1) : 0;
	struct lnet_pinginfo_ni *nis = malloc(max * sizeof(*nis) + 1);
	struct lnet_pinginfo info;
	int rc;

	if (!nis)
		abort();
	rc = lnet_pinginfo_decode(&info, data, size, nis, max);
	BUG_ON(info.nr > max || info.size > LNET_PINGINFO_MAX || info.nr > info.nr_seen);
	BUG_ON(rc == 0 && info.size > size);
	BUG_ON(rc == -EMSGSIZE && info.size <= size);
	BUG_ON(info.has_primary && !info.nr && max);
	if (rc == 0)
		check_again(&info, nis);
	free(nis);
	return 0;
}
