/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver compiled for tests: see sock_world.h. */
#include "sock_world.h"
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "lnd/socklnd/conn.c"
#include "lnd/socklnd/peer.c"
#include "lnd/socklnd/hello.c"
#include "lnd/socklnd/guest.c"
#include "lnd/socklnd/receive.c"
#include "lnd/socklnd/encode.c"
#include "lnd/socklnd/send.c"
#include "lnd/socklnd/noop.c"
#include "lnd/socklnd/unsent.c"
#include "lnd/socklnd/named_ni.c"
#include "lnd/socklnd/pin.c"
#include "lnd/socklnd/proto.c"
#include "lnd/socklnd/user_addr.c"
#include "lnd/socklnd/link.c"
#define sendmsg	test_sendmsg
#define send(fd, buf, len, flags)	test_send(fd, buf, len, flags)	/* ops have a .send */
#define recvmsg	test_recvmsg
#define recv	test_recv
#define timerfd_settime	test_timerfd_settime
#include "lnd/socklnd/user.c"
#include "lnd/socklnd/user_listen.c"

bool lnet_rx_gone(struct lnet_pass *p, struct lnet_rx *rx)
{
	struct got *got = container_of(rx, struct got, rx);

	CU_ASSERT(got->waits);
	got->waits = false;
	return true;
}

void sock_world_check(void *priv)
{
	struct sock_ni *sn = priv;

	UNIT_EQUAL(sn->nr_conns, 0, "connections left");
	UNIT_EQUAL(sn->nr_peers, 0, "peers left");
	UNIT_EQUAL(sn->halfs.nr, 0, "half-open connections left");
	UNIT_EQUAL(sn->opens.nr, 0, "open connections of others left");
	UNIT_EQUAL(sn->hold_bytes, 0, "bytes of held messages left");
	UNIT_EQUAL(sn->unsent, 0, "bytes of unsent_budget left");
}
