/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ioctls by which stock LNet's lnetctl adds, deletes and shows policies. */
#include "kernel.h"
#include <linux/uaccess.h>
#include <uapi/lnet_ioctl.h>
#include "names/names.h"
#include "topology/topology.h"

/* A policy, with its patterns in the layout of the ioctl. */
struct policy {
	struct lnet_udsp_rule rule;
	u32 words[LNET_UDSP_WORDS];
};

/*
 * Copies the patterns of the policy @u to @words. The patterns follow struct lnet_ioc_udsp, as in
 * requests of stock LNet's program, or they are in user memory at the address u->bulk.
 */
static int policy_words_read(const struct lnet_ioc_udsp *u, u32 *words)
{
	if (u->hdr.len > sizeof(*u) && u->hdr.len - sizeof(*u) < u->bulk_size)
		return -EINVAL;
	if (u->hdr.len > sizeof(*u))
		memcpy(words, u + 1, u->bulk_size);
	else if (copy_from_user(words, u64_to_user_ptr(u->bulk), u->bulk_size))
		return -EFAULT;
	return 0;
}

static int policy_add(struct lnet *ln, const struct lnet_ioc_udsp *u, struct policy *p)
{
	int rc = policy_words_read(u, p->words);

	if (rc)
		return rc;
	p->rule.has_priority = u->action == LNET_IOC_UDSP_PRIORITY;
	p->rule.priority = p->rule.has_priority ? u->priority : 0;
	rc = lnet_udsp_unwords(&p->rule, p->words, u->bulk_size / sizeof(u32));
	return rc ?: lnet_udsp_add(ln, u->idx, &p->rule);
}

/* Rejects priorities above S32_MAX, such as -1. A show prints -1 if a policy has no priority. */
int lnet_ioc_udsp_add(struct lnet *ln, void *buf)
{
	const struct lnet_ioc_udsp *u = buf;
	struct policy *p;
	int rc;

	if (u->action != LNET_IOC_UDSP_PRIORITY && u->action != LNET_IOC_UDSP_PREFER)
		return -EINVAL;
	if (u->idx < -1 || u->bulk_size > sizeof(p->words) ||
	    u->priority > S32_MAX)
		return -EINVAL;
	p = kvzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	rc = policy_add(ln, u, p);
	kvfree(p);
	return rc;
}

/* A request to delete all policies also succeeds if there are none. */
int lnet_ioc_udsp_del(struct lnet *ln, void *buf)
{
	const struct lnet_ioc_udsp *u = buf;
	int rc = u->idx < -1 ? -EINVAL : lnet_udsp_del(ln, u->idx);

	return u->idx == -1 && rc == -ENOENT ? 0 : rc;
}

/*
 * Finds the selection policy with the index @idx. Returns the number of words in the @words of the
 * policy, or -errno. After a success, the caller frees the policy *@res.
 */
static int policy_get(struct lnet *ln, s32 idx, struct policy **res)
{
	struct policy *p = kvzalloc(sizeof(*p), GFP_KERNEL);
	int rc = idx < 0 ? -ENOENT : 0;

	if (!p)
		return -ENOMEM;
	rc = rc ?: lnet_udsp_get(ln, (u32)idx, &p->rule);
	rc = rc ?: lnet_udsp_words(&p->rule, p->words);
	if (rc < 0)
		kvfree(p);
	else
		*res = p;
	return rc;
}

int lnet_ioc_udsp_size(struct lnet *ln, void *buf)
{
	struct lnet_ioc_udsp *u = buf;
	struct policy *p;
	int nr = policy_get(ln, u->idx, &p);

	if (nr < 0)
		return nr;
	u->idx = (s32)(sizeof(*u) + (u32)nr * sizeof(p->words[0]));
	kvfree(p);
	return 0;
}

int lnet_ioc_udsp_get(struct lnet *ln, void *buf)
{
	struct lnet_ioc_udsp *u = buf;
	struct policy *p;
	int nr = policy_get(ln, u->idx, &p), rc = 0;
	u32 bytes = (u32)nr * sizeof(p->words[0]);

	if (nr < 0)
		return nr;
	if (u->bulk_size < bytes)
		rc = -EINVAL;
	else if (copy_to_user(u64_to_user_ptr(u->bulk), p->words, bytes))
		rc = -EFAULT;
	u->bulk_size = bytes;
	u->action = p->rule.has_priority ? LNET_IOC_UDSP_PRIORITY : LNET_IOC_UDSP_PREFER;
	u->priority = p->rule.priority;
	kvfree(p);
	return rc;
}
