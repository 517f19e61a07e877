/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Proves listed NIDs. The node pings each NID that a peer lists, and adds the NID to the peer only
 * if the reply lists the peer as well. Otherwise any peer could take the NID of another peer.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "service/service.h"

#define FEW		8U	/* maximum of pings in flight for the list of one peer */
#define RETRY_NS	((u64)NSEC_PER_SEC)	/* pause; each failure doubles it */
/* longest pause between pings of a NID from which a message was ever received */
#define KNOWN_MAX_NS	(60 * (u64)NSEC_PER_SEC)
/* interval of checks whether a message was received from the NID */
#define CHECK_NS	(5 * (u64)NSEC_PER_SEC)
/* interval of pings for the list of one peer, after the first max_interfaces pings */
#define PING_NS		((u64)NSEC_PER_SEC)
/* longest time that a discovery round waits for the first pings */
#define ROUND_NS	(500 * (u64)NSEC_PER_MSEC)
/*
 * A ping for a proof requests this number of bytes more than a multiple of LNET_PINGINFO_MIN. By
 * them, lnet_ping_reply() of the peer recognizes that the ping is not for discovery.
 */
#define NOT_DISCOVERY	4U
#define VISITS		32U	/* maximum of replies that one visit of the worker evaluates */

/* A listed NID that needs a proof. Protected by cfg_mutex, except for @over and @reply. */
struct lnet_proof {
	struct list_head link;		/* in the list of the proofs of @peer */
	/* [disc lock] in ln->disc.proved after the ping has ended */
	struct list_head over;
	struct lnet_peer *peer;		/* the peer that lists @nid; referenced during a ping */
	struct lnet_nid nid;
	/* @pinged: a ping is in flight. @rejected: the last reply did not list @peer. */
	u8 pinged, proven, rejected;
	u8 wanted;			/* the current info of @peer needs this proof */
	/* the next ping, not sent yet, already counts for the node's rate limit */
	u8 paid;
	u8 fails;			/* number of failed pings in a row, bounded */
	u64 next_ns, pinged_ns;		/* earliest time of the next ping; time of the last ping */
	struct lnet_sbuf *reply;	/* [disc lock] info in the reply, referenced; or NULL */
	u32 len;
};

/* The listed NIDs of a peer that are not merged yet, at most max_interfaces of them. */
struct lnet_proofs {
	struct lnet_peer *peer;
	struct list_head list;		/* [cfg] struct lnet_proof */
	struct lnet_timer timer;	/* [sh] */
	struct lnet_sbuf *info;		/* [cfg] the info that lists the NIDs; NULL: none */
	u32 len, nr, nr_pinged;		/* [cfg] */
	/*
	 * [cfg] due time of the next ping, if pings are sent at one per PING_NS; share_ns() permits
	 * max_interfaces pings before they are due
	 */
	u64 next_ping_ns;
};

unsigned int lnet_nids_max(const struct lnet *ln)
{
	return min_t(u64, 2 * READ_ONCE(ln->tun.max_interfaces), LNET_LISTED_MAX);
}

/* ---- which NIDs ------------------------------------------------------------------------------ */

static struct lnet_proof *proof_find(const struct lnet_peer *peer, const struct lnet_nid *nid)
{
	struct lnet_proof *f;

	if (!peer->disc.proofs)
		return NULL;
	list_for_each_entry(f, &peer->disc.proofs->list, link)
		if (lnet_nid_same(&f->nid, nid))
			return f;
	return NULL;
}

static struct lnet_proofs *proofs_of(struct lnet_peer *peer)
{
	struct lnet_proofs *all = peer->disc.proofs;

	if (all)
		return all;
	all = kzalloc(sizeof(*all), GFP_KERNEL);
	if (!all)
		return NULL;
	all->peer = peer;
	INIT_LIST_HEAD(&all->list);
	lnet_timer_init(&all->timer, LNET_TIMER_PROOF);
	spin_lock(&peer->sh->lock);
	peer->disc.proofs = all;
	spin_unlock(&peer->sh->lock);
	return all;
}

bool lnet_nid_is_proven(const struct lnet_peer *peer, const struct lnet_nid *nid)
{
	const struct lnet_proof *f = proof_find(peer, nid);

	return f && f->proven;
}

void lnet_proofs_begin(struct lnet_peer *peer)
{
	struct lnet_proof *f;

	if (!peer->disc.proofs)
		return;
	list_for_each_entry(f, &peer->disc.proofs->list, link)
		f->wanted = 0;
}

int lnet_proof_want(struct lnet_peer *peer, const struct lnet_nid *nid, bool discard)
{
	struct lnet_proof *f = proof_find(peer, nid);
	struct lnet_proofs *all;

	if (f) {
		f->wanted = 1;
		f->proven &= !discard;
		return 0;
	}
	all = proofs_of(peer);
	if (!all)
		return -ENOMEM;
	if (all->nr >= READ_ONCE(peer->ln->tun.max_interfaces))
		return -ENOSPC;
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	f->peer = peer;
	f->nid = *nid;
	f->wanted = 1;
	INIT_LIST_HEAD(&f->over);
	list_add_tail(&f->link, &all->list);
	all->nr++;
	return 0;
}

static void proof_free(struct lnet_proofs *all, struct lnet_proof *f)
{
	list_del(&f->link);
	all->nr--;
	kfree(f);
}

static void info_set(struct lnet_proofs *all, struct lnet_sbuf *info, u32 len)
{
	lnet_disc_list_set(all->peer->ln, &all->info, info);
	all->len = len;
}

/* A proof is not freed while its ping is in flight. The worker frees it when the ping has ended. */
void lnet_proofs_end(struct lnet_peer *peer, struct lnet_sbuf *info, u32 len)
{
	struct lnet_proofs *all = peer->disc.proofs;
	struct lnet_proof *f, *next;

	if (!all)
		return;
	list_for_each_entry_safe(f, next, &all->list, link)
		if (!f->wanted && !f->pinged)
			proof_free(all, f);
	info_set(all, all->nr ? info : NULL, len);
}

bool lnet_proofs_open(const struct lnet_peer *peer)
{
	const struct lnet_proof *f;

	if (!peer->disc.proofs)
		return false;
	list_for_each_entry(f, &peer->disc.proofs->list, link)
		if (f->wanted && !f->rejected)
			return true;
	return false;
}

/* ---- pings ----------------------------------------------------------------------------------- */

/* Runs under the lock of the peer entry that has the NID. The worker evaluates the reply later. */
static void proof_ping_done(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_discovery *d = &p->ln->disc;
	struct lnet_proof *f = op->arg;

	spin_lock(&d->lock);
	if (op->outcome == LNET_OK && op->sbuf) {
		f->reply = op->sbuf;
		f->len = op->mlength;
		lnet_sbuf_get(f->reply);
	}
	list_add_tail(&f->over, &d->proved);
	spin_unlock(&d->lock);
	lnet_job_schedule(p->ln, &d->todo_ns, p->now_ns);
}

/* Pings the NID of @f. Only cfg_mutex is held. False: no ping can be sent now. */
static bool proof_ping(struct lnet_pass *p, struct lnet_proofs *all, struct lnet_proof *f)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_claimed(p->ln, &f->nid, all->peer);
	struct lnet_op *op;
	u32 size;

	if (!pni)
		return false;
	lnet_enter_peer(p, all->peer);
	size = clamp(all->peer->disc.size, LNET_PINGINFO_MIN, LNET_INFO_BYTES);
	lnet_enter_pni(p, pni);
	/*
	 * If only another peer has named @pni, and @pni never sent a message, sends no recovery
	 * pings to @pni.
	 */
	if (pni->peer->claimer && !pni->last_rx_ns && pni->status == LNET_PNI_STATUS_NONE)
		pni->status = LNET_PNI_STATUS_DOWN;
	op = lnet_paths_live(pni) ? lnet_op_control(p, pni, LNET_OP_GET, 0) : NULL;
	if (op) {
		op->binding = LNET_BIND_FIXED;
		op->done = proof_ping_done;
		op->len = DIV_ROUND_UP(size, LNET_PINGINFO_MIN) * LNET_PINGINFO_MIN + NOT_DISCOVERY;
		op->arg = f;
		lnet_count(p->sh, nids_pinged);
		lnet_op_defer(p, op);
	}
	lnet_leave(p);
	lnet_peer_ni_put(pni);
	if (!op)
		return false;
	lnet_peer_get(all->peer);
	f->pinged = 1;
	f->paid = 0;
	all->next_ping_ns = max(all->next_ping_ns, p->now_ns) + PING_NS;
	f->pinged_ns = p->now_ns;
	all->nr_pinged++;
	return true;
}

/*
 * True if a message was received from the NID after the last ping. Then the next ping may succeed.
 */
static bool is_heard(struct lnet *ln, const struct lnet_proof *f)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, &f->nid);
	bool heard = pni && READ_ONCE(pni->last_rx_ns) > f->pinged_ns;

	lnet_peer_ni_put(pni);
	return heard;
}

/*
 * Returns a random time between half of the pause and the pause. The pause doubles with each
 * failure. The longest pause is KNOWN_MAX_NS, or max_recovery_ping_interval if the NID never sent a
 * message.
 */
static u64 proof_pause_ns(struct lnet_pass *p, const struct lnet_proof *f)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(p->ln, &f->nid);
	bool known = pni && READ_ONCE(pni->last_rx_ns);
	u64 most = known ? KNOWN_MAX_NS : READ_ONCE(p->ln->tun.max_recovery_ping_interval);
	u64 ns = lnet_doubled(RETRY_NS, f->fails, most);

	lnet_peer_ni_put(pni);
	return ns - lnet_disc_random(p->ln, ns / 2);
}

/*
 * No lock held. Returns true if requests or a user wait for the discovery round. The pings of such
 * a round ignore the rate limit.
 */
static bool round_is_awaited(struct lnet_pass *p, struct lnet_peer *peer)
{
	bool is;

	lnet_enter_peer(p, peer);
	is = peer->held || !list_empty(&peer->disc.waiters);
	lnet_leave(p);
	return is;
}

/*
 * No lock held. Makes the worker visit @peer. If @changed, the worker also merges the info again.
 */
static void merge_again(struct lnet_pass *p, struct lnet_peer *peer, bool changed)
{
	struct lnet_proofs *all = peer->disc.proofs;
	struct lnet_disc *d = &peer->disc;

	lnet_enter_peer(p, peer);
	if (changed && !d->data && all->info) {
		lnet_disc_list_set(p->ln, &d->data, all->info);
		d->merge_free = 1;
		d->data_len = all->len;
	}
	if (d->data && !d->pushing)
		lnet_disc_step(p, peer);
	else if (!peer->deleted)
		lnet_merge_due(p, peer);
	lnet_leave(p);
}

/*
 * Returns when the next ping for the list of this peer may be sent; 0: now. This limit lets a peer
 * whose lists change all the time cause only few pings.
 */
static u64 share_ns(const struct lnet_proofs *all)
{
	u64 burst_ns = READ_ONCE(all->peer->ln->tun.max_interfaces) * PING_NS;

	return all->next_ping_ns < burst_ns ? 0 : all->next_ping_ns - burst_ns;
}

/*
 * Pings the NID of @f if the ping is due. Returns when to try again; U64_MAX: no timer is needed.
 */
static u64 try_one(struct lnet_pass *p, struct lnet_proofs *all, struct lnet_proof *f)
{
	if (f->proven || f->pinged || !f->wanted)
		return U64_MAX;
	if (p->now_ns < f->next_ns && f->fails && !f->rejected && is_heard(p->ln, f))
		f->next_ns = p->now_ns;
	if (p->now_ns < f->next_ns)
		return min(f->next_ns, p->now_ns + CHECK_NS);
	if (all->nr_pinged >= FEW)
		/* when a ping in flight ends, this function is called again */
		return U64_MAX;
	if (p->now_ns < share_ns(all))
		return share_ns(all);
	/* the ping counts against the rate limit */
	if (!f->paid && !round_is_awaited(p, f->peer)) {
		f->paid = 1;
		f->next_ns = max(f->next_ns, lnet_disc_rate_limit(p->ln, p->now_ns));
	}
	if (p->now_ns >= f->next_ns && !proof_ping(p, all, f)) {
		f->fails = min(f->fails + 1, U8_MAX);
		f->next_ns = p->now_ns + proof_pause_ns(p, f);
		merge_again(p, all->peer, f->fails == 1);	/* it may be an alias */
	}
	return f->pinged ? U64_MAX : f->next_ns;
}

void lnet_proofs_run(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_proofs *all = peer->disc.proofs;
	struct lnet_disc *d = &peer->disc;
	u64 next_ns = U64_MAX;
	struct lnet_proof *f;
	bool waits = false;

	if (!all || READ_ONCE(p->ln->stopping))
		return;
	list_for_each_entry(f, &all->list, link) {
		next_ns = min(next_ns, try_one(p, all, f));
		waits |= f->wanted && !f->proven && !f->fails;
	}
	lnet_enter_peer(p, peer);
	if (!peer->deleted) {
		/* A discovery round waits for the first ping of each NID, but at most ROUND_NS. */
		if (!waits)
			d->prove_by_ns = 0;
		else if (!d->prove_by_ns)
			d->prove_by_ns = p->now_ns + ROUND_NS;
		if (next_ns != U64_MAX)
			lnet_timer_set(&p->sh->wheel, &all->timer, next_ns);
	}
	lnet_leave(p);
}

void lnet_proofs_timer(struct lnet_pass *p, struct lnet_timer *t)
{
	struct lnet_peer *peer = container_of(t, struct lnet_proofs, timer)->peer;

	if (!peer->deleted)
		lnet_merge_due(p, peer);
}

/* ---- replies --------------------------------------------------------------------------------- */

/* True if @info lists a NID that @peer is known to have. */
static bool lists_peer(struct lnet *ln, const struct lnet_peer *peer, const struct lnet_sbuf *info,
		       u32 len)
{
	struct lnet_pinginfo_ni *nis = kvcalloc(LNET_LISTED_MAX, sizeof(*nis), GFP_KERNEL);
	struct lnet_peer_ni *pni;
	struct lnet_pinginfo pi;
	bool does = false;
	unsigned int i;

	if (!nis)
		return false;
	lnet_pinginfo_decode(&pi, info->data, len, nis, LNET_LISTED_MAX);
	for (i = 0; i < pi.nr && !does; i++) {
		pni = lnet_peer_ni_lookup(ln, &nis[i].nid);
		does = pni && pni->peer == peer && !pni->alias;
		lnet_peer_ni_put(pni);
	}
	kvfree(nis);
	return does;
}

/* @reply: the ping info of the node that has the NID; NULL: no reply was received. */
static void evaluate(struct lnet_pass *p, struct lnet_peer *peer, struct lnet_proof *f,
		     const struct lnet_sbuf *reply, u32 len)
{
	bool was_refused = f->rejected;

	f->proven = reply && lists_peer(p->ln, peer, reply, len);
	f->rejected = reply && !f->proven;
	if (!f->proven) {
		f->fails = min(f->fails + 1, U8_MAX);
		f->next_ns = p->now_ns + proof_pause_ns(p, f);
	}
	lnet_enter_peer(p, peer);
	if (f->proven)
		lnet_count(p->sh, nids_proven);
	else if (f->rejected)
		lnet_count(p->sh, nids_rejected);
	lnet_leave(p);
	if (f->rejected)
		lnet_log_nid_rejected(p->ln, &peer->primary, &f->nid);
	merge_again(p, peer, f->proven || f->rejected != was_refused || f->fails == 1);
}

static struct lnet_proof *proof_take_ended(struct lnet_discovery *d)
{
	struct lnet_proof *f;

	spin_lock(&d->lock);
	f = list_first_entry_or_null(&d->proved, struct lnet_proof, over);
	if (f)
		list_del_init(&f->over);
	spin_unlock(&d->lock);
	return f;
}

/* Completes the ping of @f. If @p is NULL, the result is discarded. */
static void proof_complete(struct lnet_pass *p, struct lnet_proof *f)
{
	struct lnet_sbuf *reply = f->reply;
	struct lnet_peer *peer = f->peer;
	struct lnet_proofs *all = peer->disc.proofs;

	f->reply = NULL;
	f->pinged = 0;
	all->nr_pinged--;
	if (p && f->wanted && !peer->deleted)
		evaluate(p, peer, f, reply, f->len);
	else
		proof_free(all, f);
	lnet_sbuf_put(reply);
	lnet_peer_put(peer);
}

void lnet_proofs_take(struct lnet_pass *p)
{
	struct lnet_proof *f;
	unsigned int nr;

	for (nr = 0; nr < VISITS && (f = proof_take_ended(&p->ln->disc)); nr++)
		proof_complete(p, f);
}

/* ---- end ------------------------------------------------------------------------------------- */

void lnet_proofs_fini(struct lnet *ln)
{
	struct lnet_proof *f;

	while ((f = proof_take_ended(&ln->disc)))
		proof_complete(NULL, f);
}

void lnet_proofs_stop(struct lnet_peer *peer)
{
	lockdep_assert_held(&peer->sh->lock);
	if (peer->disc.proofs)
		lnet_timer_cancel(&peer->sh->wheel, &peer->disc.proofs->timer);
}

void lnet_proofs_move(struct lnet_peer *peer, struct lnet_shard *to)
{
	struct lnet_proofs *all = peer->disc.proofs;
	bool armed = all && !list_empty(&all->timer.link);

	lnet_proofs_stop(peer);
	if (armed)
		lnet_timer_set(&to->wheel, &all->timer, all->timer.when_ns);
}

void lnet_proofs_free(struct lnet_peer *peer)
{
	struct lnet_proofs *all = peer->disc.proofs;
	struct lnet_proof *f, *next;

	if (!all)
		return;
	WARN_ON_ONCE(!list_empty(&all->timer.link));
	list_for_each_entry_safe(f, next, &all->list, link)
		proof_free(all, f);
	info_set(all, NULL, 0);
	kfree(all);
}
