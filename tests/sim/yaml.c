/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a scenario from YAML. */
#include <stdio.h>
#include "tests/sim/scenario.h"

int sim_scenario_read(struct sim_scenario *s, const char *path, char *err, size_t size)
{
	sim_scenario_init(s);
	snprintf(err, size, "not yet");
	return -ENOSYS;
}
