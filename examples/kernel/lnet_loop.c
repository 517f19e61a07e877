/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An example module for the kernel: sends a PUT to its own node, fetches the data by GET, and logs
 * the result.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <lnet/lnet.h>
#include <net/net_namespace.h>
#include "lnet/kernel/netns.h"

#define PORTAL	60
#define BITS	0x1009ULL
#define TIMEOUT	(10 * HZ)

static char board[32], text[32] = "written over 0@lo";	/* for others; sent and fetched */
static struct completion asked, unlinked;
static int status;

/*
 * Handles the events of the memory `board'. Logs each PUT and GET that uses `board'; this module
 * itself sends them. If the event reports the unlink of the memory descriptor, completes
 * `unlinked'.
 */
static void on_board(const struct lnet_event *ev)
{
	if (ev->kind != LNET_EVENT_UNLINK)
		pr_info("lnet_loop: %s of %u bytes at %u\n",
			ev->kind == LNET_EVENT_PUT ? "PUT" : "GET", ev->mlength, ev->offset);
	if (ev->unlinked)
		complete(&unlinked);
}

/*
 * Handles the events of the memory `text'. If the event is the final event of a request, stores its
 * status, and completes `asked'.
 */
static void on_loop_event(const struct lnet_event *ev)
{
	if (ev->final) {
		status = ev->status;
		complete(&asked);
	}
	if (ev->unlinked)
		complete(&unlinked);
}

static int loop_request(struct lnet *ln, lnet_md_t md,
			int (*op)(struct lnet *ln, const struct lnet_xfer *x))
{
	struct lnet_xfer x;
	int rc;

	lnet_xfer_init(&x);
	x.md = md;
	x.target.nid = LNET_NID_LO;
	x.portal = PORTAL;
	x.match_bits = BITS;
	x.flags = op == lnet_put ? LNET_ACK : 0;
	rc = op(ln, &x);
	if (rc)
		return rc;
	return wait_for_completion_timeout(&asked, TIMEOUT) ? status : -ETIMEDOUT;
}

static int board_open(struct lnet *ln, lnet_md_t *md)
{
	struct lnet_process anybody = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = board, .length = sizeof(board),
				   .threshold = LNET_THRESHOLD_INF, .cpt = -1, .handler = on_board,
				   .options = LNET_MD_OP_PUT | LNET_MD_OP_GET |
					      LNET_MD_MANAGE_REMOTE };
	lnet_me_t me;
	int rc = lnet_me_attach(ln, PORTAL, &anybody, BITS, 0, LNET_UNLINK, LNET_INS_AFTER, &me);

	return rc ? rc : lnet_md_attach(ln, me, &cfg, LNET_UNLINK, md);
}

static int loop_run(struct lnet *ln)
{
	struct lnet_md_cfg cfg = { .start = text, .length = sizeof(text), .cpt = -1,
				   .threshold = LNET_THRESHOLD_INF, .handler = on_loop_event };
	lnet_md_t md;
	int rc = lnet_md_bind(ln, &cfg, LNET_UNLINK, &md);

	if (rc)
		return rc;
	rc = loop_request(ln, md, lnet_put);
	memset(text, 0, sizeof(text));
	if (!rc)
		rc = loop_request(ln, md, lnet_get);
	lnet_md_unlink(ln, md);
	wait_for_completion(&unlinked);
	return rc;
}

static struct lnet_client client;

static int __init loop_begin(void)
{
	lnet_md_t md;
	int rc;

	init_completion(&asked);
	init_completion(&unlinked);
	rc = lnet_client_open(&client, &init_net);
	if (rc)
		return rc;
	rc = board_open(client.ln, &md);
	if (!rc) {
		rc = loop_run(client.ln);
		lnet_md_unlink(client.ln, md);
		wait_for_completion(&unlinked);
	}
	lnet_client_close(&client);
	pr_info("lnet_loop: %s: \"%s\", status %d\n", rc ? "failed" : "passed", text, rc);
	return rc;
}

static void __exit loop_end(void)
{
}

module_init(loop_begin);
module_exit(loop_end);
MODULE_DESCRIPTION("LNet: example of a user in the kernel");
MODULE_LICENSE("Dual BSD/GPL");
