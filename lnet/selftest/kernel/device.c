/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device /dev/lnet_selftest. A program writes a whole request, and then reads the reply. Each
 * open file has at most one request at a time. The request is executed in the network namespace of
 * the process that opened the file.
 */
#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>
#include "../console_link.h"
#include "kernel.h"

/* A command. The process that sent the command may exit before the command ends. */
struct question {
	struct lst_command cmd;
	refcount_t refs;
	struct completion over;
	char request[];
};

struct device_file {
	struct mutex lock;
	struct net *net;
	struct question *q;		/* command whose reply is not read to the end, or NULL */
	/* bytes of the reply that were read, including its header */
	size_t at;
};

static void question_put(struct question *q)
{
	if (!q || !refcount_dec_and_test(&q->refs))
		return;
	kfree(q->cmd.answer);
	kvfree(q);
}

static void on_door_done(struct lst_command *cmd)
{
	struct question *q = container_of(cmd, struct question, cmd);

	complete_all(&q->over);
	question_put(q);
}

/*
 * If the caller has the permission to configure the namespace (CAP_NET_ADMIN), starts the self-test
 * service and the LNet instance of the namespace.
 */
static int service_open(struct net *net)
{
	if (ns_capable(net->user_ns, CAP_NET_ADMIN))
		return lst_net_start(net);
	return lst_net_is_started(net) ? 0 : -EPERM;
}

static int device_file_open(struct inode *inode, struct file *file)
{
	struct device_file *d = kzalloc(sizeof(*d), GFP_KERNEL);
	int rc;

	if (!d)
		return -ENOMEM;
	rc = service_open(current->nsproxy->net_ns);
	if (rc) {
		kfree(d);
		return rc;
	}
	mutex_init(&d->lock);
	d->net = get_net(current->nsproxy->net_ns);
	file->private_data = d;
	return nonseekable_open(inode, file);
}

static int device_file_release(struct inode *inode, struct file *file)
{
	struct device_file *d = file->private_data;

	question_put(d->q);
	put_net(d->net);
	kfree(d);
	return 0;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static struct question *question_read(const char __user *from, size_t len)
{
	struct lst_link_request head;
	struct question *q;

	if (len < sizeof(head) || copy_from_user(&head, from, sizeof(head)))
		return ERR_PTR(-EINVAL);
	if (!head.len || head.len > LST_REQUEST_MAX || head.len != len - sizeof(head))
		return ERR_PTR(-EINVAL);
	q = kvzalloc(struct_size(q, request, head.len), GFP_KERNEL);
	if (!q)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(q->request, from + sizeof(head), head.len)) {
		kvfree(q);
		return ERR_PTR(-EFAULT);
	}
	q->cmd.request = q->request;
	q->cmd.len = head.len;
	q->cmd.done = on_door_done;
	refcount_set(&q->refs, 2);
	init_completion(&q->over);
	return q;
}

/*
 * Runs a command with the rights of the process that opened @file, because the writer may have
 * inherited the descriptor.
 */
static void door_command_run(struct file *file, struct question *q)
{
	struct device_file *d = file->private_data;
	bool may = file_ns_capable(file, d->net->user_ns, CAP_NET_ADMIN);
	int rc = -EPERM;

	if (may || !lst_command_changes(&q->cmd))
		rc = lst_net_command(d->net, &q->cmd);
	if (!rc)
		return;
	q->cmd.status = rc;
	on_door_done(&q->cmd);
}

static ssize_t device_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct device_file *d = file->private_data;
	struct question *q = question_read(from, len);

	if (IS_ERR(q))
		return PTR_ERR(q);
	mutex_lock(&d->lock);
	if (d->q) {
		mutex_unlock(&d->lock);
		kvfree(q);
		return -EBUSY;
	}
	d->q = q;
	d->at = 0;
	door_command_run(file, q);
	mutex_unlock(&d->lock);
	return (ssize_t)len;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static ssize_t door_answer_read(struct device_file *d, char __user *to, size_t len)
{
	const struct lst_command *cmd = &d->q->cmd;
	struct lst_link_reply head = { cmd->status, cmd->used };
	const char *from = (const char *)&head + d->at;
	size_t left = sizeof(head) - d->at;

	if (d->at >= sizeof(head)) {
		from = cmd->answer + (d->at - sizeof(head));
		left = sizeof(head) + cmd->used - d->at;
	}
	len = min(len, left);
	if (copy_to_user(to, from, len))
		return -EFAULT;
	d->at += len;
	if (d->at == sizeof(head) + cmd->used) {
		question_put(d->q);
		d->q = NULL;
	}
	return (ssize_t)len;
}

static ssize_t device_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	struct device_file *d = file->private_data;
	ssize_t rc = 0;

	if (mutex_lock_interruptible(&d->lock))
		return -ERESTARTSYS;
	if (d->q)
		rc = wait_for_completion_interruptible(&d->q->over);
	if (d->q && !rc)
		rc = door_answer_read(d, to, len);
	mutex_unlock(&d->lock);
	return rc;
}

static const struct file_operations device_ops = {
	.owner = THIS_MODULE,
	.open = device_file_open,
	.release = device_file_release,
	.read = device_read,
	.write = device_write,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "lnet_selftest",
	.fops = &device_ops,
	.mode = 0666,
};

int lst_device_open(void)
{
	return misc_register(&device);
}

void lst_device_close(void)
{
	misc_deregister(&device);
}
