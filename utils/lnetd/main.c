/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lnetd: an LNet node in user space, configured by lnetctl. */
#include <errno.h>
#include <getopt.h>
#include <lnet/lnet.h>
#include <lnet/progress.h>
#include <lnet/socklnd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "lnet/control.h"
#include "lnet/user/netlink.h"
#include "uapi/lnet_nl.h"
#include <lnet/lnetctl.h>
#include "../lib/output.h"
#include "lnetd.h"

struct daemon {
	const char *name, *config;
	struct state state;
	struct lnet_user_env_cfg env_cfg;
	struct lnet_env *env;
	struct lnet *ln;
	struct lnet_nl_server *srv;
	struct lnetctl *c;		/* to ourselves */
	bool no_selftest;
	struct selftest *selftest;
};

static volatile sig_atomic_t stopping;
static struct lnet_nl_server *signal_server;

static void on_signal(int sig)
{
	stopping = sig;
	lnet_nl_server_wake(signal_server);
}

static enum plat_level log_level = PLAT_WARN;

static void log_line(enum plat_level level, const char *text)
{
	size_t len = strlen(text);

	if (level <= log_level)
		fprintf(stderr, "lnetd: %s%s", text, len && text[len - 1] == '\n' ? "" : "\n");
}

/* ---- start ----------------------------------------------------------------------------------- */

static const struct option options[] = {
	{ "name", required_argument, NULL, 'n' }, { "state", required_argument, NULL, 's' },
	{ "config", required_argument, NULL, 'c' }, { "shards", required_argument, NULL, 'S' },
	{ "service", no_argument, NULL, 'm' }, { "foreground", no_argument, NULL, 'f' },
	{ "no-selftest", no_argument, NULL, 'T' },
	{ "verbose", no_argument, NULL, 'v' }, { "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' }, { 0 }
};

static int usage(FILE *out)
{
	fputs("lnetd [--name NAME] [--state FILE] [--config FILE] [--shards N] [--service] "
	      "[--no-selftest] [--verbose]\n"
	      "  --name NAME    name of the node in this network namespace; "
	      "default " LNET_NL_USER_NODE "\n"
	      "  --state FILE   keep the configuration here and read it at start\n"
	      "  --config FILE  YAML to import at start, unless there is a state already\n"
	      "  --shards N     parts the peers are spread over, each with its thread; 1 to 64\n"
	      "  --service      threads do everything; without it whoever waits may help\n"
	      "  --no-selftest  take no part in network self-tests\n"
	      "  --foreground   the only way there is\n"
	      "  --verbose      say more on standard error\n",
	      out);
	return out == stdout ? 0 : 2;
}

/* -1: go on, else exit status. */
static int parse(struct daemon *d, int argc, char **argv)
{
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "n:s:c:S:mfTvVh", options, NULL)) != -1) {
		switch (c) {
		case 'n': d->name = optarg; break;
		case 's': d->state.path = optarg; break;
		case 'c': d->config = optarg; break;
		case 'm': d->env_cfg.mode = LNET_PROGRESS_SERVICE; break;
		case 'f': break;
		case 'T': d->no_selftest = true; break;
		case 'v': log_level = PLAT_DEBUG; break;
		case 'V': puts("lnetd " LNET_VERSION); return 0;
		case 'h': return usage(stdout);
		case 'S':
			d->env_cfg.nr_shards = (unsigned int)strtoul(optarg, &end, 10);
			if (!*optarg || *end || d->env_cfg.nr_shards - 1 > 63)
				return usage(stderr);
			break;
		default: return usage(stderr);
		}
	}
	return optind == argc ? -1 : usage(stderr);
}

static void signals_set(void)
{
	struct sigaction stop = { .sa_handler = on_signal };

	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* an error of write() then */
	signal(SIGHUP, SIG_IGN);
}

/* Each connection needs a descriptor: as many as the system lets us have. */
static void files_raise(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= files.rlim_max)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static bool is_configured(struct lnetctl *c)
{
	struct lnetctl_node *doc;
	const char *text;
	bool configured;

	if (lnetctl_node_show(c, &doc))
		return false;
	text = lnetctl_text(lnetctl_find(doc, "node"), "configured");
	configured = text && !strcmp(text, "true");
	lnetctl_doc_free(doc);
	return configured;
}

static int begin_change(void *arg, size_t size, struct lnet_ctl_err *e)
{
	struct daemon *d = arg;

	return d->state.path ? state_begin(&d->state, size, e->text, sizeof(e->text)) : 0;
}

/* The file says what the node is, whatever became of the change. */
static int end_change(void *arg, int rc, struct lnet_ctl_err *e)
{
	struct daemon *d = arg;

	if (d->state.path && !rc)
		return state_commit(&d->state, d->c, is_configured(d->c), e->text, sizeof(e->text));
	if (d->state.path)
		state_drop(&d->state);
	return rc;
}

static int fail(const char *what, int err)
{
	fprintf(stderr, "lnetd: %s: %s\n", what, strerror(-err));
	return err;
}

static int instance_start(struct daemon *d)
{
	struct lnet_cfg cfg = { .nr_shards = d->env_cfg.nr_shards };
	int rc = lnet_user_env_create(&d->env, &d->env_cfg);

	cfg.env = d->env;
	if (!rc)
		rc = lnet_create(&d->ln, &cfg);
	if (!rc)
		rc = lnet_user_env_start(d->env, d->ln);
	if (!rc)
		rc = lnet_lnd_register(d->ln, &lnet_socklnd_ops);
	return rc ? fail("cannot start", rc) : 0;
}

static int server_start(struct daemon *d)
{
	struct lnet_nl_server_cfg cfg = { .ln = d->ln, .name = d->name, .version = LNET_VERSION,
					  .begin = begin_change, .end = end_change, .arg = d };
	int rc = lnet_nl_server_create(&d->srv, &cfg);

	if (rc == -EADDRINUSE)
		fprintf(stderr, "lnetd: a node named '%s' of this user is there already\n",
			d->name);
	else if (rc)
		fail(d->name, rc);
	if (rc)
		return rc;
	d->c = lnetctl_open_local(lnet_nl_server_serve, d->srv);
	return d->c ? 0 : -ENOMEM;
}

static int tests_start(struct daemon *d)
{
	int rc = d->no_selftest ? 0 : selftest_start(&d->selftest, d->ln, d->name);

	return rc ? fail("self-test", rc) : 0;
}

static int configuration_load(struct daemon *d)
{
	struct lnet_ctl_err e;
	int rc = d->state.path ? state_load(d->c, d->state.path) : -ENOENT;

	if (rc != -ENOENT)
		return rc;
	rc = d->state.path ? state_begin(&d->state, 0, e.text, sizeof(e.text)) : 0;
	if (!rc && d->config)
		rc = config_load(d->c, d->config);
	return d->state.path && !rc ? end_change(d, rc, &e) : rc;
}

/* ---- stop ------------------------------------------------------------------------------------ */

/* Interfaces drain and stop while the threads still run. */
static void daemon_stop(struct daemon *d)
{
	notify("STOPPING=1");
	selftest_stop(d->selftest);
	if (d->c)
		lnetctl_unconfigure(d->c);
	lnetctl_close(d->c);
	lnet_nl_server_destroy(d->srv);
	if (d->env)
		lnet_user_env_stop(d->env);
	lnet_destroy(d->ln);
	selftest_free(d->selftest);
	lnet_user_env_destroy(d->env);
	state_drop(&d->state);
	free(d->state.next);
}

static int serve(struct daemon *d)
{
	int rc = 0;

	notify("READY=1");
	while (!stopping && !rc)
		rc = lnet_nl_server_step(d->srv, 1000);
	return rc ? fail("management socket", rc) : 0;
}

int main(int argc, char **argv)
{
	struct daemon d = { .name = LNET_NL_USER_NODE, .state.fd = -1, .state.lock_fd = -1 };
	int rc;

	output_check();
	rc = parse(&d, argc, argv);
	if (rc >= 0)
		return rc;
	setvbuf(stderr, NULL, _IOLBF, 0);
	plat_print_set(log_line);
	files_raise();
	rc = d.state.path ? state_lock(&d.state) : 0;
	if (rc)
		return 1;
	rc = instance_start(&d);
	if (!rc)
		rc = server_start(&d);
	if (!rc)
		rc = tests_start(&d);
	if (!rc) {
		signal_server = d.srv;
		signals_set();
		rc = configuration_load(&d);
	}
	if (!rc)
		rc = serve(&d);
	signal(SIGTERM, SIG_DFL);	/* a second one ends the wait for draining interfaces */
	daemon_stop(&d);
	return rc ? 1 : 0;
}
