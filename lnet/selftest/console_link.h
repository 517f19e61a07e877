/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs reach the console of a node through a stream in a Unix socket
 * (utils/lib/selftest_socket.h), or through a device of the kernel. A program writes a request with
 * its header, and reads the reply with its header. Then the program may write the next request.
 */
#ifndef LNET_SELFTEST_CONSOLE_LINK_H
#define LNET_SELFTEST_CONSOLE_LINK_H

#include <linux/types.h>

#define LST_DEVICE		"/dev/lnet_selftest"
#define LST_REQUEST_MAX		65536U

struct lst_link_request {
	__u32 len;			/* length of the text that follows: see verbs.def */
};

struct lst_link_reply {
	__s32 status;			/* 0 or -errno */
	__u32 len;			/* of the text that follows */
};

#endif
