/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* liblnetctl call by call: the effect of each, and the errors that its declaration names. */
#include "ctl_world.h"
#include "topology/topology.h"

/* Interfaces by rules: for each net, the first rule that matches counts. */
static void test_rules(void)
{
	static const struct {
		const char *rules, *nets;
		int rc;
	} rows[] = {
		{ "tcp 10.0.1.*", "lo tcp:1", 0 },
		{ "tcp(eth2[1],eth3) 10.0.*.*", "lo tcp:2", 0 },
		{ "tcp(eth2) 10.9.*.*; tcp(eth3) 10.0.[0-4/2].1 10.0.1.1; tcp(eth4) *.*.*.*",
		  "lo tcp:1", 0 },
		{ "tcp,tcp1(eth7) 10.0.1.1 # both\ntcp1(eth8) 10.0.1.1", "lo tcp:1 tcp1:1", 0 },
		{ "tcp 10.9.*.*", "lo", -ENOENT },
		{ "tcp(eth1)", "lo", -ENOENT },
		{ "tcp(wlan0) 10.0.*.*", "lo", -ENETDOWN },
		{ "tcp(eth1[9]) 10.0.*.*", "lo", -ERANGE },
		{ "10.0.1.1", "lo", -ENOENT },
		{ "tcp1(eth1) *.*.*.*; tcp2(wlan0) *.*.*.*", "lo", -ENETDOWN },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnetctl_node *doc, *net, *ni;
		struct lnetctl_net n;
		char text[200] = "";
		struct world w;

		ctl_world_begin(&w);
		lnetctl_net_init(&n);
		n.ip2net = rows[i].rules;
		UNIT_EQUAL(lnetctl_net_add(w.c, &n), rows[i].rc, rows[i].rules);
		UNIT_EQUAL(lnetctl_net_show(w.c, NULL, 0, false, &doc), 0, "show");
		for (net = lnetctl_find(doc, "net")->first; net; net = net->next) {
			const char *name = lnetctl_text(net, "net type");
			size_t len = strlen(text), nr = 0;

			for (ni = lnetctl_find(net, "local NI(s)")->first; ni; ni = ni->next)
				nr++;
			snprintf(text + len, sizeof(text) - len,
				 strcmp(name, "lo") ? "%s%s:%zu" : "%s%s", len ? " " : "", name,
				 nr);
		}
		UNIT_TEXT(text, rows[i].nets, rows[i].rules);
		lnetctl_doc_free(doc);
		ctl_world_end(&w);
	}
}

#define SHOWS(call, key)							\
	do {									\
		UNIT_EQUAL(call, 0, #call);					\
		CU_ASSERT(lnetctl_find(doc, key) && lnetctl_find(doc, key)->first);	\
		lnetctl_doc_free(doc);						\
	} while (0)
#define REFUSES(call, want)							\
	do {									\
		doc = NULL;							\
		UNIT_EQUAL(call, want, #call);					\
		UNIT_EQUAL(lnetctl_error(w.c)->err, want, #call);		\
		CU_ASSERT(lnetctl_error(w.c)->text[0] && !doc);			\
	} while (0)

static void calls_about_nets(void)
{
	struct lnetctl_net none, two = { 0 };
	struct lnetctl_node *doc;
	struct world w;

	ctl_world_begin(&w);
	lnetctl_net_init(&none);
	lnetctl_net_init(&two);
	two.net = "tcp";
	two.nids = "10.0.1.1@tcp";
	REFUSES(lnetctl_net_add(w.c, &none), -EINVAL);
	REFUSES(lnetctl_net_add(w.c, &two), -EINVAL);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1,eth2[0]"), 0, "add");
	REFUSES(ctl_net_add(&w, "tcp", "eth1"), -EEXIST);
	REFUSES(ctl_net_add(&w, "bogus", "eth1"), -ENOENT);
	REFUSES(ctl_net_add(&w, "tcp1", "eth1[0"), -EINVAL);
	UNIT_EQUAL(lnetctl_net_set(w.c, "10.0.1.1@tcp", 500, 3), 0, "set");
	UNIT_EQUAL(lnetctl_net_set(w.c, NULL, 1000, LNETCTL_UNSET), 0, "set all");
	REFUSES(lnetctl_net_set(w.c, "10.0.1.1@tcp", 1001, LNETCTL_UNSET), -EINVAL);
	REFUSES(lnetctl_net_set(w.c, "10.0.9.1@tcp", 1, LNETCTL_UNSET), -ENOENT);
	UNIT_EQUAL(lnetctl_lnd_timeout(w.c, "tcp1", 7), 0, "driver's time");
	UNIT_EQUAL(w.ln->tun.sock_timeout, 7 * NSEC_PER_SEC, "driver's time");
	UNIT_EQUAL(lnet_sock_timeout_ns(&w.ln->tun), 7 * NSEC_PER_SEC, "as told");
	UNIT_EQUAL(lnetctl_lnd_timeout(w.c, "tcp", 0), 0, "as long as a try");
	UNIT_EQUAL(lnet_sock_timeout_ns(&w.ln->tun), lnet_lnd_timeout_ns(&w.ln->tun), "a try");
	REFUSES(lnetctl_lnd_timeout(w.c, "o2ib", 7), -EINVAL);
	REFUSES(lnetctl_lnd_timeout(w.c, "t", 7), -EINVAL);
	REFUSES(lnetctl_lnd_timeout(w.c, "tcp", -1), -EINVAL);
	REFUSES(lnetctl_lnd_timeout(w.c, "tcp", 3601), -ERANGE);
	UNIT_EQUAL(lnetctl_net_link(w.c, "10.0.2.1@tcp", false), 0, "link");
	SHOWS(lnetctl_net_show(w.c, "tcp", 4, false, &doc), "net");
	REFUSES(lnetctl_net_show(w.c, "tcp5", 0, false, &doc), -ESRCH);
	REFUSES(lnetctl_net_show(w.c, "bogus", 0, false, &doc), -ENOENT);
	UNIT_EQUAL(lnetctl_net_del(w.c, &two), -EINVAL, "two ways");
	two.nids = NULL;
	UNIT_EQUAL(lnetctl_net_del(w.c, &two), 0, "del");
	REFUSES(lnetctl_net_del(w.c, &two), -EINVAL);
	ctl_world_end(&w);
}

/* More credits were taken than exist, so the shown number is below 0. */
static void credits_are_signed(struct world *w, const char *text)
{
	struct lnetctl_node *doc, *item;
	struct lnet_peer_ni *pni;
	struct lnet_nid nid;

	UNIT_EQUAL(lnet_nid_parse(&nid, text), 0, text);
	pni = lnet_peer_ni_lookup(w->ln, &nid);
	pni->min_credits = -3;
	lnet_peer_ni_put(pni);
	UNIT_EQUAL(lnetctl_peer_show(w->c, text, 1, false, &doc), 0, "show");
	item = lnetctl_find(lnetctl_find(doc, "peer")->first, "peer ni")->first;
	UNIT_TEXT(lnetctl_text(item, "min_tx_credits"), "-3", "least credits");
	lnetctl_doc_free(doc);
}

static void calls_about_peers(void)
{
	struct lnetctl_node *doc;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1"), 0, "add");
	UNIT_EQUAL(lnetctl_peer_add(w.c, "10.9.0.1@tcp", "10.9.[0-1].1@tcp", LNETCTL_PEER_LOCK), 0,
		   "peer");
	REFUSES(lnetctl_peer_add(w.c, "x", NULL, 0), -EINVAL);
	REFUSES(lnetctl_peer_add(w.c, "10.9.2.1@tcp", "10.[0-9].0.[0-99]@tcp", 0), -E2BIG);
	REFUSES(lnetctl_peer_add(w.c, "10.9.2.1@tcp", "10.9.1.1@tcp", 0), -EEXIST);
	UNIT_EQUAL(lnetctl_peer_set(w.c, "10.9.1.1@tcp", 900, LNETCTL_UNSET), 0, "health");
	UNIT_EQUAL(lnetctl_peer_set(w.c, NULL, 1000, LNETCTL_UNSET), 0, "health of all");
	REFUSES(lnetctl_peer_set(w.c, "10.9.7.1@tcp", 900, LNETCTL_UNSET), -ENOENT);
	REFUSES(lnetctl_peer_set(w.c, "10.9.1.1@tcp", 1001, LNETCTL_UNSET), -EINVAL);
	REFUSES(lnetctl_peer_set(w.c, "10.9.1.1@tcp", LNETCTL_UNSET, -2), -EINVAL);
	SHOWS(lnetctl_peer_show(w.c, "10.9.1.1@tcp", 3, false, &doc), "peer");
	SHOWS(lnetctl_peer_list(w.c, &doc), "peer list");
	credits_are_signed(&w, "10.9.0.1@tcp");
	REFUSES(lnetctl_peer_show(w.c, "10.9.7.1@tcp", 3, false, &doc), -ENOENT);
	UNIT_EQUAL(lnetctl_peer_log(w.c, "10.9.1.1@tcp"), 0, "log");
	REFUSES(lnetctl_peer_log(w.c, "10.9.7.1@tcp"), -ENOENT);
	REFUSES(lnetctl_peer_del(w.c, "10.9.1.1@tcp", NULL, 0), -ENODEV);
	UNIT_EQUAL(lnetctl_peer_del(w.c, "10.9.0.1@tcp", NULL, 0), 0, "a locked one");
	SHOWS(lnetctl_peer_show(w.c, "10.9.0.1@tcp", 0, false, &doc), "peer");
	UNIT_EQUAL(lnetctl_peer_del(w.c, "10.9.0.1@tcp", NULL, LNETCTL_PEER_FORCE), 0, "force");
	REFUSES(lnetctl_peer_del(w.c, "10.9.0.1@tcp", NULL, 0), -ENOENT);
	SHOWS(lnetctl_cpt_of_nid(w.c, "10.0.0.[1-3]@tcp", &doc), "cpt-of-nid");
	REFUSES(lnetctl_cpt_of_nid(w.c, "10.0.0.1", &doc), -EINVAL);
	ctl_world_end(&w);
}

static void calls_about_faults(void)
{
	struct lnetctl_fault f = { .source = "*@tcp", .dest = "*", .rate = 2 };
	struct lnetctl_node *doc;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(lnetctl_fault_add(w.c, &f), 0, "add");
	SHOWS(lnetctl_fault_show(w.c, false, &doc), "fault");
	UNIT_EQUAL(lnetctl_fault_reset(w.c, false), 0, "reset");
	f.interval = 3;
	REFUSES(lnetctl_fault_add(w.c, &f), -EINVAL);
	f.interval = 0;
	f.delay = true;
	REFUSES(lnetctl_fault_add(w.c, &f), -EINVAL);
	REFUSES(lnetctl_fault_del(w.c, &f), -ENOENT);
	f.delay = false;
	UNIT_EQUAL(lnetctl_fault_del(w.c, &f), 0, "del");
	UNIT_EQUAL(lnetctl_fault_show(w.c, false, &doc), 0, "none");
	CU_ASSERT_PTR_NULL(doc->first);
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

/* Each command of lnetctl is one call: its effect, and the errors that its declaration names. */
static void test_calls(void)
{
	struct lnetctl_node *doc;
	char why[100];
	struct world w;

	calls_about_nets();
	calls_about_peers();
	calls_about_faults();
	ctl_world_begin(&w);
	UNIT_EQUAL(lnetctl_configure(w.c, LNETCTL_CONF_LARGE), 0, "again");
	UNIT_EQUAL(lnetctl_set(w.c, "retry_count", "5"), 0, "set");
	REFUSES(lnetctl_set(w.c, "retry_count", "256"), -ERANGE);
	REFUSES(lnetctl_set(w.c, "retry_count", "x"), -EINVAL);
	REFUSES(lnetctl_set(w.c, "bogus", "1"), -ENOENT);
	SHOWS(lnetctl_global_show(w.c, &doc), "global");
	SHOWS(lnetctl_stats_show(w.c, &doc), "statistics");
	UNIT_EQUAL(lnetctl_stats_reset(w.c), 0, "reset");
	SHOWS(lnetctl_node_show(w.c, &doc), "node");
	ctl_world_end(&w);
	UNIT_EQUAL(lnetctl_service_id(), 0xdb03060100000000ULL, "service");
	UNIT_EQUAL(lnetctl_nidlist_match("10.0.[1-3].*@tcp", "10.0.2.9@tcp"), 1, "in");
	UNIT_EQUAL(lnetctl_nidlist_match("10.0.[1-3].*@tcp", "10.0.4.9@tcp"), 0, "not in");
	UNIT_EQUAL(lnetctl_nidlist_match("10.0.[1-3].*@tcp", "foo"), -EINVAL, "no NID");
	UNIT_EQUAL(lnetctl_nidlist_match("10.0.[1-3.*@tcp", NULL), -EINVAL, "no list");
	setenv("KSOCKLND_CONFIG", "/nonexistent/ksocklnd-config", 1);
	UNIT_EQUAL(lnetctl_setup_mrrouting(why, sizeof(why)), -ENOENT, "no helper");
	UNIT_TEXT(why, "cannot run /nonexistent/ksocklnd-config: No such file or directory", "why");
	unsetenv("KSOCKLND_CONFIG");
	setenv("LNET_SYSCTL_CONFIG", "/nonexistent/lnet-sysctl-config", 1);
	UNIT_EQUAL(lnetctl_setup_sysctl(why, sizeof(why)), -ENOENT, "no helper");
	unsetenv("LNET_SYSCTL_CONFIG");
}

UNIT_SUITE(calls,
	{ "each command is one call, with the errors it names", test_calls },
	{ "rules name interfaces, of each net the first that matches counts", test_rules },
)
