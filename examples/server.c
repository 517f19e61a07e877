/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* server OWN-NID: prints texts, says who it is, answers requests with their text in capitals. */
#include <ctype.h>
#include "node.h"

static struct lnet *ln;
static char text[4096], hello[256], requests[4096], answers[16][256];
static lnet_md_t answer_md;

static void on_text(const struct lnet_event *ev)
{
	if (ev->kind == LNET_EVENT_PUT && !ev->status)
		printf("text: %.*s\n", (int)ev->mlength, text + ev->offset);
	fflush(stdout);
}

/* The request says by its header data which match bits its answer needs. */
static void on_request(const struct lnet_event *ev)
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

	if (argc != 2 || node_start(&ln, argv[1]))
		return 1;
	md.start = answers, md.length = sizeof(answers);
	lnet_md_bind(ln, &md, LNET_RETAIN, &answer_md);
	md.options = LNET_MD_OP_PUT | LNET_MD_MANAGE_REMOTE;	/* always from the start */
	md.start = text, md.length = sizeof(text), md.handler = on_text;
	node_post(ln, PORTAL_TEXT, 0, &md);
	md.start = requests, md.handler = on_request;
	node_post(ln, PORTAL_REQUEST, 0, &md);
	snprintf(hello, sizeof(hello), "the example server at %s", argv[1]);
	md.options = LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE | LNET_MD_TRUNCATE;
	md.start = hello, md.length = (uint32_t)strlen(hello), md.handler = NULL;
	node_post(ln, PORTAL_HELLO, 0, &md);
	while (lnet_progress(ln, -1) >= 0)
		;
	return 0;
}
