/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All structs inside an instance: data that the folders of the core share. One header for each
 * noun; instance.h ties them together.
 *
 * Locks, outermost first: ln->cfg_mutex (sleeps) > shard (one; all in index order to publish a
 * configuration) > leaf (one at a time: ln->nid_lock, portal lock, MD bucket lock, fault lock).
 * Under a shard or leaf lock, the core does not call other code or allocate, and copies only a few
 * KiB.
 *
 * Marks of fields: "[sh]": protected by the lock of the shard named; "[cfg]": written under
 * cfg_mutex and all shard locks, read under either; "[const]": set before the object is published.
 * "xfer/:" or another folder before a group of fields: only this folder writes them; others may
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
