/* sandbox: the two sandboxes of live mode.
 *
 * Seccomp: a call is allowed unless listed. The list has every known way in Linux 6.18 to trace, stop, signal or change
 * another process, or to bypass the filter. No file of xcore makes any of these calls: the filter protects against
 * mistakes, and against bugs that hostile bytes could exploit. Calls that also have a harmless use on the process
 * itself are denied by argument: prlimit64 with a pid, fcntl and ioctl that make a descriptor send signals.
 *
 * Landlock: only rights that change files are handled, so reading is unrestricted. Access rights by ABI version:
 * include/uapi/linux/landlock.h, Linux 6.1 (1 and 2), 6.2 (3: truncate), 6.12 (6: signals). The later ones are defined
 * here because Debian 12's headers end at 2. */
#include "core/live/sandbox.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448 /* Linux 5.15, the same on every machine */
#endif
#ifndef FIOSETOWN
#define FIOSETOWN 0x8901 /* include/uapi/asm-generic/sockios.h */
#endif
#ifndef SIOCSPGRP
#define SIOCSPGRP 0x8902
#endif
#define TIOCSIG_ 0x40045436 /* include/uapi/asm-generic/ioctls.h: signal to a terminal's processes */

/* ---- calls ---- */

static const int denied_calls[] = {
	SYS_ptrace,
	SYS_process_vm_writev,
	SYS_process_madvise,
	SYS_process_mrelease,
	SYS_move_pages,
	SYS_migrate_pages,
	SYS_kill,
	SYS_tkill,
	SYS_tgkill,
	SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo,
	SYS_pidfd_send_signal,
	SYS_pidfd_getfd, /* a copy of a target's descriptor allows writing to it */
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register, /* makes calls that bypass filters */
	SYS_bpf,               /* programs can signal and write to processes */
};

struct denied_use {
	int call;
	unsigned arg;
	uint64_t value; /* denied when the low 32 bits of arg are this */
};

static const struct denied_use denied_uses[] = {
	{SYS_fcntl, 1, F_SETOWN},  {SYS_fcntl, 1, F_SETOWN_EX}, {SYS_fcntl, 1, F_SETSIG}, {SYS_ioctl, 1, FIOSETOWN},
	{SYS_ioctl, 1, SIOCSPGRP}, {SYS_ioctl, 1, TIOCSTI},     {SYS_ioctl, 1, TIOCSIG_},
};

static const uint64_t LOW_32 = UINT32_MAX; /* the kernel reads an int and ignores the upper half */

static int deny_calls(scmp_filter_ctx filter)
{
	const uint32_t deny = SCMP_ACT_ERRNO(EPERM);
	int error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, deny);
	for (size_t i = 0; !error && i < XC_COUNT(denied_calls); i++)
		error = seccomp_rule_add(filter, deny, denied_calls[i], 0);
	for (size_t i = 0; !error && i < XC_COUNT(denied_uses); i++) {
		const struct denied_use *use = &denied_uses[i];
		struct scmp_arg_cmp same = {use->arg, SCMP_CMP_MASKED_EQ, LOW_32, use->value};
		error = seccomp_rule_add_array(filter, deny, use->call, 1, &same);
	}
	if (error)
		return error;
	const struct scmp_arg_cmp set_another[] = {{0, SCMP_CMP_NE, 0, 0}, {2, SCMP_CMP_NE, 0, 0}};
	return seccomp_rule_add_array(filter, deny, SYS_prlimit64, XC_COUNT(set_another), set_another);
}

struct xc_error *xc_sandbox_load(void *filter, int error)
{
	if (!error)
		error = seccomp_load(filter); /* sets no_new_privs too */
	seccomp_release(filter);
	if (!error)
		return NULL;
	struct xc_error *err = xc_error_errno(-error, "the system call filter (seccomp) cannot be installed");
	err->code = XC_ERR_UNSUPPORTED;
	return err;
}

struct xc_error *xc_sandbox_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	return xc_sandbox_load(filter, filter ? deny_calls(filter) : -ENOMEM);
}

char *xc_sandbox_call_name(uint16_t machine, long number)
{
	uint32_t arch = machine == EM_386 ? SCMP_ARCH_X86 : seccomp_arch_native();
	if (number < 0 || number > INT32_MAX)
		return NULL;
	return seccomp_syscall_resolve_num_arch(arch, (int)number);
}

long xc_sandbox_call_number(const char *name)
{
	const int number = seccomp_syscall_resolve_name(name);
	return number >= 0 ? number : -1;
}

/* ---- writes ---- */

enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_SCOPE = 6 };

static const uint64_t ACCESS_TRUNCATE = UINT64_C(1) << 14, SCOPE_SIGNAL = UINT64_C(1) << 1;
static const uint64_t ACCESS_CHANGE = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
				      LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
				      LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
				      LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
				      LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
static const uint64_t ACCESS_IN_DIR = /* allowed actions: no devices, sockets or FIFOs */
	LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
	LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG;

/* struct landlock_ruleset_attr as of ABI 6. */
struct ruleset {
	uint64_t fs, net, scoped;
};

static atomic_bool writes_limited;

bool xc_sandbox_writes_limited(void)
{
	return atomic_load(&writes_limited);
}

static struct ruleset ruleset_for(int abi)
{
	struct ruleset set = {.fs = ACCESS_CHANGE};
	if (abi >= ABI_REFER)
		set.fs |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= ABI_TRUNCATE)
		set.fs |= ACCESS_TRUNCATE;
	if (abi >= ABI_SCOPE)
		set.scoped = SCOPE_SIGNAL;
	return set;
}

static size_t ruleset_size(int abi)
{
	return abi >= ABI_SCOPE ? sizeof(struct ruleset) : sizeof(uint64_t);
}

static struct xc_error *allow_path(int rules, const char *path, uint64_t access)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return xc_error_errno(errno, "%s", path);
	struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
	long failed = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	int error = errno;
	close(fd);
	return failed ? xc_error_errno(error, "Landlock rule for %s", path) : NULL;
}

static struct xc_error *allow_paths(int rules, const struct xc_sandbox_options *options, uint64_t handled)
{
	static const char *const devices[] = {"/dev/null", "/dev/tty"};
	const uint64_t in_dir = (ACCESS_IN_DIR | LANDLOCK_ACCESS_FS_REFER | ACCESS_TRUNCATE) & handled;
	const uint64_t on_file = (LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE) & handled;
	for (size_t i = 0; i < XC_COUNT(devices); i++)
		xc_error_free(
			allow_path(rules, devices[i], on_file)); /* absent in some containers: then not writable */
	for (size_t i = 0; i < options->write_dir_count; i++) {
		struct xc_error *err = allow_path(rules, options->write_dirs[i], in_dir);
		if (err)
			return xc_error_wrap(err, "a directory to be written");
	}
	return NULL;
}

/* Enable Landlock for ABI version `abi`. */
static struct xc_error *restrict_writes(const struct xc_sandbox_options *options, int abi)
{
	struct ruleset set = ruleset_for(abi);
	int rules = (int)syscall(SYS_landlock_create_ruleset, &set, ruleset_size(abi), 0);
	if (rules < 0)
		return xc_error_errno(errno, "Landlock");
	struct xc_error *err = allow_paths(rules, options, set.fs);
	if (!err && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_landlock_restrict_self, rules, 0)))
		err = xc_error_errno(errno, "Landlock");
	close(rules);
	return err;
}

static const char *describe(int abi)
{
	static const char *const names[] = {
		"landlock ABI 1 (truncating files is not covered)",
		"landlock ABI 2 (truncating files is not covered)",
		"landlock ABI 3",
		"landlock ABI 4",
		"landlock ABI 5",
		"landlock ABI 6",
		"landlock ABI 7",
	};
	return abi <= (int)XC_COUNT(names) ? names[abi - 1] : "landlock ABI 8 or later";
}

struct xc_error *xc_sandbox_writes(const struct xc_sandbox_options *options, const char **landlock_out)
{
	const char *text;
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (abi >= 1) {
		struct xc_error *err = restrict_writes(options, abi);
		if (err)
			return err;
		atomic_store(&writes_limited, true);
		text = describe(abi);
	} else if (abi < 0 && errno == EOPNOTSUPP) {
		text = "no landlock: switched off when this kernel was started";
	} else if (abi < 0 && errno == ENOSYS) {
		text = "no landlock: not in this kernel";
	} else {
		text = "no landlock: refused (a container's policy)";
	}
	if (landlock_out)
		*landlock_out = text;
	return NULL;
}
