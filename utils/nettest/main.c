/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program nettest. A launcher starts several processes, which have one node each. The nodes
 * exchange messages in several topologies, and the first process prints the rates.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lnet/env.h"
#include "utils/lib/exit_status.h"
#include "utils/lib/output.h"
#include "utils/nettest/nettest.h"

#define STOP_MS 10000

struct program {
	struct nt_words words;
	struct launch launch;
	bool launched;			/* started by a launcher: launch_*() may be called */
	struct names names;
	struct node node;
	struct nettest *nt;
	struct nt_report report;
	FILE *matrix;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock */
	u32 nr_measured;
	bool over;
	int status;
};

static double program_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void log_line(enum plat_level level, const char *text)
{
	size_t len = strlen(text);

	if (level <= PLAT_WARN)
		fprintf(stderr, "nettest: %s%s", text, len && text[len - 1] == '\n' ? "" : "\n");
}

/* ---- figures, at node 0 ---------------------------------------------------------------------- */

static void take_record(struct program *p, u32 rank, u32 index, u64 *median)
{
	struct nt_cell *cell = &p->report.cell[index];
	struct lst_tally tally;
	u32 len;
	const u8 *buf = nettest_record(p->nt, rank, &len);

	if (nettest_record_decode(buf, len, p->report.nr, &tally, median)) {
		fprintf(stderr, "nettest: the results of node %u are malformed\n", rank);
		p->report.errors++;
		return;
	}
	p->report.errors += tally.c[LST_T_corrupt];
	if (rank >= nettest_plan_measured(&p->words.plan, p->report.nr)) {
		cell->noise_out += tally.c[LST_T_bytes_out];
		cell->noise_in += tally.c[LST_T_bytes_in];
		return;
	}
	cell->sum_ns = max(cell->sum_ns, tally.sum_ns.lo);
	cell->nr = (u32)tally.nr_times;
}

static void take_records(struct program *p, u32 index)
{
	u32 rank, nr = p->report.nr;
	u64 *median = p->matrix ? calloc((size_t)nr * nr, sizeof(*median)) : NULL;
	struct nettest_measure m;

	for (rank = 0; rank < nr; rank++)
		take_record(p, rank, index, median ? median + (size_t)rank * nr : NULL);
	if (median && nettest_plan_at(&p->words.plan, index, &m) && m.pattern)
		nt_print_matrix(p->matrix, &p->words, &m, nr, median);
	free(median);
}

static void on_nettest_measured(struct nettest *nt, u32 index)
{
	struct program *p = nettest_user(nt);

	if (!p->launch.rank)
		take_records(p, index);
	pthread_mutex_lock(&p->lock);
	p->nr_measured = index + 1;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static void on_nettest_ended(struct nettest *nt, int status)
{
	struct program *p = nettest_user(nt);

	pthread_mutex_lock(&p->lock);
	p->over = true;
	p->status = status;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

/* ---- the run --------------------------------------------------------------------------------- */

static void wait_some(struct program *p)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 100000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&p->changed, &p->lock, &until);
}

static int wait_over(struct program *p)
{
	u32 printed = 0, seen = 0;
	bool over;

	do {
		nettest_work(p->nt);
		pthread_mutex_lock(&p->lock);
		if (!p->over && p->nr_measured == seen)
			wait_some(p);
		over = p->over;
		seen = p->nr_measured;
		pthread_mutex_unlock(&p->lock);
		if (!p->launch.rank)
			printed = nt_print_rows(&p->report, printed, seen);
	} while (!over);
	return p->status;
}

/*
 * Prints the bytes that LNet counted, and the bytes of the test. LNet counts more bytes if it
 * retransmitted messages.
 */
static void print_bytes(const struct program *p)
{
	struct nettest_sums sums;
	uint64_t sent = 0;

	nettest_sums(p->nt, &sums);
	lnet_counter_get(p->node.ln, "send_length", &sent);
	fprintf(p->report.out, "\tBytes node 0 sent: messages %llu, %llu barriers and results "
		"%llu; counted by LNet %llu\n", (unsigned long long)sums.payload,
		(unsigned long long)sums.barriers, (unsigned long long)sums.control,
		(unsigned long long)sent);
	fflush(p->report.out);
}

static int program_run(struct program *p, const struct lnet_process *ids)
{
	char **shown = calloc(p->names.nr, sizeof(*shown));
	double begun = program_now();
	u32 i;
	int rc;

	if (!shown)
		return -ENOMEM;
	names_show(&p->names, shown);
	if (!p->launch.rank)
		nt_print_head(&p->report, p->names.system, (const char *const *)shown);
	for (i = 0; i < p->names.nr; i++)
		free(shown[i]);
	free(shown);
	nettest_start(p->nt, ids);
	rc = wait_over(p);
	if (rc)
		fprintf(stderr, "nettest: node %u (%s): %s\n", p->launch.rank,
			p->names.node[p->launch.rank], strerror(-rc));
	else if (!p->launch.rank)
		nt_print_end(&p->report, program_now() - begun);
	if (!rc && !p->launch.rank)
		print_bytes(p);
	return rc;
}

static void engine_stop(struct program *p)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	unsigned int left = STOP_MS / 10;

	if (!p->nt)
		return;
	nettest_stop(p->nt, -ECANCELED);
	while (!nettest_stopped(p->nt) && left--)
		nanosleep(&pause, NULL);
}

/* ---- begin ----------------------------------------------------------------------------------- */

static int engine_create(struct program *p)
{
	struct nettest_cfg cfg = { .ln = p->node.ln, .nr = p->launch.nr, .rank = p->launch.rank,
				   .plan = p->words.plan, .run = p->launch.job, .gather = true,
				   .user = p, .measured = on_nettest_measured,
				   .ended = on_nettest_ended };
	int rc = nettest_create(&p->nt, &cfg);

	if (rc)
		fprintf(stderr, "nettest: cannot allocate the memory for messages: %s\n",
			strerror(-rc));
	return rc;
}

static int report_begin(struct program *p)
{
	struct nt_report *r = &p->report;

	*r = (struct nt_report){ .out = stdout, .words = &p->words, .nr = p->launch.nr };
	r->cell = calloc(nettest_plan_nr(&p->words.plan), sizeof(*r->cell));
	if (p->launch.rank)
		return r->cell ? 0 : -ENOMEM;
	return r->cell ? nt_files_open(&p->words, &r->out, &p->matrix) : -ENOMEM;
}

/*
 * Creates this node, and finds the NIDs of all nodes. With a launcher, the nodes exchange their
 * NIDs only after each node has its buffers and interfaces. So no message is lost at the start.
 * Without a launcher, other nodes may start later. A node then repeats its barrier messages until
 * the other nodes receive them.
 */
static int program_begin(struct program *p, struct lnet_process *ids)
{
	bool one_machine = p->launch.local_nr == p->launch.nr;
	bool crowded = p->launch.local_nr >= (u32)sysconf(_SC_NPROCESSORS_ONLN);
	u32 port = p->words.port ? p->words.port :
			one_machine && !p->words.nr_lists ? PORT_LOOPBACK : 0;
	char *own = p->launched ? names_own(&p->words, &p->launch, &p->names) :
				  strdup(p->names.node[p->launch.rank]);
	int rc = own ? node_start(&p->node, own, port, crowded) : -EINVAL;

	if (!rc)
		rc = engine_create(p);
	if (!rc && p->launched) {
		p->names.nr = p->launch.nr;
		p->names.node = calloc(p->names.nr, sizeof(*p->names.node));
		rc = p->names.node ? launch_exchange(&p->launch, own, p->names.node) : -ENOMEM;
	}
	free(own);
	return rc ? rc : node_peers(&p->node, &p->names, p->launch.rank, ids);
}

static int program_serve(struct program *p)
{
	struct lnet_process *ids = calloc(p->launch.nr, sizeof(*ids));
	int rc = ids ? report_begin(p) : -ENOMEM;

	if (!rc)
		rc = program_begin(p, ids);
	if (!rc)
		rc = program_run(p, ids);
	engine_stop(p);
	/* Other nodes may still wait for ACKs of this node. */
	if (!rc && p->launched)
		launch_barrier(&p->launch);
	node_stop(&p->node);
	if (p->nt && nettest_stopped(p->nt))
		nettest_free(p->nt);
	free(p->report.cell);
	free(ids);
	if (!p->launch.rank && nt_files_close(&p->words, p->report.out, p->matrix))
		rc = -EIO;
	return rc;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int nettest_usage(void)
{
	fputs("mpirun -np P nettest ARGUMENTS...\n"
	      "Measures throughput and round trips among P nodes. Each argument is a letter and "
	      "its value.\n" NT_WORDS_HELP
	      "  nNIDS        NIDs of the nodes, one for each node, as 10.0.0.[1-4]@tcp; one such "
	      "list for each rail\n"
	      "  pN           TCP port of all nodes\n", stdout);
	return EXIT_DONE;
}

static int program_words_read(struct nt_words *w, char **argv, bool tell)
{
	char why[256];
	int rc = 0;

	nt_words_init(w);
	while (*argv && !rc)
		rc = nt_word(w, *argv++, why, sizeof(why));
	if (!rc)
		rc = nt_words_end(w, why, sizeof(why));
	if (rc && tell)
		fprintf(stderr, "nettest: %s. See 'nettest help'.\n", why);
	return rc;
}

static int program_launch(struct program *p)
{
	int rc = launch_begin(&p->launch);

	p->launched = !rc;
	return rc == -ENOENT ? 0 : rc;
}

static int program_fit(const struct program *p)
{
	char why[256];
	int rc = nt_words_fit(&p->words, p->launch.nr, why, sizeof(why));

	if (rc && !p->launch.rank)
		fprintf(stderr, "nettest: %s\n", why);
	return rc;
}

static int find_others(struct program *p)
{
	if (!p->launched && p->words.nr_lists)
		return names_listed(&p->words, &p->launch, &p->names);
	if (p->launched && p->launch.nr > 1)
		return 0;
	fputs("nettest: at least two nodes are needed: start them by 'mpirun -np 2 nettest' or "
	      "'srun -n 2 --mpi=pmix nettest', or name their NIDs, as n10.0.0.[1-4]@tcp\n",
	      stderr);
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct program p = { .lock = PTHREAD_MUTEX_INITIALIZER,
			     .changed = PTHREAD_COND_INITIALIZER };
	bool misused;
	int rc;

	output_check();
	if (argc > 1 && (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
			 !strcmp(argv[1], "-h")))
		return nettest_usage();
	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
		return puts("nettest " LNET_VERSION) < 0;
	plat_print_set(log_line);
	rc = program_launch(&p);
	misused = !rc && program_words_read(&p.words, argv + 1, !p.launched || !p.launch.rank);
	if (!rc && !misused)
		rc = find_others(&p);
	if (!rc && !misused)
		rc = program_fit(&p);
	if (!rc && !misused)
		rc = program_serve(&p);
	names_free(&p.names);
	if (p.launched)
		launch_end(&p.launch);
	return misused ? EXIT_USAGE : rc ? 1 : 0;
}
