/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bulk transfers without a console, while one of two modules is loaded. Files in /proc show the
 * counts, also after the last request.
 */
#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include "../console_link.h"
#include "alone.h"
#include "kernel.h"

#define CONCURRENCY	8
#define SIZE_MAX_BYTES	(64ULL << 20)

struct question {
	struct lst_command cmd;
	struct completion over;
	u32 used;
	bool full;
	char request[LST_REQUEST_MAX];
};

/* ---- asking ---------------------------------------------------------------------------------- */

static void on_alone_done(struct lst_command *cmd)
{
	complete(&container_of(cmd, struct question, cmd)->over);
}

static __printf(2, 3) void question_append(struct question *q, const char *fmt, ...)
{
	u32 left = sizeof(q->request) - q->used;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(q->request + q->used, left, fmt, args);
	va_end(args);
	if (len >= left)
		q->full = true;
	else
		q->used += len + 1;
}

/* NULL: no memory. */
static struct question *question_begin(const char *verb)
{
	struct question *q = kvzalloc(sizeof(*q), GFP_KERNEL);

	if (q)
		question_append(q, "%s", verb);
	return q;
}

static int question_run(struct question *q)
{
	int rc;

	if (q->full)
		return -E2BIG;
	q->cmd.request = q->request;
	q->cmd.len = q->used;
	q->cmd.done = on_alone_done;
	init_completion(&q->over);
	rc = lst_net_command(&init_net, &q->cmd);
	if (rc)
		return rc;
	wait_for_completion(&q->over);
	return q->cmd.status;
}

static void question_end(struct question *q)
{
	if (q)
		kfree(q->cmd.answer);
	kvfree(q);
}

/* ---- words ----------------------------------------------------------------------------------- */

static int add_size(struct question *q, const char *size)
{
	char *rest;
	u64 bytes = memparse(size, &rest);

	if (*rest || !bytes || bytes > SIZE_MAX_BYTES)
		return -EINVAL;
	question_append(q, "size=%llu", bytes);
	return 0;
}

static int add_targets(struct question *q, const char *target)
{
	char *names = kstrdup(target ? target : "", GFP_KERNEL), *rest = names, *name;
	bool any = false;

	if (!names)
		return -ENOMEM;
	while ((name = strsep(&rest, " ,"))) {
		if (!*name)
			continue;
		any = true;
		question_append(q, "nid=%s%s", name, strchr(name, '@') ? "" : "@tcp");
	}
	kfree(names);
	return any ? 0 : -EINVAL;
}

static int alone_command_start(const struct lst_alone *alone)
{
	struct question *q = question_begin("alone_start");
	int rc = q ? add_size(q, alone->size) : -ENOMEM;

	if (!rc) {
		question_append(q, "server=%d", alone->server);
		question_append(q, "count=%u", alone->count);
		question_append(q, "loop=%u", alone->loop);
		question_append(q, "concur=%u", CONCURRENCY);
		if (!alone->server)
			rc = add_targets(q, alone->target);
	}
	if (!rc)
		rc = question_run(q);
	question_end(q);
	return rc;
}

static void alone_command_stop(void)
{
	struct question *q = question_begin("alone_stop");

	if (q)
		question_run(q);
	question_end(q);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int alone_tally_show(struct seq_file *m, void *unused)
{
	struct question *q = question_begin("alone_tally");
	int rc = q ? question_run(q) : -ENOMEM;

	if (!rc && q->cmd.answer)
		seq_puts(m, q->cmd.answer);
	question_end(q);
	return rc == -ESRCH ? -ESTALE : rc;	/* a console has taken over the node */
}

int lst_alone_begin(const struct lst_alone *alone)
{
	int rc = alone_command_start(alone);

	if (rc) {
		pr_err("%s: %s\n", alone->name, rc == -EBUSY ? "the node is in a session" :
		       rc == -EINVAL ? "a parameter is not what it should be" : "it cannot begin");
		return rc;
	}
	if (proc_create_single_data(alone->name, 0444, NULL, alone_tally_show, NULL))
		return 0;
	alone_command_stop();
	return -ENOMEM;
}
EXPORT_SYMBOL_GPL(lst_alone_begin);

void lst_alone_end(const struct lst_alone *alone)
{
	remove_proc_entry(alone->name, NULL);
	alone_command_stop();
}
EXPORT_SYMBOL_GPL(lst_alone_end);
