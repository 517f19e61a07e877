/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of lnet/memory/md.c, handle.c and match.c: which MDs may be created, how they are
 * exhausted, and which event is the last.
 */
#include "md_world.h"

static const struct lnet_process anyone = { .nid.size = 0xff,
					    .nid.type = LNET_LND_ANY,
					    .pid = LNET_PID_ANY };
static char memory[256];

static lnet_me_t attach_me(struct mw *w, u32 portal, enum lnet_unlink unlink)
{
	lnet_me_t me = { 0 };

	UNIT_EQUAL(lnet_me_attach(&w->ln, portal, &anyone, 1, 0, unlink, LNET_INS_AFTER, &me), 0,
		   "ME");
	return me;
}

/* ---- creation -------------------------------------------------------------------------------- */

static const struct lnet_frag two[] = { { memory, 100 }, { memory + 128, 50 } };
static const struct lnet_frag hole[] = { { memory, 100 }, { NULL, 50 } };
static const struct lnet_frag huge[] = { { memory, 0x80000000U }, { memory, 0x80000000U } };

static const struct {
	const char *name;
	struct lnet_md_cfg cfg;
	int bind, attach;		/* expected results; attach adds OP_PUT if @op is 0 */
	u32 op;
	u32 length;			/* of the created MD */
} cfg_rows[] = {
	{ "plain", { .start = memory, .length = 256, .threshold = 1 }, 0, 0, 0, 256 },
	{ "endless",
	  { .start = memory, .length = 256, .threshold = LNET_THRESHOLD_INF },
	  0,
	  0,
	  0,
	  256 },
	{ "threshold -2", { .start = memory, .length = 256, .threshold = -2 }, -EINVAL, -EINVAL },
	{ "empty", { .threshold = 1 }, 0, 0, 0, 0 },
	{ "no memory but a length", { .length = 1, .threshold = 1 }, -EINVAL, -EINVAL },
	{ "fragments",
	  { .frags = two, .nr_frags = 2, .threshold = 1, .options = LNET_MD_KIOV },
	  0,
	  0,
	  0,
	  150 },
	{ "one fragment", { .frags = two, .nr_frags = 1, .threshold = 1 }, 0, 0, 0, 100 },
	{ "no fragments", { .frags = two, .nr_frags = 0, .threshold = 1 }, 0, 0, 0, 0 },
	{ "257 fragments",
	  { .frags = two, .nr_frags = 257, .threshold = 1, .options = LNET_MD_KIOV },
	  -EINVAL,
	  -EINVAL },
	{ "KIOV without fragments",
	  { .start = memory, .length = 8, .options = LNET_MD_KIOV },
	  -EINVAL,
	  -EINVAL },
	{ "a fragment without memory", { .frags = hole, .nr_frags = 2 }, -EINVAL, -EINVAL },
	{ "4 GiB of fragments", { .frags = huge, .nr_frags = 2 }, -EINVAL, -EINVAL },
	{ "max_size = length",
	  { .start = memory, .length = 256, .max_size = 256, .options = LNET_MD_MAX_SIZE },
	  0,
	  0,
	  0,
	  256 },
	{ "max_size > length",
	  { .start = memory, .length = 256, .max_size = 257, .options = LNET_MD_MAX_SIZE },
	  -EINVAL,
	  -EINVAL },
	{ "max_size unused", { .start = memory, .length = 256, .max_size = 257 }, 0, 0, 0, 256 },
	{ "1 MiB", { .start = memory, .length = 1048576 }, 0, 0, 0, 1048576 },
	{ "more than 1 MiB", { .start = memory, .length = 1048577 }, -EINVAL, 0, 0, 1048577 },
	{ "with GET", { .start = memory, .length = 8 }, -EINVAL, 0, LNET_MD_OP_GET, 8 },
	{ "with PUT", { .start = memory, .length = 8 }, -EINVAL, 0, LNET_MD_OP_PUT, 8 },
};

static void test_make(void)
{
	struct mw w;
	u32 i;

	mw_init(&w);
	for (i = 0; i < ARRAY_SIZE(cfg_rows); i++) {
		struct lnet_md_cfg cfg = cfg_rows[i].cfg;
		lnet_me_t me = attach_me(&w, 5, LNET_RETAIN);
		lnet_md_t md = { 0 };

		cfg.options |= cfg_rows[i].op;
		UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &md), cfg_rows[i].bind,
			   cfg_rows[i].name);
		if (!cfg_rows[i].bind)
			UNIT_EQUAL(mw_md(&w, md)->length, cfg_rows[i].length, cfg_rows[i].name);
		cfg.options |= cfg_rows[i].op ? 0 : LNET_MD_OP_PUT;
		UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_RETAIN, &md), cfg_rows[i].attach,
			   cfg_rows[i].name);
		UNIT_EQUAL(mw_me_exists(&w, me), cfg_rows[i].attach == 0, cfg_rows[i].name);
		if (!cfg_rows[i].attach)
			UNIT_EQUAL(mw_md(&w, md)->length, cfg_rows[i].length, cfg_rows[i].name);
	}
	mw_fini(&w);
}

static void test_attach(void)
{
	struct lnet_md_cfg cfg = { .start = memory, .length = 8, .threshold = 1 };
	lnet_md_t md = { 0 }, other = { 0 };
	lnet_me_t me, gone;
	struct mw w;

	mw_init(&w);
	me = attach_me(&w, 5, LNET_RETAIN);
	UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_RETAIN, &md), -EINVAL,
		   "neither PUT nor GET");
	UNIT_EQUAL(mw_me_exists(&w, me), 0, "the ME goes too");
	UNIT_EQUAL(lnet_me_unlink(&w.ln, me), -ENOENT, "and its handle");
	cfg.options = LNET_MD_OP_PUT;
	UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_RETAIN, &md), -ENOENT, "to nothing");
	me = attach_me(&w, 5, LNET_RETAIN);
	UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_RETAIN, &md), 0, "good");
	UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_RETAIN, &other), -EBUSY, "second MD");
	cfg.options = 0;
	UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_RETAIN, &other), -EINVAL, "bad second MD");
	UNIT_EQUAL(mw_me_exists(&w, me), 1, "an ME with an MD stays");
	UNIT_EQUAL(mw_md(&w, md) != NULL, 1, "and so does the MD");
	/* Handles: stale ones, of the other kind, and garbage. */
	gone.cookie = md.cookie;
	UNIT_EQUAL(lnet_me_unlink(&w.ln, gone), -ENOENT, "an MD is no ME");
	other.cookie = me.cookie;
	UNIT_EQUAL(lnet_md_unlink(&w.ln, other), -ENOENT, "an ME is no MD");
	UNIT_EQUAL(lnet_md_unlink(&w.ln, md), 0, "unlink");
	UNIT_EQUAL(lnet_md_unlink(&w.ln, md), -ENOENT, "once");
	UNIT_EQUAL(mw_me_exists(&w, me), 1, "a retained ME outlives its MD");
	cfg.options = LNET_MD_OP_PUT;
	UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_RETAIN, &other), 0, "and takes another");
	CU_ASSERT_NOT_EQUAL(other.cookie, md.cookie);
	UNIT_EQUAL(lnet_md_unlink(&w.ln, md), -ENOENT, "whose handle is new");
	UNIT_EQUAL(lnet_me_unlink(&w.ln, me), 0, "ME with MD");
	UNIT_EQUAL(lnet_md_unlink(&w.ln, other), -ENOENT, "takes the MD along");
	me = attach_me(&w, 5, LNET_UNLINK);
	UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_RETAIN, &other), 0,
		   "an ME that goes with its MD");
	UNIT_EQUAL(lnet_me_unlink(&w.ln, me), 0, "goes once");
	UNIT_EQUAL(mw_me_exists(&w, me), 0, "with its handle");
	mw_visit(&w, LNET_PASS_WORKER);
	mw_fini(&w);
}

static void test_garbage_handles(void)
{
	static const u64 cookies[] = { 0,	   1,	       ~0ULL, 0x7f, 0xff,  80,		81,
				       1ULL << 63, 0xffffff01, 0x80,  0x81, 0x101, 0x1000000001 };
	struct lnet_md_cfg cfg = { .start = memory, .length = 8, .threshold = 1 };
	lnet_md_t h;
	struct mw w;
	u32 i;
	int err;

	mw_init(&w);
	for (i = 0; i < LNET_MD_BUCKETS; i++)
		UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &h), 0, "bind");
	UNIT_EQUAL(lnet_md_unlink(&w.ln, h), 0, "bucket 0 is empty again");
	for (i = 0; i < ARRAY_SIZE(cookies); i++) {
		char name[32];

		snprintf(name, sizeof(name), "cookie 0x%llx", (unsigned long long)cookies[i]);
		if (mw_md(&w, (lnet_md_t){ cookies[i] }))
			continue;	/* a guess that is a valid handle */
		UNIT_EQUAL(lnet_md_unlink(&w.ln, (lnet_md_t){ cookies[i] }), -ENOENT, name);
		UNIT_EQUAL(lnet_me_unlink(&w.ln, (lnet_me_t){ cookies[i] }), -ENOENT, name);
		CU_ASSERT_PTR_NULL(md_use_one(&w.ln, (lnet_md_t){ cookies[i] }, &err));
		UNIT_EQUAL(err, -ENOENT, name);
	}
	mw_visit(&w, LNET_PASS_WORKER);
	mw_fini(&w);
}

#define MANY 3000
static void test_many(void)
{
	struct lnet_md_cfg cfg = { .start = memory, .length = 8, .threshold = 1 };
	static lnet_md_t h[MANY];
	struct mw w;
	int i, bad = 0;

	mw_init(&w);
	for (i = 0; i < MANY; i++) {
		cfg.cpt = i;
		bad += lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &h[i]) != 0;
	}
	for (i = 0; i < MANY; i++)
		bad += !mw_md(&w, h[i]) || mw_md(&w, h[i])->cpt != i;
	UNIT_EQUAL(bad, 0, "each handle finds its MD");
	for (i = 0; i < MANY; i += 2)
		bad += lnet_md_unlink(&w.ln, h[i]) != 0;
	for (i = 0; i < MANY; i++)
		bad += !mw_md(&w, h[i]) != !(i % 2);
	UNIT_EQUAL(bad, 0, "half of them gone");
	for (i = 0; i < MANY; i += 2) {
		u64 old = h[i].cookie;

		bad += lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &h[i]) != 0;
		bad += mw_md(&w, (lnet_md_t){ old }) != NULL;
	}
	UNIT_EQUAL(bad, 0, "slots are used again, handles are not");
	while (!list_empty(&w.shard.ready))
		mw_visit(&w, LNET_PASS_WORKER);
	mw_fini(&w);
}

static void test_no_memory(void)
{
	struct lnet_md_cfg cfg = { .frags = two, .nr_frags = 2, .threshold = 1 };
	lnet_md_t md = { 0 };
	lnet_me_t me = { 0 };
	struct mw w;
	u32 nth;
	int err;

	for (nth = 1; nth < 10; nth++) {
		mw_init(&w);
		unit_fail_alloc(nth);
		err = lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &md);
		unit_fail_alloc(0);
		UNIT_EQUAL(err, nth <= 4 ? -ENOMEM : 0, "bind: MD, fragments, bucket, slots");
		unit_fail_alloc(nth);
		err = lnet_me_attach(&w.ln, 3, &anyone, 1, 0, LNET_RETAIN, LNET_INS_AFTER, &me);
		unit_fail_alloc(0);
		UNIT_EQUAL(err, nth <= 4 ? -ENOMEM : 0, "ME: portal, its chains, ME, slots");
		me = attach_me(&w, 3, LNET_RETAIN);
		cfg.options = LNET_MD_OP_PUT;
		unit_fail_alloc(nth);
		err = lnet_md_attach(&w.ln, me, &cfg, LNET_RETAIN, &md);
		unit_fail_alloc(0);
		cfg.options = 0;
		UNIT_EQUAL(err, nth <= 2 ? -ENOMEM : 0, "attach: MD, fragments");
		UNIT_EQUAL(mw_me_exists(&w, me), nth > 2, "no memory for the MD costs the ME");
		mw_fini(&w);
	}
}

static void test_bulk(void)
{
	struct lnet_md_cfg cfg = { .start = memory, .length = 8, .threshold = 1, .cpt = 3 };
	lnet_md_t bulk = { 0 }, md = { 0 };
	struct mw w;

	mw_init(&w);
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &bulk), 0, "bulk");
	cfg.cpt = 1;
	cfg.bulk = bulk;
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &md), 0, "request");
	UNIT_EQUAL(mw_md(&w, md)->cpt, 1, "without BULK_HANDLE its own place");
	cfg.options = LNET_MD_BULK_HANDLE;
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &md), 0, "request");
	UNIT_EQUAL(mw_md(&w, md)->cpt, 3, "with it the bulk's");
	lnet_md_unlink(&w.ln, bulk);
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &md), 0, "request");
	UNIT_EQUAL(mw_md(&w, md)->cpt, 1, "a bulk that is gone does not matter");
	mw_visit(&w, LNET_PASS_WORKER);
	mw_fini(&w);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* The results of calls and the events in order, as text. */
static char story[1024];
static struct mw *teller;
static lnet_md_t told_md;

static void say(const char *fmt, ...) __printf(1, 2);
static void say(const char *fmt, ...)
{
	size_t len = strlen(story);
	va_list args;

	va_start(args, fmt);
	vsnprintf(story + len, sizeof(story) - len, fmt, args);
	va_end(args);
}

/* "S0 " is a SEND with status 0; "~": delivery unknown; "*": unlinked; "?": a wrong value. */
static void telling_handler(const struct lnet_event *ev)
{
	static const char letters[] = ".GPRASU";
	bool bad = ev->md.cookie != told_md.cookie || ev->user_ptr != memory;

	say("%c%d%s%s%s ", letters[ev->kind], ev->status, ev->delivery_unknown ? "~" : "",
	    ev->unlinked ? "*" : "", bad ? "?" : "");
}

static void unlinking_handler(const struct lnet_event *ev)
{
	telling_handler(ev);
	say("(");
	if (lnet_md_unlink(&teller->ln, ev->md))
		say("x!");
	say(")");
}

/* As the core does: the unlink ends a waiting operation at once. */
static void end_at_once(struct mw *w, struct lnet_pass *p, struct lnet_md *md)
{
	struct lnet_evt *e = lnet_evt_new();

	e->ev.kind = LNET_EVENT_SEND;
	e->ev.status = -ECANCELED;
	lnet_md_post(p, md, e, true);
}

/*
 * Steps of use: u use, a use again, n undo. Events: s SEND; as last event of its operation S SEND,
 * A ACK, F failed SEND. Others: x unlink, w visit of a worker.
 */
static void step(struct mw *w, struct lnet_md **md, char what)
{
	struct lnet_pass p;
	struct lnet_md *got;
	int err;

	lnet_pass_begin(&p, &w->ln, LNET_PASS_CALL);
	switch (what) {
	case 'u':
		got = md_use_one(&w->ln, told_md, &err);
		say(got && !err ? "u " : "u! ");
		*md = got ? got : *md;
		break;
	case 'a': say(lnet_md_use_again(*md) ? "a " : "a! "); break;
	case 'n': lnet_md_unuse(&p, *md); break;
	case 's': mw_post(w, LNET_PASS_CALL, *md, LNET_EVENT_SEND, 0, false); break;
	case 'S': mw_post(w, LNET_PASS_CALL, *md, LNET_EVENT_SEND, 0, true); break;
	case 'A': mw_post(w, LNET_PASS_CALL, *md, LNET_EVENT_ACK, 0, true); break;
	case 'F': mw_post(w, LNET_PASS_CALL, *md, LNET_EVENT_SEND, -EIO, true); break;
	case 'x': say(lnet_md_unlink(&w->ln, told_md) ? "x! " : "x "); break;
	case 'w': mw_visit(w, LNET_PASS_WORKER); break;
	}
	lnet_pass_end(&p);
}

static const struct {
	const char *name;
	s32 threshold;
	enum lnet_unlink unlink;
	const char *steps, *want;
} lives[] = {
	{ "threshold counts starts", 2, LNET_RETAIN, "uuuSSw", "u u u! S0 S0 " },
	{ "an ACK costs one more", 2, LNET_RETAIN, "usaAwu", "u a S0 A0 u! " },
	{ "no ACK with threshold 1", 1, LNET_RETAIN, "usaSw", "u a! S0 S0 " },
	{ "threshold 0 is inactive", 0, LNET_RETAIN, "u", "u! " },
	{ "endless", LNET_THRESHOLD_INF, LNET_RETAIN, "uuuaaaSSSwu", "u u u a a a S0 S0 S0 u " },
	{ "an undone use counts not", 1, LNET_RETAIN, "unuSw", "u u S0 " },
	{ "exhausted and retained: stays", 1, LNET_RETAIN, "uSwxw", "u S0 x U0* " },
	{ "exhausted and auto-unlink: goes", 1, LNET_UNLINK, "uSwx", "u S0* x! " },
	{ "goes with the last of two", 2, LNET_UNLINK, "uuSwFw", "u u S0 S-5* " },
	{ "goes with the ACK, not with the SEND", 2, LNET_UNLINK, "usaAw", "u a S0 A0* " },
	{ "not before it is exhausted", 2, LNET_UNLINK, "uSwuSw", "u S0 u S0* " },
	{ "an undone use does not exhaust", 1, LNET_UNLINK, "unw", "u " },
	{ "auto-unlink, in flight: handle still good", 2, LNET_UNLINK, "uuxSwSw",
	  "u u x S-110~ S-110~* " },
	{ "unlink, idle", 1, LNET_RETAIN, "xwxu", "x U0* x! u! " },
	{ "unlink, idle: the event comes from a worker", 1, LNET_RETAIN, "x", "x " },
	{ "unlink while busy: late success is a timeout", 2, LNET_RETAIN, "uxSw", "u x S-110~* " },
	{ "unlink while busy: other errors stay", 2, LNET_RETAIN, "uxFw", "u x S-5* " },
	{ "unlink while busy: the last one ends it", LNET_THRESHOLD_INF, LNET_RETAIN, "uuuxSSSw",
	  "u u u x S-110~ S-110~ S-110~* " },
	{ "unlink while busy: no more answers", LNET_THRESHOLD_INF, LNET_RETAIN, "uxaSw",
	  "u x a! S-110~* " },
	{ "unlink while busy: no more use", LNET_THRESHOLD_INF, LNET_RETAIN, "uxuxSw",
	  "u x u! x! S-110~* " },
	{ "unlink with events on their way", LNET_THRESHOLD_INF, LNET_RETAIN, "uSuSxw",
	  "u u x S0 S0 U0* " },
	{ "unlink between event and its operation's end", 1, LNET_RETAIN, "usxSw",
	  "u x S0 S-110~* " },
	{ "unlink, then the use is undone", 1, LNET_RETAIN, "uxnw", "u x U0* " },
};

static void test_life(void)
{
	struct lnet_md_cfg cfg = {
		.start = memory, .length = 8, .user_ptr = memory, .handler = telling_handler
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lives); i++) {
		const char *s;
		struct lnet_md *md;
		struct mw w;

		mw_init(&w);
		story[0] = 0;
		cfg.threshold = lives[i].threshold;
		UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, lives[i].unlink, &told_md), 0, lives[i].name);
		md = mw_md(&w, told_md);
		for (s = lives[i].steps; *s; s++)
			step(&w, &md, *s);
		UNIT_TEXT(story, lives[i].want, lives[i].name);
		mw_fini(&w);
	}
}

static void test_unlink_ends_operations(void)
{
	struct lnet_md_cfg cfg = { .start = memory,
				   .length = 8,
				   .user_ptr = memory,
				   .handler = telling_handler,
				   .threshold = 1 };
	struct lnet_md *md;
	struct mw w;

	mw_init(&w);
	story[0] = 0;
	w.aborted = end_at_once;
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &told_md), 0, "bind");
	md = mw_md(&w, told_md);
	step(&w, &md, 'u');
	step(&w, &md, 'x');
	UNIT_EQUAL(w.nr_aborted, 1, "told once");
	UNIT_TEXT(story, "u x ", "no handler inside the call");
	step(&w, &md, 'w');
	UNIT_TEXT(story, "u x S-125* ", "the cancelled operation carries the end, no UNLINK event");
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &told_md), 0, "bind");
	step(&w, &md, 'x');
	UNIT_EQUAL(w.nr_aborted, 1, "nobody to tell");
	step(&w, &md, 'w');
	UNIT_TEXT(story, "u x S-125* x U0* ", "idle: an UNLINK event");
	mw_fini(&w);
}

/* Another thread delivers the last event while the unlinking call still aborts operations. */
static struct lnet_md_dom *told_dom;

static void end_and_deliver(struct mw *w, struct lnet_pass *p, struct lnet_md *md)
{
	mw_post(w, LNET_PASS_DRIVER, md, LNET_EVENT_SEND, -ECANCELED, true);
	UNIT_TEXT(story, "S-125* ", "delivered");
	UNIT_EQUAL(list_count_nodes(&told_dom->mds), 1, "but not freed under the unlinking call");
}

static void test_unlink_races(void)
{
	struct lnet_md_cfg cfg = { .start = memory,
				   .length = 8,
				   .user_ptr = memory,
				   .handler = telling_handler,
				   .threshold = 1 };
	struct lnet_md *md;
	struct mw w;
	int err;

	mw_init(&w);
	story[0] = 0;
	w.aborted = end_and_deliver;
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &told_md), 0, "bind");
	told_dom = lnet_handle_dom(&w.ln, told_md.cookie, LNET_HANDLE_MD);
	CU_ASSERT_PTR_NOT_NULL(md_use_one(&w.ln, told_md, &err));
	UNIT_EQUAL(lnet_md_unlink(&w.ln, told_md), 0, "unlink");
	UNIT_EQUAL(w.nr_aborted, 1, "told");
	UNIT_EQUAL(list_count_nodes(&told_dom->mds), 0, "freed after it");
	/* The last completion happens between the marking and the rest of the call. */
	story[0] = 0;
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &told_md), 0, "bind");
	md = md_use_one(&w.ln, told_md, &err);
	spin_lock(md->lock);
	lnet_md_abort(md);
	spin_unlock(md->lock);
	mw_post(&w, LNET_PASS_DRIVER, md, LNET_EVENT_SEND, 0, true);
	lnet_md_aborted_finish(&w.ln, md);
	mw_visit(&w, LNET_PASS_WORKER);
	UNIT_TEXT(story, "S-110~* ", "one last event, and what it is of took effect");
	UNIT_EQUAL(w.nr_aborted, 1, "no operation to tell");
	mw_fini(&w);
}

static const struct {
	const char *name, *steps, *want;
} inner[] = {
	{ "idle otherwise", "uSw", "u S0 ()U0* (x!)" },
	{ "another in flight", "uuSwSw", "u u S0 ()S-110~* (x!)" },
	{ "another event waiting", "uuSSw", "u u S0 ()S0 (x!)U0* (x!)" },
};

static void test_unlink_inside(void)
{
	struct lnet_md_cfg cfg = { .start = memory,
				   .length = 8,
				   .user_ptr = memory,
				   .handler = unlinking_handler,
				   .threshold = LNET_THRESHOLD_INF };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(inner); i++) {
		struct lnet_md *md = NULL;
		struct mw w;
		const char *s;

		mw_init(&w);
		teller = &w;
		story[0] = 0;
		UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &told_md), 0, inner[i].name);
		for (s = inner[i].steps; *s; s++)
			step(&w, &md, *s);
		UNIT_TEXT(story, inner[i].want, inner[i].name);
		mw_fini(&w);
	}
}

static void test_small(void)
{
	CU_ASSERT(sizeof(struct lnet_md_tables) <= 704);
	CU_ASSERT(sizeof(struct lnet_portal) <= 448);
	CU_ASSERT(sizeof(struct lnet_md_dom) <= 256);
}

UNIT_SUITE(md,
	{ "every rule on what may be bound and attached", test_make },
	{ "an attachment that fails costs the ME, handles go stale", test_attach },
	{ "garbage is no handle", test_garbage_handles },
	{ "thousands of handles", test_many },
	{ "no memory: nothing leaks", test_no_memory },
	{ "a bulk handle says where the memory is", test_bulk },
	{ "thresholds, auto-unlink, unlink: which event is the last", test_life },
	{ "unlinking ends operations first", test_unlink_ends_operations },
	{ "unlinking against completions", test_unlink_races },
	{ "unlinking inside a handler", test_unlink_inside },
	{ "small when idle", test_small })
