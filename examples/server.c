/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* server OWN-NID: prints texts, sends a text about itself, answers requests in capital letters. */
#include <ctype.h>
#include <pthread.h>
#include "node.h"

/* The handler, which must not block, queues texts here for the thread that prints them. */
enum { LINES = 16 };
static struct { unsigned int len; char text[4096]; } lines[LINES];
static unsigned int nr_in, nr_out, nr_dropped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

static struct lnet *ln;
static char text[4096], hello[256], requests[4096], answers[16][256];
static lnet_md_t answer_md;

static void on_text_put(const struct lnet_event *ev)
{
	if (ev->kind != LNET_EVENT_PUT || ev->status)
		return;
	/*
	 * A handler must not block. This wait for the lock is short, because print_lines() does not
	 * hold the lock while it prints.
	 */
	pthread_mutex_lock(&lock);
	if (nr_in - nr_out < LINES) {
		lines[nr_in % LINES].len = ev->mlength;
		memcpy(lines[nr_in++ % LINES].text, text + ev->offset, ev->mlength);
		pthread_cond_signal(&filled);
	} else {
		nr_dropped++;
	}
	pthread_mutex_unlock(&lock);
}

static void *print_lines(void *arg)
{
	unsigned int dropped;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (nr_in == nr_out)
			pthread_cond_wait(&filled, &lock);
		dropped = nr_dropped;
		nr_dropped = 0;
		pthread_mutex_unlock(&lock);
		printf("text: %.*s\n", (int)lines[nr_out % LINES].len,
		       lines[nr_out % LINES].text);
		if (dropped)
			printf("%u texts dropped: the output was too slow\n", dropped);
		fflush(stdout);
		pthread_mutex_lock(&lock);
		nr_out++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

/* The header data of the request contain the match bits for its answer. */
static void on_request_put(const struct lnet_event *ev)
{
	static unsigned int turn;
	unsigned int ix = turn++ % 16, i;
	struct lnet_xfer x;

	if (ev->kind != LNET_EVENT_PUT || ev->status)
		return;
	for (i = 0; i < ev->mlength && i < sizeof(answers[0]); i++)
		answers[ix][i] = (char)toupper(requests[ev->offset + i]);
	lnet_xfer_init(&x);
	x.md = answer_md;
	x.md_offset = ix * sizeof(answers[0]);
	x.length = i;
	x.target = ev->initiator;
	x.portal = PORTAL_ANSWER;
	x.match_bits = ev->hdr_data;
	lnet_put(ln, &x);
}

int main(int argc, char **argv)
{
	struct lnet_md_cfg md = { .threshold = LNET_THRESHOLD_INF, .cpt = -1 };
	pthread_t printer;

	if (argc != 2 || node_start(&ln, argv[1]) ||
	    pthread_create(&printer, NULL, print_lines, NULL))
		return 1;
	md.start = answers, md.length = sizeof(answers);
	lnet_md_bind(ln, &md, LNET_RETAIN, &answer_md);
	md.options = LNET_MD_OP_PUT | LNET_MD_MANAGE_REMOTE;	/* always from the start */
	md.start = text, md.length = sizeof(text), md.handler = on_text_put;
	node_post(ln, PORTAL_TEXT, 0, &md);
	md.start = requests, md.handler = on_request_put;
	node_post(ln, PORTAL_REQUEST, 0, &md);
	snprintf(hello, sizeof(hello), "the example server at %s", argv[1]);
	md.options = LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE | LNET_MD_TRUNCATE;
	md.start = hello, md.length = (uint32_t)strlen(hello), md.handler = NULL;
	node_post(ln, PORTAL_HELLO, 0, &md);
	while (lnet_progress(ln, -1) >= 0)
		;
	return 0;
}
