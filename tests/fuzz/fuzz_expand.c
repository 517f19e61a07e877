/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer of texts that users enter: NID lists with ranges, interfaces, CPT lists, times. */
#include "fuzz.h"
#include "utils/lib/client.h"

#define NIDS_MAX 128

/* Replaces the library's function, so no name server is queried. */
int ctl_host_resolve(const char *host, char *addr, size_t size)
{
	BUG_ON(!*host);
	if (*host == 'x')
		return -EINVAL;
	snprintf(addr, size, "10.0.0.1");
	return 0;
}

static void check_nids(const char *text)
{
	struct lnetctl_node *nids = NULL, *n;
	unsigned int nr = 0;
	char why[100];

	if (lnetctl_nids_expand(text, &nids, why, sizeof(why))) {
		BUG_ON(nids || !why[0]);
		return;
	}
	for (n = nids->first; n; n = n->next, nr++)
		BUG_ON(!strchr(n->text, '@') || strchr(n->text, '['));
	BUG_ON(!nr || nr > NIDS_MAX);
	lnetctl_doc_free(nids);
}

static void check_cpts(const char *text)
{
	struct lnetctl_node *map = lnetctl_add_map(NULL, NULL);

	BUG_ON(!map);
	ctl_cpts_add(map, text);
	lnetctl_doc_free(map);
}

static void check_interfaces(const char *text, size_t size)
{
	const char *at = text, *before;
	char name[17], cpts[40];

	do {
		before = at;
		if (ctl_interface_next(&at, name, sizeof(name), cpts, sizeof(cpts)) != 1)
			break;
		BUG_ON(at <= before || at > text + size || !name[0]);
		BUG_ON(strlen(name) >= sizeof(name) || strlen(cpts) >= sizeof(cpts));
	} while (*at);
}

static void check_ms(const char *text)
{
	unsigned int ms;

	BUG_ON(!lnetctl_ms_parse(text, &ms) && (ms < 1 || ms > 86400000));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	check_nids(text);
	check_cpts(text);
	check_interfaces(text, size);
	check_ms(text);
	free(text);
	return 0;
}
