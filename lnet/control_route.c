/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes of a node that has none: what stock's tool hears when it exports. */
#include "control_cmd.h"

int lnet_ctl_routes_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	/* The tool knows these words, and counts them as success. */
	return lnet_ctl_fail(e, 0, "No routes found");
}
