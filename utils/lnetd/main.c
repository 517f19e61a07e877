/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lnetd: an LNet node in user space, configured by lnetctl. */
#include <errno.h>
#include <getopt.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include <lnet/progress.h>
#include <lnet/socklnd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lnet/control/control.h"
#include "lnet/user/netlink.h"
#include "uapi/lnet_nl.h"
#include <lnet/lnetctl.h>
#include "../lib/client.h"
#include "../lib/output.h"
#include "lnetd.h"

struct daemon {
	const char *name, *config;
	const char *consoles;		/* NIDs that may control self-tests; NULL: no self-test */
	struct state state;
	struct lnet_user_env_cfg env_cfg;
	struct lnet_env *env;
	struct lnet *ln;
	struct lnet_nl_server *srv;
	struct lnetctl *c;		/* to this node itself */
	int log_level;
	struct selftest *selftest;
};

static volatile sig_atomic_t stopping, stopping_uid, stopping_pid;
static struct lnet_nl_server *signal_server;

static void on_daemon_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	stopping_uid = (sig_atomic_t)info->si_uid;
	stopping_pid = info->si_pid;
	stopping = sig;
	lnet_nl_server_wake(signal_server);
}

static void log_plat(enum plat_level level, const char *text)
{
	static const enum lnet_log_level levels[] = {
		[PLAT_ERR] = LNET_LOG_ERROR, [PLAT_WARN] = LNET_LOG_WARNING,
		[PLAT_INFO] = LNET_LOG_INFO, [PLAT_DEBUG] = LNET_LOG_DEBUG,
	};

	log_text(NULL, levels[level], text);
}

/* ---- start ----------------------------------------------------------------------------------- */

enum { O_NAME = 'n', O_STATE = 's', O_CONFIG = 'c', O_SHARDS = 'S', O_LOG_LEVEL = 'l',
       O_SELFTEST = 't' };

static const struct option options[] = {
	{ "name", required_argument, NULL, O_NAME }, { "state", required_argument, NULL, O_STATE },
	{ "config", required_argument, NULL, O_CONFIG },
	{ "shards", required_argument, NULL, O_SHARDS },
	{ "log-level", required_argument, NULL, O_LOG_LEVEL },
	{ "service", no_argument, NULL, 'm' }, { "foreground", no_argument, NULL, 'f' },
	{ "selftest", required_argument, NULL, O_SELFTEST },
	{ "no-selftest", no_argument, NULL, 'T' },
	{ "verbose", no_argument, NULL, 'v' }, { "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' }, { 0 }
};

static const struct {
	int option;
	const char *name, *accepted;
} values[] = {
	{ O_NAME, "name", "1 to 63 characters without '/'" },
	{ O_STATE, "state", "the name of a file" },
	{ O_CONFIG, "config", "the name of a file" },
	{ O_SHARDS, "shards", "1 to 64" },
	{ O_SELFTEST, "selftest",
	  "'*' or a list of NIDs, such as '10.0.0.[1-4]@tcp 10.1.0.1@tcp1'" },
	{ O_LOG_LEVEL, "log-level", "error, warning, info or debug" },
};

static int daemon_help(void)
{
	puts("lnetd [--name NAME] [--state FILE] [--config FILE] [--shards N] [--service] "
	     "[--selftest CONSOLES] [--log-level LEVEL]\n"
	     "  --name NAME    name of the node in this network namespace; "
	     "default " LNET_NL_USER_NODE "\n"
	     "  --state FILE   save the configuration to FILE after each change, and read FILE at "
	     "start\n"
	     "  --config FILE  YAML file to import at start, unless --state FILE exists already\n"
	     "  --shards N     number of shards that divide the peers, each with a thread; 1 to "
	     "64\n"
	     "  --service      only service threads serve sockets and timers; default: also "
	     "threads "
	     "that wait\n"
	     "  --selftest C   take part in network self-tests that the nodes with the NIDs C "
	     "control; '*': any node\n"
	     "  --no-selftest  take no part in network self-tests (default)\n"
	     "  --log-level L  least severe messages to log: error, warning, info (default) or "
	     "debug\n"
	     "  --foreground   accepted without effect: lnetd always runs in the foreground\n"
	     "  --verbose      the same as --log-level debug");
	return 0;
}

static int daemon_usage(const char *fmt, ...) __attribute__((__format__(__printf__, 1, 2)));

static int daemon_usage(const char *fmt, ...)
{
	va_list args;

	fputs("lnetd: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("; 'lnetd --help' lists the options\n", stderr);
	return EXIT_USAGE;
}

static int usage_value(int option, const char *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values) - 1 && values[i].option != option; i++)
		;
	if (!value)
		return daemon_usage("--%s needs a value: %s", values[i].name, values[i].accepted);
	return daemon_usage("--%s must be %s, not '%s'", values[i].name, values[i].accepted, value);
}

/*
 * Reports an option that getopt_long() rejected. @c is ':' for a missing value, '?' for an unknown
 * option.
 */
static int daemon_usage_option(int c, char **argv)
{
	const char *word = argv[optind - 1];

	if (c == ':')
		return usage_value(optopt, NULL);
	if (optopt && !strncmp(word, "--", 2))
		return daemon_usage("--%.*s takes no value", (int)strcspn(word + 2, "="), word + 2);
	if (optopt)
		return daemon_usage("there is no option '-%c'", optopt);
	return daemon_usage("there is no option '%s'", word);
}

static bool shards_parse(struct daemon *d, const char *text)
{
	char *end;

	d->env_cfg.nr_shards = (unsigned int)strtoul(text, &end, 10);
	return *text && !*end && d->env_cfg.nr_shards - 1 <= 63;
}

static bool name_parse(struct daemon *d, const char *text)
{
	d->name = text;
	return *text && strlen(text) < LNET_NL_NODE_NAME_SIZE && !strchr(text, '/');
}

static bool consoles_option_parse(struct daemon *d, const char *text)
{
	struct lnet_nidlist list;
	bool good = !strcmp(text, "*") || !lnet_nidlist_parse(&list, text);

	if (good && strcmp(text, "*"))
		lnet_nidlist_free(&list);
	d->consoles = text;
	return good;
}

/* -1: continue, else exit status. */
static int daemon_args_parse(struct daemon *d, int argc, char **argv)
{
	int c;

	if (argc > 1 && !strcmp(argv[1], "help"))
		return daemon_help();
	while ((c = getopt_long(argc, argv, ":n:s:c:S:l:t:mfTvVh", options, NULL)) != -1) {
		switch (c) {
		case O_STATE: d->state.path = optarg; break;
		case O_CONFIG: d->config = optarg; break;
		case 'm': d->env_cfg.mode = LNET_PROGRESS_SERVICE; break;
		case 'f': break;
		case 'T': d->consoles = NULL; break;
		case 'v': d->log_level = LNET_LOG_DEBUG; break;
		case 'V': puts("lnetd " LNET_VERSION); return 0;
		case 'h': return daemon_help();
		case O_NAME:
			if (!name_parse(d, optarg))
				return usage_value(c, optarg);
			break;
		case O_SHARDS:
			if (!shards_parse(d, optarg))
				return usage_value(c, optarg);
			break;
		case O_SELFTEST:
			if (!consoles_option_parse(d, optarg))
				return usage_value(c, optarg);
			break;
		case O_LOG_LEVEL:
			d->log_level = log_level_find(optarg);
			if (d->log_level < 0)
				return usage_value(c, optarg);
			break;
		default: return daemon_usage_option(c, argv);
		}
	}
	if (optind == argc)
		return -1;
	return daemon_usage("unexpected argument '%s': lnetd accepts only options", argv[optind]);
}

static void signals_set(void)
{
	struct sigaction stop = { .sa_sigaction = on_daemon_signal, .sa_flags = SA_SIGINFO };

	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	signal(SIGXFSZ, SIG_IGN);	/* write() then returns an error */
	signal(SIGHUP, SIG_IGN);
}

/*
 * Raises the limit of descriptors to the permitted maximum, because each connection needs a
 * descriptor.
 */
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

/* Ends a change. If it succeeded, saves the configuration. Otherwise keeps the old file. */
static int end_change(void *arg, int rc, struct lnet_ctl_err *e)
{
	struct daemon *d = arg;

	if (d->state.path && !rc)
		return state_commit(&d->state, d->c, is_configured(d->c), e->text, sizeof(e->text));
	if (d->state.path)
		state_drop(&d->state);
	return rc;
}

static int daemon_fail(const char *what, int err)
{
	log_line(LNET_LOG_ERROR, "%s: %s", what, strerror(-err));
	return err;
}

static int daemon_instance_start(struct daemon *d)
{
	struct lnet_cfg cfg = { .nr_shards = d->env_cfg.nr_shards, .log = log_text,
				.log_level = (uint8_t)d->log_level };
	int rc = lnet_user_env_create(&d->env, &d->env_cfg);

	cfg.env = d->env;
	if (!rc)
		rc = lnet_create(&d->ln, &cfg);
	if (!rc)
		rc = lnet_user_env_start(d->env, d->ln);
	if (!rc)
		rc = lnet_lnd_register(d->ln, &lnet_socklnd_ops);
	return rc ? daemon_fail("cannot start", rc) : 0;
}

/*
 * A node computes its netlink port from its name and its user. Describes the process that already
 * uses the port of this node. If the caller cannot see the process, @text is empty.
 */
static const char *holder_text(const struct daemon *d, char *text, size_t size)
{
	int pid = presence_pid(lnet_nl_user_port(d->name, getuid()));
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	text[0] = 0;
	if (pid && !stat(path, &st))
		snprintf(text, size, " (pid %d of user %u has its port)", pid, st.st_uid);
	return text;
}

static int server_start(struct daemon *d)
{
	char holder[80];
	struct lnet_nl_server_cfg cfg = { .ln = d->ln, .name = d->name, .version = LNET_VERSION,
					  .begin = begin_change, .end = end_change, .arg = d };
	int rc = lnet_nl_server_create(&d->srv, &cfg);

	if (rc == -EADDRINUSE)
		log_line(LNET_LOG_ERROR, "a node named '%s' of this user already exists%s",
			 d->name, holder_text(d, holder, sizeof(holder)));
	else if (rc)
		daemon_fail(d->name, rc);
	if (rc)
		return rc;
	d->c = lnetctl_open_local(lnet_nl_server_serve, d->srv);
	return d->c ? 0 : -ENOMEM;
}

static int tests_start(struct daemon *d)
{
	int rc = d->consoles ? selftest_start(&d->selftest, d->ln, d->name, d->consoles) : 0;

	if (rc == -ENOTCONN) {		/* there is no socket; the log contains the reason */
		selftest_free(d->selftest);
		d->selftest = NULL;
		return 0;
	}
	return rc ? daemon_fail("self-test", rc) : 0;
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

/* Stops the daemon. Its threads still run while interfaces drain and stop. */
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

/*
 * Writes the nets of the interfaces. If the interfaces are ordered by net, each net appears once.
 */
static void nets_write(struct daemon *d, char *to, size_t size)
{
	uint32_t net, last = 0;
	struct lnet_process id;
	char text[LNET_NIDSTR_SIZE];
	unsigned int i;
	size_t len = 0;

	snprintf(to, size, "none");
	for (i = 1; !lnet_get_id(d->ln, i, &id) && len < size; i++) {
		net = lnet_nid_net(&id.nid);
		if (net != last)
			len += (size_t)snprintf(to + len, size - len, "%s%s", len ? " " : "",
						lnet_net_str(net, text));
		last = net;
	}
}

static void log_started(struct daemon *d)
{
	char nets[200];

	nets_write(d, nets, sizeof(nets));
	log_line(LNET_LOG_INFO, "lnetd " LNET_VERSION " started: pid %d, uid %u; state file %s; "
		 "nets %s", (int)getpid(), (unsigned int)getuid(),
		 d->state.path ? d->state.path : "none", nets);
}

static void log_stops(void)
{
	if (stopping)
		log_line(LNET_LOG_INFO, "lnetd stops: %s, by uid %u, pid %d", strsignal(stopping),
			 (unsigned int)stopping_uid, (int)stopping_pid);
	else
		log_line(LNET_LOG_ERROR, "lnetd stops after an error");
}

static int daemon_serve(struct daemon *d)
{
	int rc = 0;

	notify("READY=1");
	log_started(d);
	while (!stopping && !rc)
		rc = lnet_nl_server_step(d->srv, 1000);
	return rc ? daemon_fail("cannot open the management socket", rc) : 0;
}

int main(int argc, char **argv)
{
	struct daemon d = { .name = LNET_NL_USER_NODE, .log_level = LNET_LOG_INFO,
			    .state.fd = -1, .state.lock_fd = -1 };
	int rc;

	output_check();
	rc = daemon_args_parse(&d, argc, argv);
	if (rc >= 0)
		return rc;
	signal(SIGPIPE, SIG_IGN);
	log_open(d.name, d.log_level);
	plat_print_set(log_plat);
	files_raise();
	rc = d.state.path ? state_lock(&d.state) : 0;
	if (rc) {
		log_close();
		return 1;
	}
	rc = daemon_instance_start(&d);
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
		rc = daemon_serve(&d);
	log_stops();
	/* a second signal kills the process while interfaces drain */
	signal(SIGTERM, SIG_DFL);
	daemon_stop(&d);
	log_line(LNET_LOG_INFO, "lnetd " LNET_VERSION " stopped: state file %s",
		 d.state.path ? d.state.path : "none");
	log_close();
	return rc ? 1 : 0;
}
