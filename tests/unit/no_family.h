/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stock module's reply to a command of this project, for lnetctl_open_local(). */
#ifndef TESTS_UNIT_NO_FAMILY_H
#define TESTS_UNIT_NO_FAMILY_H

#include <linux/netlink.h>

/* The stock family does not know the commands of this project. */
static int no_family_ask(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply, void *to)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} no = { .h = { .nlmsg_len = sizeof(no), .nlmsg_type = NLMSG_ERROR,
			.nlmsg_flags = NLM_F_CAPPED },
		 .e = { .error = -EOPNOTSUPP } };

	no.h.nlmsg_seq = ((const struct nlmsghdr *)msg)->nlmsg_seq;
	return reply(to, &no, sizeof(no));
}

#endif
