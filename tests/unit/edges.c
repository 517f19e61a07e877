/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports legal edges of the core's state machines that no test took, unless the table excuses
 * them.
 */
#include "model/model.h"
#include "edges.h"

#include <stdio.h>

struct edge {
	u8 machine, from, to;
	const char *name;
};

static const struct edge all[] = {
#define STATE(s)
#define EDGE(a, b) { PLAT_MACHINE_op, a, b, #a " -> " #b },
#include "model/states/op.def"
#undef STATE
#undef EDGE
#define ASTATE(s, pc, nc, drv, mem)
#define AEDGE(a, b) { PLAT_MACHINE_att, a, b, #a " -> " #b },
#include "model/states/att.def"
#undef ASTATE
#undef AEDGE
#define STATE(s, pc, buf)
#define EDGE(a, b) { PLAT_MACHINE_rx, a, b, #a " -> " #b },
#include "model/states/rx.def"
#undef STATE
#undef EDGE
#define STATE(s)
#define EDGE(a, b) { PLAT_MACHINE_ni, a, b, #a " -> " #b },
#include "model/states/ni.def"
#undef STATE
#undef EDGE
#define STATE(s)
#define EDGE(a, b) { PLAT_MACHINE_session, a, b, #a " -> " #b },
#include "model/states/session.def"
#undef STATE
#undef EDGE
#define STATE(s)
#define EDGE(a, b) { PLAT_MACHINE_router, a, b, #a " -> " #b },
#include "model/states/router.def"
#undef STATE
#undef EDGE
#define STATE(s)
#define EDGE(a, b) { PLAT_MACHINE_discover, a, b, #a " -> " #b },
#include "model/states/discover.def"
#undef STATE
#undef EDGE
#define STATE(s)
#define EDGE(a, b) { PLAT_MACHINE_id, a, b, #a " -> " #b },
#include "model/states/request_id.def"
#undef STATE
#undef EDGE
};

/* Legal, but unreachable. If a test takes the edge of a row, the row must be removed. */
static const struct {
	const char *name, *why;
} unreached[] = {
	{ "NI_DRAINING -> NI_ACTIVE", "a removal is not taken back" },
};

static const char *excuse(const struct edge *e)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unreached); i++)
		if (!strcmp(unreached[i].name, e->name))
			return unreached[i].why;
	return NULL;
}

unsigned int edges_check(void)
{
	unsigned int i, nr_taken = 0, nr_wrong = 0, nr_excused = 0;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		bool taken = plat_edge_taken(all[i].machine, all[i].from, all[i].to);
		const char *why = excuse(&all[i]);

		nr_taken += taken;
		nr_excused += !taken && why;
		if (taken == !why)
			continue;
		nr_wrong++;
		fprintf(stderr, "edges: %s: %s\n", all[i].name,
			taken ? "listed as out of reach, but taken" : "no test takes it");
	}
	if (!nr_taken)
		return 0;	/* not recorded */
	printf("edges: %u of %u taken, %u out of reach\n", nr_taken,
	       (unsigned int)ARRAY_SIZE(all), nr_excused);
	return nr_wrong;
}
