/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside liblnetctl: requests from trees, documents from replies, and the link that carries them.
 */
#ifndef LNETCTL_CLIENT_H
#define LNETCTL_CLIENT_H

#include <uapi/lnet_nl.h>
#include <lnet/lnetctl.h>

/* ---- node.c ---- */

/*
 * As lnetctl_add(), of the @len bytes at @text, with a @key that stays as long as the document of
 * @parent.
 */
struct lnetctl_node *node_add_text(struct lnetctl_node *parent, const char *key,
				   enum lnetctl_kind kind, const char *text, size_t len);

/* ---- yaml.c ---- */

/*
 * What a plain scalar is: nothing, a word of truth, or a number as the protocol sends them, digits
 * with a sign; else a text.
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
 * The children of @body (a mapping: bare pairs; a sequence: a list of lists; NULL: nothing). 0,
 * -ENOMEM, -E2BIG.
 */
int request_encode(struct request *r, const struct lnetctl_node *body);
void request_free(struct request *r);

/* ---- reply.c: key tables and values as a document ---- */

struct reply_table;
struct reply {
	struct lnetctl_node *doc;	/* a mapping */
	struct lnetctl_node *top;	/* in doc: where items go now */
	struct reply_table *table;
};

int reply_init(struct reply *r);
/*
 * One message of a dump, @flags of its nlmsghdr. 0, -ENOMEM, -EPROTO when it does not follow the
 * tables.
 */
int reply_feed(struct reply *r, uint16_t flags, const void *attrs, size_t len);
struct lnetctl_node *reply_finish(struct reply *r);	/* the document; all else is freed */

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

/* ---- link.c: the only file that knows whether the kernel or a program answers ---- */

struct link;

struct link_call {
	uint8_t cmd, version;
	uint16_t flags;			/* beside REQUEST and ACK */
	const void *attrs;
	size_t len;
	/* how long to wait for a reply; 0: 30 s, and the node should reply at once */
	unsigned int timeout_ms;
	struct reply *reply;		/* for dumps, else NULL */
	struct family *family;		/* request to the controller: its result; else NULL */
	char text[256];			/* result: the node's words, "" if it had none */
};

int link_open(struct link **l, const char *node, char *why, size_t why_size);
int link_open_local(struct link **l, lnetctl_serve_fn serve, void *arg);
/* Opens the user-space node at @port, of any user, for requests that only show. 0 or -errno. */
int link_open_port(struct link **l, uint32_t port);
void link_close(struct link *l);
/* As lnetctl_wait_set(). */
void link_wait_set(struct link *l, unsigned int wait_ms, lnetctl_silent_fn silent, void *arg);
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

/* Requests that the node keeps until it is told to carry out all of them or none. */
struct ctl_trans {
	const struct lnetctl_node *at;		/* the caller's: what of a file is being read */
	const struct lnetctl_node **origin;	/* of each request that was sent */
	unsigned int nr, room;
};

struct lnetctl {
	struct link *link;
	const struct stock *stock;		/* if it is the kernel's; or NULL */
	struct ctl_trans *trans;		/* changes become part of it; NULL: at once */
	struct lnetctl_error error;
	char text[320], object[40];
};

/* Remember why a call failed; returns @err. The text is formatted, NULL: strerror(). */
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

/* Send @body, which is freed (NULL: a request without attributes), and wait for the verdict. */
int ctl_do(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body);
int ctl_dump(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body,
	     struct lnetctl_node **doc);

/* ---- stock.c: requests of ours that a stock module has no netlink command for ---- */

struct stock {
	const char *modules, *debugfs;	/* directories of the kernel's */
	/* An ioctl on /dev/lnet. 0 or -errno. */
	int (*ask)(void *arg, unsigned long code, void *buf);
	void *arg;
};
extern const struct stock stock_kernel;

/*
 * What @op asks, by module parameters and ioctl. Values are set in turn, and put back if one is
 * refused. @reply, for dumps, gets the answer. 0, -EOPNOTSUPP (there is no such way) or another
 * error, for which @why may get words.
 */
int stock_talk(const struct stock *s, const struct ctl_op *op, const struct lnetctl_node *body,
	       struct reply *reply, char *why, size_t size);
/* The peer of the IPv4 NID @text, into the kernel's log. 0 or -errno. */
int stock_peer_log(const struct stock *s, const char *text);

/* ---- stock_udsp.c: as stock_talk(), of policies ---- */
int stock_udsp(const struct stock *s, const struct ctl_op *op, const struct lnetctl_node *body,
	       struct reply *reply, char *why, size_t size);

/* ---- resolve.c ---- */

/* The first IPv4 address of @host, else the first IPv6 one. Waits for name servers. -EINVAL. */
int ctl_host_resolve(const char *host, char *addr, size_t size);

/* ---- ctl_net.c ---- */

#define LEVEL_OURS 5	/* level of verbosity that shows keys of this project */

/* What @n says of tunables, to the element @ni of "local NI(s)". 0 or -ENOMEM. */
int ctl_net_numbers(struct lnetctl_node *ni, const struct lnetctl_net *n);

/* ---- ctl_trans.c ---- */

/*
 * Changes of @c become part of @t from now on, if the node has transactions, else -EOPNOTSUPP. 0,
 * or another error. @alone: what is read from now on is what they are about, so they are not
 * carried out if others change something.
 */
int ctl_trans_begin(struct lnetctl *c, struct ctl_trans *t, bool alone);
/* All policies; of a stock module that has none of that, *doc NULL. */
int ctl_udsp_all(struct lnetctl *c, struct lnetctl_node **doc);
/*
 * @rc 0: the node carries them out; else it forgets them, and the error stays the one of @rc. What
 * it returns is the verdict; @t->at is what of the file was refused.
 */
int ctl_trans_end(struct lnetctl *c, struct ctl_trans *t, int rc);
/* Whether to begin once more, after a while: @rc says that others came between. @tries: from 0. */
bool ctl_trans_again(int rc, unsigned int *tries);
/* Flags that a change gets as part of a transaction. 0 or -ENOMEM. */
int ctl_trans_stage(struct lnetctl *c, const struct ctl_op *op, uint16_t *flags);

/* ---- expand.c ---- */

/* "[0,1]", "[0-3]" or "2" as the sequence "CPT" in @map. 0, -EINVAL, -ENOMEM. */
int ctl_cpts_add(struct lnetctl_node *map, const char *expr);
/*
 * Next of "eth0,eth1[0,1]": 1 with its name and its CPT list ("" without), 0 at the end, -EINVAL.
 */
int ctl_interface_next(const char **list, char *name, size_t name_size, char *cpts,
		       size_t cpts_size);

/* A sequence with one mapping, which comes back in @item; NULL without memory. */
struct lnetctl_node *ctl_body(struct lnetctl_node **item);

#endif
