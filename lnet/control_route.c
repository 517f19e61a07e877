/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes of a node that has none: what stock's tool hears when it exports, or imports a backup. */
#include "control_cmd.h"

int lnet_ctl_routes_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	/* The tool knows these words, and counts them as success. */
	return lnet_ctl_fail(e, 0, "No routes found");
}

int lnet_ctl_routing_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			 struct lnet_ctl_err *e)
{
	struct lnet_req all;
	struct lnet_val v;
	s64 enable;

	lnet_req_init(&all, req->attrs, req->len);
	if (!lnet_req_find(all, "enable", &v))
		return 0;
	if (lnet_val_int(&v, 0, 1, &enable))
		return lnet_ctl_fail(e, -EINVAL, "'enable' must be 0 or 1");
	return enable ? lnet_ctl_fail(e, -EOPNOTSUPP, "this node does not route yet") : 0;
}
