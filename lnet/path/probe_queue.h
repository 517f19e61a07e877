/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The line in which paths of a shard wait for the budget of recovery pings. */
#ifndef LNET_PROBE_H
#define LNET_PROBE_H

#include "model/path.h"

struct lnet_pass;
struct lnet_path;
struct lnet_peer;
struct lnet_shard;

void lnet_probes_init(struct lnet_probes *probes);
/* [sh] at the end of the line, unless it is in it; its turn is not before @now_ns */
void lnet_probe_join(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns);
/* [sh] the same at its head, and the line moves on now */
void lnet_probe_first(struct lnet_pass *p, struct lnet_path *path);
void lnet_probe_leave(struct lnet_path *path);	/* [sh] */
/* [sh] takes one ping from the bucket of @peer: 0, or the time in ns until the bucket has one */
u64 lnet_probe_pay(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh of @peer] Takes one ping from the bucket of the claimer of @peer. All its claimed peers that
 * never sent a message share the bucket: ten seconds of recovery_ping_rate. False: it is empty.
 */
bool lnet_probe_pay_claimed(struct lnet_pass *p, const struct lnet_peer *peer);
void lnet_probe_refund(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] adds one ping */
/* [sh] the ping of those whose turn it is, as far as the budget goes */
void lnet_probes_run(struct lnet_pass *p);
/* recover.c [sh] its turn has come; true: a ping leaves */
bool lnet_path_probe(struct lnet_pass *p, struct lnet_path *path);

#endif
