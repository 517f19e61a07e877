/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver in user space: what the files user*.c and link.c share. */
#ifndef SOCKLND_USER_H
#define SOCKLND_USER_H

#include "lnet/user/env.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include "lnd/socklnd/addr.h"

/* Watches the interface that has the NI's address. */
struct user_link {
	struct lnet_poll poll;		/* fd: rtnetlink socket, -1 none */
	struct lnet_poll again;		/* fd: timer, -1 none: look without being told */
	u64 news_ns;			/* when something about links was last heard */
	struct lnet_ni *ni;
	struct sock_addr addr;
	bool up;			/* as last reported */
	u8 why;				/* not up: enum lnet_link_why */
	u32 mbit;			/* the same */
	bool known;
};

struct user_ni {
	struct sock_ni sn;		/* first: what ni->priv points to */
	struct lnet_env *env;
	unsigned int shard;
	struct lnet_poll listener;	/* fd -1: none, or another NI of the address has it */
	struct lnet_poll timer;
	struct user_link link;
	u64 paused_ns;			/* nothing is accepted until then; 0: it is [poller] */
	u8 *staging;
	u64 armed_ns;			/* what the timer is set to; U64_MAX nothing [sn.lock] */
	u32 nr_closed;			/* connections to release [sn.lock] */
	u32 nr_releasing;		/* threads in user_release_closed() [sn.lock] */
	u16 port;			/* reserved source port to try next; 0: may not use them */
	u16 listen_port;		/* of the listener that serves it; 0: none [cfg] */
};

struct user_conn {
	struct lnet_poll poll;
	bool releasing;			/* one thread does it [sn.lock] */
	u8 need;			/* bytes of the request it waits for; 0: any [reader] */
	/* [reader] its turn began with a read into the staging memory; what that gave */
	bool is_ahead;
	ssize_t ahead;
	u64 quiet_ns;			/* [reader] not looked at before; 0: at any time */
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
/* The poller, in no pass: frees the descriptors of closed connections. */
void user_release_closed(struct user_ni *un);

/* user_packets.c: of struct sock_io */
void user_packets(struct sock_conn *c, u32 *sent, u32 *lost);

/* user_listen.c */
/*
 * Configuration mutex held. Listens at the NI's address, unless another NI of that address and port
 * does. 0 or -errno, and the log says why.
 */
int user_listener_start(struct user_ni *un);
/* The same. What others need of it goes on; no connection is handed to @un any more. */
void user_listener_stop(struct user_ni *un);
/* In its poller, when the timer has rung: an end to the pause after accepting failed. */
void user_listener_turn(struct lnet_pass *p, struct user_ni *un);
/*
 * @c waits for its request and can be read; in its poller, no lock held. True: not whole yet, or
 * the request was for another NI, which has the socket now, and @c is closed.
 */
bool user_request_ready(struct lnet_pass *p, struct sock_conn *c);

/* user_addr.c */
/*
 * A socket with our options, bound to the NI's address and, if that is allowed, a reserved port. fd
 * or -errno.
 */
int user_socket_dial(struct user_ni *un, const struct sock_addr *to);
int user_socket_listen(struct user_ni *un, u16 port);
void user_socket_options(struct user_ni *un, int fd);
/* The connection of @fd is for small messages. */
void user_socket_small(struct user_ni *un, int fd);

/* link.c */
int user_link_start(struct user_link *link, struct user_ni *un);
void user_link_stop(struct user_link *link, struct user_ni *un);

#endif
