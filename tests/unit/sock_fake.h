/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One NI of the TCP driver on sockets in memory: the test plays the network and the peers. */
#ifndef TESTS_UNIT_SOCK_FAKE_H
#define TESTS_UNIT_SOCK_FAKE_H

#include "sock_world.h"
#include <lnet/socklnd.h>

#define FAKES_MAX 64
#define FAKE_BUFFER (4U << 20)

struct fake {				/* one socket */
	struct sock_conn *c;		/* NULL: released */
	bool dialled, shut, aborted, eof, finished;
	int err;			/* returned by reads and writes, -errno */
	u8 *in, *out;
	u32 nr_in, at_in, nr_out;
	u32 chunk;			/* limit of bytes per read or write; 0: none */
	u32 room;			/* bytes that writes may still take */
	u32 nr_reads;			/* reads that returned bytes */
	u64 unacked;
	u32 nr_unacked;			/* calls that read @unacked */
};

struct fake_world {
	struct contract_pair pair;
	struct contract_node *node;
	struct sock_ni *sn;
	struct fake fake[FAKES_MAX];
	unsigned int nr;
	int dial_err;			/* result of the next dials */
	void (*during_write)(void);	/* called once, before the next write takes bytes */
	bool urgent, once;		/* for the next messages */
	struct list_head msgs;
};

extern struct fake_world fw;

/* @self is the NI's NID. If it is node A or B of the worked examples, so is the incarnation. */
void fake_begin(const char *self);
/* Also lets @peer connect; its connections are fake[CONTROL], fake[OUT], fake[IN]. */
void fake_begin_with(const char *self, const char *peer, u64 incarnation);
/* CONTROL, BULK_IN and BULK_OUT of the peer, as named on the accepting side */
enum { CONTROL, OUT, IN };
void fake_end(void);			/* also checks that nothing is left */
void fake_run(u64 ns);			/* advances time; runs timers; releases closed sockets */
struct fake *fake_accept(bool privileged);	/* from the other node of the examples */
struct fake *fake_accept_from(bool privileged, u8 host);	/* the address ends in @host */
/* From the address of @nid. */
struct fake *fake_accept_nid(bool privileged, const char *nid);
void fake_connected(struct fake *f, int err);
/* Bytes are received and read, and closed sockets are released. */
void fake_in(struct fake *f, const void *data, u32 len);
void fake_eof(struct fake *f);
/* Checks that exactly these bytes were written since the last call. */
void fake_out_is(struct fake *f, const void *data, u32 len, const char *what);
void fake_out_clear(struct fake *f);
bool fake_is_open(const struct fake *f);
struct fake *fake_last(void);
/* Sends a PUT to @nid. */
struct msg *fake_send(const char *nid, u32 len, u64 timeout_ns);
struct got *fake_got(unsigned int n);	/* the @nth message received, or NULL */
/* Checks that message @n was received once, with all of its @len bytes. */
void fake_landed(unsigned int n, u32 len, const char *what);
unsigned int fake_nr_got(void);
unsigned int fake_nr_lost(void);
/* Encodes the HELLO, version 3, of a peer into @buf; returns its length. */
u32 fake_hello(u8 *buf, const char *nid, u32 ctype, u64 incarnation);
u32 fake_request(u8 *buf);
/* A peer connects to the NI and sends the acceptor request and the HELLO. */
struct fake *fake_come(const char *nid, u32 ctype, u64 incarnation);
/* The same from the address of the NID @from. */
struct fake *fake_come_from(const char *from, bool privileged, const char *nid, u32 ctype,
			    u64 incarnation);
/* Sends the HELLO of a peer in reply to a dial of the NI. */
void fake_answer(struct fake *f, const char *nid, u32 ctype, u64 incarnation);
/* Encodes a PUT frame from @nid; returns its length. */
u32 fake_put(u8 *buf, const char *nid, enum plan plan, unsigned int seq, u32 len, u64 cookie);

#endif
