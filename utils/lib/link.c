/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The link to a node: generic netlink to the kernel, NETLINK_USERSOCK to a program, or a call
 * within this process. No other file distinguishes these three.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "client.h"

#define SILENCE_MS 30000
#define REPORT_MS 2000	/* time without a reply until l->unresponsive() reports the node */
#define UNREAD_LOOKS 5
#define LOOK_MS 200		/* time between checks of whether the node still exists */

struct link {
	struct nl_sock *sk;		/* NULL: in this process */
	uint16_t type;			/* nlmsg_type of our messages */
	uint32_t port, seq;		/* port: netlink port of the node; 0: the kernel */
	uid_t uid;			/* user from whom replies are accepted */
	bool anybody;			/* any user may reply */
	bool checked;			/* a reply of @uid or root was received */
	struct family family;		/* of the kernel */
	char name[80];			/* of the node */
	unsigned int wait_ms;		/* 0: the timeout of struct link_call applies */
	lnetctl_unresponsive_fn unresponsive;	/* or NULL */
	void *silent_arg;
	lnetctl_serve_fn serve;
	void *arg;
};

/* ---- opening ---- */

static int link_socket_open(struct link *l, int protocol)
{
	struct timeval five = { .tv_sec = 5 };
	int one = 1, fd, err;

	l->sk = nl_socket_alloc();
	if (!l->sk)
		return -ENOMEM;
	err = nl_connect(l->sk, protocol);
	if (err == -NLE_NOMEM)
		return -ENOMEM;
	if (err < 0)
		return errno ? -errno : -EIO;
	fd = nl_socket_get_fd(l->sk);
	nl_socket_set_buffer_size(l->sk, 1 << 20, 0);
	nl_socket_enable_msg_peek(l->sk);
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &five, sizeof(five));
	return nl_socket_set_passcred(l->sk, 1) < 0 ? -EIO : 0;
}

static int link_send_to(struct link *l, const void *msg, size_t len)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_pid = l->port };

	if (sendto(nl_socket_get_fd(l->sk), msg, len, MSG_NOSIGNAL, (void *)&to, sizeof(to)) < 0)
		return -errno;
	return 0;
}

/*
 * Is the port bound? The function returns at once. It does not disturb the node: netlink itself
 * reports an unbound port.
 */
static int port_probe(struct link *l)
{
	struct nlmsghdr noop = { .nlmsg_len = sizeof(noop), .nlmsg_type = NLMSG_NOOP };

	noop.nlmsg_pid = nl_socket_get_local_port(l->sk);
	return link_send_to(l, &noop, sizeof(noop));
}

static int try_user(struct link *l, const char *name, uid_t uid)
{
	l->uid = uid;
	l->port = lnet_nl_user_port(name, uid);
	return port_probe(l);
}

/* Reads the user of "USER/NAME", which is a number or a login name. */
static int node_user(const char *node, const char *slash, uid_t *uid)
{
	char user[64], *end;
	struct passwd *pw;

	if ((size_t)(slash - node) >= sizeof(user) || slash == node)
		return -EINVAL;
	memcpy(user, node, (size_t)(slash - node));
	user[slash - node] = 0;
	*uid = (uid_t)strtoul(user, &end, 10);
	if (!*end)
		return 0;
	pw = getpwnam(user);
	if (!pw)
		return -ENOENT;
	*uid = pw->pw_uid;
	return 0;
}

/* Writes the error for a node that does not exist. The error lists the existing nodes. */
static void none_text(const char *node, int err, char *why, size_t size)
{
	char netns[80], names[256];

	presence_namespace(netns, sizeof(netns));
	presence_names(names, sizeof(names));
	if (err != -ECONNREFUSED)
		snprintf(why, size, "no node '%s' in network namespace %s: %s", node, netns,
			 strerror(-err));
	else if (names[0])
		snprintf(why, size, "no node '%s' in network namespace %s; nodes here: %s", node,
			 netns, names);
	else
		snprintf(why, size,
			 "no node '%s' in network namespace %s, nor any other node: is lnetd "
			 "running?",
			 node, netns);
}

static int open_user(struct link *l, const char *node, char *why, size_t why_size)
{
	const char *slash = strchr(node, '/');
	uid_t uid = getuid();
	int rc = link_socket_open(l, NETLINK_USERSOCK);

	snprintf(l->name, sizeof(l->name), "%s", node);
	l->type = LNET_NL_USER_TYPE;
	if (rc) {
		snprintf(why, why_size, "cannot open a netlink socket: %s", strerror(-rc));
		return rc;
	}
	if (slash && node_user(node, slash, &uid)) {
		snprintf(why, why_size, "the user in the node name '%s' does not exist", node);
		return -EINVAL;
	}
	rc = try_user(l, slash ? slash + 1 : node, uid);
	if (rc && !slash && uid)
		rc = try_user(l, node, 0);
	if (rc)
		none_text(node, rc, why, why_size);
	return rc;
}

static int open_kernel(struct link *l)
{
	int rc = link_socket_open(l, NETLINK_GENERIC);

	return rc ? rc : link_family_find(l);
}

static void socket_close(struct link *l)
{
	if (l->sk)
		nl_socket_free(l->sk);
	l->sk = NULL;
}

/* Opens the kernel's node if the kernel has LNet, else the node of lnetd. */
static int open_found(struct link *l, char *why, size_t why_size)
{
	char daemon[400];
	int rc = open_kernel(l);

	if (!rc)
		return 0;
	socket_close(l);
	rc = open_user(l, LNET_NL_USER_NODE, daemon, sizeof(daemon));
	if (rc)
		snprintf(why, why_size, "the kernel has no LNet (modprobe lnet), and %s", daemon);
	return rc;
}

static int open_any(struct link *l, const char *node, char *why, size_t why_size)
{
	int rc;

	if (!node)
		node = getenv("LNET_NODE");
	if (!node || !*node)
		return open_found(l, why, why_size);
	if (strcmp(node, "kernel"))
		return open_user(l, node, why, why_size);
	rc = open_kernel(l);
	if (rc)
		snprintf(why, why_size, "the kernel has no LNet (modprobe lnet): %s",
			 strerror(-rc));
	return rc;
}

int link_open(struct link **res, const char *node, char *why, size_t why_size)
{
	struct link *l = calloc(1, sizeof(*l));
	int rc;

	*res = NULL;
	if (!l)
		return -ENOMEM;
	rc = open_any(l, node, why, why_size);
	if (rc) {
		link_close(l);
		return rc;
	}
	*res = l;
	return 0;
}

int link_open_local(struct link **res, lnetctl_serve_fn serve, void *arg)
{
	*res = calloc(1, sizeof(**res));
	if (!*res)
		return -ENOMEM;
	(*res)->serve = serve;
	(*res)->arg = arg;
	(*res)->type = LNET_NL_USER_TYPE;
	return 0;
}

int link_open_port(struct link **res, uint32_t port)
{
	struct link *l = calloc(1, sizeof(*l));
	int rc = l ? link_socket_open(l, NETLINK_USERSOCK) : -ENOMEM;

	if (!rc) {
		l->type = LNET_NL_USER_TYPE;
		l->port = port;
		l->anybody = true;
		rc = port_probe(l);
	}
	if (rc)
		link_close(l);
	*res = rc ? NULL : l;
	return rc;
}

void link_wait_set(struct link *l, unsigned int wait_ms, lnetctl_unresponsive_fn unresponsive,
		   void *arg)
{
	l->wait_ms = wait_ms;
	l->unresponsive = unresponsive;
	l->silent_arg = arg;
}

bool link_is_kernel(const struct link *l)
{
	return l->sk && !l->port;
}

void link_close(struct link *l)
{
	if (!l)
		return;
	socket_close(l);
	free(l);
}

/* ---- one exchange -------- */

struct talk {
	struct link *l;
	struct link_call *call;
	bool done, reported;
	unsigned int unread;	/* number of consecutive checks that found unread requests */
	int err;
};

static unsigned int wait_max(const struct link *l, const struct link_call *call)
{
	if (l->wait_ms)
		return l->wait_ms;
	return call->timeout_ms ? call->timeout_ms : SILENCE_MS;
}

/*
 * Reports an unresponsive node. During a long request, the node is reported only if it does not
 * read its requests.
 */
static void report_silence(struct talk *t, unsigned int waited)
{
	struct link *l = t->l;

	if (t->reported || !l->port || !l->unresponsive)
		return;
	if (t->call->timeout_ms)
		t->unread = presence_unread(l->port) ? t->unread + 1 : 0;
	if (waited < REPORT_MS || (t->call->timeout_ms && t->unread < UNREAD_LOOKS))
		return;
	t->reported = true;
	l->unresponsive(l->silent_arg, l->name, presence_pid(l->port), wait_max(l, t->call));
}

/* Is it possible that the node has made a change for this request? */
static bool may_have_changed(const struct link_call *call)
{
	if ((call->flags & LNET_NL_F_DUMP) == LNET_NL_F_DUMP || call->cmd == LNET_NL_PING)
		return false;
	if (call->cmd == LNET_NL_TRANSACTION)
		return call->flags & LNET_NL_F_REPLACE;
	return !(call->flags & LNET_NL_F_STAGED);
}

static void silence_text(const struct link *l, struct link_call *call, const char *rest)
{
	unsigned int ms = wait_max(l, call);
	int pid = presence_pid(l->port);
	char process[24] = "";

	if (pid)
		snprintf(process, sizeof(process), " (pid %d)", pid);
	snprintf(call->text, sizeof(call->text), "node '%s'%s has not replied for %g s%s",
		 l->name, process, ms / 1000.0, rest);
}

/* Writes the error of a request that got no reply. */
static int no_reply_explain(const struct link *l, struct link_call *call, int rc)
{
	const char *rest =
		may_have_changed(call) ? "; it is unknown whether the change was made" : "";

	if (!l->port)
		return rc;
	if (rc == -ECONNREFUSED)
		snprintf(call->text, sizeof(call->text),
			 "node '%s' has ended: the request did not reach it", l->name);
	else if (rc == -ECONNRESET)
		snprintf(call->text, sizeof(call->text), "node '%s' ended before it replied%s",
			 l->name, rest);
	else if (rc == -ETIMEDOUT)
		silence_text(l, call, rest);
	else if (rc == -EAGAIN)
		snprintf(call->text, sizeof(call->text),
			 "node '%s' does not read requests: this request did not reach it",
			 l->name);
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

static void ext_ack_text(struct link_call *call, const unsigned char *at, size_t len)
{
	while (len >= sizeof(struct nlattr)) {
		struct nlattr a;
		size_t step;

		memcpy(&a, at, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > len)
			return;
		if ((a.nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			snprintf(call->text, sizeof(call->text), "%.*s",
				 (int)(a.nla_len - sizeof(a)), (const char *)at + sizeof(a));
		step = NLA_ALIGN((size_t)a.nla_len);
		if (step > len)
			return;
		at += step;
		len -= step;
	}
}

static void on_reply_error(struct talk *t, const struct nlmsghdr *h)
{
	const struct nlmsgerr *e = (const void *)((const char *)h + NLMSG_HDRLEN);
	size_t skip = sizeof(*e), len = h->nlmsg_len - NLMSG_HDRLEN;

	if (len < sizeof(*e)) {
		t->err = -EPROTO;
		t->done = true;
		return;
	}
	if (!(h->nlmsg_flags & NLM_F_CAPPED) && e->msg.nlmsg_len > sizeof(e->msg))
		skip += NLMSG_ALIGN((size_t)e->msg.nlmsg_len - sizeof(e->msg));
	if ((h->nlmsg_flags & NLM_F_ACK_TLVS) && skip < len)
		ext_ack_text(t->call, (const unsigned char *)e + skip, len - skip);
	t->err = e->error;
	t->done = true;
}

/* Reads the result from the last message of a dump. */
static void on_dump_end(struct talk *t, const struct nlmsghdr *h)
{
	const unsigned char *at = (const unsigned char *)h + NLMSG_HDRLEN;
	size_t len = h->nlmsg_len - NLMSG_HDRLEN;
	int err = 0;

	if (len >= sizeof(err)) {
		memcpy(&err, at, sizeof(err));
		ext_ack_text(t->call, at + sizeof(err), len - sizeof(err));
	}
	t->err = err;
	t->done = true;
}

static void on_reply_data(struct talk *t, const struct nlmsghdr *h)
{
	size_t skip = NLMSG_HDRLEN + GENL_HDRLEN;
	int rc;

	if (h->nlmsg_type != t->l->type || h->nlmsg_len < skip)
		return;
	if (t->call->family)
		family_read(t->call->family, (const char *)h + skip, h->nlmsg_len - skip);
	if (!t->call->reply)
		return;
	rc = reply_feed(t->call->reply, h->nlmsg_flags, (const char *)h + skip,
			h->nlmsg_len - skip);
	if (rc && !t->err) {
		t->err = rc;
		t->done = true;
	}
}

/* Reads one datagram. Ignores messages that belong to another exchange. */
static int on_datagram(void *arg, const void *msgs, size_t len)
{
	const struct nlmsghdr *h = msgs;
	struct talk *t = arg;
	int rest = (int)len;

	for (; !t->done && rest > 0 && NLMSG_OK(h, (unsigned int)rest); h = NLMSG_NEXT(h, rest)) {
		if (h->nlmsg_seq != t->l->seq)
			continue;
		if (h->nlmsg_type == NLMSG_ERROR)
			on_reply_error(t, h);
		else if (h->nlmsg_type == NLMSG_DONE)
			on_dump_end(t, h);
		else
			on_reply_data(t, h);
	}
	return 0;
}

/* Is the sender the node? Any program can bind a port ID, so the function checks the user. */
static bool from_node(const struct link *l, const struct sockaddr_nl *from,
		      const struct ucred *creds)
{
	if (from->nl_pid != l->port)
		return false;
	return !l->port || l->anybody || (creds && (creds->uid == l->uid || creds->uid == 0));
}

static int wait_datagram(struct talk *t, unsigned int ms)
{
	struct link *l = t->l;
	struct pollfd fd = { .fd = nl_socket_get_fd(l->sk), .events = POLLIN };
	unsigned int waited = 0;

	for (;;) {
		int rc = poll(&fd, 1, ms - waited < LOOK_MS ? (int)(ms - waited) : LOOK_MS);

		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return -errno;
		waited += LOOK_MS;
		if (waited >= ms)
			return -ETIMEDOUT;
		/* call before port_probe(), which adds an unread message */
		report_silence(t, waited);
		if (l->port && port_probe(l) == -ECONNREFUSED)
			return -ECONNRESET;
	}
}

static int talk_receive(struct talk *t)
{
	unsigned int ms = wait_max(t->l, t->call);

	while (!t->done) {
		struct sockaddr_nl from = { 0 };
		struct ucred *creds = NULL;
		unsigned char *buf = NULL;
		int n, rc = wait_datagram(t, ms);

		if (rc)
			return rc;
		n = nl_recv(t->l->sk, &from, &buf, &creds);
		if (n > 0 && from_node(t->l, &from, creds)) {
			on_datagram(t, buf, (size_t)n);
		} else if (n > 0 && from.nl_pid == t->l->port) {
			snprintf(t->call->text, sizeof(t->call->text),
				 "the node runs as user %u, not as user %u", creds ? creds->uid : 0,
				 t->l->uid);
			rc = -EPERM;
		}
		free(creds);
		if (n > 0)
			free(buf);
		if (rc)
			return rc;
		if (n < 0 && n != -NLE_AGAIN)
			return n == -NLE_NOMEM ? -ENOMEM : -EIO;
	}
	return 0;
}

/* Encodes a request as a message, which the caller frees; NULL: no memory. */
static struct nlmsghdr *call_message(const struct link_call *call)
{
	size_t len = NLMSG_HDRLEN + GENL_HDRLEN + call->len;
	struct nlmsghdr *h = calloc(1, NLMSG_ALIGN(len));
	struct genlmsghdr *g;

	if (!h)
		return NULL;
	h->nlmsg_len = (uint32_t)len;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | call->flags;
	g = NLMSG_DATA(h);
	g->cmd = call->cmd;
	g->version = call->version;
	if (call->len)
		memcpy((char *)g + GENL_HDRLEN, call->attrs, call->len);
	return h;
}

/*
 * Sends a request and waits for the reply. If the function returns 0, *@err is the node's result.
 */
static int call_exchange(struct link *l, struct link_call *call, struct nlmsghdr *h, int *err)
{
	struct talk t = { .l = l, .call = call };
	int rc;

	h->nlmsg_type = l->type;
	h->nlmsg_seq = ++l->seq;
	h->nlmsg_pid = l->sk ? nl_socket_get_local_port(l->sk) : 0;
	call->text[0] = 0;
	if (l->sk) {
		rc = link_send_to(l, h, h->nlmsg_len);
		if (!rc)
			rc = talk_receive(&t);
		rc = no_reply_explain(l, call, rc);
	} else {
		rc = l->serve(l->arg, h, h->nlmsg_len, on_datagram, &t);
		if (!rc && !t.done)
			rc = -EPROTO;
	}
	*err = t.err;
	return rc;
}

/*
 * Any user can bind a netlink port. So this function first sends an empty request. The credentials
 * of the reply identify the user that has the port.
 */
static int user_check(struct link *l, struct link_call *call)
{
	struct link_call ask = { .cmd = LNET_NL_NODE, .version = LNET_NL_VERSION,
				 .flags = LNET_NL_F_DUMP, .timeout_ms = call->timeout_ms };
	struct nlmsghdr *h = call_message(&ask);
	int rc = h ? call_exchange(l, &ask, h, &(int){ 0 }) : -ENOMEM;

	free(h);
	l->checked = !rc;
	if (rc)
		snprintf(call->text, sizeof(call->text), "%s", ask.text);
	return rc;
}

static int call_perform(struct link *l, struct link_call *call, struct nlmsghdr *h)
{
	bool check = l->port && !l->anybody && !l->checked;
	int err = 0, rc = check ? user_check(l, call) : 0;

	if (!rc)
		rc = call_exchange(l, call, h, &err);
	return rc ? rc : err;
}

/*
 * Queries the family. Its ID changes with each load of the module. Stock's family has fewer
 * commands.
 */
int link_family_find(struct link *l)
{
	struct {
		struct nlattr head;
		char name[NLA_ALIGN(sizeof(LNET_NL_FAMILY))];
	} attr = { { NLA_HDRLEN + sizeof(LNET_NL_FAMILY), CTRL_ATTR_FAMILY_NAME }, LNET_NL_FAMILY };
	struct family found = { .id = 0 };
	struct link_call call = { .cmd = CTRL_CMD_GETFAMILY, .version = 1, .attrs = &attr,
				  .len = sizeof(attr), .family = &found };
	struct nlmsghdr *h = call_message(&call);
	int rc = h ? 0 : -ENOMEM;

	l->type = GENL_ID_CTRL;
	if (!rc)
		rc = call_perform(l, &call, h);
	free(h);
	if (!rc && !found.id)
		rc = -ENOENT;
	l->type = found.id;
	l->family = found;
	return rc;
}

/*
 * Does the node have the command? If not, the library rejects the request itself, because the
 * kernel's error may be misleading. Since Linux 6.1 the kernel checks the flags of a request first.
 * If the command does not exist, the kernel then reports EINVAL for the flags.
 */
static bool is_served(const struct link *l, const struct link_call *call)
{
	return family_has(&l->family, call->cmd, (call->flags & LNET_NL_F_DUMP) == LNET_NL_F_DUMP);
}

/*
 * Repeats a request that the kernel rejected with ENOENT. The error may report an empty list. It
 * may also report an unknown family ID, because the module was unloaded, or was loaded again.
 */
static int talk_again(struct link *l, struct link_call *call, struct nlmsghdr *h)
{
	struct link other = { .seq = l->seq };

	if (open_kernel(&other)) {
		socket_close(&other);
		snprintf(call->text, sizeof(call->text),
			 "the node has ended: the LNet module is no longer loaded");
		return -ECONNRESET;
	}
	if (other.type == l->type) {
		socket_close(&other);
		return -ENOENT;
	}
	socket_close(l);
	*l = other;
	return is_served(l, call) ? call_perform(l, call, h) : -EOPNOTSUPP;
}

int link_talk(struct link *l, struct link_call *call)
{
	struct nlmsghdr *h;
	int rc;

	if (call->len > INT32_MAX / 2)
		return -EMSGSIZE;
	if (!is_served(l, call))
		return -EOPNOTSUPP;
	h = call_message(call);
	if (!h)
		return -ENOMEM;
	rc = call_perform(l, call, h);
	if (rc == -ENOENT && !call->text[0] && l->sk && !l->port)
		rc = talk_again(l, call, h);
	free(h);
	return rc;
}
