/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program lnetperf: latency, rate and bandwidth of requests between two nodes over any number
 * of rails.
 */
#include "perf.h"
#include "utils/lib/exit_status.h"
#include "utils/lib/output.h"

#include <signal.h>
#include <stdlib.h>

static void on_perf_signal(int sig)
{
	(void)sig;
	perf_stop++;
}

static int start_status(int err)
{
	switch (err) {
	case -EINVAL:
	case -ENOENT:
	case -ERANGE:
		return EXIT_USAGE;
	case -EACCES:
	case -EPERM:
		return EXIT_NOT_PERMITTED;
	default:
		return 1;
	}
}

int main(int argc, char **argv)
{
	static struct perf_node node;
	struct sigaction stop = { .sa_handler = on_perf_signal };
	struct perf_opt opt;
	int rc;

	output_check();
	rc = perf_opt_parse(&opt, argc, argv);
	if (rc >= 0)
		return rc;
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	signal(SIGPIPE, SIG_IGN);
	perf_payload_init();
	rc = perf_node_start(&node, &opt);
	if (rc) {
		perf_node_stop(&node);
		return start_status(rc);
	}
	rc = opt.role == PERF_CLIENT ? perf_client(&node) : perf_server(&node);
	return rc ? 1 : 0;
}
