/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver in user space: declarations for the files user*.c and link.c. */
#ifndef SOCKLND_USER_H
#define SOCKLND_USER_H

#include "lnet/user/env.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include "lnd/socklnd/addr.h"

/* Watches the interface that has the NI's address. */
struct user_link {
	struct lnet_poll poll;		/* fd: rtnetlink socket, -1 none */
	struct lnet_poll again;		/* fd: timer of periodic checks, -1: none */
	u64 news_ns;			/* time of the last change or rtnetlink message */
	struct lnet_ni *ni;
	struct sock_addr addr;
	bool up;			/* as last reported */
	u8 why;				/* not up: enum lnet_link_why */
	u32 mbit;			/* as last reported */
	bool known;
};

struct user_ni {
	struct sock_ni sn;		/* first; ni->priv points to it */
	struct lnet_env *env;
	unsigned int shard;
	struct lnet_poll listener;	/* fd -1: none, or another NI of the address has it */
	struct lnet_poll timer;
	struct user_link link;
	u64 paused_ns;			/* accepts nothing before this time; 0: no pause [poller] */
	u8 *staging;
	u64 armed_ns;			/* time of the timer; U64_MAX: not set [sn.lock] */
	u32 nr_closed;			/* connections to release [sn.lock] */
	u32 nr_releasing;		/* threads in user_release_closed() [sn.lock] */
	u16 port;			/* next reserved source port; 0: not permitted */
	u16 listen_port;		/* port of its listener, own or shared; 0: none [cfg] */
};

struct user_conn {
	struct lnet_poll poll;
	bool releasing;			/* a thread releases it [sn.lock] */
	u8 need;			/* request bytes it waits for; 0: any [reader] */
	/* [reader] the turn has read into the staging memory, with result @ahead */
	bool is_ahead;
	ssize_t ahead;
	u64 quiet_ns;			/* [reader] not read before this time; 0: at any time */
};

static inline struct user_ni *user_ni(struct sock_ni *sn)
{
	return container_of(sn, struct user_ni, sn);
}

static inline struct user_conn *user_conn(struct sock_conn *c)
{
	return (struct user_conn *)c->io;
}

/* user.c */
bool user_conn_ready(struct lnet_poll *poll, u32 events);
u32 user_events_of(const struct sock_conn *c);
/* In the poller, without a pass: frees the descriptors of closed connections. */
void user_release_closed(struct user_ni *un);

/* user_packets.c: for struct sock_io */
void user_packets(struct sock_conn *c, u32 *sent, u32 *lost);

/* user_listen.c */
/*
 * Configuration mutex held. Listens at the NI's address, unless another NI of that address and port
 * does. 0, or -errno, which is logged.
 */
int user_listener_start(struct user_ni *un);
/*
 * Configuration mutex held. Moves the listener to an NI that shares it. No other NI hands a
 * connection to @un any more.
 */
void user_listener_stop(struct user_ni *un);
/* In its poller, when the timer has expired: ends the pause after failed accepting. */
void user_listener_turn(struct lnet_pass *p, struct user_ni *un);
/*
 * @c waits for its request and can be read; in its poller, no lock held. True: the request is
 * incomplete, or it names another NI, which has the socket now, and @c is closed.
 */
bool user_request_ready(struct lnet_pass *p, struct sock_conn *c);

/* user_addr.c */
/*
 * Returns a connecting socket, bound to the NI's address and, if permitted, a reserved port. fd or
 * -errno.
 */
int user_socket_dial(struct user_ni *un, const struct sock_addr *to);
int user_socket_listen(struct user_ni *un, u16 port);
void user_socket_options(struct user_ni *un, int fd);
/* The connection of @fd is for small messages: limits its receive buffer. */
void user_socket_small(struct user_ni *un, int fd);

/* link.c */
int user_link_start(struct user_link *link, struct user_ni *un);
void user_link_stop(struct user_link *link, struct user_ni *un);

#endif
