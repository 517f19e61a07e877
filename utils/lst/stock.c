/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests to stock's self-test. Checks the arguments of each request, and sends it by its ioctl.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uapi/lnet_ioctl.h>
#include "lnet/selftest/console_link.h"
#include "stock.h"

#define DEVICE	"/dev/" LNET_IOC_DEVICE
#define PID	12345	/* the process ID of all nodes */

bool stock_is_loaded(void)
{
	return !access("/sys/module/lnet_selftest", F_OK) && access(LST_DEVICE, F_OK) &&
	       !access(DEVICE, F_OK);
}

/* Only root can open /dev/lnet. */
static int stock_device_ioctl(void *arg, uint32_t op, const void *args, uint32_t len)
{
	struct lnet_lst_stat stat;
	struct lnet_ioc_data data = { .hdr = { sizeof(data), LNET_IOC_VERSION_DATA },
				      .u32_ = { op }, .plen1 = len, .pbuf1 = STOCK_AT(args),
				      .plen2 = sizeof(stat), .pbuf2 = STOCK_AT(&stat) };
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC), rc;

	(void)arg;
	if (fd < 0)
		return errno == EACCES ? -EPERM : -errno;
	memset(&stat, 0, sizeof(stat));
	rc = ioctl(fd, LNET_IOC(LNET_IOC_LST), &data) ? -errno : 0;
	close(fd);
	return rc;
}

const struct stock_door stock_kernel_door = { stock_device_ioctl, stock_kernel_talk, NULL };

int stock_ask(struct stock_call *c, uint32_t op, const void *args, size_t len)
{
	return c->door->ask(c->door->arg, op, args, (uint32_t)len);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

const char *stock_state(int state)
{
	switch (state) {
#define UNIT(name)
#define NODE(name, number, text)	case number: return text;
#define BATCH(name, text)
#include "lnet/selftest/states.def"
#undef UNIT
#undef NODE
#undef BATCH
	}
	return "Unknown";
}

/*
 * Writes the ID of a node as text. The module of this project writes an 8-byte NID and a process ID
 * to the fields of @id. Stock's module writes the first bytes of a 20-byte NID over these fields.
 * So if id->pid is 0, @id contains the bytes of a NID.
 */
const char *stock_id(const struct lnet_lst_id *id, char text[LNET_IDSTR_SIZE])
{
	struct lnet_nid nid;

	if (id->pid) {
		lnet_nid_from_nid4(&nid, id->nid);
		return lnet_id_str(id->pid, &nid, text);
	}
	memset(&nid, 0, sizeof(nid));
	memcpy(&nid, id, sizeof(id->nid));
	return lnet_id_str(PID, &nid, text);
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Returns the argument after @at, or the first argument if @at is NULL. NULL: there is none. */
static const char *word_after(const struct request *r, const char *at)
{
	at = (at ? at : r->text) + strlen(at ? at : r->text) + 1;
	return at < r->text + r->len ? at : NULL;
}

const char *stock_word(const struct stock_call *c, const char *name, const char **pos)
{
	size_t len = strlen(name);

	while ((*pos = word_after(c->r, *pos)))
		if (!strncmp(*pos, name, len) && (*pos)[len] == '=')
			return *pos + len + 1;
	return NULL;
}

const char *stock_text(const struct stock_call *c, const char *name)
{
	const char *pos = NULL, *value = stock_word(c, name, &pos);

	return value ? value : "";
}

int32_t stock_number(const struct stock_call *c, const char *name, int32_t other)
{
	const char *value = stock_text(c, name);

	return *value ? (int32_t)strtol(value, NULL, 10) : other;
}

/* Reads the NIDs of the request. Stock's console supports only 32-bit addresses. */
static int ids_read(struct stock_call *c)
{
	const char *pos = NULL, *text;
	struct lnet_nid nid;

	while (stock_word(c, "nid", &pos))
		c->nr_ids++;
	c->ids = calloc((size_t)c->nr_ids + 1, sizeof(*c->ids));
	if (!c->ids)
		return -ENOMEM;
	c->nr_ids = 0;
	while ((text = stock_word(c, "nid", &pos))) {
		if (lnet_nid_parse(&nid, text) || !lnet_nid_is_nid4(&nid)) {
			fprintf(stderr, "lst: the self-test of stock LNet takes NIDs of 4 bytes, "
				"not '%s'\n", text);
			return -EOPNOTSUPP;
		}
		c->ids[c->nr_ids++] = (struct lnet_lst_id){ lnet_nid_to_nid4(&nid), PID, 0 };
	}
	return 0;
}

/* ---- verbs ----------------------------------------------------------------------------------- */

static int add_named(struct stock_call *c, uint32_t op)
{
	const char *name = stock_text(c, "name");
	struct lnet_lst_named a = { c->key, (int32_t)strlen(name), STOCK_AT(name) };

	return stock_ask(c, op, &a, sizeof(a));
}

static int add_group(struct stock_call *c) { return add_named(c, LNET_LST_GROUP_ADD); }
static int del_group(struct stock_call *c) { return add_named(c, LNET_LST_GROUP_DEL); }
static int add_batch(struct stock_call *c) { return add_named(c, LNET_LST_BATCH_ADD); }

static const struct verb {
	const char *name, *words;	/* accepted arguments, each between blanks */
	int (*serve)(struct stock_call *c);
} verbs[] = {
	{ "new_session", " name timeout feats force ", stock_new_session },
	{ "show_session", "", stock_show_session },
	{ "end_session", "", stock_end_session },
	{ "ping", " group batch server nid wait ", stock_ping },
	{ "add_group", " name ", add_group },
	{ "del_group", " name ", del_group },
	{ "add_nodes", " name nid ", stock_add_nodes },
	{ "update_group", " name op state nid ", stock_update_group },
	{ "list_group", " name ", stock_list_group },
	{ "add_batch", " name ", add_batch },
	{ "list_batch", " name ", stock_list_batch },
	{ "add_test", " batch from to loop concur dist span type opc check size off ",
	  stock_add_test },
	{ "run", " name timeout ", stock_run },
	{ "stop", " name force ", stock_stop },
	{ "query", " name test server wait ", stock_query },
	{ "stat", " group nid wait ", stock_stat },
};

/*
 * Finds the verb of the request. NULL: stock does not have the verb or an argument, and the
 * function has printed an error.
 */
static const struct verb *stock_verb_find(const struct request *r)
{
	const struct verb *v = verbs, *end = verbs + sizeof(verbs) / sizeof(verbs[0]);
	const char *word = NULL;
	char name[32];

	while (v < end && strcmp(v->name, r->text))
		v++;
	if (v == end) {
		fprintf(stderr, "lst: the self-test of stock LNet has no '%s'\n", r->text);
		return NULL;
	}
	while ((word = word_after(r, word))) {
		snprintf(name, sizeof(name), " %.*s ", (int)strcspn(word, "="), word);
		if (!strcmp(name, " key ") || strstr(v->words, name))
			continue;
		fprintf(stderr, "lst: %s of stock LNet's self-test has no '%s'\n", r->text, word);
		return NULL;
	}
	return v;
}

int stock_send(const struct stock_door *door, const struct request *r, struct lnetctl_node **doc)
{
	struct stock_call c = { .door = door, .r = r };
	const struct verb *v = stock_verb_find(r);
	const char *key = stock_text(&c, "key");
	int rc;

	if (!v)
		return -EOPNOTSUPP;
	c.key = (int32_t)(uint32_t)strtoul(key, NULL, 10);
	c.doc = lnetctl_add_map(NULL, NULL);
	rc = c.doc ? ids_read(&c) : -ENOMEM;
	if (!rc)
		rc = v->serve(&c);
	free(c.ids);
	free(c.results);
	if (doc)
		*doc = c.doc;
	else
		lnetctl_doc_free(c.doc);
	return rc;
}
