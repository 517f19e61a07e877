/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The launcher with PMIx, for example mpirun or srun: it started this process as one of a job. */
#include <errno.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "utils/nettest/launch.h"

#define KEY "lnet.nettest"

static pmix_proc_t self;

static int failed(const char *what, pmix_status_t status)
{
	fprintf(stderr, "nettest: PMIx: %s: %s\n", what, PMIx_Error_string(status));
	return -EIO;
}

/* Reads a number that the launcher defines for this process, or for the job. */
static uint32_t launcher_number(const char *key, bool job, uint32_t otherwise)
{
	pmix_proc_t who = self;
	uint32_t num = otherwise;
	pmix_value_t *value;

	if (job)
		who.rank = PMIX_RANK_WILDCARD;
	if (PMIx_Get(&who, key, NULL, 0, &value) != PMIX_SUCCESS)
		return otherwise;
	if (value->type == PMIX_UINT32)
		num = value->data.uint32;
	else if (value->type == PMIX_UINT16)
		num = value->data.uint16;
	PMIX_VALUE_RELEASE(value);
	return num;
}

static uint32_t hash(const char *text)
{
	uint32_t x = 2166136261U;

	while (*text)
		x = (x ^ (unsigned char)*text++) * 16777619U;
	return x;
}

int launch_begin(struct launch *l)
{
	pmix_status_t status;

	if (!getenv("PMIX_NAMESPACE"))
		return -ENOENT;
	status = PMIx_Init(&self, NULL, 0);
	if (status != PMIX_SUCCESS)
		return failed("begin", status);
	l->rank = self.rank;
	l->nr = launcher_number(PMIX_JOB_SIZE, true, 1);
	l->local_rank = launcher_number(PMIX_LOCAL_RANK, false, 0);
	l->local_nr = launcher_number(PMIX_LOCAL_SIZE, true, 1);
	l->job = hash(self.nspace);
	return 0;
}

static pmix_status_t pmix_fence(bool collect)
{
	pmix_info_t info;
	pmix_status_t status;

	PMIX_INFO_CONSTRUCT(&info);
	PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
	status = PMIx_Fence(NULL, 0, &info, 1);
	PMIX_INFO_DESTRUCT(&info);
	return status;
}

static pmix_status_t nids_publish(const char *own)
{
	pmix_value_t value;
	pmix_status_t status;

	PMIX_VALUE_CONSTRUCT(&value);
	value.type = PMIX_STRING;
	value.data.string = strdup(own);
	status = PMIx_Put(PMIX_GLOBAL, KEY, &value);
	PMIX_VALUE_DESTRUCT(&value);
	if (status == PMIX_SUCCESS)
		status = PMIx_Commit();
	return status == PMIX_SUCCESS ? pmix_fence(true) : status;
}

static pmix_status_t rank_text_get(uint32_t rank, char **text)
{
	pmix_proc_t who = self;
	pmix_value_t *value;
	pmix_status_t status;

	who.rank = rank;
	status = PMIx_Get(&who, KEY, NULL, 0, &value);
	if (status != PMIX_SUCCESS)
		return status;
	*text = value->type == PMIX_STRING ? strdup(value->data.string) : NULL;
	PMIX_VALUE_RELEASE(value);
	return *text ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

int launch_exchange(const struct launch *l, const char *own, char **all)
{
	pmix_status_t status = nids_publish(own);
	uint32_t i;

	for (i = 0; i < l->nr && status == PMIX_SUCCESS; i++)
		status = rank_text_get(i, &all[i]);
	return status == PMIX_SUCCESS ? 0 : failed("exchange of the nodes' names", status);
}

int launch_barrier(const struct launch *l)
{
	pmix_status_t status = pmix_fence(false);

	return status == PMIX_SUCCESS ? 0 : failed("barrier", status);
}

void launch_end(const struct launch *l)
{
	PMIx_Finalize(NULL, 0);
}
