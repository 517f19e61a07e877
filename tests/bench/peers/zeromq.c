/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ZeroMQ, for comparison: PAIR sockets over TCP; see peer.h. */
#include "peer.h"

#include <zmq.h>

static void *sock;

/* Called instead of free(): the buffers of messages are static. */
static void keep(void *data, void *hint)
{
	(void)data;
	(void)hint;
}

static void send_one(const struct peer_job *job, uint64_t i)
{
	zmq_msg_t msg;

	if (job->what != 's') {
		if (zmq_send(sock, peer_buffer(job, i), job->size, 0) < 0)
			peer_die("zmq_send");
		return;
	}
	zmq_msg_init_data(&msg, peer_buffer(job, i), job->size, keep, NULL);
	if (zmq_msg_send(&msg, sock, 0) < 0)
		peer_die("zmq_msg_send");
}

/* Receives the next message and returns its length. */
static size_t receive_one(void)
{
	zmq_msg_t msg;
	size_t len;

	zmq_msg_init(&msg);
	if (zmq_msg_recv(&msg, sock, 0) < 0)
		peer_die("zmq_msg_recv");
	len = zmq_msg_size(&msg);
	zmq_msg_close(&msg);
	return len;
}

/* The last message has one byte. */
static void server(const struct peer_job *job)
{
	uint64_t nr = 0;

	while (receive_one() == job->size) {
		if (job->what == 'r')
			send_one(job, 0);
		nr++;
	}
	zmq_send(sock, &nr, sizeof(nr), 0);
}

static void round_trips(struct peer_job *job)
{
	uint64_t from = peer_now(), until = from + job->ns, to;
	bool more = true;

	for (; more && from < until; from = to) {
		send_one(job, 0);
		receive_one();
		to = peer_now();
		more = peer_rtt_add(job, to - from);
	}
}

static void client(struct peer_job *job)
{
	uint64_t start, until, nr = 0;

	start = peer_now();
	if (job->what == 'r') {
		round_trips(job);
		peer_rtt_print(job);
	} else {
		for (until = start + job->ns; peer_now() < until; nr++)
			send_one(job, nr);
	}
	zmq_send(sock, "", 1, 0);
	if (zmq_recv(sock, &nr, sizeof(nr), 0) != sizeof(nr))
		peer_die("zmq_recv");
	if (job->what != 'r')
		peer_rate_print(job, nr, start);
}

int main(int argc, char **argv)
{
	struct peer_job job = peer_job_parse(argc, argv);
	void *ctx = zmq_ctx_new();
	char where[64];

	sock = zmq_socket(ctx, ZMQ_PAIR);
	snprintf(where, sizeof(where), "tcp://%s:%s", job.address, job.port);
	if (job.server ? zmq_bind(sock, where) : zmq_connect(sock, where))
		peer_die("zmq_bind or zmq_connect");
	if (job.server) {
		printf("ready\n");
		fflush(stdout);
		server(&job);
	} else {
		client(&job);
	}
	zmq_close(sock);
	zmq_ctx_term(ctx);
	return 0;
}
