/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How unit tests are written: one file test_<file>.c per source file, and in it one suite of the
 * same name.
 *
 *	static void test_roundtrip(void) { CU_ASSERT_EQUAL(1, 1); }
 *	UNIT_SUITE(nid, { "parses what it prints", test_roundtrip }, { "...", ... })
 *
 * The Makefile finds the files and lists the suites. Run build/debug/unit [-l] [suite[/part of a
 * test's name]]...
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include "plat.h"
#include <CUnit/CUnit.h>

struct unit_case {
	const char *name;	/* what holds, as a sentence */
	void (*run)(void);
};

void unit_suite_add(const char *name, const struct unit_case *cases, unsigned int nr_cases);

#define UNIT_SUITE(noun, ...)						\
void suite_##noun(void);						\
void suite_##noun(void)							\
{									\
	static const struct unit_case cases[] = { __VA_ARGS__ };	\
									\
	unit_suite_add(#noun, cases, ARRAY_SIZE(cases));		\
}

/* As CU_ASSERT, but prints the numbers or texts that differ, and the row of the table. */
void unit_equal(long long got, long long want, const char *what, const char *file, int line);
void unit_text(const char *got, const char *want, const char *what, const char *file, int line);
#define UNIT_EQUAL(got, want, row)	\
	unit_equal((long long)(got), (long long)(want), row, __FILE__, __LINE__)
#define UNIT_TEXT(got, want, row)	unit_text(got, want, row, __FILE__, __LINE__)

/*
 * Called by allocations through plat_alloc_fail: makes the @nth one from now fail, counted from 1;
 * 0: none.
 */
void unit_fail_alloc(unsigned int nth);

#endif
