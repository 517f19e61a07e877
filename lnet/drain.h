/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Taking an interface out of service by hand. */
#ifndef LNET_DRAIN_H
#define LNET_DRAIN_H

#include "plat.h"
#include <lnet/nid.h>

struct lnet;
struct lnet_ni;

/*
 * Config. @nid is used only for what can go no other way, and announced as down; or it is used
 * again. Twice is no error. 0, -ENOENT, -EINVAL (loopback).
 */
int lnet_ni_drain(struct lnet *ln, const struct lnet_nid *nid, bool drained);
/* config: nothing is under way over it */
bool lnet_ni_is_empty(struct lnet *ln, struct lnet_ni *ni);

#endif
