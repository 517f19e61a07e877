/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes changes of the configuration to the log: the request and its sender. */
#include "control/command.h"
#include "shard/shard.h"

#define WORDS_MAX 160

/* Fault rules have separate messages. */
static const struct {
	u8 cmd;
	/* names of the command: @add with the flag CREATE, @set with REPLACE, @del with neither */
	const char *add, *set, *del;
} changes[] = {
	{ LNET_NL_CONFIGURE, "lnet configure", "lnet configure", "lnet unconfigure" },
	{ LNET_NL_NETS, "net add", "net set", "net del" },
	{ LNET_NL_PEERS, "peer add", "peer set", "peer del" },
	{ LNET_NL_ROUTES, "route add", "route set", "route del" },
	{ LNET_NL_UDSP, "udsp add", "udsp set", "udsp del" },
	{ LNET_NL_PEER_FAIL, "fault peer", "fault peer", "fault peer" },
	{ LNET_NL_ROUTING, "routing", "set routing", "routing" },
	{ LNET_NL_BUFFERS, "buffers", "set buffers", "buffers" },
	{ LNET_NL_NUMA, "set numa_range", "set numa_range", "set numa_range" },
	{ LNET_NL_TUNABLES, "set", "set", "set" },
	{ LNET_NL_STATS_RESET, "stats reset", "stats reset", "stats reset" },
};

static const char *change_name(const struct lnet_ctl_req *req)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		if (changes[i].cmd != req->cmd)
			continue;
		if (req->flags & LNET_NL_F_CREATE)
			return changes[i].add;
		return req->flags & LNET_NL_F_REPLACE ? changes[i].set : changes[i].del;
	}
	return NULL;
}

struct text {
	char to[WORDS_MAX];
	int len;
};

/*
 * Writes keys and values in the order of the request: "net type tcp, local NI(s) interfaces 0
 * eth0".
 */
static void list_write(struct text *t, struct lnet_req r, unsigned int depth)
{
	struct lnet_val v;
	const char *before;
	unsigned int nr;
	size_t room;

	for (nr = 0; lnet_req_next(&r, &v) && t->len < WORDS_MAX - 1; nr++) {
		before = !t->len ? "" : nr && !(nr & 1) ? ", " : " ";
		room = sizeof(t->to) - (size_t)t->len;
		if (v.kind == LNET_VAL_INT)
			t->len += scnprintf(t->to + t->len, room, "%s%lld", before,
					    (long long)v.num);
		else if (v.kind == LNET_VAL_TEXT && *v.text)
			t->len += scnprintf(t->to + t->len, room, "%s%s", before, v.text);
		else if (v.kind == LNET_VAL_LIST && depth < LNET_NL_DEPTH_MAX)
			list_write(t, v.list, depth + 1);
	}
}

void lnet_ctl_log_change(struct lnet_control *ctl, const struct lnet_ctl_req *req)
{
	const char *name = change_name(req);
	struct text t = { .len = 0 };

	if (!name || !lnet_log_is_on(ctl->ln))
		return;
	list_write(&t, lnet_ctl_attrs(req), 0);
	lnet_log_config(ctl->ln, name, t.to);
}

void lnet_ctl_log_by(struct lnet_control *ctl, const struct lnet_ctl_req *req)
{
	char *by = ctl->ln->log.by;

	if (!req)
		by[0] = 0;
	else if (req->pid)
		scnprintf(by, LNET_LOG_BY_MAX, ", by uid %u, pid %u", req->uid, req->pid);
	else
		scnprintf(by, LNET_LOG_BY_MAX, ", by the node itself");
}
