/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes that the sender of a bulk transfer writes to memory, and that the receiver verifies.
 * They depend on the kind of check:
 *
 *	NONE		any contents; no byte is written or verified
 *	SIMPLE		eight known bytes at the start of each @every bytes (struct lst_verifier)
 *	CRC32C		eight bytes at the start of each page, computed from the number of the
 *			transfer and from their position; the other bytes are the same in all
 *			transfers; a checksum covers all bytes
 *	FULL		all bytes, computed from the number of the transfer and from their position
 */
#include "store.h"

#define MARK	0x7ab1e50fc0ffee11ULL
#define SPOIL	0xdeadda7adeadda7aULL
#define WORD	8U
#define PAGE	4096U

/* One pass over the fragments of a transfer: writes or compares a word at every @step bytes. */
struct pass {
	u64 (*word)(u64 salt, u32 at);
	u64 salt;
	u32 step;
	bool compare;
	u32 first_bad, last_bad;	/* first > last: none */
};

static u64 mark(u64 salt, u32 at)
{
	return MARK;
}

static u64 spoil(u64 salt, u32 at)
{
	return SPOIL;
}

static u64 salted(u64 salt, u32 at)
{
	return lst_mix(salt + at);
}

static void bad_byte(struct pass *p, u32 at)
{
	if (p->first_bad > p->last_bad)
		p->first_bad = at;
	p->last_bad = at;
}

/*
 * Writes or compares bytes @from to @to of the word at offset @at of the transfer. Byte @from is at
 * @mem.
 */
static void pass_piece(struct pass *p, u8 *mem, u32 at, u32 from, u32 to)
{
	__le64 word = cpu_to_le64(p->word(p->salt, at));
	const u8 *bytes = (const u8 *)&word + from;
	u32 i;

	if (!p->compare) {
		memcpy(mem, bytes, to - from);
		return;
	}
	if (!memcmp(mem, bytes, to - from))
		return;
	for (i = 0; i < to - from; i++)
		if (mem[i] != bytes[i])
			bad_byte(p, at + from + i);
}

/* Writes or compares the @len bytes at @mem, which begin at offset @begin of the transfer. */
static void fragment(struct pass *p, u8 *mem, u32 begin, u32 len)
{
	u32 end = begin + len, at = begin - begin % p->step;

	for (; at < end; at += p->step) {
		u32 from = at < begin ? begin - at : 0, to = min(WORD, end - at);

		if (from < to)
			pass_piece(p, mem + (at + from - begin), at, from, to);
	}
}

static void pass_run(struct pass *p, const struct lst_store *s)
{
	u32 part, i, nr, begin = 0;

	p->first_bad = 1;
	p->last_bad = 0;
	for (part = 0; part < s->nr_parts; part++) {
		const struct lnet_frag *frag = lst_store_part(s, part, &nr);

		for (i = 0; i < nr; begin += frag[i++].len)
			fragment(p, frag[i].base, begin, frag[i].len);
	}
}

static u32 checksum(const struct lst_verifier *v, const struct lst_store *s, u64 salt)
{
	__le64 head = cpu_to_le64(salt);
	u32 part, i, nr, crc = lst_crc32c(v->crc, ~0U, (const u8 *)&head, sizeof(head));

	for (part = 0; part < s->nr_parts; part++) {
		const struct lnet_frag *frag = lst_store_part(s, part, &nr);

		for (i = 0; i < nr; i++)
			crc = lst_crc32c(v->crc, crc, frag[i].base, frag[i].len);
	}
	return ~crc;
}

u32 lst_verify_fill(const struct lst_verifier *v, struct lst_store *s, u64 salt)
{
	struct pass all = { .word = salted, .salt = v->how == LST_VERIFY_FULL ? salt : 0,
			    .step = WORD };
	struct pass some = { .word = mark, .salt = salt, .step = v->every };

	if (v->how == LST_VERIFY_SIMPLE) {
		pass_run(&some, s);
	} else if (v->how == LST_VERIFY_FULL) {
		pass_run(&all, s);
	} else if (v->how == LST_VERIFY_CRC32C) {
		some.word = salted;
		some.step = PAGE;
		if (!s->filled)
			pass_run(&all, s);
		s->filled = true;
		pass_run(&some, s);
		return checksum(v, s, salt);
	}
	return 0;
}

void lst_verify_spoil(const struct lst_verifier *v, struct lst_store *s)
{
	struct pass marks = { .word = spoil, .step = v->every };

	if (v->how == LST_VERIFY_SIMPLE)
		pass_run(&marks, s);
}

bool lst_verify_good(const struct lst_verifier *v, const struct lst_store *s, u64 salt, u32 crc,
		     struct lst_bad *bad)
{
	struct pass p = { .word = mark, .salt = salt, .step = v->every, .compare = true };

	if (v->how == LST_VERIFY_NONE)
		return true;
	*bad = (struct lst_bad){ 0 };
	if (v->how == LST_VERIFY_CRC32C)
		return checksum(v, s, salt) == crc;
	if (v->how == LST_VERIFY_FULL) {
		p.word = salted;
		p.step = WORD;
	}
	pass_run(&p, s);
	if (p.first_bad > p.last_bad)
		return true;
	*bad = (struct lst_bad){ p.first_bad, p.last_bad - p.first_bad + 1 };
	return false;
}
