/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Do commands of lnetctl on interfaces take effect on a stock module? A node replaces the module.
 * As stock does, it ignores a NID that it does not have, and it ignores connections of one net.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include "ctl_world.h"
#include "no_family.h"
#include "unit.h"

static struct world world;
static struct lnetctl *c;
static struct stock stock;		/* nothing here needs an ioctl or a parameter */
static unsigned int nr_set, nr_wildcards;
static int err;				/* of the @err_at-th request that sets something, from 1 */
static unsigned int err_at;

static bool has_text(const void *msg, size_t len, const char *text)
{
	return memmem(msg, len, text, strlen(text)) != NULL;
}

static int verdict(const struct nlmsghdr *h, int error, lnetctl_reply_fn reply, void *to)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} end = { .h = { .nlmsg_len = sizeof(end), .nlmsg_type = NLMSG_ERROR,
			 .nlmsg_flags = NLM_F_CAPPED, .nlmsg_seq = h->nlmsg_seq },
		  .e = { .error = error } };

	return reply(to, &end, sizeof(end));
}

static int serve(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply, void *to)
{
	const struct nlmsghdr *h = msg;
	u8 cmd = ((const struct genlmsghdr *)NLMSG_DATA(h))->cmd;

	if (cmd > LNET_NL_STATS)
		return no_family_ask(NULL, msg, len, reply, to);
	if (cmd != LNET_NL_NETS || h->nlmsg_flags & NLM_F_CREATE ||
	    !(h->nlmsg_flags & NLM_F_REPLACE) || (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		return ctl_world_serve(arg, msg, len, reply, to);
	nr_wildcards += has_text(msg, len, "<?>");
	if (++nr_set == err_at)
		return verdict(h, err, reply, to);
	if ((has_text(msg, len, "conns_per_peer") && !has_text(msg, len, "<255:65535>")) ||
	    has_text(msg, len, "10.0.77.1@tcp"))
		return verdict(h, 0, reply, to);
	return ctl_world_serve(arg, msg, len, reply, to);
}

static void begin(void)
{
	ctl_world_begin(&world);
	nr_set = nr_wildcards = err_at = 0;
	c = lnetctl_open_local(serve, &world);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	c->stock = &stock;
	UNIT_EQUAL(ctl_net_add(&world, "tcp", "eth2"), 0, "tcp");
	UNIT_EQUAL(ctl_net_add(&world, "tcp1", "eth3,eth4"), 0, "tcp1");
}

static void end(void)
{
	lnetctl_close(c);
	ctl_world_end(&world);
}

static int64_t value(const char *net, unsigned int interface, const char *group, const char *key)
{
	struct lnetctl_node *doc, *n;
	int64_t num = -1;

	UNIT_EQUAL(lnetctl_net_show(world.c, net, 2, false, &doc), 0, net);
	n = lnetctl_find(doc, "net");
	n = n ? lnetctl_find(n->first, "local NI(s)") : NULL;
	for (n = n ? n->first : NULL; n && interface; interface--)
		n = n->next;
	lnetctl_num(lnetctl_find(lnetctl_find(n, group), key), &num);
	lnetctl_doc_free(doc);
	return num;
}

static int64_t health(const char *net, unsigned int interface)
{
	return value(net, interface, "health stats", "health value");
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void one_net(void)
{
	begin();
	UNIT_EQUAL(lnetctl_net_set_on(c, "tcp1", 600, LNETCTL_UNSET), 0, "health");
	UNIT_EQUAL(health("tcp1", 0), 600, "the first of the net");
	UNIT_EQUAL(health("tcp1", 1), 600, "the second");
	UNIT_EQUAL(health("tcp", 0), 1000, "another net");
	UNIT_EQUAL(nr_set, 2, "a request for each");
	UNIT_EQUAL(nr_wildcards, 0, "none for all NIDs");
	UNIT_EQUAL(lnetctl_net_set_on(c, "tcp1", LNETCTL_UNSET, 3), 0, "connections");
	UNIT_EQUAL(nr_set == 3 && nr_wildcards == 1, true, "one request for all nets");
	UNIT_EQUAL(lnetctl_net_set_on(c, "tcp9", LNETCTL_UNSET, 3), -EINVAL, "connections, no net");
	UNIT_EQUAL(nr_set, 3, "nothing is sent");
	UNIT_EQUAL(lnetctl_net_set_on(c, "tcp9", 600, LNETCTL_UNSET), -EINVAL, "no such net");
	UNIT_TEXT(lnetctl_error(c)->text, "there is no net 'tcp9'", "its text");
	err_at = nr_set + 2;
	err = -EINVAL;
	UNIT_EQUAL(lnetctl_net_set_on(c, "tcp1", 700, LNETCTL_UNSET), -EINVAL, "the second fails");
	UNIT_EQUAL(nr_set, err_at, "and is the last");
	end();
}

static void one_nid(void)
{
	begin();
	UNIT_EQUAL(lnetctl_net_set(c, "10.0.3.1@tcp1", 500, LNETCTL_UNSET), 0, "a NID");
	UNIT_EQUAL(health("tcp1", 0), 500, "it is set");
	UNIT_EQUAL(health("tcp1", 1), 1000, "the other one is not");
	UNIT_EQUAL(lnetctl_net_set(c, "10.0.77.1@tcp", 500, LNETCTL_UNSET), -ENOENT, "no such NID");
	UNIT_TEXT(lnetctl_error(c)->text, "there is no interface 10.0.77.1@tcp", "its text");
	UNIT_EQUAL(nr_set, 1, "nothing is sent for it");
	UNIT_EQUAL(lnetctl_net_set(c, "10.0.3.1@tcp1", LNETCTL_UNSET, 3), -EOPNOTSUPP,
		   "connections of one NID");
	UNIT_EQUAL(nr_set, 1, "nothing is sent for them");
	UNIT_EQUAL(lnetctl_net_set(c, NULL, 400, LNETCTL_UNSET), 0, "all");
	UNIT_EQUAL(nr_wildcards, 1, "one request for all NIDs of all nets");
	end();
}

UNIT_SUITE(stock_net,
	   { "values for a net are set at each of its interfaces", one_net },
	   { "values for a NID are set at it, and an unknown one is an error", one_nid })
