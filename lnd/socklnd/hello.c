/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handshakes of dialled and accepted connections: request, HELLO, simultaneous dials, rejections,
 * restarts.
 */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

#define NEED_MORE 1

/* Lock held. @nid need not be a peer: a rejection may be sent to any NID. */
static u64 incarnation_for(struct sock_ni *sn, const struct lnet_nid *to)
{
	const struct sock_peer *peer = sock_peer_find(sn, to);

	return peer ? peer->own_incarnation : sn->incarnation;
}

static void hello_out(struct sock_conn *c, const struct lnet_nid *to, u32 version, u32 ctype,
		      const struct lnet_hello *asked)
{
	struct lnet_hello h = {
		.version = version,
		.src_pid = LNET_PID,
		.ctype = ctype,
		.src_nid = c->sn->nid,
		.dst_nid = *to,
		.src_incarnation = incarnation_for(c->sn, to),
	};
	u8 buf[LNET_HELLO_SIZE_MAX];

	if (asked) {
		h.dst_pid = asked->dst_pid;
		h.dst_incarnation = asked->dst_incarnation;
	}
	sock_out_raw(c, buf, lnet_hello_encode(buf, &h));
}

void sock_hello_dial(struct lnet_pass *p, struct sock_conn *c)
{
	struct lnet_acr acr = { .nid = c->peer->nid, .version = lnet_acr_version(&c->peer->nid) };
	u8 buf[LNET_ACR_SIZE_MAX];

	sock_conn_set_state(c, CONN_WAIT_REPLY);
	sock_out_raw(c, buf, lnet_acr_encode(buf, &acr));
	hello_out(c, &c->peer->nid, c->version, c->type, NULL);
	c->want_read = true;
	c->sn->io->want(c);
	sock_doorbell(c);
}

/* ---- dialled connections: the reply ---- */

static void reply_refused(struct lnet_pass *p, struct sock_conn *c, const struct lnet_hello *h)
{
	struct sock_peer *peer = c->peer;

	sock_conn_close(p, c, true);
	if (h->version == c->version) {
		sock_dial_refused(p, peer);
		return;
	}
	/* Redials at once with the peer's version. Fails at the third rejection in a row. */
	peer->dial_version = h->version;
	if (++peer->refusals < 3)
		sock_peer_dial(p, peer);
	else
		sock_dial_failed(p, peer, -EPROTO, LNET_REMOTE_DROPPED);
}

static bool reply_is_stale(const struct sock_peer *peer, const struct lnet_hello *h)
{
	return peer->version &&
	       (peer->version != h->version || peer->incarnation != h->src_incarnation);
}

/* [lock] */
static int reply_judge(struct lnet_pass *p, struct sock_conn *c, const struct lnet_hello *h)
{
	struct sock_peer *peer = c->peer;

	if (!lnet_nid_same(&h->src_nid, &peer->nid) || h->src_pid != LNET_PID)
		return -EPROTO;
	if (h->ctype == LNET_CTYPE_NONE) {
		reply_refused(p, c, h);
		return 0;
	}
	if (!lnet_ctype_is_valid(h->ctype) || lnet_ctype_invert(h->ctype) != c->type)
		return -EPROTO;
	if (reply_is_stale(peer, h)) {
		peer->dial_version = h->version;
		sock_conn_close(p, c, true);
		peer->job = false;
		sock_set_close(p, peer, LNET_PATH_LOST, true);
		return 0;
	}
	c->version = h->version;
	c->swapped = h->swapped;
	peer->version = h->version;
	peer->incarnation = h->src_incarnation;
	peer->refusals = 0;
	peer->dial = NULL;
	sock_conn_open(p, c, peer);
	sock_peer_dial(p, peer);
	return 0;
}

static int reply_feed(struct lnet_pass *p, struct sock_conn *c, unsigned int *need)
{
	struct sock_ni *sn = c->sn;
	struct lnet_hello h;
	int err;

	switch (lnet_hello_decode(&h, c->hdr, c->nr_hdr, need)) {
	case LNET_HELLO_OK:
		break;
	case LNET_HELLO_MORE:
		return NEED_MORE;
	default:
		return -EPROTO;
	}
	sock_lock(p, sn);
	WRITE_ONCE(c->nr_hdr, 0);
	err = c->state == CONN_WAIT_REPLY ? reply_judge(p, c, &h) : 0;
	sock_doorbell_flush(p, sn);
	sock_unlock(p, sn);
	return err;
}

/* ---- accepted connections ---- */

/* Lock held. Logs a rejection, unless this node dialled @c, or @c is closed. */
static void rejected(struct sock_conn *c, const char *why)
{
	if (c->half.source)
		sock_rejected(c->sn, c->half.source->addr, why);
}

static void hello_reject(struct lnet_pass *p, struct sock_conn *c, u32 version,
			 const struct lnet_hello *h)
{
	const struct lnet_nid *to = h ? &h->src_nid : &c->sn->nid;

	hello_out(c, to, version, LNET_CTYPE_NONE, h);
	sock_conn_set_state(c, CONN_REFUSING);
	sock_doorbell(c);
}

/*
 * Lock held. The peer dials although this node has a set with the peer. The peer may have lost this
 * set, and without traffic this node does not notice the loss. So this function sends a keepalive
 * on the set. If the peer has lost the set, its TCP replies with a reset, which ends the set at
 * this node. Then this node accepts the peer's next connection.
 */
static void doubt_set(struct sock_peer *peer)
{
	struct sock_ni *sn = peer->sn;

	if (sn->now_ns >= peer->keepalive_ns + READ_ONCE(sock_tun(sn)->min_reconnect))
		sock_keepalive(peer, sn->now_ns);
}

/*
 * Lock held. Returns true if the HELLO is rejected, because another address has an open set of the
 * peer. The sender of the HELLO may neither end nor join that set. If the peer has moved to the new
 * address, the keepalive ends the set.
 */
static bool comes_from_elsewhere(struct lnet_pass *p, struct sock_conn *c,
				 const struct lnet_hello *h, struct sock_peer *peer)
{
	if (!c->bound || list_empty(&peer->conns) || lnet_nid_same(&peer->from, &c->from))
		return false;
	sock_count(c->sn, rejected_address);
	rejected(c, "the peer in its HELLO has open connections from a different address (see "
		    "hello_address)");
	hello_reject(p, c, h->version, h);
	doubt_set(peer);
	return true;
}

/* [lock] */
static bool is_one_too_many(struct lnet_pass *p, struct sock_conn *c, const struct lnet_hello *h,
			    struct sock_peer *peer)
{
	if (sock_guest_fits(p, c, peer))
		return false;
	sock_count(c->sn, rejected_many);
	rejected(c, "too many connections are open (see conns_per_address, conns_max)");
	hello_reject(p, c, h->version, h);
	return true;
}

/* Lock held. Checks a valid HELLO: rejects it, or accepts it and opens @c. */
static void hello_judge(struct lnet_pass *p, struct sock_conn *c, const struct lnet_hello *h,
			struct sock_peer *peer)
{
	struct sock_ni *sn = c->sn;
	u32 type = lnet_ctype_invert(h->ctype);

	if (comes_from_elsewhere(p, c, h, peer))
		return;
	/*
	 * If both nodes dial each other, this node rejects the connection of a peer with a lower
	 * NID. In a pause between its own dials, this node does not reject such a connection. The
	 * peer may be able to reach this node even if this node cannot reach the peer.
	 */
	if (peer->dial && lnet_nid_cmp(&peer->nid, &sn->nid) < 0) {
		sock_count(sn, rejected_race);
		hello_reject(p, c, h->version, h);
		return;
	}
	if (peer->version &&
	    (peer->version != h->version || peer->incarnation != h->src_incarnation)) {
		sock_count(sn, rejected_stale);
		peer->dial_version = h->version;
		sock_set_close(p, peer, LNET_PATH_LOST, true);
		hello_reject(p, c, h->version, h);
		return;
	}
	/*
	 * A peer with this driver loses all connections of a set at once, and dials the control
	 * connection first. If such a peer dials while the old set is stuck, the old set is dead,
	 * even without a reset. The set is closed now, because closing it later would also close
	 * the new connections.
	 */
	if (type == LNET_CTYPE_CONTROL && sock_set_is_stuck(peer, sn->now_ns)) {
		sock_count(sn, replaced);
		sock_set_close(p, peer, LNET_PATH_LOST, true);
	}
	if (!c->same_host && peer->nr[type] >= lnet_ni_conns_per_peer(sn->ni)) {
		sock_count(sn, rejected_full);
		hello_reject(p, c, h->version, h);
		if (type == LNET_CTYPE_CONTROL)
			doubt_set(peer);
		return;
	}
	if (is_one_too_many(p, c, h, peer))
		return;
	peer->version = h->version;
	peer->incarnation = h->src_incarnation;
	c->version = h->version;
	c->swapped = h->swapped;
	c->type = type;
	hello_out(c, &h->src_nid, h->version, type, h);
	sock_conn_open(p, c, peer);
}

static bool hello_is_acceptable(const struct sock_conn *c, const struct lnet_hello *h)
{
	return lnet_ctype_is_valid(h->ctype) &&
	       lnet_nid_net(&h->src_nid) == lnet_nid_net(&c->sn->nid);
}

static bool nid_is_ours(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_ni *ni = lnet_ni_find(ln, nid);

	lnet_ni_put(ni);
	return ni;
}

/*
 * Returns NULL, or the reason why the sender of the HELLO cannot be the peer interface @pni. A
 * look-up of any NID of this node finds the peer interface of the loopback driver. So if the NID of
 * @pni is the loopback NID, the HELLO has a NID of this node.
 */
static const char *nid_is_false(const struct sock_conn *c, const struct lnet_nid *nid,
				const struct lnet_peer_ni *pni)
{
	if (!lnet_nid_is_host(nid))
		return "its HELLO has a NID that no host can have";
	if (lnet_nid_is_own_host(nid) && !c->same_host && !lnet_nid_is_own_host(&c->from))
		return "its HELLO has a loopback NID, but it comes from a different host";
	if (pni && lnet_nid_is_lo(lnet_peer_ni_nid(pni)))
		return "its HELLO has a NID of this node";
	if (pni && !lnet_nid_same(nid, &c->from) && nid_is_ours(c->sn->ln, nid))
		return "its HELLO has a NID of this node, but it comes from a different address";
	return NULL;
}

/* Counts and logs a final rejection: this node closes the connection without a reply. */
static int reject(struct lnet_pass *p, struct sock_conn *c, enum sock_counter counter,
		  const char *why)
{
	sock_lock(p, c->sn);
	c->sn->c[counter]++;
	rejected(c, why);
	sock_unlock(p, c->sn);
	return -EACCES;
}

static u64 address_rule(const struct sock_ni *sn)
{
	u64 rule = READ_ONCE(sock_tun(sn)->hello_address);

	if (rule != SOCK_ADDRESS_AUTO)
		return rule;
	return lnet_ni_is_alone(sn->ni) ? SOCK_ADDRESS_STRICT : SOCK_ADDRESS_SET;
}

/*
 * Returns NULL, or the reason why the HELLO may not have @nid. Any user of a host may use a port
 * above 1023. So a HELLO from such a port may have only the NID of its address, for any value of
 * the tunable hello_address.
 */
static const char *address_is_false(const struct sock_conn *c, const struct lnet_nid *nid)
{
	if (lnet_nid_same(nid, &c->from))
		return NULL;
	if (!c->privileged)
		return "its HELLO has a NID of a different address, and its source port is above "
		       "1023";
	if (address_rule(c->sn) == SOCK_ADDRESS_STRICT)
		return "its HELLO has a NID of a different address (see hello_address)";
	return NULL;
}

static int hello_accept(struct lnet_pass *p, struct sock_conn *c, const struct lnet_hello *h)
{
	struct sock_ni *sn = c->sn;
	struct lnet_peer_ni *pni;
	struct sock_peer *peer;
	const char *why;

	if (!hello_is_acceptable(c, h))
		return -EPROTO;
	lnet_pass_relax(p);
	why = address_is_false(c, &h->src_nid);
	if (why)
		return reject(p, c, SOCK_C_false_address, why);
	why = nid_is_false(c, &h->src_nid, NULL);
	pni = why ? NULL : lnet_peer_ni_get(sn->ln, &h->src_nid);
	if (!why && !pni)
		return -ENOMEM;
	if (!why)
		why = nid_is_false(c, &h->src_nid, pni);
	lnet_pass_relax(p);
	if (why) {
		lnet_peer_ni_put(pni);
		return reject(p, c, SOCK_C_false_nid, why);
	}
	c->bound = address_rule(sn) != SOCK_ADDRESS_OFF;
	c->known = lnet_peer_ni_is_configured(pni);
	sock_lock(p, sn);
	WRITE_ONCE(c->nr_hdr, 0);
	peer = sock_peer_make(sn, &h->src_nid, pni);
	if (!peer)
		sock_conn_close(p, c, true);
	else if (c->state == CONN_WAIT_HELLO)
		hello_judge(p, c, h, peer);
	sock_doorbell_flush(p, sn);
	sock_unlock(p, sn);
	lnet_peer_ni_put(pni);
	return 0;
}

static int hello_feed(struct lnet_pass *p, struct sock_conn *c, unsigned int *need)
{
	struct sock_ni *sn = c->sn;
	struct lnet_hello h;

	switch (lnet_hello_decode(&h, c->hdr, c->nr_hdr, need)) {
	case LNET_HELLO_OK:
		return hello_accept(p, c, &h);
	case LNET_HELLO_MORE:
		return NEED_MORE;
	case LNET_HELLO_BAD_VERSION:
	case LNET_HELLO_V1:
		sock_lock(p, sn);
		WRITE_ONCE(c->nr_hdr, 0);
		sock_count(sn, bad_hello);
		rejected(c, "its HELLO has an unknown version");
		if (c->state == CONN_WAIT_HELLO)
			hello_reject(p, c, lnet_nid_is_nid4(&sn->nid) ? 3 : 4, NULL);
		sock_doorbell_flush(p, sn);
		sock_unlock(p, sn);
		return 0;
	default:
		return -EPROTO;
	}
}

static void acr_answer(struct lnet_pass *p, struct sock_conn *c)
{
	struct sock_ni *sn = c->sn;
	u8 buf[LNET_ACR_REPLY_SIZE];

	sock_lock(p, sn);
	sock_count(sn, bad_request);
	rejected(c, "its connection request has an unknown version");
	if (c->state == CONN_WAIT_REQUEST) {
		sock_out_raw(c, buf, lnet_acr_reply(buf));
		sock_conn_set_state(c, CONN_REFUSING);
		sock_doorbell(c);
	}
	sock_doorbell_flush(p, sn);
	sock_unlock(p, sn);
}

static int acr_feed(struct lnet_pass *p, struct sock_conn *c, unsigned int *need)
{
	struct sock_ni *sn = c->sn;
	struct lnet_acr acr;

	switch (lnet_acr_decode(&acr, c->hdr, c->nr_hdr, need)) {
	case LNET_ACR_OK:
		break;
	case LNET_ACR_MORE:
		return NEED_MORE;
	case LNET_ACR_REPLY:
		acr_answer(p, c);
		return 0;
	default:
		return -EPROTO;
	}
	if (!lnet_nid_same(&acr.nid, &sn->nid))
		return -EPROTO;
	sock_lock(p, sn);
	WRITE_ONCE(c->nr_hdr, 0);
	if (c->state == CONN_WAIT_REQUEST)
		sock_conn_set_state(c, CONN_WAIT_HELLO);
	sock_unlock(p, sn);
	return 0;
}

/* Processes the bytes in c->hdr. Returns 0, -errno, or NEED_MORE until c->hdr has *need bytes. */
static int handshake_feed(struct lnet_pass *p, struct sock_conn *c, unsigned int *need)
{
	switch (READ_ONCE(c->state)) {
	case CONN_WAIT_REPLY:
		return reply_feed(p, c, need);
	case CONN_WAIT_REQUEST:
		return acr_feed(p, c, need);
	case CONN_WAIT_HELLO:
		return hello_feed(p, c, need);
	default:
		return 0;
	}
}

static bool in_handshake(const struct sock_conn *c)
{
	u8 state = READ_ONCE(c->state);

	return state == CONN_WAIT_REPLY || state == CONN_WAIT_REQUEST || state == CONN_WAIT_HELLO;
}

static void count_bad(struct lnet_pass *p, struct sock_conn *c)
{
	sock_lock(p, c->sn);
	if (c->state == CONN_WAIT_REQUEST) {
		sock_count(c->sn, bad_request);
		rejected(c, "its connection request is malformed, or not for a NID of this node");
	} else {
		sock_count(c->sn, bad_hello);
		rejected(c, "its HELLO is malformed");
	}
	sock_unlock(p, c->sn);
}

int sock_hello_feed(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len)
{
	unsigned int need, n;
	u32 used = 0;
	int err;

	while (in_handshake(c)) {
		need = 0;
		err = handshake_feed(p, c, &need);
		if (err < 0) {
			if (err == -EPROTO)
				count_bad(p, c);
			return err;
		}
		if (err != NEED_MORE)
			continue;
		if (used == len || need > sizeof(c->hdr))
			break;
		n = min(need - c->nr_hdr, len - used);
		memcpy(c->hdr + c->nr_hdr, data + used, n);
		WRITE_ONCE(c->nr_hdr, c->nr_hdr + n);
		used += n;
	}
	return used;
}
