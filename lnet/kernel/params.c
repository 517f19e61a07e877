/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks the parameters of lnet.ko, which have stock LNet's names, and applies them to new
 * instances. After the load, reads and writes of a parameter act on the caller's namespace.
 */
#include "kernel.h"
#include "cpt.h"
#include "netns.h"
#include "networks.h"
#include <linux/moduleparam.h>
#include <linux/nsproxy.h>
#include <net/net_namespace.h>
#include "names/names.h"
#include "shard/shard.h"
#include "router/router.h"

#define TEXT_MAX 4096

enum kind { TUNED_KIND, NUMBER_KIND, TEXT_KIND };

/* A parameter. After the module is loaded, it is written under the module's parameter lock. */
struct param {
	enum kind kind;
	bool given;
	const char *tunable;
	/* default value of new instances, if the parameter was given */
	u64 tuned;
	int value, min, max;
	char *text;			/* NULL: @initial */
	const char *initial;
	int (*check)(const char *text);
};

static int forwarding_check(const char *text)
{
	return *text && strcmp(text, "enabled") && strcmp(text, "disabled") ? -EINVAL : 0;
}

#define TUNED(name, mode, tunable_, help)						\
	static struct param param_##name = { .kind = TUNED_KIND, .tunable = tunable_ };
#define NUMBER(name, mode, def, min_, max_, help)					\
	static struct param param_##name = { .kind = NUMBER_KIND, .value = def,		\
					     .min = min_, .max = max_ };
#define TEXT(name, mode, def, check_, help)						\
	static struct param param_##name = { .kind = TEXT_KIND, .initial = def,		\
					     .check = check_ };
#include "params.def"
#undef TUNED
#undef NUMBER
#undef TEXT

static struct param *const params[] = {
#define TUNED(name, mode, tunable, help)		&param_##name,
#define NUMBER(name, mode, def, min, max, help)		&param_##name,
#define TEXT(name, mode, def, check, help)		&param_##name,
#include "params.def"
#undef TUNED
#undef NUMBER
#undef TEXT
};

static_assert(ARRAY_SIZE(params) == LNET_NR_PARAMS);

/* [the module's parameter lock] True after the module has started; then namespaces can be used. */
static bool live;

/* ---- tunables -------------------------------------------------------------------------------- */

static struct net *callers_net(void)
{
	return current->nsproxy->net_ns;
}

/*
 * Parses a value as stock's module does. The value of lnet_peer_discovery_disabled is the negation
 * of `discovery'.
 */
static int tuned_parse(const struct param *par, const char *text, u64 *value)
{
	const struct lnet_tunable_info *info = lnet_tunable_find(par->tunable);
	u64 asked;
	int rc = info ? lnet_tunable_parse(par->tunable, text, &asked) : -ENOENT;

	if (rc)
		return rc;
	*value = lnet_tunable_taken(info, asked);
	if (*value != asked)
		pr_notice("lnet: parameter %s=%llu is out of range; using %llu\n", info->stock,
			  asked, *value);
	if (par == &param_lnet_peer_discovery_disabled)
		*value = *value > 1 ? *value : !*value;
	return *value < info->min || *value > info->max ? -ERANGE : 0;
}

/* A value that is written to sysfs ends with a newline. */
static int tuned_set(struct param *par, const char *text)
{
	struct lnet_netns *ns;
	char buf[32];
	u64 value;
	int rc;

	if (strscpy(buf, text, sizeof(buf)) < 0)
		return -EINVAL;
	rc = tuned_parse(par, strim(buf), &value);
	if (rc)
		return rc;
	if (!live) {
		par->tuned = value;
		par->given = true;
		return 0;
	}
	rc = lnet_netns_up(callers_net(), &ns);
	return rc ? rc : lnet_tunable_set(ns->ln, par->tunable, value);
}

static u64 tuned_value(const struct param *par, const struct lnet_tunable_info *info)
{
	const struct lnet *ln = live ? READ_ONCE(lnet_netns_of(callers_net())->ln) : NULL;

	if (ln)
		return lnet_tunable_get(ln, info);
	return par->given ? par->tuned : info->def;
}

/* Writes a time in seconds, without zeros at the end, as `lnetctl global show' does. */
static int seconds_show(char *buf, u64 ns)
{
	u64 whole = div_u64(ns, NSEC_PER_SEC), rest = ns - whole * NSEC_PER_SEC;
	int len = sysfs_emit(buf, "%llu.%09llu", whole, rest);

	while (buf[len - 1] == '0')
		len--;
	len -= buf[len - 1] == '.';
	return len + sysfs_emit_at(buf, len, "\n");
}

static int tuned_show(char *buf, const struct param *par)
{
	static const char *const accept[] = { "none", "secure", "all" };
	const struct lnet_tunable_info *info = lnet_tunable_find(par->tunable);
	u64 value = tuned_value(par, info);

	if (par == &param_accept)
		return sysfs_emit(buf, "%s\n", accept[min_t(u64, value, 2)]);
	if (par == &param_lnet_peer_discovery_disabled)
		return sysfs_emit(buf, "%d\n", !value);
	if (info->unit != LNET_UNIT_NS)
		return sysfs_emit(buf, "%llu\n", value);
	return seconds_show(buf, value);
}

/* ---- error messages -------------------------------------------------------------------------- */

/* Writes the accepted values of a tunable as `lnetctl set' reports them. */
static void range_text(const struct param *par, char *buf, size_t size)
{
	const struct lnet_tunable_info *info = lnet_tunable_find(par->tunable);

	if (par == &param_lnet_interfaces_max)
		scnprintf(buf, size, "0 to %d", INT_MAX);
	else
		lnet_tunable_range(info, buf, size);
}

/* Returns a text that states which values the check of a parameter accepts. */
static const char *syntax_of(const struct param *par)
{
	if (par == &param_networks)
		return "nets and interfaces such as tcp(eth0),tcp1(eth1)";
	if (par == &param_ip2nets)
		return "rules such as tcp(eth0) 10.0.*.*; tcp1 10.1.*.*";
	if (par == &param_routes)
		return "routes such as tcp1 10.0.0.[1-4]@tcp";
	return par == &param_forwarding ? "enabled or disabled" : "CPUs such as N or 0[0-3] 1[4-7]";
}

/*
 * Logs a separate message, because in the kernel's own message the name follows the value, and a
 * long value hides the name.
 */
static int param_report_error(const struct param *par, const char *name, const char *text, int rc)
{
	char accepted[64];

	if (par->kind == TUNED_KIND)
		range_text(par, accepted, sizeof(accepted));
	else if (par->kind == NUMBER_KIND)
		scnprintf(accepted, sizeof(accepted), "%d to %d", par->min, par->max);
	else if (rc == -ENOSPC)
		scnprintf(accepted, sizeof(accepted), "at most %d bytes", TEXT_MAX - 1);
	else
		strscpy(accepted, syntax_of(par), sizeof(accepted));
	if (rc == -ENOMEM)
		pr_err("lnet: parameter %s cannot be set: out of memory\n", name);
	else
		pr_err("lnet: parameter %s must be %s, not %*pE\n", name, accepted,
		       (int)strcspn(text, "\n"), text);
	return rc == -ERANGE ? -EINVAL : rc;	/* as stock */
}

/* ---- numbers and texts ----------------------------------------------------------------------- */

static enum lnet_param param_index(const struct param *par)
{
	unsigned int i = 0;

	while (params[i] != par)
		i++;
	return i;
}

static int number_set(struct param *par, const char *text)
{
	enum lnet_param ix = param_index(par);
	struct lnet_netns *ns;
	int value, rc = kstrtoint(text, 0, &value);

	if (rc)
		return rc;
	if (value < par->min || value > par->max)
		return -ERANGE;
	if (!live) {
		par->value = value;
		par->given = true;
		return 0;
	}
	ns = lnet_netns_of(callers_net());
	ns->numbers[ix] = value;
	__set_bit(ix, ns->written);
	return 0;
}

static int number_value(const struct param *par)
{
	const struct lnet_netns *ns = live ? lnet_netns_of(callers_net()) : NULL;
	enum lnet_param ix = param_index(par);

	return ns && test_bit(ix, ns->written) ? ns->numbers[ix] : par->value;
}

static int text_set(struct param *par, const char *text)
{
	char *copy;
	int rc;

	if (strnlen(text, TEXT_MAX) == TEXT_MAX)
		return -ENOSPC;
	rc = par->check(text);
	copy = rc ? NULL : kstrdup(text, GFP_KERNEL);
	if (!copy)
		return rc ? rc : -ENOMEM;
	kfree(par->text);
	par->text = copy;
	par->given = true;
	return 0;
}

static const char *param_text(const struct param *par)
{
	return par->text ? par->text : par->initial;
}

/* ---- the kernel's side ----------------------------------------------------------------------- */

static int module_param_set(const char *text, const struct kernel_param *kp)
{
	struct param *par = kp->arg;
	int rc = text ? 0 : -EINVAL;

	if (rc)
		return rc;
	if (par->kind == TUNED_KIND)
		rc = tuned_set(par, text);
	else if (par->kind == NUMBER_KIND)
		rc = number_set(par, text);
	else
		rc = text_set(par, text);
	if (!rc && live)
		lnet_param_written(kp->name, text);
	return rc ? param_report_error(par, kp->name, text, rc) : 0;
}

static int module_param_get(char *buf, const struct kernel_param *kp)
{
	const struct param *par = kp->arg;

	switch (par->kind) {
	case TUNED_KIND:
		return tuned_show(buf, par);
	case NUMBER_KIND:
		return sysfs_emit(buf, "%d\n", number_value(par));
	default:
		return sysfs_emit(buf, "%s\n", param_text(par));
	}
}

static void param_free(void *arg)
{
	struct param *par = arg;

	kfree(par->text);
	par->text = NULL;
}

static const struct kernel_param_ops param_ops = {
	.set = module_param_set,
	.get = module_param_get,
	.free = param_free,
};

#define PARAM(name, mode, help)								\
	module_param_cb(name, &param_ops, &param_##name, mode);				\
	MODULE_PARM_DESC(name, help);
#define TUNED(name, mode, tunable, help)		PARAM(name, mode, help)
#define NUMBER(name, mode, def, min, max, help)		PARAM(name, mode, help)
#define TEXT(name, mode, def, check, help)		PARAM(name, mode, help)
#include "params.def"
#undef TUNED
#undef NUMBER
#undef TEXT

/* ---- for other files ------------------------------------------------------------------------- */

int lnet_params_check(void)
{
	if (*param_text(&param_networks) && *param_text(&param_ip2nets)) {
		pr_err("lnet: parameters networks and ip2nets exclude each other: set only one of "
		       "them\n");
		return -EINVAL;
	}
	if (*param_text(&param_routes))
		pr_warn("lnet: parameter routes has no effect: add the routes with lnetctl\n");
	return 0;
}

void lnet_params_live(bool on)
{
	kernel_param_lock(THIS_MODULE);
	live = on;
	kernel_param_unlock(THIS_MODULE);
}

void lnet_params_apply(struct lnet *ln)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (params[i]->kind == TUNED_KIND && params[i]->given)
			lnet_tunable_set(ln, params[i]->tunable, params[i]->tuned);
	if (!strcmp(param_text(&param_forwarding), "enabled") && lnet_router_enable(ln, true))
		pr_warn("lnet: parameter forwarding: cannot switch routing on: out of memory\n");
}

int lnet_params_cpts(void)
{
	return lnet_cpts_init(param_text(&param_cpu_pattern), param_cpu_npartitions.value);
}

bool lnet_params_config_on_load(void)
{
	return param_config_on_load.value;
}

int lnet_params_networks(struct lnet_netns *ns, struct lnet_ctl_err *e)
{
	const char *rules = param_text(&param_ip2nets), *networks = param_text(&param_networks);

	if (*rules)
		return lnet_ip2nets_add(ns, rules, e);
	return lnet_networks_add(ns, *networks ? networks : "tcp", e);
}
