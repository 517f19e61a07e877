/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares peers and fault rules of a file with those of a node. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

/* ---- peers ----------------------------------------------------------------------------------- */

static struct lnetctl_node *find_peer(const struct plan *p, const char *primary)
{
	struct lnetctl_node *peers = lnetctl_find(p->peers, "peer"), *peer;

	for (peer = peers ? peers->first : NULL; peer; peer = peer->next)
		if (!strcmp(lnetctl_text(peer, "primary nid"), primary))
			return peer;
	return NULL;
}

/* Is @nid a NID of @peer? The NID may be the primary NID or another one. */
static bool has_nid(const struct lnetctl_node *peer, const char *nid)
{
	const struct lnetctl_node *pnis = lnetctl_find(peer, "peer ni"), *pni;
	const char *other = lnetctl_text(peer, "primary nid");

	if (other && !strcmp(other, nid))
		return true;
	for (pni = pnis ? pnis->first : NULL; pni; pni = pni->next) {
		other = lnetctl_text(pni, "nid");
		if (other && !strcmp(other, nid))
			return true;
	}
	return false;
}

static struct lnetctl_node *item_begin(struct plan *p, const char *verb,
				       const struct lnetctl_node *peer)
{
	struct lnetctl_node *peers = plan_section(p, verb, "peer", LNETCTL_SEQ),
			    *item = peers ? lnetctl_add_map(peers, NULL) : NULL;

	if (!item || !lnetctl_add_text(item, "primary nid", lnetctl_text(peer, "primary nid")))
		return NULL;
	import_at(item, !strcmp(verb, "add") ? peer : NULL);
	return item;
}

static int item_nid(struct plan *p, struct lnetctl_node *item, const char *nid)
{
	struct lnetctl_node *seq = lnetctl_find(item, "peer ni"), *map;

	seq = seq ? seq : lnetctl_add_seq(item, "peer ni");
	map = seq ? lnetctl_add_map(seq, NULL) : NULL;
	return map && lnetctl_add_text(map, "nid", nid) ? 0 : plan_nomem(p);
}

static int item_mr(struct plan *p, struct lnetctl_node *item, bool mr)
{
	return lnetctl_add(item, "Multi-Rail", LNETCTL_BOOL, mr ? "true" : "false")
		       ? 0 : plan_nomem(p);
}

/*
 * Adds an item under @verb with the NIDs that are in @has and not in @lacks. If there are none,
 * adds no item.
 */
static int surplus(struct plan *p, const char *verb, const struct lnetctl_node *has,
		   const struct lnetctl_node *lacks, bool mr)
{
	const struct lnetctl_node *pnis = lnetctl_find(has, "peer ni"), *pni;
	bool add = !strcmp(verb, "add");
	struct lnetctl_node *item = NULL;
	int rc = 0;

	for (pni = pnis ? pnis->first : NULL; pni && !rc; pni = pni->next) {
		const char *nid = lnetctl_text(pni, "nid");

		if (has_nid(lacks, nid))
			continue;
		if (!item) {
			item = item_begin(p, verb, has);
			rc = item ? 0 : plan_nomem(p);
			rc = rc || !add ? rc : item_mr(p, item, mr);
		}
		rc = rc ? rc : item_nid(p, item, nid);
	}
	return rc;
}

static int whole_peer(struct plan *p, const struct lnetctl_node *peer, bool mr)
{
	const struct lnetctl_node *pnis = lnetctl_find(peer, "peer ni"), *pni;
	struct lnetctl_node *item = item_begin(p, "add", peer);
	int rc = item ? item_mr(p, item, mr) : plan_nomem(p);

	for (pni = pnis ? pnis->first : NULL; pni && !rc; pni = pni->next)
		rc = item_nid(p, item, lnetctl_text(pni, "nid"));
	return rc;
}

int plan_peer(struct plan *p, const struct lnetctl_node *peer)
{
	const char *primary = lnetctl_text(peer, "primary nid"), *flag;
	struct lnetctl_node *there;
	char *nids;
	bool mr;
	int rc;

	p->im.trans.at = peer;
	if (!primary)
		return import_refuse(&p->im, "peer", peer,
				     "each item of 'peer' must have a 'primary nid'");
	rc = import_peer_mr(&p->im, peer, &mr);
	rc = rc ? rc : import_peer_nids(&p->im, peer, &nids);	/* checks the list */
	if (rc)
		return rc;
	free(nids);
	if (import_peer_dynamic(peer))
		return 0;
	there = find_peer(p, primary);
	if (!there)
		return whole_peer(p, peer, mr);
	there->line = 1;
	flag = lnetctl_text(there, "Multi-Rail");
	if (flag && mr != !strcasecmp(flag, "true"))
		return item_begin(p, "del", there) ? whole_peer(p, peer, mr) : plan_nomem(p);
	rc = surplus(p, "del", there, peer, mr);
	return rc ? rc : surplus(p, "add", peer, there, mr);
}

int plan_peers_del(struct plan *p)
{
	const struct lnetctl_node *peers = lnetctl_find(p->peers, "peer"), *peer;

	for (peer = peers ? peers->first : NULL; peer; peer = peer->next)
		if (!peer->line && !item_begin(p, "del", peer))
			return plan_nomem(p);
	return 0;
}

/* ---- fault rules ----------------------------------------------------------------------------- */

#define MESSAGES_ALL 15

/* Writes a rule as text. Rules with the same effect have the same text. */
static int rule_text(struct plan *p, const struct lnetctl_node *rule, bool *delay, char *text,
		     size_t size)
{
	struct lnetctl_fault f;
	int rc;

	p->im.trans.at = rule;
	rc = import_fault_read(&p->im, rule, &f);
	if (rc)
		return rc;
	*delay = f.delay;
	snprintf(text, size, "%s %s %s %" PRIx64 " %x %u %u %u %u %x %d %d",
		 f.source ? f.source : "*", f.dest ? f.dest : "*", f.local ? f.local : "*",
		 f.portals, f.messages ? f.messages : MESSAGES_ALL, f.rate, f.interval,
		 f.delay ? f.latency_ms : 0, f.delay ? 0 : f.when, f.delay ? 0 : f.health_errors,
		 f.random && !f.delay, f.drop_all && !f.delay);
	return 0;
}

/* Finds the next rule of the kind @delay, from *@rule on. Writes its text. */
static int next_of_kind(struct plan *p, const struct lnetctl_node **rule, bool delay, char *text,
			size_t size)
{
	bool is_delay;
	int rc;

	for (; *rule; *rule = (*rule)->next) {
		rc = rule_text(p, *rule, &is_delay, text, size);
		if (rc || is_delay == delay)
			return rc;
	}
	return 0;
}

static int fault_rules_same(struct plan *p, const struct lnetctl_node *want,
			    const struct lnetctl_node *has, bool delay, bool *same)
{
	char a[512], b[512];
	int rc;

	*same = true;
	for (;;) {
		rc = next_of_kind(p, &want, delay, a, sizeof(a));
		if (!rc && has)
			rc = next_of_kind(p, &has, delay, b, sizeof(b));
		if (rc || (!want && !has))
			return rc;
		if (!want || !has || strcmp(a, b)) {
			*same = false;
			return 0;
		}
		want = want->next;
		has = has->next;
	}
}

static int fault_rule_copy(struct plan *p, struct lnetctl_node *seq,
			   const struct lnetctl_node *rule)
{
	struct lnetctl_node *item = seq ? lnetctl_add_map(seq, NULL) : NULL;
	const struct lnetctl_node *n;

	for (n = rule->first; item && n; n = n->next)
		if (n->text && strncmp(n->key, "fs_", 3) && strcmp(n->key, "ds_dropped") &&
		    strcmp(n->key, "id") &&
		    strcmp(n->key, "ls_delayed") &&
		    !lnetctl_add(item, n->key, (enum lnetctl_kind)n->kind, n->text))
			return plan_nomem(p);
	if (item)
		import_at(item, rule);
	return item ? 0 : plan_nomem(p);
}

/*
 * Compares the rules of one kind. Their order matters, and one deletion may match several rules. So
 * the plan changes all rules of a kind, or none.
 */
static int faults_of(struct plan *p, const struct lnetctl_node *section, bool delay)
{
	const struct lnetctl_node *rules = lnetctl_find(p->rules[delay], "fault"), *rule;
	char text[512];
	bool same;
	int rc = fault_rules_same(p, section ? section->first : NULL, rules ? rules->first : NULL,
				  delay, &same);

	if (rc || same)
		return rc;
	for (rule = rules ? rules->first : NULL; rule && !rc; rule = rule->next)
		rc = fault_rule_copy(p, plan_section(p, "del", "fault", LNETCTL_SEQ), rule);
	for (rule = section ? section->first : NULL; rule && !rc; rule = rule->next) {
		rc = next_of_kind(p, &rule, delay, text, sizeof(text));
		if (!rule)
			break;
		rc = rc ? rc
			: fault_rule_copy(p, plan_section(p, "add", "fault", LNETCTL_SEQ), rule);
	}
	return rc;
}

int plan_faults(struct plan *p, const struct lnetctl_node *section)
{
	int rc = faults_of(p, section, false);

	return rc ? rc : faults_of(p, section, true);
}
