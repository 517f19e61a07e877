/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many further nodes in the process of the server, and idle connections of the client to these
 * nodes.
 */
#include "perf.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEET_NS		(10ull * NSEC_PER_SEC)	/* maximum wait for a reply of a node */
#define MEET_AT_ONCE	16u	/* pings in flight */
#define QUIET_NS	(200ull * NSEC_PER_MSEC)	/* no connection added: all exist */

struct perf_crowd {
	unsigned int nr;
	struct member {
		struct perf_node node;
		struct perf_opt opt;
		char nid[LNET_NIDSTR_SIZE];
	} *members;
};

/* Returns the sum of the 32-bit address @first and @i. */
static struct lnet_nid nid_after(const struct lnet_nid *first, unsigned int i)
{
	struct lnet_nid nid = *first;
	u8 *addr = (u8 *)nid.addr;

	for (int byte = 3; byte >= 0; byte--) {
		i += addr[byte];
		addr[byte] = (u8)i;
		i >>= 8;
	}
	return nid;
}

/* Raises the limit of descriptors to the maximum that the system permits. */
static void files_allow(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- the server ---------------------------------------------------------------------------- */

static int member_start(struct member *m, const struct perf_opt *like, unsigned int i)
{
	struct lnet_nid nid = nid_after(&like->crowd_first, i);

	m->opt = *like;
	m->opt.log = m->opt.name = NULL;
	m->opt.nr_peers = 0;
	m->opt.nr_nids = 1;
	m->opt.nids[0] = lnet_nid_str(&nid, m->nid);
	m->opt.mode = LNET_PROGRESS_SERVICE;
	return perf_node_start(&m->node, &m->opt);
}

int perf_crowd_start(struct perf_crowd **crowdp, const struct perf_opt *opt)
{
	struct perf_crowd *crowd;
	unsigned int i;
	int rc = 0;

	*crowdp = NULL;
	if (!opt->crowd)
		return 0;
	files_allow();
	crowd = calloc(1, sizeof(*crowd));
	*crowdp = crowd;
	if (crowd)
		crowd->members = calloc(opt->crowd, sizeof(*crowd->members));
	if (!crowd || !crowd->members)
		return -ENOMEM;
	for (i = 0; i < opt->crowd && !rc; i++) {
		rc = member_start(&crowd->members[i], opt, i);
		crowd->nr++;
	}
	return rc;
}

void perf_crowd_stop(struct perf_crowd *crowd)
{
	unsigned int i;

	for (i = 0; crowd && i < crowd->nr; i++)
		perf_node_stop(&crowd->members[i].node);
	free(crowd ? crowd->members : NULL);
	free(crowd);
}

/* ---- the client ---------------------------------------------------------------------------- */

struct meeting {
	u32 nr_open, nr_failed;
};

static void on_meeting_pong(void *arg, int status, const u8 *info, u32 len,
			    const struct lnet_nid *primary, uint64_t rtt_ns)
{
	struct meeting *m = arg;

	if (status)
		__atomic_fetch_add(&m->nr_failed, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&m->nr_open, 1, __ATOMIC_RELEASE);
}

static u32 meeting_nr_open(struct meeting *m)
{
	return __atomic_load_n(&m->nr_open, __ATOMIC_ACQUIRE);
}

static bool all_met(void *arg)
{
	return !meeting_nr_open(arg);
}

static bool meeting_has_room(void *arg)
{
	return meeting_nr_open(arg) < MEET_AT_ONCE;
}

static u64 nr_sockets(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	char path[64], what[16];
	u64 nr = 0;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%.16s", entry->d_name);
		nr += readlink(path, what, sizeof(what)) > 7 && !strncmp(what, "socket:", 7);
	}
	if (dir)
		closedir(dir);
	return nr;
}

static void memory_look(struct perf_memory *m)
{
	struct mallinfo2 heap = mallinfo2();
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long total, resident = 0;

	if (f && fscanf(f, "%lu %lu", &total, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	m->heap = heap.uordblks + heap.hblkhd;
	m->resident = (u64)resident * (u64)sysconf(_SC_PAGESIZE);
	m->sockets = nr_sockets();
}

/*
 * Waits until no connections are added any more. A connection set grows after its first connection.
 */
static void settle(struct lnet *ln)
{
	u64 seen = 0, until = 0, now;

	do {
		u64 nr = nr_sockets();

		now = perf_now();
		if (nr != seen)
			until = now + QUIET_NS;
		seen = nr;
		lnet_progress(ln, 20 * NSEC_PER_MSEC);
	} while (now < until && !perf_stop);
}

static int ping_all(struct perf_node *n, struct meeting *m)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < n->opt->crowd && !rc; i++) {
		struct lnet_nid nid = nid_after(&n->opt->crowd_first, i);

		__atomic_fetch_add(&m->nr_open, 1, __ATOMIC_RELAXED);
		rc = lnet_ping(n->ln, &nid, NULL, MEET_NS, on_meeting_pong, m);
		if (rc)
			__atomic_fetch_sub(&m->nr_open, 1, __ATOMIC_RELAXED);
		else
			rc = lnet_progress_until(n->ln, meeting_has_room, m, -1);
	}
	return rc ? rc : lnet_progress_until(n->ln, all_met, m, -1);
}

int perf_crowd_meet(struct perf_node *n)
{
	/* static, because pings may end after this function failed */
	static struct meeting m;
	int rc;

	if (!n->opt->crowd)
		return 0;
	files_allow();
	memory_look(&n->before);
	rc = ping_all(n, &m);
	if (!rc && m.nr_failed)
		rc = -EHOSTUNREACH;
	if (rc)
		fprintf(stderr, "lnetperf: no reply from %u nodes of the crowd: %s\n", m.nr_failed,
			strerror(-rc));
	settle(n->ln);
	memory_look(&n->after);
	return rc;
}
