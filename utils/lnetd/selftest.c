/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The network self-test in the daemon: a thread that runs it, and the socket for lst. */
#include <errno.h>
#include <lnet/progress.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "lnet/selftest/console_link.h"
#include "lnet/selftest/selftest.h"
#include <lnet/env.h>
#include "lnetd.h"
#include "utils/lib/selftest_socket.h"

#define CLIENTS_MAX	64
#define CLIENTS_PER_USER 16	/* limit for a user who is neither root nor the node's owner */
#define CLIENTS_OF_USERS 48	/* of all such users */
/* Maximum wait at the end for requests in progress. Requests that last longer end with the node. */
#define STOP_MS		10000

/*
 * A client on the socket. The thread reads its requests, executes them and sends the replies, one
 * by one.
 */
struct client {
	struct selftest *t;
	int fd;				/* -1: free */
	uid_t uid;
	/* running: a command is in progress; done: its reply is complete, protected by t->lock */
	bool running, done;
	bool stuck;			/* does not read its reply */
	uint64_t turn;			/* value of t->turn at the connection or last reply */
	struct lst_command cmd;
	size_t have;			/* bytes of @in */
	size_t sent;			/* of @head and the text */
	struct lst_link_reply head;
	unsigned char *in;		/* head and request */
};

struct selftest {
	struct lst_host host;		/* first */
	struct lnet *ln;
	struct lst *st;
	struct lnet_nidlist consoles;
	pthread_t thread;
	pthread_mutex_t lock;
	int listen_fd, wake_fd;
	struct sockaddr_un at;		/* address of @listen_fd */
	uint64_t turn;
	bool stop, started;
	struct client client[CLIENTS_MAX];
};

static void selftest_wake_up(struct selftest *t)
{
	uint64_t one = 1;

	if (write(t->wake_fd, &one, sizeof(one)) < 0)
		/*
		 * The counter of the eventfd is full, so the thread has wake-ups that it has not
		 * read yet. The thread therefore wakes up without this write.
		 */
		return;
}

static void selftest_arm(struct lst_host *host)
{
	selftest_wake_up((struct selftest *)host);
}

/* ---- a client -------------------------------------------------------------------------------- */

static void client_free(struct client *c)
{
	close(c->fd);
	c->fd = -1;
	kfree(c->cmd.answer);
	c->cmd.answer = NULL;
	free(c->in);
	c->in = NULL;
}

static void on_client_done(struct lst_command *cmd)
{
	struct client *c = container_of(cmd, struct client, cmd);

	pthread_mutex_lock(&c->t->lock);
	c->done = true;
	pthread_mutex_unlock(&c->t->lock);
	selftest_wake_up(c->t);
}

/*
 * Returns the number of bytes to receive. It is the size of the header, and after the header was
 * received, the size of header and request.
 */
static size_t client_bytes_wanted(const struct client *c)
{
	struct lst_link_request head;

	if (c->have < sizeof(head))
		return sizeof(head);
	memcpy(&head, c->in, sizeof(head));
	return sizeof(head) + (head.len <= LST_REQUEST_MAX ? head.len : 0);
}

static bool uid_is_owner(uid_t uid)
{
	return uid == 0 || uid == getuid();
}

static bool client_may_run(const struct client *c)
{
	return uid_is_owner(c->uid) || !lst_command_changes(&c->cmd);
}

static void client_command_start(struct client *c)
{
	c->cmd = (struct lst_command){
		.request = (const char *)c->in + sizeof(struct lst_link_request),
		.len = (uint32_t)(c->have - sizeof(struct lst_link_request)),
		.done = on_client_done,
	};
	c->running = true;
	c->sent = 0;
	if (client_may_run(c)) {
		lst_command(c->t->st, &c->cmd);
	} else {
		c->cmd.status = -EPERM;
		on_client_done(&c->cmd);
	}
}

/* Reads from a client. False: the client disconnected, or sent an invalid request. */
static bool client_read(struct client *c)
{
	struct lst_link_request head;

	while (!c->running) {
		ssize_t n = recv(c->fd, c->in + c->have, client_bytes_wanted(c) - c->have,
				 MSG_DONTWAIT);

		if (n <= 0)
			return n < 0 && (errno == EAGAIN || errno == EINTR);
		c->have += (size_t)n;
		if (c->have < sizeof(head))
			continue;
		memcpy(&head, c->in, sizeof(head));
		if (!head.len || head.len > LST_REQUEST_MAX)
			return false;
		if (c->have == sizeof(head) + head.len)
			client_command_start(c);
	}
	return true;
}

/* Sends as much of the reply as the client accepts. False: the connection failed. */
static bool client_write(struct client *c)
{
	c->head = (struct lst_link_reply){ c->cmd.status, c->cmd.used };
	while (c->sent < sizeof(c->head) + c->cmd.used) {
		bool in_head = c->sent < sizeof(c->head);
		const char *from = in_head ? (char *)&c->head + c->sent :
					     c->cmd.answer + (c->sent - sizeof(c->head));
		size_t len = in_head ? sizeof(c->head) - c->sent :
				       sizeof(c->head) + c->cmd.used - c->sent;
		ssize_t n = send(c->fd, from, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		c->stuck = n < 0;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		c->sent += (size_t)n;
	}
	kfree(c->cmd.answer);
	c->cmd.answer = NULL;
	c->have = 0;
	c->running = c->done = false;
	c->turn = ++c->t->turn;
	return true;
}

static bool is_done(struct client *c)
{
	bool done;

	pthread_mutex_lock(&c->t->lock);
	done = c->done;
	pthread_mutex_unlock(&c->t->lock);
	return done;
}

static void client_serve(struct client *c, short events)
{
	bool stays = true;

	if (c->running && is_done(c))
		stays = client_write(c);
	else if (!c->running && events)
		stays = client_read(c);
	if (!stays)
		client_free(c);
}

/* Returns which of two clients is replaced first. @a and @b may be NULL. */
static struct client *first_to_go(struct client *a, struct client *b)
{
	if (!a || !b)
		return a ? a : b;
	if (a->running != b->running)
		return a->running ? b : a;
	return a->turn < b->turn ? a : b;
}

/*
 * Clients of a group: their number, and the client to replace if all places are in use (NULL:
 * none).
 */
struct crowd {
	unsigned int nr;
	struct client *out;
};

static void crowd_add(struct crowd *crowd, struct client *c)
{
	crowd->nr++;
	if (!c->running || c->stuck)
		crowd->out = first_to_go(crowd->out, c);
}

/*
 * Finds a place for a client of @uid. Prefers a free place, then the place of a client without a
 * request, then the place of a client that does not read its reply. If a limit for users is
 * reached, replaces only clients that count for this limit. NULL: no place.
 */
static struct client *client_place_find(struct selftest *t, uid_t uid)
{
	struct crowd all = { 0 }, users = { 0 }, own = { 0 };
	struct client *c, *unused = NULL;

	for (c = t->client; c < t->client + CLIENTS_MAX; c++) {
		if (c->fd < 0) {
			unused = c;
			continue;
		}
		crowd_add(&all, c);
		if (!uid_is_owner(c->uid))
			crowd_add(&users, c);
		if (c->uid == uid)
			crowd_add(&own, c);
	}
	if (!uid_is_owner(uid) && own.nr >= CLIENTS_PER_USER)
		return own.out;
	if (!uid_is_owner(uid) && users.nr >= CLIENTS_OF_USERS)
		return users.out;
	return unused ? unused : all.out;
}

static void client_new(struct selftest *t)
{
	int fd = accept4(t->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);
	struct client *c;

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) ||
	    !(c = client_place_find(t, who.uid))) {
		close(fd);
		return;
	}
	if (c->fd >= 0)
		client_free(c);
	*c = (struct client){ .t = t, .fd = fd, .uid = who.uid, .turn = ++t->turn,
			      .in = malloc(sizeof(struct lst_link_request) + LST_REQUEST_MAX) };
	if (!c->in)
		client_free(c);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/*
 * Returns the time until the deadline with a resolution of ns. A resolution of ms would not be
 * sufficient, because a batch begins on many nodes at the same time. NULL: no deadline.
 */
static const struct timespec *pause_of(const struct selftest *t, uint64_t due_ns,
				       struct timespec *pause)
{
	struct lnet_env *env = lnet_env_of(t->ln);
	uint64_t now = env->ops->now_ns(env);
	uint64_t left = due_ns <= now ? 0 : due_ns - now;

	if (due_ns == UINT64_MAX)
		return NULL;
	pause->tv_sec = (time_t)min(left / 1000000000, (uint64_t)60);
	pause->tv_nsec = (long)(left % 1000000000);
	return pause;
}

static void *selftest_loop(void *arg)
{
	struct selftest *t = arg;
	struct pollfd fds[CLIENTS_MAX + 2];
	uint64_t count;
	unsigned int i;

	prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
	while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE)) {
		struct timespec time;
		const struct timespec *pause = pause_of(t, lst_work(t->st), &time);

		for (i = 0; i < CLIENTS_MAX; i++) {
			struct client *c = &t->client[i];
			bool done = c->fd >= 0 && c->running && is_done(c);

			fds[i] = (struct pollfd){ c->running && !done ? -1 : c->fd,
						  done ? POLLOUT : POLLIN, 0 };
		}
		fds[i] = (struct pollfd){ client_place_find(t, 0) ? t->listen_fd : -1, POLLIN, 0 };
		fds[i + 1] = (struct pollfd){ t->wake_fd, POLLIN, 0 };
		if (ppoll(fds, CLIENTS_MAX + 2, pause, NULL) < 0 && errno != EINTR)
			break;
		if (fds[i + 1].revents && read(t->wake_fd, &count, sizeof(count)) < 0)
			break;
		for (i = 0; i < CLIENTS_MAX; i++)
			if (t->client[i].fd >= 0 && fds[i].revents)
				client_serve(&t->client[i], fds[i].revents);
		if (fds[i].revents)
			client_new(t);
	}
	return NULL;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* Creates the directory of the socket. The user's login has created its parent, /run/user/UID. */
static int door_directory_make(void)
{
	char dir[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int rc = door_directory(dir, sizeof(dir), getuid());

	if (rc)
		return rc;
	if (mkdir(dir, 0755) ? errno != EEXIST : chmod(dir, 0755))
		rc = -errno;
	else
		rc = door_directory_check(dir, getuid());
	if (rc)
		log_line(LNET_LOG_WARNING, "the self-test is not available: directory %s: %s", dir,
			 rc == -EPERM ? "another user owns it, or may write to it" : strerror(-rc));
	return rc;
}

/*
 * Binds the socket and renames it to its final path. The netlink port of this node already reserves
 * the name. So an existing socket of this name is left from a killed node, and rename() replaces
 * it. The path appears only when the socket listens.
 */
static int door_bind(int fd, const struct sockaddr_un *at)
{
	struct sockaddr_un new = { .sun_family = AF_UNIX };
	int len = snprintf(new.sun_path, sizeof(new.sun_path), "%s~", at->sun_path), rc = 0;

	if (len >= (int)sizeof(new.sun_path))
		return -ENAMETOOLONG;
	unlink(new.sun_path);
	if (bind(fd, (const void *)&new, sizeof(new)))
		return -errno;
	/* Any user may connect, because client_may_run() checks each request. */
	if (chmod(new.sun_path, 0666) || listen(fd, 16) || rename(new.sun_path, at->sun_path)) {
		rc = -errno;
		unlink(new.sun_path);
	}
	return rc;
}

static int door_listen(struct sockaddr_un *at, const char *name)
{
	int rc = door_directory_make(), fd;

	if (rc)
		return rc;
	rc = door_address(at, getuid(), name);
	fd = rc ? rc : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (!rc && fd < 0)
		rc = -errno;
	if (!rc)
		rc = door_bind(fd, at);
	if (!rc)
		return fd;
	log_line(LNET_LOG_WARNING, "the self-test is not available: socket %s: %s", at->sun_path,
		 strerror(-rc));
	if (fd >= 0)
		close(fd);
	at->sun_path[0] = 0;
	return rc;
}

int selftest_start(struct selftest **tp, struct lnet *ln, const char *name, const char *consoles)
{
	struct selftest *t = calloc(1, sizeof(*t));
	struct lst_cfg cfg = { .ln = ln, .host = t ? &t->host : NULL };
	bool all = !strcmp(consoles, "*");
	unsigned int i;
	int rc;

	*tp = t;
	if (!t)
		return -ENOMEM;
	t->host.arm = selftest_arm;
	t->ln = ln;
	t->wake_fd = -1;
	pthread_mutex_init(&t->lock, NULL);
	for (i = 0; i < CLIENTS_MAX; i++)
		t->client[i].fd = -1;
	t->listen_fd = -1;
	rc = all ? 0 : lnet_nidlist_parse(&t->consoles, consoles);
	if (rc)
		return rc;
	cfg.consoles = all ? NULL : &t->consoles;
	t->listen_fd = door_listen(&t->at, name);
	if (t->listen_fd < 0)
		return -ENOTCONN;
	t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->wake_fd < 0)
		return -errno;
	rc = lst_create(&t->st, &cfg);
	if (!rc)
		rc = -pthread_create(&t->thread, NULL, selftest_loop, t);
	t->started = !rc;
	return rc;
}

void selftest_stop(struct selftest *t)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	unsigned int left = STOP_MS / 10;

	if (!t || !t->st)
		return;
	if (t->started) {
		__atomic_store_n(&t->stop, true, __ATOMIC_RELEASE);
		selftest_wake_up(t);
		pthread_join(t->thread, NULL);
		t->started = false;
	}
	lst_stop(t->st);
	while (!lst_stopped(t->st) && left--)
		nanosleep(&pause, NULL);
}

void selftest_free(struct selftest *t)
{
	unsigned int i;

	if (!t)
		return;
	lst_free(t->st);
	for (i = 0; i < CLIENTS_MAX; i++)
		if (t->client[i].fd >= 0)
			client_free(&t->client[i]);
	if (t->listen_fd >= 0) {
		unlink(t->at.sun_path);
		close(t->listen_fd);
	}
	if (t->wake_fd >= 0)
		close(t->wake_fd);
	lnet_nidlist_free(&t->consoles);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
