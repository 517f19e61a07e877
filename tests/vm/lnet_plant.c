/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes errors on purpose, so that tests/vm/plants can check that debug kernels report them. The
 * word written to the parameter "do" selects the error:
 *
 *	warn	WARN()
 *	uaf	reads memory that was freed
 *	bounds	reads beyond memory
 *	leak	loses memory
 *	sleep	sleeps under a spin lock
 *	order	takes two locks in both orders
 *	race	two threads change a variable without a lock
 *	work	frees work that is queued
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#define SIZE		100
#define RACE_ROUNDS	500000

static DEFINE_SPINLOCK(first);
static DEFINE_SPINLOCK(second);
static DECLARE_COMPLETION(raced);
static unsigned int shared;
static u8 seen;

static void do_warn(void)
{
	WARN(1, "planted");
}

static void do_uaf(void)
{
	u8 *mem = kzalloc(SIZE, GFP_KERNEL);

	if (!mem)
		return;
	OPTIMIZER_HIDE_VAR(mem);
	kfree(mem);
	/* cppcheck-suppress deallocuse */
	seen = READ_ONCE(mem[SIZE / 2]);
}

static void do_bounds(void)
{
	u8 *mem = kzalloc(SIZE, GFP_KERNEL);

	if (!mem)
		return;
	OPTIMIZER_HIDE_VAR(mem);
	seen = READ_ONCE(mem[SIZE]);
	kfree(mem);
}

static void do_leak(void)
{
	unsigned int i;

	/* More than one, because a register may still have the last pointer. */
	for (i = 0; i < 10; i++)
		memset(kmalloc(SIZE, GFP_KERNEL), i, SIZE);
}

static void do_sleep(void)
{
	spin_lock(&first);
	msleep(1);
	spin_unlock(&first);
}

static void do_order(void)
{
	spin_lock(&first);
	spin_lock(&second);
	spin_unlock(&second);
	spin_unlock(&first);
	spin_lock(&second);
	spin_lock(&first);
	spin_unlock(&first);
	spin_unlock(&second);
}

static int race(void *unused)
{
	unsigned int i;

	for (i = 0; i < RACE_ROUNDS; i++) {
		shared++;
		barrier();
	}
	complete(&raced);
	return 0;
}

static void do_race(void)
{
	struct task_struct *task = kthread_run(race, NULL, "lnet_plant");

	race(NULL);
	if (!IS_ERR(task))
		wait_for_completion(&raced);
	wait_for_completion(&raced);
}

static void nothing(struct work_struct *work)
{
}

static void do_work(void)
{
	struct delayed_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return;
	INIT_DELAYED_WORK(work, nothing);
	schedule_delayed_work(work, HZ);
	kfree(work);
}

static const struct plant {
	const char *name;
	void (*fn)(void);
} plants[] = {
	{ "warn", do_warn }, { "uaf", do_uaf }, { "bounds", do_bounds }, { "leak", do_leak },
	{ "sleep", do_sleep }, { "order", do_order }, { "race", do_race }, { "work", do_work },
};

static int do_set(const char *text, const struct kernel_param *kp)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(plants); i++)
		if (sysfs_streq(text, plants[i].name)) {
			plants[i].fn();
			return 0;
		}
	return -EINVAL;
}

static const struct kernel_param_ops do_ops = { .set = do_set };
module_param_cb(do, &do_ops, NULL, 0200);
MODULE_PARM_DESC(do, "what to do wrong");

static int __init plant_begin(void)
{
	return 0;
}

static void __exit plant_end(void)
{
}

module_init(plant_begin);
module_exit(plant_end);
MODULE_DESCRIPTION("LNet: does wrong on purpose");
MODULE_LICENSE("Dual BSD/GPL");
