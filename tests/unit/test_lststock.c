/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does lst control a console by stock's ioctls? Each request of lst is converted by utils/lst, and
 * served by the code that serves stock's lst. The replies must be those of the console itself.
 */
#include <linux/genetlink.h>
#include <netlink/msg.h>
#include "selftest/stock.h"
#include "st_con.h"
#include "utils/lst/stock.h"

static int get(void *to, u64 from, u32 len)
{
	if (!from)
		return -EFAULT;
	memcpy(to, (const void *)(uintptr_t)from, len);
	return 0;
}

static bool negative;		/* write errors of results as negative numbers */

static int put(u64 to, const void *from, u32 len)
{
	const u32 at = offsetof(struct lnet_lst_result, rpc_errno) -
		       offsetof(struct lnet_lst_result, peer);
	s32 error;

	if (!to)
		return -EFAULT;
	memcpy((void *)(uintptr_t)to, from, len);
	if (negative && len == LNET_LST_RESULT_PAYLOAD - offsetof(struct lnet_lst_result, peer)) {
		memcpy(&error, (const u8 *)from + at, sizeof(error));
		error = -error;
		memcpy((void *)(uintptr_t)(to + at), &error, sizeof(error));
	}
	return 0;
}

static const struct lst_stock_caller caller = { .get = get, .put = put };

static struct lst_memory view;

static int command(struct lst_stock *s)
{
	kfree(cmd.answer);
	memset(&view, 0, sizeof(view));
	cmd = (struct lst_command){ .request = s->words, .len = s->used, .done = on_done,
				    .memory = &view };
	done = false;
	lst_command(st_of(0), &cmd);
	return result();
}

/* Operations of ioctl 63. Stock has none there for sessions and for showing groups. */
static int serve(void *unused, uint32_t op, const void *args, uint32_t len)
{
	struct lst_stock s;
	int rc;

	if (op < LNET_LST_GROUP_ADD ? op != LNET_LST_DEBUG :
	    op == LNET_LST_GROUP_LIST || op == LNET_LST_GROUP_INFO)
		return -EOPNOTSUPP;
	rc = lst_stock_take(&s, &caller, op, (uintptr_t)args, len);
	if (!rc)
		rc = command(&s);
	if (!rc)
		rc = lst_stock_give(&s, &cmd, 0, 0);
	lst_stock_end(&s);
	return rc;
}

/* ---- the netlink family ---- */

static void groups_write(struct lnet_nlbuf *w, const struct lst_stock_filter *filter, int nr)
{
	const struct lst_view_group *group = (const void *)cmd.answer;
	const void *end = cmd.answer + cmd.used;
	int i;

	for (i = 0; (const void *)group < end; i++) {
		if (!i)
			lst_stock_nl_group_table(w);
		lst_stock_nl_group(w, group, nr ? (const void *)(group + 1) : NULL,
				   nr ? filter[i].states : 0, !i);
		group = (const void *)((const char *)(group + 1) +
				       group->nr * sizeof(struct lst_view_node));
	}
}

static int groups_talk(struct lnet_nlbuf *w, const u8 *attrs, u32 len)
{
	static struct lst_stock_filter filter[LST_STOCK_FILTERS_MAX];
	struct lst_stock s = { .rc = 0 };
	int i, nr = lst_stock_nl_groups(filter, attrs, len), rc;

	CU_ASSERT_FATAL(nr >= 0);
	lst_stock_verb(&s, "stock_groups");
	lst_stock_word(&s, "key", "5");
	for (i = 0; i < nr; i++)
		lst_stock_word(&s, "name", "%s", filter[i].name);
	rc = command(&s);
	lst_stock_end(&s);
	if (!rc)
		groups_write(w, filter, nr);
	return rc;
}

static int session_talk(struct lnet_nlbuf *w, u16 flags, u32 key, const u8 *attrs, u32 len)
{
	struct lst_stock s = { .rc = 0 };
	struct lst_stock_new req;
	bool new = flags & LNET_NL_F_CREATE;
	int rc;

	lst_stock_verb(&s, new ? "new_session" : "end_session");
	if ((flags & LNET_NL_F_DUMP) == LNET_NL_F_DUMP)
		lst_stock_verb(&s, "show_session");
	else
		lst_stock_word(&s, "key", "%u", key);
	if (new) {
		UNIT_EQUAL(lst_stock_nl_new(&req, attrs, len), 0, "a request");
		lst_stock_word(&s, "name", "%s", req.name);
		lst_stock_word(&s, "force", "%d", !!(flags & LNET_NL_F_REPLACE));
	}
	rc = command(&s);
	lst_stock_end(&s);
	w->version = (u8)view.session.feats;
	if (!rc && view.has_session)
		lst_stock_nl_session(w, &view.session);
	return rc;
}

static int talk(void *unused, struct nl_msg *msg, uint32_t key, stock_reply_fn on_reply,
		void *reply_arg)
{
	static u8 reply[8192] __attribute__((__aligned__(8)));
	struct lnet_nlbuf w = { .buf = reply, .size = sizeof(reply) };
	const struct nlmsghdr *h = nlmsg_hdr(msg);
	const struct genlmsghdr *g = nlmsg_data(h);
	const u8 *attrs = (const u8 *)(g + 1);
	u32 len = h->nlmsg_len - (u32)(attrs - (const u8 *)h), at;
	int rc = g->cmd == LNET_LST_CMD_GROUPS ?
		 groups_talk(&w, attrs, len) : session_talk(&w, h->nlmsg_flags, key, attrs, len);

	for (at = 0; !rc && at < w.len; at += LNET_NL_ALIGN(h->nlmsg_len)) {
		h = (const void *)(reply + at);
		on_reply(h, reply_arg);
	}
	return rc;
}

static const struct stock_door door = { serve, talk, NULL };
static struct lnetctl_node *doc;

/* Sends a request; each of its arguments ends with "|". */
static int ask(const char *words)
{
	static struct request r;
	size_t i, len = strlen(words);

	for (i = 0; i < len; i++)
		r.text[i] = words[i] == '|' ? 0 : words[i];
	r.len = len;
	lnetctl_doc_free(doc);
	doc = NULL;
	return stock_send(&door, &r, &doc);
}

/* The value at a path such as "groups.0.name", or "(none)". */
static const char *value(const char *path)
{
	const struct lnetctl_node *n = doc;
	char part[32];
	int len, nr;

	for (; n && *path; path += len + (path[len] == '.')) {
		len = (int)strcspn(path, ".");
		snprintf(part, sizeof(part), "%.*s", len, path);
		if (*part < '0' || *part > '9') {
			n = lnetctl_find(n, part);
			continue;
		}
		for (n = n->first, nr = *part - '0'; n && nr; nr--)
			n = n->next;
	}
	return n && n->text ? n->text : "(none)";
}

static void is(const char *path, const char *want)
{
	UNIT_TEXT(value(path), want, path);
}

static void begin(void)
{
	st_begin(3);
	UNIT_EQUAL(ask("new_session|key=5|name=lab|timeout=60|feats=1|force=0|"), 0, "session");
}

static void end(void)
{
	lnetctl_doc_free(doc);
	doc = NULL;
	kfree(cmd.answer);
	cmd.answer = NULL;
	st_end();
}

static void group(const char *name, const char *nid)
{
	char words[96];

	snprintf(words, sizeof(words), "add_group|key=5|name=%s|", name);
	UNIT_EQUAL(ask(words), 0, name);
	snprintf(words, sizeof(words), "add_nodes|key=5|name=%s|nid=%s|", name, nid);
	UNIT_EQUAL(ask(words), 0, nid);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void sessions(void)
{
	begin();
	UNIT_EQUAL(ask("new_session|key=5|name=lab2|timeout=60|feats=1|force=0|"), -EEXIST,
		   "there is one");
	UNIT_EQUAL(ask("new_session|key=5|name=lab3|timeout=60|feats=1|force=1|"), 0, "force");
	UNIT_EQUAL(ask("show_session|"), 0, "shown");
	is("session.name", "lab3");
	is("session.key", "5");
	is("session.nid", "10.0.0.1@tcp");
	is("session.features", "1");
	is("session.nodes", "0");
	UNIT_EQUAL(tell(0, "show_session|") || !said("lab3"), false, "as the console has it");
	UNIT_EQUAL(ask("end_session|key=6|"), -EACCES, "another key");
	UNIT_EQUAL(ask("end_session|key=5|"), 0, "ended");
	UNIT_EQUAL(ask("list_group|key=5|"), -ESRCH, "none");
	end();
}

static void groups(void)
{
	begin();
	group("a", "10.0.0.2@tcp");
	is("joined", "1");
	UNIT_EQUAL(ask("add_group|key=5|name=a|"), -EEXIST, "twice");
	UNIT_EQUAL(ask("add_nodes|key=5|name=a|nid=10.0.0.3@tcp|nid=10.0.0.41@tcp|"), 0, "more");
	is("errors.0.id", "12345-10.0.0.41@tcp");
	is("errors.0.what", "create session");
	UNIT_EQUAL(strcmp(value("errors.0.errno"), "0") > 0, true, "its error");
	group("b", "10.0.0.2@tcp");
	is("joined", "1");
	UNIT_EQUAL(ask("list_group|key=5|"), 0, "all");
	is("groups.0.name", "a");
	is("groups.0.nodes.0.id", "12345-10.0.0.2@tcp");
	is("groups.0.nodes.0.state", "Active");
	is("groups.0.nodes.2.state", "Down");
	is("groups.1.name", "b");
	UNIT_EQUAL(ask("list_group|key=5|name=b|name=x|"), -ENOENT, "no such group");
	UNIT_EQUAL(ask("update_group|key=5|op=clean|state=down|name=a|"), 0, "cleaned");
	UNIT_EQUAL(ask("update_group|key=5|op=remove|nid=10.0.0.3@tcp|name=a|"), 0, "removed");
	UNIT_EQUAL(ask("update_group|key=5|op=refresh|name=a|"), 0, "refreshed");
	UNIT_EQUAL(ask("list_group|key=5|name=a|"), 0, "listed");
	is("groups.0.nodes.0.id", "12345-10.0.0.2@tcp");
	is("groups.0.nodes.1.id", "(none)");
	UNIT_EQUAL(ask("del_group|key=5|name=b|"), 0, "deleted");
	UNIT_EQUAL(ask("del_group|key=5|name=b|"), -ENOENT, "gone");
	end();
}

static void pings(void)
{
	begin();
	tell(1, "new_session|name=mine|key=8|");
	tell(1, "add_group|key=8|name=g|");
	tell(1, "add_nodes|key=8|name=g|nid=10.0.0.3@tcp|");
	group("a", "10.0.0.2@tcp");
	UNIT_EQUAL(ask("ping|key=5|group=a|wait=5|"), 0, "a group");
	is("nodes.0.state", "Active");
	is("nodes.0.session", "lab");
	is("nodes.0.nid", "10.0.0.1@tcp");
	UNIT_EQUAL(ask("ping|key=5|nid=10.0.0.3@tcp|nid=10.0.0.41@tcp|wait=5|"), 0, "nodes");
	is("nodes.0.state", "Busy");
	is("nodes.0.session", "mine");
	is("nodes.1.state", "Down");
	is("nodes.1.session", "");
	UNIT_EQUAL(ask("ping|key=5|wait=5|"), 0, "the session");
	is("nodes.0.id", "12345-10.0.0.2@tcp");
	UNIT_EQUAL(ask("ping|key=5|group=x|wait=5|"), -ENOENT, "no such group");
	end();
}

#define TEST "add_test|key=5|loop=-1|concur=2|dist=1|span=1|from=a|"

static void batches(void)
{
	begin();
	group("a", "10.0.0.2@tcp");
	group("b", "10.0.0.3@tcp");
	UNIT_EQUAL(ask("add_batch|key=5|name=t|"), 0, "batch");
	UNIT_EQUAL(ask(TEST "to=b|batch=t|type=ping|"), 0, "ping");
	UNIT_EQUAL(ask(TEST "to=b|batch=t|type=brw|opc=2|check=2|size=4096|off=0|"), 0, "brw");
	UNIT_EQUAL(ask(TEST "to=x|batch=t|type=ping|"), -ENOENT, "no such group");
	UNIT_EQUAL(ask("list_batch|key=5|"), 0, "all");
	is("batches.0.name", "batch");
	is("batches.1.name", "t");
	UNIT_EQUAL(ask("list_batch|key=5|name=t|"), 0, "one");
	is("batches.0.state", "Idle");
	is("batches.0.tests.0.type", "ping");
	is("batches.0.tests.1.type", "brw");
	is("batches.0.tests.1.index", "2");
	is("batches.0.tests.1.loop", "-1");
	is("batches.0.tests.1.concurrency", "2");
	is("batches.0.tests.1.clients.active", "1");
	is("batches.0.tests.1.clients.nodes.0.id", "12345-10.0.0.2@tcp");
	is("batches.0.tests.1.servers.nodes.0.id", "12345-10.0.0.3@tcp");
	UNIT_EQUAL(ask("run|key=5|name=t|timeout=0|"), 0, "run");
	UNIT_EQUAL(ask("query|key=5|name=t|wait=5|"), 0, "query");
	is("nodes.0.active", "1");
	UNIT_EQUAL(ask("query|key=5|name=t|test=1|server=1|wait=5|"), 0, "query a server");
	is("nodes.0.id", "12345-10.0.0.3@tcp");
	UNIT_EQUAL(ask("query|key=5|name=t|test=9|"), -ENOENT, "no such test");
	UNIT_EQUAL(ask("stat|key=5|wait=5|group=a|"), 0, "counters");
	UNIT_EQUAL(strcmp(value("nodes.0.rpcs_sent"), "0") > 0, true, "requests");
	is("nodes.0.brw_errors", "0");
	UNIT_EQUAL(ask("stat|key=5|wait=5|nid=10.0.0.3@tcp|"), 0, "of a node");
	UNIT_EQUAL(strcmp(value("nodes.0.bulk_get"), "0") > 0, true, "bytes");
	UNIT_EQUAL(ask("stop|key=5|name=t|force=0|"), 0, "stop");
	st_run(200 * RAILS_MS);
	UNIT_EQUAL(ask("query|key=5|name=t|wait=5|"), 0, "query");
	is("nodes.0.active", "0");
	UNIT_EQUAL(ask("run|key=5|name=x|timeout=0|"), -ENOENT, "no such batch");
	end();
}

/* Stock's module writes the first bytes of a 20-byte NID, and errors below 0. */
static void as_stock_writes(void)
{
	static const u8 tcp7[16] = { 0, 2, 0, 7, 10, 5, 0, 77 };
	const struct lnet_lst_id usual = { 2ULL << 48 | 0x0a05004d, 12345, 0 };
	char id[LNET_IDSTR_SIZE];
	struct lnet_lst_id bytes;

	memcpy(&bytes, tcp7, sizeof(bytes));
	UNIT_TEXT(stock_id(&bytes, id), "12345-10.5.0.77@tcp7", "20 bytes");
	UNIT_TEXT(stock_id(&usual, id), "12345-10.5.0.77@tcp", "8 bytes");
	negative = true;
	begin();
	UNIT_EQUAL(ask("add_group|key=5|name=a|"), 0, "group");
	UNIT_EQUAL(ask("add_nodes|key=5|name=a|nid=10.0.0.41@tcp|"), 0, "asked");
	UNIT_EQUAL(*value("errors.0.errno") != '-', true, "the error");
	end();
	negative = false;
}

/* Requests of this project alone never reach stock's console. */
static void absent(void)
{
	begin();
	UNIT_EQUAL(ask("nettest|key=5|group=a|"), -EOPNOTSUPP, "nettest");
	UNIT_EQUAL(ask("start|key=5|name=batch|"), -EOPNOTSUPP, "run --together");
	UNIT_EQUAL(ask("new_session|key=5|name=lab|lease=9|force=1|"), -EOPNOTSUPP, "a lease");
	UNIT_EQUAL(ask(TEST "to=a|batch=batch|type=bulk|"), -EOPNOTSUPP, "bulk");
	UNIT_EQUAL(ask("stat|key=5|wait=5|"), -EOPNOTSUPP, "of the session");
	UNIT_EQUAL(ask("add_nodes|key=5|name=g|nid=fe80::1@tcp|"), -EOPNOTSUPP, "IPv6");
	UNIT_EQUAL(ask("show_session|"), 0, "the session is as before");
	is("session.name", "lab");
	end();
}

UNIT_SUITE(lststock,
	   { "sessions are made, shown and ended", sessions },
	   { "groups are filled, listed, cleaned", groups },
	   { "pings show sessions of others", pings },
	   { "tests run, and are queried and counted", batches },
	   { "NIDs and errors are read as stock's module writes them", as_stock_writes },
	   { "requests that stock does not have are rejected", absent })
