/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages of the network self-test in host form, and their codec. messages.def has the wire form.
 */
#ifndef LNET_SELFTEST_WIRE_H
#define LNET_SELFTEST_WIRE_H

#include "plat.h"

#define LST_MSG_SIZE	160U		/* each message */
#define LST_MAGIC	0xeeb0f00dU
#define LST_VERSION	1U
#define LST_FEAT_BYTES	0x1U		/* feature: a bulk transfer may have any number of bytes */
#define LST_FEATS	LST_FEAT_BYTES
#define LST_PING_MAGIC	0xbabefaceU
#define LST_NAME	32
#define LST_NR_TYPES	112U		/* type numbers are smaller */
#define LST_CONCUR_MAX	1024U
/* maximum bytes of a record that a tree passes on inside a message; a longer record is fetched */
#define LST_TREE_INLINE	80U
/* bytes of a page: a list of destinations consists of pages, and some sizes are numbers of pages */
#define LST_PAGE	4096U

#define LST_PORTAL_TEST		50U	/* requests of tests */
#define LST_PORTAL_FRAMEWORK	51U	/* other requests */
#define LST_PORTAL_RDMA		52U	/* replies and bulk */
#define LST_PORTAL_DRILL	53U	/* requests and replies of drills */

/* minimum bytes of a request of a drill (struct lst_drill: a test that stock nodes do not have) */
#define LST_DRILL_MIN		64U
#define LST_DRILL_MAX		4096U

#define RPC(name, id, req, rpy, portal)	LST_SERVICE_##name = id,
#define FIELD(...)
enum lst_service {
#include "messages.def"
	LST_SERVICE_FRAMEWORK_LAST = 9
};
#undef RPC
#define RPC(name, id, req, rpy, portal)	LST_##name##_REQ = req, LST_##name##_RPY = rpy,
enum lst_type {
#include "messages.def"
};
#undef RPC
#undef FIELD

enum lst_batch_opc { LST_BATCH_RUN = 1, LST_BATCH_STOP, LST_BATCH_QUERY };
enum lst_brw_opc { LST_BRW_READ = 1, LST_BRW_WRITE };
enum lst_check { LST_CHECK_NONE = 1, LST_CHECK_SIMPLE, LST_CHECK_FULL, LST_CHECK_DISCARD };

/** struct lst_sid - ID of a session: the console's NID and the creation time */
struct lst_sid {
	u64 nid;			/* NID in four-byte form; all ones: no session */
	u64 stamp;
};
#define LST_NO_NID	(~0ULL)
#define LST_NO_SID	((struct lst_sid){ LST_NO_NID, ~0ULL })

static inline bool lst_sid_same(const struct lst_sid *a, const struct lst_sid *b)
{
	return a->nid == b->nid && a->stamp == b->stamp;
}

/*
 * @lease: in seconds. @epoch: the number of the session at the node; see session.c. Requests of
 * stock LNet's consoles have 0 in both fields.
 */
struct lst_make_session_req {
	u64 rpyid;
	struct lst_sid sid;
	u64 epoch;
	u32 force, lease;
	char name[LST_NAME];
};
struct lst_make_session_rpy {
	u32 status, timeout;
	struct lst_sid sid;
	u64 epoch;
	char name[LST_NAME];
};
struct lst_remove_session_req { u64 rpyid; struct lst_sid sid; };
struct lst_remove_session_rpy { u32 status; struct lst_sid sid; };
struct lst_debug_req { u64 rpyid; struct lst_sid sid; u32 flags; };
struct lst_debug_rpy {
	u32 status, timeout, nr_batches;
	struct lst_sid sid;
	u64 epoch;
	char name[LST_NAME];
};
struct lst_batch_req { u64 rpyid; struct lst_sid sid; u64 bid; u32 opc, test, arg; };
struct lst_batch_rpy { u32 status, active, time; struct lst_sid sid; };
struct lst_query_stat_req { u64 rpyid; struct lst_sid sid; u32 type; };
struct lst_query_stat_rpy {
	u32 status;
	struct lst_sid sid;
	u32 running_ms, active_batches, zombie_sessions, brw_errors, ping_errors;
	u32 rpc_errors, rpcs_sent, rpcs_rcvd, rpcs_dropped, rpcs_expired;
	u64 bulk_get, bulk_put;
	u32 msgs_alloc, msgs_max, errors, send_count, recv_count, route_count, drop_count;
	u64 send_length, recv_length, route_length, drop_length;
};
struct lst_ping_param { u32 size, flags; };
struct lst_pages_param { u32 opc, nr_pages, flags; };
struct lst_bytes_param { u16 opc, flags; u32 len, offset; };
struct lst_test_req {
	u64 rpyid, bulkid;
	struct lst_sid sid;
	u64 bid;
	u32 service, loop, concur, nr_dests;
	u8 is_client, stop_onerr;
	union {				/* by service and feature LST_FEAT_BYTES */
		struct lst_ping_param ping_param;
		struct lst_pages_param pages_param;
		struct lst_bytes_param bytes_param;
	};
};
struct lst_test_rpy { u32 status; struct lst_sid sid; };
struct lst_join_req { u64 rpyid; struct lst_sid sid; char group[LST_NAME]; };
struct lst_join_rpy { u32 status, timeout; struct lst_sid sid; char name[LST_NAME]; };
struct lst_ping_req { u64 rpyid; u32 magic, seq; u64 sec, nsec; };
struct lst_ping_rpy { u32 status, magic, seq; };
struct lst_brw_req { u64 rpyid, bulkid; u32 rw, len, flags; };
struct lst_brw_rpy { u32 status; };
struct lst_add_req { u64 rpyid, bulkid; struct lst_sid sid; u32 len; };
struct lst_add_rpy { u32 status; struct lst_sid sid; };
struct lst_tally_req { u64 rpyid, bulkid; struct lst_sid sid; u64 bid; u32 test, server, dest; };
struct lst_tally_rpy { u32 status, nr_dests; struct lst_sid sid; u64 got_ns; };
struct lst_start_req { u64 rpyid; struct lst_sid sid; u64 bid, at_ns; };
struct lst_start_rpy { u32 status; struct lst_sid sid; u64 got_ns, started_ns; };
struct lst_drill_req {
	u64 rpyid, seq, stamp, bulkid;
	u32 tag, slot, round, size, crc;
};
struct lst_drill_rpy {
	u32 status, slot, round, size, crc, bad_off, bad_len;
	u64 seq, stamp, got_ns;
};
struct lst_tree_ask_req {
	u64 rpyid, bulkid;
	struct lst_sid sid;
	u64 wave, arg, sent_ns, at_ns, bound_ns, clock_ns;
	u32 op, head, asker, budget_ms, body_len, force;
};
struct lst_tree_ask_rpy { u32 status; struct lst_sid sid; u64 came_ns, left_ns; };
struct lst_tree_tell_req {
	u64 rpyid, bulkid;
	struct lst_sid sid;
	u64 wave;
	u32 head, asker, len;
	u8 record[LST_TREE_INLINE];
};
struct lst_tree_tell_rpy { u32 status; struct lst_sid sid; };

struct lst_nettest_req {
	u64 rpyid, bulkid;
	struct lst_sid sid;
	u32 opc, run, rank, from, len;
};
struct lst_nettest_rpy {
	u32 status, run, over, result, nr_done, nr_rows;
	struct lst_sid sid;
};

/** struct lst_msg - a message; @type selects the body */
struct lst_msg {
	u32 type;			/* enum lst_type */
	u32 version, feats;
	bool swapped;			/* the byte order of its sender differs */
	union {
		u64 rpyid;		/* first field of each request */
		u32 status;		/* first field of each reply */
		struct lst_make_session_req make_session_req;
		struct lst_make_session_rpy make_session_rpy;
		struct lst_remove_session_req remove_session_req;
		struct lst_remove_session_rpy remove_session_rpy;
		struct lst_debug_req debug_req;
		struct lst_debug_rpy debug_rpy;
		struct lst_batch_req batch_req;
		struct lst_batch_rpy batch_rpy;
		struct lst_query_stat_req query_stat_req;
		struct lst_query_stat_rpy query_stat_rpy;
		struct lst_test_req test_req;
		struct lst_test_rpy test_rpy;
		struct lst_join_req join_req;
		struct lst_join_rpy join_rpy;
		struct lst_ping_req ping_req;
		struct lst_ping_rpy ping_rpy;
		struct lst_brw_req brw_req;
		struct lst_brw_rpy brw_rpy;
		struct lst_add_req add_req;
		struct lst_add_rpy add_rpy;
		struct lst_tally_req tally_req;
		struct lst_tally_rpy tally_rpy;
		struct lst_start_req start_req;
		struct lst_start_rpy start_rpy;
		struct lst_drill_req drill_req;
		struct lst_drill_rpy drill_rpy;
		struct lst_tree_ask_req tree_ask_req;
		struct lst_tree_ask_rpy tree_ask_rpy;
		struct lst_tree_tell_req tree_tell_req;
		struct lst_tree_tell_rpy tree_tell_rpy;
		struct lst_nettest_req nettest_req;
		struct lst_nettest_rpy nettest_rpy;
	};
};

/** struct lst_rpc_kind - a row of messages.def */
struct lst_rpc_kind {
	const char *name;
	u32 service, req, rpy, portal;
};
const struct lst_rpc_kind *lst_rpc_kind(u32 service);	/* NULL: there is none */
/* Returns the service whose requests have @type, or NULL. */
const struct lst_rpc_kind *lst_rpc_kind_of_req(u32 type);

/**
 * lst_msg_decode - read a message
 * @msg: the result; names end with a zero
 * @buf: the bytes
 * @len: their number
 *
 * Return: 0; -EMSGSIZE (its length is not LST_MSG_SIZE), -EBADMSG (the magic number is wrong),
 * -ENOMSG (no such type), -EPROTO (another version). After -EPROTO, only the header and the first
 * number of the body are valid in @msg.
 */
int lst_msg_decode(struct lst_msg *msg, const u8 *buf, u32 len);
/**
 * lst_msg_encode - write a message; unused parts are zero
 * @buf: LST_MSG_SIZE bytes
 * @msg: the message; if .swapped, it is written in the other byte order
 */
void lst_msg_encode(u8 *buf, const struct lst_msg *msg);

/**
 * struct lst_dest - a destination of a test; 12 bytes of a list at a console
 * @nid: four-byte form
 * @pid: its process id
 */
struct lst_dest {
	u64 nid;
	u32 pid;
};
#define LST_DEST_SIZE	12U
#define LST_DESTS_PER_PAGE	(LST_PAGE / LST_DEST_SIZE)
/* Returns the bytes of a list of @nr destinations; @nr is at least 1. */
static inline u32 lst_dests_size(u32 nr)
{
	return (nr - 1) / LST_DESTS_PER_PAGE * LST_PAGE +
	       ((nr - 1) % LST_DESTS_PER_PAGE + 1) * LST_DEST_SIZE;
}

/* Destination @ix of a list. */
void lst_dest_decode(struct lst_dest *dest, const u8 *list, u32 ix, bool swapped);
void lst_dest_encode(u8 *list, u32 ix, const struct lst_dest *dest);

#endif
