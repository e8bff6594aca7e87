/* layer: batch tier: check */
/* worker: a core in a sandbox gives a record, and so does every file that is no core. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/run/batch.h"
#include "batch/input/corefd.h"
#include "tests/support/check.h"
#include "tests/support/corefile.h"
#include "tests/support/scratch.h"
#include "tests/unit/batch/sandbox/worked.h"

static void a_core_gives_its_verdict(void **state)
{
	struct xc_arena arena = {0};
	glob_t packs;
	(void)state;
	assert_int_equal(glob("corpora/golden/*.pack", 0, NULL, &packs), 0);
	for (size_t i = 0; i < packs.gl_pathc; i++) {
		const struct xc_record *record = record_of(packs.gl_pathv[i], 0, &arena);
		assert_int_equal(record->status, XC_RECORD_OK);
		assert_non_null(record->class_name);
		assert_non_null(record->core_id);
		assert_int_equal(record->stored, 77);
		assert_int_equal(record->absent_count, 0); /* a pack brings its files */
	}
	globfree(&packs);
	xc_arena_fini(&arena);
}

/* Its assertion names a global of another unit: threads outside of a sandbox look through all units. */
static void a_name_of_another_unit_is_found_in_the_jail(void **state)
{
	static const char core[] = "build/deaths/abort-assert-next-gcc-o2/core";
	struct xc_arena arena = {0};
	(void)state;
	if (access(core, R_OK) != 0)
		check_skip("there is no core in build/deaths");
	const struct xc_record *record = record_of(core, 0, &arena);
	assert_int_equal(record->status, XC_RECORD_OK);
	assert_string_equal(record->class_name, "assertion");
	xc_arena_fini(&arena);
}

static void a_core_is_read_however_it_is_compressed(void **state)
{
	static const char *const programs[] = {"cat", "zstd -qc", "lz4 -qc", "xz -qc", "gzip -c"};
	static const char stack[4096];
	struct corefile core = corefile_new();
	struct xc_text bytes = {0};
	struct xc_arena arena = {0};
	(void)state;
	corefile_prstatus(&core, 77, 11, 0x1000, 0x10000);
	corefile_load(&core, 0x10000, sizeof stack, 6, stack, sizeof stack);
	corefile_build(&core, &bytes);
	const char *plain = scratch_file("core", bytes.bytes, bytes.len), *packed = scratch_path("packed"), *id = NULL;
	for (size_t i = 0; i < XC_COUNT(programs); i++) {
		char *line = xc_asprintf("%s <%s >%s", programs[i], scratch_word(plain), scratch_word(packed));
		assert_int_equal(system(line), 0);
		free(line);
		const struct xc_record *record = record_of(packed, 0, &arena);
		assert_int_equal(record->status, XC_RECORD_OK);
		assert_int_equal(record->size, bytes.len);
		assert_string_equal(id ? id : record->core_id, record->core_id);
		id = record->core_id;
	}
	corefile_fini(&core);
	xc_text_fini(&bytes);
	xc_arena_fini(&arena);
}

static void what_is_no_core_is_unreadable(void **state)
{
	struct xc_arena arena = {0};
	char fifo[] = "/tmp/xcore-test-XXXXXX";
	(void)state;
	const struct xc_record *text = record_of("README.md", 0, &arena);
	assert_int_equal(text->status, XC_RECORD_UNREADABLE);
	assert_non_null(strstr(text->why, "ELF"));
	const struct xc_record *absent = record_of(scratch_path("absent"), 0, &arena);
	assert_int_equal(absent->status, XC_RECORD_UNREADABLE);
	assert_string_equal(absent->why, "No such file or directory");
	close(mkstemp(fifo));
	unlink(fifo);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	const struct xc_record *pipe = record_of(fifo, 0, &arena);
	assert_int_equal(pipe->status, XC_RECORD_UNREADABLE);
	assert_string_equal(pipe->why, "not a regular file");
	unlink(fifo);
	xc_arena_fini(&arena);
}

static void too_little_memory_is_a_limit(void **state)
{
	struct xc_arena arena = {0};
	(void)state;
#ifndef __SANITIZE_ADDRESS__
	const struct xc_record *record = record_of("corpora/golden/assert.pack", 1 << 20, &arena);
	assert_int_equal(record->status, XC_RECORD_LIMIT);
#endif
	xc_arena_fini(&arena);
}

static void many_run_at_once(void **state)
{
	enum { COUNT = 40 };
	struct xc_arena arena = {0};
	struct taken taken = {0};
	struct xc_input inputs[COUNT];
	const struct xc_input *list[COUNT];
	const struct xc_batch batch = {
		.worker = {.finder = &finder}, .jobs = 7, .arena = &arena, .take = take, .user = &taken};
	const char *absent = scratch_path("absent");
	size_t done;
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		inputs[i] = (struct xc_input){.path = i % 3 ? "a" : "b", .file = i % 3 ? "Makefile" : absent};
		list[i] = &inputs[i];
	}
	assert_null(xc_batch_run(&batch, list, COUNT, &done));
	assert_int_equal(done, COUNT);
	assert_int_equal(taken.count, COUNT);
	xc_arena_fini(&arena);
}

/* None of them exists. */
static void a_core_of_thousands_of_files_is_looked_at(void **state)
{
	enum { FILES = 8000, PAGE = 4096 };
	struct corefile core = corefile_new();
	struct xc_text bytes = {0};
	struct xc_arena arena = {0};
	(void)state;
	corefile_prstatus(&core, 77, 11, 0x1000, 0x10000);
	for (xc_addr i = 0; i < FILES; i++) {
		char *path = xc_asprintf("/none/lib%u.so", (unsigned)i);
		corefile_file(&core, 0x10000000 + 2 * i * PAGE, 0x10000000 + (2 * i + 1) * PAGE, 0, path);
		corefile_load(&core, 0x10000000 + 2 * i * PAGE, PAGE, 5, "", 0);
		free(path);
	}
	corefile_build(&core, &bytes);
	const struct xc_record *record = record_of(scratch_file("many", bytes.bytes, bytes.len), 0, &arena);
	assert_int_equal(record->status, XC_RECORD_OK);
	corefile_fini(&core);
	xc_text_fini(&bytes);
	xc_arena_fini(&arena);
}

/* Between listing and opening: a link to a file that only we may read. */
static void what_was_exchanged_is_not_opened(void **state)
{
	struct xc_input input = {.path = "a", .file = scratch_path("exchanged")};
	struct stat st;
	(void)state;
	assert_int_equal(stat(scratch_file("exchanged", "core", 4), &st), 0);
	input.dev = st.st_dev;
	input.ino = st.st_ino;
	struct xc_corefd core = xc_corefd_open(&input);
	assert_true(core.fd >= 0);
	close(core.fd);
	assert_int_equal(rename(input.file, scratch_path("aside")), 0);
	assert_int_equal(symlink("/etc/passwd", input.file), 0);
	core = xc_corefd_open(&input);
	assert_int_equal(core.fd, -1);
	assert_true(core.hindered);
	assert_int_equal(unlink(input.file), 0);
	assert_int_equal(mkfifo(input.file, 0600), 0);
	core = xc_corefd_open(&input);
	assert_string_equal(core.why, "not a regular file");
	assert_int_equal(unlink(input.file), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_core_gives_its_verdict),
		cmocka_unit_test(a_name_of_another_unit_is_found_in_the_jail),
		cmocka_unit_test(a_core_is_read_however_it_is_compressed),
		cmocka_unit_test(what_is_no_core_is_unreadable),
		cmocka_unit_test(too_little_memory_is_a_limit),
		cmocka_unit_test(many_run_at_once),
		cmocka_unit_test(a_core_of_thousands_of_files_is_looked_at),
		cmocka_unit_test(what_was_exchanged_is_not_opened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
