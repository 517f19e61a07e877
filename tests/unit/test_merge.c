/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Peer entries after their ping infos were received: stock LNet's table of conflicts. */
#include "node.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "service/service.h"

#define FULL (LNET_FEAT_NI_STATUS | LNET_FEAT_RTE_DISABLED | LNET_FEAT_MULTI_RAIL | \
	      LNET_FEAT_DISCOVERY)

/* "a" to "f": 10.0.0.1@tcp to 10.0.0.6@tcp; upper case: 10.1.0.1@tcp1 and so on; "o": local. */
static struct lnet_nid nid_of(char c)
{
	char text[32];

	if (c == 'o')
		return nid("10.0.0.9@tcp");
	if (c >= 'a')
		snprintf(text, sizeof(text), "10.0.0.%d@tcp", c - 'a' + 1);
	else
		snprintf(text, sizeof(text), "10.1.0.%d@tcp1", c - 'A' + 1);
	return nid(text);
}

static char name_of(const struct lnet_nid *n)
{
	char c;

	for (c = 'A'; c <= 'f'; c++) {
		struct lnet_nid at = nid_of(c);

		if (lnet_nid_same(&at, n))
			return c;
	}
	return '?';
}

static int order(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/*
 * Each peer entry: its primary NID, the others; "*" if multi-rail; separated by blanks, all sorted.
 */
static void tell(struct lnet *ln, char *out)
{
	char word[16][16] = { "" };
	const struct lnet_peer_ni *pni;
	unsigned int nr = 0, i, len;
	struct lnet_peer *peer;

	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer)) {
		if (lnet_nid_is_lo(&peer->primary))
			continue;
		word[nr][0] = name_of(&peer->primary);
		len = 1;
		list_for_each_entry(pni, &peer->pnis, link)
			if (!lnet_nid_same(&pni->nid, &peer->primary))
				word[nr][len++] = name_of(&pni->nid);
		qsort(word[nr] + 1, len - 1, 1, order);
		if (peer->mr)
			word[nr][len] = '*';
		nr++;
	}
	qsort(word, nr, sizeof(word[0]), (int (*)(const void *, const void *))strcmp);
	*out = 0;
	for (i = 0; i < nr; i++)
		sprintf(out + strlen(out), "%s%s", i ? " " : "", word[i]);
}

static void configure(struct lnet *ln, const char *w)
{
	struct lnet_nid primary = nid_of(w[1]), other = nid_of(w[2] ? w[2] : 'a');

	UNIT_EQUAL(lnet_peer_add(ln, &primary, &other, w[2] ? 1 : 0, *w == '+'), 0, w);
}

static void made(struct lnet *ln, const char *w)
{
	bool locked = *w == '!';
	struct lnet_nid n = nid_of(w[locked]);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &n);

	pni->peer->locked = locked;
	lnet_peer_ni_put(pni);
}

/* "a" is dynamically created, "+ab" configured, "-a" configured and not multi-rail, "!a" locked. */
static void arrange(struct lnet *ln, const char *text)
{
	char copy[64], *save, *w;

	strscpy(copy, text, sizeof(copy));
	for (w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (*w == '+' || *w == '-')
			configure(ln, w);
		else
			made(ln, w);
	}
}

static const char *apart = "";		/* NIDs whose nodes list only that NID */

static bool is_apart(const struct lnet_nid *nid)
{
	return strchr(apart, name_of(nid));
}

/* An info that lists @nids; the caller frees it. */
static struct lnet_sbuf *info_of(u32 features, const char *nids)
{
	struct lnet_sbuf *c = lnet_sbuf_new(512);
	struct lnet_pinginfo_ni nis[16];
	unsigned int i;
	int len;

	for (i = 0; nids[i]; i++) {
		nis[i].nid = nid_of(nids[i]);
		nis[i].status = LNET_NI_UP;
	}
	len = lnet_pinginfo_encode(c->data, 512, features, LNET_PID, 1, nis, i);
	CU_ASSERT_FATAL(len > 0);
	c->len = (u32)len;
	return c;
}

/* Each pinged NID replies with the list @nids. NIDs in @apart reply with only themselves. */
static void answer(struct lnet *ln, const char *nids)
{
	struct lnet_sbuf *c = info_of(FULL, nids);

	node_answer(ln, c->data, c->len, is_apart);
	node_env.now_ns += 2 * NSEC_PER_MSEC;
	node_work(ln);
	lnet_sbuf_put(c);
}

/* The peer that has @via sends the list @nids, and each of these NIDs replies with this list. */
static void say(struct lnet *ln, char via, u32 features, const char *nids)
{
	struct lnet_sbuf *c = info_of(features, nids);
	struct lnet_nid to = nid_of(via);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &to);
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_enter_pni(&p, pni);
	pni->peer->disc.acked = 1000;	/* no push is due */
	UNIT_EQUAL(lnet_disc_take(&p, pni->peer, c, c->len, false), 0, nids);
	lnet_disc_step(&p, pni->peer);
	lnet_pass_end(&p);
	lnet_peer_ni_put(pni);
	lnet_sbuf_put(c);
	node_work(ln);
	answer(ln, nids);
}

static void test_table(void)
{
	static const struct {
		const char *name, *before;
		char via;
		const char *says, *after;
		u32 less;		/* features that the info lacks */
		const char *apart;
	} rows[] = {
		{ "NIDs are learned", "a", 'a', "aAb", "aAb*" },
		{ "what vanished is deleted, what came is added", "a", 'a', "ac", "ac*" },
		{ "another primary NID, unknown", "a", 'a', "Aa", "Aa*" },
		{ "a list without the NID that it came from", "a", 'a', "bc", "a* b c" },
		{ "the primary NID of another record", "a b", 'a', "ba", "ba*" },
		{ "NIDs of two other records", "a b c", 'a', "abc", "abc*" },
		{ "as it is configured", "+aA", 'a', "aAb", "aA*" },
		{ "configured, and a NID vanished", "+aA", 'a', "a", "aA*" },
		{ "configured without multi-rail", "-a", 'a', "aAb", "a" },
		{ "a NID of a configured peer", "a +bB", 'a', "abA", "aA* bB*" },
		{ "the primary NID of a configured peer", "a +bB", 'a', "ba", "a* bB*" },
		{ "a locked primary NID stays", "!a", 'a', "ba", "ab*" },
		{ "a locked one with one NID joins, and its name lasts", "a !b", 'a', "ab", "ba*" },
		{ "not multi-rail: one NID", "a", 'a', "aAb", "a", LNET_FEAT_MULTI_RAIL },
		{ "no discovery: one NID", "a", 'a', "aAb", "a", LNET_FEAT_DISCOVERY },
		{ "no discovery: two records", "a b", 'a', "ba", "a b", LNET_FEAT_DISCOVERY },
		{ "a NID of ours is not its", "a", 'a', "aob", "ab*" },
		{ "nor is it its primary NID", "a", 'a', "oab", "ab*" },
		{ "a NID that others have", "a b", 'a', "ab", "a* b", 0, "b" },
		{ "its primary NID is that of others", "a b", 'a', "ba", "a* b", 0, "b" },
		{ "a NID that was never heard", "a", 'a', "ab", "a* b", 0, "b" },
		{ "one of two NIDs is that of others", "a b c", 'a', "cab", "b ca*", 0, "b" },
	};
	unsigned int i;
	char after[256];
	struct lnet *ln;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ln = node_begin(2);
		UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
		arrange(ln, rows[i].before);
		apart = rows[i].apart ? rows[i].apart : "";
		say(ln, rows[i].via, FULL & ~rows[i].less, rows[i].says);
		apart = "";
		tell(ln, after);
		if (strcmp(after, rows[i].after))
			printf("%s: \"%s\", want \"%s\"\n", rows[i].name, after, rows[i].after);
		UNIT_EQUAL(strcmp(after, rows[i].after), 0, rows[i].name);
		node_end(ln);
	}
}

/*
 * A complete entry has all NIDs of its node, so a session of another entry belongs to another node.
 * Exactly-once rule 2 drops a request in such a session.
 */
static void test_complete(void)
{
	static const struct {
		const char *name, *before, *says, *apart;
		bool complete;
	} rows[] = {
		{ "all listed NIDs are learned", "a", "aAb", "", true },
		{ "another entry has given its NID", "a b", "ab", "", true },
		{ "a configured peer keeps a listed NID", "a +b", "ab", "", false },
		{ "a configured peer keeps the listed primary NID", "a +b", "ba", "", false },
		{ "another node has the listed NID", "a b", "ab", "b", true },
	};
	struct lnet_nid a = nid_of('a');
	struct lnet_peer *peer;
	unsigned int i;
	struct lnet *ln;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ln = node_begin(2);
		UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
		arrange(ln, rows[i].before);
		apart = rows[i].apart;
		say(ln, 'a', FULL, rows[i].says);
		apart = "";
		peer = lnet_peer_owner(ln, &a);
		UNIT_EQUAL(peer->disc.complete, rows[i].complete, rows[i].name);
		lnet_peer_put(peer);
		node_end(ln);
	}
}

/* Two infos, one after the other. */
static void test_sequence(void)
{
	static const struct {
		const char *name, *first, *second, *after;
		u32 less;
	} rows[] = {
		{ "one comes, one goes", "abA", "aAB", "aAB*" },
		{ "the primary NID moves", "ab", "ba", "ba*" },
		{ "the primary NID goes", "ab", "b", "b*" },
		{ "all but the way to it is new", "ab", "acd", "acd*" },
		{ "discovery is switched off", "abA", "abA", "a", LNET_FEAT_DISCOVERY },
	};
	unsigned int i;
	char after[256];
	struct lnet *ln;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ln = node_begin(1);
		UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
		say(ln, 'a', FULL, rows[i].first);
		say(ln, 'a', FULL & ~rows[i].less, rows[i].second);
		tell(ln, after);
		if (strcmp(after, rows[i].after))
			printf("%s: \"%s\", want \"%s\"\n", rows[i].name, after, rows[i].after);
		UNIT_EQUAL(strcmp(after, rows[i].after), 0, rows[i].name);
		node_end(ln);
	}
}

static const struct lnet_op *op_of(struct lnet *ln, u64 match_bits)
{
	const struct lnet_op *op;
	unsigned int i;

	for (i = 0; i < lnet_nr_shards(ln); i++)
		list_for_each_entry(op, &ln->shard[i].live, all)
			if (op->kind == LNET_KIND_USER && op->match_bits == match_bits)
				return op;
	return NULL;
}

/* Sends a PUT to @nid, from the local "o" if @pinned. Returns the name of the NID that gets it. */
static char put_to(struct lnet *ln, const struct lnet_nid *nid, bool pinned)
{
	static char text[4] = "put";
	static u64 nr_puts;
	struct lnet_md_cfg md = { .start = text, .length = sizeof(text), .threshold = 1,
				  .cpt = -1 };
	const struct lnet_op *op;
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	x.target.nid = *nid;
	x.portal = 5;
	x.match_bits = ++nr_puts;
	if (pinned)
		x.self = nid_of('o');
	UNIT_EQUAL(lnet_md_bind(ln, &md, LNET_UNLINK, &x.md), 0, "memory");
	UNIT_EQUAL(lnet_put(ln, &x), 0, "PUT");
	op = op_of(ln, nr_puts);
	return op ? name_of(&op->dst_pni->nid) : '?';
}

/*
 * A merge does not wait for a busy peer entry: it is retried, but not for ever. Meanwhile, new
 * requests use the entry that stays.
 */
static void test_busy(void)
{
	struct lnet_nid a = nid_of('a'), b = nid_of('b');
	struct lnet_peer_ni *pa, *pb, *target;
	unsigned int free, i;
	struct lnet *ln;
	char after[256];

	for (free = 0; free < 2; free++) {
		ln = node_begin(2);
		UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
		pa = lnet_peer_ni_get(ln, &a);
		pb = lnet_peer_ni_get(ln, &b);
		pb->nr_wait++;			/* an attempt waits for a credit */
		say(ln, 'a', FULL, "ab");
		tell(ln, after);
		UNIT_EQUAL(strcmp(after, "a* b"), 0, "it is busy");
		UNIT_EQUAL(put_to(ln, &b, false), 'a', "what is new goes to the other");
		target = lnet_peer_ni_lookup(ln, &b);
		UNIT_EQUAL(target == pb, true, "what comes from it does not");
		lnet_peer_ni_put(target);
		for (i = 0; i < 100; i++) {
			node_env.now_ns += (free ? 1 : 100) * NSEC_PER_MSEC;
			node_work(ln);
		}
		if (free)
			pb->nr_wait--;
		node_env.now_ns += 10 * NSEC_PER_MSEC;
		node_work(ln);
		tell(ln, after);
		UNIT_EQUAL(strcmp(after, free ? "ab*" : "a* b"), 0, "joined when it is idle");
		UNIT_EQUAL(put_to(ln, &b, false), 'b', "everybody for himself");
		if (!free)
			pb->nr_wait--;
		lnet_peer_ni_put(pa);
		lnet_peer_ni_put(pb);
		node_end(ln);
	}
}

/* A newer info no longer lists the NID of a busy peer entry: the entry is not merged. */
static void test_busy_left(void)
{
	static const struct {
		const char *says;
		u32 less;
		bool still;
	} rows[] = {
		{ "a", 0, false }, { "ac", 0, false }, { "abc", 0, true },
		{ "ab", LNET_FEAT_DISCOVERY, false }, { "ab", LNET_FEAT_MULTI_RAIL, false },
	};
	struct lnet_nid a = nid_of('a'), b = nid_of('b');
	struct lnet_peer_ni *pa, *pb;
	unsigned int i, pinned;
	struct lnet *ln;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ln = node_begin(2);
		UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
		pa = lnet_peer_ni_get(ln, &a);
		pb = lnet_peer_ni_get(ln, &b);
		pb->nr_wait++;			/* an attempt waits for a credit */
		for (pinned = 0; pinned < 2; pinned++)
			UNIT_EQUAL(put_to(ln, &b, pinned), 'b', "before the list");
		say(ln, 'a', FULL, "ab");
		UNIT_EQUAL(put_to(ln, &b, true), 'b', "from a given source it goes there");
		UNIT_EQUAL(put_to(ln, &b, false), 'a', "what is new goes to the other");
		UNIT_EQUAL(put_to(ln, &b, false), 'a', "also the next time");
		say(ln, 'a', FULL & ~rows[i].less, rows[i].says);
		node_env.now_ns += 10 * NSEC_PER_MSEC;
		node_work(ln);
		UNIT_EQUAL(put_to(ln, &b, false), rows[i].still ? 'a' : 'b', rows[i].says);
		pb->nr_wait--;
		lnet_peer_ni_put(pa);
		lnet_peer_ni_put(pb);
		node_end(ln);
	}
}

/*
 * While a peer entry is busy, new requests to it use its merge target. When one of its interfaces
 * is removed, or a third peer is configured with it, no reference to the target stays.
 */
static void test_busy_ends(void)
{
	struct lnet_nid a = nid_of('a'), b = nid_of('b'), d = nid_of('d');
	struct lnet_peer_ni *pa, *pb;
	unsigned int configured;
	int refs;
	struct lnet *ln;
	char after[256];

	for (configured = 0; configured < 2; configured++) {
		ln = node_begin(2);
		UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
		pa = lnet_peer_ni_get(ln, &a);
		pb = lnet_peer_ni_get(ln, &b);
		say(ln, 'b', FULL, "bc");
		pb->nr_wait++;			/* an attempt waits for a credit */
		refs = atomic_read(&pa->peer->refs);
		say(ln, 'a', FULL, "abc");
		CU_ASSERT_PTR_EQUAL(pb->peer->merged_into, pa->peer);
		UNIT_EQUAL(atomic_read(&pa->peer->refs) > refs, true, "a reference to the target");
		if (configured) {
			pb->nr_wait--;
			UNIT_EQUAL(lnet_peer_add(ln, &d, &b, 1, true), 0, "configured");
			CU_ASSERT_PTR_NULL(pb->peer->merged_into);
		} else {
			say(ln, 'b', FULL, "b");
			CU_ASSERT_PTR_EQUAL(pb->peer->merged_into, pa->peer);
			pb->nr_wait--;
		}
		node_env.now_ns += 10 * NSEC_PER_MSEC;
		node_work(ln);
		answer(ln, "abc");
		tell(ln, after);
		UNIT_EQUAL(strcmp(after, configured ? "a* dbc*" : "abc*"), 0, after);
		CU_ASSERT_PTR_NULL(pb->peer->merged_into);
		refs += configured ? 0 : 2;	/* each new interface of "a" has a reference */
		UNIT_EQUAL(atomic_read(&pa->peer->refs), refs, "no other reference is left");
		lnet_peer_ni_put(pa);
		lnet_peer_ni_put(pb);
		node_end(ln);
	}
}

/*
 * The info arrived through a peer entry that is merged at once, while a third one is busy. The
 * remaining work is not lost with the merged entry.
 */
static void test_busy_third(void)
{
	struct lnet_nid a = nid_of('a'), b = nid_of('b'), c = nid_of('c');
	struct lnet *ln = node_begin(2);
	struct lnet_peer_ni *pa, *pb, *pc;
	char after[256];
	unsigned int i;

	UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
	pa = lnet_peer_ni_get(ln, &a);
	pb = lnet_peer_ni_get(ln, &b);
	pc = lnet_peer_ni_get(ln, &c);
	pc->nr_wait++;			/* an attempt waits for a credit */
	pa->peer->disc.acked = 1000;
	say(ln, 'b', FULL, "abc");
	tell(ln, after);
	UNIT_EQUAL(strcmp(after, "ab* c"), 0, "it is busy");
	pc->nr_wait--;
	for (i = 0; i < 100; i++) {
		node_env.now_ns += NSEC_PER_MSEC;
		answer(ln, "abc");
	}
	tell(ln, after);
	UNIT_EQUAL(strcmp(after, "abc*"), 0, "joined when it is idle");
	UNIT_EQUAL(pa->peer->disc.seq, 1, "whose info it is");
	UNIT_EQUAL(pa->peer->disc.state, DISC_DONE, "nothing is left to do");
	lnet_peer_ni_put(pa);
	lnet_peer_ni_put(pb);
	lnet_peer_ni_put(pc);
	node_end(ln);
}

/* The merge target "a" of the busy "b" is configured: it takes no further NID. */
static void test_target_configured(void)
{
	struct lnet_nid a = nid_of('a'), b = nid_of('b');
	struct lnet *ln = node_begin(2);
	struct lnet_peer_ni *pa, *pb;

	UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
	pa = lnet_peer_ni_get(ln, &a);
	pb = lnet_peer_ni_get(ln, &b);
	pb->nr_wait++;			/* an attempt waits for a credit */
	say(ln, 'a', FULL, "ab");
	UNIT_EQUAL(put_to(ln, &b, false), 'a', "it will be merged");
	UNIT_EQUAL(lnet_peer_add(ln, &a, NULL, 0, true), 0, "configured");
	UNIT_EQUAL(put_to(ln, &b, false), 'b', "it will not be merged");
	say(ln, 'a', FULL, "ab");
	UNIT_EQUAL(put_to(ln, &b, false), 'b', "nor after the next list");
	pb->nr_wait--;
	lnet_peer_ni_put(pa);
	lnet_peer_ni_put(pb);
	node_end(ln);
}

/*
 * The merge target "b" of the busy "c" is absorbed. New requests to "c" use the entry that absorbed
 * "b", if "c" may be merged into it. Nothing has a reference to the old peer entry of "b".
 */
static void test_target_absorbed(void)
{
	static const struct {
		const char *name;
		char via;
		const char *says;		/* NULL: "a" is configured with "b" */
		const char *apart;
		char target;
	} rows[] = {
		{ "listed and proven", 'a', "abc", "", 'a' },
		{ "listed", 'a', "abc", "c", 'a' },
		{ "not listed", 'a', "ab", "", 'c' },
		{ "absorbed by the busy one", 'c', "cb", "", 'c' },
		{ "absorbed by a configured one", 0, NULL, "", 'c' },
	};
	struct lnet_nid a = nid_of('a'), b = nid_of('b'), c = nid_of('c');
	struct lnet_peer_ni *pa, *pb, *pc;
	struct lnet_peer *old;
	unsigned int i;
	struct lnet *ln;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ln = node_begin(2);
		UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
		pa = lnet_peer_ni_get(ln, &a);
		pb = lnet_peer_ni_get(ln, &b);
		pc = lnet_peer_ni_get(ln, &c);
		pc->nr_wait++;			/* an attempt waits for a credit */
		old = lnet_peer_of(pb);
		say(ln, 'b', FULL, "bc");
		CU_ASSERT_PTR_EQUAL(pc->peer->merged_into, old);
		apart = rows[i].apart;
		if (rows[i].says)
			say(ln, rows[i].via, FULL, rows[i].says);
		else
			UNIT_EQUAL(lnet_peer_add(ln, &a, &b, 1, true), 0, "configured");
		apart = "";
		node_env.now_ns += 10 * NSEC_PER_MSEC;
		node_work(ln);
		UNIT_EQUAL(old->deleted, 1, "absorbed");
		UNIT_EQUAL(atomic_read(&old->refs), 1, rows[i].name);
		UNIT_EQUAL(put_to(ln, &c, false), rows[i].target, rows[i].name);
		lnet_peer_put(old);
		pc->nr_wait--;
		lnet_peer_ni_put(pa);
		lnet_peer_ni_put(pb);
		lnet_peer_ni_put(pc);
		node_end(ln);
	}
}

static void is_now(struct lnet *ln, const char *want, const char *what)
{
	char now[256];

	tell(ln, now);
	UNIT_TEXT(now, want, what);
}

/* A NID moves to another host; and several peers list the same NID. */
static void test_moved(void)
{
	struct lnet *ln = node_begin(2);

	UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
	say(ln, 'a', FULL, "ac");
	say(ln, 'b', FULL, "bc");
	is_now(ln, "a* bc*", "it moves");
	apart = "c";
	say(ln, 'a', FULL, "acd");
	apart = "";
	is_now(ln, "ad* bc*", "who lists it only does not get it");
	node_env.now_ns += 61 * NSEC_PER_SEC;
	say(ln, 'b', FULL, "bca");
	is_now(ln, "bac* d*", "a primary NID moves, the others stay");
	apart = "f";
	say(ln, 'b', FULL, "bacf");
	say(ln, 'd', FULL, "df");
	say(ln, 'd', FULL, "fd");
	apart = "";
	is_now(ln, "bac* d* f", "two claim the NID of a third");
	UNIT_EQUAL(lnet_stat_sum(ln, LNET_C_nids_rejected), 4,
		   "refused, one of them twice in 61 s");
	node_end(ln);
}

UNIT_SUITE(merge,
	{ "behaviour.md 5.6, 5.8: the conflict table", test_table },
	{ "behaviour.md 5.6: one info after another", test_sequence },
	{ "does an entry have all NIDs of its node?", test_complete },
	{ "what is busy is not waited for", test_busy },
	{ "what is busy and no longer listed is left alone", test_busy_left },
	{ "what is busy and goes, or is configured, refers to nobody", test_busy_ends },
	{ "the merge target of a busy peer is configured", test_target_configured },
	{ "the merge target of a busy peer is absorbed", test_target_absorbed },
	{ "nor forgotten with the record by which the info came", test_busy_third },
	{ "an address that moved is proven for its new owner", test_moved })
