/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The switch of generated mutants: reads the environment before main() of the tests. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "tests/mutants/mutant.h"

#define MAX_MUTANTS 65536

static unsigned char no_map[MAX_MUTANTS];
int lnet_mutant;
volatile unsigned char *lnet_mutant_map = no_map;

/* The file is shared, so that children of the process also record the mutants that they reach. */
static void __attribute__((constructor)) mutant_read(void)
{
	const char *id = getenv("LNET_MUTANT"), *path = getenv("LNET_MUTANT_MAP");
	void *map;
	int fd;

	lnet_mutant = id ? atoi(id) : 0;
	if (!path)
		return;
	fd = open(path, O_RDWR);
	map = fd < 0 ? MAP_FAILED : mmap(NULL, MAX_MUTANTS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		perror(path);
		exit(2);
	}
	lnet_mutant_map = map;
}
