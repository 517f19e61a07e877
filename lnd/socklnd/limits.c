/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports how much of each bound of the driver is in use, and the address that uses most. */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

#define SOURCES_MAX 256U	/* addresses to compare */

/*
 * Lock held. Returns the address with the most connections in @hs, among the first SOURCES_MAX
 * addresses of the highest class. NULL: @hs is empty.
 */
static const struct sock_source *source_greediest(const struct sock_halfs *hs)
{
	const struct sock_source *s, *most = NULL;
	unsigned int i, nr = 0;

	for (i = SOCK_HALF_CLASSES; i-- > 0 && !most;) {
		list_for_each_entry(s, &hs->classes[i], link) {
			if (nr++ == SOURCES_MAX)
				break;
			if (!most || s->nr > most->nr)
				most = s;
		}
	}
	return most;
}

static void half_open_use(struct lnet_ni *ni, struct lnet_use *use)
{
	struct sock_ni *sn = sock_ni_of(ni);

	mutex_lock(&sn->lock);
	use->most = sn->halfs.nr;
	if (sn->halfs_cap)
		use->bound = min_t(u64, use->bound, sn->halfs_cap);
	mutex_unlock(&sn->lock);
}

static void half_open_address_use(struct lnet_ni *ni, struct lnet_use *use)
{
	struct sock_ni *sn = sock_ni_of(ni);
	const struct sock_source *s;

	mutex_lock(&sn->lock);
	s = source_greediest(&sn->halfs);
	if (s) {
		use->most = s->nr;
		use->by = list_first_entry(&s->halfs, struct sock_conn, half.same)->from;
	}
	mutex_unlock(&sn->lock);
}

static void conns_use(struct lnet_ni *ni, struct lnet_use *use)
{
	struct sock_ni *sn = sock_ni_of(ni);

	mutex_lock(&sn->lock);
	use->most = sn->opens.nr;
	use->bound = sock_guests_max(sn);
	mutex_unlock(&sn->lock);
}

static void conns_address_use(struct lnet_ni *ni, struct lnet_use *use)
{
	struct sock_ni *sn = sock_ni_of(ni);
	const struct sock_source *s;

	mutex_lock(&sn->lock);
	use->bound = sock_guests_per_address(sn);
	s = source_greediest(&sn->opens);
	if (s) {
		use->most = s->nr;
		use->by = list_first_entry(&s->halfs, struct sock_conn, guest.same)->from;
	}
	mutex_unlock(&sn->lock);
}

static void unsent_use(struct lnet_ni *ni, struct lnet_use *use)
{
	struct sock_ni *sn = sock_ni_of(ni);

	mutex_lock(&sn->lock);
	use->most = sn->unsent;
	mutex_unlock(&sn->lock);
}

static void hold_use(struct lnet_ni *ni, struct lnet_use *use)
{
	struct sock_ni *sn = sock_ni_of(ni);

	mutex_lock(&sn->lock);
	use->most = sn->hold_bytes;
	mutex_unlock(&sn->lock);
}

/*
 * With @held, counts the bytes of messages that wait for a buffer; without @held, the bytes of
 * payloads that are being received.
 */
static void host_use(struct sock_ni *sn, struct lnet_use *use, bool held)
{
	const struct sock_host *host;
	unsigned int i;
	u64 bytes;

	mutex_lock(&sn->lock);
	for (i = 0; i < 1U << sn->hosts.bits; i++) {
		hlist_for_each_entry(host, &sn->hosts.heads[i], hash.link) {
			bytes = held ? host->held : host->receiving;
			if (bytes <= use->most)
				continue;
			use->most = bytes;
			use->by = host->from;
		}
	}
	mutex_unlock(&sn->lock);
}

static void hold_address_use(struct lnet_ni *ni, struct lnet_use *use)
{
	host_use(sock_ni_of(ni), use, true);
}

static void receive_use(struct lnet_ni *ni, struct lnet_use *use)
{
	host_use(sock_ni_of(ni), use, false);
}

const struct lnet_lnd_limit sock_limits[SOCK_NR_LIMITS] = {
	{ "half_open_per_address", "address", "evicted_address", half_open_address_use },
	{ "half_open_max", "interface", "evicted", half_open_use },
	{ "conns_per_address", "address", "rejected_many", conns_address_use },
	{ "conns_max", "interface", "evicted_idle", conns_use },
	{ "receive_per_address", "address", "throttled", receive_use },
	{ "hold_per_address", "address", "stopped", hold_address_use },
	{ "hold_budget", "interface", "stopped", hold_use },
	{ "unsent_budget", "interface", "unsent_denied", unsent_use },
};
