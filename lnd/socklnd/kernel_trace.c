/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passes state changes of connections to the tracepoint lnet_conn of lnet.ko. */
#include "lnd/socklnd/kernel.h"
#include "lnet/kernel/events.h"
#include <net/net_namespace.h>

/* The lock of the NI is held. */
void lnet_trace_conn(const struct sock_conn *c, u8 from, u8 to)
{
	const struct net *net = lnet_env_net(lnet_env_of(c->sn->ln));

	trace_lnet_conn(net->ns.inum, c, &c->sn->nid, c->peer ? &c->peer->nid : NULL,
			lnet_ctype_name(c->type), c->mine, sock_conn_state_names[from],
			sock_conn_state_names[to]);
}
