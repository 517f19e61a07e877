/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests from stock LNet's lst to the console of the self-test: ioctl 63 on /dev/lnet, and the
 * generic netlink family `lnet_selftest'. All structs have the layouts of 64-bit machines, in host
 * byte order.
 *
 * The ioctl uses struct lnet_ioc_data of lnet_ioctl.h. u32_[0] is the operation. pbuf1 and plen1
 * are the address and length of its arguments. pbuf2 and plen2 are those of a struct lnet_lst_stat
 * that the console fills in. Fields ending in _at are addresses in the caller's memory. The length
 * of a name does not include a final zero.
 */
#ifndef UAPI_LNET_LST_H
#define UAPI_LNET_LST_H

#include <linux/types.h>

#define LNET_LST_NAME	32	/* bytes of a name, including the final zero */

enum lnet_lst_op {
	LNET_LST_DEBUG		= 0xC00,
	LNET_LST_SESSION_NEW	= 0xC01,
	LNET_LST_SESSION_END	= 0xC02,
	LNET_LST_SESSION_INFO	= 0xC03,
	LNET_LST_GROUP_ADD	= 0xC10,
	LNET_LST_GROUP_LIST	= 0xC11,
	LNET_LST_GROUP_INFO	= 0xC12,
	LNET_LST_GROUP_DEL	= 0xC13,
	LNET_LST_NODES_ADD	= 0xC14,
	LNET_LST_GROUP_UPDATE	= 0xC15,
	LNET_LST_BATCH_ADD	= 0xC20,
	LNET_LST_BATCH_START	= 0xC21,
	LNET_LST_BATCH_STOP	= 0xC22,
	LNET_LST_BATCH_DEL	= 0xC23,
	LNET_LST_BATCH_LIST	= 0xC24,
	LNET_LST_BATCH_INFO	= 0xC25,
	LNET_LST_TEST_ADD	= 0xC26,
	LNET_LST_BATCH_QUERY	= 0xC27,
	LNET_LST_STAT_QUERY	= 0xC30,
};

/* ---- structs used by several operations ------------------------------------------------------ */

struct lnet_lst_sid {
	__u64 nid;			/* NID as a number: net << 32 | IPv4 address */
	__s64 stamp;
};

struct lnet_lst_id {
	__u64 nid;
	__u32 pid, pad;
};

struct lnet_lst_node {
	struct lnet_lst_id id;
	__s32 state;			/* state of the node: 1 active, 2 busy, 4 down, 8 unknown */
	__u32 pad;
};

struct lnet_lst_counts {
	__s32 total, active, busy, down, unknown;
};

#define LNET_LST_BATCH_IDLE	0xB0
#define LNET_LST_BATCH_RUNNING	0xB1

/* State of a test; if lnet_lst_batch_info.test is 0, of a batch. */
struct lnet_lst_side {
	struct lnet_lst_counts clients, servers;
	union {
		struct { __s32 type, loop, concurrency; } test;
		struct { __s32 state, timeout, nr_tests; } batch;
	};
};

/*
 * An element of the caller's list of results. The console reads @next and writes all fields from
 * @peer on.
 */
struct lnet_lst_result {
	__u64 next, prev;
	struct lnet_lst_id peer;
	__s64 stamp[2];
	__s32 state, rpc_errno;
	struct lnet_lst_sid sid;
	__s32 remote_errno;
	__s32 private_[4];		/* private_[0]: 1 if a test or batch is active */
	__u8 payload[4];		/* longer for some operations */
};
#define LNET_LST_RESULT_PAYLOAD	92	/* offset of @payload */

struct lnet_lst_stat {
	__s32 rpc[4];			/* numbers of RPCs: [0] all, [1] with a reply, [2] failed */
	__s32 rpc_errno;		/* errno of the first RPC that failed, positive */
	__s32 remote[8];		/* counters, whose meaning depends on the operation */
	__s32 remote_errno;		/* errno of the first node that failed, positive */
	__u64 private_;
};

/* The payload of LNET_LST_STAT_QUERY. */
struct lnet_lst_counters {
	__u32 running_ms, active_batches, zombie_sessions, brw_errors, ping_errors;
	__u32 rpc_errors, rpcs_sent, rpcs_rcvd, rpcs_dropped, rpcs_expired;
	__u64 bulk_get, bulk_put;
	__u32 msgs_alloc, msgs_max, errors, send_count, recv_count, route_count, drop_count;
	__u64 send_length, recv_length, route_length, drop_length;
} __attribute__((__packed__));

/* ---- arguments ------------------------------------------------------------------------------- */

struct lnet_lst_session_new {
	__s32 key, timeout, force;
	__u32 features;
	__u64 sid_at;
	__s32 name_len, pad;
	__u64 name_at;
};

struct lnet_lst_session_info {
	__u64 sid_at, key_at, features_at, counts_at;
	__s32 name_len, pad;
	__u64 name_at;
};

struct lnet_lst_session_end {
	__s32 key;
};

enum lnet_lst_debug_type {
	LNET_LST_OF_SESSION = 1, LNET_LST_OF_GROUP, LNET_LST_OF_NODES, LNET_LST_OF_CLIENTS,
	LNET_LST_OF_SERVERS
};
struct lnet_lst_debug {
	__s32 key, type, flags, timeout;
	__s32 name_len, pad;
	__u64 name_at;
	__s32 count, pad2;
	__u64 ids_at, results_at;
};

/* LNET_LST_GROUP_ADD, _DEL, LNET_LST_BATCH_ADD, _DEL */
struct lnet_lst_named {
	__s32 key, name_len;
	__u64 name_at;
};

enum lnet_lst_update { LNET_LST_CLEAN = 1, LNET_LST_REFRESH, LNET_LST_REMOVE };
struct lnet_lst_group_update {
	__s32 key, what;
	__s32 states;			/* LNET_LST_CLEAN: bits for the states of nodes to remove */
	__s32 name_len;
	__u64 name_at;
	__s32 count, pad;
	__u64 ids_at, results_at;
};

struct lnet_lst_nodes_add {
	__s32 key, name_len;
	__u64 name_at;
	__s32 count, pad;
	__u64 features_at, ids_at, results_at;
};

/* LNET_LST_GROUP_LIST, LNET_LST_BATCH_LIST */
struct lnet_lst_list {
	__s32 key, index;
	__s32 name_len, pad;		/* @name_len: bytes of the buffer at @name_at */
	__u64 name_at;
};

struct lnet_lst_group_info {
	__s32 key, name_len;
	__u64 name_at;
	__u64 counts_at;		/* 0: do not return counts */
	/*
	 * s32: the caller writes the index of the first node to return, the console that of the
	 * next one
	 */
	__u64 index_at;
	/* s32: the caller writes the size of the array, the console the number of nodes returned */
	__u64 room_at;
	__u64 nodes_at;			/* array of struct lnet_lst_node; 0: do not return nodes */
};

/* LNET_LST_BATCH_START, _STOP */
struct lnet_lst_batch_run {
	__s32 key;
	__s32 timeout_or_force;
	__s32 name_len, pad;
	__u64 name_at, results_at;
};

struct lnet_lst_batch_query {
	__s32 key, test, client, timeout;
	__s32 name_len, pad;
	__u64 name_at, results_at;
};

struct lnet_lst_batch_info {
	__s32 key, name_len;
	__u64 name_at;
	__s32 server, test;
	__u64 side_at, index_at, room_at, nodes_at;
};

struct lnet_lst_stat_query {
	__s32 key, timeout;
	__s32 name_len, pad;
	__u64 name_at;
	__s32 count, pad2;
	__u64 ids_at, results_at;
};

enum lnet_lst_test_type { LNET_LST_BULK = 1, LNET_LST_PING };
struct lnet_lst_test_add {
	__s32 key, batch_len;
	__u64 batch_at;
	__s32 type, one_side, loop, concurrency, distance, span;
	__s32 from_len, pad;
	__u64 from_at;
	__s32 to_len, pad2;
	__u64 to_at;
	__s32 param_len, pad3;
	__u64 param_at, returned_at, results_at;
};

struct lnet_lst_bulk_param {
	__s32 opc, size, time, check, client_offset, server_offset;
};

/* ---- the netlink family ---------------------------------------------------------------------- */

#define LNET_LST_FAMILY		"lnet_selftest"
#define LNET_LST_FAMILY_VERSION	1

enum lnet_lst_cmd {
	/*
	 * "do" request with CREATE: begins a session. If it also has REPLACE, the new session ends
	 * another session. "do" request without CREATE: ends the session. Dump request: shows the
	 * session.
	 */
	LNET_LST_CMD_SESSIONS = 1,
	LNET_LST_CMD_GROUPS,		/* dump request: list the groups and their nodes */
};

#endif
