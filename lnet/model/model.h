/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All structs inside an instance: data that the folders of the core use together. Each kind of
 * object, such as an NI or a peer, has one header. instance.h includes the other headers.
 *
 * Locks, outermost first: ln->cfg_mutex (may sleep), shard, leaf. A thread holds one shard lock at
 * a time; to publish a configuration, it locks all shards in the order of their index. A thread
 * holds one leaf lock at a time: ln->nid_lock, portal lock, MD bucket lock or fault lock. Under a
 * shard or leaf lock, the core calls no driver and no handler, and does not allocate. It copies
 * only a few KiB.
 *
 * Marks in comments of fields. "[sh]": the lock of the named shard protects the field. "[cfg]": a
 * writer holds cfg_mutex and all shard locks; a reader holds cfg_mutex or a shard lock. "[const]":
 * the field is set before the object is published. "xfer/:" or another folder before a group of
 * fields: only this folder writes the fields, and any folder may read them. A constructor may
 * preset fields of other folders.
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
