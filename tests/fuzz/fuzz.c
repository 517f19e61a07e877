/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that all fuzzers use. */
#include <stdlib.h>
#include "fuzz.h"
#include "unit.h"

static u64 number(struct fuzz_in *in, unsigned int bytes)
{
	unsigned int i;
	u64 val = 0;

	for (i = 0; i < bytes && fuzz_more(in); i++)
		val |= (u64)*in->at++ << 8 * i;
	return val;
}

u8 fuzz_u8(struct fuzz_in *in)
{
	return (u8)number(in, 1);
}

u16 fuzz_u16(struct fuzz_in *in)
{
	return (u16)number(in, 2);
}

u32 fuzz_u32(struct fuzz_in *in)
{
	return (u32)number(in, 4);
}

u64 fuzz_u64(struct fuzz_in *in)
{
	return number(in, 8);
}

u8 *fuzz_bytes(struct fuzz_in *in, size_t *len)
{
	u8 *copy;

	*len = min(*len, (size_t)(in->end - in->at));
	copy = malloc(*len ? *len : 1);
	if (!copy)
		abort();
	if (*len)
		memcpy(copy, in->at, *len);
	in->at += *len;
	return copy;
}

FILE *fuzz_null(void)
{
	static FILE *null;

	if (!null)
		null = fopen("/dev/null", "w");
	if (!null)
		abort();
	return null;
}

/* ---- asserts of the unit tests' worlds ------- */

CU_BOOL CU_assertImplementation(CU_BOOL ok, unsigned int line, const char *what, const char *file,
				const char *function, CU_BOOL fatal)
{
	if (ok)
		return CU_TRUE;
	fprintf(stderr, "fuzz: %s does not hold at %s:%u\n", what, file, line);
	abort();
}

void unit_equal(long long got, long long want, const char *what, const char *file, int line)
{
	CU_assertImplementation(got == want, (unsigned int)line, what, file, "", CU_FALSE);
}

void unit_text(const char *got, const char *want, const char *what, const char *file, int line)
{
	bool same = got && want && !strcmp(got, want);

	CU_assertImplementation(same, (unsigned int)line, what, file, "", CU_FALSE);
}
