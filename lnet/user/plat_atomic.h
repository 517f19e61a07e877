/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of plat.h: atomics, reference counts and barriers with the memory order of the kernel (full
 * if a value is returned, else relaxed).
 */
#ifndef LNET_USER_PLAT_ATOMIC_H
#define LNET_USER_PLAT_ATOMIC_H

#include <sys/single_threaded.h>

/*
 * True if the process has one thread. A plain operation is then sufficient, and much cheaper than a
 * locked one. A thread that is created later sees all earlier writes.
 */
#define plat_alone()		__builtin_expect(__libc_single_threaded, 1)
#define plat_add(p, i, order)							\
	(plat_alone() ? (*(p) += (i)) : __atomic_add_fetch((p), (i), (order)))

#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, val)	__atomic_store_n((p), (val), __ATOMIC_RELEASE)
#define xchg(p, val)		__atomic_exchange_n((p), (val), __ATOMIC_SEQ_CST)
#define plat_cmpxchg(p, old, new)						\
	__atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
/* Returns the value that was found. The exchange took place if this value equals @old. */
#define cmpxchg(p, old, new) ({						\
	typeof(*(p)) plat_old_ = (old);					\
	plat_cmpxchg((p), &plat_old_, (new));				\
	plat_old_; })

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define ATOMIC_INIT(val)	{ (val) }
#define ATOMIC64_INIT(val)	{ (val) }

#define PLAT_ATOMIC(name, type, val_t)					\
static inline val_t name##_read(const type *v)				\
{									\
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);		\
}									\
static inline val_t name##_read_acquire(const type *v)			\
{									\
	return __atomic_load_n(&v->counter, __ATOMIC_ACQUIRE);		\
}									\
static inline void name##_set(type *v, val_t i)				\
{									\
	__atomic_store_n(&v->counter, i, __ATOMIC_RELAXED);		\
}									\
static inline void name##_set_release(type *v, val_t i)			\
{									\
	__atomic_store_n(&v->counter, i, __ATOMIC_RELEASE);		\
}									\
static inline void name##_add(val_t i, type *v)				\
{									\
	(void)plat_add(&v->counter, i, __ATOMIC_RELAXED);		\
}									\
static inline void name##_sub(val_t i, type *v)				\
{									\
	(void)plat_add(&v->counter, -i, __ATOMIC_RELAXED);		\
}									\
static inline void name##_inc(type *v)					\
{									\
	(void)plat_add(&v->counter, 1, __ATOMIC_RELAXED);		\
}									\
static inline void name##_dec(type *v)					\
{									\
	(void)plat_add(&v->counter, -1, __ATOMIC_RELAXED);		\
}									\
static inline val_t name##_add_return(val_t i, type *v)			\
{									\
	return plat_add(&v->counter, i, __ATOMIC_SEQ_CST);		\
}									\
static inline val_t name##_sub_return(val_t i, type *v)			\
{									\
	return plat_add(&v->counter, -i, __ATOMIC_SEQ_CST);		\
}									\
static inline val_t name##_inc_return(type *v)				\
{									\
	return plat_add(&v->counter, 1, __ATOMIC_SEQ_CST);		\
}									\
static inline val_t name##_dec_return(type *v)				\
{									\
	return plat_add(&v->counter, -1, __ATOMIC_SEQ_CST);		\
}									\
static inline bool name##_dec_and_test(type *v)				\
{									\
	return plat_add(&v->counter, -1, __ATOMIC_SEQ_CST) == 0;	\
}									\
static inline val_t name##_xchg(type *v, val_t i)			\
{									\
	val_t was;							\
									\
	if (!plat_alone())						\
		return __atomic_exchange_n(&v->counter, i, __ATOMIC_SEQ_CST); \
	was = v->counter;						\
	v->counter = i;							\
	return was;							\
}									\
static inline val_t name##_cmpxchg(type *v, val_t old, val_t val)	\
{									\
	plat_cmpxchg(&v->counter, &old, val);				\
	return old;							\
}									\
static inline bool name##_try_cmpxchg(type *v, val_t *old, val_t val)	\
{									\
	return plat_cmpxchg(&v->counter, old, val);			\
}									\
static inline bool name##_add_unless(type *v, val_t i, val_t unless)	\
{									\
	val_t seen = name##_read(v);					\
									\
	while (seen != unless)						\
		if (name##_try_cmpxchg(v, &seen, seen + i))		\
			return true;					\
	return false;							\
}									\
static inline bool name##_inc_not_zero(type *v)				\
{									\
	return name##_add_unless(v, 1, 0);				\
}
PLAT_ATOMIC(atomic, atomic_t, int)
PLAT_ATOMIC(atomic64, atomic64_t, s64)
#undef PLAT_ATOMIC

/* Returns the bits as they were before; full memory order. */
static inline int atomic_fetch_or(int i, atomic_t *v)
{
	int was;

	if (!plat_alone())
		return __atomic_fetch_or(&v->counter, i, __ATOMIC_SEQ_CST);
	was = v->counter;
	v->counter = was | i;
	return was;
}

/* A reference count: taking a reference at 0 and dropping one below 0 are bugs. */
typedef struct {
	atomic_t refs;
} refcount_t;

#define REFCOUNT_INIT(val)	{ ATOMIC_INIT(val) }

static inline void refcount_set(refcount_t *r, int val)
{
	atomic_set(&r->refs, val);
}

static inline unsigned int refcount_read(const refcount_t *r)
{
	return (unsigned int)atomic_read(&r->refs);
}

static inline void refcount_inc(refcount_t *r)
{
	WARN_ON_ONCE(__atomic_fetch_add(&r->refs.counter, 1, __ATOMIC_RELAXED) <= 0);
}

static inline bool __must_check refcount_inc_not_zero(refcount_t *r)
{
	return atomic_inc_not_zero(&r->refs);
}

static inline bool __must_check refcount_dec_and_test(refcount_t *r)
{
	int left = atomic_dec_return(&r->refs);

	WARN_ON_ONCE(left < 0);
	return left == 0;
}

#endif
