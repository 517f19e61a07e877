/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Feeds the recorded inputs to the core of decisions, and compares its decisions. The recording
 * also has the calls that the core makes to itself. So each record is one of two kinds: a decision,
 * which the code must make again, or a call from outside, which the replay makes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <lnet/hash.h>
#include "tests/sim/replay.h"
#include "lnet/base/base.h"
#include "lnet/topology/topology.h"
#include "lnet/path/path.h"
#include "lnet/xfer/xfer.h"
#include "lnet/recorder/recorder.h"
#include "shard/hooks.h"

#define CONTEXT 12U		/* records shown before a difference */

/* ---- records --------------------------------------------------------------------------------- */

static size_t print(char *to, size_t size, const char *what, const struct lnet_rec *r)
{
	int nr = snprintf(to, size, "%s %llu at %llu.%06llu ms, shard %u: %s", what,
			  (unsigned long long)r->seq, (unsigned long long)r->now_ns / 1000000,
			  (unsigned long long)r->now_ns % 1000000, r->shard,
			  lnet_rec_names[r->kind < LNET_NR_RECS ? r->kind : 0]);

	if (nr < size && r->op)
		nr += snprintf(to + nr, size - nr, " op %u%s", r->op, r->att ? " copy" : "");
	if (nr < size && r->peer)
		nr += snprintf(to + nr, size - nr, " peer %u path %d", r->peer, (s16)r->path);
	if (nr < size)
		nr += snprintf(to + nr, size - nr, " (0x%llx 0x%llx 0x%llx 0x%llx)\n",
			       (unsigned long long)r->a[0], (unsigned long long)r->a[1],
			       (unsigned long long)r->a[2], (unsigned long long)r->a[3]);
	return min_t(size_t, nr, size);
}

static void context(struct replay *rp, const struct replay_shard *rs, char *to, size_t size)
{
	u64 i = rs->cur > CONTEXT ? rs->cur - CONTEXT : 0;
	size_t at = 0;

	(void)rp;
	for (; i <= rs->cur && i < rs->nr; i++)
		at += print(to + at, size - at, i == rs->cur ? "recorded:" : "before:", rs->at[i]);
}

void replay_differs(struct replay *rp, const struct lnet_rec *r, const char *fmt, ...)
{
	va_list args;
	int nr;

	va_start(args, fmt);
	nr = vsnprintf(rp->why, sizeof(rp->why), fmt, args);
	va_end(args);
	nr = min_t(int, nr, sizeof(rp->why) - 2);
	rp->why[nr++] = '\n';
	rp->why[nr] = 0;
	if (r)
		context(rp, &rp->shard[r->shard], rp->why + nr, sizeof(rp->why) - nr);
	longjmp(rp->differs, 1);
}

static u64 fold(u64 hash, const struct lnet_rec *r)
{
	return lnet_hash_bytes(r, sizeof(*r), hash);
}

static void count(struct replay *rp, const struct lnet_rec *r)
{
	rp->calls += lnet_rec_classes[r->kind] == LNET_REC_CALL;
	rp->decisions += lnet_rec_classes[r->kind] == LNET_REC_CHOICE;
	rp->values += lnet_rec_classes[r->kind] == LNET_REC_VALUE;
}

static struct lnet_path *path_of(struct replay *rp, const struct lnet_rec *r);

/* Applies a value that was set from outside. Returns true if @r is such a record. */
static bool set(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_peer_ni *pni;

	switch (r->kind) {
	case LNET_RK_HEALTH_SET:
		pni = replay_pni_by_nid(rp, r->peer, r->a);
		if (pni)		/* else its first state record will have the value */
			pni->health = (u16)r->a[3];
		return true;
	case LNET_RK_NI_HEALTH:
		if (r->op < ARRAY_SIZE(rp->ni) && rp->ni[r->op])
			atomic_set(&rp->ni[r->op]->health, (int)r->a[0]);
		return true;
	case LNET_RK_PATH_HEALTH:
		path_of(rp, r)->health = LNET_HEALTH_MAX;
		return true;
	case LNET_RK_STOPPING:
		rp->ln->stopping = 1;
		return true;
	}
	return false;
}

const struct lnet_rec *replay_next(struct replay *rp, u32 shard)
{
	struct replay_shard *rs = &rp->shard[shard];

	for (; rs->cur < rs->nr; rs->cur++) {
		const struct lnet_rec *r = rs->at[rs->cur];

		if (lnet_rec_classes[r->kind] == LNET_REC_STATE)
			replay_state(rp, r);
		else if (!set(rp, r))
			return r;
	}
	return NULL;
}

/* Copies the recorded values that code outside the core of decisions changes. */
static void leave_out(const struct lnet_rec *r, struct lnet_rec *again)
{
	u8 class = lnet_rec_classes[r->kind];

	again->seq = r->seq;
	if (r->kind == LNET_RK_VALUE)
		again->a[0] = r->a[0];
	if (r->op && (class == LNET_REC_CALL || class == LNET_REC_CHOICE))
		again->a[3] = r->a[3];		/* flags of the operation */
}

static void put_differing(struct replay *rp, const struct lnet_rec *again, const struct lnet_rec *r)
{
	char text[512];

	print(text, sizeof(text), "decided again:", again);
	replay_differs(rp, r, "the replay does not do what was done\n%s", text);
}

void replay_take(struct replay *rp, struct lnet_shard *sh, struct lnet_rec *again)
{
	struct replay_shard *rs = &rp->shard[sh->ix];
	const struct lnet_rec *r = replay_next(rp, sh->ix);

	if (!r) {
		print(rp->why, sizeof(rp->why), "behind the last record:", again);
		longjmp(rp->differs, 2);	/* the recording ends within a call */
	}
	if (r->kind == again->kind)
		leave_out(r, again);
	rp->recorded = fold(rp->recorded, r);
	rp->replayed = fold(rp->replayed, again);
	if (memcmp(r, again, sizeof(*r)))
		put_differing(rp, again, r);
	count(rp, r);
	rs->cur++;
}

/* ---- calls from outside ---------------------------------------------------------------------- */

static struct lnet_op *op_of(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_op *op = replay_op(rp, r->op);

	if (!op)
		replay_differs(rp, r, "it names an operation that was not told of");
	lnet_rec_op_unpack(op, (u32)r->a[3]);
	return op;
}

static struct lnet_path *path_of(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_path *path = replay_path(rp, r->peer, r->path);

	if (!path)
		replay_differs(rp, r, "it names a path that was not told of");
	return path;
}

static struct lnet_path *via_of(struct replay *rp, const struct lnet_rec *r)
{
	return r->a[0] ? path_of(rp, r) : NULL;
}

static struct lnet_att *att_of(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_op *op = op_of(rp, r);
	struct lnet_att *att = r->att ? op->hedge : &op->first;

	if (!att || att->state == ATT_FREE)
		replay_differs(rp, r, "it names an attempt that is not under way");
	return att;
}

static struct lnet_ni *ni_of(struct replay *rp, const struct lnet_rec *r)
{
	if (r->a[0] >= ARRAY_SIZE(rp->ni) || !rp->ni[r->a[0]])
		replay_differs(rp, r, "it names an interface that was not told of");
	return rp->ni[r->a[0]];
}

static void given(struct replay *rp, struct lnet_pass *p, const struct lnet_rec *r)
{
	struct lnet_att *att = att_of(rp, r);
	LIST_HEAD(list);

	atomic_set(&att->reports, (int)(r->a[0] & 0xff));
	att->outcome = (u8)(r->a[0] >> 8) % LNET_NR_OUTCOMES;
	att->flags = (u8)(r->a[0] >> 16);
	att->epoch = (u32)r->a[1];
	list_add_tail(&att->link, &list);
	lnet_atts_reported(p, &list);
}

static void fired(struct lnet_shard *sh, struct lnet_timer *t)
{
	if (!list_empty(&t->link))
		lnet_timer_fired(&sh->wheel, t);
}

static void timer(struct replay *rp, struct lnet_pass *p, const struct lnet_rec *r)
{
	struct lnet_op *op = op_of(rp, r);

	fired(p->sh, &op->timer);
	lnet_op_timer(p, op);
}

static void path_timer(struct replay *rp, struct lnet_pass *p, const struct lnet_rec *r)
{
	struct lnet_path *path = path_of(rp, r);

	fired(p->sh, &path->timer);
	lnet_path_timer(p, path);
}

static void probes(struct replay *rp, struct lnet_pass *p, const struct lnet_rec *r)
{
	(void)rp;
	(void)r;
	fired(p->sh, &p->sh->probes.timer);
	lnet_probes_run(p);
}

static void walked(struct replay *rp, struct lnet_pass *p, const struct lnet_rec *r)
{
	rp->visited = op_of(rp, r);
	switch (r->kind) {
	case LNET_RK_NI_DOWN:
		lnet_ops_walk(p, lnet_op_ni_down, ni_of(rp, r));
		break;
	case LNET_RK_GONE:
		lnet_ops_leave_gone(p, r->a[0]);
		break;
	case LNET_RK_RESELECT:
		lnet_ops_walk(p, lnet_op_reselect_ni, ni_of(rp, r));
		break;
	default:
		lnet_op_fail_all(p, rp->visited->peer, (enum lnet_outcome)r->a[0]);
	}
}

/* The hooks of these are at their callers, so the records are consumed here. */
static void touched(struct replay *rp, struct lnet_pass *p, const struct lnet_rec *r)
{
	struct lnet_rec same = *r;
	struct lnet_op *op = op_of(rp, r);
	bool of_op = r->kind == LNET_RK_PIN || r->kind == LNET_RK_UNPIN;
	struct lnet_att *att = of_op ? NULL : att_of(rp, r);

	replay_take(rp, p->sh, &same);
	if (r->kind == LNET_RK_PIN)
		op->pins++;
	else if (r->kind == LNET_RK_UNPIN)
		lnet_op_unpin(p, op);
	else if (r->kind == LNET_RK_HELD)
		att->posted_ns = r->a[0];
	else
		lnet_att_drop(p, att);
}

static void lost(struct replay *rp, struct lnet_pass *p, const struct lnet_rec *r)
{
	struct lnet_path *path = path_of(rp, r);

	lnet_path_lost(p, path->ni, path->pni, (u32)r->a[0], (enum lnet_outcome)r->a[1]);
}

static void op_call(struct replay *rp, struct lnet_pass *p, const struct lnet_rec *r)
{
	struct lnet_op *op = op_of(rp, r);

	switch (r->kind) {
	case LNET_RK_START:
		lnet_op_start(p, op);
		break;
	case LNET_RK_TRY:
		lnet_op_try(p, op, NULL);
		break;
	case LNET_RK_RELEASE:
		lnet_op_release(p, op, r->a[0]);
		break;
	case LNET_RK_STOPPED:
		lnet_op_stopped(p, op, via_of(rp, r));
		break;
	case LNET_RK_FINISH:
		lnet_op_finish(p, op, (enum lnet_outcome)r->a[0]);
		break;
	case LNET_RK_REPLIED:
		lnet_op_replied(p, op, via_of(rp, r));
		break;
	case LNET_RK_PATH_BACK:
		lnet_op_path_back(p, op);
		break;
	case LNET_RK_AVOID:
		lnet_op_avoid(p, op, r->a[0]);
		break;
	default:
		lnet_op_set_state(op, (enum lnet_op_state)r->a[1]);
	}
}

static void path_call(struct replay *rp, struct lnet_pass *p, const struct lnet_rec *r)
{
	struct lnet_path *path = path_of(rp, r);

	if (r->kind == LNET_RK_ALIVE)
		lnet_path_alive(p->sh, path, r->a[0], r->a[1]);
	else if (r->kind == LNET_RK_RECOVER)
		lnet_path_recover(p->sh, path);
	else if (r->kind == LNET_RK_JOIN)
		lnet_probe_join(p->sh, path, r->a[0]);
	else if (r->kind == LNET_RK_LEAVE)
		lnet_probe_leave(path);
	else
		lnet_path_ping_done(p, path, (int)r->a[0], r->a[1]);
}

static void call(struct replay *rp, const struct lnet_rec *r)
{
	static void (*const calls[LNET_NR_RECS])(struct replay *rp, struct lnet_pass *p,
						 const struct lnet_rec *r) = {
		[LNET_RK_START] = op_call, [LNET_RK_TRY] = op_call, [LNET_RK_RELEASE] = op_call,
		[LNET_RK_STOPPED] = op_call, [LNET_RK_FINISH] = op_call,
		[LNET_RK_REPLIED] = op_call, [LNET_RK_STATE] = op_call,
		[LNET_RK_PATH_BACK] = op_call, [LNET_RK_AVOID] = op_call,
		[LNET_RK_COMPLETED] = given, [LNET_RK_LOST] = lost, [LNET_RK_TIMER] = timer,
		[LNET_RK_NI_DOWN] = walked, [LNET_RK_GONE] = walked, [LNET_RK_RESELECT] = walked,
		[LNET_RK_ABORT] = walked,
		[LNET_RK_PIN] = touched, [LNET_RK_UNPIN] = touched, [LNET_RK_DROP] = touched,
		[LNET_RK_HELD] = touched,
		[LNET_RK_ALIVE] = path_call, [LNET_RK_RECOVER] = path_call,
		[LNET_RK_PING_DONE] = path_call, [LNET_RK_PATH_TIMER] = path_timer,
		[LNET_RK_PROBES] = probes, [LNET_RK_LEAVE] = path_call,
		[LNET_RK_JOIN] = path_call,
	};
	struct replay_shard *rs = &rp->shard[r->shard];
	u64 before = rs->cur;

	if (!calls[r->kind])
		replay_differs(rp, r, "nobody in the replay decides this");
	rp->pass.sh = &rp->ln->shard[r->shard];
	if (r->now_ns)
		rp->pass.now_ns = rp->now_ns = r->now_ns;
	calls[r->kind](rp, &rp->pass, r);
	if (rs->cur == before)
		replay_differs(rp, r, "this does not happen in the replay");
}

void replay_nested(struct replay *rp, struct lnet_shard *sh)
{
	const struct lnet_rec *r;

	while ((r = replay_next(rp, sh->ix)) && lnet_rec_classes[r->kind] == LNET_REC_CALL)
		call(rp, r);
}

/* Drops the requests to drivers and the deferred work, which have no effect in a replay. */
static void drop_effects(struct lnet_pass *p)
{
	while (!list_empty(&p->send))
		list_del_init(p->send.next);
	while (!list_empty(&p->cancel))
		list_del_init(p->cancel.next);
	while (!list_empty(&p->resets))
		list_del_init(p->resets.next);
}

static void run_one(struct replay *rp, struct replay_shard *rs, u32 shard)
{
	struct lnet_shard *sh = &rp->ln->shard[shard];
	const struct lnet_rec *r = rs->at[rs->cur];
	u8 class = lnet_rec_classes[r->kind];

	if (!rs->covered && r->kind != LNET_RK_BEGIN) {
		rp->skipped++;
		rs->cur++;
		return;
	}
	/* a value outside of a call was read for no decision */
	if (class == LNET_REC_STATE || class == LNET_REC_VALUE || class == LNET_REC_SET) {
		if (class == LNET_REC_STATE)
			replay_state(rp, r);
		else
			set(rp, r);
		rs->cur++;
		return;
	}
	spin_lock(&sh->lock);
	call(rp, r);
	drop_effects(&rp->pass);
	spin_unlock(&sh->lock);
}

/* ---- the whole replay ------------------------------------------------------------------------ */

/* Runs records by their sequence; records made within one call belong to the call. */
static void run(struct replay *rp)
{
	for (;;) {
		struct replay_shard *first = NULL;
		u32 i;

		for (i = 0; i < rp->head.nr_shards; i++) {
			struct replay_shard *rs = &rp->shard[i];

			if (rs->cur < rs->nr &&
			    (!first || rs->at[rs->cur]->seq < first->at[first->cur]->seq))
				first = rs;
		}
		if (!first)
			return;
		run_one(rp, first, (u32)(first - rp->shard));
	}
}

static u64 env_now(struct lnet_env *env)
{
	return ((struct replay *)env)->now_ns;
}

static u64 env_random(struct lnet_env *env)
{
	(void)env;
	return 0;
}

static void env_nothing(struct lnet_env *env, unsigned int shard)
{
	(void)env;
	(void)shard;
}

static const struct lnet_env_ops env_ops = {
	.now_ns = env_now, .random = env_random, .secret = env_random,
	.kick = env_nothing, .arm = env_nothing,
};

static void shard_make(struct replay *rp, u32 ix, const struct lnet_rec *rec)
{
	/* the recorder is on: lnet_rec_put() compares */
	static struct lnet_rec_ring on = { .trace.ops = &lnet_rec_trace };
	struct lnet_shard *sh = &rp->ln->shard[ix];
	struct replay_shard *rs = &rp->shard[ix];
	u64 i;

	spin_lock_init(&sh->lock);
	sh->ln = rp->ln;
	sh->ix = ix;
	sh->rec = &on.trace;
	INIT_LIST_HEAD(&sh->live);
	INIT_LIST_HEAD(&sh->atts.free);
	lnet_wheel_init(&sh->wheel, rp->head.nr ? rec[0].now_ns : 0);
	lnet_probes_init(&sh->probes, replay_ping);
	for (i = 0; i < rp->head.nr; i++)
		rs->nr += rec[i].shard == ix;
	rs->at = malloc((rs->nr + 1) * sizeof(rs->at[0]));
	if (!rs->at)
		abort();
	for (rs->nr = i = 0; i < rp->head.nr; i++)
		if (rec[i].shard == ix)
			rs->at[rs->nr++] = &rec[i];
}

static struct replay *replay_make(const struct lnet_rec_head *head, const struct lnet_rec *rec)
{
	struct replay *rp = calloc(1, sizeof(*rp));
	u32 i;

	if (!rp)
		abort();
	rp->env.ops = &env_ops;
	rp->head = *head;
	rp->ln = calloc(1, sizeof(*rp->ln));
	rp->shard = calloc(head->nr_shards, sizeof(*rp->shard));
	if (!rp->ln || !rp->shard)
		abort();
	rp->ln->shard = calloc(head->nr_shards, sizeof(*rp->ln->shard));
	if (!rp->ln->shard)
		abort();
	rp->ln->env = &rp->env;
	rp->ln->hooks = &replay_hooks;
	rp->ln->nr_shards = head->nr_shards;
	INIT_LIST_HEAD(&rp->ln->nis);
	INIT_LIST_HEAD(&rp->ln->peers);
	rp->recorded = rp->replayed = LNET_REC_MAGIC;
	for (i = 0; i < head->nr_shards; i++)
		shard_make(rp, i, rec);
	lnet_pass_begin(&rp->pass, rp->ln, LNET_PASS_WORKER);
	return rp;
}

static void replay_free(struct replay *rp)
{
	u32 i;

	replay_state_fini(rp);
	for (i = 0; i < rp->head.nr_shards; i++)
		free(rp->shard[i].at);
	free(rp->shard);
	free(rp->ln->shard);
	free(rp->ln);
	free(rp);
}

int sim_replay_records(const struct lnet_rec_head *head, const struct lnet_rec *rec,
		       struct replay_report *report)
{
	struct replay *rp = replay_make(head, rec);
	int how = setjmp(rp->differs);

	if (!how)
		run(rp);
	memset(report, 0, sizeof(*report));
	report->records = head->nr;
	report->lost = head->lost;
	report->calls = rp->calls;
	report->decisions = rp->decisions;
	report->values = rp->values;
	report->states = rp->states;
	report->skipped = rp->skipped;
	report->recorded = rp->recorded;
	report->replayed = rp->replayed;
	if (how == 1)
		memcpy(report->why, rp->why, sizeof(report->why));
	replay_free(rp);
	return how == 1;
}

int sim_replay(const char *file, struct replay_report *report)
{
	struct lnet_rec_head head;
	struct lnet_rec *rec;
	int err;

	memset(report, 0, sizeof(*report));
	err = sim_record_load(file, &head, &rec, report->why, sizeof(report->why));
	if (err)
		return err;
	err = sim_replay_records(&head, rec, report);
	free(rec);
	return err;
}
