/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts that describe events, for the messages of programs. */
#include <lnet/lnet.h>
#include <stdio.h>
#include <string.h>

/*
 * True for SEND, ACK and REPLY, which are events of local requests. Other kinds are events of a
 * peer's request.
 */
static bool is_own(const struct lnet_event *ev)
{
	return ev->kind == LNET_EVENT_SEND || ev->kind == LNET_EVENT_ACK ||
	       ev->kind == LNET_EVENT_REPLY;
}

int lnet_event_text(const struct lnet_event *ev, char *text, size_t size)
{
	const char *kind = lnet_event_name(ev->kind), *outcome = lnet_outcome_name(ev->outcome);
	bool own = is_own(ev);
	char nid[LNET_NIDSTR_SIZE];

	if (!kind || !outcome)
		return snprintf(text, size, "event of unknown kind %u", ev->kind);
	if (ev->kind == LNET_EVENT_UNLINK)
		return snprintf(text, size, "UNLINK");
	lnet_nid_str(own ? &ev->target.nid : &ev->initiator.nid, nid);
	if (!ev->status)
		return snprintf(text, size, "%s %s %s: %u bytes", kind, own ? "to" : "from", nid,
				ev->mlength);
	return snprintf(text, size, "%s %s %s: %s (%s)%s", kind, own ? "to" : "from", nid, outcome,
			strerror(-ev->status),
			!own		       ? ""
			: ev->delivery_unknown ? "; delivery unknown"
					       : "; not delivered");
}
