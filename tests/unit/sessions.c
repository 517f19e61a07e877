/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Session messages from any node to node 1. */
#include "sessions.h"

struct rails_msg sessions_message(unsigned int from, unsigned int rail, u32 type, u64 cookie0,
				  u64 cookie1)
{
	static u8 nothing[1];
	struct rails_msg m = { .from = (int)from, .to = 1, .rail = (int)rail, .type = RAILS_CORE,
			       .data = nothing };

	m.hdr.type = type;
	m.hdr.src_nid = m.via = rails_nid(from, rail);
	m.hdr.dest_nid = m.at = rails_nid(1, rail);
	m.hdr.src_pid = m.hdr.dest_pid = LNET_PID;
	if (type == LNET_MSG_PUT) {
		m.hdr.msg.put.ack_wmd = (struct lnet_handle){ { cookie0, cookie1 } };
		m.hdr.msg.put.ptl_index = LNET_PORTAL_TRACKED + RAILS_PORTAL;
		m.hdr.msg.put.match_bits = 500;
	} else {
		m.hdr.msg.get.return_wmd = (struct lnet_handle){ { cookie0, cookie1 } };
		m.hdr.msg.get.ptl_index = LNET_PORTAL_TRACKED + RAILS_PORTAL;
		m.hdr.msg.get.sink_length = 64;
	}
	return m;
}

void sessions_open(unsigned int from, u64 instance, u64 nonce)
{
	struct rails_msg m = sessions_message(from, 0, LNET_MSG_GET, instance, nonce);

	m.hdr.msg.get.ptl_index = LNET_PORTAL_TRACKED;
	m.hdr.msg.get.match_bits = LNET_OPEN_MATCHBITS;
	rails_again(&m);
	rails_pump();
}

struct lnet_window *sessions_newest(void)
{
	return list_first_entry(&rails.node[1].ln->shard[0].windows, struct lnet_window, link);
}

void sessions_confirm(unsigned int from, u64 session_id, u64 seq)
{
	struct rails_msg m = sessions_message(from, 0, LNET_MSG_PUT, session_id, seq);

	m.hdr.msg.put.ptl_index = LNET_PORTAL_TRACKED;
	m.hdr.msg.put.match_bits = LNET_CONFIRM_MATCHBITS;
	rails_again(&m);
	rails_pump();
}

void sessions_put(unsigned int from, u32 portal, u64 session_id, u64 seq)
{
	struct rails_msg m = sessions_message(from, 0, LNET_MSG_PUT, session_id,
				     seq | (seq - 1) << 48 | LNET_REQID_ALONE);

	m.hdr.msg.put.ptl_index = LNET_PORTAL_TRACKED + portal;
	rails_again(&m);
	rails_pump();
}
