/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Management of a node through the client library, without a socket: changes, rejected changes,
 * replies in pieces, and memory shortage at any place.
 */
#include <glob.h>
#include <linux/netlink.h>
#include "control/command.h"
#include "ctl_world.h"

/* All interfaces, peers and fault rules, shown as one text. */
static char *picture(struct world *w, unsigned int level)
{
	struct lnetctl_node *doc = NULL;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!lnetctl_net_show(w->c, NULL, level, false, &doc))
		lnetctl_print(doc, LNETCTL_WIDE, out);
	lnetctl_doc_free(doc);
	doc = NULL;
	if (!lnetctl_peer_show(w->c, NULL, level, false, &doc))
		lnetctl_print(doc, LNETCTL_WIDE, out);
	lnetctl_doc_free(doc);
	doc = NULL;
	if (!lnetctl_fault_show(w->c, false, &doc))
		lnetctl_print(doc, LNETCTL_WIDE, out);
	lnetctl_doc_free(doc);
	fclose(out);
	return text;
}

/* ---- changes --------------------------------------------------------------------------------- */

static void test_down(void)
{
	struct lnetctl_node *doc;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1"), 0, "add");
	UNIT_EQUAL(lnetctl_peer_add(w.c, "10.9.0.1@tcp", NULL, 0), 0, "peer");
	UNIT_EQUAL(lnetctl_unconfigure(w.c), 0, "unconfigure");
	UNIT_EQUAL(w.ln->nr_nis, 1, "interfaces left");
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1"), -ESHUTDOWN, "add while down");
	UNIT_EQUAL(lnetctl_net_show(w.c, NULL, 0, false, &doc), -ENETDOWN, "show while down");
	UNIT_EQUAL(lnetctl_stats_show(w.c, &doc), 0, "statistics while down");
	lnetctl_doc_free(doc);
	UNIT_EQUAL(lnetctl_configure(w.c, 0), 0, "again");
	UNIT_EQUAL(lnetctl_peer_show(w.c, NULL, 0, false, &doc), 0, "no peers");
	CU_ASSERT_PTR_NULL(lnetctl_find(doc, "peer"));
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

/* A rejected request changes nothing and starts no driver. */
static void test_refused(void)
{
	struct world w;
	char *before, *after;
	unsigned int starts;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1"), 0, "add");
	UNIT_EQUAL(lnetctl_peer_add(w.c, "10.9.0.1@tcp", "10.9.0.2@tcp", 0), 0, "peer");
	before = picture(&w, 1);
	starts = fake_lnd.nr_starts;
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth2,eth1"), -EEXIST, "the second is there");
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth2,eth2"), -EEXIST, "twice");
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth2,lo"), -ENETDOWN, "no such interface");
	UNIT_EQUAL(ctl_net_add(&w, "gni", "eth2"), -EINVAL, "no driver");
	UNIT_EQUAL(ctl_net_add(&w, "lo", "eth2"), -EINVAL, "loopback");
	UNIT_EQUAL(ctl_net_add(&w, "nonsense", "eth2"), -ENOENT, "no net");
	UNIT_EQUAL(fake_lnd.nr_starts, starts, "drivers started");
	fake_lnd.start_error = -EACCES;
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth2,eth3"), -EACCES, "the driver refuses");
	fake_lnd.start_error = 0;
	UNIT_EQUAL(lnetctl_peer_add(w.c, "10.9.0.3@tcp", "10.9.0.2@tcp", 0), -EEXIST, "another's");
	UNIT_EQUAL(lnetctl_peer_add(w.c, "10.0.1.1@tcp", NULL, 0), -EINVAL, "ourselves");
	UNIT_EQUAL(lnetctl_peer_add(w.c, "0@lo", NULL, 0), -EINVAL, "loopback");
	UNIT_EQUAL(lnetctl_net_set(w.c, "10.0.1.1@tcp", -1, LNETCTL_UNSET), -EINVAL, "health");
	UNIT_EQUAL(lnetctl_peer_set(w.c, "10.9.0.1@tcp", 1001, LNETCTL_UNSET), -EINVAL, "health");
	after = picture(&w, 1);
	UNIT_TEXT(after, before, "unchanged");
	free(before);
	free(after);
	ctl_world_end(&w);
}

static void test_tunables(void)
{
	struct lnetctl_node *values = lnetctl_add_map(NULL, NULL), *doc;
	struct world w;

	ctl_world_begin(&w);
	lnetctl_add_text(values, "transaction_timeout", "0.25");
	lnetctl_add_text(values, "retry_count", "5");
	UNIT_EQUAL(lnetctl_set_many(w.c, values), 0, "set");
	UNIT_EQUAL(w.ln->tun.transaction_timeout, 250 * NSEC_PER_MSEC, "in ns");
	UNIT_EQUAL(w.ln->tun.retry_count, 5, "number");
	UNIT_EQUAL(lnetctl_global_show(w.c, &doc), 0, "show");
	UNIT_TEXT(lnetctl_text(lnetctl_find(doc, "global"), "transaction_timeout"), "0.25",
		  "shown");
	UNIT_TEXT(lnetctl_text(lnetctl_find(doc, "global"), "lnd_timeout"), "0.05", "derived");
	lnetctl_doc_free(doc);
	lnetctl_add_text(values, "health_sensitivity", "1001");
	lnetctl_find(values, "transaction_timeout")->text[0] = '9';
	UNIT_EQUAL(lnetctl_set_many(w.c, values), -ERANGE, "one out of range");
	UNIT_EQUAL(w.ln->tun.transaction_timeout, 250 * NSEC_PER_MSEC, "the others stay");
	UNIT_EQUAL(lnetctl_set(w.c, "retry_count", "default"), 0, "default");
	UNIT_EQUAL(w.ln->tun.retry_count, 2, "default");
	UNIT_EQUAL(lnetctl_set(w.c, "nonsense", "1"), -ENOENT, "unknown");
	UNIT_EQUAL(lnetctl_set(w.c, "retry_count", "two"), -EINVAL, "no number");
	lnetctl_doc_free(values);
	ctl_world_end(&w);
}

/* ---- error texts ----------------------------------------------------------------------------- */

/* Checks the error and its text @why. */
static void refused_with(struct world *w, int rc, int want, const char *why)
{
	UNIT_EQUAL(rc, want, why);
	UNIT_TEXT(lnetctl_error(w->c)->text, why, "words");
}

static void test_words(void)
{
	struct lnetctl_route route = { .net = "tcp7", .gateway = "10.0.9.9@tcp",
				       .hops = LNETCTL_UNSET, .priority = LNETCTL_UNSET };
	struct lnetctl_net net;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth0"), 0, "add");
	refused_with(&w, lnetctl_peer_add(w.c, "10.9.0.1@tcp", "10.9.0.2@tcp", LNETCTL_PEER_NON_MR),
		     -ENOTUNIQ, "peer 10.9.0.1@tcp is not multi-rail (--non_mr): it cannot have a "
		     "further NID, 10.9.0.2@tcp");
	UNIT_EQUAL(lnetctl_peer_add(w.c, "10.9.0.1@tcp", NULL, LNETCTL_PEER_NON_MR), 0, "alone");
	refused_with(&w, lnetctl_peer_add(w.c, "10.9.0.1@tcp", NULL, 0), -EPERM,
		     "peer 10.9.0.1@tcp already exists, with --non_mr: delete it first");
	UNIT_EQUAL(lnetctl_peer_del(w.c, "10.9.0.1@tcp", NULL, 0), 0, "and it can be deleted");
	UNIT_EQUAL(lnetctl_route_add(w.c, &route), 0, "route");
	refused_with(&w, lnetctl_peer_del(w.c, "10.0.9.9@tcp", NULL, 0), -EBUSY,
		     "peer 10.0.9.9@tcp is the gateway of 1 route (tcp7): delete the route first");
	route.net = "tcp8";
	UNIT_EQUAL(lnetctl_route_add(w.c, &route), 0, "another");
	refused_with(&w, lnetctl_peer_del(w.c, "10.0.9.9@tcp", NULL, 0), -EBUSY,
		     "peer 10.0.9.9@tcp is the gateway of 2 routes (tcp7, tcp8): delete the routes "
		     "first");
	refused_with(&w, lnetctl_route_add(w.c, &route), -EEXIST, "Route already exists or the "
		     "specified network is local: tcp8 has a route by 10.0.9.9@tcp");
	route.gateway = "10.0.0.1@tcp";
	refused_with(&w, lnetctl_route_add(w.c, &route), -EINVAL,
		     "10.0.0.1@tcp cannot be the gateway to tcp8: it is an interface of this node");
	route.gateway = "10.0.9.9@tcp8";
	refused_with(&w, lnetctl_route_add(w.c, &route), -EINVAL,
		     "10.0.9.9@tcp8 cannot be the gateway to tcp8: the gateway is on that net");
	route.net = "tcp";
	refused_with(&w, lnetctl_route_add(w.c, &route), -EEXIST, "Route already exists or the "
		     "specified network is local: tcp is local");
	refused_with(&w, lnetctl_set(w.c, "transaction_timeout", "0"), -ERANGE,
		     "invalid value '0' for key 'transaction_timeout': transaction_timeout must be "
		     "1ms to 1h, not 0");
	refused_with(&w, lnetctl_set(w.c, "accept", "everybody"), -EINVAL,
		     "invalid value 'everybody' for key 'accept': accept must be none, secure or "
		     "all, not 'everybody'");
	lnetctl_net_init(&net);
	net.net = "tcp";
	net.interfaces = "eth3";
	net.cpts = "abc";
	refused_with(&w, lnetctl_net_add(w.c, &net), -EINVAL,
		     "--cpt 'abc': expected a list such as [0,1] or 0-3; this node has CPT 0,1");
	ctl_world_end(&w);
}

/* Returns the text of a file, for free(). */
static char *file_text(const char *path)
{
	size_t len = 0;
	char *text = NULL;
	FILE *f = fopen(path, "r");

	if (f && getdelim(&text, &len, 0, f) < 0) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

/* True if @text contains the errno @err, such as "-EIO", as a whole word. */
static bool names(const char *text, const char *err)
{
	const char *at = text;

	while ((at = strstr(at, err))) {
		at += strlen(err);
		if (!isalnum((unsigned char)*at))
			return true;
	}
	return false;
}

/* Each errno that the core, its commands or its drivers name has a text. */
static void test_every_why(void)
{
	static const char *const sources[] = { "lnet/*.c", "lnet/*/*.c", "lnd/*/*.c" };
	unsigned int i, nr = 0;
	char err[32];
	glob_t found;
	size_t f;
	int e;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		glob(sources[i], i ? GLOB_APPEND : 0, NULL, &found);
	CU_ASSERT(found.gl_pathc > 50);
	for (f = 0; f < found.gl_pathc; f++) {
		bool selftest = strstr(found.gl_pathv[f], "lnet/selftest/");
		char *text = selftest ? NULL : file_text(found.gl_pathv[f]);

		for (e = 1; text && e < 134; e++) {
			snprintf(err, sizeof(err), "-%s", strerrorname_np(e) ? : "");
			if (!err[1] || !names(text, err))
				continue;
			nr++;
			if (!strcmp(lnet_ctl_why(-e), lnet_ctl_why(0)))
				UNIT_TEXT(err, "", found.gl_pathv[f]);
		}
		free(text);
	}
	CU_ASSERT(nr > 100);
	globfree(&found);
}

/* ---- replies in pieces ----------------------------------------------------------------------- */

static void crowd(struct world *w)
{
	char list[64], nid_text[64];
	unsigned int i;

	for (i = 1; i <= 20; i++) {
		snprintf(list, sizeof(list), "eth%u", i);
		UNIT_EQUAL(ctl_net_add(w, i & 1 ? "tcp" : "tcp1", list), 0, "add");
	}
	for (i = 0; i < 25; i++) {
		snprintf(nid_text, sizeof(nid_text), "10.9.%u.1@tcp", i);
		snprintf(list, sizeof(list), "10.9.%u.[2-5]@tcp", i);
		UNIT_EQUAL(lnetctl_peer_add(w->c, nid_text, list, 0), 0, "peer");
	}
	for (i = 1; i <= 40; i++) {
		struct lnetctl_fault f = { .source = "*", .dest = "*@tcp", .rate = i };

		UNIT_EQUAL(lnetctl_fault_add(w->c, &f), 0, "fault");
	}
}

static void test_pieces(void)
{
	static const u32 sizes[] = { 3400, 3800, 4096, 5000, 8192, 16384, 32768 };
	char *whole, *pieces;
	unsigned int i, nr;
	struct world w;

	ctl_world_begin(&w);
	crowd(&w);
	w.nr_pieces = 0;
	whole = picture(&w, 4);
	nr = w.nr_pieces;
	CU_ASSERT(strlen(whole) > 150000);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		w.size = sizes[i];
		w.nr_pieces = 0;
		pieces = picture(&w, 4);
		CU_ASSERT(!strcmp(pieces, whole));
		UNIT_EQUAL(strlen(pieces), strlen(whole), "length");
		CU_ASSERT(w.nr_pieces > nr);
		free(pieces);
	}
	w.size = 512;
	pieces = picture(&w, 4);
	UNIT_TEXT(pieces, "", "a piece that holds nothing is an error, not a loop");
	free(pieces);
	free(whole);
	ctl_world_end(&w);
}

/* Wherever a piece ends, its last part is not a key table of the driver. */
static void test_values_in_pieces(void)
{
	struct lnetctl_node *doc = NULL;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1,eth2"), 0, "add");
	for (w.size = 5120; w.size < 8192; w.size += 32) {
		UNIT_EQUAL(lnetctl_net_show(w.c, NULL, 4, false, &doc), 0, "show");
		CU_ASSERT(lnetctl_find(doc, "net")->last != lnetctl_find(doc, "net")->first);
		lnetctl_doc_free(doc);
		doc = NULL;
	}
	UNIT_EQUAL(w.nr_dull, 0, "pieces without a value");
	ctl_world_end(&w);
}

/* A peer is removed while a reply is at this peer: the reply continues, and nothing crashes. */
static void test_removed_meanwhile(void)
{
	struct lnet_ctl_req req = { .cmd = LNET_NL_PEERS, .flags = LNET_NL_F_DUMP, .version = 4 };
	static u32 buf[1024];
	struct lnet_ctl_dump d;
	struct lnet_ctl_err e;
	unsigned int i, turns = 0;
	struct world w;
	int rc;

	ctl_world_begin(&w);
	crowd(&w);
	UNIT_EQUAL(lnet_control_dump_start(&w.ctl, &req, &d, &e), 0, "start");
	for (i = 0, rc = 1; rc == 1 && i < 1000; i++) {
		struct lnet_nlw nlw;
		char gone[64];

		lnet_nlw_init(&nlw, buf, sizeof(buf), LNET_NL_USER_TYPE, req.cmd, 0, 1);
		rc = lnet_control_dump_next(&d, &nlw.sink, &e);
		snprintf(gone, sizeof(gone), "10.9.%u.1@tcp", i / 2);
		if (rc == 1 && i % 2)
			lnetctl_peer_del(w.c, gone, NULL, 0);
		turns++;
	}
	UNIT_EQUAL(rc, 0, "it ends");
	CU_ASSERT(turns > 10);
	lnet_control_dump_end(&d);
	ctl_world_end(&w);
}

static void purge(struct world *w)
{
	/* a handle carries one request at a time, and one is in progress */
	struct lnetctl *c = ctl_world_client(w);
	char gone[64];
	unsigned int i;

	for (i = 1; i < 25; i += 2) {
		snprintf(gone, sizeof(gone), "10.9.%u.1@tcp", i);
		UNIT_EQUAL(lnetctl_peer_del(c, gone, NULL, 0), 0, "del");
	}
	lnetctl_close(c);
}

static unsigned int times_shown(const struct lnetctl_node *doc, unsigned int i)
{
	const struct lnetctl_node *list = lnetctl_find(doc, "peer"), *peer;
	unsigned int nr = 0;
	char primary[64];

	snprintf(primary, sizeof(primary), "10.9.%u.1@tcp", i);
	for (peer = list ? list->first : NULL; peer; peer = peer->next)
		nr += !strcmp(lnetctl_text(peer, "primary nid"), primary);
	return nr;
}

/* Peers are removed at any point of a reply: those that stay are shown once. */
static void test_others_removed(void)
{
	struct lnetctl_node *doc = NULL;
	unsigned int i, at;
	struct world w;

	for (at = 1; at < 12; at++) {
		ctl_world_begin(&w);
		crowd(&w);
		w.size = 3400;
		w.nr_pieces = 0;
		w.piece_at = at;
		w.piece = purge;
		UNIT_EQUAL(lnetctl_peer_show(w.c, NULL, 4, false, &doc), 0, "show");
		CU_ASSERT(w.nr_pieces > at);
		for (i = 0; i < 25; i += 2)
			UNIT_EQUAL(times_shown(doc, i), 1, "stays");
		lnetctl_doc_free(doc);
		ctl_world_end(&w);
	}
}

/* ---- memory shortage ------------------------------------------------------------------------- */

static int do_net(struct world *w)
{
	return ctl_net_add(w, "tcp", "eth7,eth8");
}

static int do_peer(struct world *w)
{
	return lnetctl_peer_add(w->c, "10.9.7.1@tcp", "10.9.7.[2-3]@tcp", 0);
}

static int do_fault(struct world *w)
{
	struct lnetctl_fault f = { .source = "*", .dest = "*", .rate = 3 };

	return lnetctl_fault_add(w->c, &f);
}

static int do_set(struct world *w)
{
	return lnetctl_set(w->c, "retry_count", "4");
}

static int do_show(struct world *w)
{
	int (*const shows[])(struct lnetctl *c, struct lnetctl_node **doc) = {
		lnetctl_stats_show, lnetctl_global_show, lnetctl_node_show, lnetctl_peer_list,
	};
	struct lnetctl_node *doc;
	unsigned int i;
	int rc = lnetctl_net_show(w->c, NULL, 4, false, &doc);

	lnetctl_doc_free(doc);
	for (i = 0; i < ARRAY_SIZE(shows) && !rc; i++) {
		rc = shows[i](w->c, &doc);
		lnetctl_doc_free(doc);
	}
	if (!rc) {
		rc = lnetctl_ping(w->c, "10.0.1.1@tcp", NULL, 0, &doc);
		lnetctl_doc_free(doc);
	}
	if (!rc) {
		rc = lnetctl_discover(w->c, "10.0.1.1@tcp", false, &doc);
		if (!rc && lnetctl_find(doc, "manage"))
			rc = -ENOMEM;
		lnetctl_doc_free(doc);
	}
	return rc;
}

static void test_no_memory(void)
{
	static const struct {
		const char *name;
		int (*run)(struct world *w);
		unsigned int least;
	} rows[] = {
		{ "net add", do_net, 4 }, { "peer add", do_peer, 5 }, { "fault add", do_fault, 1 },
		{ "set", do_set, 1 },	  { "show", do_show, 5 },
	};
	unsigned int i, nth;
	struct world w;
	int rc;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1"), 0, "add");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (nth = 1, rc = -1; rc && nth < 200; nth++) {
			unit_fail_alloc(nth);
			rc = rows[i].run(&w);
			unit_fail_alloc(0);
			if (rc)
				UNIT_EQUAL(rc, -ENOMEM, rows[i].name);
		}
		UNIT_EQUAL(rc, 0, rows[i].name);
		CU_ASSERT(nth > rows[i].least);
	}
	UNIT_EQUAL(w.ln->nr_nis, 4, "interfaces");
	ctl_world_end(&w);
}

/* ---- every command, without content ---------------------------------------------------------- */

static void test_empty(void)
{
	static const u16 flags[] = { 0, LNET_NL_F_CREATE, LNET_NL_F_REPLACE, LNET_NL_F_DUMP };
	struct lnetctl_node *doc;
	unsigned int cmd, i;
	struct world w;

	ctl_world_begin(&w);
	for (cmd = 2; cmd < 256; cmd++) {
		for (i = 0; i < ARRAY_SIZE(flags); i++) {
			struct ctl_op op = { (u8)cmd, 4, flags[i], 0, "x", "y" };
			bool known = (cmd <= 16 || (cmd >= 64 && cmd <= LNET_NL_LIMITS));
			int rc = flags[i] == LNET_NL_F_DUMP ? ctl_dump(w.c, &op, NULL, &doc) :
							      ctl_do(w.c, &op, NULL);

			if (!rc && flags[i] == LNET_NL_F_DUMP)
				lnetctl_doc_free(doc);
			CU_ASSERT(rc <= 0);
			if (!known)
				UNIT_EQUAL(rc, -EOPNOTSUPP, "unknown");
		}
	}
	CU_ASSERT(w.ctl.configured);
	ctl_world_end(&w);
}

static void test_recovery(void)
{
	struct lnetctl_node *doc;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1,eth2"), 0, "add");
	UNIT_EQUAL(lnetctl_peer_add(w.c, "10.9.0.1@tcp", "10.9.0.2@tcp", 0), 0, "peer");
	UNIT_EQUAL(lnetctl_net_set(w.c, "10.0.2.1@tcp", 300, LNETCTL_UNSET), 0, "set");
	UNIT_EQUAL(lnetctl_peer_set(w.c, "10.9.0.2@tcp", 300, LNETCTL_UNSET), 0, "set");
	UNIT_EQUAL(lnetctl_recovery_show(w.c, false, &doc), 0, "local");
	UNIT_TEXT(lnetctl_text(lnetctl_find(doc, "Local NI recovery"), "nid-0"), "10.0.2.1@tcp",
		  "local");
	lnetctl_doc_free(doc);
	UNIT_EQUAL(lnetctl_recovery_show(w.c, true, &doc), 0, "peer");
	UNIT_TEXT(lnetctl_text(lnetctl_find(doc, "Peer NI recovery"), "nid-0"), "10.9.0.2@tcp",
		  "peer");
	CU_ASSERT_PTR_NULL(lnetctl_text(lnetctl_find(doc, "Peer NI recovery"), "nid-1"));
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

/* Pings without a common net or with a wrong source: each failure has the NID and the reason. */
static void test_ping(void)
{
	struct lnetctl_node *doc, *item;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1"), 0, "add");
	UNIT_EQUAL(lnetctl_ping(w.c, "10.0.1.1@tcp,10.9.0.1@o2ib", NULL, 2000, &doc), 0, "ping");
	item = lnetctl_find(doc, "ping") ? lnetctl_find(doc, "ping")->first : NULL;
	UNIT_TEXT(lnetctl_text(item, "primary nid"), "10.0.1.1@tcp", "ourselves");
	item = lnetctl_find(doc, "manage") ? lnetctl_find(doc, "manage")->first : NULL;
	UNIT_TEXT(lnetctl_text(item, "errno"), "-113", "no net in common");
	CU_ASSERT(item &&
		  !strncmp(lnetctl_text(item, "descr"), "failed to ping 10.9.0.1@o2ib: ", 30));
	lnetctl_doc_free(doc);
	UNIT_EQUAL(lnetctl_ping(w.c, "10.0.1.1@tcp", "10.0.5.1@tcp", 0, &doc), 0, "source");
	item = lnetctl_find(doc, "manage") ? lnetctl_find(doc, "manage")->first : NULL;
	UNIT_TEXT(lnetctl_text(item, "errno"), "-22", "as stock, a failure of the target");
	UNIT_TEXT(lnetctl_text(item, "descr"), "failed to ping 10.0.1.1@tcp: 10.0.5.1@tcp is not "
		  "an interface of this node", "source");
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

/* Byte for byte: stock's library prints "#:" for it, and discards it with the next table. */
static void test_comment_bytes(void)
{
	static const u8 table_attrs[] = {
		0x30, 0, 0x01, 0x80, 0x2c, 0, 0x01, 0x80, /* LIST, key 1 */
		6, 0, 2, 0, 1, 0, 0, 0,	/* LIST_SIZE 1 */
		6, 0, 3, 0, 1, 0, 0, 0,	/* INDEX 1 */
		6, 0, 5, 0, '#', 0, 0, 0, /* VALUE */
		6, 0, 7, 0, 2, 0, 0, 0,	/* KEY_FORMAT mapping */
		6, 0, 4, 0, 10, 0, 0, 0, /* TYPE NUL_STRING */
	};
	static const u8 value_attrs[] = { 5, 0, 1, 0, 0, 0, 0, 0 };
	static u32 buf[256];
	const struct nlmsghdr *h = (void *)buf;
	struct lnet_nlw w;

	lnet_nlw_init(&w, buf, sizeof(buf), LNET_NL_USER_TYPE, LNET_NL_PING, 0, 1);
	lnet_nlw_comment(&w);
	UNIT_EQUAL(w.b.len, 20 + sizeof(table_attrs) + 20 + sizeof(value_attrs), "length");
	UNIT_EQUAL(w.tables_at, w.b.len, "a value is behind the table");
	UNIT_EQUAL(h->nlmsg_flags, LNET_NL_F_CREATE | LNET_NL_F_MULTI, "flags");
	CU_ASSERT(!memcmp((u8 *)h + 20, table_attrs, sizeof(table_attrs)));
	h = (const void *)((const u8 *)h + h->nlmsg_len);
	UNIT_EQUAL(h->nlmsg_flags, LNET_NL_F_MULTI, "flags");
	CU_ASSERT(!memcmp((u8 *)h + 20, value_attrs, sizeof(value_attrs)));
	lnet_nlw_init(&w, buf, sizeof(buf), LNET_NL_USER_TYPE, LNET_NL_PING, 0, 1);
	w.replaces = true;
	CU_ASSERT(w.sink.ops->table(&w.sink, &lnet_table_ping, NULL, LNET_TABLE_FIRST));
	h = (void *)buf;
	CU_ASSERT(h->nlmsg_flags & LNET_NL_F_REPLACE);
	UNIT_EQUAL(w.tables_at, 0, "no value is behind the table");
}

/* The kernel sends a comment first if the reply is not ready; it does not change the document. */
static void test_comment(void)
{
	struct lnetctl_node *doc;
	struct world w;

	ctl_world_begin(&w);
	w.comments = true;
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1"), 0, "add");
	UNIT_EQUAL(lnetctl_ping(w.c, "10.0.1.1@tcp,10.9.0.1@o2ib", NULL, 2000, &doc), 0, "ping");
	CU_ASSERT(w.nr_pieces > 1);
	UNIT_EQUAL(w.nr_dull, 0, "pieces without a value");
	UNIT_TEXT(doc->first->key, "ping", "the successes");
	UNIT_TEXT(doc->first->next->key, "manage", "the failures");
	CU_ASSERT(!doc->first->next->next);
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

static void links_set(struct world *w, bool up)
{
	struct lnet_link link = { .up = up };
	struct lnet_ni *ni;

	list_for_each_entry(ni, &w->ln->nis, link)
		if (!lnet_nid_is_lo(&ni->nid))
			lnet_ni_link(ni, &link);
}

static void link_text_is(struct lnetctl_node *doc, unsigned int at, const char *text)
{
	struct lnetctl_node *item = lnetctl_find(doc, "manage");

	for (item = item ? item->first : NULL; item && at; at--)
		item = item->next;
	UNIT_TEXT(lnetctl_text(item, "errno"), "-113", text);
	UNIT_TEXT(lnetctl_text(item, "descr"), text, text);
	lnetctl_doc_free(doc);
}

/* No ping is sent while all links to the peer are down; the message names the nets. */
static void test_links_down(void)
{
	struct lnetctl_node *doc;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1"), 0, "add");
	UNIT_EQUAL(ctl_net_add(&w, "tcp1", "eth2"), 0, "add");
	UNIT_EQUAL(lnetctl_peer_add(w.c, "10.9.0.1@tcp", "10.9.1.1@tcp1", 0), 0, "peer");
	links_set(&w, false);
	UNIT_EQUAL(lnetctl_ping(w.c, "10.9.0.7@tcp", NULL, 100, &doc), 0, "unknown");
	link_text_is(doc, 0,
		     "failed to ping 10.9.0.7@tcp: no interface of this node is up on tcp");
	UNIT_EQUAL(lnetctl_ping(w.c, "10.9.0.1@tcp", NULL, 100, &doc), 0, "known");
	link_text_is(doc, 0, "failed to ping 10.9.0.1@tcp: no interface of this node is up on "
			     "tcp, tcp1");
	UNIT_EQUAL(lnetctl_ping(w.c, "10.9.0.1@tcp", "10.0.2.1@tcp1", 100, &doc), 0, "source");
	link_text_is(doc, 0,
		     "failed to ping 10.9.0.1@tcp: no interface of this node is up on tcp1");
	UNIT_EQUAL(lnetctl_discover(w.c, "10.9.0.7@tcp", false, &doc), 0, "discover");
	link_text_is(doc, 0,
		     "failed to discover 10.9.0.7@tcp: no interface of this node is up on tcp");
	UNIT_EQUAL(lnetctl_ping(w.c, "10.9.0.1@o2ib", NULL, 100, &doc), 0, "no route");
	link_text_is(doc, 0, "failed to ping 10.9.0.1@o2ib: No route to host");
	UNIT_EQUAL(lnetctl_ping(w.c, "10.0.1.1@tcp", NULL, 2000, &doc), 0, "ourselves");
	CU_ASSERT_PTR_NOT_NULL(lnetctl_find(doc, "ping"));
	lnetctl_doc_free(doc);
	links_set(&w, true);
	UNIT_EQUAL(lnetctl_ping(w.c, "10.9.0.7@tcp", NULL, 100, &doc), 0, "up");
	CU_ASSERT_PTR_NULL(strstr(lnetctl_text(lnetctl_find(doc, "manage")->first, "descr"),
				  "no interface"));
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

/* Discovery of the node itself, of an absent node on a local net, and of one on no local net. */
static void test_discover(void)
{
	struct lnetctl_node *doc, *item;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1,eth2"), 0, "add");
	UNIT_EQUAL(lnetctl_discover(w.c, "10.0.2.1@tcp,0@lo,10.9.0.1@tcp,10.9.0.1@o2ib", true,
				    &doc), 0, "discover");
	item = lnetctl_find(doc, "discover") ? lnetctl_find(doc, "discover")->first : NULL;
	UNIT_TEXT(lnetctl_text(item, "primary nid"), "10.0.2.1@tcp", "ourselves");
	CU_ASSERT(item && lnetctl_find(item, "peer_ni"));
	item = item ? item->next : NULL;
	UNIT_TEXT(lnetctl_text(item, "primary nid"), "10.0.1.1@tcp", "loopback");
	CU_ASSERT(item && !item->next);
	item = lnetctl_find(doc, "manage") ? lnetctl_find(doc, "manage")->first : NULL;
	CU_ASSERT(item && item->next && !item->next->next);
	CU_ASSERT(item && strcmp(lnetctl_text(item, "errno"), "0"));
	item = item ? item->next : NULL;
	UNIT_TEXT(lnetctl_text(item, "errno"), "-113", "no net in common");
	CU_ASSERT(item && lnetctl_find(item, "discover") && !lnetctl_find(item, "ping"));
	CU_ASSERT(item && !strncmp(lnetctl_text(item, "descr"),
				   "failed to discover 10.9.0.1@o2ib: ", 34));
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

UNIT_SUITE(control,
	{ "configure and unconfigure bracket everything else", test_down },
	{ "what is refused changes nothing", test_refused },
	{ "tunables are set together or not at all", test_tunables },
	{ "a refusal names the object and the reason", test_words },
	{ "every errno has words", test_every_why },
	{ "answers are the same in pieces of any size", test_pieces },
	{ "no piece of an answer is without a value", test_values_in_pieces },
	{ "peers may go while they are shown", test_removed_meanwhile },
	{ "those that stay are shown once", test_others_removed },
	{ "a lack of memory is an error and nothing else", test_no_memory },
	{ "requests without content harm nobody", test_empty },
	{ "recovery shows who is below full health", test_recovery },
	{ "pings end, each with its verdict", test_ping },
	{ "a comment is a table and a value, and the next table replaces it", test_comment_bytes },
	{ "an answer that begins with a comment is the same", test_comment },
	{ "so do discoveries", test_discover },
	{ "nothing is asked while all links are down", test_links_down })
