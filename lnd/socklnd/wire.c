/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver's codecs: acceptor request, HELLO, connection types, frame header, zero-copy. */
#include "plat.h"
#include "wire.h"

/* The magic of a query for the acceptor's version; the HELLO has the same magic. */
#define ACR_QUERY_MAGIC LNET_HELLO_MAGIC
#define HELLO_PREFIX 8U		/* magic and version */

static u32 order32(u32 value, bool swapped)
{
	return swapped ? swab32(value) : value;
}

static u64 order64(u64 value, bool swapped)
{
	return swapped ? swab64(value) : value;
}

/* ---- acceptor request ---- */

unsigned int lnet_acr_encode(u8 *buf, const struct lnet_acr *acr)
{
	struct lnet_wire_acr1 *v1 = (struct lnet_wire_acr1 *)buf;
	struct lnet_wire_acr2 *v2 = (struct lnet_wire_acr2 *)buf;

	v1->magic = order32(LNET_ACR_MAGIC, acr->swapped);
	v1->version = order32(acr->version, acr->swapped);
	if (acr->version == 1) {
		v1->nid = order64(lnet_nid_to_nid4(&acr->nid), acr->swapped);
		return sizeof(*v1);
	}
	v2->nid = acr->nid;
	return sizeof(*v2);
}

unsigned int lnet_acr_reply(u8 *buf)
{
	struct lnet_wire_acr1 *w = (struct lnet_wire_acr1 *)buf;

	w->magic = LNET_ACR_MAGIC;
	w->version = 1;
	w->nid = 0;
	return sizeof(*w);
}

/* MORE: fewer than @wanted bytes were received. */
static enum lnet_acr_what acr_wants(unsigned int len, unsigned int *need, unsigned int wanted)
{
	*need = wanted;
	return len < wanted ? LNET_ACR_MORE : LNET_ACR_OK;
}

static enum lnet_acr_what acr_magic(struct lnet_acr *acr, u32 magic)
{
	acr->swapped = magic == swab32(LNET_ACR_MAGIC);
	if (acr->swapped || magic == LNET_ACR_MAGIC)
		return LNET_ACR_OK;
	if (magic == ACR_QUERY_MAGIC || magic == swab32(ACR_QUERY_MAGIC))
		return LNET_ACR_REPLY;
	return LNET_ACR_CLOSE;
}

static enum lnet_acr_what acr_nid(struct lnet_acr *acr, const u8 *buf)
{
	if (acr->version == 1) {
		const struct lnet_wire_acr1 *v1 = (const struct lnet_wire_acr1 *)buf;

		lnet_nid_from_nid4(&acr->nid, order64(v1->nid, acr->swapped));
		return LNET_ACR_OK;
	}
	acr->nid = ((const struct lnet_wire_acr2 *)buf)->nid;
	return lnet_nid_is_sane(&acr->nid) ? LNET_ACR_OK : LNET_ACR_CLOSE;
}

enum lnet_acr_what lnet_acr_decode(struct lnet_acr *acr, const u8 *buf, unsigned int len,
				   unsigned int *need)
{
	const struct lnet_wire_acr1 *w = (const struct lnet_wire_acr1 *)buf;
	enum lnet_acr_what what;

	memset(acr, 0, sizeof(*acr));
	if (acr_wants(len, need, offsetof(struct lnet_wire_acr1, version)) == LNET_ACR_MORE)
		return LNET_ACR_MORE;
	what = acr_magic(acr, w->magic);
	if (what != LNET_ACR_OK)
		return what;
	if (acr_wants(len, need, offsetof(struct lnet_wire_acr1, nid)) == LNET_ACR_MORE)
		return LNET_ACR_MORE;
	acr->version = order32(w->version, acr->swapped);
	if (acr->version != 1 && acr->version != 2)
		return LNET_ACR_REPLY;
	what = acr_wants(len, need, acr->version == 1 ? LNET_ACR1_SIZE : LNET_ACR2_SIZE);
	return what == LNET_ACR_OK ? acr_nid(acr, buf) : what;
}

/* ---- HELLO ---- */

static unsigned int hello3_encode(struct lnet_wire_hello3 *w, const struct lnet_hello *hello)
{
	bool swapped = hello->swapped;

	w->src_nid = order64(lnet_nid_to_nid4(&hello->src_nid), swapped);
	w->dst_nid = order64(lnet_nid_to_nid4(&hello->dst_nid), swapped);
	w->src_pid = order32(hello->src_pid, swapped);
	w->dst_pid = order32(hello->dst_pid, swapped);
	w->src_incarnation = order64(hello->src_incarnation, swapped);
	w->dst_incarnation = order64(hello->dst_incarnation, swapped);
	w->ctype = order32(hello->ctype, swapped);
	w->nips = 0;
	return sizeof(*w);
}

static unsigned int hello4_encode(struct lnet_wire_hello4 *w, const struct lnet_hello *hello)
{
	bool swapped = hello->swapped;

	w->src_nid = hello->src_nid;
	w->dst_nid = hello->dst_nid;
	w->src_pid = order32(hello->src_pid, swapped);
	w->dst_pid = order32(hello->dst_pid, swapped);
	w->src_incarnation = order64(hello->src_incarnation, swapped);
	w->dst_incarnation = order64(hello->dst_incarnation, swapped);
	w->ctype = order32(hello->ctype, swapped);
	w->nips = 0;
	return sizeof(*w);
}

unsigned int lnet_hello_encode(u8 *buf, const struct lnet_hello *hello)
{
	struct lnet_wire_hello3 *w = (struct lnet_wire_hello3 *)buf;

	w->magic = order32(LNET_HELLO_MAGIC, hello->swapped);
	w->version = order32(hello->version, hello->swapped);
	if (hello->version == 4)
		return hello4_encode((struct lnet_wire_hello4 *)buf, hello);
	return hello3_encode(w, hello);
}

/* Decodes the magic and the version, with which all formats begin. */
static enum lnet_hello_what hello_prefix(struct lnet_hello *hello, const u8 *buf)
{
	const struct lnet_wire_hello3 *w = (const struct lnet_wire_hello3 *)buf;

	if (get_unaligned_le32(buf) == LNET_HELLO_V1_MAGIC) {
		hello->version = 1;
		return get_unaligned_le32(buf + 4) == 1 ? LNET_HELLO_V1 : LNET_HELLO_BAD_VERSION;
	}
	hello->swapped = w->magic == swab32(LNET_HELLO_MAGIC);
	if (!hello->swapped && w->magic != LNET_HELLO_MAGIC)
		return LNET_HELLO_BAD_MAGIC;
	hello->version = order32(w->version, hello->swapped);
	return hello->version >= 2 && hello->version <= 4 ? LNET_HELLO_OK : LNET_HELLO_BAD_VERSION;
}

static void hello4_decode(struct lnet_hello *hello, const struct lnet_wire_hello4 *w)
{
	bool swapped = hello->swapped;

	hello->src_nid = w->src_nid;
	hello->dst_nid = w->dst_nid;
	hello->src_pid = order32(w->src_pid, swapped);
	hello->dst_pid = order32(w->dst_pid, swapped);
	hello->src_incarnation = order64(w->src_incarnation, swapped);
	hello->dst_incarnation = order64(w->dst_incarnation, swapped);
	hello->ctype = order32(w->ctype, swapped);
}

static void hello3_decode(struct lnet_hello *hello, const struct lnet_wire_hello3 *w)
{
	bool swapped = hello->swapped;

	lnet_nid_from_nid4(&hello->src_nid, order64(w->src_nid, swapped));
	lnet_nid_from_nid4(&hello->dst_nid, order64(w->dst_nid, swapped));
	hello->src_pid = order32(w->src_pid, swapped);
	hello->dst_pid = order32(w->dst_pid, swapped);
	hello->src_incarnation = order64(w->src_incarnation, swapped);
	hello->dst_incarnation = order64(w->dst_incarnation, swapped);
	hello->ctype = order32(w->ctype, swapped);
}

/*
 * Skips the IP addresses that follow a HELLO of version 2 or 3, because the driver does not use
 * them. If one of these addresses is zero, the HELLO is invalid.
 */
static enum lnet_hello_what hello3_ips(const struct lnet_hello *hello, const u8 *buf,
				       unsigned int len, unsigned int *need)
{
	const struct lnet_wire_hello3 *w = (const struct lnet_wire_hello3 *)buf;
	u32 i, nips = order32(w->nips, hello->swapped);

	if (nips > LNET_HELLO_NIPS_MAX)
		return LNET_HELLO_BAD_FIELD;
	*need = sizeof(*w) + nips * sizeof(u32);
	if (len < *need)
		return LNET_HELLO_MORE;
	for (i = 0; i < nips; i++)
		if (!get_unaligned_le32(buf + sizeof(*w) + i * sizeof(u32)))
			return LNET_HELLO_BAD_FIELD;
	return LNET_HELLO_OK;
}

enum lnet_hello_what lnet_hello_decode(struct lnet_hello *hello, const u8 *buf, unsigned int len,
				       unsigned int *need)
{
	enum lnet_hello_what what;

	memset(hello, 0, sizeof(*hello));
	*need = HELLO_PREFIX;
	if (len < *need)
		return LNET_HELLO_MORE;
	what = hello_prefix(hello, buf);
	if (what != LNET_HELLO_OK)
		return what;
	*need = hello->version == 4 ? sizeof(struct lnet_wire_hello4) :
				      sizeof(struct lnet_wire_hello3);
	if (len < *need)
		return LNET_HELLO_MORE;
	if (hello->version == 4)
		hello4_decode(hello, (const struct lnet_wire_hello4 *)buf);
	else
		hello3_decode(hello, (const struct lnet_wire_hello3 *)buf);
	if (lnet_nid_is_any(&hello->src_nid) || !lnet_nid_is_sane(&hello->src_nid))
		return LNET_HELLO_BAD_FIELD;
	return hello->version == 4 ? LNET_HELLO_OK : hello3_ips(hello, buf, len, need);
}

/* ---- connection types ---- */

u32 lnet_ctype_invert(u32 ctype)
{
	static const u32 inverse[] = {
		[LNET_CTYPE_ANY] = LNET_CTYPE_ANY,
		[LNET_CTYPE_CONTROL] = LNET_CTYPE_CONTROL,
		[LNET_CTYPE_BULK_IN] = LNET_CTYPE_BULK_OUT,
		[LNET_CTYPE_BULK_OUT] = LNET_CTYPE_BULK_IN,
	};

	return lnet_ctype_is_valid(ctype) ? inverse[ctype] : LNET_CTYPE_NONE;
}

const char *lnet_ctype_name(u32 ctype)
{
	static const char *const names[] = {
		[LNET_CTYPE_ANY] = "ANY",
		[LNET_CTYPE_CONTROL] = "CONTROL",
		[LNET_CTYPE_BULK_IN] = "BULK_IN",
		[LNET_CTYPE_BULK_OUT] = "BULK_OUT",
	};

	if (ctype == LNET_CTYPE_NONE)
		return "NONE";
	return lnet_ctype_is_valid(ctype) ? names[ctype] : "?";
}

unsigned int lnet_sock_conns_per_peer(u32 speed_mbps)
{
	u32 gbps = speed_mbps / 1000;
	unsigned int log2 = 0;

	while (gbps > 1) {
		gbps >>= 1;
		log2++;
	}
	return log2 / 2 + 1;
}

/* ---- frame header ---- */

unsigned int lnet_ksock_encode(u8 *buf, const struct lnet_ksock_hdr *hdr, bool swapped)
{
	struct lnet_wire_ksock *w = (struct lnet_wire_ksock *)buf;

	w->type = order32(hdr->type, swapped);
	w->csum = order32(hdr->csum, swapped);
	w->zc_cookie[0] = order64(hdr->zc_cookie[0], swapped);
	w->zc_cookie[1] = order64(hdr->zc_cookie[1], swapped);
	return sizeof(*w);
}

int lnet_ksock_decode(struct lnet_ksock_hdr *hdr, const u8 *buf, unsigned int len, bool swapped)
{
	const struct lnet_wire_ksock *w = (const struct lnet_wire_ksock *)buf;

	if (len < sizeof(*w))
		return -EMSGSIZE;
	hdr->type = order32(w->type, swapped);
	hdr->csum = order32(w->csum, swapped);
	hdr->zc_cookie[0] = order64(w->zc_cookie[0], swapped);
	hdr->zc_cookie[1] = order64(w->zc_cookie[1], swapped);
	return hdr->type == LNET_KSOCK_LNET || hdr->type == LNET_KSOCK_NOOP ? 0 : -EPROTO;
}

/* ---- zero-copy acknowledgements ---- */

static void zcack_set(struct lnet_zcack *ack, enum lnet_zcack_kind kind, u64 first, u64 last,
		      u64 nr)
{
	ack->kind = kind;
	ack->first = first;
	ack->last = last;
	ack->nr = nr;
}

void lnet_zcack_decode(struct lnet_zcack *ack, const struct lnet_ksock_hdr *hdr)
{
	u64 c1 = hdr->type == LNET_KSOCK_NOOP ? hdr->zc_cookie[0] : 0;
	u64 c2 = hdr->zc_cookie[1];

	if (!c1)
		c1 = c2;
	if (!c2)
		zcack_set(ack, LNET_ZCACK_NONE, 0, 0, 0);
	else if (c1 == LNET_ZC_COOKIE_KEEPALIVE && c2 == LNET_ZC_COOKIE_KEEPALIVE)
		zcack_set(ack, LNET_ZCACK_KEEPALIVE, 0, 0, 0);
	else if (c1 == LNET_ZC_COOKIE_KEEPALIVE || c2 == LNET_ZC_COOKIE_KEEPALIVE)
		zcack_set(ack, LNET_ZCACK_BAD, 0, 0, 0);
	else if (c1 == c2)
		zcack_set(ack, LNET_ZCACK_ONE, c1, c1, 1);
	else if (c1 > c2)
		zcack_set(ack, LNET_ZCACK_TWO, c2, c1, 2);
	else
		zcack_set(ack, LNET_ZCACK_RANGE, c1, c2, c2 - c1 + 1);
}

static bool pair_set(u64 pair[2], u64 c1, u64 c2)
{
	pair[0] = c1;
	pair[1] = c2;
	return true;
}

/*
 * Adds a third cookie to two cookies (the higher one first). If all three are consecutive, they
 * become a range.
 */
static bool two_merge(u64 pair[2], u64 cookie)
{
	u64 hi = pair[0], lo = pair[1];

	if (hi - lo == 2 && cookie == lo + 1)
		return pair_set(pair, lo, hi);
	if (hi - lo != 1)
		return false;
	if (cookie == hi + 1)
		return pair_set(pair, lo, cookie);
	return cookie + 1 == lo ? pair_set(pair, cookie, hi) : false;
}

bool lnet_zcack_merge(u64 pair[2], u64 cookie)
{
	u64 c1 = pair[0], c2 = pair[1];

	if (cookie < LNET_ZC_COOKIE_FIRST)
		return false;
	if (c2 <= LNET_ZC_COOKIE_KEEPALIVE)
		return pair_set(pair, 0, cookie);
	if (c1 == 0 || c1 == c2)
		return cookie != c2 && pair_set(pair, max(cookie, c2), min(cookie, c2));
	if (c1 > c2)
		return two_merge(pair, cookie);
	if (cookie == c2 + 1)
		return pair_set(pair, c1, cookie);
	return cookie + 1 == c1 ? pair_set(pair, cookie, c2) : false;
}
