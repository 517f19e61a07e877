/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arguments of lnetctl: NID lists, lists of interfaces and CPTs, times. */
#include "utils/lib/client.h"
#include "unit.h"

/* Replaces the library's function, and knows one host. */
int ctl_host_resolve(const char *host, char *addr, size_t size)
{
	if (strcmp(host, "host-a"))
		return -EINVAL;
	snprintf(addr, size, "10.9.9.1");
	return 0;
}

static void test_nids(void)
{
	static const struct { const char *list, *want; int rc;
	} rows[] = {
		{ "10.0.0.1@tcp", "10.0.0.1@tcp ", 0 },
		{ "1@gni,b@gip1", "1@gni b@gip1 ", 0 },
		{ "host-a@tcp,host-a@o2ib3,host-a@gni", "10.9.9.1@tcp 10.9.9.1@o2ib3 host-a@gni ",
		  0 },
		{ "12345-host-a@tcp,0-10.0.0.1@tcp1", "12345-10.9.9.1@tcp 0-10.0.0.1@tcp1 ", 0 },
		{ "host-b@tcp", "", -EINVAL },
		{ "-host-a@tcp", "", -EINVAL },
		{ "1.2.3.400@tcp", "1.2.3.400@tcp ", 0 },
		{ "6.6.[6-7].[0-4/2]@tcp",
		  "6.6.6.0@tcp 6.6.6.2@tcp 6.6.6.4@tcp 6.6.7.0@tcp 6.6.7.2@tcp 6.6.7.4@tcp ", 0 },
		{ "[6-12/4]@gni", "6@gni 10@gni ", 0 },
		{ "1.1.1.[0]@tcp", "1.1.1.0@tcp ", 0 },
		{ "1.1.1.[1,3,5-6]@tcp", "1.1.1.1@tcp 1.1.1.3@tcp 1.1.1.5@tcp 1.1.1.6@tcp ", 0 },
		{ "fd00::[9-b]@tcp", "fd00::9@tcp fd00::a@tcp fd00::b@tcp ", 0 },
		{ "*@tcp", "", -EINVAL },
		{ "<?>", "", -EINVAL },
		{ "10.0.0.1", "", -EINVAL },
		{ "", "", -EINVAL },
		{ "1.1.1.[4-2]@tcp", "", -EINVAL },
		{ "1.1.1.[1@tcp", "", -EINVAL },
		{ "1.1.1.1]@tcp", "", -EINVAL },
		{ "1.1.1.1@tcp,,2.2.2.2@tcp", "", -EINVAL },
		{ "1.1.[0-9].[0-99]@tcp", "", -E2BIG },
		{ "1.1.1.[x]@tcp", "", -EINVAL },
		{ "1.1.1.[1-]@tcp", "", -EINVAL },
		{ "1.1.1.[1-2/0]@tcp", "", -EINVAL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnetctl_node *nids, *n;
		char why[160], got[512] = "";

		UNIT_EQUAL(lnetctl_nids_expand(rows[i].list, &nids, why, sizeof(why)), rows[i].rc,
			   rows[i].list);
		for (n = nids ? nids->first : NULL; n; n = n->next)
			scnprintf(got + strlen(got), sizeof(got) - strlen(got), "%s ", n->text);
		UNIT_TEXT(got, rows[i].want, rows[i].list);
		lnetctl_doc_free(nids);
	}
}

static void test_times(void)
{
	static const struct { const char *text; int rc; unsigned int ms;
	} rows[] = {
		{ "5", 0, 5000 },      { "0.3", 0, 300 },	 { "300ms", 0, 300 },
		{ "5s", 0, 5000 },     { ".5", 0, 500 },	 { "0.0015", 0, 2 },
		{ "0", -ERANGE, 0 },   { "-1", -EINVAL, 0 },	 { "", -EINVAL, 0 },
		{ "5m", -EINVAL, 0 },  { "5 s", -EINVAL, 0 },	 { "nan", -EINVAL, 0 },
		{ "1e9", -ERANGE, 0 }, { "100000", -ERANGE, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int ms = 0;

		UNIT_EQUAL(lnetctl_ms_parse(rows[i].text, &ms), rows[i].rc, rows[i].text);
		UNIT_EQUAL(ms, rows[i].ms, rows[i].text);
	}
}

static void test_interfaces(void)
{
	static const struct { const char *list, *want;
	} rows[] = {
		{ "eth0", "eth0: " },
		{ "eth0,eth1[1]", "eth0: eth1:[1] " },
		{ "eth0[0,1],eth0:0", "eth0:[0,1] eth0:0: " },
		{ "", "" },
		{ "eth0,,eth1", "eth0: " },
		{ "[1]", "bad" },
		{ "eth0[1", "bad" },
		{ "a-name-that-is-too-long", "bad" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *at = rows[i].list;
		char name[16], cpts[16], got[128] = "";
		int rc;

		while ((rc = ctl_interface_next(&at, name, sizeof(name), cpts, sizeof(cpts))) > 0)
			scnprintf(got + strlen(got), sizeof(got) - strlen(got), "%s:%s ", name,
				  cpts);
		UNIT_TEXT(rc < 0 ? "bad" : got, rows[i].want, rows[i].list);
	}
}

static void test_cpts(void)
{
	static const struct { const char *text, *want;
	} rows[] = {
		{ "[0,1]", "0 1 " },   { "2", "2 " },	   { "[0-3]", "0 1 2 3 " },
		{ "0-4/2", "0 2 4 " }, { "[1-0]", "bad" }, { "[]", "bad" },
		{ "[0", "bad" },       { "x", "bad" },	   { "[0]1", "bad" },
		{ "", "bad" },	       { "5000", "bad" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnetctl_node *map = lnetctl_add_map(NULL, NULL), *n;
		char got[128] = "";
		int rc = ctl_cpts_add(map, rows[i].text);

		for (n = lnetctl_find(map, "CPT")->first; n; n = n->next)
			scnprintf(got + strlen(got), sizeof(got) - strlen(got), "%s ", n->text);
		UNIT_TEXT(rc ? "bad" : got, rows[i].want, rows[i].text);
		lnetctl_doc_free(map);
	}
}

UNIT_SUITE(expand,
	{ "NID lists expand, in order, or are refused", test_nids },
	{ "interfaces come one by one with their CPTs", test_interfaces },
	{ "CPT lists expand or are refused", test_cpts },
	{ "times are seconds unless said otherwise", test_times })
