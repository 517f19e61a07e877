/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Management of a node: reads requests, and replies with key tables and values. Uses neither
 * sockets nor YAML. The netlink file of the platform passes attributes to this code, and receives
 * messages through a sink.
 */
#ifndef LNET_CONTROL_H
#define LNET_CONTROL_H

#include "plat.h"
#include <lnet/lnd.h>
#include <lnet/nid.h>
#include "control/nl_buf.h"
#include "model/ni.h"

struct lnet;
struct lnet_peer;

/* ---- requests: request.c --------------------------------------------------------------------- */

/*
 * A list of attributes, which is read from its front. A copy is cheap, because the bytes belong to
 * the receiver of the request.
 */
struct lnet_req {
	const u8 *at, *end;
};

enum lnet_val_kind { LNET_VAL_TEXT, LNET_VAL_INT, LNET_VAL_LIST };

struct lnet_val {
	u8 kind;
	const char *text;	/* NUL-terminated */
	s64 num;
	struct lnet_req list;
};

/*
 * Checks @len bytes of attributes: they are complete, texts are terminated, and lists are nested at
 * most LNET_NL_DEPTH_MAX deep. The functions below accept only checked attributes. 0 or -EINVAL
 */
int lnet_req_check(const void *attrs, size_t len);
void lnet_req_init(struct lnet_req *r, const void *attrs, size_t len);
bool lnet_req_next(struct lnet_req *r, struct lnet_val *v);	/* false at the end */
/*
 * Finds the value of @key in the mapping @r, and does not advance @r. If @key occurs several times,
 * the last one counts. Skips unknown keys and stray scalars, because old tools send some.
 */
bool lnet_req_find(struct lnet_req r, const char *key, struct lnet_val *v);
/*
 * Reads the next item of a sequence: skips scalars until the next list. False: there is no further
 * item
 */
bool lnet_req_item(struct lnet_req *r, struct lnet_req *item);
/* Copies a value without spaces at its ends. 0, -EINVAL (a list or an empty text), -ENAMETOOLONG */
int lnet_val_text(const struct lnet_val *v, char *buf, size_t size);
/*
 * Reads a number: an INT, or a text that is one decimal, octal (0) or hexadecimal (0x) number. 0,
 * -EINVAL, or -ERANGE if the number is not in @min..@max
 */
int lnet_val_int(const struct lnet_val *v, s64 min, s64 max, s64 *num);

/* ---- tables: control.def, reply.c ------------------------------------------------------------ */

/* the value of @off for keys that the caller of lnet_table_emit() writes */
#define LNET_KEY_BY_HAND 0xffff

struct lnet_table;

struct lnet_key {
	const char *name;
	/*
	 * Table of a nested key. NULL: the tunables of the driver; &lnet_table_lnd_counters: the
	 * counters of the driver.
	 */
	const struct lnet_table *child;
	u16 off;			/* offset of the value in the view */
	u8 type;			/* enum lnet_nl_type */
	u8 format;			/* LNET_NL_MAPPING ... */
	u8 level;			/* lowest verbosity that shows the key */
	/* the key is in a backup, which can restore the configuration */
	u8 backup;
};

struct lnet_table {
	const struct lnet_key *keys;	/* the key with index i has attribute number i + 1 */
	u16 nr;
};

/* The tables of one driver. Each of them may be NULL. */
struct lnet_lnd_tables {
	const struct lnet_table *tunables, *counters;
};

/* lowest verbosity that shows keys which stock LNet does not have */
#define LNET_LEVEL_MORE 5
#define LNET_TEXT_MAX 64	/* size of texts: NIDs, states, net names, with the final 0 */

/* Views: the values of one item. Code fills a view under locks, and emits it without locks. */
struct lnet_view_latency {
	u32 samples;
	u64 min_ns, max_ns, avg_ns;
};

struct lnet_view_stat {
	u32 send_count, recv_count, drop_count;
	struct lnet_view_latency put_egress, get_rtt, put_ack;
};

struct lnet_view_msgs {
	u32 put, get, reply, ack, hello;
};

#define LNET_PREF_MAX 8		/* number of preferred NIDs that are shown: only the first ones */
struct lnet_view_pref {
	char nid[LNET_PREF_MAX][LNET_TEXT_MAX];
};

struct lnet_view_udsp {
	s32 net_priority, nid_priority;
	struct lnet_view_pref gateways, sources;
};

struct lnet_view_intf {
	char name[LNET_TEXT_MAX];
};

struct lnet_view_ni_health {
	s32 fatal, value;
	u32 interrupts, dropped, aborted, no_route, timeouts, error, ping_count;
	u64 next_ping;
};

struct lnet_view_tunables {
	s32 peer_timeout, peer_credits, peer_buffer_credits, credits;
};

struct lnet_view_sock {
	u16 conns_per_peer;
	u32 timeout;
	s16 tos;
};

struct lnet_view_ni_more {
	u64 network_timeouts, resends_local_timeout, resends_network_timeout;
	u64 sent_bytes, received_bytes;
	u32 down_events, up_events, link_mbit;
	struct lnet_weight_view quality;
};

struct lnet_view_ni {
	char nid[LNET_TEXT_MAX], status[16];
	/* @service: "drained"; @link: "down" if an operator set it; else "" */
	char service[8], link[8];
	char reason[LNET_TEXT_MAX];	/* of status "down"; else "" */
	struct lnet_view_intf intf;
	struct lnet_view_stat stat;
	struct lnet_view_udsp udsp;
	struct lnet_view_msgs sent, received, dropped;
	struct lnet_view_ni_health health;
	struct lnet_view_tunables tunables;
	struct lnet_view_sock lnd;	/* valid if the driver of the net has a table */
	s32 dev_cpt;
	char cpts[128];
	struct lnet_view_ni_more more;
	u64 lnd_counters[LNET_LND_COUNTERS_MAX];
};

struct lnet_view_net {
	char type[LNET_TEXT_MAX];
};

struct lnet_view_pni_health {
	s32 value;
	u32 dropped, timeout, error, network_timeout, ping_count;
	s64 next_ping;
};

struct lnet_view_times {
	u64 samples, min_ns, avg_ns, median_ns, p99_ns, p999_ns, max_ns;
};

struct lnet_view_path {
	char nid[LNET_TEXT_MAX], state[16];
	u64 rtt_ns, rtt_var_ns;
	u32 in_flight;
	/* health of the path alone, without that of its NI and peer NI */
	s32 health;
	struct lnet_view_times send, trans;
};

struct lnet_view_pni_more {
	u64 resends_remote_timeout, resends_network_timeout, send_avg_ns, trans_avg_ns;
};

struct lnet_view_pni {
	char nid[LNET_TEXT_MAX];
	struct lnet_view_udsp udsp;
	char state[8];
	u32 max_tx_credits, tx_credits, min_tx_credits, tx_queue_bytes, rtr_credits,
		min_rtr_credits, refcount;
	struct lnet_view_stat stat;
	struct lnet_view_msgs sent, received, dropped;
	struct lnet_view_pni_health health;
	struct lnet_view_pni_more more;
};

struct lnet_view_peer {
	char primary[LNET_TEXT_MAX];
	bool multi_rail;
	u32 state;
};

struct lnet_view_route {
	char net[LNET_TEXT_MAX], gateway[LNET_TEXT_MAX], state[8], type[16];
	s32 hop;
	u32 priority;
};

struct lnet_view_nid {
	char nid[LNET_TEXT_MAX];
};

struct lnet_view_ping {
	char primary[LNET_TEXT_MAX];
	bool multi_rail;
};

struct lnet_view_failure {
	char what[4];
	s16 err;
	char descr[2 * LNET_TEXT_MAX + 64];
};

struct lnet_view_dist {
	char nid[LNET_TEXT_MAX];
	u32 distance, order;
};

struct lnet_view_cpt {
	char nid[LNET_TEXT_MAX];
	u32 cpt;
};

struct lnet_view_fault {
	char rule_type[8], src[LNET_TEXT_MAX], dst[LNET_TEXT_MAX], local[LNET_TEXT_MAX];
	u64 portal_mask;
	u32 msg_mask, rate, interval, latency;	/* latency: delay rules */
	u64 hits, count, put, ack, get, reply;	/* hits: dropped or delayed */
	bool is_delay;
};

struct lnet_view_rtr_pool {
	u32 pages, nr;
	s32 credits, min_credits;
};

struct lnet_view_routing {
	u32 cpt, enable;
	struct lnet_view_rtr_pool tiny, small, large;
};

struct lnet_view_node {
	char name[LNET_TEXT_MAX], version[LNET_TEXT_MAX];
	u32 pid, uid;
	bool configured;
};

/* Placeholder for the counters of the driver. */
extern const struct lnet_table lnet_table_lnd_counters;
/* Returns the table inside the nested key @k; NULL if there is none. @lnd may be NULL. */
const struct lnet_table *lnet_key_child(const struct lnet_key *k,
					const struct lnet_lnd_tables *lnd);

#define TABLE(t) extern const struct lnet_table lnet_table_##t;
#define KEY(t, name, type, member, level, backup)
#define NEST(t, name, format, child, member, level, backup)
#define HAND(t, name, type, format)
#define LIST(t, name, format, child)
#define MORE(t, name, format, child)
#define END(t)
#include "control/control.def"
#undef TABLE
#undef KEY
#undef NEST
#undef HAND
#undef LIST
#undef MORE
#undef END

/* ---- sinks: reply.c, tests ------------------------------------------------------------------- */

struct lnet_sink;

enum lnet_turn { LNET_TABLE_FIRST, LNET_TABLE_AGAIN, LNET_TABLE_OTHER };
enum lnet_open { LNET_OPEN_ITEM, LNET_OPEN_MORE, LNET_OPEN_NEST, LNET_OPEN_ELEM };

/*
 * Receives the output of commands. An item contains nests, and a nest contains elements. If a value
 * does not fit, the sink ignores all further values. Then close() of a nest or element removes it
 * and returns false. The close() of the item restores the state before the item. If a caller can
 * continue a list later, it calls resume() after the element that did not fit. The item then keeps
 * the elements before this element.
 */
struct lnet_sink_ops {
	/*
	 * Writes the key table @t. FIRST: no item was written yet. AGAIN: the keys have changed
	 * with the driver @lnd (may be NULL); repeats the table without the text of its first key.
	 * OTHER: @t replaces a different table. False: the message has no space
	 */
	bool (*table)(struct lnet_sink *s, const struct lnet_table *t,
		      const struct lnet_lnd_tables *lnd, enum lnet_turn turn);
	/*
	 * Opens an ITEM, continues the last item (MORE), or opens a NEST (key @idx, from 1) or an
	 * ELEM of a nest.
	 */
	void (*open)(struct lnet_sink *s, enum lnet_open what, unsigned int idx);
	bool (*close)(struct lnet_sink *s);
	void (*resume)(struct lnet_sink *s);
	/* FLAG: @val is ignored */
	void (*num)(struct lnet_sink *s, unsigned int idx, enum lnet_nl_type type, u64 val);
	void (*str)(struct lnet_sink *s, unsigned int idx, const char *text);
};

struct lnet_sink {
	const struct lnet_sink_ops *ops;
	/*
	 * True if tables also list the keys of level 5 and above. These keys are the last ones, so
	 * a table without them equals the table of stock LNet.
	 */
	bool more;
};

/*
 * Emits the keys of @t that @level shows, with their values in @view. With @backup, emits only the
 * keys of a backup. Omits empty strings. @lnd: tables of the driver for nested keys without a
 * table; if NULL, omits these keys.
 */
void lnet_table_emit(struct lnet_sink *s, const struct lnet_table *t, const void *view,
		     unsigned int level, bool backup, const struct lnet_lnd_tables *lnd);

/* A sink that writes netlink messages to a flat buffer. */
struct lnet_nlw {
	struct lnet_sink sink;
	struct lnet_nlbuf b;
	/* offsets of the open levels; the first is that of the message */
	u32 open[2 * LNET_NL_DEPTH_MAX];
	/* offset of key tables that no value follows yet; @len: there are none */
	u32 tables_at;
	u8 depth;
	bool replaces;		/* the first key table replaces that of lnet_nlw_comment() */
};

/* The caller owns @buf, which is aligned to 4 bytes. Each nlmsghdr has @type, @portid and @seq. */
void lnet_nlw_init(struct lnet_nlw *w, void *buf, u32 size, u16 type, u8 cmd, u32 portid, u32 seq);
/*
 * Appends a line that tools print as a YAML comment: a key table with the key "#", and an empty
 * value for the key. @w must have 100 free bytes.
 */
void lnet_nlw_comment(struct lnet_nlw *w);
/*
 * Appends complete messages, all of which are key tables. False: there is no space, and @w is
 * unchanged
 */
bool lnet_nlw_put(struct lnet_nlw *w, const void *msgs, u32 len);

/* ---- commands: dispatch.c, cmd_*.c and transaction.c ----------------------------------------- */

struct lnet_ctl_err {
	char text[224];		/* text that explains the error; "" if the errno is sufficient */
};

/*
 * The accepted values, in the words of error messages. The tables of lnetctl have the same words.
 */
#define LNET_CTL_A_NID "NID such as 10.0.0.1@tcp"
#define LNET_CTL_A_NET "net such as tcp or o2ib1"

/* Sets the text of @e. Returns the errno @rc. */
#define lnet_ctl_fail(e, rc, ...) (scnprintf((e)->text, sizeof((e)->text), __VA_ARGS__), (rc))

/* Services of the platform. */
struct lnet_control_ops {
	/*
	 * Returns the NID that interface @ifname would have on @net. 0, -ENODEV (no such
	 * interface), -EADDRNOTAVAIL (no address)
	 */
	int (*interface_nid)(void *arg, const char *ifname, u32 net, struct lnet_nid *nid);
	/*
	 * Finds the first interface that is up and has an address, except loopback. Copies its name
	 * to @ifname. 0, -ENODEV
	 */
	int (*first_nid)(void *arg, u32 net, struct lnet_nid *nid, char ifname[16]);
	/* True if an interface that is up has an IPv4 address in @list, which has NIDs on tcp. */
	bool (*address_in)(void *arg, const struct lnet_nidlist *list);
	/*
	 * Notifies the platform that a dump which returned -EINPROGRESS may be retried. Any thread;
	 * holds no locks except those under which the core calls handlers.
	 */
	void (*wake)(void *arg);
};

struct lnet_ctl_trans;
struct lnet_ctl_waiting;

struct lnet_control {
	struct lnet *ln;
	const struct lnet_control_ops *ops;
	void *arg;
	const char *name, *version;
	u32 pid, uid;
	bool configured;	/* `lnet configure` was called; WRITE_ONCE: dumps take no lock */
	/* the transaction that has begun and is not committed, or NULL */
	struct lnet_ctl_trans *trans;
	u32 changes;				/* number of changes of the configuration */
	struct lnet_ctl_waiting *waiting;	/* [cfg_mutex] awaited interfaces, oldest first */
};

struct lnet_ctl_req {
	/* From the generic netlink header. For a dump, @version is the verbosity. */
	u8 cmd, version;
	u16 flags;		/* of nlmsghdr */
	u32 from;		/* port ID of the sender; 0: this process */
	/* user and process of the sender, for the log; pid 0: the node itself */
	u32 uid, pid;
	const void *attrs;
	size_t len;
	/* the request is part of a transaction, and may restore any former state */
	bool restores;
};

/*
 * True if @cmd with these flags may change the node. Then the platform checks the rights of the
 * client.
 */
bool lnet_control_changes(u8 cmd, u16 flags);
/*
 * True if @cmd needs the right to change the node. This applies to all changes. It also applies to
 * commands that send messages to other nodes or compute a result for each request (ping, discover,
 * explain).
 */
bool lnet_control_is_for_owner(u8 cmd, u16 flags);
/*
 * The dumps and pings that are in progress when a client requests another one, and the rights of
 * the client.
 */
struct lnet_ctl_questions {
	/*
	 * dumps and pings in progress: @nr of all clients, @nr_client of this client, @nr_user of
	 * the user of this client
	 */
	unsigned int nr, nr_client, nr_user;
	/* dumps and pings in progress of all users except root and the owner of the node */
	unsigned int nr_others;
	/* @root: the client is root. @owner: the client is the owner of the node, or root. */
	bool root, owner;
};

/*
 * 0; -EBUSY with @e: questions_max or the client's share of it is used up. Takes the lock of shard
 * 0 to count a denial.
 */
int lnet_control_may_ask(struct lnet_control *ctl, const struct lnet_ctl_questions *q,
			 struct lnet_ctl_err *e);
/*
 * True if the request is a change whose reply is a dump. The platform calls
 * lnet_control_dump_start() for such a request; the end of the dump contains the result of the
 * change.
 */
bool lnet_control_tells(u8 cmd, u16 flags);
/* True if @req changes a part of the configuration that an export contains, except fault rules. */
bool lnet_control_configures(const struct lnet_ctl_req *req);
/*
 * If @req is a commit, returns the bytes of all requests that it executes; else the bytes of @req.
 */
size_t lnet_control_size(const struct lnet_control *ctl, const struct lnet_ctl_req *req);
/*
 * Executes a change. Task context, one call at a time. May sleep, for example while an interface
 * drains. If an item of the request fails, the changes of its earlier items stay. Only two requests
 * undo the changes of earlier items: `net add` and a commit. 0, or -errno with @e
 */
int lnet_control_do(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		    struct lnet_ctl_err *e);
/*
 * Adds the awaited interfaces that exist now, and returns their number. Called periodically while
 * @ctl->waiting, in the context of lnet_control_do().
 */
unsigned int lnet_control_join(struct lnet_control *ctl);
/*
 * Discards a transaction to which its sender has added nothing for a minute. Called periodically
 * while @ctl->trans, in the context of lnet_control_do().
 */
void lnet_control_expire(struct lnet_control *ctl);
/* Discards the transaction and all awaited interfaces. It is the last call for @ctl. */
void lnet_control_fini(struct lnet_control *ctl);

/* A dump in progress. No lock is held between calls, so @pos and @sub count items and elements. */
struct lnet_ctl_dump {
	struct lnet_control *ctl;
	const struct lnet_ctl_cmd *ops;
	const struct lnet_table *last;	/* the table that was sent last, if the dump has several */
	bool reasons;		/* net show: an interface is down, so the dump shows reasons */
	/* net show: the table that was sent last has keys of this driver */
	const struct lnet_lnd_ops *lnd_ops;
	struct lnet_lnd_tables lnd;
	struct lnet_table counters;
	struct lnet_key counter_keys[LNET_LND_COUNTERS_MAX];
	struct lnet_peer *peer;		/* referenced */
	void *priv;			/* of the command */
	struct lnet_nid nid;		/* filter */
	/*
	 * @net: filter; @kind: for the command, for example a kind of rules; @pos: next item; @sub:
	 * next element of this item
	 */
	u32 net, kind, pos, sub;
	u8 level;
	bool filtered, backup, table, head;	/* @head: the top key of the document was sent */
	bool commented;			/* lnet_control_dump_comment() was called */
	/* key tables that begin the next piece */
	void *held;
	u32 held_len;
};

/*
 * Checks the request, and starts a dump in @d, which the caller owns. 0: the caller must call
 * lnet_control_dump_end() later. Otherwise -errno with @e
 */
int lnet_control_dump_start(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			    struct lnet_ctl_dump *d, struct lnet_ctl_err *e);
/*
 * Writes the next part of a dump. 0: the dump is complete. 1: call again with an empty sink.
 * -EINPROGRESS: retry after ops->wake(). Otherwise -errno with @e. Task context, takes the
 * configuration mutex and one shard at a time.
 */
int lnet_control_dump_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e);
/*
 * Like lnet_control_dump_next(), but writes to an empty @w. Stock LNet's tool treats a datagram
 * without a value as the end of the reply. So a piece of at least 8 KiB does not end with key
 * tables: the next piece begins with them. -EMSGSIZE: an item does not fit in a piece
 */
int lnet_control_dump_piece(struct lnet_ctl_dump *d, struct lnet_nlw *w, struct lnet_ctl_err *e);
/*
 * Writes a comment as the first piece of a dump. A platform calls this if the first call of a
 * reader must not wait for the dump.
 */
void lnet_control_dump_comment(struct lnet_ctl_dump *d, struct lnet_nlw *w);
void lnet_control_dump_end(struct lnet_ctl_dump *d);

#endif
