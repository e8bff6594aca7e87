/* Dies of what the processor refuses. Arguments: divide (SIGFPE, integer division by zero), overflow (SIGFPE,
 * INT_MIN / -1), illegal (SIGILL, ud2), bus (SIGBUS, a mapped file that was truncated), sys (SIGSYS, a system call
 * that a seccomp filter traps), general (SIGSEGV without an address: a non-canonical pointer). */
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crash.h"

static NOINLINE int divide(int dividend, int divisor)
{
	return dividend / divisor;
}

static NOINLINE void illegal(unsigned long marker)
{
	KEEP_VALUE(marker);
	__asm__ volatile("ud2");
}

static NOINLINE int sum_page(const unsigned char *page, size_t size)
{
	int sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += page[i];
	return sum;
}

/* The file keeps its first page; the second was mapped, but no longer exists. */
static NOINLINE int read_truncated(void)
{
	char path[] = "truncated.XXXXXX";
	int fd = mkstemp(path);
	unsigned char *map;

	if (fd < 0 || unlink(path) || ftruncate(fd, 8192))
		exit(2);
	map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || ftruncate(fd, 4096))
		exit(2);
	return sum_page(map + 4096, 16);
}

static NOINLINE long forbidden_call(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof code / sizeof code[0], .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		exit(2);
	return syscall(SYS_getppid);
}

static NOINLINE int read_noncanonical(const int *pointer)
{
	return *pointer + 1;
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	int zero = 0, minus = -1;

	if (strcmp(how, "divide") == 0)
		return divide(100, *(int *)opaque(&zero));
	if (strcmp(how, "overflow") == 0)
		return divide(INT_MIN, *(int *)opaque(&minus));
	if (strcmp(how, "illegal") == 0)
		illegal(0x1234);
	if (strcmp(how, "bus") == 0)
		return read_truncated();
	if (strcmp(how, "sys") == 0)
		return (int)forbidden_call();
	if (strcmp(how, "general") == 0)
		return read_noncanonical(opaque((void *)0x4141414141414141UL));
	return 2;
}
