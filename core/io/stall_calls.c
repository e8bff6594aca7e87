/* stall_calls: the calls that may wait for a file, and which of their arguments name it. */
#include "core/io/stall_calls.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NONE = XC_STALL_NO_ARGUMENT, FAULT = -1 };

static const struct xc_stall_call calls[] = {
#ifdef SYS_open
	{SYS_open, NONE, 0},
	{SYS_stat, NONE, 0},
	{SYS_lstat, NONE, 0},
	{SYS_access, NONE, 0},
	{SYS_readlink, NONE, 0},
	{SYS_mkdir, NONE, 0},
	{SYS_rmdir, NONE, 0},
	{SYS_unlink, NONE, 0},
	{SYS_rename, NONE, 1},
	{SYS_chmod, NONE, 0},
	{SYS_chown, NONE, 0},
	{SYS_link, NONE, 1},
	{SYS_symlink, NONE, 1},
	{SYS_getdents, 0, NONE},
#endif
	{SYS_openat, 0, 1},
	{SYS_openat2, 0, 1},
	{SYS_newfstatat, 0, 1},
	{SYS_statx, 0, 1},
	{SYS_faccessat, 0, 1},
	{SYS_faccessat2, 0, 1},
	{SYS_readlinkat, 0, 1},
	{SYS_mkdirat, 0, 1},
	{SYS_unlinkat, 0, 1},
	{SYS_renameat, 2, 3},
	{SYS_renameat2, 2, 3},
	{SYS_linkat, 2, 3},
	{SYS_symlinkat, 1, 2},
	{SYS_utimensat, 0, 1},
	{SYS_fchmodat, 0, 1},
	{SYS_fchownat, 0, 1},
	{SYS_truncate, NONE, 0},
	{SYS_statfs, NONE, 0},
	{SYS_getxattr, NONE, 0},
	{SYS_lgetxattr, NONE, 0},
	{SYS_chdir, NONE, 0},
	{SYS_execve, NONE, 0},
	{SYS_read, 0, NONE},
	{SYS_pread64, 0, NONE},
	{SYS_readv, 0, NONE},
	{SYS_preadv, 0, NONE},
	{SYS_write, 0, NONE},
	{SYS_pwrite64, 0, NONE},
	{SYS_writev, 0, NONE},
	{SYS_pwritev, 0, NONE},
	{SYS_getdents64, 0, NONE},
	{SYS_fstat, 0, NONE},
	{SYS_fstatfs, 0, NONE},
	{SYS_fsync, 0, NONE},
	{SYS_fdatasync, 0, NONE},
	{SYS_ftruncate, 0, NONE},
	{SYS_fallocate, 0, NONE},
	{SYS_fadvise64, 0, NONE},
	{SYS_flock, 0, NONE},
	{SYS_fcntl, 0, NONE},
	{SYS_ioctl, 0, NONE},
	{SYS_lseek, 0, NONE},
	{SYS_mmap, 4, NONE},
	{SYS_fgetxattr, 0, NONE},
	{SYS_fchmod, 0, NONE},
	{SYS_fchown, 0, NONE},
	{SYS_copy_file_range, 0, NONE},
	{SYS_sendfile, 1, NONE},
	/* These block on files too, but their arguments do not name the file. */
	{SYS_close, NONE, NONE},
	{SYS_exit_group, NONE, NONE},
	{SYS_madvise, NONE, NONE},
	{SYS_munmap, NONE, NONE},
	{SYS_process_vm_readv, NONE, NONE},
	{FAULT, NONE, NONE},
};

bool xc_stall_read(char *text, size_t size, const char *format, ...)
{
	char path[96];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

void xc_stall_descriptor(pid_t pid, int fd, char name[PATH_MAX])
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, fd);
	const ssize_t n = fd < 0 ? -1 : readlink(path, name, PATH_MAX - 1);
	name[n > 0 ? n : 0] = '\0';
}

bool xc_stall_is_file(const char *name)
{
	return name[0] == '/' && (!xc_begins_with(name, "/dev/") || xc_begins_with(name, "/dev/shm/"));
}

const struct xc_stall_call *xc_stall_call(const char *line, uint64_t arguments[XC_STALL_ARGUMENTS])
{
	char *at;
	const long number = strtol(line, &at, 10);
	for (size_t i = 0; i < XC_STALL_ARGUMENTS; i++)
		arguments[i] = number < 0 ? 0 : strtoull(at, &at, 16);
	for (size_t i = 0; at > line && i < XC_COUNT(calls); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}
