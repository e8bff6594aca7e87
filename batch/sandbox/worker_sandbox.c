/* worker_sandbox: everything is forbidden unless listed.
 *
 * The list holds the calls of libc, libdw, zstd and xcore after all files are open. It was found by running all corpora
 * under a logging filter, and is kept short: every line has a user. Landlock's bits are from
 * include/uapi/linux/landlock.h, Linux 6.12; a kernel is asked only for those that its version knows.
 *
 * A filter cannot see memory, so two calls need care. The flags of clone3 are in memory: libc is told that the call
 * does not exist. fstat() of C libraries before 2.39 is newfstatat(fd, "", …, AT_EMPTY_PATH), a flag that does not
 * guarantee an empty path. So newfstatat is never allowed; it traps, and the handler performs the intended fstat. */
#include "batch/sandbox/worker_sandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <fcntl.h>

#include "core/live/sandbox.h"

/* ---- system calls ---- */

static const int allowed[] = {
	SYS_read,         SYS_pread64,
	SYS_write,        SYS_pwrite64,
	SYS_writev,       SYS_lseek,
	SYS_close,        SYS_fstat,
	SYS_ftruncate,    SYS_fallocate,
	SYS_recvmsg,      SYS_sendmsg,
	SYS_munmap,       SYS_mremap,
	SYS_brk,          SYS_madvise,
	SYS_futex,        SYS_exit,
	SYS_exit_group,   SYS_getpid,
	SYS_gettid,       SYS_geteuid,
	SYS_rt_sigreturn, SYS_rt_sigprocmask,
	SYS_rt_sigaction, SYS_sigaltstack,
	SYS_sched_yield,  SYS_set_robust_list,
	SYS_rseq,         SYS_sched_getaffinity,
	SYS_sysinfo,      SYS_clock_gettime,
	SYS_gettimeofday, SYS_restart_syscall,
	SYS_getrandom,    SYS_getcwd,
};

/* Calls that libraries try, and that may fail. */
static const struct {
	int call, error;
} refused[] = {
	{SYS_clone3, ENOSYS}, /* its flags are in memory, invisible to the filter: libc falls back to clone */
	{SYS_ioctl, ENOTTY},    {SYS_prctl, EPERM},
	{SYS_readlink, EACCES}, /* libdw asks for the path of a descriptor */
	{SYS_stat, EACCES},     {SYS_utimensat, EACCES},
};

/* The flags of a thread's clone, and those that must not accompany them: each makes a name space or a process. */
static const uint64_t THREAD = CLONE_THREAD | CLONE_VM | CLONE_SIGHAND;
static const uint64_t NO_THREAD = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
				  CLONE_NEWPID | CLONE_NEWNET | CLONE_VFORK | CLONE_PARENT | CLONE_PTRACE |
				  CLONE_UNTRACED;

/* RLIMIT_DATA counts neither shared memory nor mappings that grow like stacks. */
static const uint64_t UNCOUNTED = MAP_GROWSDOWN | MAP_HUGETLB | MAP_LOCKED;

static const uint64_t LOW = UINT32_MAX;

struct use {
	int call;
	struct {
		unsigned arg;
		uint64_t mask, value; /* allowed when (arg & mask) == value */
	} when[2];
};

static const struct use uses[] = {
	{SYS_mmap, {{2, PROT_EXEC, 0}, {3, MAP_SHARED | UNCOUNTED, 0}}},
	{SYS_mmap, {{2, PROT_EXEC, 0}, {3, MAP_ANONYMOUS | UNCOUNTED, 0}}},
	{SYS_mprotect, {{2, PROT_EXEC, 0}}},
	{SYS_fcntl, {{1, LOW, F_GETFL}}},
	{SYS_fcntl, {{1, LOW, F_GETFD}}},
	{SYS_prlimit64,
	 {{0, LOW, 0}, {2, ~UINT64_C(0), 0}}}, /* limits are read, not set: libc sizes a thread's stack by them */
};

static int allow(scmp_filter_ctx filter, const struct use *use)
{
	struct scmp_arg_cmp same[XC_COUNT(use->when)];
	unsigned count = 0;
	for (; count < XC_COUNT(same) && use->when[count].mask; count++)
		same[count] = (struct scmp_arg_cmp){use->when[count].arg, SCMP_CMP_MASKED_EQ, use->when[count].mask,
						    use->when[count].value};
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, use->call, count, same);
}

static int allow_uses(scmp_filter_ctx filter)
{
	int error = 0;
	for (size_t i = 0; !error && i < XC_COUNT(uses); i++)
		error = allow(filter, &uses[i]);
	if (!error)
		error = seccomp_rule_add(filter, SCMP_ACT_TRAP, SYS_newfstatat, 0);
	/* a thread: fails as with too many threads, so callers continue without one */
	const struct scmp_arg_cmp thread = {0, SCMP_CMP_MASKED_EQ, THREAD | NO_THREAD, THREAD};
	if (!error)
		error = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EAGAIN), SYS_clone, 1, &thread);
	/* abort() only, and only of this process */
	const struct scmp_arg_cmp abort_itself[] = {{0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0},
						    {2, SCMP_CMP_EQ, SIGABRT, 0}};
	if (!error)
		error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SYS_tgkill, XC_COUNT(abort_itself),
					       abort_itself);
	return error;
}

/* The trapped call; performed if it is an fstat. */
static void look_at_descriptor(int number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const char *path = (const char *)regs[REG_RSI];
	const int saved = errno;
	(void)number;
	regs[REG_RAX] = -EACCES;
	if (info->si_syscall == SYS_newfstatat && regs[REG_R10] & AT_EMPTY_PATH && !*path)
		regs[REG_RAX] = syscall(SYS_fstat, (int)regs[REG_RDI], regs[REG_RDX]) ? -errno : 0;
	errno = saved;
}

static int catch_traps(void)
{
	struct sigaction action = {.sa_sigaction = look_at_descriptor, .sa_flags = SA_SIGINFO};
	return sigaction(SIGSYS, &action, NULL) ? -errno : 0;
}

static int build_filter(scmp_filter_ctx filter)
{
	int error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	for (size_t i = 0; !error && i < XC_COUNT(allowed); i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; !error && i < XC_COUNT(refused); i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)refused[i].error), refused[i].call, 0);
	return error ? error : allow_uses(filter);
}

static struct xc_error *limit_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int error = filter ? build_filter(filter) : -ENOMEM;
	if (!error)
		error = catch_traps();
	return xc_sandbox_load(filter, error);
}

/* ---- files ---- */

struct ruleset {
	uint64_t fs, net, scoped;
};

enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_NET = 4, ABI_IOCTL = 5, ABI_SCOPE = 6 };

static int landlock_version(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* All rights that this version knows; none of them is granted. */
static struct ruleset everything(int abi)
{
	const unsigned bits = abi >= ABI_IOCTL ? 16 : abi >= ABI_TRUNCATE ? 15 : abi >= ABI_REFER ? 14 : 13;
	return (struct ruleset){
		.fs = (UINT64_C(1) << bits) - 1, .net = abi >= ABI_NET ? 3 : 0, .scoped = abi >= ABI_SCOPE ? 3 : 0};
}

static void forbid_files(void)
{
	const int abi = landlock_version();
	if (abi < 1)
		return;
	const struct ruleset set = everything(abi);
	const size_t size = abi >= ABI_SCOPE ? sizeof set : abi >= ABI_NET ? 2 * sizeof set.fs : sizeof set.fs;
	const int rules = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
	if (rules < 0)
		return; /* seccomp holds without it */
	if (syscall(SYS_landlock_restrict_self, rules, 0))
		errno = 0;
	close(rules);
}

/* ---- resources ---- */

/* includes the request of xc_demangle_here; the kernel keeps 128 MiB below it */
static const uint64_t STACK = 80 << 20;

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Only ever lowers a limit. The hard limit matters where the soft limit's signal can be ignored. */
static void limit(int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit now;
	if (getrlimit((__rlimit_resource_t)resource, &now))
		return;
	now.rlim_max = least(now.rlim_max, hard);
	now.rlim_cur = least(now.rlim_cur, soft);
	setrlimit((__rlimit_resource_t)resource, &now);
}

static void limit_memory(uint64_t data)
{
#ifdef __SANITIZE_ADDRESS__ /* its shadow takes terabytes, and counts as data */
	(void)data;
#else
	/* Page tables of read-only mappings are memory that no limit counts: this allows at most 8 GiB of them. */
	const uint64_t addresses = UINT64_C(4) << 40;
	if (data)
		limit(RLIMIT_DATA, data, data);
	limit(RLIMIT_AS, addresses, addresses);
#endif
}

/* The soft limit, which may be raised: the usual stack size is not enough here. */
static void set_stack(void)
{
	struct rlimit now;
	if (getrlimit(RLIMIT_STACK, &now))
		return;
	now.rlim_max = now.rlim_cur = least(now.rlim_max, STACK);
	setrlimit(RLIMIT_STACK, &now);
}

uint64_t xc_worker_sandbox_stack(void)
{
	struct rlimit now;
	return getrlimit(RLIMIT_STACK, &now) ? 0 : now.rlim_cur;
}

static void limit_resources(const struct xc_worker_sandbox *sandbox)
{
	limit_memory(sandbox->memory);
	set_stack();
	limit(RLIMIT_FSIZE, sandbox->file_size, sandbox->file_size);
	limit(RLIMIT_CPU, sandbox->seconds, sandbox->seconds + 1);
	limit(RLIMIT_CORE, 0, 0);
	limit(RLIMIT_MEMLOCK, 0, 0);
	limit(RLIMIT_MSGQUEUE, 0, 0);
}

/* For root, too: with capabilities, permitted calls (madvise) can damage the machine's memory. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
	return (int)syscall(SYS_capset, &header, none);
}

struct xc_error *xc_worker_sandbox_enter(const struct xc_worker_sandbox *sandbox)
{
	limit_resources(sandbox);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || drop_capabilities())
		return xc_error_errno(errno, "a worker's privileges");
	forbid_files();
	return limit_calls();
}
