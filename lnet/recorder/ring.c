/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rings of the flight recorder: creates, writes (under the lock of the shard), reads. */
#include "recorder/record.h"
#include "shard/shard.h"
#include "recorder/recorder.h"

#define RECORDS_MIN	1024U		/* per ring */
/* number of records until a postponed snapshot is tried again */
#define LATE_AGAIN	256U

const char *const lnet_rec_names[LNET_NR_RECS] = {
	"none",
#define REC(name, class, text) #name,
#include "model/record.def"
#undef REC
};
const u8 lnet_rec_classes[LNET_NR_RECS] = {
	LNET_REC_STATE,
#define REC(name, class, text) LNET_REC_##class,
#include "model/record.def"
#undef REC
};

/* ---- writing --------------------------------------------------------------------------------- */

void lnet_rec_write(struct lnet_shard *sh, struct lnet_rec *r)
{
	struct lnet_rec_ring *ring = lnet_rec_ring(sh);

	r->seq = (u64)atomic64_inc_return(&ring->owner->seq);
	r->shard = (u8)sh->ix;
	ring->at[ring->head++ & (ring->nr - 1)] = *r;
}

void lnet_rec_put(struct lnet_shard *sh, struct lnet_peer *peer, struct lnet_rec *r)
{
	bool call = lnet_rec_classes[r->kind] == LNET_REC_CALL;

	if (peer && (peer->rec.seg != lnet_rec_ring(sh)->seg ||
		     (call && lnet_rec_facts(peer) != peer->rec.facts)))
		lnet_rec_peer(sh, peer);
	if (peer)
		r->peer = peer->rec.id;
	lnet_rec_write(sh, r);
}

u32 lnet_rec_op_id(struct lnet_shard *sh, struct lnet_op *op)
{
	if (!op->rec)
		op->rec = (u32)atomic_inc_return(&lnet_rec_ring(sh)->owner->ops) & 0x7fffffff;
	return op->rec;
}

void lnet_rec_visit(struct lnet_pass *p)
{
	struct lnet_shard *sh = p->sh;
	struct lnet_rec_ring *ring = lnet_rec_ring(sh);

	if (ring->head < ring->snap_due) {
		lnet_rec_tunables(sh);
		return;
	}
	if (sh->nr_live > LNET_REC_LIVE_MAX) {
		ring->put_off++;
		ring->snap_due = ring->head + LATE_AGAIN;
		return;
	}
	ring->seg = (u32)atomic_inc_return(&ring->owner->segs);
	ring->snap_due = ring->head + ring->nr / LNET_REC_SNAPSHOTS;
	lnet_rec_snapshot(sh);
}

/* ---- start and stop -------------------------------------------------------------------------- */

static void recorder_free(struct lnet_recorder *rec)
{
	unsigned int i;

	for (i = 0; rec && i < rec->nr_shards; i++) {
		kvfree(rec->ring[i].at);
		kfree(rec->ring[i].tun);
	}
	kvfree(rec);
}

static struct lnet_recorder *recorder_new(struct lnet *ln, u64 nr)
{
	struct lnet_recorder *rec =
		kvzalloc(sizeof(*rec) + ln->nr_shards * sizeof(rec->ring[0]), GFP_KERNEL);
	struct lnet_rec_ring *ring;
	unsigned int i;

	if (!rec)
		return NULL;
	rec->ln = ln;
	rec->nr_shards = ln->nr_shards;
	for (i = 0; i < ln->nr_shards; i++) {
		ring = &rec->ring[i];
		ring->trace.ops = &lnet_rec_trace;
		ring->owner = rec;
		ring->nr = nr;
		ring->at = kvcalloc(nr, sizeof(*ring->at), GFP_KERNEL);
		ring->tun = kzalloc(sizeof(ln->tun), GFP_KERNEL);
		if (!ring->at || !ring->tun) {
			recorder_free(rec);
			return NULL;
		}
	}
	return rec;
}

static void recorder_publish(struct lnet *ln, struct lnet_recorder *rec)
{
	unsigned int i;

	lnet_shards_lock_all(ln);
	for (i = 0; i < ln->nr_shards; i++)
		ln->shard[i].rec = rec ? &rec->ring[i].trace : NULL;
	lnet_shards_unlock_all(ln);
}

/*
 * Returns the number of records per ring: the largest power of two that fits in @bytes. 0: @bytes
 * is too small.
 */
static u64 ring_size(const struct lnet *ln, u64 bytes)
{
	u64 nr = div64_u64(bytes, (u64)ln->nr_shards * sizeof(struct lnet_rec));

	while (nr & (nr - 1))
		nr &= nr - 1;
	return nr < RECORDS_MIN ? 0 : nr;
}

static int recorder_start(struct lnet *ln, u64 bytes)
{
	struct lnet_recorder *rec;
	u64 nr = ring_size(ln, bytes);

	if (ln->recorder && ln->recorder->running)
		return -EALREADY;
	if (!nr)
		return -EINVAL;
	rec = recorder_new(ln, nr);
	if (!rec)
		return -ENOMEM;
	/*
	 * If a recorder already ran, the new one continues its counters. So peers and operations
	 * keep their numbers, and new snapshots contain the same numbers.
	 */
	if (ln->recorder) {
		atomic_set(&rec->ops, atomic_read(&ln->recorder->ops));
		atomic_set(&rec->peers, atomic_read(&ln->recorder->peers));
		atomic_set(&rec->segs, atomic_read(&ln->recorder->segs));
	}
	recorder_free(ln->recorder);
	ln->recorder = rec;
	rec->running = 1;
	recorder_publish(ln, rec);
	return 0;
}

int lnet_record_start(struct lnet *ln, u64 bytes)
{
	int err;

	mutex_lock(&ln->cfg_mutex);
	err = recorder_start(ln, bytes);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

static int recorder_stop(struct lnet *ln)
{
	if (!ln->recorder || !ln->recorder->running)
		return -EALREADY;
	recorder_publish(ln, NULL);
	ln->recorder->running = 0;
	return 0;
}

int lnet_record_stop(struct lnet *ln)
{
	int err;

	mutex_lock(&ln->cfg_mutex);
	err = recorder_stop(ln);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

void lnet_record_tune(struct lnet *ln)
{
	u64 bytes = READ_ONCE(ln->tun.record_size);
	int err;

	recorder_stop(ln);
	err = bytes ? recorder_start(ln, bytes) : 0;
	if (err)
		pr_warn("nothing is recorded in %llu bytes: %d\n", (unsigned long long)bytes,
			err);
}

void lnet_record_fini(struct lnet *ln)
{
	unsigned int i;

	for (i = 0; i < ln->nr_shards; i++)
		ln->shard[i].rec = NULL;
	recorder_free(ln->recorder);
	ln->recorder = NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

static u64 ring_first(const struct lnet_rec_ring *ring)
{
	return ring->head > ring->nr ? ring->head - ring->nr : 0;
}

/*
 * Copies the record of ring @i with the lowest number that is at least @seq. False: none. A ring is
 * sorted by number.
 */
static bool ring_next(struct lnet_recorder *rec, unsigned int i, u64 seq, struct lnet_rec *r)
{
	struct lnet_rec_ring *ring = &rec->ring[i];
	u64 low, high, mid;
	bool there;

	spin_lock(&rec->ln->shard[i].lock);
	low = ring_first(ring);
	high = ring->head;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (ring->at[mid & (ring->nr - 1)].seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	there = low < ring->head;
	if (there)
		*r = ring->at[low & (ring->nr - 1)];
	spin_unlock(&rec->ln->shard[i].lock);
	return there;
}

/* Copies the record with the lowest number that is at least @seq, of all rings. False: none. */
static bool next_of_all(struct lnet_recorder *rec, u64 seq, struct lnet_rec *best)
{
	struct lnet_rec r;
	unsigned int i;
	bool any = false;

	for (i = 0; i < rec->nr_shards; i++)
		if (ring_next(rec, i, seq, &r) && (!any || r.seq < best->seq)) {
			*best = r;
			any = true;
		}
	return any;
}

unsigned int lnet_record_read(struct lnet *ln, u64 *seq, struct lnet_rec *at, unsigned int max)
{
	unsigned int nr = 0;

	mutex_lock(&ln->cfg_mutex);
	while (ln->recorder && nr < max && next_of_all(ln->recorder, *seq, &at[nr]))
		*seq = at[nr++].seq + 1;
	mutex_unlock(&ln->cfg_mutex);
	return nr;
}

void lnet_record_show(struct lnet *ln, struct lnet_record_view *v)
{
	struct lnet_recorder *rec;
	unsigned int i;

	memset(v, 0, sizeof(*v));
	mutex_lock(&ln->cfg_mutex);
	rec = ln->recorder;
	v->there = rec;
	for (i = 0; rec && i < rec->nr_shards; i++) {
		spin_lock(&ln->shard[i].lock);
		v->bytes += rec->ring[i].nr * sizeof(struct lnet_rec);
		v->lost += ring_first(&rec->ring[i]);
		v->records += rec->ring[i].head - ring_first(&rec->ring[i]);
		v->put_off += rec->ring[i].put_off;
		spin_unlock(&ln->shard[i].lock);
	}
	if (rec) {
		v->running = rec->running;
		v->snapshots = (u64)atomic_read(&rec->segs);
	}
	mutex_unlock(&ln->cfg_mutex);
}

void lnet_record_head(struct lnet *ln, struct lnet_rec_head *head)
{
	*head = (struct lnet_rec_head){
		.magic = LNET_REC_MAGIC, .version = LNET_REC_VERSION,
		.size = sizeof(struct lnet_rec), .nr_shards = ln->nr_shards,
		.nr_tunables = sizeof(ln->tun) / sizeof(u64),
	};
}
