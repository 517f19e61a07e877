/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connects to the console of a node: by the node's socket, the kernel's device, or stock's ioctls.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "lnet/selftest/console_link.h"
#include "stock.h"
#include "utils/lib/selftest_socket.h"

const char *link_node;
static int door = -1;

void request_begin(struct request *r, const char *verb)
{
	const char *key = getenv("LST_SESSION");

	r->len = (size_t)snprintf(r->text, sizeof(r->text), "%s", verb) + 1;
	r->over = false;
	if (key)
		request_add(r, "key", "%lu", strtoul(key, NULL, 0));
}

void request_add(struct request *r, const char *name, const char *fmt, ...)
{
	size_t room = sizeof(r->text) - r->len;
	va_list args;
	int len, more;

	len = snprintf(r->text + r->len, room, "%s=", name);
	if ((size_t)len >= room) {
		r->over = true;
		return;
	}
	va_start(args, fmt);
	more = vsnprintf(r->text + r->len + len, room - (size_t)len, fmt, args);
	va_end(args);
	if ((size_t)(len + more) >= room)
		r->over = true;
	else
		r->len += (size_t)(len + more) + 1;
}

/* ---- opening ------------------------------------------------------------------------------- */

/*
 * Is the server a process of user @uid? Another user may own the directory of the socket, so the
 * check precedes the first request.
 */
static bool is_served_by(int fd, unsigned int uid)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		return false;
	if (who.uid == uid || !who.uid)
		return true;
	fprintf(stderr, "lst: the socket of the node of user %u belongs to user %u (pid %d)\n", uid,
		who.uid, (int)who.pid);
	return false;
}

static int door_socket_open(unsigned int uid, const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int rc = door_address(&to, uid, name), fd;

	if (rc)
		return rc == -ENOENT ? -ECONNREFUSED : rc;	/* this user's node has no socket */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (void *)&to, sizeof(to))) {
		int err = errno;

		close(fd);
		return err == ENOENT ? -ECONNREFUSED : -err;
	}
	if (is_served_by(fd, uid))
		return fd;
	close(fd);
	return -EPERM;
}

static int device_open(void)
{
	int fd = open(LST_DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Opens the node of this user, or else the node of root. */
static int user_open(const char *node)
{
	const char *slash = strchr(node, '/');
	int fd;

	if (slash)
		return door_socket_open((unsigned int)strtoul(node, NULL, 10), slash + 1);
	fd = door_socket_open(getuid(), node);
	return fd == -ECONNREFUSED && getuid() ? door_socket_open(0, node) : fd;
}

static int link_door_open(void)
{
	const char *node = link_node ? link_node : getenv("LNET_NODE");
	int fd;

	if (node && !strcmp(node, "kernel"))
		return device_open();
	if (node)
		return user_open(node);
	fd = device_open();
	return fd == -ENOENT || fd == -ENXIO ? user_open("lnetd") : fd;
}

/* Is the kernel's node selected, and is its self-test that of stock? */
static bool link_is_stock(void)
{
	const char *node = link_node ? link_node : getenv("LNET_NODE");

	return (!node || !strcmp(node, "kernel")) && stock_is_loaded();
}

static void print_closed(int err)
{
	const char *node = link_node ? link_node : getenv("LNET_NODE");

	if (node && !strcmp(node, "kernel") && err == ENOENT)
		fprintf(stderr,
			"lst: no console: node 'kernel' has no %s: 'modprobe lnet_selftest' "
			"first\n",
			LST_DEVICE);
	else if (err == ECONNREFUSED)
		fprintf(stderr,
			"lst: no console: node '%s' takes no part in self-tests, or does not run: "
			"'lnetd --selftest CONSOLES' starts one\n",
			node ? node : "lnetd");
	else
		fprintf(stderr, "lst: no console: node '%s': %s\n",
			node ? node : "lnetd", strerror(err));
}

/* ---- exchange ------------------------------------------------------------------------------ */

static int all_write(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int all_read(int fd, void *data, size_t len)
{
	char *at = data;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ECONNRESET;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int document(char *yaml, size_t len, struct lnetctl_node **doc)
{
	char why[200];
	FILE *in = fmemopen(yaml, len, "r");
	int rc = in ? lnetctl_yaml_read(in, doc, why, sizeof(why)) : -ENOMEM;

	if (in)
		fclose(in);
	if (rc)
		fprintf(stderr, "lst: the reply of the console is malformed: %s\n",
			in ? why : "not enough memory");
	return rc;
}

static int door_reply_read(int fd, struct lnetctl_node **doc)
{
	struct lst_link_reply head;
	int rc = all_read(fd, &head, sizeof(head));
	char *yaml;

	if (rc)
		return rc;
	yaml = malloc(head.len + 1);
	if (!yaml)
		return -ENOMEM;
	rc = all_read(fd, yaml, head.len);
	yaml[head.len] = 0;
	if (!rc && head.len && doc)
		rc = document(yaml, head.len, doc);
	free(yaml);
	return rc ? rc : head.status;
}

/* Writes the request with one system call, because the kernel's device requires this. */
static int request_write(int fd, const struct request *r)
{
	struct lst_link_request head = { (uint32_t)r->len };
	char *bytes = malloc(sizeof(head) + r->len);
	int rc;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), r->text, r->len);
	rc = all_write(fd, bytes, sizeof(head) + r->len);
	free(bytes);
	return rc;
}

/* ---- progress ------------------------------------------------------------------------------- */

#define PATIENCE_MS	500

/*
 * Shows how many of the nodes that @verb queries have replied. Reads this from the console over a
 * second connection.
 */
static bool progress_print(const char *verb)
{
	static struct request r;
	struct lnetctl_node *doc = NULL;
	const struct lnetctl_node *c;
	int fd = link_door_open(), rc;
	bool told = false;

	if (fd < 0)
		return false;
	request_begin(&r, "progress");
	rc = request_write(fd, &r);
	if (!rc)
		rc = door_reply_read(fd, &doc);
	close(fd);
	c = rc ? NULL : lnetctl_find(doc, "commands");
	for (c = c ? c->first : NULL; c && !told; c = c->next) {
		told = !strcmp(text(c, "verb"), verb) && number(c, "asked");
		if (told)
			fprintf(stderr, "\r%s: %d of %d nodes have replied", verb,
				(int)(number(c, "asked") - number(c, "left")),
				(int)number(c, "asked"));
	}
	lnetctl_doc_free(doc);
	return told;
}

/* Waits for the reply, and shows the progress on a terminal meanwhile. */
static void answer_wait(const char *verb)
{
	struct pollfd fd = { door, POLLIN, 0 };
	bool told = false;

	while (isatty(2) && poll(&fd, 1, PATIENCE_MS) == 0)
		told = progress_print(verb) || told;
	if (told)
		fputs("\r\033[K", stderr);
}

/* ---- a request ------------------------------------------------------------------------------ */

int request_send(struct request *r, struct lnetctl_node **doc)
{
	int rc;

	if (doc)
		*doc = NULL;
	if (r->over || r->len > LST_REQUEST_MAX)
		return -E2BIG;
	if (door < 0 && link_is_stock())
		return stock_send(&stock_kernel_door, r, doc);
	if (door < 0)
		door = link_door_open();
	if (door < 0) {
		print_closed(-door);
		return -EHOSTDOWN;
	}
	rc = request_write(door, r);
	if (rc)
		return rc;
	answer_wait(r->text);
	return door_reply_read(door, doc);
}
