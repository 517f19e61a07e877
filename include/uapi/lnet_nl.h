/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers of the management protocol. Programs use generic netlink to the kernel, and
 * NETLINK_USERSOCK to a user-space node. The body of a message is the same in both cases: a generic
 * netlink header (command, version) and attributes, in the machine's byte order.
 *
 * The differences are:
 *		kernel				user-space node
 *   nlmsg_type	id of the family "lnet"		LNET_NL_USER_TYPE
 *   port id	0				lnet_nl_user_port(name, uid)
 * rights	CAP_NET_ADMIN			root or the node's own uid may change, all may read
 *
 * A request has the flags REQUEST | ACK and those of its operation. If the request is for a dump,
 * its version byte is the level of detail. The attributes of a request contain a YAML document. A
 * key and its scalar are two successive attributes, each VALUE or INT_VALUE. An attribute LIST
 * contains a YAML collection: a mapping or a sequence.
 *
 * The reply to a dump has three parts:
 * 1. A key table, with the flags CREATE | MULTI. It assigns numbers to the attributes of the value
 *    messages. If a key table supersedes an earlier one, it also has the flag REPLACE.
 * 2. A value message per item, with the flag MULTI.
 * 3. NLMSG_DONE.
 */
#ifndef UAPI_LNET_NL_H
#define UAPI_LNET_NL_H

#define LNET_NL_FAMILY		"lnet"
#define LNET_NL_VERSION		5

/* nlmsg_type of every message to or from a user-space node */
#define LNET_NL_USER_TYPE	0x20
#define LNET_NL_USER_NODE	"lnetd"	/* name of the node if the user names none */

enum lnet_nl_cmd {
	LNET_NL_CONFIGURE	= 1,	/* do */
	LNET_NL_NETS		= 2,	/* do, dump */
	LNET_NL_PEERS		= 3,	/* do, dump */
	LNET_NL_ROUTES		= 4,	/* do, dump */
	LNET_NL_CONNS		= 5,	/* reserved */
	LNET_NL_PING		= 6,	/* dump: ping; do: discover */
	LNET_NL_CPT_OF_NID	= 7,	/* dump */
	LNET_NL_PEER_DIST	= 8,	/* dump */
	/*
	 * do, dump; stock LNet reserves the number and uses ioctl. A "do" request is a list of one
	 * policy with the keys "idx", "src", "dst", "rte" and "priority". "idx" and "priority" are
	 * numbers, the others texts. The policy may also have the keys that a dump shows.
	 */
	LNET_NL_UDSP		= 9,
	LNET_NL_PEER_FAIL	= 10,	/* do */
	LNET_NL_DBG_RECOV	= 11,	/* dump */
	LNET_NL_FAULT		= 12,	/* do, dump */
	/* do; dump: only this project has it, stock LNet uses ioctl */
	LNET_NL_ROUTING		= 13,
	LNET_NL_BUFFERS		= 14,	/* do */
	LNET_NL_NUMA		= 15,	/* do */
	LNET_NL_STATS		= 16,	/* dump */

	/*
	 * Commands of this project only; stock LNet uses sysfs and ioctl for these purposes. Below,
	 * T is a text, #n a number. "do" and "dump" are the two kinds of requests; "do" requests
	 * differ by the flags CREATE and REPLACE. A header is the top key of the reply to a dump.
	 *
	 * TUNABLES: A "do" request has a list of "name" value. The node sets all of these tunables
	 * or none. The value may be "default". Dump: header "global", a mapping with one key per
	 * tunable, s64 or string. Times are in seconds.
	 *
	 * STATS_RESET: A "do" request without attributes sets counters and latency statistics to 0.
	 *
	 * NODE: Dump: header "node", a mapping of "name" str, "version" str, "pid" u32, "uid" u32,
	 * "configured" flag.
	 *
	 * EXPLAIN: The request for a dump has "nid" T. Dump: header "explain", one item. The item
	 * has the path that a request to T would take now, and the rank that decided between the
	 * candidates. It also has all candidates with their ranks, and the timeouts.
	 *
	 * RULES: A "do" request has a list of fault rules. With CREATE, the node adds these rules:
	 * "kind" T and the parameters of faults.def, as text or number. Without a flag, the node
	 * deletes the rules that have the given values of "id" #n, "kind" T and "name" T. The
	 * request for a dump has "kind" T. Dump: header "faults", "id" u32, "kind" str, "state"
	 * str, "matched" u64, "hit" u64 and the parameters.
	 *
	 * RECORD: A "do" request with CREATE starts the flight recorder, with at most "size"
	 * #bytes. A "do" request without a flag stops the recorder. Dump: header "record", a
	 * mapping of state and size. If the request for the dump has "head" #1, the mapping also
	 * has the head of a file, in hexadecimal. If the request has "from" #n, the reply has the
	 * header "records", and items with "data": trace records from number n on, in hexadecimal.
	 * The recorder must be stopped for this request. One such dump may end before the last
	 * record.
	 *
	 * LIMITS: If the request for a dump has "at bound" #1, the reply has only bounds that are
	 * reached now or have acted. Dump: header "limits", a sequence of "limit" str (tunable of
	 * the bound), "per" str, "bound" u64, "most" u64, "by" str, "at bound" flag, "counter" str,
	 * "hits" u64.
	 *
	 * TRANSACTION: "do" requests without attributes.
	 * CREATE begins a transaction. If another transaction is open, on this or any other socket,
	 * the node discards it. After CREATE, the node checks and stores the requests with
	 * LNET_NL_F_STAGED. These are NETS, PEERS, UDSP and FAULT with CREATE or to delete, RULES
	 * with CREATE, and TUNABLES with REPLACE.
	 * REPLACE ends the transaction. The node carries out all stored requests in their order, or
	 * none. If CREATE had the flag EXCL, and others have changed the configuration since then,
	 * REPLACE fails with ESTALE. If a stored request fails, the error text begins with
	 * "request N: "; N is the number of the request, from 0.
	 * No flag: discards the transaction.
	 */
	LNET_NL_TUNABLES	= 64,
	LNET_NL_STATS_RESET	= 65,
	LNET_NL_NODE		= 66,
	LNET_NL_TRANSACTION	= 67,
	LNET_NL_EXPLAIN		= 68,
	LNET_NL_RULES		= 69,
	LNET_NL_RECORD		= 70,
	LNET_NL_LIMITS		= 71,
};

/* Attributes of requests and of key tables. */
enum lnet_nl_attr {
	LNET_NLA_PAD		= 0,
	LNET_NLA_LIST		= 1,	/* nested */
	/* u16: number of keys in the key table; only in the first key */
	LNET_NLA_LIST_SIZE	= 2,
	/* u16: attribute number of the key in value messages, from 1 */
	LNET_NLA_INDEX		= 3,
	LNET_NLA_TYPE		= 4,	/* u16: enum lnet_nl_type */
	LNET_NLA_VALUE		= 5,	/* text with its NUL */
	LNET_NLA_INT_VALUE	= 6,	/* s64, requests only */
	LNET_NLA_KEY_FORMAT	= 7,	/* u16: LNET_NL_FLOW ... */
};

#define LNET_NL_FLOW		1
#define LNET_NL_MAPPING		2
#define LNET_NL_SEQUENCE	4

/*
 * Types of values. A nested value has two levels: attribute(index){ element{ attributes } element{
 * ... } }.
 */
enum lnet_nl_type {
	LNET_NLT_U16		= 2,
	LNET_NLT_U32		= 3,
	LNET_NLT_U64		= 4,
	LNET_NLT_STRING		= 5,
	LNET_NLT_FLAG		= 6,	/* present: true, absent: false */
	LNET_NLT_NESTED		= 8,
	LNET_NLT_NUL_STRING	= 10,	/* the header, whose key is the top key of the document */
	LNET_NLT_S16		= 13,
	LNET_NLT_S32		= 14,
	LNET_NLT_S64		= 15,
};

/* bytes of the header of an attribute: u16 length of header and value, u16 type */
#define LNET_NL_ATTR_HDR	4
/* flag in the type of an attribute that contains attributes */
#define LNET_NL_NESTED		0x8000
#define LNET_NL_TYPE_MASK	0x3fff
/* most levels of nested lists in a request; the node rejects more */
#define LNET_NL_DEPTH_MAX	8

/* Meanings that this protocol gives to the flags of nlmsghdr. */
#define LNET_NL_F_MULTI		0x002
/* dump: the node returns only the keys that are needed to build the same configuration again */
#define LNET_NL_F_FILTERED	0x020
#define LNET_NL_F_REPLACE	0x100	/* set */
#define LNET_NL_F_EXCL		0x200
#define LNET_NL_F_DUMP		0x300	/* show */
#define LNET_NL_F_CREATE	0x400	/* add */
/*
 * The meaning depends on the command. CONFIGURE: the node may have NIDs with IPv6 addresses. NETS,
 * in this project only: the node adds an interface even if its device or address does not exist
 * yet.
 */
#define LNET_NL_F_APPEND	0x800
/* the request is part of the transaction that its sender has begun */
#define LNET_NL_F_STAGED	0x4000
/*
 * The value message has more elements of the previous item, whose list did not fit into one
 * message. Old clients print it as a separate item. So it repeats the scalars of the previous item.
 */
#define LNET_NL_F_CONT		0x8000

/* "rule_type" of FAULT. */
enum lnet_nl_rule {
	LNET_NL_DROP_ADD	= 0,
	LNET_NL_DROP_DEL	= 1,
	LNET_NL_DROP_RESET	= 2,
	LNET_NL_DROP_LIST	= 3,
	LNET_NL_DELAY_ADD	= 4,
	LNET_NL_DELAY_DEL	= 5,
	LNET_NL_DELAY_RESET	= 6,
	LNET_NL_DELAY_LIST	= 7,
};

/*
 * Port ID of the node @name of user @uid: a hash (FNV-1a) with the top bit clear and the next bit
 * set. The kernel itself assigns no such IDs: it uses process IDs and negative numbers. Each
 * network namespace has separate port IDs, so the names are also separate.
 */
static inline unsigned int lnet_nl_user_port(const char *name, unsigned int uid)
{
	unsigned int h = 2166136261u;
	int i;

	for (i = 0; i < 4; i++)
		h = (h ^ ((uid >> (8 * i)) & 0xff)) * 16777619u;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return (h & 0x3fffffff) | 0x40000000;
}

#endif
