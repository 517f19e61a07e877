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
	struct net *net;		/* not referenced: the NI ends before it does */
	struct socket *listener;	/* NULL: none, or another NI of the address has it */
	void (*data_ready)(struct sock *sk);	/* the listener's original callback */
	struct completion listening;	/* a worker has set @made, or listen_err */
	struct socket *made;
	int listen_err;
	u16 listen_port;		/* port of its listener, own or shared; 0: none [cfg] */
	struct lnet_poll accept, tick, link;	/* listener, timer, device */
	struct lnet_alarm alarm;	/* of tick */
	struct lnet_alarm again;	/* of link: set only while watched [watched_lock] */
	u64 news_ns;			/* last event or change of the device [link's ready()] */
	u64 armed_ns;			/* time of the alarm; U64_MAX: not set [sn.lock] */
	u32 nr_closed;			/* connections to release [sn.lock] */
	atomic_t nr_live;		/* connections whose poll may run */
	atomic_t port;			/* counts reserved source ports tried */
	struct list_head watched;	/* all NIs [watched_lock] */
	bool up;			/* as last reported [link's ready()] */
	u8 why;				/* not up: enum lnet_link_why */
	u32 mbit;			/* as last reported */
	bool has_pinned;		/* a payload has been sent by reference [sn.lock] */
};

struct kern_conn {			/* at c->io */
	struct lnet_poll poll;
	struct socket *sock;		/* NULL: none yet, or moved; under sn.lock, by @poll */
	void (*data_ready)(struct sock *sk);	/* the socket's original callbacks */
	void (*write_space)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	/* CLOSED without a reset: last bytes may be sent until then; 0: none [sn.lock] */
	u64 linger_ns;
	bool listening;			/* c->want_read at the last kern_io_want() [sn.lock] */
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
/* L; its worker may run from now on. */
void kern_conn_setup(struct sock_conn *c);
/* L; gives @sock to @c: its callbacks wake the worker of @c. */
void kern_conn_attach(struct sock_conn *c, struct socket *sock);
void kern_conn_detach(struct kern_conn *kc);	/* none of its callbacks runs after the return */
void kern_staging_exit(void);
extern struct lnet_lnd_ops kern_socklnd_ops;

/* ---- kernel_pin.c: for struct sock_io ---- */
struct sock_pin *kern_pin_new(struct sock_conn *c, const struct lnet_buf *payload);
ssize_t kern_write_pinned(struct sock_conn *c, struct sock_pin *pin, const struct kvec *vec,
			  unsigned int nr);
void kern_unpin(struct sock_pin *pin);
bool kern_pin_is_free(struct sock_pin *pin);
/* All connections are released. Waits until devices have freed all pinned payloads. */
void kern_pins_end(struct kern_ni *kn);

/* ---- kernel_listen.c ---- */
/*
 * Configuration mutex held. Listens at the NI's address, unless another NI of that address and port
 * does. 0, or -errno, which is logged.
 */
int kern_listener_start(struct kern_ni *kn);
/*
 * Configuration mutex held; may be repeated. Moves the listener to an NI that shares it. No other
 * NI hands a connection to @kn any more.
 */
void kern_listener_stop(struct kern_ni *kn);
/*
 * @c waits for its request; in its worker, no lock held. True: the request is incomplete, or it
 * named another NI, which has the socket now, and @c is closed.
 */
bool kern_request_ready(struct lnet_pass *p, struct sock_conn *c);

/* ---- kernel_addr.c: process context, may sleep ---- */
/*
 * Creates a connecting or connected socket to @nid, bound to the NI's address and a reserved port.
 */
int kern_socket_dial(struct kern_ni *kn, const struct lnet_nid *nid, struct socket **sockp);
int kern_socket_listen(struct kern_ni *kn, u16 port, struct socket **sockp);
void kern_socket_options(struct kern_ni *kn, struct socket *sock);

/* ---- kernel_link.c ---- */
/* Sets ni->cpts and ni->dev_cpt to those near the device, if the configuration does not. */
void kern_link_place(struct kern_ni *kn);
/* Sets what the configuration left open; then lnet_ni_link() reports the state of the device. */
void kern_link_start(struct kern_ni *kn);
void kern_link_stop(struct kern_ni *kn);
int kern_link_init(void);		/* of the module: registers the notifiers */
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
