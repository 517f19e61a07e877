/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loopback driver keeps the contract of drivers. */
#include "contract_rename.h"
#define lnet_lo_ops contract_lo_ops
#include "lnd/lolnd/lolnd.c"
#include "contract.h"

static int make_pair(struct contract_pair *pair)
{
	pair->env[0] = contract_env();
	pair->cfg[0].nid = LNET_NID_LO;
	return 0;
}

static const struct contract_driver driver = {
	.ops = &contract_lo_ops,
	.lacks = CONTRACT_ONE_NI | CONTRACT_NO_CUT,
	.make = make_pair,
	.run = contract_env_run,
};

static void test_contract(void)
{
	contract_run(&driver);
}

UNIT_SUITE(lolnd,
	{ "keeps the contract", test_contract },
)
