/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blocking OWN-NID MODE: a server with a handler of portal 1 that never returns. Portal 3 replies
 * as the example server does. MODE: main (lnet_progress() in the main thread) or service.
 */
#include "../../examples/node.h"
#include <pthread.h>
#include <unistd.h>

static struct lnet *node;
static char text[4096], requests[4096], answers[16][256];
static lnet_md_t answer_md;

static void on_text(const struct lnet_event *ev)
{
	if (ev->kind == LNET_EVENT_PUT)
		pause();
}

static void on_request(const struct lnet_event *ev)
{
	static unsigned int turn;
	unsigned int ix = turn++ % 16;
	struct lnet_xfer x;

	if (ev->kind != LNET_EVENT_PUT || ev->status)
		return;
	lnet_xfer_init(&x);
	x.md = answer_md;
	x.md_offset = ix * sizeof(answers[0]);
	x.length = 8;
	x.target = ev->initiator;
	x.portal = PORTAL_ANSWER;
	x.match_bits = ev->hdr_data;
	lnet_put(node, &x);
}

static void *report(void *arg)
{
	uint64_t value = 0;

	for (;;) {
		if (!lnet_counter_get(node, "slow_handlers", &value))
			printf("slow_handlers %llu\n", (unsigned long long)value);
		fflush(stdout);
		usleep(100000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	struct lnet_md_cfg md = { .threshold = LNET_THRESHOLD_INF, .cpt = -1 };
	pthread_t reporter;

	if (argc != 3 || node_start(&node, argv[1]) ||
	    pthread_create(&reporter, NULL, report, NULL))
		return 1;
	md.start = answers, md.length = sizeof(answers);
	lnet_md_bind(node, &md, LNET_RETAIN, &answer_md);
	md.options = LNET_MD_OP_PUT | LNET_MD_MANAGE_REMOTE;
	md.start = text, md.length = sizeof(text), md.handler = on_text;
	node_post(node, PORTAL_TEXT, 0, &md);
	md.start = requests, md.handler = on_request;
	node_post(node, PORTAL_REQUEST, 0, &md);
	while (!strcmp(argv[2], "main") && lnet_progress(node, -1) >= 0)
		;
	for (;;)
		pause();
}
