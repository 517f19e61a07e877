/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many packets of a connection were lost, as its kernel counts them. A file of its own, as
 * linux/tcp.h, which has more than netinet/tcp.h, cannot be had beside that.
 */
#include "lnd/socklnd/user.h"
#include <linux/tcp.h>

/* What the peer says it got twice was not lost. */
void user_packets(struct sock_conn *c, u32 *sent, u32 *lost)
{
	struct tcp_info is = { 0 };
	socklen_t len = sizeof(is);

	if (getsockopt(user_conn(c)->poll.fd, IPPROTO_TCP, TCP_INFO, &is, &len))
		return;
	*sent = is.tcpi_data_segs_out;
	*lost = is.tcpi_total_retrans - is.tcpi_dsack_dups;
}
