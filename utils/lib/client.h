/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internals of liblnetctl: it encodes trees as requests, decodes replies as documents, and has the
 * link to the node.
 */
#ifndef LNETCTL_CLIENT_H
#define LNETCTL_CLIENT_H

#include <uapi/lnet_nl.h>
#include <lnet/lnetctl.h>

/* ---- node.c ---- */

/*
 * As lnetctl_add(), but the value is the @len bytes at @text. @key must live as long as the
 * document of @parent.
 */
struct lnetctl_node *node_add_text(struct lnetctl_node *parent, const char *key,
				   enum lnetctl_kind kind, const char *text, size_t len);

/* ---- yaml.c ---- */

/*
 * Returns the kind of a plain scalar: null, a boolean, a number, or else a text. A number has
 * digits and an optional sign, as in the protocol.
 */
enum lnetctl_kind yaml_kind(const char *text);

/*
 * The first line of an export is YAML_EXPORT, the node's name, and YAML_EXPORT_BEGIN. The last line
 * has YAML_EXPORT_END instead.
 */
#define YAML_EXPORT		"# lnetctl export of "
#define YAML_EXPORT_BEGIN	", begin"
#define YAML_EXPORT_END		", end"

/* ---- request.c: the body of a document as attributes ---- */

struct request {
	unsigned char *buf;
	size_t len, size;
	int err;		/* 0, -ENOMEM, or -E2BIG: a list of more than 64 KiB */
};

/*
 * Encodes the children of @body. A mapping becomes pairs of key and value, without a list around
 * the pairs. A sequence becomes a list of lists. If @body is NULL, the request is empty. Returns 0,
 * -ENOMEM or -E2BIG.
 */
int request_encode(struct request *r, const struct lnetctl_node *body);
void request_free(struct request *r);

/* ---- reply.c: key tables and values as a document ---- */

struct reply_table;
struct reply {
	struct lnetctl_node *doc;	/* a mapping */
	struct lnetctl_node *top;	/* part of doc to which the next items are added */
	struct reply_table *table;
};

int reply_init(struct reply *r);
/*
 * Reads one message of a dump. @flags are the flags of its nlmsghdr. Returns 0, -ENOMEM, or -EPROTO
 * if the message does not follow the key tables.
 */
int reply_feed(struct reply *r, uint16_t flags, const void *attrs, size_t len);
struct lnetctl_node *reply_finish(struct reply *r);	/* the document; frees all else */

/* ---- family.c: the kernel's netlink family, as its controller describes it ---- */

struct family {
	uint16_t id;			/* 0: unknown */
	bool listed;			/* does[] and dumps[] are known */
	uint8_t does[32], dumps[32];	/* a bit per command */
};

/*
 * Reads the reply in which the kernel's netlink controller describes the family @f. @attrs are the
 * attributes of the reply. Skips malformed attributes.
 */
void family_read(struct family *f, const void *attrs, size_t len);
/* Does the family have the command? True also if the family lists no operations. */
bool family_has(const struct family *f, uint8_t cmd, bool dump);

/* ---- link.c: the only file that knows whether the kernel or a program serves the node  */

struct link;

struct link_call {
	uint8_t cmd, version;
	uint16_t flags;			/* flags in addition to NLM_F_REQUEST and NLM_F_ACK */
	const void *attrs;
	size_t len;
	/*
	 * Maximum time without a reply. 0: 30 s. The value 0 is for requests to which a node
	 * replies at once. If the node has not replied after 2 s, it is reported as unresponsive.
	 */
	unsigned int timeout_ms;
	struct reply *reply;		/* for dumps, else NULL */
	struct family *family;	/* result of a request to the netlink controller; else NULL */
	char text[256];			/* error text of the node; "": none */
};

int link_open(struct link **l, const char *node, char *why, size_t why_size);
int link_open_local(struct link **l, lnetctl_serve_fn serve, void *arg);
/*
 * Opens the user-space node at @port for read-only requests. Any user may own the node. Returns 0
 * or -errno.
 */
int link_open_port(struct link **l, uint32_t port);
void link_close(struct link *l);
/* As lnetctl_wait_set(). */
void link_wait_set(struct link *l, unsigned int wait_ms, lnetctl_unresponsive_fn unresponsive,
		   void *arg);
bool link_is_kernel(const struct link *l);
/*
 * Queries the controller for the family. Returns 0, -ENOENT if the kernel does not have the family,
 * or another -errno.
 */
int link_family_find(struct link *l);
/*
 * Sends a request and waits for the reply. Returns 0, or -errno of the node or of this process.
 * -EOPNOTSUPP: the node does not have the command. If the controller has reported so, the request
 * is not sent.
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
 * Queries each node and waits up to 500 ms for its reply. Returns the number of nodes, which are
 * sorted by name. If a node is unresponsive, its name is read from the command line of its process.
 * If the caller may not read this command line, the list omits the node.
 */
unsigned int presence_list(struct presence *all, unsigned int max);
/*
 * Lists the nodes as this user passes them to --node: "a, 1000/b". The list is "" if there are
 * none.
 */
void presence_names(char *buf, size_t size);
/*
 * Writes the network namespace: its name in quotes if `ip netns' has a name, else its inode number.
 */
void presence_namespace(char *buf, size_t size);
/*
 * presence_pid() returns the process of the node at @port; 0: unknown. presence_unread() returns
 * whether that process has unread requests.
 */
int presence_pid(uint32_t port);
bool presence_unread(uint32_t port);

/* ---- ctl.c ---- */

/* A transaction: the node stores requests until it executes all of them or none. */
struct ctl_trans {
	const struct lnetctl_node *at;		/* position in the file, which the caller sets */
	const struct lnetctl_node **origin;	/* position of each request that was sent */
	unsigned int nr, room;
};

struct lnetctl {
	struct link *link;
	/* access to a stock module, if the link is to the kernel; else NULL */
	const struct stock *stock;
	struct ctl_trans *trans;		/* transaction that collects changes; NULL: none */
	struct lnetctl_error error;
	char text[320], object[40];
};

/*
 * Stores the reason why a call failed, and returns @err. @fmt formats the reason; NULL: strerror().
 */
int ctl_fail(struct lnetctl *c, int err, const char *verb, const char *object, const char *fmt, ...)
	__attribute__((__format__(printf, 5, 6)));

/* Is the node a stock module? Does not set the error of @c. */
bool ctl_is_stock(struct lnetctl *c);

struct ctl_op {
	uint8_t cmd, version;
	uint16_t flags;
	unsigned int timeout_ms;
	const char *verb, *object;	/* for errors */
};

/*
 * Sends @body, waits for the result, and frees @body. @body may be NULL: a request without
 * attributes.
 */
int ctl_do(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body);
int ctl_dump(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body,
	     struct lnetctl_node **doc);

/* ---- stock.c: requests for which a stock module has no netlink command ----------- */

struct stock {
	const char *modules, *debugfs;	/* directories of the kernel */
	/* Calls an ioctl of /dev/lnet. Returns 0 or -errno. */
	int (*ask)(void *arg, unsigned long code, void *buf);
	void *arg;
};
extern const struct stock stock_kernel;

/*
 * Executes @op by module parameters and ioctls. Sets values one by one; if the module rejects a
 * value, restores the values that were set. A dump writes its result to @reply. Returns 0,
 * -EOPNOTSUPP if a stock module cannot execute @op, or another error, which @why may explain.
 */
int stock_talk(const struct stock *s, const struct ctl_op *op, const struct lnetctl_node *body,
	       struct reply *reply, char *why, size_t size);
/* Requests that the module logs the peer with the IPv4 NID @text. Returns 0 or -errno. */
int stock_peer_log(const struct stock *s, const char *text);

/* ---- stock_udsp.c: as stock_talk(), for policies --- */
int stock_udsp(const struct stock *s, const struct ctl_op *op, const struct lnetctl_node *body,
	       struct reply *reply, char *why, size_t size);

/* ---- resolve.c ---- */

/*
 * Finds the first IPv4 address of @host, or else its first IPv6 address. Waits for name servers.
 * Returns 0 or -EINVAL.
 */
int ctl_host_resolve(const char *host, char *addr, size_t size);

/* ---- ctl_net.c ---- */

#define LEVEL_OURS 5	/* minimum verbosity at which keys of this project are shown */

/*
 * Adds the tunables that are set in @n to the element @ni of "local NI(s)". Returns 0 or -ENOMEM.
 */
int ctl_net_numbers(struct lnetctl_node *ni, const struct lnetctl_net *n);

/* ---- ctl_trans.c ---- */

/*
 * Begins transaction @t, to which further changes of @c are added. With @alone, the commit fails if
 * another client has changed the node after this call. So data that the caller reads from the node
 * after this call is still valid at the commit. Returns 0, -EOPNOTSUPP if the node has no
 * transactions, or another error.
 */
int ctl_trans_begin(struct lnetctl *c, struct ctl_trans *t, bool alone);
/* Reads all policies. If a stock module has no policies, *@doc is NULL. */
int ctl_udsp_all(struct lnetctl *c, struct lnetctl_node **doc);
/*
 * Ends the transaction. @rc is the result of the last change. If @rc is 0, commits the transaction.
 * Otherwise discards the transaction, and lnetctl_error() still returns the error of that change.
 * Returns the result. t->at is the part of the file that the node rejected.
 */
int ctl_trans_end(struct lnetctl *c, struct ctl_trans *t, int rc);
/*
 * Returns true, after a pause, if the caller should retry a transaction whose result is @rc. This
 * is the case if @rc is -ESTALE: another client has changed the node. *@tries counts the tries, and
 * is 0 at first. After 40 tries the function returns false.
 */
bool ctl_trans_again(int rc, unsigned int *tries);
/*
 * Marks a change in *@flags as a part of the open transaction, and stores the position of the
 * change in the file. Returns 0 or -ENOMEM.
 */
int ctl_trans_stage(struct lnetctl *c, const struct ctl_op *op, uint16_t *flags);

/* ---- expand.c ---- */

/* Adds "[0,1]", "[0-3]" or "2" to @map as the sequence "CPT". Returns 0, -EINVAL or -ENOMEM. */
int ctl_cpts_add(struct lnetctl_node *map, const char *expr);
/*
 * Reads the next interface of a list such as "eth0,eth1[0,1]": its name, and its CPT list or "".
 * Returns 1, 0 at the end of the list, or -EINVAL.
 */
int ctl_interface_next(const char **list, char *name, size_t name_size, char *cpts,
		       size_t cpts_size);

/* Creates a sequence with one mapping, which it stores in *@item. NULL: no memory. */
struct lnetctl_node *ctl_body(struct lnetctl_node **item);

#endif
