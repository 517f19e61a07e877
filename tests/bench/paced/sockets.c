/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plain sockets, for comparison: one TCP socket; two with failover in the application; or one MPTCP
 * socket, for which the kernel combines the paths.
 *
 *	sockets server LOG tcp|mptcp PORT
 *	sockets client LOG SECONDS INTERVAL_US SIZE tcp|mptcp PORT ADDRESS [ADDRESS]
 *
 * With two sockets, requests use them alternately. If no reply is received within PATIENCE_MS (an
 * environment variable, default 100), the client retransmits the request on the other socket. It
 * avoids the first socket until it receives something on it. See paced.h.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "paced.h"

#define MAX_LINKS	64
#define PATIENCE_MS	100

struct link {
	int fd;				/* -1: none */
	uint8_t *in, *out;		/* received, incomplete messages; bytes to be sent */
	size_t nr_in, nr_out, cap_in, cap_out;
	bool bad;			/* a reply was late, and nothing was received since */
};

struct again {				/* requests to be checked for a late reply, in order */
	uint64_t first;			/* number of the oldest that was not yet checked */
	uint8_t *link;			/* index of the link of each request */
};

static struct link links[MAX_LINKS];
static unsigned int nr_links;
static int64_t patience_ns = PATIENCE_MS * 1000000ll;
static volatile sig_atomic_t stopped;

static void on_term(int nr)
{
	(void)nr;
	stopped = 1;
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };

	if (!inet_aton(host, &sin.sin_addr))
		paced_die(host);
	return sin;
}

static int protocol(const char *name)
{
	return strcmp(name, "mptcp") ? IPPROTO_TCP : IPPROTO_MPTCP;
}

static void link_add(int fd)
{
	int one = 1;

	if (nr_links == MAX_LINKS)
		paced_die("too many connections");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	links[nr_links++] = (struct link){ .fd = fd };
}

static void link_drop(struct link *l)
{
	close(l->fd);
	l->fd = -1;
}

static void grow(uint8_t **buf, size_t *cap, size_t want)
{
	while (*cap < want)
		*cap = *cap ? 2 * *cap : 65536;
	*buf = realloc(*buf, *cap);
	if (!*buf)
		paced_die("memory");
}

static void flush_out(struct link *l)
{
	ssize_t n;

	while (l->fd >= 0 && l->nr_out) {
		n = send(l->fd, l->out, l->nr_out, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			link_drop(l);
		if (n <= 0)
			return;
		l->nr_out -= (size_t)n;
		memmove(l->out, l->out + n, l->nr_out);
	}
}

static void put(struct link *l, const struct paced_msg *msg, size_t size)
{
	grow(&l->out, &l->cap_out, l->nr_out + size);
	memset(l->out + l->nr_out, 0, size);
	memcpy(l->out + l->nr_out, msg, sizeof(*msg));
	l->nr_out += size;
	flush_out(l);
}

static void take(struct paced *p, struct link *l, const struct paced_msg *msg)
{
	l->bad = false;
	if (p->server) {
		paced_delivered(p, msg);
		put(l, msg, sizeof(*msg));
	} else {
		paced_answered(p, msg->id);
	}
}

static void read_in(struct paced *p, struct link *l)
{
	size_t at = 0, size;
	struct paced_msg msg;
	ssize_t n;

	grow(&l->in, &l->cap_in, l->nr_in + 2 * PACED_MAX);
	n = recv(l->fd, l->in + l->nr_in, l->cap_in - l->nr_in, 0);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		link_drop(l);
	if (n <= 0)
		return;
	l->nr_in += (size_t)n;
	for (;;) {
		if (l->nr_in - at < sizeof(msg))
			break;
		memcpy(&msg, l->in + at, sizeof(msg));
		size = p->server ? msg.size : sizeof(msg);
		if (size < sizeof(msg) || size > PACED_MAX)
			paced_die("size");
		if (l->nr_in - at < size)
			break;
		take(p, l, &msg);
		at += size;
	}
	l->nr_in -= at;
	memmove(l->in, l->in + at, l->nr_in);
}

/* Waits until a socket is ready, or until @until_ns, and serves all ready sockets. */
static void turn(struct paced *p, int listener, int64_t until_ns)
{
	int64_t ns = until_ns - paced_now();
	struct timespec wait = { ns > 0 ? ns / 1000000000 : 0, ns > 0 ? ns % 1000000000 : 0 };
	struct pollfd fds[MAX_LINKS + 1];
	unsigned int i, nr = nr_links;
	int fd;

	for (i = 0; i < nr; i++)
		fds[i] = (struct pollfd){ links[i].fd,
					  POLLIN | (links[i].nr_out ? POLLOUT : 0), 0 };
	fds[nr] = (struct pollfd){ listener, POLLIN, 0 };
	if (ppoll(fds, nr + 1, &wait, NULL) <= 0)
		return;
	for (i = 0; i < nr; i++) {
		if (fds[i].revents & POLLOUT)
			flush_out(&links[i]);
		if (fds[i].revents & ~POLLOUT && links[i].fd >= 0)
			read_in(p, &links[i]);
	}
	fd = fds[nr].revents ? accept(listener, NULL, NULL) : -1;
	if (fd >= 0)
		link_add(fd);
}

static int serve(struct paced *p, char **argv)
{
	int fd = socket(AF_INET, SOCK_STREAM, protocol(argv[3])), one = 1;
	struct sockaddr_in any = address("0.0.0.0", argv[4]);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) || listen(fd, 16))
		paced_die("listen");
	puts("ready");
	fflush(stdout);
	while (!stopped)
		turn(p, fd, paced_now() + 100000000);
	return paced_end(p);
}

/* The next link in round-robin order; a bad one only if the other is bad as well. */
static unsigned int pick(uint64_t nr)
{
	unsigned int i = (unsigned int)(nr % nr_links);

	return links[i].bad && !links[(i + 1) % nr_links].bad ? (i + 1) % nr_links : i;
}

/* Retransmits each request with a late reply on the other link, once. */
static void look_again(struct paced *p, struct again *a)
{
	int64_t due = paced_now() - patience_ns;
	unsigned int other;

	for (; a->first < p->issued; a->first++) {
		int64_t at = p->issued_ns[a->first];
		struct paced_msg msg = { p->instance << PERF_ID_SHIFT | (a->first + 1), p->size };

		if (at > due)
			return;
		if (!at)
			continue;
		other = (a->link[a->first] + 1) % nr_links;
		links[a->link[a->first]].bad = true;
		put(&links[other], &msg, p->size);
	}
}

static int request(struct paced *p, int argc, char **argv)
{
	struct again again = { .link = calloc(p->cap, 1) };
	int i;

	for (i = 8; i < argc; i++) {
		struct sockaddr_in to = address(argv[i], argv[7]);
		int fd = socket(AF_INET, SOCK_STREAM, protocol(argv[6]));

		if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
			paced_die(argv[i]);
		link_add(fd);
	}
	p->start_ns = paced_now();
	while (!paced_over(p) && !stopped) {
		if (paced_now() >= paced_next(p)) {
			struct paced_msg msg = paced_issue(p);
			unsigned int l = pick(p->issued);

			again.link[p->issued - 1] = (uint8_t)l;
			put(&links[l], &msg, p->size);
			continue;
		}
		turn(p, -1, paced_next(p) == INT64_MAX ? paced_now() + 1000000 : paced_next(p));
		if (nr_links > 1)
			look_again(p, &again);
	}
	return paced_end(p);
}

int main(int argc, char **argv)
{
	struct paced p;

	if (argc < 5 || (argv[1][0] != 's' && argc < 9)) {
		fprintf(stderr, "%s server LOG tcp|mptcp PORT\n", argv[0]);
		fprintf(stderr, "%s client LOG SECONDS INTERVAL_US SIZE tcp|mptcp PORT ", argv[0]);
		fprintf(stderr, "ADDRESS [ADDRESS]\n");
		return 2;
	}
	if (getenv("PATIENCE_MS"))
		patience_ns = atoll(getenv("PATIENCE_MS")) * 1000000ll;
	p = paced_start(argc, argv);
	signal(SIGTERM, on_term);
	return p.server ? serve(&p, argv) : request(&p, argc, argv);
}
