/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interfaces that were configured before their device or address was there, and join when it is. */
#include "control_cmd.h"

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
	w->cfg = like->cfg;
	w->marks = like->marks;
	w->net = like->net;
	mutex_lock(&ctl->ln->cfg_mutex);
	for (at = &ctl->waiting; *at; at = &(*at)->next)
		nr++;
	if (nr < LNET_MAX_NIS)
		*at = w;
	mutex_unlock(&ctl->ln->cfg_mutex);
	if (nr < LNET_MAX_NIS)
		return 0;
	kfree(w);
	return -ENOSPC;
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

/* Every try that fails makes the driver say why: not each time, unless something is new. */
#define LOOKS_PER_TRY 120

static int join(struct lnet_control *ctl, struct lnet_ctl_waiting *w)
{
	struct lnet_ni_cfg cfg = w->cfg;
	struct lnet_nid now;
	int rc = ctl->ops->interface_nid(ctl->arg, cfg.ifname, w->net, &now);

	if (rc)
		return rc;
	if (lnet_nid_same(&now, &w->seen) && ++w->looks < LOOKS_PER_TRY)
		return -EAGAIN;
	w->seen = now;
	w->looks = 0;
	if (lnet_nid_is_any(&cfg.nid))
		cfg.nid = now;
	else
		cfg.ifname[0] = 0;	/* the driver finds it by the address */
	rc = lnet_ni_add(ctl->ln, &cfg);
	if (!rc)
		lnet_ctl_marks_set(ctl->ln, &cfg.nid, &w->marks);
	return rc;
}

/* What fails for another reason stays, too: it may be gone the next time. */
unsigned int lnet_control_join(struct lnet_control *ctl)
{
	struct lnet_ctl_waiting *w = ctl->waiting, *next;
	char net[LNET_NIDSTR_SIZE];
	unsigned int nr = 0;

	for (; w; w = next) {
		int rc = join(ctl, w);

		next = w->next;
		if (rc && rc != -EEXIST)
			continue;
		pr_info("interface %s has joined net %s\n", w->cfg.ifname,
			lnet_net_str(w->net, net));
		lnet_ctl_wait_del(ctl, w);
		ctl->changes++;
		nr++;
	}
	return nr;
}
