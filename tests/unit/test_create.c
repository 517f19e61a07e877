/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that programs write are not written through a symbolic link of another user. */
#include "unit.h"
#include "utils/lib/create.h"
#include <stdlib.h>

static char dir[64], victim[96], link_name[96];

static void begin(void)
{
	FILE *out;

	snprintf(dir, sizeof(dir), "/tmp/lnet-unit-create.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(dir));
	snprintf(victim, sizeof(victim), "%s/victim", dir);
	snprintf(link_name, sizeof(link_name), "%s/link", dir);
	out = fopen(victim, "w");
	CU_ASSERT(out && fputs("precious", out) >= 0 && !fclose(out));
	CU_ASSERT(!symlink(victim, link_name));
}

static void end(void)
{
	char text[16] = "";
	FILE *in = fopen(victim, "r");

	CU_ASSERT(in && fgets(text, sizeof(text), in));
	CU_ASSERT_STRING_EQUAL(text, "precious");
	fclose(in);
	unlink(victim);
	unlink(link_name);
	CU_ASSERT(!rmdir(dir));
}

static void test_link(void)
{
	begin();
	CU_ASSERT(file_create(link_name, O_WRONLY | O_TRUNC, 0600) < 0 && errno == ELOOP);
	CU_ASSERT_PTR_NULL(file_write(link_name));
	end();
}

static void test_new(void)
{
	int fd;

	begin();
	fd = file_create_new(link_name, 0600);
	CU_ASSERT(fd >= 0 && write(fd, "mine", 4) == 4 && !close(fd));
	end();
}

static void test_system(void)
{
	int fd = file_create("/dev/stdout", O_WRONLY, 0600);

	CU_ASSERT(fd >= 0 && !close(fd));
}

UNIT_SUITE(create,
	{ "a symbolic link is not followed", test_link },
	{ "a temporary file takes the place of a link", test_new },
	{ "links of the system are followed", test_system },
)
