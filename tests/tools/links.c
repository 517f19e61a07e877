/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * links NODE NET ADDRESS: measures how long after its device the interface of NODE on NET changes.
 * The device is the one that has ADDRESS in this network namespace. It is up if it is set up and
 * has a carrier, also before the kernel reports that.
 *
 * Prints a line for each change of the interface, until it is killed:
 *
 *	down|up MILLISECONDS SENT
 *
 * SENT is the number of messages that the interface has sent while it was down, without the first
 * 10 ms. A thread may count a message so much later than it chose the interface. Prints "missed" if
 * the device changed twice before the interface changed.
 *
 * The program polls the device and the interface in turn. A duration begins before the last poll
 * that found the old state of the device, so each printed duration is an upper bound.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <lnet/lnetctl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define PAUSE_NS	4000000
#define SETTLE_NS	10000000
/* of linux/if.h, which cannot be included together with net/if.h */
#define LOWER_UP	0x10000U
#define NEED		(IFF_UP | LOWER_UP) /* flags of a device that is up */

struct watch {
	struct lnetctl *ctl;
	const char *net;
	struct in_addr addr;
	bool device_up, ni_up;
	uint64_t old_ns;		/* before the last poll that found the device unchanged */
	uint64_t changed_ns;		/* time of the last change of the device; 0: none */
	uint64_t down_ns;		/* when the interface was first down */
	/* messages of the interface: now, shortly after down_ns, when it was last down */
	int64_t sent, sent_first, sent_last;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static bool is_up(const struct watch *w)
{
	struct ifaddrs *all, *ifa;
	bool up = false;

	if (getifaddrs(&all))
		return w->device_up;
	for (ifa = all; ifa; ifa = ifa->ifa_next) {
		const struct sockaddr_in *at = (const void *)ifa->ifa_addr;

		if (at && at->sin_family == AF_INET && at->sin_addr.s_addr == w->addr.s_addr)
			up = (ifa->ifa_flags & NEED) == NEED;
	}
	freeifaddrs(all);
	return up;
}

/* Reads the status of the interface, and the number of messages it has sent. */
static bool poll_ni(struct watch *w)
{
	const struct lnetctl_node *net, *ni;
	struct lnetctl_node *doc;
	const char *status;

	if (lnetctl_net_show(w->ctl, w->net, 1, false, &doc)) {
		lnetctl_error_print(w->ctl, stderr);
		exit(1);
	}
	net = lnetctl_find(doc, "net");
	net = net ? net->first : NULL;
	ni = lnetctl_find(net, "local NI(s)");
	ni = ni ? ni->first : NULL;
	status = lnetctl_text(ni, "status");
	if (!status ||
	    lnetctl_num(lnetctl_find(lnetctl_find(ni, "statistics"), "send_count"), &w->sent)) {
		fprintf(stderr, "net %s has no interface\n", w->net);
		exit(1);
	}
	status = strcmp(status, "down") ? "up" : NULL;	/* a damped interface counts as up */
	lnetctl_doc_free(doc);
	return status;
}

static void poll_device(struct watch *w)
{
	uint64_t begin_ns = now_ns();

	if (is_up(w) != w->device_up) {
		if (w->changed_ns)
			printf("missed\n");
		w->device_up = !w->device_up;
		w->changed_ns = w->old_ns;
	}
	w->old_ns = begin_ns;
}

static void step(struct watch *w)
{
	bool up;

	poll_device(w);
	up = poll_ni(w);
	if (!up && !w->ni_up) {
		w->sent_last = w->sent;
		if (now_ns() - w->down_ns < SETTLE_NS)
			w->sent_first = w->sent;
	}
	if (up == w->ni_up)
		return;
	/* The interface may have changed before this program polled the device. */
	poll_device(w);
	printf("%s %.1f %lld\n", up ? "up" : "down",
	       w->changed_ns ? (double)(now_ns() - w->changed_ns) / 1e6 : 0.0,
	       up ? (long long)(w->sent_last - w->sent_first) : 0);
	w->ni_up = up;
	w->down_ns = now_ns();
	w->sent_first = w->sent_last = w->sent;
	w->changed_ns = 0;
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	struct watch w = { .net = argc > 2 ? argv[2] : "" };
	char why[256];
	int err;

	if (argc != 4 || inet_pton(AF_INET, argv[3], &w.addr) != 1)
		return 2;
	w.ctl = lnetctl_open(argv[1], &err, why, sizeof(why));
	if (!w.ctl) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* On a busy machine, this program would otherwise measure its own waits for a processor. */
	setpriority(PRIO_PROCESS, 0, -20);
	w.old_ns = now_ns();
	w.device_up = is_up(&w);
	w.ni_up = poll_ni(&w);
	printf("ready\n");
	for (;;) {
		step(&w);
		nanosleep(&pause, NULL);
	}
}
