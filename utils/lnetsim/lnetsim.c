/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program lnetsim: simulates many nodes in one process, with virtual time and one seed, and
 * reports violated guarantees.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../lib/output.h"
#include "tests/sim/crowd.h"
#include "tests/sim/selftest.h"
#include "tests/sim/tree.h"
#include "tests/sim/replay_file.h"
#include "tests/sim/scenario.h"
#include "options.h"

#define U(x) ((unsigned long long)(x))

struct shared {			/* of each job */
	u64 seed;		/* the seed in use */
	u64 nr_failed, nr_done, combined;
	struct sim_counts count;
};

static void add_counts(struct sim_counts *sum, const struct sim_counts *c)
{
	const u64 *from = (const u64 *)c;
	u64 *to = (u64 *)sum, stall = max(sum->stall_max_ns, c->stall_max_ns);
	size_t i;

	for (i = 0; i < sizeof(*c) / sizeof(u64); i++)
		to[i] += from[i];
	sum->stall_max_ns = stall;
}

static int make_scenario(const struct options *o, u64 seed, struct sim_scenario *s)
{
	char err[256];

	if (o->scenario) {
		if (sim_scenario_read(s, o->scenario, err, sizeof(err))) {
			fprintf(stderr, "lnetsim: %s: %s\n", o->scenario, err);
			return -EINVAL;
		}
	} else if (o->brief) {
		sim_scenario_draw_brief(s, seed);
	} else {
		sim_scenario_draw(s, seed);
	}
	s->sock |= o->sock;
	s->record = o->record;
	s->record_node = o->record_node;
	s->record_bytes = o->record_bytes;
	if (o->nodes) {
		s->gap_ns = s->gap_ns * o->nodes / s->nodes;
		s->nodes = o->nodes;
		s->max_open = max(s->max_open, o->nodes * 2);
	}
	return 0;
}

static void run_seed(const struct options *o, u64 seed, struct shared *sh)
{
	struct sim_scenario s;
	struct sim_result a, b;

	sh->seed = seed;
	if (make_scenario(o, seed, &s))
		exit(2);
	sim_scenario_run(&s, seed, o->verbose, &a);
	if (!a.failed && o->twice) {
		sim_scenario_run(&s, seed, false, &b);
		if (a.hash != b.hash) {
			a.failed = true;
			snprintf(a.why, sizeof(a.why), "two runs differ: %016llx %016llx",
				 (unsigned long long)a.hash, (unsigned long long)b.hash);
		}
	}
	if (o->hashes)
		printf("seed %llu hash %016llx\n", (unsigned long long)seed,
		       (unsigned long long)a.hash);
	if (a.failed) {
		printf("seed %llu FAILED: %s\n", (unsigned long long)seed, a.why);
		sh->nr_failed++;
	}
	fflush(stdout);
	add_counts(&sh->count, &a.count);
	sh->combined ^= lnet_hash64(a.hash + seed);
	sh->nr_done++;
}

static void run_job(const struct options *o, u32 job, struct shared *sh)
{
	u64 seed;

	for (seed = o->first + job; seed <= o->last; seed += o->jobs)
		run_seed(o, seed, sh);
}

/* ---- a crowd --------------------------------------------------------------------------------- */

static void storm_report(const struct sim_crowd *c, u64 seed, const struct sim_result *r)
{
	printf("seed %llu: a storm over %u nodes, %llu pairs: %llu pushes and %llu probes; at most "
	       "%llu pushes (of %u) and %llu probes (of %u) of a node in a second; requests %llu, "
	       "failed %llu; hash %016llx\n",
	       U(seed), c->nodes, U(c->pairs), U(c->pushes), U(c->probes), U(c->pushes_sec_max),
	       c->push_rate, U(c->probes_sec_max), c->recovery_rate, U(c->sent), U(c->failed),
	       U(r->hash));
}

static void changes_report(const struct sim_crowd *c, u64 seed, const struct sim_result *r)
{
	printf("seed %llu: %u nodes, %llu pairs, %.2f control messages a pair; found in %llu ms, "
	       "changes in %llu ms with %llu pushes and %llu probes, joined in %llu ms, halves in "
	       "%llu ms, restarted in %llu ms; at most %llu pushes (of %u) and %llu probes (of %u) "
	       "of a node in a second; requests %llu, failed %llu; hash %016llx\n",
	       U(seed), c->nodes, U(c->pairs), (double)c->control / (double)max(c->pairs, (u64)1),
	       U(c->found_ms), U(c->changed_ms), U(c->pushes), U(c->probes), U(c->healed_ms),
	       U(c->split_ms), U(c->restarted_ms), U(c->pushes_sec_max), c->push_rate,
	       U(c->probes_sec_max), c->recovery_rate, U(c->sent), U(c->failed), U(r->hash));
}

static struct sim_result crowd_once(const struct options *o, u64 seed, bool say)
{
	struct sim_crowd c = { .nodes = o->nodes ? o->nodes : 1000, .partners = o->partners,
			       .recovery_rate = o->rate, .push_rate = o->rate,
			       .storm = o->storm };
	struct sim_result r;

	sim_crowd_run(&c, seed, &r);
	if (say || r.failed)
		(c.storm ? storm_report : changes_report)(&c, seed, &r);
	if (r.failed)
		printf("seed %llu FAILED: %s\n", U(seed), r.why);
	fflush(stdout);
	return r;
}

/* Tests for each seed whether the nodes discover each other. */
static int run_crowd(const struct options *o)
{
	unsigned int nr_failed = 0;
	struct rusage ru;
	u64 seed;

	for (seed = o->first; seed <= o->last; seed++) {
		struct sim_result r = crowd_once(o, seed, true);

		if (o->twice && !r.failed && crowd_once(o, seed, false).hash != r.hash) {
			printf("seed %llu FAILED: two runs differ\n", U(seed));
			r.failed = true;
		}
		nr_failed += r.failed;
	}
	getrusage(RUSAGE_SELF, &ru);
	printf("memory at most %ld MiB, cpu %ld s\n", ru.ru_maxrss / 1024, ru.ru_utime.tv_sec);
	return nr_failed ? 1 : 0;
}

/* ---- a self-test ----------------------------------------------------------------------------- */

static struct sim_result selftest_once(const struct options *o, u64 seed, bool say)
{
	struct sim_selftest t = { .nodes = max(o->nodes ? o->nodes : 9, 3u), .loops = 200,
				  .concur = 2, .bytes = 65536 };
	struct sim_result r;

	sim_selftest_run(&t, seed, &r);
	if (say)
		printf("seed %llu: %u nodes, %llu pings, %llu bytes of bulk in %llu ms with a rail "
		       "cut, %llu messages retransmitted; hash %016llx\n",
		       U(seed), t.nodes, U(t.pings), U(t.moved), U(t.ran_ms), U(t.resends),
		       U(r.hash));
	if (r.failed)
		printf("seed %llu FAILED: %s\n", U(seed), r.why);
	return r;
}

static int run_selftest(const struct options *o)
{
	unsigned int nr_failed = 0;
	u64 seed;

	for (seed = o->first; seed <= o->last; seed++) {
		struct sim_result r = selftest_once(o, seed, true);

		if (o->twice && !r.failed && selftest_once(o, seed, false).hash != r.hash) {
			printf("seed %llu FAILED: two runs differ\n", U(seed));
			r.failed = true;
		}
		nr_failed += r.failed;
	}
	return nr_failed ? 1 : 0;
}

/* ---- a self-test over a tree ----------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Prints a line that tests/sim/tree_table reads. */
static void tree_report(const struct options *o, const struct sim_tree *t, u64 seed, double wall)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	printf("tree: seed %llu nodes %u ground %s kind %s levels %u join_us %llu sample_us %llu "
	       "sample_max_us %llu skew_max_ns %llu skew_p99_ns %llu bound_ns %llu asked %llu "
	       "asked_lost %llu root_messages %llu root_bytes %llu dead %u recovered_us %llu "
	       "pings %llu messages %llu events %llu rss_bytes %llu cpu_ms %llu wall_ms %llu\n",
	       U(seed), t->nodes, t->core ? "core" : "light", t->flat ? "flat" :
	       t->faults ? "faults" : "tree", t->levels, U(t->join_us), U(t->sample_us),
	       U(t->sample_max_us), U(t->skew_max_ns), U(t->skew_p99_ns), U(t->bound_ns),
	       U(t->asked_max), U(t->asked_lost_max), U(t->root_messages_max),
	       U(t->root_bytes_max), t->dead, U(t->recovered_us), U(t->pings), U(t->messages),
	       U(t->events), U(ru.ru_maxrss) * 1024,
	       U(ru.ru_utime.tv_sec) * 1000 + U(ru.ru_utime.tv_usec) / 1000, U(wall * 1000));
}

static struct sim_result tree_once(const struct options *o, u64 seed, bool say)
{
	struct sim_tree t = { .nodes = o->nodes ? o->nodes : 1000,
			      .k = o->children ? o->children : 16,
			      .loops = o->loops, .core = o->core, .flat = o->flat,
			      .faults = o->faults };
	double begin = seconds();
	struct sim_result r;

	sim_tree_run(&t, seed, &r);
	if (say)
		tree_report(o, &t, seed, seconds() - begin);
	printf("seed %llu hash %016llx\n", U(seed), U(r.hash));
	if (r.failed)
		printf("seed %llu FAILED: %s\n", U(seed), r.why);
	fflush(stdout);
	return r;
}

/*
 * Simulates the tree of nodes of a self-test once for each seed. With --twice, runs each seed a
 * second time, and fails if the two results differ. Also fails if two successive seeds have the
 * same result.
 */
static int run_tree(const struct options *o)
{
	unsigned int nr_failed = 0;
	u64 seed, before = 0;

	for (seed = o->first; seed <= o->last; seed++) {
		struct sim_result r = tree_once(o, seed, true);

		if (!r.failed && ((o->twice && tree_once(o, seed, false).hash != r.hash) ||
				  r.hash == before)) {
			printf("seed %llu FAILED: two runs differ, or two seeds do not\n", U(seed));
			r.failed = true;
		}
		before = r.hash;
		nr_failed += r.failed;
	}
	return nr_failed ? 1 : 0;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void seeds_report(const struct options *o, const struct shared *sum)
{
	const struct sim_counts *c = &sum->count;
	struct rusage ru;
	unsigned int i;

	printf("%llu seeds, %llu failed, hash %016llx\n", U(sum->nr_done), U(sum->nr_failed),
	       U(sum->combined));
	printf("messages: %llu, %llu (%llu %%) met a fault:", U(c->messages), U(c->met),
	       U(c->messages ? c->met * 100 / c->messages : 0));
	for (i = 0; i < SIM_NR_FAULTS; i++)
		if (c->fault[i])
			printf(" %s %llu", sim_fault_names[i], U(c->fault[i]));
	printf("\nrequests: %llu, ok %llu, failed %llu, perhaps %llu, effects %llu, slowest "
	       "success %llu ms\n",
	       U(c->requests), U(c->ok), U(c->failed), U(c->unknown), U(c->effects),
	       U(c->stall_max_ns / SIM_MS));
	printf("failures by errno:");
	for (i = 0; i < ARRAY_SIZE(c->outcome); i++)
		if (c->outcome[i])
			printf(" %u mod 32: %llu", i, U(c->outcome[i]));
	printf("\nresends %llu, hedges %llu (won %llu), suspects %llu, paths lost %llu, recovery "
	       "pings %llu\n",
	       U(c->resends), U(c->hedges), U(c->hedge_wins), U(c->suspects), U(c->path_lost),
	       U(c->recovery_pings));
	printf("duplicates suppressed: joined %llu, replied again %llu, old %llu; replies %llu; "
	       "no window %llu, "
	       "session open requests %llu, windows dropped %llu\n",
	       U(c->dup_taken), U(c->dup_final), U(c->dup_old), U(c->dup_reply), U(c->no_window),
	       U(c->session_opens), U(c->windows_dropped));
	getrusage(o->jobs > 1 ? RUSAGE_CHILDREN : RUSAGE_SELF, &ru);
	printf("events %llu, passes of workers %llu, memory at most %ld MiB, cpu %ld.%02ld s\n",
	       U(c->events), U(c->steps), ru.ru_maxrss / 1024, ru.ru_utime.tv_sec,
	       (long)ru.ru_utime.tv_usec / 10000);
}

static int run_all(const struct options *o)
{
	struct shared *sh = mmap(NULL, o->jobs * sizeof(*sh), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct shared sum = { 0 };
	u32 job;

	if (sh == MAP_FAILED)
		return 2;
	if (o->jobs == 1)
		run_job(o, 0, &sh[0]);
	else
		for (job = 0; job < o->jobs; job++)
			if (!fork()) {
				run_job(o, job, &sh[job]);
				exit(0);
			}
	for (job = 0; o->jobs > 1 && job < o->jobs; job++) {
		int status;

		wait(&status);
		if (status)
			sum.nr_failed++;
	}
	for (job = 0; job < o->jobs; job++) {
		sum.nr_done += sh[job].nr_done;
		sum.nr_failed += sh[job].nr_failed;
		sum.combined ^= sh[job].combined;
		add_counts(&sum.count, &sh[job].count);
		if (sh[job].seed && sum.nr_failed && o->jobs > 1)
			printf("job %u was last at seed %llu\n", job, U(sh[job].seed));
	}
	seeds_report(o, &sum);
	return sum.nr_failed ? 1 : 0;
}

/* ---- a replay -------------------------------------------------------------------------------- */

static int run_replay(const struct options *o)
{
	struct replay_report r;
	int rc = sim_replay(o->replay, &r);

	if (rc < 0) {
		fprintf(stderr, "lnetsim: %s: %s\n", o->replay, r.why);
		return 2;
	}
	printf("%llu records, %llu overwritten before them, %llu before the first snapshot\n",
	       U(r.records), U(r.lost), U(r.skipped));
	printf("%llu calls, %llu answers from outside, %llu decisions\n", U(r.calls), U(r.values),
	       U(r.decisions));
	printf("recorded hash %016llx\nreplayed hash %016llx\n", U(r.recorded), U(r.replayed));
	printf(rc ? "DIFFERENT: %s" : "the same decisions\n", r.why);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o;
	int rc;

	output_check();
	rc = options_read(&o, argc, argv);
	if (rc != OPTIONS_RUN)
		return rc;
	if (o.replay)
		return run_replay(&o);
	if (o.partners)
		return run_crowd(&o);
	if (o.tree)
		return run_tree(&o);
	return o.selftest ? run_selftest(&o) : run_all(&o);
}
