/* layer: batch */
/* worker_sandbox: performs everything that a compromised worker might try, inside the sandbox and, to prove that it
 * would have worked, outside. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "batch/sandbox/worker_sandbox.h"
#include "dwarf/elf/demangle.h"
#include "tests/support/check.h"

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = true }; /* a sanitizer's memory cannot be limited */
#else
enum { SANITIZED = false };
#endif

enum { WORKED = 0, REFUSED = 40, NO_JAIL = 41, MEGABYTE = 1 << 20 };

static char file[] = "/tmp/xcore-test-jail-XXXXXX"; /* contains one byte */
static char other[64];                              /* a name next to it that does not exist */
static pid_t victim;                                /* sleeps */
static int own, terminal, listener; /* the file's descriptor; a pty's slave; a socket that listens at `address` */
static struct sockaddr_un address = {.sun_family = AF_UNIX};

/* ---- attempts: each returns whether it worked ---- */

static bool opens_a_file(void)
{
	return open("/etc/passwd", O_RDONLY) >= 0;
}

static bool opens_by_openat2(void)
{
	struct open_how how = {.flags = O_RDONLY};
	return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof how) >= 0;
}

static bool makes_a_file(void)
{
	return open(other, O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0;
}

static bool made_child(long pid)
{
	if (!pid)
		_exit(0);
	return pid > 0;
}

static bool forks(void)
{
	return made_child(syscall(SYS_fork));
}

static bool clones(void)
{
	return made_child(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
}

static bool clones3(void)
{
	uint64_t args[8] = {0};
	args[4] = SIGCHLD;
	return made_child(syscall(SYS_clone3, args, sizeof args));
}

static bool vforks(void)
{
	return made_child(syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL));
}

static int sleeper(void *unused)
{
	(void)unused;
	return 0;
}

/* The flags of a thread, and of a new namespace. */
static bool clones_into_namespaces(void)
{
	static char stack[1 << 16];
	return clone(sleeper, stack + sizeof stack,
		     CLONE_THREAD | CLONE_VM | CLONE_SIGHAND | CLONE_NEWNS | CLONE_NEWUTS, NULL) > 0;
}

static bool executes(void)
{
	execl("/bin/true", "true", NULL); /* which ends with WORKED */
	return false;
}

static bool makes_a_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool makes_a_pair(void)
{
	int pair[2];
	return !socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static bool connects(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	return !connect(fd, (const struct sockaddr *)&address, sizeof address);
}

static bool accepts(void)
{
	return !listen(listener, 7);
}

static bool is_traced(void)
{
	return !ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static bool traces(void)
{
	return !ptrace(PTRACE_SEIZE, victim, NULL, NULL);
}

static bool reads_memory_of_another(void)
{
	char byte;
	struct iovec local = {&byte, 1}, remote = {&victim, 1};
	return process_vm_readv(victim, &local, 1, &remote, 1, 0) == 1;
}

static bool writes_memory_of_another(void)
{
	struct iovec local = {&victim, 1}, remote = {&victim, 1};
	return process_vm_writev(victim, &local, 1, &remote, 1, 0) == 1;
}

static bool kills(void)
{
	return !kill(victim, SIGCONT);
}

static bool kills_parent(void)
{
	return !kill(getppid(), SIGCONT);
}

static bool kills_a_thread(void)
{
	return !syscall(SYS_tgkill, victim, victim, SIGCONT);
}

static bool queues_a_signal(void)
{
	return !sigqueue(victim, SIGCONT, (union sigval){0});
}

static bool opens_a_process(void)
{
	return syscall(SYS_pidfd_open, victim, 0) >= 0;
}

static bool maps_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static bool maps_code_by_high_bits(void)
{
	return syscall(SYS_mmap, NULL, 4096L, 1L << 32 | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L) > 0;
}

static bool makes_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return !mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static bool makes_code_with_a_key(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return !syscall(SYS_pkey_mprotect, page, 4096L, PROT_READ | PROT_EXEC, -1);
}

/* RLIMIT_DATA counts neither shared memory nor stacks. */
static bool shares_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static bool maps_a_stack(void)
{
	return mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0) !=
	       MAP_FAILED;
}

static bool gets_shared_memory(void)
{
	int id = shmget(IPC_PRIVATE, 4096, 0600);
	return id >= 0 && !shmctl(id, IPC_RMID, NULL);
}

static bool makes_a_memory_file(void)
{
	return memfd_create("x", 0) >= 0;
}

static bool makes_a_ring(void)
{
	char parameters[120] = {0};
	return syscall(SYS_io_uring_setup, 1, parameters) >= 0;
}

static bool becomes_dumpable(void)
{
	return !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static bool survives_its_parent(void)
{
	return !prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
}

static bool sets_a_limit(void)
{
	const struct rlimit none = {0, 0};
	return !setrlimit(RLIMIT_CORE, &none);
}

static bool sets_a_limit_of_another(void)
{
	const struct rlimit none = {0, 0};
	return !prlimit(victim, RLIMIT_CORE, &none, NULL);
}

static bool asks_a_limit_of_another(void)
{
	struct rlimit limit;
	return !prlimit(victim, RLIMIT_CORE, NULL, &limit);
}

static bool controls_a_terminal(void)
{
	struct winsize size = {.ws_row = 7};
	return !ioctl(terminal, TIOCSWINSZ, &size);
}

static bool types_into_a_terminal(void)
{
	return !ioctl(terminal, TIOCSTI, "x");
}

static bool looks_at_a_path(void)
{
	struct stat st;
	return !syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, 0);
}

/* With this flag the path may be empty, but need not be. */
static bool looks_at_a_path_by_a_flag(void)
{
	struct stat st;
	return !syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, AT_EMPTY_PATH);
}

static bool looks_by_stat(void)
{
	struct stat st;
	return !syscall(SYS_stat, "/etc/passwd", &st);
}

static bool looks_by_statx(void)
{
	struct statx st;
	return !statx(AT_FDCWD, "/etc/passwd", 0, STATX_SIZE, &st);
}

static bool looks_by_access(void)
{
	return !access("/etc/passwd", F_OK);
}

static bool reads_a_link(void)
{
	char target[64];
	return readlink("/proc/self/exe", target, sizeof target) > 0;
}

static bool lists_a_directory(void)
{
	char bytes[1024];
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	return syscall(SYS_getdents64, fd, bytes, sizeof bytes) > 0;
}

static bool changes_directory(void)
{
	return !chdir("/tmp");
}

static bool changes_rights(void)
{
	return !chmod(file, 0640);
}

static bool changes_rights_of_a_descriptor(void)
{
	return !fchmod(own, 0640);
}

static bool changes_the_owner(void)
{
	return !chown(file, getuid(), getgid());
}

static bool changes_times(void)
{
	return !utimensat(AT_FDCWD, file, NULL, 0);
}

static bool makes_a_link(void)
{
	return !symlink("/etc/passwd", other);
}

static bool makes_a_hard_link(void)
{
	return !link(file, other);
}

static bool makes_a_directory(void)
{
	return !mkdir(other, 0700);
}

static bool makes_a_fifo(void)
{
	return !mkfifo(other, 0600);
}

static bool unlinks(void)
{
	return !link(file, other) && !unlink(other);
}

static bool only_unlinks(void)
{
	return !unlink(other) || errno == ENOENT;
}

static bool renames(void)
{
	return !rename(file, file);
}

static bool truncates(void)
{
	return !truncate(file, 1);
}

static bool mounts(void)
{
	return !mount("/tmp", "/tmp", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) || errno == EINVAL;
}

static bool unshares(void)
{
	return !unshare(CLONE_NEWUSER);
}

static bool changes_root(void)
{
	return !chroot("/");
}

static bool becomes_another(void)
{
	return !setuid(getuid());
}

static bool uses_keys(void)
{
	return syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -1 /* the thread's */, 1) >= 0;
}

static bool loads_bpf(void)
{
	uint32_t map[18] = {1 /* hash */, 4, 4, 1};
	return syscall(SYS_bpf, 0 /* BPF_MAP_CREATE */, map, sizeof map) >= 0;
}

static bool watches_events(void)
{
	uint32_t attributes[32] = {1 /* software */, sizeof attributes};
	return syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0L) >= 0;
}

static bool handles_faults(void)
{
	return syscall(SYS_userfaultfd, 0) >= 0;
}

static bool makes_a_timer(void)
{
	timer_t timer;
	return !timer_create(CLOCK_REALTIME, NULL, &timer);
}

static bool moves_a_descriptor(void)
{
	return fcntl(0, F_DUPFD, 7) >= 0;
}

static bool owns_a_descriptor(void)
{
	return !fcntl(listener, F_SETOWN, victim);
}

static bool calls_by_another_number(void)
{
	return syscall(0x40000000 | SYS_getpid) > 0;
}

static bool calls_as_i386(void)
{
	long result = -1;
#ifdef __x86_64__
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L /* getpid */) : "memory", "r8", "r9", "r10", "r11");
#endif
	return result > 0;
}

static void *answer(void *number)
{
	return number;
}

static bool makes_a_thread(void)
{
	pthread_t thread;
	return !pthread_create(&thread, NULL, answer, NULL) && !pthread_join(thread, NULL);
}

/* ---- each of them, on both sides ---- */

struct attempt {
	const char *name;
	bool (*works)(void);
	bool depends; /* on the kernel, its settings or our privileges: it may fail outside, too */
};

#define TRY(name)                                                                                                      \
	{                                                                                                              \
#name, name, false                                                                                     \
	}
#define MAY(name)                                                                                                      \
	{                                                                                                              \
#name, name, true                                                                                      \
	}

static const struct attempt attempts[] = {
	TRY(opens_a_file),
	MAY(opens_by_openat2),
	TRY(makes_a_file),
	TRY(forks),
	TRY(clones),
	MAY(clones3),
	TRY(vforks),
	TRY(makes_a_thread),
	MAY(clones_into_namespaces),
	TRY(executes),
	TRY(makes_a_socket),
	TRY(makes_a_pair),
	TRY(connects),
	TRY(accepts),
	TRY(is_traced),
	MAY(traces),
	MAY(reads_memory_of_another),
	MAY(writes_memory_of_another),
	TRY(kills),
	TRY(kills_parent),
	TRY(kills_a_thread),
	TRY(queues_a_signal),
	TRY(opens_a_process),
	TRY(maps_code),
	TRY(maps_code_by_high_bits),
	TRY(makes_code),
	MAY(makes_code_with_a_key),
	TRY(shares_memory),
	TRY(maps_a_stack),
	MAY(gets_shared_memory),
	TRY(makes_a_memory_file),
	MAY(makes_a_ring),
	TRY(becomes_dumpable),
	TRY(survives_its_parent),
	TRY(sets_a_limit),
	TRY(sets_a_limit_of_another),
	TRY(asks_a_limit_of_another),
	TRY(controls_a_terminal),
	MAY(types_into_a_terminal),
	TRY(looks_at_a_path),
	TRY(looks_at_a_path_by_a_flag),
	TRY(looks_by_stat),
	TRY(looks_by_statx),
	TRY(looks_by_access),
	TRY(reads_a_link),
	TRY(lists_a_directory),
	TRY(changes_directory),
	TRY(changes_rights),
	TRY(changes_rights_of_a_descriptor),
	TRY(changes_the_owner),
	TRY(changes_times),
	TRY(makes_a_link),
	TRY(makes_a_hard_link),
	TRY(makes_a_directory),
	TRY(makes_a_fifo),
	TRY(unlinks),
	TRY(only_unlinks),
	TRY(renames),
	TRY(truncates),
	MAY(mounts),
	MAY(unshares),
	MAY(changes_root),
	TRY(becomes_another),
	MAY(uses_keys),
	MAY(loads_bpf),
	MAY(watches_events),
	MAY(handles_faults),
	TRY(makes_a_timer),
	TRY(moves_a_descriptor),
	TRY(owns_a_descriptor),
	MAY(calls_by_another_number),
	MAY(calls_as_i386),
};

static const struct xc_worker_sandbox usual = {.memory = UINT64_C(512) << 20, .file_size = 1 << 20, .seconds = 5};

/* Exit status of a child that runs body: its status, or 1000 + the signal. */
static int ends(bool (*body)(void), const struct xc_worker_sandbox *sandbox)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		for (int number = 1; number < NSIG; number++)
			signal(number, SIG_DFL); /* cmocka's handlers jump into the tests */
		prctl(PR_SET_DUMPABLE, 0);
		if (sandbox && xc_worker_sandbox_enter(sandbox))
			_exit(NO_JAIL);
		_exit(body() ? WORKED : REFUSED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rmdir(other);
	unlink(other);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void nothing_that_is_tried_works(void **state)
{
	size_t escaped = 0, idle = 0;
	(void)state;
	for (size_t i = 0; i < XC_COUNT(attempts); i++) {
		const int outside = ends(attempts[i].works, NULL), inside = ends(attempts[i].works, &usual);
		if (inside != REFUSED && inside != 1000 + SIGSYS) {
			fprintf(stderr, "%s: not refused (%d)\n", attempts[i].name, inside);
			escaped++;
		}
		if (outside != WORKED && !attempts[i].depends) {
			fprintf(stderr, "%s: does not work outside either (%d)\n", attempts[i].name, outside);
			idle++;
		}
	}
	assert_int_equal(escaped, 0);
	assert_int_equal(idle, 0);
}

/* ---- a worker's requirements ---- */

static bool can_compute(void)
{
	char *block = malloc(MEGABYTE);
	return block && memset(block, 1, MEGABYTE);
}

/* Names that are otherwise demangled on a thread: many parameters of 70 letters, and one that needs the largest
 * stack. */
static bool can_demangle_long_names(void)
{
	char name[16 << 10] = "_Z1f", *end = name + 4;
	xc_demangle_here(xc_worker_sandbox_stack());
	for (int i = 0; i < 40; i++)
		end += sprintf(end, "70x%069dIiE", i);
	const char *text = xc_demangle(name, false);
	if (!text || strcmp(text, "f") != 0)
		return false;
	for (end = name + 4; end < name + sizeof name - 16;)
		end += sprintf(end, "N1a");
	xc_demangle(name, true);
	return true;
}

static bool can_look_at_its_descriptors(void)
{
	struct stat by_libc = {0}, by_call = {0};
	return !fstat(listener, &by_libc) && S_ISSOCK(by_libc.st_mode) &&
	       !syscall(SYS_newfstatat, listener, "", &by_call, AT_EMPTY_PATH) && by_call.st_ino == by_libc.st_ino;
}

static bool a_wrong_descriptor_is_an_error(void)
{
	struct stat st;
	return syscall(SYS_newfstatat, 999, "", &st, AT_EMPTY_PATH) < 0 && errno == EBADF;
}

static void what_is_needed_works(void **state)
{
	(void)state;
	assert_int_equal(ends(can_compute, &usual), WORKED);
	assert_int_equal(ends(can_demangle_long_names, &usual), WORKED);
	assert_int_equal(ends(can_look_at_its_descriptors, &usual), WORKED);
	assert_int_equal(ends(a_wrong_descriptor_is_an_error, &usual), WORKED);
}

static bool aborts(void)
{
	abort();
}

static void abort_ends_it_as_ever(void **state)
{
	(void)state;
	assert_int_equal(ends(aborts, &usual), 1000 + SIGABRT);
}

/* ---- limits ---- */

static bool takes_memory(void)
{
	char *block = malloc(64 * MEGABYTE);
	return block && memset(block, 1, 64 * MEGABYTE);
}

static bool takes_memory_by_protection(void)
{
	void *block = mmap(NULL, 64 * MEGABYTE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return !mprotect(block, 64 * MEGABYTE, PROT_READ | PROT_WRITE);
}

static bool takes_all_addresses(void)
{
	size_t taken = 0;
	while (taken < 64 &&
	       mmap(NULL, (size_t)1 << 40, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
		taken++;
	return taken > 8; /* beyond the limit for page tables */
}

static bool takes_a_stack(void)
{
	volatile char bytes[MEGABYTE];
	static unsigned depth;
	bytes[0] = 1;
	return ++depth > 200 || (takes_a_stack() && bytes[0]);
}

static void memory_is_bounded(void **state)
{
	const struct xc_worker_sandbox small = {.memory = 32 * MEGABYTE, .file_size = 1, .seconds = 5};
	(void)state;
	assert_int_equal(ends(takes_memory, &small), SANITIZED ? WORKED : REFUSED);
	assert_int_equal(ends(takes_memory_by_protection, &small), SANITIZED ? WORKED : REFUSED);
	assert_int_equal(ends(takes_all_addresses, &small), SANITIZED ? WORKED : REFUSED);
	assert_int_equal(ends(takes_memory, &usual), WORKED);
	assert_int_equal(ends(takes_a_stack, &small), 1000 + SIGSEGV);
}

static int scratch;

static bool writes_much(void)
{
	static char bytes[64 << 10];
	for (int i = 0; i < 32; i++)
		if (write(scratch, bytes, sizeof bytes) < 0)
			return false;
	return true;
}

static bool lengthens_a_file(void)
{
	return !ftruncate(scratch, 2 * MEGABYTE);
}

static void files_are_bounded(void **state)
{
	(void)state;
	scratch = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	if (scratch < 0)
		check_skip("/tmp takes no file without a name");
	assert_int_equal(ends(writes_much, &usual), 1000 + SIGXFSZ);
	assert_int_equal(ends(lengthens_a_file, &usual), 1000 + SIGXFSZ);
	close(scratch);
}

static void *spin_on(void *unused)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
	return unused;
}

static bool spins(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, spin_on, NULL);
	spin_on(NULL);
	return true;
}

/* Also one that ignores the signal for that. */
static bool spins_deaf(void)
{
	signal(SIGXCPU, SIG_IGN);
	return spins();
}

static void time_is_bounded(void **state)
{
	const struct xc_worker_sandbox brief = {.memory = UINT64_C(512) << 20, .file_size = 1, .seconds = 1};
	(void)state;
	assert_int_equal(ends(spins, &brief), 1000 + SIGXCPU);
	assert_int_equal(ends(spins_deaf, &brief), 1000 + SIGKILL);
}

static int ready[2];

static bool waits(void)
{
	char byte;
	return write(ready[1], "", 1) == 1 && read(ready[1], &byte, 1) == 1;
}

/* A worker of root has no capabilities, either. */
static void it_has_no_rights(void **state)
{
	char name[64], line[128], byte;
	unsigned found = 0;
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ready), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(xc_worker_sandbox_enter(&usual) ? NO_JAIL : !waits());
	assert_int_equal(read(ready[0], &byte, 1), 1);
	snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
	FILE *status = fopen(name, "r");
	assert_non_null(status);
	while (fgets(line, sizeof line, status))
		found += !strcmp(line, "CapEff:\t0000000000000000\n") || !strcmp(line, "CapPrm:\t0000000000000000\n") ||
			 !strcmp(line, "NoNewPrivs:\t1\n") || !strcmp(line, "Seccomp:\t2\n");
	fclose(status);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(found, 4);
}

/* ---- set-up ---- */

static int set_up(void **state)
{
	int master;
	(void)state;
	own = mkstemp(file);
	if (own < 0 || write(own, "x", 1) != 1 || openpty(&master, &terminal, NULL, NULL, NULL))
		return 1;
	snprintf(other, sizeof other, "%s-other", file);
	snprintf(address.sun_path, sizeof address.sun_path, "%s-socket", file);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (const struct sockaddr *)&address, sizeof address) || listen(listener, 5))
		return 1;
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
	(void)state;
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	return unlink(file) | unlink(address.sun_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_that_is_tried_works),
		cmocka_unit_test(what_is_needed_works),
		cmocka_unit_test(abort_ends_it_as_ever),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(files_are_bounded),
		cmocka_unit_test(time_is_bounded),
		cmocka_unit_test(it_has_no_rights),
	};
	return cmocka_run_group_tests_name("worker_sandbox", tests, set_up, tear_down);
}
