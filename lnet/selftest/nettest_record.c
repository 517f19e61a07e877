/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The results of a node as bytes: the length of the tally, the tally, and for each node the median
 * time of messages to that node. Numbers are little endian.
 */
#include "nettest_run.h"

#define HEAD	8U

void nettest_record_make(struct nettest *nt)
{
	struct lst_tally *t = &nt->tally;
	u32 i, len;

	/*
	 * The record reports completed iterations as sent and as received messages. Both numbers
	 * are equal: if a message is lost, the node makes no record.
	 */
	t->c[LST_T_sent] = t->c[LST_T_received] = t->nr_times;
	t->c[LST_T_bytes_out] = t->c[LST_T_bytes_in] = (u64)nt->nr_linked * nt->m.len * t->nr_times;
	if (nt->noise.to) {
		t->c[LST_T_bytes_out] = nt->noise.out;
		t->c[LST_T_bytes_in] = nt->noise.in[nt->index & 1];
	}
	t->nr_nodes = 1;
	len = lst_tally_encode(t, nt->record + HEAD);
	put_unaligned_le64(len, nt->record);
	for (i = 0; i < nt->cfg.nr; i++)
		put_unaligned_le64(lst_tally_quantile(&nt->chan[i].delay, 500000),
				   nt->record + HEAD + len + 8 * i);
	nt->record_len = HEAD + len + 8 * nt->cfg.nr;
}

const u8 *nettest_record(const struct nettest *nt, u32 rank, u32 *len)
{
	if (rank == nt->cfg.rank) {
		*len = nt->record_len;
		return nt->record;
	}
	*len = nt->records_len ? nt->records_len[rank] : 0;
	return nt->records ? nt->records + rank * nettest_record_size(nt->cfg.nr) : NULL;
}

int nettest_record_decode(const u8 *buf, u32 len, u32 nr, struct lst_tally *tally, u64 *median)
{
	u64 bytes;
	u32 i, used;

	if (len < HEAD + 8 * nr)
		return -EINVAL;
	bytes = get_unaligned_le64(buf);
	if (bytes != len - HEAD - 8 * nr)
		return -EINVAL;
	if (lst_tally_decode(tally, buf + HEAD, (u32)bytes, &used) || used != bytes)
		return -EINVAL;
	for (i = 0; median && i < nr; i++)
		median[i] = get_unaligned_le64(buf + HEAD + bytes + 8 * i);
	return 0;
}
