/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU partitions (CPTs): sets of CPUs of this machine, as many as a node has shards. A worker of a
 * shard, or of an interface, runs on the CPUs of its partitions. The partitions are fixed when the
 * module is loaded, so a CPU that is online only later is in no partition. Work of an offline CPU
 * runs on other CPUs of its partition, or on any CPU if all of these are offline.
 */
#ifndef LNET_KERNEL_CPT_H
#define LNET_KERNEL_CPT_H

#include "plat.h"

struct seq_file;

/* Selects a CPU for a work item: the current CPU if it is in @cpts, else @cpu. */
struct lnet_place {
	u64 cpts;
	int cpu;			/* round-robin choice of lnet_place_init() */
};

/*
 * Defines the partitions by @pattern (cpu_pattern in manual/internals/kernel.md). If @pattern
 * numbers no partition, makes @nr equal ones, or one per NUMA node if @nr is 0. 0, -ENOMEM;
 * -EINVAL, -ERANGE: @pattern is not valid. Logs the CPU, node or partition that is wrong.
 */
int lnet_cpts_init(const char *pattern, unsigned int nr);
void lnet_cpts_fini(void);
/* Checks that @pattern is valid on this machine. Return values as of lnet_cpts_init(). */
int lnet_cpts_check(const char *pattern);
unsigned int lnet_cpts_nr(void);

void lnet_place_init(struct lnet_place *place, u64 cpts);	/* @cpts 0: all */
int lnet_place_cpu(const struct lnet_place *place);	/* for queue_work_on(); any context */

/*
 * Returns the partition nearest to the memory at @base, a kernel address in a mapping (vmalloc) or
 * not; -1: unknown.
 */
s32 lnet_cpt_of_memory(const void *base);
int lnet_cpt_distance(s32 a, s32 b);	/* as node_distance(); both exist */

/* Print CPUs per partition ("0\t: 0-3") and distances ("0\t: 0:10 1:21") to debugfs. */
void lnet_cpts_show(struct seq_file *m);
void lnet_cpts_distances_show(struct seq_file *m);

#endif
