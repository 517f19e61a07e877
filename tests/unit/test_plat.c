/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/user/plat*.h: the kernel's names mean the same in user space as in the kernel. */
#include "unit.h"
#include <lnet/hash.h>

struct item {
	int val;
	struct list_head link;
	struct hlist_node node;
};

static void fill(struct list_head *head, struct item *items, int nr)
{
	int i;

	INIT_LIST_HEAD(head);
	for (i = 0; i < nr; i++) {
		items[i].val = i;
		list_add_tail(&items[i].link, head);
	}
}

/* Returns the values of a list as digits, read forwards; -1 if the list is different backwards. */
static int digits(struct list_head *head)
{
	struct item *item;
	int fwd = 0, bwd = 0, scale = 1;

	list_for_each_entry(item, head, link)
		fwd = fwd * 10 + item->val + 1;
	list_for_each_entry_reverse(item, head, link) {
		bwd += (item->val + 1) * scale;
		scale *= 10;
	}
	return fwd == bwd ? fwd : -1;
}

static void test_list_order(void)
{
	struct item items[4], *item, *next;
	struct list_head head;

	fill(&head, items, 4);
	UNIT_EQUAL(digits(&head), 1234, "added");
	list_move(&items[2].link, &head);
	UNIT_EQUAL(digits(&head), 3124, "moved to front");
	list_move_tail(&items[0].link, &head);
	UNIT_EQUAL(digits(&head), 3241, "moved to end");
	list_for_each_entry_safe(item, next, &head, link)
		if (item->val % 2)
			list_del_init(&item->link);
	UNIT_EQUAL(digits(&head), 31, "deleted while walking");
	CU_ASSERT(list_empty(&items[1].link));
	UNIT_EQUAL(list_count_nodes(&head), 2, "counted");
	CU_ASSERT(list_is_last(&items[0].link, &head) && list_is_first(&items[2].link, &head));
	list_del(&items[0].link);
	CU_ASSERT(list_is_singular(&head));
	list_del(&items[2].link);
	CU_ASSERT(list_empty(&head));
	CU_ASSERT_PTR_NULL(list_first_entry_or_null(&head, struct item, link));
}

static void test_list_splice(void)
{
	struct item a[3], b[3], extra = { .val = 8 };
	struct list_head to, from;
	int i;

	fill(&to, a, 3);
	fill(&from, b, 3);
	for (i = 0; i < 3; i++)
		b[i].val += 3;
	list_splice_tail_init(&from, &to);
	UNIT_EQUAL(digits(&to), 123456, "tail");
	CU_ASSERT(list_empty(&from));
	list_splice_init(&from, &to);
	UNIT_EQUAL(digits(&to), 123456, "empty");
	list_bulk_move_tail(&from, &a[1].link, &b[0].link);
	UNIT_EQUAL(digits(&from), 234, "bulk, taken");
	UNIT_EQUAL(digits(&to), 156, "bulk, left");
	list_splice_init(&from, &to);
	UNIT_EQUAL(digits(&to), 234156, "front");
	list_replace_init(&a[0].link, &extra.link);
	UNIT_EQUAL(digits(&to), 234956, "replaced");
	CU_ASSERT(list_empty(&a[0].link));
}

static void test_hlist(void)
{
	struct item items[3] = { { .val = 0 }, { .val = 1 }, { .val = 2 } }, *item;
	HLIST_HEAD(head);
	HLIST_HEAD(other);
	struct hlist_node *next;
	int got = 0;

	INIT_HLIST_NODE(&items[0].node);
	CU_ASSERT(hlist_unhashed(&items[0].node) && hlist_empty(&head));
	hlist_add_head(&items[1].node, &head);
	hlist_add_before(&items[0].node, &items[1].node);
	hlist_add_behind(&items[2].node, &items[1].node);
	hlist_move_list(&head, &other);
	CU_ASSERT(hlist_empty(&head));
	hlist_for_each_entry(item, &other, node)
		got = got * 10 + item->val + 1;
	UNIT_EQUAL(got, 123, "order");
	hlist_for_each_entry_safe(item, next, &other, node)
		if (item->val != 1)
			hlist_del_init(&item->node);
	CU_ASSERT(other.first == &items[1].node && !items[1].node.next);
	hlist_del_init(&items[1].node);
	hlist_del_init(&items[1].node);
	CU_ASSERT(hlist_empty(&other));
}

static void test_numbers(void)
{
	u64 n = 10000000000ULL;
	u32 rem;
	int a = 1, b = 2;

	UNIT_EQUAL(min_t(u32, 7, 3), 3, "min_t");
	UNIT_EQUAL(clamp(12, 3, 9), 9, "clamp above");
	UNIT_EQUAL(clamp(1, 3, 9), 3, "clamp below");
	UNIT_EQUAL(min_not_zero(0, 5), 5, "min_not_zero");
	swap(a, b);
	UNIT_EQUAL(a * 10 + b, 21, "swap");
	UNIT_EQUAL(do_div(n, 7), 10000000000ULL % 7, "remainder of do_div");
	UNIT_EQUAL(n, 10000000000ULL / 7, "do_div");
	UNIT_EQUAL(div_u64_rem(1ULL << 40, 3, &rem), (1ULL << 40) / 3, "div_u64_rem");
	UNIT_EQUAL(mul_u64_u64_div_u64(U64_MAX, 6, 12), U64_MAX / 2, "mul div");
	UNIT_EQUAL(DIV_ROUND_UP(9, 8), 2, "DIV_ROUND_UP");
	UNIT_EQUAL(ALIGN(9, 8), 16, "ALIGN");
	UNIT_EQUAL(fls(0), 0, "fls(0)");
	UNIT_EQUAL(fls(0x80000000u), 32, "fls(top)");
	UNIT_EQUAL(fls64(1ULL << 63), 64, "fls64(top)");
	UNIT_EQUAL(ffs(8), 4, "ffs");
	UNIT_EQUAL(ilog2(4097), 12, "ilog2");
	UNIT_EQUAL(roundup_pow_of_two(65), 128, "roundup_pow_of_two");
	UNIT_EQUAL(hweight64(U64_MAX), 64, "hweight64");
	UNIT_EQUAL(size_mul(SIZE_MAX, 2), SIZE_MAX, "saturates");
}

static void test_bitmap(void)
{
	DECLARE_BITMAP(map, 130);
	unsigned long bit, nr = 0;

	bitmap_zero(map, 130);
	CU_ASSERT(bitmap_empty(map, 130));
	UNIT_EQUAL(find_first_bit(map, 130), 130, "none set");
	__set_bit(0, map);
	set_bit(64, map);
	CU_ASSERT(!__test_and_set_bit(129, map));
	CU_ASSERT(test_and_set_bit(129, map));
	for_each_set_bit(bit, map, 130)
		nr = nr * 1000 + bit;
	UNIT_EQUAL(nr, 64129, "walk");
	UNIT_EQUAL(find_next_bit(map, 130, 65), 129, "next");
	UNIT_EQUAL(find_first_zero_bit(map, 130), 1, "first zero");
	memset(map, 0xff, sizeof(map));
	UNIT_EQUAL(find_first_zero_bit(map, 130), 130, "no zero within the size");
	clear_bit(64, map);
	CU_ASSERT(!test_bit(64, map) && test_bit(65, map));
	UNIT_EQUAL(find_next_zero_bit(map, 130, 3), 64, "next zero");
}

static void test_byte_order(void)
{
	u8 raw[9] = { 0xff, 1, 2, 3, 4, 5, 6, 7, 8 };
	__le32 le = cpu_to_le32(0x11223344);
	__be16 be = cpu_to_be16(0x1122);

	UNIT_EQUAL(get_unaligned_le16(raw + 1), 0x0201, "le16");
	UNIT_EQUAL(get_unaligned_be32(raw + 1), 0x01020304, "be32");
	UNIT_EQUAL(get_unaligned_le64(raw + 1), 0x0807060504030201ULL, "le64");
	put_unaligned_be64(0x1112131415161718ULL, raw + 1);
	UNIT_EQUAL(raw[1], 0x11, "first of be64");
	UNIT_EQUAL(raw[8], 0x18, "last of be64");
	UNIT_EQUAL(*(u8 *)&le, 0x44, "le32 in memory");
	UNIT_EQUAL(*(u8 *)&be, 0x11, "be16 in memory");
	UNIT_EQUAL(le32_to_cpu(le), 0x11223344, "le32 back");
	UNIT_EQUAL(be16_to_cpu(be), 0x1122, "be16 back");
}

static void test_parse(void)
{
	static const struct {
		const char *text;
		unsigned int base;
		int rc;
		unsigned int val;
	} rows[] = {
		{"0", 0, 0, 0},
		{"42\n", 10, 0, 42},
		{"+7", 10, 0, 7},
		{"0x1F", 0, 0, 31},
		{"1f", 16, 0, 31},
		{"010", 0, 0, 8},
		{"010", 10, 0, 10},
		{"4294967295", 0, 0, U32_MAX},
		{"4294967296", 0, -ERANGE, 0},
		{"99999999999999999999", 0, -ERANGE, 0},
		{"", 0, -EINVAL, 0},
		{" 1", 0, -EINVAL, 0},
		{"1 ", 0, -EINVAL, 0},
		{"-1", 0, -EINVAL, 0},
		{"0x", 0, -EINVAL, 0},
		{"9", 8, -EINVAL, 0},
		{"1\n\n", 0, -EINVAL, 0},
	};
	unsigned int i, val;
	int sgn;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		val = 0;
		UNIT_EQUAL(kstrtouint(rows[i].text, rows[i].base, &val), rows[i].rc, rows[i].text);
		UNIT_EQUAL(val, rows[i].val, rows[i].text);
	}
	UNIT_EQUAL(kstrtoint("-2147483648", 0, &sgn), 0, "least int");
	UNIT_EQUAL(sgn, INT_MIN, "least int");
	UNIT_EQUAL(kstrtoint("2147483648", 0, &sgn), -ERANGE, "too great an int");
}

static void test_text(void)
{
	char buf[5] = "....";

	UNIT_EQUAL(scnprintf(buf, sizeof(buf), "%d", 123456), 4, "cut");
	UNIT_TEXT(buf, "1234", "cut");
	UNIT_EQUAL(scnprintf(buf, 0, "x"), 0, "no room");
	UNIT_EQUAL(strscpy(buf, "abc", sizeof(buf)), 3, "fits");
	UNIT_EQUAL(strscpy(buf, "abcde", sizeof(buf)), -E2BIG, "too long");
	UNIT_TEXT(buf, "abcd", "too long");
}

static void test_memory(void)
{
	u8 *p = kcalloc(4, 4, GFP_KERNEL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT(p[0] == 0 && p[15] == 0);
	kfree(p);
	CU_ASSERT_PTR_NULL(kmalloc_array(SIZE_MAX, 2, GFP_KERNEL));
	unit_fail_alloc(2);
	p = kmalloc(1, GFP_NOFS);
	CU_ASSERT_PTR_NOT_NULL(p);
	CU_ASSERT_PTR_NULL(kmemdup("x", 1, GFP_NOFS));
	unit_fail_alloc(0);
	kfree(p);
	kfree(NULL);
	CU_ASSERT(IS_ERR(ERR_PTR(-ENOMEM)) && PTR_ERR(ERR_PTR(-ENOMEM)) == -ENOMEM && !IS_ERR(&p));
}

static void test_atomics(void)
{
	atomic_t v = ATOMIC_INIT(1);
	refcount_t r = REFCOUNT_INIT(1);
	u32 word = 3;

	UNIT_EQUAL(atomic_add_return(4, &v), 5, "add");
	UNIT_EQUAL(atomic_cmpxchg(&v, 4, 9), 5, "cmpxchg, other");
	UNIT_EQUAL(atomic_cmpxchg(&v, 5, 0), 5, "cmpxchg, same");
	CU_ASSERT(!atomic_inc_not_zero(&v) && atomic_read(&v) == 0);
	UNIT_EQUAL(cmpxchg(&word, 3, 8), 3, "cmpxchg of a word");
	UNIT_EQUAL(xchg(&word, 1), 8, "xchg of a word");
	refcount_inc(&r);
	CU_ASSERT(!refcount_dec_and_test(&r) && refcount_dec_and_test(&r));
	CU_ASSERT(!refcount_inc_not_zero(&r));
}

static void test_locks(void)
{
	DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	lockdep_assert_held(&lock);
	CU_ASSERT(!spin_trylock(&lock));
	CU_ASSERT(plat_mutex_mine(&lock.mutex));
	spin_unlock(&lock);
	CU_ASSERT(!plat_mutex_mine(&lock.mutex));
	CU_ASSERT(spin_trylock(&lock));
	spin_unlock(&lock);
	UNIT_EQUAL(plat_nr_spin, 0, "locks held at the end");
}

static void test_hash(void)
{
	static const u8 text[] = "0123456789abcdef";

	UNIT_EQUAL(lnet_hash64(0), 0, "zero");
	UNIT_EQUAL(lnet_hash64(1), 0x4179b061e0c0e0d0ULL, "one, by another program");
	CU_ASSERT(lnet_hash_bytes(text, 9, 0) != lnet_hash_bytes(text, 10, 0));
	CU_ASSERT(lnet_hash_bytes(text, 9, 0) != lnet_hash_bytes(text, 9, 1));
	UNIT_EQUAL(lnet_hash_bytes(text, 16, 5), lnet_hash_bytes("0123456789abcdef", 16, 5),
		   "same bytes");
}

UNIT_SUITE(plat,
	{ "lists keep order while nodes move", test_list_order },
	{ "lists splice whole and in part", test_list_splice },
	{ "hash chains insert and delete anywhere", test_hlist },
	{ "arithmetic and logarithms", test_numbers },
	{ "bit maps end at their size", test_bitmap },
	{ "byte order and unaligned access", test_byte_order },
	{ "text to numbers is strict", test_parse },
	{ "texts are cut, never overrun", test_text },
	{ "memory, and its failure on demand", test_memory },
	{ "atomics and reference counts", test_atomics },
	{ "locks know who holds them", test_locks },
	{ "hashes are stable and use every byte", test_hash })
