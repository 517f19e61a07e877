/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traffic of a drill over each pair of interfaces, as the client measured it. */
#include "drill.h"

struct lst_rail *lst_rail_of(struct lst_drill *drill, const struct lnet_nid *here,
			     const struct lnet_nid *there)
{
	struct lst_rail *rail = drill->rail;
	u32 i;

	for (i = 0; i < drill->nr_rails; i++, rail++)
		if (lnet_nid_same(&rail->here, here) && lnet_nid_same(&rail->there, there))
			return rail;
	if (i == LST_RAILS_MAX)
		return rail - 1;
	drill->nr_rails++;
	*rail = (struct lst_rail){ .here = LNET_NID_ANY, .there = LNET_NID_ANY,
				   .health_before = LST_UNKNOWN, .health = LST_UNKNOWN,
				   .seen = LST_UNKNOWN };
	if (i == LST_RAILS_MAX - 1)
		return rail;
	rail->here = *here;
	rail->there = *there;
	return rail;
}

void lst_rail_time(struct lst_rail *rail, u64 ns)
{
	rail->min_ns = rail->nr_times ? min(rail->min_ns, ns) : ns;
	rail->max_ns = max(rail->max_ns, ns);
	rail->sum_ns += ns;
	rail->nr_times++;
}

/* ---- health ---------------------------------------------------------------------------------- */

static void seen_locked(struct lst_rail *rail, const struct lnet_rail_info *info)
{
	u64 before = rail->seen;

	if (before == LST_UNKNOWN) {
		rail->health_before = info->health;
		before = info->resends;
	}
	/* If a rail was removed and created again, its count restarted at 0. */
	rail->resends += info->resends - (info->resends < before ? 0 : before);
	rail->seen = info->resends;
	rail->health = info->health;
}

bool lst_rails_meet(struct lst_drill *drill, const struct lnet_nid *peer)
{
	struct lst *st = drill->st;
	struct lnet_rail_info info;
	bool room = true;
	u32 pos;

	for (pos = 0; room && !lnet_rail_get(st->ln, peer, pos, &info); pos++) {
		spin_lock(&st->lock);
		room = drill->nr_rails < LST_RAILS_MAX - 1;
		if (room)
			seen_locked(lst_rail_of(drill, &info.here, &info.there), &info);
		spin_unlock(&st->lock);
	}
	return room;
}

static void met_run(struct lst_job *job)
{
	struct lst_drill *drill = container_of(job, struct lst_drill, job);
	struct lst *st = drill->st;

	lst_rails_meet(drill, &drill->met);
	spin_lock(&st->lock);
	drill->meeting = false;
	lst_session_put_locked(st, drill->test->session);
	spin_unlock(&st->lock);
}

void lst_rails_met_locked(struct lst_drill *drill, const struct lnet_nid *peer)
{
	u32 i;

	if (drill->meeting || drill->nr_rails >= LST_RAILS_MAX - 1 ||
	    lnet_nid_same(&drill->met, peer))
		return;
	for (i = 0; i < drill->nr_rails; i++)
		if (lnet_nid_same(&drill->rail[i].there, peer))
			return;
	drill->meeting = true;
	drill->met = *peer;
	drill->test->session->nr_running++;
	lst_queue_locked(drill->st, &drill->job, met_run);
}

void lst_rail_look(struct lst *st, struct lst_rail_look *look)
{
	u32 pos;

	look->gone = true;
	for (pos = 0; look->gone && !lnet_rail_get(st->ln, &look->there, pos, &look->info); pos++)
		look->gone = !lnet_nid_same(&look->info.here, &look->here) ||
			     !lnet_nid_same(&look->info.there, &look->there);
}

void lst_rail_looked_locked(struct lst_rail *rail, const struct lst_rail_look *look)
{
	if (!lnet_nid_same(&rail->here, &look->here) || !lnet_nid_same(&rail->there, &look->there))
		return;
	if (look->gone)
		rail->health = LST_UNKNOWN;
	else
		seen_locked(rail, &look->info);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

void lst_rails_encode(const struct lst_drill *drill, u8 *buf)
{
	u32 i, j;

	put_unaligned_le64(drill->nr_rails, buf);
	buf += 8;
	for (i = 0; i < drill->nr_rails; i++) {
		const struct lst_rail *r = &drill->rail[i];
		const u64 numbers[] = { r->nr_times, r->sum_ns, r->min_ns, r->max_ns,
					r->bytes_out, r->bytes_in, r->resends,
					r->health_before, r->health };

		BUILD_BUG_ON(2 * sizeof(r->here) + sizeof(numbers) != LST_RAIL_WIRE);
		memcpy(buf, &r->here, sizeof(r->here));
		memcpy(buf + sizeof(r->here), &r->there, sizeof(r->there));
		buf += 2 * sizeof(r->here);
		for (j = 0; j < ARRAY_SIZE(numbers); j++, buf += 8)
			put_unaligned_le64(numbers[j], buf);
	}
}

static void nid_decode(struct lnet_nid *nid, const u8 *buf)
{
	memcpy(nid, buf, sizeof(*nid));
	if (!lnet_nid_is_sane(nid))
		*nid = LNET_NID_ANY;
}

u32 lst_rails_decode(const u8 *buf, struct lst_rail rail[LST_RAILS_MAX])
{
	u32 i, nr = (u32)min(get_unaligned_le64(buf), (u64)LST_RAILS_MAX);

	buf += 8;
	for (i = 0; i < nr; i++, buf += LST_RAIL_WIRE) {
		const u8 *numbers = buf + 2 * sizeof(struct lnet_nid);

		nid_decode(&rail[i].here, buf);
		nid_decode(&rail[i].there, buf + sizeof(struct lnet_nid));
		rail[i].nr_times = get_unaligned_le64(numbers);
		rail[i].sum_ns = get_unaligned_le64(numbers + 8);
		rail[i].min_ns = get_unaligned_le64(numbers + 16);
		rail[i].max_ns = get_unaligned_le64(numbers + 24);
		rail[i].bytes_out = get_unaligned_le64(numbers + 32);
		rail[i].bytes_in = get_unaligned_le64(numbers + 40);
		rail[i].resends = get_unaligned_le64(numbers + 48);
		rail[i].health_before = get_unaligned_le64(numbers + 56);
		rail[i].health = get_unaligned_le64(numbers + 64);
	}
	return nr;
}
