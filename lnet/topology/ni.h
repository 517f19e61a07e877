/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Local interfaces: their service state, and functions of ni.c for those that change their list. */
#ifndef LNET_NI_H
#define LNET_NI_H

#include "model/core.h"

/* Whether paths use @ni and which status peers learn. Any context. */
static inline enum lnet_ni_service lnet_ni_service(const struct lnet_ni *ni)
{
	return (u32)atomic_read(&ni->service) & ((1U << LNET_SERVICE_BITS) - 1);
}

/* True if @ni has one of @marks (LNET_MARK()), which @service may hide. Any context. */
static inline bool lnet_ni_marked(const struct lnet_ni *ni, u32 marks)
{
	return (u32)atomic_read(&ni->service) & marks;
}

static inline bool lnet_ni_has_link(const struct lnet_ni *ni)
{
	return lnet_ni_service(ni) != LNET_NI_NO_LINK;
}

/* any of the listed, whatever its state; cfg_mutex, a shard lock or nid_lock held */
struct lnet_ni *lnet_ni_listed(struct lnet *ln, const struct lnet_nid *nid);
/*
 * cfg_mutex held. Readers of the list hold cfg_mutex, a shard lock or nid_lock, so the writer holds
 * all of them.
 */
void lnet_nis_publish_begin(struct lnet *ln) __acquires(&ln->nid_lock);
void lnet_nis_publish_end(struct lnet *ln) __releases(&ln->nid_lock);
void lnet_ni_publish_state(struct lnet_ni *ni, enum lnet_ni_state state);
/*
 * Sets or clears @mark, one LNET_MARK() or several, and computes the service state. True if a mark
 * changed. Any context, no lock needed.
 */
bool lnet_ni_mark(struct lnet_ni *ni, u32 mark, bool set);
/* In STARTING: no caller selects or finds it, but new peers get a path to it. */
void lnet_ni_publish(struct lnet *ln, struct lnet_ni *ni);

#endif
