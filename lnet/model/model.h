/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All structs inside an instance: data that the folders of the core share. One header for each
 * noun; instance.h ties them together.
 *
 * Locks, outermost first: ln->cfg_mutex (sleeps) > shard (one; all in index order to publish a
 * configuration) > leaf (one at a time: ln->nid_lock, portal lock, MD bucket lock, fault lock). No
 * call out of the core, no allocation and no copy of more than a few KiB under a shard or leaf
 * lock.
 *
 * Marks of fields: "[sh]": protected by the lock of the shard named; "[cfg]": written under
 * cfg_mutex and all shard locks, read under either; "[const]": set before the object is published.
 * "xfer/:" and the like before a group of fields: the only folder that writes them. Other folders
 * read them. A constructor may preset fields of other folders.
 */
#ifndef LNET_MODEL_MODEL_H
#define LNET_MODEL_MODEL_H

#include "model/instance.h"
#include "model/limits.h"
#include "model/log.h"
#include "model/md.h"
#include "model/ni.h"
#include "model/op.h"
#include "model/outcome.h"
#include "model/path.h"
#include "model/peer.h"
#include "model/route.h"
#include "model/router.h"
#include "model/rx.h"
#include "model/shard.h"
#include "model/times.h"
#include "model/timer.h"
#include "model/trace.h"
#include "model/tunables.h"
#include "model/udsp.h"
#include "model/window.h"

#endif
