/* talk: a broker and its client, both ends in this process, and requests of any form. */
#ifndef XC_TEST_TALK_H
#define XC_TEST_TALK_H

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "batch/sandbox/broker.h"
#include "tests/support/scratch.h"
#include "tests/support/check.h"

enum { FILES, KEPT, SCRATCH, CORE, TEXTS = 8192, PATIENCE = 120 };

/* As written by a client: see broker.c. */
struct packet {
	int kind;
	uint32_t number;
	bool has_root;
	char texts[TEXTS];
};

struct reply {
	int error;
	bool special;
	uint32_t number;
};

/* Both ends in this process: a request waits in the socket until it is served. */
struct talk {
	struct xc_finder finder;
	struct xc_broker broker;
	int parent, client;
};

static struct xc_broker_statuses broker_statuses;
static struct xc_broker_status *const broker_status = &broker_statuses.statuses[0];

static inline struct talk begin(void)
{
	struct talk t = {.finder = {.quiet = true}};
	int pair[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	t.parent = pair[0];
	t.client = pair[1];
	*broker_status = (struct xc_broker_status){.number = 0};
	t.broker = (struct xc_broker){
		.host_files = true, .scratch = -1, .scratch_error = ENOENT, .wants = -1, .status = broker_status};
	alarm(PATIENCE); /* the parent may not block */
	return t;
}

static inline void end(struct talk *t)
{
	alarm(0);
	close(t->parent);
	close(t->client);
	xc_broker_fini(&t->broker);
}

/* The requests, and the files it may give. */
static inline struct xc_file_dependency_list logged(void)
{
	struct xc_file_dependency_list list = {.count = 0};
	xc_broker_status_dependencies(&broker_statuses, broker_status, &list);
	return list;
}

static inline bool serve(struct talk *t)
{
	t->broker.finder = &t->finder;
	return xc_broker_serve(&t->broker, t->parent);
}

static inline size_t fill(struct packet *packet, int kind, const char *first, const char *second)
{
	const size_t one = strlen(first ? first : "") + 1, two = strlen(second) + 1;
	*packet = (struct packet){.kind = kind, .has_root = first != NULL};
	memcpy(packet->texts, first ? first : "", one);
	memcpy(packet->texts + one, second, two);
	return offsetof(struct packet, texts) + one + two;
}

/* The descriptor of the next answer, or -errno. */
static inline int answer(const struct talk *t)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct reply reply;
	struct iovec piece = {&reply, sizeof reply};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	int fd;
	assert_int_equal(recvmsg(t->client, &message, MSG_DONTWAIT), sizeof reply);
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	assert_int_equal(header == NULL, reply.error != 0); /* a descriptor, or an error */
	if (!header)
		return -reply.error;
	memcpy(&fd, CMSG_DATA(header), sizeof fd);
	return fd;
}

static inline int ask(struct talk *t, int kind, const char *first, const char *second)
{
	struct packet packet;
	size_t size = fill(&packet, kind, first, second);
	assert_int_equal(send(t->client, &packet, size, 0), size);
	assert_true(serve(t));
	return answer(t);
}

/* Whether it is given, and read-only. */
static inline bool given(int fd)
{
	if (fd < 0)
		return false;
	bool reads = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY && write(fd, "x", 1) < 0;
	close(fd);
	return reads;
}

static inline size_t open_descriptors(void)
{
	size_t count = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* An ELF header of this type. */
static inline const char *elf_file(const char *name, unsigned char data, uint8_t low, uint8_t high)
{
	const unsigned char head[64] = {0x7f, 'E', 'L', 'F', ELFCLASS64, data, 1, [16] = low, [17] = high};
	return scratch_file(name, head, sizeof head);
}

static inline void send_bytes(struct talk *t, const void *bytes, size_t len)
{
	assert_int_equal(send(t->client, bytes, len, 0), len);
}

#endif
