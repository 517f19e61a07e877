/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open MPI, for comparison: rank 0 is the client, rank 1 the server; see peer.h. */
#include "peer.h"

#include <mpi.h>

#define WINDOW(job) ((job)->what == 's' ? 8u : 64u)
#define TAG 1
#define TAG_END 2

/* Receives are posted in advance, as many as the other side has sends in flight. */
static void sink(const struct peer_job *job)
{
	MPI_Request req[64];
	uint64_t nr = 0;
	unsigned int i;
	MPI_Status st;
	bool end = false;

	for (i = 0; i < WINDOW(job); i++)
		MPI_Irecv(peer_buffer(job, i), (int)job->size, MPI_BYTE, 0, MPI_ANY_TAG,
			  MPI_COMM_WORLD, &req[i]);
	for (i = 0; !end; i = (i + 1) % WINDOW(job)) {
		MPI_Wait(&req[i], &st);
		end = st.MPI_TAG == TAG_END;
		nr += !end;
		if (!end)
			MPI_Irecv(peer_buffer(job, i), (int)job->size, MPI_BYTE, 0, MPI_ANY_TAG,
				  MPI_COMM_WORLD, &req[i]);
	}
	MPI_Send(&nr, sizeof(nr), MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD);
	for (i = 0; i < WINDOW(job); i++) {
		if (req[i] == MPI_REQUEST_NULL)
			continue;
		MPI_Cancel(&req[i]);
		MPI_Wait(&req[i], &st);
	}
}

static void echo(const struct peer_job *job)
{
	MPI_Status st;

	for (;;) {
		MPI_Recv(job->memory, (int)job->size, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
			 &st);
		if (st.MPI_TAG == TAG_END)
			break;
		MPI_Send(job->memory, (int)job->size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
	}
}

static void round_trips(struct peer_job *job)
{
	uint64_t from = peer_now(), until = from + job->ns, to;
	bool more = true;

	for (; more && from < until; from = to) {
		MPI_Send(job->memory, (int)job->size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
		MPI_Recv(job->memory, (int)job->size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		to = peer_now();
		more = peer_rtt_add(job, to - from);
	}
	MPI_Send(job->memory, 1, MPI_BYTE, 1, TAG_END, MPI_COMM_WORLD);
	peer_rtt_print(job);
}

static void source(const struct peer_job *job)
{
	uint64_t start = peer_now(), until = start + job->ns, nr = 0;
	MPI_Request req[64];
	unsigned int i;

	for (i = 0; i < WINDOW(job); i++)
		req[i] = MPI_REQUEST_NULL;
	for (; peer_now() < until; nr++) {
		i = (unsigned int)(nr % WINDOW(job));
		MPI_Wait(&req[i], MPI_STATUS_IGNORE);
		MPI_Isend(peer_buffer(job, nr), (int)job->size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD,
			  &req[i]);
	}
	MPI_Waitall((int)WINDOW(job), req, MPI_STATUSES_IGNORE);
	MPI_Send(job->memory, 1, MPI_BYTE, 1, TAG_END, MPI_COMM_WORLD);
	MPI_Recv(&nr, sizeof(nr), MPI_BYTE, 1, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	peer_rate_print(job, nr, start);
}

int main(int argc, char **argv)
{
	struct peer_job job;
	int rank;

	MPI_Init(&argc, &argv);
	job = peer_job_parse(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank && job.what == 'r')
		echo(&job);
	else if (rank)
		sink(&job);
	else if (job.what == 'r')
		round_trips(&job);
	else
		source(&job);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
