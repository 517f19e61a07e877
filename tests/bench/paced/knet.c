/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libknet with two links over UDP, for comparison; cluster managers use it between their nodes. It
 * pings its links and stops using an unresponsive one. It does not retransmit messages that were
 * lost on such a link. See paced.h.
 *
 *	knet server LOG passive|active|rr PORT ADDRESS FAR [ADDRESS FAR]
 *	knet client LOG SECONDS INTERVAL_US SIZE passive|active|rr PORT ADDRESS FAR [ADDRESS FAR]
 *
 * The timers are the shortest that work reliably here. libknet sends a ping each 20 ms, and a link
 * is down if no reply is received within 50 ms.
 */
#include <arpa/inet.h>
#include <libknet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "paced.h"

#define PING_MS		20
#define PONG_MS		50
#define PRECISION	2048
#define PONGS		2
#define WAIT_S		20

static volatile sig_atomic_t stopped;

static void on_term(int nr)
{
	(void)nr;
	stopped = 1;
}

static void on_sock(void *arg, int fd, int8_t channel, uint8_t way, int error, int number)
{
	(void)arg, (void)fd, (void)channel, (void)way, (void)error, (void)number;
}

/* Addresses each message to the other host. */
static int to_other(void *arg, const unsigned char *data, ssize_t len, uint8_t way,
		    knet_node_id_t here, knet_node_id_t from, int8_t *channel,
		    knet_node_id_t *to, size_t *nr)
{
	(void)arg, (void)data, (void)len, (void)from, (void)channel;
	to[0] = way == KNET_NOTIFY_TX ? 3 - here : here;
	*nr = 1;
	return 0;
}

static struct sockaddr_storage address(const char *host, const char *port)
{
	struct sockaddr_storage ss = { 0 };
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;

	sin->sin_family = AF_INET;
	sin->sin_port = htons((uint16_t)atoi(port));
	if (!inet_aton(host, &sin->sin_addr))
		paced_die(host);
	return ss;
}

static void link_up(knet_handle_t h, knet_node_id_t other, uint8_t i, const char *port,
		    char **pair)
{
	struct sockaddr_storage here = address(pair[0], port), there = address(pair[1], port);

	if (knet_link_set_config(h, other, i, KNET_TRANSPORT_UDP, &here, &there, 0) ||
	    knet_link_set_ping_timers(h, other, i, PING_MS, PONG_MS, PRECISION) ||
	    knet_link_set_pong_count(h, other, i, PONGS) || knet_link_set_enable(h, other, i, 1))
		paced_die("link");
}

static uint8_t policy(const char *name)
{
	return name[0] == 'a' ? KNET_LINK_POLICY_ACTIVE :
	       name[0] == 'r' ? KNET_LINK_POLICY_RR : KNET_LINK_POLICY_PASSIVE;
}

static knet_handle_t knet_up(bool server, char **word, int nr, int *fd)
{
	knet_node_id_t me = server ? 2 : 1;
	knet_handle_t h = knet_handle_new(me, 0, 0);
	int8_t channel = -1;
	uint8_t i;

	*fd = 0;
	if (!h || knet_handle_enable_sock_notify(h, NULL, on_sock) ||
	    knet_handle_add_datafd(h, fd, &channel) ||
	    knet_handle_enable_filter(h, NULL, to_other) || knet_host_add(h, 3 - me) ||
	    knet_host_set_policy(h, 3 - me, policy(word[0])))
		paced_die("knet");
	for (i = 0; 2 + 2 * i + 1 < nr; i++)
		link_up(h, 3 - me, i, word[1], word + 2 + 2 * i);
	if (knet_handle_setfwd(h, 1))
		paced_die("forward");
	return h;
}

static void wait_reachable(knet_handle_t h, knet_node_id_t other)
{
	int64_t until_ns = paced_now() + WAIT_S * 1000000000ll;
	struct timespec wait = { 0, 20000000 };
	struct knet_host_status st = { 0 };

	while (!knet_host_get_status(h, other, &st) && !st.reachable) {
		if (paced_now() > until_ns)
			paced_die("other host");
		nanosleep(&wait, NULL);
	}
}

/* Receives one message. Returns 0 if none is received before @until_ns. */
static ssize_t receive(int fd, void *buf, int64_t until_ns)
{
	int64_t ns = until_ns - paced_now();
	struct timespec wait = { ns > 0 ? ns / 1000000000 : 0, ns > 0 ? ns % 1000000000 : 0 };
	struct pollfd p = { fd, POLLIN, 0 };

	return ppoll(&p, 1, &wait, NULL) > 0 ? recv(fd, buf, PACED_MAX, MSG_DONTWAIT) : 0;
}

static int serve(struct paced *p, int fd, uint8_t *buf)
{
	struct paced_msg *msg = (struct paced_msg *)buf;

	puts("ready");
	fflush(stdout);
	while (!stopped) {
		if (receive(fd, buf, paced_now() + 100000000) < (ssize_t)sizeof(*msg))
			continue;
		paced_delivered(p, msg);
		if (send(fd, msg, sizeof(*msg), MSG_NOSIGNAL) < 0)
			paced_die("answer");
	}
	return paced_end(p);
}

static int request(struct paced *p, int fd, uint8_t *buf)
{
	struct paced_msg *msg = (struct paced_msg *)buf;
	int64_t until;

	p->end_ns += paced_now() - p->start_ns;
	p->start_ns = paced_now();
	while (!paced_over(p) && !stopped) {
		if (paced_now() >= paced_next(p)) {
			*msg = paced_issue(p);
			if (send(fd, buf, p->size, MSG_NOSIGNAL) < 0)
				paced_die("request");
			continue;
		}
		until = paced_next(p) == INT64_MAX ? paced_now() + 1000000 : paced_next(p);
		if (receive(fd, buf, until) >= (ssize_t)sizeof(*msg))
			paced_answered(p, msg->id);
	}
	return paced_end(p);
}

int main(int argc, char **argv)
{
	int at = argc > 1 && argv[1][0] == 's' ? 3 : 6, fd;
	uint8_t *buf = calloc(1, PACED_MAX);
	knet_handle_t h;
	struct paced p;

	if (argc < at + 4 || !buf) {
		fprintf(stderr, "%s server LOG | client LOG SECONDS INTERVAL_US SIZE, ", argv[0]);
		fprintf(stderr, "then passive|active|rr PORT ADDRESS FAR [ADDRESS FAR]\n");
		return 2;
	}
	signal(SIGTERM, on_term);
	p = paced_start(argc, argv);
	h = knet_up(p.server, argv + at, argc - at, &fd);
	if (!p.server)
		wait_reachable(h, 2);
	return p.server ? serve(&p, fd, buf) : request(&p, fd, buf);
}
