/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The basic types of public headers. They are from C in user space, and from Linux in the kernel.
 */
#ifndef LNET_TYPES_H
#define LNET_TYPES_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <linux/types.h>	/* __be16, __be32 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif
#ifdef __cplusplus
#define LNET_BEGIN_DECLS extern "C" {
#define LNET_END_DECLS }
#else
#define LNET_BEGIN_DECLS
#define LNET_END_DECLS
#endif

#endif
