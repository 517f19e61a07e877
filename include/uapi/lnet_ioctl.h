/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests by ioctl on /dev/lnet: their numbers, versions and layouts, in the machine's byte order.
 * Stock LNet's tools use these requests in addition to netlink.
 *
 * The code of a request is LNET_IOC(number). The size field of the code is not the size of the
 * buffer; the header of the buffer has its length. The kernel copies in the whole buffer, and after
 * a success copies it back. The caller needs CAP_SYS_ADMIN in the user namespace that owns its
 * network namespace.
 */
#ifndef UAPI_LNET_IOCTL_H
#define UAPI_LNET_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define LNET_IOC_DEVICE		"lnet"
#define LNET_IOC_TYPE		'e'
#define LNET_IOC_MIN		30
#define LNET_IOC_MAX		112
#define LNET_IOC_LEN_MAX	131072
#define LNET_IOC(nr) \
	_IOC(_IOC_READ | _IOC_WRITE, LNET_IOC_TYPE, (nr), (nr) < 81 ? sizeof(__u64) : 184)

/*
 * Numbers of the requests. The first word of each comment names the struct of the request: `data'
 * is struct lnet_ioc_data.
 */
enum lnet_ioc_nr {
	LNET_IOC_UNCONFIGURE	= 56,	/* data */
	/*
	 * data: configures the node; if @flags is not 0, also adds the nets that module parameters
	 * name
	 */
	LNET_IOC_CONFIGURE	= 59,
	/* data: request to the console of the self-test, see lnet_lst.h */
	LNET_IOC_LST		= 63,
	/* data: the node logs the state of the peer with @nid on @net */
	LNET_IOC_GET_PEER	= 76,
	LNET_IOC_CONFIG_RTR	= 87,	/* config: routing on or off */
	LNET_IOC_ADD_BUF	= 88,	/* config: router buffers */
	/* buf: the router buffers of CPT @count; ENOENT: no such CPT */
	LNET_IOC_GET_BUF	= 89,
	LNET_IOC_GET_STATS	= 91,	/* stats */
	LNET_IOC_SET_NUMA	= 98,	/* value */
	LNET_IOC_GET_NUMA	= 99,	/* value */
	/* udsp: the patterns follow the struct, or @bulk points to them */
	LNET_IOC_ADD_UDSP	= 105,
	LNET_IOC_DEL_UDSP	= 106,	/* udsp: @idx, -1 all */
	/*
	 * udsp: The caller sets @idx to the number of a policy. The kernel overwrites @idx with the
	 * size in bytes of the struct and the patterns of the policy.
	 */
	LNET_IOC_GET_UDSP_SIZE	= 107,
	/*
	 * udsp: The kernel writes policy @idx. The caller sets @bulk_size to the bytes of the
	 * patterns: the size that request 107 returned, minus the 32 bytes of the struct.
	 */
	LNET_IOC_GET_UDSP	= 108,
	LNET_IOC_RESET_STATS	= 110,	/* data: set all statistics to 0 */
};

#define LNET_IOC_VERSION_DATA	0x0001000a
#define LNET_IOC_VERSION	0x0001000b	/* of all others */

struct lnet_ioc_hdr {
	__u32 len;		/* of the whole buffer */
	__u32 version;
};

/* The two inline buffers follow the struct, each padded to 8 bytes. */
struct lnet_ioc_data {
	struct lnet_ioc_hdr hdr;
	__u64 nid;		/* NID as a number: net << 32 | IPv4 address */
	__u64 u64_0;
	__u32 flags, count, net, u32_[7];
	__u32 inline_len1, pad1;
	__u64 inline_buf1;
	__u32 inline_len2, pad2;
	__u64 inline_buf2;
	__u32 plen1, pad3;
	__u64 pbuf1;
	__u32 plen2, pad4;
	__u64 pbuf2;
} __attribute__((__packed__));

struct lnet_ioc_config {
	struct lnet_ioc_hdr hdr;
	__u32 net, count;
	__u64 nid;
	__u32 nr_cpts;
	/* @enable: routing: 0 off, else on; @tiny, @small, @large: router buffers of each size */
	__u32 enable, tiny, small, large;
	__u8 rest[184 - 44];
} __attribute__((__packed__));

struct lnet_ioc_pool {
	__u32 pages, buffers, credits, min_credits;
};

/* A reply with router pools. The pools overlap the last 4 bytes of @cfg, which are padding. */
struct lnet_ioc_buf {
	union {
		struct lnet_ioc_config cfg;
		struct {
			__u8 head[180];
			struct lnet_ioc_pool pool[3];
			__u32 routing, pad;
		} __attribute__((__packed__));
	};
} __attribute__((__packed__));

struct lnet_ioc_value {
	struct lnet_ioc_hdr hdr;
	__u32 value;
};

struct lnet_ioc_stats {
	struct lnet_ioc_hdr hdr;
	__u32 msgs_alloc, msgs_max, errors, send_count, recv_count, route_count, drop_count;
	__u64 send_length, recv_length, route_length, drop_length;
	/* the following counters are in the order of `stats show' */
	__u32 rst_alloc, resend, response_timeout;
	__u32 local_interrupt, local_dropped, local_aborted, local_no_route, local_timeout,
		local_error;
	__u32 remote_dropped, remote_error, remote_timeout, network_timeout;
	__u32 failed_resends, successful_resends;
} __attribute__((__packed__));

/*
 * @bulk points to the patterns of a policy: one for each end, in the order of LNET_IOC_UDSP_ENDS. A
 * pattern is a tag of four bytes, then words of four bytes, in this order:
 *	the number of address expressions;
 *	the type of the net, or 0 if the policy has no pattern for this end;
 *	the number of ranges of the net number, then these ranges;
 *	for each address expression, the number of its ranges, then these ranges.
 * A range is three words: the first number, the last number, the stride.
 */
struct lnet_ioc_udsp {
	struct lnet_ioc_hdr hdr;
	__s32 idx;		/* add: position, -1: at the end; delete: -1: all policies */
	__u32 action;		/* LNET_IOC_UDSP_* */
	__u32 bulk_size;	/* bytes */
	__u32 priority;
	__u64 bulk;
};
#define LNET_IOC_UDSP_PRIORITY	1
#define LNET_IOC_UDSP_PREFER	2
#define LNET_IOC_UDSP_ENDS	{ "SRC", "DST", "RTE" }

_Static_assert(sizeof(struct lnet_ioc_data) == 128, "the layout of stock's tools");
_Static_assert(sizeof(struct lnet_ioc_config) == 184, "the layout of stock's tools");
_Static_assert(sizeof(struct lnet_ioc_buf) == 236, "the layout of stock's tools");
_Static_assert(__builtin_offsetof(struct lnet_ioc_buf, pool) == 180, "the layout of stock's tools");
_Static_assert(__builtin_offsetof(struct lnet_ioc_buf, routing) == 228,
	       "the layout of stock's tools");
_Static_assert(sizeof(struct lnet_ioc_value) == 12, "the layout of stock's tools");
_Static_assert(sizeof(struct lnet_ioc_stats) == 128, "the layout of stock's tools");
_Static_assert(sizeof(struct lnet_ioc_udsp) == 32, "the layout of stock's tools");

#endif
