/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The server of management over NETLINK_USERSOCK: checks permissions, receives requests and sends
 * replies.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "control/control.h"
#include "netlink.h"

#define REQUEST_MAX	65536	/* longest request, bytes */
#define DATAGRAM_MAX	32768	/* replies are sent in pieces of this size */
/*
 * bytes reserved in a piece of a dump for the message that ends the dump; also the maximum that an
 * ACK has in addition to the request that it contains
 */
#define TAIL_MAX	512
#define ACK_MAX		(REQUEST_MAX + TAIL_MAX)
#define GONE_MS		1000	/* interval of checks that a client still waits */
/* pause before a retry to a reader with a full queue; each failure doubles it */
#define RETRY_MIN_MS	1
#define RETRY_MAX_MS	50
#define JOIN_MS		500	/* interval of checks for awaited interfaces */
#define STALLED_MS	60000	/* a reader that took nothing for this time is dropped */

/* The sender of a request; port and sequence of the reply. */
struct client {
	u32 portid, seq;
	uid_t uid;
	pid_t pid;
};

/* A dump in progress. */
struct job {
	struct list_head link;
	struct client client;
	struct lnet_ctl_dump dump;
	struct lnet_ctl_err e;
	u8 cmd;
	bool waiting;		/* for other nodes */
	bool finished;		/* the end of the dump is in @buf, or was sent */
	u32 len;		/* bytes of @buf that the client has not taken */
	u64 since_ms, retry_ms;	/* time of the last progress; pause before the next try */
	u64 look_ms;		/* time of the last check that the client waits */
	u32 buf[DATAGRAM_MAX / sizeof(u32)];
};

struct lnet_nl_server {
	struct lnet_control ctl;
	struct lnet_nl_server_cfg cfg;
	char name[LNET_NL_NODE_NAME_SIZE], version[64];
	int fd, wake_fd;
	struct list_head jobs;
	unsigned int nr_jobs;
	u64 join_ms;		/* time of the last check for awaited interfaces */
	u8 request[REQUEST_MAX];
	u32 ack[ACK_MAX / sizeof(u32)];
};

static u64 server_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

/* ---- functions of the platform for control/ -------------------------------------------------- */

static bool take_address(const struct sockaddr *sa, u32 net, struct lnet_nid *nid)
{
	char text[INET6_ADDRSTRLEN + LNET_NIDSTR_SIZE], net_text[LNET_NIDSTR_SIZE];
	const void *addr = &((const struct sockaddr_in *)sa)->sin_addr;
	size_t len;

	if (sa->sa_family == AF_INET6) {
		addr = &((const struct sockaddr_in6 *)sa)->sin6_addr;
		if (IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)addr))
			return false;
	}
	if (!inet_ntop(sa->sa_family, addr, text, INET6_ADDRSTRLEN))
		return false;
	len = strlen(text);
	snprintf(text + len, sizeof(text) - len, "@%s", lnet_net_str(net, net_text));
	return !lnet_nid_parse(nid, text);
}

/* Finds the address of an interface; prefers IPv4 to IPv6. @ifname may be a label ("eth0:1"). */
static int server_interface_nid(void *arg, const char *ifname, u32 net, struct lnet_nid *nid)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct ifaddrs *all, *ifa;
	bool found = false;
	unsigned int i;

	if (getifaddrs(&all))
		return -errno;
	for (i = 0; i < ARRAY_SIZE(families) && !found; i++)
		for (ifa = all; ifa && !found; ifa = ifa->ifa_next)
			found = ifa->ifa_addr && ifa->ifa_addr->sa_family == families[i] &&
				!strcmp(ifa->ifa_name, ifname) &&
				take_address(ifa->ifa_addr, net, nid);
	freeifaddrs(all);
	if (found)
		return 0;
	return if_nametoindex(ifname) ? -EADDRNOTAVAIL : -ENODEV;
}

static void server_wake(void *arg)
{
	lnet_nl_server_wake(arg);
}

static bool is_candidate(const struct ifaddrs *ifa, int family)
{
	return ifa->ifa_addr && ifa->ifa_addr->sa_family == family && ifa->ifa_flags & IFF_UP;
}

/*
 * Finds the first interface that is up and has an address, except loopback. Prefers IPv4 to IPv6.
 */
static int server_first_nid(void *arg, u32 net, struct lnet_nid *nid, char ifname[16])
{
	struct ifaddrs *all, *ifa;
	int rc = -ENODEV;

	if (getifaddrs(&all))
		return -errno;
	for (ifa = all; ifa && rc; ifa = ifa->ifa_next) {
		if (ifa->ifa_flags & IFF_LOOPBACK ||
		    (!is_candidate(ifa, AF_INET) && !is_candidate(ifa, AF_INET6)))
			continue;
		strscpy(ifname, ifa->ifa_name, 16);
		rc = server_interface_nid(arg, ifname, net, nid);
	}
	freeifaddrs(all);
	return rc;
}

static bool server_address_in(void *arg, const struct lnet_nidlist *list)
{
	struct lnet_nid nid = { .type = LNET_LND_TCP };
	struct ifaddrs *all, *ifa;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (ifa = all; ifa && !found; ifa = ifa->ifa_next) {
		if (!is_candidate(ifa, AF_INET))
			continue;
		nid.addr[0] = ((const struct sockaddr_in *)ifa->ifa_addr)->sin_addr.s_addr;
		found = lnet_nidlist_match(list, &nid);
	}
	freeifaddrs(all);
	return found;
}

static const struct lnet_control_ops control_ops = {
	.interface_nid = server_interface_nid,
	.first_nid = server_first_nid,
	.address_in = server_address_in,
	.wake = server_wake,
};

/* ---- messages -------------------------------------------------------------------------------- */

/* Appends @text as a TLV to the message of @msg_len bytes at @msg. Returns the new length. */
static u32 msg_append_text(u8 *msg, u32 msg_len, const char *text)
{
	struct nlattr a = { .nla_type = NLMSGERR_ATTR_MSG };
	u32 len = (u32)strlen(text) + 1;

	if (len == 1)
		return msg_len;
	a.nla_len = (u16)(sizeof(a) + len);
	memset(msg + msg_len, 0, NLA_ALIGN(a.nla_len));
	memcpy(msg + msg_len, &a, sizeof(a));
	memcpy(msg + msg_len + sizeof(a), text, len);
	return msg_len + NLA_ALIGN(a.nla_len);
}

static u16 text_flag(const char *text)
{
	return *text ? NLM_F_ACK_TLVS : 0;
}

/*
 * Writes the ACK of a request to @at, which has at least ACK_MAX bytes. Returns its length. An ACK
 * with an error contains the whole request, as in the kernel, because stock's tool expects the text
 * behind the request.
 */
static u32 put_ack(void *at, const struct nlmsghdr *req, u32 portid, int err, const char *text)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} ack = {
		.h = { .nlmsg_type = NLMSG_ERROR,
		       .nlmsg_flags = (err ? 0 : NLM_F_CAPPED) | text_flag(text),
		       .nlmsg_seq = req->nlmsg_seq, .nlmsg_pid = portid },
		.e = { .error = err, .msg = *req },
	};
	u32 len = sizeof(ack), rest = err ? req->nlmsg_len - NLMSG_HDRLEN : 0;

	memcpy(at, &ack, sizeof(ack));
	memset((u8 *)at + len, 0, NLMSG_ALIGN(rest));
	memcpy((u8 *)at + len, (const u8 *)req + NLMSG_HDRLEN, rest);
	len = msg_append_text(at, len + NLMSG_ALIGN(rest), text);
	memcpy(at, &len, sizeof(len));
	return len;
}

/* Writes the end of a dump to @at. Returns its length. */
static u32 put_done(void *at, const struct client *client, int err, const char *text)
{
	struct {
		struct nlmsghdr h;
		int err;
	} done = {
		.h = { .nlmsg_type = NLMSG_DONE, .nlmsg_flags = NLM_F_MULTI | text_flag(text),
		       .nlmsg_seq = client->seq, .nlmsg_pid = client->portid },
		.err = err,
	};
	u32 len;

	memcpy(at, &done, sizeof(done));
	len = msg_append_text(at, sizeof(done), text);
	memcpy(at, &len, sizeof(len));
	return len;
}

/*
 * Writes the next piece of a dump to @buf. Returns its length. *@end: the piece contains the end of
 * the dump. If 0 is returned without *@end, the reply follows later.
 */
static u32 piece_fill(struct lnet_ctl_dump *d, const struct client *client, u8 cmd, void *buf,
		      struct lnet_ctl_err *e, bool *end)
{
	struct lnet_nlw w;
	int rc;

	lnet_nlw_init(&w, buf, DATAGRAM_MAX - TAIL_MAX, LNET_NL_USER_TYPE, cmd, client->portid,
		      client->seq);
	rc = lnet_control_dump_piece(d, &w, e);
	*end = rc != -EINPROGRESS && rc != 1;
	if (!*end)
		return w.b.len;
	return w.b.len + put_done((u8 *)buf + w.b.len, client, rc, e->text);
}

/* ---- dumps in progress ----------------------------------------------------------------------- */

static void job_free(struct lnet_nl_server *srv, struct job *job)
{
	list_del(&job->link);
	srv->nr_jobs--;
	lnet_control_dump_end(&job->dump);
	kfree(job);
}

/*
 * Sends a message. 0; -EAGAIN: the client's queue is full; another error: the client has closed its
 * socket.
 */
static int client_send(struct lnet_nl_server *srv, u32 portid, const void *buf, u32 len)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_pid = portid };

	if (sendto(srv->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL, (void *)&to, sizeof(to)) < 0)
		return errno == ENOBUFS ? -EAGAIN : -errno;
	return 0;
}

/* Sends a message that the reader ignores. False: the client has closed its socket. */
static bool client_is_connected(struct lnet_nl_server *srv, const struct client *client)
{
	struct nlmsghdr noop = { .nlmsg_len = sizeof(noop), .nlmsg_type = NLMSG_NOOP,
				 .nlmsg_seq = client->seq, .nlmsg_pid = client->portid };
	int rc = client_send(srv, client->portid, &noop, sizeof(noop));

	return !rc || rc == -EAGAIN;
}

/* Checks the client of a job that waits for other nodes. False: the client no longer waits. */
static bool job_is_awaited(struct lnet_nl_server *srv, struct job *job)
{
	u64 now = server_now_ms();

	if (now - job->look_ms < GONE_MS)
		return true;
	job->look_ms = now;
	return client_is_connected(srv, &job->client);
}

static void job_fill(struct job *job)
{
	job->len =
		piece_fill(&job->dump, &job->client, job->cmd, job->buf, &job->e, &job->finished);
}

/* Sends as many bytes as the client takes. False: the job has ended. */
static bool job_run(struct lnet_nl_server *srv, struct job *job)
{
	for (;;) {
		int rc;

		if (!job->len && job->finished)
			return false;
		if (!job->len)
			job_fill(job);
		job->waiting = !job->len;
		if (job->waiting)
			return job_is_awaited(srv, job);
		rc = client_send(srv, job->client.portid, job->buf, job->len);
		if (rc == -EAGAIN)
			return server_now_ms() - job->since_ms < STALLED_MS;
		if (rc)
			return false;
		job->len = 0;
		job->since_ms = server_now_ms();
		job->retry_ms = RETRY_MIN_MS;
	}
}

static void jobs_run(struct lnet_nl_server *srv)
{
	struct job *job, *next;

	list_for_each_entry_safe(job, next, &srv->jobs, link) {
		job->retry_ms = min_t(u64, 2 * job->retry_ms, RETRY_MAX_MS);
		if (!job_run(srv, job))
			job_free(srv, job);
	}
}

/*
 * Returns the maximum time of a poll. It is bounded because a reader may have a full queue, or may
 * have closed its socket.
 */
static int jobs_pause(const struct lnet_nl_server *srv, int timeout_ms)
{
	const struct job *job;
	int pause;

	list_for_each_entry(job, &srv->jobs, link) {
		pause = job->waiting ? GONE_MS : (int)job->retry_ms;
		if (timeout_ms < 0 || pause < timeout_ms)
			timeout_ms = pause;
	}
	return timeout_ms;
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool client_is_owner(const struct lnet_nl_server *srv, const struct client *client)
{
	return client->uid == 0 || client->uid == srv->ctl.uid;
}

static int client_may(const struct lnet_nl_server *srv, const struct client *client,
		      const struct lnet_ctl_req *req, struct lnet_ctl_err *e)
{
	if (client_is_owner(srv, client) || !lnet_control_is_for_owner(req->cmd, req->flags))
		return 0;
	return lnet_ctl_fail(e, -EPERM, "only root and user %u may %s this node", srv->ctl.uid,
			     lnet_control_changes(req->cmd, req->flags) ? "change" :
			     "ping, discover or explain at");
}

static int job_may_start(struct lnet_nl_server *srv, const struct client *client,
			 struct lnet_ctl_err *e)
{
	struct lnet_ctl_questions q = { .nr = srv->nr_jobs,
					.root = client->uid == 0,
					.owner = client_is_owner(srv, client) };
	const struct job *job;

	list_for_each_entry(job, &srv->jobs, link) {
		q.nr_client += job->client.portid == client->portid;
		q.nr_user += job->client.uid == client->uid;
		q.nr_others += !client_is_owner(srv, &job->client);
	}
	return lnet_control_may_ask(&srv->ctl, &q, e);
}

static int nl_request_execute(struct lnet_nl_server *srv, const struct lnet_ctl_req *req,
			      struct lnet_ctl_err *e)
{
	bool kept = srv->cfg.begin && lnet_control_configures(req);
	size_t size = lnet_control_size(&srv->ctl, req);
	int rc = kept ? srv->cfg.begin(srv->cfg.arg, size, e) : 0;

	if (rc)
		return rc;
	rc = lnet_control_do(&srv->ctl, req, e);
	return kept ? srv->cfg.end(srv->cfg.arg, rc, e) : rc;
}

static int job_start(struct lnet_nl_server *srv, const struct client *client,
		     const struct lnet_ctl_req *req, struct lnet_ctl_err *e)
{
	struct job *job;
	int rc = job_may_start(srv, client, e);

	if (rc)
		return rc;
	job = kzalloc(sizeof(*job), GFP_KERNEL);
	if (!job)
		return -ENOMEM;
	rc = lnet_control_dump_start(&srv->ctl, req, &job->dump, e);
	if (rc) {
		kfree(job);
		return rc;
	}
	job->client = *client;
	job->cmd = req->cmd;
	job->since_ms = job->look_ms = server_now_ms();
	job->retry_ms = RETRY_MIN_MS;
	list_add_tail(&job->link, &srv->jobs);
	srv->nr_jobs++;
	if (!job_run(srv, job))
		job_free(srv, job);
	return 0;
}

static bool nlmsg_is_dump(const struct nlmsghdr *h)
{
	return (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

static bool req_has_reply(const struct nlmsghdr *h, const struct lnet_ctl_req *req)
{
	return nlmsg_is_dump(h) || lnet_control_tells(req->cmd, req->flags);
}

/* Serves one message. False: the message is not a request to this server. */
static bool request_read(const struct nlmsghdr *h, struct lnet_ctl_req *req)
{
	const struct genlmsghdr *g = (const void *)((const u8 *)h + NLMSG_HDRLEN);

	if (h->nlmsg_type != LNET_NL_USER_TYPE || !(h->nlmsg_flags & NLM_F_REQUEST) ||
	    h->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return false;
	*req = (struct lnet_ctl_req){
		.cmd = g->cmd, .version = g->version, .flags = h->nlmsg_flags,
		.attrs = (const u8 *)g + GENL_HDRLEN,
		.len = h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN,
	};
	return true;
}

static void nl_request_serve(struct lnet_nl_server *srv, const struct nlmsghdr *h,
			     struct client *client)
{
	struct lnet_ctl_err e = { "" };
	struct lnet_ctl_req req;
	int rc;

	if (!request_read(h, &req))
		return;
	client->seq = h->nlmsg_seq;
	req.from = client->portid;
	req.uid = client->uid;
	req.pid = (u32)client->pid;
	rc = client_may(srv, client, &req, &e);
	if (!rc && req_has_reply(h, &req)) {
		rc = job_start(srv, client, &req, &e);
		if (!rc)
			return;
	} else if (!rc) {
		rc = nl_request_execute(srv, &req, &e);
	}
	client_send(srv, client->portid, srv->ack,
		    put_ack(srv->ack, h, client->portid, rc, e.text));
}

static void client_named(struct client *client, const struct ucred *who)
{
	client->uid = who->uid;
	client->pid = who->pid;
}

/* Receives one datagram and serves its requests. False: there is none. */
static bool server_receive(struct lnet_nl_server *srv)
{
	struct sockaddr_nl from = { .nl_pid = 0 };
	struct iovec iov = { srv->request, sizeof(srv->request) };
	char control[CMSG_SPACE(sizeof(struct ucred))] __aligned(8);
	struct msghdr msg = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov,
			      .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(srv->fd, &msg, MSG_DONTWAIT | MSG_TRUNC);
	const struct nlmsghdr *h = (const void *)srv->request;
	struct client client = { .portid = from.nl_pid, .uid = (uid_t)-1 };
	struct cmsghdr *c;
	int rest;

	if (n < 0)
		return false;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			client_named(&client, (const struct ucred *)CMSG_DATA(c));
	if (!client.portid || (size_t)n > sizeof(srv->request))
		return true;
	for (rest = (int)n; rest > 0 && NLMSG_OK(h, (u32)rest); h = NLMSG_NEXT(h, rest))
		nl_request_serve(srv, h, &client);
	return true;
}

int lnet_nl_server_serve(void *arg, const void *msg, size_t len,
			 int (*reply)(void *to, const void *msgs, size_t len), void *to)
{
	struct lnet_nl_server *srv = arg;
	const struct nlmsghdr *h = msg;
	struct client client = { .seq = h->nlmsg_seq };
	struct lnet_ctl_err e = { "" };
	struct lnet_ctl_dump dump;
	struct lnet_ctl_req req;
	u32 n, *buf;
	bool end = false;
	int rc;

	if (len < h->nlmsg_len || h->nlmsg_len > REQUEST_MAX || !request_read(h, &req))
		return -EINVAL;
	buf = kmalloc(max(DATAGRAM_MAX, ACK_MAX), GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	rc = req_has_reply(h, &req) ? lnet_control_dump_start(&srv->ctl, &req, &dump, &e)
				    : lnet_control_do(&srv->ctl, &req, &e);
	if (rc || !req_has_reply(h, &req)) {
		rc = reply(to, buf, put_ack(buf, h, 0, rc, e.text));
		kfree(buf);
		return rc;
	}
	while (!rc && !end) {
		n = piece_fill(&dump, &client, req.cmd, buf, &e, &end);
		rc = n ? reply(to, buf, n) : -EOPNOTSUPP;
	}
	lnet_control_dump_end(&dump);
	kfree(buf);
	return rc;
}

/* ---- the server ------------------------------------------------------------------------------ */

static int server_socket_open(struct lnet_nl_server *srv)
{
	struct sockaddr_nl me = { .nl_family = AF_NETLINK,
				  .nl_pid = lnet_nl_user_port(srv->name, srv->ctl.uid) };
	int one = 1;

	srv->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	if (srv->fd < 0)
		return -errno;
	if (setsockopt(srv->fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) ||
	    bind(srv->fd, (void *)&me, sizeof(me)))
		return -errno;
	srv->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return srv->wake_fd < 0 ? -errno : 0;
}

int lnet_nl_server_create(struct lnet_nl_server **res, const struct lnet_nl_server_cfg *cfg)
{
	struct lnet_nl_server *srv;
	int rc;

	*res = NULL;
	if (!cfg->name || !*cfg->name || strlen(cfg->name) >= sizeof(srv->name) ||
	    strchr(cfg->name, '/'))
		return -EINVAL;
	srv = kzalloc(sizeof(*srv), GFP_KERNEL);
	if (!srv)
		return -ENOMEM;
	srv->cfg = *cfg;
	srv->fd = srv->wake_fd = -1;
	strscpy(srv->name, cfg->name, sizeof(srv->name));
	strscpy(srv->version, cfg->version, sizeof(srv->version));
	INIT_LIST_HEAD(&srv->jobs);
	srv->ctl = (struct lnet_control){
		.ln = cfg->ln, .ops = &control_ops, .arg = srv, .name = srv->name,
		.version = srv->version, .pid = (u32)getpid(), .uid = (u32)getuid(),
	};
	rc = server_socket_open(srv);
	if (rc) {
		lnet_nl_server_destroy(srv);
		return rc;
	}
	*res = srv;
	return 0;
}

void lnet_nl_server_destroy(struct lnet_nl_server *srv)
{
	struct job *job, *next;

	if (!srv)
		return;
	list_for_each_entry_safe(job, next, &srv->jobs, link)
		job_free(srv, job);
	if (srv->cfg.ln)
		lnet_control_fini(&srv->ctl);
	if (srv->fd >= 0)
		close(srv->fd);
	if (srv->wake_fd >= 0)
		close(srv->wake_fd);
	kfree(srv);
}

void lnet_nl_server_wake(struct lnet_nl_server *srv)
{
	u64 one = 1;

	if (write(srv->wake_fd, &one, sizeof(one)) < 0)
		return;		/* full: the step returns anyway */
}

static void server_join_nis(struct lnet_nl_server *srv)
{
	u64 now = srv->ctl.waiting ? server_now_ms() : 0;

	if (!srv->ctl.waiting || now - srv->join_ms < JOIN_MS)
		return;
	srv->join_ms = now;
	lnet_control_join(&srv->ctl);
}

int lnet_nl_server_step(struct lnet_nl_server *srv, int timeout_ms)
{
	struct pollfd fds[2] = { { .fd = srv->fd, .events = POLLIN },
				 { .fd = srv->wake_fd, .events = POLLIN } };
	unsigned int budget = 64;
	u64 count;

	if (poll(fds, 2, jobs_pause(srv, timeout_ms)) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[1].revents && read(srv->wake_fd, &count, sizeof(count)) < 0)
		return -errno;
	if (fds[0].revents)
		while (budget-- && server_receive(srv))
			;
	jobs_run(srv);
	server_join_nis(srv);
	lnet_control_expire(&srv->ctl);
	return 0;
}
