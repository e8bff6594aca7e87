/* process_attempts: what a compromised worker might try with processes, threads, signals and limits. Each returns
 * whether it worked. */
#ifndef XC_TEST_PROCESS_ATTEMPTS_H
#define XC_TEST_PROCESS_ATTEMPTS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/unit/batch/sandbox/jail.h"

static inline bool made_child(long pid)
{
	if (!pid)
		_exit(0);
	return pid > 0;
}

static inline bool forks(void)
{
	return made_child(syscall(SYS_fork));
}

static inline bool clones(void)
{
	return made_child(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
}

static inline bool clones3(void)
{
	uint64_t args[8] = {0};
	args[4] = SIGCHLD;
	return made_child(syscall(SYS_clone3, args, sizeof args));
}

static inline bool vforks(void)
{
	return made_child(syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL));
}

static inline int sleeper(void *unused)
{
	(void)unused;
	return 0;
}

/* The flags of a thread, and of a new namespace. */
static inline bool clones_into_namespaces(void)
{
	static char stack[1 << 16];
	return clone(sleeper, stack + sizeof stack,
		     CLONE_THREAD | CLONE_VM | CLONE_SIGHAND | CLONE_NEWNS | CLONE_NEWUTS, NULL) > 0;
}

static inline bool executes(void)
{
	execl("/bin/true", "true", NULL); /* which ends with WORKED */
	return false;
}

static inline bool is_traced(void)
{
	return !ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static inline bool traces(void)
{
	return !ptrace(PTRACE_SEIZE, victim, NULL, NULL);
}

static inline bool reads_memory_of_another(void)
{
	char byte;
	struct iovec local = {&byte, 1}, remote = {&victim, 1};
	return process_vm_readv(victim, &local, 1, &remote, 1, 0) == 1;
}

static inline bool writes_memory_of_another(void)
{
	struct iovec local = {&victim, 1}, remote = {&victim, 1};
	return process_vm_writev(victim, &local, 1, &remote, 1, 0) == 1;
}

static inline bool kills(void)
{
	return !kill(victim, SIGCONT);
}

static inline bool kills_parent(void)
{
	return !kill(getppid(), SIGCONT);
}

static inline bool kills_a_thread(void)
{
	return !syscall(SYS_tgkill, victim, victim, SIGCONT);
}

static inline bool queues_a_signal(void)
{
	return !sigqueue(victim, SIGCONT, (union sigval){0});
}

static inline bool opens_a_process(void)
{
	return syscall(SYS_pidfd_open, victim, 0) >= 0;
}

static inline bool becomes_dumpable(void)
{
	return !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static inline bool survives_its_parent(void)
{
	return !prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
}

static inline bool sets_a_limit(void)
{
	const struct rlimit none = {0, 0};
	return !setrlimit(RLIMIT_CORE, &none);
}

static inline bool sets_a_limit_of_another(void)
{
	const struct rlimit none = {0, 0};
	return !prlimit(victim, RLIMIT_CORE, &none, NULL);
}

static inline bool asks_a_limit_of_another(void)
{
	struct rlimit limit;
	return !prlimit(victim, RLIMIT_CORE, NULL, &limit);
}

static inline bool unshares(void)
{
	return !unshare(CLONE_NEWUSER);
}

static inline bool becomes_another(void)
{
	return !setuid(getuid());
}

static inline void *answer(void *number)
{
	return number;
}

static inline bool makes_a_thread(void)
{
	pthread_t thread;
	return !pthread_create(&thread, NULL, answer, NULL) && !pthread_join(thread, NULL);
}

#endif
