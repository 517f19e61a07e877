/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that ni.c offers to those that change the list of interfaces. */
#ifndef LNET_NI_H
#define LNET_NI_H

#include "model/core.h"

/* any of the listed, whatever its state; cfg_mutex, a shard lock or nid_lock held */
struct lnet_ni *lnet_ni_listed(struct lnet *ln, const struct lnet_nid *nid);
/*
 * cfg_mutex held. Readers of the list hold cfg_mutex, a shard lock or nid_lock, so the writer holds
 * all of them.
 */
void lnet_nis_publish_begin(struct lnet *ln) __acquires(&ln->nid_lock);
void lnet_nis_publish_end(struct lnet *ln) __releases(&ln->nid_lock);
void lnet_ni_publish_state(struct lnet_ni *ni, enum lnet_ni_state state);
/* In STARTING: no caller selects or finds it, but new peers get a path to it. */
void lnet_ni_publish(struct lnet *ln, struct lnet_ni *ni);

#endif
