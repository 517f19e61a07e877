/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ioc: requests to /dev/lnet, byte by byte as in the tables of the manual's layouts, without the
 * project's header; and invalid requests.
 *
 *	ioc code NR				prints the code of a request
 *	ioc NR LENGTH VERSION [AT:BYTES[=VALUE]]...
 *		sets fields, sends the request, and prints errno and the fields without a value. A
 *		field at 0 or 4 replaces the length or the version in the header. Fields from APART
 *		on are in separate memory; the value "apart" is the address of this memory.
 *	ioc fuzz SEED SECONDS			exit 0: the device still answers
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "tests/tools/draw.h"

#define ROOM	(1U << 18)
#define STATS	91
#define VERSION	0x0001000bU

#define APART	0x10000UL
#define APART_SIZE 4096UL

static unsigned char *room;	/* the page behind it is not accessible */
static unsigned char apart[APART_SIZE];
static int fd;

/* As the tools compute it: the size in the code is not that of a buffer. */
static unsigned long code(unsigned int nr)
{
	return (nr < 81 ? 0xc0080000UL : 0xc0b80000UL) | 'e' << 8 | nr;
}

static int room_make(void)
{
	room = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return room == MAP_FAILED || mprotect(room + ROOM, 4096, PROT_NONE) ? -1 : 0;
}

/* ---- one request ----------------------------------------------------------------------------- */

static uint64_t field_get(const unsigned char *at, unsigned int bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, bytes);
	return value;
}

/* AT:BYTES[=VALUE]. Returns 1 with a value, 0 without; -1: invalid, or outside of @len. */
static int field_parse(const char *text, unsigned long len, unsigned long *at, unsigned int *bytes,
		       uint64_t *value)
{
	char *end;

	*at = strtoul(text, &end, 0);
	if (*end++ != ':')
		return -1;
	*bytes = (unsigned int)strtoul(end, &end, 0);
	if (!*bytes || *bytes > 8 || (*at < APART && *at + *bytes > len) ||
	    *at + *bytes > APART + APART_SIZE)
		return -1;
	*value = *end == '=' ? strtoull(end + 1, NULL, 0) : 0;
	if (!strcmp(end, "=apart"))
		*value = (uintptr_t)apart;
	return *end == '=';
}

static unsigned char *place(unsigned char *buf, unsigned long at)
{
	return at < APART ? buf + at : apart + (at - APART);
}

static int ask(unsigned int nr, unsigned long len, uint32_t version, char **fields)
{
	unsigned char *buf = room + ROOM - len;
	uint32_t head[2] = { (uint32_t)len, version };
	unsigned long at;
	unsigned int bytes;
	uint64_t value;
	int i, sets;

	memcpy(buf, head, len < sizeof(head) ? len : sizeof(head));
	for (i = 0; fields[i]; i++) {
		sets = field_parse(fields[i], len, &at, &bytes, &value);
		if (sets < 0)
			return 2;
		if (sets)
			memcpy(place(buf, at), &value, bytes);
	}
	printf("%d", ioctl(fd, code(nr), buf) ? errno : 0);
	for (i = 0; fields[i]; i++)
		if (!field_parse(fields[i], len, &at, &bytes, &value))
			printf(" %llu", (unsigned long long)field_get(place(buf, at), bytes));
	putchar('\n');
	return 0;
}

/* ---- random requests ------------------------------------------------------------------------- */

/* Makes an almost valid policy in separate memory, whose address is at 24. */
static void draw_policy(unsigned char *buf, unsigned long len)
{
	static const uint32_t tags[] = { 0x00435253, 0x00545344, 0x00455452 };
	uint32_t words[APART_SIZE / 4] = { 0 }, fields[4];
	uintptr_t bulk = (uintptr_t)apart;
	unsigned int i, end, at = 0;

	for (end = 0; end < 3; end++) {
		words[at++] = draw(16) ? tags[end] : (uint32_t)draw(0xffffffff);
		for (i = draw(8) ? 3 : draw(30); i; i--)
			words[at++] = draw(32) ? draw(3) : (uint32_t)draw(0xffffffff);
	}
	memcpy(apart, words, sizeof(words));
	fields[0] = draw(4) ? 0xffffffff : draw(4);
	fields[1] = draw(4);
	fields[2] = draw(8) ? 4 * at : draw(8192);
	fields[3] = draw(3);
	if (len < 32)
		return;
	memcpy(buf + 8, fields, sizeof(fields));
	memcpy(buf + 24, &bulk, sizeof(bulk));
}

static void ask_anything(void)
{
	static const unsigned int sizes[] = { 0, 4, 8, 12, 32, 128, 136, 184, 236, 4096, ROOM };
	static const uint32_t versions[] = { 0x0001000a, VERSION, 0, 0xffffffff };
	unsigned long len = sizes[draw(11)] + (draw(4) ? 0 : draw(16));
	uint32_t head[2] = { (uint32_t)len, versions[draw(4) ? draw(2) : draw(4)] };
	unsigned char *buf;
	unsigned int i;

	len = len > ROOM ? ROOM : len;
	if (!draw(4))
		head[0] += draw(64) - 32;
	buf = room + ROOM - len;
	for (i = 0; i < len && i < 512; i++)
		buf[i] = draw(3) ? 0 : (unsigned char)draw(256);
	if (!draw(3))
		draw_policy(buf, len);
	memcpy(buf, head, len < sizeof(head) ? len : sizeof(head));
	ioctl(fd, draw(8) ? code(70 + draw(45)) : (unsigned long)draw(0xffffffff), buf);
}

static int fuzz(uint64_t seed, long seconds)
{
	time_t end = time(NULL) + seconds;
	char *none[] = { NULL };
	unsigned long nr = 0;

	state = seed ? seed : 1;
	for (; time(NULL) < end; nr++)
		ask_anything();
	printf("# %lu requests\n", nr);
	memset(room, 0, ROOM);
	return ask(STATS, 128, VERSION, none);
}

int main(int argc, char **argv)
{
	fd = open("/dev/lnet", O_RDWR | O_CLOEXEC);
	if (argc == 3 && !strcmp(argv[1], "code"))
		return printf("0x%lx\n", code((unsigned int)atoi(argv[2]))) < 0;
	if (argc < 4 || room_make())
		return 2;
	if (fd < 0) {
		perror("/dev/lnet");
		return 1;
	}
	if (!strcmp(argv[1], "fuzz"))
		return fuzz(strtoull(argv[2], NULL, 0), atol(argv[3]));
	if (strtoul(argv[2], NULL, 0) > ROOM)
		return 2;
	return ask((unsigned int)atoi(argv[1]), strtoul(argv[2], NULL, 0),
		   (uint32_t)strtoul(argv[3], NULL, 0), argv + 4);
}
