/* layer: core */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/store/archive.h"
#include "core/io/archive_layout.h"
#include "tests/support/check.h"

enum { CORE_SIZE = 3 << 20 };

static char dir[64];
static char pack[128];
static uint8_t *core_bytes;
static const char module_bytes[] = "a module's bytes";

static struct xc_build_id id_of(uint8_t first)
{
	struct xc_build_id id = {.size = 20, .bytes = {first, 2, 3}};
	return id;
}

static struct xc_error *write_pack(const char *path)
{
	struct xc_source *sources[2] = {xc_source_over(core_bytes, CORE_SIZE, "core.1"),
					xc_source_over(module_bytes, sizeof module_bytes, "/bin/x")};
	struct xc_archive_file files[2] = {
		{.kind = XC_ARCHIVE_CORE, .path = "core.1"},
		{.kind = XC_ARCHIVE_MODULE, .path = "/bin/x", .build_id = id_of(7)},
	};
	struct xc_archive_module modules[2] = {
		{.lo = 0x1000, .path = "/bin/x", .file = 1, .debug = -1, .alt = -1, .debug_why = "no debug info"},
		{.lo = 0x9000,
		 .path = "/lib/y",
		 .file = -1,
		 .debug = -1,
		 .alt = -1,
		 .identity = XC_REFUSED,
		 .why = "another build",
		 .file_path = "/srv/y",
		 .file_build_id = id_of(9)},
	};
	struct xc_archive_content content = {.files = files,
					     .sources = (const struct xc_source *const *)sources,
					     .file_count = 2,
					     .modules = modules,
					     .module_count = 2};
	struct xc_error *err = xc_archive_write(&content, path);
	xc_source_close(sources[0]);
	xc_source_close(sources[1]);
	return err;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/xcore-archive-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(pack, sizeof pack, "%s/pack", dir);
	core_bytes = calloc(1, CORE_SIZE);
	for (size_t i = 0; i < CORE_SIZE; i += 4096)
		memcpy(core_bytes + i, &i, sizeof i);
	return write_pack(pack) ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	char command[256];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	free(core_bytes);
	return system(command);
}

static struct xc_error *open_pack(const char *path, struct xc_archive **archive)
{
	struct xc_source *source = NULL;
	struct xc_error *err = xc_source_open(path, NULL, &source);
	return err ? err : xc_archive_open(source, archive);
}

static struct xc_archive *opened(const char *path)
{
	struct xc_archive *archive = NULL;
	struct xc_error *err = open_pack(path, &archive);
	assert_null(err);
	return archive;
}

static void what_is_written_is_read_back(void **state)
{
	(void)state;
	struct xc_archive *a = opened(pack);
	struct xc_source *core = NULL, *module = NULL;
	assert_null(xc_archive_core(a, NULL, &core));
	assert_int_equal(core->size, CORE_SIZE);
	assert_false(core->cut);
	assert_memory_equal(core->bytes, core_bytes, CORE_SIZE);
	assert_null(xc_archive_inflate(a, 1, NULL, &module));
	assert_int_equal(module->size, sizeof module_bytes);
	assert_memory_equal(module->bytes, module_bytes, sizeof module_bytes);
	assert_string_equal(module->path, "/bin/x");
	assert_int_equal(xc_archive_file_count(a), 2);
	assert_int_equal(xc_archive_file(a, 1)->build_id.bytes[0], 7);
	assert_null(xc_archive_file(a, 2));
	xc_archive_close(a);
	assert_int_equal(module->bytes[0], 'a'); /* inflated sources outlive the archive */
	xc_source_close(core);
	xc_source_close(module);
}

static void modules_are_found_by_address_and_path(void **state)
{
	(void)state;
	struct xc_archive *a = opened(pack);
	const struct xc_archive_module *x = xc_archive_module(a, 0x1000, "/bin/x");
	const struct xc_archive_module *y = xc_archive_module(a, 0x9000, "/lib/y");
	assert_non_null(x);
	assert_int_equal(x->file, 1);
	assert_int_equal(x->debug, -1);
	assert_string_equal(x->debug_why, "no debug info");
	assert_null(x->why);
	assert_non_null(y);
	assert_int_equal(y->file, -1);
	assert_int_equal(y->identity, XC_REFUSED);
	assert_string_equal(y->file_path, "/srv/y");
	assert_int_equal(y->file_build_id.bytes[0], 9);
	assert_ptr_equal(xc_archive_module(a, 0x1001, "/bin/x"), x); /* the path alone, if lo became known later */
	assert_null(xc_archive_module(a, 0x1000, "/bin/z"));
	xc_archive_close(a);
}

static void a_pack_is_a_zstd_file_of_core_and_files(void **state)
{
	(void)state;
	char command[300];
	snprintf(command, sizeof command, "zstd -dcq < %s > %s/out 2>/dev/null", pack, dir);
	check_needs("zstd");
	assert_int_equal(system(command), 0);
	struct xc_source *out = NULL;
	snprintf(command, sizeof command, "%s/out", dir);
	assert_null(xc_source_open(command, NULL, &out));
	assert_int_equal(out->size, CORE_SIZE + sizeof module_bytes);
	assert_memory_equal(out->bytes, core_bytes, CORE_SIZE);
	xc_source_close(out);
}

static void the_output_is_private_and_replaces_an_older_one(void **state)
{
	(void)state;
	struct stat st;
	char path[128], command[300];
	snprintf(path, sizeof path, "%s/again", dir);
	assert_null(write_pack(path));
	assert_null(write_pack(path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	snprintf(command, sizeof command, "test \"$(ls -A %s | grep -c tmp)\" = 0", dir);
	assert_int_equal(system(command), 0);
}

static void a_directory_or_device_is_not_replaced(void **state)
{
	(void)state;
	char path[128];
	struct xc_error *err = write_pack("/dev/null");
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_UNSUPPORTED);
	xc_error_free(err);
	snprintf(path, sizeof path, "%s/none/pack", dir);
	err = write_pack(path);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_NOT_FOUND);
	xc_error_free(err);
}

static size_t slurp(uint8_t **bytes)
{
	struct stat st;
	int fd = open(pack, O_RDONLY);
	assert_int_equal(fstat(fd, &st), 0);
	*bytes = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, *bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	return (size_t)st.st_size;
}

static void spill(const char *path, const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

/* Opens and decompresses everything: no crash, and no wrong content without a message. */
static bool all_there(const char *path)
{
	struct xc_archive *a = NULL;
	struct xc_error *err = open_pack(path, &a);
	bool whole = !err;
	xc_error_free(err);
	for (size_t i = 0; a && i < xc_archive_file_count(a); i++) {
		struct xc_source *s = NULL;
		err = i ? xc_archive_inflate(a, (int)i, NULL, &s) : xc_archive_core(a, NULL, &s);
		whole &= !err && !s->cut;
		if (s && !s->cut && i == 0)
			assert_memory_equal(s->bytes, core_bytes, CORE_SIZE);
		xc_error_free(err);
		xc_source_close(s);
	}
	xc_archive_close(a);
	return whole;
}

static void a_cut_pack_gives_what_came_before_the_cut(void **state)
{
	(void)state;
	uint8_t *bytes;
	char path[128];
	size_t size = slurp(&bytes);
	snprintf(path, sizeof path, "%s/cut", dir);
	for (size_t keep = 1; keep < size; keep += 1 + keep / 8) {
		spill(path, bytes, keep);
		assert_false(all_there(path));
	}
	/* only the last file is damaged: the core is intact */
	spill(path, bytes, size - 1);
	struct xc_archive *a = opened(path);
	struct xc_source *core = NULL, *module = NULL;
	assert_null(xc_archive_core(a, NULL, &core));
	assert_false(core->cut);
	struct xc_error *err = xc_archive_inflate(a, 1, NULL, &module);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_FORMAT);
	xc_error_free(err);
	xc_source_close(core);
	xc_archive_close(a);
	free(bytes);
}

static void damage_anywhere_in_the_index_is_noticed(void **state)
{
	(void)state;
	uint8_t *bytes;
	char path[128];
	size_t size = slurp(&bytes);
	size_t index = 8 + (size_t)bytes[4] + (size_t)bytes[5] * 256;
	snprintf(path, sizeof path, "%s/damaged", dir);
	for (size_t at = 0; at < index; at++) {
		bytes[at] ^= 0x55;
		spill(path, bytes, size);
		struct xc_archive *a = NULL;
		struct xc_source *s = NULL;
		struct xc_error *err = xc_source_open(path, NULL, &s);
		assert_null(err);
		err = xc_archive_open(s, &a);
		assert_non_null(err);
		xc_error_free(err);
		bytes[at] ^= 0x55;
	}
	free(bytes);
}

static void a_file_that_inflates_to_more_than_it_says_is_refused(void **state)
{
	(void)state;
	uint8_t *bytes;
	char path[128];
	size_t size = slurp(&bytes);
	uint8_t *index = bytes + 8;
	uint64_t small = 4096;
	memcpy(index + 24 + 24, &small, 8); /* `bytes` of the core's row */
	size_t content = (size_t)bytes[4] + (size_t)bytes[5] * 256;
	/* a forger would fix the digest; so does this test */
	char command[512];
	snprintf(path, sizeof path, "%s/content", dir);
	spill(path, index, content - 32);
	snprintf(command, sizeof command, "sha256sum %s | cut -c1-64", path);
	FILE *pipe = popen(command, "r");
	for (size_t i = 0; i < 32; i++) {
		unsigned byte;
		assert_int_equal(fscanf(pipe, "%2x", &byte), 1);
		index[content - 32 + i] = (uint8_t)byte;
	}
	pclose(pipe);
	snprintf(path, sizeof path, "%s/bomb", dir);
	spill(path, bytes, size);
	struct xc_archive *a = opened(path);
	struct xc_source *core = NULL;
	struct xc_error *err = xc_archive_core(a, NULL, &core);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_LIMIT);
	xc_error_free(err);
	xc_archive_close(a);
	free(bytes);
}

static void other_files_are_not_packs(void **state)
{
	(void)state;
	struct xc_source *s = xc_source_over(core_bytes, CORE_SIZE, "core");
	struct xc_archive *a = NULL;
	assert_false(xc_archive_is(s));
	struct xc_error *err = xc_archive_open(s, &a); /* takes s */
	assert_non_null(err);
	xc_error_free(err);
	s = xc_source_over("\x5c\x2a\x4d\x18", 4, "short");
	assert_false(xc_archive_is(s));
	xc_source_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(modules_are_found_by_address_and_path),
		cmocka_unit_test(a_pack_is_a_zstd_file_of_core_and_files),
		cmocka_unit_test(the_output_is_private_and_replaces_an_older_one),
		cmocka_unit_test(a_directory_or_device_is_not_replaced),
		cmocka_unit_test(a_cut_pack_gives_what_came_before_the_cut),
		cmocka_unit_test(damage_anywhere_in_the_index_is_noticed),
		cmocka_unit_test(a_file_that_inflates_to_more_than_it_says_is_refused),
		cmocka_unit_test(other_files_are_not_packs),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
