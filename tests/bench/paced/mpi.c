/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Open MPI over both rails, for comparison: rank 0 is the client, rank 1 the server. See paced.h.
 *
 *	mpi LOG_OF_CLIENT LOG_OF_SERVER SECONDS INTERVAL_US SIZE
 */
#include <mpi.h>

#include "paced.h"

#define SLOTS	8192			/* sends in flight: requests or replies */
#define TAG	1
#define TAG_END	2
#define SPIN_NS	50000			/* pause of polling: both programs may share a processor */

struct slot {
	MPI_Request req;
	struct paced_msg msg;
};

static struct slot slots[SLOTS];

static void rest(void)
{
	struct timespec wait = { 0, SPIN_NS };

	nanosleep(&wait, NULL);
}

/* The slot of the @nth message; NULL: the earlier send in it is not complete. */
static struct slot *slot(uint64_t nth)
{
	struct slot *s = &slots[nth % SLOTS];
	int done = 1;

	if (s->req != MPI_REQUEST_NULL)
		MPI_Test(&s->req, &done, MPI_STATUS_IGNORE);
	return done ? s : NULL;
}

static int serve(struct paced *p, uint8_t *buf)
{
	struct slot *s;
	MPI_Status st;
	uint64_t nr;
	int came;

	for (nr = 0;; ) {
		MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &came, &st);
		s = came ? slot(nr) : NULL;
		if (!s) {
			rest();
			continue;
		}
		MPI_Recv(buf, PACED_MAX, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
		if (st.MPI_TAG == TAG_END)
			return paced_end(p);
		memcpy(&s->msg, buf, sizeof(s->msg));
		paced_delivered(p, &s->msg);
		MPI_Isend(&s->msg, sizeof(s->msg), MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &s->req);
		nr++;
	}
}

static void take_answers(struct paced *p)
{
	struct paced_msg msg;
	int came = 1;

	for (;;) {
		MPI_Iprobe(1, TAG, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
		if (!came)
			return;
		MPI_Recv(&msg, sizeof(msg), MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		paced_answered(p, msg.id);
	}
}

static int request(struct paced *p, uint8_t *bufs)
{
	struct slot *s;
	uint8_t *buf;

	while (!paced_over(p)) {
		take_answers(p);
		s = paced_now() >= paced_next(p) ? slot(p->issued) : NULL;
		if (!s) {
			rest();
			continue;
		}
		buf = bufs + p->issued % SLOTS * p->size;
		s->msg = paced_issue(p);
		memcpy(buf, &s->msg, sizeof(s->msg));
		MPI_Isend(buf, (int)p->size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &s->req);
	}
	MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_END, MPI_COMM_WORLD);
	return paced_end(p);
}

int main(int argc, char **argv)
{
	char role[] = "client";
	char *words[] = { argv[0], role, NULL, NULL, NULL, NULL };
	uint8_t *bufs;
	struct paced p;
	int rank, i, rc;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 6) {
		fprintf(stderr, "%s LOG LOG SECONDS INTERVAL_US SIZE\n", argv[0]);
		return 2;
	}
	for (i = 0; i < SLOTS; i++)
		slots[i].req = MPI_REQUEST_NULL;
	role[0] = rank ? 's' : 'c';
	words[2] = argv[1 + !!rank];
	memcpy(&words[3], &argv[3], 3 * sizeof(words[0]));
	p = paced_start(rank ? 3 : 6, words);
	bufs = calloc(rank ? 1 : SLOTS, rank ? PACED_MAX : p.size);
	if (!bufs)
		paced_die("memory");
	rc = rank ? serve(&p, bufs) : request(&p, bufs);
	MPI_Finalize();
	return rc;
}
