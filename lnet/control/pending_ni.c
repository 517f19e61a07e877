/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Awaited interfaces. They were configured while the device or address was missing, and the node
 * adds them later.
 */
#include "control/command.h"
#include "shard/shard.h"

bool lnet_ctl_wait_helps(int err)
{
	return err == -ENODEV || err == -EADDRNOTAVAIL;
}

int lnet_ctl_wait_add(struct lnet_control *ctl, const struct lnet_ctl_waiting *like)
{
	struct lnet_ctl_waiting *w = kzalloc(sizeof(*w), GFP_KERNEL), **at;
	unsigned int nr = 0;

	if (!w)
		return -ENOMEM;
	w->err = ctl->ops->interface_nid(ctl->arg, like->cfg.ifname, like->net, &w->seen);
	w->seen = LNET_NID_ANY;
	w->cfg = like->cfg;
	w->marks = like->marks;
	w->net = like->net;
	mutex_lock(&ctl->ln->cfg_mutex);
	for (at = &ctl->waiting; *at; at = &(*at)->next)
		nr++;
	if (nr < LNET_MAX_NIS)
		*at = w;
	mutex_unlock(&ctl->ln->cfg_mutex);
	if (nr < LNET_MAX_NIS) {
		lnet_log_ni_awaited(ctl->ln, w->cfg.ifname, w->net, lnet_ctl_wait_why(w));
		return 0;
	}
	kfree(w);
	return -ENOSPC;
}

const char *lnet_ctl_wait_why(const struct lnet_ctl_waiting *w)
{
	switch (READ_ONCE(w->err)) {
	case -ENODEV:
		return "interface not found";
	case -EADDRNOTAVAIL:
		return "the interface has no address";
	case 0:
		return "the interface has a different address";
	default:
		return lnet_ctl_why(w->err);
	}
}

void lnet_ctl_wait_del(struct lnet_control *ctl, const struct lnet_ctl_waiting *which)
{
	struct lnet_ctl_waiting **at = &ctl->waiting, *w;

	if (!ctl->waiting)
		return;
	mutex_lock(&ctl->ln->cfg_mutex);
	while ((w = *at)) {
		if (which && w != which) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		kfree(w);
	}
	mutex_unlock(&ctl->ln->cfg_mutex);
}

/*
 * The driver logs each failed attempt to add an interface. So while the address is unchanged, the
 * node makes only one attempt in LOOKS_PER_TRY checks.
 */
#define LOOKS_PER_TRY 120

static int pending_ni_join(struct lnet_control *ctl, struct lnet_ctl_waiting *w)
{
	struct lnet_ni_cfg cfg = w->cfg;
	struct lnet_nid now;
	int rc = ctl->ops->interface_nid(ctl->arg, cfg.ifname, w->net, &now);

	WRITE_ONCE(w->err, rc);
	if (rc)
		return rc;
	if (lnet_nid_same(&now, &w->seen) && ++w->looks < LOOKS_PER_TRY)
		return -EAGAIN;
	w->seen = now;
	w->looks = 0;
	if (lnet_nid_is_any(&cfg.nid))
		cfg.nid = now;
	else
		cfg.ifname[0] = 0;	/* no device is named: the driver finds it by the address */
	rc = lnet_ni_add(ctl->ln, &cfg);
	if (!rc)
		lnet_ctl_marks_set(ctl->ln, &cfg.nid, &w->marks);
	return rc;
}

/*
 * If adding the interface fails for another reason, the node still awaits it: the reason may be
 * temporary.
 */
unsigned int lnet_control_join(struct lnet_control *ctl)
{
	struct lnet_ctl_waiting *w = ctl->waiting, *next;
	unsigned int nr = 0;

	for (; w; w = next) {
		int rc = pending_ni_join(ctl, w);

		next = w->next;
		if (rc && rc != -EEXIST)
			continue;
		lnet_log_ni_joined(ctl->ln, w->cfg.ifname, w->net);
		lnet_ctl_wait_del(ctl, w);
		ctl->changes++;
		nr++;
	}
	return nr;
}
