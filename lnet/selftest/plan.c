/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wire form of the plan of a drill: numbers of eight bytes, and then the nodes. */
#include "plan.h"

#define VERSION		1U
#define RUN_SIZE	28U
#define RUNS_MAX	65536U

static const struct row {
	u64 least, most;
	u32 at;
} rows[] = {
#define WORD(name, least, most, usual, text)	{ least, most, offsetof(struct lst_plan, name) },
#define PLAN(name, least, most, text)		{ least, most, offsetof(struct lst_plan, name) },
#include "plan.def"
#undef WORD
#undef PLAN
};

const struct lst_plan_word lst_plan_words[] = {
#define WORD(name, least, most, usual, text)	\
	{ #name, least, most, usual, offsetof(struct lst_plan, name) },
#define PLAN(name, least, most, text)
#include "plan.def"
#undef WORD
#undef PLAN
};
const u32 lst_nr_plan_words = ARRAY_SIZE(lst_plan_words);

#define HEAD_SIZE	(8U * (2U + ARRAY_SIZE(rows)))

/* ---- nodes ----------------------------------------------------------------------------------- */

static u32 nid_last_word(const struct lnet_nid *nid)
{
	return get_unaligned_be32((const u8 *)nid->addr + (nid->size & ~3U));
}

static void nid_step(struct lnet_nid *nid, u32 by)
{
	put_unaligned_be32(nid_last_word(nid) + by, (u8 *)nid->addr + (nid->size & ~3U));
}

void lst_runs_add(struct lst_run *run, u32 *nr, const struct lnet_process *id)
{
	struct lst_run *last = *nr ? &run[*nr - 1] : NULL;
	struct lnet_nid next;

	if (last) {
		next = last->first.nid;
		nid_step(&next, last->nr);
	}
	if (last && nid_last_word(&next) && lnet_nid_same(&next, &id->nid) &&
	    last->first.pid == id->pid) {
		last->nr++;
		return;
	}
	run[(*nr)++] = (struct lst_run){ *id, 1 };
}

bool lst_runs_at(const struct lst_run *run, u32 nr, u32 ix, struct lnet_process *id)
{
	u32 i;

	for (i = 0; i < nr && ix >= run[i].nr; i++)
		ix -= run[i].nr;
	if (i == nr)
		return false;
	*id = run[i].first;
	nid_step(&id->nid, ix);
	return true;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

u32 lst_plan_encode(const struct lst_plan *p, u8 *buf)
{
	u32 i, len = HEAD_SIZE + p->nr_runs * RUN_SIZE;

	if (!buf)
		return len;
	put_unaligned_le64(VERSION, buf);
	put_unaligned_le64(p->nr_runs, buf + 8);
	buf += 16;
	for (i = 0; i < ARRAY_SIZE(rows); i++, buf += 8)
		put_unaligned_le64(*(const u64 *)((const u8 *)p + rows[i].at), buf);
	for (i = 0; i < p->nr_runs; i++, buf += RUN_SIZE) {
		memcpy(buf, &p->run[i].first.nid, sizeof(struct lnet_nid));
		put_unaligned_le32(p->run[i].first.pid, buf + 20);
		put_unaligned_le32(p->run[i].nr, buf + 24);
	}
	return len;
}

static int runs_decode(struct lst_plan *p, const u8 *buf)
{
	u64 nr = 0;
	u32 i;

	p->run = kvmalloc_array(p->nr_runs, sizeof(p->run[0]), GFP_NOFS | __GFP_NOWARN);
	if (!p->run)
		return -ENOMEM;
	for (i = 0; i < p->nr_runs; i++, buf += RUN_SIZE) {
		struct lst_run *run = &p->run[i];

		memcpy(&run->first.nid, buf, sizeof(struct lnet_nid));
		run->first.pid = get_unaligned_le32(buf + 20);
		run->nr = get_unaligned_le32(buf + 24);
		nr += run->nr;
		if (!run->nr || !lnet_nid_is_sane(&run->first.nid) ||
		    lnet_nid_is_any(&run->first.nid) ||
		    nid_last_word(&run->first.nid) + (u64)run->nr - 1 > U32_MAX)
			return -EINVAL;
	}
	return nr == (p->back ? p->nr_from : p->nr_to) ? 0 : -EINVAL;
}

static bool plan_fits(const struct lst_plan *p)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 value = *(const u64 *)((const u8 *)p + rows[i].at);

		if (value < rows[i].least || value > rows[i].most)
			return false;
	}
	if (p->what == LST_WHAT_PING && (p->size < LST_DRILL_MIN || p->size > LST_DRILL_MAX))
		return false;
	if (p->map == LST_MAP_LISTED && !p->server && !p->nr_to)
		return !p->nr_runs && !p->back;
	return p->nr_to && !p->server == (p->nr_runs != 0);
}

int lst_plan_decode(struct lst_plan *p, const u8 *buf, u32 len)
{
	u64 nr_runs;
	u32 i;
	int rc;

	memset(p, 0, sizeof(*p));
	if (len < HEAD_SIZE || get_unaligned_le64(buf) != VERSION)
		return -EINVAL;
	nr_runs = get_unaligned_le64(buf + 8);
	if (nr_runs > RUNS_MAX || len != HEAD_SIZE + nr_runs * RUN_SIZE)
		return -EINVAL;
	p->nr_runs = (u32)nr_runs;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		*(u64 *)((u8 *)p + rows[i].at) = get_unaligned_le64(buf + 16 + 8 * i);
	if (!plan_fits(p))
		return -EINVAL;
	rc = p->nr_runs ? runs_decode(p, buf + HEAD_SIZE) : 0;
	if (rc) {
		kvfree(p->run);
		p->run = NULL;
	}
	return rc;
}
