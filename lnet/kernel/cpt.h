/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU partitions (CPTs): the CPUs of this machine in as many parts as a node has shards. A worker
 * of a shard, or of an interface, runs on the CPUs of its partitions.
 *
 * They are made once, when the module is loaded, and never change: a CPU that comes later belongs
 * to none, one that goes leaves its work to others of its partition, the last one to any.
 */
#ifndef LNET_KERNEL_CPT_H
#define LNET_KERNEL_CPT_H

#include "plat.h"

struct seq_file;

/* Where something runs: on CPUs of the partitions whose bits are set, here if this is one. */
struct lnet_place {
	u64 cpts;
	int cpu;			/* if this is none of them */
};

/*
 * The partitions that @pattern means, in spec/management.md's words, or @nr equal ones, 0: one for
 * each NUMA node, if it is "N". 0, -EINVAL, -ENOMEM, said in the log.
 */
int lnet_cpts_init(const char *pattern, unsigned int nr);
void lnet_cpts_fini(void);
/* Is it a pattern, and of CPUs that are here? As above. */
int lnet_cpts_check(const char *pattern);
unsigned int lnet_cpts_nr(void);

void lnet_place_init(struct lnet_place *place, u64 cpts);	/* 0: all */
int lnet_place_cpu(const struct lnet_place *place);	/* for queue_work_on(); any context */

/* Of who has the memory at @base, a kernel address, mapped or not; -1: unknown. */
s32 lnet_cpt_of_memory(const void *base);
int lnet_cpt_distance(s32 a, s32 b);	/* as node_distance(); both are there */

/* debugfs: "0\t: 0-3", and "0\t: 0:10 1:21" */
void lnet_cpts_show(struct seq_file *m);
void lnet_cpts_distances_show(struct seq_file *m);

#endif
