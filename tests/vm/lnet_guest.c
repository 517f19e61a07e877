/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A user of LNet in the kernel for scripts. A line written to the parameter "do" is a command, and
 * runs in the writer's network namespace. If the command fails, the write returns its error.
 *
 *	add NID			adds an interface
 *	del NID
 *	tune NAME TEXT		sets a tunable
 *	board PORTAL		memory for PUTs and GETs of everybody, with any match bits
 *	ping NID
 *	put NID PORTAL LENGTH TIMES	sends the pattern, and waits for the ACKs
 *	get NID PORTAL LENGTH TIMES	checks that the content is the pattern
 *	say TEXT		writes the text to the board, for GETs of others
 *	fill .			writes the pattern to the board
 */
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/vmalloc.h>
#include <lnet/lnet.h>
#include <net/net_namespace.h>
#include "lnet/kernel/netns.h"

#define BOARD_SIZE	1048576U
/* longer than a request may take: a transaction_timeout for a credit, and one for its end */
#define TIMEOUT		(120 * HZ)
#define WINDOW		8U

/* The user of one network namespace. */
struct party {
	struct lnet_client client;	/* first */
	struct list_head link;
	struct net *net;		/* NULL after its end; the rest is freed at unload */
	lnet_md_t board[LNET_PORTALS];
	u32 nr_boards;
	atomic_t nr_put, nr_got, nr_bad;
	u8 *mem;
	struct completion unlinked;
};

static LIST_HEAD(parties);
static DEFINE_MUTEX(lock);

static u8 pattern(u32 at)
{
	return (u8)(at * 2654435761U >> 24 ^ at);
}

static bool is_pattern(const u8 *mem, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (mem[i] != pattern(i))
			return false;
	return true;
}

/* ---- the board ------------------------------------------------------------------------------- */

static void on_board(const struct lnet_event *ev)
{
	struct party *pa = ev->user_ptr;

	if (ev->kind == LNET_EVENT_PUT && !ev->status) {
		atomic_inc(&pa->nr_put);
		if (!is_pattern(pa->mem, ev->mlength)) {
			atomic_inc(&pa->nr_bad);
			pr_info("lnet_guest: text: %.*s\n", (int)min(ev->mlength, 80U), pa->mem);
		}
	}
	if (ev->kind == LNET_EVENT_GET && !ev->status)
		atomic_inc(&pa->nr_got);
	if (ev->unlinked)
		complete(&pa->unlinked);
}

static int board(struct party *pa, u32 portal)
{
	struct lnet_process anybody = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = pa->mem, .length = BOARD_SIZE, .user_ptr = pa,
				   .threshold = LNET_THRESHOLD_INF, .cpt = -1, .handler = on_board,
				   .options = LNET_MD_OP_PUT | LNET_MD_OP_GET |
					      LNET_MD_MANAGE_REMOTE | LNET_MD_TRUNCATE };
	lnet_me_t me;
	int err;

	if (portal >= LNET_PORTALS || pa->nr_boards == LNET_PORTALS)
		return -EINVAL;
	err = lnet_me_attach(pa->client.ln, portal, &anybody, 0, ~0ULL, LNET_UNLINK,
			     LNET_INS_AFTER, &me);
	if (!err)
		err = lnet_md_attach(pa->client.ln, me, &cfg, LNET_UNLINK,
				     &pa->board[pa->nr_boards]);
	if (!err)
		pa->nr_boards++;
	return err;
}

static void boards_close(struct party *pa)
{
	while (pa->nr_boards) {
		lnet_md_unlink(pa->client.ln, pa->board[--pa->nr_boards]);
		wait_for_completion(&pa->unlinked);
	}
}

/* ---- namespaces ------------------------------------------------------------------------------ */

static void gone(struct lnet_client *client)
{
	struct party *pa = container_of(client, struct party, client);

	mutex_lock(&lock);
	pa->net = NULL;
	boards_close(pa);
	vfree(pa->mem);
	pa->mem = NULL;
	mutex_unlock(&lock);
}

static struct party *party_new(struct net *net)
{
	struct party *pa = kzalloc(sizeof(*pa), GFP_KERNEL);

	if (!pa)
		return NULL;
	pa->mem = vmalloc(BOARD_SIZE);
	pa->net = net;
	pa->client.gone = gone;
	init_completion(&pa->unlinked);
	if (pa->mem && !lnet_client_open(&pa->client, net)) {
		list_add_tail(&pa->link, &parties);
		return pa;
	}
	vfree(pa->mem);
	kfree(pa);
	return NULL;
}

static struct party *party_of(struct net *net)
{
	struct party *pa;

	list_for_each_entry(pa, &parties, link)
		if (pa->net == net)
			return pa;
	return party_new(net);
}

/* ---- requests to others ---------------------------------------------------------------------- */

struct question {
	struct completion done, unlinked;
	int status;
	u64 rtt_ns;
};

static void on_pong(void *arg, int status, const u8 *info, u32 len, const struct lnet_nid *primary,
		    u64 rtt_ns)
{
	struct question *q = arg;

	q->status = status;
	q->rtt_ns = rtt_ns;
	complete(&q->done);
}

static int ping(struct party *pa, const struct lnet_nid *nid)
{
	struct question q = {};
	int err;

	init_completion(&q.done);
	err = lnet_ping(pa->client.ln, nid, NULL, 0, on_pong, &q);
	if (err)
		return err;
	wait_for_completion(&q.done);
	pr_info("lnet_guest: ping: status %d after %llu us\n", q.status, q.rtt_ns / 1000);
	return q.status < 0 ? q.status : 0;
}

static void on_answer(const struct lnet_event *ev)
{
	struct question *q = ev->user_ptr;

	if (ev->final) {
		if (ev->status)
			q->status = ev->status;
		complete(&q->done);
	}
	if (ev->unlinked)
		complete(&q->unlinked);
}

/* Sends @times requests, WINDOW at once. */
static int ask_all(struct party *pa, struct question *q, struct lnet_xfer *x, u32 times,
		   int (*op)(struct lnet *ln, const struct lnet_xfer *x))
{
	u32 begun = 0, ended = 0;
	int err = 0;

	while (!err && !q->status && ended < times) {
		while (!err && begun < times && begun - ended < WINDOW) {
			err = op(pa->client.ln, x);
			begun += !err;
		}
		if (ended == begun)
			break;
		if (!wait_for_completion_timeout(&q->done, TIMEOUT))
			err = -ETIMEDOUT;
		ended++;
	}
	for (; ended < begun; ended++)
		wait_for_completion_timeout(&q->done, TIMEOUT);
	return err ? err : q->status;
}

static int ask(struct party *pa, const struct lnet_nid *nid, u32 portal, u32 len, u32 times,
	       bool is_get)
{
	struct question q = {};
	struct lnet_md_cfg cfg = { .length = len, .cpt = -1, .threshold = LNET_THRESHOLD_INF,
				   .handler = on_answer, .user_ptr = &q };
	u64 begin_ns = ktime_get_ns(), us;
	struct lnet_xfer x;
	u32 i;
	int err;

	cfg.start = vzalloc(max(len, 1U));
	if (!cfg.start)
		return -ENOMEM;
	for (i = 0; i < len && !is_get; i++)
		((u8 *)cfg.start)[i] = pattern(i);
	init_completion(&q.done);
	init_completion(&q.unlinked);
	lnet_xfer_init(&x);
	x.target.nid = *nid;
	x.portal = portal;
	x.flags = is_get ? 0 : LNET_ACK;
	err = lnet_md_bind(pa->client.ln, &cfg, LNET_UNLINK, &x.md);
	if (!err) {
		err = ask_all(pa, &q, &x, times, is_get ? lnet_get : lnet_put);
		lnet_md_unlink(pa->client.ln, x.md);
		wait_for_completion(&q.unlinked);
	}
	us = div_u64(ktime_get_ns() - begin_ns, 1000);
	if (!err && is_get && !is_pattern(cfg.start, len)) {
		pr_info("lnet_guest: got: %.*s\n", (int)min(len, 80U), (char *)cfg.start);
		err = len > 80 ? -EBADMSG : 0;
	}
	pr_info("lnet_guest: %s of %u bytes %u times: %d, %llu us\n", is_get ? "GET" : "PUT", len,
		times, err, us);
	memset(cfg.start, 0xa5, len);	/* if it is still read, the board rejects the content */
	vfree(cfg.start);
	return err;
}

/* ---- commands -------------------------------------------------------------------------------- */

static int with_nid(struct party *pa, const char *verb, const char *text, u32 portal, u32 len,
		    u32 times)
{
	struct lnet_ni_cfg cfg;
	int err;

	lnet_ni_cfg_init(&cfg);
	err = lnet_nid_parse(&cfg.nid, text);
	if (err)
		return err;
	if (!strcmp(verb, "add"))
		return lnet_ni_add(pa->client.ln, &cfg);
	if (!strcmp(verb, "del"))
		return lnet_ni_del(pa->client.ln, &cfg.nid);
	if (!strcmp(verb, "ping"))
		return ping(pa, &cfg.nid);
	if (!strcmp(verb, "put") || !strcmp(verb, "get"))
		return ask(pa, &cfg.nid, portal, len, times, *verb == 'g');
	return -EINVAL;
}

static int tune(struct party *pa, const char *name, const char *text)
{
	u64 value;
	int err = lnet_tunable_parse(name, text, &value);

	return err ? err : lnet_tunable_set(pa->client.ln, name, value);
}

static int command(struct party *pa, const char *line)
{
	char verb[8], what[64], more[32] = "";
	u32 portal = 0, len = 1, times = 1, i;

	if (sscanf(line, "%7s %63s %31s", verb, what, more) < 2)
		return -EINVAL;
	if (!strcmp(verb, "tune"))
		return tune(pa, what, more);
	if (!strcmp(verb, "board"))
		return kstrtou32(what, 0, &portal) ? -EINVAL : board(pa, portal);
	if (!strcmp(verb, "say")) {
		memset(pa->mem, 0, 256);
		strscpy(pa->mem, line + 4, 256);
		return 0;
	}
	if (!strcmp(verb, "fill")) {
		for (i = 0; i < BOARD_SIZE; i++)
			pa->mem[i] = pattern(i);
		return 0;
	}
	if (sscanf(line, "%*s %*s %u %u %u", &portal, &len, &times) > 1 && len > BOARD_SIZE)
		return -EINVAL;
	return with_nid(pa, verb, what, portal, len, times);
}

static int do_set(const char *line, const struct kernel_param *kp)
{
	struct party *pa;
	int err;

	mutex_lock(&lock);
	pa = party_of(current->nsproxy->net_ns);
	mutex_unlock(&lock);
	if (!pa)
		return -ENOMEM;
	/* Others may run commands meanwhile: this lock protects only the parameter. */
	kernel_param_unlock(THIS_MODULE);
	err = command(pa, line);
	kernel_param_lock(THIS_MODULE);
	return err;
}

/* Prints the counts of the board of the reader's namespace. */
static int do_get(char *text, const struct kernel_param *kp)
{
	struct party *pa;
	int n = 0;

	mutex_lock(&lock);
	list_for_each_entry(pa, &parties, link)
		if (pa->net == current->nsproxy->net_ns)
			n = sprintf(text, "put %d got %d bad %d\n", atomic_read(&pa->nr_put),
				    atomic_read(&pa->nr_got), atomic_read(&pa->nr_bad));
	mutex_unlock(&lock);
	return n;
}

static const struct kernel_param_ops do_ops = { .set = do_set, .get = do_get };
module_param_cb(do, &do_ops, NULL, 0600);
MODULE_PARM_DESC(do, "a command; reading: PUTs and GETs of the board, and PUTs of other content");

static int __init guest_begin(void)
{
	return 0;
}

static void __exit guest_end(void)
{
	struct party *pa, *next;

	mutex_lock(&lock);
	list_for_each_entry(pa, &parties, link)
		boards_close(pa);
	mutex_unlock(&lock);
	list_for_each_entry_safe(pa, next, &parties, link) {
		lnet_client_close(&pa->client);
		vfree(pa->mem);
		kfree(pa);
	}
}

module_init(guest_begin);
module_exit(guest_end);
MODULE_DESCRIPTION("LNet: a user in the kernel, led by a script");
MODULE_LICENSE("Dual BSD/GPL");
