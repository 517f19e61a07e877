/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands for routing: switch it on or off, set the numbers of router buffers, show their use. */
#include "control/command.h"
#include "shard/shard.h"
#include "router/router.h"

/* ---- on and off ------------------------------------------------------------------------------ */

static int routing_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e)
{
	static const struct lnet_field fields[] = {
		{ .key = "enable", .kind = LNET_FIELD_NUM, .size = 8, .max = 1, .text = "0 or 1" },
		{ NULL }
	};
	s64 on = -1;
	int rc = lnet_ctl_read(lnet_ctl_attrs(req), fields, &on, e);

	if (rc || on < 0 || req->flags & LNET_NL_F_STAGED)
		return rc;
	rc = lnet_router_enable(ctl->ln, on);
	if (rc == -EBUSY)
		return lnet_ctl_fail(e, rc, "routing is being switched off: try again later");
	return rc ? lnet_ctl_fail(e, rc, "cannot switch routing on or off: %s", lnet_ctl_why(rc))
		  : 0;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static const struct {
	const char *key, *tunable;
} buffers[LNET_NR_RTR] = {
#define POOL(name, size, nr, least) [LNET_RTR_##name] = { #name, #name "_router_buffers" },
	LNET_RTR_POOLS(POOL)
#undef POOL
};

static int buffers_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e)
{
	struct lnet_field field[] = {
		{ .kind = LNET_FIELD_NUM, .size = 8, .min = -1 },
		{ NULL }
	};
	s64 nr[LNET_NR_RTR];		/* -1: no change */
	unsigned int cls;
	int rc = 0;

	for (cls = 0; cls < LNET_NR_RTR && !rc; cls++) {
		nr[cls] = -1;
		field->key = buffers[cls].key;
		field->max = (s64)lnet_tunable_find(buffers[cls].tunable)->max;
		rc = lnet_ctl_read(lnet_ctl_attrs(req), field, &nr[cls], e);
	}
	if (rc || req->flags & LNET_NL_F_STAGED)
		return rc;
	for (cls = 0; cls < LNET_NR_RTR && !rc; cls++)
		if (nr[cls] >= 0)
			rc = lnet_tunable_set(ctl->ln, buffers[cls].tunable, (u64)nr[cls]);
	return rc;
}

/* ---- show ------------------------------------------------------------------------------------ */

static struct lnet_view_rtr_pool pool_view(const struct lnet_rtr_view *v)
{
	return (struct lnet_view_rtr_pool){ v->pages, v->nr, v->credits, v->min_credits };
}

static int routing_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct lnet *ln = d->ctl->ln;
	struct lnet_rtr_view v[LNET_NR_RTR];

	for (; !lnet_router_view(ln, d->pos, v); d->pos++) {
		struct lnet_view_routing view = {
			.cpt = d->pos, .enable = lnet_router_state_nr(ln),
			.tiny = pool_view(&v[LNET_RTR_tiny]),
			.small = pool_view(&v[LNET_RTR_small]),
			.large = pool_view(&v[LNET_RTR_large]),
		};

		if (!lnet_ctl_emit(d, s, &lnet_table_routing, &view))
			return 1;
	}
	return 0;
}

const struct lnet_ctl_cmd lnet_cmd_routing = {
	.cmd = LNET_NL_ROUTING, .stages = true, .act = routing_act, .next = routing_next,
};

const struct lnet_ctl_cmd lnet_cmd_buffers = {
	.cmd = LNET_NL_BUFFERS, .stages = true, .act = buffers_act,
};
