/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of outcomes. A row has the name, the errno, the attribution (the interfaces whose
 * health a failure lowers) and the delivery (whether the receiver may have the message). Also the
 * names of outcomes and events.
 */
#include "model/op.h"
#include "base/base.h"

const struct lnet_outcome_info lnet_outcomes[LNET_NR_OUTCOMES] = {
#define OUTCOME(name_, num, errno_, blame_, delivery_, text)		\
	[num] = { .name = text, .err = errno_,				\
		  .attribution = LNET_ATTRIB_##blame_, .delivery = LNET_DELIVERY_##delivery_ },
#include "model/outcomes.def"
#undef OUTCOME
};

const char *lnet_outcome_name(unsigned int outcome)
{
	return outcome < LNET_NR_OUTCOMES ? lnet_outcomes[outcome].name : NULL;
}

int lnet_op_err(const struct lnet_op *op)
{
	u8 why = op->outcome == LNET_REMOTE_DROPPED ? op->unconnected : 0;

	if (why & LNET_ATTF_REFUSED)
		return -ECONNREFUSED;
	if (why & LNET_ATTF_RESET)
		return -ECONNRESET;
	if (why & LNET_ATTF_UNANSWERED)
		return -ETIMEDOUT;
	return lnet_outcomes[op->outcome].err;
}

const char *lnet_event_name(unsigned int kind)
{
	static const char *const names[] = {
		[LNET_EVENT_GET] = "GET",     [LNET_EVENT_PUT] = "PUT",
		[LNET_EVENT_REPLY] = "REPLY", [LNET_EVENT_ACK] = "ACK",
		[LNET_EVENT_SEND] = "SEND",   [LNET_EVENT_UNLINK] = "UNLINK",
	};

	return kind < ARRAY_SIZE(names) ? names[kind] : NULL;
}
