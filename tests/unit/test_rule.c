/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/fault/rule.c: parsing of rules, messages for those that are rejected, printing. */
#include "unit.h"
#include "lnet/fault/fault.h"

static struct lnet_rule rule;

/*
 * "kind name=text name=text": returns the message for the first rejected argument, or that of the
 * check, or "".
 */
static const char *read_rule(const char *line)
{
	static char err[LNET_RULE_ERR];
	char buf[600], *at = buf, *word;
	int rc = 0;

	err[0] = 0;
	snprintf(buf, sizeof(buf), "%s", line);
	word = strsep(&at, " ");
	lnet_rule_init(&rule, lnet_rule_kind_find(word));
	while (!rc && (word = strsep(&at, " "))) {
		char *value = strchr(word, '=');

		*value++ = 0;
		rc = lnet_rule_set(&rule, word, value, err);
	}
	rc = rc ? rc : lnet_rule_check(&rule, err);
	CU_ASSERT_EQUAL(rc, err[0] ? -EINVAL : 0);
	return err;
}

#define WHO "name source dest local_nid "
#define PLAN "rate interval permille count seed from to period duty"

static const struct {
	const char *line, *err;
} reads[] = {
	{ "drop", "" },
	{ "drop permille=1000", "" },
	{ "drop permille=1001", "'permille' must be 0 to 1000, not '1001'" },
	{ "drop permille=-1", "'permille' must be 0 to 1000, not '-1'" },
	{ "drop permille=", "'permille' must be 0 to 1000, not ''" },
	{ "drop rate=0", "'rate' must be 1 to 4294967295, not '0'" },
	{ "drop rate=4294967296", "'rate' must be 1 to 4294967295, not '4294967296'" },
	{ "drop rate=2 permille=3",
	  "at most one of 'rate', 'interval' and 'permille' may be given" },
	{ "drop rate=2 rate=3", "'rate' is given twice" },
	{ "drop interval=5",
	  "'interval' must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not '5'" },
	{ "drop interval=5x",
	  "'interval' must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not '5x'" },
	{ "drop interval=soon",
	  "'interval' must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not 'soon'" },
	{ "drop interval=25h",
	  "'interval' must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not '25h'" },
	{ "drop interval=999999999999999999h", "'interval' must be 1ns to 24h, with a unit (ns, "
					       "us, ms, s, m or h), not '999999999999999999h'" },
	{ "drop interval=9999999999999999999ns",
	  "'interval' must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not "
	  "'9999999999999999999ns'" },
	{ "drop interval=0s",
	  "'interval' must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not '0s'" },
	{ "drop count=0", "'count' must be 1 to 18446744073709551615, not '0'" },
	{ "drop seed=18446744073709551615", "" },
	{ "drop seed=x", "'seed' must be 0 to 18446744073709551615, not 'x'" },
	{ "drop source=10.0.0.1@tcp dest=*@tcp1 local_nid=*", "" },
	{ "drop source=10.0.0.1", "" }, /* on tcp */
	{ "drop source=10.0.0@tcp", "'source': '10.0.0@tcp' is not a valid NID, *@net or *" },
	{ "drop dest=*@nonet", "'dest': '*@nonet' is not a valid NID, *@net or *" },
	{ "drop local_nid=", "'local_nid': '' is not a valid NID, *@net or *" },
	{ "drop message=PUT,GET portal=0,63", "" },
	{ "drop message=HELLO", "'message' must be PUT, ACK, GET or REPLY, not 'HELLO'" },
	{ "drop message=PUT,", "'message' must be PUT, ACK, GET or REPLY, not ''" },
	{ "drop portal=64", "'portal' must be a portal from 0 to 63, not '64'" },
	{ "drop portal=1,x", "'portal' must be a portal from 0 to 63, not 'x'" },
	{ "drop portal=1 message=ACK", "'portal' needs 'message' PUT or GET" },
	{ "drop at=here", "'at' must be any, send or receive, not 'here'" },
	{ "drop from=2s to=1s", "'to' must be later than 'from'" },
	{ "drop from=2s to=3s period=10ms duty=100", "" },
	{ "drop duty=100", "'duty' needs 'period'" },
	{ "drop period=1ns",
	  "'period' must be 2ns to 24h, with a unit (ns, us, ms, s, m or h), not '1ns'" },
	{ "drop duty=1000", "'duty' must be 1 to 999, not '1000'" },
	{ "drop delay=1s",
	  "'delay' is not a parameter of 'drop', which has " WHO "message portal at " PLAN },
	{ "drop colour=red", "'colour' is not a parameter of a fault rule" },
	{ "drop name=a-b_c.9", "" },
	{ "drop name=a/b", "'name' must be up to 31 letters, digits, . - _, not 'a/b'" },
	{ "drop name=", "'name' must be up to 31 letters, digits, . - _, not ''" },
	{ "drop name=01234567890123456789012345678901",
	  "'name' must be up to 31 letters, digits, . - _, not "
	  "'01234567890123456789012345678901'" },
	{ "delay", "a rule of kind 'delay' needs 'delay'" },
	{ "delay delay=10ms jitter=5ms", "" },
	{ "delay delay=0ms",
	  "'delay' must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not '0ms'" },
	{ "delay delay=1s at=send", "'at' is not a parameter of 'delay', which has " WHO
				    "message portal " PLAN " delay jitter" },
	{ "duplicate permille=100", "" },
	{ "reorder behind=3", "a rule of kind 'reorder' needs 'delay'" },
	{ "reorder behind=3 delay=20ms", "" },
	{ "reorder behind=1001", "'behind' must be 1 to 1000, not '1001'" },
	{ "corrupt where=pages", "" },
	{ "corrupt where=there", "'where' must be bit or pages, not 'there'" },
	{ "cut source=10.0.0.1@tcp to=5s", "" },
	{ "cut permille=3 count=5", "" },
	{ "cut delay=3s", "'delay' is not a parameter of 'cut', which has " WHO "at " PLAN },
	{ "partition left=10.0.0.1@tcp", "a rule of kind 'partition' needs 'right'" },
	{ "partition left=10.0.0.1@tcp,10.0.0.2@tcp right=*@tcp", "" },
	{ "partition left=10.0.0.1@tcp,x right=*@tcp",
	  "'left': 'x' is not a valid NID, *@net or *" },
	{ "partition left=*,*,*,*,*,*,*,*,* right=*", "'left' must be at most 8 NIDs" },
	{ "slow", "a rule of kind 'slow' needs 'bandwidth'" },
	{ "slow bandwidth=1000000 burst=65536", "" },
	{ "slow bandwidth=999", "'bandwidth' must be 1000 to 1000000000000, not '999'" },
	{ "slow bandwidth=5000 burst=1073741825",
	  "'burst' must be 0 to 1073741824, not '1073741825'" },
	{ "flap", "a rule of kind 'flap' needs 'period'" },
	{ "flap period=100ms duty=250", "" },
	{ "degrade over=1m", "a rule of kind 'degrade' needs 'loss' or 'delay'" },
	{ "degrade loss=100", "a rule of kind 'degrade' needs 'over'" },
	{ "degrade loss=100 delay=5ms over=1m", "" },
	{ "degrade loss=1001", "'loss' must be 0 to 1000, not '1001'" },
	{ "outcome",
	  "a rule of kind 'outcome' needs the parameter 'outcome', or 'when' posted or completed" },
	{ "outcome when=completed", "" },
	{ "outcome outcome=remote_timeout,local_error when=posted", "" },
	{ "outcome outcome=ok",
	  "'outcome' must be local_interrupt, local_dropped, local_aborted, local_no_route, "
	  "local_error, local_timeout, remote_error, remote_dropped, remote_timeout or "
	  "network_timeout, not 'ok'" },
	{ "outcome when=never", "'when' must be before, posted or completed, not 'never'" },
	{ "ack-timeout permille=500", "" },
	{ "ack-timeout message=PUT",
	  "'message' is not a parameter of 'ack-timeout', which has " WHO "at " PLAN },
	{ "reply-timeout at=receive count=3", "" },
};

static void test_read(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reads); i++) {
		const char *err = read_rule(reads[i].line);

		if (strcmp(err, reads[i].err))
			printf("%s: '%s', not '%s'\n", reads[i].line, err, reads[i].err);
		CU_ASSERT_STRING_EQUAL(err, reads[i].err);
	}
	CU_ASSERT_EQUAL(lnet_rule_kind_find("explode"), LNET_NR_RULE_KINDS);
}

/* A rule that is printed, parsed and printed again yields the same text. */
static const struct { const char *line, *text; } texts[] = {
	{ "drop source=10.0.0.1 dest=*@tcp1 permille=5 interval=1500ms",
	  "source=10.0.0.1@tcp dest=*@tcp1 interval=1500ms permille=5" },
	{ "drop from=0s to=3600s period=1000000us seed=07", "seed=7 from=0ns to=1h period=1s" },
	{ "partition right=*,10.0.0.2@tcp left=*@tcp at=send",
	  "at=send left=*@tcp right=*,10.0.0.2@tcp" },
	{ "outcome outcome=remote_timeout,local_error message=GET,PUT portal=63,0 when=posted",
	  "message=PUT,GET portal=0,63 outcome=local_error,remote_timeout when=posted" },
	{ "corrupt where=bit name=x count=3", "name=x count=3 where=bit" },
	{ "slow bandwidth=1000 burst=5", "bandwidth=1000 burst=5" },
};

static void write_rule(char *line, size_t size)
{
	char value[512];
	unsigned int i;
	size_t len = 0;

	line[0] = 0;
	for (i = 0; i < LNET_NR_RULE_PARAMS; i++)
		if (lnet_rule_text(&rule, i, value, sizeof(value)))
			len += scnprintf(line + len, size - len, "%s%s=%s", len ? " " : "",
					 lnet_rule_param_name(i), value);
}

static void test_text(void)
{
	char line[600], again[700], kind[32];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		read_rule(texts[i].line);
		write_rule(line, sizeof(line));
		CU_ASSERT_STRING_EQUAL(line, texts[i].text);
		snprintf(kind, sizeof(kind), "%s", lnet_rule_kind_name(rule.kind));
		snprintf(again, sizeof(again), "%s %s", kind, line);
		read_rule(again);
		write_rule(again, sizeof(again));
		CU_ASSERT_STRING_EQUAL(again, line);
	}
}

UNIT_SUITE(rule, { "dbg-005: rules as text, and what is wrong with them", test_read },
	   { "dbg-005: rules written as they are read", test_text })
