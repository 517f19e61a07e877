/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the nodes of this network namespace in the kernel's table of netlink sockets. */
#include <dirent.h>
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "client.h"

#define SOCKETS	"/proc/thread-self/net/netlink"
#define NETNS	"/proc/thread-self/ns/net"
#define NAMED	"/run/netns"
#define ASK_MS	500

/* ---- sockets --------------------------------------------------------------------------------- */

struct netlink_socket {
	uint32_t port, unread;
	unsigned long inode;
};

/* Reads the next socket whose port may be that of a user-space node. */
static bool socket_next(FILE *in, struct netlink_socket *s)
{
	unsigned int protocol;
	char line[256];

	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "%*s %u %u %*x %u %*s %*s %*s %*s %lu", &protocol, &s->port,
			   &s->unread, &s->inode) == 4 &&
		    protocol == NETLINK_USERSOCK && (s->port & 0xc0000000) == 0x40000000)
			return true;
	return false;
}

static bool socket_find(uint32_t port, struct netlink_socket *s)
{
	FILE *in = fopen(SOCKETS, "re");
	bool found = false;

	while (in && !found && socket_next(in, s))
		found = s->port == port;
	if (in)
		fclose(in);
	return found;
}

bool presence_unread(uint32_t port)
{
	struct netlink_socket s;

	return socket_find(port, &s) && s.unread;
}

/* ---- processes ------------------------------------------------------------------------------- */

static bool process_has(const char *pid, const char *link)
{
	char path[300], text[64];
	struct dirent *fd;
	bool found = false;
	ssize_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (fd = readdir(dir))) {
		len = readlinkat(dirfd(dir), fd->d_name, text, sizeof(text) - 1);
		text[len > 0 ? len : 0] = 0;
		found = !strcmp(text, link);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Finds the process that has the socket. 0: the caller may not read the files of that process. */
static int inode_pid(unsigned long inode)
{
	DIR *dir = opendir("/proc");
	struct dirent *process;
	char link[64];
	int pid = 0;

	snprintf(link, sizeof(link), "socket:[%lu]", inode);
	while (dir && !pid && (process = readdir(dir)))
		if (process->d_name[0] >= '1' && process->d_name[0] <= '9' &&
		    process_has(process->d_name, link))
			pid = atoi(process->d_name);
	if (dir)
		closedir(dir);
	return pid;
}

int presence_pid(uint32_t port)
{
	struct netlink_socket s;

	return socket_find(port, &s) ? inode_pid(s.inode) : 0;
}

static bool is_name(struct presence *p, const char *name)
{
	if (lnet_nl_user_port(name, p->uid) != p->port || strlen(name) >= sizeof(p->name))
		return false;
	snprintf(p->name, sizeof(p->name), "%s", name);
	return true;
}

/*
 * Finds the name of an unresponsive node in its command line. A node computes its netlink port from
 * its name and its user. So the name is the argument for which this computation returns p->port.
 */
static void name_guess(struct presence *p)
{
	char path[64], text[4096];
	struct stat st;
	size_t len, at;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", p->pid);
	in = p->pid ? fopen(path, "re") : NULL;
	if (!in)
		return;
	len = fread(text, 1, sizeof(text) - 1, in);
	text[len] = 0;
	p->uid = fstat(fileno(in), &st) ? 0 : st.st_uid;
	fclose(in);
	if (is_name(p, LNET_NL_USER_NODE))
		return;
	for (at = 0; at < len; at += strlen(text + at) + 1) {
		const char *value = strchr(text + at, '=');

		if (is_name(p, value ? value + 1 : text + at))
			return;
		if (!strncmp(text + at, "-n", 2) && is_name(p, text + at + 2))
			return;
	}
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static int64_t presence_number(const struct lnetctl_node *map, const char *key)
{
	int64_t num = 0;

	lnetctl_num(lnetctl_find(map, key), &num);
	return num;
}

/* Queries the node on the link. False: no node replies. */
static bool node_ask(struct link *l, struct presence *p)
{
	struct lnetctl c = { .link = l };
	struct lnetctl_node *doc, *map;
	const char *name, *version, *configured;

	link_wait_set(l, ASK_MS, NULL, NULL);
	if (lnetctl_node_show(&c, &doc))
		return false;
	map = lnetctl_find(doc, "node");
	name = lnetctl_text(map, "name");
	version = lnetctl_text(map, "version");
	configured = lnetctl_text(map, "configured");
	p->answers = name;
	p->configured = configured && !strcmp(configured, "true");
	p->pid = (int)presence_number(map, "pid");
	p->uid = (unsigned int)presence_number(map, "uid");
	snprintf(p->name, sizeof(p->name), "%s", name ? name : "");
	snprintf(p->version, sizeof(p->version), "%s", version ? version : "");
	lnetctl_doc_free(doc);
	return p->answers;
}

static bool user_node(const struct netlink_socket *s, struct presence *p)
{
	struct link *l;

	*p = (struct presence){ .port = s->port };
	if (link_open_port(&l, s->port))
		return false;
	if (!node_ask(l, p)) {
		p->pid = inode_pid(s->inode);
		name_guess(p);
	}
	link_close(l);
	return p->name[0];
}

/* Finds the kernel's node. A stock module is also such a node, although it rejects this query. */
static bool kernel_node(struct presence *p)
{
	struct link *l;
	char why[128];

	*p = (struct presence){ .answers = true };
	if (link_open(&l, "kernel", why, sizeof(why)))
		return false;
	node_ask(l, p);
	p->answers = true;
	snprintf(p->name, sizeof(p->name), "kernel");
	link_close(l);
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct presence *x = a, *y = b;
	int diff = strcmp(x->name, y->name);

	return diff ? diff : (x->port > y->port) - (x->port < y->port);
}

/*
 * Removes duplicates. If sockets are opened and closed meanwhile, the kernel's table may list a
 * socket twice.
 */
static unsigned int without_doubles(struct presence *all, unsigned int nr)
{
	unsigned int i, left = 0;

	for (i = 0; i < nr; i++)
		if (!left || all[left - 1].port != all[i].port)
			all[left++] = all[i];
	return left;
}

unsigned int presence_list(struct presence *all, unsigned int max)
{
	FILE *in = fopen(SOCKETS, "re");
	struct netlink_socket s;
	unsigned int nr = 0;

	if (nr < max && kernel_node(&all[nr]))
		nr++;
	while (in && nr < max && socket_next(in, &s))
		if (user_node(&s, &all[nr]))
			nr++;
	if (in)
		fclose(in);
	qsort(all, nr, sizeof(*all), by_name);
	return without_doubles(all, nr);
}

/* ---- texts ----------------------------------------------------------------------------------- */

void presence_namespace(char *buf, size_t size)
{
	DIR *dir = opendir(NAMED);
	struct stat ours, st;
	struct dirent *d;
	bool found = false;
	ssize_t len;

	if (stat(NETNS, &ours))
		ours.st_ino = 0;
	while (dir && !found && (d = readdir(dir))) {
		found = !fstatat(dirfd(dir), d->d_name, &st, 0) && st.st_ino == ours.st_ino &&
			st.st_dev == ours.st_dev;
		if (found)
			snprintf(buf, size, "'%s'", d->d_name);
	}
	if (dir)
		closedir(dir);
	if (found)
		return;
	len = readlink(NETNS, buf, size - 1);
	buf[len > 0 ? len : 0] = 0;
}

void presence_names(char *buf, size_t size)
{
	struct presence all[PRESENCE_MAX];
	unsigned int nr = presence_list(all, PRESENCE_MAX), i;
	size_t len = 0;

	buf[0] = 0;
	for (i = 0; i < nr && len < size; i++) {
		const char *comma = i ? ", " : "";

		if (all[i].uid && all[i].uid != getuid())
			len += (size_t)snprintf(buf + len, size - len, "%s%u/%s", comma,
						all[i].uid, all[i].name);
		else
			len += (size_t)snprintf(buf + len, size - len, "%s%s", comma, all[i].name);
	}
}

static void bool_add(struct lnetctl_node *map, const char *key, bool val)
{
	lnetctl_add(map, key, LNETCTL_BOOL, val ? "true" : "false");
}

static void item_add(struct lnetctl_node *seq, const struct presence *p)
{
	struct lnetctl_node *map = lnetctl_add_map(seq, NULL);

	if (!map)
		return;
	lnetctl_add_text(map, "name", p->name);
	lnetctl_add_num(map, "uid", p->uid);
	if (p->pid)
		lnetctl_add_num(map, "pid", p->pid);
	bool_add(map, "responds", p->answers);
	if (!p->version[0])
		return;
	lnetctl_add_text(map, "version", p->version);
	bool_add(map, "configured", p->configured);
}

int lnetctl_nodes_list(struct lnetctl_node **doc)
{
	struct presence all[PRESENCE_MAX];
	unsigned int nr = presence_list(all, PRESENCE_MAX), i;
	struct lnetctl_node *seq;

	*doc = lnetctl_add_map(NULL, NULL);
	seq = *doc && nr ? lnetctl_add_seq(*doc, "nodes") : NULL;
	for (i = 0; seq && i < nr; i++)
		item_add(seq, &all[i]);
	return *doc && (seq || !nr) ? 0 : -ENOMEM;
}
