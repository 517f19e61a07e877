/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pingpong ADDRESS PORT [SECONDS]: reference for round trips of raw.c; prints the median in us. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int by_size(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { AF_INET, htons(atoi(argv[2])), { inet_addr(argv[1]) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, nr = 0, *ns = calloc(4000000, 4);
	long limit = argc > 3 ? (long)(atof(argv[3]) * 1e9) : 0, sum = 0;
	struct timespec from, to;
	char msg[64] = { 0 };

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (limit ? connect(fd, (void *)&at, sizeof(at)) :
		    bind(fd, (void *)&at, sizeof(at)) || listen(fd, 1) || puts("ready") < 0)
		return 1;
	fflush(stdout);
	fd = limit ? fd : accept(fd, NULL, NULL);
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (; !limit || (sum < limit && nr < 4000000); nr += limit ? 1 : 0, sum += ns[nr - 1]) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		if (limit && send(fd, msg, sizeof(msg), 0) < 0)
			return 1;
		while ((one = recv(fd, msg, sizeof(msg), MSG_DONTWAIT)) < 0)
			;
		if (!one)
			return limit ? 1 : 0;
		if (!limit && send(fd, msg, sizeof(msg), 0) < 0)
			return 1;
		clock_gettime(CLOCK_MONOTONIC, &to);
		ns[nr] = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
	}
	qsort(ns, nr, sizeof(*ns), by_size);
	printf("%.3f\n", ns[nr / 2] / 1e3);
	return 0;
}
