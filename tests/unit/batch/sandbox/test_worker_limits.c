/* layer: batch tier: test */
/* worker_sandbox: inside the sandbox what a worker needs works, and memory, files and time are bounded. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "batch/sandbox/worker_sandbox.h"
#include "dwarf/elf/demangle.h"
#include "tests/support/check.h"
#include "tests/unit/batch/sandbox/jail.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_needed_works), cmocka_unit_test(abort_ends_it_as_ever),
		cmocka_unit_test(memory_is_bounded),    cmocka_unit_test(files_are_bounded),
		cmocka_unit_test(time_is_bounded),
	};
	return cmocka_run_group_tests_name("worker_limits", tests, set_up, tear_down);
}
