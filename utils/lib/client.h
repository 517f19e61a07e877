/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internals of liblnetctl: requests from trees, documents from replies, and the link to the node.
 */
#ifndef LNETCTL_CLIENT_H
#define LNETCTL_CLIENT_H

#include <uapi/lnet_nl.h>
#include <lnet/lnetctl.h>

/* ---- node.c ---- */

/*
 * As lnetctl_add(), with the @len bytes at @text as value. @key must live as long as the document
 * of @parent.
 */
struct lnetctl_node *node_add_text(struct lnetctl_node *parent, const char *key,
				   enum lnetctl_kind kind, const char *text, size_t len);

/* ---- yaml.c ---- */

/*
 * The kind of a plain scalar: null, a boolean, or a number as the protocol has it (digits with a
 * sign); else a text.
 */
enum lnetctl_kind yaml_kind(const char *text);

/* First line of an export: this text, the node's name, ", begin". Last line: the same, ", end". */
#define YAML_EXPORT		"# lnetctl export of "
#define YAML_EXPORT_BEGIN	", begin"
#define YAML_EXPORT_END		", end"

/* ---- request.c: the body of a document as attributes ---- */

struct request {
	unsigned char *buf;
	size_t len, size;
	int err;		/* -ENOMEM, -E2BIG: a list of more than 64 KiB; else 0 */
};

/*
 * Encodes the children of @body (a mapping: bare pairs; a sequence: a list of lists; NULL:
 * nothing). Returns 0, -ENOMEM or -E2BIG.
 */
int request_encode(struct request *r, const struct lnetctl_node *body);
void request_free(struct request *r);

/* ---- reply.c: key tables and values as a document ---- */

struct reply_table;
struct reply {
	struct lnetctl_node *doc;	/* a mapping */
	struct lnetctl_node *top;	/* in doc: the next items are added here */
	struct reply_table *table;
};

int reply_init(struct reply *r);
/*
 * Reads one message of a dump; @flags are those of its nlmsghdr. Returns 0, -ENOMEM, or -EPROTO if
 * the message does not follow the key tables.
 */
int reply_feed(struct reply *r, uint16_t flags, const void *attrs, size_t len);
struct lnetctl_node *reply_finish(struct reply *r);	/* the document; frees all else */

/* ---- family.c: the kernel's netlink family, as its controller describes it ---- */

struct family {
	uint16_t id;			/* 0: unknown */
	bool listed;			/* does[] and dumps[] are known */
	uint8_t does[32], dumps[32];	/* a bit per command */
};

/* Reads the attributes of the controller's reply; skips malformed attributes. */
void family_read(struct family *f, const void *attrs, size_t len);
/* Does the family have the command? True also if it lists no operations. */
bool family_has(const struct family *f, uint8_t cmd, bool dump);

/* ---- link.c: the only file that knows whether the kernel or a program serves the node  */

struct link;

struct link_call {
	uint8_t cmd, version;
	uint16_t flags;			/* in addition to REQUEST and ACK */
	const void *attrs;
	size_t len;
	/* how long to wait for a reply; 0: 30 s, and the node should reply at once */
	unsigned int timeout_ms;
	struct reply *reply;		/* for dumps, else NULL */
	struct family *family;		/* request to the controller: its result; else NULL */
	char text[256];			/* result: the node's error text, "" if there is none */
};

int link_open(struct link **l, const char *node, char *why, size_t why_size);
int link_open_local(struct link **l, lnetctl_serve_fn serve, void *arg);
/* Opens the user-space node at @port, of any user, for read-only requests. 0 or -errno. */
int link_open_port(struct link **l, uint32_t port);
void link_close(struct link *l);
/* As lnetctl_wait_set(). */
void link_wait_set(struct link *l, unsigned int wait_ms, lnetctl_unresponsive_fn unresponsive,
		   void *arg);
bool link_is_kernel(const struct link *l);
/* Query the controller for the family. 0; -ENOENT: the kernel does not have it; -errno. */
int link_family_find(struct link *l);
/*
 * 0, or -errno of the node or of this process. -EOPNOTSUPP: the node does not have the command; the
 * request is not sent if the controller reported so.
 */
int link_talk(struct link *l, struct link_call *call);

/* ---- presence.c: the nodes of this network namespace ---- */

#define PRESENCE_MAX 64

struct presence {
	char name[64], version[32];	/* version "": unknown */
	uint32_t port;			/* 0: the kernel */
	uid_t uid;
	int pid;			/* 0: unknown */
	bool answers, configured;
};

/*
 * Queries each node and waits up to 500 ms for its reply. Returns the number of nodes, sorted by
 * name. Omits an unresponsive node whose command line the caller may not read.
 */
unsigned int presence_list(struct presence *all, unsigned int max);
/* Lists the nodes in the form that this user passes to --node: "a, 1000/b"; "" if none. */
void presence_names(char *buf, size_t size);
/* The network namespace: its name in quotes if `ip netns' has one, else its inode number. */
void presence_namespace(char *buf, size_t size);
/* The process of the node at @port, 0: unknown; and whether requests to it are still unread. */
int presence_pid(uint32_t port);
bool presence_unread(uint32_t port);

/* ---- ctl.c ---- */

/* Requests that the node stores until it carries out all of them or none. */
struct ctl_trans {
	const struct lnetctl_node *at;		/* from the caller: the position in the file */
	const struct lnetctl_node **origin;	/* of each request that was sent */
	unsigned int nr, room;
};

struct lnetctl {
	struct link *link;
	const struct stock *stock;		/* for the kernel's node; or NULL */
	struct ctl_trans *trans;		/* collects changes; NULL: they are made at once */
	struct lnetctl_error error;
	char text[320], object[40];
};

/* Stores why a call failed; returns @err. @fmt formats the text; NULL: the text of strerror(). */
int ctl_fail(struct lnetctl *c, int err, const char *verb, const char *object, const char *fmt, ...)
	__attribute__((__format__(printf, 5, 6)));

/* True if the node is a stock module. Does not set the error of @c. */
bool ctl_is_stock(struct lnetctl *c);

struct ctl_op {
	uint8_t cmd, version;
	uint16_t flags;
	unsigned int timeout_ms;
	const char *verb, *object;	/* for errors */
};

/* Sends @body and frees it (NULL: a request without attributes), and waits for the result. */
int ctl_do(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body);
int ctl_dump(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body,
	     struct lnetctl_node **doc);

/* ---- stock.c: requests for which a stock module has no netlink command ----------- */

struct stock {
	const char *modules, *debugfs;	/* directories of the kernel */
	/* An ioctl on /dev/lnet. 0 or -errno. */
	int (*ask)(void *arg, unsigned long code, void *buf);
	void *arg;
};
extern const struct stock stock_kernel;

/*
 * Carries out @op by module parameters and ioctls. Sets values one by one, and restores them if one
 * is rejected. A dump writes its result to @reply. Returns 0, -EOPNOTSUPP (not possible on a stock
 * module) or another error, which @why may explain.
 */
int stock_talk(const struct stock *s, const struct ctl_op *op, const struct lnetctl_node *body,
	       struct reply *reply, char *why, size_t size);
/* Writes the peer of the IPv4 NID @text to the kernel's log. 0 or -errno. */
int stock_peer_log(const struct stock *s, const char *text);

/* ---- stock_udsp.c: as stock_talk(), for policies --- */
int stock_udsp(const struct stock *s, const struct ctl_op *op, const struct lnetctl_node *body,
	       struct reply *reply, char *why, size_t size);

/* ---- resolve.c ---- */

/* The first IPv4 address of @host, else the first IPv6 one. Waits for name servers. -EINVAL. */
int ctl_host_resolve(const char *host, char *addr, size_t size);

/* ---- ctl_net.c ---- */

#define LEVEL_OURS 5	/* verbosity from which keys of this project are shown */

/* Adds the tunables that @n sets to the element @ni of "local NI(s)". 0 or -ENOMEM. */
int ctl_net_numbers(struct lnetctl_node *ni, const struct lnetctl_net *n);

/* ---- ctl_trans.c ---- */

/*
 * Adds further changes of @c to the transaction @t. 0; -EOPNOTSUPP: the node has no transactions;
 * or another error. @alone: the commit fails if another client has changed the node since, so the
 * changes may depend on what the caller reads.
 */
int ctl_trans_begin(struct lnetctl *c, struct ctl_trans *t, bool alone);
/* Reads all policies; *@doc is NULL if a stock module has no policies. */
int ctl_udsp_all(struct lnetctl *c, struct lnetctl_node **doc);
/*
 * Ends the transaction: commits it if @rc is 0, else discards it and keeps the error of @rc.
 * Returns the result; @t->at is the part of the file that the node rejected.
 */
int ctl_trans_end(struct lnetctl *c, struct ctl_trans *t, int rc);
/* Whether to retry, after a pause: @rc reports changes by another client. @tries starts at 0. */
bool ctl_trans_again(int rc, unsigned int *tries);
/* Sets the flags of a change that is part of a transaction. 0 or -ENOMEM. */
int ctl_trans_stage(struct lnetctl *c, const struct ctl_op *op, uint16_t *flags);

/* ---- expand.c ---- */

/* Adds "[0,1]", "[0-3]" or "2" as the sequence "CPT" to @map. 0, -EINVAL, -ENOMEM. */
int ctl_cpts_add(struct lnetctl_node *map, const char *expr);
/* Next of "eth0,eth1[0,1]": 1 with its name and CPT list ("" without), 0 at the end, -EINVAL. */
int ctl_interface_next(const char **list, char *name, size_t name_size, char *cpts,
		       size_t cpts_size);

/* Creates a sequence with one mapping, returned in @item; NULL: no memory. */
struct lnetctl_node *ctl_body(struct lnetctl_node **item);

#endif
