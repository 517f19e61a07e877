/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies to and from a range of a fragmented buffer, and splits such a range into fragments. */
#include "plat.h"
#include <lnet/lnd.h>

/* A position in a fragmented buffer: byte @at of fragment @ix. */
struct spot {
	const struct lnet_frag *frags;
	u32 ix, nr, at;
};

static struct spot spot_find(const struct lnet_buf *buf, u32 pos)
{
	struct spot s = { .frags = buf->frags, .nr = buf->nr };
	u64 left = (u64)buf->offset + pos;

	while (s.ix < s.nr && left >= s.frags[s.ix].len)
		left -= s.frags[s.ix++].len;
	s.at = (u32)left;
	return s;
}

/*
 * Sets @piece to the remaining bytes of the current fragment, at most @len, and advances. False:
 * there are no bytes.
 */
static bool spot_piece(struct spot *s, u32 len, struct lnet_frag *piece)
{
	while (s->ix < s->nr && s->at == s->frags[s->ix].len) {
		s->ix++;
		s->at = 0;
	}
	if (s->ix == s->nr || !len)
		return false;
	piece->base = (u8 *)s->frags[s->ix].base + s->at;
	piece->len = min(len, s->frags[s->ix].len - s->at);
	s->at += piece->len;
	return true;
}

/*
 * Copies @len bytes between @mem and byte @pos of @buf. @write: from @mem to @buf; otherwise from
 * @buf to @mem.
 */
static __always_inline void copy(const struct lnet_buf *buf, u32 pos, u8 *mem, u32 len, bool write)
{
	u64 from = (u64)buf->offset + pos;
	struct lnet_frag piece;
	struct spot s;
	u8 *at;

	/* the usual case: all bytes are in the first fragment */
	if (likely(buf->nr && len && from + len <= buf->frags->len)) {
		at = (u8 *)buf->frags->base + from;
		memcpy(write ? at : mem, write ? mem : at, len);
		return;
	}
	s = spot_find(buf, pos);
	for (; spot_piece(&s, len, &piece); len -= piece.len, mem += piece.len)
		memcpy(write ? piece.base : mem, write ? mem : piece.base, piece.len);
	WARN_ON_ONCE(len);
}

void lnet_buf_write(const struct lnet_buf *buf, u32 pos, const void *from, u32 len)
{
	copy(buf, pos, (u8 *)from, len, true);
}

void lnet_buf_read(const struct lnet_buf *buf, u32 pos, void *to, u32 len)
{
	copy(buf, pos, to, len, false);
}

unsigned int lnet_buf_frags(const struct lnet_buf *buf, u32 pos, u32 len, struct lnet_frag *out,
			    unsigned int max)
{
	struct spot s = spot_find(buf, pos);
	unsigned int nr = 0;

	for (; nr < max && spot_piece(&s, len, &out[nr]); nr++)
		len -= out[nr].len;
	return nr;
}
