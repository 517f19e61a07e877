/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The service state of a local interface, and the marks from which it is computed. */
#ifndef LNET_MODEL_NI_SERVICE_H
#define LNET_MODEL_NI_SERVICE_H

#include "plat.h"

enum lnet_ni_service {
#define MARK(name, text)
#define SERVICE(state, marks, selected, status) state,
#include "model/ni_service.def"
#undef MARK
#undef SERVICE
	LNET_NR_NI_SERVICES
};

/* low bits of ni->service that store the state; the marks are above them */
#define LNET_SERVICE_BITS	4

enum {
#define MARK(name, text) LNET_MARK_##name,
#define SERVICE(state, marks, selected, status)
#include "model/ni_service.def"
#undef MARK
#undef SERVICE
	LNET_NR_MARKS
};

#define LNET_MARK(name) (1U << (LNET_SERVICE_BITS + LNET_MARK_##name))

/* The service state of an interface on which the marks @set are set. */
static inline enum lnet_ni_service lnet_service_of(u32 set)
{
#define MARK(name, text)
#define SERVICE(state, marks, selected, status)	\
	if (set & (marks))			\
		return state;
#include "model/ni_service.def"
#undef MARK
#undef SERVICE
	return LNET_NI_OK;
}

#endif
