/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Are the words of NETTEST parsed correctly, and are its figures and tables as specified? */
#include <math.h>
#include "unit.h"
#include "utils/lib/nt.h"

static int parse(struct nt_words *w, const char *line, char why[256])
{
	static char copy[256];
	char *save, *word;
	int rc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	nt_words_init(w);
	for (word = strtok_r(copy, " ", &save); word && !rc; word = strtok_r(NULL, " ", &save))
		rc = nt_word(w, word, why, 256);
	return rc ? rc : nt_words_end(w, why, 256);
}

static void words(void)
{
	struct nt_words w;
	char why[256];

	UNIT_EQUAL(parse(&w, "uK m1 M16 K2 R2 T1000 Ptotal otransfer.dat", why), 0, "the example");
	UNIT_EQUAL(w.plan.least, 1024, "m1");
	UNIT_EQUAL(w.plan.most, 16384, "M16");
	UNIT_EQUAL(w.plan.factor, 2, "K2");
	UNIT_EQUAL(w.plan.repeats, 2, "R2");
	UNIT_EQUAL(w.plan.times, 1000, "T1000");
	UNIT_EQUAL(w.print, NT_TOTAL, "Ptotal");
	UNIT_EQUAL(w.plan.patterns, NETTEST_ALL, "all topologies");
	UNIT_TEXT(w.output, "transfer.dat", "o");
	UNIT_EQUAL(nettest_plan_lens(&w.plan), 5, "1 2 4 8 16");

	UNIT_EQUAL(parse(&w, "s3 K10 M1000", why), 0, "both");
	UNIT_EQUAL(w.step, 0, "a multiplier goes before a step");
	UNIT_EQUAL(nettest_plan_lens(&w.plan), 4, "1 10 100 1000");
	UNIT_EQUAL(parse(&w, "ub s5 m10 M30 Plocal", why), 0, "a step");
	UNIT_EQUAL(w.plan.factor, 0, "no multiplier");
	UNIT_EQUAL(nettest_plan_lens(&w.plan), 5, "10 15 20 25 30");
	UNIT_EQUAL(w.print, NT_LOCAL, "Plocal");
	UNIT_EQUAL(parse(&w, "uM m1 M64 C0", why), 0, "64 MiB");
	UNIT_EQUAL(w.plan.patterns, NETTEST_ALL & ~NETTEST_CHAOSES, "Latin");
	UNIT_EQUAL(parse(&w, "\xd0\xa1" "0", why), 0, "Cyrillic");
	UNIT_EQUAL(w.plan.patterns, NETTEST_ALL & ~NETTEST_CHAOSES, "Cyrillic");
	UNIT_EQUAL(parse(&w, "C", why), 0, "bare");
	UNIT_EQUAL(w.plan.patterns, NETTEST_ALL & ~NETTEST_CHAOSES, "bare");
	UNIT_EQUAL(w.plan.noise | w.plan.noise_pairs | w.plan.noise_depth, 0, "no noise");
	UNIT_EQUAL(parse(&w, "N64", why), 0, "noise");
	UNIT_EQUAL(w.plan.noise == 65536 && w.plan.noise_pairs == 1 && w.plan.noise_depth == 8,
		   true, "by one pair, eight under way");
	UNIT_EQUAL(nt_words_fit(&w, 4, why, 256), 0, "two are measured");
	UNIT_EQUAL(nt_words_fit(&w, 3, why, 256), -EINVAL, "one is left");
	UNIT_TEXT(why,
		  "of 3 nodes, 2 would send noise (B, N); at least two must remain to be measured",
		  "why");
	UNIT_EQUAL(parse(&w, "D1 B3 ub N7", why), 0, "in any order");
	UNIT_EQUAL(w.plan.noise == 7 && w.plan.noise_pairs == 3 && w.plan.noise_depth == 1, true,
		   "one after the other");
	UNIT_EQUAL(parse(&w, "C0 C1", why), 0, "the last one counts");
	UNIT_EQUAL(w.plan.patterns, NETTEST_ALL, "the last one counts");
}

/* Each value that the manual names, after a value with the opposite meaning. */
static void values(void)
{
	static const struct {
		const char *line;
		bool chaos;
	} rows[] = {
		{ "C1 C", false },
		{ "C1 C0", false },
		{ "C1 Coff", false },
		{ "C1 Cno", false },
		{ "C0 C1", true },
		{ "C0 Con", true },
		{ "C0 Cyes", true },
		{ "Cno Cyes", true },
		{ "Cyes Cno", false },
		{ "\xd0\xa1"
		  "1 \xd0\xa1"
		  "no",
		  false },
		{ "\xd0\xa1"
		  "0 \xd0\xa1"
		  "yes",
		  true },
	};
	static const char *const checks[] = { "vnone", "vends", "vfull" };
	static const char *const prints[] = { "Ptotal Paverage", "Ptotal", "Plocal" };
	struct nt_words w;
	char why[256];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		UNIT_EQUAL(parse(&w, rows[i].line, why), 0, rows[i].line);
		UNIT_EQUAL(w.plan.patterns & NETTEST_CHAOSES, rows[i].chaos ? NETTEST_CHAOSES : 0,
			   rows[i].line);
	}
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		UNIT_EQUAL(parse(&w, checks[i], why), 0, checks[i]);
		UNIT_EQUAL(w.plan.check, NETTEST_CHECK_NONE + i, checks[i]);
		UNIT_EQUAL(parse(&w, prints[i], why), 0, prints[i]);
		UNIT_EQUAL(w.print, NT_AVERAGE + i, prints[i]);
	}
}

#define A_NUMBER "1 to 4294967295"

static void wrong_words(void)
{
	static const char *const rows[][2] = {
		{ "q1", "'q1': not a valid argument" },
		{ "uk", "'uk': the unit of lengths (u) must be b, K or M" },
		{ "u", "'u': the unit of lengths (u) must be b, K or M" },
		{ "m", "'m': the least length (m) must be " A_NUMBER },
		{ "m0", "'m0': the least length (m) must be " A_NUMBER },
		{ "m1x", "'m1x': the least length (m) must be " A_NUMBER },
		{ "m4294967296", "'m4294967296': the least length (m) must be " A_NUMBER },
		{ "M", "'M': the largest length (M) must be " A_NUMBER },
		{ "M-1", "'M-1': the largest length (M) must be " A_NUMBER },
		{ "s", "'s': the step between lengths (s) must be " A_NUMBER },
		{ "s0", "'s0': the step between lengths (s) must be " A_NUMBER },
		{ "K", "'K': the factor between lengths (K) must be 2 to 4294967295" },
		{ "K1", "'K1': the factor between lengths (K) must be 2 to 4294967295" },
		{ "R", "'R': the number of repeats (R) must be " A_NUMBER },
		{ "R0", "'R0': the number of repeats (R) must be " A_NUMBER },
		{ "T0", "'T0': the number of iterations (T) must be " A_NUMBER },
		{ "T99999999999",
		  "'T99999999999': the number of iterations (T) must be " A_NUMBER },
		{ "T1e3", "'T1e3': the number of iterations (T) must be " A_NUMBER },
		{ "C2", "'C2': the topology chaos (C) must be 0 or 1" },
		{ "\xd0\xa1"
		  "2",
		  "'\xd0\xa1"
		  "2': the topology chaos (C) must be 0 or 1" },
		{ "Pmean", "'Pmean': the printed figures (P) must be average, total or local" },
		{ "o", "'o': the name of the file is missing" },
		{ "x", "'x': the name of the file is missing" },
		{ "P", "'P': the printed figures (P) must be average, total or local" },
		{ "p0", "'p0': the TCP port (p) must be 1 to 65535" },
		{ "p65536", "'p65536': the TCP port (p) must be 1 to 65535" },
		{ "n", "'n': n must have a list of NIDs, one for each node, and may be given at "
		       "most 4 times" },
		{ "n1 n2 n3 n4 n5", "'n5': n must have a list of NIDs, one for each node, and may "
				    "be given at most 4 times" },
		{ "N0", "'N0': the length of noise messages (N) must be " A_NUMBER },
		{ "N1025", "'N': a noise message (N) must have at most 1 MiB" },
		{ "N1 B0", "'B0': the number of node pairs that send noise (B) must be 1 to 511" },
		{ "N1 B512",
		  "'B512': the number of node pairs that send noise (B) must be 1 to 511" },
		{ "N1 D33", "'D33': the number of noise messages in flight in each direction (D) "
			    "must be 1 to 32" },
		{ "B1", "'B, D': B and D require N, the length of noise messages" },
		{ "D1", "'B, D': B and D require N, the length of noise messages" },
		{ "vall", "'vall': the check of messages (v) must be none, ends or full" },
		{ "m17", "lengths from m17 to M16 of 1024 bytes: the least length (m) must not "
			 "exceed the largest (M)" },
		{ "uM M65", "lengths from m1 to M65 of 1048576 bytes: the largest length (M) must "
			    "be at most 64 MiB" },
		{ "ub s1 M16 R1000000", "lengths from m1 to M16 of 1 bytes: too many lengths and "
					"repeats" },
	};
	struct nt_words w;
	char why[256];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		UNIT_EQUAL(parse(&w, rows[i][0], why), -EINVAL, rows[i][0]);
		UNIT_TEXT(why, rows[i][1], rows[i][0]);
	}
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

/* The time T of one exchange is 2 s, its length L is 1000 bytes. */
static void rates(void)
{
	enum nettest_topo topo;
	u32 nr, i;

	for (topo = NETTEST_STAR; topo <= NETTEST_RING; topo++)
		for (nr = 2; nr <= 16; nr++) {
			double total = nt_rate(NT_TOTAL, topo, nr, 0, 1000, 2e9), local = 0;

			for (i = 0; i < nr; i++)
				local += nt_rate(NT_LOCAL, topo, nr, i, 1000, 2e9);
			CU_ASSERT(near(local, 2 * total));
			CU_ASSERT(near(nt_rate(NT_AVERAGE, topo, nr, 0, 1000, 2e9), 1000));
			CU_ASSERT(near(total, 1000.0 * nettest_channels(topo, nr)));
		}
	CU_ASSERT(near(nt_rate(NT_LOCAL, NETTEST_STAR, 5, 0, 1000, 2e9), 4000));
	CU_ASSERT(near(nt_rate(NT_LOCAL, NETTEST_STAR, 5, 3, 1000, 2e9), 1000));
	CU_ASSERT(near(nt_rate(NT_LOCAL, NETTEST_RING, 5, 3, 1000, 2e9), 2000));
	CU_ASSERT(near(nt_rate(NT_TOTAL, NETTEST_CHAOS, 4, 0, 1000, 2e9), 1000 * 4 * 3 / 2));
	CU_ASSERT(near(nt_corrected_ns(100, 30), 70));
	CU_ASSERT(nt_corrected_ns(100, 31) == 0);
}

static void tables(void)
{
	static const char *const nodes[] = { "a/1@tcp", "b/2@tcp" };
	struct nt_words w;
	struct nt_cell cell[64];
	struct nt_report r = { .words = &w, .nr = 2, .cell = cell };
	char *text, why[256];
	size_t len;
	u32 i;

	parse(&w, "uK m1 M2 R2 T10 Ptotal C0", why);
	for (i = 0; i < nettest_plan_nr(&w.plan); i++)
		cell[i] = (struct nt_cell){ 10 * 1024 * 1000ULL / (i + 1), 10 };
	cell[0].sum_ns = cell[9].sum_ns = 10 * 300;
	/* 1 KiB each way in 102.4 us; 31 us of that time are too much for a barrier */
	cell[1].sum_ns = 10 * 102400;
	cell[0].sum_ns = 10 * 31000;
	r.out = open_memstream(&text, &len);
	nt_print_head(&r, "some", nodes);
	for (i = 0; i < 4; i++)
		nt_print_row(&r, i / 2, i % 2);
	nt_print_end(&r, 1.5);
	fclose(r.out);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\tNot running chaos test.\n"
				      "\tNodes: a/1@tcp b/2@tcp\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n\tNetwork throughput values in MB/sec\n"
				      "Size,K\tStar\tStar2\tRing\tRing2\n"
				      "1\t20.00\t6.00\t8.00\t10.00\n"
				      "2\t24.00\t28.00\t32.00\t36.00\n"
				      "1\t22.00\t24.00\t26.00\t28.00\n"
				      "2\t60.00\t64.00\t68.00\t72.00\n\n"
				      "LNet Network Test complete in 1.50 sec\n\n"
				      "\tBest network throughput values in MB/sec\n"
				      "\tStar\tStar2\tRing\tRing2\n"
				      "\t60.00\t64.00\t68.00\t72.00\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "in MiB/sec\n"
				      "Size,K\tStar\tStar2\tRing\tRing2\n1\t19.07\t5.72\t"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "of the time)\n"
				      "Size,K\tStar\tStar2\tRing\tRing2\n1\t-\t6.60\t"));
	free(text);
}

/* Two of four nodes are measured: the figures are of these two, and the table states this. */
static void under_noise(void)
{
	static const char *const nodes[] = { "a/1@tcp", "b/2@tcp", "c/3@tcp", "d/4@tcp" };
	struct nt_words w;
	struct nt_cell cell[8];
	struct nt_report r = { .words = &w, .nr = 4, .cell = cell };
	char *text, why[256];
	size_t len;
	u32 i;

	UNIT_EQUAL(parse(&w, "m1 M1 T10 Ptotal N4", why), 0, "words");
	for (i = 0; i < nettest_plan_nr(&w.plan); i++)
		cell[i] = (struct nt_cell){ 10 * 1024 * 100, 10, 8192, 4096 };
	r.out = open_memstream(&text, &len);
	nt_print_head(&r, "some", nodes);
	nt_print_row(&r, 0, 0);
	nt_print_end(&r, 1.5);
	fclose(r.out);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\tRunning chaos test with 1 logical links used.\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\tNoise: the last 2 nodes, in pairs, 4 units per "
				      "message, 8 messages in flight in each direction\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\tNetwork throughput values in MB/sec under noise\n"
				      "Size,K\tStar\tStar2\tChaos\tChaos2\tRing\tRing2\n"
				      "1\t20.00\t20.00\t20.00\t20.00\t20.00\t20.00\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, "\n\tNoise during the measurement: 14 messages, 57344 bytes sent, "
			     "28672 received\n"));
	free(text);
}

static void matrices(void)
{
	static const u64 median[9] = { 0, 1500, 2000, 3000, 0, 4000, 0, 5000, 0 };
	struct nettest_measure m = { .pattern = NETTEST_P_ring2, .len = 4096 };
	struct nt_words w;
	char *text, why[256];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	parse(&w, "uK", why);
	nt_print_matrix(out, &w, &m, 3, median);
	fclose(out);
	UNIT_TEXT(text, "# Ring2, 4 K, repeat 1: median microseconds until the ACK, from each node "
		  "(line) to each\n-\t1.5\t2.0\n3.0\t-\t4.0\n-\t5.0\t-\n", "P x P");
	free(text);
}

UNIT_SUITE(nettest_report,
	   { "words are a letter and its value (nettest-params)", words },
	   { "each value of C, v and P has its meaning", values },
	   { "what is no word is named", wrong_words },
	   { "local figures add up to twice the total, for 2 to 16 nodes (nettest-rates)", rates },
	   { "tables as in the document, in MB, MiB and without the barrier (nettest-output)",
	     tables },
	   { "figures under noise are of the nodes that make none, and say so", under_noise },
	   { "the matrix of medians", matrices })
