/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The platform of the core in user space: the kernel's names for types, memory, locks and messages.
 *
 * lnet/kernel/plat.h has the same names for the kernel build. The core uses only names that are in
 * both files. Active services (time, wake-ups, random numbers) are in struct lnet_env.
 */
#ifndef LNET_USER_PLAT_H
#define LNET_USER_PLAT_H

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/types.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int gfp_t;

#define U8_MAX		((u8)~0U)
#define U16_MAX		((u16)~0U)
#define U32_MAX		((u32)~0U)
#define U64_MAX		((u64)~0ULL)
#define S32_MAX		((s32)(U32_MAX >> 1))
#define S32_MIN		((s32)(-S32_MAX - 1))
#define S64_MAX		((s64)(U64_MAX >> 1))
#define S64_MIN		((s64)(-S64_MAX - 1))

/* --- compiler --------------------------------------------------------------------------------- */

#ifdef __CHECKER__
#define __force			__attribute__((force))
#define __must_hold(x)		__attribute__((context(x, 1, 1)))
#define __acquires(x)		__attribute__((context(x, 0, 1)))
#define __releases(x)		__attribute__((context(x, 1, 0)))
#define __acquire(x)		__context__(x, 1)
#define __release(x)		__context__(x, -1)
#else
#define __force
#define __must_hold(x)
#define __acquires(x)
#define __releases(x)
#define __acquire(x)		((void)0)
#define __release(x)		((void)0)
#endif

/*
 * Declares the fact "a shard of the instance is locked" as a capability for clang -Wthread-safety.
 * In C, clang does not recognize that two expressions name the same lock. So all shards share one
 * global variable as the capability, which is only declared and takes no memory. Functions that
 * lock and unlock a shard call lnet_shard_role_take() and lnet_shard_role_drop().
 */
#if defined(__clang__) && !defined(__CHECKER__)
struct __attribute__((capability("role"))) lnet_shard_role { char unused; };
extern struct lnet_shard_role lnet_shard_held;
#define __lnet_acquires		__attribute__((acquire_capability(lnet_shard_held)))
#define __lnet_releases		__attribute__((release_capability(lnet_shard_held)))
#define __must_hold_shard	__attribute__((requires_capability(lnet_shard_held)))
#define __excludes_shard	__attribute__((locks_excluded(lnet_shard_held)))
#define __guarded_by_shard	__attribute__((guarded_by(lnet_shard_held)))
#define __no_lock_check		__attribute__((no_thread_safety_analysis))
#else
#define __lnet_acquires
#define __lnet_releases
#define __must_hold_shard
#define __excludes_shard
#define __guarded_by_shard
#define __no_lock_check
#endif

static inline void lnet_shard_role_take(void) __lnet_acquires;
static inline void lnet_shard_role_drop(void) __lnet_releases;
static inline __no_lock_check void lnet_shard_role_take(void) {}
static inline __no_lock_check void lnet_shard_role_drop(void) {}

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ __volatile__("" : : : "memory")
#define unreachable()		__builtin_unreachable()
#define noinline		__attribute__((__noinline__))
#define __uninitialized
#undef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#define fallthrough		__attribute__((__fallthrough__))
#define __packed		__attribute__((__packed__))
#define __aligned(x)		__attribute__((__aligned__(x)))
#define __maybe_unused		__attribute__((__unused__))
#define __must_check		__attribute__((__warn_unused_result__))
#define __cold			__attribute__((__cold__))
#define __printf(fmt, args)	__attribute__((__format__(printf, fmt, args)))
#define __stringify_1(...)	#__VA_ARGS__
#define __stringify(...)	__stringify_1(__VA_ARGS__)

#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define container_of(ptr, type, member) ({				\
	const typeof(((type *)0)->member) *plat_member_ = (ptr);	\
	(type *)((char *)plat_member_ - offsetof(type, member)); })

#undef static_assert
#define static_assert(expr, ...)	plat_static_assert(expr, ##__VA_ARGS__, #expr)
#define plat_static_assert(expr, text, ...)	_Static_assert(expr, text)
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), "BUILD_BUG_ON: " #cond)

/* Relaxed atomics, not volatile, because the thread sanitizer then accepts the intended race. */
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, val)	__atomic_store_n(&(x), (val), __ATOMIC_RELAXED)

/* --- bugs and warnings ------------------------------------------------------------------------ */

/* Prints a message. A build with LNET_DEBUG (tests, sanitizers) then aborts. */
void plat_warned(const char *what, const char *file, int line) __cold;
void plat_bug(const char *what, const char *file, int line) __cold __attribute__((__noreturn__));

#define BUG_ON(cond)	((void)(unlikely(cond) ? (plat_bug(#cond, __FILE__, __LINE__), 0) : 0))
#define BUG()		plat_bug("BUG", __FILE__, __LINE__)
#define WARN_ON(cond) ({						\
	bool plat_cond_ = !!(cond);					\
	if (unlikely(plat_cond_))					\
		plat_warned(#cond, __FILE__, __LINE__);			\
	unlikely(plat_cond_); })
#define WARN_ON_ONCE(cond) ({						\
	static bool plat_told_;						\
	bool plat_cond_ = !!(cond);					\
	if (unlikely(plat_cond_) && !__atomic_exchange_n(&plat_told_, true, __ATOMIC_RELAXED)) \
		plat_warned(#cond, __FILE__, __LINE__);			\
	unlikely(plat_cond_); })
#define WARN_ONCE(cond, fmt, ...) ({					\
	bool plat_say_ = WARN_ON_ONCE(cond);				\
	if (plat_say_)							\
		pr_warn(fmt, ##__VA_ARGS__);				\
	plat_say_; })

/* --- edges of state machines that a run takes: recorded only in builds for tests -------------- */

enum plat_machine {
	PLAT_MACHINE_op, PLAT_MACHINE_att, PLAT_MACHINE_rx, PLAT_MACHINE_ni, PLAT_MACHINE_session,
	PLAT_MACHINE_router, PLAT_MACHINE_discover, PLAT_MACHINE_id,
	PLAT_NR_MACHINES
};
#define PLAT_STATES_MAX 16

#ifdef LNET_DEBUG
void plat_edge_take(enum plat_machine machine, unsigned int from, unsigned int to);
#define lnet_edge(machine, who, from, to)	plat_edge_take(PLAT_MACHINE_##machine, from, to)
#else
#define lnet_edge(machine, who, from, to)	((void)0)
#define plat_edge_take(machine, from, to)	((void)0)
#endif
/* Does the work of lnet_edge() for a state machine without a kernel tracepoint. */
#define lnet_edge_untraced(machine, from, to)	plat_edge_take(PLAT_MACHINE_##machine, from, to)
bool plat_edge_taken(enum plat_machine machine, unsigned int from, unsigned int to);

/* The kernel's tracepoints, see manual/internals/kernel.md. */
#define lnet_trace(event, ...)	((void)0)

/* --- messages --------------------------------------------------------------------------------- */

enum plat_level { PLAT_ERR, PLAT_WARN, PLAT_INFO, PLAT_DEBUG };

#ifndef pr_fmt
#define pr_fmt(fmt) fmt
#endif
#define pr_err(fmt, ...)	plat_print(PLAT_ERR, pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn(fmt, ...)	plat_print(PLAT_WARN, pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info(fmt, ...)	plat_print(PLAT_INFO, pr_fmt(fmt), ##__VA_ARGS__)
#define pr_debug(fmt, ...)	plat_print(PLAT_DEBUG, pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err_ratelimited	pr_err
#define pr_warn_ratelimited	pr_warn

void plat_print(enum plat_level level, const char *fmt, ...) __printf(2, 3);
/*
 * Sets the function for messages. Any thread may call @fn, perhaps under locks, with one formatted
 * message per call. NULL, the default, drops messages. Call it once, before the first instance: the
 * setting belongs to the process.
 */
void plat_print_set(void (*fn)(enum plat_level level, const char *text));

/* --- memory ----------------------------------------------------------------------------------- */

#define __GFP_ZERO	0x1u
#define __GFP_NOWARN	0x2u
#define __GFP_NORETRY	0x4u
/* flag of an allocation that may sleep; such an allocation is a bug while a spin lock is held */
#define PLAT_GFP_SLEEP	0x8u
#define GFP_KERNEL	PLAT_GFP_SLEEP
#define GFP_NOFS	PLAT_GFP_SLEEP
#define GFP_NOIO	PLAT_GFP_SLEEP
#define GFP_ATOMIC	0x0u
#define GFP_NOWAIT	0x0u
#define NUMA_NO_NODE	(-1)

/*
 * Fault injection for tests. If it is set, each allocation calls it first, and fails if it returns
 * true. Any thread may call it. It belongs to the process; only tests write it.
 */
extern bool (*plat_alloc_fail)(size_t size);

void *kmalloc(size_t size, gfp_t gfp) __attribute__((__malloc__));
void *krealloc(const void *old, size_t size, gfp_t gfp) __must_check;
void kfree(const void *p);			/* NULL is fine */
void *kmemdup(const void *src, size_t len, gfp_t gfp);
char *kstrdup(const char *text, gfp_t gfp);	/* NULL gives NULL */
char *kasprintf(gfp_t gfp, const char *fmt, ...) __printf(2, 3);

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	return kmalloc(size, gfp | __GFP_ZERO);
}

static inline void *kmalloc_array(size_t nr, size_t size, gfp_t gfp)
{
	size_t bytes;

	return __builtin_mul_overflow(nr, size, &bytes) ? NULL : kmalloc(bytes, gfp);
}

static inline void *kcalloc(size_t nr, size_t size, gfp_t gfp)
{
	return kmalloc_array(nr, size, gfp | __GFP_ZERO);
}

#define kmalloc_node(size, gfp, node)	((void)(node), kmalloc(size, gfp))
#define kzalloc_node(size, gfp, node)	((void)(node), kzalloc(size, gfp))
#define kvmalloc(size, gfp)		kmalloc(size, gfp)
#define kvzalloc(size, gfp)		kzalloc(size, gfp)
#define kvmalloc_array(nr, size, gfp)	kmalloc_array(nr, size, gfp)
#define kvcalloc(nr, size, gfp)		kcalloc(nr, size, gfp)
#define kvfree(p)			kfree(p)

#define IS_ERR_VALUE(x)		unlikely((unsigned long)(x) >= (unsigned long)-4095)
#define IS_ERR(p)		IS_ERR_VALUE(p)
#define IS_ERR_OR_NULL(p)	(!(p) || IS_ERR(p))
#define ERR_PTR(err)		((void *)(long)(err))
#define PTR_ERR(p)		((long)(p))
#define PTR_ERR_OR_ZERO(p)	((int)(IS_ERR(p) ? PTR_ERR(p) : 0))
#define ERR_CAST(p)		((void *)(p))

/* A range of local memory, with the layout of struct iovec. */
struct kvec {
	void *iov_base;
	size_t iov_len;
};

/* --- locks ------------------------------------------------------------------------------------ */

/*
 * A spin lock is a plain mutex here, because a spinning thread might wait for a preempted holder.
 * The rules of spin locks apply: with LNET_DEBUG, taking a lock twice, sleeping
 * (might_sleep(), an allocation that may sleep) or a false lockdep_assert_held() aborts.
 */
typedef struct {
	pthread_mutex_t mutex;
} spinlock_t;

struct mutex {
	pthread_mutex_t mutex;
};

#define DEFINE_SPINLOCK(name)	spinlock_t name = { PTHREAD_MUTEX_INITIALIZER }
#define DEFINE_MUTEX(name)	struct mutex name = { PTHREAD_MUTEX_INITIALIZER }

/* Number of spin locks that the calling thread holds; counted only with LNET_DEBUG. */
extern __thread unsigned int plat_nr_spin;
bool plat_mutex_mine(const pthread_mutex_t *mutex);

#ifdef LNET_DEBUG
#define plat_spin_count(delta)	((void)(plat_nr_spin += (delta)))
#define plat_spin_check(lock)	BUG_ON(plat_mutex_mine(&(lock)->mutex))
#define lockdep_assert_held(l)	BUG_ON(!plat_mutex_mine(&(l)->mutex))
#define lockdep_assert_not_held(l)	BUG_ON(plat_mutex_mine(&(l)->mutex))
#define might_sleep()		BUG_ON(plat_nr_spin != 0)
#else
#define plat_spin_count(delta)	((void)0)
#define plat_spin_check(lock)	((void)0)
#define lockdep_assert_held(l)	((void)(l))
#define lockdep_assert_not_held(l)	((void)(l))
#define might_sleep()		((void)0)
#endif
/* Identifies the calling thread among the existing threads. Use it only for comparisons. */
#define plat_self()		((const void *)pthread_self())
#define cond_resched()		might_sleep()
#define cpu_relax()		plat_relax()

static inline void spin_lock_init(spinlock_t *lock)
{
	pthread_mutex_init(&lock->mutex, NULL);
}

static inline void spin_lock(spinlock_t *lock) __acquires(lock)
{
	plat_spin_check(lock);
	pthread_mutex_lock(&lock->mutex);
	plat_spin_count(1);
	__acquire(lock);
}

static inline void spin_unlock(spinlock_t *lock) __releases(lock)
{
	plat_spin_count(-1);
	pthread_mutex_unlock(&lock->mutex);
	__release(lock);
}

static inline int spin_trylock(spinlock_t *lock)
{
	int taken = pthread_mutex_trylock(&lock->mutex) == 0;

	if (taken)
		plat_spin_count(1);
	return taken;
}

/* For several locks of one class (all shards); the caller ensures that they are taken in order. */
#define spin_lock_nested(lock, subclass)	((void)(subclass), spin_lock(lock))
/*
 * For any number of locks of one class, taken in any order, which is safe because @outer is held.
 */
#define spin_lock_nest_lock(lock, outer)	((void)(outer), spin_lock(lock))

static inline void mutex_init(struct mutex *lock)
{
	pthread_mutex_init(&lock->mutex, NULL);
}

static inline void mutex_destroy(struct mutex *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

static inline void mutex_lock(struct mutex *lock)
{
	might_sleep();
	plat_spin_check(lock);
	pthread_mutex_lock(&lock->mutex);
}

static inline int mutex_trylock(struct mutex *lock)
{
	return pthread_mutex_trylock(&lock->mutex) == 0;
}

static inline void mutex_unlock(struct mutex *lock)
{
	pthread_mutex_unlock(&lock->mutex);
}

static inline void plat_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield" : : : "memory");
#else
	barrier();
#endif
}

/* --- sleeping: only in configuration, never in a pass ----------------------------------------- */

void usleep_range(unsigned long min_us, unsigned long max_us);

/* --- text ------------------------------------------------------------------------------------- */

/* As snprintf(), but returns the number of bytes written, without the final 0. */
int scnprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);
int vscnprintf(char *buf, size_t size, const char *fmt, va_list args) __printf(3, 0);
/* Copies, with a final 0 unless @size is 0. Returns the length, or -E2BIG if @src was cut. */
ssize_t strscpy(char *dst, const char *src, size_t size);

/*
 * Converts @text, which must be one number; one newline may follow. @base 0: 0x begins a
 * hexadecimal number, a leading 0 an octal one. 0; -EINVAL if it is no number; -ERANGE if it does
 * not fit. Writes *@res only on success.
 */
int kstrtoull(const char *text, unsigned int base, unsigned long long *res) __must_check;
int kstrtoll(const char *text, unsigned int base, long long *res) __must_check;
int kstrtouint(const char *text, unsigned int base, unsigned int *res) __must_check;
int kstrtoint(const char *text, unsigned int base, int *res) __must_check;

/* --- modules: none in user space -------------------------------------------------------------- */

struct module;

#define THIS_MODULE		((struct module *)NULL)
#define EXPORT_SYMBOL(sym)	extern typeof(sym) sym
#define EXPORT_SYMBOL_GPL(sym)	extern typeof(sym) sym
#define try_module_get(mod)	((void)(mod), true)
#define __module_get(mod)	((void)(mod))
#define module_put(mod)		((void)(mod))

#include "plat_atomic.h"
#include "plat_list.h"
#include "plat_num.h"

#endif
