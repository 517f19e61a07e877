/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Defines the CPU partitions, and their distances from each other and from memory. */
#include "cpt.h"
#include "env.h"
#include "networks.h"
#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/seq_file.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "model/model.h"
#include "names/names.h"

struct cpts {
	unsigned int nr;
	cpumask_var_t cpus[LNET_MAX_SHARDS];
	nodemask_t nodes[LNET_MAX_SHARDS];
	int distance[LNET_MAX_SHARDS][LNET_MAX_SHARDS];
	/* [NUMA node] the nearest partition; if several are equally near, the first of them */
	s16 of_node[MAX_NUMNODES];
	u64 of_cpu[];			/* [nr_cpu_ids] the bit of the CPU's partition, or 0 */
};

/* Valid from lnet_cpts_init() to lnet_cpts_fini(). */
static struct cpts *cpts;

static void cpts_free(struct cpts *c)
{
	unsigned int i;

	for (i = 0; c && i < LNET_MAX_SHARDS; i++)
		free_cpumask_var(c->cpus[i]);
	kvfree(c);
}

static struct cpts *cpts_alloc(void)
{
	struct cpts *c = kvzalloc(struct_size(c, of_cpu, nr_cpu_ids), GFP_KERNEL);
	unsigned int i;

	for (i = 0; c && i < LNET_MAX_SHARDS; i++)
		if (!zalloc_cpumask_var(&c->cpus[i], GFP_KERNEL)) {
			cpts_free(c);
			return NULL;
		}
	return c;
}

/* ---- making them ----------------------------------------------------------------------------- */

static int cpt_reject(const char *what, unsigned int number, const char *why)
{
	pr_err("lnet: parameter cpu_pattern or cpu_npartitions: %s %u %s\n", what, number, why);
	return -EINVAL;
}

static int cpu_put(struct cpts *c, unsigned int cpt, unsigned int cpu)
{
	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		return cpt_reject("CPU", cpu, "is not online");
	if (c->of_cpu[cpu])
		return cpt_reject("CPU", cpu, "is in two partitions");
	cpumask_set_cpu(cpu, c->cpus[cpt]);
	c->of_cpu[cpu] = BIT_ULL(cpt);
	return 0;
}

static int cpt_node_add(struct cpts *c, unsigned int cpt, unsigned int node)
{
	unsigned int cpu;
	int rc = 0;

	if (node >= MAX_NUMNODES || !node_online(node))
		return cpt_reject("NUMA node", node, "is not online");
	for_each_cpu_and(cpu, cpumask_of_node(node), cpu_online_mask)
		rc = rc ? rc : cpu_put(c, cpt, cpu);
	return rc;
}

/*
 * Makes one partition per NUMA node with CPUs. If there are more nodes than partitions, the last
 * partition also has the remaining nodes.
 */
static int by_node(struct cpts *c)
{
	unsigned int node, nr = 0;
	int rc = 0;

	for_each_online_node(node) {
		if (!cpumask_intersects(cpumask_of_node(node), cpu_online_mask))
			continue;
		rc = rc ? rc : cpt_node_add(c, min_t(unsigned int, nr, LNET_MAX_SHARDS - 1), node);
		nr++;
	}
	c->nr = min_t(unsigned int, nr, LNET_MAX_SHARDS);
	return rc;
}

/* Distributes the CPUs in the order of NUMA nodes, so that a partition has CPUs of few nodes. */
static int by_number(struct cpts *c, unsigned int nr)
{
	unsigned int node, cpu, nr_cpus = num_online_cpus(), at = 0;
	int rc = 0;

	if (nr > nr_cpus)
		return cpt_reject("partition count", nr, "is above the number of online CPUs");
	for_each_online_node(node)
		for_each_cpu_and(cpu, cpumask_of_node(node), cpu_online_mask)
			rc = rc ? rc : cpu_put(c, min(at++ * nr / nr_cpus, nr - 1), cpu);
	c->nr = nr;
	return rc;
}

static void cpu_take(struct cpts *c, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		cpumask_clear_cpu(cpu, c->cpus[i]);
	c->of_cpu[cpu] = 0;
}

/*
 * Applies exclusions: X[..] excludes CPUs; C[..] excludes cores with all their CPUs. The numbers of
 * cores start at 0 in each NUMA node.
 */
static void exclude(struct cpts *c, const unsigned long *numbers, bool cores)
{
	unsigned int node, cpu, other, core;

	for_each_online_node(node) {
		core = 0;
		for_each_cpu_and(cpu, cpumask_of_node(node), cpu_online_mask) {
			if (!cores && test_bit(cpu, numbers))
				cpu_take(c, cpu);
			if (!cores || cpumask_first(topology_sibling_cpumask(cpu)) != cpu)
				continue;
			if (test_bit(core++, numbers))
				for_each_cpu(other, topology_sibling_cpumask(cpu))
					cpu_take(c, other);
		}
	}
}

/* ---- the pattern ----------------------------------------------------------------------------- */

struct pattern {
	const char *at;
	bool nodes, numbered;
	/* numbers in the last brackets that were read; LNET_RANGE_MAX bits */
	unsigned long *numbers;
};

static bool pattern_take_char(struct pattern *p, char c)
{
	p->at = skip_spaces(p->at);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static int brackets(struct pattern *p)
{
	bitmap_zero(p->numbers, LNET_RANGE_MAX);
	return pattern_take_char(p, '[') ? lnet_ranges_take(&p->at, p->numbers, LNET_RANGE_MAX)
					 : -EINVAL;
}

/*
 * Reads "2[4-7]": partition 2 has the CPUs 4 to 7. The numbers of partitions start at 0 and have no
 * gaps.
 */
static int numbered(struct cpts *c, struct pattern *p)
{
	unsigned int number, i;
	char *end;
	int rc;

	number = simple_strtoul(p->at, &end, 10);
	if (end == p->at || number != c->nr || number == LNET_MAX_SHARDS)
		return -EINVAL;
	p->at = end;
	rc = brackets(p);
	for_each_set_bit(i, p->numbers, LNET_RANGE_MAX)
		rc = rc ? rc : p->nodes ? cpt_node_add(c, number, i) : cpu_put(c, number, i);
	c->nr++;
	p->numbered = true;
	return rc;
}

/*
 * Skips exclusions; with @act, also applies them. Exclusions may precede the partitions that they
 * change.
 */
static int exclusions(struct cpts *c, struct pattern *p, bool act)
{
	bool cores;
	int rc = 0;

	while (!rc && ((cores = pattern_take_char(p, 'C')) || pattern_take_char(p, 'X'))) {
		rc = brackets(p);
		if (!rc && act)
			exclude(c, p->numbers, cores);
	}
	return rc;
}

static int pattern(struct cpts *c, struct pattern *p, unsigned int nr)
{
	const char *first;
	int rc;

	p->nodes = pattern_take_char(p, 'N');
	first = p->at;
	rc = exclusions(c, p, false);
	for (p->at = skip_spaces(p->at); !rc && isdigit(*p->at); p->at = skip_spaces(p->at))
		rc = numbered(c, p);
	if (!rc && !p->numbered)
		rc = nr ? by_number(c, nr) : by_node(c);
	if (!rc)
		rc = exclusions(c, p, true);
	if (rc || *skip_spaces(p->at))
		return rc ? rc : -EINVAL;
	p->at = first;
	return exclusions(c, p, true);
}

static int cpts_parse(struct cpts *c, const char *text, unsigned int nr)
{
	struct pattern p = { .at = text };
	unsigned int i;
	int rc;

	p.numbers = bitmap_zalloc(LNET_RANGE_MAX, GFP_KERNEL);
	rc = p.numbers ? pattern(c, &p, nr) : -ENOMEM;
	bitmap_free(p.numbers);
	for (i = 0; i < c->nr && !rc; i++)
		if (cpumask_empty(c->cpus[i]))
			rc = cpt_reject("partition", i, "has no CPU");
	return rc;
}

int lnet_cpts_check(const char *text)
{
	struct cpts *c = cpts_alloc();
	int rc = c ? cpts_parse(c, text, 0) : -ENOMEM;

	cpts_free(c);
	return rc;
}

/* ---- distances ------------------------------------------------------------------------------- */

/* Returns the largest distance between a node of @a and a node of @b. */
static int cpt_distance(const struct cpts *c, unsigned int a, unsigned int b)
{
	int from, to, most = 0;

	for_each_node_mask(from, c->nodes[a])
		for_each_node_mask(to, c->nodes[b])
			most = max(most, node_distance(from, to));
	return most;
}

static s16 cpt_nearest(const struct cpts *c, unsigned int node)
{
	int best = INT_MAX, near;
	unsigned int i;
	int other;
	s16 found = 0;

	for (i = 0; i < c->nr; i++)
		for_each_node_mask(other, c->nodes[i]) {
			near = node_distance(node, other);
			if (near >= best)
				continue;
			best = near;
			found = i;
		}
	return found;
}

static void cpts_measure(struct cpts *c)
{
	unsigned int i, j, cpu, node;

	for (i = 0; i < c->nr; i++)
		for_each_cpu(cpu, c->cpus[i])
			node_set(cpu_to_node(cpu), c->nodes[i]);
	for (i = 0; i < c->nr; i++)
		for (j = 0; j < c->nr; j++)
			c->distance[i][j] = cpt_distance(c, i, j);
	for_each_online_node(node)
		c->of_node[node] = cpt_nearest(c, node);
}

int lnet_cpts_init(const char *text, unsigned int nr)
{
	struct cpts *c = cpts_alloc();
	int rc = c ? cpts_parse(c, text, nr) : -ENOMEM;

	if (rc) {
		cpts_free(c);
		return rc;
	}
	cpts_measure(c);
	cpts = c;
	return 0;
}

void lnet_cpts_fini(void)
{
	cpts_free(cpts);
	cpts = NULL;
}

unsigned int lnet_cpts_nr(void)
{
	return cpts->nr;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Selects CPUs round-robin, so that the work items of a partition use different CPUs. */
void lnet_place_init(struct lnet_place *place, u64 which)
{
	static atomic_t turn;
	unsigned int nr = 0, cpu, pick;

	place->cpts = which ? which : U64_MAX;
	place->cpu = WORK_CPU_UNBOUND;
	for_each_online_cpu(cpu)
		nr += !!(cpts->of_cpu[cpu] & place->cpts);
	if (!nr)
		return;
	pick = (unsigned int)atomic_inc_return(&turn) % nr;
	for_each_online_cpu(cpu)
		if (cpts->of_cpu[cpu] & place->cpts && !pick--)
			place->cpu = cpu;
}

int lnet_place_cpu(const struct lnet_place *place)
{
	int cpu = raw_smp_processor_id();

	if (likely(cpts->of_cpu[cpu] & place->cpts))
		return cpu;
	if (place->cpu != WORK_CPU_UNBOUND && cpu_online(place->cpu))
		return place->cpu;
	for_each_online_cpu(cpu)
		if (cpts->of_cpu[cpu] & place->cpts)
			return cpu;
	return WORK_CPU_UNBOUND;
}

/* ---- NUMA nodes ------------------------------------------------------------------------------ */

s32 lnet_env_cpt_of_node(int node)
{
	return node >= 0 && node < MAX_NUMNODES && node_online(node) ? cpts->of_node[node] : -1;
}

u64 lnet_env_cpts_of_node(int node)
{
	unsigned int i;
	u64 found = 0;

	for (i = 0; i < cpts->nr; i++)
		if (node >= 0 && node < MAX_NUMNODES && node_isset(node, cpts->nodes[i]))
			found |= BIT_ULL(i);
	return found;
}

s32 lnet_cpt_of_memory(const void *base)
{
	const struct page *page = NULL;

	if (is_vmalloc_addr(base))
		page = vmalloc_to_page(base);
	else if (virt_addr_valid(base))
		page = virt_to_page(base);
	return page ? lnet_env_cpt_of_node(page_to_nid(page)) : -1;
}

int lnet_cpt_distance(s32 a, s32 b)
{
	return cpts->distance[a][b];
}

/* ---- debugfs --------------------------------------------------------------------------------- */

void lnet_cpts_show(struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < cpts->nr; i++)
		seq_printf(m, "%u\t: %*pbl\n", i, cpumask_pr_args(cpts->cpus[i]));
}

void lnet_cpts_distances_show(struct seq_file *m)
{
	unsigned int i, j;

	for (i = 0; i < cpts->nr; i++) {
		seq_printf(m, "%u\t:", i);
		for (j = 0; j < cpts->nr; j++)
			seq_printf(m, " %u:%d", j, cpts->distance[i][j]);
		seq_putc(m, '\n');
	}
}
