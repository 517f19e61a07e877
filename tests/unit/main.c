/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs all unit tests, or those named on the command line, and says how many passed. */
#include "unit.h"
#include "edges.h"

#define SUITE(noun) void suite_##noun(void);
#include "unit_suites.def"
#undef SUITE

#define MAX_CASES 4096

static const struct unit_case *all_cases[MAX_CASES];
static const char *all_suites[MAX_CASES];
static unsigned int nr_all;
static unsigned int alloc_left;
static unsigned int nr_listed;

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

/* CUnit keeps the failures of all suites run so far in one chain; those after @nr are new. */
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

int main(int argc, char **argv)
{
	bool list = argc > 1 && strcmp(argv[1], "-l") == 0;
	char **names = argv + 1 + list;
	int nr_names = argc - 1 - list;
	unsigned int nr_run = 0, nr_failed = 0, i;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 2;
	add_all();
	for (i = 0; i < nr_all; i++) {
		if (!wanted(all_suites[i], all_cases[i]->name, names, nr_names))
			continue;
		nr_run++;
		if (list)
			printf("%s/%s\n", all_suites[i], all_cases[i]->name);
		else
			nr_failed += run_case(i);
	}
	CU_cleanup_registry();
	if (!list && nr_names == 0) {
		nr_run++;
		nr_failed += edges_check() != 0;
	}
	if (!list)
		printf("unit: %u passed, %u failed\n", nr_run - nr_failed, nr_failed);
	return nr_run == 0 || nr_failed ? 1 : 0;
}
