/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passes ioctl 63 to the module of the self-test, if that module is loaded. */
#include <linux/module.h>
#include <uapi/lnet_ioctl.h>
#include "kernel.h"
#include "lst_door.h"

static const struct lnet_lst_door *door;
static DEFINE_SPINLOCK(door_lock);

int lnet_lst_door_open(const struct lnet_lst_door *new)
{
	int rc = 0;

	spin_lock(&door_lock);
	if (door)
		rc = -EBUSY;
	else
		door = new;
	spin_unlock(&door_lock);
	return rc;
}
EXPORT_SYMBOL_GPL(lnet_lst_door_open);

void lnet_lst_door_close(const struct lnet_lst_door *old)
{
	spin_lock(&door_lock);
	if (door == old)
		door = NULL;
	spin_unlock(&door_lock);
}
EXPORT_SYMBOL_GPL(lnet_lst_door_close);

static const struct lnet_lst_door *door_get(void)
{
	const struct lnet_lst_door *found;

	spin_lock(&door_lock);
	found = door && try_module_get(door->owner) ? door : NULL;
	spin_unlock(&door_lock);
	return found;
}

int lnet_ioc_lst(struct lnet *ln, void *buf)
{
	const struct lnet_ioc_data *data = buf;
	const struct lnet_lst_door *to = door_get();
	struct module *owner;
	int rc;

	if (!to)
		return -EOPNOTSUPP;
	owner = to->owner;
	rc = to->act(data->u32_[0], data->pbuf1, data->plen1, data->pbuf2, data->plen2);
	module_put(owner);
	return rc;
}
