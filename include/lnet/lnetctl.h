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

/*
 * A YAML value: scalar, mapping or sequence, as a tree. All of it may be read; it is changed by the
 * calls below, as its memory is the document's.
 */
struct lnetctl_node {
	struct lnetctl_node *next, *first, *last;
	struct lnetctl_arena *arena;	/* the library's */
	char *key;		/* in a mapping, else NULL */
	char *text;		/* scalars, as written */
	unsigned char kind, quote;
	bool incomplete;	/* a child is missing: there was no memory; cannot be sent */
	/* position of its key, else of its value, in the file, from 1; 0: it is from no file */
	unsigned int line, column;
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
/* A copy of it. 0 or -ENOMEM: it is as before. */
int lnetctl_set_text(struct lnetctl_node *n, const char *text);
int lnetctl_set_key(struct lnetctl_node *n, const char *key);
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
 * Parse @in as one YAML document without aliases and tags. *@doc is its tree; an empty file is an
 * empty mapping. An export without its last line is rejected. Return: 0; -EINVAL with the reason,
 * the line and the column in @why.
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

/*
 * Reports an unresponsive user-space node, at most once per call: the node has not replied for 2 s.
 * During a request that may take longer, it has not even read the request.
 * @pid: process of the node, or 0 if unknown; @ms: how long the call waits in total
 */
typedef void (*lnetctl_silent_fn)(void *arg, const char *node, int pid, unsigned int ms);
/*
 * Set how long each later call waits for a reply: @wait_ms; 0: 30 s, or the longer time that a
 * command itself needs. @silent may be NULL.
 */
void lnetctl_wait_set(struct lnetctl *c, unsigned int wait_ms, lnetctl_silent_fn silent, void *arg);
/*
 * List the nodes of this network namespace under "nodes". Each has "name", "uid" and "answers";
 * "pid" if the caller may see the process; "version" and "configured" if the node answers.
 */
int lnetctl_nodes_list(struct lnetctl_node **doc);

/* Of the last call that failed. Texts live until the next call. */
struct lnetctl_error {
	int err;		/* -errno of the node, not folded */
	const char *verb;	/* "add" ... */
	const char *object;	/* "net" ... */
	const char *text;
};
const struct lnetctl_error *lnetctl_error(const struct lnetctl *c);
/* Did the last call fail because the node is not configured? See lnetctl_configure(). */
bool lnetctl_unconfigured(const struct lnetctl *c);
/* as the node's answers are printed: with markers, indent 6 */
void lnetctl_error_print(const struct lnetctl *c, FILE *out);

/*
 * ---- commands ----
 *
 * One call per command of lnetctl. All of them may fail with -ENOMEM; with what the way to the node
 * gives: -ECONNREFUSED (there is no such node any more), -ECONNRESET, -ETIMEDOUT (it does not
 * answer), -EPROTO (what it answers makes no sense); with -EPERM where the caller may look but not
 * change; and, all but configure, the tunables, the statistics and node, with -ENETDOWN before
 * lnetctl_configure(), -ESHUTDOWN for additions of interfaces. Further errors are named at each
 * call. Nothing has changed after an error unless the call says so.
 *
 * Calls that show give in *@doc a mapping with the key that is named, or an empty one where there
 * is nothing to show; NULL after an error.
 */

#define LNETCTL_CONF_ALL	1	/* also the nets that module parameters name */
#define LNETCTL_CONF_LARGE	2	/* IPv6-capable NIDs; here they always are */
/* Bring LNet up with its loopback interface. A second time: 0, and nothing happens. */
int lnetctl_configure(struct lnetctl *c, unsigned int flags);
/*
 * Remove all interfaces, peers and rules. Waits for messages under way, each interface at most
 * the tunable drain_time. -EBUSY: others use LNet.
 */
int lnetctl_unconfigure(struct lnetctl *c);

#define LNETCTL_UNSET INT64_MIN		/* of a number: not given */
/*
 * Interfaces to add or delete. Exactly one of net, nids and ip2net. Absent: NULL and LNETCTL_UNSET;
 * start from lnetctl_net_init(). Numbers are for add only; LNETCTL_UNSET and -1 are the default.
 */
struct lnetctl_net {
	const char *net;		/* "tcp", "tcp1" */
	const char *interfaces;		/* "eth0,eth1[0,1]": names below 128 bytes, with CPTs */
	/* a NID list, at most 128; in an import beside interfaces: the one that is to have it */
	const char *nids;
	const char *ip2net;		/* add: rules, as "tcp(eth0) 10.0.*.*; tcp1 10.1.*.*" */
	const char *cpts;		/* "[0,1]", "[0-3]", "2": of those without their own */
	int64_t peer_timeout;		/* seconds, 0 (never) to 2^31 - 1 */
	int64_t peer_credits;		/* messages under way to a peer interface, 1 to 65535 */
	int64_t peer_buffer_credits;	/* router buffers, 0 to 65535 */
	int64_t credits;		/* messages under way, 1 to 1048576 */
	int64_t conns_per_peer;		/* connections of a kind, 0 (by link speed) to 127 */
	int64_t tos;			/* IP type of service, 0 to 255 */
	int64_t drained;		/* 1: add it drained, see lnetctl_net_drain() */
	int64_t link_down;		/* 1: add it with its link down, see lnetctl_net_link() */
};
void lnetctl_net_init(struct lnetctl_net *n);
/*
 * Add all interfaces of @n, or none.
 *
 * -EINVAL: not exactly one of net, nids and ip2net; no interface; a bad list; a NID of another net;
 * a net without a driver; a number out of range.
 * -ENOENT: unknown net. -ENETDOWN: no such interface. -EADDRNOTAVAIL: the interface has no address.
 * -EEXIST: the interface is on that net already, or named twice. -ERANGE: this node lacks the CPT.
 * -ENOSPC: more interfaces than the tunable max_interfaces allows.
 */
int lnetctl_net_add(struct lnetctl *c, const struct lnetctl_net *n);
/*
 * Delete the named interfaces, or all of the net if @n names none. Waits as lnetctl_unconfigure().
 * If one of them does not exist, none is deleted.
 *
 * -EINVAL: the net does not exist, or a bad list. -ENODEV: the interface does not exist, or is the
 * loopback interface. -ENOENT: no interface has the NID.
 */
int lnetctl_net_del(struct lnetctl *c, const struct lnetctl_net *n);
/*
 * Set the health of the interface with @nid, 0 (down) to 1000 (healthy), and its connections per
 * peer, 0 to 127. @nid NULL: all interfaces. LNETCTL_UNSET leaves a value as it is. An interface
 * below 1000 recovers by itself.
 * -ENOENT: no interface has @nid; -EINVAL: @nid is not a NID, or a value is out of range.
 */
int lnetctl_net_set(struct lnetctl *c, const char *nid, int64_t health, int64_t conns_per_peer);
/* lnetctl_net_set() for all interfaces on @net. -ENOENT: this node has none on it. */
int lnetctl_net_set_on(struct lnetctl *c, const char *net, int64_t health, int64_t conns_per_peer);
/*
 * How long a connection of @net's driver may make no progress: seconds, 0 to 3600; 0: the tunable
 * lnd_timeout. -EINVAL: a net whose driver has none; -ERANGE.
 */
int lnetctl_lnd_timeout(struct lnetctl *c, const char *net, int64_t seconds);
/*
 * Treat the link of @nid (NULL: all interfaces) as down, or as up again. -ENOENT: no interface has
 * @nid; -EINVAL: it is not a NID.
 */
int lnetctl_net_link(struct lnetctl *c, const char *nid, bool up);
/*
 * Out of service, without loss or delay: used only for what can go no other way, and announced as
 * down; or back. -ENOENT, -EINVAL.
 */
int lnetctl_net_drain(struct lnetctl *c, const char *nid, bool drained);
/*
 * "net". @net NULL: all. @level 0 to 4 as stock, 5: what only this project has; taken modulo 256.
 * @backup: only what builds the same again. -ENOENT: @net is no net; -ESRCH: there is none.
 */
int lnetctl_net_show(struct lnetctl *c, const char *net, unsigned int level, bool backup,
		     struct lnetctl_node **doc);

#define LNETCTL_PEER_NON_MR	1
#define LNETCTL_PEER_LOCK	2	/* add: keep the primary NID */
#define LNETCTL_PEER_FORCE	2	/* del: a locked one too */
/*
 * Add a peer, or NIDs to one. @nids: a NID list of at most 128, or NULL. NIDs that it has are no
 * error. -EINVAL: not a NID, or one of this node; -EEXIST: a NID of another peer; -E2BIG: too many;
 * -EPERM: multi-rail or not does not match what was configured; -ENOTUNIQ: not multi-rail, with two
 * NIDs on a net; -EBUSY: the NID's own peer is in use, some may have been added.
 */
int lnetctl_peer_add(struct lnetctl *c, const char *primary, const char *nids, unsigned int flags);
/*
 * Without @nids, or with the primary among them, the whole peer; but one whose primary NID is
 * locked, without FORCE, keeps that. -ENOENT: no such peer, or it lacks one of the NIDs (the others
 * are deleted); -ENODEV: @primary is not its primary NID.
 */
int lnetctl_peer_del(struct lnetctl *c, const char *primary, const char *nids, unsigned int flags);
/*
 * Set the health of the peer interface with @nid, 0 to 1000, and the state of its peer. @nid NULL:
 * all. LNETCTL_UNSET leaves a value as it is. @state has the bits that `peer show -v 3` prints, of
 * which bit 0 (multi-rail) and bit 20 (locked) can be set.
 * -ENOENT: no peer has @nid; -EINVAL: @nid is not a NID, or a value is out of range.
 */
int lnetctl_peer_set(struct lnetctl *c, const char *nid, int64_t health, int64_t state);
/* "peer". @nid: only the peer that has it, or NULL. Levels as lnetctl_net_show(). -ENOENT. */
int lnetctl_peer_show(struct lnetctl *c, const char *nid, unsigned int level, bool backup,
		      struct lnetctl_node **doc);
/* "peer list": the primary NIDs. */
int lnetctl_peer_list(struct lnetctl *c, struct lnetctl_node **doc);
/* The state of the peer that has @nid into the node's log. -ENOENT, -EINVAL. */
int lnetctl_peer_log(struct lnetctl *c, const char *nid);

/*
 * "ping": what each of @nids has; at once. @nids: a NID list of at most 128; a target may be
 * PID-NID, which is then how its NIDs are told. @source: a NID of this node, or NULL. @timeout_ms:
 * for each, 0: the tunable transaction_timeout; at most 180 s count. 0 when the node has answered;
 * targets that failed are under "manage" in *@doc, with "errno" and "descr". -EINVAL: a bad list,
 * or @source is not of this node; -E2BIG.
 */
int lnetctl_ping(struct lnetctl *c, const char *nids, const char *source, unsigned int timeout_ms,
		 struct lnetctl_node **doc);
/*
 * "discover": asks each of @nids what interfaces it has, at once, and with @force tells it ours
 * though it knows them; what the node knows of it then. @nids and failures as lnetctl_ping(). A
 * target has thrice the tunable transaction_timeout, at most 180 s. 0, -EINVAL, -E2BIG.
 */
int lnetctl_discover(struct lnetctl *c, const char *nids, bool force, struct lnetctl_node **doc);
/*
 * "explain": the path that a request to @nid, a peer's, would take now, which rank decided, all
 * paths with their ranks, and the times of a request. -ENOENT, -EINVAL.
 */
int lnetctl_explain(struct lnetctl *c, const char *nid, struct lnetctl_node **doc);
/*
 * The flight recorder: keeps what the node decides in @size bytes of memory, 0: 16 MiB. -EALREADY;
 * -EINVAL: too little
 */
int lnetctl_record_start(struct lnetctl *c, uint64_t size);
int lnetctl_record_stop(struct lnetctl *c);		/* what it has stays; -EALREADY */
int lnetctl_record_show(struct lnetctl *c, struct lnetctl_node **doc);	/* "record" */
/*
 * What it has, into a file for `lnetsim --replay`. It does not record meanwhile; if it did before,
 * it starts anew. -ENODATA: it never recorded.
 */
int lnetctl_record_dump(struct lnetctl *c, const char *file);
/* "cpt-of-nid": of each of @nids, a NID list. -EINVAL, -E2BIG. */
int lnetctl_cpt_of_nid(struct lnetctl *c, const char *nids, struct lnetctl_node **doc);

/*
 * A tunable, by its name or stock's. @value: a number; a time in seconds ("0.3") or with a unit
 * ("300ms"); points also as "10%"; "default". -ENOENT: no tunable; -EINVAL: not a value of its
 * kind; -ERANGE: the text has the range. configuration.md has names, units, defaults and ranges.
 */
int lnetctl_set(struct lnetctl *c, const char *name, const char *value);
/* The same for all of @values, a mapping of names to values: all or nothing. */
int lnetctl_set_many(struct lnetctl *c, const struct lnetctl_node *values);
/* "global": stock's tunables in its order, then all others; times in seconds. */
int lnetctl_global_show(struct lnetctl *c, struct lnetctl_node **doc);

/* "statistics": stock's counters in its order, then all others. */
int lnetctl_stats_show(struct lnetctl *c, struct lnetctl_node **doc);
/* All of them to 0, also those of interfaces and peers; msgs_alloc is how many there are now. */
int lnetctl_stats_reset(struct lnetctl *c);
/* "Local NI recovery" or "Peer NI recovery": "nid-0": NID and so on. */
int lnetctl_recovery_show(struct lnetctl *c, bool peers, struct lnetctl_node **doc);
/* Routing on or off. -EBUSY: it is just being switched off. */
int lnetctl_routing_set(struct lnetctl *c, bool on);
/* Buffers of a router by size, of the whole node; -1: as it is; 0: as many as stock has. */
int lnetctl_buffers_set(struct lnetctl *c, int64_t tiny, int64_t small, int64_t large);
/*
 * "routing": what each partition has, and "enable": 0 off, 1 on, 2 stopping, 3 starting;
 * "buffers": of all partitions. Empty if the node never routed.
 */
int lnetctl_routing_show(struct lnetctl *c, struct lnetctl_node **doc);
/* "node": name, version, process, user, and whether it is configured. */
int lnetctl_node_show(struct lnetctl *c, struct lnetctl_node **doc);

/* A rule that breaks messages. The first five are what a rule is found by, or applies to. */
struct lnetctl_fault {
	bool delay;				/* else it drops */
	const char *source, *dest, *local;	/* "*", "*@net" or a NID; NULL: any */
	uint64_t portals;			/* bit per portal; 0: all */
	unsigned int messages;			/* bits: 0 ACK, 1 PUT, 2 GET, 3 REPLY; 0: all */
	unsigned int rate, interval;		/* 1 in rate, or one per interval of seconds */
	unsigned int latency_ms;		/* delay: 1 to 86400000 */
	/*
	 * drop: how sending fails. Bits: 1 local_interrupt, 2 local_dropped, 3 local_aborted, 4
	 * local_no_route, 5 local_error, 6 local_timeout, 7 remote_error, 8 remote_dropped, 9
	 * remote_timeout, 10 network_timeout; 0: silently
	 */
	unsigned int health_errors;
	/* drop with health_errors, for tests: 0 before posting, 1 after, 2 after completion */
	unsigned int when;
	bool random;				/* drop: any moment of the interval */
	bool drop_all;				/* drop: every message that matches */
};
/*
 * Add @f. -EINVAL: not exactly one of rate and interval, or fields that exclude each other;
 * -ENOSPC: too many rules.
 */
int lnetctl_fault_add(struct lnetctl *c, const struct lnetctl_fault *f);
/* All that have exactly @f's source and dest, NULL matches every one. -ENOENT: none has. */
int lnetctl_fault_del(struct lnetctl *c, const struct lnetctl_fault *f);
/* Their counters to 0. */
int lnetctl_fault_reset(struct lnetctl *c, bool delay);
/* "fault": the rules of that kind with their counters. */
int lnetctl_fault_show(struct lnetctl *c, bool delay, struct lnetctl_node **doc);

/*
 * A rule in the grammar of faults: a mapping with "kind" and parameters as texts, as "permille":
 * "5", "delay": "10ms". What beside is in an export ("id", "state", "matched", "hit") is passed
 * over. -EINVAL: the text names the parameter and what is wrong; -EEXIST: the name is taken.
 */
int lnetctl_rule_add(struct lnetctl *c, const struct lnetctl_node *rule);
/* All that are like what is given of "id", "kind" and "name" of @which. -ENOENT: none is. */
int lnetctl_rule_del(struct lnetctl *c, const struct lnetctl_node *which);
/* "faults": all, or of a kind, oldest first; @backup: only what makes them again. */
int lnetctl_rule_show(struct lnetctl *c, const char *kind, bool backup, struct lnetctl_node **doc);

/* A selection policy. */
struct lnetctl_udsp {
	const char *src, *dst, *rte;	/* ranges of NIDs or nets; NULL: not given */
	int64_t idx;			/* from 0; LNETCTL_UNSET: the last */
	int64_t priority;		/* of src or dst alone; LNETCTL_UNSET: they are preferred */
};
/*
 * A rule with the same patterns changes its priority. -EINVAL: no range, or patterns and priority
 * that do not go together; -EALREADY: it is there; -ENOSPC, -ERANGE.
 */
int lnetctl_udsp_add(struct lnetctl *c, const struct lnetctl_udsp *u);
int lnetctl_udsp_del(struct lnetctl *c, int64_t idx);	/* -1: all. -ENOENT, -ERANGE */
/* A route, or a filter of them. */
struct lnetctl_route {
	const char *net, *gateway;	/* @gateway: one NID or more; NULL: not given */
	int64_t hops, priority;		/* LNETCTL_UNSET: not told */
};
/*
 * One for each gateway. -EINVAL, -EEXIST (it is there, or the net is the node's own), -EHOSTUNREACH
 * (no interface on the gateway's net).
 */
int lnetctl_route_add(struct lnetctl *c, const struct lnetctl_route *r);
int lnetctl_route_del(struct lnetctl *c, const struct lnetctl_route *r);	/* -ENOENT */
/* "route": those that are like @r. @level: from 1 on all that is known. */
int lnetctl_route_show(struct lnetctl *c, const struct lnetctl_route *r, unsigned int level,
		       bool backup, struct lnetctl_node **doc);
/* "udsp": the rules in their order, or one. */
int lnetctl_udsp_show(struct lnetctl *c, int64_t idx, struct lnetctl_node **doc);

/* ---- without a node ---- */

/*
 * Is @nid in @list, "10.0.[1-4/2].*@tcp1 192.168.0.0/16@tcp"? 1 or 0; -EINVAL: not a list, or not a
 * NID; -ENOMEM. @nid NULL: is @list one? 0 or -errno.
 */
int lnetctl_nidlist_match(const char *list, const char *nid);
/* Of o2ib, as a subnet manager knows it: from the driver's parameter, else its default. */
uint64_t lnetctl_service_id(void);
/*
 * Run ksocklnd-config, the system's routes for interfaces on one net, or lnet-sysctl-config, its
 * neighbour tables: of /usr/sbin, or what $KSOCKLND_CONFIG or $LNET_SYSCTL_CONFIG names, if the
 * name is the same. Waits. -ENOENT: the system has none; -EINVAL: it failed; @why has the words.
 */
int lnetctl_setup_mrrouting(char *why, size_t why_size);
int lnetctl_setup_sysctl(char *why, size_t why_size);

/* ---- files ---- */

enum lnetctl_import {
	LNETCTL_IMPORT_ADD,
	LNETCTL_IMPORT_DEL,
	LNETCTL_IMPORT_SHOW,
	LNETCTL_IMPORT_EXEC
};
/* plan and apply: accept a document without a section; it deletes everything */
#define LNETCTL_FILE_EMPTY	1
/* An unknown key is an error. Without this flag it is a note. */
#define LNETCTL_FILE_STRICT	2
/* A parsed configuration file, for the calls below. */
struct lnetctl_file {
	const struct lnetctl_node *doc;	/* as lnetctl_yaml_read() returned it */
	const char *name;		/* for errors and notes; may be NULL */
	unsigned int flags;		/* LNETCTL_FILE_* */
	FILE *notes;			/* receives a line per unknown key; may be NULL */
};
/*
 * Carry out each section of @file, in the order of the file, but "global" first: nets depend on it.
 * ADD and DEL change everything that the file names, or nothing: the node checks all requests
 * before it changes anything. A node without transactions (stock LNet) keeps the changes before the
 * first error. The node waits for added interfaces that do not exist yet. SHOW and EXEC append the
 * replies of the node to *@shown, which may be NULL.
 */
int lnetctl_import(struct lnetctl *c, const struct lnetctl_file *file, enum lnetctl_import how,
		   struct lnetctl_node **shown);
/*
 * Compare the node with @file. *@plan gets the keys "del", "set" and "add", each only if needed,
 * with sections as lnetctl_import() reads them. Values under "set" are mappings of "old" and "new".
 * "notes" is a list of sentences.
 *
 * Nets, peers, routes, policies and fault rules that @file lacks are deleted; values that it does
 * not name stay. The node checks the requests as lnetctl_apply() would, but does not change. A node
 * that is not configured counts as empty.
 * -ENODATA: @file has no section, and its flags lack LNETCTL_FILE_EMPTY.
 */
int lnetctl_plan(struct lnetctl *c, const struct lnetctl_file *file, struct lnetctl_node **plan);
/*
 * Carry out the plan of lnetctl_plan(), as a whole or not at all. A node that is not configured is
 * configured first. *@plan is the plan; @plan may be NULL.
 */
int lnetctl_apply(struct lnetctl *c, const struct lnetctl_file *file, struct lnetctl_node **plan);
/*
 * Summarize @plan in @text: "2 deleted, 0 changed, 1 added", or "no difference". Return: whether
 * there is a difference.
 */
bool lnetctl_plan_summary(const struct lnetctl_node *plan, char *text, size_t size);
#define LNETCTL_EXPORT_BACKUP	1	/* only what builds the same configuration again */
#define LNETCTL_EXPORT_NO_FAULT	2	/* without fault rules */
#define LNETCTL_EXPORT_BARE	4	/* without the first and the last comment line */
/*
 * Write the configuration to @out, as text that lnetctl_import() reads: net, route, peer, routing,
 * buffers, udsp, fault, faults, global. lnetctl_yaml_read() checks by the first and the last
 * comment line that a file is complete.
 */
int lnetctl_export(struct lnetctl *c, unsigned int flags, FILE *out);

/* "a,b[0-3,7]@tcp" -> a sequence of texts; at most 128. */
int lnetctl_nids_expand(const char *list, struct lnetctl_node **nids, char *why, size_t why_size);
/* "5", "0.3", "300ms", "5s": seconds unless said otherwise; up to 1 day, at least 1 ms. */
int lnetctl_ms_parse(const char *text, unsigned int *ms);

LNET_END_DECLS

#endif
