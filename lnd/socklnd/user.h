/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver in user space: declarations for the files user*.c and link.c. */
#ifndef SOCKLND_USER_H
#define SOCKLND_USER_H

#include "lnet/user/env.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include "lnd/socklnd/addr.h"

/* The watch of the interface that has the NI's address. */
struct user_link {
	struct lnet_poll poll;		/* fd: rtnetlink socket, -1 none */
	struct lnet_poll again;		/* @fd: timer of periodic checks; -1: none */
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
	/* listening socket; fd -1: none, or another NI of the address has it */
	struct lnet_poll listener;
	struct lnet_poll timer;
	struct user_link link;
	/* the NI accepts no connection before this time; 0: no pause [poller] */
	u64 paused_ns;
	u8 *staging;
	u64 armed_ns;			/* time of the timer; U64_MAX: not set [sn.lock] */
	u32 nr_closed;			/* connections to release [sn.lock] */
	u32 nr_releasing;		/* threads in user_release_closed() [sn.lock] */
	/* next reserved source port; 0: the process may not use reserved ports */
	u16 port;
	/* port of the listener that this NI owns or shares; 0: none [cfg] */
	u16 listen_port;
};

struct user_conn {
	struct lnet_poll poll;
	bool releasing;			/* a thread releases it [sn.lock] */
	/* bytes of the request for which the connection waits; 0: any [reader] */
	u8 need;
	/* [reader] This turn has already read into the staging memory, with the result @ahead. */
	bool is_ahead;
	ssize_t ahead;
	/* [reader] the connection is not read before this time; 0: at any time */
	u64 quiet_ns;
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
/*
 * In the poller; the thread has no struct lnet_pass. Frees the descriptors of closed connections.
 */
void user_release_closed(struct user_ni *un);

/* user_packets.c: for struct sock_io */
void user_packets(struct sock_conn *c, u32 *sent, u32 *lost);

/* user_listen.c */
/*
 * Configuration mutex held. Listens at the address and port of the NI. If another NI already
 * listens there, shares its listener. 0, or -errno, which is logged.
 */
int user_listener_start(struct user_ni *un);
/*
 * Configuration mutex held. Moves the listener to an NI that shares it. After the return, no other
 * NI passes a connection to @un.
 */
void user_listener_stop(struct user_ni *un);
/*
 * In the poller of the NI, when the timer has expired. If the NI has paused accepting after a
 * failure, and the pause is over, makes the NI accept again.
 */
void user_listener_turn(struct lnet_pass *p, struct user_ni *un);
/*
 * In the poller of @c, no lock held; @c waits for its request and can be read. Returns true if the
 * request is incomplete, or if it names another NI. In the second case that NI has the socket now,
 * and @c is closed.
 */
bool user_request_ready(struct lnet_pass *p, struct sock_conn *c);

/* user_addr.c */
/*
 * Returns a connecting socket, bound to the NI's address and, if permitted, to a reserved port.
 * Returns the descriptor or -errno.
 */
int user_socket_dial(struct user_ni *un, const struct sock_addr *to);
int user_socket_listen(struct user_ni *un, u16 port);
void user_socket_options(struct user_ni *un, int fd);
/* Limits the receive buffer of @fd, because the connection is for small messages. */
void user_socket_small(struct user_ni *un, int fd);

/* link.c */
int user_link_start(struct user_link *link, struct user_ni *un);
void user_link_stop(struct user_link *link, struct user_ni *un);

#endif
