/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The TCP driver compiled for tests: on the core of contract.c, with sockets that can be made to
 * fail.
 */
#ifndef TESTS_UNIT_SOCK_WORLD_H
#define TESTS_UNIT_SOCK_WORLD_H

#include "contract_rename.h"
#define lnet_rx_gone		contract_rx_gone
#define lnet_env_poll_add	sock_world_poll_add
#define lnet_env_poll_mod	sock_world_poll_mod
#define lnet_env_poll_del	sock_world_poll_del
#define lnet_env_poll_hot	sock_world_poll_hot
#define lnet_socklnd_ops	contract_sock_ops

#include "contract_core.h"
#include "lnd/socklnd/user.h"
#include <poll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

ssize_t test_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t test_send(int fd, const void *buf, size_t len, int flags);
ssize_t test_recvmsg(int fd, struct msghdr *msg, int flags);
/* of the driver's own timer */
int test_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *was);
ssize_t test_recv(int fd, void *buf, size_t len, int flags);

/* Checks that the driver left nothing behind. @priv: of an NI, after ni_stop. */
void sock_world_check(void *priv);

#endif
