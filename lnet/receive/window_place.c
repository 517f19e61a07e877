/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The places of duplicate windows, one per request, and the limit of the windows' memory. A place
 * holds an entry or the mark of a rejection. At window_memory the node drops windows of lost peers,
 * then the largest windows.
 */
#include "receive/receive.h"

#define MARK_REASON_SHIFT 1
#define LOST_MAX 256U			/* windows to check for one whose peer is lost */
#define LARGE_MAX 16U			/* windows to check for one that is not busy */

/* ---- places ---------------------------------------------------------------------------------- */

/* Entries are aligned, so an odd pointer is a mark. */
static bool is_mark(const struct lnet_entry *place)
{
	return (uintptr_t)place & 1;
}

struct lnet_entry *lnet_window_entry(const struct lnet_window *w, u64 seq)
{
	struct lnet_entry *place = w->entry[seq & (w->cap - 1)];

	return is_mark(place) ? NULL : place;
}

u32 lnet_window_rejected(const struct lnet_window *w, u64 seq)
{
	const struct lnet_entry *place = w->entry[seq & (w->cap - 1)];

	return is_mark(place) ? (u32)((uintptr_t)place >> MARK_REASON_SHIFT) : 0;
}

/* A window whose size varies around a power of 2 stays in its list. */
static void weigh(struct lnet_window *w)
{
	u8 weight = w->weight;

	if (w->nr_entries >= 2U << weight && weight < LNET_WINDOW_WEIGHTS - 1)
		weight++;
	else if (weight && w->nr_entries < 1U << (weight - 1))
		weight--;
	if (likely(weight == w->weight))
		return;
	w->weight = weight;
	list_move(&w->heavy, &w->sh->heavy[weight]);
}

void lnet_window_place(struct lnet_window *w, u64 seq, struct lnet_entry *e)
{
	w->entry[seq & (w->cap - 1)] = e;
	w->nr_entries++;
	w->sh->window_bytes += sizeof(*e);
	weigh(w);
}

struct lnet_entry *lnet_window_unplace(struct lnet_window *w, u64 seq)
{
	struct lnet_entry **place = &w->entry[seq & (w->cap - 1)], *e = *place;

	*place = NULL;
	if (!e || is_mark(e))
		return NULL;
	w->nr_entries--;
	w->sh->window_bytes -= sizeof(*e);
	weigh(w);
	return e;
}

void lnet_window_reject(struct lnet_window *w, struct lnet_entry *e)
{
	uintptr_t mark = (uintptr_t)e->reason << MARK_REASON_SHIFT | 1;

	lnet_window_unplace(w, e->seq);
	e->w = NULL;
	w->entry[e->seq & (w->cap - 1)] = (struct lnet_entry *)mark;
}

/* ---- memory ---------------------------------------------------------------------------------- */

u64 lnet_window_bytes(const struct lnet_window *w)
{
	return sizeof(*w) + (u64)w->cap * sizeof(*w->entry);
}

/*
 * True if the opener lost its connections after its last request. False if the paths to the opener
 * are in another shard, whose lock the caller lacks.
 */
static bool is_lost(const struct lnet_window *w)
{
	const struct lnet_path *path;
	bool lost = false;

	if (READ_ONCE(w->from->sh) != w->sh)
		return false;
	list_for_each_entry(path, &w->from->paths, link) {
		if (path->evidence_ns > path->lost_ns)
			return false;
		lost |= path->lost_ns >= w->last_ns;
	}
	return lost;
}

/*
 * The window to drop: if @lost one of a lost peer, else one that is not smaller than @keep. The
 * function starts with the largest windows. NULL: none of those that it checks.
 */
static struct lnet_window *heavy_one(struct lnet_shard *sh, const struct lnet_window *keep,
				     bool lost)
{
	unsigned int weight = LNET_WINDOW_WEIGHTS, least = lost ? 0 : keep->weight, nr = 0;
	struct lnet_window *w;

	while (weight-- > least)
		list_for_each_entry(w, &sh->heavy[weight], heavy) {
			if ((!lost || is_lost(w)) && w != keep && !lnet_window_is_busy(w))
				return w;
			if (++nr == (lost ? LOST_MAX : LARGE_MAX))
				return NULL;
		}
	return NULL;
}

bool lnet_window_room(struct lnet_pass *p, struct lnet_window *w)
{
	u64 max = READ_ONCE(p->ln->tun.window_memory);

	while (unlikely(p->sh->window_bytes + sizeof(struct lnet_entry) > max)) {
		struct lnet_window *out = heavy_one(p->sh, w, true);

		if (!out)
			out = heavy_one(p->sh, w, false);
		if (!out)
			return false;
		lnet_count(p->sh, windows_displaced);
		lnet_count(p->sh, windows_for_memory);
		lnet_window_drop(p, out);
	}
	return true;
}
