/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages of sessions to node 1 that any node may send, for suites about who owns a session. */
#ifndef TEST_SESSIONS_H
#define TEST_SESSIONS_H

#include "rails.h"

/* To node 1, by @rail, from whoever says to be @src; node 2 alone has no other way to speak. */
struct rails_msg sessions_message(unsigned int from, unsigned int rail, u32 type, u64 cookie0,
				  u64 cookie1);
void sessions_open(unsigned int from, u64 instance, u64 nonce);	/* a session open request */
void sessions_confirm(unsigned int from, u64 grant, u64 seq);
/* A tracked PUT whose sender keeps all earlier ones unfinished. RAILS_PORTAL + 1 has no match. */
void sessions_put(unsigned int from, u32 portal, u64 grant, u64 seq);
struct lnet_window *sessions_newest(void);		/* the window of node 1 made last */

#endif
