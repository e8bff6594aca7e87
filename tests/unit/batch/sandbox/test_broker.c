/* layer: batch */
/* broker: a client that breaks every rule gets nothing it should not have, and never stops or ends the parent. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/broker_client.h"
#include "batch/sandbox/broker.h"
#include "batch/util/fd_passing.h"
#include "core/io/opener.h"
#include "tests/support/scratch.h"

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

/* errno for each message with a descriptor; 0: it is sent. Replaces libc's. */
static int shortage;

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
	if (shortage && message->msg_controllen) {
		errno = shortage;
		return -1;
	}
	return syscall(SYS_sendmsg, socket, message, flags);
}

static struct xc_broker_statuses broker_statuses;
static struct xc_broker_status *const broker_status = &broker_statuses.statuses[0];

static struct talk begin(void)
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

static void end(struct talk *t)
{
	alarm(0);
	close(t->parent);
	close(t->client);
	xc_broker_fini(&t->broker);
}

/* The requests, and the files it may give. */
static struct xc_file_dependency_list logged(void)
{
	struct xc_file_dependency_list list = {.count = 0};
	xc_broker_status_dependencies(&broker_statuses, broker_status, &list);
	return list;
}

static bool serve(struct talk *t)
{
	t->broker.finder = &t->finder;
	return xc_broker_serve(&t->broker, t->parent);
}

static size_t fill(struct packet *packet, int kind, const char *first, const char *second)
{
	const size_t one = strlen(first ? first : "") + 1, two = strlen(second) + 1;
	*packet = (struct packet){.kind = kind, .has_root = first != NULL};
	memcpy(packet->texts, first ? first : "", one);
	memcpy(packet->texts + one, second, two);
	return offsetof(struct packet, texts) + one + two;
}

/* The descriptor of the next answer, or -errno. */
static int answer(const struct talk *t)
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

static int ask(struct talk *t, int kind, const char *first, const char *second)
{
	struct packet packet;
	size_t size = fill(&packet, kind, first, second);
	assert_int_equal(send(t->client, &packet, size, 0), size);
	assert_true(serve(t));
	return answer(t);
}

/* Whether it is given, and read-only. */
static bool given(int fd)
{
	if (fd < 0)
		return false;
	bool reads = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY && write(fd, "x", 1) < 0;
	close(fd);
	return reads;
}

static size_t open_descriptors(void)
{
	size_t count = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* An ELF header of this type. */
static const char *elf_file(const char *name, unsigned char data, uint8_t low, uint8_t high)
{
	const unsigned char head[64] = {0x7f, 'E', 'L', 'F', ELFCLASS64, data, 1, [16] = low, [17] = high};
	return scratch_file(name, head, sizeof head);
}

/* ---- files ---- */

static void programs_are_given_for_reading(void **state)
{
	struct talk t = begin();
	(void)state;
	assert_true(given(ask(&t, FILES, NULL, "/bin/true")));
	assert_true(given(ask(&t, FILES, NULL, elf_file("lib.so", ELFDATA2LSB, ET_DYN, 0))));
	assert_true(given(ask(&t, FILES, NULL, elf_file("big.so", ELFDATA2MSB, 0, ET_DYN))));
	assert_int_equal(ask(&t, FILES, NULL, scratch_path("absent")), -ENOENT);
	end(&t);
}

static void nothing_else_is(void **state)
{
	struct talk t = begin();
	const char *fifo = scratch_path("fifo"), *dir = scratch_path("dir"), *link = scratch_path("link");
	char self[64], number[64];
	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	int program = open("/bin/true", O_RDONLY);
	snprintf(self, sizeof self, "/proc/%d/exe", (int)getpid());
	snprintf(number, sizeof number, "/proc/self/fd/%d", program);
	const char *const paths[] = {
		"/etc/passwd",
		"/etc/shadow",
		"/dev/zero",
		"/dev/null",
		"/dev/stdin",
		"/dev/tty",
		"/proc/kcore",
		"/proc/self/exe",
		"/proc/self/mem",
		"/proc/self/environ",
		"/proc/self/root/bin/true",
		"/proc/self/cwd",
		"/sys/kernel/notes",
		"",
		"/",
		"/etc/../etc/passwd",
		"../../../etc/passwd",
		self,
		number,
		fifo,
		dir,
		link,
		scratch_file("text",
			     "\x7f"
			     "ELG and more than eighteen bytes",
			     24),
		scratch_file("short",
			     "\x7f"
			     "ELF",
			     4),
		scratch_file("empty", "", 0),
		elf_file("core", ELFDATA2LSB, ET_CORE, 0),
		elf_file("bigcore", ELFDATA2MSB, 0, ET_CORE),
	};
	for (size_t i = 0; i < XC_COUNT(paths); i++) {
		int fd = ask(&t, FILES, NULL, paths[i]);
		if (fd >= 0)
			fail_msg("%s was opened", paths[i]);
	}
	close(program);
	end(&t);
}

static void only_the_roots_of_the_user_are_roots(void **state)
{
	struct talk t = begin();
	const char *inside = elf_file("root/lib/a.so", ELFDATA2LSB, ET_DYN, 0), *root = scratch_path("root");
	const char *debug = elf_file("debug/a.debug", ELFDATA2LSB, ET_DYN, 0), *debug_dir = scratch_path("debug");
	(void)state;
	assert_int_equal(ask(&t, FILES, root, "/lib/a.so"), -EACCES);
	assert_int_equal(ask(&t, FILES, "/", "/bin/true"), -EACCES);
	assert_int_equal(ask(&t, FILES, "", "/bin/true"), -EACCES);
	t.finder.sysroot = root;
	t.finder.debug_dirs = &debug_dir;
	t.finder.debug_dir_count = 1;
	assert_true(given(ask(&t, FILES, root, "/lib/a.so")));
	assert_true(given(ask(&t, FILES, root, "../../../lib/a.so"))); /* stays inside */
	assert_true(given(ask(&t, FILES, debug_dir, "a.debug")));
	assert_true(given(ask(&t, FILES, NULL, debug))); /* like requests for names by build-id */
	char *other = xc_asprintf("%s/../root/lib/a.so", debug_dir), *longer = xc_asprintf("%s-b/a.so", debug_dir);
	elf_file("debug-b/a.so", ELFDATA2LSB, ET_DYN, 0);
	assert_int_equal(ask(&t, FILES, NULL, other), -EACCES);
	assert_int_equal(ask(&t, FILES, NULL, longer), -EACCES);
	free(other);
	free(longer);
	assert_int_equal(ask(&t, FILES, NULL, "/bin/true"), -EACCES);
	assert_int_equal(ask(&t, FILES, root, inside), -ENOENT);
	assert_int_equal(ask(&t, FILES, debug_dir, debug), -ENOENT);
	assert_int_equal(ask(&t, FILES, scratch_dir(), "root/lib/a.so"), -EACCES);
	assert_int_equal(symlink("/bin/true", scratch_path("root/true")), 0);
	assert_int_equal(symlink("../../../../bin/true", scratch_path("root/up")), 0);
	assert_int_equal(ask(&t, FILES, root, "true"), -ENOENT); /* the link is resolved within the root */
	assert_int_equal(ask(&t, FILES, root, "up"), -ENOENT);
	end(&t);
}

static void without_the_host_its_files_are_not_given(void **state)
{
	struct talk t = begin();
	(void)state;
	t.broker.host_files = false;
	assert_int_equal(ask(&t, FILES, NULL, "/bin/true"), -EACCES);
	t.finder.exe = "/bin/true";
	assert_true(given(ask(&t, FILES, NULL, "/bin/true")));
	assert_int_equal(ask(&t, FILES, NULL, "/bin/false"), -EACCES);
	t.finder.exe = "/etc/passwd";
	assert_int_equal(ask(&t, FILES, NULL, "/etc/passwd"), -EACCES);
	end(&t);
}

static int is_changed(const struct talk *t, struct xc_file_dependency dependency)
{
	return xc_broker_changed(&t->broker, &dependency);
}

/* The check of a later run: would a worker get a different file now? */
static void what_comes_goes_or_is_exchanged_is_told(void **state)
{
	struct talk t = begin();
	const char *root = scratch_path("later"), *path = "/lib/b.so";
	(void)state;
	t.finder.sysroot = root;
	atomic_store(&broker_statuses.silent_count, 0);
	t.broker.statuses = &broker_statuses;
	assert_true(given(ask(&t, FILES, root, elf_file("later/a.so", ELFDATA2LSB, ET_DYN, 0) + strlen(root))));
	assert_int_equal(ask(&t, FILES, root, path), -ENOENT);
	assert_int_equal(ask(&t, FILES, NULL, path), -EACCES); /* never looked for */
	struct xc_file_dependency_list list = logged();
	assert_int_equal(list.count, 2);
	const struct xc_file_dependency there = list.files[0], missing = list.files[1];
	assert_non_null(there.was);
	assert_null(missing.was);
	assert_false(is_changed(&t, there));
	assert_false(is_changed(&t, missing));
	scratch_file("later/lib/b.so", "no program", 10);
	struct xc_file_dependency now = missing;
	assert_false(xc_broker_changed(&t.broker, &now));
	assert_int_equal(unlink(scratch_path("later/lib/b.so")), 0);
	elf_file("later/lib/b.so", ELFDATA2LSB, ET_DYN, 0);
	assert_false(xc_broker_changed(&t.broker, &now)); /* it was looked for */
	now = missing;
	assert_true(xc_broker_changed(&t.broker, &now));
	assert_true(xc_broker_changed(&t.broker, &now));
	assert_int_equal(rename(scratch_path("later/a.so"), scratch_path("later/c.so")), 0);
	assert_true(is_changed(&t, there)); /* removed */
	scratch_file("later/a.so", "no program", 10);
	assert_true(is_changed(&t, there));
	elf_file("later/a.so", ELFDATA2LSB, ET_EXEC, 0);
	assert_true(is_changed(&t, there));
	xc_file_dependency_fini(&list);
	end(&t);
}

static void what_cannot_be_known_is_no_change(void **state)
{
	struct talk t = begin();
	const char *root = scratch_path("unknown");
	struct rlimit files;
	(void)state;
	t.finder.sysroot = root;
	t.broker.statuses = &broker_statuses;
	assert_true(given(ask(&t, FILES, root, elf_file("unknown/a.so", ELFDATA2LSB, ET_DYN, 0) + strlen(root))));
	struct xc_file_dependency_list list = logged();
	const struct xc_file_dependency there = list.files[0];
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	const struct rlimit none = {0, files.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_false(is_changed(&t, there));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	assert_int_equal(unlink(scratch_path("unknown/a.so")), 0);
	broker_statuses.silent[0] = (struct xc_broker_status_place){.path = ""};
	strcpy(broker_statuses.silent[0].root, root);
	atomic_store(&broker_statuses.silent_count, 1);
	assert_false(is_changed(&t, there));
	atomic_store(&broker_statuses.silent_count, 0);
	assert_true(is_changed(&t, there));
	xc_file_dependency_fini(&list);
	end(&t);
}

static void kept_files_are_those_of_debug_information(void **state)
{
	struct talk t = begin();
	(void)state;
	static const char mark[] = "XCINDEX"; /* of a name index; its names are build-ids */
	scratch_file("cache/index/aa", mark, sizeof mark);
	scratch_file("cache/index/a", mark, sizeof mark);
	scratch_file("cache/index/bb", "x", 1);
	scratch_file("cache/triage/aa", mark, sizeof mark);
	scratch_file("cache/triage/a", "x", 1);
	scratch_file("cache/aa", mark, sizeof mark);
	scratch_file("cache/a", "x", 1);
	assert_true(ask(&t, KEPT, "index", "aa") < 0); /* there is no cache */
	t.finder.cache_dir = scratch_path("cache");
	assert_true(given(ask(&t, KEPT, "index", "aa")));
	const char *const others[][2] = {
		{"index", "a"},    {"index", "bb"},    {"triage", "aa"},   {"", "aa"},
		{".", "aa"},       {"index", "../aa"}, {"index/..", "aa"}, {"triage", "a"},
		{"", "a"},         {".", "a"},         {"..", "a"},        {"index", "../a"},
		{"index/..", "a"}, {"index", ".."},    {"index", ""},      {"../../etc", "passwd"}};
	for (size_t i = 0; i < XC_COUNT(others); i++) {
		int fd = ask(&t, KEPT, others[i][0], others[i][1]);
		struct stat st;
		if (fd >= 0 && (fstat(fd, &st) || !S_ISDIR(st.st_mode)))
			fail_msg("%s/%s was opened", others[i][0], others[i][1]);
		assert_true(fd < 0);
	}
	end(&t);
}

static void there_is_one_scratch_file(void **state)
{
	struct talk t = begin();
	struct stat first, second;
	(void)state;
	t.broker.scratch = xc_opener_scratch(scratch_dir());
	int fd = ask(&t, SCRATCH, NULL, ""), again = ask(&t, SCRATCH, NULL, "");
	assert_int_equal(fstat(fd, &first), 0);
	assert_int_equal(fstat(again, &second), 0);
	assert_int_equal(first.st_nlink, 0);
	assert_int_equal(first.st_ino, second.st_ino);
	close(fd);
	close(again);
	close(t.broker.scratch);
	end(&t);
	t = begin();
	assert_int_equal(ask(&t, SCRATCH, NULL, ""), -ENOENT);
	assert_int_equal(broker_status->trouble, ENOENT);
	assert_int_equal(broker_status->lack, XC_BROKER_STATUS_SCRATCH);
	end(&t);
}

static void the_core_is_given_once(void **state)
{
	struct talk t = begin();
	const struct xc_input input = {.path = "a", .file = elf_file("acore", ELFDATA2LSB, ET_CORE, 0)};
	const struct xc_input absent = {.path = "a", .file = scratch_path("absent")};
	(void)state;
	assert_int_equal(ask(&t, CORE, NULL, ""), -EACCES); /* it has none */
	assert_false(broker_status->core_failed);
	t.broker.core = &input;
	assert_true(given(ask(&t, CORE, NULL, "")));
	assert_int_equal(ask(&t, CORE, NULL, ""), -EACCES);
	assert_false(broker_status->core_failed);
	t.broker.core = &absent;
	assert_int_equal(ask(&t, CORE, NULL, ""), -EIO);
	assert_true(broker_status->core_failed && !broker_status->hindered);
	assert_string_equal(broker_status->why, "No such file or directory");
	end(&t);
}

static void a_file_that_cannot_be_sent_is_answered_without(void **state)
{
	struct talk t = begin();
	(void)state;
	shortage = ETOOMANYREFS;
	assert_int_equal(ask(&t, FILES, NULL, "/bin/true"), -ETOOMANYREFS);
	shortage = 0;
	assert_int_equal(broker_status->trouble, ETOOMANYREFS);
	assert_int_equal(broker_status->lack, XC_BROKER_STATUS_ANSWER);
	assert_true(given(ask(&t, FILES, NULL, "/bin/true")));
	end(&t);
}

/* ---- files that do not answer ---- */

static void a_directory_that_did_not_answer_is_not_asked_again(void **state)
{
	struct talk t = begin();
	const char *one = elf_file("silent/one.so", ELFDATA2LSB, ET_DYN, 0);
	const char *two = elf_file("silent/two.so", ELFDATA2LSB, ET_DYN, 0);
	const char *deeper = elf_file("silent/deeper/three.so", ELFDATA2LSB, ET_DYN, 0);
	const char *beside = elf_file("silent.so", ELFDATA2LSB, ET_DYN, 0);
	(void)state;
	atomic_store(&broker_statuses.silent_count, 0);
	t.broker.statuses = &broker_statuses;
	assert_true(given(ask(&t, FILES, NULL, one)));
	assert_string_equal(broker_status->place.path, one);
	assert_int_equal(broker_status->since_ns, 0); /* it is done */
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_true(broker_status->silent);
	broker_status->silent = false;
	assert_int_equal(ask(&t, FILES, NULL, two), -ETIMEDOUT);
	assert_true(broker_status->silent);
	assert_int_equal(ask(&t, FILES, NULL, deeper), -ETIMEDOUT);
	assert_true(given(ask(&t, FILES, NULL, beside)));
	const struct xc_input input = {.path = "a", .file = elf_file("silent/core", ELFDATA2LSB, ET_CORE, 0)};
	t.broker.core = &input;
	assert_int_equal(ask(&t, CORE, NULL, ""), -EIO);
	assert_true(broker_status->core_failed && broker_status->hindered);
	t.finder.sysroot = scratch_dir();
	assert_true(given(ask(&t, FILES, scratch_dir(), "silent/one.so"))); /* a root is a separate place, */
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_int_equal(ask(&t, FILES, scratch_dir(), "silent.so"), -ETIMEDOUT); /* and a single one */
	for (int i = 0; i < 3 * XC_BROKER_STATUS_SILENT; i++) { /* the memory of given-up places is bounded */
		char path[64];
		snprintf(path, sizeof path, "/%d/lib", i);
		xc_broker_status_set_place(broker_status, NULL, path);
		xc_broker_status_give_up_place(&broker_statuses, broker_status);
	}
	assert_int_equal(broker_statuses.silent_count, XC_BROKER_STATUS_SILENT);
	end(&t);
}

static void what_a_worker_makes_up_is_no_place(void **state)
{
	struct talk t = begin();
	(void)state;
	atomic_store(&broker_statuses.silent_count, 0);
	t.broker.statuses = &broker_statuses;
	t.finder.cache_dir = scratch_path("cache");
	t.finder.sysroot = scratch_dir();
	elf_file("made-up.so", ELFDATA2LSB, ET_DYN, 0);
	assert_int_equal(ask(&t, KEPT, scratch_dir(), "a"), -ENOENT);
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_true(ask(&t, SCRATCH, scratch_dir(), "a") < 0);
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_int_equal(ask(&t, CORE, NULL, "/bin/true"), -EACCES);
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_int_equal(broker_statuses.silent_count, 0);
	assert_true(given(ask(&t, FILES, scratch_dir(), "made-up.so")));
	end(&t);
}

static void what_was_looked_for_is_in_the_log(void **state)
{
	struct talk t = begin();
	struct xc_file_dependency_list list = {.count = 0};
	(void)state;
	atomic_store(&broker_statuses.silent_count, 0);
	t.broker.statuses = &broker_statuses;
	t.finder.sysroot = scratch_dir();
	elf_file("logged.so", ELFDATA2LSB, ET_DYN, 0);
	assert_true(given(ask(&t, FILES, scratch_dir(), "logged.so")));
	assert_int_equal(ask(&t, FILES, scratch_dir(), ""), -ENOENT);
	const struct xc_file_dependency rootless = {.path = "/a", .was = ""};
	xc_broker_status_log(&broker_statuses, broker_status, &rootless);
	xc_broker_status_dependencies(&broker_statuses, broker_status, &list);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.files[0].path, "logged.so");
	assert_string_equal(list.files[1].path, "");
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(list.files[i].root, scratch_dir());
	assert_non_null(list.files[0].was);
	assert_null(list.files[1].was);
	assert_int_equal(xc_file_dependency_compare(&list.files[2], &rootless), 0);
	for (unsigned i = 0; i < XC_BROKER_STATUS_LOG / 4; i++) /* then it is full, and the first entries stay */
		xc_broker_status_log(&broker_statuses, broker_status, &rootless);
	assert_in_range(broker_status->log_size, XC_BROKER_STATUS_LOG - 16, XC_BROKER_STATUS_LOG);
	assert_int_equal(broker_statuses.logs[1][0], 0);
	assert_false(list.cut);
	xc_file_dependency_fini(&list);
	xc_broker_status_dependencies(&broker_statuses, broker_status, &list);
	assert_string_equal(list.files[0].path, "logged.so");
	assert_true(list.cut);
	xc_file_dependency_fini(&list);
	end(&t);
}

/* A hostile worker requests endlessly many long names. */
static void what_was_looked_for_takes_no_memory_of_its_own(void **state)
{
	enum { LONG = 4000, TIMES = 2000, MOST = 1 << 20 };
	struct talk t = begin();
	char path[LONG + 1] = "";
	(void)state;
	memset(path, 'a', LONG);
	t.broker.statuses = &broker_statuses;
	t.finder.sysroot = scratch_dir();
	const struct mallinfo2 before = mallinfo2();
	for (int i = 0; i < TIMES; i++)
		assert_int_equal(ask(&t, FILES, scratch_dir(), path), -ENAMETOOLONG);
	const struct mallinfo2 after = mallinfo2();
	assert_true(after.uordblks + after.hblkhd < before.uordblks + before.hblkhd + MOST);
	end(&t);
}

static void who_takes_the_place_of_another_answers_first(void **state)
{
	struct talk t = begin();
	struct packet packet;
	int status;
	(void)state;
	const size_t size = fill(&packet, FILES, NULL, "/bin/true");
	packet.number = 8;
	assert_int_equal(send(t.client, &packet, size, 0), size);
	const pid_t pid = fork();
	if (pid == 0) {
		close(t.client);
		t.broker.finder = &t.finder;
		xc_broker_live(&t.broker, t.parent, 7);
	}
	poll(&(struct pollfd){.fd = t.client, .events = POLLIN}, 1, -1);
	assert_int_equal(answer(&t), -ETIMEDOUT);
	poll(&(struct pollfd){.fd = t.client, .events = POLLIN}, 1, -1);
	assert_true(given(answer(&t)));
	close(t.client);
	t.client = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end(&t);
}

/* One that was given up may have answered after all. */
static void answers_to_another_request_are_not_taken(void **state)
{
	int pair[2];
	bool special;
	struct reply late = {.error = 0, .number = 77}, right = {.error = ENOTDIR, .number = 1};
	const size_t before = open_descriptors();
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(xc_fd_passing_send(pair[0], &late, sizeof late, pair, 1, 0), sizeof late);
	assert_int_equal(xc_fd_passing_send(pair[0], &right, sizeof right, NULL, 0, 0), sizeof right);
	xc_broker_client_begin(pair[1]);
	assert_int_equal(xc_opener_regular(NULL, "/bin/true", &special), -1);
	assert_int_equal(errno, ENOTDIR);
	xc_opener_use(NULL);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(open_descriptors(), before);
}

/* ---- packets ---- */

static void send_bytes(struct talk *t, const void *bytes, size_t len)
{
	assert_int_equal(send(t->client, bytes, len, 0), len);
}

static void packets_of_another_form_end_the_talk(void **state)
{
	struct packet packet;
	struct talk t = begin();
	(void)state;
	assert_true(serve(&t)); /* nothing waits */
	assert_int_equal(broker_status->refused, XC_BROKER_STATUS_OBEYS);
	send_bytes(&t, "", 1);
	assert_false(serve(&t));
	assert_int_equal(broker_status->refused, XC_BROKER_STATUS_FOUL);
	size_t size = fill(&packet, FILES, NULL, "/bin/true");
	send_bytes(&t, &packet, size - 1); /* without its terminator */
	assert_false(serve(&t));
	send_bytes(&t, &packet, size + 1); /* with data after it */
	assert_false(serve(&t));
	send_bytes(&t, &packet, offsetof(struct packet, texts) + 1); /* only one text */
	assert_false(serve(&t));
	packet.kind = 77;
	send_bytes(&t, &packet, size);
	assert_false(serve(&t));
	packet.kind = -1;
	send_bytes(&t, &packet, size);
	assert_false(serve(&t));
	memset(packet.texts, 'a', sizeof packet.texts);
	send_bytes(&t, &packet, sizeof packet);
	assert_false(serve(&t));
	char large[64 << 10] = {0};
	send_bytes(&t, large, sizeof large); /* truncated to fit, with more than two texts */
	assert_false(serve(&t));
	broker_status->refused = XC_BROKER_STATUS_OBEYS;
	send_bytes(&t, "", 0); /* this is also read as an empty request */
	assert_false(serve(&t));
	assert_int_equal(broker_status->refused, XC_BROKER_STATUS_FOUL);
	broker_status->refused = XC_BROKER_STATUS_OBEYS;
	close(t.client);
	t.client = -1;
	assert_false(serve(&t));
	assert_int_equal(broker_status->refused, XC_BROKER_STATUS_OBEYS); /* it has ended, like all of them */
	end(&t);
}

/* Random requests: nothing is opened, and the parent survives. */
static void random_packets_do_no_harm(void **state)
{
	struct packet packet;
	struct talk t = begin();
	const size_t before = open_descriptors();
	(void)state;
	srandom(7);
	for (int i = 0; i < 20000; i++) {
		size_t size = fill(&packet, (int)(random() % 5), random() % 2 ? "" : NULL, "/bin/true");
		for (long damage = random() % 4; damage > 0; damage--)
			((char *)&packet)[random() % (long)size] = (char)random();
		send_bytes(&t, &packet, random() % 3 ? size : 1 + (size_t)(random() % (long)sizeof packet));
		t.broker.requests = 0;
		serve(&t);
		char bytes[64];
		while (recv(t.client, bytes, sizeof bytes, MSG_DONTWAIT) >= 0)
			;
	}
	xc_broker_fini(&t.broker);
	assert_int_equal(open_descriptors(), before);
	end(&t);
}

static void a_flood_that_takes_no_answers_does_not_stop_the_parent(void **state)
{
	struct packet packet;
	struct talk t = begin();
	const size_t before = open_descriptors(), size = fill(&packet, FILES, NULL, "/bin/true");
	unsigned served = 0;
	bool goes_on = true;
	(void)state;
	while (goes_on && served < 10 * XC_BROKER_REQUESTS) {
		while (send(t.client, &packet, size, MSG_DONTWAIT) >= 0)
			;
		goes_on = serve(&t);
		served += goes_on;
	}
	assert_int_equal(served, XC_BROKER_REQUESTS);
	assert_int_equal(open_descriptors(), before);
	end(&t);
}

/* Only that is reported, not a lack of the machine. */
static void asking_for_too_much_is_the_cores_own(void **state)
{
	struct packet packet;
	struct talk t = begin();
	struct xc_broker_statuses *shared = xc_broker_status_map();
	int status;
	(void)state;
	send_bytes(&t, &packet, fill(&packet, FILES, NULL, "/bin/true"));
	t.broker.requests = XC_BROKER_REQUESTS;
	t.broker.status = &shared->statuses[0];
	const pid_t pid = fork();
	if (pid == 0) {
		t.broker.finder = &t.finder;
		xc_broker_live(&t.broker, t.parent, 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(shared->statuses[0].refused, XC_BROKER_STATUS_TOO_MUCH);
	xc_broker_status_unmap(shared);
	end(&t);
}

static void descriptors_that_a_worker_sends_are_not_taken(void **state)
{
	struct packet packet;
	struct talk t = begin();
	const size_t before = open_descriptors();
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec piece = {&packet, fill(&packet, FILES, NULL, "/bin/true")};
	const struct msghdr message = {.msg_iov = &piece,
				       .msg_iovlen = 1,
				       .msg_control = control.bytes,
				       .msg_controllen = sizeof control.bytes};
	(void)state;
	memcpy(CMSG_DATA(&control.header), &t.client, sizeof t.client);
	for (int i = 0; i < 100; i++) {
		assert_true(sendmsg(t.client, &message, 0) > 0);
		assert_true(serve(&t));
		assert_true(given(answer(&t)));
	}
	assert_int_equal(open_descriptors(), before);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_given_for_reading),
		cmocka_unit_test(nothing_else_is),
		cmocka_unit_test(only_the_roots_of_the_user_are_roots),
		cmocka_unit_test(without_the_host_its_files_are_not_given),
		cmocka_unit_test(what_comes_goes_or_is_exchanged_is_told),
		cmocka_unit_test(what_cannot_be_known_is_no_change),
		cmocka_unit_test(kept_files_are_those_of_debug_information),
		cmocka_unit_test(there_is_one_scratch_file),
		cmocka_unit_test(the_core_is_given_once),
		cmocka_unit_test(a_file_that_cannot_be_sent_is_answered_without),
		cmocka_unit_test(a_directory_that_did_not_answer_is_not_asked_again),
		cmocka_unit_test(what_a_worker_makes_up_is_no_place),
		cmocka_unit_test(what_was_looked_for_is_in_the_log),
		cmocka_unit_test(what_was_looked_for_takes_no_memory_of_its_own),
		cmocka_unit_test(who_takes_the_place_of_another_answers_first),
		cmocka_unit_test(answers_to_another_request_are_not_taken),
		cmocka_unit_test(packets_of_another_form_end_the_talk),
		cmocka_unit_test(random_packets_do_no_harm),
		cmocka_unit_test(a_flood_that_takes_no_answers_does_not_stop_the_parent),
		cmocka_unit_test(asking_for_too_much_is_the_cores_own),
		cmocka_unit_test(descriptors_that_a_worker_sends_are_not_taken),
	};
	return cmocka_run_group_tests_name("broker", tests, NULL, NULL);
}
