/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sessions and groups of stock's self-test, which use its netlink family. The key of a session is
 * the port of the socket that requested the session.
 */
#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <uapi/lnet_nl.h>
#include "stock.h"

#define WAIT_SECONDS	60	/* maximum wait for nodes that do not respond to end_session */

/* ---- the kernel's family --------------------------------------------------------------------- */

struct talk {
	stock_reply_fn on_reply;
	void *arg;
	bool done;
	int rc;
};

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;

	t->on_reply(nlmsg_hdr(msg), t->arg);
	return NL_OK;
}

static int on_end(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *h = nlmsg_hdr(msg);
	struct talk *t = arg;

	t->done = true;
	/* The last message of a dump contains its status. */
	if (h->nlmsg_type == NLMSG_DONE && (size_t)nlmsg_datalen(h) >= sizeof(t->rc))
		memcpy(&t->rc, nlmsg_data(h), sizeof(t->rc));
	return NL_STOP;
}

static int on_talk_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct talk *t = arg;

	(void)from;
	t->done = true;
	t->rc = e->error;
	return NL_STOP;
}

/* Opens a socket. Returns 0, or -errno of the library's last system call. */
static int stock_socket_open(struct nl_sock *sk, uint32_t key, struct talk *t)
{
	struct timeval wait = { .tv_sec = WAIT_SECONDS };

	if (!sk)
		return -ENOMEM;
	nl_socket_set_local_port(sk, key);
	nl_socket_disable_seq_check(sk);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_valid, t);
	nl_socket_modify_cb(sk, NL_CB_ACK, NL_CB_CUSTOM, on_end, t);
	nl_socket_modify_cb(sk, NL_CB_FINISH, NL_CB_CUSTOM, on_end, t);
	nl_socket_modify_err_cb(sk, NL_CB_CUSTOM, on_talk_error, t);
	errno = 0;
	if (genl_connect(sk) < 0)
		return errno ? -errno : -EIO;
	setsockopt(nl_socket_get_fd(sk), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	return 0;
}

static int talk_exchange(struct nl_sock *sk, struct nl_msg *msg, struct talk *t)
{
	int rc, family;

	family = genl_ctrl_resolve(sk, LNET_LST_FAMILY);
	*t = (struct talk){ t->on_reply, t->arg, false, 0 };	/* controller's reply was read */
	if (family < 0)
		return -EOPNOTSUPP;
	nlmsg_hdr(msg)->nlmsg_type = (uint16_t)family;
	if (nl_send_auto(sk, msg) < 0)
		return -EIO;
	while (!t->done) {
		rc = nl_recvmsgs_default(sk);
		if (rc < 0 && !t->done)
			return rc == -NLE_AGAIN ? -ETIMEDOUT : -EIO;
	}
	return t->rc;
}

int stock_kernel_talk(void *arg, struct nl_msg *msg, uint32_t key, stock_reply_fn on_reply,
		      void *reply_arg)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct talk t = { on_reply, reply_arg, false, 0 };
	int rc = stock_socket_open(sk, key, &t);

	(void)arg;
	if (!rc)
		rc = talk_exchange(sk, msg, &t);
	nl_socket_free(sk);
	return rc;
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool text_put(struct nl_msg *msg, const char *text)
{
	return !nla_put_string(msg, LNET_NLA_VALUE, text);
}

/* Appends the body of a request for a new session. */
static bool session_put(struct stock_call *c, struct nl_msg *msg)
{
	struct nlattr *list = nla_nest_start(msg, LNET_NLA_LIST);
	bool good = list && text_put(msg, "name") && text_put(msg, stock_text(c, "name")) &&
		    text_put(msg, "timeout") &&
		    !nla_put_s64(msg, LNET_NLA_INT_VALUE, stock_number(c, "timeout", 300));

	return good && nla_nest_end(msg, list) >= 0;
}

static bool status_put(struct nl_msg *msg, const char *state)
{
	struct nlattr *list = nla_nest_start(msg, LNET_NLA_LIST);

	return list && text_put(msg, "status") && text_put(msg, state) &&
	       nla_nest_end(msg, list) >= 0;
}

/* Appends the body of a request for the nodes of group @name in all states. */
static bool group_body_append(struct nl_msg *msg, const char *name)
{
	struct nlattr *all = nla_nest_start(msg, LNET_NLA_LIST), *one, *list;
	bool good;
	int state;

	one = all ? nla_nest_start(msg, LNET_NLA_LIST) : NULL;
	good = one && text_put(msg, name);
	list = good ? nla_nest_start(msg, LNET_NLA_LIST) : NULL;
	for (good = list, state = 1; good && state <= 8; state *= 2)
		good = status_put(msg, stock_state(state));
	return good && nla_nest_end(msg, list) >= 0 && nla_nest_end(msg, one) >= 0 &&
	       nla_nest_end(msg, all) >= 0;
}

static struct nl_msg *stock_message_new(int flags, int cmd, uint8_t version)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, 0, 0, NLM_F_REQUEST | NLM_F_ACK |
			       flags, (uint8_t)cmd, version))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* Sends @msg from port @key (0: any port), and frees it. */
static int console_talk(struct stock_call *c, struct nl_msg *msg, int32_t key,
			stock_reply_fn on_reply, void *arg)
{
	int rc = c->door->talk(c->door->arg, msg, (uint32_t)key, on_reply, arg);

	nlmsg_free(msg);
	return rc;
}

/* ---- sessions -------------------------------------------------------------------------------- */

struct session {
	char name[LNET_LST_NAME], nid[LNET_NIDSTR_SIZE];
	uint32_t key, features;
	int64_t stamp;
	int nodes;
	bool there;
};

enum { NAME = 2, KEY, STAMP, NID, NODES, SESSION_MAX = NODES };

/* Reads the values of a message. False for the first message of a reply, which has only keys. */
static bool values_read(const struct nlmsghdr *h, struct nlattr **a, int max)
{
	return !(h->nlmsg_flags & NLM_F_CREATE) &&
	       !genlmsg_parse((struct nlmsghdr *)h, 0, a, max, NULL) && a[NAME];
}

static void session_read(const struct nlmsghdr *h, void *arg)
{
	struct nlattr *a[SESSION_MAX + 1];
	struct session *s = arg;

	if (!values_read(h, a, SESSION_MAX))
		return;
	s->there = true;
	s->features = genlmsg_hdr((struct nlmsghdr *)h)->version;
	nla_strlcpy(s->name, a[NAME], sizeof(s->name));
	if (a[KEY] && nla_len(a[KEY]) >= 4)
		s->key = nla_get_u32(a[KEY]);
	if (a[STAMP] && nla_len(a[STAMP]) >= 8)
		s->stamp = nla_get_s64(a[STAMP]);
	if (a[NID])
		nla_strlcpy(s->nid, a[NID], sizeof(s->nid));
	if (a[NODES] && nla_len(a[NODES]) >= 2)
		s->nodes = nla_get_u16(a[NODES]);
}

/* Finds the session. Returns 0, -ESRCH if there is no session, or another -errno. */
static int session_find(struct stock_call *c, struct session *s)
{
	struct nl_msg *msg = stock_message_new(NLM_F_DUMP, LNET_LST_CMD_SESSIONS, 1);
	int rc;

	memset(s, 0, sizeof(*s));
	rc = msg ? console_talk(c, msg, 0, session_read, s) : -ENOMEM;
	return rc ? rc : s->there ? 0 : -ESRCH;
}

/*
 * Creates a session. If a session exists, stock's module ends it at each such request, even without
 * NLM_F_REPLACE; without this flag, the module also creates no new session. So without the argument
 * "force", this function sends no request if a session exists.
 */
int stock_new_session(struct stock_call *c)
{
	bool force = stock_number(c, "force", 0);
	struct session s;
	struct nl_msg *msg;
	int rc = force ? 0 : session_find(c, &s);

	if (!force && rc != -ESRCH)
		return rc ? rc : -EEXIST;
	msg = stock_message_new(NLM_F_CREATE | (force ? NLM_F_REPLACE : 0), LNET_LST_CMD_SESSIONS,
				(uint8_t)stock_number(c, "feats", 1));
	if (msg && session_put(c, msg))
		return console_talk(c, msg, c->key, session_read, &s);
	nlmsg_free(msg);
	return -ENOMEM;
}

/* Ends the session. Stock does not check the key, so this function checks it. */
int stock_end_session(struct stock_call *c)
{
	struct session s;
	struct nl_msg *msg;
	int rc = session_find(c, &s);

	if (rc)
		return rc;
	if (s.key != (uint32_t)c->key)
		return -EACCES;
	msg = stock_message_new(0, LNET_LST_CMD_SESSIONS, 1);
	return msg ? console_talk(c, msg, c->key, session_read, &s) : -ENOMEM;
}

int stock_nodes_session(struct stock_call *c)
{
	struct session s;
	int rc = session_find(c, &s);

	return rc ? rc : s.nodes;
}

int stock_show_session(struct stock_call *c)
{
	struct lnetctl_node *map;
	struct session s;
	char text[16];
	int rc = session_find(c, &s);

	map = rc ? NULL : lnetctl_add_map(c->doc, "session");
	if (!map)
		return rc ? rc : -ENOMEM;
	snprintf(text, sizeof(text), "%x", s.features);
	lnetctl_add_text(map, "name", s.name);
	lnetctl_add_num(map, "stamp", s.stamp);
	lnetctl_add_text(map, "nid", s.nid);
	lnetctl_add_num(map, "key", s.key);
	lnetctl_add_text(map, "features", text);
	lnetctl_add_num(map, "nodes", s.nodes);
	return 0;
}

/* ---- groups ---------------------------------------------------------------------------------- */

enum { MEMBERS = 3, GROUP_MAX = MEMBERS };
enum { MEMBER_NID = 1, MEMBER_STATUS, MEMBER_MAX = MEMBER_STATUS };

struct groups {
	struct lnetctl_node *seq;
	int nr, nr_nodes;
};

static void node_add(struct lnetctl_node *nodes, struct nlattr **a)
{
	struct lnetctl_node *map = nodes ? lnetctl_add_map(nodes, NULL) : NULL;
	char nid[LNET_NIDSTR_SIZE] = "", text[LNET_IDSTR_SIZE], state[16] = "Unknown";

	if (!map)
		return;
	if (a[MEMBER_NID])
		nla_strlcpy(nid, a[MEMBER_NID], sizeof(nid));
	if (a[MEMBER_STATUS])
		nla_strlcpy(state, a[MEMBER_STATUS], sizeof(state));
	snprintf(text, sizeof(text), "%s%s", strchr(nid, '-') ? "" : "12345-", nid);
	lnetctl_add_text(map, "id", text);
	lnetctl_add_text(map, "state", state);
}

static void group_read(const struct nlmsghdr *h, void *arg)
{
	struct nlattr *a[GROUP_MAX + 1], *b[MEMBER_MAX + 1], *one;
	struct lnetctl_node *map, *nodes;
	struct groups *g = arg;
	char name[LNET_LST_NAME];
	int rest;

	if (!values_read(h, a, GROUP_MAX))
		return;
	g->nr++;
	nla_strlcpy(name, a[NAME], sizeof(name));
	map = g->seq ? lnetctl_add_map(g->seq, NULL) : NULL;
	nodes = map && lnetctl_add_text(map, "name", name) ? lnetctl_add_seq(map, "nodes") : NULL;
	if (!a[MEMBERS])
		return;
	nla_for_each_nested(one, a[MEMBERS], rest) {
		if (nla_parse_nested(b, MEMBER_MAX, one, NULL))
			continue;
		g->nr_nodes++;
		node_add(nodes, b);
	}
}

/* Reads the group @name with its nodes. -ENOENT: there is no such group. */
static int group_find(struct stock_call *c, const char *name, struct groups *g)
{
	struct nl_msg *msg = stock_message_new(NLM_F_DUMP, LNET_LST_CMD_GROUPS, 1);
	int rc, before = g->nr;

	if (!msg || !group_body_append(msg, name)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	rc = console_talk(c, msg, 0, group_read, g);
	return rc ? rc : g->nr == before ? -ENOENT : 0;
}

int stock_nodes_group(struct stock_call *c, const char *name)
{
	struct groups g = { NULL, 0, 0 };
	int rc = group_find(c, name, &g);

	return rc ? rc : g.nr_nodes;
}

/* The names of all groups. */
static int names_find(struct stock_call *c, struct groups *g)
{
	struct nl_msg *msg = stock_message_new(NLM_F_DUMP, LNET_LST_CMD_GROUPS, 1);
	int rc = msg ? console_talk(c, msg, 0, group_read, g) : -ENOMEM;

	return rc == -ENOENT ? 0 : rc;
}

/* Reads all groups with their nodes, for a request without a name. */
static int all_find(struct stock_call *c, struct groups *g)
{
	struct lnetctl_node *all = lnetctl_add_map(NULL, NULL), *n;
	struct groups names = { all ? lnetctl_add_seq(all, "groups") : NULL, 0, 0 };
	int rc = names.seq ? names_find(c, &names) : -ENOMEM;

	for (n = names.seq ? names.seq->first : NULL; n && !rc; n = n->next)
		rc = group_find(c, lnetctl_text(n, "name"), g);
	lnetctl_doc_free(all);
	return rc;
}

int stock_list_group(struct stock_call *c)
{
	struct groups g = { lnetctl_add_seq(c->doc, "groups"), 0, 0 };
	const char *pos = NULL, *name = stock_word(c, "name", &pos);
	struct session s;
	int rc = g.seq ? session_find(c, &s) : -ENOMEM;

	if (!rc && !name)
		rc = all_find(c, &g);
	for (; name && !rc; name = stock_word(c, "name", &pos))
		rc = group_find(c, name, &g);
	return rc;
}
