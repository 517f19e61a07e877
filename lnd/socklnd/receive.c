/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bounds the time in which a payload is received. Also bounds the payload bytes that the node
 * receives from one address at a time, and the memory for messages without a buffer.
 */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

/*
 * The driver measures the time of a receive in steps of this length. While it receives, it also
 * ticks at least once per step. If two ticks are further apart, the driver counts at most twice
 * this length. In such a gap the node may not have run, and then it did not read.
 */
#define STEP_NS		(100 * (u64)NSEC_PER_MSEC)
/*
 * The length of a step for a payload that is young (see NEW_MAX) or slower than receive_rate. While
 * sn->slow is not empty, all steps have this length.
 */
#define SHORT_STEP_NS	(25 * (u64)NSEC_PER_MSEC)
/*
 * If other messages wait for the buffer of a payload, the payload may take this time, however slow
 * it is. If several payloads of the interface are slower than receive_rate, each may take this time
 * divided by their number.
 */
#define WANTED_NS	((u64)NSEC_PER_SEC)
/*
 * After a payload was too slow, the node receives no payload from its address during a pause. If
 * the next payload is too slow also, the pause doubles. After a pause, the node receives one
 * payload at a time from the address, for SLOW_NS.
 */
#define SLOW_PAUSE_NS	((u64)NSEC_PER_SEC)
#define SLOW_PAUSE_MAX_NS	(64 * (u64)NSEC_PER_SEC)
#define SLOW_NS		(10 * (u64)NSEC_PER_SEC)
/*
 * An address is new until the node has received a payload from it in full. After each pause, the
 * address is new again. A payload from a new address is young for SHORT_STEP_NS. NEW_MAX bounds
 * the payloads of an interface that are young or slower than receive_rate. At this bound, further
 * payloads from new addresses wait. So many new addresses cannot take all buffers before the driver
 * knows their rates.
 */
#define NEW_MAX		16U

void sock_conn_resume(struct sock_conn *c)
{
	struct sock_ni *sn = c->sn;

	WRITE_ONCE(c->waits, false);
	if (c->reading)
		return;
	c->want_read = true;
	sn->io->want(c);
	if (list_empty(&c->resume))
		list_add_tail(&c->resume, &sn->resume);
	sock_arm(sn, sn->now_ns);
}

/* ---- shares of addresses ---- */

static struct sock_host *host_get(struct sock_ni *sn, const struct lnet_nid *from)
{
	u32 hash = sock_nid_hash(&sn->hosts, from);
	struct sock_host *host;

	hlist_for_each_entry(host, sock_table_chain(&sn->hosts, hash), hash.link) {
		if (lnet_nid_same(&host->from, from)) {
			host->refs++;
			return host;
		}
	}
	host = kzalloc(sizeof(*host), GFP_NOFS);
	if (!host)
		return NULL;
	host->from = *from;
	host->refs = 1;
	INIT_LIST_HEAD(&host->queue);
	INIT_LIST_HEAD(&host->slow);
	INIT_LIST_HEAD(&host->newcomer);
	sock_table_add(&sn->hosts, &host->hash, hash);
	return host;
}

void sock_host_put(struct sock_ni *sn, struct sock_host *host)
{
	lockdep_assert_held(&sn->lock);
	if (!host || --host->refs)
		return;
	sock_table_del(&sn->hosts, &host->hash);
	kfree(host);
}

/* Returns how many more bytes the node may receive from the address now; U64_MAX: any number. */
static u64 room(const struct sock_ni *sn, const struct sock_host *host)
{
	u64 most = READ_ONCE(sock_tun(sn)->receive_per_address);

	if (!list_empty(&host->slow))
		return 0;
	return most ? most - min(most, host->receiving) : U64_MAX;
}

/*
 * Outside a pause, one payload is always permitted, even if it is longer than receive_per_address.
 */
static bool fits_share(const struct sock_ni *sn, const struct sock_host *host, u32 len)
{
	return !host->pause_ns && (!host->receiving || len <= room(sn, host));
}

/* Returns true if a payload of @len bytes counts as a payload of a new address. */
static bool host_is_new(const struct sock_host *host, u32 len)
{
	return !list_empty(&host->slow) || (!host->proven && len > SOCK_INLINE_MAX);
}

/* If no least rate is set, no payload lags. */
static bool sock_ni_is_full(const struct sock_ni *sn)
{
	return READ_ONCE(sock_tun(sn)->receive_rate) && sn->nr_young + sn->nr_lags >= NEW_MAX;
}

static bool payload_fits(const struct sock_ni *sn, const struct sock_host *host, u32 len)
{
	return fits_share(sn, host, len) && !(host_is_new(host, len) && sock_ni_is_full(sn));
}

/* Lock held. Sets c->young. sn->nr_young is the number of connections with c->young. */
static void set_young(struct sock_conn *c, bool young)
{
	c->sn->nr_young += young - c->young;
	c->young = young;
}

static void grant(struct sock_conn *c, u32 len)
{
	struct sock_host *host = c->host;

	set_young(c, host_is_new(host, len));
	c->claim = len;
	host->receiving += len;
	host->nr++;
	host->refs++;
}

/*
 * Resumes the first queued connections whose payloads are permitted now, and reserves the bytes of
 * these payloads.
 */
static void host_queue_resume(struct sock_ni *sn, struct sock_host *host)
{
	struct sock_conn *c;

	list_del_init(&host->newcomer);
	while (!list_empty(&host->queue)) {
		c = list_first_entry(&host->queue, struct sock_conn, queued_at);
		if (!payload_fits(sn, host, c->claim)) {
			if (fits_share(sn, host, c->claim))
				list_add_tail(&host->newcomer, &sn->newcomers);
			return;
		}
		list_del_init(&c->queued_at);
		grant(c, c->claim);
		c->reserved = true;
		sock_conn_resume(c);
	}
}

/* Lock held. Called after sn->nr_young or sn->nr_lags was reduced. */
static void wake_newcomers(struct sock_ni *sn)
{
	while (!list_empty(&sn->newcomers) && !sock_ni_is_full(sn))
		host_queue_resume(sn, list_first_entry(&sn->newcomers, struct sock_host, newcomer));
}

bool sock_receive_claim(struct sock_conn *c, u32 len, bool force)
{
	struct sock_host *host = c->host;

	if (!host || !len || c->state != CONN_OPEN)
		return true;
	if (c->reserved) {
		c->reserved = false;
		return true;
	}
	if (!force && (!list_empty(&host->queue) || !payload_fits(c->sn, host, len))) {
		if (fits_share(c->sn, host, len))
			sock_count(c->sn, newcomer_waits);
		else
			sock_count(c->sn, throttled);
		WRITE_ONCE(c->waits, true);
		c->claim = len;
		list_add_tail(&c->queued_at, &host->queue);
		if (list_empty(&host->newcomer))
			host_queue_resume(c->sn, host);
		return false;
	}
	grant(c, len);
	return true;
}

/* Lock held. Sets c->lags. sn->nr_lags is the number of connections with c->lags. */
static void set_lags(struct sock_conn *c, bool lags)
{
	c->sn->nr_lags += lags - c->lags;
	c->lags = lags;
}

void sock_receive_unclaim(struct sock_conn *c)
{
	struct sock_host *host = c->host;

	set_lags(c, false);
	/* there was no memory for the host when the connection was opened */
	if (!host)
		wake_newcomers(c->sn);
	if (!c->claim || !list_empty(&c->queued_at))
		return;
	set_young(c, false);
	host->receiving -= c->claim;
	host->nr--;
	c->claim = 0;
	c->reserved = false;
	wake_newcomers(c->sn);
	host_queue_resume(c->sn, host);
	sock_host_put(c->sn, host);
}

void sock_receive_done(struct sock_conn *c)
{
	if (c->claim > SOCK_INLINE_MAX && c->host)
		c->host->proven = true;
	sock_receive_unclaim(c);
}

void sock_host_open(struct sock_conn *c)
{
	c->host = host_get(c->sn, &c->from);
}

void sock_host_shut(struct sock_conn *c)
{
	set_lags(c, false);
	set_young(c, false);
	if (c->host && !list_empty(&c->queued_at)) {
		list_del_init(&c->queued_at);
		c->claim = 0;
	}
	if (c->host)
		host_queue_resume(c->sn, c->host);
	wake_newcomers(c->sn);
}

void sock_rx_address(struct lnet_ni *ni, const struct lnet_rx *rx, struct lnet_nid *nid)
{
	const struct sock_conn *c = rx->lnd[0];

	if (c)
		*nid = c->from;
}

/* ---- time ---- */

/* Returns the longest time that @len bytes may take; U64_MAX: any time. */
static u64 longest_ns(const struct lnet_tunables *tun, u32 len)
{
	u64 rate = READ_ONCE(tun->receive_rate);

	if (!rate)
		return U64_MAX;
	return max(READ_ONCE(tun->receive_time), div64_u64((u64)len * NSEC_PER_SEC, rate));
}

static u64 step_ns(const struct sock_conn *c)
{
	return list_empty(&c->sn->slow) && !c->young && !c->lags ? STEP_NS : SHORT_STEP_NS;
}

bool sock_receives(const struct sock_conn *c)
{
	return (READ_ONCE(c->rx) || READ_ONCE(c->hold)) && !c->waits;
}

void sock_receive_clock(struct sock_ni *sn, u64 now_ns)
{
	sn->ran_ns += min(now_ns - sn->ticked_ns, 2 * STEP_NS);
	sn->ticked_ns = now_ns;
}

/*
 * Lock held. Updates c->age_ns, the time that the current payload of @c has taken. Adds the time
 * for which the driver ran since the last call for @c. If the payload is not the one of that call,
 * the time starts at 0. If many peers are due, calls are late although the driver runs, so a late
 * call adds the whole time.
 */
static void age(struct sock_conn *c)
{
	u32 nr = READ_ONCE(c->nr_receives);
	u64 ran_ns = c->sn->ran_ns;

	if (c->aged_nr == nr && !c->reading)
		c->age_ns += ran_ns - c->aged_ns;
	else if (c->aged_nr != nr)
		c->age_ns = 0;
	c->aged_nr = nr;
	c->aged_ns = ran_ns;
}

/* Returns true if the average rate of the payload so far is below receive_rate. */
static bool lags(const struct sock_conn *c)
{
	u64 rate = READ_ONCE(sock_tun(c->sn)->receive_rate);

	return rate && !c->reading && !c->stop && c->rx && c->age_ns >= SHORT_STEP_NS &&
	       c->pos < div_u64(div_u64(c->age_ns, NSEC_PER_MSEC) * rate, MSEC_PER_SEC);
}

/* Lock held. Updates c->lags. After SHORT_STEP_NS, the payload is not young any more. */
static void conn_lag_update(struct sock_conn *c)
{
	set_lags(c, lags(c));
	if (c->age_ns >= SHORT_STEP_NS && !c->reading)
		set_young(c, false);
	wake_newcomers(c->sn);
}

/*
 * Lock held. Returns true if the payload of @c lags, has taken at least WANTED_NS / sn->nr_lags,
 * and blocks other messages. These messages wait for its buffer, or are in sn->newcomers until
 * fewer payloads are young or lag.
 */
static bool is_in_the_way(const struct sock_conn *c)
{
	return c->lags && c->age_ns >= div_u64(WANTED_NS, c->sn->nr_lags) &&
	       (!list_empty(&c->sn->newcomers) || lnet_rx_is_wanted(c->rx));
}

/* Lock held. Starts a pause, in which the node receives no payload from the address of @host. */
static void host_slow_down(struct sock_ni *sn, struct sock_host *host)
{
	if (!host || host->pause_ns)
		return;
	if (list_empty(&host->slow)) {
		host->refs++;
		host->last_pause_ns = 0;
		list_add_tail(&host->slow, &sn->slow);
	}
	host->proven = false;
	host->last_pause_ns = clamp(2 * host->last_pause_ns, SLOW_PAUSE_NS, SLOW_PAUSE_MAX_NS);
	host->pause_ns = sn->now_ns + host->last_pause_ns;
	host->slow_ns = host->pause_ns + SLOW_NS;
	sn->hosts_ns = min(sn->hosts_ns, host->pause_ns);
	sock_arm(sn, sn->hosts_ns);
}

/*
 * Lock held. Ends the pause of @host if host->pause_ns has passed. If host->slow_ns has also
 * passed, removes @host from sn->slow, so that several payloads at a time are permitted again.
 * Returns the first of these two times that has not passed. U64_MAX: @host was removed.
 */
static u64 host_tick(struct sock_ni *sn, struct sock_host *host, u64 now_ns)
{
	if (host->pause_ns > now_ns)
		return host->pause_ns;
	host->pause_ns = 0;
	if (host->slow_ns > now_ns) {
		host_queue_resume(sn, host);
		return host->slow_ns;
	}
	list_del_init(&host->slow);
	host_queue_resume(sn, host);
	sock_host_put(sn, host);
	return U64_MAX;
}

void sock_hosts_tick(struct sock_ni *sn, u64 now_ns)
{
	struct sock_host *host, *next;
	u64 next_ns = U64_MAX;

	if (now_ns >= sn->hosts_ns) {
		list_for_each_entry_safe(host, next, &sn->slow, slow)
			next_ns = min(next_ns, host_tick(sn, host, now_ns));
		sn->hosts_ns = next_ns == U64_MAX ? U64_MAX : max(next_ns, now_ns + STEP_NS);
	}
	if (sn->hosts_ns != U64_MAX)
		sock_arm(sn, sn->hosts_ns);
}

bool sock_receive_is_late(struct sock_conn *c, u64 now_ns, u64 *next_ns)
{
	u64 longest;

	if (!sock_receives(c))
		return false;
	longest = longest_ns(sock_tun(c->sn), READ_ONCE(c->want));
	age(c);
	conn_lag_update(c);
	if (c->age_ns >= longest || is_in_the_way(c)) {
		sock_count(c->sn, too_slow);
		c->slow = true;
		host_slow_down(c->sn, c->host);
		return true;
	}
	if (longest != U64_MAX)
		*next_ns = min(*next_ns, now_ns + min(step_ns(c), longest - c->age_ns));
	return false;
}

void sock_receive_watch(struct sock_conn *c)
{
	if (c->state == CONN_OPEN && sock_receives(c))
		sock_peer_arm(c->peer, c->sn->now_ns + step_ns(c));
}

/* ---- memory for bytes and messages that wait ---- */

/*
 * A read takes at most the free memory divided by AHEAD_PART, because the connection may have to
 * keep all bytes of the read. A read of AHEAD_LEAST bytes is always permitted.
 */
#define AHEAD_PART	16
#define AHEAD_LEAST	4096U

static u64 hold_room(u64 most, u64 used)
{
	return most - min(most, used);
}

u32 sock_read_ahead(const struct sock_conn *c, u32 size)
{
	const struct lnet_tunables *tun = sock_tun(c->sn);
	const struct sock_host *host = c->host;
	u64 least = min(size, AHEAD_LEAST), most;

	if (c->large || READ_ONCE(c->state) != CONN_OPEN)
		return least;
	most = hold_room(READ_ONCE(tun->hold_budget), READ_ONCE(c->sn->hold_bytes));
	if (host)
		most = min(most, hold_room(READ_ONCE(tun->hold_per_address),
					   READ_ONCE(host->held)));
	return clamp_t(u64, most / AHEAD_PART, least, size);
}

static void hold_add(struct sock_ni *sn, struct sock_host *host, u32 bytes)
{
	lockdep_assert_held(&sn->lock);
	WRITE_ONCE(sn->hold_bytes, sn->hold_bytes + bytes);
	if (host)
		WRITE_ONCE(host->held, host->held + bytes);
}

static void hold_sub(struct sock_ni *sn, struct sock_host *host, u32 bytes)
{
	lockdep_assert_held(&sn->lock);
	WRITE_ONCE(sn->hold_bytes, sn->hold_bytes - bytes);
	if (host)
		WRITE_ONCE(host->held, host->held - bytes);
}

int sock_stash_put(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len)
{
	u32 nr_hdr = c->nr_hdr;
	u8 *stash;

	if (!nr_hdr && !len)
		return 0;
	stash = kmalloc(nr_hdr + len, GFP_NOFS);
	if (!stash)
		return -ENOMEM;
	memcpy(stash, c->hdr, nr_hdr);
	memcpy(stash + nr_hdr, data, len);
	sock_lock(p, c->sn);
	c->stash = stash;
	c->stash_len = nr_hdr + len;
	WRITE_ONCE(c->nr_hdr, 0);
	hold_add(c->sn, c->host, c->stash_len);
	sock_unlock(p, c->sn);
	return 0;
}

u8 *sock_stash_take(struct lnet_pass *p, struct sock_conn *c)
{
	u8 *stash = c->stash;

	sock_lock(p, c->sn);
	c->stash = NULL;
	hold_sub(c->sn, c->host, c->stash_len);
	sock_unlock(p, c->sn);
	return stash;
}

void sock_stash_drop(struct sock_conn *c)
{
	if (c->stash)
		hold_sub(c->sn, c->host, c->stash_len);
	kfree(c->stash);
	c->stash = NULL;
}

/* ---- messages read aside ---- */

struct sock_hold *sock_hold_new(struct sock_conn *c, struct lnet_rx *rx, u32 len)
{
	struct sock_ni *sn = c->sn;
	const struct lnet_tunables *tun = sock_tun(sn);
	u32 cost = sizeof(struct sock_hold) + sizeof(*rx) + len;
	struct sock_host *host = c->host;
	struct sock_hold *h;

	if (len > READ_ONCE(tun->hold_max) || sn->hold_bytes + cost > READ_ONCE(tun->hold_budget) ||
	    (host && host->held + cost > READ_ONCE(tun->hold_per_address)))
		return NULL;
	h = kmalloc(sizeof(*h) + len, GFP_NOFS | __GFP_NOWARN);
	if (!h)
		return NULL;
	memset(h, 0, sizeof(*h));
	h->rx = rx;
	h->peer = c->peer;
	h->peer->pins++;
	h->epoch = c->epoch;
	h->cookie = c->cookie;
	h->len = len;
	h->cost = cost;
	hold_add(sn, host, cost);
	h->host = host;
	if (host)
		host->refs++;
	list_add_tail(&h->link, &sn->holds);
	rx->lnd[1] = h;
	sock_count(sn, held);
	return h;
}

void sock_hold_release(struct sock_ni *sn, struct sock_hold *h)
{
	list_del_init(&h->link);
	hold_sub(sn, h->host, h->cost);
	sock_host_put(sn, h->host);
	h->peer->pins--;
}

void sock_hold_free(struct sock_ni *sn, struct sock_hold *h)
{
	sock_hold_release(sn, h);
	kfree(h);
}
