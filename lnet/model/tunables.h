/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tunables and counters of an instance: types made from the tables tunables.def and counters.def.
 */
#ifndef LNET_MODEL_TUNABLES_H
#define LNET_MODEL_TUNABLES_H

#include "plat.h"

/* ---- tunables -------------------------------------------------------------------------------- */

/* Code reads a tunable with READ_ONCE(). lnet_tunable_set() writes it under cfg_mutex. */
struct lnet_tunables {
#define TUNABLE(name, unit, def, min, max, stock, param, text) u64 name;
#include "model/tunables.def"
#undef TUNABLE
};

enum lnet_unit { LNET_UNIT_N, LNET_UNIT_NS, LNET_UNIT_PT, LNET_UNIT_B, LNET_UNIT_E };

struct lnet_tunable_info {
	const char *name, *stock, *text;	/* @name: in this project; @stock: in stock LNet */
	u8 unit;			/* enum lnet_unit */
	u64 def, min, max;
	u16 off;			/* in struct lnet_tunables */
};

/* The attempt timeout, which `global show` calls lnd_timeout. */
static inline u64 lnet_lnd_timeout_ns(const struct lnet_tunables *tun)
{
	return div64_u64(READ_ONCE(tun->transaction_timeout),
			 max_t(u64, READ_ONCE(tun->retry_count), 1));
}

/*
 * The longest time that a socket may make no progress: sock_timeout. If sock_timeout is 0: the
 * attempt timeout, but at least 1 s.
 */
static inline u64 lnet_sock_timeout_ns(const struct lnet_tunables *tun)
{
	u64 ns = READ_ONCE(tun->sock_timeout);

	return ns ? ns : max_t(u64, lnet_lnd_timeout_ns(tun), NSEC_PER_SEC);
}

/* ---- counters -------------------------------------------------------------------------------- */

enum lnet_counter {			/* counters of an instance: the sums over all shards */
#define COUNTER(name, text) LNET_C_##name,
#define NI_COUNTER(name, text)
#define PNI_COUNTER(name, text)
#include "model/counters.def"
	LNET_NR_COUNTERS
};
enum lnet_ni_counter {
#undef COUNTER
#undef NI_COUNTER
#define COUNTER(name, text)
#define NI_COUNTER(name, text) LNET_NIC_##name,
#include "model/counters.def"
	LNET_NR_NI_COUNTERS
};
enum lnet_pni_counter {
#undef NI_COUNTER
#undef PNI_COUNTER
#define NI_COUNTER(name, text)
#define PNI_COUNTER(name, text) LNET_PNIC_##name,
#include "model/counters.def"
	LNET_NR_PNI_COUNTERS
};
#undef COUNTER
#undef NI_COUNTER
#undef PNI_COUNTER

#endif
