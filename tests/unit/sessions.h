/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Session messages from any node to node 1, for suites about the owner and bounds of a session. */
#ifndef TEST_SESSIONS_H
#define TEST_SESSIONS_H

#include "rails.h"

/*
 * A message of @type from node @from to node 1 on @rail, with the cookies as its handle. Not sent
 * yet.
 */
struct rails_msg sessions_message(unsigned int from, unsigned int rail, u32 type, u64 cookie0,
				  u64 cookie1);
void sessions_open(unsigned int from, u64 instance, u64 nonce);	/* a session open request */
void sessions_confirm(unsigned int from, u64 session_id, u64 seq);
/* A tracked PUT that leaves all earlier sequences unfinished. RAILS_PORTAL + 1 has no match. */
void sessions_put(unsigned int from, u32 portal, u64 session_id, u64 seq);
struct lnet_window *sessions_newest(void);	/* the window of node 1 that was used last */

#endif
