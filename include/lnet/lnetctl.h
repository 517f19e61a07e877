/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * liblnetctl: everything that lnetctl can do, as calls. One handle talks to one node, the kernel's
 * LNet or a user-space node; calls and documents are the same for both.
 *
 * Every call returns 0 or -errno. After a failure lnetctl_error() has the words, for people and as
 * the document that lnetctl prints. A handle belongs to one thread at a time. Documents that calls
 * hand out are freed by lnetctl_doc_free().
 */
#ifndef LNET_LNETCTL_H
#define LNET_LNETCTL_H

#include <lnet/types.h>
#include <stdio.h>
#include <sys/types.h>

LNET_BEGIN_DECLS

/* ---- documents: node.c, print.c, yaml.c ---- */

enum lnetctl_kind {
	LNETCTL_NULL,
	LNETCTL_TEXT,
	LNETCTL_NUM,
	LNETCTL_BOOL,
	LNETCTL_MAP,
	LNETCTL_SEQ
};
enum lnetctl_quote {
	LNETCTL_AUTO,
	LNETCTL_DOUBLE,
	LNETCTL_SINGLE,
	LNETCTL_TAG_DOUBLE,
	LNETCTL_TAG_SINGLE
};

/* A YAML value: scalar, mapping or sequence, as a tree of what may be read and changed freely. */
struct lnetctl_node {
	struct lnetctl_node *next, *first, *last;
	char *key;		/* in a mapping, else NULL */
	char *text;		/* scalars, as written */
	unsigned char kind, quote;
	bool incomplete;	/* a child is missing: there was no memory; cannot be sent */
	unsigned int line;	/* in the file it came from, from 1; else 0 */
};

/*
 * Add to the end of @parent (may be NULL: a root) and return the new node; NULL: out of memory.
 * @key NULL in a sequence.
 */
struct lnetctl_node *lnetctl_add(struct lnetctl_node *parent, const char *key,
				 enum lnetctl_kind kind, const char *text);
struct lnetctl_node *lnetctl_add_text(struct lnetctl_node *parent, const char *key,
				      const char *text);
struct lnetctl_node *lnetctl_add_num(struct lnetctl_node *parent, const char *key, int64_t num);
struct lnetctl_node *lnetctl_add_map(struct lnetctl_node *parent, const char *key);
struct lnetctl_node *lnetctl_add_seq(struct lnetctl_node *parent, const char *key);
/* @child, a root, becomes the last child */
void lnetctl_adopt(struct lnetctl_node *parent, struct lnetctl_node *child);
/* the reverse: @child is a root again */
void lnetctl_take(struct lnetctl_node *parent, struct lnetctl_node *child);
void lnetctl_doc_free(struct lnetctl_node *doc);				/* NULL is fine */
/* NULL map: NULL */
struct lnetctl_node *lnetctl_find(const struct lnetctl_node *map, const char *key);
/* NULL when not a scalar there */
const char *lnetctl_text(const struct lnetctl_node *map, const char *key);
/* decimal, octal, hexadecimal; -EINVAL, -ERANGE */
int lnetctl_num(const struct lnetctl_node *n, int64_t *num);

/* How a document is laid out: stock's tools have three ways. */
enum lnetctl_style {
	LNETCTL_WIDE,	/* net, peer, route: indent 6 */
	LNETCTL_NARROW,	/* ping, discover, cpt-of-nid: indent 2 */
	LNETCTL_HAND,	/* global, stats, udsp, routing: indent 4 */
	LNETCTL_JSON,
};
void lnetctl_print(const struct lnetctl_node *doc, enum lnetctl_style style, FILE *out);

/*
 * The whole of @in, one document, as a tree; no anchors, no tags. -EINVAL: @why (a sentence with
 * the line) is filled. An empty file is an empty mapping.
 */
int lnetctl_yaml_read(FILE *in, struct lnetctl_node **doc, char *why, size_t why_size);

/* ---- a node ---- */

struct lnetctl;

/*
 * @node: name of a user-space node, "NAME" (of this user, else root's) or "USER/NAME"; "kernel";
 * NULL: $LNET_NODE, else the kernel if it has LNet, else the node "lnetd". NULL with *err set; @why
 * gets the words.
 */
struct lnetctl *lnetctl_open(const char *node, int *err, char *why, size_t why_size);
/*
 * A node in this process: @serve gets one netlink message and hands every datagram of the answer to
 * @reply(to, ...) before it returns 0 or -errno.
 */
typedef int (*lnetctl_reply_fn)(void *to, const void *msgs, size_t len);
typedef int (*lnetctl_serve_fn)(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply,
				void *to);
struct lnetctl *lnetctl_open_local(lnetctl_serve_fn serve, void *arg);
void lnetctl_close(struct lnetctl *c);

/* Of the last call that failed. Texts live until the next call. */
struct lnetctl_error {
	int err;		/* -errno of the node, not folded */
	const char *verb;	/* "add" ... */
	const char *object;	/* "net" ... */
	const char *text;
};
const struct lnetctl_error *lnetctl_error(const struct lnetctl *c);
/* as the node's answers are printed: with markers, indent 6 */
void lnetctl_error_print(const struct lnetctl *c, FILE *out);

/* ---- commands ---- */

#define LNETCTL_CONF_ALL	1	/* also the nets that module parameters name */
#define LNETCTL_CONF_LARGE	2	/* IPv6-capable NIDs */
int lnetctl_configure(struct lnetctl *c, unsigned int flags);
int lnetctl_unconfigure(struct lnetctl *c);

#define LNETCTL_UNSET INT64_MIN
/* Absent: NULL and LNETCTL_UNSET; start from lnetctl_net_init(). */
struct lnetctl_net {
	const char *net;
	const char *interfaces;		/* "eth0,eth1[0,1]" */
	const char *nids;		/* instead of net and interfaces: NID list */
	const char *cpts;		/* "[0,1]" */
	int64_t peer_timeout, peer_credits, peer_buffer_credits, credits;
	int64_t conns_per_peer, tos;
};
void lnetctl_net_init(struct lnetctl_net *n);
int lnetctl_net_add(struct lnetctl *c, const struct lnetctl_net *n);
int lnetctl_net_del(struct lnetctl *c, const struct lnetctl_net *n);
/* @nid NULL: all. LNETCTL_UNSET: leave. */
int lnetctl_net_set(struct lnetctl *c, const char *nid, int64_t health, int64_t conns_per_peer);
/* For tests: as if the link of @nid went down, or came back. */
int lnetctl_net_link(struct lnetctl *c, const char *nid, bool up);
/* @level 0..4; @backup: only what builds the same again. *@doc has the key "net", or nothing. */
int lnetctl_net_show(struct lnetctl *c, const char *net, unsigned int level, bool backup,
		     struct lnetctl_node **doc);

#define LNETCTL_PEER_NON_MR	1
#define LNETCTL_PEER_LOCK	2	/* add: keep the primary NID */
#define LNETCTL_PEER_FORCE	2	/* del: a locked one too */
int lnetctl_peer_add(struct lnetctl *c, const char *primary, const char *nids, unsigned int flags);
int lnetctl_peer_del(struct lnetctl *c, const char *primary, const char *nids, unsigned int flags);
int lnetctl_peer_set(struct lnetctl *c, const char *nid, int64_t health, int64_t state);
int lnetctl_peer_show(struct lnetctl *c, const char *nid, unsigned int level, bool backup,
		      struct lnetctl_node **doc);
int lnetctl_peer_list(struct lnetctl *c, struct lnetctl_node **doc);

/*
 * NID lists. 0 when the node has answered; targets that failed are under "manage" in *@doc.
 * @timeout_ms 0: the node's own.
 */
int lnetctl_ping(struct lnetctl *c, const char *nids, const char *source, unsigned int timeout_ms,
		 struct lnetctl_node **doc);
int lnetctl_cpt_of_nid(struct lnetctl *c, const char *nids, struct lnetctl_node **doc);

/* All or nothing over one call; @values is a mapping. */
int lnetctl_set(struct lnetctl *c, const char *name, const char *value);
int lnetctl_set_many(struct lnetctl *c, const struct lnetctl_node *values);
int lnetctl_global_show(struct lnetctl *c, struct lnetctl_node **doc);

int lnetctl_stats_show(struct lnetctl *c, struct lnetctl_node **doc);
int lnetctl_stats_reset(struct lnetctl *c);
int lnetctl_recovery_show(struct lnetctl *c, bool peers, struct lnetctl_node **doc);
int lnetctl_node_show(struct lnetctl *c, struct lnetctl_node **doc);

struct lnetctl_fault {
	bool delay;
	const char *source, *dest, *local;	/* "*", "*@net" or a NID; NULL: any */
	unsigned int rate, interval;		/* 1 in rate, or one per interval of seconds */
	unsigned int latency_ms;		/* delay */
	/* drop, for tests: 0 before posting, 1 after, 2 after completion */
	unsigned int when;
	uint64_t portals;			/* bit per portal; 0: all */
	unsigned int messages, health_errors;	/* bit masks of management section 2.9 */
	bool random, drop_all;
};
int lnetctl_fault_add(struct lnetctl *c, const struct lnetctl_fault *f);
/* matching source and dest; none: all */
int lnetctl_fault_del(struct lnetctl *c, const struct lnetctl_fault *f);
int lnetctl_fault_reset(struct lnetctl *c, bool delay);
int lnetctl_fault_show(struct lnetctl *c, bool delay, struct lnetctl_node **doc);

enum lnetctl_import {
	LNETCTL_IMPORT_ADD,
	LNETCTL_IMPORT_DEL,
	LNETCTL_IMPORT_SHOW,
	LNETCTL_IMPORT_EXEC
};
/*
 * Section by section, in the order of the file but "global" first (nets depend on it), stopping at
 * the first that fails; what went before stays. SHOW and EXEC add to *@shown what the node
 * answered.
 */
int lnetctl_import(struct lnetctl *c, const struct lnetctl_node *doc, enum lnetctl_import how,
		   struct lnetctl_node **shown);
#define LNETCTL_EXPORT_BACKUP	1	/* only what builds the same configuration again */
#define LNETCTL_EXPORT_NO_FAULT	2	/* without fault rules */
/*
 * net, peer, global, fault as lnetctl_import() reads them. To @out as text, every section in its
 * own style.
 */
int lnetctl_export(struct lnetctl *c, unsigned int flags, FILE *out);

/* "a,b[0-3,7]@tcp" -> a sequence of texts; at most 128. */
int lnetctl_nids_expand(const char *list, struct lnetctl_node **nids, char *why, size_t why_size);
/* "5", "0.3", "300ms", "5s": seconds unless said otherwise; up to 1 day, at least 1 ms. */
int lnetctl_ms_parse(const char *text, unsigned int *ms);

LNET_END_DECLS

#endif
