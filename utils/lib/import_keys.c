/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The known keys of configuration files, and notes about unknown keys. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "import.h"

/*
 * A key of a mapping. A key of a sequence applies to each mapping in the sequence. Lists of keys
 * end with name NULL.
 */
struct key {
	const char *name;
	const struct key *sub;	/* keys below this key; NULL: any keys */
};

#define END { NULL, NULL }

/* Keys that exports show for an interface of this node or of a peer. */
#define COUNTERS								\
	{ "statistics", NULL }, { "udsp info", NULL }, { "sent_stats", NULL },	\
	{ "received_stats", NULL }, { "dropped_stats", NULL },			\
	{ "health stats", NULL }, { "more", NULL }

static const struct key tunables[] = {
	{ "peer_timeout", NULL }, { "peer_credits", NULL }, { "peer_buffer_credits", NULL },
	{ "credits", NULL }, END
};
/* Only full exports have "timeout". */
static const struct key lnd_tunables[] = {
	{ "conns_per_peer", NULL }, { "tos", NULL }, { "timeout", NULL }, END
};
static const struct key ni[] = {
	{ "nid", NULL }, { "interfaces", NULL }, { "tunables", tunables },
	{ "lnd tunables", lnd_tunables }, { "CPT", NULL }, { "status", NULL },
	{ "reason", NULL }, { "dev cpt", NULL }, { "lnd counters", NULL }, { "service", NULL },
	{ "link", NULL }, COUNTERS, END
};
static const struct key net[] = {
	{ "net type", NULL }, { "local NI(s)", ni }, { "nid", NULL }, { "interfaces", NULL },
	{ "tunables", tunables }, { "lnd tunables", lnd_tunables }, { "CPT", NULL },
	{ "status", NULL }, { "service", NULL }, { "link", NULL }, END
};
static const struct key ip2nets[] = {
	{ "net-spec", NULL }, { "interfaces", NULL }, { "ip-range", NULL },
	{ "tunables", tunables }, { "lnd tunables", lnd_tunables }, { "CPT", NULL }, END
};
static const struct key peer_ni[] = {
	{ "nid", NULL }, { "state", NULL }, { "max_ni_tx_credits", NULL },
	{ "available_tx_credits", NULL }, { "min_tx_credits", NULL }, { "tx_q_num_of_buf", NULL },
	{ "available_rtr_credits", NULL }, { "min_rtr_credits", NULL }, { "refcount", NULL },
	{ "paths", NULL }, COUNTERS, END
};
static const struct key peer[] = {
	{ "primary nid", NULL }, { "Multi-Rail", NULL }, { "peer state", NULL },
	{ "configured", NULL }, { "peer ni", peer_ni }, END
};
static const struct key route[] = {
	{ "net", NULL }, { "gateway", NULL }, { "hop", NULL }, { "priority", NULL },
	{ "health_sensitivity", NULL }, { "state", NULL }, { "type", NULL }, END
};
static const struct key buffers[] = {
	{ "tiny", NULL }, { "small", NULL }, { "large", NULL }, END
};
/* `routing show' prints the buffers of each CPT under the keys "cpt[0]", "cpt[1]" and so on. */
static const struct key routing[] = { { "enable", NULL }, { "cpt[", NULL }, END };
static const struct key numa[] = { { "range", NULL }, END };
static const struct key udsp_action[] = { { "priority", NULL }, END };
static const struct key udsp[] = {
	{ "idx", NULL }, { "src", NULL }, { "dst", NULL }, { "rte", NULL },
	{ "priority", NULL }, { "action", udsp_action }, END
};
static const struct key fault[] = {
	{ "rule_type", NULL }, { "fa_src", NULL }, { "fa_dst", NULL }, { "fa_local_nid", NULL },
	{ "fa_ptl_mask", NULL }, { "fa_msg_mask", NULL }, { "da_rate", NULL },
	{ "da_interval", NULL }, { "da_health_error_mask", NULL }, { "da_random", NULL },
	{ "da_drop_all", NULL }, { "da_when", NULL }, { "la_rate", NULL },
	{ "la_interval", NULL }, { "la_latency", NULL }, { "la_latency_ms", NULL },
	{ "fs_count", NULL }, { "fs_put", NULL }, { "fs_ack", NULL }, { "fs_get", NULL },
	{ "fs_reply", NULL }, { "ds_dropped", NULL }, { "ls_delayed", NULL }, { "id", NULL }, END
};
static const struct key ping[] = {
	{ "nids", NULL }, { "timeout", NULL }, { "source", NULL }, END
};
static const struct key discover[] = { { "nids", NULL }, { "force", NULL }, END };

/*
 * @ours: only this project has the section. Files for stock LNet do not contain such a section, so
 * unknown keys in it are errors.
 */
static const struct {
	const char *name;
	const struct key *keys;
	bool ours;
} sections[] = {
	{ "net", net, false },	       { "ip2nets", ip2nets, false }, { "peer", peer, false },
	{ "route", route, false },     { "buffers", buffers, false }, { "numa", numa, false },
	{ "udsp", udsp, false },       { "fault", fault, true },      { "ping", ping, false },
	{ "discover", discover, false }, { "routing", routing, false },
};

struct check {
	struct import im;
	const struct lnetctl_file *file;
	bool strict;
};

static const struct key *key_find(const struct key *keys, const char *name)
{
	/* keys of stock's older grammar: the number of a request, and its level of detail */
	static const struct key old = END;

	for (; keys->name; keys++)
		if (!strcmp(keys->name, name) ||
		    (!strcmp(keys->name, "cpt[") && !strncmp(name, "cpt[", 4)))
			return keys;
	return strcmp(name, "seq_no") && strcmp(name, "detail") ? NULL : &old;
}

static int unknown(struct check *ck, const struct lnetctl_node *n, const char *group)
{
	const char *name = ck->file->name;
	char text[200];

	if (ck->strict) {
		snprintf(text, sizeof(text), "unknown key '%s' in '%s'", n->key, group);
		return import_refuse(&ck->im, group, n, text);
	}
	if (ck->file->notes)
		fprintf(ck->file->notes,
			"%s%sline %u column %u: Ignoring unrecognized key '%s' for '%s'\n",
			name ? name : "", name ? " " : "", n->line, n->column, n->key, group);
	return 0;
}

/* This function is recursive. The tables bound its depth. */
static int keys_check(struct check *ck, const struct lnetctl_node *n, const struct key *keys,
		      const char *group)
{
	const struct lnetctl_node *child;
	const struct key *key;
	int rc = 0;

	for (child = n->first; child && !rc; child = child->next) {
		if (n->kind == LNETCTL_SEQ) {
			rc = keys_check(ck, child, keys, group);
			continue;
		}
		key = key_find(keys, child->key);
		if (!key)
			rc = unknown(ck, child, group);
		else if (key->sub)
			rc = keys_check(ck, child, key->sub, child->key);
	}
	return rc;
}

static int section_check(struct check *ck, const struct lnetctl_node *n)
{
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (strcmp(n->key, sections[i].name))
			continue;
		ck->strict = sections[i].ours || ck->file->flags & LNETCTL_FILE_STRICT;
		return keys_check(ck, n, sections[i].keys, n->key);
	}
	return 0;
}

int import_keys(struct lnetctl *c, const struct lnetctl_file *file, enum lnetctl_import how)
{
	struct check ck = { .im = { .c = c, .how = how }, .file = file };
	const struct lnetctl_node *n;
	int rc = 0;

	for (n = file->doc->first; n && !rc; n = n->next)
		rc = section_check(&ck, n);
	return import_place(&ck.im, file->name, rc);
}
