/* file_attempts: what a compromised worker might try with files, by their names and by descriptors. Each returns whether
 * it worked. */
#ifndef XC_TEST_FILE_ATTEMPTS_H
#define XC_TEST_FILE_ATTEMPTS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/batch/sandbox/jail.h"

static inline bool opens_a_file(void)
{
	return open("/etc/passwd", O_RDONLY) >= 0;
}

static inline bool opens_by_openat2(void)
{
	struct open_how how = {.flags = O_RDONLY};
	return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof how) >= 0;
}

static inline bool makes_a_file(void)
{
	return open(other, O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0;
}

static inline bool looks_at_a_path(void)
{
	struct stat st;
	return !syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, 0);
}

/* With this flag the path may be empty, but need not be. */
static inline bool looks_at_a_path_by_a_flag(void)
{
	struct stat st;
	return !syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, AT_EMPTY_PATH);
}

static inline bool looks_by_stat(void)
{
	struct stat st;
	return !syscall(SYS_stat, "/etc/passwd", &st);
}

static inline bool looks_by_statx(void)
{
	struct statx st;
	return !statx(AT_FDCWD, "/etc/passwd", 0, STATX_SIZE, &st);
}

static inline bool looks_by_access(void)
{
	return !access("/etc/passwd", F_OK);
}

static inline bool reads_a_link(void)
{
	char target[64];
	return readlink("/proc/self/exe", target, sizeof target) > 0;
}

static inline bool lists_a_directory(void)
{
	char bytes[1024];
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	return syscall(SYS_getdents64, fd, bytes, sizeof bytes) > 0;
}

static inline bool changes_directory(void)
{
	return !chdir("/tmp");
}

static inline bool changes_rights(void)
{
	return !chmod(file, 0640);
}

static inline bool changes_rights_of_a_descriptor(void)
{
	return !fchmod(own, 0640);
}

static inline bool changes_the_owner(void)
{
	return !chown(file, getuid(), getgid());
}

static inline bool changes_times(void)
{
	return !utimensat(AT_FDCWD, file, NULL, 0);
}

static inline bool makes_a_link(void)
{
	return !symlink("/etc/passwd", other);
}

static inline bool makes_a_hard_link(void)
{
	return !link(file, other);
}

static inline bool makes_a_directory(void)
{
	return !mkdir(other, 0700);
}

static inline bool makes_a_fifo(void)
{
	return !mkfifo(other, 0600);
}

static inline bool unlinks(void)
{
	return !link(file, other) && !unlink(other);
}

static inline bool only_unlinks(void)
{
	return !unlink(other) || errno == ENOENT;
}

static inline bool renames(void)
{
	return !rename(file, file);
}

static inline bool truncates(void)
{
	return !truncate(file, 1);
}

static inline bool mounts(void)
{
	return !mount("/tmp", "/tmp", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) || errno == EINVAL;
}

static inline bool changes_root(void)
{
	return !chroot("/");
}

#endif
