/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Encodes the ping info of this node, and decodes the ping infos of other nodes. */
#include "lnet/wire.h"

#define HEAD_SIZE (sizeof(struct lnet_wire_ping) + sizeof(struct lnet_wire_ping_ni))

/* Returns the bytes of a NID in a large entry of a ping info, without the padding. */
static unsigned int nid_bytes(const struct lnet_nid *nid)
{
	return nid->size + 8;
}

static unsigned int large_bytes(const struct lnet_nid *nid)
{
	return sizeof(u32) + ((nid_bytes(nid) + 3) & ~3U);
}

/* ---- writing ---- */

unsigned int lnet_pinginfo_size(const struct lnet_pinginfo_ni *nis, unsigned int nr)
{
	unsigned int i, size = HEAD_SIZE;

	for (i = 0; i < nr; i++)
		size += lnet_nid_is_nid4(&nis[i].nid) ? sizeof(struct lnet_wire_ping_ni) :
							large_bytes(&nis[i].nid);
	return size;
}

static u8 *small_put(u8 *p, u64 nid, u32 status, u32 msg_size)
{
	struct lnet_wire_ping_ni *w = (struct lnet_wire_ping_ni *)p;

	w->nid = nid;
	w->status = status;
	w->msg_size = msg_size;
	return p + sizeof(*w);
}

int lnet_pinginfo_encode(u8 *buf, unsigned int size, u32 features, u32 pid, u32 seq,
			 const struct lnet_pinginfo_ni *nis, unsigned int nr)
{
	u32 known = LNET_FEAT_LARGE_ADDR | LNET_FEAT_PRIMARY_LARGE | LNET_FEAT_METADATA;
	struct lnet_wire_ping *head = (struct lnet_wire_ping *)buf;
	unsigned int i, total, nr_small = 0;
	struct lnet_wire_ping_large *w;
	u8 *small, *large;
	u32 flags = 0;

	if (nr >= LNET_PINGINFO_NIDS_MAX)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (lnet_nid_is_any(&nis[i].nid) || !lnet_nid_is_sane(&nis[i].nid))
			return -EINVAL;
		if (lnet_nid_is_nid4(&nis[i].nid))
			nr_small++;
		else
			flags |= LNET_FEAT_LARGE_ADDR | (i ? 0 : LNET_FEAT_PRIMARY_LARGE);
	}
	total = lnet_pinginfo_size(nis, nr);
	if (total > size)
		return -ENOSPC;
	head->magic = LNET_PING_MAGIC;
	head->features = (features & ~known) | LNET_FEAT_NI_STATUS | flags;
	head->pid = pid;
	head->nnis = 1 + nr_small;
	small = small_put(buf + sizeof(*head), LNET_NID4_LO, seq, flags ? total : 0);
	large = small + nr_small * sizeof(struct lnet_wire_ping_ni);
	for (i = 0; i < nr; i++) {
		if (lnet_nid_is_nid4(&nis[i].nid)) {
			small = small_put(small, lnet_nid_to_nid4(&nis[i].nid), nis[i].status, 0);
			continue;
		}
		w = (struct lnet_wire_ping_large *)large;
		memset(w, 0, large_bytes(&nis[i].nid));
		w->status = nis[i].status;
		memcpy(&w->nid, &nis[i].nid, nid_bytes(&nis[i].nid));
		large += large_bytes(&nis[i].nid);
	}
	return total;
}

/* ---- reading ---- */

/* The received bytes of a ping info, and the array to which its NIDs are decoded. */
struct reader {
	struct lnet_pinginfo *out;
	const u8 *buf;
	unsigned int len;
	struct lnet_pinginfo_ni *nis;
	unsigned int max;
};

static u32 word32(const struct reader *r, u32 value)
{
	return r->out->swapped ? swab32(value) : value;
}

static u64 word64(const struct reader *r, u64 value)
{
	return r->out->swapped ? swab64(value) : value;
}

/*
 * Stores an entry of the ping info. Ignores a NID that no host can have. Counts an entry for which
 * @nis has no room. True: the entry is stored.
 */
static bool ni_store(struct reader *r, const struct lnet_nid *nid, u32 status)
{
	if (!lnet_nid_is_host(nid))
		return false;
	r->out->nr_seen++;
	if (r->out->nr == r->max)
		return false;
	r->nis[r->out->nr++] = (struct lnet_pinginfo_ni){ *nid, word32(r, status) };
	return true;
}

/*
 * Decodes the large entries. Skips entries of a size that no NID has, and stops at the first
 * incomplete entry.
 */
static void larges_read(struct reader *r, unsigned int pos)
{
	unsigned int end = min(r->len, r->out->size), bytes;
	const struct lnet_wire_ping_large *w;
	struct lnet_pinginfo_ni primary;

	for (; end > pos && end - pos >= sizeof(u32) + 8; pos += bytes) {
		struct lnet_nid nid = { 0 };

		w = (const struct lnet_wire_ping_large *)(r->buf + pos);
		bytes = large_bytes(&w->nid);
		if (end - pos < bytes)
			return;
		if (w->nid.size > LNET_NID_SIZE_MAX)
			continue;
		memcpy(&nid, &w->nid, nid_bytes(&w->nid));
		if (!ni_store(r, &nid, w->status) || r->out->has_primary ||
		    !(r->out->features & LNET_FEAT_PRIMARY_LARGE))
			continue;
		/* If a large NID is the primary NID, it is moved to index 0. */
		r->out->has_primary = true;
		primary = r->nis[r->out->nr - 1];
		memmove(r->nis + 1, r->nis, (r->out->nr - 1) * sizeof(primary));
		r->nis[0] = primary;
	}
}

/* Decodes the fixed part of a ping info. Returns -EPROTO if the bytes are no usable ping info. */
static int ping_head_read(struct reader *r, u32 *nnis, u32 *msg_size)
{
	const struct lnet_wire_ping *w = (const struct lnet_wire_ping *)r->buf;
	const struct lnet_wire_ping_ni *lo = (const void *)(w + 1);
	struct lnet_pinginfo *out = r->out;

	if (r->len < HEAD_SIZE)
		return -EPROTO;
	out->swapped = w->magic == swab32(LNET_PING_MAGIC);
	if (!out->swapped && w->magic != LNET_PING_MAGIC)
		return -EPROTO;
	out->features = word32(r, w->features);
	out->pid = word32(r, w->pid);
	out->seq = word32(r, lo->status);
	*nnis = word32(r, w->nnis);
	*msg_size = word32(r, lo->msg_size) & ~3U;
	if (!(out->features & LNET_FEAT_NI_STATUS) || word64(r, lo->nid) != LNET_NID4_LO)
		return -EPROTO;
	return *nnis >= 1 && *nnis <= LNET_PINGINFO_NIDS_MAX ? 0 : -EPROTO;
}

int lnet_pinginfo_decode(struct lnet_pinginfo *out, const u8 *buf, unsigned int len,
			 struct lnet_pinginfo_ni *nis, unsigned int max)
{
	struct reader r = { out, buf, len, nis, max };
	const struct lnet_wire_ping_ni *w = (const struct lnet_wire_ping_ni *)(buf + HEAD_SIZE);
	u32 nnis, msg_size, i;
	struct lnet_nid nid;
	unsigned int small;

	memset(out, 0, sizeof(*out));
	if (ping_head_read(&r, &nnis, &msg_size))
		goto corrupt;
	small = sizeof(struct lnet_wire_ping) + nnis * sizeof(struct lnet_wire_ping_ni);
	out->size = small;
	if ((out->features & LNET_FEAT_LARGE_ADDR) && msg_size > small)
		out->size = msg_size;
	if (out->size > LNET_PINGINFO_MAX)
		goto corrupt;
	for (i = 0; i < min(nnis - 1, (u32)((len - HEAD_SIZE) / sizeof(*w))); i++) {
		lnet_nid_from_nid4(&nid, word64(&r, w[i].nid));
		ni_store(&r, &nid, w[i].status);
	}
	out->has_primary = !(out->features & LNET_FEAT_PRIMARY_LARGE) && out->nr > 0;
	larges_read(&r, small);
	if (len < out->size)
		return -EMSGSIZE;
	return out->nr < out->nr_seen ? -ENOBUFS : 0;

corrupt:
	memset(out, 0, sizeof(*out));
	return -EPROTO;
}
