/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of a bulk transfer of a drill. It has parts of a MiB, which consist of fragments. */
#ifndef LNET_SELFTEST_STORE_H
#define LNET_SELFTEST_STORE_H

#include "crc32c.h"
#include "plan.h"

struct lst_store {
	u8 *mem;
	/* per_part: fragments of each part except the last */
	u32 len, nr_parts, nr_frags, per_part;
	struct lnet_frag *frag;
	/* all bytes are written, except those that differ for each transfer */
	bool filled;
};

/*
 * Allocates memory as @p defines. The previous contents are lost. May sleep. Returns 0 or -ENOMEM.
 */
int lst_store_make(struct lst_store *s, const struct lst_plan *p);
void lst_store_free(struct lst_store *s);
static inline u32 lst_plan_parts(const struct lst_plan *p)
{
	return DIV_ROUND_UP((u32)p->size, LNET_MTU);
}
/* Returns the fragments of a part, and their number in *@nr. */
const struct lnet_frag *lst_store_part(const struct lst_store *s, u32 part, u32 *nr);

/* ---- verify.c: contents of the memory -------------------------------------------------------- */

struct lst_verifier {
	u8 how;				/* enum lst_verify */
	u32 every;
	const struct lst_crc32c *crc;	/* for LST_VERIFY_CRC32C */
};

/*
 * Range from the first to the last wrong byte. If len is 0, no byte is wrong, or the range is
 * unknown.
 */
struct lst_bad {
	u32 off, len;
};

/*
 * Writes the data to send. @salt is equal at sender and receiver of a transfer. Returns the
 * checksum, or 0 if there is none.
 */
u32 lst_verify_fill(const struct lst_verifier *v, struct lst_store *s, u64 salt);
/* At each position that verification checks, writes data that no transfer contains. */
void lst_verify_spoil(const struct lst_verifier *v, struct lst_store *s);
/* Does @s contain the data that was sent? If not, stores the range of wrong bytes in @bad. */
bool lst_verify_good(const struct lst_verifier *v, const struct lst_store *s, u64 salt, u32 crc,
		     struct lst_bad *bad);

#endif
