/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs all unit tests, or those named on the command line, and prints how many passed.
 *
 *	build/FLAVOUR/unit [-l] [-t] [-x] [-T FILE] [SUITE[/PART OF A NAME]]...
 *
 * -l lists the cases and runs none. -t prints the processor time of each case in ms, children
 * included. -x stops after the first case that fails. -T writes the names of the suites that
 * started a thread to FILE, one per line.
 */
#include "unit.h"
#include "edges.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SUITE(noun) void suite_##noun(void);
#include "unit_suites.def"
#undef SUITE

#define MAX_CASES 4096

static const struct unit_case *all_cases[MAX_CASES];
static const char *all_suites[MAX_CASES];
static unsigned int nr_all;
static unsigned int alloc_left;
static unsigned int nr_listed;
/* Threads that all cases so far and their child processes started; shared with the children. */
static unsigned int *nr_threads;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);

/* The linker (--wrap) replaces calls of pthread_create() by calls of this function. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	__atomic_add_fetch(nr_threads, 1, __ATOMIC_RELAXED);
	return __real_pthread_create(thread, attr, run, arg);
}

static bool fail_this_alloc(size_t size)
{
	return alloc_left && --alloc_left == 0;
}

void unit_fail_alloc(unsigned int nth)
{
	alloc_left = nth;
	plat_alloc_fail = nth ? fail_this_alloc : NULL;
}

void unit_equal(long long got, long long want, const char *what, const char *file, int line)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: got %lld (0x%llx), want %lld (0x%llx)", what, got,
		 (u64)got, want, (u64)want);
	CU_assertImplementation(got == want, (unsigned int)line, text, file, "", CU_FALSE);
}

void unit_text(const char *got, const char *want, const char *what, const char *file, int line)
{
	char text[1024];
	bool same = got && want && strcmp(got, want) == 0;

	snprintf(text, sizeof(text), "%s: got \"%s\", want \"%s\"", what, got ? got : "NULL",
		 want ? want : "NULL");
	CU_assertImplementation(same, (unsigned int)line, text, file, "", CU_FALSE);
}

void unit_suite_add(const char *name, const struct unit_case *cases, unsigned int nr_cases)
{
	CU_pSuite suite = CU_add_suite(name, NULL, NULL);
	unsigned int i;

	if (!suite || nr_all + nr_cases > MAX_CASES) {
		fprintf(stderr, "unit: cannot add suite %s\n", name);
		exit(2);
	}
	for (i = 0; i < nr_cases; i++) {
		if (!CU_add_test(suite, cases[i].name, cases[i].run)) {
			fprintf(stderr, "unit: cannot add %s/%s\n", name, cases[i].name);
			exit(2);
		}
		all_suites[nr_all] = name;
		all_cases[nr_all++] = &cases[i];
	}
}

static void add_all(void)
{
#define SUITE(noun) suite_##noun();
#include "unit_suites.def"
#undef SUITE
}

static bool wanted(const char *suite, const char *test, char **names, int nr_names)
{
	int i;

	for (i = 0; i < nr_names; i++) {
		size_t len = strcspn(names[i], "/");

		if (strlen(suite) == len && strncmp(suite, names[i], len) == 0 &&
		    (!names[i][len] || strstr(test, names[i] + len + 1)))
			return true;
	}
	return nr_names == 0;
}

/* CUnit keeps the failures of all suites in one list; those after the first @nr_listed are new. */
static void print_failures(void)
{
	CU_pFailureRecord rec = CU_get_failure_list();
	unsigned int i;

	for (i = 0; rec && i < nr_listed; i++)
		rec = rec->pNext;
	for (; rec; rec = rec->pNext, nr_listed++)
		fprintf(stderr, "%s:%u: %s/%s: %s\n", rec->strFileName ? rec->strFileName : "?",
			rec->uiLineNumber, rec->pSuite ? rec->pSuite->pName : "?",
			rec->pTest ? rec->pTest->pName : "?",
			rec->strCondition ? rec->strCondition : "?");
}

static unsigned int run_case(unsigned int i)
{
	CU_pSuite suite = CU_get_suite(all_suites[i]);
	CU_pTest test = suite ? CU_get_test(suite, all_cases[i]->name) : NULL;

	if (!test || CU_run_test(suite, test) != CUE_SUCCESS)
		return 1;
	unit_fail_alloc(0);
	if (CU_get_number_of_failures() == 0)
		return 0;
	nr_listed = 0;
	print_failures();
	return 1;
}

/* Adds the suite of case @i to @file unless it was the last one added. */
static void note_threaded(FILE *file, unsigned int i)
{
	static const char *last;

	if (last != all_suites[i])
		fprintf(file, "%s\n", all_suites[i]);
	last = all_suites[i];
}

static unsigned int used_ms(int who)
{
	struct rusage use;

	getrusage(who, &use);
	return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 +
	       (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000;
}

struct options {
	bool list, times, stop;
	FILE *threaded;
};

/* Returns 1 if case @i failed. */
static unsigned int run_with(const struct options *opt, unsigned int i)
{
	unsigned int threads = *nr_threads;
	unsigned int before = used_ms(RUSAGE_SELF) + used_ms(RUSAGE_CHILDREN);
	unsigned int failed = run_case(i);

	if (opt->times)
		printf("%6u %s/%s\n", used_ms(RUSAGE_SELF) + used_ms(RUSAGE_CHILDREN) - before,
		       all_suites[i], all_cases[i]->name);
	if (opt->threaded && *nr_threads != threads)
		note_threaded(opt->threaded, i);
	return failed;
}

static void options_read(struct options *opt, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+ltxT:")) != -1) {
		if (c == 'l')
			opt->list = true;
		else if (c == 't')
			opt->times = true;
		else if (c == 'x')
			opt->stop = true;
		else if (c != 'T' || !(opt->threaded = fopen(optarg, "w")))
			exit(2);
	}
}

int main(int argc, char **argv)
{
	struct options opt = {};
	unsigned int nr_run = 0, nr_failed = 0, i;
	int nr_names;

	nr_threads = mmap(NULL, sizeof(*nr_threads), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (nr_threads == MAP_FAILED || CU_initialize_registry() != CUE_SUCCESS)
		return 2;
	options_read(&opt, argc, argv);
	argv += optind;
	nr_names = argc - optind;
	add_all();
	for (i = 0; i < nr_all; i++) {
		if (!wanted(all_suites[i], all_cases[i]->name, argv, nr_names))
			continue;
		nr_run++;
		if (opt.list)
			printf("%s/%s\n", all_suites[i], all_cases[i]->name);
		else
			nr_failed += run_with(&opt, i);
		if (opt.stop && nr_failed)
			break;
	}
	CU_cleanup_registry();
	if (!opt.list && nr_names == 0) {
		nr_run++;
		nr_failed += edges_check() != 0;
	}
	if (opt.threaded && fclose(opt.threaded))
		return 2;
	if (!opt.list)
		printf("unit: %u passed, %u failed\n", nr_run - nr_failed, nr_failed);
	return nr_run == 0 || nr_failed ? 1 : 0;
}
