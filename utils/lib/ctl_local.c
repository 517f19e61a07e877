/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands that need no node: NID patterns, the service ID of o2ib, helper programs of the system.
 */
#include <endian.h>
#include <errno.h>
#include <lnet/nid.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <lnet/lnetctl.h>

extern char **environ;

int lnetctl_nidlist_match(const char *list, const char *nid_text)
{
	struct lnet_nidlist nidlist = { 0 };
	struct lnet_nid nid;
	int rc = lnet_nidlist_parse(&nidlist, list);

	if (!rc && nid_text) {
		rc = lnet_nid_parse(&nid, nid_text);
		if (!rc)
			rc = lnet_nidlist_match(&nidlist, &nid);
	}
	lnet_nidlist_free(&nidlist);
	return rc;
}

/* ---- o2ib ------------------------------------------------------------------------------------ */

#define RDMA_PS_TCP	0x0106ULL
#define SERVICE_DEFAULT	987

uint64_t lnetctl_service_id(void)
{
	FILE *in = fopen("/sys/module/ko2iblnd/parameters/service", "re");
	unsigned int service;

	if (!in || fscanf(in, "%u", &service) != 1)
		service = SERVICE_DEFAULT;
	if (in)
		fclose(in);
	return htobe64((RDMA_PS_TCP << 16) + service);
}

/* ---- helpers --------------------------------------------------------------------------------- */

/*
 * Returns the path of a helper program, by default @path. The environment @variable may contain
 * another path, but only one whose last component is equal to that of @path.
 */
static const char *helper_path(const char *path, const char *variable)
{
	const char *other = getenv(variable), *slash = other ? strrchr(other, '/') : NULL;

	if (!other || strcmp(slash ? slash + 1 : other, strrchr(path, '/') + 1))
		return path;
	return other;
}

static int helper_run(const char *path, const char *variable, char *why, size_t why_size)
{
	const char *helper = helper_path(path, variable);
	char *const argv[] = { (char *)helper, NULL };
	int rc, status;
	pid_t pid;

	snprintf(why, why_size, "cannot run %s: %s", helper, strerror(ENOENT));
	if (access(helper, X_OK))
		return -ENOENT;
	rc = posix_spawn(&pid, helper, NULL, NULL, argv, environ);
	while (!rc && waitpid(pid, &status, 0) < 0)
		rc = errno == EINTR ? 0 : errno;
	if (rc) {
		snprintf(why, why_size, "cannot run %s: %s", helper, strerror(rc));
		return -rc;
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	snprintf(why, why_size, "%s failed", helper);
	return -EINVAL;
}

int lnetctl_setup_mrrouting(char *why, size_t why_size)
{
	return helper_run("/usr/sbin/ksocklnd-config", "KSOCKLND_CONFIG", why, why_size);
}

int lnetctl_setup_sysctl(char *why, size_t why_size)
{
	return helper_run("/usr/sbin/lnet-sysctl-config", "LNET_SYSCTL_CONFIG", why, why_size);
}
