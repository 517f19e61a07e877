/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sections peer and fault of a configuration, item by item. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "import.h"

/* ---- peer ------------------------------------------------------------------------------------ */

static int peer_import_show(struct import *im, const char *primary)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_peer_show(im->c, primary, 0, false, &doc);

	return rc ? rc : import_keep(im, doc);
}

int import_peer_mr(struct import *im, const struct lnetctl_node *peer, bool *mr)
{
	int64_t flag = 1;
	int rc = import_flag(im, "peer", peer, "Multi-Rail", &flag);

	*mr = flag;
	return rc;
}

static int nids_append(struct import *im, const struct lnetctl_node *pni, char **list)
{
	const char *nid = lnetctl_text(pni, "nid");
	char *longer;

	if (!nid || !*nid)
		return import_refuse(im, "peer", pni, "each item of 'peer ni' must have a 'nid'");
	if (asprintf(&longer, "%s%s%s", *list, **list ? "," : "", nid) < 0)
		return ctl_fail(im->c, -ENOMEM, import_verb(im), "peer", NULL);
	free(*list);
	*list = longer;
	return 0;
}

int import_peer_nids(struct import *im, const struct lnetctl_node *peer, char **list)
{
	const struct lnetctl_node *pnis, *pni;
	int rc = import_part(im, "peer", peer, "peer ni", IMPORT_SEQ, &pnis);

	*list = NULL;
	if (rc)
		return rc;
	*list = strdup("");
	if (!*list)
		return ctl_fail(im->c, -ENOMEM, import_verb(im), "peer", NULL);
	for (pni = pnis ? pnis->first : NULL; pni && !rc; pni = pni->next)
		rc = nids_append(im, pni, list);
	if (!rc)
		return 0;
	free(*list);
	*list = NULL;
	return rc;
}

#define STATE_CONFIGURED	(1 << 3)	/* bit of stock's "peer state" */

bool import_peer_dynamic(const struct lnetctl_node *peer)
{
	int64_t state;

	return !lnetctl_num(lnetctl_find(peer, "peer state"), &state) &&
	       !(state & STATE_CONFIGURED);
}

int import_peer(struct import *im, const struct lnetctl_node *peer)
{
	const char *primary = lnetctl_text(peer, "primary nid");
	char *nids;
	bool mr;
	int rc;

	im->trans.at = peer;
	if (im->how == LNETCTL_IMPORT_EXEC)
		return import_refuse(im, "import", peer, "invalid key 'peer'");
	if (!primary)
		return import_refuse(im, "peer", peer,
				     "each item of 'peer' must have a 'primary nid'");
	if (im->how == LNETCTL_IMPORT_SHOW)
		return peer_import_show(im, primary);
	if (im->how == LNETCTL_IMPORT_ADD && import_peer_dynamic(peer))
		return 0;
	rc = import_peer_mr(im, peer, &mr);
	rc = rc ? rc : import_peer_nids(im, peer, &nids);
	if (rc)
		return rc;
	if (im->how == LNETCTL_IMPORT_DEL)
		rc = lnetctl_peer_del(im->c, primary, *nids ? nids : NULL, 0);
	else
		rc = lnetctl_peer_add(im->c, primary, *nids ? nids : NULL,
				      mr ? 0 : LNETCTL_PEER_NON_MR);
	free(nids);
	return rc;
}

/* ---- fault ----------------------------------------------------------------------------------- */

/* Nodes accept no longer delay of a fault rule, in s. Also in ms the delay fits into 32 bits. */
#define LATENCY_MAX_S 86400

/*
 * The numbers of a fault rule. The library checks that each number fits into 32 bits. For most
 * numbers the node has stricter limits.
 */
struct rule_numbers {
	int64_t rate, interval, latency, latency_ms, messages, health_errors, random, drop_all,
		when;
};

static int numbers_read(struct import *im, const struct lnetctl_node *rule, bool delay,
			struct rule_numbers *v)
{
	const struct {
		const char *key;
		int64_t *val;
		unsigned int max;
	} all[] = {
		{ delay ? "la_rate" : "da_rate", &v->rate, UINT32_MAX },
		{ delay ? "la_interval" : "da_interval", &v->interval, UINT32_MAX },
		{ "la_latency", &v->latency, LATENCY_MAX_S },
		{ "la_latency_ms", &v->latency_ms, LATENCY_MAX_S * 1000 },
		{ "fa_msg_mask", &v->messages, UINT32_MAX },
		{ "da_health_error_mask", &v->health_errors, UINT32_MAX },
		{ "da_random", &v->random, UINT32_MAX },
		{ "da_drop_all", &v->drop_all, UINT32_MAX },
		{ "da_when", &v->when, UINT32_MAX },
	};
	char text[160];
	size_t i;
	int rc;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		rc = import_num(im, "fault", rule, all[i].key, all[i].val);
		if (rc)
			return rc;
		if (*all[i].val >= 0 && *all[i].val <= all[i].max)
			continue;
		snprintf(text, sizeof(text),
			 "invalid value '%lld' for key '%s': it must be 0 to %u",
			 (long long)*all[i].val, all[i].key, all[i].max);
		return import_refuse(im, "fault", lnetctl_find(rule, all[i].key), text);
	}
	return 0;
}

/* Reads a bit mask of portals. Bit 63 also stands for a portal, so the mask needs 64 bits. */
static int portals_read(struct import *im, const struct lnetctl_node *rule, uint64_t *portals)
{
	const struct lnetctl_node *n = lnetctl_find(rule, "fa_ptl_mask");
	char *end = NULL;

	*portals = 0;
	if (!n)
		return 0;
	errno = 0;
	if (n->text && *n->text && *n->text != '-')
		*portals = strtoull(n->text, &end, 0);
	if (!end || *end || errno)
		return import_refuse(im, "fault", n,
				     "'fa_ptl_mask' must be a number of at most 64 bits");
	return 0;
}

int import_fault_read(struct import *im, const struct lnetctl_node *rule, struct lnetctl_fault *f)
{
	const char *type = lnetctl_text(rule, "rule_type");
	struct rule_numbers v = { 0 };
	char text[100];
	int rc;

	memset(f, 0, sizeof(*f));
	if (rule->kind != LNETCTL_MAP)
		return import_refuse(im, "fault", rule, "each fault rule must be a mapping");
	if (!type || (strcmp(type, "drop") && strcmp(type, "delay"))) {
		snprintf(text, sizeof(text), "'rule_type' must be drop or delay, not '%.40s'",
			 type ? type : "");
		return import_refuse(im, "fault", rule, text);
	}
	f->delay = !strcmp(type, "delay");
	rc = numbers_read(im, rule, f->delay, &v);
	rc = rc ? rc : portals_read(im, rule, &f->portals);
	rc = rc ? rc : import_text(im, "fault", rule, "fa_src", &f->source);
	rc = rc ? rc : import_text(im, "fault", rule, "fa_dst", &f->dest);
	rc = rc ? rc : import_text(im, "fault", rule, "fa_local_nid", &f->local);
	if (rc)
		return rc;
	if (im->how == LNETCTL_IMPORT_ADD && !f->source && !f->dest && !f->local && !f->portals &&
	    !v.messages)
		return import_refuse(
			im, "fault", rule,
			"a fault rule must have a key that selects messages: fa_src, fa_dst, "
			"fa_local_nid, fa_msg_mask or fa_ptl_mask; fa_src '*' selects all");
	f->messages = (unsigned int)v.messages;
	f->rate = (unsigned int)v.rate;
	f->interval = (unsigned int)v.interval;
	f->latency_ms = (unsigned int)(v.latency_ms ? v.latency_ms : v.latency * 1000);
	f->when = (unsigned int)v.when;
	f->health_errors = (unsigned int)v.health_errors;
	f->random = v.random;
	f->drop_all = v.drop_all;
	return 0;
}

static bool covers(const struct lnetctl_node *a, const struct lnetctl_node *b, const char *key)
{
	const char *x = lnetctl_text(a, key), *y = lnetctl_text(b, key);

	return !x || !strcmp(x, "*") || (y && !strcmp(x, y));
}

/*
 * A fault rule is deleted by its patterns. So the deletion for an earlier item may have deleted
 * @rule.
 */
static bool deleted_before(const struct import *im, const struct lnetctl_node *rule)
{
	const struct lnetctl_node *other;

	for (other = im->first; other && other != rule; other = other->next)
		if (covers(other, rule, "rule_type") && covers(other, rule, "fa_src") &&
		    covers(other, rule, "fa_dst"))
			return true;
	return false;
}

static int fault_show(struct import *im, const struct lnetctl_fault *f)
{
	const char *src = f->source ? f->source : "*", *dst = f->dest ? f->dest : "*", *text;
	struct lnetctl_node *doc, *rules, *rule, *next;
	int rc = lnetctl_fault_show(im->c, f->delay, &doc);

	if (rc)
		return rc;
	rules = lnetctl_find(doc, "fault");
	for (rule = rules ? rules->first : NULL; rule; rule = next) {
		next = rule->next;
		text = lnetctl_text(rule, "fa_src");
		if (text && !strcmp(text, src) && !strcmp(lnetctl_text(rule, "fa_dst"), dst))
			continue;
		lnetctl_take(rules, rule);
		lnetctl_doc_free(rule);
	}
	if (rules && !rules->first) {
		lnetctl_doc_free(doc);
		return 0;
	}
	return import_keep(im, doc);
}

int import_fault(struct import *im, const struct lnetctl_node *rule)
{
	struct lnetctl_fault f;
	int rc;

	im->trans.at = rule;
	rc = import_fault_read(im, rule, &f);
	if (rc)
		return rc;
	if (im->how == LNETCTL_IMPORT_SHOW)
		return fault_show(im, &f);
	if (im->how == LNETCTL_IMPORT_DEL)
		return deleted_before(im, rule) ? 0 : lnetctl_fault_del(im->c, &f);
	return lnetctl_fault_add(im->c, &f);
}
