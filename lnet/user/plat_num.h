/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of plat.h, numbers: minimum and maximum, division, logarithms, bit maps, byte order,
 * unaligned memory, time units.
 */
#ifndef LNET_USER_PLAT_NUM_H
#define LNET_USER_PLAT_NUM_H

#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L
#define USEC_PER_MSEC	1000L
#define USEC_PER_SEC	1000000L
#define MSEC_PER_SEC	1000L

/* --- arithmetic ------------------------------------------------------------------------------- */

#define min(a, b) ({							\
	__auto_type plat_a_ = (a);					\
	__auto_type plat_b_ = (b);					\
	plat_a_ < plat_b_ ? plat_a_ : plat_b_; })
#define max(a, b) ({							\
	__auto_type plat_a_ = (a);					\
	__auto_type plat_b_ = (b);					\
	plat_a_ > plat_b_ ? plat_a_ : plat_b_; })
#define min3(a, b, c)		min(min(a, b), c)
#define max3(a, b, c)		max(max(a, b), c)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp(val, lo, hi)	min(max(val, lo), hi)
#define clamp_t(type, val, lo, hi)	min_t(type, max_t(type, val, lo), hi)
#define min_not_zero(a, b) ({						\
	__auto_type plat_x_ = (a);					\
	__auto_type plat_y_ = (b);					\
	plat_x_ == 0 ? plat_y_ : plat_y_ == 0 ? plat_x_ : min(plat_x_, plat_y_); })
#define swap(a, b) do {							\
	__auto_type plat_swap_ = (a);					\
	(a) = (b);							\
	(b) = plat_swap_;						\
} while (0)
#define abs_diff(a, b) ({						\
	__auto_type plat_a_ = (a);					\
	__auto_type plat_b_ = (b);					\
	plat_a_ > plat_b_ ? plat_a_ - plat_b_ : plat_b_ - plat_a_; })

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define roundup(n, d)		(DIV_ROUND_UP(n, d) * (d))
#define rounddown(n, d)		((n) - (n) % (d))
/* @a is a power of two. */
#define ALIGN(n, a)		(((n) + (typeof(n))(a) - 1) & ~((typeof(n))(a) - 1))
#define ALIGN_DOWN(n, a)	((n) & ~((typeof(n))(a) - 1))
#define IS_ALIGNED(n, a)	(((n) & ((typeof(n))(a) - 1)) == 0)

#define check_add_overflow(a, b, res)	__builtin_add_overflow(a, b, res)
#define check_sub_overflow(a, b, res)	__builtin_sub_overflow(a, b, res)
#define check_mul_overflow(a, b, res)	__builtin_mul_overflow(a, b, res)

/* On overflow, the result is SIZE_MAX, so that an allocation of this size fails. */
static inline size_t size_add(size_t a, size_t b)
{
	size_t sum;

	return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t size_mul(size_t a, size_t b)
{
	size_t product;

	return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

#define array_size(nr, size)	size_mul(nr, size)
#define struct_size(p, member, nr)	size_add(sizeof(*(p)), size_mul(sizeof((p)->member[0]), nr))

static inline u64 div_u64(u64 n, u32 d)
{
	return n / d;
}

static inline u64 div64_u64(u64 n, u64 d)
{
	return n / d;
}

static inline s64 div_s64(s64 n, s32 d)
{
	return n / d;
}

static inline u64 div_u64_rem(u64 n, u32 d, u32 *rem)
{
	*rem = (u32)(n % d);
	return n / d;
}

/* Returns a * b / c without overflow of a * b. */
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	return (u64)((unsigned __int128)a * b / c);
}

/* Divides the lvalue @n in place, and returns the remainder. */
#define do_div(n, d) ({							\
	u32 plat_d_ = (d);						\
	u32 plat_rem_ = (u32)((u64)(n) % plat_d_);			\
	(n) = (u64)(n) / plat_d_;					\
	plat_rem_; })

/* --- bits ------------------------------------------------------------------------------------- */

#define BITS_PER_BYTE		8
#define BITS_PER_LONG		((int)sizeof(long) * BITS_PER_BYTE)
#define BITS_TO_LONGS(nr)	DIV_ROUND_UP(nr, BITS_PER_LONG)
#define BIT(nr)			(1UL << (nr))
#define BIT_ULL(nr)		(1ULL << (nr))
#define BIT_MASK(nr)		(1UL << ((nr) % BITS_PER_LONG))
#define BIT_WORD(nr)		((nr) / BITS_PER_LONG)
#define GENMASK_ULL(hi, lo)	((~0ULL << (lo)) & (~0ULL >> (63 - (hi))))
#define DECLARE_BITMAP(name, bits)	unsigned long name[BITS_TO_LONGS(bits)]

/*
 * Returns the position of the highest set bit, counted from 1; 0 if @x is 0. The kernel's ffs() is
 * also in <strings.h>.
 */
static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* Return the position of the lowest or the highest set bit, counted from 0; @x is not 0. */
static inline unsigned long __ffs(unsigned long x)
{
	return (unsigned long)__builtin_ctzl(x);
}

static inline unsigned long __fls(unsigned long x)
{
	return (unsigned long)(BITS_PER_LONG - 1 - __builtin_clzl(x));
}

#define __ffs64(x)		((unsigned long)__builtin_ctzll(x))
#define hweight8(x)		((unsigned int)__builtin_popcount((u8)(x)))
#define hweight16(x)		((unsigned int)__builtin_popcount((u16)(x)))
#define hweight32(x)		((unsigned int)__builtin_popcount((u32)(x)))
#define hweight64(x)		((unsigned long)__builtin_popcountll((u64)(x)))
#define hweight_long(x)		((unsigned long)__builtin_popcountl(x))
/* Usable in constant expressions. */
#define ilog2(x)		(63 - __builtin_clzll((u64)(x)))
#define is_power_of_2(x)	((x) != 0 && ((x) & ((x) - 1)) == 0)

static inline unsigned long roundup_pow_of_two(unsigned long x)
{
	return x <= 1 ? 1 : 1UL << fls64(x - 1);
}

static inline bool test_bit(unsigned long nr, const unsigned long *map)
{
	return READ_ONCE(map[BIT_WORD(nr)]) & BIT_MASK(nr);
}

/* The double underscore means: not atomic, so the caller holds the lock of the bit map. */
static inline void __set_bit(unsigned long nr, unsigned long *map)
{
	map[BIT_WORD(nr)] |= BIT_MASK(nr);
}

static inline void __clear_bit(unsigned long nr, unsigned long *map)
{
	map[BIT_WORD(nr)] &= ~BIT_MASK(nr);
}

static inline bool __test_and_set_bit(unsigned long nr, unsigned long *map)
{
	bool was = map[BIT_WORD(nr)] & BIT_MASK(nr);

	__set_bit(nr, map);
	return was;
}

static inline bool __test_and_clear_bit(unsigned long nr, unsigned long *map)
{
	bool was = map[BIT_WORD(nr)] & BIT_MASK(nr);

	__clear_bit(nr, map);
	return was;
}

static inline void set_bit(unsigned long nr, unsigned long *map)
{
	__atomic_fetch_or(&map[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline void clear_bit(unsigned long nr, unsigned long *map)
{
	__atomic_fetch_and(&map[BIT_WORD(nr)], ~BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline bool test_and_set_bit(unsigned long nr, unsigned long *map)
{
	return __atomic_fetch_or(&map[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_SEQ_CST) & BIT_MASK(nr);
}

static inline bool test_and_clear_bit(unsigned long nr, unsigned long *map)
{
	return __atomic_fetch_and(&map[BIT_WORD(nr)], ~BIT_MASK(nr), __ATOMIC_SEQ_CST) &
	       BIT_MASK(nr);
}

/*
 * Returns the first bit from @from on that is set in map ^ flip; @size if there is none. @flip is 0
 * or ~0.
 */
static inline unsigned long plat_find_bit(const unsigned long *map, unsigned long size,
					  unsigned long from, unsigned long flip)
{
	unsigned long word, i;

	if (from >= size)
		return size;
	i = from / BITS_PER_LONG;
	word = (map[i] ^ flip) & (~0UL << (from % BITS_PER_LONG));
	while (!word) {
		if (++i >= BITS_TO_LONGS(size))
			return size;
		word = map[i] ^ flip;
	}
	return min(i * BITS_PER_LONG + __ffs(word), size);
}

#define find_first_bit(map, size)		plat_find_bit(map, size, 0, 0)
#define find_next_bit(map, size, from)		plat_find_bit(map, size, from, 0)
#define find_first_zero_bit(map, size)		plat_find_bit(map, size, 0, ~0UL)
#define find_next_zero_bit(map, size, from)	plat_find_bit(map, size, from, ~0UL)
#define for_each_set_bit(bit, map, size)                        \
	for ((bit) = find_first_bit(map, size); (bit) < (size); \
	     (bit) = find_next_bit(map, size, (bit) + 1))
#define bitmap_zero(map, bits)	((void)memset(map, 0, BITS_TO_LONGS(bits) * sizeof(long)))
#define bitmap_empty(map, bits)	(find_first_bit(map, bits) >= (bits))

/* --- byte order ------------------------------------------------------------------------------- */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define plat_le(bits, x)	((u##bits)(x))
#define plat_be(bits, x)	((u##bits)__builtin_bswap##bits((u##bits)(x)))
#else
#define plat_le(bits, x)	((u##bits)__builtin_bswap##bits((u##bits)(x)))
#define plat_be(bits, x)	((u##bits)(x))
#endif

#define cpu_to_le16(x)		((__force __le16)plat_le(16, x))
#define cpu_to_le32(x)		((__force __le32)plat_le(32, x))
#define cpu_to_le64(x)		((__force __le64)plat_le(64, x))
#define cpu_to_be16(x)		((__force __be16)plat_be(16, x))
#define cpu_to_be32(x)		((__force __be32)plat_be(32, x))
#define cpu_to_be64(x)		((__force __be64)plat_be(64, x))
#define le16_to_cpu(x)		plat_le(16, (__force u16)(__le16)(x))
#define le32_to_cpu(x)		plat_le(32, (__force u32)(__le32)(x))
#define le64_to_cpu(x)		plat_le(64, (__force u64)(__le64)(x))
#define be16_to_cpu(x)		plat_be(16, (__force u16)(__be16)(x))
#define be32_to_cpu(x)		plat_be(32, (__force u32)(__be32)(x))
#define be64_to_cpu(x)		plat_be(64, (__force u64)(__be64)(x))
#define swab16(x)		__builtin_bswap16(x)
#define swab32(x)		__builtin_bswap32(x)
#define swab64(x)		__builtin_bswap64(x)

#define PLAT_UNALIGNED(order, bits)					\
static inline u##bits get_unaligned_##order##bits(const void *p)	\
{									\
	u##bits raw;							\
									\
	memcpy(&raw, p, sizeof(raw));					\
	return plat_##order(bits, raw);					\
}									\
static inline void put_unaligned_##order##bits(u##bits val, void *p)	\
{									\
	u##bits raw = plat_##order(bits, val);				\
									\
	memcpy(p, &raw, sizeof(raw));					\
}
PLAT_UNALIGNED(le, 16)
PLAT_UNALIGNED(le, 32)
PLAT_UNALIGNED(le, 64)
PLAT_UNALIGNED(be, 16)
PLAT_UNALIGNED(be, 32)
PLAT_UNALIGNED(be, 64)
#undef PLAT_UNALIGNED

#endif
