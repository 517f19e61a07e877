/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The addresses of this machine, and the patterns of ip2nets that match them. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "import.h"

static bool local_address_fill(const struct ifaddrs *ifa, struct local_address *a)
{
	const void *bytes;

	if (!ifa->ifa_addr || !(ifa->ifa_flags & IFF_UP))
		return false;
	memset(a, 0, sizeof(*a));
	a->family = ifa->ifa_addr->sa_family;
	a->loopback = ifa->ifa_flags & IFF_LOOPBACK;
	snprintf(a->name, sizeof(a->name), "%s", ifa->ifa_name);
	if (a->family == AF_INET)
		bytes = &((const struct sockaddr_in *)ifa->ifa_addr)->sin_addr;
	else if (a->family == AF_INET6)
		bytes = &((const struct sockaddr_in6 *)ifa->ifa_addr)->sin6_addr;
	else
		return false;
	memcpy(a->bytes, bytes, a->family == AF_INET ? 4 : 16);
	return a->family == AF_INET || !IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)bytes);
}

int local_addresses(struct local_address **all)
{
	struct ifaddrs *list, *ifa;
	int nr = 0;

	*all = NULL;
	if (getifaddrs(&list))
		return -errno;
	for (ifa = list; ifa; ifa = ifa->ifa_next)
		nr++;
	*all = calloc((size_t)nr + 1, sizeof(**all));
	for (ifa = list, nr = 0; *all && ifa; ifa = ifa->ifa_next)
		nr += local_address_fill(ifa, &(*all)[nr]);
	freeifaddrs(list);
	return *all ? nr : -ENOMEM;
}

/* Reads a decimal number up to 255 at *@at. Returns -1 if there is none. */
static int octet_number(const char **at)
{
	int val = 0;

	if (!isdigit((unsigned char)**at))
		return -1;
	for (; isdigit((unsigned char)**at); (*at)++) {
		val = val * 10 + (**at - '0');
		if (val > 255)
			return -1;
	}
	return val;
}

/*
 * Reads "lo", "lo-hi" or "lo-hi/step". Returns 1 if @octet is in the range, 0 if not, or -EINVAL.
 */
static int range_has(const char **at, int octet)
{
	int lo = octet_number(at), hi = lo, step = 1;

	if (lo >= 0 && **at == '-') {
		(*at)++;
		hi = octet_number(at);
		if (hi >= 0 && **at == '/') {
			(*at)++;
			step = octet_number(at);
		}
	}
	if (lo < 0 || hi < lo || step < 1)
		return -EINVAL;
	return octet >= lo && octet <= hi && !((octet - lo) % step);
}

/* Reads a number, "*" or "[list]", and compares it with @octet. */
static int octet_matches(const char **at, int octet)
{
	int rc, found = 0;

	if (**at == '*') {
		(*at)++;
		return 1;
	}
	if (**at != '[') {
		rc = octet_number(at);
		return rc < 0 ? -EINVAL : rc == octet;
	}
	do {
		(*at)++;
		rc = range_has(at, octet);
		found |= rc > 0;
	} while (rc >= 0 && **at == ',');
	if (rc < 0 || *(*at)++ != ']')
		return -EINVAL;
	return found;
}

static int ip4_matches(const struct local_address *a, const char *pattern)
{
	int i, rc, all = a->family == AF_INET;

	for (i = 0; i < 4; i++) {
		rc = octet_matches(&pattern, a->bytes[i]);
		if (rc < 0 || *pattern != (i < 3 ? '.' : 0))
			return -EINVAL;
		all = all && rc;
		pattern++;
	}
	return all;
}

static int ip6_matches(const struct local_address *a, const char *pattern)
{
	unsigned char want[16];
	char text[64], *slash, *end;
	unsigned long bits = 128, i;

	if (strlen(pattern) >= sizeof(text))
		return -EINVAL;
	strcpy(text, pattern);
	slash = strchr(text, '/');
	if (slash) {
		*slash++ = 0;
		bits = strtoul(slash, &end, 10);
		if (!isdigit((unsigned char)*slash) || *end || bits < 1 || bits > 128)
			return -EINVAL;
	}
	if (inet_pton(AF_INET6, text, want) != 1)
		return -EINVAL;
	if (a->family != AF_INET6)
		return 0;
	for (i = 0; i < bits; i++)
		if ((want[i / 8] ^ a->bytes[i / 8]) & (0x80 >> i % 8))
			return 0;
	return 1;
}

int address_matches(const struct local_address *a, const char *pattern)
{
	return strchr(pattern, ':') ? ip6_matches(a, pattern) : ip4_matches(a, pattern);
}
