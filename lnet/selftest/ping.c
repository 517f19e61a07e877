/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The test "ping": a request with a number, and a reply with the same number. */
#include "service.h"

static int ping_take(struct lst_test *test, const struct lst_msg *req)
{
	return 0;
}

static int ping_prepare(struct lst_unit *unit, struct lst_msg *req)
{
	u32 nsec;

	req->type = LST_PING_REQ;
	req->ping_req.magic = LST_PING_MAGIC;
	req->ping_req.seq = unit->seq;
	req->ping_req.sec = div_u64_rem(lst_now(unit->rpc.st), NSEC_PER_SEC, &nsec);
	req->ping_req.nsec = nsec;
	return 0;
}

static int ping_finish(struct lst_unit *unit, const struct lst_msg *rpy)
{
	u32 seq = unit->seq++;

	return rpy->ping_rpy.magic == LST_PING_MAGIC && rpy->ping_rpy.seq == seq ? 0 : -EBADMSG;
}

const struct lst_test_ops lst_ping_ops = {
	.service = LST_SERVICE_PING,
	.take = ping_take,
	.prepare = ping_prepare,
	.finish = ping_finish,
};

enum lst_verdict lst_ping_serve_locked(struct lst_call *call)
{
	const struct lst_ping_req *req = &call->req.ping_req;
	struct lst_ping_rpy *rpy = &call->rpy.ping_rpy;

	if (req->magic != LST_PING_MAGIC)
		return LST_DROP;
	rpy->magic = LST_PING_MAGIC;
	rpy->seq = req->seq;
	if (call->req.feats & ~LST_FEATS) {
		call->rpy.feats = LST_FEATS;
		rpy->status = EPROTO;
	}
	return LST_REPLY;
}
