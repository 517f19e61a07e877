/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the messages of log.def to the callback of an instance. Limits them by their level and
 * rate.
 */
#include "plat.h"
#include <lnet/env.h>
#include "shard/shard.h"

#define TEXT_MAX	360
#define NIDS_MAX	2

/* Texts of the NIDs and of the net in one message of the log. */
struct words {
	char nid[NIDS_MAX][LNET_NIDSTR_SIZE];
	unsigned int nr;
};

static const struct {
	const char *title;
	u32 most;
	u8 level;
} messages[LNET_NR_LOGS] = {
#define LOG(name, level_, most_, title_, ...)							\
	[LNET_LOGM_##name] = { .title = title_, .most = most_, .level = LNET_LOG_##level_ },
#include "model/log.def"
#undef LOG
};

static char *words_next_nid(struct words *w)
{
	return w->nid[min(w->nr++, NIDS_MAX - 1U)];
}

static const char *nid_word(struct words *w, const struct lnet_nid *nid)
{
	return lnet_nid_is_any(nid) ? "any" : lnet_nid_str(nid, words_next_nid(w));
}

/* ---- the rate -------------------------------------------------------------------------------- */

static bool may_write(struct lnet *ln, enum lnet_log_message m)
{
	struct lnet_log *log = &ln->log;
	struct lnet_log_rate *rate = &log->rate[m];
	u64 now_ns, by_ns;
	bool may;

	if (!log->fn || messages[m].level > log->level)
		return false;
	if (!messages[m].most)
		return true;
	now_ns = ln->env->ops->now_ns(ln->env);
	spin_lock(&log->lock);
	/*
	 * After the end of a span, a message begins the next span. But if lines were suppressed,
	 * they are reported first.
	 */
	if (!rate->since_ns || (!rate->suppressed && now_ns - rate->since_ns >= LNET_LOG_SPAN_NS)) {
		rate->since_ns = now_ns;
		rate->nr = 0;
	}
	may = rate->nr < messages[m].most;
	if (may)
		rate->nr++;
	else
		rate->suppressed++;
	by_ns = rate->since_ns + LNET_LOG_SPAN_NS;
	spin_unlock(&log->lock);
	if (!may)
		lnet_job_schedule(ln, &log->job_ns, by_ns);
	return may;
}

/*
 * Logs the number of suppressed lines of each message whose span is over. Returns the next end of a
 * span.
 */
static u64 suppressed_write(struct lnet_log *log, u64 now_ns)
{
	u64 next_ns = U64_MAX, end_ns;
	struct lnet_log_rate *rate;
	char text[TEXT_MAX];
	unsigned int m;
	u32 nr;

	for (m = 0; m < LNET_NR_LOGS; m++) {
		rate = &log->rate[m];
		spin_lock(&log->lock);
		nr = rate->suppressed;
		end_ns = rate->since_ns + LNET_LOG_SPAN_NS;
		if (nr && now_ns >= end_ns)
			memset(rate, 0, sizeof(*rate));
		spin_unlock(&log->lock);
		if (!nr)
			continue;
		if (now_ns < end_ns) {
			next_ns = min(next_ns, end_ns);
			continue;
		}
		scnprintf(text, sizeof(text), "%s: %u more lines were suppressed",
			  messages[m].title, nr);
		log->fn(log->arg, messages[m].level, text);
	}
	return next_ns;
}

/* ---- for the instance ------------------------------------------------------------------------ */

void lnet_log_init(struct lnet *ln, const struct lnet_cfg *cfg)
{
	ln->log.fn = cfg->log;
	ln->log.arg = cfg->log_arg;
	ln->log.level = cfg->log_level ? cfg->log_level : LNET_LOG_INFO;
	ln->log.job_ns = U64_MAX;
	spin_lock_init(&ln->log.lock);
}

bool lnet_log_is_on(const struct lnet *ln)
{
	return ln->log.fn;
}

void lnet_log_work(struct lnet *ln, u64 now_ns)
{
	if (now_ns < READ_ONCE(ln->log.job_ns))
		return;
	WRITE_ONCE(ln->log.job_ns, U64_MAX);
	smp_mb();			/* writers first change a rate, then lower log.job_ns */
	lnet_job_schedule(ln, &ln->log.job_ns, suppressed_write(&ln->log, now_ns));
}

void lnet_log_flush(struct lnet *ln)
{
	if (ln->log.fn)
		suppressed_write(&ln->log, U64_MAX - LNET_LOG_SPAN_NS);
	ln->log.fn = NULL;
}

/* ---- the messages ---------------------------------------------------------------------------- */

/*
 * Replaces control characters, because peers and users choose some of the names and values in the
 * log.
 */
static void log_text_sanitize(char *text)
{
	for (; *text; text++)
		if ((u8)*text < ' ' || *text == 0x7f)
			*text = '?';
}

#define NID(nid)	nid_word(&w, nid)
#define NET(net)	lnet_net_str(net, words_next_nid(&w))
#define BY		ln->log.by
#define LOG(name, level_, most, title, params, ...)               \
	void lnet_log_##name params                               \
	{                                                         \
		struct words w = { .nr = 0 };                     \
		char text[TEXT_MAX];                              \
                                                                  \
		if (!may_write(ln, LNET_LOGM_##name))             \
			return;                                   \
		scnprintf(text, sizeof(text), __VA_ARGS__);       \
		log_text_sanitize(text);                          \
		ln->log.fn(ln->log.arg, LNET_LOG_##level_, text); \
		(void)w;                                          \
	}
#include "model/log.def"
