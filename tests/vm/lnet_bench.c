/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures plain kernel sockets and LNet in the same way on the same link. A line written to the
 * parameter "do" is a command, which runs in the writer's network namespace:
 *
 *	serve .				the other end of all commands below
 *	raw-rtt ADDRESS LENGTH TIMES [FIRST]	one message there, one of that length back
 *	raw-stream ADDRESS LENGTH TIMES [FIRST]	messages one way, and a byte back at the end
 *	rtt NID LENGTH TIMES WINDOW	PUTs with ACK; the handler of an ACK sends the next PUT
 *	wait NID LENGTH TIMES		the same, one at a time; a task that sleeps meanwhile sends
 *	get NID LENGTH TIMES WINDOW
 *
 * Reading returns the nanoseconds of the last measurement. The plain program is as good as a simple
 * one can be: a task at each end sleeps in the socket. It sends whole messages by kernel_sendmsg()
 * and receives them by kernel_recvmsg(MSG_WAITALL), with TCP_NODELAY and reno as in the driver, and
 * uses buffers in turn as LNet does. With FIRST 1 the other end stays on the first processor, so
 * that the writer can place this end on the same processor or on another one. Otherwise the
 * scheduler places both.
 */
#include <linux/completion.h>
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/tcp.h>
#include <linux/vmalloc.h>
#include <lnet/lnet.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "lnet/kernel/netns.h"

#define PORT		7000
#define PORTAL		5
#define MESSAGE_MAX	1048576U
#define NR_BUFFERS	16U
#define TIMEOUT		(120 * HZ)

/* The first bytes of a plain connection. */
struct job {
	u32 echo, length, times, first;
};

static DEFINE_MUTEX(lock);
static u64 took_ns;

/* Buffer @i of @mem for messages of @length bytes. */
static u8 *buffer(u8 *mem, u32 length, u32 i)
{
	return mem + (size_t)(i % NR_BUFFERS) * length;
}

static u8 *buffers_new(void)
{
	u8 *mem = vmalloc((size_t)NR_BUFFERS * MESSAGE_MAX);
	size_t i;

	for (i = 0; mem && i < (size_t)NR_BUFFERS * MESSAGE_MAX; i += PAGE_SIZE)
		memset(mem + i, (int)(i >> PAGE_SHIFT), PAGE_SIZE);
	return mem;
}

/* ---- plain sockets --------------------------------------------------------------------------- */

static int send_all(struct socket *sock, void *data, size_t length)
{
	while (length) {
		struct kvec vec = { .iov_base = data, .iov_len = length };
		struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
		int n = kernel_sendmsg(sock, &msg, &vec, 1, length);

		if (n < 0)
			return n;
		data += n;
		length -= n;
	}
	return 0;
}

static int receive_all(struct socket *sock, void *data, size_t length)
{
	struct kvec vec = { .iov_base = data, .iov_len = length };
	struct msghdr msg = {};
	int n = kernel_recvmsg(sock, &msg, &vec, 1, length, MSG_WAITALL);

	if (n == length)
		return 0;
	return n < 0 ? n : -ECONNRESET;
}

static void tune(struct socket *sock)
{
	int on = 1;

	sock->ops->setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, KERNEL_SOCKPTR(&on), sizeof(on));
	sock->ops->setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, KERNEL_SOCKPTR("reno"), 4);
}

static int ping_pong(struct socket *sock, u8 *mem, const struct job *job, bool first)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < job->times; i++) {
		u8 *data = buffer(mem, job->length, i);

		if (first)
			err = send_all(sock, data, job->length);
		if (!err)
			err = receive_all(sock, data, job->length);
		if (!err && !first)
			err = send_all(sock, data, job->length);
	}
	return err;
}

static int stream_out(struct socket *sock, u8 *mem, const struct job *job)
{
	int err = 0;
	u8 end;
	u32 i;

	for (i = 0; !err && i < job->times; i++)
		err = send_all(sock, buffer(mem, job->length, i), job->length);
	return err ? err : receive_all(sock, &end, 1);
}

static int stream_in(struct socket *sock, u8 *mem, const struct job *job)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < job->times; i++)
		err = receive_all(sock, buffer(mem, job->length, i), job->length);
	return err ? err : send_all(sock, mem, 1);
}

static int connect_to(struct net *net, const char *address, struct socket **sockp)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct socket *sock;
	int err;

	if (!in4_pton(address, -1, (u8 *)&to.sin_addr.s_addr, -1, NULL))
		return -EINVAL;
	err = sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	tune(sock);
	err = kernel_connect(sock, (struct sockaddr *)&to, sizeof(to), 0);
	if (err)
		sock_release(sock);
	else
		*sockp = sock;
	return err;
}

static int ask_plain(struct net *net, const char *address, const struct job *job)
{
	u8 *mem = buffers_new();
	struct socket *sock;
	u64 begin_ns;
	int err;

	if (!mem)
		return -ENOMEM;
	err = connect_to(net, address, &sock);
	if (err)
		goto out;
	err = send_all(sock, (void *)job, sizeof(*job));
	begin_ns = ktime_get_ns();
	if (!err)
		err = job->echo ? ping_pong(sock, mem, job, true) : stream_out(sock, mem, job);
	took_ns = ktime_get_ns() - begin_ns;
	sock_release(sock);
out:
	vfree(mem);
	return err;
}

/* ---- the other end --------------------------------------------------------------------------- */

static struct {
	struct lnet_client client;	/* .ln is NULL: not serving */
	struct task_struct *task;
	struct socket *listener;
	u8 *mem, *plain;
	lnet_md_t md;
	struct completion unlinked;
} server;

static int serve_plain(struct socket *sock)
{
	struct job job;
	int err = receive_all(sock, &job, sizeof(job));

	if (err || job.length > MESSAGE_MAX)
		return err ? err : -EINVAL;
	set_cpus_allowed_ptr(current, job.first ? cpumask_of(cpumask_first(cpu_online_mask))
						: cpu_possible_mask);
	tune(sock);
	return job.echo ? ping_pong(sock, server.plain, &job, false)
			: stream_in(sock, server.plain, &job);
}

static int serve_task(void *unused)
{
	struct socket *sock;

	while (!kthread_should_stop()) {
		if (kernel_accept(server.listener, &sock, 0)) {
			schedule_timeout_interruptible(HZ / 10);
			continue;
		}
		if (serve_plain(sock))
			pr_info("lnet_bench: a plain connection failed\n");
		sock_release(sock);
	}
	return 0;
}

static void on_served(const struct lnet_event *ev)
{
	if (ev->unlinked)
		complete(&server.unlinked);
}

static int listen_plain(struct net *net)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int err = sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &server.listener);

	if (err)
		return err;
	err = kernel_bind(server.listener, (struct sockaddr *)&at, sizeof(at));
	if (!err)
		err = kernel_listen(server.listener, 8);
	if (err)
		return err;
	server.task = kthread_run(serve_task, NULL, "lnet_bench");
	return PTR_ERR_OR_ZERO(server.task);
}

static int listen_lnet(void)
{
	struct lnet_process anybody = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = server.mem, .length = NR_BUFFERS * MESSAGE_MAX,
				   .threshold = LNET_THRESHOLD_INF, .cpt = -1, .handler = on_served,
				   .options = LNET_MD_OP_PUT | LNET_MD_OP_GET |
					      LNET_MD_MANAGE_REMOTE };
	lnet_me_t me;
	int err = lnet_me_attach(server.client.ln, PORTAL, &anybody, 0, ~0ULL, LNET_UNLINK,
				 LNET_INS_AFTER, &me);

	return err ? err : lnet_md_attach(server.client.ln, me, &cfg, LNET_UNLINK, &server.md);
}

static int serve(struct net *net)
{
	int err;

	if (server.client.ln)
		return -EBUSY;
	server.mem = buffers_new();
	server.plain = buffers_new();
	if (!server.mem || !server.plain)
		return -ENOMEM;
	init_completion(&server.unlinked);
	err = lnet_client_open(&server.client, net);
	if (!err)
		err = listen_lnet();
	return err ? err : listen_plain(net);
}

static void serve_end(void)
{
	if (server.listener)
		kernel_sock_shutdown(server.listener, SHUT_RDWR);
	if (!IS_ERR_OR_NULL(server.task))
		kthread_stop(server.task);
	if (server.listener)
		sock_release(server.listener);
	if (server.md.cookie) {
		lnet_md_unlink(server.client.ln, server.md);
		wait_for_completion(&server.unlinked);
	}
	if (server.client.ln)
		lnet_client_close(&server.client);
	vfree(server.mem);
	vfree(server.plain);
}

/* ---- LNet ------------------------------------------------------------------------------------ */

struct run {
	struct lnet *ln;
	struct lnet_xfer xfer;
	lnet_md_t md[NR_BUFFERS];
	int (*op)(struct lnet *ln, const struct lnet_xfer *x);
	u32 length, times;
	bool waits;			/* the task sends, not the handler */
	atomic_t begun, ended;
	int status;
	struct completion one, all, unlinked;
};

/* Begins the next operation, if one is left. */
static int begin_one(struct run *run)
{
	u32 i = (u32)atomic_inc_return(&run->begun) - 1;
	struct lnet_xfer xfer = run->xfer;

	if (i >= run->times)
		return 0;
	xfer.md = run->md[i % NR_BUFFERS];
	xfer.offset = i % NR_BUFFERS * run->length;
	return run->op(run->ln, &xfer);
}

static void on_answer(const struct lnet_event *ev)
{
	struct run *run = ev->user_ptr;

	if (ev->final) {
		if (ev->status)
			run->status = ev->status;
		if (run->waits)
			complete(&run->one);
		else if (begin_one(run))
			run->status = -EIO;
		if (atomic_inc_return(&run->ended) == run->times)
			complete(&run->all);
	}
	if (ev->unlinked)
		complete(&run->unlinked);
}

static int run_all(struct run *run, u32 window)
{
	int err = 0;
	u32 i;

	if (!run->waits) {
		for (i = 0; !err && i < min(window, run->times); i++)
			err = begin_one(run);
		if (!err && !wait_for_completion_timeout(&run->all, TIMEOUT))
			err = -ETIMEDOUT;
		return err;
	}
	for (i = 0; !err && i < run->times; i++) {
		err = begin_one(run);
		if (!err && !wait_for_completion_timeout(&run->one, TIMEOUT))
			err = -ETIMEDOUT;
	}
	return err;
}

static void unbind(struct run *run)
{
	u32 i;

	for (i = 0; i < NR_BUFFERS && run->md[i].cookie; i++) {
		lnet_md_unlink(run->ln, run->md[i]);
		wait_for_completion(&run->unlinked);
	}
}

static int bind(struct run *run, u8 *mem)
{
	struct lnet_md_cfg cfg = { .length = run->length, .cpt = -1, .handler = on_answer,
				   .threshold = LNET_THRESHOLD_INF, .user_ptr = run };
	int err = 0;
	u32 i;

	for (i = 0; !err && i < NR_BUFFERS; i++) {
		cfg.start = buffer(mem, run->length, i);
		err = lnet_md_bind(run->ln, &cfg, LNET_UNLINK, &run->md[i]);
	}
	return err;
}

static int run_timed(struct run *run, u8 *mem, u32 window)
{
	u64 begin_ns;
	int err;

	init_completion(&run->one);
	init_completion(&run->all);
	init_completion(&run->unlinked);
	err = bind(run, mem);
	begin_ns = ktime_get_ns();
	if (!err)
		err = run_all(run, window);
	took_ns = ktime_get_ns() - begin_ns;
	unbind(run);
	return err ? err : run->status;
}

static int ask_lnet(struct net *net, const char *verb, const char *nid, u32 length, u32 times,
		    u32 window)
{
	struct run run = { .length = length, .times = times, .op = lnet_put };
	struct lnet_client client = {};
	u8 *mem;
	int err;

	lnet_xfer_init(&run.xfer);
	run.xfer.portal = PORTAL;
	run.xfer.flags = LNET_ACK;
	run.waits = !strcmp(verb, "wait");
	if (!strcmp(verb, "get")) {
		run.op = lnet_get;
		run.xfer.flags = 0;
	}
	err = lnet_nid_parse(&run.xfer.target.nid, nid);
	if (err)
		return err;
	mem = buffers_new();
	if (!mem)
		return -ENOMEM;
	err = lnet_client_open(&client, net);
	if (!err) {
		run.ln = client.ln;
		err = run_timed(&run, mem, window);
		lnet_client_close(&client);
	}
	vfree(mem);
	return err;
}

/* ---- commands -------------------------------------------------------------------------------- */

static int command(struct net *net, const char *line)
{
	struct job job = { .length = 1, .times = 1 };
	char verb[16], what[64];
	u32 window = 0;

	if (sscanf(line, "%15s %63s %u %u %u", verb, what, &job.length, &job.times, &window) < 2 ||
	    !job.length || job.length > MESSAGE_MAX || !job.times)
		return -EINVAL;
	job.echo = !strcmp(verb, "raw-rtt");
	job.first = window;
	if (!strcmp(verb, "serve"))
		return serve(net);
	if (job.echo || !strcmp(verb, "raw-stream"))
		return ask_plain(net, what, &job);
	if (!strcmp(verb, "rtt") || !strcmp(verb, "wait") || !strcmp(verb, "get"))
		return ask_lnet(net, verb, what, job.length, job.times, max(window, 1U));
	return -EINVAL;
}

static int do_set(const char *line, const struct kernel_param *kp)
{
	int err;

	mutex_lock(&lock);
	err = command(current->nsproxy->net_ns, line);
	mutex_unlock(&lock);
	return err;
}

static int do_get(char *text, const struct kernel_param *kp)
{
	return sprintf(text, "%llu\n", took_ns);
}

static const struct kernel_param_ops do_ops = { .set = do_set, .get = do_get };
module_param_cb(do, &do_ops, NULL, 0600);
MODULE_PARM_DESC(do, "a command; reading: the nanoseconds that the last measurement took");

static int __init bench_begin(void)
{
	return 0;
}

static void __exit bench_end(void)
{
	serve_end();
}

module_init(bench_begin);
module_exit(bench_end);
MODULE_DESCRIPTION("LNet: measured beside plain sockets");
MODULE_LICENSE("Dual BSD/GPL");
