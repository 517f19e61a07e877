/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members of a self-test that use the core, and the timers of members on either ground. */
#include "tests/sim/ground.h"
#include "lnet/model/model.h"

void sim_member_tick(struct sim_member *m, u64 (*work)(struct lst *st), u64 due_ns)
{
	u64 due;

	if (m->due_ns != due_ns || !m->st)
		return;			/* an earlier time was set meanwhile */
	due = m->dead ? U64_MAX : work(m->st);
	m->due_ns = 0;
	if (due != U64_MAX)
		m->due_ns = max(m->ground->true_ns(m, due), m->w->now_ns + 1);
	if (m->due_ns)
		m->ground->wake(m);
}

static void tick(struct sim_world *w, void *arg, u64 due_ns)
{
	sim_member_tick(arg, lst_work, due_ns);
}

static void wake(struct sim_member *m)
{
	sim_at(m->w, m->due_ns, tick, m, m->due_ns);
}

static void arm(struct lst_host *host)
{
	struct sim_member *m = (struct sim_member *)host;

	m->due_ns = m->w->now_ns + 1;
	wake(m);
}

static int begin(struct sim_world *w, u64 seed, u32 nr_nodes)
{
	int rc = sim_world_init(w, seed, nr_nodes);

	w->nr_rails = 1;
	return rc;
}

static int up(struct sim_world *w, struct sim_member *m, u32 nr_messages)
{
	struct lst_cfg cfg = { .host = &m->host, .nr_messages = nr_messages };
	int rc = sim_node_up(w, m->ix);

	m->w = w;
	m->ground = &sim_core;
	m->host.arm = arm;
	cfg.ln = m->ln = w->node[m->ix].ln;
	return rc ? rc : lst_create(&m->st, &cfg);
}

/* The member neither sends nor receives any more. */
static void kill_member(struct sim_member *m)
{
	struct sim_world *w = m->w;

	if (w->nr_faults == SIM_MAX_FAULTS) {
		sim_fail(w, "more nodes die than there is room for");
		return;
	}
	m->dead = true;
	w->fault[w->nr_faults++] = (struct sim_fault){
		.kind = SIM_CUT, .rail = -1, .node = (s32)m->ix, .peer = -1,
		.from_ns = w->now_ns - SIM_START_NS, .to_ns = U64_MAX };
}

static void stop(struct sim_member *m)
{
	m->dead = false;
	m->w->nr_faults = 0;
	lst_stop(m->st);
}

static void free_member(struct sim_member *m)
{
	sim_node_down(m->w, m->ix);
	if (!lst_stopped(m->st))
		sim_fail(m->w, "node %u did not stop", m->ix);
	m->due_ns = 0;
	lst_free(m->st);
}

static u64 true_ns(const struct sim_member *m, u64 ns)
{
	return ns;
}

static struct sim_traffic traffic(struct sim_member *m, bool reset)
{
	static const char *const names[] = { "send_count", "recv_count", "send_length",
					     "recv_length" };
	struct sim_traffic t;
	uint64_t value[4] = { 0 };
	unsigned int i;

	for (i = 0; i < 4; i++)
		lnet_counter_get(m->ln, names[i], &value[i]);
	t = (struct sim_traffic){ value[0] - m->before.out, value[1] - m->before.in,
				  value[2] + value[3] - m->before.bytes };
	if (reset)
		m->before = (struct sim_traffic){ value[0], value[1], value[2] + value[3] };
	return t;
}

const struct sim_ground sim_core = {
	.name = "core", .begin = begin, .end = sim_world_fini, .up = up, .kill = kill_member,
	.wake = wake, .stop = stop, .free = free_member, .command = lst_command,
	.true_ns = true_ns, .traffic = traffic,
};
