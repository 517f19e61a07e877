/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libfabric, for comparison: reliable datagram endpoints over its TCP provider; see peer.h. */
#include "peer.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <unistd.h>

#define WINDOW	64u		/* sends in flight */
#define POSTED	16u		/* posted receives */

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *rx, *tx;
static struct fid_ep *ep;
static fi_addr_t other;
static unsigned int nr_sending;

static void must(const char *what, ssize_t rc)
{
	if (rc < 0) {
		fprintf(stderr, "%s: %s\n", what, fi_strerror((int)-rc));
		exit(1);
	}
}

static void open_all(const struct peer_job *job)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_MSG, .size = 1024 };
	struct fi_av_attr map = { .type = FI_AV_TABLE };

	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup("tcp");
	hints->addr_format = FI_SOCKADDR_IN;
	hints->tx_attr->msg_order = FI_ORDER_SAS;
	hints->rx_attr->msg_order = FI_ORDER_SAS;
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 9), job->address, job->port,
				      job->server ? FI_SOURCE : 0, hints, &info));
	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	must("fi_av_open", fi_av_open(domain, &map, &av, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq, &rx, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq, &tx, NULL));
	must("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
	must("fi_ep_bind", fi_ep_bind(ep, &av->fid, 0));
	must("fi_ep_bind", fi_ep_bind(ep, &rx->fid, FI_RECV));
	must("fi_ep_bind", fi_ep_bind(ep, &tx->fid, FI_TRANSMIT));
	must("fi_enable", fi_enable(ep));
	fi_freeinfo(hints);
}

/* Reads one completion. False: there is none. */
static bool reap(struct fid_cq *cq, struct fi_cq_msg_entry *entry)
{
	ssize_t rc = fi_cq_read(cq, entry, 1);

	if (rc != -FI_EAGAIN)
		must("fi_cq_read", rc);
	return rc == 1;
}

static void sent_until(unsigned int nr)
{
	struct fi_cq_msg_entry entry;

	while (nr_sending > nr)
		nr_sending -= reap(tx, &entry);
}

static void post_receive(const struct peer_job *job, void *buf)
{
	struct fi_cq_msg_entry entry;
	ssize_t rc;

	while ((rc = fi_recv(ep, buf, job->size, NULL, FI_ADDR_UNSPEC, buf)) == -FI_EAGAIN)
		nr_sending -= reap(tx, &entry);
	must("fi_recv", rc);
}

/* The caller posts the received buffer again. */
static struct fi_cq_msg_entry receive_one(void)
{
	struct fi_cq_msg_entry entry, sent;

	while (!reap(rx, &entry))
		if (nr_sending && reap(tx, &sent))
			nr_sending--;
		else
			sched_yield();
	return entry;
}

static void send_one(const void *buf, size_t len)
{
	struct fi_cq_msg_entry entry;
	ssize_t rc;

	sent_until(WINDOW - 1);
	while ((rc = fi_send(ep, buf, len, NULL, other, NULL)) == -FI_EAGAIN)
		nr_sending -= reap(tx, &entry);
	must("fi_send", rc);
	nr_sending++;
}

/* The first message is the client's address. The last has one byte; the server replies to it. */
static void server(const struct peer_job *job)
{
	struct fi_cq_msg_entry entry = receive_one();
	uint8_t *answer = job->memory + BUFFERS * LARGE - SMALL;

	if (fi_av_insert(av, entry.op_context, 1, &other, 0, NULL) != 1)
		peer_die("fi_av_insert");
	do {
		post_receive(job, entry.op_context);
		entry = receive_one();
		if (job->what == 'r') {
			send_one(answer, job->size);
			sent_until(0);
		}
	} while (entry.len == job->size);
	send_one("", 1);
	sent_until(0);
}

static void greet(void)
{
	static uint8_t name[SMALL];
	size_t len = sizeof(name);

	if (fi_av_insert(av, info->dest_addr, 1, &other, 0, NULL) != 1)
		peer_die("fi_av_insert");
	must("fi_getname", fi_getname(&ep->fid, name, &len));
	send_one(name, len);
	sent_until(0);
}

static void client(struct peer_job *job)
{
	uint64_t start = peer_now(), until = start + job->ns, from = start, to, nr;
	bool more = true;

	for (nr = 0; more && from < until; nr++, from = to) {
		send_one(peer_buffer(job, nr), job->size);
		if (job->what == 'r')
			post_receive(job, receive_one().op_context);
		to = peer_now();
		more = job->what != 'r' || peer_rtt_add(job, to - from);
	}
	send_one("", 1);
	while (receive_one().len != 1)
		;
	if (job->what == 'r')
		peer_rtt_print(job);
	else
		peer_rate_print(job, nr, start);
}

int main(int argc, char **argv)
{
	struct peer_job job = peer_job_parse(argc, argv);
	unsigned int i;

	open_all(&job);
	for (i = 0; i < POSTED; i++)
		post_receive(&job, peer_buffer(&job, i));
	if (job.server) {
		printf("ready\n");
		fflush(stdout);
		server(&job);
	} else {
		greet();
		client(&job);
	}
	fflush(stdout);
	_exit(0);	/* no cleanup: the other side may have ended already */
}
