/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One NI of the TCP driver on sockets made of memory: the test is the network and the peers. */
#ifndef TESTS_UNIT_SOCK_FAKE_H
#define TESTS_UNIT_SOCK_FAKE_H

#include "sock_world.h"
#include <lnet/socklnd.h>

#define FAKES_MAX 64
#define FAKE_BUFFER (4U << 20)

struct fake {				/* one socket */
	struct sock_conn *c;		/* NULL: released */
	bool dialled, shut, aborted, eof, finished;
	int err;			/* of reads and writes, -errno */
	u8 *in, *out;
	u32 nr_in, at_in, nr_out;
	u32 chunk;			/* most bytes of one read or write; 0 any */
	u32 room;			/* bytes that writes may still take */
	u32 nr_reads;			/* that brought something */
	u64 unacked;
	u32 nr_unacked;			/* calls that asked for @unacked */
};

struct fake_world {
	struct contract_pair pair;
	struct contract_node *node;
	struct sock_ni *sn;
	struct fake fake[FAKES_MAX];
	unsigned int nr;
	int dial_err;			/* what the next dials say */
	void (*during_write)(void);	/* called once, before the next write takes bytes */
	bool urgent, once;		/* of the next messages */
	struct list_head msgs;
};

extern struct fake_world fw;

/* @self is the NI's NID; incarnation as of node B or A of the worked examples if it is that one. */
void fake_begin(const char *self);
/* The same, and @peer has connected; its connections are fake[CONTROL], fake[OUT], fake[IN]. */
void fake_begin_with(const char *self, const char *peer, u64 incarnation);
/* the accepting side's names of CONTROL, BULK_IN and BULK_OUT of the peer */
enum { CONTROL, OUT, IN };
void fake_end(void);			/* and checks that nothing is left */
void fake_run(u64 ns);			/* time passes; timers run; closed sockets are released */
struct fake *fake_accept(bool privileged);	/* from the other node of the examples */
struct fake *fake_accept_from(bool privileged, u8 host);	/* its address ends in @host */
/* From the address of @nid. */
struct fake *fake_accept_nid(bool privileged, const char *nid);
void fake_connected(struct fake *f, int err);
/* Bytes arrive, are read, and closed sockets released. */
void fake_in(struct fake *f, const void *data, u32 len);
void fake_eof(struct fake *f);
/* The bytes written since the last call are exactly these. */
void fake_out_is(struct fake *f, const void *data, u32 len, const char *what);
void fake_out_clear(struct fake *f);
bool fake_is_open(const struct fake *f);
struct fake *fake_last(void);
/* A PUT to @nid with @plan for its receiver. */
struct msg *fake_send(const char *nid, u32 len, u64 timeout_ns);
struct got *fake_got(unsigned int n);	/* the @nth message received, NULL */
/* The @nth message was received once, with all of its @len bytes. */
void fake_landed(unsigned int n, u32 len, const char *what);
unsigned int fake_nr_got(void);
unsigned int fake_nr_lost(void);
/* HELLO of a peer into @buf, its length; @version 3. */
u32 fake_hello(u8 *buf, const char *nid, u32 ctype, u64 incarnation);
u32 fake_request(u8 *buf);
/* A peer dials us: request and HELLO; true if it was let in. */
struct fake *fake_come(const char *nid, u32 ctype, u64 incarnation);
/* The same from the address of the NID @from. */
struct fake *fake_come_from(const char *from, bool privileged, const char *nid, u32 ctype,
			    u64 incarnation);
/* Answers our dial. */
void fake_answer(struct fake *f, const char *nid, u32 ctype, u64 incarnation);
/* A PUT frame from @nid; its length. */
u32 fake_put(u8 *buf, const char *nid, enum plan plan, unsigned int seq, u32 len, u64 cookie);

#endif
