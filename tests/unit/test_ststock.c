/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does ioctl 63 read and write the structures of stock's lst, byte for byte? The offsets are
 * numbers of stock's structures on 64-bit machines, independent of lnet_lst.h.
 */
#include "selftest/stock.h"
#include "st_con.h"

/* The memory of the caller; an access outside of it fails. */
#define BASE	0x7000u
static u8 memory[32768];
static u32 room, nr_touched, fail_at;	/* fail_at: the access that fails, from 1; 0: none */

static u8 *touch(u64 at, u32 len)
{
	if (++nr_touched == fail_at || at < BASE || at - BASE > sizeof(memory) ||
	    len > sizeof(memory) - (at - BASE))
		return NULL;
	return memory + (at - BASE);
}

static int get(void *to, u64 from, u32 len)
{
	const u8 *at = touch(from, len);

	if (at)
		memcpy(to, at, len);
	return at ? 0 : -EFAULT;
}

static int put(u64 to, const void *from, u32 len)
{
	u8 *at = touch(to, len);

	if (at)
		memcpy(at, from, len);
	return at ? 0 : -EFAULT;
}

static const struct lst_stock_caller caller = { .get = get, .put = put };

static u64 place(u32 len)
{
	u64 at = BASE + room;

	room += (len + 7) & ~7u;
	CU_ASSERT_FATAL(room <= sizeof(memory));
	return at;
}

static void set32(u64 at, u32 value) { memcpy(memory + (at - BASE), &value, 4); }
static void set64(u64 at, u64 value) { memcpy(memory + (at - BASE), &value, 8); }

static u32 at32(u64 at)
{
	u32 value;

	memcpy(&value, memory + (at - BASE), 4);
	return value;
}

static u64 at64(u64 at)
{
	u64 value;

	memcpy(&value, memory + (at - BASE), 8);
	return value;
}

static u64 text(const char *s)
{
	u64 at = place(64);

	memcpy(memory + (at - BASE), s, strlen(s) + 1);
	return at;
}

static const char *text_at(u64 at)
{
	return (const char *)memory + (at - BASE);
}

/* 10.0.0.2@tcp for 1. */
static u64 nid_of(unsigned int node)
{
	return 2ULL << 48 | (0x0a000001u + node);
}

/* The arguments of the next request; all earlier ones are discarded. */
static u64 args_at, stat_at;
#define KEY	5

static u64 args(void)
{
	room = 0;
	memset(memory, 0, sizeof(memory));
	stat_at = place(64);
	args_at = place(128);
	set32(args_at, KEY);
	return args_at;
}

static void set_name(u32 len_at, u32 name_at, const char *name)
{
	set32(args_at + len_at, (u32)strlen(name));
	set64(args_at + name_at, text(name));
}

static int ask(u32 op, u32 len)
{
	struct lst_memory view = { 0 };
	struct lst_stock s;
	int rc;

	nr_touched = 0;
	rc = lst_stock_take(&s, &caller, op, args_at, len);
	if (!rc) {
		kfree(cmd.answer);
		cmd = (struct lst_command){ .request = s.words, .len = s.used, .done = on_done,
					    .memory = &view };
		done = false;
		lst_command(st_of(0), &cmd);
		rc = result();
	}
	if (!rc)
		rc = lst_stock_give(&s, &cmd, stat_at, 64);
	lst_stock_end(&s);
	return rc;
}

/* A list of @nr entries with room for @payload bytes each; returns its head. */
static u64 entries[8];
static u64 list(u32 nr, u32 payload)
{
	u64 head = place(16), before = head;
	u32 i;

	for (i = 0; i < nr; i++) {
		entries[i] = place(92 + payload);
		set64(before, entries[i]);
		before = entries[i];
	}
	set64(before, head);
	return head;
}

static u64 ids(u32 nr, unsigned int first)
{
	u64 at = place(16 * nr);
	u32 i;

	for (i = 0; i < nr; i++) {
		set64(at + 16 * i, nid_of(first + i));
		set32(at + 16 * i + 8, 12345);
	}
	return at;
}

/* ---- requests of several cases --------------------------------------------------------------- */

static int session_new(u32 key, u32 force, const char *name)
{
	args();
	set32(args_at, key);
	set32(args_at + 4, 60);
	set32(args_at + 8, force);
	set32(args_at + 12, 1);
	set64(args_at + 16, place(16));
	set_name(24, 32, name);
	return ask(0xC01, 40);
}

static int named(u32 op, const char *name)
{
	args();
	set_name(4, 8, name);
	return ask(op, 16);
}

static int nodes_add(const char *group, u32 nr, unsigned int first)
{
	args();
	set_name(4, 8, group);
	set32(args_at + 16, nr);
	set64(args_at + 24, place(4));
	set64(args_at + 32, ids(nr, first));
	set64(args_at + 40, list(nr, 0));
	return ask(0xC14, 48);
}

static int test_add(const char *from, const char *to, u32 type)
{
	u64 param;

	args();
	set_name(4, 8, "batch");
	set32(args_at + 16, type);
	set32(args_at + 24, (u32)-1);
	set32(args_at + 28, 1);
	set32(args_at + 32, 1);
	set32(args_at + 36, 1);
	set_name(40, 48, from);
	set_name(56, 64, to);
	param = place(24);
	set32(param, 2);
	set32(param + 4, 4096);
	set32(param + 12, 2);
	set32(args_at + 72, 24);
	set64(args_at + 80, param);
	set64(args_at + 88, place(4));
	set64(args_at + 96, list(2, 0));
	return ask(0xC26, 104);
}

static int batch_run(u32 op)
{
	args();
	set_name(8, 16, "batch");
	set64(args_at + 24, list(2, 0));
	return ask(op, 32);
}

static int batch_query(u32 test, u32 client)
{
	args();
	set32(args_at + 4, test);
	set32(args_at + 8, client);
	set32(args_at + 12, 5);
	set_name(16, 24, "batch");
	set64(args_at + 32, list(2, 0));
	return ask(0xC27, 40);
}

static int stat_query(const char *group, u32 nr)
{
	args();
	set32(args_at + 4, 5);
	set_name(8, 16, group);
	set64(args_at + 40, list(nr, 116));
	return ask(0xC30, 48);
}

static void begin(void)
{
	fail_at = 0;
	st_begin(3);
	UNIT_EQUAL(session_new(KEY, 0, "lab"), 0, "session");
}

static void end(void)
{
	kfree(cmd.answer);
	cmd.answer = NULL;
	st_end();
}

/* Group "c" has node 1, "s" has node 2. */
static void two_groups(void)
{
	named(0xC10, "c");
	named(0xC10, "s");
	UNIT_EQUAL(nodes_add("c", 1, 1), 0, "client");
	UNIT_EQUAL(nodes_add("s", 1, 2), 0, "server");
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void sessions(void)
{
	u64 sid, key, feats, counts, name;

	begin();
	UNIT_EQUAL(at64(at64(args_at + 16)), nid_of(0), "who leads it");
	UNIT_EQUAL(session_new(KEY, 0, "other"), -EEXIST, "there is one");
	nodes_add("no", 1, 1);
	args();
	set64(args_at, sid = place(16));
	set64(args_at + 8, key = place(4));
	set64(args_at + 16, feats = place(4));
	set64(args_at + 24, counts = place(20));
	set32(args_at + 32, 32);
	set64(args_at + 40, name = place(32));
	UNIT_EQUAL(ask(0xC03, 48), 0, "shown");
	UNIT_EQUAL(at64(sid), nid_of(0), "console");
	UNIT_EQUAL(at32(key), KEY, "key");
	UNIT_EQUAL(at32(feats), 1, "features");
	UNIT_EQUAL(at32(counts), 0, "nodes");
	UNIT_EQUAL(strcmp(text_at(name), "lab"), 0, "name");
	args();
	set32(args_at, KEY + 1);
	UNIT_EQUAL(ask(0xC02, 4), -EACCES, "another key");
	args();
	UNIT_EQUAL(ask(0xC02, 4), 0, "ended");
	UNIT_EQUAL(named(0xC10, "g"), -ESRCH, "none");
	end();
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void groups(void)
{
	u64 name, counts, index, fit, nodes;

	begin();
	UNIT_EQUAL(named(0xC10, "g"), 0, "made");
	UNIT_EQUAL(named(0xC10, "g"), -EEXIST, "twice");
	UNIT_EQUAL(nodes_add("g", 2, 1), 0, "filled");
	UNIT_EQUAL(at32(at64(args_at + 24)), 1, "features");
	UNIT_EQUAL(at64(entries[0] + 16) == nid_of(1) && at64(entries[1] + 16) == nid_of(2), true,
		   "results, in order");
	UNIT_EQUAL(at32(entries[0] + 24), 12345, "process ID");
	UNIT_EQUAL(at32(entries[0] + 48), 1, "active");
	UNIT_EQUAL(at32(entries[0] + 52) || at32(entries[0] + 72), false, "no errors");
	UNIT_EQUAL(at64(entries[0] + 56), nid_of(0), "whose session");
	UNIT_EQUAL(at32(stat_at) == 2 && at32(stat_at + 4) == 2 && !at32(stat_at + 8), true,
		   "answered");
	UNIT_EQUAL(at32(stat_at + 20), 2, "good");
	args();
	set32(args_at + 8, 32);
	set64(args_at + 16, name = place(32));
	UNIT_EQUAL(ask(0xC11, 24), 0, "the first");
	UNIT_EQUAL(strcmp(text_at(name), "g"), 0, "name");
	set32(args_at + 4, 1);
	UNIT_EQUAL(ask(0xC11, 24), -ENOENT, "no second");
	args();
	set_name(4, 8, "g");
	set64(args_at + 16, counts = place(20));
	set64(args_at + 24, index = place(4));
	set64(args_at + 32, fit = place(4));
	set64(args_at + 40, nodes = place(24 * 2));
	set32(index, 1);
	set32(fit, 2);
	UNIT_EQUAL(ask(0xC12, 48), 0, "shown");
	UNIT_EQUAL(at32(counts) == 2 && at32(counts + 4) == 2, true, "both are active");
	UNIT_EQUAL(at32(index) == 2 && at32(fit) == 1, true, "from the second on");
	UNIT_EQUAL(at64(nodes) == nid_of(2) && at32(nodes + 16) == 1, true, "the second");
	args();
	set32(args_at + 4, 3);
	set_name(12, 16, "g");
	set32(args_at + 24, 1);
	set64(args_at + 32, ids(1, 2));
	set64(args_at + 40, list(1, 0));
	UNIT_EQUAL(ask(0xC15, 48), 0, "one removed");
	args();
	set32(args_at + 4, 1);
	set32(args_at + 8, 1);
	set_name(12, 16, "g");
	UNIT_EQUAL(ask(0xC15, 48), 0, "the active ones cleaned");
	UNIT_EQUAL(named(0xC13, "g"), 0, "deleted");
	UNIT_EQUAL(named(0xC13, "g"), -ENOENT, "gone");
	end();
}

/* A node of another console, and one that does not answer. */
static void bad_nodes(void)
{
	begin();
	tell(1, "new_session|name=mine|key=8|");
	tell(1, "add_group|key=8|name=g|");
	tell(1, "add_nodes|key=8|name=g|nid=10.0.0.3@tcp|");
	named(0xC10, "g");
	UNIT_EQUAL(nodes_add("g", 1, 2), 0, "asked");
	UNIT_EQUAL(at32(entries[0] + 72), EBUSY, "busy");
	UNIT_EQUAL(at32(entries[0] + 48), 2, "its state");
	UNIT_EQUAL(at32(stat_at + 24), 1, "counted");
	UNIT_EQUAL(at32(stat_at + 52), EBUSY, "the first error");
	args();
	set32(args_at + 4, 2);
	set32(args_at + 12, 5);
	set_name(16, 24, "g");
	set64(args_at + 48, list(1, 32));
	UNIT_EQUAL(ask(0xC00, 56), 0, "debug");
	UNIT_EQUAL(strcmp(text_at(entries[0] + 92), "mine"), 0, "the name of its session");
	UNIT_EQUAL(at64(entries[0] + 56), nid_of(1), "whose it is");
	UNIT_EQUAL(at32(stat_at + 24), 1, "busy");
	UNIT_EQUAL(tell(0, "list_group|key=5|") || !said("Busy"), false, "as it is listed");
	UNIT_EQUAL(nodes_add("g", 1, 40), 0, "asked");
	UNIT_EQUAL(at32(entries[0] + 52) > 0 && at32(entries[0] + 48) == 4, true, "down");
	UNIT_EQUAL(at32(stat_at + 8) == 1 && at32(stat_at + 16) == at32(entries[0] + 52), true,
		   "an error of the transfer");
	end();
}

/* ---- batches and tests ----------------------------------------------------------------------- */

static void batches(void)
{
	u64 side, index, fit, nodes;

	begin();
	two_groups();
	UNIT_EQUAL(named(0xC20, "b"), 0, "made");
	UNIT_EQUAL(named(0xC20, "b"), -EEXIST, "twice");
	UNIT_EQUAL(named(0xC23, "b"), 0, "deleted");
	UNIT_EQUAL(test_add("c", "s", 2), 0, "ping");
	UNIT_EQUAL(at32(stat_at), 1, "the client has it");
	UNIT_EQUAL(test_add("c", "s", 1), 0, "brw");
	UNIT_EQUAL(test_add("c", "s", 3), -EINVAL, "no such type");
	UNIT_EQUAL(test_add("c", "x", 2), -ENOENT, "no such group");
	UNIT_EQUAL(named(0xC23, "batch"), -EBUSY, "it has tests");
	args();
	set_name(4, 8, "batch");
	set32(args_at + 16, 1);
	set32(args_at + 20, 2);
	set64(args_at + 24, side = place(52));
	set64(args_at + 32, index = place(4));
	set64(args_at + 40, fit = place(4));
	set64(args_at + 48, nodes = place(24 * 4));
	set32(fit, 4);
	UNIT_EQUAL(ask(0xC25, 56), 0, "a test shown");
	UNIT_EQUAL(at32(side) == 1 && at32(side + 20) == 1, true, "both sides");
	UNIT_EQUAL(at32(side + 40) == 1 && at32(side + 44) == (u32)-1 && at32(side + 48) == 1,
		   true, "type, loop, concurrency");
	UNIT_EQUAL(at64(nodes) == nid_of(2) && at32(fit) == 1, true, "its server");
	set32(args_at + 20, 0);
	set32(index, 0);
	set32(fit, 4);
	UNIT_EQUAL(ask(0xC25, 56), 0, "all of it");
	UNIT_EQUAL(at32(side + 40) == 0xB0 && at32(side + 48) == 2, true, "idle, two tests");
	set32(args_at + 20, 3);
	UNIT_EQUAL(ask(0xC25, 56), -ENOENT, "no third");
	end();
}

static void running(void)
{
	begin();
	two_groups();
	UNIT_EQUAL(batch_run(0xC21), 0, "nothing to run");
	test_add("c", "s", 2);
	UNIT_EQUAL(batch_run(0xC21), 0, "run");
	UNIT_EQUAL(at32(stat_at + 20), 1, "one began");
	UNIT_EQUAL(batch_query(0, 1), 0, "query");
	UNIT_EQUAL(at32(entries[0] + 76), 1, "active");
	UNIT_EQUAL(at32(stat_at + 20) == 0 && at32(stat_at + 24) == 1, true, "counted as running");
	UNIT_EQUAL(batch_query(1, 0), 0, "the server of a test");
	UNIT_EQUAL(at64(entries[0] + 16), nid_of(2), "which that is");
	UNIT_EQUAL(batch_query(9, 1), -ENOENT, "no such test");
	st_run(NSEC_PER_SEC / 10);
	UNIT_EQUAL(stat_query("c", 1), 0, "counters");
	UNIT_EQUAL(at32(entries[0] + 92) >= 100, true, "milliseconds of the session");
	UNIT_EQUAL(at32(entries[0] + 92 + 24) > 0, true, "requests sent");
	UNIT_EQUAL(at32(entries[0] + 92 + 68) > 0, true, "messages sent");
	UNIT_EQUAL(batch_run(0xC22), 0, "stop");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(batch_query(0, 1), 0, "query");
	UNIT_EQUAL(at32(entries[0] + 76) == 0 && at32(stat_at + 20) == 1, true, "idle");
	end();
}

/* ---- requests that no tool sends ------------------------------------------------------------- */

static void lists(void)
{
	begin();
	two_groups();
	named(0xC10, "all");
	args();
	set_name(4, 8, "all");
	set32(args_at + 16, 2);
	set64(args_at + 32, ids(2, 1));
	set64(args_at + 40, 16);
	UNIT_EQUAL(ask(0xC14, 48), -EFAULT, "a head that is not there");
	stat_query("c", 1);
	set64(entries[0], entries[0]);
	UNIT_EQUAL(ask(0xC30, 48), 0, "an entry that leads to itself");
	stat_query("c", 0);
	UNIT_EQUAL(ask(0xC30, 48), 0, "no entry");
	stat_query("c", 1);
	set64(at64(args_at + 40), 0);
	UNIT_EQUAL(ask(0xC30, 48), -EFAULT, "one at zero");
	stat_query("c", 1);
	set64(at64(args_at + 40), ~0ULL);
	UNIT_EQUAL(ask(0xC30, 48), -EFAULT, "one at the end of all");
	end();
}

static void lengths(void)
{
	begin();
	UNIT_EQUAL(ask(0xC40, 128), -EOPNOTSUPP, "no such operation");
	args();
	set_name(4, 8, "g");
	UNIT_EQUAL(ask(0xC10, 15), -EINVAL, "short");
	set32(args_at + 4, 33);
	UNIT_EQUAL(ask(0xC10, 16), -EINVAL, "a long name");
	set32(args_at + 4, 0);
	UNIT_EQUAL(ask(0xC10, 16), -EINVAL, "none");
	set32(args_at + 4, (u32)-1);
	UNIT_EQUAL(ask(0xC10, 16), -EINVAL, "less than none");
	args();
	set_name(4, 8, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	UNIT_EQUAL(ask(0xC10, 16), -EINVAL, "32 bytes without an end");
	named(0xC10, "g");
	args();
	set_name(4, 8, "g");
	set32(args_at + 16, 0x7fffffff);
	set64(args_at + 32, ids(1, 1));
	UNIT_EQUAL(ask(0xC14, 48), -EINVAL, "more nodes than anybody has");
	end();
}

/* Each access to memory fails once. */
static void faults(void)
{
	u32 i;
	int rc;

	begin();
	two_groups();
	test_add("c", "s", 1);
	for (i = 1, rc = -EFAULT; rc == -EFAULT && i < 20; i++) {
		stat_query("c", 1);
		fail_at = i;
		rc = ask(0xC30, 48);
		fail_at = 0;
	}
	UNIT_EQUAL(rc, 0, "at last");
	UNIT_EQUAL(i - 2, 7, "arguments, name, head, result, payload, next, statistics");
	end();
}

static void rc_is_known(int rc, u32 *good)
{
	if (rc > 0 || rc < -4095)
		CU_FAIL("no errno");
	*good += !rc;
}

static void garbage(void)
{
	static const u32 ops[] = { 0xC00, 0xC01, 0xC02, 0xC03, 0xC10, 0xC11, 0xC12, 0xC13, 0xC14,
				   0xC15, 0xC20, 0xC21, 0xC22, 0xC23, 0xC24, 0xC25, 0xC26, 0xC27,
				   0xC30 };
	u32 seed = 7, i, k, good = 0;

	begin();
	two_groups();
	for (i = 0; i < 4000; i++) {
		args();
		for (k = 4; k < 128; k += 4) {
			seed = seed * 1664525u + 1013904223u;
			set32(args_at + k, seed >> 30 ? seed >> 28 : BASE + (seed >> 8) % 512);
			if (k % 8 && !(seed & 3))
				set32(args_at + k, 0);
		}
		memcpy(memory + 256, "c", 2);
		rc_is_known(ask(ops[i % ARRAY_SIZE(ops)], 128), &good);
	}
	UNIT_EQUAL(good > 0, true, "some make sense");
	args();
	UNIT_EQUAL(ask(0xC02, 4) <= 0, true, "it answers");
	end();
}

UNIT_SUITE(ststock,
	   { "sessions: new, info, end", sessions },
	   { "groups: add, list, info, nodes, update, del", groups },
	   { "a busy node and one that is down: results and statistics", bad_nodes },
	   { "batches: add, del, test, info", batches },
	   { "batches: start, query, counters, stop", running },
	   { "lists of results that are none", lists },
	   { "lengths and names that are none", lengths },
	   { "every access to memory fails once", faults },
	   { "garbage", garbage })
