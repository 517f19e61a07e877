/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The management protocol compared with recorded conversations. liblnetctl must send the requests
 * of stock LNet's tool, and print the documents as that tool did. Other tests use replies that the
 * test creates: long, truncated and malformed.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include "control/control.h"
#include "utils/lib/client.h"
#include "unit.h"
#include "attr_text.h"

#define CAPTURES "tests/captures/netlink/"

/* ---- captures ---- */

struct capture {
	unsigned char *bytes;
	size_t len, at;		/* of the next record */
	char printed[32768];	/* what the stock tool printed */
	/* take the stock tool's "auth_key" 65535 as not sent (management section 11.7) */
	bool want_auth_key;
};

static unsigned char *file_read(const char *name, const char *ext, size_t *len)
{
	static unsigned char buf[1 << 20];
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), CAPTURES "%s%s", name, ext);
	f = fopen(path, "r");
	*len = 0;
	if (!f)
		return NULL;
	*len = fread(buf, 1, sizeof(buf) - 1, f);
	buf[*len] = 0;
	fclose(f);
	return buf;
}

static bool capture_open(struct capture *c, const char *name)
{
	unsigned char *text;
	size_t len;
	char *start, *end;

	memset(c, 0, sizeof(*c));
	text = file_read(name, ".txt", &len);
	if (!text)
		return false;
	start = strchr((char *)text, '\n') + 1;
	end = strstr(start, "# rc=");
	snprintf(c->printed, sizeof(c->printed), "%.*s", (int)(end - start), start);
	text = file_read(name, ".pcap", &c->len);
	if (!text)
		return false;
	c->bytes = malloc(c->len);
	memcpy(c->bytes, text, c->len);
	c->at = 24;
	return true;
}

/*
 * Returns the netlink messages of the next datagram of generic netlink, which may be a family
 * look-up; NULL at the end.
 */
static const struct nlmsghdr *capture_next(struct capture *c, size_t *len)
{
	while (c->at + 32 < c->len) {
		u32 caplen;
		const unsigned char *rec = c->bytes + c->at + 16;

		memcpy(&caplen, rec - 8, sizeof(caplen));
		c->at += 16 + caplen;
		if (rec[15] != NETLINK_GENERIC || caplen < 32)
			continue;
		*len = caplen - 16;
		return (const void *)(rec + 16);
	}
	return NULL;
}

static bool is_lookup(const struct nlmsghdr *h)
{
	return h->nlmsg_type == GENL_ID_CTRL;
}

static void drop_words(char *text, const char *what)
{
	char *at;

	while ((at = strstr(text, what)))
		memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
}

static void compare_request(struct capture *c, const struct nlmsghdr *got,
			    const struct nlmsghdr *want)
{
	char ours[4096], theirs[4096];
	size_t skip = NLMSG_HDRLEN + GENL_HDRLEN;

	words((const char *)got + skip, got->nlmsg_len - skip, ours, sizeof(ours));
	words((const char *)want + skip, want->nlmsg_len - skip, theirs, sizeof(theirs));
	if (c->want_auth_key) {
		drop_words(theirs, "\"auth_key\" #65535 ");
		UNIT_TEXT(ours, theirs, "request");
		return;
	}
	UNIT_TEXT(ours, theirs, "request");
	UNIT_EQUAL(got->nlmsg_flags, want->nlmsg_flags, "flags");
	UNIT_EQUAL(got->nlmsg_len, want->nlmsg_len, "length");
	CU_ASSERT(got->nlmsg_len == want->nlmsg_len &&
		  !memcmp(NLMSG_DATA(got), NLMSG_DATA(want), want->nlmsg_len - NLMSG_HDRLEN));
}

/* Gives every message of the datagram the type and sequence number that our side expects. */
static void adapt(void *copy, size_t len, const struct nlmsghdr *req)
{
	struct nlmsghdr *h = copy;
	int rest = (int)len;

	for (; NLMSG_OK(h, (unsigned int)rest); h = NLMSG_NEXT(h, rest)) {
		h->nlmsg_seq = req->nlmsg_seq;
		if (h->nlmsg_type >= NLMSG_MIN_TYPE)
			h->nlmsg_type = req->nlmsg_type;
	}
}

/*
 * Acts as the stock node of the capture: checks that each request equals the recorded one, and
 * sends the recorded reply.
 */
static int capture_serve(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply, void *to)
{
	const struct nlmsghdr *req = msg, *h;
	struct capture *c = arg;
	u32 seq = 0;

	while ((h = capture_next(c, &len))) {
		unsigned char copy[65536];

		if (is_lookup(h) || (seq && h->nlmsg_seq != seq))
			continue;
		if (!seq && !(h->nlmsg_flags & NLM_F_REQUEST))
			continue;
		if (!seq) {
			const struct genlmsghdr *g = NLMSG_DATA(h), *mine = NLMSG_DATA(req);

			if (g->cmd != mine->cmd)
				/* a command that our side does not send: export shows routes */
				continue;
			seq = h->nlmsg_seq;
			compare_request(c, req, h);
			continue;
		}
		memcpy(copy, h, len);
		adapt(copy, len, req);
		reply(to, copy, len);
		if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE)
			return 0;
	}
	return 0;
}

/* ---- replay ---- */

static int net_add(struct lnetctl *c, const char *net, const char *interfaces, bool tuned)
{
	struct lnetctl_net n;

	lnetctl_net_init(&n);
	n.net = net;
	n.interfaces = interfaces;
	n.tos = -1;		/* the stock tool sends its default */
	if (tuned) {
		n.peer_credits = 16;
		n.credits = 512;
		n.peer_timeout = 100;
		n.conns_per_peer = 2;
	}
	return lnetctl_net_add(c, &n);
}

static int net_del(struct lnetctl *c, const char *net, const char *interfaces)
{
	struct lnetctl_net n;

	lnetctl_net_init(&n);
	n.net = net;
	n.interfaces = interfaces;
	return lnetctl_net_del(c, &n);
}

static int peer_non_mr(struct lnetctl *c)
{
	return lnetctl_peer_add(c, "10.77.0.9@tcp1", NULL, LNETCTL_PEER_NON_MR);
}

static int fault_add(struct lnetctl *c)
{
	struct lnetctl_fault f = {
		.source = "*@tcp", .dest = "10.77.1.3@tcp", .rate = 2, .health_errors = 1 << 9
	};

	return lnetctl_fault_add(c, &f);
}

static int fault_del(struct lnetctl *c)
{
	struct lnetctl_fault f = { .delay = false };

	return lnetctl_fault_del(c, &f);
}

#define DOS(DO)											\
	DO("01-lnet-configure", 0, lnetctl_configure(c, 0))					\
	DO("03-net-add-tcp", 0, net_add(c, "tcp", "eth0,eth1", false))				\
	DO("04-net-add-credits", 0, net_add(c, "tcp1", "eth0", true))				\
	DO("05-net-add-error-noif", -ENETDOWN, net_add(c, "tcp2", "eth9", false))		\
	DO("11-net-set-health", 0, lnetctl_net_set(c, "10.77.0.2@tcp", 500, LNETCTL_UNSET))	\
	DO("12-peer-add", 0, lnetctl_peer_add(c, "10.77.0.3@tcp", "10.77.1.3@tcp", 0))		\
	DO("13-peer-add-nonmr", 0, peer_non_mr(c)) \
	DO("17-peer-set-health", 0, lnetctl_peer_set(c, "10.77.1.3@tcp", 700, LNETCTL_UNSET))	\
	DO("18-peer-del", 0, lnetctl_peer_del(c, "10.77.0.9@tcp1", NULL, 0))			\
	DO("19-peer-del-error", -ENOENT, lnetctl_peer_del(c, "10.77.0.99@tcp", NULL, 0))	\
	DO("30-fault-drop-add", 0, fault_add(c))						\
	DO("32-fault-drop-del", 0, fault_del(c))						\
	DO("43-net-del-if", 0, net_del(c, "tcp", "eth1"))					\
	DO("44-net-del", 0, net_del(c, "tcp1", NULL))						\
	DO("49-lnet-unconfigure", 0, lnetctl_unconfigure(c))

#define SHOWS(SHOW)										\
	SHOW("02-net-show-fresh", WIDE, lnetctl_net_show(c, NULL, 0, false, &doc))		\
	SHOW("06-net-show-v0", WIDE, lnetctl_net_show(c, NULL, 0, false, &doc))		\
	SHOW("07-net-show-v1", WIDE, lnetctl_net_show(c, NULL, 1, false, &doc))		\
	SHOW("08-net-show-v2", WIDE, lnetctl_net_show(c, NULL, 2, false, &doc))		\
	SHOW("09-net-show-v4", WIDE, lnetctl_net_show(c, NULL, 4, false, &doc))		\
	SHOW("10-net-show-net-filter", WIDE, lnetctl_net_show(c, "tcp1", 0, false, &doc))	\
	SHOW("14-peer-show", WIDE, lnetctl_peer_show(c, NULL, 0, false, &doc))			\
	SHOW("15-peer-show-v4", WIDE, lnetctl_peer_show(c, NULL, 4, false, &doc))		\
	SHOW("16-peer-list", WIDE, lnetctl_peer_list(c, &doc))					\
	SHOW("25-ping-self", NARROW, lnetctl_ping(c, "10.77.0.2@tcp", NULL, 0, &doc))		\
	SHOW("26-ping-fail", NARROW, lnetctl_ping(c, "10.77.0.99@tcp", NULL, 0, &doc))		\
	SHOW("27-discover-fail", NARROW, lnetctl_discover(c, "10.77.0.98@tcp", false, &doc))	\
	SHOW("28-debug-recovery-local", WIDE, lnetctl_recovery_show(c, false, &doc))		\
	SHOW("29-debug-recovery-peer", WIDE, lnetctl_recovery_show(c, true, &doc))		\
	SHOW("37-cpt-of-nid", NARROW, lnetctl_cpt_of_nid(c, "10.77.0.3@tcp", &doc))

static struct lnetctl *replay_open(struct capture *cap, const char *name)
{
	if (!capture_open(cap, name)) {
		CU_FAIL(name);
		return NULL;
	}
	return lnetctl_open_local(capture_serve, cap);
}

static char *error_text(struct lnetctl *c)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	lnetctl_error_print(c, out);
	fclose(out);
	return text;
}

static void test_captured_dos(void)
{
	static struct capture cap;
	struct lnetctl *c;
	char *text;

#define DO(name, want, call)								\
	c = replay_open(&cap, name);							\
	cap.want_auth_key = strstr(name, "net-add") != NULL;				\
	UNIT_EQUAL(c ? call : -1, want, name);						\
	if (want && cap.printed[0]) {							\
		text = error_text(c);							\
		UNIT_TEXT(text, cap.printed, name);					\
		free(text);								\
	}										\
	lnetctl_close(c);								\
	free(cap.bytes);
	DOS(DO)
}

static void print_equal(const struct lnetctl_node *doc, enum lnetctl_style style, const char *want,
			const char *name)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (doc)
		lnetctl_print(doc, style, out);
	fclose(out);
	if (strcmp(text, want)) {
		UNIT_TEXT(text, want, name);
	} else {
		CU_PASS("printed the same");
	}
	free(text);
}

static void test_captured_shows(void)
{
	static struct capture cap;
	struct lnetctl_node *doc;
	struct lnetctl *c;

#define SHOW(name, style, call)								\
	doc = NULL;									\
	c = replay_open(&cap, name);							\
	UNIT_EQUAL(c ? call : -1, 0, name);						\
	print_equal(doc, LNETCTL_##style, cap.printed, name);				\
	lnetctl_doc_free(doc);								\
	lnetctl_close(c);								\
	free(cap.bytes);
	SHOWS(SHOW)
}

/* Both parts of a backup are in one capture, in the order of the stock tool's requests. */
static void test_captured_backup(void)
{
	static struct capture cap;
	struct lnetctl *c = replay_open(&cap, "46-export-backup");
	struct lnetctl_node *net = NULL, *peer = NULL;
	char *at;

	UNIT_EQUAL(lnetctl_net_show(c, NULL, 1, true, &net), 0, "net");
	UNIT_EQUAL(lnetctl_peer_show(c, NULL, 0, true, &peer), 0, "peer");
	at = strstr(cap.printed, "\npeer:") + 1;
	print_equal(peer, LNETCTL_WIDE, (strstr(at, "global:")[0] = 0, at), "peer");
	*at = 0;
	print_equal(net, LNETCTL_WIDE, cap.printed, "net");
	lnetctl_doc_free(net);
	lnetctl_doc_free(peer);
	lnetctl_close(c);
	free(cap.bytes);
}

/* The stock tool crashes when it should print this reply. */
static void test_captured_fault(void)
{
	static struct capture cap;
	struct lnetctl *c = replay_open(&cap, "31-fault-drop-show");
	struct lnetctl_node *doc = NULL, *rule;

	UNIT_EQUAL(lnetctl_fault_show(c, false, &doc), 0, "show");
	rule = lnetctl_find(doc, "fault") ? lnetctl_find(doc, "fault")->first : NULL;
	UNIT_TEXT(lnetctl_text(rule, "rule_type"), "drop", "type");
	UNIT_TEXT(lnetctl_text(rule, "fa_src"), "*@tcp", "source");
	UNIT_TEXT(lnetctl_text(rule, "fa_msg_mask"), "15", "messages");
	CU_ASSERT_PTR_NULL(lnetctl_find(rule, "la_rate"));
	lnetctl_doc_free(doc);
	lnetctl_close(c);
	free(cap.bytes);
}

/* The error is stock's text without the remedy that follows it. */
static void test_captured_error(void)
{
	static const char remedy[] = " (this node is not configured: run 'lnetctl lnet configure' "
				     "first)";
	static struct capture cap;
	struct lnetctl *c = replay_open(&cap, "50-net-show-down");
	struct lnetctl_node *doc;
	char *text, *at;

	UNIT_EQUAL(lnetctl_net_show(c, NULL, 0, false, &doc), -ENETDOWN, "show");
	text = error_text(c);
	at = strstr(text, remedy);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	memmove(at, at + strlen(remedy), strlen(at + strlen(remedy)) + 1);
	UNIT_TEXT(text, cap.printed, "error");
	free(text);
	lnetctl_close(c);
	free(cap.bytes);
}

/* ---- our own key tables equal the stock node's ---- */

static const struct nlmsghdr *capture_table(struct capture *c, unsigned int nth)
{
	const struct nlmsghdr *h;
	size_t len;

	while ((h = capture_next(c, &len))) {
		int rest = (int)len;

		for (; NLMSG_OK(h, (unsigned int)rest); h = NLMSG_NEXT(h, rest))
			if (h->nlmsg_type > GENL_ID_CTRL && (h->nlmsg_flags & NLM_F_CREATE) &&
			    !(h->nlmsg_flags & NLM_F_REQUEST) && !nth--)
				return h;
	}
	return NULL;
}

static const struct lnet_lnd_tables sock_tables = { .tunables = &lnet_table_sock };

static void test_tables(void)
{
	static const struct {
		const char *name;
		unsigned int nth;
		const struct lnet_table *table;
		const struct lnet_lnd_tables *lnd;
		enum lnet_turn turn;
	} rows[] = {
		{ "08-net-show-v2", 0, &lnet_table_net, NULL, LNET_TABLE_FIRST },
		{ "08-net-show-v2", 1, &lnet_table_net, &sock_tables, LNET_TABLE_AGAIN },
		{ "14-peer-show", 0, &lnet_table_peer, NULL, LNET_TABLE_FIRST },
		{ "25-ping-self", 0, &lnet_table_ping, NULL, LNET_TABLE_FIRST },
		{ "26-ping-fail", 1, &lnet_table_failure, NULL, LNET_TABLE_OTHER },
		{ "37-cpt-of-nid", 0, &lnet_table_cpt, NULL, LNET_TABLE_FIRST },
	};
	static u8 buf[8192];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		static struct capture cap;
		const struct nlmsghdr *want;
		struct lnet_nlw w;

		CU_ASSERT_FATAL(capture_open(&cap, rows[i].name));
		want = capture_table(&cap, rows[i].nth);
		CU_ASSERT_PTR_NOT_NULL_FATAL(want);
		lnet_nlw_init(&w, buf, sizeof(buf), want->nlmsg_type, ((u8 *)NLMSG_DATA(want))[0],
			      want->nlmsg_pid, want->nlmsg_seq);
		CU_ASSERT(w.sink.ops->table(&w.sink, rows[i].table, rows[i].lnd, rows[i].turn));
		UNIT_EQUAL(w.b.len, want->nlmsg_len, rows[i].name);
		CU_ASSERT(w.b.len == want->nlmsg_len &&
			  !memcmp(buf, want, w.b.len));
		free(cap.bytes);
	}
}

/* ---- replies over several messages ---- */

/*
 * Writes net items of @nr_nis interfaces each into buffers of @size until all are written; returns
 * the document.
 */
static struct lnetctl_node *many_messages(unsigned int nr_nets, unsigned int nr_nis, u32 size,
					  unsigned int *nr_buffers)
{
	static struct lnet_view_ni view;
	static u8 buf[65536];
	unsigned int net = 0, ni = 0;
	struct reply reply;
	bool table = false;

	CU_ASSERT_FATAL(reply_init(&reply) == 0);
	for (*nr_buffers = 0; net < nr_nets && *nr_buffers < 1000; (*nr_buffers)++) {
		struct lnet_nlw w;
		struct lnet_sink *s = &w.sink;
		const struct nlmsghdr *h = (void *)buf;
		int rest;

		lnet_nlw_init(&w, buf, size, LNET_NL_USER_TYPE, LNET_NL_NETS, 0, 1);
		if (!table)
			table = s->ops->table(s, &lnet_table_net, &sock_tables,
					      LNET_TABLE_FIRST);
		while (table && net < nr_nets) {
			unsigned int first = ni;
			char name[16];

			snprintf(name, sizeof(name), "tcp%u", net);
			s->ops->open(s, ni ? LNET_OPEN_MORE : LNET_OPEN_ITEM, 0);
			if (!net && !ni)
				s->ops->str(s, 1, "");
			s->ops->str(s, 2, name);
			s->ops->open(s, LNET_OPEN_NEST, 3);
			for (; ni < nr_nis; ni++) {
				snprintf(view.nid, sizeof(view.nid), "10.0.0.%u@%s", ni, name);
				s->ops->open(s, LNET_OPEN_ELEM, 0);
				lnet_table_emit(s, &lnet_table_ni, &view, 4, false,
						&sock_tables);
				if (!s->ops->close(s))
					break;
			}
			if (ni < nr_nis && ni > first)
				s->ops->resume(s);
			s->ops->close(s);
			if (!s->ops->close(s) || ni < nr_nis)
				break;
			net++;
			ni = 0;
		}
		rest = (int)w.b.len;
		for (; NLMSG_OK(h, (unsigned int)rest); h = NLMSG_NEXT(h, rest))
			UNIT_EQUAL(reply_feed(&reply, h->nlmsg_flags, (char *)h + 20,
					      h->nlmsg_len - 20),
				   0, "feed");
	}
	return reply_finish(&reply);
}

static void test_resume(void)
{
	static const struct {
		u32 size;
		unsigned int nr_buffers;
	} rows[] = { { 65536, 2 }, { 8192, 9 }, { 4096, 18 } };
	unsigned int i, n, net, ni, nr_buffers;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnetctl_node *doc = many_messages(3, 40, rows[i].size, &nr_buffers);
		struct lnetctl_node *top = lnetctl_find(doc, "net"), *item, *elem;
		char want[32];

		UNIT_EQUAL(nr_buffers, rows[i].nr_buffers, "buffers");
		n = 0;
		for (net = 0, item = top ? top->first : NULL; item; item = item->next, net++) {
			elem = lnetctl_find(item, "local NI(s)")->first;
			for (ni = 0; elem; elem = elem->next, ni++, n++) {
				snprintf(want, sizeof(want), "10.0.0.%u@tcp%u", ni, net);
				UNIT_TEXT(lnetctl_text(elem, "nid"), want, "order");
			}
		}
		UNIT_EQUAL(net, 3, "nets");
		UNIT_EQUAL(n, 120, "interfaces");
		lnetctl_doc_free(doc);
	}
}

/* Whatever a node sends, the client neither crashes nor reads beyond it (sanitizers check this). */
static void test_crooked_reply(void)
{
	static struct capture cap;
	const struct nlmsghdr *h;
	size_t len, cut, flip;

	CU_ASSERT_FATAL(capture_open(&cap, "15-peer-show-v4"));
	while ((h = capture_next(&cap, &len))) {
		const u8 *body = (const u8 *)h + 20;
		size_t n = h->nlmsg_len - 20;

		if (is_lookup(h) || h->nlmsg_type < NLMSG_MIN_TYPE)
			continue;
		for (cut = 0; cut < n; cut += 7) {
			struct reply r;
			u8 *copy = malloc(cut ? cut : 1);

			memcpy(copy, body, cut);
			for (flip = 0; flip < cut; flip += 61)
				copy[flip] ^= (u8)(cut + flip);
			CU_ASSERT_FATAL(reply_init(&r) == 0);
			reply_feed(&r, LNET_NL_F_CREATE, copy, cut);
			reply_feed(&r, LNET_NL_F_MULTI, body, n);
			lnetctl_doc_free(reply_finish(&r));
			free(copy);
		}
	}
	free(cap.bytes);
	CU_PASS("survived");
}

/* Feeds the reply to a request, with one item whose values @values writes. */
static int feed_item(const struct lnet_key *keys, u16 nr, void (*values)(struct lnet_sink *s),
		     struct lnetctl_node **doc)
{
	struct lnet_table table = { keys, nr };
	static u32 buf[1024];
	const struct nlmsghdr *h = (void *)buf;
	struct reply reply;
	struct lnet_nlw w;
	int rc = 0, rest;

	lnet_nlw_init(&w, buf, sizeof(buf), LNET_NL_USER_TYPE, LNET_NL_NETS, 0, 1);
	w.sink.ops->table(&w.sink, &table, NULL, LNET_TABLE_FIRST);
	w.sink.ops->open(&w.sink, LNET_OPEN_ITEM, 0);
	values(&w.sink);
	CU_ASSERT(w.sink.ops->close(&w.sink));
	CU_ASSERT_FATAL(reply_init(&reply) == 0);
	for (rest = (int)w.b.len; !rc && NLMSG_OK(h, (unsigned int)rest); h = NLMSG_NEXT(h, rest))
		rc = reply_feed(&reply, h->nlmsg_flags, (char *)h + 20, h->nlmsg_len - 20);
	*doc = reply_finish(&reply);
	return rc;
}

static void values_mixed(struct lnet_sink *s)
{
	s->ops->num(s, 9, LNET_NLT_U32, 9);
	s->ops->num(s, 4, LNET_NLT_S16, (u64)-4);
	s->ops->num(s, 2, LNET_NLT_U64, ~0ull);
	s->ops->num(s, 2, LNET_NLT_U64, 7);
}

/* Values are in the order of the key table, whatever their order in the reply. */
static void test_any_order(void)
{
	static const struct lnet_key keys[] = {
		{ .name = "net", .type = LNET_NLT_NUL_STRING, .format = LNET_NL_SEQUENCE },
		{ .name = "two", .type = LNET_NLT_U64 }, { .name = "three", .type = LNET_NLT_U32 },
		{ .name = "four", .type = LNET_NLT_S16 }, { .name = "five", .type = LNET_NLT_FLAG },
	};
	static const char *const want[] = {
		"two", "18446744073709551615", "four", "-4", "five", "false"
	};
	const struct lnetctl_node *n;
	struct lnetctl_node *doc;
	unsigned int i = 0;

	UNIT_EQUAL(feed_item(keys, 5, values_mixed, &doc), 0, "feed");
	for (n = lnetctl_find(doc, "net")->first->first; n && i < ARRAY_SIZE(want); n = n->next) {
		UNIT_TEXT(n->key, want[i++], "key");
		UNIT_TEXT(n->text, want[i++], "value");
	}
	CU_ASSERT(!n && i == ARRAY_SIZE(want));
	lnetctl_doc_free(doc);
}

/* A value of key 2 and an element of key 3. */
static void values_strange(struct lnet_sink *s)
{
	s->ops->str(s, 2, "value");
	s->ops->open(s, LNET_OPEN_NEST, 3);
	s->ops->open(s, LNET_OPEN_ELEM, 0);
	s->ops->str(s, 1, "inner");
	s->ops->close(s);
	s->ops->close(s);
}

/* Documents are printed, so a value that cannot be printed is not added to a document. */
static void test_strange_keys(void)
{
	static const struct lnet_key inner[] = { { .name = "in", .type = LNET_NLT_STRING } };
	static const struct lnet_table inner_table = { inner, 1 };
	struct lnet_key keys[] = {
		{ .name = "net", .type = LNET_NLT_NUL_STRING, .format = LNET_NL_SEQUENCE },
		{ .name = "", .type = LNET_NLT_STRING },
		{ .name = "list", .type = LNET_NLT_NESTED, .format = LNET_NL_SEQUENCE,
		  .child = &inner_table },
		{ .name = "list", .type = LNET_NLT_NESTED, .format = LNET_NL_MAPPING,
		  .child = &inner_table },
		{ .name = "", .type = LNET_NLT_FLAG },
	};
	struct lnetctl_node *doc, *item;

	keys[3].name = "other";
	UNIT_EQUAL(feed_item(keys, 5, values_strange, &doc), 0, "values without a name");
	item = lnetctl_find(doc, "net")->first;
	CU_ASSERT_PTR_EQUAL(item->first, lnetctl_find(item, "list"));
	CU_ASSERT_PTR_EQUAL(item->first, item->last);
	lnetctl_doc_free(doc);
	keys[1] = keys[3];
	keys[1].name = "list";
	keys[1].child = NULL;
	UNIT_EQUAL(feed_item(keys, 3, values_strange, &doc), 0, "a mapping of nothing");
	lnetctl_doc_free(doc);
	keys[1].child = &inner_table;
	UNIT_EQUAL(feed_item(keys, 3, values_strange, &doc), -EPROTO,
		   "a mapping and a sequence of one name");
	lnetctl_doc_free(doc);
}

UNIT_SUITE(nlcodec, { "changes are asked for in the words of the stock tool", test_captured_dos },
	   { "captured answers print as the stock tool printed them", test_captured_shows },
	   { "a captured backup prints as the stock tool printed it", test_captured_backup },
	   { "fault rules print where the stock tool crashed", test_captured_fault },
	   { "errors print as the stock tool printed them", test_captured_error },
	   { "our key tables are those of the stock node, byte for byte", test_tables },
	   { "an answer longer than its buffers arrives whole", test_resume },
	   { "a crooked answer harms nobody", test_crooked_reply },
	   { "values are printed in the order of their table", test_any_order },
	   { "what an answer does not name is left out, what it names twice refused",
	     test_strange_keys })
