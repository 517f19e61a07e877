/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hello serve NID: runs a service that greets. hello call NID PEER-NID NAME: calls such a service.
 */
#include <lnet/rpc.h>
#include <stdio.h>
#include <string.h>

enum { HELLO = 1 };

static int hello(void *arg, const struct lnet_rpc_request *request, void *reply, uint32_t max)
{
	const char *name = request->data;
	int len = snprintf(reply, max, "hello, %.*s", (int)request->len, name);

	(void)arg;
	return len < (int)max ? len : (int)max - 1;
}

int main(int argc, char **argv)
{
	struct lnet_rpc_cfg cfg = { .nids = argv[2], .port = 10988, .any_port = true };
	char reply[256];
	struct lnet_rpc_call call = { .service = HELLO, .reply = reply, .max = sizeof(reply) };
	enum lnet_rpc_executed executed = LNET_RPC_NOT_EXECUTED;
	struct lnet_rpc *rpc = NULL;
	int rc = argc < 3 ? -1 : lnet_rpc_open(&rpc, &cfg);

	if (!rc && argc == 3)
		rc = lnet_rpc_serve(rpc, HELLO, hello, NULL);
	if (!rc && argc == 3)
		rc = lnet_rpc_run(rpc, -1);
	if (!rc && argc == 5) {
		call.to = argv[3], call.data = argv[4], call.len = (uint32_t)strlen(argv[4]);
		rc = lnet_rpc_call(rpc, &call, &executed);
	}
	if (rc < 0)
		fprintf(stderr, "%s (executed: %d)\n", strerror(-rc), executed);
	else
		printf("%.*s\n", rc, reply);
	lnet_rpc_close(rpc);
	return rc < 0;
}
