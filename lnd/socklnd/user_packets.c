/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Returns the number of lost packets of a connection, as the kernel counts them. This is a separate
 * file because it needs linux/tcp.h, which cannot be included together with netinet/tcp.h.
 */
#include "lnd/socklnd/user.h"
#include <linux/tcp.h>

/* Does not count a retransmission as lost if the peer reports a duplicate. */
void user_packets(struct sock_conn *c, u32 *sent, u32 *lost)
{
	struct tcp_info is = { 0 };
	socklen_t len = sizeof(is);

	if (getsockopt(user_conn(c)->poll.fd, IPPROTO_TCP, TCP_INFO, &is, &len))
		return;
	*sent = is.tcpi_data_segs_out;
	*lost = is.tcpi_total_retrans - is.tcpi_dsack_dups;
}
