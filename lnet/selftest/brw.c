/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The test "brw". The client offers memory to the server. For a write, the server fetches data from
 * the memory; for a read, it puts data there. Then the server replies.
 */
#include "memory.h"
#include "service.h"

static bool brw_op_is_known(u32 opc, u32 flags)
{
	return (opc == LST_BRW_READ || opc == LST_BRW_WRITE) && flags >= LST_CHECK_NONE &&
	       flags <= LST_CHECK_DISCARD;
}

/* ---- client ---------------------------------------------------------------------------------- */

static int brw_take(struct lst_test *test, const struct lst_msg *req)
{
	const struct lst_bytes_param *bytes = &req->test_req.bytes_param;
	const struct lst_pages_param *pages = &req->test_req.pages_param;

	if (req->feats & LST_FEAT_BYTES) {
		test->opc = bytes->opc;
		test->flags = bytes->flags;
		test->len = bytes->len;
		test->offset = bytes->offset % LST_PAGE;
	} else {
		test->opc = pages->opc;
		test->flags = pages->flags;
		test->len = pages->nr_pages <= LNET_MTU / LST_PAGE ? pages->nr_pages * LST_PAGE : 0;
	}
	if (!brw_op_is_known(test->opc, test->flags) || !test->len || test->len > LNET_MTU)
		return -EINVAL;
	return 0;
}

static int brw_memory_get(struct lst_unit *unit)
{
	const struct lst_test *test = unit->test;

	if (!unit->mem)
		unit->mem = lst_memory(test->offset + test->len);
	if (!unit->mem)
		return -ENOMEM;
	if (test->opc == LST_BRW_READ)
		lst_pattern_poison(unit->mem + test->offset, test->len, test->flags);
	else if (!unit->filled)
		lst_pattern_fill(unit->mem + test->offset, test->len, test->flags);
	unit->filled = true;
	return 0;
}

static int brw_prepare(struct lst_unit *unit, struct lst_msg *req)
{
	const struct lst_test *test = unit->test;
	struct lst_rpc *rpc = &unit->rpc;

	if (brw_memory_get(unit))
		return -ENOMEM;
	rpc->bulk = unit->mem + test->offset;
	rpc->bulk_len = test->len;
	rpc->session = test->session;
	rpc->bulk_options = test->opc == LST_BRW_READ ? LNET_MD_OP_PUT : LNET_MD_OP_GET;
	req->type = LST_BRW_REQ;
	req->brw_req.bulkid = rpc->bulkid;
	req->brw_req.rw = test->opc;
	req->brw_req.len = test->len;
	req->brw_req.flags = test->flags;
	return 0;
}

static int brw_finish(struct lst_unit *unit, const struct lst_msg *rpy)
{
	const struct lst_test *test = unit->test;

	if (test->opc != LST_BRW_READ)
		return 0;
	return lst_pattern_good(unit->mem + test->offset, test->len, test->flags, rpy->swapped) ?
		       0 : -EBADMSG;
}

const struct lst_test_ops lst_brw_ops = {
	.service = LST_SERVICE_BRW,
	.take = brw_take,
	.prepare = brw_prepare,
	.finish = brw_finish,
};

/* ---- server ---------------------------------------------------------------------------------- */

static int brw_fill(struct lst_call *call)
{
	const struct lst_brw_req *req = &call->req.brw_req;

	if (call->bulk_get)
		lst_pattern_poison(call->bulk, req->len, req->flags);
	else
		lst_pattern_fill(call->bulk, req->len, req->flags);
	return 0;
}

static void brw_verify(struct lst_call *call)
{
	const struct lst_brw_req *req = &call->req.brw_req;

	if (!lst_pattern_good(call->bulk, req->len, req->flags, call->req.swapped))
		call->rpy.brw_rpy.status = EBADMSG;
}

static u32 brw_check(const struct lst_msg *req)
{
	const struct lst_brw_req *brw = &req->brw_req;

	if (req->feats & ~LST_FEATS)
		return EPROTO;
	if (!brw_op_is_known(brw->rw, brw->flags) || !brw->len || brw->len > LNET_MTU)
		return EINVAL;
	if (!(req->feats & LST_FEAT_BYTES) && brw->len % LST_PAGE)
		return EINVAL;
	return 0;
}

enum lst_verdict lst_brw_serve_locked(struct lst_call *call)
{
	const struct lst_brw_req *req = &call->req.brw_req;

	call->rpy.brw_rpy.status = brw_check(&call->req);
	if (call->rpy.brw_rpy.status == EPROTO)
		call->rpy.feats = LST_FEATS;
	if (call->rpy.brw_rpy.status)
		return LST_REPLY;
	call->bulk_get = req->rw == LST_BRW_WRITE;
	call->bulkid = req->bulkid;
	call->bulk_len = req->len;
	call->bulk_prepare = brw_fill;
	call->bulk_done = brw_verify;
	return LST_BULK;
}
