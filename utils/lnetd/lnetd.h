/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside lnetd: the configuration kept in a file, and what systemd is told. */
#ifndef LNETD_H
#define LNETD_H

#include <stdbool.h>

struct lnetctl;

/* state.c; all say on stderr what went wrong. */
int state_load(struct lnetctl *c, const char *path);	/* -ENOENT: there is none, quietly */
int state_save(struct lnetctl *c, const char *path, bool configured);
int config_load(struct lnetctl *c, const char *path);

/* notify.c: "READY=1" and the like; without systemd nothing happens. */
void notify(const char *what);

#endif
