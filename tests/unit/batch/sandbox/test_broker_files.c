/* layer: batch */
/* broker: the files that a client may have, and those that it may not. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "batch/sandbox/broker.h"
#include "core/io/opener.h"
#include "tests/support/scratch.h"
#include "tests/unit/batch/sandbox/talk.h"

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
	};
	return cmocka_run_group_tests_name("broker_files", tests, NULL, NULL);
}
