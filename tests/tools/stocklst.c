/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stocklst CLIENT SERVER | garbage NUMBER | nobody: sends the requests of stock's lst to the
 * kernel's console, by the netlink family and ioctl 63. It runs a whole session with a ping test
 * from CLIENT to SERVER, NUMBER ioctls of garbage, or one ioctl that must fail with EACCES.
 *
 * Prints each failed check. Exit 0: no check failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <lnet/nid.h>
#include "uapi/lnet_ioctl.h"
#include "uapi/lnet_lst.h"
#include "uapi/lnet_nl.h"

#define KEY	4711
#define AT(p)	((uintptr_t)(p))

static int door, failures;
static struct lnet_lst_stat stats;

static void expect(const char *what, long got, long want)
{
	if (got == want)
		return;
	printf("# %s: got %ld, want %ld\n", what, got, want);
	failures++;
}

/* 0 or -errno. */
static int ask(uint32_t op, const void *args, uint32_t len)
{
	struct lnet_ioc_data data = { .hdr = { sizeof(data), LNET_IOC_VERSION_DATA },
				      .u32_ = { op }, .plen1 = len, .pbuf1 = AT(args),
				      .plen2 = sizeof(stats), .pbuf2 = AT(&stats) };

	return ioctl(door, LNET_IOC(LNET_IOC_LST), &data) ? -errno : 0;
}

/* ---- netlink --------------------------------------------------------------------------------- */

static int nr_messages;

static int on_message(struct nl_msg *msg, void *unused)
{
	nr_messages++;
	return NL_OK;
}

/* Sends a request and reads the answer. Returns 0 or a libnl error. @name: of a new session. */
static int tell(int flags, uint8_t cmd, const char *name)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct nl_msg *msg = nlmsg_alloc();
	struct nlattr *list;
	int rc, family;

	nl_socket_set_local_port(sk, KEY);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_message, NULL);
	rc = genl_connect(sk);
	family = rc ? rc : genl_ctrl_resolve(sk, LNET_LST_FAMILY);
	nr_messages = 0;
	if (family > 0) {
		genlmsg_put(msg, KEY, NL_AUTO_SEQ, family, 0, flags, cmd, 1);
		if (name) {
			list = nla_nest_start(msg, LNET_NLA_LIST);
			nla_put_string(msg, LNET_NLA_VALUE, "name");
			nla_put_string(msg, LNET_NLA_VALUE, name);
			nla_nest_end(msg, list);
		}
		nl_send_auto(sk, msg);
		rc = nl_recvmsgs_default(sk);
	} else {
		rc = family;
	}
	nlmsg_free(msg);
	nl_socket_free(sk);
	return rc < 0 ? rc : 0;
}

/* ---- a session ------------------------------------------------------------------------------- */

static int named(uint32_t op, const char *name)
{
	struct lnet_lst_named a = { KEY, (int)strlen(name), AT(name) };

	return ask(op, &a, sizeof(a));
}

/* A list of one result: its head and its entry. */
struct result {
	struct { uint64_t next, prev; } head;
	struct lnet_lst_result entry;
	char payload[256];
};

static uint64_t list_of(struct result *r)
{
	memset(r, 0, sizeof(*r));
	r->head.next = AT(&r->entry);
	r->entry.next = AT(&r->head);
	return AT(&r->head);
}

static struct result result;

static void group(const char *name, const char *text)
{
	struct lnet_lst_id id = { .pid = 12345 };
	struct lnet_nid nid;
	uint32_t features = 0;
	struct lnet_lst_nodes_add a = { KEY, (int)strlen(name), AT(name), 1, 0, AT(&features),
					AT(&id), list_of(&result) };

	expect(text, lnet_nid_parse(&nid, text), 0);
	id.nid = lnet_nid_to_nid4(&nid);
	expect("group", named(LNET_LST_GROUP_ADD, name), 0);
	expect("nodes", ask(LNET_LST_NODES_ADD, &a, sizeof(a)), 0);
	expect("the node", (long)result.entry.peer.nid, (long)id.nid);
	expect("its state", result.entry.state, 1);
	expect("nodes that joined", stats.remote[0], 1);
	expect("features", features, 1);
}

static void query(bool runs)
{
	struct lnet_lst_batch_query a = { KEY, 0, 1, 5, 5, 0, AT("batch"), list_of(&result) };

	expect("query", ask(LNET_LST_BATCH_QUERY, &a, sizeof(a)), 0);
	expect("active", result.entry.private_[0] != 0, runs);
}

static void run(uint32_t op)
{
	struct lnet_lst_batch_run a = { KEY, 0, 5, 0, AT("batch"), list_of(&result) };

	expect("run or stop", ask(op, &a, sizeof(a)), 0);
}

static void test(void)
{
	struct lnet_lst_test_add a = { .key = KEY, .batch_len = 5, .batch_at = AT("batch"),
				       .type = LNET_LST_PING, .loop = -1, .concurrency = 1,
				       .distance = 1, .span = 1, .from_len = 1, .from_at = AT("c"),
				       .to_len = 1, .to_at = AT("s"),
				       .results_at = list_of(&result) };
	struct lnet_lst_stat_query s = { KEY, 5, 1, 0, AT("c"), 0, 0, 0, list_of(&result) };
	struct lnet_lst_counters c;

	expect("test", ask(LNET_LST_TEST_ADD, &a, sizeof(a)), 0);
	run(LNET_LST_BATCH_START);
	query(true);
	usleep(200000);
	s.results_at = list_of(&result);
	expect("counters", ask(LNET_LST_STAT_QUERY, &s, sizeof(s)), 0);
	memcpy(&c, (char *)&result.entry + LNET_LST_RESULT_PAYLOAD, sizeof(c));
	expect("messages", c.send_count > 0 && c.rpcs_sent > 0, 1);
	run(LNET_LST_BATCH_STOP);
	usleep(500000);
	query(false);
}

static void session(const char *client, const char *server)
{
	struct lnet_lst_list a = { KEY, 0, 32, 0, AT(result.payload) };

	expect("new session", tell(NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE, 1, "stock"), 0);
	expect("its table and its values", nr_messages, 2);
	group("c", client);
	group("s", server);
	expect("the first group", ask(LNET_LST_GROUP_LIST, &a, sizeof(a)), 0);
	expect("its name", strcmp(result.payload, "c"), 0);
	test();
	expect("sessions", tell(NLM_F_REQUEST | NLM_F_DUMP, 1, NULL), 0);
	expect("table and values", nr_messages, 2);
	expect("groups", tell(NLM_F_REQUEST | NLM_F_DUMP, 2, NULL), 0);
	expect("table and two groups", nr_messages, 3);
	expect("end session", tell(NLM_F_REQUEST | NLM_F_ACK, 1, NULL), 0);
	expect("none", named(LNET_LST_GROUP_ADD, "x"), -ESRCH);
}

/* Sends random addresses, some of them valid. The kernel must not crash. */
static void garbage(unsigned long nr)
{
	static uint64_t args[32];
	static char ours[4096];
	unsigned long i, k;

	srand(7);
	tell(NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE, 1, "garbage");
	for (i = 0; i < nr; i++) {
		for (k = 0; k < 32; k++)
			args[k] = rand() % 3 ? AT(ours) + (unsigned int)rand() % 4000 :
				  rand() % 2 ? (uint64_t)rand() << 33 | (uint64_t)rand() :
				  (uint64_t)rand() % 64;
		args[0] = KEY | args[0] >> 32 << 32;
		ask(0xC00 + (unsigned int)rand() % 0x40, args, sizeof(args));
	}
	tell(NLM_F_REQUEST | NLM_F_ACK, 1, NULL);
}

int main(int argc, char **argv)
{
	door = open("/dev/lnet", O_RDWR | O_CLOEXEC);
	if (argc == 2)
		expect("nobody", door < 0 ? -EACCES : named(LNET_LST_GROUP_ADD, "x"), -EACCES);
	else if (door < 0 || argc != 3)
		return perror("stocklst CLIENT SERVER | garbage NUMBER | nobody: /dev/lnet"), 2;
	else if (!strcmp(argv[1], "garbage"))
		garbage(strtoul(argv[2], NULL, 10));
	else
		session(argv[1], argv[2]);
	return failures != 0;
}
