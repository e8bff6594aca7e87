/* layer: batch */
/* worker_sandbox: performs everything that a compromised worker might try, inside the sandbox and, to prove that it
 * would have worked, outside. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "batch/sandbox/worker_sandbox.h"
#include "tests/unit/batch/sandbox/file_attempts.h"
#include "tests/unit/batch/sandbox/jail.h"
#include "tests/unit/batch/sandbox/process_attempts.h"

/* ---- attempts: each returns whether it worked ---- */

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

static bool controls_a_terminal(void)
{
	struct winsize size = {.ws_row = 7};
	return !ioctl(terminal, TIOCSWINSZ, &size);
}

static bool types_into_a_terminal(void)
{
	return !ioctl(terminal, TIOCSTI, "x");
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

static void nothing_that_is_tried_works(void **state)
{
	size_t escaped = 0, idle = 0;
	(void)state;
	for (size_t i = 0; i < XC_COUNT(attempts); i++) {
		const int outside = ends(attempts[i].works, NULL), inside = ends(attempts[i].works, &usual);
		bool lacks = attempts[i].depends && outside == 1000 + SIGSEGV; /* the kernel: int $0x80 then faults */
		if (inside != REFUSED && inside != 1000 + SIGSYS && !(lacks && inside == outside)) {
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_that_is_tried_works),
		cmocka_unit_test(it_has_no_rights),
	};
	return cmocka_run_group_tests_name("worker_sandbox", tests, set_up, tear_down);
}
