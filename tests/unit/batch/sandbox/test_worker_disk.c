/* layer: batch tier: check */
/* worker: without room for temporary files a core is not examined, and that is told. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/sandbox/fork_server.h"
#include "batch/sandbox/worker_impl.h"
#include "tests/support/check.h"
#include "tests/support/corefile.h"
#include "tests/support/scratch.h"
#include "tests/unit/batch/sandbox/worked.h"

static const char *gzipped_core(void)
{
	static const char stack[4096];
	struct corefile core = corefile_new();
	struct xc_text bytes = {0};
	corefile_prstatus(&core, 77, 11, 0x1000, 0x10000);
	corefile_load(&core, 0x10000, sizeof stack, 6, stack, sizeof stack);
	corefile_build(&core, &bytes);
	char *line = xc_asprintf("gzip -c <%s >%s.gz", scratch_word(scratch_file("hindered", bytes.bytes, bytes.len)),
				 scratch_word(scratch_path("hindered")));
	assert_int_equal(system(line), 0);
	free(line);
	corefile_fini(&core);
	xc_text_fini(&bytes);
	return scratch_path("hindered.gz");
}

/* Of this many bytes of memory, half of them noise. Returns its name and stored size. */
static struct xc_input large_core(size_t size)
{
	struct xc_input input = {.path = "the core", .file = scratch_path("large.gz")};
	struct corefile core = corefile_new();
	struct xc_text bytes = {0};
	struct stat st;
	uint8_t *memory = xc_alloc(size);
	uint32_t seed = 7;
	for (size_t i = 0; i < size; i++)
		memory[i] = (uint8_t)(i & 4096 ? 'x' : (seed = seed * 1664525 + 1013904223) >> 24);
	corefile_prstatus(&core, 77, 11, 0x1000, 0x10000);
	corefile_load(&core, 0x10000, size, 6, memory, size);
	corefile_build(&core, &bytes);
	char *line = xc_asprintf("gzip -1c <%s >%s", scratch_word(scratch_file("large", bytes.bytes, bytes.len)),
				 scratch_word(input.file));
	assert_int_equal(system(line), 0);
	assert_int_equal(stat(input.file, &st), 0);
	input.size = (uint64_t)st.st_size;
	free(line);
	free(memory);
	corefile_fini(&core);
	xc_text_fini(&bytes);
	return input;
}

/* The last try's result if it may take `room` bytes; NULL: nothing can be mounted here. */
static const struct xc_record *on_a_disk_of(const char *size, struct xc_input input, uint64_t room,
					    struct xc_arena *arena)
{
	struct xc_worker_options options = {
		.finder = &finder, .host_files = true, .room = room, .last_try = true, .seconds = 20};
	struct xc_worker *worker;
	mkdir(scratch_path("disk"), 0755);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", scratch_path("disk"), "tmpfs", 0, size))
		return NULL;
	setenv("TMPDIR", scratch_path("disk"), 1);
	struct xc_error *err = xc_fork_server_start(&options, &options.fork_server);
	if (!err)
		err = xc_worker_start(&input, &options, &worker);
	while (!err && !xc_worker_serve(worker))
		usleep(1000);
	return err ? NULL : xc_worker_finish(worker, arena);
}

static int says(const struct xc_record *record, bool unlooked, const char *why)
{
	if (!record)
		return CANNOT_MOUNT;
	if (record->unlooked == unlooked && !strcmp(record->why, why))
		return 0;
	fprintf(stderr, "%sunlooked: %s\n", record->unlooked ? "" : "not ", record->why);
	return 1;
}

static int full_disk(void)
{
	struct xc_arena arena = {0};
	return says(on_a_disk_of("size=1m", large_core(4 << 20), 0, &arena), true,
		    "not examined: temporary files (TMPDIR): No space left on device");
}

static int small_share(void)
{
	struct xc_arena arena = {0};
	return says(on_a_disk_of("size=8m", large_core(8 << 20), 4 << 20, &arena), true,
		    "not examined: temporary files (TMPDIR; a core may use half of the disk): No space left on "
		    "device");
}

static int bomb(void)
{
	struct xc_arena arena = {0};
	struct xc_input input = large_core(8 << 20);
	input.size = (4 << 20) / 64;
	return says(on_a_disk_of("size=8m", input, 4 << 20, &arena), false,
		    "inflates to more than the 4194304 bytes of disk space that it may use");
}

static int small_files(void)
{
	const struct rlimit few = {1 << 20, 1 << 20};
	struct xc_arena arena = {0};
	const struct xc_input input = large_core(4 << 20);
	setrlimit(RLIMIT_FSIZE, &few);
	return says(on_a_disk_of("size=8m", input, 0, &arena), true,
		    "not examined: temporary files (ulimit -f): File too large");
}

static void a_disk_that_is_full_is_not_the_core_s_a_bomb_is(void **state)
{
	int (*const cases[])(void) = {full_disk, small_share, bomb, small_files};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		const int status = ends(cases[i]);
		if (status == CANNOT_MOUNT)
			check_skip("no mount may be made here");
		assert_int_equal(status, 0);
	}
}

static void without_room_to_inflate_it_is_not_looked_at(void **state)
{
	struct xc_arena arena = {0};
	const char *core = gzipped_core();
	(void)state;
	setenv("TMPDIR", scratch_path("absent"), 1);
	const struct xc_record *record = record_of(core, 0, &arena);
	unsetenv("TMPDIR");
	assert_true(record->unlooked);
	assert_string_equal(record->why, "not examined: a temporary file (TMPDIR): No such file or directory");
	assert_false(record_of(core, 0, &arena)->unlooked);
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_room_to_inflate_it_is_not_looked_at),
		cmocka_unit_test(a_disk_that_is_full_is_not_the_core_s_a_bomb_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
