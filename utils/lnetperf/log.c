/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log in a mapped file. Records survive the end of the process, and only growth needs a system
 * call.
 */
#include "perf.h"
#include "../lib/create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* records by which a file grows: 8 MiB, sparse until used */
#define CHUNK	(256u << 10)

struct perf_log {
	int fd;
	struct perf_rec *rec;
	u64 nr, cap;
	s64 day_ns;			/* time of day minus monotonic time */
	pthread_mutex_t lock;
};

static s64 log_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int log_grow(struct perf_log *log)
{
	u64 cap = log->cap + CHUNK;
	size_t len = cap * sizeof(*log->rec);
	void *map;

	if (ftruncate(log->fd, (off_t)len))
		return -errno;
	map = log->rec ? mremap(log->rec, log->cap * sizeof(*log->rec), len, MREMAP_MAYMOVE) :
			 mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	log->rec = map;
	log->cap = cap;
	return 0;
}

/* Maps the existing records and finds their end. */
static int map_old(struct perf_log *log)
{
	struct stat st;
	int rc;

	if (fstat(log->fd, &st))
		return -errno;
	log->cap = (u64)st.st_size / sizeof(*log->rec) / CHUNK * CHUNK;
	rc = log_grow(log);
	while (!rc && log->nr < log->cap && log->rec[log->nr].kind)
		log->nr++;
	return rc;
}

int perf_log_open(struct perf_log **logp, const char *path, enum perf_role role, u64 *instance)
{
	struct perf_log *log;
	u32 drawn = 0;
	int rc;

	if (getrandom(&drawn, 3, 0) != 3)
		drawn = (u32)getpid();
	*instance = drawn | 1;
	*logp = NULL;
	if (!path)
		return 0;
	log = calloc(1, sizeof(*log));
	if (!log)
		return -ENOMEM;
	log->day_ns = log_clock_ns(CLOCK_REALTIME) - log_clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_init(&log->lock, NULL);
	log->fd = file_create(path, O_RDWR, 0644);
	rc = log->fd < 0 ? -errno : map_old(log);
	if (rc) {
		if (log->fd >= 0)
			close(log->fd);
		free(log);
		return rc;
	}
	perf_log_add(log, PERF_START, *instance, 0, role, (u32)getpid());
	*logp = log;
	return 0;
}

void perf_log_add(struct perf_log *log, enum perf_kind kind, u64 id, int status, u32 a, u32 b)
{
	struct perf_rec *rec;

	if (!log)
		return;
	pthread_mutex_lock(&log->lock);
	if (log->nr == log->cap && log_grow(log)) {
		fprintf(stderr, "lnetperf: cannot extend the log file\n");
		abort();
	}
	rec = &log->rec[log->nr++];
	rec->id = id;
	rec->time_ns = log_clock_ns(CLOCK_MONOTONIC) + log->day_ns;
	rec->status = status;
	rec->a = a;
	rec->b = b;
	__atomic_store_n(&rec->kind, kind, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&log->lock);
}

void perf_log_close(struct perf_log *log)
{
	if (!log)
		return;
	perf_log_add(log, PERF_END, 0, 0, 0, 0);
	munmap(log->rec, log->cap * sizeof(*log->rec));
	if (ftruncate(log->fd, (off_t)(log->nr * sizeof(*log->rec))))
		perror("lnetperf: log");
	close(log->fd);
	pthread_mutex_destroy(&log->lock);
	free(log);
}

/* ---- memory for received payloads ---------------------------------------------------------- */

static void search(struct perf_log *log, const u8 *mem, size_t len)
{
	size_t at = 0;
	u64 id;
	u32 got;

	while (at + PERF_PAYLOAD_MIN <= len) {
		got = perf_payload_find(mem + at, len - at, &id);
		if (got)
			perf_log_add(log, PERF_LANDED, id, 0, got, 0);
		at += got ? got : 8;
	}
}

static void *map_file(int fd, size_t len)
{
	void *mem = MAP_FAILED;

	if (!ftruncate(fd, (off_t)len))
		mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return mem == MAP_FAILED ? NULL : mem;
}

static void search_old(struct perf_log *log, int fd, size_t len)
{
	struct stat st;
	void *mem;

	if (fstat(fd, &st) || (size_t)st.st_size != len)
		return;
	mem = map_file(fd, len);
	if (!mem)
		return;
	search(log, mem, len);
	munmap(mem, len);
}

void *perf_log_memory(struct perf_log *log, const char *path, size_t len)
{
	void *mem;
	int fd;

	if (!log || !path) {
		mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		return mem == MAP_FAILED ? NULL : mem;
	}
	fd = file_create(path, O_RDWR, 0644);
	if (fd < 0)
		return NULL;
	search_old(log, fd, len);
	mem = ftruncate(fd, 0) ? NULL : map_file(fd, len);
	close(fd);
	return mem;
}
