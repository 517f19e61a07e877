/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver on kernel sockets: declarations for the files kernel*.c. */
#ifndef SOCKLND_KERNEL_H
#define SOCKLND_KERNEL_H

#include "lnet/kernel/env.h"
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/net.h>
#include <net/sock.h>
#include "lnd/socklnd/addr.h"

struct kern_ni {
	struct sock_ni sn;		/* first; ni->priv points to it */
	struct net *net;		/* not referenced: the NI ends before the instance */
	/* listening socket; NULL: none, or another NI of the address has it */
	struct socket *listener;
	void (*data_ready)(struct sock *sk);	/* the listener's original callback */
	struct completion listening;	/* signalled when a worker has set @made or listen_err */
	struct socket *made;
	int listen_err;
	/* port of the listener that this NI owns or shares; 0: none [cfg] */
	u16 listen_port;
	struct lnet_poll accept, tick, link;	/* listener, timer, device */
	struct lnet_alarm alarm;	/* alarm of @tick */
	/* alarm of @link; set only while the NI is in the list of watched NIs [watched_lock] */
	struct lnet_alarm again;
	u64 news_ns;			/* last event or change of the device [link's ready()] */
	u64 armed_ns;			/* time of the alarm; U64_MAX: not set [sn.lock] */
	u32 nr_closed;			/* connections to release [sn.lock] */
	atomic_t nr_live;		/* connections whose poll may run */
	atomic_t port;			/* counts reserved source ports tried */
	struct list_head watched;	/* all NIs [watched_lock] */
	bool up;			/* as last reported [link's ready()] */
	u8 why;				/* not up: enum lnet_link_why */
	u32 mbit;			/* as last reported */
	bool has_pinned;		/* true after a payload was sent by reference [sn.lock] */
};

struct kern_conn {			/* at c->io */
	struct lnet_poll poll;
	/* NULL: no socket yet, or moved to another NI; written by @poll under sn.lock */
	struct socket *sock;
	void (*data_ready)(struct sock *sk);	/* the socket's original callbacks */
	void (*write_space)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	/*
	 * Closed without a reset: until this time, the last bytes may be sent. 0: no time is set
	 * [sn.lock]
	 */
	u64 linger_ns;
	/* c->want_read at the last call of kern_io_want() [sn.lock] */
	bool listening;
	bool released;			/* [sn.lock] */
};

static inline struct kern_ni *kern_ni(struct sock_ni *sn)
{
	return container_of(sn, struct kern_ni, sn);
}

static inline struct kern_conn *kern_conn(struct sock_conn *c)
{
	return (struct kern_conn *)c->io;
}

/* ---- kernel.c ---- */
/* Lock held. From now on, the worker of @c may run. */
void kern_conn_setup(struct sock_conn *c);
/* Lock held. Assigns @sock to @c: the callbacks of @sock wake the worker of @c. */
void kern_conn_attach(struct sock_conn *c, struct socket *sock);
/* after the return, no callback of the socket runs */
void kern_conn_detach(struct kern_conn *kc);
void kern_staging_exit(void);
extern struct lnet_lnd_ops kern_socklnd_ops;

/* ---- kernel_pin.c: for struct sock_io ---- */
struct sock_pin *kern_pin_new(struct sock_conn *c, const struct lnet_buf *payload);
ssize_t kern_write_pinned(struct sock_conn *c, struct sock_pin *pin, const struct kvec *vec,
			  unsigned int nr);
void kern_unpin(struct sock_pin *pin);
bool kern_pin_is_free(struct sock_pin *pin);
/*
 * Called after all connections were released. Waits until devices have freed all pinned payloads.
 */
void kern_pins_end(struct kern_ni *kn);

/* ---- kernel_listen.c ---- */
/*
 * Configuration mutex held. Listens at the address and port of the NI. If another NI already
 * listens there, shares its listener. 0, or -errno, which is logged.
 */
int kern_listener_start(struct kern_ni *kn);
/*
 * Configuration mutex held; may be repeated. Moves the listener to an NI that shares it. After the
 * return, no other NI passes a connection to @kn.
 */
void kern_listener_stop(struct kern_ni *kn);
/*
 * In the worker of @c, no lock held; @c waits for its request. Returns true if the request is
 * incomplete, or if it named another NI. In the second case that NI has the socket now, and @c is
 * closed.
 */
bool kern_request_ready(struct lnet_pass *p, struct sock_conn *c);

/* ---- kernel_addr.c: process context, may sleep ---- */
/*
 * Creates a socket bound to the NI's address and a reserved port, and connects it to @nid. The
 * socket is connecting or connected.
 */
int kern_socket_dial(struct kern_ni *kn, const struct lnet_nid *nid, struct socket **sockp);
int kern_socket_listen(struct kern_ni *kn, u16 port, struct socket **sockp);
void kern_socket_options(struct kern_ni *kn, struct socket *sock);

/* ---- kernel_link.c ---- */
/*
 * Sets ni->cpts and ni->dev_cpt to the partitions near the device, unless the configuration sets
 * them.
 */
void kern_link_place(struct kern_ni *kn);
/*
 * Sets the values that the configuration does not set. After this, lnet_ni_link() reports the state
 * of the device.
 */
void kern_link_start(struct kern_ni *kn);
void kern_link_stop(struct kern_ni *kn);
/* called when the module is loaded: registers the notifiers */
int kern_link_init(void);
void kern_link_exit(void);

/* ---- kernel_param.c: module parameters ---- */
enum sock_param_ix {
#define PARAM(name, def, min, max, mode, tunable, scale, text) SOCK_P_##name,
#include "lnd/socklnd/params.def"
#undef PARAM
	SOCK_NR_PARAMS
};

struct sock_param {
	const char *name, *tunable;	/* tunable "": none */
	u64 scale;
	int value, min, max;		/* never out of range */
	bool given;
};
extern struct sock_param sock_params[SOCK_NR_PARAMS];
#define sock_param(name) (sock_params[SOCK_P_##name].value)

#endif
