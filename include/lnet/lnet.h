/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user's API of an LNet instance: nodes, interfaces, peers, memory, PUT and GET, events. */
#ifndef LNET_LNET_H
#define LNET_LNET_H

#include <lnet/nid.h>
#include <lnet/types.h>

LNET_BEGIN_DECLS

struct lnet;	/* one node; each call has it as a parameter, because there is no global state */
struct lnet_env;
struct lnet_lnd_ops;

#define LNET_MTU		1048576U	/* bytes of the largest payload of a PUT or REPLY */
#define LNET_PORTALS		64U		/* indices 0..63 */
#define LNET_MD_FRAGS_MAX	256
#define LNET_THRESHOLD_INF	(-1)

/* ---- instance -------------------------------------------------------------------------------- */

/* As syslog's. */
enum lnet_log_level {
	LNET_LOG_ERROR = 3,
	LNET_LOG_WARNING = 4,
	LNET_LOG_INFO = 6,
	LNET_LOG_DEBUG = 7,
};
/*
 * A callback that receives one line of the log, without a newline. @text is valid during the call.
 * Several threads may call it at once, perhaps under locks of the core. So it must neither wait for
 * long nor call the core. If the output may take time, the callback queues the line for another
 * thread.
 */
typedef void (*lnet_log_fn)(void *arg, enum lnet_log_level level, const char *text);

struct lnet_cfg {
	struct lnet_env *env;		/* borrowed; must outlive the instance */
	uint32_t pid;			/* 0: LNET_PID (12345) */
	unsigned int nr_shards;		/* 0: 1; at most 64 */
	/* instance number, which wire handles contain; 0: a random number from @env */
	uint64_t instance;
	lnet_log_fn log;		/* NULL: nothing is logged */
	void *log_arg;
	/* enum lnet_log_level: the node does not log less severe lines; 0: LNET_LOG_INFO */
	uint8_t log_level;
};

/* Create a node with only the loopback NI. May sleep. Return: 0, -ENOMEM, -EINVAL. */
int lnet_create(struct lnet **lnp, const struct lnet_cfg *cfg);
/*
 * Stop and free the node. Every operation ends with -ESHUTDOWN, and the drivers complete all
 * attempts and receives. May sleep; must not be called from a handler. In manual progress mode no
 * other thread may use the node any more. NULL is accepted.
 */
void lnet_destroy(struct lnet *ln);
/* Register a driver. @ops must outlive @ln. Return: 0, -EEXIST (the type has a driver), -EINVAL. */
int lnet_lnd_register(struct lnet *ln, const struct lnet_lnd_ops *ops);
/*
 * Unregister a driver. The caller has removed all its interfaces; the node accepts no new ones. May
 * sleep.
 */
void lnet_lnd_unregister(struct lnet *ln, const struct lnet_lnd_ops *ops);
uint32_t lnet_pid(const struct lnet *ln);

/*
 * Tunables. lnet/model/tunables.def has their names, units, ranges and defaults (manual:
 * configuration). In these calls, times are in nanoseconds. May sleep. Return: 0, -ENOENT (no such
 * name), -ERANGE. lnet_tunable_parse() parses the text of an operator: `5` or `0.3` (seconds, if
 * the tunable is a time), `300ms`, `10%`. Return: 0, -ENOENT, -EINVAL, -ERANGE.
 */
int lnet_tunable_set(struct lnet *ln, const char *name, uint64_t value);
int lnet_tunable_parse(const char *name, const char *text, uint64_t *value);

/* ---- interfaces (configuration calls: task context, may sleep, never from a handler) --------- */

struct lnet_ni_cfg {
	struct lnet_nid nid;		/* NID of the interface: its address and net */
	/* name of the device; "": the driver finds the device by the address, or has none */
	char ifname[16];
	int32_t peer_timeout;		/* timeout in seconds; -1: default of the driver */
	int32_t peer_credits, peer_buffer_credits, credits;	/* -1: default of the driver */
	/* connections per peer; -1: default; 0: computed from the link speed */
	int32_t conns_per_peer;
	int32_t tos;			/* -1: default */
	/* CPU partition (in user space NUMA node) near the device; -1: the driver finds it */
	int32_t dev_cpt;
	/*
	 * Bitmap of the CPU partitions whose workers serve the NI; 0: the driver chooses. A
	 * partition has the number of its shard.
	 */
	uint64_t cpts;
};
void lnet_ni_cfg_init(struct lnet_ni_cfg *cfg);	/* all defaults */
/**
 * lnet_ni_add - add a local interface
 * @ln: the node
 * @cfg: its configuration; lnet_ni_cfg_init() sets all defaults
 *
 * Return: 0; -EEXIST; -EINVAL; -ENOENT (no driver for the net); -ENOSPC (too many NIs); -ERANGE (no
 * such CPU partition); -EUSERS (a route reaches its net, or has its NID as gateway); -ESHUTDOWN;
 * -ENOMEM; or the error of the driver's ni_start.
 */
int lnet_ni_add(struct lnet *ln, const struct lnet_ni_cfg *cfg);
/**
 * lnet_ni_del - remove a local interface, which first drains and then stops
 * @ln: the node
 * @nid: the NID of the interface
 *
 * Return: 0, -ENOENT, or -EINVAL (0@lo).
 */
int lnet_ni_del(struct lnet *ln, const struct lnet_nid *nid);

/**
 * lnet_peer_add - configure a peer with its NIDs
 * @ln: the node
 * @primary: its primary NID
 * @nids: further NIDs; the peer also keeps NIDs that are not in @nids
 * @nr: number of @nids, may be 0
 * @mr: multi-rail
 *
 * The peer absorbs dynamically created peers with these NIDs.
 *
 * Return: 0, -EINVAL, -EEXIST (a NID belongs to another configured peer), -EPERM (the peer was
 * configured with another value of @mr), -ENOTUNIQ (@mr is false, but two NIDs are on one net),
 * -EBUSY (a peer to absorb is in use), -ENOMEM, -ESHUTDOWN.
 */
int lnet_peer_add(struct lnet *ln, const struct lnet_nid *primary, const struct lnet_nid *nids,
		  unsigned int nr, bool mr);
/** struct lnet_route_cfg - a route to a remote net */
struct lnet_route_cfg {
	uint32_t net;			/* the remote net */
	/* NID of a router's interface that is on a net of this node */
	struct lnet_nid gateway;
	int32_t hops;		/* number of routers on the path, 1 to 255; -1: unknown */
	uint32_t priority;		/* a lower value is preferred */
};
/** struct lnet_route_info - a route and its current state */
struct lnet_route_info {
	struct lnet_route_cfg cfg;
	bool up, multi_hop;
};
/**
 * lnet_route_add - add a route to a remote net
 * @ln: the node
 * @cfg: the route
 *
 * The node sends a gateway check at once.
 *
 * Return: 0, -EINVAL (not a net or NID, @net is the gateway's own net, hops out of range), -EEXIST
 * (the net is local, or a route by this router exists), -EHOSTUNREACH (no interface on the
 * gateway's net), -ENOMEM, -ESHUTDOWN. -EBUSY: with several shards, the node could not move
 * the gateway's peer entry to shard 0, because messages to the gateway were always in flight.
 */
int lnet_route_add(struct lnet *ln, const struct lnet_route_cfg *cfg);
/**
 * lnet_route_del - delete a route; messages in flight on it end, or are sent by another route
 * @ln: the node
 * @net: its remote net
 * @gateway: an interface of the router
 *
 * Return: 0, -ENOENT.
 */
int lnet_route_del(struct lnet *ln, uint32_t net, const struct lnet_nid *gateway);
/**
 * lnet_route_get - report one route
 * @ln: the node
 * @pos: index of the route, from 0
 * @info: receives the route
 *
 * Return: 0, -ENOENT past the end.
 */
int lnet_route_get(struct lnet *ln, unsigned int pos, struct lnet_route_info *info);

/**
 * lnet_peer_del - remove a peer, or NIDs of it
 * @ln: the node
 * @primary: its primary NID
 * @nids: NIDs to remove; if they include the primary NID, the whole peer is removed
 * @nr: number of @nids; 0: the whole peer is removed
 *
 * Return: 0, -ENOENT, -ENODEV (@primary is not the primary NID), -EBUSY (a route uses a NID that
 * would be removed).
 */
int lnet_peer_del(struct lnet *ln, const struct lnet_nid *primary, const struct lnet_nid *nids,
		  unsigned int nr);

/* ---- memory ---------------------------------------------------------------------------------- */

/* a contiguous range of memory; in the kernel @base is a mapped address */
struct lnet_frag {
	void *base;
	uint32_t len;			/* bytes */
};

typedef struct { uint64_t cookie; } lnet_md_t;	/* handles; 0 is never valid */
typedef struct { uint64_t cookie; } lnet_me_t;

enum lnet_md_option { /* public values of stock LNet */
		      LNET_MD_OP_PUT = 0x1,
		      LNET_MD_OP_GET = 0x2,
		      LNET_MD_MANAGE_REMOTE = 0x4,
		      LNET_MD_TRUNCATE = 0x10,
		      LNET_MD_ACK_DISABLE = 0x20,
		      LNET_MD_MAX_SIZE = 0x80,
		      LNET_MD_KIOV = 0x100,
		      LNET_MD_BULK_HANDLE = 0x200,
		      LNET_MD_TRACK_RESPONSE = 0x400,
		      LNET_MD_NO_TRACK_RESPONSE = 0x800,
		      LNET_MD_DISCARD = 0x4000,
};
enum lnet_unlink { LNET_RETAIN = 0, LNET_UNLINK = 1 };
enum lnet_ins_pos { LNET_INS_BEFORE, LNET_INS_AFTER, LNET_INS_LOCAL };

enum lnet_event_kind {
	LNET_EVENT_GET = 1,
	LNET_EVENT_PUT,
	LNET_EVENT_REPLY,
	LNET_EVENT_ACK,
	LNET_EVENT_SEND,
	LNET_EVENT_UNLINK,
};

struct lnet_process {
	struct lnet_nid nid;
	uint32_t pid;
};

struct lnet_event {
	uint8_t kind;			/* enum lnet_event_kind */
	bool unlinked;			/* last event of this MD */
	/* last event of the operation; exactly one per lnet_put(), lnet_get() or matched request */
	bool final;
	bool delivery_unknown;	/* @status is not 0, but the request may have taken effect */
	int status;			/* 0 or -errno */
	uint16_t portal;
	uint16_t outcome;		/* reason for @status: manual/user/outcomes.md */
	uint32_t mlength, rlength, offset;
	uint64_t match_bits, hdr_data;
	struct lnet_process initiator;	/* primary NID of the peer */
	struct lnet_process target;
	struct lnet_nid source;		/* NID in the header */
	struct lnet_nid sender;		/* last hop */
	lnet_md_t md;
	void *user_ptr;			/* of the MD */
	void *op_ptr;			/* of lnet_put()/lnet_get() */
	/*
	 * in final events of this node's operations: time since the first hand-over to the driver
	 */
	uint64_t latency_ns;
};
/*
 * A handler receives the events of an MD. It runs in a thread that serves sockets and timers, at
 * the end of a pass, with no lock held. Handlers of one MD run one at a time. A handler hands the
 * event over, for example to a queue, and returns. It must not block: no output to a pipe or
 * terminal, no wait for a lock that is held for long, no sleep. It should return within 100 us,
 * because its thread serves no socket or timer during that time. The node counts and logs a handler
 * that runs for longer than the tunable `handler_limit` (10 ms). While such a handler runs, another
 * thread serves the sockets and timers, if the progress mode has one
 * (manual/internals/architecture.md).
 *
 * A handler may call the data API: lnet_put(), lnet_get(), their list forms, lnet_flush(),
 * lnet_rail_get(), lnet_ping(), attach, bind and unlink. A handler must not call configuration
 * functions or lnet_destroy(). In a handler, lnet_progress() returns -EDEADLK. The node may deliver
 * the events of a handler's calls only after the handler has returned. So a handler must not wait
 * for such events.
 */
typedef void (*lnet_handler_t)(const struct lnet_event *ev);
/*
 * Return the name of the event kind: "GET", "PUT" and so on; NULL if @kind is not in enum
 * lnet_event_kind.
 */
const char *lnet_event_name(unsigned int kind);
/*
 * Return the name of the outcome: "remote_timeout" and so on; NULL if @outcome is not in
 * manual/user/outcomes.md.
 */
const char *lnet_outcome_name(unsigned int outcome);
#ifndef __KERNEL__
/*
 * Describe @ev in @text, with at most @size bytes including the final 0. Example: "PUT to
 * 10.0.0.2@tcp: remote_timeout (Connection timed out); delivery unknown". The return values are
 * those of snprintf().
 */
int lnet_event_text(const struct lnet_event *ev, char *text, size_t size);
#endif

struct lnet_md_cfg {
	void *start;			/* contiguous memory; NULL if the caller sets @frags */
	uint32_t length;			/* bytes of @start */
	const struct lnet_frag *frags;	/* copied */
	uint32_t nr_frags;			/* at most LNET_MD_FRAGS_MAX */
	uint32_t max_size;			/* with LNET_MD_MAX_SIZE */
	int32_t threshold;			/* operations, or LNET_THRESHOLD_INF */
	uint32_t options;
	/*
	 * CPU partition (in user space NUMA node) of the memory; -1: that of its first page, if
	 * known
	 */
	int32_t cpt;
	void *user_ptr;
	lnet_handler_t handler;		/* must not block; NULL: the node discards the events */
	/*
	 * with LNET_MD_BULK_HANDLE: handle of another MD; path selection uses the CPU partition of
	 * the memory of the other MD
	 */
	lnet_md_t bulk;
};

/**
 * lnet_me_attach - add a match entry to a portal
 * @ln: the node
 * @portal: the number of the portal
 * @match: the sender of matching requests; may contain LNET_NID_ANY and LNET_PID_ANY
 * @match_bits: the match bits of matching requests
 * @ignore_bits: bits of @match_bits that are not compared
 * @unlink: LNET_UNLINK: the node frees the entry together with its memory descriptor
 * @pos: position before or after the other entries of the portal
 * @me: receives the handle
 *
 * Return: 0, -EINVAL, -EPERM (the portal has entries with a wildcard sender, and @match has none,
 * or vice versa), -ENOMEM.
 */
int lnet_me_attach(struct lnet *ln, uint32_t portal, const struct lnet_process *match,
		   uint64_t match_bits, uint64_t ignore_bits, enum lnet_unlink unlink,
		   enum lnet_ins_pos pos, lnet_me_t *me);
/**
 * lnet_me_unlink - remove a match entry, and its memory descriptor
 * @ln: the node
 * @me: the entry
 *
 * Return: 0, -ENOENT.
 */
int lnet_me_unlink(struct lnet *ln, lnet_me_t me);
/**
 * lnet_md_attach - attach memory for the requests of a match entry
 * @ln: the node
 * @me: the entry; on an error the node frees the entry, unless it already has memory
 * @cfg: the memory, the permitted operations, and the handler, which must not block
 * @unlink: LNET_UNLINK: when the descriptor accepts no further request, the node unlinks it
 * @md: receives the handle
 *
 * Return: 0, -EINVAL, -ENOENT, -EBUSY (the entry has memory), -ENOMEM.
 */
int lnet_md_attach(struct lnet *ln, lnet_me_t me, const struct lnet_md_cfg *cfg,
		   enum lnet_unlink unlink, lnet_md_t *md);
/**
 * lnet_md_bind - describe memory for requests of this node
 * @ln: the node
 * @cfg: the memory and its handler, which must not block
 * @unlink: LNET_UNLINK: when the descriptor accepts no further request, the node unlinks it
 * @md: receives the handle
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int lnet_md_bind(struct lnet *ln, const struct lnet_md_cfg *cfg, enum lnet_unlink unlink,
		 lnet_md_t *md);
/**
 * lnet_md_unlink - end the use of a memory descriptor
 * @ln: the node
 * @md: the descriptor; buffer ownership returns to the caller with the event that has .unlinked set
 *
 * Return: 0, -ENOENT.
 */
int lnet_md_unlink(struct lnet *ln, lnet_md_t md);
/**
 * lnet_portal_lazy - make a portal lazy or not lazy
 * @ln: the node
 * @portal: the number of the portal
 * @lazy: true: PUTs without a match wait for memory; false: the node drops such PUTs
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int lnet_portal_lazy(struct lnet *ln, uint32_t portal, bool lazy);

/* ---- data ------------------------------------------------------------------------------------ */

/*
 * The caller sends more requests immediately after this one. So the node may delay the doorbell, by
 * which the driver sends its queued messages, until the further requests follow. In a handler, the
 * node may delay the doorbell until the running handlers have returned.
 */
#define LNET_MORE	0x1
#define LNET_ACK	0x2		/* PUT: an ACK is wanted */
/*
 * For a GET, or a PUT with LNET_ACK: no SEND event precedes the ACK or REPLY event. A SEND event
 * may still report a failure.
 */
#define LNET_NO_SEND	0x4
#define LNET_TIMEOUT_MAX_NS	3600000000000ULL	/* as for the tunable */

struct lnet_xfer {			/* for lnet_put() and lnet_get() */
	lnet_md_t md;
	struct lnet_nid self;		/* LNET_NID_ANY: the node chooses */
	struct lnet_process target;	/* pid 0: LNET_PID */
	uint32_t portal, offset;
	uint64_t match_bits, hdr_data;
	uint32_t flags;			/* LNET_MORE, LNET_ACK, LNET_NO_SEND */
	uint32_t md_offset, length;	/* range of the MD in bytes; length 0: all of the MD */
	/* transaction timeout, at most LNET_TIMEOUT_MAX_NS; 0: the tunable transaction_timeout */
	uint64_t timeout_ns;
	void *op_ptr;			/* returned in the events */
};
void lnet_xfer_init(struct lnet_xfer *x);
/**
 * lnet_put - send memory to a portal of another node
 * @ln: the node
 * @x: the request; lnet_xfer_init() sets all defaults
 *
 * Any thread, task context; handlers may also call it.
 *
 * Return: 0: exactly one event with .final follows. An error: no event follows. -ENOENT (MD
 * invalid, inactive or attached), -EINVAL (the portal, the length or @x->self is invalid), -EAGAIN
 * (requests_max requests are in flight), -EIO (for a test, an operator made requests to the target
 * fail), -ENOMEM, -ESHUTDOWN.
 */
int lnet_put(struct lnet *ln, const struct lnet_xfer *x);
/**
 * lnet_get - fetch memory of another node
 * @ln: the node
 * @x: the request; lnet_xfer_init() sets all defaults
 *
 * Return: as lnet_put().
 */
int lnet_get(struct lnet *ln, const struct lnet_xfer *x);
/**
 * lnet_put_list - send several PUTs at a lower cost than by separate calls of lnet_put()
 * @ln: the node
 * @x: the requests; LNET_MORE of the last request applies, and that of the others may be ignored
 * @nr: the number of requests
 *
 * Successive requests with the same MD and target NID share the cost of the look-ups.
 *
 * Return: the number of requests that were started as by lnet_put(). If the number is less than
 * @nr, the node did not accept the next request; lnet_put() with that request returns the reason.
 * If no request was started, the error of lnet_put() for the first request.
 */
int lnet_put_list(struct lnet *ln, const struct lnet_xfer *x, unsigned int nr);
/**
 * lnet_get_list - send several GETs, like lnet_put_list()
 * @ln: the node
 * @x: the requests
 * @nr: the number of requests
 *
 * Return: as lnet_put_list().
 */
int lnet_get_list(struct lnet *ln, const struct lnet_xfer *x, unsigned int nr);
/**
 * lnet_flush - send requests that LNET_MORE has delayed
 * @ln: the node
 */
void lnet_flush(struct lnet *ln);

/**
 * lnet_get_id - report one NID and the PID of this node
 * @ln: the node
 * @index: index of the NID; 0 is 0@lo
 * @id: receives the NID and the PID
 *
 * Return: 0, -ENOENT past the end.
 */
int lnet_get_id(struct lnet *ln, unsigned int index, struct lnet_process *id);
/**
 * lnet_dist - the distance from this node to a NID
 * @ln: the node
 * @dst: the NID
 *
 * Return: 0: a local NID; 1: a NID on a local net; hops + 1: a NID behind routers; -EHOSTUNREACH.
 */
int lnet_dist(struct lnet *ln, const struct lnet_nid *dst);

/** struct lnet_rail_info - a path to a peer, between two interfaces */
struct lnet_rail_info {
	struct lnet_nid here, there;
	/* messages retransmitted because the rail failed or gave no response */
	uint64_t resends;
	/* 0 to 1000: the lowest health among the rail, its NI and its peer NI */
	uint32_t health;
};
/**
 * lnet_rail_get - report one rail to a peer
 * @ln: the node
 * @peer: a NID of the peer
 * @pos: index of the rail, from 0
 * @info: receives the rail
 *
 * Any thread; handlers may also call it. If a rail is removed and added again, its counters start
 * from 0.
 *
 * Return: 0, -ENOENT: no such peer, or past the end.
 */
int lnet_rail_get(struct lnet *ln, const struct lnet_nid *peer, unsigned int pos,
		  struct lnet_rail_info *info);

/**
 * lnet_counter_get - read a counter of the node
 * @ln: the node
 * @name: the name of the counter in manual/operator/statistics.md
 * @value: receives the counter
 *
 * Return: 0, -ENOENT (no such name).
 */
int lnet_counter_get(const struct lnet *ln, const char *name, uint64_t *value);

/*
 * Ping @nid asynchronously. @done is called once, with the raw ping buffer (valid during the call)
 * or with status < 0. @done is a handler and must not block (lnet_handler_t).
 */
typedef void (*lnet_ping_done_t)(void *arg, int status, const uint8_t *info, uint32_t len,
				 const struct lnet_nid *primary, uint64_t rtt_ns);
int lnet_ping(struct lnet *ln, const struct lnet_nid *nid, const struct lnet_nid *source,
	      uint64_t timeout_ns, lnet_ping_done_t done, void *arg);

LNET_END_DECLS

#endif
