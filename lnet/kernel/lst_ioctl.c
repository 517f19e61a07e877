/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passes ioctl 63 to the module of the self-test, if that module is loaded. */
#include <linux/module.h>
#include <uapi/lnet_ioctl.h>
#include "kernel.h"
#include "lst_ioctl.h"

static const struct lnet_lst_ioctl *handler;
static DEFINE_SPINLOCK(ioctl_lock);

int lnet_lst_ioctl_open(const struct lnet_lst_ioctl *new)
{
	int rc = 0;

	spin_lock(&ioctl_lock);
	if (handler)
		rc = -EBUSY;
	else
		handler = new;
	spin_unlock(&ioctl_lock);
	return rc;
}
EXPORT_SYMBOL_GPL(lnet_lst_ioctl_open);

void lnet_lst_ioctl_close(const struct lnet_lst_ioctl *old)
{
	spin_lock(&ioctl_lock);
	if (handler == old)
		handler = NULL;
	spin_unlock(&ioctl_lock);
}
EXPORT_SYMBOL_GPL(lnet_lst_ioctl_close);

static const struct lnet_lst_ioctl *handler_get(void)
{
	const struct lnet_lst_ioctl *found;

	spin_lock(&ioctl_lock);
	found = handler && try_module_get(handler->owner) ? handler : NULL;
	spin_unlock(&ioctl_lock);
	return found;
}

int lnet_ioc_lst(struct lnet *ln, void *buf)
{
	const struct lnet_ioc_data *data = buf;
	const struct lnet_lst_ioctl *to = handler_get();
	struct module *owner;
	int rc;

	if (!to)
		return -EOPNOTSUPP;
	owner = to->owner;
	rc = to->act(data->u32_[0], data->pbuf1, data->plen1, data->pbuf2, data->plen2);
	module_put(owner);
	return rc;
}
