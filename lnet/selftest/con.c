/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Executes commands to the console: reads their arguments, sends requests to nodes in steps, and
 * writes a text as reply.
 */
#include "con.h"

#define TEXT_MIN	512U
#define TEXT_MAX	(16U << 20)

static const struct verb {
	const char *name;
	int (*run)(struct con_cmd *cmd);
	bool changes;
} verbs[] = {
#define VERB(name, changes)	{ #name, con_##name, changes },
#include "verbs.def"
#undef VERB
};

/* ---- arguments and text ---------------------------------------------------------------------- */

const char *con_word(const struct con_cmd *cmd, const char *name, const char **pos)
{
	const char *end = cmd->user->request + cmd->user->len;
	const char *at = *pos ? *pos : cmd->user->request + strlen(cmd->user->request) + 1;
	size_t len = strlen(name);

	for (; at < end; at += strlen(at) + 1) {
		if (strncmp(at, name, len) || at[len] != '=')
			continue;
		*pos = at + strlen(at) + 1;
		return at + len + 1;
	}
	return NULL;
}

int con_number(const struct con_cmd *cmd, const char *name, s64 lo, s64 hi, s64 *value)
{
	const char *text = con_text(cmd, name);
	long long num;

	if (!text)
		return 0;
	if (kstrtoll(text, 10, &num) || num < lo || num > hi)
		return -EINVAL;
	*value = num;
	return 0;
}

static bool text_grow(struct lst_command *user, u32 more)
{
	u32 size = max(2 * user->size, TEXT_MIN);
	char *text;

	while (size < user->used + more + 1)
		size *= 2;
	if (size > TEXT_MAX)
		return false;
	text = krealloc(user->answer, size, GFP_NOWAIT);
	if (!text)
		return false;
	user->answer = text;
	user->size = size;
	return true;
}

/* Appends @data to the reply, and a zero byte that the length of the reply does not include. */
static void command_append(struct lst_command *user, const void *data, u32 len)
{
	if (user->used + len + 1 > user->size && !text_grow(user, len)) {
		user->status = -ENOMEM;
		return;
	}
	memcpy(user->answer + user->used, data, len);
	user->used += len;
	user->answer[user->used] = 0;
}

void con_say(struct con_cmd *cmd, const char *fmt, ...)
{
	char line[640];
	va_list args;
	u32 len;

	if (cmd->user->memory)
		return;
	va_start(args, fmt);
	len = (u32)vscnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	command_append(cmd->user, line, len);
}

void con_put(struct con_cmd *cmd, const void *data, u32 len)
{
	if (cmd->user->memory)
		command_append(cmd->user, data, len);
}

/* ---- steps ----------------------------------------------------------------------------------- */

struct con_session *con_session(const struct con_cmd *cmd)
{
	struct con_session *s = cmd->st->con;

	return s && s->generation == cmd->generation ? s : NULL;
}

static void rpcs_free(struct con_cmd *cmd, struct list_head *list)
{
	struct con_rpc *r, *next;

	list_for_each_entry_safe(r, next, list, link) {
		con_node_put(con_session(cmd), r->node);
		kfree(r->bulk);
		kfree(r);
	}
	INIT_LIST_HEAD(list);
}

/* Calls done(), which returns ownership of the command to its sender. */
static void finish_run(struct lst_job *job)
{
	struct con_cmd *cmd = container_of(job, struct con_cmd, job);
	struct lst_command *user = cmd->user;
	struct lst *st = cmd->st;

	kfree(cmd);
	user->done(user);
	spin_lock(&st->lock);
	st->nr_commands--;
	spin_unlock(&st->lock);
}

void con_finish_locked(struct con_cmd *cmd, int rc)
{
	if (!rc)
		con_stock_end(cmd);
	rpcs_free(cmd, &cmd->answered);
	rpcs_free(cmd, &cmd->kept);
	list_del(&cmd->link);
	if (!cmd->user->status)
		cmd->user->status = rc;
	lst_queue_locked(cmd->st, &cmd->job, finish_run);
}

/* Runs the next step of a command, after all nodes have replied. */
static void step_locked(struct con_cmd *cmd)
{
	int rc;

	rpcs_free(cmd, &cmd->answered);
	list_splice_tail_init(&cmd->asked, &cmd->answered);
	cmd->nr_asked = 0;
	rc = con_session(cmd) ? cmd->next(cmd) : -ESRCH;
	if (rc != -EINPROGRESS)
		con_finish_locked(cmd, rc);
}

static void step_run(struct lst_job *job)
{
	struct con_cmd *cmd = container_of(job, struct con_cmd, job);

	spin_lock(&cmd->st->lock);
	step_locked(cmd);
	spin_unlock(&cmd->st->lock);
}

int con_then(struct con_cmd *cmd, int (*next)(struct con_cmd *cmd))
{
	cmd->next = next;
	if (!cmd->nr_left)
		lst_queue_locked(cmd->st, &cmd->job, step_run);
	return -EINPROGRESS;
}

void con_answered(struct con_cmd *cmd)
{
	if (!--cmd->nr_left)
		lst_queue_locked(cmd->st, &cmd->job, step_run);
}

static void on_con_rpc_done(struct lst_rpc *rpc)
{
	struct con_rpc *r = container_of(rpc, struct con_rpc, rpc);
	struct con_cmd *cmd = r->cmd;
	struct lst *st = cmd->st;

	r->rc = lst_rpc_result(rpc, &r->rpy);
	spin_lock(&st->lock);
	if (con_session(cmd))
		con_node_heard(st, r->node, rpc, r->rc, &r->rpy);
	con_answered(cmd);
	spin_unlock(&st->lock);
}

int con_ask(struct con_cmd *cmd, struct con_node *node, struct lst_msg *req, void *bulk,
	    u32 bulk_len)
{
	struct con_rpc *r = kzalloc(sizeof(*r), GFP_NOWAIT);

	if (!r) {
		kfree(bulk);
		return -ENOMEM;
	}
	con_node_hold(node);
	r->cmd = cmd;
	r->node = node;
	lst_rpc_init_locked(&r->rpc, cmd->st, &node->id);
	r->rpc.done = on_con_rpc_done;
	r->bulk = bulk;
	r->rpc.bulk = bulk;
	r->rpc.bulk_len = bulk_len;
	r->rpc.bulk_options = LNET_MD_OP_GET;
	if (bulk)
		req->test_req.bulkid = r->rpc.bulkid;
	list_add_tail(&r->link, &cmd->asked);
	cmd->nr_asked++;
	cmd->nr_left++;
	lst_rpc_post_locked(&r->rpc, req, cmd->timeout_ns);
	return 0;
}

struct con_rpc *con_ask_put(struct con_cmd *cmd, struct con_node *node, struct lst_msg *req,
			    u32 len)
{
	void *mem = kzalloc(len, GFP_NOWAIT);
	struct con_rpc *r;

	if (!mem || con_ask(cmd, node, req, mem, len))
		return NULL;
	r = list_last_entry(&cmd->asked, struct con_rpc, link);
	r->rpc.bulk_options = LNET_MD_OP_PUT;
	return r;
}

int con_rpc_error(const struct con_rpc *r)
{
	if (r->rc)
		return r->rc;
	return r->rpy.status ? -(int)min(r->rpy.status, 4095u) : 0;
}

u32 con_say_errors(struct con_cmd *cmd, const char *what)
{
	char id[CON_ID_SIZE];
	struct con_rpc *r;
	u32 nr = 0;

	list_for_each_entry(r, &cmd->answered, link) {
		if (!con_rpc_error(r))
			continue;
		con_say(cmd, "%s- {id: \"%s\", what: \"%s\", errno: %d, remote: %s, "
			"owner: \"%s\"}\n", nr++ ? "" : "errors:\n", con_node_id(r->node, id), what,
			-con_rpc_error(r), r->rc ? "false" : "true",
			r->rc ? "" : r->node->owner);
	}
	return nr;
}

/*
 * Lists the commands in progress, with the numbers of sent and of unanswered requests. This command
 * does not keep the session alive.
 */
int con_progress(struct con_cmd *cmd)
{
	const struct con_cmd *other;
	const char *name;

	con_say(cmd, "commands:%s\n", list_is_singular(&cmd->st->commands) ? " []" : "");
	list_for_each_entry(other, &cmd->st->commands, link) {
		name = other->user->request;
		if (other != cmd)
			con_say(cmd, "- {verb: \"%s\", asked: %u, left: %u}\n",
				*name ? name : "pinger", other->nr_asked, other->nr_left);
	}
	return 0;
}

/* ---- entry ----------------------------------------------------------------------------------- */

static const struct verb *console_verb_find(const struct lst_command *user)
{
	unsigned int i;

	if (!user->len || user->request[user->len - 1])
		return NULL;
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, user->request))
			return &verbs[i];
	return NULL;
}

bool lst_command_changes(const struct lst_command *user)
{
	const struct verb *verb = console_verb_find(user);

	return !verb || verb->changes;
}

/* Verbs that need no session. */
static bool is_free(const struct verb *verb)
{
	return verb->run == con_new_session || verb->run == con_show_session ||
	       verb->run == con_progress || verb->run == con_alone_start ||
	       verb->run == con_alone_stop || verb->run == con_alone_tally;
}

/* Finds the session that the argument "key" selects. Some verbs need no session. */
static int verb_begin_locked(struct con_cmd *cmd, const struct verb *verb)
{
	struct con_session *s = cmd->st->con;
	s64 key = -1, wait = CON_WAIT;

	if (cmd->st->stopping)
		return -ESHUTDOWN;
	if (con_number(cmd, "key", 0, U32_MAX, &key) || con_number(cmd, "wait", 1, 3600, &wait))
		return -EINVAL;
	cmd->timeout_ns = (u64)wait * NSEC_PER_SEC;
	if (is_free(verb))
		return 0;
	if (!s)
		return -ESRCH;
	if (key != s->key)
		return -EACCES;
	s->used_ns = lst_now(cmd->st);
	cmd->generation = s->generation;
	return 0;
}

void lst_command(struct lst *st, struct lst_command *user)
{
	const struct verb *verb = console_verb_find(user);
	struct con_cmd *cmd = kzalloc(sizeof(*cmd), GFP_KERNEL);
	int rc;

	user->answer = NULL;
	user->size = user->used = 0;
	user->status = 0;
	if (!cmd || !verb) {
		kfree(cmd);
		user->status = verb ? -ENOMEM : -EOPNOTSUPP;
		user->done(user);
		return;
	}
	cmd->st = st;
	cmd->user = user;
	cmd->own_nid = con_own_nid(st);
	INIT_LIST_HEAD(&cmd->asked);
	INIT_LIST_HEAD(&cmd->answered);
	INIT_LIST_HEAD(&cmd->kept);
	lst_enter(st);
	list_add_tail(&cmd->link, &st->commands);
	st->nr_commands++;
	rc = verb_begin_locked(cmd, verb);
	if (!rc)
		rc = verb->run(cmd);
	if (rc != -EINPROGRESS)
		con_finish_locked(cmd, rc);
	spin_unlock(&st->lock);
	lst_run(st);
}
