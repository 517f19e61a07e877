/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * liblnetctl: the commands of lnetctl as calls. A handle is connected to one node: the kernel's
 * LNet or a user-space node. Calls and documents are the same for both kinds of nodes.
 *
 * Every call returns 0 or -errno. After a failure, lnetctl_error() returns the message, and
 * lnetctl_error_print() prints the message as lnetctl does. Only one thread may use a handle at a
 * time. The caller frees returned documents with lnetctl_doc_free().
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
 * A YAML value: scalar, mapping or sequence. Values form a tree, the document, which owns the
 * memory. The caller may read all fields, but changes them only by the calls below.
 */
struct lnetctl_node {
	struct lnetctl_node *next, *first, *last;
	struct lnetctl_arena *arena;	/* the library's */
	char *key;		/* in a mapping, else NULL */
	char *text;		/* scalars, as written */
	unsigned char kind, quote;
	bool incomplete;	/* a child could not be allocated, so the document cannot be sent */
	/*
	 * position in the file, from 1: of the key if there is one, else of the value; 0: not from
	 * a file
	 */
	unsigned int line, column;
};

/*
 * Add a value to the end of @parent, and return the new value; NULL: out of memory. @parent NULL:
 * the new value is a root. @key is NULL if @parent is a sequence.
 */
struct lnetctl_node *lnetctl_add(struct lnetctl_node *parent, const char *key,
				 enum lnetctl_kind kind, const char *text);
struct lnetctl_node *lnetctl_add_text(struct lnetctl_node *parent, const char *key,
				      const char *text);
struct lnetctl_node *lnetctl_add_num(struct lnetctl_node *parent, const char *key, int64_t num);
struct lnetctl_node *lnetctl_add_map(struct lnetctl_node *parent, const char *key);
struct lnetctl_node *lnetctl_add_seq(struct lnetctl_node *parent, const char *key);
/* Replace the text or the key of @n by a copy of the argument. 0; -ENOMEM: @n is unchanged. */
int lnetctl_set_text(struct lnetctl_node *n, const char *text);
int lnetctl_set_key(struct lnetctl_node *n, const char *key);
/* Make the root @child the last child of @parent. */
void lnetctl_adopt(struct lnetctl_node *parent, struct lnetctl_node *child);
/* Remove @child from @parent; @child becomes a root. */
void lnetctl_take(struct lnetctl_node *parent, struct lnetctl_node *child);
void lnetctl_doc_free(struct lnetctl_node *doc);				/* NULL is fine */
/* Return the value of @key, or NULL; @map may be NULL. */
struct lnetctl_node *lnetctl_find(const struct lnetctl_node *map, const char *key);
/* Return the text of @key; NULL if it is absent or not a scalar. */
const char *lnetctl_text(const struct lnetctl_node *map, const char *key);
/*
 * Parse a decimal, octal or hexadecimal number. -EINVAL: the text is not a number; -ERANGE: it is
 * out of range.
 */
int lnetctl_num(const struct lnetctl_node *n, int64_t *num);

/* Layouts of a printed document. Stock LNet's tool uses the first three. */
enum lnetctl_style {
	LNETCTL_WIDE,	/* net, peer, route: indent 6 */
	LNETCTL_NARROW,	/* ping, discover, cpt-of-nid: indent 2 */
	LNETCTL_HAND,	/* for the documents global, stats, udsp and routing: indent by 4 */
	LNETCTL_JSON,
};
void lnetctl_print(const struct lnetctl_node *doc, enum lnetctl_style style, FILE *out);

/*
 * Parse @in as one YAML document without aliases and tags. *@doc receives the tree; an empty file
 * gives an empty mapping. If @in is an export of a node and lacks its last line, the call rejects
 * @in as truncated. Return: 0; -EINVAL with the reason, the line and the column in @why.
 */
int lnetctl_yaml_read(FILE *in, struct lnetctl_node **doc, char *why, size_t why_size);

/* ---- a node ---- */

struct lnetctl;

/*
 * Connect to a node. @node: "NAME" or "USER/NAME" of a user-space node, or "kernel". "NAME" is a
 * node of this user, else of root. @node NULL: $LNET_NODE; if that is unset, the kernel if it has
 * LNet, else the node "lnetd". Return: a handle; NULL after an error, with -errno in *err and the
 * message in @why.
 */
struct lnetctl *lnetctl_open(const char *node, int *err, char *why, size_t why_size);
/*
 * Connect to a node in this process. @serve receives a netlink message. For every datagram of the
 * reply it calls @reply(to, ...). Then it returns 0 or -errno.
 */
typedef int (*lnetctl_reply_fn)(void *to, const void *msgs, size_t len);
typedef int (*lnetctl_serve_fn)(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply,
				void *to);
struct lnetctl *lnetctl_open_local(lnetctl_serve_fn serve, void *arg);
void lnetctl_close(struct lnetctl *c);

/*
 * A function that reports an unresponsive user-space node. It is called at most once per call of
 * the library, if the node has not replied for 2 s. If a request may take longer than 2 s, the
 * function is called only if the node has not even read the request. @pid: process of the node, or
 * 0 if unknown; @ms: how long the call waits in total.
 */
typedef void (*lnetctl_unresponsive_fn)(void *arg, const char *node, int pid, unsigned int ms);
/*
 * Set how long each later call waits for a reply: @wait_ms. 0: 30 s, or longer if the command
 * itself needs more time. @unresponsive may be NULL.
 */
void lnetctl_wait_set(struct lnetctl *c, unsigned int wait_ms, lnetctl_unresponsive_fn unresponsive,
		      void *arg);
/*
 * List the nodes of this network namespace under "nodes". Each has the keys "name", "uid" and
 * "responds". "pid": only if the caller may see the process; "version" and "configured": only if
 * the node replies.
 */
int lnetctl_nodes_list(struct lnetctl_node **doc);

/* Return the error of the last call that failed. Its texts are valid until the next call. */
struct lnetctl_error {
	int err;		/* -errno of the node, unchanged */
	const char *verb;	/* "add" ... */
	const char *object;	/* "net" ... */
	const char *text;
};
const struct lnetctl_error *lnetctl_error(const struct lnetctl *c);
/*
 * True if the last call failed because the node is not configured. lnetctl_configure() configures
 * it.
 */
bool lnetctl_unconfigured(const struct lnetctl *c);
/* Print the error of the last call as a YAML document with markers, in the layout LNETCTL_WIDE. */
void lnetctl_error_print(const struct lnetctl *c, FILE *out);

/*
 * ---- commands ----
 *
 * One call per command of lnetctl. Each call may fail with:
 * -ENOMEM;
 * -ECONNREFUSED (the node has ended), -ECONNRESET (it ended during the call), -ETIMEDOUT (no
 * reply),
 * -EPROTO (its reply is malformed);
 * -EPERM (the caller may read but not change the node);
 * -ENETDOWN (the node is not configured; an addition of an interface then fails with -ESHUTDOWN).
 *
 * A node that is not configured still carries out the calls for configure, tunables, statistics and
 * node. Further errors are listed at each call. A call that fails changes nothing, unless stated.
 *
 * Calls that show something return in *@doc a mapping with the stated key, or an empty mapping if
 * there is nothing to show; NULL after an error.
 */

#define LNETCTL_CONF_ALL	1	/* also add the nets that module parameters name */
/* the node may have NIDs with IPv6 addresses; nodes of this project always may */
#define LNETCTL_CONF_LARGE	2
/* Start LNet with its loopback interface. Return 0 without effect if LNet is already started. */
int lnetctl_configure(struct lnetctl *c, unsigned int flags);
/*
 * Remove all interfaces, peers and rules. The call waits for messages in flight, at most for the
 * tunable drain_time per interface. -EBUSY: other programs or modules use LNet.
 */
int lnetctl_unconfigure(struct lnetctl *c);

#define LNETCTL_UNSET INT64_MIN		/* of a number: not given */
/*
 * Interfaces to add or delete. The caller sets exactly one of net, nids and ip2net.
 * lnetctl_net_init() initializes the struct; NULL and LNETCTL_UNSET mean: not given. The numbers
 * are only for additions; LNETCTL_UNSET and -1 select the default.
 */
struct lnetctl_net {
	const char *net;		/* "tcp", "tcp1" */
	const char *interfaces;	/* device names below 128 bytes, with CPTs: "eth0,eth1[0,1]" */
	/*
	 * A list of at most 128 NIDs. If an imported file gives the NID of an interface, @nids has
	 * this NID, and @interfaces names the device.
	 */
	const char *nids;
	/* for additions: rules such as "tcp(eth0) 10.0.*.*; tcp1 10.1.*.*" */
	const char *ip2net;
	/* CPTs for each device of @interfaces without CPTs in brackets: "[0,1]", "[0-3]", "2" */
	const char *cpts;
	int64_t peer_timeout;		/* timeout in seconds, 0 (never) to 2^31 - 1 */
	int64_t peer_credits;	/* most messages in flight to a peer interface, 1 to 65535 */
	int64_t peer_buffer_credits;	/* router buffers, 0 to 65535 */
	int64_t credits;		/* most messages in flight on the interface, 1 to 1048576 */
	/* connections of each kind, 0 (computed from the link speed) to 127 */
	int64_t conns_per_peer;
	int64_t tos;			/* IP type of service of the connections, 0 to 255 */
	int64_t drained;		/* 1: add the interface drained, see lnetctl_net_drain() */
	/* 1: add the interface with its link down, see lnetctl_net_link() */
	int64_t link_down;
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
 * Delete the interfaces that @n names, or all interfaces on the net if it names none. The call
 * waits as lnetctl_unconfigure() does. If one of the interfaces does not exist, none is deleted.
 *
 * -EINVAL: the net does not exist, or a bad list. -ENODEV: the interface does not exist, or is the
 * loopback interface. -ENOENT: no interface has the NID.
 */
int lnetctl_net_del(struct lnetctl *c, const struct lnetctl_net *n);
/*
 * Set the health of the interface with @nid, 0 (down) to 1000 (healthy), and its connections per
 * peer, 0 to 127. @nid NULL: all interfaces. LNETCTL_UNSET leaves a value unchanged. If the call
 * sets the health below 1000, the health recovers without further calls.
 * -ENOENT: no interface has @nid; -EINVAL: @nid is not a NID, or a value is out of range.
 */
int lnetctl_net_set(struct lnetctl *c, const char *nid, int64_t health, int64_t conns_per_peer);
/* Do lnetctl_net_set() for all interfaces on @net. -ENOENT: this node has no interface on @net. */
int lnetctl_net_set_on(struct lnetctl *c, const char *net, int64_t health, int64_t conns_per_peer);
/*
 * Set the time for which a connection of @net's driver may make no progress: 1 to 3600 seconds; 0:
 * the value of the tunable lnd_timeout. -EINVAL: the driver of @net has no such timeout; -ERANGE.
 */
int lnetctl_lnd_timeout(struct lnetctl *c, const char *net, int64_t seconds);
/*
 * Treat the link of @nid (NULL: all interfaces) as down, or as up again. -ENOENT: no interface has
 * @nid; -EINVAL: @nid is not a NID.
 */
int lnetctl_net_link(struct lnetctl *c, const char *nid, bool up);
/*
 * Drain the interface @nid, or end its drain. No message is lost or delayed. A drained interface
 * sends only messages that have no other path, and peers see it as down. -ENOENT: no interface has
 * @nid; -EINVAL: @nid is not a NID, or is the loopback.
 */
int lnetctl_net_drain(struct lnetctl *c, const char *nid, bool drained);
/*
 * Show interfaces under "net". @net NULL: all nets. @level is the level of detail; the protocol has
 * one byte for it, so the call sends @level modulo 256. 0 to 4: as in stock LNet; 5 adds keys that
 * stock LNet does not have. @backup: only the keys that import needs. -ENOENT: @net is not a net;
 * -ESRCH: the node has no interface on @net.
 */
int lnetctl_net_show(struct lnetctl *c, const char *net, unsigned int level, bool backup,
		     struct lnetctl_node **doc);

#define LNETCTL_PEER_NON_MR	1
#define LNETCTL_PEER_LOCK	2	/* add: keep the primary NID */
#define LNETCTL_PEER_FORCE	2	/* del: also a locked peer */
/*
 * Add a peer, or NIDs to a peer. @nids: a list of at most 128 NIDs, or NULL. It is no error if the
 * peer already has some of the NIDs.
 * -EINVAL: not a NID, or a NID of this node; -EEXIST: a NID of another peer; -E2BIG: too many NIDs;
 * -EPERM: the peer was configured with another multi-rail flag; -ENOTUNIQ: the peer is not
 * multi-rail, but two NIDs are on one net; -EBUSY: a NID belongs to a separate peer that is in use.
 * After -EBUSY, some NIDs may have been added.
 */
int lnetctl_peer_add(struct lnetctl *c, const char *primary, const char *nids, unsigned int flags);
/*
 * Delete @nids of a peer. If @nids is NULL or contains the primary NID, delete the whole peer.
 * Exception: if its primary NID is locked (LNETCTL_PEER_LOCK) and @flags lacks LNETCTL_PEER_FORCE,
 * delete only the other NIDs of the peer.
 * -ENOENT: no such peer, or the peer lacks one of the NIDs (the call deletes the others); -ENODEV:
 * @primary is not the primary NID.
 */
int lnetctl_peer_del(struct lnetctl *c, const char *primary, const char *nids, unsigned int flags);
/*
 * Set the health of the peer interface with @nid, 0 to 1000, and the state of its peer. @nid NULL:
 * all peer interfaces. LNETCTL_UNSET leaves a value unchanged. @state has the bits that `peer show
 * -v 3` prints, of which bit 0 (multi-rail) and bit 20 (locked) can be set.
 * -ENOENT: no peer has @nid; -EINVAL: @nid is not a NID, or a value is out of range.
 */
int lnetctl_peer_set(struct lnetctl *c, const char *nid, int64_t health, int64_t state);
/*
 * Show peers under "peer". @nid: only the peer with this NID; NULL: all peers. @level: as in
 * lnetctl_net_show(). -ENOENT: no peer has @nid.
 */
int lnetctl_peer_show(struct lnetctl *c, const char *nid, unsigned int level, bool backup,
		      struct lnetctl_node **doc);
/* List the primary NIDs of all peers under "peer list". */
int lnetctl_peer_list(struct lnetctl *c, struct lnetctl_node **doc);
/*
 * Write the state of the peer with @nid to the node's log. -ENOENT: no peer has @nid; -EINVAL: @nid
 * is not a NID.
 */
int lnetctl_peer_log(struct lnetctl *c, const char *nid);

/*
 * Ping all of @nids concurrently and show their interfaces under "ping". @nids: a list of at most
 * 128 NIDs. A target may also be given as PID-NID; the reply then shows its NIDs in that form.
 * @source: a NID of this node, or NULL. @timeout_ms: for each target, at most 180 s; 0: the tunable
 * transaction_timeout. Returns 0 if the node has replied. Failed targets are under "manage" in
 * *@doc, with "errno" and "descr". -EINVAL: a bad list, or @source is not a NID of this node;
 * -E2BIG.
 */
int lnetctl_ping(struct lnetctl *c, const char *nids, const char *source, unsigned int timeout_ms,
		 struct lnetctl_node **doc);
/*
 * Discover all of @nids concurrently and show the resulting peers under "discover". @force: push
 * the local interfaces to each target, even if it knows them. @nids and the failures are as in
 * lnetctl_ping(). The discovery of a target may take three times the tunable transaction_timeout,
 * at most 180 s. Return: 0, -EINVAL, -E2BIG.
 */
int lnetctl_discover(struct lnetctl *c, const char *nids, bool force, struct lnetctl_node **doc);
/*
 * Show under "explain" the path that a request to the peer with @nid would take now. The node
 * compares the candidates by a fixed sequence of ranks, such as "health" and "hops". The reply has
 * the rank that decided between candidates, and the timeouts of a request. It also has up to 256
 * candidates with their values of each rank. -ENOENT, -EINVAL.
 */
int lnetctl_explain(struct lnetctl *c, const char *nid, struct lnetctl_node **doc);
/*
 * Start the flight recorder. It records the decisions of the node in a ring buffer of @size bytes;
 * 0: 16 MiB. -EALREADY: the recorder runs; -EINVAL: @size is too small.
 */
int lnetctl_record_start(struct lnetctl *c, uint64_t size);
int lnetctl_record_stop(struct lnetctl *c);		/* the recording is kept; -EALREADY */
int lnetctl_record_show(struct lnetctl *c, struct lnetctl_node **doc);	/* "record" */
/*
 * Write the recording to a file for `lnetsim --replay`. The recorder pauses during the call. If it
 * was on, it starts a new recording afterwards. -ENODATA: nothing was recorded.
 */
int lnetctl_record_dump(struct lnetctl *c, const char *file);
/* Show the CPT of each NID in the list @nids under "cpt-of-nid". -EINVAL, -E2BIG. */
int lnetctl_cpt_of_nid(struct lnetctl *c, const char *nids, struct lnetctl_node **doc);

/*
 * Set a tunable, by its name or by its name in stock LNet. @value: a number; a time in seconds
 * ("0.3") or with a unit ("300ms"); health points, also as "10%"; or "default".
 * manual/operator/configuration.md lists names, units, defaults and ranges. -ENOENT: unknown
 * tunable; -EINVAL: @value is not of the tunable's kind; -ERANGE: out of range, which the error
 * text states.
 */
int lnetctl_set(struct lnetctl *c, const char *name, const char *value);
/* Set all tunables in @values, a mapping of names to values; after an error, none is set. */
int lnetctl_set_many(struct lnetctl *c, const struct lnetctl_node *values);
/* Show "global": stock LNet's tunables in its order, then all others. Times are in seconds. */
int lnetctl_global_show(struct lnetctl *c, struct lnetctl_node **doc);

/* Show "statistics": stock LNet's counters in its order, then all others. */
int lnetctl_stats_show(struct lnetctl *c, struct lnetctl_node **doc);
/*
 * Show "limits": the bounds on the node's resources that other nodes can use. For each bound: its
 * tunable and value, the largest use ("most") and its user, and how often the bound acted since the
 * last reset of counters. @at_bound: only bounds that are reached now or have acted.
 */
int lnetctl_limits_show(struct lnetctl *c, bool at_bound, struct lnetctl_node **doc);
/*
 * Set all counters to 0, including those of interfaces and peers. The gauge msgs_alloc keeps its
 * value.
 */
int lnetctl_stats_reset(struct lnetctl *c);
/*
 * Show "Local NI recovery" or "Peer NI recovery": NIDs in recovery, with the keys "nid-0", "nid-1"
 * and so on.
 */
int lnetctl_recovery_show(struct lnetctl *c, bool peers, struct lnetctl_node **doc);
/* Switch routing on or off. -EBUSY: the node is switching routing off. */
int lnetctl_routing_set(struct lnetctl *c, bool on);
/*
 * Set the numbers of router buffers of the whole node, by size. -1: unchanged; 0: stock LNet's
 * default.
 */
int lnetctl_buffers_set(struct lnetctl *c, int64_t tiny, int64_t small, int64_t large);
/*
 * Show "routing": the router buffers of each partition, and "enable": 0 off, 1 on, 2 stopping, 3
 * starting. "buffers" has the router buffers of all partitions. Empty if routing was never switched
 * on.
 */
int lnetctl_routing_show(struct lnetctl *c, struct lnetctl_node **doc);
/* Show "node": name, version, process and user of the node, and whether it is configured. */
int lnetctl_node_show(struct lnetctl *c, struct lnetctl_node **doc);

/*
 * A fault rule. The first five fields identify the rule, and select the messages to which it
 * applies.
 */
struct lnetctl_fault {
	bool delay;				/* else it drops */
	/* messages to which the rule applies: "*", "*@net" or a NID; NULL: any */
	const char *source, *dest, *local;
	uint64_t portals;			/* bit per portal; 0: all */
	/* bitmap of message types: bit 0 ACK, 1 PUT, 2 GET, 3 REPLY; 0: all types */
	unsigned int messages;
	/* the rule acts on 1 of @rate messages, or on 1 message per @interval seconds */
	unsigned int rate, interval;
	unsigned int latency_ms;		/* delay: 1 to 86400000 */
	/*
	 * Drop rule: the outcomes with which sending fails. Bits: 1 local_interrupt, 2
	 * local_dropped, 3 local_aborted, 4 local_no_route, 5 local_error, 6 local_timeout, 7
	 * remote_error, 8 remote_dropped, 9 remote_timeout, 10 network_timeout; 0: the message is
	 * lost without an error
	 */
	unsigned int health_errors;
	/*
	 * Time of the failure, for a drop rule with health_errors, in tests. 0: the attempt fails
	 * before the driver hands it to the fabric; 1: after the hand-over; 2: after the driver has
	 * completed it.
	 */
	unsigned int when;
	bool random;	/* drop rule with @interval: drops at a random time of each interval */
	bool drop_all;				/* drop: every message that matches */
	/* for deletion: ID of the only rule to delete; 0: all rules that match */
	unsigned int id;
};
/*
 * Add the fault rule @f. -EINVAL: not exactly one of rate and interval, or fields that exclude each
 * other; -ENOSPC: too many rules.
 */
int lnetctl_fault_add(struct lnetctl *c, const struct lnetctl_fault *f);
/*
 * Delete all rules whose source and dest equal those of @f, where NULL matches any. If @f has an
 * ID, delete only the rule with this ID. -ENOENT: no rule matches.
 */
int lnetctl_fault_del(struct lnetctl *c, const struct lnetctl_fault *f);
/* Set the counters of all drop or delay rules to 0. */
int lnetctl_fault_reset(struct lnetctl *c, bool delay);
/*
 * Show "fault": the drop rules or the delay rules, with their counters. A node of this project adds
 * their IDs.
 */
int lnetctl_fault_show(struct lnetctl *c, bool delay, struct lnetctl_node **doc);

/*
 * Add a fault rule given as a mapping: the key "kind", and the parameters as texts, for example
 * "permille": "5", "delay": "10ms". The call ignores further keys of an export ("id", "state",
 * "matched", "hit"). -EINVAL: the error text names the parameter; -EEXIST: another rule has the
 * name.
 */
int lnetctl_rule_add(struct lnetctl *c, const struct lnetctl_node *rule);
/*
 * Delete all fault rules that match the keys "id", "kind" and "name" of @which, if given. -ENOENT:
 * no rule matches.
 */
int lnetctl_rule_del(struct lnetctl *c, const struct lnetctl_node *which);
/*
 * Show fault rules under "faults", oldest first. @kind NULL: all kinds. @backup: only the keys that
 * import needs.
 */
int lnetctl_rule_show(struct lnetctl *c, const char *kind, bool backup, struct lnetctl_node **doc);

/* A selection policy. */
struct lnetctl_udsp {
	const char *src, *dst, *rte;	/* patterns: ranges of NIDs or nets; NULL: not given */
	int64_t idx;			/* from 0; LNETCTL_UNSET: the last */
	/*
	 * Priority of the paths that match @src, or that match @dst; the other pattern is NULL.
	 * LNETCTL_UNSET: no priority; the node prefers the paths that match the patterns.
	 */
	int64_t priority;
};
/*
 * Add a selection policy. If a policy with the same patterns exists, the call changes its priority.
 * -EINVAL: not a range, or patterns and priority exclude each other; -EALREADY: the policy exists;
 * -ENOSPC, -ERANGE.
 */
int lnetctl_udsp_add(struct lnetctl *c, const struct lnetctl_udsp *u);
int lnetctl_udsp_del(struct lnetctl *c, int64_t idx);	/* -1: all. -ENOENT, -ERANGE */
/* A route, or a filter that selects routes. */
struct lnetctl_route {
	const char *net, *gateway;	/* @gateway: a list of one or more NIDs; NULL: not given */
	int64_t hops, priority;		/* LNETCTL_UNSET: not given */
};
/*
 * Add a route through each gateway of @r. -EINVAL; -EEXIST: the route exists, or this node has an
 * interface on the net; -EHOSTUNREACH: this node has no interface on the gateway's net.
 */
int lnetctl_route_add(struct lnetctl *c, const struct lnetctl_route *r);
int lnetctl_route_del(struct lnetctl *c, const struct lnetctl_route *r);	/* -ENOENT */
/* Show under "route" the routes that match @r. @level 1 and above: with all keys. */
int lnetctl_route_show(struct lnetctl *c, const struct lnetctl_route *r, unsigned int level,
		       bool backup, struct lnetctl_node **doc);
/* Show selection policies under "udsp": all of them in order, or only policy @idx. */
int lnetctl_udsp_show(struct lnetctl *c, int64_t idx, struct lnetctl_node **doc);

/* ---- without a node ---- */

/*
 * Check whether @list, for example "10.0.[1-4/2].*@tcp1 192.168.0.0/16@tcp", contains @nid. Return:
 * 1 yes, 0 no, -EINVAL (@list is not a list, or @nid is not a NID), -ENOMEM. @nid NULL: check only
 * whether @list is valid; 0 or -errno.
 */
int lnetctl_nidlist_match(const char *list, const char *nid);
/*
 * Return the service ID of o2ib, for a subnet manager. It contains the parameter "service" of the
 * module ko2iblnd. If the parameter cannot be read, the ID contains its default.
 */
uint64_t lnetctl_service_id(void);
/*
 * Run ksocklnd-config, which sets routes for several interfaces on one net, or lnet-sysctl-config,
 * which sets the neighbour tables. The program is in /usr/sbin, unless $KSOCKLND_CONFIG or
 * $LNET_SYSCTL_CONFIG has another path; the file name must be the same. The call waits until the
 * program has ended. -ENOENT: the system lacks the program; -EINVAL: the program failed. @why has
 * the message.
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
/* plan and apply: accept a document without a section, which deletes everything */
#define LNETCTL_FILE_EMPTY	1
/* treat an unknown key as an error; without this flag, the call only reports a note */
#define LNETCTL_FILE_STRICT	2
/*
 * plan: also check that each added NID on tcp has an address on this machine, and that its port is
 * free. The caller must be in the network namespace of the node.
 */
#define LNETCTL_FILE_PROBE	4
/* A parsed configuration file, for lnetctl_import(), lnetctl_plan() and lnetctl_apply(). */
struct lnetctl_file {
	const struct lnetctl_node *doc;	/* as lnetctl_yaml_read() returned it */
	const char *name;		/* name of the file in errors and notes; may be NULL */
	unsigned int flags;		/* LNETCTL_FILE_* */
	/* function that receives a line of text for each unknown key; may be NULL */
	FILE *notes;
};
/*
 * Carry out the sections of @file in order, but "global" first, because nets depend on it.
 *
 * If @how is LNETCTL_IMPORT_ADD or LNETCTL_IMPORT_DEL, the call changes everything that the file
 * names, or nothing, because the node first checks all requests. Exception: stock LNet has no
 * transactions, so it keeps the changes before the first error. If an interface to be added does
 * not exist yet, the node waits for the interface.
 *
 * If @how is LNETCTL_IMPORT_SHOW or LNETCTL_IMPORT_EXEC, the call appends the replies of the node
 * to *@shown, which may be NULL.
 */
int lnetctl_import(struct lnetctl *c, const struct lnetctl_file *file, enum lnetctl_import how,
		   struct lnetctl_node **shown);
/*
 * Compare the node with @file. *@plan receives the changes under the keys "del", "set" and "add",
 * with sections as lnetctl_import() reads them. A key without changes is absent. Values under "set"
 * are mappings of "old" and "new". "notes" is a list of sentences. The plan deletes nets, peers,
 * routes, policies and fault rules that @file lacks. It keeps values that @file does not name. The
 * node checks the requests as for lnetctl_apply(), but changes nothing. A node that is not
 * configured counts as empty. -ENODATA: @file has no section and not the flag LNETCTL_FILE_EMPTY.
 */
int lnetctl_plan(struct lnetctl *c, const struct lnetctl_file *file, struct lnetctl_node **plan);
/*
 * Carry out the plan of lnetctl_plan(), as a whole or not at all. If the node is not configured,
 * the call first configures it. *@plan receives the plan; @plan may be NULL.
 */
int lnetctl_apply(struct lnetctl *c, const struct lnetctl_file *file, struct lnetctl_node **plan);
/*
 * Summarize @plan in @text: "2 deleted, 0 changed, 1 added", or "no difference". Return: true if
 * there is a difference.
 */
bool lnetctl_plan_summary(const struct lnetctl_node *plan, char *text, size_t size);
#define LNETCTL_EXPORT_BACKUP	1	/* write only the keys that import needs */
#define LNETCTL_EXPORT_NO_FAULT	2	/* without fault rules */
#define LNETCTL_EXPORT_BARE	4	/* omit the first and the last comment line */
/*
 * Write the configuration to @out, as text that lnetctl_import() reads: net, route, peer, routing,
 * buffers, udsp, fault, faults, global. lnetctl_yaml_read() uses the first and the last comment
 * line to check that a file is complete.
 */
int lnetctl_export(struct lnetctl *c, unsigned int flags, FILE *out);

/* Expand a list such as "a,b[0-3,7]@tcp" to a sequence of at most 128 texts. */
int lnetctl_nids_expand(const char *list, struct lnetctl_node **nids, char *why, size_t why_size);
/*
 * Parse a time of 1 ms to 1 day: "5", "0.3", "300ms", "5s". A number without a unit is in seconds.
 */
int lnetctl_ms_parse(const char *text, unsigned int *ms);

LNET_END_DECLS

#endif
