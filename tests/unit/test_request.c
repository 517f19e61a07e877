/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests as trees. Each call must send what the reference's table lists for the stock tool:
 * command, flags, version byte, attributes. "x" is a text, #n a number, { } a list.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include "control/control.h"
#include "utils/lib/client.h"
#include "unit.h"
#include "attr_text.h"

static struct {
	u8 cmd, version;
	u16 flags;
	char tree[1024];
} sent;

/* A node that accepts every request and has nothing to show. */
static int record(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply, void *to)
{
	const struct nlmsghdr *h = msg;
	const struct genlmsghdr *g = NLMSG_DATA(h);
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} yes = { .h = { .nlmsg_len = sizeof(yes), .nlmsg_type = NLMSG_ERROR,
			 .nlmsg_flags = NLM_F_CAPPED, .nlmsg_seq = h->nlmsg_seq } };

	sent.cmd = g->cmd;
	sent.version = g->version;
	sent.flags = h->nlmsg_flags;
	words((const char *)h + NLMSG_HDRLEN + GENL_HDRLEN,
	      h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, sent.tree, sizeof(sent.tree));
	if ((h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		yes.h.nlmsg_type = NLMSG_DONE;
	return reply(to, &yes, sizeof(yes));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int net_add(struct lnetctl *c)
{
	struct lnetctl_net n;

	lnetctl_net_init(&n);
	n.net = "tcp";
	n.interfaces = "eth0";
	n.cpts = "[0,1]";
	n.peer_credits = 16;
	n.credits = 512;
	n.conns_per_peer = 2;
	n.tos = -1;
	return lnetctl_net_add(c, &n);
}

static int net_of_nids(struct lnetctl *c, const char *nids, bool del)
{
	struct lnetctl_net n;

	lnetctl_net_init(&n);
	n.nids = nids;
	return del ? lnetctl_net_del(c, &n) : lnetctl_net_add(c, &n);
}

static int net_del(struct lnetctl *c, const char *interfaces)
{
	struct lnetctl_net n;

	lnetctl_net_init(&n);
	n.net = "tcp";
	n.interfaces = interfaces;
	return lnetctl_net_del(c, &n);
}

static int fault_add(struct lnetctl *c, bool delay)
{
	struct lnetctl_fault f = { .delay = delay, .source = "*", .dest = "*@tcp", .rate = 3,
				   .portals = 5, .messages = 2, .latency_ms = delay ? 4000 : 0 };

	return lnetctl_fault_add(c, &f);
}

static int fault_del(struct lnetctl *c, bool delay)
{
	struct lnetctl_fault f = { .delay = delay, .source = "10.0.0.1@tcp", .dest = "*" };

	return lnetctl_fault_del(c, &f);
}

#define DUMP (NLM_F_REQUEST | NLM_F_ACK | 0x300)
#define ADD (NLM_F_REQUEST | NLM_F_ACK | 0x400)
#define SET (NLM_F_REQUEST | NLM_F_ACK | 0x100)
#define DEL (NLM_F_REQUEST | NLM_F_ACK)
#define EXCL 0x200
#define APPEND 0x800
#define BACKUP 0x20
#define LO "10.0.0.1@tcp"
#define ALL_NETS "{ { \"net type\" \"<255:65535>\" \"local NI(s)\" { { \"nid\" \"<?>\" "
#define HEALTH(n) "\"health stats\" { \"health value\" #" #n " } "
#define RULE(op, dst) "\"rule_type\" #" #op " \"fa_src\" \"<?>\" \"fa_dst\" \"" dst "\" "
#define MASKS "\"fa_local_nid\" \"<?>\" \"fa_ptl_mask\" #5 \"fa_msg_mask\" #2 "

/* call, command, flags, version, tree */
#define CALLS(CALL)										\
	CALL(lnetctl_configure(c, 0), 1, ADD | EXCL, 5, "")					\
	CALL(lnetctl_configure(c, LNETCTL_CONF_ALL), 1, ADD, 5, "")				\
	CALL(lnetctl_configure(c, LNETCTL_CONF_LARGE), 1, ADD | EXCL | APPEND, 5, "")		\
	CALL(lnetctl_unconfigure(c), 1, DEL, 5, "")						\
	CALL(lnetctl_net_show(c, NULL, 3, false, &doc), 2, DUMP, 3, "")				\
	CALL(lnetctl_net_show(c, NULL, 1, true, &doc), 2, DUMP | BACKUP, 1, "")			\
	CALL(lnetctl_net_show(c, "tcp", 0, false, &doc), 2, DUMP, 0,				\
	     "{ { \"net type\" \"tcp\" } } ")							\
	CALL(net_add(c), 2, ADD, 5,								\
	     "{ { \"net type\" \"tcp\" \"local NI(s)\" { { \"interfaces\" { #0 \"eth0\" } "	\
	     "\"tunables\" { \"peer_credits\" #16 \"credits\" #512 } "				\
	     "\"lnd tunables\" { \"conns_per_peer\" #2 \"tos\" #-1 } "				\
	     "\"CPT\" { #0 #1 } } } } } ")							\
	CALL(net_of_nids(c, "10.0.0.1@tcp1", false), 2, ADD, 5,					\
	     "{ { \"net type\" \"tcp1\" \"local NI(s)\" { " \
	     "{ \"nid\" \"10.0.0.1@tcp1\" } } } } ") \
	CALL(net_del(c, NULL), 2, DEL, 5, "{ { \"net type\" \"tcp\" } } ")			\
	CALL(net_del(c, "eth0"), 2, DEL, 5,							\
	     "{ { \"net type\" \"tcp\" \"local NI(s)\" { { \"interfaces\" " \
	     "{ #0 \"eth0\" } } } } } ") \
	CALL(lnetctl_net_set(c, LO, 500, LNETCTL_UNSET), 2, SET, 5,				\
	     "{ { \"net type\" \"tcp\" \"local NI(s)\" { " \
	     "{ \"nid\" \"" LO "\" " HEALTH(500) "} } } } ") \
	CALL(lnetctl_net_set(c, NULL, 1000, LNETCTL_UNSET), 2, SET, 5,				\
	     ALL_NETS HEALTH(1000) "} } } } ")							\
	CALL(lnetctl_net_set(c, NULL, LNETCTL_UNSET, 4), 2, SET, 5,				\
	     ALL_NETS "\"lnd tunables\" { \"conns_per_peer\" #4 } } } } } ")			\
	CALL(lnetctl_net_set_on(c, "tcp1", LNETCTL_UNSET, 4), 2, SET, 5,			\
	     "{ { \"net type\" \"tcp1\" \"local NI(s)\" { { \"nid\" \"<?>\" "			\
	     "\"lnd tunables\" { \"conns_per_peer\" #4 } } } } } ")				\
	CALL(lnetctl_peer_show(c, NULL, 4, false, &doc), 3, DUMP, 4, "")			\
	CALL(lnetctl_peer_show(c, LO, 0, false, &doc), 3, DUMP, 0,				\
	     "{ { \"primary nid\" \"" LO "\" } } ")						\
	CALL(lnetctl_peer_add(c, LO, "1.1.1.[1-2]@tcp", 0), 3, ADD, 5,				\
	     "{ { \"primary nid\" \"" LO "\" \"peer ni\" "					\
	     "{ { \"nid\" \"1.1.1.1@tcp\" } " \
	     "{ \"nid\" \"1.1.1.2@tcp\" } } } } ") \
	CALL(lnetctl_peer_add(c, LO, NULL, LNETCTL_PEER_LOCK), 3, ADD | EXCL, 5,		\
	     "{ { \"primary nid\" \"" LO "\" } } ")						\
	CALL(lnetctl_peer_add(c, LO, NULL, LNETCTL_PEER_NON_MR), 3, ADD, 5,			\
	     "{ { \"primary nid\" \"" LO "\" \"Multi-Rail\" #0 } } ")				\
	CALL(lnetctl_peer_del(c, LO, NULL, 0), 3, DEL, 5,					\
	     "{ { \"primary nid\" \"" LO "\" } } ")						\
	CALL(lnetctl_peer_del(c, LO, "1.1.1.1@tcp", LNETCTL_PEER_FORCE), 3, DEL | EXCL, 5,	\
	     "{ { \"primary nid\" \"" LO "\" \"peer ni\" { { \"nid\" \"1.1.1.1@tcp\" } } } } ")	\
	CALL(lnetctl_peer_set(c, LO, 100, LNETCTL_UNSET), 3, SET, 5,				\
	     "{ { \"primary nid\" \"" LO "\" \"peer ni\" { { " HEALTH(100) "} } } } ")		\
	CALL(lnetctl_peer_set(c, NULL, 1000, LNETCTL_UNSET), 3, SET, 5,				\
	     "{ { \"primary nid\" \"<?>\" \"peer ni\" { " \
	     "{ \"nid\" \"<?>\" } { " HEALTH(1000) "} } } } ") \
	CALL(lnetctl_peer_set(c, LO, LNETCTL_UNSET, 5), 3, SET, 5,				\
	     "{ { \"primary nid\" \"" LO "\" \"peer state\" #5 } } ")				\
	CALL(lnetctl_ping(c, "1.1.1.1@tcp,1.1.1.2@tcp", LO, 3000, &doc), 6, DUMP, 5,		\
	     "\"source\" \"" LO "\" \"timeout\" #3000 \"nids\" " \
	     "{ \"1.1.1.1@tcp\" \"1.1.1.2@tcp\" } ") \
	CALL(lnetctl_cpt_of_nid(c, "1.1.1.1@tcp,1.1.1.2@tcp", &doc), 7, DUMP, 5,		\
	     "\"nids\" { \"1.1.1.1@tcp\" \"1.1.1.2@tcp\" } ")					\
	CALL(lnetctl_recovery_show(c, false, &doc), 11, DUMP, 5, "\"queue_type\" #0 ")		\
	CALL(lnetctl_recovery_show(c, true, &doc), 11, DUMP, 5, "\"queue_type\" #1 ")		\
	CALL(fault_add(c, false), 12, ADD, 5, RULE(0, "255.255.255.255@tcp") MASKS		\
	     "\"da_rate\" #3 \"da_interval\" #0 \"da_health_error_mask\" #0 \"da_random\" #0 "	\
	     "\"da_drop_all\" #0 ")								\
	CALL(fault_add(c, true), 12, ADD, 5, RULE(4, "255.255.255.255@tcp") MASKS		\
	     "\"la_rate\" #3 \"la_interval\" #0 \"la_latency\" #4 ")				\
	CALL(fault_del(c, false), 12, DEL, 5,							\
	     "\"rule_type\" #1 \"fa_src\" \"" LO "\" \"fa_dst\" \"<?>\" ")			\
	CALL(fault_del(c, true), 12, DEL, 5,							\
	     "\"rule_type\" #5 \"fa_src\" \"" LO "\" \"fa_dst\" \"<?>\" ")			\
	CALL(lnetctl_fault_reset(c, false), 12, SET, 5, "\"rule_type\" #2 ")			\
	CALL(lnetctl_fault_reset(c, true), 12, SET, 5, "\"rule_type\" #6 ")			\
	CALL(lnetctl_fault_show(c, false, &doc), 12, DUMP, 5, "\"rule_type\" #3 ")		\
	CALL(lnetctl_fault_show(c, true, &doc), 12, DUMP, 5, "\"rule_type\" #7 ")		\
	CALL(lnetctl_stats_show(c, &doc), 16, DUMP, 5, "")

static void test_trees(void)
{
	struct lnetctl *c = lnetctl_open_local(record, NULL);
	struct lnetctl_node *doc;

	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
#define CALL(call, want_cmd, want_flags, want_version, want_tree)	\
	doc = NULL;							\
	memset(&sent, 0, sizeof(sent));					\
	UNIT_EQUAL(call, 0, #call);					\
	UNIT_EQUAL(sent.cmd, want_cmd, #call);				\
	UNIT_EQUAL(sent.flags, want_flags, #call);			\
	UNIT_EQUAL(sent.version, want_version, #call);			\
	UNIT_TEXT(sent.tree, want_tree, #call);				\
	lnetctl_doc_free(doc);
	CALLS(CALL)
	lnetctl_close(c);
}

UNIT_SUITE(request, { "each call sends the reference's tree", test_trees })
