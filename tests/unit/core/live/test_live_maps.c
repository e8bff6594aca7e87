/* layer: core
 *
 * The mappings of a process, from texts as the kernel writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/live/live_maps.h"
#include "tests/support/check.h"

enum { TRIES = 40 };

static const char stack[] = "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n";
static const char program[] = "555500000000-555500001000 r-xp 00000000 08:01 42                         /bin/program\n"
			      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
			      "7ffc00030000-7ffc00032000 r-xp 00000000 00:00 0                          [vdso]\n";

static void write_text(int fd, const char *text)
{
	assert_int_equal(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

static void *map_the_rest(void *fd)
{
	nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
	write_text(*(int *)fd, program);
	return NULL;
}

/* Number of mappings that are found, when what is in the file at first becomes `later` meanwhile. */
static size_t count_mappings(bool later)
{
	FILE *file = tmpfile();
	int fd = fileno(file);
	pthread_t kernel;
	struct xc_process *process = xc_process_new("pid:1", true);
	const struct xc_live_handles handles = {.mem = -1, .maps = -1, .pagemap = -1, .smaps = -1, .root = -1};
	struct xc_live_memory *memory = xc_live_memory_new(&handles);
	struct xc_live_maps maps = {.fd = fd};
	write_text(fd, stack);
	if (later)
		assert_int_equal(pthread_create(&kernel, NULL, map_the_rest, &fd), 0);
	assert_int_equal(xc_live_maps_read(&maps, process, memory), 0);
	size_t count = process->mapping_count;
	if (later)
		pthread_join(kernel, NULL);
	free(maps.last);
	xc_process_close(process);
	xc_live_memory_free(memory);
	fclose(file);
	return count;
}

static void a_program_that_is_just_being_executed_is_waited_for(void **state)
{
	size_t tries = 0;
	(void)state;
	while (count_mappings(true) != 3) /* beside other work the rest may come too late for it */
		assert_true(++tries < TRIES);
}

static void a_program_without_a_vdso_is_read_all_the_same(void **state)
{
	(void)state;
	assert_int_equal(count_mappings(false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_is_just_being_executed_is_waited_for),
		cmocka_unit_test(a_program_without_a_vdso_is_read_all_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
