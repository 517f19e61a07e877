/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of plat.h: memory with fault injection, messages, checks of locks, text to numbers. */
#include "plat.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * These variables belong to the process, not to an instance. No decision of the core depends on
 * them.
 */
bool (*plat_alloc_fail)(size_t size);
static void (*print_fn)(enum plat_level level, const char *text);
__thread unsigned int plat_nr_spin;

static __thread pid_t own_tid;

static_assert(sizeof(struct kvec) == sizeof(struct iovec));
static_assert(offsetof(struct kvec, iov_len) == offsetof(struct iovec, iov_len));

void plat_print_set(void (*fn)(enum plat_level level, const char *text))
{
	WRITE_ONCE(print_fn, fn);
}

void plat_print(enum plat_level level, const char *fmt, ...)
{
	void (*fn)(enum plat_level level, const char *text) = READ_ONCE(print_fn);
	char text[512];
	va_list args;

	if (!fn)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fn(level, text);
}

void plat_warned(const char *what, const char *file, int line)
{
	fprintf(stderr, "lnet: warning: %s at %s:%d\n", what, file, line);
#ifdef LNET_DEBUG
	abort();
#endif
}

static bool edges[PLAT_NR_MACHINES][PLAT_STATES_MAX][PLAT_STATES_MAX];

#ifdef LNET_DEBUG
void plat_edge_take(enum plat_machine machine, unsigned int from, unsigned int to)
{
	WRITE_ONCE(edges[machine][from % PLAT_STATES_MAX][to % PLAT_STATES_MAX], true);
}
#endif

bool plat_edge_taken(enum plat_machine machine, unsigned int from, unsigned int to)
{
	return READ_ONCE(edges[machine][from % PLAT_STATES_MAX][to % PLAT_STATES_MAX]);
}

void plat_bug(const char *what, const char *file, int line)
{
	fprintf(stderr, "lnet: bug: %s at %s:%d\n", what, file, line);
	abort();
}

/*
 * The check uses the owner that glibc stores in each mutex. So it needs no additional field that
 * would change struct sizes.
 */
bool plat_mutex_mine(const pthread_mutex_t *mutex)
{
#ifdef __GLIBC__
	if (!own_tid)
		own_tid = (pid_t)syscall(SYS_gettid);
	return __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == own_tid;
#else
	return true;
#endif
}

static bool alloc_refused(size_t size, gfp_t gfp)
{
	if (gfp & PLAT_GFP_SLEEP)
		might_sleep();
	return unlikely(plat_alloc_fail) && plat_alloc_fail(size);
}

void *kmalloc(size_t size, gfp_t gfp)
{
	if (alloc_refused(size, gfp))
		return NULL;
	size = max_t(size_t, size, 1);
	return gfp & __GFP_ZERO ? calloc(1, size) : malloc(size);
}

void *krealloc(const void *old, size_t size, gfp_t gfp)
{
	if (alloc_refused(size, gfp))
		return NULL;
	return realloc((void *)old, max_t(size_t, size, 1));
}

void kfree(const void *p)
{
	free((void *)p);
}

void *kmemdup(const void *src, size_t len, gfp_t gfp)
{
	void *copy = kmalloc(len, gfp);

	return copy ? memcpy(copy, src, len) : NULL;
}

char *kstrdup(const char *text, gfp_t gfp)
{
	return text ? kmemdup(text, strlen(text) + 1, gfp) : NULL;
}

char *kasprintf(gfp_t gfp, const char *fmt, ...)
{
	va_list args, again;
	char *text = NULL;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	if (len >= 0)
		text = kmalloc((size_t)len + 1, gfp);
	if (text)
		vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
	va_end(args);
	return text;
}

int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	int len = vsnprintf(buf, size, fmt, args);

	if (len < 0 || size == 0)
		return 0;
	return (size_t)len < size ? len : (int)(size - 1);
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vscnprintf(buf, size, fmt, args);
	va_end(args);
	return len;
}

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	size_t len;

	for (len = 0; len < size; len++) {
		dst[len] = src[len];
		if (!dst[len])
			return (ssize_t)len;
	}
	if (size)
		dst[size - 1] = 0;
	return -E2BIG;
}

static unsigned int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'z' ? (unsigned int)(c - 'a' + 10) : UINT_MAX;
}

static const char *skip_prefix(const char *text, unsigned int *base)
{
	bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';

	if (*base == 0)
		*base = hex && digit_value(text[2]) < 16 ? 16 : text[0] == '0' ? 8 : 10;
	return *base == 16 && hex ? text + 2 : text;
}

static int parse_digits(const char *text, unsigned int base, u64 *res)
{
	const char *at = skip_prefix(text, &base);
	const char *first = at;
	u64 val = 0;

	for (; digit_value(*at) < base; at++)
		if (check_mul_overflow(val, (u64)base, &val) ||
		    check_add_overflow(val, (u64)digit_value(*at), &val))
			return -ERANGE;
	if (at == first)
		return -EINVAL;
	if (*at == '\n')
		at++;
	if (*at)
		return -EINVAL;
	*res = val;
	return 0;
}

int kstrtoull(const char *text, unsigned int base, unsigned long long *res)
{
	u64 val;
	int rc = parse_digits(*text == '+' ? text + 1 : text, base, &val);

	if (rc == 0)
		*res = val;
	return rc;
}

int kstrtoll(const char *text, unsigned int base, long long *res)
{
	bool minus = *text == '-';
	u64 val;
	int rc = parse_digits(minus || *text == '+' ? text + 1 : text, base, &val);

	if (rc)
		return rc;
	if (val > (u64)S64_MAX + minus)
		return -ERANGE;
	*res = (long long)(minus ? 0 - val : val);
	return 0;
}

int kstrtouint(const char *text, unsigned int base, unsigned int *res)
{
	unsigned long long val;
	int rc = kstrtoull(text, base, &val);

	if (rc)
		return rc;
	if (val > UINT_MAX)
		return -ERANGE;
	*res = (unsigned int)val;
	return 0;
}

int kstrtoint(const char *text, unsigned int base, int *res)
{
	long long val;
	int rc = kstrtoll(text, base, &val);

	if (rc)
		return rc;
	if (val < INT_MIN || val > INT_MAX)
		return -ERANGE;
	*res = (int)val;
	return 0;
}

void usleep_range(unsigned long min_us, unsigned long max_us)
{
	struct timespec nap = {.tv_sec = min_us / USEC_PER_SEC,
			       .tv_nsec = min_us % USEC_PER_SEC * NSEC_PER_USEC};

	(void)max_us;
	might_sleep();
	nanosleep(&nap, NULL);
}
