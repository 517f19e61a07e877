/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stock's lst controls the console of its network namespace by ioctl 63 on /dev/lnet. */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>
#include "../stock.h"
#include "kernel.h"
#include "lst_ioctl.h"

/* ---- a command that is waited for ------------------------------------------------------------ */

static void on_stock_done(struct lst_command *cmd)
{
	struct lst_asked *q = container_of(cmd, struct lst_asked, cmd);

	complete_all(&q->over);
	lst_asked_put(q);
}

void lst_asked_put(struct lst_asked *q)
{
	if (!q || !refcount_dec_and_test(&q->refs))
		return;
	kfree(q->cmd.answer);
	kvfree(q->words);
	kfree(q);
}

struct lst_asked *lst_ask_wait(struct net *net, char *words, u32 len)
{
	struct lst_asked *q = kzalloc(sizeof(*q), GFP_KERNEL);
	int rc;

	if (!q) {
		kvfree(words);
		return ERR_PTR(-ENOMEM);
	}
	q->words = words;
	q->cmd.request = words;
	q->cmd.len = len;
	q->cmd.memory = &q->memory;
	q->cmd.done = on_stock_done;
	refcount_set(&q->refs, 2);
	init_completion(&q->over);
	rc = lst_net_start(net);
	if (!rc)
		rc = lst_net_command(net, &q->cmd);
	if (rc)
		lst_asked_put(q);		/* no done() follows */
	else if (wait_for_completion_killable(&q->over))
		rc = -EINTR;
	else
		rc = q->cmd.status;
	if (!rc)
		return q;
	lst_asked_put(q);
	return ERR_PTR(rc);
}

/* ---- the ioctl ------------------------------------------------------------------------------- */

static int user_memory_read(void *to, u64 from, u32 len)
{
	return copy_from_user(to, u64_to_user_ptr(from), len) ? -EFAULT : 0;
}

static int user_memory_write(u64 to, const void *from, u32 len)
{
	return copy_to_user(u64_to_user_ptr(to), from, len) ? -EFAULT : 0;
}

static const struct lst_stock_caller caller = { .get = user_memory_read, .put = user_memory_write };

static int stock_op_run(u32 op, u64 at, u32 len, u64 stat_at, u32 stat_len)
{
	struct lst_stock s;
	struct lst_asked *q;
	int rc = lst_stock_take(&s, &caller, op, at, len);

	if (rc) {
		lst_stock_end(&s);
		return rc;
	}
	q = lst_ask_wait(current->nsproxy->net_ns, s.words, s.used);
	if (IS_ERR(q))
		return PTR_ERR(q);
	rc = lst_stock_give(&s, &q->cmd, stat_at, stat_len);
	lst_asked_put(q);
	return rc;
}

static const struct lnet_lst_ioctl handler = { .owner = THIS_MODULE, .act = stock_op_run };

int lst_stock_ioctl_open(void)
{
	return lnet_lst_ioctl_open(&handler);
}

void lst_stock_ioctl_close(void)
{
	lnet_lst_ioctl_close(&handler);
}
