/* layer: core
 *
 * Performs every forbidden call, in a child after the fence, on a process that is not its child. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/live/sandbox.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

static char dir[] = "/tmp/xcore-test-sandbox-XXXXXX";
static char inside[64], outside[64]; /* directories; outside holds a file "old" */
static pid_t victim;                 /* sleeps; killed at the end */

/* Run body in a child; returns its exit status, or 1000 + signal. */
static int in_child(int (*body)(void))
{
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL); /* cmocka's handler jumps into the tests */
		_exit(body());
	}
	int status;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* ---- calls ---- */

static int failures;

/* The call must fail with EPERM; `allowed` calls must not. */
static void expect_denied(const char *what, long result)
{
	if (result == -1 && errno == EPERM)
		return;
	fprintf(stderr, "%s: not denied (result %ld, errno %d)\n", what, result, errno);
	failures++;
}

static void try_signals(void)
{
	siginfo_t info = {.si_signo = SIGTERM, .si_code = SI_QUEUE};
	int pidfd = (int)syscall(SYS_pidfd_open, victim, 0);
	expect_denied("kill", syscall(SYS_kill, victim, SIGTERM));
	expect_denied("kill 0", syscall(SYS_kill, victim, 0));
	expect_denied("tkill", syscall(SYS_tkill, victim, SIGTERM));
	expect_denied("tgkill", syscall(SYS_tgkill, victim, victim, SIGTERM));
	expect_denied("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, victim, SIGTERM, &info));
	expect_denied("rt_tgsigqueueinfo", syscall(SYS_rt_tgsigqueueinfo, victim, victim, SIGTERM, &info));
	expect_denied("pidfd_send_signal", syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0));
	expect_denied("pidfd_getfd", syscall(SYS_pidfd_getfd, pidfd, 0, 0));
	expect_denied("process_madvise", syscall(SYS_process_madvise, pidfd, NULL, 0, 4, 0));
	expect_denied("process_mrelease", syscall(448, pidfd, 0));
	close(pidfd);
}

static void try_arranged_signals(void)
{
	int pair[2];
	struct f_owner_ex owner = {F_OWNER_PID, victim};
	int pid = victim;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		_exit(99);
	expect_denied("F_SETOWN", fcntl(pair[0], F_SETOWN, victim));
	expect_denied("F_SETOWN_EX", fcntl(pair[0], F_SETOWN_EX, &owner));
	expect_denied("F_SETSIG", fcntl(pair[0], F_SETSIG, SIGTERM));
	expect_denied("FIOSETOWN", ioctl(pair[0], 0x8901, &pid));
	expect_denied("SIOCSPGRP", ioctl(pair[0], 0x8902, &pid));
	/* The kernel takes the command as 32 bits: the high ones must not bypass the filter. */
	expect_denied("F_SETOWN, high bits", syscall(SYS_fcntl, pair[0], (1L << 32) | F_SETOWN, victim));
	if (fcntl(pair[0], F_SETFL, O_NONBLOCK) || fcntl(pair[0], F_GETFL) < 0)
		failures++;
}

static void try_writes_to_the_process(void)
{
	char byte = 0;
	struct iovec local = {&byte, 1}, remote = {&byte, 1};
	struct rlimit limit = {1, 1};
	expect_denied("ptrace", ptrace(PTRACE_SEIZE, victim, NULL, NULL));
	expect_denied("process_vm_writev", process_vm_writev(victim, &local, 1, &remote, 1, 0));
	expect_denied("move_pages", syscall(SYS_move_pages, victim, 0, NULL, NULL, NULL, 0));
	expect_denied("migrate_pages", syscall(SYS_migrate_pages, victim, 0, NULL, NULL));
	expect_denied("prlimit64", prlimit(victim, RLIMIT_CORE, &limit, NULL));
	expect_denied("io_uring_setup", syscall(SYS_io_uring_setup, 1, NULL));
	expect_denied("bpf", syscall(SYS_bpf, 0, NULL, 0));
	if (prlimit(0, RLIMIT_CORE, &limit, NULL)) {
		fprintf(stderr, "our own limits cannot be set\n");
		failures++;
	}
}

#ifdef __x86_64__
static long getpid_of_i386(void)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static int call_i386(void)
{
	return getpid_of_i386() <= 0;
}

static int call_i386_inside(void)
{
	return xc_sandbox_calls() ? 98 : getpid_of_i386() != -EPERM;
}
#endif

static void try_x32(void)
{
#ifdef __x86_64__
	expect_denied("x32 getpid", syscall(0x40000000 | SYS_getpid));
#endif
}

static void calls_of_i386_are_denied(void **state)
{
	(void)state;
#ifdef __x86_64__
	if (in_child(call_i386))
		check_skip("a kernel without calls of i386");
	assert_int_equal(in_child(call_i386_inside), 0);
#else
	check_skip("another machine than x86-64");
#endif
}

static int make_denied_calls(void)
{
	if (xc_sandbox_calls())
		return 98;
	try_signals();
	try_arranged_signals();
	try_writes_to_the_process();
	try_x32();
	return failures;
}

static void every_forbidden_call_is_denied(void **state)
{
	(void)state;
	assert_int_equal(in_child(make_denied_calls), 0);
	int status;
	assert_int_equal(waitpid(victim, &status, WNOHANG | WUNTRACED), 0); /* neither dead nor stopped */
}

/* Reads, threads, forks and changes to our own memory still work. */
static int do_allowed_things(void)
{
	char byte = 7, copy = 0;
	struct iovec local = {&copy, 1}, remote = {&byte, 1};
	if (xc_sandbox_calls())
		return 98;
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1 || copy != 7)
		return 1;
	pid_t pid = fork();
	if (pid == 0)
		_exit(5);
	int status;
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5)
		return 2;
	return access("/proc/self/maps", R_OK) ? 3 : 0;
}

static void what_is_needed_stays_allowed(void **state)
{
	(void)state;
	assert_int_equal(in_child(do_allowed_things), 0);
}

static int abort_inside(void)
{
	prctl(PR_SET_DUMPABLE, 0); /* no core file */
	signal(SIGILL, SIG_DFL);
	if (xc_sandbox_calls())
		return 98;
	abort();
}

static void abort_still_ends_the_process(void **state)
{
	(void)state;
	int status = in_child(abort_inside);
	assert_true(status == 1000 + SIGSEGV || status == 1000 + SIGILL || status == 1000 + SIGTRAP);
}

/* ---- writes ---- */

static bool can_create(const char *folder)
{
	char path[128];
	snprintf(path, sizeof path, "%s/new", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool ok = fd >= 0 && write(fd, "x", 1) == 1 && ftruncate(fd, 0) == 0;
	if (fd >= 0)
		close(fd);
	char other[128];
	snprintf(other, sizeof other, "%s/renamed", folder);
	return ok && !rename(path, other) && !unlink(other);
}

static int denied(long result)
{
	return result == -1 && (errno == EACCES || errno == EXDEV) ? 0 : 1;
}

static int write_behind_the_fence(void)
{
	const char *dirs[] = {inside}, *landlock = NULL;
	char old[128], target[128], mem[64];
	struct stat st;
	snprintf(old, sizeof old, "%s/old", outside);
	snprintf(target, sizeof target, "%s/old", inside);
	int already = open(old, O_WRONLY | O_APPEND);
	int before = open("/proc/self/mem", O_RDONLY);
	if (already < 0 || before < 0 || xc_sandbox_writes(&(struct xc_sandbox_options){dirs, 1}, &landlock))
		return 98;
	if (strncmp(landlock, "landlock", 8) != 0)
		return 77;
	snprintf(mem, sizeof mem, "/proc/%d/mem", (int)victim);
	int bad = denied(open(old, O_WRONLY)) | denied(open(mem, O_RDWR)) << 1 | denied(unlink(old)) << 2 |
		  denied(mkdir(outside, 0700) && errno == EEXIST ? (errno = EACCES, -1) : 0) << 3 |
		  denied(rename(old, target)) << 4 | can_create(outside) << 5;
	if (bad)
		return bad;
	if (!can_create(inside) || !xc_sandbox_writes_limited())
		return 70;
	if (write(already, "+", 1) != 1 || stat(old, &st) || open(old, O_RDONLY) < 0)
		return 71; /* open files stay open; reading is permitted */
	if (open("/dev/null", O_WRONLY) < 0)
		return 72;
	return strstr(landlock, "not covered") || denied(truncate(old, 0)) == 0 ? 0 : 73;
}

static void writing_is_limited_to_the_given_directories(void **state)
{
	(void)state;
	int status = in_child(write_behind_the_fence);
	if (status == 77)
		check_skip("a kernel without Landlock");
	assert_int_equal(status, 0);
}

static int name_a_missing_directory(void)
{
	const char *dirs[] = {scratch_path("absent")};
	struct xc_error *err = xc_sandbox_writes(&(struct xc_sandbox_options){dirs, 1}, NULL);
	return !err ? 77 : err->code == XC_ERR_NOT_FOUND && strstr(err->message, dirs[0]) ? 0 : 1;
}

static void a_missing_directory_is_an_error(void **state)
{
	(void)state;
	int status = in_child(name_a_missing_directory);
	if (status == 77)
		check_skip("a kernel without Landlock");
	assert_int_equal(status, 0);
}

static void system_calls_have_names(void **state)
{
	(void)state;
	char *name = xc_sandbox_call_name(3 /* EM_386 */, 240);
	assert_string_equal(name, "futex");
	free(name);
	assert_null(xc_sandbox_call_name(62, 99999));
	assert_null(xc_sandbox_call_name(62, -1));
}

/* ---- set-up ---- */

static int set_up(void **state)
{
	char old[128];
	(void)state;
	if (!mkdtemp(dir))
		return 1;
	snprintf(inside, sizeof inside, "%s/inside", dir);
	snprintf(outside, sizeof outside, "%s/outside", dir);
	snprintf(old, sizeof old, "%s/old", outside);
	if (mkdir(inside, 0700) || mkdir(outside, 0700))
		return 1;
	close(open(old, O_WRONLY | O_CREAT, 0600));
	victim = fork();
	if (victim == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return victim < 0;
}

static int tear_down(void **state)
{
	char old[128];
	(void)state;
	snprintf(old, sizeof old, "%s/old", outside);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	return unlink(old) | rmdir(inside) | rmdir(outside) | rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_forbidden_call_is_denied),
		cmocka_unit_test(calls_of_i386_are_denied),
		cmocka_unit_test(what_is_needed_stays_allowed),
		cmocka_unit_test(abort_still_ends_the_process),
		cmocka_unit_test(writing_is_limited_to_the_given_directories),
		cmocka_unit_test(a_missing_directory_is_an_error),
		cmocka_unit_test(system_calls_have_names),
	};
	return cmocka_run_group_tests_name("sandbox", tests, set_up, tear_down);
}
