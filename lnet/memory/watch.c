/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts and logs handlers that run for longer than handler_limit, also while they still run. */
#include "plat.h"
#include <lnet/env.h>
#include "shard/shard.h"
#include "memory/memory.h"

#define COUNTED		1ULL		/* bit of begin_ns: the batch is counted */
#define LOOKS		4		/* checks of a handler per handler_limit */

static u64 limit_ns(const struct lnet *ln)
{
	return READ_ONCE(ln->tun.handler_limit);
}

/* @now_ns as begin_ns: never 0, and COUNTED is clear. */
static u64 begin_of(u64 now_ns)
{
	return (now_ns | 2 * COUNTED) & ~COUNTED;
}

static u64 look_ns(const struct lnet *ln, u64 now_ns)
{
	return now_ns + max_t(u64, limit_ns(ln) / LOOKS, NSEC_PER_USEC);
}

struct lnet_watch *lnet_watch_begin(struct lnet_md *md, u64 now_ns)
{
	struct lnet *ln = md->ln;
	unsigned int first = (unsigned int)(md->cookie >> 8), i;

	if (!limit_ns(ln))
		return NULL;
	for (i = 0; i < LNET_WATCHES; i++) {
		struct lnet_watch *w = &ln->watch[(first + i) % LNET_WATCHES];

		if (READ_ONCE(w->begin_ns) || cmpxchg(&w->begin_ns, 0, begin_of(now_ns)))
			continue;
		/* lnet_handlers_watch() sets watch_idle, and then reads begin_ns again. */
		if (READ_ONCE(ln->watch_idle) && xchg(&ln->watch_idle, 0) &&
		    ln->env->ops->watch)
			ln->env->ops->watch(ln->env, look_ns(ln, now_ns));
		return w;
	}
	return NULL;
}

void lnet_watch_batch(struct lnet *ln, struct lnet_watch *w, unsigned int nr, u64 now_ns)
{
	u64 begin_ns;
	u32 what;

	if (!w)
		return;
	begin_ns = READ_ONCE(w->begin_ns) & ~COUNTED;
	if (now_ns < begin_ns || now_ns - begin_ns < limit_ns(ln)) {
		WRITE_ONCE(w->begin_ns, begin_of(now_ns));
		return;
	}
	if (!(xchg(&w->begin_ns, begin_of(now_ns)) & COUNTED))
		lnet_stat_count(ln, LNET_C_slow_handlers);
	what = READ_ONCE(w->what);
	lnet_log_handler_slow(ln, what >> 8, lnet_event_name(what & 0xff),
			      div64_u64(now_ns - begin_ns, NSEC_PER_MSEC), nr);
}

void lnet_watch_end(struct lnet_watch *w)
{
	if (w)
		smp_store_release(&w->begin_ns, 0);
}

/* Counts and logs each handler that is too slow. True: a handler runs. */
static bool look_at_all(struct lnet *ln, u64 now_ns)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < LNET_WATCHES; i++) {
		struct lnet_watch *w = &ln->watch[i];
		u64 begin_ns = READ_ONCE(w->begin_ns);
		u32 what = READ_ONCE(w->what);

		any |= begin_ns != 0;
		if (!begin_ns || begin_ns & COUNTED || now_ns < begin_ns ||
		    now_ns - begin_ns < limit_ns(ln) ||
		    cmpxchg(&w->begin_ns, begin_ns, begin_ns | COUNTED) != begin_ns)
			continue;
		lnet_stat_count(ln, LNET_C_slow_handlers);
		lnet_log_handler_blocks(ln, what >> 8, lnet_event_name(what & 0xff),
					div64_u64(now_ns - begin_ns, NSEC_PER_MSEC));
	}
	return any;
}

u64 lnet_handlers_watch(struct lnet *ln)
{
	u64 now_ns = ln->env->ops->now_ns(ln->env);

	if (look_at_all(ln, now_ns))
		return look_ns(ln, now_ns);
	xchg(&ln->watch_idle, 1);
	if (look_at_all(ln, now_ns) && xchg(&ln->watch_idle, 0))
		return look_ns(ln, now_ns);
	return U64_MAX;
}
