/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Module parameters and ioctls of a stock module. Files of a directory replace its parameters, and
 * requests to /dev/lnet are compared with the layouts, byte by byte.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/stat.h>
#include <unistd.h>
#include "utils/lib/client.h"
#include "unit.h"
#include "no_family.h"

/* ---- a stock module -------------------------------------------------------------------------- */

static struct {
	char modules[64], debugfs[64];
	struct stock stock;
	unsigned long code;	/* of the last ioctl */
	u8 asked[256], answer[256];
	int err;
	u32 nr_pools;		/* 89: CPTs that have buffers */
} world;

static int fake_ask(void *arg, unsigned long code, void *buf)
{
	u32 len;

	world.code = code;
	memcpy(&len, buf, sizeof(len));
	CU_ASSERT_FATAL(len >= 8 && len <= sizeof(world.asked));
	memcpy(world.asked, buf, len);
	if ((code & 0xff) == 89 && ((const u32 *)buf)[3] >= world.nr_pools)
		return -ENOENT;
	if ((code & 0xff) == 107)
		return -ENOENT;
	if (!world.err)
		memcpy((u8 *)buf + 8, world.answer + 8, len - 8);
	return world.err;
}

static void put(const char *name, const char *text)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", world.modules, name);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs(text, f);
	fclose(f);
}

/* Returns the file as it was written, with each NUL as '|'. */
static const char *got(const char *name)
{
	static char text[64];
	char path[160];
	size_t len, i;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", world.modules, name);
	f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	for (i = 0; i < len; i++)
		text[i] = text[i] ? text[i] : '|';
	text[len] = 0;
	return text;
}

/* The values of the capture. */
static const char *const files[][2] = {
	{ "lnet/parameters/lnet_numa_range", "0\n" },
	{ "lnet/parameters/lnet_interfaces_max", "4096\n" },
	{ "lnet/parameters/lnet_peer_discovery_disabled", "0\n" },
	{ "lnet/parameters/lnet_drop_asym_route", "0\n" },
	{ "lnet/parameters/lnet_retry_count", "2\n" },
	{ "lnet/parameters/lnet_transaction_timeout", "150\n" },
	{ "lnet/parameters/lnet_health_sensitivity", "100\n" },
	{ "lnet/parameters/lnet_recovery_interval", "1\n" },
	{ "lnet/parameters/router_sensitivity_percentage", "100\n" },
	{ "lnet/parameters/lnet_response_tracking", "3\n" },
	{ "lnet/parameters/lnet_recovery_limit", "0\n" },
	{ "lnet/parameters/lnet_max_recovery_ping_interval", "900\n" },
	{ "ksocklnd/parameters/sock_timeout", "50\n" },
	{ "lnet_lnd_timeout", "49\n" },
};

static struct lnetctl *stock_open_at(lnetctl_serve_fn family)
{
	static const char *const dirs[] = { "", "/lnet", "/lnet/parameters", "/ksocklnd",
					    "/ksocklnd/parameters" };
	struct lnetctl *c = lnetctl_open_local(family, NULL);
	char path[128];
	unsigned int i;

	memset(&world, 0, sizeof(world));
	snprintf(world.modules, sizeof(world.modules), "/tmp/test_stock.%d", (int)getpid());
	snprintf(world.debugfs, sizeof(world.debugfs), "%s", world.modules);
	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s%s", world.modules, dirs[i]);
		mkdir(path, 0755);
	}
	for (i = 0; i < ARRAY_SIZE(files); i++)
		put(files[i][0], files[i][1]);
	world.stock = (struct stock){ world.modules, world.debugfs, fake_ask, NULL };
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	c->stock = &world.stock;
	return c;
}

static struct lnetctl *stock_open(void)
{
	return stock_open_at(no_family_ask);
}

static void stock_close(struct lnetctl *c)
{
	static const char *const dirs[] = { "/lnet/parameters", "/lnet", "/ksocklnd/parameters",
					    "/ksocklnd", "" };
	char path[160];
	unsigned int i;

	lnetctl_close(c);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", world.modules, files[i][0]);
		unlink(path);
	}
	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s%s", world.modules, dirs[i]);
		CU_ASSERT_EQUAL(rmdir(path), 0);
	}
}

static char *printed(const struct lnetctl_node *doc)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	lnetctl_print(doc, LNETCTL_HAND, out);
	fclose(out);
	return text;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_global(void)
{
	struct lnetctl *c = stock_open();
	struct lnetctl_node *doc;
	char want[2048], *text, *start;
	FILE *f = fopen("tests/captures/netlink/33-global-show.txt", "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	want[fread(want, 1, sizeof(want) - 1, f)] = 0;
	fclose(f);
	start = strchr(want, '\n') + 1;
	*strstr(start, "# rc=") = 0;
	CU_ASSERT_EQUAL_FATAL(lnetctl_global_show(c, &doc), 0);
	text = printed(doc);
	UNIT_TEXT(text, start, "as the stock tool printed it");
	free(text);
	lnetctl_doc_free(doc);
	stock_close(c);
}

static void test_derived(void)
{
	struct lnetctl *c = stock_open();
	struct lnetctl_node *doc;

	strcpy(world.debugfs, "/nonexistent");
	put("lnet/parameters/lnet_transaction_timeout", "10\n");
	put("lnet/parameters/lnet_peer_discovery_disabled", "1\n");
	CU_ASSERT_EQUAL_FATAL(lnetctl_global_show(c, &doc), 0);
	UNIT_TEXT(lnetctl_text(lnetctl_find(doc, "global"), "lnd_timeout"), "3", "derived");
	UNIT_TEXT(lnetctl_text(lnetctl_find(doc, "global"), "discovery"), "0", "inverted");
	lnetctl_doc_free(doc);
	stock_close(c);
}

static void test_set(void)
{
	struct lnetctl *c = stock_open();
	u32 word[3];

	UNIT_EQUAL(lnetctl_set(c, "retry_count", "3"), 0, "a number");
	UNIT_TEXT(got("lnet/parameters/lnet_retry_count"), "3|", "with its NUL");
	UNIT_EQUAL(lnetctl_set(c, "discovery", "0"), 0, "inverted");
	UNIT_TEXT(got("lnet/parameters/lnet_peer_discovery_disabled"), "1|", "inverted");
	UNIT_EQUAL(lnetctl_set(c, "sock_timeout", "20"), 0, "a driver's");
	UNIT_TEXT(got("ksocklnd/parameters/sock_timeout"), "20|", "a driver's");
	UNIT_EQUAL(lnetctl_set(c, "retry_count", "default"), 0, "default");
	UNIT_TEXT(got("lnet/parameters/lnet_retry_count"), "2|", "default");
	UNIT_EQUAL(lnetctl_set(c, "transaction_timeout", "0.3"), -EINVAL, "no whole number");
	UNIT_EQUAL(lnetctl_set(c, "hedge", "1"), -ENOENT, "ours only");
	UNIT_TEXT(lnetctl_error(c)->text, "invalid key 'hedge'", "ours only");
	UNIT_EQUAL(lnetctl_set(c, "numa_range", "7"), 0, "by ioctl");
	UNIT_EQUAL(world.code, 0xc0b86562, "98");
	memcpy(word, world.asked, sizeof(word));
	UNIT_EQUAL(word[0], 12, "length");
	UNIT_EQUAL(word[1], 0x0001000b, "version");
	UNIT_EQUAL(word[2], 7, "value");
	stock_close(c);
}

static void test_undo(void)
{
	struct lnetctl *c = stock_open();
	struct lnetctl_node *values = lnetctl_add_map(NULL, NULL);

	lnetctl_add_text(values, "retry_count", "5");
	lnetctl_add_text(values, "numa_range", "9");
	lnetctl_add_text(values, "recovery_limit", "4");
	world.err = -EACCES;
	UNIT_EQUAL(lnetctl_set_many(c, values), -EACCES, "refused");
	UNIT_TEXT(got("lnet/parameters/lnet_retry_count"), "2|", "put back");
	UNIT_TEXT(got("lnet/parameters/lnet_recovery_limit"), "0\n", "never written");
	lnetctl_add_text(values, "bogus", "4");
	world.err = 0;
	UNIT_EQUAL(lnetctl_set_many(c, values), -ENOENT, "unknown");
	UNIT_TEXT(got("lnet/parameters/lnet_retry_count"), "2|", "nothing is written");
	lnetctl_doc_free(values);
	stock_close(c);
}

/* The offsets are those of the reference, for a reply with all parts: common, then health. */
static void test_stats(void)
{
	static const struct { const char *name; unsigned int at, bytes; } rows[] = {
		{ "msgs_alloc", 8, 4 }, { "msgs_max", 12, 4 }, { "rst_alloc", 68, 4 },
		{ "errors", 16, 4 }, { "send_count", 20, 4 }, { "resend_count", 72, 4 },
		{ "response_timeout_count", 76, 4 }, { "local_interrupt_count", 80, 4 },
		{ "local_dropped_count", 84, 4 }, { "local_aborted_count", 88, 4 },
		{ "local_no_route_count", 92, 4 }, { "local_timeout_count", 96, 4 },
		{ "local_error_count", 100, 4 }, { "remote_dropped_count", 104, 4 },
		{ "remote_error_count", 108, 4 }, { "remote_timeout_count", 112, 4 },
		{ "network_timeout_count", 116, 4 }, { "failed_resends", 120, 4 },
		{ "successful_resends", 124, 4 }, { "recv_count", 24, 4 },
		{ "route_count", 28, 4 }, { "drop_count", 32, 4 }, { "send_length", 36, 8 },
		{ "recv_length", 44, 8 }, { "route_length", 52, 8 }, { "drop_length", 60, 8 },
	};
	struct lnetctl *c = stock_open();
	char want[2048] = "statistics:\n", *text;
	struct lnetctl_node *doc;
	unsigned int i;
	u32 head[2];

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 val = rows[i].bytes == 8 ? 1ULL << (36 + i) : 0xf0000000 + i;

		memcpy(world.answer + rows[i].at, &val, rows[i].bytes);
		snprintf(want + strlen(want), sizeof(want) - strlen(want), "    %s: %llu\n",
			 rows[i].name, (unsigned long long)val);
	}
	CU_ASSERT_EQUAL_FATAL(lnetctl_stats_show(c, &doc), 0);
	text = printed(doc);
	UNIT_TEXT(text, want, "each counter has its place");
	UNIT_EQUAL(world.code, 0xc0b8655b, "91");
	free(text);
	lnetctl_doc_free(doc);
	UNIT_EQUAL(lnetctl_stats_reset(c), 0, "reset");
	UNIT_EQUAL(world.code, 0xc0b8656e, "110");
	memcpy(head, world.asked, sizeof(head));
	UNIT_EQUAL(head[0], 128, "length of the data layout");
	UNIT_EQUAL(head[1], 0x0001000a, "version of the data layout");
	world.err = -EACCES;
	UNIT_EQUAL(lnetctl_stats_reset(c), -EACCES, "not root");
	UNIT_EQUAL(lnetctl_stats_show(c, &doc), -EACCES, "not root");
	stock_close(c);
}

static void test_peer(void)
{
	struct lnetctl *c = stock_open();
	u32 head[2], net;
	u64 nid;

	UNIT_EQUAL(lnetctl_peer_log(c, "10.5.0.9@tcp7"), 0, "a peer");
	memcpy(&net, world.asked + 32, sizeof(net));
	UNIT_EQUAL(net, 0x00020007, "its net alone");
	UNIT_EQUAL(lnetctl_peer_log(c, "10.5.0.9@tcp"), 0, "a peer");
	UNIT_EQUAL(world.code, 0xc008654c, "76");
	memcpy(head, world.asked, sizeof(head));
	memcpy(&nid, world.asked + 8, sizeof(nid));
	UNIT_EQUAL(head[0], 128, "length");
	UNIT_EQUAL(head[1], 0x0001000a, "version");
	UNIT_EQUAL(nid, 0x000200000a050009, "net and address");
	memcpy(&net, world.asked + 32, sizeof(net));
	UNIT_EQUAL(net, 0x00020000, "the net alone");
	UNIT_EQUAL(lnetctl_peer_log(c, "2001:db8::1@tcp"), -EINVAL, "has no room");
	UNIT_EQUAL(lnetctl_peer_log(c, "bogus"), -EINVAL, "no NID");
	stock_close(c);
}

/* The pools begin at byte 180, and the state of routing is at 228; the fake has one CPT. */
static void test_routing(void)
{
	static const u32 words[] = { 0, 512, 511, -7, 1, 4096, 4095, 3, 256, 256, 255, 2, 3 };
	struct lnetctl *c = stock_open();
	struct lnetctl_node *doc;
	u32 head[2];
	char *text;

	memcpy(world.answer + 180, words, sizeof(words));
	memset(world.answer + 232, 0xff, 4);
	world.nr_pools = 1;
	CU_ASSERT_EQUAL_FATAL(lnetctl_routing_show(c, &doc), 0);
	text = printed(doc);
	UNIT_TEXT(text, "routing:\n    - cpt[0]:\n"
		  "          tiny:\n              npages: 0\n              nbuffers: 512\n"
		  "              credits: 511\n              mincredits: -7\n"
		  "          small:\n              npages: 1\n              nbuffers: 4096\n"
		  "              credits: 4095\n              mincredits: 3\n"
		  "          large:\n              npages: 256\n              nbuffers: 256\n"
		  "              credits: 255\n              mincredits: 2\n"
		  "    - enable: 3\nbuffers:\n    tiny: 512\n    small: 4096\n    large: 256\n",
		  "each number has its place");
	UNIT_EQUAL(world.code, 0xc0b86559, "89");
	memcpy(head, world.asked, sizeof(head));
	UNIT_EQUAL(head[0], 236, "length");
	UNIT_EQUAL(head[1], 0x0001000b, "version");
	free(text);
	lnetctl_doc_free(doc);
	stock_close(c);
}

/* If netlink has no command for it, a node is switched on and off by ioctl. */
static void test_configure(void)
{
	static const struct {
		unsigned int flags, want;
	} rows[] = { { 0, 0 }, { LNETCTL_CONF_ALL, 1 } };
	struct lnetctl *c = stock_open();
	unsigned int i;
	u32 head[2], flags;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		UNIT_EQUAL(lnetctl_configure(c, rows[i].flags), 0, "on");
		UNIT_EQUAL(world.code, 0xc008653b, "59");
		memcpy(head, world.asked, sizeof(head));
		memcpy(&flags, world.asked + 24, sizeof(flags));
		UNIT_EQUAL(head[0], 128, "length");
		UNIT_EQUAL(head[1], 0x0001000a, "version");
		UNIT_EQUAL(flags, rows[i].want, "with what parameters name");
	}
	UNIT_EQUAL(lnetctl_unconfigure(c), 0, "off");
	UNIT_EQUAL(world.code, 0xc0086538, "56");
	memcpy(head, world.asked, sizeof(head));
	UNIT_EQUAL(head[0], 128, "length");
	UNIT_EQUAL(head[1], 0x0001000a, "version");
	world.err = -EBUSY;
	UNIT_EQUAL(lnetctl_unconfigure(c), -EBUSY, "as it is told");
	UNIT_TEXT(lnetctl_error(c)->text, "LNet configure error: Device or resource busy", "words");
	world.code = 0;
	UNIT_EQUAL(lnetctl_configure(c, LNETCTL_CONF_LARGE), -EOPNOTSUPP, "large NIDs");
	UNIT_EQUAL(world.code, 0, "which cannot be asked for");
	stock_close(c);
}

/* ---- a family as stock's, under Linux 6.1 and later ------------------------------------------ */

#define FAMILY 0x23
#define FAMILY_LIMIT 17
#define FAMILY_DUMP (NLM_F_ROOT | NLM_F_MATCH)

static struct {
	unsigned int nr_asked, nr_refused;	/* the controller; by the family */
	u16 refused_cmd;
} family;

/* Commands of stock's family: bit 1 for a request, bit 2 for a dump. */
static const u8 family_ops[FAMILY_LIMIT] = { [1] = 1, [2] = 3, [3] = 3, [4] = 3, [6] = 3, [7] = 2,
					     [8] = 2, [10] = 1, [11] = 2, [12] = 3, [13] = 1,
					     [14] = 1, [15] = 1, [16] = 2 };

static size_t attr_put(u8 *at, u16 type, const void *data, size_t len)
{
	struct nlattr head = { (u16)(NLA_HDRLEN + len), type };

	memcpy(at, &head, sizeof(head));
	if (data)
		memcpy(at + NLA_HDRLEN, data, len);
	return NLA_ALIGN(NLA_HDRLEN + len);
}

static size_t ops_put(u8 *at)
{
	size_t len = NLA_HDRLEN;
	u32 cmd;

	for (cmd = 0; cmd < FAMILY_LIMIT; cmd++) {
		u32 flags = (u32)family_ops[cmd] << 1 | GENL_ADMIN_PERM;
		size_t op = NLA_HDRLEN;

		if (!family_ops[cmd])
			continue;
		op += attr_put(at + len + op, CTRL_ATTR_OP_ID, &cmd, sizeof(cmd));
		op += attr_put(at + len + op, CTRL_ATTR_OP_FLAGS, &flags, sizeof(flags));
		len += attr_put(at + len, (u16)(cmd + 1), NULL, op - NLA_HDRLEN);
	}
	return attr_put(at, CTRL_ATTR_OPS, NULL, len - NLA_HDRLEN);
}

static int controller_answer(const struct nlmsghdr *h, lnetctl_reply_fn reply, void *to)
{
	struct {
		struct nlmsghdr h;
		struct genlmsghdr g;
		u8 attrs[1024];
	} msg = { .h = { .nlmsg_type = GENL_ID_CTRL, .nlmsg_seq = h->nlmsg_seq } };
	u16 id = FAMILY;
	size_t len;

	family.nr_asked++;
	CU_ASSERT_FATAL(h->nlmsg_len >= NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + sizeof("lnet"));
	UNIT_TEXT((const char *)NLMSG_DATA(h) + GENL_HDRLEN + NLA_HDRLEN, "lnet", "its name");
	len = attr_put(msg.attrs, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
	len += ops_put(msg.attrs + len);
	msg.h.nlmsg_len = (u32)(NLMSG_HDRLEN + GENL_HDRLEN + len);
	return reply(to, &msg, msg.h.nlmsg_len);
}

static int verdict(const struct nlmsghdr *h, u16 type, int err, lnetctl_reply_fn reply, void *to)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} end = { .h = { .nlmsg_len = sizeof(end), .nlmsg_type = type, .nlmsg_flags = NLM_F_CAPPED,
			 .nlmsg_seq = h->nlmsg_seq },
		  .e = { .error = err } };

	return reply(to, &end, end.h.nlmsg_len);
}

/* As in the kernel, the flags of a command beyond the limit are checked before its look-up. */
static int family_ask(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply, void *to)
{
	const struct nlmsghdr *h = msg;
	u8 cmd = ((const struct genlmsghdr *)NLMSG_DATA(h))->cmd;
	bool dump = (h->nlmsg_flags & FAMILY_DUMP) == FAMILY_DUMP;
	u16 known = NLM_F_REQUEST | NLM_F_ACK | (dump ? FAMILY_DUMP : 0);

	if (h->nlmsg_type == GENL_ID_CTRL) {
		controller_answer(h, reply, to);
		return verdict(h, NLMSG_ERROR, 0, reply, to);
	}
	UNIT_EQUAL(h->nlmsg_type, FAMILY, "the number of the family");
	if (cmd < FAMILY_LIMIT && family_ops[cmd] & (dump ? 2 : 1))
		return verdict(h, dump ? NLMSG_DONE : NLMSG_ERROR, 0, reply, to);
	family.nr_refused++;
	family.refused_cmd = cmd;
	if (cmd >= FAMILY_LIMIT && h->nlmsg_flags & ~known)
		return verdict(h, NLMSG_ERROR, -EINVAL, reply, to);
	return verdict(h, NLMSG_ERROR, -EOPNOTSUPP, reply, to);
}

static struct lnetctl *family_open(void)
{
	struct lnetctl *c = stock_open_at(family_ask);

	memset(&family, 0, sizeof(family));
	UNIT_EQUAL(link_family_find(c->link), 0, "the controller knows it");
	return c;
}

static void test_family(void)
{
	struct lnetctl *c = family_open();
	u32 word[3];

	UNIT_EQUAL(lnetctl_set(c, "retry_count", "3"), 0, "set");
	UNIT_TEXT(got("lnet/parameters/lnet_retry_count"), "3|", "set");
	UNIT_EQUAL(lnetctl_set(c, "numa_range", "7"), 0, "set, by ioctl");
	memcpy(word, world.asked, sizeof(word));
	UNIT_EQUAL(word[2], 7, "set, by ioctl");
	UNIT_EQUAL(lnetctl_lnd_timeout(c, "tcp", 20), 0, "net set --lnd-timeout");
	UNIT_TEXT(got("ksocklnd/parameters/sock_timeout"), "20|", "net set --lnd-timeout");
	world.code = 0;
	UNIT_EQUAL(lnetctl_stats_reset(c), 0, "stats reset");
	UNIT_EQUAL(world.code, 0xc0b8656e, "110");
	UNIT_EQUAL(lnetctl_explain(c, "10.0.0.1@tcp", &(struct lnetctl_node *){ NULL }),
		   -EOPNOTSUPP, "a command of ours alone");
	UNIT_EQUAL(family.nr_asked, 1, "the controller is asked once");
	UNIT_EQUAL(family.nr_refused, 0, "and nothing is sent that the family does not have");
	UNIT_EQUAL(family.refused_cmd, 0, "which");
	stock_close(c);
}

static void test_family_export(void)
{
	static const unsigned int flags[] = { 0, LNETCTL_EXPORT_BACKUP };
	struct lnetctl *c = family_open();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		UNIT_EQUAL(lnetctl_export(c, flags[i], out), 0, "export");
		fclose(out);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "retry_count: 2"));
		free(text);
	}
	UNIT_EQUAL(family.nr_refused, 0, "nothing is sent that the family does not have");
	stock_close(c);
}

UNIT_SUITE(stock, { "tunables are shown as the stock tool shows them", test_global },
	   { "what cannot be read of them is derived", test_derived },
	   { "they are set by parameter and by ioctl", test_set },
	   { "all of them or none", test_undo },
	   { "statistics stand where stock's module has them", test_stats },
	   { "router buffers stand where stock's module has them", test_routing },
	   { "a node is switched on and off by ioctl", test_configure },
	   { "a peer is logged by ioctl", test_peer },
	   { "commands that the family does not list go the other way", test_family },
	   { "an export asks for nothing that the family does not list", test_family_export })
