/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declarations for the files that read configurations. They read sections as items, for import and
 * for plans.
 */
#ifndef LNETCTL_IMPORT_H
#define LNETCTL_IMPORT_H

#include "client.h"

struct import {
	struct lnetctl *c;
	enum lnetctl_import how;
	struct lnetctl_node *shown;	/* NULL: no output is needed */
	const struct lnetctl_node *first;	/* item of the section */
	struct ctl_trans trans;		/* trans.at: the node being read */
};

const char *import_verb(const struct import *im);
/* Reports an error about @n. */
int import_refuse(struct import *im, const char *object, const struct lnetctl_node *n,
		  const char *what);
/* Adds the sections of @doc to the output, and frees @doc. Returns 0. */
int import_keep(struct import *im, struct lnetctl_node *doc);
/* Inserts the file position before the text of the last error. Returns @rc. */
int import_place(struct import *im, const char *name, int rc);
/* Copies the file position of @from (may be NULL) to @n. */
void import_at(struct lnetctl_node *n, const struct lnetctl_node *from);
/* Reads an optional number of a mapping. If the number is missing, *@val is unchanged. */
int import_num(struct import *im, const char *object, const struct lnetctl_node *map,
	       const char *key, int64_t *val);
/* Reads an optional true or false as 1 or 0. If the key is missing, *@val is unchanged. */
int import_flag(struct import *im, const char *object, const struct lnetctl_node *map,
		const char *key, int64_t *val);
/* Reads an optional text of a mapping. *@text is NULL if the text is missing or empty. */
int import_text(struct import *im, const char *object, const struct lnetctl_node *map,
		const char *key, const char **text);
/*
 * Reads an optional mapping or sequence, as the bits of @kinds allow. *@part is NULL if it is
 * missing or empty.
 */
#define IMPORT_MAP (1u << LNETCTL_MAP)
#define IMPORT_SEQ (1u << LNETCTL_SEQ)
int import_part(struct import *im, const char *object, const struct lnetctl_node *map,
		const char *key, unsigned int kinds, const struct lnetctl_node **part);
/* Reports that the section @n is not a mapping, or not a sequence. */
int import_not_a(struct import *im, const struct lnetctl_node *n, const char *kind);
/* Reads one section of a file, or one scalar at its top level. */
int import_section(struct import *im, const struct lnetctl_node *n);

/* ---- import_keys.c ---- */

/*
 * Checks all keys of a file. Prints a note for each unknown key, or fails at the first unknown key.
 */
int import_keys(struct lnetctl *c, const struct lnetctl_file *file, enum lnetctl_import how);

/* ---- import_wait.c ---- */

/* If this machine lacks an interface that the file names, prints a note. */
void import_missing(const struct lnetctl_file *file);

/* ---- ctl_import_net.c: sections net and ip2nets ---- */

/*
 * One interface that a file describes. @at, @net and @nid belong to the document of the file. The
 * struct itself is valid only while ni_item_fn() runs.
 */
struct ni_item {
	const struct lnetctl_node *at;
	const char *net;
	const char *nid;		/* NULL: the current NID of the interface */
	char name[128], cpts[128];	/* "": not named */
	struct lnetctl_net n;		/* the numbers */
};

typedef int (*ni_item_fn)(struct import *im, const struct ni_item *item, void *arg);
/* True for "tcp0" and "tcp". */
bool import_net_same(const char *a, const char *b);
/* Calls @fn for each interface of an item of "net". */
int import_net_item(struct import *im, const struct lnetctl_node *net, ni_item_fn fn, void *arg);
/*
 * As import_net_item(), but for each interface that the rules of "ip2nets" select on this machine.
 */
int import_ip2nets(struct import *im, const struct lnetctl_node *section, ni_item_fn fn,
		   void *arg);
int import_net(struct import *im, const struct lnetctl_node *net);
int import_ip2nets_section(struct import *im, const struct lnetctl_node *section);

/* ---- ctl_import_peer.c: items of peer and fault ---- */

int import_peer(struct import *im, const struct lnetctl_node *peer);
/* Does a full export show @peer as dynamically created? Import ignores such a peer. */
bool import_peer_dynamic(const struct lnetctl_node *peer);
/* Reads the flag Multi-Rail, true by default. */
int import_peer_mr(struct import *im, const struct lnetctl_node *peer, bool *mr);
/*
 * Writes "peer ni" of a peer to *@list, separated by commas. If the key is missing, the list is "".
 * The caller frees the list.
 */
int import_peer_nids(struct import *im, const struct lnetctl_node *peer, char **list);
int import_fault(struct import *im, const struct lnetctl_node *rule);
/* Reads a fault rule. The texts in @f belong to @rule. */
int import_fault_read(struct import *im, const struct lnetctl_node *rule, struct lnetctl_fault *f);

/* ---- ctl_rule.c: items of faults ---- */

#define LNETCTL_RULE_LIST 544	/* maximum bytes of a list as text */
int import_rule(struct import *im, const struct lnetctl_node *rule);
/* Writes a sequence of scalars as text, separated by commas. False: the text is too long. */
bool import_rule_list(const struct lnetctl_node *seq, char *text, size_t size);
/* Checks that @rule of "faults" has a key that selects messages. Returns 0 or an error. */
int import_rule_selects(struct import *im, const struct lnetctl_node *rule);

/* ---- ctl_udsp.c ---- */

int import_udsp(struct import *im, const struct lnetctl_node *rule);

/* ---- ctl_route.c ---- */

int import_route(struct import *im, const struct lnetctl_node *route);

/* ---- ip2nets.c ---- */

/* An address of this machine on an interface that is up. */
struct local_address {
	char name[32];
	bool loopback;
	int family;
	unsigned char bytes[16];
};

/* Reads the addresses into *@all, which the caller frees. Returns their number, or -errno. */
int local_addresses(struct local_address **all);
/*
 * Does @a match a pattern such as "10.0.[0-3].*", "fd00::1" or "fd00::/8"? -EINVAL: not a pattern.
 */
int address_matches(const struct local_address *a, const char *pattern);

#endif
