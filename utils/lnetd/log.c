/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The daemon's log on standard error. One thread writes the queued lines of all threads.
 *
 * The core may log while it holds locks, and standard error may be a pipe that nobody reads. So
 * only the writer thread waits for standard error. If the queue is full, lines are counted and not
 * written.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lnetd.h"

#define LINES_MAX	256
#define TEXT_MAX	400
#define FLUSH_S		2	/* maximum wait of log_close() for a reader */

struct line {
	struct timespec at;
	int level;
	char text[TEXT_MAX];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, written;
	pthread_t thread;
	const char *node;
	int level;
	bool journal, started, running, stop;
	/* first, nr: of @line; lost: lines that did not fit */
	unsigned int first, nr, lost;
	struct line line[LINES_MAX];
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER,
	    .written = PTHREAD_COND_INITIALIZER, .node = "", .level = LNET_LOG_INFO };

static const struct {
	const char *name;
	int level;
} levels[] = {
	{ "error", LNET_LOG_ERROR }, { "warning", LNET_LOG_WARNING },
	{ "info", LNET_LOG_INFO }, { "debug", LNET_LOG_DEBUG },
};
#define NR_LEVELS (sizeof(levels) / sizeof(levels[0]))

int log_level_find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_LEVELS; i++)
		if (!strcmp(levels[i].name, name))
			return levels[i].level;
	return -1;
}

static const char *level_name(int level)
{
	size_t i;

	for (i = 0; i < NR_LEVELS; i++)
		if (levels[i].level == level)
			return levels[i].name;
	return "info";
}

/*
 * Is standard error the journal? A program may inherit $JOURNAL_STREAM although its standard error
 * is another file.
 */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 && !fstat(2, &st) &&
	       st.st_dev == dev && st.st_ino == ino;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void stderr_write(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(2, text, len);

		if (n < 0 && errno != EINTR)
			return;			/* no reader is left */
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

static void line_put(const struct line *l)
{
	char buf[TEXT_MAX + 128], date[32];
	struct tm tm;
	int len;

	gmtime_r(&l->at.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	if (queue.journal)
		len = snprintf(buf, sizeof(buf), "<%d>%s: %s\n", l->level, queue.node, l->text);
	else
		len = snprintf(buf, sizeof(buf), "%s.%03ldZ %s %s: %s\n", date,
			       l->at.tv_nsec / 1000000, level_name(l->level), queue.node, l->text);
	if (len >= (int)sizeof(buf))
		len = (int)sizeof(buf) - 1;
	stderr_write(buf, (size_t)len);
}

static void lost_put(unsigned int nr)
{
	struct line l = { .level = LNET_LOG_WARNING };

	clock_gettime(CLOCK_REALTIME, &l.at);
	snprintf(l.text, sizeof(l.text),
		 "log: %u lines were lost, because the output accepted them too slowly", nr);
	line_put(&l);
}

/* Writes the first line of the queue. Called with the lock, which it releases during the write. */
static void first_put(void)
{
	struct line l = queue.line[queue.first];
	unsigned int lost = queue.lost;

	queue.first = (queue.first + 1) % LINES_MAX;
	queue.nr--;
	queue.lost = 0;
	pthread_mutex_unlock(&queue.lock);
	if (lost)
		lost_put(lost);
	line_put(&l);
	pthread_mutex_lock(&queue.lock);
}

static void *log_thread(void *arg)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.nr || !queue.stop) {
		if (queue.nr)
			first_put();
		else
			pthread_cond_wait(&queue.more, &queue.lock);
	}
	queue.running = false;
	pthread_cond_signal(&queue.written);
	pthread_mutex_unlock(&queue.lock);
	return arg;
}

/* ---- for the daemon -------------------------------------------------------------------------- */

int log_open(const char *node, int level)
{
	int rc;

	queue.node = node;
	queue.level = level;
	queue.journal = is_journal();
	rc = pthread_create(&queue.thread, NULL, log_thread, NULL);
	queue.running = queue.started = !rc;
	return -rc;
}

void log_close(void)
{
	struct timespec until;
	bool ended;

	pthread_mutex_lock(&queue.lock);
	queue.stop = true;
	pthread_cond_signal(&queue.more);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += FLUSH_S;
	while (queue.running && !pthread_cond_timedwait(&queue.written, &queue.lock, &until))
		;
	ended = queue.started && !queue.running;
	pthread_mutex_unlock(&queue.lock);
	if (ended)
		pthread_join(queue.thread, NULL);
}

void log_text(void *arg, enum lnet_log_level level, const char *text)
{
	size_t len = strcspn(text, "\n");
	struct line *l;

	(void)arg;
	if ((int)level > queue.level)
		return;
	pthread_mutex_lock(&queue.lock);
	if (queue.nr == LINES_MAX) {
		queue.lost++;
	} else {
		l = &queue.line[(queue.first + queue.nr++) % LINES_MAX];
		clock_gettime(CLOCK_REALTIME, &l->at);
		l->level = (int)level;
		snprintf(l->text, sizeof(l->text), "%.*s", (int)len, text);
		pthread_cond_signal(&queue.more);
	}
	while (queue.nr && !queue.running)
		first_put();			/* no thread does it */
	pthread_mutex_unlock(&queue.lock);
}

void log_line(enum lnet_log_level level, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log_text(NULL, level, text);
}
